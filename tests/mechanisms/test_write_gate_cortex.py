"""write_gate_cortex: compiled and plain kernels agree; in the engine repetitions are rejected
and new events are stored.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.mechanisms.encoding import write_gate_cortex as gate

Build = Callable[..., Engine]
SAID = (
    "Ada moved to Oslo with her cello",
    "the kettle boiled over again",
    "Bo saw a heron at the harbour",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "cases"),
    [
        (gate.embedding_error, [(0.3,), (1.2,), (-0.4,)]),
        (gate.overlap_error, [(1, 3, 2), (0, 0, 0)]),
        (gate.time_error, [(0.5, 2.0), (np.inf, 2.0)]),
        (gate.prediction_error, [(np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, 2.0, 0.5, 0.0]))]),
        (gate.admits, [(0.2, 0.2), (0.3, 0.2)]),
        (
            gate.last_of,
            [(np.array([0, 1, 0], dtype=np.int32), 1), (np.array([0], dtype=np.int32), 5)],
        ),
    ],
)
def test_compiled_equals_plain(
    kernel: Callable[..., float], cases: list[tuple[object, ...]]
) -> None:
    for case in cases:
        assert kernel(*case) == pytest.approx(kernel.py_func(*case), rel=1e-14)  # type: ignore[attr-defined]


def filled(build: Build, texts: tuple[str, ...], **params: object) -> Engine:
    memory = build("write_gate_cortex", params={"write_gate_cortex": params})
    memory.encode_all(
        Event(float(i), text, session=f"s{i}", dated=False) for i, text in enumerate(texts)
    )
    return memory


def test_repetitions_are_vetoed_but_kept_in_the_event_log(build: Build) -> None:
    memory = filled(build, SAID + SAID)
    assert memory.event_log.row_of == [0, 1, 2, -1, -1, -1]


def test_with_the_lowest_threshold_everything_is_stored(build: Build) -> None:
    assert filled(build, SAID * 2, threshold=-0.01).store.n == 6


def test_time_scale_stretches_news_time(build: Build) -> None:
    errors = []
    for params in ({"news_time": 4.0}, {"news_time": 2.0, "time_scale": 2.0}):
        memory = build("write_gate_cortex", params={"write_gate_cortex": params})
        memory.encode_all(
            Event(2.0 * i, text, session="s", dated=False) for i, text in enumerate(SAID)
        )
        errors.append(memory.store.array(gate.CORTEX_ERRORS)[2])
    assert errors == pytest.approx([1.0 - np.exp(-0.5)] * 2, rel=1e-12)
