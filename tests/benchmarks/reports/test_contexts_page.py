"""The page of contexts side by side: what it says is what the contexts hold, whatever the texts
say.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from browsers import BROWSER, needs_browser
from hypothesis import given
from hypothesis import strategies as st
from pages import Seen

from hebbarium.benchmarks.reports.contexts_page import LEFT_OUT, MEANING, kept, to_html, ways
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.context.assembly import STRATEGIES, assemble
from hebbarium.engine.context.condensers import Form
from hebbarium.engine.context.tokens import LENGTH
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder

Command = Callable[..., tuple[int, str, str]]
LONG = (
    "The boat leaks. I called the harbour. "
    + " ".join(f"Then there was soup number {n}." for n in range(30))
    + " Shall I pay for the boat?"
)
ODD = "<script>alert('boat')</script> \x00\u202e <img src=http://example.org/x onerror=x> boat"


@pytest.fixture
def memory(registry: Registry) -> Engine:
    found = Engine(registry.build(registry.set("bm25")), HashingEmbedder(16))
    texts = (
        "We booked the boat.",
        LONG,
        ODD,
        "The boat is red.",
        "Our cat sleeps.",
        "A boat for Bo.",
    )
    found.encode_all(Event(float(n), text, "Ada", "s", f"e{n}") for n, text in enumerate(texts))
    return found


def test_each_way_is_its_context(memory: Engine) -> None:
    before, gold = memory.digest(), ("e0", "e1")
    lines = ways(memory, "the boat", (40, 160, 80, 160), LENGTH, gold)
    assert memory.digest() == before and [line[0].budget for line in lines] == [160, 80, 40]
    assert [way.strategy for way in lines[0]] == [
        "flat",
        "condensed",
        "covering",
        "packed",
        "everything",
    ], "a set without sources has no such way"
    for line in lines:
        for way in line:
            context = assemble(
                memory, "the boat", way.budget, counter=LENGTH, strategy=way.strategy
            )
            inside = [one for one in way.shown if one.state != LEFT_OUT]
            assert (way.tokens, way.items, way.condensed) == (
                context.tokens,
                len(context.components),
                sum(c.form is not Form.WHOLE for c in context.components),
            )
            assert [(one.row, one.tokens) for one in inside] == [
                (c.row, c.tokens) for c in context.components
            ]
            assert (
                way.whole == sum(memory.events[int(id[1:])].text in context.text for id in gold)
                and way.of == 2
            )
            assert way.banner == (
                context.text.split("\n")[0] if context.cut and context.text.startswith("[") else ""
            )
            assert {one.row for one in way.shown if one.gold} <= {0, 1}
            assert way.left_out == sum(one.state == LEFT_OUT for one in way.shown)
    first, last = lines[0][0], lines[-1][0]
    assert {one.row for one in last.shown} >= {one.row for one in first.shown}, (
        "what fell out stays on the page"
    )


@given(
    st.lists(st.sampled_from(["red", "boat. ", "\n", "  ", "Oslo?", "a"]), max_size=30), st.data()
)
def test_pieces_are_the_whole_text_and_keep_what_a_condensed_one_has(
    parts: list[str], data: st.DataObject
) -> None:
    whole = " ".join(parts)
    words = whole.split()
    places = sorted(data.draw(st.sets(st.sampled_from(range(len(words))))) if words else [])
    found = kept(whole, " ".join(words[n] for n in places))
    assert "".join(piece.text for piece in found) == (whole if words else "")
    assert sum(len(piece.text.split()) for piece in found if piece.kept) <= len(places)
    assert all(piece.kept for piece in kept(whole, whole))


def test_the_page_holds_the_texts_as_texts(memory: Engine, tmp_path: Path) -> None:
    lines = ways(memory, "the boat", (200, 100), LENGTH)
    page = to_html(
        lines, tmp_path / "p" / "page.html", question=f"{ODD}?", about={"Set": ODD}, counter="x"
    )
    text = page.read_text(encoding="utf-8")
    seen = Seen(text)
    assert "<script>alert" not in text and not {"img", "link", "iframe", "object"} & set(
        seen.elements
    )
    assert "\x00" not in text and "\u202e" not in text
    assert (
        "url(" not in text
        and seen.elements.count("article") == 10
        and seen.elements.count("script") == 1
    )
    assert (
        all(f"of {budget} tokens" in seen.text for budget in (200, 100)) and "Left out" in seen.text
    )
    assert "<s>" in text, "condensed memories show faded words"


def test_the_strategies_of_the_page_are_those_of_the_engine() -> None:
    assert set(MEANING) == set(STRATEGIES) - {"nothing"}


def test_the_command_writes_the_page_and_marks_the_evidence_of_a_question(
    hebbarium: Command, tmp_path: Path
) -> None:
    question = "What sort of dog did Maren adopt?"
    code, out, _ = hebbarium(
        "assemble",
        "--set",
        "bm25",
        "--embedder",
        "hashing:16",
        "--query",
        question,
        "--page",
        tmp_path / "a.html",
    )
    page = unescape((tmp_path / "a.html").read_text(encoding="utf-8"))
    assert (
        code == 0
        and "tokens as length/4 counts" in out
        and re.search(r"evidence <b class=\"yes\">1 of 1</b>", page)
    )
    assert (
        all(f">{budget} tokens</h2>" in page for budget in (512, 256, 128, 64))
        and 'class="gold"' in page
    )
    code, _, err = hebbarium(
        "assemble",
        "--set",
        "bm25",
        "--embedder",
        "hashing:16",
        "--query",
        "x",
        "--budget",
        "7",
        "--page",
        tmp_path / "b.html",
    )
    assert code == 2 and "cannot be halved" in err and not (tmp_path / "b.html").exists()


@needs_browser
def test_in_a_browser_the_page_is_as_wide_as_the_window_and_has_no_fault(
    memory: Engine, tmp_path: Path
) -> None:
    page = to_html(
        ways(memory, "the boat", (300, 150, 75), LENGTH, ("e0",)),
        tmp_path / "page.html",
        question="the boat",
        about={"Set": "bm25"},
        counter="length/4",
    )
    script = (
        "<script>window.faults = []; addEventListener('error', (e) => faults.push(e.message || 'error'), true);"
        "addEventListener('load', () => document.documentElement.dataset.told = JSON.stringify("
        "[faults, document.documentElement.scrollWidth - innerWidth, document.querySelectorAll('.way').length]));</script></head>"
    )
    text = page.read_text(encoding="utf-8")
    page.write_text(
        re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text).replace(
            "</head>", script, 1
        ),
        encoding="utf-8",
    )
    assert BROWSER
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu",
                           "--hide-scrollbars", f"--user-data-dir={tmp_path / 'profile'}",
                           "--window-size=500,900", "--dump-dom", page.as_uri()],
                           capture_output=True, text=True, timeout=120)  # fmt: skip
    told = re.search(r'data-told="([^"]*)"', done.stdout)
    assert told, done.stderr[-2000:]
    faults, wider, count = json.loads(unescape(told[1]))
    assert not faults and wider <= 0 and count == 15
