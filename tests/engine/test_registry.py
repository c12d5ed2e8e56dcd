"""The registry: every mistake in a file raises an error that names the place and the cure."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.base import yaml_file
from hebbarium.engine.base.errors import ContractError, RegistryError, nearest
from hebbarium.engine.base.yaml_file import LOADERS, YamlFile
from hebbarium.engine.catalogue.registry import (
    HOMES,
    Entry,
    MechanismSet,
    Registry,
    digest,
    parameters,
)
from hebbarium.engine.contract.hooks import Params
from hebbarium.engine.memory.assembly import schedule_of

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
    passages: {value: false, unit: "1", kind: engineering, source: "for the test"}
    length_penalty: {value: 0.0, unit: "1", kind: engineering, source: "for the test"}
"""
OTHER = DENSE.replace("dense:\n", "other:\n")


def files(folder: Path, registry: str = DENSE + OTHER, **sets: str | bytes) -> Registry:
    (folder / "sets").mkdir(exist_ok=True)
    (folder / "registry.yaml").write_text(registry, encoding="utf-8")
    for name, text in sets.items():
        (folder / "sets" / f"{name}.yaml").write_bytes(
            text if isinstance(text, bytes) else text.encode()
        )
    return Registry.read(folder / "registry.yaml", folder / "sets")


def refused(call: Any, *places: str) -> str:
    """The error's text; it must name the places and a cure."""
    with pytest.raises(RegistryError) as caught:
        call()
    assert caught.value.cure and caught.value.what
    for place in places:
        assert place in caught.value.where, caught.value.where
    return str(caught.value)


def test_files_are_parsed_again_only_if_their_contents_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaders: list[Any] = []
    monkeypatch.setattr(
        yaml_file, "LOADERS", [*LOADERS, lambda text: (loaders.append(text), LOADERS[-1](text))[1]]
    )
    read = [files(tmp_path, one="mechanisms: [dense]\n") for _ in range(2)]
    assert (
        len(loaders) == 2
        and read[0].digest == read[1].digest
        and read[0].sets == read[1].sets
        and read[0].entries == read[1].entries
    )
    assert list(files(tmp_path, one="mechanisms: [other]\n").set("one").mechanisms) == ["other"]
    assert list(files(tmp_path, OTHER + DENSE).entries) == ["other", "dense"]
    for _ in range(2):
        refused(lambda: files(tmp_path, DENSE), "one.yaml")
    assert list(files(tmp_path, one="mechanisms: [dense]\n").set("one").mechanisms) == ["dense"]


def test_a_sound_registry_is_read_in_file_order(tmp_path: Path) -> None:
    registry = files(tmp_path, OTHER + DENSE, both="mechanisms: [dense, other]\n")
    assert list(registry.entries) == ["other", "dense"]
    assert [m.id for m in registry.build(registry.set("both"))] == ["other", "dense"]
    assert registry.instance("dense", {"weight": 3, "time_scale": 2}).params.weight == 3.0
    assert files(tmp_path, DENSE + OTHER).digest != registry.digest


def test_folders_of_mechanisms_and_the_issue_form_list_the_homes() -> None:
    root = Path(__file__).parents[2]
    form = yaml.safe_load(
        (root / ".github" / "ISSUE_TEMPLATE" / "mechanism.yml").read_text(encoding="utf-8")
    )
    (field,) = (part for part in form["body"] if part.get("id") == "home")
    assert tuple(field["attributes"]["options"]) == HOMES
    assert {f.parent.name for f in (root / "mechanisms").glob("*/__init__.py")} == {
        *HOMES,
        "shared",
    }


