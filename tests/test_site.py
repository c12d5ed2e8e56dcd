"""The site of the documentation, built in its fast form: every internal link and anchor leads
somewhere, and no page loads anything from elsewhere.

The notebooks run, and print what is stored in them.  The files for a host (workflows, templates of
issues, badges) agree with the project.
"""

from __future__ import annotations

import doctest
import functools
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from browsers import BROWSER, needs_browser

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
SWITCHES = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update", "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1")  # fmt: skip
NUMBER = re.compile(r"-?\d+\.\d+")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def website(name: str) -> Any:
    """A module of docs/tools/website."""
    sys.path.insert(0, str(DOCS / "tools"))
    try:
        return importlib.import_module(f"website.{name}")
    finally:
        sys.path.remove(str(DOCS / "tools"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """The folder of the site.  Of several processes of one test run, the first builds it and the
    others wait.
    """
    shared = tmp_path_factory.getbasetemp()
    folder = (shared.parent if hasattr(request.config, "workerinput") else shared) / "built"
    outcome = folder / "outcome"
    try:
        folder.mkdir()
    except FileExistsError:
        for _ in range(6000):
            if outcome.is_file():
                break
            time.sleep(0.1)
    else:
        made = subprocess.run(
            [sys.executable, "docs/tools/build_site.py", "--fast", str(folder)],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        (folder / "part").write_text(
            "" if made.returncode == 0 else made.stdout + made.stderr, encoding="utf-8"
        )
        (folder / "part").rename(outcome)
    failure = outcome.read_text(encoding="utf-8")
    assert not failure, failure
    return folder / "site"


# --- links ----------------------------------------------------------------------------------------
class Links(HTMLParser):
    """Anchors of a page, its links, and what a browser loads with it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in ("canonical",):
            self.loaded.append(given["href"])
        else:
            self.loaded += [given[name] for name in ("src", "data", "poster") if name in given]
            self.loaded += [
                part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()
            ]


@functools.cache
def read(page: Path) -> Links:
    return Links(page.read_text(encoding="utf-8"))


@functools.cache
def found(base: Path, path: str) -> Path | None:
    """The file that a link leads to; None if it is not there."""
    # 404.html has addresses from the root of the site
    target = Path(os.path.normpath(base / path.lstrip("/")))
    target = target / "index.html" if target.is_dir() else target
    return target if target.is_file() else None


def broken(site: Path) -> Iterator[str]:
    """Links and loaded files of a site that are not there, and files of another host that a page
    loads; `#name=value` filters a report.
    """
    for page in sorted(site.rglob("*.html")):
        here = read(page)
        for link in here.links + here.loaded:
            parts = urlsplit(unescape(link))
            if parts.scheme in ("http", "https") or parts.netloc:
                if link in here.loaded:
                    yield f"{page.relative_to(site)} loads {link}"
                continue
            if parts.scheme in ("data", "mailto", "javascript"):
                continue
            target = (
                found(site if parts.path.startswith("/") else page.parent, unquote(parts.path))
                if parts.path
                else page
            )
            if not target:
                yield f"{page.relative_to(site)}: no {link}"
            elif (
                target.suffix == ".html"
                and "=" not in parts.fragment
                and unquote(parts.fragment) not in read(target).anchors | {"", "__top"}
            ):
                yield f"{page.relative_to(site)}: no anchor {link}"


@pytest.mark.slow
def test_every_link_and_anchor_leads_somewhere_and_nothing_is_loaded_from_elsewhere(
    site: Path,
) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 200 and sum(len(read(p).links) for p in pages) > 10_000
    assert not [*broken(site)]


def test_the_link_check_can_fail(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html"></a><a href="#x"></a><img src="https://example.org/i.png"><a href="https://example.org"></a>'
        '<p id="y"></p><a href="#y"></a>',
        encoding="utf-8",
    )
    assert [*broken(tmp_path)] == [
        "a.html: no b.html",
        "a.html: no anchor #x",
        "a.html loads https://example.org/i.png",
    ]


@pytest.mark.slow
def test_style_sheets_load_nothing_from_elsewhere(site: Path) -> None:
    for file in site.rglob("*.css"):
        assert not re.search(
            r"url\(['\"]?(?:https?:)?//|@import", file.read_text(encoding="utf-8")
        ), file


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize(
    "page",
    [
        "index.html",
        "reference/mechanisms/recency.html",
        "reference/code/engine/contract/hooks.html",
        "notebooks/1-first-memory.html",
    ],
)
def test_a_browser_loads_nothing_from_elsewhere_and_finds_no_fault(
    site: Path, page: str, tmp_path: Path
) -> None:
    """The page is served with a script that writes into it which addresses were loaded, which
    errors occurred and how wide the page is.
    """
    script = b"""<script>window.faults = [];
        for (const kind of ['error', 'unhandledrejection', 'securitypolicyviolation'])
            addEventListener(kind, (e) => faults.push(e.message || kind), true);
        addEventListener('load', () => setTimeout(() => document.documentElement.dataset.told = JSON.stringify({
            faults, loaded: performance.getEntriesByType('resource').map((r) => r.name),
            wide: document.documentElement.scrollWidth - innerWidth}), 1500));</script></head>"""

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.partition("?")[0] == f"/{page}":
                body = (site / page).read_bytes().replace(b"</head>", script, 1)
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(body)
            else:
                super().do_GET()

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_port}/"
        assert BROWSER
        done = subprocess.run([BROWSER, *SWITCHES, f"--user-data-dir={tmp_path}",
                               "--window-size=390,844", "--virtual-time-budget=8000", "--dump-dom",
                               address + page], capture_output=True, text=True, timeout=120)  # fmt: skip
    finally:
        server.shutdown()
    found = re.search(r'data-told="([^"]*)"', done.stdout)
    assert found, done.stderr[-2000:]
    told = json.loads(unescape(found[1]))
    assert not told["faults"] and told["wide"] <= 0
    assert told["loaded"] and all(
        name.startswith((address, "data:", "blob:")) for name in told["loaded"]
    ), told["loaded"]


# --- pages ----------------------------------------------------------------------------------------
@pytest.mark.slow
def test_every_mechanism_module_and_guide_has_a_page(site: Path) -> None:
    from hebbarium.engine.catalogue.registry import Registry

    reference = website("reference")
    for id in Registry.read().entries:
        assert "In the code" in (site / "reference" / "mechanisms" / f"{id}.html").read_text(
            encoding="utf-8"
        ), id
    for name in reference.modules():
        assert (site / reference.page_of(name)).with_suffix(".html").is_file(), name
    for page in (
        page
        for folder in (".", "guides", "results", "decisions")
        for page in (DOCS / folder).glob("*.md")
    ):
        name = page.relative_to(DOCS).with_suffix(".html")
        assert (
            site
            / ("documentation.html" if page.parent == DOCS and page.name == "index.md" else name)
        ).is_file(), name
    links = read(site / "documentation.html").links
    for name in re.findall(r"\]\(([\w/-]+)\.md\)", (DOCS / "index.md").read_text(encoding="utf-8")):
        assert f"{name}.html" in links, name


@pytest.mark.slow
def test_a_page_of_a_mechanism_shows_figures_formulas_and_arguments(site: Path) -> None:
    page = (site / "reference" / "mechanisms" / "base_level_activation.html").read_text(
        encoding="utf-8"
    )
    assert page.count('<figure class="evidence">') >= 2 and "var(--curve-0)" in page
    assert page.count("<math") >= 3 and "$$" not in page
    recency = (site / "reference" / "mechanisms" / "recency.html").read_text(encoding="utf-8")
    assert re.search(
        r'<table class="fields"><tbody>\s*<tr><td><code>now</code></td><td>\(\)</td><td>h</td><td>t</td>',
        recency,
    )


@pytest.mark.slow
def test_the_reports_are_inside(site: Path) -> None:
    for name, file in (("ablation", "design"), ("audit", "audit")):
        assert f"{name}/{file}.html" in (site / "reports" / f"{name}.html").read_text(
            encoding="utf-8"
        )
        assert (site / "reports" / name / f"{file}.json").is_file()
    assert 'href="reports/audit.html"' in (site / "index.html").read_text(encoding="utf-8")


def test_the_ablation_report_of_the_site_is_that_of_the_default_set() -> None:
    sys.path.insert(0, str(DOCS / "tools"))
    try:
        module = importlib.import_module("build_site")
    finally:
        sys.path.remove(str(DOCS / "tools"))
    words = {name: words for name, _, words in module.commands(fast=False)}
    assert words["ablation"][:5] == ["ablate", "--set", "default", "--dataset", "demo"] and words[
        "audit"
    ] == ["audit", "--jobs", "2"]


@pytest.mark.slow
def test_nothing_of_this_machine_stands_on_a_page(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for path in (str(ROOT), str(site.parent), str(Path.home()) + "/"):
            assert path not in text, f"{page.relative_to(site)}: {path}"


@pytest.mark.slow
def test_search_knows_the_mechanisms_and_the_functions(site: Path) -> None:
    found = {
        item["location"]
        for item in json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))[
            "docs"
        ]
    }
    assert {
        "reference/mechanisms/recency.html",
        "reference/code/engine/contract/hooks.html#hebbarium.engine.contract.hooks.hook",
        "notebooks/1-first-memory.html",
    } <= found


@pytest.mark.slow
@needs_browser
def test_search_works_in_a_page_that_is_opened_as_a_file(tmp_path: Path) -> None:
    """Words after `?q=` are what a reader types into the field."""
    (tmp_path / "docs" / "website").mkdir(parents=True)
    for file in (DOCS / "tools" / "website").glob("*.*s*"):
        shutil.copy(file, tmp_path / "docs" / "website")
    (tmp_path / "docs" / "index.md").write_text("# First\n\nNothing here.\n", encoding="utf-8")
    (tmp_path / "docs" / "b.md").write_text("# Kettle\n\nIt boils.\n", encoding="utf-8")
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, 'docs/tools'); from build_site import render\n"
        f"render(Path({str(tmp_path / 'docs')!r}), Path({str(tmp_path / 'site')!r}), "
        "[{'A': 'index.md'}, {'B': 'b.md'}])"
    )
    made = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    page = (tmp_path / "site" / "index.html").as_uri()
    assert BROWSER
    for words, link in (("boils", True), ("nowhere", False)):
        done = subprocess.run([BROWSER, *SWITCHES, f"--user-data-dir={tmp_path / 'browser'}",
                               "--virtual-time-budget=8000", "--dump-dom", f"{page}?q={words}"],
                              capture_output=True, text=True, timeout=120)  # fmt: skip
        found = re.findall(r'<a href="([^"]*)" class="md-search-result__link"', done.stdout)
        assert any(address.partition("?")[0].endswith("b.html") for address in found) is link, (
            words,
            found,
        )


@pytest.mark.slow
def test_a_warning_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# A\n\n[b](b.md)\n", encoding="utf-8")
    (tmp_path / "docs" / "website").mkdir()
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, 'docs/tools'); from build_site import render\n"
        f"render(Path({str(tmp_path / 'docs')!r}), Path({str(tmp_path / 'site')!r}), [{{'A': 'index.md'}}])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0 and "b.md" in done.stderr


@pytest.mark.parametrize("name", ["docstrings", "links", "notebooks", "reference"])
def test_the_examples_in_the_code_of_the_site_hold(name: str) -> None:
    done = doctest.testmod(website(name))
    assert done.failed == 0 and (done.attempted or name == "notebooks")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a_i * b_i <x> [0, 1]", "a&#95;i &#42; b&#95;i &#60;x&#62; &#91;0, 1&#93;"),
        ("Sum.  Cost: O(n).\nNext line.", "Sum.  Cost: O(n).\nNext line."),
        (
            "a  first\n   goes on\nbc  second",
            '<table class="fields"><tbody>\n<tr><td><code>a</code></td><td>first goes on</td></tr>\n'
            "<tr><td><code>bc</code></td><td>second</td></tr>\n</tbody></table>",
        ),
        ("x  (n,)  h  time\ny  one two", "```text\nx  (n,)  h  time\ny  one two\n```"),
        ("A:\n\n    import x\n\n    x()", "A:\n\n```python\nimport x\n\nx()\n```"),
        ("Text.\n>>> 1\n1", "Text.\n\n```pycon\n>>> 1\n1\n```"),
    ],
)
def test_docstrings_become_markdown(text: str, expected: str) -> None:
    assert website("docstrings").markdown(text) == expected


# --- notebooks ------------------------------------------------------------------------------------
def same(printed: str, stored: str) -> bool:
    """Equal but for the last digits of decimal numbers, which depend on the processor."""
    near = all(
        abs(float(a) - float(b)) < 2e-3
        for a, b in zip(NUMBER.findall(printed), NUMBER.findall(stored), strict=False)
    )
    return near and " ".join(NUMBER.sub("#", printed).split()) == " ".join(
        NUMBER.sub("#", stored).split()
    )


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=[p.stem for p in NOTEBOOKS])
def test_a_notebook_prints_what_is_stored(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    notebooks = website("notebooks")
    stored, made = notebooks.read(path), notebooks.run(path)
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "lab":
            del sys.modules[name]
    for old, new in zip(stored["cells"], made["cells"], strict=True):
        if old["cell_type"] == "code":
            assert same(notebooks.output_of(new), notebooks.output_of(old)), (
                f"{notebooks.text_of(old)}\nprints\n{notebooks.output_of(new)}\n"
                f"If that is right: python docs/tools/website/notebooks.py docs/notebooks/{path.name}"
            )


def test_there_are_six_small_notebooks_without_traces_of_a_machine() -> None:
    assert len(NOTEBOOKS) == 6
    for path in NOTEBOOKS:
        text = path.read_text(encoding="utf-8")
        assert (
            len(text) < 60_000
            and str(ROOT) not in text
            and str(Path.home()) + "/" not in text
            and "/tmp" not in text
        )


# --- files for a host -----------------------------------------------------------------------------
def test_workflows_run_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    flows = {
        path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
    }
    assert set(flows) == {
        "test", "docs", "wheel", "mutants", "properties", "dependencies", "frameworks"}  # fmt: skip
    for name, flow in flows.items():
        # YAML 1.1 reads the key `on` as true
        assert True in flow or "on" in flow, name
        commands = [
            step["run"] for job in flow["jobs"].values() for step in job["steps"] if "run" in step
        ]
        for target in re.findall(r"\bmake ([\w-]+)", "\n".join(commands)):
            assert target in targets, f"{name}: make {target}"
    assert "bash .ci/run" in json.dumps(flows["test"]) and "make docs" in json.dumps(flows["docs"])
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    least = PROJECT["requires-python"].removeprefix(">=")
    assert flows["test"]["jobs"]["test"]["strategy"]["matrix"]["python"][0] == least


def test_hooks_before_a_commit_are_those_of_make_test() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (hook,) = (hook for repo in config["repos"] for hook in repo["hooks"] if hook["id"] == "ruff")
    (pin,) = (item for item in PROJECT["optional-dependencies"]["dev"] if item.startswith("ruff"))
    assert hook["entry"].startswith("ruff check") and pin in hook["additional_dependencies"]


def test_templates_of_issues_are_complete_forms() -> None:
    forms = {
        path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")
    }
    assert set(forms) == {"bug", "number", "mechanism", "config"}
    for name, form in forms.items():
        if name != "config":
            assert {"name", "description", "body"} <= set(form)
            ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
            assert len(ids) == len(set(ids)) > 2 and any(
                part.get("validations", {}).get("required") for part in form["body"]
            )


def test_badges_say_what_the_project_says() -> None:
    for name, words in (
        ("licence", ["licence", PROJECT["license"].replace("-", " ")]),
        ("python", ["python", f"{PROJECT['requires-python'].removeprefix('>=')} or newer"]),
    ):
        text = (DOCS / "pictures" / f"badge-{name}.svg").read_text(encoding="utf-8")
        assert re.findall(r"<text[^>]*>([^<]+)</text>", text) == words
        assert f'aria-label="{words[0]}: {words[1]}"' in text
