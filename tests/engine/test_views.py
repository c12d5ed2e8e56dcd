"""Views: a hook sees the columns that it declared, writes those that it may, also after the
store has grown.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.base.errors import ContractError
from hebbarium.engine.contract.columns import Column, Phase, Scope, Structure
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import (
    CREATED,
    EMBEDDING,
    FACET_WEIGHTS,
    FUSED,
    GRAPH,
    INDEX,
    LOG_FACETS,
    LOG_STRENGTH,
    MATCH,
    NOW,
    RANDOM,
    RECALLED,
    RERANKED,
    REWEIGHTED,
    ROW,
    SALIENCE,
    SIGNALS,
    TEXTS,
    VETO,
    VISIBLE,
)
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.state.graph import EdgeType
from hebbarium.testing.small import by_number, column, does, mechanism, memory, numbered, score


def seen(phase: Phase, look: Any, **declared: Any) -> Any:
    """The result of a hook's `look(view)` after three memories are stored."""
    found: list[Any] = []

    def body(view: Any, what: Any) -> None:
        found.append(look(view))

    e = memory(mechanism("probe", does(phase, body, **declared)), by_number())
    e.encode_all(numbered(1, 2, 3))
    e.advance(e.now + 30.0)
    e.retrieve("number", learn=True)
    return found[-1]


def test_undeclared_names_can_be_neither_read_nor_written() -> None:
    def write(view: Any) -> None:
        view.log_strength = 1

    for look in (lambda v: v.log_strength, write):
        with pytest.raises(ContractError, match="'log_strength' was not declared"):
            seen(Phase.MAINTAIN, look, reads=[CREATED])


@pytest.mark.parametrize("read", [CREATED, VISIBLE, EMBEDDING, CREATED.before], ids=str)
def test_arrays_that_are_only_read_refuse_writes(read: Any) -> None:
    def look(view: Any) -> None:
        getattr(view, getattr(read, "of", read).name)[...] = 0

    with pytest.raises(ValueError, match="read-only"):
        seen(Phase.MAINTAIN, look, reads=[read])


def test_scalars_are_plain_numbers_and_only_setters_write_them() -> None:
    assert type(seen(Phase.MAINTAIN, lambda v: v.now, reads=[NOW])) is float

    def write(view: Any) -> None:
        view.now = 0.0

    with pytest.raises(ContractError, match="'now' may only be read"):
        seen(Phase.MAINTAIN, write, reads=[NOW])
    level = column("level", Scope.GLOBAL, 2.0)
    raised = mechanism(
        "raiser",
        does(Phase.ENCODE, lambda v, _: setattr(v, "level", v.level * 3.0), sets=[level]),
        owns=[level],
    )
    e = memory(raised)
    e.encode_all(numbered(1, 2))
    assert e.store.array(level) == 18.0


def test_an_array_is_not_replaced_by_assignment() -> None:
    with pytest.raises(ContractError, match="cannot be assigned"):
        seen(Phase.MAINTAIN, lambda v: setattr(v, "log_strength", np.ones(3)), adds=[LOG_STRENGTH])


def test_arrays_are_changed_in_place_by_augmented_assignment() -> None:
    def double(view: Any, _: Any) -> None:
        view.twice *= 2.0

    twice = column("twice", neutral=1.0)
    e = memory(mechanism("m", does(Phase.MAINTAIN, double, sets=[twice]), owns=[twice]))
    e.encode_all(numbered(1, 2))
    e.advance(5.0)
    assert (e.store.array(twice) == 4.0).all()


def test_structures_can_only_be_read_by_readers() -> None:
    for structure, attempt in (
        (INDEX, lambda v: v.index.archive(0)),
        (GRAPH, lambda v: v.graph.add(0, 1, EdgeType.SEMANTIC)),
        (TEXTS, lambda v: v.texts._event_log.events.clear()),
    ):
        with pytest.raises((ContractError, AttributeError), match=r"would change|no attribute"):
            seen(Phase.MAINTAIN, attempt, reads=[structure])


