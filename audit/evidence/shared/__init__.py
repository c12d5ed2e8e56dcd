"""What several evidence files use: reference computations, and mutants of a kind of mechanism."""
