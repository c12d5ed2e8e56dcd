"""Evidence for sampling_recovery.  References are fractions by hand, enumerated sequences of draws, and the definition in numpy."""
from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.columns import Facet, Phase, signal
from ...engine.contract import Cue, Mechanism, Params, hook
from ...engine.loop import Engine
from ...engine.ports.embedder import HashingEmbedder
from ...engine.records import Event, Query
from ...engine.storage.graph import EdgeType, entity_node
from ..checks import adaptation, at_least, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure

ANYTHING = signal("anything", Facet.WORDS, "1 for every memory")


@dataclass(frozen=True, slots=True)
class Equal(Params):
    weight: float


# --- references --------------------------------------------------------------------------------------------------------------
def asked(specimen: Any, cues: list[Any], weights: list[float] | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """The specimen's P_S and P_R of each memory, for cues given as rows of strengths."""
    n = len(cues[0])
    product, total, p = np.zeros(n), np.zeros(n), np.empty(n)
    for strengths, weight in zip(cues, weights or [1.0] * len(cues), strict=True):
        specimen.add_cue(np.asarray(strengths, dtype=np.float64), 1.0, 0.0, weight, product, total)
    specimen.sampling(product, np.ones(n, dtype=np.bool_), p)
    return p, np.array([specimen.recovery(t) for t in total])


def enumerated(p: list[float], recover: list[float], draws: int) -> NDArray[np.float64]:
    """Probability of recall by the rules of the search: every sequence of draws, recovery tried at the first sampling only."""
    out = np.zeros(len(p))
    for sequence in itertools.product(range(len(p)), repeat=draws):
        chance = math.prod(p[i] for i in sequence)
        for i in set(sequence):
            out[i] += chance * recover[i]
    return out


def memory_of(specimen: Any, texts: list[str], *company: Mechanism[Any]) -> Engine:
    params = specimen.SamplingRecoveryParams(
        time_scale=1.0, context_strength=0.1, item_strength=0.1, residual_strength=0.02, context_increment=0.7, item_increment=0.7,
        context_weight=1.0, item_weight=1.0, draws=30, most_cues=16, weight=1.0)
    memory = Engine([specimen.SamplingRecovery("sampling_recovery", params), *company], HashingEmbedder(16))
    memory.encode_all(Event(float(i), text) for i, text in enumerate(texts))
    return memory


# --- sampling and recovery ---------------------------------------------------------------------------------------------------
@equation("SAM-1", source="one cue, strengths .5, .3, .2: by hand", atol=1e-7, papers=("raaijmakers1981search",))
def one_cue_samples_in_proportion_and_recovers_by_strength(specimen: Any) -> Any:
    p, r = asked(specimen, [[0.5, 0.3, 0.2]])
    return [*p, *r, float(p @ r)], [0.5, 0.3, 0.2, 0.3934693, 0.2591818, 0.1812692, 0.3107431]


@equation("SAM-2", source="context (1, 1, 1) with an item (2, 1, .5): fractions by hand", papers=("raaijmakers1981search",))
def strengths_to_several_cues_multiply(specimen: Any) -> Any:
    return asked(specimen, [[1.0, 1.0, 1.0], [2.0, 1.0, 0.5]])[0], [4 / 7, 2 / 7, 1 / 7]


@equation("SAM-2b", source="the product rule: no strength to one cue, never sampled", papers=("raaijmakers1981search",))
def a_memory_without_strength_to_one_cue_is_never_sampled(specimen: Any) -> Any:
    return asked(specimen, [[1.0, 1.0, 1.0], [0.0, 5.0, 0.1], [9.0, 0.0, 0.1]])[0], [0.0, 0.0, 1.0]


@equation("SAM-2c", source="the definition, products of powers, in numpy", papers=("raaijmakers1981search",))
def weights_are_exponents_in_sampling_and_factors_in_recovery(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    s, w = rng.uniform(0.05, 2.0, (4, 12)), rng.uniform(0.2, 1.5, 4)
    powers = (s ** w[:, None]).prod(axis=0)
    return np.concatenate(asked(specimen, list(s), list(w))), np.concatenate([powers / powers.sum(), 1.0 - np.exp(-(w @ s))])


@limit("SAM-2d", source="a cue of equal strength to all memories cancels", atol=1e-12, papers=("raaijmakers1981search",))
def a_cue_equally_strong_to_all_does_not_change_sampling(specimen: Any) -> Any:
    item = [2.0, 1.0, 0.5, 0.1]
    return asked(specimen, [item, [0.3] * 4])[0], asked(specimen, [item])[0]


@limit("SAM-2e", source="W = 0: a cue without attention", atol=1e-12, papers=("raaijmakers1981search",))
def a_cue_of_weight_zero_has_no_effect(specimen: Any) -> Any:
    item = [2.0, 1.0, 0.5]
    return np.concatenate(asked(specimen, [item, [5.0, 0.1, 1.0]], [1.0, 0.0])), np.concatenate(asked(specimen, [item]))


@signature("SAM-3", source="1 - (1 - 1/n)^30 for lists of 10, 20 and 30", atol=2e-7, figure="list_length", papers=("raaijmakers1981search",))
def each_item_of_a_longer_list_is_sampled_less(specimen: Any) -> Any:
    ps = [float(asked(specimen, [[0.4] * n])[0][0]) for n in (10, 20, 30)]
    return [specimen.recalled(p, 1.0, 30.0) for p in ps], [0.9576088, 0.7853613, 0.6383385]


@signature("SAM-4", source="cue overload: twice the competitors, half the sampling, the same recovery", figure="list_length",
           papers=("raaijmakers1981search",))
def competitors_reduce_sampling_and_not_recovery(specimen: Any) -> Any:
    (p1, r1), (p2, r2) = asked(specimen, [[0.5] * 8]), asked(specimen, [[0.5] * 16])
    return [p2[0] / p1[0], r2[0] / r1[0]], [0.5, 1.0]


@equation("SAM-5", source="every sequence of five draws enumerated, recovery tried once per item", papers=("raaijmakers1981search",))
def a_failed_recovery_is_not_tried_again(specimen: Any) -> Any:
    p, r = [0.6, 0.3, 0.1], [0.2, 0.7, 0.9]
    return [specimen.recalled(a, b, 5.0) for a, b in zip(p, r, strict=True)], enumerated(p, r, 5)


@limit("SAM-5b", source="many draws: sampled with probability 1", papers=("raaijmakers1981search",))
def with_many_draws_recall_equals_recovery(specimen: Any) -> Any:
    return [specimen.recalled(0.01, r, 1e6) for r in (0.1, 0.8)], [0.1, 0.8]


# --- the adaptation ----------------------------------------------------------------------------------------------------------
@adaptation("SAM-6", source="ours: one memory has both words, two others repeat one of them", needs="engine")
def a_memory_with_both_words_beats_many_repeats_of_one(specimen: Any) -> Any:
    repeats = ["violin violin violin violin violin", "rain rain rain rain rain"]
    texts = [*repeats, "the violin stood in the rain", *(f"nothing of the sort {i}" for i in range(20))]
    memory = memory_of(specimen, texts)
    first = memory.retrieve("violin rain").rows[0]
    p = memory.store.array(specimen.CUE_PRODUCT)
    return at_least(p[2] / max(p[0], p[1]) if first == 2 else 0.0, 3.0)


@adaptation("SAM-7", source="Raaijmakers & Shiffrin 1981: on recovery, strength to the context + e, to the cue + f; odds by hand", needs="engine",
            papers=("raaijmakers1981search",))
def a_recalled_memory_is_sampled_more_with_that_cue(specimen: Any) -> Any:
    texts = ["Yesterday Ada sang.", "Last night Ada slept.", "At noon Bo slept."]
    memory = memory_of(specimen, texts)
    memory.retrieve(Query("Ada sang"), k=1, learn=True)
    memory.retrieve(Query("Is it Ada?"))
    p = np.array(memory.store.array(specimen.CUE_PRODUCT))
    return p[0] / p[1], ((0.1 + 0.7) * (0.1 + 0.02 + 0.7)) / (0.1 * (0.1 + 0.02))


@adaptation("SAM-8", source="ours: d is part of every strength to an item, b match + d, so that a weak match counts more than none; by hand")
def the_residual_strength_is_part_of_every_strength_to_an_item(specimen: Any) -> Any:
    product, total = np.zeros(3), np.zeros(3)
    specimen.add_cue(np.array([2.0, 0.1, 0.0]), 0.1, 0.02, 1.0, product, total)
    return [*np.exp(product), *total], [0.22, 0.03, 0.02] * 2


class Anything(Mechanism[Equal]):
    """Scores every memory equally, so that an answer also has memories that no cue matches."""

    owns = (ANYTHING,)

    @hook(Phase.RETRIEVE, reads=(), adds=(), sets=(ANYTHING,))
    def score(self, view: Any, cue: Cue) -> None:
        view.anything[...] = 1.0


@adaptation("SAM-9", source="ours: + e for each memory of an answer, recovered or not, + f where it mentions an entity of the query; by hand",
            needs="engine")
def every_memory_of_an_answer_learns(specimen: Any) -> Any:
    memory = memory_of(specimen, ["Yesterday Ada sang.", "Last night Ada slept.", "At noon Bo slept."], Anything("anything", Equal(1.0, 1.0)))
    answered = memory.retrieve(Query("Ada"), k=3, learn=True).rows
    graph, gain = memory.store.graph, memory.store.graph.column(specimen.CUE_GAIN.name)
    found = [graph.find(entity_node(graph.entity_id("ada") or 0), row, EdgeType.ENTITY) for row in range(3)]
    return [len(answered), *memory.store.array(specimen.CONTEXT_GAIN), *(gain[e] if e is not None else 0.0 for e in found), gain.sum()], \
        [3.0, 0.7, 0.7, 0.7, 0.7, 0.7, 0.0, 1.4]


# --- figures -----------------------------------------------------------------------------------------------------------------
@figure("list_length", caption="The probabilities that an item is sampled in thirty draws and recalled fall with the length of the list; that of "
        "recovery once sampled does not", source="closed form 1 - (1 - 1/n)^30; Raaijmakers & Shiffrin 1981")
def recall_over_the_length_of_the_list(specimen: Any) -> Picture:
    lengths, sampled, recovered, recall = np.arange(1, 61), [], [], []
    for n in lengths:
        p, r = (float(x[0]) for x in asked(specimen, [[1.5] * int(n)]))
        sampled.append(specimen.recalled(p, 1.0, 30.0))
        recovered.append(r)
        recall.append(specimen.recalled(p, r, 30.0))
    return Picture("items in the list", "probability", (
        Curve("sampled", lengths, sampled), Curve("recovered if sampled", lengths, recovered), Curve("recalled", lengths, recall),
        dots("closed form, sampled", [10, 20, 30], [0.9576088, 0.7853613, 0.6383385])))


# --- mutants -----------------------------------------------------------------------------------------------------------------
@mutant("strengths are added, not multiplied", rejected_by="SAM-2")
def weighted_sum(specimen: Any) -> Any:
    def sampling(product: Any, visible: Any, out: Any) -> None:
        out[:] = product / product.sum()

    def add_cue(match: Any, scale: float, residual: float, weight: float, product: Any, total: Any) -> None:
        product += weight * (scale * match + residual)
        total += weight * (scale * match + residual)

    return specimen.replacing("add_cue", add_cue).replacing("sampling", sampling)


@mutant("weights multiply the strengths in the product", rejected_by="SAM-2c")
def factors(specimen: Any) -> Any:
    def add_cue(match: Any, scale: float, residual: float, weight: float, product: Any, total: Any) -> None:
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


@mutant("sampling independent of the other memories", rejected_by="SAM-4")
def uncontested(specimen: Any) -> Any:
    def sampling(product: Any, visible: Any, out: Any) -> None:
        out[:] = np.minimum(np.exp(product), 1.0)

    return specimen.replacing("sampling", sampling)


@mutant("residual strength only where nothing matches", rejected_by="SAM-8")
def residual_alone(specimen: Any) -> Any:
    def add_cue(match: Any, scale: float, residual: float, weight: float, product: Any, total: Any) -> None:
        s = np.where(np.asarray(match) > 0.0, scale * np.asarray(match), residual)
        product += weight * np.log(s)
        total += weight * s

    return specimen.replacing("add_cue", add_cue)


@mutant("no increment by recall", rejected_by="SAM-9")
def unchanged_by_recall(specimen: Any) -> Any:
    def params(**values: Any) -> Any:
        return specimen.SamplingRecoveryParams(**{**values, "context_increment": 0.0})

    return specimen.replacing("SamplingRecoveryParams", params)
