"""Components: the parts of a context."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .condensers import Form


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
    source   id of the mechanism that offered it; "" for a strategy without mechanisms
    day      line under which it stands with others of the same day; "": none
    """

    kind: ComponentKind
    row: int
    text: str
    tokens: int
    score: float
    section: str
    form: Form
    source: str = ""
    day: str = ""
