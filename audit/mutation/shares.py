"""Shares of generated mutants that are rejected, kept in `mutation_shares.json`: a full run takes
long, so the page shows the last one.

Each entry names the commit that was judged; the report says once of which commits its shares are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

from ...reporting.files import write_json
from ...reporting.provenance import commit
from .sites import GeneratedMutant, Group

FILE: Final = Path(__file__).parent.parent / "mutation_shares.json"
GOALS: Final[Mapping[Group, float]] = {Group.NUMBERS: 1.0, Group.KERNELS: 0.95, Group.HOOKS: 0.9}


@dataclass(frozen=True, slots=True)
class Share:
    """Mutants rejected, of those that count."""

    rejected: int
    of: int

    @property
    def value(self) -> float:
        """1 if there are none."""
        return self.rejected / self.of if self.of else 1.0

    def __str__(self) -> str:
        return f"{self.rejected}/{self.of}"


class Shared(Protocol):
    """What gives the share of a group: a run, or the result of one mechanism."""

    def share(self, group: Group) -> Share: ...


class Survivor(Protocol):
    @property
    def mutant(self) -> GeneratedMutant: ...


class Result(Shared, Protocol):
    """What is kept of a mechanism, such as `generated.GeneratedResult`."""

    @property
    def id(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def survivors(self) -> Sequence[Survivor]: ...


@dataclass(frozen=True, slots=True)
class Kept:
    """The last full run of one mechanism.

    shares     of each group
    survivors  id and change of each mutant that counts against the evidence
    commit     that was judged; "" if it had no history
    """

    shares: Mapping[Group, Share]
    survivors: tuple[tuple[str, str], ...]
    commit: str

    @property
    def whole(self) -> Share:
        """Of all groups together."""
        return Share(
            sum(s.rejected for s in self.shares.values()), sum(s.of for s in self.shares.values())
        )

    @property
    def below(self) -> tuple[Group, ...]:
        """Groups whose share is below its goal."""
        return tuple(group for group, goal in GOALS.items() if self.shares[group].value < goal)


def kept(id: str) -> Kept | None:
    """The last full run of a mechanism; None if there was none."""
    raw = _file().get(id)
    if raw is None:
        return None
    return Kept(
        {Group(name): Share(*counts) for name, counts in raw["shares"].items()},
        tuple((s["id"], s["change"]) for s in raw["survivors"]),
        raw["commit"],
    )


def below(run: Shared) -> tuple[Group, ...]:
    """Groups whose share of the whole run is below its goal."""
    return tuple(group for group, goal in GOALS.items() if run.share(group).value < goal)


def keep(results: Iterable[Result], file: Path = FILE) -> None:
    """Replace the entries of these mechanisms.  Raises HebbariumError if the file cannot be
    written.
    """
    entries: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    judged = commit()
    for result in results:
        shares = {str(group): [(s := result.share(group)).rejected, s.of] for group in GOALS}
        entries[result.id] = {
            "commit": judged,
            "seconds": round(result.seconds, 1),
            "shares": shares,
            "survivors": [{"id": j.mutant.id, "change": j.mutant.change} for j in result.survivors],
        }
    write_json(file, dict(sorted(entries.items())), shared=True)
    _file.cache_clear()


@cache
def _file() -> dict[str, Any]:
    return dict(json.loads(FILE.read_text(encoding="utf-8"))) if FILE.exists() else {}
