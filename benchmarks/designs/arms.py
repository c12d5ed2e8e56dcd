"""Arms: the mechanism sets that an experiment compares."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...engine.registry import MechanismSet

FULL = "full"          # id of the arm that is the set as it is


@dataclass(frozen=True, slots=True)
class Arm:
    """One mechanism set of an experiment.

    id       unique in the experiment, such as "full", "without x" or "swap a->b"
    removed  the mechanism of the full set that it lacks; "" for the full set
    """

    id: str
    chosen: MechanismSet
    removed: str = ""
