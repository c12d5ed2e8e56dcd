"""All probes by id: those of this package, and those that other packages bring in a folder
`probes` beside their evidence.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from ....engine.base.errors import InputError, RegistryError, nearest
from ....engine.catalogue.packages import Package, PackageError, installed
from .base import Probe

FOLDER = Path(__file__).parent.parent
NO_PROBES = ("__init__", "stimuli")


class ProbesLeftOutWarning(UserWarning):
    """The probes of an installed package cannot be read."""


@cache
def own() -> Mapping[str, Probe]:
    """The probes of this package by id, in the order of their modules' names."""
    package = __name__.rsplit(".", 2)[0]
    modules = [
        importlib.import_module(f"{package}.{file.stem}")
        for file in sorted(FOLDER.glob("*.py"))
        if file.stem not in NO_PROBES
    ]
    return _by_id((module.__name__, probe) for module in modules for probe in module.PROBES)


@cache
def collected() -> Mapping[str, Probe]:
    """The probes of this package and of all installed ones; those of a package that fails are left
    out, with a warning.

    Raises RegistryError for an id that two modules have.
    """
    probes = dict(own())
    for package in installed():
        try:
            theirs = _by_id(
                (module.__name__, probe) for module in _modules(package) for probe in module.PROBES
            )
        except PackageError as error:
            warnings.warn(
                f"the probes of a package are left out: {error}", ProbesLeftOutWarning, stacklevel=2
            )
            continue
        if twice := [id for id in theirs if id in probes]:
            raise RegistryError(
                f"the probe {twice[0]!r} exists already",
                where=package.distribution,
                cure="give it another id",
            )
        probes |= theirs
    return probes


def source_of(probe: Probe) -> Path:
    """The file that holds the experiment of a probe."""
    function: Any = probe.run
    return Path(sys.modules[getattr(function, "func", function).__module__].__file__ or "")


def chosen(ids: Sequence[str], known: Mapping[str, Probe]) -> list[Probe]:
    """The probes of some ids, each once; a name without its variant is all its variants; all
    probes if none is given.  Raises InputError.
    """
    probes: dict[str, Probe] = {}
    for id in ids or known:
        mine = {key: probe for key, probe in known.items() if id in (key, probe.name)}
        if not mine:
            raise InputError(
                f"there is no probe {id!r}",
                where="ID",
                cure=nearest(id, [*known, *{p.name for p in known.values()}]),
            )
        probes |= mine
    return list(probes.values())


def _modules(package: Package) -> Iterator[ModuleType]:
    for file in sorted((package.folder / "probes").glob("*.py")):
        name = f"{package.name}.probes.{file.stem}"
        if file.stem == "__init__":
            continue
        spec = importlib.util.spec_from_file_location(name, file)
        if spec is None or spec.loader is None:
            continue
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        with package.blamed():
            spec.loader.exec_module(module)
            if not hasattr(module, "PROBES"):
                raise RegistryError(
                    "it has no PROBES", where=str(file), cure="define PROBES, a tuple of Probe"
                )
        yield module


def _by_id(pairs: Iterator[tuple[str, Probe]]) -> dict[str, Probe]:
    probes: dict[str, Probe] = {}
    for module, probe in pairs:
        if probe.id in probes:
            raise RegistryError(
                f"the probe {probe.id!r} exists already", where=module, cure="give it another id"
            )
        probes[probe.id] = probe
    return probes
