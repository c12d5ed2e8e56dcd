"""Pattern separation: gives each memory a sparse code, so that the codes of similar memories
overlap less than their embeddings.

The dentate gyrus has about five times as many granule cells as input cells, and only a few percent
of them are active at a time.  Expansion by a sparse random projection and competition separate
patterns, y = kWTA(W x): the codes of two inputs overlap less than the inputs, and less the sparser
the code (O'Reilly & McClelland 1994; Treves & Rolls 1994).  No code is orthogonalised against
stored ones, so a memory's code does not depend on earlier memories.

Here x is the embedding and y a second code, the k active units; the embedding that is searched does
not change.  The weights of unit u are hashed from its number and its generation floor(TURNOVER + u
/ units), so cells are replaced one by one (see neurogenesis) without any state here. Memories keep
the code of their time of storage, and a replaced cell responds to no cue.  Cells of the first
generation are mature; later cells are easier to drive at a young age a, by the factor e(a) = 1 +
e_1 exp(-(a - a_0)^2 / 2 s^2).

Cost: O(units c) for c inputs per unit (0.1 ms for 2048 units with 77, and 1 ms once for each
generation of cells), O(n k^2 / units) per event and O(n + n k^2 / units) per query: the memories of
each cell are listed, 2 k bytes a memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import exact_kernel, formula, kernel, place_from, read_only
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, Structure, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import DUPLICATE, ROW, TURNOVER, VISIBLE

# --- columns --------------------------------------------------------------------------------------
SEPARATION_CODE = Column(
    "separation_code",
    np.int32,
    Scope.MEMORY,
    "1",
    -1,
    "active cells (unit and generation) at storage; -1: none",
    ("active",),
)
SEPARATION_EVENT_CODE = Column(
    "separation_event_code",
    np.int32,
    Scope.EVENT,
    "1",
    -1,
    "active cells of the current event",
    ("active",),
)
SEPARATION = signal(
    "separation",
    Facet.MEANING,
    "share of active cells common to the codes of memory and cue",
    scale=Scale.SIMILARITY,
)

GENERATION: Final = 32_768  # a cell's number is unit + generation * GENERATION
QUANTILES: Final = 256  # of the distribution of weights
GAPS: Final = 4096  # of the distribution of distances between inputs
BLOCKS: Final = (65_536, 8_192, 1_024)  # memories whose lists stand together
# lists that are read beyond those of which a duplicate must be on one
SPARE: Final = 3


# --- equations: the projection W ------------------------------------------------------------------
@kernel
def mixed(x: int) -> int:
    """32-bit integer hash.  Products stay below 2^59, so compiled and plain arithmetic agree.
    Cost: O(1).
    """
    x = (((x >> 16) ^ x) & 0xFFFFFFFF) * 0x45D9F3B & 0xFFFFFFFF
    x = ((x >> 16) ^ x) * 0x45D9F3B & 0xFFFFFFFF
    return (x >> 16) ^ x


def weight_quantiles(spread: float) -> NDArray[np.float64]:
    """(256,) equally likely values of a lognormal weight, ln w ~ N(0, spread^2).

    >>> weights = weight_quantiles(0.5)
    >>> bool(abs(np.median(weights) - 1.0) < 0.01), round(float(np.std(np.log(weights))), 2)
    (True, 0.5)
    """
    shares = (np.arange(QUANTILES) + 0.5) / QUANTILES
    # not by scipy, whose import takes 0.2 s
    deviates = np.array([NormalDist().inv_cdf(share) for share in shares.tolist()])
    weights: NDArray[np.float64] = np.exp(spread * deviates)
    return weights


def gap_quantiles(connectivity: float) -> NDArray[np.int64]:
    """(4096,) equally likely distances between successive inputs of a unit that reads each input
    with probability `connectivity`.

    >>> gap_quantiles(0.5)[[0, 2047, 2048, 4095]].tolist()
    [1, 1, 2, 13]
    """
    tail = 1.0 - (np.arange(GAPS) + 0.5) / GAPS
    return (
        np.ones(GAPS, dtype=np.int64)
        if connectivity >= 1.0
        else np.ceil(np.log(tail) / np.log1p(-connectivity)).astype(np.int64)
    )


@kernel
def afferents(
    seed: int, unit: int, generation: int, inputs: int, gaps: Any, weights: Any, index: Any, w: Any
) -> int:
    """The row of W of one cell: a random set of inputs, each with a random weight >= 0.  Returns
    the number of inputs.  Cost: O(c).

    seed, unit, generation       determine the row completely
    inputs   ()           1      N
    gaps     (4096,)      1      equally likely distances between successive inputs
    weights  (256,)       1      equally likely weights
    index    (N,)                its inputs, ascending; the first entries are written
    w        (N,)         1      their weights; likewise

    >>> index, w = np.empty(4, dtype=np.int64), np.empty(4)
    >>> afferents(0, 7, 0, 4, np.ones(4096, dtype=np.int64), np.ones(256), index, w), index.tolist()
    (4, [0, 1, 2, 3])
    """
    cell, at, n = mixed(mixed(mixed(seed) + unit) + generation), -1, 0
    while True:
        draw = mixed(cell + n + 1)
        # 12 bits choose the distance, 8 other bits the weight
        at += gaps[draw >> 20]
        if at >= inputs:
            return n
        index[n], w[n] = at, weights[draw & 255]
        n += 1


@formula
def generation_of(turnover: float, unit: int, units: int) -> int:
    """floor(TURNOVER + u / M): births occur evenly, one unit after the other.  Cost: O(1).

    >>> [generation_of(0.25, u, 4) for u in range(4)]
    [0, 0, 0, 1]
    """
    return math.floor(turnover + unit / units)


def generations(turnover: float, units: int) -> range:
    """Generations of the units that live: one, or two while the units of one are replaced.  Cost:
    O(1).

    >>> generations(0.25, 4), generations(1.0, 4)
    (range(0, 2), range(1, 2))
    """
    return range(generation_of(turnover, 0, units), generation_of(turnover, units - 1, units) + 1)


@kernel
def excitability(age: float, excess: float, peak: float, width: float) -> float:
    """e(a) = 1 + e_1 exp(-(a - a_0)^2 / (2 s^2)), factor on the drive of a cell.  After Aimone,
    Wiles & Gage (2009).  Cost: O(1).

    age          populations  of the cell; 1: the time in which the whole population is replaced
    excess       1            e_1
    peak, width  populations  a_0 and s of the critical window

    >>> round(float(excitability(0.2, 1.0, 0.2, 0.05)), 6), round(float(excitability(0.5, 1.0, 0.2, 0.05)), 6)
    (2.0, 1.0)
    """
    return 1.0 + excess * float(np.exp(-0.5 * ((age - peak) / width) ** 2))


@kernel
def _count_readers(
    seed: int,
    generation: int,
    gaps: Any,
    numbers: Any,
    weights: Any,
    index: Any,
    number: Any,
    first: Any,
    total: Any,
) -> None:
    """Add the units that read input j to first[j + 1], and the weights of each unit to `total`."""
    for u in range(total.shape[0]):
        for slot in range(
            afferents(seed, u, generation, index.shape[0], gaps, numbers, index, number)
        ):
            first[index[slot] + 1] += 1
            total[u] += weights[int(number[slot])]


@kernel
def _place_readers(
    seed: int,
    generation: int,
    units: int,
    gaps: Any,
    numbers: Any,
    index: Any,
    number: Any,
    at: Any,
    unit: Any,
    drawn: Any,
) -> None:
    """Write the units that read each input, and the number of each weight, from `at` of the input
    on, which moves on.
    """
    for u in range(units):
        for slot in range(
            afferents(seed, u, generation, index.shape[0], gaps, numbers, index, number)
        ):
            place = at[index[slot]]
            unit[place], drawn[place] = u, number[slot]
            at[index[slot]] += 1


@formula
def projection(seed: int, generation: int, units: int, inputs: int, gaps: Any, weights: Any) -> Any:
    """W of the cells of one generation, by input: (first, unit, drawn, total).  Cost: O(M c + N)
    for c inputs per unit.

    seed, generation  determine W completely
    units, inputs     M, N
    gaps, weights     as for `afferents`
    first             (N + 1,)    input j is read by unit[first[j]:first[j + 1]], ascending
    unit, drawn       (readers,)  a unit that reads, with the weight weights[drawn]
    total             (M,)     1  sum of the weights of each unit

    >>> first, unit, drawn, total = projection(0, 0, 3, 2, np.ones(4096, dtype=np.int64), np.ones(256))
    >>> first.tolist(), unit.tolist(), total.tolist()
    ([0, 3, 6], [0, 1, 2, 0, 1, 2], [2.0, 2.0, 2.0])
    """
    index, number, numbers = (
        np.empty(inputs, dtype=np.int64),
        np.empty(inputs),
        np.arange(float(QUANTILES)),
    )
    first, total = np.zeros(inputs + 1, dtype=np.int64), np.zeros(units)
    _count_readers(seed, generation, gaps, numbers, weights, index, number, first, total)
    np.cumsum(first, out=first)
    at, unit, drawn = (
        first.copy(),
        np.empty(first[inputs], dtype=np.uint16),
        np.empty(first[inputs], dtype=np.uint8),
    )
    _place_readers(seed, generation, units, gaps, numbers, index, number, at, unit, drawn)
    return first, unit, drawn, total


@lru_cache(maxsize=8)
def readers(
    seed: int, generation: int, units: int, inputs: int, connectivity: float, spread: float
) -> tuple[Any, Any, Any, Any, Any]:
    """`projection` and the weights, kept for the last eight: 0.5 MB each for 2048 units that
    read 77 of 384 inputs.
    """
    weights = weight_quantiles(spread)
    return *projection(
        seed, generation, units, inputs, gap_quantiles(connectivity), weights
    ), weights


@kernel
def drive(
    x: Any,
    first: Any,
    unit: Any,
    drawn: Any,
    total: Any,
    weights: Any,
    generation: int,
    turnover: float,
    normalised: bool,
    excess: float,
    peak: float,
    width: float,
    out: Any,
) -> None:
    """h = W x of the cells of one generation, times their excitability if they were born during the
    simulation.  Cost: O(M c).

    x                                  (N,)    1  input
    first, unit, drawn, total, weights            as `readers` returns them for the generation
    turnover                           ()         populations  TURNOVER
    normalised                         ()         whether the weights of each unit are scaled to sum
                                                  1
    excess, peak, width                           as for `excitability`
    out                                (M,)    1  h of the units whose cells are of the generation,
                                                  which follow one another; written

    >>> out = np.empty(3)
    >>> drive(np.full(8, 0.5), *readers(0, 0, 3, 8, 0.9, 0.5), 0, 0.0, True, 0.0, 0.2, 0.1, out)
    >>> out.round(9).tolist()
    [0.5, 0.5, 0.5]
    """
    units, low = out.shape[0], 0
    while low < units and generation_of(turnover, low, units) < generation:
        low += 1
    high = low
    while high < units and generation_of(turnover, high, units) == generation:
        out[high] = 0.0
        high += 1
    # each unit sums in the order of its inputs
    for j in range(x.shape[0]):
        start = place_from(unit, first[j], first[j + 1], low)
        for place in range(start, place_from(unit, start, first[j + 1], high)):
            out[unit[place]] += weights[drawn[place]] * x[j]
    for u in range(low, high):
        if normalised and total[u] > 0.0:
            out[u] /= total[u]
        if generation > 0 and out[u] > 0.0:
            out[u] *= excitability(turnover + u / units - generation, excess, peak, width)


# --- equations: the code --------------------------------------------------------------------------
@formula
def winners(h: Any, k: int) -> Any:
    """kWTA: the k units with the largest drive, lower numbers first among equals; sorted ascending.
    Cost: O(M).

    h  (M,)  1  drive of every unit
    k  ()    1  from 1 to M

    >>> winners(np.array([0.3, 0.9, 0.3, 0.8]), 3).tolist()
    [0, 1, 3]
    """
    least = np.partition(h, -k)[-k]
    units = np.flatnonzero(h >= least)
    if len(units) > k:  # more than one has the least drive: the last of them fall out
        units = np.delete(units, np.flatnonzero(h[units] == least)[k - len(units) :])
    return units


@exact_kernel
def cells(active: Any, turnover: float, units: int, out: Any) -> None:
    """Cell numbers of the active units, unit + generation * 32768; a replaced unit is a new cell.
    Cost: O(k).

    active    (k,)               units
    turnover  ()    populations  TURNOVER
    units     ()    1            M
    out       (k,)               int32, written

    >>> out = np.empty(2, dtype=np.int32)
    >>> cells(np.array([0, 3]), 0.25, 4, out)
    >>> out.tolist()
    [0, 32771]
    """
    for i in range(active.shape[0]):
        out[i] = active[i] + generation_of(turnover, active[i], units) * GENERATION


@exact_kernel
def by_unit(code: Any, units: int) -> Any:
    """(M,) int32: the active cell of each unit in a code; -1: none.  -1 in the code: no cell.
    Cost: O(M + k).

    >>> by_unit(np.array([1, 32768 + 3, -1]), 4).tolist()
    [-1, 1, -1, 32771]
    """
    firing = np.full(units, -1, dtype=np.int32)
    for i in range(code.shape[0]):
        if code[i] >= 0:
            firing[code[i] % GENERATION] = code[i]
    return firing


@exact_kernel
def in_common(code: Any, firing: Any) -> int:
    """Number of cells of a code (k,) that are active in `firing`, as `by_unit` returns it; -1 in
    the code: no cell.  Cost: O(k).

    >>> in_common(np.array([1, 3, -1]), by_unit(np.array([1, 32768 + 3]), 4))
    1
    """
    shared = 0
    # without a branch, so that the compiler uses vector instructions
    for i in range(code.shape[0]):
        shared += (code[i] >= 0) & (firing[max(code[i], 0) & (GENERATION - 1)] == code[i])
    return shared


@exact_kernel
def _shares(codes: Any, visible: Any, firing: Any, out: Any) -> None:
    """`overlaps` with a code as `by_unit` returns it."""
    for i in range(codes.shape[0]):
        if visible[i]:
            out[i] = in_common(codes[i], firing) / codes.shape[1]


@formula
def overlaps(codes: Any, visible: Any, code: Any, units: int, out: Any) -> None:
    """Share of active cells in common with one code.  Cost: O(n k).

    codes    (n, k)      cells of every memory; -1: none
    visible  (n,)        bool; entries of hidden memories are not written
    code     (k,)        cells of the cue
    units    ()     1    M
    out      (n,)   1    0..1, written

    >>> out = np.empty(1)
    >>> overlaps(np.array([[1, 4, 5, 32770]]), np.array([True]), np.array([1, 2, 4, 5]), 8, out)
    >>> out.tolist()
    [0.75]
    """
    _shares(codes, visible, by_unit(code, units), out)


@kernel
def list_of(cell: int, units: int) -> int:
    """Place of a cell's list, generation M + unit.  Cost: O(1).

    >>> list_of(32768 + 3, 8)
    11
    """
    return cell // GENERATION * units + cell % GENERATION


@kernel
def listed(codes: Any, units: int) -> Any:
    """Memories by cell: (base, first, row), those of cell c at row[first[i]:first[i + 1]] with i =
    list_of(c) - base, ascending.

    codes   (n, k)     cells of at most 65,536 memories; -1: none
    units   ()      1  M

    Cost: O(n k), and O(M) for each generation from the oldest to the newest.

    >>> base, first, row = listed(np.array([[65540, -1], [65539, 65540]], dtype=np.int32), 6)
    >>> base, first.tolist(), row.tolist()
    (12, [0, 0, 0, 0, 1, 3, 3], [1, 0, 1])
    """
    oldest, newest = 65_536, -1
    for cell in codes.flat:
        if cell >= 0:
            oldest, newest = min(oldest, cell // GENERATION), max(newest, cell // GENERATION)
    base, first = oldest * units, np.zeros(max(newest - oldest + 1, 0) * units + 1, dtype=np.int32)
    for cell in codes.flat:
        if cell >= 0:
            first[list_of(cell, units) - base + 1] += 1
    for c in range(first.shape[0] - 1):
        first[c + 1] += first[c]
    at, row = first.copy(), np.empty(first[-1], dtype=np.uint16)
    for i in range(codes.shape[0]):
        for cell in codes[i]:
            if cell >= 0:
                c = list_of(cell, units) - base
                row[at[c]] = i
                at[c] += 1
    return base, first, row


@kernel
def span_of(cell: int, units: int, base: int, first: Any) -> Any:
    """Where the list of a cell begins and ends; (0, 0) if it has none.  base, first: as `listed`
    returns them.  Cost: O(1).

    >>> span_of(32768 * 2 + 4, 6, 12, np.array([0, 0, 0, 0, 1, 3, 3])), span_of(4, 6, 12, np.array([0, 0, 0, 0, 1, 3, 3]))
    ((1, 3), (0, 0))
    """
    c = list_of(cell, units) - base
    return (first[c], first[c + 1]) if cell >= 0 and 0 <= c < first.shape[0] - 1 else (0, 0)


@kernel
def listed_overlaps(
    base: int, first: Any, row: Any, k: int, visible: Any, code: Any, units: int, out: Any
) -> None:
    """What `overlaps` writes, from the lists of `listed`.  Cost: O(n + n k^2 / M).

    base, first, row       as `listed` returns them
    k           ()      1  cells of a memory's code
    visible     (n,)       bool; entries of hidden memories are not written
    code        (k,)       cells of the cue
    units       ()      1  M
    out         (n,)    1  0..1, written

    >>> codes, out = np.array([[1, 4, 5, 32770]], dtype=np.int32), np.empty(1)
    >>> listed_overlaps(*listed(codes, 8), 4, np.array([True]), np.array([1, 2, 4, 5]), 8, out)
    >>> out.tolist()
    [0.75]
    """
    shared = np.zeros(visible.shape[0], dtype=np.uint16)
    for cell in code:
        start, stop = span_of(cell, units, base, first)
        for place in range(start, stop):
            shared[row[place]] += 1
    for i in range(visible.shape[0]):
        if visible[i]:
            out[i] = shared[i] / k


@formula
def least_common(threshold: float, k: int) -> int:
    """Fewest cells in common with a code of k cells that make a share of `threshold`.  Cost: O(1).

    >>> least_common(0.8, 41), least_common(0.1 + 0.2, 10)
    (33, 3)
    """
    return math.ceil(threshold * k - 1e-9)


@exact_kernel
def most_common(codes: Any, visible: Any, firing: Any, least: int) -> Any:
    """`repeated` with a code as `by_unit` returns it."""
    row = -1
    for i in range(codes.shape[0]):
        if visible[i]:
            # cells that may still differ: a code is left where it has too many
            spare = codes.shape[1] - least
            for j in range(codes.shape[1]):
                cell = codes[i, j]
                spare -= cell < 0 or firing[cell & (GENERATION - 1)] != cell
                if spare < 0:
                    break
            if spare >= 0:
                row, least = i, least + spare
    return row, least


@formula
def repeated(codes: Any, visible: Any, code: Any, units: int, least: int) -> Any:
    """(row, cells in common) of the memory with the most cells in common, the latest among equals;
    (-1, least) if none has `least`.  Cost: O(n k).

    Arguments as for `overlaps`;  least  ()  1  fewest cells in common of a duplicate

    >>> repeated(np.array([[0, 1], [0, 2], [3, 4]]), np.ones(3, dtype=np.bool_), np.array([0, 2]), 8, 1)
    (1, 2)
    """
    row, common = most_common(codes, visible, by_unit(code, units), least)
    return row, common


@kernel
def listed_repeated(
    base: int, first: Any, row: Any, codes: Any, visible: Any, code: Any, units: int, least: int
) -> Any:
    """What `repeated` returns for least >= 1, from the lists of `listed`.

    A memory with t = `least` of the k cells is on s + 1 or more of any k - t + 1 + s of their
    lists: only so few are read, the shortest, with s = 3, and only memories that are on s + 1 of
    them are compared.

    base, first, row  as `listed` returns them; other arguments as for `repeated`

    Cost: O(M + k^2 + (k - t) n k / M), less where lists differ in length, and O(k) for each
    memory that is compared.

    >>> codes = np.array([[0, 1], [0, 2], [3, 4]], dtype=np.int32)
    >>> listed_repeated(*listed(codes, 8), codes, np.ones(3, dtype=np.bool_), np.array([0, 2]), 8, 1)
    (1, 2)
    """
    cells, firing, best, spare = code[code >= 0], by_unit(code, units), -1, min(SPARE, least - 1)
    length, seen = (
        np.empty(cells.shape[0], dtype=np.int64),
        np.zeros(visible.shape[0], dtype=np.uint16),
    )
    for i in range(cells.shape[0]):
        start, stop = span_of(cells[i], units, base, first)
        length[i] = stop - start
    unread = np.ones(cells.shape[0], dtype=np.bool_)
    for _ in range(cells.shape[0] - least + 1 + spare):
        shortest = -1  # found by passes, since a sort takes a second to compile
        for i in range(cells.shape[0]):
            if unread[i] and (shortest < 0 or length[i] < length[shortest]):
                shortest = i
        unread[shortest] = False
        start, stop = span_of(cells[shortest], units, base, first)
        for place in range(start, stop):
            memory = row[place]
            seen[memory] += 1
            if seen[memory] == spare + 1 and visible[memory]:
                common = in_common(codes[memory], firing)
                if common > least or (common == least and memory > best):
                    best, least = memory, common
    return best, least


# --- equations: sparseness and capacity -----------------------------------------------------------
@kernel
def sparseness(rates: Any) -> float:
    """a = <r>^2 / <r^2>; for a binary code the share of active units.  Treves & Rolls, measure of
    sparseness.  Cost: O(M).

    >>> sparseness(np.array([1.0, 0.0, 0.0, 0.0]))
    0.25
    """
    return float(np.mean(rates) ** 2 / np.mean(rates * rates))


@kernel
def capacity(k: float, connections: float, a: float) -> float:
    """p_max = k' C_RC / (a ln(1 / a)), patterns that an autoassociative network of sparseness a can
    hold.  Treves & Rolls.  Cost: O(1).

    k            1  k', 0.2 to 0.3
    connections  1  C_RC, recurrent connections per cell
    a            1  sparseness

    >>> round(capacity(0.25, 12000.0, 0.02))
    38343
    """
    return float(k * connections / (a * np.log(1.0 / a)))


# --- lists of memories, kept ----------------------------------------------------------------------
def blocks(n: int) -> list[tuple[int, int]]:
    """(start, stop) of the blocks of the first n memories, as large as possible; up to 1,023
    memories are left.  Cost: O(n / 65,536).

    >>> blocks(75_000)
    [(0, 65536), (65536, 73728), (73728, 74752)]
    """
    bounds, start = [], 0
    for size in BLOCKS:
        for stop in range(start + size, n + 1, size):
            bounds.append((start, stop))
            start = stop
    return bounds


class CellLists:
    """The memories of each cell, derived from SEPARATION_CODE: a code stays as it is until its
    memory is erased.

    Lists stand together for blocks of 1,024 memories; eight blocks are listed anew as one of 8,192,
    and eight of these as one of 65,536.  So a memory is listed three times, O(k) each, and up to
    1,023 are compared one by one.  They take 2 k bytes a memory.
    """

    __slots__ = ("_blocks",)

    def __init__(self) -> None:
        self._blocks: dict[tuple[int, int], tuple[int, Any, Any]] = {}

    def overlaps(self, codes: Any, visible: Any, code: Any, units: int, out: Any) -> None:
        """As the kernel `overlaps`.  Cost: O(n + n k^2 / M), and O(k) for each new memory."""
        stop = 0
        for (start, stop), lists in self._renewed(codes, units):
            listed_overlaps(
                *lists, codes.shape[1], visible[start:stop], code, units, out[start:stop]
            )
        overlaps(codes[stop:], visible[stop:], code, units, out[stop:])

    def repeated(self, codes: Any, visible: Any, code: Any, units: int, threshold: float) -> int:
        """Row of the memory with the largest overlap, the latest among equals; -1 if none reaches
        the threshold.

        threshold  ()  1  least overlap of a duplicate; others as for the kernel `overlaps`

        Cost: as `listed_repeated`, and O(k) for each new memory; O(n k) if an overlap of 0 is
        enough.
        """
        least, best, stop = least_common(threshold, codes.shape[1]), -1, 0
        for (start, stop), lists in self._renewed(codes, units) if least > 0 else ():
            row, least = listed_repeated(
                *lists, codes[start:stop], visible[start:stop], code, units, least
            )
            best = start + row if row >= 0 else best
        row, _ = repeated(codes[stop:], visible[stop:], code, units, least)
        return stop + row if row >= 0 else best

    def forget(self) -> None:
        """Drop all lists; they are made anew when they are needed next.  The engine calls it
        when memories are erased.
        """
        self._blocks.clear()

    def _renewed(
        self, codes: Any, units: int
    ) -> Iterable[tuple[tuple[int, int], tuple[int, Any, Any]]]:
        """The blocks of all memories in order, with what `listed` returns for each; new blocks
        are listed.
        """
        wanted = blocks(len(codes))
        if list(self._blocks) != wanted:
            self._blocks = {
                bounds: self._blocks.get(bounds) or listed(codes[slice(*bounds)], units)
                for bounds in wanted
            }
        return self._blocks.items()


class EachCode:
    """Compares codes one by one: for few memories, others in each question."""

    @staticmethod
    def overlaps(codes: Any, visible: Any, code: Any, units: int, out: Any) -> None:
        """As the kernel `overlaps`.  Cost: O(n k)."""
        overlaps(codes, visible, code, units, out)


CELL_LISTS = Structure(
    "cell_lists",
    "memories by active cell, derived from the codes",
    ("overlaps", "repeated"),
    persists=False,
    phases=(Phase.ENCODE, Phase.RETRIEVE),
    create=CellLists,
    partial=lambda _, __: EachCode(),
)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class PatternSeparationParams(Params):
    units: int  # M
    active: int  # k
    connectivity: float  # share of the inputs that a unit reads
    weight_spread: float  # sd of ln w
    normalised: bool
    projection_seed: int
    young_excess: float  # e_1
    young_peak: float  # a_0, in populations
    young_width: float  # s, in populations
    duplicate_overlap: float
    weight: float


class PatternSeparation(Mechanism[PatternSeparationParams]):
    """Computes the code of every event, finds the memory that it repeats, and compares all codes
    with that of the cue.
    """

    owns = (SEPARATION_CODE, SEPARATION_EVENT_CODE, SEPARATION, CELL_LISTS)

    def code(self, x: Any, turnover: float, out: Any) -> None:
        """Write the active cells of an input to out (k,)."""
        p, h = self.params, np.empty(self.params.units)
        for generation in generations(turnover, p.units):
            w = readers(
                p.projection_seed, generation, p.units, len(x), p.connectivity, p.weight_spread
            )
            drive(
                read_only(x),
                *w,
                generation,
                turnover,
                p.normalised,
                p.young_excess,
                p.young_peak,
                p.young_width,
                h,
            )
        active = winners(h, min(p.active, p.units))
        cells(active, turnover, p.units, out[: active.size])

    @hook(
        Phase.ENCODE,
        reads=(SEPARATION_CODE.before, CELL_LISTS, VISIBLE.before, TURNOVER),
        adds=(),
        sets=(DUPLICATE, SEPARATION_EVENT_CODE),
    )
    def recognise(self, view: Any, incoming: Incoming) -> None:
        self.code(incoming.vector, view.turnover, view.separation_event_code)
        view.duplicate = view.cell_lists.repeated(
            view.separation_code,
            view.visible,
            view.separation_event_code,
            self.params.units,
            self.params.duplicate_overlap,
        )

    @hook(Phase.ENCODE, reads=(ROW, SEPARATION_EVENT_CODE), adds=(), sets=(SEPARATION_CODE,))
    def store(self, view: Any, incoming: Incoming) -> None:
        view.separation_code[view.row] = view.separation_event_code

    @hook(
        Phase.RETRIEVE,
        reads=(SEPARATION_CODE, CELL_LISTS, VISIBLE, TURNOVER),
        adds=(),
        sets=(SEPARATION,),
    )
    def compare(self, view: Any, cue: Cue) -> None:
        if not cue.vector.any():  # asked without words: no input makes a code
            return
        code = np.full(self.params.active, -1, dtype=np.int32)
        self.code(cue.vector, view.turnover, code)
        view.cell_lists.overlaps(
            view.separation_code, view.visible, code, self.params.units, view.separation
        )
