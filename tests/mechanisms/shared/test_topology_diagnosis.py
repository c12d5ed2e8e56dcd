"""Diagnosis of a topology without a language model: segments, restatements, outdated values,
descriptors and plans, by hand.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from hebbarium.mechanisms.shared.topology_diagnosis import (
    Neighbourhood,
    Seen,
    best_cuts,
    described,
    diagnosed,
    merging,
    name_in,
    plan_of,
    restates,
    segments,
    sentence_spans,
    superseded_facts,
    told_change,
)
from hebbarium.mechanisms.shared.topology_edits import Descriptor, Operator, scripted
from hebbarium.mechanisms.shared.topology_links import Vector

PUMP = "The old pump in our garden drips again since the frost last winter and needs a seal."
VIOLIN = "My sister plays the violin with the town orchestra every second Sunday at noon now."


def vector(*values: float) -> Vector:
    found = np.array(values, np.float64)
    return np.asarray(found / np.linalg.norm(found), np.float32)


def seen(
    unit: int,
    text: str,
    name: str = "Ada",
    time: float = 0.0,
    at: Vector | None = None,
    whole: bool = True,
) -> Seen:
    rendered = f"{name}: {text}" if name else text
    return Seen(
        unit,
        text,
        time,
        sum(map(ord, name)),
        name,
        vector(1.0, 0.0) if at is None else at,
        lambda: described(rendered, text),
        whole,
    )


def topics(text: str) -> np.ndarray:
    """Vectors of the sentences of a text: one direction for each of the words pump, violin and
    neither.
    """
    return np.stack(
        [
            vector(
                *np.eye(3)[0 if "pump" in text[a:b] else 1 if "violin" in text[a:b] else 2] + 0.05
            )
            for a, b in sentence_spans(text)
        ]
    )


def test_sentences_have_their_place_in_the_text() -> None:
    text = "One.  Two two!\nThree?  One."
    assert [text[a:b] for a, b in sentence_spans(text)] == ["One.", "Two two!", "Three?", "One."]
    assert sentence_spans("") == [] and sentence_spans("  x ") == [(2, 3)]


def test_cuts_are_the_best_of_all() -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        vectors = np.array([vector(*rng.normal(0.3, 1.0, 3)) for _ in range(6)])
        values = {}
        for mask in range(32):
            cuts = [0, *(i + 1 for i in range(5) if mask >> i & 1)]
            values[tuple(cuts)] = sum(
                float(np.linalg.norm(part.sum(axis=0)))
                for part in np.split(vectors.astype(float), cuts[1:])
            ) - 0.4 * len(cuts)
        assert values[tuple(best_cuts(vectors, 0.4))] == pytest.approx(
            max(values.values()), abs=1e-9
        )


def test_two_topics_are_segments_that_are_exact_parts() -> None:
    text = f"{PUMP} It must be the tall pump. {VIOLIN} Her violin is red."
    spans, sure = segments(text, topics(text))
    assert [text[a:b] for a, b in spans] == [
        f"{PUMP} It must be the tall pump.",
        f"{VIOLIN} Her violin is red.",
    ] and sure >= 0.9


@pytest.mark.parametrize(
    "text", [f"{PUMP} {VIOLIN} Her violin is red.", f"{PUMP} It must be the tall pump. {VIOLIN}"]
)
def test_a_segment_of_one_sentence_is_less_sure(text: str) -> None:
    spans, sure = segments(text, topics(text))
    whole = f"{PUMP} It must be the tall pump. {VIOLIN} Her violin is red."
    assert len(spans) == 2 and 0.5 < sure < 0.9 < segments(whole, topics(whole))[1]


def test_a_segment_that_may_refer_back_is_less_sure() -> None:
    back = "Every second Sunday my sister plays it on the violin in the town."
    text = f"{PUMP} It must be the tall pump. {back} {VIOLIN}"
    spans, sure = segments(text, topics(text))
    assert len(spans) == 2 and 0.5 < sure < 0.9
    # within a segment it refers to the violin
    text = f"{PUMP} It must be the tall pump. {VIOLIN} {back}"
    assert segments(text, topics(text))[1] >= 0.9


@pytest.mark.parametrize("text", [
    PUMP, f"{PUMP} {PUMP}", f"{PUMP} The violin is good.",
    f"{PUMP} It is about the violin, which my sister plays with the town orchestra.",
    f"Yes. {VIOLIN}", "", "No. Yes.", f"{PUMP} {VIOLIN} " * 20])  # fmt: skip
def test_one_topic_a_short_part_and_a_reference_back_are_not_split(text: str) -> None:
    spans, sure = segments(text, topics(text)) if len(sentence_spans(text)) > 1 else ([], 0.0)
    assert not spans or sure < 0.9


def test_shared_terms_lower_the_confidence() -> None:
    other = "My sister plays the violin in our garden every second Sunday, last winter with a seal."
    assert (
        segments(f"{PUMP} {other}", topics(f"{PUMP} {other}"))[1]
        < segments(f"{PUMP} {VIOLIN}", topics(f"{PUMP} {VIOLIN}"))[1]
    )


KETTLE = "Our red kettle stands behind the green shelf."


@pytest.mark.parametrize(("other", "name"), [
    ("Our red kettle never stands behind the green shelf.", "Ada"),
    ("Our 2 red kettles stand behind the green shelf.", "Ada"), (KETTLE, "Bo"),
    ("Our red kettle stands behind the green shelf of Tom.", "Ada"),
    ("My sister's red kettle stands behind the green shelf.", "Ada"),
    ("Does our red kettle stand behind the green shelf?", "Ada"),
    ("No, I meant our red kettle stands behind the green shelf.", "Ada"),
    ("We sold the van and took the train back to the coast.", "Ada")])  # fmt: skip
def test_what_differs_in_a_detail_is_no_restatement(other: str, name: str) -> None:
    assert restates(seen(0, KETTLE), seen(1, KETTLE)) > 0.9
    assert restates(seen(0, KETTLE), seen(1, other, name)) < 0.9
    assert restates(seen(0, KETTLE), seen(1, other, name)) == restates(
        seen(1, other, name), seen(0, KETTLE)
    )


def test_the_same_words_about_another_day_are_no_restatement() -> None:
    text = "Yesterday our red kettle fell behind the green shelf."
    assert restates(seen(0, text), seen(1, text, time=3.0)) > 0.9
    assert restates(seen(0, text), seen(1, text, time=240.0)) == 0.0


def test_far_vectors_and_few_words_are_no_restatement() -> None:
    assert restates(seen(0, KETTLE), seen(1, KETTLE, at=vector(1.0, 1.0))) == 0.0
    assert restates(seen(0, "Good timing."), seen(1, "Good timing.")) == 0.0


def test_a_text_that_says_more_is_no_restatement() -> None:
    assert restates(seen(0, KETTLE), seen(1, f"As I said: {KETTLE}")) > 0.9
    assert restates(seen(0, KETTLE), seen(1, f"{KETTLE} Everybody wants plums tonight.")) == 0.0


def test_of_two_texts_that_both_say_more_neither_restates_the_other() -> None:
    assert (
        restates(
            seen(0, f"I keep saying it over lunch: {KETTLE}"),
            seen(1, f"{KETTLE} Plums again, dear."),
        )
        == 0.0
    )
    assert restates(seen(0, f"Once more: {KETTLE}"), seen(1, f"{KETTLE} I mentioned it.")) > 0.9


def test_a_bundle_of_negated_texts_is_restated_by_a_negated_one_only() -> None:
    text = "Our red kettle doesn't stand behind the green shelf."
    bundle = seen(2, f"{text}\nAs I said: {text}", whole=False)
    assert restates(bundle, seen(0, text)) > 0.9
    assert restates(bundle, seen(1, "Our red kettle does stand behind the green shelf.")) == 0.0


def test_a_merge_has_at_most_five_units_that_all_restate_each_other() -> None:
    near = [seen(i, KETTLE) for i in range(1, 9)]
    found = merging(Neighbourhood(seen(0, KETTLE), tuple(near)), 0.9)
    assert (
        found is not None and found.operator is Operator.MERGE and found.targets == (0, 1, 2, 3, 4)
    )
    assert merging(Neighbourhood(seen(0, KETTLE), (seen(1, VIOLIN),)), 0.9) is None


def test_a_change_told_in_free_words_makes_it_outdated_too() -> None:
    old, new = (
        seen(0, "The fountain in the park is dry."),
        seen(1, "The fountain in the park runs again.", time=5.0),
    )
    (proposal,) = diagnosed([Neighbourhood(old, (new,))], topics)
    assert (proposal.operator, proposal.targets, proposal.why) == (
        Operator.UPDATE,
        (1, 0),
        "change told",
    ) and proposal.confidence > 0.9
    assert told_change(seen(1, new.text, time=5.0, at=vector(0.6, 0.8)), old) < proposal.confidence
    assert told_change(seen(1, new.text, name="Bo", time=5.0), old) == 0.0 == told_change(old, old)


def test_a_changed_value_makes_the_earlier_text_outdated() -> None:
    rome, oslo = (
        seen(0, "I live in Rome."),
        seen(1, "I no longer live in Rome. I moved to Oslo.", time=5.0),
    )
    assert (
        superseded_facts(oslo, rome) >= 0.9
        and superseded_facts(rome, seen(2, "My cat is called Miso.")) == 0.0
    )
    assert superseded_facts(seen(1, "I moved to Oslo.", name="Bo"), rome) == 0.0
    # the second fact would be hidden
    assert superseded_facts(oslo, seen(0, "I live in Rome. My sister is called Mia.")) < 0.9
    proposals = diagnosed([Neighbourhood(rome, (oslo,)), Neighbourhood(oslo, (rome,))], topics)
    assert [(p.operator, p.targets) for p in proposals] == [(Operator.UPDATE, (1, 0))] * 2


def test_descriptors_name_who_said_it() -> None:
    text = "We moved to Oslo. So tired."
    assert (
        described(f"[6:00 am on 2 January, 1970] Ada: {text}", text).summary
        == "Ada: We moved to Oslo."
    )
    assert (
        described("", "") == Descriptor("", ())
        and name_in("x", "") == ""
        and name_in("[1] Ada: it: x", "it: x") == "Ada"
    )
    long = described("Ada: " + "a" * 5000, "a" * 5000)
    assert len(long.text) < 700


def test_plans_pass_validation() -> None:
    text = f"{PUMP} {VIOLIN}"
    told = (text, KETTLE, KETTLE, "I live in Rome.", "I moved to Oslo.")
    units = {i: seen(i, each, time=2.0 * i) for i, each in enumerate(told)}
    proposals = diagnosed(
        [Neighbourhood(units[i], tuple(u for u in units.values() if u.unit != i)) for i in units],
        topics,
    )
    assert {p.operator for p in proposals} == set(Operator)
    for proposal in proposals:
        target = units[proposal.targets[0]]
        script = scripted(
            proposal, plan_of(proposal, units, topics), target.text, target.descriptor, 0.9
        )
        for made in script.segments:
            assert text[made.start : made.end] in (PUMP, VIOLIN)
        if proposal.operator is Operator.UPDATE:
            assert (
                script.descriptor is not None
                and "current" in script.descriptor.keywords
                and "Rome" not in script.descriptor.text
            )


def test_diagnosis_of_any_text_raises_nothing() -> None:
    rng = random.Random(3)
    letters = "ab .!?\n'\"[]:,0123456789é🦊\u200b"
    for _ in range(300):
        texts = ["".join(rng.choice(letters) for _ in range(rng.randint(0, 60))) for _ in range(3)]
        units = [seen(i, text, rng.choice(("", "Ada: B"))) for i, text in enumerate(texts)]
        for proposal in diagnosed([Neighbourhood(units[0], tuple(units[1:]))], topics, least=0.0):
            plan_of(proposal, dict(enumerate(units)), topics)
