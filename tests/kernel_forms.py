"""Which form of a kernel tests call; a plugin of conftest.py.

Doctests of kernels run as plain Python, unless `make test-all` asks for all.  Exact kernels are
compiled at once where a file compares both forms: Python would else be compared with Python.
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
        if isinstance(item, pytest.DoctestItem):
            module = vars(item.getparent(pytest.Module).obj)  # type: ignore[union-attr]
            if any(isinstance(value, Kernel) for value in module.values()):
                item.add_marker("kernels")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Doctests call kernels with types of their own, each of which would be compiled: in
    `make test` they run as plain Python.
    """
    form: AbstractContextManager[Any] = nullcontext()
    if item.get_closest_marker("kernels"):
        if item.config.getoption("hypothesis_profile") != "all":
            form = in_python()
    elif compares_both_forms(item.path):
        form = compiled_at_once()
    with form:
        return (yield)


@functools.cache
def compares_both_forms(path: Path) -> bool:
    """The tests of exact kernels say themselves which form runs."""
    text = path.read_text(encoding="utf-8") if path.suffix == ".py" else ""
    return "py_func" in text and "exact_kernel" not in text


def package_kernels() -> list[Kernel]:
    """The kernels of the package, without those that tests declare."""
    return [kernel for kernel in declared if kernel.py_func.__module__.startswith("hebbarium.")]


@contextmanager
def compiled_at_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "BEFORE_LOADING", 0)
        patch.setattr(kernels, "BEFORE_COMPILING", 0)
        yield
