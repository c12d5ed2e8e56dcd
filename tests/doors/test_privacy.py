"""What is redacted before storing, what has had its time, what is erased by attribute, and how sure
a context says it is.
"""

from __future__ import annotations

import cProfile
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from re import _parser

import numpy as np
import pytest
from hanging import ended_if_it_hangs
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import hebbarium as hb
from hebbarium.cli.app import app
from hebbarium.doors.expiry import expired
from hebbarium.doors.redaction import RULES, redacted
from hebbarium.doors.uncertainty import MemoryAge, Uncertainty, uncertainty
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.contract.records import Only
from hebbarium.engine.saving.erasures import erasures

NOW = datetime(2026, 5, 10, 12, tzinfo=UTC)
run = CliRunner().invoke


# --- redaction ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "rule", "expected"),
    [
        ("write to ada.b+x@mail.example.org, please", "email", "write to [email], please"),
        ("no@dot is none", "email", "no@dot is none"),
        ("card 4111 1111 1111 1111 is it", "card", "card [card] is it"),
        ("4111 1111 1111 1112 has another sum", "card", "4111 1111 1111 1112 has another sum"),
        ("pay to DE89 3704 0044 0532 0130 00 now", "iban", "pay to [iban] now"),
        ("host 192.168.0.12 and 1.2.3.999", "ip", "host [ip] and 1.2.3.999"),
        ("call +44 20 7946 0018 at 12:30", "phone", "call [phone] at 12:30"),
        ("room 12, in 2024", "phone", "room 12, in 2024"),
        ("ADA and Ada's adamant", "word:ada", "[redacted] and [redacted]'s adamant"),
    ],
)
def test_a_rule_replaces_what_has_its_form(text: str, rule: str, expected: str) -> None:
    cleaned, counts = redacted(text, [rule])
    assert cleaned == expected
    assert sum(counts.values()) == expected.count("[")


@given(st.text("a1 @.+-:4", max_size=60))
def test_what_was_redacted_is_not_found_again(text: str) -> None:
    cleaned, _ = redacted(text, RULES)
    for rule in ("email", "card", "ip"):
        assert redacted(cleaned, [rule])[1] == {}


def test_without_rules_a_text_stays_and_unknown_rules_are_refused() -> None:
    assert redacted("ada@example.org", []) == ("ada@example.org", {})
    for rule, what in (("mail", "no rule"), ("word: ", "empty")):
        with pytest.raises(InputError, match=what):
            redacted("x", [rule])


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_looks_at_a_bounded_number_of_characters_from_any_place(rule: str) -> None:
    """No repeat is without an end, so that a text of any length takes linear work."""
    assert _parser.parse(RULES[rule].pattern).getwidth()[1] < 1_000


@pytest.mark.parametrize("piece", ["a@", "1 ", "AB12", "1.", "+(1"])
def test_a_hostile_text_of_twice_the_length_takes_twice_the_calls(piece: str) -> None:
    rules, calls = [*RULES, "word:a"], []
    with ended_if_it_hangs():
        for length in (1_000, 2_000, 4_000):
            text, profile = piece * length, cProfile.Profile()
            redacted(text[:100], rules)  # what is compiled once is not counted
            profile.runcall(redacted, text, rules)
            calls.append(sum(entry.callcount for entry in profile.getstats()))
        redacted(piece * 60_000, rules)
    first, second = np.diff(calls)
    assert second <= 2.1 * first, calls


def test_what_is_redacted_is_nowhere_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "m.db"
    memory = ["memory", str(file)]
    assert run(app, [*memory, "new", "--set", "bm25", "--embedder", "hashing:16"]).exit_code == 0
    words = [
        *memory,
        "tell",
        "Ada's mail is ada@example.org.",
        "--attribute",
        "from=ada@example.org",
    ]
    result = run(app, [*words, "--redact", "email", "--redact", "word:Ada"])
    assert result.exit_code == 0 and "redacted: 1 email, 1 word" in result.output
    assert b"example.org" not in file.read_bytes() and b"Ada" not in file.read_bytes()
    assert run(app, [*words, "--redact", "mail"]).exit_code != 0


# --- time to live ---------------------------------------------------------------------------------
@pytest.fixture
def dated(tmp_path: Path) -> Iterator[hb.Engine]:
    with hb.memory("bm25", embedding="hashing:16", path=tmp_path / "m.db") as memory:
        for number, (days, expires) in enumerate(
            [(100, ""), (50, "2026-05-09"), (40, "2026-05-11"), (10, "2026-05-10T14:00+02:00")]
        ):
            memory.encode(
                hb.Event.at(
                    NOW - timedelta(days=days),
                    f"lamp number {number}",
                    "Ada",
                    id=f"e{number}",
                    attributes=(("expires", expires),) if expires else (),
                )
            )
        yield memory


def kept(memory: hb.Engine) -> set[str]:
    return {event.text for event in memory.events} - {""}


def test_events_expire_at_their_own_time_or_by_age(dated: hb.Engine, tmp_path: Path) -> None:
    for only in expired(dated, NOW):
        dated.erase(only, confirm=True)
    assert kept(dated) == {"lamp number 0", "lamp number 2"}
    for only in expired(dated, NOW, NOW - timedelta(days=90)):
        dated.erase(only, confirm=True)
    assert kept(dated) == {"lamp number 2"}
    assert expired(dated, NOW, NOW - timedelta(days=90)) == (), "what is erased expires no more"
    dated.save()
    log = erasures(tmp_path / "m.db")
    assert sum(record.events for record in log) == 3
    assert "lamp" not in repr(log) and "e1" not in repr(log), "a record without content"


