"""A fork never waits for a lock that a thread of its parent held: it gets a new one, or is refused.

A child that waits is ended after a while, and has then said nothing.
"""

from __future__ import annotations

import os
import select
import signal
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread, get_ident
from typing import Any

import numpy as np
import pytest

import hebbarium as hb
from hebbarium.benchmarks.drills.children import started
from hebbarium.benchmarks.execution.ledger import Ledger
from hebbarium.engine.base import forks
from hebbarium.engine.base.errors import HebbariumError
from hebbarium.engine.base.forks import SQLITE, ForkGate, ForkLock
from hebbarium.engine.context.cache import ContextCache
from hebbarium.engine.ports.embedder import HashingEmbedder, Vectors
from hebbarium.engine.ports.embedding_cache import CachedEmbedder, MeteredEmbedder
from hebbarium.engine.ports.language_model import MeteredLanguageModel, NoModel, Request
from hebbarium.engine.ports.reranker import CachedReranker, WordOverlapReranker
from hebbarium.engine.ports.transcript import Transcript
from hebbarium.engine.text import compression
from hebbarium.engine.text.memo import TextMemo

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
LONGEST = 10.0  # s, after which a child is taken to wait for ever
FINE = "fine"


def in_fork(do: Callable[[], object]) -> str:
    """FINE, or what a forked process raises; "" if it waits for ever."""

    def work(writer: int) -> None:
        try:
            do()
            said = FINE
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writer, said.encode())

    child, pipe = started(work)
    with pipe:
        if not select.select([pipe], [], [], LONGEST)[0]:
            os.kill(child, signal.SIGKILL)
        said = (pipe.readall() or b"").decode()
        os.waitpid(child, 0)
    return said


@contextmanager
def another_thread(within: Any) -> Iterator[None]:
    """While another thread is in a context."""
    begun, go_on = Event(), Event()

    def hold() -> None:
        with within:
            begun.set()
            go_on.wait(6 * LONGEST)

    thread = Thread(target=hold, daemon=True)
    thread.start()
    assert begun.wait(LONGEST)
    try:
        yield
    finally:
        go_on.set()
        thread.join()


class Slow(HashingEmbedder):
    """Waits within `embed` until it may go on."""

    def __init__(self) -> None:
        super().__init__(16)
        self.begun, self.go_on = Event(), Event()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.begun.set()
        self.go_on.wait(6 * LONGEST)
        return super().embed(texts)


@pytest.mark.parametrize("kind", [CachedEmbedder, MeteredEmbedder])
def test_an_embedder_that_another_thread_uses_is_refused_in_a_fork(
    kind: Any, tmp_path: Path
) -> None:
    slow = Slow()
    embedder = (
        CachedEmbedder(slow, tmp_path / "cache.sqlite")
        if kind is CachedEmbedder
        else MeteredEmbedder(slow)
    )
    thread = Thread(target=embedder.embed, args=(["one"],), daemon=True)
    thread.start()
    assert slow.begun.wait(LONGEST)
    said = in_fork(lambda: embedder.embed(["two"]))
    twice = in_fork(lambda: in_fork_again(embedder))
    slow.go_on.set()
    thread.join()
    assert said.startswith("HebbariumError") and "another thread used this embedder" in said
    assert "spawn" in said and twice == FINE
    assert in_fork(lambda: embedder.embed(["two"])) == FINE
    np.testing.assert_array_equal(embedder.embed(["one"]), HashingEmbedder(16).embed(["one"]))


def in_fork_again(embedder: CachedEmbedder | MeteredEmbedder) -> None:
    """A fork of the fork is refused, too."""
    assert "another thread used" in in_fork(lambda: embedder.embed(["two"]))


