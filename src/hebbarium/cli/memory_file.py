"""Commands about the file of a memory: `hebbarium memory FILE new`, tell, ask, and so on."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..engine.base.errors import InputError
from ..reporting.text import plural
from .app import app, say
from .shared import DEFAULT_SET, JsonOption, lasting, print_json

if TYPE_CHECKING:
    from datetime import datetime

    from ..engine.contract.records import Only
    from ..engine.memory.engine import Engine

memory_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="A memory in a file: hebbarium memory FILE COMMAND.",
)
app.add_typer(memory_app, name="memory")

SHOWN = 100  # characters of a text in a table
WhatArgument = Annotated[
    str, typer.Argument(metavar="WHAT", help="Row of a memory, or the id of its event.")
]
QuestionArgument = Annotated[str, typer.Argument(metavar="QUESTION", help="What is asked.")]
SinceOption = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="Only memories from this time on.")
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Only memories up to this time.")
]
SpeakerOption = Annotated[
    list[str] | None,
    typer.Option("--speaker", metavar="NAME", help="Only what this one said; may be repeated."),
]
SessionOption = Annotated[
    list[str] | None,
    typer.Option("--session", metavar="NAME", help="Only of this session; may be repeated."),
]
AttributesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--attribute",
        metavar="KEY=TEXT",
        help="Only what has this attribute; a key given again asks for either text.",
    ),
]
ExcludeOption = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="ID", help="Never the event of this id; may be repeated."),
]
EntityOption = Annotated[
    list[str] | None,
    typer.Option("--entity", metavar="NAME", help="Only what mentions this; may be repeated."),
]
EntityTypeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--entity-type",
        metavar="TYPE",
        help="Only what mentions an entity of this type, such as person or file; may be repeated.",
    ),
]
YesOption = Annotated[
    bool, typer.Option("--yes", help="Erase; without it, only say what would be lost.")
]
MostOption = Annotated[
    int, typer.Option("--limit", "-k", min=1, max=1000, metavar="N", help="Most memories.")
]


@memory_app.callback()
def memory(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file of a memory.")],
) -> None:
    """A memory in a file: begin one, tell it, ask it, look into it, and take out what is in it.

    Times are written as people write them, such as "yesterday 10pm", and mean the clock of this
    machine.  A question sees the memory as of its last event; `consolidate` lets time pass.
    """
    context.obj = file


@contextmanager
def opened(context: typer.Context) -> Iterator[Engine]:
    """The memory of the file that the command line names, closed at the end."""
    from ..doors.files import open_memory

    with open_memory(context.obj) as engine:
        yield engine


def _when(text: str | None, where: str, *, end: bool = False) -> datetime | None:
    """The moment that the value of an option means: the start of its period, or the end."""
    from ..doors.moments import here, period

    if text is None:
        return None
    read = period(text, here(), where)
    return read.end if end else read.start


def _which(
    since: str | None,
    until: str | None,
    speakers: Sequence[str] | None,
    sessions: Sequence[str] | None,
    attributes: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    entities: Sequence[str] | None = None,
) -> Only | None:
    from ..doors.calls import only

    wanted: dict[str, list[str]] = {}
    for name, value in map(_pair, attributes or ()):
        wanted.setdefault(name, []).append(value)

    return only(
        _when(since, "--since"),
        _when(until, "--until", end=True),
        tuple(speakers or ()),
        tuple(sessions or ()),
        tuple((name, tuple(values)) for name, values in wanted.items()),
        tuple(exclude or ()),
        tuple(entities or ()),
    )


def _print_memories(memories: Sequence[dict[str, Any]]) -> None:
    from ..console import print_lines, print_rows
    from ..engine.base.tables import brief

    if not memories:
        print_lines("no memory answers that")
        return
    scored = "score" in memories[0]
    heads = ("row", *(("score",) if scored else ()), "time", "speaker", "text")
    rows = [
        (
            str(m["row"]) if m["row"] >= 0 else "-",
            *((f"{m['score']:z.3f}",) if scored else ()),
            m["time"][:16].replace("T", " "),
            m["speaker"] or "-",
            brief(m["text"], SHOWN),
        )
        for m in memories
    ]
    print_rows(heads, rows, spare=("score",))


def _print_fields(plain: dict[str, Any]) -> None:
    from ..console import print_fields

    def said(value: Any) -> str:
        if isinstance(value, dict):
            return ", ".join(f"{name} {count}" for name, count in value.items()) or "-"
        if isinstance(value, list):
            return ", ".join(map(str, value)) or "-"
        return f"{value:,}" if type(value) is int else str(value) or "-"

    print_fields([(name.replace("_", " "), said(value)) for name, value in plain.items()])


# --- beginning and telling ------------------------------------------------------------------------
@memory_app.command()
def new(
    context: typer.Context,
    set_name: Annotated[
        str, typer.Option("--set", help="Mechanism set: a name, or a YAML file.")
    ] = DEFAULT_SET,
    embedder: Annotated[str, typer.Option("--embedder", help="Sentence model.")] = "minilm",
    as_json: JsonOption = False,
) -> None:
    """Begin a memory in a file that is not there yet."""
    from ..doors.files import new_memory

    file: Path = context.obj
    with new_memory(file, set_name, lasting(embedder)) as engine:
        made = {"path": str(file), "set": set_name, "mechanisms": len(engine.mechanisms),
                "embedder": engine.assembly.embedder.name}  # fmt: skip
    if as_json:
        print_json(made)
    else:
        _print_fields(made)


@memory_app.command()
def tell(
    context: typer.Context,
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", help="What is told; -: each line of the standard input."),
    ],
    speaker: Annotated[str, typer.Option("--speaker", metavar="NAME", help="Who said it.")] = "",
    session: Annotated[
        str, typer.Option("--session", metavar="NAME", help="In which session it was said.")
    ] = "",
    time: Annotated[
        str, typer.Option("--time", metavar="TIME", help="When it was said or happened.")
    ] = "now",
    id: Annotated[str, typer.Option("--id", metavar="ID", help="A name for it, new here.")] = "",
    attributes: Annotated[
        list[str] | None, typer.Option("--attribute", metavar="KEY=TEXT", help="May be repeated.")
    ] = None,
    redact: Annotated[
        list[str] | None,
        typer.Option(
            "--redact",
            metavar="RULE",
            help="Replace before storing: email, phone, card, iban, ip, or word:TEXT; may be repeated.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Tell the memory something."""
    from warnings import catch_warnings

    from .. import ClockWarning
    from ..console import print_lines
    from ..doors import calls
    from ..doors.moments import here, period
    from ..doors.redaction import redacted

    pairs = [(key, redacted(value, redact or ())[0]) for key, value in map(_pair, attributes or ())]
    at = period(time, here(), "--time").middle
    texts = [line for line in map(str.strip, sys.stdin) if line] if text == "-" else [text]
    if id and len(texts) > 1:
        raise InputError(
            f"{len(texts)} lines have one id", where="--id", cure="tell them without an id"
        )
    cleaned = [redacted(line, redact or ()) for line in texts]
    # `note` says of a time what the warning says
    with opened(context) as engine, catch_warnings(action="ignore", category=ClockWarning):
        told = [
            calls.tell(engine, line, time=at, speaker=speaker, session=session, id=id,
                       attributes=pairs) | ({"redacted": counts} if redact else {})
            for line, counts in cleaned
        ]  # fmt: skip
    if as_json:
        print_json(told if text == "-" else told[0])
        return
    for result in told:
        kept = f"row {result['row']}" if result["stored"] else f"not stored: {result['why']}"
        replaced = ", ".join(f"{n} {name}" for name, n in result.get("redacted", {}).items())
        note = f"; {result['note']}" if "note" in result else ""
        print_lines(
            f"{kept}, {result['time']}{f', redacted: {replaced}' if replaced else ''}{note}"
        )


