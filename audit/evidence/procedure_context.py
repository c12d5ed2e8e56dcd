"""Evidence for procedure_context: worth by integration, logs of an agent by hand, and lines of a story."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...engine.contract.records import Event, Only, Query
from ...engine.memory.engine import Engine
from ..checks import adaptation, equation, limit, mutant, reference
from ..figures import Curve, Picture, figure
from ..memory import memory_of, numbers_of


@equation(
    "PRC-1",
    source="the mean of the posterior p^s (1 - p)^(a - s), by Gauss-Legendre integration, times the weighted mean of the shares, by numpy",
    rtol=1e-9,
)
def worth_is_the_expected_rate_times_the_mean_share(specimen: Any) -> Any:
    nodes, weights = np.polynomial.legendre.leggauss(40)
    p, rng = (nodes + 1.0) / 2.0, np.random.default_rng(3)
    measured, expected = [], []
    for a in range(7):
        for s in range(a + 1):
            density = p**s * (1.0 - p) ** (a - s) * weights
            shares, of = rng.random(3), rng.random(2) * 2.0
            measured.append(specimen.worth(float(s), float(a), *shares, *of))
            mean = np.average(shares, weights=[1.0, *of])
            expected.append((p * density).sum() / density.sum() * mean)
    return measured, expected


@limit(
    "PRC-2",
    source="definition: 1/2 of the fit for work whose end is not known; 0 for what has nothing in common; the rate for what has all",
)
def worth_at_its_ends(specimen: Any) -> Any:
    return [
        specimen.worth(0.0, 0.0, 1.0, 1.0, 1.0, 0.5, 0.5),
        specimen.worth(3.0, 3.0, 0.0, 0.0, 0.0, 0.5, 0.5),
        specimen.worth(3.0, 4.0, 1.0, 1.0, 1.0, 9.0, 2.0),
    ], [0.5, 0.0, 4.0 / 6.0]


# --- logs of an agent -----------------------------------------------------------------------------
# (session, speaker, kind, what, outcome): a path, a command or a message of what was done, else words
LogLine = tuple[str, str, str, str, str]
KEYS = {"file_read": "path", "file_write": "path", "shell_exec": "command", "error": "message"}
LOG: tuple[LogLine, ...] = (
    ("s1", "Ada", "", "Fix the port of the server, please.", ""),
    ("s1", "agent", "", "I look at the server first.", ""),
    ("s1", "agent", "file_read", "serve.py", ""),
    ("s2", "Bo", "", "What does the oven module do?", ""),  # another session, at the same time
    ("s2", "agent", "file_read", "oven.py", ""),
    ("s1", "agent", "file_write", "serve.py", "success"),
    ("s1", "agent", "shell_exec", "make test", "success"),
    ("s1", "Ada", "", "The port of the client as well.", ""),  # another intent
    ("s1", "agent", "file_read", "serve.py", ""),
    ("s1", "agent", "", "It is the same port.", ""),
    ("s1", "agent", "file_write", "serve.py", "success"),
    ("s1", "agent", "shell_exec", "make test", "success"),
    ("s1", "agent", "error", "Address in use", ""),  # so the second time it did not work
    ("s1", "Ada", "", "Now publish the site.", ""),
    ("s1", "agent", "shell_exec", "make site", "failure"),
    ("s1", "agent", "shell_exec", "make site", "success"),  # the same step again, and it worked
    ("s3", "agent", "shell_exec", "ls", "success"),  # nobody asked
    ("s3", "Ada", "", "Thanks.", ""),
    ("s4", "agent", "task_push", "Ship release two", ""),
    ("s4", "agent", "task_push", "Build the wheel", ""),
    ("s4", "agent", "shell_exec", "make wheel", "failure"),
    ("s4", "Ada", "", "Take the old compiler.", ""),  # words within a goal end nothing
    ("s4", "agent", "task_pop", "It is built after all.", "complete"),
    ("s4", "agent", "shell_exec", "make upload", "success"),
    ("s4", "agent", "task_pop", "The index refuses it.", "blocked"),
    ("s5", "Ada", "", "Say hello.", ""),  # nothing was done
    ("s5", "agent", "error", "No words", ""),
    ("s5", "Ada", "", "Tidy the shelf.", ""),
    ("s5", "agent", "file_write", "shelf.md", ""),
    ("s6", "Ada", "", "Paint the door.", ""),
    ("s6", "Ada", "", "Oil the hinge.", ""),  # the last words are the request
    ("s6", "agent", "file_read", "hinge.md", ""),
    ("s6", "agent", "file_write", "hinge.md", ""),
    ("s6", "agent", "file_read", "hinge.md", ""),  # an earlier step, which is done again
)  # fmt: skip
# By hand: steps, rows of the requests, applications, successes; in the order of their ends in a session.
DONE = (
    ("Read: serve.py|Wrote: serve.py|Executed: `make test`", (0, 7), 2, 1),
    ("Executed: `make site`", (13,), 1, 1),
    ("Executed: `make wheel`", (19,), 1, 1),
    ("Executed: `make upload`", (18,), 1, 0),
    ("Read: oven.py", (3,), 0, 0),
    ("Wrote: shelf.md", (27,), 0, 0),
    ("Read: hinge.md|Wrote: hinge.md|Read: hinge.md", (30,), 0, 0),
)


def event(number: int, line: LogLine) -> Event:
    session, speaker, kind, what, outcome = line
    pairs = dict[str, str]()
    if kind:
        pairs["kind"] = kind
    if kind in KEYS:
        pairs[KEYS[kind]] = what
    if outcome:
        pairs["status" if kind == "task_pop" else "outcome"] = outcome
    text = "" if kind in KEYS else what
    return Event(float(number), text, speaker, session, f"e{number}", dated=False,
                 attributes=tuple(sorted(pairs.items())))  # fmt: skip


def written(procedures: Sequence[Any]) -> list[str]:
    return sorted(f"{'|'.join(p.steps)} {p.requests} {p.successes}/{p.applications}" for p in procedures)  # fmt: skip


@reference("PRC-3", source="a log of an agent of 34 lines, read by hand")
def what_was_done_when_something_was_asked(specimen: Any) -> Any:
    events = [event(number, line) for number, line in enumerate(LOG)]
    return written(specimen.procedures(enumerate(events))), sorted(
        f"{steps} {requests} {s}/{a}" for steps, requests, a, s in DONE
    )


# --- a memory -------------------------------------------------------------------------------------
def told(specimen: Any, **values: Any) -> Engine:
    memory = memory_of(specimen, **values)
    for number, line in enumerate(LOG):
        memory.encode(event(number, line))
    return memory


def lines(memory: Engine, query: str | Query) -> list[str]:
    return [f"{o.section} {o.kind} {o.text} {o.score:.6f}" for o in memory.offers(query, 100)[1]]


def line(asked: str, steps: str, worked: str, score: float) -> str:
    done = f'Asked "{asked}": {steps} (worked {worked} times)'
    return f"Applicable Patterns pattern {done} {score:.6f}"


@adaptation(
    "PRC-4",
    source="order and scores of lines by hand: shares of keywords, intents and types of entities of the requests",
)
def a_memory_offers_what_fits(specimen: Any) -> Any:
    memory = told(specimen, intent=0.5, types=0.25)
    port = (
        "The port of the client as well.",
        "Read: serve.py; Wrote: serve.py; Executed: `make test`",
        "1 of 2",
    )
    site = ("Now publish the site.", "Executed: `make site`", "1 of 1")
    # "fix", "port" and "site": two of three words and the intent of one request; one word and
    # another intent
    both = lines(memory, "Fix the port of the site.")
    # the types of entities of the query are those of no request
    typed = lines(memory, "Fix the port in serve.py")
    nothing = lines(memory, "Sing a song")
    memory.archive(13)
    without = lines(memory, "site")
    banned = lines(memory, Query("Fix the port", only=Only(sessions=("s2",))))
    return [*both, *typed, *nothing, *without, *banned], [
        line(*port, 2 / 4 * (2 / 3 + 0.5) / 1.75),
        line(*site, 2 / 3 * (1 / 3) / 1.75),
        line(*port, 2 / 4 * (2 / 4 + 0.5) / 1.75),
    ]


TYPED: tuple[LogLine, ...] = (
    ("s1", "Ada", "", "Mend src/oven.py for me.", ""),
    ("s1", "agent", "file_write", "src/oven.py", "success"),
    ("s1", "Ada", "", "Water the tulips.", ""),
    ("s1", "agent", "shell_exec", "water", "success"),
)  # fmt: skip


@adaptation(
    "PRC-5",
    source="definition: a type of entity in common is enough to be offered, and is the share of the query's types",
)
def types_of_entities_match(specimen: Any) -> Any:
    memory = memory_of(specimen, intent=0.0, types=1.0)
    for number, said in enumerate(TYPED):
        memory.encode(event(number, said))
    return lines(memory, "Explain lib/kiln.cfg"), [
        line("Mend src/oven.py for me.", "Wrote: src/oven.py", "1 of 1", 2 / 3 * (0.0 + 1.0) / 2.0)
    ]


@limit(
    "PRC-6",
    source="definition: nothing at a budget of 0, of an empty memory, and of one in which nothing was done",
)
def nothing_without_a_budget_or_work(specimen: Any) -> Any:
    memory, idle = told(specimen), memory_of(specimen)
    idle.encode(event(0, LOG[0]))
    return [
        len(memory.offers("Fix the port", 0)[1]),
        len(memory_of(specimen).offers("Fix the port", 90)[1]),
        len(idle.offers("Fix the port", 90)[1]),
        int(memory.column(specimen.ACTED).sum()),
    ], [0, 0, 0, sum(kind in KEYS and kind != "error" for _, _, kind, *_ in LOG)]


@figure(
    "worth",
    caption="Worth of a procedure over the share of the query's keywords that its requests hold, with an equal intent and another one",
    source="closed form, with the numbers that ship",
)
def worth_over_keywords(specimen: Any) -> Picture:
    x, of = np.linspace(0.0, 1.0, 21), numbers_of("procedure_context", "intent", "types")
    weights = (float(of["intent"]), float(of["types"]))
    return Picture(
        "share of keywords",
        "worth",
        tuple(
            Curve(label, x, [specimen.worth(4.0, 4.0, float(w), i, 0.0, *weights) for w in x])
            for label, i in (("equal intent", 1.0), ("another intent", 0.0))
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("the printed ratio, 0 for 0/0", rejected_by="PRC-2")
def printed(specimen: Any) -> Any:
    def worth(s: float, a: float, w: float, i: float, t: float, vi: float, vt: float) -> float:
        return s / max(a, 1.0) * (w + vi * i + vt * t) / (1.0 + vi + vt)

    return specimen.replacing("worth", worth)


@mutant("shares are added and not averaged", rejected_by="PRC-1")
def added(specimen: Any) -> Any:
    def worth(s: float, a: float, w: float, i: float, t: float, vi: float, vt: float) -> float:
        return (s + 1.0) / (a + 2.0) * (w + vi * i + vt * t)

    return specimen.replacing("worth", worth)


@mutant("sessions are read as one talk", rejected_by="PRC-3")
def one_session(specimen: Any) -> Any:
    original = specimen.procedures
    return specimen.replacing(
        "procedures", lambda events: original((row, replace(e, session="")) for row, e in events)
    )


@mutant("what the one who acts says is a request, too", rejected_by="PRC-3")
def own_words(specimen: Any) -> Any:
    original = specimen.procedures
    return specimen.replacing(
        "procedures",
        lambda events: original(
            (row, e if e.get("kind") else replace(e, speaker=f"{e.speaker} {row}"))
            for row, e in events
        ),
    )


@mutant("words within a goal end what was done", rejected_by="PRC-3")
def goals_forgotten(specimen: Any) -> Any:
    original = specimen.procedures

    def procedures(events: Any) -> Any:
        goals = (specimen.PUSH, specimen.POP)
        return original((row, e) for row, e in events if e.get("kind") not in goals)

    return specimen.replacing("procedures", procedures)


@mutant("a step that was done before is left out", rejected_by="PRC-3")
def steps_once(specimen: Any) -> Any:
    def procedures(events: Any) -> Any:
        return [
            replace(p, steps=tuple(dict.fromkeys(p.steps))) for p in specimen.procedures(events)
        ]

    return specimen.replacing("procedures", procedures)


@mutant("an error changes nothing", rejected_by="PRC-3")
def errors_ignored(specimen: Any) -> Any:
    original = specimen.procedures
    return specimen.replacing(
        "procedures",
        lambda events: original((row, e) for row, e in events if e.get("kind") != "error"),
    )


@mutant("every outcome is a success", rejected_by="PRC-3")
def always_good(specimen: Any) -> Any:
    return specimen.replacing("WORKED", frozenset(("success", "failure", "complete", "blocked")))


@mutant("every procedure is offered", rejected_by="PRC-4")
def everything_offered(specimen: Any) -> Any:
    original = specimen.matched

    def matched(known: Any, text_of: Any, query: str, type_of: Any, vi: float, vt: float) -> Any:
        return original(
            known, text_of, query, lambda name: type_of(name) or "x", vi, vt
        ) or original(known, text_of, "Fix the port", type_of, vi, vt)

    return specimen.replacing("matched", matched)


@mutant("intents are not compared", rejected_by="PRC-4")
def no_intent(specimen: Any) -> Any:
    return specimen.replacing("intent_of", lambda text: "action")


@mutant("types of entities are not compared", rejected_by="PRC-5")
def no_types(specimen: Any) -> Any:
    return specimen.replacing("_types", lambda text, type_of: set())


@mutant("a context without room is filled", rejected_by="PRC-6")
def without_room(specimen: Any) -> Any:
    def offer(self: Any, view: Any, cue: Any) -> None:
        specimen.ProcedureContext.offer(self, view, cue)
        view.offers.add("Asked", specimen.SECTION, 0.5, kind="pattern")

    return specimen.overriding("ProcedureContext", offer=offer)
