"""The command line.  Commands import what they need when they run, so that `--help` answers at once."""
from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import wraps
from inspect import Parameter as Argument
from inspect import Signature, signature
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperGroup

from . import __version__
from .benchmarks.designs import Design
from .benchmarks.execution.spec import RunSpec, Settings, options, settings_of

if TYPE_CHECKING:
    from .benchmarks.datasets import Dataset, Unit
    from .console import Meter
    from .engine.columns import Phase
    from .engine.ports.embedding_cache import CachedEmbedder
    from .engine.registry import MechanismSet, Parameter, Registry
    from .engine.schedule import Node

class Commands(TyperGroup):
    """The commands; interrupting one ends it with a word and the customary code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("\ninterrupted; what was finished is kept", err=True)
            raise typer.Exit(130) from None


app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None,
                  help="A laboratory of memory mechanisms: is each one faithful, alive, useful?")
data_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Official data sets: list, get, check.")
app.add_typer(data_app, name="data")


class Home(StrEnum):
    encoding = "encoding"
    consolidation = "consolidation"
    retrieval = "retrieval"
    maintenance = "maintenance"


DataOption = Annotated[Path | None, typer.Option("--data", help="File or folder in the official format; the demo needs none.")]
LimitOption = Annotated[int | None, typer.Option("--limit", help="Only the first N conversations.")]
JobsOption = Annotated[int, typer.Option("--jobs", min=1, help="Worker processes.")]
EmbedderOption = Annotated[str, typer.Option("--embedder", help=options()["embedder"].help)]
OutOption = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def main() -> None:
    """Entry point: errors of ours become a message and exit code 2, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    from .engine.errors import HebbariumError

    try:
        app(prog_name="hebbarium")
    except HebbariumError as error:
        from .console import visible

        typer.echo(f"error: {visible(str(error))}", err=True)
        raise SystemExit(2) from None
    except BrokenPipeError:
        raise SystemExit(1) from None


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"hebbarium {__version__}")
        raise typer.Exit


VersionOption = Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")]


@app.callback()
def common(version: VersionOption = False) -> None:
    """A laboratory of memory mechanisms: is each one faithful, alive, useful?"""


@app.command("list")
def list_mechanisms(as_json: JsonOption = False) -> None:
    """The collection: every mechanism and every set."""
    registry = _registry()
    if as_json:
        told = {"id", "home", "summary", "claims", "papers", "variety_of", "acts_on"}
        _print_json({"mechanisms": [e.model_dump(by_alias=True, include=told, mode="json") for e in registry.entries.values()],
                     "sets": {s.name: {"summary": s.summary, "mechanisms": list(s.mechanisms)} for s in registry.sets.values()}})
        return
    from .console import print_table

    print_table("Mechanisms", ("mechanism", "home", "claims", "what it does"),
                [(e.id, e.home, e.claims, e.summary) for e in registry.entries.values()], whole=("mechanism", "home", "claims"))
    print_table("Sets", ("set", "size", "what it is"), [(s.name, str(len(s.mechanisms)), s.summary) for s in registry.sets.values()],
                numbers=("size",), whole=("set",))


@app.command()
def show(mechanism: Annotated[str | None, typer.Argument(help="A mechanism.")] = None,
         set_name: Annotated[str | None, typer.Option("--set", help="A mechanism set: a name, or a YAML file.")] = None,
         schedule: Annotated[bool, typer.Option("--schedule", help="The computed order of all steps of the set.")] = False,
         as_json: JsonOption = False) -> None:
    """One mechanism, or one set and its schedule."""
    if (mechanism is None) == (set_name is None):
        raise typer.BadParameter("give either a MECHANISM or --set NAME")
    if schedule and set_name is None:
        raise typer.BadParameter("--schedule needs --set NAME: the order is that of a whole set")
    registry = _registry()
    if mechanism is not None:
        _show_mechanism(registry, mechanism, as_json)
        return
    from .engine.assembly import planned

    chosen = registry.set(str(set_name))
    with chosen.named_in_errors():      # a set that cannot be built is refused, as by `run`
        phases = planned(registry.build(chosen))
    if schedule:
        _show_schedule(chosen, phases, as_json)
    else:
        _show_set(registry, chosen, as_json)


