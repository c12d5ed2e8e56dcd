"""Fixtures of all tests: those of `hebbarium.testing`, with the registry of this repository
alone, and a small data set.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from browsers import BROWSER, BROWSERS
from hypothesis import HealthCheck, settings

from hebbarium.benchmarks.datasets import Conversation, Dataset, Question
from hebbarium.cli import main
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.testing.conformance import talk

pytest_plugins = ["hebbarium.testing", "kernel_forms"]
# How long an example takes says nothing about the code on a busy machine. `make test-all` tries
# properties on ten times as many, by --hypothesis-profile=all.
for profile, examples in (("quick", 40), ("all", 400)):
    settings.register_profile(
        profile, max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("quick")


@pytest.fixture(scope="session")
def registry() -> Registry:
    return Registry.read()


@pytest.fixture(scope="session")
def tiny() -> Dataset:
    """A data set of two short conversations; each question repeats a few words of its gold
    event.
    """
    events = talk(24)
    conversations = []
    for name, mine in (("one", events[:12]), ("two", events[12:])):
        questions = tuple(
            Question(
                f"{name}-q{i}",
                " ".join(mine[i].text.split()[:4]),
                mine[-1].time + 1.0 + i,
                "single",
                (mine[i].id,),
            )
            for i in (1, 5, 8)
        )
        conversations.append(Conversation(name, tuple(mine), questions))
    return Dataset("tiny", "0" * 64, tuple(conversations), {})


@pytest.fixture
def hebbarium(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    """A command run in this process: its exit code, output and errors."""
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["hebbarium", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out, err

    return call


# Modules and tests stay to the end of a process: looking for garbage among them, and often, takes a
# tenth of the processor time of `make test`.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    gc.enable()


# All tests in these files are slow, since their frameworks take seconds to import.
FRAMEWORKS = ("test_langgraph.py", "test_llamaindex.py", "test_openai_agents.py")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files of frameworks are not imported where slow tests are left out."""
    left_out = config.getoption("markexpr") == "not slow"
    return True if left_out and collection_path.name in FRAMEWORKS else None


def pytest_report_header() -> str:
    return "browser: " + (BROWSER or f"none of {', '.join(BROWSERS)}; pages are not opened in one")
