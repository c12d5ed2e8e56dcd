"""The reference of the package: a page for every module, and an index.  mkdocstrings fills the
pages in from the docstrings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from .docstrings import markdown

ROOT = Path(__file__).resolve().parents[3]
FOLDER = "reference/code"  # of the site
PACKAGE = ROOT / "src" / "hebbarium"
# folders of the repository that are links in the package
LINKED = ("engine", "mechanisms", "audit", "benchmarks")
LEFT_OUT = ("audit.evidence", "benchmarks.speed", "cli", "__main__")
FIRST = ("api", "author", "testing")  # shown before the other modules
Nav = list[str | dict[str, "str | Nav"]]


@cache
def modules() -> dict[str, Path]:
    """Modules with a page in the reference, named without `hebbarium.`; mechanisms have pages of
    their own.
    """
    own = {
        file: file.relative_to(PACKAGE)
        for file in PACKAGE.rglob("*.py")
        if file.relative_to(PACKAGE).parts[0] not in LINKED
    }
    linked = {
        file: file.relative_to(ROOT) for folder in LINKED for file in (ROOT / folder).rglob("*.py")
    }
    named = {
        ".".join(path.with_suffix("").parts).removesuffix("__init__").removesuffix("."): file
        for file, path in {**own, **linked}.items()
    }
    return dict(
        sorted((name, file) for name, file in named.items() if name and not _left_out(name))
    )


def _left_out(name: str) -> bool:
    mechanism = name.startswith("mechanisms.") and not name.startswith("mechanisms.shared")
    return mechanism or any(f"{name}.".startswith(f"{other}.") for other in LEFT_OUT)


def page_of(name: str) -> str:
    """The path of a module's page on the site.

    >>> page_of("engine.memory.engine"), page_of("engine")
    ('reference/code/engine/memory/engine.md', 'reference/code/engine/index.md')
    """
    path = name.replace(".", "/")
    return (
        f"{FOLDER}/{path}/index.md"
        if modules()[name].name == "__init__.py"
        else f"{FOLDER}/{path}.md"
    )


def write(folder: Path) -> Nav:
    """Write the pages below a folder; returns their navigation."""
    for name in modules():
        target = folder / page_of(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_page(name), encoding="utf-8")
    (folder / FOLDER / "index.md").write_text(_index(), encoding="utf-8")
    first = [name for name in FIRST if name in modules()]
    return [
        f"{FOLDER}/index.md",
        *(item for name in first for item in _nav(name)),
        *(
            item
            for name in modules()
            if "." not in name and name not in first
            for item in _nav(name)
        ),
    ]


def _nav(name: str) -> Nav:
    short = name.rpartition(".")[2]
    if modules()[name].name != "__init__.py":
        return [{short: page_of(name)}]
    below = _below(name)
    return (
        [{short: [page_of(name), *(item for inner in below for item in _nav(inner))]}]
        if below
        else [{short: page_of(name)}]
    )


def _below(name: str) -> list[str]:
    return [other for other in modules() if other.rpartition(".")[0] == name]


def _page(name: str) -> str:
    """The title is the module's name; a package lists its modules after its own docstring."""
    parts = [
        f"# hebbarium.{name}",
        f"::: hebbarium.{name}\n    options:\n      show_submodules: false",
    ]
    if below := _below(name):
        here = Path(page_of(name)).parent
        links = (
            f"[{other}]({Path(page_of(other)).relative_to(here).as_posix()})" for other in below
        )
        parts += [
            "## Modules",
            _table(zip(links, (summary(modules()[other]) for other in below), strict=True)),
        ]
    return "\n\n".join(parts) + "\n"


def _index() -> str:
    """The names of `import hebbarium`, then the modules."""
    homes = ast.literal_eval(_assigned(PACKAGE / "__init__.py", "_HOMES"))
    top = [name for name in modules() if "." not in name]
    return "\n\n".join((
        "# Code",
        "The names of `import hebbarium as hb`:",
        _table((f"[`hb.{name}`][hebbarium.{home}.{name}]", _first(_docstring(modules()[home],
        name))) for name, home in sorted(homes.items())),
        "## Modules",
        _table((f"[hebbarium.{name}]({Path(page_of(name)).relative_to(FOLDER).as_posix()})",
                summary(modules()[name])) for name in top),
        "Each mechanism's module is on [the page of the mechanism](../mechanisms/index.md). Types are in the signature; shapes, units and errors\n"
        "are in the text below it. A table gives name, shape (`()` for a number), unit and meaning of each argument.",
    )) + "\n"  # fmt: skip


def summary(file: Path) -> str:
    """The first sentence of a module, as Markdown."""
    return _first(ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "")


def _first(text: str) -> str:
    return markdown(text.partition("\n\n")[0].partition(".  ")[0]).replace("\n", " ")


def _docstring(file: Path, name: str) -> str:
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return ast.get_docstring(node) or ""
    raise LookupError(f"{file} defines no {name}")


def _assigned(file: Path, name: str) -> ast.expr:
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == name
        ):
            return node.value
    raise LookupError(f"{file} assigns no {name}")


def _table(rows: Iterator[tuple[str, str]]) -> str:
    return "\n".join(
        ("| name | meaning |", "| --- | --- |", *(f"| {name} | {text} |" for name, text in rows))
    )
