"""`hebbarium calibrate`: fits the sufficiency gate of a set to development data.

Each answer gives a pair of its decision value f and of whether it sufficed.  Sufficient: an event
of gold is among the first k.  Insufficient: none is, or the question has no answer in its
conversation, or it belongs to another conversation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml
from numpy.typing import NDArray

from ...engine.base.errors import InputError
from ...engine.base.files import UNIT
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.contract.records import Query
from ...engine.ports.embedding_cache import CachedEmbedder
from ...mechanisms.retrieval.sufficiency_gate import SUFFICIENCY_EVIDENCE, fitted, probability
from ...reporting.files import results_folder, write_json, write_whole
from ...reporting.provenance import Made, made
from ...reporting.svg import standalone
from ...reporting.text import plural
from ..datasets import Conversation, Dataset, Question
from ..designs import FULL, Arm
from ..execution.cells import Cell, asked, prepare
from ..execution.local import Progress, embed_ahead
from ..execution.plan import planned, specs_of
from ..execution.setup import versions
from ..execution.spec import Settings
from ..scores.abstention import unanswerable
from ..scores.calibration import (
    Answered,
    Bin,
    expected_calibration_error,
    reliability,
    risk_coverage,
)
from ..systems.hebbarium import Hebbarium

GATE: Final = "sufficiency_gate"
FEWEST: Final = 50  # pairs
MOST_FOLDS: Final = 10
CALIBRATION = "calibration.json"


class AnswerKind(StrEnum):
    """What is known of an answer; only the first kind suffices."""

    FOUND = "gold found"
    MISSED = "gold missed"
    UNANSWERABLE = "no answer in the conversation"
    FOREIGN = "question of another conversation"


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """An answer: the conversation that was asked, the question, what is known of the answer, and
    the decision value f.
    """

    conversation: str
    question: str
    kind: AnswerKind
    f: float

    @property
    def sufficient(self) -> bool:
        return self.kind is AnswerKind.FOUND


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fitted gate.

    chosen            the set with the gate open, as the pairs were collected
    dataset, sha256, conversations   that were used; no report may use these conversations
    evidence          what f is
    k                 events of an answer
    A, B              fitted to all pairs
    threshold         of the set that is written
    pairs
    unjudged          answers without a decision value, left out
    unseen            (m,) probability of each pair from a fit without its conversation; None if
                      there are too few conversations or kinds
    bins              reliability of these; of the fit itself for None
    error             expected calibration error over the bins
    seen_error        that of the fit on its own pairs
    answered          risk at each coverage
    """

    chosen: MechanismSet
    dataset: str
    sha256: str
    conversations: tuple[str, ...]
    evidence: str
    k: int
    A: float
    B: float
    threshold: float
    pairs: tuple[JudgedAnswer, ...]
    unjudged: int
    unseen: NDArray[np.float64] | None
    bins: tuple[Bin, ...]
    error: float
    seen_error: float
    answered: tuple[Answered, ...]

    @property
    def kinds(self) -> dict[str, int]:
        """Number of pairs of each kind."""
        counts = Counter(pair.kind for pair in self.pairs)
        return {kind.value: counts[kind] for kind in AnswerKind}


