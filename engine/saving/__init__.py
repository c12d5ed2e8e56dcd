"""Files: a memory whole, what changed since, and the calls after that."""
