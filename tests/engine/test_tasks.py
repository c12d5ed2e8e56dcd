"""The stack of tasks: against a plain list of dictionaries, through snapshots, filters and
erasing, and at its edges.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.context.tasks import Frame, TaskStatus, divided
from hebbarium.engine.contract.records import Event, Only, Query
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.state.graph import EdgeType
from hebbarium.testing.small import numbered

STEPS = st.lists(st.sampled_from(["push", "pop", "block", "tell"]), max_size=30)


@pytest.fixture
def new(registry: Registry) -> Callable[..., Engine]:
    return lambda **options: Engine(
        registry.build(registry.set("bm25")), HashingEmbedder(16), **options
    )


def ids(frames: tuple[Frame, ...]) -> list[str]:
    return [frame.id for frame in frames]


def shape(memory: Engine) -> tuple[Any, ...]:
    tasks = memory.tasks
    return (
        tasks.peek(),
        tasks.path(),
        tasks.siblings(),
        tasks.siblings(TaskStatus.BLOCKED),
        tasks.frames(),
        len(tasks),
    )


@given(STEPS)
def test_the_stack_is_that_of_a_list(registry: Registry, steps: list[str]) -> None:
    with Engine(registry.build(registry.set("bm25")), HashingEmbedder(8)) as memory:
        memory.encode(Event(0.0, "begin"))
        every: list[dict[str, Any]] = []
        stack: list[dict[str, Any]] = []
        for number, step in enumerate(steps):
            if step == "tell":
                memory.encode(Event(memory.now, f"note {number}"))
                assert memory.events[-1].get("task") == (stack[-1]["id"] if stack else "")
            elif step == "push":
                above = stack[-1] if stack else None
                frame = memory.tasks.push(f"goal {number}")
                every.append({"id": frame.id, "goal": f"goal {number}",
                              "parent": above["id"] if above else "", "depth": len(stack),
                              "status": "active", "result": ""})  # fmt: skip
                stack.append(every[-1])
            elif stack:
                memory.tasks.pop(f"result {number}", blocked=step == "block")
                stack.pop().update(
                    status="blocked" if step == "block" else "complete", result=f"result {number}"
                )
            else:
                with pytest.raises(InputError, match="no task is under way"):
                    memory.tasks.pop()
        found = memory.tasks.frames()
        assert [
            {
                name: getattr(frame, name)
                for name in ("id", "goal", "parent", "depth", "status", "result")
            }
            for frame in found
        ] == every
        assert ids(memory.tasks.path()) == [one["id"] for one in stack]
        current = memory.tasks.peek()
        assert (current.id if current else None) == (stack[-1]["id"] if stack else None)
        beside = [
            one["id"]
            for one in every
            if stack and one["parent"] == stack[-1]["parent"] and one["status"] == "complete"
        ]
        assert ids(memory.tasks.siblings()) == beside


def test_frames_are_events(new: Callable[..., Engine]) -> None:
    with new() as memory:
        memory.encode(Event(1.0, "hello", session="s1"))
        root = memory.tasks.push("Publish the atlas")
        part = memory.tasks.push("Draw the maps")
        memory.encode(Event(2.0, "The ink is blue", attributes=(("kind", "note"),)))
        memory.tasks.pop("Twelve maps")
        pushed, inner, _, popped = memory.events[1:]
        assert (
            pushed.attributes == (("depth", "0"), ("kind", "task_push"), ("task", root.id))
            and pushed.text == "Publish the atlas"
        )
        assert (
            inner.attributes
            == (("depth", "1"), ("kind", "task_push"), ("parent", root.id), ("task", part.id))
            and inner.session == "s1"
        )
        assert popped.get("kind") == "task_pop" and (
            popped.text,
            popped.get("status"),
            popped.time,
        ) == ("Twelve maps", "complete", 2.0)
        found = memory.retrieve(Query("ink maps atlas", only=Only(attributes=(("task", part.id),))))
        assert [memory.event(row).text for row in sorted(found.rows)] == [
            "Draw the maps",
            "The ink is blue",
            "Twelve maps",
        ]
        assert [
            unit.text
            for unit in memory.retrieve(
                Query("maps", only=Only(attributes=(("kind", "task_pop"),)))
            ).units
        ] == ["Twelve maps"]


def test_the_graph_leads_from_each_goal_to_the_goals_inside_it(
    new: Callable[..., Engine], tmp_path: Path
) -> None:
    """The edges are those of the parents of the frames; a snapshot has them, erasing takes them."""

    def subtasks(memory: Engine, row: int) -> list[str]:
        edges = memory.graph.neighbours(row, EdgeType.RELATION)
        return [memory.event(int(inside)).id for inside in memory.graph.target[edges]]

    memory = new(path=tmp_path / "memory.db")
    memory.encode(Event(1.0, "We began."))
    for step in ("push", "push", "pop", "push", "push", "pop", "pop", "pop", "push"):
        memory.tasks.push("A goal") if step == "push" else memory.tasks.pop("done")
    frames = memory.tasks.frames()
    assert len(frames) == 5 and {frame.depth for frame in frames} == {0, 1, 2}
    expected = {f.id: [inside.id for inside in frames if inside.parent == f.id] for f in frames}
    rows = {frame.id: memory.event_log.row(frame.id) for frame in frames}
    memory.close()
    again = new(path=tmp_path / "memory.db")
    assert {id: subtasks(again, row) for id, row in rows.items()} == expected
    odd = {"kind": "task_push", "task": "t", "parent": "nowhere"}
    again.encode(Event.at(datetime(2026, 3, 2), "Of another program", attributes=odd), confirm=True)
    again.erase(frames[0].id, confirm=True)
    assert subtasks(again, rows[frames[0].id]) == []
    again.close()


def test_an_event_keeps_a_task_of_its_own(new: Callable[..., Engine]) -> None:
    with new() as memory:
        memory.encode_all(numbered(1, 2))
        assert memory.events[0].attributes == ()
        memory.tasks.push("a goal")
        memory.encode(Event(memory.now, "mine", attributes=(("task", "another"), ("b", "c"))))
        assert memory.events[-1].attributes == (("b", "c"), ("task", "another"))


def test_a_snapshot_goes_on_with_the_stack(new: Callable[..., Engine], tmp_path: Path) -> None:
    with new(path=tmp_path / "m.db") as memory, new() as whole:
        for each in (memory, whole):
            each.encode(Event(1.0, "begin"))
            each.tasks.push("Publish the atlas")
            each.tasks.push("Draw the maps")
            each.tasks.pop("the press broke", blocked=True)
            each.tasks.push("Print it")
        before = shape(memory)
        memory.close()
        with new(path=tmp_path / "m.db") as again:
            assert shape(again) == before == shape(whole)
            for each in (again, whole):
                each.encode(Event(30.0, "paper came"))
                each.tasks.pop("printed")
                each.advance(30.0)
            assert shape(again) == shape(whole) and again.digest() == whole.digest()
            assert again.events[-2].get("task") == before[0].id


def test_without_tasks_nothing_changes(new: Callable[..., Engine]) -> None:
    with new() as memory:
        event = Event(1.0, "hello", attributes=(("a", "b"),))
        assert memory.tasks.marked(event) is event and memory.tasks.peek() is None
        assert (
            memory.tasks.path() == memory.tasks.siblings() == memory.tasks.frames() == ()
            and repr(memory.tasks) == "<Tasks: 0 under way of 0>"
        )


# --- edges ----------------------------------------------------------------------------------------
def test_a_path_of_200_frames(new: Callable[..., Engine]) -> None:
    with new() as memory:
        for depth in range(200):
            assert memory.tasks.push(f"level {depth}", time=float(depth)).depth == depth
        path = memory.tasks.path()
        assert [frame.goal for frame in path] == [f"level {depth}" for depth in range(200)] and len(
            memory.tasks
        ) == 200
        assert all(below.parent == above.id for above, below in pairwise(path))
        while memory.tasks.peek():
            memory.tasks.pop()
        assert len(memory.tasks) == 0 and all(
            frame.status is TaskStatus.COMPLETE for frame in memory.tasks.frames()
        )


@pytest.mark.slow
def test_a_result_of_a_megabyte_is_kept(new: Callable[..., Engine], tmp_path: Path) -> None:
    result = "résumé " * 150_000
    with new(path=tmp_path / "m.db") as memory:
        memory.tasks.push("Read everything", time=0.0)
        assert memory.tasks.pop(result).result == result
    with new(path=tmp_path / "m.db") as again:
        assert again.tasks.frames()[0].result == result


def test_a_blocked_frame_is_no_finished_sibling(new: Callable[..., Engine]) -> None:
    with new() as memory:
        memory.tasks.push("root", time=0.0)
        for goal, blocked in (("one", False), ("two", True)):
            memory.tasks.push(goal)
            memory.tasks.pop(f"{goal} ended", blocked=blocked)
        memory.tasks.push("three")
        assert [f.goal for f in memory.tasks.siblings()] == ["one"] and [
            f.goal for f in memory.tasks.siblings(TaskStatus.BLOCKED)
        ] == ["two"]
        assert memory.tasks.frames()[2].result == "two ended"
        memory.tasks.push("inside three")
        assert memory.tasks.siblings() == ()


@pytest.mark.parametrize("goal", ["", "  \n", None, 3, b"x"])
def test_goals_that_are_refused(new: Callable[..., Engine], goal: Any) -> None:
    with new() as memory:
        memory.encode(Event(1.0, "x"))
        with pytest.raises(InputError, match="goal") as caught:
            memory.tasks.push(goal)
        assert caught.value.where == "tasks.push" and caught.value.cure and len(memory.events) == 1


def test_asked_wrongly(new: Callable[..., Engine]) -> None:
    with new() as memory:
        with pytest.raises(InputError, match="no task is under way") as caught:
            memory.tasks.pop("done")
        assert "push" in caught.value.cure
        with pytest.raises(InputError, match="no time yet"):
            memory.tasks.push("a goal")
        memory.tasks.push("a goal", time=5.0)
        with pytest.raises(InputError, match="not text"):
            memory.tasks.pop(3)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="runs backwards"):
            memory.tasks.pop("done", time=1.0)
        assert len(memory.tasks) == 1 and len(memory.events) == 1


def test_the_id_of_a_frame_is_no_other_events(new: Callable[..., Engine]) -> None:
    with new() as memory:
        memory.encode(Event(1.0, "x", id="task 1"))
        assert (
            memory.tasks.push("a goal").id == "task 2"
            and memory.tasks.push("another").id == "task 3"
        )


def test_an_erased_goal_leaves_the_stack(new: Callable[..., Engine]) -> None:
    with new() as memory:
        root, part = memory.tasks.push("root", time=0.0), memory.tasks.push("part")
        memory.erase(root.id, confirm=True)
        assert (
            ids(memory.tasks.path()) == [part.id]
            and memory.tasks.path()[0].parent == ""
            and "root" not in repr(memory.tasks.frames())
        )
        memory.tasks.pop("done")
        assert memory.tasks.peek() is None


@pytest.mark.parametrize(
    "attributes",
    [
        {"kind": "task_pop", "task": "nothing"},
        {"kind": "task_pop"},
        {"kind": "task_push", "parent": "nothing", "depth": "x"},
        {"kind": ["task_pop", "a"]},
    ],
)
def test_odd_events_of_other_programs_break_nothing(
    new: Callable[..., Engine], attributes: Any
) -> None:
    with new() as memory:
        memory.tasks.push("root", time=0.0)
        memory.encode(Event.at(datetime(1980, 1, 1), "odd", attributes=attributes))
        assert [frame.goal for frame in memory.tasks.path()] == ["root"]
        memory.encode(
            Event(
                memory.now,
                "odd",
                id="theirs",
                attributes=tuple(
                    sorted((k, v) for k, v in attributes.items() if isinstance(v, str))
                ),
            )
        )
        assert len(memory.tasks) == 1 and memory.tasks.path()[0].depth == 0


def test_a_gate_may_reject_a_goal_as_a_memory_but_not_from_the_stack(registry: Registry) -> None:
    with Engine(registry.build(registry.set("default")), HashingEmbedder(16)) as memory:
        memory.tasks.push("Publish the atlas", time=0.0)
        for _ in range(3):
            memory.tasks.push("Publish the atlas")
        assert len(memory.tasks) == 4 == len(memory.events)


# --- budgets --------------------------------------------------------------------------------------
@given(st.integers(0, 100_000), *[st.none() | st.integers(0, 5000)] * 3)
def test_parts_add_up_and_keep_to_their_shares(
    budget: int, root: int | None, path: int | None, siblings: int | None
) -> None:
    found = divided(budget, root, path, siblings)
    assert found.root + found.path + found.siblings + found.current == budget
    for part, share, need in (
        (found.root, 5, root),
        (found.path, 15, path),
        (found.siblings, 10, siblings),
    ):
        assert (
            0 <= part <= budget * share / 100
            and (need is None or part <= need)
            and (part == need or part > budget * share / 100 - 1)
        )
    assert found.current >= budget * 0.7


@pytest.mark.parametrize("budget", [-1, 2.5, True, None])
def test_budgets_that_are_refused(budget: Any) -> None:
    with pytest.raises(InputError, match="budget"):
        divided(budget)
