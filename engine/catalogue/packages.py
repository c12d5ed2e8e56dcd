"""Mechanisms of other packages: an installed distribution names its package under the entry-point
group `hebbarium.mechanisms`.

    [project.entry-points."hebbarium.mechanisms"]
    mine = "my_package"

The package holds `registry.yaml`, the modules that it names, `evidence/<mechanism>.py`, and, if it
needs them, `references.bib` and `sets/*.yaml`, as Hebbarium does.
"""

from __future__ import annotations

import hashlib
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, distributions, entry_points
from importlib.util import find_spec
from pathlib import Path

from ..base.errors import HebbariumError, RegistryError

GROUP = "hebbarium.mechanisms"
SOURCES = (".py", ".txt")  # files on which results depend
ROOT = Path(__file__).parents[2]


class PackageError(RegistryError):
    """A package of others cannot be read, or raises; `where` starts with its distribution."""


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

    def failed(self, error: BaseException) -> PackageError:
        """What it raised, as an error that names it, with the innermost line of its own."""
        if isinstance(error, HebbariumError):
            what, where, cure = error.what, error.where, error.cure
        else:
            own = [
                f
                for f in traceback.extract_tb(error.__traceback__)
                if Path(f.filename).is_relative_to(self.folder)
            ]
            what, where, cure = (
                raised(error),
                f"{own[-1].filename}:{own[-1].lineno}" if own else "",
                "correct it",
            )
        return PackageError(
            what,
            where=f"{self.distribution}: {where}" if where else self.distribution,
            cure=f"{cure}, or {uninstall(self.distribution)}"
            if cure
            else uninstall(self.distribution),
        )

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Whatever is raised within, but an interruption, becomes an error that names the
        package.
        """
        try:
            yield
        except (KeyboardInterrupt, PackageError):
            raise
        except BaseException as error:  # code of others may raise or exit with anything
            raise self.failed(error) from error


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
    """SHA-256 over paths, relative to the root, and contents of the Python files and the word
    lists (*.txt) in some folders below it.
    """
    h = hashlib.sha256()
    for folder in folders:
        for file in sorted(
            path for path in folder.rglob("*") if path.suffix in SOURCES and path.is_file()
        ):
            h.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return h.hexdigest()


def answering_digest(root: Path = ROOT) -> str:
    """SHA-256 over the source files of this package that decide an answer: those of the engine
    and of the mechanisms.
    """
    return source_digest(root, root / "engine", root / "mechanisms")


def installed() -> tuple[Package, ...]:
    """The packages that register mechanisms, by name; none of them is imported.  A package without
    its files is left out: see `usable`.
    """
    return usable()[0]


def usable() -> tuple[tuple[Package, ...], tuple[PackageError, ...]]:
    """The packages that register mechanisms, by name, and an error for each package that cannot be
    found or lacks its files.
    """
    points, broken = _points()
    packages: list[Package] = []
    for point in points:
        try:
            packages.append(_package(point, _named(point.dist, point.name)))
        except PackageError as error:
            broken.append(error)
    return tuple(sorted(packages, key=lambda p: p.name)), tuple(broken)


def _points() -> tuple[list[EntryPoint], list[PackageError]]:
    """The entry points of the group, and an error for each distribution whose entry points
    cannot be read.
    """
    try:
        return [*entry_points(group=GROUP)], []
    except Exception:
        # entry_points() fails as a whole, and does not say at which distribution
        pass
    points: list[EntryPoint] = []
    broken: list[PackageError] = []
    seen: set[str] = set()
    for distribution in distributions():
        who = _named(
            distribution,
            Path(str(getattr(distribution, "_path", "a distribution without a name"))).name,
        )
        name = re.sub(r"[-_.]+", "-", who.partition(" ")[0]).lower()
        if name in seen:  # the first on the path counts, as it does for an import
            continue
        seen.add(name)
        try:
            points += distribution.entry_points.select(group=GROUP)
        except Exception as error:
            broken.append(
                PackageError(
                    f"its entry_points.txt cannot be read: {raised(error)}",
                    where=who,
                    cure=f"install it again, or {uninstall(who)}",
                )
            )
    return points, broken


def _named(distribution: Distribution | None, otherwise: str) -> str:
    """Name and version of a distribution; `otherwise` if its metadata are missing or damaged."""
    try:
        name, version = (
            (distribution.metadata["Name"], distribution.version) if distribution else ("", "")
        )
    except Exception:
        return otherwise
    return f"{name} {version}" if name else otherwise


def raised(error: BaseException) -> str:
    """Type and words of an exception.

    >>> raised(ValueError("no licence"))
    'ValueError: no licence'
    """
    return f"{type(error).__name__}: {words_of(error)}"


def words_of(error: BaseException) -> str:
    """The words of an exception; code of others may raise one that cannot be printed."""
    try:
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException as another:
        return f"(its words cannot be read: {type(another).__name__})"


def _package(point: EntryPoint, who: str) -> Package:
    folder = _folder(point, who)
    if folder is None or not (folder / "registry.yaml").is_file():
        raise PackageError(
            f"registers {point.value!r}, which is no package that holds a registry.yaml",
            where=who,
            cure=f"put registry.yaml into the package and its package data, or {uninstall(who)}",
        )
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
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the parent package, which is imported first, fails
        raise PackageError(
            f"registers {point.value!r}, whose parent package fails: {raised(error)}",
            where=who,
            cure=f"correct the package, or {uninstall(who)}",
        ) from error
    return (
        Path(next(iter(spec.submodule_search_locations)))
        if spec and spec.submodule_search_locations
        else None
    )
