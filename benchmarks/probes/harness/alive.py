"""The alive matrix: mechanisms x probes, each cell with the full set, the set without the
mechanism, and a base with it alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Any

from ....engine.base.errors import ContractError, InputError, nearest
from ....engine.catalogue.registry import MechanismSet, Registry
from ....engine.ports.embedding_cache import CachedEmbedder
from ....reporting.files import results_folder
from ....reporting.provenance import Made, made
from ....reporting.text import plural
from ...execution.ledger import Ledger
from ...execution.missing import Progress
from ...execution.plan import Composition
from ...execution.setup import code_version
from ...systems.by_name import OURS
from ..stimuli import DIGEST
from .bands import FEWEST, SeedEstimate, estimate
from .base import Claim, Numbers, Probe
from .reach import ProbeReach, ProbeReads, measured, reach_of
from .run import SHARED, ProbeSpec, run_cells, specs_of
from .study import composed

BASE = "hybrid"
SEEDS = 5  # of the matrix, if none are given
ROUNDING = 1e-6  # relative; scores are sums of float32


class State(StrEnum):
    """What a cell of the matrix shows."""

    MOVES = "moves"
    DIFFERS = "differs"
    EQUAL = "equal"
    NO_PATH = "no path"
    ERROR = "error"
    NO_VERDICT = "no verdict"


MEANING: Mapping[State, str] = {
    State.MOVES: "the interval of a difference excludes 0, in the full set or in the base",
    State.DIFFERS: "a number differs in some seed, and no interval excludes 0",
    State.EQUAL: "no number differs in any seed",
    State.NO_PATH: "nothing that the mechanism writes can reach what the probe measures; nothing was run",
    State.ERROR: "a call of a memory failed",
    State.NO_VERDICT: f"fewer than {FEWEST} seeds",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """One number with a mechanism and without it.

    state       MOVES, DIFFERS, EQUAL or NO_VERDICT
    difference  over the seeds in which both are defined
    """

    number: str
    with_it: SeedEstimate
    without: SeedEstimate
    difference: SeedEstimate
    state: State


@dataclass(frozen=True, slots=True)
class PairedMemories:
    """A memory with a mechanism, and the same memory without it, on one probe.

    of       name of the memory with it
    readers  mechanisms that the base has been given, because the mechanism acts only through them
    without_base  mechanisms that the base had to lose, because they set the same column
    numbers  of the probe's band, and `Probe.also`; all of the probe, if it has neither
    why      why nothing was compared; "" else
    """

    of: str
    numbers: tuple[Pair, ...]
    state: State
    why: str = ""
    readers: tuple[str, ...] = ()
    without_base: tuple[str, ...] = ()

    @property
    def shown(self) -> Pair | None:
        """The number that moves most for its spread; else the first that differs; else the
        first.
        """
        moving = [p for p in self.numbers if p.state is State.MOVES]
        differing = [p for p in self.numbers if p.state is State.DIFFERS]
        return max(moving, key=_clarity) if moving else next(iter(differing or self.numbers), None)


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A mechanism on a probe.

    full   in the full set
    alone  in the base
    named  whether the mechanism's registry entry names the probe
    """

    mechanism: str
    probe: Probe
    full: PairedMemories
    alone: PairedMemories
    named: bool

    @property
    def state(self) -> State:
        states = {self.full.state, self.alone.state}
        return next(state for state in (State.ERROR, State.MOVES, State.NO_VERDICT, State.DIFFERS,
                                        State.EQUAL, State.NO_PATH) if state in states)  # fmt: skip

    @property
    def moves(self) -> bool:
        return State.MOVES in (self.full.state, self.alone.state)


