"""CPU seconds to compile: the hooks of a first life less those of a second, in a process of its
own.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import Any

import pytest

from hebbarium.benchmarks.composition import cold
from hebbarium.engine.base.errors import HebbariumError
from hebbarium.engine.catalogue.registry import MechanismSet
from hebbarium.engine.contract.columns import Phase

CHOSEN = MechanismSet("some", "", {"lexical_bm25": {"weight": 0.9}, "convex_fusion": {}})


class Times:
    def __init__(self, ms: dict[tuple[str, Phase], float]) -> None:
        self.ms = ms


def test_the_second_life_is_taken_from_the_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lives = [
        ({("lexical_bm25", Phase.ENCODE): 500.0}, {("lexical_bm25", Phase.RETRIEVE): 700.0}),
        ({("lexical_bm25", Phase.ENCODE): 20.0}, {("lexical_bm25", Phase.RETRIEVE): 30.0,
                                                 ("convex_fusion", Phase.RETRIEVE): 5.0}),
    ]  # fmt: skip
    asked = []

    def lived(chosen: MechanismSet, *_: Any, **__: Any) -> tuple[Times, Times]:
        asked.append(chosen)
        told, questions = lives[len(asked) - 1]
        return Times(told), Times(questions)

    monkeypatch.setattr(cold, "lived", lived)
    given = {"name": "some", "summary": "", "mechanisms": {"lexical_bm25": {"weight": 0.9},
                                                            "convex_fusion": {}}}  # fmt: skip
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(given)))
    cold.main()
    # what costs more when it is compiled already has compiled nothing
    assert json.loads(capsys.readouterr().out) == {"lexical_bm25": 1.15, "convex_fusion": 0.0}
    assert asked == [CHOSEN, CHOSEN]


def test_a_process_that_fails_is_an_error_with_its_last_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: dict[str, Any] = {}

    def run(words: list[str], **more: Any) -> subprocess.CompletedProcess[str]:
        seen.update(more, words=words)
        return subprocess.CompletedProcess(words, 1, "", "Traceback ...\nMemoryError")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(HebbariumError, match="MemoryError"):
        cold.compile_seconds(CHOSEN)
    assert json.loads(seen["input"])["mechanisms"] == {
        "lexical_bm25": {"weight": 0.9},
        "convex_fusion": {},
    }
    assert seen["env"]["HEBBARIUM_CACHE"] == seen["env"]["NUMBA_CACHE_DIR"]


def test_the_process_prints_what_the_caller_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = 'a line of a library\n{"lexical_bm25": 0.5}\n'
    monkeypatch.setattr(
        subprocess, "run", lambda words, **_: subprocess.CompletedProcess(words, 0, printed, "")
    )
    assert cold.compile_seconds(CHOSEN) == {"lexical_bm25": 0.5}
