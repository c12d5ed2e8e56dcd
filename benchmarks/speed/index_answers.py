"""Recall and cost of the index `ivf` on vectors of real text and, beyond their number, on vectors
grown from them.

    python benchmarks/speed/index_answers.py --locomo locomo10.json --beam 100K --rows
    20000,100000,1000000 --probes 32,64,128

The vectors are those of all different sentences of the conversations, in the order of their times,
and the questions are those of the data sets. More rows are grown: after each row follow others x +
s (y - z), of unit length, where y and z are two of the row's 32 nearest and s is such that a grown
row is as near to the rows it is grown from, in the median, as a real row that was held out.  First
every eighth row is grown to the number of all and compared with them: cosines of the rows nearest
to a question, and recall.  No memory is made; a million rows take some 5 GB.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from hebbarium.benchmarks.speed.shortlist_answers import (
    K,
    merged,
    print_rows,
    read,
    sources,
    tell,
    whole_numbers,
)
from hebbarium.engine.base.errors import HebbariumError, InputError
from hebbarium.engine.ports.by_name import embedder
from hebbarium.engine.ports.embedding_cache import default_cache
from hebbarium.engine.scale import approximate
from hebbarium.engine.scale.approximate import ListIndex

Vectors = NDArray[np.float32]
NEAR = 32  # nearest rows whose differences are the directions of growth
EIGHTH = 8
SHORTLIST = 1_024  # rows that a shortlist of 2,048 takes from the index
SCALES = np.linspace(0.1, 4.0, 40)
SAMPLE = 2_000  # rows that are compared for the scale
LOT = 65_536  # rows that are grown or embedded at a time
RANKS, QUANTILES = (1, 10, 100), (0.1, 0.5, 0.9)
FLAT = 64  # flat scans that are timed
HEADS = ("vectors", "rows", "lists", "probes", f"recall@{K}", "ms", f"ms for {SHORTLIST:,}",
         "flat scan, ms")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """What the index finds among some rows: recall of the ten nearest, and medians of CPU ms for
    ten, for a shortlist, and for a flat scan.
    """

    vectors: str
    rows: int
    lists: int
    probes: int
    recall: float
    ms: float
    ms_shortlist: float
    ms_flat: float


@dataclass(frozen=True, slots=True)
class Closeness:
    """Quantiles of the cosines of questions with their nearest rows, by rank."""

    vectors: str
    cosines: tuple[tuple[float, ...], ...]


def nearest(
    vectors: Vectors, wanted: Vectors, k: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Products with the k nearest rows of each wanted vector, and these rows; O(n d) for each."""
    faiss = import_module("faiss")
    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(vectors)
    nearest_rows: tuple[NDArray[np.float32], NDArray[np.int64]] = flat.search(wanted, k)
    return nearest_rows


def unit(vectors: Vectors) -> Vectors:
    """Rows of length 1."""
    return np.ascontiguousarray(
        vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32
    )


def moves(
    vectors: Vectors, rows: NDArray[np.int64], near: NDArray[np.int64], rng: np.random.Generator
) -> Vectors:
    """A difference between two of the nearest rows of each given row; near: (n, NEAR) of all
    rows.
    """
    pairs = np.argsort(rng.random((len(rows), near.shape[1])), axis=1)[:, :2]
    left, other = near[rows, pairs[:, 0]], near[rows, pairs[:, 1]]
    return vectors[left] - vectors[other]


def scale_of(
    vectors: Vectors, held: Vectors, near: NDArray[np.int64], rng: np.random.Generator
) -> float:
    """The s at which the median cosine of a grown row with its nearest row equals that of the
    rows that were held out.
    """
    goal = np.median(nearest(vectors, held[rng.permutation(len(held))[:SAMPLE]], 1)[0])
    rows = rng.permutation(len(vectors))[:SAMPLE]
    step = moves(vectors, rows, near, rng)
    cosines = [np.median(nearest(vectors, unit(vectors[rows] + s * step), 1)[0]) for s in SCALES]
    return float(np.interp(-goal, -np.maximum.accumulate(cosines[::-1])[::-1], SCALES))


def neighbours(vectors: Vectors) -> NDArray[np.int64]:
    """(n, NEAR) the nearest other rows of each, by an index, as exact ones of 100,000 rows take
    minutes.
    """
    index = ListIndex(vectors.shape[1])
    index.add_many(vectors)
    nearest_rows = np.empty((len(vectors), NEAR), np.int64)
    for row, vector in enumerate(vectors):
        rows = index.search(vector, NEAR + 1)[0]
        nearest_rows[row] = rows[rows != row][:NEAR]
        tell("neighbours", row + 1, len(vectors))
    return nearest_rows


def grown(
    vectors: Vectors, near: NDArray[np.int64], scale: float, n: int, rng: np.random.Generator
) -> Vectors:
    """n rows: each of the vectors, followed by those that are grown from it."""
    origin = np.arange(n) * len(vectors) // n
    out = vectors[origin]
    rows = np.flatnonzero(np.diff(origin, prepend=-1) == 0)
    for start in range(0, len(rows), LOT):
        some = rows[start : start + LOT]
        out[some] = unit(out[some] + scale * moves(vectors, origin[some], near, rng))
    return out


