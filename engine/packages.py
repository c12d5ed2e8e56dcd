"""Mechanisms of other packages: an installed distribution names its package under the entry-point group `hebbarium.mechanisms`.

    [project.entry-points."hebbarium.mechanisms"]
    mine = "my_package"

The package holds `registry.yaml`, the modules that it names, `evidence/<mechanism>.py`, and, if it needs them, `references.bib` and
`sets/*.yaml`, as Hebbarium does.
"""
from __future__ import annotations

import hashlib
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


@dataclass(frozen=True)
class Missing:
    """An installed package, or a mechanism of one, that cannot be used.

    distribution  its name and version
    what          what of it is missing: the mechanism, or "all mechanisms and sets"
    error         why, with the cure
    """

    distribution: str
    what: str
    error: str


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
    found, broken = usable()
    for error in broken:
        raise error
    return found


def usable() -> tuple[tuple[Package, ...], tuple[RegistryError, ...]]:
    """The packages that register mechanisms, by name, and an error for each without its files, which names it."""
    found: list[Package] = []
    broken: list[RegistryError] = []
    for point in entry_points(group=GROUP):
        who = f"{point.dist.name} {point.dist.version}" if point.dist else point.name
        try:
            found.append(_package(point, who))
        except RegistryError as error:
            broken.append(error)
    return tuple(sorted(found, key=lambda p: p.name)), tuple(broken)


def _package(point: EntryPoint, who: str) -> Package:
    folder = _folder(point, who)
    if folder is None or not (folder / "registry.yaml").is_file():
        raise RegistryError(f"registers {point.value!r}, which is no package that holds a registry.yaml", where=who,
                            cure=f"put registry.yaml into the package and its package data, or {uninstall(who)}")
    return Package(point.value, who, folder)


def uninstall(distribution: str) -> str:
    """The last resort of a cure.

    >>> uninstall("broken-thing 1.5")
    'uninstall broken-thing'
    """
    return f"uninstall {distribution.partition(' ')[0]}"


def _folder(point: EntryPoint, who: str) -> Path | None:
    try:
        spec = find_spec(point.value)
    except (ImportError, ValueError):
        return None
    except (Exception, SystemExit) as error:    # of a package within another, which is imported for it
        raise RegistryError(f"registers {point.value!r}, whose parent package fails: {type(error).__name__}: {error}", where=who,
                            cure=f"correct the package, or {uninstall(who)}") from error
    return Path(next(iter(spec.submodule_search_locations))) if spec and spec.submodule_search_locations else None
