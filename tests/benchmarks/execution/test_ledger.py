from __future__ import annotations

import hashlib
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import joblib
import pytest

from hebbarium.benchmarks.execution.ledger import Ledger
from hebbarium.engine.base.errors import DataError, HebbariumError, InputError

# A worker that runs the cells that are not done, one line in its own log per cell it starts and one
# per cell that `put` accepted.
WORKER = """
import sys, time
from pathlib import Path
from hebbarium.benchmarks.execution.ledger import Ledger
ledger, log = Ledger(Path(sys.argv[1])), open(sys.argv[2], "a", buffering=1)
keys = [Ledger.key({"cell": i}) for i in range(60)]
done = ledger.done(keys)
print("ready", flush=True)
for key in keys:
    if key not in done:
        log.write(f"start {key}\\n")
        time.sleep(0.002)
        if ledger.put(key, key.encode() * 400, {"seconds": 0.002}):
            log.write(f"put {key}\\n")
print("end", flush=True)
"""


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "runs ä?#%.sqlite")


def test_what_is_put_comes_back_and_the_first_outcome_stands(ledger: Ledger) -> None:
    key = Ledger.key({"arm": "without:x"})
    assert ledger.get(key) is None and ledger.done([key]) == set() and len(ledger) == 0
    assert ledger.put(key, b"\x00\xff", {"seconds": 1.5, "host": "ä"})
    assert not ledger.put(key, b"other")
    assert ledger.put("text", "caf\u00e9 \x00 ok")
    found = ledger.get(key)
    assert found is not None and (found.payload, found.meta) == (
        b"\x00\xff",
        {"seconds": 1.5, "host": "ä"},
    )
    text = ledger.get("text")
    assert text is not None and text.payload == "caf\u00e9 \x00 ok"
    assert Ledger(ledger.path).done([key, "text", "absent"]) == {key, "text"}
    assert sorted(cell.key for cell in ledger.cells()) == sorted([key, "text"]) and len(ledger) == 2
    assert [cell.key for cell in ledger.cells(["text", "absent"])] == ["text"]


def test_the_key_is_the_hash_of_canonical_json() -> None:
    parts = {"b": [1, 2.5, None, True], "a": {"y": "é", "x": -0.1}}
    assert (
        Ledger.key(parts)
        == hashlib.sha256(rb'{"a":{"x":-0.1,"y":"\u00e9"},"b":[1,2.5,null,true]}').hexdigest()
    )
    assert Ledger.key({"a": (1, 2)}) == Ledger.key({"a": [1, 2]})
    assert (
        len({Ledger.key({"a": value}) for value in (1, 1.0, "1", True, [1], {"1": 1}, None)}) == 7
    )


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), {1: 2}, {1, 2}, b"x", object(), [[{"a": {None: 1}}]]]
)
def test_what_cannot_be_hashed_faithfully_is_refused(ledger: Ledger, value: object) -> None:
    with pytest.raises(InputError):
        Ledger.key({"a": value})
    with pytest.raises(InputError):
        ledger.put("k", b"", {"a": value})
    assert len(ledger) == 0


def test_half_a_surrogate_pair_is_refused_and_nothing_is_kept(ledger: Ledger) -> None:
    with pytest.raises(InputError):
        ledger.put("k", "\ud800")
    assert len(ledger) == 0


def test_killed_at_any_moment_finished_cells_stay_and_none_is_run_again(tmp_path: Path) -> None:
    path, log = tmp_path / "l.sqlite", tmp_path / "log"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended, kills = False, 0
    for attempt in range(12):
        with subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), str(log)],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        ) as worker:
            assert worker.stdout is not None and worker.stdout.readline() == "ready\n"
            if attempt < 5:
                time.sleep(0.013 + 0.007 * attempt)
                os.kill(worker.pid, signal.SIGKILL)
            ended = "end" in worker.stdout.read()
        kills += worker.returncode == -signal.SIGKILL
        lines = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
        acknowledged = [key for word, key in lines if word == "put"]
        # verifies every payload's digest
        stored = {cell.key: cell for cell in Ledger(path).cells()}
        assert set(acknowledged) <= set(stored) and len(acknowledged) == len(set(acknowledged))
        assert all(cell.payload == key.encode() * 400 for key, cell in stored.items())
        if ended:
            break
    assert ended and kills >= 3 and len(stored) == 60
    starts = [key for word, key in lines if word == "start"]
    # only the cell that was in flight at a kill is ever started again
    assert len(starts) <= 60 + kills


def _write(ledger: Ledger, worker: int) -> int:
    return sum(ledger.put(Ledger.key({"cell": i}), f"{worker}") for i in range(worker, worker + 30))


