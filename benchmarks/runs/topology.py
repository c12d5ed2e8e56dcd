"""The topology of the memories of a run: each conversation's memory is rebuilt from the
manifest, and its records are read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from statistics import fmean, median

from ...engine.catalogue.registry import Registry
from ...engine.ports.embedder import Embedder
from ...mechanisms.shared.topology_report import TopologyReport, recorded_runs, reported, together
from ..datasets import Dataset
from ..execution.folder import RunFolder
from ..reports.chart import line_chart
from .rebuilding import chosen_cells, lived


def topologies(
    run: RunFolder,
    data: Dataset,
    registry: Registry,
    embedder: Embedder,
    *,
    arm: str | None = None,
    conversation: str | None = None,
) -> dict[str, TopologyReport]:
    """A report for each conversation of the run, by id, or for one.

    arm  of an ablation; None: the full set

    Cost: one encoding of each conversation.  Raises InputError for a run of another system or
    without a topology, HebbariumError.
    """
    reports = {}
    for cell in chosen_cells(run, data, arm, conversation):
        with closing(lived(run, cell, registry, embedder)) as memory:
            reports[cell.conversation.id] = reported(memory.engine)
    return reports


@dataclass(frozen=True, slots=True)
class ReplayedTopology:
    """A memory that was lived again from its records, without a model and without a diagnosis.

    runs      how many runs were executed again
    edits     "created", "archived", "added", "redirected" -> how many
    reasons   reason code -> how many proposals
    equal     whether the two memories have one digest
    """

    runs: int
    edits: Mapping[str, int]
    reasons: Mapping[str, int]
    equal: bool


def replay(
    run: RunFolder,
    data: Dataset,
    registry: Registry,
    embedder: Embedder,
    *,
    arm: str | None = None,
    conversation: str | None = None,
) -> dict[str, ReplayedTopology]:
    """Live each conversation of a run, read the records of its consolidations, and live it again
    from these (All-Mem, C.5).  By id of the conversation.

    Cost: two encodings of each conversation.  Raises as `topologies`.
    """
    replays = {}
    for cell in chosen_cells(run, data, arm, conversation):
        with closing(lived(run, cell, registry, embedder)) as first:
            records, report = recorded_runs(first.engine), reported(first.engine)
            with closing(lived(run, cell, registry, embedder, recorded=records)) as again:
                replays[cell.conversation.id] = ReplayedTopology(
                    len(report.runs),
                    report.edits,
                    {
                        reason: sum(n for (_, r), n in report.proposals.items() if r == reason)
                        for _, reason in report.proposals
                    },
                    first.engine.digest() == again.engine.digest(),
                )
    return replays


@dataclass(frozen=True, slots=True)
class ArmTopology:
    """One row of All-Mem's table 11, with its costs (4.4, F.5).

    visible        visible units over all units, after the last run of each conversation
    h95            hops within which 95% of the archived memories are, over version links; -1: none
    h95_typed      the same over links of all kinds
    retrieve_ms    median of a question, without the embedding of its text
    offline        seconds of a consolidation that ran
    turns          events between two consolidations that ran
    tokens         of a language model in encoding and consolidation, an event; None where they were
                   not counted: a run counts those of its full set alone
    """

    arm: str
    visible: float
    h95: int
    h95_typed: int
    retrieve_ms: float
    offline: float
    turns: float
    tokens: float | None


def arm_table(
    run: RunFolder, data: Dataset, registry: Registry, embedder: Embedder
) -> tuple[ArmTopology, ...]:
    """Every arm of an ablation whose memories have a topology.  Cost: one encoding of each
    conversation for each arm.  Raises as `topologies`.
    """
    turns = {c.id: len(c.events) for c in data.conversations}
    rows = []
    for arm in run.arms:
        reports = topologies(run, data, registry, embedder, arm=arm)
        whole = together(reports.values())
        times = [t for t in run.times() if t["arm"] == arm and t["conversation"] in reports]
        asked = [t["retrieve_ms"] for t in times if t["question"] is not None]
        tokens = _tokens(run, arm)
        units = sum(r.runs[-1]["units"] for r in reports.values() if r.runs)
        shown = sum(r.runs[-1]["visible"] for r in reports.values() if r.runs)
        rows.append(
            ArmTopology(
                arm,
                shown / units if units else 1.0,
                whole.recovery.h95,
                whole.typed_recovery.h95,
                median(asked) if asked else 0.0,
                sum(t["consolidate_ms"] for t in times) / 1000.0 / max(len(whole.runs), 1),
                sum(turns[id] for id in reports) / max(len(whole.runs), 1),
                None if tokens is None else tokens / max(sum(turns[id] for id in reports), 1),
            )
        )
    return tuple(rows)


def _tokens(run: RunFolder, arm: str) -> float | None:
    """Tokens of a language model for making the memories, as the run counted them; 0 without a
    model, None if one was asked and its tokens were not counted for this arm.
    """
    if not run.manifest.get("language_model"):
        return 0.0
    file = run.path / "metrics.json"
    if arm != "full" or not file.exists():
        return None
    used = json.loads(file.read_text(encoding="utf-8")).get("language_model") or {}
    return float(
        sum(
            counts[name]
            for phase, by_mechanism in used.items()
            if phase != "retrieve"
            for counts in by_mechanism.values()
            for name in ("prompt_tokens", "completion_tokens")
        )
    )


def surface_svg(reports: Mapping[str, TopologyReport]) -> str:
    """The search space over time (All-Mem, I.4): all units, and those on the visible surface, after
    each run; means over the conversations that had so many runs.
    """
    longest = max((len(report.runs) for report in reports.values()), default=0)
    curves: dict[str, list[tuple[float, float, str]]] = {"all units": [], "visible units": []}
    for number in range(longest):
        runs = [report.runs[number] for report in reports.values() if len(report.runs) > number]
        for (name, curve), field in zip(curves.items(), ("units", "visible"), strict=True):
            mean = fmean(run[field] for run in runs)
            said = f"after consolidation {number + 1}: {mean:,.1f} {name}"
            curve.append((number + 1.0, mean, said))
    return line_chart("Search space over consolidations", "consolidation", curves)
