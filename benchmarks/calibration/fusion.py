"""`hebbarium calibrate --fit fusion`: fits how the signals of a set become evidence to development
data.

Each question with evidence that the memory holds gives one observation: the signals of all visible
memories, their need, and which were needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.errors import InputError
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.contract.columns import Scale, Signal
from ...engine.contract.vocabulary import ACTIVATION, ANSWERABLE, FUSED, KIND, LOG_STRENGTH
from ...engine.ports.embedding_cache import CachedEmbedder
from ...mechanisms.retrieval.rational_fusion import (
    Calibrated,
    add_need,
    evidence,
    fitted,
    log_likelihood,
)
from ...reporting.files import results_folder
from ...reporting.provenance import Made
from ...reporting.text import plural
from ..datasets import Dataset
from ..designs import FULL, Arm
from ..execution.cells import Cell, asked, prepare
from ..execution.local import Progress, embed_ahead
from ..execution.plan import planned, specs_of
from ..execution.spec import Settings
from ..systems.hebbarium import Hebbarium
from .gate import set_with, write_fit, write_set

FUSION: Final = "rational_fusion"
FEWEST: Final = 20  # questions
RIDGE: Final = 1e-3  # on slopes in spreads of the evidence, ln odds
EVIDENCE: Final = "evidence.json"
Floats = NDArray[np.float64]
Observation = tuple[Floats, Floats, NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class ScoredQuestion:
    """One question: the scores of its signals (n, s), NaN for none; need (n,), ln odds; and the
    places of the needed rows among them.
    """

    conversation: str
    scores: Floats
    need: Floats
    needed: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FusionFit:
    """Fitted evidence.

    chosen            the set with the fusion, as the scores were collected
    dataset, sha256, conversations   that were used; `run` and `ablate` refuse these conversations
    signals           name -> slope and half
    questions         number of observations
    likelihood        mean ln probability of the needed memory, of the fit
    unseen            the same of each conversation by a fit to the others; None for a single
                      conversation
    need_alone        the same from need without evidence
    """

    chosen: MechanismSet
    dataset: str
    sha256: str
    conversations: tuple[str, ...]
    signals: Mapping[str, Calibrated]
    questions: int
    likelihood: float
    unseen: float | None
    need_alone: float


def with_rational_fusion(
    chosen: MechanismSet, registry: Registry, calibration: str = ""
) -> MechanismSet:
    """The set with rational fusion in place of any other mechanism that sets FUSED."""
    kept = {
        id: values
        for id, values in chosen.mechanisms.items()
        if id == FUSION or not any(FUSED in h.sets for h in registry.entry(id).load().hooks())
    }
    return replace(
        chosen, mechanisms={**kept, FUSION: {**kept.get(FUSION, {}), "calibration": calibration}}
    )


def calibrate_fusion(
    chosen: MechanismSet,
    registry: Registry,
    data: Dataset,
    embedder: CachedEmbedder,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> FusionFit:
    """Ask every conversation its questions and fit the slopes of all signals of the set together.

    chosen     the set; its fusion is replaced by rational fusion
    progress   called with (conversations done, conversations, the last one)

    `half` of a support is the median of its scores above 0.  Cost: every conversation is encoded
    once and asked its own questions, and the fit. Raises InputError for fewer than 20 questions or
    a set without signals; HebbariumError as `planned`.
    """
    fused = with_rational_fusion(chosen, registry)
    (composed,) = (
        plan := planned([Arm(FULL, fused)], registry, settings := Settings(seed=seed))
    ).arms
    embed_ahead(data, embedder)
    spec_of = {spec.conversation: spec for spec in specs_of(plan, data, embedder)}
    report = progress or (lambda *_: None)
    questions, signals = list[ScoredQuestion](), list[Signal]()
    for place, conversation in enumerate(data.conversations):
        report(place, len(data.conversations), conversation.id)
        with closing(
            Hebbarium(
                registry.build(MechanismSet("", "", composed.mechanisms)), embedder, settings.seed
            )
        ) as system:
            signals = [
                s
                for s, weight in system.engine.assembly.signals
                if weight > 0 and s.scale is not Scale.LOG_ODDS
            ]
            questions += _observations(
                Cell(spec_of[conversation.id], conversation), system, signals
            )
    report(len(data.conversations), len(data.conversations), "")
    if not signals:
        raise InputError(
            "the set has no signals",
            where=f"--set {chosen.name}",
            cure="take a set with mechanisms that score memories",
        )
    if len(questions) < FEWEST:
        raise InputError(
            f"{plural(len(questions), 'question')} with evidence: too few to fit",
            where=data.name,
            cure=f"take more conversations; at least {FEWEST} questions are needed",
        )
    halves = [_half(s, questions, at) for at, s in enumerate(signals)]
    whole = [_evidence_of(question, signals, halves) for question in questions]
    slopes = _slopes(whole)
    folds = list(dict.fromkeys(question.conversation for question in questions))
    unseen = _unseen(questions, whole, folds) if len(folds) > 1 else None
    return FusionFit(
        fused,
        data.name,
        data.sha256,
        tuple(c.id for c in data.conversations),
        {
            s.name: Calibrated(float(b), half)
            for s, b, half in zip(signals, slopes, halves, strict=True)
        },
        len(questions),
        log_likelihood(slopes, whole),
        unseen,
        log_likelihood(np.zeros(len(signals)), whole),
    )


def _observations(
    cell: Cell, system: Hebbarium, signals: Sequence[Signal]
) -> Iterator[ScoredQuestion]:
    now, engine = prepare(cell, system), system.engine
    for question, query in asked(cell, system, now):
        now = max(now, question.time)
        system.retrieve(query, cell.spec.k)
        rows = np.flatnonzero(engine.column(ANSWERABLE) & (engine.column(KIND) == 0))
        ids = [engine.event(int(row)).id for row in rows]
        needed = np.flatnonzero([id in question.gold for id in ids])
        if needed.size:
            n = len(engine.column(KIND))
            need = np.zeros(n)
            add_need(
                engine.column(ACTIVATION),
                engine.column(LOG_STRENGTH),
                engine.column(KIND),
                engine.column(ANSWERABLE),
                1.0,
                need,
            )
            scores = (
                np.array([engine.column(s).astype(np.float64)[rows] for s in signals])
                .reshape(len(signals), len(rows))
                .T
            )
            yield ScoredQuestion(cell.conversation.id, scores, need[rows], needed)


def _half(s: Signal, questions: Sequence[ScoredQuestion], at: int) -> float:
    """Median of the support above 0, over all questions; 1 if there is none, 0 for a similarity."""
    if s.scale is Scale.SIMILARITY:
        return 0.0
    x = np.concatenate([question.scores[:, at] for question in questions]) - s.floor
    return float(np.median(x[x > 0.0])) if (x > 0.0).any() else 1.0


def _evidence_of(
    question: ScoredQuestion, signals: Sequence[Signal], halves: Sequence[float]
) -> Observation:
    columns = [
        [evidence(float(x), s.floor, half) for x in question.scores[:, at]]
        for at, (s, half) in enumerate(zip(signals, halves, strict=True))
    ]
    return (
        np.array(columns).reshape(len(signals), len(question.need)).T,
        question.need,
        question.needed,
    )


def _slopes(observations: Sequence[Observation]) -> Floats:
    """The fit in spreads of each signal's evidence within a question, so that the ridge is the
    same for all.
    """
    spread = np.mean([x.std(axis=0) for x, _, _ in observations], axis=0)
    unit = np.where(spread > 0.0, spread, 1.0)
    return np.asarray(
        np.where(
            spread > 0.0,
            fitted([(x / unit, need, needed) for x, need, needed in observations], RIDGE) / unit,
            0.0,
        )
    )


def _unseen(
    questions: Sequence[ScoredQuestion], whole: Sequence[Observation], folds: Sequence[str]
) -> float:
    """Mean over the questions of ln P(needed), each by a fit to the other conversations."""
    total = 0.0
    for fold in folds:
        left = [
            o for question, o in zip(questions, whole, strict=True) if question.conversation != fold
        ]
        held = [
            o for question, o in zip(questions, whole, strict=True) if question.conversation == fold
        ]
        total += len(held) * log_likelihood(_slopes(left), held)
    return total / len(questions)


# --- what is written ------------------------------------------------------------------------------
def to_json(fit: FusionFit) -> dict[str, Any]:
    """evidence.json, without how it was made."""
    return {"set": fit.chosen.name, "dataset": fit.dataset, "sha256": fit.sha256,
            "conversations": list(fit.conversations),
            "questions": fit.questions, "log_likelihood": fit.likelihood,
            "log_likelihood_on_unseen_conversations": fit.unseen,
            "log_likelihood_of_need_alone": fit.need_alone, "signals": {name: asdict(signal) for name,
            signal in sorted(fit.signals.items())}}  # fmt: skip


def written_set(fit: FusionFit, registry: Registry) -> dict[str, Any]:
    """The set with its fitted fusion as a YAML file holds it."""
    return set_with(
        fit.chosen,
        registry,
        FUSION,
        {"calibration": EVIDENCE},
        f"with rational fusion fitted to {plural(len(fit.conversations), 'conversation')} of {fit.dataset}",
    )


def write(
    fit: FusionFit,
    registry: Registry,
    embedder: CachedEmbedder,
    out: Path,
    making: Made | None = None,
) -> Path:
    """Write evidence.json and the set that uses it into `out`.  The file of the set.  Raises
    HebbariumError.
    """
    file = results_folder(out) / f"{fit.chosen.name}_rational.yaml"
    write_fit(out / EVIDENCE, to_json(fit), embedder, making)
    write_set(file, written_set(fit, registry))
    return file
