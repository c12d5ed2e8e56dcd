"""Evidence for curation, which claims no paper's equation.  References are Python sets,
networkx, brute force and cases decided by hand.
"""

from __future__ import annotations

import math
from typing import Any
from warnings import catch_warnings

import networkx as nx
import numpy as np

from ...engine.catalogue.registry import Registry
from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Mechanism
from ...engine.contract.records import Event, Only, Query
from ...engine.contract.vocabulary import (
    DUPLICATE,
    INITIAL_STRENGTH,
    LOG_STRENGTH,
    MATCH,
    VETO,
    VISIBLE,
    WORTH,
)
from ...engine.memory.arrivals import ClockWarning
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ...engine.state.graph import EdgeType, Graph, entity_node
from ...engine.text.features import features
from ..checks import adaptation, mutant
from ..figures import Curve, Marks, Picture, figure
from ..memory import Scripted, encode, memory_of, neighbour, numbers_of
from .shared.named import SOURCE as NAMED
from .shared.named import named
from .shared.sentences import corrections_in_texts
from .shared.views import Instead

PARAMS = {"time_scale": 1.0, "merge": 0.9, "repeats": "hidden", "weight": 0.1,
          **numbers_of("curation", "neighbours", "same_entities", "link", "entity_bonus", "rehearsal",
                       "seeds")}  # fmt: skip
NAMES = ((0, 1), (1, 2, 3), (), (0, 1, 2, 3), (4,), (2, 1))


def network() -> Graph:
    """Six memories and the entities they name."""
    graph = Graph()
    graph.cover_rows(len(NAMES))
    for row, names in enumerate(NAMES):
        for name in names:
            graph.add(row, entity_node(graph.entity(str(name))), EdgeType.ENTITY)
    return graph


# --- kernels --------------------------------------------------------------------------------------
@adaptation("CU-1", source="definition: sizes and intersections of Python sets")
def shared_entities_are_the_intersections_of_sets(specimen: Any) -> Any:
    graph, links = network(), network().csr(EdgeType.ENTITY)
    near, measured = np.arange(len(NAMES) - 1), []
    for row in range(len(NAMES)):
        shared, theirs = np.zeros(near.size, dtype=np.int64), np.zeros(near.size, dtype=np.int64)
        specimen.count_shared(
            row, near, links.start, links.degree, links.pool, graph.target, shared, theirs
        )
        measured += [
            [specimen.overlap(int(s), len(NAMES[row]), int(t)), t]
            for s, t in zip(shared, theirs, strict=True)
        ]
    sets = [set(n) for n in NAMES]
    return measured, [[len(a & b) / max(len(a | b), 1), len(b)] for a in sets for b in sets[:-1]]


@adaptation(
    "CU-2",
    source="cases decided by hand: merging needs a high cosine and the same entities, a link a high affinity",
    figure="affinity",
)
def cosine_and_entities_decide_together(specimen: Any) -> Any:
    cosine, shared = (
        np.array([0.95, 0.95, 0.95, 0.55, 0.55, 0.2, 0.9, 0.95, 0.6]),
        np.array([2, 0, 1, 2, 0, 2, 2, 0, 0]),
    )
    theirs, affinity, decision = (
        np.array([2, 2, 2, 2, 1, 2, 2, 0, 1]),
        np.full(9, 9.0),
        np.full(9, 9),
    )
    specimen.decide(cosine, shared, theirs, 2, 0.9, 0.5, 0.6, 0.1, affinity, decision)
    bare, verdict = np.zeros(2), np.zeros(2, dtype=np.int64)
    specimen.decide(
        np.array([0.95, 0.95]),
        np.zeros(2, dtype=np.int64),
        np.array([0, 1]),
        0,
        0.9,
        0.5,
        0.6,
        0.1,
        bare,
        verdict,
    )
    merge, link, create = specimen.MERGE, specimen.LINK, specimen.CREATE
    return ([*decision, *verdict, *affinity],
            [merge, link, link, link, create, create, merge, link, link, merge, link, 1.0, 0.95,
             0.95 + 0.1 / 3, 0.65, 0.55, 0.3, 1.0, 0.95, 0.6])  # fmt: skip


@adaptation(
    "CU-2b",
    source="details of each text by hand: numbers, dates in lower case, parity of the number of negations",
)
def details_are_numbers_dates_and_the_parity_of_negations(specimen: Any) -> Any:
    cases: tuple[tuple[Any, ...], ...] = (
        ("we sold 3 of 14 boats Yesterday", {"3", "14"}, {"yesterday"}, 0),
        ("we never sold a boat", set(), set(), 1),
        ("nobody didn't see it", set(), set(), 0),
        ("no, nobody can't see it", set(), set(), 1),
    )
    return [
        specimen.details(features(text)) == (numbers, dates, parity)
        for text, numbers, dates, parity in cases
    ], [True] * 4


