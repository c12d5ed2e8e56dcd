"""The order in which memories enter a context.  No budget changes it, so that what enters under one
enters under every larger one.

**By rank and length.**  If the chance that a memory of rank r, from 1, and of length l is evidence
                         falls as 1 / r^q and grows as l^s, what it brings
for each token is r^-q l^(s - 1), whose order is that of

    r l^((1 - s) / q),    the smallest first, ties by rank

So there is one exponent: 0 is best first, and a large one is shortest first.  On LoCoMo a logistic
regression finds q = 1.9 and s = 0.0 (120 best memories of each question of conversations 4 and 5),
so 0.5, which is taken up to 64 tokens.  Beyond them it is 0.75: a long memory that does not fit
leaves more of the budget to a part of itself.  Lengths up to 16 tokens count as 16.  So a long
memory enters later than its rank, when the budget is several times its length.  A token is four
characters here, so that the order is the same for every counter.

**By clock.** Of several sources with shares each has a purse, into which its share of every token
of a growing budget goes, and takes its next memory when it can pay for it.  What a source no longer
needs, and what no source has a share of, goes into one more purse, from which the best memories of
all sources are paid.  Taken by time, that is one order for all budgets, and each source has its
share of every one (weighted fair queuing).

Engineering, ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from math import inf
from typing import Final

# Tried on LoCoMo at 512 and 1,024 tokens and on four chats of BEAM 100K at 512 to 4,096: 1/2 is
# best on the one, 3/4 on the other
POWER: Final = 0.5
STEEP: Final = 0.75  # above LONG tokens
LONG: Final = 64.0
SHORT: Final = 16.0  # tokens up to which a memory enters by its rank alone
REST: Final = ""  # the purse of what no source needs


def delay(tokens: float) -> float:
    """l^(1/2) up to 64 tokens, then (l / 64)^(3/4) times as much: what the rank of a memory of so
    many tokens is multiplied by.

    >>> delay(16.0), delay(64.0), delay(1024.0)
    (4.0, 8.0, 64.0)
    """
    return float(min(tokens, LONG) ** POWER * (max(tokens, LONG) / LONG) ** STEEP)


class Entering:
    """The order in which items enter, as far as it is certain, whatever is read next.

    places  of the items before which no later item can enter, in order of entering
    tokens  of these items

    >>> entering = Entering()
    >>> for tokens in (320, 20, 20, 20, 20, 20):
    ...     entering.read(tokens)
    >>> entering.places, entering.tokens
    ([1, 2, 3, 4, 0, 5], 420.0)
    """

    def __init__(self, least: float = SHORT) -> None:
        self.places, self.tokens = list[int](), 0.0
        self._least, self._waiting, self._read = least, list[tuple[float, int, float]](), 0

    def read(self, tokens: float) -> None:
        """Read the next item, of so many tokens.  O(log n)."""
        turn = (
            (self._read + 1) * delay(max(tokens, self._least)) if self._least else float(self._read)
        )
        heappush(self._waiting, (turn, self._read, tokens))
        self._read += 1
        # the earliest turn of the items that are not read yet
        earliest = (self._read + 1) * delay(self._least) if self._least else inf
        while self._waiting and self._waiting[0][0] <= earliest:
            self._enter()

    def _enter(self) -> None:
        _, place, tokens = heappop(self._waiting)
        self.places.append(place)
        self.tokens += tokens

    def all(self) -> list[int]:
        """The places of all items that were read.  O(n log n)."""
        while self._waiting:
            self._enter()
        return self.places


def entering(tokens: Sequence[float], least: float = SHORT) -> list[int]:
    """Places of items in the order in which they enter.  O(n log n).

    tokens  of the items, best item first
    least   length up to which lengths do not matter; 0: none matters

    >>> entering([20, 30, 160, 20, 30, 30, 30, 30, 30, 30, 30]), entering([32, 32, 32, 10])
    ([0, 1, 3, 4, 5, 6, 7, 2, 8, 9, 10], [0, 1, 3, 2])
    """
    order = Entering(least)
    for item_tokens in tokens:
        order.read(item_tokens)
    return order.all()


def clocked(
    offers: Sequence[tuple[str, int, float, float]], shares: Mapping[str, float]
) -> list[int]:
    """Places of offers in the order in which purses pay for them, a row once.  The first offer of
    the largest source that offers any comes first.

    offers  (source, row or -1, score, tokens) of each, of each source the best first
    shares  percent of the budget

    Cost: O(sources) for each offer.

    >>> clocked([("a", 0, 0.9, 10.0), ("a", 1, 0.8, 10.0), ("a", 2, 0.7, 10.0), ("b", 3, 0.6, 10.0)], {"a": 75.0, "b": 25.0})
    [0, 1, 2, 3]
    >>> clocked([("a", 0, 0.9, 10.0), ("a", 1, 0.8, 10.0), ("a", 2, 0.7, 10.0), ("b", 3, 0.6, 10.0)], {"a": 50.0, "b": 50.0})
    [0, 3, 1, 2]
    """
    queues = {
        source: [n for n, offer in enumerate(offers) if offer[0] == source]
        for source in shares
        if source != REST
    }
    queues[REST] = sorted(range(len(offers)), key=lambda n: (-offers[n][2], n))
    held = dict.fromkeys(queues, 0.0)
    ahead = dict.fromkeys(queues, 0)
    taken, rows, order = set[int](), set[int](), list[int]()

    def next_of(source: str) -> int:
        queue = queues[source]
        while ahead[source] < len(queue) and (
            queue[ahead[source]] in taken or offers[queue[ahead[source]]][1] in rows
        ):
            ahead[source] += 1
        return queue[ahead[source]] if ahead[source] < len(queue) else -1

    def take(source: str, n: int) -> None:
        held[source] -= offers[n][3]
        taken.add(n)
        order.append(n)
        if offers[n][1] >= 0:
            rows.add(offers[n][1])

    offering = [source for source in queues if source != REST and queues[source]]
    if offering:
        largest = max(offering, key=lambda source: shares[source])
        take(largest, queues[largest][0])
    while (rest := next_of(REST)) >= 0:
        live = {source: n for source in offering if (n := next_of(source)) >= 0}
        for source in offering:
            if source not in live:
                held[REST] += held[source]
        offering = list(live)
        live[REST] = rest
        rate = {**shares, REST: max(0.0, 100.0 - sum(shares[source] for source in offering))}
        due = {
            source: max(0.0, offers[n][3] - held[source]) / rate[source]
            if rate[source] > 0.0
            else inf
            for source, n in live.items()
        }
        first = min(due, key=due.__getitem__)
        if due[first] < inf:
            for source in due:
                held[source] += rate[source] * due[first]
        take(first, live[first])
    return order
