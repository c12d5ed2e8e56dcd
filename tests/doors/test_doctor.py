"""What the doctor finds, and that it says what is wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hebbarium.doors import doctor
from hebbarium.doors.doctor import Finding, FindingState, examined

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def found() -> dict[str, Finding]:
    return {finding.name: finding for finding in examined("hashing:64")}


def test_what_works_is_good_and_what_is_not_has_a_cure() -> None:
    findings = found()
    for name in ("hebbarium", "files", "registry", "cache", "threads", "sqlite", "sentence model"):
        assert findings[name].state is FindingState.GOOD, findings[name]
    assert "64 dimensions" in findings["sentence model"].says
    assert all(bool(f.cure) == (f.state is not FindingState.GOOD) for f in findings.values())


def test_the_command_prints_it_and_ends_with_1_if_something_is_broken(hebbarium: Command) -> None:
    code, out, _ = hebbarium("doctor", "--embedder", "hashing:64", "--json")
    assert code == 0 and json.loads(out)["works"]
    code, out, _ = hebbarium("doctor", "--embedder", "hashing:64")
    assert code == 0 and "good     sqlite: 3." in out
    code, out, _ = hebbarium("doctor", "--embedder", "no-such-model")
    assert code == 1 and "broken   sentence model" in out and "What to do" in out
    assert out.splitlines()[-1] == "broken: sentence model"


def test_missing_libraries_and_extras_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "requires", lambda name: [
        "numpy>=1.26", "no-such-library>=1", "no-such-extra>=2; extra == 'odd'",
        'numpy>=1; extra == "fine"', "hebbarium[odd]; extra == 'dev'",
        "no-such-tool; extra == 'dev'"])  # fmt: skip
    listed = [f for f in examined("hashing:64") if f.name.startswith(("libraries", "extra"))]
    broken, good, fine, odd = listed
    assert broken.state is FindingState.BROKEN and broken.cure == "pip install no-such-library"
    assert good.says.startswith("numpy ") and fine.state is FindingState.GOOD
    assert odd.state is FindingState.ABSENT and odd.cure == "pip install 'hebbarium[odd]'"


def test_a_look_that_fails_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    def fails() -> Iterator[Finding]:
        raise RuntimeError("no registry")
        yield

    monkeypatch.setattr(doctor, "_registry", fails)
    cache.write_text("a file in place of the folder")
    findings = found()
    assert findings["registry"].state is FindingState.BROKEN
    assert "no registry" in findings["registry"].says
    assert findings["cache"].state is FindingState.BROKEN and findings["cache"].cure
    assert findings["sentence model"].state is FindingState.GOOD


def test_a_clone_without_links_and_another_encoding_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "hebbarium"
    (package / "doors").mkdir(parents=True)
    (package / "engine").write_text("../../engine")
    monkeypatch.setattr(doctor, "__file__", str(package / "doors" / "doctor.py"))
    (files,) = doctor._files()
    assert files.state is FindingState.BROKEN and "symlinks" in files.cure

    class Latin:
        encoding = "latin-1"

    monkeypatch.setattr(sys, "stdout", Latin())
    assert doctor._python().state is FindingState.WARNING
