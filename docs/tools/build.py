"""Write the Markdown of the documentation: `python docs/tools/build.py [FOLDER]`; the folder is
build/docs by default.

`make docs` makes a site of it.
The folder gets a copy of every page and picture of docs/, a complete page for every mechanism, and
an index of the mechanisms. A mechanism's page is

    the essay docs/reference/mechanisms/<id>.md, or the docstring of the mechanism's module if there
    is no essay
    Figures           of its evidence: name, caption, source
    In the registry   claim, home, what it acts on, papers, equations, parameters, departures
    In the audit      checks and mutants of its evidence
    Beside people     what it does to the distance from people, where that was measured
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from hebbarium.audit.checks import Evidence, evidence_of
from hebbarium.audit.collect import evidence_module
from hebbarium.audit.figures import Figure
from hebbarium.audit.references import References, of_registry
from hebbarium.benchmarks.people.trial import CARD_HEADS, beside_people, card_lines
from hebbarium.engine.catalogue.registry import HOMES, Entry, Parameter, Registry

TOOLS = Path(__file__).resolve().parent
DOCS = TOOLS.parent
ESSAYS = DOCS / "reference" / "mechanisms"
# a fenced block, or the path of a relative link
LINK = re.compile(r"(^```.*?^```$)|(?<=\]\()([^)\s#:]+)(?=[)#])", re.M | re.S)


def _listed(entry: Entry, figures: Sequence[Figure]) -> str:
    return _list(f"`{f.name}`: {f.caption.rstrip('.')} ({f.source})." for f in figures)


@dataclass(frozen=True)
class Form:
    """How a page shows what plain Markdown cannot.

    formula  TeX as Markdown; here the TeX itself
    figures  the figures of a mechanism as Markdown; here their names and captions
    """

    formula: Callable[[str], str] = lambda tex: f"`{tex}`"
    figures: Callable[[Entry, Sequence[Figure]], str] = _listed


PLAIN = Form()
# kinds of departures that lower a rating
LOWERS = ("form", "proxy")


def build(folder: Path, registry: Registry | None = None, form: Form = PLAIN) -> list[Path]:
    """Write all pages into a folder; returns the pages of the mechanisms, in registry order.

    registry  of the mechanisms to show; that of this repository if none is given
    form      of formulas and figures
    """
    registry = registry or Registry.read()
    references = of_registry(registry)
    files = (f for f in DOCS.rglob("*") if f.is_file() and f.suffix in (".md", ".svg", ".ipynb"))
    for file in (f for f in files if f.parent != ESSAYS and not f.is_relative_to(TOOLS)):
        target = folder / file.relative_to(DOCS)
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            target.write_text(
                relinked(file.read_text(encoding="utf-8"), file, target), encoding="utf-8"
            )
        else:
            shutil.copyfile(file, target)
    (made := folder / ESSAYS.relative_to(DOCS)).mkdir(parents=True, exist_ok=True)
    (made / "index.md").write_text(index(registry), encoding="utf-8")
    pages = []
    for entry in registry.entries.values():
        name = evidence_module(entry, registry)
        target = made / f"{entry.id}.md"
        text = page(entry, references, evidence_of(import_module(name)) if name else None, form)
        target.write_text(relinked(text, ESSAYS / target.name, target), encoding="utf-8")
        pages.append(target)
    return pages


def relinked(text: str, source: Path, target: Path) -> str:
    """The text of a page of docs/ that is written to `target`: links that leave docs/ are made
    relative to the new place.
    """

    def moved(match: re.Match[str]) -> str:
        if match[2] is None:
            return match[0]
        leads_to = (source.parent / match[2]).resolve()
        return (
            match[2]
            if leads_to.is_relative_to(DOCS)
            else Path(os.path.relpath(leads_to, target.parent.resolve())).as_posix()
        )

    return LINK.sub(moved, text)


# --- a mechanism's page ---------------------------------------------------------------------------
def page(
    entry: Entry, references: References, evidence: Evidence | None, form: Form = PLAIN
) -> str:
    """The complete page of a mechanism as Markdown.  Raises RegistryError for a paper that the
    references lack.
    """
    essay = ESSAYS / f"{entry.id}.md"
    head = (
        essay.read_text(encoding="utf-8").strip()
        if essay.is_file()
        else f"# {entry.id}\n\n{_docstring(entry)}"
    )
    figures = (
        ("## Figures", form.figures(entry, evidence.figures))
        if evidence and evidence.figures
        else ()
    )
    parts = (
        head,
        *figures,
        *_registry_part(entry, references, form),
        *(_audit_part(evidence) if evidence else ()),
        *_people_part(entry),
    )
    return "\n\n".join(parts) + "\n"


def _docstring(entry: Entry) -> str:
    """Of the mechanism's module, which is not imported; the summary if it has none."""
    spec = find_spec(entry.module)
    text = Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
    return ast.get_docstring(ast.parse(text)) or entry.summary


