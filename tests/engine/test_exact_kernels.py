"""Exact kernels: plain Python runs the first calls, with the bits of machine code."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from kernel_forms import package_kernels
from tiers import slow_unless

import hebbarium as hb
from hebbarium.engine.base import kernels
from hebbarium.engine.base.kernels import Kernel, declared, exact_kernel
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.context.assembly import assemble
from hebbarium.engine.scale import shortlist
from hebbarium.engine.text import numbering
from hebbarium.testing.conformance import talk
from hebbarium.warming import ASKED, SAID

SHORTLIST = 80  # rows: of fewer, no question is asked that wants ten
SETS = tuple(Registry.read().sets)
pytestmark = [
    pytest.mark.begins_in_python,
    pytest.mark.skipif(numba.config.DISABLE_JIT, reason="NUMBA_DISABLE_JIT is set"),
]


@exact_kernel
def add_logarithms(x: Any, factor: float, out: Any) -> float:
    """out_i += factor ln x_i; returns the mean of the logarithms."""
    total = 0.0
    for i in range(x.shape[0]):
        out[i] += factor * math.log(x[i])
        total += math.log(x[i])
    return total / x.shape[0]


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """An exact kernel of which nothing is compiled, in memory or on disk."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    made: Any = add_logarithms
    return Kernel(made.py_func, {}, True, exact=True)


def compiled(kernel: Kernel) -> bool:
    return kernel.__call__ is kernel.__dict__.get("dispatcher") and bool(
        kernel.dispatcher.signatures
    )


