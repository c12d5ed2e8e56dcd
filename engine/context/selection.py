"""Selecting candidates under a budget, and laying them out: separate pure functions.

`select` takes candidates best first.  `fill` takes those of several sources: each source spends its share of the budget first, and what is left
over is spent in order of score.  `lay_out` writes what was selected.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from math import inf
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


@dataclass(frozen=True, slots=True)
class Rules:
    """How candidates are selected.

    counter    counts tokens
    form       in which they are written
    max_items  most components, apart from `also`; None: any number
    also       a text of the asker, which comes first and is condensed if it does not fit alone
    about      stems, see `condense`
    in_time    whether components stand in order of time, those without a time last, else in the order given
    largest    share of the budget above which an item is condensed before others are left out, see `cap_of`; 1: none is
    shares     for `fill`: percent of the budget of each source, or of `max_items` without a budget.  A candidate without a source belongs to its
               section
    relevance  for `select`: on [0, 1], by row; if it is given, excerpts that together cover the most about the query are chosen (`excerpts`)
    packed     for `select`: whether whole texts alone are shown, in the order of `packing_order`, and of captions first those that bear on the query
               (`about`)
    """

    counter: TokenCounter
    form: Format
    _: KW_ONLY
    max_items: int | None = None
    also: str = ""
    about: Collection[str] = ()
    in_time: bool = False
    largest: float = 1.0
    shares: Mapping[str, float] = field(default_factory=dict)
    relevance: Mapping[int, float] = field(default_factory=dict)
    packed: bool = False

    def whole(self, c: Candidate) -> Component:
        return self.component(c, c.text, c.form)

    def component(self, c: Candidate, text: str, shown: Form) -> Component:
        """A candidate with its text in some form."""
        item = self.form.item(c, text, shown)
        return Component(c.kind, c.row, item, self.counter.tokens(item), c.score, c.section, shown, c.source, self.form.day(c))


def select(candidates: Sequence[Candidate], budget: int | None, rules: Rules) -> Selection:
    """The candidates that fit, in the given order, best first: whole where they fit, then condensed into what is left.  A row is shown once.

    budget  tokens of the laid-out text; None: no limit, and nothing is condensed

    `lay_out` of the selection has at most `budget` tokens.  If a banner leaves no room for anything else, there is none.
    Cost: a counting of each candidate, and of the laid-out text a few times.
    """
    return _selected(_once(candidates), budget, rules)


def fill(candidates: Sequence[Candidate], budget: int | None, rules: Rules, together: str = "") -> Selection:
    """The candidates of several sources that fit: each source spends its share first, then what is left over is spent in order of score.

    candidates  of each source the best first; a row that several sources offer is shown once, where it was taken first
    budget      as for `select`
    together    heading under which all stand if headings and banner of their own sections would take more than an eighth of the budget; "": none

    `lay_out` of the selection has at most `budget` tokens.  Raises InputError for a share below 0 and shares above 100 in all.
    Cost: as `select`, and a condensing of each item above `largest`.
    """
    shares, counter = rules.shares, rules.counter
    if not all(share >= 0.0 for share in shares.values()) or sum(shares.values()) > 100.0:
        raise InputError(f"the shares {dict(shares)} are below 0, or above 100 in all", where="context",
                         cure="give percent of the budget, at most 100 in all")
    if budget is None and rules.max_items is not None:
        candidates = _by_number(candidates, rules.max_items, shares)
    if budget is None or sum(counter.units(c.text) for c in candidates) <= budget * counter.per_token:
        found = _selected(_remaining(candidates, ())[0], budget, replace(rules, shares={}, largest=1.0))
        if not found.cut:
            return found
    if together and budget is not None and rules.form.headings and _shell(candidates, (), budget, rules, True) > SHELL * budget * counter.per_token:
        candidates = [replace(c, section=together, source=_source(c)) for c in candidates]
    return _selected(candidates, budget, rules)


def cap_of(budget: int, largest: float = LARGEST) -> int:
    """Tokens above which an item is condensed before others are left out: a share of the budget, at least 128.

    >>> cap_of(512), cap_of(4096), cap_of(512, 1.0)
    (128, 256, 512)
    """
    return int(largest * budget) if largest == 1.0 else max(int(largest * budget), LONG)


def _selected(candidates: Sequence[Candidate], budget: int | None, rules: Rules) -> Selection:
    """`select`, and under a budget `fill`."""
    counter, most = rules.counter, len(candidates) if rules.max_items is None else rules.max_items
    if budget is None or sum(counter.units(c.text) for c in candidates) <= budget * counter.per_token:
        shown = {n: rules.whole(c) for n, c in enumerate(candidates[:most])}
        whole = Selection((*_ordered(shown, candidates, rules.in_time), *_also(rules.also, None, counter)), ())
        forms = {c.form for c in candidates}
        if budget is None or (most >= len(candidates) and forms <= {Form.WHOLE}
                              and counter.tokens(lay_out(whole.components, (), rules.form)) <= budget):
            return whole
    found = _Fitting(candidates, budget, most, rules, said=True).found()
    return found if found.components or not found.cut else _Fitting(candidates, budget, most, rules, said=False).found()


class _Fitting:
    """Selects under a budget.

    budget  tokens
    most    components, apart from `also`
    said    whether there is a banner if something is cut
    items   the candidates as they are written whole
    extra   the asker's own text, if there is room for it
    chosen  what is shown of each candidate, by its place
    """

    def __init__(self, candidates: Sequence[Candidate], budget: int, most: int, rules: Rules, said: bool) -> None:
        self.candidates, self.budget, self.most, self.rules, self.said = candidates, budget, most, rules, said
        self.counter, self.form, self.gap = rules.counter, rules.form, rules.counter.units(rules.form.between)
        self.cap = cap_of(budget, rules.largest) * self.counter.per_token       # units above which an item is condensed before others are left out
        self.items = [rules.form.item(c, c.text, c.form) for c in candidates]
        self.extra = _also(rules.also, budget - self.counter.tokens(lay_out(_also(".", None, self.counter), (), self.form)) + 1, self.counter)
        self.chosen: dict[int, Component] = {}

    def found(self) -> Selection:
        """The selection."""
        rules, condenses = self.rules, self.form.condenses
        if rules.packed:
            order = self._pack(self._room())
            return self._fitting([n for n in reversed(order) if n in self.chosen])
        if rules.shares:
            self._take_shares(self._room())
        if rules.relevance and condenses:
            self.chosen = self._covering(self._room())
        order = sorted(range(len(self.candidates)), key=lambda n: -self.candidates[n].score) if rules.shares else list(range(len(self.candidates)))
        if order and not self.chosen:
            self.chosen = self._alone(order[0])     # though the longest banner would leave no room for it
        if rules.largest < 1.0 and condenses:
            self._add_capped(order, self._room())
        tried: set[int] = set()
        while True:                     # the second round spends what was kept for the banner
            before = len(self.chosen)
            self._add(order, tried, self._room())
            if len(self.chosen) == before or len(self.chosen) >= self.most:
                break
        if condenses:
            self._add_whole([n for n in order if n not in self.chosen or self.chosen[n].form is not self.candidates[n].form][:TRIED])
        place = {n: at for at, n in enumerate(order)}
        # If items were capped, the best are condensed, too, and the last is given up first; else the condensed ones.
        capped = rules.largest < 1.0 or bool(rules.relevance)
        return self._fitting(sorted(self.chosen, key=lambda n: (not capped and self.chosen[n].form is Form.WHOLE, -place[n])))

    def _whole(self, n: int) -> Component:
        return self.rules.whole(self.candidates[n])

    def _left(self, of: Mapping[int, Component]) -> int:
        """Tokens that are left beside these and the banner that they need."""
        cuts = self._cuts(of, self.extra) if self.said else ()
        return self.budget - self.counter.tokens(lay_out([*_ordered(of, self.candidates, self.rules.in_time), *self.extra], cuts, self.form))

    def _room(self) -> int:
        """Units that are left beside headings, fences and banner, and what was chosen so far."""
        shown, number = [*self.chosen.values()], len(self.candidates)
        shell = _shell(shown or self.candidates, (*shown, *self.extra), self.budget, self.rules, said=self.said, most=number)
        return self.budget * self.counter.per_token - shell

    def _fitting(self, given_up: list[int]) -> Selection:
        """What was chosen, without the first of these that must be given up, and at last without `extra`."""
        beside = self.extra
        while True:
            components, cuts = _ordered(self.chosen, self.candidates, self.rules.in_time), self._cuts(self.chosen, beside)
            found = Selection((*components, *beside), cuts, self.said)
            if self.counter.tokens(lay_out(found.components, cuts if self.said else (), self.form)) <= self.budget:
                return found
            if given_up:
                del self.chosen[given_up.pop(0)]
            elif beside:
                beside = ()
            else:
                return Selection((), cuts, False)

    def _cuts(self, of: Mapping[int, Component], extra: tuple[Component, ...]) -> tuple[Cut, ...]:
        """What each section shows of what it could; sections that are whole are left out."""
        found, also = [], self.rules.also
        for section in dict.fromkeys(c.section for c in self.candidates):
            numbers = [n for n, c in enumerate(self.candidates) if c.section == section]
            shown = [of[n] for n in numbers if n in of]
            if len(shown) < len(numbers) or any(c.form is not Form.WHOLE for c in shown):
                tokens = sum(self.counter.tokens(self.items[n]) for n in numbers)
                found.append(Cut(section, len(shown), len(numbers), sum(c.tokens for c in shown), tokens))
        if also and (not extra or extra[0].form is not Form.WHOLE):
            found.append(Cut(ADDITIONAL, len(extra), 1, sum(c.tokens for c in extra), self.counter.tokens(also)))
        return tuple(found)

    def _alone(self, n: int) -> dict[int, Component]:
        """One candidate whole, if it fits with nothing beside it and need not be condensed."""
        one = {n: self._whole(n)} if self.most and self.counter.units(self.items[n]) <= self.cap else {}
        return one if one and self._left(one) >= 0 else {}

    def _take_shares(self, room: int) -> None:
        """What each source takes within its share of `room` units; candidates whose rows were taken elsewhere are left out."""
        top = _top(self.candidates, self.rules.shares)
        above = top >= 0 and self.counter.units(self.items[top]) > room * self.rules.shares[_source(self.candidates[top])] / 100.0
        first = self._alone(top) if above else {}       # above its share, in a small budget
        taken = self._within_shares(room - sum(self.counter.units(self.items[n]) for n in first), first)
        self.candidates, places = _remaining(self.candidates, taken)
        self.chosen, self.items = {places[n]: taken[n] for n in taken}, [self.items[n] for n in places]

    def _within_shares(self, room: int, first: Mapping[int, Component]) -> dict[int, Component]:
        """`first`, and what each source takes within its share of `room` units: whole candidates, and shorter forms of those above `cap`."""
        counter = self.counter
        left = {source: room * share / 100.0 for source, share in self.rules.shares.items()}
        tried, rows, taken = Counter[str](), {self.candidates[n].row for n in first}, dict(first)
        for n, c in enumerate(self.candidates):
            source = _source(c)
            if len(taken) >= self.most or n in taken or (c.row >= 0 and c.row in rows) or left.get(source, 0.0) < LEAST * counter.per_token:
                continue
            size, fits, shown = counter.units(self.items[n]), int(left[source]) - self.gap, None
            if (size > self.cap or (size > fits and c.forms)) and self.form.condenses and tried[source] < TRIED:
                tried[source] += 1
                shown = _fits(c, min(self.cap, fits), self.rules)
            if shown is None and size <= fits:
                shown = self._whole(n)
            if shown is not None:
                taken[n] = shown
                rows.add(c.row)
                left[source] -= counter.units(shown.text) + self.gap
        return taken

    def _add_capped(self, order: Sequence[int], room: int) -> None:
        """Add candidates that fit into `room` units, those above `cap` condensed to it, own forms where the whole does not fit.

        Then show them whole, the best first, as far as there is room.
        """
        counter, chosen, gap = self.counter, self.chosen, self.gap
        for n in order:
            if n in chosen or len(chosen) >= self.most or room < LEAST * counter.per_token:
                continue
            size = counter.units(self.items[n])
            short = size > self.cap or (size + gap > room and self.candidates[n].forms)
            shown = _fits(self.candidates[n], min(self.cap, room - gap), self.rules) if short else None
            if shown is None and size + gap <= room:
                shown = self._whole(n)
            if shown is not None:
                chosen[n] = shown
                room -= counter.units(shown.text) + gap
        for n in order:
            if n in chosen and chosen[n].form is not self.candidates[n].form:
                more = counter.units(self.items[n]) - counter.units(chosen[n].text)
                if more <= room:
                    chosen[n] = self._whole(n)
                    room -= more

    def _covering(self, room: int) -> dict[int, Component]:
        """Excerpts of the candidates that take at most `room` units.

        Fences and escapes may make them longer than their pieces, which is then saved.
        """
        given, rules, worth = room, self.rules, [self.rules.relevance.get(c.row, 0.0) for c in self.candidates]
        while room > 0:
            shown = excerpts(self.candidates, worth, room, self.counter, self.form, frozenset(rules.about), LONG)
            chosen = {n: rules.component(self.candidates[n], each.text, each.form) for n, each in list(shown.items())[:self.most]}
            above = sum(self.counter.units(c.text) + self.gap for c in chosen.values()) - given
            if above <= 0:
                return chosen
            room -= above
        return {}

    def _add(self, order: Sequence[int], tried: set[int], room: int) -> None:
        """Add whole candidates that fit into `room` units, then condensed ones, then the first part of one if much of the budget is left.

        tried  candidates that were condensed before, added to
        """
        counter, form, chosen, gap = self.counter, self.form, self.chosen, self.gap
        for n in order:
            if n not in chosen and len(chosen) < self.most and room > 0:
                if (size := counter.units(self.items[n]) + gap) <= room:
                    chosen[n] = self._whole(n)
                    room -= size
                elif not form.condenses:
                    return
        for n in order if form.condenses else ():
            c = self.candidates[n]
            if n in chosen or n in tried or c.form is not Form.WHOLE:
                continue
            if len(chosen) >= self.most or room < LEAST * counter.per_token or len(tried) >= TRIED:
                break
            tried.add(n)
            found = _shorter(c, _tokens_for(c, room - gap, self.rules), self.rules)
            if found.form is not Form.CUT and (size := counter.units(form.item(c, found.text, found.form)) + gap) <= room:
                chosen[n] = self.rules.component(c, found.text, found.form)
                room -= size
        n = next((n for n in order if (c := self.candidates[n]).form is Form.WHOLE and c.forms is None and (
            chosen[n].form is Form.KEYWORDS if n in chosen else len(chosen) < self.most)), -1)
        if n < 0 or not form.condenses or room <= SPENT * self.budget * counter.per_token:
            return
        room += counter.units(chosen[n].text) + gap if n in chosen else 0
        if text := cut(self.candidates[n].text, _tokens_for(self.candidates[n], room - gap, self.rules), counter):
            chosen[n] = self.rules.component(self.candidates[n], text, Form.CUT)

    def _add_whole(self, order: Sequence[int]) -> None:
        """Show some candidates whole, condensed ones as well, as far as they fit beside the banner that they need, if much of the budget is left."""
        unspent = self._left(self.chosen)
        if unspent <= SPENT * self.budget:      # of a small budget, what was kept for the banner is a large part
            return
        for n in order:
            before = self.counter.units(self.chosen[n].text) if n in self.chosen else 0
            if (n in self.chosen or len(self.chosen) < self.most) and self.counter.units(self.items[n]) - before <= unspent * self.counter.per_token:
                more = {**self.chosen, n: self._whole(n)}
                if (now := self._left(more)) >= 0:
                    self.chosen, unspent = more, now

    def _pack(self, room: int) -> list[int]:
        """Choose candidates with whole texts in the order of packing, which is returned.  Captions that do not bear on the query come last.

        room  units beside the shell with the longest banner
        """
        counter, rules, gap = self.counter, self.rules, self.gap
        short = [rules.component(c, c.text, _without_caption(c, rules)) for c in self.candidates]
        sizes = [counter.units(c.text) for c in short]
        order, chosen, days = packing_order(sizes), dict[int, Component](), set[tuple[str, str]]()
        for n in order:
            day = short[n].section, short[n].day
            size = sizes[n] + gap + (counter.units(short[n].day) + gap if short[n].day and day not in days else 0)
            if size <= room and len(chosen) < self.most:
                chosen[n] = short[n]
                days.add(day)
                room -= size
        unspent = self._left(chosen)        # with what was kept for the banner
        for n in [n for n in order if n not in chosen and sizes[n] <= unspent * counter.per_token][:TRIED]:
            if len(chosen) < self.most and (now := self._left(more := {**chosen, n: short[n]})) >= 0:
                chosen, unspent = more, now
        full, room = dict(chosen), unspent * counter.per_token - SLACK
        for n in sorted(n for n in chosen if short[n].form is Form.TEXT):
            whole = rules.component(self.candidates[n], self.candidates[n].text, Form.WHOLE)
            if (size := counter.units(whole.text) - sizes[n]) <= room:
                full[n] = whole
                room -= size
        self.chosen = full if self._left(full) >= 0 else chosen
        return order


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

    def place(n: int) -> tuple[int, int, float, int]:
        time = candidates[n].time
        day = candidates[n].day if in_time and chosen[n].day else 0     # of the speaker's clock, so that each day has one line
        return sections.index(candidates[n].section), day, (inf if time is None else time) if in_time else 0.0, n

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


def _shorter(c: Candidate, tokens: int, rules: Rules) -> Condensed:
    """A candidate's text in at most so many tokens: the longest of its own forms, if it has any, else condensed, or the line before it alone."""
    if c.forms is None:
        found = condensed_to(c.text, tokens, rules.counter, rules.about)
        return Condensed("", Form.SUMMARY) if found.form is Form.CUT and c.before.endswith("\n") and tokens >= 0 else found
    return next((Condensed(text, Form.SUMMARY) for text in c.forms if rules.counter.tokens(text) <= tokens), Condensed("", Form.CUT))


