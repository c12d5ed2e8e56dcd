"""Feedback fusion: the ranking of convex_fusion before any use, and what uses teach it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import FUSED
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval.feedback_fusion import ENOUGH, SLOPE_INFORMATION, SLOPE_LEARNT

REGISTRY = Registry.read()
PARTS = ("temporal_context", "dense_similarity", "lexical_bm25", "base_level_activation")
TEXTS = (
    "Ada moored a boat",
    "Bo moored a boat",
    "Cleo moored a boat",
    "Dan moored a boat",
    "It rained all day",
    "We ate soup",
)


def made(fusion: str = "feedback_fusion", path: Path | None = None) -> Engine:
    e = Engine([REGISTRY.instance(id) for id in (*PARTS, fusion)], HashingEmbedder(64), path=path)
    if not e.events:
        e.encode_all(Event(0.0, text, dated=False) for text in TEXTS)
    return e


def use(e: Engine, row: int, times: int = 1, outcome: float | None = None) -> None:
    for _ in range(times):
        e.advance(e.now + 3.0)
        e.use(e.retrieve("Who moored a boat?"), [row], outcome)


def test_before_any_use_the_ranking_is_that_of_convex_fusion() -> None:
    one, other = made(), made("convex_fusion")
    for text in ("Who moored a boat?", "soup", "Dan", ""):
        assert one.retrieve(text, k=6).rows.tolist() == other.retrieve(text, k=6).rows.tolist()


def test_uses_teach_that_history_tells_what_is_needed() -> None:
    e = made()
    first = e.retrieve("Who moored a boat?").rows[0]
    needed = next(row for row in (2, 1) if row != first)
    use(e, needed, 12)
    e.advance(e.now + 3.0)
    assert e.column(SLOPE_LEARNT)[0] > 0.1
    assert e.retrieve("Who moored a boat?").rows[0] == needed
    assert e.retrieve("Dan moored a boat").rows[0] == 3, (
        "a cue that fits one memory far better decides"
    )


def test_uses_teach_what_evidence_is_enough() -> None:
    """Four memories fit the question, some better than others, and are needed in turn: what they
    differ in counts less, what they share more.
    """
    fitting = (
        "Ada moored a boat",
        "Bo then moored a small boat",
        "Cleo moored a boat at the old quay",
        "Dan at last moored a boat",
    )
    others = tuple(
        f"It {verb} {when}"
        for verb in ("rained", "snowed", "thawed", "froze")
        for when in ("all day", "at noon", "on Monday", "again")
    )
    e = Engine(
        [REGISTRY.instance(id) for id in (*PARTS[1:], "feedback_fusion")], HashingEmbedder(64)
    )
    e.encode_all(Event(0.0, text, dated=False) for text in fitting + others)

    def odds() -> tuple[float, float]:
        """By how much the best of the four is above the worst, and this above the best of the
        others.
        """
        e.retrieve("Who moored a boat?")
        enough = REGISTRY.instance("feedback_fusion").params.enough + e.column(SLOPE_LEARNT)[ENOUGH]
        found = -np.logaddexp(0.0, enough - e.column(FUSED))
        return float(np.ptp(found[:4])), float(found[:4].min() - found[4:].max())

    apart, above = odds()
    for turn in range(40):
        use(e, (0, 3, 1, 2)[turn % 4])
    assert odds()[0] < apart and odds()[1] > above


def test_a_bad_outcome_a_whole_answer_and_nothing_needed_teach_nothing() -> None:
    e = made()
    use(e, 2, outcome=-1.0)
    e.retrieve("Who moored a boat?", k=3, learn=True)
    e.use(e.retrieve("Who moored a boat?"), [])
    assert not e.column(SLOPE_LEARNT).any() and not e.column(SLOPE_INFORMATION).any()


def test_what_was_learnt_is_part_of_a_snapshot(tmp_path: Path) -> None:
    whole = made()
    use(whole, 2, 5)
    with made(path=tmp_path / "m.hebb") as first:
        use(first, 2, 2)
    with made(path=tmp_path / "m.hebb") as second:
        use(second, 2, 3)
        np.testing.assert_array_equal(second.column(SLOPE_LEARNT), whole.column(SLOPE_LEARNT))
