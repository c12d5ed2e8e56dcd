"""An audit result as JSON, as a table for the terminal, as plain text, as Markdown and as LaTeX.
The page of HTML is in page.py.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from .. import __version__
from ..engine.catalogue.registry import Entry, Registry
from ..reporting import latex
from ..reporting.text import plural
from .changes import RatingChanges
from .checks import CheckResult
from .provenance import Provenance, citation, facts
from .run import NOT_RATED, AuditResult, Fate, MechanismResult
from .sources import SourceSystem
from .sources.compared import ComparedClaim, compared
from .weights import MeasuredWeight, shipped

FORMAT = "hebbarium.audit/1"  # of audit.json, as audit.schema.json describes it


def to_json(
    result: AuditResult,
    registry: Registry | None = None,
    systems: Sequence[SourceSystem] = (),
    provenance: Provenance | None = None,
) -> dict[str, Any]:
    """The whole result as plain JSON values; NaN and infinities, which JSON lacks, as words.

    registry    adds each mechanism's registry entry
    systems     source systems, whose claims are added
    provenance  adds how the audit was made, how to cite it, and BibTeX
    """
    return {
        "format": FORMAT,
        "version": __version__,
        "registry": registry.digest if registry else "",
        "provenance": provenance.to_json() if provenance else None,
        "summary": summary(result),
        "counts": asdict(counts(result)),
        "citation": citation(provenance) if provenance else "",
        "bibtex": provenance.made.bibtex if provenance else "",
        "exit_code": result.exit_code,
        "mutants_asked": result.mutants_asked,
        "mutants_run": result.mutants_run,
        "mutants_rejected": result.mutants_rejected,
        "failures": [{"mechanism": id, "fault": fault} for id, fault in result.failures],
        "findings": [{"mechanism": id, "fault": fault} for id, fault in result.findings],
        "mechanisms": [
            _mechanism_json(m, registry.entries.get(m.id) if registry else None)
            for m in result.mechanisms
        ],
        "sources": [_system_json(s, result) for s in systems],
    }


def _mechanism_json(m: MechanismResult, entry: Entry | None) -> dict[str, Any]:
    return {
        "id": m.id, "variety_of": m.variety_of, "papers": list(m.papers),
        "label": _label(entry) if entry else None,
        "claimed": m.claim, "derived": str(m.verdict.rating), "earned": m.earned,
        "reasons": list(m.verdict.reasons), "raise_by": list(m.verdict.raise_by),
        "lowered_by": list(m.verdict.lowered_by),
        "stands_on": list(m.verdict.stands_on), "passed": m.passed, "gating": m.gating,
        "checks": [_check_json(r) for r in m.checks],
        "also_compared": [_check_json(r) for r in m.also_compared],
        "static": [_check_json(r) for r in m.static],
        "mutants": [{"name": x.name, "rejected_by": x.rejected_by, "rival": x.rival,
                     "fate": str(x.fate),
                     "note": x.note} for x in m.mutants],
        "figures": [{"name": p.name, "caption": p.caption, "source": p.source,
                     "note": p.note} for p in m.pictures],
        "facts": [{"kind": str(f.kind), "about": f.about, "what": f.what,
                   "source": f.source} for f in m.facts],
        "behaviour": [{"probe": p.probe, "verdicts": dict(p.verdicts), "control": p.control}
                      for p in m.behaviour],
        "hooks": [{"name": h.name, "phase": h.phase, "checks": list(h.checks),
                   "time_scales": list(h.scales)}
                  for h in m.reach.hooks] if m.reach else [],
        "reached": [{"equation": e.id, "path": list(e.path),
                     "library": e.library} for e in m.reach.equations] if m.reach else [],
        "generated": {"shares": {str(g): {"rejected": s.rejected, "of": s.of} for g,
                                 s in m.generated.shares.items()}, "commit": m.generated.commit,
                      "survivors": [{"id": id, "change": change} for id,
                                    change in m.generated.survivors]} if m.generated else None,
    }  # fmt: skip


def _check_json(r: CheckResult) -> dict[str, Any]:
    return {
        "id": r.check.id, "kind": str(r.check.kind), "what": r.check.title,
        "source": r.check.source, "papers": list(r.check.papers),
        "subjects": r.check.subjects,
        "figure": r.check.figure,
        "gates": r.check.gates, "score": str(r.score), "measured": _json(r.measured),
        "expected": _json(r.expected),
        "atol": r.check.atol, "rtol": r.check.rtol, "note": r.note, "seconds": r.seconds,
    }  # fmt: skip


def _label(entry: Entry) -> dict[str, Any]:
    return {
        "home": entry.home, "summary": entry.summary, "acts_on": entry.acts_on,
        "claimed_by": entry.claimed_by, "time_scale": entry.time_scale,
        "equations": [e.model_dump() for e in entry.equations],
        "parameters": [{"name": name, **p.model_dump(mode="json")} for name,
                       p in entry.params.items()],
        "departures": [d.model_dump(mode="json") for d in entry.departures],
        "proxies": [p.model_dump() for p in entry.proxies],
        "forms": [f.model_dump() for f in entry.forms],
        "departs_from_source": entry.departs_from_source,
    }  # fmt: skip


def _system_json(system: SourceSystem, result: AuditResult) -> dict[str, Any]:
    return {
        "name": system.name,
        "key": system.key,
        "scale": system.scale,
        "claims": [
            {
                **c.claim.model_dump(mode="json"),
                "derived": str(c.derived) if c.derived else None,
                "stands": c.stands,
                "why": list(c.why),
            }
            for c in compared(system, result)
        ],
        "citations": [c.model_dump(mode="json") for c in system.citations],
    }


def _json(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, complex):
        return {"real": _json(value.real), "imag": _json(value.imag)}
    return [_json(v) for v in value] if isinstance(value, tuple) else value


# --- the table of mechanisms ----------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of the table of mechanisms, of every form of report.

    text     the cell of a mechanism
    order    number by which a reader sorts; None: by the text
    printed  whether LaTeX has it: a page of paper is narrow
    """

    head: str
    text: Callable[[MechanismResult, AuditResult], str]
    order: Callable[[MechanismResult], float] | None = None
    printed: bool = True


