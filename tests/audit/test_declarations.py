"""Wrong declarations of columns and of rest, each of which the static checks reject."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from tiers import later, slow_unless

from hebbarium.audit.declarations import (
    wrong_archived_rows,
    wrong_few_rows,
    wrong_kinds,
    wrong_made_rows,
    wrong_rest,
    wrong_state_of_archived_rows,
    wrong_upkeep,
)
from hebbarium.audit.declarations.kinds import asks_for_events_alone
from hebbarium.audit.life import Circumstances, company, lived, observed
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Column
from hebbarium.engine.contract.drafts import Kind
from hebbarium.engine.contract.hooks import ReadingMethod
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.state.ranking import best

REGISTRY = Registry.read()


@contextmanager
def kept(column: Column, **fields: Any) -> Iterator[None]:
    """The column as if its upkeep were declared otherwise."""
    before = column.upkeep
    object.__setattr__(column, "upkeep", replace(before, **fields))
    try:
        yield
    finally:
        object.__setattr__(column, "upkeep", before)


def column_of(id: str, name: str) -> Column:
    return next(
        c for c in REGISTRY.entry(id).load().owns if isinstance(c, Column) and c.name == name
    )


# --- the life ---------------------------------------------------------------------------------------
def test_a_life_is_the_same_twice_and_another_with_another_number() -> None:
    once, twice = (observed(lived(REGISTRY, "recency")) for _ in range(2))
    assert once == twice
    other = observed(lived(REGISTRY, "recency", Circumstances(choices={"half_life": 90.0})))
    assert {name for name in once if once[name] != other[name]} and once["rows"] == other["rows"]


def test_what_is_needed_of_a_life_is_as_if_all_was_seen() -> None:
    memory = lived(REGISTRY, "recency")
    everything = observed(memory)
    needed = {"recency, question 1: places", "last_access: sum"}
    some = observed(memory, needed)
    assert needed <= some.keys() and len(some) < len(everything) / 4
    assert some == {name: everything[name] for name in some}


def test_the_company_sets_no_column_that_the_mechanism_sets() -> None:
    """Two fusions cannot stand in one memory."""
    assert "weighted_rrf" in {m.id for m in company(REGISTRY, "recency")}
    assert "weighted_rrf" not in {m.id for m in company(REGISTRY, "rational_fusion")}
    assert "recency" not in {m.id for m in company(REGISTRY, "recency", "waking")}


def in_python(*case: Any) -> Any:
    """A case whose kernels take longer to compile than they do."""
    return pytest.param(*case, marks=pytest.mark.kernels)


# --- columns ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("id", "name", "fields", "output"),
    [
        (
            "recency",
            "last_access",
            {"clock": False},
            "not declared a reading of the clock, and goes",
        ),
        later("base_level_activation", "recent_uses", {"clock": False}, "not declared a reading"),
        later("testing_effect", "tested", {"clock": False}, "not declared a reading of the clock"),
        later("microglial_pruning", "complement", {"clock": True}, "does not go with it"),
        later("systems_transfer", "cortical_trace", {"chained": True}, "is no factor from 0 to 1"),
        ("recency", "last_access", {"chained": True}, "is no factor from 0 to 1"),
        later(
            *("temporal_context", "context_retention", {"chained": False}),
            "nearer to the whole memory",
        ),
        ("adjacency_pairs", "answers", {"rows": None}, "not declared to hold numbers of rows"),
        later("curation", "repeats", {"rows": None}, "not declared to hold numbers of rows"),
        ("event_ordering", "exchange", {"rows": None}, "not declared to hold numbers of rows"),
        later(
            "systems_transfer", "gist_theme", {"rows": ...}, "does not grow with the rows before"
        ),
        later(
            *("temporal_context", "context_cues", {"rows": None}),
            "not declared to hold numbers of rows",
        ),
        later(
            *("adjacency_pairs", "answers", {"considered": True}),
            "raises memories by those that match",
        ),
        ("instruction_detection", "standing", {"considered": False}, "and is not considered"),
        ("recency", "last_access", {"considered": True}, "are not those that are raised"),
    ],
)
def test_a_column_is_kept_as_it_needs(
    id: str, name: str, fields: dict[str, Any], output: str
) -> None:
    entry, column = REGISTRY.entry(id), column_of(id, name)
    assert list(wrong_upkeep(entry, REGISTRY)) == []
    with kept(column, **fields):
        said = list(wrong_upkeep(entry, REGISTRY))
    assert any(output in sentence for sentence in said), said


# --- rest -------------------------------------------------------------------------------------------
def always(self: Any, view: Any, tick: Any) -> bool:
    return True


def never(self: Any, view: Any, tick: Any) -> bool:
    return False


@pytest.mark.parametrize(
    ("id", "answer", "output"),
    [
        ("fact_timeline", always, "the next sleep changes"),
        in_python("synaptic_tagging", always, "the next sleep changes"),
        later("microglial_pruning", always, "the next sleep changes"),
        later("systems_transfer", always, "the next sleep changes"),
        # what they read of strength changes with time
        in_python("gist_compression", always, "the next sleep changes detail"),
        later("homeostatic_scaling", always, "the next sleep changes scaling"),
        # the rows that it makes
        ("stage_summary", always, "the next sleep changes rows"),
        # where a language model is asked
        ("typed_relations", always, "the next sleep changes triples_until"),
        later("synaptic_tagging", never, "does not say that it is at rest"),
        ("fact_timeline", never, "does not say that it is at rest"),
    ],
)
def test_rest_is_rest(monkeypatch: pytest.MonkeyPatch, id: str, answer: Any, output: str) -> None:
    entry = REGISTRY.entry(id)
    assert list(wrong_rest(entry, REGISTRY)) == []
    monkeypatch.setattr(entry.load(), "says", answer, raising=False)
    monkeypatch.setattr(entry.load(), "_rests", (ReadingMethod("says", (), answer),))
    said = list(wrong_rest(entry, REGISTRY))
    assert any(output in sentence for sentence in said), said


def test_the_tags_of_the_most_salient_events_keep_a_memory_from_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Proteins are made for a shorter time than tags last."""
    entry = REGISTRY.entry("synaptic_tagging")
    module = import_module(entry.module)

    def captured(self: Any, view: Any, tick: Any) -> bool:
        longest = module.above(self.induction(1.0), self.params.theta_pro, self.decay)
        return bool(view.arrived[-1] + longest < tick.end)

    monkeypatch.setattr(entry.load(), "captured", wraps(entry.load().captured)(captured))
    assert any("late_phase" in sentence for sentence in wrong_rest(entry, REGISTRY))


