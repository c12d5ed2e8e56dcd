"""`hebbarium questions`: a page for each question of one or two runs, with what the evidence is, what
was answered, every signal, the rank after every stage, and the context that a reader gets; and a
page that lists and searches them.

The memory of each conversation is rebuilt from the run's manifest and asked its questions again, in
their order.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ...engine.base.errors import InputError
from ...engine.catalogue.registry import Registry
from ...engine.context.quoting import unescaped
from ...engine.contract.records import Query
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import Embedder
from ...reporting.files import write_whole
from ...reporting.text import plural
from ..datasets import Conversation, Dataset, Question
from ..execution.cells import asked, give_feedback, prepare
from ..execution.folder import RunFolder
from ..scores.metrics import question_metrics
from ..systems.by_name import OURS
from ..systems.witness import Witness
from .compare import PRIMARY, require_same_data, require_same_gold
from .explain import Explained, explained, page_environment, scale_of
from .rebuilding import opened

INDEX: Final = "index.html"
TOKENS: Final = 1_000  # of a context, if no budget is given
Progress = Callable[[int, int], None]
Row = Mapping[str, Any]
Key = tuple[str, str]  # conversation and question


@dataclass(frozen=True, slots=True)
class AnsweredEvent:
    """An event of an answer, best first; a session in a run that ranks sessions.

    text   as it is indexed; of a session its name and size; "" for what the memory made
    score  None for a system that gives none
    other  its rank in the answer of the other run, 0 if it is not there
    """

    id: str
    text: str
    score: float | None
    gold: bool
    other: int


@dataclass(frozen=True, slots=True)
class ReadContext:
    """What a reader gets for a question under a budget of tokens.

    gold  ids of the gold events whose text stands whole in it
    of    gold events
    """

    text: str
    tokens: int
    budget: int
    counter: str
    gold: tuple[str, ...]
    of: int


@dataclass(frozen=True, slots=True)
class QuestionSide:
    """What one run made of a question.

    ranks      gold event -> rank, 0 for a miss
    recall     recall@10; None without gold
    explained  signals and stages; it and the context are None for another system than ours
    """

    run: str
    arm: str
    ranks: Mapping[str, int]
    recall: float | None
    answer: tuple[AnsweredEvent, ...]
    explained: Explained | None
    context: ReadContext | None

    @property
    def scale(self) -> float:
        """The largest contribution, which has the longest bar."""
        return scale_of(self.explained) if self.explained else 1.0


@dataclass(frozen=True, slots=True)
class QuestionPage:
    """A question with what one or two runs made of it.

    gold  ids and texts of the events that hold the answer
    file  name of its page
    """

    conversation: str
    question: str
    category: str
    text: str
    answer: str
    gold: tuple[tuple[str, str], ...]
    sides: tuple[QuestionSide, ...]
    file: str

    @property
    def outcome(self) -> str:
        """By recall@10: of one run whether all, some or no evidence is there; of two runs whether
        the second has gained or lost, has as much in another answer, or the same answer.
        """
        first, last = self.sides[0].recall, self.sides[-1].recall
        if first is None or last is None:
            return "no evidence"
        if len(self.sides) == 1:
            return "found" if first == 1.0 else "in part" if first else "missed"
        return (
            "gained" if last > first
            else "lost" if last < first
            else "same answer" if self.same_answer
            else "equal"
        )  # fmt: skip

    @property
    def same_answer(self) -> bool:
        first, second = self.sides[0].answer, self.sides[-1].answer
        return [event.id for event in first] == [event.id for event in second]

    @property
    def words(self) -> str:
        """What a search looks through."""
        parts = (self.question, self.conversation, self.text, self.answer,
                 *(text for _, text in self.gold))  # fmt: skip
        return " ".join(" ".join(parts).lower().split())


def question_pages(
    runs: Sequence[RunFolder],
    data: Dataset,
    registry: Registry,
    embedders: Sequence[Embedder],
    *,
    arms: Sequence[str | None] = (None, None),
    budget: int = TOKENS,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Iterator[QuestionPage]:
    """A page for each question that all the runs asked, in the order of the first.

    runs       one or two
    embedders  of each run
    arms       of ablations; None: the full set
    budget     most tokens of a context
    limit      only the first conversations
    progress   called with (conversations done, conversations in all)

    Cost: of each run one encoding of each conversation, and about three retrievals for each
    question.  Raises InputError for runs on other data or with other gold, HebbariumError.
    """
    if len(runs) == 2:
        require_same_data(*runs)
    chosen = [run.arm(arm) for run, arm in zip(runs, arms, strict=False)]
    rows = [
        {(row["conversation"], row["question"]): row for row in run.rows(arm)}
        for run, arm in zip(runs, chosen, strict=True)
    ]
    shared = [key for key in rows[0] if key in rows[-1]]
    names = list(dict.fromkeys(conversation for conversation, _ in shared))[:limit]
    files = file_names([key for key in shared if key[0] in names])
    if not files:
        raise InputError(
            "the two runs share no question" if len(runs) == 2 else "the run asked no question",
            where=" and ".join(str(run.path) for run in runs),
            cure="give runs on the same conversations",
        )
    if len(runs) == 2:
        both = {key: (rows[0][key], rows[1][key]) for key in files}
        require_same_gold(runs[0], runs[1], both)
    report = progress or (lambda *_: None)
    by_name = {conversation.id: conversation for conversation in data.conversations}
    report(0, len(names))
    for done, name in enumerate(names, 1):
        told = [
            _told(run, arm, name, of_run, data, registry, embedder, budget)
            for run, arm, of_run, embedder in zip(runs, chosen, rows, embedders, strict=True)
        ]
        for key in (key for key in files if key[0] == name):
            mine = [of_run[key] for of_run in rows]
            yield _page(key, mine, by_name[name], runs, chosen, told, files[key])
        report(done, len(names))


def file_names(keys: Sequence[Key]) -> dict[Key, str]:
    """A name of a file for each question: its number, and what of its id every disk takes.

    >>> file_names([("conv-1", "q/1"), ("conv-1", "\u00c9t\u00e9?")])
    {('conv-1', 'q/1'): '1-q-1.html', ('conv-1', 'Été?'): '2-ete.html'}
    """
    width = len(str(len(keys)))
    named = {}
    for number, key in enumerate(keys, 1):
        plain = unicodedata.normalize("NFKD", key[1]).encode("ascii", "ignore").decode()
        word = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:40]
        named[key] = f"{number:0{width}d}{'-' if word else ''}{word}.html"
    return named


Told = Mapping[str, tuple[Explained, ReadContext]]  # by question


def _told(
    run: RunFolder,
    arm: str,
    conversation: str,
    rows: Mapping[Key, Row],
    data: Dataset,
    registry: Registry,
    embedder: Embedder,
    budget: int,
) -> Told:
    """What the rebuilt memory of a conversation says to each of its questions; {} for another
    system than ours.
    """
    if run.deciding(arm).get("system", OURS) != OURS:
        return {}
    cell = run.cell(arm, conversation, data)
    texts = {event.id: event.text for event in cell.conversation.events}
    told: dict[str, tuple[Explained, ReadContext]] = {}
    witness = Witness()
    with closing(opened(run, cell, registry, embedder, witness=witness)) as memory:
        for question, query in asked(cell, memory, prepare(cell, memory)):
            row = rows.get((conversation, question.id))
            told[question.id] = (
                explained(run, cell, question, query, memory.engine, witness, row, silencing=False),
                _context(memory.engine, query, budget, question, texts),
            )
            if cell.spec.feedback != "none":
                give_feedback(cell.spec, memory, question, memory.retrieve(query, cell.spec.k))
    return told


def _context(
    memory: Engine, query: Query, budget: int, question: Question, texts: Mapping[str, str]
) -> ReadContext:
    made = memory.context(query, budget)
    read = unescaped(made.text)
    shown = tuple(id for id in question.gold if texts[id] in read)
    return ReadContext(made.text, made.tokens, budget, made.counter, shown, len(question.gold))


def _page(
    key: Key,
    rows: Sequence[Row],
    conversation: Conversation,
    runs: Sequence[RunFolder],
    arms: Sequence[str],
    told: Sequence[Told],
    file: str,
) -> QuestionPage:
    texts = _texts(conversation)
    answers = [list(row["retrieved"]) for row in rows]
    sides = tuple(
        QuestionSide(
            run=run.name,
            arm=arm,
            ranks=dict(zip(row["gold"], row["ranks"], strict=True)),
            recall=question_metrics(row["ranks"]).named()[PRIMARY] if row["gold"] else None,
            answer=_answer(row, texts, answers[1 - number] if len(rows) == 2 else ()),
            explained=said[0] if (said := told[number].get(key[1])) else None,
            context=said[1] if said else None,
        )
        for number, (run, arm, row) in enumerate(zip(runs, arms, rows, strict=True))
    )
    first = rows[0]
    return QuestionPage(
        *key,
        str(first["category"]),
        str(first.get("question_text") or key[1]),
        str(first.get("answer") or ""),
        tuple((id, texts.get(id, "")) for id in first["gold"]),
        sides,
        file,
    )


def _texts(conversation: Conversation) -> dict[str, str]:
    """Texts of events by their ids, and of sessions by their names."""
    sizes = Counter(event.session for event in conversation.events)
    sessions = {name: f"session {name}: {plural(n, 'message')}" for name, n in sizes.items()}
    return sessions | {event.id: event.rendered() for event in conversation.events}


def _answer(row: Row, texts: Mapping[str, str], other: Sequence[str]) -> tuple[AnsweredEvent, ...]:
    places = {id: place for place, id in reversed(list(enumerate(other, 1)))}
    scores = [*row.get("scores", ()), *[None] * len(row["retrieved"])]
    gold = set(row["gold"])
    return tuple(
        AnsweredEvent(id, texts.get(id, ""), score, id in gold, places.get(id, 0))
        for id, score in zip(row["retrieved"], scores, strict=False)
    )


def write_pages(
    pages: Iterator[QuestionPage], folder: Path, runs: Sequence[RunFolder]
) -> list[QuestionPage]:
    """Write the pages into a new or empty folder, one after another, and the list of them last.
    Raises HebbariumError.

    Returned are the pages with what the list needs: texts, ranks and answers.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            "something is there already", where=str(folder),
            cure="give a folder that is new or empty",
        )  # fmt: skip
    made, listed = page_environment(), list[QuestionPage]()
    template = made.get_template("question.html.j2")
    waiting: QuestionPage | None = None
    for page in pages:
        if waiting:
            _write(template, folder, waiting, listed, page.file)
        waiting = page
    if waiting:
        _write(template, folder, waiting, listed, "")
    index = made.get_template("questions.html.j2").render(
        pages=listed,
        runs=[run.name for run in runs],
        arms=[side.arm for side in listed[0].sides],
        folders=[str(run.path) for run in runs],
        categories=sorted({page.category for page in listed}),
        outcomes=sorted({page.outcome for page in listed}),
        conversations=list(dict.fromkeys(page.conversation for page in listed)),
    )
    write_whole(folder / INDEX, [index])
    return listed


def _write(
    template: Any, folder: Path, page: QuestionPage, listed: list[QuestionPage], after: str
) -> None:
    before = listed[-1].file if listed else ""
    text = template.render(page=page, before=before, after=after, index=INDEX)
    write_whole(folder / page.file, [text])
    sides = (replace(side, explained=None, context=None) for side in page.sides)
    listed.append(replace(page, sides=tuple(sides)))
