"""Kernels, and their compiled forms on disk: these are of the present source, and processes that
compile one kernel at the same time do not exchange them.
"""

from __future__ import annotations

import importlib
import itertools
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile

from hebbarium.engine.base import compiling, kernels


def interleaved(kind: type[IndexDataCacheFile], folder: Path) -> dict[str, str | None]:
    """What a third process finds after two have read the same empty index and the first has
    written its data last.
    """

    def cache() -> IndexDataCacheFile:
        own = kind is compiling.KernelCache
        return kind(str(folder), "kernel-1", (lambda: "source") if own else "source")

    first, second = cache(), cache()
    save_index: Callable[[dict[str, str]], None] = first._save_index

    def then_the_other(index: dict[str, str]) -> None:
        save_index(index)
        empty: dict[str, str] = {}
        second._load_index = lambda: empty
        second.save("of integers", "code of integers")

    first._save_index = then_the_other
    first.save("of numbers", "code of numbers")
    third = cache()
    return {key: third.load(key) for key in ("of integers", "of numbers")}


def test_no_form_of_a_kernel_is_read_as_another(tmp_path: Path) -> None:
    assert interleaved(compiling.KernelCache, tmp_path) == {
        "of integers": "code of integers",
        "of numbers": None,
    }


def test_files_counted_from_one_would_be_exchanged(tmp_path: Path) -> None:
    assert interleaved(IndexDataCacheFile, tmp_path)["of integers"] == "code of numbers"


def test_old_files_that_the_index_does_not_name_are_removed(tmp_path: Path) -> None:
    """Those of another kernel, and new ones, which another process may be about to name, stay."""
    before = time.time() - 2.0 * compiling.FRESH
    for name in ("kernel-1.7.nbc", "kernel-1.8.nbc", "kernel-10.7.nbc"):
        (tmp_path / name).write_text("", encoding="utf-8")
        if name != "kernel-1.8.nbc":
            os.utime(tmp_path / name, (before, before))
    cache = compiling.KernelCache(str(tmp_path), "kernel-1", lambda: "source")
    cache.save("of integers", "code of integers")
    left = {path.name for path in tmp_path.iterdir()}
    assert (
        left >= {"kernel-1.8.nbc", "kernel-10.7.nbc", "kernel-1.nbi"}
        and len(left) == 4
        and "kernel-1.7.nbc" not in left
    )


@pytest.mark.parametrize("terminal", [True, False])
def test_a_user_at_a_terminal_is_told_which_kernel_is_compiled(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    terminal: bool,
) -> None:
    """From the fourth on, since one or two more are compiled at once; the line is gone after it."""
    monkeypatch.setattr(compiling, "_compiling", itertools.count(1))
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    cache = compiling.KernelCache(
        str(tmp_path), "kernel-1", lambda: "source", "ranking.best", lambda: 9
    )
    told = []
    for key in range(6):
        assert cache.load(key) is None
        told.append(capsys.readouterr().err)
        cache.save(key, "code")
        assert capsys.readouterr().err == ("\r\x1b[K" if terminal else "")
        assert cache.load(key) == "code" and not capsys.readouterr().err
    several = compiling.SEVERAL - 1
    assert told[:several] == [""] * several
    for number, line in enumerate(told[several:], compiling.SEVERAL):
        assert line == (
            f"\r\x1b[Kcompiling kernel {number} of at most 9, once per installation: ranking.best"
            if terminal
            else ""
        )


compiled_here = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="NUMBA_DISABLE_JIT is set")


@compiled_here
@pytest.mark.parametrize("decorator", [kernels.kernel, kernels.summing_kernel])
def test_every_kernel_has_this_cache(decorator: Any) -> None:
    """And numba saves what it compiles there."""
    kernel = decorator(lambda x: x)
    cache = kernel.dispatcher._cache._cache_file
    assert isinstance(cache, compiling.KernelCache) and kernel(1.0) == 1.0
    assert Path(cache._index_path).exists()


@compiled_here
def test_a_file_that_is_imported_under_two_names_has_two_caches() -> None:
    def square(x: float) -> float:
        return x * x

    names = []
    for package in ("one", "other"):
        square.__module__ = f"{package}.kernels"
        kernel: Any = kernels.kernel(square)
        names.append(kernel.dispatcher._cache._cache_file._index_name)
    assert names[0].startswith("one.") and names[1].startswith("other.")


