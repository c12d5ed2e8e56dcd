"""Designs: which arms an experiment has."""

from __future__ import annotations

from .arms import FULL, Arm, named_arms

__all__ = ["FULL", "Arm", "arms", "contrasts", "families", "file", "kinds", "leave_one_out", "named_arms",
           "probe_metric"]  # fmt: skip
