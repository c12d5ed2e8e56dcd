"""Evidence for the mechanisms of this package, one module for each, named by its id."""
