"""Memories for engine checks: a real engine with the specimen's plug-in at the numbers of the
installed registry.

    memory = memory_of(specimen, "dense_similarity", time_scale=1.0, half_life=2.0)
    encode(memory, (0.0, "Ada saw a boat."), (5.0, "Bo lost his keys.", "Bo"))
    memory.advance(48.0)
    memory.retrieve("boat", learn=True)
    memory.column(specimen.LAST_ACCESS)
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..engine.base.errors import ContractError
from ..engine.base.numerics import read_only
from ..engine.catalogue.registry import Registry, Value
from ..engine.contract.columns import Phase
from ..engine.contract.hooks import Mechanism, Params, Read, Touched, hook
from ..engine.contract.records import Event
from ..engine.flow.passes import Instrument
from ..engine.memory.engine import Engine
from ..engine.ports.embedder import Embedder, HashingEmbedder, Spans
from ..engine.ports.language_model import LanguageModel, Reply, Request

Step = Callable[[Any, Any], None]
Told = Event | tuple[float, str] | tuple[float, str, str]


@cache
def registry() -> Registry:
    """The installed registry, read once."""
    return Registry.installed()


class KeptHashing(HashingEmbedder):
    """Hashing that keeps the vectors and the words of texts, since memories of checks are told and
    asked the same texts.
    """

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, d)"""
        vectors = [_vector_of(text, self.dimensions) for text in texts]
        return np.array(vectors, np.float32).reshape(len(texts), self.dimensions)

    def pieces(self, text: str, most: int | None = None) -> Spans:
        """(t, 2) start and end of each word."""
        return _pieces_of(text, most)


@cache
def hashing(dimensions: int) -> HashingEmbedder:
    """One embedder for all memories."""
    return KeptHashing(dimensions)


@cache
def _plain_hashing(dimensions: int) -> HashingEmbedder:
    """The embedder behind `hashing`; there is one, since it keeps the words that it has read."""
    return HashingEmbedder(dimensions)


@lru_cache(maxsize=4096)
def _vector_of(text: str, dimensions: int) -> NDArray[np.float32]:
    vector: NDArray[np.float32] = _plain_hashing(dimensions).embed([text])[0]
    return vector


@lru_cache(maxsize=4096)
def _pieces_of(text: str, most: int | None) -> Spans:
    return read_only(_plain_hashing(1).pieces(text, most))


def numbers_of(id: str, *names: str) -> dict[str, Any]:
    """The numbers with which a mechanism ships, by name in this order: what evidence takes in place
    of a copy.
    """
    return {name: registry().entry(id).params[name].value for name in names}


def plug_in(specimen: Any, *, time_scale: float | None = 1.0, **values: Value) -> Mechanism[Any]:
    """The specimen's plug-in with the parameters of the installed registry; a mutant gives its own
    class.

    time_scale  1: the paper's time; None: the registry's default
    values      parameters with other values
    """
    entry = registry().entry(specimen.id)
    changes = values if time_scale is None else {**values, "time_scale": time_scale}
    return registry().instance(
        entry.id, changes, of=getattr(specimen, entry.path.partition(":")[2])
    )


def shipping(id: str) -> dict[str, Any]:
    """What a stand-in with its own kernels needs, so that `plug_in` gives the parameters with which
    the mechanism of this id ships.
    """
    plug = type(registry().instance(id))
    return {"id": id, plug.__name__: plug}


def with_numbers(specimen: Any, **values: Value) -> Any:
    """A mutant of the numbers that ship: the specimen, whose plug-in computes with other values of
    parameters, whatever a check gives.
    """
    return _with_params(specimen, lambda params: values)


def swapped(specimen: Any, one: str, other: str) -> Any:
    """A mutant that takes one parameter for another: the specimen, whose plug-in computes with the
    values of two parameters exchanged.  Where both are equal it is no mutant.
    """
    return _with_params(
        specimen, lambda params: {one: getattr(params, other), other: getattr(params, one)}
    )


def _with_params(specimen: Any, changes: Callable[[Any], Mapping[str, Value]]) -> Any:
    name = registry().entry(specimen.id).path.partition(":")[2]
    original = getattr(specimen, name)

    def begin(self: Any, id: str, params: Any, *rest: Any) -> None:
        original.__init__(self, id, dataclasses.replace(params, **changes(params)), *rest)

    changed = types.new_class(name, (original,), {}, lambda space: space.update(__init__=begin))
    return specimen.replacing(name, changed)


