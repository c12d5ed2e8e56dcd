"""Data sets: conversations with questions whose evidence is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Literal

from ...engine.base.errors import DataError
from ...engine.contract.records import Event
from .base import Conversation, Dataset, Question, by_session, given
from .beam import load_beam
from .conversations import is_own, load_conversations
from .demo import load_demo
from .fetch import SOURCES
from .locomo import load_locomo
from .locomo_corrected import load_locomo_corrected
from .longmemeval import load_longmemeval
from .madial import load_madial
from .memdaily import load_memdaily
from .precisionmembench import load_precisionmembench
from .recognise import EMPTY, EVENTS, OWN_DATA, OWN_FORM, QUESTIONS, recognise

Loader = Callable[[Path | None, int | None], Dataset]
Unit = Literal["turn", "session"]

LOADERS: dict[str, Loader] = {
    "demo": load_demo,
    "locomo": load_locomo,
    "locomo-corrected": load_locomo_corrected,
    "beam": load_beam,
    "longmemeval": load_longmemeval,
    "madial": load_madial,
    "memdaily": load_memdaily,
    "precisionmembench": load_precisionmembench,
    "conversations": load_conversations,
}

# data sets that are made of the files of several sources
OVERLAYS: dict[str, tuple[str, ...]] = {"locomo-corrected": ("locomo", "locomo-audit")}

__all__ = ["LOADERS", "Conversation", "Dataset", "Question", "Unit", "base", "conversations",
           "demo", "fetch", "load", "long_chat", "official_form",
           "papers_of", "require_questions"]  # fmt: skip


def load(
    name: str,
    path: Path | str | None = None,
    *,
    unit: Unit = "turn",
    limit: int | None = None,
    allow_missing_gold: bool = False,
) -> Dataset:
    """Load a data set by name, completely or not at all.

    path    the file or folder in the official format, or a folder that contains one named like the
            data set; None for the demo
    unit    what an event is: a turn, or a whole session (lines `speaker: text [caption]`)
    limit   number of conversations, from the first; None for all
    allow_missing_gold  for `conversations`: leave out and count gold that names no event, instead
                        of refusing the data; official files always do

    All conversations are read and checked, one at a time; the data set holds their questions, and
    `conversation.events` reads the events again. Cost: O(characters).  Errors: DataError, which
    names file, place and cure, also if a file changes after it was loaded; it says what a file in
    another form seems to be.

    >>> [c.id for c in load("demo", limit=2).conversations]
    ['friends', 'flatmates']
    """
    _require(name)
    if unit not in ("turn", "session"):
        raise DataError(f"there is no unit {unit!r}", cure="choose turn or session")
    if limit is not None and limit < 1:
        raise DataError(
            f"a limit of {limit} keeps no conversation",
            cure="choose a limit of 1 or more, or leave it out",
        )
    path = None if path is None else Path(path)
    if path and path.is_dir() and (path / name).is_dir():
        path = path / name
    loader = (
        partial(load_conversations, allow_missing_gold=True)
        if allow_missing_gold and name == "conversations"
        else LOADERS[name]
    )
    try:
        dataset = loader(path, limit)
    except DataError as error:
        raise _other_form(name, path, error) from error.__cause__
    loaded = replace(dataset, form=name, path=str(path.absolute()) if path else "", limit=limit)
    if unit == "turn":
        return loaded
    merged = tuple(by_session(c).handed(partial(_sessions, c)) for c in loaded.conversations)
    return replace(
        loaded,
        conversations=merged,
        notes={**loaded.notes, "events": sum(len(c.events) for c in merged)},
    )


def _other_form(name: str, path: Path | None, error: DataError) -> DataError:
    """The error; of a path that seems to hold something else than this data set one that says
    what, and how it can be used.
    """
    seems = recognise(path) if path else None
    cut_off = seems == EMPTY and name != OWN_DATA  # of an official file; its error says so
    part = seems is not None and seems.dataset in OVERLAYS.get(name, ())
    if seems is None or cut_off or part or (seems.dataset == name and not seems.before):
        return error
    return DataError(
        f"{error.what}; it seems to be {seems.name}",
        where=error.where or str(path),
        cure=seems.cure(),
    )


def _sessions(conversation: Conversation) -> Sequence[Event]:
    return by_session(conversation).events


def official_form(path: Path) -> str:
    """The data set in whose form a file or folder seems to be.  Raises DataError for one in
    none, which says what it seems to be, and for a path where nothing is.
    """
    path = given(path, "", "check the path")
    if is_own(path):
        return OWN_DATA
    seems = recognise(path)
    if seems and seems.dataset and not seems.before:
        return seems.dataset
    raise DataError(
        f"it is no data set; it seems to be {seems.name}"
        if seems
        else "it is no data set: it holds no messages, and nothing else known",
        where=str(path),
        cure=seems.cure() if seems else OWN_FORM,
    )


def require_questions(data: Dataset) -> None:
    """Raises DataError, which says how questions are added, for data without any: nothing could
    be measured.
    """
    if not any(c.questions for c in data.conversations):
        raise DataError(
            "the data hold no questions, so there is nothing to measure",
            where=data.path or data.name,
            cure=(
                f"write {QUESTIONS} beside {EVENTS}, one JSON object a line, such as\n"
                '    {"conversation": "kitchen", "id": "q1", "text": "Who repaired the oven?", "gold": ["k3"]}\n'
                "  where `gold` names the events that hold the answer; without questions, `hebbarium assemble --query TEXT` asks the data, and "
                "`hebbarium data show` shows them"
            ),
        )


def papers_of(name: str) -> tuple[str, ...]:
    """Keys of the papers to cite for a data set.  Raises DataError for an unknown one.

    >>> papers_of("longmemeval"), papers_of("demo")
    (('wu2025longmemeval',), ())
    """
    _require(name)
    names = OVERLAYS.get(name) or [
        s.name
        for s in SOURCES
        if s.name.partition("-")[0] == name and s.name not in chain(*OVERLAYS.values())
    ]
    return tuple(dict.fromkeys(s.paper for s in SOURCES if s.name in (*names, name)))


def _require(name: str) -> None:
    if name not in LOADERS:
        raise DataError(
            f"there is no data set {name!r}", cure=f"choose one of {', '.join(LOADERS)}"
        )
