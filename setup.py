"""What pyproject.toml cannot express: a checkout without symbolic links is refused, and the
README is adapted to the page of a package index.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
# in src/hebbarium, to the root of the repository
LINKED = ("audit", "benchmarks", "engine", "mechanisms", "registry.yaml")
# a relative Markdown link; "!" for a picture
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|mailto:)([^)\s]+)\)")


def require_links(package: Path) -> None:
    """Raises SystemExit, with the cure, if a link of the package is missing or is a text file that
    holds the link's target.

    A wheel of such a checkout would lack almost all code.  In a source distribution the links are
    real files.
    """
    for name in LINKED:
        path = package / name
        if not path.exists() or (
            path.is_file() and path.read_text(encoding="utf-8").strip() == f"../../{name}"
        ):
            raise SystemExit(
                f"src/hebbarium/{name} is not a symbolic link: the files were checked out or unpacked without symbolic links\n"
                "  What to do: allow symbolic links (on Windows: switch on Developer Mode), then\n"
                "    git config core.symlinks true\n"
                "    git checkout -- src/hebbarium\n"
                "  or install a wheel or a source distribution instead, which need no links"
            )


def index_page(readme: str, source: str | None) -> str:
    """The README for the page of a package index, where relative links lead nowhere.

    source  address of the repository: links become absolute; None: links become their text and
            pictures are left out
    """

    def changed(link: re.Match[str]) -> str:
        picture, text, target = link.groups()
        if source and not target.startswith("#"):
            return f"{picture}[{text}]({source}/{'raw' if picture else 'blob'}/HEAD/{target})"
        return "" if picture else text

    return LINK.sub(changed, readme)


if __name__ == "__main__":
    require_links(ROOT / "src" / "hebbarium")
    addresses = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get(
        "urls", {}
    )
    setup(
        long_description=index_page(
            (ROOT / "README.md").read_text(encoding="utf-8"), addresses.get("Source")
        ),
        long_description_content_type="text/markdown",
    )