def _tokens_for(c: Candidate, room: int, rules: Rules) -> int:
    """Tokens for the text of a condensed candidate that takes so many units."""
    return (room - rules.counter.units(rules.form.item(c, "", Form.CUT))) // rules.counter.per_token


def _fits(c: Candidate, room: int, rules: Rules) -> Component | None:
    """A candidate condensed into so many units; None if it would have to be cut off."""
    if c.form is not Form.WHOLE:
        return None
    found = _shorter(c, _tokens_for(c, room, rules), rules)
    if found.form is Form.CUT:
        return None
    item = rules.component(c, found.text, found.form)
    return item if rules.counter.units(item.text) <= room else None


def _without_caption(c: Candidate, rules: Rules) -> Form:
    """TEXT, if the candidate has a caption without a stem of the query that its text lacks; else the form that it has."""
    form = rules.form
    if c.form is not Form.WHOLE or not form.condenses or len(form.item(c, "", Form.TEXT)) >= len(form.item(c, "", Form.WHOLE)):
        return c.form
    caption, text = (frozenset(terms_of(each, stem=True, stop_words=True)) for each in (c.caption, c.text))
    return Form.WHOLE if frozenset(rules.about) & caption - text else Form.TEXT


def _shell(of: Sequence[Component] | Sequence[Candidate], shown: Sequence[Component], budget: int, rules: Rules, said: bool,
           most: int | None = None) -> int:
    """Units of headings, fences and a banner of the longest numbers, and of what is shown so far."""
    sections, most = list(dict.fromkeys(c.section for c in of)), len(of) if most is None else most
    empty = [Component(ComponentKind.SEMANTIC, -1, "", 0, 0.0, section, Form.WHOLE) for section in sections]
    worst = [Cut(section, most, most, budget, 99 * budget) for section in sections] if said else []
    return rules.counter.units(lay_out([*shown, *empty], worst, rules.form)) + (SLACK if said and rules.counter.per_token == 1 else 0)


def _also(text: str, tokens: int | None, counter: TokenCounter) -> tuple[Component, ...]:
    """The asker's own text as a component, condensed to so many tokens; none if nothing of it fits."""
    if not text:
        return ()
    whole = Component(ComponentKind.CUSTOM, -1, text, counter.tokens(text), inf, ADDITIONAL, Form.WHOLE)
    if tokens is None:
        return (whole,)
    found = condensed_to(text, tokens, counter)
    return (replace(whole, text=found.text, tokens=counter.tokens(found.text), form=found.form),) if found.text else ()
