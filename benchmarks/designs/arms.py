"""Arms: the mechanism sets that an experiment compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...engine.base.errors import InputError, nearest

if TYPE_CHECKING:
    from ...engine.catalogue.registry import MechanismSet

FULL = "full"  # id of the arm that is the set as it is


@dataclass(frozen=True, slots=True)
class Arm:
    """One mechanism set of an experiment.

    id       unique in the experiment, such as "full", "without x" or "swap a->b"
    removed  the mechanism of the full set that it lacks; "" for the full set
    """

    id: str
    chosen: MechanismSet
    removed: str = ""

    @property
    def name(self) -> str:
        """What reports call it: the mechanism for an arm that only removes it, else the id."""
        return self.removed if self.id == f"without {self.removed}" else self.id


def named_arms(arms: Sequence[Arm], names: Sequence[str]) -> list[Arm]:
    """The first arm, which is the baseline, and those with these names or ids, in the order of the
    design; all arms if no name is given.

    Raises InputError for a name that no arm has, for the baseline's, and for one that is given
    twice.
    """
    if not names:
        return list(arms)
    first, *others = arms
    known = {key: arm for arm in others for key in (arm.id, arm.name)}
    if unknown := [name for name in names if name not in known]:
        why = (
            "is the baseline of every arm" if unknown[0] == first.id else "is no arm of this design"
        )
        raise InputError(
            f"{unknown[0]!r} {why}",
            where="--arms",
            cure=nearest(unknown[0], [arm.name for arm in others]),
        )
    chosen = [known[name] for name in names]
    if twice := [arm.name for arm in others if chosen.count(arm) > 1]:
        raise InputError(f"{twice[0]!r} is named twice", where="--arms", cure="name every arm once")
    return [first, *(arm for arm in others if arm in chosen)]
