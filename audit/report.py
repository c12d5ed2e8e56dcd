"""An audit result as JSON, as a table for the terminal, as plain text, and as Markdown.  The page of HTML is in page.py."""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from .. import __version__
from ..engine.registry import Entry, Registry
from .changes import Changes
from .checks import CheckResult
from .run import AuditResult, Fate, MechanismResult
from .sources import SourceSystem, compared

FORMAT = "hebbarium.audit/1"            # of audit.json, as audit.schema.json describes it


def to_json(result: AuditResult, registry: Registry | None = None, systems: Sequence[SourceSystem] = ()) -> dict[str, Any]:
    """The whole result as plain JSON values; NaN and infinities, which JSON lacks, as words.

    registry  adds each mechanism's registry entry
    systems   source systems, whose claims are added
    """
    return {
        "format": FORMAT, "version": __version__, "registry": registry.digest if registry else "",
        "exit_code": result.exit_code,
        "mutants_asked": result.mutants_asked, "mutants_run": result.mutants_run, "mutants_rejected": result.mutants_rejected,
        "failures": [{"mechanism": id, "fault": fault} for id, fault in result.failures],
        "findings": [{"mechanism": id, "fault": fault} for id, fault in result.findings],
        "mechanisms": [_mechanism_json(m, registry.entries.get(m.id) if registry else None) for m in result.mechanisms],
        "sources": [_system_json(s, result) for s in systems],
    }


def _mechanism_json(m: MechanismResult, entry: Entry | None) -> dict[str, Any]:
    return {
        "id": m.id, "variety_of": m.variety_of, "papers": list(m.papers), "label": _label(entry) if entry else None,
        "claimed": str(m.claimed), "derived": str(m.verdict.rating), "earned": m.earned,
        "reasons": list(m.verdict.reasons), "raise_by": list(m.verdict.raise_by), "lowered_by": list(m.verdict.lowered_by),
        "stands_on": list(m.verdict.stands_on), "passed": m.passed, "gating": m.gating,
        "checks": [_check_json(r) for r in m.checks], "also_compared": [_check_json(r) for r in m.also_compared],
        "static": [_check_json(r) for r in m.static],
        "mutants": [{"name": x.name, "rejected_by": x.rejected_by, "fate": str(x.fate), "note": x.note} for x in m.mutants],
        "figures": [{"name": p.name, "caption": p.caption, "source": p.source, "note": p.note} for p in m.pictures],
    }


def _check_json(r: CheckResult) -> dict[str, Any]:
    return {
        "id": r.check.id, "kind": str(r.check.kind), "what": r.check.title, "source": r.check.source, "papers": list(r.check.papers),
        "figure": r.check.figure,
        "gates": r.check.gates, "score": str(r.score), "measured": _json(r.measured), "expected": _json(r.expected),
        "atol": r.check.atol, "rtol": r.check.rtol, "note": r.note, "seconds": r.seconds,
    }


def _label(entry: Entry) -> dict[str, Any]:
    return {
        "home": entry.home, "summary": entry.summary, "acts_on": entry.acts_on, "claimed_by": entry.claimed_by, "time_scale": entry.time_scale,
        "equations": [e.model_dump() for e in entry.equations],
        "parameters": [{"name": name, **p.model_dump(mode="json")} for name, p in entry.params.items()],
        "departures": [d.model_dump() for d in entry.departures], "departs_from_source": entry.departs_from_source,
    }


def _system_json(system: SourceSystem, result: AuditResult) -> dict[str, Any]:
    return {
        "name": system.name, "key": system.key, "scale": system.scale,
        "claims": [{**c.claim.model_dump(mode="json"), "derived": str(c.derived) if c.derived else None, "stands": c.stands, "why": list(c.why)}
                   for c in compared(system, result)],
        "citations": [c.model_dump(mode="json") for c in system.citations],
    }


def _json(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, complex):
        return {"real": _json(value.real), "imag": _json(value.imag)}
    return [_json(v) for v in value] if isinstance(value, tuple) else value


def cells(m: MechanismResult, mutants_asked: bool) -> tuple[str, str, str, str, str, str]:
    """Mechanism, claimed, derived, checks, mutants, first failing check."""
    run = [x for x in m.mutants if x.fate is not Fate.NOT_RUN]
    rejected = f"{sum(x.rejected for x in run)}/{len(run)}" if mutants_asked and m.mutants else "-"
    first = m.first_failing
    return m.id, str(m.claimed), str(m.verdict.rating), f"{m.passed}/{m.gating}", rejected, f"{first.check.id} {first.check.title}" if first else "-"


