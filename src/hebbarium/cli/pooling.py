"""The command `pool`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..reporting.text import signed
from .app import app
from .shared import JsonOption, print_json

if TYPE_CHECKING:
    from ..benchmarks.runs.meta_analysis import MetaAnalysis, Worth


@app.command("pool", short_help="What a mechanism is worth over several data sets.")
def pool(
    designs: Annotated[
        list[Path],
        typer.Argument(
            metavar="DESIGN",
            help="Folders of `hebbarium ablate`, and of `hebbarium world --on-trial`, of one set.",
        ),
    ],
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="Such as recall@10; that of the first design if not given.",
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            "--margin",
            help="Effects within it do not matter; that of the first design if not given.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """One estimate for each mechanism from leave-one-out designs on several data sets and worlds.

    Alone, by random effects (Hartung and Knapp), and drawn towards its family by a hierarchical
    model: the probability that it helps by more than the margin, is within it, or hurts.  Designs
    on the same data with other embedders count as one study.  A world is a study by its hit@k
    where need has the most structure.
    """
    from ..benchmarks.runs import meta_analysis as pooling

    result = pooling.meta_analysis(designs, metric=metric, margin=margin)
    if as_json:
        print_json(pooling.to_json(result))
        return
    _print(result)


def _print(result: MetaAnalysis) -> None:
    from ..console import print_lines, print_table
    from ..reporting.text import plural

    data = {study.data: None for row in result.rows for study in row.studies}
    print_lines(*(f"note: {note}" for note in result.notes))
    numbers = ("alone", "tau", "with its family", "helps", "within", "hurts")
    print_table(
        f"{result.set}, {result.metric}: full set minus the set without the mechanism; margin {result.margin:g}",
        ("mechanism", "family", "studies", *numbers, "verdict"),
        [_row(row) for row in result.rows],
        numbers=("studies", *numbers),
        whole=("mechanism", "verdict"),
        spare=("family", "tau", "studies"),
    )
    print_lines(
        f"studies: {', '.join(data)}",
        "alone: mean over data sets like these, with the 95% interval of Hartung and Knapp; tau: its spread between data sets",
        "with its family: mean and 95% interval of the posterior; helps, within, hurts: its probabilities beyond and within the margin",
        f"verdict: what has a probability of 95%; {plural(sum(row.verdict == 'undecided' for row in result.rows), 'mechanism')} undecided",
    )


def _row(row: Worth) -> tuple[str, ...]:
    pooled, posterior = row.pooled, row.posterior
    interval = (
        f" [{signed(pooled.low)}, {signed(pooled.high)}]"
        if pooled.low is not None and pooled.high is not None
        else ""
    )
    return (
        row.mechanism,
        row.family,
        str(pooled.n_studies),
        f"{signed(pooled.mean)}{interval}",
        f"{pooled.tau:.3f}",
        f"{signed(posterior.mean)} [{signed(posterior.low)}, {signed(posterior.high)}]",
        f"{posterior.helps:.2f}",
        f"{posterior.within:.2f}",
        f"{posterior.hurts:.2f}",
        row.verdict,
    )
