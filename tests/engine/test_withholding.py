"""What the owner archives is never answered, shown, offered or quoted until it is restored; what
mechanisms archive may be reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.context.assembly import STRATEGIES, assemble
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.drafts import Draft, Kind
from hebbarium.engine.contract.hooks import Mechanism, Params, hook
from hebbarium.engine.contract.records import Event
from hebbarium.engine.contract.vocabulary import (
    BUDGET,
    DRAFTS,
    HIDE,
    KIND,
    OFFERS,
    REACH,
    SHOW,
    TEXTS,
    VISIBLE,
    WITHHELD,
    WRITINGS,
)
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder

SECRET = "The password of Ada is plover-nine."
SAID = (
    SECRET,
    "Bo lost his keys in the park.",
    "Ada bought a red boat in May.",
    "The boat has a new sail.",
)


@dataclass(frozen=True, slots=True)
class SourceParams(Params):
    share: float = 100.0


class Reckless(Mechanism[Params]):
    """Votes for every row, and quotes all that it can read: in bundles, writings and offers."""

    @hook(Phase.CONSOLIDATE, reads=(KIND, TEXTS), adds=(DRAFTS, HIDE, SHOW, WRITINGS), sets=())
    def dream(self, view: Any, tick: Any) -> None:
        rows = [row for row in range(len(view.kind)) if view.kind[row] == Kind.EVENT]
        text = " / ".join(view.texts[row] for row in rows)
        view.drafts.add(Draft(text, Kind.BUNDLE, tuple(rows)))
        view.writings.add(f"of all: {text}", "note", self.id, tuple(rows))
        view.show[...] += 1

    @hook(Phase.RETRIEVE, reads=(KIND,), adds=(REACH,), sets=())
    def reach(self, view: Any, cue: Any) -> None:
        view.reach += 3


class Source(Mechanism[SourceParams]):
    """Offers every row, and every text that the memory wrote."""

    @hook(Phase.RETRIEVE, reads=(KIND, WRITINGS, BUDGET), adds=(OFFERS,), sets=())
    def offer(self, view: Any, cue: Any) -> None:
        for row in range(len(view.kind)):
            view.offers.add(row, "All", 1.0)
        for writing in view.writings:
            view.offers.add(writing.text, "Notes", 0.5)


def memory(path: Path | None = None, also: Sequence[Mechanism[Any]] = ()) -> Engine:
    registry = Registry.read()
    mechanisms = [
        *registry.build(registry.set("naive_rag")),
        Reckless("reckless", Params(time_scale=1.0)),
        *also,
    ]
    return Engine(mechanisms, HashingEmbedder(32), path=path)


def told(path: Path | None = None, also: Sequence[Mechanism[Any]] = ()) -> Engine:
    e = memory(path, also)
    e.encode_all([Event(float(i), text, id=f"e{i}", dated=False) for i, text in enumerate(SAID)])
    return e


def quoted(e: Engine, question: str = SECRET) -> bool:
    """Whether any answer or context of any strategy quotes the secret."""
    texts = [unit.text for unit in e.retrieve(question, 50).units]
    texts += [
        assemble(e, question, 4000, strategy=s).text
        for s in STRATEGIES
        if s != "sources" or e.sources
    ]
    return any("plover" in text for text in texts)


def test_what_the_owner_archives_is_never_answered_or_quoted_whatever_is_voted() -> None:
    e = told()
    assert quoted(e)
    e.archive(0)
    assert not quoted(e) and 0 not in e.retrieve(SECRET, 50).rows, "REACH votes for it"
    for night in (30.0, 60.0, 90.0):
        e.encode(Event(night - 3.0, f"Ada said at {night} that she likes tea.", dated=False))
        e.advance(night)
        assert not quoted(e) and not e.column(VISIBLE)[0], "SHOW votes for it"
    made = [row for row in range(e.store.n) if e.unit(row).kind is not Kind.EVENT]
    assert made and all("plover" not in e.unit(row).text for row in made), (
        "hooks read no text of it"
    )
    assert all(e.column(WITHHELD)[row] == 0 and e.column(VISIBLE)[row] for row in made), (
        "what does not quote it is answered"
    )
    assert e.event(0).text == SECRET, "its owner can still read it"


def test_hooks_read_an_event_without_its_text() -> None:
    e = told()
    e.archive(0)
    texts: Any = e.store.structures[TEXTS]
    assert (texts.event(0).text, texts.event(0).id, texts.event(1).text) == ("", "e0", SAID[1])
    e.advance(30.0)
    with pytest.raises(InputError, match="no event"):
        texts.event(4)


def test_what_was_made_from_it_follows_and_comes_back_with_it() -> None:
    e = told()
    e.advance(30.0)
    assert e.unit(4).kind is Kind.BUNDLE and "plover" in e.unit(4).text
    e.archive(0)
    assert e.column(WITHHELD).tolist() == [1, 0, 0, 0, 3] and not quoted(e)
    with pytest.raises(InputError, match="made from what is archived"):
        e.restore(4)
    e.restore(0)
    assert not e.column(WITHHELD).any() and e.column(VISIBLE).all() and quoted(e)
    e.archive(4)
    assert e.column(WITHHELD).tolist() == [0, 0, 0, 0, 1], (
        "an archived unit does not take its events with it"
    )
    assert 0 in e.retrieve(SECRET).rows and 4 not in e.retrieve(SECRET).rows


def test_a_unit_that_a_mechanism_had_hidden_stays_hidden() -> None:
    e = told()
    e.advance(30.0)
    e.assembly.show(4, False)
    e.archive(0)
    assert e.column(WITHHELD)[4] == 2
    e.restore(0)
    assert e.column(VISIBLE).tolist() == [True] * 4 + [False] and 4 in e.retrieve(SECRET).rows, (
        "a mechanism reaches it"
    )


def test_contexts_of_sources_leave_it_out() -> None:
    e = told(also=(Source("source", SourceParams(time_scale=1.0)),))
    e.advance(30.0)
    assert quoted(e)
    e.archive(0)
    e.advance(60.0)
    assert not quoted(e)
    _, offers = e.offers("Ada's boat", 2000)
    assert any(offer.row == 2 for offer in offers) and not any(
        offer.row == 0 or SECRET in offer.text for offer in offers
    )


def test_what_mechanisms_archive_may_be_reached() -> None:
    e = told()
    e.assembly.show(0, False)
    assert 0 in e.retrieve(SECRET).rows and not e.column(WITHHELD).any()


def test_a_snapshot_keeps_it(tmp_path: Path) -> None:
    with told(tmp_path / "a.db") as e:
        e.advance(30.0)
        e.save()
        e.archive(0)
        e.save()
        digest = e.digest()
    with memory(tmp_path / "a.db") as e:
        assert (
            e.digest() == digest
            and e.column(WITHHELD).tolist() == [1, 0, 0, 0, 3]
            and not quoted(e)
        )
        e.restore(0)
    with memory(tmp_path / "a.db") as e:
        assert quoted(e) and not e.column(WITHHELD).any()


def test_an_erased_row_is_withheld_and_cannot_be_restored() -> None:
    e = told()
    e.erase("e0", confirm=True)
    e.advance(30.0)
    assert (
        e.column(WITHHELD)[0] == 1 and not e.column(VISIBLE)[0] and 0 not in e.retrieve(SECRET).rows
    )
    before = e.digest()
    with pytest.raises(InputError, match="row 0 has no text"):
        e.restore(0)
    assert e.digest() == before


def test_a_restored_row_stays_withheld_for_an_archived_one_that_it_was_made_from() -> None:
    e = told()
    e.advance(30.0)
    e.archive(4)
    e.archive(0)
    e.restore(4)
    assert (
        e.column(WITHHELD).tolist() == [1, 0, 0, 0, 3]
        and not e.column(VISIBLE)[4]
        and not quoted(e)
    )
    e.restore(0)
    assert (
        not e.column(WITHHELD).any()
        and e.column(VISIBLE).all()
        and e.assembly.index.visible_mask().all()
    )
