"""The result of encoding: the row of an event, or which mechanisms refused it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Self

NO_ROW: Final = -1  # the number of an event that was not stored


class VetoWarning(UserWarning):
    """A mechanism of this memory refused an event: it is in the event log, and no question is
    answered with it.
    """


class Encoded(int):
    """What became of an event: its row, as a number that is also true; or -1, which is false, with
    the mechanisms that refused it.

    vetoed_by  ids of the mechanisms that refused it, in registry order; () if it is stored

    It equals its row, and can be given wherever a row is asked for; methods that take a row refuse
    -1.

    >>> first, refused = Encoded(0), Encoded(vetoed_by=["write_gate_cortex"])
    >>> bool(first), first == 0, first.row, ["a", "b"][first]
    (True, True, 0, 'a')
    >>> bool(refused), refused.row, refused.vetoed_by
    (False, None, ('write_gate_cortex',))
    >>> [first, refused]
    [0, not stored: refused by write_gate_cortex]
    """

    vetoed_by: tuple[str, ...]

    def __new__(cls, row: int = NO_ROW, vetoed_by: Sequence[str] = ()) -> Self:
        made = super().__new__(cls, row)
        made.vetoed_by = tuple(vetoed_by)
        return made

    def __reduce__(self) -> tuple[type[Self], tuple[int, tuple[str, ...]]]:
        return type(self), (int(self), self.vetoed_by)

    @property
    def stored(self) -> bool:
        """Whether the event has a row."""
        return self >= 0

    @property
    def row(self) -> int | None:
        """The row as a plain number; None if a mechanism refused the event."""
        return int(self) if self.stored else None

    @property
    def why(self) -> str:
        """What became of the event, in words."""
        return (
            f"stored as row {int(self)}"
            if self.stored
            else f"not stored: refused by {listed(self.vetoed_by)}"
        )

    def __bool__(self) -> bool:
        return self.stored

    def __repr__(self) -> str:
        return int.__repr__(self) if self.stored else self.why


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)


def warning_of(refused: Encoded) -> VetoWarning:
    """What the first refusal of a memory tells its user."""
    return VetoWarning(
        f"an event was {refused.why}; no question will be answered with it, and no later refusal warns\n"
        f"  What to do: leave it out with hebbarium.memory(..., without={list(refused.vetoed_by)}), choose a set without a gate, "
        "or read `vetoed_by` of what `encode` returns"
    )
