"""MADial-Bench (English): memories of two children, and dialogues in which an assistant should
recall some of them.

Source: He et al. 2025, MADial-Bench: Towards Real-world Evaluation of Memory-Augmented Dialogue
Generation, NAACL (arXiv:2409.15240); files `MADial-Bench-en-memory.json` and
`MADial-Bench-en-dialogue.json`, one JSON object a line each.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from pathlib import Path

from ...engine.base.times import hours
from ...engine.contract.records import Event
from .base import (
    Conversation,
    Dataset,
    JsonPlace,
    Question,
    TurnClock,
    assemble,
    folder_with,
    read_json_lines,
    unique,
)
from .reading import digest_of

MEMORIES, DIALOGUES = "MADial-Bench-en-memory.json", "MADial-Bench-en-dialogue.json"
LATER = 14 * 24.0  # h, from the last memory to the dialogues
ARCHIVE = "archive"  # id of the only conversation
_MARK = re.compile(r"<[A-Z]OD>\s*")  # <BOD> and <EOD>, the ends of a dialogue
_SPOKEN = re.compile(r"<([^<>]+)>:\s*(.*)", re.DOTALL)


def load_madial(path: Path | None, limit: int | None = None) -> Dataset:
    """One conversation, `archive`: every memory is an event and a session of its own, every
    dialogue a question.

    As in the source's recall task, the cue is the dialogue up to the first turn at which the
    assistant should recall, as lines `speaker: text`, and all memories are the pool.  Gold: the
    relevant memories; those that are not in the archive are counted.  Category: the scene of the
    first of them.  A memory has a date without a time of day; memories of one day are a minute
    apart, in the order of the file.  All questions are asked two weeks after the last memory
    (engineering: the file has no dates of dialogues; the day of the last memory would be what a
    child calls today).  Scene and emotion are attributes, which are
    not embedded; the source embeds both beside the text.

    path   the folder with the two files, or one of them
    limit  of conversations; there is one

    Cost: O(characters), all in memory.  Errors: DataError.
    """
    folder = folder_with(path, "madial", (MEMORIES, DIALOGUES))
    memories, _ = read_json_lines(folder / MEMORIES)
    dialogues, _ = read_json_lines(folder / DIALOGUES)
    counted: Counter[str] = Counter(gold_missing=0)
    told = [_memory(line) for line in memories]
    clock, events, scenes = TurnClock(), list[Event](), dict[str, str]()
    for date, name, place in sorted(told, key=lambda memory: memory[0]):
        scenes[name] = place.field("scene").name()
        kinds = {"scene": scenes[name], "emotion": place.field("emotion").name()}
        time = clock.next(date, place.field("time"))
        events.append(
            Event(
                time, place.field("event").name(), session=name, id=name,
                attributes=tuple(sorted(kinds.items())),
            )
        )  # fmt: skip
    questions = tuple(
        _question(line, number, clock.now + LATER, scenes, counted)
        for number, line in enumerate(dialogues, 1)
    )
    return assemble(
        "madial",
        digest_of([(name, folder / name) for name in (MEMORIES, DIALOGUES)]),
        [Conversation(ARCHIVE, tuple(events), questions)],
        counted,
        str(folder),
    )


def _memory(line: JsonPlace) -> tuple[float, str, JsonPlace]:
    """Date (h), id and fields of a memory: a line is an object with its id as the only key."""
    members = list(line.members())
    if len(members) != 1:
        line.wrong(f"{len(members)} memories; a line holds one")
    name, place = members[0]
    date = place.field("time")
    try:
        return hours(datetime.strptime(date.text().strip(), "%Y-%m-%d")), name, place
    except ValueError:
        date.wrong(f"{date.value!r} is not a date", "write it like '2023-12-25'")


def _question(
    line: JsonPlace, number: int, time: float, scenes: dict[str, str], counted: Counter[str]
) -> Question:
    turns = list(line.field("dialogue").items("turn"))
    tested = [place.whole_number() for place in line.field("test-turn").items("place")]
    if not tested or not 1 <= tested[0] < len(turns):
        line.wrong(
            f"the first tested turn is {tested[0] if tested else 'not given'}; the dialogue has "
            f"turns 0 to {len(turns) - 1}, and something must be said before it"
        )
    said = [words for turn in turns[: tested[0]] if (words := _spoken(turn))]
    if not said:
        line.wrong("nothing is said before the first tested turn")
    named = unique(place.name() for place in line.field("relevant-id").items("id"))
    gold = tuple(id for id in named if id in scenes)
    counted["gold_missing"] += len(named) - len(gold)
    category = scenes[gold[0]] if gold else "no memory"
    return Question(f"dialogue {number}", "\n".join(said), time, category, gold)


def _spoken(turn: JsonPlace) -> str:
    """A turn as `speaker: text`, without quotation marks; "" for the mark of an end."""
    text = turn.text().strip()
    if _MARK.fullmatch(text):
        return ""
    match = _SPOKEN.fullmatch(text)
    speaker, words = (f"{match[1]}: ", match[2]) if match else ("", text)
    return speaker + words.strip().removeprefix('"').removesuffix('"')
