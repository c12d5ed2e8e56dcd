"""Importance in the sets of source systems: tagging fires, the cascade advances, hostile texts are
judged.
"""

from __future__ import annotations

import numpy as np
import pytest
from tiers import slow_unless

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder

REGISTRY = Registry.read()
# each set has kernels of its own, which take longer to compile than six events
pytestmark = pytest.mark.kernels
SOURCES = ("cortex", "cortex_as_printed", "stages", "context_spec", "true_memory",
           "true_memory_code", "true_memory_gated")  # fmt: skip
SAID = (
    "Ada read about Redis and Postgres in the train to Graz.",
    "Redis keeps the sessions of the shop for 30 minutes.",
    "What does Mira think of Postgres?",
    "We decided on a new design of sessions after the crash: Postgres replaces Redis in `auth/session.py`.",
    "The garden of the office is full of tomatoes.",
    "Production is down: Redis crashed with a timeout in `auth/pool.py`, we switched the design to Postgres.",
)
STRONG, NAMED, APART = [3, 5], [0, 1, 2], [4]


def lived(name: str, *without: str) -> Engine:
    """A memory of the six events, 200 h later."""
    memory = Engine(REGISTRY.build(REGISTRY.set(name).without(without)), HashingEmbedder(64))
    memory.encode_all(
        Event(9000.0 + 3.0 * i, text, "Ada", "S1", dated=False) for i, text in enumerate(SAID)
    )
    memory.advance(9200.0)
    return memory


def test_in_the_printed_cortex_important_memories_consolidate_and_raise_their_neighbours() -> None:
    memory, without = (lived("cortex_as_printed", *off) for off in ((), ("event_importance",)))
    entered, heat = memory.column("stage_entered"), memory.column("printed_tagging_heat")
    assert np.isfinite(entered[STRONG]).all() and np.isnan(entered[NAMED + APART, 1:]).all()
    assert (heat[NAMED] == 1.5**2).all() and (heat[STRONG + APART] == 1.0).all()
    assert np.isnan(without.column("stage_entered")[:, 1:]).all(), "all six stay LABILE"
    assert (without.column("printed_tagging_heat") == 1.0).all()


@pytest.mark.slow
def test_in_cortex_important_memories_have_a_late_phase_and_others_have_none() -> None:
    memory = lived("cortex")
    late, worth = memory.column("late_phase"), memory.column("importance")
    assert worth[STRONG].min() > 0.7 > 0.5 > worth[NAMED + APART].max()
    assert late[STRONG].min() > 0.5 > 0.01 > late[NAMED + APART].max()


@pytest.mark.parametrize("name", slow_unless({"context_spec", "true_memory"}, SOURCES))
def test_every_set_of_a_source_judges_every_event(name: str) -> None:
    memory = Engine(REGISTRY.build(REGISTRY.set(name)), HashingEmbedder(64))
    for hour, text in enumerate(("We decided to sell the boat.", "What is the time in Oslo?")):
        memory.encode(Event(float(hour), text, dated=False))
    worth = memory.column("importance")
    assert worth.size and 0.5 not in worth and (np.diff(worth) < 0.0).all(), "a gate may refuse"


def test_hostile_texts_are_judged_within_bounds() -> None:
    memory = Engine((REGISTRY.instance("event_importance"),), HashingEmbedder(8))
    texts = ("", "\0", "error " * 20_000, "not " * 20_000 + "good", "1 " * 20_000, "@" * 9_000,
             "ERROR: \U0001f4a5" * 900, "не работает", "decided" * 9_000)  # fmt: skip
    for hour, text in enumerate(texts):
        memory.encode(Event(float(hour), text, dated=False))
    worth, valence = memory.column("importance"), memory.column("valence")
    assert ((worth >= 0.0) & (worth <= 1.0)).all() and (np.abs(valence) <= 1.0).all()
