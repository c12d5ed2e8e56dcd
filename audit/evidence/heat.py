"""Evidence for heat: the logistic function, against scipy and closed forms."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import expit

from ...engine.contract.columns import Phase
from ...engine.contract.vocabulary import ACTIVATION, LOG_STRENGTH, VISIBLE, WORTH
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of
from .shared.scripts import giving


def heat(specimen: Any, activation: Any, log_strength: Any) -> Any:
    """The signal as the plug-in writes it, in float64."""
    a, s = np.broadcast_arrays(np.asarray(activation, float), np.asarray(log_strength, float))
    view = SimpleNamespace(
        activation=a.copy(), log_strength=s.copy(), heat=np.full(a.shape, np.nan)
    )
    specimen.Heat("heat", specimen.HeatParams(time_scale=1.0, weight=0.1)).score(view, None)
    return view.heat


@equation("HT-1", source="definition; scipy.special.expit", figure="logistic")
def heat_is_the_logistic_of_activation_and_strength(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    activation, log_strength = rng.normal(0.0, 4.0, 200), rng.normal(0.0, 1.0, 200)
    return heat(specimen, activation, log_strength), expit(activation + log_strength)


@equation("HT-2", source="closed form: odds of 3 to 1 are a probability of 3/4")
def doubling_the_strength_doubles_the_odds(specimen: Any) -> Any:
    p = heat(specimen, [0.4, 0.4], [0.0, np.log(2.0)])
    return p[1] / (1.0 - p[1]), 2.0 * np.exp(0.4)


@limit("HT-3", source="closed form")
def extremes_stay_probabilities(specimen: Any) -> Any:
    return heat(
        specimen, [0.0, 800.0, -800.0, np.inf, -np.inf, np.inf], [0.0, 0.0, 0.0, 0.0, 0.0, -np.inf]
    ), [0.5, 1.0, 0.0, 1.0, 0.0, 0.5]


@adaptation("HT-4", source="neutral columns")
def neutral_columns_give_equal_heat(specimen: Any) -> Any:
    return heat(specimen, np.zeros(50), np.zeros(50)), np.full(50, 0.5)


@equation("HT-5", source="definition; scipy.special.expit", rtol=1e-6)
def in_a_memory_heat_is_the_logistic_of_what_others_add_to_use_and_strength(specimen: Any) -> Any:
    activation, log_strength = (
        np.array([0.0, 2.5, -4.0, 0.7, 0.0, np.inf]),
        np.array([0.0, -1.0, 1.5, 2.0, -3.0, -np.inf]),
    )

    memory = memory_of(
        specimen,
        giving(Phase.MAINTAIN, ACTIVATION, activation),
        giving(Phase.MAINTAIN, LOG_STRENGTH, log_strength, adds=True),
        weight=0.3,
    )
    encode(memory, *((float(i), f"event {i}") for i in range(6)))
    memory.archive(1)
    memory.retrieve("event")
    # no maintenance has run since the last memory was stored
    neutral = memory.column(specimen.HEAT).copy()
    memory.advance(6.0)
    memory.retrieve("event")
    return [neutral[-1], *memory.column(specimen.HEAT)], [
        0.5,
        *expit(activation[:5] + log_strength[:5]),
        0.5,
    ]


@equation(
    "HT-6",
    source="definition: worth is B + ln s, or nothing where that is NaN; the least worth leave a full memory",
    rtol=1e-9,
)
def in_a_full_memory_the_least_used_and_weakest_leave(specimen: Any) -> Any:
    activation, log_strength = (
        np.array([0.0, 2.5, -4.0, 0.7, 0.0, np.inf, 0.0, 0.0]),
        np.array([-0.5, -1.0, 1.5, 2.0, -3.0, -np.inf, 0.0, 0.0]),
    )

    memory = memory_of(
        specimen,
        giving(Phase.MAINTAIN, ACTIVATION, activation),
        giving(Phase.MAINTAIN, LOG_STRENGTH, log_strength, adds=True),
        capacity=6,
        weight=0.3,
    )
    encode(memory, *((float(i), f"event {i}") for i in range(6)))
    memory.advance(25.0)
    worth = memory.column(WORTH).copy()
    encode(memory, (30.0, "event 6"), (31.0, "event 7"))
    return [*worth, *memory.column(VISIBLE)], [-0.5, 1.5, -2.5, 2.7, -3.0, 0.0, True, True, False,
                                               True, False, True, True, True]  # fmt: skip


@figure(
    "logistic",
    caption="Heat over activation: the probability of need, one half at log odds 0; a stronger memory reaches it at lower activation",
    source="definition",
)
def heat_over_activation(specimen: Any) -> Picture:
    activation, marks = np.linspace(-6.0, 6.0, 97), np.array([-4.0, -2.0, 0.0, 2.0, 4.0])
    strengths = ((1.0, "strength 1"), (4.0, "strength 4"), (0.25, "strength 1/4"))
    return Picture(
        "activation, ln odds",
        "heat",
        (
            *(
                Curve(label, activation, heat(specimen, activation, np.log(s)))
                for s, label in strengths
            ),
            dots("logistic function", marks, expit(marks)),
        ),
    )


@mutant("strength left out", rejected_by="HT-2")
def without_strength(specimen: Any) -> Any:
    original = specimen.heat
    return specimen.replacing(
        "heat",
        lambda activation, log_strength, out: original(
            activation, np.zeros_like(log_strength), out
        ),
    )


@mutant("log odds in place of the probability", rejected_by="HT-1")
def unsquashed(specimen: Any) -> Any:
    def raw(activation: Any, log_strength: Any, out: Any) -> None:
        out[...] = activation + log_strength

    return specimen.replacing("heat", raw)


@mutant("worth without strength", rejected_by="HT-6")
def worth_of_use_alone(specimen: Any) -> Any:
    original = specimen.add_log_odds
    return specimen.replacing(
        "add_log_odds",
        lambda activation, log_strength, out: original(
            activation, np.zeros_like(log_strength), out
        ),
    )


@mutant("strength used as its own log", rejected_by="HT-5")
def raw_strength(specimen: Any) -> Any:
    def score(self: Any, view: Any, cue: Any) -> None:
        specimen.heat(view.activation, np.exp(view.log_strength), view.heat)

    return specimen.overriding("Heat", score=score)
