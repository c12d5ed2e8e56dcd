"""Commands about data sets: list, get, check, show, ask, convert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..benchmarks.execution.spec import options
from ..engine.base.errors import InputError, nearest
from .app import app
from .shared import JsonOption, print_json

data_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Data sets: list, get, check, show, ask, convert.",
)
app.add_typer(data_app, name="data")

LISTED = 20  # speakers and sessions that `data show` names
TEXT = 100  # characters of a text in its table


@data_app.command("list")
def data_list(as_json: JsonOption = False) -> None:
    """Official sources with licence and size."""
    from ..benchmarks.datasets.fetch import list_sources

    sources = list_sources()
    if as_json:
        print_json([{name: getattr(s, name) for name in ("name", "url", "sha256", "size", "licence",
            "citation", "by_hand")} for s in sources])  # fmt: skip
        return
    from ..console import print_lines

    for s in sources:
        size = f", {s.size / 1e6:.1f} MB" if s.size else ""
        print_lines(
            f"{s.name}: {s.licence}{size}",
            f"  {s.citation}",
            f"  {s.url}",
            *([f"  SHA-256 {s.sha256}"] if s.sha256 else []),
            *([f"  by hand: {s.by_hand}"] if s.by_hand else []),
            "",
        )
    print_lines("demo: composed by the program; needs no download")


@data_app.command("get")
def data_get(
    name: Annotated[str, typer.Argument(help="A source that `data list` names.")],
    folder: Annotated[Path, typer.Option("--to", help="Folder to put it in.")] = Path("data"),
    as_json: JsonOption = False,
) -> None:
    """Download a data set from its official source."""
    from ..benchmarks.datasets.fetch import get

    path = get(name, folder, progress=not as_json)
    if as_json:
        print_json({"path": str(path)})


@data_app.command(
    "check", short_help="SHA-256 of a data file; counts, gaps and times of your own data."
)
def data_check(
    path: Annotated[
        Path,
        typer.Argument(
            help="A file or folder in the official format, or a folder of your own conversations."
        ),
    ],
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            help=(
                "Load it as this data set and print its counts; left out: as what it looks like, unless its SHA-256 is known."
            ),
        ),
    ] = None,
    allow_missing_gold: Annotated[
        bool, typer.Option("--allow-missing-gold", help=options()["allow_missing_gold"].help)
    ] = False,
    recorded: Annotated[
        bool,
        typer.Option(
            "--recorded",
            help="Compare a file without a published SHA-256 with the one in FILE.sha256 beside it.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """SHA-256 of a data file beside the published one; counts, gaps, times and duplicates of a
    data set.
    """
    from ..benchmarks.datasets import load, official_form
    from ..benchmarks.datasets.base import one_json
    from ..benchmarks.datasets.conversations import describe, is_own
    from ..benchmarks.datasets.fetch import FOLDERS, check

    if dataset is None and is_own(path):
        dataset = "conversations"
    notes = (
        describe(load(dataset, path, allow_missing_gold=allow_missing_gold)) if dataset else None
    )
    if dataset == "conversations":
        _print_conversations(path, notes or {}, as_json)
        return
    if dataset is None and path.is_dir():
        dataset = official_form(path)
    checked = check(
        one_json(path, dataset)
        if dataset and dataset not in FOLDERS and path.is_dir() and not (path / dataset).is_dir()
        else path,
        recorded=recorded,
    )
    if notes is None and checked.basis == "none":  # nothing else says that it is a data set
        notes = describe(load(dataset or official_form(path), path))
    if as_json:
        print_json(
            {
                "path": str(checked.path),
                "sha256": checked.sha256,
                "basis": checked.basis,
                **({"notes": notes} if notes is not None else {}),
            }
        )
        return
    from ..console import print_fields

    known = {
        "published": "is the published one",
        "first use": "is the one recorded beside it on first use",
        "none": "nothing is known to compare it with",
    }
    print_fields(
        [
            ("path", str(checked.path)),
            ("SHA-256", checked.sha256),
            ("", known[checked.basis]),
            *(
                (name.replace("_", " "), f"{count:,}" if isinstance(count, int) else str(count))
                for name, count in (notes or {}).items()
            ),
        ]
    )


@data_app.command(
    "show", short_help="The conversations of data; of one its speakers, sessions and events."
)
def data_show(
    path: Annotated[
        Path | None, typer.Argument(help="As for `data check`; the demo if not given.")
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset", help="Load it as this data set; left out: as what it looks like."
        ),
    ] = None,
    conversation: Annotated[
        str | None,
        typer.Option("--conversation", metavar="ID", help="Show the events of this one."),
    ] = None,
    speaker: Annotated[
        str | None, typer.Option("--speaker", metavar="NAME", help="Only events of this speaker.")
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Only events of this session.")
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            "--limit", min=1, metavar="N", help="Most conversations, or events, that are shown."
        ),
    ] = 20,
    as_json: JsonOption = False,
) -> None:
    """The conversations of data with their numbers, or the speakers, sessions and events of one;
    no questions are needed.
    """
    from ..benchmarks.datasets import load, official_form
    from ..benchmarks.datasets.conversations import events_of, overview

    data = load(dataset or ("demo" if path is None else official_form(path)), path)
    chosen = conversation or (
        data.conversations[0].id if len(data.conversations) == 1 or speaker or session else None
    )
    if chosen is None:
        _print_rows("conversations", overview(data), limit, as_json)
        return
    talk = next((c for c in data.conversations if c.id == chosen), None)
    if talk is None:
        raise InputError(
            f"the data have no conversation {chosen!r}",
            where="--conversation",
            cure=nearest(chosen, [c.id for c in data.conversations]),
        )
    events = events_of(talk, speaker, session)
    if as_json:
        print_json({"conversation": talk.id, **events, "events": events["events"][:limit]})
        return
    from ..console import print_lines

    for kind in ("speakers", "sessions"):
        names = list(events[kind].items())
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        print_lines(
            f"{kind}: "
            + ", ".join(f"{name or '(none)'} {count}" for name, count in names[:LISTED])
            + more
        )
    print_lines("")
    _print_rows("events", events["events"], limit, as_json)


def _print_rows(what: str, rows: Sequence[Mapping[str, Any]], limit: int, as_json: bool) -> None:
    """The first rows of a table, with the number of all."""
    if as_json:
        print_json(rows[:limit])
        return
    from ..console import print_lines, print_table
    from ..engine.base.tables import brief

    heads = tuple(rows[0]) if rows else ()
    cells = [
        tuple(
            brief(str(value), TEXT) if name == "text" else str(value) for name, value in row.items()
        )
        for row in rows[:limit]
    ]
    if cells:
        numbers = ("events", "questions", "speakers", "sessions")
        print_table(
            what.capitalize(),
            heads,
            cells,
            numbers=numbers,
            whole=[name for name in heads if name != "text"],
        )
    print_lines(
        f"{min(limit, len(rows)):,} of {len(rows):,} {what}"
        + ("; --limit shows more" if len(rows) > limit else "")
    )


@data_app.command("ask", short_help="Write questions of your own, and mark what answers them.")
def data_ask(
    folder: Annotated[Path, typer.Argument(help="A folder of your own conversations.")],
    conversation: Annotated[
        str | None,
        typer.Option("--conversation", metavar="ID", help="By default the one with most events."),
    ] = None,
    wanted: Annotated[
        int, typer.Option("--questions", min=1, metavar="N", help="How many are written.")
    ] = 10,
    embedder: Annotated[
        str, typer.Option("--embedder", help="Sentence model of the suggestions.")
    ] = "minilm",
    llm: Annotated[
        str | None,
        typer.Option(
            "--llm",
            metavar="MODEL",
            help="A language model that proposes questions, as openai:<model>; events are sent to its server.",
        ),
    ] = None,
    transcript: Annotated[
        Path | None,
        typer.Option(
            "--transcript",
            metavar="FILE",
            help="File of its replies: recorded with --llm, replayed without.",
        ),
    ] = None,
) -> None:
    """Write questions of your own, and mark the events that answer them, so that `run` and `ablate`
    can measure.

    Of each question the events are listed that words and meaning find; their numbers mark them.  A
    language model is asked for proposals only if you name one: you take, change or leave out each.
    """
    from ..api import memory
    from ..console import print_lines
    from ..doors.asking import asked, chosen, proposals
    from ..engine.ports.by_name import language_model

    talk = chosen(folder, conversation)
    model = language_model(llm, transcript)
    proposed = proposals(talk, model, wanted) if model else ()
    with memory("hybrid", embedding=embedder) as engine:
        engine.encode_all(list(talk.events), confirm=True)
        written = asked(folder, talk, engine, wanted, input, print_lines, proposed)
    print_lines(
        f"{written} questions written to {folder / 'questions.jsonl'}; measure with "
        f"`hebbarium ablate --dataset conversations --data {folder} --out out/mine`"
    )


@data_app.command("convert")
def data_convert(
    dataset: Annotated[
        str,
        typer.Argument(
            help="locomo, beam, longmemeval, madial, memdaily, precisionmembench or demo."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", help="Folder for events.jsonl, questions.jsonl and dataset.yaml."),
    ],
    path: Annotated[
        Path | None,
        typer.Argument(help="File or folder in the official format; the demo needs none."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Write over conversations that the folder holds.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a data set in the format of the data set `conversations`."""
    from ..benchmarks.datasets import load
    from ..benchmarks.datasets.conversations import OWN, write_conversations
    from ..benchmarks.datasets.fetch import list_sources
    from ..reporting.files import results_folder

    source = next((s for s in list_sources() if s.name == dataset), None)
    if source and path is None:
        raise InputError(
            f"the data set {dataset!r} needs a path",
            where="PATH",
            cure=f"download it (`hebbarium data get {dataset}`), and give the path after the name",
        )
    data = load(dataset, path)
    if not replace and (held := [name for name in OWN if (out / name).exists()]):
        raise InputError(
            f"the folder holds {', '.join(held)} already",
            where=str(out),
            cure="give another --out, or --replace to write over it",
        )
    write_conversations(
        data,
        results_folder(out),
        licence=source.licence if source else "",
        citation=source.citation if source else "",
    )
    counts = {name: data.notes[name] for name in ("conversations", "events", "questions")}
    if as_json:
        print_json({"path": str(out), **counts})
        return
    from ..console import print_lines
    from ..reporting.text import plural

    print_lines(
        f"written to {out}: "
        + ", ".join(
            plural(count, name.removesuffix("s"))
            for name, count in counts.items()
            if isinstance(count, int)
        )
    )


def _print_conversations(path: Path, notes: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json({"path": str(path), "notes": notes})
        return
    from ..console import print_fields

    print_fields(
        [
            ("path", str(path)),
            *(
                (name.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value))
                for name, value in notes.items()
            ),
        ]
    )
