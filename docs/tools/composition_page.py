"""Writes docs/results/composition.md: what `hebbarium compose` finds within `default`.

    python docs/tools/composition_page.py OUT...

OUT are folders of `hebbarium compose --set default`, which were carried out to their end.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "results" / "composition.md"
HEAD = """# What `hebbarium compose` finds within `default`

Each section is one composition, carried out to its end: the smallest part that loses no more than the margins on the data named, what it loses on
conversations that took no part in finding it, and how often each mechanism stays. [How a part is found](../guides/designs.md#how-the-part-is-found) and
[what to quote](../guides/designs.md#what-to-quote) are explained with the command. A part that is enough for these data is no better `default`: sessions,
other chats and worlds need mechanisms that these do not, see [how `default` was found](default-set.md).
The one of LoCoMo and the demo took 8.7 CPU minutes of one process, in two slices of which the second continued the first.
`docs/tools/composition_page.py` writes this page.
"""


def signed(value: float | None) -> str:
    """
    >>> signed(0.01234), signed(None)
    ('+0.0123', '-')
    """
    return "-" if value is None else f"{value:+.4f}"


def share(value: float | None) -> str:
    """
    >>> share(0.954), share(None)
    ('95%', '-')
    """
    return "-" if value is None else f"{value:.0%}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """
    >>> table(("part", "n"), [("whole", "17")])
    ['| part | n |', '|:--|--:|', '| whole | 17 |']
    """
    rules = ":--|" + "--:|" * (len(heads) - 1)
    return [f"| {' | '.join(heads)} |", f"|{rules}", *(f"| {' | '.join(row)} |" for row in rows)]


def constraints(result: Mapping[str, Any]) -> list[str]:
    """What the part loses where it was found, and on conversations that took no part."""
    rows = []
    for scored in result["constraints"]:
        held = scored["held_out"]
        apart = "-"
        if held:
            apart = signed(held["mean"])
            if held["low"] is not None:
                apart += f" [{signed(held['low'])}, {signed(held['high'])}]"
        label = f"{scored['name']}, {scored['metric']}"
        values = (f"{scored['n']:,}", f"{scored['whole']:.4f}", f"{scored['part']:.4f}")
        rows.append((label, *values, signed(scored["loss"]), f"{scored['margin']:g}", apart))
    return table(
        ("constraint", "questions", "whole", "found", "loss", "margin", "loss held out"), rows
    )


def path(result: Mapping[str, Any]) -> list[str]:
    """The best part of each size that was measured on all data."""
    names = [f"{scored['name']}, {scored['metric']}" for scored in result["constraints"]]
    rows = [
        (
            str(len(point["part"])),
            *(f"{score:.4f}" for score in point["scores"]),
            "yes" if point["allowed"] else "no",
        )
        for point in result["path"]
    ]
    return table(("mechanisms", *names, "within the margins"), rows)


def mechanisms(result: Mapping[str, Any]) -> list[str]:
    """How often each mechanism stays."""
    rows = [
        (
            f"`{row['mechanism']}`",
            "yes" if row["kept"] else "no",
            share(row["stays"]["questions"]),
            share(row["stays"]["conversations"]),
            share(row["stays"]["folds"]),
        )
        for row in sorted(result["mechanisms"], key=lambda row: not row["kept"])
    ]
    return table(("mechanism", "kept", "questions", "conversations", "folds"), rows)


def section(result: Mapping[str, Any]) -> list[str]:
    data = " and ".join(dict.fromkeys(scored["name"] for scored in result["constraints"]))
    provenance = result["provenance"]
    counted = f"{provenance['measured']} parts were measured for the whole data, {provenance['measured_on_all']} of them on all"
    return [
        "",
        f"## {data}",
        "",
        f"{result['headline']}. {counted}; measured with code {provenance['code']}, {provenance['embedder']}.",
        "",
        *constraints(result),
        "",
        "The path, the best part of each size that was measured on all data:",
        "",
        *path(result),
        "",
        "How often each mechanism stays, in resamples of questions and conversations, and in the searches without a fold:",
        "",
        *mechanisms(result),
        "",
        *(f"- {step}" for step in result["steps"]),
    ]


def main(arguments: Sequence[str]) -> None:
    lines = list[str]()
    for name in arguments:
        text = (Path(name) / "composition.json").read_text(encoding="utf-8")
        lines += section(json.loads(text))
    TARGET.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
