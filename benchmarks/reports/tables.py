"""A design as tables: for a terminal, as plain lines, as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import stdev
from typing import TYPE_CHECKING, Final

from ...engine.catalogue.registry import Registry
from ...reporting.claims import HEADS, Beside, beside, our_setting, published_numbers
from ...reporting.latex import NEEDS, broken, longtable
from ...reporting.output import put
from ...reporting.text import in_cell, plural, visible
from ..scores.comparison import Verdict
from .grid import SCOPE_HEADS, cell_rows, grids, scope_rows
from .published import Published, Removal, published
from .result import CONVERSATIONS, REMOVED, BlockResult, DesignFacts, DesignResult, Estimate
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
    verdict_text,
    with_own_data,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# heads of columns that are not numbers
WORDS: Final = ("arm", "estimate", "kind", "verdict", "beyond", "gate", "system", "mechanism",
                "removed there", "here")  # fmt: skip
# heads of columns that a narrow terminal leaves out, in this order
SPARE = (
    "kind",
    "BH p",
    "more",
    "ndcg@10",
    "mrr@10",
    "p",
    "flip p",
    "flip RW",
    "questions",
    "McNemar p",
    "won : lost",
    "decided from",
    "interval here",
    "flip Holm",
    "p here",
)
EXTRA: Final = ("mrr@10", "ndcg@10")  # metrics beside the primary one
FIELDS: Final = ("block", "estimate", "kind", "metric", "value", "low", "high", "p", "p_holm",
                 "p_bh", "more", "seed_sd", "here_low", "here_high", "here_p", "here_p_rw",
                 "here_p_gated", "flip_p_rw", "won", "lost", "mcnemar_p", "verdict_here", "verdict")  # fmt: skip
STYLES = {
    Verdict.HELPS: "green",
    Verdict.HURTS: "yellow",
    Verdict.EQUIVALENT: "blue",
    Verdict.UNDECIDED: "",
    Verdict.NO_OP: "dim",
    Verdict.STATE_ONLY: "dim",
}
PUBLISHED = ("removed there", "here", "published", "ours, 95% interval")
COSTED = (
    "CPU milliseconds an event and a query, each with the maintenance up to it, and a night; on the first conversation, without embedding. "
    "A dash: no hook there, or not measured."
)
COSTS = ("mechanism", "event", "query", "night")
GATES = ("gate", "events", "stored", "vetoed", "vetoed alone", "merged")


def extra(result: BlockResult) -> tuple[str, ...]:
    """Metrics that stand beside the primary one, where they were measured."""
    measured = result.estimates[0].differences if result.estimates else EXTRA
    return tuple(name for name in EXTRA if name in measured and name != result.metric)


def _kinds(result: BlockResult) -> bool:
    """Whether the estimates need a column that says what each is."""
    return not result.removes


HERE: Final = ("interval here", "p here")
PAIRED: Final = ("won : lost", "McNemar p")  # questions that the mechanism wins and loses


def _scoped(result: BlockResult) -> tuple[str, ...]:
    """Heads of the columns for these conversations; () if they were not tested."""
    return HERE if any(arm.here for arm in result.estimates) else ()


def heads(result: BlockResult) -> tuple[str, ...]:
    first = ("estimate", "kind") if _kinds(result) else ("arm",)
    return (*first, result.metric, f"{percent(result.facts.level)} interval", "p", "Holm p",
            "BH p", "flip p", "flip Holm", "flip RW", "decided from", "more", *extra(result), "questions", *PAIRED,
            *_scoped(result), "verdict")  # fmt: skip


def _row(arm: Estimate, result: BlockResult, digits: int = 4) -> tuple[str, ...]:
    d = arm.primary
    return (label(arm), *((visible(arm.kind),) if _kinds(result) else ()),
            f"{signed(d.mean)}{_over_seeds(arm)}", interval_text((d.low, d.high), digits),
            p_text(d.p), p_text(d.p_holm), p_text(d.p_bh), p_text(d.flip_p), p_text(d.flip_p_holm),
            p_text(arm.flip_p_rw), size(d.smallest), more_short(None if arm.no_op else d.more),
            *(signed(arm.differences[name].mean) for name in extra(result)),
            str(arm.n_questions_changed), f"{arm.n_helped} : {arm.n_hurt}", p_text(arm.mcnemar_p),
            *((interval_text((h.low, h.high), digits), p_text(h.p_rw))
              if (h := arm.here) else ("–", "–") if _scoped(result) else ()),
            still(arm) if arm.no_op else verdict_text(arm, result))  # fmt: skip


def _over_seeds(arm: Estimate) -> str:
    return "" if arm.seed_sd is None else f" (seeds: sd {arm.seed_sd:.4f})"


def _rows(result: BlockResult) -> list[tuple[str, ...]]:
    return [_row(arm, result) for arm in result.ordered()]


def _gates(result: BlockResult) -> list[tuple[str, ...]]:
    gates = (
        (arm.name, arm.receipt.gate) for arm in result.ordered() if arm.receipt and arm.receipt.gate
    )
    return [
        (visible(id), *(f"{n:,}" for n in (g.judged, g.stored, g.vetoed, g.decided, g.merged)))
        for id, g in gates
    ]


def beside_heads(result: BlockResult) -> tuple[str, ...]:
    return ("system", result.metric, f"{result.reference} minus it", "interval", "p, alone",
            *extra(result))  # fmt: skip


def beside_rows(result: BlockResult) -> list[tuple[str, ...]]:
    """Under the heads of `beside_heads`, a row for each other system that answered the same
    questions: its own metrics, and the reference minus it.
    """
    return [
        (
            visible(s.id),
            number(s.metrics.get(result.metric)),
            signed(s.primary.mean),
            interval_text((s.primary.low, s.primary.high)),
            p_text(s.primary.p),
            *(number(s.metrics[name]) for name in extra(result)),
        )
        for s in result.beside
    ]


def known(result: BlockResult) -> Published:
    """What is published on the data set for the primary metric; without removals if no arm is
    the removal of one of their mechanisms.
    """
    known_values = published(result.dataset, result.metric)
    ids = {arm.name for arm in result.estimates if arm.kind == REMOVED}
    return (
        known_values
        if any(id in ids for removal in known_values.removals for id in removal.ours)
        else replace(known_values, removals=())
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


def published_rows(result: BlockResult) -> list[tuple[str, str, str, str]]:
    """The published removals beside the arms; none for data on which nothing is published."""
    return removal_rows(
        known(result).removals,
        {
            arm.name: (arm.primary.mean, (arm.primary.low, arm.primary.high))
            for arm in result.estimates
            if arm.kind == REMOVED
        },
    )


def claims_beside(result: BlockResult) -> list[Beside]:
    """What is published on the data set for the design's set and its arms, in the primary
    metric, beside the arms here; none for data or a set on which nothing is published.
    """
    if not any(
        n.set == result.facts.set and n.table.dataset == result.dataset for n in published_numbers()
    ):
        return []
    known_set = Registry.installed().sets.get(result.facts.set)
    held = result.provenance
    numbers = [n for n in published_numbers() if n.set == result.facts.set]
    return [
        row
        for arm, mean in result.means.items()
        for row in beside(
            our_setting(
                result.facts.set,
                known_set.summary if known_set else "",
                held.get("mechanisms", ()),
                result.dataset,
                result.n_questions,
                # the model's own name; the block has it as `--embedder` takes it
                str(held.get("embedder") or result.embedder),
                sessions="session" in (held.get("match"), held.get("unit")),
                conversations=held.get("conversations", ()),
                arm="" if arm == result.reference else arm,
            ),
            {result.metric: mean},
            numbers=numbers,
        )
    ]


def cost_rows(result: DesignResult) -> list[tuple[str, ...]]:
    """Under the heads of `COSTS`, CPU milliseconds of each mechanism."""
    return [
        (visible(c.mechanism), *(number(ms, 3) for ms in (c.event, c.query, c.night)))
        for c in result.costs
    ]


def heading(facts: DesignFacts) -> str:
    """What the design is."""
    named = "" if facts.name == facts.kind else f"{facts.name}: "
    return visible(f"{named}{facts.kind} of {facts.set}")


def title(result: BlockResult) -> str:
    """What a block of the design is."""
    asked = (
        f"{plural(result.n_questions, 'question')}, {plural(result.n_conversations, 'conversation')}"
        if result.clusters == CONVERSATIONS
        else result.size
    )
    facts = result.facts
    what = f"Ablation of {facts.set}" if result.removes else heading(facts)
    return visible(
        f"{what} on {result.dataset}{f' ({result.name})' if result.name not in ('', result.dataset) else ''}: {asked}, "
        f"{result.metric} {number(result.means.get(result.reference))}"
    )


def said(result: BlockResult) -> str:
    """The headline as plain text."""
    return "".join(text for text, _ in headline(result))


def _footnotes(result: BlockResult) -> list[str]:
    return [f"{visible(arm.name)}: {confounded(arm)}." for arm in result.ordered() if arm.silenced]


# ---- terminal and pipes


def to_table(result: BlockResult) -> Table:
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
    # short words instead of a sentence: a terminal is narrow
    scoped = bool(_scoped(result))
    for name in (*heads(result)[:-1], *(("here", "beyond") if scoped else ("verdict",))):
        table.add_column(
            Text(name),
            justify="left" if name in WORDS else "right",
            overflow="fold",
            no_wrap=name not in ("arm", "estimate", "kind"),
        )
    for arm in result.ordered():
        row = _row(arm, result, 3)
        table.add_row(
            *(Text(value) for value in row[:-1]),
            *(
                Text(word.value if word else "", style=STYLES[word or arm.verdict])
                for word in ((arm.verdict_here, arm.verdict) if scoped else (arm.verdict,))
            ),
            style="dim" if arm.no_op else None,
        )
    return table


def to_lines(result: BlockResult) -> list[str]:
    """The same as plain lines for pipes and logs: a title, tab-separated values, the conclusion,
    notes and a legend; signs and dashes in ASCII.
    """
    ascii_signs = str.maketrans(
        {"−": "-", "–": "-", "±": "+/-", "†": "*", "“": '"', "”": '"', "\ufffd": "?"}
    )
    beside = (
        [
            beside_note(result),
            "\t".join(beside_heads(result)),
            *("\t".join(row) for row in beside_rows(result)),
        ]
        if result.beside
        else []
    )
    if claims := claims_beside(result):
        beside += [
            "published next to measured",
            "\t".join(HEADS),
            *("\t".join(row.row()) for row in claims),
        ]
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


def show(result: BlockResult, console: Console) -> None:
    """Print a table in a terminal, plain lines anywhere else."""
    if console.is_terminal:
        console.print(to_table(result))
    else:
        # console.print would wrap lines and turn tabs into spaces
        put("\n".join(to_lines(result)))


# ---- Markdown


def to_markdown(result: DesignResult) -> str:
    """The tables of every block as Markdown; names are escaped so that they show as they are."""
    parts = [f"# {in_cell(heading(result.facts))}"]
    parts += [in_cell(result.facts.summary)] if result.facts.summary else []
    for block in result.blocks:
        parts += [f"## {in_cell(block.title)}"] if len(result.blocks) > 1 else []
        parts += _of_block(block)
    for grid in grids(result):
        parts += [
            f"**Grid on {in_cell(grid.dataset)}**: {in_cell(result.facts.metric)} of every cell, and what its component moves",
            _markdown(*cell_rows(grid)),
            _markdown(SCOPE_HEADS, scope_rows(grid)),
        ]
    if commands := with_own_data(result.blocks[0]):
        parts += ["Next, with your own chats:", "\n".join(f"    {line}" for line in commands)]
    if result.notes or result.excluded:
        parts.append(
            "\n".join(
                [
                    *(f"- {in_cell(note)}" for note in result.notes),
                    *(
                        f"- left out: {in_cell(id)}: {in_cell(why)}"
                        for id, why in result.excluded.items()
                    ),
                ]
            )
        )
    if spent := cost_rows(result):
        parts += [f"**Cost of each mechanism**: {COSTED}", _markdown(COSTS, spent)]
    for block in result.blocks:
        of = f" of {in_cell(block.title)}" if len(result.blocks) > 1 else ""
        parts += [
            f"**Provenance**{of}",
            "\n".join(
                f"- {name}: {in_cell(value)}" for name, value in provenance(block, result.made)
            ),
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


def _of_block(block: BlockResult) -> list[str]:
    """The tables of one block."""
    parts = [
        f"**{in_cell(title(block))}**",
        in_cell(said(block)),
        _markdown(heads(block), _rows(block)),
        *(in_cell(footnote) for footnote in _footnotes(block)),
        "\n".join(f"- {in_cell(line)}" for line in legend(block)),
    ]
    if block.beside:
        parts[3:3] = [
            in_cell(beside_note(block)),
            _markdown(beside_heads(block), beside_rows(block)),
        ]
    if sentences := expected(block):
        parts += [
            "**What this design can detect**, printed before the run",
            "\n".join(f"- {in_cell(sentence)}" for sentence in sentences),
        ]
    if gates := _gates(block):
        parts += [
            "**Admission**, in the full run: events, those that were stored, those that the gate voted against and that its vote alone "
            "rejected, and stored events that it marked as repetitions",
            _markdown(GATES, gates),
        ]
    if rows := published_rows(block):
        parts += [
            in_cell(
                f"**Beside published numbers**: {known(block).source}, all minus without, no interval"
            ),
            _markdown(PUBLISHED, rows),
        ]
    if claims := claims_beside(block):
        parts += [
            in_cell(f"**Published next to measured**: {block.metric} of the set and its arms"),
            _markdown(HEADS, [row.row() for row in claims]),
        ]
    return [*parts, _markdown(("arm", block.metric, *_SEEDS[: bool(block.by_seed)]), means(block))]


_SEEDS: Final = ("over seeds",)


def means(block: BlockResult) -> list[tuple[str, ...]]:
    """Every arm with its mean of the primary metric and, with several seeds, how these differ."""
    return [
        (
            visible(arm),
            number(mean),
            *(
                (f"sd {stdev(values):.4f}, {min(values):.4f} to {max(values):.4f}",)
                if (values := block.by_seed.get(arm, ())) and len(values) > 1
                else ("",) * bool(block.by_seed)
            ),
        )
        for arm, mean in block.means.items()
    ]


def _markdown(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = "|" + "|".join(":--" if name in WORDS else "--:" for name in names) + "|"
    return "\n".join(
        [
            "| " + " | ".join(names) + " |",
            rule,
            *("| " + " | ".join(map(in_cell, row)) + " |" for row in rows),
        ]
    )


# ---- LaTeX and CSV


def to_latex(result: DesignResult) -> str:
    """For every block the tests of the primary metric, the differences of all metrics and other
    systems, for `\\input`.
    """
    parts = [NEEDS.rstrip()]
    for place, block in enumerate(result.blocks, 1):
        mark = "tab:design" if len(result.blocks) == 1 else f"tab:design-{place}"
        parts += [
            "\n".join(
                f"% {name}: {visible(value)}" for name, value in provenance(block, result.made)
            ),
            *_latex_of(block, mark),
        ]
    return "\n\n".join(parts) + "\n"


def _latex_of(block: BlockResult, mark: str) -> list[str]:
    left_out = ("p", "BH p", "flip p", "flip RW", "more", *EXTRA, "questions", *PAIRED, *HERE)
    kept = [i for i, name in enumerate(heads(block)) if name not in left_out]
    tests, *rows = [[row[i] for i in kept] for row in (heads(block), *_rows(block))]
    first = "arm" if block.removes else "estimate"
    tables = [
        _longtable(
            tests,
            rows,
            " ".join((f"{title(block)}.", said(block), *_footnotes(block), *legend(block))),
            mark,
        )
    ]
    metrics = tuple(block.estimates[0].differences) if block.estimates else ()
    if len(metrics) > 1:
        tables.append(
            _longtable(
                (first, *metrics),
                [
                    (label(e), *(signed(e.differences[name].mean) for name in metrics))
                    for e in block.ordered()
                ],
                f"{title(block)}. Differences of all metrics{', full minus arm' if block.removes else ''}.",
                f"{mark}-metrics",
            )
        )
    if block.beside:
        tables.append(
            _longtable(
                beside_heads(block),
                beside_rows(block),
                f"{title(block)}. {beside_note(block)}",
                f"{mark}-beside",
            )
        )
    return tables


def _longtable(names: Sequence[str], rows: Sequence[Sequence[str]], caption: str, mark: str) -> str:
    columns = [
        broken(0.24) if name in ("arm", "estimate") else "l" if name in WORDS else "r"
        for name in names
    ]
    return longtable(names, rows, caption=caption, label=mark, widths="".join(columns))


def to_csv(result: DesignResult) -> str:
    """Every estimate of every block and metric, numbers in full; nothing for what is not
    defined.  A verdict stands beside the primary metric alone.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FIELDS)
    for block in result.blocks:
        for e in block.estimates:
            for metric, d in e.differences.items():
                primary = metric == block.metric
                writer.writerow(
                    (block.title, e.name, e.kind, metric, repr(d.mean), d.low, d.high, d.p,
                     d.p_holm, d.p_bh, d.more, e.seed_sd if primary else None,
                     *_csv_here(e if primary else None), e.verdict.value if primary else "")
                )  # fmt: skip
    return text.getvalue()


def _csv_here(e: Estimate | None) -> tuple[object, ...]:
    """The fields of these conversations; nothing beside another metric than the primary one."""
    if e is None or e.here is None:
        own = (e.flip_p_rw, e.n_helped, e.n_hurt, e.mcnemar_p) if e else (None,) * 4
        return ((None,) * 5) + (*own, "")
    h = e.here
    return (h.low, h.high, h.p, h.p_rw, h.p_gated, e.flip_p_rw, e.n_helped, e.n_hurt,
            e.mcnemar_p, str(e.verdict_here))  # fmt: skip