def timed(call: Callable[[Vectors], Any], wanted: Vectors) -> tuple[float, list[Any]]:
    """Median of CPU ms of a call for each vector, and what it returns."""
    times, answers = [], []
    for vector in wanted:
        start = process_time()
        answers.append(call(vector))
        times.append(1e3 * (process_time() - start))
    return float(np.median(times)), answers


def measured(name: str, vectors: Vectors, wanted: Vectors, probes: Sequence[int]) -> list[Found]:
    """Recall and cost with each number of probes, beside a flat scan (FAISS, one thread, ten
    nearest).
    """
    index, results = ListIndex(vectors.shape[1]), []
    index.add_many(vectors)
    import_module("faiss").omp_set_num_threads(1)
    exact = index._flat.search(wanted, K)[1]
    flat = timed(lambda vector: index._flat.search(vector[None], K), wanted[:FLAT])[0]
    for count in probes:
        with patch.object(approximate, "PROBED", count):
            index.search(wanted[-1], K)  # builds the lists
            ms, answers = timed(lambda vector: index.search(vector, K)[0], wanted)
            longer = timed(lambda vector: index.search(vector, SHORTLIST), wanted)[0]
        share = float(
            np.mean([len(np.intersect1d(a, b)) / K for a, b in zip(answers, exact, strict=True)])
        )
        results.append(
            Found(
                name,
                len(vectors),
                index._built.nlist if index._built else 0,
                count,
                share,
                ms,
                longer,
                flat,
            )
        )
        print(results[-1], file=sys.stderr, flush=True)
    return results


def check(
    vectors: Vectors, wanted: Vectors, probes: Sequence[int], rng: np.random.Generator
) -> tuple[float, list[Closeness], list[Found]]:
    """The scale; every eighth row, grown to the number of all, beside all: cosines with the
    questions, and recall.
    """
    base, held = vectors[::EIGHTH], np.delete(vectors, np.s_[::EIGHTH], axis=0)
    near = neighbours(base)
    scale = scale_of(base, held, near, rng)
    rows, close = list[Found](), list[Closeness]()
    for name, some in (
        ("real", vectors),
        ("grown from an eighth", grown(base, near, scale, len(vectors), rng)),
    ):
        close.append(
            Closeness(
                name,
                tuple(
                    tuple(map(float, np.quantile(cosines, QUANTILES)))
                    for cosines in nearest(some, wanted, max(RANKS))[0].T[np.array(RANKS) - 1]
                ),
            )
        )
        rows += measured(name, some, wanted, probes)
    return scale, close, rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sources(parser)
    parser.add_argument(
        "--rows",
        type=whole_numbers,
        default=[20_000, 100_000, 1_000_000],
        help="sizes, such as 20000,1000000",
    )
    parser.add_argument(
        "--probes",
        type=whole_numbers,
        default=[approximate.PROBED],
        help="lists that a search looks at, such as 32,64",
    )
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given, rng = parser.parse_args(arguments), np.random.default_rng(0)
    try:
        data, model = merged(read(given), True), embedder(given.embedder, default_cache())
        if len(data.events) < EIGHTH * 2 * NEAR:
            raise InputError(
                f"{len(data.events)} sentences are too few to grow more from",
                where="data",
                cure="name more files",
            )
        wanted = model.embed([q.text for q in data.questions])
        vectors = np.concatenate(
            [
                model.embed([e.rendered() for e in data.events[at : at + LOT]])
                for at in range(0, len(data.events), LOT)
            ]
        )
    except HebbariumError as error:
        parser.error(str(error))
    scale, close, rows = check(vectors, wanted, given.probes, rng)
    near = neighbours(vectors) if max(given.rows) > len(vectors) else np.empty((0, NEAR), np.int64)
    for n in given.rows:
        if n > len(vectors):
            rows += measured("grown", grown(vectors, near, scale, n, rng), wanted, given.probes)
        elif n < len(vectors):
            rows += measured(
                "real", vectors[np.arange(n) * len(vectors) // n], wanted, given.probes
            )
    if given.json:
        print(
            json.dumps(
                {
                    "scale": scale,
                    "closeness": [asdict(closeness) for closeness in close],
                    "found": [asdict(row) for row in rows],
                },
                indent=2,
            )
        )
        return
    print_rows(
        f"cosines of {len(wanted):,} questions with their nearest of {len(vectors):,} rows, s = {scale:.2f}",
        ("vectors", *(f"rank {rank}: {', '.join(map(str, QUANTILES))}" for rank in RANKS)),
        [
            (closeness.vectors, *(", ".join(f"{q:.3f}" for q in at) for at in closeness.cosines))
            for closeness in close
        ],
    )
    print_rows("recall and cost", HEADS, [(r.vectors, f"{r.rows:,}", f"{r.lists:,}", str(r.probes),
                                           f"{r.recall:.3f}", f"{r.ms:.2f}",
                                            f"{r.ms_shortlist:.2f}",
                                            f"{r.ms_flat:.1f}") for r in rows])  # fmt: skip


if __name__ == "__main__":
    main()
