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
from ..execution.lives import MOST
from ..execution.local import Progress, embed_ahead, run_cells
from ..execution.plan import Composition, RunPlan, planned, specs_of
from ..execution.spec import DEFAULTS, Settings
from ..scores.metrics import DEPTHS, at_depths
from .lives import Lives, hits
from .resampling import AskedQuestions, Key
from .search import ROUNDING, Floats, Part

METRICS: Final = tuple(at_depths([1], DEPTHS))
_NAMED: Final = 3  # mechanisms that the id of an arm names
# by so many standard errors a mean over so many questions is above a margin, so that the other
# conversations need not be asked: one part in a thousand is left out wrongly
SURELY: Final = 3.09
ENOUGH: Final = 30


@dataclass(frozen=True, slots=True)
class MeasuredData:
    """Data as they are measured: by turns or by sessions."""

    data: Dataset
    unit: Unit = "turn"

    @property
    def name(self) -> str:
        return f"{self.data.name} sessions" if self.unit == "session" else self.data.name

    @property
    def keys(self) -> tuple[Key, ...]:
        return tuple((self.data.sha256, c.id) for c in self.data.conversations)

    def questions(self, category: str = "") -> list[tuple[Key, str]]:
        """Conversation and id of every question with gold, of one category or of all ("")."""
        return [
            (key, q.id)
            for key, c in zip(self.keys, self.data.conversations, strict=True)
            for q in c.questions
            if q.gold and category in ("", q.category)
        ]


@dataclass(frozen=True, slots=True)
class Constraint:
    """One number that a part may lower by no more than a margin.

    source    place of its data, or of its world
    metric    of a question, such as recall@10 or all@5; that of a world is its hit@k
    margin    in units of the metric
    category  of the questions that count; "" for all
    name      for tables
    """

    source: int
    metric: str
    margin: float
    category: str = ""
    name: str = ""


