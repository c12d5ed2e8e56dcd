"""The commands about finished runs: compare, explain, export; asked rightly and wrongly."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import command
from test_cli import on_terminal

from hebbarium.benchmarks.execution.folder import RunFolder

ROOT = Path(__file__).parent.parent
FAST = ("--dataset", "demo", "--embedder", "hashing:64", "--limit", "2")
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs, a run of another system, and an ablation."""
    folder = tmp_path_factory.mktemp("runs")
    for name, arguments in {
        "bm25": ("run", "--set", "bm25"),
        "minimal": ("run", "--set", "minimal"),
        "ablation": ("ablate", "--set", "hybrid"),
        "other": ("run", "--system", "hebbarium.benchmarks.systems.bm25_dense:BM25Dense"),
    }.items():
        command(folder / "cache", *arguments, *FAST, "--out", folder / name)
    return folder


def missed_question(runs: Path, name: str = "bm25") -> dict[str, Any]:
    return next(
        row
        for row in RunFolder.read(runs / name).rows()
        if row["gold"] and not set(row["gold"]) & set(row["retrieved"])
    )


# --- compare --------------------------------------------------------------------------------------
def test_compare_prints_metrics_and_the_questions_gained_and_lost(
    hebbarium: Command, runs: Path, tmp_path: Path
) -> None:
    page = tmp_path / "deep" / "page.html"
    code, out, err = hebbarium("compare", runs / "bm25", runs / "minimal", "--html", page)
    code_json, as_json, _ = hebbarium("compare", runs / "bm25", runs / "minimal", "--json")
    printed = json.loads(as_json)
    assert (
        code == code_json == 0
        and err == ""
        and "<html" in page.read_text(encoding="utf-8")
        and f"page: {page}" in out
    )
    for metric in printed["metrics"]:
        assert any(
            line.startswith(metric["metric"]) and f"{metric['difference']['mean']:+.4f}" in line
            for line in out.splitlines()
        )
    assert (
        re.search("^mechanisms only in the second: .*dense_similarity", out, re.MULTILINE)
        and "set: bm25 -> minimal" in out
    )
    assert f"gained: {len(printed['gained'])}" in out
    first = printed["gained"][0]
    assert (
        first["text"] in " ".join(out.split())
        and first["gold"][0]["text"]
        and f"gold {first['gold'][0]['id']}: rank" in out
    )


def test_compare_takes_arms_of_an_ablation(hebbarium: Command, runs: Path) -> None:
    folder = runs / "ablation"
    _, out, _ = hebbarium(
        "compare", folder, folder, "--arm", "full", "--arm", "without lexical_bm25"
    )
    assert (
        "arm full" in out
        and "arm without lexical_bm25" in out
        and "mechanisms only in the first: lexical_bm25" in out
    )
    _, out, _ = hebbarium("compare", folder, folder, "--arm", "without lexical_bm25")
    assert "the manifests do not differ" in out and "0 are gained and 0 lost" in out


def test_compare_takes_a_run_of_another_system(hebbarium: Command, runs: Path) -> None:
    code, out, _ = hebbarium("compare", runs / "other", runs / "minimal")
    assert (
        code == 0
        and "system: hebbarium.benchmarks.systems.bm25_dense:BM25Dense -> hebbarium" in out
    )


# --- explain --------------------------------------------------------------------------------------
def test_explain_without_a_question_lists_the_missed_ones(hebbarium: Command, runs: Path) -> None:
    code, out, _ = hebbarium("explain", runs / "bm25")
    printed = json.loads(hebbarium("explain", runs / "bm25", "--json")[1])
    row = missed_question(runs)
    assert code == 0 and f"{len(printed)} questions with gold that is not in the answer" in out
    assert any(
        line.startswith(row["question"]) and row["question_text"] in line
        for line in out.splitlines()
    )
    assert f"`hebbarium explain {runs / 'bm25'} QUESTION`" in out
    assert row["question"] in [one["question"] for one in printed]


