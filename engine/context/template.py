"""Templates: a text with named places for contents, filled under a budget of tokens.

The shell is the text with empty slots.  What the budget leaves is shared among the slots in
proportion to what they hold.  If the filled text is above the budget, the least important slot is
condensed to its share, then the next; if all are condensed and the text is still above, the least
important slot is halved until it fits, and after it is empty the next.

A template with the place `{truncated}` says there what was cut and by how much, so that the model
that reads it knows what it does not see; the place is empty if nothing was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..base.errors import InputError, nearest
from .banner import Cut, banner
from .condensers import condense, cut
from .context import Context
from .quoting import quoted, unescaped
from .tokens import LENGTH, TokenCounter

Condenser = Callable[[str, int, TokenCounter], str]
_PLACE: Final = re.compile(r"\{(\w+)\}")
WHERE: Final = "template"
TRUNCATED: Final = "truncated"  # the place of the banner


def prose(text: str, tokens: int, counter: TokenCounter) -> str:
    """`condense` without a query: the condenser of a slot that names none."""
    return condense(text, tokens, counter)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a template.

    name       `{name}` in the text
    priority   importance: 1 before 2; the slot with the highest number is condensed first, of equal
               numbers that which stands last
    condenser  makes a text of at most so many tokens; one that does not keep to them is cut
    quoted     whether its content is data: it is escaped and fenced, after it was condensed
    """

    name: str
    priority: int
    condenser: Condenser = prose
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Filled:
    """A filled template.

    cut   slots that hold less than they were given, in the order of the template
    """

    text: str
    tokens: int
    cut: tuple[Cut, ...]


