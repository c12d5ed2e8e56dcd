"""Several threads for one question: in whatever order the steps run, the outcome is that of the
schedule, bit for bit.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from functools import partial
from itertools import combinations
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from tiers import EVERYDAY_SETS, slow_unless

from hebbarium.engine.base.errors import ContractError, InputError
from hebbarium.engine.base.sharing import HELPED, in_parts
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Column, Phase, Scope, Structure
from hebbarium.engine.contract.records import Event, Only, Query
from hebbarium.engine.contract.vocabulary import INDEX, MATCH, SIGNALS, VISIBLE
from hebbarium.engine.flow.schedule import Node, Stages
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.scale import approximate
from hebbarium.engine.scale.crew import CrewWork, Order
from hebbarium.engine.state import ranking, vectors
from hebbarium.mechanisms.shared import topology_bank
from hebbarium.testing.conformance import simulated, talk
from hebbarium.testing.small import by_number, does, mechanism
from hebbarium.testing.small import memory as small

REGISTRY = Registry.read()
TEXTS = (
    "Who painted Oslo with Bo?",
    "In which order did Ada visit Lisbon and Oslo?",
    "What did Ada say the day before she left Lisbon?",
    "",
)
QUESTIONS = (*map(Query, TEXTS), Query("Where was Bo?", only=Only(speakers=("Ada",))))


def lived(name: str, threads: int) -> Engine:
    """A memory of a set, whose questions several threads answer although it is small."""
    made = Engine(REGISTRY.build(REGISTRY.set(name)), HashingEmbedder(32), threads=threads)
    made.assembly.helped_from = 1
    return simulated(made, talk(), learn=False)


def outcome(memory: Engine) -> dict[str, bytes]:
    """All columns of the question and its candidates."""
    return {
        c.name: memory.store.array(c).tobytes()
        for c in memory.store.columns
        if c.scope in (Scope.EVENT, Scope.CANDIDATE)
    }


def found(memory: Engine) -> list[Any]:
    """What each question finds, and what it leaves in the columns."""
    each = []
    for question in QUESTIONS:
        answer = memory.retrieve(question)
        each.append(
            (
                answer.rows.tobytes(),
                answer.final.tobytes(),
                answer.units,
                answer.sufficiency,
                outcome(memory),
            )
        )
    return each


@pytest.mark.parametrize("name", slow_unless(EVERYDAY_SETS, REGISTRY.sets))
def test_the_outcome_of_several_threads_is_that_of_one(name: str) -> None:
    alone, together = lived(name, 1), lived(name, 3)
    before, threads = together.digest(), threading.active_count()
    for _ in range(3):
        for one, other in zip(found(alone), found(together), strict=True):
            assert one == other
    assert together.digest() == before == alone.digest() and threading.active_count() == threads
    answers = [memory.retrieve(QUESTIONS[0], learn=True) for memory in (alone, together)]
    for memory, answer in zip((alone, together), answers, strict=True):
        memory.use(memory.retrieve(QUESTIONS[1]), answer.rows[:1].tolist())
    assert alone.digest() == together.digest()


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_unless(EVERYDAY_SETS, REGISTRY.sets))
def test_any_order_that_the_waits_allow_has_the_same_outcome(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps one after another in random orders, which shows more of them than threads do."""
    draw, taken = random.Random(1), list[tuple[int, ...]]()

    def run(self: CrewWork, order: Order, do: Callable[[int], None]) -> None:
        waits = list(order.waits)
        ready, places = [at for at, each in enumerate(waits) if not each], list[int]()
        while ready:
            at = ready.pop(draw.randrange(len(ready)))
            do(at)
            places.append(at)
            for later in order.followers[at]:
                waits[later] -= 1
                if not waits[later]:
                    ready.append(later)
        taken.append(tuple(places))

    alone, shuffled = lived(name, 1), lived(name, 2)
    expected = found(alone)
    monkeypatch.setattr(CrewWork, "run", run)
    for _ in range(6):
        assert found(shuffled) == expected
    assert len(taken) == 6 * len(QUESTIONS) and all(
        sorted(each) == list(range(len(taken[0]))) for each in taken
    )
    assert len(set(taken)) > 1