@pytest.mark.slow
def test_explain_prints_the_cause_of_every_missed_event(
    hebbarium: Command, runs: Path, tmp_path: Path
) -> None:
    rows, page = RunFolder.read(runs / "minimal").rows(), tmp_path / "page.html"
    lost = {
        (row["question"], id)
        for row in rows
        for id, rank in zip(row["gold"], row["ranks"], strict=True)
        if not 0 < rank <= 10
    }
    code, out, _ = hebbarium("explain", runs / "minimal", "--misses", "--html", page)
    printed = json.loads(hebbarium("explain", runs / "minimal", "--misses", "--json")[1])
    assert code == 0 and "<html" in page.read_text(encoding="utf-8") and f"page: {page}" in out
    assert {
        (m["question"], m["gold"]) for m in printed["misses"]
    } == lost and f"{len(lost)} of {printed['n_gold']} gold events" in out
    assert sum(group["gold"] for group in printed["groups"]) == len(lost)
    one = printed["misses"][0]["question"]
    alone = json.loads(hebbarium("explain", runs / "minimal", one, "--misses", "--json")[1])
    assert {m["question"] for m in alone["misses"]} == {one} and alone["n_questions"] == 1


def test_explain_prints_every_signal_stage_and_silenced_mechanism(
    hebbarium: Command, runs: Path, tmp_path: Path
) -> None:
    row, page = missed_question(runs, "minimal"), tmp_path / "page.html"
    code, out, _ = hebbarium("explain", runs / "minimal", row["question"], "--html", page)
    printed = json.loads(hebbarium("explain", runs / "minimal", row["question"], "--json")[1])
    assert (
        code == 0
        and row["question_text"] in out
        and "<html" in page.read_text(encoding="utf-8")
        and "does not give the answer" not in out
    )
    for gold, rank in zip(printed["golds"], row["ranks"], strict=True):
        assert gold["at"]["rank"] == rank and f", {gold['at']['id']}: {gold['words']}" in out
    assert [r["id"] for r in printed["rivals"]] == [
        id for id in row["retrieved"] if id not in row["gold"]
    ][:5]
    for title in (
        "Rank after each stage",
        "Contributions",
        "Standardised scores",
        "Raw scores",
        "Rank by the signal alone",
        "Rank of gold with one",
    ):
        assert title in out
    for part in printed["rivals"][0]["parts"]:
        assert part["trust"] == 0 or (
            part["signal"] in out and f"{part['contribution']:+.3f}" in out
        )


def test_explain_takes_an_arm_and_data_that_were_moved(
    hebbarium: Command, runs: Path, tmp_path: Path
) -> None:
    row = RunFolder.read(runs / "ablation").rows("without dense_similarity")[0]
    printed = json.loads(
        hebbarium(
            "explain",
            runs / "ablation",
            row["question"],
            "--arm",
            "without dense_similarity",
            "--json",
        )[1]
    )
    assert (
        printed["arm"] == "without dense_similarity"
        and [g["at"]["rank"] for g in printed["golds"]] == row["ranks"]
    )
    assert hebbarium("data", "convert", "demo", "--out", tmp_path / "data")[0] == 0
    held = (tmp_path / "data" / "events.jsonl").read_bytes()
    code, _, err = hebbarium("data", "convert", "demo", "--out", tmp_path / "data")
    assert code == 2 and "events.jsonl" in err and "--replace" in err
    (tmp_path / "data" / "events.jsonl").write_text("mine\n", encoding="utf-8")
    assert hebbarium("data", "convert", "demo", "--out", tmp_path / "data", "--replace")[0] == 0
    assert (tmp_path / "data" / "events.jsonl").read_bytes() == held
    code, _, err = hebbarium("data", "convert", "locomo", "--out", tmp_path / "other")
    assert (
        code == 2
        and "data get locomo" in err
        and "--data" not in err
        and not (tmp_path / "other").exists()
    )
    own = ("run", "--set", "bm25", "--embedder", "hashing:64", "--limit", "1", "--dataset",
           "conversations")  # fmt: skip
    assert hebbarium(*own, "--data", tmp_path / "data", "--out", tmp_path / "o")[0] == 0
    (tmp_path / "data").rename(tmp_path / "moved")
    question = RunFolder.read(tmp_path / "o").rows()[0]["question"]
    code, _, err = hebbarium("explain", tmp_path / "o", question)
    assert code == 2 and "no longer at" in err and "--data" in err
    assert hebbarium("explain", tmp_path / "o", question, "--data", tmp_path / "moved")[0] == 0


