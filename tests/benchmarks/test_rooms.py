"""The way of an arm runs downhill: data, systems and designs; execution; scores; reports; the
two commands.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from statements import module

ROOM = Path(__file__).parent.parent.parent / "benchmarks"
FLOORS = {"datasets": 0, "systems": 0, "designs": 0, "execution": 1, "scores": 2,
          "reports": 3, "calibration": 4, "edits": 4, "drills": 5,
          "influence": 4, "language_models": 4, "runs": 4, "probes": 5, "experiments": 6,
          "people": 6, "worlds": 6, "composition": 7}  # fmt: skip
ROOMS = sorted(f.parent for f in ROOM.rglob("__init__.py") if f.parent != ROOM)
FILES = [
    f
    for f in sorted(ROOM.rglob("*.py"))
    if f.relative_to(ROOM).parts[0] not in ("speed", "__init__.py")
]


def part(file: Path) -> str:
    """The room of a module."""
    return file.relative_to(ROOM).with_suffix("").parts[0]


def imported(file: Path) -> set[str]:
    """Parts of the benchmarks that a file imports, by relative imports; those for types only
    included.
    """
    found, depth = set(), len(file.relative_to(ROOM).parts)
    for node in module(file).imports:
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            found |= {node.module.split(".")[0]} if node.module else {a.name for a in node.names}
    return found


@pytest.mark.parametrize("mine", sorted({part(file) for file in FILES}))
def test_no_part_imports_what_comes_after_it(mine: str) -> None:
    assert mine in FLOORS, "give the new part its floor"
    for file in (file for file in FILES if part(file) == mine):
        for other in imported(file) - {mine}:
            assert FLOORS[other] < FLOORS[mine], f"{file.relative_to(ROOM)} imports {other}"


def test_every_module_lies_in_a_room() -> None:
    assert [f.name for f in ROOM.glob("*.py")] == ["__init__.py"]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(ROOM)))
def test_a_room_says_what_it_is_for_and_what_it_hands_on(room: Path) -> None:
    """By a first sentence, and by `__all__`: names of its own or of its modules, each once, in
    order.
    """
    tree = ast.parse((room / "__init__.py").read_text(encoding="utf-8"))
    first = (ast.get_docstring(tree) or "").split("\n\n")[0]
    names = handed_on(room)
    modules = {f.stem for f in room.glob("*.py")} | {
        f.parent.name for f in room.glob("*/__init__.py")
    }
    own = {name for node in tree.body for name in names_in(node)} | modules
    assert first.endswith(".") and set(names) <= own and len(set(names)) == len(names)


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(ROOM)))
def test_a_room_is_entered_by_what_it_hands_on(file: Path) -> None:
    depth = len(file.relative_to(ROOM).parts)
    for node in module(file).imports:
        if isinstance(node, ast.ImportFrom) and node.level == depth and node.module:
            other, *inside = node.module.split(".")
            if other == part(file):
                continue
            room = ROOM / other
            while len(inside) > 1:
                assert inside[0] in handed_on(room), (
                    f"{file.relative_to(ROOM)} imports {node.module}"
                )
                room, inside = room / inside[0], inside[1:]
            for name in inside or [a.name for a in node.names]:
                assert name in handed_on(room), (
                    f"{file.relative_to(ROOM)} imports {name} of {other}"
                )


def handed_on(room: Path) -> list[str]:
    """`__all__` of a room."""
    body = ast.parse((room / "__init__.py").read_text(encoding="utf-8")).body
    lists = [
        node.value
        for node in body
        if isinstance(node, ast.Assign | ast.AnnAssign) and "__all__" in names_in(node)
    ]
    assert len(lists) == 1 and lists[0] is not None, f"{room.name} has no __all__"
    return list(ast.literal_eval(lists[0]))


def names_in(node: ast.stmt) -> set[str]:
    """Names that a statement of a module defines or imports."""
    if isinstance(node, ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names}
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {target.id for target in targets if isinstance(target, ast.Name)}
    return {node.name} if isinstance(node, ast.FunctionDef | ast.ClassDef) else set()


def test_the_commands_enter_execution_in_one_place() -> None:
    """Both call `execute`, which checks, embeds, runs and writes; nothing else of it is called."""
    for command, own in (("run", []), ("design", ["write_lines"])):
        tree = ast.parse((ROOM / "experiments" / f"{command}.py").read_text(encoding="utf-8"))
        calls = [
            n.func.id
            for n in ast.walk(tree)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        ]
        local = [
            a.name
            for n in ast.walk(tree)
            if isinstance(n, ast.ImportFrom) and n.module.endswith("execution.local")
            for a in n.names
        ]
        assert sorted(local) == ["Progress", "execute", *own]
        assert calls.count("execute") == (2 if command == "design" else 1), "one of them is timed"
