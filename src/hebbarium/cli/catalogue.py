"""Commands about the collection: list, show, cite, new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..reporting.output import put
from .app import app, say
from .shared import EmbedderOption, JsonOption, citation_keys, installed_registry, print_json

if TYPE_CHECKING:
    from ..benchmarks.probes.harness.base import Probe
    from ..engine.catalogue.registry import MechanismSet, Parameter, Registry
    from ..engine.contract.columns import Phase
    from ..engine.flow.schedule import Node


# columns of a terminal below which a schedule has its reads and writes in one column
NARROW = 100
UNRATED = "not rated"  # a mechanism of another package: only its own audit rates it


class Home(StrEnum):
    encoding = "encoding"
    consolidation = "consolidation"
    retrieval = "retrieval"
    maintenance = "maintenance"


@app.command("list")
def list_mechanisms(
    home: Annotated[
        Home | None, typer.Option("--home", help="Only mechanisms of this phase.")
    ] = None,
    rating: Annotated[
        str | None,
        typer.Option(
            "--rating",
            help="Only mechanisms of this derived rating, such as FAITHFUL, or 'not rated'.",
        ),
    ] = None,
    set_name: Annotated[
        str | None, typer.Option("--set", help="Only mechanisms of this set.")
    ] = None,
    words: Annotated[
        str | None,
        typer.Option(
            "--words", help="Only mechanisms whose name, summary or papers hold all these words."
        ),
    ] = None,
    probes: Annotated[
        bool, typer.Option("--probes", help="The behavioural probes instead.")
    ] = False,
    long: Annotated[
        bool, typer.Option("--long", help="Claims, what each acts on, and papers, too.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """The collection: every mechanism and every set."""
    from ..audit.ratings import shipped
    from ..audit.references import unreadable
    from ..console import print_fields, print_lines, print_rows
    from ..reporting.text import plural

    if probes:
        from ..benchmarks.probes.harness.collection import collected
        from ..benchmarks.probes.harness.report import record

        if as_json:
            print_json([record(probe) for probe in collected().values()])
        else:
            print_rows(
                ("probe", "what a memory that shows it can do"),
                [(probe.id, probe.capability) for probe in collected().values()],
            )
        return
    registry, ratings = installed_registry(), shipped()
    missing = (*registry.unloadable(), *unreadable(registry))
    if rating is not None:
        _require_rating(rating)
    members = registry.set(set_name).mechanisms if set_name else registry.entries
    chosen = [
        e
        for e in registry.entries.values()
        if e.id in members
        and (home is None or e.home == home.value)
        and (rating is None or ratings.get(e.id, UNRATED).upper() == rating.upper())
        and all(
            w in f"{e.id} {e.summary} {' '.join(e.papers)}".lower()
            for w in (words or "").lower().split()
        )
    ]
    sets = [] if home or rating or set_name or words else list(registry.sets.values())
    if as_json:
        included = {"id", "home", "summary", "claims", "papers", "variety_of", "acts_on"}
        print_json(
            {
                "mechanisms": [
                    {
                        **e.model_dump(by_alias=True, include=included, mode="json"),
                        "derived": ratings.get(e.id),
                    }
                    for e in chosen
                ],
                "sets": {
                    s.name: {"summary": s.summary, "mechanisms": list(s.mechanisms)} for s in sets
                },
                "missing": [asdict(absent) for absent in missing],
            }
        )
        return
    if long:
        for e in chosen:
            print_lines(f"{e.id}: {e.summary}")
            print_fields(
                [
                    ("  home", e.home),
                    ("  derived", ratings.get(e.id, UNRATED)),
                    ("  claims", e.claims),
                    ("  acts on", e.acts_on),
                    ("  papers", ", ".join(e.papers) or "-"),
                ]
            )
            print_lines("")
    else:
        print_rows(
            ("mechanism", "home", "derived", "summary"),
            [(e.id, e.home, ratings.get(e.id, UNRATED), e.summary) for e in chosen],
            spare=("home",),
        )
    if sets:
        print_lines("")
        print_rows(
            ("set", "size", "summary"), [(s.name, str(len(s.mechanisms)), s.summary) for s in sets]
        )
        print_lines("")
        print_rows(
            ("contexts", "summary"),
            [(f"SET+{s.name}", s.summary) for s in registry.contexts.values()],
        )
    for absent in missing:
        print_lines("", f"missing: {absent.what} of {absent.distribution}", f"  {absent.error}")
    print_lines(
        "",
        f"{plural(len(chosen), 'mechanism')}; `hebbarium show NAME` prints a mechanism or a set, `hebbarium list -h` how to choose",
    )


def _require_rating(word: str) -> None:
    from ..audit.rating import Rating
    from ..engine.base.errors import InputError, nearest

    known = (*map(str, Rating), UNRATED)
    if word.upper() not in (k.upper() for k in known):
        raise InputError(
            f"no rating {word!r}",
            where="--rating",
            cure=nearest(word.upper(), known, most=len(known)),
        )


@app.command()
def show(
    name: Annotated[
        str | None, typer.Argument(help="A mechanism, a mechanism set or a probe.")
    ] = None,
    set_name: Annotated[
        str | None, typer.Option("--set", help="A mechanism set: a name, or a YAML file.")
    ] = None,
    schedule: Annotated[
        bool, typer.Option("--schedule", help="The computed order of all steps of the set.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """One mechanism, one probe, or one set and its schedule."""
    if (name is None) == (set_name is None):
        raise typer.BadParameter("give either a NAME or --set NAME")
    registry = installed_registry()
    if name is not None and name not in registry.entries and name in registry.sets:
        name, set_name = None, name
    if name is not None and name not in registry.entries:
        from ..benchmarks.probes.harness.collection import collected
        from ..engine.base.errors import RegistryError, nearest

        if probes := [probe for probe in collected().values() if name in (probe.id, probe.name)]:
            _show_probes(probes, as_json)
            return
        raise RegistryError(
            f"no mechanism and no set {name!r}",
            cure=nearest(name, [*registry.entries, *registry.sets]),
        )
    if schedule and set_name is None:
        raise typer.BadParameter("--schedule needs a set: the order is that of a whole set")
    if name is not None:
        _show_mechanism(registry, name, as_json)
        return
    from ..engine.memory.assembly import schedule_of

    chosen = registry.set(str(set_name))
    with chosen.named_in_errors():  # a set that cannot be built is refused, as by `run`
        phases = schedule_of(registry.build(chosen))
    if schedule:
        _show_schedule(chosen, phases, as_json)
    else:
        _show_set(registry, chosen, as_json)


def _show_mechanism(registry: Registry, id: str, as_json: bool) -> None:
    from ..audit.ratings import shipped
    from ..benchmarks.people.trial import CARD_HEADS, beside_people, card_lines
    from ..reporting.files import finite

    entry, derived = registry.entry(id), shipped().get(id)
    people = beside_people(id)
    if as_json:
        card = {**entry.model_dump(by_alias=True, mode="json"), "derived": derived}
        print_json({**card, "beside_people": [finite(asdict(row)) for row in people]})
        return
    from ..console import print_fields, print_lines, print_table

    fields = [
        ("home", entry.home),
        ("derived", derived or UNRATED),
        ("claims", entry.claims),
        ("acts on", entry.acts_on),
        ("papers", ", ".join(entry.papers) or "-"),
    ]
    fields += (
        [("variety of", f"{entry.variety_of} (printed by {entry.claimed_by})")]
        if entry.variety_of
        else []
    )
    fields += [
        ("equation", f"{e.id}: {e.tex}   [{', '.join(filter(None, (e.paper, e.where)))}]")
        for e in entry.equations
    ]
    fields += [("departure", f"{d.what}: {d.why}") for d in entry.departures]
    fields += [("proxy", f"{p.proxy}, for {p.state} [{p.source}]") for p in entry.proxies]
    fields += [("form of ours", f"{f.ours}, for {f.paper} [{f.source}]") for f in entry.forms]
    fields += [("from source", entry.departs_from_source)] if entry.departs_from_source else []
    fields += [
        ("sets", ", ".join(s.name for s in registry.sets.values() if id in s.mechanisms) or "-")
    ]
    print_lines(f"{entry.id}: {entry.summary}")
    print_fields(fields)
    rows = [("time_scale", f"{entry.time_scale:g}", "1", "(0, inf)", "-",
             "multiplies every time constant"),
            *((n, str(p.value) or "none", p.unit, _bounds(p), p.kind, " ".join(filter(None,
            (p.source, p.note)))) for n, p in entry.params.items())]  # fmt: skip
    put()
    print_table(
        "Parameters",
        ("name", "value", "unit", "bounds", "kind", "source"),
        rows,
        numbers=("value",),
        whole=("name", "value", "kind"),
    )
    if people:
        put()
        print_table(
            "Beside people: below 0 it brings the set nearer", CARD_HEADS, card_lines(people)
        )


def _show_probes(probes: Sequence[Probe], as_json: bool) -> None:
    from ..benchmarks.probes.harness.report import record

    if as_json:
        print_json([record(probe) for probe in probes])
        return
    from ..console import print_fields, print_lines

    for probe in probes:
        print_lines(f"{probe.id}: {probe.capability}")
        print_fields([("source", ", ".join(filter(None, (probe.source, probe.place)))), ("protocol",
            probe.protocol), ("unit", probe.unit),
                      ("band", "; ".join(claim.text for claim in probe.band) or "-"), ("matters",
                      ", ".join(probe.matters) or "-"),
                      ("sets", ", ".join(probe.sets)), ("needs",
                      ", ".join(sorted(need.value for need in probe.needs)) or "-"),
                      ("seeds", str(probe.seeds))])  # fmt: skip
        print_lines("")


def _bounds(p: Parameter) -> str:
    if p.choices or isinstance(p.value, bool):
        return ", ".join(p.choices) or "true, false"
    if isinstance(p.value, str):
        return "a file or folder"
    low, high = (
        "(-inf" if p.low is None else f"[{p.low:g}",
        "inf)" if p.high is None else f"{p.high:g}]",
    )
    return f"{low}, {high}"


def _show_set(registry: Registry, chosen: MechanismSet, as_json: bool) -> None:
    overrides = {
        id: {
            name: _from_here(value) if _is_file(registry, id, name) else value
            for name, value in changed.items()
        }
        for id, changed in chosen.mechanisms.items()
    }
    if as_json:
        print_json(
            {
                "name": chosen.name,
                "summary": chosen.summary,
                "mechanisms": overrides,
                "alternates": chosen.alternates,
            }
        )
        return
    from ..audit.ratings import shipped
    from ..console import print_lines, print_table

    ratings = shipped()
    print_lines(
        f"{chosen.name}: {chosen.summary}",
        *(
            f"an ablation swaps {old} for {', '.join(new)}"
            for old, new in chosen.alternates.items()
        ),
        "",
    )
    rows = [
        (
            i,
            registry.entry(i).home,
            ratings.get(i, UNRATED),
            registry.entry(i).claims,
            ", ".join(f"{k}={v}" for k, v in changed.items()) or "-",
        )
        for i, changed in overrides.items()
    ]
    print_table(
        "Mechanisms",
        ("mechanism", "home", "derived", "claims", "overrides"),
        rows,
        whole=("mechanism", "home", "derived", "claims"),
        roomy={"overrides": min(max(len(word) for *_, cell in rows for word in cell.split()), 40)},
        spare=("claims", "home"),
    )


def _is_file(registry: Registry, id: str, parameter: str) -> bool:
    from ..engine.base.files import UNIT

    # None: time_scale, which every mechanism has
    declared = registry.entry(id).params.get(parameter)
    return declared is not None and declared.unit == UNIT


def _from_here(path: Any) -> str:
    """A parameter's file as `--param` takes it: from the working folder if it is inside that,
    else absolute; "" stays "", no file.
    """
    if not path:
        return ""
    whole = Path(path).expanduser().resolve()
    return str(whole.relative_to(Path.cwd()) if whole.is_relative_to(Path.cwd()) else whole)


def _show_schedule(
    chosen: MechanismSet, phases: Mapping[Phase, tuple[Node, ...]], as_json: bool
) -> None:
    from ..console import console, print_table
    from ..engine.flow.schedule import describe

    rows = describe(phases)
    if as_json:
        print_json(rows)
        return
    # Adds and sets share a column: two columns leave no room for the names in lines of 100
    # characters.
    shown: list[tuple[str, ...]] = [
        (
            r["phase"],
            str(r["place"]),
            r["step"],
            ", ".join(r["reads"]) or "-",
            ", ".join([*(f"+{c}" for c in r["adds"]), *r["sets"]]) or "-",
        )
        for r in rows
    ]
    heads: tuple[str, ...] = ("phase", "", "step", "reads", "writes")
    if console().is_terminal and console().width < NARROW:  # two columns would break the names
        heads, shown = (
            (*heads[:3], "reads -> writes"),
            [(*row[:3], f"{row[3]} -> {row[4]}") for row in shown],
        )
    print_table(
        f"Schedule of {chosen.name} (+: added to, together with others)",
        heads,
        shown,
        numbers=("",),
        whole=("phase", "", "step"),
    )


@app.command()
def cite(
    set_name: Annotated[
        str | None, typer.Option("--set", help="A mechanism set; all mechanisms if not given.")
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option("--dataset", help="A data set that is used; may be given again."),
    ] = None,
    embedder: EmbedderOption = "minilm",
    as_json: JsonOption = False,
) -> None:
    """BibTeX for the mechanisms, data sets and model in use."""
    registry = installed_registry()
    from ..audit.references import of_registry, unknown

    ids, references = (
        registry.set(set_name).mechanisms if set_name else registry.entries,
        of_registry(registry),
    )
    lost = unknown(registry, references, ids)
    keys = [key for key in citation_keys(registry, ids, dataset or (), embedder) if key not in lost]
    for absent in references.missing:
        say(f"missing: {absent.what} of {absent.distribution}\n  {absent.error}")
    for key, whose in lost.items():
        say(f"left out: {key}, a paper of {whose}, which no references hold")
    if as_json:
        print_json({k: references.bibtex([k]) for k in keys})
    else:
        put(references.bibtex(keys), end="")


@app.command(short_help="Start a mechanism: module, registry entry, evidence.")
def new(
    name: Annotated[
        str, typer.Argument(help="Name of the mechanism: lower-case letters, digits, underscores.")
    ],
    into: Annotated[
        Path,
        typer.Option(
            "--into",
            help="A new folder, for a new package; or the folder of a package or of this repository.",
        ),
    ],
    home: Annotated[
        Home, typer.Option("--home", help="Phase of the mechanism.")
    ] = Home.maintenance,
    as_json: JsonOption = False,
) -> None:
    """Start a mechanism: module, registry entry, evidence.

    Writes a small mechanism of the chosen home that works, earns its rating and conforms to the
    contract, for its author to change.
    """
    from ..console import print_lines
    from ..scaffold import new as write

    written = write(name, into, home.value)
    if as_json:
        print_json(
            {
                "files": [str(f) for f in written.files],
                "registry": str(written.registry),
                "next": list(written.after),
            }
        )
        return
    print_lines(
        "written:",
        *(f"  {f}" for f in (*written.files, written.registry)),
        "next:",
        *(f"  {step}" for step in written.after),
    )
