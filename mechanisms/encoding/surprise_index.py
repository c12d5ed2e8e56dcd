"""Surprise index: sets NEWS of a memory to the share of its facts that no earlier memory has said,
with bonuses for length, details and events.

True Memory (4.1, stage 4) counts fact fingerprints that are new and adds "small length, detail, and
event bonuses"; it prints no number.  The numbers here are those of its public code
(`truememory/predictive.py`).  The fingerprints of a text are its numbers with a unit, names, dates,
words of an event with two words on each side, and statements "X is Y"; the patterns for them are
ours.

    NEWS = 0.6 new / all + length bonus + min(0.15, 0.05 (numbers + dates)) + min(0.10, 0.05 new
    events), within [0.05, 1]

The length bonus is 0.05, 0.10 or 0.15 beyond 80, 150 or 300 characters.  A text without
fingerprints has 0.1 below 30 characters, 0.2 below 80, else 0.3; one with known fingerprints only
has 0.1; noise such as "ok" has 0.05.  A rejected event says nothing to memory.

The paper has "explicit contradiction detection for update verbs" besides; the public code's score has none.  With
`contradiction` above 0, a clause that tells a change ("moved to", "no longer", "now") contradicts what was said before
if an earlier memory has another value for the same subject and predicate (`shared/facts.py`) and none has this one, and
NEWS rises by that much, to 1 at most.  So a correction is news although all of its names are known; a return to a former
value is none.

Each memory keeps the codes of its new fingerprints; the set of all codes is derived from this
column, so a loaded memory continues with the same set.

Cost: O(length of the text) per event, about 90 us for an utterance, and one pass over NEWS; O(n)
once after loading or erasing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope, Structure
from ...engine.contract.hooks import Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import NEWS, ROW, WORTH
from ...engine.text.english import STOP_WORDS
from ...engine.text.features import SpeechAct, fold
from ...engine.text.memo import remembered
from ...engine.text.utf8 import hashed
from ..shared.facts import FactStanding, facts_of, predicate_of

# --- columns and the set of known fingerprints ----------------------------------------------------
NEW_FINGERPRINTS = Column(
    "new_fingerprints",
    np.int64,
    Scope.MEMORY,
    "1",
    0,
    "codes of the fingerprints that were new in the memory; 0: unused",
    ("kept",),
    low=0,
)


class KnownFingerprints:
    """The codes of all memories before a row, derived from NEW_FINGERPRINTS.

    codes   all of them
    rows    number of rows they are taken from
    judged  of these rows, those with a NEWS above 0
    """

    __slots__ = ("codes", "judged", "rows")

    def __init__(self) -> None:
        self.codes: set[int] = set()
        self.rows = self.judged = 0

    def until(self, row: int, column: NDArray[np.int64], news: NDArray[np.float64]) -> set[int]:
        """Codes of the rows before `row`.  O(new rows): one row between two events; all rows after
        loading, or after a memory was erased.

        column  (n, kept)  NEW_FINGERPRINTS
        news    (n,)       NEWS, above 0 for every event, 0 for an erased one
        """
        if np.count_nonzero(news[: self.rows]) != self.judged:
            self.codes.clear()
            self.rows = 0
        added = column[self.rows : row]
        self.codes.update(added[added != 0].tolist())
        self.rows, self.judged = row, int(np.count_nonzero(news[:row]))
        return self.codes


KNOWN_FINGERPRINTS = Structure(
    "known_fingerprints",
    "codes of the fingerprints of all memories so far",
    persists=False,
    phases=(Phase.ENCODE,),
    create=KnownFingerprints,
)

# --- fingerprints ---------------------------------------------------------------------------------
# Matched in lower case.  Every repeat is bounded, so the search is linear.
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?)\.?"
)
_YEAR: Final = r"(?:19|20)\d{2}"
_DATE: Final = re.compile(
    r"(?<![\w.])(?:" + "|".join((
        r"\d{4}-\d{1,2}-\d{1,2}", r"\d{1,2}[/.]\d{1,2}[/.]\d{2,4}",
        rf"\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? {_YEAR})?",
        rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?!\d)(?:,? {_YEAR})?", rf"{_MONTH},? {_YEAR}",
        _YEAR)) + r")(?!\w|[.:,/-]\d)")  # fmt: skip
_UNIT: Final = "|".join(
    (
        "ms|seconds?|secs?|minutes?|mins?|hours?|hrs?|h|days?|nights?|weeks?|months?|years?|times?|am|pm",
        "kg|kilos?|grams?|g|lbs?|ounces?|oz|tons?",
        "km|kilomet(?:re|er)s?|met(?:re|er)s?|m|cm|mm|miles?|feet|foot|ft|inch(?:es)?|steps?|acres?",
        "lit(?:re|er)s?|l|ml|gallons?|cups?|degrees",
        "dollars?|euros?|cents?|bucks|pounds?",
        "gb|mb|tb|people|percent|per cent|pages?|points?|rooms?|floors?",
    )
)
_NUMBER: Final = re.compile(
    r"(?<![\w.,])(?:[$€£¥]\d{1,15}(?:[.,]\d{1,9}){0,5}[kmb]?\b|\d{1,15}(?:[.,]\d{1,9}){0,5} ?%|\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?\b"
    rf"|\d{{1,15}}(?:[.,]\d{{1,9}}){{0,5}}[ -]?(?:{_UNIT})\b|\d{{1,3}}(?:,\d{{3}}){{1,5}}\b)"
)
_EVENTS: Final = re.compile(
    "accepted|adopted|agreed|announced|applied|arrived|bought|born|broke|built|cancelled|canceled|changed|"
    "chose|closed|completed|crashed|decided|delivered|deployed|diagnosed|died|discovered|divorced|dropped|"
    "earned|elected|engaged|enrolled|expanded|failed|finished|fired|fixed|founded|gave|graduated|grew|hired|"
    "injured|installed|invented|invited|joined|landed|launched|left|lost|married|merged|met|migrated|missed|"
    "moved|opened|ordered|passed|planted|postponed|promoted|proposed|published|quit|raised|received|recovered|"
    "rejected|released|renovated|rented|replaced|resigned|retired|returned|signed|sold|split|started|stole|"
    "stolen|stopped|switched|tested|took|transferred|travelled|traveled|turned|upgraded|visited|widowed|won"
)
_TOKEN: Final = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|[.,;:!?\n]")
_COPULA: Final = frozenset(("is", "are", "was", "were"))
_SIDE: Final = 2  # words on each side of the word of an event
_PART: Final = 3  # words of X and of Y in "X is Y"


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """What a text says, for comparison with other texts.

    all      each once, in the order numbers, dates, names, events, statements
    details  numbers and dates in the text, repeats included
    events   those of `all` that are events
    """

    all: tuple[str, ...]
    details: int
    events: frozenset[str]


@remembered
def fingerprints(text: str, names: tuple[str, ...]) -> Fingerprints:
    """Numbers with a unit, dates, names, events with their context, and statements "X is Y" of a
    text.  O(length).

    names  of the text, in normal form

    >>> fingerprints("Mia moved to Oslo on 3 May. The rent is 900 euros.", ("mia", "oslo")).all
    ('number:900euros', 'date:3 may', 'name:mia', 'name:oslo', 'event:mia moved to oslo', 'is:the rent=900 euros')
    """
    lower = fold(text).replace("’", "'")
    dates = [match.group().rstrip(".") for match in _DATE.finditer(lower)]
    numbers = [
        re.sub("[ ,-]", "", match.group()) for match in _NUMBER.finditer(_DATE.sub(";", lower))
    ]
    tokens = _TOKEN.findall(lower)
    words = [token for token in tokens if token[0].isalnum()]
    events = [
        f"event:{' '.join(words[max(0, i - _SIDE) : i + 1 + _SIDE])}"
        for i, word in enumerate(words)
        if _EVENTS.fullmatch(word)
    ]
    items = (
        *(f"number:{number}" for number in numbers),
        *(f"date:{date}" for date in dates),
        *(f"name:{name}" for name in names),
        *events,
        *_statements(tokens),
    )
    return Fingerprints(tuple(dict.fromkeys(items)), len(numbers) + len(dates), frozenset(events))


def _statements(tokens: list[str]) -> list[str]:
    """ "X is Y" of each clause: up to three words before the verb and after it, both with a
    content word.
    """
    statements, n = [], len(tokens)
    for i, token in enumerate(tokens):
        if token in _COPULA:
            start, end = i, i + 1
            while start > max(0, i - _PART) and tokens[start - 1][0].isalnum():
                start -= 1
            while end < min(n, i + 1 + _PART) and tokens[end][0].isalnum():
                end += 1
            x, y = tokens[start:i], tokens[i + 1 : end]
            if not STOP_WORDS.issuperset(x) and not STOP_WORDS.issuperset(y):
                statements.append(f"is:{' '.join(x)}={' '.join(y)}")
    return statements


def code(fingerprint: str) -> int:
    """A number of 63 bits, never 0, the same on every machine."""
    return hashed(fingerprint) >> 1 or 1


def told_values(text: str, speaker: str) -> tuple[tuple[str, str, bool], ...]:
    """(subject and predicate, the same with the value, whether the clause tells a change) of each
    fact of a text that holds and whose subject has one value at a time.  O(length).

    >>> told_values("I moved to Oslo. I like tea.", "Mia")
    (('told:mia lives_in', 'told:mia lives_in oslo', True),)
    """
    return tuple(
        (f"told:{f.subject} {f.predicate}", f"told:{f.subject} {f.predicate} {f.value}", f.change)
        for f in facts_of(text, speaker)
        if f.standing is FactStanding.HOLDS and predicate_of(f)[0]
    )


# --- equations ------------------------------------------------------------------------------------
LEAST: Final = 0.05
LETTERS: Final = 4  # a text with fewer letters and digits is noise


@kernel
def length_bonus(length: float) -> float:
    """0.05, 0.10, 0.15 beyond 80, 150, 300 characters, else 0.  Public code of True Memory.  Cost:
    O(1).

    >>> [length_bonus(x) for x in (80.0, 81.0, 151.0, 301.0)]
    [0.0, 0.05, 0.1, 0.15]
    """
    if length > 300.0:
        return 0.15
    if length > 150.0:
        return 0.10
    return 0.05 if length > 80.0 else 0.0


@kernel
def news(
    new: float,
    total: float,
    length: float,
    details: float,
    events: float,
    share: float,
    detail: float,
    event: float,
    repeated: float,
) -> float:
    """sigma = share new / all + length bonus + min(3 detail, detail d) + min(2 event, event v), in
    [0.05, 1].  True Memory 4.1 stage 4, in words; numbers of its public code.  Cost: O(1).

    new, total  fingerprints that no earlier memory has, and all of the text; none new: `repeated`;
                none at all: 0.1, 0.2, 0.3 by length
    length      characters
    details     d, numbers and dates in the text
    events      v, new fingerprints of events
    returns     1

    >>> round(news(1.0, 2.0, 100.0, 1.0, 0.0, 0.6, 0.05, 0.05, 0.1), 6), news(0.0, 0.0, 79.0, 0.0, 0.0, 0.6, 0.05, 0.05, 0.1)
    (0.4, 0.2)
    """
    if total == 0.0:
        return 0.1 if length < 30.0 else 0.2 if length < 80.0 else 0.3
    if new == 0.0:
        return repeated
    score = (
        share * new / total
        + length_bonus(length)
        + min(3.0 * detail, detail * details)
        + min(2.0 * event, event * events)
    )
    return min(1.0, max(LEAST, score))


@kernel
def contradicted(score: float, bonus: float) -> float:
    """min(1, sigma + c): NEWS of a memory that contradicts an earlier one.  True Memory 4.1 stage 4,
    in words; the form is ours.  Cost: O(1).

    >>> round(contradicted(0.1, 0.2), 6), contradicted(0.9, 0.2)
    (0.3, 1.0)
    """
    return min(1.0, score + bonus)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SurpriseIndexParams(Params):
    share: float  # weight of new / all
    detail: float  # of each number or date, three at most
    event: float  # of each new event, two at most
    noise: float  # NEWS of noise
    repeated: float  # NEWS of a text that says nothing new
    kept: int  # new fingerprints that a memory keeps
    contradiction: float  # of a told change that contradicts an earlier memory; 0: not looked for


class SurpriseIndex(Mechanism[SurpriseIndexParams]):
    """In a memory with a capacity ln NEWS is a vote on what stays visible: the odds of need in
    proportion to what a memory said that was new.
    """

    owns = (NEW_FINGERPRINTS, KNOWN_FINGERPRINTS)

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(NEWS, NEW_FINGERPRINTS, KNOWN_FINGERPRINTS))
    def judge(self, view: Any, incoming: Incoming) -> None:
        p, row, event = self.params, view.row, incoming.event
        known = view.known_fingerprints.until(row, view.new_fingerprints, view.news)
        text = event.words()
        told = fingerprints(text, incoming.features.entities)
        codes = {code(fingerprint): fingerprint for fingerprint in told.all}
        new = [number for number in codes if number not in known]
        values = told_values(text, event.speaker) if p.contradiction else ()
        contradicts = any(
            change and code(about) in known and code(value) not in known
            for about, value, change in values
        )
        also = dict.fromkeys(code(said) for about, value, _ in values for said in (about, value))
        kept = [*new, *(number for number in also if number not in known)][: p.kept]
        view.new_fingerprints[row, : len(kept)] = kept
        if (
            incoming.features.act is SpeechAct.NOISE
            or sum(c.isalnum() for c in text[:64]) < LETTERS
        ):
            view.news[row] = p.noise
            return
        events = sum(codes[number] in told.events for number in new)
        score = news(
            len(new),
            len(codes),
            len(text),
            told.details,
            events,
            p.share,
            p.detail,
            p.event,
            p.repeated,
        )
        view.news[row] = contradicted(score, p.contradiction) if contradicts else score

    @hook(Phase.CONSOLIDATE, reads=(NEWS,), adds=(WORTH,), sets=())
    def keep(self, view: Any, tick: Tick) -> None:
        judged = view.news > 0.0
        view.worth[judged] += np.log(view.news[judged])
