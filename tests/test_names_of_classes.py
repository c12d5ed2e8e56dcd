"""One noun, one thing: no two classes of the package have the same name.

Classes inside functions are left out: they are seen nowhere else, such as the wrong versions in
evidence.
"""

from __future__ import annotations

from pathlib import Path

from statements import module, parsed

ROOT = Path(__file__).parents[1]
ROOMS = ("engine", "mechanisms", "audit", "benchmarks", "src/hebbarium")


def test_no_name_of_a_class_is_used_for_two_things() -> None:
    files: dict[str, list[str]] = {}
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            inside = file.relative_to(ROOT / room)
            if room == "src/hebbarium" and inside.parts[0] in ROOMS:
                continue  # links to the other rooms
            for name in module(file).classes:
                files.setdefault(name, []).append(f"{room}/{inside}")
    assert len(files) > 900
    assert {name: where for name, where in files.items() if len(where) > 1} == {}, (
        "name each class with the words of what it holds"
    )


def test_classes_in_functions_are_no_names_of_the_package() -> None:
    text = "class A:\n    class B: ...\n    def f(self):\n        class C: ...\nif True:\n    class D: ...\n"
    assert parsed(text).classes == ("A", "B", "D")