def reached(followers: Any) -> list[set[int]]:
    """All steps that wait for each, directly or not."""
    found: list[set[int]] = [set() for _ in followers]
    for at in range(len(followers) - 1, -1, -1):
        for later in followers[at]:
            assert later > at
            found[at] |= {later} | found[later]
    return found


@pytest.mark.parametrize("name", slow_unless(EVERYDAY_SETS, REGISTRY.sets))
def test_steps_that_share_what_one_of_them_writes_wait(name: str) -> None:
    """By the declarations of each pair, apart from the schedule; two that add to a column both
    precede its last contributor, which adds it up.
    """
    memory = lived(name, 2)
    nodes = memory.assembly.phases[Phase.RETRIEVE]
    signals = [s for s, _ in memory.assembly.signals]
    after = reached(Order(nodes, signals).followers)
    stages = Stages(c for n in nodes for c in (*n.sets, *n.adds))

    def reads(node: Node) -> set[Any]:
        seen = {stages.source(getattr(r, "of", r)) for r in node.reads} | {
            c for c in map(stages.before, (*node.sets, *node.adds)) if c
        }
        return seen | (set(signals) if SIGNALS in seen else set())

    for (i, one), (j, two) in combinations(enumerate(nodes), 2):
        sets, adds = ({*one.sets}, {*two.sets}), ({*one.adds}, {*two.adds})
        both = (
            (sets[0] & (sets[1] | adds[1] | reads(two)))
            | (sets[1] & (adds[0] | reads(one)))
            | (adds[0] & reads(two))
            | (adds[1] & reads(one))
        )
        both |= {s for s in adds[0] & adds[1] if isinstance(s, Structure)}
        touched = ({*sets[0], *adds[0], *one.sees}, {*sets[1], *adds[1], *two.sees})
        both |= {s for s in touched[0] & touched[1] if isinstance(s, Structure) and not s.persists}
        if {
            s
            for s in both
            if not (isinstance(s, Structure) and s.private and one.owner != two.owner)
        }:
            assert j in after[i], (one.label, two.label, both)
    for item in {c for n in nodes for c in n.adds if isinstance(c, Column)}:
        adders = [at for at, n in enumerate(nodes) if item in n.adds]
        assert all(adders[-1] in after[at] for at in adders[:-1])


def asked(*hooks: Any, threads: int = 2, **more: Any) -> Engine:
    memory = small(*hooks, by_number(), threads=threads, **more)
    memory.assembly.helped_from = 1
    memory.encode(Event(0.0, "1"))
    return memory


def test_steps_run_at_the_same_time() -> None:
    """Two steps that share nothing, each of which waits for the other."""
    gate, names = Barrier(2, timeout=30.0), set[str]()

    def meet(view: Any, cue: Any) -> None:
        gate.wait()
        names.add(threading.current_thread().name)

    memory = asked(
        mechanism("a", does(Phase.RETRIEVE, meet, reads=[VISIBLE])),
        mechanism("b", does(Phase.RETRIEVE, meet, reads=[VISIBLE])),
    )
    assert len(memory.retrieve("1")) == 1
    assert len(names) == 2 and "helper 1" in names


