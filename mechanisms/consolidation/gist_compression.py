"""Gist compression: what is worth little is shown as a summary or as keywords, what is worth much word by word.

Memory as lossy compression: of all ways to keep something within a number of bits, the one that loses least of what matters (Sims 2016;
Nagy, Torok & Orban 2020).  A Gaussian source of variance sigma^2 kept at R bits cannot be known better than D(R) = sigma^2 2^(-2R).  Where
many sources share a budget for the distortion that counts, v_i D_i for a source of value v_i, the fewest bits are spent if it is the
same for all, the water level lambda, and a source whose v_i sigma_i^2 is below that gets no bits at all (reverse water-filling).

Here a source is a memory, its variance the unit length of its meaning, and its forms are all of the text, the summary and the keywords.  A form
whose content words have cosine rho with those of all of the text leaves the share 1 - rho^2 of the variance unknown.  A memory is shown in its
shortest form that loses no more than lambda / v, with v its strength.  Age by itself counts for nothing.  The verbatim text stays as
it is, so a memory that gains strength is shown in full again.

Acts on: DETAIL, and so what a context shows.  Cost: O(length of the text) per event, about 45 us for an utterance; O(n) per consolidation.
"""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.columns import Column, Phase, Scope
from ...engine.contract import Incoming, Mechanism, Params, Tick, hook
from ...engine.numerics import kernel
from ...engine.text.condensing import levels
from ...engine.text.features import terms_of
from ...engine.vocabulary import DETAIL, LOG_STRENGTH, ROW

VARIANCE = 1.0      # of a memory's meaning, a vector of unit length

# --- columns -----------------------------------------------------------------------------------------------------------------
GIST_LOSS = Column("gist_loss", np.float32, Scope.MEMORY, "1", 0.0, "share of its meaning's variance that a memory's summary, and its keywords, lose",
              (2,), low=0, high=1)


# --- equations ---------------------------------------------------------------------------------------------------------------
@kernel
def distortion(rate: float, variance: float) -> float:
    """D(R) = sigma^2 2^(-2R), least mean squared error of a Gaussian source kept at a rate.  Sims (2016), after Shannon (1959).  Cost: O(1).

    rate      ()  bits
    variance  ()  squared unit of the source

    >>> [distortion(bits, 1.0) for bits in (0.0, 0.5, 1.0, 2.0)]
    [1.0, 0.5, 0.25, 0.0625]
    """
    return float(variance * 2.0 ** (-2.0 * rate))


@kernel
def rate(value: float, variance: float, level: float) -> float:
    """R = max(0, 1/2 log2(v sigma^2 / lambda)), bits that a source gets where all share a water level.  Cover & Thomas (2006).  Cost: O(1).

    value     ()  v, what a squared error costs
    level     ()  lambda, the weighted distortion v D that all may have; 0: bits without end

    >>> rate(4.0, 1.0, 1.0), rate(0.5, 1.0, 1.0)
    (1.0, 0.0)
    """
    return max(0.0, 0.5 * math.log2(value * variance / level)) if level > 0.0 else math.inf


@kernel
def unknown(cosine: float) -> float:
    """1 - rho^2, share of a Gaussian variance left unknown by something that correlates with it by rho; 2^(-2R) at R bits.  Cost: O(1).

    >>> unknown(1.0), unknown(0.0)
    (0.0, 1.0)
    """
    return max(0.0, 1.0 - cosine * cosine)


@kernel
def choose(loss: Any, log_value: Any, level: float, out: Any) -> None:
    """The shortest form of each memory whose distortion is within D(R) at the rate that its value gives it.  Cost: O(n).

    loss       (n, 2)  1   distortion of the summary and of the keywords; 0: nothing is left out
    log_value  (n,)    ln  ln v
    level      ()      1   lambda
    out        (n,)    1   0 all of the text, 1 the summary, 2 the keywords; written

    >>> out = np.zeros(3, np.int8)
    >>> choose(np.array([[0.2, 0.5]] * 3), np.log(np.array([4.0, 1.0, 0.5])), 0.25, out)
    >>> out.tolist()
    [0, 1, 2]
    """
    for i in range(out.shape[0]):
        allowed = distortion(rate(math.exp(min(log_value[i], 700.0)), VARIANCE, level), VARIANCE)
        out[i] = 2 if 0.0 < loss[i, 1] <= allowed else 1 if 0.0 < loss[i, 0] <= allowed else 0


def cosine(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """Between two bags of words; 1 for two empty ones.  Cost: O(words).

    >>> cosine({"a": 2, "b": 1}, {"a": 2}) == 2 / 5 ** 0.5
    True
    """
    lengths = math.sqrt(sum(c * c for c in one.values()) * sum(c * c for c in other.values()))
    shared = sum(count * other[word] for word, count in one.items() if word in other)
    return min(1.0, shared / lengths) if lengths else float(one == other)


def losses(text: str) -> tuple[float, float]:
    """Distortion of the summary and of the keywords of a text, never less for the shorter one.  Cost: O(length).

    >>> [round(x, 3) for x in losses("Miso the cat ran away. We looked for Miso at night.")]
    [0.306, 0.5]
    """
    bags = [Counter(terms_of(form, stem=False, stop_words=True)) for form in levels(text)]
    summary, keywords = (unknown(cosine(bags[0], bag)) for bag in bags[1:])
    return summary, max(summary, keywords)


# --- plug-in -----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class GistCompressionParams(Params):
    level: float            # lambda


class GistCompression(Mechanism[GistCompressionParams]):
    """Judges once what each form of a memory loses; chooses a form anew at each consolidation, by what the memory is worth."""

    owns = (GIST_LOSS,)

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(GIST_LOSS,))
    def judge(self, view: Any, incoming: Incoming) -> None:
        view.gist_loss[view.row] = losses(incoming.event.text)

    @hook(Phase.CONSOLIDATE, reads=(GIST_LOSS, LOG_STRENGTH), adds=(), sets=(DETAIL,))
    def compress(self, view: Any, tick: Tick) -> None:
        choose(view.gist_loss, view.log_strength, self.params.level, view.detail)
