"""The figure of flat and staged contexts: its statistics by brute force, and both ways in which
it can fall.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.stats import skew
from scripts import DOCS, script


def row(category: str, evidence: float | None, answer: float | None) -> dict[str, Any]:
    return {
        "category": category,
        "contexts": {
            budget: {"evidence": evidence, "answer": answer} for budget in ("1024", "2048", "4096")
        },
    }


def points(module: Any, gaps: tuple[float, ...]) -> list[Any]:
    """Sizes of 100, 1,000, ... events; staged contexts hold so much more of four answers; a
    fifth question has no evidence.
    """
    found = []
    for i, gap in enumerate(gaps):
        rows = {
            arm: {f"q{n}": row("ab"[n % 2], 0.5, 0.4 + 0.01 * n + more) for n in range(4)}
            | {"q4": row("abstention", None, None)}
            for arm, more in (("flat", 0.0), ("staged", gap))
        }
        found.append(module.Point(f"size {i}", 1, 100.0 * 10**i, 1.0, 1.5, rows))
    return found


def test_hubness_and_contrast_are_those_of_their_definitions() -> None:
    module, rng = script("stage_crossover"), np.random.default_rng(0)
    vectors, queries = (
        each / np.linalg.norm(each, axis=1, keepdims=True)
        for each in (rng.normal(size=(60, 9)) + 0.4, rng.normal(size=(7, 9)))
    )
    distance = np.array([[float(np.linalg.norm(a - b)) for b in vectors] for a in vectors])
    for k in (1, 5, 10):
        near = [
            sorted((j for j in range(60) if j != i), key=lambda j, i=i: distance[i, j])[:k]
            for i in range(60)
        ]  # type: ignore[misc]
        assert module.hubness(vectors, k) == pytest.approx(
            skew([sum(i in one for one in near) for i in range(60)])
        )
    away = [[float(np.linalg.norm(q - v)) for v in vectors] for q in queries]
    assert module.relative_contrast(vectors, queries) == pytest.approx(
        np.mean(away) / np.mean([min(each) for each in away])
    )


@pytest.mark.parametrize(("gaps", "crossed"), [((-0.1, 0.1), [316]), ((0.1, 0.2, -0.2), [3162]),
                                               ((-0.1, 0.1, -0.1), [316, 3162]), ((0.1, 0.2), []),
                                               ((-0.1, -0.1), []), ((0.0, 0.0), [])])  # fmt: skip
def test_the_crossover_is_drawn_whichever_way_it_falls(
    gaps: tuple[float, ...], crossed: list[int]
) -> None:
    module = script("stage_crossover")
    made = points(module, gaps)
    assert [round(each) for each in module.crossings([p.events for p in made], gaps)] == crossed
    picture = module.drawn(made)
    texts = [
        each.text or ""
        for each in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert [text for text in texts if text.startswith("crossover")] == [
        f"crossover {each:,} events" for each in crossed
    ]
    assert sum(text.startswith("no crossover") for text in texts) == (
        1 if crossed else 2
    ) and texts.count("hubness 1.00") == 2 * len(made)
    assert "prefers-color-scheme: dark" in picture and "abstention" not in picture
    lines = module.table(made)
    assert f"| @4,096 | {' | '.join(f'{g:+.3f} [{g:+.2f}, {g:+.2f}]' for g in gaps)}".replace(
        "0.", "."
    ).replace("-", "−") in "\n".join(lines)


def test_the_page_shows_the_figure() -> None:
    assert "pictures/stage-crossover.svg" in (DOCS / "results" / "contexts.md").read_text(
        encoding="utf-8"
    )
    ElementTree.parse(DOCS / "pictures" / "stage-crossover.svg")
