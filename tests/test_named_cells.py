"""An event's hook that changes an earlier cell without naming it is found, whatever else is saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hebbarium.audit.named_cells import NamedCells, UnnamedChange
from hebbarium.engine.contract.columns import Column, Phase, Scope, Upkeep
from hebbarium.engine.contract.hooks import Incoming
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import ROW
from hebbarium.testing.small import by_number, column, does, mechanism, memory


def missed(path: Path, changed: Column, write: Any) -> dict[UnnamedChange, int]:
    """What is missed in a life of five events whose hook writes the column."""
    named = NamedCells()
    with memory(
        by_number(),
        mechanism("m", does(Phase.ENCODE, write, reads=[ROW], sets=[changed]), owns=[changed]),
        path=path,
        observer=named,
    ) as lived:
        for number in range(5):
            lived.encode(Event(float(number), f"Ada met Bo, number {number}"))
    return named.missed


@pytest.mark.parametrize(
    ("earlier", "told", "anywhere", "lost"),
    [
        (False, False, False, False),
        (True, False, False, True),
        (True, True, False, False),
        (True, False, True, False),
    ],
)
@pytest.mark.parametrize("scope", [Scope.MEMORY, Scope.EDGE])
def test_a_cell_that_is_not_named_is_found_at_its_call(
    tmp_path: Path, scope: Scope, earlier: bool, told: bool, anywhere: bool, lost: bool
) -> None:
    cells = column("cells", scope, upkeep=Upkeep(anywhere=anywhere))

    def write(view: Any, incoming: Incoming) -> None:
        if scope is Scope.MEMORY:
            view.cells[view.row] = 1.0
        if earlier and view.row == 4:
            view.cells[1] += 2.0
            if told:
                view.wrote(cells, 1)

    expected = {UnnamedChange("m", "hook0", "cells"): 1} if lost else {}
    assert missed(tmp_path / "m.db", cells, write) == expected
