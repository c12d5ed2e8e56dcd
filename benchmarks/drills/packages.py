"""Installed packages that raise, exit or are no Python: each is named, and everything else
works.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
from pathlib import Path

from ...engine.catalogue.packages import GROUP
from ...engine.catalogue.registry import Registry
from ...engine.contract.records import Event
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import HashingEmbedder
from .children import started
from .flips import Make
from .tally import Tally

PROMISED = (
    "each broken package is named with a cure; ours, and a sound package, answer as without it"
)
MOST = 4  # broken packages at a time
SOUND, SET = "sound", "bm25"
MODULE = "from hebbarium.mechanisms.retrieval.recency import Recency\n"
# kind -> files that differ from those of a sound package
BROKEN: dict[str, dict[str, bytes]] = {
    "module raises": {"module.py": b"raise RuntimeError('no licence')\n"},
    "module raises no Exception": {"module.py": b"raise BaseException\n"},
    "module raises without words": {
        "module.py": b"class Odd(Exception):\n    def __str__(self): return 1 / 0\nraise Odd\n"
    },
    "module exits": {"module.py": b"import sys\nsys.exit(3)\n"},
    "module is no Python": {"module.py": b"def broken(:\n"},
    "module is no text": {"module.py": b"\xff\xfe\0"},
    "module needs another": {"module.py": b"import a_module_that_nobody_has\n"},
    "module lacks the class": {"module.py": b""},
    "package raises": {"__init__.py": b"raise RuntimeError('no room')\n"},
    "registry is no YAML": {"registry.yaml": b"a:\n  - b: [\n"},
    "registry is no text": {"registry.yaml": b"\xff\xfe\0"},
    "set of strangers": {"sets/strange.yaml": b"mechanisms: [nobody]\n"},
    "entry points are no text": {"entry_points.txt": f"[{GROUP}]\nx = caf\xe9\n".encode("latin-1")},
}


def packages(make: Make, events: list[Event], folder: Path, count: int, seed: int) -> Tally:
    """Install `count` broken packages, up to four at a time beside a sound one, and use ours and
    the sound one.

    make    not used; the memories are of a small set
    events  what they are told

    Cost: a process for each few.  Needs `os.fork`.
    """
    tally, chance, kinds, done = Tally("packages", PROMISED), random.Random(seed), sorted(BROKEN), 0
    right = _answered(Registry.read(), events, "recency")
    while done < count:
        broken = {
            f"broken{n}": kinds[n % len(kinds)]
            for n in range(done, min(done + chance.randint(1, MOST), count))
        }
        site = folder / f"site{done}"
        for name, kind in {SOUND: "", **broken}.items():
            _put(site, name, BROKEN.get(kind, {}))
        named, rest = _used(site, events)
        works = rest == right and len(named) == len(broken)
        for name, kind in broken.items():
            told = f"uninstall {name}" in named.get(f"{name} 1.0", "")
            outcome = f"{'named' if told else 'not named'}, {'the rest works' if works else f'the rest does not: {rest[:200]}'}"
            tally.count(kind, outcome, broken=not (told and works))
        done += len(broken)
    return tally


def _put(site: Path, name: str, files: dict[str, bytes]) -> None:
    """Install a package of one mechanism as a wheel would, with these files in place of sound
    ones.
    """
    entry = (
        Registry.read().entries["recency"].model_dump(mode="json", by_alias=True, exclude={"id"})
    )
    registry = {f"{name}_recency": {**entry, "class": f"{name}.module:Recency"}}
    sound = {
        "__init__.py": b"",
        "module.py": MODULE.encode(),
        "registry.yaml": json.dumps(registry).encode(),
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        "entry_points.txt": f"[{GROUP}]\nx = {name}\n".encode(),
    }
    for file, content in (sound | files).items():
        path = (
            site
            / (f"{name}-1.0.dist-info" if file in ("METADATA", "entry_points.txt") else name)
            / file
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _used(site: Path, events: list[Event]) -> tuple[dict[str, str], str]:
    """Use what is installed in a child process: the error of each distribution that is missing,
    and what a memory with the sound package answers.
    """

    def live(writer: int) -> None:
        sys.path.insert(0, str(site))
        importlib.invalidate_caches()
        try:
            registry = Registry.installed()
            named = {package.distribution: package.error for package in registry.unloadable()}
            rest = _answered(registry, events, f"{SOUND}_recency")
        except BaseException as error:  # the drill counts errors of every kind
            named, rest = {}, f"failed with {type(error).__name__}"
        with os.fdopen(writer, "w") as pipe:
            json.dump((named, rest), pipe)

    child, pipe = started(live)
    with pipe:
        content = pipe.readall() or b""
    os.waitpid(child, 0)
    named, rest = json.loads(content) if content else ({}, "ended without an answer")
    return named, rest


def _answered(registry: Registry, events: list[Event], id: str) -> str:
    """Rows and scores that a memory of a small set and one more mechanism gives for each text."""
    memory = Engine(
        [*registry.build(registry.set(SET)), registry.instance(id)], HashingEmbedder(16)
    )
    memory.encode_all(events)
    answers = [memory.retrieve(event.text) for event in events[:4]]
    return repr([(answer.rows.tolist(), answer.final.tolist()) for answer in answers])
