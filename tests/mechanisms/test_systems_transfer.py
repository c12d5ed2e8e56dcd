"""Systems transfer: compiled and plain kernels agree, and through the engine replay and time
transfer memories from one trace to the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Incoming, Mechanism, Params, Tick, hook
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import CONGRUENCY, LOG_STRENGTH, REPLAYS, ROW
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.consolidation import systems_transfer as paper
from hebbarium.mechanisms.consolidation import systems_transfer_printed as printed

# the kernels take longer to compile than the tests take in Python
pytestmark = pytest.mark.kernels

SCALARS: tuple[tuple[Any, tuple[float, ...]], ...] = (
    (paper.grown, (0.1, 0.02, 7.0)),
    (paper.grown, (0.1, 0.1, 7.0)),
    (paper.transfer, (0.7, 0.1, 5.0, 0.1, 0.2, 0.01)),
    (paper.reinstated, (0.7, 0.1, 3.0, 1.0, 15.0, 0.4, 0.1, 0.2)),
    (printed.lowered, (0.9, 4, 3, 0.02, 2.5, 0.5)),
)


class Night(Mechanism[Params]):
    """Sets congruency from the speaker field; replays memory i `times[i]` times each night."""

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(CONGRUENCY,))
    def judge(self, view: Any, incoming: Incoming) -> None:
        view.congruency[view.row] = float(incoming.event.speaker or 0.0)

    @hook(Phase.CONSOLIDATE, reads=(), adds=(), sets=(REPLAYS,))
    def replay(self, view: Any, tick: Tick) -> None:
        view.replays[: len(self.times)] = self.times

    times: tuple[int, ...] = ()


Life = Callable[..., Engine]


@pytest.fixture
def life(registry: Registry) -> Life:
    def live(
        texts: list[tuple[str, float]],
        days: float,
        *,
        replays: tuple[int, ...] = (),
        id: str = "systems_transfer",
        tick: float = 1.0,
        **params: Any,
    ) -> Engine:
        """Memories encoded at 100 h, each with its congruency, some days later."""
        night = Night("night", Params(1.0))
        night.times = replays
        memory = Engine(
            [night, registry.instance(id, params)], HashingEmbedder(256), tick_hours=tick
        )
        for text, fit in texts:
            memory.encode(Event(100.0, text, str(fit)))
        memory.advance(100.0 + 24.0 * days)
        return memory

    return live


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "arguments"), SCALARS, ids=lambda x: getattr(x, "__name__", ""))
def test_compiled_equals_plain(kernel: Any, arguments: tuple[float, ...]) -> None:
    assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments), rel=1e-12)


@pytest.mark.slow
def test_array_kernels_compiled_equal_plain() -> None:
    rng, n = np.random.default_rng(0), 9
    created, transferred, fit, replays = (
        rng.uniform(0, 20, n),
        rng.uniform(0, 3, n),
        rng.random(n),
        rng.integers(0, 3, n).astype(np.int32),
    )
    vectors = rng.normal(size=(n, 6)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    results = []
    for plain in (False, True):
        consolidate, lesson, answer, exponents, recalled, bounded, transfer = (
            k.py_func if plain else k
            for k in (paper.consolidate, paper.lesson, paper.answer, paper.exponents,
                      paper.recalled, paper.bounded, printed.transferred))  # fmt: skip
        s_h, s_c, at, share, amount = (
            np.full(n, 0.8),
            np.full(n, 0.1),
            transferred.copy(),
            np.ones(n, np.float32),
            np.zeros(n),
        )
        for spontaneous in (True, False):
            consolidate(
                30.0,
                28.0,
                spontaneous,
                False,
                0.1,
                0.1,
                0.01,
                1.0,
                15.0,
                created,
                fit,
                replays,
                s_h,
                s_c,
                at,
                share,
                amount,
            )
        theme, weights, out = np.full(n, -1, np.int16), np.zeros((4, 6), np.float32), np.zeros(n)
        in_use = lesson(amount.copy(), 0.01, vectors, 0.05, 0.3, 0, theme, weights)
        gist = np.full(n, np.nan, np.float32)
        answer(vectors[0], weights, in_use, theme, share, 0.5, gist)
        exponents(40.0, 0.1, 15.0, 0.01, created, at, fit, out)
        kept = np.exp(out)
        recalled(40.0, 0.1, 0.1, 0.01, 15.0, created, at, fit, s_h, s_c, kept)
        logs = np.log(kept)
        bounded(40.0, 0.01, 0.01, created, at, logs)
        dependency, count = np.ones(n), np.zeros(n, np.int32)
        transfer(replays, 0.02, 2.5, fit, dependency, count)
        results.append(np.concatenate([s_h, s_c, at, share, amount, theme, weights.ravel(), gist,
                                       out, kept, logs, dependency, count]))  # fmt: skip
    assert np.isfinite(results[0][-3 * n :]).all()
    np.testing.assert_allclose(results[0], results[1], rtol=2e-6, atol=1e-7)


def test_without_replay_a_memory_follows_the_curve_of_the_paper(life: Life) -> None:
    memory = life([("Ada sang.", 0.0)], 10.0)
    s_h, s_c = paper.transfer(1.0, 0.0, 10.0, 0.1, 0.1, 0.001)
    assert memory.column(LOG_STRENGTH)[0] == pytest.approx(math.log(s_h + s_c), abs=1e-12)
    assert memory.store.array(paper.HIPPOCAMPAL_DEPENDENCE)[0] == pytest.approx(
        s_h / (s_h + s_c), abs=1e-6
    )


def test_only_replayed_memories_are_kept(life: Life) -> None:
    memory = life([("Ada sang.", 0.0), ("Bo slept.", 0.0)], 30.0, replays=(4, 0))
    strength = np.exp(memory.column(LOG_STRENGTH))
    assert strength[0] > 0.9 > 0.1 > strength[1]
    assert memory.store.array(paper.HIPPOCAMPAL_DEPENDENCE)[0] < 0.1
    assert memory.store.array(paper.HIPPOCAMPAL_DEPENDENCE)[1] > 0.5


def test_congruent_memories_become_independent_within_two_days(life: Life) -> None:
    for replays in ((), (4, 4)):
        share = life([("Ada sang.", 1.0), ("Bo slept.", 0.0)], 2.0, replays=replays).store.array(
            paper.HIPPOCAMPAL_DEPENDENCE
        )
        assert share[0] < 0.15 < 0.8 < share[1]


def test_no_strength_falls_below_the_least(life: Life) -> None:
    assert life([("Ada sang.", 0.0), ("Bo slept.", 0.0)], 400.0, replays=(1, 0)).column(
        LOG_STRENGTH
    )[1] == pytest.approx(math.log(0.01))


@pytest.mark.parametrize("replays", [(), (2, 0, 1)])
def test_ticks_do_not_matter(life: Life, replays: tuple[int, ...]) -> None:
    texts = [("Ada sang.", 0.0), ("Bo slept.", 0.5), ("Cleo ran.", 1.0)]
    fine, coarse = (life(texts, 12.3, replays=replays, tick=tick) for tick in (0.01, 1000.0))
    for column in (
        LOG_STRENGTH,
        paper.CORTICAL_TRACE,
        paper.GIST_WEIGHTS,
        paper.HIPPOCAMPAL_DEPENDENCE,
    ):
        np.testing.assert_allclose(
            fine.store.array(column), coarse.store.array(column), rtol=1e-9, atol=1e-12
        )


def test_the_scale_of_time_is_a_change_of_unit(registry: Registry) -> None:
    def strength(kappa: float) -> Any:
        memory = Engine(
            [registry.instance("systems_transfer", {"time_scale": kappa})],
            HashingEmbedder(32),
            consolidate_every=24.0 * kappa,
        )
        memory.encode(Event(100.0, "Ada sang."))
        memory.advance(100.0 + 24.0 * 9.5 * kappa)
        return [*memory.column(LOG_STRENGTH), *memory.store.array(paper.GIST_WEIGHTS).ravel()]

    np.testing.assert_allclose(strength(1.0), strength(7.0), rtol=1e-6, atol=1e-9)


def test_cortical_memories_match_by_the_theme_of_their_schema(life: Life) -> None:
    texts = [
        ("The boat left the harbour at dawn.", 1.0),
        ("The harbour was full of boats at dawn.", 1.0),
        ("Green tea with lemon, please.", 1.0),
        ("We repaired the roof.", 0.0),
    ]
    memory = life(texts, 5.0, alike=0.6)
    theme, before = memory.store.array(paper.GIST_THEME), memory.digest()
    assert theme[0] == theme[1] != theme[2]
    memory.retrieve("boats in the harbour")
    gist = memory.store.array(paper.GIST)
    assert gist[0] == gist[1] > 0.0 > gist[2] and np.isnan(gist[3])
    assert memory.digest() == before


def test_printed_form_lowers_one_number_by_replay_alone(life: Life) -> None:
    memory = life(
        [("Ada sang.", 0.0), ("Bo slept.", 1.0), ("Cleo ran.", 0.0)],
        3.0,
        replays=(1, 1, 0),
        id="systems_transfer_printed",
    )
    loss = 0.02 * sum(n**-0.5 for n in (1, 2, 3))
    np.testing.assert_allclose(
        memory.store.array(printed.HIPPOCAMPAL_DEPENDENCE),
        [1.0 - loss, 1.0 - 2.5 * loss, 1.0],
        rtol=1e-12,
    )
    assert not memory.column(LOG_STRENGTH).any()
