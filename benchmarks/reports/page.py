"""The report of a design as one self-contained HTML page, and its figures as an SVG file.

Both load nothing: style, script and figures are inside them.  Everything that comes from data is
shown as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from ...reporting.claims import HEADS
from ...reporting.files import write_whole
from ...reporting.pages import environment as shared_environment
from ...reporting.pages import palette
from ...reporting.text import visible
from ..scores.comparison import ALPHA, Verdict
from . import drawings, words
from .estimates import curves, matrix, waterfall
from .figures import LAYOUTS, WIDE, forest, heat_scale, tally
from .grid import SCOPE_HEADS, grids, scope_rows
from .learning_curve import SHOWN
from .learning_curve import said as said_of_feedback
from .learning_figure import EXPLAINED, Points
from .learning_figure import figures as learning_figures
from .published import alone
from .result import BlockResult, DesignResult
from .tables import (
    COSTED,
    COSTS,
    beside_heads,
    beside_rows,
    claims_beside,
    cost_rows,
    heading,
    known,
    published_rows,
    said,
    title,
)
from .words import (
    beside_note,
    bibtex,
    expected,
    family,
    headline,
    interval_text,
    label,
    legend,
    limits,
    notes,
    number,
    p_text,
    percent,
    provenance,
    signed,
    size,
    with_own_data,
)

TEMPLATES = Path(__file__).parent.parent / "templates"
LEFT_OUT: Final = ("recall@1", "all@10")  # of the page's table, which seven metrics would overfill
MOST: Final = 80  # estimates, or arms with seeds, that are drawn; the tables have all


def to_html(result: DesignResult, path: Path, learning: Sequence[Points] = ()) -> Path:
    """Write the page, whole or not at all; a few milliseconds a block.  The folder is made if it
    is absent.  Raises HebbariumError.

    learning  the reference's curve over questions on each block, which is drawn; () without
              feedback
    """
    environment, first = _environment(), result.blocks[0]
    blocks = [
        Markup(  # the template of a block escapes what it is given
            environment.get_template("design_block.html.j2").render(
                _of_block(
                    block,
                    place,
                    block.title if len(result.blocks) > 1 else "",
                    learning[place - 1] if learning else (),
                )
            )
        )
        for place, block in enumerate(result.blocks, 1)
    ]
    removes = all(block.removes for block in result.blocks)
    page = environment.get_template("design.html.j2").render(
        result=result,
        blocks=blocks,
        learning=any(learning),
        removes=removes,
        alpha=ALPHA,
        title=title(first) if len(result.blocks) == 1 else heading(result.facts),
        heading=visible(
            f"What each mechanism of {result.facts.set} adds on {', '.join(dict.fromkeys(block.dataset for block in result.blocks))}"
        )
        if removes
        else heading(result.facts),
        headline=headline(first),
        own_data=with_own_data(first),
        family=family(first),
        limits=limits(first),
        grids=[(grid, scope_rows(grid)) for grid in grids(result)],
        scope_heads=SCOPE_HEADS,
        costs=cost_rows(result),
        cost_heads=COSTS,
        costed=COSTED,
        made=[(block.title, provenance(block, result.made)) for block in result.blocks],
        bibtex=bibtex(result),
    )
    write_whole(Path(path), [page], shared=True)
    return Path(path)


def _of_block(result: BlockResult, place: int, name: str, learning: Points) -> dict[str, Any]:
    """What the template of a block takes.

    place  of the block, from 1; ids of the others have it as a suffix
    name   heads the block; "" for the only one
    """
    arms, published = result.ordered(), known(result)
    shown = len(arms) <= MOST
    steps = waterfall(result.estimates, result.means.get(result.reference, 0.0))
    interactions = matrix(result.estimates)
    seeds = result.by_seed if 0 < len(result.by_seed) <= MOST else {}
    drawn = {
        "strips": [drawings.strips(seeds, layout) for layout in LAYOUTS] if seeds else [],
        "waterfall": [drawings.steps(steps, layout) for layout in LAYOUTS] if steps else [],
        "curves": [
            {
                "curve": curve,
                "drawn": [drawings.line(curve, result.margin, layout) for layout in LAYOUTS],
            }
            for curve in curves(result, published)
        ],
        "matrix": interactions,
        "largest": max((abs(e.primary.mean) for e in interactions.cells.values()), default=0.0)
        if interactions
        else 0.0,
    }
    return {
        "result": result,
        "n": "" if place == 1 else f"-{place}",
        "name": name,
        "arms": arms,
        "drawn": drawn,
        "metrics": tuple(
            name for name in arms[0].differences if name == result.metric or name not in LEFT_OUT
        )
        if arms
        else (result.metric,),
        "left_out": LEFT_OUT,
        "headline": headline(result),
        "expected": expected(result),
        "notes": {arm.name: notes(arm, result) for arm in arms},
        "meaning": {True: words.MEANING, False: words.OF_ESTIMATES},
        "beside": beside_rows(result),
        "beside_heads": beside_heads(result),
        "beside_note": beside_note(result),
        "used": [word for word in Verdict if result.judged(word)],
        "gates": [arm for arm in arms if arm.receipt and arm.receipt.gate],
        "scale": words.scale(result),
        "scoped": any(arm.here for arm in arms),
        "scopes": words.SCOPES,
        "forests": [forest(result, layout, alone(published.removals)) for layout in LAYOUTS]
        if shown
        else [],
        "tallies": [tally(result, layout) for layout in LAYOUTS] if shown else [],
        "removals": published.removals,
        "published": published_rows(result),
        "published_by": published.source,
        "claims": [row.row() for row in claims_beside(result)],
        "claim_heads": HEADS,
        "heat_scale": heat_scale(arms),
        "learning": learning,
        "learning_figures": learning_figures(learning),
        "learning_shown": SHOWN,
        "learning_explained": EXPLAINED,
        "feedback": said_of_feedback(result.provenance.get("feedback", "none")),
    }


def to_svg(result: BlockResult, *, both: bool = True) -> str:
    """The forest plot and, with `both`, the questions gained and lost below it, for light and
    dark grounds; of a design with very many estimates only the words.
    """
    figures: list[tuple[float, dict[str, Any], str]] = []
    height = 84.0
    if len(result.estimates) <= MOST:
        figures.append((height, forest(result, WIDE), "forest"))
        height += figures[0][1]["height"]
        if both and result.removes:
            figures.append((height + 16, tally(result, WIDE), "tally"))
            height += 16 + figures[1][1]["height"]
    sentences = [said(result), *legend(result)]
    lines = [line for sentence in sentences for line in words_in_lines(sentence, 150)]
    base = result.means.get(result.reference)
    under = (
        f"{result.size}; {result.metric} of {'the full set' if result.removes else visible(result.reference)} "
        f"{number(base, 3)}. Data {visible(result.dataset_sha256)[:8]}, code {visible(result.facts.version.partition('+')[2])[:8] or '-'}."
    )
    drawn: str = (
        _environment()
        .get_template("design.svg.j2")
        .render(
            result=result,
            palette=palette("svg"),
            figures=figures,
            width=WIDE.width + 48,
            height=height + 24 + 18 * len(lines),
            foot=height + 18,
            notes=lines,
            under=[under],
            desc=title(result),
            title=visible(
                f"What the set {result.facts.set} loses without each mechanism: {result.metric} on {result.dataset}"
                if result.removes
                else f"{heading(result.facts)}: {result.metric} on {result.dataset}"
            ),
        )
    )
    return drawn + "\n"


def words_in_lines(text: str, width: int) -> list[str]:
    """The text broken between words into lines of at most `width` characters."""
    from textwrap import wrap

    return wrap(visible(text), width, break_on_hyphens=False)


def _environment() -> Any:
    environment = shared_environment(TEMPLATES)
    environment.filters.update(
        signed=signed,
        p=p_text,
        interval=interval_text,
        number=number,
        size=size,
        percent=percent,
        label=label,
        still=words.still,
        heat=drawings.heat,
        quoted=words.verdict_text,
    )
    return environment
