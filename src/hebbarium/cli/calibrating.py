"""The command `calibrate`."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ..reporting.output import put
from ..reporting.text import plural
from .app import app
from .shared import (
    DEFAULT_SET,
    DataOption,
    DatasetOption,
    EmbedderOption,
    JsonOption,
    LimitOption,
    OutOption,
    SkipOption,
    installed_registry,
    load_data,
    named_embedder,
    print_json,
)

if TYPE_CHECKING:
    from ..benchmarks.calibration.fusion import FusionFit
    from ..benchmarks.calibration.gate import Calibration
    from ..engine.catalogue.registry import MechanismSet, Registry


class DecisionEvidence(StrEnum):
    """What the decision value is."""

    relevance = "relevance"
    margin = "margin"
    coverage = "coverage"


class Fit(StrEnum):
    """What is fitted."""

    sufficiency = "sufficiency"
    fusion = "fusion"


@app.command(short_help="Fit the gate or the fusion of a set to development data.")
def calibrate(
    out: OutOption,
    set_name: Annotated[
        str, typer.Option("--set", help="Mechanism set: a name, or a YAML file.")
    ] = DEFAULT_SET,
    dataset: DatasetOption = "demo",
    data: DataOption = None,
    embedder: EmbedderOption = "minilm",
    evidence: Annotated[
        DecisionEvidence | None,
        typer.Option(
            "--evidence",
            help=(
                "What shows that an answer suffices; relevance needs a reranker. By default as the set has it, else relevance."
            ),
        ),
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", help="Answers of a lower probability are held back.")
    ] = 0.5,
    fit: Annotated[
        Fit,
        typer.Option(
            "--fit", help="The gate that holds answers back, or how signals become evidence."
        ),
    ] = Fit.sufficiency,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Of every mechanism's random stream.")
    ] = 0,
    limit: LimitOption = None,
    skip: SkipOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Fit the sufficiency gate or the rational fusion of a set to development data.

    Sufficiency: the probability that an answer suffices.  Asks every conversation its own questions
    and as many of another one.  Writes calibration.json, reliability.svg and a set that uses the
    fit.  Fusion: the likelihood ratio that each signal of the set gives for a memory that is
    needed.  Asks every conversation its own questions.  Writes evidence.json and a set that uses
    the fit.

    `run` and `ablate` take the set as --set, and refuse the conversations of the fit.
    """
    registry = installed_registry()
    from ..benchmarks.calibration import fusion as calibrate_fusion
    from ..benchmarks.calibration import gate as calibrating
    from ..console import Meter
    from ..reporting.provenance import made

    if fit is Fit.sufficiency:
        _require_relevance(
            registry,
            calibrating.with_open_gate(
                registry.set(set_name), evidence.value if evidence else None
            ),
        )
    loaded = load_data(dataset, data, "turn", limit, skip=skip)
    with (
        Meter("conversations") as progress,
        Meter("embedding texts", least=100, within=progress) as embedding,
    ):
        by = named_embedder(embedder, embedding)
        if fit is Fit.fusion:
            fused = calibrate_fusion.calibrate_fusion(
                registry.set(set_name), registry, loaded, by, seed=seed, progress=progress
            )
            file = calibrate_fusion.write(
                fused, registry, by, out, made(["hebbarium", *sys.argv[1:]])
            )
            if as_json:
                print_json(calibrate_fusion.to_json(fused))
            else:
                _print_fusion(fused)
                put(f"written to {out}: evidence.json, {file.name}")
            return
        calibration = calibrating.calibrate(
            registry.set(set_name),
            registry,
            loaded,
            by,
            evidence=evidence.value if evidence else None,
            threshold=threshold,
            seed=seed,
            progress=progress,
        )
    file = calibrating.write(calibration, registry, by, out, made(["hebbarium", *sys.argv[1:]]))
    if as_json:
        print_json(
            {
                name: value
                for name, value in calibrating.to_json(calibration).items()
                if name != "collected"
            }
        )
        return
    _print(calibration)
    put(f"written to {out}: calibration.json, reliability.svg, {file.name}")


def _require_relevance(registry: Registry, gated: MechanismSet) -> None:
    """Raises InputError, before anything is measured, if the gate of the set judges a relevance
    that no mechanism of the set finds.
    """
    from ..benchmarks.calibration.gate import GATE
    from ..engine.base.errors import InputError
    from ..engine.flow.schedule import describe
    from ..engine.memory.assembly import schedule_of

    built = registry.build(gated)
    judged = next(mechanism.params.evidence for mechanism in built if mechanism.id == GATE)
    with gated.named_in_errors():
        computed = any(judged in step["sets"] for step in describe(schedule_of(built)))
    if judged == DecisionEvidence.relevance and not computed:
        raise InputError(
            f"no mechanism of the set {gated.name} finds the relevance of an answer, which the gate would judge",
            where="--evidence",
            cure="give --evidence margin or --evidence coverage, or a set with a reranker",
        )


def _print(calibration: Calibration) -> None:
    from ..console import print_lines, print_table

    name, m = f"{calibration.chosen.name} on {calibration.dataset}", len(calibration.pairs)
    print_table(
        f"{name}: {m} answers by what is known of them",
        ("answers", "n"),
        [(kind, f"{n:,}") for kind, n in calibration.kinds.items()],
        numbers=("n",),
    )
    bins = ("probability", "n", "mean", "sufficient")
    print_table(
        "Reliability",
        bins,
        [
            (
                f"{b.low:.1f} to {b.high:.1f}",
                f"{b.n:,}",
                _number(b.confidence),
                _number(b.frequency),
            )
            for b in calibration.bins
        ],
        numbers=bins[1:],
    )
    shares = ("answered", "insufficient among them", "threshold")
    print_table(
        "Risk at each coverage",
        shares,
        [
            (f"{a.coverage:.1%}", f"{a.risk:.1%}", f"{a.threshold:.3f}")
            for a in calibration.answered
        ],
        numbers=shares,
    )
    seen = (
        "conversations that the fit has not seen"
        if calibration.unseen is not None
        else "the conversations of the fit, there are too few for others"
    )
    print_lines(
        f"p = 1 / (1 + exp({calibration.A:.4g} f {'-' if calibration.B < 0 else '+'} {abs(calibration.B):.4g})), f: {calibration.evidence}",
        f"expected calibration error: {calibration.error:.4f} on {seen}; {calibration.seen_error:.4f} of the fit itself",
        *(
            [f"not judged and left out: {plural(calibration.unjudged, 'answer')}"]
            if calibration.unjudged
            else []
        ),
        *(
            [
                "A is not below 0: larger values of f are no evidence of sufficiency here; do not use this gate"
            ]
            if calibration.A >= 0
            else []
        ),
    )


def _print_fusion(fit: FusionFit) -> None:
    from ..console import print_lines, print_table

    print_table(
        f"{fit.chosen.name} on {fit.dataset}: evidence of {plural(fit.questions, 'question')}",
        ("signal", "ln odds for each unit", "half"),
        [
            (name, f"{signal.slope:.4g}", f"{signal.half:.4g}" if signal.half else "-")
            for name, signal in sorted(fit.signals.items())
        ],
        numbers=("ln odds for each unit", "half"),
    )
    unseen = (
        ""
        if fit.unseen is None
        else f"; {fit.unseen:.4f} on conversations that the fit has not seen"
    )
    print_lines(
        f"mean ln probability of the needed memory: {fit.likelihood:.4f} of the fit{unseen}; {fit.need_alone:.4f} without evidence"
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
