"""Make what ships of the human data: the curves of all people, and the trials of some.

    python docs/tools/people.py --data ltpfr3_even.tsv.gz

The table is made of the data of Pazdera & Kahana (2023), see benchmarks/people/data.py; it is not
part of the repository.  The files are written to benchmarks/people.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from hebbarium.benchmarks.people import data, free_recall, scores

PEOPLE_SHIPPED = {"fitting": 16, "reporting": 64}


def curves_of(
    trials: list[data.RecallTrial], length: int, ceilings: dict[str, float] | None = None
) -> dict[str, Any]:
    """Values, standard errors and noise ceilings, rounded.

    ceilings  of all people; a half, or a condition, has these: they are the differences between
              halves, of which one is compared
    """
    people = [free_recall.counts(own, length) for own in data.by_person(trials).values()]
    people = [counted for counted in people if counted["position"][1][0]]
    target = scores.target_of(people)
    means = free_recall.summary(free_recall.added(people))
    return {
        "people": len(people),
        "lists": int(sum(counted["position"][1][0] for counted in people)),
        **{name: round(value, 4) for name, value in means.items()},
        "curves": {
            name: {
                "values": np.round(curve["values"], 4).tolist(),
                "errors": np.round(curve["errors"], 4).tolist(),
                "ceiling": round(ceilings[name] if ceilings else curve["ceiling"], 5),
            }
            for name, curve in target.items()
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    trials = data.read_trials(parser.parse_args().data)
    halves = {h: [t for t in trials if data.half(t.person) == h] for h in data.HALVES}
    conditions = {
        f"{rate} ms, {distractor} ms, {modality}": (rate, distractor, modality)
        for rate, distractor, modality in product((800, 1600), (12000, 24000), "va")
    }
    everyone = {length: curves_of(trials, length) for length in data.LENGTHS}
    ceilings = {
        length: {name: curve["ceiling"] for name, curve in of["curves"].items()}
        for length, of in everyone.items()
    }
    shipped: dict[str, Any] = {"source": data.ATTRIBUTION, "of": "people of even numbers"}
    shipped["all"] = {str(length): of for length, of in everyone.items()}
    for name, own in halves.items():
        shipped[name] = {
            str(length): curves_of(own, length, ceilings[length]) for length in data.LENGTHS
        }
    shipped["conditions"] = {
        condition: {
            str(length): curves_of(
                [t for t in trials if (t.rate, t.distractor, t.modality) == values],
                length,
                ceilings[length],
            )
            for length in data.LENGTHS
        }
        for condition, values in conditions.items()
    }
    data.PEOPLE.write_text(
        json.dumps(shipped, separators=(",", ":")).replace('},"', '},\n"') + "\n", encoding="utf-8"
    )
    chosen: list[data.RecallTrial] = []
    for name, count in PEOPLE_SHIPPED.items():
        people = data.by_person(halves[name])
        names = sorted(people)
        for place in np.linspace(0, len(names) - 1, count).round().astype(int):
            chosen += people[names[place]]
    data.TRIALS.write_text(data.written(chosen), encoding="utf-8")
    for path in (data.PEOPLE, data.TRIALS):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
