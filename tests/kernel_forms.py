"""Which form of a kernel tests call; a plugin of conftest.py.

Doctests of kernels run as plain Python, unless `make test-all` asks for all.  Exact kernels are
compiled at once where a file compares both forms: Python would else be compared with Python.  The
marker `begins_in_python` leaves them as they are for users.
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from hebbarium.engine.base import kernels
from hebbarium.engine.base.kernels import Kernel, declared, in_python


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the doctests of modules that declare kernels."""
    for item in items:
        module = item.getparent(pytest.Module) if isinstance(item, pytest.DoctestItem) else None
        if module and any(isinstance(value, Kernel) for value in vars(module.obj).values()):
            item.add_marker("kernels")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Doctests call kernels with types of their own, each of which would be compiled: in
    `make test` they run as plain Python, as does what is marked so.
    """
    form: AbstractContextManager[Any] = nullcontext()
    everyday = item.config.getoption("hypothesis_profile") != "all"
    if everyday and item.get_closest_marker("kernels"):
        form = in_python()
    elif (
        isinstance(item, pytest.Function)
        and compares_both_forms(item.path)
        and not item.get_closest_marker("begins_in_python")
    ):
        form = compiled_at_once()
    with form:
        return (yield)


@functools.cache
def compares_both_forms(path: Path) -> bool:
    """Whether a file of tests names the plain function of a kernel."""
    return "py_func" in path.read_text(encoding="utf-8")


def package_kernels() -> list[Kernel]:
    """The kernels of the package, without those that tests declare."""
    return [kernel for kernel in declared if kernel.py_func.__module__.startswith("hebbarium.")]


@contextmanager
def compiled_at_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "BEFORE_LOADING", 0)
        patch.setattr(kernels, "BEFORE_COMPILING", 0)
        yield
