"""Evidence for dopamine_printed: what Cortex 4.1.3 says it does, and the checks of the papers' form on the printed one."""
from __future__ import annotations

import functools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from ...engine.loop import Engine
from ...engine.ports.embedder import HashingEmbedder
from ..checks import Check, adaptation, mutant
from . import dopamine as papers


def as_learner(specimen: Any) -> SimpleNamespace:
    """The printed form in the place of the papers': of compounds and futures it knows nothing, and no rule changes V."""
    return SimpleNamespace(
        prediction=lambda value, cues: float(value[cues[0]]) if len(cues) else 0.0,
        error=lambda r, v, v_next, gamma: specimen.error(r, v),
        learn=lambda value, cues, alpha, beta, delta: None,
        tone=lambda delta, gain, most: specimen.tone(gain * delta, most))


def on_printed(check: Check) -> Check:
    """A check of the papers' rules, asked of the printed equations."""

    @functools.wraps(check.function)
    def function(specimen: Any) -> Any:
        return check.function(as_learner(specimen))

    return replace(check, function=function)


# --- as printed --------------------------------------------------------------------------------------------------------------
@adaptation("DAP-1", source="Cortex 4.1.3: DA = 1 + r - V(s) in [0, 3]")
def the_printed_tone_is_one_plus_outcome_less_prediction(specimen: Any) -> Any:
    cases = ((0.0, 0.0), (1.0, 0.25), (0.0, 0.5), (-2.0, 1.0), (5.0, 0.0))
    return [specimen.tone(specimen.error(r, v), 3.0) for r, v in cases], [1.0, 1.75, 0.5, 0.0, 3.0]


@adaptation("DAP-2", source="the rates Cortex 4.1.3 gives: bursts of 20 to 30 Hz over a baseline of 5 Hz", warn=True)
def the_printed_bounds_hold_the_bursts_of_the_printed_rates(specimen: Any) -> Any:
    return [specimen.tone(rate / 5.0 - 1.0, 3.0) for rate in (0.0, 5.0, 20.0, 30.0)], [0.0, 1.0, 4.0, 6.0]


@adaptation("DAP-3", source="closed form: nothing is learnt, so the hundredth reward is as good as the first", needs="engine")
def a_reward_never_becomes_expected(specimen: Any) -> Any:
    params = specimen.DopaminePrintedParams(time_scale=1.0, predicted=0.0, most=3.0, encoding_gain=0.1)
    engine = Engine([specimen.DopaminePrinted("dopamine_printed", params)], HashingEmbedder(64))
    papers.told(engine, 0, *[papers.ALONE] * 10)
    return engine.store.persistent()["encoded"][1::2], 0.1 * 0.5


# --- the papers' checks ------------------------------------------------------------------------------------------------------
acquisition = on_printed(papers.one_cue_approaches_its_outcome_exponentially)
overshadowing = on_printed(papers.cues_share_an_outcome_by_their_salience)
schedules = on_printed(papers.any_schedule_of_compounds_follows_the_rule)
chain = on_printed(papers.values_of_a_chain_are_discounted_by_the_steps_to_reward)
fixed_point = on_printed(papers.the_fixed_point_is_that_of_the_markov_reward_process)
clip = on_printed(papers.the_tone_is_the_clipped_error_over_the_baseline)
no_future = on_printed(papers.without_a_future_the_error_is_outcome_less_prediction)
no_gain = on_printed(papers.without_gain_the_tone_stays_at_its_baseline)
blocking = on_printed(papers.a_cue_that_tells_nothing_new_learns_nothing)
control = on_printed(papers.without_a_history_two_cues_share_the_outcome)
overexpectation = on_printed(papers.two_full_predictors_together_fall_to_half)
inhibition = on_printed(papers.a_cue_of_missing_reward_becomes_an_inhibitor)
transfer = on_printed(papers.the_error_moves_from_the_reward_to_the_cue)


# --- to be seen --------------------------------------------------------------------------------------------------------------
acquisition_picture = papers.prediction_over_trials.of_variety(
    "The printed prediction over trials: it stays at nought, for no rule changes it", as_learner)
blocking_picture = papers.a_blocked_cue_and_its_control.of_variety(
    "Blocking and its control: nothing is learnt in either, so neither cue ever predicts the reward", as_learner)
schultz_picture = papers.errors_of_a_trial.of_variety(
    "Prediction error from cue to reward: after any number of trials it is at the reward, as before learning, and no pause marks one that fails",
    as_learner)


@mutant("bounds at the bursts of its own rates, which is not what is printed", rejected_by="DAP-1")
def wider(specimen: Any) -> Any:
    return specimen.replacing("tone", lambda delta, most: min(max(1.0 + delta, 0.0), 6.0))


@mutant("dopamine that cannot pause", rejected_by="DAP-1")
def no_pause(specimen: Any) -> Any:
    return specimen.replacing("tone", lambda delta, most: min(max(1.0 + delta, 1.0), most))
