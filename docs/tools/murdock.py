"""Make what ships of Murdock (1962): the curves of all lists, and the recalls of some.

    python docs/tools/murdock.py --data FOLDER

FOLDER has the files fr10-2.txt to fr40-1.txt, see benchmarks/people/data.py; they are not part of
the repository.  A line is a list: positions in order of recall, 88 for a word of no list.  The files
name no people and no words.  Each has 1,200 lines, taken as 15 people of 80 lists in order; people
of an even place are fitted, the others reported.  What ships has words of the delayed experiment.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from people import curves_of

from hebbarium.benchmarks.people import data

PEOPLE, LISTS = 15, 80
SHIPPED = {"fitting": 16, "reporting": 64}
EACH = 2  # lists of a condition that a shipped person has
BETWEEN_RECALLS = 3_000  # ms; times are not in the files
UNKNOWN = ("intrusions", "pauses")  # curves that the files do not give
OF_NO_LIST = -999


def read(folder: Path, length: int, rate: int) -> list[list[int]]:
    """The recalls of each list of a condition."""
    text = (folder / f"fr{length}-{rate}.txt").read_text(encoding="ascii")
    lines = [line for line in text.splitlines() if line.split() != ["0"]]  # 0 ends a file
    assert len(lines) == PEOPLE * LISTS, f"fr{length}-{rate}.txt has {len(lines)} lines"
    places = [list(map(int, line.split())) for line in lines]
    return [[p if p <= length else OF_NO_LIST for p in recalls] for recalls in places]


def trial(
    person: str, number: int, rate: int, words: tuple[str, ...], recalls: list[int]
) -> data.RecallTrial:
    times = tuple(BETWEEN_RECALLS * n for n in range(1, len(recalls) + 1))
    return data.RecallTrial(person, number, "a", 1000 * rate, 0, words, tuple(recalls), times)


def known(curves: dict[str, Any]) -> dict[str, Any]:
    """Without what the files do not give."""
    del curves["intrusions"]
    for name in UNKNOWN:
        curves["curves"][name] = {
            "values": [None] * len(curves["curves"][name]["values"]),
            "errors": [None] * len(curves["curves"][name]["values"]),
            "ceiling": 0.0,
        }
    return curves


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    folder = parser.parse_args().data
    shipped: dict[str, Any] = {"source": data.MURDOCK_ATTRIBUTION, "of": "15 people a condition"}
    lists: dict[str, dict[tuple[int, int], list[list[int]]]] = {half: {} for half in data.HALVES}
    for length, rate in data.MURDOCK:
        recalled, condition = read(folder, length, rate), f"{length}-{rate}"
        nothing = tuple("?" * (i + 1) for i in range(length))
        trials = [
            trial(f"P{n // LISTS}", n % LISTS + 1, rate, nothing, recalls)
            for n, recalls in enumerate(recalled)
        ]
        everyone = curves_of(trials, length)
        ceilings = {name: curve["ceiling"] for name, curve in everyone["curves"].items()}
        shipped.setdefault("all", {})[condition] = known(everyone)
        for place, half in enumerate(data.HALVES):
            own = [t for t in trials if int(t.person[1:]) % 2 == place]
            shipped.setdefault(half, {})[condition] = known(curves_of(own, length, ceilings))
            lists[half][length, rate] = [list(t.recalls) for t in own]
    data.MURDOCK_PEOPLE.write_text(
        json.dumps(shipped, separators=(",", ":")).replace('},"', '},\n"') + "\n", encoding="utf-8"
    )
    stream = np.random.default_rng(0)
    pool = sorted({word for t in data.shipped_trials() for word in t.words})
    chosen: list[data.RecallTrial] = []
    for half, count in SHIPPED.items():
        for n in range(count):
            # half() reads the half of the number: even is fitted
            person = f"M{4 * n + (4 if half == 'fitting' else 2):03d}"
            conditions = [condition for condition in data.MURDOCK for _ in range(EACH)]
            order = [conditions[i] for i in stream.permutation(len(conditions))]
            words = iter(stream.permutation(pool).tolist())
            for number, (length, rate) in enumerate(order, 1):
                own = lists[half][length, rate]
                recalls = own[int(stream.integers(len(own)))]
                told = tuple(next(words) for _ in range(length))
                chosen.append(trial(person, number, rate, told, recalls))
    data.MURDOCK_TRIALS.write_text(data.written(chosen), encoding="utf-8")
    for path in (data.MURDOCK_PEOPLE, data.MURDOCK_TRIALS):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