def test_an_expiry_that_is_no_time_is_refused(dated: hb.Engine) -> None:
    dated.encode(hb.Event.at(NOW, "x", id="odd", attributes=(("expires", "soon"),)))
    with pytest.raises(InputError, match=r"odd.*soon"):
        expired(dated, NOW)


def test_the_command_expires_only_with_yes(tmp_path: Path) -> None:
    file = tmp_path / "m.db"
    memory = ["memory", str(file)]
    assert run(app, [*memory, "new", "--set", "bm25", "--embedder", "hashing:16"]).exit_code == 0
    tell = [*memory, "tell", "A secret lamp.", "--attribute", "expires=2001-01-01"]
    assert run(app, tell).exit_code == 0
    result = run(app, [*memory, "expire"])
    assert result.exit_code == 0 and "nothing was erased" in result.output
    assert b"secret" in file.read_bytes()
    assert run(app, [*memory, "expire", "--yes"]).exit_code == 0
    assert b"secret" not in file.read_bytes()
    assert "nothing has expired" in run(app, [*memory, "expire"]).output


# --- erasure by condition -------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("only", "gone"),
    [
        (Only(speakers=("Ada",)), {0, 1}),
        (Only(sessions=("s2",)), {1, 2}),
        (Only(since=2.0, until=3.0), {2, 3}),
        (Only(attributes=(("kind", ("note", "mail")),)), {0, 3}),
        (Only(speakers=("Ada",), sessions=("s2",)), {1}),
    ],
)
def test_erasure_by_person_session_period_and_attribute(only: Only, gone: set[int]) -> None:
    told = (
        ("Ada", "s1", "note"),
        ("Ada", "s2", "talk"),
        ("Bo", "s2", "talk"),
        ("Bo", "s3", "mail"),
    )
    with hb.memory("bm25", embedding="hashing:16") as memory:
        for hour, (speaker, session, kind) in enumerate(told):
            memory.encode(
                hb.Event(
                    float(hour), f"lamp {hour}", speaker, session, attributes=(("kind", kind),)
                )
            )
        memory.erase(only, confirm=True)
        assert kept(memory) == {f"lamp {hour}" for hour in range(4) if hour not in gone}


@pytest.mark.slow
def test_the_command_erases_by_attribute(tmp_path: Path) -> None:
    file = tmp_path / "m.db"
    memory = ["memory", str(file)]
    assert run(app, [*memory, "new", "--set", "bm25", "--embedder", "hashing:16"]).exit_code == 0
    for text, kind in (("red lamp", "note"), ("blue lamp", "mail"), ("old lamp", "talk")):
        assert run(app, [*memory, "tell", text, "--attribute", f"kind={kind}"]).exit_code == 0
    words = [*memory, "erase", "--attribute", "kind=note", "--attribute", "kind=mail", "--yes"]
    result = run(app, [*words, "--json"])
    assert result.exit_code == 0 and json.loads(result.output)["events"] == 2
    assert b"old lamp" in file.read_bytes() and b"blue lamp" not in file.read_bytes()


# --- uncertainty ----------------------------------------------------------------------------------
def test_a_context_says_how_old_it_is_and_what_is_superseded() -> None:
    with hb.memory("true_memory", embedding="hashing:64") as memory:
        memory.encode(hb.Event(0.0, "I live in Oslo.", "Mia"))
        memory.encode(hb.Event(1.0, "I moved to Bergen.", "Mia"))
        memory.advance(73.0)
        known = uncertainty(memory, memory.context("Where does Mia live?", 200))
        assert known.sufficiency is None, "nothing judges it"
        by_row = {m.row: m for m in known.memories}
        assert by_row[0] == MemoryAge(0, 73.0, 1) and by_row[1] == MemoryAge(1, 72.0)
        assert known.line() == "[Uncertain: oldest memory 3 days; [0] is superseded by [1]]"


def test_a_judged_context_has_its_sufficiency() -> None:
    with hb.memory("bm25", embedding="hashing:16") as memory:
        memory.encode(hb.Event(0.0, "The lamp is green."))
        made = memory.context("What colour is the lamp?", 100)
        assert made.answer is not None
        judged = replace(made, answer=replace(made.answer, sufficiency=0.25))
        known = uncertainty(memory, judged)
        assert known.sufficiency == 0.25
        assert known.line() == "[Uncertain: 25 % likely to suffice; oldest memory 0 h]"


def test_an_empty_context_is_of_nothing() -> None:
    assert Uncertainty(0.5, ()).line() == ""


def test_the_command_says_it(tmp_path: Path) -> None:
    memory = ["memory", str(tmp_path / "m.db")]
    assert run(app, [*memory, "new", "--set", "bm25", "--embedder", "hashing:16"]).exit_code == 0
    tell = [*memory, "tell", "A green lamp.", "--time", "10 days ago"]
    assert run(app, tell).exit_code == 0 and run(app, [*memory, "tell", "Rain."]).exit_code == 0
    plain = run(app, [*memory, "context", "Which lamp?"])
    assert "Uncertain" not in plain.output
    result = run(app, [*memory, "context", "Which lamp?", "--uncertain"])
    assert result.exit_code == 0 and "[Uncertain: oldest memory 10 days]" in result.output
