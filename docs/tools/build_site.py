"""Build the site: `python docs/tools/build_site.py [--fast] [FOLDER]`, or `make docs`; the folder
is build by default.

FOLDER/docs gets the Markdown, FOLDER/site the site:

    the README as the first page, the pages of docs/, CONTRIBUTING, SECURITY and CHANGELOG
    the notebooks of docs/notebooks, with their stored outputs
    a page for every mechanism (docs/tools/build.py), with the figures of its evidence and the
    reference of its module the reference of the package, from docstrings the reports of an ablation
    and of an audit, which are run for this

Every warning of MkDocs is an error.  --fast, for tests, draws and audits a few mechanisms only,
leaves out the source of all, and ablates a small set on two conversations.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Final

from build import Form, build
from joblib import Parallel, delayed
from website.links import DOCS, PAGES, ROOT, for_mkdocs, formula, relinked
from website.notebooks import notebooks
from website.notebooks import page_of as page_of_notebook
from website.reference import Nav
from website.reference import write as write_reference

from hebbarium.audit.checks import evidence_of
from hebbarium.audit.collect import evidence_module
from hebbarium.audit.drawing import to_svg
from hebbarium.audit.specimen import Specimen
from hebbarium.console import Meter
from hebbarium.engine.catalogue.registry import HOMES, Registry

# drawn and audited with --fast
FAST = ("base_level_activation", "recency", "weighted_rrf")
ASSETS = ("site.css", "leaf.svg", "iframe-worker.js")
# pages of the repository that stand after the guides
AROUND = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
# before a page that is alone in its section
ALONE = "---\nhide: [navigation]\n---\n\n"


def build_site(folder: Path, fast: bool = False) -> Path:
    """Build everything below a folder; returns that of the site.  Raises SystemExit for a
    warning of MkDocs.
    """
    pages = folder / "docs"
    shutil.rmtree(pages, ignore_errors=True)
    registry = Registry.read()
    svgs = drawn(registry, FAST if fast else tuple(registry.entries))
    build(
        pages,
        registry,
        Form(
            formula,
            lambda entry, figures: "\n\n".join(
                _figure(f.name, f.caption, f.source, svgs.get((entry.id, f.name))) for f in figures
            ),
        ),
    )
    for entry in registry.entries.values():
        with (pages / "reference" / "mechanisms" / f"{entry.id}.md").open(
            "a", encoding="utf-8"
        ) as page:
            page.write(
                f"\n## In the code\n\n::: {entry.module}\n    options:\n      heading_level: 3\n      show_source: {str(not fast).lower()}\n"
            )
    (pages / "index.md").rename(pages / PAGES["docs/index.md"])
    for file, name in PAGES.items():
        if not file.startswith("docs/"):
            text = relinked((ROOT / file).read_text(encoding="utf-8"), ROOT / file, name, pages)
            (pages / name).write_text(
                home(text) if name == PAGES["README.md"] else text, encoding="utf-8"
            )
    for page in pages.rglob("*.md"):
        name = page.relative_to(pages).as_posix()
        text = page.read_text(encoding="utf-8")
        if name not in PAGES.values() or name == PAGES["docs/index.md"]:
            text = relinked(text, page, name, pages)
        page.write_text(for_mkdocs(text), encoding="utf-8")
    write_notebooks(pages)
    nav: Nav = [
        {"Home": "index.md"},
        {"Doors": room("doors")},
        {"Guides": [PAGES["docs/index.md"], "architecture.md", *room("guides"), *examples(pages),
                    *(PAGES[name] for name in AROUND)]},
        {"Notebooks": ["notebooks/index.md",
                       *(f"notebooks/{path.stem}.md" for path in notebooks())]},
        {"Reference": [*room("reference"), {"Mechanisms": mechanisms(registry)},
                       {"Probes": with_index(pages, "reference/probes")},
                       {"Code": write_reference(pages)}]},
        {"Results": room("results")},
        {"Reports": write_reports(pages, fast)},
        {"Decisions": with_index(pages, "decisions")},
    ]  # fmt: skip
    for name in ASSETS:
        (pages / "website").mkdir(exist_ok=True)
        shutil.copyfile(DOCS / "tools" / "website" / name, pages / "website" / name)
    print(f"MkDocs: {len(list(pages.rglob('*.md')))} pages", flush=True)
    render(pages, folder / "site", nav)
    return folder / "site"


def home(text: str) -> str:
    """The first page: that of the README, with a link to the audit's report, which only the site
    has.
    """
    return ALONE + text.replace("`reports/audit.html`", "[`reports/audit.html`](reports/audit.md)")


def render(pages: Path, site: Path, nav: Nav) -> None:
    """MkDocs, with warnings as errors."""
    from mkdocs.commands.build import build as build_mkdocs
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    log = logging.getLogger("mkdocs")
    log.addHandler(logging.StreamHandler())
    log.setLevel(logging.WARNING)
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")
    config = load_config(
        str(ROOT / "mkdocs.yml"), docs_dir=str(pages), site_dir=str(site), nav=nav, strict=True
    )
    config.plugins.on_startup(command="build", dirty=False)
    try:
        build_mkdocs(config)
    except Abort as error:
        raise SystemExit(f"{error}: cure the warnings above") from None
    finally:
        config.plugins.on_shutdown()


# --- navigation -----------------------------------------------------------------------------------
def room(name: str) -> Nav:
    """The pages of a folder of docs/, in the order of docs/index.md."""
    return list(
        dict.fromkeys(
            re.findall(
                rf"\]\(({name}/[\w-]+\.md)\)", (DOCS / "index.md").read_text(encoding="utf-8")
            )
        )
    )


def with_index(pages: Path, folder: str) -> Nav:
    """The index of a folder, and its other pages by name."""
    return [
        f"{folder}/index.md",
        *sorted(
            p.relative_to(pages).as_posix()
            for p in (pages / folder).glob("*.md")
            if p.name != "index.md"
        ),
    ]


def examples(pages: Path) -> Nav:
    return [
        {
            "Examples": sorted(
                p.relative_to(pages).as_posix() for p in (pages / "examples").rglob("*.md")
            )
        }
    ]


def mechanisms(registry: Registry) -> Nav:
    """By home, in the order of the registry."""
    folder = "reference/mechanisms"
    return [
        f"{folder}/index.md",
        *(
            {
                home.capitalize(): [
                    f"{folder}/{e.id}.md" for e in registry.entries.values() if e.home == home
                ]
            }
            for home in HOMES
        ),
    ]


def write_notebooks(pages: Path) -> None:
    """Each notebook as a page and as a file, and their index."""
    (pages / "notebooks").mkdir(exist_ok=True)
    rows = []
    for path in notebooks():
        shutil.copy(path, pages / "notebooks")
        text = for_mkdocs(
            relinked(page_of_notebook(path), path, f"notebooks/{path.stem}.md", pages)
        )
        saved = f'\n[Download this notebook]({path.name}){{ download="{path.name}" }}\n'
        (pages / "notebooks" / f"{path.stem}.md").write_text(text + saved, encoding="utf-8")
        title, first = re.findall(r"\A# (.+)\n+(.+(?:\n.+)*)", text)[0]
        rows.append(f"| [{title}]({path.stem}.md) | {first.replace(chr(10), ' ')} |")
    (pages / "notebooks" / "index.md").write_text(
        "\n".join(
            (
                "# Notebooks\n",
                "Each notebook starts with an empty memory and downloads nothing. The tests run it and compare its outputs.\n",
                "| notebook | shows |",
                "| --- | --- |",
                *rows,
            )
        )
        + "\n",
        encoding="utf-8",
    )


# --- figures --------------------------------------------------------------------------------------
def drawn(registry: Registry, ids: Sequence[str]) -> dict[tuple[str, str], str]:
    """The figures of these mechanisms as SVG elements, by (mechanism, figure)."""
    work = Parallel(n_jobs=1 if len(ids) <= len(FAST) else 2, return_as="generator")
    figures: dict[tuple[str, str], str] = {}
    with Meter("figures of mechanisms") as meter:
        for done, (id, made) in enumerate(
            zip(ids, work(delayed(_figures)(id, registry) for id in ids), strict=True), 1
        ):
            figures |= {(id, name): svg for name, svg in made}
            meter(done, len(ids), id)
    return figures


def _figures(id: str, registry: Registry) -> list[tuple[str, str]]:
    entry = registry.entry(id)
    evidence = evidence_module(entry, registry)
    specimen = Specimen(id, import_module(entry.module))
    return (
        [
            (f.name, to_svg(f(specimen), f.name))
            for f in evidence_of(import_module(evidence)).figures
        ]
        if evidence
        else []
    )


def _figure(name: str, caption: str, source: str, svg: str | None) -> str:
    """A figure that follows the colours of the page; without its picture the name and the
    caption.
    """
    if svg is None:
        return f"`{name}`: {caption} ({source})."
    return (
        f'<figure class="evidence"><div role="img" aria-label="{escape(caption)}" data-search-exclude>{svg}</div>'
        f"<figcaption>{escape(caption)} <small>{escape(source)}</small></figcaption></figure>"
    )


# --- reports --------------------------------------------------------------------------------------
FILE_OF: Final = {"ablation": "design", "audit": "audit"}


def commands(fast: bool) -> Iterator[tuple[str, str, list[str]]]:
    """(name, what it is, arguments of `hebbarium`) of each report; `FILE_OF` names its files."""
    if fast:
        yield "ablation", "An ablation", ["ablate", "--set", "hybrid", "--dataset", "demo",
                                          "--limit", "2", "--embedder", "hashing"]  # fmt: skip
        yield "audit", "The audit", ["audit", *FAST, "--no-mutants"]
    else:
        yield (
            "ablation",
            "An ablation",
            ["ablate", "--set", "default", "--dataset", "demo", "--jobs", "2"],
        )
        yield "audit", "The audit", ["audit", "--jobs", "2"]


def write_reports(pages: Path, fast: bool) -> Nav:
    """Run the commands; each report as a page, and the files that the command wrote."""
    folder, runs = pages / "reports", pages.parent / "reports"
    shutil.rmtree(runs, ignore_errors=True)
    runs.mkdir(parents=True)
    nav: Nav = ["reports/index.md"]
    rows = []
    for name, title, words in commands(fast):
        command, file = f"hebbarium {' '.join(words)} --out {name}", FILE_OF[name]
        print(command, flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "hebbarium", *words, "--out", name],
            cwd=runs,
            stdout=subprocess.PIPE,
            text=True,
        )
        # progress and errors are on stderr, which is shown as it comes
        if done.returncode:
            raise SystemExit(f"{command} failed:\n{done.stdout}")
        shutil.copytree(
            runs / name, folder / name, ignore=shutil.ignore_patterns("*.md", "*.sqlite*")
        )
        head, _, rest = (runs / name / f"{file}.md").read_text(encoding="utf-8").partition("\n")
        (folder / f"{name}.md").write_text(
            "\n\n".join(
                (
                    head,
                    f"[Open the whole report]({name}/{file}.html){{ .md-button .md-button--primary }} [JSON]({name}/{file}.json){{ .md-button }}",
                    f"Made by `{command}`.",
                    for_mkdocs(rest.strip()),
                )
            )
            + "\n",
            encoding="utf-8",
        )
        rows.append(f"| [{title}]({name}.md) | `{command}` | [open]({name}/{file}.html) |")
        nav.append(f"reports/{name}.md")
    (folder / "index.md").write_text(
        "\n".join(
            (
                "# Reports\n",
                "Both were made when this site was built. The demo data is small and invented: it shows what a report says, not which mechanism is good.\n",
                "| report | command | whole report |",
                "| --- | --- | --- |",
                *rows,
            )
        )
        + "\n",
        encoding="utf-8",
    )
    return nav


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the site of the documentation.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build")
    parser.add_argument("--fast", action="store_true", help="a few figures and small reports")
    given = parser.parse_args()
    made = build_site(given.folder.resolve(), given.fast)
    print(f"open {made / 'index.html'}")