def _mutants(m: MechanismResult, result: AuditResult) -> str:
    run = [x for x in m.mutants if x.fate is not Fate.NOT_RUN]
    return (
        f"{sum(x.rejected for x in run)}/{len(run)}" if result.mutants_asked and m.mutants else "-"
    )


def _first_failing(m: MechanismResult, _: AuditResult) -> str:
    first = m.first_failing
    return f"{first.check.id} {first.check.title}" if first else "-"


def _part(counts: tuple[int, int]) -> str:
    return f"{counts[0]}/{counts[1]}" if counts[1] else "-"


def _ratio(counts: tuple[int, int]) -> float:
    return counts[0] / counts[1] if counts[1] else -1.0


def _generated(m: MechanismResult, _: AuditResult) -> str:
    """Share of the last full run, rounded down."""
    return f"{math.floor(100.0 * m.generated.whole.value)}%" if m.generated else "-"


def _weight(m: MechanismResult, _: AuditResult) -> str:
    weight = _weight_of(m)
    return (
        "-"
        if weight is None
        else f"{weight.share_text}, inert"
        if weight.inert
        else weight.share_text
    )


def _weight_of(m: MechanismResult) -> MeasuredWeight | None:
    weights = shipped()
    return weights.of(m.id) if weights else None


def verdict_of(m: MechanismResult) -> str:
    """In a word: earned, unearned (our own claim), finding (a source system's), or not rated."""
    return (
        ("earned" if m.rated else NOT_RATED)
        if m.earned
        else "finding"
        if m.variety_of
        else "unearned"
    )


COLUMNS = (
    TableColumn("mechanism", lambda m, _: m.id),
    TableColumn("claimed", lambda m, _: m.claim, lambda m: m.claimed.strength),
    TableColumn("derived", lambda m, _: str(m.verdict.rating), lambda m: m.verdict.rating.strength),
    TableColumn("checks", lambda m, _: f"{m.passed}/{m.gating}", lambda m: m.passed),
    TableColumn("mutants", _mutants, lambda m: sum(x.rejected for x in m.mutants)),
    TableColumn("hooks", lambda m, _: _part(m.hooks_checked), lambda m: _ratio(m.hooks_checked),
           printed=False),
    TableColumn("equations", lambda m, _: _part(m.equations_reached),
           lambda m: _ratio(m.equations_reached), printed=False),
    TableColumn("generated", _generated, lambda m: m.generated.whole.value if m.generated else -1.0,
           printed=False),
    TableColumn("weight", _weight, lambda m: (w.share or 0.0) if (w := _weight_of(m)) else -1.0,
           printed=False),
    TableColumn("behaviour", lambda m, _: _part(m.behaviour_shown), lambda m: _ratio(m.behaviour_shown),
           printed=False),
    TableColumn("first failing check", _first_failing, printed=False),
)  # fmt: skip
# which the terminal shows by colour and by the list below its table
CLAIM = TableColumn("claim", lambda m, _: verdict_of(m))


ALSO_COMPARED = "Checks of papers that the source of a printed form does not cite; they do not count for its rating."


def mutants_of(result: AuditResult) -> str:
    """How many of all mutants that ran were rejected, as a sentence; empty if none ran."""
    return (
        f"{result.mutants_rejected} of {result.mutants_run} mutants rejected"
        if result.mutants_asked and result.mutants_run
        else ""
    )


