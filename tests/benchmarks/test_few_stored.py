"""A run that stores less than half of its events says so, in the terminal and in the report."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hebbarium.benchmarks.reports.stored import few_stored
from hebbarium.cli import main

SENTENCE = "were stored, the gates rejected the others"


@pytest.mark.parametrize(
    ("judged", "stored", "said"), [(100, 49, True), (100, 50, False), (100, 0, True), (0, 0, False)]
)
def test_half_of_the_events_is_enough(judged: int, stored: int, said: bool) -> None:
    assert bool(few_stored([(judged, stored)])) is said


@pytest.mark.slow
def test_the_commands_say_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    strict, open_ = tmp_path / "strict.yaml", tmp_path / "open.yaml"
    strict.write_text(
        "summary: nothing is new enough\nmechanisms:\n  lexical_bm25: {}\n  write_gate_cortex: {threshold: 1.0}\n"
    )
    open_.write_text(
        "summary: everything is new enough\nmechanisms:\n  lexical_bm25: {}\n  write_gate_cortex: {threshold: 0.0}\n"
    )
    for file, said in ((strict, True), (open_, False)):
        for command in ("run", "ablate"):
            told = f"{command} --dataset demo --limit 2 --embedder hashing:16 --set {file} --out {tmp_path / file.stem}_{command}"
            monkeypatch.setattr(sys, "argv", ["hebbarium", *told.split()])
            with pytest.raises(SystemExit) as ended:
                main()
            printed = capsys.readouterr().out
            assert not ended.value.code
            if command == "run":
                assert (SENTENCE in printed) is said
            else:
                assert (
                    SENTENCE
                    in (tmp_path / f"{file.stem}_ablate" / "design.html").read_text(
                        encoding="utf-8"
                    )
                ) is said