def test_a_reranker_and_a_language_model_that_are_in_use_are_refused_in_a_fork() -> None:
    reranker, model = CachedReranker(WordOverlapReranker(), None), MeteredLanguageModel(NoModel())
    asked = Request(
        "test",
        "who?",
        "",
        {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
        8,
    )
    with another_thread(reranker._lock.lock), another_thread(model._turn.lock):
        assert "this reranker" in in_fork(lambda: reranker.score("a", ["a"]))
        assert "this language model" in in_fork(lambda: model.ask([asked]))
    assert in_fork(lambda: (reranker.score("a", ["a"]), model.ask([asked]))) == FINE


def test_memos_of_texts_are_emptied_and_go_on_in_a_fork() -> None:
    memo, contexts = TextMemo[str](), ContextCache()
    memo.keep(("a",), "A")

    def use() -> None:
        memo.keep(("b",), "B")
        assert memo.known == {("b",): "B"} and memo.held == len("b") + 50
        assert contexts.get(1, "asked") is None
        assert compression.compressed_length(b"", 6, 15) == 8

    with (
        another_thread(memo._lock.lock),
        another_thread(contexts._lock.lock),
        another_thread(compression._LOCK.lock),
    ):
        assert in_fork(use) == FINE
    assert memo.known == {("a",): "A"}, "the parent keeps what it had"


def test_a_lock_that_the_forking_thread_holds_stays_its_own() -> None:
    kept = [1]
    lock = ForkLock("it", kept.clear)

    def enter() -> None:
        with lock.lock:
            assert kept == [1]

    with lock.lock:
        assert in_fork(enter) == FINE
    assert in_fork(enter) == FINE


def test_a_fork_waits_until_no_other_thread_is_within_the_gate() -> None:
    """As long as it takes to leave it; nobody enters meanwhile."""
    begun, left = Event(), list[int]()

    def hold() -> None:
        with SQLITE:
            begun.set()
            Event().wait(0.05)
            with SQLITE:  # a call within a call
                left.append(get_ident())

    thread = Thread(target=hold)
    thread.start()
    assert begun.wait(LONGEST)
    assert in_fork(lambda: SQLITE.__enter__() and left[0]) == FINE
    thread.join()


def test_a_fork_that_has_waited_long_enough_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forks, "WAIT", 0.05)
    with another_thread(SQLITE):
        said = in_fork(lambda: hb.memory("bm25", path=tmp_path / "m.db"))
        assert "another thread used a database" in said
    assert in_fork(lambda: SQLITE.__enter__()) == FINE
    with SQLITE:
        assert in_fork(lambda: SQLITE.__enter__()) == FINE, "the thread that forks is in its own"


def test_an_interrupted_entry_leaves_the_gate() -> None:
    gate = ForkGate("it")

    class Interrupted:
        def __enter__(self) -> None: ...
        def __exit__(self, *error: object) -> None:
            raise KeyboardInterrupt

    gate._lock = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        gate.__enter__()
    assert not gate._inside


def test_every_use_of_a_database_is_within_the_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each statement of each connection, so that no fork comes while SQLite's locks are held."""
    outside = list[str]()
    names = set[str]()

    class Watched(sqlite3.Connection):
        def execute(self, *given: Any) -> Any:
            # the check of all pages has a thread of its own, for which the one within waits
            if get_ident() not in SQLITE._inside and "quick_check" not in given[0]:
                outside.append(str(given[0]))
            return super().execute(*given)

        def close(self) -> None:
            if get_ident() not in SQLITE._inside:
                outside.append("close")
            super().close()

    connect = sqlite3.connect

    def watched(path: Any, **options: Any) -> Any:
        names.add(str(path).split("?")[0].rpartition("/")[2].split(".")[0])
        if get_ident() not in SQLITE._inside:
            outside.append(f"connect {path}")
        return connect(path, **{**options, "factory": Watched})

    monkeypatch.setattr(sqlite3, "connect", watched)
    with hb.memory("hybrid", embedding="hashing:16", path=tmp_path / "memory.db") as memory:
        memory.encode(hb.Event(1.0, "We moved.", id="e0"))
        memory.advance(40.0)
        memory.save()
        memory.erase("e0", confirm=True)
    hb.reopen(tmp_path / "memory.db").close()
    cached = CachedEmbedder(HashingEmbedder(16), tmp_path / "cache.sqlite")
    cached.embed(["one", "two"])
    cached.close()
    Transcript(NoModel("m", "1"), tmp_path / "transcript.sqlite", "record").digest()
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with ledger.locked():
        ledger.put("a", "b")
        assert [cell.key for cell in ledger.cells()] == ["a"] and len(ledger) == 1
    assert {"memory", "cache", "transcript", "ledger"} <= names
    assert outside == []


def test_the_error_names_what_is_used() -> None:
    with pytest.raises(HebbariumError, match="another thread used it"), forks._Refused("it"):
        pass
