"""An ablation as tables: for a terminal, as plain lines, as Markdown and as LaTeX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...reporting.output import put
from ...reporting.text import in_cell, plural, visible
from ..scores.comparison import Verdict
from ..scores.metrics import METRICS
from .published import Published, Removal, published
from .result import PRIMARY, AblationResult, ArmResult
from .words import (
    beside_note,
    bibtex,
    confounded,
    expected,
    headline,
    interval_text,
    label,
    legend,
    more_short,
    number,
    p_text,
    percent,
    provenance,
    signed,
    size,
    still,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WORDS = ("arm", "verdict")  # heads of columns that are not numbers
# heads of columns that a narrow terminal leaves out, in this order
SPARE = ("BH p", "more", "ndcg@10", "mrr@10", "p", "flip p", "questions", "decided from")
STYLES = {
    Verdict.HELPS: "green",
    Verdict.HURTS: "yellow",
    Verdict.EQUIVALENT: "blue",
    Verdict.UNDECIDED: "",
    Verdict.NO_OP: "dim",
    Verdict.STATE_ONLY: "dim",
}
BESIDE = ("system", PRIMARY, "full minus it", "interval", "p, alone", "mrr@10", "ndcg@10")
PUBLISHED = ("removed there", "here", "published", "ours, 95% interval")
COSTED = (
    "CPU milliseconds an event and a query, each with the maintenance up to it, and a night; on the first conversation, without embedding. "
    "A dash: no hook there, or not measured."
)
COSTS = ("mechanism", "event", "query", "night")
GATES = ("gate", "events", "stored", "vetoed", "vetoed alone", "merged")


def heads(result: AblationResult) -> tuple[str, ...]:
    return ("arm", PRIMARY, f"{percent(result.level)} interval", "p", "Holm p", "BH p", "flip p",
            "flip Holm", "decided from", "more",
            "mrr@10", "ndcg@10", "questions", "verdict")  # fmt: skip


def _row(arm: ArmResult, digits: int = 4) -> tuple[str, ...]:
    d = arm.primary
    return (label(arm), signed(d.mean), interval_text((d.low, d.high), digits), p_text(d.p),
            p_text(d.p_holm), p_text(d.p_bh),
            p_text(d.flip_p), p_text(d.flip_p_holm), size(d.smallest),
            more_short(None if arm.no_op else d.more),
            signed(arm.differences["mrr@10"].mean), signed(arm.differences["ndcg@10"].mean),
            str(arm.n_questions_changed),
            still(arm) if arm.no_op else arm.verdict.value)  # fmt: skip


def _rows(result: AblationResult) -> list[tuple[str, ...]]:
    return [_row(arm) for arm in result.ordered()]


def _gates(result: AblationResult) -> list[tuple[str, ...]]:
    found = (
        (arm.id, arm.receipt.gate) for arm in result.ordered() if arm.receipt and arm.receipt.gate
    )
    return [
        (visible(id), *(f"{n:,}" for n in (g.judged, g.stored, g.vetoed, g.decided, g.merged)))
        for id, g in found
    ]


def beside_rows(result: AblationResult) -> list[tuple[str, ...]]:
    """Under the heads of `BESIDE`, a row for each other system that answered the same questions:
    its own metrics, and the full set minus it.
    """
    return [(visible(s.id), number(s.metrics[PRIMARY]), signed(s.primary.mean),
             interval_text((s.primary.low, s.primary.high)), p_text(s.primary.p),
             number(s.metrics["mrr@10"]), number(s.metrics["ndcg@10"])) for s in result.beside]  # fmt: skip


def known(result: AblationResult) -> Published:
    """What is published on the data set for the primary metric; without removals if no arm is
    the removal of one of their mechanisms.
    """
    found = published(result.dataset, PRIMARY)
    ids = {arm.id for arm in result.arms}
    return (
        found
        if any(id in ids for removal in found.removals for id in removal.ours)
        else replace(found, removals=())
    )


def removal_rows(
    removals: Sequence[Removal], ours: Mapping[str, tuple[float, tuple[float | None, float | None]]]
) -> list[tuple[str, str, str, str]]:
    """Under the heads of `PUBLISHED`, a row for each published removal; a dash where no mechanism
    that stands for it was removed here.

    ours  mechanism -> (its difference, its interval)

    >>> removal_rows([Removal("HDC", ("hyperdimensional_binding",), "4.3.5", 0.1)], {"hyperdimensional_binding": (0.02, (0.01, 0.03))})
    [('HDC', 'hyperdimensional_binding', '+0.1000', '+0.0200 [+0.0100, +0.0300]')]
    """
    here = {
        id: signed(value) if None in interval else f"{signed(value)} {interval_text(interval)}"
        for id, (value, interval) in ours.items()
    }
    return [
        (
            r.name,
            ", ".join(r.ours) or "none",
            signed(r.value),
            "; ".join(here[id] for id in r.ours if id in here) or "–",
        )
        for r in removals
    ]


def published_rows(result: AblationResult) -> list[tuple[str, str, str, str]]:
    """The published removals beside the arms; none for data on which nothing is published."""
    return removal_rows(
        known(result).removals,
        {arm.id: (arm.primary.mean, (arm.primary.low, arm.primary.high)) for arm in result.arms},
    )


def cost_rows(result: AblationResult) -> list[tuple[str, ...]]:
    """Under the heads of `COSTS`, CPU milliseconds of each mechanism."""
    return [
        (visible(c.mechanism), *(number(ms, 3) for ms in (c.event, c.query, c.night)))
        for c in result.costs
    ]


def title(result: AblationResult) -> str:
    asked = f"{plural(result.n_questions, 'question')}, {plural(result.n_conversations, 'conversation')}"
    return visible(
        f"Ablation of {result.set_name} on {result.dataset}: {asked}, {PRIMARY} {number(result.baseline.get(PRIMARY))}"
    )


def said(result: AblationResult) -> str:
    """The headline as plain text."""
    return "".join(text for text, _ in headline(result))


def _footnotes(result: AblationResult) -> list[str]:
    return [f"{visible(arm.id)}: {confounded(arm)}." for arm in result.ordered() if arm.silenced]


# ---- terminal and pipes


def to_table(result: AblationResult) -> Table:
    """The result for a terminal."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    under = "\n".join((said(result), *_footnotes(result), *legend(result)))
    table = Table(
        title=Text(title(result)),
        caption=Text(under),
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
    )
    for name in heads(result):
        table.add_column(
            Text(name),
            justify="left" if name in WORDS else "right",
            overflow="fold",
            no_wrap=name != "arm",
        )
    for arm in result.ordered():
        row = _row(arm, 3)
        table.add_row(
            *(Text(value) for value in row[:-1]),
            Text(arm.verdict.value, style=STYLES[arm.verdict]),
            style="dim" if arm.no_op else None,
        )
    return table


