"""`hebbarium explain RUN --misses`: every gold event that a run missed, by cause.

The memory of each conversation is rebuilt from the run's manifest and asked its questions again, in
their order.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from ...engine.catalogue.registry import Registry
from ...engine.contract.records import Query
from ...engine.ports.embedder import Embedder
from ...engine.state.ranking import Answer
from ...reporting.files import write_whole
from ...reporting.pages import environment
from ...reporting.text import plural
from ..datasets import Dataset, Question
from ..execution.cells import Cell, asked, give_feedback, prepare
from ..execution.folder import RunFolder
from ..execution.setup import code_version
from ..systems.hebbarium import Hebbarium
from ..systems.witness import Witness
from .explain import Cause, CauseReader, Gold, candidates_of, makers_of, question_named
from .rebuilding import opened, ours

ORDER: Final = (Cause.NOT_STORED, Cause.ARCHIVED, Cause.NO_SIGNAL, Cause.BELOW, Cause.HELD_BACK)
# of a cause where it differs from its value
WORDS: Final = {Cause.ARCHIVED: "archived and not reached"}
NEVER: Final = "not among the first k after any stage"
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Miss:
    """A gold event that is not in the answer to its question, and the cause.

    gold, text   id and text as it is indexed
    rank         in the answer, from 1; 0 if it cannot be retrieved
    cause        a value of `Cause`
    stage        of a cause "below the first k": the stage at which it leaves the first k for good;
                 "" if no stage has it there
    by           mechanisms behind the cause: gates that voted against it, what archived it, what
                 computed the stage or held it back
    signal, signal_rank  the signal with a trust above 0 that ranks it best, and its rank there; ""
                         and 0 if all are silent on it
    words        the cause in words
    """

    conversation: str
    question: str
    category: str
    question_text: str
    gold: str
    text: str
    rank: int
    cause: Cause
    stage: str
    by: tuple[str, ...]
    signal: str
    signal_rank: int
    words: str


@dataclass(frozen=True, slots=True)
class MissGroup:
    """Misses of one cause and stage: their number, the number of their questions, and the
    mechanisms behind them, most frequent first.
    """

    cause: Cause
    stage: str
    n: int
    questions: int
    by: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """The cause, with the stage of one that is below the first k."""
        word = WORDS.get(self.cause, self.cause.value)
        return (
            f"{word}: {f'fell at the stage {self.stage}' if self.stage else NEVER}"
            if self.cause is Cause.BELOW
            else word
        )


@dataclass(frozen=True, slots=True)
class Misses:
    """Every gold event that was missed.

    run          set and data set; `folder` is where the run is
    k            length of an answer
    n_questions, n_gold  questions with gold that were asked again, and their gold events
    categories   category -> (gold events, those missed)
    notes        what a reader should know about the rebuilt memories
    """

    run: str
    folder: str
    arm: str
    k: int
    n_questions: int
    n_gold: int
    misses: tuple[Miss, ...]
    categories: Mapping[str, tuple[int, int]]
    notes: tuple[str, ...]

    @property
    def groups(self) -> tuple[MissGroup, ...]:
        """By cause, in the order of a memory's life, then by stage, most frequent first; causes
        without a miss are left out.
        """
        groups: dict[tuple[Cause, str], list[Miss]] = {}
        for miss in self.misses:
            groups.setdefault(
                (miss.cause, miss.stage if miss.cause is Cause.BELOW else ""), []
            ).append(miss)
        made = [
            MissGroup(
                cause,
                stage,
                len(mine),
                len({(m.conversation, m.question) for m in mine}),
                tuple(Counter(id for m in mine for id in m.by).most_common()),
            )
            for (cause, stage), mine in groups.items()
        ]
        return tuple(
            sorted(made, key=lambda group: (ORDER.index(group.cause), -group.n, group.stage))
        )

    @property
    def n_missed_questions(self) -> int:
        return len({(m.conversation, m.question) for m in self.misses})


def misses(
    run: RunFolder,
    data: Dataset,
    registry: Registry,
    embedder: Embedder,
    *,
    arm: str | None = None,
    only: Sequence[str] = (),
    progress: Progress | None = None,
) -> Misses:
    """Rebuild the memory of every conversation and find the cause of every miss.

    arm       of an ablation; None: the full set
    only      names of the questions to ask, see `explain.question_named`; all if empty
    progress  called with (conversations done, conversations in all)

    A gold event is missed if no memory that shows it is among the first k.  Cost: one encoding of
    each conversation, one retrieval for each question, and one more for each question with a miss.
    Raises InputError for a run of another system and for an unknown question, HebbariumError.
    """
    chosen, report = ours(run, arm), progress or (lambda *_: None)
    wanted = _wanted(run, data, only)
    conversations = [
        c for c in data.conversations if any((c.id, q.id) in wanted for q in c.questions)
    ]
    rows = {(row["conversation"], row["question"]): row for row in run.rows(chosen)}
    misses: list[Miss] = []
    gold: Counter[str] = Counter()
    questions, other, k, code = 0, 0, 0, code_version()
    report(0, len(conversations))
    for done, conversation in enumerate(conversations, 1):
        cell = run.cell(chosen, conversation.id, data)
        k, code = cell.spec.k, cell.spec.code
        witness = Witness()
        with closing(opened(run, cell, registry, embedder, witness=witness)) as memory:
            for question, answer, mine in _asked(cell, memory, witness, wanted):
                questions += 1
                gold[question.category] += len(question.gold)
                misses += mine
                row = rows.get((conversation.id, question.id))
                other += cell.spec.match == "unit" and (
                    row is None
                    or [_rank(memory, answer, id) for id in question.gold] != row["ranks"]
                )
        report(done, len(conversations))
    lost = Counter(m.category for m in misses)
    return Misses(
        run.name,
        str(run.path),
        chosen,
        k,
        questions,
        gold.total(),
        tuple(misses),
        {name: (n, lost[name]) for name, n in sorted(gold.items())},
        _notes(run, code, other, questions),
    )


def _wanted(run: RunFolder, data: Dataset, only: Sequence[str]) -> set[tuple[str, str]]:
    """(conversation, question) of the questions with gold that are to be asked.  Raises
    InputError for a name that no question of the run has.
    """
    measured = [c for c in data.conversations if c.id in run.manifest["conversations"]]
    chosen = (
        [question_named(run, data, name) for name in only]
        if only
        else [(c, q) for c in measured for q in c.questions]
    )
    return {(c.id, q.id) for c, q in chosen if q.gold}


def _asked(
    cell: Cell, memory: Hebbarium, witness: Witness, wanted: Collection[tuple[str, str]]
) -> Iterator[tuple[Question, Answer, list[Miss]]]:
    """Each wanted question with its answer and its misses.  Feedback is given as in the run."""
    for question, query in asked(cell, memory, prepare(cell, memory)):
        if (cell.conversation.id, question.id) in wanted:
            answer = memory.engine.retrieve(query, cell.spec.k)
            yield question, answer, _missed(cell, memory, witness, question, query, answer)
        if cell.spec.feedback != "none":
            give_feedback(cell.spec, memory, question, memory.retrieve(query, cell.spec.k))


def _rank(memory: Hebbarium, answer: Answer, id: str) -> int:
    """Best rank of the memories that show an event; 0 for none."""
    return min(filter(None, map(answer.rank, memory.engine.event_log.showing(id))), default=0)


def _missed(
    cell: Cell,
    memory: Hebbarium,
    witness: Witness,
    question: Question,
    query: Query,
    answer: Answer,
) -> list[Miss]:
    engine, k = memory.engine, cell.spec.k
    lost = [id for id in question.gold if not 0 < _rank(memory, answer, id) <= k or not len(answer)]
    if not lost:
        return []
    rows = {id: engine.event_log.row(id) for id in lost}
    last = answer.rows[-1:].tolist() if len(answer) == k else []
    candidates, _ = candidates_of(
        engine, query, answer, [*(row for row in rows.values() if row >= 0), *last]
    )
    reader = CauseReader(
        engine, witness, k, makers_of(engine), answer, candidates[last[0]] if last else None
    )
    events = {event.id: event for event in cell.conversation.events}
    golds = [
        reader.gold(candidates[row], row, {}) if row >= 0 else reader.rejected(events[id])
        for id, row in rows.items()
    ]
    return [_miss(cell.conversation.id, question, gold) for gold in golds]


def _miss(conversation: str, question: Question, gold: Gold) -> Miss:
    best = min(
        (p for p in gold.at.parts if p.trust > 0 and p.rank), key=lambda p: p.rank, default=None
    )
    return Miss(
        conversation,
        question.id,
        question.category,
        question.text,
        gold.at.id,
        gold.at.text,
        gold.at.rank,
        gold.cause,
        gold.stage,
        gold.by,
        best.signal if best else "",
        best.rank if best else 0,
        gold.words,
    )


def _notes(run: RunFolder, code: str, other: int, questions: int) -> tuple[str, ...]:
    notes = (
        [f"the run was made by the code {code}, and this is {code_version()}"]
        if code != code_version()
        else []
    )
    if run.manifest.get("match") == "session":
        notes.append("the run ranked sessions; gold and ranks here are of single events")
    if other:
        notes.append(
            f"the rebuilt memories give other ranks of gold than the run for {other} of {plural(questions, 'question')}"
        )
    return tuple(notes)


# ---- as data and as a page


def to_json(misses: Misses) -> dict[str, Any]:
    """Plain data for `json.dumps`."""
    plain: dict[str, Any] = json.loads(json.dumps(asdict(misses)))
    groups = [
        {
            "cause": g.cause.value,
            "stage": g.stage,
            "gold": g.n,
            "questions": g.questions,
            "by": dict(g.by),
        }
        for g in misses.groups
    ]
    return {**plain, "groups": groups, "n_missed_questions": misses.n_missed_questions}


def to_html(misses: Misses, path: Path) -> Path:
    """Write the page, whole or not at all.  Raises HebbariumError."""
    made = environment(Path(__file__).parent.parent / "templates")
    write_whole(path, [made.get_template("misses.html.j2").render(misses=misses)])
    return path
