"""Simulate the tests of an ablation where the truth is known, and write the tables of
docs/guides/ablation.md.

    python docs/tools/simulate_tests.py
    python docs/tools/simulate_tests.py OUT/locomo OUT/demo     # also the table of both scopes

Size: no effect; two questions of a conversation have the correlation .1.  Equivalence: the effect
is the margin, and a share of the questions as large as the margin changes, each entirely:
independently, or in clumps, with the correlation .02.  Power: the effect for which `power` gives
.8. 2,000 experiments a cell; the same seeds give the same table.

Both scopes are simulated on the rows of finished leave-one-outs: questions are drawn again inside
each conversation, and all arms' differences of a question (here) or of a conversation (beyond) get
one random sign, so that no arm has an effect and everything else stays as measured: which questions
change, by how much, and how arms depend on each other.  With an effect, the last arm gives a full
answer to a share of .02 of the questions that it had left as they were.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hebbarium.benchmarks.designs.families import families_of
from hebbarium.benchmarks.scores.cluster_robust import cluster_t
from hebbarium.benchmarks.scores.comparison import ALPHA, MARGIN
from hebbarium.benchmarks.scores.metrics import question_metrics
from hebbarium.benchmarks.scores.power import POWER, power
from hebbarium.benchmarks.scores.scopes import flipped, gatekept, step_down
from hebbarium.benchmarks.scores.statistics import clustered_bootstrap, holm, sign_flip

PAGE = Path(__file__).parents[1] / "guides" / "ablation.md"
START, END = (
    "<!-- simulated by docs/tools/simulate_tests.py -->\n",
    "<!-- end of the simulated table -->\n",
)
SCOPES_START, SCOPES_END = (
    "<!-- both scopes simulated by docs/tools/simulate_tests.py -->\n",
    "<!-- end of the simulated scopes -->\n",
)
EFFECT, PATTERNS = 0.02, 999
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


@dataclass(frozen=True, slots=True)
class Measured:
    """The rows of a finished leave-one-out.

    table   (m, N) full minus arm for each question
    ids     (N,) conversation of each question
    full    (N,) score of the full set
    names   (m,)
    title   what was measured
    """

    table: np.ndarray
    ids: np.ndarray
    full: np.ndarray
    names: tuple[str, ...]
    title: str

    @classmethod
    def read(cls, folder: Path) -> Measured:
        """The primary metric of a design on one data set; arms that changed nothing are left
        out.
        """
        lines = [json.loads(line) for line in (folder / "estimates.jsonl").open(encoding="utf-8")]
        rows = [json.loads(line) for line in (folder / "rows.jsonl").open(encoding="utf-8")]
        scores = {
            (row["conversation"], row["question"]): question_metrics(row["ranks"]).recall_10
            for row in rows
            if row["arm"] == "full" and row["gold"]
        }
        by_name: dict[str, dict[tuple[str, str], float]] = {}
        for line in lines:
            of = by_name.setdefault(line["estimate"], {})
            of[line["conversation"], line["question"]] = line["value"]
        moved = {name: of for name, of in by_name.items() if any(of.values())}
        keys = list(scores)
        table = np.array([[of[key] for key in keys] for of in moved.values()])
        _, ids = np.unique([conversation for conversation, _ in keys], return_inverse=True)
        design = json.loads((folder / "design.json").read_text(encoding="utf-8"))
        title = (
            f"{design['set']} on {lines[0]['dataset']}: {len(moved)} arms, "
            f"{len(set(ids.tolist()))} conversations, {len(keys)} questions"
        )
        return cls(table, ids, np.array(list(scores.values())), tuple(moved), title)

    def drawn(self, rng: np.random.Generator, *, whole: bool) -> tuple[np.ndarray, np.ndarray]:
        """A table without any effect, and the score of the full set of its questions.

        whole  one sign for all questions of a conversation: the null of conversations like these
        """
        kept = np.concatenate(
            [
                rng.choice(np.flatnonzero(self.ids == c), int((self.ids == c).sum()))
                for c in range(int(self.ids.max()) + 1)
            ]
        )
        units = self.ids if whole else np.arange(len(kept))
        signs = rng.choice([-1.0, 1.0], int(units.max()) + 1)[units]
        # where arm and full set change places, the full set's score is that of the arm
        first = self.table[-1, kept]
        full = np.where(signs > 0, self.full[kept], self.full[kept] - first)
        return self.table[:, kept] * signs, full


def with_effect(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The last arm gains a share `EFFECT` of all questions, among those that it did not change."""
    gained = table.copy()
    still = np.flatnonzero(gained[-1] == 0.0)
    gained[-1, rng.choice(still, round(EFFECT * table.shape[1]), replace=False)] = 1.0
    return gained


