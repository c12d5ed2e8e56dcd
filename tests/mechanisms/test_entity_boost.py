"""Entity boost: compiled and plain kernels agree, hostile names and questions, and the people
named in the set true_memory_code.
"""

from __future__ import annotations

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval.entity_boost import add_boosts

REGISTRY = Registry.read()


@pytest.mark.slow
def test_kernel_compiled_equals_plain() -> None:
    rng = np.random.default_rng(0)
    involved, mentioned, out, plain = (
        rng.random(30) < 0.5,
        rng.random(30) < 0.5,
        np.zeros(30, np.float32),
        np.zeros(30, np.float32),
    )
    add_boosts(involved, mentioned, 0.3, 0.2, -0.15, out)
    add_boosts.py_func(involved, mentioned, 0.3, 0.2, -0.15, plain)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(out, plain)


@pytest.mark.parametrize("name", ["", " ", "\ud800", "x " * 10_000, "Æ" * 10_000, "user"])
def test_hostile_names_and_questions(name: str) -> None:
    made = Engine(
        [REGISTRY.instance("entity_boost"), REGISTRY.instance("lexical_bm25")], HashingEmbedder(16)
    )
    assert made.retrieve(f"what did {name} say?").rows.size == 0
    made.encode_all(
        (
            Event(0.0, "We dug the garden", name),
            Event(1.0, "Rain", "Bo", attributes=(("recipient", name),)),
        )
    )
    before = made.digest()
    assert (
        len(made.retrieve(f"what did {name} say?").rows)
        == len(made.retrieve("what did Bo say?").rows)
        == 2
    )
    assert made.digest() == before


def test_who_is_named_decides_between_equal_texts() -> None:
    made = Engine(
        [REGISTRY.instance("entity_boost"), REGISTRY.instance("lexical_bm25")], HashingEmbedder(16)
    )
    made.encode_all(
        Event(float(i), "The boat was sold", who, dated=False)
        for i, who in enumerate(("Ada", "Bo", "Cleo"))
    )
    assert [
        int(made.retrieve(f"Who told {who} that the boat was sold?").rows[0])
        for who in ("Cleo", "Bo", "Ada")
    ] == [2, 1, 0]


def test_true_memory_code_alone_has_it() -> None:
    assert [
        name for name, chosen in REGISTRY.sets.items() if "entity_boost" in chosen.mechanisms
    ] == ["true_memory_code"]
