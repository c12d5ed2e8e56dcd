"""Whether shortlists answer as all rows do: the conversations of official data files in one memory,
asked all their questions.

    python benchmarks/speed/shortlist_answers.py --locomo locomo10.json --beam 100K --shortlist
    2048,1024 --index exact,ivf --folder OUT

All conversations are one memory, in the order of their times, and every question that has evidence
is asked after the last event, for ten rows: of all rows with the exact index, then with each index
of all rows and of each shortlist.  Printed are the share of the first ten rows (overlap), how often
the first row is the same, recall of the evidence, and medians of CPU time.  Intervals are of the
cluster bootstrap over conversations. Memories that are too small for a shortlist to pay are asked
with it all the same.

With `--sentences` each sentence of a turn is an event of its own, and one that was said before in
the same words is left out; evidence is a turn still, found by any sentence of it.  Events are
encoded with the index `ivf`, which is exact below 16,384 rows, and the memory is kept in
`--folder`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from hebbarium.benchmarks.datasets import Dataset, load
from hebbarium.benchmarks.scores.statistics import Interval, clustered_bootstrap
from hebbarium.engine.base.errors import HebbariumError, InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.by_name import embedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder, default_cache
from hebbarium.engine.scale import shortlist
from hebbarium.engine.text.condensing import sentences

K = 10  # rows of an answer
SOURCES = ("locomo", "beam", "longmemeval")
EXACT, LISTS = "exact", "ivf"
HEADS = ("index", "rows asked", "overlap", "95 %", "same first", f"recall@{K}", "less all rows",
         "95 %", "ms", "scans")  # fmt: skip
WARM = 8  # questions before the clock runs


@dataclass(frozen=True, slots=True)
class EvidenceQuestion:
    """A question with evidence: its conversation, and the turns that hold the answer."""

    text: str
    conversation: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Merged:
    """Conversations in one.

    events     in the order of their times, with ids that are unique
    turns      id of an event -> the turns of which it is a part
    questions  that have evidence
    mark       of all this, for the name of a file
    """

    events: tuple[Event, ...]
    turns: Mapping[str, frozenset[str]]
    questions: tuple[EvidenceQuestion, ...]
    mark: str


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers to n questions: rows (each up to 10), recall of the evidence (n,), and medians of
    CPU ms of a question and of a flat scan.
    """

    rows: tuple[frozenset[int], ...]
    first: tuple[int, ...]
    recall: NDArray[np.float64]
    ms: float
    scan_ms: float


@dataclass(frozen=True, slots=True)
class Compared:
    """Answers of a part of a memory, or by another index, against those of all rows by the exact
    index.

    overlap, same  shares of the ten rows and of first rows; recall, less  of the evidence, and its
                   difference to that of all rows
    asked          rows of the shortlist; all for None
    """

    index: str
    asked: int | None
    overlap: float
    overlap_interval: tuple[float | None, float | None]
    same: float
    recall: float
    less: float
    less_interval: tuple[float | None, float | None]
    ms: float
    scans: float


def merged(given: Sequence[Dataset], split: bool) -> Merged:
    """The conversations of all data sets in one; split: by sentences, each text once.  Cost:
    O(characters).
    """
    events, turns, questions = list[Event](), dict[str, frozenset[str]](), list[EvidenceQuestion]()
    said, mark = dict[str, str](), hashlib.sha256(f"{split}".encode())
    whole = list[tuple[str, Event]]()
    for number, data in enumerate(given):
        mark.update(data.sha256.encode())
        for conversation in data.conversations:
            name = f"{number}/{conversation.id}"
            whole += [
                (f"{name}/{e.id}", replace(e, session=f"{name}/{e.session}"))
                for e in conversation.events
            ]
            questions += [
                EvidenceQuestion(q.text, name, frozenset(f"{name}/{id}" for id in q.gold))
                for q in conversation.questions
                if q.gold
            ]
    for turn, event in sorted(whole, key=lambda pair: pair[1].time):
        for at, part in enumerate(parts(event) if split else [event]):
            id = said.setdefault(part.rendered(), f"{turn}#{at}") if split else turn
            if id not in turns:
                events.append(replace(part, id=id))
            turns[id] = turns.get(id, frozenset()) | {turn}
    return Merged(tuple(events), turns, tuple(questions), mark.hexdigest()[:12])