@pytest.mark.parametrize(("text", "words"), [
    (DENSE + DENSE, "'dense' is given twice"), (DENSE.replace('value: 1.0, unit: "1"',
    'value: 1.0, value: 2.0, unit: "1"'),
                                                "'value' is given twice"),
    (DENSE.replace("home: retrieval", "home: kitchen"), "home"),
    (DENSE.replace("  home: retrieval\n", ""), "home"),
    (DENSE.replace("acts_on", "acts_at"), "acts_"), (DENSE.replace("low: 0.0", "lowest: 0.0"),
    "lowest"),
    (DENSE.replace("claims: HONEST", "claims: PERFECT"), "claims"),
    (DENSE.replace("kind: engineering", "kind: magic"), "kind"), (DENSE.replace("value: 1.0",
    "value: [1.0]"), "value"),
    ("dense: 3\n", "not a mapping"), ("- dense\n", "holds a list, not a mapping"), ("",
    "is empty, not a mapping"),
    ("a: [1\n", "YAML"), ("a: {b: 2024-13-45}\n", "YAML"),
    ("? [a]\n: 1\n", "YAML"),
    ("a: !!python/object:os.system {}\n", "YAML"), ("a: *nobody\n", "YAML"), ("a: \x00\n", "YAML"),
], ids=range(18))  # fmt: skip
def test_malformed_registries(tmp_path: Path, text: str, words: str) -> None:
    assert words in refused(lambda: files(tmp_path, text), "registry.yaml")


BOTH = pytest.mark.parametrize("loader", LOADERS, ids=lambda loader: loader.__name__)
PAGES = sorted(
    page
    for room in ("mechanisms", "benchmarks")
    for page in (Path(__file__).parents[2] / room).rglob("*.yaml")
)


