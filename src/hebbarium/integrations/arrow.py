"""Tables of Arrow, which pandas and polars take as they are: rows of a run, and what a
memory was told.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from ..benchmarks.execution.folder import RunFolder
from ..benchmarks.runs.export import arrow, table, to_arrow
from ..doors import calls
from ..engine.base.times import moment
from ..engine.contract.vocabulary import VISIBLE
from ..engine.memory.engine import Engine

WORDS: Final = ("id", "speaker", "session", "text", "caption")  # of an event


def run_table(run: Path | str, *, force: bool = False) -> Any:
    """The rows of a finished run as a `pyarrow.Table`: one for each arm, question and seed, with
    every metric at every depth, and the times of each question in milliseconds.

    run    folder of `run` or `ablate`
    force  also rows that were changed after the run

    Raises DataError for a folder without a finished run, InputError without pyarrow.
    """
    return to_arrow(table(RunFolder.read(Path(run), force=force)))


def event_table(memory: Engine) -> Any:
    """What a memory was told and has not erased, as a `pyarrow.Table` with a row for each event.

    Columns: row (-1: a gate refused it), id, time (of the calendar, in UTC, to the millisecond),
    offset (h), speaker, session, text, caption, visible, and attributes, a list of keys and values.
    A text that is no valid Unicode has a question mark in each faulty place.  Raises InputError
    without pyarrow.
    """
    pa, visible = arrow(), memory.column(VISIBLE)
    pair = pa.struct([("key", pa.string()), ("value", pa.string())])
    types = {
        "row": pa.int64(),
        "id": pa.string(),
        "time": pa.timestamp("ms", tz="UTC"),
        "offset": pa.float64(),
        "speaker": pa.string(),
        "session": pa.string(),
        "text": pa.string(),
        "caption": pa.string(),
        "visible": pa.bool_(),
        "attributes": pa.list_(pair),
    }
    told = [
        {
            "row": row,
            "time": moment(event.time),
            "offset": event.offset,
            "visible": bool(row >= 0 and visible[row]),
            "attributes": [
                {"key": _sound(key), "value": _sound(value)} for key, value in event.attributes
            ],
            **{name: _sound(getattr(event, name)) for name in WORDS},
        }
        for event, row in calls.told(memory)
    ]
    return pa.Table.from_pylist(told, schema=pa.schema(list(types.items())))


def _sound(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
