"""What an entry stated it states, until the record is written anew."""

from __future__ import annotations

from typing import Any

import pytest

from hebbarium.audit import static
from hebbarium.audit.behaviour import phenomena
from hebbarium.audit.checks import Score, judge
from hebbarium.audit.collect import exhibit_of
from hebbarium.audit.facts import facts
from hebbarium.audit.ratings import shipped as ratings
from hebbarium.audit.references import of_registry
from hebbarium.audit.statements import missing, shipped, stated, write, written
from hebbarium.audit.static import Exhibit
from hebbarium.engine.catalogue.registry import Departure, Entry, Registry

REGISTRY = Registry.read()
STATEMENTS = ("departures", "proxies", "forms")


def of(entry: Entry) -> list[str]:
    return list(missing(entry, shipped()[entry.id]))


def test_every_entry_states_what_is_recorded() -> None:
    """`make ratings` records what is stated."""
    assert set(shipped()) == set(REGISTRY.entries)
    assert {id: said for id in shipped() if (said := of(REGISTRY.entry(id)))} == {}


@pytest.mark.parametrize("kind", (*STATEMENTS, "phenomena"))
def test_a_statement_that_is_left_out_is_seen(kind: str) -> None:
    """Each one of each entry."""
    for entry in REGISTRY.entries.values():
        statements = getattr(entry, kind)
        for place in range(len(statements)):
            rest = (*statements[:place], *statements[place + 1 :])
            assert of(entry.model_copy(update={kind: rest})), statements[place]


@pytest.mark.parametrize("kind", STATEMENTS)
def test_no_statement_that_is_left_out_raises_a_rating(kind: str) -> None:
    """Nor are all of those that lower."""
    documented = [
        e for e in REGISTRY.entries.values() if ratings()[e.id] == "DOCUMENTED" and not e.variety_of
    ]
    for entry in documented:
        behaviour, statements = phenomena(entry, REGISTRY), getattr(entry, kind)
        for place in range(len(statements)):
            rest = (*statements[:place], *statements[place + 1 :])
            assert facts(entry.model_copy(update={kind: rest}), None, behaviour), statements[place]
        harmless = tuple(d for d in entry.departures if d.kind == "none")
        talked_up = {"departures": harmless, "proxies": (), "forms": ()}
        assert facts(entry.model_copy(update=talked_up), None, behaviour), entry.id


def milder(entry: Entry) -> dict[str, Any]:
    first, *others = entry.departures
    return {"departures": (first.model_copy(update={"kind": "none"}), *others)}


@pytest.mark.parametrize(
    ("id", "wrong", "output"),
    [
        ("temporal_context", milder, "0 departures of the kind addition are stated, of 1"),
        ("lexical_bm25", milder, "4 departures of the kind form are stated, of 5"),
        ("stage_detection", lambda e: {"departures": ()}, "departures of the kind form are stated"),
        (
            "sleep_pressure",
            lambda e: {"read": dict.fromkeys(e.papers, "paper")},
            "was read is now 'paper', and was 'reimplementation'",
        ),
    ],
)
def test_what_is_missing_is_said(id: str, wrong: Any, output: str) -> None:
    entry = REGISTRY.entry(id)
    said = of(entry.model_copy(update=wrong(entry)))
    assert any(output in sentence for sentence in said), said


def test_what_is_added_or_lowered_needs_no_record() -> None:
    entry = REGISTRY.entry("lexical_bm25")
    more = (*entry.departures, Departure(what="w", why="y", kind="form"))
    lower = entry.model_copy(update={"departures": more, "read": {}})
    assert of(lower) == [] and list(missing(entry, None)) == []


def test_a_static_check_compares_with_the_record() -> None:
    check = next(c for c in static.evidence() if c.id == "ST-8")
    sound = exhibit_of(REGISTRY.entry("recency"), REGISTRY, of_registry(REGISTRY))
    silent = sound.entry.model_copy(update={"departures": ()})
    assert judge(check, sound).score is Score.PASS
    result = judge(check, Exhibit(silent, sound.module, sound.references, REGISTRY))
    assert result.score is Score.FAIL and "0 departures of the kind none" in result.measured


def test_the_record_is_read_as_it_is_written(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hebbarium.audit.statements.FILE", tmp_path / "statements.json")
    shipped.cache_clear()
    try:
        write(REGISTRY)
        assert set(shipped()) == set(written(REGISTRY))
        for id, record in shipped().items():
            now = stated(REGISTRY.entry(id))
            assert record.departures == now.departures
            assert record.read == {k: how for k, how in now.read.items() if how != "paper"}
    finally:
        monkeypatch.undo()
        shipped.cache_clear()
