"""Simulate the tests of an ablation where the truth is known, and write the table of
docs/guides/ablation.md.

    python docs/tools/simulate_tests.py

Size: no effect; two questions of a conversation have the correlation .1.  Equivalence: the effect
is the margin, and a share of the questions as large as the margin changes, each entirely:
independently, or in clumps, with the correlation .02.  Power: the effect for which `power` gives
.8. 2,000 experiments a cell; the same seeds give the same table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hebbarium.benchmarks.scores.cluster_robust import cluster_t
from hebbarium.benchmarks.scores.comparison import ALPHA, MARGIN
from hebbarium.benchmarks.scores.power import POWER, power
from hebbarium.benchmarks.scores.statistics import clustered_bootstrap, sign_flip

PAGE = Path(__file__).parents[1] / "guides" / "ablation.md"
START, END = (
    "<!-- simulated by docs/tools/simulate_tests.py -->\n",
    "<!-- end of the simulated table -->\n",
)
EXPERIMENTS, CORRELATION, CLUMPS = 2000, 0.1, 0.02
LOCOMO = (199, 105, 193, 260, 242, 158, 190, 239, 196, 204)  # questions of its ten conversations
DESIGNS: dict[str, tuple[int, ...]] = {
    "5, as the first five of LoCoMo (105 to 260 questions)": LOCOMO[:5],
    "10, as LoCoMo (105 to 260 questions)": LOCOMO,
    "10, one of them with half of all questions": (180, *[20] * 9),
    "35, with 5 to 38 questions": tuple(5 + 3 * (g % 12) for g in range(35)),
}


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of the experiments.

    t, flip              that reject, at .05
    t_covers, boot_covers  whose 95% interval holds the truth
    equivalent, clumped  that call an effect of the size of the margin equivalent; changed questions
                         independent, or in clumps
    power                in which the t-test rejects with an effect for which the formula gives 80%
    """

    t: float
    flip: float
    t_covers: float
    boot_covers: float
    equivalent: float
    clumped: float
    power: float


def rates(sizes: Sequence[int], seed: int, experiments: int = EXPERIMENTS) -> Rates:
    """Simulate one design.  Cost: about 1 ms an experiment."""
    rng, c = np.random.default_rng([seed, len(sizes)]), len(sizes)
    ids = np.repeat(np.arange(c), sizes)
    counts, effect = np.zeros(7), effect_of(sizes)
    for i in range(experiments):
        y = math.sqrt(CORRELATION) * rng.normal(size=c)[ids] + math.sqrt(
            1.0 - CORRELATION
        ) * rng.normal(size=len(ids))
        t, flip, boot = (
            cluster_t(y, ids),
            sign_flip(y, ids, seed=i, n=1999),
            clustered_bootstrap(y, ids, 999, seed=i),
        )
        lost = (rng.random(len(ids)) < MARGIN).astype(float)
        # of each conversation
        share = rng.beta(MARGIN * (1.0 / CLUMPS - 1.0), (1.0 - MARGIN) * (1.0 / CLUMPS - 1.0), c)
        clumped = (rng.random(len(ids)) < share[ids]).astype(float)
        counts += [
            (t.p or 0.0) <= ALPHA,
            flip.p <= ALPHA,
            (t.low or 0.0) <= 0.0 <= (t.high or 0.0),
            (boot.low or 0.0) <= 0.0 <= (boot.high or 0.0),
            cluster_t(lost, ids).equivalent(MARGIN),
            cluster_t(clumped, ids).equivalent(MARGIN),
            (cluster_t(y + effect, ids).p or 0.0) <= ALPHA,
        ]
    return Rates(*(counts / experiments).tolist())


def effect_of(sizes: Sequence[int]) -> float:
    """The effect for which the formula of the power gives 80%, from the true variance of the
    mean.
    """
    from scipy.optimize import brentq

    n, c = np.asarray(sizes, dtype=float), len(sizes)
    sd = math.sqrt(
        c * (CORRELATION * float(np.sum((n / n.sum()) ** 2)) + (1.0 - CORRELATION) / float(n.sum()))
    )
    return float(brentq(lambda effect: power(effect, sd, c, ALPHA) - POWER, 1e-6, 20.0 * sd))


def table(seed: int = 1) -> str:
    """The rates of every design as Markdown."""
    lines = [
        "| conversations | t-test rejects | sign flip rejects | t interval covers | bootstrap covers | called equivalent | in clumps | power |",
        "|:--|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, sizes in DESIGNS.items():
        r = rates(sizes, seed)
        lines.append(
            f"| {name} | {r.t:.3f} | {r.flip:.3f} | {r.t_covers:.3f} | {r.boot_covers:.3f} | {r.equivalent:.3f} | {r.clumped:.3f} | "
            f"{r.power:.3f} |"
        )
    return "\n".join(lines) + "\n"


def written(text: str, made: str) -> str:
    """The page with the table in its place."""
    before, _, rest = text.partition(START)
    return before + START + made + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), table()), encoding="utf-8")
    print(PAGE)