def test_arrays_reached_through_structures_are_read_only() -> None:
    for look in (
        lambda v: v.graph.column("created"),
        lambda v: v.graph.column("alive"),
        lambda v: v.graph.source,
        lambda v: v.graph.csr(EdgeType.ENTITY).pool,
        lambda v: v.graph.neighbours(0, EdgeType.ENTITY),
        lambda v: v.index.vectors,
    ):
        assert not seen(Phase.MAINTAIN, look, reads=[GRAPH, INDEX]).flags.writeable
    assert not seen(Phase.RETRIEVE, lambda v: v.recalled, reads=[RECALLED]).flags.writeable
    assert not any(
        a.flags.writeable for _, a, _ in seen(Phase.RETRIEVE, lambda v: v.signals, reads=[SIGNALS])
    )


def test_edge_columns_are_reached_as_declared_only() -> None:
    trust = column("trust", Scope.EDGE, 1.0)
    owner = mechanism("owner", does(Phase.MAINTAIN, lambda v, _: None, sets=[trust]), owns=[trust])
    nosy = mechanism(
        "nosy", does(Phase.MAINTAIN, lambda v, _: v.graph.column("trust"), reads=[GRAPH])
    )
    e = memory(owner, nosy)
    e.encode(Event(0.0, "Ada met Bo"))
    with pytest.raises(ContractError, match="'trust' was not declared"):
        e.advance(1.0)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_contributions_commute_bit_for_bit(order: tuple[int, ...]) -> None:
    """0.1 + 0.2 + 0.3 depends on the order of the sum; the order in which mechanisms are given
    must not matter.
    """
    give = (0.1, 0.2, 0.3)
    adders = [
        mechanism(
            f"m{i}",
            does(
                Phase.MAINTAIN,
                lambda v, _, x=x: np.add(v.log_strength, x, out=v.log_strength),
                adds=[LOG_STRENGTH],
            ),
            order=i,
        )
        for i, x in enumerate(give)
    ]
    e = memory(*(adders[i] for i in order))
    e.encode_all(numbered(1, 2))
    e.advance(5.0)
    assert (e.column(LOG_STRENGTH) == (0.1 + 0.2) + 0.3).all()


def test_adders_start_from_zero_and_fresh_columns_from_neutral() -> None:
    kept = column("kept", neutral=1.0)

    def add(view: Any, _: Any) -> None:
        assert not view.log_strength.any() and not view.kept.any()
        view.log_strength[:] = 2.0
        view.kept[:] = 5.0

    e = memory(mechanism("m", does(Phase.MAINTAIN, add, adds=[LOG_STRENGTH, kept]), owns=[kept]))
    e.encode_all(numbered(1))
    for hour in (1.0, 2.0, 3.0):
        e.advance(hour)
    assert e.column(LOG_STRENGTH)[0] == 2.0, "reset in each pass"
    assert e.store.array(kept)[0] == 1.0 + 4 * 5.0, (
        "accumulated over the passes; the first finishes the tick of the encoding"
    )


def test_before_its_contributions_a_fresh_column_holds_the_values_of_the_last_pass() -> None:
    shown: list[float] = []
    e = memory(
        mechanism(
            "past",
            does(
                Phase.MAINTAIN,
                lambda v, _: shown.append(float(v.log_strength[0])),
                reads=[LOG_STRENGTH.before],
            ),
        ),
        mechanism(
            "adder",
            does(Phase.MAINTAIN, lambda v, t: v.log_strength.fill(t.end), adds=[LOG_STRENGTH]),
        ),
    )
    e.encode(Event(0.0, "x"))
    for hour in (1.0, 2.0, 3.0):
        e.advance(hour)
    assert shown == [0.0, 1.0, 2.0]


