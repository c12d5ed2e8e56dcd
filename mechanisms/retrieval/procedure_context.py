"""procedure_context: a source of contexts, procedures: what was done when something was asked, and how
often that worked.

Procedures are learnt from what an agent did: events of the kinds file_read, file_write and shell_exec
belong to the request before them in their session.  A request is a goal of the stack of tasks, else
the last thing that somebody else said than the one who acts.  Equal work is one procedure, whatever
the words of its requests.  Each time that it was done is an application if its end is known: the
status of the task, else the outcome of its last step, or an error after it.

The Context Assembly Specification matches patterns by keywords, intent and types of entities, and
prints no rule.  Here a procedure fits a query by the share of the query's keywords that its requests
hold, by an equal intent, and by the share of the query's types of entities that they mention; one
that shares neither a word nor a type is not offered.  Its rate of success is that of Laplace.

It runs only when a context is asked for.  Cost: O(n) then, and O(length) of the requests of each
procedure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import formula
from ...engine.base.tables import brief
from ...engine.context.kinds import written
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.drafts import Kind
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.records import Event
from ...engine.contract.task_events import KIND as EVENT_KIND
from ...engine.contract.task_events import POP, PUSH, STATUS
from ...engine.contract.vocabulary import ANSWERABLE, BUDGET, KIND, OFFERS, ROW, SESSION, TEXTS
from ...engine.text.features import features, terms_of
from ..shared.items import intent_of
from ..shared.relations import RELATIONS

ACTED = Column(
    "acted", np.bool_, Scope.MEMORY, "1", False, "whether the event is something that was done"
)
SECTION: Final = "Applicable Patterns"
STEPS: Final = frozenset(("file_read", "file_write", "shell_exec"))
ERROR: Final = "error"
WORKED: Final = frozenset(("success", "ok", "passed", "complete"))
ASKED: Final = 80  # characters of a request that a line shows


# --- equations ------------------------------------------------------------------------------------
@formula
def worth(
    successes: float,
    applications: float,
    words: float,
    intent: float,
    types: float,
    of_intent: float,
    of_types: float,
) -> float:
    """(s + 1) / (a + 2) * (w + v_i i + v_t t) / (1 + v_i + v_t), on [0, 1].  Cost: O(1).

    words, types         w, t: share of the query's keywords, and of its types of entities
    intent               i: 1 if the intent is equal, else 0
    of_intent, of_types  v_i, v_t

    >>> worth(1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5), worth(0.0, 0.0, 1.0, 0.0, 0.0, 0.5, 0.5)
    (0.6666666666666666, 0.25)
    """
    fit = (words + of_intent * intent + of_types * types) / (1.0 + of_intent + of_types)
    return (successes + 1.0) / (applications + 2.0) * fit


# --- what was done --------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Procedure:
    """Work that was done, once or more often.

    steps         what was done, a line each, without outcomes
    requests      rows of what was asked, one for each time
    applications  times whose end is known
    successes     of these, those that ended well
    """

    steps: tuple[str, ...]
    requests: tuple[int, ...]
    applications: int
    successes: int


@dataclass(slots=True)
class _Work:
    """What is under way in a session.

    goals  rows of the goals that are worked on, the innermost last
    said   (row, speaker) of what was said since the last work ended
    asked  row of the request of the steps; -1: none is known
    doer   speaker of the steps; None: nothing was done yet
    """

    goals: list[int] = field(default_factory=list)
    said: list[tuple[int, str]] = field(default_factory=list)
    asked: int = -1
    doer: str | None = None
    steps: list[str] = field(default_factory=list)
    worked: bool | None = None

    def end(self, worked: bool | None = None) -> tuple[int, tuple[str, ...], bool | None]:
        """(request, steps, whether it worked), after which nothing is done yet."""
        done = self.asked, tuple(self.steps), self.worked if worked is None else worked
        self.asked, self.doer, self.steps, self.worked, self.said = -1, None, [], None, []
        return done


def procedures(events: Iterable[tuple[int, Event]]) -> list[Procedure]:
    """The procedures of some events with their rows, in order of time; in the order in which they
    were first done.  O(events).

    >>> told = [Event(0.0, "Fix the port, please.", "Ada"), Event(1.0, "", "agent", attributes=(("kind", "file_read"), ("path", "a.py"))),
    ...         Event(2.0, "", "agent", attributes=(("command", "make test"), ("kind", "shell_exec"), ("outcome", "success")))]
    >>> procedures(enumerate(told))
    [Procedure(steps=('Read: a.py', 'Executed: `make test`'), requests=(0,), applications=1, successes=1)]
    """
    sessions, done = dict[str, _Work](), list[tuple[int, tuple[str, ...], bool | None]]()
    for row, event in events:
        work, kind = sessions.setdefault(event.session, _Work()), event.get(EVENT_KIND)
        if kind in STEPS or kind == ERROR:
            _act(work, event, kind)
        elif kind == POP:
            done.append(work.end(event.get(STATUS) in WORKED))
            del work.goals[-1:]
        elif kind == PUSH:
            done.append(work.end())
            work.goals.append(row)
        elif not work.goals:
            if work.doer not in (None, event.speaker):
                done.append(work.end())
            work.said.append((row, event.speaker))
    done += [work.end() for work in sessions.values()]
    by_steps = dict[tuple[str, ...], list[tuple[int, bool | None]]]()
    for request, steps, worked in done:
        if request >= 0 and steps:
            by_steps.setdefault(steps, []).append((request, worked))
    return [
        Procedure(
            steps,
            tuple(request for request, _ in times),
            sum(worked is not None for _, worked in times),
            sum(worked is True for _, worked in times),
        )
        for steps, times in by_steps.items()
    ]


def _act(work: _Work, event: Event, kind: str) -> None:
    """Add a step, or an error, to the work under way."""
    if work.doer is None:
        others = [row for row, speaker in work.said if speaker != event.speaker]
        asked = work.goals[-1] if work.goals else max(others, default=-1)
        work.asked, work.doer = asked, event.speaker
    if kind == ERROR:
        work.worked = False
        return
    if outcome := event.get("outcome"):
        work.worked = outcome in WORKED
    rest = tuple(pair for pair in event.attributes if pair[0] != "outcome")
    line = written(replace(event, attributes=rest)).line
    if work.steps[-1:] != [line]:
        work.steps.append(line)


@dataclass(frozen=True, slots=True)
class MatchedProcedure:
    """A procedure that fits a query.

    asked  what was asked the last time
    words  keywords of the query that its requests hold
    worth  0 to 1
    """

    procedure: Procedure
    asked: str
    words: tuple[str, ...]
    worth: float

    @property
    def line(self) -> str:
        """What a context shows."""
        p = self.procedure
        done = "; ".join(p.steps)
        return f'Asked "{brief(self.asked, ASKED)}": {done} (worked {p.successes} of {p.applications} times)'


def matched(
    known: Sequence[Procedure],
    text_of: Callable[[int], str],
    query: str,
    type_of: Callable[[str], str],
    of_intent: float,
    of_types: float,
) -> list[MatchedProcedure]:
    """The procedures that share a keyword or a type of entity with a query, best first.

    text_of  text of a row
    type_of  type of an entity by its name; "": not known
    """
    words, intent = _words(query), intent_of(query)
    types, matches = _types(query, type_of), list[MatchedProcedure]()
    for procedure in known:
        asked = [text_of(row) for row in procedure.requests]
        held = set[str]().union(*map(_words, asked))
        shared = [word for word in words if word in held]
        same_types = types & set[str]().union(*(_types(text, type_of) for text in asked))
        if shared or same_types:
            value = worth(
                float(procedure.successes),
                float(procedure.applications),
                len(shared) / len(words) if words else 0.0,
                float(intent in map(intent_of, asked)),
                len(same_types) / len(types) if types else 0.0,
                of_intent,
                of_types,
            )
            matches.append(MatchedProcedure(procedure, asked[-1], tuple(shared), value))
    return sorted(matches, key=lambda match: (-match.worth, match.procedure.requests))


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(terms_of(text, stem=True, stop_words=True)))


def _types(text: str, type_of: Callable[[str], str]) -> set[str]:
    return {type for name in features(text).entities if (type := type_of(name))}


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class ProcedureContextParams(Params):
    share: float  # percent of the budget
    intent: float  # weight of an equal intent, that of keywords is 1
    types: float  # weight of types of entities


class ProcedureContext(Mechanism[ProcedureContextParams]):
    """Offers what was done when something like the query was asked."""

    owns = (ACTED,)

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(ACTED,))
    def mark(self, view: Any, incoming: Incoming) -> None:
        view.acted[view.row] = incoming.event.get(EVENT_KIND) in STEPS

    @hook(
        Phase.RETRIEVE,
        reads=(BUDGET, ACTED, SESSION, KIND, ANSWERABLE, RELATIONS, TEXTS),
        adds=(OFFERS,),
        sets=(),
    )
    def offer(self, view: Any, cue: Cue) -> None:
        acted = np.flatnonzero(view.acted & view.answerable) if view.budget else ()
        if not len(acted):
            return
        there = view.answerable & (view.kind == Kind.EVENT)
        rows = np.flatnonzero(there & np.isin(view.session, view.session[acted])).tolist()
        p, known = self.params, procedures((row, view.texts.event(row)) for row in rows)
        text_of, of_types = view.texts.__getitem__, view.relations.type_of

        def type_of(name: str) -> str:
            return str(of_types(name, view.answerable))

        for match in matched(known, text_of, cue.query.text, type_of, p.intent, p.types):
            view.offers.add(match.line, SECTION, match.worth, kind="pattern")
