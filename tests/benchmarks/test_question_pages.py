"""A page for each question: ranks and answers are those of the rows, contexts those of a memory that
is built by hand, and the list is searched in a browser.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from browsers import BROWSER, needs_browser
from pages import Seen

from hebbarium.benchmarks.datasets import Conversation, Dataset, Question
from hebbarium.benchmarks.execution.folder import RunFolder
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.benchmarks.experiments.design import ablate
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.runs.explain import Cause, explain
from hebbarium.benchmarks.runs.questions import (
    INDEX,
    QuestionPage,
    file_names,
    question_pages,
    write_pages,
)
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

EMBEDDER = CachedEmbedder(HashingEmbedder(64), None)
WORDS = MechanismSet("words", "", {"lexical_bm25": {}, "convex_fusion": {}})
MEANING = MechanismSet("meaning", "", {"dense_similarity": {}, "convex_fusion": {}})
OTHER = "hebbarium.benchmarks.systems.bm25_dense:BM25Dense"


@pytest.fixture(scope="module")
def folders(
    tmp_path_factory: pytest.TempPathFactory, registry: Registry, tiny: Dataset
) -> dict[str, RunFolder]:
    """Two runs, one of another system, and an ablation."""
    home = tmp_path_factory.mktemp("runs")
    for chosen in (WORDS, MEANING):
        run(chosen, registry, tiny, EMBEDDER, home / chosen.name)
    run(None, registry, tiny, EMBEDDER, home / "other", settings=Settings(system=OTHER))
    ablate(WORDS, registry, tiny, EMBEDDER, home / "ablation")
    return {path.name: RunFolder.read(path) for path in home.iterdir()}


def made(
    runs: Sequence[RunFolder], data: Dataset, registry: Registry, **options: Any
) -> list[QuestionPage]:
    return list(question_pages(runs, data, registry, [EMBEDDER] * len(runs), **options))


def context_by_hand(
    registry: Registry, chosen: MechanismSet, conversation: Conversation, question: Question
) -> str:
    with Engine(registry.build(chosen), EMBEDDER) as memory:
        memory.encode_all(conversation.events)
        memory.advance(question.time)
        return memory.context(Query(question.text, question.time, question.id), 60).text


def test_a_page_holds_the_rows_the_signals_and_the_context(
    folders: dict[str, RunFolder], tiny: Dataset, registry: Registry, tmp_path: Path
) -> None:
    words = folders["words"]
    pages = made([words], tiny, registry, budget=60)
    write_pages(iter(pages), tmp_path / "out", [words])
    rows = words.rows()
    assert [(p.conversation, p.question) for p in pages] == [
        (row["conversation"], row["question"]) for row in rows
    ]
    questions = {(c.id, q.id): (c, q) for c in tiny.conversations for q in c.questions}
    for page, row in zip(pages, rows, strict=True):
        (side,) = page.sides
        conversation, question = questions[page.conversation, page.question]
        assert dict(side.ranks) == dict(zip(row["gold"], row["ranks"], strict=True))
        assert [event.id for event in side.answer] == row["retrieved"]
        assert [event.score for event in side.answer] == row["scores"]
        assert [event.id for event in side.answer if event.gold] == [
            id for id in row["retrieved"] if id in row["gold"]
        ]
        assert page.outcome == ("found" if 0 < row["ranks"][0] <= 10 else "missed")
        assert side.context and side.explained
        assert side.context.text == context_by_hand(registry, WORDS, conversation, question)
        text = (tmp_path / "out" / page.file).read_text(encoding="utf-8")
        seen = Seen(text)
        for event in side.answer:
            assert event.text in seen.text
        for rival in side.explained.rivals:
            assert all(f"{part.contribution:+.3f}" in seen.text for part in rival.parts)
        assert side.context.text.splitlines()[-2] in seen.text
        assert seen.elements.count("script") == 1 and "link" not in seen.elements


def test_signals_are_those_of_an_explanation(
    folders: dict[str, RunFolder], tiny: Dataset, registry: Registry
) -> None:
    words = folders["words"]
    for page in made([words], tiny, registry):
        known = explain(words, page.question, tiny, registry, EMBEDDER)
        mine = page.sides[0].explained
        assert mine and mine.candidates == known.candidates and mine.rivals == known.rivals
        assert [gold.cause for gold in mine.golds] == [gold.cause for gold in known.golds]
        assert all(not gold.silenced for gold in mine.golds)


def test_two_runs_stand_side_by_side(
    folders: dict[str, RunFolder], tiny: Dataset, registry: Registry, tmp_path: Path
) -> None:
    both = [folders["meaning"], folders["words"]]
    pages = made(both, tiny, registry)
    listed = write_pages(iter(pages), tmp_path / "out", both)
    first, second = (
        {row["question"]: row for row in folder.rows()} for folder in both
    )  # fmt: skip
    for page in pages:
        row_of_first, row_of_second = first[page.question], second[page.question]
        places = {id: place for place, id in enumerate(row_of_second["retrieved"], 1)}
        assert [event.other for event in page.sides[0].answer] == [
            places.get(id, 0) for id in row_of_first["retrieved"]
        ]
        hit = [0 < row["ranks"][0] <= 10 for row in (row_of_first, row_of_second)]
        same = row_of_first["retrieved"] == row_of_second["retrieved"]
        assert page.outcome == (
            "gained" if hit[1] > hit[0] else "lost" if hit[0] > hit[1]
            else "same answer" if same else "equal"
        )  # fmt: skip
        text = Seen((tmp_path / "out" / page.file).read_text(encoding="utf-8")).text
        assert "First run: meaning on tiny" in text and "Second run: words on tiny" in text
    index = (tmp_path / "out" / INDEX).read_text(encoding="utf-8")
    assert re.findall(r'<a href="([^"]+\.html)"', index) == [page.file for page in listed]
    links = re.findall(r'<a href="([^"]+)" rel="next"', "".join(
        (tmp_path / "out" / page.file).read_text(encoding="utf-8") for page in listed))  # fmt: skip
    assert links == [page.file for page in listed[1:] for _ in range(2)]


def test_another_system_shows_its_answer_and_arms_are_two_runs(
    folders: dict[str, RunFolder], tiny: Dataset, registry: Registry, tmp_path: Path
) -> None:
    both = [folders["other"], folders["words"]]
    pages = made(both, tiny, registry, limit=1)
    assert {page.conversation for page in pages} == {"one"}
    assert all(page.sides[0].explained is None and page.sides[1].context for page in pages)
    write_pages(iter(pages), tmp_path / "out", both)
    text = Seen((tmp_path / "out" / pages[0].file).read_text(encoding="utf-8")).text
    assert "Another system than ours" in text and "bm25" in text.lower()
    arms = folders["ablation"].arms
    twice = made([folders["ablation"]] * 2, tiny, registry, arms=(None, arms[-1]))
    assert [side.arm for side in twice[0].sides] == [arms[0], arms[-1]]


def test_a_run_that_ranks_sessions_shows_their_names(
    registry: Registry, tiny: Dataset, tmp_path: Path
) -> None:
    run(WORDS, registry, tiny, EMBEDDER, tmp_path / "o", settings=Settings(match="session"))
    folder = RunFolder.read(tmp_path / "o")
    for page, row in zip(made([folder], tiny, registry), folder.rows(), strict=True):
        (side,) = page.sides
        sessions = {event.session for conversation in tiny.conversations
                    for event in conversation.events}  # fmt: skip
        assert {event.id for event in side.answer} <= sessions and row["gold"][0] in sessions
        assert all(event.text.startswith(f"session {event.id}: ") for event in side.answer)
        assert side.context and side.context.of == 1


def test_hostile_ids_and_texts_are_text(tmp_path: Path, registry: Registry) -> None:
    evil = '</td><script>alert("x")</script>\x1b[31m\u202e'
    events = tuple(Event(float(i), f"{evil} {i}", evil, "s", f"{evil}{i}") for i in range(12))
    question = Question(evil, f"what {evil}?", 20.0, evil, (events[3].id,), evil)
    unanswered = Question("../../q", "who?", 21.0, "none", ())
    data = Dataset("evil", "6" * 64, (Conversation(evil, events, (question, unanswered)),), {})
    run(WORDS, registry, data, EMBEDDER, tmp_path / "o")
    folder = RunFolder.read(tmp_path / "o")
    pages = write_pages(iter(made([folder], data, registry)), tmp_path / "out", [folder])
    assert [page.outcome for page in pages][1] == "no evidence"
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {INDEX, *(page.file for page in pages)}
    assert all(re.fullmatch(r"[a-z0-9-]+\.html", name) for name in files)
    for name in files:
        text = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert Seen(text).elements.count("script") == 1
        assert "\x1b" not in text and "\u202e" not in text


def test_names_of_files_are_apart_on_every_disk() -> None:
    keys = [("a", "q"), ("b", "q"), ("a", "Q"), ("a", "CON"), ("a", "x" * 300), ("a", "日本")]
    named = file_names(keys)
    assert len({name.lower() for name in named.values()}) == len(keys)
    assert max(map(len, named.values())) < 60


def test_a_folder_in_use_and_other_data_are_refused(
    folders: dict[str, RunFolder], tiny: Dataset, registry: Registry, tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    pages = iter(made([folders["words"]], tiny, registry, limit=1))
    with pytest.raises(InputError, match="something is there"):
        write_pages(pages, tmp_path, [folders["words"]])
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    changed = Dataset("tiny", "1" * 64, tiny.conversations, {})
    run(WORDS, registry, changed, EMBEDDER, tmp_path / "changed")
    with pytest.raises(InputError, match="other data"):
        made([folders["words"], RunFolder.read(tmp_path / "changed")], tiny, registry)


def test_a_cause_is_said_without_silencing(
    folders: dict[str, RunFolder], tiny: Dataset, registry: Registry
) -> None:
    causes = {
        gold.cause
        for page in made([folders["meaning"]], tiny, registry)
        if page.sides[0].explained
        for gold in page.sides[0].explained.golds
    }
    assert Cause.FOUND in causes


@needs_browser
def test_runs_that_measured_turns_and_sessions_are_refused(
    folders: dict[str, RunFolder], tiny: Dataset, registry: Registry, tmp_path: Path
) -> None:
    run(MEANING, registry, tiny, EMBEDDER, tmp_path / "run", settings=Settings(match="session"))
    of_sessions = RunFolder.read(tmp_path / "run")
    with pytest.raises(InputError, match="has other gold in each run") as refused:
        made([folders["words"], of_sessions], tiny, registry)
    assert "--match" in refused.value.cure


@pytest.mark.slow
def test_a_reader_searches_the_list(
    folders: dict[str, RunFolder], tiny: Dataset, registry: Registry, tmp_path: Path
) -> None:
    both = [folders["meaning"], folders["words"]]
    pages = write_pages(iter(made(both, tiny, registry)), tmp_path / "out", both)
    wanted = pages[4]
    word = wanted.gold[0][1].split()[-1].lower()  # of the evidence, which the list does not show
    expected = [page.file for page in pages if word in page.words and page.conversation == "two"]
    address = f"{(tmp_path / 'out' / INDEX).as_uri()}#text={word}&conversation=two"
    assert BROWSER
    dom = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000",
         f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", address],
        capture_output=True, text=True, encoding="utf-8", timeout=120, check=True,
    ).stdout  # fmt: skip
    rows = re.findall(r"<tr data-text=.*?</tr>", dom, re.S)
    shown = [row for row in rows if "hidden" not in row.partition(">")[0]]
    assert len(rows) == len(pages)
    assert [unescape(re.findall(r'href="([^"]+)"', row)[0]) for row in shown] == expected
    assert 0 < len(expected) < len(pages)
