"""The demo data set: ten conversations composed from our own stories, the same bytes on every
machine.

It exercises every kind of question without a download, and reads like people talking; it is not a
benchmark.  Facts are stated, updated and contradicted over five to eight weeks of sessions, among
small talk, near-duplicates and turns that only make sense after the previous turn.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np

from ...engine.base.errors import DataError
from ...engine.base.times import hours
from ...engine.contract.records import Event
from .base import MINUTE, Conversation, Dataset, Question, assemble, digest
from .demo_circles import CIRCLES
from .demo_stories import STORIES
from .demo_words import CLOSINGS, NOISE, OPENINGS, REPLIES, SETTINGS, SLOTS, SMALL_TALK, Setting

SEED = 1818
SESSIONS = (14, 16)  # per conversation, fewest and most
CATEGORIES = ("single-hop", "multi-hop", "temporal", "knowledge-update", "contradiction",
              "event-ordering", "instruction", "who-said-it",
              "paraphrase", "neighbour", "adversarial")  # fmt: skip
LINE = re.compile(r"([XY])(?: (\w+))?: (.+?)(?: \[\[(.+)\]\])?")
PROBE = re.compile(r"\? ([\w-]+): (.+) = ([\w -]+)")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Line:
    """One turn of a story: the role that speaks, the label that questions use, text and caption
    with slots unfilled.
    """

    role: str
    label: str
    text: str
    caption: str


@dataclass(frozen=True, slots=True)
class Story:
    """Scenes in order, and questions as (category, text, labels of gold lines).

    quiet   sad news: no joke and no goodbye directly follows it
    """

    name: str
    quiet: bool
    scenes: tuple[tuple[Line, ...], ...]
    probes: tuple[tuple[str, str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn with its slots filled; `key` is (story, label) if a question may ask for it."""

    speaker: str
    text: str
    caption: str = ""
    key: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """Turns that follow one another without interruption."""

    quiet: bool
    turns: list[Turn]


