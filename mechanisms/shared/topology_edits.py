"""Edits of a memory topology: proposals, routing, plans with their validation, and records
(All-Mem, appendices B.5 and C).

    proposals -> gate -> Norm -> queues -> Split, Merge, Update, one after another -> scripts ->
    executor

A proposal that fails at any step changes nothing and has exactly one reason code.  All steps are
functions of the set of proposals and of the bank: the order in which proposals are given has no
effect.  Texts are never changed: a Split makes exact parts, a Merge refers to its sources, an
Update gives the current unit a new descriptor.  The executor is in
`consolidation/topology_consolidation.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from itertools import combinations
from typing import Any, Final

from ...engine.base.errors import HebbariumError
from ...engine.state.graph import EdgeType
from .topology_links import Bank, cosine

MOST_KEYWORDS: Final = 12
MOST_SUMMARY: Final = 600  # characters of a summary; a longer one fails validation
MERGE_ARITY: Final = (2, 5)
DESCRIPTION: Final = "descriptor"  # kind of writing: summary and keywords of a unit
RECORD: Final = "topology record"  # kind of writing: what became of one proposal
RUN: Final = "topology run"  # kind of writing: facts of one run


class Operator(IntEnum):
    """The three edits, in the order in which they are executed."""

    SPLIT = 0
    MERGE = 1
    UPDATE = 2


class Reason(StrEnum):
    """Why a proposal changed nothing (C.5); APPLIED if it did."""

    APPLIED = "APPLIED"
    JSON_PARSE_FAIL = "JSON_PARSE_FAIL"
    SCHEMA_FAIL = "SCHEMA_FAIL"
    LOW_CONF = "LOW_CONF"
    NORM_FILTER = "NORM_FILTER"
    COH_FAIL = "COH_FAIL"
    APPLICABLE_FAIL = "APPLICABLE_FAIL"
    PLAN_VALIDATION_FAIL = "PLAN_VALIDATION_FAIL"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A possible edit: targets are one unit (Split), a set of units (Merge), or the current and
    the superseded unit (Update).
    """

    operator: Operator
    targets: tuple[int, ...]
    confidence: float
    why: str = ""

    @property
    def order(self) -> tuple[Any, ...]:
        """Operator, sorted ids, ids as given, higher confidence first, reason: a total order of
        different proposals.
        """
        return self.operator, tuple(sorted(self.targets)), self.targets, -self.confidence, self.why


@dataclass(frozen=True, slots=True)
class Descriptor:
    """Summary and keywords of a unit."""

    summary: str
    keywords: tuple[str, ...]

    @property
    def text(self) -> str:
        """What is embedded as e_u.

        >>> Descriptor("Ada moved.", ("Ada", "Oslo")).text
        'Ada moved. Ada Oslo'
        """
        return " ".join((self.summary, *self.keywords))

    def written(self) -> str:
        """The descriptor as one text, for a writing: the summary, a line break, keywords with
        commas.
        """
        return f"{self.summary}\n{', '.join(self.keywords)}"

    @classmethod
    def read(cls, text: str) -> Descriptor:
        """The descriptor of a text that `written` gave.

        >>> Descriptor.read(Descriptor("A.\\nB.", ("a", "b")).written())
        Descriptor(summary='A.\\nB.', keywords=('a', 'b'))
        """
        summary, _, words = text.rpartition("\n")
        return cls(summary, tuple(word for word in words.split(", ") if word))


@dataclass(frozen=True, slots=True)
class Segment:
    """An exact part of a text, text[start:end], with its descriptor."""

    start: int
    end: int
    descriptor: Descriptor


@dataclass(frozen=True, slots=True)
class Script:
    """A validated plan of an edit.

    segments    of a Split, in the order of the text
    descriptor  of the bundle (Merge) or of the current unit (Update)
    """

    proposal: Proposal
    segments: tuple[Segment, ...] = ()
    descriptor: Descriptor | None = None

    @property
    def makes(self) -> int:
        """How many units the edit makes."""
        return (
            len(self.segments)
            if self.proposal.operator is Operator.SPLIT
            else int(self.proposal.operator is Operator.MERGE)
        )

    @property
    def descriptors(self) -> tuple[Descriptor, ...]:
        """Of each segment, or of the bundle or the current unit."""
        return tuple(s.descriptor for s in self.segments) or (
            (self.descriptor,) if self.descriptor else ()
        )

    @property
    def archives(self) -> tuple[int, ...]:
        """The units that the edit archives."""
        return (
            self.proposal.targets[1:]
            if self.proposal.operator is Operator.UPDATE
            else self.proposal.targets
        )