def _pair(given: str) -> tuple[str, str]:
    key, equals, value = given.partition("=")
    if not equals or not key:
        raise InputError(
            f"{given!r} is no attribute", where="--attribute", cure="write it like kind=note"
        )
    return key, value


# --- asking ---------------------------------------------------------------------------------------
@memory_app.command()
def ask(
    context: typer.Context,
    question: QuestionArgument,
    limit: MostOption = 10,
    since: SinceOption = None,
    until: UntilOption = None,
    speaker: SpeakerOption = None,
    session: SessionOption = None,
    attribute: AttributesOption = None,
    exclude: ExcludeOption = None,
    entity: EntityOption = None,
    entity_type: EntityTypeOption = None,
    as_json: JsonOption = False,
) -> None:
    """The best memories for a question.  The memory stays as it is."""
    from ..doors import calls

    which = _which(since, until, speaker, session, attribute, exclude, entity)
    with opened(context) as engine:
        answer = calls.ask(engine, question, limit, which=which, types=entity_type or ())
    if as_json:
        print_json(answer)
    else:
        _print_memories(answer["memories"])


@memory_app.command("context")
def context_command(
    context: typer.Context,
    question: QuestionArgument,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget", min=0, metavar="TOKENS", help="Most tokens; ten memories if not given."
        ),
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    speaker: SpeakerOption = None,
    session: SessionOption = None,
    attribute: AttributesOption = None,
    exclude: ExcludeOption = None,
    entity: EntityOption = None,
    entity_type: EntityTypeOption = None,
    uncertain: Annotated[
        bool,
        typer.Option(
            "--uncertain",
            help="Also say how likely it suffices, how old it is, and what is superseded.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """The text that a language model gets for a question, under a budget of tokens."""
    from ..console import print_lines
    from ..doors import calls

    which = _which(since, until, speaker, session, attribute, exclude, entity)
    with opened(context) as engine:
        made = calls.context(
            engine, question, budget, which=which, types=entity_type or (), uncertain=uncertain
        )
    if as_json:
        print_json(made)
        return
    print_lines(made["text"] or "there is nothing to show")
    if made.get("uncertain"):
        print_lines(made["uncertain"])
    say(f"{made['tokens']:,} tokens as {made['counter']} counts")


@memory_app.command()
def use(
    context: typer.Context,
    question: QuestionArgument,
    needed: Annotated[
        list[str], typer.Argument(metavar="WHAT", help="Rows or ids that the reply needed.")
    ],
    outcome: Annotated[
        float | None,
        typer.Option("--outcome", metavar="X", help="How well it served, from -1 to 1."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Tell the memory what of an answer was needed; it learns from that."""
    from ..console import print_lines
    from ..doors import calls

    with opened(context) as engine:
        learnt = calls.used(engine, question, needed, outcome)
    if as_json:
        print_json(learnt)
    else:
        print_lines(f"needed: rows {', '.join(map(str, learnt['needed']))}")


# --- looking --------------------------------------------------------------------------------------
@memory_app.command()
def show(context: typer.Context, what: WhatArgument, as_json: JsonOption = False) -> None:
    """All of one memory, verbatim, such as one that a context names."""
    from ..console import print_lines
    from ..doors import calls

    with opened(context) as engine:
        shown = calls.show(engine, what)
    if as_json:
        print_json(shown)
        return
    text, edits = shown.pop("text"), shown.pop("edits")
    shown["attributes"] = [f"{key}={value}" for key, value in shown["attributes"]]
    _print_fields(shown)
    print_lines("", text)
    for edit in edits:
        print_lines("", f"{edit['kind']} by {edit['maker']}, {edit['time']}:", edit["text"])


@memory_app.command()
def timeline(
    context: typer.Context,
    about: Annotated[
        str, typer.Argument(metavar="WORDS", help="Only events in which all of these stand.")
    ] = "",
    limit: MostOption = 50,
    first: Annotated[
        bool, typer.Option("--first", help="The first events in place of the last.")
    ] = False,
    since: SinceOption = None,
    until: UntilOption = None,
    speaker: SpeakerOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """What was told, in the order of its times."""
    from ..console import print_lines
    from ..doors import calls

    which = _which(since, until, speaker, session)
    with opened(context) as engine:
        line = calls.timeline(engine, which=which, about=about, limit=limit, latest=not first)
    if as_json:
        print_json(line)
        return
    _print_memories(line["events"])
    print_lines(f"{len(line['events']):,} of {plural(line['of'], 'event')}")


@memory_app.command()
def entities(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="One entity, whose memories are listed.")
    ] = "",
    limit: MostOption = 50,
    as_json: JsonOption = False,
) -> None:
    """People, places and things, by how many memories mention them."""
    from ..console import print_lines, print_rows
    from ..doors import calls

    with opened(context) as engine:
        listed = calls.entities(engine, name, limit)
    if as_json:
        print_json(listed)
    elif name:
        _print_memories(listed["memories"])
    elif listed["entities"]:
        rows = [(str(entity["memories"]), entity["name"]) for entity in listed["entities"]]
        print_rows(("memories", "name"), rows)
    else:
        print_lines("the memory knows no entities")


@memory_app.command()
def stats(context: typer.Context, as_json: JsonOption = False) -> None:
    """Counts, times, mechanisms, the size of the file, and the error with which its vectors can
    keep the distances of so many memories at best (Larsen & Nelson 2017).
    """
    from ..doors import calls
    from ..doors.dimensions import distance_error

    with opened(context) as engine:
        counted = calls.stats(engine)
        dimensions = engine.assembly.embedder.dimensions
        counted["dimensions"] = dimensions
        counted["distance_error"] = round(distance_error(engine.store.n, dimensions), 4)
    counted["bytes"] = context.obj.stat().st_size
    if as_json:
        print_json(counted)
    else:
        _print_fields(counted)


@memory_app.command()
def check(context: typer.Context, as_json: JsonOption = False) -> None:
    """Check every mark of the file, and every event.  A damaged file is an error."""
    from ..console import print_lines
    from ..doors import calls

    with opened(context) as engine:
        for row in range(engine.store.n):
            engine.unit(row)
        counted = calls.stats(engine)
        sound = {"path": str(context.obj), "sound": True, "events": counted["events"],
                 "memories": counted["memories"], "digest": engine.digest()}  # fmt: skip
    if as_json:
        print_json(sound)
    else:
        print_lines(f"{context.obj} is sound: {plural(counted['events'], 'event')}")


# --- keeping --------------------------------------------------------------------------------------
@memory_app.command()
def erase(
    context: typer.Context,
    what: Annotated[
        str | None, typer.Argument(metavar="WHAT", help="Row of a memory, or id of its event.")
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    speaker: SpeakerOption = None,
    session: SessionOption = None,
    attributes: AttributesOption = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Overwrite the text of events for good, with all that the memory made from them."""
    from ..console import print_lines
    from ..doors import calls

    which = _which(since, until, speaker, session, attributes)
    if (what is None) == (which is None):
        raise InputError(
            "nothing says what is to be erased" if what is None else "two things say what to erase",
            where="erase",
            cure="give a row, an id, or a filter such as --speaker NAME",
        )
    with opened(context) as engine:
        named = which if what is None else what
        assert named is not None
        erasure = calls.erase(engine, named, confirm=yes)
    if as_json:
        print_json(erasure)
        return
    print_lines(erasure["says"])
    if not yes:
        print_lines("nothing was erased; the same command with --yes erases it")


@memory_app.command()
def expire(
    context: typer.Context,
    until: UntilOption = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Erase what has had its time: events whose attribute `expires` is past, and with --until all
    that are that old, such as --until "90 days ago".
    """
    from ..console import print_lines
    from ..doors import calls
    from ..doors.expiry import expired
    from ..doors.moments import here

    with opened(context) as engine:
        which = expired(engine, here(), _when(until, "--until", end=True))
        erasures = [calls.erase(engine, only, confirm=yes) for only in which]
    if as_json:
        print_json(erasures)
        return
    print_lines(*([erasure["says"] for erasure in erasures] or ["nothing has expired"]))
    if erasures and not yes:
        print_lines("nothing was erased; the same command with --yes erases it")


@memory_app.command()
def archive(context: typer.Context, what: WhatArgument, as_json: JsonOption = False) -> None:
    """Hide a memory until `restore`; its text stays."""
    from ..doors import calls

    with opened(context) as engine:
        changed = calls.archive(engine, what)
    print_json(changed) if as_json else _print_fields(changed)


@memory_app.command()
def restore(context: typer.Context, what: WhatArgument, as_json: JsonOption = False) -> None:
    """Show an archived memory again."""
    from ..doors import calls

    with opened(context) as engine:
        changed = calls.restore(engine, what)
    print_json(changed) if as_json else _print_fields(changed)


@memory_app.command()
def consolidate(
    context: typer.Context,
    until: Annotated[
        str, typer.Option("--until", metavar="TIME", help="How far time passes.")
    ] = "now",
    as_json: JsonOption = False,
) -> None:
    """Let time pass: the memory decays, and consolidates in each sleep until then.

    What hooks have left beside the file is told first.
    """
    from ..doors import calls
    from ..doors.inbox import take_in

    moment = _when(until, "--until", end=True)
    assert moment is not None
    with opened(context) as engine:
        taken = take_in(engine, context.obj)
        slept = {"taken_in": taken, **calls.consolidate(engine, moment)}
    print_json(slept) if as_json else _print_fields(slept)


@memory_app.command()
def export(
    context: typer.Context,
    to: Annotated[
        Path,
        typer.Option(
            "--to",
            metavar="PATH",
            help=(
                "A folder for events.jsonl, which `ablate --dataset conversations` reads once it "
                "has questions; a file .jsonl or .md."
            ),
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Write what was told, without what is erased, as JSON Lines or Markdown."""
    from ..console import print_lines
    from ..doors import calls
    from ..doors.files import free_place
    from ..reporting.files import write_json, write_whole

    name = context.obj.stem
    file = to if to.suffix in (".jsonl", ".md") else to / "events.jsonl"
    free_place(file)
    with opened(context) as engine:
        lines = (
            calls.markdown(engine)
            if file.suffix == ".md"
            else (json.dumps(r, ensure_ascii=False) + "\n" for r in calls.records(engine, name))
        )
        write_whole(file, lines)
        count = calls.stats(engine)["events"]
    if file != to:
        write_json(to / "dataset.yaml", {"name": name})  # JSON is YAML
    if as_json:
        print_json({"path": str(to), "events": count})
    else:
        print_lines(f"written to {file}: {plural(count, 'event')}")


@memory_app.command()
def tables(
    context: typer.Context,
    to: Annotated[
        Path, typer.Option("--to", metavar="PATH", help="A new SQLite file for the tables.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Write the memory as plain tables and views into an SQLite file, which any SQLite tool reads.

    It has texts, attributes, state, writings and edges, and where the memory keeps them
    entity_profiles, surprise_scores, fact_timeline, event_clusters and contradictions.
    """
    from ..console import print_lines
    from ..doors.tables import write_tables

    with opened(context) as engine:
        counts = write_tables(engine, to)
    if as_json:
        print_json({"path": str(to), "rows": counts})
    else:
        print_lines(f"written to {to}:", *(f"  {name}: {n:,}" for name, n in counts.items()))


@memory_app.command()
def rebuild(
    context: typer.Context,
    set_name: Annotated[
        str, typer.Option("--set", help="Mechanism set: a name, or a YAML file.")
    ] = DEFAULT_SET,
    embedder: Annotated[str, typer.Option("--embedder", help="Sentence model.")] = "minilm",
    as_json: JsonOption = False,
) -> None:
    """Move the memory to another set or sentence model: its events are encoded again."""
    from ..api import rebuild as encoded_again
    from ..doors import calls

    with encoded_again(
        context.obj, set_name, path=context.obj, embedding=lasting(embedder)
    ) as engine:
        counted = calls.stats(engine)
    print_json(counted) if as_json else _print_fields(counted)


@memory_app.command()
def chat(
    context: typer.Context,
    speaker: Annotated[str, typer.Option("--speaker", metavar="NAME", help="Who types.")] = "user",
    limit: MostOption = 5,
) -> None:
    """A session in the terminal: a line that ends with ? is asked, any other line is told."""
    from ..console import print_lines
    from ..doors import calls
    from ..doors.moments import here

    session = f"terminal {here():%Y-%m-%d %H:%M}"
    with opened(context) as engine:
        say("a line that ends with ? is asked, any other is told; an empty line ends the session")
        for line in map(str.strip, sys.stdin):
            if not line:
                break
            if line.endswith("?"):
                _print_memories(calls.ask(engine, line, limit)["memories"])
                continue
            told = calls.tell(engine, line, time=here(), speaker=speaker, session=session)
            print_lines(f"row {told['row']}" if told["stored"] else f"not stored: {told['why']}")
