"""The record of a probe, and what a band claims of its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ....engine.base.errors import InputError, nearest
from ....engine.contract import vocabulary
from ....engine.contract.columns import Column
from .life import Life, Need

SEEDS = 10  # seeds of a probe that names no other number
# relative; a mean of numbers such as shares, which are rounded to 9 digits, can miss the number
# that it stands for by this much
NOISE = 1e-9
Numbers = Mapping[str, float]
Run = Callable[[Life, int], Numbers]


@dataclass(frozen=True, slots=True)
class Above:
    """The mean of `first` is above `factor` times that of `second`: the interval of the
    difference excludes 0.
    """

    first: str
    second: str
    factor: float = 1.0

    @property
    def names(self) -> tuple[str, ...]:
        return self.first, self.second

    @property
    def text(self) -> str:
        """
        >>> Above("recall", "restudy").text, Above("linked", "broken", 2.0).text
        ('recall > restudy', 'linked > 2 broken')
        """
        return f"{self.first} > {'' if self.factor == 1.0 else f'{self.factor:g} '}{self.second}"

    def value(self, numbers: Numbers) -> float:
        """The difference of one seed."""
        return numbers[self.first] - self.factor * numbers[self.second]

    def holds(self, mean: float, low: float, high: float) -> bool:
        return low > 0.0


@dataclass(frozen=True, slots=True)
class NotBelow(Above):
    """The mean of `first` is not below that of `second`: the interval of the difference reaches
    0 or above.
    """

    @property
    def text(self) -> str:
        return f"{self.first} >= {self.second}"

    def holds(self, mean: float, low: float, high: float) -> bool:
        return high >= 0.0


def within(value: float, low: float, high: float) -> bool:
    """Whether a mean is in [low, high]; a mean that differs from a bound by the noise of its sum
    alone is at the bound.
    """
    return low <= value <= high or any(
        math.isclose(value, bound, rel_tol=NOISE) for bound in (low, high)
    )


@dataclass(frozen=True, slots=True)
class Within:
    """The mean of a number is in [low, high]."""

    name: str
    low: float = -math.inf
    high: float = math.inf

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def text(self) -> str:
        """
        >>> Within("hit@1", low=0.8).text, Within("ratio", 1.3, 3.0).text
        ('hit@1 >= 0.8', 'ratio in [1.3, 3]')
        """
        if self.high == math.inf:
            return f"{self.name} >= {self.low:g}"
        return (
            f"{self.name} <= {self.high:g}"
            if self.low == -math.inf
            else f"{self.name} in [{self.low:g}, {self.high:g}]"
        )

    def value(self, numbers: Numbers) -> float:
        return numbers[self.name]

    def holds(self, mean: float, low: float, high: float) -> bool:
        """
        >>> Within("hit@1", low=0.8).holds(sum([0.1] * 8), 0.7, 0.9), Within("hit@1", low=0.8).holds(0.79999, 0.7, 0.9)
        (True, False)
        """
        return within(mean, self.low, self.high)


@dataclass(frozen=True, slots=True)
class MoreThan:
    """The mean of a number is above a fixed value, such as chance: its interval excludes the
    value.
    """

    name: str
    than: float

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def text(self) -> str:
        return f"{self.name} > {self.than:.3g}"

    def value(self, numbers: Numbers) -> float:
        return numbers[self.name]

    def holds(self, mean: float, low: float, high: float) -> bool:
        return low > self.than


@dataclass(frozen=True, slots=True)
class Ratio(Above):
    """The ratio of two means is in [low, high]; its interval is that of the ratio of means."""

    low: float = -math.inf
    high: float = math.inf

    @property
    def text(self) -> str:
        return f"{self.first} / {self.second} in [{self.low:g}, {self.high:g}]"

    def holds(self, mean: float, low: float, high: float) -> bool:
        return within(mean, self.low, self.high)


Claim = Above | Within | MoreThan


def mean(values: ArrayLike) -> float:
    """Mean of the values that are defined; NaN if none is.

    >>> mean([1.0, math.nan, 2.0]), mean([math.nan])
    (1.5, nan)
    """
    known = np.asarray(values, np.float64)
    known = known[~np.isnan(known)]
    return float(known.mean()) if known.size else math.nan


@dataclass(frozen=True, slots=True)
class Measures:
    """What a probe reads of a memory, as its author declares it: without a path from a mechanism
    to any of it, the mechanism cannot move the probe.

    columns  names of the engine's columns
    answers  whether it reads answers
    learns   whether a question of it may change memory; a probe that needs learning always may
    whole    whether it measures the memory as a whole, such as its size, so that all can move it

    Raises InputError for a name that is no column of the engine.
    """

    columns: tuple[str, ...] = ()
    answers: bool = False
    learns: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        known = {c.name for c in vars(vocabulary).values() if isinstance(c, Column)}
        if unknown := [name for name in self.columns if name not in known]:
            raise InputError(
                f"the engine has no column {unknown[0]!r}",
                where="measures",
                cure=nearest(unknown[0], sorted(known)),
            )


@dataclass(frozen=True, slots=True)
class Probe:
    """A small experiment whose answer is known.

    id          name/variant; never changed
    capability  what a memory that shows the effect can do
    source      key of `audit/references.bib`; "" for an experiment of ours
    place       where in the source, or the check of the mechanism's chapter that it puts to a whole
                memory
    protocol    what is told, waited for and asked, in one or two sentences
    unit        of the numbers
    band        claims that all have to hold; (): the numbers are printed without a verdict
    bounds      where fixed numbers of the band come from, such as "table 1" or "closed form"; "ours",
                where we chose them.  A value to be exceeded, such as 0.5 of two, is chance
    matters     mechanisms that should move it
    sets        mechanism sets of the project that should show it
    run         the experiment: numbers of one seed, by name
    needs       of the system
    seeds       how many
    of_gates    whether it asks which events a gate refuses; else few stored events are said in
                place of a failure
    also        numbers that the alive matrix compares beside those of the band; a share of hits can
                be 0 or 1 with and without a mechanism
    measures    what it reads of a memory; the whole of it if not declared
    """

    id: str
    capability: str
    source: str
    place: str
    protocol: str
    unit: str
    band: tuple[Claim, ...]
    matters: tuple[str, ...]
    run: Run
    sets: tuple[str, ...] = ("everything",)
    needs: frozenset[Need] = frozenset()
    seeds: int = SEEDS
    of_gates: bool = False
    also: tuple[str, ...] = ()
    measures: Measures = Measures(whole=True)
    bounds: str = "ours"

    @property
    def basis(self) -> str:
        """Where the band comes from, in words; "" without a band."""
        parts = []
        if any(isinstance(c, Above) and not isinstance(c, Ratio) for c in self.band):
            parts.append(f"directions: {'the source' if self.source else 'ours'}")
        if any(
            isinstance(c, (Ratio, Within)) or (isinstance(c, Above) and c.factor != 1.0)
            for c in self.band
        ):
            parts.append(f"bounds: {self.bounds}")
        if any(isinstance(c, MoreThan) for c in self.band):
            parts.append("values to be exceeded: chance")
        return "; ".join(parts)

    @property
    def name(self) -> str:
        """The part of the id before the variant, as registry entries name it."""
        return self.id.partition("/")[0]