def of_commits(result: AuditResult) -> str:
    """Of which commits the figures are that this audit shows and has not measured, as a
    sentence; empty if it shows none.
    """
    weights, judged = (
        shipped(),
        Counter(m.generated.commit for m in result.mechanisms if m.generated),
    )
    parts = (
        [f"weights of commit {weights.commit or 'unknown'}"]
        if weights and any(map(_weight_of, result.mechanisms))
        else []
    )
    named = [
        f"{name or 'unknown'} ({plural(count, 'mechanism')})"
        if len(judged) > 1
        else name or "unknown"
        for name, count in judged.most_common()
    ]
    parts += (
        [f"mutation shares of commit{'s' * (len(judged) > 1)} {', '.join(named)}"] if judged else []
    )
    return f"Measured before this audit: {'; '.join(parts)}." if parts else ""


@dataclass(frozen=True, slots=True)
class Counts:
    """The audit in numbers.

    checks             of the evidence; the static checks, which are the same for all mechanisms,
                       are not counted
    ours, earned       mechanisms of our own, and those of them whose claim is earned
    printed, unearned  printed forms that their source system rates, and those of them whose claim
                       is not earned
    """

    mechanisms: int
    checks: int
    mutants_run: int
    mutants_rejected: int
    ours: int
    earned: int
    printed: int
    unearned: int


def counts(result: AuditResult) -> Counts:
    """Count them."""
    earned, by_source = (
        [m.earned for m in result.mechanisms if bool(m.variety_of) is varied and m.rated]
        for varied in (False, True)
    )
    return Counts(
        len(result.mechanisms),
        sum(len(m.checks) + len(m.also_compared) for m in result.mechanisms),
        result.mutants_run,
        result.mutants_rejected,
        len(earned),
        earned.count(True),
        len(by_source),
        by_source.count(False),
    )


def summary(result: AuditResult) -> str:
    """The audit in one sentence, to be quoted."""
    n = counts(result)
    tested = f"{plural(n.mechanisms, 'memory mechanism')} {'was' if n.mechanisms == 1 else 'were'} tested by {plural(n.checks, 'check')}"
    mutants = f", which reject {n.mutants_rejected:,} of {plural(n.mutants_run, 'mutant')} (wrong versions made on purpose)"
    ours = f"{n.earned} of {plural(n.ours, 'claim')} of our own {'is' if n.ours == 1 else 'are'} earned"
    forms = plural(n.printed, "printed form")
    printed = f"{n.unearned} of {forms} that source systems rate {'does' if n.printed == 1 else 'do'} not earn the claimed rating"
    claims = ", and ".join([ours] * bool(n.ours) + [printed] * bool(n.printed))
    return f"In Hebbarium {__version__}, {tested}{mutants if n.mutants_run else ''}{'; ' if claims else ''}{claims}."


# --- the forms ------------------------------------------------------------------------------------
def table(result: AuditResult) -> Table:
    """One row a mechanism, claimed rating beside derived."""
    styles = {"earned": "green", "finding": "yellow", "unearned": "bold red", NOT_RATED: ""}
    drawn = Table(*(c.head for c in COLUMNS), title="Audit")
    for m in result.mechanisms:
        # Text: a title may hold square brackets
        row = [Text(c.text(m, result)) for c in COLUMNS]
        row[2].stylize(styles[verdict_of(m)])
        drawn.add_row(*row)
    return drawn


