"""A report of a memory's topology: proposals and what became of them, edits, runs, and how far
archived memories are from visible ones.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...engine.base.errors import InputError
from ...engine.contract.vocabulary import VISIBLE, WRITINGS
from ...engine.memory.engine import Engine
from ...engine.state.graph import EdgeType
from .topology_edits import (
    DESCRIPTION,
    RECORD,
    RUN,
    Descriptor,
    ProposalOutcome,
    RecordedRun,
    in_execution_order,
    outcome_of,
)
from .topology_links import KINDS, Recovery, hops, recovery

LINK = "topology_link"  # the edge column that marks links


@dataclass(frozen=True, slots=True)
class TopologyReport:
    """The topology of one memory, or of several together.

    proposals  (operator, reason) -> how many
    edits      "created", "archived", "added", "redirected" -> how many
    runs       facts of each run in order: run, time (h), units, visible, semantic_before and
               semantic_after, numbers of visible units by their semantic links, and semantic_cap
    distances  hops -> archived memories at that distance from a visible one over version links; -1:
               without a path
    typed      the same over links of all kinds (eq. 9)
    """

    proposals: Mapping[tuple[str, str], int]
    edits: Mapping[str, int]
    runs: Sequence[Mapping[str, Any]]
    distances: Mapping[int, int]
    typed: Mapping[int, int] = field(default_factory=dict)

    @property
    def recovery(self) -> Recovery:
        """Coverage by hops, H95 and the unreachable share."""
        return _recovery(self.distances)

    @property
    def typed_recovery(self) -> Recovery:
        """The same over links of all kinds."""
        return _recovery(self.typed)

    def named(self) -> dict[str, Any]:
        """All of it, for JSON."""
        recovered = self.recovery
        return {"proposals": [{"operator": o, "reason": r, "count": n} for (o, r),
                              n in sorted(self.proposals.items())], "edits": dict(self.edits),
                "runs": list(self.runs), "distances": {str(h): n for h,
                n in sorted(self.distances.items())}, "coverage": list(recovered.coverage),
                "h95": recovered.h95, "unreachable": recovered.unreachable,
                "h95_typed": self.typed_recovery.h95}  # fmt: skip


def _recovery(distances: Mapping[int, int]) -> Recovery:
    return recovery(dict(enumerate(h for h, count in distances.items() for _ in range(count))))


def pressure(degrees: Sequence[int], cap: int) -> float:
    """Share of units whose links are at the cap, from numbers of units by links; 0 without units.

    >>> pressure([3, 0, 1], 2)
    0.25
    """
    return sum(degrees[cap:]) / sum(degrees) if sum(degrees) else 0.0


def reported(memory: Engine) -> TopologyReport:
    """The report of one memory.  O(rows + edges + writings).  Raises InputError for a memory
    without a topology.
    """
    if LINK not in {c.name for c in memory.store.columns}:
        raise InputError(
            "no mechanism of this memory keeps a topology",
            where="topology",
            cure="switch topology_consolidation on",
        )
    records = [
        json.loads(w.text)
        for w in memory.store.structures[WRITINGS]
        if w.kind == RECORD and w.text.startswith("{")
    ]
    runs = [json.loads(w.text) for w in memory.store.structures[WRITINGS] if w.kind == RUN]
    visible, graph = memory.column(VISIBLE), memory.graph
    links = (memory.column(LINK) > 0) & graph.alive

    def from_visible(kinds: Sequence[EdgeType]) -> Counter[int]:
        """Hops -> archived memories at that distance from a visible one."""
        edges = np.flatnonzero(links & np.isin(graph.type, [int(kind) for kind in kinds]))
        targets: dict[int, list[int]] = {}
        for source, target in zip(
            graph.source[edges].tolist(), graph.target[edges].tolist(), strict=True
        ):
            targets.setdefault(source, []).append(target)
        return Counter(
            hops(
                np.flatnonzero(visible).tolist(),
                np.flatnonzero(~visible).tolist(),
                lambda unit: targets.get(unit, ()),
            ).values()
        )

    edits = {
        name: sum(len(r["edits"][name]) for r in records if "edits" in r)
        for name in ("created", "archived", "added", "redirected")
    }
    return TopologyReport(
        Counter((r["operator"], r["reason"]) for r in records),
        edits,
        runs,
        from_visible((EdgeType.VERSION,)),
        from_visible(KINDS),
    )


def recorded_runs(memory: Engine) -> dict[int, RecordedRun]:
    """The runs of a memory by number, from its writings alone: what a replay executes (C.5).

    The writings of a run are, in this order, the descriptors of its buffer, those of its edits,
    its records, and its facts.  Descriptors after the last run are of one that is still to come.
    """
    runs: dict[int, RecordedRun] = {}
    descriptors: list[Any] = []
    outcomes: list[ProposalOutcome] = []
    for writing in memory.store.structures[WRITINGS]:
        if writing.kind == DESCRIPTION:
            descriptors.append(writing)
        elif writing.kind == RECORD and writing.text.startswith("{"):
            outcomes.append(outcome_of(json.loads(writing.text)))
        elif writing.kind == RUN:
            by_proposal = {o.proposal: o.script for o in outcomes if o.script is not None}
            scripts = tuple(by_proposal[p] for p in in_execution_order(by_proposal))
            edited = sum(len(script.descriptors) for script in scripts)
            runs[json.loads(writing.text)["run"]] = replace(
                _of_buffer(descriptors[: len(descriptors) - edited]),
                scripts=scripts,
                dropped=tuple(o for o in outcomes if o.script is None),
            )
            descriptors, outcomes = [], []
    if descriptors:
        runs[max(runs, default=0) + 1] = _of_buffer(descriptors)
    return runs


def _of_buffer(descriptors: Sequence[Any]) -> RecordedRun:
    """A run that has described the memories of its buffer, from these writings."""
    return RecordedRun(
        tuple((w.sources[0], Descriptor.read(w.text)) for w in descriptors),
        tuple(w.time for w in descriptors),
    )


def together(reports: Iterable[TopologyReport]) -> TopologyReport:
    """Several reports as one; runs in the order of the reports."""
    proposals, edits = Counter[tuple[str, str]](), Counter[str]()
    distances, typed = Counter[int](), Counter[int]()
    runs: list[Mapping[str, Any]] = []
    for report in reports:
        proposals.update(report.proposals)
        edits.update(report.edits)
        distances.update(report.distances)
        typed.update(report.typed)
        runs += report.runs
    return TopologyReport(proposals, edits, runs, distances, typed)
