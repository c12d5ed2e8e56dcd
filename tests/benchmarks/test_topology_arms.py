"""The eight arms of All-Mem in a planted world, from the transcript that ships; the records of a
memory with a model, executed again without one; and the command for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from hebbarium.benchmarks.edits.arms import (
    ARMS,
    EMBEDDER,
    LOST,
    TRANSCRIPT,
    ScriptedModel,
    asked,
    measured,
    planted_world,
)
from hebbarium.benchmarks.execution.folder import RunFolder
from hebbarium.benchmarks.runs.budgets import BudgetPoint, pareto
from hebbarium.benchmarks.runs.topology import _tokens
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.by_name import embedder
from hebbarium.engine.ports.transcript import Transcript, replayed
from hebbarium.mechanisms.consolidation.topology_consolidation import TopologyConsolidation
from hebbarium.mechanisms.shared.topology_report import recorded_runs, reported

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def scores() -> dict[str, dict[str, float]]:
    return dict(measured(replayed(TRANSCRIPT)))


@pytest.fixture(scope="module")
def memory() -> Iterator[Engine]:
    texts, registry = embedder(EMBEDDER, None), Registry.read()
    with asked(replayed(TRANSCRIPT), "full", planted_world(), texts, registry)[1] as life:
        yield life


def test_the_whole_system_finds_everything_that_is_planted(
    scores: dict[str, dict[str, float]],
) -> None:
    assert list(scores) == list(ARMS) and set(scores["full"].values()) == {1.0}
    assert len(scores["full"]) == 7


@pytest.mark.parametrize("arm", ARMS)
def test_an_arm_loses_what_needs_its_part_and_nothing_else(
    arm: str, scores: dict[str, dict[str, float]]
) -> None:
    assert {kind for kind, value in scores[arm].items() if value < 1.0} == LOST[arm]


def test_all_eight_arms_differ(scores: dict[str, dict[str, float]]) -> None:
    assert len({tuple(sorted(values.items())) for values in scores.values()}) == 8


def test_the_edits_are_those_that_were_planted(memory: Engine) -> None:
    world, report = planted_world(), reported(memory)
    applied = {o: n for (o, reason), n in report.proposals.items() if reason == "APPLIED"}
    assert applied == {
        "SPLIT": len(world.parts),
        "MERGE": len(set(world.copies.values())),
        "UPDATE": len(world.updates),
    }
    assert report.edits["archived"] == (len(world.parts) + len(world.copies) + len(world.updates))
    assert report.recovery.unreachable == 0.0 and report.recovery.h95 == 1


def test_rules_alone_edit_less() -> None:
    """So the arms differ by the model's replies, not by the rules."""
    texts, registry = embedder(EMBEDDER, None), Registry.read()
    rules = registry.build(registry.set("all_mem"))
    with Engine(rules, texts) as plain:
        plain.encode_all(planted_world().events)
        plain.advance(72.0)
        applied = [n for (_, reason), n in reported(plain).proposals.items() if reason == "APPLIED"]
    assert sum(applied) < 11


def test_the_transcript_holds_what_the_scripted_model_says(tmp_path: Path) -> None:
    texts, registry, world = embedder(EMBEDDER, None), Registry.read(), planted_world()
    fresh = Transcript(ScriptedModel(world), tmp_path / "fresh", "record")
    for arm in ARMS:
        asked(fresh, arm, world, texts, registry)[1].close()
    cure = "prompts have changed: python -m hebbarium.benchmarks.edits.arms --record"
    assert fresh.digest() == replayed(TRANSCRIPT).digest(), cure


def test_records_are_executed_again_without_a_model(memory: Engine) -> None:
    texts, registry, world = embedder(EMBEDDER, None), Registry.read(), planted_world()
    records = recorded_runs(memory)
    for changed, same in ((records, True), ({}, False)):
        overridden = registry.set("all_mem").overridden(
            {"topology_consolidation": {"model": True}, "typed_expansion": {"candidates": 12}}
        )
        mechanisms = registry.build(overridden)
        next(m for m in mechanisms if isinstance(m, TopologyConsolidation)).recorded = changed
        with Engine(mechanisms, texts) as again:
            again.encode_all(world.events)
            again.advance(72.0)
            assert (again.digest() == memory.digest()) is same