@pytest.mark.parametrize("threads", [2, 4])
def test_a_failure_is_raised_once_no_step_runs(threads: int) -> None:
    """Of two the one whose step is first in the schedule; the memory answers afterwards."""
    gate, fails = Barrier(2, timeout=30.0), [True]

    def failing(error: BaseException) -> Callable[[Any, Any], None]:
        def fail(view: Any, cue: Any) -> None:
            if fails[0]:
                gate.wait()
                raise error

        return fail

    memory = asked(
        mechanism("a", does(Phase.RETRIEVE, failing(ValueError("first")), reads=[VISIBLE])),
        mechanism("b", does(Phase.RETRIEVE, failing(KeyError("second")), reads=[VISIBLE])),
        threads=threads,
    )
    before = threading.active_count()
    for _ in range(5):
        with pytest.raises(ValueError, match="first"):
            memory.retrieve("1")
        assert threading.active_count() == before
    fails[0] = False
    assert len(memory.retrieve("1")) == 1


def test_an_interruption_ends_the_question() -> None:
    def interrupt(view: Any, cue: Any) -> None:
        raise KeyboardInterrupt

    memory = asked(mechanism("a", does(Phase.RETRIEVE, interrupt, reads=[VISIBLE])))
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        memory.retrieve("1")
    assert threading.active_count() == before


def test_without_a_further_thread_one_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = asked(threads=3)
    expected = memory.retrieve("1").final.tobytes()

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert memory.retrieve("1").final.tobytes() == expected


