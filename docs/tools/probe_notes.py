"""What the pages of probes say beside their numbers: published data, curves, protocols that were
changed, and why sets fail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Curve:
    """Which numbers of a probe make a curve.

    series    label and (x, name of the number) of each line
    of        sets that are drawn
    """

    x: str
    series: Sequence[tuple[str, Sequence[tuple[float, str]]]]
    y: str = ""
    of: tuple[str, ...] = ("waking", "night", "everything")

    def sets(self, results: Mapping[str, Any]) -> list[str]:
        return [name for name in self.of if name in results["sets"]]


@dataclass(frozen=True)
class Published:
    """Published data drawn beside ours: lines of a curve, or single numbers by name."""

    label: str
    source: str
    series: Sequence[tuple[str, Points]] = ()
    numbers: Sequence[tuple[str, float]] = ()
    note: str = ""


LAGS = (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)

CURVES: Mapping[str, Curve] = {
    "lag_crp/distractor": Curve("lag", [("", [(lag, f"lag {lag:+d}") for lag in LAGS])]),
    "behavioural_tagging/lags": Curve("h, strong minus weak", [(kind, [(lag,
    f"{kind} {lag:+d} h") for lag in (-5, -3, -1, 0, 1, 2)])
                                                                for kind in ("shared", "apart")],
                                                                of=("waking", "everything")),
    "behavioural_tagging/apart": Curve("h, strong minus weak", [(kind, [(lag,
    f"{kind} {lag:+d} h") for lag in (-5, -3, -1, 0, 1, 2)])
                                                                 for kind in ("apart",)],
                                                                 of=("waking", "night",
                                                                 "everything")),
    "partial_cue/noise": Curve("% of words left out", [("", [(x, f"p at {x}%") for x in (0, 40, 60,
    80)]), ("dense", [(x, f"dense at {x}%")
                                                                                                            for x in (0, 40, 60, 80)])],
                               of=("hybrid", "waking", "everything")),
    "capacity/load": Curve("memories", [("", [(n, f"p at {n}") for n in (15, 30, 60, 120)]),
                                        ("dense", [(n, f"dense at {n}")
                                                                                           for n in (15, 30, 60, 120)])],
                           of=("hybrid", "waking", "everything")),
    "retrograde_gradient/lesion": Curve("day of the item", [(kind, [(d,
    f"{kind}, day {d}") for d in (1, 10, 20, 29)])
                                                            for kind in ("intact", "lesion")],
                                                            of=("night", "everything")),
    "mnemonic_similarity/bins": Curve("bin of similarity, 5 most alike", [("", [(i,
    f"LDI {i}") for i in range(1, 6)]),
                                                                          ("dense", [(i,
                                                                          f"dense LDI {i}") for i in range(1, 6)])],
                                      of=("waking", "everything")),
    "permastore/years": Curve("year", [(kind, [(y, f"{kind}, year {y}") for y in (1, 2,
    3)]) for kind in ("learnt well", "told once")], y="chance of recall",
                              of=("waking", "night", "everything")),
    "old_memory_cost/years": Curve("years old", [("", [(y, f"p, {y} years old") for y in (0, 1, 2,
    3)])], y="share in the top 3"),
    "gate_auc/stream": Curve("share stored of what is not worth it", [("", [(0.05, "hits at 0.05"),
    *((x / 10, f"hits at 0.{x}")
                                                                                                   for x in range(1, 10))])],
                             y="share stored of what is worth it"),
}  # fmt: skip

PUBLISHED: Mapping[str, Published] = {
    "sleep_schedule/two_process": Published("two-process model, amplitude 0.12",
                                            "daan1984timing, check 9.6",
                                            numbers=[("period", 24.0), ("sleep", 7.94), ("wake",
                                            16.06)]),
    "context_switch/trials": Published("trials of the reduced recursion",
                                       "yu2005uncertainty, check NE-4",
                                       numbers=[("events at 0.95", 1.0), ("events at 0.8", 4.0)]),
    "gate_auc/stream": Published("chance", "the diagonal", [("chance", [(0.05, 0.05), (0.9,
    0.9)])]),
    "behavioural_tagging/lags": Published(
        "model with tags and proteins", "check 4.6", [("model, late phase", [(-5, 0.826), (-3,
        0.819), (-1, 0.765), (0, 0.604), (1, 0.2), (2, 0.0)])],
        note="The model's late phase is a share, ours a gain in ln; the shape can be compared."),
}  # fmt: skip

WITHOUT_WORDS = (
    "Recall without words, beside other memories, by the readout of the experiments with people. In the first "
    "version the number was the strength of a memory alone, ACTIVATION + LOG_STRENGTH."
)
CHANGED: Mapping[str, str] = {
    "predictive_recall/order": "The walks are recalled in one conversation. In the first version the questions came from nowhere; uses from "
    "nowhere do not follow each other, so there was no walk to learn.",
    "paraphrase/questions": "The 4 people are the same for all facts. In the first version each fact had people of its own, so the name alone left "
    "few facts to choose from: meaning alone found 99% first, and hardly a memory without a mistake was in the band.",
    "scope_rules/speaker": "The probe writes the file of rules. In the first version it brought none, so no set of the project could follow one.",
    "abstention/curve": "The probability is fitted to other lives. In the first version nothing was fitted: the probabilities of `everything` put "
    "the answers in order and were .35 off.",
    "when_did/distractors": "The person has another companion at each of the 6 times. In the first version the texts of one kind were equal but for "
    "their date, and a memory that refuses repetitions kept one of them.",
    "who_said_it/speakers": "The experiment was changed while its description stayed the same; the first version is not kept.",
    "partial_cue/noise": "100 facts are made of 20 names, objects, places and trades. In the first version 50 facts had words of their own, and one "
    "word that was left told which fact it was.",
    "role_filler/permutations": "The question is in the passive. In the first version it had the words of the true sentence in the same order.",
    "behavioural_tagging/lags": "The weak sentences are told in random order; in the first version their order went with the lag.",
    "behavioural_tagging/apart": "The weak sentences are told in random order; in the first version their order went with the lag.",
    "spacing_effect/crossover": WITHOUT_WORDS,
    "permastore/years": WITHOUT_WORDS,
    "emotional_enhancement/easy": WITHOUT_WORDS,
    "emotional_enhancement/hard": WITHOUT_WORDS,
    "sleep_benefit/wake_sleep": WITHOUT_WORDS,
    "sleep_schedule/two_process": "The experiment was changed while its description stayed the same; the first version is not kept.",
    "ab_ac/blocked": "The number is the strength of the first list beside lives without the second list. In the first version it was the margin of "
    "the item when the person was asked for, which a second list with the same cues always lowers. The factor .9 stayed.",
    "ab_ac/interleaved": "As for `ab_ac/blocked`.",
    "context_switch/trials": "30 sentences about this and that come first. In the first version the memory knew nothing but cooking.",
    "intent_weights/time": "The number is the share of the facet WHEN, the time asked for. The first version added TIME, which is how recent a "
    "memory is, and which a question about a time lowers.",
    "blocking/ab": "A reward is told after the person, in one session. In the first version both were one event, which leaves nothing to predict the "
    "reward from.",
    "selectivity/modifiability": "MODIFIABILITY is read after the last recall. The first version waited for another half day with a night.",
    "old_memory_cost/years": "The claim that old facts are found as well is now about their loss, at most .1. In the first version it was an order, "
    "which is not shown where nothing is lost.",
}

SECOND_BASE = (
    "This base is the set without its two gates. Gates that refuse most sentences of one template leave little to associate, to transfer "
    "or to forget in the full set; `hybrid` has neither sleep nor associations, so what acts on them has nothing to act on."
)
INERT: Mapping[str, str] = {  # why a mechanism moves no probe
    "stage_detection": "its stages are read by `stage_summary` and by sources of contexts, which `everything` leaves out; no path leads to an "
    "answer."
}

REASONS: Mapping[str, str] = {
    "ab_ac/blocked": "The second list costs the first one 4% of its strength in `waking` and nothing in `night`; in `everything` recall of the "
    "second list makes the first one stronger.",
    "ab_ac/interleaved": "In `waking` and `everything` both orders keep the first list alike, so interleaving gains nothing; only `night` makes a "
    "difference.",
    "ab_ac/answers": "Only sets with `sleep_orthogonalisation` turn memories away from each other, by a thousandth to a hundredth of the spread of "
    "all scores; in `night` what else changes over a night costs more than that, and in `everything` the gates refuse the second "
    "sentence about a person.",
    "adjacent_answer/pairs": "By words alone no reply is found. By meaning alone few are, but more of those after a question, so a memory without "
    "`adjacency_pairs` can be in the band, too.",
    "answer_type/kinds": "Without `answer_type` a question finds the sentence that says no more than it, since the others have further words; in "
    "`everything` the gates refuse three of four sentences about a person and a place.",
    "abstention/curve": "A set without `sufficiency_gate` judges no answer.",
    "archived_evidence/hops": "Only `everything` links versions. Without its gates it reaches every version: `fact_timeline` answers all of a fact "
    "when what was before is asked; with its gates a quarter of the sentences is stored.",
    "behavioural_tagging/lags": "A strong event 2 h later still rescues, because tags and proteins last 15.6 times as long as the paper's; before "
    "and after are alike at 1 h.",
    "behavioural_tagging/apart": "Sets without `synaptic_tagging` rescue nothing; in `everything` the gates refuse some of the weak sentences, so "
    "their strength is not defined.",
    "blocking/ab": "Only sets with `dopamine` predict rewards.",
    "capacity/load": "Dense similarity alone finds as much from half of the words; completion adds nothing to it at 120 memories, and the gates of "
    "`everything` refuse most of them.",
    "cluster_binding/sessions": "Without `dendritic_integration` the difference comes from temporal context and does not grow with the number of "
    "matches.",
    "cluster_modulation/territory": "Only sets with `tripartite_synapse` change what a cluster passes on; in `everything` the topic that was not "
    "asked for is as active.",
    "context_switch/trials": "In some lives the change of topic is never noticed within 12 events, so the mean is not defined.",
    "contradiction/both": "In `everything` the gates refuse corrections that are made of the words of the first statement.",
    "correction_holds/after_nights": "No set prefers the corrected value to the old one: both match the question, and the newest is first in a sixth "
    "to a half of the cases.",
    "delay_horizon/choice": "The horizon grows after reward, but what it changes in the prediction does not reach the scores of these memories.",
    "deletion_holds/after_nights": "What its owner archives is withheld by the engine, whatever the mechanisms vote: no answer has it and no "
    "made unit quotes it. In `everything` a gate refuses one password in three, so it cannot be answered before.",
    "distortion_budget/twice": "Only sets with `gist_compression` condense.",
    "distortion_budget/value": "At its level of .05 these texts are condensed below a fifth of the usual strength only, which nothing reaches in "
    "eight weeks; what is said twice is condensed earlier, as `distortion_budget/twice` shows.",
    "duplicate_gating/stream": "Sets without a gate store everything; in `everything` the gates refuse half of the facts and corrections, which are "
    "made of one template.",
    "emotional_enhancement/easy": "Without words a strong feeling is recalled more often than a neutral event in "
    "`waking`, and a moderate one is not; `night` does not judge feeling.",
    "emotional_enhancement/hard": "In `waking` and `everything` the alike items are judged easy, and feeling changes little beside "
    "them; `night`, which does not judge feeling, is in the "
    "band by chance of what it replays.",
    "equal_texts/age_and_use": "In sets without time or use the two are equal, and ties are broken at random; in `waking` the younger one is ahead "
    "in little more than half of the pairs, and in `everything` the gates refuse the second of two sentences that differ "
    "in the place alone.",
    "event_order/tau": "Only sets with `event_ordering` answer in order of time; in `everything` the gates refuse most of the events, which are made "
    "of few words.",
    "fusion_identities/agreement": "In `waking` and `night` the memory that shares the question's words alone is first in half of the cases, "
    "because other signals count, too; in `hybrid` ties of the two lists are broken by the order of telling.",
    "gate_auc/stream": "A set without a gate stores everything, and its area is one half; with 5 seeds True Memory's gate alone reaches .79 as "
    "printed and .81 as coded, Cortex's .52.",
    "intent_weights/time": "Only sets with `query_intent` weigh facets.",
    "knowledge_update/current": "The newest value is first in a quarter to a half of the cases: recency counts less than wording, and no value is "
    "marked as replaced.",
    "knowledge_update/states": "Without `present_state` the newest state is first in .11 to .30 of the series, though it is among the ten; in "
    "`everything` the gates refuse half of the events, new states above all. Of the 18 series that were not looked at "
    "while its rules were written, `waking` answers .94. Measured with `present_state`; the other probe of this page "
    "is older.",
    "lag_crp/distractor": "Each recall is drawn by the readout at temperature 1. The word of the cue matches best and takes most of "
    "the spread of scores, so the preference for the next item is small: in `waking` the order of lags is that of people, and the ratio "
    "is below the band.",
    "memory_linking/hours": "Sets without `engram_allocation` link nothing by the time of telling; in `night` replay links memories of other days as"
    " well.",
    "mnemonic_similarity/bins": "In `waking` every lure is told from its memory, as by similarity alone at its best threshold, so nothing is left "
    "to gain; the other sets find fewer repetitions or none.",
    "multi_hop/chain": "The signals of association count too little beside meaning and words; the set `hipporag` finds all pairs two hops away.",
    "needle/depths": "A misspelt name is found as often by meaning alone; in `everything` the gates refuse most needles after the first, which are "
    "made of one template.",
    "needle/passages": "Half of the letters or more are found by words; signals other than those of words do not tell a letter from one that has the "
    "same words apart.",
    "paired_associates/words": "In `night` and `everything` the signals of association count too little beside similarity of meaning.",
    "paraphrase/questions": "Only a look at single words gains: `late_interaction_rerank` over meaning alone, or over words and meaning, as in "
    "`true_memory_code`. The other signals of `waking` and `everything` lose more than it gains.",
    "partial_cue/noise": "Completion adds nothing to similarity of meaning.",
    "permastore/years": "In `waking` what was told once keeps as much; a search has no signal without words.",
    "predictive_recall/order": "The successor representation learns from three walks; its signal gives the next item a lead, and changes the order "
    "of few memories.",
    "pruning_selectivity/weeks": "A pair in use is weaker after two months than on day 1, though stronger than an unused one; `waking`, which "
    "prunes nothing, is in the band by differences of a hundredth.",
    "rapid_reuse/recovery": "Only sets with `short_term_plasticity` use up what a memory passes on.",
    "reconsolidation/mismatch": "The altered version is stored beside the old one and is not preferred to it.",
    "redundancy/wordings": "Curation merges repetitions word for word, not wordings of one fact.",
    "repetition_suppression/text": "Only sets with `predictive_coding` predict the next message.",
    "retrograde_gradient/lesion": "Without sleep nothing moves to the cortex, and what is old is lost as what is young.",
    "reversal_learning/ab_ac": "In `waking` no association between the words is learnt; in `night` both partners change as they should and end "
    "alike; in `everything` the gates refuse words, so margins are not defined.",
    "reverse_replay/reward": "Without sleep nothing is replayed; in `night` and `everything` steps are replayed forward whatever the reward.",
    "reward_modulated_memory/after": "A reward strengthens the event that brings it, not the one before.",
    "role_filler/permutations": "The six sentences have the same words, and no set gives roles enough weight.",
    "runaway_control/speakers": "Replay and use change strength more than the common factor of a speaker does; in `everything` the gates refuse some "
    "facts.",
    "salience/news": "Only `everything` judges what was new, and its gates refuse the repetitions, as that of `waking` does, so there is nothing to"
    " compare.",
    "schema_learning/lesion": "One schema of 30 items does not form in these sets; in `everything` the gates refuse the new items.",
    "scope_rules/speaker": "A set without `rule_filter` has no use for the rule.",
    "selectivity/modifiability": "Only sets with `bcm_metaplasticity` slide a threshold, and it averages over five occasions, so that eight memories "
    "in turn hardly differ.",
    "sequence_prediction/order": "Sets without a directed association answer by meaning; in `everything` the gates refuse some repetitions of the "
    "sequence.",
    "shared_memory/filters": "Filters are the engine's, and hold in every set: no answer has a word of somebody else. In `everything` the gates refuse "
    "seven facts in ten, which are made of one template, so what its owner asks for is not there.",
    "sleep_benefit/wake_sleep": "A night raises the memories of the day before as well as those of the evening, so that beside them nothing gains.",
    "sleep_schedule/two_process": "Only sets with `sleep_pressure` decide when to sleep.",
    "spacing_effect/crossover": "Close uses help more at once in `waking` and `everything` without its gates, as they should, "
    "and a week later still: a fact that was told the day after is nearer to the context of its "
    "session. `base_level_activation` beside `rational_fusion` alone is in the band.",
    "standing_instruction/no_shared_words": "By meaning and words alone, 78% of the requests find their instruction, and a statement on the same "
    "subject finds it in 28% or more. In `everything` the gates refuse three of four events; without them "
    "two in three requests find it.",
    "surprise_recall/news": "Only `everything` judges news, and its gates refuse some new messages, so the number is not defined in every seed.",
    "when_did/distractors": "A date is found, but fewer than half of the questions with weeks ago are placed in the right week; in `everything` the "
    "gates refuse five of six events.",
    "when_did/alone": "Without `temporal_index` a time is a word among others; in `everything` the gates refuse what is told in the form of an "
    "earlier message.",
    "when_did/both": "Without `temporal_index` the words of a date find the day in .80 to .87 of the questions where words count, and the week in a "
    "quarter to a third; in `everything` the gates refuse what is told of a thing again.",
    "who_said_it/speakers": "The gates of `waking` and `everything` compare the text without its speaker and refuse what another speaker said "
    "before.",
    "who_said_it/roles": "Without `asker_prior` the two are equal; in `everything` the gates refuse what the second speaker says of a thing.",
    "write_to_recall/lag": "In `everything` the gates refuse more than half of the facts at once.",
    "old_memory_cost/years": "In `everything` the gates refuse more of the facts the more of their template are stored, so new facts are found less "
    "often than old ones.",
}

# what sets of papers make of a probe: `docs/tools/probe_pages.py`, PAPERS
BESIDE: Mapping[str, str] = {
    "archived_evidence/hops": "`true_memory` answers all versions of a fact when what was before is asked. `all_mem` follows two links at most and "
    "40 memories, as its paper fixes: versions replaced three or four times are beyond them. With four links and 80 "
    "memories .003 is unreachable, with either alone .31.",
    "contradiction/both": "`true_memory` and `all_mem` find every version.",
    "knowledge_update/current": "`true_memory` lowers what a later fact supersedes. `all_mem` edits after three sessions or 512 memories; the probe "
    "names no session, so no run is due. That is not what costs it: with a run every night every former value is "
    "archived, and the newest is first in .41, since typed expansion reaches the archived ones and its paper ranks all "
    "by cosine alone (eq. 35). Without expansion the newest is first in all cases, and no earlier one is found.",
    "redundancy/wordings": "`all_mem` ranks by descriptors, whose keywords repeat words of the summary, and varies nothing; ranked by the texts it "
    "finds as many facts as there are among the ten nearest.",
    "surprise_recall/news": "`true_memory` judges news; nothing in `all_mem` does.",
    "who_said_it/speakers": "`true_memory` and `all_mem` tell the speakers apart.",
    "who_said_it/roles": "Neither `true_memory` nor `all_mem` has `asker_prior`.",
}
