"""The ratings that ship with the package are those that the audit derives."""
from __future__ import annotations

import pytest

from hebbarium.audit.collect import audit_registry
from hebbarium.audit.ratings import derived, shipped
from hebbarium.engine.registry import Registry

REGISTRY = Registry.read()


def test_shipped_ratings_are_of_registered_mechanisms() -> None:
    """A mechanism without one is printed as not rated until `make ratings` is run."""
    assert set(shipped()) <= set(REGISTRY.entries)


@pytest.mark.parametrize("id", shipped())
def test_the_shipped_rating_is_the_derived_one(id: str) -> None:
    assert derived(audit_registry(REGISTRY, only=[id], mutants=False)) == {id: shipped()[id]}, "run `make ratings`"
