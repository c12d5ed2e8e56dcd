"""Mechanisms of other packages: an installed distribution names its package under the entry-point group `hebbarium.mechanisms`.

    [project.entry-points."hebbarium.mechanisms"]
    mine = "my_package"

The package holds `registry.yaml`, the modules that it names, `evidence/<mechanism>.py`, and, if it needs them, `references.bib` and
`sets/*.yaml`, as Hebbarium does.
"""
from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from .errors import RegistryError

GROUP = "hebbarium.mechanisms"
SOURCES = (".py", ".txt")       # files on which results depend
ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Package:
    """name: of the module; distribution: its name and version; folder: where its files are."""

    name: str
    distribution: str
    folder: Path

    @property
    def registry(self) -> Path:
        return self.folder / "registry.yaml"

    @property
    def references(self) -> Path | None:
        """Its BibTeX file, if it has one."""
        file = self.folder / "references.bib"
        return file if file.is_file() else None

    def digest(self) -> str:
        """SHA-256 over its source files, on which results depend."""
        return source_digest(self.folder, self.folder)


def source_digest(root: Path, *folders: Path) -> str:
    """SHA-256 over paths, relative to the root, and contents of the Python files and the word lists (*.txt) in some folders below it."""
    h = hashlib.sha256()
    for folder in folders:
        for file in sorted(each for each in folder.rglob("*") if each.suffix in SOURCES):
            h.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return h.hexdigest()


def answering_digest(root: Path = ROOT) -> str:
    """SHA-256 over the source files of this package that decide an answer: those of the engine and of the mechanisms."""
    return source_digest(root, root / "engine", root / "mechanisms")


def installed() -> tuple[Package, ...]:
    """The packages that register mechanisms, by name; none of them is imported.  Raises RegistryError for one without its files."""
    return tuple(sorted(_packages(), key=lambda p: p.name))


def _packages() -> Iterator[Package]:
    for point in entry_points(group=GROUP):
        who = f"{point.dist.name} {point.dist.version}" if point.dist else point.name
        folder = _folder(point)
        if folder is None or not (folder / "registry.yaml").is_file():
            raise RegistryError(f"registers {point.value!r}, which is no package that holds a registry.yaml", where=who,
                                cure=f"put registry.yaml into the package and its package data, or uninstall {who.partition(' ')[0]}")
        yield Package(point.value, who, folder)


def _folder(point: EntryPoint) -> Path | None:
    try:
        spec = find_spec(point.value)
    except (ImportError, ValueError):
        return None
    return Path(next(iter(spec.submodule_search_locations))) if spec and spec.submodule_search_locations else None
