"""The command line: one module for each group of commands.

Commands import what they need when they run, so that `--help` answers at once.
"""
from . import auditing, calibrating, catalogue, data, experiments, runs, weighing
from .app import app, main

__all__ = ["app", "auditing", "calibrating", "catalogue", "data", "experiments", "main", "runs", "weighing"]