class Template:
    """A text with slots.

    text    `{name}` for each slot, exactly once, and `{truncated}` once or not at all; every other
            brace stands as it is
    slots   one for each place

    Raises InputError for a template without slots, a slot named twice, and a slot or place without
    the other.

    >>> ask = Template("Known: {known}\\nQuestion: {question}", [Slot("known", 2), Slot("question", 1)])
    >>> ask.fill({"known": "Ada moved to Oslo. She likes it there.", "question": "Where is Ada?"}, 15).text
    'Known: Ada moved to Oslo.\\nQuestion: Where is Ada?'
    """

    def __init__(self, text: str, slots: Sequence[Slot]) -> None:
        names = [slot.name for slot in slots]
        if not names:
            raise InputError(
                "it has no slots",
                where=WHERE,
                cure="give at least one Slot, and {name} in the text",
            )
        if twice := [name for name in names if names.count(name) > 1]:
            raise InputError(
                f"the slot {twice[0]!r} is named twice",
                where=WHERE,
                cure="give each slot its own name",
            )
        pieces = _PLACE.split(text)
        named = [name for name in pieces[1::2] if name in names]
        for name in names:
            if named.count(name) != 1:
                raise InputError(
                    f"the text has {{{name}}} {named.count(name)} times",
                    where=WHERE,
                    cure=f"write {{{name}}} exactly once in the text",
                )
        self.slots = {slot.name: slot for slot in slots}
        self._says = TRUNCATED in pieces[1::2] and TRUNCATED not in names
        if self._says and pieces[1::2].count(TRUNCATED) > 1:
            raise InputError(
                "the text has {truncated} twice",
                where=WHERE,
                cure="write {truncated} once, where the reader should learn what was cut",
            )
        # (text before, slot); the last has no slot
        self._pieces: list[tuple[str, str]] = [("", "")]
        for place, piece in enumerate(pieces):
            if place % 2 == 0 or (
                piece not in self.slots and not (self._says and piece == TRUNCATED)
            ):
                before, _ = self._pieces.pop()
                self._pieces.append((before + (piece if place % 2 == 0 else f"{{{piece}}}"), ""))
            else:
                before, _ = self._pieces.pop()
                self._pieces += [(before, piece), ("", "")]

    def fill(
        self, contents: Mapping[str, str], budget: int, counter: TokenCounter = LENGTH
    ) -> Filled:
        """The text with these contents, at most `budget` tokens.  A slot without content is empty.

        Raises InputError for a content without a slot, and for a shell above the budget, by how
        much.  Cost: a few countings of the text for each slot that is cut.
        """
        if unknown := [name for name in contents if name not in self.slots]:
            raise InputError(
                f"there is no slot {unknown[0]!r}",
                where=WHERE,
                cure=nearest(unknown[0], self.slots),
            )
        held = {name: contents.get(name, "") for name in self.slots}
        shell = counter.tokens(self._text(dict.fromkeys(held, ""), ""))
        if shell > budget:
            raise InputError(
                f"the text without its slots has {shell:,} tokens, {shell - budget:,} above the budget of {budget:,}",
                where=WHERE,
                cure="shorten the text of the template, or give a larger budget",
            )
        kept = self._condensed(held, budget - shell, budget, counter)
        said = self._said(held, kept, counter)
        # in the end the banner itself gives way
        text = next(
            text
            for text in (self._text(kept, said), self._text(kept, ""))
            if counter.tokens(text) <= budget
        )
        return Filled(text, counter.tokens(text), self._cuts(held, kept, counter))

    @staticmethod
    def _cuts(
        held: Mapping[str, str], kept: Mapping[str, str], counter: TokenCounter
    ) -> tuple[Cut, ...]:
        """The slots that hold less than they were given."""
        return tuple(
            Cut(
                name,
                int(bool(kept[name])),
                1,
                counter.tokens(kept[name]),
                counter.tokens(held[name]),
            )
            for name in held
            if kept[name] != held[name]
        )

    def _said(self, held: Mapping[str, str], kept: Mapping[str, str], counter: TokenCounter) -> str:
        """What stands at `{truncated}`."""
        return banner(self._cuts(held, kept, counter)) if self._says else ""

    def _condensed(
        self, held: Mapping[str, str], left: int, budget: int, counter: TokenCounter
    ) -> dict[str, str]:
        """The contents, condensed as far as the budget needs."""
        kept = dict(held)

        def fits() -> bool:
            text = self._text(kept, self._said(held, kept, counter))
            return counter.tokens(text) <= budget

        if fits():
            return kept
        sizes = {name: counter.tokens(self._shown(name, text)) for name, text in held.items()}
        if self._says:  # room for a banner that names every slot
            full = [Cut(name, 1, 1, size, size) for name, size in sizes.items() if size]
            left = max(left - counter.tokens(banner(full)), 0)
        places = list(self.slots)
        least_first = sorted(
            self.slots.values(), key=lambda slot: (-slot.priority, -places.index(slot.name))
        )
        for slot in least_first:
            share = left * sizes[slot.name] // max(sum(sizes.values()), 1)
            kept[slot.name] = self._to(slot, held[slot.name], share, counter)
            if fits():
                return kept
        for slot in least_first:
            while kept[slot.name]:
                kept[slot.name] = _halved(kept[slot.name], counter)
                if fits():
                    return kept
        return kept

    def _to(self, slot: Slot, text: str, tokens: int, counter: TokenCounter) -> str:
        """The content condensed to so many tokens, those of its quotation marks included."""
        room = tokens - (counter.tokens(quoted("")) if slot.quoted else 0)
        content = slot.condenser(text, max(room, 0), counter)
        return content if counter.tokens(content) <= max(room, 0) else cut(content, room, counter)

    def _shown(self, name: str, text: str) -> str:
        return quoted(text, name) if text and self.slots[name].quoted else text

    def _text(self, contents: Mapping[str, str], said: str) -> str:
        """The filled text, with what is said at `{truncated}`."""
        return "".join(
            before
            + (
                said
                if name == TRUNCATED and self._says
                else self._shown(name, contents[name])
                if name
                else ""
            )
            for before, name in self._pieces
        )


def sections_of(context: Context) -> tuple[list[Slot], dict[str, str]]:
    """The sections of a context as slots of a template, and what they hold: the first section is
    the most important.  A slot's name is its section in lower case with underscores, such as
    `current_stage_context`.  Contents are quoted when the template is filled.

    >>> sections_of(Context("", (), 0, "length/4", False, (), "nothing", {}))
    ([], {})
    """
    held: dict[str, list[str]] = {}
    for component in context.components:
        name = re.sub(r"\W+", "_", component.section.casefold()).strip("_") or "context"
        held.setdefault(name, []).append(unescaped(component.text))
    slots = [Slot(name, place, quoted=True) for place, name in enumerate(held, 1)]
    return slots, {name: "\n".join(texts) for name, texts in held.items()}


def _halved(text: str, counter: TokenCounter) -> str:
    """At most half of the text; "" in the end."""
    half = cut(text, counter.tokens(text) // 2, counter)
    return half if len(half) < len(text) else ""
