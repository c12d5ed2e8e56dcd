"""One noun, one thing: no two classes of the package have the same name.

Classes inside functions are left out: they are seen nowhere else, such as the wrong versions in
evidence.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("engine", "mechanisms", "audit", "benchmarks", "src/hebbarium")


def classes(node: ast.AST) -> Iterator[str]:
    """Names of the classes of a module, those in classes among them, without those in functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(child, ast.ClassDef):
            yield child.name
        yield from classes(child)


def test_no_name_of_a_class_is_used_for_two_things() -> None:
    files: dict[str, list[str]] = {}
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            inside = file.relative_to(ROOT / room)
            if room == "src/hebbarium" and inside.parts[0] in ROOMS:
                continue  # links to the other rooms
            for name in classes(ast.parse(file.read_text(encoding="utf-8"))):
                files.setdefault(name, []).append(f"{room}/{inside}")
    assert len(files) > 900
    assert {name: where for name, where in files.items() if len(where) > 1} == {}, (
        "name each class with the words of what it holds"
    )


def test_classes_in_functions_are_no_names_of_the_package() -> None:
    text = "class A:\n    class B: ...\n    def f(self):\n        class C: ...\nif True:\n    class D: ...\n"
    assert list(classes(ast.parse(text))) == ["A", "B", "D"]
