"""Scripts of docs/tools as modules, for tests."""

from __future__ import annotations

import sys
from importlib import util
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
TOOLS = DOCS / "tools"


def script(name: str) -> Any:
    """A script of docs/tools as a module of its own; it finds its neighbours as when it is run."""
    spec = util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec and spec.loader
    # dataclasses look up their module by name
    module = sys.modules[name] = util.module_from_spec(spec)
    sys.path.insert(0, str(TOOLS))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(TOOLS))
    return module
