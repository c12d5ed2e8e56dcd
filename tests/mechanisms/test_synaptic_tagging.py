"""Synaptic tagging: compiled and plain kernels agree, and through the engine strong memories
stabilise weak ones encoded near them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Incoming, Mechanism, Params, hook
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import LOG_STRENGTH, SALIENCE
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.consolidation import synaptic_tagging as paper
from hebbarium.mechanisms.consolidation import synaptic_tagging_printed as printed

KERNELS: tuple[tuple[Any, tuple[float, ...]], ...] = (
    (paper.early_phase, (4.2, 0.1, 1, 0, 4.2, 3.0, 1.0, 0.2)),
    (paper.above, (-2.0, 0.5, 1.9)),
    (paper.proteins_after, (0.3, 4.0, 2.5, 2.1, 1.0, 1.9, 1.0)),
    (paper.synthesised, (0.3, 4.0, 2.5, 2.1, 1.0, 1.9, 1.0)),
    (paper.late_phase, (0.1, 0.7, 0, 1.0)),
    (paper.weight, (5.0, 0.5, 4.2)),
    (printed.overlap, (2, 3, 5)),
)


class Judge(Mechanism[Params]):
    """Sets an event's salience from its speaker field."""

    @hook(Phase.ENCODE, reads=(), adds=(), sets=(SALIENCE,))
    def judge(self, view: Any, incoming: Incoming) -> None:
        view.salience = float(incoming.event.speaker)


def memory_of(
    registry: Registry,
    id: str,
    events: list[tuple[float, float, str]],
    until: float,
    *,
    tick: float = 1.0,
    **params: Any,
) -> Engine:
    """One consolidation, at `until`, and the maintenance that adds its effect to LOG_STRENGTH."""
    mechanisms = [Judge("judge", Params(1.0)), registry.instance(id, params)]
    memory = Engine(
        mechanisms, HashingEmbedder(16), tick_hours=tick, consolidate_every=until - events[0][0]
    )
    for time, salience, text in events:
        memory.encode(Event(time, text, str(salience)))
    memory.advance(until * (1.0 + 1e-12))
    return memory


@pytest.fixture
def strong_on(registry: Registry) -> Callable[..., float]:
    def strength(lag: float, entity: str = "Ada") -> float:
        """Final log strength of an ordinary memory about Ada with a strong one `lag` hours
        later, at the paper's time scale.
        """
        events = sorted(
            [(50.0, 0.5, "Today Ada hummed."), (50.0 + lag, 0.99, f"Then {entity} shouted.")]
        )
        memory = memory_of(registry, "synaptic_tagging", events, 120.0, time_scale=1.0)
        return float(memory.column(LOG_STRENGTH)[[e[1] for e in events].index(0.5)])

    return strength


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "arguments"), KERNELS, ids=lambda x: getattr(x, "__name__", ""))
def test_compiled_equals_plain(kernel: Any, arguments: tuple[float, ...]) -> None:
    assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments), rel=1e-12)


@pytest.mark.slow
def test_network_kernels_compiled_equal_plain() -> None:
    rng, n = np.random.default_rng(0), 8
    links = [
        (a, b)
        for m in range(n)
        for e in range(3)
        if rng.random() < 0.6
        for a, b in ((m, -1 - e), (-1 - e, m))
    ]
    source = np.array([a % (n + 3) for a, _ in links])
    degree = np.bincount(source, minlength=n + 3)
    net = (
        np.cumsum(degree) - degree,
        degree,
        np.argsort(source, kind="stable"),
        np.array([b for _, b in links]),
    )
    created, induced = np.sort(rng.uniform(0.0, 4.0, n)), rng.uniform(0.5, 4.0, n)
    results = []
    for plain in (False, True):
        drive, proteins, synthesis = (
            np.zeros(len(links)),
            np.zeros(len(links)),
            np.full(len(links), paper.NO_SYNAPSE),
        )
        late, importance, heat = (
            np.zeros(n),
            rng.permutation(n) * 0.0 + np.linspace(0.2, 0.9, n),
            np.ones(n),
        )
        induce, capture, lift = (
            k.py_func if plain else k for k in (paper.induce, paper.capture, printed.lift)
        )
        for row in range(n):
            induce(
                row,
                created[row],
                induced[row],
                2.1,
                1.0,
                1.9,
                1.0,
                *net,
                created,
                drive,
                proteins,
                synthesis,
            )
            lift(row, 0.7, 0.5, 48.0, 0.25, 1.5, *net, created, importance, heat)
        capture(
            6.0,
            -math.inf,
            3.1,
            0.84,
            2.1,
            1.0,
            1.9,
            1.0,
            1.0,
            *net,
            created,
            induced,
            drive,
            proteins,
            synthesis,
            late,
        )
        results.append(np.concatenate([drive, proteins, synthesis, late, importance, heat]))
    assert (results[0][-n:] > 1.0).any() and (late > 0.0).any()
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12)
    strength = np.empty(n)
    paper.log_weight(6.0, created, induced, late, 4.2, 1.9, strength)
    expected = [
        math.log(1.0 + change * math.exp((time - 6.0) / 1.9) / 4.2 + z)
        for time, change, z in zip(created, induced, late, strict=True)
    ]
    np.testing.assert_allclose(strength, expected, rtol=1e-12)


