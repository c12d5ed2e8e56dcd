"""Contexts: the text that a reader gets, its components, and what was cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import floor, inf
from typing import Any, Final

from ..base.errors import InputError
from ..base.tables import brief, html_table
from ..contract.records import Event, no_event
from ..state.ranking import Answer
from .banner import Cut
from .components import Component, ComponentKind
from .condensers import Form, condensed_to
from .formats import LAYOUTS, Format
from .kinds import as_activity
from .selection import lay_out
from .tokens import LENGTH, TokenCounter

SHOWN = 60  # characters of a text in one line
RECENT: Final = "Recent Activity"


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
    metadata    the query, the budget (None: by number of items), the format and how many candidates
                were looked at; of sources also how many each offered and the tokens that it spent
    answer      from which it was made, for `Engine.use`; None: from none
    seconds     that it took, the retrieval included; equal contexts may differ in it

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
    answer: Answer | None = field(default=None, repr=False, compare=False)
    seconds: float = field(default=0.0, repr=False, compare=False)

    def updated(self, event: Event, counter: TokenCounter = LENGTH) -> Context:
        """The context with a new event first, under the heading "Recent Activity"; components of
        the lowest score are left out until it fits.

        event    need not be stored; shown whole, or condensed if it does not fit alone
        counter  the counter of this context

        A component of equal score that stands later is left out first.  The context itself stays as
        it is.  Raises InputError for what is no event, and for another counter.  Cost: one counting of
        the text for each component that is left out.
        """
        if not isinstance(event, Event):
            raise no_event(event, "context")
        if counter.name != self.counter:
            raise InputError(
                f"the context was counted as {self.counter}, not as {counter.name}",
                where="context",
                cure="give the counter with which the context was assembled",
            )
        form, budget, most = (
            LAYOUTS[self.metadata["format"]],
            self.metadata["budget"],
            self.metadata["max_items"],
        )
        new, whole = _said(event, form, budget, counter), counter.tokens(event.text)
        before = (new, *self.components)
        # if a banner leaves no room for anything else, there is none
        for said in (True, False):
            kept = list(before if new.text else self.components)
            while True:
                cut = _cut_again(self.cut, before, kept, whole)
                text = lay_out(kept, cut if said else (), form)
                few = most is None or sum(c.kind is not ComponentKind.CUSTOM for c in kept) <= most
                if (
                    (budget is None or counter.tokens(text) <= budget)
                    and few
                    and (kept or not said)
                ):
                    return replace(
                        self,
                        text=text,
                        components=tuple(kept),
                        tokens=counter.tokens(text),
                        truncated=bool(cut),
                        cut=cut,
                    )
                if not kept:
                    break
                kept.pop(min(range(len(kept)), key=lambda n: (kept[n].score, -n)))
        return replace(self, text="", components=(), tokens=0, truncated=bool(cut), cut=cut)

    def plain(self) -> dict[str, Any]:
        """All fields but the answer and the time that it took, as JSON takes them."""
        return {
            name: value
            for name, value in asdict(replace(self, answer=None)).items()
            if name not in ("answer", "seconds")
        }

    def __repr__(self) -> str:
        return f"<Context by {self.strategy}: {len(self.components)} components, {self.tokens:,} tokens{', truncated' if self.truncated else ''}>"

    def _repr_html_(self) -> str:
        cells = ((c.section, c.kind.value, c.row, c.form.value, c.tokens, f"{c.score:z.3f}",
                  brief(c.text, SHOWN)) for c in self.components)  # fmt: skip
        return html_table(("section", "kind", "row", "form", "tokens", "score", "text"), cells)


@dataclass(frozen=True, slots=True)
class ContextReader:
    """Who reads a context: a language model.

    window   tokens that it reads in all
    reserve  share of them that is kept for its instructions and its answer

    Raises InputError for a window below 1 and a reserve outside [0, 1).

    >>> ContextReader(8192).budget
    6144
    """

    window: int
    reserve: float = 0.25

    def __post_init__(self) -> None:
        if isinstance(self.window, bool) or not isinstance(self.window, int) or self.window < 1:
            raise InputError(
                f"a window of {self.window!r} tokens", where="reader", cure="give a number from 1"
            )
        if not 0.0 <= self.reserve < 1.0:
            raise InputError(
                f"a reserve of {self.reserve!r}",
                where="reader",
                cure="give a share from 0 to below 1",
            )

    @property
    def budget(self) -> int:
        """Tokens of a context."""
        return floor(self.window * (1.0 - self.reserve))


def _said(event: Event, form: Format, budget: int | None, counter: TokenCounter) -> Component:
    """The event as a component, condensed if it does not fit into the budget alone; with the
    text "" if nothing of it fits.
    """
    asked = as_activity(event, ComponentKind.RECENT, -1, inf, RECENT)

    def shown(text: str, how: Form) -> Component:
        item = form.item(asked, text, how)
        return Component(
            asked.kind,
            -1,
            item,
            counter.tokens(item),
            asked.score,
            asked.section,
            how,
            day=form.day(asked),
        )

    whole = shown(asked.text, asked.form)
    if budget is None or counter.tokens(lay_out([whole], (), form)) <= budget:
        return whole
    room = budget - counter.tokens(lay_out([shown("", Form.CUT)], (), form))
    shorter = condensed_to(asked.text, room, counter) if form.condenses else None
    if shorter and shorter.text:
        return shown(shorter.text, shorter.form)
    return (
        shown("", Form.CUT)
        if asked.before.strip() and form.condenses and room >= 0
        else replace(whole, text="", tokens=0, form=Form.CUT)
    )


def _cut_again(
    cuts: Sequence[Cut], before: Sequence[Component], kept: Sequence[Component], whole: int
) -> tuple[Cut, ...]:
    """What is shown of each section now.

    cuts    of the context as it was
    before  its components, and the new one first
    whole   tokens of the new event
    """
    known, renewed = {cut.section: cut for cut in cuts}, []
    for section in dict.fromkeys([*(c.section for c in before), *known]):
        was, now = (
            [c for c in components if c.section == section] for components in (before, kept)
        )
        new = before[0].section == section
        cut = known.get(section)
        old = [c for c in was if c is not before[0]]
        of = (cut.of if cut else len(old)) + new
        tokens = (cut.of_tokens if cut else sum(c.tokens for c in old)) + new * max(
            whole, before[0].tokens
        )
        if len(now) < of or any(c.form is not Form.WHOLE for c in now):
            renewed.append(Cut(section, len(now), of, sum(c.tokens for c in now), tokens))
    return tuple(renewed)