def adjusted_p(d: np.ndarray, covariate: np.ndarray) -> float:
    """p of the mean of d after a regression on the centred covariate (normal limit)."""
    x = covariate - covariate.mean()
    slope = float(x @ d / (x @ x)) if x.any() else 0.0
    residual = d - d.mean() - slope * x
    se = math.sqrt(float(residual @ residual)) / len(d)
    return math.erfc(abs(float(d.mean())) / se / math.sqrt(2.0)) if se else 1.0


def scope_rates(of: Measured, seed: int, experiments: int = EXPERIMENTS) -> dict[str, float]:
    """Shares of the experiments with a false rejection, and with a right one of the last arm.

    level_*   without an effect: one test alone; the family by Holm's correction of the t-test, by
              the step-down here, gated here, by the step-down of conversations; the adjusted test
    power_*   the last arm with an effect of .02: Holm's t-test, step-down here, gated here
    """
    rng = np.random.default_rng([seed, len(of.names)])
    names = families_of(of.names) or tuple(of.names)
    counts: dict[str, int] = dict.fromkeys(
        ("level_alone", "level_rw", "level_gated", "level_adjusted", "level_t_holm",
         "level_rw_beyond", "power_t_holm", "power_rw", "power_gated"), 0)  # fmt: skip

    def t_holm(table: np.ndarray) -> np.ndarray:
        return holm([1.0 if (p := cluster_t(row, of.ids).p) is None else p for row in table])

    for i in range(experiments):
        table, full = of.drawn(rng, whole=False)
        observed, null = flipped(table, seed=i, n=PATTERNS)
        counts["level_alone"] += (null[:, -1] >= observed[-1] * (1 - 1e-9)).mean() <= ALPHA
        counts["level_rw"] += step_down(observed, null).min() <= ALPHA
        counts["level_gated"] += gatekept(observed, null, names).min() <= ALPHA
        counts["level_adjusted"] += adjusted_p(table[-1], full) <= ALPHA
        better = with_effect(table, rng)
        observed, null = flipped(better, seed=i, n=PATTERNS)
        counts["power_rw"] += step_down(observed, null)[-1] <= ALPHA
        counts["power_gated"] += gatekept(observed, null, names)[-1] <= ALPHA
        counts["power_t_holm"] += t_holm(better)[-1] <= ALPHA
        beyond, _ = of.drawn(rng, whole=True)
        counts["level_t_holm"] += t_holm(beyond).min() <= ALPHA
        moved = step_down(*flipped(beyond, seed=i, cluster_ids=of.ids, n=PATTERNS))
        counts["level_rw_beyond"] += moved.min() <= ALPHA
    return {name: float(count) / experiments for name, count in counts.items()}


def scope_table(folders: Sequence[Path], seed: int = 1, experiments: int = EXPERIMENTS) -> str:
    """The rates on the rows of finished designs as Markdown."""
    heads = ("rows", "here: one test", "Romano-Wolf", "gated", "adjusted by the full set's score",
             "beyond: Holm t", "Romano-Wolf", "power: Holm t beyond", "Romano-Wolf here",
             "gated here")  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", f"|:--|{'--:|' * (len(heads) - 1)}"]
    for folder in folders:
        of = Measured.read(folder)
        r = scope_rates(of, seed, experiments)
        shown = ("level_alone", "level_rw", "level_gated", "level_adjusted", "level_t_holm",
                 "level_rw_beyond", "power_t_holm", "power_rw", "power_gated")  # fmt: skip
        lines.append(f"| {of.title} | {' | '.join(f'{r[name]:.3f}' for name in shown)} |")
    return "\n".join(lines) + "\n"


def written(text: str, made: str, start: str = START, end: str = END) -> str:
    """The page with the table in its place."""
    before, _, rest = text.partition(start)
    return before + start + made + end + rest.partition(end)[2]


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    if sys.argv[1:]:
        made = scope_table([Path(folder) for folder in sys.argv[1:]])
        PAGE.write_text(written(page, made, SCOPES_START, SCOPES_END), encoding="utf-8")
    else:
        PAGE.write_text(written(page, table()), encoding="utf-8")
    print(PAGE)
