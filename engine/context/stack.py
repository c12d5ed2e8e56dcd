"""The context of the task under way: the root goal, the goals between, what was finished beside it,
and the task itself in detail.

Shares of the budget: root 5%, path 15%, siblings 10%, current 70%; what a part does not need is
spent by the others, the current task first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from ..base.errors import InputError
from ..contract.records import Only, Query
from ..contract.task_events import POP, TASK
from ..text.features import terms_of
from .assembly import budget_of
from .components import ComponentKind
from .context import Context, ContextReader
from .formats import FORMATS, Candidate
from .kinds import as_activity
from .selection import LARGEST, Rules, fill, lay_out
from .tasks import PERCENT, Frame, Tasks
from .tokens import LENGTH, TokenCounter

if TYPE_CHECKING:
    from ..state.event_log import EventLog
    from ..state.ranking import Answer

ROOT, PATH, SIBLINGS, CURRENT = PARTS = ("Root Goal", "Path", "Finished Beside It", "Current Task")
SHARES: Final = dict(zip(PARTS, map(float, PERCENT), strict=True))
MOST: Final = 256  # memories of the current task that are looked at


class StackMemory(Protocol):
    """What this asks of a memory; `engine.memory.engine.Engine` has it."""

    @property
    def tasks(self) -> Tasks: ...
    @property
    def event_log(self) -> EventLog: ...

    def retrieve(self, query: Query | str, k: int = 10) -> Answer: ...


def assemble_stack(
    memory: StackMemory,
    max_tokens: int | None = None,
    *,
    reader: ContextReader | None = None,
    counter: TokenCounter = LENGTH,
    form: str = "sections",
) -> Context:
    """The context of the current task of `memory.tasks` under a budget of tokens.  The state stays
    bit for bit as it is.

    Root goal, then the goals of the path, the nearest to the current task first if not all fit,
    then results of finished siblings, the latest first, then the current goal and the events told
    during it, the best for that goal first; each part is in the order of telling.  Events are
    written by their kind (`engine.context.kinds`).

    Raises InputError if no task is under way, without a budget, and for an unknown form.  Cost: one
    retrieval, and O(depth + siblings).
    """
    path, budget = memory.tasks.path(), budget_of(max_tokens, reader)
    if not path:
        raise InputError(
            "no task is under way", where="context of tasks", cure="begin one with tasks.push(goal)"
        )
    if budget is None or form not in FORMATS:
        raise InputError(
            "there is no budget" if budget is None else f"there is no form {form!r}",
            where="context of tasks",
            cure="give max_tokens or a reader"
            if budget is None
            else f"choose from {', '.join(FORMATS)}",
        )
    how, goal = FORMATS[form], path[-1].goal
    candidates = [
        *_goals(memory, path),
        *_results(memory),
        _candidate(memory, path[-1].id, goal, CURRENT, 1.0),
        *_told(memory, path[-1]),
    ]
    rules = Rules(
        counter,
        how,
        about=frozenset(terms_of(goal, stem=True, stop_words=True)),
        largest=LARGEST,
        shares=SHARES,
    )
    selection = fill(candidates, budget, rules)
    # in the order of telling
    shown = tuple(
        sorted(selection.components, key=lambda c: (PARTS.index(c.section), c.row < 0, c.row))
    )
    text = lay_out(shown, selection.cut if selection.said else (), how)
    spent = {part: sum(c.tokens for c in shown if c.section == part) for part in PARTS}
    return Context(text, shown, counter.tokens(text), counter.name, bool(selection.cut), selection.cut,
                   "tasks",
                   {"query": goal, "budget": budget, "max_items": None, "format": how.name,
                    "candidates": len(candidates), "sources": spent})  # fmt: skip


def _goals(memory: StackMemory, path: tuple[Frame, ...]) -> Iterator[Candidate]:
    """The root goal, and those between it and the current task from below."""
    if len(path) > 1:
        yield _candidate(memory, path[0].id, path[0].goal, ROOT, 0.9)
    for distance, frame in enumerate(reversed(path[1:-1]), 1):
        yield _candidate(memory, frame.id, frame.goal, PATH, 0.6 / distance)


def _results(memory: StackMemory) -> Iterator[Candidate]:
    """Results of finished siblings, the latest first."""
    for distance, frame in enumerate(reversed(memory.tasks.siblings()), 1):
        said = f"{frame.goal}: {frame.result}" if frame.result else frame.goal
        yield _candidate(memory, f"{frame.id} {frame.status}", said, SIBLINGS, 0.5 / distance)


def _told(memory: StackMemory, frame: Frame) -> Iterator[Candidate]:
    """What was told during the task, best first for its goal; frames of other tasks carry their
    own `task`.
    """
    answer = memory.retrieve(
        Query(frame.goal, only=Only(attributes=((TASK, frame.id),), exclude=(frame.id,))), MOST
    )
    for place, (row, event) in enumerate(zip(answer.rows.tolist(), answer.records, strict=True)):
        if event is not None and event.get("kind") != POP:
            score = 0.8 * (1.0 - place / MOST)
            told = as_activity(event, ComponentKind.TASK, row, score, CURRENT)
            yield replace(told, source=CURRENT)


def _candidate(memory: StackMemory, id: str, text: str, part: str, score: float) -> Candidate:
    log: Any = memory.event_log
    event = log.events[log.by_id[id]]
    return Candidate(
        ComponentKind.TASK,
        log.row(id),
        text,
        score,
        part,
        event.time,
        unit="",
        whole=event.text,
        dated=event.dated,
        source=part,
        offset=event.offset,
    )
