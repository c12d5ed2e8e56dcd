"""Cases of a parametrised test that `make test` leaves to `make test-all`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

# of all sets that ship, those on which `make test` tries what holds for each
EVERYDAY_SETS = ("minimal", "default", "in_use")


def later(*case: Any) -> Any:
    """A case that `make test` leaves to `make test-all`, since others are like it."""
    return pytest.param(*case, marks=pytest.mark.slow)


def slow_unless(everyday: Collection[str], values: Iterable[str]) -> list[Any]:
    """The values as cases for `parametrize`; those that are not in `everyday` are marked slow."""
    return [value if value in everyday else later(value) for value in values]
