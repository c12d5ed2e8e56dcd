"""Shares of generated mutants that are rejected, kept in `mutation_shares.json`: a full run takes
long, so the page shows the last one.

Each entry has the digest of the code, evidence and registry entry that were judged; if they have
changed since, the share is shown as stale.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol

from ...engine.catalogue.registry import Entry
from ...reporting.files import write_json
from .building import shared_functions
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
    stale      whether code, evidence or registry entry have changed since
    """

    shares: Mapping[Group, Share]
    survivors: tuple[tuple[str, str], ...]
    stale: bool

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


def kept(entry: Entry, evidence: str | None) -> Kept | None:
    """The last full run of a mechanism, whose evidence is the module of that name; None if there
    was none.
    """
    raw = _file().get(entry.id)
    if raw is None:
        return None
    return Kept(
        {Group(name): Share(*counts) for name, counts in raw["shares"].items()},
        tuple((s["id"], s["change"]) for s in raw["survivors"]),
        raw["digest"] != digest(entry, evidence),
    )


def below(run: Shared) -> tuple[Group, ...]:
    """Groups whose share of the whole run is below its goal."""
    return tuple(group for group, goal in GOALS.items() if run.share(group).value < goal)


def keep(results: Iterable[Result], digests: Mapping[str, str], file: Path = FILE) -> None:
    """Replace the entries of these mechanisms; `digests` by id.  Raises HebbariumError if the
    file cannot be written.
    """
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    for result in results:
        shares = {str(group): [(s := result.share(group)).rejected, s.of] for group in GOALS}
        found[result.id] = {
            "digest": digests[result.id],
            "seconds": round(result.seconds, 1),
            "shares": shares,
            "survivors": [{"id": j.mutant.id, "change": j.mutant.change} for j in result.survivors],
        }
    write_json(file, dict(sorted(found.items())))
    _file.cache_clear()


def digest(entry: Entry, evidence: str | None) -> str:
    """SHA-256 over the source of mechanism, evidence and what it imports of `mechanisms.shared`,
    and the parameters and equations of the entry.
    """
    h = hashlib.sha256()
    for name in filter(
        None, (entry.module, evidence, *sorted(shared_functions(import_module(entry.module))))
    ):
        spec = find_spec(name)
        h.update(Path(spec.origin).read_bytes() if spec and spec.origin else b"")
    h.update(
        json.dumps(
            entry.model_dump(mode="json", include={"params", "equations", "time_scale"}),
            sort_keys=True,
        ).encode()
    )
    return h.hexdigest()


@cache
def _file() -> dict[str, Any]:
    return dict(json.loads(FILE.read_text(encoding="utf-8"))) if FILE.exists() else {}