def test_votes_are_counted_and_any_vote_vetoes() -> None:
    gates = [
        mechanism(
            f"g{i}",
            does(
                Phase.ENCODE,
                lambda v, inc, i=i: setattr(v, "veto", int(str(i) in inc.event.text)),
                adds=[VETO],
            ),
        )
        for i in range(2)
    ]
    e = memory(*gates)
    told = [e.encode(Event(float(i), text)) for i, text in enumerate(("a", "0", "01", "b", "1"))]
    assert [one.row for one in told] == [0, None, None, 1, None]
    assert [one.vetoed_by for one in told] == [(), ("g0",), ("g0", "g1"), (), ("g1",)]


def test_shaped_event_columns_take_contributions() -> None:
    more = mechanism(
        "more",
        does(
            Phase.RETRIEVE,
            lambda v, _: np.add(v.log_facets, 2.0, out=v.log_facets),
            adds=[LOG_FACETS],
        ),
    )
    e = memory(more, by_number())
    e.encode_all(numbered(1, 2))
    for _ in range(2):
        e.retrieve("number")
        assert (e.store.array(FACET_WEIGHTS) == np.exp(2.0)).all(), (
            "the contribution alone, without that of the previous query"
        )


def stages(*written: tuple[Column, str, float]) -> Engine:
    """A ranking by number, then stages that set or add a number for every memory."""
    made = [
        mechanism(
            f"s{i}",
            does(
                Phase.RETRIEVE,
                lambda v, _, c=c, x=x: getattr(v, c.name).__setitem__(0, x),
                **{how: [c]},
            ),
        )
        for i, (c, how, x) in enumerate(written)
    ]
    e = memory(by_number(), *made)
    e.encode_all(numbered(1, 2, 3))
    return e


STANDARD = np.array([-1.0, 0.0, 1.0]) / np.sqrt(2.0 / 3.0)


def test_a_stage_starts_as_the_stage_before_after_any_earlier_query() -> None:
    e = stages((RERANKED, "sets", 9.0), (FUSED, "sets", 5.0))
    for _ in range(2):
        np.testing.assert_allclose(e.retrieve("number").final, [9.0, *STANDARD[1:]], atol=1e-6)
        np.testing.assert_allclose(e.store.array(FUSED), [5.0, *STANDARD[1:]], atol=1e-6)


def test_additions_to_a_stage_go_on_top_of_the_stage_before() -> None:
    e = stages((REWEIGHTED, "adds", 10.0))
    for _ in range(2):
        np.testing.assert_allclose(
            e.retrieve("number").final, [STANDARD[0] + 10.0, *STANDARD[1:]], atol=1e-5
        )


def test_readers_of_an_absent_stage_see_the_stage_before() -> None:
    found = seen(Phase.RETRIEVE, lambda v: v.reranked.copy(), reads=[RERANKED])
    np.testing.assert_allclose(found, STANDARD, atol=1e-6)


def test_candidate_and_event_columns_are_neutral_at_each_query() -> None:
    silent = score("silent")
    said: list[bool] = []

    def once(view: Any, cue: Any) -> None:
        said.append(bool(np.isnan(view.silent).all()))
        view.silent[:] = 1.0

    e = memory(mechanism("m", does(Phase.RETRIEVE, once, sets=[silent]), owns=[silent]))
    e.encode_all(numbered(1, 2))
    e.retrieve("a")
    e.retrieve("b")
    assert said == [True, True]


def test_edge_columns_grow_with_the_graph_and_take_contributions() -> None:
    trust = column("trust", Scope.EDGE, 0.5)

    def link(view: Any, incoming: Any) -> None:
        if view.row:
            view.graph.add(view.row, view.row - 1, EdgeType.TEMPORAL, view.now)

    adders = [
        mechanism(
            f"a{i}", does(Phase.MAINTAIN, lambda v, _, x=x: v.trust.fill(x), adds=[trust]), order=i
        )
        for i, x in enumerate((1.0, 2.0))
    ]
    e = memory(
        mechanism("linker", does(Phase.ENCODE, link, reads=[ROW, NOW], adds=[GRAPH]), owns=[trust]),
        *adders,
    )
    e.encode_all(numbered(*range(700)))
    assert e.store.array(trust).shape == (e.store.graph.n_edges,)
    before = e.store.array(trust).copy()
    edges = e.store.graph.n_edges
    e.encode_all([Event(e.now + 0.5, "number 1")])
    assert e.store.graph.n_edges == edges + 1
    np.testing.assert_array_equal(e.store.array(trust), [*(before + 3.0), 3.5])


