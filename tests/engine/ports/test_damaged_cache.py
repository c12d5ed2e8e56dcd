"""Values of the embedding cache that are damaged, or have no mark, are computed anew and said."""

from __future__ import annotations

import errno
import random
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from hebbarium.engine.base.errors import HebbariumError
from hebbarium.engine.ports import cache_file
from hebbarium.engine.ports.cache_file import DamagedCacheWarning, FullCacheWarning
from hebbarium.engine.ports.embedder import HashingEmbedder, Vectors
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.engine.ports.reranker import CachedReranker, WordOverlapReranker

TEXTS = [f"text {i}" for i in range(40)]


def opened(path: Path) -> CachedEmbedder:
    return CachedEmbedder(HashingEmbedder(16), path)


def embedded(path: Path) -> tuple[Vectors, int, list[str]]:
    """Vectors of all texts, how many were computed, and what was said about damage."""
    cached = opened(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = cached.embed(TEXTS)
    cached.close()
    return (
        found,
        cached.misses,
        [str(w.message) for w in caught if w.category is DamagedCacheWarning],
    )


@pytest.fixture
def full(tmp_path: Path) -> Path:
    cached = opened(tmp_path / "c.sqlite")
    cached.embed(TEXTS)
    cached.close()
    return tmp_path / "c.sqlite"


def test_every_flipped_bit_of_a_vector_is_noticed_computed_anew_and_said(full: Path) -> None:
    chance, right = random.Random(4), HashingEmbedder(16).embed(TEXTS)
    for _ in range(60):
        with sqlite3.connect(full) as connection:
            key, vector = chance.choice(
                connection.execute("SELECT text, vector FROM vectors ORDER BY text").fetchall()
            )
            raw = bytearray(vector)
            raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
            connection.execute("UPDATE vectors SET vector = ? WHERE text = ?", (bytes(raw), key))
        connection.close()
        found, computed, said = embedded(full)
        np.testing.assert_array_equal(found, right)
        assert computed == 1 and len(said) == 1 and "1 damaged" in said[0] and str(full) in said[0]
        assert embedded(full)[1:] == (0, []), "the new one is stored"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE vectors SET vector = (SELECT vector FROM vectors ORDER BY text LIMIT 1)",  # another text's
        "UPDATE vectors SET vector = x'00000000'",
        "UPDATE vectors SET mark = zeroblob(16)",
        "UPDATE vectors SET vector = zeroblob(64), mark = NULL",
        "UPDATE vectors SET vector = 7, mark = x'01'",
    ],
)
def test_changed_rows_are_computed_anew(full: Path, change: str) -> None:
    with sqlite3.connect(full) as connection:
        connection.execute(change)
    connection.close()
    found, computed, said = embedded(full)
    np.testing.assert_array_equal(found, HashingEmbedder(16).embed(TEXTS))
    assert computed >= len(TEXTS) - 1 and said


def test_a_vector_of_another_model_is_noticed(full: Path) -> None:
    other = HashingEmbedder(16)
    other.revision = "another"
    with sqlite3.connect(full) as connection:
        connection.execute("UPDATE models SET revision = 'another'")
    connection.close()
    cached = CachedEmbedder(other, full)
    with pytest.warns(DamagedCacheWarning):
        cached.embed(TEXTS)
    assert cached.misses == len(TEXTS)


def test_a_value_without_a_mark_is_never_trusted(tmp_path: Path, full: Path) -> None:
    """Another text's vector has length 1, too; of three tables, one of which is that of the
    rerankers.
    """
    with closing(sqlite3.connect(full)) as connection, connection:
        connection.execute(
            "UPDATE vectors SET vector = (SELECT vector FROM vectors ORDER BY text LIMIT 1), mark = NULL"
        )
    found, computed, said = embedded(full)
    np.testing.assert_array_equal(found, HashingEmbedder(16).embed(TEXTS))
    assert computed == len(TEXTS) and len(said) == 1
    asked, texts, scores = "a red house", ["The house is red.", "no"], tmp_path / "scores.sqlite"
    right = CachedReranker(WordOverlapReranker(), scores).score(asked, texts)
    with closing(sqlite3.connect(scores)) as connection, connection:
        connection.execute("UPDATE scores SET score = 7.0, mark = NULL")
    with pytest.warns(DamagedCacheWarning, match="1 damaged|2 damaged"):
        np.testing.assert_array_equal(
            CachedReranker(WordOverlapReranker(), scores).score(asked, texts), right
        )


def test_a_damaged_key_is_said(full: Path) -> None:
    """Each key stands in the table and in its index: one that is damaged there hides its value,
    which is computed anew.
    """
    sound, chance, hidden = full.read_bytes(), random.Random(1), 0
    with closing(sqlite3.connect(full)) as connection:
        keys = [key for (key,) in connection.execute("SELECT text FROM vectors ORDER BY text")]
    for key in keys:
        for at in (sound.find(key), sound.rfind(key)):
            raw = bytearray(sound)
            raw[at + chance.randrange(len(key))] ^= 1 << chance.randrange(8)
            full.write_bytes(raw)
            found, computed, said = embedded(full)
            np.testing.assert_array_equal(found, HashingEmbedder(16).embed(TEXTS))
            assert computed == len(said) and (
                not said or ("1 values" in said[0] and "keys" in said[0] and str(full) in said[0])
            )
            hidden += computed
            assert embedded(full)[1:] == (0, [])
    assert hidden == len(keys), "each is found at its other place"


