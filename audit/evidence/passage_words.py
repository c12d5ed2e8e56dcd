"""Evidence for passage_words: the discount by its closed form, and the memory's signal by brute
force over spans cut by hand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..checks import adaptation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of
from .shared.scripts import worded
from .shared.views import Instead

SINGLE = 2e-6  # relative, of sums in float32
WINDOW, SPAN, SHARED = 200, 64, 16  # words: the hashing embedder's pieces are words
D = 0.3


def corpus(seed: int, lengths: Sequence[int]) -> list[list[str]]:
    """Texts of the given lengths over a vocabulary of 200 with Zipf's frequencies."""
    rng = np.random.default_rng(seed)
    chance = 1.0 / np.arange(1, 201)
    return [
        [f"w{i}" for i in rng.choice(200, size=length, p=chance / chance.sum())]
        for length in lengths
    ]


def spans_of(text: Sequence[str]) -> list[list[str]]:
    """The text itself up to the window, else every 48th word and the 63 after it, the last to
    the end.
    """
    if len(text) <= WINDOW:
        return [list(text)]
    spans, start = [], 0
    while True:
        spans.append(list(text[start : start + SPAN]))
        if start + SPAN >= len(text):
            return spans
        start += SPAN - SHARED


def by_hand(
    texts: Sequence[Sequence[str]],
    query: Sequence[str],
    penalty: float = D,
    k1: float = 1.2,
    b: float = 0.75,
) -> list[float]:
    """The definition, span by span; -1 where no word is shared."""
    cut = [spans_of(text) for text in texts]
    every = [span for spans in cut for span in spans]
    n, mean = len(every), sum(map(len, every)) / len(every)
    weight = {
        w: max(math.log((n - held + 0.5) / (held + 0.5)), 1e-6)
        for w in set(query)
        if (held := sum(w in span for span in every))
    }
    result = []
    for spans in cut:
        norm = [k1 * (1.0 - b + b * len(span) / mean) for span in spans]
        best = max(
            sum(weight[w] * (tf := span.count(w)) * (k1 + 1.0) / (tf + length) for w in weight)
            for span, length in zip(spans, norm, strict=True)
        )
        result.append(best / (1.0 + penalty * math.log(len(spans))) if best > 0.0 else -1.0)
    return result


def measured(
    specimen: Any,
    texts: Sequence[Sequence[str]],
    query: Sequence[str],
    *others: Any,
    **parameters: Any,
) -> Any:
    """The signal of a real memory, -1 for NaN."""
    memory = memory_of(specimen, *others, **parameters)
    encode(memory, *((float(i), " ".join(text)) for i, text in enumerate(texts)))
    memory.retrieve(" ".join(query))
    return np.nan_to_num(memory.column(specimen.PASSAGE_WORDS), nan=-1.0)


LENGTHS = [5, 201, 40, 500, 200, 90, 333, 1200, 12, 700]
QUERY = ["w30", "w77", "w150", "w150", "w9", "never"]


@adaptation("PW-1", source="ours: the discount, closed form", figure="discount")
def the_best_span_is_divided_by_one_plus_d_ln_p(specimen: Any) -> Any:
    out = np.array([np.nan, 1.0, 9.0, np.nan])
    specimen.discounted(np.array([4.0, 6.0, 6.0, 0.0]), np.array([1, 10, 3, 7]), 0.5, 0.75, out)
    return np.nan_to_num(out, nan=-1.0), [3.0, 4.5 / (1.0 + math.log(10.0) / 2.0), 9.0, -1.0]


@adaptation(
    "PW-2",
    source="Callan 1994, best passage of fixed length; ours: spans and discount; brute force over the events",
    rtol=SINGLE,
    papers=("callan1994passage",),
)
def a_memory_scores_its_best_span(specimen: Any) -> Any:
    texts = corpus(2, LENGTHS)
    cases: tuple[dict[str, Any], ...] = ({}, {"length_penalty": 0.6}, {"k1": 2.0, "b": 0.3})
    names = {"length_penalty": "penalty"}
    return (
        [measured(specimen, texts, QUERY, **case) for case in cases],
        [by_hand(texts, QUERY, **{names.get(k, k): v for k, v in case.items()}) for case in cases],
    )


@limit(
    "PW-3",
    source="ours: without a long memory nothing is said that the words of whole memories do not say",
)
def a_memory_of_short_texts_is_silent(specimen: Any) -> Any:
    return measured(specimen, corpus(3, [200, 10, 60]), ["w0", "w1", "w2"]), [-1.0, -1.0, -1.0]


@adaptation(
    "PW-4",
    source="ours: the largest of the scores of the query and of its wordings times their weights; brute force over the events",
    rtol=SINGLE,
)
def the_best_wording_counts_by_its_weight(specimen: Any) -> Any:
    texts, wordings = corpus(4, LENGTHS), {"w3 w30": 0.6, "never": 0.9, "w60 w8": 0.25}

    others = [weight * np.array(by_hand(texts, text.split())) for text, weight in wordings.items()]
    expected = np.max(np.stack([np.array(by_hand(texts, ["w30", "w41"])), *others]), axis=0)
    return measured(specimen, texts, ["w30", "w41"], worded(*wordings.items())), np.where(
        expected < 0.0, -1.0, expected
    )


@figure(
    "discount",
    caption="Share of the best span's score that a memory keeps, over its number of spans",
    source="ours, d = 0.3",
)
def share_over_spans(specimen: Any) -> Picture:
    spans = np.unique(np.geomspace(1.0, 100.0, 40).round()).astype(np.int64)
    out = np.full(spans.shape, np.nan)
    specimen.discounted(np.ones(spans.shape), spans, D, 1.0, out)
    marks = np.array([1.0, 5.0, 20.0, 80.0])
    return Picture(
        "spans of the memory",
        "share of the best span's score",
        (Curve("discount", spans, out), dots("by hand", marks, 1.0 / (1.0 + D * np.log(marks)))),
        log="x",
    )


@mutant("no discount", rejected_by="PW-1")
def undiscounted(specimen: Any) -> Any:
    def plain(best: Any, spans: Any, penalty: float, weight: float, out: Any) -> None:
        out[...] = np.fmax(out, np.where(best > 0.0, weight * best, np.nan))

    return specimen.replacing("discounted", plain)


@mutant("k1 and b are exchanged", rejected_by="PW-2")
def exchanged(specimen: Any) -> Any:
    def score(self: Any, view: Any, cue: Any) -> None:
        words = view.spans.words
        spans = SimpleNamespace(
            words=lambda terms, weight, k1, b, out: words(terms, weight, b, k1, out)
        )
        specimen.PassageWords.score(self, Instead(view, spans=spans), cue)

    return specimen.overriding("PassageWords", score=score)


@mutant("memories without a shared word score 0", rejected_by="PW-3")
def never_silent(specimen: Any) -> Any:
    def score(self: Any, view: Any, cue: Any) -> None:
        specimen.PassageWords.score(self, view, cue)
        np.nan_to_num(view.passage_words, copy=False)

    return specimen.overriding("PassageWords", score=score)


@mutant("wordings count as much as the query", rejected_by="PW-4")
def unweighted(specimen: Any) -> Any:
    def score(self: Any, view: Any, cue: Any) -> None:
        cues = [(1.0, wording) for _, wording in view.cues]
        specimen.PassageWords.score(self, Instead(view, cues=cues), cue)

    return specimen.overriding("PassageWords", score=score)
