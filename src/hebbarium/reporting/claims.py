"""Published numbers of the source systems, and ours beside them.

`claims.yaml` is the one register of what the four source systems print.  A published number and one
of ours are compared only if no setting differs; else the settings that differ are named.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from ..engine.base.errors import DataError
from ..engine.base.yaml_file import read_yaml

FILE: Final = Path(__file__).parent / "claims.yaml"
SUBSTRING: Final = "mrr by substring"  # of our results, as benchmarks/scores/substring.py has it
BY_SUBSTRING: Final = "a text that contains the gold turn or the answer"
NOT_COMPARED: Final = "NOT COMPARED"
# name of a metric in a publication -> in our results
METRICS: Final[Mapping[str, str]] = {
    "R@10": "recall@10",
    "R@5": "recall@5",
    "N@5": "ndcg@5",
    "MRR": "mrr@10",
    "F1": "f1",
    "B-1": "bleu_1",
    "R-L": "rouge_l",
    "4o-J": "judged",
    "accuracy": "accuracy",
    "visible ratio": "visible ratio",
    "H95": "H95",
    "AUC": "AUC",
}
OF_ANSWERS: Final = ("f1", "bleu_1", "rouge_l", "judged", "accuracy")
SCALE: Final[Mapping[str, float]] = {"percent": 0.01}
# settings of a table that a system gives for all of its tables
INHERITED: Final = ("version", "gold", "embedder", "reranker", "reader", "judge")
HEADS: Final = ("published by", "of", "metric", "published", "ours", "compared")


class _RegisterPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DerivedNumber(_RegisterPart):
    """A printed number that follows from other printed ones.

    rule     sum, difference, mean, weighted mean, ratio, percent (a / b), gain (a / b - 1),
             reduction (1 - a / b), positive (how many are above 0), half-life (of exp(-t / a))
    weights  of a weighted mean
    """

    label: str
    value: float
    unit: str
    rule: str
    numbers: tuple[float, ...]
    weights: tuple[float, ...] = ()


class ClaimTable(_RegisterPart):
    """A published table; claims.yaml says what its fields mean."""

    place: str
    version: str
    gold: str
    embedder: str
    reranker: str
    reader: str
    judge: str
    rows_are: str
    dataset: str = ""
    scale: str = ""
    n: int = 0
    set: str = ""
    parameter: str = ""
    own: float | None = None
    sets: Mapping[str, str] = {}
    arms: Mapping[str, str] = {}
    categories: Mapping[str, str] = {}
    note: str = ""
    units: Mapping[str, str] = {}
    rows: tuple[tuple[str | float | None, ...], ...] = ()
    derived: tuple[DerivedNumber, ...] = ()

    @model_validator(mode="after")
    def _fits(self) -> ClaimTable:
        for row in self.rows:
            if len(row) != 1 + len(self.units):
                raise ValueError(f"row {row[0]!r} has {len(row) - 1} numbers for {len(self.units)}")
        labels = {str(row[0]) for row in self.rows}
        for name in ("sets", "arms", "categories"):
            if unknown := sorted(set(getattr(self, name)) - labels):
                raise ValueError(f"{name} names {unknown[0]!r}, which is no row")
        return self


class ClaimedSystem(_RegisterPart):
    """A source system: its name, its key in references.bib, and its tables."""

    system: str
    key: str
    tables: tuple[ClaimTable, ...]


@dataclass(frozen=True, slots=True)
class PublishedNumber:
    """A number as it is printed, in its unit, with its setting.

    system    the publication that prints it
    label     of its row: which system, arm, category, value or cell it is of
    set       ours that stands for what was measured; "" if none does
    arm       of an ablation of that set; "" for the set as it is
    category  of ours that its category is; "" for all questions
    derived   how it follows from other printed numbers; None if it was measured
    """

    system: str
    key: str
    table: ClaimTable
    label: str
    metric: str
    value: float
    unit: str
    set: str = ""
    arm: str = ""
    category: str = ""
    derived: DerivedNumber | None = None

    @property
    def ours(self) -> str:
        """The name of its metric in our results; "" if we have none."""
        if self.metric == "MRR" and self.table.gold == BY_SUBSTRING:
            return SUBSTRING
        return METRICS.get(self.metric, "")

    @property
    def share(self) -> float:
        """The value on our scale: percent as a share."""
        return self.value * SCALE.get(self.unit, 1.0)

    @property
    def whole(self) -> bool:
        """Whether it is of a system as it is, over all questions."""
        return self.table.rows_are == "system"


@dataclass(frozen=True, slots=True)
class OurSetting:
    """The setting of a result of ours.

    lacks   what the set lacks of its source, as its summary says; "" for nothing
    gold    what counts as found: "gold turns", "gold sessions", "the judge accepts the answer"
    n       questions with gold
    """

    set: str
    dataset: str
    n: int
    embedder: str
    gold: str = "gold turns"
    reranker: str = "none"
    reader: str = "none"
    judge: str = "none"
    lacks: str = ""
    scale: str = ""
    arm: str = ""


@dataclass(frozen=True, slots=True)
class Beside:
    """A published number with ours, and the settings that differ; () if the two are compared."""

    published: PublishedNumber
    ours: float | None
    differing: tuple[str, ...] = field(default=())

    def row(self) -> tuple[str, ...]:
        """Under the heads of `HEADS`."""
        of = self.published
        return (
            f"{of.system} {of.table.place}",
            of.label,
            of.ours or of.metric,
            f"{of.share:.4f}",
            "-" if self.ours is None else f"{self.ours:.4f}",
            f"{NOT_COMPARED}: {'; '.join(self.differing)}" if self.differing else "yes",
        )

    def named(self) -> dict[str, object]:
        """As plain values, for a result in JSON."""
        of = self.published
        return {
            "system": of.system, "key": of.key, "place": of.table.place, "version": of.table.version,
            "label": of.label, "metric": of.ours or of.metric, "published": of.share,
            "ours": self.ours, "compared": not self.differing, "differing": list(self.differing),
        }  # fmt: skip


@cache
def read_claims(file: Path = FILE) -> tuple[ClaimedSystem, ...]:
    """The register.  Raises DataError for a file of another form."""
    plain = read_yaml(file)
    try:
        return tuple(
            ClaimedSystem.model_validate(
                {
                    **{k: v for k, v in system.items() if k not in INHERITED},
                    "tables": [
                        {**{k: system[k] for k in INHERITED if k in system}, **table}
                        for table in system["tables"]
                    ],
                }
            )
            for system in plain["systems"]
        )
    except (ValidationError, KeyError, TypeError, AttributeError) as error:
        said = (
            f"{'.'.join(map(str, error.errors()[0]['loc']))}: {error.errors()[0]['msg']}"
            if isinstance(error, ValidationError)
            else f"is no register of published numbers ({error!r})"
        )
        raise DataError(said, where=str(file), cure="its head says the form") from error


@cache
def published_numbers(file: Path = FILE) -> tuple[PublishedNumber, ...]:
    """Every number of the register, in its order."""
    return tuple(
        number
        for system in read_claims(file)
        for table in system.tables
        for number in _of_table(system, table)
    )


def _of_table(system: ClaimedSystem, table: ClaimTable) -> Iterator[PublishedNumber]:
    for label, *values in table.rows:
        name = str(label)
        stands = table.sets.get(name, "" if table.sets else table.set)
        if table.rows_are == "arm" and name not in table.arms:
            stands = ""  # no arm of ours stands for it
        for (metric, unit), value in zip(table.units.items(), values, strict=True):
            if value is not None:
                yield PublishedNumber(
                    system.system,
                    system.key,
                    table,
                    name,
                    metric,
                    float(value),
                    unit,
                    stands,
                    table.arms.get(name, ""),
                    table.categories.get(name, ""),
                )
    for number in table.derived:
        yield PublishedNumber(
            system.system, system.key, table, number.label, number.rule, number.value, number.unit,
            derived=number,
        )  # fmt: skip


def differing(published: PublishedNumber, ours: OurSetting) -> tuple[str, ...]:
    """The settings in which a published number and one of ours differ, in words."""
    table, said = published.table, []
    if table.dataset.startswith("probe:"):
        return (f"{table.gold} there, the labelled stream of the probe here",)
    if published.set != ours.set:
        said.append(f"of {published.label}" if published.whole else f"of {published.system}")
    elif ours.lacks:
        said.append(f"the set lacks {ours.lacks}")
    if table.scale and table.scale != ours.scale:
        said.append(f"{table.scale} tokens a conversation there, {ours.scale or 'others'} here")
    if not table.n:
        said.append(f"number of questions not printed there, {ours.n:,} here")
    elif table.n != ours.n:
        said.append(f"{table.n:,} questions there, {ours.n:,} here")
    gold = BY_SUBSTRING if published.ours == SUBSTRING else ours.gold
    pairs = [
        ("embedder", table.embedder, ours.embedder),
        ("reranker", table.reranker, ours.reranker),
    ]
    if published.ours in OF_ANSWERS:
        pairs += [("reader", table.reader, ours.reader), ("judge", table.judge, ours.judge)]
    said += [
        f"{name} {there} there, {here} here"
        for name, there, here in [("gold", table.gold, gold), *pairs]
        if there != here
    ]
    return tuple(said)


def beside(
    ours: OurSetting,
    overall: Mapping[str, float | int | None],
    by_category: Mapping[str, Mapping[str, float | int | None]] | None = None,
    numbers: Sequence[PublishedNumber] | None = None,
) -> tuple[Beside, ...]:
    """What is published on the data set in metrics of ours, beside a result.

    overall, by_category  our metrics by name, over all questions and by category

    Numbers of systems as they are stand beside any set; those of categories and arms beside the
    set that stands for their system.
    """
    return tuple(
        Beside(number, None if value is None else float(value), differing(number, ours))
        for number in (published_numbers() if numbers is None else numbers)
        if number.table.dataset == ours.dataset
        and number.derived is None
        and number.ours in overall
        and _stands_beside(number, ours)
        for value in [_ours(number, overall, by_category or {})]
    )


def _stands_beside(number: PublishedNumber, ours: OurSetting) -> bool:
    if number.table.parameter:
        return False
    if number.arm:
        return number.set == ours.set and number.arm == (ours.arm or "full")
    if number.category:
        return number.set == ours.set and not ours.arm
    return number.whole and not ours.arm


def _ours(
    number: PublishedNumber,
    overall: Mapping[str, float | int | None],
    by_category: Mapping[str, Mapping[str, float | int | None]],
) -> float | int | None:
    if number.category:
        return by_category.get(number.category, {}).get(number.ours)
    return overall.get(number.ours)


def lacks_of(summary: str) -> str:
    """What a set lacks of its source, by the words of its summary.

    >>> lacks_of("All-Mem: ranking by descriptors; missing: its language model (rules plan)")
    'its language model (rules plan)'
    """
    return summary.partition("missing: ")[2].partition("; open: ")[0]


RERANKERS: Final[Mapping[str, str]] = {
    "late_interaction_rerank": "late interaction of token vectors",
    "cross_encoder_rerank": "a cross-encoder of the user",
}


def our_setting(
    name: str,
    summary: str,
    mechanisms: Iterable[str],
    dataset: str,
    n: int,
    embedder: str,
    *,
    sessions: bool = False,
    conversations: Iterable[str] = (),
    arm: str = "",
    reader: str = "none",
    judge: str = "none",
) -> OurSetting:
    """The setting of a result of ours.

    name, summary  of the mechanism set
    mechanisms     ids of what was on
    n              questions that were scored
    sessions       whether sessions are ranked, or are the events
    conversations  their ids; those of BEAM begin with their scale, such as "100K/1"
    reader, judge  of answers; with a reader the judge decides what is right

    >>> our_setting("all_mem", "All-Mem; missing: its model", [], "beam", 3, "m", conversations=["100K/1"]).scale
    '100K'
    """
    ids = set(mechanisms)
    scales = {id.partition("/")[0] for id in conversations} if dataset == "beam" else set()
    gold = "the judge accepts the answer" if reader != "none" else "gold turns"
    return OurSetting(
        name,
        dataset,
        n,
        embedder,
        "gold sessions" if sessions and reader == "none" else gold,
        next((words for id, words in RERANKERS.items() if id in ids), "none"),
        reader,
        judge,
        lacks_of(summary),
        ", ".join(sorted(scales)),
        arm,
    )


MEASURED: Final = Path(__file__).parent / "measured.json"


class MeasuredResult(_RegisterPart):
    """A result of ours that ships with the package, for comparison with published numbers.

    overall     metric -> (mean, low, high of its 95% interval); a quantity without one has its
                value three times
    categories  category -> metric -> mean
    commit      of the code that measured it
    """

    set: str
    arm: str = ""
    dataset: str
    n: int
    conversations: tuple[str, ...]
    embedder: str
    sessions: bool = False
    mechanisms: tuple[str, ...]
    overall: Mapping[str, tuple[float, float, float]]
    categories: Mapping[str, Mapping[str, float]] = {}
    commit: str = ""


@cache
def measured_results(file: Path = MEASURED) -> tuple[MeasuredResult, ...]:
    """The shipped results.  Raises DataError for a file of another form."""
    try:
        return tuple(
            MeasuredResult.model_validate(result)
            for result in json.loads(file.read_text(encoding="utf-8"))
        )
    except (OSError, ValueError, TypeError) as error:
        raise DataError(
            f"is no list of measured results ({error})",
            where=str(file),
            cure="docs/tools/published.py writes it",
        ) from error
