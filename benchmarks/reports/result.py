"""The result of a design: every estimate on every block of data, as plain data that JSON holds
without loss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from statistics import stdev
from typing import Any, Final

from ...engine.base.errors import DataError, InputError
from ...reporting.text import plural
from ..scores.agreement import mcnemar
from ..scores.chance import Pool
from ..scores.cluster_robust import ClusterT, Spread, fewest_questions
from ..scores.comparison import (
    ALPHA,
    MARGIN,
    Correction,
    Difference,
    Verdict,
    corrected,
    verdict,
    verdict_here,
)
from ..scores.detectable import Source
from ..scores.levels import Levels
from ..scores.scopes import Here
from ..scores.statistics import smallest_p

PRIMARY: Final = "recall@10"  # metric of a design that names none
REMOVED: Final = "full minus arm"  # kind of the estimates of a leave-one-out
CONVERSATIONS: Final = "conversations"
FORMAT: Final = 3


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
class Cost:
    """CPU time of one mechanism, ms an event, a query and a night; None where it was not
    measured.
    """

    mechanism: str
    event: float | None
    query: float | None
    night: float | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """One contrast of a design, such as the full set minus the set without a mechanism.

    name                 of the contrast: for an arm of a leave-one-out the mechanism removed, or
                         "swap a->b"
    kind                 such as "full minus arm" or "Shapley value"
    metric               the primary metric: that of the verdict
    no_op                all arms of the contrast gave the same ranks on every question
    metrics              of the arm that is compared with the reference, by name; also `held_back`
                         and `false_hold_backs` if some questions have no answer; {} for a contrast
                         of more than two arms
    differences          the estimate by metric name, the primary metric among them
    n_questions_changed  questions with a rank of gold that differs between arms of the contrast;
                         n_ranks_changed counts the ranks
    n_helped, n_hurt     questions whose estimate of the primary metric is above, below 0
    receipt              of the mechanism removed in the full run; None where there is none
    seconds              wall time of the arm; 0 for a contrast of more than two arms
    by_category          the estimate of the primary metric per question category; categories
                         without a value may be left out
    silenced             other mechanisms of the arm whose signals no step reads in it, although a
                         step of the full set does: the arm removes their effect on the ranking, too
    fair                 arms that remove the same mechanism and silence none
    correction           of the p-value that decides the verdict
    seed_sd              standard deviation of the mean over seeds; None for one seed
    family               declared family of its mechanism; "" if families are not tested as wholes
    here                 the estimate of the primary metric for these conversations, the question
                         being the unit; None for a probe
    flip_p_rw            of the sign flip of conversations, stepped down over the family with its
                         dependence (Romano & Wolf)
    values               of the primary metric for each question, in the order of the block's
                         questions; they are in estimates.jsonl and not in design.json
    """

    name: str
    kind: str
    metric: str
    no_op: bool
    metrics: Mapping[str, float]
    differences: Mapping[str, Difference]
    n_questions_changed: int
    n_ranks_changed: int
    n_helped: int
    n_hurt: int
    receipt: ArmReceipt | None = None
    seconds: float = 0.0
    by_category: Mapping[str, float] = field(default_factory=dict)
    silenced: tuple[str, ...] = ()
    fair: tuple[str, ...] = ()
    correction: str = Correction.HOLM.value
    seed_sd: float | None = None
    family: str = ""
    here: Here | None = None
    flip_p_rw: float | None = None
    values: tuple[float, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.metric not in self.differences:
            raise InputError(
                f"an estimate needs the difference of its metric {self.metric}",
                where=f"estimate {self.name}",
                cure="give `differences` an entry for the primary metric",
            )
        if self.no_op != (self.n_ranks_changed == 0) or (self.n_ranks_changed == 0) != (
            self.n_questions_changed == 0
        ):
            raise InputError(
                f"no_op is {self.no_op}, yet {self.n_ranks_changed} ranks of {self.n_questions_changed} questions changed",
                where=f"estimate {self.name}",
                cure="an arm is a no-op exactly when no rank of any question changed",
            )
        if self.n_helped + self.n_hurt > self.n_questions_changed or (
            self.no_op and any(d.mean for d in self.differences.values())
        ):
            raise InputError(
                "a metric differs on questions whose ranks did not change",
                where=f"estimate {self.name}",
                cure="compute metrics and changes from the same rows",
            )

    @property
    def primary(self) -> Difference:
        """The difference that decides the verdict."""
        return self.differences[self.metric]

    @property
    def corrected_p(self) -> float | None:
        """The p-value that decides the verdict."""
        return self.primary.corrected_p(Correction(self.correction))

    @property
    def verdict(self) -> Verdict:
        wrote = self.receipt is not None and self.receipt.values_changed > 0
        return verdict(
            self.primary, no_op=self.no_op, wrote=wrote, correction=Correction(self.correction)
        )

    @property
    def mcnemar_p(self) -> float:
        """Of the questions won and lost, whatever the size of their differences."""
        return mcnemar(self.n_helped, self.n_hurt).p

    @property
    def verdict_here(self) -> Verdict | None:
        """For these conversations; `verdict` is that for conversations like these.  None for a
        probe.
        """
        if self.here is None:
            return None
        return self.verdict if self.no_op else verdict_here(self.here, self.primary.mean)


@dataclass(frozen=True, slots=True)
class SystemResult:
    """Another system that answered the same questions, for comparison; it is no part of the family.

    id            MODULE:NAME
    revision      digest of its source; "" for a system of this package
    capabilities  that it declares, such as "learns from recall"
    metric        the primary metric of the design
    metrics       of the system itself, by name
    differences   reference minus this system, by metric name; not corrected
    seconds       wall time of the system
    by_category   difference of the primary metric per question category
    """

    id: str
    revision: str
    capabilities: tuple[str, ...]
    metric: str
    metrics: Mapping[str, float]
    differences: Mapping[str, Difference]
    seconds: float
    by_category: Mapping[str, float]

    @property
    def primary(self) -> Difference:
        return self.differences[self.metric]


@dataclass(frozen=True, slots=True)
class DesignFacts:
    """What a design is, whatever its data.

    name        of the design's file without its ending, or its kind
    set, kind   mechanism set, and kind of design, such as "leave-one-out"
    margin      of equivalence, in units of the metric
    source      file of the design, or "--design"
    seeds       a question's value is the mean over them
    n_designed  estimates that the design has, those that were not asked for included
    level, n_resamples, n_flips   settings of the statistics
    version     of the package and its code
    """

    name: str
    summary: str
    set: str
    kind: str
    metric: str = PRIMARY
    margin: float = MARGIN
    correction: str = Correction.HOLM.value
    source: str = "--design"
    seeds: tuple[int, ...] = (0,)
    n_designed: int = 0
    level: float = 0.95
    n_resamples: int = 10_000
    n_flips: int = 10_000
    version: str = ""


@dataclass(frozen=True, slots=True)
class BlockResult:
    """The estimates of a design on one data set with one embedder: the family over which p-values
    are corrected.

    facts       of the design
    name        "" if the design has only one block
    means       arm -> its mean of the primary metric, the reference first
    by_seed     arm -> its mean with each seed, in the order of the seeds; {} for one seed
    clusters    what the tests take as independent: conversations, or the seeds of a probe
    beside      other systems on the same questions, in the order in which they were named
    baseline    metrics of the reference, by name, as `metrics.summary` gives them, and the shares
                held back as those of an arm; {} for a probe
    categories  number of questions per category, in the order of display
    seconds     wall time of the reference
    chance      expected metrics of a random ranking, by name; {} if not computed
    oracle      metrics of a ranking with all evidence first, by name; {} if not computed
    pool        of the questions' answers; None if not computed
    depths      hit, recall, mrr and ndcg of the reference at several depths; {} if not computed
    levels      where the estimates of the primary metric vary, by name; {} if not computed
    retrieve_ms  arm -> median milliseconds of a question, without the embedding of its text; {}
                if not measured
    provenance  what manifest.json holds: everything that decides the result, versions, and how the
                report was made
    questions   (conversation, question) of the values of an estimate; not in design.json
    """

    facts: DesignFacts
    name: str
    dataset: str
    dataset_sha256: str
    embedder: str
    n_conversations: int
    n_questions: int
    means: Mapping[str, float]
    estimates: tuple[Estimate, ...]
    baseline: Mapping[str, float | int | None] = field(default_factory=dict)
    categories: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    by_seed: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    clusters: str = CONVERSATIONS
    beside: tuple[SystemResult, ...] = ()
    chance: Mapping[str, float] = field(default_factory=dict)
    pool: Pool | None = None
    depths: Mapping[str, float] = field(default_factory=dict)
    levels: Mapping[str, Levels] = field(default_factory=dict)
    retrieve_ms: Mapping[str, float] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    questions: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)
    oracle: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [estimate.name for estimate in self.estimates]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise InputError(
                f"more than one estimate is called {twice[0]!r}",
                cure="give every estimate a name of its own",
            )
        if self.n_conversations < 1 or self.n_questions < 1:
            raise InputError(
                "a design needs at least one conversation with one question",
                where=self.dataset,
                cure="take more conversations, or data whose questions name their evidence",
            )
        for estimate in self.estimates:
            if estimate.n_questions_changed > self.n_questions or not set(
                estimate.by_category
            ) <= set(self.categories):
                raise InputError(
                    "the estimate has more questions or other categories than the result",
                    where=f"estimate {estimate.name}",
                    cure="compute the estimate and the result from the same questions",
                )

    @property
    def metric(self) -> str:
        return self.facts.metric

    @property
    def margin(self) -> float:
        return self.facts.margin

    @property
    def title(self) -> str:
        """
        What the block is called in a report.
        """
        return self.name or self.dataset

    @property
    def reference(self) -> str:
        """The arm that all others are compared with; "" without arms."""
        return next(iter(self.means), "")

    @property
    def removes(self) -> bool:
        """Whether every estimate is the full set minus an arm, so that above 0 means: it helps."""
        return all(estimate.kind == REMOVED for estimate in self.estimates)

    @property
    def size(self) -> str:
        """What was measured, such as "12 questions of 3 conversations" or "5 seeds"."""
        if self.clusters != CONVERSATIONS:
            return f"{self.n_conversations} {self.clusters}"
        return f"{plural(self.n_questions, 'question')} of {plural(self.n_conversations, 'conversation')}"

    @property
    def seeds_sd(self) -> float | None:
        """Standard deviation of the reference's primary metric over seeds; None for one seed."""
        values = self.by_seed.get(self.reference, ())
        return stdev(values) if len(values) > 1 else None

    @property
    def smallest_p(self) -> float:
        """The smallest p that the sign flip can give with these conversations, before
        correction.
        """
        return smallest_p(self.n_conversations, self.facts.n_flips)

    @property
    def enough_questions(self) -> int:
        """The fewest questions that can show equivalence within the margin."""
        return fewest_questions(self.margin, ALPHA)

    @property
    def exact(self) -> bool:
        """Whether the sign flip evaluates all sign patterns."""
        return self.smallest_p == 2.0 ** (1 - self.n_conversations)

    def ordered(self) -> tuple[Estimate, ...]:
        """Estimates by falling difference of the primary metric; no-ops last, by name."""
        return tuple(
            sorted(
                self.estimates, key=lambda e: (e.no_op, 0.0 if e.no_op else -e.primary.mean, e.name)
            )
        )

    def judged(self, word: Verdict) -> tuple[Estimate, ...]:
        """The estimates with a verdict, in the order of display."""
        return tuple(estimate for estimate in self.ordered() if estimate.verdict is word)


