"""Pattern separation and neurogenesis: compiled and plain kernels agree; in the engine, codes
detect repeated events and lose replaced cells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import DUPLICATE, TURNOVER, VISIBLE
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.encoding import neurogenesis as births
from hebbarium.mechanisms.encoding import pattern_separation as paper
from hebbarium.mechanisms.encoding import pattern_separation_printed as printed

Build = Callable[..., Engine]
RNG = np.random.default_rng(0)
SMALL = {"units": 256, "active": 16}
TEXTS = (
    "the red fox ran home",
    "rain fell on the town",
    "bread and salt",
    "a quiet lake",
    "the red fox ran away",
)
DAY = 24.0


@pytest.mark.slow
@pytest.mark.parametrize("turnover", [0.0, 1.3])
def test_codes_compiled_equal_plain(turnover: float) -> None:
    x, drawn, found = (
        RNG.standard_normal(30),
        (paper.gap_quantiles(0.3), paper.weight_quantiles(0.5)),
        [],
    )
    for pick in (lambda k: k, lambda k: k.py_func):
        h, cells, shared = np.empty(50), np.empty(6, dtype=np.int32), np.zeros(3)
        for generation in (int(turnover), int(turnover) + 1):
            pick(paper.drive)(
                x,
                *pick(paper.projection)(4, generation, 50, 30, *drawn),
                drawn[1],
                generation,
                turnover,
                True,
                1.0,
                0.2,
                0.1,
                h,
            )
        active = pick(paper.winners)(h, 6)
        pick(paper.cells)(active, turnover, 50, cells)
        codes, visible = (
            np.stack([cells, np.roll(cells, 1), cells + 1]),
            np.array([True, False, True]),
        )
        pick(paper.overlaps)(codes, visible, cells, 50, shared)
        found.append(
            np.concatenate(
                [h, active, cells, shared, pick(paper.repeated)(codes, visible, cells, 50, 3)]
            )
        )
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


def test_cells_in_common_are_those_of_sets() -> None:
    for k in (0, 1, 12):
        one, other = (
            RNG.choice(20, k, replace=False) + paper.GENERATION * RNG.integers(0, 2, k)
            for _ in range(2)
        )
        for pick in (lambda k: k, lambda k: k.py_func):
            firing = pick(paper.by_unit)(other, 20)
            assert {unit: cell for unit, cell in enumerate(firing.tolist()) if cell >= 0} == {
                c % paper.GENERATION: c for c in other.tolist()
            }
            assert pick(paper.in_common)(np.append(one, -1), firing) == len(
                {*one.tolist()} & {*other.tolist()}
            )


@pytest.mark.slow
def test_the_repeated_memory_is_that_of_sets() -> None:
    """Of the visible codes that share enough cells with the event's, the one with the most, the
    latest among equals; codes of fewer cells, too.
    """
    units, active = 40, 8
    for case in range(200):
        code = np.full(active, -1)
        code[: active - case % 3] = RNG.choice(units, active - case % 3, replace=False)
        others = np.setdiff1d(np.arange(units), code)
        codes = np.stack(
            [
                np.where(
                    RNG.random(active) < RNG.random(),
                    code,
                    RNG.choice(others, active, replace=False),
                )
                for _ in range(12)
            ]
        )
        visible, threshold = RNG.random(12) < 0.8, (0.0, 0.25, 0.5, 0.8, 1.0)[case % 5]
        cells = {unit for unit in code.tolist() if unit >= 0}
        shared = [
            sum(cell in cells for cell in row) if seen else -1
            for row, seen in zip(codes.tolist(), visible.tolist(), strict=True)
        ]
        most = max(shared)
        due = (
            max(i for i, n in enumerate(shared) if n == most)
            if most >= 0 and most >= threshold * active - 1e-9
            else -1
        )
        for pick in (lambda k: k, lambda k: k.py_func):
            least = pick(paper.least_common)(threshold, active)
            assert pick(paper.repeated)(codes, visible, code, units, least) == (
                due,
                most if due >= 0 else least,
            )
            if least:
                lists = pick(paper.listed)(codes.astype(np.int32), units)
                assert pick(paper.listed_repeated)(*lists, codes, visible, code, units, least) == (
                    due,
                    most if due >= 0 else least,
                )
        assert paper.CellLists().repeated(codes, visible, code, units, threshold) == due


def brute(
    codes: np.ndarray, visible: np.ndarray, code: np.ndarray, threshold: float
) -> tuple[int, np.ndarray]:
    """Row of the duplicate, and the cells that each code has in common with the event's."""
    common = np.array([(codes == cell).any(axis=1) for cell in code if cell >= 0]).sum(axis=0)
    able = np.flatnonzero(visible & (common >= threshold * codes.shape[1] - 1e-9))
    return int(able[common[able] == common[able].max()][-1]) if able.size else -1, common