def memory_of(
    specimen: Any,
    *others: str | Mechanism[Any],
    time_scale: float | None = 1.0,
    embedder: Embedder | None = None,
    seed: int = 0,
    tick_hours: float = 1.0,
    consolidate_every: float = 24.0,
    observer: Instrument | None = None,
    language_model: LanguageModel | None = None,
    capacity: int | None = None,
    **values: Value,
) -> Engine:
    """A memory with the specimen's plug-in and its neighbours.

    others    ids of mechanisms of the registry, or mechanisms such as `neighbour` makes
    embedder  None: hashing, 16 dimensions
    Others as for `plug_in` and Engine.
    """
    company = [registry().instance(other) if isinstance(other, str) else other for other in others]
    return Engine(
        [plug_in(specimen, time_scale=time_scale, **values), *company],
        embedder or hashing(16),
        seed=seed,
        tick_hours=tick_hours,
        consolidate_every=consolidate_every,
        observer=observer,
        language_model=language_model,
        capacity=capacity,
    )


def encode(memory: Engine, *log: Told) -> list[int | None]:
    """Encode events one by one: an Event, or (time in hours, text) or (time, text, speaker),
    undated.  Their rows; None if a gate refused it.
    """
    return [
        memory.encode(
            told
            if isinstance(told, Event)
            else Event(told[0], told[1], told[2] if len(told) > 2 else "", dated=False)
        ).row
        for told in log
    ]


class Scripted:
    """An embedder that gives each text its own vector, made unit length; the speaker before an
    event's text does not count.

    vectors  text -> (d,)
    """

    name, revision = "scripted", "1"

    def __init__(self, vectors: Mapping[str, ArrayLike]) -> None:
        self._vectors = {text: _unit(np.asarray(v, np.float64)) for text, v in vectors.items()}
        self.dimensions = len(next(iter(self._vectors.values())))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d) float32.  Raises ContractError for a text without a vector."""
        return (
            np.stack([self._vector(text) for text in texts])
            if texts
            else np.empty((0, self.dimensions), np.float32)
        )

    def _vector(self, text: str) -> NDArray[np.float32]:
        for known in (text, text.partition(": ")[2]):
            if known in self._vectors:
                return self._vectors[known]
        raise ContractError(
            f"{text!r} has no vector", where="Scripted", cure="give one for every event and query"
        )


class FunctionModel:
    """A language model that answers each request by a function: with a JSON value, the text of a
    reply, or a Reply.

    asked  the requests so far
    """

    name, revision = "answering", "1"

    def __init__(self, answer: Callable[[Request], Any]) -> None:
        self._answer, self.asked = answer, list[Request]()

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        self.asked += requests
        return [self._reply(request) for request in requests]

    def _reply(self, request: Request) -> Reply:
        given = self._answer(request)
        if isinstance(given, Reply):
            return given
        return Reply.read(request, given if isinstance(given, str) else json.dumps(given))


def lines_with(prompt: str, *marks: str) -> list[int]:
    r"""The numbers of the numbered lines of a prompt, all but its first, in which a mark stands.

    >>> lines_with('QUESTION "Who?"\n1 "Ada sang."\n2 "Bo left."', "Bo", "Cleo")
    [2]
    """
    _, *numbered = prompt.splitlines()
    return [n for n, line in enumerate(numbered, 1) if any(mark in line for mark in marks)]


def _unit(v: NDArray[np.float64]) -> NDArray[np.float32]:
    return np.asarray(v / np.linalg.norm(v), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class NeighbourParams(Params):
    weight: float


def neighbour(
    phase: Phase,
    step: Step,
    *,
    reads: tuple[Read, ...] = (),
    adds: tuple[Touched, ...] = (),
    sets: tuple[Touched, ...] = (),
    owns: tuple[Touched, ...] = (),
    id: str = "neighbour",
    weight: float = 1.0,
    order: int = -1,
) -> Mechanism[Any]:
    """A mechanism with one hook, `step(view, what)`, to give the specimen what it reads or to
    record what it leaves.

    reads, adds, sets  as for `hook`;  owns  columns of its own;  weight  of its signals;  order
                                             -1: before all of the registry
    """

    def act(self: Any, view: Any, what: Any) -> None:
        step(view, what)

    body = {
        "owns": owns,
        "act": hook(phase, reads=reads, adds=adds, sets=sets)(act),
        "params_class": NeighbourParams,
        "__module__": __name__,
    }
    made: type[Mechanism[Any]] = types.new_class(
        "Neighbour", (Mechanism,), {}, lambda space: space.update(body)
    )
    return made(id, NeighbourParams(1.0, weight), {}, order)