def _show_mechanism(registry: Registry, id: str, as_json: bool) -> None:
    entry = registry.entry(id)
    if as_json:
        _print_json(entry.model_dump(by_alias=True, mode="json"))
        return
    from .console import print_fields, print_lines, print_table

    fields = [("home", entry.home), ("claims", entry.claims), ("acts on", entry.acts_on), ("papers", ", ".join(entry.papers) or "-")]
    fields += [("variety of", f"{entry.variety_of} (printed by {entry.claimed_by})")] if entry.variety_of else []
    fields += [("equation", f"{e.id}: {e.tex}   [{', '.join(filter(None, (e.paper, e.where)))}]") for e in entry.equations]
    fields += [("departure", f"{d.what}: {d.why}") for d in entry.departures]
    fields += [("from source", entry.departs_from_source)] if entry.departs_from_source else []
    fields += [("sets", ", ".join(s.name for s in registry.sets.values() if id in s.mechanisms) or "-")]
    print_lines(f"{entry.id}: {entry.summary}")
    print_fields(fields)
    rows = [("time_scale", f"{entry.time_scale:g}", "1", "(0, inf)", "-", "multiplies every time constant"),
            *((n, str(p.value), p.unit, _bounds(p), p.kind, " ".join(filter(None, (p.source, p.note)))) for n, p in entry.params.items())]
    typer.echo()
    print_table("Parameters", ("name", "value", "unit", "bounds", "kind", "source"), rows, numbers=("value",), whole=("name", "value", "kind"))


def _bounds(p: Parameter) -> str:
    if p.choices or isinstance(p.value, bool):
        return ", ".join(p.choices) or "true, false"
    low, high = "(-inf" if p.low is None else f"[{p.low:g}", "inf)" if p.high is None else f"{p.high:g}]"
    return f"{low}, {high}"


def _show_set(registry: Registry, chosen: MechanismSet, as_json: bool) -> None:
    if as_json:
        _print_json({"name": chosen.name, "summary": chosen.summary, "mechanisms": chosen.mechanisms, "alternates": chosen.alternates})
        return
    from .console import print_lines, print_table

    print_lines(f"{chosen.name}: {chosen.summary}", *(f"an ablation swaps {old} for {', '.join(new)}" for old, new in chosen.alternates.items()), "")
    rows = [(i, registry.entry(i).home, registry.entry(i).claims, ", ".join(f"{k}={v}" for k, v in changed.items()) or "-")
            for i, changed in chosen.mechanisms.items()]
    print_table("Mechanisms", ("mechanism", "home", "claims", "overrides"), rows, whole=("mechanism", "home", "claims"))


def _show_schedule(chosen: MechanismSet, phases: Mapping[Phase, tuple[Node, ...]], as_json: bool) -> None:
    from .console import print_table
    from .engine.schedule import describe

    rows = describe(phases)
    if as_json:
        _print_json(rows)
        return
    # Adds and sets share a column: two columns leave no room for the names in lines of 100 characters.
    shown = [(r["phase"], str(r["place"]), r["step"], ", ".join(r["reads"]) or "-", ", ".join([*(f"+{c}" for c in r["adds"]), *r["sets"]]) or "-")
             for r in rows]
    print_table(f"Schedule of {chosen.name} (+: added to, together with others)", ("phase", "", "step", "reads", "writes"), shown,
                numbers=("",), whole=("phase", "", "step"))


