"""Execution: what decides a cell, running cells, the ledger of finished cells."""
