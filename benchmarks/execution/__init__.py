"""Execution: the record of a cell, running cells, the ledger of finished cells."""

__all__ = ["cells", "cluster", "contexts", "failures", "folder", "ledger", "lives", "local", "missing", "plan", "setup",
           "spec"]  # fmt: skip
