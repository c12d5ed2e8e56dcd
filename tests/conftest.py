"""Fixtures of all tests: those of `hebbarium.testing`, with the registry of this repository alone."""
from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from browsers import BROWSERS

from hebbarium.engine.registry import Registry

pytest_plugins = ["hebbarium.testing"]


@pytest.fixture(scope="session")
def registry() -> Registry:
    return Registry.read()


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Without a browser the test that opens the report in one is not collected; continuous integration installs a browser."""
    return True if collection_path.name == "test_page_in_browser.py" and not any(map(shutil.which, BROWSERS)) else None


def pytest_report_header() -> str:
    return "browser: " + (next(filter(None, map(shutil.which, BROWSERS)), None) or f"none of {', '.join(BROWSERS)}; the report is not opened in one")
