"""Dataflow: what follows from what the steps of a phase declare.

- what a step reads and writes, as the arrays that hold it (`arrays_of`);
- what a change of steps or of persistent columns reaches (`reach`), and the silence of a mechanism
  (`silence_reaches`, `can_change_an_answer`);
- what maintenance derives from the rest of the state and from time, which no file holds
  (`derived`), and what of that can wait until it is read (`late`);
- what the steps that lead to an answer read (`read_for_the_answer`);
- which steps a question needs that does not learn (`answering`), which are left if it is to learn
  after all (`learning`), and what they learn from (`learnt_from`);
- where what a step writes is read, in the same phase or later (`Paths`), and in which phases what
  hooks touch is filled (`phases_touched`);
- in what order steps run: for each column, readers of `COLUMN.before` run first, then its setter,
  then the steps that add to it, then its readers; registry order settles the rest.  A stage runs
  after the stage that it refines.  Steps that change memory on recall run after the answer, so
  steps that lead to the answer read those columns unchanged;
- which of them may run at the same time (`concurrent_followers`).

No other module computes these things, and none here runs a step.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ..base.errors import ContractError
from ..contract.columns import Before, Column, Phase, Scope, Signal, Structure
from ..contract.hooks import Hook, Mechanism, Read, Touched, item_of
from ..contract.vocabulary import (
    BUDGET,
    INDEX,
    MATCH,
    RECALLED,
    SIGNALS,
    SLEEP_END,
    SLEEP_ONSET,
    VISIBLE,
)
from .schedule import Node, Stages

T = TypeVar("T")


def touched_by(declared: Node | Hook) -> tuple[Touched, ...]:
    """What a step or a hook names in its declarations, in order."""
    return (*map(item_of, declared.reads), *declared.adds, *declared.sets)


def read_after(node: Node, stages: Stages, signals: Iterable[Signal] = ()) -> set[Touched]:
    """The arrays that a step reads after all changes of the phase: what it sees, and what the
    stages that it writes start from.

    signals  that a reader of SIGNALS sees
    """
    arrays = {stages.source(item) for item in node.sees}
    arrays |= {start for start in map(stages.before, node.writes) if start}
    return arrays | set(signals) if SIGNALS in arrays else arrays


def read_before(node: Node, stages: Stages) -> set[Touched]:
    """The arrays that a step reads as they were before any change of the phase."""
    return {stages.source(read.of) for read in node.reads if isinstance(read, Before)}


def ordered(nodes: Sequence[Node], signals: Iterable[Signal] = ()) -> tuple[Node, ...]:
    """The nodes of one phase in the order in which they run.  Raises ContractError.  Cost:
    O(nodes x columns).
    """
    return _sorted(nodes, followers_of(nodes, signals))


def followers_of(nodes: Sequence[Node], signals: Iterable[Signal] = ()) -> dict[Node, set[Node]]:
    """For each node of one phase those that must run after it.  Raises ContractError for two
    setters of a column.
    """
    setters, adders, readers, before = _touchers(nodes, tuple(signals))
    for column, setting in setters.items():
        if len(setting) > 1:
            raise ContractError(
                f"{' and '.join(n.label for n in setting)} both set {column.name}",
                where=f"schedule of {setting[0].phase.value}",
                cure="switch one of them off",
            )
    after: dict[Node, set[Node]] = {n: set() for n in nodes}
    for column in {*setters, *adders, *readers, *before}:
        tiers = [
            before.get(column, []),
            setters.get(column, []),
            adders.get(column, []),
            readers.get(column, []),
        ]
        for i, earlier in enumerate(tiers):
            for later in tiers[i + 1 :]:
                for a in earlier:
                    after[a].update(b for b in later if b is not a)
    return after


def _touchers(
    nodes: Sequence[Node], signals: tuple[Signal, ...]
) -> tuple[dict[Touched, list[Node]], ...]:
    """The steps that set each array, that add to it, that read it, and that read it as it was."""
    by_use: tuple[dict[Touched, list[Node]], ...] = ({}, {}, {}, {})
    stages = Stages.of(nodes)
    learnt = {c for n in nodes if n.learns for c in n.writes if c.persists}
    for node in nodes:
        past, sees = read_before(node, stages), read_after(node, stages, signals)
        if not node.learns:
            past, sees = past | (sees & learnt), sees - learnt
        for nodes_of, columns in zip(
            by_use,
            (
                dict.fromkeys(node.sets),
                set(node.adds),
                sees - set(node.sets),
                past - set(node.sets),
            ),
            strict=True,
        ):
            for column in columns:
                if not (isinstance(column, Structure) and column.private):
                    nodes_of.setdefault(column, []).append(node)
    return by_use


def _sorted(nodes: Sequence[Node], after: Mapping[Node, set[Node]]) -> tuple[Node, ...]:
    waiting = dict.fromkeys(nodes, 0)
    for followers in after.values():
        for node in followers:
            waiting[node] += 1
    place = {n: (*n.rank, i) for i, n in enumerate(nodes)}
    ready = [place[n] for n in nodes if not waiting[n]]
    heapq.heapify(ready)
    result: list[Node] = []
    while ready:
        node = nodes[heapq.heappop(ready)[-1]]
        result.append(node)
        for later in after[node]:
            waiting[later] -= 1
            if not waiting[later]:
                heapq.heappush(ready, place[later])
    if len(result) < len(nodes):
        raise ContractError(
            f"the declarations form a loop: {_loop(after, set(nodes) - set(result))}",
            where=f"schedule of {nodes[0].phase.value}",
            cure="let one of them read COLUMN.before, or move its work to another phase",
        )
    return tuple(result)


def _loop(after: Mapping[Node, set[Node]], stuck: set[Node]) -> str:
    """One cycle among the stuck nodes, each of which has a predecessor among them."""
    path: list[Node] = [min(stuck, key=lambda n: (n.order, n.label))]
    earlier = {n: [m for m in stuck if n in after[m]] for n in stuck}
    while True:
        previous = min(earlier[path[-1]], key=lambda n: (n.order, n.label))
        if previous in path:
            cycle = [*path[path.index(previous) :], previous]
            return " -> ".join(n.label for n in reversed(cycle))
        path.append(previous)


@dataclass(frozen=True, slots=True, eq=False)
class StepArrays:
    """What a step reads and what it writes in a question that neither learns nor asks for a
    context, as the arrays that hold it.
    """

    node: Node
    reads: frozenset[Touched]
    writes: frozenset[Touched]


def arrays_of(nodes: Sequence[Node], signals: Iterable[Signal] = ()) -> tuple[StepArrays, ...]:
    """What each step of RETRIEVE reads and writes.  Cost: some microseconds a step.

    A value before the pass that the step reads counts as written, since it is gone after the pass.
    A step that runs only if recall may learn or a context is asked for writes columns of the pass
    alone: its place may be where contributions are summed.
    """
    stages, known = Stages.of(nodes), tuple(signals)
    return tuple(_arrays_of_step(node, stages, known) for node in nodes)


def _arrays_of_step(node: Node, stages: Stages, signals: tuple[Signal, ...]) -> StepArrays:
    if node.learns or BUDGET in node.sees:
        summed = (c for c in node.writes if isinstance(c, Column) and not c.persists)
        return StepArrays(node, frozenset(), frozenset(summed))
    past = read_before(node, stages)
    writes = (c for c in node.writes if not (isinstance(c, Structure) and c.private))
    return StepArrays(
        node,
        frozenset(read_after(node, stages, signals) | past),
        frozenset((*writes, *(c for c in past if not c.persists))),
    )


@dataclass(frozen=True, slots=True)
class Reach:
    """The steps of a pass that a change reaches.

    places      of those steps in the pass, in order
    columns     columns of the query and its candidates that are reached
    structures  whether a structure other than the answer is reached: its content before the steps
                is not known after them
    """

    places: tuple[int, ...]
    columns: tuple[Column, ...]
    structures: bool

    def of(self, steps: Sequence[T]) -> list[T]:
        """The reached steps among all steps of the pass."""
        return [steps[place] for place in self.places]

    def others(self, steps: Sequence[T]) -> list[T]:
        """The steps among all steps of the pass that are not reached."""
        reached = set(self.places)
        return [step for place, step in enumerate(steps) if place not in reached]


def reach(
    steps: Sequence[StepArrays], changes: Callable[[Node], bool], arrays: Iterable[Touched] = ()
) -> Reach:
    """What is reached in a pass if some of its steps change, or persistent arrays do.

    steps    of `arrays_of`
    changes  whether a step changes
    arrays   that change before the pass

    A step is reached if it changes, or reads or writes what is reached; what it writes is reached
    in turn.
    """
    reached, places = set(arrays), set[int]()
    while more := {
        place
        for place, step in enumerate(steps)
        if place not in places
        and (
            changes(step.node)
            or not (reached.isdisjoint(step.reads) and reached.isdisjoint(step.writes))
        )
    }:
        places |= more
        reached.update(*(steps[place].writes for place in more))
    written = dict.fromkeys(item for place in sorted(places) for item in steps[place].writes)
    return Reach(
        tuple(sorted(places)),
        tuple(c for c in written if isinstance(c, Column) and not c.persists),
        any(isinstance(c, Structure) and c is not RECALLED for c in written),
    )


def silence_reaches(steps: Sequence[StepArrays], m: Mechanism[Any]) -> Reach:
    """What the silence of a mechanism reaches in a pass of RETRIEVE.

    steps  of `arrays_of`
    """
    arrays = {c for c in _written_by(m) if isinstance(c, Column) and c.persists}
    if VISIBLE in arrays:  # searches leave out hidden rows
        return reach(steps, lambda node: node.owner == m.id, (*arrays, INDEX))
    return reach(steps, lambda node: node.owner == m.id, arrays)


def can_change_an_answer(m: Mechanism[Any], nodes: Iterable[Node]) -> bool:
    """Whether a step of RETRIEVE that leads to an answer is the mechanism's, or reads a column that
    the mechanism owns or writes.
    """
    written = _written_by(m)
    return any(
        n.owner == m.id or any(isinstance(c, Column) and c in written for c in n.sees)
        for n in nodes
        if not n.learns
    )


def _written_by(m: Mechanism[Any]) -> set[Touched]:
    """What a mechanism owns, and what its hooks of all phases write."""
    return {*m.owns, *(item for hook in type(m).hooks() for item in (*hook.sets, *hook.adds))}


def weighs_signals(node: Node) -> bool:
    """Whether what a step of RETRIEVE does depends on the weights of the signals."""
    return SIGNALS in node.sees or MATCH in node.sets


def rest_of(
    whole: Sequence[Node], fewer: Sequence[Node], signals: Iterable[Signal], differ: bool
) -> Reach | None:
    """The steps of fewer mechanisms that are left to run after a pass of all mechanisms for the
    same cue; None: all steps.

    whole, fewer  steps of RETRIEVE, in order
    signals       of the fewer mechanisms
    differ        whether the two passes differ in the signals that a fusion sees

    The missing steps reach these steps.  All steps run if a missing step fills a structure or a
    stage of the ranking, or if the order differs.
    """
    ours = {node.label for node in fewer}
    gone = [
        node
        for node in whole
        if node.label not in ours and not (node.learns or BUDGET in node.sees)
    ]
    written = dict.fromkeys(item for node in gone for item in node.writes)
    columns = tuple(c for c in written if isinstance(c, Column) and not _is_stage(c))
    if (
        len(columns) < len(written)
        or [node.label for node in whole if node.label in ours] != [node.label for node in fewer]
        or _stages_written(whole) != _stages_written(fewer)
    ):
        return None
    rest = reach(arrays_of(fewer, signals), lambda node: differ and weighs_signals(node), columns)
    if rest.structures:
        return None
    return Reach(rest.places, tuple(dict.fromkeys((*rest.columns, *columns))), False)


def _is_stage(item: Touched) -> bool:
    return isinstance(item, Column) and isinstance(item.neutral, Column)


def _stages_written(nodes: Iterable[Node]) -> set[Touched]:
    return {item for node in nodes for item in node.writes if _is_stage(item)}


def derived(nodes: Sequence[Node]) -> tuple[frozenset[Column], tuple[Node, ...]]:
    """The columns of memories that steps of maintenance compute anew from what persists, and those
    steps, in order.

    nodes  of MAINTAIN, in the order in which they run

    A column is derived if it is `fresh` in that phase and every step that writes it writes derived
    columns alone and reads persistent columns alone, as they are after all changes of the phase.
    The steps can then be run again at the time of the last maintenance, with the same result, as
    long as nothing else has changed since; `tick.start` does not count, since results do not depend
    on the length of ticks.
    """
    written = {node: frozenset(node.writes) for node in nodes}
    columns = frozenset(
        c
        for writes in written.values()
        for c in writes
        if isinstance(c, Column) and c.upkeep.fresh is Phase.MAINTAIN and c.scope is Scope.MEMORY
    )
    while odd := columns & _union(
        writes for node, writes in written.items() if not (writes <= columns and _repeatable(node))
    ):
        columns -= odd
    return columns, tuple(node for node in nodes if written[node] & columns)


def late(
    columns: frozenset[Column], steps: Sequence[Node], read: Iterable[Read]
) -> tuple[frozenset[Column], tuple[Node, ...]]:
    """The derived columns that can wait until they are read, and the steps that compute them, in
    order.

    columns, steps  of `derived`
    read            what steps of ENCODE and of MAINTAIN, forecasts and promises to rest read: such
                    a column is computed in maintenance, for that time

    Late columns are computed for the time at which they are read, so that time alone costs nothing.
    What their steps read belongs to each memory or to all, so that they can be computed for some
    memories alone, see `engine.scale.on_read`.
    """
    waiting = columns - {item_of(item) for item in read}
    while odd := waiting & _union(
        frozenset(node.writes)
        for node in steps
        if not (waiting.issuperset(node.writes) and reads_row_by_row(node))
    ):
        waiting -= odd
    return waiting, tuple(node for node in steps if not waiting.isdisjoint(node.writes))


def _repeatable(node: Node) -> bool:
    return all(
        isinstance(read, Column) and read.persists and read not in node.writes
        for read in node.reads
    )


def reads_row_by_row(node: Node, scopes: Container[Scope] = (Scope.MEMORY, Scope.GLOBAL)) -> bool:
    """Whether a step reads columns of these scopes alone, and no numbers of other rows, so that it
    can be run for some memories alone.
    """
    return all(
        isinstance(read, Column)
        and read.scope in scopes
        and read.upkeep.rows is None
        and not read.upkeep.chained
        for read in node.reads
    )


def writes_for_the_pass_alone(node: Node) -> bool:
    """Whether a step writes columns that do not persist, and nothing else."""
    return all(isinstance(item, Column) and not item.persists for item in node.writes)


def _union(parts: Iterable[frozenset[Touched]]) -> frozenset[Touched]:
    return frozenset[Touched]().union(*parts)


def changed_in_place(nodes: Iterable[Node]) -> frozenset[Touched]:
    """Persistent columns and structures whose existing cells steps may change without naming them."""
    return frozenset(
        item
        for node in nodes
        if not node.appends
        for item in node.writes
        if item.persists and not (node.phase is Phase.ENCODE and _named(item))
    )


def _named(item: Touched) -> bool:
    """Whether hooks of ENCODE name the cells of earlier rows or edges that they change."""
    return (
        isinstance(item, Column)
        and item.scope in (Scope.MEMORY, Scope.EDGE)
        and not item.upkeep.anywhere
    )


def answering(nodes: Iterable[Node]) -> list[Node]:
    """The steps of RETRIEVE that a question needs that neither learns nor asks for a context, in
    the same order.
    """
    return [n for n in nodes if (not n.learns or RECALLED in n.sets) and BUDGET not in n.sees]


def read_for_the_answer(nodes: Sequence[Node]) -> set[Touched]:
    """The arrays that are read by the step of RETRIEVE that answers, by the steps that write what
    it reads, and so on.
    """
    leading = {node for node in nodes if not node.learns}
    stages, read = Stages.of(nodes), set[Touched]((RECALLED,))
    while more := {node for node in leading if _writes_any(node, read)}:
        leading -= more
        for node in more:
            read |= read_after(node, stages) | read_before(node, stages)
    return read


def _writes_any(node: Node, read: set[Touched]) -> bool:
    return any(
        item in read or (isinstance(item, Signal) and SIGNALS in read) for item in node.writes
    )


def learning(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """The steps of RETRIEVE that are left if a question that did not learn is to learn: those that
    see RECALLED, or read an array that such a step writes for this query alone, in order; no step
    if another step writes what they write.

    The other steps change nothing that persists and draw no random numbers, see `Mechanism`.
    """
    stages, steps, written = Stages.of(nodes), list[Node](), set[Touched]((RECALLED,))
    for node in nodes:
        if RECALLED in node.sets or not read_after(node, stages).isdisjoint(written):
            steps.append(node)
            written.update(
                item for item in node.writes if not (isinstance(item, Column) and item.persists)
            )
    touched = {item for node in steps for item in node.writes}
    apart = all(touched.isdisjoint(node.writes) for node in nodes if node not in steps)
    return tuple(steps) if apart else ()


def learnt_from(nodes: Sequence[Node]) -> frozenset[Column] | None:
    """Columns of the query that the steps of RETRIEVE learn from, besides the answer; None if they
    learn from more than columns.
    """
    stages = Stages.of(nodes)
    steps = [node for node in learning(nodes) if RECALLED not in node.sets]
    read = _union(frozenset(read_after(n, stages) | read_before(n, stages)) for n in steps)
    filled = {item for node in steps for item in node.writes}
    passing = {item for item in read if not item.persists and item is not RECALLED}
    columns = frozenset(item for item in passing if isinstance(item, Column))
    return None if SIGNALS in read or passing - columns - filled else columns


def concurrent_followers(
    nodes: Sequence[Node], signals: Iterable[Signal] = ()
) -> list[tuple[int, ...]]:
    """For each step, by place, the places of the steps that wait for it when several steps run at
    the same time, without steps that wait for another step of these.  Raises ContractError.

    nodes  in the order in which they run one after another

    Steps wait as the schedule demands, and

    - the last step that adds to a column, which sums the contributions, waits for all others;
    - steps that add to one structure, that touch a structure of one question, or that use one
      private structure do so in turn;
    - the first step that reads the index, which scans for all others, runs before these.
    """
    place = {node: at for at, node in enumerate(nodes)}
    after = [
        {place[later] for later in waiting} for waiting in followers_of(nodes, signals).values()
    ]
    last: dict[tuple[Structure, str], int] = {}
    for at, node in enumerate(nodes):
        for used in _used_in_turn(node):
            if used in last:
                after[last[used]].add(at)
            last[used] = at
    for column in {item for node in nodes for item in node.adds if isinstance(item, Column)}:
        *earlier, summing = (at for at, node in enumerate(nodes) if column in node.adds)
        for at in earlier:
            after[at].add(summing)
    scanning = [at for at, node in enumerate(nodes) if INDEX in node.sees]
    for at in scanning[1:]:
        after[scanning[0]].add(at)
    return _direct(after)


@dataclass(frozen=True, slots=True)
class WrittenItem:
    """What a step has written, and where it can be read.

    phase  of what does not persist; None: it can be read in every phase
    owner  of a private structure; "": every mechanism can read it
    """

    what: Touched
    phase: Phase | None
    owner: str


Link = tuple[Node, WrittenItem]


class Paths:
    """Paths through the steps of all phases: each step reads what the step before has written.

    nodes   the steps, phase by phase
    stages  of each phase

    The engine consolidates at the times that SLEEP_ONSET and SLEEP_END hold, so every step of
    consolidation counts as a reader of both.  Declarations bound what a step can do: without a path
    nothing can move, with one it may.
    """

    def __init__(
        self,
        phases: Mapping[Phase, Sequence[Node]],
        signals: Collection[Signal] = (),
        *,
        through_structures: bool = False,
    ) -> None:
        """signals: that a reader of SIGNALS sees; through_structures: whether a step that changes a
        structure that persists counts as its reader.
        """
        self.nodes = tuple(node for nodes in phases.values() for node in nodes)
        self.stages = {phase: Stages.of(nodes) for phase, nodes in phases.items()}
        self._readers: dict[Touched, dict[Node, None]] = {}
        for node in self.nodes:
            stages = self.stages[node.phase]
            read = read_after(node, stages, signals)
            read |= {item for item in read_before(node, stages) if item.persists}
            if node.phase is Phase.CONSOLIDATE:
                read |= {SLEEP_ONSET, SLEEP_END}
            if through_structures:
                read |= {s for s in node.writes if isinstance(s, Structure) and s.persists}
            for item in read:
                self._readers.setdefault(item, {})[node] = None

    def readers(self, written: WrittenItem) -> Iterator[Node]:
        """The steps that can read it, in order."""
        for node in self._readers.get(written.what, ()):
            if written.owner in ("", node.owner) and written.phase in (None, node.phase):
                yield node

    def cheapest(
        self,
        owner: str,
        goes_on: Callable[[WrittenItem | None, Node, WrittenItem], bool],
        cost: Callable[[Sequence[Link]], tuple[int, ...]],
    ) -> Iterator[tuple[Link, ...]]:
        """For all that is reached from the steps of a mechanism the path of least cost, by falling
        preference; of equal paths the one that was met first.

        goes_on  whether a path goes on from what was written last, None at its start, to a step
                 that reads it and to something that this step writes
        cost     of a path, which grows with its length

        Cost: O(steps x columns).
        """
        order, reached = itertools.count(), set[WrittenItem]()
        waiting = list[tuple[tuple[int, ...], int, tuple[Link, ...]]]()

        def push(path: tuple[Link, ...], node: Node) -> None:
            last = path[-1][1] if path else None
            for written in _places_of(node):
                if written not in reached and goes_on(last, node, written):
                    longer = (*path, (node, written))
                    heapq.heappush(waiting, (cost(longer), next(order), longer))

        for node in self.nodes:
            if node.owner == owner:
                push((), node)
        while waiting:
            path = heapq.heappop(waiting)[-1]
            if path[-1][1] not in reached:
                reached.add(path[-1][1])
                yield path
                for node in self.readers(path[-1][1]):
                    push(path, node)


def _places_of(node: Node) -> Iterator[WrittenItem]:
    for item in node.writes:
        private = isinstance(item, Structure) and item.private
        yield WrittenItem(
            item, None if item.persists else node.phase, node.owner if private else ""
        )


def phases_touched(hooks: Iterable[Hook]) -> set[Phase]:
    """The phases in which hooks run, or steps that fill a structure that they touch."""
    declared = list(hooks)
    structures = {
        item for hook in declared for item in touched_by(hook) if isinstance(item, Structure)
    }
    filling = (node.phase for s in structures if s.steps for node in s.steps())
    return {*(hook.phase for hook in declared), *filling}


def _used_in_turn(node: Node) -> list[tuple[Structure, str]]:
    """Structures that one step at a time may use, with the owner of those that are private."""
    return [
        (item, node.owner if item.private else "")
        for item in dict.fromkeys((*node.writes, *node.sees))
        if isinstance(item, Structure) and (item.private or not item.persists or item in node.adds)
    ]


def _direct(after: Sequence[set[int]]) -> list[tuple[int, ...]]:
    """The followers without those that wait for another follower; all are at later places."""
    reached: list[set[int]] = [set() for _ in after]
    direct: list[tuple[int, ...]] = [()] * len(after)
    for at in range(len(after) - 1, -1, -1):
        beyond = set[int]().union(*(reached[later] for later in after[at]))
        direct[at] = tuple(sorted(after[at] - beyond))
        reached[at] = after[at] | beyond
    return direct