def test_the_command_replays_a_run(hebbarium: Command, tmp_path: Path) -> None:
    chosen = tmp_path / "linked.yaml"
    chosen.write_text(
        "summary: a set with a topology\nmechanisms:\n  dense_similarity: {}\n"
        "  topology_consolidation: {gate: 0.0, coherence: 0.0, interval: 1}\n  typed_expansion: {}\n",
        encoding="utf-8",
    )
    lines = [
        {"id": f"t{number}", "session": f"s{number // 2}", "time": f"2024-05-{number + 1:02}T10:00:00",
         "speaker": "Ada", "text": text}
        for number, text in enumerate(
            ["My sister Petra keeps forty bees in Oslo.", "The ferry to Bergen was late again.",
             "We bought a green lamp for the harbour.", "My sister Petra keeps forty bees in Oslo.",
             "Otto plays the violin on Tuesdays.", "Rye bread is cheaper in the morning."])
    ]  # fmt: skip
    question = {"id": "q", "text": "Who keeps bees?", "category": "who", "gold": ["t0"],
                "answer": "Petra"}  # fmt: skip
    data = tmp_path / "talk"
    data.mkdir()
    for name, rows in (("events", lines), ("questions", [question])):
        (data / f"{name}.jsonl").write_text(
            "".join(json.dumps({"conversation": "talk", **row}) + "\n" for row in rows),
            encoding="utf-8",
        )
    (data / "dataset.yaml").write_text(
        "name: talk\nlicence: own\ncitation: own\n", encoding="utf-8"
    )
    fast = ("--dataset", "conversations", "--data", data, "--embedder", "hashing:64")
    assert hebbarium("run", "--set", chosen, *fast, "--out", tmp_path / "run")[0] == 0
    code, out, _ = hebbarium("topology", "replay", tmp_path / "run")
    assert code == 0 and "the same memory" in out
    code, out, _ = hebbarium("topology", "replay", tmp_path / "run", "--json")
    (replay,) = json.loads(out).values()
    assert code == 0 and replay["equal"] and replay["runs"] > 0
    assert replay["reasons"].get("APPLIED", 0) > 0, "nothing was edited, so nothing was shown"
    code, out, _ = hebbarium("topology", tmp_path / "run", "--table", "--json")
    (row,) = json.loads(out)
    assert code == 0 and row["arm"] == "full" and row["visible"] < 1.0
    assert row["h95"] == row["h95_typed"] == 1
    assert row["turns"] * replay["runs"] == len(lines)
    code, _, err = hebbarium("topology", "replay", tmp_path / "run", tmp_path / "run")
    assert code and "give one folder" in err
    code, out, _ = hebbarium("topology", "latency", tmp_path / "run", "--json")
    (times,) = json.loads(out).values()
    assert code == 0 and times["questions"] == 1 and times["memories"] >= len(lines)
    # one question: the whole is the embedding and the retrieval of it
    assert times["whole_ms"] == pytest.approx(times["embed_ms"] + times["retrieve_ms"])
    assert min(times["embed_ms"], times["retrieve_ms"], times["cold_ms"], times["rebuild_ms"]) > 0
    surface, curve = tmp_path / "surface.svg", tmp_path / "curve.svg"
    assert hebbarium("topology", tmp_path / "run", "--figure", surface)[0] == 0
    drawn = surface.read_text(encoding="utf-8")
    assert drawn.count("<circle") == 2 * replay["runs"] and "visible units</title>" in drawn
    code, out, _ = hebbarium("topology", "budgets", tmp_path / "run", "--figure", curve, "--json")
    points = json.loads(out)
    assert code == 0 and curve.read_text(encoding="utf-8").count("<circle") == len(points)
    counts = [-(-len(line["text"]) // 4) for line in lines]  # of four characters
    first = [p for p in points if p["shown"] == 1]
    assert {p["tokens"] for p in first} <= {*map(float, counts)} and points[0]["best"]
    assert max(p["recall"] for p in points) == 1.0
    code, _, err = hebbarium("topology", "replay", tmp_path / "run", "--figure", curve)
    assert code and "--figure" in err


def test_the_pareto_set_is_what_no_point_is_better_than() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        points = [
            BudgetPoint(k, k, k, float(tokens), float(recall))
            for k, (tokens, recall) in enumerate(
                zip(rng.integers(1, 9, 12), rng.integers(0, 5, 12) / 4, strict=True)
            )
        ]
        marked = {p.shown: p.best for p in pareto(points)}
        worse = {
            p.shown: any(
                q.tokens <= p.tokens
                and q.recall >= p.recall
                and (q.tokens < p.tokens or q.recall > p.recall or q.shown < p.shown)
                for q in points
            )
            for p in points
        }  # of equal points the first is in the set
        assert marked == {k: not is_worse for k, is_worse in worse.items()}


def test_tokens_that_a_run_did_not_count_are_not_said_to_be_none(tmp_path: Path) -> None:
    counts = {"prompt_tokens": 30, "completion_tokens": 4}
    used = {phase: {"topology_consolidation": counts} for phase in ("consolidate", "retrieve")}
    (tmp_path / "metrics.json").write_text(json.dumps({"language_model": used}), encoding="utf-8")

    def counted(model: str | None, arm: str, path: Path) -> float | None:
        return _tokens(
            cast(RunFolder, SimpleNamespace(manifest={"language_model": model}, path=path)), arm
        )

    assert counted("m", "full", tmp_path) == 34.0
    assert counted("m", "without split", tmp_path) is None
    assert counted("m", "full", tmp_path / "ablation") is None
    assert counted(None, "without split", tmp_path) == 0.0


def test_h95_over_all_links_is_never_longer(memory: Engine) -> None:
    report = reported(memory)
    assert 1 <= report.typed_recovery.h95 <= report.recovery.h95
    assert sum(report.typed.values()) == sum(report.distances.values()) == report.edits["archived"]
    assert report.runs[-1]["visible"] < report.runs[-1]["units"]


def test_the_page_prints_what_the_arms_have(scores: dict[str, dict[str, float]]) -> None:
    page = Path(__file__).parents[2] / "docs" / "results" / "all-mem.md"
    text = page.read_text(encoding="utf-8").replace("**", "")
    for arm, values in scores.items():
        cells = " | ".join(f"{v:.1f}".replace("0.", ".") for v in values.values())
        assert f"| {arm} | {cells} |" in text