@adaptation(
    "CU-3",
    source="networkx: greatest strength times match over the seeds linked to a memory",
    atol=1e-12,
)
def a_linked_memory_receives_its_greatest_contribution(specimen: Any) -> Any:
    rng = np.random.default_rng(0)
    graph, reference, n = Graph(), nx.DiGraph(), 40
    graph.cover_rows(n)
    strength = []
    for a, b in {tuple(rng.choice(n, 2, replace=False).tolist()) for _ in range(600)}:
        graph.add(a, b, EdgeType.SEMANTIC)
        strength.append(float(rng.choice([0.0, rng.random()])))
        reference.add_edge(a, b, weight=strength[-1])
    for a in range(0, n, 4):  # links to an entity lend nothing
        graph.add(a, entity_node(graph.entity("Ada")), EdgeType.SEMANTIC)
        strength.append(2.0)
    match, seeds, out, links = (
        rng.normal(size=n),
        np.arange(0, n, 2),
        np.full(n, np.nan),
        graph.csr(EdgeType.SEMANTIC),
    )
    followed = specimen.borrow(
        seeds, match, links.start, links.degree, links.pool, graph.target, np.array(strength), out
    )
    offers = [
        [reference[s][i]["weight"] * match[s] for s in seeds if reference.has_edge(s, i)]
        for i in range(n)
    ]
    lent = [[offer for offer in own_offers if offer > 0.0] for own_offers in offers]
    return [*np.nan_to_num(out, nan=-1.0), followed], [
        *(max(own_offers, default=-1.0) for own_offers in lent),
        sum(map(len, lent)),
    ]


# --- duplicates -----------------------------------------------------------------------------------
def told(
    specimen: Any, *texts: str, others: tuple[Mechanism[Any], ...] = (), **changed: Any
) -> Engine:
    memory = Engine(
        [specimen.Curation("curation", specimen.CurationParams(**(PARAMS | changed))), *others],
        HashingEmbedder(512),
    )
    memory.encode_all(Event(float(i), text, "Ada", "s0") for i, text in enumerate(texts))
    return memory


def restates(specimen: Any, memory: Engine) -> list[int]:
    return [int(row) for row in memory.store.array(specimen.RESTATES)]


def lends(specimen: Any, memory: Engine) -> set[tuple[int, int]]:
    graph, strength = memory.store.graph, memory.store.array(specimen.AFFINITY)
    pairs = {
        (int(graph.source[e]), int(graph.target[e]))
        for e in range(graph.n_edges)
        if graph.type[e] == EdgeType.SEMANTIC and strength[e] > 0
    }
    return pairs


@adaptation(
    "CU-4",
    source="by hand: a repetition restates; another number, date, negation or name, or a correction, does not",
    needs="engine",
)
def a_changed_detail_is_no_restatement(specimen: Any) -> Any:
    said = "The blue train to Oslo leaves from the third platform with 14 people on board"
    variants = (
        said,
        f"{said}!",
        said.replace("14", "15"),
        said.replace("leaves", "never leaves"),
        said.replace("Oslo", "Lima"),
        f"{said} tomorrow",
        f"Scratch that: {said}",
    )
    return [restates(specimen, told(specimen, said, v, merge=0.7))[1] for v in variants], [0, 0, -1,
        -1, -1, -1, -1]  # fmt: skip


@adaptation(
    "CU-5",
    source="definition: all are stored; repetitions point to the first, whose log strength rises with ln(1 + times)",
    needs="engine",
)
def a_text_encoded_four_times_is_stored_four_times_and_rehearsed_three_times(specimen: Any) -> Any:
    kayak = "I bought a red kayak"
    memory = told(specimen, kayak, kayak, "some rain fell", kayak, kayak, merge=0.8)
    memory.advance(memory.now + 10.0)
    version = {
        (int(s), int(t))
        for s, t, k in zip(
            memory.store.graph.source,
            memory.store.graph.target,
            memory.store.graph.type,
            strict=True,
        )
        if k == EdgeType.VERSION
    }
    rehearsed = memory.column(LOG_STRENGTH) - memory.store.array(INITIAL_STRENGTH)
    return (
        [*restates(specimen, memory), *rehearsed, float(version == {(1, 0), (3, 0), (4, 0)})],
        [-1, 0, -1, 0, 0, 0.2 * math.log(4.0), 0.0, 0.0, 0.0, 0.0, 1.0],
    )


