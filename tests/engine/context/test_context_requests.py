"""Requests with a strategy of their own: what they change is what a memory with these parameters
does, and nothing of it stays.
"""

from __future__ import annotations

from typing import Any

import pytest

import hebbarium as hb
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.context.tokens import LengthCounter, TokenBudget
from hebbarium.engine.contract.records import Event
from hebbarium.engine.flow.observer import Observer
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder

REGISTRY = Registry.read()
IDS = ("lexical_bm25", "dense_similarity", "recency", "convex_fusion", "recent_context",
       "ranked_context", "relation_context")  # fmt: skip
ASKED = "Who mends the boat of Ada?"
STRATEGY: dict[str, dict[str, Any]] = {
    "recent_context": {"share": 5, "last": 2, "scores": "printed"},
    "ranked_context": {"share": 70.0, "recency": 0, "boosts": "printed"},
}


def memory(
    strategy: dict[str, dict[str, Any]] | None = None, observer: Observer | None = None
) -> Engine:
    chosen = [REGISTRY.instance(id, (strategy or {}).get(id)) for id in IDS]
    made = Engine(chosen, HashingEmbedder(32), observer=observer)
    made.encode_all(
        Event(
            5.0 * n,
            f"{('Ada', 'Bo', 'Cleo')[n % 3]} mends the boat of {('Bo', 'Ada')[n % 2]}, part {n}.",
            ("Ada", "Bo")[n % 2],
            f"S{n // 6}",
            f"e{n}",
        )
        for n in range(24)
    )
    return made


def test_a_request_is_answered_as_by_a_memory_with_its_parameters() -> None:
    plain, other = memory(), memory(STRATEGY)
    for budget in (80, 200, 500):
        asked = plain.context(ASKED, budget, session="S2", strategy=STRATEGY)
        assert asked == other.context(ASKED, budget, session="S2")
        assert asked.text != plain.context(ASKED, budget, session="S2").text


def test_nothing_of_a_request_stays() -> None:
    made = memory()
    before, sources, digest = made.context(ASKED, 200), dict(made.sources), made.digest()
    made.context(ASKED, 200, strategy=STRATEGY)
    assert dict(made.sources) == sources and made.digest() == digest
    assert made.context(ASKED, 200) is before


def test_the_memory_stays_as_it_is_while_a_request_is_answered() -> None:
    made = memory()
    sources, params = dict(made.sources), [m.params for m in made.mechanisms]
    seen: list[bool] = []

    class Looking(LengthCounter):
        def tokens(self, text: str) -> int:
            seen.append(dict(made.sources) == sources)
            seen.append([m.params for m in made.mechanisms] == params)
            return super().tokens(text)

    vars(made)["_counter"] = Looking()
    made.context(ASKED, 200, strategy=STRATEGY)
    assert seen and all(seen)


def test_recall_learns_from_a_request_as_from_any_context() -> None:
    plain, other = memory(), memory()
    plain.use(plain.context(ASKED, 200), (3, 5))
    other.use(other.context(ASKED, 200, strategy=STRATEGY), (3, 5))
    assert plain.digest() == other.digest() != memory().digest()


def test_an_observer_measures_a_request() -> None:
    observer = Observer()
    made = memory(observer=observer)
    before = observer.receipts["recent_context"].calls
    made.context(ASKED, 200, strategy=STRATEGY)
    assert observer.receipts["recent_context"].calls == before + 1


def test_equal_strategies_are_one_context_and_others_another() -> None:
    made = memory()
    turned = {source: dict(reversed(v.items())) for source, v in reversed(STRATEGY.items())}
    first = made.context(ASKED, 200, strategy=STRATEGY)
    assert made.context(ASKED, 200, strategy=turned) is first
    assert made.context(ASKED, 200, strategy={}) is made.context(ASKED, 200)
    assert made.context(ASKED, 200, strategy={"recent_context": {"last": 1}}) is not first


@pytest.mark.parametrize(
    ("strategy", "told"),
    [
        ({"recency": {"weight": 1.0}}, "no source"),
        ({"recent_context": {"first": 3}}, "no parameter"),
        ({"recent_context": {"last": 2.5}}, "a whole number"),
        ({"recent_context": {"last": 5.0}}, "a whole number"),
        ({"recent_context": {"last": -1}}, "a number from 0"),
        ({"recent_context": {"span": 0.0}}, "a number from 0.001"),
        ({"recent_context": {"share": float("nan")}}, "a number"),
        ({"recent_context": {"share": True}}, "a number"),
        ({"recent_context": {"decay": "third"}}, "one of e, half"),
        ({"recent_context": {"share": 95}}, "percent in all"),
        ({"recent_context": 5}, "no table"),
        ({"recent_context": {"last": [5]}}, "a whole number"),
        ("recent_context", "no table of sources"),
    ],
)
def test_what_no_set_could_say_is_refused_and_changes_nothing(strategy: Any, told: str) -> None:
    made = memory()
    sources = dict(made.sources)
    with pytest.raises(InputError, match=told):
        made.context(ASKED, 200, strategy=strategy)
    assert dict(made.sources) == sources
    assert made.context(ASKED, 200) == memory().context(ASKED, 200)


def test_a_memory_without_sources_says_which_set_has_some() -> None:
    with pytest.raises(InputError, match="no source") as refused:
        hb.memory("bm25", embedding="hashing:64").context(ASKED, 60, strategy=STRATEGY)
    assert refused.value.cure == "choose a set with sources, such as `stages`"


def test_a_context_says_how_many_offers_were_considered_and_how_long_it_took() -> None:
    made = memory()
    asked = made.context(ASKED, 60)
    offered = made.offers(ASKED, 60)[1]
    considered = asked.metadata["considered"]
    assert considered == {
        source: sum(offer.source == source for offer in offered) for source in made.sources
    }
    assert considered["recent_context"] > sum(
        c.source == "recent_context" for c in asked.components
    )
    assert asked.seconds > 0.0 and "seconds" not in asked.plain()


def test_a_budget_is_allotted_used_and_exceeded() -> None:
    budget = TokenBudget(999)
    assert [budget.allocate(p) for p in (0, 5, 33.4, 100)] == [0, 49, 333, 999]
    budget.use(900)
    assert (budget.used, budget.remaining, budget.exceeded) == (900, 99, False)
    budget.use(100)
    assert (budget.used, budget.remaining, budget.exceeded) == (1000, -1, True)
    for wrong in (-1, 2.0, True):
        with pytest.raises(InputError):
            TokenBudget(wrong)  # type: ignore[arg-type]
        with pytest.raises(InputError):
            budget.use(wrong)  # type: ignore[arg-type]
    for share in (-1, 101, float("nan"), "5"):
        with pytest.raises(InputError):
            budget.allocate(share)  # type: ignore[arg-type]
    assert budget.used == 1000
