"""A memory from its file alone, and a memory that encodes the events of another one again."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

import hebbarium as hb

EVENTS = [
    hb.Event(
        480000.0 + i, f"On day {i} Ada painted window {i}.", "Ada" if i % 2 else "Bo", "s", f"e{i}"
    )
    for i in range(6)
]


def test_a_file_names_what_it_needs(tmp_path: Path) -> None:
    with hb.memory(
        "minimal",
        embedding="hashing:32",
        path=tmp_path / "m.db",
        params={"recency": {"weight": 0.25}},
        seed=3,
    ) as memory:
        memory.encode_all(EVENTS)
        digest = memory.digest()
    with hb.reopen(tmp_path / "m.db") as again:
        assert again.digest() == digest and again.assembly.seed == 3
        assert [m.params.weight for m in again.mechanisms if m.id == "recency"] == [0.25]


@pytest.mark.parametrize("content", [None, b"", b"hello", b"SQLite format 3\0" + bytes(100)])
def test_a_path_without_a_memory_is_refused_and_nothing_is_made(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "m.db"
    if content is not None:
        path.write_bytes(content)
    expected = "there is no such file" if content is None else "holds no memory"
    with pytest.raises(hb.HebbariumError, match=expected):
        hb.reopen(path)
    assert [p.name for p in tmp_path.iterdir()] == ["m.db"] * (content is not None)


def test_a_rebuilt_memory_is_the_memory_that_was_told_the_same(tmp_path: Path) -> None:
    with hb.memory("minimal", embedding="hashing:32", path=tmp_path / "m.db") as old:
        old.encode_all(EVENTS)
        old.archive(2)
        old.erase("e4", confirm=True)
        old.use(old.retrieve("window"), [0])
    seen: list[tuple[int, int]] = []
    new = hb.rebuild(
        tmp_path / "m.db",
        "bm25",
        embedding="hashing:16",
        path=tmp_path / "n.db",
        progress=lambda done, of: seen.append((done, of)),
    )
    told = hb.memory("bm25", embedding="hashing:16")
    told.encode_all([event for event in EVENTS if event.id != "e4"])
    told.archive(2)
    assert new.digest() == told.digest() and seen == [(5, 5)]
    new.close()
    with hb.rebuild(
        tmp_path / "n.db", "minimal", embedding="hashing:16", path=tmp_path / "n.db"
    ) as back:
        assert [event.id for event in back.events] == ["e0", "e1", "e2", "e3", "e5"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.db", "n.db"]


def test_an_event_without_a_text_is_kept_and_an_erased_one_is_not() -> None:
    old = hb.memory("bm25", embedding="hashing:16")
    old.encode_all(
        [
            hb.Event(480000.0, "", "Ada", id="silent"),
            hb.Event(480001.0, "The door code is 4711.", "Bo", id="said"),
        ]
    )
    old.erase("said", confirm=True)
    assert [event.id for event in hb.rebuild(old, "bm25", embedding="hashing:16").events] == [
        "silent"
    ]


def test_a_rebuilding_that_fails_leaves_the_files_as_they_were(tmp_path: Path) -> None:
    with hb.memory("bm25", embedding="hashing:16", path=tmp_path / "m.db") as old:
        old.encode_all(EVENTS)
        before = old.digest()

    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hb.rebuild(
            tmp_path / "m.db",
            "minimal",
            embedding="hashing:16",
            path=tmp_path / "m.db",
            progress=stop,
        )
    with pytest.raises(hb.HebbariumError, match="no mechanism set"):
        hb.rebuild(tmp_path / "m.db", "none", path=tmp_path / "n.db")
    (tmp_path / "n.db").write_text("mine")
    with pytest.raises(hb.HebbariumError, match="is there already"):
        hb.rebuild(tmp_path / "m.db", "minimal", path=tmp_path / "n.db")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.db", "n.db"]
    with hb.reopen(tmp_path / "m.db") as again:
        assert again.digest() == before


def test_a_hit_says_who_and_where_and_a_context_carries_its_answer() -> None:
    memory = hb.memory("minimal", embedding="hashing:16")
    memory.encode(
        hb.Event.at(
            datetime(2024, 10, 4),
            "The kettle is on.",
            "Ada",
            "kitchen",
            "k",
            attributes={"kind": "note"},
        )
    )
    (hit,) = memory.retrieve("kettle")
    assert (hit.speaker, hit.session, hit.attributes) == ("Ada", "kitchen", (("kind", "note"),))
    context = memory.context("kettle", 100)
    assert context.answer is not None and memory.use(context, ["k"]).tolist() == [0]
    with pytest.raises(hb.HebbariumError, match="already learnt"):
        memory.use(context, ["k"])
    assert "answer" not in context.plain()