@dataclass(frozen=True, slots=True)
class Aliveness:
    """What the matrix says of a mechanism.

    moved      probes that it moves
    elsewhere  those that its registry entry does not name
    unmoved    probes that its registry entry names, that were run, and that it does not move
    why        why it is inert, or has no verdict; ""
    """

    mechanism: str
    moved: tuple[str, ...]
    elsewhere: tuple[str, ...]
    unmoved: tuple[str, ...]
    why: str = ""

    @property
    def verdict(self) -> str:
        """
        >>> Aliveness("recency", ("a/b",), (), ()).verdict, Aliveness("recency", (), (), (), "equal in 3 cells with a path").verdict
        ('alive (1)', 'inert')
        """
        if not self.moved:
            return "inert" if not self.why.startswith(State.NO_VERDICT) else str(State.NO_VERDICT)
        return (
            f"alive ({len(self.moved)})"
            if set(self.moved) != set(self.elsewhere)
            else f"alive elsewhere ({len(self.moved)})"
        )


@dataclass(frozen=True, slots=True)
class AliveMatrix:
    """The alive matrix of a set.

    cells  mechanism by mechanism, in the order of the probes
    lives  of each mechanism
    options  `--named` or `--quick`, if it was run so
    ran, shared  experiments with one seed on one memory, and those of them that asked their
                 questions of the full set's life, as it was theirs, too
    """

    measured: str
    base: str
    probes: tuple[Probe, ...]
    cells: tuple[MatrixCell, ...]
    lives: tuple[Aliveness, ...]
    seeds: int
    evidence: bool
    provenance: Mapping[str, Any]
    options: tuple[str, ...] = ()
    ran: int = 0
    shared: int = 0

    @property
    def cost(self) -> str:
        return cost_of(self.ran, self.shared)

    @property
    def inert(self) -> list[Aliveness]:
        return [life for life in self.lives if life.verdict == "inert"]

    @property
    def headline(self) -> str:
        run = sum(cell.state is not State.NO_PATH for cell in self.cells)
        alive = sum(bool(life.moved) for life in self.lives)
        return (
            f"{plural(len(self.lives), 'mechanism')} x {plural(len(self.probes), 'probe')}, {plural(self.seeds, 'seed')}: "
            f"{alive} alive, {len(self.inert)} inert; "
            f"{run} of {len(self.cells)} cells have a path"
        )


def cost_of(ran: int, shared: int) -> str:
    """What a matrix has run, for reports: `AliveMatrix.ran` and `AliveMatrix.shared`."""
    return (
        f"{ran} experiments with one seed on one memory; in {shared} of them the mechanism left no trace in the life of the full set, which was "
        "asked again without it: the same numbers, bit for bit"
    )


