"""Kernels: pure functions of arrays and numbers, compiled when they are first called.

Importing this module, and declaring kernels, loads neither numba nor LLVM: `compiling` does, at the
first call of a kernel.
"""

from __future__ import annotations

import functools
import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import thread_time
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any, Final, TypeVar, cast
from weakref import WeakSet

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

# s of processor time that plain Python takes for an exact kernel before machine code takes over: code
# that lies on disk is loaded soon, and code that has to be compiled is compiled when Python has
# taken about as long as that would.
BEFORE_LOADING: Final = 0.004
BEFORE_COMPILING: Final = 0.1
# s that a call takes at least in plain Python, and that each element of its arrays adds
CALLED: Final = 16e-6
PER_ELEMENT: Final = 1e-6

# every kernel of this process
declared: Final[WeakSet[Kernel]] = WeakSet()
_lock = threading.RLock()


class Kernel:
    """A function that is compiled for the types of its arguments when it is first called with
    them, and kept on disk.

    py_func   the plain function, which tests run beside the compiled one
    options   further options of numba.njit
    compiled  whether Python runs the compiled form; a formula is compiled only within other kernels
    exact     whether plain Python gives the bits of the compiled form, and so runs the first calls
    """

    # a slot that holds what a call runs costs 40 ns a call, a method 150 ns
    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[..., Any]

    def __init__(
        self,
        function: FunctionType,
        options: Mapping[str, Any],
        compiled: bool,
        exact: bool = False,
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.options, self.compiled = function, MappingProxyType(options), compiled
        self.exact, self._taken = exact, 0.0
        self.__call__ = self._first if compiled else function
        declared.add(self)

    def __reduce__(self) -> str | tuple[Any, ...]:
        if (
            "<locals>" in self.py_func.__qualname__
        ):  # closures are told apart by value, as numba tells them apart
            return Kernel, (self.py_func, dict(self.options), self.compiled, self.exact)
        return self.py_func.__qualname__

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    @property
    def name(self) -> str:
        """Module without the package, and name."""
        return f"{self.py_func.__module__.partition('.')[2]}.{self.py_func.__qualname__}"

    @functools.cached_property
    def dispatcher(self) -> Any:
        """What numba makes of the function; nothing is compiled yet."""
        from .compiling import dispatcher

        return dispatcher(
            self.py_func, self.options, self.name, lambda: digest(self), lambda: len(declared)
        )

    @property
    def _numba_type_(self) -> Any:
        """Read by numba where another kernel calls this one."""
        import numba

        typed: Any = numba.typeof(self.dispatcher)  # type: ignore[no-untyped-call]
        return typed

    @functools.cached_property
    def _kept(self) -> bool:
        """Whether a compiled form lies on disk, when this is first asked."""
        from .compiling import is_kept

        with _lock:
            return is_kept(self.dispatcher)

    def _first(self, *args: Any, **named: Any) -> Any:
        if self.exact and self._affordable((args, named.values())):
            start = thread_time()
            try:
                return _plainly(self.py_func, args, named)
            except (ArithmeticError, ValueError):
                pass  # machine code answers with infinity or NaN where Python refuses
            finally:
                self._taken += thread_time() - start
        with _lock:  # one dispatcher for all threads
            self.__call__ = self.dispatcher
        return self.__call__(*args, **named)

    def _affordable(self, values: Iterable[Any]) -> bool:
        """Whether plain Python is to run a call with these arguments, after the calls so far."""
        elements = sum(array.size for array in _arrays(values))
        taken = self._taken + CALLED + PER_ELEMENT * elements
        return taken <= BEFORE_LOADING or (taken <= BEFORE_COMPILING and not self._kept)


def kernel(function: F) -> F:
    """Compile a pure function of arrays and scalars on its first call, and cache it on disk.

    No `self`, no global state, no hidden allocation of the size of the memory.  The plain function
    stays reachable as `kernel.py_func`; the tests run both.  Division by zero gives inf or NaN as
    in numpy.  Loops over elements compile in 0.1 s; expressions of whole arrays, sorting, strings
    and messages of exceptions take seconds, so they stay outside.
    """
    return _declared(function, {}, True)


def exact_kernel(function: F) -> F:
    """As `kernel`, if plain Python gives the same bits: a memory of few rows compiles nothing.

    That holds for comparisons, whole numbers, + - * / of float64 and functions of `math`.  It does
    not hold for functions of numpy other than `sqrt`, for powers, or where a number of float32
    meets one that is written in the source: numpy keeps float32, numba takes float64.
    `tests/engine/test_exact_kernels.py` compares both forms in lives of the sets that ship.
    """
    return _declared(function, {}, True, True)


def summing_kernel(function: F) -> F:
    """As `kernel`, but a sum may be taken in any order, so that the compiler uses vector
    instructions: five times as fast.

    The last bits of a sum depend on the processor, as those of the vector index do, and on the
    places of its terms; equal arrays give equal bits. NaN and infinity are treated as elsewhere.
    """
    return _declared(function, {"fastmath": {"reassoc", "contract"}}, True)


def formula(function: F) -> F:
    """A function of single numbers: plain Python where Python calls it, compiled where a kernel
    calls it.

    Both give equal bits for functions of `math`; those of numpy may differ in the last bit, since
    numpy has its own.  Numbers of float32 are to be made float by the caller.
    """
    return _declared(function, {}, False)


# decorators that an audit knows
KERNELS: Final = (kernel, exact_kernel, summing_kernel, formula)


def _declared(function: F, options: Mapping[str, Any], compiled: bool, exact: bool = False) -> F:
    return cast(F, Kernel(cast(FunctionType, function), options, compiled, exact))


# --- plain Python in place of machine code ---------------------------------------------------------
def plain(kernel: F) -> F:
    """The function of a kernel in plain Python, for arrays of which machine code need not be loaded.
    The sums of a `summing_kernel` are then taken in turn, so a caller chooses by size alone.
    """
    function: FunctionType = cast(Kernel, kernel).py_func

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        return _plainly(function, args, named)

    return cast(F, call)


def _plainly(function: FunctionType, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    """What the compiled form of an exact kernel returns, by plain Python.

    Raises ArithmeticError or ValueError where Python refuses a number; arrays are then as before.
    """
    given = (args, tuple(named.values()))
    before = [(array, array.copy()) for array in _arrays(given) if array.flags.writeable]
    try:
        with np.errstate(all="ignore"):  # as in the compiled form
            placed, by_name = _typed(args), dict(zip(named, _typed(given[1]), strict=True))
            return _of_python(function(*placed, **by_name))
    except (ArithmeticError, ValueError):
        for array, contents in before:
            array[...] = contents
        raise


def _arrays(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, Iterable) and not isinstance(value, str):
            yield from _arrays(value)


def _typed(value: Any) -> Any:
    """Numbers of Python as numbers of the types that numba gives them: 64 bits, also where they
    meet float32.
    """
    if isinstance(value, tuple):
        return tuple(map(_typed, value))
    number = {bool: np.bool_, int: np.int64, float: np.float64}.get(type(value))
    return number(value) if number else value


# --- what is compiled ------------------------------------------------------------------------------
def digest(kernel: Kernel) -> str:
    """SHA-256 of all that decides the machine code of a kernel but its types and the compiler: its
    code, the values that it reads from its module, and the same of every kernel that it calls.
    """
    made = hashlib.sha256()
    for part in _parts(kernel, set()):
        made.update(part.encode("utf-8", "backslashreplace") + b"\0")
    return made.hexdigest()


def _parts(kernel: Kernel, seen: set[int]) -> Iterator[str]:
    if id(kernel) in seen:  # kernels may call each other
        yield kernel.name
        return
    seen.add(id(kernel))
    function = kernel.py_func
    yield f"{kernel.name} {sorted((k, sorted(v)) for k, v in kernel.options.items())}"
    yield from _code(function.__code__, function.__doc__)
    yield from _value(function.__defaults__, seen)
    for cell in function.__closure__ or ():
        yield from _value(cell.cell_contents, seen)
    names = sorted(_names(function.__code__))
    for name in names:
        if name in function.__globals__:
            value = function.__globals__[name]
            yield name
            yield from _value(value, seen)
            if isinstance(value, ModuleType):  # the constants of a module that it reads
                for attribute in names:
                    yield from _value(getattr(value, attribute, None), seen)


def _code(code: CodeType, doc: str | None) -> Iterator[str]:
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_argcount}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant, None)
        elif constant is not doc or doc is None:
            yield repr(constant)


