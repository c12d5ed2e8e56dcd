"""Selecting candidates under a budget, and laying them out: two separate pure functions."""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from types import MappingProxyType

from ..errors import InputError
from .banner import Cut, banner
from .condensers import Form, condensed_to, cut
from .context import Component, ComponentKind
from .formats import Candidate, Format
from .quoting import fence
from .tokens import TokenCounter

LEAST = 8           # tokens of the shortest component worth showing, head included
TRIED = 16          # candidates that are condensed, at most, to fill what is left
SLACK = 4           # pieces of a tokeniser by which a banner may be longer than one with longer numbers
SPENT = 0.1         # share of the budget above which what is left is filled with the first part of a candidate
ADDITIONAL = "Additional Context"
NO_SHARES: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Selection:
    """What a context shows.

    components  in the order of the text
    cut         sections that are not shown whole
    said        whether there is room for the banner that says so
    """

    components: tuple[Component, ...]
    cut: tuple[Cut, ...]
    said: bool = True


def select(candidates: Sequence[Candidate], budget: int | None, counter: TokenCounter, form: Format, *, max_items: int | None = None,
           also: str = "", about: Collection[str] = (), in_time: bool = False, shares: Mapping[str, float] = NO_SHARES) -> Selection:
    """The candidates that fit, in the given order, best first: whole where they fit, then condensed into what is left.  A row is shown once.

    budget     tokens of the laid-out text; None: no limit, and nothing is condensed
    max_items  most components, apart from `also`
    also       a text of the asker, which comes first and is condensed if it does not fit alone
    about      stems, see `condense`
    in_time    whether components stand in order of time, those without a time last, else in the order given
    shares     percent of the budget that each section may use first; what is left over goes to all candidates in the given order

    `lay_out` of the selection has at most `budget` tokens.  If a banner leaves no room for anything else, there is none.
    Raises InputError for a share below 0 and shares above 100 in all.
    Cost: a counting of each candidate, and of the laid-out text a few times.
    """
    if not all(share >= 0.0 for share in shares.values()) or sum(shares.values()) > 100.0:
        raise InputError(f"the shares {dict(shares)} are below 0, or above 100 in all", where="context",
                         cure="give percent of the budget, at most 100 in all")
    candidates = _once(candidates)
    most = len(candidates) if max_items is None else max_items
    if budget is None or sum(counter.units(c.text) for c in candidates) <= budget * counter.per_token:
        shown = {n: _component(c, c.text, c.form, counter, form) for n, c in enumerate(candidates[:most])}
        whole = Selection((*_ordered(shown, candidates, in_time), *_also(also, None, counter)), ())
        forms = {c.form for c in candidates}
        if budget is None or (most >= len(candidates) and forms <= {Form.WHOLE} and counter.tokens(lay_out(whole.components, (), form)) <= budget):
            return whole
    found = _fitted(candidates, budget, counter, form, most, also, about, in_time, shares, said=True)
    return found if found.components or not found.cut else _fitted(candidates, budget, counter, form, most, also, about, in_time, shares, said=False)


def _fitted(candidates: Sequence[Candidate], budget: int, counter: TokenCounter, form: Format, most: int, also: str, about: Collection[str],
            in_time: bool, shares: Mapping[str, float], said: bool) -> Selection:
    """`select` under a budget; `said`: with a banner, if something is cut."""
    chosen: dict[int, Component] = {}
    tried: set[int] = set()
    extra = _also(also, budget - counter.tokens(lay_out(_also(".", None, counter), (), form)) + 1, counter)
    items = [form.item(c, c.text, c.form) for c in candidates]
    if shares:
        _add_shares(chosen, candidates, items, most, _room(chosen, extra, candidates, budget, counter, form, said), shares, counter, form)
    while True:                     # the second round spends what was kept for the banner
        before = len(chosen)
        room = _room(chosen, extra, candidates, budget, counter, form, said)
        _add(chosen, tried, candidates, items, most, room, budget, counter, form, about)
        if len(chosen) == before or len(chosen) >= most:
            break
    order = sorted(chosen, key=lambda n: (chosen[n].form is Form.WHOLE, -n))       # given up first: condensed ones, then the last
    while True:
        components = _ordered(chosen, candidates, in_time)
        cuts = _cuts(chosen, candidates, items, counter, also, extra)
        found = Selection((*components, *extra), cuts, said)
        if counter.tokens(lay_out(found.components, cuts if said else (), form)) <= budget:
            return found
        if order:
            del chosen[order.pop(0)]
        elif extra:
            extra = ()
        else:
            return Selection((), cuts, False)


def lay_out(components: Sequence[Component], cuts: Sequence[Cut], form: Format) -> str:
    """The text of a selection: a banner about `cuts`, then each section under its heading, its memories inside one fence.  O(length)."""
    parts = [line] if form.headings and (line := banner(cuts)) else []
    for section in dict.fromkeys(c.section for c in components):
        shown = [c for c in components if c.section == section]
        body = form.between.join(c.text for c in shown)
        if any(c.kind is not ComponentKind.CUSTOM for c in shown):
            marks = fence([body])
            body = f"{marks}memories\n{body}\n{marks}"
        parts.append(f"## {section}\n\n{body}" if form.headings else body)
    return "\n\n".join(parts)


def _ordered(chosen: Mapping[int, Component], candidates: Sequence[Candidate], in_time: bool) -> tuple[Component, ...]:
    """In the order of choice or of time, section by section."""
    sections = list(dict.fromkeys(c.section for c in candidates))

    def place(n: int) -> tuple[int, float, int]:
        time = candidates[n].time
        return sections.index(candidates[n].section), (inf if time is None else time) if in_time else 0.0, n

    return tuple(chosen[n] for n in sorted(chosen, key=place))


