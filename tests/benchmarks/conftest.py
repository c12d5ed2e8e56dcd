"""A data set of two short conversations."""
from __future__ import annotations

import pytest

from hebbarium.benchmarks.datasets import Conversation, Dataset, Question
from hebbarium.testing.conformance import talk


@pytest.fixture(scope="session")
def tiny() -> Dataset:
    """Two conversations; each question repeats a few words of its gold event."""
    events = talk(24)
    conversations = []
    for name, mine in (("one", events[:12]), ("two", events[12:])):
        questions = tuple(
            Question(f"{name}-q{i}", " ".join(mine[i].text.split()[:4]), mine[-1].time + 1.0 + i, "single", (mine[i].id,)) for i in (1, 5, 8))
        conversations.append(Conversation(name, tuple(mine), questions))
    return Dataset("tiny", "0" * 64, tuple(conversations), {})