def to_lines(result: AblationResult) -> list[str]:
    """The same as plain lines for pipes and logs: a title, tab-separated values, the conclusion,
    notes and a legend; signs and dashes in ASCII.
    """
    ascii_signs = str.maketrans(
        {"−": "-", "–": "-", "±": "+/-", "†": "*", "“": '"', "”": '"', "\ufffd": "?"}
    )
    beside = (
        [beside_note(result), "\t".join(BESIDE), *("\t".join(row) for row in beside_rows(result))]
        if result.beside
        else []
    )
    lines = [
        title(result),
        "\t".join(heads(result)),
        *("\t".join(row) for row in _rows(result)),
        said(result),
        *_footnotes(result),
        *legend(result),
        *beside,
    ]
    return [line.translate(ascii_signs) for line in lines]


def show(result: AblationResult, console: Console) -> None:
    """Print a table in a terminal, plain lines anywhere else."""
    if console.is_terminal:
        console.print(to_table(result))
    else:
        # console.print would wrap lines and turn tabs into spaces
        put("\n".join(to_lines(result)))


# ---- Markdown


def to_markdown(result: AblationResult) -> str:
    """The same as Markdown; ids are escaped so that they show as they are."""
    beside = (
        [in_cell(beside_note(result)), _markdown(BESIDE, beside_rows(result))]
        if result.beside
        else []
    )
    parts = [
        f"**{in_cell(title(result))}**",
        in_cell(said(result)),
        _markdown(heads(result), _rows(result)),
        *beside,
        *(in_cell(each) for each in _footnotes(result)),
        "\n".join(f"- {in_cell(each)}" for each in legend(result)),
    ]
    if sentences := expected(result):
        parts += [
            "**What this design can detect**, printed before the run",
            "\n".join(f"- {in_cell(each)}" for each in sentences),
        ]
    if gates := _gates(result):
        parts += [
            "**Admission**, in the full run: events, those that were stored, those that the gate voted against and that its vote alone "
            "rejected, and stored events that it marked as repetitions",
            _markdown(GATES, gates),
        ]
    if rows := published_rows(result):
        parts += [
            in_cell(
                f"**Beside published numbers**: {known(result).source}, all minus without, no interval"
            ),
            _markdown(PUBLISHED, rows),
        ]
    if spent := cost_rows(result):
        parts += [f"**Cost of each mechanism**: {COSTED}", _markdown(COSTS, spent)]
    parts += [
        "**Provenance**",
        "\n".join(f"- {name}: {in_cell(value)}" for name, value in provenance(result)),
    ]
    if entries := bibtex(result):
        fence = "`" * 3
        while fence in entries:
            fence += "`"
        parts += [
            "**References** of exactly what was used",
            f"{fence}bibtex\n{entries.rstrip()}\n{fence}",
        ]
    return "\n\n".join(parts) + "\n"


