"""What a design can detect, computed before it runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...engine.base.errors import DataError
from ...reporting.text import plural
from .cluster_robust import (
    Spread,
    expected_half_width,
    fewest_questions,
    satterthwaite,
    smallest_effect,
)
from .comparison import ALPHA
from .statistics import smallest_p

WIDEST = 1.0  # difference of two scores, which lie between 0 and 1
DEMO = Path(__file__).parent / "demo_spread.json"


@dataclass(frozen=True, slots=True)
class Source:
    """Spreads of an earlier run, one for each of its arms that changed anything.

    what  names the run
    """

    what: str
    spreads: tuple[Spread, ...]


@dataclass(frozen=True, slots=True)
class Detectable:
    """What a design can detect.

    n_conversations, n_questions  with gold
    family            arms whose p-values are corrected together
    margin            of equivalence
    flip_p, flip_p_holm  smallest p of the sign flip, alone and corrected over the family
    half_width        expected half width of a 95% interval of the t-test: first quartile, median
                      and third quartile over the source's arms
    decided           expected smallest effect with a corrected p of 0.05, for the same quartiles
    source            of the spread; "" if there is none: then half_width and decided are None, as
                      for a single conversation
    enough_questions  fewest questions that can show equivalence within the margin
    """

    n_conversations: int
    n_questions: int
    family: int
    margin: float
    flip_p: float
    flip_p_holm: float
    half_width: tuple[float, float, float] | None
    decided: tuple[float, float, float] | None
    source: str
    enough_questions: int

    def lines(self) -> list[str]:
        """The same as sentences."""
        few = self.n_conversations == 1
        lines = [
            f"design: {plural(self.n_conversations, 'conversation')}, {plural(self.n_questions, 'question')} with evidence, "
            f"{plural(self.family, 'arm')} corrected together (Holm)"
        ]
        if few:
            lines.append(
                "t-test: one conversation shows no spread between conversations, so no arm can be decided"
            )
        elif self.half_width and self.decided:
            (low, middle, high), (_, effect, _) = self.half_width, self.decided
            decides = (
                f"an effect of about ±{effect:.4f} is decided"
                if effect < WIDEST
                else (
                    "nothing can be decided with so few conversations: no two scores differ by more than 1"
                )
            )
            lines.append(
                f"t-test: expected 95% interval ±{middle:.4f} (middle half of arms: ±{low:.4f} to ±{high:.4f}); after correction {decides}. "
                f"From the spread in {self.source}"
            )
        else:
            lines.append("t-test: no earlier run gives the expected width of the intervals")
        reach = "" if self.flip_p_holm <= ALPHA else f": it cannot reach {ALPHA}"
        lines.append(
            f"sign flip: smallest p {self.flip_p:.3g}, after correction {self.flip_p_holm:.3g}{reach}"
        )
        if self.n_questions < self.enough_questions:
            lines.append(
                f"equivalence within ±{self.margin:g} cannot be shown: it needs {self.enough_questions:,} questions or more"
            )
        elif self.half_width and self.half_width[1] >= self.margin:
            lines.append(
                f"equivalence within ±{self.margin:g} can be shown only for arms with a narrower interval than is expected"
            )
        else:
            lines.append(f"equivalence within ±{self.margin:g} can be shown")
        return lines


def detectable(
    counts: Sequence[int],
    family: int,
    margin: float,
    source: Source | None = None,
    *,
    n_flips: int = 10_000,
) -> Detectable:
    """What a design with some questions per conversation, (c,), and some arms in its family can
    detect.  Raises InputError for a bad margin.
    """
    c, half, decided = len(counts), None, None
    if source and source.spreads and c > 1:
        widths = np.quantile(
            [expected_half_width(counts, s) for s in source.spreads], (0.25, 0.5, 0.75)
        )
        df = satterthwaite(counts)
        ratio = (smallest_effect(1.0, df, ALPHA / max(family, 1)) or 0.0) / (
            smallest_effect(1.0, df) or 1.0
        )
        half, decided = _three(widths), _three(widths * ratio)
    p = smallest_p(c, n_flips)
    return Detectable(
        c,
        sum(counts),
        family,
        margin,
        p,
        min(1.0, max(family, 1) * p),
        half,
        decided,
        source.what if source and half else "",
        fewest_questions(margin, ALPHA),
    )


def _three(values: Any) -> tuple[float, float, float]:
    low, middle, high = map(float, values)
    return low, middle, high


def demo_source(path: Path = DEMO) -> Source:
    """The spreads on the demo data that come with the package.  Raises DataError for a damaged
    file.
    """
    try:
        figures = json.loads(path.read_text(encoding="utf-8"))
        spreads = tuple(Spread(**fields) for fields in figures["arms"].values())
        what = f"the demo figures of the package ({figures['set']} on demo, {figures['embedder']}, {len(spreads)} arms); other data may differ"
        return Source(what, spreads)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"the demo figures cannot be read ({error})",
            where=path.name,
            cure="install the package again",
        ) from error


def demo_figures(spreads: Mapping[str, Spread], **about: str) -> dict[str, Any]:
    """What the file of `demo_source` holds: set, embedder, digest of the data, and the spread of
    each arm.
    """
    return {**about, "arms": {id: asdict(spread) for id, spread in spreads.items()}}
