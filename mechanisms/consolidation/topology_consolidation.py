"""Topology consolidation: splits, merges and updates memories in sleep, archives what they replace,
and links new units to old ones (All-Mem).

Every stored memory gets a descriptor, its summary and keywords, with a vector e_u of its own, and
links: to the predecessor in its session and to the most similar visible memories.  In sleep, after
three sessions or a full buffer, the new memories and their neighbours are diagnosed.  Proposals
that pass a gate become edits:

    Split   a memory of several topics becomes segments, exact parts of its text
    Merge   memories that say the same become a bundle that refers to them
    Update  a memory gets a new descriptor; the one that it makes outdated is archived

What is replaced is archived and linked from what replaces it, so every archived memory is reached
from a visible one.  Texts never change.  Rules of links are in `shared/topology_links.py`, routing
and plans in `shared/topology_edits.py`, the diagnosis without a language model in
`shared/topology_diagnosis.py`, that with one in `shared/topology_model.py`.

Cost: O(n d) per event; a run of b memories O(b n d) for their neighbours, then O(b) contexts, and
O(n d) for each unit that is made.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, forecast, hook
from ...engine.contract.vocabulary import (
    CREATED,
    DRAFTS,
    EMBEDDER,
    GRAPH,
    HIDE,
    KIND,
    LANGUAGE_MODEL,
    MADE,
    NOW,
    ROW,
    SESSION,
    SLEEP_END,
    SPEAKER,
    TEXTS,
    VISIBLE,
    WRITINGS,
)
from ...engine.state.graph import EdgeType
from ..shared.topology_bank import (
    TOPOLOGY_MARKS,
    TOPOLOGY_PLANS,
    TOPOLOGY_ROWS,
    GraphBank,
    nearest_of_each,
    products,
)
from ..shared.topology_diagnosis import (
    Neighbourhood,
    Seen,
    described,
    diagnosed,
    name_in,
    plan_of,
    sentence_spans,
)
from ..shared.topology_edits import (
    DESCRIPTION,
    RECORD,
    RUN,
    Descriptor,
    Edits,
    Operator,
    PlanError,
    Proposal,
    ProposalOutcome,
    Reason,
    RecordedRun,
    RoutingGate,
    Script,
    coherence,
    in_record_order,
    planned,
    record,
)
from ..shared.topology_edits import routed as routed  # for the evidence, which reaches it here
from ..shared.topology_links import Bank, Caps, Vector, add_links, add_versions, redirect
from ..shared.topology_model import descriptors_by, diagnosed_by, plans_by

# --- columns --------------------------------------------------------------------------------------
TOPOLOGY_LINK = Column(
    "topology_link",
    np.int8,
    Scope.EDGE,
    "1",
    0,
    "whether the edge is a link of the topology: 0 no, 1 made for it, 2 another's edge, too",
    low=0,
    high=2,
)
DESCRIPTOR = Column(
    "descriptor",
    np.int64,
    Scope.MEMORY,
    "1",
    -1,
    "number of the writing that describes the memory; -1: none yet",
    low=-1,
)
DESCRIPTOR_EMBEDDING = Column(
    "descriptor_embedding",
    np.float32,
    Scope.MEMORY,
    "1",
    0.0,
    "unit vector of the descriptor; 0: none",
    ("dimensions",),
)
TOPOLOGY_CONSOLIDATED = Column(
    "topology_consolidated",
    np.int64,
    Scope.GLOBAL,
    "1",
    0,
    "memories before this row are not in the buffer",
    low=0,
)
TOPOLOGY_RUNS = Column("topology_runs", np.int64, Scope.GLOBAL, "1", 0, "runs so far", low=0)
DESCRIBED = signal(
    "described",
    Facet.MEANING,
    "cosine of the query and the descriptor",
    floor=-1.0,
    scale=Scale.SIMILARITY,
)


# --- the rules of a run ---------------------------------------------------------------------------
def due(sessions: int, waiting: int, asleep: bool, interval: int, buffer: int) -> bool:
    """Whether a run starts: enough sessions or a full buffer, or a mechanism schedules sleep; never
    without a waiting memory.  C.6.

    sessions, waiting  in the buffer

    >>> due(3, 40, False, 3, 512), due(2, 512, False, 3, 512), due(2, 40, True, 3, 512), due(2, 40, False, 3, 512)
    (True, True, True, False)
    """
    return waiting > 0 and (sessions >= interval or waiting >= buffer or asleep)


def first_links(near: Sequence[int], cosine: Sequence[float], least: float, most: int) -> list[int]:
    """The memories that a new one is linked to: the first `most` of the nearest, none below the
    least cosine.  3.2.

    >>> first_links([4, 2, 7], [0.9, 0.7, 0.6], 0.65, 3)
    [4, 2]
    """
    return [v for v, c in zip(near, cosine, strict=True) if c >= least][:most]


def applied(
    script: Script,
    made: Sequence[int],
    bank: Bank,
    caps: Caps,
    anchors: int,
    archive: bool = True,
    vector: Vector | None = None,
) -> ProposalOutcome:
    """Execute a script: archive, link by VERSION, describe, link siblings and semantic neighbours,
    redirect.  B.2 and B.3.

    made     the units that were made for it, visible and described, without links
    anchors  nearest visible units that a made one may be linked to
    archive  False: archived units stay visible
    vector   of the new descriptor of an Update
    """
    proposal, old = script.proposal, script.archives
    stand_ins = tuple(made) or proposal.targets[:1]
    added: list[tuple[int, int, int]] = []
    archived = tuple(v for v in old if bank.visible(v)) if archive else ()
    for v in archived:
        bank.archive(v)
    for r in stand_ins:
        added += [
            (*pair, int(EdgeType.VERSION)) for pair in add_versions(bank, r, old, caps.version)
        ]
    if vector is not None:
        bank.describe(stand_ins[0], vector)
    if proposal.operator is Operator.SPLIT:
        for r in made:
            added += [
                (*pair, int(EdgeType.SIBLING))
                for pair in add_links(bank, r, EdgeType.SIBLING, made, caps.sibling)
            ]
    for r in made:
        near = {
            *bank.nearest(r, anchors),
            *(w for v in old for w in bank.targets(v, EdgeType.SEMANTIC) if bank.visible(w)),
        } - {*old, r}
        added += [
            (*pair, int(EdgeType.SEMANTIC))
            for pair in add_links(bank, r, EdgeType.SEMANTIC, near, caps.semantic)
        ]
    redirected = [edge for v in archived for edge in redirect(bank, v, stand_ins, caps.semantic)]
    return ProposalOutcome(
        proposal,
        Reason.APPLIED,
        "",
        script,
        Edits(tuple(made), archived, tuple(added), tuple(redirected)),
    )


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TopologyConsolidationParams(Params):
    interval: int  # sessions between runs
    buffer: int  # memories that start a run at once
    gate: float  # least confidence
    split_gate: float  # least confidence of a Split, where above `gate`
    merge_gate: float
    update_gate: float
    coherence: float  # least mean pairwise cosine of a Merge
    coverage: float  # least share of a text that its segments cover
    anchors: int  # nearest visible units of a context
    least_cosine: float  # of a semantic link at encoding
    first_links: int  # most semantic links at encoding
    temporal_cap: int
    semantic_cap: int
    version_cap: int  # 0: no cap
    sibling_cap: int
    archive: bool
    split: bool
    merge: bool
    update: bool
    model: bool  # whether a language model diagnoses and plans, if there is one
    weight: float  # trust in the fused ranking


class TopologyConsolidation(Mechanism[TopologyConsolidationParams]):
    """Keeps the visible memories distinct and up to date, and links them to what they replaced."""

    owns = (
        TOPOLOGY_LINK,
        DESCRIPTOR,
        DESCRIPTOR_EMBEDDING,
        TOPOLOGY_CONSOLIDATED,
        TOPOLOGY_RUNS,
        DESCRIBED,
    )

    # The runs of another life, by number, to be executed again instead of a diagnosis; only a
    # replay sets it (`shared/topology_report.py`)
    recorded: Mapping[int, RecordedRun] | None = None

    @property
    def caps(self) -> Caps:
        """Most links by kind."""
        p = self.params
        return Caps(p.temporal_cap, p.semantic_cap, p.version_cap, p.sibling_cap)

    @property
    def gates(self) -> RoutingGate:
        """Thresholds, and the operators that are on."""
        p = self.params
        on = zip(Operator, (p.split, p.merge, p.update), strict=True)
        gates = (p.split_gate, p.merge_gate, p.update_gate)
        return RoutingGate(
            p.gate,
            p.coherence,
            frozenset(operator for operator, switched in on if switched),
            tuple(zip(Operator, gates, strict=True)),
        )

    @forecast(reads=())
    def descriptors_and_sentences(self, view: Any, coming: Sequence[Incoming]) -> Iterator[str]:
        for incoming in coming:
            text = incoming.event.text
            yield described(incoming.text, text).text
            if self.params.split and len(spans := sentence_spans(text)) > 1:
                yield from (text[start:end] for start, end in spans)

    @hook(
        Phase.ENCODE,
        reads=(ROW, NOW, CREATED, SESSION, VISIBLE, KIND, DESCRIPTOR, EMBEDDER),
        adds=(GRAPH,),
        sets=(TOPOLOGY_LINK, DESCRIPTOR_EMBEDDING),
    )
    def attach(self, view: Any, incoming: Incoming) -> None:
        """Describe the memory, and link it to its predecessor and to the most similar visible
        units.
        """
        p, row = self.params, view.row
        vectors = view.descriptor_embedding
        vectors[row] = view.embedder.embed([described(incoming.text, incoming.event.text).text])[0]
        bank = _bank(view, view.visible.copy())
        before = self._predecessor(view, incoming)
        if before >= 0:
            add_links(bank, row, EdgeType.TEMPORAL, [before], p.temporal_cap)
        near, cosine = bank.near(vectors[row], row, p.anchors)
        add_links(
            bank,
            row,
            EdgeType.SEMANTIC,
            first_links(near, cosine, p.least_cosine, p.first_links),
            p.semantic_cap,
        )

    @staticmethod
    def _predecessor(view: Any, incoming: Incoming) -> int:
        """The last event of the same session before this one, -1 if none."""
        before = incoming.before
        if before < 0 or view.session[before] == incoming.session:
            return before
        same = np.flatnonzero(
            (view.session[:before] == incoming.session) & (view.kind[:before] == Kind.EVENT)
        )
        return int(same[-1]) if same.size else -1

    @hook(Phase.CONSOLIDATE, sets=(TOPOLOGY_PLANS,), adds=(DRAFTS,),
          reads=(NOW, CREATED, SESSION, SPEAKER, KIND, LANGUAGE_MODEL, SLEEP_END.before,
                 VISIBLE.before, TEXTS, EMBEDDER, GRAPH.before,
                 WRITINGS.before, TOPOLOGY_LINK.before, DESCRIPTOR.before,
                 DESCRIPTOR_EMBEDDING.before, TOPOLOGY_CONSOLIDATED.before,
                 TOPOLOGY_RUNS.before))  # fmt: skip
    def diagnose(self, view: Any, tick: Tick) -> None:
        """Plan the edits of a run, if one is due, and draft the units that they make."""
        plans = view.topology_plans
        plans.clear()
        waiting = self._waiting(view)
        new = waiting[view.descriptor[waiting] < 0].tolist()
        plans.runs = due(
            len(np.unique(view.session[waiting])),
            waiting.size,
            not np.isnan(view.sleep_end),
            self.params.interval,
            self.params.buffer,
        )
        plans.first, plans.visible = len(view.created), view.visible.copy()
        if self.recorded is not None:
            self._replay(view, plans)
            return
        if not (plans.runs or (self.params.model and new)):
            return
        bank = _bank(view, view.visible.copy())
        desk = _Desk(view, bank)
        if self.params.model and new:
            desk.given = descriptors_by(view.language_model, [desk.seen(row) for row in new])
            plans.renewed = set(desk.given)
        if not plans.runs:
            # a model describes what is new in every sleep, so that it is found by its descriptor
            plans.described = [(row, desk.given[row]) for row in new if row in desk.given]
            return
        plans.described = [(row, desk.seen(row).descriptor) for row in new]
        contexts = self._contexts(desk, [row for row in waiting.tolist() if bank.visible(row)])
        sentences = desk.sentences([c.target.text for c in contexts])
        proposals = (
            diagnosed_by(view.language_model, contexts, partial(diagnosed, vectors=sentences))
            if self.params.model
            else diagnosed(contexts, sentences)
        )
        plans.scripts, plans.dropped = planned(
            proposals,
            bank,
            self.gates,
            coherence,
            desk.plan,
            desk.unit,
            self.params.coverage,
            desk.ask if self.params.model else None,
        )
        for script in plans.scripts:
            for draft in self._drafts(script, view):
                view.drafts.add(draft)

    def _replay(self, view: Any, plans: Any) -> None:
        """Plan what the records of this run say, without a model and without a diagnosis."""
        assert self.recorded is not None
        run = self.recorded.get(int(view.topology_runs) + 1, RecordedRun())
        plans.described = [
            pair for pair, time in zip(run.described, run.times, strict=True) if time == view.now
        ]
        if plans.runs:
            plans.scripts, plans.dropped = list(run.scripts), list(run.dropped)
        plans.renewed = {
            row
            for row, descriptor in plans.described
            if descriptor.text != described(view.texts.rendered(row), view.texts[row]).text
        }
        for script in plans.scripts:
            for draft in self._drafts(script, view):
                view.drafts.add(draft)

    def _waiting(self, view: Any) -> NDArray[np.int64]:
        """Events of the buffer."""
        first = int(view.topology_consolidated)
        return first + np.flatnonzero(view.kind[first:] == Kind.EVENT)

    def _contexts(self, desk: _Desk, rows: Sequence[int]) -> list[Neighbourhood]:
        """Each unit with its nearest visible units."""
        bank = desk.bank
        near = nearest_of_each(bank.vectors, rows, bank.shown & bank.units, self.params.anchors)
        return [
            Neighbourhood(desk.seen(row), tuple(desk.seen(v) for v in close))
            for row, close in zip(rows, near, strict=True)
        ]

    @staticmethod
    def _drafts(script: Script, view: Any) -> Iterator[Draft]:
        """The units that an edit makes: segments with their place in the text, or a bundle of
        the texts of its sources, each once.
        """
        targets = script.proposal.targets
        sessions, speakers = (
            {int(column[v]) for v in targets} for column in (view.session, view.speaker)
        )
        session, speaker = (
            numbers.pop() if len(numbers) == 1 else -1 for numbers in (sessions, speakers)
        )
        if script.proposal.operator is Operator.SPLIT:
            text = view.texts[targets[0]]
            for s in script.segments:
                yield Draft(
                    text[s.start : s.end],
                    Kind.SEGMENT,
                    targets,
                    (s.start, s.end),
                    session=session,
                    speaker=speaker,
                )
        elif script.proposal.operator is Operator.MERGE:
            yield Draft(
                "\n".join(dict.fromkeys(view.texts[v] for v in targets)),
                Kind.BUNDLE,
                targets,
                session=session,
                speaker=speaker,
            )

    @hook(Phase.CONSOLIDATE, reads=(MADE,), adds=(), sets=(TOPOLOGY_ROWS,))
    def receive(self, view: Any, tick: Tick) -> None:
        """Note the rows that were made for this mechanism."""
        view.topology_rows.rows = [row for row, draft in view.made if draft.maker == self.id]

    @hook(Phase.CONSOLIDATE, reads=(NOW, CREATED, KIND, EMBEDDER, TOPOLOGY_PLANS, TOPOLOGY_ROWS),
          adds=(GRAPH, HIDE, WRITINGS),
          sets=(TOPOLOGY_LINK, DESCRIPTOR, DESCRIPTOR_EMBEDDING, TOPOLOGY_CONSOLIDATED,
                TOPOLOGY_RUNS))  # fmt: skip
    def edit(self, view: Any, tick: Tick) -> None:
        """Describe, archive and link as planned, and write the records of the run."""
        plans = view.topology_plans
        for row, descriptor in plans.described:
            view.descriptor[row] = view.writings.add(
                descriptor.written(), DESCRIPTION, self.id, (row,)
            )
        renewed = [
            (row, descriptor.text) for row, descriptor in plans.described if row in plans.renewed
        ]
        if renewed:
            view.descriptor_embedding[[row for row, _ in renewed]] = view.embedder.embed(
                [text for _, text in renewed]
            )
        if not plans.runs:
            return
        shown = np.ones(len(view.created), dtype=np.bool_)
        shown[: plans.first] = plans.visible
        bank = _bank(view, shown)
        before = self._pressure(bank, plans.first)
        outcomes = [*plans.dropped, *self._applied(view, bank, plans)]
        for row in bank.hidden:
            view.hide[row] += 1
        view.topology_runs += 1
        run = int(view.topology_runs)
        for outcome in in_record_order(outcomes):
            known = [v for v in outcome.proposal.targets if 0 <= v < len(view.created)]
            view.writings.add(record(run, view.now, outcome), RECORD, self.id, known)
        facts = {
            "run": run,
            "time": view.now,
            "units": int(bank.units.sum()),
            "visible": int((bank.shown & bank.units).sum()),
            "semantic_before": before,
            "semantic_after": self._pressure(bank, len(shown)),
            "semantic_cap": self.params.semantic_cap,
        }
        view.writings.add(json.dumps(facts, sort_keys=True), RUN, self.id)
        view.topology_consolidated = len(view.created)

    def _applied(self, view: Any, bank: GraphBank, plans: Any) -> Iterator[ProposalOutcome]:
        """Execute the scripts one after another; a made unit gets its descriptor before its
        links.
        """
        scripts: Sequence[Script] = plans.scripts
        given = [d.text for script in scripts for d in script.descriptors]
        vectors = iter(view.embedder.embed(given)) if given else iter(())
        rows = iter(view.topology_rows.rows)
        for script in scripts:
            made = [next(rows) for _ in range(script.makes)]
            for unit, descriptor in zip(
                made or script.proposal.targets[:1], script.descriptors, strict=True
            ):
                vector = next(vectors)
                if made:
                    bank.describe(unit, vector)
                view.descriptor[unit] = view.writings.add(
                    descriptor.written(), DESCRIPTION, self.id, script.proposal.targets
                )
            yield applied(
                script,
                made,
                bank,
                self.caps,
                self.params.anchors,
                self.params.archive,
                None if made else vector,
            )

    @staticmethod
    def _pressure(bank: GraphBank, rows: int) -> list[int]:
        """How many visible units have 0, 1, 2, ... semantic links."""
        seen = np.flatnonzero((bank.shown & bank.units)[:rows])
        pressure: list[int] = (
            np.bincount(bank.counts(EdgeType.SEMANTIC)[seen]).tolist() if seen.size else []
        )
        return pressure

    @hook(
        Phase.RETRIEVE,
        reads=(DESCRIPTOR_EMBEDDING, TOPOLOGY_LINK),
        adds=(),
        sets=(DESCRIBED, TOPOLOGY_MARKS),
    )
    def score(self, view: Any, cue: Cue) -> None:
        """Cosine of the query with the descriptors, if the signal has a weight; and the marks of
        links, for walks along them.
        """
        view.topology_marks.put(cue, view.topology_link)
        if self.params.weight:
            view.described[...] = products(view.descriptor_embedding, cue.vector)


def _bank(view: Any, visible: NDArray[np.bool_]) -> GraphBank:
    """The memory as a bank: events and described rows are its units."""
    units = (view.kind == Kind.EVENT) | (view.descriptor >= 0)
    return GraphBank(
        view.graph,
        lambda: view.topology_link,
        visible,
        units,
        view.descriptor_embedding,
        view.created,
        view.now,
    )


class _Desk:
    """What the diagnosis reads of a unit, each once a run."""

    def __init__(self, view: Any, bank: GraphBank) -> None:
        self.view, self.bank = view, bank
        self._seen: dict[int, Seen] = {}
        self._sentences: dict[str, NDArray[np.float32]] = {}
        # by a language model
        self.given: Mapping[int, Descriptor] = {}
        # by a language model
        self.plans: dict[Proposal, Mapping[str, Any] | PlanError] = {}

    def ask(self, proposals: list[Proposal]) -> None:
        """Ask the language model for the plans of its proposals."""
        self.plans.update(plans_by(self.view.language_model, proposals, self.seen))

    def seen(self, row: int) -> Seen:
        unit = self._seen.get(row)
        if unit is None:
            view, text, rendered = self.view, self.view.texts[row], self.view.texts.rendered(row)
            number = int(view.descriptor[row])
            unit = self._seen[row] = Seen(
                row,
                text,
                float(view.created[row]),
                int(view.speaker[row]),
                name_in(rendered, text),
                self.bank.vector(row),
                partial(self._descriptor, row, number, rendered, text),
                view.kind[row] == Kind.EVENT,
            )
        return unit

    def _descriptor(self, row: int, number: int, rendered: str, text: str) -> Descriptor:
        if row in self.given:
            return self.given[row]
        return (
            described(rendered, text)
            if number < 0
            else Descriptor.read(self.view.writings[number].text)
        )

    def unit(self, row: int) -> tuple[str, Descriptor]:
        return self.seen(row).text, self.seen(row).descriptor

    def sentences(self, texts: Iterable[str]) -> Any:
        """The function text -> (s, d) vectors of its sentences, embedded in one batch for all
        texts of two or more.
        """
        spans = {
            text: places for text in dict.fromkeys(texts) if len(places := sentence_spans(text)) > 1
        }
        parts = list(dict.fromkeys(text[a:b] for text, places in spans.items() for a, b in places))
        vectors = dict(zip(parts, self.view.embedder.embed(parts), strict=True)) if parts else {}
        self._sentences = {
            text: np.stack([vectors[text[a:b]] for a, b in places])
            for text, places in spans.items()
        }
        return self._sentences.__getitem__

    def plan(self, proposal: Proposal) -> Mapping[str, Any] | PlanError:
        if not any(self.seen(v).text for v in proposal.targets):
            return PlanError(Reason.PLAN_VALIDATION_FAIL, "no text")
        if proposal in self.plans:
            return self.plans[proposal]
        return plan_of(
            proposal, {v: self.seen(v) for v in proposal.targets}, self._sentences.__getitem__
        )
