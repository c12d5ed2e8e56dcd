"""Parameters that are files: where a path starts, what is refused, and that the content decides
the digest of the set.
"""

from __future__ import annotations

import hashlib
import json
import pickle
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from hebbarium.benchmarks.designs import Arm
from hebbarium.benchmarks.execution.plan import planned, specs_of
from hebbarium.benchmarks.execution.spec import Settings, changes, manifest, recorded
from hebbarium.engine.base.errors import RegistryError, SnapshotError
from hebbarium.engine.base.files import FilePath, content_digest
from hebbarium.engine.catalogue.registry import (
    Entry,
    MechanismSet,
    Registry,
    digest,
    files,
    parameters,
)
from hebbarium.engine.contract.hooks import Mechanism, Params, Phase, hook
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

ENTRY = f"""
ruled:
  class: {__name__}:Ruled
  home: retrieval
  summary: "for the test"
  acts_on: "for the test"
  papers: []
  claims: HONEST
  params:
    rules: {{value: "", unit: path, kind: engineering, source: "for the test"}}
    weight: {{value: 1.0, unit: "1", low: 0.0, high: 10.0, kind: engineering, source: "for the test"}}
"""


@dataclass(frozen=True, slots=True)
class RuledParams(Params):
    rules: str
    weight: float


class Ruled(Mechanism[RuledParams]):
    """A mechanism with a file."""

    @hook(Phase.RETRIEVE, reads=(), adds=(), sets=())
    def ask(self, view: Any, cue: Any) -> None:
        """Nothing."""


def registry_of(folder: Path, text: str = ENTRY, **sets: str) -> Registry:
    (folder / "sets").mkdir(exist_ok=True)
    (folder / "registry.yaml").write_text(text, encoding="utf-8")
    for name, content in sets.items():
        (folder / "sets" / f"{name}.yaml").write_text(content, encoding="utf-8")
    return Registry.read(folder / "registry.yaml", folder / "sets")


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return registry_of(tmp_path)


def built(registry: Registry, path: object) -> Any:
    (made,) = registry.build(MechanismSet("mine", "", {"ruled": {"rules": path}}))  # type: ignore[dict-item]
    return made


# --- the digest of contents -----------------------------------------------------------------------
def test_the_digest_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"some \x00 bytes")
    assert content_digest(tmp_path / "a") == hashlib.sha256(b"some \x00 bytes").hexdigest()


def test_the_digest_of_a_folder_is_that_of_sorted_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "b" / "deep").mkdir(parents=True)
    contents = {"b/deep/z": b"1", "a": b"2", "b.txt": b"3", ".hidden": b"4"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    expected = hashlib.sha256(
        b"".join(
            name.encode() + b"\0" + hashlib.sha256(contents[name]).digest()
            for name in sorted(contents)
        )
    )
    assert content_digest(tmp_path) == expected.hexdigest()


def test_every_change_of_a_folder_changes_its_digest(tmp_path: Path) -> None:
    folder, seen = tmp_path / "model", []
    folder.mkdir()

    def note() -> None:
        seen.append(content_digest(folder))

    note()
    for name, content in (("a", b""), ("a", b"x"), ("b", b"x"), ("ab", b"")):
        (folder / name).write_bytes(content)
        note()
    (folder / "a").rename(folder / "c")
    note()
    (folder / "d").mkdir()
    (folder / "c").rename(folder / "d" / "c")
    note()
    assert len(set(seen)) == len(seen) == 7
    (folder / "empty").mkdir()
    assert content_digest(folder) == seen[-1], "an empty folder has no content"


def test_links_are_followed_and_a_circle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / "x").write_bytes(b"1")
    plain, linked = tmp_path / "plain", tmp_path / "linked"
    (plain / "sub").mkdir(parents=True)
    (plain / "sub" / "x").write_bytes(b"1")
    linked.mkdir()
    (linked / "sub").symlink_to(tmp_path / "blobs")
    assert content_digest(plain) == content_digest(linked)
    (linked / "back").symlink_to(linked)
    with pytest.raises(OSError, match="folder above it"):
        content_digest(linked)


