"""Hyperdimensional binding: encodes speaker, time, entities and words of each memory in one binary
vector of role-filler pairs.

Every name has its own vector of D random signs.  The product of a role and a filler binds them to a
pair that is similar to neither; the majority of a memory's pairs is its record, which is similar to
each pair.  The product of record and role is that role's filler with noise; the nearest known
vector removes the noise (Kanerva 2009; multiply, add and permute after Gayler 1998).  The query is
encoded in the same way and its record is compared with all records: "Ada said it" and "it is about
Ada" are different pairs with the same filler.

Signs are stored as bits, 0 for +1 and 1 for -1, so binding is XOR and the cosine is 1 - 2 h / D for
Hamming distance h.  Vectors of names are SHAKE-256 of the name: equal on every machine, and not
stored.  The cosine of a majority of m pairs with each pair is about sqrt(2 / (pi m)), that of
unrelated vectors 0 +- 1 / sqrt(D).  With the default of 2048 dimensions one of 31 pairs is
distinguished from 1,000 unrelated ones in 99.9 % of cases, from 100,000 in 98 %.

Cost: O(pairs D) per event, O(n D / 64) per query, one pass over the records (1 ms at 100,000
memories and D = 2048).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.base.times import moment
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import CREATED, ROW
from ...engine.text.features import Features, fold, terms_of
from ...engine.text.utf8 import encoded

Bits = NDArray[np.uint64]

# --- columns --------------------------------------------------------------------------------------
ROLE_FILLER_RECORD = Column(
    "role_filler_record",
    np.uint64,
    Scope.MEMORY,
    "bits",
    0,
    "majority of the memory's role-filler pairs, 64 signs per word",
    ("words",),
)
BINDING = signal(
    "binding",
    Facet.ASSOCIATION,
    "cosine of the records of query and memory; NaN if within the noise of unrelated records",
    scale=Scale.SIMILARITY,
)


# --- equations: multiply, add, permute ------------------------------------------------------------
def atom(name: str, words: int) -> Bits:
    """The random vector of a name, (words,) uint64: SHAKE-256 of the name, equal on every machine.
    Cost: O(words), about 1 us.

    >>> bool(np.all(atom("Ada", 4) == atom("Ada", 4))), round(cosine(atom("Ada", 160), atom("Bo", 160)), 1)
    (True, 0.0)
    """
    return np.frombuffer(hashlib.shake_256(encoded(name)).digest(8 * words), dtype="<u8").astype(
        np.uint64
    )


@kernel
def bind(a: Any, b: Any, out: Any) -> None:
    """a o b, the product of signs, as XOR of bits; its own inverse.  Gayler (1998), multiply;
    Kanerva (2009).  Cost: O(D / 64).

    a, b, out  (words,) uint64; out written

    >>> a, b, out = np.array([12], dtype=np.uint64), np.array([10], dtype=np.uint64), np.empty(1, dtype=np.uint64)
    >>> bind(a, b, out)
    >>> out.tolist()
    [6]
    """
    for w in range(out.shape[0]):
        out[w] = a[w] ^ b[w]


@kernel
def permute(a: Any, shift: int, out: Any) -> None:
    """rho^shift a, a cyclic shift of the signs; marks positions in a sequence.  Gayler (1998),
    permute; Kanerva (2009).  Cost: O(D / 64).

    a, out  (words,) uint64; out written, not the same array as a
    shift   ()       positions, 0 <= shift < D

    >>> out = np.empty(2, dtype=np.uint64)
    >>> permute(np.array([1, 0], dtype=np.uint64), 65, out)
    >>> out.tolist()
    [0, 2]
    """
    words, left = a.shape[0], np.uint64(shift % 64)
    for w in range(words):
        own, before = a[(w - shift // 64) % words], a[(w - shift // 64 - 1) % words]
        out[w] = (own << left) | (before >> (np.uint64(64) - left)) if left else own


@kernel
def tally(a: Any, minuses: Any) -> None:
    """Add a vector to a sum.  Gayler (1998), add.  Cost: O(D).

    a        (words,) uint64
    minuses  (D,)     int32, number of the m added vectors with -1 at each position; the sum of
                      signs is m - 2 minuses

    >>> minuses = np.zeros(64, dtype=np.int32)
    >>> tally(np.array([5], dtype=np.uint64), minuses)
    >>> minuses[:4].tolist()
    [1, 0, 1, 0]
    """
    for w in range(a.shape[0]):
        for bit in range(64):
            minuses[64 * w + bit] += np.int32((a[w] >> np.uint64(bit)) & np.uint64(1))


@kernel
def majority(minuses: Any, m: int, tie: Any, out: Any) -> None:
    """sgn(sum), where the sum is 0, the sign of `tie`.  Kanerva (2009), sum-vector with ties broken
    at random.  Cost: O(D).

    minuses  (D,)     int32, as counted by `tally`
    m        ()       number of added vectors
    tie      (words,) uint64, a random vector
    out      (words,) uint64, written

    >>> minuses, out = np.zeros(64, dtype=np.int32), np.empty(1, dtype=np.uint64)
    >>> minuses[:3] = 2, 1, 0
    >>> majority(minuses, 2, np.array([2], dtype=np.uint64), out)
    >>> out.tolist()
    [3]
    """
    for w in range(out.shape[0]):
        word = np.uint64(0)
        for bit in range(64):
            excess = 2 * minuses[64 * w + bit] - m
            if excess > 0 or (excess == 0 and (tie[w] >> np.uint64(bit)) & np.uint64(1)):
                word |= np.uint64(1) << np.uint64(bit)
        out[w] = word


@kernel
def ones(word: Any) -> Any:
    """Number of set bits of a 64-bit word, by parallel sums over pairs and nibbles, and a product
    whose highest byte is the sum of all bytes.  O(1).

    The compiler knows this form, and replaces it by the processor's instruction.  The product wraps
    around.

    >>> int(ones(np.uint64(2**63 + 5)))
    3
    """
    x = np.uint64(word)
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel
def hamming(a: Any, b: Any) -> Any:
    """h, number of different signs.  a, b (words,) uint64.  Kanerva (2009), Hamming distance.
    Cost: O(D / 64).
    """
    h = np.uint64(0)
    for w in range(a.shape[0]):
        h += ones(a[w] ^ b[w])
    return np.int64(h)


@kernel
def cosine(a: Any, b: Any) -> float:
    """a . b / D = 1 - 2 h / D.  a, b (words,) uint64.  Cost: O(D / 64).

    >>> cosine(np.array([0], dtype=np.uint64), np.array([255], dtype=np.uint64))
    0.75
    """
    return float(1.0 - 2.0 * hamming(a, b) / (64.0 * a.shape[0]))


@kernel
def sum_cosine(minuses: Any, m: int, a: Any) -> float:
    """Cosine of an integer sum and a vector: a record without the majority rule, at 32 times the
    memory.  Cost: O(D).

    minuses  (D,) int32, as counted by `tally`;  m  ()  number of added vectors;  a  (words,) uint64

    >>> minuses = np.zeros(64, dtype=np.int32)
    >>> tally(np.array([7], dtype=np.uint64), minuses)
    >>> sum_cosine(minuses, 1, np.array([7], dtype=np.uint64))
    1.0
    """
    dot, square = 0.0, 0.0
    for w in range(a.shape[0]):
        for bit in range(64):
            total = m - 2.0 * minuses[64 * w + bit]
            dot += -total if (a[w] >> np.uint64(bit)) & np.uint64(1) else total
            square += total * total
    return float(dot / np.sqrt(square * 64.0 * a.shape[0]))


@kernel
def cleanup(items: Any, noisy: Any) -> int:
    """Index of the item nearest to a noisy vector, the lowest among equals.  Kanerva (2009),
    clean-up memory.  Cost: O(items D / 64).

    items  (k, words) uint64;  noisy  (words,) uint64

    >>> cleanup(np.array([[0], [255]], dtype=np.uint64), np.array([251], dtype=np.uint64))
    1
    """
    nearest, least = -1, 64 * noisy.shape[0] + 1
    for i in range(items.shape[0]):
        h = hamming(items[i], noisy)
        if h < least:
            nearest, least = i, h
    return nearest


@kernel
def compare(records: Any, query: Any, least: float, out: Any) -> None:
    """Cosine of each record with the query, where it is at least `least`; other entries are not
    written.  Cost: O(n D / 64).

    records  (n, words) uint64;  query  (words,) uint64
    least    ()  cosine that unrelated vectors rarely reach: several 1 / sqrt(D)
    out      (n,)   written

    >>> out = np.full(2, np.nan)
    >>> compare(np.array([[1], [2**32 - 1]], dtype=np.uint64), np.array([1], dtype=np.uint64), 0.5, out)
    >>> out.tolist()
    [1.0, nan]
    """
    n, words = records.shape
    for i in range(n):
        h = np.uint64(0)
        # inlined: calling `cosine` on a slice takes four times as long
        for w in range(words):
            h += ones(records[i, w] ^ query[w])
        similarity = 1.0 - 2.0 * np.int64(h) / (64.0 * words)
        if similarity >= least:
            out[i] = similarity


# --- equations: holographic reduced representations, for comparison -------------------------------
@kernel
def convolve(a: Any, b: Any, out: Any) -> None:
    """a (*) b, circular convolution: binding of real vectors, not its own inverse.  Plate (1995).
    Cost: O(D^2).

    a, b, out  (D,)  entries of variance 1 / D; out written

    >>> out = np.empty(3)
    >>> convolve(np.array([0.0, 1.0, 0.0]), np.array([1.0, 2.0, 3.0]), out)
    >>> out.tolist()
    [3.0, 1.0, 2.0]
    """
    d = a.shape[0]
    out[:] = 0.0
    for i in range(d):
        for j in range(d):
            out[i + j - (d if i + j >= d else 0)] += a[i] * b[j]


@kernel
def involution(a: Any, out: Any) -> None:
    """a*, with a*_i = a_{-i mod D}: the approximate inverse of a under convolution.  Plate (1995).
    Cost: O(D).

    >>> out = np.empty(3)
    >>> involution(np.array([1.0, 2.0, 3.0]), out)
    >>> out.tolist()
    [1.0, 3.0, 2.0]
    """
    for i in range(a.shape[0]):
        out[-i % a.shape[0]] = a[i]


# --- records --------------------------------------------------------------------------------------
Pair = tuple[str, str]  # role, filler
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")
_MONTH = re.compile(rf"\b({'|'.join(MONTHS)})(?:r?uary|ch|il|e|y|ust|t|tember|ober|ember)?\b")
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b")


def dated(date: str) -> Iterator[Pair]:
    """Year, month and day of an explicit date, those that it contains; none for "yesterday" or
    "5/7/23".

    >>> list(dated("7 May 2023")), list(dated("May 2023")), list(dated("last week"))
    ([('day', '7'), ('month', '5'), ('year', '2023')], [('month', '5'), ('year', '2023')], [])
    """
    date = date.lower()
    if iso := _ISO.search(date):
        yield from zip(
            ("year", "month", "day"), (str(int(part)) for part in iso.groups()), strict=True
        )
        return
    month, year = _MONTH.search(date), _YEAR.search(date)
    if month and (day := _DAY.search(date)):
        yield "day", str(int(day[1]))
    if month:
        yield "month", str(MONTHS.index(month[1]) + 1)
    if year:
        yield "year", year[0]


def happened(time: float, offset: float | None = None) -> Iterator[Pair]:
    """Year, month and day of a simulated time, by a clock with an offset from UTC; none outside
    the calendar.
    """
    try:
        at = moment(time, offset)
    except (OverflowError, ValueError):
        return
    yield from (("year", str(at.year)), ("month", str(at.month)), ("day", str(at.day)))


def contents(features: Features) -> Iterator[Pair]:
    """Pairs of the entities, the dates, and the remaining terms of a text."""
    yield from (("about", name) for name in features.entities)
    for date in features.dates:
        yield from dated(date)
    named = set(terms_of(" ".join(features.entities)))
    yield from (("what", term) for term in dict.fromkeys(features.terms) if term not in named)


def bundled(pairs: Sequence[Pair], words: int) -> Bits:
    """The record of distinct role-filler pairs: sgn(sum of role o filler), ties broken by a
    random vector of this record.  Cost: O(pairs D).
    """
    minuses, pair, record = (
        np.zeros(64 * words, dtype=np.int32),
        np.empty(words, dtype=np.uint64),
        np.empty(words, dtype=np.uint64),
    )
    for role, filler in pairs:
        bind(atom(f"role {role}", words), atom(f"filler {filler}", words), pair)
        tally(pair, minuses)
    majority(minuses, len(pairs), atom(f"tie {sorted(pairs)}", words), record)
    return record


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class HyperdimensionalBindingParams(Params):
    words: int  # D / 64
    most_pairs: int  # largest number of pairs of a record
    least_sd: float  # no score below this many standard deviations of unrelated vectors
    weight: float


class HyperdimensionalBinding(Mechanism[HyperdimensionalBindingParams]):
    owns = (ROLE_FILLER_RECORD, BINDING)

    @hook(Phase.ENCODE, reads=(ROW, CREATED), adds=(), sets=(ROLE_FILLER_RECORD,))
    def store_record(self, view: Any, incoming: Incoming) -> None:
        who = [("who", fold(incoming.event.speaker))] if incoming.event.speaker else []
        when = happened(float(view.created[view.row]), incoming.event.offset)
        view.role_filler_record[view.row] = self._record(
            iter((*who, *when, *contents(incoming.features)))
        )

    @hook(Phase.RETRIEVE, reads=(ROLE_FILLER_RECORD,), adds=(), sets=(BINDING,))
    def match(self, view: Any, cue: Cue) -> None:
        """A name in the query may be the speaker or a person talked about: the query's record
        has both pairs.
        """
        asked = [("who", name) for name in cue.features.entities] + list(contents(cue.features))
        if asked:
            compare(
                view.role_filler_record,
                self._record(iter(asked)),
                self.params.least_sd / np.sqrt(64.0 * self.params.words),
                view.binding,
            )

    def _record(self, pairs: Iterator[Pair]) -> Bits:
        return bundled(
            list(islice(dict.fromkeys(pairs), self.params.most_pairs)), self.params.words
        )
