"""`hebbarium compare` of two folders of `hebbarium answer`: accuracies with Wilson intervals, the
2 x 2 table of paired questions with McNemar's test, and how many of the questions that the first
missed the second recovers.

With answers from the whole conversation (`--strategy everything`) as the second, this tells missed
retrieval from missed reasoning (True Memory, 6.2 and table 3).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...engine.base.errors import DataError, InputError
from ..scores.agreement import LABEL, McNemar, Proportion, mcnemar, wilson
from .answering import ROWS, SUMMARY

# what must be equal for questions to be the same ones
SAME = ("dataset", "sha256")
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class AnswersCompared:
    """Two folders of answers, paired by question; of repeats the first.

    differing   fields that differ: name and both values
    n           questions that were judged in both
    both, first_only, second_only, neither   of these, right answers
    first, second  accuracies
    recovered   of the questions that the first missed, those that the second answers rightly; None
                if it missed none
    by_category category -> the same
    """

    differing: tuple[tuple[str, Any, Any], ...]
    n: int
    both: int
    first_only: int
    second_only: int
    neither: int
    first: Proportion
    second: Proportion
    mcnemar: McNemar
    recovered: Proportion | None
    by_category: Mapping[str, Proportion]
    label: str = LABEL

    def named(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return asdict(self)


def holds_answers(folder: Path) -> bool:
    """Whether a folder is one of `hebbarium answer`."""
    return (folder / SUMMARY).is_file()


def compare_answers(first: Path, second: Path) -> AnswersCompared:
    """Compare two folders.  O(questions).  Raises InputError for answers to other data, or without a
    judged question in common, DataError for a folder that is not whole.
    """
    (here, mine), (there, theirs) = _read(first), _read(second)
    if odd := [name for name in SAME if here.get(name) != there.get(name)]:
        raise InputError(
            f"they answer other data: {', '.join(odd)} differ",
            where=f"{first} and {second}",
            cure="compare answers to the same data set",
        )
    keys = [key for key in mine if key in theirs]
    pairs = [(mine[key]["judged"] == 1.0, theirs[key]["judged"] == 1.0) for key in keys]
    if not pairs:
        raise InputError(
            "no question was judged in both",
            where=f"{first} and {second}",
            cure="answer with --judge",
        )
    n = len(pairs)
    both, neither = pairs.count((True, True)), pairs.count((False, False))
    first_only, second_only = pairs.count((True, False)), pairs.count((False, True))
    missed: dict[str, list[bool]] = {}
    for key, (right, recovers) in zip(keys, pairs, strict=True):
        if not right:
            missed.setdefault(str(mine[key]["category"]), []).append(recovers)
    lost = n - both - first_only
    return AnswersCompared(
        tuple(
            (name, here.get(name), there.get(name))
            for name in (
                "set",
                "embedder",
                "budget",
                "strategy",
                "compress",
                "length",
                "reader",
                "judge",
            )
            if here.get(name) != there.get(name)
        ),
        n,
        both,
        first_only,
        second_only,
        neither,
        wilson(both + first_only, n),
        wilson(both + second_only, n),
        mcnemar(first_only, second_only),
        wilson(second_only, lost) if lost else None,
        {
            name: wilson(sum(recovered), len(recovered))
            for name, recovered in sorted(missed.items())
        },
    )


def _read(folder: Path) -> tuple[dict[str, Any], dict[Key, dict[str, Any]]]:
    """The summary, and the judged rows of the first repeat by question."""
    try:
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        lines = (folder / ROWS).read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        return summary, {
            (row["conversation"], row["question"]): row
            for row in rows
            if row["judged"] is not None and row.get("repeat", 1) == 1
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"it is no whole folder of answers ({error})",
            where=str(folder),
            cure="answer the questions again; a transcript replays without a model",
        ) from error
