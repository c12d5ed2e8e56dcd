"""Evidence for rational_fusion.  References are Bayes' rule over enumerated worlds, normal
densities, and the likelihood by scipy.optimize.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from ...engine.base.errors import HebbariumError
from ...engine.contract.columns import Facet, Phase, Scale, signal
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.hooks import hook
from ...engine.contract.vocabulary import ACTIVATION, FUSED, LOG_FACETS, LOG_STRENGTH
from ..checks import adaptation, at_least, equation, limit, mutant, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, neighbour
from .shared.scripts import drafting, giving, signalling

Array = NDArray[np.float64]
NUMBERS = ()
LOOKS = signal("looks", Facet.MEANING, "given", floor=-1.0, scale=Scale.SIMILARITY)
SOUNDS = signal("sounds", Facet.WORDS, "given", scale=Scale.SUPPORT)
OFTEN = signal("often", Facet.USE, "given", scale=Scale.LOG_ODDS)
OTHER_SUPPORT = signal("other_support", Facet.TIME, "given", floor=0.5)


def posterior_by_enumeration(
    prior: Array, likely: Array, unlikely: Array, seen: tuple[int, ...]
) -> Array:
    """P(i needed | features of all memories): the sum over every world (which memory is needed,
    what each shows), normalised.

    prior             (n,)  probability that i is the needed one
    likely, unlikely  (v,)  probability of each value of a feature of the needed memory, and of
                            another
    seen              (n,)  value that each memory shows
    """
    joint = np.zeros(len(prior))
    for i, *shown in product(range(len(prior)), *[range(len(likely))] * len(prior)):
        if tuple(shown) == seen:
            joint[i] += prior[i] * math.prod(
                (likely if j == i else unlikely)[value] for j, value in enumerate(shown)
            )
    return np.asarray(joint / joint.sum())


# --- Bayes' rule ----------------------------------------------------------------------------------
@equation(
    "RF-1",
    source="Anderson 1990, Bayes' rule, by enumeration of all worlds of three memories and features of three values: posterior odds "
    "of need are prior odds times likelihood ratios",
    rtol=1e-9,
    papers=("anderson1990adaptive", "anderson1991reflections"),
)
def log_odds_of_need_plus_evidence_are_the_posterior(specimen: Any) -> Any:
    measured, expected = [], []
    prior, likely, unlikely = (
        np.array([0.6, 0.3, 0.1]),
        np.array([0.1, 0.3, 0.6]),
        np.array([0.7, 0.2, 0.1]),
    )
    half = 0.25
    # ln(1 + support / half) = ln of the ratios
    support = half * (likely / unlikely - likely[0] / unlikely[0]) / (likely[0] / unlikely[0])
    for seen in product(range(3), repeat=3):
        out = np.zeros(3)
        specimen.add_need(
            np.log(prior), np.zeros(3), np.zeros(3, np.int8), np.ones(3, np.bool_), 1.0, out
        )
        specimen.add_evidence(
            support[list(seen)].astype(np.float32).astype(np.float64), 0.0, half, 1.0, out
        )
        p = np.exp(out - out.max())
        measured += (p / p.sum()).round(6).tolist()
        expected += posterior_by_enumeration(prior, likely, unlikely, seen).round(6).tolist()
    return measured, expected


@equation(
    "RF-2",
    source="normal densities: for scores N(m + d, s) of the needed and N(m, s) of others the log likelihood ratio is linear, of slope "
    "d / s^2; two independent signals add",
    rtol=1e-9,
    papers=("anderson1990adaptive",),
)
def a_similarity_of_normal_scores_is_linear_evidence(specimen: Any) -> Any:
    x, y, out = np.array([0.1, 0.4, 0.45, 0.8]), np.array([0.0, 0.3, -0.2, 0.1]), np.zeros(4)
    specimen.add_evidence(x, -1.0, 0.0, 0.3 / 0.2**2, out)
    specimen.add_evidence(y, -1.0, 0.0, 0.1 / 0.5**2, out)
    ln = ((x - 0.2) ** 2 - (x - 0.5) ** 2) / (2 * 0.2**2) + (y**2 - (y - 0.1) ** 2) / (2 * 0.5**2)
    return out - out[0], ln - ln[0]


@signature(
    "RF-3",
    source="Anderson & Schooler 1991: need and context: where the cue fits one memory far better need cannot overrule it; where it "
    "fits six equally, need decides",
    papers=("anderson1991reflections",),
)
def need_decides_among_equals_and_overrules_no_clear_cue(specimen: Any) -> Any:
    need = np.array([-6.0, -2.0, -3.0, -4.0, -5.0, -7.0])
    given = [np.full(6, 0.5), np.array([0.95, 0.4, 0.4, 0.3, 0.4, 0.4]), np.full(6, 1e-41)]
    first = []
    for scores in given:
        out = np.zeros(6)
        specimen.add_need(need, np.zeros(6), np.zeros(6, np.int8), np.ones(6, np.bool_), 1.0, out)
        specimen.add_evidence(scores, 0.0, 0.0, 10.0, out)
        first.append(int(np.argmax(out)))
    return first, [1, 0, 1]


@adaptation(
    "RF-4",
    source="ours: monotone, 0 without a score and below the floor, ln 2 at `half` above it; by hand",
)
def evidence_is_monotone_and_starts_at_the_floor(specimen: Any) -> Any:
    x = np.linspace(-2.0, 5.0, 200)
    steps = [np.diff([specimen.evidence(v, 0.5, half) for v in x]).min() for half in (0.0, 2.0)]
    values = [specimen.evidence(v, floor, half) for v, floor, half in (
        (2.5, 0.5, 2.0), (6.5, 0.5, 2.0), (0.25, -1.0, 0.0), (np.nan, 0.0, 1.0), (0.4, 0.5, 2.0),
        (2e-41, 0.0, 1.0))]  # fmt: skip
    return [*values, float(min(steps) >= 0.0)], [math.log(2.0), math.log(4.0), 1.25, 0.0, 0.0,
                                                 2e-41, 1.0]  # fmt: skip


# --- the fit --------------------------------------------------------------------------------------
def asked(
    rng: np.random.Generator, slopes: Array, questions: int, n: int, known: bool = True
) -> list[tuple[Array, Array, NDArray[np.int64]]]:
    """Questions whose needed memory is drawn from the posterior of these slopes."""
    drawn = []
    for _ in range(questions):
        x, need = rng.normal(0.0, 1.0, (n, len(slopes))), rng.normal(0.0, 1.5, n) * known
        p = np.exp(x @ slopes + need)
        drawn.append((x, need, np.array([rng.choice(n, p=p / p.sum())])))
    return drawn


@equation(
    "RF-5",
    source="conditions of a maximum of a concave function over slopes of at least 0, by central differences of the likelihood "
    "written out: no gradient where a slope is above 0, none that rises where it is 0; with several needed memories",
    atol=1e-6,
)
def the_fit_is_the_maximum_of_the_likelihood(specimen: Any) -> Any:
    measured = []
    for seed, slopes, ridge in (
        (1, [1.0, 0.3, 0.0], 1e-3),
        (2, [0.5, 2.0, -0.7], 1e-3),
        (3, [0.4, 0.2, 3.0], 0.3),
    ):
        questions = asked(np.random.default_rng(seed), np.array(slopes), 60, 8)
        questions[:5] = [(x, need, np.array([1, 4])) for x, need, _ in questions[:5]]
        questions.append(
            (
                questions[0][0][:4],
                questions[0][1][:4] + np.array([800.0, 0.0, 0.0, 0.0]),
                np.array([2]),
            )
        )

        def gain(b: Array, questions: Any = questions, ridge: float = ridge) -> float:
            odds = [(x @ b + need - need.max(), needed) for x, need, needed in questions]
            return float(
                np.mean([np.mean(o[needed]) - np.log(np.sum(np.exp(o))) for o, needed in odds])
                - 0.5 * ridge * (b @ b)
            )

        best = specimen.fitted(questions) if ridge == 1e-3 else specimen.fitted(questions, ridge)
        for j, h in enumerate(1e-4 * np.eye(3)):
            rise = (gain(best + h) - gain(best - h)) / 2e-4
            measured += [min(best[j], 0.0), rise if best[j] > 0.0 else max(rise, 0.0)]
    return measured, [0.0] * 18


@signature(
    "RF-6",
    source="recovery: slopes of 500 drawn questions within 4 standard errors of .08; none for a signal that says nothing, half each "
    "for one that is there twice",
)
def the_fit_recovers_the_slopes_that_made_the_data(specimen: Any) -> Any:
    rng, true = np.random.default_rng(3), np.array([1.2, 0.4, 0.0])
    questions = asked(rng, true, 500, 10)
    twice = [
        (np.column_stack([x[:, 0], x[:, 0]]), need + x[:, 1:] @ true[1:], needed)
        for x, need, needed in questions
    ]
    slopes, halves = specimen.fitted(questions), specimen.fitted(twice)
    return at_least(
        [
            0.32 - np.abs(slopes - true).max(),
            0.32 - abs(halves.sum() - 1.2),
            0.02 - abs(halves[0] - halves[1]),
        ],
        0.0,
    )


# --- in a memory ----------------------------------------------------------------------------------
SCORES = {
    LOOKS: np.array([0.2, -0.5, np.nan, 0.7, 0.1, 0.3]),
    SOUNDS: np.array([3.0, np.nan, 0.5, 0.0, 12.0, 1.0]),
    OFTEN: np.array([5.0, 4.0, 3.0, 2.0, 1.0, 9.0]),
    OTHER_SUPPORT: np.array([0.4, 2.5, 0.5, 1.5, np.nan, 1.0]),
}
NEED, STRENGTH = np.array([-1.0, -3.0, -2.5, -0.5, -4.0]), np.array([0.2, 0.0, -0.7, 1.1, 0.0])
LOOK, SOUND, HALF = 4.0, 1.5, 0.8


@equation(
    "RF-7",
    source="Anderson 1990, the sum written out in numpy: need, fitted evidence with facets, evidence by weight for an unfitted signal, "
    "none for estimates of need; a row that the memory made has the mean need of the visible events",
    rtol=1e-5,
    atol=1e-5,
    papers=("anderson1990adaptive", "anderson1991reflections"),
)
def a_memory_ranks_by_the_posterior(specimen: Any) -> Any:
    measured, expected = [], []
    for need, calibrated in ((1.0, True), (0.4, False), (1.0, False)):
        with TemporaryDirectory() as folder:
            file = Path(folder) / "evidence.json"
            signals = (
                {"looks": {"slope": LOOK, "half": 0.0}, "sounds": {"slope": SOUND, "half": HALF}}
                if calibrated
                else {}
            )
            file.write_text(json.dumps({"signals": signals}))

            def keep(view: Any, _: Any) -> None:
                view.activation[:5], view.log_strength[:5] = NEED, STRENGTH

            memory = memory_of(
                specimen,
                *signalling(SCORES, 0.7),
                neighbour(
                    Phase.MAINTAIN, keep, adds=(LOG_STRENGTH,), sets=(ACTIVATION,), id="keep"
                ),
                drafting(Draft("made", Kind.SUMMARY, (0, 1)), 5),
                giving(
                    Phase.RETRIEVE, LOG_FACETS, np.log(1.0 + np.arange(len(Facet)) / 4.0), adds=True
                ),
                need=need,
                calibration=str(file),
                embedder=Scripted(
                    {
                        **{f"event {i}": np.eye(6)[i] for i in range(5)},
                        "made": np.ones(6),
                        "query": np.ones(6),
                    }
                ),
            )
            encode(memory, *((0.0, f"event {i}") for i in range(5)))
            memory.archive(4)
            memory.advance(30.0)
            memory.retrieve("query")
            measured += memory.column(FUSED).tolist()
        facet = 1.0 + np.arange(len(Facet)) / 4.0
        looks = np.where(np.isnan(SCORES[LOOKS]), 0.0, SCORES[LOOKS] + 1.0) * (
            LOOK if calibrated else 10.0 * 0.7
        )
        sounds = np.log(1.0 + np.nan_to_num(SCORES[SOUNDS]) / (HALF if calibrated else 1.0)) * (
            SOUND if calibrated else 0.7
        )
        other = (
            np.log(1.0 + np.maximum(np.nan_to_num(SCORES[OTHER_SUPPORT], nan=0.5) - 0.5, 0.0)) * 0.7
        )
        odds = np.append(NEED + STRENGTH, NEED[:4].mean())
        expected += (
            need * odds
            + looks * facet[Facet.MEANING.value]
            + sounds * facet[Facet.WORDS.value]
            + other * facet[Facet.TIME.value]
        ).tolist()
    return measured, expected


@limit(
    "RF-8",
    source="definition: without signals and need all memories are equal; the shipped calibration can be read and has slopes of at least 0",
)
def nothing_is_said_without_signals(specimen: Any) -> Any:
    memory = memory_of(specimen)
    encode(memory, (0.0, "a boat"), (1.0, "a red boat"))
    memory.retrieve("boat")
    shipped = specimen.read_calibration(specimen.SHIPPED)
    return [
        *memory.column(FUSED),
        float(len(shipped) > 1 and min(entry.slope for entry in shipped.values()) >= 0.0),
    ], [0.0, 0.0, 1.0]


@limit(
    "RF-9",
    source="definition: odds are added to; without a visible event a made row has no need; a signal of weight 0 says nothing; the shipped "
    "calibration is the default; a fit without questions, and a file with a slope or half that is negative or no number, are refused",
    rtol=1e-6,
)
def the_ends_are_defined(specimen: Any) -> Any:
    out = np.array([5.0, 7.0])
    specimen.add_need(
        np.array([-2.0, -9.0]),
        np.array([0.5, 0.25]),
        np.array([0, 3], np.int8),
        np.array([False, True]),
        2.0,
        out,
    )
    name, shipped = next(
        (name, entry)
        for name, entry in json.loads(specimen.SHIPPED.read_text())["signals"].items()
        if entry["slope"] > 0.0
    )
    said = []
    for weight in (0.7, 0.0):
        memory = memory_of(
            specimen,
            *signalling(
                {
                    signal(name, Facet.MEANING, "given", floor=0.5, scale=Scale.SUPPORT): np.array(
                        [2.0]
                    )
                },
                weight,
            ),
        )
        encode(memory, (0.0, "a boat"))
        memory.retrieve("boat")
        said.append(float(memory.column(FUSED)[0]))
    expected = shipped["slope"] * (math.log1p(1.5 / shipped["half"]) if shipped["half"] else 1.5)
    refused = 0
    with TemporaryDirectory() as folder:
        for slope, half in (
            (-0.1, 1.0),
            (1.0, -0.1),
            (math.inf, 1.0),
            (1.0, math.inf),
            (math.nan, 1.0),
            (1.0, math.nan),
            (0.0, 0.0),
        ):
            file = Path(folder) / "evidence.json"
            file.write_text(json.dumps({"signals": {"looks": {"slope": slope, "half": half}}}))
            refused += fails(specimen.read_calibration, file)
    return [*out, *said, refused, fails(specimen.fitted, [])], [2.0, 7.5, expected, 0.0, 6, 1]


def fails(call: Callable[[Any], Any], value: Any) -> int:
    """Whether the call is refused with an error of ours."""
    try:
        call(value)
    except HebbariumError:
        return 1
    return 0


# --- figures --------------------------------------------------------------------------------------
@figure(
    "need_and_evidence",
    caption="Probability of the memory with the lower need, of two, over its lead in evidence: need decides where the cue "
    "fits both, and a clear cue overrules it",
    source="Bayes' rule for two memories, 1 / (1 + exp(need - lead)), need of 2 ln units",
)
def probability_over_lead(specimen: Any) -> Picture:
    lead = np.linspace(0.0, 8.0, 33)
    chances = []
    for ahead in lead:
        out = np.zeros(2)
        specimen.add_need(
            np.array([-2.0, 0.0]), np.zeros(2), np.zeros(2, np.int8), np.ones(2, np.bool_), 1.0, out
        )
        specimen.add_evidence(np.array([ahead, 0.0]), 0.0, 0.0, 1.0, out)
        chances.append(float(1.0 / (1.0 + np.exp(out[1] - out[0]))))
    marks = np.array([0.0, 2.0, 4.0, 6.0])
    return Picture(
        "lead in evidence, ln units",
        "probability of being needed",
        (
            Curve("mechanism", lead, np.array(chances)),
            dots("Bayes' rule", marks, 1.0 / (1.0 + np.exp(2.0 - marks))),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("need is a vote of a fixed size, not log odds", rejected_by="RF-1")
def standardised_need(specimen: Any) -> Any:
    def add_need(
        activation: Array, log_strength: Array, kind: Any, visible: Any, weight: float, out: Array
    ) -> None:
        b = activation + log_strength
        out += weight * (b - b.mean()) / (b.std() or 1.0)

    return specimen.replacing("add_need", add_need)


@mutant(
    "evidence is standardised: a signal of 1e-41 speaks as loudly as one of 1", rejected_by="RF-2"
)
def standardised_evidence(specimen: Any) -> Any:
    def add_evidence(scores: Array, floor: float, half: float, slope: float, out: Array) -> None:
        x = np.where(np.isnan(scores), floor, scores)
        out += slope * (x - x.mean()) / (x.std() or 1.0)

    return specimen.replacing("add_evidence", add_evidence)


@mutant("a memory without a score has evidence against it", rejected_by="RF-4")
def silence_counts(specimen: Any) -> Any:
    return specimen.replacing(
        "evidence",
        lambda x, floor, half: -1.0 if math.isnan(x) else specimen.evidence(x, floor, half),
    )


@mutant("need overrules everything", rejected_by="RF-3")
def need_tenfold(specimen: Any) -> Any:
    return specimen.replacing(
        "add_need",
        lambda a, s, kind, visible, weight, out: specimen.add_need(
            a, s, kind, visible, 10.0 * weight, out
        ),
    )


@mutant("slopes may be negative", rejected_by="RF-5")
def unbounded_slopes(specimen: Any) -> Any:
    def fitted(questions: Any, ridge: float = 1e-3) -> Any:
        def loss(b: Array) -> float:
            return 0.5 * ridge * float(b @ b) - float(specimen.log_likelihood(b, questions))

        return minimize(loss, np.full(questions[0][0].shape[1], 0.1), method="BFGS").x

    return specimen.replacing("fitted", fitted)


@mutant("the slopes of each signal are fitted alone", rejected_by="RF-6")
def fitted_alone(specimen: Any) -> Any:
    return specimen.replacing(
        "fitted",
        lambda questions, ridge=1e-3: np.array(
            [
                specimen.fitted(
                    [(x[:, [s]], need, needed) for x, need, needed in questions], ridge
                )[0]
                for s in range(questions[0][0].shape[1])
            ]
        ),
    )


@mutant("estimates of need count as evidence, too", rejected_by="RF-7")
def need_counted_twice(specimen: Any) -> Any:
    @hook(Phase.RETRIEVE, reads=specimen.RationalFusion.fuse.__hook__.reads, adds=(), sets=(FUSED,))
    def fuse(self: Any, view: Any, cue: Any) -> None:
        specimen.RationalFusion.fuse(self, view, cue)
        for column, scores, weight in view.signals:
            if column.scale is Scale.LOG_ODDS:
                view.fused[...] += weight * scores

    return specimen.overriding("RationalFusion", fuse=fuse)


@mutant("rows that the memory made count as even odds", rejected_by="RF-7")
def made_rows_even(specimen: Any) -> Any:
    return specimen.replacing(
        "add_need",
        lambda a, s, kind, visible, weight, out: specimen.add_need(
            a, s, np.zeros_like(kind), visible, weight, out
        ),
    )
