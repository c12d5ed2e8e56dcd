"""Writing questions of one's own in a terminal, and marking the events that answer them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..benchmarks.datasets import load
from ..benchmarks.datasets.base import Conversation
from ..benchmarks.datasets.recognise import OWN_DATA, QUESTIONS
from ..engine.base.errors import InputError, nearest
from ..engine.contract.records import Event
from ..engine.memory.engine import Engine
from ..reporting.files import write_whole

BEST: Final = 6  # events that are suggested by the ranking of all signals
EACH: Final = 2  # and by each signal alone
HELP: Final = (
    "numbers of the events that answer it, such as 1 3; ids; 0 if none does; "
    "/words to look for others; empty to leave the question out"
)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An event that may answer a question, and the signals that rank it high."""

    event: Event
    by: tuple[str, ...]


def chosen(folder: Path, id: str | None) -> Conversation:
    """The conversation of one's own data that is asked: the named one, else the one with the most
    events.  Raises DataError, and InputError for a name that is not there.
    """
    talks = {talk.id: talk for talk in load(OWN_DATA, folder).conversations}
    if id is None:
        return max(talks.values(), key=lambda talk: len(talk.events))
    if id not in talks:
        raise InputError(f"the data have no conversation {id!r}", where="--conversation",
                         cure=nearest(id, talks))  # fmt: skip
    return talks[id]


def suggestions(memory: Engine, question: str) -> list[Suggestion]:
    """The events that the memory ranks best for a question, then the best of each signal."""
    answer = memory.retrieve(question, BEST)
    by: dict[int, list[str]] = {row: ["all"] for row in answer.rows.tolist()}
    if len(answer):
        for part in memory.explain(question, int(answer.rows[0])).signals:
            scores = np.asarray(memory.column(part.signal), np.float64)
            order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
            for row in order[:EACH].tolist():
                if np.isfinite(scores[row]):
                    by.setdefault(row, []).append(part.signal)
    return [Suggestion(memory.event(row), tuple(names)) for row, names in by.items()]


def asked(
    folder: Path,
    talk: Conversation,
    memory: Engine,
    wanted: int,
    read: Callable[[str], str],
    say: Callable[[str], None],
) -> int:
    """Ask for questions until so many are written, or the input ends.  How many were written.

    memory  has encoded the events of the conversation
    read    prints a prompt and returns a line; raises EOFError at the end
    say     prints a line

    Each question is in questions.jsonl when the next one is asked, and those that were there stay.
    """
    file, ids = folder / QUESTIONS, {event.id for event in talk.events}
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    known = {json.loads(line)["id"] for line in lines if line.strip()}
    numbers: Iterator[int] = iter(range(1, 1 << 30))
    written = 0
    try:
        while written < wanted:
            question = read(f"question {written + 1} of {wanted} (empty to end): ").strip()
            if not question:
                break
            gold = _marked(memory, question, ids, read, say)
            if gold is None:
                say("left out")
                continue
            id = next(name for n in numbers if (name := f"q{n}") not in known)
            row: dict[str, Any] = {"conversation": talk.id, "id": id, "text": question}
            row |= {"gold": gold} if gold else {"gold": [], "category": "abstention"}
            lines.append(json.dumps(row, ensure_ascii=False))
            write_whole(file, (f"{line}\n" for line in lines if line.strip()))
            known.add(id)
            written += 1
            say(f"{id}: {', '.join(gold) or 'no event answers it'}")
    except EOFError:
        say("")
    return written


def _marked(
    memory: Engine,
    question: str,
    ids: set[str],
    read: Callable[[str], str],
    say: Callable[[str], None],
) -> list[str] | None:
    """Ids of the events that a person marks as the answer; [] for none, None to leave it out."""
    words = question
    while True:
        listed = suggestions(memory, words)
        for number, suggestion in enumerate(listed, 1):
            said = suggestion.event.text.replace("\n", " ")
            when = f"{suggestion.event.local:%Y-%m-%d} " if suggestion.event.dated else ""
            say(
                f"{number:>3}  {when}{suggestion.event.speaker}: {said[:100]}  [{', '.join(suggestion.by)}]"
            )
        while True:
            reply = read(f"{HELP}: ").strip()
            if not reply:
                return None
            if reply.startswith("/"):
                words = reply[1:].strip() or question
                break
            marks = reply.replace(",", " ").split()
            if marks == ["0"]:
                return []
            named = [_named(mark, listed, ids) for mark in marks]
            if all(named):
                return list(dict.fromkeys(map(str, named)))
            wrong = [mark for mark, name in zip(marks, named, strict=True) if not name]
            say(f"no event is {', '.join(wrong)}")


def _named(mark: str, listed: list[Suggestion], ids: set[str]) -> str:
    """The id that a number of the list, or an id, names; "" for none."""
    if mark in ids:
        return mark
    place = int(mark) if mark.isdecimal() and len(mark) < 5 else 0
    return listed[place - 1].event.id if 0 < place <= len(listed) else ""
