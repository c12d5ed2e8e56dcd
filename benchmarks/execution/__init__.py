"""Execution: the record of a cell, running cells, the ledger of finished cells."""
