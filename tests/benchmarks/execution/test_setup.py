"""What runs, probes and worlds share: one record with a key, and one digest of code."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from hebbarium.benchmarks.execution.setup import Setup, code_version
from hebbarium.benchmarks.execution.spec import RunSpec
from hebbarium.benchmarks.probes.harness.run import ProbeSpec
from hebbarium.benchmarks.worlds.run import WorldSpec

SHARED: dict[str, Any] = {
    "arm": "full", "system": "hebbarium", "system_revision": "", "set": "small", "set_digest": "1",
    "mechanisms": {"recency": {"weight": 0.2}},
    "files": {}, "registry_digest": "2", "embedder": "hashing", "embedder_revision": "1",
    "embedder_dimensions": 32, "code": "0.1.0+abc",
    "versions": {"numpy": "2.4.0"}}  # fmt: skip
PROBE = ProbeSpec(**SHARED, probe="paired_associates/words", seed=0)
WORLD = WorldSpec(**SHARED, world="journeys/used", strength=1.0, seed=0)


class Bare(Setup):
    """A record with the shared fields alone."""

    KIND = "bare"


class Other(Setup):
    """The same of another kind."""

    KIND = "other"


def changed(value: Any) -> Any:
    return (
        {**value, "x": {"y": 1.0}}
        if isinstance(value, dict)
        else value + ("x" if isinstance(value, str) else 1)
    )


def test_records_of_two_kinds_never_have_one_key() -> None:
    assert Bare(**SHARED).key() != Other(**SHARED).key()
    assert len({kind.KIND for kind in (RunSpec, ProbeSpec, WorldSpec)}) == 3


@pytest.mark.parametrize(
    ("record", "name"),
    [(record, f.name) for record in (PROBE, WORLD) for f in fields(record)],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_the_key_follows_every_field_that_decides_and_no_other(
    record: ProbeSpec | WorldSpec, name: str
) -> None:
    told = {"ProbeSpec": {"arm"}, "WorldSpec": {"arm", "set"}}[type(record).__name__]
    other = replace(record, **{name: changed(getattr(record, name))})
    assert (other.key() == record.key()) == (name in told)


def test_the_digest_of_code_follows_the_content_of_the_files_and_the_folders(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text("x = 1\n")
    second.write_text("x = 2\n")
    known = [
        code_version(("engine",)),
        code_version(("engine",), (first,)),
        code_version(("engine",), (second,)),
        code_version(("mechanisms",), (first,)),
        code_version(),
    ]
    assert len(set(known)) == 5 and len({version.partition("+")[0] for version in known}) == 1
    first.write_text(second.read_text())
    code_version.cache_clear()
    assert code_version(("engine",), (first,)) == known[2]