def matrix(
    probes: Sequence[Probe],
    chosen: MechanismSet,
    registry: Registry,
    embedder: CachedEmbedder,
    out: Path,
    *,
    base: str = BASE,
    only: Sequence[str] = (),
    named: bool = False,
    seeds: int = SEEDS,
    jobs: int = 1,
    progress: Progress | None = None,
    making: Made | None = None,
    quick: bool = False,
) -> AliveMatrix:
    """Run the cells that have a path; finished ones are taken from the ledger of `out`.

    base   name of the set to which each mechanism is added alone
    only   mechanisms of the set; all if empty
    named  only cells whose probe the mechanism's registry entry names
    quick  a comparison in which no number differs in the first seed is equal, and is run with the
           other seeds only if nothing else moves the mechanism: a mechanism is called inert after
           all seeds of all cells, and what moves only in a later seed may be missed

    Raises InputError for a mechanism that is not in the set, HebbariumError for a set that cannot
    be built.
    """
    ids = list(dict.fromkeys(only)) or list(chosen.mechanisms)
    if unknown := [id for id in ids if id not in chosen.mechanisms]:
        raise InputError(
            f"{unknown[0]!r} is not in the set {chosen.name}",
            where="--mechanism",
            cure=nearest(unknown[0], chosen.mechanisms),
        )
    start, plans = registry.set(base), _Plans(chosen, registry.set(base), registry, embedder, seeds)
    cells = [
        (id, probe)
        for id, probe in product(ids, probes)
        if not named or probe.name in registry.entry(id).probes
    ]
    planned = [(id, probe, plans.full(id, probe), plans.alone(id, probe)) for id, probe in cells]
    rows: dict[str, Mapping[str, Any]] = {}

    def cells_of(wanted: Sequence[tuple[str, Probe, _Plan, _Plan]]) -> list[MatrixCell]:
        specs = list(
            {
                spec.key(): spec
                for _, _, *both in wanted
                for plan in both
                for spec in plan.specs
                if spec.key() not in rows
            }.values()
        )
        hosts = {
            without.key(): host
            for _, _, full, _ in wanted
            for host, without in zip(full.with_it, full.without, strict=True)
        }
        payloads = (
            run_cells(specs, registry, embedder, book, jobs=jobs, progress=progress, hosts=hosts)
            if specs
            else ()
        )
        rows.update(zip((spec.key() for spec in specs), payloads, strict=True))
        return [
            MatrixCell(
                id,
                probe,
                full.compared(probe, rows),
                alone.compared(probe, rows),
                probe.name in registry.entry(id).probes,
            )
            for id, probe, full, alone in wanted
        ]

    book = Ledger(results_folder(out) / "ledger.sqlite")
    with book.locked():
        if quick:
            first = cells_of(
                [(id, probe, full.first, alone.first) for id, probe, full, alone in planned]
            )
            kept = [
                (
                    id,
                    probe,
                    full.first if cell.full.state is State.EQUAL else full,
                    alone.first if cell.alone.state is State.EQUAL else alone,
                )
                for cell, (id, probe, full, alone) in zip(first, planned, strict=True)
            ]
            moved = {cell.mechanism for cell in cells_of(kept) if cell.moves}
            planned = [
                short if whole[0] in moved else whole
                for short, whole in zip(kept, planned, strict=True)
            ]
        made_cells = tuple(cells_of(planned))
        shared = sum(bool(cell.meta.get(SHARED)) for cell in book.cells(rows))
    lives = tuple(_life(id, [cell for cell in made_cells if cell.mechanism == id]) for id in ids)
    provenance = {"set": chosen.name, "base": start.name, "registry_digest": registry.digest,
                  "embedder": embedder.name,
                  "embedder_revision": embedder.revision, "code": code_version(), "stimuli": DIGEST,
                  "made": asdict(making or made())}  # fmt: skip
    used = tuple(probe for probe in probes if any(cell.probe is probe for cell in made_cells))
    options = tuple(name for name, given in (("--named", named), ("--quick", quick)) if given)
    return AliveMatrix(
        chosen.name,
        start.name,
        used,
        made_cells,
        lives,
        seeds,
        embedder.name != "hashing",
        provenance,
        options,
        len(rows),
        shared,
    )


# --- what is run ----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Plan:
    """Cells with and without a mechanism; none if there is no path, or if a memory cannot be
    made (`why`).
    """

    of: str
    with_it: tuple[ProbeSpec, ...] = ()
    without: tuple[ProbeSpec, ...] = ()
    why: str = ""
    readers: tuple[str, ...] = ()
    without_base: tuple[str, ...] = ()

    @property
    def specs(self) -> tuple[ProbeSpec, ...]:
        return (*self.with_it, *self.without)

    @property
    def first(self) -> _Plan:
        """The same with the first seed alone."""
        return replace(self, with_it=self.with_it[:1], without=self.without[:1])

    def compared(self, probe: Probe, rows: Mapping[str, Mapping[str, Any]]) -> PairedMemories:
        if not self.specs:
            return PairedMemories(self.of, (), State.NO_PATH, self.why)
        first, second = (
            [rows[spec.key()] for spec in specs] for specs in (self.with_it, self.without)
        )
        where = {"readers": self.readers, "without_base": self.without_base}
        if message := next(
            (f"seed {row['seed']}: {row['error']}" for row in (*first, *second) if row["error"]), ""
        ):
            return PairedMemories(self.of, (), State.ERROR, message, **where)
        a, b = (
            [
                {k: math.nan if v is None else float(v) for k, v in row["numbers"].items()}
                for row in side
            ]
            for side in (first, second)
        )
        pairs = tuple(paired(name, a, b) for name in _numbers(probe, a))
        states = {pair.state for pair in pairs}
        state = next(
            s for s in (State.MOVES, State.NO_VERDICT, State.DIFFERS, State.EQUAL) if s in states
        )
        return PairedMemories(self.of, pairs, state, "", **where)


