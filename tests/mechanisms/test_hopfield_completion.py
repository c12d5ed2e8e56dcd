"""Hopfield completion: compiled and plain kernels agree; in the engine, the completed cue finds
memories similar to the best match.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from scipy.special import softmax

from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.retrieval import hopfield_completion as paper
from hebbarium.mechanisms.retrieval import hopfield_completion_printed as printed

# the kernels take longer to compile than the tests take in Python
pytestmark = pytest.mark.kernels

Build = Callable[..., Engine]
RNG = np.random.default_rng(3)
X = RNG.standard_normal((9, 5))


@pytest.mark.slow
@pytest.mark.parametrize("module", [paper, printed])
def test_network_compiled_equals_plain(module: ModuleType) -> None:
    outs = []
    for pick in (lambda k: k, lambda k: k.py_func):
        p, state, out = np.empty(9), np.empty(5), np.empty(5)
        lse = pick(module.attention)(X, X[0], 1.5, p)
        pick(module.update)(X, p, out)
        e = pick(module.energy)(X, X[1], 0.7)
        steps = pick(module.complete)(X, X[2], 0.4, 1e-9, 50, p, state)
        outs.append(np.concatenate([out, p, state, [lse, e, steps]]))
    np.testing.assert_allclose(outs[0], outs[1], rtol=1e-9)


@pytest.mark.slow
def test_regimes_compiled_equal_plain() -> None:
    for k, arguments in (
        (paper.separation, (X, 4)),
        (paper.least_separation, (9.0, 2.0, 1.5)),
        (paper.retrieval_error, (9.0, 2.0, 0.5, 0.1, 1.5)),
        (paper.lambert_w, (0.7,)),
        (paper.lambert_w, (0.0,)),
        (paper.capacity_base, (1.0, 2.0, 30.0, 0.01)),
        (paper.polynomial_capacity, (50.0, 3)),
        (paper.neglected, (np.sort(X @ X[0])[::-1], 0.3, 40.0)),
    ):
        assert k(*arguments) == pytest.approx(k.py_func(*arguments), rel=1e-12)
    out, plain = np.empty(9), np.empty(9)
    paper.overlaps(X, X[3], out)
    paper.overlaps.py_func(X, X[3], plain)
    np.testing.assert_allclose(out, plain, rtol=1e-12)


TEXTS = (
    "the red fox ran home",
    "the red fox ran away",
    "the red fox slept",
    "rain fell on the town",
    "bread and salt",
    "a quiet lake",
)


def filled(build: Build, id: str, **params: float) -> Engine:
    memory = build(id, params={id: params})
    memory.encode_all([Event(float(i), text) for i, text in enumerate(TEXTS)])
    return memory


def fixed_point(
    memory: Engine, cue: str, pool: int, beta: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the pool, their patterns, and the state after many updates, in numpy."""
    q = memory.assembly.embedder.embed([cue])[0].astype(np.float64)
    x = np.asarray(memory.store.index.vectors, dtype=np.float64)
    rows = np.argsort(-(x @ q), kind="stable")[:pool]
    state = q
    for _ in range(500):
        state = softmax(beta * (x[rows] @ state)) @ x[rows]
    return rows, x, state


@pytest.mark.parametrize("pool", [3, 6])
def test_signal_is_the_overlap_with_the_fixed_point(build: Build, pool: int) -> None:
    memory = filled(
        build, "hopfield_completion", pool=pool, beta=4.0, tolerance=1e-9, most_updates=500
    )
    memory.retrieve("red fox")
    got = memory.store.array(paper.COMPLETION)
    rows, x, state = fixed_point(memory, "red fox", pool, 4.0)
    np.testing.assert_allclose(got[rows], x[rows] @ state, atol=1e-5)
    assert np.isnan(np.delete(got, rows)).all()
    assert memory.store.array(paper.COMPLETION_CONFIDENCE).item() == pytest.approx(
        softmax(4.0 * (x[rows] @ state)).max(), abs=1e-5
    )
    scores = np.exp(4.0 * (x @ memory.assembly.embedder.embed(["red fox"])[0]))
    # each memory outside the pool with the score of the last one in it
    most = (len(TEXTS) - pool) * scores[rows[-1]]
    assert memory.store.array(paper.COMPLETION_NEGLECTED).item() == pytest.approx(
        most / (most + scores[rows].sum()), abs=1e-5
    )
    assert np.delete(scores, rows).sum() <= most + 1e-9


def test_large_beta_recalls_one_memory(build: Build) -> None:
    memory = filled(build, "hopfield_completion", beta=500.0)
    memory.retrieve("the red fox ran")
    got = memory.store.array(paper.COMPLETION)
    assert (
        np.nanmax(got) == pytest.approx(1.0, abs=1e-4)
        and memory.store.array(paper.COMPLETION_CONFIDENCE).item() > 0.999
    )


def test_archived_memories_are_not_stored_patterns(build: Build) -> None:
    memory = filled(build, "hopfield_completion")
    memory.archive(0)
    memory.retrieve("the red fox ran home")
    assert np.isnan(memory.store.array(paper.COMPLETION)[0]) and not np.isnan(
        memory.store.array(paper.COMPLETION)[1]
    )


def test_printed_form_ranks_by_its_own_fixed_point(build: Build) -> None:
    memory = filled(build, "hopfield_completion_printed", beta=4.0, tolerance=0.0, most_updates=500)
    memory.retrieve("red fox")
    rows, x, state = fixed_point(memory, "red fox", 6, 4.0)
    np.testing.assert_allclose(
        memory.store.array(printed.COMPLETION_PRINTED)[rows], x[rows] @ state, atol=1e-4
    )
