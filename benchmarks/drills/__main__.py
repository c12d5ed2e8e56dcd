"""`python -m hebbarium.benchmarks.drills NAME --count N --seed S`: run one drill and print its
counts; exit 1 if a fault broke the promise.  `mutants` runs each drill with code that is broken on
purpose, which it must report.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ...engine.base.errors import HebbariumError
from ...engine.catalogue.registry import Registry
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from ...reporting.files import write_json
from ...reporting.output import put
from ...reporting.provenance import commit
from ..datasets.demo import load_demo
from ..edits.planted import planted
from .cache import cache
from .calls import calls
from .flips import flips
from .fork import fork
from .kills import kills
from .mutants import MUTANTS, DrillMutant
from .nights import making, nights
from .orphans import orphans
from .packages import packages
from .readers import readers
from .sweeps import small, sweep, sweeps
from .tally import Tally
from .texts import texts
from .threads import threads
from .users import users
from .writes import writes

EVENTS = 40
OF_TICKS = ("kills", "nights")  # drills of what holds without a log of calls


def small_memory(name: str, durable: bool = True) -> Callable[[Path], Engine]:
    """Opens memories of one set with 16 dimensions."""
    registry = Registry.read()
    mechanisms = registry.build(registry.set(name))
    return lambda path: Engine(mechanisms, HashingEmbedder(16), path=path, durable=durable)


def run(name: str, count: int, seed: int, set_name: str | None, folder: Path) -> Tally:
    """Run one drill over the first events of the demo conversation, the drill `nights` over all of
    it with turns to merge, split and update, the drill `sweeps` over the first events of every
    conversation.

    set_name  None: `true_memory`; for `nights` the mechanisms that make memories; `sweeps` has a
              set of its own
    """
    try:
        return _run(name, count, seed, set_name, folder)
    except HebbariumError:  # of a set that does not exist
        raise
    except Exception as error:  # a drill that ends so has not kept its promise
        tally = Tally(name, "the drill ends")
        tally.count("the drill", f"failed with {type(error).__name__}: {error}", broken=True)
        return tally


def _run(name: str, count: int, seed: int, set_name: str | None, folder: Path) -> Tally:
    if name == "sweeps":
        return sweeps(sweep(Registry.read()), small(load_demo(None, None)), folder, count, seed)
    conversation = load_demo(None, 1).conversations[0]
    events = list(
        planted(conversation, 0, 0)[0].events if name == "nights" else conversation.events[:EVENTS]
    )
    make = (
        making()
        if name == "nights" and set_name is None
        else small_memory(set_name or "true_memory", name not in OF_TICKS)
    )
    try:
        return DRILLS[name](make, events, folder, count, seed)
    except HebbariumError as error:
        raise RuntimeError(str(error)) from error


DRILLS: dict[str, Callable[..., Tally]] = {
    "cache": cache, "calls": calls, "flips": flips, "fork": fork, "kills": kills, "nights": nights,
    "orphans": orphans, "packages": packages,
    "readers": readers, "texts": texts, "threads": threads, "users": users, "writes": writes}  # fmt: skip


def caught(mutant: DrillMutant) -> Tally:
    """The drill of a mutant with the code that it breaks: its promise must be broken."""
    with tempfile.TemporaryDirectory() as folder, mutant.breaks():
        return run(mutant.drill, mutant.count, 1, mutant.set_name, Path(folder))


def _all_caught() -> int:
    """Run every mutant of trust; 1 if a drill does not report its fault."""
    missed = 0
    for mutant in MUTANTS:
        broken = caught(mutant).broken
        missed += not broken
        put(
            f"{mutant.drill:<9} {mutant.what}: {broken[0].splitlines()[0] if broken else 'NOT SEEN'}"
        )
    put(f"{len(MUTANTS)} mutants of trust, {missed or 'none'} not seen")
    return int(missed > 0)


def record(file: Path, tally: Tally, seed: int, set_name: str | None) -> None:
    """Put the counts of a drill into a JSON file of all drills, in place of earlier ones, with
    what is needed to make them again.
    """
    held = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    kinds = sorted({kind for kind, _ in tally.outcomes})
    held[tally.name] = {
        "promised": tally.promised,
        "faults": tally.total,
        "seed": seed,
        "set": set_name or "",
        "commit": commit(),
        "broken": len(tally.broken),
        "outcomes": {
            kind: {out: n for (of, out), n in sorted(tally.outcomes.items()) if of == kind}
            for kind in kinds
        },
    }
    write_json(file, dict(sorted(held.items())), shared=True)


def _count(given: str) -> int:
    """Raises ArgumentTypeError, which argparse prints."""
    if not given.isdecimal() or int(given) < 1:
        raise argparse.ArgumentTypeError(
            f"{given!r} is no number of faults; give a whole number from 1 on"
        )
    return int(given)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="drills", description="Make faults on purpose, and count what came of them."
    )
    parser.add_argument("drill", choices=sorted((*DRILLS, "mutants", "sweeps")))
    parser.add_argument("--count", type=_count, default=100, help="faults to make")
    parser.add_argument(
        "--seed", type=int, default=1, help="which faults; equal seeds make equal ones"
    )
    parser.add_argument(
        "--set",
        dest="set_name",
        help="mechanism set of the memories; true_memory if not given, for nights what makes memories",
    )
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="write the counts into a JSON file of all drills, with seed, set and commit",
    )
    given = parser.parse_args(arguments)
    if given.drill == "mutants":
        return _all_caught()
    try:
        with tempfile.TemporaryDirectory() as folder:
            tally = run(given.drill, given.count, given.seed, given.set_name, Path(folder))
    except HebbariumError as error:
        put(str(error), err=True)
        return error.exit_code
    put("\n".join(tally.lines()))
    if given.record:
        record(given.record, tally, given.seed, given.set_name)
    return 1 if tally.broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
