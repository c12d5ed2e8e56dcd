"""Leave-one-out: the full set, the set without each mechanism, and the set with each alternate
swapped in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .arms import FULL, Arm

if TYPE_CHECKING:
    from ...engine.catalogue.registry import MechanismSet


def leave_one_out(chosen: MechanismSet, players: Sequence[str] = ()) -> list[Arm]:
    """1 + m + s arms for m players and s alternates of players that are on, in the order of the
    set.

    players  mechanisms that are left out in turn; () for all of the set
    """
    left_out = tuple(players) or tuple(chosen.mechanisms)
    arms = [Arm(FULL, chosen)]
    arms += [Arm(f"without {id}", chosen.without([id]), id) for id in left_out]
    swaps = (
        (old, new)
        for old, others in chosen.alternates.items()
        if old in left_out and old in chosen.mechanisms
        for new in others
    )
    return arms + [Arm(f"swap {old}->{new}", chosen.swapped(old, new), old) for old, new in swaps]