def _names(code: CodeType) -> set[str]:
    inner = (_names(c) for c in code.co_consts if isinstance(c, CodeType))
    return set(code.co_names).union(*inner)


def _value(value: Any, seen: set[int]) -> Iterator[str]:
    """A value as numba freezes it; of functions and types the name, which says what numba takes in
    their place.
    """
    if isinstance(value, Kernel):
        yield from _parts(value, seen)
    elif isinstance(value, tuple):
        yield f"{len(value)} of a tuple"
        for item in value:
            yield from _value(item, seen)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    elif isinstance(value, ModuleType):
        yield value.__name__
    elif hasattr(value, "__qualname__"):
        yield f"{getattr(value, '__module__', '')}.{value.__qualname__}"
    else:
        yield f"{type(value).__qualname__} {value!r}"


# --- compiling ahead -------------------------------------------------------------------------------
@contextmanager
def in_python() -> Iterator[dict[Kernel, set[tuple[Any, ...]]]]:
    """Calls of kernels run as plain Python in the `with` statement, in one thread; the kernels that
    Python called, each with the types for which it would have been compiled.

    >>> half = kernel(lambda x: x / 2.0)
    >>> with in_python() as called:
    ...     half(np.float64(3.0))
    1.5
    >>> [[str(type) for type in types] for types in called[half]]
    [['float64']]
    """
    from numba import typeof

    called: dict[Kernel, set[tuple[Any, ...]]] = {}
    depth = 0

    def noted(kernel: Kernel, *args: Any, **named: Any) -> Any:
        nonlocal depth
        if depth == 0:
            placed = (*args, *named.values()) if not named else _placed(kernel, args, named)
            called.setdefault(kernel, set()).add(tuple(map(typeof, placed)))
        depth += 1
        try:
            with np.errstate(all="ignore"):  # as in the compiled form
                value = kernel.py_func(*args, **named)
        finally:
            depth -= 1
        return value if depth else _of_python(value)

    kernels = [kernel for kernel in declared if kernel.compiled]
    before = [kernel.__call__ for kernel in kernels]
    first = Kernel._first
    try:
        for kernel in kernels:
            kernel.__call__ = functools.partial(noted, kernel)
        # kernels of modules that are imported meanwhile
        Kernel._first = noted  # type: ignore[method-assign, assignment]
        yield called
    finally:
        Kernel._first = first  # type: ignore[method-assign]
        for kernel, run in zip(kernels, before, strict=True):
            kernel.__call__ = run
        # a kernel keeps what it was made with
        known = set(kernels)
        for kernel in declared:
            if kernel.compiled and kernel not in known:
                kernel.__call__ = kernel._first


def _of_python(value: Any) -> Any:
    """Numbers as the compiled form returns them to Python: no scalars of numpy."""
    if isinstance(value, tuple):
        return tuple(map(_of_python, value))
    return value.item() if isinstance(value, np.generic) else value


def _placed(kernel: Kernel, args: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...]:
    names = kernel.py_func.__code__.co_varnames[len(args) : kernel.py_func.__code__.co_argcount]
    return (*args, *(named[name] for name in names if name in named))