def calibrate(
    chosen: MechanismSet,
    registry: Registry,
    data: Dataset,
    embedder: CachedEmbedder,
    *,
    evidence: str | None = None,
    threshold: float = 0.5,
    seed: int = 0,
    progress: Progress | None = None,
) -> Calibration:
    """Collect pairs on every conversation, and fit.

    chosen     the set; the gate is added if it has none
    evidence   what f is; None: as the set or the registry has it
    threshold  of the calibrated set
    progress   called with (conversations done, conversations, the last one)

    The error is that of conversations which the fit has not seen: each pair is judged by a fit to
    the other conversations. Cost: every conversation is encoded once and asked its own questions
    and about as many of another one. Raises InputError for fewer than 50 pairs, pairs of one kind,
    and a threshold outside [0, 1]; HebbariumError as `planned`.
    """
    if not 0.0 <= threshold <= 1.0:
        raise InputError(
            f"the threshold {threshold} is no probability",
            where="--threshold",
            cure="give a number from 0 to 1",
        )
    opened = with_open_gate(chosen, evidence)
    (composed,) = (
        plan := planned([Arm(FULL, opened)], registry, settings := Settings(seed=seed))
    ).arms
    embed_ahead(data, embedder)
    pairs: list[JudgedAnswer] = []
    spec_of = {spec.conversation: spec for spec in specs_of(plan, data, embedder)}
    report = progress or (lambda *_: None)
    report(0, len(data.conversations), "")
    for place, conversation in enumerate(data.conversations):
        mechanisms = registry.build(MechanismSet("", "", composed.mechanisms))
        with closing(Hebbarium(mechanisms, embedder, settings.seed)) as system:
            cell = Cell(spec_of[conversation.id], conversation)
            pairs += _pairs(cell, system, _foreign(data.conversations, place))
        report(place + 1, len(data.conversations), conversation.id)
    used = str(composed.mechanisms[GATE]["evidence"])
    k = next(iter(spec_of.values())).k
    judged = tuple(pair for pair in pairs if not math.isnan(pair.f))
    return _fitted(
        Calibration(
            opened,
            data.name,
            data.sha256,
            tuple(c.id for c in data.conversations),
            used,
            k,
            0.0,
            0.0,
            threshold,
            judged,
            len(pairs) - len(judged),
            None,
            (),
            0.0,
            0.0,
            (),
        )
    )


def with_open_gate(chosen: MechanismSet, evidence: str | None = None) -> MechanismSet:
    """The set with a gate that holds nothing back."""
    values: dict[str, Any] = {
        "threshold": 0.0,
        "calibration": "",
        **({"evidence": evidence} if evidence else {}),
    }
    return replace(
        chosen,
        mechanisms={**chosen.mechanisms, GATE: {**chosen.mechanisms.get(GATE, {}), **values}},
    )


def fitted_gate(f: NDArray[np.float64], sufficient: NDArray[np.bool_]) -> dict[str, float]:
    """Parameters of an open gate whose probability is fitted to decision values f and whether
    each answer sufficed.  Raises as `fitted`.
    """
    A, B = fitted(f, sufficient)
    return {"A": A, "B": B, "threshold": 0.0}


def _pairs(cell: Cell, system: Hebbarium, foreign: Sequence[Question]) -> Iterator[JudgedAnswer]:
    """The pairs of one conversation: its own questions, then as many others as it has with an
    answer.
    """
    conversation, k = cell.conversation, cell.spec.k
    now, own = prepare(cell, system), 0
    for question, query in asked(cell, system, now):
        now = max(now, question.time)
        if unanswerable(question.category):
            kind = AnswerKind.UNANSWERABLE
        elif question.gold:
            own += 1
            kind = AnswerKind.MISSED
        else:
            continue
        retrieved = {event.id for event in system.retrieve(query, k).events}
        if kind is AnswerKind.MISSED and retrieved.intersection(question.gold):
            kind = AnswerKind.FOUND
        yield JudgedAnswer(conversation.id, question.id, kind, _evidence(system))
    # events after the last question were encoded
    now = max(now, conversation.events[-1].time)
    texts = {question.text for question in conversation.questions}
    for question in [q for q in foreign if q.text not in texts][:own]:
        system.retrieve(Query(question.text, now, question.id), k)
        yield JudgedAnswer(conversation.id, question.id, AnswerKind.FOREIGN, _evidence(system))


def _evidence(system: Hebbarium) -> float:
    return float(system.engine.column(SUFFICIENCY_EVIDENCE).item())


def _foreign(conversations: Sequence[Conversation], place: int) -> list[Question]:
    """Questions with an answer of all other conversations, those of the next one first."""
    others = [*conversations[place + 1 :], *conversations[:place]]
    return [
        question
        for other in others
        for question in other.questions
        if question.gold and not unanswerable(question.category)
    ]


