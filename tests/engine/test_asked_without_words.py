"""A question with a session and no text: signals of the text are neutral, and the session's present
context ranks.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tiers import EVERYDAY_SETS, slow_unless

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Signal
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.contract.vocabulary import MATCH
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder

REGISTRY = Registry.read()
GATES = ("write_gate_true_memory", "write_gate_cortex")
LISTS = {"first": ("swamp", "spouse", "crater", "lava"), "second": ("atlas", "chapel", "leopard")}
SECOND, PAUSE = 1.0 / 3600.0, 0.05  # h


def told(*mechanisms: str) -> Engine:
    """A memory of two short lists, each in a session of its own, with a pause after each."""
    memory = Engine([REGISTRY.instance(id) for id in mechanisms], HashingEmbedder(32))
    time = 1000.0
    for session, words in LISTS.items():
        for word in words:
            time += 2.0 * SECOND
            memory.encode(Event(time, word, session=session, dated=False))
        time += PAUSE
        memory.advance(time)
    return memory


@pytest.mark.parametrize("name", slow_unless(EVERYDAY_SETS, ["minimal", "default", "everything"]))
def test_no_direct_signal_distinguishes_memories_in_a_set(name: str) -> None:
    ids = [id for id in REGISTRY.set(name).mechanisms if id not in GATES]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        memory = told(*ids)
    before = memory.assembly.digest()
    for session in ("second", "first", "never", ""):
        answer = memory.retrieve(Query("", memory.now, session=session), k=99)
        assert memory.column(MATCH).tolist() == [0.0] * 7, session
        assert len(answer) == 7 and np.isfinite(answer.scores).all()
    assert memory.assembly.digest() == before
    own = {c for m in memory.assembly.mechanisms for c in m.owns if isinstance(c, Signal)}
    assert any(c.direct for c in own)


@pytest.mark.parametrize(("session", "last"), [("first", 3), ("second", 6)])
def test_the_context_of_the_session_ranks_by_lag_from_its_last_event(
    session: str, last: int
) -> None:
    """t_last . t_j is the product of the retentions between, by Howard and Kahana's recursion."""
    memory = told("temporal_context", "dense_similarity", "convex_fusion")
    answer = memory.retrieve(Query("", session=session), k=7)
    kept = memory.column("context_retention").astype(np.float64)
    products = [float(np.prod(kept[min(j, last) + 1 : max(j, last) + 1])) for j in range(len(kept))]
    context = memory.column("context").astype(np.float64)
    np.testing.assert_allclose(context / context[last], products, rtol=1e-5)
    assert answer.rows.tolist() == np.argsort(-np.array(products), kind="stable").tolist()


def test_without_words_and_without_a_session_nothing_is_preferred() -> None:
    memory = told("temporal_context", "dense_similarity", "convex_fusion")
    assert set(memory.retrieve("").scores.tolist()) == {0.0}


def test_a_recall_moves_the_context_of_the_next_question_without_words() -> None:
    """After the use of the first word its neighbour gains on the word before the last."""
    memory = told("temporal_context", "dense_similarity", "convex_fusion")
    answer = memory.retrieve(Query("", session="first"), k=7)
    before = memory.column("context").astype(np.float64)
    memory.use(answer, 0)
    memory.retrieve(Query("", session="first"))
    after = memory.column("context").astype(np.float64)
    assert answer.rows[0] == 3 and before[1] < before[2]
    assert after[1] / after[2] > 1.1 * before[1] / before[2]