@BOTH
@pytest.mark.parametrize(("text", "line"), [
    ("a: 1\nb: 2\na: 3\n", 3), ("a:\n  b: 1\n  c: {d: 1,\n    d: 2}\n", 4), ("a: 1\n\nb: [1\n", 4),
    ("a: 1\n\tb: 2\n", 2), ("a: 1\nb: *no\n", 2),
    ("a: 1\n# é ü\nb: \x00\n", 3), ("a: 1\nb: 2024-13-45\n", 2), ("a: 1\n? [b]\n: 1\n", 2),
    ("a: 1\n? {b: 1}\n: 1\n", 2), ("a: 1\nb: !!int x\n", 2),
    ("\n- a\n", 2), ("", 1), (b"a: 1\nb: \xff\n", 2), ("a: !!python/object:os.system {}\n", 1),
    ("a: 1\n---\nb: 1\n", 2), ("a: " + "[" * 100_000, 1),
    ("a:\n  " + "- " * 100_000, 2), ("a: 1\nb: " + "{b: " * 100_000, 2), ("a: 1\nb: " + "1" * 5000,
    2),
], ids=range(19))  # fmt: skip
def test_every_error_of_a_file_names_its_line(
    loader: Any, text: str | bytes, line: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_file, "LOADERS", [loader])
    (tmp_path / "x.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(RegistryError) as caught:
        YamlFile(tmp_path / "x.yaml")
    assert caught.value.where == f"{tmp_path / 'x.yaml'}:{line}" and caught.value.cure


@BOTH
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_both_parsers_read_what_plain_yaml_reads(
    loader: Any, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_file, "LOADERS", [loader])
    monkeypatch.setattr(yaml_file, "LARGE", math.inf)  # nothing that an earlier test has kept
    assert YamlFile(page).data == yaml.safe_load(page.read_text(encoding="utf-8"))


@BOTH
@pytest.mark.parametrize(("text", "value"), [
    ("1e-3", 1e-3), ("1E3", 1e3), ("+1.e+2", 100.0), ("-.5", -0.5), (".5e1", 5.0), ("3.", 3.0),
    (".inf", math.inf), ("-.INF", -math.inf),
    ("0", 0), ("-12", -12), ("+7", 7), ("010", 10), ("09", 9), ("0o10", 8), ("0x1F", 31),
    ("1:30", "1:30"), ("1:30.5", "1:30.5"), ("1_000", "1_000"), ("1_0.5", "1_0.5"), ("0b11",
    "0b11"), ("0o8", "0o8"), ("-0x1", "-0x1"),
    ("1e", "1e"), ("e3", "e3"), (".", "."), ("inf", "inf"), ("'1e-3'", "1e-3"), ("1.2.3", "1.2.3"),
    ("true", True),
])  # fmt: skip
def test_numbers_are_those_of_the_core_schema(
    loader: Any, text: str, value: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_file, "LOADERS", [loader])
    path = tmp_path / "x.yaml"
    path.write_text(f"a: {text}\n", encoding="utf-8")
    found = YamlFile(path).data["a"]
    assert (found, type(found)) == (value, type(value))


@BOTH
def test_nan_is_a_number(loader: Any) -> None:
    assert math.isnan(loader("a: .nan").get_single_data()["a"])


def test_a_set_takes_a_weight_with_an_exponent(tmp_path: Path) -> None:
    registry = files(
        tmp_path,
        one="mechanisms:\n  dense: {weight: 1e-3}\n",
        two="mechanisms:\n  dense:\n    weight: 1:30\n",
    )
    assert registry.build(registry.set("one"))[0].params.weight == 1e-3
    assert "'1:30' is no number" in refused(
        lambda: registry.build(registry.set("two")), "two.yaml:3"
    )


@BOTH
def test_places_of_parts(loader: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_file, "LOADERS", [loader])
    path = tmp_path / "x.yaml"
    path.write_text(
        "# first\na: &a\n  b: 1\n  c:\n    - 1\n    - {d: 2,\n       3: 4}\ne: 5\n",
        encoding="utf-8",
    )
    file = YamlFile(path)
    for keys, line in (
        ((), 2),
        (("a",), 2),
        (("a", "b"), 3),
        (("a", "c", 1), 6),
        (("a", "c", 1, "d"), 6),
        (("a", "c", 1, 3), 7),
        (("e",), 8),
        (("e", "b"), 8),
        (("a", "x", "y"), 2),
        (("a", "c", 9), 4),
        (("x",), 2),
    ):
        assert file.place(*keys) == f"{path}:{line}", keys


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of the package so large that its data are kept, beside it."""
    monkeypatch.setattr(yaml_file, "PACKAGE", tmp_path)
    monkeypatch.setattr(yaml_file.sys, "dont_write_bytecode", False)
    monkeypatch.setattr(yaml_file.sys, "pycache_prefix", None)
    path = tmp_path / "x.yaml"
    rows = (f"name {n}: {{a: {n}, b: [1.5, no, 'x', null]}}\n" for n in range(2_000))
    path.write_text("".join(rows), encoding="utf-8")
    assert path.stat().st_size >= yaml_file.LARGE
    return path


def kept_beside(path: Path) -> Path:
    (kept,) = (path.parent / "__pycache__").iterdir()
    return kept


def test_a_large_file_is_parsed_once_and_its_lines_are_known(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed, texts = YamlFile(large).data, []
    monkeypatch.setattr(YamlFile, "_parsed", lambda file: texts.append(file._text))
    assert YamlFile(large).data == parsed and not texts
    assert [type(value) for value in parsed["name 7"]["b"]] == [float, bool, str, type(None)]
    monkeypatch.undo()
    assert YamlFile(large).place("name 7", "b", 2) == f"{large}:8"


@pytest.mark.parametrize("change", ["the file", "its kept data", "cut", "PyYAML", "the loader"])
def test_kept_data_of_anything_else_are_not_read(
    change: str, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = YamlFile(large).data
    kept = kept_beside(large)
    if change == "the file":
        large.write_text(large.read_text(encoding="utf-8").replace("a: 7,", "a: 8,"), "utf-8")
        whole["name 7"]["a"] = 8
    elif change == "its kept data":
        kept.write_bytes(kept.read_bytes().replace(b"name 7", b"name 8", 1))
    elif change == "cut":
        kept.write_bytes(kept.read_bytes()[:-5])
    elif change == "PyYAML":
        monkeypatch.setattr(yaml_file.yaml, "__version__", "0")
    else:
        monkeypatch.setattr(yaml_file, "LOADERS", LOADERS[:1])
    read, parsed = [], YamlFile._parsed
    monkeypatch.setattr(YamlFile, "_parsed", lambda file: (read.append(file), parsed(file))[1])
    assert YamlFile(large).data == whole and len(read) == 1
    assert YamlFile(large).data == whole and len(read) == 1
    assert kept_beside(large) == kept, "no draft is left"


def test_nothing_is_kept_beside_a_file_of_a_user(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_file, "PACKAGE", large.parent / "other")
    assert len(YamlFile(large).data) == 2_000 and not (large.parent / "__pycache__").exists()


def test_where_nothing_can_be_kept_a_file_is_parsed(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_file.sys, "dont_write_bytecode", True)
    whole = YamlFile(large).data
    assert not (large.parent / "__pycache__").exists()
    monkeypatch.setattr(yaml_file.sys, "dont_write_bytecode", False)
    (large.parent / "__pycache__").write_bytes(b"")
    assert YamlFile(large).data == whole
    (large.parent / "__pycache__").unlink()
    large.write_text(large.read_text(encoding="utf-8") + "day: 2024-03-13\n", "utf-8")
    assert YamlFile(large).data["day"].year == 2024
    assert YamlFile(large).data["day"].year == 2024


@BOTH
def test_aliases_are_refused_with_their_line(
    loader: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few of them make gigabytes."""
    monkeypatch.setattr(yaml_file, "LOADERS", [loader])
    path = tmp_path / "x.yaml"
    path.write_text("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", encoding="utf-8")
    refused(lambda: YamlFile(path), f"{path}:2")


def test_errors_of_entries_name_their_lines(tmp_path: Path) -> None:
    refused(
        lambda: files(tmp_path, DENSE + OTHER.replace("kind: engineering", "kind: magic")),
        "registry.yaml:22, other",
    )
    refused(
        lambda: files(tmp_path, DENSE + OTHER.replace("home: retrieval", "home: kitchen")),
        "registry.yaml:16, other",
    )
    refused(
        lambda: files(tmp_path, DENSE + OTHER.replace("  home: retrieval\n", "")),
        "registry.yaml:14, other",
    )
    refused(lambda: files(tmp_path, DENSE + "other: 3\n"), "registry.yaml:13, other")


@pytest.mark.parametrize(("text", "line"), [
    ("summary: x\nmechanisms:\n  - dense\n  - nobody\n", 4),
    ("mechanisms:\n  - dense\n  - other\n  - dense\n", 4), ("mechanisms:\n  - dense\n  - 3\n", 3),
    ("mechanisms:\n  dense:\n    weight: 1\n    wait: 3\n", 4),
    ("mechanisms:\n  dense:\n  other: 3\n", 3), ("summary: x\nmechanisms: dense\n", 2),
    ("# x\nsummary: x\n", 2), ("mechanisms: [dense]\nmechanism: [other]\n", 2),
    ("mechanisms: [dense]\nalternates:\n  dense:\n    - other\n    - nobody\n", 5),
    ("mechanisms: [dense]\nalternates:\n  nobody: [dense]\n", 3),
    ("mechanisms: [dense]\nalternates: 3\n", 2),
    ("mechanisms: [dense]\nalternates:\n  dense: 3\n", 3),
    ("mechanisms: [dense]\nalternates:\n  dense:\n    - dense\n", 4),
    ("mechanisms: [dense]\nalternates:\n  other: [dense]\n", 3),
    ("mechanisms: [dense, other]\nalternates:\n  dense: [other]\n", 3),
    ("mechanisms: [dense]\nalternates:\n  dense:\n    - other\n    - other\n", 5),
], ids=range(16))  # fmt: skip
def test_errors_of_sets_name_their_lines(tmp_path: Path, text: str, line: int) -> None:
    refused(lambda: files(tmp_path, bad=text), f"bad.yaml:{line}")


def test_errors_of_values_name_the_line_of_the_set_or_the_option_that_gave_them(
    tmp_path: Path,
) -> None:
    registry = files(
        tmp_path,
        bad="mechanisms:\n  other:\n  dense:\n    time_scale: 2\n    weight: 11\n",
        good="mechanisms:\n  dense:\n    weight: 3\n",
    )
    refused(
        lambda: registry.build(registry.set("bad")), "bad.yaml:5, set bad, mechanism dense, weight"
    )
    good = registry.set("good").overridden({"dense": {"weight": 11}})
    refused(lambda: registry.build(good), "set good, mechanism dense, weight")
    assert "good.yaml" not in refused(lambda: registry.build(good))
    refused(
        lambda: registry.build(good.overridden({"dense": {"wait": 1}})), "set good, mechanism dense"
    )
    option = registry.set("good").overridden({"dense": {"weight": 11}}, "--param")
    text = refused(lambda: registry.build(option), "--param, mechanism dense, weight")
    assert "good" not in text and text.startswith("--param, mechanism dense, weight: 11 is outside")
    refused(lambda: option.overridden({"other": {"weight": 1}}, "--param"), "--param, set good")
    assert registry.build(registry.set("bad").without(["dense"]))


def test_mechanisms_that_do_not_go_together_are_placed(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(
        "summary: x\n\nmechanisms: [convex_fusion, weighted_rrf]\n", encoding="utf-8"
    )
    registry = Registry.read()
    chosen = registry.set(str(tmp_path / "two.yaml"))
    with pytest.raises(ContractError, match="both set fused") as caught, chosen.named_in_errors():
        schedule_of(registry.build(chosen))
    assert (
        caught.value.where.startswith(f"{tmp_path / 'two.yaml'}:3, set two, ") and caught.value.cure
    )


def test_unknown_names_are_answered_with_names_that_are_near() -> None:
    registry = Registry.read()
    for name, expected in (
        ("recencey", "the nearest name is recency;"),
        ("bm25", "the nearest name is lexical_bm25;"),
        ("synaptic_taging", "synaptic_tagging, synaptic_tagging_printed;"),
        ("HEAT", "the nearest name is heat;"),
        ("hopfield", "hopfield_completion, hopfield_completion_printed;"),
    ):
        assert expected in refused(lambda name=name: registry.entry(name)).splitlines()[-1]
    assert "nearest name is weight" in refused(
        lambda: registry.instance("temporal_context", {"wieght": 1})
    )
    assert "nearest name is minimal" in refused(lambda: registry.set("minimum"))
    assert "nearest name is recency" in refused(lambda: registry.set("waking").without(["recent"]))
    assert nearest("x", []) == "there are none"


@pytest.mark.parametrize("name", ["forgetting", "x", "", 3, None])
def test_no_dissimilar_name_is_suggested(name: object) -> None:
    few, many = ["boat", "harbour", "oven", "kite"], [f"column_{n}" for n in range(40)]
    assert (
        nearest(name, few) == "choose from boat, harbour, oven, kite"
        and nearest(name, few[:2]) == "choose from boat, harbour"
    )
    assert nearest(name, many).startswith("none of the 40 names is near it; the first are column_0")
    assert nearest("kit", few) == "the nearest name is kite" and nearest(
        "colum_7", many
    ).startswith("the nearest names are column_7, ")


def test_sets_and_their_changes_in_one_line() -> None:
    mine = MechanismSet("mine", "", {"dense": {"weight": 2, "floor": 0.5}, "other": {}})
    assert (
        repr(mine)
        == "<mechanism set mine: 2 mechanisms, overrides dense.weight=2, dense.floor=0.5>"
    )
    assert repr(mine.without(["dense"])) == "<mechanism set mine: 1 mechanism, no overrides>"


def test_sets_from_different_files_are_equal_if_their_contents_are(tmp_path: Path) -> None:
    """Equal sets are equal wherever they come from, and a set keeps its places on the way to
    another process.
    """
    chosen = files(tmp_path, one="mechanisms:\n  dense:\n    weight: 2\n").set("one")
    assert chosen == MechanismSet("one", "", {"dense": {"weight": 2}}) and "one.yaml" not in repr(
        chosen
    )
    assert (
        pickle.loads(pickle.dumps(chosen)).where("dense.weight")
        == chosen.where("dense.weight")
        == f"{tmp_path / 'sets' / 'one.yaml'}:3, set one"
    )


@pytest.mark.parametrize(("text", "words"), [
    ("mechanisms: [nobody]\n", "'nobody'"), ("mechanisms: [dense, dense]\n", "distinct"),
    ("mechanisms: [3]\n", "distinct"),
    ("mechanisms: [[dense]]\n", "distinct"),
    ("mechanisms: dense\n", "no list"), ("mechanisms: 0\n", "no list"), ("mechanisms:\n",
    "no list"), ("summary: x\n", "names no mechanisms"),
    ("mechanisms: {}\n", "names no mechanisms"), ("mechanisms: []\n", "names no mechanisms"),
    ("mechanisms: {dense: 3}\n", "no list"), ("mechanisms: {dense: {wait: 3}}\n", "'wait'"),
    ("mechanisms: {dense: {3: 3}}\n", "3"),
    ("mechanisms: [dense]\nalternates: [other]\n", "alternates"),
    ("mechanisms: [dense]\nalternates: {dense: other}\n", "alternates"),
    ("mechanisms: [dense]\nalternates: {dense: [nobody]}\n", "'nobody'"),
    ("mechanisms: [dense]\nalternates: {dense: [{a: 1}]}\n", "alternates"),
    ("mechanisms: [dense]\nmechanism: [other]\n", "'mechanism'"),
    ("mechanisms: [dense]\nmechanisms: [other]\n", "twice"),
    ("[", "YAML"), ("3\n", "one value"), (b"mechanisms: [\xff\xfe]\n", "YAML"), ("", "is empty"),
], ids=range(23))  # fmt: skip
def test_malformed_sets(tmp_path: Path, text: str | bytes, words: str) -> None:
    assert words in refused(lambda: files(tmp_path, bad=text), "bad.yaml")
    lone = tmp_path / "lone.yaml"
    lone.write_bytes(text if isinstance(text, bytes) else text.encode())
    (tmp_path / "sets" / "bad.yaml").unlink()
    registry = files(tmp_path)
    assert words in refused(lambda: registry.set(str(lone)), "lone.yaml")


@given(st.binary(max_size=60))
def test_any_bytes_are_a_set_or_a_registry_error(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes
) -> None:
    folder = tmp_path_factory.mktemp("any")
    registry = files(folder)
    (folder / "x.yaml").write_bytes(raw)
    try:
        registry.set(str(folder / "x.yaml"))
    except RegistryError as error:
        assert error.cure and "x.yaml" in error.where


@pytest.mark.parametrize(("values", "words"), [
    ("{weight: 11}", "outside"), ("{weight: -0.1}", "outside"), ("{weight: .nan}", "no number"),
    ("{weight: .inf}", "no number"),
    ("{weight: true}", "no number"),
    ("{weight: heavy}", "no number"), ("{weight: [1]}", "no number"), ("{weight: null}",
    "no number"), ("{weight: {a: 1}}", "no number"),
    ("{time_scale: 0}", "time_scale"), ("{time_scale: -1}", "time_scale"), ("{time_scale: .inf}",
    "time_scale"), ("{time_scale: .nan}", "time_scale"),
    ("{time_scale: null}", "time_scale"), ("{time_scale: [1]}", "time_scale"),
    ("{time_scale: true}", "time_scale"),
    ("{time_scale: 1" + "0" * 400 + "}", "time_scale"),
    ("{weight: 1" + "0" * 400 + "}", "no number"),
], ids=range(18))  # fmt: skip
def test_unsound_values_in_a_set_name_set_mechanism_and_parameter(
    tmp_path: Path, values: str, words: str
) -> None:
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
    params: dict[str, Any] = {
        "rate": {"value": 0.5, "low": 0, "high": 1, **plain},
        "count": {"value": 3, "low": 1, "high": 9, **plain},
        "kind": {"value": "a", "choices": ["a", "b"], **plain},
        "on": {"value": True, **plain},
    }
    params = {k: v for k, v in {**params, **changes}.items() if v is not None}
    return Entry.model_validate({"id": "three", "class": "x:Y", "home": "encoding", "summary": "s",
                                 "acts_on": "a", "papers": [], "claims": "HONEST",
                                 "params": params})  # fmt: skip


def test_parameters_come_out_typed_and_overridden() -> None:
    found = parameters(
        entry(), Three, {"rate": 1, "count": 4.0, "kind": "b", "on": False, "time_scale": 3}
    )
    assert (
        found == Three(3.0, 1.0, 4, "b", False)
        and type(found.rate) is float
        and type(found.count) is int
    )


@pytest.mark.parametrize(("overrides", "words"), [
    ({"count": 2.5}, "no whole number"), ({"count": math.nan}, "no whole number"),
    ({"count": math.inf}, "no whole number"),
    ({"count": True}, "no whole number"), ({"count": 10}, "outside"),
    ({"kind": "c"}, "choices"), ({"kind": ["a"]}, "choices"), ({"kind": None}, "choices"),
    ({"on": 1}, "no truth value"), ({"on": "yes"}, "no truth value"),
    ({"rate": 10**400}, "no number"), ({"speed": 1}, "'speed'"),
], ids=str)  # fmt: skip
def test_wrong_overrides(overrides: dict[str, Any], words: str) -> None:
    assert words in refused(lambda: parameters(entry(), Three, overrides), "three")


def test_code_and_registry_must_name_the_same() -> None:
    plain = {"unit": "1", "kind": "engineering", "source": "for the test"}
    assert "['on']" in refused(lambda: parameters(entry(on=None), Three, {}), "three")
    assert "['more']" in refused(
        lambda: parameters(entry(more={"value": 1, **plain}), Three, {}), "three"
    )
    for choices in (["a"], ["a", "b", "c"], []):
        assert "choices of 'kind'" in refused(
            lambda choices=choices: parameters(
                entry(kind={"value": "a", "choices": choices, **plain}), Three, {}
            ),
            "three",
        )
    assert "choices of 'rate'" in refused(
        lambda: parameters(entry(rate={"value": 1, "choices": ["1"], **plain}), Three, {}), "three"
    )


@pytest.mark.parametrize("path", ["nowhere:X",
                                  "hebbarium.mechanisms.retrieval.dense_similarity:Nobody",
                                  "hebbarium.mechanisms.retrieval.dense_similarity",
                                  ":X", "", "math:pi",
                                  "hebbarium.mechanisms.retrieval.dense_similarity:DenseSimilarityParams", ".x:Y"])  # fmt: skip
def test_classes_that_are_no_mechanisms(tmp_path: Path, path: str) -> None:
    registry = files(
        tmp_path,
        DENSE.replace(
            "hebbarium.mechanisms.retrieval.dense_similarity:DenseSimilarity", f'"{path}"'
        ),
    )
    refused(lambda: registry.instance("dense"), "registry.yaml", "dense")


def test_unknown_names_are_answered_with_the_known_ones(tmp_path: Path) -> None:
    registry = files(tmp_path, one="mechanisms: [dense]\n")
    one = registry.set("one")
    assert "one" in refused(lambda: registry.set("two"))
    refused(lambda: registry.set("no/such/file.yaml"), "no/such/file.yaml")
    for call in (
        lambda: registry.entry("nobody"),
        lambda: registry.instance("nobody"),
        lambda: registry.build(MechanismSet("m", "", {"nobody": {}})),
    ):
        assert "choose from dense, other" in refused(call)
    refused(lambda: one.without(["other"]), "one")
    refused(lambda: one.overridden({"other": {"weight": 1}}), "one")
    refused(lambda: one.swapped("other", "dense"), "one")
    refused(lambda: one.swapped("dense", "dense"), "one")
    refused(lambda: Registry.read(tmp_path / "absent.yaml", tmp_path), "absent.yaml")


def test_changes_of_sets_are_copies_with_other_digests(tmp_path: Path) -> None:
    registry = files(tmp_path, one="mechanisms: {dense: {weight: 2}}\n")
    one = registry.set("one")
    assert dict(one.without(["dense"]).mechanisms) == {} and dict(
        one.swapped("dense", "other").mechanisms
    ) == {"other": {}}
    more = one.overridden({"dense": {"weight": 3}})
    assert one.mechanisms["dense"] == {"weight": 2} and more.mechanisms["dense"] == {"weight": 3}
    assert digest(registry.build(one)) != digest(registry.build(more))
    assert digest(registry.build(one)) == digest(
        registry.build(one.overridden({"dense": {"weight": 2.0}}))
    )


@pytest.mark.slow
def test_every_variety_can_replace_its_form_among_all_others() -> None:
    registry = Registry.installed()
    whole = [m.id for m in registry.build(registry.set("everything"))]
    variety = {
        entry.variety_of: entry.id
        for entry in registry.entries.values()
        if entry.variety_of in whole
    }
    assert len(variety) > 10
    for taken in (*([form] for form in variety), list(variety)):
        assert schedule_of(
            [registry.instance(variety[id] if id in taken else id, {}) for id in whole]
        )


@pytest.mark.parametrize(("unit", "hours"), [("ms", 6 / 3.6e6), ("s", 6 / 3600), ("min", 0.1), ("h",
    6.0), ("d", 144.0),
                                             ("1/s", 5400.0), ("1/d", 1 / 16)])  # fmt: skip
def test_a_time_constant_is_in_hours_under_its_time_scale(
    tmp_path: Path, unit: str, hours: float
) -> None:
    """3 of the unit, twice as long; a rate half as high."""
    found = files(
        tmp_path,
        DENSE.replace(
            'length_penalty: {value: 0.0, unit: "1"',
            f'length_penalty: {{value: 3.0, unit: "{unit}"',
        ).replace("  params:\n", "  time_scale: 2.0\n  params:\n"),
    )
    assert found.instance("dense").hours("length_penalty") == pytest.approx(hours)


@pytest.mark.parametrize("unit", ["days", "hours", "m", "1/days", "1", "memories"])
def test_a_unit_that_is_no_time_is_refused_where_a_time_is_needed(
    tmp_path: Path, unit: str
) -> None:
    found = files(
        tmp_path,
        DENSE.replace(
            'length_penalty: {value: 0.0, unit: "1"',
            f'length_penalty: {{value: 3.0, unit: "{unit}"',
        ),
    )
    with pytest.raises(ContractError, match=f"the unit of length_penalty is '{unit}'") as caught:
        found.instance("dense").hours("length_penalty")
    assert "ms, s, min, h, d" in caught.value.cure


@pytest.mark.slow
@pytest.mark.parametrize(
    ("departure", "words"),
    [
        ({}, "departures.0.kind"),
        ({"kind": "guess"}, "departures.0.kind"),
        ({"kind": "none", "neutral": {"weight": 0.0}}, "only an addition is neutral"),
        ({"kind": "form", "shown": ["RC-1"]}, "only a bound or an addition is shown"),
        ({"kind": "addition", "neutral": {"heft": 0.0}}, "neutral at heft, no parameter"),
    ],
)
def test_a_departure_says_what_it_is(
    tmp_path: Path, departure: dict[str, object], words: str
) -> None:
    entries = yaml.safe_load((Path(__file__).parents[2] / "registry.yaml").read_text("utf-8"))
    entry = entries["recency"]
    entry["departures"] = [{"what": "w", "why": "y", **departure}]
    path = tmp_path / "registry.yaml"
    path.write_text(yaml.safe_dump({"recency": entry}), encoding="utf-8")
    with pytest.raises(RegistryError, match=words):
        Registry.read(path, tmp_path / "sets")


@pytest.mark.slow
@pytest.mark.parametrize("field", [{"read": {"cortex2026": "hearsay"}}, {"role": "dear"}])
def test_how_a_source_was_read_and_what_a_number_is_are_words_of_a_list(
    tmp_path: Path, field: dict[str, object]
) -> None:
    entries = yaml.safe_load((Path(__file__).parents[2] / "registry.yaml").read_text("utf-8"))
    entry = entries["recency"]
    (entry["params"]["half_life"] if "role" in field else entry).update(field)
    path = tmp_path / "registry.yaml"
    path.write_text(yaml.safe_dump({"recency": entry}), encoding="utf-8")
    with pytest.raises(RegistryError, match=next(iter(field))):
        Registry.read(path, tmp_path / "sets")