# --- run and ablate ----------------------------------------------------------------------------------------------------------------
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
    registry, settings = _registry(), settings_of(given)
    chosen = _chosen(registry, given["set"], settings)
    loaded = _load(given["dataset"], data, settings.unit, limit)
    from .benchmarks.run import run as run_set
    from .console import Meter, print_lines

    with Meter("embedding texts", least=100) as embedding, Meter("conversations") as tell:
        result = run_set(chosen, registry, loaded, _embedder(given["embedder"], embedding), out, settings=settings, jobs=jobs, progress=tell)
    _tell_kept(tell, out)
    if as_json:
        _print_json(result)
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
    registry, settings = _registry(), settings_of(given)
    chosen = _chosen(registry, given["set"], settings)
    loaded = _load(given["dataset"], data, settings.unit, limit)
    from .benchmarks.ablation import ablate as ablate_set
    from .benchmarks.ablation_report import show as show_result
    from .benchmarks.ablation_report import to_json, to_table
    from .console import Meter, console, draw, print_lines

    with Meter("embedding texts", least=100) as embedding, Meter("cells") as tell:
        result = ablate_set(chosen, registry, loaded, _embedder(given["embedder"], embedding), out, design=design, settings=settings, jobs=jobs,
                            progress=tell)
    _tell_kept(tell, out)
    if as_json:
        _print_json(to_json(result))
        return
    if console().is_terminal:
        draw(to_table(result), spare=("ndcg@10", "p", "questions", "mrr@10"), roomy={"arm": 29, "verdict": 7})
    else:
        show_result(result, console())
    print_lines(f"report: {out / 'ablation.html'}")


@app.command(short_help="Evidence, and the rating derived from it beside the claimed one.")
def audit(only: Annotated[list[str] | None, typer.Argument(help="Mechanisms to judge; all if none.")] = None,
          set_name: Annotated[str | None, typer.Option("--set", help="Judge the mechanisms of a set.")] = None,
          out: Annotated[Path | None, typer.Option("--out", help="Folder for audit.json, audit.md and audit.html.")] = None,
          mutants: Annotated[bool, typer.Option("--mutants/--no-mutants", help="Run the mutants too: the evidence must reject each.")] = True,
          strict: Annotated[bool, typer.Option("--strict", help="Fail also for incomplete checks and for too little evidence.")] = False,
          against: Annotated[Path | None, typer.Option("--against", help="An earlier audit.json: report the ratings that rose and fell.")] = None,
          jobs: JobsOption = 1, as_json: JsonOption = False) -> None:
    """Evidence, and the rating derived from it beside the claimed one; exit code 1 when a claim is not earned."""
    registry = _registry()
    if set_name:
        only = [*dict.fromkeys((*(only or ()), *registry.set(set_name).mechanisms))]
    for id in only or ():
        registry.entry(id)
    from .audit import changes, report, sources
    from .audit.collect import audit_registry
    from .audit.references import of_registry
    from .console import Meter, console, draw, print_lines
    from .reporting.files import results_folder, write_json, write_whole

    old = changes.read(against) if against else None
    if old and only:                                      # mechanisms that are not audited now do not count as gone
        old["mechanisms"] = [m for m in old["mechanisms"] if m["id"] in only]
    references = of_registry(registry)
    systems = () if only else sources.read(registry, references)
    if out:
        results_folder(out)
    with Meter("mechanisms") as tell:
        result = audit_registry(registry, only=only or None, mutants=mutants, draw=out is not None, jobs=jobs, progress=tell)
    told = report.to_json(result, registry, systems)
    changed = changes.compare(old, told) if old else None
    if out:
        from .audit.page import to_html

        write_json(out / "audit.json", told)
        write_whole(out / "audit.md", [report.to_markdown(result, systems, changed)])
        to_html(result, out / "audit.html", references, registry, systems, changed)
    faults = result.strict_failures if strict else result.failures
    if as_json:
        _print_json(told)
    elif console().is_terminal:
        draw(report.table(result), whole=("mechanism", "claimed", "derived"))
        for title, named in (("not earned", faults), ("findings about printed forms", result.findings)):
            print_lines(*([f"{title}:", *(f"  {id}: {shorten(fault, 200, placeholder=' ...')}" for id, fault in named), ""] if named else []))
    else:
        typer.echo(report.plain(result, faults), nl=False)
    if changed and not as_json:
        print_lines("since the earlier audit:", *(f"  {line}" for line in changed.lines() or ["nothing rose or fell"]))
    if out and not as_json:
        print_lines(f"report: {out / 'audit.html'}")
    raise typer.Exit(1 if faults else 0)


