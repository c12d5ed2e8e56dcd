"""The page in headless Chromium: it opens, sorts, filters, expands a card, follows a link, and its console stays empty."""
from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from browsers import BROWSERS

from hebbarium.audit import sources
from hebbarium.audit.changes import compare
from hebbarium.audit.collect import audit_registry
from hebbarium.audit.page import to_html
from hebbarium.audit.references import load
from hebbarium.audit.report import to_json
from hebbarium.engine.registry import Registry

BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
SWITCHES = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--hide-scrollbars")
SHOWN = ("base_level_activation", "base_level_activation_printed", "heat", "recency")

# What a reader does, and what comes of it, written where the test can read it.  Errors are counted from the first line of the page on.
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
  type('text', 'pavlik'); said.pavlik = rows(); said.count = document.querySelector('#shown').textContent;
  said.cards = [...document.querySelectorAll('details[data-mechanism]')].filter((d) => !d.hidden).map((d) => d.dataset.mechanism);
  type('text', ''); type('derived', 'HONEST'); said.honest = rows(); type('derived', '');
  const card = document.querySelector('details[data-mechanism="base_level_activation"]');
  said.closed = card.open; card.querySelector('summary').click(); said.expanded = card.open;
  said.figure = card.querySelector('figure svg').getBoundingClientRect().width > 100;
  said.formula = card.querySelector('math').getBoundingClientRect().width > 20;
  said.ink = getComputedStyle(card.querySelector('figure svg text')).fill === getComputedStyle(document.body).color;
  document.querySelector('#mechanisms a[href="#recency"]').click();
  setTimeout(() => {
    said.linked = document.querySelector('details[data-mechanism="recency"]').open;
    said.overflow = document.documentElement.scrollWidth > innerWidth;
    const named = (e) => e.closest('label') || e.ariaLabel || e.getAttribute('aria-labelledby');
    said.unnamed = [...document.querySelectorAll('input, select, [role=img], [role=region]')].filter((e) => !named(e)).length;
    said.faults = faults;
    document.title = 'done';
    document.body.innerHTML = ''; document.body.textContent = JSON.stringify(said);
  }, 50);
}, 0));</script>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    registry, references, path = Registry.read(), load(), tmp_path_factory.mktemp("page") / "audit.html"
    result = audit_registry(registry, only=SHOWN, draw=True)
    told = to_json(result, registry)
    to_html(result, path, references, registry, sources.read(registry, references), compare(told, told))
    return path


def read_in_browser(page: Path, folder: Path, width: int, dark: bool) -> dict[str, Any]:
    """Let the reader at the page, which for this has no policy against scripts that are not its own."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', LISTENER, text)
    visited = folder / f"visited-{width}-{dark}.html"
    visited.write_text(text.replace("</body>", f"{READER}</body>"), encoding="utf-8")
    assert BROWSER
    said = subprocess.run([BROWSER, *SWITCHES, f"--user-data-dir={folder / 'profile'}", f"--blink-settings=preferredColorScheme={0 if dark else 1}",
                           f"--window-size={width},900", "--virtual-time-budget=5000", "--dump-dom", visited.as_uri()],
                          capture_output=True, text=True, encoding="utf-8", timeout=120, check=True).stdout
    found = re.search(r"<body>(\{.*\})</body>", said, re.DOTALL)
    assert found, said[-2000:]
    return dict(json.loads(unescape(found.group(1))))


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (1200, True), (500, False)], ids=["light", "dark", "narrow"])
def test_a_reader_sorts_filters_and_opens_a_card(page: Path, tmp_path: Path, width: int, dark: bool) -> None:
    said = read_in_browser(page, tmp_path, width, dark)
    assert said["faults"] == []
    assert said["opened"] == sorted(SHOWN) == said["up"] and said["down"] == sorted(SHOWN, reverse=True) and said["aria"] == "descending"
    assert said["derived"] == ["FAITHFUL", "HONEST", "HONEST", "APPROXIMATION"], "by strength, the strongest first"
    assert set(said["pavlik"]) == set(said["cards"]) and "recency" not in said["pavlik"] and "base_level_activation" in said["pavlik"]
    assert said["count"] == f"{len(said['pavlik'])} of {len(SHOWN)} mechanisms"
    assert sorted(said["honest"]) == ["heat", "recency"]
    assert not said["closed"] and said["expanded"] and said["linked"]
    assert said["figure"] and said["formula"] and said["ink"], "drawn, and in the page's own colour"
    assert not said["overflow"], "nothing is wider than the window"
    assert said["unnamed"] == 0, "a screen reader can name every control, figure and table"


def test_the_page_runs_under_its_own_policy(page: Path, tmp_path: Path) -> None:
    """Unchanged, with the policy in force, the script still opens the card that the address names."""
    assert BROWSER
    said = subprocess.run([BROWSER, *SWITCHES, f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=3000", "--dump-dom",
                           f"{page.as_uri()}#heat"], capture_output=True, text=True, encoding="utf-8", timeout=120, check=True).stdout
    assert re.search(r'<details data-mechanism="heat"[^>]* open', said)
