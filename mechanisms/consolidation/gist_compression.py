"""Gist compression: sets whether a context shows a memory's full text, a summary or keywords, by
the memory's strength.

Memory as lossy compression: among all codes of a given number of bits, the one that loses least
value (Sims 2016; Nagy, Torok & Orban 2020).  A Gaussian source of variance sigma^2 coded at R bits
has at least the distortion D(R) = sigma^2 2^(-2R).  If many sources share a budget of weighted
distortion, v_i D_i for a source of value v_i, the number of bits is smallest when v_i D_i is the
same for all, the water level lambda; a source whose v_i sigma_i^2 is below lambda gets no bits
(reverse water-filling).

Here a source is a memory; its variance is 1, as its meaning is a unit vector; its forms are the
full text, the summary and the keywords.  A form whose content words have cosine rho with those of
the full text leaves the share 1 - rho^2 of the variance unknown.  A memory is shown in its shortest
form whose distortion is at most lambda / v, v its strength.  Age alone has no effect.  The verbatim
text is not changed, so a memory that gains strength is shown in full again.

Cost: O(length of the text) per event, about 45 us for an utterance; O(n) per consolidation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import DETAIL, LOG_STRENGTH, ROW
from ...engine.text.condensing import levels
from ...engine.text.features import terms_of

VARIANCE = 1.0  # of a memory's meaning, a vector of unit length

# --- columns --------------------------------------------------------------------------------------
GIST_LOSS = Column(
    "gist_loss",
    np.float32,
    Scope.MEMORY,
    "1",
    0.0,
    "share of the meaning's variance lost by the summary, and by the keywords",
    (2,),
    low=0,
    high=1,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def distortion(rate: float, variance: float) -> float:
    """D(R) = sigma^2 2^(-2R), least mean squared error of a Gaussian source coded at a rate.  Sims
    (2016), after Shannon (1959).  Cost: O(1).

    rate      ()  bits
    variance  ()  squared unit of the source

    >>> [distortion(bits, 1.0) for bits in (0.0, 0.5, 1.0, 2.0)]
    [1.0, 0.5, 0.25, 0.0625]
    """
    return float(variance * 2.0 ** (-2.0 * rate))


@kernel
def rate(value: float, variance: float, level: float) -> float:
    """R = max(0, 1/2 log2(v sigma^2 / lambda)), bits of a source under a common water level.  Cover
    & Thomas (2006).  Cost: O(1).

    value     ()  v, cost of a squared error
    level     ()  lambda, the weighted distortion v D allowed to every source; 0: infinitely many
                  bits

    >>> rate(4.0, 1.0, 1.0), rate(0.5, 1.0, 1.0)
    (1.0, 0.0)
    """
    return max(0.0, 0.5 * math.log2(value * variance / level)) if level > 0.0 else math.inf


@kernel
def unknown(cosine: float) -> float:
    """1 - rho^2, share of a Gaussian variance left unknown by a variable of correlation rho with
    it; 2^(-2R) at R bits.  Cost: O(1).

    >>> unknown(1.0), unknown(0.0)
    (0.0, 1.0)
    """
    return max(0.0, 1.0 - cosine * cosine)


@kernel
def choose(loss: Any, log_value: Any, level: float, out: Any) -> None:
    """Shortest form of each memory whose distortion is at most D(R), with R the rate for the
    memory's value.  Cost: O(n).

    loss       (n, 2)  1   distortion of the summary and of the keywords; 0: the form omits nothing
    log_value  (n,)    ln  ln v
    level      ()      1   lambda
    out        (n,)    1   0 full text, 1 summary, 2 keywords; written

    >>> out = np.zeros(3, np.int8)
    >>> choose(np.array([[0.2, 0.5]] * 3), np.log(np.array([4.0, 1.0, 0.5])), 0.25, out)
    >>> out.tolist()
    [0, 1, 2]
    """
    for i in range(out.shape[0]):
        allowed = distortion(rate(math.exp(min(log_value[i], 700.0)), VARIANCE, level), VARIANCE)
        out[i] = 2 if 0.0 < loss[i, 1] <= allowed else 1 if 0.0 < loss[i, 0] <= allowed else 0


def cosine(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """Cosine of two bags of words; 1 if both are empty.  Cost: O(words).

    >>> cosine({"a": 2, "b": 1}, {"a": 2}) == 2 / 5 ** 0.5
    True
    """
    lengths = math.sqrt(sum(c * c for c in one.values()) * sum(c * c for c in other.values()))
    shared = sum(count * other[word] for word, count in one.items() if word in other)
    return min(1.0, shared / lengths) if lengths else float(one == other)


def losses(text: str) -> tuple[float, float]:
    """Distortion of the summary and of the keywords of a text; the second is at least the first.
    Cost: O(length).

    >>> [round(x, 3) for x in losses("Miso the cat ran away. We looked for Miso at night.")]
    [0.306, 0.5]
    """
    bags = [Counter(terms_of(form, stem=False, stop_words=True)) for form in levels(text)]
    summary, keywords = (unknown(cosine(bags[0], bag)) for bag in bags[1:])
    return summary, max(summary, keywords)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class GistCompressionParams(Params):
    level: float  # lambda


class GistCompression(Mechanism[GistCompressionParams]):
    """Computes the loss of each form at encoding; chooses the form at each consolidation, by the
    memory's strength.
    """

    owns = (GIST_LOSS,)

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(GIST_LOSS,))
    def judge(self, view: Any, incoming: Incoming) -> None:
        view.gist_loss[view.row] = losses(incoming.event.text)

    @hook(Phase.CONSOLIDATE, reads=(GIST_LOSS, LOG_STRENGTH), adds=(), sets=(DETAIL,))
    def compress(self, view: Any, tick: Tick) -> None:
        choose(view.gist_loss, view.log_strength, self.params.level, view.detail)
