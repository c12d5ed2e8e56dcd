"""Designs: which arms an experiment has."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING

from .arms import FULL, Arm, named_arms
from .leave_one_out import leave_one_out

if TYPE_CHECKING:
    from ...engine.catalogue.registry import MechanismSet

__all__ = ["FULL", "Arm", "Design", "arms", "arms_of", "contrasts", "file", "kinds",
           "leave_one_out", "named_arms", "probe_metric"]  # fmt: skip


class Design(StrEnum):
    """How arms are made from a mechanism set."""

    LEAVE_ONE_OUT = "leave-one-out"


_ARMS: dict[Design, Callable[[MechanismSet], list[Arm]]] = {Design.LEAVE_ONE_OUT: leave_one_out}


def arms_of(chosen: MechanismSet, design: Design = Design.LEAVE_ONE_OUT) -> list[Arm]:
    """The arms of a design, the full set first."""
    return _ARMS[design](chosen)
