"""A report of a memory's topology: proposals and what became of them, edits, runs, and how far
archived memories are from visible ones.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.errors import InputError
from ...engine.contract.vocabulary import VISIBLE, WRITINGS
from ...engine.memory.engine import Engine
from ...engine.state.graph import EdgeType
from .topology_edits import RECORD, RUN
from .topology_links import Recovery, hops, recovery

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
    """

    proposals: Mapping[tuple[str, str], int]
    edits: Mapping[str, int]
    runs: Sequence[Mapping[str, Any]]
    distances: Mapping[int, int]

    @property
    def recovery(self) -> Recovery:
        """Coverage by hops, H95 and the unreachable share."""
        return recovery(
            dict(enumerate(h for h, count in self.distances.items() for _ in range(count)))
        )

    def named(self) -> dict[str, Any]:
        """All of it, for JSON."""
        recovered = self.recovery
        return {"proposals": [{"operator": o, "reason": r, "count": n} for (o, r),
                              n in sorted(self.proposals.items())], "edits": dict(self.edits),
                "runs": list(self.runs), "distances": {str(h): n for h,
                n in sorted(self.distances.items())}, "coverage": list(recovered.coverage),
                "h95": recovered.h95, "unreachable": recovered.unreachable}  # fmt: skip


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
    edges = np.flatnonzero(
        (memory.column(LINK) > 0) & graph.alive & (graph.type == int(EdgeType.VERSION))
    )
    targets: dict[int, list[int]] = {}
    for source, target in zip(
        graph.source[edges].tolist(), graph.target[edges].tolist(), strict=True
    ):
        targets.setdefault(source, []).append(target)
    distances = hops(
        np.flatnonzero(visible).tolist(),
        np.flatnonzero(~visible).tolist(),
        lambda unit: targets.get(unit, ()),
    )
    edits = {
        name: sum(len(r["edits"][name]) for r in records if "edits" in r)
        for name in ("created", "archived", "added", "redirected")
    }
    return TopologyReport(
        Counter((r["operator"], r["reason"]) for r in records),
        edits,
        runs,
        Counter(distances.values()),
    )


def together(reports: Iterable[TopologyReport]) -> TopologyReport:
    """Several reports as one; runs in the order of the reports."""
    proposals, edits, distances = Counter[tuple[str, str]](), Counter[str](), Counter[int]()
    runs: list[Mapping[str, Any]] = []
    for report in reports:
        proposals.update(report.proposals)
        edits.update(report.edits)
        distances.update(report.distances)
        runs += report.runs
    return TopologyReport(proposals, edits, runs, distances)
