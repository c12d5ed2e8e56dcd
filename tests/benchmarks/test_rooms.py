"""The way of an arm runs downhill: data, systems and designs; execution; scores; reports; the
two commands.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOM = Path(__file__).parent.parent.parent / "benchmarks"
FLOORS = {"datasets": 0, "systems": 0, "designs": 0, "execution": 1, "scores": 2, "reports": 3,
          "run": 4, "ablation": 5,
          "explain": 4, "export": 4, "routes": 4, "calibrate": 4, "probes": 5, "topology": 4,
          "answering": 4, "experiment": 5, "drills": 4,
          "compare": 5, "misses": 5, "reproduce": 5, "edits": 3, "weights": 5,
          "calibrate_fusion": 5, "worlds": 6, "probed": 6, "costs": 4}  # fmt: skip
FILES = [
    f
    for f in sorted(ROOM.rglob("*.py"))
    if f.relative_to(ROOM).parts[0] not in ("speed", "__init__.py")
]


def part(file: Path) -> str:
    """The room, or the module that stands above the rooms."""
    return file.relative_to(ROOM).with_suffix("").parts[0]


def imported(file: Path) -> set[str]:
    """Parts of the benchmarks that a file imports, by relative imports; those for types only
    included.
    """
    found, depth = set(), len(file.relative_to(ROOM).parts)
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            found |= {node.module.split(".")[0]} if node.module else {a.name for a in node.names}
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(ROOM)))
def test_no_part_imports_what_comes_after_it(file: Path) -> None:
    mine = part(file)
    assert mine in FLOORS, "give the new part its floor"
    for other in imported(file) - {mine}:
        assert FLOORS[other] < FLOORS[mine], f"{mine} imports {other}"


def test_the_commands_enter_execution_in_one_place() -> None:
    """Both call `execute`, which checks, embeds, runs and writes; nothing else of it is called."""
    for command in ("run", "ablation"):
        tree = ast.parse((ROOM / f"{command}.py").read_text(encoding="utf-8"))
        calls = [
            n.func.id
            for n in ast.walk(tree)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        ]
        local = [
            a.name
            for n in ast.walk(tree)
            if isinstance(n, ast.ImportFrom) and n.module == "execution.local"
            for a in n.names
        ]
        assert sorted(local) == ["Progress", "execute"] and calls.count("execute") == 1
