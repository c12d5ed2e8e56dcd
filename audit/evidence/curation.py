"""Evidence for curation, which claims no paper's equation.  References are Python sets, networkx, brute force and cases decided by hand."""
from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np

from ...engine.contract import Mechanism
from ...engine.loop import Engine
from ...engine.ports.embedder import HashingEmbedder
from ...engine.records import Event
from ...engine.registry import Registry
from ...engine.storage.graph import EdgeType, Graph, entity_node
from ...engine.vocabulary import INITIAL_STRENGTH, LOG_STRENGTH
from ..checks import adaptation, mutant
from ..figures import Curve, Marks, Picture, figure

PARAMS = {"time_scale": 1.0, "neighbours": 5, "merge": 0.9, "same_entities": 0.5, "link": 0.6, "entity_bonus": 0.1, "rehearsal": 0.2, "seeds": 10,
          "weight": 0.1}
NAMES = ((0, 1), (1, 2, 3), (), (0, 1, 2, 3), (4,), (2, 1))


def network() -> Graph:
    """Six memories and the entities they name."""
    graph = Graph()
    graph.cover_rows(len(NAMES))
    for row, names in enumerate(NAMES):
        for name in names:
            graph.add(row, entity_node(graph.entity(str(name))), EdgeType.ENTITY)
    return graph


# --- kernels -----------------------------------------------------------------------------------------------------------------
@adaptation("CU-1", source="definition: sizes and intersections of Python sets")
def shared_entities_are_the_intersections_of_sets(specimen: Any) -> Any:
    graph, links = network(), network().csr(EdgeType.ENTITY)
    near, found = np.arange(len(NAMES) - 1), []
    for row in range(len(NAMES)):
        shared, theirs = np.zeros(near.size, dtype=np.int64), np.zeros(near.size, dtype=np.int64)
        specimen.count_shared(row, near, links.start, links.degree, links.pool, graph.target, shared, theirs)
        found += [[specimen.overlap(int(s), len(NAMES[row]), int(t)), t] for s, t in zip(shared, theirs, strict=True)]
    sets = [set(n) for n in NAMES]
    return found, [[len(a & b) / max(len(a | b), 1), len(b)] for a in sets for b in sets[:-1]]


@adaptation("CU-2", source="cases decided by hand: merging needs a high cosine and the same entities, a link a high affinity",
            figure="affinity")
def cosine_and_entities_decide_together(specimen: Any) -> Any:
    cosine, shared, theirs = np.array([0.95, 0.95, 0.95, 0.55, 0.55, 0.2, 0.9]), np.array([2, 0, 1, 2, 0, 2, 2]), np.array([2, 2, 2, 2, 1, 2, 2])
    affinity, decision = np.zeros(7), np.zeros(7, dtype=np.int64)
    specimen.decide(cosine, shared, theirs, 2, 0.9, 0.5, 0.6, 0.1, affinity, decision)
    bare, verdict = np.zeros(2), np.zeros(2, dtype=np.int64)
    specimen.decide(np.array([0.95, 0.95]), np.zeros(2, dtype=np.int64), np.array([0, 1]), 0, 0.9, 0.5, 0.6, 0.1, bare, verdict)
    merge, link, create = specimen.MERGE, specimen.LINK, specimen.CREATE
    return ([*decision, *verdict, *affinity],
            [merge, link, link, link, create, create, merge, merge, link, 1.0, 0.95, 0.95 + 0.1 / 3, 0.65, 0.55, 0.3, 1.0])


@adaptation("CU-3", source="networkx: greatest strength times match over the seeds linked to a memory", atol=1e-12)
def a_linked_memory_receives_its_greatest_contribution(specimen: Any) -> Any:
    rng = np.random.default_rng(0)
    graph, reference, n = Graph(), nx.DiGraph(), 40
    graph.cover_rows(n)
    strength = []
    for a, b in {tuple(rng.choice(n, 2, replace=False).tolist()) for _ in range(600)}:
        graph.add(a, b, EdgeType.SEMANTIC)
        strength.append(float(rng.choice([0.0, rng.random()])))
        reference.add_edge(a, b, weight=strength[-1])
    match, seeds, out, links = rng.normal(size=n), np.arange(0, n, 2), np.full(n, np.nan), graph.csr(EdgeType.SEMANTIC)
    specimen.borrow(seeds, match, links.start, links.degree, links.pool, graph.target, np.array(strength), out)
    offers = [[reference[s][i]["weight"] * match[s] for s in seeds if reference.has_edge(s, i)] for i in range(n)]
    return np.nan_to_num(out), [max([0.0, *offer]) for offer in offers]


# --- duplicates --------------------------------------------------------------------------------------------------------------
def told(specimen: Any, *texts: str, others: tuple[Mechanism[Any], ...] = (), **changed: Any) -> Engine:
    memory = Engine([specimen.Curation("curation", specimen.CurationParams(**(PARAMS | changed))), *others], HashingEmbedder(512))
    memory.encode_all(Event(float(i), text, "Ada", "s0") for i, text in enumerate(texts))
    return memory


def restates(specimen: Any, memory: Engine) -> list[int]:
    return [int(row) for row in memory.store.array(specimen.RESTATES)]


def lends(specimen: Any, memory: Engine) -> set[tuple[int, int]]:
    graph, strength = memory.store.graph, memory.store.array(specimen.AFFINITY)
    found = {(int(graph.source[e]), int(graph.target[e])) for e in range(graph.n_edges) if graph.type[e] == EdgeType.SEMANTIC and strength[e] > 0}
    return found


