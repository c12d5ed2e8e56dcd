"""What every room's tests share."""
from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hebbarium.engine.contract import Mechanism
from hebbarium.engine.loop import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.registry import Registry

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="session")
def registry() -> Registry:
    return Registry.read()


@pytest.fixture
def build(registry: Registry) -> Callable[..., Engine]:
    """A memory of some mechanisms by id, on a hashing embedder."""

    def make(*ids: str, params: dict[str, dict[str, Any]] | None = None, path: Path | None = None, **options: Any) -> Engine:
        chosen: list[Mechanism[Any]] = [registry.instance(i, (params or {}).get(i)) for i in sorted(ids, key=registry.order.__getitem__)]
        return Engine(chosen, HashingEmbedder(32), path=path, **options)

    return make


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """The page is opened in a browser where there is one; continuous integration installs it."""
    return True if collection_path.name == "test_page_in_browser.py" and not any(map(shutil.which, BROWSERS)) else None


def pytest_report_header() -> str:
    return "browser: " + (next(filter(None, map(shutil.which, BROWSERS)), None) or f"none of {', '.join(BROWSERS)}; the report is not opened in one")
