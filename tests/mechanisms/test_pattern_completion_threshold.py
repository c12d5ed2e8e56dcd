"""Pattern completion threshold: compiled and plain kernels agree; in the engine, each kind of
cue changes the expected facets.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from hebbarium.engine.contract.columns import Facet
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import FACET_WEIGHTS
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.retrieval import pattern_completion_threshold as paper
from hebbarium.mechanisms.retrieval.pattern_completion_threshold import Decision

Build = Callable[..., Engine]
RNG = np.random.default_rng(0)
WORDS = ("fox", "lake", "bread", "rain", "town", "salt", "night", "river", "stone", "piano",
         "garden", "winter", "copper", "violin", "harbour")  # fmt: skip
TEXTS = [f"{WORDS[i % 15]} {WORDS[i * 7 % 13]} {WORDS[i * 4 % 11]}" for i in range(80)]


@pytest.mark.slow
def test_networks_compiled_equal_plain() -> None:
    x, found = RNG.choice([-1.0, 1.0], (3, 20)), []
    unit = RNG.standard_normal((5, 6))
    for pick in (lambda k: k, lambda k: k.py_func):
        weights, state, out = (
            np.empty((20, 20)),
            x[0] * np.r_[-np.ones(3), np.ones(17)],
            np.empty(6),
        )
        pick(paper.outer_products)(x, weights)
        steps = pick(paper.settle)(weights, state, 9)
        pick(paper.completed)(unit, unit[1], 2.0, out)
        found.append(np.concatenate([weights.ravel(), state, out, [steps]]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_laws_compiled_equal_plain() -> None:
    cosine, visible = RNG.uniform(-0.2, 0.8, 30).astype(np.float32), RNG.random(30) < 0.8
    assert paper.extremes(cosine, visible) == pytest.approx(
        paper.extremes.py_func(cosine, visible), rel=1e-12
    )
    for k, arguments in (
        (paper.chance_maximum, (50.0, 0.1, 0.2)),
        (paper.completable_fraction, (50.0, 20.0)),
        (paper.least_margin, (50.0, 0.4, 9.0)),
        (paper.decision, (50, 0.9, 0.3, 0.1, 0.1, 0.5, 60.0)),
        (paper.decision, (2, 0.9, 0.3, 0.1, 0.1, 0.5, 60.0)),
        (paper.bit_error, (0.2,)),
        (paper.sparse_capacity, (0.2, 12e3, 0.02)),
        (paper.connection_capacity, (0.2, 0.01)),
    ):
        assert k(*arguments) == pytest.approx(k.py_func(*arguments), rel=1e-12)


@pytest.mark.parametrize(
    ("confidence", "facets"),
    [
        (0.5, {Decision.SEPARATE: (0.5, 0.5), Decision.COMPLETE: (2.0, 1.0)}),
        (
            0.999999,
            {
                Decision.SEPARATE: (0.5, 0.5),
                Decision.LINK: (1.0, 2.0),
                Decision.COMPLETE: (2.0, 1.0),
            },
        ),
    ],
)
def test_each_decision_changes_the_weights_of_its_facets(
    build: Build, confidence: float, facets: dict[Decision, tuple[float, float]]
) -> None:
    memory = build(
        "pattern_completion_threshold",
        params={"pattern_completion_threshold": {"gain": math.log(2.0), "confidence": confidence}},
    )
    memory.encode_all([Event(i / 100.0, text) for i, text in enumerate(TEXTS)])
    changed, seen = [Facet.COMPLETION.value, Facet.ASSOCIATION.value], set()
    for cue in ("nothing of the kind", *WORDS):
        memory.retrieve(cue)
        expected, weights = (
            expected_decision(memory, cue, confidence),
            memory.store.array(FACET_WEIGHTS),
        )
        assert memory.store.array(paper.COMPLETION_DECISION).item() == expected
        assert weights[changed] == pytest.approx(facets[expected]) and np.delete(
            weights, changed
        ) == pytest.approx(1.0)
        seen.add(expected)
    assert seen == set(facets)


def expected_decision(memory: Engine, cue: str, confidence: float) -> Decision:
    """The decision rule, in numpy."""
    cosine = np.asarray(
        memory.store.index.vectors, dtype=np.float64
    ) @ memory.assembly.embedder.embed([cue])[0].astype(np.float64)
    first, second = np.sort(cosine)[::-1][:2]
    if first < cosine.mean() + cosine.std() * math.sqrt(2.0 * math.log(cosine.size)):
        return Decision.SEPARATE
    return (
        Decision.COMPLETE
        if first - second >= math.log((cosine.size - 1.0) * confidence / (1.0 - confidence)) / 128.0
        else Decision.LINK
    )


def test_too_few_memories_give_no_decision(build: Build) -> None:
    memory = build("pattern_completion_threshold")
    memory.encode_all([Event(0.0, "fox"), Event(1.0, "lake")])
    memory.retrieve("fox")
    assert memory.store.array(
        paper.COMPLETION_DECISION
    ).item() == Decision.NONE and memory.store.array(FACET_WEIGHTS) == pytest.approx(1.0)
