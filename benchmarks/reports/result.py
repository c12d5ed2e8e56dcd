"""The result of an ablation: every arm against the full set, as plain data that JSON holds
without loss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ...engine.base.errors import DataError, InputError
from ...reporting.text import plural
from ..scores.chance import Pool
from ..scores.cluster_robust import ClusterT, Spread, fewest_questions
from ..scores.comparison import ALPHA, MARGIN, Correction, Difference, Verdict, corrected, verdict
from ..scores.detectable import Source
from ..scores.levels import Levels
from ..scores.metrics import METRICS
from ..scores.statistics import smallest_p
from .estimates import Cost

PRIMARY = "recall@10"
FORMAT = 2


@dataclass(frozen=True, slots=True)
class Gate:
    """How events of all conversations were admitted, and what one mechanism had to do with it.

    judged, stored   events that were to be encoded, and those that were stored, in the full run
    vetoed, decided  events that the mechanism voted against, and those that its vote alone rejected
    merged           stored events that it marked as repetitions of stored memories
    """

    judged: int
    stored: int
    vetoed: int
    decided: int
    merged: int


@dataclass(frozen=True, slots=True)
class ArmReceipt:
    """What the mechanism did in the full run.

    ranks_changed  places among the ten best that change if it is silenced for a query.  Its effect
                   on which events were stored is not seen there
    gate           None for a mechanism without a vote on admission
    """

    calls: int
    values_changed: int
    ranks_changed: int
    gate: Gate | None = None


@dataclass(frozen=True, slots=True)
class ArmResult:
    """The full set without one mechanism, or with one in another's place.

    id                   the mechanism removed, or "swap a->b"
    no_op                its removal changed no rank of any question
    metrics              of the arm itself, by name (`METRICS`); also `held_back` and
                         `false_hold_backs` if some questions have no answer
    differences          full minus this arm, by metric name
    n_questions_changed  questions with a rank of gold that differs from the full run;
                         n_ranks_changed counts the ranks
    n_helped, n_hurt     questions whose recall@10 is higher, lower, with the mechanism than without
    receipt              of the mechanism in the full run; None where there is none
    seconds              wall time of the arm
    by_category          difference of recall@10 per question category; categories without a value
                         may be left out
    silenced             other mechanisms of the arm whose signals no step reads in it, although a
                         step of the full set does: the arm removes their effect on the ranking, too
    fair                 arms that remove the same mechanism and silence none
    correction           of the p-value that decides the verdict
    """

    id: str
    no_op: bool
    metrics: Mapping[str, float]
    differences: Mapping[str, Difference]
    n_questions_changed: int
    n_ranks_changed: int
    n_helped: int
    n_hurt: int
    receipt: ArmReceipt | None
    seconds: float
    by_category: Mapping[str, float]
    silenced: tuple[str, ...] = ()
    fair: tuple[str, ...] = ()
    correction: str = Correction.HOLM.value

    def __post_init__(self) -> None:
        if set(self.differences) != set(METRICS) or not set(METRICS) <= set(self.metrics):
            raise InputError(
                f"an arm needs every metric of {', '.join(METRICS)}",
                where=f"arm {self.id}",
                cure="give `metrics` and `differences` an entry for each of them",
            )
        if self.no_op != (self.n_ranks_changed == 0) or (self.n_ranks_changed == 0) != (
            self.n_questions_changed == 0
        ):
            raise InputError(
                f"no_op is {self.no_op}, yet {self.n_ranks_changed} ranks of {self.n_questions_changed} questions changed",
                where=f"arm {self.id}",
                cure="an arm is a no-op exactly when no rank of any question changed",
            )
        if self.n_helped + self.n_hurt > self.n_questions_changed or (
            self.no_op and any(d.mean for d in self.differences.values())
        ):
            raise InputError(
                "a metric differs on questions whose ranks did not change",
                where=f"arm {self.id}",
                cure="compute metrics and changes from the same rows",
            )

    @property
    def primary(self) -> Difference:
        """The difference that decides the verdict."""
        return self.differences[PRIMARY]

    @property
    def verdict(self) -> Verdict:
        wrote = self.receipt is not None and self.receipt.values_changed > 0
        return verdict(
            self.primary, no_op=self.no_op, wrote=wrote, correction=Correction(self.correction)
        )


@dataclass(frozen=True, slots=True)
class SystemResult:
    """Another system that answered the same questions, for comparison; it is no part of the family.

    id            MODULE:NAME
    revision      digest of its source; "" for a system of this package
    capabilities  that it declares, such as "learns from recall"
    metrics       of the system itself, by name (`METRICS`)
    differences   full set minus this system, by metric name; not corrected
    seconds       wall time of the system
    by_category   difference of recall@10 per question category
    """

    id: str
    revision: str
    capabilities: tuple[str, ...]
    metrics: Mapping[str, float]
    differences: Mapping[str, Difference]
    seconds: float
    by_category: Mapping[str, float]

    @property
    def primary(self) -> Difference:
        return self.differences[PRIMARY]


@dataclass(frozen=True, slots=True)
class AblationResult:
    """One ablation of one mechanism set on one data set.

    arms        those that were run: the family over which p-values are corrected
    beside      other systems on the same questions, in the order in which they were named
    baseline    metrics of the full set, by name, as `metrics.summary` gives them, and the shares
                held back as those of an arm
    categories  number of questions per category, in the order of display
    seconds     wall time of the full run
    margin      of equivalence, in units of the metric
    n_designed  arms that the design has, those that were not asked for included
    level, n_resamples, n_flips   settings of the statistics
    chance      expected metrics of a random ranking, by name; {} if not computed
    pool        of the questions' answers; None if not computed
    depths      hit, recall, mrr and ndcg of the full set at several depths; {} if not computed
    levels      where the differences of the primary metric vary, by arm; {} if not computed
    seeds       the seeds over which values are averaged, and the standard deviation of the full
                set's primary metric over them; None for one seed
    costs       CPU time of the mechanisms of the full set; () if not measured
    provenance  what manifest.json holds: everything that decides the result, versions, and how the
                report was made
    """

    dataset: str
    dataset_sha256: str
    set_name: str
    seed: int
    design: str
    n_conversations: int
    n_questions: int
    baseline: Mapping[str, float | int | None]
    arms: tuple[ArmResult, ...]
    categories: Mapping[str, int]
    seconds: float
    margin: float = MARGIN
    n_designed: int = 0
    level: float = 0.95
    n_resamples: int = 10_000
    n_flips: int = 10_000
    version: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    beside: tuple[SystemResult, ...] = ()
    chance: Mapping[str, float] = field(default_factory=dict)
    pool: Pool | None = None
    depths: Mapping[str, float] = field(default_factory=dict)
    levels: Mapping[str, Levels] = field(default_factory=dict)
    seeds: tuple[tuple[int, ...], float] | None = None
    costs: tuple[Cost, ...] = ()

    def __post_init__(self) -> None:
        ids = [arm.id for arm in self.arms]
        if twice := sorted({name for name in ids if ids.count(name) > 1}):
            raise InputError(
                f"more than one arm is called {twice[0]!r}", cure="give every arm an id of its own"
            )
        if self.n_conversations < 1 or self.n_questions < 1:
            raise InputError(
                "an ablation needs at least one conversation with one question",
                where=self.dataset,
                cure="take more conversations, or data whose questions name their evidence",
            )
        for arm in self.arms:
            if arm.n_questions_changed > self.n_questions or not set(arm.by_category) <= set(
                self.categories
            ):
                raise InputError(
                    "the arm has more questions or other categories than the result",
                    where=f"arm {arm.id}",
                    cure="compute the arm and the result from the same questions",
                )

    @property
    def smallest_p(self) -> float:
        """The smallest p that the sign flip can give with these conversations, before
        correction.
        """
        return smallest_p(self.n_conversations, self.n_flips)

    @property
    def enough_questions(self) -> int:
        """The fewest questions that can show equivalence within the margin."""
        return fewest_questions(self.margin, ALPHA)

    @property
    def exact(self) -> bool:
        """Whether the sign flip evaluates all sign patterns."""
        return self.smallest_p == 2.0 ** (1 - self.n_conversations)

    def ordered(self) -> tuple[ArmResult, ...]:
        """Arms by falling difference of the primary metric; no-ops last, by id."""
        return tuple(
            sorted(
                self.arms,
                key=lambda arm: (arm.no_op, 0.0 if arm.no_op else -arm.primary.mean, arm.id),
            )
        )

    def judged(self, word: Verdict) -> tuple[ArmResult, ...]:
        """The arms with a verdict, in the order of display."""
        return tuple(arm for arm in self.ordered() if arm.verdict is word)


def corrected_arms(
    arms: Sequence[ArmResult], correction: Correction = Correction.HOLM
) -> tuple[ArmResult, ...]:
    """The arms with p-values corrected: one family per metric, over all arms, no-ops included,
    because the family was fixed before the run.

    correction  whose p-value decides the verdicts; both are computed
    """
    by_metric = {name: corrected([arm.differences[name] for arm in arms]) for name in METRICS}
    return tuple(
        replace(
            arm,
            differences={name: by_metric[name][i] for name in METRICS},
            correction=correction.value,
        )
        for i, arm in enumerate(arms)
    )


def spreads_of(result: AblationResult) -> dict[str, Spread]:
    """Of the primary metric, by arm; arms that changed nothing are left out."""
    return {
        arm.id: arm.primary.spread for arm in result.arms if not arm.no_op and arm.primary.spread
    }


def source_of(result: AblationResult) -> Source:
    """For `detectable`: an earlier run."""
    spreads = spreads_of(result)
    return Source(
        f"the earlier run of this folder ({result.set_name} on {result.dataset}, {plural(len(spreads), 'arm')})",
        tuple(spreads.values()),
    )


def to_json(result: AblationResult) -> dict[str, Any]:
    """Plain data for `json.dump`; `from_json` reads it back.  `smallest_p`, `verdicts` and
    `family` follow from the rest.
    """
    return {
        "format": FORMAT,
        **asdict(result),
        "smallest_p": result.smallest_p,
        "family": [arm.id for arm in result.arms],
        "verdicts": {arm.id: arm.verdict.value for arm in result.ordered()},
    }


def from_json(data: Mapping[str, Any]) -> AblationResult:
    """The result that `to_json` wrote; raises DataError for anything else."""
    try:
        if data["format"] != FORMAT:
            raise DataError(
                f"the ablation result has format {data['format']}; this release reads {FORMAT}",
                cure="run `hebbarium ablate` into the same folder again; finished cells of the same code are not run again",
            )
        derived = ("format", "smallest_p", "family", "verdicts", "arms", "beside", "pool", "levels",
                   "seeds", "costs")  # fmt: skip
        seeds, pool = data.get("seeds"), data.get("pool")
        return AblationResult(
            **{name: value for name, value in data.items() if name not in derived},
            arms=tuple(map(_arm, data["arms"])),
            beside=tuple(map(_system, data.get("beside", ()))),
            pool=Pool(**pool) if pool else None,
            levels={id: _levels(each) for id, each in data.get("levels", {}).items()},
            seeds=(tuple(seeds[0]), seeds[1]) if seeds else None,
            costs=tuple(Cost(**each) for each in data.get("costs", ())),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"this is not an ablation result ({error})",
            cure="give the JSON file that an ablation wrote",
        ) from error


def _arm(data: Mapping[str, Any]) -> ArmResult:
    receipt = data["receipt"]
    read = (
        ArmReceipt(**{**receipt, "gate": Gate(**receipt["gate"]) if receipt["gate"] else None})
        if receipt
        else None
    )
    return ArmResult(
        **{
            **data,
            "differences": {name: _difference(d) for name, d in data["differences"].items()},
            "receipt": read,
            "silenced": tuple(data["silenced"]),
            "fair": tuple(data["fair"]),
        }
    )


def _levels(data: Mapping[str, Any]) -> Levels:
    return Levels(**{**data, "alone": ClusterT(**data["alone"]) if data["alone"] else None})


def _system(data: Mapping[str, Any]) -> SystemResult:
    return SystemResult(
        **{
            **data,
            "capabilities": tuple(data["capabilities"]),
            "differences": {name: _difference(d) for name, d in data["differences"].items()},
        }
    )


def _difference(data: Mapping[str, Any]) -> Difference:
    pairs = {
        name: tuple(data[name]) if data[name] else None for name in ("bootstrap", "equivalence")
    }
    return Difference(
        **{**data, **pairs, "spread": Spread(**data["spread"]) if data["spread"] else None}
    )
