"""Evidence for late_interaction_rerank.  References are loops over plain lists of vectors,
closed forms, and blends by hand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase
from ...engine.contract.hooks import hook
from ...engine.contract.vocabulary import (
    ANSWERABLE,
    LEXICON,
    RELEVANCE,
    RERANKED,
    REWEIGHTED,
    TEXTS,
    TOKEN_EMBEDDER,
)
from ...engine.ports.tokens import Tokens, coded, joined
from ..checks import adaptation, at_least, at_most, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of
from .shared import reranking as blends
from .shared.scripts import giving

PAPER = ("khattab2020colbert",)
SINGLE = 1e-6  # of float32
# Vectors of words, as whole numbers; "unpack" has two word pieces.
WORDS = {
    "ada": (3, 4, 0), "boat": (0, 5, 12), "ship": (0, 12, 35), "keys": (8, 0, 6), "sold": (20, 21,
    0), "the": (1, 2, 2), "a": (2, 2, 1),
    "lake": (-3, 4, 0), "un": (0, -4, 3), "pack": (4, 0, 3), "?": (6, 2, 3), "house": (0, 1, 0),
    "of": (2, 1, 2),
}  # fmt: skip
STORY = ("Ada sold the boat", "the keys of a house", "a ship, a lake", "unpack the boat", "",
         "Ada unpack keys", "lake house boat", "the",
         "the house of Ada", "a boat sold", "keys", "a lake, a ship", "unpack")  # fmt: skip


class Bags:
    """An embedder whose word pieces have the vectors of WORDS; the vector of a text is that of
    its length.
    """

    name, revision, dimensions = "bags", "1", 3

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [(math.cos(len(t)), math.sin(len(t)), 0.0) for t in texts]
        return np.array(rows, np.float32).reshape(-1, 3)

    def embed_tokens(self, texts: Sequence[str]) -> Tokens:
        parts = []
        for text in texts:
            placed = pieces(text)
            codes = np.array([WORDS[word] for word, _ in placed], np.int8).reshape(-1, 3)
            scales = (1.0 / np.linalg.norm(codes.astype(float), axis=1)).astype(np.float32)
            spans = np.array([(at, at + len(word)) for word, at in placed], np.int32).reshape(-1, 2)
            parts.append(Tokens(codes, scales, np.array([0, len(placed)]), spans))
        return joined(parts, 3)


def pieces(text: str) -> list[tuple[str, int]]:
    """The word pieces of a text with their places: words of WORDS, longest first, left to right."""
    low, at, placed = text.lower(), 0, []
    while at < len(low):
        word = next((w for w in sorted(WORDS, key=len, reverse=True) if low.startswith(w, at)), "")
        if word:
            placed.append((word, at))
        at += max(len(word), 1)
    return placed


# --- references -----------------------------------------------------------------------------------
def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / math.sqrt(
        sum(a * a for a in one) * sum(b * b for b in other)
    )


def summed(query: Sequence[Any], text: Sequence[Any], weights: Sequence[float]) -> float:
    """Weighted mean over the query's vectors of the largest cosine; 0 without vectors."""
    if not len(text) or not sum(weights):
        return 0.0
    return sum(
        w * max(cosine(q, d) for d in text) for q, w in zip(query, weights, strict=True)
    ) / sum(weights)


def answer_of(
    query: str,
    weights: Sequence[float],
    scores: Sequence[float],
    pool: int,
    alpha: float,
    hidden: Sequence[int] = (),
    spread: bool = False,
) -> tuple[list[float], list[float]]:
    """RELEVANCE, -1 where nothing is compared, and RERANKED of STORY."""
    rows = sorted(
        (r for r in range(len(scores)) if r not in hidden), key=lambda r: (-scores[r], r)
    )[:pool]
    asked = [WORDS[word] for word, _ in pieces(query)][: len(weights)]
    similar = [summed(asked, [WORDS[word] for word, _ in pieces(STORY[r])], weights) for r in rows]
    relevance, final = [-1.0] * len(scores), list(scores)
    for r, raw, blend in zip(
        rows,
        similar,
        blends.final_by_hand([scores[r] for r in rows], similar, alpha, spread),
        strict=True,
    ):
        relevance[r], final[r] = min(max(raw, 0.0), 1.0), blend
    return relevance, final


