"""What parts of a mechanism set score on data: cells of runs, each measured once and kept in the
ledger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np

from ...engine.base.errors import ContractError, InputError, RegistryError
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.ports.embedding_cache import CachedEmbedder
from ..datasets import Dataset, Unit
from ..designs.arms import FULL, Arm
from ..execution.cells import Cell
from ..execution.cluster import Cluster
from ..execution.failures import ALONE, Options
from ..execution.ledger import Ledger
from ..execution.local import Progress, embed_ahead, run_cells
from ..execution.plan import Composition, Plan, planned, specs_of
from ..execution.spec import Settings
from ..scores.metrics import DEPTHS, at_depths
from .resampling import Asked, Key
from .search import Floats, Part

METRICS: Final = tuple(at_depths([1], DEPTHS))
_NAMED: Final = 3  # mechanisms that the id of an arm names


@dataclass(frozen=True, slots=True)
class Source:
    """Data as they are measured: by turns or by sessions."""

    data: Dataset
    unit: Unit = "turn"

    @property
    def keys(self) -> tuple[Key, ...]:
        return tuple((self.data.sha256, c.id) for c in self.data.conversations)


@dataclass(frozen=True, slots=True)
class Constraint:
    """One number that a part may lower by no more than a margin.

    source    place of its data
    metric    of a question, such as recall@10 or all@5
    margin    in units of the metric
    category  of the questions that count; "" for all
    name      for tables
    """

    source: int
    metric: str
    margin: float
    category: str = ""
    name: str = ""


@dataclass
class Scores:
    """Measures parts of a set; every (part, conversation) is run once and kept in the ledger.

    chosen       the whole set, with the changes of the settings
    settings     of the cells; each source has its own unit
    jobs         worker processes
    options      what happens if a cell fails; with `out`, failures are logged there
    cluster      whose workers run the cells, instead of `jobs`
    unbuildable  parts that the engine refuses, with the reason: they lose everything
    """

    chosen: MechanismSet
    registry: Registry
    sources: Sequence[Source]
    constraints: Sequence[Constraint]
    embedder: CachedEmbedder
    book: Ledger
    settings: Settings
    jobs: int = 1
    progress: Progress | None = None
    options: Options = ALONE
    out: Path | None = None
    cluster: Cluster | None = None
    unbuildable: dict[Part, str] = field(default_factory=dict)
    _values: dict[tuple[Part, int, Key], Mapping[str, Floats]] = field(default_factory=dict)
    _plans: dict[tuple[Part, int], Composition] = field(default_factory=dict)
    _embedded: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Raises InputError for a constraint that no question of its data can be scored by."""
        for one, asked in zip(self.constraints, self.asked(), strict=True):
            if not asked.questions:
                data = self.sources[one.source].data
                kinds = sorted({q.category for c in data.conversations for q in c.questions})
                of = f" of the category {one.category!r}" if one.category else ""
                raise InputError(
                    f"no question{of} names its evidence, so no part can be compared",
                    where=data.path or data.name,
                    cure=f"take another data set or category; the questions have {', '.join(kinds)}"
                    if one.category
                    else "take more conversations, or another data set",
                )

    @property
    def whole(self) -> Part:
        return frozenset(self.chosen.mechanisms)

    def asked(self, conversations: frozenset[Key] | None = None) -> Sequence[Asked]:
        found = []
        for one in self.constraints:
            source = self.sources[one.source]
            kept = [
                (key, q.id)
                for key, c in zip(source.keys, source.data.conversations, strict=True)
                if conversations is None or key in conversations
                for q in c.questions
                if q.gold and one.category in ("", q.category)
            ]
            found.append(Asked(tuple(key for key, _ in kept), tuple(id for _, id in kept)))
        return found

    def of(
        self, parts: Sequence[Part], conversations: frozenset[Key] | None = None
    ) -> Sequence[Sequence[Floats]]:
        """Differences of questions from the whole set; infinite for a part that cannot be built."""
        whole = self.values([self.whole], conversations)[0]
        return [
            [before - after for before, after in zip(whole, mine, strict=True)]
            for mine in self.values(parts, conversations)
        ]

    def values(
        self, parts: Sequence[Part], conversations: frozenset[Key] | None = None
    ) -> list[list[Floats]]:
        """Of each part and constraint the value of every question, (n,).  Raises HebbariumError."""
        for place in range(len(self.sources)):
            self._run(place, parts, conversations)
        return [
            [self._value(part, one, conversations) for one in self.constraints] for part in parts
        ]

    def means(self, parts: Sequence[Part]) -> Floats:
        """(parts, c) mean over all questions."""
        return np.array([[float(v.mean()) for v in mine] for mine in self.values(parts)])

    def _value(self, part: Part, one: Constraint, conversations: frozenset[Key] | None) -> Floats:
        source = self.sources[one.source]
        mine = [
            self._values[part, one.source, key][f"{one.metric} {one.category}"]
            if part not in self.unbuildable
            else np.full(
                sum(bool(q.gold) and one.category in ("", q.category) for q in c.questions), -np.inf
            )
            for key, c in zip(source.keys, source.data.conversations, strict=True)
            if conversations is None or key in conversations
        ]
        return np.concatenate([np.zeros(0), *mine])

    # --- cells ------------------------------------------------------------------------------------
    def _run(self, place: int, parts: Sequence[Part], conversations: frozenset[Key] | None) -> None:
        """Measure what is missing on one source."""
        source = self.sources[place]
        wanted: dict[tuple[Key, ...], list[Part]] = {}
        for part in dict.fromkeys(parts):
            keys = tuple(
                key
                for key in source.keys
                if (conversations is None or key in conversations)
                and (part, place, key) not in self._values
            )
            if keys and self._planned(part, place):
                wanted.setdefault(keys, []).append(part)
        if wanted and place not in self._embedded:
            first = self._planned(self.whole, place)
            tokens = first is not None and first.reads_tokens
            embed_ahead(source.data, self.embedder, tokens=tokens)
            self._embedded.add(place)
        for keys, mine in wanted.items():
            some = tuple(
                c
                for key, c in zip(source.keys, source.data.conversations, strict=True)
                if key in keys
            )
            self._measure(place, mine, replace(source.data, conversations=some))

    def _planned(self, part: Part, place: int) -> Composition | None:
        """The part as the engine builds it, or None if it refuses."""
        if part in self.unbuildable:
            return None
        if (part, place) not in self._plans:
            settings = replace(self.settings, unit=self.sources[place].unit)
            mine = self.chosen.without([id for id in self.chosen.mechanisms if id not in part])
            arm = FULL if part == self.whole else self.named(part)
            try:
                (made,) = planned([Arm(arm, mine)], self.registry, settings).arms
            except (ContractError, RegistryError) as error:
                if part == self.whole:
                    raise
                self.unbuildable[part] = error.what
                return None
            self._plans[part, place] = made
        return self._plans[part, place]

    def _measure(self, place: int, parts: Sequence[Part], data: Dataset) -> None:
        settings = replace(self.settings, unit=self.sources[place].unit)
        arms = tuple(self._plans[part, place] for part in parts)
        specs = specs_of(Plan(self.registry, settings, arms), data, self.embedder)
        conversations = {c.id: c for c in data.conversations}
        lives = {one.arm: one.life for one in arms}
        cells = [
            Cell(spec, conversations[spec.conversation], False, lives[spec.arm]) for spec in specs
        ]
        outcomes = run_cells(
            cells,
            self.registry,
            self.embedder,
            self.book,
            jobs=self.jobs,
            progress=self.progress,
            options=self.options,
            out=self.out,
            cluster=self.cluster,
            data=data,
        )
        named = sorted({(c.metric, c.category) for c in self.constraints if c.source == place})
        size = len(conversations)
        for at, outcome in enumerate(outcomes):
            part, conversation = parts[at // size], data.conversations[at % size]
            scored = [
                (row["category"], at_depths(row["ranks"])) for row in outcome.rows if row["gold"]
            ]
            self._values[part, place, (data.sha256, conversation.id)] = {
                f"{metric} {category}": np.array(
                    [found[metric] for kind, found in scored if category in ("", kind)], np.float64
                )
                for metric, category in named
            }

    def named(self, part: Part) -> str:
        """The id of the arm of a part: what it lacks or, if that is much, what it has."""
        off = [id for id in self.chosen.mechanisms if id not in part]
        if len(off) <= _NAMED:
            return f"without {', '.join(off)}"
        return ", ".join(id for id in self.chosen.mechanisms if id in part)
