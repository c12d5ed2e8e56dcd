"""Evidence for sampling_recovery.  References are fractions by hand, enumerated sequences of
draws, and the definition in numpy.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Facet, Phase, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.records import Event, Query
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ...engine.state.graph import EdgeType, entity_node
from .. import memory as engine
from ..checks import adaptation, at_least, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..paper_numbers import paper_number

A, B, RESIDUAL, E, F, K_MAX = 0.1, 0.1, 0.02, 0.7, 0.7, 30
NUMBERS = (
    paper_number("context_strength", A, "1", paper="raaijmakers1981search",
                 where="parameter a; as generally quoted, the paper was not opened"),
    paper_number("item_strength", B, "1", paper="raaijmakers1981search",
                 where="parameter b; as generally quoted, the paper was not opened"),
    paper_number("residual_strength", RESIDUAL, "1", paper="raaijmakers1981search",
                 where="parameter d; as generally quoted, paper not opened"),
    paper_number("context_increment", E, "1", paper="raaijmakers1981search",
                 where="parameter e; as generally quoted, the paper was not opened"),
    paper_number("item_increment", F, "1", paper="raaijmakers1981search",
                 where="parameter f; as generally quoted, the paper was not opened"),
    paper_number("draws", K_MAX, "draws", paper="raaijmakers1981search",
                 where="K_max; as generally quoted, the paper was not opened"),
)  # fmt: skip
ANYTHING = signal("anything", Facet.WORDS, "1 for every memory")


@dataclass(frozen=True, slots=True)
class Equal(Params):
    weight: float


# --- references -----------------------------------------------------------------------------------
def asked(
    specimen: Any, cues: list[Any], weights: list[float] | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The specimen's P_S and P_R of each memory, for cues given as rows of strengths."""
    n = len(cues[0])
    product, total, p = np.zeros(n), np.zeros(n), np.empty(n)
    for strengths, weight in zip(cues, weights or [1.0] * len(cues), strict=True):
        specimen.add_cue(np.asarray(strengths, dtype=np.float64), 1.0, 0.0, weight, product, total)
    specimen.sampling(product, np.ones(n, dtype=np.bool_), p)
    return p, np.array([specimen.recovery(t) for t in total])


def enumerated(p: list[float], recover: list[float], draws: int) -> NDArray[np.float64]:
    """Probability of recall by the rules of the search: every sequence of draws, recovery tried
    at the first sampling only.
    """
    out = np.zeros(len(p))
    for sequence in itertools.product(range(len(p)), repeat=draws):
        chance = math.prod(p[i] for i in sequence)
        for i in set(sequence):
            out[i] += chance * recover[i]
    return out


def memory_of(specimen: Any, texts: list[str], *company: Mechanism[Any]) -> Engine:
    params = specimen.SamplingRecoveryParams(
        time_scale=1.0,
        context_strength=A,
        item_strength=B,
        residual_strength=RESIDUAL,
        context_increment=E,
        item_increment=F,
        context_weight=1.0,
        item_weight=1.0,
        draws=K_MAX,
        most_cues=16,
        weight=1.0,
    )
    memory = Engine(
        [specimen.SamplingRecovery("sampling_recovery", params), *company], HashingEmbedder(16)
    )
    memory.encode_all(Event(float(i), text) for i, text in enumerate(texts))
    return memory


# --- sampling and recovery ------------------------------------------------------------------------
@equation(
    "SAM-1",
    source="one cue, strengths .5, .3, .2: by hand",
    atol=1e-7,
    papers=("raaijmakers1981search",),
)
def one_cue_samples_in_proportion_and_recovers_by_strength(specimen: Any) -> Any:
    p, r = asked(specimen, [[0.5, 0.3, 0.2]])
    return [*p, *r, float(p @ r)], [0.5, 0.3, 0.2, 0.3934693, 0.2591818, 0.1812692, 0.3107431]


@equation(
    "SAM-2",
    source="context (1, 1, 1) with an item (2, 1, .5): fractions by hand",
    papers=("raaijmakers1981search",),
)
def strengths_to_several_cues_multiply(specimen: Any) -> Any:
    return asked(specimen, [[1.0, 1.0, 1.0], [2.0, 1.0, 0.5]])[0], [4 / 7, 2 / 7, 1 / 7]