@dataclass(frozen=True, slots=True)
class DesignResult:
    """A design with its estimates on every block of data.

    arms       ids, the reference first
    contrasts  name of the estimate -> arm -> weight
    excluded   arm -> why it could not be built
    dropped    names of the estimates that need one of these
    notes      sentences for the report
    costs      CPU time of the mechanisms of the reference; () if not measured
    made       how and when: the fields of `provenance.Made`
    """

    facts: DesignFacts
    blocks: tuple[BlockResult, ...]
    arms: tuple[str, ...] = ()
    contrasts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    excluded: Mapping[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    costs: tuple[Cost, ...] = ()
    made: Mapping[str, Any] = field(default_factory=dict)


def corrected_estimates(estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """The estimates with p-values corrected: one family per metric, over all estimates, no-ops
    included, because the family was fixed before the run.
    """
    if not estimates:
        return ()
    by_metric = {
        name: corrected([estimate.differences[name] for estimate in estimates])
        for name in estimates[0].differences
    }
    return tuple(
        replace(estimate, differences={name: by_metric[name][i] for name in by_metric})
        for i, estimate in enumerate(estimates)
    )


def spreads_of(block: BlockResult) -> dict[str, Spread]:
    """Of the primary metric, by estimate; those that changed nothing are left out."""
    return {e.name: e.primary.spread for e in block.estimates if not e.no_op and e.primary.spread}


def source_of(block: BlockResult) -> Source:
    """For `detectable`: an earlier run."""
    spreads = spreads_of(block)
    return Source(
        f"the earlier run of this folder ({block.facts.set} on {block.dataset}, {plural(len(spreads), 'arm')})",
        tuple(spreads.values()),
    )


# ---- JSON

_ASIDE: Final = {"values", "questions", "facts"}  # fields that design.json has elsewhere, or not


def to_json(result: DesignResult) -> dict[str, Any]:
    """Plain data for `json.dump`; `from_json` reads it back.  `smallest_p` and `family` of a block
    and the verdicts and McNemar's p of an estimate follow from the rest.
    """
    return {
        "format": FORMAT,
        **_plain(result.facts),
        "blocks": [
            {
                **{name: value for name, value in _plain(block).items() if name != "estimates"},
                "estimates": [
                    {
                        **_plain(estimate),
                        "verdict": estimate.verdict.value,
                        "verdict_here": estimate.verdict_here,
                        "mcnemar_p": estimate.mcnemar_p,
                    }
                    for estimate in block.estimates
                ],
                "smallest_p": block.smallest_p,
                "family": [estimate.name for estimate in block.estimates],
            }
            for block in result.blocks
        ],
        **{name: value for name, value in _plain(result).items() if name != "blocks"},
    }


def _plain(record: Any) -> dict[str, Any]:
    """The fields of a record but those that stand elsewhere."""
    return {
        f.name: _as_data(getattr(record, f.name)) for f in fields(record) if f.name not in _ASIDE
    }


def _as_data(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _as_data(inner) for name, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_as_data(inner) for inner in value]
    return _as_data(asdict(value)) if hasattr(value, "__dataclass_fields__") else value


def from_json(data: Mapping[str, Any]) -> DesignResult:
    """The result that `to_json` wrote; raises DataError for anything else."""
    try:
        if data["format"] != FORMAT:
            raise DataError(
                f"the result of a design has format {data['format']}; this release reads {FORMAT}",
                where="design.json",
                cure="run `hebbarium ablate` into the same folder again; finished cells of the same code are not run again",
            )
        facts = DesignFacts(
            **{f.name: data[f.name] for f in fields(DesignFacts) if f.name != "seeds"},
            seeds=tuple(data["seeds"]),
        )
        return DesignResult(
            facts=facts,
            blocks=tuple(map(partial(_block, facts), data["blocks"])),
            arms=tuple(data["arms"]),
            contrasts={name: dict(weights) for name, weights in data["contrasts"].items()},
            excluded=dict(data["excluded"]),
            dropped=tuple(data["dropped"]),
            notes=tuple(data["notes"]),
            costs=tuple(Cost(**cost) for cost in data["costs"]),
            made=dict(data["made"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(
            f"this is not the result of a design ({error})",
            where="design.json",
            cure="give the design.json that `hebbarium ablate` wrote, or run the design again",
        ) from error


def _block(facts: DesignFacts, data: Mapping[str, Any]) -> BlockResult:
    pool = data["pool"]
    special = ("estimates", "beside", "pool", "levels", "by_seed", "smallest_p", "family")
    return BlockResult(
        facts=facts,
        **{name: value for name, value in data.items() if name not in special},
        estimates=tuple(map(_estimate, data["estimates"])),
        beside=tuple(map(_system, data["beside"])),
        pool=Pool(**pool) if pool else None,
        levels={name: _levels(level) for name, level in data["levels"].items()},
        by_seed={arm: tuple(values) for arm, values in data["by_seed"].items()},
    )


def _estimate(data: Mapping[str, Any]) -> Estimate:
    receipt = data["receipt"]
    return Estimate(
        **{
            name: value
            for name, value in data.items()
            if name not in ("verdict", "verdict_here", "mcnemar_p")
        }
        | {
            "differences": {name: _difference(d) for name, d in data["differences"].items()},
            "receipt": ArmReceipt(
                **{**receipt, "gate": Gate(**receipt["gate"]) if receipt["gate"] else None}
            )
            if receipt
            else None,
            "silenced": tuple(data["silenced"]),
            "fair": tuple(data["fair"]),
            "here": _here(data["here"]) if data["here"] else None,
        }
    )


def _here(data: Mapping[str, Any]) -> Here:
    ends = data["equivalence"]
    return Here(**{**data, "equivalence": tuple(ends) if ends else None})


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
