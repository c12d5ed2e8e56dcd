"""Selecting candidates under a budget, and laying them out: separate pure functions.

`select` takes candidates best first, `fill` those of several sources, each with a share of the
budget.  `lay_out` writes what was selected.

What is shown at a budget is shown at every larger one.  That follows from three steps:

1. Candidates stand in an order of entering that no budget changes (`engine.context.packing`).
2. The first candidates in this order enter, up to one that does not fit: each is charged its whole
   size, or at most `largest` of the budget.  The last one enters condensed if it does not fit
   whole.  The best candidate always enters, and its best sentences are set aside before others are
   charged.
3. Only then forms are chosen: each candidate is shown in the size that it was charged, and what is
   left of the budget makes the best candidates longer.  No form takes the place of a row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from math import inf
from typing import Final

from ..base.errors import InputError
from ..text.features import terms_of
from .banner import Cut, banner
from .components import Component, ComponentKind
from .condensers import Condensed, Condensing, Form, condensed_to, cut
from .excerpts import excerpts
from .formats import Candidate, Format
from .packing import SHORT, clocked, entering
from .quoting import fence
from .tokens import TokenCounter

LEAST = 8  # tokens of the shortest component worth showing, head included
SHORTEST = 8  # tokens to which the text of the last component is condensed, at least
# tokens of the text of the best candidate that are set aside before others are charged
SENTENCES = 48
TRIED = 16  # candidates that are shown in a longer form, at most, to fill what is left
# share of the budget above which headings and banner of several sections become those of one
SHELL = 0.125
ADDITIONAL = "Additional Context"
NO_DAY: Final = "[no date]"  # line before components without a day that follow a day
# share of the budget above which an item is condensed before others are left out
LARGEST: Final = 0.0625
# tokens up to which no item is condensed before others are left out, and no item is divided into
# sentences
LONG: Final = 128


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
    in_time    whether components stand in order of time, those without a time last, else in the
               order given
    largest    share of the budget above which an item is condensed before others are left out, see
               `cap_of`; 1: no item is
    shares     for `fill`: percent of the budget of each source, or of `max_items` without a budget.
               A candidate without a source belongs to its section
    least      for `select`: tokens up to which a candidate enters by its rank alone
               (`packing.entering`); 0: every candidate does
    relevance  for `select`: on [0, 1], by row; if it is given, excerpts that together cover the
               most about the query are chosen (`excerpts`)
    packed     for `select`: whether captions that bear on the query (`about`) come before others
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
    least: float = SHORT
    relevance: Mapping[int, float] = field(default_factory=dict)
    packed: bool = False

    def whole(self, c: Candidate) -> Component:
        return self.component(c, c.text, c.form)

    def component(self, c: Candidate, text: str, shown: Form) -> Component:
        """A candidate with its text in some form."""
        item = self.form.item(c, text, shown)
        return Component(
            c.kind,
            c.row,
            item,
            self.counter.tokens(item),
            c.score,
            c.section,
            shown,
            c.source,
            self.form.day(c),
        )


def select(
    candidates: Sequence[Candidate],
    budget: int | None,
    rules: Rules,
    order: Sequence[int] | None = None,
) -> Selection:
    """The candidates that fit, the best first, long candidates later (`packing.entering`): all
    whole but the last one, which is condensed.  A row is shown once.

    budget  tokens of the laid-out text; None: no limit, and nothing is condensed
    order   places of the candidates in order of entering, if each row stands there once; None: by
            `packing.entering`

    `lay_out` of the selection has at most `budget` tokens.  A larger budget shows the same rows,
    and others.  If a banner leaves no room for anything else, there is none, and the best candidate
    stands alone.  Cost: a counting of each candidate, and of the laid-out text a few times.
    """
    return _selected(_once(candidates) if order is None else candidates, budget, rules, order)


def fill(
    candidates: Sequence[Candidate], budget: int | None, rules: Rules, together: str = ""
) -> Selection:
    """The candidates of several sources that fit, each source within its share, what a source does
    not need in order of score (`packing.clocked`).

    candidates  of each source the best first; a row that several sources offer is shown once, where
                it was taken first
    budget      as for `select`
    together    heading under which all stand if headings and banner of their own sections would
                take more than an eighth of the budget; "": none

    `lay_out` of the selection has at most `budget` tokens.  A larger budget shows the same rows,
    and others.  Raises InputError for a share below 0 and shares above 100 in all.  Cost: as
    `select`, and a condensing of each item above `largest`.
    """
    shares, counter = rules.shares, rules.counter
    if not all(share >= 0.0 for share in shares.values()) or sum(shares.values()) > 100.0:
        raise InputError(
            f"the shares {dict(shares)} are below 0, or above 100 in all",
            where="context",
            cure="give percent of the budget, at most 100 in all",
        )
    if budget is None and rules.max_items is not None:
        candidates = _by_number(candidates, rules.max_items, shares)
    best = _highest(candidates)
    if budget is None or sum(counter.units(c.text) for c in best) <= budget * counter.per_token:
        selection = _selected(best, budget, replace(rules, shares={}, largest=1.0))
        if not selection.cut:
            return selection
    if budget is None:
        return _selected(best, budget, rules)
    whole = [rules.whole(c) for c in candidates]
    order = clocked(
        [
            (_source(c), c.row, c.score, min(counter.units(item.text) / counter.per_token, LONG))
            for c, item in zip(candidates, whole, strict=True)
        ],
        shares,
    )
    kept = sorted(order)
    candidates, whole = [candidates[n] for n in kept], [whole[n] for n in kept]
    place = {n: at for at, n in enumerate(kept)}
    order = [place[n] for n in order]
    if together and rules.form.headings:
        sections = tuple(dict.fromkeys(c.section for c in candidates))
        apart = sum(_opening(section, rules) for section in sections) + _banner(
            sections, budget, rules
        )
        if apart > SHELL * budget * counter.per_token:
            # no more rows than where the sections come to stand apart
            under = [replace(c, section=together, source=_source(c)) for c in candidates]
            whole = [
                replace(item, section=together, source=c.source)
                for c, item in zip(under, whole, strict=True)
            ]
            room = (1.0 / SHELL - 1.0) * apart
            return _Fitting(under, whole, budget, rules, order, order[0], room).selection()
    return _Fitting(candidates, whole, budget, rules, order, order[0] if order else 0).selection()


def cap_of(budget: int, largest: float = LARGEST) -> int:
    """Tokens above which an item is condensed before others are left out: a share of the budget, at
    least 128.

    >>> cap_of(512), cap_of(4096), cap_of(512, 1.0)
    (128, 256, 512)
    """
    return int(largest * budget) if largest == 1.0 else max(int(largest * budget), LONG)


def _selected(
    candidates: Sequence[Candidate],
    budget: int | None,
    rules: Rules,
    order: Sequence[int] | None = None,
) -> Selection:
    """`select`."""
    counter, most = rules.counter, len(candidates) if rules.max_items is None else rules.max_items
    whole = [rules.whole(c) for c in candidates]
    if budget is None or _all_fit(candidates, budget * counter.per_token, counter):
        shown = dict(enumerate(whole[:most]))
        all_whole = Selection(
            (*_ordered(shown, candidates, rules.in_time), *_also(rules.also, None, counter)), ()
        )
        forms = {c.form for c in candidates}
        if budget is None or (
            most >= len(candidates)
            and forms <= {Form.WHOLE}
            and counter.tokens(lay_out(all_whole.components, (), rules.form)) <= budget
        ):
            return all_whole
    if order is None:
        order = entering(
            [c.estimate for c in candidates], rules.least if rules.form.condenses else 0.0
        )
    return _Fitting(candidates, whole, budget, rules, order, 0).selection()


def _all_fit(candidates: Sequence[Candidate], room: float, counter: TokenCounter) -> bool:
    """Whether all texts have at most `room` units.  The shortest are counted first, so that a long
    one is not counted where the others leave it no room.
    """
    shortest_first = sorted((c.text for c in candidates), key=len)
    return all((room := room - counter.units(text)) >= 0 for text in shortest_first)


class _Fitting:
    """Selects under a budget.

    candidates  in the order in which they stand
    whole       each of them whole
    budget      tokens
    order       places of the candidates in order of entering
    best        place of the best one, which is always shown
    room        most units of all items
    most        components, apart from `also`
    items       the candidates in the longest form that they enter in
    sizes       units of these, with what stands between two
    extra       the asker's own text, if there is room for it
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        whole: Sequence[Component],
        budget: int,
        rules: Rules,
        order: Sequence[int],
        best: int,
        room: float = inf,
    ) -> None:
        self.candidates, self.whole, self.budget, self.rules = candidates, whole, budget, rules
        self.order, self.best, self.room = order, best, room
        self.most = len(candidates) if rules.max_items is None else rules.max_items
        self.counter, self.form, self.gap = (
            rules.counter,
            rules.form,
            rules.counter.units(rules.form.between),
        )
        largest = LARGEST if rules.relevance else rules.largest
        self.cap = (
            cap_of(budget, largest) * self.counter.per_token
            if largest < 1.0 and self.form.condenses
            else inf
        )
        self._texts: dict[int, Condensing] = {}
        self.items = (
            [rules.component(c, c.text, _without_caption(c, rules)) for c in candidates]
            if rules.packed
            else whole
        )
        self.sizes = [self.counter.units(item.text) + self.gap for item in self.items]
        # of each section: its candidates, and the tokens of all of them whole
        self._numbers: dict[str, list[int]] = {}
        self._tokens: dict[str, int] = {}
        for n, item in enumerate(whole):
            self._numbers.setdefault(item.section, []).append(n)
            self._tokens[item.section] = self._tokens.get(item.section, 0) + item.tokens
        self.extra = _also(
            rules.also,
            budget
            - self.counter.tokens(lay_out(_also(".", None, self.counter), (), self.form))
            + 1,
            self.counter,
        )

    def selection(self) -> Selection:
        """The selection: with a banner if it leaves room for the best candidate, else the best
        candidate alone.
        """
        # nothing stands beside half of it
        beside = not self.rules.also or (bool(self.extra) and self.extra[0].form is Form.WHOLE)
        if self.candidates and self.most and beside:
            for said in (True, False):
                if chosen := self._within(said):
                    return Selection(
                        (*_ordered(chosen, self.candidates, self.rules.in_time), *self.extra),
                        self._cuts(chosen, self.extra),
                        said,
                    )
        for extra, said in ((self.extra, True), (self.extra, False), ((), False)):
            cuts = self._cuts({}, extra)
            if (extra or not cuts) and self.counter.tokens(
                lay_out(extra, cuts if said else (), self.form)
            ) <= self.budget:
                return Selection(extra, cuts, said)
        return Selection((), self._cuts({}, ()), False)

    def _within(self, said: bool) -> dict[int, Component]:
        """What is shown of each candidate that is shown, by its place.  Without a banner the best
        candidate alone is shown.  {}: nothing fits.
        """
        first = self.best
        best = self._fit(first, self._beside(first) + SENTENCES * self.counter.per_token)
        if not said or self._left({first: best}, said) < 0:
            alone = self._fit(
                first,
                self._left({first: replace(best, text="", tokens=0)}, said)
                * self.counter.per_token,
            )
            fits = alone.tokens >= LEAST or alone.form is self.items[first].form
            return self._longer(self._shorter({first: alone}, said), said) if fits else {}
        room = self._room()
        entered = self._entering(room, self.counter.units(best.text) + self.gap)
        chosen = {n: self._fit(n, units) for n, units in entered.items()}
        if self.rules.relevance and self.form.condenses:
            chosen |= self._covering(entered, room)
        return self._longer(self._shorter({first: best, **chosen}, said), said)

    def _room(self) -> float:
        """Units of all items, beside the asker's text and a banner of the longest numbers.

        A banner with one digit more waits until the budget has more room with it than without, so
        that a larger budget never has less room.
        """
        sections, levels = (
            tuple(dict.fromkeys(c.section for c in self.candidates)),
            (self.budget, 10 ** len(str(self.budget))),
        )
        beside = self.counter.units(lay_out(self.extra, (), self.form))
        return (
            min(
                self.room,
                *(
                    budget * self.counter.per_token - _banner(sections, budget, self.rules)
                    for budget in levels
                ),
            )
            - beside
        )

    def _entering(self, room: float, best: float) -> dict[int, float]:
        """The candidates that enter, with the units that each may take.

        best  units that are set aside for the best one
        """
        entered, opened = {self.best: best}, set(self._lines(self.best))
        spent = best + sum(self._opening(line) for line in opened)
        for n in self.order:
            if n in entered:  # the best one, when its turn comes
                more, lines = (
                    min(self.sizes[n], max(self.cap, best)) - best,
                    list[tuple[str, str]](),
                )
            elif len(entered) >= self.most:
                continue
            else:
                lines = [line for line in self._lines(n) if line not in opened]
                spent += sum(self._opening(line) for line in lines)
                more = min(self.sizes[n], self.cap)
            if spent + more > room:
                if n in entered:
                    entered[n] = best + room - spent
                elif spent + self._shortest(n) <= room:
                    entered[n] = room - spent
                break
            entered[n] = entered.get(n, 0.0) + more
            opened.update(lines)
            spent += more
        return entered

    def _lines(self, n: int) -> list[tuple[str, str]]:
        """(section, day) of the lines under which a candidate stands: the heading of its
        section, and its day in it.
        """
        item = self.items[n]
        return [(item.section, ""), (item.section, item.day)] if item.day else [(item.section, "")]

    def _opening(self, line: tuple[str, str]) -> int:
        return self.counter.units(line[1]) + self.gap if line[1] else _opening(line[0], self.rules)

    def _beside(self, n: int) -> int:
        """Units of what stands beside the text of a condensed candidate."""
        return self.counter.units(self.form.item(self.candidates[n], "", Form.CUT))

    def _shortest(self, n: int) -> float:
        """Units of the shortest form of a candidate with which it may enter; infinite if it has
        none.
        """
        c = self.candidates[n]
        if not self.form.condenses or (c.forms is not None and not c.forms):
            return self.sizes[n]
        item = self._fit(
            n,
            self._beside(n)
            + (SHORTEST if c.forms is None else self.counter.tokens(c.forms[-1]))
            * self.counter.per_token,
        )
        return self.counter.units(item.text) + self.gap

    def _condensing(self, n: int) -> Condensing:
        if n not in self._texts:
            self._texts[n] = Condensing(
                self.candidates[n].text, self.counter, frozenset(self.rules.about)
            )
        return self._texts[n]

    def _fit(self, n: int, units: float) -> Component:
        """A candidate in the longest form of at most so many units; whole if no form can be
        shorter.
        """
        c, item = self.candidates[n], self.items[n]
        if (
            not self.form.condenses
            or self.sizes[n] <= units + self.gap
            or (c.forms is not None and not c.forms)
        ):
            return item
        tokens = int(units - self._beside(n)) // self.counter.per_token
        while True:
            shorter = _condensed(c, tokens, self.counter, self._condensing(n))
            shown = self.rules.component(
                c,
                shorter.text,
                Form.TEXT
                if shorter.form is Form.WHOLE and c.form is Form.WHOLE
                else c.form
                if shorter.form is Form.WHOLE
                else shorter.form,
            )
            above = self.counter.units(shown.text) - units
            if above <= 0 or tokens <= 0:
                return shown
            # escapes, fences and the mark of a caption take these units
            tokens -= max(1, int(above) // self.counter.per_token)

    def _left(self, of: Mapping[int, Component], said: bool) -> int:
        """Tokens that are left beside these and the banner that they need."""
        cuts = self._cuts(of, self.extra) if said else ()
        return self.budget - self.counter.tokens(
            lay_out(
                [*_ordered(of, self.candidates, self.rules.in_time), *self.extra], cuts, self.form
            )
        )

    def _cuts(self, of: Mapping[int, Component], extra: tuple[Component, ...]) -> tuple[Cut, ...]:
        """What each section shows of what it could; sections that are whole are left out."""
        cuts, also = [], self.rules.also
        for section, numbers in self._numbers.items():
            shown = [of[n] for n in numbers if n in of]
            if len(shown) < len(numbers) or any(c.form is not Form.WHOLE for c in shown):
                cuts.append(
                    Cut(
                        section,
                        len(shown),
                        len(numbers),
                        sum(c.tokens for c in shown),
                        self._tokens[section],
                    )
                )
        if also and (not extra or extra[0].form is not Form.WHOLE):
            cuts.append(
                Cut(
                    ADDITIONAL,
                    len(extra),
                    1,
                    sum(c.tokens for c in extra),
                    self.counter.tokens(also),
                )
            )
        return tuple(cuts)

    def _covering(self, entered: Mapping[int, float], room: float) -> dict[int, Component]:
        """Excerpts of the candidates that entered, which together take at most `room` units.

        entered  units that each takes at least
        """
        places, about = sorted(entered), frozenset(self.rules.about)
        room -= sum(
            self._opening(line) for line in {line for n in places for line in self._lines(n)}
        )
        worth = [self.rules.relevance.get(self.candidates[n].row, 0.0) for n in places]
        shown = excerpts(
            [self.candidates[n] for n in places],
            worth,
            int(room),
            self.counter,
            self.form,
            about,
            LONG,
            [entered[n] for n in places],
        )
        return {
            places[n]: self.rules.component(self.candidates[places[n]], excerpt.text, excerpt.form)
            for n, excerpt in shown.items()
        }

    def _shorter(self, chosen: dict[int, Component], said: bool) -> dict[int, Component]:
        """The chosen components within the budget: while they exceed it, the last ones are
        shortened, and at last left out.

        Needed only where the parts of a text do not add up to it: by the pieces of a tokeniser,
        escapes and long banners.
        """
        last = [n for n in reversed(self.order) if n != self.best and n in chosen]
        left = self._left(chosen, said)
        for n in (*last, self.best):
            while left < 0:
                size = self.counter.units(chosen[n].text)
                shown = self._fit(n, size + left * self.counter.per_token)
                if not self.form.condenses or not self.counter.units(shown.text) < size:
                    break
                chosen[n] = shown
                left = self._left(chosen, said)
        for n in last:
            if left >= 0:
                break
            del chosen[n]
            left = self._left(chosen, said)
        return chosen if left >= 0 else {}

    def _longer(self, chosen: dict[int, Component], said: bool) -> dict[int, Component]:
        """The chosen components in longer forms as far as these fit, the best first: whole
        components where possible, then condensed ones, then captions.
        """
        order, tried = [self.best, *(n for n in self.order if n != self.best)], 0
        room = self._left(chosen, said) * self.counter.per_token
        for whole in (True, False):
            for n in (
                [n for n in order if n in chosen and chosen[n].form is not self.items[n].form]
                if self.form.condenses
                else ()
            ):
                size = self.counter.units(chosen[n].text)
                if tried >= TRIED or room < self.counter.per_token:
                    break
                if whole and self.sizes[n] - self.gap - size > room + self.counter.per_token:
                    continue
                tried += 1
                more = {**chosen, n: self.items[n] if whole else self._fit(n, size + room)}
                if (
                    self.counter.units(more[n].text) > size
                    and (left := self._left(more, said)) >= 0
                ):
                    chosen, room = more, left * self.counter.per_token
        full = dict(chosen)
        for n in sorted(n for n in chosen if chosen[n].form is Form.TEXT):
            shown = self.whole[n]
            if (
                size := self.counter.units(shown.text) - self.counter.units(chosen[n].text)
            ) <= room:
                full[n] = shown
                room -= size
        return full if self._left(full, said) >= 0 else chosen


def lay_out(components: Sequence[Component], cuts: Sequence[Cut], form: Format) -> str:
    """The text of a selection: a banner about `cuts`, then each section under its heading, its
    memories inside one fence.  O(length).
    """
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


def _ordered(
    chosen: Mapping[int, Component], candidates: Sequence[Candidate], in_time: bool
) -> tuple[Component, ...]:
    """In the order of choice or of time, those that stand under no day first, section by
    section.
    """
    sections = list(dict.fromkeys(c.section for c in candidates))

    def place(n: int) -> tuple[int, int, float, int]:
        time = candidates[n].time
        # day of the speaker's clock, so that each day has one line
        day = candidates[n].day if in_time and chosen[n].day else 0
        return (
            sections.index(candidates[n].section),
            day,
            (inf if time is None else time) if in_time else 0.0,
            n,
        )

    return tuple(chosen[n] for n in sorted(chosen, key=place))


def _once(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates without those whose row stands before them."""
    first: dict[int, int] = {}
    for n, c in enumerate(candidates):
        first.setdefault(c.row, n)
    return [c for n, c in enumerate(candidates) if c.row < 0 or first[c.row] == n]


def _source(c: Candidate) -> str:
    return c.source or c.section


def _by_number(
    candidates: Sequence[Candidate], most: int, shares: Mapping[str, float]
) -> Sequence[Candidate]:
    """So many candidates: of each source the first within its share of the number, then the best
    of all; in the given order, a row once.
    """
    left = {source: int(most * share / 100.0) for source, share in shares.items()}
    taken, rows = set[int](), set[int]()
    for pool, within in (
        (range(len(candidates)), True),
        (sorted(range(len(candidates)), key=lambda n: -candidates[n].score), False),
    ):
        for n in pool:
            c, source = candidates[n], _source(candidates[n])
            if (
                n in taken
                or len(taken) >= most
                or (c.row >= 0 and c.row in rows)
                or (within and left.get(source, 0) < 1)
            ):
                continue
            taken.add(n)
            rows.add(c.row)
            left[source] = left.get(source, 0) - 1
    return [candidates[n] for n in sorted(taken)]


def _highest(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates without those whose row is offered with a higher score."""
    best: dict[int, tuple[float, int]] = {}
    for n, c in enumerate(candidates):
        best[c.row] = max(best.get(c.row, (c.score, -n)), (c.score, -n))
    return [c for n, c in enumerate(candidates) if c.row < 0 or -best[c.row][1] == n]


def _condensed(
    c: Candidate, tokens: int, counter: TokenCounter, condensing: Condensing
) -> Condensed:
    """A candidate's text in at most so many tokens: the longest of its own forms, if it has any,
    else condensed, or the line before it alone.

    Where keywords would leave most of the tokens empty, the first part of the text stands in their
    place.
    """
    if c.forms is not None:
        return next(
            (Condensed(text, Form.SUMMARY) for text in c.forms if counter.tokens(text) <= tokens),
            Condensed(c.forms[-1], Form.SUMMARY),
        )
    shorter = condensing.to(tokens)
    if shorter.form is Form.CUT and c.before.endswith("\n") and not shorter.text:
        return Condensed("", Form.SUMMARY)
    if shorter.form is Form.KEYWORDS and 2 * counter.tokens(shorter.text) < tokens:
        return Condensed(cut(c.text, tokens, counter), Form.CUT)
    return shorter


def _without_caption(c: Candidate, rules: Rules) -> Form:
    """TEXT, if the candidate has a caption without a stem of the query that its text lacks; else
    the form that it has.
    """
    form = rules.form
    if (
        c.form is not Form.WHOLE
        or not form.condenses
        or len(form.item(c, "", Form.TEXT)) >= len(form.item(c, "", Form.WHOLE))
    ):
        return c.form
    caption, text = (
        frozenset(terms_of(wording, stem=True, stop_words=True)) for wording in (c.caption, c.text)
    )
    return Form.WHOLE if frozenset(rules.about) & caption - text else Form.TEXT


def _opening(section: str, rules: Rules) -> int:
    """Units of the heading and the fence of a section."""
    empty = Component(ComponentKind.SEMANTIC, -1, "", 0, 0.0, section, Form.WHOLE)
    return rules.counter.units(lay_out([empty], (), rules.form)) + rules.counter.units("\n\n")


def _banner(sections: Collection[str], budget: int, rules: Rules) -> int:
    """Units of a banner of the longest numbers that a budget of so many digits has."""
    digits = len(str(budget))
    items, tokens = 10 ** max(digits - 1, 1) - 1, 10**digits - 1
    worst = [Cut(section, items, items, tokens, 10 * tokens + 9) for section in sections]
    return rules.counter.units(lay_out((), worst, rules.form)) + rules.counter.units("\n\n")


def _also(text: str, tokens: int | None, counter: TokenCounter) -> tuple[Component, ...]:
    """The asker's own text as a component, condensed to so many tokens; none if nothing of it
    fits.
    """
    if not text:
        return ()
    whole = Component(
        ComponentKind.CUSTOM, -1, text, counter.tokens(text), inf, ADDITIONAL, Form.WHOLE
    )
    if tokens is None:
        return (whole,)
    shorter = condensed_to(text, tokens, counter)
    return (
        (replace(whole, text=shorter.text, tokens=counter.tokens(shorter.text), form=shorter.form),)
        if shorter.text
        else ()
    )
