"""The set `default` against the sets of one signal on the demo data: a new loss fails, and so
does a loss that is gone and still listed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import script

from hebbarium.benchmarks.datasets import load
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.engine.ports.by_name import embedder
from hebbarium.engine.ports.embedding_cache import default_cache

DOCS = Path(__file__).parents[1] / "docs"
KNOWN: list[str] = []  # scores of the demo in which `default` is worse


def test_every_folder_of_beam_has_rows_of_its_own() -> None:
    table, folders = (
        script("default_against_parts"),
        [Path("chats") / size for size in ("100K", "500K", "1M")],
    )
    found = table.runs({"locomo": Path("locomo10.json"), "beam": folders, "longmemeval": None})
    assert found[:3] == [
        ("demo", "demo", None, "turn"),
        ("locomo", "locomo", Path("locomo10.json"), "turn"),
        ("locomo", "locomo", Path("locomo10.json"), "session"),
    ]
    assert found[3:] == [
        (f"beam {folder.name}", "beam", folder, unit)
        for folder in folders
        for unit in ("turn", "session")
    ]
    assert len(table.runs({"locomo": None, "beam": None, "longmemeval": None})) == 1, (
        "the demo alone"
    )


@pytest.mark.slow
def test_default_loses_to_its_parts_on_the_demo_only_where_the_page_says_so(tmp_path: Path) -> None:
    table = script("default_against_parts")
    found = table.scores(
        load("demo", None), embedder("minilm", default_cache()), tmp_path, Settings()
    )
    assert table.losses(found) == KNOWN, (
        "write docs/results/default-against-parts.md again, and change KNOWN with a reason"
    )
    page = (DOCS / "results" / "default-against-parts.md").read_text(encoding="utf-8")
    assert page.startswith(table.HEAD)
    assert [row for row in page.splitlines() if row.startswith("| demo,")] == table.lines(
        "demo, turns", found
    )