def parts(event: Event) -> Iterator[Event]:
    """An event for each sentence; a caption stays with the last."""
    pieces = sentences(event.text) or [event.text]
    for at, text in enumerate(pieces, 1):
        yield replace(event, text=text, caption=event.caption if at == len(pieces) else "")


def tell(what: str, done: int, total: int) -> None:
    """A line on standard error at each tenth."""
    if 10 * done // total != 10 * (done - 1) // total:
        print(f"{what}: {done:,}/{total:,}", file=sys.stderr, flush=True)


def opened(
    chosen: str, model: CachedEmbedder, path: Path, index: str, most: int | None = None
) -> Engine:
    """The memory of a file.  Raises HebbariumError."""
    registry = Registry.installed()
    return Engine(
        registry.build(registry.set(chosen)), model, path=path, index=index, shortlist=most
    )


def lived(chosen: str, data: Merged, model: CachedEmbedder, folder: Path) -> Path:
    """The file of a memory that has lived all events, which is made if it is not there."""
    path = folder / f"{chosen}-{data.mark}.sqlite"
    unfinished = path.with_suffix(".part")
    if not path.exists():
        unfinished.unlink(missing_ok=True)

        def counted() -> Iterator[Event]:
            for number, event in enumerate(data.events, 1):
                yield event
                tell(f"events of {chosen}", number, len(data.events))

        with opened(chosen, model, unfinished, LISTS) as memory:
            memory.encode_all(counted())
        unfinished.rename(path)
    return path


def answers(memory: Engine, data: Merged) -> Answers:
    """Ask all questions, each followed by a flat scan for its vector (FAISS, one thread, ten
    nearest).
    """
    faiss, flat, model = (
        import_module("faiss"),
        memory.assembly.index._flat,
        memory.assembly.embedder,
    )
    vectors = model.embed([q.text for q in data.questions])
    for question in data.questions[:WARM]:
        memory.retrieve(question.text, K)
    answered, times = [], list[tuple[float, float, float]]()
    faiss.omp_set_num_threads(1)
    for number, (question, vector) in enumerate(zip(data.questions, vectors, strict=True), 1):
        start = process_time()
        answer = memory.retrieve(question.text, K)
        asked = process_time()
        flat.search(vector[None], K)
        times.append((start, asked, process_time()))
        turns = frozenset().union(*(data.turns[id] for id in answer.sources()))
        answered.append((answer.rows, len(question.gold & turns) / len(question.gold)))
        tell("questions", number, len(data.questions))
    spent = 1e3 * np.median(np.diff(times, axis=1), axis=0)
    return Answers(
        tuple(frozenset(rows.tolist()) for rows, _ in answered),
        tuple(int(rows[0]) if len(rows) else -1 for rows, _ in answered),
        np.array([share for _, share in answered]),
        float(spent[0]),
        float(spent[1]),
    )


def compared(own: Answers, whole: Answers, data: Merged, index: str, asked: int | None) -> Compared:
    """Answers against those of all rows."""
    overlap = [len(a & b) / max(len(b), 1) for a, b in zip(own.rows, whole.rows, strict=True)]
    same = [a == b for a, b in zip(own.first, whole.first, strict=True)]

    def interval(values: Any) -> Interval:
        return clustered_bootstrap(values, [q.conversation for q in data.questions], seed=0)

    shared, less = interval(overlap), interval(own.recall - whole.recall)
    return Compared(
        index,
        asked,
        float(np.mean(overlap)),
        (shared.low, shared.high),
        float(np.mean(same)),
        float(own.recall.mean()),
        float((own.recall - whole.recall).mean()),
        (less.low, less.high),
        own.ms,
        own.ms / own.scan_ms,
    )


