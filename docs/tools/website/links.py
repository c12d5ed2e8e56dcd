"""Links of the repository as links of the site, and Markdown as MkDocs reads it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from hebbarium.audit.page import mathml

from .reference import ROOT, modules, page_of

DOCS = ROOT / "docs"
PAGES = {
    "README.md": "index.md",
    "docs/index.md": "documentation.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
MECHANISMS = "reference/mechanisms"
FOLDERS = {
    f"docs/{MECHANISMS}": f"{MECHANISMS}/index.md",
    "docs/notebooks": "notebooks/index.md",
    "mechanisms": f"{MECHANISMS}/index.md",
}
# files of docs/ that are copied under their own name
SHOWN = (".md", ".svg", ".png", ".ipynb")
FENCE = r"(?P<fence>^ *```.*?^ *```$)|(?P<code>(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`))"
LINK = re.compile(
    FENCE
    + r"""|(?P<before>\]\(|\b(?:src|srcset|href)=")(?P<path>(?![a-z]+:|//)[^)\s#"]+)(?P<after>#[^)\s"]*)?(?=[)"])""",
    re.M | re.S,
)
WORDS = re.compile(r"\[([^\[\]]*)\]\(\)")  # a link without a target
FORMULA = re.compile(
    FENCE + r"|\$\$(?P<block>.+?)\$\$|(?<![\\$\w])\$(?P<inline>[^\s$](?:[^$\n]*[^\s$])?)\$(?!\w)",
    re.M | re.S,
)
TITLED = re.compile(r"^(```\w+) +(\S+)$", re.M)
LIST = re.compile(r"^( *)([-*]|\d+\.) ")
SPECIAL = re.compile(r"[*_|`\[\]\\]")


def page_on_site(file: Path) -> str | None:
    """The page or copied file of the site, relative to its root, that shows a file or folder of the
    repository; None for another folder.

    file  absolute, without symbolic links
    """
    path = file.relative_to(ROOT).as_posix()
    if path in PAGES:
        return PAGES[path]
    if file.is_dir() or path in FOLDERS:
        inside = next((name for name in ("index.md", "README.md") if (file / name).is_file()), None)
        return FOLDERS.get(path) or (page_on_site(file / inside) if inside else None)
    # a page that `make docs` makes does not exist there
    if file.is_relative_to(DOCS) and (file.suffix in SHOWN or not file.exists()):
        return (
            file.relative_to(DOCS)
            .with_suffix(".md" if file.suffix == ".ipynb" else file.suffix)
            .as_posix()
        )
    if name := next((name for name, other in modules().items() if other.resolve() == file), None):
        return page_of(name)
    home, _, _ = path.partition("/")
    if file.suffix == ".py" and (home == "mechanisms" or path.startswith("audit/evidence/")):
        return f"{MECHANISMS}/{file.stem}.md"
    return f"files/{path}.txt"


def relinked(text: str, source: Path, page: str, pages: Path) -> str:
    """The text of a page with links to places on the site; a link to a folder that no page shows
    becomes its text.

    source  the file that the links are relative to; a file below `pages` stands for that of docs/
    page    path of the page on the site
    pages   folder of the site's Markdown, to which other files that are linked are copied

    Raises FileNotFoundError for a link to a file that does not exist.
    """

    def moved(match: re.Match[str]) -> str:
        if match["path"] is None:
            return match[0]
        target = (source.parent / match["path"]).resolve()
        if target.is_relative_to(pages):
            target = DOCS / target.relative_to(pages)
        place = page_on_site(target)
        if place is None:
            return match["before"]
        if place.startswith("files/"):
            if not target.is_file():
                raise FileNotFoundError(f"{source}: {match['path']}")
            (pages / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(target, pages / place)
        return f"{match['before']}{Path(os.path.relpath(place, Path(page).parent)).as_posix()}{match['after'] or ''}"

    return WORDS.sub(r"\1", LINK.sub(moved, text))


def for_mkdocs(text: str) -> str:
    """GitHub's Markdown as that of MkDocs: formulas as MathML, titles of code blocks, a blank line
    before each list.

    >>> print(for_mkdocs("Three:\\n- a\\n- b"))
    Three:
    <BLANKLINE>
    - a
    - b
    >>> for_mkdocs("`$x$` costs $5 or $6.")
    '`$x$` costs $5 or $6.'
    """
    text = FORMULA.sub(_formula, text)
    lines: list[str] = []
    fenced = False
    for line in text.split("\n"):
        above = lines[-1] if lines else ""
        if (
            LIST.match(line)
            and not fenced
            and above.strip()
            and not LIST.match(above)
            and not above.startswith(" ")
        ):
            lines.append("")
        fenced ^= line.lstrip().startswith("```")
        lines.append(line)
    return TITLED.sub(r'\1 title="\2"', "\n".join(lines))


def _formula(match: re.Match[str]) -> str:
    if match["block"]:
        return f'<div class="formula">{formula(match["block"].strip())}</div>'
    return formula(match["inline"], inline=True) if match["inline"] else match[0]


def formula(tex: str, inline: bool = False) -> str:
    """TeX as MathML in which Markdown finds no markup."""
    made = str(mathml(tex)).replace("\n", " ")
    return SPECIAL.sub(
        lambda m: f"&#{ord(m[0])};",
        made.replace('display="block"', 'display="inline"') if inline else made,
    )