@app.command()
def cite(set_name: Annotated[str | None, typer.Option("--set", help="A mechanism set; all mechanisms if not given.")] = None,
         dataset: Annotated[list[str] | None, typer.Option("--dataset", help="A data set that is used; may be given again.")] = None,
         embedder: EmbedderOption = "minilm", as_json: JsonOption = False) -> None:
    """BibTeX for exactly what is enabled: mechanisms, data sets, model."""
    registry = _registry()
    from .audit.references import of_registry
    from .benchmarks.datasets import papers_of
    from .engine.ports.by_name import papers_behind

    ids = registry.set(set_name).mechanisms if set_name else registry.entries
    keys = dict.fromkeys((*(k for i in ids for k in registry.entry(i).papers), *(k for name in dataset or () for k in papers_of(name)),
                          *papers_behind(embedder)))
    references = of_registry(registry)
    if as_json:
        _print_json({k: references.bibtex([k]) for k in keys})
    else:
        typer.echo(references.bibtex(keys), nl=False)


@app.command(short_help="Start a mechanism: module, registry entry, evidence.")
def new(name: Annotated[str, typer.Argument(help="Name of the mechanism: lower-case letters, digits, underscores.")],
        into: Annotated[Path, typer.Option("--into", help="A new folder, for a new package; or the folder of a package or of this repository.")],
        home: Annotated[Home, typer.Option("--home", help="Phase of the mechanism.")] = Home.maintenance, as_json: JsonOption = False) -> None:
    """Start a mechanism: module, registry entry, evidence.

    Writes a small mechanism of the chosen home that works, earns its rating and conforms to the contract, for its author to change.
    """
    from .console import print_lines
    from .scaffold import new as write

    written = write(name, into, home.value)
    if as_json:
        _print_json({"files": [str(f) for f in written.files], "registry": str(written.registry), "next": list(written.after)})
        return
    print_lines("written:", *(f"  {f}" for f in (*written.files, written.registry)), "next:", *(f"  {step}" for step in written.after))


@data_app.command("list")
def data_list(as_json: JsonOption = False) -> None:
    """Official sources with licence and size."""
    from .benchmarks.datasets.fetch import list_sources

    sources = list_sources()
    if as_json:
        _print_json([{name: getattr(s, name) for name in ("name", "url", "sha256", "size", "licence", "citation", "by_hand")} for s in sources])
        return
    from .console import print_lines

    for s in sources:
        size = f", {s.size / 1e6:.1f} MB" if s.size else ""
        print_lines(f"{s.name}: {s.licence}{size}", f"  {s.citation}", f"  {s.url}", *([f"  SHA-256 {s.sha256}"] if s.sha256 else []),
                    *([f"  by hand: {s.by_hand}"] if s.by_hand else []), "")
    print_lines("demo: composed by the program; needs no download")


@data_app.command("get")
def data_get(name: Annotated[str, typer.Argument(help="A source that `data list` names.")],
             folder: Annotated[Path, typer.Option("--to", help="Folder to put it in.")] = Path("data"), as_json: JsonOption = False) -> None:
    """Download a data set from its official source."""
    from .benchmarks.datasets.fetch import get

    path = get(name, folder, progress=not as_json)
    if as_json:
        _print_json({"path": str(path)})