@dataclass(frozen=True, slots=True)
class Edits:
    """What an edit changed: units made and archived, links added as (source, target, kind),
    semantic links redirected as (unit, archived, r*).
    """

    created: tuple[int, ...] = ()
    archived: tuple[int, ...] = ()
    added: tuple[tuple[int, int, int], ...] = ()
    redirected: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ProposalOutcome:
    """What became of one proposal: exactly one reason, a detail in words, the script if it was
    planned, and what it changed.
    """

    proposal: Proposal
    reason: Reason
    detail: str = ""
    script: Script | None = None
    edits: Edits = field(default_factory=Edits)


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """What a run did, as its writings say: descriptors of the memories of its buffer, when each was
    written (h, before the run if a language model wrote it), scripts in the order of execution, and
    what became of the other proposals.
    """

    described: tuple[tuple[int, Descriptor], ...] = ()
    times: tuple[float, ...] = ()
    scripts: tuple[Script, ...] = ()
    dropped: tuple[ProposalOutcome, ...] = ()


@dataclass(frozen=True, slots=True)
class RoutingGate:
    """Thresholds of routing: least confidence, least mean pairwise cosine of a Merge, the operators
    that are on, and the least confidence of an operator where it is above that of all.
    """

    confidence: float = 0.9
    coherence: float = 0.7
    operators: frozenset[Operator] = frozenset(Operator)
    stricter: tuple[tuple[Operator, float], ...] = ()

    def least(self, operator: Operator) -> float:
        """Least confidence of a proposal of this operator.

        >>> RoutingGate(0.8, stricter=((Operator.SPLIT, 0.95),)).least(Operator.SPLIT)
        0.95
        """
        return max(self.confidence, dict(self.stricter).get(operator, 0.0))


# What exactly did not fit (C.5, gating and applicability), as the detail of NORM_FILTER and
# APPLICABLE_FAIL
MISSING_ID: Final = "MISSING_ID"
ARITY_FAIL: Final = "ARITY_FAIL"
VISIBILITY_FAIL: Final = "VISIBILITY_FAIL"
TOUCHED_CONFLICT: Final = "TOUCHED_CONFLICT"

Measure = Callable[[Bank, Sequence[int]], float]  # coherence of a set of units


# --- routing --------------------------------------------------------------------------------------
def coherence(bank: Bank, units: Sequence[int]) -> float:
    """Mean cosine over all pairs of units; 1 for a single one.  Eq. (29).  O(q^2 d)."""
    pairs = [cosine(bank.vector(a), bank.vector(b)) for a, b in combinations(units, 2)]
    return sum(pairs) / len(pairs) if pairs else 1.0


def normalised(proposal: Proposal, bank: Bank) -> Proposal | str:
    """Norm: ids once, those of a Split or a Merge sorted, unknown ids left out; MISSING_ID,
    ARITY_FAIL or VISIBILITY_FAIL if arity or visibility does not fit.

    MISSING_ID is a wrong arity that an unknown id made.
    """
    ids = tuple(dict.fromkeys(v for v in proposal.targets if bank.exists(v)))
    if proposal.operator is Operator.UPDATE:
        arity, needed = len(ids) == 2 == len(proposal.targets), ids[:1]
    else:
        ids = tuple(sorted(ids))
        least, most = (1, 1) if proposal.operator is Operator.SPLIT else MERGE_ARITY
        arity, needed = least <= len(ids) <= most, ids
    if not arity:
        return ARITY_FAIL if all(bank.exists(v) for v in proposal.targets) else MISSING_ID
    if not all(bank.visible(v) for v in needed):
        return VISIBILITY_FAIL
    return Proposal(proposal.operator, ids, proposal.confidence, proposal.why)


def _filtered(
    proposals: Iterable[Proposal],
    bank: Bank,
    gate: RoutingGate,
    measure: Measure,
    dropped: list[ProposalOutcome],
) -> list[Proposal]:
    """The proposals that pass gate, Norm and coherence; the others go to `dropped`."""
    kept = []
    for given in proposals:
        if given.confidence < gate.least(given.operator):
            dropped.append(ProposalOutcome(given, Reason.LOW_CONF))
        elif given.operator not in gate.operators:
            dropped.append(ProposalOutcome(given, Reason.NORM_FILTER, "operator is off"))
        elif isinstance(normal := normalised(given, bank), str):
            dropped.append(ProposalOutcome(given, Reason.NORM_FILTER, normal))
        elif normal.operator is Operator.MERGE and measure(bank, normal.targets) < gate.coherence:
            dropped.append(ProposalOutcome(given, Reason.COH_FAIL))
        else:
            kept.append(normal)
    return kept


