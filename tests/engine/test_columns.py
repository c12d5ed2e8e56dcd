"""Columns: what may be declared, and how a column prints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hebbarium.engine.base.errors import ContractError
from hebbarium.engine.contract.columns import Column, Facet, Scope, Upkeep, signal
from hebbarium.engine.contract.vocabulary import FUSED, MATCH, REPLAYED

TAKEN = [bool, np.bool_, int, np.int8, np.int64, np.uint8, np.uint64, float, np.float16, np.float32,
         "f8", "?", np.dtype(np.int32)]  # fmt: skip
REFUSED = [object, "O", str, "U8", bytes, "S4", complex, np.complex64, "datetime64[h]",
           "timedelta64[s]", [("a", float)], (float, (2,)), "V8",
           "nonsense"]  # fmt: skip


@pytest.mark.parametrize("dtype", TAKEN, ids=str)
def test_bool_integer_and_float_are_taken(dtype: Any) -> None:
    assert np.zeros(1, Column("x", dtype, Scope.MEMORY, "1", 0, "for the test").dtype)[0] == 0


@pytest.mark.parametrize("dtype", REFUSED, ids=str)
@pytest.mark.parametrize("scope", Scope, ids=lambda scope: scope.value)
def test_other_types_are_refused_where_they_are_declared(dtype: Any, scope: Scope) -> None:
    """A snapshot with a column of objects could be written and not be opened."""
    with pytest.raises(ContractError, match="no bool, integer or float") as caught:
        Column("x", dtype, scope, "1", 0, "for the test")
    assert caught.value.where == "column x" and "np.float64" in caught.value.cure


@pytest.mark.parametrize("name", ["", "a b", "_a", "class", "1a", "a-b"])
def test_names_that_are_no_attribute_names_are_refused(name: str) -> None:
    with pytest.raises(ContractError, match="no attribute name"):
        Column(name, float, Scope.MEMORY, "1", 0, "for the test")


def test_a_column_prints_in_one_line() -> None:
    assert (
        repr(Column("heat", np.float64, Scope.MEMORY, "h", 0.5, "m"))
        == "<memory column heat: float64, unit h, neutral 0.5>"
    )
    assert (
        repr(Column("code", "i1", Scope.EDGE, "1", -1, "m", ("d", 3)))
        == "<edge column code: int8[d, 3], unit 1, neutral -1>"
    )
    assert (
        repr(signal("s", Facet.TIME, "m")) == "<candidate column s: float32, unit 1, neutral nan>"
    )
    assert repr(FUSED) == f"<candidate column fused: float32, unit 1, neutral {MATCH.name}>"
    assert repr(REPLAYED.before) == f"Before(of={REPLAYED!r})"


@pytest.mark.parametrize("wrong", [{"scope": Scope.GLOBAL}, {"shape": (3,)}, {"neutral": np.nan}])
def test_only_numbers_of_memories_can_be_considered(wrong: dict[str, Any]) -> None:
    right = {
        "name": "urgent",
        "dtype": np.float32,
        "scope": Scope.MEMORY,
        "unit": "1",
        "neutral": 0.0,
        "meaning": "how urgent",
    }
    assert Column(**right, upkeep=Upkeep(considered=True)).upkeep.considered
    with pytest.raises(ContractError, match="urgent"):
        Column(**right | wrong, upkeep=Upkeep(considered=True))
