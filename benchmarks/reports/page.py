"""An ablation as one self-contained HTML page, and its figures as an SVG file.

Both load nothing: style, script and figures are inside them.  Everything that comes from data is
shown as text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...reporting.files import write_whole
from ...reporting.pages import environment as shared_environment
from ...reporting.pages import palette
from ...reporting.text import plural, visible
from ..scores.comparison import ALPHA, Verdict
from ..scores.metrics import METRICS
from . import words
from .figures import LAYOUTS, WIDE, forest, heat_scale, tally
from .learning_curve import SHOWN
from .learning_curve import said as said_of_feedback
from .learning_figure import EXPLAINED, Points
from .learning_figure import figures as learning_figures
from .published import alone
from .result import PRIMARY, AblationResult
from .tables import (
    BESIDE,
    COSTED,
    COSTS,
    beside_rows,
    cost_rows,
    known,
    published_rows,
    said,
    title,
)
from .words import (
    beside_note,
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
    signed,
    size,
)

TEMPLATES = Path(__file__).parent.parent / "templates"


def to_html(result: AblationResult, path: Path, learning: Points = ()) -> Path:
    """Write the page, whole or not at all; a few milliseconds.  The folder is made if it is absent.
    Raises HebbariumError.

    learning  the full set's curve over questions, which is drawn; () without feedback
    """
    arms, beyond = result.ordered(), known(result)
    page = (
        _environment()
        .get_template("ablation.html.j2")
        .render(
            result=result,
            arms=arms,
            metrics=METRICS,
            primary=PRIMARY,
            alpha=ALPHA,
            family=family(result),
            headline=headline(result),
            limits=limits(result),
            expected=expected(result),
            notes={arm.id: notes(arm, result) for arm in arms},
            meaning=words.MEANING,
            beside=beside_rows(result),
            beside_heads=BESIDE,
            beside_note=beside_note(result),
            used=[word for word in Verdict if result.judged(word)],
            provenance=words.provenance(result),
            bibtex=words.bibtex(result),
            gates=[arm for arm in arms if arm.receipt and arm.receipt.gate],
            scale=words.scale(result),
            forests=[forest(result, layout, alone(beyond.removals)) for layout in LAYOUTS],
            tallies=[tally(result, layout) for layout in LAYOUTS],
            removals=beyond.removals,
            published=published_rows(result),
            published_by=beyond.source,
            costs=cost_rows(result),
            cost_heads=COSTS,
            costed=COSTED,
            heat_scale=heat_scale(arms),
            learning=learning,
            learning_figures=learning_figures(learning),
            learning_shown=SHOWN,
            learning_explained=EXPLAINED,
            feedback=said_of_feedback(result.provenance.get("feedback", "none")),
        )
    )
    write_whole(Path(path), [page], shared=True)
    return Path(path)


def to_svg(result: AblationResult, *, both: bool = True) -> str:
    """The forest plot and, with `both`, the questions gained and lost below it, for light and
    dark grounds.
    """
    first = forest(result, WIDE)
    figures = [(84.0, first, "forest")]
    height = 84 + first["height"]
    if both:
        figures.append((height + 16, tally(result, WIDE), "tally"))
        height += 16 + figures[1][1]["height"]
    sentences = [said(result), *legend(result)]
    lines = [line for sentence in sentences for line in words_in_lines(sentence, 150)]
    base = result.baseline.get(PRIMARY)
    under = (
        f"{plural(result.n_questions, 'question')} of {plural(result.n_conversations, 'conversation')}; {PRIMARY} of the full set "
        f"{number(base, 3)}. Data {visible(result.dataset_sha256)[:8]}, code {visible(result.version.partition('+')[2])[:8] or '-'}."
    )
    drawn: str = (
        _environment()
        .get_template("ablation.svg.j2")
        .render(
            result=result,
            primary=PRIMARY,
            palette=palette("svg"),
            figures=figures,
            width=WIDE.width + 48,
            height=height + 24 + 18 * len(lines),
            foot=height + 18,
            notes=lines,
            under=[under],
            desc=title(result),
            title=visible(
                f"What the set {result.set_name} loses without each mechanism: {PRIMARY} on {result.dataset}"
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
    )
    return environment
