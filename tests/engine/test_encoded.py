"""What `encode` returns: a row, or which gates refused the event; and the one warning of a
memory that refuses.
"""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest

import hebbarium as hb
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Mechanism
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import VETO
from hebbarium.engine.flow.observer import Observer
from hebbarium.engine.memory.encoded import Encoded, VetoWarning
from hebbarium.testing.small import does, mechanism, memory


def gate(id: str, word: str) -> Mechanism[Any]:
    """Refuses events with a word."""
    return mechanism(
        id,
        does(
            Phase.ENCODE,
            lambda view, incoming: setattr(view, "veto", int(word in incoming.event.text)),
            adds=[VETO],
        ),
    )


@pytest.mark.parametrize(
    "one", [Encoded(0), Encoded(7), Encoded(vetoed_by=["a", "b", "c"])], ids=repr
)
def test_copies_keep_what_became_of_the_event(one: Encoded) -> None:
    for other in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
        assert type(other) is Encoded and (other, other.vetoed_by, other.why, repr(other)) == (
            one,
            one.vetoed_by,
            one.why,
            repr(one),
        )
    assert json.loads(json.dumps(one)) == int(one) and hash(one) == hash(int(one))


def test_a_stored_event_is_its_row_wherever_a_row_is_asked_for() -> None:
    m = memory(gate("shut", "no"))
    stored, refused = m.encode_all([Event(0.0, "yes"), Event(1.0, "no")])
    assert (stored, bool(stored), stored.row, m.event(stored).text, ["x"][stored]) == (
        0,
        True,
        0,
        "yes",
        "x",
    )
    assert (refused, bool(refused), refused.row, refused.vetoed_by) == (-1, False, None, ("shut",))
    for asked in (m.event, m.unit, m.archive, m.restore):
        with pytest.raises(InputError, match="row"):
            asked(refused)


def test_the_names_are_those_of_the_last_event() -> None:
    m = memory(gate("first", "1"), gate("second", "2"))
    told = [
        m.encode(Event(float(i), text)).vetoed_by for i, text in enumerate(("12", "", "2", "1", ""))
    ]
    assert told == [("first", "second"), (), ("second",), ("first",), ()]


def test_the_first_refusal_of_a_memory_warns_once_with_the_gate_and_how_to_leave_it_out(
    tmp_path: Path,
) -> None:
    told = [Event(float(i), text) for i, text in enumerate(("yes", "no", "never no", "yes"))]
    for together in (False, True):
        m = memory(gate("shut", "no"), gate("shy", "never"), path=tmp_path / f"{together}.db")
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            _ = m.encode_all(told) if together else [m.encode(event) for event in told]
        warned = [str(one.message) for one in seen if one.category is VetoWarning]
        assert (
            len(warned) == 1
            and "not stored: refused by shut" in warned[0]
            and "without=['shut']" in warned[0]
        )
        m.close()


def test_the_warning_names_the_line_that_encoded() -> None:
    with pytest.warns(VetoWarning) as seen:
        memory(gate("shut", "no")).encode(Event(0.0, "no"))
    assert seen[0].filename == __file__


def test_a_measured_memory_does_not_warn_for_its_observer_counts() -> None:
    watch = Observer()
    m = memory(gate("shut", "no"), observer=watch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert m.encode(Event(0.0, "no")).vetoed_by == ("shut",)
    assert watch.receipts["shut"].votes is not None and watch.receipts["shut"].votes.vetoed == 1


@pytest.mark.slow
@pytest.mark.kernels
def test_the_cure_of_the_warning_works() -> None:
    told = [Event(0.0, "We painted the fence."), Event(1.0, "We painted the fence.")]
    with pytest.warns(VetoWarning, match="write_gate_cortex"):
        refused = hb.memory("cortex", embedding="hashing:64").encode_all(told)[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(
            hb.memory("cortex", embedding="hashing:64", without=list(refused.vetoed_by)).encode_all(
                told
            )
        )
