"""Leave-one-out: the full set, the set without each mechanism, and the set with each alternate
swapped in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .arms import FULL, Arm

if TYPE_CHECKING:
    from ...engine.catalogue.registry import MechanismSet


def leave_one_out(chosen: MechanismSet) -> list[Arm]:
    """1 + m + s arms for m mechanisms and s alternates of mechanisms that are on, in the order
    of the set.
    """
    arms = [Arm(FULL, chosen)]
    arms += [Arm(f"without {id}", chosen.without([id]), id) for id in chosen.mechanisms]
    swaps = (
        (old, new)
        for old, others in chosen.alternates.items()
        if old in chosen.mechanisms
        for new in others
    )
    return arms + [Arm(f"swap {old}->{new}", chosen.swapped(old, new), old) for old, new in swaps]