def _fitted(collected: Calibration) -> Calibration:
    pairs = collected.pairs
    f, y = (
        np.array([pair.f for pair in pairs]),
        np.array([pair.sufficient for pair in pairs], dtype=np.bool_),
    )
    if collected.unjudged and not len(pairs):
        raise InputError(
            f"none of {collected.unjudged} answers has a decision value for the evidence {collected.evidence}",
            where=f"{GATE}.evidence",
            cure="use a set with a reranker, or --evidence margin or coverage",
        )
    if len(pairs) < FEWEST:
        raise InputError(
            f"{len(pairs)} pairs are too few to fit a probability",
            where=collected.dataset,
            cure=f"take more conversations; at least {FEWEST} pairs are needed",
        )
    if y.all() or not y.any():
        raise InputError(
            f"all {len(pairs)} answers are {'sufficient' if y.all() else 'insufficient'}",
            where=collected.dataset,
            cure="take data with questions that can be answered and others that cannot, or at least two conversations",
        )
    A, B = fitted(f, y)
    seen = _probabilities(f, A, B)
    unseen = _cross_fitted(collected, f, y)
    judged = seen if unseen is None else unseen
    bins = reliability(judged, y)
    return replace(
        collected,
        A=A,
        B=B,
        unseen=unseen,
        bins=bins,
        error=expected_calibration_error(bins),
        seen_error=expected_calibration_error(reliability(seen, y)),
        answered=risk_coverage(judged, y),
    )


def _cross_fitted(
    collected: Calibration, f: NDArray[np.float64], y: NDArray[np.bool_]
) -> NDArray[np.float64] | None:
    """Probability of each pair from a fit to other conversations; None if a fit would have pairs
    of one kind alone.
    """
    fold = {id: place % MOST_FOLDS for place, id in enumerate(collected.conversations)}
    folds, p = np.array([fold[pair.conversation] for pair in collected.pairs]), np.empty(len(f))
    for left_out in np.unique(folds):
        left = folds != left_out
        if not y[left].any() or y[left].all():
            return None
        p[~left] = _probabilities(f[~left], *fitted(f[left], y[left]))
    return p


def _probabilities(f: NDArray[np.float64], A: float, B: float) -> NDArray[np.float64]:
    return np.array([probability(float(x), A, B) for x in f])


# --- what is written ------------------------------------------------------------------------------
def to_json(calibration: Calibration) -> dict[str, Any]:
    """calibration.json, without how it was made."""
    return {"set": calibration.chosen.name, "dataset": calibration.dataset, "sha256": calibration.sha256,
            "conversations": list(calibration.conversations),
            "evidence": calibration.evidence, "k": calibration.k, "A": calibration.A, "B": calibration.B,
            "threshold": calibration.threshold, "pairs": calibration.kinds,
            "unjudged": calibration.unjudged, "calibration_error": calibration.error,
            "on_unseen_conversations": calibration.unseen is not None,
            "calibration_error_of_the_fit": calibration.seen_error,
            "reliability": [asdict(b) for b in calibration.bins],
            "risk_coverage": [asdict(a) for a in calibration.answered],
            "collected": [{**asdict(pair), "kind": pair.kind.value} for pair in calibration.pairs]}  # fmt: skip


def file_value(registry: Registry, id: str, name: str, given: Any) -> Any:
    """The value of a parameter as a set's YAML file in any folder holds it: the absolute path of
    a file.
    """
    declared = registry.entry(id).params.get(name)
    return str(Path(given).absolute()) if declared and declared.unit == UNIT and given else given


def set_with(
    chosen: MechanismSet, registry: Registry, id: str, fitted: Mapping[str, Any], summary: str
) -> dict[str, Any]:
    """A set with fitted parameters of one mechanism, as a YAML file holds it; files that the set
    names get absolute paths.
    """
    mechanisms = {
        id: {name: file_value(registry, id, name, given) for name, given in values.items()}
        for id, values in chosen.mechanisms.items()
    }
    mechanisms[id] = {**mechanisms[id], **fitted}
    made_set: dict[str, Any] = {"summary": f"{chosen.name}, {summary}", "mechanisms": mechanisms}
    if chosen.alternates:
        made_set["alternates"] = {id: list(others) for id, others in chosen.alternates.items()}
    return made_set


def write_fit(
    file: Path, fitted: Mapping[str, Any], embedder: CachedEmbedder, making: Made | None
) -> None:
    """Write a fit as JSON, with the embedder, the versions and the run that made it."""
    by = {
        "embedder": embedder.name,
        "embedder_revision": embedder.revision,
        "embedder_dimensions": embedder.dimensions,
        "versions": versions(),
        "made": asdict(making or made()),
    }
    write_json(file, {**fitted, **by}, shared=True)


