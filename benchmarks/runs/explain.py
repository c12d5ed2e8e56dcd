"""`hebbarium explain`: why the evidence of one question is, or is not, among the first k.

The memory of the conversation is rebuilt from the run's manifest and asked the question again.
Each gold event is set beside its strongest rivals: every signal, the rank after every stage, and
the rank of gold with each mechanism silenced in turn.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...engine.arms.counterfactual import Counterfactual
from ...engine.base.errors import InputError, nearest
from ...engine.base.times import written
from ...engine.catalogue.registry import Registry
from ...engine.contract.columns import Phase, Signal
from ...engine.contract.records import Event, Query
from ...engine.contract.vocabulary import BAN
from ...engine.flow.schedule import ENGINE
from ...engine.memory.engine import Engine
from ...engine.memory.explain import Explanation, StageRank
from ...engine.ports.embedder import Embedder
from ...engine.state.ranking import Answer, rank
from ...reporting.files import write_whole
from ...reporting.pages import environment
from ...reporting.text import signed
from ..datasets import Conversation, Dataset, Question
from ..execution.cells import Cell, asked, give_feedback, prepare
from ..execution.folder import RunFolder
from ..execution.setup import code_version
from ..execution.spec import RunSpec
from ..systems.hebbarium import id_of
from ..systems.witness import Witness
from .rebuilding import opened, ours

if TYPE_CHECKING:
    from jinja2 import Environment

RIVALS = 5  # strongest competitors that are shown
FIRST = 100  # places of a signal within which it proposes a memory
NAMED = 2  # signals named in the words for a cause


class Cause(StrEnum):
    """Why a gold event is, or is not, in the answer."""

    FOUND = "found"
    NOT_STORED = "not stored"
    ARCHIVED = "archived"
    NO_SIGNAL = "in no signal's first 100"
    BELOW = "below the first k"
    HELD_BACK = "held back by a rule or gate"


@dataclass(frozen=True, slots=True)
class Part:
    """One signal for one memory.

    raw, standardised, trust, contribution   as in `engine.memory.explain.SignalPart`
    rank    place by the signal alone: from 1, ties by row, 0 if the signal is silent on the memory,
            or if it cannot be retrieved
    """

    signal: str
    facet: str
    trust: float
    raw: float
    standardised: float
    contribution: float
    rank: int


@dataclass(frozen=True, slots=True)
class ExplainedEvent:
    """One event as the query sees it.

    text    as it is indexed: `[date] speaker: text [caption]`
    rank    in the answer, from 1; 0 if it cannot be retrieved
    parts, stages   () for an event that is not stored
    """

    id: str
    text: str
    rank: int
    parts: tuple[Part, ...] = ()
    stages: tuple[StageRank, ...] = ()


@dataclass(frozen=True, slots=True)
class Gold:
    """A gold event.

    words     the cause in words
    silenced  mechanism -> rank of the event with that mechanism silenced; {} for an event that is
              not stored, or if none was silenced
    stage     at which the event leaves the first k for good; "" if it is among them after no stage,
              or after the last
    by        mechanisms behind the cause: gates that voted against it, what archived it, what
              computed the stage or held it back
    """

    at: ExplainedEvent
    cause: Cause
    words: str
    silenced: Mapping[str, int]
    stage: str = ""
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explained:
    """The explanation of one question.

    run       set or system, and data set; `folder` is where the run is
    time      simulated time of the question, as text
    k         length of an answer; `stored` and `visible` are the numbers of memories stored and
              retrievable
    linear    whether fused scores are the sums of the contributions; if False, contributions are
              NaN
    makers    stage -> mechanisms that compute it
    owners    signal -> its mechanism
    notes     what a reader should know about the rebuilt memory
    """

    run: str
    folder: str
    arm: str
    conversation: str
    question: str
    category: str
    text: str
    answer: str
    time: str
    k: int
    stored: int
    visible: int
    golds: tuple[Gold, ...]
    rivals: tuple[ExplainedEvent, ...]
    linear: bool
    makers: Mapping[str, tuple[str, ...]]
    owners: Mapping[str, str]
    notes: tuple[str, ...]

    @property
    def named(self) -> tuple[tuple[str, Gold], ...]:
        """A short name for each gold event, `gold`, or `gold 1`, `gold 2` ..., with the event."""
        return tuple(
            ("gold" if len(self.golds) == 1 else f"gold {i}", g)
            for i, g in enumerate(self.golds, 1)
        )

    @property
    def candidates(self) -> tuple[tuple[str, ExplainedEvent], ...]:
        """The stored gold events and the rivals, by their short names; that of a rival is its
        rank, such as `#2`.
        """
        return (
            *((name, g.at) for name, g in self.named if g.at.stages),
            *((f"#{r.rank}", r) for r in self.rivals),
        )

    @property
    def signals(self) -> list[str]:
        """Signals with a trust above 0: first those on which the rivals lead the first missed
        gold event most.
        """
        stored = [g for g in self.golds if g.at.parts]
        known = [c for _, c in self.candidates]
        if not known:
            return []
        trusted = [p.signal for p in known[0].parts if p.trust > 0]
        if not stored or not self.rivals or not self.linear:
            return trusted
        mine = next((g for g in stored if g.cause is not Cause.FOUND), stored[0]).at
        lead = {
            p.signal: sum(_contribution(r, p.signal) for r in self.rivals) / len(self.rivals)
            - p.contribution
            for p in mine.parts
        }
        return sorted(
            trusted, key=lambda name: -lead[name] if math.isfinite(lead[name]) else math.inf
        )


def missed(run: RunFolder, arm: str | None = None) -> list[dict[str, Any]]:
    """The rows of an arm with a gold event that is not in the answer, in the order of the file.
    Raises HebbariumError.
    """
    return [
        row
        for row in run.rows(run.arm(arm))
        if row["gold"] and not set(row["gold"]) <= set(row["retrieved"])
    ]


def explain(
    run: RunFolder,
    question: str,
    data: Dataset,
    registry: Registry,
    embedder: Embedder,
    *,
    arm: str | None = None,
) -> Explained:
    """Rebuild the memory of a question's conversation, ask the question, and explain the places of
    its gold events.

    question  id, or <conversation>/<id> where several conversations have it
    arm       of an ablation; None: the full set

    Cost: one encoding of the conversation, then one retrieval for each mechanism.  Raises
    InputError for a run of another system and for an unknown question, HebbariumError.
    """
    chosen = ours(run, arm)
    conversation, wanted = question_named(run, data, question)
    row = next(
        (
            r
            for r in run.rows(chosen)
            if r["conversation"] == conversation.id and r["question"] == wanted.id
        ),
        None,
    )
    cell = run.cell(chosen, conversation.id, data)
    witness = Witness()
    with closing(opened(run, cell, registry, embedder, witness=witness)) as memory:
        for asked_question, query in asked(cell, memory, prepare(cell, memory)):
            if asked_question.id == wanted.id:
                break
            if cell.spec.feedback != "none":
                give_feedback(
                    cell.spec, memory, asked_question, memory.retrieve(query, cell.spec.k)
                )
        return explained(run, cell, wanted, query, memory.engine, witness, row)


def question_named(run: RunFolder, data: Dataset, name: str) -> tuple[Conversation, Question]:
    """The question of a run that is called <conversation>/<id>, else the only one with that id.
    Raises InputError for none, and for several.
    """
    measured = {
        (c.id, q.id): (c, q)
        for c in data.conversations
        if c.id in run.manifest["conversations"]
        for q in c.questions
    }
    known = names_of(measured)
    whole = [key for key in measured if "/".join(key) == name]
    keys = whole or [key for key in measured if key[1] == name]
    if len(keys) == 1:
        return measured[keys[0]]
    if keys:
        raise InputError(
            f"{len(keys)} conversations have a question {name!r}",
            where=str(run.path),
            cure=nearest(name, [known[key] for key in keys]),
        )
    raise InputError(
        f"the run has no question {name!r}",
        where=str(run.path),
        cure=f"{nearest(name, known.values())}; `hebbarium explain {run.path}` lists the missed ones",
    )


def names_of(keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """(conversation, question) -> what the question is called: its id, or <conversation>/<id> if
    another conversation has this id, too.

    >>> names_of([("a", "q1"), ("b", "q1"), ("b", "q2")])
    {('a', 'q1'): 'a/q1', ('b', 'q1'): 'b/q1', ('b', 'q2'): 'q2'}
    """
    asked = dict.fromkeys(keys)
    used = Counter(question for _, question in asked)
    return {key: "/".join(key) if used[key[1]] > 1 else key[1] for key in asked}


def explained(
    run: RunFolder,
    cell: Cell,
    question: Question,
    query: Query,
    memory: Engine,
    witness: Witness,
    row: Mapping[str, Any] | None,
    *,
    silencing: bool = True,
) -> Explained:
    """The explanation of a question to a memory that was rebuilt for it and is asked it next.

    row        that the run wrote for the question; None: none
    silencing  whether each mechanism is silenced in turn, one retrieval each
    """
    answer, spec = memory.retrieve(query, cell.spec.k), cell.spec
    rows = {id: memory.event_log.row(id) for id in question.gold}
    rivals = [int(row) for row in answer.rows if int(row) not in rows.values()][:RIVALS]
    stored = [place for place in rows.values() if place >= 0]
    last = answer.rows[-1:].tolist() if len(answer) == spec.k else []
    candidates, linear = candidates_of(memory, query, answer, [*stored, *rivals, *last])
    silenced = Counterfactual(memory).ranks(query, stored) if silencing else {}
    makers = makers_of(memory)
    reader = CauseReader(
        memory, witness, spec.k, makers, answer, candidates[last[0]] if last else None
    )
    events = {e.id: e for e in cell.conversation.events}
    golds = tuple(
        reader.gold(
            candidates[place],
            place,
            {id: ranks[stored.index(place)] for id, ranks in silenced.items()},
        )
        if place >= 0
        else reader.rejected(events[id])
        for id, place in rows.items()
    )
    return Explained(
        run=run.name,
        folder=str(run.path),
        arm=spec.arm,
        conversation=cell.conversation.id,
        question=question.id,
        category=question.category,
        text=question.text,
        answer=question.answer,
        time=written(query.time or 0.0),
        k=spec.k,
        stored=memory.store.n,
        visible=int(answer.answerable.sum()),
        golds=golds,
        rivals=tuple(candidates[place] for place in rivals),
        linear=linear,
        makers=makers,
        owners={c.name: m.id for m in memory.mechanisms for c in m.owns if isinstance(c, Signal)},
        notes=_notes(spec, answer, row),
    )


def candidates_of(
    memory: Engine, query: Query, answer: Answer, rows: Iterable[int]
) -> tuple[dict[int, ExplainedEvent], bool]:
    """Row -> what the query makes of it, and whether the fusion is linear.  Cost: about one
    retrieval, and O(n) for each row and signal.

    answer  to the same query, the last one asked: the columns hold its scores
    """
    asked_for = list(dict.fromkeys(rows))
    places = {
        name: {
            place: int(rank(memory.column(name), answer.answerable, place)) for place in asked_for
        }
        for name in _signals(memory)
    }
    explanations = dict(zip(asked_for, memory.explain(query, asked_for), strict=True))
    made = {
        place: _candidate(
            memory, place, answer.rank(place), explanation, {s: p[place] for s, p in places.items()}
        )
        for place, explanation in explanations.items()
    }
    return made, all(explanation.linear for explanation in explanations.values())


def _signals(memory: Engine) -> list[str]:
    return [signal.name for signal, _ in memory.assembly.signals]


def _candidate(
    memory: Engine, row: int, place: int, explanation: Explanation, ranks: Mapping[str, int]
) -> ExplainedEvent:
    parts = tuple(
        Part(
            p.signal,
            p.facet.name.lower(),
            p.trust,
            p.raw,
            p.standardised,
            p.contribution,
            ranks[p.signal],
        )
        for p in explanation.signals
    )
    return ExplainedEvent(
        id_of(memory.unit(row)), memory.event_log.rendered(row), place, parts, explanation.stages
    )


def makers_of(memory: Engine) -> dict[str, tuple[str, ...]]:
    """Stage of the ranking -> mechanisms that compute it."""
    nodes = memory.assembly.phases[Phase.RETRIEVE]
    return {
        stage.name: tuple(
            dict.fromkeys(n.owner for n in nodes if stage in n.sets or stage in n.adds)
        )
        for stage in memory.assembly.ranking
    }


def _notes(spec: RunSpec, answer: Answer, row: Mapping[str, Any] | None) -> tuple[str, ...]:
    if spec.match == "session":
        return ("the run ranked sessions; ranks here are of single events",)
    code = spec.code
    same = row is not None and [id_of(unit) for unit in answer.units] == row["retrieved"]
    if same and code == code_version():
        return ()
    made = f"the run was made by the code {code}, and this is {code_version()}"
    if same:
        return (f"{made}; the rebuilt memory gives the same answer",)
    return (
        f"the rebuilt memory does not give the answer of the run: {made}"
        if code != code_version()
        else "the rebuilt memory does not give the answer of the run; library versions or the embedding cache may differ",
    )


@dataclass(frozen=True, slots=True)
class CauseReader:
    """Finds the cause for each gold event.

    answer  to the query, the last one asked
    bar     the last event of the answer, which a missed one would have to beat; None if the answer
            is shorter than k
    """

    memory: Engine
    witness: Witness
    k: int
    makers: Mapping[str, tuple[str, ...]]
    answer: Answer
    bar: ExplainedEvent | None

    def rejected(self, event: Event) -> Gold:
        """An event that is not stored."""
        gates = self.witness.vetoes.get(event.id, [])
        return Gold(
            ExplainedEvent(event.id, event.rendered(), 0),
            Cause.NOT_STORED,
            f"not stored: vetoed by {_listed(gates) or 'no known gate'}",
            {},
            by=tuple(gates),
        )

    def gold(self, at: ExplainedEvent, row: int, silenced: Mapping[str, int]) -> Gold:
        """A stored event.

        silenced  mechanism -> rank with that mechanism silenced; {}: none was silenced
        """
        gold = self._found(at, row)
        if gold.cause is Cause.FOUND or not (
            lifted := [
                f"{id} (rank {place})" for id, place in silenced.items() if 0 < place <= self.k
            ]
        ):
            return replace(gold, silenced=silenced)
        return replace(
            gold,
            silenced=silenced,
            words=f"{gold.words}. It would be in the answer without {_listed(lifted, 'or')}",
        )

    def _found(self, at: ExplainedEvent, row: int) -> Gold:
        if 0 < at.rank <= self.k:
            return Gold(at, Cause.FOUND, f"found at rank {at.rank}", {})
        if not self.answer.answerable[row]:
            return self._withheld(at, row)
        stage = self._left(at)
        if not at.rank and stage:
            by = self.makers.get(stage.stage, ())
            return Gold(
                at,
                Cause.HELD_BACK,
                f"held back at the stage {stage.stage}{_made(by)}",
                {},
                stage.stage,
                by,
            )
        trusted = [p for p in at.parts if p.trust > 0 and p.rank]
        best = min(trusted, key=lambda p: p.rank, default=None)
        if best is None or best.rank > FIRST:
            known = (
                f"; its best is {best.signal} with rank {best.rank}"
                if best
                else "; all are silent on it"
            )
            return Gold(at, Cause.NO_SIGNAL, f"in no signal's first {FIRST}{known}", {})
        if not at.rank:
            return Gold(at, Cause.BELOW, "it has no score in the last stage", {})
        words = f"{self._fall(at)}. Its best signal is {best.signal}, where it is at rank {best.rank}{self._deficit(at)}"
        return Gold(
            at,
            Cause.BELOW,
            words,
            {},
            stage.stage if stage else "",
            self.makers.get(stage.stage, ()) if stage else (),
        )

    def _withheld(self, at: ExplainedEvent, row: int) -> Gold:
        """An event that may not be answered: a rule excludes it, or it is archived and no step
        reached it.
        """
        if self.memory.column(BAN)[row] > 0:
            able = tuple(
                dict.fromkeys(
                    n.owner
                    for n in self.memory.assembly.phases[Phase.RETRIEVE]
                    if BAN in n.adds and n.owner != ENGINE
                )
            )
            return Gold(
                at,
                Cause.HELD_BACK,
                f"excluded by {_listed(able, 'or') or 'the filter of the query'}",
                {},
                by=able,
            )
        by = self.witness.archived.get(row)
        words = f"archived by {by.mechanism} at {written(by.time)}" if by else "archived"
        return Gold(at, Cause.ARCHIVED, words, {}, by=(by.mechanism,) if by else ())

    def _left(self, at: ExplainedEvent) -> StageRank | None:
        """The stage at which the event leaves the first k for good; None if it was never among
        them.
        """
        last = max((i for i, stage in enumerate(at.stages) if 0 < stage.rank <= self.k), default=-1)
        return at.stages[last + 1] if 0 <= last < len(at.stages) - 1 else None

    def _fall(self, at: ExplainedEvent) -> str:
        """The stage from which on the event is below the first k."""
        after = self._left(at)
        if after is None:
            path = ", ".join(f"{stage.rank} after {stage.stage}" for stage in at.stages)
            return f"below the first {self.k} in every stage: rank {path}"
        before = at.stages[at.stages.index(after) - 1]
        return (
            f"below the first {self.k}: it falls from rank {before.rank} to {after.rank} at the stage {after.stage}"
            f"{_made(self.makers.get(after.stage, ()))}"
            + (f", and ends at rank {at.rank}" if at.rank != after.rank else "")
        )

    def _deficit(self, at: ExplainedEvent) -> str:
        """Signals on which the last event of the answer leads most, and on which it trails most."""
        if self.bar is None or not all(
            math.isfinite(p.contribution) for p in (*at.parts, *self.bar.parts)
        ):
            return ""
        lead = sorted(
            (p.contribution - _contribution(self.bar, p.signal), p.signal)
            for p in at.parts
            if p.trust > 0
        )
        behind = [f"{name} ({value:+.3f})" for value, name in lead if value < 0][:NAMED]
        ahead = [f"{name} ({value:+.3f})" for value, name in reversed(lead) if value > 0][:NAMED]
        words = (
            f". Against the event at rank {self.bar.rank}, it loses most on {_listed(behind)}"
            if behind
            else ""
        )
        return words + (f" and gains most on {_listed(ahead)}" if behind and ahead else "")


def _made(by: Sequence[str]) -> str:
    return f", computed by {_listed(by)}" if by else ""


def _contribution(candidate: ExplainedEvent, signal: str) -> float:
    return next(p.contribution for p in candidate.parts if p.signal == signal)


def _listed(names: Iterable[str], last: str = "and") -> str:
    """
    >>> _listed(["a", "b", "c"]), _listed(["a"]), _listed([])
    ('a, b and c', 'a', '')
    """
    *most, end = [*names] or [""]
    return f"{', '.join(most)} {last} {end}" if most else end


# ---- as data and as a page


def to_json(explained: Explained) -> dict[str, Any]:
    """Plain data for `json.dumps`; numbers that are not finite are None."""
    plain: dict[str, Any] = _finite(asdict(explained))
    return plain


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def to_html(explained: Explained, path: Path) -> Path:
    """Write the page, whole or not at all.  Raises HebbariumError."""
    write_whole(
        path,
        [
            page_environment()
            .get_template("explain.html.j2")
            .render(explained=explained, scale=scale_of(explained), moved=moved(explained))
        ],
    )
    return path


def page_environment() -> Environment:
    """Templates of pages that show an explanation."""
    made = environment(Path(__file__).parent.parent / "templates")
    made.filters.update(number=number, signed=signed)
    return made


def scale_of(explained: Explained) -> float:
    """The largest contribution on the page, which has the longest bar."""
    parts = [
        abs(p.contribution)
        for _, c in explained.candidates
        for p in c.parts
        if math.isfinite(p.contribution)
    ]
    return max(parts, default=0.0) or 1.0


def moved(explained: Explained) -> list[tuple[str, list[int]]]:
    """Each mechanism that changes the rank of a stored gold event when it is silenced, with the
    rank of every stored gold event, best first.
    """
    stored = [g for g in explained.golds if g.silenced]
    ids: Sequence[str] = list(stored[0].silenced) if stored else []
    changed = [
        (id, [g.silenced[id] for g in stored])
        for id in ids
        if any(g.silenced[id] != g.at.rank for g in stored)
    ]
    return sorted(changed, key=lambda item: sum(place or math.inf for place in item[1]))


def number(value: float, digits: int = 4) -> str:
    """A number to some significant digits; a dash for NaN, which is silence.

    >>> number(0.123456), number(math.nan), number(12345.6)
    ('0.1235', '-', '1.235e+04')
    """
    return f"{value:.{digits}g}" if math.isfinite(value) else "-"
