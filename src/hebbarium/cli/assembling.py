"""Commands about contexts: assemble, and event, which shows what a breadcrumb names."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .app import app
from .shared import (
    DEFAULT_SET,
    DataOption,
    DatasetOption,
    EmbedderOption,
    JsonOption,
    installed_registry,
    load_data,
    named_embedder,
    named_language_model,
    print_json,
)

if TYPE_CHECKING:
    from ..engine.memory.engine import Engine

SetOption = Annotated[str, typer.Option("--set", help="Mechanism set: a name, or a YAML file.")]
ConversationOption = Annotated[
    str | None,
    typer.Option(
        "--conversation", help="Id of a conversation; the first one if not given.", metavar="ID"
    ),
]
TimeOption = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="TIME",
        help=(
            "When it is asked, in ISO 8601: the memory has no later event. By default after the last event."
        ),
    ),
]
SHOWN = 60  # characters of a text in the table


class StrategyName(StrEnum):
    """Names in `engine.context.assembly.STRATEGIES`."""

    SOURCES = "sources"
    FLAT = "flat"
    CONDENSED = "condensed"
    COVERING = "covering"
    PACKED = "packed"
    EVERYTHING = "everything"
    NOTHING = "nothing"


class CompressionName(StrEnum):
    """Names in `engine.context.compressing.COMPRESSIONS`."""

    EXTRACTS = "extracts"
    MODEL = "model"


class FormatName(StrEnum):
    """Names in `engine.context.formats.FORMATS`."""

    SECTIONS = "sections"
    EVIDENCE_LIST = "evidence_list"
    DIALOGUE = "dialogue"


@app.command(short_help="The context that a reader gets for a query, under a budget.")
def assemble(
    query: Annotated[str, typer.Option("--query", help="What is asked.")],
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            min=0,
            metavar="TOKENS",
            help=("Most tokens; without it ten memories, none condensed."),
        ),
    ] = None,
    set_name: SetOption = DEFAULT_SET,
    dataset: DatasetOption = "demo",
    data: DataOption = None,
    conversation: ConversationOption = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy",
            metavar="NAME",
            help=(
                f"How memories are chosen: {', '.join(StrategyName)}; or by sources other than the set's: assistant, coding, companion, "
                "context_spec, or a YAML file. By default what the set's sources offer, without sources flat: the best first."
            ),
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", help="Session of the asker, for sources.")
    ] = None,
    time: TimeOption = None,
    form: Annotated[
        FormatName, typer.Option("--form", help="How they are written.")
    ] = FormatName.SECTIONS,
    items: Annotated[
        int | None,
        typer.Option("--items", min=0, help="Most memories; without --budget 10 if not given."),
    ] = None,
    tokenizer: Annotated[
        Path | None,
        typer.Option(
            "--tokenizer",
            metavar="PATH",
            help=("tokenizer.json of the reader, or its folder; by default that of the embedder."),
        ),
    ] = None,
    compress: Annotated[
        CompressionName | None,
        typer.Option(
            "--compress",
            help="First compress what exceeds the budget, the lowest scores to a third: by extracts, or by --llm.",
        ),
    ] = None,
    llm: Annotated[
        str | None,
        typer.Option(
            "--llm",
            metavar="MODEL",
            help="The language model, as openai:<model>; memories are sent to its server.",
        ),
    ] = None,
    transcript: Annotated[
        str | None,
        typer.Option(
            "--transcript",
            metavar="FILE",
            help="File of its replies: recorded with --llm, replayed without.",
        ),
    ] = None,
    embedder: EmbedderOption = "minilm",
    page: Annotated[
        Path | None,
        typer.Option(
            "--page",
            metavar="FILE",
            help=(
                "Also write a page of HTML: the query under the budget and three halves of it, by every strategy side by side."
            ),
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """The context that a reader would get for a query, and a table of its components.

    A memory encodes the conversation first.  A condensed memory names itself at its end; `hebbarium
    event ROW` shows all of it.
    """
    from ..engine.context.assembly import assemble as assembled
    from ..engine.context.tokens import counter

    set_name, strategy = _with_strategy(set_name, strategy)
    model = named_language_model(llm, transcript)
    with _memory(set_name, dataset, data, conversation, embedder, time) as memory:
        count = counter(tokenizer or memory.assembly.embedder)
        context = assembled(
            memory,
            query,
            budget,
            max_items=items,
            session=session,
            counter=count,
            form=form.value,
            strategy=strategy,
            compress=compress.value if compress else "",
            model=model,
        )
        if page:
            from .context_page import write_page

            write_page(
                memory,
                query,
                page,
                budget=budget,
                counter=count,
                session=session,
                set_name=set_name,
                dataset=dataset,
                data=data,
                conversation=conversation,
                embedder=embedder,
            )
    if as_json:
        print_json(context.plain())
        return
    from ..console import print_lines, print_table

    print_lines(
        context.text
        or ("nothing fits into this budget" if context.truncated else "there is nothing to show"),
        "",
    )
    rows = [(c.section, c.kind.value, "" if c.row < 0 else str(c.row), c.form.value,
             f"{c.tokens:,}", f"{c.score:z.3f}", _short(c.text))
            for c in context.components]  # fmt: skip
    if rows:
        numbers = ("row", "tokens", "score")
        print_table(
            "Components",
            ("section", "kind", "row", "form", "tokens", "score", "text"),
            rows,
            numbers=numbers,
            whole=("kind", "row", "form", "tokens", "score"),
            spare=("section", "kind"),
        )
    of = f" of {budget:,}" if budget is not None else ""
    cut = "; truncated" if context.truncated else ""
    if made := context.metadata.get("compressed"):
        print_lines(f"compressed: {made['model']} by a model, {made['extracts']} by extracts")
    for source, tokens in context.metadata.get("sources", {}).items():
        print_lines(f"{source}: {tokens:,} tokens")
    print_lines(
        f"{context.tokens:,}{of} tokens as {context.counter} counts; {len(context.components)} components{cut}"
    )


@app.command(short_help="One memory whole, such as one that a context names.")
def event(
    row: Annotated[int, typer.Argument(help="Row, as in [memory 812: 3 lines].")],
    set_name: SetOption = DEFAULT_SET,
    dataset: DatasetOption = "demo",
    data: DataOption = None,
    conversation: ConversationOption = None,
    embedder: EmbedderOption = "minilm",
    file: Annotated[
        Path | None,
        typer.Option(
            "--memory",
            metavar="FILE",
            help="The file of the memory whose context names the row, in place of a data set.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """All of one memory of a conversation or of a file, verbatim: an event, or a text that the
    memory made, with its sources, versions and edits.
    """
    from ..doors.files import open_memory
    from ..engine.memory.history import history

    with (
        open_memory(file)
        if file
        else _memory(set_name, dataset, data, conversation, embedder) as memory
    ):
        record = history(memory, row)
        unit, edits = record.unit, [memory.event_log.writings[number] for number in record.edits]
    if as_json:
        print_json({**asdict(unit), "kind": unit.kind.word,
                    "maker": record.writing.maker if record.writing else "",
                    "made_from": record.sources,
                    "versions": record.versions, "made": record.made,
                    "edits": [asdict(edit) for edit in edits]})  # fmt: skip
        return
    from ..console import print_fields, print_lines
    from ..engine.base.times import written

    print_fields([("row", str(row)), ("kind", unit.kind.word), ("time",
        written(unit.time) or str(unit.time)), ("session", unit.session or "-"),
                  ("speaker", unit.speaker or "-"), ("events", ", ".join(unit.events) or "-"),
                  ("sources", ", ".join(unit.sources) or "-"), ("maker",
                  record.writing.maker if record.writing else "-"),
                  ("made from rows", ", ".join(map(str, record.sources)) or "-"),
                  ("rows of its versions", ", ".join(map(str, record.versions))),
                  ("rows made of it", ", ".join(map(str, record.made)) or "-")])  # fmt: skip
    print_lines("", unit.text)
    for edit in edits:
        print_lines("", f"{edit.kind} by {edit.maker}, {written(edit.time)}:", edit.text)


def _with_strategy(set_name: str, strategy: str | None) -> tuple[str, str]:
    """The set, with the sources that a strategy names, if it names any; and the strategy of
    `assemble`.  Raises InputError.
    """
    from ..engine.base.errors import InputError, nearest

    contexts = installed_registry().contexts
    if strategy is None or strategy in list(StrategyName):
        return set_name, strategy or ""
    if strategy in contexts or strategy.endswith((".yaml", ".yml")):
        return f"{set_name}+{strategy}", StrategyName.SOURCES.value
    raise InputError(
        f"there is no strategy {strategy!r}",
        where="--strategy",
        cure=nearest(strategy, [*StrategyName, *contexts]),
    )


def _memory(
    set_name: str,
    dataset: str,
    data: Path | None,
    conversation: str | None,
    embedder: str,
    time: str | None = None,
) -> Engine:
    """A memory that has encoded one conversation, up to a time if one is given."""
    from ..console import Meter
    from ..engine.base.errors import InputError, nearest
    from ..engine.memory.engine import Engine

    registry = installed_registry()
    built = registry.build(registry.set(set_name))
    loaded = load_data(dataset, data, "turn", None, asked=False)
    known = {c.id: c for c in loaded.conversations}
    chosen = loaded.conversations[0].id if conversation is None else conversation
    if chosen not in known:
        raise InputError(
            f"the data have no conversation {chosen!r}",
            where="--conversation",
            cure=nearest(chosen, known),
        )
    events = known[chosen].events
    now = None if time is None else _hours(time)
    if now is not None and now < events[0].time:
        raise InputError(
            f"{time} is before the first event of conversation {chosen!r}",
            where="--time",
            cure="give a later time, or leave it out",
        )
    with Meter("embedding texts", least=100) as embedding:
        memory = Engine(built, named_embedder(embedder, embedding))
        memory.encode_all(
            events if now is None else [event for event in events if event.time <= now]
        )
        if now is not None:
            memory.advance(now)
    return memory


def _hours(time: str) -> float:
    """A time of the command line, h.  Raises InputError."""
    from datetime import datetime

    from ..engine.base.errors import InputError
    from ..engine.base.times import hours

    try:
        return hours(datetime.fromisoformat(time))
    except ValueError:
        raise InputError(
            f"{time!r} is no time", where="--time", cure="write it like 2024-05-01T12:30:00"
        ) from None


def _short(text: str) -> str:
    from ..engine.base.tables import brief

    return brief(text, SHOWN)
