"""`hebbarium human`: mechanism sets, or another system, beside people."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from ...engine.base.errors import InputError, nearest
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.ports.embedding_cache import CachedEmbedder
from ...reporting.files import finite, write_json, write_whole
from ...reporting.provenance import Made, made
from ...reporting.text import in_cell, plural
from ..designs.arms import Arm
from ..execution.folder import ledger_beside
from ..execution.ledger import Ledger
from ..execution.local import Progress, write_lines
from ..execution.plan import Composition, planned
from ..execution.setup import code_version
from ..execution.spec import DEFAULTS
from ..probes.harness.report import NO_EVIDENCE
from ..systems.by_name import OURS
from .data import DELAYED, IMMEDIATE, RecallTrial, written
from .free_recall import texts_of
from .list_study import ListMeasure, ListReport, judging_of, people_of
from .paradigms import PRINTED
from .printed_study import PrintedMeasure, PrintedReport
from .run import with_practice
from .trial import ALL as EVERY_MECHANISM
from .trial import HEADS as TRIAL_HEADS
from .trial import OnTrial, TrialRow, lines_of, tried

LISTS: Final = {experiment.id: experiment for experiment in (DELAYED, IMMEDIATE)}
PARADIGMS: Final = (*LISTS, *PRINTED)
ALL: Final = "all"
ROWS, RESULT = "rows.jsonl", "human.json"
RECENCY: Final = "recency alone"
REFERENCE: Final = "hebbarium.benchmarks.people.reference:ReferenceCMR"
BASELINES: Final = ("bm25", "naive_rag")  # sets that are always measured
ON_TRIAL: Final = (
    "Change of the log distance by the mechanism, the readout fitted with and without it; below 0 it "
    "brings the set nearer to people. Intervals are paired, and hold for all mechanisms of a set in a "
    "paradigm at once."
)
FORMAT: Final = 2  # paradigms by name


@dataclass(frozen=True, slots=True)
class StudyReport:
    """What a run found.

    paradigms  name -> what memories showed, in the order asked
    evidence   whether the embedder is a model
    trials     what mechanisms do that are on trial
    """

    paradigms: Mapping[str, ListReport | PrintedReport]
    evidence: bool
    provenance: Mapping[str, Any]
    trials: tuple[TrialRow, ...] = ()

    @property
    def headline(self) -> str:
        memories = dict.fromkeys(row.name for part in self.paradigms.values() for row in part.rows)
        return (
            f"{plural(len(memories), 'memory', 'memories')}, "
            f"{plural(len(self.paradigms), 'paradigm', 'paradigms')}"
        )


def compositions(
    sets: Sequence[MechanismSet], on_trial: Sequence[str], registry: Registry, system: str
) -> tuple[list[Composition], tuple[OnTrial, ...]]:
    """The memories that are measured, each set before those that lack a mechanism on trial, then the
    baselines, each once; and what is on trial.  Each memory is built and checked.
    """
    if system != OURS and (sets or on_trial):
        raise InputError(
            f"the system {system!r} has no mechanisms",
            where="--set" if sets else "--on-trial",
            cure="leave out --set and --on-trial, or leave out --system",
        )
    named = {chosen.name: chosen for chosen in sets}
    if len(named) < len(sets):
        raise InputError("a set is named twice", where="--set", cure="name every set once")
    ids = [*dict.fromkeys(on_trial)]
    known = dict.fromkeys(id for chosen in sets for id in chosen.mechanisms)
    if odd := [id for id in ids if id not in (EVERY_MECHANISM, *known)]:
        raise InputError(
            f"no set of these has {odd[0]!r}",
            where="--on-trial",
            cure=nearest(odd[0], [EVERY_MECHANISM, *known])
            or f"name mechanisms of {' or '.join(named)}, which `hebbarium show --set` lists",
        )
    trials = list[OnTrial]()
    arms = list[Arm]()
    for chosen in sets:
        arms.append(Arm(chosen.name, chosen))
        for id in chosen.mechanisms:
            if id in ids or EVERY_MECHANISM in ids:
                trials.append(OnTrial(chosen.name, id))
                arms.append(Arm(trials[-1].arm, chosen.without([id]), id))
    recency = MechanismSet(RECENCY, "", {"recency": {}, "convex_fusion": {}})
    baselines = (*map(registry.set, BASELINES), recency)
    arms += [
        Arm(known_set.name, known_set) for known_set in baselines if known_set.name not in named
    ]
    ours = planned(arms, registry).arms
    others = [*([] if system == OURS else [system]), REFERENCE]
    theirs = planned([], registry, DEFAULTS, list(dict.fromkeys(others))).arms
    return [*theirs[:-1], *ours, theirs[-1]], tuple(trials)


def named(paradigms: Sequence[str]) -> tuple[str, ...]:
    """The paradigms that are asked for, each once; `all` is every one.  Raises InputError."""
    if unknown := [name for name in paradigms if name not in (ALL, *PARADIGMS)]:
        raise InputError(
            f"there is no paradigm {unknown[0]!r}",
            where="--paradigm",
            cure=nearest(unknown[0], [ALL, *PARADIGMS])
            or f"choose {', '.join(PARADIGMS)}, or {ALL}",
        )
    return PARADIGMS if ALL in paradigms else tuple(dict.fromkeys(paradigms))


def study(
    paradigms: Sequence[str],
    sets: Sequence[MechanismSet],
    registry: Registry,
    embedder: CachedEmbedder,
    out: Path,
    *,
    system: str = OURS,
    on_trial: Sequence[str] = (),
    data: Path | None = None,
    fit_on: Sequence[str] = (),
    people: int = 64,
    seeds: int = 1,
    jobs: int = 1,
    progress: Progress | None = None,
    making: Made | None = None,
    overwrite: bool = False,
) -> StudyReport:
    """Let memories take part in experiments, and write human.json, human.md and rows.jsonl into
    `out`.

    paradigms  names, or `all`
    on_trial   mechanisms that are left out of each set that has them, one at a time; `all`: each
    data       a table of trials in place of those that ship, for one experiment with lists
    fit_on     conditions of one experiment with lists, such as 12: the readout is fitted on their
               lists, and the others judge.  None: all do both
    people     of experiments with lists those whose lists are told, each `seeds` times; of others
               `people` times `seeds` are simulated

    Cells that `out` holds from the same inputs are taken from its ledger.  Raises HebbariumError;
    InputError for a folder with other results.
    """
    chosen = named(paradigms)
    for option, given in (("--data", data is not None), ("--fit-on", bool(fit_on))):
        if given and (len(chosen) > 1 or chosen[0] not in LISTS):
            raise InputError(
                f"it is for one paradigm with lists, not for {', '.join(chosen)}",
                where=option,
                cure=f"choose --paradigm {' or '.join(LISTS)}, or leave out {option}",
            )
    if fit_on:
        judging_of(LISTS[chosen[0]], fit_on)
    experiments = {name: people_of(LISTS[name], data, people) for name in chosen if name in LISTS}
    arms, trials = compositions(sets, on_trial, registry, system)
    lists = [
        trial
        for halves, _ in experiments.values()
        for own in halves.values()
        for trials in own.values()
        for trial in trials
    ]
    deciding = {
        "paradigms": list(chosen),
        "arms": {arm.arm: arm.set_digest or arm.system_revision for arm in arms},
        "embedder": embedder.name,
        "embedder_revision": embedder.revision,
        "registry_digest": registry.digest,
        "lists": hashlib.sha256(written(lists).encode()).hexdigest(),
        "fit_on": list(fit_on),
    }
    parts, rows = dict[str, ListReport | PrintedReport](), list[dict[str, Any]]()
    with ledger_beside(out / RESULT, deciding, "people", replace=overwrite) as book:
        running = _Running(registry, embedder, book, jobs, progress)
        embedder.embed(texts_of(lists))
        for name in chosen:
            part: ListReport | PrintedReport
            if name in experiments:
                part, lines = running.lists(name, *experiments[name], arms, seeds, fit_on)
            else:
                part, lines = running.printed(name, arms, people * seeds)
            parts[name] = part
            rows += lines
    provenance = {
        **deciding,
        "code": code_version(),
        "people": people,
        "seeds": seeds,
        "made": asdict(making or made()),
    }
    report = StudyReport(
        parts, embedder.name != "hashing", provenance, tried(list(parts.values()), trials)
    )
    write_lines(out / ROWS, rows)
    write_json(out / RESULT, to_json(report), shared=True)
    write_whole(out / "human.md", [to_markdown(report)], shared=True)
    return report


@dataclass(frozen=True, slots=True)
class _Running:
    """What all paradigms of a run share."""

    registry: Registry
    embedder: CachedEmbedder
    book: Ledger
    jobs: int
    progress: Progress | None

    def lists(
        self,
        name: str,
        halves: Mapping[Any, Mapping[str, list[RecallTrial]]],
        targets: Mapping[str, Any],
        arms: Sequence[Composition],
        seeds: int,
        fit_on: Sequence[str],
    ) -> tuple[ListReport, list[dict[str, Any]]]:
        practised = {half: with_practice(own) for half, own in halves.items()}
        measure = ListMeasure(
            LISTS[name],
            practised,
            self.registry,
            self.embedder,
            self.book,
            self.jobs,
            self.progress,
            fit_on,
        )
        judging = {c: targets[c] for c in measure.judging}
        rows = tuple(measure.row(arm, judging, seeds) for arm in arms)
        simulated = seeds * sum(map(len, halves["reporting"].values()))
        report = ListReport(LISTS[name], rows, simulated, judging, tuple(fit_on))
        return report, measure.recalls

    def printed(
        self, name: str, arms: Sequence[Composition], people: int
    ) -> tuple[PrintedReport, list[dict[str, Any]]]:
        measure = PrintedMeasure(
            PRINTED[name], people, self.registry, self.embedder, self.book, self.jobs, self.progress
        )
        # the reference reads no question, so it takes part with lists alone
        rows = tuple(measure.row(arm) for arm in arms if arm.arm != REFERENCE)
        return PrintedReport(PRINTED[name], rows, people), measure.values


# --- what is written ------------------------------------------------------------------------------
def to_json(report: StudyReport) -> dict[str, Any]:
    """Plain data for `json.dumps`; numbers that are not defined are null."""
    plain: dict[str, Any] = finite(
        {
            "format": FORMAT,
            "headline": report.headline,
            "evidence": report.evidence,
            "note": "" if report.evidence else NO_EVIDENCE,
            "paradigms": {name: part.to_json() for name, part in report.paradigms.items()},
            "on_trial": [asdict(row) for row in report.trials],
            "provenance": report.provenance,
        }
    )
    return plain


def table_of(report: StudyReport) -> tuple[str, tuple[str, ...], list[tuple[str, ...]]]:
    """Title, heads and lines of the table that says most: that of one paradigm, or of several a
    line each.
    """
    parts = list(report.paradigms.values())
    if len(parts) == 1:
        return f"{parts[0].id} beside people", parts[0].heads, parts[0].lines()
    tried_arms = {f"{row.set} without {row.mechanism}" for row in report.trials}
    names = dict.fromkeys(row.name for part in parts for row in part.rows)
    memories = tuple(name for name in names if name not in tried_arms)
    lines = []
    for part in parts:
        cells = part.summaries()
        lines.append((part.id, *(cells.get(name, "") for name in memories)))
    return "distance in noise ceilings, effects as in people", ("paradigm", *memories), lines


def to_markdown(report: StudyReport) -> str:
    """The tables of all paradigms."""
    title, heads, lines = table_of(report)
    text = ["# Beside people", "", report.headline + ".", ""]
    text += [] if report.evidence else [NO_EVIDENCE, ""]
    if len(report.paradigms) > 1:
        text += [f"{title[0].upper()}{title[1:]}:", "", *_table(heads, lines), ""]
    if report.trials:
        text += ["## Mechanisms on trial", "", ON_TRIAL, ""]
        text += [*_table(TRIAL_HEADS, lines_of(report.trials)), ""]
    for part in report.paradigms.values():
        text += [f"## {part.id}", "", part.about, "", *_table(part.heads, part.lines()), ""]
        text += [f"Human data: {part.source}.", ""]
    return "\n".join(text)


def _table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
        *(f"| {' | '.join(map(in_cell, cells))} |" for cells in lines),
    ]