def routed(
    proposals: Iterable[Proposal], bank: Bank, gate: RoutingGate, measure: Measure
) -> tuple[list[Proposal], list[ProposalOutcome]]:
    """The queues, joined in the order of execution, and the proposals that were dropped.  C.2.

    Of equal targets the higher confidence stays.  Of overlapping merges the larger stays, then the
    higher confidence, then the lower ids.
    """
    dropped: list[ProposalOutcome] = []
    kept = sorted(
        _filtered(sorted(proposals, key=lambda p: p.order), bank, gate, measure, dropped),
        key=lambda p: p.order,
    )
    queue: list[Proposal] = []
    known: set[tuple[Operator, tuple[int, ...]]] = set()
    for proposal in kept:
        if (proposal.operator, proposal.targets) in known:
            dropped.append(ProposalOutcome(proposal, Reason.NORM_FILTER, "equal targets"))
        else:
            known.add((proposal.operator, proposal.targets))
            queue.append(proposal)
    taken: set[int] = set()
    merges = []
    for proposal in sorted(
        (p for p in queue if p.operator is Operator.MERGE),
        key=lambda p: (-len(p.targets), -p.confidence, p.targets),
    ):
        if taken.isdisjoint(proposal.targets):
            taken.update(proposal.targets)
            merges.append(proposal)
        else:
            dropped.append(ProposalOutcome(proposal, Reason.NORM_FILTER, "overlaps another merge"))
    rest = [p for p in queue if p.operator is not Operator.MERGE]
    return in_execution_order([*rest, *merges]), dropped


def obstacle(
    proposal: Proposal, bank: Bank, touched: set[int], gate: RoutingGate, measure: Measure
) -> str:
    """Why a proposal cannot be executed now, "" if it can: MISSING_ID, TOUCHED_CONFLICT for a
    unit that was touched in this run, VISIBILITY_FAIL or COH_FAIL.  C.2.1.
    """
    if not all(bank.exists(v) for v in proposal.targets):
        return MISSING_ID
    if not touched.isdisjoint(proposal.targets):
        return TOUCHED_CONFLICT
    needed = proposal.targets[:1] if proposal.operator is Operator.UPDATE else proposal.targets
    if not all(bank.visible(v) for v in needed):
        return VISIBILITY_FAIL
    incoherent = (
        proposal.operator is Operator.MERGE and measure(bank, proposal.targets) < gate.coherence
    )
    return Reason.COH_FAIL.value if incoherent else ""


# --- plans ----------------------------------------------------------------------------------------
class PlanError(HebbariumError):
    """A plan that fails; `reason` is its code.  The executor catches it: the proposal changes
    nothing.
    """

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(
            detail, where="plan", cure="the proposal is left out; correct what made the plan"
        )
        self.reason, self.detail = reason, detail


def keywords_of(given: Any) -> tuple[str, ...]:
    """Keywords without space around them, without empty ones, each once whatever its case, in
    order.

    >>> keywords_of(["Oslo", " oslo", "", "sea"])
    ('Oslo', 'sea')
    """
    keywords: dict[str, str] = {}
    for word in given:
        clean = " ".join(str(word).replace(",", " ").split())
        if clean:
            keywords.setdefault(clean.casefold(), clean)
    return tuple(keywords.values())


def descriptor_of(summary: Any, keywords: Any) -> Descriptor:
    """The descriptor of a plan.  Raises PlanError: summary and keywords must be there, within
    their lengths.
    """
    if not isinstance(summary, str) or not isinstance(keywords, list | tuple):
        raise PlanError(Reason.SCHEMA_FAIL, "summary or keywords of another type")
    words, text = keywords_of(keywords), " ".join(summary.split())
    if not text or not words:
        raise PlanError(Reason.PLAN_VALIDATION_FAIL, "no summary or no keywords")
    if len(words) > MOST_KEYWORDS or len(text) > MOST_SUMMARY:
        raise PlanError(Reason.PLAN_VALIDATION_FAIL, "summary or keywords too long")
    return Descriptor(text, words)


