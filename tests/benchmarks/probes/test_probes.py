"""Every probe: its record, its numbers, and experiments of known outcome on memories written for
the purpose.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from hebbarium.audit.references import References, of_registry
from hebbarium.benchmarks.probes import abstention, event_order, gate_auc
from hebbarium.benchmarks.probes.harness.base import Numbers, Probe
from hebbarium.benchmarks.probes.harness.collection import chosen, own
from hebbarium.benchmarks.probes.harness.life import Life
from hebbarium.benchmarks.probes.harness.run import recorded
from hebbarium.benchmarks.systems.base import Capability, Retrieved, RetrievedEvent, System
from hebbarium.benchmarks.systems.hebbarium import Hebbarium
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.contract.vocabulary import THRESHOLD_SHIFT, VETO
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.testing.small import does, mechanism

PROBES = own()
every = pytest.mark.parametrize("probe", PROBES.values(), ids=PROBES)
FOLDER = Path(__file__).parents[3] / "benchmarks" / "probes"


@cache
def embedder() -> CachedEmbedder:
    return CachedEmbedder(HashingEmbedder(64), None)


@cache
def references() -> References:
    return of_registry(Registry.read())


def lived(probe: Probe, seed: int, make: Callable[[], System]) -> tuple[Numbers, str]:
    """Numbers of a probe and the digest of its stimuli."""
    life = Life(lambda *_: make(), embedder())
    try:
        return probe.run(life, seed), life.stimuli
    finally:
        life.close()


# --- records --------------------------------------------------------------------------------------
def test_ids_are_frozen() -> None:
    assert list(PROBES) == IDS


def test_the_page_lists_every_probe_with_its_capability() -> None:
    page = (FOLDER.parents[1] / "docs" / "reference" / "probes" / "index.md").read_text(
        encoding="utf-8"
    )
    rows = re.findall(r"^\| `(.+?/.+?)` \| (.+?) \|", page, re.M)
    assert rows == [(probe.id, probe.capability[:-1]) for probe in PROBES.values()]


@every
def test_a_record_names_what_exists(probe: Probe, registry: Registry) -> None:
    assert set(probe.matters) <= set(registry.entries) and set(probe.sets) <= set(registry.sets)
    assert not probe.source or probe.source in references()
    assert (
        all((probe.capability, probe.place, probe.protocol, probe.unit))
        and probe.capability.endswith(".")
        and probe.protocol.endswith(".")
    )
    assert (FOLDER / f"{probe.name}.py").is_file() or probe.id == "contradiction/both"


def test_no_probe_imports_a_mechanism() -> None:
    for file in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            named = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [a.name for a in node.names]
                if isinstance(node, ast.Import)
                else []
            )
            assert not [name for name in named if "mechanisms" in name], file


@every
def test_numbers_hold_what_the_band_names(probe: Probe, registry: Registry) -> None:
    numbers, stimuli = lived(
        probe, 1, lambda: Hebbarium(registry.build(registry.set("naive_rag")), embedder(), 0)
    )
    assert {name for claim in probe.band for name in claim.names} <= set(numbers) and len(
        stimuli
    ) == 64
    assert all(isinstance(value, float | int) for value in numbers.values())


@every
def test_stimuli_depend_on_the_seed_alone(probe: Probe) -> None:
    assert recorded(probe, 1)[0] == recorded(probe, 1)[0] != recorded(probe, 2)[0]


@every
def test_a_life_is_told_at_most_120_events(probe: Probe) -> None:
    _, stopped = recorded(probe, 0)
    assert stopped is None


def test_the_registry_names_probes_that_exist(registry: Registry) -> None:
    named = {name for entry in registry.entries.values() for name in entry.probes}
    assert named <= {probe.name for probe in PROBES.values()}


def test_everything_open_is_everything_without_its_gates(registry: Registry) -> None:
    gates = ("write_gate_true_memory", "write_gate_cortex")
    opened = registry.set(
        str(FOLDER.parents[1] / "docs" / "reference" / "probes" / "sets" / "everything_open.yaml")
    )
    assert opened.mechanisms == registry.set("everything").without(gates).mechanisms


def test_names_choose_all_variants_and_unknown_ones_are_refused() -> None:
    asked = ["emotional_enhancement", "needle/depths", "emotional_enhancement/easy"]
    assert [p.id for p in chosen(asked, PROBES)] == [
        "emotional_enhancement/easy",
        "emotional_enhancement/hard",
        "needle/depths",
    ]
    with pytest.raises(InputError, match="no probe 'lag_crb'") as refused:
        chosen(["lag_crb"], PROBES)
    assert "lag_crp" in refused.value.cure


# --- experiments whose outcome is known -----------------------------------------------------------
class Written:
    """A memory whose answer is a function of the events so far and the question: events with
    scores.
    """

    capabilities = frozenset(Capability)

    def __init__(
        self,
        answer: Callable[[list[Event], str], list[tuple[Event, float]]],
        admits: Callable[[list[Event], Event], bool],
    ) -> None:
        self._answer, self._admits, self._events = answer, admits, list[Event]()

    def encode(self, events: Sequence[Event]) -> None:
        for event in events:
            if self._admits(self._events, event):
                self._events.append(event)

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
        found = sorted(self._answer(self._events, query.text), key=lambda pair: -pair[1])[:k]
        return Retrieved(
            tuple(RetrievedEvent(event.id, score, event.text) for event, score in found)
        )

    def advance(self, time: float) -> None: ...

    def close(self) -> None: ...


def written(
    id: str,
    answer: Callable[[list[Event], str], list[tuple[Event, float]]],
    admits: Callable[[list[Event], Event], bool] = lambda old, new: True,
) -> Numbers:
    return lived(PROBES[id], 0, lambda: Written(answer, admits))[0]


def shared_words(events: list[Event], question: str) -> list[tuple[Event, float]]:
    """Events by the words that they share with the question; a word counts less the more events
    have it.
    """
    words = [set(re.findall(r"\w+", event.rendered().lower())) for event in events]
    asked = set(re.findall(r"\w+", question.lower()))
    frequency = Counter(word for each in words for word in each & asked)
    return [
        (event, sum(1.0 / frequency[word] for word in each & asked))
        for event, each in zip(events, words, strict=True)
    ]


def test_a_memory_that_knows_the_next_item_alone_moves_there_by_luce_s_rule() -> None:
    """One of 32 scores is higher: it is 32 / sqrt(31) standard deviations above the others, and is
    chosen among at most 15 items; where it is none of them, all that are left are equal.
    """

    def next_item(events: list[Event], question: str) -> list[tuple[Event, float]]:
        here = next(i for i, event in enumerate(events) if event.text == question)
        return [(event, float(i == here + 2)) for i, event in enumerate(events)]  # after other talk

    odds = math.exp(32.0 / math.sqrt(31.0))
    moves = written("lag_crp/distractor", next_item)
    assert odds / (odds + 14.0) < moves["P(+1)"] < odds / (odds + 10.0)
    assert 1.0 / (odds + 14.0) < moves["P(-1)"] < 1.0 / 11.0 and moves["lag +2"] < 1.0 / 11.0


def test_a_memory_of_equal_scores_moves_to_every_place_alike() -> None:
    moves = written("lag_crp/distractor", lambda events, q: [(event, 0.0) for event in events])
    assert all(1.0 / 15.0 <= chance <= 1.0 / 11.0 for chance in moves.values())


def test_a_memory_that_repeats_the_order_of_telling_predicts_the_next_item() -> None:
    def both(events: list[Event], question: str) -> list[tuple[Event, float]]:
        last = max((i for i, event in enumerate(events) if event.text == question), default=0)
        return [(event, -abs(i - last - 0.4)) for i, event in enumerate(events)]

    assert written("sequence_prediction/order", both)["next before previous"] == 1.0
    back = written(
        "sequence_prediction/order", lambda events, q: [(e, -s) for e, s in both(events, q)]
    )
    assert back["next before previous"] == 0.0


def test_the_order_of_the_answer_is_what_tau_measures() -> None:
    def in_order(sign: float) -> Callable[[list[Event], str], list[tuple[Event, float]]]:
        return lambda events, q: [
            (e, sign * i if "shed" in e.text else -1e6) for i, e in enumerate(events)
        ]

    assert (
        written("event_order/tau", in_order(-1.0))["tau"] == 1.0
        and written("event_order/tau", in_order(1.0))["tau"] == -1.0
    )
    assert written(
        "event_order/tau", lambda events, q: [(e, 0.0) for e in events if "shed" not in e.text]
    ) == {"tau": 0.0, "found": 0.0}
    assert event_order.tau(["a", "c", "b"], ["a", "b", "c"]) == pytest.approx(1 / 3)


def test_a_gate_that_refuses_equal_texts_refuses_repeats_alone() -> None:
    def everything(events: list[Event], question: str) -> list[tuple[Event, float]]:
        return [(event, 0.0) for event in events]

    def new(old: list[Event], event: Event) -> bool:
        return event.text not in {e.text for e in old}

    assert set(written("duplicate_gating/stream", everything, new).items()) == {
        ("refused repeats", 1.0),
        ("refused facts", 0.0),
        ("refused corrections", 0.0),
    }
    assert set(written("duplicate_gating/stream", everything).values()) == {0.0}
    assert set(
        written("duplicate_gating/stream", everything, lambda old, event: False).values()
    ) == {1.0}


def test_word_overlap_finds_speakers_by_name_and_cannot_tell_roles_apart() -> None:
    def by_speaker(events: list[Event], question: str) -> list[tuple[Event, float]]:
        return [
            (e, s + (10.0 if e.speaker and f" {e.speaker} " in question else 0.0))
            for e, s in shared_words(events, question)
        ]

    assert written("who_said_it/speakers", by_speaker)["hit@1 by name"] == 1.0
    # ties are broken by row
    assert written("role_filler/permutations", shared_words)["hit@1"] <= 1 / 3


def test_the_newest_version_is_first_in_a_memory_that_prefers_the_newest() -> None:
    def newest(events: list[Event], question: str) -> list[tuple[Event, float]]:
        return [(e, s + i * 1e-3) for i, (e, s) in enumerate(shared_words(events, question))]

    assert (
        written("knowledge_update/current", newest)["newest first"] == 1.0
        and written("contradiction/both", newest)["all versions"] == 1.0
    )
    oldest = written(
        "knowledge_update/current",
        lambda events, q: [(e, s - i) for i, (e, s) in enumerate(shared_words(events, q))],
    )
    assert oldest["newest first"] == 0.0


def test_words_are_enough_for_facts_and_exact_needles() -> None:
    assert written("needle/depths", shared_words)["hit@1 exact"] == 1.0
    told = written("write_to_recall/lag", shared_words)
    assert told == pytest.approx(
        {"at once": 1.0, "after the tick": 1.0, "after the night": 1.0, "lag": 0.0}
    )
    assert written("partial_cue/noise", shared_words)["p at 0%"] == 1.0


def test_chains_are_followed_by_a_memory_that_walks_them() -> None:
    def walk(events: list[Event], question: str) -> list[tuple[Event, float]]:
        pairs = {e.text.split()[0]: e for e in events}
        scores, name = (
            dict.fromkeys((e.id for e in events), 0.0),
            next(w for w in question.split() if w in pairs),
        )
        for step in range(3):
            if name not in pairs:
                break
            scores[pairs[name].id], name = 3.0 - step, pairs[name].text.rstrip(".").split()[-1]
        return [(e, scores[e.id]) for e in events]

    found = written("multi_hop/chain", walk)
    assert [found[f"linked, {hops}"] for hops in ("1 hop", "2 hops", "3 hops")] == [1.0] * 3
    assert found["broken, 1 hop"] == 1.0 and found["broken, 2 hops"] <= 0.2


@pytest.mark.parametrize(
    ("id", "pairs"),
    [
        ("partial_cue/noise", {"p at 40%": "dense at 40%", "p at 80%": "dense at 80%"}),
        ("role_filler/permutations", {"hit@1": "dense"}),
        ("paraphrase/questions", {"reciprocal rank": "dense"}),
        ("needle/depths", {"hit@1 misspelt": "dense misspelt"}),
    ],
    ids=lambda x: str(x)[:20],
)
def test_the_baseline_is_that_of_a_memory_with_embeddings_alone(
    id: str, pairs: dict[str, str], registry: Registry
) -> None:
    """The cosines that a probe computes beside the memory, against the set that has nothing
    else.
    """
    found, _ = lived(
        PROBES[id], 0, lambda: Hebbarium(registry.build(registry.set("naive_rag")), embedder(), 0)
    )
    assert {name: found[name] for name in pairs} == pytest.approx(
        {name: found[other] for name, other in pairs.items()}, abs=0.02
    )


def test_what_was_archived_is_not_answered_and_an_engine_without_links_does_not_reach_it(
    registry: Registry,
) -> None:
    def run(id: str, *, archives: bool = True) -> Numbers:
        life = Life(
            lambda found, _: Hebbarium(
                [*registry.build(registry.set("bm25")), *(found if archives else ())], embedder(), 0
            ),
            embedder(),
        )
        try:
            return PROBES[id].run(life, 0)
        finally:
            life.close()

    assert run("deletion_holds/after_nights") == {
        "answered before": 1.0,
        "answered": 0.0,
        "quoted": 0.0,
    }
    assert run("archived_evidence/hops")["unreachable"] == 1.0
    assert run("archived_evidence/hops", archives=False)["unreachable"] < 0.5


def test_a_memory_that_says_nothing_more_after_years_loses_nothing() -> None:
    found = written("old_memory_cost/years", shared_words)
    assert (
        found["p, 3 years old"] == found["p, 0 years old"] == 1.0
        and found["memories per event"] == 1.0
    )
    young = written(
        "old_memory_cost/years",
        lambda events, q: [(e, s + i) for i, (e, s) in enumerate(shared_words(events, q))],
    )
    assert young["loss in 3 years"] == young["p, 0 years old"] > 0.1


def test_what_a_rule_keeps_back_is_not_answered() -> None:
    def open_ones(events: list[Event], question: str) -> list[tuple[Event, float]]:
        return [(e, s) for e, s in shared_words(events, question) if e.speaker != "Secretary"]

    assert written("scope_rules/speaker", open_ones) == {
        "kept back, answered": 0.0,
        "open, answered": 1.0,
    }
    assert written("scope_rules/speaker", shared_words)["kept back, answered"] == 1.0


def test_a_memory_that_takes_no_filter_answers_with_the_words_of_others(registry: Registry) -> None:
    plain, _ = lived(
        PROBES["shared_memory/filters"],
        0,
        lambda: Hebbarium(registry.build(registry.set("naive_rag")), embedder(), 0),
    )
    assert plain == {"own, answered": 1.0, "others' words": 0.0, "others' words, no filter": 1.0}
    unfiltered = written("shared_memory/filters", shared_words)
    assert unfiltered["others' words"] == unfiltered["others' words, no filter"] == 1.0


def test_the_order_of_telling_shows_where_it_decides() -> None:
    def oldest(events: list[Event], question: str) -> list[tuple[Event, float]]:
        return [(e, -float(i)) for i, e in enumerate(events)]

    found = written("fusion_identities/agreement", shared_words)
    assert found["same answer twice"] == 1.0
    first = written("fusion_identities/agreement", oldest)
    assert first["both first"] <= 0.1 and first["same first in another order of telling"] <= 0.1


def test_the_younger_or_the_newest_is_ahead_in_a_memory_that_prefers_it() -> None:
    def by_age(sign: float) -> Callable[[list[Event], str], list[tuple[Event, float]]]:
        return lambda events, q: [
            (e, s + sign * i * 1e-3) for i, (e, s) in enumerate(shared_words(events, q))
        ]

    young, old = (
        written("equal_texts/age_and_use", by_age(1.0)),
        written("equal_texts/age_and_use", by_age(-1.0)),
    )
    assert (
        young["younger first"] == 1.0
        and old["younger first"] == 0.0
        and young["lead of the younger"] > 0.0 > old["lead of the younger"]
    )
    assert (
        written("ab_ac/answers", by_age(0.0))["lead before sleep"]
        == written("ab_ac/answers", by_age(0.0))["lead after sleep"]
        > 0.0
    )


def test_a_reply_is_found_by_a_memory_that_looks_at_what_came_before() -> None:
    def before(events: list[Event], question: str) -> list[tuple[Event, float]]:
        scores = shared_words(events, question)
        return [
            (e, s + (2.0 * scores[i - 1][1] if i and events[i - 1].text.endswith("?") else 0.0))
            for i, (e, s) in enumerate(scores)
        ]

    found, plain = (
        written("adjacent_answer/pairs", before),
        written("adjacent_answer/pairs", shared_words),
    )
    assert found["asked"] == 1.0 and found["not asked"] <= 0.3 and plain["asked"] <= 0.3
    assert found["margin, asked"] > 3.0 > found["margin, not asked"]


def test_a_question_for_a_kind_of_answer_is_met_by_a_memory_that_knows_the_kinds() -> None:
    kinds = {"When": r" in [A-Z]\w+ 2024", "How many": " times", "Who": " beside "}

    def kind(events: list[Event], question: str) -> list[tuple[Event, float]]:
        wanted = next(rule for start, rule in kinds.items() if question.startswith(start))
        return [
            (e, s + 0.1 * bool(re.search(wanted, e.text)))
            for e, s in shared_words(events, question)
        ]

    assert written("answer_type/kinds", kind)["right one first"] == 1.0
    never = written(
        "answer_type/kinds", lambda events, q: [(e, 1.0 - s) for e, s in kind(events, q)]
    )
    assert never["right one first"] == 0.0 > never["lead"]


def test_news_and_roles_are_chosen_by_a_memory_that_looks_at_them() -> None:
    def new(events: list[Event], question: str) -> list[tuple[Event, float]]:
        said: set[str] = set()
        found = []
        for e, s in shared_words(events, question):
            prices = set(re.findall(r"\d+", e.text))
            found.append((e, s + len(prices - said)))
            said |= prices
        return found

    def role(events: list[Event], question: str) -> list[tuple[Event, float]]:
        return [
            (e, s + (e.speaker == ("user" if "did I" in question else "assistant")))
            for e, s in shared_words(events, question)
        ]

    assert (
        written("salience/news", new)["new one first"] == 1.0
        and written("salience/news", shared_words)["new one first"] == 0.5
    )
    assert (
        written("who_said_it/roles", role)["right one first"] == 1.0
        and written("who_said_it/roles", shared_words)["right one first"] == 0.5
    )


def test_the_letter_is_found_by_the_sentence_that_has_all_words() -> None:
    def best_sentence(events: list[Event], question: str) -> list[tuple[Event, float]]:
        asked = set(re.findall(r"\w+", question.lower()))
        return [
            (
                e,
                float(
                    max(
                        len(asked & set(re.findall(r"\w+", part.lower())))
                        for part in e.text.split(".")
                    )
                ),
            )
            for e in events
        ]

    assert written("needle/passages", best_sentence)["letter first"] == 1.0


# --- numbers of their own -------------------------------------------------------------------------
def test_the_area_of_a_gate_has_its_closed_forms() -> None:
    rng = np.random.default_rng(0)
    scores, worth = rng.normal(size=200) + np.repeat([0.0, 1.0], 100), np.repeat([False, True], 100)
    brute = np.mean([(a > b) + 0.5 * (a == b) for a in scores[worth] for b in scores[~worth]])
    assert gate_auc.of_scores(scores, worth) == pytest.approx(brute)
    cuts = np.sort(scores)
    alarms, hits = (
        [float(np.mean(scores[rows] >= cut)) for cut in cuts] for rows in (~worth, worth)
    )
    # all thresholds: the same area
    assert gate_auc.area(alarms, hits) == pytest.approx(brute)
    # a memory without a gate stores everything
    assert gate_auc.area(*([1.0] * 14, [1.0] * 14)) == 0.5


def test_the_utterances_are_600_of_ten_kinds() -> None:
    pool = gate_auc.utterances()
    assert Counter(kind for kind, _ in pool) == dict.fromkeys((*gate_auc.WORTH, *gate_auc.NOT), 60)
    assert len({text for _, text in pool}) > 550  # people repeat themselves


WORTH = frozenset(text for kind, text in gate_auc.utterances() if kind in gate_auc.WORTH)


@pytest.mark.parametrize(
    ("score", "low", "high"),
    [
        (lambda text: float(text in WORTH), 1.0, 1.0),
        (lambda text: crc32(text.encode()) / 2**32, 0.35, 0.65),
    ],
    ids=["knows", "guesses"],
)
def test_a_gate_is_judged_by_what_it_stores_at_every_threshold(
    score: Callable[[str], float], low: float, high: float, registry: Registry
) -> None:
    def decide(view: Any, incoming: Any) -> None:
        view.veto += score(incoming.event.text) < 0.5 + view.threshold_shift

    gate, plain = (
        mechanism("gate", does(Phase.ENCODE, decide, reads=(THRESHOLD_SHIFT,), adds=(VETO,))),
        registry.build(registry.set("naive_rag")),
    )
    life = Life(
        lambda instruments, _: Hebbarium([gate, *plain, *instruments], embedder(), 0), embedder()
    )
    try:
        assert low <= PROBES["gate_auc/stream"].run(life, 0)["AUC"] <= high
    finally:
        life.close()


def test_risk_and_calibration_have_their_closed_forms() -> None:
    right = np.array([1.0, 1.0, 0.0, 0.0])
    assert abstention.area(right, np.array([0.9, 0.8, 0.2, 0.1])) == pytest.approx(
        (0 + 0 + 1 / 3 + 2 / 4) / 4
    )
    assert abstention.area(right, np.array([0.1, 0.2, 0.8, 0.9])) == pytest.approx(
        (1 + 1 + 2 / 3 + 2 / 4) / 4
    )
    assert abstention.area(right, np.full(4, 0.5)) == pytest.approx(0.5)
    assert abstention.calibration_error(right, np.full(4, 0.5)) == 0.0
    assert abstention.calibration_error(right, np.array([0.95, 0.95, 0.05, 0.05])) == pytest.approx(
        0.05
    )


IDS = [
    "ab_ac/blocked", "ab_ac/interleaved", "ab_ac/answers", "abstention/curve",
    "adjacent_answer/pairs", "answer_type/kinds",
    "archived_evidence/hops", "behavioural_tagging/lags", "behavioural_tagging/apart",
    "blocking/ab", "capacity/load", "cluster_binding/sessions",
    "cluster_modulation/territory", "context_switch/trials", "correction_holds/after_nights",
    "delay_horizon/choice",
    "deletion_holds/after_nights", "distortion_budget/value", "distortion_budget/twice",
    "duplicate_gating/stream", "emotional_enhancement/easy",
    "emotional_enhancement/hard", "equal_texts/age_and_use", "event_order/tau",
    "footprint/bytes",
    "fusion_identities/agreement", "gate_auc/stream",
    "intent_weights/time", "knowledge_update/current",
    "knowledge_update/states", "contradiction/both", "lag_crp/distractor",
    "memory_linking/hours",
    "mnemonic_similarity/bins", "multi_hop/chain", "needle/depths", "needle/passages",
    "old_memory_cost/years", "paired_associates/words",
    "paraphrase/questions", "partial_cue/noise", "permastore/years", "predictive_recall/order",
    "pruning_selectivity/weeks",
    "rapid_reuse/recovery", "reconsolidation/mismatch", "redundancy/wordings",
    "repetition_suppression/text",
    "retrograde_gradient/lesion", "reversal_learning/ab_ac",
    "reverse_replay/reward", "reward_modulated_memory/after", "role_filler/permutations",
    "runaway_control/speakers", "salience/news",
    "schema_learning/lesion", "scope_rules/speaker", "selectivity/modifiability",
    "sequence_prediction/order",
    "shared_memory/filters", "sleep_benefit/wake_sleep", "sleep_schedule/two_process",
    "spacing_effect/crossover",
    "standing_instruction/no_shared_words", "surprise_recall/news",
    "when_did/distractors", "when_did/alone",
    "when_did/both", "who_said_it/speakers", "who_said_it/roles", "write_to_recall/lag",
]  # fmt: skip
