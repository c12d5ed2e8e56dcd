"""Selecting candidates under a budget, and laying them out: separate pure functions.

`select` takes candidates best first.  `fill` takes those of several sources: each source spends its share of the budget first, and what is left
over is spent in order of score.  `lay_out` writes what was selected.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from types import MappingProxyType
from typing import Final

from ..errors import InputError
from ..text.features import terms_of
from .banner import Cut, banner
from .components import Component, ComponentKind
from .condensers import Condensed, Form, condensed_to, cut
from .excerpts import excerpts
from .formats import Candidate, Format
from .packing import packing_order
from .quoting import fence
from .tokens import TokenCounter

LEAST = 8           # tokens of the shortest component worth showing, head included
TRIED = 16          # candidates that are condensed, at most, to fill what is left
SLACK = 4           # pieces of a tokeniser by which a banner may be longer than one with longer numbers
SPENT = 0.1         # share of the budget above which what is left is filled with the first part of a candidate
SHELL = 0.125       # share of the budget above which headings and banner of several sections become those of one
ADDITIONAL = "Additional Context"
NO_DAY: Final = "[no date]"     # line before what has none and follows a day
LARGEST: Final = 0.0625     # share of the budget above which an item is condensed before others are left out
LONG: Final = 128           # tokens up to which no item is condensed before others are left out, and none is divided into sentences
NO_SHARES: Mapping[str, float] = MappingProxyType({})
NO_RELEVANCE: Mapping[int, float] = MappingProxyType({})


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
           also: str = "", about: Collection[str] = (), in_time: bool = False, largest: float = 1.0,
           relevance: Mapping[int, float] = NO_RELEVANCE, packed: bool = False) -> Selection:
    """The candidates that fit, in the given order, best first: whole where they fit, then condensed into what is left.  A row is shown once.

    budget     tokens of the laid-out text; None: no limit, and nothing is condensed
    max_items  most components, apart from `also`
    also       a text of the asker, which comes first and is condensed if it does not fit alone
    about      stems, see `condense`
    in_time    whether components stand in order of time, those without a time last, else in the order given
    largest    share of the budget above which an item is condensed before others are left out, see `cap_of`; 1: none is
    relevance  on [0, 1], by row; if it is given, excerpts that together cover the most about the query are chosen (`excerpts`)
    packed     whether whole texts alone are shown, in the order of `packing_order`, and of captions first those that bear on the query (`about`)

    `lay_out` of the selection has at most `budget` tokens.  If a banner leaves no room for anything else, there is none.
    Cost: a counting of each candidate, and of the laid-out text a few times.
    """
    return _selected(_once(candidates), budget, counter, form, max_items, also, about, in_time, NO_SHARES, largest, relevance, packed)


def fill(candidates: Sequence[Candidate], budget: int | None, counter: TokenCounter, form: Format, *, shares: Mapping[str, float],
         max_items: int | None = None, also: str = "", about: Collection[str] = (), in_time: bool = False, largest: float = LARGEST,
         together: str = "") -> Selection:
    """The candidates of several sources that fit: each source spends its share first, then what is left over is spent in order of score.

    candidates  of each source the best first; a row that several sources offer is shown once, where it was taken first
    shares      percent of the budget of each source, or of `max_items` without a budget.  A candidate without a source belongs to its section
    together    heading under which all stand if headings and banner of their own sections would take more than an eighth of the budget; "": none
    Others as for `select`.

    `lay_out` of the selection has at most `budget` tokens.  Raises InputError for a share below 0 and shares above 100 in all.
    Cost: as `select`, and a condensing of each item above `largest`.
    """
    if not all(share >= 0.0 for share in shares.values()) or sum(shares.values()) > 100.0:
        raise InputError(f"the shares {dict(shares)} are below 0, or above 100 in all", where="context",
                         cure="give percent of the budget, at most 100 in all")
    if budget is None and max_items is not None:
        candidates = _by_number(candidates, max_items, shares)
    if budget is None or sum(counter.units(c.text) for c in candidates) <= budget * counter.per_token:
        found = _selected(_remaining(candidates, ())[0], budget, counter, form, max_items, also, about, in_time, NO_SHARES, 1.0)
        if not found.cut:
            return found
    if together and budget is not None and form.headings and _shell(candidates, (), budget, counter, form, True) > SHELL * budget * counter.per_token:
        candidates = [replace(c, section=together, source=_source(c)) for c in candidates]
    return _selected(candidates, budget, counter, form, max_items, also, about, in_time, shares, largest)


def cap_of(budget: int, largest: float = LARGEST) -> int:
    """Tokens above which an item is condensed before others are left out: a share of the budget, at least 128.

    >>> cap_of(512), cap_of(4096), cap_of(512, 1.0)
    (128, 256, 512)
    """
    return int(largest * budget) if largest == 1.0 else max(int(largest * budget), LONG)


def _selected(candidates: Sequence[Candidate], budget: int | None, counter: TokenCounter, form: Format, max_items: int | None, also: str,
              about: Collection[str], in_time: bool, shares: Mapping[str, float], largest: float,
              relevance: Mapping[int, float] = NO_RELEVANCE, packed: bool = False) -> Selection:
    """`select`, and under a budget `fill`."""
    most = len(candidates) if max_items is None else max_items
    if budget is None or sum(counter.units(c.text) for c in candidates) <= budget * counter.per_token:
        shown = {n: _component(c, c.text, c.form, counter, form) for n, c in enumerate(candidates[:most])}
        whole = Selection((*_ordered(shown, candidates, in_time), *_also(also, None, counter)), ())
        forms = {c.form for c in candidates}
        if budget is None or (most >= len(candidates) and forms <= {Form.WHOLE} and counter.tokens(lay_out(whole.components, (), form)) <= budget):
            return whole
    found = _fitted(candidates, budget, counter, form, most, also, about, in_time, shares, largest, relevance, packed, said=True)
    if found.components or not found.cut:
        return found
    return _fitted(candidates, budget, counter, form, most, also, about, in_time, shares, largest, relevance, packed, said=False)


def _fitted(candidates: Sequence[Candidate], budget: int, counter: TokenCounter, form: Format, most: int, also: str, about: Collection[str],
            in_time: bool, shares: Mapping[str, float], largest: float, relevance: Mapping[int, float], packed: bool,
            said: bool) -> Selection:
    """A selection under a budget; `said`: with a banner, if something is cut."""
    chosen: dict[int, Component] = {}
    tried: set[int] = set()
    extra = _also(also, budget - counter.tokens(lay_out(_also(".", None, counter), (), form)) + 1, counter)
    cap = cap_of(budget, largest) * counter.per_token
    items = [form.item(c, c.text, c.form) for c in candidates]

    def whole(n: int) -> Component:
        return _component(candidates[n], candidates[n].text, candidates[n].form, counter, form)

    def left(of: Mapping[int, Component]) -> int:
        """Tokens that are left beside these and the banner that they need."""
        cuts = _cuts(of, candidates, items, counter, also, extra)
        return budget - counter.tokens(lay_out([*_ordered(of, candidates, in_time), *extra], cuts if said else (), form))

    def alone(n: int) -> dict[int, Component]:
        """One candidate whole, if it fits with nothing beside it and need not be condensed."""
        one = {n: whole(n)} if most and counter.units(items[n]) <= cap else {}
        return one if one and left(one) >= 0 else {}

    def fitting(given_up: list[int]) -> Selection:
        """What was chosen, without the first of these that must be given up, and at last without `extra`."""
        beside = extra
        while True:
            components = _ordered(chosen, candidates, in_time)
            cuts = _cuts(chosen, candidates, items, counter, also, beside)
            found = Selection((*components, *beside), cuts, said)
            if counter.tokens(lay_out(found.components, cuts if said else (), form)) <= budget:
                return found
            if given_up:
                del chosen[given_up.pop(0)]
            elif beside:
                beside = ()
            else:
                return Selection((), cuts, False)

    if packed:
        chosen, order = _packed(candidates, most, _room({}, extra, candidates, budget, counter, form, said), left, counter, form, about)
        return fitting([n for n in reversed(order) if n in chosen])
    if shares:
        room = _room(chosen, extra, candidates, budget, counter, form, said)
        top = _top(candidates, shares)
        above = top >= 0 and counter.units(items[top]) > room * shares[_source(candidates[top])] / 100.0
        first = alone(top) if above else {}         # above its share, in a small budget
        taken = _within_shares(candidates, items, most, room - sum(counter.units(items[n]) for n in first), cap, shares, counter, form, about, first)
        candidates, places = _remaining(candidates, taken)
        chosen, items = {places[n]: taken[n] for n in taken}, [items[n] for n in places]
    if relevance and form.condenses:
        chosen = _covering(candidates, relevance, most, _room(chosen, extra, candidates, budget, counter, form, said), counter, form, about)
    order = sorted(range(len(candidates)), key=lambda n: -candidates[n].score) if shares else list(range(len(candidates)))
    if order and not chosen:
        chosen = alone(order[0])        # though the longest banner would leave no room for it
    if largest < 1.0 and form.condenses:
        room = _room(chosen, extra, candidates, budget, counter, form, said)
        _add_capped(chosen, candidates, items, order, most, room, cap, counter, form, about)
    while True:                     # the second round spends what was kept for the banner
        before = len(chosen)
        room = _room(chosen, extra, candidates, budget, counter, form, said)
        _add(chosen, tried, candidates, items, order, most, room, budget, counter, form, about)
        if len(chosen) == before or len(chosen) >= most:
            break
    unspent = left(chosen)
    if form.condenses and unspent > SPENT * budget:      # of a small budget, what was kept for the banner is a large part
        for n in [n for n in order if n not in chosen or chosen[n].form is not candidates[n].form][:TRIED]:
            before = counter.units(chosen[n].text) if n in chosen else 0
            if (n in chosen or len(chosen) < most) and counter.units(items[n]) - before <= unspent * counter.per_token:
                more = {**chosen, n: whole(n)}
                if (now := left(more)) >= 0:
                    chosen, unspent = more, now
    place = {n: at for at, n in enumerate(order)}
    capped = largest < 1.0 or bool(relevance)       # then the best are condensed, too, and the last is given up first; else the condensed ones
    return fitting(sorted(chosen, key=lambda n: (not capped and chosen[n].form is Form.WHOLE, -place[n])))


def lay_out(components: Sequence[Component], cuts: Sequence[Cut], form: Format) -> str:
    """The text of a selection: a banner about `cuts`, then each section under its heading, its memories inside one fence.  O(length)."""
    parts = [line] if form.headings and (line := banner(cuts)) else []
    for section in dict.fromkeys(c.section for c in components):
        shown = [c for c in components if c.section == section]
        body = form.between.join(_by_day(shown))
        if any(c.kind is not ComponentKind.CUSTOM for c in shown):
            marks = fence([body])
            body = f"{marks}memories\n{body}\n{marks}"
        parts.append(f"## {section}\n\n{body}" if form.headings else body)
    return "\n\n".join(parts)


def _by_day(components: Sequence[Component]) -> Iterator[str]:
    """The texts of components, each day's line before its first one."""
    day = ""
    for c in components:
        if c.day != day:
            yield c.day or NO_DAY
            day = c.day
        yield c.text


