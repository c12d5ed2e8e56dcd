"""Counts the functions of the engine that one event and one question enter, for docs/results/ways.md.

    python docs/tools/ways.py            # the tables of the page
    python docs/tools/ways.py question   # the functions of a question, in the order of first entry

The memory has the set `minimal` and 100 rows.  A call of the kind has run before, so that nothing is
counted that happens once a memory; the text is new, and is read and embedded.  Private helpers, properties and generators count; comprehensions
and lambdas belong to the function that holds them, and are counted apart.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any, Final
from unittest.mock import patch

import hebbarium as hb
from hebbarium.engine import __file__ as engine_file
from hebbarium.engine.base import kernels
from hebbarium.engine.ports.embedder import HashingEmbedder

ENGINE: Final = Path(engine_file).resolve().parent
ROWS: Final = 100


def entered(act: Callable[[], Any]) -> dict[CodeType, int]:
    """Code object of the engine -> how often it is entered, in the order of first entry; a
    generator is entered at each resumption.
    """
    calls: Counter[CodeType] = Counter()

    def note(frame: Any, event: str, what: Any) -> None:
        if event == "call":
            calls[frame.f_code] += 1

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return {code: count for code, count in calls.items() if place(code)}


def place(code: CodeType) -> str:
    """The file of the engine that holds the code, "" for code elsewhere."""
    path = Path(code.co_filename).resolve()
    return path.relative_to(ENGINE).as_posix() if path.is_relative_to(ENGINE) else ""


def is_function(code: CodeType) -> bool:
    """Whether the code is a function, and neither comprehension nor lambda."""
    return not code.co_name.startswith("<")


@patch.multiple(kernels, BEFORE_LOADING=0, BEFORE_COMPILING=0)  # machine code enters no function
def ways() -> dict[str, dict[CodeType, int]]:
    """What one event and one question of a memory of 100 rows enter."""
    memory = hb.memory("minimal", embedding=HashingEmbedder(64))
    for row in range(ROWS):
        memory.encode(hb.Event(row / 10.0, f"Anna told Ben about the blue boat, number {row}"))
    memory.retrieve("Who told Ben about number 3?", 5)
    return {
        "question": entered(lambda: memory.retrieve("Who told Ben about number 7?", 5)),
        "event": entered(lambda: memory.encode(hb.Event(ROWS / 10.0, "Ben sold the boat to Carl"))),
    }


def counts(calls: dict[CodeType, int]) -> tuple[int, int, int]:
    """Functions, functions with comprehensions and lambdas, and files."""
    functions = [code for code in calls if is_function(code)]
    return len(functions), len(calls), len({place(code) for code in calls})


def by_room(calls: dict[CodeType, int]) -> Counter[str]:
    """Functions by room of the engine."""
    return Counter(place(code).partition("/")[0] for code in calls if is_function(code))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("way", nargs="?", choices=("question", "event"))
    chosen = parser.parse_args().way
    by_way = ways()
    if chosen:
        for code, count in by_way[chosen].items():
            print(f"{count:5}  {place(code)}: {code.co_qualname}")
        return
    print("| way | functions | with comprehensions and lambdas | files |\n|---|---|---|---|")
    for way, calls in by_way.items():
        print(f"| {way} | {' | '.join(map(str, counts(calls)))} |")
    rooms = {way: by_room(calls) for way, calls in by_way.items()}
    print(f"\n| room | {' | '.join(rooms)} |\n|---|{'---|' * len(rooms)}")
    for room in sorted(set().union(*rooms.values())):
        print(f"| `{room}` | {' | '.join(str(rooms[way][room]) for way in rooms)} |")


if __name__ == "__main__":
    main()
