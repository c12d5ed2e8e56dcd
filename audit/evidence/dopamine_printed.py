"""Evidence for dopamine_printed: the equations of Cortex 4.1.3, and the checks of the papers'
form applied to them.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ...engine.contract.vocabulary import INITIAL_STRENGTH, PLASTICITY
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ..checks import adaptation, mutant
from ..memory import encode, memory_of
from . import dopamine as papers


def as_learner(specimen: Any) -> SimpleNamespace:
    """The printed form under the names of the papers' form: it has no sum over cues and no next
    value, and V never changes.
    """
    return SimpleNamespace(
        prediction=lambda value, cues: float(value[cues[0]]) if len(cues) else 0.0,
        error=lambda r, v, v_next, gamma: specimen.error(r, v),
        learn=lambda value, cues, alpha, beta, delta: None,
        tone=lambda delta, gain, most: specimen.tone(gain * delta, most),
    )


# --- as printed -----------------------------------------------------------------------------------
@adaptation("DAP-1", source="Cortex 4.1.3: DA = 1 + r - V(s) in [0, 3]", papers=("cortex2026",))
def the_printed_tone_is_one_plus_outcome_minus_prediction(specimen: Any) -> Any:
    cases = ((0.0, 0.0), (1.0, 0.25), (0.0, 0.5), (-2.0, 1.0), (5.0, 0.0))
    return [specimen.tone(specimen.error(r, v), 3.0) for r, v in cases], [1.0, 1.75, 0.5, 0.0, 3.0]


@adaptation(
    "DAP-2",
    source="the rates Cortex 4.1.3 gives: bursts of 20 to 30 Hz over a baseline of 5 Hz",
    warn=True,
    papers=("cortex2026",),
)
def the_printed_bounds_contain_the_bursts_at_the_printed_rates(specimen: Any) -> Any:
    return [specimen.tone(rate / 5.0 - 1.0, 3.0) for rate in (0.0, 5.0, 20.0, 30.0)], [
        0.0,
        1.0,
        4.0,
        6.0,
    ]


@adaptation(
    "DAP-3",
    source="closed form: nothing is learnt, so every reward has the same error",
    needs="engine",
)
def a_reward_never_becomes_expected(specimen: Any) -> Any:
    params = specimen.DopaminePrintedParams(
        time_scale=1.0, predicted=0.0, most=3.0, encoding_gain=0.1
    )
    engine = Engine([specimen.DopaminePrinted("dopamine_printed", params)], HashingEmbedder(64))
    papers.told(engine, 0, *[papers.ALONE] * 10)
    return engine.store.array(INITIAL_STRENGTH)[1::2], 0.1 * 0.5


@adaptation(
    "DAP-4",
    source="Cortex 4.1.3 by hand: rewarding and punishing words of each event, p / (1 + p) - n / (1 + n), less a prediction of 1/4",
    atol=1e-12,
    papers=("cortex2026",),
)
def in_a_memory_each_event_sets_the_tone_and_its_strength(specimen: Any) -> Any:
    memory, tones = memory_of(specimen, predicted=0.25, most=1.2, encoding_gain=0.6), list[float]()
    told = (
        ("The box is here.", 0.75),
        ("A wonderful box.", 1.2),
        ("I lost the box.", 0.25),
        ("Happy and glad, she lost the box.", 1.0 + 2 / 3 - 0.5 - 0.25),
        ("The box.", 0.75),
    )
    for hour, (text, _) in enumerate(told):
        encode(memory, (float(hour), text))
        tones.append(float(memory.column(PLASTICITY)))
    by_hand = [tone for _, tone in told]
    return (
        [*tones, *memory.column(INITIAL_STRENGTH)],
        [*by_hand, *(0.6 * (tone - 1.0) for tone in by_hand)],
    )


# --- the papers' checks ---------------------------------------------------------------------------
acquisition = papers.one_cue_approaches_its_outcome_exponentially.of_variety(as_learner)
overshadowing = papers.cues_share_an_outcome_in_proportion_to_salience.of_variety(as_learner)
schedules = papers.any_schedule_of_compounds_follows_the_rule.of_variety(as_learner)
chain = papers.values_of_a_chain_are_discounted_by_the_steps_to_reward.of_variety(as_learner)
fixed_point = papers.the_fixed_point_is_that_of_the_markov_reward_process.of_variety(as_learner)
clip = papers.the_tone_is_the_clipped_sum_of_baseline_and_error.of_variety(as_learner)
no_future = papers.without_a_next_value_the_error_is_outcome_minus_prediction.of_variety(as_learner)
no_gain = papers.without_gain_the_tone_stays_at_its_baseline.of_variety(as_learner)
blocking = papers.a_redundant_cue_learns_nothing.of_variety(as_learner)
control = papers.without_pretraining_two_cues_share_the_outcome.of_variety(as_learner)
overexpectation = papers.two_full_predictors_together_fall_to_half.of_variety(as_learner)
inhibition = papers.a_cue_paired_with_omitted_reward_becomes_an_inhibitor.of_variety(as_learner)
transfer = papers.the_error_moves_from_the_reward_to_the_cue.of_variety(as_learner)


# --- figures --------------------------------------------------------------------------------------
acquisition_picture = papers.prediction_over_trials.of_variety(
    "The printed prediction over trials: it stays at 0, as no rule changes it", as_learner
)
blocking_picture = papers.a_blocked_cue_and_its_control.of_variety(
    "Blocking and its control: nothing is learnt in either, so neither cue predicts the reward",
    as_learner,
)
schultz_picture = papers.errors_of_a_trial.of_variety(
    "Prediction error from cue to reward: after any number of trials it stays at the reward, and there is no pause if the reward is omitted",
    as_learner,
)


@mutant("upper bound 6, from the printed rates, in place of the printed 3", rejected_by="DAP-1")
def wider(specimen: Any) -> Any:
    return specimen.replacing("tone", lambda delta, most: min(max(1.0 + delta, 0.0), 6.0))


@mutant("no pause: the tone never falls below the baseline", rejected_by="DAP-1")
def no_pause(specimen: Any) -> Any:
    return specimen.replacing("tone", lambda delta, most: min(max(1.0 + delta, 1.0), most))


@mutant("plasticity stays at rest", rejected_by="DAP-4")
def at_rest(specimen: Any) -> Any:
    def experience(self: Any, view: Any, incoming: Any) -> None:
        specimen.DopaminePrinted.experience(self, view, incoming)
        view.plasticity = 1.0

    return specimen.overriding("DopaminePrinted", experience=experience)


@mutant("nothing is predicted", rejected_by="DAP-4")
def unpredicted(specimen: Any) -> Any:
    original = specimen.error
    return specimen.replacing("error", lambda r, v: original(r, 0.0))