def test_a_formula_is_python_for_python_and_compiled_within_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    @kernels.formula
    def half(x: float) -> float:
        return x / 2.0

    @kernels.kernel
    def quarter(x: float) -> float:
        return half(half(x))

    formula: Any = half
    assert half(3.0) == 1.5 and not formula.dispatcher.signatures
    assert quarter(3.0) == 0.75 and (numba.config.DISABLE_JIT or formula.dispatcher.signatures)


# --- what is compiled decides what is found -------------------------------------------------------
LOWER = """
from hebbarium.engine.base.kernels import formula, kernel

STEP = 1.0

@formula
def stepped(x):
    return x + STEP

@kernel
def twice(x):
    return 2.0 * x
"""
UPPER = """
import lower
from lower import twice
from hebbarium.engine.base.kernels import kernel

@kernel
def called(x):
    return later(twice(x)) + lower.STEP

@kernel
def later(x):
    return lower_step(x)

lower_step = lower.stepped
"""
CHANGES = {
    "a kernel that is imported": ("2.0 * x", "-2.0 * x", -4.0),
    "a constant of a formula": ("STEP = 1.0", "STEP = 10.0", 26.0),
    "a formula that is called by a kernel that is called": ("x + STEP", "x - STEP", 6.0),
}


def result(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[float, int]:
    """What the kernel gives for 3, and how many kernels a process that starts now compiles."""
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(folder))
        for name in ("lower", "upper"):
            patch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        called = importlib.import_module("upper").called
        number: float = called(3.0)
        for name in ("lower", "upper"):
            del sys.modules[name]
    return number, sum(called.dispatcher.stats.cache_misses.values())


@pytest.mark.slow
@compiled_here
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_in_an_imported_file_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """The kernel and its own file stay as they are, to the time of the file."""
    old, new, expected = CHANGES[change]
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name, text in (("lower", LOWER), ("upper", UPPER)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    assert result(tmp_path, monkeypatch) == (8.0, 1)
    assert result(tmp_path, monkeypatch) == (8.0, 0)
    (tmp_path / "lower.py").write_text(LOWER.replace(old, new), encoding="utf-8")
    assert result(tmp_path, monkeypatch)[0] != 8.0
    assert result(tmp_path, monkeypatch) == (expected, 0)
    (tmp_path / "lower.py").write_text(LOWER, encoding="utf-8")
    assert result(tmp_path, monkeypatch)[0] == 8.0


def test_comments_and_lines_do_not_decide() -> None:
    """Nor does another kernel of the file; the doctest stands for the docstring."""
    spaces: list[dict[str, Any]] = [{"__name__": "package.lower"} for _ in range(2)]
    for space, text in zip(spaces, (LOWER, "# a comment\n" + LOWER + "\nOTHER = 3\n"), strict=True):
        exec(compile(text, "lower.py", "exec"), space)
    first, second = (kernels.digest(space["stepped"]) for space in spaces)
    assert first == second != kernels.digest(spaces[0]["twice"])


def test_kernels_may_call_each_other() -> None:
    space: dict[str, Any] = {"__name__": "package.numbers"}
    exec(
        "from hebbarium.engine.base.kernels import kernel\n"
        "@kernel\ndef even(n):\n    return n == 0 or odd(n - 1)\n"
        "@kernel\ndef odd(n):\n    return n != 0 and even(n - 1)\n",
        space,
    )
    assert kernels.digest(space["even"]) != kernels.digest(space["odd"])


# --- types without compiling ----------------------------------------------------------------------
def test_calls_in_python_note_the_types_of_the_outermost_kernels() -> None:
    @kernels.kernel
    def inner(x: Any) -> Any:
        return x + 1.0

    @kernels.kernel
    def outer(x: Any, y: float) -> Any:
        return inner(x[0]) + y

    with kernels.in_python() as called:
        assert outer(np.ones(2), 2.0) == 4.0
    kernel: Any = outer
    assert {k.name for k in called} == {kernel.name}
    assert [str(t) for types in called[kernel] for t in types] == [
        "array(float64, 1d, C)",
        "float64",
    ]
    assert not kernel.dispatcher.signatures


def test_a_kernel_that_is_declared_meanwhile_is_compiled_afterwards() -> None:
    """As those of a module that is imported within the statement."""
    with kernels.in_python() as called:

        @kernels.kernel
        def late(x: float) -> float:
            return x + 1.0

        assert late(1.0) == 2.0
    kernel: Any = late
    assert list(called) == [kernel] and not kernel.dispatcher.signatures
    assert late(2.0) == 3.0 and list(called[kernel]) == [(numba.float64,)]
    assert numba.config.DISABLE_JIT or len(kernel.dispatcher.signatures) == 1
