"""The report of an ablation: one result object, as JSON, text, Markdown, a table for the terminal, or one self-contained HTML page.

The page loads nothing: style, script and figures are inside it.  Everything that comes from data is shown as text.
"""
from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ..engine.errors import DataError, InputError
from ..reporting.files import write_whole
from ..reporting.text import visible
from .scores.metrics import METRICS
from .scores.statistics import ClusterIds, clustered_bootstrap, holm, sign_flip, smallest_p

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PRIMARY = "recall@10"
ALPHA = 0.05
NO_OP = "no-op: changed nothing"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean paired difference of one metric, full minus without: positive means the mechanism helps.

    low, high  clustered bootstrap interval; None with a single conversation
    p          two-sided sign-flip p-value; p_holm the same after Holm's correction over all arms (None until `with_holm`)
    """

    mean: float
    low: float | None
    high: float | None
    p: float
    p_holm: float | None = None


@dataclass(frozen=True, slots=True)
class ArmReceipt:
    """What the mechanism did in the full run."""

    calls: int
    cells_changed: int
    ranks_changed: int


@dataclass(frozen=True, slots=True)
class ArmResult:
    """The full set without one mechanism, or with one in another's place.

    id                   the mechanism removed, or "swap a->b"
    no_op                its removal changed no rank of any question
    metrics              of the arm itself, by name (`METRICS`)
    differences          full minus this arm, by metric name
    n_questions_changed  questions with a rank of gold that differs from the full run; n_ranks_changed counts the ranks
    n_helped, n_hurt     questions whose recall@10 is higher, lower, with the mechanism than without
    receipt              of the mechanism in the full run; None where there is none
    seconds              wall time of the arm
    by_category          difference of recall@10 per question category; categories without a value may be left out
    """

    id: str
    no_op: bool
    metrics: Mapping[str, float]
    differences: Mapping[str, Difference]
    n_questions_changed: int
    n_ranks_changed: int
    n_helped: int
    n_hurt: int
    receipt: ArmReceipt | None
    seconds: float
    by_category: Mapping[str, float]

    def __post_init__(self) -> None:
        if set(self.differences) != set(METRICS) or not set(METRICS) <= set(self.metrics):
            raise InputError(f"an arm needs every metric of {', '.join(METRICS)}", where=f"arm {self.id}")
        if self.no_op != (self.n_ranks_changed == 0) or (self.n_ranks_changed == 0) != (self.n_questions_changed == 0):
            raise InputError(f"no_op is {self.no_op}, yet {self.n_ranks_changed} ranks of {self.n_questions_changed} questions changed",
                             where=f"arm {self.id}", cure="an arm is a no-op exactly when no rank of any question changed")
        if self.n_helped + self.n_hurt > self.n_questions_changed or (self.no_op and any(d.mean for d in self.differences.values())):
            raise InputError("a metric differs on questions whose ranks did not change", where=f"arm {self.id}")

    @property
    def verdict(self) -> str:
        """"helps", "hurts", "unclear" or "no-op", by the Holm-adjusted p of the primary metric at 0.05."""
        d = self.differences[PRIMARY]
        if self.no_op:
            return "no-op"
        if d.p_holm is None or d.p_holm > ALPHA:
            return "unclear"
        return "helps" if d.mean > 0 else "hurts"


@dataclass(frozen=True, slots=True)
class AblationResult:
    """One ablation of one mechanism set on one data set.

    baseline    metrics of the full set, by name, as `metrics.summary` gives them
    categories  number of questions per category, in the order of display
    seconds     wall time of the full run
    level, n_resamples, n_flips   settings of the statistics
    """

    dataset: str
    dataset_sha256: str
    set_name: str
    seed: int
    design: str
    n_conversations: int
    n_questions: int
    baseline: Mapping[str, float | int | None]
    arms: tuple[ArmResult, ...]
    categories: Mapping[str, int]
    seconds: float
    level: float = 0.95
    n_resamples: int = 10_000
    n_flips: int = 10_000
    version: str = ""

    def __post_init__(self) -> None:
        ids = [arm.id for arm in self.arms]
        if twice := sorted({name for name in ids if ids.count(name) > 1}):
            raise InputError(f"more than one arm is called {twice[0]!r}", cure="give every arm an id of its own")
        if self.n_conversations < 1 or self.n_questions < 1:
            raise InputError("an ablation needs at least one conversation with one question", where=self.dataset)
        for arm in self.arms:
            if arm.n_questions_changed > self.n_questions or not set(arm.by_category) <= set(self.categories):
                raise InputError("the arm has more questions or other categories than the result", where=f"arm {arm.id}")

    @property
    def smallest_p(self) -> float:
        """The smallest p-value the design can give, before correction."""
        return smallest_p(self.n_conversations, self.n_flips)

    def ordered(self) -> tuple[ArmResult, ...]:
        """Arms by falling difference of the primary metric; no-ops last, by id."""
        return tuple(sorted(self.arms, key=lambda arm: (arm.no_op, 0.0 if arm.no_op else -arm.differences[PRIMARY].mean, arm.id)))


def difference(full: ArrayLike, without: ArrayLike, cluster_ids: ClusterIds, *, seed: int, n_resamples: int = 10_000, n_flips: int = 10_000,
               level: float = 0.95) -> Difference:
    """Paired difference of one metric between two arms, questions in the same order; p_holm is still None.

    full, without  (n,) metric per question
    cluster_ids    (n,) conversation per question
    """
    import numpy as np

    d = np.asarray(full, dtype=np.float64) - np.asarray(without, dtype=np.float64)
    interval = clustered_bootstrap(d, cluster_ids, n_resamples, seed=seed, level=level)
    return Difference(interval.mean, interval.low, interval.high, sign_flip(d, cluster_ids, seed=seed, n=n_flips).p)


def with_holm(arms: Sequence[ArmResult]) -> tuple[ArmResult, ...]:
    """The arms with p_holm filled in: one family per metric, over all arms, no-ops included, because the family was fixed before the run."""
    adjusted = {name: holm([arm.differences[name].p for arm in arms]) for name in METRICS}
    return tuple(replace(arm, differences={name: replace(arm.differences[name], p_holm=float(adjusted[name][i])) for name in METRICS})
                 for i, arm in enumerate(arms))


def to_json(result: AblationResult) -> dict[str, Any]:
    """Plain data for `json.dump`; `from_json` reads it back."""
    return {"format": _FORMAT, **asdict(result), "arms": [asdict(arm) for arm in result.arms], "smallest_p": result.smallest_p}


def from_json(data: Mapping[str, Any]) -> AblationResult:
    """The result that `to_json` wrote; raises DataError for anything else."""
    try:
        if data["format"] != _FORMAT:
            raise DataError(f"the ablation result has format {data['format']}; this release reads {_FORMAT}",
                            cure="run the report with the release that wrote it")
        arms = tuple(ArmResult(**{**arm, "differences": {name: Difference(**d) for name, d in arm["differences"].items()},
                            "receipt": ArmReceipt(**arm["receipt"]) if arm["receipt"] else None}) for arm in data["arms"])
        return AblationResult(**{name: value for name, value in data.items() if name not in ("format", "smallest_p", "arms")}, arms=arms)
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"this is not an ablation result ({error})", cure="give the JSON file that an ablation wrote") from error


# ---- numbers and names as text

def signed(value: float | None, digits: int = 4) -> str:
    """A difference with its sign (a true minus); zero has none.

    >>> signed(0.01234), signed(-0.00001), signed(None)
    ('+0.0123', '0.0000', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{abs(value):.{digits}f}"
    return text if not float(text) else ("+" if value > 0 else "−") + text


def p_text(p: float | None) -> str:
    """A p-value to three digits.

    >>> p_text(0.001953125), p_text(1.0), p_text(1e-6)
    ('0.00195', '1', '<0.0001')
    """
    return "–" if p is None else "<0.0001" if p < 1e-4 else f"{p:.3g}"


def interval_text(d: Difference, digits: int = 4) -> str:
    """The interval in brackets, or a dash where there is none."""
    return "–" if d.low is None or d.high is None else f"[{signed(d.low, digits)}, {signed(d.high, digits)}]"


_HEAD = ("arm", PRIMARY, "interval", "p", "Holm p", "mrr@10", "ndcg@10", "questions", "verdict")


def _rows(result: AblationResult) -> list[tuple[str, ...]]:
    return [(visible(arm.id), signed(d.mean), interval_text(d), p_text(d.p), p_text(d.p_holm), signed(arm.differences["mrr@10"].mean),
             signed(arm.differences["ndcg@10"].mean), str(arm.n_questions_changed), NO_OP if arm.no_op else arm.verdict)
            for arm in result.ordered() for d in (arm.differences[PRIMARY],)]


def _title(result: AblationResult) -> str:
    return visible(f"Ablation of {result.set_name} on {result.dataset}: {result.n_questions} questions, {result.n_conversations} conversations, "
                    f"{PRIMARY} {_number(result.baseline.get(PRIMARY))}")


def _legend(result: AblationResult) -> str:
    family = len(result.arms)
    return (f"Differences: full minus without; positive: the mechanism helps. {100 * result.level:g}% intervals resample conversations. "
            f"Smallest attainable p: {p_text(result.smallest_p)}; after Holm over {family} arms: {p_text(min(1.0, family * result.smallest_p))}.")


def to_table(result: AblationResult) -> Table:
    """The result for a terminal."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(_title(result)), caption=Text(_legend(result)), title_justify="left", caption_justify="left", box=box.SIMPLE_HEAD)
    for name in _HEAD:
        words = name in ("arm", "verdict")
        table.add_column(Text(name), justify="left" if words else "right", overflow="fold", no_wrap=not words)
    colour = {"helps": "green", "hurts": "red", "unclear": ""}
    for row in _rows(result):
        table.add_row(*(Text(cell) for cell in row[:-1]), Text(row[-1], style=colour.get(row[-1], "")), style="dim" if row[-1] == NO_OP else None)
    return table


def to_lines(result: AblationResult) -> list[str]:
    """The same as plain lines of tab-separated values between a title and a legend, for pipes and logs: signs and dashes in ASCII."""
    ascii_signs = str.maketrans({"−": "-", "–": "-", "\ufffd": "?"})
    return [line.translate(ascii_signs) for line in (_title(result), "\t".join(_HEAD), *("\t".join(row) for row in _rows(result)), _legend(result))]


def to_markdown(result: AblationResult) -> str:
    """The same as a Markdown table; ids are escaped so that they show as they are."""
    head = "| " + " | ".join(_HEAD) + " |\n|" + "|".join(":--" if name in ("arm", "verdict") else "--:" for name in _HEAD) + "|"
    body = "\n".join("| " + " | ".join((_escaped(row[0]), *row[1:])) + " |" for row in _rows(result))
    return f"**{_escaped(_title(result))}**\n\n{head}\n{body}\n\n{_legend(result)}\n"


def show(result: AblationResult, console: Console) -> None:
    """Print a table in a terminal, plain lines anywhere else."""
    if console.is_terminal:
        console.print(to_table(result))
    else:
        console.file.write("\n".join(to_lines(result)) + "\n")  # console.print would wrap lines and turn tabs into spaces


def _escaped(text: str) -> str:
    return "".join("\\" + char if char in "\\`*_{}[]()#+!|~$" else {"<": "&lt;", ">": "&gt;", "&": "&amp;"}.get(char, char) for char in text)


def _number(value: float | int | None, digits: int = 4) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


# ---- the page

def to_html(result: AblationResult, path: Path) -> Path:
    """Write the page, whole or not at all; a few milliseconds.  The folder is made if it is absent.  Raises HebbariumError."""
    write_whole(Path(path), [_page(result)])
    return Path(path)


def _page(result: AblationResult) -> str:
    from ..reporting.pages import environment as shared_environment

    environment = shared_environment(Path(__file__).parent / "templates")
    environment.filters.update(signed=signed, p=p_text, interval=interval_text, number=_number)
    arms = result.ordered()
    return environment.get_template("ablation.html.j2").render(
        result=result, arms=arms, metrics=METRICS, primary=PRIMARY, no_op=NO_OP, alpha=ALPHA, family=len(arms),
        verdicts={word: [arm for arm in arms if arm.verdict == word] for word in ("helps", "hurts", "unclear", "no-op")},
        forests=[_forest(result, layout) for layout in _LAYOUTS], tallies=[_tally(result, layout) for layout in _LAYOUTS],
        heat_scale=_heat_scale(arms))


@dataclass(frozen=True, slots=True)
class _Layout:
    """Geometry of a figure, px: a wide one with labels and values beside the plot, a narrow one for phones with labels above it."""

    name: str
    width: float
    left: float      # x range of the plot
    right: float
    values: float    # x of the values' text; 0: on a line of their own above the mark
    head: float      # y of the first row
    row: float
    mark: float      # y of the mark within a row
    characters: int  # of a label's line


_LAYOUTS = (_Layout("wide", 920, 258, 632, 660, 34, 36, 18, 32), _Layout("narrow", 380, 26, 354, 0, 30, 72, 51, 46))


def _forest(result: AblationResult, layout: _Layout) -> dict[str, Any]:
    arms = result.ordered()
    reach = {arm.id: max(abs(end) for d in (arm.differences[PRIMARY],) for end in (d.mean, d.low, d.high) if end is not None) for arm in arms}
    limit = _limit([reach[arm.id] for arm in arms if not arm.no_op])
    ends = [end for arm in arms if reach[arm.id] <= limit for d in (arm.differences[PRIMARY],) for end in (d.mean, d.low, d.high) if end is not None]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    ticks = _ticks(min(low, -high / 5), max(high, -low / 5), 6 if layout.values else 4)  # room on both sides for "hurts" and "helps"
    x = _Scale(ticks[0], ticks[-1], layout.left, layout.right)
    rows = []
    for arm, row in zip(arms, _label_rows(arms, layout), strict=True):
        d = arm.differences[PRIMARY]
        start, end = (d.mean, d.mean) if d.low is None or d.high is None else (d.low, d.high)
        rows.append(row | {"d": d, "x": x(d.mean), "inside": ticks[0] <= d.mean <= ticks[-1], "low": x(max(start, ticks[0])),
                           "high": x(min(end, ticks[-1])), "cut_low": start < ticks[0], "cut_high": end > ticks[-1]})
    return _figure(layout, arms) | {"zero": x(0.0), "ticks": [(x(tick), signed(tick, _digits(ticks))) for tick in ticks], "rows": rows}


def _tally(result: AblationResult, layout: _Layout) -> dict[str, Any]:
    arms, room, side = result.ordered(), 44.0, 92.0  # px kept free for the count at the end of a bar, and for the words above each side
    limit = _limit([max(arm.n_helped, arm.n_hurt) for arm in arms if not arm.no_op])
    lost, helped = (max([n for arm in arms if (n := getattr(arm, name)) <= limit], default=0) for name in ("n_hurt", "n_helped"))
    cut = {name: any(getattr(arm, name) > limit for arm in arms) for name in ("n_hurt", "n_helped")}
    lost, helped = (max(lost, helped) if cut["n_hurt"] else lost), (max(lost, helped) if cut["n_helped"] else helped)
    span = layout.right - layout.left - 2 * room
    zero = layout.left + max(side, room + span * lost / max(lost + helped, 1))
    unit = min((zero - layout.left - room) / max(lost, 1), (layout.right - room - zero) / max(helped, 1))
    rows = [row | {"lost": min(arm.n_hurt, lost) * unit, "helped": min(arm.n_helped, helped) * unit,
                   "cut_lost": arm.n_hurt > lost, "cut_helped": arm.n_helped > helped}
            for arm, row in zip(arms, _label_rows(arms, layout), strict=True)]
    return _figure(layout, arms) | {"zero": round(zero, 2), "rows": rows}


def _limit(reach: Sequence[float]) -> float:
    """Where the scale ends at most: six times the median reach, so that one far larger arm does not squeeze the others."""
    ordered = sorted(reach)
    return 6.0 * ordered[len(ordered) // 2] if ordered and ordered[len(ordered) // 2] > 0 else math.inf


def _heat_scale(arms: Sequence[ArmResult]) -> float:
    """The difference with the full colour: the largest of the arms within `_limit`."""
    reach = [max(map(abs, arm.by_category.values()), default=0.0) for arm in arms if not arm.no_op]
    limit = _limit(reach)
    return max((value for value in reach if value <= limit), default=0.0) or 1.0


def _label_rows(arms: Sequence[ArmResult], layout: _Layout) -> list[dict[str, Any]]:
    lines = 2 if layout.values else 1
    return [{"arm": arm, "label": _wrapped(visible(arm.id), layout.characters, lines), "y": layout.head + i * layout.row}
            for i, arm in enumerate(arms)]


def _figure(layout: _Layout, arms: Sequence[ArmResult]) -> dict[str, Any]:
    """A figure's frame; its vertical lines are whole if labels are beside the plot, and one piece per row if labels are above the marks."""
    bottom = layout.head + len(arms) * layout.row
    marks = [layout.head + i * layout.row + layout.mark for i in range(len(arms))]
    strokes = [(layout.head - 6, bottom)] if layout.values else [(mark - 10, mark + 10) for mark in marks]
    return {"layout": layout, "bottom": bottom, "height": bottom + 46, "strokes": strokes}


class _Scale:
    """A linear map from values to px."""

    def __init__(self, low: float, high: float, left: float, right: float) -> None:
        self.low, self.factor, self.left = low, (right - left) / (high - low), left

    def __call__(self, value: float) -> float:
        return round(self.left + (value - self.low) * self.factor, 2)


def _ticks(low: float, high: float, wanted: int) -> list[float]:
    """Round numbers, about as many as wanted, whose first and last enclose the range; zero is one of them.

    >>> _ticks(-0.012, 0.047, 4)
    [-0.02, 0.0, 0.02, 0.04, 0.06]
    """
    span = (high - low) or 0.01
    rough = span / wanted
    magnitude = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * magnitude for factor in (1.0, 2.0, 5.0, 10.0) if factor * magnitude >= rough * (1 - 1e-9))
    first, last = math.floor(low / step - 1e-6), math.ceil(high / step + 1e-6)
    return [round(i * step, 12) for i in range(first, max(last, first + 1) + 1)]


def _digits(ticks: Sequence[float]) -> int:
    return max(0, -math.floor(math.log10(ticks[1] - ticks[0]) + 1e-9))


def _wide(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _wrapped(text: str, width: int, lines: int) -> list[str]:
    """The text on at most `lines` lines of `width` characters, broken after a separator if there is one, cut with an ellipsis if too long.

    >>> _wrapped("swap spreading_activation->pattern_completion", 30, 2)
    ['swap spreading_activation->', 'pattern_completion']
    >>> _wrapped("x" * 12, 10, 1)
    ['xxxxxxxxx…']
    """
    out: list[str] = []
    while len(out) < lines - 1 and _wide(text) > width:
        fits = next(n for n in range(len(text), 0, -1) if _wide(text[:n]) <= width)
        cut = next((n for n in range(fits, fits // 3, -1) if text[n - 1] in " _->.:/" and text[n] not in ">"), fits)
        out, text = [*out, text[:cut].rstrip()], text[cut:]
    while _wide(text) > width:
        text = text[:-2] + "…"
    return [*out, text]
