"""Commands that measure: run and ablate."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import partial, wraps
from inspect import Parameter as Argument
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from ..benchmarks.execution.failures import Options
from ..benchmarks.execution.spec import RunSpec, options, settings_of
from ..reporting.text import plural
from .app import app
from .designing import LEAVE_ONE_OUT, carry_out
from .shared import (
    DataOption,
    JobsOption,
    JsonOption,
    LimitOption,
    OutOption,
    SkipOption,
    by_kind,
    chosen_set,
    citation_keys,
    installed_registry,
    lasting,
    load_data,
    named_embedder,
    named_language_model,
    print_claims,
    print_json,
    print_kept,
    print_missing_gold,
    resumable,
    with_claims,
)

if TYPE_CHECKING:
    from ..engine.catalogue.registry import Registry
    from ..reporting.claims import Beside
    from ..reporting.provenance import Made

PROGRAM = "hebbarium"
ArmsOption = Annotated[
    str | None,
    typer.Option(
        "--arms",
        metavar="A,B,...",
        help=(
            "Only these arms: mechanisms, or ids as in the report. They are the family over which p-values are corrected."
        ),
    ),
]
BesideOption = Annotated[
    list[str] | None,
    typer.Option(
        "--beside",
        metavar="MODULE:NAME",
        help=(
            "Another memory that answers the same questions, for comparison; may be given again."
        ),
    ),
]
MarginOption = Annotated[
    float | None,
    typer.Option(
        "--margin",
        help=(
            "An effect shown to be smaller than this is called equivalent; if not given, as the design's file says, else 0.005."
        ),
    ),
]
DesignOption = Annotated[
    str,
    typer.Option(
        "--design",
        metavar="NAME|FILE.yaml",
        help=(
            "How arms are made: leave-one-out, pairs, factorial, fractional, shapley, varieties, a design of the package, or a file."
        ),
    ),
]
KeepOption = Annotated[
    Path | None,
    typer.Option(
        "--keep-lives", metavar="DIR", help="Folder for snapshots of the memories, for run --from."
    ),
]
FromOption = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="DIR",
        help=(
            "Folder of --keep-lives: its memories are asked, instead of encoding again; refused where they would not be the same."
        ),
    ),
]
RetriesOption = Annotated[
    int, typer.Option("--retries", min=0, help="Times that a cell which failed is run again.")
]
FailFastOption = Annotated[
    bool,
    typer.Option(
        "--fail-fast",
        help="End with the first cell that fails; without it the others are finished first.",
    ),
]
DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help=(
            "Run the cells on a dask cluster, by its scheduler's address, such as tcp://host:8786; in place of --jobs."
        ),
    ),
]
CostsOption = Annotated[
    bool,
    typer.Option(
        "--costs", help=("Also time every mechanism of the set, on the first conversation.")
    ),
]
YesOption = Annotated[
    bool, typer.Option("--yes", help="Do not ask before a design that takes more than ten minutes.")
]
ReplaceOption = Annotated[
    bool, typer.Option("--replace", help="Write over another run that the folder holds.")
]


def _with_options(
    command: Callable[..., None],
    hidden: Collection[str] = (),
    left_out: Collection[str] = (),
    several: Collection[str] = (),
) -> Callable[..., None]:
    """The command with an option for each field of RunSpec that a user may set.  Their values, by
    field, are its first argument.

    hidden    fields whose options `--help` does not show
    left_out  fields that need not be given although the record needs them
    several   fields of which the command takes several values, as a list; None without any
    """
    own = [
        argument.replace(kind=Argument.KEYWORD_ONLY)
        for argument in list(signature(command, eval_str=True).parameters.values())[1:]
    ]
    hints, offered, asked = get_type_hints(RunSpec), options(), []
    offered |= {name: replace(offered[name], default=None) for name in (*left_out, *several)}
    for name, o in offered.items():
        repeated = o.read or name in several
        kind = list[str] | None if repeated else _kind(name, hints[name], o.default)
        read = typer.Option(
            o.default, o.flag, help=o.help, min=o.least, metavar=o.metavar, hidden=name in hidden
        )
        asked.append(Argument(name, Argument.KEYWORD_ONLY, annotation=kind, default=read))

    @wraps(command)
    def call(**given: Any) -> None:
        values = {name: given.pop(name) for name in offered}
        command(
            {
                name: value.value if isinstance(value, StrEnum) else value
                for name, value in values.items()
            },
            **given,
        )

    vars(call)["__signature__"] = Signature([*asked, *own])
    call.__annotations__ = {argument.name: argument.annotation for argument in (*asked, *own)}
    return call


def _kind(name: str, hint: Any, default: Any) -> Any:
    """What the command line reads for a field of that type."""
    if get_origin(hint) is Literal:
        return StrEnum(name, [(word, word) for word in get_args(hint)])
    return hint | None if default is None else hint


@app.command(short_help="Measure one mechanism set on one data set.")
@_with_options
def run(
    given: Mapping[str, Any],
    out: OutOption,
    data: DataOption = None,
    limit: LimitOption = None,
    skip: SkipOption = 0,
    jobs: JobsOption = 1,
    replace: ReplaceOption = False,
    keep_lives: KeepOption = None,
    lives_from: FromOption = None,
    retries: RetriesOption = 1,
    fail_fast: FailFastOption = False,
    dask: DaskOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure one mechanism set, or another system, on one data set.

    Writes manifest.json, rows.jsonl, times.jsonl and metrics.json.  Conversations that the folder
    holds already, from the same inputs, are not run again.
    """
    registry, settings = installed_registry(), settings_of(given)
    from ..benchmarks.experiments.run import measure, plan
    from ..benchmarks.scores.substring import NAME, substring_mrr
    from ..console import Meter, print_lines

    planned = plan(chosen_set(registry, given["set"], settings), registry, settings)
    model = named_language_model(given["language_model"], given["transcript"])
    loaded = load_data(
        given["dataset"], data, settings.unit, limit, settings.allow_missing_gold, skip
    )
    making = _making(registry, planned.arms[0].mechanisms, given)
    with (
        Meter("conversations") as progress,
        Meter("embedding texts", least=100, within=progress) as embedding,
        resumable(progress, out),
    ):
        model_of_texts = named_embedder(given["embedder"], embedding)
        result = measure(
            planned,
            loaded,
            model_of_texts,
            out,
            jobs=jobs,
            progress=progress,
            making=making,
            embedder_spec=lasting(given["embedder"]),
            replace=replace,
            language_model=model,
            options=Options(retries, fail_fast, keep_lives, lives_from, dask),
        )
    print_kept(progress, out)
    print_missing_gold(loaded)
    by_text = substring_mrr(_rows(out), loaded.conversations)
    claims = _claims(
        registry,
        planned.arms[0].set,
        planned.arms[0].mechanisms,
        result,
        embedder=model_of_texts.name,
        sessions="session" in (settings.match, settings.unit),
        conversations=[c.id for c in loaded.conversations],
        by_text=by_text,
    )
    if as_json:
        print_json(with_claims(result, claims))
        return
    _print_metrics(
        planned.arms[0].set or settings.system,
        result,
        sum(len(c.questions) for c in loaded.conversations),
    )
    if "" in by_text:
        print_lines(
            f"{NAME}: {by_text['']:.3f}; a text among the first ten contains the gold turn or the "
            "answer (Cortex, 6.3)",
            "",
        )
    print_claims(claims)
    print_lines(f"written to {out}: metrics.json, rows.jsonl, times.jsonl, manifest.json")


