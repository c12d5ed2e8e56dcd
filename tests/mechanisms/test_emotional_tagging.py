"""Emotional tagging: compiled and plain kernels agree, and in the engine arousing memories are
stronger, increasingly with age, and ranked first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hebbarium.engine.base.errors import RegistryError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import EMBEDDING, INITIAL_STRENGTH, LOG_STRENGTH
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.encoding import emotional_tagging as papers
from hebbarium.mechanisms.encoding import emotional_tagging_printed as printed

Build = Callable[..., Engine]
CALM, STIRRED = "The box is on the table in the hall", "The box on the table made her so happy"


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    cases = (
        (papers.ricker, (0.4, 5.0, 2.0)),
        (papers.curve, (0.4, 0.3)),
        (papers.optimum, (0.7, 0.9, 2.0)),
        (papers.enhancement, (0.4, 0.7, 0.9, 2.0, 0.5)),
        (papers.arousal, (0.1, 0.15, 0.1)),
        (papers.log_spared, (3.0, 0.4, 0.3, 0.5)),
        (printed.ricker, (0.4, 5.0, 2.0)),
        (printed.enhancement, (0.4, 5.0, 2.0)),
    )
    for kernel, arguments in cases:
        assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments))
    rng = np.random.default_rng(0)
    created, aroused, a, b = (
        rng.uniform(0, 50, 20),
        rng.uniform(-1, 1, 20).clip(0),
        np.zeros(20),
        np.zeros(20),
    )
    papers.add_spared(60.0, 24.0, created, aroused, 0.3, 0.5, a)
    papers.add_spared.py_func(60.0, 24.0, created, aroused, 0.3, 0.5, b)
    np.testing.assert_allclose(a, b, rtol=1e-12)
    assert ((a == 0.0) == (aroused == 0.0)).all()


def test_an_optimum_at_one_is_refused(registry: Registry) -> None:
    for optimum in (0.0, 1.0, 1.5):
        with pytest.raises(RegistryError):
            registry.instance("emotional_tagging", {"optimum": optimum})
    with pytest.raises(RegistryError, match="no inverted U"):
        papers.EmotionalTagging(
            "x", papers.EmotionalTaggingParams(1.0, 1.0, 2.0, 0.5, 0.15, 0.1, 0.3, 0.5, 1.0)
        )


def test_only_arousing_events_are_encoded_more_strongly(build: Build) -> None:
    memory = build("emotional_tagging")
    memory.encode_all((Event(0.0, CALM), Event(0.0, STIRRED)))
    one, other = memory.store.array(EMBEDDING).astype(np.float64)
    best = 0.9 / (1 + 2 * max(one @ other, 0.0))
    a = 1 - np.exp(-(1 / 9) / 0.15)
    np.testing.assert_allclose(memory.store.array(papers.AROUSAL), [0.0, a], atol=1e-12)
    np.testing.assert_allclose(
        memory.store.array(INITIAL_STRENGTH),
        [0.0, np.log1p(0.5 * a / best * np.exp(1 - a / best))],
        atol=1e-6,
    )


def test_a_promise_has_some_arousal(build: Build) -> None:
    memory = build("emotional_tagging")
    memory.encode(Event(0.0, "I will send the box on Monday"))
    assert memory.store.array(papers.AROUSAL)[0] == pytest.approx(0.1)


def test_the_advantage_of_arousing_memories_grows_with_age(build: Build) -> None:
    memory = build("emotional_tagging")
    memory.encode_all((Event(0.0, STIRRED), Event(0.0, CALM)))
    leads = []
    for hours in (1.0, 24.0, 720.0):
        memory.advance(memory.now + hours)
        strength = memory.column(LOG_STRENGTH)
        leads.append(float(strength[0] - strength[1]))
    a = 1 - np.exp(-(1 / 9) / 0.15)
    np.testing.assert_allclose(
        np.diff(leads), 0.15 * a * np.diff(np.log1p(np.array([1, 25, 745]) / 24)), rtol=1e-9
    )


@pytest.mark.parametrize("id", ["emotional_tagging", "emotional_tagging_printed"])
def test_arousing_memories_are_ranked_first_by_heat(build: Build, id: str) -> None:
    ranks, texts = (
        [],
        (
            "a kite in the great hall",
            "a kite with the happy boy",
            "an old boat",
            "some rain",
            "more rain",
        ),
    )
    for ids in ((), (id,)):
        memory = build(*ids, "lexical_bm25", "heat", "convex_fusion")
        memory.encode_all(Event(0.0, text) for text in texts)
        memory.advance(48.0)
        ranks.append(memory.retrieve("kite").rank(1))
    assert ranks == [2, 1]
