"""Branches of a context: each holds what a plain list of tellings of its own holds."""

from __future__ import annotations

import random

import pytest

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.context.branches import ContextBranches
from hebbarium.engine.context.context import Context
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder


def begun(budget: int = 4000) -> Context:
    memory = Engine([Registry.read().instance("lexical_bm25")], HashingEmbedder(16))
    memory.encode_all(Event(float(n), f"The boat leaks at plank {n}.") for n in range(6))
    return memory.context("boat", budget)


def test_each_branch_holds_what_was_told_on_it_and_before_it_began() -> None:
    chance, start = random.Random(2), begun()
    branches, lists, now = ContextBranches(start), {"main": list[Event]()}, "main"
    for n in range(60):
        step = chance.choice(("tell", "tell", "branch", "switch", "take over"))
        other = chance.choice(sorted(lists))
        if step == "tell":
            event = Event(10.0 + n, f"We tried way {n}.")
            branches.tell(event)
            lists[now].append(event)
        elif step == "branch":
            branches.branch(f"b{n}", other)
            lists[f"b{n}"], now = list(lists[other]), f"b{n}"
        elif step == "switch":
            branches.switch(other)
            now = other
        else:
            new = [event for event in lists[other] if event not in lists[now]]
            assert branches.take_over(other) == len(new)
            lists[now] += new
        assert branches.current == now and branches.names == tuple(lists)
    assert len(lists) > 5
    for name, told in lists.items():
        expected = start
        for event in told:
            expected = expected.updated(event)
        assert branches.context(name) == expected and branches.told(name) == tuple(told)
    assert len({branches.context(name).text for name in lists}) > 5


def test_a_branch_leaves_what_was_tried_elsewhere_out_of_the_window() -> None:
    start = begun()
    branches, tried = ContextBranches(start), [
        Event(10.0 + n, f"We tried glue {n}, and it did not hold for long.") for n in range(20)
    ]  # fmt: skip
    linear = start
    branches.branch("glue")
    for event in tried:
        branches.tell(event)
        linear = linear.updated(event)
    result = Event(40.0, "Pitch holds.")
    branches.tell(result)
    branches.switch("main")
    assert branches.context() is start
    assert branches.take_over("glue", [result]) == 1
    assert "Pitch holds." in branches.context().text and "glue" not in branches.context().text
    assert branches.context().tokens < linear.tokens / 2


def test_wrong_names_and_events_are_refused_with_nothing_changed() -> None:
    branches = ContextBranches(begun())
    branches.branch("idea")
    before = branches.context(), branches.told()
    for call in (
        lambda: branches.branch("main"),
        lambda: branches.branch(" "),
        lambda: branches.branch("b", "ides"),
        lambda: branches.switch("ides"),
        lambda: branches.take_over("main", [Event(1.0, "never told")]),
        lambda: branches.tell("no event"),  # type: ignore[arg-type]  # as code without types may
    ):
        with pytest.raises(InputError):
            call()
    assert (branches.context(), branches.told()) == before
    assert branches.names == ("main", "idea") and branches.current == "idea"