def _markdown(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = (
        "|"
        + "|".join(
            ":--" if name in (*WORDS, "gate", "system", "mechanism", *PUBLISHED[:2]) else "--:"
            for name in names
        )
        + "|"
    )
    return "\n".join(
        [
            "| " + " | ".join(names) + " |",
            rule,
            *("| " + " | ".join((in_cell(row[0]), *row[1:])) + " |" for row in rows),
        ]
    )


# ---- LaTeX

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\`{}",
    '"': "''",
    "[": "{[}",
    "]": "{]}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "−": "$-$",
    "–": "--",
    "±": r"$\pm$",
    "†": r"$^\dagger$",
    "“": "``",
    "”": "''",
    "\ufffd": "?",
    **{char: f"\\{char}" for char in "&%$#_{}"},
}


def latex_text(text: str) -> str:
    r"""Text as LaTeX of any engine shows it.

    >>> latex_text("a_b −0.1 †")
    'a\\_b $-$0.1 $^\\dagger$'
    """
    return "".join(_LATEX.get(char, char) for char in visible(text))


def to_latex(result: AblationResult) -> str:
    """Two tables for `\\input`: the tests of the primary metric, and the differences of all
    metrics.  They need no package.
    """
    kept = [
        i
        for i, name in enumerate(heads(result))
        if name not in ("p", "BH p", "flip p", "more", "mrr@10", "ndcg@10", "questions")
    ]
    tests, *first = [[row[i] for i in kept] for row in (heads(result), *_rows(result))]
    second = [
        (label(arm), *(signed(arm.differences[name].mean) for name in METRICS))
        for arm in result.ordered()
    ]
    caption = " ".join((f"{title(result)}.", said(result), *_footnotes(result), *legend(result)))
    comment = "\n".join(f"% {name}: {visible(value)}" for name, value in provenance(result))
    all_metrics = f"{title(result)}. Differences of all metrics, full minus arm."
    beside = (
        [
            _tabular(
                BESIDE,
                beside_rows(result),
                f"{title(result)}. {beside_note(result)}",
                "tab:ablation-beside",
            )
        ]
        if result.beside
        else []
    )
    return (
        "\n\n".join(
            [
                comment,
                _tabular(tests, first, caption, "tab:ablation"),
                _tabular(("arm", *METRICS), second, all_metrics, "tab:ablation-metrics"),
                *beside,
            ]
        )
        + "\n"
    )


def _tabular(names: Sequence[str], rows: Sequence[Sequence[str]], caption: str, mark: str) -> str:
    columns = "".join("l" if name in (*WORDS, "system") else "r" for name in names)
    lines = [" & ".join(map(latex_text, row)) + r" \\" for row in (names, *rows)]
    return "\n".join([r"\begin{table}", r"\centering", rf"\caption{{{latex_text(caption)}}}",
                      rf"\label{{{mark}}}",
                      rf"\begin{{tabular}}{{{columns}}}", r"\hline", lines[0], r"\hline",
                      *lines[1:], r"\hline", r"\end{tabular}", r"\end{table}"])  # fmt: skip
