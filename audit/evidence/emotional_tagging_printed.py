"""Evidence for emotional_tagging_printed: the equation of Cortex 4.1.2, and the checks of the
paper's form applied to it.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from ...engine.contract.records import Event
from ...engine.contract.vocabulary import INITIAL_STRENGTH
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ..checks import adaptation, mutant
from . import emotional_tagging as papers


def plugin(specimen: Any, c: float, b: float) -> Any:
    params = specimen.EmotionalTaggingPrintedParams(time_scale=1.0, c=c, b=b)
    return specimen.EmotionalTaggingPrinted("emotional_tagging_printed", params)


def as_any_difficulty(specimen: Any) -> SimpleNamespace:
    """The printed curve under the names of the paper's form; it ignores difficulty."""
    return SimpleNamespace(
        enhancement=lambda a, _difficulty, a0, _k, _gain: specimen.enhancement(
            a, math.e / a0, 1.0 / a0
        )
    )


def as_plugin(specimen: Any) -> SimpleNamespace:
    """The printed plug-in under the names of the paper's form, with b = 1 / optimum."""
    return SimpleNamespace(
        ricker=specimen.ricker,
        EmotionalTaggingParams=lambda **p: p["optimum"],
        EmotionalTagging=lambda _, optimum: plugin(specimen, math.e / optimum, 1.0 / optimum),
    )


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "ETP-1",
    source="Cortex 4.1.2: c a exp(-b a), a the share of emotional words; factor 1 without them",
    needs="engine",
    papers=("cortex2026",),
)
def encoding_follows_the_printed_curve(specimen: Any) -> Any:
    memory = Engine([plugin(specimen, 3.0, 2.0)], HashingEmbedder(64))
    memory.encode_all(
        Event(0.0, text)
        for text in ("The box is on the table", "She was so happy and so proud", "panic")
    )
    share = (0.0, 2 / 7, 1.0)
    return memory.store.array(INITIAL_STRENGTH).tolist(), [
        math.log1p(3.0 * a / math.exp(2.0 * a)) for a in share
    ]


# --- the paper's checks ---------------------------------------------------------------------------
maximum = papers.the_maximum_is_at_one_over_b
form = papers.the_curve_is_c_a_exp_minus_b_a
inflection = papers.slope_at_zero_and_inflection_at_twice_the_optimum
skew = papers.the_curve_is_skewed_to_the_right
area = papers.the_area_is_c_over_b_squared
bound = papers.an_inverted_u_needs_an_optimum_below_one_and_others_are_refused.of_variety(as_plugin)
difficulty = papers.the_best_arousal_falls_with_difficulty
interaction = papers.harder_tasks_have_a_lower_best_arousal_and_a_larger_loss_above_it.of_variety(
    as_any_difficulty
)


# --- figures --------------------------------------------------------------------------------------
ricker_picture = papers.the_curve_over_arousal.of_variety(
    "The printed curve, of the same form: it rises steeply to its peak at 1/b and falls slowly"
)
yerkes_dodson_picture = papers.encoding_over_arousal.of_variety(
    "The printed encoding strength over arousal: the same curve for every difficulty",
    as_any_difficulty,
)


@mutant("a parabola", rejected_by="YD-3")
def parabola(specimen: Any) -> Any:
    return specimen.replacing(
        "ricker", lambda a, c, b: c / (b * math.e) * max(0.0, 1.0 - (b * a - 1.0) ** 2)
    )


@mutant("strength 0 without emotion", rejected_by="ETP-1")
def penalised(specimen: Any) -> Any:
    return specimen.replacing("enhancement", lambda a, c, b: max(specimen.ricker(a, c, b), 1e-9))
