"""LoCoMo with the errors corrected that a published audit found in its answers and evidence.

Source: the data of `locomo`, and the files `errors_conv_<n>.json` of the audit
github.com/dial481/locomo-audit (CC BY-NC 4.0): 99 of 1,540 answers and 57 more citations are wrong
there, each with its kind, the evidence and answer that the conversation supports, and the reason.
Nothing of the audit is in this package: its files are read where they were put.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...engine.base.errors import DataError
from .base import Conversation, Dataset, JsonPlace, Question, given, read_json, unique
from .locomo import dialogs, load_locomo
from .reading import digest_of

AUDITED = re.compile(r"errors_conv_(\d+)\.json")
NUMBER = re.compile(r"locomo_\d+_qa(\d+)")


@dataclass(frozen=True, slots=True)
class AnswerCorrection:
    """An error that the audit found.

    place     place of the question in its conversation, from 0
    question  its text
    kind      such as "wrong_citation" or "hallucination"
    evidence  ids of the turns that hold the answer, as LoCoMo writes them
    answer    that the conversation supports
    reason    in the audit's words
    """

    place: int
    question: str
    kind: str
    evidence: tuple[str, ...]
    answer: str
    reason: str


def load_locomo_corrected(path: Path | None, limit: int | None = None) -> Dataset:
    """The conversations of LoCoMo, with corrected gold and answers.

    A correction belongs to the question that has its text and its place; those of conversations
    that are not loaded are counted, and evidence that names no turn is left out and counted.  The
    notes have the number of corrections by kind, and how many questions have other gold for them.
    The text of a question that names the wrong person or time stays as it is.

    path  a folder with LoCoMo's file and the files of the audit

    Cost: O(characters).  Errors: DataError.
    """
    folder = given(path, "locomo-corrected", CURE)
    files = audit_files(folder)
    own = [file for file in sorted(folder.glob("*.json")) if not AUDITED.fullmatch(file.name)]
    if len(own) != 1:
        raise DataError(
            f"the folder holds {len(own) or 'no'} JSON files beside those of the audit",
            where=str(folder),
            cure=CURE,
        )
    data = load_locomo(own[0], limit)
    listed = corrections(folder)
    counted: Counter[str] = Counter(
        corrected=0, corrected_gold=0, corrected_gold_missing=0, corrections_elsewhere=0
    )
    conversations = tuple(
        _corrected(conversation, listed, counted) for conversation in data.conversations
    )
    counted["corrections_elsewhere"] = len(listed) - counted["corrected"]
    without = sum(not q.gold for c in conversations for q in c.questions)
    return replace(
        data,
        name="locomo-corrected",
        sha256=digest_of([(file.name, file) for file in (*own, *files)]),
        conversations=conversations,
        notes={**data.notes, "questions_without_gold": without, **counted},
    )


CURE = (
    "put LoCoMo's file and the audit's files in one folder, and give --data the folder: `hebbarium "
    "data get locomo --to FOLDER` and `hebbarium data get locomo-audit --to FOLDER` do so"
)


def audit_files(folder: Path) -> list[Path]:
    """The audit's files in a folder, by number.  Raises DataError if there are none."""
    numbered = {
        int(match[1]): file
        for file in (folder.iterdir() if folder.is_dir() else ())
        if (match := AUDITED.fullmatch(file.name)) and file.is_file()
    }
    if not numbered:
        raise DataError(
            "it holds no file errors_conv_<n>.json of the audit", where=str(folder), cure=CURE
        )
    return [file for _, file in sorted(numbered.items())]


def corrections(folder: Path) -> list[AnswerCorrection]:
    """Every error in the audit's files, in their order.  Raises DataError."""
    return [
        _correction(place)
        for file in audit_files(folder)
        for place in read_json(file)[0].items("error")
    ]


def _correction(place: JsonPlace) -> AnswerCorrection:
    name = place.field("question_id")
    match = NUMBER.fullmatch(name.name())
    if match is None:
        name.wrong(f"{name.value!r} names no question", "write it like 'locomo_0_qa12'")
    evidence = [item.text() for item in place.field("correct_evidence").items("evidence")]
    return AnswerCorrection(
        int(match[1]),
        place.field("question").name(),
        place.field("error_type").name().lower(),
        unique(dialog for text in evidence for dialog in dialogs(text)),
        place.field("correct_answer").name(),
        place.field("reasoning").name(),
    )


def _corrected(
    conversation: Conversation, listed: Sequence[AnswerCorrection], counted: Counter[str]
) -> Conversation:
    mine = {(c.place, c.question): c for c in listed}
    turns = {dialog: e.id for e in conversation.events for dialog in dialogs(e.id)}
    return replace(
        conversation,
        questions=tuple(
            _question(question, correction, turns, counted)
            if (correction := mine.get((place, question.text)))
            else question
            for place, question in enumerate(conversation.questions)
        ),
    )


def _question(
    question: Question,
    correction: AnswerCorrection,
    turns: Mapping[str, str],
    counted: Counter[str],
) -> Question:
    gold = tuple(turns[dialog] for dialog in correction.evidence if dialog in turns)
    counted["corrected"] += 1
    counted[f"corrected_{correction.kind}"] += 1
    counted["corrected_gold"] += set(gold) != set(question.gold)
    counted["corrected_gold_missing"] += len(correction.evidence) - len(gold)
    return replace(question, gold=gold, answer=correction.answer)
