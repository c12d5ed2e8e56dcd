"""Life and instruments, against small memories whose answers are known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from hebbarium.benchmarks.probes.harness.instruments import Instrument, lesion
from hebbarium.benchmarks.probes.harness.life import DAY, START, Life, Need, Settings
from hebbarium.benchmarks.systems.base import Capability, Retrieved, RetrievedEvent, System
from hebbarium.benchmarks.systems.hebbarium import Hebbarium
from hebbarium.engine.contract.columns import Phase, Scope
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.contract.vocabulary import (
    ACTIVATION,
    HIPPOCAMPAL_DEPENDENCE,
    LOG_STRENGTH,
    ROW,
    SLEEP_END,
    SLEEP_ONSET,
)
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.testing.small import by_number, column, does, mechanism

EMBEDDER = HashingEmbedder(32)


class Scripted:
    """Answers with all events by their scores; `learn` and times are noted."""

    capabilities: frozenset[Capability] = frozenset({Capability.LEARNS})

    def __init__(self, scores: dict[str, float]) -> None:
        self.scores, self.events, self.times, self.learnt = scores, list[Event](), list[float](), 0

    def encode(self, events: Sequence[Event]) -> None:
        self.events += events

    def advance(self, time: float) -> None:
        self.times.append(time)

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
        self.learnt += learn
        found = sorted(self.events, key=lambda e: -self.scores[e.text])[:k]
        return Retrieved(tuple(RetrievedEvent(e.id, self.scores[e.text], e.text) for e in found))

    def close(self) -> None: ...


def scripted(**scores: float) -> tuple[Life, Scripted]:
    system = Scripted(scores)
    return Life(lambda *_: system, EMBEDDER), system


def ours(*mechanisms: Instrument) -> Life:
    def make(instruments: Sequence[Instrument], settings: Settings) -> System:
        return Hebbarium([*mechanisms, *instruments], EMBEDDER, 0)

    return Life(make, EMBEDDER)


def test_the_margin_is_the_distance_from_the_others_in_their_standard_deviations() -> None:
    life, _ = scripted(a=5.0, b=1.0, c=2.0, d=3.0)
    ids = life.tell_all(["a", "b", "c", "d"])
    assert life.margin("?", ids[0]) == pytest.approx((5.0 - 2.0) / math.sqrt(2 / 3))
    assert life.margin("?", {ids[0], ids[1]}) == pytest.approx((5.0 - 2.5) / 0.5) and math.isnan(
        life.margin("?", "unknown")
    )
    assert (
        life.rank("?", ids[3]) == 2
        and life.rank("?", "unknown") == math.inf
        and life.hit("?", {ids[1], ids[2]}, 3)
    )


def test_the_next_recall_is_chosen_by_luce_s_rule_among_those_that_are_left() -> None:
    """Scores 3, 2, 1 are sqrt(3/2) standard deviations apart, so their odds are 1 : q : q^2."""
    life, system = scripted(a=3.0, b=2.0, c=1.0)
    ids = life.tell_all(["a", "b", "c"])
    q = math.exp(-math.sqrt(1.5))
    whole = 1.0 + q + q * q
    assert life.next_recalls("?", ids) == pytest.approx([1.0 / whole, q / whole, q * q / whole])
    assert life.next_recalls("?", ids[:0:-1]) == pytest.approx([q / (1.0 + q), 1.0 / (1.0 + q)])
    # an event that is not in the answer is as strong as the weakest of it
    assert life.next_recalls("?", [ids[0], "refused"]) == pytest.approx(
        [1.0 / (1.0 + q * q), q * q / (1.0 + q * q)]
    )
    empty, _ = scripted()
    assert empty.next_recalls("?", ["refused", "lost"]).tolist() == [0.5, 0.5]
    assert empty.next_recalls("?", []).tolist() == []
    assert system.learnt == 0
    life.ask("?", learn=True)
    assert system.learnt == 1


def test_time_passes_only_forward_and_questions_finish_the_tick() -> None:
    life, system = scripted(a=1.0, b=1.0)
    life.tell("a")
    life.wait(2.0)
    life.tell("b", at=life.now + 0.5)
    # told together, when the memory is asked
    assert system.times == [] and system.events == []
    life.wait(1.0)
    life.ask("?")
    assert (
        life.now == START + 3.5
        and system.times == [START + 3.5]
        and [e.time for e in system.events] == [START, START + 2.5]
    )
    life.sleep()
    assert life.now % DAY == pytest.approx(7.05)  # no engine: the next 7 am


def test_a_system_without_an_engine_lacks_what_it_does_not_declare() -> None:
    life, _ = scripted()
    assert life.lacks({Need.LEARNING, Need.SLEEP, Need.COLUMNS}) == [Need.SLEEP, Need.COLUMNS]
    assert math.isnan(life.column(LOG_STRENGTH).item()) and ours().lacks(set(Need)) == []


def test_only_columns_of_the_engine_are_read() -> None:
    with pytest.raises(ValueError, match="column of a mechanism"):
        ours(by_number()).column(column("mine", Scope.MEMORY))


def test_strength_is_the_sum_of_both_logs_and_nan_for_what_is_not_stored() -> None:
    strong = mechanism(
        "strong",
        does(Phase.MAINTAIN, lambda view, tick: view.activation.__iadd__(2.0), adds=[ACTIVATION]),
        does(
            Phase.MAINTAIN, lambda view, tick: view.log_strength.__iadd__(-0.5), adds=[LOG_STRENGTH]
        ),
    )
    life = ours(strong)
    id = life.tell("a")
    life.wait(1.0)
    found = life.strength([id, "unknown"])
    assert found[0] == pytest.approx(life.of(ACTIVATION, [id])[0] - 0.5) and math.isnan(found[1])


def test_a_lesion_leaves_the_share_that_does_not_depend_on_the_hippocampus() -> None:
    def depend(view: object, incoming: object) -> None:
        view.hippocampal_dependence[view.row] = 0.25 * view.row  # type: ignore[attr-defined]

    dependence = mechanism(
        "dependence", does(Phase.ENCODE, depend, reads=[ROW], sets=[HIPPOCAMPAL_DEPENDENCE])
    )
    life = ours(dependence).fresh(lesion(START + 5.0))
    ids = life.tell_all(["a", "b", "c", "d", "e"])
    life.wait(4.0)
    assert life.strength(ids).tolist() == [0.0] * 5
    life.wait(2.0)
    assert np.exp(life.strength(ids)).tolist() == pytest.approx([1.0, 0.75, 0.5, 0.25, 1e-6])


def test_sleep_ends_at_the_end_of_the_next_sleep() -> None:
    def plan(view: object, tick: object) -> None:
        view.sleep_onset, view.sleep_end = START + 12.0, START + 20.0  # type: ignore[attr-defined]

    def again(view: object, tick: object) -> None:
        view.sleep_onset, view.sleep_end = START + 36.0, START + 44.0  # type: ignore[attr-defined]

    scheduled = mechanism(
        "scheduled",
        does(Phase.ENCODE, plan, sets=[SLEEP_ONSET, SLEEP_END]),
        does(Phase.CONSOLIDATE, again, sets=[SLEEP_ONSET, SLEEP_END]),
    )
    life, plain = ours(scheduled), ours()
    life.tell("a")
    life.sleep()
    assert life.now == pytest.approx(START + 20.05)
    plain.tell("a")
    plain.sleep()  # without a schedule every 24 h
    assert plain.now == pytest.approx(START + 24.05)


def test_the_digest_of_the_stimuli_covers_all_lives() -> None:
    def digest(*texts: str) -> str:
        life = ours()
        for text in texts:
            life.fresh().tell(text)
        return life.stimuli

    assert digest("a", "b") == digest("a", "b") != digest("a", "c") and digest("a") != digest(
        "a", "b"
    )
