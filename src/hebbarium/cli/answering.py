"""The command `answer`."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer

from ..engine.base.errors import InputError
from .app import app
from .assembling import CompressionName, SetOption, StrategyName
from .shared import (
    DEFAULT_SET,
    DataOption,
    DatasetOption,
    EmbedderOption,
    JsonOption,
    LimitOption,
    OutOption,
    SkipOption,
    by_kind,
    installed_registry,
    load_data,
    named_embedder,
    print_claims,
    print_json,
    with_claims,
)


@app.command(short_help="Let a language model answer from contexts, and score the answers.")
def answer(
    out: OutOption,
    set_name: SetOption = DEFAULT_SET,
    dataset: DatasetOption = "demo",
    data: DataOption = None,
    limit: LimitOption = None,
    skip: SkipOption = 0,
    llm: Annotated[
        str | None,
        typer.Option(
            "--llm",
            metavar="MODEL",
            help=("The reader, as openai:<model>; its replies are recorded in --transcript."),
        ),
    ] = None,
    transcript: Annotated[
        Path | None,
        typer.Option(
            "--transcript",
            metavar="FILE",
            help=("File of the models' replies: recorded with --llm, replayed without."),
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="MODEL",
            help=(
                "A model that judges each statement of a rubric, as openai:<model>; without it nothing is judged."
            ),
        ),
    ] = None,
    votes: Annotated[
        int,
        typer.Option(
            "--votes",
            min=1,
            help="Verdicts of the judge on each statement; more than half must say yes.",
        ),
    ] = 3,
    length: Annotated[
        int, typer.Option("--length", min=1, metavar="TOKENS", help="Most tokens of an answer.")
    ] = 1000,
    repeats: Annotated[
        int,
        typer.Option("--repeats", min=1, metavar="N", help="Times that each question is asked."),
    ] = 1,
    price: Annotated[
        str | None,
        typer.Option(
            "--price",
            metavar="IN,OUT",
            help="Dollars of a million prompt and completion tokens of the reader.",
        ),
    ] = None,
    budget: Annotated[
        int, typer.Option("--budget", min=0, metavar="TOKENS", help="Most tokens of a context.")
    ] = 2048,
    strategy: Annotated[
        StrategyName | None,
        typer.Option(
            "--strategy",
            help=(
                "How memories are chosen; by default what the set's sources offer, without sources flat: the best first."
            ),
        ),
    ] = None,
    compress: Annotated[
        CompressionName | None,
        typer.Option(
            "--compress",
            help="First compress what exceeds the budget, the lowest scores to a third: by extracts, or by the reader.",
        ),
    ] = None,
    embedder: EmbedderOption = "minilm",
    replace: Annotated[
        bool, typer.Option("--replace", help="Write over other answers that the folder holds.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Let a language model answer the questions of a data set from contexts, and score the answers
    against the expected ones.

    Writes answers.jsonl and answers.json.  Contexts, questions and answers are sent to the model's
    server.  A second run without --llm replays the transcript: it sends nothing and writes the same
    files.
    """
    if transcript is None:
        raise InputError(
            "no language model is asked unless you name one"
            if llm is None
            else "a language model needs a transcript",
            where="--llm" if llm is None else "--transcript",
            cure="give --llm MODEL --transcript FILE to record, or --transcript FILE alone to replay",
        )
    from ..benchmarks.language_models.answering import AnsweringSetup, answered, models
    from ..console import Meter
    from ..engine.ports.by_name import language_model

    asking, registry, file = (
        AnsweringSetup(
            budget,
            strategy.value if strategy else "",
            votes,
            length,
            repeats,
            compress.value if compress else "",
        ),
        installed_registry(),
        transcript.expanduser(),
    )
    chosen = registry.set(set_name)
    reader, judging = models(
        file, language_model(llm, file) if llm else None, judge, language_model
    )
    loaded = load_data(dataset, data, "turn", limit, skip=skip)
    with (
        Meter("conversations") as progress,
        Meter("embedding texts", least=100, within=progress) as embedding,
    ):
        report = answered(
            chosen,
            registry,
            loaded,
            named_embedder(embedder, embedding),
            out,
            reader=reader,
            judge=judging,
            asking=asking,
            progress=progress,
            replace_other=replace,
            price=_price(price),
        )
    from ..reporting.claims import beside, our_setting

    claims = beside(
        our_setting(
            chosen.name,
            chosen.summary,
            chosen.mechanisms,
            report["dataset"],
            report["overall"]["n"],
            report["embedder"],
            conversations=report["conversations"],
            reader=report["reader"]["language_model"],
            judge=report["judge"]["language_model"] if report["judge"] else "none",
        ),
        report["overall"],
        report["by_category"],
    )
    if as_json:
        print_json(with_claims(report, claims))
        return
    _print(report, out)
    print_claims(claims)