@adaptation(
    "CU-6",
    source="brute force: every pair whose affinity reaches the threshold, in both directions",
    needs="engine",
)
def similar_memories_are_linked_in_both_directions(specimen: Any) -> Any:
    texts = (
        "a red kite flew over the mill",
        "the red kite flew over the old mill",
        "nine boats in the harbour",
        "boats in the harbour: nine old boats",
        "a quiet evening",
    )
    memory = told(specimen, *texts, merge=1.0, entity_bonus=0.0, link=0.7)
    cosines = memory.store.index.vectors.astype(np.float64) @ memory.store.index.vectors.T.astype(
        np.float64
    )
    expected = {(i, j) for i, j in zip(*np.nonzero(cosines >= 0.7), strict=True) if i != j}
    return bool(lends(specimen, memory) == expected and 0 < len(expected) < 20)


@adaptation(
    "CU-7",
    source="by hand: of four memories without a word of the query, only the last is linked to the best match",
    needs="engine",
)
def a_linked_memory_is_found_with_its_neighbour(specimen: Any) -> Any:
    registry = Registry.read()
    fusion = (registry.instance("lexical_bm25"), registry.instance("convex_fusion"))
    memory = told(
        specimen,
        "heron lantern pond",
        "granite ridge",
        "copper spool",
        "velvet hem",
        "lantern pond reeds",
        others=fusion,
        link=0.75,
    )
    return [
        float(lends(specimen, memory) == {(0, 4), (4, 0)}),
        *memory.retrieve("heron").rows[:2],
    ], [1.0, 0, 4]


# text, names, numbers and dates and whether negated, direction of its vector, DUPLICATE
LOG = (
    ("the kayak of Ada costs 14 crowns", "Ada", "14", (1.0, 0.0, 0.0), -1),
    ("14 crowns for the kayak of Ada", "Ada", "14", (1.0, 0.1, 0.0), -1),
    ("the kayak of Ada costs 15 crowns", "Ada", "15", (1.0, 0.05, 0.0), -1),
    ("vetoed", "", "", (0.0, 0.0, 1.0), 0),
    ("the kayak of Ada never costs 14 crowns", "Ada", "14 not", (1.0, 0.0, 0.1), -1),
    ("Actually, the kayak of Ada costs 14 crowns", "Ada", "14 but", (1.0, 0.05, 0.05), -1),
    ("rain fell on Oslo yesterday", "Oslo", "yesterday", (0.0, 1.0, 0.0), -1),
    ("yesterday rain fell on Oslo and Bergen", "Oslo Bergen", "yesterday", (0.0, 1.0, 0.3), -1),
    ("rain fell on Bergen yesterday", "Bergen", "yesterday", (0.0, 1.0, 0.1), -1),
    ("rain fell on Oslo", "Oslo", "", (0.0, 1.0, 0.2), -1),
    ("quite another thing", "", "", (0.0, -0.6, 0.8), 5),
    ("one more thing", "", "", (0.1, -0.6, 0.8), 1),
    ("it is no thing", "", "not", (0.0, 0.0, 1.0), 11),
    ("it isn't a thing", "", "not", (0.05, 0.0, 1.0), 13),
    ("it is not nothing", "", "", (0.0, 0.05, 1.0), -1),
    ("no thing", "", "not", (0.1, 0.0, 1.0), 0),
    ("rain fell on Oslo on 7 May 2023", "Oslo", "7 May 2023", (0.0, 1.0, 0.05), -1),
    ("on 7 May 2023 on Oslo rain fell", "Oslo", "7 May 2023", (0.0, 1.0, 0.06), -1),
    ("we met Ada and Oslo and Bergen", "Ada Oslo Bergen", "", (0.6, 0.6, 0.5), -1),
    ("rain fell on Oslo and Bergen and Lima", "Oslo Bergen Lima", "", (0.0, 1.0, 0.21), -1),
    *(("rain fell on Oslo", "Oslo", "", (0.0, 1.0, 0.2), -1),) * 3,
    ("Well, actually, the kayak of Ada costs 14 crowns", "Ada", "14 but", (1.0, 0.04, 0.0), -1),
)
QUERIES = ("kayak crowns", "thing", "rain Oslo", "nobody")