# --- who runs a call ------------------------------------------------------------------------------
@pytest.fixture
def each_call_takes(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets the s of processor time that a call in plain Python takes, by the clock that kernels
    read before and after it.
    """
    return lambda taken: monkeypatch.setattr(
        kernels, "thread_time", partial(next, count(0.0, taken))
    )


def test_python_runs_calls_until_they_have_cost_as_much_as_compiling(
    kernel: Kernel, each_call_takes: Callable[[float], None]
) -> None:
    """However short the arrays are: a loop of many steps over few elements costs as much."""
    x, out, calls = np.full(3, 2.0), np.zeros(3), 10
    each_call_takes(0.99 * kernels.BEFORE_COMPILING / calls)
    for call in range(calls):
        assert kernel(x, 1.0, out) == pytest.approx(math.log(2.0)) and not compiled(kernel), call
    each_call_takes(0.01 * kernels.BEFORE_COMPILING)
    kernel(x, 1.0, out)
    kernel(x, 1.0, out)
    assert compiled(kernel)
    assert out == pytest.approx(np.full(3, (calls + 2) * math.log(2.0)))


def test_a_large_first_call_is_compiled(kernel: Kernel) -> None:
    size = int(kernels.BEFORE_COMPILING / kernels.PER_ELEMENT)
    kernel(np.ones(size), 1.0, np.zeros(size))
    assert compiled(kernel)


def test_code_on_disk_is_loaded_before_python_has_cost_much(
    kernel: Kernel, each_call_takes: Callable[[float], None]
) -> None:
    x, out = np.full(3, 2.0), np.zeros(3)
    kernel.dispatcher(x, 1.0, out)
    later = Kernel(kernel.py_func, {}, True, exact=True)  # as in a later process
    each_call_takes(kernels.BEFORE_LOADING)
    later(x, 1.0, out)
    assert not compiled(later)
    later(x, 1.0, out)
    assert compiled(later) and not later.dispatcher.stats.cache_misses


@pytest.mark.parametrize("bad", [0.0, -1.0])
def test_machine_code_answers_where_python_refuses(kernel: Kernel, bad: float) -> None:
    """What Python wrote before it refused is taken back."""
    x, out = np.array([2.0, bad]), np.array([1.0, 1.0])
    mean = kernel(x, 3.0, out)
    assert compiled(kernel) and out[0] == 1.0 + 3.0 * math.log(2.0)
    assert mean == out[1] == -math.inf if bad == 0.0 else math.isnan(mean) and math.isnan(out[1])


def test_no_number_by_zero_is_an_error(kernel: Kernel) -> None:
    empty = np.zeros(0)
    assert math.isnan(kernel(empty, 1.0, empty)) and compiled(kernel)


@pytest.mark.parametrize("set_name", ["naive_rag", "minimal"])
def test_a_few_events_and_questions_need_no_machine_code(set_name: str) -> None:
    """To load it takes most of a second.  Python may run all kernels that such a memory calls."""
    with kernels.in_python() as called, hb.memory(set_name, embedding="hashing:64") as memory:
        memory.encode_all(talk(6))
        for question in ASKED:
            memory.retrieve(question)
    assert called and {kernel.name for kernel in called if not kernel.exact} == set()


def test_a_number_of_an_argument_makes_float32_float64() -> None:
    """As in machine code; numpy takes a number of Python for one of float32."""

    @exact_kernel
    def third(x: Any, factor: float) -> Any:
        return factor * x[0]

    made: Any = third
    x = np.array([1.0 / 3.0], np.float32)
    number = third(x, 0.1)
    assert type(number) is float and number == 0.1 * float(x[0])
    assert number != float(np.float32(0.1) * x[0]) and number == made.dispatcher(x, 0.1)


def test_kernels_that_exact_kernels_call_are_exact() -> None:
    """Or sums in any order, and formulas; another kernel may not give these bits to Python."""
    for kernel in package_kernels():
        if kernel.exact:
            called = [kernel.py_func.__globals__.get(n) for n in kernel.py_func.__code__.co_names]
            inner = [k for k in called if isinstance(k, Kernel)]
            assert [
                k.name for k in inner if k.compiled and not (k.exact or "fastmath" in k.options)
            ] == [], kernel.name


# --- both forms of every call of a life -----------------------------------------------------------
def bits(value: Any) -> Any:
    """The value, its type, and the bits of its numbers; all NaN are alike."""
    if isinstance(value, tuple):
        return tuple(map(bits, value))
    if isinstance(value, np.ndarray):
        plain = np.where(np.isnan(value), np.nan, value) if value.dtype.kind == "f" else value
        return value.dtype, value.shape, plain.tobytes()
    return type(value), value.hex() if isinstance(value, float) else value


def copied(value: Any, copies: dict[int, Any]) -> Any:
    """The arguments with copies of their arrays; one that is given twice is copied once."""
    if isinstance(value, tuple):
        return tuple(copied(item, copies) for item in value)
    if not isinstance(value, np.ndarray):
        return value
    copy = copies.setdefault(id(value), value.copy())
    copy.setflags(write=value.flags.writeable)
    return copy


def run_both(counts: Counter[str], kernel: Kernel, *args: Any, **named: Any) -> Any:
    others, values = copied((args, tuple(named.values())), {})
    try:
        result = kernels._plainly(kernel.py_func, args, named)
    except (ArithmeticError, ValueError):
        return kernel.dispatcher(*args, **named)
    expected = kernel.dispatcher(*others, **dict(zip(named, values, strict=True)))
    assert bits(result) == bits(expected), (kernel.name, result, expected)
    assert bits((args, tuple(named.values()))) == bits((others, values)), kernel.name
    counts[kernel.name] += 1
    return result


@pytest.fixture
def shortlists_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the memory of `live`, which has four times as many rows as its shortlist."""
    monkeypatch.setattr(shortlist, "PAYS", 4)


@pytest.fixture
def counts() -> Iterator[Counter[str]]:
    """How often each exact kernel has run in both forms, since the test began."""
    for mechanism in Registry.read().entries.values():
        mechanism.load()  # declares its kernels
    made: Counter[str] = Counter()
    before = {kernel: kernel.__call__ for kernel in declared if kernel.exact}
    try:
        for kernel in before:
            kernel.__call__ = partial(run_both, made, kernel)
        yield made
    finally:
        for kernel, call in before.items():
            kernel.__call__ = call


def live(set_name: str, embedding: str, shortlist: int = 0) -> None:
    with hb.memory(set_name, embedding=embedding, shortlist=shortlist or None) as memory:
        memory.encode_all(talk(12 if not shortlist else 4 * shortlist))
        for hour, (text, speaker, session) in enumerate(SAID):
            memory.encode(hb.Event(memory.now + 1.0 + hour, text, speaker, session))
        for learn in (False, *[True] * 6, False):
            for question in ASKED:
                memory.retrieve(question, learn=learn)
        memory.advance(memory.now + 48.0)
        memory.retrieve(ASKED[0])


@pytest.mark.parametrize("set_name", slow_unless(("default",), SETS))
def test_both_forms_give_the_same_bits(counts: Counter[str], set_name: str) -> None:
    live(set_name, "hashing:37")  # no multiple of what a vector instruction takes
    assert counts["engine.state.ranking._heap"] > 5


@pytest.mark.slow
@pytest.mark.usefixtures("shortlists_pay")
@pytest.mark.parametrize("set_name", SETS)
def test_both_forms_give_the_same_bits_of_a_shortlist(counts: Counter[str], set_name: str) -> None:
    """There a row stands for several, a number of float32."""
    live(set_name, "hashing:64", shortlist=SHORTLIST)
    assert counts["engine.state.ranking._heap"] > 5


@pytest.mark.slow
@pytest.mark.usefixtures("shortlists_pay")
def test_every_exact_kernel_is_run_in_both_forms(counts: Counter[str]) -> None:
    for set_name in SETS:
        live(set_name, "hashing:64")
    live("default", "hashing:64", shortlist=SHORTLIST)
    with hb.memory("bm25", embedding="hashing:64") as memory:
        memory.encode_all(
            hb.Event(float(n), f"We spoke of {n} boats. {ASKED[0]} " * 20) for n in range(8)
        )
        assemble(memory, ASKED[0], 200, strategy="covering")
    with hb.memory("bm25", embedding="hashing:64") as memory:
        text = "".join(chr(0x4E00 + n * n % 5_003) for n in range(numbering.HASHED_FROM + 1))
        memory.encode(hb.Event(0.0, text))
    assert {kernel.name for kernel in package_kernels() if kernel.exact} - set(counts) == set()