def _claims(
    registry: Registry,
    name: str,
    mechanisms: Iterable[str],
    result: Mapping[str, Any],
    by_text: Mapping[str, float],
    **setting: Any,
) -> tuple[Beside, ...]:
    """What is published on the data of a run, beside its metrics.

    by_text  reciprocal ranks by substring, by category, "" for all questions
    """
    from ..reporting.claims import SUBSTRING, beside, our_setting

    known = registry.sets.get(name)
    overall = {**(result.get("depths") or {}), **result["overall"], SUBSTRING: by_text.get("")}
    return beside(
        our_setting(
            name,
            known.summary if known else "",
            mechanisms,
            result["dataset"],
            result["overall"]["n"],
            setting.pop("embedder"),
            **setting,
        ),
        overall,
        {c: {**m, SUBSTRING: by_text.get(c)} for c, m in result["by_category"].items()},
    )


def _rows(out: Path) -> Iterator[dict[str, Any]]:
    with (out / "rows.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@app.command(short_help="Take each mechanism out of a set in turn: what does each earn?")
@partial(
    _with_options, hidden=("system",), left_out=("dataset",), several=("embedder",)
)  # the error for another system says what to do
def ablate(
    given: Mapping[str, Any],
    out: OutOption,
    data: DataOption = None,
    design: DesignOption = LEAVE_ONE_OUT,
    arms: ArmsOption = None,
    beside: BesideOption = None,
    margin: MarginOption = None,
    limit: LimitOption = None,
    skip: SkipOption = 0,
    jobs: JobsOption = 1,
    replace: ReplaceOption = False,
    keep_lives: KeepOption = None,
    retries: RetriesOption = 1,
    fail_fast: FailFastOption = False,
    dask: DaskOption = None,
    yes: YesOption = False,
    costs: CostsOption = False,
    as_json: JsonOption = False,
) -> None:
    """Take each mechanism out of a set in turn: what does each earn?

    Prints first what the design can detect.  Writes design.html, .md, .json, .svg, .tex and .csv,
    estimates.jsonl, rows.jsonl and manifest.json.  A second run of the same command continues one
    that was stopped.

    --design takes other designs by name, or a YAML file.  --embedder given twice or more asks with
    each, and says which verdicts hold with all.
    """
    asked = given["embedder"] or ()
    given = {**given, "embedder": asked[0] if asked else options()["embedder"].default}
    registry, settings = installed_registry(), settings_of(given)
    carry_out(
        registry,
        settings,
        given,
        design,
        out,
        data=data,
        limit=limit,
        skip=skip,
        jobs=jobs,
        margin=margin,
        arms=arms,
        beside=beside,
        replace_run=replace,
        yes=yes,
        how=Options(retries, fail_fast, keep_lives, dask=dask),
        time_hooks=costs,
        as_json=as_json,
        making=partial(_making, registry),
        embedders=asked,
    )


def _making(registry: Registry, used: Iterable[str], given: Mapping[str, Any]) -> Made:
    """This command, now and here, with the references of what it uses."""
    from ..audit.references import of_registry
    from ..reporting.provenance import made

    return made(
        [PROGRAM, *sys.argv[1:]],
        of_registry(registry).bibtex(
            citation_keys(registry, used, [given["dataset"]], given["embedder"])
        ),
    )


def _ends(overall: Mapping[str, Any]) -> list[tuple[str, dict[str, float | None]]]:
    """The ends of every comparison of contexts, as rows of a table: the latest events until
    full, and nothing.
    """
    return [
        ("all, everything", {name: overall[f"latest_{name}"] for name in ("evidence", "answer")}),
        (
            "all, nothing",
            {name: None if overall[name] is None else 0.0 for name in ("evidence", "answer")},
        ),
    ]


def _bounds(result: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The bounds of every table of metrics, as rows of it: all evidence first, a random ranking,
    and a memory that answers nothing; {} without a question that has evidence.
    """
    if not result.get("oracle"):
        return {}
    scored = {name: value for name, value in result["overall"].items() if name != "n"}
    return {
        "(oracle)": {"n": result["overall"]["n"], **{m: result["oracle"][m] for m in scored}},
        "(random)": {"n": result["overall"]["n"], **{m: result["chance"][m] for m in scored}},
        "(no memory)": {"n": result["overall"]["n"], **dict.fromkeys(scored, 0.0)},
    }


def _print_forbidden(result: Mapping[str, Any]) -> None:
    """Shares of the first places that hold what must not come back, of data that say it."""
    from ..console import print_table

    if not (counted := result.get("forbidden")):
        return
    names = [name for name in counted if name.startswith("forbidden@")]
    rows = [
        (title, *(f"{scores[name]:.3f}" for name in names))
        for title, scores in (
            ("this memory", counted),
            ("(oracle)", counted["oracle"]),
            ("(random)", counted["chance"]),
            ("(no memory)", dict.fromkeys(names, 0.0)),
        )
    ]
    print_table(
        f"Share of the first places that hold what must not come back ({plural(counted['n'], 'question')}); lower is better",
        ("answers of", *names),
        rows,
        numbers=names,
        whole=("answers of", *names),
    )


def _print_depths(result: Mapping[str, Any]) -> None:
    """Metrics at several depths, with what a random ranking scores, and the pool."""
    from ..benchmarks.scores.metrics import DEPTHS, KINDS, named
    from ..console import print_lines, print_table

    if not result.get("depths") or not result.get("pool"):
        return
    rows = [
        (
            str(depth),
            *(
                f"{result[of][named(kind, depth)]:.3f}"
                for kind in KINDS
                for of in ("depths", "chance")
            ),
        )
        for depth in DEPTHS
    ]
    heads = ("depth", *(head for kind in KINDS for head in (kind, f"chance {kind}")))
    pool = result["pool"]
    print_table(
        "At several depths, with the chance level",
        heads,
        rows,
        numbers=heads,
        whole=heads,
        spare=heads[:1:-2],
    )
    print_lines(
        f"pool: {pool['smallest']:,} to {plural(pool['largest'], 'item')}, median {pool['middle']:,g}",
        *([f"warning: {pool['warning']}"] if pool["warning"] else []),
        "",
    )


def _print_metrics(name: str, result: dict[str, Any], asked: int) -> None:
    from ..benchmarks.reports.stored import few_stored
    from ..console import print_lines, print_table

    def number(value: float | None) -> str:
        return (
            "-" if value is None else f"{value:.3f}" if isinstance(value, float) else f"{value:,}"
        )

    kinds, counts = (
        [*by_kind(result["overall"], result["by_category"]), *_bounds(result).items()],
        ("calls", "values changed", "ranks changed"),
    )
    print_table(
        f"{name} on {result['dataset']}",
        ("questions", *result["overall"]),
        [(kind, *map(number, m.values())) for kind, m in kinds],
        numbers=tuple(result["overall"]),
        whole=tuple(result["overall"]),
    )
    if unscored := asked - result["overall"]["n"]:
        print_lines(f"{unscored} of {plural(asked, 'question')} without evidence, not scored", "")
    _print_depths(result)
    _print_forbidden(result)
    held = result["abstention"]
    if held["unanswerable"]:
        print_lines(
            f"held back: {held['held_back']:.1%} of {plural(held['unanswerable'], 'question')} without an answer, and by mistake "
            f"{held['false_hold_backs'] or 0.0:.1%} of the {held['answerable']:,} others",
            "",
        )
    if result["receipts"]:
        receipts = [
            (i, *(f"{r[k.replace(' ', '_')]:,}" for k in counts))
            for i, r in result["receipts"].items()
        ]
        print_table(
            "Receipts", ("mechanism", *counts), receipts, numbers=counts, whole=("mechanism",)
        )
        votes = ("judged", "stored", "vetoed", "decided", "merged")
        if gates := [
            (i, *(f"{r[k]:,}" for k in votes))
            for i, r in result["receipts"].items()
            if "vetoed" in r
        ]:
            print_table(
                "Admission of events, which ranks changed cannot show (decided: vetoed by it alone)",
                ("gate", *votes),
                gates,
                numbers=votes,
                whole=("gate",),
            )
            if few := few_stored(
                (r["judged"], r["stored"]) for r in result["receipts"].values() if "vetoed" in r
            ):
                print_lines(few, "")
    if contexts := result.get("contexts"):
        means_of = ("evidence", "answer", "tokens", "items", "repeated", "cut")
        rows = [
            (f"{int(budget):,}", kind, *(number(means.get(name)) for name in means_of))
            for budget, scores in contexts["budgets"].items()
            for kind, means in (
                *by_kind(scores["overall"], scores["by_category"]),
                *_ends(scores["overall"]),
            )
        ]
        print_table(
            f"Contexts, tokens as {contexts['counter']} counts",
            ("budget", "questions", *means_of),
            rows,
            numbers=("budget", *means_of),
            whole=("budget", "questions", *means_of),
        )
    timing = [
        (phase, number(ms["p50"]), number(ms["p95"])) for phase, ms in result["timing_ms"].items()
    ]
    print_table("Milliseconds a pass", ("phase", "p50", "p95"), timing, numbers=("p50", "p95"))
    if (spread := result["seconds_per_event"])["online"] is not None:
        print_lines(
            f"seconds an event: {spread['online']:.6f} online, {spread['offline']:.6f} offline (sleep and maintenance, amortised)",
            "",
        )
    used = [
        (phase, id, *map(number, counts.values()))
        for phase, counted in result.get("language_model", {}).items()
        for id, counts in counted.items()
    ]
    if used:
        columns = ("requests", "cached", "failed", "prompt tokens", "completion tokens")
        print_table(
            "Language model",
            ("phase", "mechanism", *columns),
            used,
            numbers=columns,
            whole=("mechanism",),
        )
    spent = result["embedding"]
    print_lines(
        f"embedding: {plural(spent['texts'], 'text')}, {spent['hits']:,} of them from the cache, {spent['seconds']:.1f} s; no phase contains it",
        "",
    )
