"""The alive matrix as JSON, Markdown and one HTML page that loads nothing.  Everything that
comes from data is shown as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ....reporting.files import finite, write_json, write_whole
from ....reporting.pages import environment
from ....reporting.text import in_cell, visible
from .alive import MEANING, AliveMatrix, MatrixCell, Pair, PairedMemories, State
from .report import FORMAT, NO_EVIDENCE, TEMPLATES, with_interval

MARKS: Mapping[State, str] = {
    State.MOVES: "●",
    State.DIFFERS: "○",
    State.EQUAL: "=",
    State.NO_PATH: "",
    State.ERROR: "!",
    State.NO_VERDICT: "?",
}


def write(matrix: AliveMatrix, out: Path) -> None:
    """Write probes.json, probes.md and probes.html.  Raises HebbariumError."""
    write_json(out / "probes.json", to_json(matrix), shared=True)
    write_whole(out / "probes.md", [to_markdown(matrix)], shared=True)
    made = environment(TEMPLATES)
    made.filters.update(interval=with_interval)
    page = made.get_template("alive.html.j2").render(
        matrix=matrix,
        marks=MARKS,
        meaning=MEANING,
        no_evidence=NO_EVIDENCE,
        states=State,
        rows=_rows(matrix),
    )
    write_whole(out / "probes.html", [page], shared=True)


def _rows(matrix: AliveMatrix) -> list[dict[str, Any]]:
    """One row for each mechanism: its life, and the cell of each probe or None."""
    cells = {(cell.mechanism, cell.probe.id): cell for cell in matrix.cells}
    return [
        {"life": life, "cells": [cells.get((life.mechanism, probe.id)) for probe in matrix.probes]}
        for life in matrix.lives
    ]


def to_json(matrix: AliveMatrix) -> dict[str, Any]:
    """Plain data for `json.dumps`; numbers that are not defined are null."""
    return {"format": FORMAT, "kind": "alive", "measured": matrix.measured, "base": matrix.base,
            "evidence": matrix.evidence, "headline": matrix.headline,
            "note": "" if matrix.evidence else NO_EVIDENCE, "seeds": matrix.seeds,
            "options": list(matrix.options), "ran": matrix.ran, "shared": matrix.shared,
            "provenance": dict(matrix.provenance),
            "mechanisms": [{"id": life.mechanism, "verdict": life.verdict, "why": life.why,
                            "moved": list(life.moved), "elsewhere": list(life.elsewhere),
                            "named_not_moved": list(life.unmoved)} for life in matrix.lives],
            "cells": [_cell_json(cell) for cell in matrix.cells]}  # fmt: skip


def _cell_json(cell: MatrixCell) -> dict[str, Any]:
    return {
        "mechanism": cell.mechanism,
        "probe": cell.probe.id,
        "named": cell.named,
        "state": cell.state.value,
        "full": _comparison(cell.full),
        "alone": _comparison(cell.alone),
    }


def _comparison(memories: PairedMemories) -> dict[str, Any]:
    return {"of": memories.of, "state": memories.state.value, "why": memories.why,
            "needs_readers": list(memories.readers), "without": list(memories.without_base),
            "numbers": [{"number": p.number, "state": p.state.value, "with": finite(asdict(p.with_it)),
                         "without": finite(asdict(p.without)),
                         "difference": finite(asdict(p.difference))} for p in memories.numbers]}  # fmt: skip


def three(cell: MatrixCell) -> str:
    """The three numbers of a cell: full set, without the mechanism, base with it alone; of the
    number that moves most.
    """
    full, alone = cell.full.shown, cell.alone.shown
    first, second = (
        (full, alone)
        if cell.full.state is State.MOVES or cell.alone.state is not State.MOVES
        else (alone, full)
    )
    name = next((pair.number for pair in (first, second) if pair is not None), "")
    return (
        f"{name}: full {_of(cell.full, name, True)}, without {_of(cell.full, name, False)}, alone {_of(cell.alone, name, True)}"
        if name
        else cell.full.why or cell.alone.why
    )


def _of(memories: PairedMemories, name: str, with_it: bool) -> str:
    pair: Pair | None = next((p for p in memories.numbers if p.number == name), None)
    return (
        str(memories.state)
        if pair is None
        else with_interval(pair.with_it if with_it else pair.without)
    )


def to_markdown(matrix: AliveMatrix) -> str:
    """The mechanisms, both disagreements with the registry, and every cell that was run."""
    lines = [
        f"# Alive: {in_cell(matrix.measured)}",
        "",
        f"{matrix.headline}. Base: {in_cell(matrix.base)}. {matrix.cost}.",
        "",
    ]
    lines += [] if matrix.evidence else [NO_EVIDENCE, ""]
    lines += ["| mechanism | verdict | moves | why |", "|---|---|---|---|"]
    lines += [
        f"| {in_cell(life.mechanism)} | {life.verdict} | {in_cell(', '.join(life.moved) or '-')} | {in_cell(life.why or '-')} |"
        for life in matrix.lives
    ]
    elsewhere = {life.mechanism: life.elsewhere for life in matrix.lives}
    unmoved = {life.mechanism: life.unmoved for life in matrix.lives}
    for heading, probes in (
        ("Moves a probe that its registry entry does not name:", elsewhere),
        ("Does not move a probe that its registry entry names:", unmoved),
    ):
        listed = [f"- {in_cell(m)}: {in_cell(', '.join(ids))}" for m, ids in probes.items() if ids]
        lines += ["", heading, "", *(listed or ["none"])]
    lines += ["", "| mechanism | probe | state | numbers | needs |", "|---|---|---|---|---|"]
    lines += [
        f"| {in_cell(c.mechanism)} | {in_cell(c.probe.id)} | {c.state} | {in_cell(three(c))} | {in_cell(', '.join(c.alone.readers) or '-')} |"
        for c in matrix.cells
        if c.state is not State.NO_PATH
    ]
    lines += ["", *(f"{state}: {text}.  " for state, text in MEANING.items())]
    return "\n".join(lines) + "\n"


def summary_rows(matrix: AliveMatrix) -> list[tuple[str, str, str]]:
    """Mechanism, verdict, and what it moves or why nothing moves; for a terminal."""
    return [
        (life.mechanism, life.verdict, visible(", ".join(life.moved) or life.why))
        for life in matrix.lives
    ]