class _Plans:
    """Which memories the cells of a set need.  A schedule is made once for each set of
    mechanisms and instruments.
    """

    def __init__(
        self,
        chosen: MechanismSet,
        base: MechanismSet,
        registry: Registry,
        embedder: CachedEmbedder,
        seeds: int,
    ) -> None:
        self._chosen, self._base, self._registry, self._embedder, self._seeds = (
            chosen,
            base,
            registry,
            embedder,
            seeds,
        )
        self._measured: dict[str, ProbeReads] = {}
        self._reach: dict[tuple[str, ...], ProbeReach] = {}
        self._made: dict[tuple[str, ...], Composition] = {}
        self._specs: dict[tuple[str, tuple[str, ...]], tuple[ProbeSpec, ...]] = {}

    def full(self, id: str, probe: Probe) -> _Plan:
        """The set, and the set without the mechanism."""
        if self._path(self._chosen, id, probe) is None:
            return _Plan(self._chosen.name)
        return self._plan(self._chosen, self._chosen.without([id]), probe)

    def alone(self, id: str, probe: Probe) -> _Plan:
        """The base with the mechanism and the fewest readers through which it reaches the probe,
        and the base with these readers.
        """
        through = self._path(self._chosen, id, probe, near=tuple(self._base.mechanisms))
        if through is None:
            return _Plan(self._base.name)
        readers: tuple[str, ...] = ()
        grown, lost = self._grown((id,))
        if self._path(grown, id, probe) is None:
            readers = tuple(r for r in through if r not in grown.mechanisms)
            grown, lost = self._grown((id, *readers))
            if self._path(grown, id, probe) is None:
                return _Plan(
                    self._base.name, why=f"not through {', '.join(readers) or 'the base'} alone"
                )
        if len(grown.mechanisms) == 1:
            return _Plan(self._base.name, why="nothing else is left of the base")
        # what the mechanism takes the place of is in the memory without it
        without = (
            self._grown(readers)[0]
            if lost and id not in self._base.mechanisms
            else grown.without([id])
        )
        return self._plan(grown, without, probe, readers, lost)

    def _plan(
        self,
        with_it: MechanismSet,
        without: MechanismSet,
        probe: Probe,
        readers: tuple[str, ...] = (),
        lost: tuple[str, ...] = (),
    ) -> _Plan:
        try:
            both = [self._cells(chosen, probe) for chosen in (with_it, without)]
        except ContractError as error:
            return _Plan(with_it.name, why=error.what)
        return _Plan(with_it.name, both[0], both[1], "", readers, lost)

    def _grown(self, more: tuple[str, ...]) -> tuple[MechanismSet, tuple[str, ...]]:
        """The base with more mechanisms, without those of its own that set the same column as
        one of these.
        """
        kept, lost = dict(self._base.mechanisms), list[str]()
        while True:
            wanted = kept | {
                id: self._chosen.mechanisms.get(id, {}) for id in more if id not in kept
            }
            ids = [id for id in self._registry.entries if id in wanted]
            name = " + ".join(
                [self._base.name, *(id for id in ids if id not in self._base.mechanisms)]
            )
            wanted_set = MechanismSet(name, "", {id: wanted[id] for id in ids})
            try:
                self._reach_of(wanted_set, ProbeReads(frozenset(), False, False, False))
            except ContractError as error:
                clashing = next(
                    (id for id in kept if id not in more and f"{id}." in error.what), None
                )
                if clashing is None:
                    raise
                del kept[clashing]
                lost.append(clashing)
                continue
            return wanted_set, tuple(lost)

    def _path(
        self, chosen: MechanismSet, id: str, probe: Probe, near: Sequence[str] = ()
    ) -> tuple[str, ...] | None:
        if probe.id not in self._measured:
            self._measured[probe.id] = measured(probe)
        wanted = self._measured[probe.id]
        return self._reach_of(chosen, wanted).chain(id, wanted, near)

    def _reach_of(self, chosen: MechanismSet, wanted: ProbeReads) -> ProbeReach:
        key = (chosen.name, *chosen.mechanisms, "", *(i.id for i in wanted.instruments))
        if key not in self._reach:
            self._reach[key] = reach_of(self._registry.build(chosen), wanted)
        return self._reach[key]

    def _cells(self, chosen: MechanismSet, probe: Probe) -> tuple[ProbeSpec, ...]:
        key = tuple(f"{id}={values}" for id, values in chosen.mechanisms.items())
        if key not in self._made:
            self._made[key] = composed(chosen, self._registry, OURS)
        if (probe.id, key) not in self._specs:
            self._specs[probe.id, key] = tuple(
                specs_of([probe], self._seeds, self._made[key], self._registry, self._embedder)
            )
        return self._specs[probe.id, key]


