"""The command `topology`: a run without edits, a report with some, and wrong calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hebbarium.audit.evidence.topology_consolidation import run_by_run
from hebbarium.audit.specimen import Specimen
from hebbarium.cli.topology import show
from hebbarium.mechanisms.consolidation import topology_consolidation as module
from hebbarium.mechanisms.shared.topology_report import pressure, reported, together

Command = Callable[..., tuple[int, str, str]]
SET = "summary: a set with a topology\nmechanisms: [dense_similarity, topology_consolidation, typed_expansion]\n"


def test_a_run_is_rebuilt_and_its_records_are_read(hebbarium: Command, tmp_path: Path) -> None:
    (tmp_path / "linked.yaml").write_text(SET, encoding="utf-8")
    fast = ("--dataset", "demo", "--embedder", "hashing:64", "--limit", "1")
    for name, chosen in (("linked", str(tmp_path / "linked.yaml")), ("plain", "bm25")):
        assert hebbarium("run", "--set", chosen, *fast, "--out", tmp_path / name)[0] == 0
    code, out, _ = hebbarium("topology", tmp_path / "linked")
    assert (
        code == 0
        and "no proposals" in out
        and "no archived memories" in out
        and "at cap before" in out
    )
    code, out, _ = hebbarium("topology", tmp_path / "linked", "--json")
    found = json.loads(out)
    assert (
        code == 0
        and len(found["conversations"]) == 1
        and found["runs"] == next(iter(found["conversations"].values()))["runs"]
    )
    assert [run["run"] for run in found["runs"]] == list(
        range(1, len(found["runs"]) + 1)
    ) and found["unreachable"] == 0.0
    code, _, err = hebbarium("topology", tmp_path / "plain")
    assert code and "topology_consolidation" in err
    code, _, err = hebbarium("topology", tmp_path / "linked", "--conversation", "nobody")
    assert code and "nobody" in err


def test_a_report_shows_reasons_runs_and_distances(capsys: pytest.CaptureFixture[str]) -> None:
    report = reported(run_by_run(Specimen("topology_consolidation", module), 1)[1])
    show(together((report, report)), {"one": report, "two": report})
    out = capsys.readouterr().out
    for word in (
        "split",
        "merge",
        "update",
        "APPLIED",
        f"{2 * report.edits['created']} created",
        "coverage",
        "H95: ",
        "unreachable: 0.0 %",
    ):
        assert word in out, word
    assert out.count("one ") == len(report.runs) == out.count("two ")


def test_the_share_of_units_at_the_cap() -> None:
    assert pressure([], 8) == 0.0 and pressure([4, 0, 2, 2], 2) == 0.5 and pressure([4], 8) == 0.0
