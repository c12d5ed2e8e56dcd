"""The stack of tasks: goals that are worked on, each part of the one below it, and their results.

A frame is two events, kind `task_push` with the goal as its text and kind `task_pop` with the
result; everything that is told in between carries the attribute `task`, the id of the frame.  The
stack is read from the event log alone, so that a snapshot, the event log and `Query.only` have it.
In the graph a RELATION edge leads from the row of a goal to that of each goal inside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from ..base.errors import InputError
from ..base.times import as_hours
from ..base.turns import Serial, Turns, serial
from ..contract.records import Event, attribute_pairs
from ..contract.task_events import DEPTH, KIND, PARENT, POP, PUSH, STATUS, TASK
from ..state.event_log import EventLog
from .tokens import TokenBudget

PERCENT: Final = (5, 15, 10, 70)  # percent of a budget for root, path, siblings, current


class TaskStatus(StrEnum):
    """The outcome of a task."""

    ACTIVE = "active"
    COMPLETE = "complete"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Frame:
    """A task.

    id      of the event that pushed it, and the value of the attribute `task`
    parent  id of the frame that it is part of; "" for a root
    depth   0 for a root
    result  what it ended with, verbatim; "" while it is active
    """

    id: str
    goal: str
    parent: str = ""
    depth: int = 0
    status: TaskStatus = TaskStatus.ACTIVE
    result: str = ""


@dataclass(frozen=True, slots=True)
class PartTokens:
    """Tokens of a context for each part of a stack."""

    root: int
    path: int
    siblings: int
    current: int


def divided(
    budget: int, root: int | None = None, path: int | None = None, siblings: int | None = None
) -> PartTokens:
    """A budget divided among root goal (5%), path (15%), results of siblings (10%) and the current
    task, which gets what is left.

    root, path, siblings  tokens that the part needs, if they are known; what it does not need goes
                          to the current task

    The parts add up to the budget.  Raises InputError for a number below 0.

    >>> divided(1000), divided(1000, root=20, path=400, siblings=0)
    (PartTokens(root=50, path=150, siblings=100, current=700), PartTokens(root=20, path=150, siblings=0, current=830))
    """
    for name, value in (
        ("budget", budget),
        ("root", root or 0),
        ("path", path or 0),
        ("siblings", siblings or 0),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(
                f"{name} is {value!r}", where="tasks", cure="give a number of tokens from 0"
            )
    parts = [
        share if need is None else min(share, need)
        for share, need in zip(
            map(TokenBudget(budget).allocate, PERCENT[:3]), (root, path, siblings), strict=True
        )
    ]
    return PartTokens(parts[0], parts[1], parts[2], budget - sum(parts))


class TaskMemory(Protocol):
    """What a stack asks of its memory; `engine.memory.engine.Engine` has it."""

    @property
    def now(self) -> float: ...
    @property
    def event_log(self) -> EventLog: ...

    def encode(self, event: Event) -> int: ...


class Tasks(Serial):
    """The stack of tasks of a memory, see the module; `memory.tasks`.

    Frames that a gate rejects as memories are on the stack all the same.  An erased goal leaves the
    stack; tasks inside it become roots.
    """

    def __init__(self, memory: TaskMemory, turns: Turns | None = None) -> None:
        """turns: of the threads that share the memory."""
        super().__init__(turns)
        self._memory = memory
        self.read_again()

    @serial
    def push(self, goal: str, time: float | datetime | None = None) -> Frame:
        """Begin a task, part of the current one.  Raises InputError for a goal that is no text or
        is blank, and if the memory has no time yet.

        time  when; None: at the memory's present
        """
        if not isinstance(goal, str) or not goal.strip():
            raise InputError(
                f"the goal is {goal!r}" if not isinstance(goal, str) else "the goal is blank",
                where="tasks.push",
                cure="say in a text what is to be done",
            )
        current, log = self.peek(), self._memory.event_log
        number = len(log.events)
        while (id := f"task {number}") in log.by_id:
            number += 1
        frame = Frame(id, goal, current.id if current else "", current.depth + 1 if current else 0)
        parent = {PARENT: frame.parent} if current else {}
        self._tell(goal, id, {KIND: PUSH, TASK: id, DEPTH: str(frame.depth), **parent}, time)
        return self._frames[id]

    @serial
    def pop(
        self, result: str = "", *, blocked: bool = False, time: float | datetime | None = None
    ) -> Frame:
        """End the current task with a result; its parent is the current one then.  The frame.
        Raises InputError if the stack is empty.

        result   of any length, kept verbatim
        blocked  whether it could not be completed; the result says why
        time     when; None: at the memory's present
        """
        current = self.peek()
        if current is None:
            raise InputError(
                "no task is under way", where="tasks.pop", cure="begin one with tasks.push(goal)"
            )
        if not isinstance(result, str):
            raise InputError(
                f"the result is {type(result).__name__}, not text",
                where="tasks.pop",
                cure="say in a text what came out",
            )
        status = TaskStatus.BLOCKED if blocked else TaskStatus.COMPLETE
        parent = {PARENT: current.parent} if current.parent else {}
        self._tell(
            result,
            f"{current.id} {status}",
            {
                KIND: POP,
                TASK: current.id,
                DEPTH: str(current.depth),
                STATUS: status.value,
                **parent,
            },
            time,
        )
        return self._frames[current.id]

    @serial
    def peek(self) -> Frame | None:
        """The current task; None if the stack is empty."""
        self._read()
        return self._frames.get(self._current)

    @serial
    def path(self) -> tuple[Frame, ...]:
        """The tasks under way, the root first and the current one last; () if the stack is
        empty.  O(depth).
        """
        self._read()
        return tuple(reversed(self._up()))

    @serial
    def siblings(self, status: TaskStatus = TaskStatus.COMPLETE) -> tuple[Frame, ...]:
        """The tasks with the parent of the current one that ended so, in order of pushing; () if
        the stack is empty.  O(tasks of the parent).
        """
        current = self.peek()
        inside = self._inside.get(current.parent, ()) if current else ()
        return tuple(
            frame
            for id in inside
            if (frame := self._frames[id]).status is TaskStatus(status) and id != self._current
        )

    @serial
    def frames(self) -> tuple[Frame, ...]:
        """Every task, in order of pushing."""
        self._read()
        return tuple(self._frames.values())

    def marked(self, event: Event) -> Event:
        """The event with the attribute `task` of the current task, unless it has one, is one of
        a frame, or no task is under way.  O(1).
        """
        self._read()
        if not self._current or any(
            key == TASK or (key == KIND and value in (PUSH, POP)) for key, value in event.attributes
        ):
            return event
        return replace(event, attributes=tuple(sorted((*event.attributes, (TASK, self._current)))))

    def read_again(self) -> None:
        """Read the stack from the event log anew, after an event was erased."""
        self._seen, self._current = 0, ""
        self._frames: dict[str, Frame] = {}
        self._inside: dict[str, list[str]] = {}  # parent -> its tasks

    def __len__(self) -> int:
        return len(self.path())

    def __repr__(self) -> str:
        current = self.peek()
        return f"<Tasks: {len(self)} under way of {len(self._frames)}{f', now {current.goal[:40]!r}' if current else ''}>"

    def _tell(
        self, text: str, id: str, attributes: dict[str, str], time: float | datetime | None
    ) -> None:
        """Encode an event of a frame, in the session of the event before it."""
        events = self._memory.event_log.events
        at = self._memory.now if time is None else as_hours(time)
        if at != at and time is None:
            raise InputError(
                "the memory has no time yet",
                where="tasks",
                cure="give time=, or tell the memory an event first",
            )
        self._memory.encode(
            Event(
                at,
                text,
                session=events[-1].session if events else "",
                id=id,
                attributes=attribute_pairs(attributes),
            )
        )
        self._read()

    def _read(self) -> None:
        """Take in the events that are new in the log.  O(new events)."""
        events = self._memory.event_log.events
        if self._seen == len(events):
            return
        for number in range(self._seen, len(events)):
            if events[number].attributes:
                self._take(events[number])
        self._seen = len(events)

    def _take(self, event: Event) -> None:
        """Follow an event of a frame; one that fits no frame, such as an event of another
        program, changes nothing.
        """
        kind = event.get(KIND)
        if kind == PUSH and event.id and event.id not in self._frames:
            above = self._frames.get(event.get(PARENT))
            inside = above if above and above.status is TaskStatus.ACTIVE else None
            frame = Frame(
                event.id, event.text, inside.id if inside else "", inside.depth + 1 if inside else 0
            )
            self._frames[frame.id] = frame
            self._inside.setdefault(frame.parent, []).append(frame.id)
            self._current = frame.id
        elif (
            kind == POP
            and (ended := self._frames.get(event.get(TASK)))
            and ended.status is TaskStatus.ACTIVE
        ):
            under_way = any(open_frame.id == ended.id for open_frame in self._up())
            status = (
                TaskStatus.BLOCKED
                if event.get(STATUS) == TaskStatus.BLOCKED
                else TaskStatus.COMPLETE
            )
            self._frames[ended.id] = replace(ended, status=status, result=event.text)
            if under_way:
                self._current = ended.parent

    def _up(self) -> Sequence[Frame]:
        """The tasks under way, the current one first."""
        frames: list[Frame] = []
        id = self._current
        while id:
            frames.append(self._frames[id])
            id = frames[-1].parent
        return frames
