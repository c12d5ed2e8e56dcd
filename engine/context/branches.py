"""Branches of a context: several ways to go on from one context, as branches of a version control
system are (ContextBranch, which the Context Assembly Specification cites).

A context never changes, so a branch is a name for one, and what is told on it is told to no other.
What one branch found out is taken over into another by name; whatever else was tried there stays
out of the window.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..base.errors import InputError, nearest
from ..contract.records import Event
from .context import Context
from .tokens import LENGTH, TokenCounter

MAIN: Final = "main"
WHERE: Final = "branches of a context"


class ContextBranches:
    """Branches of one context.

    context  with which the branch `main` begins
    counter  the counter of that context

    >>> branches = ContextBranches(Context("", (), 0, "length/4", False, (), "nothing",
    ...                            {"format": "sections", "budget": 90, "max_items": None}))
    >>> branches.branch("idea")
    >>> branches.tell(Event(1.0, "A red hull is too hot."))
    >>> branches.switch("main")
    >>> branches.current, branches.take_over("idea")
    ('main', 1)
    """

    def __init__(self, context: Context, counter: TokenCounter = LENGTH) -> None:
        self._counter, self.current = counter, MAIN
        self._contexts, self._told = {MAIN: context}, {MAIN: tuple[Event, ...]()}

    def __repr__(self) -> str:
        return f"<ContextBranches: {', '.join(self.names)}; now {self.current}>"

    @property
    def names(self) -> tuple[str, ...]:
        """Of all branches, in the order in which they were made."""
        return tuple(self._contexts)

    def context(self, name: str = "") -> Context:
        """The context of a branch; "": of the current one.  Raises InputError."""
        return self._contexts[self._known(name)]

    def told(self, name: str = "") -> tuple[Event, ...]:
        """What was told on a branch and on those that it began from, in order; "": the current
        one.  Raises InputError.
        """
        return self._told[self._known(name)]

    def branch(self, name: str, of: str = "") -> None:
        """Begin a branch where another one stands now, and go on with it; "": the current one.
        Raises InputError for a name that is taken or blank.
        """
        begin = self._known(of)
        if not name.strip() or name in self._contexts:
            raise InputError(
                f"the name {name!r} is {'taken' if name.strip() else 'blank'}",
                where=WHERE,
                cure="give another name",
            )
        self._contexts[name], self._told[name] = self._contexts[begin], self._told[begin]
        self.current = name

    def switch(self, name: str) -> None:
        """Go on with another branch.  Raises InputError."""
        self.current = self._known(name)

    def tell(self, event: Event) -> None:
        """Add an event to the current branch alone, see `Context.updated`.  Raises InputError."""
        self._add((event,))

    def take_over(self, name: str, events: Sequence[Event] | None = None) -> int:
        """Tell the current branch what was told on another one; how many events are new.

        events  of those that were told there; None: all

        Raises InputError, with nothing changed, for an event that was not told there.
        """
        theirs, ours = self.told(name), self.told()
        chosen = theirs if events is None else tuple(events)
        if strange := [event for event in chosen if event not in theirs]:
            raise InputError(
                f"{strange[0]!r} was not told on {name!r}", where=WHERE, cure="look at told(name)"
            )
        new = tuple(event for event in chosen if event not in ours)
        self._add(new)
        return len(new)

    def _add(self, events: Sequence[Event]) -> None:
        context = self.context()
        for event in events:
            context = context.updated(event, self._counter)
        self._contexts[self.current] = context
        self._told[self.current] += tuple(events)

    def _known(self, name: str) -> str:
        name = name or self.current
        if name not in self._contexts:
            raise InputError(
                f"there is no branch {name!r}", where=WHERE, cure=nearest(name, self._contexts)
            )
        return name
