"""Sources of contexts name nobody of whom only events tell that the asker's filter leaves out, and the
rank of these events counts nowhere.
"""

from __future__ import annotations

import functools
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from tiers import later

from hebbarium.audit.declarations import MARK, wrong_contexts, wrong_ranks
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract import vocabulary as v
from hebbarium.engine.text.words import fold
from hebbarium.mechanisms.retrieval import entity_context

REGISTRY = Registry.installed()
SOURCES = tuple(
    id
    for id, entry in REGISTRY.entries.items()
    if any(v.OFFERS in declared.adds for declared in entry.load().hooks())
)


class Unfiltered:
    """A view in which all memories may be answered."""

    def __init__(self, view: Any) -> None:
        object.__setattr__(self, "_view", view)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._view, name, value)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._view, name)
        return np.ones_like(value) if name == "answerable" else value


# the short talk has no stage that is summarised, so that a summary of one can name nobody
@pytest.mark.parametrize("id", [id for id in SOURCES if id != "stage_summaries"])
def test_a_source_that_ignores_the_filter_is_refused(id: str) -> None:
    entry = REGISTRY.entry(id)
    assert list(wrong_contexts(entry, REGISTRY)) == []
    plug_in = entry.load()
    name = next(d.name for d in plug_in.hooks() if v.OFFERS in d.adds)
    original = getattr(plug_in, name)

    @functools.wraps(original)
    def offer(self: Any, view: Any, cue: Any) -> None:
        original(self, Unfiltered(view), cue)

    with patch.object(plug_in, name, offer):
        (said,) = wrong_contexts(entry, REGISTRY)
    assert fold(MARK) in fold(said)


def test_a_filter_leaves_out_what_is_archived_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The salience of an entity counts all memories that mention it."""
    original = entity_context.saliences

    def of_all(*given: Any) -> None:
        *before, answerable, out = given
        original(*before, np.ones_like(answerable), out)

    monkeypatch.setattr(entity_context, "saliences", of_all)
    (said,) = wrong_contexts(REGISTRY.entry("entity_context"), REGISTRY)
    assert "what a filter leaves out is archived" in said or fold(MARK) in fold(said)


@pytest.mark.parametrize(
    ("id", "name"),
    [
        ("adjacent_stages", "offer"),
        # the kernel of rerankers takes a second to compile, and `own_stage` is like them
        later("cross_encoder_rerank", "rerank"),
        ("entity_boost", "boost"),
        later("late_interaction_rerank", "rerank"),
        ("own_stage", "offer"),
        ("ranked_context", "offer"),
        ("recent_context", "offer"),
        ("relation_context", "offer"),
    ],
)
def test_the_rank_of_what_is_filtered_does_not_count(id: str, name: str) -> None:
    entry = REGISTRY.entry(id)
    assert list(wrong_ranks(entry, REGISTRY)) == []
    original = getattr(entry.load(), name)

    @functools.wraps(original)
    def unfiltered(self: Any, view: Any, cue: Any) -> None:
        original(self, Unfiltered(view), cue)

    with patch.object(entry.load(), name, unfiltered):
        (said,) = wrong_ranks(entry, REGISTRY)
    assert "the asker's filter leaves out" in said
