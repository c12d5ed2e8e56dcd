"""Hebbarium's contract and audit on the mechanism of this package, and what it does to a
ranking; install it first: `pip install -e .`.
"""

from __future__ import annotations

from hebbarium import Event
from hebbarium.testing import Build, MechanismTests

pytest_plugins = ["hebbarium.testing"]  # the fixtures `registry` and `build`


class TestMechanisms(MechanismTests):
    package = "hebbarium_simple"


def test_a_memory_without_near_neighbours_is_ranked_first(build: Build) -> None:
    memory = build("temporal_distinctiveness", "convex_fusion", "lexical_bm25")
    memory.encode_all(
        Event(hour, f"number {i}")
        for i, hour in enumerate((0.0, 0.01, 0.02, 10.0, 20.0, 20.01, 20.02), 1)
    )
    memory.advance(30.0)
    assert memory.retrieve("number", k=7).rows.tolist()[0] == 3