# --- the parameter --------------------------------------------------------------------------------
def test_a_path_is_a_text_with_the_digest_of_its_content(
    registry: Registry, tmp_path: Path
) -> None:
    (tmp_path / "rules.txt").write_bytes(b"a")
    made = built(registry, str(tmp_path / "rules.txt"))
    assert (
        made.params.rules == str(tmp_path / "rules.txt")
        and made.params.rules.sha256 == hashlib.sha256(b"a").hexdigest()
    )
    assert (
        files([made]) == {"ruled.rules": made.params.rules.sha256}
        and json.loads(json.dumps(asdict(made.params)))["rules"] == made.params.rules
    )
    again = pickle.loads(pickle.dumps(made.params.rules))
    assert (
        again == made.params.rules
        and again.sha256 == made.params.rules.sha256
        and isinstance(again, FilePath)
    )


def test_no_path_is_allowed(registry: Registry) -> None:
    assert (
        registry.instance("ruled").params.rules == ""
        and built(registry, "").params.rules == ""
        and files([built(registry, "")]) == {}
    )


@pytest.mark.parametrize(
    "path",
    ["absent.txt", "no/such/folder", "a\x00b", "x" * 5000, 3, 1.5, True, None, ["a"]],
    ids=lambda path: repr(path)[:12],
)
def test_what_is_no_file_or_folder_is_refused(registry: Registry, path: Any) -> None:
    with pytest.raises(RegistryError) as caught:
        built(registry, path)
    assert "set mine" in caught.value.where and "mechanism ruled, rules" in caught.value.where
    assert caught.value.cure and (repr(path) in caught.value.what)