def curated_in_memory(specimen: Any, **p: Any) -> tuple[Any, Any]:
    """Restatements, links, rehearsal and the signal of a log, and the same by sets and dot products
    over all pairs.

    One event is vetoed, one memory is archived, and another mechanism finds some duplicates.
    """
    row_of = {text: row for text, _, _, _, row in LOG}

    def enter(view: Any, incoming: Any) -> None:
        view.veto, view.duplicate = (
            int(incoming.event.text == "vetoed"),
            row_of[incoming.event.text],
        )

    memory = memory_of(
        specimen,
        "lexical_bm25",
        neighbour(Phase.ENCODE, enter, adds=(VETO,), sets=(DUPLICATE,)),
        embedder=Scripted(
            {text: v for text, _, _, v, _ in LOG} | dict.fromkeys(QUERIES, (1.0, 0.0, 0.0))
        ),
        **p,
    )
    told = list[tuple[Any, ...]]()
    links, version, restates, restated = (
        dict[tuple[int, int], float](),
        set[tuple[int, int]](),
        list[int](),
        list[int](),
    )
    for i, (text, names, facts, direction, duplicate) in enumerate(LOG):
        if encode(memory, (float(i), text)) == [None]:
            continue
        row, v, mine = len(told), np.divide(direction, np.linalg.norm(direction)), {*names.split()}
        older = duplicate if 0 <= duplicate < row else -1
        near = sorted(
            (r for r in range(row) if r != 6 or row < 9), key=lambda r: (-float(v @ told[r][0]), r)
        )[: p["neighbours"]]
        for r in near:
            cosine, common = (
                float(v @ told[r][0]),
                len(mine & told[r][1]) / max(len(mine | told[r][1]), 1),
            )
            same = cosine >= p["merge"] and (common >= p["same_entities"] or not mine | told[r][1])
            affinity = min(max(cosine + p["entity_bonus"] * common, 0.0), 1.0)
            if same or affinity >= p["link"]:
                links[row, r] = links[r, row] = affinity
                older = (
                    r if older < 0 and same and facts == told[r][2].removesuffix(" but") else older
                )
        first = restates[older] if older >= 0 and restates[older] >= 0 else older
        told.append((v, mine, facts))
        restates.append(first)
        restated.append(0)
        if first >= 0:
            restated[first] += 1
            version.add((row, first))
        if row == 8:
            memory.archive(6)
    memory.advance(100.0)
    measured: list[Any] = [
        memory.column(c) for c in (specimen.RESTATES, specimen.RESTATED, LOG_STRENGTH)
    ]
    expected: list[Any] = [restates, restated, p["rehearsal"] * np.log(1.0 + np.array(restated))]
    for query in QUERIES:
        memory.retrieve(query)
        match = memory.column(MATCH).astype(np.float64)
        seeds = sorted((r for r in range(len(told)) if r != 6), key=lambda r: (-match[r], r))[
            : p["seeds"]
        ]
        offers = [
            [links[s, r] * match[s] for s in seeds if match[s] > 0.0 and (s, r) in links]
            for r in range(len(told))
        ]
        measured.append(np.nan_to_num(memory.column(specimen.CURATED), nan=-1.0))
        expected.append([max(own_offers, default=-1.0) for own_offers in offers])
    graph, strength = memory.graph, memory.column(specimen.AFFINITY)
    edges = [
        (
            int(graph.type[e]),
            int(graph.source[e]),
            int(graph.target[e]),
            round(float(strength[e]), 5),
        )
        for e in range(graph.n_edges)
    ]
    measured += sorted(e for e in edges if e[0] in (EdgeType.SEMANTIC, EdgeType.VERSION))
    expected += sorted(
        [(int(EdgeType.SEMANTIC), *pair, round(w, 5)) for pair, w in links.items()]
        + [(int(EdgeType.VERSION), *pair, 0.0) for pair in version]
    )
    return np.concatenate(measured), np.concatenate(expected)


@adaptation(
    "CU-8",
    source="all pairs by sets and dot products, details of each text by hand; odd numbers",
    rtol=1e-5,
    atol=1e-5,
)
def a_memory_curates_every_event_by_its_nearest_memories(specimen: Any) -> Any:
    odd: dict[str, Any] = {
        "merge": 0.93,
        "same_entities": 0.5,
        "link": 0.7,
        "entity_bonus": 0.15,
        "rehearsal": 0.35,
        "seeds": 2,
    }
    lives = [curated_in_memory(specimen, neighbours=k, **odd) for k in (3, 1)]
    return np.concatenate([measured for measured, _ in lives]), np.concatenate(
        [expected for _, expected in lives]
    )


@adaptation("CU-8b", source="as CU-8 with the numbers of the registry", rtol=1e-5, atol=1e-5)
def with_the_numbers_of_the_registry_a_memory_curates_likewise(specimen: Any) -> Any:
    return curated_in_memory(
        specimen,
        neighbours=5,
        merge=0.95,
        same_entities=0.5,
        link=0.6,
        entity_bonus=0.1,
        rehearsal=0.2,
        seeds=10,
    )


