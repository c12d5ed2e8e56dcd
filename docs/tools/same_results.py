"""Writes what the code computes, and compares what two versions of it have written.

    python docs/tools/same_results.py write before.json     # in a checkout of the one version
    python docs/tools/same_results.py write after.json      # in a checkout of the other
    python docs/tools/same_results.py compare before.json after.json [--renamed OLD=NEW ...]

Digests of lives with answers, rows of `run`, `ablate`, `probe` and `world` on what needs no data, and
the JSON of `audit`, each without what tells the version, the machine or the time.  `compare` prints
each value that differs and exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import hebbarium as hb

EMBEDDER: Final = "hashing:64"
SETS: Final = ("minimal", "hybrid", "waking", "default", "everything")
SHOWN: Final = 20  # differences of one result that are printed
# keys whose values tell of the version, the machine or the time
PASSING: Final = frozenset(
    {
        "code", "commit", "version", "versions", "python", "platform", "machine", "processor", "created",
        "started", "finished", "seconds", "ms", "us", "cpu", "wall", "times", "key", "keys", "digest",
        "registry_digest", "source", "jobs", "out", "folder", "path", "command", "argv", "provenance",
        "made", "date", "environment", "packages", "took", "peak", "memory_mb", "threads", "citation", "seconds_per_event", "hits",
        "misses",
    }
)  # fmt: skip
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "run": ("run", "--dataset", "demo", "--set", "waking"),
    "ablate": ("ablate", "--dataset", "demo", "--set", "minimal"),
    "probe": ("probe", "abstention", "permastore", "--set", "waking", "--seeds", "2"),
    "world": ("world", "needs", "--set", "minimal", "--seeds", "2", "--strengths", "1"),
    "audit": ("audit", "recency", "heat", "lexical_bm25", "hebbian_association", "--no-mutants"),
}  # fmt: skip
PEOPLE: Final = ("Ada", "Ben", "Carl", "Dora")
THINGS: Final = (
    "a blue boat",
    "the garden",
    "a walnut cake",
    "her sister in Lisbon",
    "load_config()",
)


def life(name: str) -> dict[str, Any]:
    """Answers and digests of a memory of a set: 90 events in five days, every ninth followed by a
    question that learns, and questions at the end.
    """
    memory = hb.memory(name, embedding=EMBEDDER)
    answers = list[Any]()
    for number in range(90):
        speaker, thing = PEOPLE[number % 4], THINGS[number * 7 % 5]
        text = f"{speaker} told {PEOPLE[number // 4 % 4]} about {thing}, the {number}th time."
        memory.encode(hb.Event(number * 1.3, text, speaker, session=f"s{number // 10}"))
        if number % 9 == 8:
            answers.append(
                _plain(memory.retrieve(f"What did {speaker} say of {thing}?", 5, learn=True))
            )
    memory.advance(memory.now + 60.0)
    for person in PEOPLE:
        answers.append(_plain(memory.retrieve(f"Who did {person} tell about the cake?", 10)))
    context = memory.context("What is there to eat?", 200)
    return {"digest of the state": memory.digest(), "answers": answers, "context": context.text}


def _plain(answer: Any) -> dict[str, Any]:
    return {"rows": answer.rows.tolist(), "scores": [float(score).hex() for score in answer.scores]}


def result(arguments: tuple[str, ...]) -> dict[str, Any]:
    """The rows and JSON files that a command writes, without what passes."""
    with TemporaryDirectory() as folder:
        given = () if arguments[0] == "audit" else ("--embedder", EMBEDDER)
        done = subprocess.run(
            [sys.executable, "-m", "hebbarium", *arguments, *given, "--out", folder],
            capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
        files = dict[str, Any]()
        for file in sorted(Path(folder).iterdir()):
            text = file.read_text(encoding="utf-8") if file.suffix in (".json", ".jsonl") else ""
            if file.suffix == ".json" and file.stem != "manifest":
                files[file.name] = json.loads(text)
            elif file.suffix == ".jsonl" and file.stem != "times":
                rows = [lasting(json.loads(line)) for line in text.splitlines()]
                files[file.name] = sorted(rows, key=json.dumps)
        return {
            "exit code": done.returncode,
            "error": done.stderr[-500:] * (not files),
            **lasting(files),
        }


def lasting(value: Any) -> Any:
    """The value without the keys that pass."""
    if isinstance(value, dict):
        return {
            key: lasting(held)
            for key, held in value.items()
            if key not in PASSING and not key.endswith(("_ms", "_seconds", "_us"))
        }
    return [lasting(held) for held in value] if isinstance(value, list) else value


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Each number or text in a result, with its place."""
    if isinstance(value, dict | list):
        for key, held in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(held, f"{place}/{key}")
    else:
        yield place, value


def compared(before: Any, after: Any, renamed: Mapping[str, str]) -> list[str]:
    """One line for each place at which two results differ, and one for each with their digest."""
    lines = list[str]()
    for name in dict.fromkeys((*before, *after)):
        old = {
            "/".join(renamed.get(key, key) for key in place.split("/")): value
            for place, value in leaves(before.get(name, {}))
        }
        new = dict(leaves(after.get(name, {})))
        odd = [place for place in dict.fromkeys((*old, *new)) if old.get(place) != new.get(place)]
        digest = hashlib.sha256(json.dumps(new, sort_keys=True).encode()).hexdigest()[:16]
        print(f"{name}: {len(new)} values, {len(odd)} differ, {digest}")
        lines += [f"  {name}{place}: {old.get(place)} -> {new.get(place)}" for place in odd[:SHOWN]]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    write = verbs.add_parser("write")
    write.add_argument("file", type=Path)
    compare = verbs.add_parser("compare")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    compare.add_argument("--renamed", action="append", default=[], metavar="OLD=NEW")
    given = parser.parse_args()
    if given.verb == "write":
        results = {f"life of {name}": life(name) for name in SETS}
        for name, arguments in COMMANDS.items():
            print(name, file=sys.stderr)
            results[name] = result(arguments)
        given.file.write_text(json.dumps(results), encoding="utf-8")
        return 0
    before, after = (
        json.loads(file.read_text(encoding="utf-8")) for file in (given.before, given.after)
    )
    lines = compared(before, after, dict(pair.split("=") for pair in given.renamed))
    print("\n".join(lines) or "all equal")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
