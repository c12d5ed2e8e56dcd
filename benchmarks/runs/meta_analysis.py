"""`hebbarium pool`: what each mechanism is worth over several data sets and worlds, from finished
leave-one-out designs, and worlds with mechanisms on trial, of one set.

A study is a data set.  Designs and blocks that measure the same data, with other embedders or units,
are no further studies, since they share questions: they are one, whose effect is the mean of theirs.
So are data sets that share conversations, such as LoCoMo and its corrected form: what one says is no
independent word beside the other.  A world is a study, too, by its hit@k at the greatest strength.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from ...engine.base.errors import DataError, InputError
from ..designs.families import family_of
from ..reports.result import CONVERSATIONS, REMOVED, BlockResult, DesignResult, from_json
from ..scores.hierarchy import Posterior, posteriors
from ..scores.random_effects import RandomEffects, random_effects
from .world_effects import holds_worlds, world_effects

SURE: Final = 0.95  # posterior probability from which a verdict is given
HELPS, WITHIN, HURTS, UNDECIDED = "helps", "within the margin", "hurts", "undecided"


@dataclass(frozen=True, slots=True)
class Study:
    """What one data set, or world, says of one mechanism.

    data       name of the data set or world; names of all that share conversations
    effect     full set minus the set without the mechanism, mean over the measurements
    se         standard error, conversations or lives being the unit; at least that of a share `margin` of
               questions that change by 1
    measured   title of each measurement -> its effect
    """

    data: str
    effect: float
    se: float
    measured: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Worth:
    """One mechanism over all studies.

    pooled     alone, by random effects
    posterior  with its family
    verdict    helps, within the margin or hurts, if that has a posterior probability of 95 %; else
               undecided
    """

    mechanism: str
    family: str
    studies: tuple[Study, ...]
    pooled: RandomEffects
    posterior: Posterior
    verdict: str


@dataclass(frozen=True, slots=True)
class MetaAnalysis:
    """All mechanisms of one set, by falling posterior mean."""

    set: str
    metric: str
    margin: float
    designs: tuple[str, ...]
    rows: tuple[Worth, ...]
    notes: tuple[str, ...]


def meta_analysis(
    folders: Sequence[Path], *, metric: str | None = None, margin: float | None = None
) -> MetaAnalysis:
    """The worth of every mechanism that was left out in some design.

    folders  of `hebbarium ablate` and `hebbarium world --on-trial`, of one set, a design among them
    metric   of designs; None: that of the first.  Worlds count by their hit@k
    margin   effects within it do not matter; None: that of the first design

    Raises DataError for a folder without a design of that kind, set and metric, or with damaged
    worlds, InputError for no design or a margin that is not above 0.
    """
    lived = {str(folder): world_effects(folder) for folder in folders if holds_worlds(folder)}
    designs = {str(folder): read(folder) for folder in folders if str(folder) not in lived}
    if not designs:
        raise InputError(
            "no design was given",
            cure="give a folder of `hebbarium ablate`, beside those of `hebbarium world`",
        )
    first = next(iter(designs.values())).facts
    metric, margin = metric or first.metric, first.margin if margin is None else margin
    if not 0.0 < margin < 1.0:
        raise InputError(
            f"the margin is {margin}", cure="give a margin between 0 and 1, such as 0.005"
        )
    notes: list[str] = []
    fit: list[BlockResult] = []
    for folder, design in designs.items():
        if design.facts.set != first.set:
            raise DataError(
                f"it measured the set {design.facts.set}, and the first design {first.set}",
                where=folder,
                cure="pool designs of one set: what a mechanism is worth depends on the others",
            )
        for block in design.blocks:
            reason = _unfit(block, metric)
            if reason:
                notes.append(f"{folder}, {block.title}: left out, since {reason}")
                continue
            fit.append(block)
    measured: dict[str, dict[int | str, list[tuple[str, str, float, float]]]] = {}
    for block, number in zip(fit, numbers := _study_numbers(fit), strict=True):
        for name, mean, variance in _effects(block, metric, margin):
            by_study = measured.setdefault(name, defaultdict(list))
            title = f"{block.title} ({block.embedder})"
            by_study[number].append((block.dataset, title, mean, variance))
    for number in dict.fromkeys(numbers):
        digests = {
            b.dataset_sha256: b.dataset for b, n in zip(fit, numbers, strict=True) if n == number
        }
        if len(digests) > 1:
            notes.append(
                f"one study, since they share conversations: {' and '.join(digests.values())}"
            )
    set_digests = {block.provenance.get("set_digest") for block in fit}
    for folder, (effects, left_out) in lived.items():
        notes += [f"{folder}, {note}" for note in left_out]
        for effect in effects:
            if effect.set != first.set:
                raise DataError(
                    f"it measured the set {effect.set}, and the first design {first.set}",
                    where=folder,
                    cure="pool designs and worlds of one set",
                )
            set_digests.add(effect.set_digest)
            title = f"{effect.world} ({effect.embedder})"
            least = margin / effect.questions
            measured.setdefault(effect.mechanism, defaultdict(list))[effect.world].append(
                (f"world {effect.world}", title, effect.mean, max(least, effect.variance))
            )
    if len({design.facts.version for design in designs.values()}) > 1:
        notes.append("the designs were measured by different versions of the code")
    if len(set_digests) > 1:
        notes.append(f"the set {first.set} has other mechanisms or parameters in some designs")
    if not measured:
        raise DataError(
            "no design leaves out a mechanism and has a spread between conversations",
            where=", ".join(designs),
            cure="run `hebbarium ablate --design leave-one-out` on at least two conversations, with this metric",
        )
    studies = {name: tuple(map(_study, by_study.values())) for name, by_study in measured.items()}
    return MetaAnalysis(
        first.set, metric, margin, (*designs, *lived), _worths(studies, margin), tuple(notes)
    )


def read(folder: Path) -> DesignResult:
    """The design of a folder.  Raises DataError."""
    file = folder / "design.json"
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"there is no result of a design ({error})",
            where=str(file),
            cure="give the --out folder of `hebbarium ablate`",
        ) from error
    try:
        return from_json(data)
    except DataError as error:
        raise DataError(error.what, where=str(file), cure=error.cure) from error


def to_json(result: MetaAnalysis) -> dict[str, Any]:
    """Plain data."""
    return asdict(result)


def _unfit(block: BlockResult, metric: str) -> str:
    """Why a block is no measurement; "" if it is one."""
    if block.clusters != CONVERSATIONS:
        return f"it measures {block.clusters} and no conversations"
    if block.n_conversations < 2:
        return "one conversation has no spread between conversations"
    if not any(estimate.kind == REMOVED for estimate in block.estimates):
        return "it leaves out no mechanism"
    if not all(metric in estimate.differences for estimate in block.estimates):
        return f"it did not measure {metric}"
    return ""


def _study_numbers(blocks: Sequence[BlockResult]) -> list[int]:
    """The number of the study of each block: blocks of one digest, or with a conversation of one id,
    belong to one.  O(blocks^2 conversations).
    """
    held = [
        {f"sha256:{block.dataset_sha256}", *block.provenance.get("conversations", ())}
        for block in blocks
    ]
    numbers = list(range(len(blocks)))
    for later, mine in enumerate(held):
        for earlier in range(later):
            if mine & held[earlier] and numbers[earlier] != numbers[later]:
                old, new = sorted((numbers[earlier], numbers[later]), reverse=True)
                numbers = [new if number == old else number for number in numbers]
    return numbers


def _effects(block: BlockResult, metric: str, margin: float) -> Iterable[tuple[str, float, float]]:
    """Mechanism, effect and variance of each that was left out."""
    floor = margin / block.n_questions
    for estimate in block.estimates:
        if estimate.kind != REMOVED or estimate.name.startswith("swap "):
            continue
        difference = estimate.differences[metric]
        if math.isfinite(difference.mean):
            yield estimate.name, difference.mean, max(floor, (difference.se or 0.0) ** 2)


def _study(measurements: Sequence[tuple[str, str, float, float]]) -> Study:
    """Measurements of the same questions: the variance of their mean is at most their mean variance."""
    return Study(
        " and ".join(dict.fromkeys(data for data, _, _, _ in measurements)),
        fmean(mean for _, _, mean, _ in measurements),
        math.sqrt(fmean(variance for _, _, _, variance in measurements)),
        {title: mean for _, title, mean, _ in measurements},
    )


def _worths(studies: Mapping[str, tuple[Study, ...]], margin: float) -> tuple[Worth, ...]:
    effects = [[study.effect for study in mine] for mine in studies.values()]
    variances = [[study.se**2 for study in mine] for mine in studies.values()]
    families = [family_of(name) for name in studies]
    rows = [
        Worth(name, family, mine, random_effects(y, v), posterior, _verdict(posterior))
        for (name, mine), family, y, v, posterior in zip(
            studies.items(),
            families,
            effects,
            variances,
            posteriors(effects, variances, families, margin=margin),
            strict=True,
        )
    ]
    return tuple(sorted(rows, key=lambda row: (-row.posterior.mean, row.mechanism)))


def _verdict(posterior: Posterior) -> str:
    shares = {HELPS: posterior.helps, WITHIN: posterior.within, HURTS: posterior.hurts}
    return next((word for word, share in shares.items() if share >= SURE), UNDECIDED)
