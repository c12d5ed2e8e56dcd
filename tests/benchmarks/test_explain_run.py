"""Explanations of questions: causes and ranks are those of a ranking computed by hand, and the
rebuilt memory is that of the run.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import Seen

from hebbarium.benchmarks.datasets import Conversation, Dataset, Question
from hebbarium.benchmarks.execution.folder import RunFolder
from hebbarium.benchmarks.execution.setup import code_version
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.benchmarks.experiments.design import ablate
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.runs.explain import (
    Cause,
    Explained,
    explain,
    missed,
    moved,
    to_html,
    to_json,
)
from hebbarium.engine.base.errors import DataError, InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import MATCH, REWEIGHTED, VETO, VISIBLE
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.testing.small import by_number, does, mechanism, numbered, score

N = 130
REJECTED, ARCHIVED, DEMOTED = 7, 127, 109  # numbers of events
BONUS = range(100, 112)
EMBEDDER = CachedEmbedder(HashingEmbedder(16), None)


# --- a memory whose ranking is computed by hand ---------------------------------------------------
def row_of(number: int) -> int:
    return number - (number > REJECTED)


class Hand:
    """A registry of hand-made mechanisms."""

    digest = "by hand"

    def build(self, chosen: MechanismSet) -> list[Any]:
        bonus = score("bonus", floor=0.0)

        def veto(view: Any, incoming: Any) -> None:
            view.veto = int(incoming.event.id == f"e{REJECTED}")

        def give(view: Any, cue: Any) -> None:
            for number in BONUS:
                view.bonus[row_of(number)] = number - 99

        def hide(view: Any, tick: Any) -> None:
            view.visible[row_of(ARCHIVED) : row_of(ARCHIVED) + 1] = False

        def demote(view: Any, cue: Any) -> None:
            view.reweighted[...] = view.match
            view.reweighted[row_of(DEMOTED)] = -99.0

        made = {
            "number": by_number(),
            "gate_a": mechanism("gate_a", does(Phase.ENCODE, veto, adds=[VETO])),
            "gate_b": mechanism("gate_b", does(Phase.ENCODE, veto, adds=[VETO])),
            "giver": mechanism("giver", does(Phase.RETRIEVE, give, sets=[bonus]), owns=[bonus]),
            "archiver": mechanism("archiver", does(Phase.MAINTAIN, hide, sets=[VISIBLE])),
            "demoter": mechanism(
                "demoter", does(Phase.RETRIEVE, demote, reads=[MATCH], sets=[REWEIGHTED])
            ),
        }
        return [made[id] for id in chosen.mechanisms]


ALL = MechanismSet(
    "by hand", "", {id: {} for id in ("number", "gate_a", "gate_b", "giver", "archiver", "demoter")}
)
ASKED = {
    "found": ("e110",),
    "rejected": (f"e{REJECTED}",),
    "archived": (f"e{ARCHIVED}",),
    "demoted": (f"e{DEMOTED}",),
    "low": ("e100",),
    "nowhere": ("e5",),
    "several": ("e110", f"e{REJECTED}", "e5"),
}


def numbers() -> Dataset:
    events = tuple(numbered(*range(N)))
    questions = tuple(
        Question(id, "which number?", 5.0, "kind", gold, f"answer of {id}")
        for id, gold in ASKED.items()
    )
    return Dataset("numbers", "5" * 64, (Conversation("c", events, questions),), {})


def stage_scores(hidden: tuple[int, ...] = (REJECTED, ARCHIVED)) -> tuple[dict[str, Any], Any]:
    """By hand: the score of each number in each stage, NaN where it cannot be retrieved; and the
    contributions, (2, N).
    """
    visible = np.array([i not in hidden for i in range(N)])
    number, bonus = (
        np.arange(N, dtype=float),
        np.array([float(i - 99) if i in BONUS else 0.0 for i in range(N)]),
    )
    z = np.array(
        [
            np.where(visible, (x - x[visible].mean()) / x[visible].std(), np.nan)
            for x in (number, bonus)
        ]
    )
    match = z.mean(axis=0)
    return {"match": match, "reweighted": np.where(np.arange(N) == DEMOTED, -99.0, match)}, z / 2


def hand_rank(scores: Any, number: int) -> int:
    return int(np.sum(scores[~np.isnan(scores)] > scores[number])) + 1


@pytest.fixture(scope="module")
def hand(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    folder = tmp_path_factory.mktemp("hand")
    run(ALL, Hand(), numbers(), EMBEDDER, folder)  # type: ignore[arg-type]
    return RunFolder.read(folder)


def explained(folder: RunFolder, question: str) -> Explained:
    return explain(folder, question, numbers(), Hand(), EMBEDDER)  # type: ignore[arg-type]


def test_every_stage_has_the_rank_computed_by_hand(hand: RunFolder) -> None:
    stages, parts = stage_scores()
    for question in ("found", "demoted", "low", "nowhere"):
        found = explained(hand, question)
        assert (
            found.stored == N - 1 and found.visible == N - 2 and found.linear and found.notes == ()
        )
        for candidate in (found.golds[0].at, *found.rivals):
            number = int(candidate.text.split()[-1])
            assert [(s.stage, s.rank) for s in candidate.stages] == [
                (name, hand_rank(scores, number)) for name, scores in stages.items()
            ]
            assert candidate.rank == candidate.stages[-1].rank
            assert {p.signal: p.contribution for p in candidate.parts} == pytest.approx(
                dict(zip(("number", "bonus"), parts[:, number], strict=True))
            )
            assert {p.signal: p.raw for p in candidate.parts} == pytest.approx(
                {"number": number, "bonus": number - 99 if number in BONUS else math.nan},
                nan_ok=True,
            )
            assert {p.signal: p.rank for p in candidate.parts} == {
                "number": hand_rank(parts[0], number),
                "bonus": (112 - number) * (number in BONUS),
            }


def test_rivals_are_the_best_of_the_answer_without_gold(hand: RunFolder) -> None:
    final = stage_scores()[0]["reweighted"]
    order = [f"e{i}" for i in np.argsort(-final) if not math.isnan(final[i])]
    for question, gold in ASKED.items():
        assert [r.id for r in explained(hand, question).rivals] == [
            id for id in order if id not in gold
        ][:5]


def test_each_cause_is_found_and_put_into_words(hand: RunFolder) -> None:
    stages, parts = stage_scores()
    match, final, number = stages["match"], stages["reweighted"], parts[0]
    causes = {id: explained(hand, id).golds[0] for id in ASKED}
    assert {id: g.cause for id, g in causes.items()} == {
        "found": Cause.FOUND,
        "rejected": Cause.NOT_STORED,
        "archived": Cause.ARCHIVED,
        "demoted": Cause.BELOW,
        "low": Cause.BELOW,
        "nowhere": Cause.NO_SIGNAL,
        "several": Cause.FOUND,
    }
    words = {id: g.words for id, g in causes.items()}
    assert words["found"] == f"found at rank {hand_rank(final, 110)}"
    assert (
        words["rejected"] == "not stored: vetoed by gate_a and gate_b"
        and causes["rejected"].silenced == {}
    )
    assert words["archived"] == "archived by archiver at 1:17 am on 1 January, 1970"
    assert (
        f"falls from rank {hand_rank(match, DEMOTED)} to {N - 2} at the stage reweighted, computed by demoter"
        in words["demoted"]
    )
    assert words["demoted"].endswith(
        f"It would be in the answer without demoter (rank {hand_rank(match, DEMOTED)})"
    )
    assert words["low"].startswith(
        f"below the first 10 in every stage: rank {hand_rank(match, 100)} after match, {hand_rank(final, 100)} after rew"
    )
    assert (
        words["nowhere"]
        == f"in no signal's first 100; its best is number with rank {hand_rank(number, 5)}"
    )
    assert [g.cause for g in explained(hand, "several").golds] == [
        Cause.FOUND,
        Cause.NOT_STORED,
        Cause.NO_SIGNAL,
    ]


def test_what_a_missed_event_lacks_is_measured_against_the_last_of_the_answer(
    hand: RunFolder,
) -> None:
    stages, parts = stage_scores()
    last = np.argsort(-np.where(np.isnan(stages["reweighted"]), -np.inf, stages["reweighted"]))[9]
    lead = parts[:, 100] - parts[:, last]
    words = explained(hand, "low").golds[0].words
    for name, value in zip(("number", "bonus"), lead, strict=True):
        assert (
            f"{name} ({value:+.3f})" in words
            and (words.index("loses") < words.index(f"{name} ("))
            and (value < 0 or "gains" in words)
        )
    assert "Against the event at rank 10," in words


def test_gold_is_ranked_again_with_each_mechanism_silenced(hand: RunFolder) -> None:
    stages, parts = stage_scores()
    visible = ~np.isnan(stages["match"])
    found = explained(hand, "low")
    assert found.golds[0].silenced["giver"] == hand_rank(
        np.where(np.arange(N) == DEMOTED, -99.0, np.where(visible, parts[0], np.nan)), 100
    )
    assert found.golds[0].silenced["demoter"] == hand_rank(stages["match"], 100)
    archived, restored = explained(hand, "archived").golds[0], stage_scores((REJECTED,))[0]
    assert (
        archived.silenced["archiver"] == hand_rank(restored["reweighted"], ARCHIVED)
        and archived.at.rank == archived.silenced["demoter"] == 0
    )
    changed = dict(moved(found))
    assert set(changed) == {
        id for id, place in found.golds[0].silenced.items() if place != found.golds[0].at.rank
    }
    assert list(changed.values()) == sorted(changed.values())


def test_signals_are_listed_by_the_lead_of_the_rivals(hand: RunFolder) -> None:
    _, parts = stage_scores()
    for question, number in (("low", 100), ("nowhere", 5)):
        found = explained(hand, question)
        rivals = [int(r.id[1:]) for r in found.rivals]
        lead = dict(
            zip(("number", "bonus"), parts[:, rivals].mean(axis=1) - parts[:, number], strict=True)
        )
        assert found.signals == sorted(lead, key=lambda name: -lead[name])
        assert found.owners == {"number": "number", "bonus": "giver"} and found.makers[
            "reweighted"
        ] == ("demoter",)


def test_the_missed_questions_are_those_whose_gold_is_not_in_the_answer(hand: RunFolder) -> None:
    assert [row["question"] for row in missed(hand)] == [id for id in ASKED if id != "found"]


# --- runs of registered mechanisms ----------------------------------------------------------------
CHOSEN = MechanismSet(
    "small",
    "for the test",
    {"recency": {"weight": 0.5}, "dense_similarity": {}, "lexical_bm25": {}, "convex_fusion": {}},
    {"convex_fusion": ("weighted_rrf",)},
)


@pytest.fixture(scope="module")
def ablated(
    tmp_path_factory: pytest.TempPathFactory, registry: Registry, tiny: Dataset
) -> RunFolder:
    folder = tmp_path_factory.mktemp("ablated")
    ablate(CHOSEN, registry, tiny, EMBEDDER, folder)
    return RunFolder.read(folder)


def test_silencing_a_signal_ranks_gold_as_its_ablation_does(
    ablated: RunFolder, registry: Registry, tiny: Dataset
) -> None:
    """A signal has no effect before the query, so to silence it is to leave it off; the arm was
    run without any of this code.
    """
    for signal in ("recency", "dense_similarity", "lexical_bm25"):
        for row in ablated.rows(f"without {signal}"):
            found = explain(ablated, row["question"], tiny, registry, EMBEDDER)
            assert [g.silenced[signal] for g in found.golds] == row["ranks"]


@pytest.mark.parametrize(
    "arm", ["full", "without lexical_bm25", "swap convex_fusion->weighted_rrf"]
)
def test_every_arm_is_rebuilt_as_it_was(
    ablated: RunFolder, registry: Registry, tiny: Dataset, arm: str
) -> None:
    for row in ablated.rows(arm):
        found = explain(ablated, row["question"], tiny, registry, EMBEDDER, arm=arm)
        assert found.notes == () and [g.at.rank for g in found.golds] == row["ranks"]
        assert [r.id for r in found.rivals] == [
            id for id in row["retrieved"] if id not in row["gold"]
        ][:5]
        assert ("lexical" in found.signals) == (arm != "without lexical_bm25") and found.linear == (
            "swap" not in arm
        )


@pytest.mark.parametrize(
    "settings",
    [
        Settings(rehearse=24.0),
        Settings(feedback="gold"),
        Settings(seed=3),
        Settings(without=("recency",)),
        Settings(param={"lexical_bm25": {"b": 0.1}}),
    ],
    ids=["rehearse", "feedback", "seed", "without", "param"],
)
def test_settings_of_the_run_are_those_of_the_rebuilt_memory(
    tmp_path: Path, registry: Registry, tiny: Dataset, settings: Settings
) -> None:
    chosen = MechanismSet(
        "learns", "", {**CHOSEN.mechanisms, "base_level_activation": {}, "heat": {"weight": 5.0}}
    )
    run(chosen, registry, tiny, EMBEDDER, tmp_path, settings=settings)
    for row in RunFolder.read(tmp_path).rows():
        assert (
            explain(RunFolder.read(tmp_path), row["question"], tiny, registry, EMBEDDER).notes == ()
        )


def test_a_memory_that_answers_otherwise_is_said_to(
    ablated: RunFolder,
    registry: Registry,
    tiny: Dataset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def note() -> str:
        return " ".join(explain(RunFolder.read(tmp_path), "one-q1", tiny, registry, EMBEDDER).notes)

    for name in ("manifest.json", "rows.jsonl"):
        (tmp_path / name).write_text(
            (ablated.path / name).read_text(encoding="utf-8"), encoding="utf-8"
        )
    assert note() == ""
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    (tmp_path / "manifest.json").write_text(
        json.dumps({**manifest, "code": "0.0+old"}), encoding="utf-8"
    )
    assert "made by the code 0.0+old" in note() and "the same answer" in note()
    other = {
        **manifest,
        "mechanisms": {
            **manifest["mechanisms"],
            "recency": {**manifest["mechanisms"]["recency"], "weight": 10.0},
        },
    }
    (tmp_path / "manifest.json").write_text(json.dumps(other), encoding="utf-8")
    assert "does not give the answer of the run" in note() and code_version() not in note()


def test_a_run_of_another_system_cannot_be_explained(
    tmp_path: Path, registry: Registry, tiny: Dataset
) -> None:
    run(
        None,
        registry,
        tiny,
        EMBEDDER,
        tmp_path,
        settings=Settings(system="hebbarium.benchmarks.systems.bm25_dense:BM25Dense"),
    )
    with pytest.raises(InputError, match="only the memories of hebbarium"):
        explain(RunFolder.read(tmp_path), "one-q1", tiny, registry, EMBEDDER)


def test_an_unknown_question_arm_or_conversation_is_refused(
    ablated: RunFolder, registry: Registry, tiny: Dataset
) -> None:
    with pytest.raises(InputError, match="no question 'one-q2'") as caught:
        explain(ablated, "one-q2", tiny, registry, EMBEDDER)
    assert "one-q1" in caught.value.cure and "hebbarium explain" in caught.value.cure
    with pytest.raises(InputError, match="no arm 'without heat'"):
        explain(ablated, "one-q1", tiny, registry, EMBEDDER, arm="without heat")
    one = replace(tiny, conversations=tiny.conversations[:1])
    with pytest.raises(InputError, match="no question 'two-q1'"):
        explain(ablated, "two-q1", one, registry, EMBEDDER)
    (ablated.path / "rows.jsonl").rename(ablated.path / "away")
    with pytest.raises(DataError, match="not finished"):
        explain(ablated, "one-q1", tiny, registry, EMBEDDER)
    (ablated.path / "away").rename(ablated.path / "rows.jsonl")


# --- as data and as a page ------------------------------------------------------------------------
def test_json_has_no_number_that_is_not_finite(hand: RunFolder) -> None:
    found = explained(hand, "several")
    plain = to_json(found)
    assert json.loads(json.dumps(plain, allow_nan=False)) == json.loads(json.dumps(plain))
    assert {p["signal"]: p["raw"] for p in plain["golds"][2]["at"]["parts"]} == {
        "number": 5.0,
        "bonus": None,
    }
    assert plain["golds"][1]["cause"] == "not stored"


@pytest.mark.parametrize("question", list(ASKED))
def test_the_page_holds_what_was_found(hand: RunFolder, question: str, tmp_path: Path) -> None:
    found = explained(hand, question)
    page = Seen(to_html(found, tmp_path / "page.html").read_text(encoding="utf-8"))
    for gold in found.golds:
        assert gold.at.text in page.text and gold.words[1:] in page.text
    for rival in found.rivals:
        assert rival.text in page.text
        assert all(f"{p.contribution:+.3f}" in page.text for p in rival.parts)
    assert (
        f"answer of {question}" in page.text
        and page.elements.count("script") == 1
        and "link" not in page.elements
        and "img" not in page.elements
    )


def test_on_a_phone_every_number_of_a_block_has_its_name(hand: RunFolder, tmp_path: Path) -> None:
    """The style of narrow windows prints `data-label` above each cell, in place of the head of
    its column.
    """
    found = explained(hand, next(iter(ASKED)))
    page = to_html(found, tmp_path / "page.html").read_text(encoding="utf-8")
    tables = re.findall(r'<table class="numbers[^"]* blocks.*?</table>', page, re.DOTALL)
    names = [name for name, _ in found.candidates]
    for table, first in zip(tables, (["trust"], []), strict=True):
        rows = table.split("<tbody>")[1].split("<tr>")[1:]
        assert rows and all(
            re.findall(r'<td[^>]*?data-label="([^"]*)"', row) == [*first, *names]
            and row.count("<td") == len(names) + len(first)
            for row in rows
        )


def test_hostile_ids_and_texts_are_text(tmp_path: Path, registry: Registry) -> None:
    evil = '</td><script>alert("x")</script>\x1b[31m\u202e'
    events = tuple(Event(float(i), f"{evil} {i}", evil, "s", f"{evil}{i}") for i in range(12))
    data = Dataset(
        "evil",
        "6" * 64,
        (
            Conversation(
                evil, events, (Question(evil, f"what {evil}?", 20.0, evil, (events[3].id,), evil),)
            ),
        ),
        {},
    )
    run(CHOSEN, registry, data, EMBEDDER, tmp_path / "o")
    found = explain(RunFolder.read(tmp_path / "o"), evil, data, registry, EMBEDDER)
    text = to_html(found, tmp_path / "page.html").read_text(encoding="utf-8")
    page = Seen(text)
    assert (
        page.elements.count("script") == 1
        and 'alert("x")' in page.text
        and "\x1b" not in text
        and "\u202e" not in text
    )