REPEATED = (("ada", "Good night, Bo!"), ("bo", "Good night, Bo!"), ("ada", "good night BO"), ("ada",
    "It is 3 miles."), ("ada", "It is 4 miles."),
            ("ada", "Good night, Bo!"), ("ada", "It is 3 miles!"), ("ada", "..."), ("ada", "..."),
            ("bo", "good night, bo"))  # fmt: skip


@adaptation(
    "CU-9",
    source="by hand: the same words of the same speaker are a repeat; of them the newest visible one is answered, unless a filter is "
    "given, the question asks for a former telling or for a time in which another was told, and nothing is hidden with `shown`",
)
def exact_repeats_are_not_answered(specimen: Any) -> Any:
    measured, expected = [], []
    for repeats in ("hidden", "shown"):
        memory = memory_of(specimen, "lexical_bm25", repeats=repeats)
        encode(
            memory,
            *(
                Event(float(i), text, speaker, dated=False)
                for i, (speaker, text) in enumerate(REPEATED)
            ),
        )
        measured += [*memory.column(specimen.REPEATS)]
        expected += [-1, -1, 0, -1, -1, 0, 3, -1, -1, 1]
        for only, asked, archived, hidden in (
            (None, "", (), (0, 1, 2, 3)),
            (Only(since=1.0), "", (), ()),
            (None, " before", (), ()),
            (None, " last", (), (0, 1, 2, 3)),
            (None, " on 1 January 1970", (), ()),
            (None, " on 2 January 1970", (), (0, 1, 2, 3)),
            (None, "", (5,), (0, 1, 3)),
            (None, "", (5, 2, 6), (1,)),
        ):
            for row in archived:
                memory.archive(row)
            answered = sorted(
                memory.retrieve(Query(f"night miles{asked}", only=only), k=10).rows.tolist()
            )
            gone = {*archived, *(hidden if repeats == "hidden" else ()), *((0,) if only else ())}
            want = [row for row in range(10) if row not in gone]
            measured += [*answered, *[-1] * (10 - len(answered))]
            expected += [*want, *[-1] * (10 - len(want))]
    return measured, expected