def _once(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates without those whose row stands before them."""
    first: dict[int, int] = {}
    for n, c in enumerate(candidates):
        first.setdefault(c.row, n)
    return [c for n, c in enumerate(candidates) if c.row < 0 or first[c.row] == n]


def _add_shares(chosen: dict[int, Component], candidates: Sequence[Candidate], items: Sequence[str], most: int, room: int,
                shares: Mapping[str, float], counter: TokenCounter, form: Format) -> None:
    """Add whole candidates within the share of `room` of their section."""
    gap = counter.units(form.between)
    left = {section: room * share / 100.0 for section, share in shares.items()}
    for n, (c, item) in enumerate(zip(candidates, items, strict=True)):
        if len(chosen) < most and (size := counter.units(item) + gap) <= left.get(c.section, -1.0):
            chosen[n] = _component(c, c.text, c.form, counter, form)
            left[c.section] -= size


def _add(chosen: dict[int, Component], tried: set[int], candidates: Sequence[Candidate], items: Sequence[str], most: int, room: int,
         budget: int, counter: TokenCounter, form: Format, about: Collection[str]) -> None:
    """Add whole candidates that fit into `room` units, then condensed ones, then the first part of one if much of the budget is left."""
    gap = counter.units(form.between)

    def left(c: Candidate) -> int:
        """Tokens for the text of a condensed candidate."""
        return (room - gap - counter.units(form.item(c, "", Form.CUT))) // counter.per_token

    for n, item in enumerate(items):
        if n not in chosen and len(chosen) < most and room > 0:
            if (size := counter.units(item) + gap) <= room:
                chosen[n] = _component(candidates[n], candidates[n].text, candidates[n].form, counter, form)
                room -= size
            elif not form.condenses:
                return
    for n in range(len(items)) if form.condenses else ():
        if n in chosen or n in tried or candidates[n].form is not Form.WHOLE:
            continue
        if len(chosen) >= most or room < LEAST * counter.per_token or len(tried) >= TRIED:
            break
        tried.add(n)
        c = candidates[n]
        found = condensed_to(c.text, left(c), counter, about)
        if found.form is not Form.CUT and (size := counter.units(form.item(c, found.text, found.form)) + gap) <= room:
            chosen[n] = _component(c, found.text, found.form, counter, form)
            room -= size
    n = next((n for n, c in enumerate(candidates) if c.form is Form.WHOLE and (
        chosen[n].form is Form.KEYWORDS if n in chosen else len(chosen) < most)), -1)
    if n < 0 or not form.condenses or room <= SPENT * budget * counter.per_token:
        return
    room += counter.units(chosen[n].text) + gap if n in chosen else 0
    if text := cut(candidates[n].text, left(candidates[n]), counter):
        chosen[n] = _component(candidates[n], text, Form.CUT, counter, form)


def _room(chosen: Mapping[int, Component], extra: tuple[Component, ...], candidates: Sequence[Candidate], budget: int, counter: TokenCounter,
          form: Format, said: bool) -> int:
    """Units that are left beside headings, fences and banner, and what was chosen so far."""
    sections = list(dict.fromkeys(c.section for c in chosen.values())) or list(dict.fromkeys(c.section for c in candidates))
    empty = [Component(ComponentKind.SEMANTIC, -1, "", 0, 0.0, section, Form.WHOLE) for section in sections]
    worst = [Cut(section, len(candidates), len(candidates), budget, 99 * budget) for section in sections] if said else []
    slack = SLACK if said and counter.per_token == 1 else 0
    return budget * counter.per_token - counter.units(lay_out([*chosen.values(), *extra, *empty], worst, form)) - slack


def _cuts(chosen: dict[int, Component], candidates: Sequence[Candidate], items: Sequence[str], counter: TokenCounter, also: str,
          extra: tuple[Component, ...]) -> tuple[Cut, ...]:
    """What each section shows of what it could; sections that are whole are left out."""
    found = []
    for section in dict.fromkeys(c.section for c in candidates):
        numbers = [n for n, c in enumerate(candidates) if c.section == section]
        shown = [chosen[n] for n in numbers if n in chosen]
        if len(shown) < len(numbers) or any(c.form is not Form.WHOLE for c in shown):
            found.append(Cut(section, len(shown), len(numbers), sum(c.tokens for c in shown), sum(counter.tokens(items[n]) for n in numbers)))
    if also and (not extra or extra[0].form is not Form.WHOLE):
        found.append(Cut(ADDITIONAL, len(extra), 1, sum(c.tokens for c in extra), counter.tokens(also)))
    return tuple(found)


def _component(c: Candidate, text: str, shown: Form, counter: TokenCounter, form: Format) -> Component:
    item = form.item(c, text, shown)
    return Component(c.kind, c.row, item, counter.tokens(item), c.score, c.section, shown)


def _also(text: str, tokens: int | None, counter: TokenCounter) -> tuple[Component, ...]:
    """The asker's own text as a component, condensed to so many tokens; none if nothing of it fits."""
    if not text:
        return ()
    whole = Component(ComponentKind.CUSTOM, -1, text, counter.tokens(text), inf, ADDITIONAL, Form.WHOLE)
    if tokens is None:
        return (whole,)
    found = condensed_to(text, tokens, counter)
    return (replace(whole, text=found.text, tokens=counter.tokens(found.text), form=found.form),) if found.text else ()