def test_growth_beyond_capacity_keeps_every_view_bound() -> None:
    held, mark = column("held"), column("mark", shape=(2,), dtype=np.int32, neutral=-1)
    signal = score("sig")

    def dress(view: Any, incoming: Any) -> None:
        assert (
            len(view.held)
            == len(view.mark)
            == len(view.created)
            == len(view.embedding)
            == view.row + 1
        )
        assert (view.mark[view.row] == -1).all() and view.held[view.row] == 0.0
        view.held[view.row], view.mark[view.row] = view.row, (view.row, 7)

    def ask(view: Any, cue: Any) -> None:
        view.sig[:] = -view.held

    e = memory(
        mechanism(
            "m",
            does(Phase.ENCODE, dress, reads=[ROW, CREATED, EMBEDDING], sets=[held, mark]),
            does(Phase.MAINTAIN, lambda v, _: v.log_strength.fill(1.0), adds=[LOG_STRENGTH]),
            does(Phase.RETRIEVE, ask, reads=[held], sets=[signal]),
            owns=[held, mark, signal],
        )
    )
    first = e.store.capacity
    e.encode_all(numbered(*range(5 * first)))
    assert e.store.capacity > 4 * first
    np.testing.assert_array_equal(e.store.array(held), np.arange(5 * first))
    np.testing.assert_array_equal(e.store.array(mark)[:, 0], np.arange(5 * first))
    assert (e.column(LOG_STRENGTH) == 1.0).all()
    assert e.retrieve("number", k=3).rows.tolist() == [0, 1, 2]


def test_archiving_by_a_mechanism_reaches_the_index() -> None:
    """Rows that consolidation archives are left out of the vector search, and are found again
    after it restores them.
    """
    hide = mechanism(
        "hide",
        does(
            Phase.MAINTAIN,
            lambda v, tick: v.visible.__setitem__(1, tick.end > 10.0),
            sets=[VISIBLE],
        ),
    )
    e = memory(hide, by_number())
    e.encode_all(numbered(1, 2, 3))
    e.advance(5.0)
    assert e.retrieve("number").rows.tolist() == [2, 0] and not e.store.index.is_visible(1)
    e.advance(15.0)
    assert e.retrieve("number").rows.tolist() == [2, 1, 0] and e.store.index.is_visible(1)


PLAIN, TRUTH, PASSING = (
    column("plain"),
    column("truth", dtype=np.bool_, neutral=False),
    column("passing", Scope.EVENT),
)


@pytest.mark.parametrize(("phase", "declared", "words"), [
    (Phase.MAINTAIN, {"sets": [CREATED]}, "engine alone"), (Phase.RETRIEVE, {"sets": [MATCH]},
    "engine alone"),
    (Phase.ENCODE, {"adds": [INDEX]}, "engine alone"), (Phase.CONSOLIDATE, {"adds": [TEXTS]},
    "engine alone"),
    (Phase.RETRIEVE, {"sets": [PLAIN]}, "every query"), (Phase.RETRIEVE, {"adds": [GRAPH]},
    "every query"),
    (Phase.RETRIEVE, {"sets": [RANDOM]}, "every query"), (Phase.MAINTAIN, {"reads": [RANDOM]},
    "RANDOM in sets"),
    (Phase.MAINTAIN, {"reads": [PLAIN], "adds": [PLAIN]}, "adds to"), (Phase.MAINTAIN,
    {"sets": [PLAIN], "adds": [PLAIN]}, "adds to"),
    (Phase.MAINTAIN, {"adds": [TRUTH]}, "true or false"), (Phase.ENCODE, {"adds": [LOG_STRENGTH]},
    "computed in"),
    (Phase.ENCODE, {"sets": [FUSED]}, "means nothing in encode"), (Phase.ENCODE, {"reads": [MATCH]},
    "means nothing in encode"),
    (Phase.MAINTAIN, {"reads": [ROW]}, "means nothing"), (Phase.RETRIEVE, {"reads": [ROW]},
    "means nothing in retrieve"),
    (Phase.CONSOLIDATE, {"reads": [RECALLED]}, "means nothing"), (Phase.ENCODE,
    {"reads": [SIGNALS]}, "means nothing"),
    (Phase.CONSOLIDATE, {"reads": [SALIENCE]}, "means nothing"), (Phase.MAINTAIN,
    {"sets": [PASSING]}, "means nothing"),
], ids=str)  # fmt: skip
def test_contradictory_declarations_are_refused(
    phase: Phase, declared: dict[str, Any], words: str
) -> None:
    with pytest.raises(ContractError, match=words):
        mechanism("m", does(phase, lambda v, _: None, **declared))


