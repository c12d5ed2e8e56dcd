"""Ablations: arms, differences against the rows themselves, no-ops, and continuing after a stop
at any moment.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from hebbarium.benchmarks.datasets import Conversation, Dataset, Question, load
from hebbarium.benchmarks.designs.families import families_of
from hebbarium.benchmarks.designs.leave_one_out import leave_one_out
from hebbarium.benchmarks.execution import local
from hebbarium.benchmarks.execution.cells import Cell, Outcome
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.benchmarks.experiments.design import ablate as carried_out
from hebbarium.benchmarks.reports.result import BlockResult, from_json
from hebbarium.benchmarks.scores.comparison import Verdict
from hebbarium.benchmarks.scores.scopes import here
from hebbarium.engine.base.errors import ContractError, InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.reporting.provenance import made

ROOT = Path(__file__).parent.parent.parent


def plain_set(*ids: str, name: str = "mine", **alternates: tuple[str, ...]) -> MechanismSet:
    return MechanismSet(name, "for the test", {id: {} for id in ids}, alternates)


def ablate(*given: Any, **more: Any) -> BlockResult:
    """The only block of the design."""
    (block,) = carried_out(*given, **more).blocks
    return block


def embedder() -> CachedEmbedder:
    return CachedEmbedder(HashingEmbedder(64), None)


SMALL = plain_set(
    "dense_similarity", "lexical_bm25", "weighted_rrf", weighted_rrf=("convex_fusion",)
)


def test_differences_are_those_of_the_rows(registry: Registry, tmp_path: Path) -> None:
    data = load("demo", limit=2)
    result = ablate(SMALL, registry, data, embedder(), tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert Counter(row["arm"] for row in rows) == {
        a.id: sum(len(c.questions) for c in data.conversations) for a in leave_one_out(SMALL)
    }

    def recall(arm: str) -> float:
        return fmean(
            fmean(0 < rank <= 10 for rank in row["ranks"])
            for row in rows
            if row["arm"] == arm and row["gold"]
        )

    assert len(result.estimates) == 4
    for arm in result.estimates:
        name = arm.name if arm.name.startswith("swap") else f"without {arm.name}"
        assert arm.metrics["recall@10"] == pytest.approx(recall(name))
        assert arm.differences["recall@10"].mean == pytest.approx(recall("full") - recall(name))
    assert json.loads((tmp_path / "design.json").read_text())["blocks"][0]["baseline"][
        "recall@10"
    ] == pytest.approx(recall("full"))
    kinds = ("json", "md", "html", "svg", "tex", "csv")
    assert {p.name for p in tmp_path.iterdir()} >= {
        "manifest.json",
        "rows.jsonl",
        *(f"design.{kind}" for kind in kinds),
    }


@pytest.mark.slow
def test_both_scopes_are_those_of_the_values_and_stand_in_the_reports(
    registry: Registry, tmp_path: Path
) -> None:
    result = ablate(SMALL, registry, load("demo", limit=3), embedder(), tmp_path)
    ids = [conversation for conversation, _ in result.questions]
    table, names = [e.values for e in result.estimates], [e.name for e in result.estimates]
    alone = here(table, ids, seed=0, margin=0.005, families=families_of(names))
    assert tuple(e.here for e in result.estimates) == alone
    for e in result.estimates:
        assert e.flip_p_rw is not None and e.flip_p_rw >= e.primary.flip_p - 1e-12
        decided = e.verdict_here in (Verdict.HELPS, Verdict.HURTS)
        assert e.here and decided == (e.here.p_rw <= 0.05 and not e.here.equivalent)
    assert any(e.verdict_here is not e.verdict for e in result.estimates)
    assert from_json(json.loads((tmp_path / "design.json").read_text())).blocks[0] == result
    for kind in ("md", "html"):
        text = (tmp_path / f"design.{kind}").read_text(encoding="utf-8")
        assert "helps here, undecided beyond (" in text and "Quote it for a claim about" in text
    assert (tmp_path / "design.svg").read_text(encoding="utf-8").count('class="here"') >= 2


def test_one_conversation_has_a_verdict_here_alone(registry: Registry, tmp_path: Path) -> None:
    result = ablate(SMALL, registry, load("demo", limit=1), embedder(), tmp_path)
    assert {e.verdict for e in result.estimates} <= {Verdict.UNDECIDED, Verdict.NO_OP}
    assert all(e.here is not None for e in result.estimates)
    assert "For these conversations alone" in (tmp_path / "design.md").read_text(encoding="utf-8")


def test_what_changes_nothing_is_called_a_no_op(registry: Registry, tmp_path: Path) -> None:
    """In this set nothing reads what synaptic tagging writes."""
    result = ablate(
        plain_set("lexical_bm25", "synaptic_tagging"),
        registry,
        load("demo", limit=1),
        embedder(),
        tmp_path,
    )
    arms = {arm.name: arm for arm in result.estimates}
    assert (
        arms["synaptic_tagging"].no_op
        and arms["synaptic_tagging"].receipt is not None
        and arms["synaptic_tagging"].receipt.values_changed
    )
    assert not arms["lexical_bm25"].no_op
    assert (
        arms["synaptic_tagging"].verdict is Verdict.STATE_ONLY
        and Verdict.STATE_ONLY.value in (tmp_path / "design.html").read_text()
    )


@pytest.mark.slow
def test_the_arm_of_a_fusion_says_what_else_it_removes_and_which_arm_is_fair(
    registry: Registry, tmp_path: Path
) -> None:
    """Recency is read by a fusion alone; without any, the ranking is that of the match."""
    chosen = plain_set(
        "dense_similarity",
        "lexical_bm25",
        "recency",
        "convex_fusion",
        convex_fusion=("weighted_rrf",),
    )
    result = ablate(chosen, registry, load("demo", limit=2), embedder(), tmp_path)
    arms = {arm.name: arm for arm in result.estimates}
    assert {id: arm.silenced for id, arm in arms.items() if arm.silenced} == {
        "convex_fusion": ("recency",)
    }
    assert arms["convex_fusion"].fair == ("swap convex_fusion->weighted_rrf",)
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    bare = ablate(
        plain_set("dense_similarity", "lexical_bm25", "convex_fusion"),
        registry,
        load("demo", limit=2),
        embedder(),
        tmp_path / "bare",
    )
    without = [
        json.loads(line) for line in (tmp_path / "bare" / "rows.jsonl").read_text().splitlines()
    ]
    ranks = [
        [row["ranks"] for row in some if row["arm"] == "without convex_fusion"]
        for some in (rows, without)
    ]
    assert ranks[0] == ranks[1], "with or without recency: the same ranks"
    assert not any(arm.silenced for arm in bare.estimates)
    assert "also removes the signals of 1 other mechanism" in (tmp_path / "design.md").read_text()


@pytest.mark.slow
def test_gates_have_receipts_of_their_votes(registry: Registry, tmp_path: Path) -> None:
    data = load("demo", limit=2)
    result = ablate(
        plain_set("lexical_bm25", "write_gate_true_memory"), registry, data, embedder(), tmp_path
    )
    receipt = {arm.name: arm.receipt for arm in result.estimates}["write_gate_true_memory"]
    assert receipt is not None and receipt.gate is not None
    gate, events = receipt.gate, sum(len(c.events) for c in data.conversations)
    assert (gate.judged, gate.stored + gate.vetoed, gate.decided, gate.merged) == (
        events,
        events,
        gate.vetoed,
        0,
    ) and gate.vetoed > 0
    assert receipt.ranks_changed == 0 and "0 ‡" in (tmp_path / "design.html").read_text(
        encoding="utf-8"
    )
    assert {arm.name: arm.receipt.gate for arm in result.estimates if arm.receipt}[
        "lexical_bm25"
    ] is None


@pytest.mark.slow
def test_only_the_arms_that_are_named_run_and_are_corrected(
    registry: Registry, tmp_path: Path
) -> None:
    from statsmodels.stats.multitest import multipletests

    data = load("demo", limit=2)
    whole = ablate(SMALL, registry, data, embedder(), tmp_path / "whole")
    part = ablate(
        SMALL,
        registry,
        data,
        embedder(),
        tmp_path / "part",
        only=["lexical_bm25", "swap weighted_rrf->convex_fusion"],
    )
    assert [arm.name for arm in part.estimates] == [
        "lexical_bm25",
        "swap weighted_rrf->convex_fusion",
    ] and (len(part.estimates), part.facts.n_designed) == (2, 4)
    before = {arm.name: arm.primary for arm in whole.estimates}
    for arm in part.estimates:
        assert (arm.primary.p, arm.primary.mean) == (before[arm.name].p, before[arm.name].mean)
    raw = [arm.primary.p for arm in part.estimates]
    assert [arm.primary.p_holm for arm in part.estimates] == pytest.approx(
        multipletests(raw, method="holm")[1].tolist()
    )
    manifest = json.loads((tmp_path / "part" / "manifest.json").read_text())
    assert manifest["arms"] == ["full", "without lexical_bm25", "swap weighted_rrf->convex_fusion"]
    assert manifest["family"] == ["lexical_bm25", "swap weighted_rrf->convex_fusion"]
    assert "2 of the 4 arms" in (tmp_path / "part" / "design.md").read_text()
    with pytest.raises(InputError, match="no arm"):
        ablate(
            SMALL, registry, data, CachedEmbedder(Unused(8), None), tmp_path / "none", only=["heat"]
        )
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
def test_what_the_design_can_detect_is_announced_before_anything_runs(
    registry: Registry, tmp_path: Path
) -> None:
    """First from the figures of the package, then from the earlier run in the folder; both the
    manifest and the reports keep it.
    """
    data, seen = load("demo", limit=3), []
    for embed in (embedder(), embedder()):
        ablate(SMALL, registry, data, embed, tmp_path, announce=seen.append)
    first, again = seen
    questions = [sum(bool(q.gold) for q in c.questions) for c in data.conversations]
    assert (first.n_conversations, first.n_questions, first.family, first.flip_p) == (
        3,
        sum(questions),
        4,
        0.25,
    )
    assert (
        "demo figures" in first.source
        and "earlier run of this folder (mine on demo" in again.source
        and first.half_width != again.half_width
    )
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["expected"]["source"] == again.source and again.source in (
        tmp_path / "design.html"
    ).read_text(encoding="utf-8")
    with pytest.raises(InputError, match="margin"):
        ablate(
            SMALL, registry, data, CachedEmbedder(Unused(8), None), tmp_path / "none", margin=0.0
        )
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
def test_a_damaged_earlier_result_is_left_aside(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "design.json").write_text('{"format": 1}', encoding="utf-8")
    announced: list[Any] = []
    ablate(SMALL, registry, load("demo", limit=2), embedder(), tmp_path, announce=announced.append)
    assert "demo figures" in announced[0].source


@pytest.mark.slow
def test_reports_and_manifest_say_how_they_were_made(registry: Registry, tmp_path: Path) -> None:
    making = made(["hebbarium", "ablate", "--set", "mine"], "@misc{a2000b, title = {B}}\n")
    settings = Settings(param={"lexical_bm25": {"b": 0.6}}, rehearse=2.0)
    learning = plain_set(*SMALL.mechanisms, "recency")
    ablate(
        learning,
        registry,
        load("demo", limit=1),
        embedder(),
        tmp_path,
        settings=settings,
        making=making,
    )
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert (
        manifest["made"] == asdict(making) and making.command_line == "hebbarium ablate --set mine"
    )
    (block,) = json.loads((tmp_path / "design.json").read_text())["blocks"]
    assert block["provenance"] == manifest
    for kind in ("html", "md", "tex"):
        text = (tmp_path / f"design.{kind}").read_text(encoding="utf-8").replace("\\", "")
        for part in (
            making.command_line,
            making.date,
            "hashing",
            "one event is a turn",
            "lexical_bm25.b=0.6",
            manifest["versions"]["numpy"],
            manifest["sha256"],
            manifest["set_digest"],
            "2 h before",
        ):
            assert part in text, f"{kind}: {part}"
        assert kind == "tex" or making.bibtex.strip() in text


class Unused(HashingEmbedder):
    def embed(self, texts: Any) -> Any:
        raise AssertionError("embedded before the arms were checked")


def test_an_arm_that_cannot_be_built_is_refused_before_any_work(
    registry: Registry, tmp_path: Path
) -> None:
    clash = plain_set("dense_similarity", "weighted_rrf", dense_similarity=("convex_fusion",))
    with pytest.raises(ContractError, match="swap dense_similarity->convex_fusion"):
        ablate(
            clash, registry, load("demo", limit=1), CachedEmbedder(Unused(8), None), tmp_path / "o"
        )
    assert not (tmp_path / "o").exists()


def test_a_system_without_mechanisms_cannot_be_ablated(registry: Registry, tmp_path: Path) -> None:
    other = Settings(system="hebbarium.benchmarks.systems.bm25_dense:BM25Dense")
    for chosen in (None, SMALL):
        with pytest.raises(InputError, match="no mechanisms to leave off") as caught:
            ablate(
                chosen,
                registry,
                load("demo", limit=1),
                CachedEmbedder(Unused(8), None),
                tmp_path / "o",
                settings=other,
            )
        assert f"--beside {other.system}" in caught.value.cure
    with pytest.raises(InputError, match="no mechanism set"):
        ablate(
            None, registry, load("demo", limit=1), CachedEmbedder(Unused(8), None), tmp_path / "o"
        )
    assert not (tmp_path / "o").exists()


def test_questions_without_evidence_cannot_be_compared(registry: Registry, tmp_path: Path) -> None:
    data = Dataset(
        "d",
        "0",
        (Conversation("c", (Event(0.0, "x", id="e"),), (Question("q", "x?", 1.0, "k", ()),)),),
        {},
    )
    with pytest.raises(InputError, match="names its evidence"):
        ablate(SMALL, registry, data, embedder(), tmp_path)


@pytest.mark.slow
def test_any_number_of_jobs_and_any_stop_give_the_same_rows(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, real, ran = load("demo", limit=2), local.run_cell, Counter[tuple[str, str]]()
    ablate(SMALL, registry, data, embedder(), tmp_path / "whole")
    ablate(SMALL, registry, data, embedder(), tmp_path / "two", jobs=2)
    left = [0]

    def counted(cell: Cell, *rest: Any) -> Outcome:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        outcome = real(cell, *rest)
        ran[cell.spec.arm, cell.spec.conversation] += 1
        return outcome

    # every cell lives alone
    monkeypatch.setattr(
        local, "grouped", lambda cells, jobs=1: [[place] for place in range(len(cells))]
    )
    monkeypatch.setattr(local, "run_cell", counted)
    for enough in (1, 4):
        left[0] = enough
        with pytest.raises(KeyboardInterrupt):
            ablate(SMALL, registry, data, embedder(), tmp_path / "cut")
    left[0] = 99
    ablate(SMALL, registry, data, embedder(), tmp_path / "cut")
    assert len(ran) == len(leave_one_out(SMALL)) * 2 and set(ran.values()) == {1}
    rows = {(tmp_path / run / "rows.jsonl").read_bytes() for run in ("whole", "two", "cut")}
    assert len(rows) == 1


@pytest.mark.slow
def test_killed_and_started_again_no_cell_runs_twice(tmp_path: Path) -> None:
    """A real process, killed without warning as soon as some cells are finished."""
    ours = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "HEBBARIUM_CACHE": str(tmp_path / "cache"),
    }

    def start(out: str, jobs: int) -> subprocess.Popen[str]:
        call = ["ablate", "--set", "hybrid", "--dataset", "demo", "--embedder", "hashing:64",
                "--jobs", str(jobs), "--out", str(tmp_path / out)]  # fmt: skip
        return subprocess.Popen(
            [sys.executable, "-m", "hebbarium", *call],
            env=ours,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finished() -> dict[str, str]:
        if not (tmp_path / "cut" / "ledger.sqlite").exists():
            return {}
        with sqlite3.connect(tmp_path / "cut" / "ledger.sqlite") as connection:
            try:
                return dict(connection.execute("SELECT key, payload || finished FROM cells"))
            except sqlite3.OperationalError:
                return {}

    process = start("cut", 1)
    while len(finished()) < 3 and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.communicate()
    before = finished()
    assert (
        process.returncode == -9
        and len(before) >= 3
        and not (tmp_path / "cut" / "rows.jsonl").exists()
    )
    again, whole = start("cut", 2), start("whole", 1)
    said, (_, whole_said) = again.communicate()[1], whole.communicate()
    total = len(finished())
    assert (
        again.returncode == whole.returncode == 0
        and len(before) < total
        and before.items() <= finished().items()
    )
    assert (
        f"{len(before)} of {total} cells were finished before" in said
        and f"{total - len(before)} were run now" in said
    )
    assert "finished before" not in whole_said
    assert (tmp_path / "cut" / "rows.jsonl").read_bytes() == (
        tmp_path / "whole" / "rows.jsonl"
    ).read_bytes()


class Page(HTMLParser):
    """Tags and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.slow
def test_names_from_data_and_files_are_only_text_in_the_reports(
    registry: Registry, tmp_path: Path
) -> None:
    bad, name = "<script>alert(1)</script>", "<img src=x onerror=alert(2)>"
    events = tuple(Event(i / 60, f"{bad} thing {i}", bad, "s", f"e{i}{bad}") for i in range(12))

    def page(category: str, set_name: str) -> Page:
        talk = Conversation(
            category, events, (Question("q", "thing 3", 1.0, category, (events[3].id,)),)
        )
        chosen = plain_set("lexical_bm25", "dense_similarity", "weighted_rrf", name=set_name)
        ablate(
            chosen,
            registry,
            Dataset("d", "0", (talk,), {}),
            embedder(),
            tmp_path / str(len(set_name)),
        )
        return Page((tmp_path / str(len(set_name)) / "design.html").read_text(encoding="utf-8"))

    hostile, tame = page(bad, name), page("kind", "mine")
    assert hostile.tags == tame.tags and hostile.tags["script"] == 1 and not hostile.tags["img"]
    assert bad in hostile.text and name in hostile.text
