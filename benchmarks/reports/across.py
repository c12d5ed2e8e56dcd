"""Which verdicts of a design hold with every embedder that it was run with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..scores.comparison import Verdict
from .result import BlockResult
from .words import label


def across_embedders(blocks: Sequence[BlockResult]) -> tuple[str, ...]:
    """For each data set that was measured with several embedders, one note for each scope: the
    verdicts that hold with all of them, those that do not, and how many estimates are undecided with
    all.  () for one embedder.  O(estimates).

    blocks  one for each data set and embedder
    """
    groups: dict[str, list[BlockResult]] = {}
    for block in blocks:
        data = block.name.removesuffix(Path(block.embedder).name).strip()
        groups.setdefault(data, []).append(block)
    return tuple(
        note
        for data, mine in groups.items()
        if len(mine) > 1
        for note in (
            _note(data, mine, "for these conversations", here=True),
            _note(data, mine, f"for {mine[0].clusters} like these", here=False),
        )
        if note
    )


def _note(data: str, blocks: Sequence[BlockResult], scope: str, *, here: bool) -> str:
    """One sentence without its full stop; "" if this scope was not tested."""
    verdicts = [
        {e.name: e.verdict_here if here else e.verdict for e in block.estimates} for block in blocks
    ]
    named = {e.name: label(e) for block in blocks for e in block.estimates}
    rows = {name: [mine.get(name) for mine in verdicts] for name in named}
    tested = {name: row for name, row in rows.items() if None not in row}
    if not tested:
        return ""
    held = [
        f"{named[name]} {row[0]}"
        for name, row in tested.items()
        if len(set(row)) == 1 and row[0] is not Verdict.UNDECIDED
    ]
    other = [
        f"{named[name]} ({', '.join(str(word) for word in row)})"
        for name, row in tested.items()
        if len(set(row)) > 1
    ]
    undecided = len(tested) - len(held) - len(other)
    embedders = " and ".join(Path(block.embedder).name for block in blocks)
    parts = [
        f"{data + ': ' if data else ''}with each of {embedders}, {scope}: {', '.join(held) or 'no verdict'}",
        *([f"not with each, in this order: {', '.join(other)}"] if other else []),
        *([f"undecided with each: {undecided}"] if undecided else []),
    ]
    return "; ".join(parts)
