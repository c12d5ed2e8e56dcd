"""oscillatory_clock: compiled and plain kernels agree; through the engine working memory makes
pairs, and learning follows theta.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Mechanism, Params, hook
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import LTP, RECALLED, RIPPLES, SLEEP_ONSET, SLEEP_SHARE
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.maintenance import oscillatory_clock as papers
from hebbarium.mechanisms.maintenance import oscillatory_clock_printed as printed
from hebbarium.mechanisms.shared.coactivation import COACTIVATION

START = 24.0 * 19000 + 9.0


class Plastic(Mechanism[Params]):
    """Records the pairs it would learn from, and the sign of learning."""

    def __init__(self) -> None:
        super().__init__("plastic", Params(1.0), order=99)
        self.pairs: list[list[tuple[int, int, float]]] = []
        self.signs: list[float] = []

    def _note(self, view: Any, what: Any) -> None:
        pairs = zip(
            view.coactivation.source.tolist(),
            view.coactivation.target.tolist(),
            (view.coactivation.lag * 60.0).round(6).tolist(),
            strict=True,
        )
        self.pairs.append(list(pairs))
        self.signs.append(view.ltp)

    @hook(Phase.ENCODE, reads=(COACTIVATION, LTP), adds=(), sets=())
    def encode(self, view: Any, what: Any) -> None:
        self._note(view, what)

    @hook(Phase.RETRIEVE, reads=(RECALLED, COACTIVATION, LTP), adds=(), sets=())
    def on_recall(self, view: Any, what: Any) -> None:
        self._note(view, what)

    @hook(Phase.CONSOLIDATE, reads=(COACTIVATION, LTP), adds=(), sets=())
    def sleep(self, view: Any, what: Any) -> None:
        self._note(view, what)


def plastic(*ids: str) -> tuple[Engine, Plastic]:
    rule = Plastic()
    return Engine([rule, *(Registry.read().instance(i) for i in ids)], HashingEmbedder(16)), rule


@pytest.mark.slow
def test_scalar_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(2)
    for module, names in (
        (
            papers,
            (
                "phase",
                "transmission",
                "plasticity",
                "learnt_in_a_cycle",
                "weight_change",
                "capacity",
                "ripples",
            ),
        ),
        (printed, ("envelope", "ripples_due")),
    ):
        for name in names:
            kernel = getattr(module, name)
            for values in rng.random((10, 7)) * 3.0:
                arguments = values[: kernel.py_func.__code__.co_argcount].tolist()
                assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [papers.hold, printed.bind])
def test_working_memory_kernels_compiled_equal_plain(kernel: Any) -> None:
    for n in (1, 4, 9):
        one, other = (np.full(9, -1, dtype=np.int32) for _ in range(2))
        for item in range(12):
            kernel(one, item, n)
            kernel.py_func(other, item, n)
            np.testing.assert_array_equal(one, other)


def test_lags_to_rows_of_working_memory_are_gamma_cycles() -> None:
    memory, rule = plastic("oscillatory_clock")
    memory.encode_all(Event(START + i / 50.0, f"turn {i}") for i in range(8))
    forward = [(a, b, lag) for a, b, lag in rule.pairs[-1] if lag > 0]
    assert forward == [(r, 7, 7.0 - r) for r in range(2, 7)]
    assert sorted((b, a, -lag) for a, b, lag in rule.pairs[-1] if lag < 0) == sorted(forward)
    assert rule.signs == [1.0] * 8


def test_recall_depresses_and_sleep_potentiates() -> None:
    memory, rule = plastic("oscillatory_clock", "dense_similarity")
    memory.encode_all(Event(START + i / 60.0, f"turn {i}") for i in range(3))
    memory.retrieve("turn 1", learn=True)
    memory.advance(START + 24.0)
    assert rule.signs == pytest.approx([1.0, 1.0, 1.0, -1.0, 1.0])


@pytest.mark.kernels
def test_with_sleep_pressure_ripples_are_proportional_to_the_length_of_sleep() -> None:
    memory, _ = plastic("oscillatory_clock", "sleep_pressure")
    memory.encode(Event(START, "morning"))
    onset = memory.store.array(SLEEP_ONSET).item()
    memory.encode(Event(onset + 2.0, "night"))
    assert memory.store.array(RIPPLES).item() * memory.store.array(
        SLEEP_SHARE
    ).item() == pytest.approx(2.0 / 8.0)


@pytest.mark.kernels
def test_the_printed_clock_never_depresses() -> None:
    memory, rule = plastic("oscillatory_clock_printed", "dense_similarity")
    for i in range(40):
        memory.encode(Event(START + i / 60.0, f"turn {i}"))
        memory.retrieve("turn 1", learn=True)
    memory.advance(START + 24.0)
    assert 0.3 <= min(rule.signs) < 0.4 and max(rule.signs) == 1.5
