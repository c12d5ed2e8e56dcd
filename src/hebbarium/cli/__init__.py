"""The command line: one module for each group of commands.

Commands import what they need when they run, so that `--help` answers at once.
"""
from . import assembling, auditing, calibrating, catalogue, data, experiments, probing, runs, topology, weighing
from .app import app, main

__all__ = ["app", "assembling", "auditing", "calibrating", "catalogue", "data", "experiments", "main", "probing", "runs", "topology", "weighing"]
