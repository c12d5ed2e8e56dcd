"""The rooms: who may import whom, what is where, and that lists of names agree."""
from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from hebbarium.engine.registry import Registry

ROOT = Path(__file__).parent.parent
FLOORS = {"engine": 0, "mechanisms": 1, "audit": 2, "benchmarks": 2}
FILES = {room: sorted((ROOT / room).rglob("*.py")) for room in FLOORS}


def imports(file: Path) -> list[tuple[int, str]]:
    """(level, module) of every import in a file."""
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found.append((node.level, node.module or ""))
            found += [(node.level, f"{node.module + '.' if node.module else ''}{a.name}") for a in node.names]
        elif isinstance(node, ast.Import):
            found += [(0, a.name) for a in node.names]
    return found


def target_room(file: Path, level: int, module: str) -> str | None:
    """The room an import leads to; None outside the package."""
    if level == 0:
        parts = module.split(".")
        return parts[1] if parts[0] == "hebbarium" and len(parts) > 1 else None
    here = file.relative_to(ROOT).with_suffix("").parts
    path = [*here[: len(here) - level], *filter(None, module.split("."))]
    return path[0] if path and path[0] in FLOORS else None


@pytest.mark.parametrize("file", [f for files in FILES.values() for f in files], ids=lambda f: str(f.relative_to(ROOT)))
def test_a_lower_floor_never_imports_a_higher_one(file: Path) -> None:
    room = file.relative_to(ROOT).parts[0]
    for level, module in imports(file):
        other = target_room(file, level, module)
        assert other is None or other == room or FLOORS[other] < FLOORS[room], f"{file} imports {module}"


def test_mechanisms_never_import_each_other() -> None:
    """They share code through mechanisms/shared, which imports only the engine and itself."""
    for file in FILES["mechanisms"]:
        shared = file.parent.name == "shared"
        for level, module in imports(file):
            if target_room(file, level, module) == "mechanisms":
                assert module.startswith("shared.") or module == "shared" or (shared and level == 1), f"{file} imports {module}"


def test_engine_names_no_mechanism() -> None:
    """Neither as an identifier nor as a string; the lists of English words, which hold "heat" as such, are left out."""
    ids = set(Registry.read().entries)
    classes = {e.path.partition(":")[2] for e in Registry.read().entries.values()}
    for file in FILES["engine"]:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        strings = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        assert not (ids | classes) & names, file
        assert file.stem == "english" or not ids & strings, file


def test_root_init_imports_nothing() -> None:
    body = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8")).body
    assert len(body) == 1 and isinstance(body[0], ast.Expr)


def test_every_mechanism_has_its_three_places() -> None:
    registry = Registry.read()
    homes = {p.stem: p.parent.name for p in FILES["mechanisms"] if p.stem != "__init__" and p.parent.name != "shared"}
    assert homes == {e.id: e.home for e in registry.entries.values()}
    assert {p.stem for p in (ROOT / "audit" / "evidence").glob("*.py")} - {"__init__"} == set(registry.entries)


def test_every_paper_is_in_the_bibliography() -> None:
    from hebbarium.audit.references import load

    references = load()
    for entry in Registry.read().entries.values():
        for key in filter(None, (*entry.papers, *(e.paper for e in entry.equations))):
            assert key in references, f"{entry.id}: {key}"


def test_importing_is_light() -> None:
    code = "import sys, hebbarium; print([m for m in ('torch', 'faiss', 'numba', 'numpy', 'sentence_transformers') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_loads_nothing_heavy() -> None:
    code = ("import sys; from hebbarium.cli import main; sys.argv = ['hebbarium', '--help']\n"
            "try: main()\nexcept SystemExit: pass\n"
            "print([m for m in ('torch', 'faiss', 'numba', 'numpy', 'pydantic') if m in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_nothing_of_this_machine_stands_in_the_files() -> None:
    for file in (f for files in FILES.values() for f in files):
        text = file.read_text(encoding="utf-8")
        assert str(Path.home()) + "/" not in text and str(ROOT) not in text, file