@pytest.mark.slow
def test_a_narrow_terminal_leaves_out_rivals_and_cuts_no_number(runs: Path) -> None:
    row = missed_question(runs, "minimal")
    for columns in (60, 80, 120):
        text = on_terminal(
            runs / "cache", "explain", str(runs / "minimal"), row["question"], columns=columns
        )
        assert max(len(line.rstrip()) for line in text.splitlines()) <= columns
        heads, shown = (
            next(line for line in text.splitlines() if line.split()[:1] == [word])
            for word in ("signal", "lexical")
        )
        assert len(re.findall(r"[-+]\d+\.\d{3}(?!\d)", shown)) == len(
            re.findall(r"gold|#\d", heads)
        )
        assert ("not shown, the terminal is too narrow" in text) == (columns < 120)


# --- export ---------------------------------------------------------------------------------------
def test_export_writes_every_row(hebbarium: Command, runs: Path, tmp_path: Path) -> None:
    code, out, _ = hebbarium("export", runs / "ablation", "--csv", tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    rows = RunFolder.read(runs / "ablation").rows()
    assert (
        code == 0
        and f"{len(rows):,} rows written to" in out
        and [r["question"] for r in found] == [r["question"] for r in rows]
    )
    printed = json.loads(
        hebbarium("export", runs / "bm25", "--csv", tmp_path / "rows.csv", "--json")[1]
    )
    assert printed == {
        "files": [str(tmp_path / "rows.csv")],
        "rows": len(RunFolder.read(runs / "bm25").rows()),
    }


# --- reproduce ------------------------------------------------------------------------------------
def test_reproduce_ends_with_0_for_equal_rows_and_with_1_and_the_difference_for_others(
    hebbarium: Command, runs: Path, tmp_path: Path
) -> None:
    code, out, _ = hebbarium("reproduce", runs / "bm25", "--out", tmp_path / "again")
    n = len(RunFolder.read(runs / "bm25").rows())
    assert code == 0 and f"all {n} rows of {runs / 'bm25'} are equal" in out
    for name in ("manifest.json", "rows.jsonl"):
        (tmp_path / "run").mkdir(exist_ok=True)
        (tmp_path / "run" / name).write_bytes((runs / "bm25" / name).read_bytes())
    first, *rest = (tmp_path / "run" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "run" / "rows.jsonl").write_text(
        "\n".join([json.dumps({**json.loads(first), "held_back": None}), *rest, ""]),
        encoding="utf-8",
    )
    code, _, err = hebbarium("reproduce", tmp_path / "run", "--out", tmp_path / "more")
    assert code == 2 and "changed after the run" in err and "--force" in err
    more = ("--out", tmp_path / "more", "--force")
    code, out, err = hebbarium("reproduce", tmp_path / "run", *more)
    assert f"note: {tmp_path / 'run' / 'rows.jsonl'} was changed after the run" in err
    assert (
        code == 1
        and f"1 of {n} rows" in out
        and "held_back: absent -> false" in out
        and json.loads(first)["question"] in out
    )
    code, out, _ = hebbarium("reproduce", tmp_path / "run", *more, "--json")
    assert code == 1 and json.loads(out)["n_different"] == 1


# --- what goes wrong ------------------------------------------------------------------------------
WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "compare with nothing": (("compare", "{runs}/bm25", "{runs}/nope"), "no such folder"),
    "compare with a folder without a run": (("compare", "{runs}/bm25", "{runs}"), "holds no run"),
    "compare with an unknown arm": (("compare", "{runs}/bm25", "{runs}/bm25", "--arm", "nope"),
                                    "no arm 'nope'"),
    "compare with data that are not there": (("compare", "{runs}/bm25", "{runs}/minimal", "--data",
                                              "{tmp}/nope"), "demo"),
    "page into a file": (("compare", "{runs}/bm25", "{runs}/minimal", "--html",
                          "{tmp}/file/page.html"), "cannot be written"),
    "explain nothing": (("explain", "{runs}/nope", "q"), "no such folder"),
    "explain an unknown question": (("explain", "{runs}/bm25", "nope"), "no question 'nope'"),
    "misses of an unknown question": (("explain", "{runs}/bm25", "nope", "--misses"),
                                      "no question 'nope'"),
    "misses of another system": (("explain", "{runs}/other", "--misses"),
                                 "only the memories of hebbarium"),
    "explain an unknown arm": (("explain", "{runs}/bm25", "friends/q1", "--arm", "nope"),
                               "no arm 'nope'"),
    "explain another system": (("explain", "{runs}/other", "friends/q1"),
                               "only the memories of hebbarium"),
    "explain with another embedder": (("explain", "{runs}/bm25", "friends/q1", "--embedder",
                                       "hashing:32"), "is not that of the run"),
    "reproduce nothing": (("reproduce", "{runs}/nope", "--out", "{tmp}/o"), "no such folder"),
    "reproduce into the run": (("reproduce", "{runs}/bm25", "--out", "{runs}/bm25"),
                               "that of the run itself"),
    "reproduce into another run": (("reproduce", "{runs}/bm25", "--out", "{runs}/minimal"),
                                   "another run (minimal on demo)"),
    "export nothing": (("export", "{runs}/nope", "--csv", "{tmp}/rows.csv"), "no such folder"),
    "export into a file": (("export", "{runs}/bm25", "--csv", "{tmp}/file/rows.csv"),
                           "cannot be written"),
    "run over another run": (("run", "--set", "hybrid", *FAST, "--out", "{runs}/bm25"),
                             "another run (bm25 on demo)"),
    "ablate over a run": (("ablate", "--set", "bm25", *FAST, "--out", "{runs}/bm25"),
                          "command is run there and ablate here"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_is_told_what_where_and_what_to_do(
    hebbarium: Command, runs: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "file").write_text("x")
    arguments, words = WRONG[name]
    code, out, err = hebbarium(
        *(a.replace("{runs}", str(runs)).replace("{tmp}", str(tmp_path)) for a in arguments)
    )
    assert (
        code == 2
        and out == ""
        and words in err
        and "Traceback" not in err
        and "\n  What to do: " in err
    )


@pytest.mark.parametrize("arguments", [("compare",), ("compare", "one"), ("explain",), ("export",
    "{runs}/bm25"),
                                       ("explain", "{runs}/bm25", "--html", "x"),
                                       ("compare", "{runs}/bm25", "{runs}/bm25", "--arm", "a",
                                        "--arm", "b", "--arm", "c")], ids=" ".join)  # fmt: skip
def test_a_call_that_is_not_understood_shows_how_to_call(
    hebbarium: Command, runs: Path, arguments: tuple[str, ...]
) -> None:
    code, out, err = hebbarium(*(a.replace("{runs}", str(runs)) for a in arguments))
    assert code == 2 and "Usage: hebbarium" in out + err


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "{runs}/bm25", "{runs}/minimal"),
        ("explain", "{runs}/bm25"),
        ("list",),
        ("--version",),
    ],
    ids=" ".join,
)
def test_a_full_disk_under_the_output_is_told(runs: Path, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "hebbarium",
                *(a.replace("{runs}", str(runs)) for a in arguments),
            ],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )
    assert done.returncode == 2 and done.stderr == (
        "error: output: No space left on device\n  What to do: free disk space, or check that the "
        "place can be written to\n"
    )


def test_an_interrupted_explanation_ends_with_a_word(
    hebbarium: Command, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hebbarium.benchmarks.runs.explain.prepare", stop)
    code, out, err = hebbarium("explain", runs / "bm25", "friends/q1")
    assert code == 130 and out == "" and "interrupted" in err and "Traceback" not in err
