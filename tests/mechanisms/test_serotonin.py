"""serotonin: compiled and plain kernels agree; in the engine high average reward lengthens the
horizon of other mechanisms.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.state.graph import EdgeType, entity_node
from hebbarium.mechanisms.encoding import serotonin
from hebbarium.mechanisms.retrieval.successor_representation import SUCCESSOR

Build = Callable[..., Engine]


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(0)
    value, cues, x = rng.standard_normal(9), np.array([4, 0, 7, -1]), rng.standard_normal(4)
    for kernel, arguments in (
        (serotonin.prediction, (value, cues)),
        (serotonin.error, tuple(x)),
        (serotonin.averaged, (x[0], x[1], 0.1)),
        (serotonin.phasic, (x[0],)),
        (serotonin.level, (x[0], x[1], 0.3)),
        (serotonin.horizon, (0.93,)),
        (serotonin.half_life, (0.93,)),
        (serotonin.discounted, (value, np.abs(value), 0.9)),
        (serotonin.choice, (value, 1.7)),
        (serotonin.stretched, (x[3], 0.5)),
    ):
        np.testing.assert_allclose(kernel(*arguments), kernel.py_func(*arguments), rtol=1e-13)
    a, b = value.copy(), value.copy()
    serotonin.learn(a, cues, 0.2, 0.7)
    serotonin.learn.py_func(b, cues, 0.2, 0.7)
    np.testing.assert_allclose(a, b, rtol=1e-13)
    assert np.flatnonzero(a != value).tolist() == [0, 4, 7]


def test_cues_of_reward_have_values_above_the_average(build: Build) -> None:
    """Repeated: Ada, a reward, Bo, nothing.  V(ada) - V(bo) converges to that reward minus twice
    the average.
    """
    memory = build("serotonin", params={"serotonin": {"alpha": 0.1, "kappa": 0.01}})
    story = (
        "Then Ada came.",
        "how wonderful when Cleo came",
        "Then Bo came.",
        "it rained when Dora came",
    )
    memory.encode_all(Event(i / 60.0, story[i % 4]) for i in range(1200))
    value = memory.store.array(serotonin.RELATIVE_VALUE)
    ada, bo = (value[serotonin.cells([name], 4096, 1)[0]] for name in ("ada", "bo"))
    assert memory.store.array(serotonin.AVERAGE_REWARD) == pytest.approx(0.125, abs=0.01)
    assert ada - bo == pytest.approx(0.25, abs=0.03)


def test_a_high_average_reward_lengthens_the_horizon_of_the_successor_representation(
    build: Build,
) -> None:
    def reach(*ids: str, mood: str) -> float:
        memory = build(
            "successor_representation",
            *ids,
            params={"successor_representation": {"least": 0.0, "alpha": 1.0}},
        )
        memory.encode_all(Event(i / 60.0, f"a {mood} day") for i in range(100))
        for r in range(3):
            lines = (f"Then {name} had a {mood} day" for name in ("Ada", "Bo", "Cleo"))
            memory.encode_all(
                Event(9.0 + r + i / 60.0, text, session=f"s{r}") for i, text in enumerate(lines)
            )
        graph = memory.store.graph
        edge = graph.find(
            entity_node(graph.entity_id("ada")),
            entity_node(graph.entity_id("cleo")),
            EdgeType.COACCESS,
        )
        return float(graph.column(SUCCESSOR.name)[edge])

    alone = reach(mood="wonderful")
    assert (
        reach("serotonin", mood="horrible")
        < alone - 0.05
        < alone + 0.02
        < reach("serotonin", mood="wonderful")
    )
    assert reach("serotonin", mood="rainy") == pytest.approx(alone)
