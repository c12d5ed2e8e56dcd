"""Flood: facts among repeats, paraphrases and chatter.

In the first two, each of CUES cues has FACTS facts, most of them told at the start, and an answer
has three places; a question of a cue needs any of the facts told so far, evenly.  The other events
are repeats and chatter.  The number of events, their times and the questions do not depend on s.

`flood/repeats`: a share s of ROWS events repeats facts of the cues word by word, the rest is
chatter.  Need is even over facts, however often they were told, so the best answer shows three
different facts: its hit@3 is 3 / (facts told), and repeats in the answer cost.
`flood/paraphrases`: a share s of four of the six memories of a cue tells one of the other two in
other words and with a detail of its own; need is even over tellings, so the best answer is any
three, and a memory that drops paraphrases loses.

`flood/capacity`: a memory with room for a third of the rows.  In each of ROUNDS rounds every cue
has one telling, and is asked once at the end.  Need is even over its facts told so far, and an
answer has a place for each, so what counts is which are still visible.  At s = 1 each cue has FACTS
facts, and its other tellings say nothing that is needed: they repeat a fact or are chatter.  At s =
0 each is a fact of its own.  Then a third of what was told is all that any memory can keep, and
none is needed more than another: with m facts of each cue, a full memory of N facts answers N /
(CUES m) whatever it kept.  With three places, or cues told unevenly, a memory that keeps some of
each cue would do better.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.records import Event
from .base import DAY, MINUTE, START, Stream, World, WorldQuestion, ordered
from .words import ITEMS, LINES, chatter, memory_of, question_about, retold

CUES, FACTS, AT_FIRST, ROWS, CHATTER, QUESTIONS = 15, 6, 4, 150, 60, 300
COPIES = (5, 3, 2, 0, 0, 0)  # of the facts of a cue, at s = 1
# tellings of a cue that at s = 1 are paraphrases, and of which fact
PARAPHRASES = {1: 0, 2: 0, 4: 3, 5: 3}
DAYS, SHOWN = 40, 3
# tellings of each cue; most visible rows; days of a round
ROUNDS, CAPACITY, ROUND = ITEMS, 100, 2


def share_of(strength: float, most: tuple[int, ...]) -> list[int]:
    """A share s of some counts: whole numbers whose sum is the rounded share of the sum; the
    largest remainders are rounded up.

    >>> share_of(0.5, (5, 3, 2, 0)), share_of(0.0, (5, 5)), share_of(0.5, (1, 1, 1, 1))
    ([3, 1, 1, 0], [0, 0], [1, 1, 0, 0])
    """
    exact = [strength * n for n in most]
    shares = [int(x) for x in exact]
    for i in sorted(range(len(most)), key=lambda i: (shares[i] - exact[i], i))[
        : round(sum(exact)) - sum(shares)
    ]:
        shares[i] += 1
    return shares


def life(strength: float, seed: int, *, exact: bool) -> Stream:
    """One life of 300 events and 300 questions."""
    rng, steps = np.random.default_rng([3, seed]), list[Event | WorldQuestion]()
    place, cue_of = np.argsort(rng.random((CUES, FACTS)), axis=1), rng.permutation(CUES)
    told = {
        (c, f): max(0.0, (f - AT_FIRST + (c + 0.5) / CUES) * DAYS / 2.5) if f >= AT_FIRST else 0.0
        for c in range(CUES)
        for f in range(FACTS)
    }
    again = dict(zip(PARAPHRASES, share_of(strength, (1,) * len(PARAPHRASES)), strict=True))
    copied = share_of(strength, COPIES)
    known: dict[tuple[int, int], list[tuple[float, str]]] = {}

    def tell(day: float, text: str, id: str, fact: tuple[int, int] | None = None) -> None:
        steps.append(Event(START + DAY * day, text, "", f"day {int(day)}", id, dated=False))
        if fact:
            known.setdefault(fact, []).append((day, id))

    def text_of(c: int, f: int) -> str:
        if not exact and again.get(f):
            return retold(int(cue_of[c]), int(place[c, PARAPHRASES[f]]), f)
        return memory_of(int(cue_of[c]), int(place[c, f]))

    for n, ((c, f), day) in zip(rng.permutation(len(told)).tolist(), told.items(), strict=True):
        tell(day + n / 86400.0, text_of(c, f), f"c{c}f{f}", (c, f))
    # which fact is told how often
    shuffled = [rng.permutation(FACTS) for _ in range(CUES)]
    repeats = [
        (c, int(shuffled[c][i]), n, n < copied[i])
        for c in range(CUES)
        for i in range(FACTS)
        for n in range(COPIES[i])
    ]
    lines = rng.permutation(LINES)
    for i, slot in enumerate(rng.permutation(ROWS + CHATTER)):
        day = DAYS * (i + 0.5) / (ROWS + CHATTER)
        if slot < ROWS:
            c, f, n, on = repeats[slot]
            # a repeat comes after the fact; the same time for every s
            day = max(day, told[c, f] + 0.1 * (n + 1))
            if on and exact:
                tell(day, text_of(c, f), f"c{c}f{f}n{n}", (c, f))
                continue
        tell(day, chatter(int(lines[i])), f"x{i}")
    ideal = []
    for q, c in enumerate(rng.permuted(np.repeat(np.arange(CUES), QUESTIONS // CUES)).tolist()):
        day = DAYS * (q + 0.75) / QUESTIONS
        fits = [
            tuple(id for since, id in known[c, f] if since < day)
            for f in range(FACTS)
            if told[c, f] + 1e-3 < day
        ]
        steps.append(
            WorldQuestion(
                f"q{q}",
                START + DAY * day,
                question_about(int(cue_of[c]), q),
                tuple(fits),
                int(rng.integers(len(fits))),
            )
        )
        ideal.append(np.full(len(fits), 1.0 / len(fits)))
    return Stream(ordered(steps), lambda: ideal)


def crowded(strength: float, seed: int) -> Stream:
    """One life of 300 events and 300 questions, in rounds of two days: an event of each cue, and
    at the end a question about each.
    """
    rng, steps = np.random.default_rng([4, seed]), list[Event | WorldQuestion]()
    cue_of, item = rng.permutation(CUES), np.argsort(rng.random((CUES, ROUNDS)), axis=1)
    # rounds: those of the other facts, and those of the flood
    later = AT_FIRST + rng.permutation(ROUNDS - AT_FIRST)
    flood = later[FACTS - AT_FIRST :]
    # rounds of the flood that say nothing that is needed
    empty = set(flood[: round(strength * len(flood))].tolist())
    # -1: chatter
    again = [place for place, times in enumerate(COPIES) for _ in range(times)] + [-1] * (
        len(flood) - sum(COPIES)
    )
    said = {
        (c, int(r)): int(what)
        for c in range(CUES)
        for r, what in zip(flood, rng.permutation(again), strict=True)
    }
    early, lines = np.argsort(rng.random((CUES, AT_FIRST)), axis=1), rng.permutation(LINES)
    facts, first, beliefs, kept = (
        [list[list[str]]() for _ in range(CUES)],
        dict[str, int](),
        list[NDArray[np.float64]](),
        list[NDArray[np.bool_]](),
    )
    for r in range(ROUNDS):
        for i, c in enumerate(rng.permutation(CUES).tolist()):
            id, text = f"c{c}r{r}", memory_of(int(cue_of[c]), int(item[c, r]))
            if r not in empty:
                facts[c].append([id])
                first[id] = len(first)
            elif said[c, r] < 0:
                text = chatter(int(lines[(r - AT_FIRST) * CUES + i]))
            else:
                of = int(early[c, said[c, r]])
                text = memory_of(int(cue_of[c]), int(item[c, of]))
                facts[c][of].append(id)
            steps.append(
                Event(
                    START + DAY * ROUND * (r + i / (CUES + 0.5)),
                    text,
                    "",
                    f"round {r}",
                    id,
                    dated=False,
                )
            )
        for i, c in enumerate(rng.permutation(CUES).tolist()):
            fits = tuple(map(tuple, facts[c]))
            steps.append(
                WorldQuestion(
                    f"q{r}c{c}",
                    START + DAY * ROUND * (r + 0.92) + i * MINUTE * 10,
                    question_about(int(cue_of[c]), r),
                    fits,
                    int(rng.random() * len(fits)),
                )
            )
            beliefs.append(np.full(len(fits), 1.0 / len(fits)))
            kept.append(np.array([first[ids[0]] < CAPACITY for ids in fits]))
    return Stream(ordered(steps), lambda: beliefs, lambda: kept)


_ABOUT, _SHARE = (
    "need is even over facts, however often they were told",
    "share of the flood that repeats facts; the rest is chatter",
)
WORLDS = (
    World(
        "flood/repeats",
        _ABOUT,
        _SHARE,
        "Anderson & Schooler (1991), doi:10.1111/j.1467-9280.1991.tb00174.x",
        SHOWN,
        partial(life, exact=True),
    ),
    World(
        "flood/paraphrases",
        "need is even over tellings, which differ in a detail",
        "share of the tellings that paraphrase another",
        "",
        SHOWN,
        partial(life, exact=False),
        margin=0.02,
    ),
    World(
        "flood/capacity",
        "need is even over facts, of which a third of the rows can stay visible",
        "share of the flood that says nothing that is needed; the rest are facts of their own",
        "",
        ROUNDS,
        crowded,
        capacity=CAPACITY,
    ),
)
