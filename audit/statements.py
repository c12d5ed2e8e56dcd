"""The statements of the entries by which a rating can fall, as they were when ratings were last
written: `statements.json` holds, by mechanism, how many departures of each kind, proxies, forms and
phenomena its entry had, and which equations and numbers were not read in their paper.

A departure is in words, and no code tells that one is missing.  So an entry states what it once
stated, until `make ratings` writes another record, which a reviewer sees.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from ..engine.catalogue.registry import Entry, Registry
from ..reporting.files import write_json
from .facts import equation_read, is_of_a_paper, number_read

FILE: Final = Path(__file__).parent / "statements.json"
# what is counted beside the departures
OWN_KINDS: Final = ("proxies", "forms", "phenomena")
# how a source was read, the farthest from its paper first
READINGS: Final = (
    "not stated",
    "memory",
    "description",
    "reimplementation",
    "authors' code",
    "paper",
)


@dataclass(frozen=True, slots=True)
class EntryStatements:
    """What an entry states.

    departures  kind -> how many; `proxies`, `forms` and `phenomena` are kinds of their own
    read        equation or number -> how it was read, one of READINGS
    """

    departures: Mapping[str, int]
    read: Mapping[str, str]


def stated(entry: Entry) -> EntryStatements:
    """What an entry states now."""
    counts = Counter(d.kind for d in entry.departures)
    counts.update(
        proxies=len(entry.proxies), forms=len(entry.forms), phenomena=len(entry.phenomena)
    )
    equations = {
        f"the equation {e.id}": equation_read(entry, e) for e in entry.equations if e.paper
    }
    numbers = {
        f"the number {name}": number_read(entry, p)
        for name, p in entry.params.items()
        if is_of_a_paper(p)
    }
    return EntryStatements(
        {kind: n for kind, n in sorted(counts.items()) if n},
        {what: how or READINGS[0] for what, how in (equations | numbers).items()},
    )


@cache
def shipped() -> Mapping[str, EntryStatements]:
    """The records, by mechanism."""
    records = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        id: EntryStatements(record["departures"], record["read"]) for id, record in records.items()
    }


def written(registry: Registry) -> dict[str, dict[str, Any]]:
    """The content of the file: all of the mechanisms that ship but what was read in its paper."""
    records = dict[str, dict[str, Any]]()
    for entry in registry.entries.values():
        if registry.package_of(entry) is None:
            now = stated(entry)
            read = {what: how for what, how in now.read.items() if how != READINGS[-1]}
            records[entry.id] = {"departures": dict(now.departures), "read": read}
    return records


def write(registry: Registry) -> None:
    """Write the file."""
    write_json(FILE, written(registry), shared=True)
    shipped.cache_clear()


def missing(entry: Entry, record: EntryStatements | None) -> Iterator[str]:
    """What an entry stated and states no more, or says to be read nearer to its paper.

    record  None: there is none, such as of a mechanism of a package
    """
    if record is None:
        return
    now, cure = stated(entry), "if that is right, `make ratings` writes it down"
    for kind, count in record.departures.items():
        if now.departures.get(kind, 0) < count:
            said = kind if kind in OWN_KINDS else f"departures of the kind {kind}"
            yield f"{now.departures.get(kind, 0)} {said} are stated, of {count}; {cure}"
    for what, how in record.read.items():
        raised = now.read.get(what, how)
        if READINGS.index(raised) > READINGS.index(how):
            yield f"how {what} was read is now {raised!r}, and was {how!r}; {cure}"
