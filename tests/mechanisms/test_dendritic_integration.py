"""dendritic_integration: compiled and plain kernels agree; through the engine, a session of
several matches raises its members.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import MATCH
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.state.graph import EdgeType
from hebbarium.mechanisms.maintenance import dendritic_integration as papers
from hebbarium.mechanisms.maintenance import dendritic_integration_printed as printed

# the kernels take longer to compile than the tests take in Python
pytestmark = pytest.mark.kernels

Build = Callable[..., Engine]
START = 480_000.0
DENDRITE, CELL = np.array([3.6, 0.2, 0.3, 0.0114]), np.array([0.96, 1509.0, 0.26])


def story(together: int, apart: int) -> list[Event]:
    """Ada's picnics: some in one session, one each in others; each session ends with a turn of
    Ada's about something else.
    """
    events = [
        Event(START + i / 60.0, f"So Ada had picnic number {i}.", session="one")
        for i in range(together)
    ]
    events.append(Event(START + 1.0, "So Ada was tired.", session="one"))
    for i in range(apart):
        events += [
            Event(START + 30.0 * (i + 1), f"So Ada had picnic number {i} again.", session=f"x{i}"),
            Event(START + 30.0 * (i + 1) + 1.0, "So Ada was tired.", session=f"x{i}"),
        ]
    return events + [
        Event(START + 9000.0 + i, f"Rain fell on roof {i}.", session="rain") for i in range(20)
    ]


@pytest.mark.slow
def test_kernels_compiled_equal_plain(build: Build) -> None:
    for n in (0.0, 3.0, 3.6, 9.0):
        assert papers.branch(n, DENDRITE) == pytest.approx(papers.branch.py_func(n, DENDRITE))
        assert papers.soma(n, CELL) == pytest.approx(papers.soma.py_func(n, CELL))
        assert printed.branch(n, 3.6, 2.0) == pytest.approx(printed.branch.py_func(n, 3.6, 2.0))
        assert printed.soma(n, 0.96, 1509.0, 0.26) == pytest.approx(
            printed.soma.py_func(n, 0.96, 1509.0, 0.26)
        )
    n = np.array([4, 0, 2])
    assert papers.cooperation(n, 1.0, DENDRITE, CELL) == pytest.approx(
        papers.cooperation.py_func(n, 1.0, DENDRITE, CELL)
    )
    assert papers.output(n, 1.0, DENDRITE, CELL) == pytest.approx(
        papers.output.py_func(n, 1.0, DENDRITE, CELL)
    )
    memory = build("lexical_bm25")
    memory.encode_all(story(5, 3))
    links, session = (
        memory.store.graph.csr(EdgeType.ENTITY),
        np.array([0] * 6 + [1, 1, 2, 2, 3, 3] + [4] * 20),
    )
    outs = [np.full(len(session), np.nan) for _ in range(2)]
    for kernel, out in zip((papers.bind, papers.bind.py_func), outs, strict=True):
        kernel(np.array([0, 1, 2, 3, 4, 6]), session, links.start, links.degree, links.pool,
               memory.store.graph.target, 1.0, DENDRITE, CELL, out)  # fmt: skip
    np.testing.assert_allclose(*outs)
    assert np.isfinite(outs[0][:8]).all() and np.isnan(outs[0][8:]).all()
    a, b = np.array([1, 2, 3]), np.array([3, 4])
    assert printed.jaccard(a, b) == printed.jaccard.py_func(a, b)
    for n in (1.0, 3.0, 4.0, 9.0):
        regimes = n, 9.0, 0.4, 0.7, 1.5
        assert printed.regime(*regimes) == pytest.approx(printed.regime.py_func(*regimes))
    for spikes in (True, False):
        change = 0.3, spikes, 0.05, 0.03, 0.01
        assert printed.plastic(*change) == pytest.approx(printed.plastic.py_func(*change))


@pytest.mark.kernels
def test_a_memory_without_match_is_raised_by_matches_around_it(build: Build) -> None:
    memory = build("lexical_bm25", "dendritic_integration")
    memory.encode_all(story(5, 3))
    before = memory.digest()
    memory.retrieve("picnic")
    coactive, match = memory.store.array(papers.COACTIVE), memory.store.array(MATCH)
    tired = (5, 7, 9, 11)
    assert (match[list(tired)] <= 0.0).all()
    # five matches in its session
    assert coactive[5] == np.nanmax(coactive) > 0.5
    # one match in each of theirs
    assert all(coactive[i] < 0.2 * coactive[5] for i in tired[1:])
    assert np.isnan(coactive[12:]).all() and memory.digest() == before


def test_fewer_than_four_matches_have_almost_no_effect(build: Build) -> None:
    gains = []
    for together in (3, 4):
        memory = build("lexical_bm25", "dendritic_integration")
        memory.encode_all(story(together, 0))
        memory.retrieve("picnic")
        gains.append(np.nanmax(memory.store.array(papers.COACTIVE)))
    assert gains[1] > 4.0 * gains[0] > 0.0


def test_one_match_or_none_gives_no_signal(build: Build) -> None:
    memory = build("lexical_bm25", "dendritic_integration")
    memory.encode_all(story(1, 0))
    for question in ("picnic", "zebra"):
        memory.retrieve(question)
        assert np.isnan(memory.store.array(papers.COACTIVE)).all()


def test_scattered_matches_give_no_signal(build: Build) -> None:
    memory = build("lexical_bm25", "dendritic_integration")
    memory.encode_all(story(1, 6))
    memory.retrieve("picnic")
    assert np.isnan(memory.store.array(papers.COACTIVE)).all()


@pytest.mark.kernels
def test_printed_groups_memories_with_the_same_entities(build: Build) -> None:
    memory = build(
        "lexical_bm25",
        "dendritic_integration_printed",
        params={"dendritic_integration_printed": {"room": 4}},
    )
    memory.encode_all(story(5, 3))
    on = memory.store.array(printed.BRANCH)
    assert (
        (np.bincount(on[on >= 0]) <= 4).all()
        and (on[:4] == 0).all()
        and on[4] == 4
        and (on[12:] == -1).all() | (on[12:] >= 12).all()
    )
    memory.retrieve("picnic")
    out = memory.store.array(printed.BRANCHED)
    assert 0.0 < out[0] < 0.01 and out[0] == out[1]


@pytest.mark.kernels
def test_plasticity_of_a_branch_stays_with_it_and_scales_its_share(build: Build) -> None:
    shares = []
    settings: list[dict[str, float]] = [{}, {"ltp": 0.0, "ltd": 0.0, "decay": 0.0}]
    for given in settings:
        memory = build(
            "lexical_bm25",
            "dendritic_integration_printed",
            params={"dendritic_integration_printed": {"room": 4, **given}},
        )
        memory.encode_all(story(5, 3))
        before = memory.column(printed.BRANCH_PLASTICITY).copy()
        memory.retrieve("picnic")
        assert (memory.column(printed.BRANCH_PLASTICITY) == before).all(), "without learning"
        rows = memory.retrieve("picnic", k=1, learn=True).rows
        met = int(memory.column(printed.BRANCH)[rows[0]])
        changed = np.flatnonzero(memory.column(printed.BRANCH_PLASTICITY) != before)
        assert changed.tolist() == ([met] if not given else [])
        memory.retrieve("picnic")
        shares.append(memory.store.array(printed.BRANCHED)[rows[0]])
    assert shares[0] < shares[1], "one of four is long-term depression"
