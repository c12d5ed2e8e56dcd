"""Scripts of docs/tools as modules, for tests."""

from __future__ import annotations

import sys
from importlib import util
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
TOOLS = DOCS / "tools"


def script(name: str) -> Any:
    """A script of docs/tools as a module of its own."""
    spec = util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec and spec.loader
    # dataclasses look up their module by name
    module = sys.modules[name] = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
