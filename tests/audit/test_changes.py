"""What rose and fell between two audits, and the published form of audit.json."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hebbarium.audit import changes, checks, report, run
from hebbarium.audit import sources as claims
from hebbarium.audit.collect import audit_registry
from hebbarium.audit.rating import Rating
from hebbarium.audit.references import load
from hebbarium.engine.base.errors import DataError
from hebbarium.engine.catalogue.registry import Parameter, Registry

SCHEMA: dict[str, Any] = json.loads(
    (Path(report.__file__).parent / "audit.schema.json").read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def output() -> dict[str, Any]:
    registry = Registry.read()
    result = audit_registry(registry, only=["recency", "base_level_activation_printed"])
    return report.to_json(result, registry, claims.read(registry, load()))


def test_json_has_the_published_form(output: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    plain = json.loads(json.dumps(output, allow_nan=False))
    assert [e.message for e in Draft202012Validator(SCHEMA).iter_errors(plain)] == []
    for path in (
        ("mechanisms", 0, "derived"),
        ("mechanisms", 0, "checks", 0, "score"),
        ("format",),
    ):
        wrong = copy.deepcopy(plain)
        place = wrong
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = "SPLENDID"
        assert not Draft202012Validator(SCHEMA).is_valid(wrong), path


def test_the_schema_lists_every_value_of_the_enumerations() -> None:
    defs = SCHEMA["$defs"]
    for words, place in (
        (checks.CheckKind, defs["check"]["properties"]["kind"]),
        (checks.Score, defs["check"]["properties"]["score"]),
        (run.Fate, defs["mutant"]["properties"]["fate"]),
        (Rating, defs["mechanism"]["properties"]["derived"]),
        (claims.Citation, defs["citation"]),
    ):
        assert place["enum"] == [str(w) for w in words]
    assert set(defs["parameter"]["properties"]) == {"name", *Parameter.model_fields}
    assert SCHEMA["properties"]["format"]["const"] == report.FORMAT


def test_nothing_changed(output: dict[str, Any]) -> None:
    assert changes.compare(output, output).lines() == []


def test_ratings_that_rose_or_fell_and_mechanisms_added_or_removed(output: dict[str, Any]) -> None:
    old, new = copy.deepcopy(output), copy.deepcopy(output)
    old["mechanisms"][0]["derived"], new["mechanisms"][0]["derived"] = "DOCUMENTED", "APPROXIMATION"
    old["mechanisms"][1]["derived"], new["mechanisms"][1]["derived"] = "HONEST", "FAITHFUL"
    first, second = (m["id"] for m in new["mechanisms"])
    new["mechanisms"][0]["checks"][0]["score"], old["mechanisms"][0]["checks"][0]["score"] = (
        "FAIL",
        "PASS",
    )
    new["mechanisms"][1]["static"][0]["score"], old["mechanisms"][1]["static"][0]["score"] = (
        "PASS",
        "ERROR",
    )
    new["mechanisms"].append({**new["mechanisms"][1], "id": "newcomer"})
    old["mechanisms"].append({**old["mechanisms"][1], "id": "goner"})
    broken, mended = (
        new["mechanisms"][0]["checks"][0]["id"],
        new["mechanisms"][1]["static"][0]["id"],
    )
    assert changes.compare(old, new).lines() == [
        f"{first} fell from DOCUMENTED to APPROXIMATION",
        f"{second} rose from HONEST to FAITHFUL",
        f"{first}: {broken} no longer passes",
        f"{second}: {mended} passes now",
        "newcomer is new",
        "goner is gone",
    ]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"mechanisms": [{"id": "x"}]}',
                                  '{"mechanisms": [{"id": "x", "derived": "GOOD", "checks": []}]}',
                                  "\x00"])  # fmt: skip
def test_a_file_that_is_no_audit_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"is no audit\.json") as caught:
        changes.read(tmp_path / "old.json")
    assert "--out" in str(caught.value.cure)
    with pytest.raises(DataError, match="cannot be read"):
        changes.read(tmp_path / "absent.json")
