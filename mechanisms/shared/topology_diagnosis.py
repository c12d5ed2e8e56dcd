"""Diagnosis and plans of a memory topology without a language model: what to split, to merge and to
update, with confidences, and the descriptors.

Split    the sentences fall into topical segments: sums of their vectors, cut where the gain in
         length exceeds a penalty
Merge    two texts of one speaker say the same: equal numbers, times, negated words, names,
         relatives and friends, near vectors, mostly equal terms
Update   each fact of the older text is repeated by the later one or superseded by it (`facts`), or
         the later one says in free words that what the older one states is no longer so
         (`told_changes`)

A confidence is a logistic function of the evidence; its constants are set for few wrong edits at a
gate of 0.9.  Pure functions of texts, times and vectors.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.text.condensing import keywords, sentences, summary
from ...engine.text.dates import times
from ...engine.text.features import Features, SpeechAct, features, fold, terms_of
from .facts import PREDICATES, Fact, FactRelation, FactStanding, facts_of, relation
from .told_changes import PERSONS, covered_by_change
from .topology_edits import MOST_KEYWORDS, MOST_SUMMARY, Descriptor, Operator, Proposal, keywords_of
from .topology_links import Vector, cosine

LEAST_WORDS: Final = 10  # of a segment: vectors of shorter ones differ within a topic, too
MOST_SENTENCES: Final = 32  # of a text that may be split
LEAST_TERMS: Final = 4  # of a text that may be merged: shorter ones are alike by chance
LONGEST_WORD: Final = 64  # characters of a keyword
# terms that each of two restatements may have beyond the other: what says more is none,
# docs/results/all-mem.md
MORE: Final = 2
# least cosine of a restatement: below it no overlap of terms gives a confidence of 0.5
NEAR: Final = 0.75
CUT: Final = 0.4  # penalty of a cut
# factor of the confidence if a segment is one sentence, or may refer back: 52 of 74 cuts of the
# former were right and
DOUBT: Final = 0.7
# 51 of 80 of the latter, docs/results/all-mem.md
# of the confidence in a told change, by the share of themes that it names and the cosine,
# docs/results/all-mem.md
STEEP: Final = 8.6
MIDDLE: Final = 0.92  # of that sum: at it the confidence is 0.5
NEGATIONS: Final = frozenset(
    ("no", "not", "never", "none", "nobody", "nothing", "neither", "nor", "cannot", "without")
)
_ASSERTED: Final = frozenset(
    (
        SpeechAct.STATEMENT,
        SpeechAct.PREFERENCE,
        SpeechAct.RELATIONSHIP,
        SpeechAct.DECISION,
        SpeechAct.INSTRUCTION,
    )
)
_HEAD: Final = re.compile(r"(?:\[[^\]]*\] )?(?:(.*): )?", re.DOTALL)
# a segment that starts with one of these refers to what is before it
_REFERS: Final = frozenset((
    "it", "its", "he", "him", "his", "she", "her", "hers", "they", "them", "their", "theirs",
    "this", "that", "these", "those", "there", "then", "so",
    "but", "and", "or", "because", "since", "although", "though", "also", "too", "which", "who",
    "anyway", "still", "instead", "otherwise", "however",
    "therefore", "meanwhile", "afterwards", "later", "both", "either", "neither", "one", "ones",
    "same", "such"))  # fmt: skip
_PRONOUNS: Final = frozenset(
    ("it", "its", "he", "him", "his", "she", "her", "hers", "they", "them", "their", "theirs")
)


# --- descriptors ----------------------------------------------------------------------------------
def described(rendered: str, text: str) -> Descriptor:
    """The descriptor of a unit: the name of who said it and the summary of the text with its
    caption; keywords of the same.  O(length).

    rendered  `[date] speaker: text [caption]`, as the engine embeds it
    text      verbatim

    >>> described("[6:00 am on 2 January, 1970] Ada: We moved to Oslo. So tired. [a red house]", "We moved to Oslo. So tired.")
    Descriptor(summary='Ada: We moved to Oslo.', keywords=('Oslo',))
    """
    name, rest = _parted(rendered, text)
    short = " ".join(summary(rest).split())
    whole = f"{name}: {short}" if name else short
    return Descriptor(
        whole[:MOST_SUMMARY],
        keywords_of(word[:LONGEST_WORD] for word in keywords(rest).split(", "))[:MOST_KEYWORDS],
    )


def name_in(rendered: str, text: str) -> str:
    """The name of who said a text, from the form in which the engine embeds it; "" if it has none.

    >>> name_in("[6:00 am on 2 January, 1970] Ada: We moved.", "We moved."), name_in("We moved.", "We moved.")
    ('Ada', '')
    """
    return _parted(rendered, text)[0]


def _parted(rendered: str, text: str) -> tuple[str, str]:
    """The name of who said it, and the text with its caption."""
    at = rendered.find(text) if text else -1
    matched = _HEAD.fullmatch(rendered[:at]) if at >= 0 else None
    return (
        " ".join((matched[1] or "").split()) if matched else "",
        rendered[at:] if at >= 0 else text,
    )


@dataclass(frozen=True)
class Seen:
    """A unit as the diagnoser sees it."""

    unit: int
    text: str
    time: float
    speaker: int
    name: str
    vector: Vector = field(repr=False)
    describe: Callable[[], Descriptor] = field(repr=False)
    whole: bool = True  # an event; segments and bundles are not split

    @cached_property
    def descriptor(self) -> Descriptor:
        return self.describe()

    @cached_property
    def features(self) -> Features:
        return features(self.text)

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(terms_of(self.text, stop_words=True))

    @cached_property
    def facts(self) -> list[Fact]:
        return facts_of(self.text, self.name)

    @cached_property
    def details(self) -> tuple[Any, ...]:
        """Numbers, times as intervals, dates that give none, the words that follow negations,
        names, and relatives and friends: sets, since a bundle repeats its texts."""
        said = self.features
        expressions = times(self.text, self.time).expressions
        negated = frozenset(
            after
            for word, after in pairwise((*said.words, ""))
            if word in NEGATIONS or word.endswith("n't")
        )
        rest = frozenset(fold(date) for date in said.dates) if not expressions else frozenset()
        return (
            frozenset(said.numbers),
            frozenset((t.start, t.end) for t in expressions),
            rest,
            negated,
            frozenset(said.entities),
            PERSONS.intersection(word.removesuffix("'s") for word in said.words),
        )


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A buffered unit and its nearest visible units, nearest first."""

    target: Seen
    anchors: tuple[Seen, ...]


