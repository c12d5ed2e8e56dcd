"""The record of a cell: every field enters the key, and what a user may set is an option of both
commands and stands in the manifest.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest

from hebbarium.benchmarks.datasets import Dataset
from hebbarium.benchmarks.designs import Arm
from hebbarium.benchmarks.execution.plan import planned, specs_of
from hebbarium.benchmarks.execution.spec import (
    DEFAULTS,
    RunSpec,
    Settings,
    manifest,
    options,
    parameters,
    settings_of,
)
from hebbarium.cli.app import command_line, main
from hebbarium.engine.base.errors import InputError, RegistryError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

SPEC = RunSpec(
    set="small",
    dataset="tiny",
    sha256="0" * 64,
    conversation="one",
    arm="full",
    embedder="hashing",
    embedder_revision="1-32",
    embedder_dimensions=32,
    mechanisms={"recency": {"time_scale": 1.0, "weight": 0.2}},
    set_digest="1" * 64,
    registry_digest="2" * 64,
    system_revision="",
    code="0.1.0+abc",
    versions={"numpy": "2.4.0"},
)


def changed(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, Mapping):
        return {**value, "heat": {"weight": 1.0}}
    if isinstance(value, tuple):
        return (*value, "heat")
    return 24.0 if value is None else value + ("x" if isinstance(value, str) else 1)


# --- the key --------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", [f.name for f in fields(RunSpec)])
def test_a_change_of_any_field_changes_the_key(name: str) -> None:
    other = replace(SPEC, **{name: changed(getattr(SPEC, name))})
    assert other.key() != SPEC.key()
    assert replace(other, **{name: getattr(SPEC, name)}).key() == SPEC.key()


def test_changes_of_different_fields_never_meet_in_one_key() -> None:
    keys = [
        replace(SPEC, **{f.name: changed(getattr(SPEC, f.name))}).key() for f in fields(RunSpec)
    ]
    assert len({SPEC.key(), *keys}) == len(fields(RunSpec)) + 1


def test_a_parameter_deep_inside_changes_the_key() -> None:
    assert (
        replace(SPEC, mechanisms={"recency": {"time_scale": 1.0, "weight": 0.25}}).key()
        != SPEC.key()
    )
    assert (
        replace(SPEC, param={"recency": {"weight": 1}}).key()
        != replace(SPEC, param={"recency": {"weight": 2}}).key()
    )


def test_a_field_added_later_enters_the_key_and_the_manifest_unasked() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Longer(RunSpec):
        temperature: float = 0.0

    given = {f.name: getattr(SPEC, f.name) for f in fields(SPEC)}
    cold, warm = Longer(**given), Longer(**given, temperature=0.7)
    assert len({SPEC.key(), cold.key(), warm.key()}) == 3
    assert manifest([warm], Dataset("tiny", "0" * 64, (), {}), {})["temperature"] == 0.7


# --- from arms to records -------------------------------------------------------------------------
def test_records_hold_what_the_registry_resolves(registry: Registry, tiny: Dataset) -> None:
    chosen = MechanismSet("mine", "", {"lexical_bm25": {"b": 0.5}})
    arms = [Arm("full", chosen), Arm("other", chosen.overridden({"lexical_bm25": {"b": 0.6}}))]
    specs = specs_of(
        planned(arms, registry, Settings(seed=3, unit="session")),
        tiny,
        CachedEmbedder(HashingEmbedder(32), None),
    )
    assert [(s.arm, s.conversation) for s in specs] == [
        (a, c.id) for a in ("full", "other") for c in tiny.conversations
    ]
    declared = registry.entry("lexical_bm25").params
    assert specs[0].mechanisms == {
        "lexical_bm25": {"time_scale": 1.0, **{n: p.value for n, p in declared.items()}, "b": 0.5}
    }
    assert (specs[0].seed, specs[0].unit, specs[0].dataset, specs[0].sha256) == (
        3,
        "session",
        "tiny",
        tiny.sha256,
    )
    assert (specs[0].embedder, specs[0].embedder_dimensions, specs[0].registry_digest) == (
        "hashing",
        32,
        registry.digest,
    )
    assert (
        len({s.key() for s in specs}) == len(specs) and specs[0].set_digest != specs[-1].set_digest
    )


def test_settings_change_the_set_they_are_applied_to() -> None:
    chosen = MechanismSet("mine", "", {"lexical_bm25": {"b": 0.5, "k1": 1.0}, "recency": {}})
    settings = Settings(without=("recency",), param={"lexical_bm25": {"b": 0.9}})
    assert (
        settings.applied(chosen).mechanisms == {"lexical_bm25": {"b": 0.9, "k1": 1.0}}
        and DEFAULTS.applied(chosen) == chosen
    )


def test_a_set_belongs_to_our_system_and_to_no_other() -> None:
    chosen, other = MechanismSet("mine", "", {"recency": {}}), Settings(system="a:B")
    for settings, given, word in (
        (DEFAULTS, None, "no mechanism set"),
        (other, chosen, "--set"),
        (replace(other, without=("recency",)), None, "--without"),
        (replace(other, param={"recency": {}}), None, "--param"),
    ):
        with pytest.raises(InputError, match=word) as caught:
            settings.check_set(given)
        assert caught.value.cure
    DEFAULTS.check_set(chosen)
    other.check_set(None)


@pytest.mark.parametrize(
    "text", ["b", "b=1", "lexical_bm25.b", "lexical_bm25.b=", ".b=1", "lexical_bm25.=1"]
)
def test_an_odd_parameter_is_refused(text: str) -> None:
    with pytest.raises(RegistryError, match="no parameter"):
        parameters([text])


# --- the options ----------------------------------------------------------------------------------
@pytest.mark.parametrize("command", ["run", "ablate"])
def test_what_a_user_may_set_is_an_option_of_both_commands(command: str) -> None:
    """Every field of Settings, and what names the set, the data, the embedder, the language
    model and its transcript.
    """
    assert set(options()) == {f.name for f in fields(Settings)} | {
        "set",
        "dataset",
        "embedder",
        "language_model",
        "transcript",
    }
    flags = {flag: p for p in command_line().commands[command].params for flag in p.opts}
    for name, option in options().items():
        assert flags[option.flag].name == name and flags[option.flag].help == option.help
        named_by_a_design = command == "ablate" and name == "dataset"
        assert flags[option.flag].required == (option.default is ... and not named_by_a_design)


def test_settings_of_no_option_are_the_defaults() -> None:
    assert settings_of({name: option.default for name, option in options().items()}) == DEFAULTS


BASELINE = "hebbarium.benchmarks.systems.bm25_dense:BM25Dense"
GIVEN: dict[str, tuple[str, Any]] = {       # field -> what is typed, what the manifest has
    "set": ("minimal", "minimal"), "dataset": ("demo", "demo"), "embedder": ("hashing:64",
    "hashing"),
    "unit": ("session", "session"), "match": ("session", "session"), "seed": ("3", 3),
    "without": ("heat", ["heat"]), "param": ("lexical_bm25.b=0.5", {"lexical_bm25": {"b": 0.5}}),
    "rehearse": ("2.5", 2.5),
    "feedback": ("none", "none"),
    "allow_missing_gold": ("", True), "context": ("64,16", [16, 64]), "strategy": ("everything",
    "everything"),
    "language_model": ("openai:small", "openai:small"), "transcript": ("t.sqlite", "recording:")}  # fmt: skip
OTHER = {
    "system": (BASELINE, BASELINE),
    **{
        name: GIVEN[name]
        for name in ("dataset", "embedder", "unit", "match", "seed", "allow_missing_gold")
    },
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "given"),
    [("run", GIVEN), ("ablate", GIVEN), ("run", OTHER)],
    ids=["run", "ablate", "run --system"],
)
def test_what_a_user_sets_stands_in_the_manifest(
    command: str, given: dict[str, tuple[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {*GIVEN, *OTHER} == set(options()), "type a value for every option here"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")  # nothing is asked
    words = [
        word for name, (typed, _) in given.items() for word in (options()[name].flag, typed) if word
    ]
    words += ["--arms", "recency"] if command == "ablate" else []
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(
        sys, "argv", ["hebbarium", command, *words, "--limit", "1", "--out", str(tmp_path / "o")]
    )
    with pytest.raises(SystemExit) as end:
        main()
    written = json.loads((tmp_path / "o" / "manifest.json").read_text(encoding="utf-8"))
    if "transcript" in given:
        assert written["transcript_file"] == str(
            tmp_path / "t.sqlite"
        ) and "sk-0123" not in json.dumps(written)
        written["transcript"] = written["transcript"][: len("recording:")]
    assert not end.value.code and {name: written[name] for name in given} == {
        name: kept for name, (_, kept) in given.items()
    }
    assert {f.name for f in fields(RunSpec)} - {"arm", "conversation"} <= set(written)
    assert (
        written["arms"][0] == given.get("system", ("", "full"))[1]
        and len(written["conversations"]) == 1
    )
