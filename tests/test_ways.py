"""The ways of an event and of a question enter no more functions and files than
docs/results/ways.md says.
"""

from __future__ import annotations

from scripts import DOCS, script


def stated() -> dict[str, tuple[int, ...]]:
    """Way -> the counts of its row on the page."""
    lines = (DOCS / "results" / "ways.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    ways = script("ways").WAYS
    return {row[0]: tuple(map(int, row[1:])) for row in rows if row[0] in ways}


def test_the_ways_have_not_grown() -> None:
    """If one has: think of why each new function is entered at each call; if that is right, run
    `python docs/tools/ways.py` and put its tables into the page.
    """
    tool = script("ways")
    measured = {way: tool.counts(calls) for way, calls in tool.ways().items()}
    for way, most in stated().items():
        assert all(count <= limit for count, limit in zip(measured[way], most, strict=True)), (
            f"{way} enters {measured[way]} functions, all code and files; the page says {most}"
        )
    assert measured.keys() == stated().keys()


def test_what_mechanisms_call_is_left_out_of_the_ways_without_hooks() -> None:
    ways = script("ways").ways()
    for way in ("question", "event"):
        whole = {code.co_qualname for code in ways[way]}
        without = {code.co_qualname for code in ways[f"{way} without hooks"]}
        called = {"Graph.csr", "Mechanism.hours"}  # by mechanisms alone
        assert without < whole and called <= whole and not called & without
        assert "PhasePlan._do" in without


def test_generators_and_private_helpers_are_counted() -> None:
    names = {code.co_qualname for code in script("ways").ways()["question"]}
    assert {"PhasePlan._do", "Turns._taken", "Engine.retrieve"} <= names