@pytest.mark.slow
def test_many_writers_share_one_file_and_each_cell_is_taken_once(ledger: Ledger) -> None:
    accepted = joblib.Parallel(n_jobs=3)(
        joblib.delayed(_write)(ledger, worker) for worker in range(0, 60, 10)
    )
    assert sum(accepted) == len(ledger) == 80


def test_threads_that_all_create_the_file_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda worker: _write(Ledger(tmp_path / "new.sqlite"), worker), range(8)))
    assert len(Ledger(tmp_path / "new.sqlite")) == 37
    with sqlite3.connect(tmp_path / "new.sqlite") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_ledger_can_be_pickled(ledger: Ledger) -> None:
    ledger.put("k", b"1")
    assert pickle.loads(pickle.dumps(ledger)).done(["k"]) == {"k"}


def test_one_run_at_a_time(ledger: Ledger) -> None:
    with ledger.locked():
        with (
            pytest.raises(HebbariumError, match="another run is using this ledger"),
            Ledger(ledger.path).locked(),
        ):
            pass
        assert ledger.put("k", b"1")  # workers write while the coordinator holds the lock
    with ledger.locked():
        assert ledger.done(["k"]) == {"k"}


def test_a_killed_run_releases_the_lock(ledger: Ledger) -> None:
    code = (
        "import sys, time; from pathlib import Path; from hebbarium.benchmarks.execution.ledger import Ledger\n"
        "with Ledger(Path(sys.argv[1])).locked():\n    print('held', flush=True); time.sleep(60)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", code, str(ledger.path)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        with pytest.raises(HebbariumError), ledger.locked():
            pass
        holder.kill()
    with ledger.locked():
        pass


def test_a_file_that_is_not_a_database_is_named_with_its_cure(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    path.write_bytes(b"not a database at all, but longer than a header" * 40)
    with pytest.raises(DataError, match="damaged") as caught:
        Ledger(path)
    assert str(path) in str(caught.value) and "move the file away" in caught.value.cure
    assert path.read_bytes().startswith(b"not a database")


def test_overwritten_pages_are_noticed(ledger: Ledger) -> None:
    for i in range(200):
        ledger.put(str(i), bytes(500))
    raw = bytearray(ledger.path.read_bytes())
    raw[4096:] = b"\xa5" * (len(raw) - 4096)
    ledger.path.write_bytes(raw)
    with pytest.raises(DataError, match="damaged"):
        list(Ledger(ledger.path).cells())


def test_an_altered_payload_is_noticed(ledger: Ledger) -> None:
    ledger.put("k", "needle-payload")
    raw = ledger.path.read_bytes()
    assert raw.count(b"needle-payload") == 1
    ledger.path.write_bytes(raw.replace(b"needle-payload", b"noodle-payload"))
    with pytest.raises(DataError, match="altered"):
        ledger.get("k")


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE cells (a)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DataError, match="another program"):
        Ledger(path)
    assert path.read_bytes() == before


EXCHANGED = (
    # each payload with its own digest
    "UPDATE cells SET (payload, digest) = (SELECT payload, digest FROM cells AS c WHERE c.key = 'b') WHERE key = 'a'",
    # whole rows, but for the key
    "UPDATE cells SET key = CASE key WHEN 'a' THEN 'c' ELSE 'd' END; "
    "UPDATE cells SET key = CASE key WHEN 'c' THEN 'b' ELSE 'a' END",
    "UPDATE cells SET meta = '{\"arm\":\"full\"}' WHERE key = 'b'",
    "UPDATE cells SET payload = CAST(payload AS BLOB) WHERE key = 'a'",
)


@pytest.mark.parametrize("change", EXCHANGED)
def test_cells_that_have_changed_places_are_refused(ledger: Ledger, change: str) -> None:
    ledger.put("a", "of a", {"arm": "full"})
    ledger.put("b", "of b", {"arm": "without b"})
    with closing(sqlite3.connect(ledger.path)) as connection:
        connection.executescript(change)
    with pytest.raises(DataError, match=r"cell [ab] was altered.*or has the place of another"):
        list(ledger.cells())


def test_a_cell_of_the_format_before_is_refused(ledger: Ledger) -> None:
    with closing(sqlite3.connect(ledger.path)) as connection:
        connection.execute("PRAGMA user_version = 1")
    with pytest.raises(DataError, match="format 1; this release reads format 2 alone"):
        Ledger(ledger.path)


def test_a_newer_format_a_missing_folder_and_a_vanished_file_are_told(
    ledger: Ledger, tmp_path: Path
) -> None:
    with pytest.raises(HebbariumError, match="cannot be used") as caught:
        Ledger(tmp_path / "absent" / "l.sqlite")
    assert "folder" in caught.value.cure
    connection = sqlite3.connect(ledger.path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(DataError, match="format 99"):
        Ledger(ledger.path)
    ledger.path.unlink()
    with pytest.raises(HebbariumError):
        ledger.put("k", b"1")
    assert not ledger.path.exists()
