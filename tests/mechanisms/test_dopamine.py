"""dopamine and its printed form: compiled and plain kernels agree; in the engine they modulate
the declared columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.state.graph import EdgeType, entity_node
from hebbarium.engine.text.features import terms_of
from hebbarium.mechanisms.encoding import dopamine as papers
from hebbarium.mechanisms.encoding import dopamine_printed as printed
from hebbarium.mechanisms.encoding import serotonin
from hebbarium.mechanisms.retrieval.successor_representation import SUCCESSOR
from hebbarium.mechanisms.shared.reward import PUNISHING, REWARDING

# the kernels take longer to compile than the tests take in Python
pytestmark = pytest.mark.kernels

Build = Callable[..., Engine]


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(0)
    value, cues, alpha = rng.standard_normal(9), np.array([4, 0, 7, -1]), rng.random(4)
    x = rng.standard_normal(4)
    for kernel, arguments in (
        (papers.prediction, (value, cues)),
        (papers.error, tuple(x)),
        (papers.tone, (x[0], 2.0, 6.0)),
        (printed.error, (x[0], x[1])),
        (printed.tone, (x[2], 3.0)),
    ):
        np.testing.assert_allclose(kernel(*arguments), kernel.py_func(*arguments), rtol=1e-13)
    a, b = value.copy(), value.copy()
    papers.learn(a, cues, alpha, 0.5, 0.7)
    papers.learn.py_func(b, cues, alpha, 0.5, 0.7)
    np.testing.assert_allclose(a, b, rtol=1e-13)
    assert np.flatnonzero(a != value).tolist() == [0, 4, 7]


def test_what_counts_as_reward_are_stems_of_the_engine() -> None:
    pleasant = "amazing awesome beautiful blessed celebrate congratulations delighted enjoyed excited fantastic happy incredible joyful proud"
    sad = "anxious disappointed failed failure frustrating horrible losing miserable scared sorry stressful terrible unfortunately unhappy worried"
    assert (
        not [w for w in pleasant.split() if not set(terms_of(w)) & REWARDING]
        and not set(terms_of(pleasant)) & PUNISHING
    )
    assert (
        not [w for w in sad.split() if not set(terms_of(w)) & PUNISHING]
        and not set(terms_of(sad)) & REWARDING
    )
    assert not REWARDING & PUNISHING


def test_cells_are_distinct_and_fill_up_with_none() -> None:
    names = [f"name{i}" for i in range(50)]
    found = papers.cells(names, 8, 16)
    assert sorted(found[found >= 0]) == list(range(8)) and (found[8:] == -1).all()
    assert papers.cells(names, 4096, 16).tolist() == serotonin.cells(names, 4096, 16).tolist()
    assert papers.cells(["\ud800"], 4096, 1)[0] >= 0


@pytest.mark.kernels
def test_many_cues_do_not_overshoot(build: Build) -> None:
    """n cues with learning rate 1 each learn 1/n of the error, so the next event is predicted
    exactly.
    """
    memory = build("dopamine", params={"dopamine": {"alpha": 1.0, "discount": 0.0}})
    crowd = "Then Ada, Bo, Cleo, Dora, Emil and Fay came."
    memory.encode_all(
        Event(i / 60.0, text)
        for i, text in enumerate((crowd, "how wonderful", crowd, "how wonderful"))
    )
    assert memory.store.array(papers.PREDICTED_REWARD)[0].sum() == pytest.approx(0.5)
    assert memory.store.persistent()["initial_strength"].tolist() == pytest.approx(
        [0.0, 0.05, 0.0, 0.0]
    )


def test_the_end_of_a_session_predicts_no_reward(build: Build) -> None:
    memory = build("dopamine", params={"dopamine": {"discount": 0.0}})
    memory.encode_all(
        [
            Event(0.0, "Then Ada came.", session="a"),
            Event(0.1, "how wonderful, says Ada", session="a"),
            Event(9.0, "it rained", session="b"),
        ]
    )
    value = memory.store.array(papers.PREDICTED_REWARD)[0]
    assert (
        value.sum() == pytest.approx(0.05 * 0.9)
        and (memory.store.array(papers.PRESENT_CUES) == -1).all()
    )


def test_plasticity_scales_learning_rates_of_other_mechanisms(build: Build) -> None:
    """A mechanism that reads PLASTICITY learns a rewarding event 1.5 times as fast, and a
    neutral one at the usual rate.
    """

    def link(*ids: str) -> tuple[float, float]:
        memory = build(
            "successor_representation",
            *ids,
            params={"successor_representation": {"least": 0.0, "discount": 0.5, "alpha": 0.1}},
        )
        for i, text in enumerate(
            ("Then Ada came.", "So wonderful when Bo came.", "Then Cleo came.", "Then Dora came.")
        ):
            memory.encode(Event(i / 60.0, text, session=f"s{i // 2}"))
        graph = memory.store.graph
        pairs = (("ada", "bo"), ("cleo", "dora"))
        one, other = (
            graph.find(*(entity_node(graph.entity_id(name)) for name in pair), EdgeType.COACCESS)
            for pair in pairs
        )
        return float(graph.column(SUCCESSOR.name)[one]), float(graph.column(SUCCESSOR.name)[other])

    plain, moved, as_printed = link(), link("dopamine"), link("dopamine_printed")
    assert plain[0] == plain[1] == moved[1] == as_printed[1] > 0.0
    assert moved[0] == pytest.approx(1.5 * plain[0]) and as_printed[0] == pytest.approx(
        1.5 * plain[0]
    )


def test_only_recall_that_may_learn_gives_credit(build: Build) -> None:
    memory = build("dense_similarity", "dopamine")
    memory.encode_all([Event(0.0, "Ada lost a red umbrella"), Event(0.1, "it was raining")])
    before = memory.digest()
    memory.retrieve("Ada lost a red umbrella")
    assert memory.digest() == before
    memory.retrieve("Ada lost a red umbrella", learn=True)
    credit = memory.store.array(papers.RECALL_CREDIT).copy()
    assert credit[0] > 0.0 and credit[1] == 0.0
    assert (
        memory.store.array(papers.PREDICTED_REWARD)[0].sum() == 0.0
        and memory.store.array(papers.PREDICTED_REWARD)[1].sum() > 0.0
    )
    encoded = memory.column("initial_strength").copy()
    memory.advance(memory.now + 5.0)
    np.testing.assert_allclose(memory.column("log_strength"), encoded + credit)
