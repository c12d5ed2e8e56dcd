"""`hebbarium.author` is complete and documented; `hebbarium.testing` has its fixtures, and loads
nothing in test runs that do not use it.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from statements import module

from hebbarium import author
from hebbarium.engine import contract as engine_contract
from hebbarium.engine.contract import hooks as contract
from hebbarium.engine.contract import vocabulary
from hebbarium.engine.contract.columns import Column, Structure
from hebbarium.testing import Build, MechanismTests, numbered

ROOT = Path(__file__).parent.parent


def test_every_shared_column_and_structure_is_there() -> None:
    shared = {
        name for name, value in vars(vocabulary).items() if isinstance(value, (Column, Structure))
    }
    assert shared and shared < set(engine_contract.__all__) < set(author.__all__)
    assert all(getattr(author, name) is getattr(vocabulary, name) for name in shared)


def test_what_every_mechanism_of_ours_imports_from_the_engine_is_there() -> None:
    """Of names that more than ten mechanisms import."""
    count: dict[str, int] = {}
    for file in (ROOT / "mechanisms").glob("*/*.py"):
        for node in module(file).imports:
            if isinstance(node, ast.ImportFrom) and node.level == 3:
                for alias in node.names:
                    count[alias.name] = count.get(alias.name, 0) + 1
    often = {name for name, n in count.items() if n > 10}
    assert "hook" in often and often <= set(author.__all__)


def test_what_mechanisms_of_ours_import_from_the_contract_is_there() -> None:
    names = {
        alias.name
        for file in (ROOT / "mechanisms").glob("*/*.py")
        for node in module(file).imports
        if isinstance(node, ast.ImportFrom) and node.module == "engine.contract.hooks"
        for alias in node.names
    }
    assert (
        "forecast" in names
        and names <= set(author.__all__)
        and author.forecast is contract.forecast
    )


def test_the_contract_is_handed_on_and_listed_once() -> None:
    """Names of the contract stand in `contract.__all__` alone; the docstring names the modules
    that define the others.
    """
    tree = ast.parse(Path(author.__file__).read_text(encoding="utf-8"))
    imported = {
        a.name: n.module or ""
        for n in tree.body
        if isinstance(n, ast.ImportFrom) and n.level
        for a in n.names
        if n.module != "engine" and a.name != "*"
    }
    assert not set(imported) & set(engine_contract.__all__)
    assert {*imported, *engine_contract.__all__} == set(author.__all__)
    assert len(author.__all__) == len(set(author.__all__))
    assert all(
        getattr(author, name) is getattr(engine_contract, name) for name in engine_contract.__all__
    )
    for source in set(imported.values()):
        assert f"`{source}`" in str(author.__doc__), source


@pytest.mark.slow
def test_a_test_run_that_does_not_use_the_plugin_loads_nothing_of_ours(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text(
        "import sys\ndef test_nothing():\n    assert not [m for m in sys.modules if m.startswith('hebbarium')]\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_build_makes_an_engine_of_named_mechanisms_with_overrides(build: Build) -> None:
    memory = build("recency", "convex_fusion", params={"recency": {"weight": 0.5}})
    memory.encode_all(numbered(1, 2, 3))
    assert [m.id for m in memory.assembly.mechanisms] == ["recency", "convex_fusion"]
    assert (
        memory.assembly.mechanisms[0].params.weight == 0.5
        and memory.retrieve("number").rows.tolist()[0] == 2
    )


def test_mechanism_tests_fail_without_the_package() -> None:
    class Missing(MechanismTests):
        package = "no_such_package"

    with pytest.raises(AssertionError, match="pip install -e"):
        Missing().test_the_package_is_installed_and_registers_mechanisms()


def test_the_example_opens_no_room_but_the_contract() -> None:
    """The mechanism of CONTRIBUTING imports the contract alone, and its evidence the audit."""
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for path, rooms in (("mechanisms/", {"engine.contract"}), ("audit/evidence/", set[str]())):
        (code,) = re.findall(rf"(?ms)^```python {path}\S+\n(.*?)^```$", guide)
        relative = [
            node
            for node in ast.walk(ast.parse(code))
            if isinstance(node, ast.ImportFrom) and node.level
        ]
        assert relative
        assert {str(node.module) for node in relative if node.level == 3} == rooms
        assert all(node.level == 2 for node in relative if not rooms)
