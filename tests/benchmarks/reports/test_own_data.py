"""After the demo a report says how to ablate one's own chats, in commands that exist."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from hebbarium.benchmarks.reports.words import with_own_data


def block(dataset: str) -> Any:
    return SimpleNamespace(dataset=dataset, facts=SimpleNamespace(set="minimal"))


def test_the_commands_exist_and_lead_from_one_to_the_next(
    hebbarium: Callable[..., tuple[int, str, str]],
) -> None:
    commands = [line.split() for line in with_own_data(block("demo"))]
    assert [words[:2] for words in commands] == [
        ["hebbarium", "import"],
        ["hebbarium", "data"],
        ["hebbarium", "ablate"],
    ]
    for words in commands:
        names = words[1:3] if words[1] == "data" else words[1:2]
        code, out, err = hebbarium(*names, "--help")
        assert code == 0, err
        for option in filter(re.compile("--").match, words):
            assert option in out, f"{words}: {option}"
    assert all("mine" in words for words in commands)


def test_other_data_are_ones_own_already() -> None:
    assert with_own_data(block("conversations")) == with_own_data(block("locomo")) == ()
