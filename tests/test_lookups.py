"""Look-ups: what they say is what plain lists of the told events say."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import hebbarium as hb
from hebbarium.lookups import Lookups

NAMES = ("Ada", "Bo", "Cleo", "Dora")


def talk() -> list[hb.Event]:
    rng = np.random.default_rng(7)
    events = []
    for n in range(40):
        first, second = rng.choice(NAMES, 2, replace=False).tolist()
        text = f"They say {first} met {second} about part {n}."
        events.append(hb.Event(float(n), text, "Eve", f"S{int(rng.integers(0, 6))}", f"e{n}"))
    return events


def test_the_latest_sessions_are_those_of_the_list() -> None:
    memory, events = hb.memory("bm25", embedding="hashing:16"), talk()
    memory.encode_all(events)
    memory.archive(39)
    shown = events[:39]
    by_hand = sorted({e.session for e in shown},
                     key=lambda s: -max(e.time for e in shown if e.session == s))  # fmt: skip
    records = Lookups(memory).recent_sessions(4)
    assert [r.name for r in records] == by_hand[:4]
    for record in records:
        times = [e.time for e in shown if e.session == record.name]
        assert (record.events, record.first, record.last) == (len(times), min(times), max(times))


def test_entities_are_found_and_ordered_by_who_mentions_them() -> None:
    memory, events = hb.memory("bm25", embedding="hashing:16"), talk()
    memory.encode_all(events)
    memory.archive(3)
    rows = {
        name.lower(): tuple(n for n, e in enumerate(events) if name in e.text and n != 3)
        for name in NAMES
    }
    ask = Lookups(memory)
    largest = max(map(len, rows.values()))
    for name in NAMES:
        record = ask.find_entity(name)
        assert record is not None and record.rows == rows[name.lower()]
        assert record.salience == pytest.approx(len(record.rows) / largest)
    salient = [record.name for record in ask.salient_entities(3)]
    assert [len(rows[name]) for name in salient] == sorted(map(len, rows.values()))[::-1][:3]
    assert ask.find_entity("Nobody") is None


def test_types_of_entities_filter_what_is_answered() -> None:
    memory = hb.memory("bm25", embedding="hashing:16")
    told = ("Ada lives in Oslo.", "So Bo wrote src/oven.py in a day.", "They say it rained.",
            "The Kestrel Labs oven is hot.")  # fmt: skip
    memory.encode_all(hb.Event(float(n), text) for n, text in enumerate(told))
    ask = Lookups(memory)
    for types, names, rows in (
        (("person",), {"ada", "bo"}, [0, 1]),
        (("place", "file"), {"oslo", "src/oven.py"}, [0, 1]),
        (("organisation",), {"kestrel labs"}, [3]),
        (("date",), {""}, []),
    ):
        named = ask.of_types(*types)
        assert set(named) == names
        answer = memory.retrieve(hb.Query("oven", only=hb.Only(entities=named)))
        assert sorted(answer.rows.tolist()) == rows
        shown = memory.context("oven", 400, only=hb.Only(entities=named)).components
        assert sorted(part.row for part in shown) == rows
    with pytest.raises(hb.HebbariumError, match="person"):
        ask.of_types("persn")
    memory.erase(0, confirm=True)
    assert ask.of_types("place", "person", "entity") == ("bo",), "erased names are no names"


def test_procedures_are_what_was_done_when_something_was_asked() -> None:
    """As the mechanism offers them; of memories without it by the numbers that ship."""

    def lived(*ids: str) -> hb.Engine:
        registry = hb.Registry.read()
        memory = hb.Engine([registry.instance(id) for id in ids], hb.embedder("hashing:16", None))
        said = (("Ada", "Fix the port of the oven.", {}),
                ("agent", "", {"kind": "file_write", "path": "oven.py"}),
                ("agent", "2 passed", {"kind": "shell_exec", "command": "make test", "outcome": "success"}),
                ("Ada", "Sing a song.", {}),
                ("agent", "la", {"kind": "shell_exec", "command": "sing", "outcome": "failure"}))  # fmt: skip
        for hour, (who, text, what) in enumerate(said):
            memory.encode(hb.Event(float(hour), text, who, "s", attributes=tuple(what.items())))
        return memory

    memory = lived("lexical_bm25", "procedure_context")
    (record,) = Lookups(memory).match_procedures("How do I fix the port?")
    assert (record.asked, record.rows) == ("Fix the port of the oven.", (0,))
    assert record.steps == ("Wrote: oven.py", "Executed: `make test`")
    assert (record.applications, record.successes) == (1, 1) and "port" in record.shared
    (offer,) = memory.offers("How do I fix the port?", 100)[1]
    assert offer.score == record.worth and all(step in offer.text for step in record.steps)
    assert Lookups(lived("lexical_bm25")).match_procedures("How do I fix the port?") == (record,)
    both = Lookups(memory).match_procedures("Fix the song")
    assert [r.successes for r in both] == [1, 0] and len(Lookups(memory).match_procedures("x")) == 0
    memory.archive(0)
    assert [r.asked for r in Lookups(memory).match_procedures("Fix the song")] == ["Sing a song."]
    memory.encode(hb.Event(9.0, "Look into menu.json.", "Ada", "t"))
    memory.encode(hb.Event(10.0, "", "agent", "t", attributes=(("kind", "file_read"), ("path", "menu.json"))))  # fmt: skip
    (of_type,) = Lookups(memory).match_procedures("What does oven.py say?")
    assert (of_type.asked, of_type.shared) == ("Look into menu.json.", ()), (
        "both are names of files"
    )


def test_relations_hold_until_they_are_ended_archived_or_erased() -> None:
    memory = hb.memory("bm25", embedding="hashing:16")
    for n, text in enumerate(("Ada lives in Rome.", "Ada lives in Oslo.", "Ada works at Acme.")):
        memory.encode(hb.Event(float(n), text, "Bo", id=f"e{n}", dated=False))
    ask = Lookups(memory)

    def told() -> list[tuple[str, str]]:
        return [(r.kind, r.target) for r in ask.relations("Ada")]

    assert told() == [("lives in", "oslo"), ("works at", "acme")]
    memory.archive(2)
    assert told() == [("lives in", "oslo")]
    memory.erase("e1", confirm=True)
    assert told() == [("lives in", "rome")]


def test_patterns_that_share_words_come_first_then_those_that_served() -> None:
    memory = hb.memory("bm25+coding", embedding="hashing:16")
    texts = ("Always run the tests before you push.", "Never commit secrets.", "It rained.",
             "Always push to a branch.")  # fmt: skip
    memory.encode_all(hb.Event(float(n), t, "Bo", dated=False) for n, t in enumerate(texts))
    memory.outcome(3, True)
    memory.outcome(0, False)
    records = Lookups(memory).match_patterns("May I push?")
    assert [(r.row, r.rate, r.applications, r.shared) for r in records] == [
        (3, 2 / 3, 1, ("push",)),
        (0, 1 / 3, 1, ("push",)),
        (1, 1 / 2, 0, ()),
    ]
    with pytest.raises(hb.HebbariumError, match="marks no patterns"):
        Lookups(hb.memory("bm25", embedding="hashing:16")).match_patterns("push")


def test_the_signals_of_a_query_name_known_entities_alone() -> None:
    memory = hb.memory("bm25", embedding="hashing:16")
    memory.encode(hb.Event(0.0, "They say Ada sings.", dated=False))
    signals = Lookups(memory).signals("Can you fix the boat of Ada and Zoe?")
    assert (signals.intent, signals.entities) == ("fix", ("ada",))
    assert "boat" in signals.keywords and "error" in signals.kinds


def test_look_ups_change_nothing_and_refuse_odd_numbers() -> None:
    memory = hb.memory("bm25", embedding="hashing:16")
    ask = Lookups(memory)
    assert ask.recent_sessions() == ask.salient_entities() == ask.relations("Ada") == ()
    memory.encode_all(talk())
    digest = memory.digest()
    for look in (ask.recent_sessions, ask.salient_entities):
        look(3)
        with pytest.raises(hb.HebbariumError):
            look(-1)
    assert memory.digest() == digest


@pytest.mark.parametrize(
    "look_up", ["signals", "find_entity", "relations", "closeness", "match_procedures"]
)
@pytest.mark.parametrize("given", [None, 3, b"Ada", ["Ada"]])
def test_what_is_no_text_is_refused(look_up: str, given: object) -> None:
    memory = hb.memory("bm25", embedding="hashing:16")
    with pytest.raises(hb.HebbariumError, match="is no text"):
        getattr(Lookups(memory), look_up)(given)


def test_closeness_is_the_sum_over_common_memories() -> None:
    memory, events = hb.memory("bm25", embedding="hashing:16"), talk()
    memory.encode_all(events)
    memory.encode(hb.Event(45.0, "I am fond of Ada.", "Bo", dated=False))
    memory.encode(hb.Event(46.0, "They say Ada lives in Oslo.", "Dora", dated=False))
    records = Lookups(memory).closeness("Ada", half_life=10.0)
    by_hand: dict[str, float] = {}
    for event in memory.events:
        held = {name for name in NAMES if name in event.text} | {event.speaker}
        for other in held - {"Ada"} if "Ada" in held else ():
            by_hand[other.lower()] = by_hand.get(other.lower(), 0.0) + 2 ** (
                -(46.0 - event.time) / 10.0
            )
    assert {r.name: r.weight for r in records} == pytest.approx(by_hand), "Oslo is no person"
    assert [r.weight for r in records] == sorted((r.weight for r in records), reverse=True)
    assert {r.layer for r in records} == {5}
    with pytest.raises(hb.HebbariumError):
        Lookups(memory).closeness("Ada", half_life=0.0)


def test_the_sixth_person_is_in_the_second_layer() -> None:
    memory = hb.memory("bm25", embedding="hashing:16")
    for n in range(8):
        for m in range(8 - n):
            memory.encode(hb.Event(float(10 * n + m), "Well said, Ada.", f"P{n}", dated=False))
    layers = [r.layer for r in Lookups(memory).closeness("Ada", half_life=1e6)]
    assert layers == [5] * 5 + [15] * 3


def test_joint_retrievals_are_walked_breadth_first_and_mapped() -> None:
    registry = hb.Registry.read()
    chosen = [registry.instance(id) for id in ("lexical_bm25", "successor_representation_printed")]
    memory = hb.Engine(chosen, hb.embedder("hashing:16", None))
    for n, text in enumerate(("kettle tea", "tea milk", "milk goat", "boat mast", "goat barn")):
        memory.encode(hb.Event(float(n), text, dated=False))
    for query, times in (("kettle", 1), ("tea", 3), ("milk", 2), ("goat", 1)):
        for _ in range(times):
            memory.retrieve(query, 2, learn=True)
    pairs: dict[tuple[int, int], float] = {}
    graph, count = memory.graph, memory.column("coaccess_count")
    for s, t, c in zip(graph.source.tolist(), graph.target.tolist(), count.tolist(), strict=True):
        if c > 0:
            pairs[s, t] = c
    ask, network = Lookups(memory), nx.Graph(list(pairs))
    lengths = nx.single_source_shortest_path_length(network, 0, cutoff=3)
    walked = ask.retrieved_together(0, 3)
    assert {r.row: r.steps for r in walked} == {r: n for r, n in lengths.items() if r}
    assert all(pairs[0, r.row] == r.times for r in walked if r.steps == 1)
    places = ask.map_of_retrievals()
    assert set(places) == set(network.nodes)
    laplacian = nx.normalized_laplacian_matrix(
        nx.Graph((s, t, {"weight": c}) for (s, t), c in pairs.items()), sorted(network.nodes)
    ).toarray()
    degree = np.array([sum(c for (s, _), c in pairs.items() if s == r) for r in sorted(places)])
    x = np.array([places[r][0] for r in sorted(places)]) * np.sqrt(degree)
    values = np.sort(np.linalg.eigvalsh(laplacian))
    assert x @ laplacian @ x / (x @ x) == pytest.approx(values[1], abs=1e-9)
    assert Lookups(hb.memory("bm25", embedding="hashing:16")).map_of_retrievals() == {}
