"""Kept contexts: nothing stale is ever shown, whatever happens between two askings; time alone
may pass where the asker accepts it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from examples import fewer_examples
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.context.assembly import assemble
from hebbarium.engine.context.context import Context, ContextReader
from hebbarium.engine.contract.records import Event, Only, Query
from hebbarium.engine.contract.vocabulary import VISIBLE
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder

REGISTRY = Registry.read()
IDS = ("lexical_bm25", "dense_similarity", "recency", "convex_fusion", "stage_detection",
       "stage_summary", "base_level_activation", "recent_context",
       "ranked_context", "pattern_context")  # fmt: skip
TTL = 3.0
ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Where is the boat?", {"max_tokens": 120}),
    ("Where is the boat?", {"max_tokens": 60, "session": "S1"}),
    ("What did Ada say?", {"max_tokens": 90, "only": Only(speakers=("Ada",))}),
    ("What did Ada say?", {"max_items": 3}),
)


def memory() -> Engine:
    made = Engine([REGISTRY.instance(id) for id in IDS], HashingEmbedder(16))
    made.encode_all(
        Event(
            0.5 * n,
            f"{('Ada', 'Bo')[n % 2]} saw the boat in {('Oslo', 'Rome')[n // 2 % 2]}, number {n}.",
            ("Ada", "Bo")[n % 2],
            f"S{n // 3}",
            f"e{n}",
        )
        for n in range(6)
    )
    return made


def tell(made: Engine, number: int) -> None:
    made.encode(
        Event(
            made.now + 0.1,
            f"Always moor the boat at pier {number}.",
            "Ada",
            f"S{number % 3}",
            f"x{len(made.events)}",
        )
    )


def erase(made: Engine, number: int) -> None:
    made.erase(made.events[number % len(made.events)].id, confirm=True)


def withhold(made: Engine, number: int, back: bool) -> None:
    row = number % made.store.n
    try:
        (made.restore if back else made.archive)(row)
    except InputError:  # made from what is archived, or erased
        return


DONE: dict[str, Callable[[Engine, int], Any]] = {
    "tell": tell, "tell all": lambda m, n: m.encode_all([Event(m.now, f"The boat is number {n}.",
    "Bo", "S9", f"a{len(m.events)}")]),
    "pass": lambda m, n: m.advance(m.now + n / 4.0), "stay": lambda m, n: m.advance(m.now),
    "sleep": lambda m, n: m.advance(m.now + 20.0 + n),
    "learn": lambda m, n: m.retrieve("boat", 2, learn=True), "ask": lambda m, n: m.retrieve("boat"),
    "use": lambda m, n: m.use(m.retrieve("boat", 3), (), 0.5), "outcome": lambda m,
    n: m.outcome(n % m.store.n, n % 2 == 0),
    "archive": lambda m, n: withhold(m, n, False), "restore": lambda m, n: withhold(m, n, True),
    "erase": erase,
    "push": lambda m, n: m.tasks.push(f"mend boat {n}"), "pop": lambda m,
    n: m.tasks.pop("mended") if m.tasks.path() else None}  # fmt: skip
# without a sleep in them, these tell and change nothing but time
HARMLESS = ("pass", "stay", "sleep", "ask")


@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(DONE)), st.integers(0, 9), st.integers(0, 3)), max_size=9
    )
)
@fewer_examples
def test_nothing_stale_is_ever_shown(story: list[tuple[str, int, int]]) -> None:
    made = memory()
    # what was shown with a ttl, when, and how many rows there were
    known: dict[int, tuple[Context, float, int]] = {}
    for what, number, asked in story:
        before = made.digest()
        DONE[what](made, number)
        # a pop of an empty stack changes nothing
        if what not in HARMLESS and made.digest() != before:
            known.clear()
        query, options = ASKED[asked]
        patient = made.context(query, ttl=TTL, **options)
        fresh, exact = assemble(made, query, **options), made.context(query, **options)
        assert exact == fresh and made.context(query, **options) is exact
        if patient != fresh:
            old, at, rows = known[asked]
            assert patient is old and made.now - at <= TTL and made.store.n == rows
            assert made.column(VISIBLE)[[c.row for c in patient.components if c.row >= 0]].all()
        elif asked not in known or known[asked][0] is not patient:
            known[asked] = patient, made.now, made.store.n
        if exact is not patient:
            known[asked] = exact, made.now, made.store.n


def test_a_context_may_be_older_where_only_time_has_passed() -> None:
    made = memory()
    first = made.context("boat", 100)
    made.advance(made.now + 2.0)
    assert (
        made.context("boat", 100, ttl=2.0) is first
        and made.context("boat", 100, ttl=1.9) is not first
    )
    second = made.context("boat", 100)
    assert made.context("boat", 100, ttl=9.0) is second, "the younger one is kept"
    made.advance(made.now + 2.0)
    made.advance(made.now + 2.0)
    assert made.context("boat", 100, ttl=3.9) is not second
    last = made.context("boat", 100)
    made.advance(made.now + 30.0)
    assert made.context("boat", 100, ttl=1e9) is not last, "a sleep lies between"
    last = made.context("boat", 100)
    made.encode(Event(made.now, "A new boat.", "Bo"))
    assert (
        made.context("boat", 100, ttl=1e9) is not last
        and "A new boat." in made.context("boat", 1000, ttl=1e9).text
    )


@pytest.mark.parametrize("other", [
    {"max_tokens": 101}, {"max_items": 3}, {"session": "S1"}, {"only": Only(speakers=("Bo",))},
    {"task": "t"}, {"also": "Be brief."},
    {"max_tokens": None, "reader": ContextReader(134)}, {"query": Query("boat", only=Only(speakers=("Bo",
    )))}, {"query": "boats"}])  # fmt: skip
def test_everything_that_is_asked_is_part_of_the_key(other: dict[str, Any]) -> None:
    made = memory()
    first = made.context("boat", 100)
    given_ = {"query": "boat", "max_tokens": 100, **other}
    assert made.context(**given_) is not first and made.context("boat", 100) is first
    found = made.context(**given_)
    assert found == assemble(made, **given_)


@pytest.mark.parametrize(
    "odd", [{"max_tokens": 100.0}, {"ttl": -1.0}, {"ttl": "soon"}, {"ttl": float("nan")}]
)
def test_what_is_asked_wrongly_is_refused_though_its_like_is_kept(odd: dict[str, Any]) -> None:
    made = memory()
    made.context("boat", 100)
    with pytest.raises(InputError):
        made.context("boat", **{"max_tokens": 100, **odd})