def asked_of(
    specimen: Any, query: str, scores: Sequence[float], hidden: Sequence[int] = (), **values: Any
) -> Any:
    """RELEVANCE, RERANKED and the rows of the answer in a memory of STORY whose scores before
    the reranker are given.
    """

    memory = memory_of(
        specimen, giving(Phase.RETRIEVE, REWEIGHTED, scores), embedder=Bags(), **values
    )
    encode(memory, *((float(i), text) for i, text in enumerate(STORY[: len(scores)])))
    for row in hidden:
        memory.archive(row)
    rows = memory.retrieve(query, k=len(STORY)).rows.tolist()
    return (
        np.nan_to_num(memory.column(RELEVANCE), nan=-1.0).tolist(),
        memory.column(RERANKED).tolist(),
        rows,
    )


def bag(rng: np.random.Generator, count: int, d: int) -> NDArray[np.float64]:
    rows = rng.normal(size=(count, d))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def compared(specimen: Any, query: Tokens, texts: Tokens, weights: Any) -> NDArray[np.float64]:
    out = np.full(len(texts), np.nan)
    specimen.maxsim(
        query.codes.astype(np.int16),
        query.scales,
        np.asarray(weights, np.float64),
        texts.codes,
        texts.scales,
        texts.offsets,
        out,
    )
    return out


def tokens(rows: Any) -> Tokens:
    return coded(np.asarray(rows, np.float64), np.zeros((len(rows), 2)))