# --- rows that are not events, and rows that are not answered ---------------------------------------
def whoever_is_visible(score: Any, visible: Any, k: int) -> Any:
    """The wrong version of `best` that takes archived rows, too."""
    return best(score, np.ones_like(visible), k)


@pytest.mark.parametrize(
    "id", ["curation", "engram_allocation", in_python("dendritic_integration"), "temporal_context"]
)
def test_archived_rows_that_match_change_nothing(monkeypatch: pytest.MonkeyPatch, id: str) -> None:
    entry = REGISTRY.entry(id)
    assert list(wrong_archived_rows(entry, REGISTRY)) == []
    monkeypatch.setattr(import_module(entry.module), "best", whoever_is_visible)
    assert any("archived" in sentence for sentence in wrong_archived_rows(entry, REGISTRY))


@pytest.mark.parametrize(
    "id", slow_unless({"spreading_activation"}, ["spreading_activation", "sleep_replay"])
)
def test_made_rows_are_no_events(monkeypatch: pytest.MonkeyPatch, id: str) -> None:
    entry = REGISTRY.entry(id)
    assert list(wrong_made_rows(entry, REGISTRY)) == []
    monkeypatch.setattr(
        import_module(entry.module), "events", lambda kind: np.arange(len(kind), dtype=np.int64)
    )
    assert any("sleep made" in sentence for sentence in wrong_made_rows(entry, REGISTRY))


def written_otherwise(monkeypatch: pytest.MonkeyPatch, id: str, right: str, wrong: str) -> None:
    """The class of a mechanism as if its source had something else in one place."""
    entry = REGISTRY.entry(id)
    module, source = import_module(entry.module), inspect.getsource(entry.load())
    assert source.count(right) == 1
    names = dict(vars(module))
    exec(source.replace(right, wrong), names)
    name = entry.path.partition(":")[2]
    monkeypatch.setattr(module, name, names[name])


@pytest.mark.parametrize(
    ("id", "right", "wrong", "output"),
    [
        later("temporal_context", " & (view.kind == 0)", "", "context of events differs"),
        ("fact_timeline", "draft.maker == self.id", "draft.sources", "cluster_summary of events"),
    ],
)
def test_rows_of_another_maker_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, id: str, right: str, wrong: str, output: str
) -> None:
    """The wrong versions take a made row for the last event of a session, and the summary of
    another maker for their own.
    """
    entry = REGISTRY.entry(id)
    assert list(wrong_made_rows(entry, REGISTRY)) == []
    written_otherwise(monkeypatch, id, right, wrong)
    said = list(wrong_made_rows(entry, REGISTRY))
    assert any(output in sentence for sentence in said), said


