"""The ratings that ship with the package are those that the audit derives."""

from __future__ import annotations

import json

import pytest
from tiers import slow_unless
from typer.testing import CliRunner

from hebbarium.audit import ratings, static
from hebbarium.audit.collect import audit_registry
from hebbarium.audit.declarations import wrong_rows, wrong_upkeep
from hebbarium.audit.ratings import derived, shipped
from hebbarium.cli import app
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry

REGISTRY = Registry.read()
# of which `make test` tries each static check
EVERYDAY = REGISTRY.set("minimal").mechanisms.keys()
# their evidence simulates experiments for two to seven seconds of processor time
LONG = {
    "successor_representation", "pattern_separation", "tripartite_synapse", "sleep_replay_printed",
    "stage_detection", "sleep_pressure", "temporal_index", "sleep_replay",
}  # fmt: skip


def test_shipped_ratings_are_of_registered_mechanisms() -> None:
    """A mechanism without one is printed as not rated until `make ratings` is run."""
    assert set(shipped()) <= set(REGISTRY.entries)


@pytest.mark.parametrize("id", slow_unless(shipped().keys() - LONG, shipped()))
def test_the_shipped_rating_is_the_derived_one(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if id not in EVERYDAY:  # these take a third of the time, and have a test of their own below
        for lives in (wrong_upkeep, wrong_rows):
            monkeypatch.setattr(static, lives.__name__, lambda *of, **options: iter(()))
    assert derived(audit_registry(REGISTRY, only=[id], mutants=False)) == {id: shipped()[id]}, (
        "run `make ratings`"
    )


@pytest.mark.slow
@pytest.mark.parametrize("id", sorted(shipped().keys() - EVERYDAY))
def test_short_lives_find_nothing_wrong(id: str) -> None:
    """The static checks that the test above leaves out."""
    entry = REGISTRY.entry(id)
    assert [*wrong_upkeep(entry, REGISTRY), *wrong_rows(entry, REGISTRY)] == []


def test_mechanisms_without_a_shipped_rating_can_be_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {id: rating for id, rating in shipped().items() if id not in ("recency", "heat")}
    monkeypatch.setattr(ratings, "shipped", lambda: kept)
    for word in ("not rated", "Not Rated"):
        done = CliRunner().invoke(app, ["list", "--rating", word, "--json"], catch_exceptions=False)
        assert {m["id"] for m in json.loads(done.stdout)["mechanisms"]} == {"recency", "heat"}
    with pytest.raises(InputError) as refused:
        CliRunner().invoke(app, ["list", "--rating", "unrated"], catch_exceptions=False)
    assert "not rated" in refused.value.cure