def plain(result: AuditResult, failures: Sequence[tuple[str, str]] | None = None) -> str:
    """The same as plain text for logs and pipes; the same result gives the same text.

    failures  faults to list as not earned; None: those of the result
    """
    rows = [
        [c.head for c in COLUMNS],
        *([c.text(m, result) for c in COLUMNS] for m in result.mechanisms),
    ]
    widths = [max(len(r[i]) for r in rows) for i in range(len(COLUMNS))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
    for title, faults in (
        ("not earned", result.failures if failures is None else failures),
        ("findings about printed forms", result.findings),
    ):
        if faults:
            lines += ["", f"{title}:", *(f"  {id}: {fault}" for id, fault in faults)]
    if said := mutants_of(result):
        lines += ["", said]
    return "\n".join(lines) + "\n"


def reached(result: AuditResult) -> Iterator[str]:
    """Hooks with their engine checks, claimed equations with the path to them, and the facts
    that lower, as lines of text.
    """
    for m in result.mechanisms:
        if m.reach:
            yield f"{m.id}:"
            for hook in m.reach.hooks:
                scales = ", ".join(f"{s:g}" for s in hook.scales)
                yield (
                    f"  hook {hook.name} ({hook.phase}): {', '.join(hook.checks)}; time_scale {scales}"
                    if hook.checks
                    else f"  hook {hook.name} ({hook.phase}): no engine check"
                )
            for e in m.reach.equations:
                yield f"  equation {e.id}: {' > '.join(e.path) or 'library'}{', no part of the claim' if e.library else ''}"
            yield from (f"  {fact.kind}: {fact.what}" for fact in m.facts)


def to_markdown(
    result: AuditResult,
    systems: Sequence[SourceSystem] = (),
    changes: RatingChanges | None = None,
    provenance: Provenance | None = None,
) -> str:
    """The content of the page as Markdown, without figures and cards."""
    lines = [
        "# Audit",
        "",
        summary(result),
        "",
        *([f"Cite as: {citation(provenance)}", ""] if provenance else []),
    ]
    if changes is not None:
        lines += [
            "## Since the earlier audit",
            "",
            *(f"- {line}" for line in changes.lines() or ["nothing rose or fell"]),
            "",
        ]
    columns = (*COLUMNS, CLAIM)
    lines += [
        "## Mechanisms",
        "",
        *_markdown(
            [c.head for c in columns],
            ([c.text(m, result) for c in columns] for m in result.mechanisms),
        ),
    ]
    if said := mutants_of(result):
        lines += ["", f"{said}."]
    if before := of_commits(result):
        lines += ["", before]
    for title, faults in (
        ("Not earned", result.failures),
        ("Findings about printed forms", result.findings),
    ):
        if faults:
            lines += ["", f"## {title}", "", *(f"- `{id}`: {_flat(fault)}" for id, fault in faults)]
    if any(m.also_compared for m in result.mechanisms):
        others = (
            (m.id, f"{r.check.id} {r.check.title}", ", ".join(r.check.papers), _worded(r))
            for m in result.mechanisms
            for r in m.also_compared
        )
        lines += [
            "",
            "## Also compared with",
            "",
            ALSO_COMPARED,
            "",
            *_markdown(("mechanism", "check", "papers", "score"), others),
        ]
    for system in systems:
        rows = ((c.claim.module, c.claim.claimed, _derived(c), c.claim.printed,
                 c.claim.paper and f"`{c.claim.paper}`",
                 f"{c.claim.citation}{_keys(c.claim.corrected)}",
                 c.claim.finding or c.claim.why_none)
                for c in compared(system, result))  # fmt: skip
        lines += ["", f"## Claims of {system.name}", "", system.scale, "",
                  *_markdown(("module", "claimed", "derived", "as printed", "in the literature",
                              "citation", "finding"), rows), ""]  # fmt: skip
        lines += [
            f"- {c.place}: {_flat(c.cites)}: {c.citation}{_keys(c.corrected)}. {_flat(c.finding)}"
            for c in system.citations
        ]
    if provenance:
        lines += [
            "",
            "## Provenance",
            "",
            *_markdown(("", ""), facts(provenance, result.mutants_asked)),
            "",
            f"`audit.bib` has the BibTeX of the {plural(len(provenance.papers), 'paper')} of these mechanisms.",
        ]
    return "\n".join(lines) + "\n"


def to_latex(
    result: AuditResult, systems: Sequence[SourceSystem] = (), provenance: Provenance | None = None
) -> str:
    """The tables of mechanisms and of the claims of source systems, for \\input in a paper."""
    columns = [c for c in (*COLUMNS, CLAIM) if c.printed]
    parts = [
        latex.NEEDS
        + "".join(
            f"% {line}\n"
            for line in (summary(result), citation(provenance) if provenance else "")
            if line
        ),
        latex.longtable(
            [c.head for c in columns],
            ([c.text(m, result) for c in columns] for m in result.mechanisms),
            caption="Mechanisms: rating claimed, and rating derived from checks.",
            label="tab:audit-mechanisms",
            widths=latex.broken(0.34) + "l" * (len(columns) - 1),
        ),
    ]
    parts += [
        latex.longtable(
            ("module", "claimed", "derived", "citation", "place"),
            (
                (c.claim.module, c.claim.claimed, _derived(c), c.claim.citation, c.claim.place)
                for c in compared(system, result)
            ),
            caption=f"Claims of {system.name}, and the rating derived for the form it prints.",
            label=f"tab:audit-{system.key}",
            widths="".join(map(latex.broken, (0.26, 0.18, 0.17, 0.12, 0.17))),
        )
        for system in systems
    ]
    return "\n".join(parts)


def _derived(c: ComparedClaim) -> str:
    return f"{c.derived}{' of our own form' if c.ours else ''}" if c.derived else "not run"


def _worded(r: CheckResult) -> str:
    return str(r.score).replace("_", " ").lower()


def _keys(corrected: Sequence[str]) -> str:
    return f" ({', '.join(corrected)})" if corrected else ""


def _markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
        *(f"| {' | '.join(_flat(cell) for cell in row)} |" for row in rows),
    ]


def _flat(text: str) -> str:
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")
