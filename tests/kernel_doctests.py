"""Doctests of kernels as plain Python, unless `make test-all` asks for all; a plugin of conftest.py."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import nullcontext

import pytest

from hebbarium.engine.base.kernels import Kernel, in_python


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the doctests of modules that declare kernels."""
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            module = vars(item.getparent(pytest.Module).obj)  # type: ignore[union-attr]
            if any(isinstance(value, Kernel) for value in module.values()):
                item.add_marker("kernels")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Doctests call kernels with types of their own, each of which would be compiled: in
    `make test` they run as plain Python.
    """
    plain = item.config.getoption("hypothesis_profile") != "all"
    with in_python() if plain and item.get_closest_marker("kernels") else nullcontext():
        return (yield)
