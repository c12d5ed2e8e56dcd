"""The events of a conversation that are read each time that they are iterated, so that a data
set holds none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import overload

from ...engine.contract.records import Event


class Events(Sequence[Event]):
    """The events of a conversation, read anew each time that they are iterated; only the first and
    the last are kept.

    read     gives them in order; it can be pickled
    size     their number
    ends     the first and the last
    by_part  whether they are read in parts, so that one part is in memory at a time; else all of
             them while they are iterated

    Cost: an index or a slice reads up to its end, the first and the last event nothing.
    """

    def __init__(
        self,
        read: Callable[[], Iterable[Event]],
        size: int,
        ends: tuple[Event, Event],
        *,
        by_part: bool = False,
    ) -> None:
        self._read, self._size, self._ends, self.by_part = read, size, ends, by_part

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Event]:
        return iter(self._read())

    @overload
    def __getitem__(self, place: int) -> Event: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Event, ...]: ...

    def __getitem__(self, place: int | slice) -> Event | tuple[Event, ...]:
        chosen = range(self._size)[place]  # raises IndexError
        if isinstance(chosen, int):
            return (
                self._ends[0]
                if chosen == 0
                else self._ends[1]
                if chosen == self._size - 1
                else next(islice(self, chosen, None))
            )
        if not chosen:
            return ()
        low = min(chosen[0], chosen[-1])
        events = tuple(islice(self, low, max(chosen[0], chosen[-1]) + 1))
        return tuple(events[place - low] for place in chosen)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Events | tuple):
            return NotImplemented
        return len(self) == len(other) and all(
            mine == theirs for mine, theirs in zip(self, other, strict=True)
        )

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"<{self._size} events, read when they are iterated>"
