"""`hebbarium export`: the rows of a run, or of all runs of a design, as one table, in CSV or
Parquet, with the times of each question.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...engine.base.errors import HebbariumError, InputError
from ...engine.base.private import private_folder, replacing
from ...reporting.files import write_whole
from ..execution.folder import MANIFEST, RUNS, RunFolder
from ..scores.metrics import at_depths, forbidden_shares

KEY = ("arm", "conversation", "question", "seed")  # names a line of times.jsonl


def runs_of(path: Path, *, force: bool = False) -> list[RunFolder]:
    """The run in a folder, or the runs of the design in it, which has one for each data set,
    embedder and seed if there are several.  Raises DataError.
    """
    inside = sorted((path / RUNS).glob(f"*/{MANIFEST}"))
    if (path / MANIFEST).exists() or not inside:
        return [RunFolder.read(path, force=force)]
    return [RunFolder.read(file.parent, force=force) for file in inside]


def tables(runs: Sequence[RunFolder]) -> list[dict[str, Any]]:
    """The rows of several runs under one another; of more than one each row also says its `run`, the
    folder's name, and its `embedder`.  Raises DataError.
    """
    if len(runs) == 1:
        return table(runs[0])
    return [
        {"run": run.path.name, "embedder": run.manifest.get("embedder"), **row}
        for run in runs
        for row in table(run)
    ]


def table(run: RunFolder) -> list[dict[str, Any]]:
    """The rows of all arms, with every metric at every depth, such as `recall@1` and `all@10`, and
    the columns `<phase>_ms` of times.jsonl; metrics of a question without gold are None.  Where the
    data say what must not come back, also `forbidden@k`, None for a question that names nothing.
    Raises DataError.
    """
    times = {
        tuple(line.get(name) for name in KEY): {
            name: value for name, value in line.items() if name not in KEY
        }
        for line in run.times()
    }
    nothing = dict.fromkeys(at_depths([0]))
    rows = run.rows()
    unsaid = dict.fromkeys(forbidden_shares([], []))
    warned = any(row.get("forbidden") for row in rows)
    return [
        {
            **row,
            **(at_depths(row["ranks"]) if row["gold"] else nothing),
            **(_forbidden(row) or unsaid if warned else {}),
            **times.get(tuple(row.get(name) for name in KEY), {}),
        }
        for row in rows
    ]


def _forbidden(row: Mapping[str, Any]) -> dict[str, float]:
    """`forbidden@k` of a row; {} if it names nothing that must not come back."""
    named = row.get("forbidden")
    return forbidden_shares(row["retrieved"], named) if named else {}


def to_csv(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write a CSV file, whole or not at all: UTF-8, one line a row, lists and objects as JSON,
    nothing for null.  Raises HebbariumError.
    """
    write_whole(path, _lines(rows))


def arrow() -> Any:
    """The module `pyarrow`.  Raises InputError if it is not installed."""
    try:
        import pyarrow
    except ImportError as error:
        raise InputError(
            "tables of Arrow and Parquet need pyarrow, which is not installed",
            where="export",
            cure="pip install 'hebbarium[arrow]', or export with --csv",
        ) from error
    return pyarrow


def to_arrow(rows: Sequence[Mapping[str, Any]]) -> Any:
    """The rows as a `pyarrow.Table`, which pandas, polars and others take as it is; lists stay
    lists.  Raises InputError without pyarrow.
    """
    pa = arrow()
    lists = {
        "gold": pa.string(),
        "forbidden": pa.string(),
        "retrieved": pa.string(),
        "ranks": pa.int64(),
        "scores": pa.float64(),
    }
    names = _columns(rows)
    arrays = [
        pa.array(
            [row.get(name) for row in rows], type=pa.list_(lists[name]) if name in lists else None
        )
        for name in names
    ]
    return pa.table(dict(zip(names, arrays, strict=True)))


def to_parquet(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write a Parquet file, whole or not at all; lists stay lists.  Raises InputError without
    pyarrow, HebbariumError.
    """
    made = to_arrow(rows)
    import pyarrow.parquet as pq

    try:
        private_folder(path.parent)
        with replacing(path) as file:
            pq.write_table(made, file)
    except OSError as error:
        raise HebbariumError(
            f"it cannot be written ({error.strerror or error})",
            where=str(path),
            cure="free disk space or make the folder writable, then start again",
        ) from error


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    names, line = _columns(rows), io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        yield line.getvalue()
        line.seek(0)
        line.truncate()
        writer.writerow(
            [
                json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
                for value in map(row.get, names)
            ]
        )
    yield line.getvalue()
