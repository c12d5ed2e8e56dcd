"""Compiled kernels on disk: processes that compile one kernel at the same time do not exchange
its forms.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core.caching import IndexDataCacheFile

from hebbarium.engine.base import numerics


def interleaved(kind: type[IndexDataCacheFile], folder: Path) -> dict[str, str | None]:
    """What a third process finds after two have read the same empty index and the first has
    written its data last.
    """

    def cache() -> IndexDataCacheFile:
        return kind(str(folder), "kernel-1", 0)

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
    assert interleaved(numerics.KernelCache, tmp_path) == {
        "of integers": "code of integers",
        "of numbers": None,
    }


def test_files_counted_from_one_would_be_exchanged(tmp_path: Path) -> None:
    assert interleaved(IndexDataCacheFile, tmp_path)["of integers"] == "code of numbers"


def test_old_files_that_the_index_does_not_name_are_removed(tmp_path: Path) -> None:
    """Those of another kernel, and new ones, which another process may be about to name, stay."""
    before = time.time() - 2.0 * numerics.FRESH
    for name in ("kernel-1.7.nbc", "kernel-1.8.nbc", "kernel-10.7.nbc"):
        (tmp_path / name).write_text("", encoding="utf-8")
        if name != "kernel-1.8.nbc":
            os.utime(tmp_path / name, (before, before))
    cache = numerics.KernelCache(str(tmp_path), "kernel-1", 0)
    cache.save("of integers", "code of integers")
    left = {path.name for path in tmp_path.iterdir()}
    assert (
        left >= {"kernel-1.8.nbc", "kernel-10.7.nbc", "kernel-1.nbi"}
        and len(left) == 4
        and "kernel-1.7.nbc" not in left
    )


@pytest.mark.parametrize("terminal", [True, False])
def test_a_user_at_a_terminal_is_told_once_that_kernels_are_compiled(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    terminal: bool,
) -> None:
    monkeypatch.setattr(numerics, "_compiling", itertools.count(1))
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    cache, told = numerics.KernelCache(str(tmp_path), "kernel-1", 0), []
    cache.save("kept", "code")
    for key in [*["kept"] * 9, *range(9)]:
        assert cache.load(key) == ("code" if key == "kept" else None)
        told.append(len(caplog.records))
    assert told == [0] * (8 + numerics.SEVERAL) + [int(terminal)] * (10 - numerics.SEVERAL)
    assert not terminal or "once per installation" in caplog.records[0].getMessage()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_every_kernel_has_this_cache() -> None:
    """And numba saves what it compiles there."""
    for decorator in numerics.KERNELS:
        compiled: Any = decorator(lambda x: x)
        assert (
            isinstance(compiled._cache._cache_file, numerics.KernelCache) and compiled(1.0) == 1.0
        )
        assert Path(compiled._cache._cache_file._index_path).exists()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_file_that_is_imported_under_two_names_has_two_caches() -> None:
    def square(x: float) -> float:
        return x * x

    names = []
    for package in ("one", "other"):
        square.__module__ = f"{package}.kernels"
        compiled: Any = numerics.kernel(square)
        names.append(compiled._cache._cache_file._index_name)
    assert names[0].startswith("one.") and names[1].startswith("other.")