def parsed(plan: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """A plan as a mapping, from JSON if it is a text.  Raises PlanError."""
    if isinstance(plan, str):
        try:
            plan = json.loads(plan)
        except (ValueError, RecursionError) as error:
            raise PlanError(Reason.JSON_PARSE_FAIL, type(error).__name__) from error
    if not isinstance(plan, Mapping):
        raise PlanError(Reason.SCHEMA_FAIL, "no object")
    return plan


def split_script(
    proposal: Proposal, plan: Mapping[str, Any], text: str, least_coverage: float
) -> Script:
    """The script of a Split plan: `do_split` and `segments` of segment_text, segment_summary,
    segment_keywords.  C.3.1.  Raises PlanError.

    Segments must be exact parts of the text, two or more, in order and without overlap, and cover
    the given share of its characters.
    """
    do_split, given = plan.get("do_split"), plan.get("segments")
    if (
        not isinstance(do_split, bool)
        or not isinstance(given, list)
        or not all(isinstance(s, Mapping) for s in given)
    ):
        raise PlanError(Reason.SCHEMA_FAIL, "do_split or segments of another type")
    if not do_split:
        raise PlanError(Reason.PLAN_VALIDATION_FAIL, "the plan does not split")
    if len(given) < 2:
        raise PlanError(Reason.PLAN_VALIDATION_FAIL, "fewer than two segments")
    segments, end = [], 0
    for segment in given:
        part = segment.get("segment_text")
        if not isinstance(part, str):
            raise PlanError(Reason.SCHEMA_FAIL, "segment_text of another type")
        start = text.find(part, end) if part.strip() else -1
        if start < 0:
            raise PlanError(
                Reason.PLAN_VALIDATION_FAIL,
                "a segment is empty, no exact part of the text, or overlaps the one before",
            )
        end = start + len(part)
        segments.append(
            Segment(
                start,
                end,
                descriptor_of(segment.get("segment_summary"), segment.get("segment_keywords")),
            )
        )
    if sum(s.end - s.start for s in segments) < least_coverage * len(text):
        raise PlanError(Reason.PLAN_VALIDATION_FAIL, "segments cover too little")
    return Script(proposal, tuple(segments))


def merge_script(proposal: Proposal, plan: Mapping[str, Any]) -> Script:
    """The script of a Merge plan: `summary` and `keywords` of the bundle.  Raises PlanError."""
    return Script(proposal, (), descriptor_of(plan.get("summary"), plan.get("keywords")))


def update_script(proposal: Proposal, plan: Mapping[str, Any], prior: Descriptor) -> Script:
    """The script of an Update plan: `updated_summary` and `updated_keywords` of the current
    unit.  Raises PlanError, also if nothing changes.
    """
    descriptor = descriptor_of(plan.get("updated_summary"), plan.get("updated_keywords"))
    if descriptor == Descriptor(" ".join(prior.summary.split()), keywords_of(prior.keywords)):
        raise PlanError(Reason.PLAN_VALIDATION_FAIL, "equal descriptor")
    return Script(proposal, (), descriptor)


Planner = Callable[[Proposal], "str | Mapping[str, Any] | PlanError"]


def scripted(
    proposal: Proposal,
    plan: str | Mapping[str, Any] | PlanError,
    text: str,
    prior: Descriptor,
    least_coverage: float,
) -> Script:
    """The script of a plan.  Raises PlanError.

    text   of the target of a Split;  prior  descriptor of the current unit of an Update
    """
    if isinstance(plan, PlanError):
        raise plan
    read_plan = parsed(plan)
    if proposal.operator is Operator.SPLIT:
        return split_script(proposal, read_plan, text, least_coverage)
    return (
        merge_script(proposal, read_plan)
        if proposal.operator is Operator.MERGE
        else update_script(proposal, read_plan, prior)
    )


def touched_by(proposal: Proposal, archived: Iterable[int], bank: Bank) -> set[int]:
    """The units that the edit of a proposal touches: its targets, and the visible units that are
    linked to what it archives.
    """
    return {*proposal.targets} | {
        u
        for v in archived
        for kind in (EdgeType.SEMANTIC, EdgeType.VERSION)
        for u in bank.sources(v, kind)
        if bank.visible(u)
    }


def applicable(
    queue: Iterable[Proposal], bank: Bank, touched: set[int], gate: RoutingGate, measure: Measure
) -> list[Proposal]:
    """The proposals of a queue that are applicable whatever becomes of those before them.  C.3."""
    sure: list[Proposal] = []
    reach: set[int] = set()
    for proposal in queue:
        if not obstacle(proposal, bank, touched, gate, measure):
            if reach.isdisjoint(proposal.targets):
                sure.append(proposal)
            reach |= touched_by(proposal, proposal.targets, bank)
    return sure


def planned(
    proposals: Iterable[Proposal],
    bank: Bank,
    gate: RoutingGate,
    measure: Measure,
    planner: Planner,
    unit: Callable[[int], tuple[str, Descriptor]],
    least_coverage: float = 0.0,
    ask: Callable[[list[Proposal]], object] | None = None,
) -> tuple[list[Script], list[ProposalOutcome]]:
    """Scripts in the order of execution, and what became of every other proposal.

    An edit touches the units that it makes, archives or describes anew, and those whose links it
    changes.  A later proposal with a touched unit is not applicable, so every script is a function
    of the bank before the run.

    measure  coherence of the targets of a Merge
    planner  the plan of a proposal
    unit     text and descriptor of a unit
    ask      gets proposals that are applicable before the plan of any of them is wanted
    """
    queue, dropped = routed(proposals, bank, gate, measure)
    scripts: list[Script] = []
    touched: set[int] = set()
    asked: set[Proposal] = set()
    for place, proposal in enumerate(queue):
        if detail := obstacle(proposal, bank, touched, gate, measure):
            dropped.append(ProposalOutcome(proposal, Reason.APPLICABLE_FAIL, detail))
            continue
        if ask is not None and proposal not in asked:
            batch = applicable(queue[place:], bank, touched, gate, measure)
            ask(batch)
            asked.update(batch)
        try:
            script = scripted(
                proposal, planner(proposal), *unit(proposal.targets[0]), least_coverage
            )
        except PlanError as failure:
            dropped.append(ProposalOutcome(proposal, failure.reason, failure.detail))
            continue
        scripts.append(script)
        touched |= touched_by(proposal, script.archives, bank)
    return scripts, dropped


# --- records --------------------------------------------------------------------------------------
def record(run: int, time: float, outcome: ProposalOutcome) -> str:
    """The audit record of one proposal as JSON, with sorted keys.  C.5."""
    proposal, script, edits = outcome.proposal, outcome.script, outcome.edits
    entry: dict[str, Any] = {"run": run, "time": time, "operator": proposal.operator.name,
                             "targets": list(proposal.targets),
                             "confidence": proposal.confidence, "why": proposal.why,
                             "reason": outcome.reason.value, "detail": outcome.detail}  # fmt: skip
    if script is not None:
        entry["plan"] = {
            "segments": [
                [s.start, s.end, s.descriptor.summary, list(s.descriptor.keywords)]
                for s in script.segments
            ],
            "descriptor": [script.descriptor.summary, list(script.descriptor.keywords)]
            if script.descriptor
            else None,
        }
        entry["edits"] = {
            "created": list(edits.created),
            "archived": list(edits.archived),
            "added": [list(e) for e in edits.added],
            "redirected": [list(e) for e in edits.redirected],
        }
    return json.dumps(entry, sort_keys=True, ensure_ascii=True)


def script_of(given: Mapping[str, Any]) -> Script | None:
    """The script of an audit record, for a replay; None if the proposal changed nothing."""
    if given["reason"] != Reason.APPLIED:
        return None
    proposal = Proposal(
        Operator[given["operator"]], tuple(given["targets"]), given["confidence"], given["why"]
    )
    segments = tuple(
        Segment(start, end, Descriptor(summary, tuple(words)))
        for start, end, summary, words in given["plan"]["segments"]
    )
    words = given["plan"]["descriptor"]
    return Script(proposal, segments, Descriptor(words[0], tuple(words[1])) if words else None)


def outcome_of(given: Mapping[str, Any]) -> ProposalOutcome:
    """What became of the proposal of an audit record, without its edits."""
    proposal = Proposal(
        Operator[given["operator"]], tuple(given["targets"]), given["confidence"], given["why"]
    )
    return ProposalOutcome(proposal, Reason(given["reason"]), given["detail"], script_of(given))


def in_execution_order(proposals: Iterable[Proposal]) -> list[Proposal]:
    """Operator by operator, the more confident first: the order in which a run executes."""
    return sorted(proposals, key=lambda p: (p.operator, -p.confidence, p.targets))


def in_record_order(outcomes: Iterable[ProposalOutcome]) -> list[ProposalOutcome]:
    """Outcomes of one run sorted by operator and ids, then by confidence and reason."""
    return sorted(outcomes, key=lambda o: (*o.proposal.order, o.reason.value, o.detail))
