"""Draw docs/pictures/all-mem-cases.svg: one case of each edit of All-Mem, as its section 4.7 has
them: the evidence, the edit, and what a question finds without and with it.

    python docs/tools/draw_case.py

The cases are of the planted world of `hebbarium.benchmarks.edits.arms`, with the transcript that
ships; a memory in which the operator is off stands for the one before the edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

from hebbarium.benchmarks.edits.arms import (
    EMBEDDER,
    TRANSCRIPT,
    ArmQuestion,
    K,
    asked,
    planted_world,
)
from hebbarium.engine.base.tables import brief
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Query
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.by_name import embedder
from hebbarium.engine.ports.transcript import replayed
from hebbarium.mechanisms.shared.topology_report import recorded_runs
from hebbarium.reporting.svg import standalone

TARGET = Path(__file__).parents[1] / "pictures" / "all-mem-cases.svg"
CASES = (("conflation", "without split", "SPLIT"), ("duplicate", "without merge", "MERGE"),
         ("version", "without update", "UPDATE"))  # kind of question, arm, operator  # fmt: skip
WIDE, LINE, COLUMN, TEXT = 960, 17, 320, 48  # px, px, px, characters


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory in a list.

    gold  whether it shows an event that answers the question
    """

    text: str
    gold: bool


@dataclass(frozen=True, slots=True)
class Case:
    """One case.

    before, after    the first memories that the question finds without and with the edit
    archived, made   texts that the edit hides, and those or the descriptor that it makes
    """

    operator: str
    question: str
    before: tuple[Shown, ...]
    archived: tuple[str, ...]
    made: tuple[str, ...]
    after: tuple[Shown, ...]


def cases() -> tuple[Case, ...]:
    """A case of each operator."""
    world, texts, registry = planted_world(), embedder(EMBEDDER, None), Registry.read()

    def lived(arm: str) -> Engine:
        return asked(replayed(TRANSCRIPT), arm, world, texts, registry)[1]

    drawn: list[Case] = []
    with lived("full") as whole:
        scripts = [script for run in recorded_runs(whole).values() for script in run.scripts]
        for kind, arm, operator in CASES:
            question = next(q for q in world.questions if q.kind == kind)

            edit = next(
                script
                for script in scripts
                if script.proposal.operator.name == operator
                and {e for v in script.proposal.targets for e in whole.unit(v).events}
                & set(question.gold)
            )
            with lived(arm) as without:
                drawn.append(
                    Case(
                        operator.lower(),
                        question.text,
                        first(without, question),
                        tuple(whole.unit(v).text for v in edit.archives),
                        tuple(descriptor.summary for descriptor in edit.descriptors),
                        first(whole, question),
                    )
                )
    return tuple(drawn)


def first(memory: Engine, question: ArmQuestion) -> tuple[Shown, ...]:
    """The first memories that the question finds."""
    rows = memory.retrieve(Query(question.text, memory.now), K).rows
    return tuple(
        Shown(unit.text, not set(question.gold).isdisjoint(unit.events))
        for unit in map(memory.unit, rows)
    )


def to_svg(shown: tuple[Case, ...]) -> str:
    """The cases one below the other: without the edit, the edit, with it."""
    marks, top = list[str](), 24
    for case in shown:
        marks.append(_text(16, top, f"{case.operator}: “{case.question}”", "var(--ink)", bold=True))
        heads = (f"first {K} without the edit", "the edit", f"first {K} with it")
        for column, head in enumerate(heads):
            marks.append(_text(16 + COLUMN * column, top + 22, head, "var(--accent)"))
        lines = max(K, len(case.archived) + len(case.made))
        for column, memories in ((0, case.before), (2, case.after)):
            for place, memory in enumerate(memories):
                colour = "var(--accent)" if memory.gold else "var(--ink)"
                marked = f"{place + 1}{'●' if memory.gold else ' '} {brief(memory.text, TEXT)}"
                marks.append(_text(16 + COLUMN * column, top + 42 + LINE * place, marked, colour))
        edited = [(f"− {brief(text, TEXT)}", "var(--soft)") for text in case.archived]
        edited += [(f"+ {brief(text, TEXT)}", "var(--ink)") for text in case.made]
        for place, (text, colour) in enumerate(edited):
            marks.append(_text(16 + COLUMN, top + 42 + LINE * place, text, colour))
        for x in (COLUMN, 2 * COLUMN):
            marks.append(
                f'<path d="M{x} {top + 30}V{top + 36 + LINE * lines}" style="stroke: var(--rule)"/>'
            )
        top += 42 + LINE * lines + 30
    marks.append(
        _text(16, top, "● shows the answer   − archived, one version link away   + made, or described anew", "var(--soft)")
    )  # fmt: skip
    tall = top + 16
    return standalone(
        f'<svg viewBox="0 0 {WIDE} {tall}" xmlns="http://www.w3.org/2000/svg" role="img" font-family="sans-serif" font-size="11">'
        f"<title>A split, a merge and an update, before and after</title>"
        f'<rect width="{WIDE}" height="{tall}" style="fill: var(--ground)"/>{"".join(marks)}</svg>'
    )


def _text(x: float, y: float, text: str, colour: str, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" style="fill: {colour}"{weight}>{escape(text)}</text>'


def main() -> None:
    TARGET.write_text(to_svg(cases()), encoding="utf-8")


if __name__ == "__main__":
    main()
