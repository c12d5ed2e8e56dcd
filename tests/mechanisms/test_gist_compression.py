"""Gist compression: compiled and plain kernels agree, and through the engine strength decides
what is shown, age does not, and the text stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Incoming, Mechanism, Params, hook
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import DETAIL, ENCODING_STRENGTH, INITIAL_STRENGTH
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.text.condensing import condensed
from hebbarium.mechanisms.consolidation import gist_compression as paper
from hebbarium.mechanisms.consolidation import gist_compression_printed as printed

# the kernels take longer to compile than the tests take in Python
pytestmark = pytest.mark.kernels

TEXT = "We booked the cabin by the lake again. The kids want to sail on the lake. So do I!"


class Worth(Mechanism[Params]):
    """Sets an event's encoding strength from its speaker field."""

    @hook(Phase.ENCODE, reads=(), adds=(ENCODING_STRENGTH,), sets=())
    def judge(self, view: Any, incoming: Incoming) -> None:
        view.encoding_strength = np.log(float(incoming.event.speaker))


def after_nights(
    registry: Registry, id: str, worths: list[float], days: float, gap: float = 0.0
) -> Engine:
    memory = Engine(
        [
            Worth("worth", Params(1.0)),
            registry.instance(
                id, {"level": 0.25} if id == "gist_compression" else {"threshold": 1.0}
            ),
        ],
        HashingEmbedder(16),
    )
    for i, worth in enumerate(worths):
        memory.encode(Event(100.0 + gap * i, TEXT, str(worth)))
    memory.advance(memory.now + 24.0 * days)
    return memory


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [(paper.distortion, (1.3, 2.0)), (paper.rate, (3.0, 1.0, 0.2)), (paper.unknown, (0.4,))],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_compiled_equals_plain(kernel: Any, arguments: tuple[float, ...]) -> None:
    assert kernel(*arguments) == pytest.approx(kernel.py_func(*arguments), rel=1e-12)


@pytest.mark.slow
def test_array_kernels_compiled_equal_plain() -> None:
    rng, results = np.random.default_rng(0), []
    loss, worth, age, dependence = (
        rng.random((40, 2)),
        rng.normal(size=40),
        rng.uniform(0, 900, 40),
        rng.random(40),
    )
    for plain in (False, True):
        choose, cut = (k.py_func if plain else k for k in (paper.choose, printed.cut))
        one, other = np.zeros(40, np.int8), np.zeros(40, np.int8)
        choose(loss, worth, 0.25, one)
        cut(900.0, age, dependence, 0.9, 168.0, 720.0, other)
        results.append(np.concatenate([one, other]))
    np.testing.assert_array_equal(results[0], results[1])
    assert len({*results[0][:40]}) == len({*results[0][40:]}) == 3


@pytest.mark.kernels
def test_the_level_of_detail_follows_worth(registry: Registry) -> None:
    memory = after_nights(registry, "gist_compression", [4.0, 1.0, 0.6, 0.3], 1.5)
    loss = memory.store.array(paper.GIST_LOSS)[0]
    assert 0.25 < loss[0] < 0.25 / 0.6 < loss[1] < 0.25 / 0.3
    assert memory.store.array(DETAIL).tolist() == [0, 0, 1, 2]
    assert [
        condensed(memory.unit(row).text, int(memory.column(DETAIL)[row])) for row in range(4)
    ] == [condensed(TEXT, d) for d in memory.store.array(DETAIL)]
    assert (
        len({condensed(memory.unit(row).text, int(memory.column(DETAIL)[row])) for row in range(4)})
        == 3
    )


def test_age_alone_does_not_change_the_level_of_detail(registry: Registry) -> None:
    for days in (1.5, 300.0):
        memory = after_nights(registry, "gist_compression", [1.0, 0.6, 0.3], days, gap=200.0)
        assert memory.store.array(DETAIL).tolist() == [0, 1, 2]


def test_the_verbatim_text_stays_and_is_shown_again_with_more_worth(registry: Registry) -> None:
    memory = after_nights(registry, "gist_compression", [0.3], 1.5)
    assert memory.store.array(DETAIL)[0] == 2 and memory.event(0).text == TEXT
    memory.store.array(INITIAL_STRENGTH)[0] = np.log(4.0)
    memory.advance(memory.now + 24.0)
    assert memory.store.array(DETAIL)[0] == 0 and memory.event(0).text == TEXT


def test_nothing_is_compressed_before_the_first_night(registry: Registry) -> None:
    assert not after_nights(registry, "gist_compression", [0.3, 0.1], 0.5).store.array(DETAIL).any()


def test_printed_form_compresses_by_age_alone(registry: Registry) -> None:
    """At a threshold of 1, which every memory meets without a replay."""
    memory = after_nights(
        registry, "gist_compression_printed", [9.0, 0.1, 0.1, 9.0], 1.5, gap=300.0
    )
    assert memory.store.array(DETAIL).tolist() == [2, 1, 1, 0]