def test_declarations_are_tuples_of_columns() -> None:
    from hebbarium.engine.contract.hooks import Mechanism, hook

    for wrong in (CREATED, ("created",), [CREATED]):
        with pytest.raises(ContractError, match="no tuple of columns"):
            type(
                "M",
                (Mechanism,),
                {
                    "act": hook(Phase.MAINTAIN, reads=wrong, adds=(), sets=())(
                        lambda self, view, tick: None
                    )
                },
            )  # type: ignore[arg-type]


def test_names_that_clash_are_refused() -> None:
    with pytest.raises(ContractError, match="two columns or structures are called 'graph'"):
        memory(mechanism("m", owns=[column("graph")]))
    with pytest.raises(ContractError, match="'created'"):
        memory(mechanism("m", owns=[column("created")]))
    for name in ("", "a b", "_hidden", "class"):
        with pytest.raises(ContractError, match="no attribute name"):
            column(name)
        with pytest.raises(ContractError, match="no attribute name"):
            Structure(name, "for the test")


def test_columns_without_an_owner_or_with_two_are_refused() -> None:
    stray = column("stray")
    with pytest.raises(ContractError, match="which no mechanism owns"):
        memory(mechanism("m", does(Phase.MAINTAIN, lambda v, _: None, sets=[stray])))
    with pytest.raises(ContractError, match="owned by x and by y"):
        memory(mechanism("x", owns=[stray]), mechanism("y", owns=[stray]))
    for names in (("x", "x"), ("engine",)):
        with pytest.raises(ContractError, match="taken"):
            memory(*(mechanism(name) for name in names))


def test_owned_columns_of_absent_readers_hold_neutral_for_readers() -> None:
    """A shared column without a setter reads as its neutral value."""
    assert (
        seen(Phase.RETRIEVE, lambda v: v.log_strength.copy(), reads=[LOG_STRENGTH])
        == LOG_STRENGTH.neutral
    ).all()
    assert seen(Phase.ENCODE, lambda v: v.salience, reads=[SALIENCE]) == SALIENCE.neutral


@pytest.mark.parametrize("name", ["label", "declared", "of", "view", "held_of"])
def test_a_column_may_have_any_name(name: str) -> None:
    cell, edge = column(name, scope=Scope.GLOBAL), column("weight_of_edges", scope=Scope.EDGE)
    found: list[Any] = []

    def count(view: Any, what: Any) -> None:
        setattr(view, name, getattr(view, name) + 1.0)
        found.append(
            (getattr(view, name), len(view.weight_of_edges), view.texts[0], view.graph.n_edges)
        )

    e = memory(
        mechanism(
            "probe",
            does(Phase.ENCODE, count, reads=(edge, TEXTS, GRAPH, ROW), sets=(cell,)),
            owns=(cell, edge),
        ),
        by_number(),
    )
    e.encode_all(numbered(1, 2, 3))
    assert [each[0] for each in found] == [1.0, 2.0, 3.0] and {each[2] for each in found} == {
        e.event(0).text
    }
