"""The ratings that ship with the package are those that the audit derives."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hebbarium.audit import ratings, run, static
from hebbarium.audit.checks import Check, Score, evidence_of, judge
from hebbarium.audit.collect import audit_registry, evidence_module, exhibit_of
from hebbarium.audit.findings import known as known_findings
from hebbarium.audit.ratings import derived, findings, shipped
from hebbarium.audit.references import of_registry
from hebbarium.audit.specimen import Specimen
from hebbarium.cli import app
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry

REGISTRY = Registry.read()
# of which `make test` tries each static check
EVERYDAY = REGISTRY.set("minimal").mechanisms.keys()
# the checks that `make test` leaves out, by mechanism; written by docs/tools/dear_checks.py
DEAR = {
    id: ids.split()
    for id, _, ids in (
        line.partition(":")
        for line in Path(__file__).with_name("dear_checks.txt").read_text("utf-8").splitlines()
    )
}
# their kernels take longer in Python than to compile; `make test` runs others in Python
COMPILED = {
    "base_level_activation", "dense_similarity", "emotional_tagging_printed", "heat",
    "lexical_bm25", "recency", "stage_summaries", "trigram_match",
}  # fmt: skip
# short lives, by which the static checks judge declarations and numbers
LIVES = (
    "wrong_signals",
    "wrong_upkeep",
    "wrong_elsewhere",
    "wrong_rows",
    "wrong_ranks",
    "number_differences",
)
OF_LIVES = ("ST-9", "ST-10", "ST-12", "ST-13")


def test_shipped_ratings_are_of_registered_mechanisms() -> None:
    """A mechanism without one is printed as not rated until `make ratings` is run."""
    assert set(shipped()) <= set(REGISTRY.entries)


@pytest.mark.parametrize(
    "id",
    [
        id
        if id in COMPILED
        else pytest.param(id, marks=pytest.mark.slow if id in DEAR else pytest.mark.kernels)
        for id in shipped()
    ],
)
def test_the_shipped_rating_is_the_derived_one(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if id not in EVERYDAY:  # lives take half of the time, and have a test of their own below
        for lives in LIVES:
            monkeypatch.setattr(static, lives, lambda *of, **options: iter(()))
    result = audit_registry(REGISTRY, only=[id], mutants=False)
    assert derived(result) == {id: shipped()[id]}, "run `make ratings`"
    known = {id: known_findings()[id]} if REGISTRY.entry(id).variety_of else {}
    assert findings(result) == known, "run `make ratings`"


def test_a_printed_form_that_fails_more_than_is_known_raises_or_runs_unchecked_fails_the_audit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    id = "base_level_activation_printed"
    first, *others = known_findings()[id]
    known = audit_registry(REGISTRY, only=[id], mutants=False)
    assert known.exit_code == 0 and known.findings
    (form,) = known.mechanisms
    assert form.reach
    hooks = tuple(replace(hook, checks=()) for hook in form.reach.hooks)
    unchecked = replace(form, reach=replace(form.reach, hooks=hooks))
    assert unchecked.changes == tuple(
        f"no engine check that passes runs the hook {hook.name}" for hook in hooks
    )
    raising = tuple(
        replace(check, score=Score.ERROR, note="KeyError: 'x'")
        if check.check.id == first
        else check
        for check in form.checks
    )
    assert replace(form, checks=raising).changes == (f"{first} raises: KeyError: 'x'",)
    monkeypatch.setattr(run, "known_findings", lambda: {id: others})
    assert known.exit_code == 1
    ((of, said),) = known.failures
    assert of == id and f"does not pass {first}, which it did" in said and "make ratings" in said


def test_a_dear_check_is_one_that_can_decide_a_rating() -> None:
    """The test of ratings runs all that `make test` leaves out, in `make test-all`."""
    assert DEAR.keys() <= shipped().keys()
    for id, ids in DEAR.items():
        assert ids and set(ids) <= {check.id for check in gating_checks(id)}, (
            f"run docs/tools/dear_checks.py {id}"
        )


@pytest.mark.kernels
@pytest.mark.parametrize("id", sorted(DEAR))
def test_the_checks_that_are_not_dear_pass(id: str) -> None:
    """Those of a printed form pass, too, but for the ones that it is known to fail."""
    specimen = Specimen(id, import_module(REGISTRY.entry(id).module))
    checks = [check for check in gating_checks(id) if check.id not in DEAR[id]]
    failed = {check.id for check in checks if judge(check, specimen).score is not Score.PASS}
    known = set(known_findings().get(id, ()))
    assert checks and failed == known & {check.id for check in checks}


def gating_checks(id: str) -> list[Check]:
    """The checks of a mechanism's evidence that can decide its rating."""
    module = evidence_module(REGISTRY.entry(id), REGISTRY)
    assert module is not None
    return [check for check in evidence_of(import_module(module)).checks if check.gates]


@pytest.mark.slow
@pytest.mark.parametrize("id", sorted(shipped().keys() - EVERYDAY))
def test_short_lives_find_nothing_wrong(id: str) -> None:
    """The static checks that the test of ratings leaves out."""
    exhibit = exhibit_of(REGISTRY.entry(id), REGISTRY, of_registry(REGISTRY))
    results = [judge(check, exhibit) for check in static.evidence() if check.id in OF_LIVES]
    assert {r.check.id: r.measured for r in results if r.score is not Score.PASS} == {}
    assert len(results) == len(OF_LIVES)


def test_mechanisms_without_a_shipped_rating_can_be_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {id: rating for id, rating in shipped().items() if id not in ("recency", "heat")}
    monkeypatch.setattr(ratings, "shipped", lambda: kept)
    for word in ("not rated", "Not Rated"):
        done = CliRunner().invoke(app, ["list", "--rating", word, "--json"], catch_exceptions=False)
        assert {m["id"] for m in json.loads(done.stdout)["mechanisms"]} == {"recency", "heat"}
    with pytest.raises(InputError) as refused:
        CliRunner().invoke(app, ["list", "--rating", "unrated"], catch_exceptions=False)
    assert "not rated" in refused.value.cure
