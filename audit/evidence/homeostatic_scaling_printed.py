"""Evidence for homeostatic_scaling_printed: the rule of Cortex 4.4.3, and the checks of the
models that it cites.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.vocabulary import LOG_STRENGTH
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, figure
from ..memory import encode, memory_of
from ..specimen import NotTestable
from . import homeostatic_scaling as paper
from .shared.scripts import giving

TARGET, ALPHA = 0.4, 0.05


def as_scaling(specimen: Any) -> SimpleNamespace:
    """The printed rule under the paper's names: one factor for all.  It has no dynamics, so
    checks of dynamics are not testable.
    """

    def scale(log_factor: Any, speaker: Any, out: Any) -> None:
        out[:] = math.log(specimen.power_ratio(1.0, 0.9, TARGET, ALPHA))

    def slopes(a: float, integral: float, *rest: float) -> Any:
        raise NotTestable("has neither sensor nor integral", where=specimen.id)

    return SimpleNamespace(scale=scale, slopes=slopes, advance=slopes)


# --- as printed -----------------------------------------------------------------------------------
@equation("CM-8.2", source="linear neuron r = w x, alpha = 1: at the target after one step")
def with_alpha_one_a_linear_neuron_reaches_its_target_in_one_step(specimen: Any) -> Any:
    w, x = np.array([0.2, 3.0, 0.7]), np.array([1.0, 0.5, 2.0])
    after = specimen.power_ratio(w, float(w @ x), TARGET, 1.0)
    return [float(after @ x), after[0] / after[1]], [TARGET, w[0] / w[1]]


@limit(
    "CM-8.2b",
    source="e -> (1 - alpha) e, in logarithms; alpha = 2 alternates without end",
    rtol=1e-9,
    atol=1e-9,
    figure="error",
)
def the_log_error_is_multiplied_by_one_minus_alpha(specimen: Any) -> Any:
    measured, expected = [], []
    for alpha in (0.05, 0.5, 1.5, 2.0):
        r = 3.0 * TARGET
        for _ in range(7):
            r = float(specimen.power_ratio(r, r, TARGET, alpha))
        measured.append(math.log(r / TARGET))
        expected.append((1.0 - alpha) ** 7 * math.log(3.0))
    return measured, expected


@adaptation(
    "HSP-1",
    source="Cortex, public code: 1 + 0.05 (target - mean)",
    atol=1e-15,
    papers=("cortex2026",),
)
def the_public_code_has_another_factor(specimen: Any) -> Any:
    return [specimen.proportional(2.0, r, TARGET, 0.05) for r in (0.4, 0.9, 0.1)], [
        2.0,
        2.0 * 0.975,
        2.0 * 1.015,
    ]


@adaptation("HSP-2", source="numpy mean of exp over the visible memories")
def the_rate_is_the_mean_over_all_visible_memories(specimen: Any) -> Any:
    log_w, visible = np.array([0.0, -1.0, 2.0, 0.5]), np.array([True, True, False, True])
    return [
        specimen.mean_strength(log_w, visible),
        specimen.mean_strength(log_w, ~visible & False),
    ], [np.exp(log_w[visible]).mean(), 0.0]


@adaptation(
    "HSP-4",
    source="public code of Cortex, w (1 + 0.05 (target - mean)), by hand; ours: at least a tenth of w",
    atol=1e-12,
    papers=("cortex2026",),
)
def the_factor_of_the_public_code_is_at_least_a_tenth(specimen: Any) -> Any:
    means = (0.5, 1.0, 18.0, 19.5, 100.0)
    measured = [specimen.proportional(2.0, mean, 1.0, 0.05) for mean in means]
    return measured, [2.05, 2.0, 0.3, 0.2, 0.2]


@adaptation(
    "HSP-3",
    source="Cortex 4.4.3 and its public code by hand: the factors of the nights multiply; a memory that shows nothing has no mean",
    papers=("cortex2026",),
)
def the_factor_of_each_night_is_on_all_memories(specimen: Any) -> Any:
    log_w, night = np.array([0.4, -0.7, 1.3, -0.2]), 6.0
    measured: list[float] = []
    expected: list[float] = []

    for variant in ("paper", "code"):
        memory = memory_of(
            specimen,
            giving(Phase.MAINTAIN, LOG_STRENGTH, log_w, adds=True),
            consolidate_every=night,
            variant=variant,
            target=TARGET,
            alpha=0.5,
            gain=0.3,
        )
        encode(memory, *((0.0, f"message {i}", "Ada" if i % 2 else "Bo") for i in range(4)))
        memory.archive(2)
        shown, factor = [0, 1, 3], 0.0
        for number in range(1, 5):
            if number == 4:
                for row in shown:
                    memory.archive(row)
            else:
                mean = float(np.exp(log_w[shown] + factor).mean())
                factor += (
                    0.5 * math.log(TARGET / mean)
                    if variant == "paper"
                    else math.log(1.0 + 0.3 * (TARGET - mean))
                )
            memory.advance(number * night)
            measured += (memory.column(LOG_STRENGTH) - log_w).tolist()
            expected += [factor] * 4
    return measured, expected


# --- the models it cites --------------------------------------------------------------------------
@equation(
    "CM-8.3",
    source="Tetzlaff et al. 2011: dw/dt = mu u v + gamma (v_T - v) w^2, w* = sqrt(mu u v / (gamma (v - v_T)))",
    atol=1e-3,
    papers=("tetzlaff2011synaptic",),
)
def hebbian_growth_and_scaling_balance_at_the_fixed_point_of_tetzlaff(specimen: Any) -> Any:
    mu, gamma, u, v, v_t, w = 0.1, 0.05, 1.0, 0.6, 0.2, 1.0
    for _ in range(2000):
        w = float(specimen.power_ratio(w, v, v_t, ALPHA)) + mu * u * v
    return w, math.sqrt(mu * u * v / (gamma * (v - v_t)))


ratios = paper.scaling_keeps_ratios_and_order_within_a_domain.of_variety(as_scaling)
rossum = paper.error_and_integral_drive_the_weight_in_proportion_to_itself.of_variety(as_scaling)
silence = paper.a_silenced_neuron_scales_up_by_the_closed_form.of_variety(as_scaling)
drift_free = (
    paper.scaling_changes_the_mean_of_spike_timing_plasticity_only_away_from_the_goal.of_variety(
        as_scaling
    )
)
deprivation = paper.two_days_of_silence_double_all_weights.of_variety(as_scaling, drawn=False)


# --- figures --------------------------------------------------------------------------------------
@figure(
    "error",
    caption="Each step of the printed rule takes the share alpha off the logarithm of the error: above 1 it overshoots, at 2 it "
    "alternates",
    source="Cortex 4.4.3; (1 - alpha)^n",
)
def error_over_steps(specimen: Any) -> Picture:
    curves = []
    for alpha, last in ((ALPHA, 20), (0.5, 20), (1.5, 20), (2.0, 11)):
        r = [3.0 * TARGET]
        for _ in range(last):
            r.append(float(specimen.power_ratio(r[-1], r[-1], TARGET, alpha)))
        curves.append(Curve(f"alpha {alpha:g}", np.arange(last + 1), np.log(np.array(r) / TARGET)))
    return Picture("step", "ln of rate over target", tuple(curves))


@mutant("the inverse ratio", rejected_by="CM-8.2")
def inverted(specimen: Any) -> Any:
    return specimen.replacing(
        "power_ratio", lambda w, r, r_target, alpha: w * (r / r_target) ** alpha
    )


@mutant("an additive step", rejected_by="CM-8.2")
def additive(specimen: Any) -> Any:
    return specimen.replacing(
        "power_ratio", lambda w, r, r_target, alpha: w + alpha * (r_target - r)
    )


@mutant("the factor of a night replaces those of the nights before", rejected_by="HSP-3")
def last_night_alone(specimen: Any) -> Any:
    def regulate(self: Any, view: Any, tick: Any) -> None:
        view.printed_scaling_factor = 0.0
        specimen.HomeostaticScalingPrinted.regulate(self, view, tick)

    return specimen.overriding("HomeostaticScalingPrinted", regulate=regulate)


@mutant("memories that do not show have a mean of a tenth", rejected_by="HSP-3")
def never_empty(specimen: Any) -> Any:
    return specimen.replacing(
        "mean_strength",
        lambda log_strength, visible: specimen.mean_strength(log_strength, visible) or 0.1,
    )


@mutant("the factor of the public code is at least a hundredth", rejected_by="HSP-4")
def a_hundredth(specimen: Any) -> Any:
    return specimen.replacing(
        "proportional", lambda w, r, target, gain: w * max(1.0 + gain * (target - r), 0.01)
    )
