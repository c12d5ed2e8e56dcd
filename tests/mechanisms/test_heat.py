from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import ACTIVATION
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval import heat as module

IDS = ("dense_similarity", "heat", "convex_fusion")
TEXTS = ("We painted the fence.", "We painted the door.", "We painted the boat.")


def engine(ids: tuple[str, ...]) -> Engine:
    registry = Registry.read()
    made = Engine([registry.instance(id) for id in ids], HashingEmbedder(64))
    made.encode_all(Event(float(i), text) for i, text in enumerate(TEXTS))
    return made


def test_heat_is_the_logistic_of_the_log_odds_and_a_half_without_them() -> None:
    rng = np.random.default_rng(0)
    activation, strength = rng.normal(0, 9, 30), rng.normal(size=30)
    activation[:4], strength[:4] = (800.0, -800.0, -np.inf, np.inf), (0.0, 0.0, np.inf, 0.0)
    heat = np.empty(30)
    module.heat(activation, strength, heat)
    np.testing.assert_allclose(heat[3:], expit(activation[3:] + strength[3:]), rtol=1e-14)
    assert heat[:4].tolist() == [1.0, 0.0, 0.5, 1.0]


@pytest.mark.parametrize("fusion", ["convex_fusion", "weighted_rrf"])
def test_equal_activations_change_no_ranking(fusion: str) -> None:
    with_heat, without = engine((*IDS[:2], fusion)), engine((IDS[0], fusion))
    assert (
        with_heat.retrieve("the painted door", k=3).rows.tolist()
        == without.retrieve("the painted door", k=3).rows.tolist()
    )
    assert with_heat.store.array(module.HEAT).tolist() == [0.5] * 3


def test_of_equal_matches_the_more_active_is_ranked_first() -> None:
    made = Engine([Registry.read().instance(id) for id in IDS], HashingEmbedder(64))
    made.encode_all(Event(0.0, TEXTS[0]) for _ in range(3))
    assert made.retrieve(TEXTS[0], k=3).rows.tolist() == [0, 1, 2]
    made.store.array(ACTIVATION)[1] = 2.0
    assert made.retrieve(TEXTS[0], k=3).rows.tolist() == [1, 0, 2]
