"""Evidence for learned_sparse.  The model is the stand-in of the port, whose weights are computed
here again from counts of words; a masked language model itself is compared with the same network
written out in numpy in the tests of the port.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from ...engine.base.errors import RegistryError
from ...engine.ports.splade import STAND_IN
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, plug_in
from .shared.scripts import worded

SINGLE = 1e-6  # of float32
STORY = ("ada sold boat", "key house", "ship lake lake", "red boat", "key key key boat", "",
         "card table lamp")  # fmt: skip


# --- references -----------------------------------------------------------------------------------
def weights_by_hand(text: str) -> dict[str, float]:
    """The stand-in's weights: ln(1 + c) of a word that occurs c times."""
    return {word: math.log(1 + count) for word, count in Counter(text.split()).items()}


def by_hand(text: str, query: str, kept: int = 256) -> float:
    """The dot product over shared words, of the memory's `kept` heaviest words; NaN for none."""
    asked = weights_by_hand(query)
    own = sorted(weights_by_hand(text).items(), key=lambda pair: -pair[1])[:kept]
    return sum(weight * asked.get(word, 0.0) for word, weight in own) or math.nan


def signal_of(
    specimen: Any, query: str, wordings: Mapping[str, float] | None = None, **values: Any
) -> list[float]:
    """SPARSE over STORY, -1 for NaN."""
    others = worded(*(wordings or {}).items())
    memory = memory_of(specimen, others, **{"model": str(STAND_IN), **values})
    encode(memory, *((float(i), text) for i, text in enumerate(STORY)))
    memory.retrieve(query)
    return _filled(memory.column(specimen.SPARSE))


def _filled(scores: Any) -> list[float]:
    return [-1.0 if math.isnan(score) else float(score) for score in scores]