# --- what is compared -----------------------------------------------------------------------------
def paired(name: str, with_it: Sequence[Numbers], without: Sequence[Numbers]) -> Pair:
    """One number of all seeds with a mechanism against without it.

    A number that is defined with it and not without it, or the other way round, in every seed,
    moves.  Numbers that differ by rounding are equal.

    >>> [paired("p", [{"p": x} for x in a], [{"p": 0.5}] * 3).state.value for a in ([0.6, 0.7, 0.8], [0.5, 0.5, 0.6], [0.5] * 3)]
    ['moves', 'differs', 'equal']
    """
    a, b = ([numbers.get(name, math.nan) for numbers in side] for side in (with_it, without))
    b = [x if math.isclose(x, y, rel_tol=ROUNDING) else y for x, y in zip(a, b, strict=True)]
    difference = estimate([x - y for x, y in zip(a, b, strict=True)])
    appears = [math.isnan(x) != math.isnan(y) for x, y in zip(a, b, strict=True)]
    if all(x == y or (math.isnan(x) and math.isnan(y)) for x, y in zip(a, b, strict=True)):
        state = State.EQUAL
    elif len(a) < FEWEST:
        state = State.NO_VERDICT
    else:
        state = (
            State.MOVES
            if all(appears) or difference.low > 0.0 or difference.high < 0.0
            else State.DIFFERS
        )
    return Pair(name, estimate(a), estimate(b), difference, state)


def _numbers(probe: Probe, sides: Sequence[Numbers]) -> list[str]:
    claims: Sequence[Claim] = probe.band
    wanted = (*(name for claim in claims for name in claim.names), *probe.also)
    return list(dict.fromkeys(wanted)) or list(
        dict.fromkeys(name for side in sides for name in side)
    )


def _clarity(pair: Pair) -> float:
    """The difference in half widths of its interval; infinite if the interval is a point or the
    number appears.
    """
    half = (pair.difference.high - pair.difference.low) / 2.0
    return abs(pair.difference.mean) / half if half > 0.0 else math.inf


def _life(id: str, cells: Sequence[MatrixCell]) -> Aliveness:
    moved = tuple(cell.probe.id for cell in cells if cell.moves)
    elsewhere = tuple(cell.probe.id for cell in cells if cell.moves and not cell.named)
    unmoved = tuple(cell.probe.id for cell in cells if cell.named and not cell.moves)
    return Aliveness(id, moved, elsewhere, unmoved, "" if moved else _why(cells))


def _why(cells: Sequence[MatrixCell]) -> str:
    """Why nothing moves."""
    counts = {state: sum(cell.state is state for cell in cells) for state in State}
    if counts[State.NO_VERDICT]:
        return f"{State.NO_VERDICT}: {MEANING[State.NO_VERDICT]}"
    said = [
        f"{words} {counts[state]}"
        for state, words in (
            (State.EQUAL, "equal in"),
            (State.DIFFERS, "differs without a direction in"),
            (State.ERROR, "failed in"),
            (State.NO_PATH, "no path in"),
        )
        if counts[state]
    ]
    return f"{', '.join(said)} of {len(cells)} cells" if said else "no probe was asked for"
