"""The curve over questions of a run with feedback: scores by position, each question scored
before its feedback (prequential).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...reporting.files import write_json, write_whole
from ...reporting.text import visible
from ..datasets import Dataset
from ..datasets.base import asked_in_order
from ..execution.cells import Outcome, Row
from ..scores.outcomes import scored

GROUPS = 10  # of positions, equal shares of the questions of each conversation
PAGE = "learning_curve.html"
FILES = ("learning_curve.json", "learning_curve.md", PAGE)
SHOWN = ("hit@1", "recall@10", "mrr@10")


def positions(data: Dataset) -> dict[tuple[str, str], float]:
    """(conversation, question) -> share of its conversation's questions that were asked before
    it.
    """
    places: dict[tuple[str, str], float] = {}
    for conversation in data.conversations:
        order = asked_in_order(conversation)
        places |= {
            (conversation.id, question.id): place / len(order)
            for place, question in enumerate(order)
        }
    return places


def curve(
    rows: Sequence[Row], places: Mapping[tuple[str, str], float], groups: int = GROUPS
) -> list[dict[str, float]]:
    """Mean scores of the questions with gold, by group of positions; groups without a question are
    left out.

    Each has `since` and `until`, shares of the questions asked before, `questions`, and the metrics
    of `SHOWN`.
    """
    marked = scored(rows)
    group = [
        min(int(places[row["conversation"], row["question"]] * groups), groups - 1)
        for row, _ in marked
    ]
    points = []
    for g in sorted(set(group)):
        mine = [
            {"hit@1": float(1 in row["ranks"]), **metrics.named()}
            for (row, metrics), own in zip(marked, group, strict=True)
            if own == g
        ]
        points.append(
            {
                "since": g / groups,
                "until": (g + 1) / groups,
                "questions": float(len(mine)),
                **{name: float(np.mean([row[name] for row in mine])) for name in SHOWN},
            }
        )
    return points


def write_learning_curve(
    out: Path, feedback: str, data: Dataset, arms: Mapping[str, Sequence[Outcome]]
) -> dict[str, list[dict[str, float]]]:
    """Remove earlier curves from `out`, and with feedback write learning_curve.json and
    learning_curve.md.  Raises HebbariumError.

    Returns the curve of each arm; {} without feedback.
    """
    for name in FILES:
        (out / name).unlink(missing_ok=True)
    if feedback == "none":
        return {}
    places = positions(data)
    curves = {
        arm: curve([row for outcome in outcomes for row in outcome.rows], places)
        for arm, outcomes in arms.items()
    }
    write_json(
        out / FILES[0],
        {"format": 1, "feedback": feedback, "groups": GROUPS, "arms": curves},
        shared=True,
    )
    write_whole(out / FILES[1], [to_markdown(feedback, curves)], shared=True)
    return curves


def to_markdown(feedback: str, curves: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """One table for each arm."""
    lines = [
        "# Scores by position of the question",
        "",
        f"Feedback: {said(feedback)}. Positions are shares of the questions of each conversation.",
        "",
    ]
    for arm, points in curves.items():
        lines += [
            f"## {visible(arm)}",
            "",
            f"| questions before | questions | {' | '.join(SHOWN)} |",
            f"|---|---|{'---|' * len(SHOWN)}",
        ]
        lines += [
            f"| {p['since']:.0%} to {p['until']:.0%} | {p['questions']:.0f} | {' | '.join(f'{p[name]:.3f}' for name in SHOWN)} |"
            for p in points
        ]
        lines.append("")
    return "\n".join(lines)


def said(feedback: str) -> str:
    """A setting of `--feedback` in words.

    >>> said("gold")
    'after each question was scored, the memory is told the gold events'
    """
    told = {"answer": "the events that it answered", "gold": "the gold events"}.get(feedback)
    return f"after each question was scored, the memory is told {told}" if told else "none"
