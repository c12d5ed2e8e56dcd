"""The table of simulated levels in the documentation is what its script computes, and says what
the page claims.
"""

from __future__ import annotations

import sys
from importlib import util
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parent.parent.parent.parent / "docs"


@pytest.fixture(scope="module")
def script() -> Any:
    spec = util.spec_from_file_location("simulate_tests", DOCS / "tools" / "simulate_tests.py")
    assert spec and spec.loader
    # dataclasses look up their module by name
    module = sys.modules["simulate_tests"] = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_table_of_the_page_is_the_simulated_one(script: Any) -> None:
    """If not, run `python docs/tools/simulate_tests.py`."""
    page, made = script.PAGE.read_text(encoding="utf-8"), script.table()
    assert script.written(page, made) == page and made in page
    cells = [[float(cell) for cell in line.split("|")[2:-1]] for line in made.splitlines()[2:]]
    assert len(cells) == len(script.DESIGNS) == 4
    bound = 0.05 + 2.0 * (0.05 * 0.95 / script.EXPERIMENTS) ** 0.5
    for t, flip, covers, boot, equivalent, _, _ in cells:
        # both are rounded
        assert (
            t <= bound
            and flip <= bound
            and equivalent <= bound
            and covers == pytest.approx(1.0 - t, abs=1.1e-3)
        )
        assert boot < covers, "the bootstrap is too narrow"
    assert cells[0][1] == 0.0, "five conversations: the sign flip cannot reject"
    assert cells[0][5] > 0.1, "and clumps defeat equivalence"
    assert cells[3][3] >= 0.93 and cells[0][3] < 0.9, (
        "35 conversations are enough for the bootstrap, and 5 are not"
    )
    assert all(abs(row[6] - script.POWER) <= 0.05 for row in cells), (
        "the power is that of the formula"
    )


def test_a_wrong_number_of_conversations_would_be_noticed(script: Any) -> None:
    """Questions taken as independent, one conversation each, reject far too often: the
    simulation can fail.
    """
    import numpy as np

    from hebbarium.benchmarks.scores.cluster_robust import cluster_t

    rng, sizes = np.random.default_rng(5), script.DESIGNS["10, as LoCoMo (105 to 260 questions)"]
    ids, rejected = np.repeat(np.arange(10), sizes), 0
    for _ in range(100):
        y = script.CORRELATION**0.5 * rng.normal(size=10)[ids] + (
            1.0 - script.CORRELATION
        ) ** 0.5 * rng.normal(size=len(ids))
        rejected += (cluster_t(y, np.arange(len(ids))).p or 0.0) <= 0.05
    assert rejected > 40


def finished(folder: Path, m: int = 6, n: int = 300) -> Path:
    """A leave-one-out whose arms change questions at random, as its files."""
    import json

    import numpy as np

    rng = np.random.default_rng(3)
    full = rng.integers(0, 2, size=n)
    keys = [{"conversation": f"c{i % 5}", "question": f"q{i}"} for i in range(n)]
    rows = [
        {**key, "arm": "full", "gold": ["e"], "ranks": [1 if hit else 0]}
        for key, hit in zip(keys, full.tolist(), strict=True)
    ]
    lines = []
    for arm in range(m):
        moved = rng.random(n) < 0.3
        for key, hit, change in zip(keys, full.tolist(), moved.tolist(), strict=True):
            value = (1.0 if hit else -1.0) if change else 0.0
            lines.append({**key, "estimate": f"m{arm}", "dataset": "d", "value": value})
    for name, content in (("rows.jsonl", rows), ("estimates.jsonl", lines)):
        text = "".join(json.dumps(line) + "\n" for line in content)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "design.json").write_text('{"set": "made"}', encoding="utf-8")
    return folder


@pytest.mark.slow
def test_scopes_are_simulated_on_finished_rows(script: Any, tmp_path: Path) -> None:
    of = script.Measured.read(finished(tmp_path))
    assert of.title == "made on d: 6 arms, 5 conversations, 300 questions"
    rates = script.scope_rates(of, 1, 200)
    for name in ("level_alone", "level_rw", "level_gated"):
        assert rates[name] <= 0.05 + 3.0 * (0.05 * 0.95 / 200) ** 0.5, name
    # the score of the full set is one of the two that are compared
    assert rates["level_adjusted"] > 0.1
    page = script.PAGE.read_text(encoding="utf-8")
    made = script.scope_table([tmp_path], 1, 5)
    changed = script.written(page, made, script.SCOPES_START, script.SCOPES_END)
    assert made in changed and script.START in changed and changed.count("made on d") == 1


def test_the_page_says_what_the_simulated_scopes_show(script: Any) -> None:
    page = script.PAGE.read_text(encoding="utf-8")
    table = page.split(script.SCOPES_START)[1].split(script.SCOPES_END)[0]
    first = [float(cell) for cell in table.splitlines()[2].split("|")[2:-1]]
    _, stepped, gated, adjusted, _, _, holm_power, power, gated_power = first
    assert 0.045 <= stepped <= 0.055 and gated <= 0.055 and adjusted > 0.07
    assert power >= 6.0 * holm_power and power > gated_power
