"""Runs and judgements in the form of TREC, which `trec_eval`, `ir_measures` and `ranx` read.

A run has a line `topic Q0 document rank score tag` for each document, the judgements (qrels) a line
`topic 0 document relevance`.  A topic is `conversation/question` of a run of ours, a document
`conversation/event`; what is no letter, digit or one of `-_.:/` in an id is written as in an
address (%20).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import numpy as np

from ...engine.base.errors import DataError, InputError
from ...reporting.files import write_whole
from ..datasets.base import unreadable
from ..scores.metrics import METRICS, question_metrics

QRELS: Final = "qrels.txt"
KEPT: Final = "-_.:/"  # signs of ids that stand as they are
Row = Mapping[str, Any]


def write_trec(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Write the judgements of a run, and the answers of each of its arms and seeds, as files of a
    folder.  The paths; a file is written whole or not at all.

    Scores go down from rank to rank, also where two are equal, so that every program reads the
    order of the answer.  Raises HebbariumError.
    """
    arms: dict[tuple[str, Any], list[Row]] = {}
    for row in rows:
        arms.setdefault((str(row["arm"]), row.get("seed")), []).append(row)
    seeds = {seed for _, seed in arms}
    written = [folder / QRELS]
    write_whole(written[0], _judgements(rows))
    for (arm, seed), answered in arms.items():
        name = arm if len(seeds) == 1 else f"{arm}-seed{seed}"
        written.append(folder / f"{quote(name, safe='-_.')}.run")
        write_whole(written[-1], _answers(answered, quote(name, safe="-_.")))
    return written


def _name(*parts: Any) -> str:
    return "/".join(quote(str(part), safe=KEPT) for part in parts)


def _judgements(rows: Sequence[Row]) -> Iterator[str]:
    known = set[tuple[Any, Any]]()
    for row in rows:
        if (key := (row["conversation"], row["question"])) in known:
            continue
        known.add(key)
        for gold in row["gold"]:
            yield f"{_name(*key)} 0 {_name(row['conversation'], gold)} 1\n"


def _answers(rows: Sequence[Row], tag: str) -> Iterator[str]:
    for row in rows:
        topic, last = _name(row["conversation"], row["question"]), np.float32(math.inf)
        scores = [math.nan if score is None else score for score in row["scores"]]
        for rank, (event, score) in enumerate(zip(row["retrieved"], scores, strict=False), 1):
            below = np.nextafter(last, np.float32(-math.inf))  # trec_eval reads float32
            last = below if math.isnan(score) else min(np.float32(score), below)
            document = _name(row["conversation"], event)
            yield f"{topic} Q0 {document} {rank} {float(last):.9g} {tag}\n"


# --- reading --------------------------------------------------------------------------------------
def read_run(path: Path) -> dict[str, list[str]]:
    """Documents of each topic, best first: by score, and ties by document from the last to the
    first, as trec_eval orders them.  Raises DataError.
    """
    scored: dict[str, dict[str, float]] = {}
    for where, (topic, _, document, _, score, _) in _fields(
        path, 6, "topic Q0 document rank score tag"
    ):
        try:
            value = float(score)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise DataError(
                f"the score {score!r} is no number", where=where, cure="correct the line"
            )
        if document in scored.setdefault(topic, {}):
            raise DataError(f"document {document!r} stands twice in topic {topic!r}", where=where,
                            cure="give each document of a topic once")  # fmt: skip
        scored[topic][document] = value
    return {
        topic: sorted(documents, key=lambda id: (documents[id], id), reverse=True)
        for topic, documents in scored.items()
    }


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Relevance of the judged documents of each topic.  Raises DataError."""
    judged: dict[str, dict[str, int]] = {}
    for where, (topic, _, document, relevance) in _fields(path, 4, "topic 0 document relevance"):
        try:
            value = int(relevance)
        except ValueError:
            raise DataError(f"the relevance {relevance!r} is no whole number", where=where,
                            cure="correct the line") from None  # fmt: skip
        if judged.setdefault(topic, {}).setdefault(document, value) != value:
            raise DataError(f"document {document!r} of topic {topic!r} is judged twice", where=where,
                            cure="keep one of the two lines")  # fmt: skip
    return judged


def _fields(path: Path, count: int, form: str) -> Iterator[tuple[str, list[str]]]:
    """The fields of each line that is not empty, with its place."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if fields := line.split():
                    if len(fields) != count:
                        raise DataError(
                            f"it has {len(fields)} fields",
                            where=f"{path}, line {number}",
                            cure=f"write `{form}`",
                        )
                    yield f"{path}, line {number}", fields
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error, f"give a text file of lines `{form}`") from error


def scored(
    run: Mapping[str, Sequence[str]], qrels: Mapping[str, Mapping[str, int]]
) -> dict[str, Any]:
    """Means of our metrics over the judged topics; a document of relevance 1 or more is gold.

    A topic without an answer counts as a miss, as with `trec_eval -c`; one without gold is left
    out.  Raises InputError if no topic is left.
    """
    judged = {t: {d for d, value in docs.items() if value > 0} for t, docs in qrels.items()}
    rows = []
    for topic, gold in judged.items():
        if gold:
            places = {document: place for place, document in enumerate(run.get(topic, ()), 1)}
            rows.append(question_metrics([places.get(d, 0) for d in gold]).named())
    if not rows:
        raise InputError("no topic has a relevant document", where="qrels",
                         cure="give judgements of the topics that the run answers")  # fmt: skip
    return {
        **{name: math.fsum(row[name] for row in rows) / len(rows) for name in METRICS},
        "topics": len(rows),
        "topics_without_gold": len(judged) - len(rows),
        "topics_without_answer": sum(bool(gold) and t not in run for t, gold in judged.items()),
        "topics_not_judged": sum(t not in judged for t in run),
    }