def _loss(differences: Floats, margin: float, some: bool) -> float:
    """The mean; of some of the conversations infinite if it is surely above the margin, else NaN.

    >>> _loss(np.full(30, 0.5), 0.1, some=True), _loss(np.full(9, 0.5), 0.1, some=True)
    (inf, nan)
    """
    if not some:
        return float(differences.mean()) if len(differences) else 0.0
    if len(differences) < ENOUGH:
        return np.nan
    least = differences.mean() - SURELY * differences.std(ddof=1) / np.sqrt(len(differences))
    return np.inf if least > margin else np.nan


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
    sources: Sequence[MeasuredData | Lives]
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
        for constraint, asked in zip(self.constraints, self.asked(), strict=True):
            if not asked.questions:
                source = self.sources[constraint.source]
                known = (
                    {q.category for c in source.data.conversations for q in c.questions}
                    if (isinstance(source, MeasuredData))
                    else set[str]()
                )
                of = f" of the category {constraint.category!r}" if constraint.category else ""
                raise InputError(
                    f"no question{of} names its evidence, so no part can be compared",
                    where=source.name,
                    cure=f"take one of the categories {', '.join(sorted(known))}"
                    if constraint.category
                    else "take more conversations, or another data set",
                )

    @property
    def whole(self) -> Part:
        return frozenset(self.chosen.mechanisms)

    def asked(self, conversations: frozenset[Key] | None = None) -> Sequence[AskedQuestions]:
        asked = []
        for constraint in self.constraints:
            kept = [
                (key, id)
                for key, id in self.sources[constraint.source].questions(constraint.category)
                if conversations is None or key in conversations
            ]
            asked.append(AskedQuestions(tuple(key for key, _ in kept), tuple(id for _, id in kept)))
        return asked

    def of(
        self, parts: Sequence[Part], conversations: frozenset[Key] | None = None
    ) -> Sequence[Sequence[Floats]]:
        """Differences of questions from the whole set; infinite for a part that cannot be built."""
        whole, *others = self.values([self.whole, *parts], conversations)
        return [
            [before - after for before, after in zip(whole, mine, strict=True)] for mine in others
        ]

    def lost(
        self,
        parts: Sequence[Part],
        margins: Sequence[float],
        conversations: frozenset[Key] | None = None,
    ) -> Floats:
        """Means of differences on all data, and then world by world, of parts that have lost no
        more than a margin so far: a world is lived anew for each part, which costs more than all
        data together.
        """
        worlds = [at for at, source in enumerate(self.sources) if isinstance(source, Lives)]
        data = [at for at in range(len(self.sources)) if at not in worlds]
        lost, left = self._nothing_lost_yet(parts)
        for stage in (data, *([world] for world in worlds)):
            for source in stage:
                self._note_losses(source, parts, left, lost, conversations)
            left = [place for place in left if not self._has_lost(lost[place], margins, stage)]
        return lost

    def briefly(
        self,
        parts: Sequence[Part],
        margins: Sequence[float],
        conversations: frozenset[Key] | None = None,
    ) -> Floats:
        """Means of differences, source by source, those with the least work first, and of each
        first on a third of its conversations; a part that loses more than a margin is measured no
        further.

        After the first third it does only if its loss is surely above the margin: by `SURELY`
        standard errors of the mean over at least `ENOUGH` questions.
        """
        lost, left = self._nothing_lost_yet(parts)
        for source in sorted(range(len(self.sources)), key=self._work):
            keys = [
                key
                for key in self.sources[source].keys
                if conversations is None or key in conversations
            ]
            some = frozenset(keys[: -(-len(keys) // 3)])
            for block in dict.fromkeys((some, frozenset(keys))):
                if left and block:
                    self._note_losses(
                        source, parts, left, lost, block, margins if len(block) < len(keys) else ()
                    )
                    left = [at for at in left if not self._has_lost(lost[at], margins, [source])]
        return lost

    def _nothing_lost_yet(self, parts: Sequence[Part]) -> tuple[Floats, list[int]]:
        """Losses (parts, c), NaN, or infinite for a part that cannot be built, and the places of
        the others.
        """
        lost = np.full((len(parts), len(self.constraints)), np.nan)
        left = [place for place, part in enumerate(parts) if self._planned(part, 0)]
        lost[[place for place in range(len(parts)) if place not in left]] = np.inf
        return lost, left

    def _note_losses(
        self,
        source: int,
        parts: Sequence[Part],
        places: Sequence[int],
        lost: Floats,
        conversations: frozenset[Key] | None,
        margins: Sequence[float] = (),
    ) -> None:
        """Measure the parts of some places on one source, and write what they lose there.

        margins  if these are some of the conversations, see `_loss`
        """
        if not places:
            return
        self._run(source, [self.whole, *(parts[place] for place in places)], conversations)
        for at, constraint in enumerate(self.constraints):
            if constraint.source == source:
                whole = self._value(self.whole, constraint, conversations)
                for place in places:
                    differences = whole - self._value(parts[place], constraint, conversations)
                    margin = margins[at] if margins else 0.0
                    lost[place, at] = _loss(differences, margin, bool(margins))

    def _has_lost(self, lost: Floats, margins: Sequence[float], sources: Sequence[int]) -> bool:
        """Whether losses (c,) on some sources are above a margin."""
        return any(
            lost[at] > margins[at] + ROUNDING
            for at, constraint in enumerate(self.constraints)
            if constraint.source in sources
        )

    def _work(self, source: int) -> tuple[bool, float]:
        """What a part costs on a source, for the order: a world is lived for each part, a
        conversation for up to `MOST` of them.
        """
        data = self.sources[source]
        if isinstance(data, Lives):
            return True, float(len(data.keys))
        held = data.data.conversations
        return False, sum(len(c.questions) + len(c.events) / MOST for c in held)

    def values(
        self, parts: Sequence[Part], conversations: frozenset[Key] | None = None
    ) -> list[list[Floats]]:
        """Of each part and constraint the value of every question, (n,).  Raises HebbariumError."""
        for place in range(len(self.sources)):
            self._run(place, parts, conversations)
        return [
            [self._value(part, constraint, conversations) for constraint in self.constraints]
            for part in parts
        ]

    def means(self, parts: Sequence[Part]) -> Floats:
        """(parts, c) mean over all questions."""
        return np.array([[float(v.mean()) for v in mine] for mine in self.values(parts)])

    def _value(
        self, part: Part, constraint: Constraint, conversations: frozenset[Key] | None
    ) -> Floats:
        source = self.sources[constraint.source]
        if part in self.unbuildable:
            n = sum(
                conversations is None or key in conversations
                for key, _ in source.questions(constraint.category)
            )
            return np.full(n, -np.inf)
        mine = [
            self._values[part, constraint.source, key][f"{constraint.metric} {constraint.category}"]
            for key in source.keys
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
        for keys, mine in wanted.items():
            if isinstance(source, Lives):
                self._live(place, mine, source, keys)
            else:
                self._embed(place, source)
                some = tuple(
                    c
                    for key, c in zip(source.keys, source.data.conversations, strict=True)
                    if key in keys
                )
                self._measure(place, mine, replace(source.data, conversations=some))

    def _embed(self, place: int, source: MeasuredData) -> None:
        """Embed the texts of a source, once."""
        if place not in self._embedded:
            first = self._planned(self.whole, place)
            tokens = first is not None and first.reads_tokens
            embed_ahead(source.data, self.embedder, tokens=tokens)
            self._embedded.add(place)

    def _settings(self, place: int) -> Settings:
        source = self.sources[place]
        return (
            replace(self.settings, unit=source.unit)
            if isinstance(source, MeasuredData)
            else DEFAULTS
        )

    def _planned(self, part: Part, place: int) -> Composition | None:
        """The part as the engine builds it, or None if it refuses."""
        if part in self.unbuildable:
            return None
        if (part, place) not in self._plans:
            mine = self.chosen.without([id for id in self.chosen.mechanisms if id not in part])
            arm = FULL if part == self.whole else self.named(part)
            try:
                (made,) = planned([Arm(arm, mine)], self.registry, self._settings(place)).arms
            except (ContractError, RegistryError) as error:
                if part == self.whole:
                    raise
                self.unbuildable[part] = error.what
                return None
            self._plans[part, place] = made
        return self._plans[part, place]

    def _live(self, place: int, parts: Sequence[Part], source: Lives, keys: Sequence[Key]) -> None:
        """Measure parts in some lives of a world."""
        arms = {part: self._plans[part, place] for part in parts}
        hit = hits(
            source,
            keys,
            tuple(arms.values()),
            self.registry,
            self.embedder,
            self.book,
            jobs=self.jobs,
            progress=self.progress,
        )
        named = f"hit@{source.world.k} "
        for part, arm in arms.items():
            for key in keys:
                self._values[part, place, key] = {named: np.array([hit[arm.arm, key]])}

    def _measure(self, place: int, parts: Sequence[Part], data: Dataset) -> None:
        """Measure parts on some conversations of a data set."""
        arms = tuple(self._plans[part, place] for part in parts)
        plan = RunPlan(self.registry, self._settings(place), arms)
        specs = specs_of(plan, data, self.embedder)
        conversations = {c.id: c for c in data.conversations}
        lives = {arm.arm: arm.life for arm in arms}
        whole = self._planned(self.whole, place)
        cells = [
            Cell(
                spec,
                conversations[spec.conversation],
                False,
                lives[spec.arm],
                whole.mechanisms if whole and lives[spec.arm] else None,
            )
            for spec in specs
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
                    [metrics[metric] for kind, metrics in scored if category in ("", kind)],
                    np.float64,
                )
                for metric, category in named
            }

    def named(self, part: Part) -> str:
        """The id of the arm of a part: what it lacks or, if that is much, what it has."""
        off = [id for id in self.chosen.mechanisms if id not in part]
        if len(off) <= _NAMED:
            return f"without {', '.join(off)}"
        return ", ".join(id for id in self.chosen.mechanisms if id in part)
