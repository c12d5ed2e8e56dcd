"""The registry: whatever is wrong in a file comes out as an error that names the place and the cure."""
from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hebbarium.engine.assembly import planned
from hebbarium.engine.contract import Params
from hebbarium.engine.errors import RegistryError
from hebbarium.engine.registry import Entry, MechanismSet, Registry, digest, parameters

DENSE = """
dense:
  class: hebbarium.mechanisms.retrieval.dense_similarity:DenseSimilarity
  home: retrieval
  summary: "for the test"
  acts_on: "for the test"
  papers: []
  claims: HONEST
  params:
    weight: {value: 1.0, unit: "1", low: 0.0, high: 10.0, kind: engineering, source: "for the test"}
"""
OTHER = DENSE.replace("dense:\n", "other:\n")


def files(folder: Path, registry: str = DENSE + OTHER, **sets: str | bytes) -> Registry:
    (folder / "sets").mkdir(exist_ok=True)
    (folder / "registry.yaml").write_text(registry, encoding="utf-8")
    for name, text in sets.items():
        (folder / "sets" / f"{name}.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return Registry.read(folder / "registry.yaml", folder / "sets")


def refused(call: Any, *places: str) -> str:
    """The error's text; it must name the places and a cure."""
    with pytest.raises(RegistryError) as caught:
        call()
    assert caught.value.cure and caught.value.what
    for place in places:
        assert place in caught.value.where, caught.value.where
    return str(caught.value)


def test_a_sound_registry_is_read_in_file_order(tmp_path: Path) -> None:
    registry = files(tmp_path, OTHER + DENSE, both="mechanisms: [dense, other]\n")
    assert list(registry.entries) == ["other", "dense"]
    assert [m.id for m in registry.build(registry.set("both"))] == ["other", "dense"]
    assert registry.instance("dense", {"weight": 3, "time_scale": 2}).params.weight == 3.0
    assert files(tmp_path, DENSE + OTHER).digest != registry.digest


@pytest.mark.parametrize(("text", "words"), [
    (DENSE + DENSE, "'dense' is given twice"), (DENSE.replace('value: 1.0, unit: "1"', 'value: 1.0, value: 2.0, unit: "1"'),
                                                "'value' is given twice"),
    (DENSE.replace("home: retrieval", "home: kitchen"), "home"), (DENSE.replace("  home: retrieval\n", ""), "home"),
    (DENSE.replace("acts_on", "acts_at"), "acts_"), (DENSE.replace("low: 0.0", "lowest: 0.0"), "lowest"),
    (DENSE.replace("claims: HONEST", "claims: PERFECT"), "claims"),
    (DENSE.replace("kind: engineering", "kind: magic"), "kind"), (DENSE.replace("value: 1.0", "value: [1.0]"), "value"),
    ("dense: 3\n", "not a mapping"), ("- dense\n", "holds list"), ("", "holds NoneType"), ("a: [1\n", "YAML"), ("a: {b: 2024-13-45}\n", "YAML"),
    ("? [a]\n: 1\n", "YAML"),
    ("a: !!python/object:os.system {}\n", "YAML"), ("a: *nobody\n", "YAML"), ("a: \x00\n", "YAML"),
], ids=range(18))
def test_malformed_registries(tmp_path: Path, text: str, words: str) -> None:
    assert words in refused(lambda: files(tmp_path, text), "registry.yaml")


def test_a_key_given_twice_is_placed_by_line(tmp_path: Path) -> None:
    refused(lambda: files(tmp_path, "a: 1\nb: 2\na: 3\n"), "registry.yaml:3")


@pytest.mark.parametrize(("text", "words"), [
    ("mechanisms: [nobody]\n", "'nobody'"), ("mechanisms: [dense, dense]\n", "distinct"), ("mechanisms: [3]\n", "distinct"),
    ("mechanisms: [[dense]]\n", "distinct"),
    ("mechanisms: dense\n", "no list"), ("mechanisms: 0\n", "no list"), ("mechanisms:\n", "no list"), ("summary: x\n", "names no mechanisms"),
    ("mechanisms: {dense: 3}\n", "no list"), ("mechanisms: {dense: {wait: 3}}\n", "'wait'"), ("mechanisms: {dense: {3: 3}}\n", "3"),
    ("mechanisms: [dense]\nalternates: [other]\n", "alternates"), ("mechanisms: [dense]\nalternates: {dense: other}\n", "alternates"),
    ("mechanisms: [dense]\nalternates: {dense: [nobody]}\n", "'nobody'"), ("mechanisms: [dense]\nalternates: {dense: [{a: 1}]}\n", "alternates"),
    ("mechanisms: [dense]\nmechanism: [other]\n", "'mechanism'"), ("mechanisms: [dense]\nmechanisms: [other]\n", "twice"),
    ("[", "YAML"), ("3\n", "holds int"), (b"mechanisms: [\xff\xfe]\n", "YAML"), ("", "NoneType"),
], ids=range(21))
def test_malformed_sets(tmp_path: Path, text: str | bytes, words: str) -> None:
    assert words in refused(lambda: files(tmp_path, bad=text), "bad.yaml")
    lone = tmp_path / "lone.yaml"
    lone.write_bytes(text if isinstance(text, bytes) else text.encode())
    (tmp_path / "sets" / "bad.yaml").unlink()
    registry = files(tmp_path)
    assert words in refused(lambda: registry.set(str(lone)), "lone.yaml")


@given(st.binary(max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_a_set_or_an_error_of_ours(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    registry = files(folder)
    (folder / "x.yaml").write_bytes(raw)
    try:
        registry.set(str(folder / "x.yaml"))
    except RegistryError as error:
        assert error.cure and "x.yaml" in error.where


@pytest.mark.parametrize(("values", "words"), [
    ("{weight: 11}", "outside"), ("{weight: -0.1}", "outside"), ("{weight: .nan}", "no float"), ("{weight: .inf}", "no float"),
    ("{weight: true}", "no float"),
    ("{weight: heavy}", "no float"), ("{weight: [1]}", "no float"), ("{weight: null}", "no float"), ("{weight: {a: 1}}", "no float"),
    ("{time_scale: 0}", "time_scale"), ("{time_scale: -1}", "time_scale"), ("{time_scale: .inf}", "time_scale"), ("{time_scale: .nan}", "time_scale"),
    ("{time_scale: null}", "time_scale"), ("{time_scale: [1]}", "time_scale"), ("{time_scale: true}", "time_scale"),
    ("{time_scale: 1" + "0" * 400 + "}", "time_scale"),
    ("{weight: 1" + "0" * 400 + "}", "no float"),
], ids=range(18))
def test_unsound_values_in_a_set_name_set_mechanism_and_parameter(tmp_path: Path, values: str, words: str) -> None:
    registry = files(tmp_path, bad=f"mechanisms: {{dense: {values}}}\n")
    assert words in refused(lambda: registry.build(registry.set("bad")), "set bad", "dense")


@dataclass(frozen=True, slots=True)
class Three(Params):
    rate: float
    count: int
    kind: Literal["a", "b"]
    on: bool


def entry(**changes: Any) -> Entry:
    plain = {"unit": "1", "kind": "engineering", "source": "for the test"}
    params: dict[str, Any] = {"rate": {"value": 0.5, "low": 0, "high": 1, **plain}, "count": {"value": 3, "low": 1, "high": 9, **plain},
                              "kind": {"value": "a", "choices": ["a", "b"], **plain}, "on": {"value": True, **plain}}
    params = {k: v for k, v in {**params, **changes}.items() if v is not None}
    return Entry.model_validate({"id": "three", "class": "x:Y", "home": "encoding", "summary": "s", "acts_on": "a", "papers": [], "claims": "HONEST",
                                 "params": params})


def test_parameters_come_out_typed_and_overridden() -> None:
    found = parameters(entry(), Three, {"rate": 1, "count": 4.0, "kind": "b", "on": False, "time_scale": 3})
    assert found == Three(3.0, 1.0, 4, "b", False) and type(found.rate) is float and type(found.count) is int


@pytest.mark.parametrize(("overrides", "words"), [
    ({"count": 2.5}, "no int"), ({"count": math.nan}, "no int"), ({"count": math.inf}, "no int"), ({"count": True}, "no int"),
    ({"count": 10}, "outside"),
    ({"kind": "c"}, "choices"), ({"kind": ["a"]}, "choices"), ({"kind": None}, "choices"), ({"on": 1}, "no bool"), ({"on": "yes"}, "no bool"),
    ({"rate": 10**400}, "no float"), ({"speed": 1}, "'speed'"),
], ids=str)
def test_wrong_overrides(overrides: dict[str, Any], words: str) -> None:
    assert words in refused(lambda: parameters(entry(), Three, overrides), "three")


def test_code_and_registry_must_name_the_same() -> None:
    plain = {"unit": "1", "kind": "engineering", "source": "for the test"}
    assert "['on']" in refused(lambda: parameters(entry(on=None), Three, {}), "three")
    assert "['more']" in refused(lambda: parameters(entry(more={"value": 1, **plain}), Three, {}), "three")
    for choices in (["a"], ["a", "b", "c"], []):
        assert "choices of 'kind'" in refused(lambda choices=choices: parameters(entry(kind={"value": "a", "choices": choices, **plain}), Three, {}),
                                              "three")
    assert "choices of 'rate'" in refused(lambda: parameters(entry(rate={"value": 1, "choices": ["1"], **plain}), Three, {}), "three")


@pytest.mark.parametrize("path", ["nowhere:X", "hebbarium.mechanisms.retrieval.dense_similarity:Nobody",
                                  "hebbarium.mechanisms.retrieval.dense_similarity",
                                  ":X", "", "math:pi", "hebbarium.mechanisms.retrieval.dense_similarity:DenseSimilarityParams", ".x:Y"])
def test_classes_that_are_no_mechanisms(tmp_path: Path, path: str) -> None:
    registry = files(tmp_path, DENSE.replace("hebbarium.mechanisms.retrieval.dense_similarity:DenseSimilarity", f'"{path}"'))
    refused(lambda: registry.instance("dense"), "registry.yaml", "dense")


def test_unknown_names_are_answered_with_the_known_ones(tmp_path: Path) -> None:
    registry = files(tmp_path, one="mechanisms: [dense]\n")
    one = registry.set("one")
    assert "one" in refused(lambda: registry.set("two"))
    refused(lambda: registry.set("no/such/file.yaml"), "no/such/file.yaml")
    for call in (lambda: registry.entry("nobody"), lambda: registry.instance("nobody"),
                 lambda: registry.build(MechanismSet("m", "", {"nobody": {}}))):
        assert "dense, other" in refused(call)
    refused(lambda: one.without(["other"]), "one")
    refused(lambda: one.overridden({"other": {"weight": 1}}), "one")
    refused(lambda: one.swapped("other", "dense"), "one")
    refused(lambda: one.swapped("dense", "dense"), "one")
    refused(lambda: Registry.read(tmp_path / "absent.yaml", tmp_path), "absent.yaml")


def test_sets_are_changed_by_copies_and_digests_tell(tmp_path: Path) -> None:
    registry = files(tmp_path, one="mechanisms: {dense: {weight: 2}}\n")
    one = registry.set("one")
    assert dict(one.without(["dense"]).mechanisms) == {} and dict(one.swapped("dense", "other").mechanisms) == {"other": {}}
    more = one.overridden({"dense": {"weight": 3}})
    assert one.mechanisms["dense"] == {"weight": 2} and more.mechanisms["dense"] == {"weight": 3}
    assert digest(registry.build(one)) != digest(registry.build(more))
    assert digest(registry.build(one)) == digest(registry.build(one.overridden({"dense": {"weight": 2.0}})))


def test_every_variety_takes_the_place_of_its_form_among_all_others() -> None:
    registry = Registry.installed()
    whole = [m.id for m in registry.build(registry.set("everything"))]
    variety = {entry.variety_of: entry.id for entry in registry.entries.values() if entry.variety_of in whole}
    assert len(variety) > 10
    for taken in (*([form] for form in variety), list(variety)):
        assert planned([registry.instance(variety[id] if id in taken else id, {}) for id in whole])
