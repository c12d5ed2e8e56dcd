"""Explanations: the numbers are those of a ranking computed by hand, and the state stays as it
is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.base.errors import HebbariumError, InputError
from hebbarium.engine.contract.columns import Facet, Phase, signal
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.contract.vocabulary import (
    FACET_WEIGHTS,
    FUSED,
    LOG_FACETS,
    MATCH,
    RERANKED,
    REWEIGHTED,
    SIGNALS,
)
from hebbarium.engine.flow.observer import Observer
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.memory.explain import Explanation
from hebbarium.testing.conformance import talk
from hebbarium.testing.small import by_number, does, mechanism, memory, numbered, score

NUMBERS = (2.0, 7.0, 1.0, 4.0)
HYBRID = ("dense_similarity", "lexical_bm25", "recency", "heat")


def scores(id: str, values: list[float], **more: Any) -> Any:
    """A signal with given values."""
    mine = score(id, **more)
    return mechanism(
        id,
        does(
            Phase.RETRIEVE,
            lambda v, _: np.copyto(getattr(v, id), values[: len(getattr(v, id))]),
            sets=[mine],
        ),
        owns=[mine],
    )


def filled(*mechanisms: Any, numbers: tuple[float, ...] = NUMBERS, **options: Any) -> Engine:
    e = memory(*mechanisms, **options)
    e.encode_all(numbered(*numbers))
    return e


def standard(values: Any) -> Any:
    array = np.asarray(values, dtype=np.float64)
    return (array - array.mean()) / array.std()


def test_one_signal_is_all_of_the_match() -> None:
    e = filled(by_number())
    for row, z in enumerate(standard(NUMBERS)):
        found = e.explain("number", row)
        (part,) = found.signals
        assert (found.row, found.text, found.linear) == (row, f"number {NUMBERS[row]}", True)
        assert (part.signal, part.facet, part.raw, part.trust) == (
            "number",
            Facet.WORDS,
            NUMBERS[row],
            1.0,
        )
        assert (
            part.standardised == pytest.approx(z, rel=1e-6)
            and part.contribution == part.standardised
        )
        assert [(s.stage, s.rank) for s in found.stages] == [
            ("match", sorted(NUMBERS, reverse=True).index(NUMBERS[row]) + 1)
        ]


def test_nan_counts_as_the_floor_and_is_shown_as_nan() -> None:
    e = filled(scores("some", [3.0, math.nan, 1.0, math.nan], floor=2.0))
    raw, z = zip(
        *((p.raw, p.standardised) for x in e.explain("x", range(4)) for p in x.signals), strict=True
    )
    np.testing.assert_array_equal(raw, [3.0, math.nan, 1.0, math.nan])
    np.testing.assert_allclose(z, standard([3.0, 2.0, 1.0, 2.0]), rtol=1e-6)


def test_facet_weights_of_the_query_are_part_of_the_explanation() -> None:
    words, times = (
        scores("words_signal", [1.0, 2.0, 3.0, 9.0]),
        signal("times_signal", Facet.TIME, "for the test"),
    )
    later = mechanism(
        "later",
        does(
            Phase.RETRIEVE,
            lambda v, _: np.copyto(v.times_signal, [4.0, 3.0, 1.0, 2.0]),
            sets=[times],
        ),
        owns=[times],
    )
    triple = mechanism(
        "triple",
        does(
            Phase.RETRIEVE,
            lambda v, _: v.log_facets.__setitem__(Facet.WORDS.value, math.log(3.0)),
            adds=[LOG_FACETS],
        ),
    )
    e = filled(words, later, triple)
    assert {p.signal: p.trust for p in e.explain("x", 0).signals} == pytest.approx(
        {"words_signal": 3.0, "times_signal": 1.0}
    )
    one, other = standard([1.0, 2.0, 3.0, 9.0]), standard([4.0, 3.0, 1.0, 2.0])
    for row, found in enumerate(e.explain("x", [0, 1, 2, 3])):
        assert {p.signal: p.contribution for p in found.signals} == pytest.approx(
            {"words_signal": 0.75 * one[row], "times_signal": other[row] / 4}
        )
        assert found.stages[0].score == pytest.approx(0.75 * one[row] + other[row] / 4, rel=1e-5)


def stage(name: Any, change: Callable[[Any], Any], start: Any) -> Any:
    return mechanism(
        name.name,
        does(
            Phase.RETRIEVE,
            lambda v, _: np.copyto(getattr(v, name.name), change(getattr(v, start.name))),
            reads=[start],
            sets=[name],
        ),
    )


def test_the_rank_after_each_stage_that_is_set_and_of_no_other() -> None:
    """2 7 1 4 ranks as 3 1 4 2; turned round in one stage, and by row in a later one."""
    turned = stage(REWEIGHTED, np.negative, MATCH)
    by_row = stage(RERANKED, lambda s: -np.arange(len(s)), REWEIGHTED)
    e = filled(by_number(), turned, by_row)
    found = [
        [(s.stage, s.rank) for s in x.stages]
        for x in e.explain("number", e.retrieve("number").rows)
    ]
    assert found == [
        [("match", m), ("reweighted", r), ("reranked", place)]
        for place, (m, r) in enumerate([(3, 2), (1, 4), (4, 1), (2, 3)], 1)
    ]
    assert [s.stage for s in filled(by_number()).explain("number", 0).stages] == ["match"]


def fusion(change: Callable[[Any], Any]) -> Any:
    """The mean of the standardised signals, all of trust 1, with something done to it."""

    def fuse(view: Any, _: Any) -> None:
        view.fused[...] = change(np.mean([standard(s) for _, s, _ in view.signals], axis=0))

    return mechanism(
        "fusion", does(Phase.RETRIEVE, fuse, reads=[SIGNALS, FACET_WEIGHTS], sets=[FUSED])
    )


def test_indirect_signals_count_in_a_fusion_only() -> None:
    indirect = scores("indirect", [0.0, 0.0, 0.0, 8.0], direct=False)
    alone, fused = (
        filled(by_number(), indirect).explain("number", 3),
        filled(by_number(), indirect, fusion(lambda f: f)).explain("number", 3),
    )
    assert alone.linear and [p.contribution for p in alone.signals] == [
        0.0,
        pytest.approx(standard(NUMBERS)[3]),
    ]
    assert fused.linear and [p.contribution for p in fused.signals] == [
        pytest.approx(math.sqrt(3.0) / 2),
        pytest.approx(standard(NUMBERS)[3] / 2),
    ]
    assert (
        sum(p.contribution for p in fused.signals) == pytest.approx(fused.stages[1].score)
        and fused.stages[1].stage == "fused"
    )


@pytest.mark.parametrize(
    "change",
    [
        np.square,
        lambda f: f + 0.01,
        lambda f: np.argsort(np.argsort(f)),
        lambda f: -f,
        lambda f: f * np.nan,
    ],
)
def test_a_fusion_that_is_not_linear_has_no_contributions(change: Any) -> None:
    found = filled(by_number(), fusion(change)).explain("number", 1)
    assert (
        not found.linear
        and all(math.isnan(p.contribution) for p in found.signals)
        and "not linear" in str(found)
    )
    assert found.signals[0].standardised == pytest.approx(standard(NUMBERS)[1], rel=1e-6)


def test_contributions_are_on_the_scale_of_the_fusion() -> None:
    found = filled(by_number(), fusion(lambda f: 4.0 * f)).explain("number", 1)
    assert found.linear
    assert [p.contribution for p in found.signals] == [pytest.approx(4.0 * standard(NUMBERS)[1])]


@pytest.mark.parametrize(
    ("method", "params", "linear"),
    [
        ("convex_fusion", {"normalisation": "standard"}, True),
        ("feedback_fusion", {}, True),
        ("convex_fusion", {"normalisation": "minmax"}, False),
        ("weighted_rrf", {}, False),
    ],
)
def test_registered_fusions(
    build: Callable[..., Engine], method: str, params: dict[str, Any], linear: bool
) -> None:
    e = build(*HYBRID, method, params={method: params})
    e.encode_all(talk(40))
    answer = e.retrieve("Who painted the mill in Lisbon?")
    found = e.explain("Who painted the mill in Lisbon?", answer.rows)
    assert [x.linear for x in found] == [linear] * 10 and [
        x.stages[-1].rank for x in found
    ] == list(range(1, 11))
    assert [x.text for x in found] == [hit.text for hit in answer]
    np.testing.assert_allclose([x.stages[-1].score for x in found], answer.scores, rtol=1e-6)
    if linear:
        np.testing.assert_allclose(
            [sum(p.contribution for p in x.signals) for x in found],
            answer.scores,
            rtol=1e-4,
            atol=1e-5,
        )


def test_archived_memories_are_scored_on_the_scale_of_the_visible_ones() -> None:
    e = filled(by_number())
    e.archive(1)
    gone, *rest = e.explain("number", [1, 0, 2, 3])
    visible = np.array([2.0, 1.0, 4.0])
    assert gone.linear and gone.stages[0].rank == 0
    assert gone.signals[0].standardised == pytest.approx(
        (gone.signals[0].raw - visible.mean()) / visible.std()
    )
    np.testing.assert_allclose(
        [x.signals[0].standardised for x in rest], standard([2.0, 1.0, 4.0]), rtol=1e-6
    )


def test_explain_leaves_the_state_unchanged(build: Callable[..., Engine]) -> None:
    watch = Observer()
    e = build(*HYBRID, "temporal_context", "spreading_activation", "convex_fusion", observer=watch)
    e.encode_all(talk(30))
    rows = e.retrieve("Lisbon", k=3).rows
    before, calls = e.digest(), {id: r.calls for id, r in watch.receipts.items()}
    columns = {c: np.array(e.column(c)) for c in e.store.columns}
    one = e.explain(Query("Who met Cleo?"), 4)
    assert e.digest() == before and {id: r.calls for id, r in watch.receipts.items()} == calls
    for c, values in columns.items():
        np.testing.assert_array_equal(e.column(c), values, err_msg=c.name)
    again = e.explain("Who met Cleo?", [int(rows[0]), 4, 4])
    assert str(again[1]) == str(again[2]) == str(one), "several rows are explained as each alone"
    e.encode(Event(e.now + 1.0, "life goes on"))


def test_rows_out_of_range_are_refused() -> None:
    e = filled(by_number())
    row: Any
    for row in (-1, 4, 1.0, None, True, "0"):
        with pytest.raises(InputError, match="the row is") as caught:
            e.explain("number", row)
        assert "0 to 3" in caught.value.cure
    with pytest.raises(InputError, match="the row is 4"):
        e.explain("number", [0, 4])
    with pytest.raises(InputError, match="after the memory's present"):
        e.explain(Query("number", 1e5), 0)
    assert e.explain("number", []) == ()
    with pytest.raises(InputError, match="the row is 0") as caught:
        memory(by_number()).explain("number", 0)
    assert "no rows yet" in caught.value.cure


def test_a_memory_that_failed_explains_nothing() -> None:
    def fail(view: Any, _: Any) -> None:
        raise RuntimeError("half-way")

    e = memory(mechanism("m", does(Phase.MAINTAIN, fail)))
    e.encode(Event(0.0, "x"))
    with pytest.raises(RuntimeError):
        e.advance(5.0)
    with pytest.raises(HebbariumError, match="broke off"):
        e.explain("x", 0)


@given(
    st.lists(st.lists(st.floats(-1e3, 1e3), min_size=5, max_size=5), min_size=1, max_size=4),
    st.integers(0, 4),
)
def test_contributions_always_sum_to_the_fused_score(values: list[list[float]], row: int) -> None:
    e = filled(*(scores(f"s{i}", each) for i, each in enumerate(values)), numbers=(1, 2, 3, 4, 5))
    found = e.explain("x", row)
    assert found.linear and sum(p.contribution for p in found.signals) == pytest.approx(
        found.stages[0].score, rel=1e-4, abs=1e-5
    )


def test_an_explanation_prints_as_tables_and_escapes_texts() -> None:
    e = memory(scores("s", [1.0, 0.0]))
    e.encode_all([Event(0.0, "<b>bold</b> & more"), Event(0.0, "x")])
    found = e.explain("x", 0)
    assert isinstance(found, Explanation)
    assert str(found).splitlines() == [
        "row 0: '<b>bold</b> & more'",
        "",
        "signal  facet  raw     standardised  trust   contribution",
        "s       words  1.0000  1.0000        1.0000  1.0000",
        "",
        "stage  score   rank",
        "match  1.0000  1",
    ]
    html = found._repr_html_()
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; more" in html and "<b>" not in html
