"""Experiments: one mechanism set, or the arms of a design, are measured, and reports are
written.
"""

__all__ = ["costs", "design", "judging", "probed", "run"]
