"""Hopfield completion as Cortex 4.3.4 prints it: uses the energy E = -lse(beta, X^T xi) + |xi|^2 /
2, without ln(N) / beta and M^2 / 2.

The missing terms do not change the update, but the energy is not bounded below by 0: it falls with
every stored pattern, so energies of two networks, or of one network at two times, cannot be
compared.  "The network converges to the stored memory pattern with highest overlap" holds for well
separated patterns only, which depends on beta; the source does not print beta.

Cost: O(n d) for the search, O(M d) per update, as for the paper's form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import copy, kernel
from ...engine.contract.columns import Facet, Phase, Scale, signal
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import INDEX
from ..shared.attention import attention, update

# --- columns --------------------------------------------------------------------------------------
COMPLETION_PRINTED = signal(
    "completion_printed",
    Facet.COMPLETION,
    "overlap with the pattern to which the query converges, as printed in Cortex 4.3.4",
    scale=Scale.SIMILARITY,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def energy(patterns: Any, state: Any, beta: float) -> float:
    """E = -lse(beta, X^T xi) + |xi|^2 / 2.  Cortex 4.3.4, exactly as printed.  Cost: O(N d).

    One pattern, and the state equal to it: the paper's energy is 0, this one -|x|^2 / 2.

    >>> energy(np.array([[3.0, 4.0]]), np.array([3.0, 4.0]), 0.5)
    -12.5
    """
    own = 0.0
    for k in range(state.shape[0]):
        own += state[k] * state[k]
    return -attention(patterns, state, beta, np.empty(patterns.shape[0])) + 0.5 * own


@kernel
def complete(
    patterns: Any, cue: Any, beta: float, tolerance: float, most: int, p: Any, state: Any
) -> int:
    """Update from the cue until the energy falls by at most `tolerance`; returns the number of
    updates.  Cost: O(N d updates).

    patterns   (N, d)     X^T
    cue        (d,)       initial state
    beta       ()     1   inverse temperature
    tolerance  ()         stops if the energy falls by at most this
    most       ()         largest number of updates
    p          (N,)   1   softmax at the final state, written
    state      (d,)       final state, written
    """
    copy(cue, state)
    before, steps = np.inf, 0
    now = energy(patterns, state, beta)
    attention(patterns, state, beta, p)
    while steps < most and before - now > tolerance:
        update(patterns, p, state)
        before, now = now, energy(patterns, state, beta)
        attention(patterns, state, beta, p)
        steps += 1
    return steps


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class HopfieldCompletionPrintedParams(Params):
    beta: float
    pool: int
    most_updates: int
    tolerance: float  # stops if the energy falls by at most this
    weight: float


class HopfieldCompletionPrinted(Mechanism[HopfieldCompletionPrintedParams]):
    owns = (COMPLETION_PRINTED,)

    @hook(Phase.RETRIEVE, reads=(INDEX,), adds=(), sets=(COMPLETION_PRINTED,))
    def score(self, view: Any, cue: Cue) -> None:
        if not cue.vector.any():  # asked without words: there is no pattern to complete
            return
        p = self.params
        rows, _ = view.index.search(cue.vector, p.pool)
        if not rows.size:
            return
        patterns, attended, state = (
            view.index.vectors_of(rows),
            np.empty(rows.size),
            np.empty(cue.vector.size),
        )
        complete(patterns, cue.vector, p.beta, p.tolerance, p.most_updates, attended, state)
        view.completion_printed[rows] = np.einsum("nd,d->n", patterns, state)
