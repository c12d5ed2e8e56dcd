"""Counts of a drill: how many faults were made, of which kind, and what came of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Tally:
    """What came of each fault.

    name      of the drill
    promised  in one sentence, what must come of every fault
    outcomes  (kind of fault, outcome) -> how often
    broken    faults that broke the promise, in words; must stay empty

    >>> tally = Tally("flips", "refused or unchanged")
    >>> tally.count("bit", "refused"); tally.count("bit", "refused")
    >>> tally.count("page", "loaded with another digest", broken=True)
    >>> tally.total, tally.broken
    (3, ['page: loaded with another digest'])
    """

    name: str
    promised: str
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(self.outcomes.values())

    def count(self, kind: str, outcome: str, broken: bool = False) -> None:
        self.outcomes[kind, outcome] += 1
        if broken:
            self.broken.append(f"{kind}: {outcome}")

    def attempt(self, kind: str, judge: Callable[[], tuple[str, bool]]) -> str:
        """Count the outcome that a fault is judged to have, and whether it broke the promise; an
        exception broke it.  The outcome.

        >>> Tally("flips", "").attempt("bit", lambda: (str(1 // 0), False))
        'failed with ZeroDivisionError: integer division or modulo by zero'
        """
        try:
            outcome, broken = judge()
        except Exception as error:  # drills count errors of every kind
            outcome, broken = f"failed with {type(error).__name__}: {error}", True
        self.count(kind, outcome, broken)
        return outcome

    def of(self, outcome: str) -> int:
        """How many faults had this outcome.

        >>> Tally("flips", "").of("refused")
        0
        """
        return sum(count for (_, known), count in self.outcomes.items() if known == outcome)

    def lines(self) -> list[str]:
        """The counts as text: one line a kind of fault, then the sum."""
        kinds = sorted({kind for kind, _ in self.outcomes})
        parts = {
            kind: ", ".join(
                f"{n} {out}" for (k, out), n in sorted(self.outcomes.items()) if k == kind
            )
            for kind in kinds
        }
        end = f"{self.total} faults; promised: {self.promised}; {len(self.broken) or 'none'} broke the promise"
        return [*(f"{kind:<24} {parts[kind]}" for kind in kinds), end, *self.broken[:20]]
