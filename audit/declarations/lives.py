"""What the checks of declarations look at: the life of a mechanism in the usual company, and what its
hooks read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.catalogue.registry import Entry, Registry, Value
from ...engine.contract.columns import Phase, Signal
from ...engine.contract.hooks import Hook, Touched, item_of
from ...engine.memory.engine import Engine
from ..effects import typed
from ..life import QUESTIONS, TOLD, Circumstances, ShortWindow, lived, replying, used_in_session
from ..named_cells import NamedCells, columns_to_name

ROUNDING: Final = 1e-6  # difference of two scores that counts as none
# h; so that a memory sleeps within sessions
OFTEN: Final[Mapping[str, Any]] = {"consolidate_every": 6.0, "rest": 12.0}
NAMES: Final = ("Ada", "Bo", "Cleo", "Dora", "Eve", "Finn", "Gus", "Hal")
BY_MANY: Final = tuple(
    (later, session, NAMES[number % len(NAMES)], text)
    for number, (later, session, _, text) in enumerate(TOLD)
)


class Exchanged(ShortWindow):
    """Hashing that gives some texts the vectors of others.

    other    text -> text whose vector it gets
    opposed  texts that get the opposite of their vector
    """

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self.other: Mapping[str, str] = {}
        self.opposed: frozenset[str] = frozenset()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = super().embed([self.other.get(text, text) for text in texts])
        if self.opposed and len(texts):
            vectors = vectors * np.where([text in self.opposed for text in texts], -1.0, 1.0)[
                :, None
            ].astype(np.float32)
        return vectors


def used_life(registry: Registry, id: str, around: Circumstances, **ways: Any) -> Engine:
    """A life whose texts do not say when they were told, with a language model, in which memories are
    used in their sessions and sleep comes within sessions.
    """
    return lived(
        registry,
        id,
        around,
        undated=True,
        language_model=replying(),
        after=used_in_session,
        **OFTEN,
        **ways,
    )


class PlainLife:
    """Lives of a mechanism in the usual company, each lived once for all checks that only look at it.

    embedder  by which questions get vectors of other texts
    """

    def __init__(self, entry: Entry, registry: Registry) -> None:
        self._entry, self._registry = entry, registry
        self.embedder = Exchanged(32)

    @cached_property
    def _lived(self) -> tuple[Engine, NamedCells]:
        """The life, with the cells that its hooks did not name."""
        named = NamedCells()
        ways: dict[str, Any] = {"embedder": self.embedder, "observer": named}
        return lived(self._registry, self._entry.id, **ways), named

    @property
    def memory(self) -> Engine:
        return self._lived[0]

    @cached_property
    def used(self) -> Engine:
        """As `used_life`."""
        return used_life(self._registry, self._entry.id, Circumstances())

    @property
    def unnamed(self) -> list[str]:
        """Cells of earlier rows and edges that hooks of the mechanism change and do not name, in
        words.
        """
        if any(map(columns_to_name, self._entry.load().hooks())):
            return self._lived[1].of(self._entry.id)
        return []

    @cached_property
    def heard(self) -> Engine:
        """`memory`, if signals of the mechanism give scores there.  Else the life with a language
        model, and with weight 1 for a mechanism that ships with weight 0; if no signal gives scores
        there either, eight people tell it.
        """
        choices = audible(self._entry)
        if not choices and self._speaks(self.memory):
            return self.memory
        around = Circumstances(choices=choices)
        ways: dict[str, Any] = {"embedder": self.embedder, "language_model": replying()}
        memory = lived(self._registry, self._entry.id, around, **ways)
        if self._speaks(memory):
            return memory
        return lived(self._registry, self._entry.id, around, told=BY_MANY, **ways)

    def _speaks(self, memory: Engine) -> bool:
        signals = [c for c in self._entry.load().owns if isinstance(c, Signal)]
        memory.retrieve(QUESTIONS[0])
        memory.retrieve(QUESTIONS[1])
        return any(not np.isnan(memory.column(s)).all() for s in signals)


def read_by(hooks: Iterable[Hook]) -> set[Touched]:
    """The columns and structures that hooks read."""
    return {item_of(read) for declared in hooks for read in declared.reads}


def audible(entry: Entry) -> dict[str, Value]:
    """Weight 1 for a mechanism that ships with weight 0, whose signals nobody would hear."""
    weight = entry.params.get("weight")
    return {} if weight is None or weight.value else {"weight": 1.0}


def learnt_by(hooks: Iterable[Hook]) -> set[Touched]:
    """What hooks change in sleep or with time."""
    return {
        c
        for declared in hooks
        if declared.phase in (Phase.CONSOLIDATE, Phase.MAINTAIN)
        for c in (*declared.adds, *declared.sets)
    }


def shipped_and_switched_on(entry: Entry) -> Iterator[Circumstances]:
    """A mechanism as it ships, and with all that it ships without, if it ships without something."""
    yield Circumstances()
    if choices := _switched_on(entry):
        yield Circumstances(choices=choices)


def _switched_on(entry: Entry) -> dict[str, Value]:
    """Choices by which a mechanism does what it ships without: numbers that are 0, and questions to a
    language model.
    """
    asked: dict[str, Value] = {
        name: p.value is False or "model"
        for name, p in entry.params.items()
        if (name == "model" and p.value is False) or ("model" in p.choices and p.value != "model")
    }
    return asked | {
        name: typed(entry, name, 1.0 if p.high is None else min(1.0, p.high))
        for name, p in entry.params.items()
        if name != "weight" and not isinstance(p.value, (bool, str)) and p.value == 0
    }