class Draw:
    """Random choices from raw generator output, whose stream numpy guarantees (the streams of
    Generator's methods may change between releases).
    """

    def __init__(self, seed: Sequence[int]) -> None:
        self._bits = np.random.default_rng(seed).bit_generator

    def below(self, n: int) -> int:
        """An integer in [0, n); the bias of the remainder, n / 2^64, does not matter here."""
        return int(self._bits.random_raw()) % n

    def among(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        return low + self.below(high - low + 1)

    def drawn(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in random order (Fisher and Yates)."""
        deck = list(items)
        for last in range(len(deck) - 1, 0, -1):
            other = self.below(last + 1)
            deck[last], deck[other] = deck[other], deck[last]
        return deck


def load_demo(path: Path | None = None, limit: int | None = None) -> Dataset:
    """The demo; `sha256` is of the canonical JSON of all ten conversations, for any limit.

    Errors: DataError if a path is given, because the demo is composed, not read.
    """
    if path is not None:
        cure = "leave --data out, or choose another data set"
        raise DataError(
            "the data set demo is composed by the program and reads no file",
            where=str(path),
            cure=cure,
        )
    everything = _everything()
    return assemble("demo", _digest(), everything[:limit], {"seed": SEED}, "demo")


@cache
def _everything() -> tuple[Conversation, ...]:
    stories = {story.name: story for story in map(_story, f"{STORIES}{CIRCLES}".split("@")[1:])}
    return tuple(
        _compose(n, setting, [stories[name] for name in setting.stories])
        for n, setting in enumerate(SETTINGS)
    )


@cache
def _digest() -> str:
    plain = [asdict(c) for c in _everything()]
    for question in (q for c in plain for q in c["questions"]):
        for name in ("answer", "rubric", "after", "forbidden"):  # the demo has none
            del question[name]
    for event in (e for c in plain for e in c["events"]):
        del event["attributes"]  # nor attributes
    canonical = json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return digest(canonical.encode("utf-8"))


def _story(script: str) -> Story:
    head, _, body = script.strip().partition("\n")
    name, *flags = head.split()
    lines = body.splitlines()
    probes = tuple(
        (match[1], match[2], tuple(match[3].split()) if match[3] != "-" else ())
        for line in lines
        if (match := PROBE.fullmatch(line))
    )
    joined = "\n".join(line for line in lines if not line.startswith("?"))
    scenes = tuple(
        tuple(
            Line(m[1], m[2] or "", m[3], m[4] or "")
            for m in map(LINE.fullmatch, scene.strip().splitlines())
            if m
        )
        for scene in joined.split("--\n")
    )
    return Story(name, "quiet" in flags, scenes, probes)


def _compose(number: int, setting: Setting, stories: Sequence[Story]) -> Conversation:
    draw = Draw((SEED, number))
    decks = {kind: draw.shuffled(words) for kind, words in SLOTS.items()}
    cast = draw.shuffled(setting.speakers)
    sessions: list[list[Scene]] = [[] for _ in range(draw.among(*SESSIONS))]
    probes = list[tuple[str, str, tuple[tuple[str, str], ...]]]()
    for n, story in enumerate(stories):
        teller, listener = (
            cast[n % len(cast)],
            cast[(n + 1 + draw.below(len(cast) - 1)) % len(cast)],
        )
        words = _fill(story, decks) | {"X": teller, "Y": listener}
        for place, scene in zip(
            _places(draw, [len(s) for s in sessions], len(story.scenes)), story.scenes, strict=True
        ):
            wording = draw.below(2)
            sessions[place].append(
                Scene(story.quiet, [_say(line, wording, words, story.name) for line in scene])
            )
        probes += [
            (category, text.format(**words), tuple((story.name, label) for label in labels))
            for category, text, labels in story.probes
        ]
    events, at = list[Event](), dict[tuple[str, str], str]()
    chatter = _Chatter(draw, setting.speakers)
    days = _days(draw, len(sessions))
    for n, (day, scenes) in enumerate(zip(days, sessions, strict=True), 1):
        begin = datetime(*setting.first) + timedelta(
            days=day, hours=draw.among(7, 21), minutes=draw.below(60)
        )
        time = hours(begin)
        for m, turn in enumerate(chatter.around(draw.shuffled(scenes), f"{begin:%A}"), 1):
            events.append(Event(time, turn.text, turn.speaker, f"S{n}", f"S{n}:{m}", turn.caption))
            if turn.key:
                at[turn.key] = events[-1].id
            time += MINUTE * draw.among(1, 4)
    asked = events[-1].time + 1.0
    questions = tuple(
        Question(f"{setting.name}/q{n}", text, asked, category, tuple(at[key] for key in keys))
        for n, (category, text, keys) in enumerate(probes, 1)
    )
    return Conversation(setting.name, tuple(events), questions)


def _fill(story: Story, decks: dict[str, list[str]]) -> dict[str, str]:
    """A word for every slot of the story, taken from the decks in the order of their names."""
    joined = " ".join(
        [
            *(f"{line.text} {line.caption}" for scene in story.scenes for line in scene),
            *(text for _, text, _ in story.probes),
        ]
    )
    return {
        slot: decks[slot.rstrip("0123456789")].pop()
        for slot in sorted(set(re.findall(r"\{([a-z]+\d?)\}", joined)))
    }


def _say(line: Line, wording: int, words: dict[str, str], story: str) -> Turn:
    text = re.sub(r"<([^<>]*)\|([^<>]*)>", lambda wordings: wordings[1 + wording], line.text)
    return Turn(
        words[line.role],
        text.format(**words),
        line.caption.format(**words),
        (story, line.label) if line.label else None,
    )


def _places(draw: Draw, loads: Sequence[int], scenes: int) -> list[int]:
    """Sessions for a story's scenes, in order and all different: the least busy of a few random
    choices.
    """
    choices = [sorted(draw.shuffled(range(len(loads)))[:scenes]) for _ in range(12)]
    return min(choices, key=lambda places: sum(loads[place] ** 2 for place in places))


def _days(draw: Draw, sessions: int) -> list[int]:
    """Different days, in order, spread over five to eight weeks, the first and the last
    included.
    """
    span = 7 * draw.among(5, 8)
    return sorted([0, span - 1, *draw.shuffled(range(1, span - 1))[: sessions - 2]])


class _Chatter:
    """Small talk around the scenes of a session; longer exchanges are never repeated inside a
    conversation.
    """

    def __init__(self, draw: Draw, speakers: Sequence[str]) -> None:
        self._draw, self._speakers = draw, speakers
        self._openings, self._replies, self._closings = (
            draw.shuffled(texts) for texts in (OPENINGS, REPLIES, CLOSINGS)
        )
        self._small = draw.shuffled(SMALL_TALK)
        self._noise = list[str]()

    def around(self, scenes: Sequence[Scene], day: str) -> list[Turn]:
        """The session's turns: hello, the scenes (quiet ones last) with noise between them, and
        usually a goodbye.
        """
        draw = self._draw
        speaker, other = draw.shuffled(self._speakers)[:2]
        turns = [
            Turn(speaker, self._openings.pop().format(day=day)),
            Turn(other, self._replies.pop()),
        ]
        for scene in sorted(scenes, key=lambda one: one.quiet):
            turns += scene.turns
            if not scene.quiet and draw.below(5) < 2:
                self._noise = self._noise or draw.shuffled(NOISE)
                turns.append(Turn(self._other(turns), self._noise.pop()))
        if draw.below(2):
            asks, answers = self._small.pop()
            turns[2:2] = [Turn(other, asks), Turn(speaker, answers)]
        if not any(scene.quiet for scene in scenes) and draw.below(3):
            turns.append(Turn(self._other(turns), self._closings.pop()))
        return turns

    def _other(self, turns: Sequence[Turn]) -> str:
        return self._draw.drawn([who for who in self._speakers if who != turns[-1].speaker])