@data_app.command("check")
def data_check(path: Annotated[Path, typer.Argument(help="A file or folder in the official format.")],
               dataset: Annotated[str | None, typer.Option("--dataset", help="Load it as this data set and print its counts, too.")] = None,
               as_json: JsonOption = False) -> None:
    """SHA-256 of a data file beside the published one; counts, gaps, times and duplicates of a data set."""
    from .benchmarks.datasets import load
    from .benchmarks.datasets.base import one_json
    from .benchmarks.datasets.conversations import EVENTS, describe
    from .benchmarks.datasets.fetch import check

    if dataset is None and (path / EVENTS).is_file():
        dataset = "conversations"
    notes = describe(load(dataset, path)) if dataset else None
    if dataset == "conversations":
        _tell_conversations(path, notes or {}, as_json)
        return
    found = check(one_json(path, dataset) if dataset and dataset != "beam" and path.is_dir() and not (path / dataset).is_dir() else path)
    if as_json:
        _print_json({"path": str(found.path), "sha256": found.sha256, "basis": found.basis, **({"notes": notes} if notes is not None else {})})
        return
    from .console import print_fields

    known = {"published": "is the published one", "first use": "is the one recorded on first use", "none": "nothing is known to compare it with"}
    print_fields([("path", str(found.path)), ("SHA-256", found.sha256), ("", known[found.basis]),
                  *((name.replace("_", " "), f"{count:,}" if isinstance(count, int) else str(count)) for name, count in (notes or {}).items())])


@data_app.command("convert")
def data_convert(dataset: Annotated[str, typer.Argument(help="locomo, beam, longmemeval or demo.")],
                 out: Annotated[Path, typer.Option("--out", help="Folder for events.jsonl, questions.jsonl and dataset.yaml.")],
                 path: Annotated[Path | None, typer.Argument(help="File or folder in the official format; the demo needs none.")] = None,
                 as_json: JsonOption = False) -> None:
    """Write a data set in the format of the data set `conversations`."""
    from .benchmarks.datasets import load
    from .benchmarks.datasets.conversations import write_conversations
    from .benchmarks.datasets.fetch import list_sources
    from .reporting.files import results_folder

    data = load(dataset, path)
    source = next((s for s in list_sources() if s.name == dataset), None)
    write_conversations(data, results_folder(out), licence=source.licence if source else "", citation=source.citation if source else "")
    counts = {name: data.notes[name] for name in ("conversations", "events", "questions")}
    if as_json:
        _print_json({"path": str(out), **counts})
        return
    from .console import print_lines

    print_lines(f"written to {out}: " + ", ".join(f"{count:,} {name}" for name, count in counts.items() if isinstance(count, int)))


def _tell_conversations(path: Path, notes: dict[str, Any], as_json: bool) -> None:
    if as_json:
        _print_json({"path": str(path), "notes": notes})
        return
    from .console import print_fields

    print_fields([("path", str(path)), *((name.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value)) for name,
                                         value in notes.items())])


# --- helpers -----------------------------------------------------------------------------------------------------------------------
def _registry() -> Registry:
    from .engine.registry import Registry

    return Registry.installed()


def _chosen(registry: Registry, name: str | None, settings: Settings) -> MechanismSet | None:
    """The named set, None for a system without mechanisms.  A set that cannot be built with these settings is refused here, before data are read."""
    from .benchmarks.designs import FULL, Arm
    from .benchmarks.execution.local import check_arms

    chosen = registry.set(name) if name else None
    settings.check_set(chosen)
    check_arms([Arm(FULL, settings.applied(chosen))] if chosen else [], registry, settings)
    return chosen


def _load(dataset: str, path: Path | None, unit: Unit, limit: int | None) -> Dataset:
    from .benchmarks.datasets import load

    return load(dataset, path, unit=unit, limit=limit)


def _embedder(spec: str, progress: Callable[[int, int], None]) -> CachedEmbedder:
    from .engine.ports.by_name import embedder
    from .engine.ports.embedding_cache import default_cache

    return embedder(spec, default_cache(), progress=progress)


def _print_json(data: Any) -> None:
    typer.echo(json.dumps(data, indent=2, default=str))


def _tell_kept(meter: Meter, out: Path) -> None:
    """Say what was not run again."""
    done, total = meter.first or (0, 0)
    if done:
        run = "nothing was run again" if done == total else f"{total - done} were run now"
        typer.echo(f"{done} of {total} {meter.what} were finished before and taken from {out / 'ledger.sqlite'}; {run}", err=True)


def _print_metrics(name: str, result: dict[str, Any], asked: int) -> None:
    from .console import print_lines, print_table

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


if __name__ == "__main__":
    main()
