"""Loader and metrics against reference points that were measured with other code: plain BM25 of
`bm25s` on development files.

They run where HEBBARIUM_DATA names a folder that holds `locomo/` or `beam/`.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from hebbarium.benchmarks.datasets import load
from hebbarium.benchmarks.scores.metrics import question_metrics, summary

FOLDER = os.environ.get("HEBBARIUM_DATA", "")
POINTS = {
    "locomo/locomo_dev.json": ("locomo", 997, 0.562, 0.394),
    "beam/100K": ("beam", 179, 0.473, 0.420),
}


@pytest.mark.parametrize(
    ("path", "name", "questions", "recall", "reciprocal"),
    [
        pytest.param(
            Path(FOLDER) / place,
            *point,
            id=point[0],
            marks=pytest.mark.skipif(
                not FOLDER or not (Path(FOLDER) / place).exists(),
                reason=f"needs {place} in the folder that HEBBARIUM_DATA names",
            ),
        )
        for place, point in POINTS.items()
    ],
)
def test_plain_bm25_scores_as_elsewhere(
    path: Path, name: str, questions: int, recall: float, reciprocal: float
) -> None:
    import bm25s

    marked = []
    for talk in load(name, path).conversations:
        index, place = bm25s.BM25(method="lucene"), {e.id: n for n, e in enumerate(talk.events)}
        index.index(
            bm25s.tokenize(
                [e.rendered() for e in talk.events], stopwords="en", show_progress=False
            ),
            show_progress=False,
        )
        for question in talk.questions:
            if question.gold:
                words = bm25s.tokenize(
                    [question.text], stopwords="en", show_progress=False, return_ids=False
                )[0]
                scores = index.get_scores(words) if words else np.zeros(len(place))
                rank = np.empty(len(place), dtype=np.int64)
                rank[np.argsort(-scores, kind="stable")] = np.arange(1, len(place) + 1)
                marked.append(question_metrics([int(rank[place[gold]]) for gold in question.gold]))
    found = summary(marked)
    assert found["n"] == questions
    assert found["recall@10"] == pytest.approx(recall, abs=0.02)
    assert found["mrr@10"] == pytest.approx(reciprocal, abs=0.02)
