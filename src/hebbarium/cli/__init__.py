"""The command line: one module for each group of commands.

Commands import what they need when they run, so that `--help` answers at once.
"""

try:
    from . import (
        answering,
        assembling,
        auditing,
        calibrating,
        catalogue,
        composing,
        data,
        doctoring,
        experiments,
        human,
        importing,
        memory_file,
        pooling,
        probing,
        questions,
        reproducing,
        runs,
        serving,
        topology,
        warming,
        weighing,
        worlds,
    )
    from .app import app, main
except KeyboardInterrupt:  # before there is a command that could say what is finished
    raise SystemExit(130) from None

__all__ = ["answering", "app", "assembling", "auditing", "calibrating", "catalogue", "composing", "data", "doctoring",
           "experiments", "human", "importing", "main", "memory_file", "pooling", "probing", "questions", "reproducing", "runs", "serving",
           "topology", "warming", "weighing", "worlds"]  # fmt: skip
