"""Lists and people that an experiment must bear: lists of one word, of equal words, of words that no
model knows, and people who recall nothing; each goes through protocol, readout and scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hebbarium.benchmarks.designs.arms import Arm
from hebbarium.benchmarks.execution.ledger import Ledger
from hebbarium.benchmarks.execution.plan import planned
from hebbarium.benchmarks.people.data import (
    DELAYED,
    RecallTrial,
    by_person,
    half,
    shipped_trials,
    written,
)
from hebbarium.benchmarks.people.free_recall import (
    counts,
    curves,
    followed_by,
    recalled_by,
    summary,
)
from hebbarium.benchmarks.people.list_study import ListMeasure, people_of
from hebbarium.benchmarks.people.readout import COLDEST, HOTTEST, STOP, Readout, fitted
from hebbarium.benchmarks.systems.hebbarium import Hebbarium
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.flow.observer import Stopwatch
from hebbarium.engine.ports.embedder import HashingEmbedder, Vectors
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

REGISTRY = Registry.read()
EAGER = Readout(0.5, -50.0)  # never stops while a word is left
UNKNOWN = ("xqzvw", "ℵ₀", "漢字", "🐢🐢", "ẞß", "0", "__")
LISTS = {
    "one word": (("swamp",), 1),
    "equal words": (("swamp",) * 5, 1),
    "words that no model knows": (UNKNOWN, len(UNKNOWN)),
}


class Ignorant(HashingEmbedder):
    """A model that gives every text the same vector, as one does that knows none of its pieces."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        return super().embed(["[UNK]"] * len(texts))


def a_list(words: tuple[str, ...], recalls: tuple[int, ...] = (), number: int = 1) -> RecallTrial:
    times = tuple(1000 * (n + 1) for n in range(len(recalls)))
    return RecallTrial("MTK0002", number, "v", 800, 12000, words, recalls, times)


def memory(name: str, embedder: HashingEmbedder | None = None) -> Hebbarium:
    chosen = REGISTRY.build(REGISTRY.set(name))
    return Hebbarium(chosen, embedder or HashingEmbedder(16), 0, Stopwatch())


@pytest.mark.parametrize("name", ["people", "minimal"])
@pytest.mark.parametrize("kind", list(LISTS))
def test_odd_lists_are_told_recalled_and_followed(name: str, kind: str) -> None:
    words, different = LISTS[kind]
    lists = [a_list(words), a_list(words, number=2)]
    embedder = Ignorant(16) if kind.endswith("knows") else None
    lived = recalled_by(memory(name, embedder), lists, EAGER, np.random.default_rng(0))
    assert lived.refused == 0 and lived.told == 2 * len(words)
    for trial in lived.trials:
        texts = [words[abs(place) - 1] for place in trial.recalls if place > 0]
        assert len(set(texts)) == len(texts) and len(trial.recalls) == different
        assert all(math.isfinite(time) for time in trial.times)
    shown = curves(counts(lived.trials, len(words)))
    assert np.isfinite(shown["position"]).all() and np.isfinite(shown["number"]).all()
    own = [a_list(words, tuple(range(1, len(words) + 1)))]
    choices, _ = followed_by(memory(name, embedder), own)
    assert len(choices) == different + 1 and choices[-1].chosen == STOP
    readout = fitted(choices)
    assert COLDEST <= readout.temperature <= HOTTEST + 1e-9


def test_someone_who_recalls_nothing_stops_each_list_and_can_be_fitted() -> None:
    own = [a_list(("swamp", "rake", "lava"), number=n) for n in (1, 2)]
    choices, (refused, told) = followed_by(memory("people"), own)
    assert [choice.chosen for choice in choices] == [STOP, STOP] and (refused, told) == (0, 6)
    readout = fitted(choices)
    lived = recalled_by(memory("people"), own, readout, np.random.default_rng(0))
    assert [trial.recalls for trial in lived.trials] == [(), ()]  # as people: nothing
    shown = summary(counts(lived.trials, 3))
    assert shown == {"recalled": 0.0, "intrusions": 0.0}


@pytest.fixture(scope="module")
def silent_people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of people of both halves, of whom the first of each half recalls nothing."""
    file = tmp_path_factory.mktemp("silent") / "people.tsv"
    people = by_person(shipped_trials())
    chosen = list[RecallTrial]()
    for kept in ("fitting", "reporting"):
        names = [name for name in people if half(name) == kept][:4]
        for place, name in enumerate(names):
            few = [next(t for t in people[name] if t.length == size) for size in (12, 24)]
            assert {t.length for t in few} == {12, 24}
            chosen += few if place else [replace(t, recalls=(), times=()) for t in few]
    file.write_text(written(chosen), encoding="utf-8")
    return file


@pytest.mark.slow
def test_people_with_no_recalls_are_counted_and_their_lists_take_part(
    silent_people: Path, tmp_path: Path
) -> None:
    halves, targets = people_of(DELAYED, silent_people, 4)
    assert any(not t.recalls for own in halves["reporting"].values() for t in own)
    for length, target in targets.items():
        assert target["number"]["values"][0] > 0.0, length  # lists without a recall
    embedder = CachedEmbedder(HashingEmbedder(16), tmp_path / "cache.sqlite")
    arm = planned([Arm("people", REGISTRY.set("people"))], REGISTRY).arms[0]
    book = Ledger(tmp_path / "ledger.sqlite")
    mine = ListMeasure(DELAYED, halves, REGISTRY, embedder, book, 1, None).row(arm, targets, 1)
    assert not mine.why and mine.readout and math.isfinite(mine.score.mean)