@equation(
    "SAM-2b",
    source="the product rule: no strength to one cue, never sampled",
    papers=("raaijmakers1981search",),
)
def a_memory_without_strength_to_one_cue_is_never_sampled(specimen: Any) -> Any:
    return asked(specimen, [[1.0, 1.0, 1.0], [0.0, 5.0, 0.1], [9.0, 0.0, 0.1]])[0], [0.0, 0.0, 1.0]


@equation(
    "SAM-2c",
    source="the definition, products of powers, in numpy",
    papers=("raaijmakers1981search",),
)
def weights_are_exponents_in_sampling_and_factors_in_recovery(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    s, w = rng.uniform(0.05, 2.0, (4, 12)), rng.uniform(0.2, 1.5, 4)
    powers = (s ** w[:, None]).prod(axis=0)
    return np.concatenate(asked(specimen, list(s), list(w))), np.concatenate(
        [powers / powers.sum(), 1.0 - np.exp(-(w @ s))]
    )


@limit(
    "SAM-2d",
    source="a cue of equal strength to all memories cancels",
    atol=1e-12,
    papers=("raaijmakers1981search",),
)
def a_cue_equally_strong_to_all_does_not_change_sampling(specimen: Any) -> Any:
    item = [2.0, 1.0, 0.5, 0.1]
    return asked(specimen, [item, [0.3] * 4])[0], asked(specimen, [item])[0]


@limit(
    "SAM-2e", source="W = 0: a cue without attention", atol=1e-12, papers=("raaijmakers1981search",)
)
def a_cue_of_weight_zero_has_no_effect(specimen: Any) -> Any:
    item = [2.0, 1.0, 0.5]
    return np.concatenate(asked(specimen, [item, [5.0, 0.1, 1.0]], [1.0, 0.0])), np.concatenate(
        asked(specimen, [item])
    )


@limit(
    "SAM-2f",
    source="0^0 = 1: a cue without attention and of strength 0, by residual or scale",
    papers=("raaijmakers1981search",),
)
def a_cue_of_weight_zero_has_no_effect_at_strength_zero(specimen: Any) -> Any:
    product, total = np.array([0.5, -0.5]), np.array([0.3, 0.6])
    for match, scale in (([2.0, 0.0], 1.0), ([2.0, 0.0], 0.0)):
        specimen.add_cue(np.array(match), scale, 0.0, 0.0, product, total)
    return [*product, *total], [0.5, -0.5, 0.3, 0.6]


@limit(
    "SAM-2g",
    source="the definition with strengths below the smallest double, exp(-800) and exp(-802); hidden memories count for nothing",
    papers=("raaijmakers1981search",),
)
def tiny_strengths_are_sampled_in_proportion(specimen: Any) -> Any:
    p = np.empty(4)
    specimen.sampling(
        np.array([-802.0, 5.0, -2000.0, -800.0]), np.array([True, False, True, True]), p
    )
    share = 1.0 / (1.0 + math.exp(2.0))
    return p, [share, 0.0, 0.0, 1.0 - share]


@signature(
    "SAM-3",
    source="1 - (1 - 1/n)^30 for lists of 10, 20 and 30",
    atol=2e-7,
    figure="list_length",
    papers=("raaijmakers1981search",),
)
def each_item_of_a_longer_list_is_sampled_less(specimen: Any) -> Any:
    ps = [float(asked(specimen, [[0.4] * n])[0][0]) for n in (10, 20, 30)]
    return [specimen.recalled(p, 1.0, 30.0) for p in ps], [0.9576088, 0.7853613, 0.6383385]


@adaptation(
    "SAM-2h",
    source="ours: a memory that stands for several is sampled as each of them; the definition over repeated memories, in numpy",
)
def a_memory_that_stands_for_several_counts_as_often(specimen: Any) -> Any:
    rng, p = np.random.default_rng(2), np.empty(20)
    product, counts = rng.normal(0.0, 2.0, 20), rng.integers(0, 6, 20)
    specimen.sampling(product, counts.astype(np.float32), p)
    shown, strengths = counts > 0, np.exp(product)
    return p[shown], strengths[shown] / np.repeat(strengths, counts).sum()


@signature(
    "SAM-4",
    source="cue overload: twice the competitors, half the sampling, the same recovery",
    figure="list_length",
    papers=("raaijmakers1981search",),
)
def competitors_reduce_sampling_and_not_recovery(specimen: Any) -> Any:
    (p1, r1), (p2, r2) = asked(specimen, [[0.5] * 8]), asked(specimen, [[0.5] * 16])
    return [p2[0] / p1[0], r2[0] / r1[0]], [0.5, 1.0]


@equation(
    "SAM-5",
    source="every sequence of five draws enumerated, recovery tried once per item",
    papers=("raaijmakers1981search",),
)
def a_failed_recovery_is_not_tried_again(specimen: Any) -> Any:
    p, r = [0.6, 0.3, 0.1], [0.2, 0.7, 0.9]
    return [specimen.recalled(a, b, 5.0) for a, b in zip(p, r, strict=True)], enumerated(p, r, 5)


@limit("SAM-5b", source="many draws: sampled with probability 1", papers=("raaijmakers1981search",))
def with_many_draws_recall_equals_recovery(specimen: Any) -> Any:
    return [specimen.recalled(0.01, r, 1e6) for r in (0.1, 0.8)], [0.1, 0.8]


# --- the adaptation -------------------------------------------------------------------------------
@adaptation(
    "SAM-6", source="ours: one memory has both words, two others repeat one of them", needs="engine"
)
def a_memory_with_both_words_beats_many_repeats_of_one(specimen: Any) -> Any:
    repeats = ["violin violin violin violin violin", "rain rain rain rain rain"]
    texts = [
        *repeats,
        "the violin stood in the rain",
        *(f"nothing of the sort {i}" for i in range(20)),
    ]
    memory = memory_of(specimen, texts)
    first = memory.retrieve("violin rain").rows[0]
    p = memory.store.array(specimen.CUE_PRODUCT)
    return at_least(p[2] / max(p[0], p[1]) if first == 2 else 0.0, 3.0)


@adaptation(
    "SAM-7",
    source="Raaijmakers & Shiffrin 1981: on recovery, strength to the context + e, to the cue + f; odds by hand",
    needs="engine",
    papers=("raaijmakers1981search",),
)
def a_recalled_memory_is_sampled_more_with_that_cue(specimen: Any) -> Any:
    texts = ["Yesterday Ada sang.", "Last night Ada slept.", "At noon Bo slept."]
    memory = memory_of(specimen, texts)
    memory.retrieve(Query("Ada sang"), k=1, learn=True)
    memory.retrieve(Query("Is it Ada?"))
    p = np.array(memory.store.array(specimen.CUE_PRODUCT))
    return p[0] / p[1], ((0.1 + 0.7) * (0.1 + 0.02 + 0.7)) / (0.1 * (0.1 + 0.02))


@adaptation(
    "SAM-8",
    source="ours: d is part of every strength to an item, b match + d, so that a weak match counts more than none; by hand",
)
def the_residual_strength_is_part_of_every_strength_to_an_item(specimen: Any) -> Any:
    product, total = np.zeros(3), np.zeros(3)
    specimen.add_cue(np.array([2.0, 0.1, 0.0]), 0.1, 0.02, 1.0, product, total)
    return [*np.exp(product), *total], [0.22, 0.03, 0.02] * 2


@adaptation(
    "SAM-8b",
    source="ours: 1 for a mention, plus the gain in units of b; 1 without b; links to other names do not count; by hand",
)
def a_mention_is_one_unit_of_study(specimen: Any) -> Any:
    # node 0 has the links 1, 0 and 2
    links = np.array([1, 0]), np.array([3, 1]), np.array([3, 1, 0, 2]), np.array([2, 0, -1, 1])
    measured = []
    for scale in (0.1, 0.0):
        match = np.full(4, 9.0)
        specimen.linked(0, np.array([0.0, 0.3, 0.7, 0.0]), scale, *links, match)
        measured.append(match.tolist())
    return measured, [[4.0, 0.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0]]


class Anything(Mechanism[Equal]):
    """Scores every memory equally, so that an answer also has memories that no cue matches."""

    owns = (ANYTHING,)

    @hook(Phase.RETRIEVE, reads=(), adds=(), sets=(ANYTHING,))
    def score(self, view: Any, cue: Cue) -> None:
        view.anything[...] = 1.0


@adaptation(
    "SAM-9",
    source="ours: + e for each memory of an answer, recovered or not, + f where it mentions an entity of the query; by hand",
    needs="engine",
)
def every_memory_of_an_answer_learns(specimen: Any) -> Any:
    memory = memory_of(
        specimen,
        ["Yesterday Ada sang.", "Last night Ada slept.", "At noon Bo slept."],
        Anything("anything", Equal(1.0, 1.0)),
    )
    answered = memory.retrieve(Query("Ada"), k=3, learn=True).rows
    graph, gain = memory.store.graph, memory.store.graph.column(specimen.CUE_GAIN.name)
    edges = [
        graph.find(entity_node(graph.entity_id("ada") or 0), row, EdgeType.ENTITY)
        for row in range(3)
    ]
    return [
        len(answered),
        *memory.store.array(specimen.CONTEXT_GAIN),
        *(gain[e] if e is not None else 0.0 for e in edges),
        gain.sum(),
    ], [3.0, 0.7, 0.7, 0.7, 0.7, 0.7, 0.0, 1.4]


TOLD = (
    ("zorp Ada wum", ("ada",)),
    ("zorp Bo zorp Lisbon pell", ("bo", "lisbon")),
    ("wum Lisbon zorp Ada", ("lisbon", "ada")),
    ("wum wum pell", ()),
    ("pell Ada Bo pell wum zorp", ("ada bo",)),
    ("dax", ()),
    ("pell Lisbon", ("lisbon",)),
)

# a query with its names and its other words
QUERIES: tuple[tuple[str, list[str], list[str]], ...] = (
    ("zorp Ada wum", ["ada"], ["zorp", "wum"]), ("zorp zorp Lisbon or Ada or Zoe wum pell",
                                                 ["lisbon", "ada"], ["zorp", "zoe", "wum", "pell"]),
    ("wum Ada Bo", ["ada bo"], ["wum"]), ("pell dax zorp wum", [], ["pell", "dax", "zorp", "wum"]),
    ("zorp Ada wum", ["ada"], ["zorp", "wum"]),
    ("dax, Ada Bo, or Bo, or Ada, or Lisbon zorp", ["ada bo", "bo", "ada", "lisbon"], ["dax",
    "zorp"]), ("wum Zoe or Una or Kim or Lisbon", ["lisbon"], ["wum", "zoe", "una",
    "kim"]))  # fmt: skip


class Search:
    """SAM over TOLD by the definition: products of powers, sums, and increments, with strengths
    in plain dictionaries.
    """

    def __init__(self, values: dict[str, Any], visible: list[int]) -> None:
        self.v, self.visible = values, visible
        self.context, self.to_name = (
            [0.0] * len(TOLD),
            dict.fromkeys(((i, name) for i, (_, names) in enumerate(TOLD) for name in names), 0.0),
        )

    def odds(
        self, names: list[str], words: list[str]
    ) -> tuple[list[float], list[float], list[float]]:
        """P_S, the sum of strengths, and ln of the probability of recall, NaN without a matching
        item.
        """
        v, texts = self.v, [text.lower().split() for text, _ in TOLD]
        n, mean, product, total, matches = len(texts), sum(map(len, texts)) / len(texts), [], [], []
        for i, text in enumerate(texts):
            matching = [
                1.0 + self.to_name[i, name] / v["item_strength"]
                if (i, name) in self.to_name
                else 0.0
                for name in names
            ]
            for word in words:
                holding, tf = sum(word in other for other in texts), text.count(word)
                matching.append(
                    math.log(1.0 + (n - holding + 0.5) / (holding + 0.5))
                    * tf
                    * 2.2
                    / (tf + 1.2 * (0.25 + 0.75 * len(text) / mean))
                )
            strengths = [v["item_strength"] * match + v["residual_strength"] for match in matching]
            context = v["context_strength"] + self.context[i]
            product.append(
                context ** v["context_weight"] * math.prod(s ** v["item_weight"] for s in strengths)
            )
            total.append(v["context_weight"] * context + v["item_weight"] * sum(strengths))
            matches.append(any(matching))
        whole = sum(product[j] for j in self.visible) or 1.0
        sampled = [product[i] / whole if i in self.visible else 0.0 for i in range(n)]
        recalled = [
            (1.0 - (1.0 - p) ** v["draws"]) * (1.0 - math.exp(-s))
            for p, s in zip(sampled, total, strict=True)
        ]
        return (
            sampled,
            total,
            [
                math.log(max(p, math.exp(-30.0))) if cued else math.nan
                for p, cued in zip(recalled, matches, strict=True)
            ],
        )

    def recall(self, rows: list[int], names: list[str]) -> None:
        for i in rows:
            self.context[i] += self.v["context_increment"]
            for name in names:
                if (i, name) in self.to_name:
                    self.to_name[i, name] += self.v["item_increment"]


@equation(
    "SAM-10",
    source="Raaijmakers & Shiffrin 1981: search by the definition, with the increments of each recall; BM25 by hand",
    rtol=2e-6,
    papers=("raaijmakers1981search",),
)
def a_memory_samples_recovers_and_learns(specimen: Any) -> Any:
    measured, expected = [], []
    printed: dict[str, Any] = {"context_strength": A, "item_strength": B,
                               "residual_strength": RESIDUAL, "context_increment": E,
                               "item_increment": F,
                               "draws": K_MAX, "context_weight": 1.0, "item_weight": 1.0}  # fmt: skip
    odd: dict[str, Any] = {"context_strength": 0.3, "item_strength": 0.2, "residual_strength": 0.05,
                           "context_increment": 0.6, "item_increment": 0.4,
                           "draws": 7, "context_weight": 0.8, "item_weight": 1.3, "most_cues": 3}  # fmt: skip
    alone = {**odd, "residual_strength": 0.0, "item_strength": 40.0, "most_cues": 5}
    for values, archived in ((printed, None), (odd, 2), (alone, 4)):
        # the registry gives the numbers of the paper
        asked: dict[str, Any] = {} if values is printed else values
        memory, search = (
            engine.memory_of(specimen, **asked),
            Search(values, [i for i in range(len(TOLD)) if i != archived]),
        )
        engine.encode(memory, *((float(i), text) for i, (text, _) in enumerate(TOLD)))
        if archived is not None:
            memory.archive(archived)
        most = values.get("most_cues", 16)
        for query, every_name, words in QUERIES:
            names, answered = (
                every_name[:most],
                memory.retrieve(query, k=3, learn=True).rows.tolist(),
            )
            odds = search.odds(names, words[: most - len(names)])
            measured += [*memory.column(specimen.CUE_PRODUCT), *memory.column(specimen.CUE_SUM)]
            measured += [*np.nan_to_num(memory.column(specimen.RECALL_ODDS), nan=9.0)]
            expected += [*odds[0], *odds[1], *np.nan_to_num(odds[2], nan=9.0)]
            search.recall(answered, names)
            measured += [
                *memory.column(specimen.CONTEXT_GAIN),
                float(memory.column(specimen.CUE_GAIN).sum()),
            ]
            expected += [*search.context, sum(search.to_name.values())]
        memory.retrieve("Is it?")
        measured += [
            *np.nan_to_num(memory.column(specimen.RECALL_ODDS), nan=9.0),
            *memory.column(specimen.CUE_PRODUCT),
        ]
        expected += [9.0] * len(TOLD) + [0.0] * len(TOLD)
    return measured, expected


# --- figures --------------------------------------------------------------------------------------
@figure(
    "list_length",
    caption="The probabilities that an item is sampled in thirty draws and recalled fall with the length of the list; that of "
    "recovery once sampled does not",
    source="closed form 1 - (1 - 1/n)^30; Raaijmakers & Shiffrin 1981",
)
def recall_over_the_length_of_the_list(specimen: Any) -> Picture:
    lengths, sampled, recovered, recall = np.arange(1, 61), [], [], []
    for n in lengths:
        p, r = (float(x[0]) for x in asked(specimen, [[1.5] * int(n)]))
        sampled.append(specimen.recalled(p, 1.0, 30.0))
        recovered.append(r)
        recall.append(specimen.recalled(p, r, 30.0))
    return Picture(
        "items in the list",
        "probability",
        (
            Curve("sampled", lengths, sampled),
            Curve("recovered if sampled", lengths, recovered),
            Curve("recalled", lengths, recall),
            dots("closed form, sampled", [10, 20, 30], [0.9576088, 0.7853613, 0.6383385]),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("strengths are added, not multiplied", rejected_by="SAM-2")
def weighted_sum(specimen: Any) -> Any:
    def sampling(product: Any, visible: Any, out: Any) -> None:
        out[:] = product / product.sum()

    def add_cue(
        match: Any, scale: float, residual: float, weight: float, product: Any, total: Any
    ) -> None:
        product += weight * (scale * match + residual)
        total += weight * (scale * match + residual)

    return specimen.replacing("add_cue", add_cue).replacing("sampling", sampling)


@mutant("weights multiply the strengths in the product", rejected_by="SAM-2c")
def factors(specimen: Any) -> Any:
    def add_cue(
        match: Any, scale: float, residual: float, weight: float, product: Any, total: Any
    ) -> None:
        s = scale * np.asarray(match) + residual
        product += np.log(weight * s)
        total += weight * s

    return specimen.replacing("add_cue", add_cue)


@mutant("recovery equal to the total strength, at most 1", rejected_by="SAM-1")
def strongest(specimen: Any) -> Any:
    return specimen.replacing("recovery", lambda total: min(total, 1.0))


@mutant("a failed recovery is tried again", rejected_by="SAM-5")
def retried(specimen: Any) -> Any:
    return specimen.replacing("recalled", lambda p, r, draws: 1.0 - (1.0 - p * r) ** draws)


@mutant("a memory that stands for several counts once", rejected_by="SAM-2h")
def counted_once(specimen: Any) -> Any:
    sampling = specimen.sampling
    return specimen.replacing(
        "sampling", lambda product, stands_for, out: sampling(product, stands_for > 0, out)
    )


@mutant("sampling independent of the other memories", rejected_by="SAM-4")
def uncontested(specimen: Any) -> Any:
    def sampling(product: Any, visible: Any, out: Any) -> None:
        out[:] = np.minimum(np.exp(product), 1.0)

    return specimen.replacing("sampling", sampling)


@mutant("residual strength only where nothing matches", rejected_by="SAM-8")
def residual_alone(specimen: Any) -> Any:
    def add_cue(
        match: Any, scale: float, residual: float, weight: float, product: Any, total: Any
    ) -> None:
        s = np.where(np.asarray(match) > 0.0, scale * np.asarray(match), residual)
        product += weight * np.log(s)
        total += weight * s

    return specimen.replacing("add_cue", add_cue)


@mutant("no increment by recall", rejected_by="SAM-9")
def unchanged_by_recall(specimen: Any) -> Any:
    def params(**values: Any) -> Any:
        return specimen.SamplingRecoveryParams(**{**values, "context_increment": 0.0})

    return specimen.replacing("SamplingRecoveryParams", params)


@mutant("the weights of context and items are exchanged", rejected_by="SAM-10")
def exchanged_weights(specimen: Any) -> Any:
    original = specimen.add_cue

    def add_cue(
        match: Any, scale: float, residual: float, weight: float, product: Any, total: Any
    ) -> None:
        original(
            match,
            scale,
            residual,
            1.3 if weight == 0.8 else 0.8 if weight == 1.3 else weight,
            product,
            total,
        )

    return specimen.replacing("add_cue", add_cue)