def _price(given: str | None) -> tuple[float, float] | None:
    """Two prices from an option such as "0.4,1.6".  Raises InputError."""
    if given is None:
        return None
    try:
        first, second = (float(part) for part in given.split(","))
    except ValueError:
        first = second = -1.0
    if not (0.0 <= first < inf and 0.0 <= second < inf):
        raise InputError(
            f"{given!r} is no pair of prices",
            where="--price",
            cure="give dollars of a million prompt and completion tokens, such as 0.4,1.6",
        )
    return first, second


def _print(report: dict[str, Any], out: Path) -> None:
    from ..benchmarks.language_models.answering import SCORES
    from ..console import print_lines, print_table

    def number(value: float | int | None) -> str:
        return (
            "-" if value is None else f"{value:.3f}" if isinstance(value, float) else f"{value:,}"
        )

    columns = ("n", "answers", *SCORES, "right", "accuracy")
    print_table(
        f"Answers by {report['reader']['language_model']} from {report['set']} on {report['dataset']}, {report['budget']:,} tokens",
        ("questions", *columns, "Wilson 95%"),
        [
            (
                kind,
                *(number(means[name]) for name in columns),
                "-"
                if means["accuracy"] is None
                else f"[{means['accuracy_low']:.3f}, {means['accuracy_high']:.3f}]",
            )
            for kind, means in by_kind(report["overall"], report["by_category"])
        ],
        numbers=columns,
        whole=columns,
    )
    for name, over in report["repeated"].items():
        values = ", ".join(f"{value:.3f}" for value in over["values"])
        print_lines(f"{name} by repeat: {values}; sd {over['sd']:.4f}")
    cost = report["cost"]
    if cost["tokens_per_right"] is not None:
        dollars = cost["dollars_per_right"]
        print_lines(
            f"a right answer costs {cost['tokens_per_right']:,.0f} tokens of the reader"
            + ("" if dollars is None else f", {dollars:.6f} dollars")
        )
    spent = [
        (phase, *map(number, counts.values()))
        for phase, counts in report["tokens"].items()
        if isinstance(counts, dict)
    ]
    heads = ("requests", "failed", "prompt tokens", "completion tokens")
    print_table("Language models", ("phase", *heads), spent, numbers=heads, whole=heads)
    shares = ("mean", "median", "p90", "p95", "p99")
    print_table(
        "Tokens of the reader, a question",
        ("", *shares),
        [
            (name, *(f"{values[share]:,.0f}" for share in shares))
            for name, values in report["tokens_per_question"].items()
        ],
        numbers=shares,
        whole=shares,
    )
    if failed := report["overall"]["n"] - report["overall"]["answers"]:
        print_lines(
            f"{failed:,} of {report['overall']['n']:,} questions have no answer; answers.jsonl says why"
        )
    print_lines(
        f"{report['tokens']['context']:,} tokens of contexts as {report['counter']} counts; written to {out}: answers.jsonl, answers.json"
    )
