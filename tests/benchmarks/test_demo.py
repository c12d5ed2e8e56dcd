"""The demo: the same bytes everywhere, every kind of question in every conversation, gold that
holds the answer.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import pytest

from hebbarium.benchmarks.datasets import Conversation, load
from hebbarium.benchmarks.datasets.demo import CATEGORIES, LINE, PROBE, SEED, Draw
from hebbarium.benchmarks.datasets.demo_circles import CIRCLES
from hebbarium.benchmarks.datasets.demo_stories import STORIES
from hebbarium.benchmarks.datasets.demo_words import NOISE, SETTINGS
from hebbarium.engine.base.errors import DataError

DEMO = load("demo")
EACH = pytest.mark.parametrize("talk", DEMO.conversations, ids=lambda c: c.id)
COMMON = set(
    re.findall(
        r"\w+",
        """the that this what which where when who whom whose how why did does do was were is are in on at of to for with from
    by an and or a it its into there has have had be been they them their one would should must""",
    )
)


def words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in COMMON}


def test_its_digest_is_of_its_canonical_json_and_the_same_in_another_process() -> None:
    plain = [asdict(c) for c in DEMO.conversations]
    for question in (q for c in plain for q in c["questions"]):
        assert (
            question.pop("answer") == ""
            and question.pop("rubric") == ()
            and question.pop("after") == ""
            and question.pop("forbidden") == ()
        )
    for event in (e for c in plain for e in c["events"]):
        assert event.pop("attributes") == ()
    canonical = json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert DEMO.sha256 == hashlib.sha256(canonical.encode()).hexdigest()
    script = "from hebbarium.benchmarks.datasets import load; print(load('demo').sha256)"
    env = {"PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path), "TZ": "Asia/Tokyo"}
    assert (
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env
        ).stdout.strip()
        == DEMO.sha256
    )


def test_a_limit_keeps_the_first_and_the_digest() -> None:
    few = load("demo", limit=2)
    assert few.conversations == DEMO.conversations[:2] and few.sha256 == DEMO.sha256
    with pytest.raises(DataError, match="reads no file"):
        load("demo", Path("locomo10.json"))


@EACH
def test_size_span_and_order(talk: Conversation) -> None:
    assert 120 <= len(talk.events) <= 160 and 20 <= len(talk.questions) <= 26
    weeks = (talk.events[-1].time - talk.events[0].time) / 168
    assert 4.5 <= weeks <= 8.2
    assert 2 <= len({e.speaker for e in talk.events}) <= 4
    times = [e.time for e in talk.events]
    assert all(earlier < later for earlier, later in pairwise(times))
    assert len({e.id for e in talk.events}) == len(talk.events)
    assert (
        len({e.session for e in talk.events}) >= 10
        and any(e.caption for e in talk.events)
        and any(e.text in NOISE for e in talk.events)
    )


@EACH
def test_every_kind_of_question_is_asked(talk: Conversation) -> None:
    assert {q.category for q in talk.questions} == set(CATEGORIES)
    assert len({q.text for q in talk.questions}) == len(talk.questions)


@EACH
def test_gold_fits_the_kind_of_question(talk: Conversation) -> None:
    at = {e.id: n for n, e in enumerate(talk.events)}
    for question in talk.questions:
        places = [at[one] for one in question.gold]
        assert bool(places) == (question.category != "adversarial")
        if question.category in ("multi-hop", "contradiction", "event-ordering"):
            assert len(places) >= 2 and places == sorted(places)
        if question.category == "event-ordering":
            assert len({talk.events[place].session for place in places}) == len(places) >= 3
        if question.category == "neighbour":
            answer, before = talk.events[places[0]], talk.events[places[0] - 1]
            assert (
                answer.session == before.session
                and answer.speaker != before.speaker
                and before.text.rstrip().endswith("?")
            )
            assert len(words(question.text) & words(before.text)) > len(
                words(question.text) & words(answer.text)
            ), question
        if question.category == "paraphrase":
            assert len(words(question.text) & words(talk.events[places[0]].text)) <= 1, question


def test_an_update_overtakes_an_older_value() -> None:
    """In every story with a knowledge update, a scene before the gold turn's scene tells
    something too, and both survive in order.
    """
    checked = 0
    for story in f"{STORIES}{CIRCLES}".split("@")[1:]:
        for label in re.findall(r"\? knowledge-update: .+ = (\w+)", story):
            scenes = story.split("\n?")[0].split("--\n")
            (at,) = (
                n
                for n, scene in enumerate(scenes)
                if re.search(rf"^[XY] {label}:", scene, re.MULTILINE)
            )
            assert at > 0 and any(
                re.search(r"^[XY] \w+:", scene, re.MULTILINE) for scene in scenes[:at]
            ), story
            checked += 1
    assert checked >= 5


def test_no_slot_or_markup_is_left_and_sentences_begin_like_sentences() -> None:
    for talk in DEMO.conversations:
        for text in [
            *(e.text for e in talk.events),
            *(e.caption for e in talk.events),
            *(q.text for q in talk.questions),
        ]:
            assert not re.search(r"[{}<>|]|\[\[|  ", text), text
        for e in talk.events:
            assert e.text in NOISE or re.match(r"[A-Z0-9`+]|git blame", e.text), e.text
        assert all(q.text.endswith("?") and q.text[0].isupper() for q in talk.questions)


def test_answers_differ_between_tellings_of_one_story() -> None:
    """Conversations share stories, not facts: a story's answers are not all the same words."""
    gold_texts = Counter(
        e.text
        for talk in DEMO.conversations
        for q in talk.questions
        for e in talk.events
        if e.id in q.gold
    )
    assert sum(count == 1 for count in gold_texts.values()) > len(gold_texts) / 2


def test_every_line_of_the_scripts_is_understood_and_every_story_told() -> None:
    script = f"{STORIES}{CIRCLES}"
    for line in script.split("\n"):
        assert (
            not line.strip()
            or line == "--"
            or line.startswith("@")
            or LINE.fullmatch(line)
            or PROBE.fullmatch(line)
        ), line
        assert all(
            wordings.count("|") == 1 for wordings in re.findall(r"<(?!scale)([^<>]*)>", line)
        ), line
    names = [line[1:].split()[0] for line in script.split("\n") if line.startswith("@")]
    assert len(set(names)) == len(names) and set(names) == {
        name for setting in SETTINGS for name in setting.stories
    }


def test_draws_are_uniform_enough_and_shuffles_are_permutations() -> None:
    draw = Draw((SEED, 99))
    counts = Counter(draw.below(5) for _ in range(5000))
    # chi-squared, 4 degrees, p < 1e-4
    assert (
        set(counts) == set(range(5)) and sum((n - 1000) ** 2 / 1000 for n in counts.values()) < 23.5
    )
    firsts = Counter(draw.shuffled("abc")[0] for _ in range(3000))
    assert (
        sorted(draw.shuffled(range(9))) == list(range(9))
        and sum((n - 1000) ** 2 / 1000 for n in firsts.values()) < 18.5
    )