def test_a_memory_may_have_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = REGISTRY.entry("hopfield_completion")
    assert list(wrong_few_rows(entry, REGISTRY)) == []
    guard = "        if not rows.size:\n            return\n"
    written_otherwise(monkeypatch, entry.id, guard, "")
    # plain Python fails in the kernel, machine code after it
    with pytest.raises((IndexError, ValueError)):
        list(wrong_few_rows(entry, REGISTRY))


def test_a_memory_of_archived_rows_answers_nothing_and_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry, retrieve = REGISTRY.entry("recency"), Engine.retrieve
    assert list(wrong_few_rows(entry, REGISTRY)) == []
    with monkeypatch.context() as patch:
        patch.setattr(Engine, "archive", lambda self, row: None)
        assert list(wrong_few_rows(entry, REGISTRY)) == [
            "a question to a memory of few rows is answered by 1 rows"
        ]

    def learning(self: Engine, *question: Any) -> Any:
        return retrieve(self, *question, learn=True)

    monkeypatch.setattr(Engine, "retrieve", learning)
    (said,) = wrong_few_rows(entry, REGISTRY)
    assert said.startswith("a question to a memory of few rows changes ")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("(view.note[:row] >= 0) & view.visible[:row]", "view.note[:row] >= 0"),
        ("among = view.visible & (view.note >= 0)", "among = view.note >= 0"),
    ],
)
def test_what_is_held_of_archived_rows_does_not_count(
    monkeypatch: pytest.MonkeyPatch, right: str, wrong: str
) -> None:
    """The wrong versions link new notes to archived ones, and let archived ones lend."""
    entry = REGISTRY.entry("evolving_notes")
    assert list(wrong_state_of_archived_rows(entry, REGISTRY)) == []
    written_otherwise(monkeypatch, entry.id, right, wrong)
    said = list(wrong_state_of_archived_rows(entry, REGISTRY))
    assert any("what is held of archived rows" in sentence for sentence in said), said


def test_a_mechanism_for_which_archived_rows_count_says_so() -> None:
    entry = REGISTRY.entry("speaker_engram")
    assert list(wrong_state_of_archived_rows(entry, REGISTRY)) == []
    silent = entry.model_copy(update={"departures": ()})
    assert any("archived rows" in s for s in wrong_state_of_archived_rows(silent, REGISTRY))


def test_a_printed_form_for_which_archived_rows_count_says_so() -> None:
    entry = REGISTRY.entry("sleep_orthogonalisation_printed")
    assert list(wrong_state_of_archived_rows(entry, REGISTRY)) == []
    params = {name: p.model_copy(update={"note": ""}) for name, p in entry.params.items()}
    silent = entry.model_copy(update={"params": params})
    (said,) = wrong_state_of_archived_rows(silent, REGISTRY)
    assert said == "pushed_code depends on what is held of archived rows"


@pytest.mark.parametrize("kind", [Kind.SEGMENT, Kind.BUNDLE])
def test_rows_that_are_no_events_are_alike(monkeypatch: pytest.MonkeyPatch, kind: Kind) -> None:
    """The wrong version takes rows of one kind for events."""
    entry = REGISTRY.entry("spreading_activation")
    assert list(wrong_kinds(entry, REGISTRY)) == []
    monkeypatch.setattr(
        import_module(entry.module),
        "events",
        lambda kinds: np.flatnonzero(np.isin(kinds, (0, kind))),
    )
    assert any("differs with the kind" in sentence for sentence in wrong_kinds(entry, REGISTRY))


@pytest.mark.parametrize(
    ("right", "other"),
    [
        ("view.kind == 0", "view.kind == 0"),
        ("view.kind == 0", "view.kind == Kind.SUMMARY"),
        ("view.kind == 0", "view.kind > 0"),
        ("view.kind == 0", "events(view.kind)"),
        ("view.kind == 0", "present(view)"),
        ("view.kind == 0", "getattr(view, 'kind') == 0"),
    ],
)
def test_a_source_shows_whether_kinds_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, right: str, other: str
) -> None:
    entry = REGISTRY.entry("primacy_gradient")
    source = inspect.getsource(import_module(entry.module))
    assert right in source
    monkeypatch.setattr(inspect, "getsource", lambda module: source.replace(right, other))
    assert asks_for_events_alone(entry) == (other == right)


def test_a_mechanism_for_which_kinds_count_says_so() -> None:
    entry = REGISTRY.entry("own_stage")
    assert list(wrong_kinds(entry, REGISTRY)) == []
    silent = entry.model_copy(update={"acts_on": "OFFERS"})
    assert any("differs with the kind" in sentence for sentence in wrong_kinds(silent, REGISTRY))
