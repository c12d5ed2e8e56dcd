"""Rows of which a mechanism holds nothing get nothing from it."""

from __future__ import annotations

from typing import Any

import pytest

from hebbarium.audit.declarations import wrong_unheld
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Column

REGISTRY = Registry.installed()


@pytest.mark.parametrize(
    ("id", "name", "neutral"),
    [
        ("answer_type", "states_quantity", True),
        ("asker_prior", "role", 1),
        ("primacy_gradient", "primacy", 2.0),
        ("titans_memory", "titans_unforeseen", 0.0),
        ("curation", "restated", 3),
    ],
)
def test_a_neutral_value_that_says_something_is_refused(id: str, name: str, neutral: Any) -> None:
    entry = REGISTRY.entry(id)
    assert list(wrong_unheld(entry, REGISTRY)) == []
    (column,) = (c for c in entry.load().owns if isinstance(c, Column) and c.name == name)
    before = column.neutral
    object.__setattr__(column, "neutral", neutral)
    try:
        (said,) = wrong_unheld(entry, REGISTRY)
    finally:
        object.__setattr__(column, "neutral", before)
    assert "of which it holds nothing" in said
