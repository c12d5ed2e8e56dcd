"""Kernels compiled ahead: those that a life calls, and all of them."""

from __future__ import annotations

import json
from typing import Any

import numba
import pytest
from kernel_forms import compiled_at_once, package_kernels
from numba.core import event
from typer.testing import CliRunner

import hebbarium as hb
from hebbarium.cli import app
from hebbarium.engine.base.errors import HebbariumError
from hebbarium.engine.state.ranking import FEW
from hebbarium.warming import forms_of, warm

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="NUMBA_DISABLE_JIT is set")


class Compiled(event.Listener):  # type: ignore[misc]      # numba is not annotated
    """Names of the functions that numba compiles."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, event: Any) -> None:
        self.names.append(event.data["dispatcher"].py_func.__qualname__)

    def on_end(self, event: Any) -> None:
        pass


@compiled_at_once()
def test_a_life_compiles_nothing_more() -> None:
    """Not even if no exact kernel runs as Python, whose calls would compile nothing either."""
    told, listener = [], Compiled()
    made = warm("hybrid", 1, lambda *call: told.append(call))
    assert told[0] == (0, len(made), "") and [done for done, *_ in told] == list(range(len(told)))
    assert len(told) == len(made) + 1 and {name for *_, name in told[1:]} == {n for n, _ in made}
    with event.install_listener("numba:compile", listener):
        memory = hb.memory("hybrid", embedding="hashing:64")
        for hour in range(FEW + 1):
            memory.encode(hb.Event(30.0 + hour, "Ada moved to a red house in May."))
        assert memory.retrieve("Who moved?").rows.tolist()
        memory.retrieve("What is red?", learn=True)
    assert listener.names == []
    ran = {kernel.name for kernel, _ in forms_of("hybrid")}
    # in machine code: a kernel that had stayed Python would compile nothing, too
    compiled = [k for k in package_kernels() if k.name in ran]
    assert compiled and all(k.__call__ is k.dispatcher for k in compiled)
    assert warm("hybrid", 1) == [(name, False) for name, _ in made]


def test_the_types_are_those_of_the_compiled_life() -> None:
    forms = forms_of("hybrid")
    assert len(forms) == len(set(forms)) > 5
    warm("hybrid", 1)
    assert all(types in kernel.dispatcher.signatures for kernel, types in forms)


def test_plain_python_ends_with_the_life() -> None:
    forms_of("bm25")
    with pytest.raises(HebbariumError):
        forms_of("nope")
    forms_of("bm25")
    every = [kernel for kernel in package_kernels() if kernel.compiled]
    assert len(every) >= 40
    assert [k for k in every if k.__call__ not in (k._first, k.dispatcher)] == []


def test_the_command_says_what_it_compiled() -> None:
    done = CliRunner().invoke(app, ["warm", "--set", "bm25", "--jobs", "1", "--json"])
    said = json.loads(done.stdout)
    assert (
        done.exit_code == 0
        and said["set"] == "bm25"
        and set(said["compiled"]) <= set(said["kernels"])
    )
    assert "engine.state.ranking._heap" in said["kernels"]
    done = CliRunner().invoke(app, ["warm", "--set", "bm25", "--jobs", "1"])
    assert f"bm25: {len(said['kernels'])} kernels, 0 compiled now" in done.stdout