@adaptation(
    "CU-9b",
    source="brute force over pairs: hidden is what has the words of a visible memory told later, or then in a later row; "
    "and what is not visible beside a visible one; told in any order",
)
def of_equal_words_the_newest_visible_one_stays(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(9), list[Any](), list[Any]()
    for _ in range(40):
        n, of = 12, rng.integers(0, 4, 12)
        repeats = np.array(
            [
                int(np.flatnonzero(of[:i] == of[i])[0]) if (of[:i] == of[i]).any() else -1
                for i in range(n)
            ]
        )
        told, visible, out = (
            rng.integers(0, 5, n).astype(np.float64),
            rng.random(n) < 0.7,
            np.zeros(n),
        )
        specimen.ban_repeats(repeats, told, visible, out)
        measured.append(out)
        expected.append(
            [
                any(
                    of[j] == of[i]
                    and visible[j]
                    and j != i
                    and (not visible[i] or (told[j], j) > (told[i], i))
                    for j in range(n)
                )
                for i in range(n)
            ]
        )
    return measured, expected


@adaptation(
    "CU-9c",
    source="by hand: of the same words the newest is answered; one ahead of the present is as new as its arrival until the present "
    "reaches it, a late one as its own time; with a capacity the others leave first",
)
def a_telling_ahead_of_the_present_is_as_new_as_its_arrival(specimen: Any) -> Any:
    def vote(view: Any, _: Any) -> None:
        view.worth[...] += np.arange(len(view.worth))

    memory = memory_of(
        specimen, "lexical_bm25", neighbour(Phase.CONSOLIDATE, vote, adds=(WORTH,)), capacity=4
    )
    memory.passing.jump_hours, memory.passing.late_hours, measured = 1000.0, 2.0, list[float]()
    with catch_warnings(action="ignore", category=ClockWarning):
        for time in (5.0, 3000.0, 6.0, 5.5):
            encode(memory, (time, "The mill burns!"))
            measured += memory.retrieve("mill", k=5).rows.tolist()
    for time in (30.0, 3030.0):  # each after a night
        memory.advance(time, confirm=True)
        measured += [*memory.column(WORTH), *memory.retrieve("mill", k=5).rows]
    return measured, [0, 1, 2, 2, -math.inf, -math.inf, 2, -math.inf, 2, -math.inf, 1, -math.inf,
                   -math.inf, 1]  # fmt: skip


@adaptation(
    "CU-9d",
    source="by hand: days of a question are those of the asker's clock, which is 14 h ahead of UTC: told at 1 and 10 o'clock both are "
    "answered of today; told at 19 and at 2 o'clock of the next day only the second is; a day of the speaker's own clock counts, too",
)
def days_of_repeats_are_those_of_the_asker(specimen: Any) -> Any:
    measured = []
    for times in ((11.0, 20.0), (5.0, 12.0)):
        memory = memory_of(specimen, "lexical_bm25")
        for time in times:
            memory.encode(Event(time, "The mill burns!", "Ada", dated=False, offset=14.0))
        measured.append(str(sorted(memory.retrieve("mill today", k=5).rows.tolist())))
    memory = memory_of(specimen, "lexical_bm25")
    for time in (20.0, 60.0):  # 10 o'clock of the second day, 2 o'clock of the fourth
        memory.encode(Event(time, "The mill burns!", "Ada", dated=False, offset=14.0))
    for day in (1, 2, 3, 4, 5):
        asked = Query(f"mill on {day} January 1970", offset=0.0)
        measured.append(str(sorted(memory.retrieve(asked, k=5).rows.tolist())))
    return measured, ["[0, 1]", "[1]", "[0, 1]", "[0, 1]", "[1]", "[1]", "[1]"]


@adaptation(
    "CU-9e",
    source="by hand: of four tellings in the same words the first is erased; the last is answered, and then the last but one",
)
def repeats_of_an_erased_telling_are_of_one_group(specimen: Any) -> Any:
    memory, measured = memory_of(specimen, "lexical_bm25"), list[str]()
    for i in range(4):
        if i == 2:
            memory.erase("e0", confirm=True)
        memory.encode(Event(float(i), "The mill burns!", "Ada", id=f"e{i}", dated=False))
    for archived in (None, 3):
        if archived is not None:
            memory.archive(archived)
        measured.append(str(memory.retrieve("mill", k=5).rows.tolist()))
    return measured, ["[3]", "[2]"]


@adaptation(
    "CU-11",
    source="by hand: with a capacity repeats of what stays visible leave first, though another vote finds them worth more; of the "
    "same words one stays; none of this with `shown`",
)
def repeats_make_room_first(specimen: Any) -> Any:
    def vote(view: Any, _: Any) -> None:
        view.worth[...] += np.arange(len(view.worth))

    measured, log = (
        [],
        [
            (float(i), text)
            for i, text in enumerate(
                ("the mill burns", "The mill burns!", "a heron", "the mill burns", "nine boats")
            )
        ],
    )
    for repeats in ("hidden", "shown"):
        memory = memory_of(
            specimen, neighbour(Phase.CONSOLIDATE, vote, adds=(WORTH,)), capacity=5, repeats=repeats
        )
        encode(memory, *log)
        # each takes a place after a night
        for day, text in enumerate(("a kayak", "velvet", "copper"), 1):
            memory.advance(24.0 * day + 1.0)
            measured.append(memory.column(WORTH).copy())
            encode(memory, (24.0 * day + 2.0, text))
        measured.append(memory.column(VISIBLE))
    worth = [-math.inf, -math.inf, 2, 3, 4, 5, 6]
    return (np.concatenate(measured),
            [*worth[:5], *worth[:6], *worth, 0, 0, 0, 1, 1, 1, 1, 1, *range(5), *range(6),
             *range(7), 0, 0, 0, 1, 1, 1, 1, 1])  # fmt: skip


@adaptation(
    "CU-11b",
    source="definition: as long as the later telling is visible; once it is archived, the one before is worth as much as any",
)
def an_archived_telling_makes_no_room(specimen: Any) -> Any:
    memory, measured = memory_of(specimen, capacity=9), list[float]()
    encode(memory, *((float(i), "the mill burns") for i in range(3)))
    for night in (1, 2):
        memory.advance(24.0 * night)
        measured += memory.column(WORTH).tolist()
        memory.archive(2)
    return measured, [-math.inf, -math.inf, 0.0, -math.inf, 0.0, -math.inf]


@adaptation("CU-13", source=NAMED)
def what_an_event_changes_of_earlier_rows_is_named(specimen: Any) -> Any:
    kayak = "I bought a red kayak"
    memory = told(specimen, kayak, "some rain fell", merge=0.8)
    return named(memory, (specimen.RESTATED,), Event(5.0, kayak, "Ada", "s0")), [(1, 0)]


@adaptation("CU-10", source="texts written for it, with and without a correction, by hand")
def corrections_are_found_in_texts(specimen: Any) -> Any:
    return corrections_in_texts(specimen)


@adaptation(
    "CU-12",
    source="comparison of all numbers one by one, as memories are stored and after some are erased",
)
def memories_with_the_same_words_are_found(specimen: Any) -> Any:
    rng, sayings = np.random.default_rng(12), specimen.Sayings()
    numbers = rng.integers(1, 2_000, 60_000)
    for n in (0, 1, 4_096, 4_097, 8_193, 8_194, 40_000, 45_000, 45_001, 60_000, -10, -60_000):
        if n < 0:
            numbers[rng.random(len(numbers)) < 0.5] = 0
            sayings.forget()
        held = numbers[: abs(n)]
        for number in (1, *held[-1:].tolist(), *held[:1].tolist(), 1_000, 1_999):
            rows, same = sayings.rows(held, number), held == number
            yield [len(rows), *rows], [np.count_nonzero(same), *np.flatnonzero(same)]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "affinity",
    caption="Affinity of a new memory to a stored one: the cosine, raised by shared entities; from the threshold on they are "
    "linked, and with the same entities merged from a cosine of 0.9",
    source="ours",
)
def affinity_over_likeness(specimen: Any) -> Picture:
    cosine = np.linspace(0.0, 1.0, 101)
    curves = []
    for label, common in (
        ("no entity in common", 0),
        ("one of three", 1),
        ("the same entities", 2),
    ):
        affinity, decision = np.zeros(cosine.size), np.zeros(cosine.size, dtype=np.int64)
        specimen.decide(
            cosine,
            np.full(cosine.size, common),
            np.full(cosine.size, 2),
            2,
            0.9,
            0.5,
            0.6,
            0.1,
            affinity,
            decision,
        )
        curves.append(Curve(label, cosine, affinity))
        if common == 2:
            merged = cosine[decision == specimen.MERGE]
            curves.append(
                Curve("merged", merged[::2], affinity[decision == specimen.MERGE][::2], Marks.DOTS)
            )
    return Picture(
        "cosine", "affinity", (*curves, Curve("threshold for a link", [0.0, 1.0], [0.6, 0.6]))
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("merging by cosine alone", rejected_by="CU-2")
def blind(specimen: Any) -> Any:
    def decide(
        cosine: Any, shared: Any, theirs: Any, mine: int, merge: float, same: float, *rest: Any
    ) -> None:
        specimen.decide(cosine, shared, theirs, mine, merge, 0.0, *rest)

    return specimen.replacing("decide", decide)


@mutant("overlap as a share of the smaller set", rejected_by="CU-1")
def smaller(specimen: Any) -> Any:
    return specimen.replacing(
        "overlap", lambda shared, mine, theirs: shared / max(min(mine, theirs), 1)
    )


@mutant("numbers, dates and negations ignored", rejected_by="CU-4")
def careless(specimen: Any) -> Any:
    return specimen.replacing("details", lambda of: None)


@mutant("contributions are summed", rejected_by="CU-3")
def summed(specimen: Any) -> Any:
    def borrow(
        seeds: Any,
        match: Any,
        start: Any,
        degree: Any,
        pool: Any,
        target: Any,
        strength: Any,
        out: Any,
    ) -> int:
        out[:] = 0.0
        for s in seeds:
            edges = pool[start[s] : start[s] + degree[s]]
            np.add.at(out, target[edges], strength[edges] * max(match[s], 0.0))
        return 0

    return specimen.replacing("borrow", borrow)


@mutant("no match is passed over links", rejected_by="CU-7")
def idle(specimen: Any) -> Any:
    return specimen.replacing("borrow", lambda *_: 0)


@mutant("a duplicate found by another mechanism is not merged", rejected_by="CU-8")
def deaf(specimen: Any) -> Any:
    def curate(self: Any, view: Any, incoming: Any) -> None:
        view = Instead(view, duplicate=-1)
        specimen.Curation.curate(self, view, incoming)

    return specimen.overriding("Curation", curate=curate)


@mutant("a correction restates", rejected_by="CU-8b")
def gullible(specimen: Any) -> Any:
    def restates(new: Any, text: str, old: str) -> bool:
        return bool(specimen.details(new) == specimen.details(specimen.features(old)))

    return specimen.overriding("Curation", _restates=staticmethod(restates))


@mutant("a correction is one by its speech act alone", rejected_by="CU-8b")
def by_act_alone(specimen: Any) -> Any:
    return specimen.replacing("corrects", lambda text: False)


@mutant("every sentence corrects", rejected_by="CU-10")
def always_corrected(specimen: Any) -> Any:
    return specimen.replacing("corrects", lambda text: True)


@mutant("the same words of another speaker are a repeat", rejected_by="CU-9")
def any_speaker(specimen: Any) -> Any:
    def recognise(self: Any, view: Any, incoming: Any) -> None:
        nobody = np.zeros(view.row + 1)
        specimen.Curation.recognise(self, Instead(view, speaker=nobody), incoming)

    return specimen.overriding("Curation", recognise=recognise)


@mutant("of memories with the same words only the new ones are found", rejected_by="CU-12")
def forgetful(specimen: Any) -> Any:
    def rows(self: Any, numbers: Any, number: int) -> Any:
        holding = specimen.Sayings.rows(self, numbers, number)
        return holding[holding >= len(self._rows)]

    return specimen.overriding("Sayings", rows=rows)


@mutant("all repeats are hidden, and the first is answered", rejected_by="CU-9")
def hidden_with_the_first(specimen: Any) -> Any:
    return specimen.replacing(
        "ban_repeats", lambda repeats, told, visible, out: out.__setitem__(repeats >= 0, 1)
    )


@mutant("the memory told last is answered, whatever its time", rejected_by="CU-9b")
def by_arrival(specimen: Any) -> Any:
    return specimen.replacing(
        "ban_repeats",
        lambda repeats, told, visible, out: specimen.ban_repeats(
            repeats, np.zeros(len(told)), visible, out
        ),
    )


@mutant("a time ahead of the present is the newest", rejected_by="CU-9c")
def by_its_own_time(specimen: Any) -> Any:
    return specimen.replacing("told_at", lambda created, arrived, now: created)


@mutant("the memory that arrived last is answered, also if a late one did", rejected_by="CU-9c")
def by_arrival_alone(specimen: Any) -> Any:
    return specimen.replacing("told_at", lambda created, arrived, now: arrived)


@mutant("a memory that is archived hides the others", rejected_by="CU-9")
def hidden_by_the_archived(specimen: Any) -> Any:
    return specimen.replacing(
        "ban_repeats",
        lambda repeats, told, visible, out: specimen.ban_repeats(
            repeats, told, np.ones(len(told), np.bool_), out
        ),
    )


@mutant("a question for a former telling has the newest alone", rejected_by="CU-9")
def newest_alone(specimen: Any) -> Any:
    return specimen.replacing("asks_earlier", lambda words: False)


@mutant("a question for a day has the newest alone", rejected_by="CU-9")
def dayless(specimen: Any) -> Any:
    return specimen.replacing(
        "told_within", lambda created, offsets, own, asked: np.zeros(len(created), np.bool_)
    )


@mutant("numbers do not count for a repeat", rejected_by="CU-9")
def wordless(specimen: Any) -> Any:
    return specimen.replacing("same_words", lambda one, other: True).replacing(
        "said", lambda words, speaker: specimen.said([w for w in words if not w.isdigit()], speaker)
    )


@mutant("an event does not name the memory that it restates", rejected_by="CU-13")
def unnamed(specimen: Any) -> Any:
    def curate(self: Any, view: Any, incoming: Any) -> None:
        specimen.Curation.curate(self, Instead(view, wrote=lambda *given: None), incoming)

    return specimen.overriding("Curation", curate=curate)


@mutant("what an archived memory repeats makes room", rejected_by="CU-11b")
def room_for_the_archived(specimen: Any) -> Any:
    original = specimen.ban_repeats
    return specimen.replacing(
        "ban_repeats",
        lambda repeats, told, visible, out: original(
            repeats, told, np.ones(len(told), np.bool_), out
        ),
    )


@mutant("repeats do not make room", rejected_by="CU-11")
def stubborn(specimen: Any) -> Any:
    return specimen.overriding("Curation", yield_place=lambda self, view, tick: None)


@mutant("days of a question are those of the asker's clock alone", rejected_by="CU-9d")
def days_of_the_asker_alone(specimen: Any) -> Any:
    original = specimen.told_within
    return specimen.replacing(
        "told_within",
        lambda created, offsets, own, asked: original(created, own + 0.0 * offsets, own, asked),
    )


@mutant("repeats of an erased telling begin a group each", rejected_by="CU-9e")
def groups_of_their_own(specimen: Any) -> Any:
    def recognise(self: Any, view: Any, incoming: Any) -> None:
        specimen.Curation.recognise(self, view, incoming)
        earlier = np.flatnonzero(view.words_said[: view.row] == view.words_said[view.row])
        if earlier.size:
            view.repeats[view.row] = earlier[0]

    return specimen.overriding("Curation", recognise=recognise)


@mutant("days of a question are those of UTC", rejected_by="CU-9d")
def days_of_utc(specimen: Any) -> Any:
    original = specimen.times
    return specimen.replacing("times", lambda text, now: original(text, now - 14.0))