def _ordered(chosen: Mapping[int, Component], candidates: Sequence[Candidate], in_time: bool) -> tuple[Component, ...]:
    """In the order of choice or of time, those that stand under no day first, section by section."""
    sections = list(dict.fromkeys(c.section for c in candidates))

    def place(n: int) -> tuple[int, bool, float, int]:
        time = candidates[n].time
        return sections.index(candidates[n].section), in_time and chosen[n].day != "", (inf if time is None else time) if in_time else 0.0, n

    return tuple(chosen[n] for n in sorted(chosen, key=place))


def _once(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates without those whose row stands before them."""
    first: dict[int, int] = {}
    for n, c in enumerate(candidates):
        first.setdefault(c.row, n)
    return [c for n, c in enumerate(candidates) if c.row < 0 or first[c.row] == n]


def _source(c: Candidate) -> str:
    return c.source or c.section


def _top(candidates: Sequence[Candidate], shares: Mapping[str, float]) -> int:
    """The first candidate of the source with the largest share, of those that offer any; -1: none does."""
    offering = {_source(c): n for n, c in reversed(list(enumerate(candidates)))}
    return offering[max(found, key=lambda source: shares[source])] if (found := [source for source in shares if source in offering]) else -1


def _by_number(candidates: Sequence[Candidate], most: int, shares: Mapping[str, float]) -> Sequence[Candidate]:
    """So many candidates: of each source the first within its share of the number, then the best of all; in the given order, a row once."""
    left = {source: int(most * share / 100.0) for source, share in shares.items()}
    taken, rows = set[int](), set[int]()
    for pool, within in ((range(len(candidates)), True), (sorted(range(len(candidates)), key=lambda n: -candidates[n].score), False)):
        for n in pool:
            c, source = candidates[n], _source(candidates[n])
            if n in taken or len(taken) >= most or (c.row >= 0 and c.row in rows) or (within and left.get(source, 0) < 1):
                continue
            taken.add(n)
            rows.add(c.row)
            left[source] = left.get(source, 0) - 1
    return [candidates[n] for n in sorted(taken)]


def _remaining(candidates: Sequence[Candidate], taken: Collection[int]) -> tuple[Sequence[Candidate], dict[int, int]]:
    """The candidates without those whose row was taken elsewhere or is offered with a higher score, and the new place of each."""
    best: dict[int, tuple[bool, float, int]] = {}
    for n, c in enumerate(candidates):
        worth = n in taken, c.score, -n
        best[c.row] = max(best.get(c.row, worth), worth)
    kept = [n for n, c in enumerate(candidates) if c.row < 0 or -best[c.row][2] == n]
    return [candidates[n] for n in kept], {n: at for at, n in enumerate(kept)}


def _shorter(c: Candidate, tokens: int, counter: TokenCounter, about: Collection[str]) -> Condensed:
    """A candidate's text in at most so many tokens: the longest of its own forms, if it has any, else condensed, or the line before it alone."""
    if c.forms is None:
        found = condensed_to(c.text, tokens, counter, about)
        return Condensed("", Form.SUMMARY) if found.form is Form.CUT and c.before.endswith("\n") and tokens >= 0 else found
    return next((Condensed(text, Form.SUMMARY) for text in c.forms if counter.tokens(text) <= tokens), Condensed("", Form.CUT))


def _fits(c: Candidate, room: int, counter: TokenCounter, form: Format, about: Collection[str]) -> Component | None:
    """A candidate condensed into so many units; None if it would have to be cut off."""
    if c.form is not Form.WHOLE:
        return None
    found = _shorter(c, (room - counter.units(form.item(c, "", Form.CUT))) // counter.per_token, counter, about)
    if found.form is Form.CUT:
        return None
    item = _component(c, found.text, found.form, counter, form)
    return item if counter.units(item.text) <= room else None


def _within_shares(candidates: Sequence[Candidate], items: Sequence[str], most: int, room: int, cap: int, shares: Mapping[str, float],
                   counter: TokenCounter, form: Format, about: Collection[str], first: Mapping[int, Component]) -> dict[int, Component]:
    """`first`, and what each source takes within its share of `room` units: whole candidates, and shorter forms of those above `cap`."""
    gap = counter.units(form.between)
    left = {source: room * share / 100.0 for source, share in shares.items()}
    tried, rows, taken = Counter[str](), {candidates[n].row for n in first}, dict(first)
    for n, c in enumerate(candidates):
        source = _source(c)
        if len(taken) >= most or n in taken or (c.row >= 0 and c.row in rows) or left.get(source, 0.0) < LEAST * counter.per_token:
            continue
        size, fits, shown = counter.units(items[n]), int(left[source]) - gap, None
        if (size > cap or (size > fits and c.forms)) and form.condenses and tried[source] < TRIED:
            tried[source] += 1
            shown = _fits(c, min(cap, fits), counter, form, about)
        if shown is None and size <= fits:
            shown = _component(c, c.text, c.form, counter, form)
        if shown is not None:
            taken[n] = shown
            rows.add(c.row)
            left[source] -= counter.units(shown.text) + gap
    return taken


def _add_capped(chosen: dict[int, Component], candidates: Sequence[Candidate], items: Sequence[str], order: Sequence[int], most: int, room: int,
                cap: int, counter: TokenCounter, form: Format, about: Collection[str]) -> None:
    """Add candidates that fit into `room` units, those above `cap` condensed to it, own forms where the whole does not fit.

    Then show them whole, the best first, as far as there is room.
    """
    gap = counter.units(form.between)
    for n in order:
        if n in chosen or len(chosen) >= most or room < LEAST * counter.per_token:
            continue
        size = counter.units(items[n])
        short = size > cap or (size + gap > room and candidates[n].forms)
        shown = _fits(candidates[n], min(cap, room - gap), counter, form, about) if short else None
        if shown is None and size + gap <= room:
            shown = _component(candidates[n], candidates[n].text, candidates[n].form, counter, form)
        if shown is not None:
            chosen[n] = shown
            room -= counter.units(shown.text) + gap
    for n in order:
        if n in chosen and chosen[n].form is not candidates[n].form and (more := counter.units(items[n]) - counter.units(chosen[n].text)) <= room:
            chosen[n] = _component(candidates[n], candidates[n].text, candidates[n].form, counter, form)
            room -= more


def _covering(candidates: Sequence[Candidate], relevance: Mapping[int, float], most: int, room: int, counter: TokenCounter, form: Format,
              about: Collection[str]) -> dict[int, Component]:
    """Excerpts of the candidates that take at most `room` units: fences and escapes may make them longer than their pieces, which is then saved."""
    given, gap, worth = room, counter.units(form.between), [relevance.get(c.row, 0.0) for c in candidates]
    while room > 0:
        shown = excerpts(candidates, worth, room, counter, form, frozenset(about), LONG)
        chosen = {n: _component(candidates[n], each.text, each.form, counter, form) for n, each in list(shown.items())[:most]}
        above = sum(counter.units(c.text) + gap for c in chosen.values()) - given
        if above <= 0:
            return chosen
        room -= above
    return {}


def _add(chosen: dict[int, Component], tried: set[int], candidates: Sequence[Candidate], items: Sequence[str], order: Sequence[int], most: int,
         room: int, budget: int, counter: TokenCounter, form: Format, about: Collection[str]) -> None:
    """Add whole candidates that fit into `room` units, then condensed ones, then the first part of one if much of the budget is left."""
    gap = counter.units(form.between)

    def left(c: Candidate) -> int:
        """Tokens for the text of a condensed candidate."""
        return (room - gap - counter.units(form.item(c, "", Form.CUT))) // counter.per_token

    for n in order:
        if n not in chosen and len(chosen) < most and room > 0:
            if (size := counter.units(items[n]) + gap) <= room:
                chosen[n] = _component(candidates[n], candidates[n].text, candidates[n].form, counter, form)
                room -= size
            elif not form.condenses:
                return
    for n in order if form.condenses else ():
        if n in chosen or n in tried or candidates[n].form is not Form.WHOLE:
            continue
        if len(chosen) >= most or room < LEAST * counter.per_token or len(tried) >= TRIED:
            break
        tried.add(n)
        c = candidates[n]
        found = _shorter(c, left(c), counter, about)
        if found.form is not Form.CUT and (size := counter.units(form.item(c, found.text, found.form)) + gap) <= room:
            chosen[n] = _component(c, found.text, found.form, counter, form)
            room -= size
    n = next((n for n in order if (c := candidates[n]).form is Form.WHOLE and c.forms is None and (
        chosen[n].form is Form.KEYWORDS if n in chosen else len(chosen) < most)), -1)
    if n < 0 or not form.condenses or room <= SPENT * budget * counter.per_token:
        return
    room += counter.units(chosen[n].text) + gap if n in chosen else 0
    if text := cut(candidates[n].text, left(candidates[n]), counter):
        chosen[n] = _component(candidates[n], text, Form.CUT, counter, form)


def _packed(candidates: Sequence[Candidate], most: int, room: int, left: Callable[[Mapping[int, Component]], int], counter: TokenCounter,
            form: Format, about: Collection[str]) -> tuple[dict[int, Component], list[int]]:
    """Candidates with whole texts in the order of packing, and this order.  Captions that do not bear on the query come last.

    room  units beside the shell with the longest banner
    left  tokens that some components leave with their own banner
    """
    short = [_component(c, c.text, _without_caption(c, form, frozenset(about)), counter, form) for c in candidates]
    sizes, gap = [counter.units(c.text) for c in short], counter.units(form.between)
    order, chosen, days = packing_order(sizes), dict[int, Component](), set[tuple[str, str]]()
    for n in order:
        day = short[n].section, short[n].day
        size = sizes[n] + gap + (counter.units(short[n].day) + gap if short[n].day and day not in days else 0)
        if size <= room and len(chosen) < most:
            chosen[n] = short[n]
            days.add(day)
            room -= size
    unspent = left(chosen)          # with what was kept for the banner
    for n in [n for n in order if n not in chosen and sizes[n] <= unspent * counter.per_token][:TRIED]:
        if len(chosen) < most and (now := left(more := {**chosen, n: short[n]})) >= 0:
            chosen, unspent = more, now
    full, room = dict(chosen), unspent * counter.per_token - SLACK
    for n in sorted(n for n in chosen if short[n].form is Form.TEXT):
        whole = _component(candidates[n], candidates[n].text, Form.WHOLE, counter, form)
        if (size := counter.units(whole.text) - sizes[n]) <= room:
            full[n] = whole
            room -= size
    return full if left(full) >= 0 else chosen, order


def _without_caption(c: Candidate, form: Format, about: frozenset[str]) -> Form:
    """TEXT, if the candidate has a caption without a stem of the query that its text lacks; else the form that it has."""
    if c.form is not Form.WHOLE or not form.condenses or len(form.item(c, "", Form.TEXT)) >= len(form.item(c, "", Form.WHOLE)):
        return c.form
    caption, text = (frozenset(terms_of(each, stem=True, stop_words=True)) for each in (c.caption, c.text))
    return Form.WHOLE if about & caption - text else Form.TEXT


def _room(chosen: Mapping[int, Component], extra: tuple[Component, ...], candidates: Sequence[Candidate], budget: int, counter: TokenCounter,
          form: Format, said: bool) -> int:
    """Units that are left beside headings, fences and banner, and what was chosen so far."""
    shell = _shell(list(chosen.values()) or candidates, (*chosen.values(), *extra), budget, counter, form, said, len(candidates))
    return budget * counter.per_token - shell


def _shell(of: Sequence[Component] | Sequence[Candidate], shown: Sequence[Component], budget: int, counter: TokenCounter, form: Format, said: bool,
           most: int | None = None) -> int:
    """Units of headings, fences and a banner of the longest numbers, and of what is shown so far."""
    sections, most = list(dict.fromkeys(c.section for c in of)), len(of) if most is None else most
    empty = [Component(ComponentKind.SEMANTIC, -1, "", 0, 0.0, section, Form.WHOLE) for section in sections]
    worst = [Cut(section, most, most, budget, 99 * budget) for section in sections] if said else []
    return counter.units(lay_out([*shown, *empty], worst, form)) + (SLACK if said and counter.per_token == 1 else 0)


def _cuts(chosen: Mapping[int, Component], candidates: Sequence[Candidate], items: Sequence[str], counter: TokenCounter, also: str,
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
    return Component(c.kind, c.row, item, counter.tokens(item), c.score, c.section, shown, c.source, form.day(c))


def _also(text: str, tokens: int | None, counter: TokenCounter) -> tuple[Component, ...]:
    """The asker's own text as a component, condensed to so many tokens; none if nothing of it fits."""
    if not text:
        return ()
    whole = Component(ComponentKind.CUSTOM, -1, text, counter.tokens(text), inf, ADDITIONAL, Form.WHOLE)
    if tokens is None:
        return (whole,)
    found = condensed_to(text, tokens, counter)
    return (replace(whole, text=found.text, tokens=counter.tokens(found.text), form=found.form),) if found.text else ()
