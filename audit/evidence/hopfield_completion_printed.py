"""Evidence for hopfield_completion_printed: the equations of Cortex 4.3.4, and the checks of the
paper's form applied to them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ..checks import adaptation, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, hashing, memory_of
from . import hopfield_completion as paper


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "MHP-1", source="Cortex 4.3.4, energy; scipy logsumexp", atol=1e-10, papers=("cortex2026",)
)
def the_energy_is_the_printed_one(specimen: Any) -> Any:
    cases = list(paper.networks(100))
    return [specimen.energy(*case) for case in cases], [
        -logsumexp(b * (x @ s)) / b + 0.5 * s @ s for x, s, b in cases
    ]


@adaptation(
    "MHP-2",
    source="closed form: the same pattern stored N times, -ln(N) / beta - |x|^2 / 2",
    figure="energy_of_copies",
)
def the_printed_energy_falls_with_every_copy_of_a_pattern(specimen: Any) -> Any:
    x = np.array([0.6, 0.8])
    return [specimen.energy(np.tile(x, (n, 1)), x, 4.0) for n in (1, 10, 100)], [
        -math.log(n) / 4.0 - 0.5 for n in (1, 10, 100)
    ]


@signature(
    "MHP-3",
    source="Cortex 4.3.4: converges to the stored memory pattern with highest overlap; 100 patterns, beta 20, 0.05 from one of them",
    papers=("cortex2026",),
)
def the_stored_pattern_with_the_highest_overlap_is_found(specimen: Any) -> Any:
    x = paper.near_duplicates()
    return bool(np.linalg.norm(paper.settled(specimen, x, x[0], 20.0)[0] - x[0]) < 0.05)


@adaptation(
    "MHP-4",
    source="Cortex 4.3.4 in a memory: X softmax(beta X^T xi) in numpy until the energy, by scipy, falls no more, or for the most "
    "updates; archived patterns are left out",
    atol=1e-5,
    papers=("cortex2026",),
)
def a_memory_scores_its_patterns_by_the_completed_cue(specimen: Any) -> Any:
    beta, tolerance = 4.0, 1e-4
    texts = ("a red boat", "the red boat leaks", "lost keys", "a boat and keys", "rain again")
    x = hashing(16).embed(texts).astype(np.float64)[[0, 1, 2, 4]]
    measured, expected = [], []

    def energy(state: NDArray[np.float64]) -> float:
        return float(-logsumexp(beta * (x @ state)) / beta + 0.5 * state @ state)

    for most in (32, 1):
        memory = memory_of(specimen, beta=beta, tolerance=tolerance, pool=4, most_updates=most)
        encode(memory, *((float(hour), text) for hour, text in enumerate(texts)))
        memory.archive(3)
        memory.retrieve("red boat")
        xi = hashing(16).embed(["red boat"])[0].astype(np.float64)
        energies = [math.inf, energy(xi)]
        while energies[-2] - energies[-1] > tolerance and len(energies) < most + 2:
            xi = np.exp(beta * (x @ xi) - logsumexp(beta * (x @ xi))) @ x
            energies.append(energy(xi))
        scores = memory.column(specimen.COMPLETION_PRINTED)
        measured += [*scores[[0, 1, 2, 4]], np.isnan(scores[3])]
        expected += [*(x @ xi), True]
    return measured, expected


# --- the paper's checks ---------------------------------------------------------------------------
attention = paper.the_update_is_softmax_attention
overflow = paper.no_beta_overflows_and_constants_cancel
descent = paper.an_update_never_raises_the_energy
bounds = paper.the_energy_lies_between_zero_and_twice_the_square_of_the_longest_pattern
terms = paper.the_energy_has_all_its_terms
logistic = paper.the_cued_one_of_two_orthonormal_patterns_has_a_logistic_share
mean = paper.without_beta_one_update_gives_the_mean
within_bound = paper.with_large_beta_one_update_finds_the_pattern_within_the_bound
near_duplicates = paper.near_duplicates_share_the_softmax_at_small_beta_only
partial_cue = paper.half_a_pattern_retrieves_the_whole


# --- figures --------------------------------------------------------------------------------------
error_picture = paper.error_of_one_update.of_variety(
    "Distance of the first update from the stored pattern: it falls exponentially with beta, below the paper's bound, as in the paper"
)
bifurcation_picture = paper.fixed_points_over_beta.of_variety(
    "Fixed point between two opposite memories: in the middle up to beta = 1, on either side of it above, as in the paper"
)


@figure(
    "energy_of_copies",
    caption="Printed energy of a pattern that is stored several times: it falls below 0 without bound; the paper's "
    "energy does not",
    source="closed form -ln(N) / beta - |x|^2 / 2; the paper's energy is never below 0",
)
def energy_over_copies(specimen: Any) -> Picture:
    x, copies = np.array([0.6, 0.8]), np.array([1, 2, 5, 10, 20, 50, 100, 200])
    return Picture(
        "copies of the pattern",
        "energy",
        (
            Curve(
                "printed",
                copies,
                [specimen.energy(np.tile(x, (int(n), 1)), x, 4.0) for n in copies],
            ),
            Curve("lower bound of the paper's energy", copies, np.zeros(copies.size)),
            dots("closed form", [1, 10, 100], [-math.log(n) / 4.0 - 0.5 for n in (1, 10, 100)]),
        ),
        log="x",
    )


@mutant("the paper's energy in place of the printed one", rejected_by="MHP-1")
def with_constants(specimen: Any) -> Any:
    def energy(x: Any, s: Any, beta: float) -> float:
        return float(
            specimen.energy(x, s, beta)
            + math.log(len(x)) / beta
            + 0.5 * np.max(np.sum(x * x, axis=1))
        )

    return specimen.replacing("energy", energy)


@mutant("scores are overlaps with the cue itself", rejected_by="MHP-4")
def incomplete(specimen: Any) -> Any:
    def complete(patterns: Any, cue: Any, *rest: Any) -> int:
        updates = int(specimen.complete(patterns, cue, *rest))
        rest[-1][:] = cue
        return updates

    return specimen.replacing("complete", complete)


@mutant("one update more than the most", rejected_by="MHP-4")
def one_more(specimen: Any) -> Any:
    return specimen.replacing(
        "complete",
        lambda patterns, cue, beta, tolerance, most, p, state: specimen.complete(
            patterns, cue, beta, tolerance, most + 1, p, state
        ),
    )
