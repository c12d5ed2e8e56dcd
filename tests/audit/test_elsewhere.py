"""The part of the world where events are told, how far ahead a wrong clock dates them, and attributes
that nobody knows do not count.
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from tiers import later

from hebbarium.audit.declarations import wrong_elsewhere
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine

REGISTRY = Registry.installed()


class Other:
    """A view with other values of some columns."""

    def __init__(self, view: Any, **values: Any) -> None:
        object.__setattr__(self, "_view", view)
        object.__setattr__(self, "_values", values)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._view, name, value)

    def __getattr__(self, name: str) -> Any:
        values = self._values
        return values[name] if name in values else getattr(self._view, name)


def refused(id: str, name: str, wrong: Any) -> str:
    """What is said of a mechanism one of whose hooks is `wrong(original, self, view, what)`."""
    entry = REGISTRY.entry(id)
    assert list(wrong_elsewhere(entry, REGISTRY)) == []
    original = getattr(entry.load(), name)

    @functools.wraps(original)
    def hook(self: Any, view: Any, what: Any) -> None:
        wrong(original, self, view, what)

    with patch.object(entry.load(), name, hook):
        (said,) = wrong_elsewhere(entry, REGISTRY)
    return said


@pytest.mark.parametrize(
    ("id", "name", "column"),
    [
        ("neurogenesis", "experience", "turnover"),
        ("oscillatory_clock", "beat", "theta"),
        # others are like them, and their kernels take seconds to compile
        later("short_term_plasticity", "encode", "last_used"),
        ("base_level_activation", "first_use", "recent_uses"),
        ("curation", "curate", "a link was made"),
        later("microglial_pruning", "encode", "synaptic_use"),
    ],
)
def test_the_time_of_an_event_is_not_the_present(id: str, name: str, column: str) -> None:
    def at_its_time(original: Any, self: Any, view: Any, incoming: Any) -> None:
        original(self, Other(view, now=incoming.event.time), incoming)

    assert column in refused(id, name, at_its_time)


def test_a_session_begins_when_its_first_event_is_told() -> None:
    def at_its_time(original: Any, self: Any, view: Any, incoming: Any) -> None:
        begins = incoming.session != view.theta_session
        original(self, view, incoming)
        if begins:
            view.theta_start = incoming.event.time

    assert "theta" in refused("oscillatory_clock", "beat", at_its_time)


@pytest.mark.kernels
@pytest.mark.parametrize(("id", "name"), [("temporal_index", "keep"), ("temporal_index", "score")])
def test_days_are_those_of_the_clock_of_the_speaker_and_of_the_asker(id: str, name: str) -> None:
    def by_utc(original: Any, self: Any, view: Any, what: Any) -> None:
        original(self, Other(view, utc_offset=np.zeros_like(view.utc_offset)), what)

    assert "differs by where" in refused(id, name, by_utc)


def test_events_are_told_before_1970_as_after_it() -> None:
    def before_time_0(original: Any, self: Any, view: Any, incoming: Any) -> None:
        original(self, view, incoming)
        view.slot[view.row] = int(view.now < 0.0)

    said = refused("engram_allocation_printed", "allocate_slot", before_time_0)
    assert said.startswith("slot differs by where, in what age")


@pytest.mark.parametrize("id", ["ranked_context", "recent_context"])
def test_no_age_is_below_zero(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = REGISTRY.entry(id)
    monkeypatch.setattr(import_module(entry.module), "max", lambda a, b: a, raising=False)
    (said,) = wrong_elsewhere(entry, REGISTRY)
    assert "what is offered" in said


def test_attributes_that_nobody_knows_do_not_count() -> None:
    def by_any(original: Any, self: Any, view: Any, incoming: Any) -> None:
        original(self, view, incoming)
        view.recipient_name[view.row] = len(str(incoming.event.attributes))

    assert "recipient_name" in refused("entity_boost", "note", by_any)


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("id", "name"), [("curation", "retrieve"), ("hebbian_association", "associate")]
)
def test_a_signal_does_not_depend_on_the_filter(id: str, name: str) -> None:
    def of_the_others(original: Any, self: Any, view: Any, cue: Any) -> None:
        visible = view.visible.copy()
        if cue.query.only is not None:
            visible[::3] = False
        original(self, Other(view, visible=visible), cue)

    assert "the asker's filter leaves out" in refused(id, name, of_the_others)


@pytest.mark.parametrize(
    ("id", "name"),
    [
        ("emotional_tagging", "slow_forgetting"),
        # its kernels take seconds to compile
        later("synaptic_tagging", "strengthen"),
    ],
)
def test_strength_counts_from_when_an_event_was_told(id: str, name: str) -> None:
    happened = dict[int, float]()
    encode = Engine.encode

    def told(memory: Engine, event: Event, *more: Any, **others: Any) -> Any:
        encoded = encode(memory, event, *more, **others)
        happened[encoded.row] = event.time
        return encoded

    def when_it_happened(original: Any, self: Any, view: Any, tick: Any) -> None:
        times = np.array([happened[row] for row in range(len(view.arrived))])
        original(self, Other(view, arrived=times), tick)

    with patch.object(Engine, "encode", told):
        assert "counts from when an event happened" in refused(id, name, when_it_happened)
