"""Contexts: the text that a reader gets, its components, and what was cut."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import floor
from typing import Any

from ..errors import InputError
from ..tables import brief, html_table
from .banner import Cut
from .condensers import Form

SHOWN = 60      # characters of a text in one line


class ComponentKind(StrEnum):
    """Where a component comes from."""

    RECENT = "recent"
    SEMANTIC = "semantic"
    ENTITY = "entity"
    RELATION = "relation"
    PATTERN = "pattern"
    SUMMARY = "summary"
    TASK = "task"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class Component:
    """One part of a context.

    row      of the memory; -1 for a text that is no memory
    text     as it stands in the context: head, escaped text, and a breadcrumb if it is condensed
    tokens   of this text
    score    by which it was chosen
    section  that it stands in
    form     how much of its text is shown
    """

    kind: ComponentKind
    row: int
    text: str
    tokens: int
    score: float
    section: str
    form: Form


@dataclass(frozen=True, slots=True)
class Context:
    """A context under a budget of tokens.

    text        what the reader gets
    components  in the order of the text
    tokens      of the whole text, as `counter` counts
    counter     name of the counter
    truncated   whether something was left out or condensed
    cut         by section, what is shown of what could be
    strategy    name
    metadata    the query, the budget (None: by number of items), the format and how many candidates were looked at; no times

    >>> Context("", (), 0, "length/4", False, (), "nothing", {})
    <Context by nothing: 0 components, 0 tokens>
    """

    text: str
    components: tuple[Component, ...]
    tokens: int
    counter: str
    truncated: bool
    cut: tuple[Cut, ...]
    strategy: str
    metadata: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"<Context by {self.strategy}: {len(self.components)} components, {self.tokens:,} tokens{', truncated' if self.truncated else ''}>"

    def _repr_html_(self) -> str:
        cells = ((c.section, c.kind.value, c.row, c.form.value, c.tokens, f"{c.score:.3f}", brief(c.text, SHOWN)) for c in self.components)
        return html_table(("section", "kind", "row", "form", "tokens", "score", "text"), cells)


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads a context: a language model.

    window   tokens that it reads in all
    reserve  share of them that is kept for its instructions and its answer

    Raises InputError for a window below 1 and a reserve outside [0, 1).

    >>> Reader(8192).budget
    6144
    """

    window: int
    reserve: float = 0.25

    def __post_init__(self) -> None:
        if isinstance(self.window, bool) or not isinstance(self.window, int) or self.window < 1:
            raise InputError(f"a window of {self.window!r} tokens", where="reader", cure="give a number from 1")
        if not 0.0 <= self.reserve < 1.0:
            raise InputError(f"a reserve of {self.reserve!r}", where="reader", cure="give a share from 0 to below 1")

    @property
    def budget(self) -> int:
        """Tokens of a context."""
        return floor(self.window * (1.0 - self.reserve))
