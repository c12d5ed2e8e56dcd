"""The page in headless Chromium: it opens, sorts, filters, keeps its filters in the address,
opens what a link names, and its console stays empty.
"""

from __future__ import annotations

import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from browsers import BROWSER, needs_browser

from hebbarium.audit import sources
from hebbarium.audit.changes import compare
from hebbarium.audit.collect import audit_registry
from hebbarium.audit.page import to_html
from hebbarium.audit.provenance import provenance
from hebbarium.audit.references import load
from hebbarium.audit.references import read as parse
from hebbarium.audit.report import to_json
from hebbarium.engine.catalogue.registry import Registry

pytestmark = needs_browser
SWITCHES = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--hide-scrollbars")  # fmt: skip
SHOWN = ("base_level_activation", "base_level_activation_printed", "heat", "recency")

# What a reader does, and what comes of it, written where the test can read it.  Errors are counted
# from the first line of the page on.
LISTENER = """<script>window.faults = [];
for (const kind of ['error', 'unhandledrejection', 'securitypolicyviolation']) addEventListener(kind, (e) => faults.push(e.message || kind));
for (const level of ['error', 'warn']) console[level] = (...words) => faults.push(words.join(' '));</script>"""
READER = """<script>addEventListener('load', () => setTimeout(() => {
  const rows = () => [...document.querySelectorAll('#mechanisms tbody tr')].filter((r) => !r.hidden).map((r) => r.dataset.mechanism);
  const head = (name) => [...document.querySelectorAll('#mechanisms thead button')].find((b) => b.textContent === name);
  const form = document.querySelector('#filters'), said = {};
  const type = (name, value) => { form.elements[name].value = value; form.dispatchEvent(new Event('input', {bubbles: true})); };
  said.opened = rows();
  head('mechanism').click(); said.up = rows(); head('mechanism').click(); said.down = rows();
  said.aria = head('mechanism').closest('th').getAttribute('aria-sort');
  head('derived').click(); said.derived = [...document.querySelectorAll('#mechanisms tbody tr')].map((r) => r.dataset.derived);
  type('text', 'pavlik'); said.address = location.hash; said.pavlik = rows(); said.count = document.querySelector('#shown').textContent;
  said.cards = [...document.querySelectorAll('details[data-mechanism]')].filter((d) => !d.hidden).map((d) => d.dataset.mechanism);
  type('text', ''); type('derived', 'HONEST'); said.honest = rows(); said.narrowed = location.hash; type('derived', '');
  const card = document.querySelector('details[data-mechanism="base_level_activation"]');
  said.closed = card.open; card.querySelector('summary').click(); said.expanded = card.open;
  said.figure = card.querySelector('figure svg').getBoundingClientRect().width > 100;
  said.formula = card.querySelector('math').getBoundingClientRect().width > 20;
  said.ink = getComputedStyle(card.querySelector('figure svg text')).fill === getComputedStyle(document.body).color;
  const box = (id) => document.querySelector(`details[data-mechanism="${id}"]`), pause = () => new Promise((go) => setTimeout(go, 50));
  (async () => {
    type('home', 'maintenance'); form.querySelector('[type=reset]').click(); await pause();
    said.cleared = [rows().length, location.hash];
    document.querySelector('#mechanisms a[href="#recency"]').click(); await pause();
    said.linked = box('recency').open && box('recency').getBoundingClientRect().top < 100;
    box('heat').querySelector('summary .permalink').click(); await pause();
    said.permalink = [location.hash, box('heat').open];
    location.hash = '#derived=HONEST&text=recency'; await pause();
    said.restored = [rows(), form.elements.derived.value, form.elements.text.value];
    location.hash = '#base_level_activation_printed:CM-6.1'; await pause();
    const row = document.getElementById('base_level_activation_printed:CM-6.1'), place = row.getBoundingClientRect();
    const seen = place.height > 0 && place.top >= 0 && place.top < innerHeight;
    said.check = [box('base_level_activation_printed').open, seen, row.querySelector('a').hash];
    location.hash = '#derived=NONSENSE'; await pause();
    said.unknown = rows().length;
    location.hash = '#bibtex'; await pause();
    const copy = document.querySelector('[data-copy=bibtex-text]');
    said.bibtex = [copy.closest('details').open, copy.getBoundingClientRect().height > 0];
    const clipboard = (writeText) => Object.defineProperty(navigator, 'clipboard', {value: {writeText}, configurable: true});
    clipboard(async (text) => { said.copied = [text]; }); copy.click(); await pause(); said.copied.push(copy.textContent);
    clipboard(async () => { throw new Error('forbidden'); }); copy.click(); await pause();
    said.selected = [getSelection().toString(), copy.textContent];
    said.overflow = document.documentElement.scrollWidth > innerWidth;
    const named = (e) => e.closest('label') || e.ariaLabel || e.getAttribute('aria-labelledby');
    said.unnamed = [...document.querySelectorAll('input, select, [role=img], [role=region]')].filter((e) => !named(e)).length;
    said.faults = faults;
    document.title = 'done';
    document.body.innerHTML = ''; document.body.textContent = JSON.stringify(said);
  })();
}, 0));</script>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    registry, references, path = (
        Registry.read(),
        load(),
        tmp_path_factory.mktemp("page") / "audit.html",
    )
    result = audit_registry(registry, only=SHOWN, draw=True)
    output = to_json(result, registry)
    to_html(
        result,
        path,
        references,
        registry,
        sources.read(registry, references),
        compare(output, output),
        provenance(registry, references, SHOWN, seconds=1.0),
    )
    return path


def read_in_browser(page: Path, folder: Path, width: int, dark: bool) -> dict[str, Any]:
    """Let the reader at the page, which for this has no policy against scripts that are not its
    own.
    """
    text = page.read_text(encoding="utf-8")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', LISTENER, text)
    visited = folder / f"visited-{width}-{dark}.html"
    visited.write_text(text.replace("</body>", f"{READER}</body>"), encoding="utf-8")
    assert BROWSER
    said = subprocess.run([BROWSER, *SWITCHES, f"--user-data-dir={folder / 'profile'}",
                           f"--blink-settings=preferredColorScheme={0 if dark else 1}",
                           f"--window-size={width},900", "--virtual-time-budget=5000", "--dump-dom",
                           visited.as_uri()],
                          capture_output=True, text=True, encoding="utf-8", timeout=120,
                          check=True).stdout  # fmt: skip
    found = re.search(r"<body>(\{.*\})</body>", said, re.DOTALL)
    assert found, said[-2000:]
    return dict(json.loads(unescape(found.group(1))))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "dark"), [(1200, False), (1200, True), (500, False)], ids=["light", "dark", "narrow"]
)
def test_a_reader_sorts_filters_and_opens_a_card(
    page: Path, tmp_path: Path, width: int, dark: bool
) -> None:
    said = read_in_browser(page, tmp_path, width, dark)
    assert said["faults"] == []
    assert (
        said["opened"] == sorted(SHOWN) == said["up"]
        and said["down"] == sorted(SHOWN, reverse=True)
        and said["aria"] == "descending"
    )
    strength = ["FAITHFUL", "DOCUMENTED", "HONEST", "APPROXIMATION"]
    assert (
        said["derived"] == sorted(said["derived"], key=strength.index)
        and len(set(said["derived"])) == 3
    ), "by strength, the strongest first"
    assert (
        set(said["pavlik"]) == set(said["cards"])
        and "recency" not in said["pavlik"]
        and "base_level_activation" in said["pavlik"]
    )
    assert said["count"] == f"{len(said['pavlik'])} of {len(SHOWN)} mechanisms"
    assert sorted(said["honest"]) == ["heat", "recency"]
    assert (said["address"], said["narrowed"]) == ("#text=pavlik", "#derived=HONEST") and said[
        "cleared"
    ] == [len(SHOWN), ""]
    assert (
        not said["closed"]
        and said["expanded"]
        and said["linked"]
        and said["permalink"] == ["#heat", True]
    )
    assert said["restored"] == [["recency"], "HONEST", "recency"] and said["unknown"] == len(SHOWN)
    assert said["check"] == [True, True, "#base_level_activation_printed:CM-6.1"]
    assert said["bibtex"] == [True, True] and (said["copied"][1], said["selected"][1]) == (
        "Copied",
        "Selected",
    )
    papers = {key for id in SHOWN for key in Registry.read().entries[id].papers}
    assert (
        {entry.key for entry in parse(said["copied"][0])}
        == papers
        == {entry.key for entry in parse(said["selected"][0])}
    )
    assert said["figure"] and said["formula"] and said["ink"], "drawn, and in the page's own colour"
    assert not said["overflow"], "nothing is wider than the window"
    assert said["unnamed"] == 0, "a screen reader can name every control, figure and table"


def loaded(page: Path, folder: Path, address: str) -> str:
    """The page as the browser has it, unchanged and with its policy in force, from an address."""
    assert BROWSER
    return subprocess.run([BROWSER, *SWITCHES, f"--user-data-dir={folder / 'profile'}",
                           "--virtual-time-budget=3000", "--dump-dom",
                           f"{page.as_uri()}{address}"], capture_output=True, text=True,
                           encoding="utf-8", timeout=120, check=True).stdout  # fmt: skip


@pytest.mark.slow
def test_the_page_runs_under_its_own_policy(page: Path, tmp_path: Path) -> None:
    """The script opens the card that the address names, or that holds the check that it names."""
    assert re.search(r'<details data-mechanism="heat"[^>]* open', loaded(page, tmp_path, "#heat"))
    assert re.search(
        r'<details data-mechanism="recency"[^>]* open', loaded(page, tmp_path, "#recency:RC-2")
    )


@pytest.mark.slow
def test_a_filtered_view_is_opened_from_its_address(page: Path, tmp_path: Path) -> None:
    found = loaded(page, tmp_path, "#derived=HONEST&claim=earned")
    rows = re.findall(r'<tr data-mechanism="(\w+)"([^>]*)>', found)
    assert sorted(name for name, rest in rows if "hidden" not in rest) == [
        "heat",
        "recency",
    ] and len(rows) == len(SHOWN)
    assert f"2 of {len(SHOWN)} mechanisms" in found
