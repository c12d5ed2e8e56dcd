"""The rooms: who may import whom, what is where, and that lists of names agree."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from statements import module

from hebbarium.engine.catalogue.registry import Registry

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "hebbarium"
ROOMS = ("engine", "mechanisms", "audit", "benchmarks")
FILES = {room: sorted((ROOT / room).rglob("*.py")) for room in ROOMS}

# Floors, lowest first: every folder of `engine` is one.  A module belongs to the longest name that
# matches; modules of the package that are not named here stand on the floor of "hebbarium".
FLOORS = (
    ("engine.base",),
    ("reporting", "engine.text"),
    ("engine.contract",),
    ("engine.ports", "engine.catalogue"),
    ("engine.state",),
    ("engine.flow",),
    ("engine.steps",),
    ("engine.saving", "engine.scale"),
    ("engine.context",),
    ("engine.memory",),
    ("engine.arms",),
    ("engine",),
    ("mechanisms.shared",),
    ("mechanisms",),
    ("audit", "benchmarks"),
    ("hebbarium",),
    ("doors",),
    ("cli", "integrations"),
    ("__main__",),
)
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names}
REPORTING_IMPORTS = {"reporting", "engine.base", ""}


def modules() -> dict[str, Path]:
    """Every module of the package, named without `hebbarium.`; the package itself is ""."""
    rooms = {
        ".".join(f.relative_to(ROOT).with_suffix("").parts): f
        for files in FILES.values()
        for f in files
    }
    own = {
        ".".join(f.relative_to(PACKAGE).with_suffix("").parts): f
        for f in sorted(PACKAGE.rglob("*.py"))
        if f.relative_to(PACKAGE).parts[0] not in ROOMS
    }
    return {
        name.removesuffix("__init__").removesuffix("."): file
        for name, file in {**own, **rooms}.items()
    }


MODULES = modules()


@cache
def imported(name: str) -> frozenset[str]:
    """The modules of the package that a module imports, wherever the statement stands; imports
    for type checking included.
    """
    file = MODULES[name]
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in module(file).imports:
        if isinstance(node, ast.Import):
            found |= {
                a.name.partition(".")[2]
                for a in node.names
                if a.name.partition(".")[0] == "hebbarium"
            }
        else:
            base = package.split(".") if package else []
            path = (
                [*base[: len(base) - node.level + 1], *(node.module or "").split(".")]
                if node.level
                else (node.module or "").split(".")[1:]
            )
            if node.level or (node.module or "").partition(".")[0] == "hebbarium":
                inside = ".".join(filter(None, path))
                found |= {
                    below
                    if (below := ".".join(filter(None, (inside, a.name)))) in MODULES
                    else inside
                    for a in node.names
                }
    return frozenset(other for other in found if other in MODULES and other != name)


# the package's own __init__ names what it loads at first use; its imports are for type checking
# alone
LAZY = {""}


def room(name: str) -> str:
    """The longest name in FLOORS that a module falls under.

    >>> room("engine.state.graph"), room("engine.memory.engine"), room("api")
    ('engine.state', 'engine.memory', 'hebbarium')
    """
    parts = name.split(".")
    return next(
        (r for size in range(len(parts), 0, -1) if (r := ".".join(parts[:size])) in FLOOR),
        "hebbarium",
    )


@pytest.mark.parametrize("here", sorted({room(name) for name in set(MODULES) - LAZY}))
def test_a_lower_floor_never_imports_a_higher_one(here: str) -> None:
    for name in sorted(name for name in set(MODULES) - LAZY if room(name) == here):
        for other in sorted(imported(name) - LAZY):
            there = room(other)
            assert FLOOR[there] < FLOOR[here] or there == here, (
                f"{name} ({here}) imports {other} ({there})"
            )


def test_no_modules_import_each_other_in_a_circle() -> None:
    done: set[str] = set()
    path: list[str] = []

    def visit(name: str) -> None:
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name not in done:
            path.append(name)
            for other in sorted(imported(name) - LAZY):
                visit(other)
            path.pop()
            done.add(name)

    for name in sorted(set(MODULES) - LAZY):
        visit(name)


def test_the_picture_of_the_imports_is_current() -> None:
    """If not, run `python docs/tools/draw_imports.py`."""
    spec = importlib.util.spec_from_file_location(
        "draw_imports", ROOT / "docs" / "tools" / "draw_imports.py"
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pairs = {
        (room(name), room(other))
        for name in set(MODULES) - LAZY
        for other in imported(name) - LAZY
        if room(name) != room(other)
    }
    picture = module.HERE.read_text(encoding="utf-8")
    assert picture == module.drawn(FLOORS, pairs) == module.drawn(*module.read())
    assert len(pairs) == picture.count('class="import"') > 50 and 'class="upward"' not in picture
    assert 'class="upward"' in module.drawn(FLOORS, {*pairs, ("engine", "mechanisms")})


def test_reporting_imports_the_ground_of_the_engine_alone() -> None:
    for name in MODULES:
        if room(name) == "reporting":
            assert {
                other for other in imported(name) if room(other) not in REPORTING_IMPORTS
            } == set(), name


def test_mechanisms_never_import_each_other() -> None:
    """They share code through mechanisms/shared, which imports only the engine and itself."""
    for name in MODULES:
        if room(name) == "mechanisms":
            assert not {other for other in imported(name) if room(other) == "mechanisms"}, name


def test_engine_names_no_mechanism() -> None:
    """Neither as an identifier nor as a string; the lists of English words, which hold "heat" as
    such, are left out.
    """
    ids = set(Registry.read().entries)
    classes = {e.path.partition(":")[2] for e in Registry.read().entries.values()}
    for file in FILES["engine"]:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | {
            n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)
        }
        strings = {
            n.value
            for n in ast.walk(tree)
            if isinstance(n, ast.Constant) and isinstance(n.value, str)
        }
        assert not (ids | classes) & names, file
        assert file.stem == "english" or not ids & strings, file


def test_every_module_of_the_engine_lies_in_a_room_that_says_what_it_is_for() -> None:
    assert [f.name for f in (ROOT / "engine").glob("*.py")] == ["__init__.py"]
    for folder in sorted(f.parent for f in (ROOT / "engine").glob("*/__init__.py")):
        assert f"engine.{folder.name}" in FLOOR, folder
        sentence = (
            ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
        )
        assert sentence.endswith(".") and len(sentence.splitlines()) == 1, folder


def test_root_init_imports_nothing() -> None:
    body = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8")).body
    assert len(body) == 1 and isinstance(body[0], ast.Expr)


def test_every_mechanism_has_its_three_places() -> None:
    registry = Registry.read()
    homes = {
        p.stem: p.parent.name
        for p in FILES["mechanisms"]
        if p.stem != "__init__" and p.parent.name != "shared"
    }
    assert homes == {e.id: e.home for e in registry.entries.values()}
    assert {p.stem for p in (ROOT / "audit" / "evidence").glob("*.py")} - {"__init__"} == set(
        registry.entries
    )


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
    code = (
        "import sys; from hebbarium.cli import main; sys.argv = ['hebbarium', '--help']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([m for m in ('torch', 'faiss', 'numba', 'numpy', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_nothing_of_this_machine_stands_in_the_files() -> None:
    for file in (f for files in FILES.values() for f in files):
        text = file.read_text(encoding="utf-8")
        assert str(Path.home()) + "/" not in text and str(ROOT) not in text, file


def names_in_code(file: Path) -> set[str]:
    """Functions, classes and methods (Class.method) that a file defines or imports."""
    found = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}.{member.name}"
                for member in node.body
                if isinstance(member, ast.FunctionDef)
            }
    return found


def test_every_function_of_the_walks_through_the_code_exists() -> None:
    text = " ".join((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split())
    named = re.findall(r"`([\w/]+\.py): ([\w.]+)`", text)
    assert len(named) > 30
    for file, name in named:
        assert name in names_in_code(ROOT / file), f"{file}: {name}"
