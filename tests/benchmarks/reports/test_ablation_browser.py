"""The page in headless Chromium: no column is cut and no word of a heading broken at any width,
tables sort, and its console stays empty.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest
from browsers import BROWSER, needs_browser
from sample_ablation import sample, whole

from hebbarium.benchmarks.reports.page import to_html
from hebbarium.benchmarks.scores.comparison import Verdict

SWITCHES = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--hide-scrollbars")  # fmt: skip
LONG = ("abstention", "contradiction_resolution", "event_ordering", "information_extraction",
        "instruction_following", "knowledge_update",
        "multi_session_reasoning", "preference_following", "summarization", "temporal_reasoning")  # fmt: skip
LISTENER = """<script>window.faults = [];
for (const kind of ['error', 'unhandledrejection', 'securitypolicyviolation']) addEventListener(kind, (e) => faults.push(e.message || kind));
for (const level of ['error', 'warn']) console[level] = (...words) => faults.push(words.join(' '));</script>"""

# The page stands in frames of several widths; what is measured is written where the test can read
# it.
READER = """addEventListener('load', () => {
  const said = {};
  for (const frame of document.querySelectorAll('iframe')) {
    const page = frame.contentDocument, told = said[frame.width] = {}, view = frame.contentWindow;
    told.wide = page.documentElement.scrollWidth - view.innerWidth;
    told.cut = [...page.querySelectorAll('.scroll')].map((e) => e.scrollWidth - e.clientWidth);
    told.broken = [];
    const texts = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      if (!texts.currentNode.parentElement.closest('thead th')) continue;
      for (const word of texts.currentNode.data.matchAll(/[A-Za-z0-9@]+/g)) {
        const range = page.createRange();
        range.setStart(texts.currentNode, word.index); range.setEnd(texts.currentNode, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size > 1) told.broken.push(word[0]);
      }
    }
    told.figures = [...page.querySelectorAll('.plot svg')].filter((e) => e.getBoundingClientRect().width > 0).map((e) => e.classList[0]);
    told.labelled = [...page.querySelectorAll('.stack td')].every((e) => e.dataset.label);
    told.stacked = view.getComputedStyle(page.querySelector('.stack tbody tr')).display === 'grid';
    const end = (e) => e.getBoundingClientRect().right;
    told.past = [...page.querySelectorAll('.plot svg')].filter((e) => e.getBoundingClientRect().width > 0).flatMap((svg) =>
      [...svg.querySelectorAll('text')].filter((t) => end(t) > end(svg) + 1).map((t) => t.textContent));
    const head = [...page.querySelectorAll('table[data-sortable] thead button')].find((b) => b.textContent === 'Difference');
    const body = head.closest('table').tBodies[0], order = () => [...body.rows].map((r) => parseFloat(r.cells[2].dataset.sort));
    head.click(); told.down = order(); head.click(); told.up = order();
    told.faults = view.faults;
  }
  document.body.innerHTML = ''; document.body.textContent = JSON.stringify(said);
});"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Ten categories with long names, an arm with as long a name as any, and every verdict."""
    result = sample()
    arms = [
        replace(
            arm,
            by_category={name: 0.01 * i - 0.03 for i, name in enumerate(LONG)}
            if not arm.no_op
            else {},
        )
        for arm in result.estimates
    ]
    last = next(i for i, arm in enumerate(arms) if arm.verdict is Verdict.UNDECIDED)
    arms[last] = replace(
        arms[last],
        differences={
            name: replace(d, equivalent=True) for name, d in arms[last].differences.items()
        },
    )
    made = replace(
        result, estimates=tuple(arms), categories={name: 20 + i for i, name in enumerate(LONG)}
    )
    assert all(made.judged(word) for word in Verdict)
    return to_html(whole(made), tmp_path_factory.mktemp("page") / "design.html").read_text(
        encoding="utf-8"
    )


def measured(page: str, folder: Path, widths: tuple[int, ...], dark: bool) -> dict[str, Any]:
    open_page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', LISTENER, page)
    frames = "".join(
        f'<iframe width="{w}" height="900" srcdoc="{escape(open_page)}"></iframe>' for w in widths
    )
    (folder / "frames.html").write_text(
        f'<!doctype html><meta charset="utf-8"><script>{READER}</script><body>{frames}</body>',
        encoding="utf-8",
    )
    assert BROWSER
    said = subprocess.run([BROWSER, *SWITCHES, f"--user-data-dir={folder / 'profile'}",
                           f"--blink-settings=preferredColorScheme={0 if dark else 1}",
                           "--window-size=1600,1200", "--virtual-time-budget=5000", "--dump-dom",
                           (folder / "frames.html").as_uri()],
                          capture_output=True, text=True, encoding="utf-8", timeout=120,
                          check=True).stdout  # fmt: skip
    found = re.search(r"<body>(\{.*\})</body>", said, re.DOTALL)
    assert found, said[-2000:]
    return dict(json.loads(unescape(found.group(1))))


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_column_is_cut_and_no_word_broken_at_any_width(
    page: str, tmp_path: Path, dark: bool
) -> None:
    for width, told in measured(page, tmp_path, (1440, 1280, 1181, 1000, 760, 390), dark).items():
        assert told["faults"] == [] and told["wide"] <= 0, width
        assert max(told["cut"]) <= 0 and len(told["cut"]) == page.count('class="scroll') > 4, (
            f"a table is wider than its frame at {width} px: {told['cut']}"
        )
        assert told["broken"] == [], f"broken in mid-word at {width} px"
        assert told["past"] == [], f"text beyond the figure at {width} px"
        assert told["figures"] == (["narrow"] * 2 if int(width) <= 860 else ["wide"] * 2) and told[
            "stacked"
        ] == (int(width) <= 1180)
        assert (
            told["labelled"]
            and told["down"] == sorted(told["down"], reverse=True)
            and told["up"] == sorted(told["up"])
        )


@pytest.mark.slow
@needs_browser
def test_the_page_runs_under_its_own_policy(page: str, tmp_path: Path) -> None:
    """Unchanged, with the policy in force, the figures and tables are drawn and the console is
    empty.
    """
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    assert BROWSER
    switches = (
        *SWITCHES,
        f"--user-data-dir={tmp_path / 'profile'}",
        "--enable-logging=stderr",
        "--virtual-time-budget=3000",
        "--dump-dom",
    )
    done = subprocess.run(
        [BROWSER, *switches, (tmp_path / "page.html").as_uri()],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=True,
    )
    assert "CONSOLE" not in done.stderr and 'aria-sort="none"' in done.stdout
