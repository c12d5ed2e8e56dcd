"""Evidence for lexical_bm25: the equations by closed forms, and the engine's index, through the
plug-in, by brute force over the texts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.state.postings import BM25Index
from ..checks import adaptation, at_least, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, numbers_of
from ..paper_numbers import paper_number
from .shared.scripts import worded
from .shared.views import Instead

SINGLE = 2e-6  # relative, of sums in float32
Texts = Sequence[Sequence[str]]
K1 = 1.2
(B,) = numbers_of("lexical_bm25", "b").values()
NUMBERS = (
    paper_number(
        "k1",
        K1,
        "1",
        paper="robertson2009probabilistic",
        where="lower end of the reasonable range, 1.2 < k1 < 2",
    ),
)


def by_plug_in(
    specimen: Any,
    texts: Texts,
    query: Sequence[str],
    k1: float = K1,
    b: float = B,
    idf: str = "robertson",
) -> Any:
    """The signal as the plug-in writes it, with 0 for NaN."""
    index = BM25Index()
    for row, text in enumerate(texts):
        index.add(row, text)
    view = SimpleNamespace(lexicon=index, cues=(), lexical=np.full(len(texts), np.nan, np.float32))
    plug_in = specimen.LexicalBM25(
        "lexical_bm25", specimen.LexicalBM25Params(time_scale=1.0, k1=k1, b=b, idf=idf, weight=1.0)
    )
    plug_in.score(view, SimpleNamespace(terms=tuple(query)))
    return np.nan_to_num(view.lexical, nan=0.0)


def by_hand(
    texts: Texts, query: Sequence[str], k1: float = K1, b: float = B, idf: str = "robertson"
) -> NDArray[np.float64]:
    """The definition, text by text."""
    n, mean = len(texts), sum(map(len, texts)) / len(texts)
    result = np.zeros(n)
    for word in set(query):
        holding = sum(word in text for text in texts)
        odds = (n - holding + 0.5) / (holding + 0.5)
        weight = math.log(1.0 + odds) if idf == "lucene" else math.log(odds) if odds > 1.0 else 1e-6
        for i, text in enumerate(texts):
            tf = list(text).count(word)
            result[i] += weight * tf / (k1 * (1.0 - b + b * len(text) / mean) + tf) * (k1 + 1.0)
    return result


def corpus(seed: int, n: int = 120) -> list[list[str]]:
    """Texts of 0 to 40 words over a vocabulary of 60 with Zipf's frequencies, so that a few
    words occur in most texts.
    """
    rng = np.random.default_rng(seed)
    chance = 1.0 / np.arange(1, 61)
    return [
        [f"w{i}" for i in rng.choice(60, size=rng.integers(0, 41), p=chance / chance.sum())]
        for _ in range(n)
    ]


QUERY = ["w0", "w4", "w17", "w17", "w55", "never"]


@equation(
    "BM-1",
    source="Robertson & Zaragoza 2009, weight without relevance information",
    figure="rarity",
    papers=("robertson2009probabilistic",),
)
def the_weight_of_a_word_is_the_log_odds_of_its_absence(specimen: Any) -> Any:
    cases = [(10, 2), (1000, 1), (100, 49), (3, 0)]
    return [specimen.idf_robertson(float(n), float(f)) for n, f in cases], [
        math.log((2 * n - 2 * f + 1) / (2 * f + 1)) for n, f in cases
    ]


@adaptation(
    "BM-1b",
    source="ours: the bound, 1e-6, of a word in at least half of the memories; Lucene: ln((N + 1) / (n + 1/2))",
)
def weights_of_frequent_words_are_positive(specimen: Any) -> Any:
    cases = [(10, 2), (1000, 1), (100, 49), (100, 50), (3, 3)]
    bounded = [specimen.idf_robertson(float(n), float(f)) for n, f in cases[3:]]
    return [*bounded, *(specimen.idf_lucene(float(n), float(f)) for n, f in cases)], [
        1e-6,
        1e-6,
        *(math.log((n + 1) / (f + 0.5)) for n, f in cases),
    ]


@equation(
    "BM-2",
    source="Robertson & Zaragoza 2009, saturation with soft length normalisation",
    figure="saturation",
    papers=("robertson2009probabilistic",),
)
def repetition_saturates_and_length_is_discounted(specimen: Any) -> Any:
    cases = [(2.0, 30.0, 20.0, 1.2, 0.75), (1.0, 5.0, 20.0, 2.0, 0.5), (7.0, 20.0, 20.0, 1.2, 0.3)]
    return [specimen.saturation(*case) for case in cases], [
        2.0 * 2.2 / (2.0 + 1.2 * 1.375),
        3.0 / (1.0 + 2.0 * 0.625),
        7.0 * 2.2 / 8.2,
    ]


@equation(
    "BM-3",
    source="definition, brute force over the texts",
    rtol=SINGLE,
    papers=("robertson2009probabilistic",),
)
def the_index_computes_the_equation(specimen: Any) -> Any:
    texts = corpus(3)
    return by_plug_in(specimen, texts, QUERY), by_hand(texts, QUERY)


@equation(
    "BM-4",
    source="definition, brute force over the texts",
    rtol=SINGLE,
    papers=("robertson2009probabilistic",),
)
def the_index_computes_the_equation_for_other_parameters(specimen: Any) -> Any:
    texts = corpus(4)
    return by_plug_in(specimen, texts, QUERY, 2.0, 0.4, "lucene"), by_hand(
        texts, QUERY, 2.0, 0.4, "lucene"
    )


@equation(
    "BM-5", source="sum over the query's words", rtol=SINGLE, papers=("robertson2009probabilistic",)
)
def the_kernels_and_the_index_agree(specimen: Any) -> Any:
    texts = corpus(5)
    mean, weight = (
        sum(map(len, texts)) / len(texts),
        specimen.idf_robertson(float(len(texts)), float(sum("w9" in t for t in texts))),
    )
    factors = [
        specimen.saturation(float(text.count("w9")), float(len(text)), mean, 1.2, 0.75)
        for text in texts
    ]
    return by_plug_in(specimen, texts, ["w9"]), weight * np.array(factors)


@limit("BM-6", source="closed form", papers=("robertson2009probabilistic",))
def the_factor_is_presence_at_k1_zero_and_the_count_for_large_k1(specimen: Any) -> Any:
    grown = specimen.saturation(6.0, 9.0, 9.0, 1e12, 0.75) / specimen.saturation(
        1.0, 9.0, 9.0, 1e12, 0.75
    )
    return [specimen.saturation(6.0, 3.0, 9.0, 0.0, 0.75), round(grown, 6)], [1.0, 6.0]


@limit("BM-7", source="closed form", figure="saturation", papers=("robertson2009probabilistic",))
def the_factor_tends_to_k1_plus_one(specimen: Any) -> Any:
    return specimen.saturation(1e15, 9.0, 9.0, 1.2, 0.75), 2.2


@limit("BM-8", source="closed form", papers=("robertson2009probabilistic",))
def length_counts_in_full_at_b_one_and_not_at_all_at_b_zero(specimen: Any) -> Any:
    full = specimen.saturation(2.0, 20.0, 10.0, 1.2, 1.0) - specimen.saturation(
        1.0, 10.0, 10.0, 1.2, 1.0
    )
    none = specimen.saturation(2.0, 500.0, 10.0, 1.2, 0.0) - specimen.saturation(
        2.0, 1.0, 10.0, 1.2, 0.0
    )
    return [full, none], [0.0, 0.0]


@adaptation("BM-9", source="the bound on the weight")
def no_shared_word_lowers_a_score(specimen: Any) -> Any:
    return at_least(by_plug_in(specimen, [["the", "cat"], ["the", "dog"], ["the"]], ["the"]), 1e-8)


@equation(
    "BM-10",
    source="definition, brute force over the events; archived memories count; no score without a shared word",
    rtol=SINGLE,
    papers=("robertson2009probabilistic",),
)
def a_memory_scores_its_events_by_the_equation(specimen: Any) -> Any:
    texts, query, measured, expected = corpus(10, 40), "w0 w4, w17 w17! W55 never", [], []
    # the speaker is a word of the memory
    told = [["ada", *text] if i % 3 == 0 else text for i, text in enumerate(texts)]
    cases: tuple[dict[str, Any], ...] = (
        {},
        {"k1": 2.0, "b": 0.4, "idf": "lucene"},
        {"k1": 0.7, "b": 0.95, "idf": "robertson"},
    )
    for parameters in cases:
        memory = memory_of(specimen, **parameters)
        encode(
            memory,
            *(
                (float(i), " ".join(text) or "of the", "Ada" if i % 3 == 0 else "")
                for i, text in enumerate(texts)
            ),
        )
        memory.archive(7)
        for words in (query, "ada w9"):
            memory.retrieve(words)
            exact = by_hand(told, [w.strip(",!") for w in words.lower().split()], **parameters)
            measured.append(memory.column(specimen.LEXICAL).tolist())
            expected.append(np.where(exact == 0.0, np.nan, exact).tolist())
    return np.nan_to_num(measured, nan=-1.0), np.nan_to_num(expected, nan=-1.0)


@adaptation(
    "BM-11",
    source="ours: the largest of the scores of the query and of its wordings times their weights; brute force over the events",
    rtol=SINGLE,
)
def the_best_wording_counts_by_its_weight(specimen: Any) -> Any:
    texts, query, measured, expected = corpus(11, 40), ["w30", "w41"], [], []
    cases: tuple[tuple[dict[str, float], dict[str, Any]], ...] = (
        ({}, {}),
        ({"w3 w30": 0.6}, {}),
        ({"w20 w5 w2": 1.0, "never": 0.9, "w41 w8": 0.25}, {"k1": 2.0, "b": 0.4, "idf": "lucene"}),
    )
    for wordings, parameters in cases:
        memory = memory_of(specimen, worded(*wordings.items()), **parameters)
        encode(memory, *((float(i), " ".join(text) or "of the") for i, text in enumerate(texts)))
        memory.archive(7)
        memory.retrieve(" ".join(query))
        others = [w * by_hand(texts, text.split(), **parameters) for text, w in wordings.items()]
        exact = np.max([by_hand(texts, query, **parameters), *others], axis=0)
        measured.append(memory.column(specimen.LEXICAL).tolist())
        expected.append(np.where(exact == 0.0, np.nan, exact).tolist())
    return np.nan_to_num(measured, nan=-1.0), np.nan_to_num(expected, nan=-1.0)


@figure(
    "saturation",
    caption="Factor of a word over its occurrences: every repetition adds less, up to k1 + 1 = 2.2, more slowly in longer "
    "memories",
    source="Robertson & Zaragoza 2009, saturation with soft length normalisation",
)
def weight_over_repetition(specimen: Any) -> Picture:
    tf = np.arange(0.0, 21.0)
    lengths = (
        (10.0, "half the mean length"),
        (20.0, "mean length"),
        (80.0, "four times the mean length"),
    )
    return Picture(
        "occurrences of the word",
        "factor of its weight",
        (
            *(
                Curve(
                    label, tf, [specimen.saturation(float(k), length, 20.0, 1.2, 0.75) for k in tf]
                )
                for length, label in lengths
            ),
            Curve("limit", tf[[0, -1]], [2.2, 2.2]),
            dots(
                "by hand, mean length",
                [1, 2, 5, 10, 20],
                [2.2 * k / (k + 1.2) for k in (1, 2, 5, 10, 20)],
            ),
        ),
    )


@figure(
    "rarity",
    caption="Weight of a word over the number of memories that contain it: higher for rarer words; past one half the paper's "
    "weight is negative, and is bounded here",
    source="Robertson & Zaragoza 2009, weight without relevance information",
)
def weight_over_frequency(specimen: Any) -> Picture:
    held, marks = (
        np.unique(np.geomspace(1.0, 1000.0, 60).round()),
        np.array([1.0, 10.0, 100.0, 400.0]),
    )
    kinds = (("Robertson", specimen.idf_robertson), ("Lucene", specimen.idf_lucene))
    return Picture(
        "memories of 1000 that contain the word",
        "weight of the word",
        (
            *(Curve(label, held, [idf(1000.0, float(f)) for f in held]) for label, idf in kinds),
            dots("by hand, Robertson", marks, np.log((1000.5 - marks) / (marks + 0.5))),
        ),
        log="x",
    )


@mutant("repetition counts in proportion", rejected_by="BM-2")
def proportional(specimen: Any) -> Any:
    return specimen.replacing("saturation", lambda tf, length, mean_length, k1, b: tf)


@mutant("length ignored", rejected_by="BM-8")
def unnormalised(specimen: Any) -> Any:
    return specimen.replacing(
        "saturation", lambda tf, length, mean_length, k1, b: tf * (k1 + 1.0) / (tf + k1)
    )


@mutant("plain idf ln(N / n)", rejected_by="BM-1")
def plain_idf(specimen: Any) -> Any:
    return specimen.replacing(
        "idf_robertson", lambda n_rows, frequency: math.log(n_rows / max(frequency, 1.0))
    )


@mutant("the plug-in ignores b", rejected_by="BM-4")
def default_b(specimen: Any) -> Any:
    def score(self: Any, view: Any, cue: Any) -> None:
        view.lexicon.scores(cue.terms, view.lexical, specimen.idf_robertson, k1=self.params.k1)

    return specimen.overriding("LexicalBM25", score=score)


@mutant("the hook exchanges k1 and b", rejected_by="BM-10")
def exchanged(specimen: Any) -> Any:
    def score(self: Any, view: Any, cue: Any) -> None:
        view.lexicon.scores(
            cue.terms, view.lexical, specimen.idf_robertson, k1=self.params.b, b=self.params.k1
        )
        specimen.silence_zeros(view.lexical)

    return specimen.overriding("LexicalBM25", score=score)


@mutant("scores of the wordings are added", rejected_by="BM-11")
def added_wordings(specimen: Any) -> Any:
    def score(self: Any, view: Any, cue: Any) -> None:
        p, total = self.params, np.zeros_like(view.lexical)
        for weight, wording in view.cues:
            scores = np.zeros_like(total)
            view.lexicon.scores(
                wording.terms,
                scores,
                specimen.idf_lucene if p.idf == "lucene" else specimen.idf_robertson,
                k1=p.k1,
                b=p.b,
            )
            total += weight * scores
        view.lexical[...] = np.where(total == 0.0, np.nan, total)

    return specimen.overriding("LexicalBM25", score=score)


@mutant("wordings count as much as the query", rejected_by="BM-11")
def unweighted(specimen: Any) -> Any:
    def score(self: Any, view: Any, cue: Any) -> None:
        cues = [(1.0, wording) for _, wording in view.cues]
        specimen.LexicalBM25.score(self, Instead(view, cues=cues), cue)

    return specimen.overriding("LexicalBM25", score=score)