@pytest.mark.kernels
def test_a_strong_memory_keeps_a_weak_one_that_shares_an_entity(
    strong_on: Callable[..., float],
) -> None:
    assert strong_on(0.0) > strong_on(0.2) > 0.1
    assert strong_on(0.2, "Cleo") == pytest.approx(0.0, abs=1e-9)


def test_the_window_is_longer_after_a_strong_memory_than_before(
    strong_on: Callable[..., float],
) -> None:
    assert strong_on(-1.5) > strong_on(-3.0) > strong_on(0.5) > 0.01
    assert strong_on(1.5) == pytest.approx(0.0, abs=1e-9)  # the tag of a weak memory has ended


def test_the_scale_of_time_is_a_change_of_unit(registry: Registry) -> None:
    def strengths(kappa: float) -> Any:
        events = [
            (100.0 + kappa * t, s, f"So {who} came.")
            for t, s, who in ((0.0, 0.5, "Ada"), (0.2, 0.9, "Ada"), (2.0, 0.6, "Bo"))
        ]
        return memory_of(
            registry, "synaptic_tagging", events, 100.0 + 9.0 * kappa, time_scale=kappa
        ).column(LOG_STRENGTH)

    np.testing.assert_allclose(strengths(1.0), strengths(15.6), rtol=1e-9, atol=1e-12)


def test_neither_ticks_nor_times_of_reading_matter(registry: Registry) -> None:
    events = [
        (100.0 + 3.7 * i, 0.3 + 0.1 * (i % 7), f"So {('Ada', 'Bo')[i % 2]} met Cleo.")
        for i in range(20)
    ]
    fine, coarse = (
        memory_of(registry, "synaptic_tagging", events, 260.0, tick=tick) for tick in (0.01, 500.0)
    )
    for column in (LOG_STRENGTH, paper.LATE_PHASE):
        np.testing.assert_allclose(
            fine.store.array(column), coarse.store.array(column), rtol=1e-9, atol=1e-12
        )
    assert fine.store.array(paper.LATE_PHASE).max() > 0.3


def test_blocking_proteins_does_not_change_the_early_phase(registry: Registry) -> None:
    events = [(100.0, 0.9, "So Ada came.")]
    blocked, open_ = (
        memory_of(registry, "synaptic_tagging", events, 101.0, alpha=alpha) for alpha in (0.0, 1.0)
    )
    assert blocked.store.array(paper.LATE_PHASE)[0] == 0.0 < open_.store.array(paper.LATE_PHASE)[0]
    decayed = blocked.store.array(paper.EARLY_PHASE_INDUCED)[0] * math.exp(
        -1.0 / (15.6 * 6884.0 / 3600.0)
    )
    assert blocked.column(LOG_STRENGTH)[0] == pytest.approx(math.log1p(decayed / 4.20075))


@pytest.mark.kernels
def test_printed_form_raises_weak_memories_once(registry: Registry) -> None:
    events = [
        (100.0, 0.4, "So Ada came."),
        (110.0, 0.4, "So Bo came."),
        (120.0, 0.9, "So Ada sang."),
        (170.0, 0.9, "So Bo sang."),
    ]
    memory = memory_of(registry, "synaptic_tagging_printed", events, 200.0)
    np.testing.assert_allclose(
        memory.store.array(printed.PRINTED_IMPORTANCE), [0.65, 0.4, 0.9, 0.9]
    )
    np.testing.assert_allclose(memory.column(LOG_STRENGTH), [math.log(1.5), 0.0, 0.0, 0.0])


def test_at_scale_one_the_papers_number_comes_out(registry: Registry) -> None:
    """CM-4.4: one fully potentiated synapse captures 0.698 within a day."""
    memory = memory_of(
        registry, "synaptic_tagging", [(100.0, 1.0, "So Ada came.")], 124.0, time_scale=1.0
    )
    assert memory.store.array(paper.LATE_PHASE)[0] == pytest.approx(0.698, abs=0.01)