def test_parts_are_done_by_all_and_a_failure_of_one_ends_them() -> None:
    gate, names, seen = Barrier(2, timeout=30.0), set[str](), list[list[int]]()

    def share(view: Any, cue: Any) -> None:
        def part(at: int) -> None:
            if at < 2:
                gate.wait()
                names.add(threading.current_thread().name)
            done.append(at)

        done = list[int]()
        in_parts(9, part)
        seen.append(sorted(done))
        with pytest.raises(ZeroDivisionError):
            in_parts(1000, lambda at: done.append(1 // (at - 3)))
        assert len(done) < 500
        in_parts(0, done.append)

    memory = asked(mechanism("a", does(Phase.RETRIEVE, share, reads=[VISIBLE])))
    memory.retrieve("1")
    assert seen == [list(range(9))] and len(names) == 2
    assert HELPED.get()(2, lambda at: None) is None and not [
        t for t in threading.enumerate() if t.name.startswith("helper")
    ]


@pytest.mark.parametrize("threads", [2, 4])
def test_parts_that_fail_while_helpers_wait(threads: int) -> None:
    """No part is done twice, or after the end, however the failure falls."""
    done = list[int]()

    def share(view: Any, cue: Any) -> None:
        for _ in range(200):
            done.clear()
            with pytest.raises(ZeroDivisionError):
                in_parts(3, lambda at: done.append(at) or 1 // at)
            assert len(set(done)) == len(done) and min(done) == 0

    assert (
        len(
            asked(
                mechanism("a", does(Phase.RETRIEVE, share, reads=[VISIBLE])), threads=threads
            ).retrieve("1")
        )
        == 1
    )


def test_steps_that_scan_for_more_vectors_than_are_kept() -> None:
    """What one step is given does not change while another scans."""
    vectors = np.random.default_rng(0).standard_normal((36, 16)).astype(np.float32)
    seen: dict[str, list[bytes]] = {}

    def search(view: Any, cue: Any, id: str, mine: Any) -> None:
        seen[id] = []
        for vector in mine:
            rows, products = view.index.search(vector, 5)
            scores = view.index.scores(vector, np.empty(len(view.index.vectors), np.float32))
            seen[id] += [rows.tobytes(), products.tobytes(), scores.tobytes()]

    hooks = [
        mechanism(
            id,
            does(
                Phase.RETRIEVE, partial(search, id=id, mine=vectors[at::3]), reads=[VISIBLE, INDEX]
            ),
        )
        for at, id in enumerate("abc")
    ]
    found = []
    for threads in (1, 3, 3, 3):
        memory = asked(*hooks, threads=threads)
        memory.encode_all([Event(1.0, f"{number}") for number in range(400)])
        for _ in range(8):
            memory.retrieve("1")
            found.append(dict(sorted(seen.items())))
    assert all(each == found[0] for each in found)


@pytest.mark.slow
def test_an_approximate_search_does_not_depend_on_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same question: one that looks at more rows does not serve one that looks at few."""
    for name, least in (("LEAST", 64), ("LOOK", 32), ("LOT", 64)):
        monkeypatch.setattr(approximate, name, least)
    seen: dict[int, bytes] = {}

    def search(view: Any, cue: Any, k: int) -> None:
        seen[k] = view.index.search(cue.vector, k)[0].tobytes()

    found = []
    for order in ((900, 40, 5), (40, 900, 5), (5, 40, 900)):
        memory = asked(
            *(
                mechanism(
                    f"m{k}",
                    does(Phase.RETRIEVE, partial(search, k=k), reads=[VISIBLE, INDEX]),
                    order=at,
                )
                for at, k in enumerate(order)
            ),
            threads=1,
            index="ivf",
        )
        memory.encode_all([Event(1.0, f"{number}") for number in range(2000)])
        memory.retrieve("1")
        found.append(dict(sorted(seen.items())))
    assert found[0] == found[1] == found[2]


def test_helpers_are_used_while_one_question_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, times, run = lived("hybrid", 2), list[int](), CrewWork.run
    monkeypatch.setattr(CrewWork, "run", lambda self, *given: times.append(1) or run(self, *given))
    memory.assembly.beside_from = 1
    memory.retrieve(QUESTIONS[0])
    assert times == [1]
    with memory.assembly.places.taken():
        memory.retrieve(QUESTIONS[0])
    memory.retrieve(QUESTIONS[0], learn=True)
    memory.assembly.helped_from = memory.store.n + 1
    memory.retrieve(QUESTIONS[0])
    assert times == [1]


@pytest.mark.parametrize("call", ["encode", "retrieve"])
def test_a_hook_in_a_helper_cannot_call_the_memory(call: str) -> None:
    """It would wait for the question that waits for it."""
    gate, held = Barrier(2, timeout=30.0), list[Engine]()

    def meddle(view: Any, cue: Any) -> None:
        gate.wait()
        if threading.current_thread().name.startswith("helper"):
            _ = held[0].retrieve("again") if call == "retrieve" else held[0].encode(Event(1.0, "2"))

    held.append(
        asked(*(mechanism(id, does(Phase.RETRIEVE, meddle, reads=[VISIBLE])) for id in "ab"))
    )
    with pytest.raises(ContractError, match="in the middle of a call"):
        held[0].retrieve("1")
    assert held[0].store.n == 1 and held[0].encode(Event(1.0, "2")) == 1


@pytest.mark.parametrize("threads", [0, -1, True, 1.5, "2"])
def test_a_number_of_threads_is_a_count(threads: Any) -> None:
    with pytest.raises(InputError, match="threads"):
        Engine(REGISTRY.build(REGISTRY.set("hybrid")), HashingEmbedder(16), threads=threads)


def test_a_worker_of_an_experiment_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the libraries have: OMP_NUM_THREADS."""
    for stated, threads in (("1", 1), ("3", 3), ("64", 4)):
        monkeypatch.setenv("OMP_NUM_THREADS", stated)
        assert small(by_number()).assembly.crew.threads == threads
    assert small(by_number(), threads=2).assembly.crew.threads == 2


@pytest.mark.parametrize("name", slow_unless(("all_mem",), ["everything", "all_mem"]))
def test_more_than_a_part_of_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scans, sums and resets that are shared out have the bits of one thread, when events are
    encoded, too.
    """
    alone = lived(name, 1)
    expected = found(alone)
    for module, rows in ((ranking, 7), (vectors, 5), (topology_bank, 3)):
        monkeypatch.setattr(module, "PART", rows)
    together = lived(name, 3)
    assert found(together) == expected == found(alone) and together.digest() == alone.digest()
    assert np.isfinite(together.column(MATCH.name)).all()
