"""The blocks of the pages on frameworks print what stands below them, and a framework that is not
installed is named with its cure.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from hebbarium import HebbariumError

PAGES = Path(__file__).parents[2] / "docs" / "doors"
NEEDED = {"langgraph": "langgraph.store", "llamaindex": "llama_index", "openai_agents": "agents",
          "arrow": "pyarrow"}  # fmt: skip
BLOCK = re.compile(r"^```py\n(.*?)^```$\n\n^```text\n(.*?)^```$", re.M | re.S)
BLOCKS = [
    (name, code, printed)
    for name in ("langgraph", "frameworks")
    for code, printed in BLOCK.findall((PAGES / f"{name}.md").read_text(encoding="utf-8"))
]


def test_every_framework_has_a_block() -> None:
    modules = {
        m for _, code, _ in BLOCKS for m in re.findall(r"hebbarium\.integrations\.(\w+)", code)
    }
    assert modules == set(NEEDED)


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("langgraph", "langgraph.store.base", "langgraph"),
        ("llamaindex", "llama_index.core.schema", "llamaindex"),
        ("openai_agents", "agents", "openai-agents"),
    ],
)
def test_without_its_package_a_module_says_what_to_install(
    module: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"hebbarium.integrations.{module}"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(HebbariumError, match=re.escape(f"pip install 'hebbarium[{extra}]'")):
        import_module(name)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code", "printed"), BLOCKS,
                         ids=[f"{name}-{n}" for n, (name, _, _) in enumerate(BLOCKS)])  # fmt: skip
def test_the_page_runs(
    name: str,
    code: str,
    printed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for module in re.findall(r"hebbarium\.integrations\.(\w+)", code):
        if find_spec(NEEDED[module].partition(".")[0]) is None:
            pytest.skip(f"{NEEDED[module]} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))
    exec(compile(code, f"{name}.md", "exec"), {"__name__": "page"})
    assert capsys.readouterr().out == printed