def test_a_file_that_cannot_be_read_is_refused(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rules.txt").write_bytes(b"a")

    def closed(self: Path, *_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", closed)
    with pytest.raises(RegistryError, match="Permission denied"):
        built(registry, str(tmp_path / "rules.txt"))


def test_a_path_of_a_set_starts_at_the_file_of_the_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets" / "r.txt").write_bytes(b"beside the set")
    (tmp_path / "work" / "r.txt").write_bytes(b"in the working folder")
    text = "mechanisms:\n  ruled: {rules: r.txt, weight: 2}\n"
    registry = registry_of(tmp_path, named=text)
    (tmp_path / "sets" / "lone.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "work")
    beside, here = (
        hashlib.sha256(content).hexdigest()
        for content in (b"beside the set", b"in the working folder")
    )
    for name in ("named", str(tmp_path / "sets" / "lone.yaml"), "../sets/lone.yaml"):
        chosen = registry.set(name)
        (made,) = registry.build(chosen)
        assert made.params.rules.sha256 == beside and made.params.weight == 2.0
        (other,) = registry.build(chosen.overridden({"ruled": {"rules": "r.txt"}}, "--param"))
        assert other.params.rules.sha256 == here, "an override starts at the working folder"
        (again,) = registry.build(MechanismSet("", "", {"ruled": asdict(made.params)}))
        assert again.params.rules.sha256 == beside, "what a set resolved to can be built again"
    assert built(registry, "r.txt").params.rules.sha256 == here
    absolute = registry_of(
        tmp_path, far=f"mechanisms: {{ruled: {{rules: {tmp_path / 'work' / 'r.txt'}}}}}\n"
    )
    assert files(absolute.build(absolute.set("far"))) == {"ruled.rules": here}
    none = registry_of(tmp_path, none='mechanisms: {ruled: {rules: ""}}\n')
    assert files(none.build(none.set("none"))) == {}


def test_an_absent_file_of_a_set_names_file_and_line(tmp_path: Path) -> None:
    registry = registry_of(
        tmp_path, bad="mechanisms:\n  ruled:\n    weight: 1\n    rules: gone.txt\n"
    )
    with pytest.raises(RegistryError, match="no such file or folder") as caught:
        registry.build(registry.set("bad"))
    assert (
        f"{tmp_path / 'sets' / 'bad.yaml'}:4" in caught.value.where
        and "gone.txt" in caught.value.what
    )


@pytest.mark.parametrize("change", ["rules.txt", "3", "{low: 0.0}", "{choices: [a]}"])
def test_the_registry_itself_names_no_file(tmp_path: Path, change: str) -> None:
    declared = change.strip("{}") if change.startswith("{") else f"note: {change}"
    text = ENTRY.replace('value: "", unit: path', f'value: "", unit: path, {declared}')
    text = text if change.startswith("{") else ENTRY.replace('value: ""', f"value: {change}")
    with pytest.raises(RegistryError, match="unit path") as caught:
        registry_of(tmp_path, text)
    assert "registry.yaml" in caught.value.where


def test_code_and_registry_agree_on_what_is_a_path() -> None:
    plain = {"kind": "engineering", "source": "for the test"}
    declared = {
        "rules": {"value": "", "unit": "path", **plain},
        "weight": {"value": 1.0, "unit": "1", **plain},
    }
    both = {"id": "ruled", "class": "x:Y", "home": "retrieval", "summary": "s", "acts_on": "a",
            "papers": [], "claims": "HONEST"}  # fmt: skip
    assert (
        parameters(Entry.model_validate({**both, "params": declared}), RuledParams, {}).rules == ""
    )  # type: ignore[attr-defined]
    for name, value in (
        ("rules", {"value": "", "unit": "1", **plain}),
        ("weight", {"value": "", "unit": "path", **plain}),
    ):
        with pytest.raises(RegistryError, match=f"whether '{name}' is a path"):
            parameters(
                Entry.model_validate({**both, "params": {**declared, name: value}}), RuledParams, {}
            )


# --- what the content decides ---------------------------------------------------------------------
def test_the_content_and_not_the_place_decides_the_digest_of_the_set(
    registry: Registry, tmp_path: Path
) -> None:
    for name, content in (("one", b"a"), ("same", b"a"), ("other", b"b")):
        (tmp_path / name).write_bytes(content)
    one, same, other, none = (
        digest([built(registry, str(tmp_path / name) if name else "")])
        for name in ("one", "same", "other", "")
    )
    assert one == same and len({one, other, none}) == 3
    (tmp_path / "one").write_bytes(b"b")
    assert digest([built(registry, str(tmp_path / "one"))]) == other


def test_the_content_enters_key_and_manifest(registry: Registry, tmp_path: Path, tiny: Any) -> None:
    file, found = tmp_path / "rules.txt", []
    for content in (b"a", b"b"):
        file.write_bytes(content)
        arms = [
            Arm("full", MechanismSet("mine", "", {"ruled": {"rules": str(file)}})),
            Arm("bare", MechanismSet("mine", "", {"ruled": {}})),
        ]
        found.append(
            specs_of(
                planned(arms, registry, Settings()), tiny, CachedEmbedder(HashingEmbedder(32), None)
            )
        )
    (a, *_, bare), (b, *_, same) = found
    sha = [hashlib.sha256(content).hexdigest() for content in (b"a", b"b")]
    assert [s.files for s in (a, b, bare)] == [{"ruled.rules": sha[0]}, {"ruled.rules": sha[1]}, {}]
    assert (
        a.mechanisms == b.mechanisms
        and a.key() != b.key()
        and a.set_digest != b.set_digest
        and bare.key() == same.key()
    )
    assert changes(a, b) == {"set_digest": b.set_digest, "files": b.files}
    written = json.loads(json.dumps(manifest([a, bare], tiny, {})))
    assert written["files"] == {"ruled.rules": sha[0]} and written["changes"]["bare"]["files"] == {}
    assert (
        recorded(written, "full", a.conversation) == a
        and recorded(written, "bare", a.conversation).files == {}
    )
    del written["files"], written["changes"]["bare"]["files"]
    assert recorded(written, "bare", a.conversation).files == {}, "a manifest without the field"


def test_a_snapshot_is_continued_with_the_same_content_wherever_the_file_is(
    registry: Registry, tmp_path: Path
) -> None:
    for name, content in (("one", b"a"), ("moved", b"a"), ("other", b"b")):
        (tmp_path / name).write_bytes(content)
    for name in ("one", "moved"):
        with Engine(
            [built(registry, str(tmp_path / name))], HashingEmbedder(16), path=tmp_path / "m.db"
        ) as memory:
            memory.encode(Event(1.0, "We moved."))
    with pytest.raises(SnapshotError, match=r"other mechanisms \(\['ruled'\]\)"):
        Engine(
            [built(registry, str(tmp_path / "other"))], HashingEmbedder(16), path=tmp_path / "m.db"
        )
