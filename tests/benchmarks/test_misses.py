"""Misses by cause: in a memory whose ranking is computed by hand, for every way to lose a gold
event.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import Seen
from test_explain_run import ARCHIVED, DEMOTED, EMBEDDER, REJECTED, Hand, numbers, row_of

from hebbarium.benchmarks.datasets import Dataset, Question
from hebbarium.benchmarks.execution.folder import RunFolder
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.runs.explain import Cause
from hebbarium.benchmarks.runs.misses import Misses, misses, to_html, to_json
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import ARRANGED, BAN, RELEASED
from hebbarium.testing.small import does, mechanism

# numbers of events: one that a rule excludes, and the best one, which a gate withholds
BANNED, WITHHELD = 108, 111


class Ruled(Hand):
    """The hand-made mechanisms, with a rule and a gate."""

    def build(self, chosen: MechanismSet) -> list[Any]:
        def exclude(view: Any, cue: Any) -> None:
            view.ban[row_of(BANNED)] = 1

        def withhold(view: Any, cue: Any) -> None:
            view.released[...] = view.arranged
            view.released[row_of(WITHHELD)] = np.nan

        mine = {
            "rule": mechanism("rule", does(Phase.RETRIEVE, exclude, adds=[BAN])),
            "gate": mechanism(
                "gate", does(Phase.RETRIEVE, withhold, reads=[ARRANGED], sets=[RELEASED])
            ),
        }
        others = super().build(
            replace(chosen, mechanisms={id: {} for id in chosen.mechanisms if id not in mine})
        )
        return [*others, *mine.values()]


IDS = ("number", "gate_a", "gate_b", "giver", "archiver", "demoter", "rule", "gate")
ASKED = {"found": ("e110",), "rejected": (f"e{REJECTED}",), "archived": (f"e{ARCHIVED}",),
         "demoted": (f"e{DEMOTED}", "e110"), "low": ("e125",),
         "nowhere": ("e5",), "banned": (f"e{BANNED}",), "withheld": (f"e{WITHHELD}",),
         "several": ("e110", f"e{REJECTED}", "e5"), "none": ()}  # fmt: skip
CAUSES = {("rejected", REJECTED): Cause.NOT_STORED, ("archived", ARCHIVED): Cause.ARCHIVED,
          ("demoted", DEMOTED): Cause.BELOW,
          ("low", 125): Cause.BELOW, ("nowhere", 5): Cause.NO_SIGNAL, ("banned",
          BANNED): Cause.HELD_BACK, ("withheld", WITHHELD): Cause.HELD_BACK,
          ("several", REJECTED): Cause.NOT_STORED, ("several", 5): Cause.NO_SIGNAL}  # fmt: skip


def asked() -> Dataset:
    given = numbers()
    questions = tuple(
        Question(id, "which number?", 5.0, id[:1], gold) for id, gold in ASKED.items()
    )
    return replace(given, conversations=(replace(given.conversations[0], questions=questions),))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    path = tmp_path_factory.mktemp("ruled")
    run(MechanismSet("by hand", "", {id: {} for id in IDS}), Ruled(), asked(), EMBEDDER, path)  # type: ignore[arg-type]
    return RunFolder.read(path)


def found_in(folder: RunFolder, **more: Any) -> Misses:
    return misses(folder, asked(), Ruled(), EMBEDDER, **more)  # type: ignore[arg-type]


def test_every_way_to_lose_a_gold_event_has_its_cause(folder: RunFolder) -> None:
    found = found_in(folder)
    assert (
        {(m.question, int(m.gold[1:])): m.cause for m in found.misses} == CAUSES
        and len(found.misses) == len(CAUSES)
        and found.notes == ()
    )
    by = {(m.question, m.gold): m.by for m in found.misses}
    assert by["rejected", f"e{REJECTED}"] == ("gate_a", "gate_b") and by[
        "archived", f"e{ARCHIVED}"
    ] == ("archiver",)
    assert (
        by["demoted", f"e{DEMOTED}"] == ("demoter",)
        and by["banned", f"e{BANNED}"] == ("rule",)
        and by["withheld", f"e{WITHHELD}"] == ("gate",)
    )
    stages = {m.question: m.stage for m in found.misses}
    assert (
        stages["demoted"] == "reweighted"
        and stages["low"] == ""
        and stages["withheld"] == "released"
    )


def test_the_misses_are_those_of_the_rows(folder: RunFolder) -> None:
    """The rows were written without any of this code."""
    found = found_in(folder)
    lost = {
        (row["question"], id): rank
        for row in folder.rows()
        for id, rank in zip(row["gold"], row["ranks"], strict=True)
        if not 0 < rank <= 10
    }
    assert {(m.question, m.gold): m.rank for m in found.misses} == lost
    assert found.n_questions == sum(map(bool, ASKED.values())) and found.n_gold == sum(
        map(len, ASKED.values())
    )
    assert found.n_missed_questions == len({question for question, _ in lost})
    assert found.categories == {
        letter: (
            sum(len(gold) for id, gold in ASKED.items() if id[0] == letter),
            sum(question[0] == letter for question, _ in lost),
        )
        for letter in {id[0] for id in ASKED if ASKED[id]}
    }


def test_groups_count_events_and_questions_in_the_order_of_a_life(folder: RunFolder) -> None:
    groups = found_in(folder).groups
    assert [(g.cause, g.stage, g.n, g.questions) for g in groups] == [
        (Cause.NOT_STORED, "", 2, 2),
        (Cause.ARCHIVED, "", 1, 1),
        (Cause.NO_SIGNAL, "", 2, 2),
        (Cause.BELOW, "", 1, 1),
        (Cause.BELOW, "reweighted", 1, 1),
        (Cause.HELD_BACK, "", 2, 2),
    ]
    assert groups[0].by == (("gate_a", 2), ("gate_b", 2)) and set(groups[-1].by) == {
        ("rule", 1),
        ("gate", 1),
    }
    assert (
        groups[1].name == "archived and not reached"
        and "fell at the stage reweighted" in groups[4].name
    )


def test_one_question_can_be_asked_alone_and_an_unknown_one_is_refused(folder: RunFolder) -> None:
    alone = found_in(folder, only=["several"])
    assert [m.gold for m in alone.misses] == [f"e{REJECTED}", "e5"] and alone.n_questions == 1
    with pytest.raises(InputError, match="no question 'sevral'"):
        found_in(folder, only=["sevral"])


@pytest.mark.parametrize(
    "settings",
    [Settings(), Settings(rehearse=24.0), Settings(feedback="gold")],
    ids=["plain", "rehearse", "feedback"],
)
def test_rebuilt_memories_are_those_of_the_run(
    tmp_path: Path, registry: Registry, tiny: Dataset, settings: Settings
) -> None:
    """Two conversations, and a memory that learns: every question has the ranks of the run's
    rows.
    """
    chosen = MechanismSet(
        "learns",
        "",
        {
            "lexical_bm25": {},
            "base_level_activation": {},
            "heat": {"weight": 5.0},
            "convex_fusion": {},
        },
    )
    run(chosen, registry, tiny, EMBEDDER, tmp_path, settings=settings)
    found = misses(RunFolder.read(tmp_path), tiny, registry, EMBEDDER)
    lost = {
        (row["question"], id): rank
        for row in RunFolder.read(tmp_path).rows()
        for id, rank in zip(row["gold"], row["ranks"], strict=True)
        if not 0 < rank <= 10
    }
    assert found.notes == () and {(m.question, m.gold): m.rank for m in found.misses} == lost


def test_json_and_page_hold_every_miss(folder: RunFolder, tmp_path: Path) -> None:
    found = found_in(folder)
    plain = to_json(found)
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain and plain["groups"][0] == {
        "cause": "not stored",
        "stage": "",
        "gold": 2,
        "questions": 2,
        "by": {"gate_a": 2, "gate_b": 2},
    }
    page = Seen(to_html(found, tmp_path / "page.html").read_text(encoding="utf-8"))
    for miss in found.misses:
        assert miss.words in page.text and miss.text in page.text and miss.gold in page.text
    for group in found.groups:
        assert group.name in page.text
    assert (
        page.elements.count("script") == 1
        and "link" not in page.elements
        and "img" not in page.elements
    )


def test_hostile_ids_and_texts_are_text(tmp_path: Path, registry: Registry) -> None:
    evil = '</td><script>alert("x")</script>\x1b[31m\u202e'
    events = tuple(Event(float(i), f"{evil} {i}", evil, "s", f"{evil}{i}") for i in range(14))
    data = Dataset(
        "evil",
        "6" * 64,
        (
            replace(
                numbers().conversations[0],
                id=evil,
                events=events,
                questions=(Question(evil, "what?", 20.0, evil, tuple(e.id for e in events), evil),),
            ),
        ),
        {},
    )
    run(
        MechanismSet("small", "", {"recency": {}, "lexical_bm25": {}, "convex_fusion": {}}),
        registry,
        data,
        EMBEDDER,
        tmp_path / "o",
    )
    found = misses(RunFolder.read(tmp_path / "o"), data, registry, EMBEDDER)
    text = to_html(found, tmp_path / "page.html").read_text(encoding="utf-8")
    page = Seen(text)
    assert (
        len(found.misses) == 4 and page.elements.count("script") == 1 and 'alert("x")' in page.text
    )
    assert "\x1b" not in text and "\u202e" not in text