def write_set(file: Path, made_set: Mapping[str, Any]) -> None:
    """Write a set as YAML."""
    text = yaml.safe_dump(dict(made_set), sort_keys=False, allow_unicode=True)
    write_whole(file, [text], shared=True)


def written_set(calibration: Calibration, registry: Registry) -> dict[str, Any]:
    """The calibrated set as a YAML file holds it."""
    return set_with(
        calibration.chosen,
        registry,
        GATE,
        {
            "evidence": calibration.evidence,
            "A": calibration.A,
            "B": calibration.B,
            "threshold": calibration.threshold,
            "calibration": CALIBRATION,
        },
        f"with a sufficiency gate calibrated on {plural(len(calibration.conversations), 'conversation')} of {calibration.dataset}",
    )


def write(
    calibration: Calibration,
    registry: Registry,
    embedder: CachedEmbedder,
    out: Path,
    making: Made | None = None,
) -> Path:
    """Write calibration.json, reliability.svg and the calibrated set into `out`.  The file of
    the set.  Raises HebbariumError.
    """
    file = results_folder(out) / f"{calibration.chosen.name}_calibrated.yaml"
    write_fit(out / CALIBRATION, to_json(calibration), embedder, making)
    write_whole(out / "reliability.svg", [to_svg(calibration)], shared=True)
    write_set(file, written_set(calibration, registry))
    return file


SIDE, LEFT, TOP = 240.0, 54.0, 24.0  # px of the diagram


def to_svg(calibration: Calibration) -> str:
    """The reliability diagram: a point for each bin, its area by the number of pairs, and the
    diagonal of perfect calibration.
    """

    def at(x: float, y: float) -> tuple[str, str]:
        return f"{LEFT + SIDE * x:.1f}", f"{TOP + SIDE * (1.0 - y):.1f}"

    seen = (
        "conversations that the fit has not seen"
        if calibration.unseen is not None
        else "the conversations of the fit"
    )
    caption = f"{plural(len(calibration.pairs), 'answer')} of {seen}; expected calibration error {calibration.error:.3f}"
    marks = []
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        (x, _), (_, y) = at(value, 0.0), at(0.0, value)
        marks.append(
            f'<path d="M{x} {TOP:g}V{TOP + SIDE:g}M{LEFT:g} {y}H{LEFT + SIDE:g}" style="stroke: var(--rule); fill: none"/>'
            f'<text x="{x}" y="{TOP + SIDE + 16:g}" text-anchor="middle">{value:g}</text>'
            f'<text x="{LEFT - 8:g}" y="{float(y) + 4:.1f}" text-anchor="end">{value:g}</text>'
        )
    (x0, y0), (x1, y1) = at(0.0, 0.0), at(1.0, 1.0)
    marks.append(
        f'<path d="M{x0} {y0}L{x1} {y1}" style="stroke: var(--rule-strong); fill: none" stroke-dasharray="4 3"/>'
    )
    for b in calibration.bins:
        if b.confidence is not None and b.frequency is not None:
            x, y = at(b.confidence, b.frequency)
            radius = 3.0 + 9.0 * math.sqrt(b.n / len(calibration.pairs))
            marks.append(
                f'<circle cx="{x}" cy="{y}" r="{radius:.1f}" style="fill: var(--accent)" fill-opacity="0.6">'
                f"<title>{b.n} answers: probability {b.confidence:.3f}, sufficient {b.frequency:.3f}</title></circle>"
            )
    middle = LEFT + SIDE / 2
    return standalone(
        f'<svg viewBox="0 0 340 330" xmlns="http://www.w3.org/2000/svg" role="img" font-family="sans-serif" font-size="11">'
        f'<title>Reliability of the sufficiency gate: {caption}</title><rect width="340" height="330" style="fill: var(--ground)"/>'
        f'<g style="fill: var(--ink)">{"".join(marks)}<text x="{middle:g}" y="{TOP + SIDE + 34:g}" text-anchor="middle">probability that the answer '
        f'suffices</text><text transform="translate(14 {TOP + SIDE / 2:g}) rotate(-90)" text-anchor="middle">share of sufficient answers</text>'
        f'<text x="170" y="{TOP + SIDE + 54:g}" text-anchor="middle" font-size="9">{caption}</text></g></svg>'
    )