HEADS = ("mechanism", "claimed", "derived", "checks", "mutants", "first failing check")


ALSO_COMPARED = "Checks of papers that the source of a printed form does not cite; they do not count for its rating."


def mutants_of(result: AuditResult) -> str:
    """How many of all mutants that ran were rejected, as a sentence; empty if none ran."""
    return f"{result.mutants_rejected} of {result.mutants_run} mutants rejected" if result.mutants_asked and result.mutants_run else ""


def verdict_of(m: MechanismResult) -> str:
    """In one word: earned, unearned (our own claim), finding (a source system's)."""
    return "earned" if m.earned else "finding" if m.variety_of else "unearned"


def table(result: AuditResult) -> Table:
    """One row a mechanism, claimed rating beside derived."""
    styles = {"earned": "green", "finding": "yellow", "unearned": "bold red"}
    drawn = Table(*HEADS, title="Audit")
    for m in result.mechanisms:
        row = [Text(c) for c in cells(m, result.mutants_asked)]      # Text: a title may hold square brackets
        row[2].stylize(styles[verdict_of(m)])
        drawn.add_row(*row)
    return drawn


def plain(result: AuditResult, failures: Sequence[tuple[str, str]] | None = None) -> str:
    """The same as plain text for logs and pipes; the same result gives the same text.

    failures  faults to list as not earned; None: those of the result
    """
    rows = [HEADS, *(cells(m, result.mutants_asked) for m in result.mechanisms)]
    widths = [max(len(r[i]) for r in rows) for i in range(len(HEADS))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
    for title, faults in (("not earned", result.failures if failures is None else failures), ("findings about printed forms", result.findings)):
        if faults:
            lines += ["", f"{title}:", *(f"  {id}: {fault}" for id, fault in faults)]
    if said := mutants_of(result):
        lines += ["", said]
    return "\n".join(lines) + "\n"


def to_markdown(result: AuditResult, systems: Sequence[SourceSystem] = (), changes: Changes | None = None) -> str:
    """The content of the page as Markdown, without figures and cards."""
    lines = ["# Audit", ""]
    if changes is not None:
        lines += ["## Since the earlier audit", "", *(f"- {line}" for line in changes.lines() or ["nothing rose or fell"]), ""]
    lines += ["## Mechanisms", "", *_markdown((*HEADS, "claim"), ((*cells(m, result.mutants_asked), verdict_of(m)) for m in result.mechanisms))]
    if said := mutants_of(result):
        lines += ["", f"{said}."]
    for title, faults in (("Not earned", result.failures), ("Findings about printed forms", result.findings)):
        if faults:
            lines += ["", f"## {title}", "", *(f"- `{id}`: {_flat(fault)}" for id, fault in faults)]
    if any(m.also_compared for m in result.mechanisms):
        others = ((m.id, f"{r.check.id} {r.check.title}", ", ".join(r.check.papers), _worded(r)) for m in result.mechanisms for r in m.also_compared)
        lines += ["", "## Also compared with", "", ALSO_COMPARED, "", *_markdown(("mechanism", "check", "papers", "score"), others)]
    for system in systems:
        rows = ((c.claim.module, c.claim.claimed, f"{c.derived}{' of our own form' if c.ours else ''}" if c.derived else "not run", c.claim.printed,
                 c.claim.paper and f"`{c.claim.paper}`", f"{c.claim.citation}{_keys(c.claim.corrected)}", c.claim.finding or c.claim.why_none)
                for c in compared(system, result))
        lines += ["", f"## Claims of {system.name}", "", system.scale, "",
                  *_markdown(("module", "claimed", "derived", "as printed", "in the literature", "citation", "finding"), rows), ""]
        lines += [f"- {c.place}: {_flat(c.cites)}: {c.citation}{_keys(c.corrected)}. {_flat(c.finding)}" for c in system.citations]
    return "\n".join(lines) + "\n"


def _worded(r: CheckResult) -> str:
    return str(r.score).replace("_", " ").lower()


def _keys(corrected: Sequence[str]) -> str:
    return f" ({', '.join(corrected)})" if corrected else ""


def _markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *(f"| {' | '.join(_flat(cell) for cell in row)} |" for row in rows)]


def _flat(text: str) -> str:
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")