@pytest.mark.parametrize("small", [True, False])
def test_lists_that_grow_with_the_memory_find_what_a_pass_over_all_codes_finds(
    small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are stored in parts of any size, hidden and shown again; cells are replaced; codes
    may have places that no unit takes.
    """
    if small:
        monkeypatch.setattr(paper, "BLOCKS", (64, 16, 4))
    rng = np.random.default_rng(3)
    for units, active, threshold, total in (
        (60, 9, 0.5, 400),
        (300, 41, 0.8, 3000),
        (64, 20, 0.05, 400),
        (40, 12, 1.0, 2500),
    ):
        codes = np.sort(np.argsort(rng.random((total, units)), axis=1)[:, :active], axis=1)
        codes = (codes + paper.GENERATION * ((np.arange(total)[:, None] + codes) // 500)).astype(
            np.int32
        )
        # half of the memories repeat an earlier one, but for some of its cells
        for row in range(1, total):
            if row % 2:
                kept, old = (
                    rng.random(active) < rng.choice([0.5, 0.8, 0.9, 1.0]),
                    codes[rng.integers(row)],
                )
                codes[row] = np.where(
                    kept,
                    old,
                    np.where(
                        (rng.random(active) < 0.5) | (old < 0),
                        -1,
                        old % paper.GENERATION + 40 * paper.GENERATION,
                    ),
                )
        visible, lists, n = np.ones(total, np.bool_), paper.CellLists(), 0
        while n < total:
            visible[rng.integers(0, total, 20)] ^= True
            event, out = codes[min(n + 1, total - 1)], np.full(n, -1.0)
            due, common = brute(codes[:n], visible[:n], event, threshold)
            assert lists.repeated(codes[:n], visible[:n], event, units, threshold) == due
            lists.overlaps(codes[:n], visible[:n], event, units, out)
            assert out.tolist() == np.where(visible[:n], common / active, -1.0).tolist()
            n += int(rng.choice([1, 5, 37, 300]))


def test_a_memory_is_listed_at_most_three_times_as_it_grows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(paper, "BLOCKS", (64, 16, 4))
    listed, times, lists = paper.listed, np.zeros(200, np.int64), paper.CellLists()
    codes = np.arange(200, dtype=np.int32)[:, None] % 50

    def counted(part: np.ndarray, units: int) -> Any:
        times[(part.ctypes.data - codes.ctypes.data) // codes.itemsize + np.arange(len(part))] += 1
        return listed(part, units)

    monkeypatch.setattr(paper, "listed", counted)
    for n in range(201):
        for _ in range(2):
            lists.repeated(codes[:n], np.ones(n, np.bool_), codes[0], 50, 1.0)
    assert times[:192].max() == 3 and times.min() == 1 == times[192:].max()


@pytest.mark.slow
def test_small_kernels_compiled_equal_plain() -> None:
    rates: Any = RNG.gamma(1.0, size=20)
    for k, arguments in (
        (paper.mixed, (123456789,)),
        (paper.excitability, (0.3, 1.0, 0.2, 0.1)),
        (paper.sparseness, (rates,)),
        (paper.capacity, (0.25, 12e3, 0.02)),
        (paper.generation_of, (1.4, 30, 50)),
        (births.turnover, (3.0, 7.0)),
        (births.surviving, (0.3,)),
        (births.replacement_time, (1e6, 9e3, 0.5)),
    ):
        assert k(*arguments) == pytest.approx(k.py_func(*arguments), rel=1e-12)
    index, w = (np.zeros((2, 17), dtype=np.int64), np.zeros((2, 17)))
    for row, pick in enumerate((paper.afferents, paper.afferents.py_func)):
        assert (
            pick(
                1,
                2,
                3,
                17,
                paper.gap_quantiles(0.4),
                paper.weight_quantiles(0.5),
                index[row],
                w[row],
            )
            > 0
        )
    assert (index[0] == index[1]).all() and (w[0] == w[1]).all()


@pytest.mark.slow
def test_printed_compiled_equals_plain() -> None:
    stored = RNG.standard_normal((6, 25)) * 0.2 + 1.0
    stored /= np.linalg.norm(stored, axis=1, keepdims=True)
    found = []
    for pick in (lambda k: k, lambda k: k.py_func):
        left, kept, cosine = np.empty(25), np.empty(25), np.empty(6)
        row = pick(printed.orthogonalised)(
            stored[5], stored[:5], np.ones(5, dtype=np.bool_), 0.5, 0.75, 0.99, left
        )
        pick(printed.sparsified)(left, 0.2, kept)
        pick(printed.cosines)(stored, np.ones(6, dtype=np.bool_), kept, cosine)
        found.append(np.concatenate([left, kept, cosine, [row], pick(printed.winners)(left, 4)]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


def filled(build: Build, *ids: str, **params: Any) -> Engine:
    memory = build(*ids, params={ids[0]: params})
    memory.encode_all([Event(float(i), text) for i, text in enumerate(TEXTS)])
    return memory


def test_a_repeat_is_recognised_and_a_lure_is_not(build: Build) -> None:
    memory = filled(build, "pattern_separation", **SMALL)
    assert memory.store.array(DUPLICATE).item() == -1
    memory.encode(Event(9.0, TEXTS[2]))
    assert memory.store.array(DUPLICATE).item() == 2
    memory.archive(2)
    memory.archive(5)
    memory.encode(Event(10.0, TEXTS[2]))
    assert memory.store.array(DUPLICATE).item() == -1


def test_every_event_is_compared_with_all_visible_memories(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paper, "BLOCKS", (64, 16, 4))
    rng, params = (
        np.random.default_rng(5),
        {"pattern_separation": {**SMALL, "duplicate_overlap": 0.5}},
    )
    memory, repeated = build("pattern_separation", "neurogenesis", params=params), 0
    for i in range(150):
        codes, visible = (
            memory.store.array(paper.SEPARATION_CODE).copy(),
            memory.store.array(VISIBLE).copy(),
        )
        memory.encode(Event(24.0 * i, TEXTS[rng.integers(5)]))
        due, _ = (
            brute(codes, visible, memory.store.array(paper.SEPARATION_EVENT_CODE), 0.5)
            if i
            else (-1, None)
        )
        assert memory.store.array(DUPLICATE).item() == due
        repeated += due >= 0
        (memory.archive if i % 3 else memory.restore)(int(rng.integers(max(i - 12, 0), i + 1)))
    assert 20 < repeated < 148


def test_an_erased_memory_has_no_cells_in_common_with_any_cue(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paper, "BLOCKS", (64, 16, 4))
    memory = build("pattern_separation", params={"pattern_separation": SMALL})
    memory.encode_all([Event(float(i), text, id=str(i)) for i, text in enumerate(TEXTS)])
    cue = memory.assembly.incoming(Event(1.0, TEXTS[1])).text
    for shared in (1.0, 0.0):
        memory.retrieve(cue)
        assert memory.store.array(paper.SEPARATION)[1] == shared
        memory.erase("1", confirm=True)
        memory.assembly.show(1, True)  # an erased row is not answered, but its score is computed


def test_signal_is_the_overlap_of_codes(build: Build) -> None:
    memory = filled(build, "pattern_separation", **SMALL)
    # the text as embedded, with its date
    memory.retrieve(memory.assembly.incoming(Event(0.0, TEXTS[0])).text)
    got, codes = memory.store.array(paper.SEPARATION), memory.store.array(paper.SEPARATION_CODE)
    expected = [len(set(code.tolist()) & set(codes[0].tolist())) / 16 for code in codes]
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    assert expected[0] == 1.0 > max(expected[1:])


def test_the_searched_vector_stays_as_it_is(build: Build) -> None:
    for id in ("pattern_separation", "pattern_separation_printed"):
        memory, plain = filled(build, id), filled(build, "dense_similarity")
        np.testing.assert_array_equal(memory.store.index.vectors, plain.store.index.vectors)


def test_the_turnover_depends_on_time_alone(build: Build) -> None:
    fine, coarse = build("neurogenesis", tick_hours=0.5), build("neurogenesis", tick_hours=1e6)
    for memory in (fine, coarse):
        for day in (0.0, 3.5, 100.0):
            memory.encode(Event(day * DAY, "x"))
            assert memory.store.array(TURNOVER).item() == pytest.approx(
                day * 4500.0 / 1e6, rel=1e-12
            )
    fine.advance(250.0 * DAY)
    assert fine.store.array(TURNOVER).item() == pytest.approx(250.0 * 4500.0 / 1e6, rel=1e-12)
    scaled = build("neurogenesis", params={"neurogenesis": {"time_scale": 0.1}})
    scaled.encode_all([Event(0.0, "x"), Event(DAY, "x")])
    assert scaled.store.array(TURNOVER).item() == pytest.approx(10.0 * 4500.0 / 1e6, rel=1e-12)


def test_replaced_cells_are_active_for_no_cue(build: Build) -> None:
    memory = filled(build, "pattern_separation", "neurogenesis", **SMALL)
    before = memory.store.array(paper.SEPARATION_CODE)[:5].copy()
    answers = []
    for day in (1.0, 110.0, 230.0):
        memory.advance(day * DAY)
        memory.retrieve(TEXTS[0])
        answers.append(float(memory.store.array(paper.SEPARATION)[0]))
    assert answers[0] > answers[1] > answers[2] == 0.0
    np.testing.assert_array_equal(memory.store.array(paper.SEPARATION_CODE)[:5], before)


def test_printed_form_keeps_four_percent_and_counts_identity_as_duplicate(build: Build) -> None:
    memory = filled(build, "pattern_separation_printed")
    kept = memory.store.array(printed.SEPARATED_KEPT)
    assert (np.count_nonzero(kept, axis=1) <= 1).all()  # 4 % of 32 dimensions is one
    memory.encode(Event(9.0, TEXTS[1]))
    assert memory.store.array(DUPLICATE).item() == 1
    memory.retrieve(TEXTS[3])
    cue, score = (
        memory.assembly.embedder.embed([TEXTS[3]])[0],
        memory.store.array(printed.SEPARATED),
    )
    kept = memory.store.array(printed.SEPARATED_KEPT)
    np.testing.assert_allclose(
        score, kept @ cue / np.linalg.norm(kept, axis=1) / np.linalg.norm(cue), rtol=1e-5
    )
