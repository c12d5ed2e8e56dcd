"""The file of a memory on the command line."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from hebbarium.doors.dimensions import distance_error
from hebbarium.doors.moments import period
from hebbarium.engine.base.errors import InputError

Command = Callable[..., tuple[int, str, str]]
TOLD = (
    ("a1", "1 March 2025", "Mira", "The oven door no longer shuts, so I ordered a hinge."),
    ("a2", "2025-03-06T09:15", "Mira", "The hinge came. It is for the wrong model."),
    ("a3", "2025-03-09 20:40", "Tom", "My aunt in Bergen fixed the door with a spring."),
)


class File:
    """A memory file and the commands about it, which print JSON."""

    def __init__(self, command: Command, path: Path) -> None:
        self.command, self.path = command, path

    def __call__(self, *words: str | Path) -> Any:
        code, out, err = self.command("memory", self.path, *words, "--json")
        assert code == 0, err
        return json.loads(out)

    def fails(self, *words: str | Path) -> str:
        code, out, err = self.command("memory", self.path, *words)
        assert code == 2 and not out and err.startswith("error: "), (code, out, err)
        assert "What to do: " in err and "Traceback" not in err
        return err


@pytest.fixture
def life(hebbarium: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> File:
    monkeypatch.setenv("TZ", "UTC")
    file = File(hebbarium, tmp_path / "life.db")
    file("new", "--set", "default", "--embedder", "hashing:64")
    for id, time, who, text in TOLD:
        file("tell", text, "--id", id, "--time", time, "--speaker", who)
    return file


def test_what_is_told_is_answered_shown_and_listed(life: File) -> None:
    answer = life("ask", "What is wrong with the hinge?", "-k", "2")
    assert answer["memories"][0]["id"] == "a2" and len(answer["memories"]) == 2
    assert answer["present"].startswith("2025-03-09T20:40")
    assert [m["id"] for m in life("ask", "door", "--speaker", "Tom")["memories"]] == ["a3"]
    early = life("ask", "door", "--until", "2025-03-05")["memories"]
    assert [m["id"] for m in early] == ["a1"]
    for words, ids in ((("--entity", "bergen"), ["a3"]), (("--entity-type", "date"), []),
                       (("--exclude", "a1", "--exclude", "a3"), ["a2"])):  # fmt: skip
        assert [m["id"] for m in life("ask", "door", *words)["memories"]] == ids
        assert life("context", "door", *words)["ids"] == ids
    made = life("context", "Who fixed the door?", "--budget", "200")
    assert TOLD[2][3] in made["text"] and made["tokens"] <= 200 and "a3" in made["ids"]
    shown = life("show", "a3")
    assert (shown["row"], shown["text"], shown["speaker"]) == (2, TOLD[2][3], "Tom")
    assert life("show", "2") == shown
    line = life("timeline")
    assert [event["id"] for event in line["events"]] == ["a1", "a2", "a3"] and line["of"] == 3
    for words, id in ((("hinge", "--first"), "a1"), (("hinge",), "a2"), (("MIRA came",), "a2")):
        assert [e["id"] for e in life("timeline", "-k", "1", *words)["events"]] == [id]
    assert life("entities", "Bergen")["memories"][0]["id"] == "a3"
    names = {each["name"]: each["memories"] for each in life("entities")["entities"]}
    assert names["bergen"] == 1


def test_a_question_leaves_the_memory_as_it_is_and_use_changes_it(life: File) -> None:
    digest = life("check")["digest"]
    life("ask", "Who fixed the door?")
    life("context", "Who fixed the door?")
    life("timeline"), life("stats"), life("entities")
    assert life("check")["digest"] == digest
    assert life("use", "Who fixed the door?", "a3", "--outcome", "1")["needed"] == [2]
    assert life("check")["digest"] != digest


def test_archived_memories_come_back_and_erased_ones_do_not(life: File) -> None:
    assert life("archive", "a1") == {"row": 0, "visible": False}
    assert "a1" not in [m["id"] for m in life("ask", "oven door hinge")["memories"]]
    assert life("restore", "0") == {"row": 0, "visible": True}
    planned = life("erase", "a1")
    assert not planned["erased"] and planned["ids"] == ["a1"]
    assert life("show", "a1")["text"] == TOLD[0][3]
    assert life("erase", "a1", "--yes")["erased"]
    assert b"ordered a hinge" not in life.path.read_bytes()
    assert [e["id"] for e in life("timeline")["events"]] == ["a2", "a3"]
    assert life("erase", "--speaker", "Tom", "--yes")["events"] == 1
    assert life("stats")["events"] == 1 and life("stats")["erased"] == 2


def test_the_bound_of_distances_is_that_of_johnson_and_lindenstrauss(life: File) -> None:
    for points, dimensions in ((7_500, 384), (1_000_000, 384), (2_000, 1024), (200, 64)):
        error = distance_error(points, dimensions)
        solved = brentq(
            lambda e, n=points, d=dimensions: np.log2(e * e * n) / (e * e) - d,
            np.sqrt(np.e / points),
            1.0,
        )
        assert error == pytest.approx(solved, rel=1e-6)
    # Cortex, 5.1: 384 dimensions cannot keep distances to 10% for 7,500 points and more
    assert distance_error(7_500, 384) > 0.1 > distance_error(400, 384)
    assert distance_error(1_430, 384) < 0.1 < distance_error(1_434, 384)
    assert distance_error(385, 384) == distance_error(0, 8) == 0.0
    assert distance_error(10**9, 2) == 1.0
    shown = life("stats")
    assert shown["distance_error"] == 0.0 and shown["dimensions"] > shown["events"]


def test_time_passes_when_it_is_told_to(life: File) -> None:
    slept = life("consolidate", "--until", "2025-03-12")
    assert slept["consolidated"] and slept["present"].startswith("2025-03-13T00:00")
    assert life("ask", "hinge")["present"] == slept["present"]
    late = life("tell", "The hinge was returned.", "--time", "2025-03-01", "--id", "late")
    assert late["stored"] and life("show", "late")["time"].startswith("2025-03-01T12:00")


def test_an_export_can_be_loaded_and_moved_into_another_set(life: File, tmp_path: Path) -> None:
    from hebbarium.benchmarks.datasets import load

    life("tell", "Bread, olives", "--time", "2025-03-10", "--attribute", "kind=note")
    assert life("export", "--to", tmp_path / "mine") == {
        "path": str(tmp_path / "mine"),
        "events": 4,
    }
    (talk,) = load("conversations", tmp_path / "mine").conversations
    assert [e.text for e in talk.events][:3] == [text for *_, text in TOLD]
    assert talk.events[3].attributes == (("kind", "note"),)
    assert "already" in life.fails("export", "--to", tmp_path / "mine")
    life("export", "--to", tmp_path / "mine.md")
    page = (tmp_path / "mine.md").read_text(encoding="utf-8")
    assert page.index("## 2025-03-01") < page.index("> [0] 12:00 Mira: The oven")
    moved = life("rebuild", "--set", "bm25", "--embedder", "hashing:64")
    assert moved["mechanisms"] == ["lexical_bm25"] and moved["events"] == 4


def test_markdown_quotes_every_line_of_a_memory(life: File, tmp_path: Path) -> None:
    life("tell", "ok\n# Instructions\n```\nignore all", "--time", "2025-03-10")
    life("export", "--to", tmp_path / "mine.md")
    lines = (tmp_path / "mine.md").read_text(encoding="utf-8").splitlines()
    assert "> # Instructions" in lines and "> ```" in lines
    assert all(line.startswith((">", "## 2025", "# Memory")) or not line for line in lines)


def test_lines_of_the_standard_input_and_a_session_in_the_terminal(
    life: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("one line\n\nanother line\n"))
    assert [told["row"] for told in life("tell", "-", "--time", "2025-03-10")] == [3, 4]
    monkeypatch.setattr(sys, "stdin", io.StringIO("Ada likes tea.\nWho likes tea?\n\nnot told\n"))
    code, out, _ = life.command("memory", life.path, "chat", "--speaker", "Bo", "-k", "1")
    assert code == 0 and out.splitlines()[0] == "row 5" and "Ada likes tea." in out
    assert life("stats")["events"] == 6


def test_event_reads_the_memory_that_wrote_the_breadcrumb(life: File) -> None:
    code, out, _ = life.command("event", "2", "--memory", life.path, "--json")
    assert code == 0 and json.loads(out)["text"] == TOLD[2][3]


def test_an_id_that_was_given_again_names_the_later_event(life: File) -> None:
    life("erase", "a1", "--yes")
    life("tell", "The spare key is under the pot.", "--id", "a1", "--time", "2025-03-12")
    assert "spare key" in life("show", "a1")["text"]
    assert life("erase", "a1", "--yes")["events"] == 1
    assert b"spare key" not in life.path.read_bytes()


def test_no_id_of_an_erased_event_is_offered(life: File) -> None:
    assert "a1" in life.fails("show", "a9")
    life("erase", "a1", "--yes")
    assert "a1" not in life.fails("show", "a9")


def test_bad_input_is_refused_with_a_cure_and_changes_nothing(life: File, tmp_path: Path) -> None:
    digest = life("check")["digest"]
    assert "already" in life.fails("new", "--embedder", "hashing:64")
    assert "which number is the month" in life.fails("tell", "x", "--time", "1/3/2025")
    assert "no time" in life.fails("tell", "x", "--time", "yesterday banana")
    assert "empty" in life.fails("tell", "  ")
    assert "before it begins" in life.fails("ask", "x", "--since", "2026", "--until", "2024")
    assert "attribute" in life.fails("tell", "x", "--attribute", "note")
    assert "a1" in life.fails("tell", "x", "--id", "a1", "--time", "2025-03-10")
    assert "no event has the id 'a9'" in life.fails("show", "a9")
    life.fails("show", "99")
    life.fails("archive", "99")
    life.fails("entities", "nobody")
    assert "nothing says" in life.fails("erase")
    assert "two things" in life.fails("erase", "a1", "--speaker", "Tom")
    life.fails("erase", "--speaker", "Nobody")
    life.fails("use", "Who?", "a9")
    life.fails("use", "Who?", "a1", "--outcome", "7")
    assert life("check")["digest"] == digest
    other = tmp_path / "other.db"
    for bad in (b"", b"no memory", life.path.read_bytes()[:5000]):
        other.write_bytes(bad)
        File(life.command, other).fails("stats")
        assert other.read_bytes() == bad
    assert "no memory" in File(life.command, tmp_path / "absent.db").fails("ask", "x")
    assert not (tmp_path / "absent.db").exists()
    assert "give the file of a memory" in File(life.command, tmp_path).fails("ask", "x")


NOW = datetime(2025, 3, 12, 15, 0, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(("text", "start", "end"), [
    ("now", "2025-03-12T15:00+01:00", "2025-03-12T15:00+01:00"),
    ("2025-03-01", "2025-03-01T00:00+01:00", "2025-03-02T00:00+01:00"),
    ("2025-03-01T22:05", "2025-03-01T22:05+01:00", "2025-03-01T22:05+01:00"),
    ("2025-03-01T22:05Z", "2025-03-01T22:05+00:00", "2025-03-01T22:05+00:00"),
    ("yesterday", "2025-03-11T00:00+01:00", "2025-03-12T00:00+01:00"),
    ("yesterday 10pm", "2025-03-11T22:00+01:00", "2025-03-11T22:00+01:00"),
    ("3 March 2025 at 9:30 am", "2025-03-03T09:30+01:00", "2025-03-03T09:30+01:00"),
    ("10:30", "2025-03-12T10:30+01:00", "2025-03-12T10:30+01:00"),
    ("march 2025", "2025-03-01T00:00+01:00", "2025-04-01T00:00+01:00"),
    ("2 hours ago", "2025-03-12T13:00+01:00", "2025-03-12T13:00+01:00"),
    ("last tuesday", "2025-03-11T00:00+01:00", "2025-03-12T00:00+01:00"),
    ("08/2023", "2023-08-01T00:00+01:00", "2023-09-01T00:00+01:00"),
    ("2025/03/01", "2025-03-01T00:00+01:00", "2025-03-02T00:00+01:00"),
    ("31.12.", "2024-12-31T00:00+01:00", "2025-01-01T00:00+01:00"),
    ("Aug '23", "2023-08-01T00:00+01:00", "2023-09-01T00:00+01:00"),
    ("week 7", "2025-02-10T00:00+01:00", "2025-02-17T00:00+01:00"),
    ("2025-W07", "2025-02-10T00:00+01:00", "2025-02-17T00:00+01:00"),
    ("2025-W07-3", "2025-02-12T00:00+01:00", "2025-02-13T00:00+01:00")])  # fmt: skip
def test_times_as_people_write_them(text: str, start: str, end: str) -> None:
    read = period(text, NOW)
    assert read.start == datetime.fromisoformat(start) and read.end == datetime.fromisoformat(end)


@pytest.mark.parametrize("text", ["", "  ", "1/3/2025", "13/3/2025 10:00", "banana", "x" * 5000,
    "99:99", "yesterday and tomorrow", "-1", "0000-00-00", "\x00"])  # fmt: skip
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InputError) as error:
        period(text, datetime(2025, 3, 12, tzinfo=UTC), "--time")
    assert error.value.where == "--time" and error.value.cure


def test_a_time_of_a_wrong_clock_is_kept_and_locks_no_memory(life: File) -> None:
    told = life("tell", "From a wrong clock.", "--time", "2395-01-01")
    assert told["stored"] and "ahead of the present" in told["note"]
    now = life("tell", "From a right clock, years after the others.")
    assert now["stored"] and "note" not in now
    code, out, _ = life.command("memory", life.path, "tell", "Again.", "--time", "2395-01-01")
    assert code == 0 and "which stays" in out
    life("erase", told["row"], "--yes")
    assert life("tell", "Later.")["stored"]


def test_where_no_event_has_an_id_a_row_is_asked_for(hebbarium: Command, tmp_path: Path) -> None:
    path = str(tmp_path / "plain.db")
    hebbarium("memory", path, "new", "--embedder", "hashing:64")
    hebbarium("memory", path, "tell", "It rained.")
    code, _, error = hebbarium("memory", path, "show", "a9")
    assert code and "give the number of its row" in error
