"""Calibration of the sufficiency gate: pairs by what is known of each answer, the fit on unseen
conversations, and the set that uses it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from hebbarium.benchmarks.calibration.gate import (
    CALIBRATION,
    FEWEST,
    GATE,
    AnswerKind,
    Calibration,
    JudgedAnswer,
    _fitted,
    calibrate,
    with_open_gate,
    write,
)
from hebbarium.benchmarks.datasets import Conversation, Dataset, Question, load
from hebbarium.benchmarks.experiments.design import ablate
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.scores.calibration import expected_calibration_error, reliability
from hebbarium.cli import main
from hebbarium.engine.base.errors import DataError, InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

CHOSEN = MechanismSet("mine", "", {"lexical_bm25": {"b": 0.5}})
WORDS = ("anchor", "basket", "candle", "dragon", "engine", "feather", "garden", "hammer", "island",
         "jacket")  # fmt: skip


def embedder() -> CachedEmbedder:
    return CachedEmbedder(HashingEmbedder(16), None)


def world(n: int = 5, answerable: int = 6, unanswerable: int = 2, distractors: int = 12) -> Dataset:
    """Conversations in which a question repeats two words of its gold that no other conversation
    has.
    """
    made = []
    for c in range(n):
        texts = [
            f"{word}{c} stands beside thing{c}x{i}" for i, word in enumerate(WORDS[:answerable])
        ]
        texts += [f"noise{c}y{i} goes by" for i in range(distractors)]
        events = tuple(
            Event(float(i), text, id=f"c{c}e{i}", dated=False) for i, text in enumerate(texts)
        )
        asked = [
            Question(f"c{c}q{i}", f"{WORDS[i]}{c} thing{c}x{i}", 99.0 - i, "single", (f"c{c}e{i}",))
            for i in range(answerable)
        ]
        asked += [
            Question(f"c{c}u{i}", f"unknown{c}z{i} noise{c}y{i}", 200.0, "abstention", ())
            for i in range(unanswerable)
        ]
        asked += [Question(f"c{c}s", "what happened?", 300.0, "summary", ())]
        made.append(Conversation(f"c{c}", events, tuple(asked)))
    return Dataset("world", "7" * 64, tuple(made), {})


@pytest.fixture(scope="module")
def found(registry: Registry) -> Calibration:
    return calibrate(CHOSEN, registry, world(), embedder(), evidence="coverage", threshold=0.4)


def test_pairs_are_told_apart_by_what_is_known_of_the_answer(found: Calibration) -> None:
    assert found.kinds == {
        "gold found": 30,
        "gold missed": 0,
        "no answer in the conversation": 10,
        "question of another conversation": 30,
    }
    assert {pair.f for pair in found.pairs if pair.kind is AnswerKind.FOUND} == {
        1.0
    } and found.unjudged == 0
    assert all(pair.f < 1.0 for pair in found.pairs if pair.kind is not AnswerKind.FOUND)
    foreign = [pair for pair in found.pairs if pair.kind is AnswerKind.FOREIGN]
    assert all(
        pair.question.startswith(f"c{(int(pair.conversation[1]) + 1) % 5}q") for pair in foreign
    ), "of the next conversation"
    assert not any(pair.question.endswith("s") for pair in found.pairs), (
        "neither gold nor abstention: nothing is known"
    )


def test_an_answer_without_gold_among_the_first_k_does_not_suffice(registry: Registry) -> None:
    data = world()
    moved = [
        replace(
            c,
            questions=tuple(
                replace(q, gold=(c.events[-1].id,)) if q.id.endswith("q0") else q
                for q in c.questions
            ),
        )
        for c in data.conversations
    ]
    kinds = calibrate(
        CHOSEN, registry, replace(data, conversations=tuple(moved)), embedder(), evidence="coverage"
    ).kinds
    assert kinds["gold missed"] == 5 and kinds["gold found"] == 25


def test_each_pair_is_judged_by_a_fit_to_the_other_conversations(found: Calibration) -> None:
    f, y = np.array([p.f for p in found.pairs]), np.array([p.sufficient for p in found.pairs])
    assert found.unseen is not None and found.A < 0.0
    for each in {p.conversation for p in found.pairs}:
        inside = np.array([p.conversation == each for p in found.pairs])
        targets = np.where(
            y[~inside],
            (y[~inside].sum() + 1) / (y[~inside].sum() + 2),
            1 / ((~y[~inside]).sum() + 2),
        )
        # A f + B of the other conversations, from two different f
        z = np.log(1.0 / found.unseen[inside] - 1.0)
        values, first = np.unique(f[inside], return_index=True)
        A = (z[first[-1]] - z[first[0]]) / (values[-1] - values[0])
        p = 1.0 / (1.0 + np.exp(A * f[~inside] + z[first[0]] - A * values[0]))
        assert (
            abs(float((targets - p).sum())) < 1e-6
            and abs(float((f[~inside] * (targets - p)).sum())) < 1e-6
        )
    assert found.error == expected_calibration_error(reliability(found.unseen, y))


def test_what_cannot_be_fitted_is_refused(registry: Registry, found: Calibration) -> None:
    with pytest.raises(InputError, match="48 pairs are too few") as caught:
        calibrate(CHOSEN, registry, world(n=4, answerable=5), embedder(), evidence="coverage")
    assert str(FEWEST) in caught.value.cure
    with pytest.raises(InputError, match="none of 70 answers has a decision value") as caught:
        calibrate(CHOSEN, registry, world(), embedder(), evidence="relevance")
    assert "reranker" in caught.value.cure
    with pytest.raises(InputError, match="too few"):
        calibrate(CHOSEN, registry, world(n=1, unanswerable=0), embedder(), evidence="coverage")
    for pairs, word in (
        (
            tuple(JudgedAnswer("c", str(i), AnswerKind.FOUND, float(i)) for i in range(60)),
            "all 60 answers are sufficient",
        ),
        (
            tuple(JudgedAnswer("c", str(i), AnswerKind.MISSED, float(i)) for i in range(60)),
            "all 60 answers are insufficient",
        ),
    ):
        with pytest.raises(InputError, match=word):
            _fitted(replace(found, pairs=pairs))
    with pytest.raises(InputError, match="no probability"):
        calibrate(CHOSEN, registry, world(), embedder(), threshold=1.5)


def test_one_conversation_has_no_unseen_pairs(found: Calibration) -> None:
    one = _fitted(
        replace(
            found,
            pairs=tuple(replace(p, conversation="c0") for p in found.pairs),
            conversations=("c0",),
        )
    )
    assert (
        one.unseen is None and one.error == one.seen_error and (one.A, one.B) == (found.A, found.B)
    )


def test_the_gate_is_opened_while_pairs_are_collected() -> None:
    closed = replace(
        CHOSEN,
        mechanisms={**CHOSEN.mechanisms, GATE: {"threshold": 0.9, "A": -3.0, "evidence": "margin"}},
    )
    assert with_open_gate(closed).mechanisms[GATE] == {
        "threshold": 0.0,
        "A": -3.0,
        "evidence": "margin",
        "calibration": "",
    }
    assert with_open_gate(CHOSEN, "coverage").mechanisms == {
        **CHOSEN.mechanisms,
        GATE: {"threshold": 0.0, "calibration": "", "evidence": "coverage"},
    }


# --- what is written, and who refuses it ----------------------------------------------------------
@pytest.fixture(scope="module")
def written(
    registry: Registry, found: Calibration, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    return write(found, registry, embedder(), tmp_path_factory.mktemp("calibration"))


def test_the_files_say_what_was_fitted(
    written: Path, registry: Registry, found: Calibration
) -> None:
    record = json.loads((written.parent / CALIBRATION).read_text(encoding="utf-8"))
    assert (record["A"], record["B"], record["threshold"], record["dataset"]) == (
        found.A,
        found.B,
        0.4,
        "world",
    )
    assert (
        record["conversations"] == [f"c{i}" for i in range(5)]
        and len(record["collected"]) == 70
        and len(record["reliability"]) == 10
    )
    assert (
        record["risk_coverage"][0]["coverage"] == 1.0
        and record["calibration_error"] == found.error
        and record["made"]
    )
    chosen = registry.set(str(written))
    gate = {m.id: m for m in registry.build(chosen)}[GATE].params
    assert (gate.A, gate.B, gate.threshold, gate.evidence) == (
        found.A,
        found.B,
        0.4,
        "coverage",
    ) and Path(gate.calibration).name == CALIBRATION
    assert (
        chosen.mechanisms["lexical_bm25"] == {"b": 0.5} and written.name == "mine_calibrated.yaml"
    )
    picture = ElementTree.fromstring(
        (written.parent / "reliability.svg").read_text(encoding="utf-8")
    )
    assert len(picture.findall(".//{*}circle")) == sum(b.n > 0 for b in found.bins)
    assert "var(" not in ElementTree.tostring(picture, encoding="unicode")


def test_a_report_on_the_conversations_of_the_calibration_is_refused(
    written: Path, registry: Registry, tmp_path: Path
) -> None:
    chosen, data = registry.set(str(written)), world(n=7)
    for measure in (run, ablate):
        call: Callable[..., Any] = measure
        with pytest.raises(
            InputError, match=r"calibrated on 5 of these 7 conversations: c0, c1, c2, c3, c4"
        ) as caught:
            call(chosen, registry, data, embedder(), tmp_path / "no")
        assert "--skip" in caught.value.cure and not (tmp_path / "no" / "rows.jsonl").exists()
        with pytest.raises(InputError, match="calibrated on"):
            call(chosen, registry, replace(data, name="renamed"), embedder(), tmp_path / "no")
    fresh = replace(data, conversations=data.conversations[5:])
    result = run(chosen, registry, fresh, embedder(), tmp_path / "fresh")
    # the summaries
    assert result["abstention"] == {
        "unanswerable": 4,
        "held_back": 1.0,
        "answerable": 14,
        "false_hold_backs": 2 / 14,
    }
    assert (
        run(
            chosen,
            registry,
            replace(data, name="other", sha256="8" * 64),
            embedder(),
            tmp_path / "other",
        )["overall"]["n"]
        == 42
    )
    assert (
        run(chosen.without([GATE]), registry, data, embedder(), tmp_path / "without")["abstention"][
            "held_back"
        ]
        == 0.0
    )


def test_a_damaged_calibration_is_named(written: Path, registry: Registry, tmp_path: Path) -> None:
    file = tmp_path / CALIBRATION
    chosen = registry.set(str(written)).overridden({GATE: {"calibration": str(file)}})
    for text in ("", "[]", "{}", '{"dataset": "world"}'):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match="no calibration"):
            run(chosen, registry, world(), embedder(), tmp_path / "o")


@pytest.mark.slow
def test_every_set_of_the_package_can_be_measured(registry: Registry, tmp_path: Path) -> None:
    for name in registry.sets:
        assert (
            run(registry.set(name), registry, world(n=1), embedder(), tmp_path / name)["overall"][
                "n"
            ]
            > 0
        ), name


# --- the command ----------------------------------------------------------------------------------
def test_the_command_prints_and_writes_and_the_set_measures_other_conversations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))

    def hebbarium(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["hebbarium", *words, "--embedder", "hashing:16"])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), *capsys.readouterr()

    out = tmp_path / "c"
    code, printed, err = hebbarium(
        "calibrate", "--set", "bm25", "--evidence", "coverage", "--limit", "2", "--out", str(out)
    )
    assert (
        code == 0
        and "expected calibration error" in printed
        and "p = 1 / (1 + exp(" in printed
        and "conversations: 2/2" in err
    )
    assert {p.name for p in out.iterdir()} == {
        CALIBRATION,
        "reliability.svg",
        "bm25_calibrated.yaml",
    }
    code, as_json, _ = hebbarium(
        "calibrate",
        "--set",
        "bm25",
        "--evidence",
        "coverage",
        "--limit",
        "2",
        "--out",
        str(out),
        "--json",
    )
    record = json.loads((out / CALIBRATION).read_text(encoding="utf-8"))
    assert (
        code == 0
        and json.loads(as_json) == {name: record[name] for name in json.loads(as_json)}
        and "collected" not in as_json
    )
    calibrated = str(out / "bm25_calibrated.yaml")
    code, _, err = hebbarium(
        "run",
        "--set",
        calibrated,
        "--dataset",
        "demo",
        "--limit",
        "3",
        "--out",
        str(tmp_path / "r"),
    )
    assert code == 2 and "calibrated on 2 of these 3 conversations: friends, flatmates" in err
    code, printed, _ = hebbarium(
        "run",
        "--set",
        calibrated,
        "--dataset",
        "demo",
        "--limit",
        "1",
        "--skip",
        "2",
        "--out",
        str(tmp_path / "r"),
    )
    third = load("demo", limit=3).conversations[2]
    assert code == 0 and "held back: " in printed
    assert json.loads((tmp_path / "r" / "manifest.json").read_text(encoding="utf-8"))[
        "conversations"
    ] == [third.id]
    code, _, err = hebbarium(
        "calibrate", "--set", "bm25", "--limit", "2", "--out", str(tmp_path / "t")
    )
    assert (
        code == 2
        and "no mechanism of the set bm25 finds the relevance" in err
        and "conversations: " not in err
    ), "refused before it measures"
    code, _, err = hebbarium(
        "run", "--dataset", "demo", "--skip", "999", "--out", str(tmp_path / "s")
    )
    assert code == 2 and "999 are left out" in err
