"""Walks of adjacent_stages are kept as long as the graph stays: the same offers, fewer walks,
and no walk of another state or memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import FOCUS
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval import adjacent_stages
from hebbarium.mechanisms.retrieval.adjacent_stages import KEPT, WALKS, AdjacentStages

REGISTRY = Registry.read()
NAMES = ("Ada", "Bo", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal")
ASKED = "What about the boat?"


@pytest.fixture
def walked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Starts of the walks that were made."""
    made, walk = list[int](), adjacent_stages.walk

    def counted(seeds: Any, *others: Any) -> Any:
        made.append(len(seeds))
        return walk(seeds, *others)

    monkeypatch.setattr(adjacent_stages, "walk", counted)
    yield made


def memory(mechanism: AdjacentStages, first: int = 0) -> Engine:
    made = Engine(
        [*(REGISTRY.instance(id) for id in ("lexical_bm25", "own_stage")), mechanism],
        HashingEmbedder(16),
    )
    made.encode_all(
        Event(
            0.5 * n,
            f"They say {NAMES[(n + first) % 8]} met {NAMES[(n * 3 + first) % 7]} on the boat, number {n}.",
            "Zoe",
            f"S{n // 4}",
            f"e{n}",
        )
        for n in range(48)
    )
    return made


def fresh() -> AdjacentStages:
    found = REGISTRY.instance("adjacent_stages")
    assert isinstance(found, AdjacentStages)
    return found


def forget(made: Engine) -> None:
    made.store.structures[WALKS].forget()


def offered(made: Engine, budget: int = 400, session: str = "S3", asked: str = ASKED) -> list[Any]:
    return [*made.offers(asked, budget, session=session)[1]]


def test_one_walk_for_a_stage_in_a_state_and_the_same_offers(walked: list[int]) -> None:
    made, other = memory(fresh()), memory(fresh())
    by_hand, foci = [], set()
    for asked in (ASKED, "Who met whom?", "And number 13?"):
        for budget in (400, 900):
            found = offered(made, budget, asked=asked)
            foci.add((asked, str(made.column(FOCUS).tolist())))
            forget(other)
            by_hand.append(found == offered(other, budget, asked=asked))
    assert all(by_hand) and len(foci) == 3, "no budget changes where a walk starts"
    once = len(walked) - 6
    assert 1 <= once <= len({focus for _, focus in foci}), (
        "a walk from where one started before is kept"
    )
    offered(made, session="S4")
    offered(made)
    assert len(walked) == once + 6 + 1, "another stage walks once, and the first is still kept"


def test_every_change_of_the_graph_walks_again_and_changes_what_is_offered_as_without_keeping(
    walked: list[int],
) -> None:
    made = memory(fresh())
    changes = (
        lambda: made.encode(
            Event(made.now, "They say Ada met Hal and Gus on the boat.", "Zoe", "S3")
        ),
        lambda: made.erase("e20", confirm=True),
        lambda: made.erase("e47", confirm=True),
        lambda: made.encode_all([Event(made.now, "So Bo met Cleo and Eve.", "Zoe", "S0")]),
    )
    for change in changes:
        before = len(walked)
        offered(made)
        offered(made)
        assert len(walked) <= before + 1
        change()
        now = len(walked)
        found = offered(made)
        assert len(walked) == now + 1
        forget(made)
        assert offered(made) == found
    made.archive(3)
    now = len(walked)
    assert not any(offer.row == 3 for offer in offered(made)) and len(walked) == now, (
        "an archived memory has the same edges, and is not offered"
    )


def test_one_mechanism_in_two_memories_of_the_same_size(walked: list[int]) -> None:
    shared = fresh()
    one, two = memory(shared), memory(shared, first=3)
    alone = [offered(memory(fresh(), first=first)) for first in (0, 3)]
    assert alone[0] != alone[1] and [offered(m) for m in (one, two, one)] == [
        alone[0],
        alone[1],
        alone[0],
    ]


def test_kept_walks_are_few_and_the_mechanism_has_none(walked: list[int]) -> None:
    mechanism = fresh()
    made = memory(mechanism)
    walks, before = made.store.structures[WALKS], dict(vars(mechanism))
    for number in range(3 * KEPT):
        walks.masses(
            made.graph,
            made.store.n,
            [-1 - number % (2 * KEPT)],
            lambda: adjacent_stages.masses(made.graph, made.store.n, [-1], 0.5, 1e-6),
        )
    assert len(walks._kept) == KEPT
    assert offered(made) and vars(mechanism) == before
