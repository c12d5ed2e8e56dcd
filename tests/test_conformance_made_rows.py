"""The conformance checks about rows that the memory makes refuse mechanisms that take them for
events.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.contract.columns import Phase, Scope
from hebbarium.engine.contract.hooks import Mechanism
from hebbarium.engine.contract.vocabulary import (
    CREATED,
    EMBEDDING,
    GRAPH,
    KIND,
    MATCH,
    RANDOM,
    RECALLED,
    ROW,
    VISIBLE,
)
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.state.graph import EdgeType
from hebbarium.testing.conformance import (
    made_rows_change_nothing,
    made_rows_that_stay_visible_do_no_harm,
)
from hebbarium.testing.small import column, does, mechanism, score


class OnBench:
    """A mechanism that no registry has, on a bench of its own, alone."""

    id, company = "m", ("m",)

    def __init__(self, make: Callable[[], Mechanism[Any]], folder: Path) -> None:
        self.mechanism, self.folder = make(), folder
        self.registry = SimpleNamespace(
            entry=lambda id: SimpleNamespace(load=lambda: type(self.mechanism))
        )

    def build(
        self,
        *ids: str,
        path: Path | None = None,
        beside: tuple[Mechanism[Any], ...] = (),
        **options: Any,
    ) -> Engine:
        return Engine([self.mechanism, *beside], HashingEmbedder(32), path=path, **options)


def gap(before: Callable[[Any, Any], int]) -> Mechanism[Any]:
    """Keeps the time since the event before, found as `before` says."""
    held = column("gap")

    def dress(view: Any, incoming: Any) -> None:
        row, last = view.row, before(view, incoming)
        view.gap[row] = view.created[row] - view.created[last] if last >= 0 else 0.0

    return mechanism("m", does(Phase.ENCODE, dress, reads=[ROW, CREATED], sets=[held]), owns=[held])


def counted(rows: Callable[[Any], int]) -> Mechanism[Any]:
    """Scores by the number of memories, as `rows` counts them."""
    size = score("size")

    def ask(view: Any, cue: Any) -> None:
        view.size[...] = np.where(
            view.kind == 0,
            1.0 / (1.0 + np.abs(view.embedding @ cue.vector - rows(view) / 100.0)),
            np.nan,
        )

    return mechanism(
        "m", does(Phase.RETRIEVE, ask, reads=[KIND, EMBEDDING], sets=[size]), owns=[size]
    )


def drawn(of: Callable[[Any], int]) -> Mechanism[Any]:
    """Draws as many random numbers in a sleep as `of` says."""
    total = column("total", Scope.GLOBAL)

    def sleep(view: Any, tick: Any) -> None:
        view.total += float(view.random.random(of(view)).sum())

    return mechanism(
        "m", does(Phase.CONSOLIDATE, sleep, reads=[KIND], sets=[total, RANDOM]), owns=[total]
    )


def linked(visible: bool) -> Mechanism[Any]:
    """Links the best two memories of every answer; without looking at VISIBLE, also hidden ones."""

    def link(view: Any, cue: Any) -> None:
        best = np.argsort(
            -(view.match * view.visible if visible else view.embedding @ cue.vector), kind="stable"
        )[:2]
        view.graph.add(int(best[0]), int(best[1]), EdgeType.SEMANTIC, 0.0)

    return mechanism(
        "m", does(Phase.RETRIEVE, link, reads=[RECALLED, EMBEDDING, MATCH, VISIBLE], adds=[GRAPH])
    )


@pytest.mark.parametrize(
    ("sound", "wrong"),
    [
        (
            lambda: gap(lambda view, incoming: incoming.before),
            lambda: gap(lambda view, incoming: view.row - 1),
        ),
        (
            lambda: counted(lambda view: int((view.kind == 0).sum())),
            lambda: counted(lambda view: len(view.kind)),
        ),
        (
            lambda: drawn(lambda view: int((view.kind == 0).sum())),
            lambda: drawn(lambda view: len(view.kind)),
        ),
        (lambda: linked(True), lambda: linked(False)),
    ],
    ids=["the row before", "the number of rows", "random draws", "hidden rows"],
)
def test_made_rows_taken_for_events_are_refused(sound: Any, wrong: Any, tmp_path: Path) -> None:
    made_rows_change_nothing(OnBench(sound, tmp_path))  # type: ignore[arg-type]
    with pytest.raises(AssertionError):
        made_rows_change_nothing(OnBench(wrong, tmp_path))  # type: ignore[arg-type]


def test_a_mechanism_that_visible_made_rows_break_is_refused(tmp_path: Path) -> None:
    """It counts recalled memories by group; a made row has the neutral group."""

    def make(neutral: int) -> Mechanism[Any]:
        group, counts = (
            column("group", neutral=neutral, dtype=np.int64),
            column("counts", Scope.GLOBAL, shape=(2,)),
        )

        def dress(view: Any, incoming: Any) -> None:
            view.group[view.row] = view.row % 2

        def count(view: Any, cue: Any) -> None:
            view.counts += np.bincount(view.group[view.recalled], minlength=2)

        return mechanism(
            "m",
            does(Phase.ENCODE, dress, reads=[ROW], sets=[group]),
            does(Phase.RETRIEVE, count, reads=[RECALLED, group], sets=[counts]),
            owns=[group, counts],
        )

    made_rows_that_stay_visible_do_no_harm(OnBench(lambda: make(0), tmp_path))  # type: ignore[arg-type]
    (tmp_path / "other").mkdir()
    with pytest.raises(ValueError, match="negative"):
        made_rows_that_stay_visible_do_no_harm(OnBench(lambda: make(-1), tmp_path / "other"))  # type: ignore[arg-type]
