"""`python -m hebbarium.benchmarks.edits --out OUT`: count the erroneous edits of planted
conversations at each gate; exit 1 beyond the goal.

Writes edits.json and edits.svg.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...engine.base.errors import HebbariumError
from ...engine.ports.by_name import embedder
from ...engine.ports.embedding_cache import default_cache
from ...reporting.files import results_folder, write_json, write_whole
from ...reporting.output import put
from ..datasets.base import Conversation
from ..datasets.demo import load_demo
from .drawn import GOAL, to_svg
from .measure import GATES, Edit, Point, measured
from .planted import Truth, planted
from .sentences import GROUPS

REPORT, CALIBRATION = 1, 0  # halves: odd conversations and sentences, and even ones
GATE = 0.9
# Seeds of the first plantings; those below 10 were looked at while the rules were mended.
FIRST = {"first": 10, "second": 100, "third": 200, "fourth": 300, "fifth": 400}


# groups that are planted in one half of the conversations
OWN_HALF = {"fourth": CALIBRATION, "fifth": REPORT}


def talks(half: int, plantings: int, limit: int | None = None) -> list[tuple[Conversation, Truth]]:
    """The conversations of one half of the demo, each planted so many times, and what is known
    of them.
    """
    own = [c for place, c in enumerate(load_demo().conversations) if place % 2 == half][:limit]
    seeds = range(FIRST["first"], FIRST["first"] + plantings)
    return [planted(conversation, seed, half) for seed in seeds for conversation in own]


def independent(
    group: str, plantings: int, limit: int | None = None
) -> list[tuple[Conversation, Truth]]:
    """The conversations of the demo, or the half of the group, with sentences of the group; each
    gets both halves of the sentences in turn.
    """
    own = [
        (place, c)
        for place, c in enumerate(load_demo().conversations)
        if OWN_HALF.get(group, place % 2) == place % 2
    ][:limit]
    seeds = range(FIRST[group], FIRST[group] + plantings)
    return [
        planted(conversation, seed, (seed + place) % 2, GROUPS[group])
        for seed in seeds
        for place, conversation in own
    ]


def document(points: Sequence[Point], edits: dict[float, list[Edit]], **how: Any) -> dict[str, Any]:
    """What edits.json holds: how it was measured, a line for each gate and operator, and the
    erroneous edits of each gate.
    """
    wrong = {
        f"{gate:g}": [asdict(edit) for edit in made if edit.right is False]
        for gate, made in edits.items()
    }
    return {
        **how,
        "goal": {"gate": GATE, "share": GOAL},
        "points": [p.named() for p in points],
        "erroneous": wrong,
    }


def table(points: Sequence[Point]) -> list[str]:
    """Lines of a table."""
    head = (
        f"{'gate':>5}  {'operator':<9} {'edits':>6} {'erroneous':>10} {'share':>7} {'95 % interval':>15} {'possible':>9} {'found':>7} "
        f"{'undecided':>10}"
    )
    lines = [head]
    for p in points:
        low, high = p.interval
        lines.append(
            f"{p.gate:>5g}  {p.operator:<9} {p.edits:>6} {p.erroneous:>10} {p.share:>7.3f} {f'{low:.3f} to {high:.3f}':>15} "
            f"{p.possible:>9} {p.found:>7.3f} {p.undecided:>10}"
        )
    return lines


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="edits",
        description="Count the erroneous edits of a memory's topology, where the truth is known.",
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="folder for edits.json and edits.svg"
    )
    parser.add_argument("--embedder", default="minilm", help="as of `hebbarium run`")
    parser.add_argument(
        "--plantings", type=int, default=2, help="how many times each conversation is planted anew"
    )
    parser.add_argument("--limit", type=int, help="only the first conversations")
    parser.add_argument(
        "--gates",
        default=",".join(f"{gate:g}" for gate in GATES),
        help="gates, separated by commas",
    )
    parser.add_argument(
        "--calibration",
        action="store_true",
        help="the half that the confidences were calibrated on, not that of the report",
    )
    parser.add_argument(
        "--json", action="store_true", help="print edits.json in place of the table"
    )
    parser.add_argument(
        "--sentences",
        choices=tuple(GROUPS),
        default="first",
        help="group of sentences to plant; the others than the first are planted in both halves",
    )
    given = parser.parse_args(arguments)
    if given.calibration and given.sentences != "first":
        parser.error(
            "argument --calibration: only the first group of sentences is halved; leave out --calibration or --sentences"
        )
    try:
        gates = tuple(float(gate) for gate in given.gates.split(","))
    except ValueError:
        parser.error(f"argument --gates: {given.gates!r} are no numbers; give some as 0.5,0.9")
    half = CALIBRATION if given.calibration else REPORT
    named = (
        "both" if given.sentences != "first" else "calibration" if given.calibration else "report"
    )
    try:
        out = results_folder(given.out)
        chosen = (
            talks(half, given.plantings, given.limit)
            if given.sentences == "first"
            else independent(given.sentences, given.plantings, given.limit)
        )
        points, edits = measured(
            chosen,
            embedder(given.embedder, default_cache()),
            gates,
            lambda gate: put(f"gate {gate:g}", err=True),
        )
    except HebbariumError as error:
        put(f"error: {error}", err=True)
        return 2
    page = document(
        points,
        edits,
        half=named,
        sentences=given.sentences,
        embedder=given.embedder,
        plantings=given.plantings,
    )
    write_json(out / "edits.json", page, shared=True)
    write_whole(out / "edits.svg", [to_svg(points)], shared=True)
    put(json.dumps(page, indent=1) if given.json else "\n".join(table(points)))
    return int(any(p.gate == GATE and p.operator == "all" and p.share > GOAL for p in points))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
