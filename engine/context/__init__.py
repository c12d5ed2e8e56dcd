"""Text for a reader: what of an answer is shown under a budget, and the stack of tasks."""