def logistic(x: float) -> float:
    """1 / (1 + e^-x).

    >>> logistic(0.0)
    0.5
    """
    return 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0


# --- Split ----------------------------------------------------------------------------------------
def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence.  O(length).

    >>> sentence_spans("It rained.  Nobody came!")
    [(0, 10), (12, 24)]
    """
    spans, end = [], 0
    for part in sentences(text):
        start = text.index(part, end)
        end = start + len(part)
        spans.append((start, end))
    return spans


def best_cuts(vectors: NDArray[np.float32], penalty: float) -> list[int]:
    """First sentences of the segments that maximise sum_k |sum_{i in k} x_i| - penalty (segments -
    1), the earliest cuts if equal.  O(s^2 d).

    vectors  (s, d)  unit vectors of the sentences

    >>> best_cuts(np.array([[1, 0], [1, 0], [0, 1]], np.float32), 0.4), best_cuts(np.array([[1, 0], [0.9, 0.4359], [0.8, 0.6]], np.float32), 0.4)
    ([0, 2], [0])
    """
    count = len(vectors)
    sums = np.vstack([np.zeros(vectors.shape[1]), np.cumsum(vectors.astype(np.float64), axis=0)])
    best, start = [0.0] + [-math.inf] * count, [0] * (count + 1)
    for j in range(1, count + 1):
        for i in range(j):
            value = best[i] + float(np.linalg.norm(sums[j] - sums[i])) - (penalty if i else 0.0)
            if value > best[j] + 1e-9:
                best[j], start[j] = value, i
    cuts, j = [], count
    while j:
        j = start[j]
        cuts.append(j)
    return cuts[::-1]


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:'[^\W_]+)*", fold(text))


def _joined(cuts: Sequence[int], texts: Sequence[str]) -> list[int]:
    """The cuts without those before a segment that is short or refers back, and without one
    after a short first segment.
    """
    kept = [0]
    for a, b in pairwise([*cuts[1:], len(texts)]):
        words = _words(" ".join(texts[a:b]))
        before = _words(" ".join(texts[kept[-1] : a]))
        if len(words) >= LEAST_WORDS and len(before) >= LEAST_WORDS and words[0] not in _REFERS:
            kept.append(a)
    return kept


def segments(text: str, vectors: NDArray[np.float32]) -> tuple[list[tuple[int, int]], float]:
    """The topical segments of a text as spans, and the confidence that they are different topics;
    none below two segments.  O(s^2 d).

    vectors  (s, d)  of the sentences that `sentence_spans` gives
    """
    spans = sentence_spans(text)
    texts = [text[a:b] for a, b in spans]
    if not 2 <= len(spans) <= MOST_SENTENCES:
        return [], 0.0
    cuts = _joined(best_cuts(vectors, CUT), texts)
    if len(cuts) < 2:
        return [], 0.0
    ends = [*cuts[1:], len(spans)]
    means = [vectors[a:b].astype(np.float64).sum(axis=0) for a, b in zip(cuts, ends, strict=True)]
    units = np.array([m / max(float(np.linalg.norm(m)), 1e-12) for m in means])
    terms = [
        set(terms_of(text[spans[a][0] : spans[b - 1][1]], stop_words=True))
        for a, b in zip(cuts, ends, strict=True)
    ]
    shared = max(len(terms[i] & terms[i + 1]) for i in range(len(cuts) - 1))
    near = max(float(units[i] @ units[i + 1]) for i in range(len(cuts) - 1))
    confidence = logistic((0.25 - near) / 0.045 - shared)
    lone = min(b - a for a, b in zip(cuts, ends, strict=True)) == 1
    refers = any(not _PRONOUNS.isdisjoint(_words(texts[a])) for a in cuts[1:])
    return [
        (spans[a][0], spans[b - 1][1]) for a, b in zip(cuts, ends, strict=True)
    ], DOUBT * confidence if lone or refers else confidence


# --- Merge ----------------------------------------------------------------------------------------
def restates(one: Seen, other: Seen) -> float:
    """Confidence that two units say the same; 0 unless speaker and details are equal and both
    assert something.
    """
    if one.speaker != other.speaker or cosine(one.vector, other.vector) < NEAR:
        return 0.0
    if (
        one.features.act not in _ASSERTED
        or other.features.act not in _ASSERTED
        or min(len(one.terms), len(other.terms)) < LEAST_TERMS
    ):
        return 0.0
    if (
        max(len(one.terms - other.terms), len(other.terms - one.terms)) > MORE
        or one.details != other.details
        or _changed(one, other)
    ):
        return 0.0
    common = len(one.terms & other.terms) / len(one.terms | other.terms)
    return logistic(20.0 * (cosine(one.vector, other.vector) - 0.85) + 4.0 * (common - 0.5))


def _changed(one: Seen, other: Seen) -> bool:
    """Whether facts of the two differ."""
    return any(relation(a, b) is not FactRelation.NONE for a in one.facts for b in other.facts)


def merging(context: Neighbourhood, least: float, most: int = 5) -> Proposal | None:
    """The unit with the nearest anchors of which all pairs restate each other, at most `most`
    together; its confidence is that of the worst pair.
    """
    group, worst = [context.target], 1.0
    for anchor in context.anchors:
        sure = min((restates(seen, anchor) for seen in group), default=0.0)
        if len(group) < most and sure >= least:
            group.append(anchor)
            worst = min(worst, sure)
    if len(group) < 2:
        return None
    return Proposal(
        Operator.MERGE, tuple(sorted(seen.unit for seen in group)), worst, "restatement"
    )


# --- Update ---------------------------------------------------------------------------------------
def told_change(later: Seen, earlier: Seen) -> float:
    """Confidence that the same speaker says later that what the earlier unit states is no longer
    so.
    """
    same = later.speaker == earlier.speaker and not later.terms.isdisjoint(earlier.terms)
    share = covered_by_change(later.text, earlier.text) if same else 0.0
    return (
        logistic(STEEP * (share + cosine(later.vector, earlier.vector) - MIDDLE)) if share else 0.0
    )


def superseded_facts(later: Seen, earlier: Seen) -> float:
    """Confidence that every fact of the earlier unit is superseded or repeated, at least one
    superseded.
    """
    if not earlier.facts or not later.facts:
        return 0.0
    weakest, changed = 1.0, False
    for old in earlier.facts:
        sure = 0.0
        for new in later.facts:
            if relation(old, new) is FactRelation.SUPERSEDES:
                named = new.predicate in PREDICATES
                sure = max(
                    sure, 0.97 if new.change and named else 0.93 if new.change or named else 0.8
                )
                changed = True
            elif old.standing is new.standing and (old.subject, old.predicate, old.value) == (
                new.subject,
                new.predicate,
                new.value,
            ):
                sure = 1.0
        if old.standing is FactStanding.HOLDS:
            weakest = min(weakest, sure)
    return weakest if changed else 0.0


def updates(context: Neighbourhood, least: float) -> list[Proposal]:
    """A proposal for each anchor that the unit makes outdated, or that makes the unit outdated;
    the later one is current.
    """
    proposals: list[Proposal] = []
    for anchor in context.anchors:
        later, earlier = sorted(
            (context.target, anchor), key=lambda seen: (seen.time, seen.unit), reverse=True
        )
        by_facts = superseded_facts(later, earlier) if context.target.facts else 0.0
        sure, why = max((by_facts, "value changed"), (told_change(later, earlier), "change told"))
        if sure >= least:
            proposals.append(Proposal(Operator.UPDATE, (later.unit, earlier.unit), sure, why))
    return proposals


# --- all three, and plans -------------------------------------------------------------------------
SentenceVectors = Callable[[str], NDArray[np.float32]]


def diagnosed(
    contexts: Sequence[Neighbourhood], vectors: SentenceVectors, least: float = 0.5
) -> list[Proposal]:
    """Proposals for all contexts, those of a confidence below `least` left out.

    vectors  text -> (s, d) vectors of its sentences
    """
    proposals: list[Proposal] = []
    for context in contexts:
        target = context.target
        if target.whole and len(sentence_spans(target.text)) > 1:
            spans, sure = segments(target.text, vectors(target.text))
            if spans and sure >= least:
                proposals.append(Proposal(Operator.SPLIT, (target.unit,), sure, "topics"))
        merge = merging(context, least)
        proposals += [merge] if merge else []
        proposals += updates(context, least)
    return proposals


def plan_of(
    proposal: Proposal, seen: Mapping[int, Seen], vectors: SentenceVectors
) -> dict[str, Any]:
    """The plan of a proposal in the form that a language model gives (B.6): descriptors from the
    units' own words.  O(length).

    Split: the segments with their summaries and keywords.  Merge: the latest unit's descriptor,
    keywords of all.  Update: the current summary, its keywords, those of the superseded unit that
    the current one does not contradict, and the word "current".
    """
    units = [seen[v] for v in proposal.targets]
    if proposal.operator is Operator.SPLIT:
        text, name = units[0].text, units[0].name
        parts = [text[a:b] for a, b in segments(text, vectors(text))[0]]
        own = [described(f"{name}: {part}" if name else part, part) for part in parts]
        return {
            "do_split": len(parts) > 1,
            "segments": [
                {
                    "segment_text": part,
                    "segment_summary": d.summary,
                    "segment_keywords": list(d.keywords),
                }
                for part, d in zip(parts, own, strict=True)
            ],
        }
    if proposal.operator is Operator.MERGE:
        latest = max(units, key=lambda s: (s.time, s.unit))
        rest = [word for s in units for word in s.descriptor.keywords]
        return {
            "summary": latest.descriptor.summary,
            "keywords": list(keywords_of([*latest.descriptor.keywords, *rest])[:MOST_KEYWORDS]),
        }
    current, superseded = units
    gone = {word for fact in superseded.facts for word in terms_of(fact.value)} or superseded.terms
    carried = [
        word
        for word in superseded.descriptor.keywords
        if gone.isdisjoint(set(terms_of(word)) - current.terms)
    ]
    words = keywords_of([*current.descriptor.keywords[: MOST_KEYWORDS - 3], "current", *carried])
    return {
        "updated_summary": current.descriptor.summary,
        "updated_keywords": list(words[:MOST_KEYWORDS]),
    }