def measured(
    chosen: str,
    data: Merged,
    model: CachedEmbedder,
    folder: Path,
    indexes: Sequence[str],
    sizes: Sequence[int],
) -> tuple[int, Answers, list[Compared]]:
    """Rows of the memory, answers of all of them, and what each index and each shortlist has of
    these.

    Raises InputError for a shortlist that would not be asked, HebbariumError.
    """
    path, measures = lived(chosen, data, model, folder), []

    def asked(index: str, most: int | None) -> tuple[int, Answers]:
        with opened(chosen, model, path, index, most) as memory:
            if most is not None and not K / shortlist.MOST_ANSWERED <= most <= memory.store.n:
                raise InputError(
                    f"{K} rows of a shortlist of {most:,}, of {memory.store.n:,} rows, are asked of all rows",
                    where="--shortlist",
                    cure=f"give {int(K / shortlist.MOST_ANSWERED)} or more and not more than all rows",
                )
            return memory.store.n, answers(memory, data)

    with patch.object(shortlist, "PAYS", 1):
        n, whole = asked(EXACT, None)
        for index in indexes:
            for most in (None, *sizes):
                if (index, most) != (EXACT, None):
                    measures.append(compared(asked(index, most)[1], whole, data, index, most))
    return n, whole, measures


def shown(row: Compared) -> tuple[str, ...]:
    """Cells of a table."""
    first, second = (
        " to ".join("-" if end is None else f"{end:{form}}" for end in ends)
        for ends, form in ((row.overlap_interval, ".3f"), (row.less_interval, "+.3f"))
    )
    return (row.index, f"{row.asked:,}" if row.asked else "all", f"{row.overlap:.3f}", first,
            f"{row.same:.3f}", f"{row.recall:.3f}",
            f"{row.less:+.3f}", second, f"{row.ms:.1f}", f"{row.scans:.1f}")  # fmt: skip


def print_rows(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table in Markdown."""
    print(f"{title}\n")
    for cells in (heads, ["---"] * len(heads), *rows):
        print(f"| {' | '.join(cells)} |")
    print()


def whole_numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def read(given: argparse.Namespace) -> list[Dataset]:
    """The data sets of the arguments.  Raises HebbariumError."""
    return [load(name, path) for name in SOURCES for path in getattr(given, name)]


def sources(parser: argparse.ArgumentParser) -> None:
    """The options that `read` reads."""
    for name in SOURCES:
        parser.add_argument(
            f"--{name}",
            type=Path,
            nargs="+",
            default=[],
            metavar="PATH",
            help=f"files or folders of {name}",
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sources(parser)
    parser.add_argument(
        "--sentences", action="store_true", help="an event for each sentence of a turn"
    )
    parser.add_argument("--set", dest="chosen", default="default", help="mechanism set")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--index", default=EXACT, help="indexes to ask with, such as exact,ivf")
    parser.add_argument(
        "--shortlist",
        type=whole_numbers,
        default=[2048, 1024],
        help="rows of shortlists, such as 2048,1024",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        help="keeps the memory, which takes long to make; none: a temporary one",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args(arguments)
    try:
        data = merged(read(given), given.sentences)
        if not data.questions:
            raise InputError(
                "there is no question with evidence",
                where="data",
                cure=f"name files by {', '.join(f'--{name}' for name in SOURCES)}",
            )
        with tempfile.TemporaryDirectory() as temporary:
            folder = given.folder or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            n, whole, measures = measured(
                given.chosen,
                data,
                embedder(given.embedder, default_cache()),
                folder,
                given.index.split(","),
                given.shortlist,
            )
    except HebbariumError as error:
        parser.error(str(error))
    held = len({q.conversation for q in data.questions})
    if given.json:
        print(json.dumps({"set": given.chosen, "events": len(data.events), "rows": n,
                          "questions": len(data.questions), "conversations": held,
                          "recall": float(whole.recall.mean()), "ms": whole.ms,
                          "scan_ms": whole.scan_ms,
                          "compared": [asdict(measure) for measure in measures]}, indent=2))  # fmt: skip
        return
    title = (
        f"{given.chosen}: {n:,} rows of {len(data.events):,} events, {len(data.questions):,} questions of {held} conversations; all rows: "
        f"recall@{K} {whole.recall.mean():.3f}, {whole.ms:.1f} ms, {whole.ms / whole.scan_ms:.1f} scans of {whole.scan_ms:.1f} ms"
    )
    print_rows(title, HEADS, map(shown, measures))


if __name__ == "__main__":
    main()
