"""Hostile input: a clear error or a valid result, and an unharmed store."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import fewer_examples
from hanging import ended_if_it_hangs
from hypothesis import given
from hypothesis import strategies as st
from pages import Seen
from tiers import slow_unless

from hebbarium.audit.collect import audit_registry
from hebbarium.audit.page import to_html
from hebbarium.benchmarks.datasets import Conversation, Dataset, Question
from hebbarium.benchmarks.experiments.run import run
from hebbarium.engine.base.errors import HebbariumError, InputError, RegistryError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.testing.conformance import START, talk

REGISTRY = Registry.read()
TEXTS = {
    "empty": "", "blank": " \n\t", "NUL": "a\0b\0", "half surrogate": "\ud800 lone \udfff",
    "emoji": "\U0001f469\u200d\U0001f467\U0001f3f3\ufe0f" * 40,
    "right to left": "\u202e\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627\u202c",
    "markup": "<script>alert('x')</script><!-- ]]> &amp; -->",
    "SQL": "'); DROP TABLE events; --", "terminal": "\x1b[2J\x1b]0;title\x07\b\b",
    "digits": "9" * 5000,
    "dates": "0000-00-00 and 31 February 99999 and 1e999", "combining": "e" + "\u0301" * 3000,
    "one letter": "\u00e9" * 60_000,
    "template": "{{ 7 * 7 }} %s {0} ${HOME}", "separators": "a\u2028b\x85c\r\nd",
}  # fmt: skip
EARLY = (datetime(1, 1, 1), datetime(1962, 5, 1))
# half surrogates, too
texts = st.one_of(
    st.sampled_from(list(TEXTS.values())), st.text(st.characters(codec=None), max_size=60)
)


def small_memory(name: str = "minimal") -> Engine:
    """A memory of a few events, so that damage would show."""
    memory = Engine(REGISTRY.build(REGISTRY.set(name)), HashingEmbedder(32))
    for event in talk(12):
        memory.encode(event)
    return memory


def require_valid_answer(memory: Engine, question: str = "Who painted Oslo?") -> None:
    answer = memory.retrieve(question)
    assert (
        np.isfinite(answer.final[answer.answerable]).all()
        and len(set(answer.rows)) == len(answer.rows) <= 10
    )
    assert len(memory.event_log.rows) == memory.store.n


@pytest.mark.parametrize("kind", TEXTS)
def test_any_text_is_kept_verbatim_and_can_be_asked_about(kind: str) -> None:
    memory, text = small_memory(), TEXTS[kind]
    memory.encode(Event(memory.now + 1.0, text, text[:50], text[:50], f"x{text[:50]}", text[:50]))
    memory.advance(memory.now + 100.0)
    assert (
        memory.event_log.events[-1].text == text
        and memory.event_log.events[-1].caption == text[:50]
    )
    before = memory.digest()
    require_valid_answer(memory, text)
    require_valid_answer(memory)
    assert memory.digest() == before


@pytest.mark.parametrize("kind", TEXTS)
def test_any_text_can_be_printed_and_shown_in_a_notebook(kind: str) -> None:
    memory, text = small_memory(), TEXTS[kind]
    row = memory.encode(
        Event(memory.now + 1.0, text, text[:50], text[:50], f"x{text[:50]}", text[:50])
    )
    answer = memory.retrieve(text)
    for line in (repr(memory), repr(answer), repr(memory.events[-1])):
        assert line.isprintable(), "no control characters, no line breaks"
        assert line.encode("utf-8") and len(line) < 400
    found = [memory, answer] if not row.stored else [memory, answer, memory.explain(text, row)]
    for each in found:
        html = each._repr_html_()
        assert (
            html.encode("utf-8")
            and len(html) < 20_000
            and set(Seen(html).elements) <= {"table", "tr", "th", "td"}
        )


@fewer_examples
@given(st.lists(st.tuples(texts, texts, st.floats(0.0, 400.0)), min_size=1, max_size=6), texts)
def test_a_memory_of_any_texts_is_valid_and_reproducible(
    happenings: list[tuple[str, str, float]], question: str
) -> None:
    def filled() -> Engine:
        memory = Engine(REGISTRY.build(REGISTRY.set("minimal")), HashingEmbedder(16))
        for i, (text, speaker, pause) in enumerate(happenings):
            memory.encode(
                Event(
                    (START if math.isnan(memory.now) else memory.now) + pause,
                    text,
                    speaker,
                    str(i // 2),
                    f"e{i}",
                )
            )
            memory.retrieve(question, learn=True)
        return memory

    memory = filled()
    require_valid_answer(memory, question)
    assert [e.text for e in memory.event_log.events] == [text for text, _, _ in happenings]
    assert filled().digest() == memory.digest()


@pytest.mark.slow
def test_a_text_of_a_megabyte_is_stored_and_retrieved() -> None:
    memory, text = small_memory(), "word " * 50_000 + "x" * 750_000
    with ended_if_it_hangs():
        memory.encode(Event(memory.now + 1.0, text, id="big"))
        require_valid_answer(memory, text)
    assert memory.event_log.events[-1].text == text


@pytest.mark.slow
def test_ties_of_ten_thousand_equal_events_are_broken_by_age() -> None:
    """Events without ids, as an id is told once; the set does not recognise repeats, of which
    only the newest would be answered.
    """
    memory = Engine(REGISTRY.build(REGISTRY.set("hybrid")), HashingEmbedder(16))
    event = Event(START, "the same thing again", "Ada", "s")
    with ended_if_it_hangs():
        for _ in range(10_000):
            memory.encode(event)
        answer = memory.retrieve("the same thing")
    assert memory.store.n == 10_000 and answer.rows.tolist() == list(range(10))


BAD: dict[str, Callable[[float], Any]] = {
    "NaN": lambda now: Event(math.nan, "x"),
    "infinite": lambda now: Event(math.inf, "x"),
    "minus infinite": lambda now: Event(-math.inf, "x"),
    "backwards": lambda now: Event(now - 0.001, "x"),
    "long ago": lambda now: Event(-1e300, "x"),
    "the end of time": lambda now: Event(1e300, "x"),
    "time that is text": lambda now: _event(time="noon"),
    "time that is true": lambda now: _event(time=True),
    "no time": lambda now: _event(time=None),
    "no text": lambda now: _event(time=now + 1.0, text=None),
    "bytes": lambda now: _event(time=now + 1.0, text=b"x"),
    "speaker that is a number": lambda now: _event(time=now + 1.0, speaker=7),
    "session that is none": lambda now: _event(time=now + 1.0, session=None),
    "id that is a list": lambda now: _event(time=now + 1.0, id=["x"]),
    "caption that is none": lambda now: _event(time=now + 1.0, caption=None),
}


def _event(**fields: Any) -> Event:
    return Event(**{"text": "x", **fields})


@pytest.mark.parametrize("kind", BAD)
def test_a_refused_event_changes_nothing(kind: str) -> None:
    memory, same = small_memory(), small_memory()
    before = memory.digest()
    for act in (
        lambda: memory.encode(BAD[kind](memory.now)),
        lambda: memory.encode_all([BAD[kind](memory.now)]),
    ):
        with pytest.raises(InputError) as error:
            act()
        assert error.value.where and error.value.cure
        assert memory.digest() == before == same.digest()
    for one in (memory, same):
        one.encode(Event(one.now + 5.0, "life goes on", "Ada", "s9", "later"))
    assert memory.digest() == same.digest()


QUERIES: dict[str, Any] = {
    "NaN": Query("x", math.nan),
    "infinite": Query("x", math.inf),
    "before": Query("x", START - 1e4),
    "future": Query("x", 1e9),
    "none": Query(None),
    "bytes": Query(b"x"),
    "number": 7,  # type: ignore[arg-type]
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_a_refused_query_changes_nothing(query: Any) -> None:
    memory = small_memory()
    before = memory.digest()
    for learn in (False, True):
        with pytest.raises(InputError):
            memory.retrieve(query, learn=learn)
    assert memory.digest() == before
    require_valid_answer(memory)


@pytest.mark.parametrize("moment", [math.nan, math.inf, -1.0, 1e300, "soon", None, True])
def test_invalid_times_change_nothing(moment: Any) -> None:
    memory = small_memory()
    before = memory.digest()
    with pytest.raises(InputError):
        memory.advance(moment)
    assert memory.digest() == before


class Failing(HashingEmbedder):
    """An embedder that fails on one word."""

    def embed(self, texts: Any) -> Any:
        if any("poison" in text for text in texts):
            raise HebbariumError("cannot be embedded", where="failing", cure="none")
        return super().embed(texts)


def test_an_embedder_that_fails_leaves_the_store_unharmed() -> None:
    memory = Engine(REGISTRY.build(REGISTRY.set("minimal")), Failing(32))
    for event in talk(12):
        memory.encode(event)
    before = memory.digest()
    for act in (
        lambda: memory.encode(Event(memory.now + 1.0, "poison", "Eve", "new")),
        lambda: memory.retrieve("poison?", learn=True),
    ):
        with pytest.raises(HebbariumError, match="cannot be embedded"):
            act()
        assert memory.digest() == before
    memory.encode(Event(memory.now + 1.0, "Bread is better than stone.", "Eve", "new"))
    require_valid_answer(memory)


@pytest.mark.parametrize("row", [-1, 12, 10**9])
def test_rows_out_of_range_cannot_be_archived(row: int) -> None:
    memory = small_memory("bm25")
    before = memory.digest()
    for act in (memory.archive, memory.restore):
        with pytest.raises(InputError):
            act(row)
    assert memory.digest() == before


PARAMETERS = [(e.id, name) for e in REGISTRY.entries.values() for name in (*e.params, "time_scale")]


@given(
    st.sampled_from(PARAMETERS),
    st.one_of(
        st.floats(), st.integers(), st.booleans(), st.text(max_size=5), st.none(), st.just([1.0])
    ),
)
def test_any_value_of_any_parameter_is_taken_or_refused_with_a_cure(
    place: tuple[str, str], value: Any
) -> None:
    id, name = place
    try:
        taken = getattr(REGISTRY.instance(id, {name: value}).params, name)
    except RegistryError as error:
        assert error.where and error.cure
        return
    assert taken == value and (not isinstance(taken, float) or math.isfinite(taken))
    declared = REGISTRY.entries[id].params.get(name)
    if declared is not None and not isinstance(taken, str):
        assert (declared.low is None or taken >= declared.low) and (
            declared.high is None or taken <= declared.high
        )


YAML = {
    "key given twice": ("mechanisms: [recency]\nmechanisms: [heat]\n", "given twice"),
    "deep key given twice": ("mechanisms: {heat: {weight: 1, weight: 2}}\n", "given twice"),
    "unknown mechanism": ("mechanisms: [recency, nope]\n", "nope"),
    "unknown key": ("mechanism: [recency]\n", "unknown key"),
    "named twice": ("mechanisms: [heat, heat]\n", "distinct"), "a list": ("- recency\n",
    "not a mapping"), "nothing": ("", "not a mapping"),
    "a word": ("mechanisms: recency\n", "no list"), "numbers": ("mechanisms: [1, 2]\n", "distinct"),
    "code": ("mechanisms: !!python/object/apply:os.system ['exit 1']\n", "valid YAML"),
    "tab": ("mechanisms:\n\t- heat\n", "valid YAML"),
    "summary that is a list": ("summary: [x]\nmechanisms: [recency]\n", "summary is no text"),
    "summary that is a date": ("summary: 2024-01-01\nmechanisms: [recency]\n",
                               "summary is no text"),
    "alias": ("summary: &a x\nmechanisms: [*a]\n", "alias"),
    "aliases of aliases": ("a: &a [x, x]\n" + "".join(f"{c}: &{c} [*{b}, *{b}, *{b}, *{b}, *{b}, *{b}, *{b}, *{b}, *{b}]\n"
                                                       for b, c in zip("abcdefgh", "bcdefghi",
                                                       strict=True)), "alias"),
    "unfinished": ("mechanisms: [", "valid YAML"), "key of a list": ("? [a, b]\n: 1\n",
    "valid YAML"), "NUL": ("mechanisms: [a\0b]\n", "valid YAML"),
}  # fmt: skip


@pytest.mark.parametrize("kind", YAML)
def test_an_invalid_set_is_refused_with_its_file(kind: str, tmp_path: Path) -> None:
    content, words = YAML[kind]
    file = tmp_path / "mine.yaml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(RegistryError, match=words) as error:
        REGISTRY.set(str(file))
    assert str(file) in error.value.where and error.value.cure


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"mechanisms: [\xe9]\n"], ids=["UTF-16", "Latin-1"]
)
def test_a_set_in_another_encoding_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_bytes(content)
    with pytest.raises(RegistryError, match="valid YAML"):
        REGISTRY.set(str(tmp_path / "mine.yaml"))


# --- reports --------------------------------------------------------------------------------------
def test_a_run_on_hostile_texts_writes_valid_files(tmp_path: Path) -> None:
    """Texts, ids and categories of every kind: rows are JSON lines, one per question, and keep
    ids and categories.
    """
    events = tuple(
        Event(START + i, text, text[:20], f"s{i}", f"{i} {text[:30]}")
        for i, text in enumerate(TEXTS.values())
    )
    questions = tuple(
        Question(f"q{i} {e.text[:30]}", e.text, START + 100.0, e.text[:30] or "none", (e.id,))
        for i, e in enumerate(events)
    )
    data = Dataset(
        "hostile", "0", (Conversation("c\ud800\n", events, questions),), {"note": "\udfff"}
    )
    result = run(
        REGISTRY.set("hybrid"), REGISTRY, data, CachedEmbedder(HashingEmbedder(32), None), tmp_path
    )
    lines = (tmp_path / "rows.jsonl").read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines[:-1]]
    assert lines[-1] == "" and [(row["question"], row["gold"]) for row in rows] == [
        (q.id, list(q.gold)) for q in questions
    ]
    metrics = json.loads((tmp_path / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["overall"] == result["overall"] and set(metrics["by_category"]) == {
        q.category for q in questions
    }
    assert json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))["data"][
        "notes"
    ] == {"note": "\udfff"}


def test_an_audit_shows_hostile_declarations_as_text(tmp_path: Path) -> None:
    bad = "<script>alert(1)</script>"
    entry = REGISTRY.entries["recency"]
    departure = {"what": f"{bad} departs", "why": "", "kind": "form"}
    changed = entry.model_copy(
        update={
            "departures": (
                type(entry)
                .model_validate({**entry.model_dump(by_alias=True), "departures": [departure]})
                .departures[0],
            ),
            "papers": (f"<img src=x onerror=alert(2)>{bad}",),
        }
    )
    result = audit_registry(Registry({"recency": changed}, {}, "0"), mutants=False)
    to_html(result, tmp_path / "audit.html")
    page = Seen((tmp_path / "audit.html").read_text(encoding="utf-8"))
    assert "img" not in page.elements and page.elements.count("script") == 1 and bad in page.text, (
        "the page's own script and no other"
    )


@pytest.mark.parametrize("moment", EARLY, ids=str)
@pytest.mark.parametrize(
    "name", slow_unless({"cortex_as_printed"}, ["everything", "cortex_as_printed"])
)
def test_events_before_1970_are_as_good_as_later_ones(name: str, moment: datetime) -> None:
    """Columns of times stand at 1970 before anything happened, which is then in the future."""
    e = Engine(REGISTRY.build(REGISTRY.set(name)), HashingEmbedder(32))
    e.encode_all(
        [Event.at(moment, f"Ada painted mill {i} on a day", "Ada", id=str(i)) for i in range(6)]
    )
    e.advance(e.now + 50.0)
    answer = e.retrieve(Query("Who painted mill 3?"), learn=True)
    assert len(answer.rows) and np.isfinite(answer.final[answer.rows]).all()
    assert e.encode(Event(e.now, "She sold it.", "Ada")).stored
