"""Commands that measure: run and ablate."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import wraps
from inspect import Parameter as Argument
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from ..benchmarks.designs import Design
from ..benchmarks.execution.spec import RunSpec, options, settings_of
from .app import app
from .shared import DataOption, JobsOption, JsonOption, LimitOption, OutOption, chosen_set, installed_registry, load_data, named_embedder, print_json

if TYPE_CHECKING:
    from ..console import Meter


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each field of RunSpec that a user may set.  Their values, by field, are its first argument."""
    own = [one.replace(kind=Argument.KEYWORD_ONLY) for one in list(signature(command, eval_str=True).parameters.values())[1:]]
    hints, found, asked = get_type_hints(RunSpec), options(), []
    for name, o in found.items():
        kind = list[str] | None if o.read else _kind(name, hints[name], o.default)
        read = typer.Option(o.default, o.flag, help=o.help, min=o.least, metavar=o.metavar)
        asked.append(Argument(name, Argument.KEYWORD_ONLY, annotation=kind, default=read))

    @wraps(command)
    def call(**given: Any) -> None:
        values = {name: given.pop(name) for name in found}
        command({name: value.value if isinstance(value, StrEnum) else value for name, value in values.items()}, **given)

    vars(call)["__signature__"] = Signature([*asked, *own])
    call.__annotations__ = {one.name: one.annotation for one in (*asked, *own)}
    return call


def _kind(name: str, hint: Any, default: Any) -> Any:
    """What the command line reads for a field of that type."""
    if get_origin(hint) is Literal:
        return StrEnum(name, [(word, word) for word in get_args(hint)])
    return hint | None if default is None else hint


@app.command(short_help="Measure one mechanism set on one data set.")
@_with_options
def run(given: Mapping[str, Any], out: OutOption, data: DataOption = None, limit: LimitOption = None, jobs: JobsOption = 1,
        as_json: JsonOption = False) -> None:
    """Measure one mechanism set, or another system, on one data set.

    Writes manifest.json, rows.jsonl and metrics.json.  Conversations that the folder holds already, from the same inputs, are not run again.
    """
    registry, settings = installed_registry(), settings_of(given)
    chosen = chosen_set(registry, given["set"], settings)
    loaded = load_data(given["dataset"], data, settings.unit, limit)
    from ..benchmarks.run import run as run_set
    from ..console import Meter, print_lines

    with Meter("embedding texts", least=100) as embedding, Meter("conversations") as tell:
        result = run_set(chosen, registry, loaded, named_embedder(given["embedder"], embedding), out, settings=settings, jobs=jobs, progress=tell)
    _tell_kept(tell, out)
    if as_json:
        print_json(result)
        return
    _print_metrics(chosen.name if chosen else settings.system, result, sum(len(c.questions) for c in loaded.conversations))
    print_lines(f"written to {out}: metrics.json, rows.jsonl, manifest.json")


@app.command(short_help="Take each mechanism out of a set in turn: what does each earn?")
@_with_options
def ablate(given: Mapping[str, Any], out: OutOption, data: DataOption = None,
           design: Annotated[Design, typer.Option("--design", help="How arms are made.")] = Design.LEAVE_ONE_OUT,
           limit: LimitOption = None, jobs: JobsOption = 1, as_json: JsonOption = False) -> None:
    """Take each mechanism out of a set in turn: what does each earn?

    Writes ablation.html, ablation.md, ablation.json, rows.jsonl and manifest.json.  Stopped at any moment and started again, it goes on where it was.
    """
    registry, settings = installed_registry(), settings_of(given)
    chosen = chosen_set(registry, given["set"], settings)
    loaded = load_data(given["dataset"], data, settings.unit, limit)
    from ..benchmarks.ablation import ablate as ablate_set
    from ..benchmarks.ablation_report import show as show_result
    from ..benchmarks.ablation_report import to_json, to_table
    from ..console import Meter, console, draw, print_lines

    with Meter("embedding texts", least=100) as embedding, Meter("cells") as tell:
        result = ablate_set(chosen, registry, loaded, named_embedder(given["embedder"], embedding), out, design=design, settings=settings, jobs=jobs,
                            progress=tell)
    _tell_kept(tell, out)
    if as_json:
        print_json(to_json(result))
        return
    if console().is_terminal:
        draw(to_table(result), spare=("ndcg@10", "p", "questions", "mrr@10"), roomy={"arm": 29, "verdict": 7})
    else:
        show_result(result, console())
    print_lines(f"report: {out / 'ablation.html'}")


def _tell_kept(meter: Meter, out: Path) -> None:
    """Say what was not run again."""
    done, total = meter.first or (0, 0)
    if done:
        run = "nothing was run again" if done == total else f"{total - done} were run now"
        typer.echo(f"{done} of {total} {meter.what} were finished before and taken from {out / 'ledger.sqlite'}; {run}", err=True)


def _print_metrics(name: str, result: dict[str, Any], asked: int) -> None:
    from ..console import print_lines, print_table

    def number(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}" if isinstance(value, float) else f"{value:,}"

    kinds, counts = [("all", result["overall"]), *result["by_category"].items()], ("calls", "cells changed", "ranks changed")
    print_table(f"{name} on {result['dataset']}", ("questions", *result["overall"]), [(kind, *map(number, m.values())) for kind, m in kinds],
                numbers=tuple(result["overall"]), whole=tuple(result["overall"]))
    if unscored := asked - result["overall"]["n"]:
        print_lines(f"{unscored} of {asked} questions name no evidence and are not scored", "")
    if result["receipts"]:
        receipts = [(i, *(f"{r[k.replace(' ', '_')]:,}" for k in counts)) for i, r in result["receipts"].items()]
        print_table("Receipts", ("mechanism", *counts), receipts, numbers=counts, whole=("mechanism",))
    timing = [(phase, number(ms["p50"]), number(ms["p95"])) for phase, ms in result["timing_ms"].items()]
    print_table("Milliseconds a pass", ("phase", "p50", "p95"), timing, numbers=("p50", "p95"))
