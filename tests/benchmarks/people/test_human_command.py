"""`hebbarium human` on the command line: options reach the study, and what is printed is its report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hebbarium.cli.app import app
from hebbarium.engine.base.errors import InputError


def human(out: Path, *more: str) -> Result:
    options = ["--set", "minimal", "--embedder", "hashing:16", "--people", "1", "--out", str(out)]
    return CliRunner().invoke(app, ["human", *options, *more], catch_exceptions=False)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("command") / "out"


TWO = ("--paradigm", "part_list", "--paradigm", "context", "--on-trial", "recency,dense_similarity")


def test_json_is_the_file_and_has_what_was_asked(out: Path) -> None:
    done = human(out, *TWO, "--json")
    printed = json.loads(done.stdout)
    assert done.exit_code == 0
    assert printed == json.loads((out / "human.json").read_text(encoding="utf-8"))
    assert list(printed["paradigms"]) == ["part_list", "context"]
    assert {row["mechanism"] for row in printed["on_trial"]} == {"recency", "dense_similarity"}


def test_tables_have_paradigms_and_mechanisms_and_results_are_resumed(out: Path) -> None:
    done = human(out, *TWO)
    assert done.exit_code == 0
    for text in ("part_list", "context", "dense_similarity", "all scored", "no evidence"):
        assert text in done.stdout, text
    assert "minimal without" not in done.stdout.split("What mechanisms do")[0]


def test_a_paradigm_that_there_is_not_is_refused_before_the_folder_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no paradigm 'context2'"):
        human(tmp_path / "out", "--paradigm", "context2")
    assert not (tmp_path / "out").exists()