@adaptation("CU-4", source="by hand: a repetition restates; another number, date, negation or name, or a correction, does not", needs="engine")
def a_changed_detail_is_no_restatement(specimen: Any) -> Any:
    said = "The blue train to Oslo leaves from the third platform with 14 people on board"
    variants = (said, f"{said}!", said.replace("14", "15"), said.replace("leaves", "never leaves"), said.replace("Oslo", "Lima"), f"{said} tomorrow",
                f"Scratch that: {said}")
    return [restates(specimen, told(specimen, said, v, merge=0.7))[1] for v in variants], [0, 0, -1, -1, -1, -1, -1]


@adaptation("CU-5", source="definition: all are stored; repetitions point to the first, whose log strength rises with ln(1 + times)", needs="engine")
def a_text_encoded_four_times_is_stored_four_times_and_rehearsed_three_times(specimen: Any) -> Any:
    kayak = "I bought a red kayak"
    memory = told(specimen, kayak, kayak, "some rain fell", kayak, kayak, merge=0.8)
    memory.advance(memory.now + 10.0)
    version = {(int(s), int(t)) for s, t, k in zip(memory.store.graph.source, memory.store.graph.target, memory.store.graph.type, strict=True)
               if k == EdgeType.VERSION}
    rehearsed = memory.store.array(LOG_STRENGTH) - memory.store.array(INITIAL_STRENGTH)
    return ([*restates(specimen, memory), *rehearsed, float(version == {(1, 0), (3, 0), (4, 0)})],
            [-1, 0, -1, 0, 0, 0.2 * math.log(4.0), 0.0, 0.0, 0.0, 0.0, 1.0])


@adaptation("CU-6", source="brute force: every pair whose affinity reaches the threshold, in both directions", needs="engine")
def similar_memories_are_linked_in_both_directions(specimen: Any) -> Any:
    texts = ("a red kite flew over the mill", "the red kite flew over the old mill", "nine boats in the harbour",
             "boats in the harbour: nine old boats", "a quiet evening")
    memory = told(specimen, *texts, merge=1.0, entity_bonus=0.0, link=0.7)
    cosines = memory.store.index.vectors.astype(np.float64) @ memory.store.index.vectors.T.astype(np.float64)
    expected = {(i, j) for i, j in zip(*np.nonzero(cosines >= 0.7), strict=True) if i != j}
    return bool(lends(specimen, memory) == expected and 0 < len(expected) < 20)


@adaptation("CU-7", source="by hand: of four memories without a word of the query, only the last is linked to the best match", needs="engine")
def a_linked_memory_is_found_with_its_neighbour(specimen: Any) -> Any:
    registry = Registry.read()
    fusion = (registry.instance("lexical_bm25"), registry.instance("convex_fusion"))
    memory = told(specimen, "heron lantern pond", "granite ridge", "copper spool", "velvet hem", "lantern pond reeds", others=fusion, link=0.75)
    return [float(lends(specimen, memory) == {(0, 4), (4, 0)}), *memory.retrieve("heron").rows[:2]], [1.0, 0, 4]


# --- figures -----------------------------------------------------------------------------------------------------------------
@figure("affinity", caption="Affinity of a new memory to a stored one: the cosine, raised by shared entities; from the threshold on they are "
        "linked, and with the same entities merged from a cosine of 0.9", source="ours")
def affinity_over_likeness(specimen: Any) -> Picture:
    cosine = np.linspace(0.0, 1.0, 101)
    curves = []
    for label, common in (("no entity in common", 0), ("one of three", 1), ("the same entities", 2)):
        affinity, decision = np.zeros(cosine.size), np.zeros(cosine.size, dtype=np.int64)
        specimen.decide(cosine, np.full(cosine.size, common), np.full(cosine.size, 2), 2, 0.9, 0.5, 0.6, 0.1, affinity, decision)
        curves.append(Curve(label, cosine, affinity))
        if common == 2:
            merged = cosine[decision == specimen.MERGE]
            curves.append(Curve("merged", merged[::2], affinity[decision == specimen.MERGE][::2], Marks.DOTS))
    return Picture("cosine", "affinity", (*curves, Curve("threshold for a link", [0.0, 1.0], [0.6, 0.6])))


# --- mutants -----------------------------------------------------------------------------------------------------------------
@mutant("merging by cosine alone", rejected_by="CU-2")
def blind(specimen: Any) -> Any:
    def decide(cosine: Any, shared: Any, theirs: Any, mine: int, merge: float, same: float, *rest: Any) -> None:
        specimen.decide(cosine, shared, theirs, mine, merge, 0.0, *rest)

    return specimen.replacing("decide", decide)


@mutant("overlap as a share of the smaller set", rejected_by="CU-1")
def smaller(specimen: Any) -> Any:
    return specimen.replacing("overlap", lambda shared, mine, theirs: shared / max(min(mine, theirs), 1))


@mutant("numbers, dates and negations ignored", rejected_by="CU-4")
def careless(specimen: Any) -> Any:
    return specimen.replacing("details", lambda of: None)


@mutant("contributions are summed", rejected_by="CU-3")
def summed(specimen: Any) -> Any:
    def borrow(seeds: Any, match: Any, start: Any, degree: Any, pool: Any, target: Any, strength: Any, out: Any) -> int:
        out[:] = 0.0
        for s in seeds:
            edges = pool[start[s]:start[s] + degree[s]]
            np.add.at(out, target[edges], strength[edges] * max(match[s], 0.0))
        return 0

    return specimen.replacing("borrow", borrow)


@mutant("no match is passed over links", rejected_by="CU-7")
def idle(specimen: Any) -> Any:
    return specimen.replacing("borrow", lambda *_: 0)
