"""Registries that we write are in block style with one value a line, so that changing one number
changes one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
COLUMNS = 120  # of a line, at most


def registries() -> Iterator[tuple[str, str]]:
    """Name and text of our registry, that of the example package, those of `hebbarium new`, and
    the example of CONTRIBUTING.
    """
    for file in (
        ROOT / "registry.yaml",
        *sorted((ROOT / "docs" / "examples").rglob("registry.yaml")),
        *sorted((ROOT / "src" / "hebbarium" / "scaffold").rglob("registry.yaml.tmpl")),
    ):
        yield str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (entry,) = re.findall(r"(?ms)^```yaml registry\.yaml\n(.*?)^```$", guide)
    yield "CONTRIBUTING.md", entry


def faults(text: str) -> list[str]:
    """What in the text is not in the style, with its line."""
    wide = [
        f"line {number}: {len(line)} columns"
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > COLUMNS
    ]
    events = list(yaml.parse(text, Loader=yaml.CSafeLoader))
    in_braces = [
        f"line {event.start_mark.line + 1}: a mapping or list in braces"
        for event in events
        if isinstance(event, yaml.CollectionStartEvent)
        and event.flow_style
        and not text[event.start_mark.index :].startswith(("[]", "{}"))
    ]
    folded = [
        f"line {event.start_mark.line + 1}: a text over several lines that is not folded by >-"
        for event in events
        if isinstance(event, yaml.ScalarEvent)
        and event.style != ">"
        and event.start_mark.line != event.end_mark.line
    ]
    return wide + in_braces + folded


@pytest.mark.parametrize(
    ("name", "text"), list(registries()), ids=lambda part: part[:60].split("\n")[0]
)
def test_registries_are_in_block_style(name: str, text: str) -> None:
    assert not faults(text), name


def test_all_templates_and_examples_are_checked() -> None:
    assert len(list(registries())) == 7


@pytest.mark.parametrize(("text", "fault"), [
    ("a:\n  b: {value: 1, unit: x}\n", "line 2: a mapping"),
    ("a:\n  papers: [one, two]\n", "line 2: a mapping or list"),
    (f"a:\n  note: {'word ' * 30}\n", "line 2: 158 columns"),
    ('a:\n  note: "one\n    two"\n', "line 2: a text"),
])  # fmt: skip
def test_other_styles_are_refused(text: str, fault: str) -> None:
    (said,) = faults(text)
    assert said.startswith(fault)
    assert not faults("a:\n  papers: []\n  params: {}\n  note: >-\n    one\n    two\n  value: 1\n")