def sparse_rows(seed: int) -> tuple[Any, Any]:
    """(40, 300) weights of memories with 0 to 60 words, and (300,) of a query with 40."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((40, 300))
    for row in rows:
        words = rng.choice(300, size=rng.integers(0, 61), replace=False)
        row[words] = rng.gamma(2.0, 0.5, words.size)
    query = np.zeros(300)
    query[rng.choice(300, 40, replace=False)] = rng.gamma(2.0, 0.5, 40)
    return rows, query


def stored(specimen: Any, rows: Any, kept: int) -> tuple[Any, Any]:
    """Words and weights of each row, as a memory holds them."""
    words, weights = np.full((len(rows), kept), -1, np.int32), np.zeros((len(rows), kept))
    for i, row in enumerate(rows):
        chosen = specimen.heaviest(row, kept)
        words[i, : len(chosen)], weights[i, : len(chosen)] = chosen, row[chosen]
    return words, weights


# --- equations ------------------------------------------------------------------------------------
@equation(
    "LS-1", source="product of sparse matrices by scipy", atol=1e-12, papers=("formal2021splade",)
)
def the_score_is_the_dot_product(specimen: Any) -> Any:
    rows, query = sparse_rows(1)
    words, weights = stored(specimen, rows, 300)
    measured = np.full(len(rows), np.nan)
    specimen.products(words, weights, query, measured)
    expected = (csr_matrix(rows) @ query).tolist()
    return _filled(measured), [score or -1.0 for score in expected]


@limit(
    "LS-2",
    source="closed form: nothing shared, one word shared, no word",
    papers=("formal2021splade",),
)
def without_a_shared_word_there_is_no_score(specimen: Any) -> Any:
    words = np.array([[3, 1], [2, -1], [-1, -1]], np.int32)
    weights = np.array([[2.0, 1.0], [4.0, 0.0], [0.0, 0.0]])
    measured = np.full(3, np.nan)
    specimen.products(words, weights, np.array([0.0, 0.5, 0.0, 0.0]), measured)
    return _filled(measured), [0.5, -1.0, -1.0]


@adaptation("LS-3", source="ours: the heaviest words are kept; sorted in Python")
def a_memory_keeps_its_heaviest_words(specimen: Any) -> Any:
    rows, _ = sparse_rows(3)
    rows[0, [5, 9, 200]] = 7.0  # equal weights: the lower number first
    measured, expected = [], []
    for kept in (1, 2, 17, 300):
        for row in rows:
            order = sorted(np.flatnonzero(row).tolist(), key=lambda j: (-row[j], j))
            measured.append(specimen.heaviest(row, kept).tolist())
            expected.append(order[:kept])
    return [w for words in measured for w in (*words, -1)], [
        w for words in expected for w in (*words, -1)
    ]


# --- in a memory ----------------------------------------------------------------------------------
@equation(
    "LS-4",
    source="counts of words over texts of stems; no score without a shared word or for a blank query",
    atol=SINGLE,
    papers=("formal2021splade",),
)
def a_memory_scores_its_events_by_shared_words(specimen: Any) -> Any:
    queries = ("boat", "lake", "key key ada", "tree", "  ")
    measured = [signal_of(specimen, query) for query in queries]
    return measured, [_filled([by_hand(text, query) for text in STORY]) for query in queries]


@adaptation("LS-5", source="ours: the two heaviest words of each memory, by hand", atol=SINGLE)
def few_kept_words_are_the_heaviest(specimen: Any) -> Any:
    # with one word kept only words that are repeated are certain, the others are equal
    measured = signal_of(specimen, "key lake", kept=1)
    return [measured[2] > 0, measured[4] > 0, measured[0]], [True, True, -1.0]


@adaptation(
    "LS-6",
    source="ours: the largest of the scores of the query and of its wordings times their weights; by hand",
    atol=SINGLE,
)
def the_best_wording_counts_by_its_weight(specimen: Any) -> Any:
    wordings = {"key key key": 0.5, "red ship": 1.0, " ": 1.0}
    exact: Sequence[Any] = [
        np.fmax.reduce(
            [by_hand(text, "boat"), *(w * by_hand(text, q) for q, w in wordings.items())]
        )
        for text in STORY
    ]
    return signal_of(specimen, "boat", wordings), _filled(exact)


@equation(
    "LS-8",
    source="counts of words over texts as they are indexed, `speaker: text`",
    atol=SINGLE,
    papers=("formal2021splade",),
)
def who_said_it_is_a_word_of_a_memory(specimen: Any) -> Any:
    memory = memory_of(specimen, model=str(STAND_IN))
    encode(memory, (0.0, "sold boat", "ada"), (1.0, "sold boat", "ben"))
    measured = []
    queries, said = ("ada:", "ben: boat"), ("ada: sold boat", "ben: sold boat")
    for query in queries:
        memory.retrieve(query)
        measured.append(_filled(memory.column(specimen.SPARSE)))
    return measured, [_filled([by_hand(text, query) for text in said]) for query in queries]


@limit("LS-7", source="a set that names no model is refused")
def a_model_must_be_named(specimen: Any) -> Any:
    try:
        plug_in(specimen, model="")
    except RegistryError as error:
        return ["folder" in error.cure, "model" in error.where], [True, True]
    return [False, False], [True, True]


@figure(
    "repetition",
    caption="Score of a memory that repeats the word asked for, by the stand-in: each repetition adds less",
    source="closed form: ln 2 ln(1 + c)",
)
def score_over_repetition(specimen: Any) -> Picture:
    counts = np.arange(1, 13)
    memory = memory_of(specimen, model=str(STAND_IN))
    encode(memory, *((float(c), " ".join(["boat"] * int(c))) for c in counts))
    memory.retrieve("boat")
    return Picture(
        "occurrences of the word",
        "score",
        (
            Curve("the signal", counts, memory.column(specimen.SPARSE).tolist()),
            dots("by hand", counts, np.log(2.0) * np.log1p(counts)),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("a shared word counts by the query's weight alone", rejected_by="LS-1")
def weights_of_memories_ignored(specimen: Any) -> Any:
    def products(words: Any, weights: Any, query: Any, out: Any) -> None:
        for i, row in enumerate(words):
            score = query[row[row >= 0]].sum()
            if score > 0.0:
                out[i] = score

    return specimen.replacing("products", products)


@mutant("cosine in place of the dot product", rejected_by="LS-1")
def normalised(specimen: Any) -> Any:
    original = specimen.products

    def products(words: Any, weights: Any, query: Any, out: Any) -> None:
        original(words, weights, query, out)
        out /= np.maximum(np.linalg.norm(weights, axis=1) * np.linalg.norm(query), 1e-9)

    return specimen.replacing("products", products)


@mutant("a memory without a shared word scores 0", rejected_by="LS-2")
def zeros(specimen: Any) -> Any:
    original = specimen.products

    def products(words: Any, weights: Any, query: Any, out: Any) -> None:
        original(words, weights, query, out)
        out[np.isnan(out)] = 0.0

    return specimen.replacing("products", products)


@mutant("the first words are kept, whatever their weights", rejected_by="LS-3")
def first_words(specimen: Any) -> Any:
    return specimen.replacing("heaviest", lambda weights, kept: np.flatnonzero(weights)[:kept])


@mutant("words of no weight are kept", rejected_by="LS-3")
def with_zeros(specimen: Any) -> Any:
    return specimen.replacing(
        "heaviest", lambda weights, kept: np.argsort(-weights, kind="stable")[:kept]
    )


@mutant("weights of further wordings are ignored", rejected_by="LS-6")
def full_weight(specimen: Any) -> Any:
    return specimen.replacing(
        "raise_to_weighted", lambda scores, weight, best: np.fmax(best, scores, out=best)
    )


@mutant("the last wording counts", rejected_by="LS-6")
def last_wording(specimen: Any) -> Any:
    def raise_to_weighted(scores: Any, weight: float, best: Any) -> None:
        best[:] = weight * scores

    return specimen.replacing("raise_to_weighted", raise_to_weighted)


@mutant("the bare text of an event is stored", rejected_by="LS-8")
def without_who_said_it(specimen: Any) -> Any:
    plain = specimen.LearnedSparse.store

    def store(self: Any, view: Any, incoming: Any) -> None:
        plain(self, view, replace(incoming, text=incoming.event.text))

    return specimen.overriding("LearnedSparse", store=store)
