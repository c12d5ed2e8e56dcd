"""Counts the functions of the engine that one event and one question enter, for docs/results/ways.md.

    python docs/tools/ways.py            # the tables of the page
    python docs/tools/ways.py question   # the functions of a question, in the order of first entry
    python docs/tools/ways.py "question without hooks"

The memory has the set `minimal` and 100 rows.  A call of the kind has run before, so that nothing is
counted that happens once a memory; the text is new, and is read and embedded.  Private helpers,
properties, generators and compiled kernels count; comprehensions and lambdas belong to the function
that holds them, and are counted apart.  The way without hooks leaves out what the engine does for
the hooks of mechanisms: what is left is what a reader follows to see how a call is carried out,
whichever mechanisms are on.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, Final
from unittest.mock import patch

import hebbarium as hb
from hebbarium.engine import __file__ as engine_file
from hebbarium.engine.base import kernels
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms import __file__ as mechanisms_file

ENGINE: Final = Path(engine_file).resolve().parent
MECHANISMS: Final = Path(mechanisms_file).resolve().parent
ROWS: Final = 100
WAYS: Final = ("question", "event", "question without hooks", "event without hooks")


def entered(act: Callable[[], Any]) -> tuple[dict[CodeType, int], dict[CodeType, int]]:
    """Code object of the engine -> how often it is entered, in the order of first entry; a
    generator is entered at each resumption.  Of the whole call, and without what mechanisms call.
    """
    whole, without_hooks = Counter[CodeType](), Counter[CodeType]()
    within = 0  # functions of mechanisms that have not returned

    def note(frame: Any, event: str, what: Any) -> None:
        nonlocal within
        if event not in ("call", "return"):
            return
        if of_mechanism(frame.f_code):
            within += 1 if event == "call" else -1
        elif event == "call" and place(frame.f_code):
            whole[frame.f_code] += 1
            if not within:
                without_hooks[frame.f_code] += 1

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return whole, without_hooks


@cache
def of_mechanism(code: CodeType) -> bool:
    """Whether the code is that of a mechanism, or of what mechanisms share."""
    return Path(code.co_filename).resolve().is_relative_to(MECHANISMS)


@cache
def place(code: CodeType) -> str:
    """The file of the engine that holds the code, "" for code elsewhere."""
    path = Path(code.co_filename).resolve()
    return path.relative_to(ENGINE).as_posix() if path.is_relative_to(ENGINE) else ""


def is_function(code: CodeType) -> bool:
    """Whether the code is a function, and neither comprehension nor lambda."""
    return not code.co_name.startswith("<")


@patch.multiple(kernels, BEFORE_LOADING=0, BEFORE_COMPILING=0)  # as in a memory that is in use
def ways() -> dict[str, dict[CodeType, int]]:
    """What one event and one question of a memory of 100 rows enter, by the names of the ways."""
    memory = hb.memory("minimal", embedding=HashingEmbedder(64))
    for row in range(ROWS):
        memory.encode(hb.Event(row / 10.0, f"Anna told Ben about the blue boat, number {row}"))
    memory.retrieve("Who told Ben about number 3?", 5)
    question = entered(lambda: memory.retrieve("Who told Ben about number 7?", 5))
    event = entered(lambda: memory.encode(hb.Event(ROWS / 10.0, "Ben sold the boat to Carl")))
    return dict(zip(WAYS, (question[0], event[0], question[1], event[1]), strict=True))


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
    parser.add_argument("way", nargs="?", choices=WAYS)
    chosen, by_way = parser.parse_args().way, ways()
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