def test_a_text_that_was_never_embedded_is_no_damage(full: Path) -> None:
    cached = opened(full)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cached.embed([f"new {i}" for i in range(600)])
    assert cached.misses == 600
    other = HashingEmbedder(16)
    other.revision = "another"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CachedEmbedder(other, full).embed(TEXTS)


def test_a_value_with_a_right_mark_that_this_embedder_cannot_have_is_an_error(full: Path) -> None:
    """Of an embedder with the same name and revision, but more dimensions."""
    other = HashingEmbedder(32)
    other.revision = HashingEmbedder(16).revision
    with pytest.raises(HebbariumError, match="64 bytes instead of 128") as caught:
        CachedEmbedder(other, full).embed(TEXTS)
    assert "delete the file" in caught.value.cure


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("SQLITE_FULL", "free disk space"),
        ("SQLITE_IOERR_FSYNC", "the disk fails"),
        ("SQLITE_CORRUPT", "delete the file"),
    ],
)
def test_a_full_disk_a_disk_that_fails_and_a_damaged_file_are_told_apart(
    full: Path, monkeypatch: pytest.MonkeyPatch, code: str, words: str
) -> None:
    def fail(*_: object) -> None:
        error = sqlite3.OperationalError("trouble")
        error.sqlite_errorcode = getattr(sqlite3, code)
        raise error

    monkeypatch.setattr(cache_file, "_opened", fail)
    with pytest.raises(HebbariumError, match="trouble") as caught:
        opened(full).embed(["new"])
    assert words in caught.value.cure


def test_with_a_full_disk_values_are_used_without_being_stored(tmp_path: Path) -> None:
    """SQLite itself refuses to grow the file."""
    embedder, path = HashingEmbedder(16), tmp_path / "c.sqlite"
    vectors, scores = CachedEmbedder(embedder, path), CachedReranker(WordOverlapReranker(), path)
    for cached, ask in (
        (vectors, vectors.embed),
        (scores, lambda texts: scores.score("one", texts)),
    ):
        ask(["one"])
        assert cached._file is not None
        connection = cached._file.connection
        assert connection is not None
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.warns(FullCacheWarning, match="takes no more values") as caught:
            many = ask(TEXTS * 9 + [f"more {i}" for i in range(600)])
        assert len(caught) == 1 and "free disk space" in str(caught[0].message)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # it is said once
            assert np.array_equal(ask(TEXTS), many[: len(TEXTS)])
        connection.execute("PRAGMA max_page_count = 100000")
        assert np.array_equal(ask(TEXTS), many[: len(TEXTS)])
    vectors.close()
    assert np.array_equal(vectors.embed(TEXTS), embedder.embed(TEXTS))


def test_a_full_disk_is_told_before_the_file_is_open(
    full: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(cache_file, "_opened", fail)
    with pytest.raises(HebbariumError) as caught:
        opened(full).embed(["new"])
    assert "free disk space" in caught.value.cure


def test_any_flipped_bit_of_the_file_gives_right_vectors_or_an_error_with_a_cure(
    tmp_path: Path,
) -> None:
    """Also of the tables' descriptions, of keys, and of the numbers that say what a cell holds."""
    path, texts = tmp_path / "c.sqlite", TEXTS[:3]
    cached = opened(path)
    expected = cached.embed(texts)
    cached.close()
    sound, chance, refused = path.read_bytes(), random.Random(3), 0
    written = [at for at, byte in enumerate(sound) if byte]
    for at in chance.sample(written, 500):
        raw = bytearray(sound)
        raw[at] ^= 1 << chance.randrange(8)
        path.write_bytes(raw)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DamagedCacheWarning)
                cached = opened(path)
                assert np.array_equal(cached.embed(texts), expected)
        except HebbariumError as error:
            refused += 1
            assert error.cure and str(path) in error.where
        cached.close()
        for beside in tmp_path.glob("c.sqlite-*"):
            beside.unlink()
    assert 0 < refused < 500


def test_a_value_without_a_mark_that_is_missing_is_computed_anew(full: Path) -> None:
    expected = HashingEmbedder(16).embed(TEXTS)
    with closing(sqlite3.connect(full)) as connection, connection:
        connection.execute(
            "CREATE TABLE other (model INTEGER NOT NULL, text BLOB NOT NULL, vector BLOB, mark BLOB, PRIMARY KEY (model, text))"
        )
        connection.execute(
            "INSERT INTO other SELECT model, text, CASE WHEN rowid = 1 THEN NULL ELSE vector END, "
            "CASE WHEN rowid = 1 THEN NULL ELSE mark END FROM vectors"
        )
        connection.execute("DROP TABLE vectors")
        connection.execute("ALTER TABLE other RENAME TO vectors")
    found, computed, said = embedded(full)
    assert np.array_equal(found, expected) and computed == 1 and len(said) == 1