def _registry_part(entry: Entry, references: References, form: Form) -> Iterator[str]:
    yield "## In the registry"
    variety = (
        f", by {entry.claimed_by}; a printed form of [{entry.variety_of}]({entry.variety_of}.md)"
        if entry.variety_of
        else ""
    )
    yield f"Claims {entry.claims}{variety}. Home: {entry.home}. Acts on: {entry.acts_on}."
    if entry.papers:
        yield _list(_cited(key, references) for key in entry.papers)
    if entry.equations:
        yield _table(
            ("equation", "source", "formula"),
            [
                (
                    f"`{e.id}`",
                    f"{f'{references.get(e.paper).short}, ' if e.paper else ''}{e.where}",
                    form.formula(e.tex),
                )
                for e in entry.equations
            ],
        )
    scale = (
        "time_scale",
        f"{entry.time_scale:g}",
        "1",
        "above 0",
        "-",
        "multiplies every time constant; 1 gives the paper's own time",
    )
    yield _table(("parameter", "value", "unit", "bounds", "kind", "source"), [
        scale, *((name, str(p.value), p.unit, _bounds(p), p.kind, _source(p, references)) for name,
                 p in entry.params.items())])  # fmt: skip
    if entry.departures or entry.proxies or entry.forms:
        yield "Departures from the paper:"
        yield _list(
            [
                *(
                    f"{d.what}: {d.why}{' (lowers the rating)' * (d.kind in LOWERS)}."
                    for d in entry.departures
                ),
                *(f"{p.state}: replaced by {p.proxy} (lowers the rating)." for p in entry.proxies),
                *(f"in place of {f.paper}: {f.ours} (lowers the rating)." for f in entry.forms),
            ]
        )
    if entry.departs_from_source:
        yield f"Departure from the source system: {entry.departs_from_source.rstrip('.')}."


def _audit_part(evidence: Evidence) -> Iterator[str]:
    yield "## In the audit"
    yield _table(
        ("check", "what it shows", "kind", "source"),
        [(c.id, c.title, str(c.kind), c.source) for c in evidence.checks],
    )
    yield f"Wrong versions that these checks must reject: {'; '.join(m.name for m in evidence.mutants)}."


def _people_part(entry: Entry) -> Iterator[str]:
    if rows := card_lines(beside_people(entry.id)):
        yield "## Beside people"
        yield (
            "What `hebbarium human --on-trial` measured: the change of the log distance from people by the "
            "mechanism, below 0 if it\nbrings the set nearer; [what that means](../people.md#what-single-mechanisms-do)."
        )
        yield _table(CARD_HEADS, rows)


def _cited(key: str, references: References) -> str:
    reference = references.get(key)
    title = reference.fields["title"].replace("{", "").replace("}", "")
    return f"{reference.short}: *{title}*{f', doi:{reference.doi}' if reference.doi else ''}"


def _bounds(p: Parameter) -> str:
    if isinstance(p.value, str) and not p.choices:
        return "a file or folder"
    return (
        ", ".join(p.choices)
        or f"{'' if p.low is None else f'{p.low:g}'} to {'' if p.high is None else f'{p.high:g}'}"
    )


def _source(p: Parameter, references: References) -> str:
    named = references.get(p.source).short if p.source in references else p.source
    return f"{named}; {p.note}" if p.note else named


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *cells))


# --- the index ------------------------------------------------------------------------------------
def index(registry: Registry) -> str:
    """One row per mechanism, home by home in registry order, each printed form after the
    mechanism it is a form of.
    """
    every = list(registry.entries.values())
    firsts = [e for home in HOMES for e in every if e.home == home and e.variety_of is None]
    ordered = [
        e for first in firsts for e in (first, *(v for v in every if v.variety_of == first.id))
    ]
    return (
        "\n\n".join(
            (
                "# Mechanisms",
                "A claim is what the registry entry claims; for a printed form (↳), what the source system in brackets claims. The rating that a mechanism\n"
                "earns is derived by [the audit](../../guides/audit.md).",
                _table(
                    ("mechanism", "home", "claim", "what it does"),
                    [
                        (
                            f"{'↳ ' if e.variety_of else ''}[{e.id}]({e.id}.md)",
                            e.home,
                            f"{e.claims} ({e.claimed_by})" if e.claimed_by else e.claims,
                            f"{e.summary[:1].upper()}{e.summary[1:].rstrip('.')}.",
                        )
                        for e in ordered
                    ],
                ),
            )
        )
        + "\n"
    )


if __name__ == "__main__":
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS.parent / "build" / "docs"
    print(f"{len(build(out))} mechanisms: {out / ESSAYS.relative_to(DOCS) / 'index.md'}")