# --- MaxSim ---------------------------------------------------------------------------------------
@equation(
    "LI-1",
    source="eq. (3), loops over plain lists; divided by the number of the query's vectors",
    rtol=SINGLE,
    papers=PAPER,
)
def each_vector_of_the_query_counts_by_its_most_similar_one(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    query = tokens(bag(rng, 5, 12))
    texts = [tokens(bag(rng, count, 12)) for count in (7, 1, 30, 3)]
    expected = [summed(query.codes.tolist(), text.codes.tolist(), [1.0] * 5) for text in texts]
    return compared(specimen, query, joined(texts, 12), np.ones(5)), expected


@limit(
    "LI-2",
    source="closed form: cosines of a text with itself are 1, of orthogonal vectors 0, of opposite ones -1",
    atol=SINGLE,
    papers=PAPER,
)
def equal_orthogonal_and_opposite_texts(specimen: Any) -> Any:
    query = tokens(np.eye(6)[:2])
    texts = [
        tokens(rows) for rows in (np.eye(6)[[1, 0]], np.eye(6)[2:4], -np.eye(6)[:1], np.eye(6)[:1])
    ]
    return compared(specimen, query, joined(texts, 6), np.ones(2)), [1.0, 0.0, -0.5, 0.5]


@equation("LI-3", source="a maximum over more vectors is no smaller", papers=PAPER)
def a_longer_text_is_never_less_similar(specimen: Any) -> Any:
    rng = np.random.default_rng(3)
    query, whole = tokens(bag(rng, 4, 8)), bag(rng, 20, 8)
    similarities = compared(
        specimen, query, joined([tokens(whole[:k]) for k in range(1, 21)], 8), np.ones(4)
    )
    return at_least(np.diff(similarities), 0.0)


@adaptation("LI-4", source="cosines in float64")
def seven_bits_keep_the_cosines(specimen: Any) -> Any:
    rng = np.random.default_rng(4)
    query, texts = bag(rng, 8, 384), [bag(rng, 40, 384) for _ in range(10)]
    exact = [float((query @ text.T).max(axis=1).mean()) for text in texts]
    single = [
        compared(
            specimen,
            tokens(query[i : i + 1]),
            joined([tokens(text[j : j + 1]) for j in range(40)], 384),
            [1.0],
        )
        for text in texts[:2]
        for i in range(8)
    ]
    cosines = [(query[i] @ text.T) for text in texts[:2] for i in range(8)]
    differences = (
        np.abs(np.array(single) - np.array(cosines)).max(),
        np.abs(
            compared(
                specimen, tokens(query), joined([tokens(text) for text in texts], 384), np.ones(8)
            )
            - exact
        ).max(),
    )
    return at_most(max(differences), 0.007)


@adaptation("LI-5", source="loops over plain lists", rtol=SINGLE)
def weights_make_a_weighted_mean(specimen: Any) -> Any:
    rng = np.random.default_rng(5)
    query, weights = tokens(bag(rng, 6, 10)), [0.0, 2.5, 0.25, 1.0, 0.0, 4.0]
    texts = [tokens(bag(rng, count, 10)) for count in (4, 9, 2)]
    empty = tokens(np.empty((0, 10)))
    expected = [
        summed(query.codes.tolist(), text.codes.tolist(), weights) for text in (*texts, empty)
    ]
    return np.concatenate(
        [
            compared(specimen, query, joined([*texts, empty], 10), weights),
            compared(specimen, query, joined(texts, 10), np.zeros(6)),
        ]
    ), [*expected, 0.0, 0.0, 0.0]


@adaptation("LI-6", source="by hand: shares of words, stop words, places without a word")
def a_word_shares_its_idf_among_its_pieces(specimen: Any) -> Any:
    idf = {"ada": 3.0, "x1": 5.0, "boat": 4.0}.__getitem__
    text = "The boats_x1, Ada!"
    spans = np.array([(0, 3), (4, 6), (6, 8), (8, 9), (9, 10), (10, 12), (12, 13), (14, 15), (15,
        16), (16, 17), (17, 18)])  # fmt: skip
    return specimen.idf_weights(text, spans, idf), [0.0, 4 / 3, 4 / 3, 4 / 3, 0.0, 5.0, 0.0, 1.0,
        1.0, 1.0, 0.0]  # fmt: skip


# --- blend ----------------------------------------------------------------------------------------
blend_on_one_scale = equation("LI-7", source=blends.BY_HAND, atol=1e-12, papers=("cortex2026",))(
    blends.both_scores_are_blended_on_one_scale
)
blend_of_orders = adaptation("LI-8", source=blends.EXCHANGED)(
    blends.exchanging_the_first_and_the_tenth_changes_the_order
)
weight_by_spread = adaptation("LI-9", source=blends.DEVIATION)(
    blends.the_spread_of_the_scores_is_the_rerankers_weight
)
blend_as_printed = adaptation("LI-15", source=blends.PRINTED, atol=1e-6, papers=("cortex2026",))(
    blends.the_printed_blend_takes_scores_as_they_are
)


# --- in a memory ----------------------------------------------------------------------------------
SCORES = (0.30, 0.10, 0.25, 0.05, 0.28, 0.21, 0.02, 0.24)


@equation(
    "LI-10", source="eq. (3) over the story's words; every weight 1", atol=SINGLE, papers=PAPER
)
def a_memory_compares_its_pool_with_the_query(specimen: Any) -> Any:
    """The last memory has cosines below 0 with "lake": its relevance is 0, its score is not."""
    measured: list[Any] = []
    expected: list[Any] = []
    more = (*SCORES, 0.31, 0.09, 0.20, 0.22, 0.11)
    for query, scores, pool, alpha, hidden in (
        ("unpack a boat?", SCORES, 5, 0.7, (2,)),
        ("unpack a boat?", SCORES, 3, 0.35, ()),
        ("unpack a boat?", SCORES, 50, 1.0, (0, 7)),
        ("unpack a boat?", SCORES, 1, 0.5, ()),
        ("unpack a boat?", more, 12, 0.6, ()),
        ("lake", more, 12, 0.6, ()),
    ):
        relevance, reranked, _ = asked_of(
            specimen, query, scores, hidden, pool=pool, alpha=alpha, weights="uniform"
        )
        measured += relevance + reranked
        weights = [1.0] * len(pieces(query))
        expected += [
            value
            for values in answer_of(query, weights, scores, pool, alpha, hidden)
            for value in values
        ]
    return measured, expected


@adaptation(
    "LI-11",
    source="idf by hand: ln(1 + (8 - n + 1/2) / (n + 1/2)) for n memories with the word; the weight of the blend by the spread",
    atol=SINGLE,
)
def rare_words_count_more(specimen: Any) -> Any:
    idf = [math.log1p((8.0 - n + 0.5) / (n + 0.5)) for n in (2, 3, 2)]  # unpack, boat, ada
    weights = [idf[0] / 2, idf[0] / 2, 0.0, idf[1], idf[2], 0.0]
    measured: list[Any] = []
    expected: list[Any] = []
    for blend in ("fixed", "spread"):
        asked = asked_of(
            specimen,
            "unpack the boat, Ada?",
            SCORES,
            (5,),
            pool=6,
            alpha=0.8,
            blend=blend,
            weights="idf",
        )
        measured += asked[:2]
        expected += answer_of(
            "unpack the boat, Ada?", weights, SCORES, 6, 0.8, (5,), blend == "spread"
        )
    return measured, expected


@adaptation(
    "LI-12",
    source="by hand: the pool of two, the better match last in it; the third has the lowest score of the pool and a lower row",
)
def the_pool_stays_above_all_others(specimen: Any) -> Any:
    return [
        asked_of(specimen, "house", (3.0, 3.0, 5.0), pool=2, alpha=alpha)[2] for alpha in (0.0, 1.0)
    ], [[2, 0, 1], [0, 2, 1]]


@limit(
    "LI-13",
    source="definition: nothing to compare leaves all as it is; stop words alone weigh the same; the first pieces count",
    atol=SINGLE,
)
def queries_without_words_or_with_too_many(specimen: Any) -> Any:
    silent = asked_of(specimen, "!!", SCORES, pool=5)
    stop = asked_of(specimen, "the of a", SCORES, pool=5, alpha=0.5, weights="idf")
    short = asked_of(
        specimen, "ada boat lake keys", SCORES, pool=5, alpha=0.5, weights="uniform", query_pieces=2
    )
    hidden = asked_of(specimen, "boat", SCORES, range(8), pool=5)
    return [*silent[:2], *stop[:2], *short[:2], *hidden[:2]], [
        [-1.0] * 8,
        list(SCORES),
        *answer_of("the of a", [1.0] * 3, SCORES, 5, 0.5),
        *answer_of("ada boat", [1.0] * 2, SCORES, 5, 0.5),
        [-1.0] * 8,
        list(SCORES),
    ]


@adaptation(
    "LI-14",
    source="by hand: a memory is compared as it is indexed, with the name of its speaker",
    atol=SINGLE,
)
def the_speaker_is_compared_as_well(specimen: Any) -> Any:
    memory = memory_of(specimen, embedder=Bags(), weights="uniform")
    encode(memory, (0.0, "the lake", "Ada"), (1.0, "the lake", "Keys"), (2.0, "the lake"))
    memory.retrieve("Ada boat")
    texts = [
        [*spoken, WORDS["the"], WORDS["lake"]] for spoken in ([WORDS["ada"]], [WORDS["keys"]], [])
    ]
    return memory.column(RELEVANCE).tolist(), [
        summed([WORDS["ada"], WORDS["boat"]], text, [1.0, 1.0]) for text in texts
    ]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "words",
    caption="MaxSim over the share of the query's words that a text of twenty words has: it grows with each of them, from the "
    "similarity of unrelated words",
    source="ours; vectors of words at random in 64 dimensions",
)
def similarity_over_shared_words(specimen: Any) -> Picture:
    rng = np.random.default_rng(0)
    query, other = bag(rng, 8, 64), bag(rng, 20, 64)
    texts = joined([tokens(np.concatenate([query[:k], other[k:]])) for k in range(9)], 64)
    similarities, chance = (
        compared(specimen, tokens(query), texts, np.ones(8)),
        (query @ other.T).max(axis=1),
    )
    exact = [
        (k + float((query[k:] @ np.concatenate([query[:k], other[k:]]).T).max(axis=1).sum())) / 8
        for k in range(9)
    ]
    return Picture(
        "words of the query in the text",
        "MaxSim",
        (
            Curve("MaxSim", np.arange(9), similarities),
            dots("loops in float64", np.arange(9), exact),
            Curve("no word shared", np.array([0, 8]), [float(chance.mean())] * 2),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
def by_numpy(reduce: Any) -> Any:
    """A kernel of another form: reduce(cosines (q, t), weights) of each text."""

    def maxsim(
        query: Any, lengths: Any, weights: Any, codes: Any, scales: Any, offsets: Any, out: Any
    ) -> None:
        for k in range(len(out)):
            text = (
                codes[offsets[k] : offsets[k + 1]].astype(float)
                * scales[offsets[k] : offsets[k + 1], None]
            )
            out[k] = (
                reduce(query.astype(float) * lengths[:, None] @ text.T, weights)
                if len(text) and weights.sum()
                else 0.0
            )

    return maxsim


@mutant("the mean cosine in place of the largest", rejected_by="LI-1")
def mean(specimen: Any) -> Any:
    return specimen.replacing("maxsim", by_numpy(lambda c, w: (c.mean(axis=1) * w).sum() / w.sum()))


@mutant("the most similar vector of the query for each of the text", rejected_by="LI-1")
def transposed(specimen: Any) -> Any:
    return specimen.replacing("maxsim", by_numpy(lambda c, w: c.max(axis=0).mean()))


@mutant("negative cosines count as 0", rejected_by="LI-2")
def rectified(specimen: Any) -> Any:
    return specimen.replacing(
        "maxsim", by_numpy(lambda c, w: (np.maximum(c.max(axis=1), 0.0) * w).sum() / w.sum())
    )


@mutant("divided by the text's number of vectors", rejected_by="LI-3")
def by_length(specimen: Any) -> Any:
    return specimen.replacing(
        "maxsim", by_numpy(lambda c, w: (c.max(axis=1) * w).sum() / c.shape[1])
    )


@mutant("codes without their lengths", rejected_by="LI-4")
def unscaled_codes(specimen: Any) -> Any:
    maxsim = specimen.maxsim
    return specimen.replacing(
        "maxsim",
        lambda q, l, w, c, s, o, out: maxsim(
            q, np.full_like(l, l.mean()), w, c, np.full_like(s, s.max()), o, out
        ),
    )


@mutant("weights are ignored", rejected_by="LI-5")
def unweighted(specimen: Any) -> Any:
    return specimen.replacing("maxsim", by_numpy(lambda c, w: c.max(axis=1).mean()))


@mutant("each piece has the whole idf of its word", rejected_by="LI-6")
def not_shared(specimen: Any) -> Any:
    weights = specimen.idf_weights

    def whole(text: str, spans: Any, idf: Any) -> Any:
        return np.array([weights(text, spans[i : i + 1], idf)[0] for i in range(len(spans))])

    return specimen.replacing("idf_weights", whole)


exchanged, unscaled, turned, always_fixed, level = blends.mutants(
    blended="LI-7", scaled="LI-8", weight="LI-9", used="LI-11", pool="LI-12"
)


@mutant("archived memories are compared, too", rejected_by="LI-10")
def of_all(specimen: Any) -> Any:
    best = specimen.best
    return specimen.replacing(
        "best", lambda scores, visible, k: best(scores, np.ones_like(visible), k)
    )


@mutant("a similarity below 0 is no relevance of 0", rejected_by="LI-10")
def unclipped(specimen: Any) -> Any:
    class Unclipped:
        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

        def clip(self, values: Any, low: float, high: float) -> Any:
            return values

    return specimen.replacing("np", Unclipped())


@mutant("stop words alone weigh nothing", rejected_by="LI-13")
def weightless(specimen: Any) -> Any:
    def _weights(self: Any, lexicon: Any, text: str, spans: Any) -> Any:
        return np.zeros(len(spans)) if self.params.weights == "idf" else np.ones(len(spans))

    return specimen.overriding("LateInteractionRerank", _weights=_weights)


@mutant("the speaker is left out", rejected_by="LI-14")
def unspoken(specimen: Any) -> Any:
    @hook(
        Phase.RETRIEVE,
        reads=(REWEIGHTED, ANSWERABLE, TEXTS, LEXICON, TOKEN_EMBEDDER),
        adds=(),
        sets=(RELEVANCE, RERANKED),
    )
    def rerank(self: Any, view: Any, cue: Any) -> None:
        names = ("reweighted", "answerable", "lexicon", "token_embedder", "relevance", "reranked")
        specimen.LateInteractionRerank.rerank(
            self,
            SimpleNamespace(
                **{name: getattr(view, name) for name in names},
                texts=SimpleNamespace(rendered=view.texts.__getitem__),
            ),
            cue,
        )

    return specimen.overriding("LateInteractionRerank", rerank=rerank)
