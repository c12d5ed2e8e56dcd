"""`hebbarium new`: a mechanism's three places, filled with a small one that works, in a package of its own or in this repository.

The templates are in `templates/`: exponential forgetting, its registry entry and its evidence, with `$id` for what is named.
"""
from __future__ import annotations

import ast
import keyword
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from string import Template

import yaml

from ..engine.errors import InputError
from ..engine.packages import GROUP
from ..engine.registry import Registry, read_yaml

TEMPLATES = Path(__file__).parent / "templates"
NAME = re.compile(r"[a-z][a-z0-9_]*")
FOLDERS = ("evidence", "sets")          # of a package; a module beside them must be called something else


@dataclass(frozen=True)
class Written:
    """Files that were made, the registry that has a new entry, and what to do next."""

    files: tuple[Path, ...]
    registry: Path
    after: tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """Where the three places are: `module` and `evidence` are files, `names` what the templates call things there."""

    module: Path
    evidence: Path
    registry: Path
    names: Mapping[str, str]
    more: Mapping[Path, str]            # further files, by their text
    after: tuple[str, ...]


def new(name: str, into: Path, home: str = "maintenance") -> Written:
    """Write a mechanism that works, for its author to change: module, registry entry, evidence.

    name  of the mechanism
    into  a folder that is new or empty: a package is made there; that of a package which registers mechanisms, or this
          repository: the three places are added
    home  phase that the mechanism is at home in; in this repository, the folder of its module

    All is written, or nothing.  Raises InputError for a name or a folder that will not do, or for what cannot be written.
    """
    _require_name(name)
    place = _place(name, into, home)
    taken = set(Registry.installed().entries) | set(read_yaml(place.registry) if place.registry.exists() else ())
    if name in taken:
        raise InputError(f"a mechanism is called {name!r} already", where="hebbarium new",
                         cure="choose another name; `hebbarium list` prints those taken")
    initials = "".join(part[0] for part in name.split("_") if part).upper()
    names = {"id": name, "Class": _class(name), "prefix": initials, "home": home, **place.names}
    files = {place.module: _filled("mechanism.py", names), place.evidence: _filled("evidence.py", names),
             **{file: text for file, text in place.more.items() if not file.exists()}}
    if there := [file for file in files if file.exists()]:
        raise InputError("is there already", where=str(there[0]), cure="choose another name, or move it away")
    _require_class(name, files[place.module])
    registry = _appended(place.registry, _filled("registry.yaml", names), name)
    _write(files, place.registry, registry)
    return Written(tuple(files), place.registry, place.after)


# --- names -------------------------------------------------------------------------------------------------------------------
def _require_name(name: str) -> None:
    if not NAME.fullmatch(name) or keyword.iskeyword(name) or name in FOLDERS or yaml.safe_load(name) != name:
        raise InputError(f"{name!r} is no name for a mechanism", where="hebbarium new",
                         cure=f"use lower case letters, digits and underscores, no word of Python or YAML, none of {', '.join(FOLDERS)}")


def _class(name: str) -> str:
    """
    >>> _class("short_term_depression")
    'ShortTermDepression'
    """
    return "".join(part.capitalize() for part in name.split("_"))


def _require_class(name: str, text: str) -> None:
    """Its class must not take the place of one that its module imports."""
    imported = {a.asname or a.name for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names}
    if _class(name) in imported:
        raise InputError(f"{name!r} would give the class the name of another, {_class(name)}", where="hebbarium new", cure="choose another name")


# --- places ------------------------------------------------------------------------------------------------------------------
def _place(name: str, into: Path, home: str) -> Place:
    folder = into.expanduser().resolve()
    if (folder / "registry.yaml").is_file() and (folder / "mechanisms" / home).is_dir() and (folder / "audit" / "evidence").is_dir():
        return _in_the_repository(name, folder, home)
    if folder.exists() and not folder.is_dir():
        raise InputError("is no folder", where=str(into), cure="give a new or empty folder, or that of a package")
    if (folder / "pyproject.toml").is_file():
        return _in_a_package(name, folder)
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError("holds other things and no pyproject.toml", where=str(into),
                         cure=f"give a new or empty folder, or that of a package which registers under {GROUP!r}")
    return _a_new_package(name, folder, into)


def _in_the_repository(name: str, folder: Path, home: str) -> Place:
    names = {"engine": "...engine.", "audit": "..", "module": f"hebbarium.mechanisms.{home}.{name}"}
    after = (f"hebbarium audit {name} --strict", f"write docs/mechanisms/{name}.md",
             "python docs/draw_parameters.py && python docs/draw_mechanism_index.py")
    return Place(folder / "mechanisms" / home / f"{name}.py", folder / "audit" / "evidence" / f"{name}.py",
                 (folder / "registry.yaml").resolve(), names, {}, after)


def _in_a_package(name: str, folder: Path) -> Place:
    package = _registered(folder / "pyproject.toml")
    room = next((r for r in (folder / "src", folder) if (r.joinpath(*package.split(".")) / "registry.yaml").is_file()), None)
    if room is None:
        raise InputError(f"no registry.yaml in the package {package!r}", where=str(folder), cure="put one into the package's folder")
    return _of_a_package(name, package, room.joinpath(*package.split(".")), {}, (f"hebbarium audit {name} --strict",))


def _a_new_package(name: str, folder: Path, into: Path) -> Place:
    package = re.sub(r"[-. ]+", "_", folder.name.lower())
    spec = find_spec(package) if NAME.fullmatch(package) and package not in sys.modules else None
    if not NAME.fullmatch(package) or keyword.iskeyword(package) or package in sys.modules or (spec is not None and spec.origin):
        raise InputError(f"a package cannot be called {package!r}", where=str(into),
                         cure="call the folder as no installed package is called, in letters, digits and underscores")
    names = {"package": package, "distribution": package.replace("_", "-")}
    more = {folder / "pyproject.toml": _filled("pyproject.toml", names),
            folder / "src" / package / "__init__.py": '"""Memory mechanisms for Hebbarium."""\n',
            folder / "tests" / "test_conformance.py": _filled("test_conformance.py", names)}
    after = (f"pip install -e {into}", f"pytest {into}", f"hebbarium audit {name} --strict")
    return _of_a_package(name, package, folder / "src" / package, more, after)


def _of_a_package(name: str, package: str, folder: Path, more: Mapping[Path, str], after: tuple[str, ...]) -> Place:
    names = {"engine": "hebbarium.engine.", "audit": "hebbarium.audit.", "module": f"{package}.{name}"}
    evidence = folder / "evidence"
    inits = {evidence / "__init__.py": '"""Evidence for the mechanisms of this package, one module for each, named by its id."""\n'}
    return Place(folder / f"{name}.py", evidence / f"{name}.py", folder / "registry.yaml", names, {**more, **inits}, after)


def _registered(pyproject: Path) -> str:
    """The package that a pyproject.toml registers."""
    try:
        points = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["entry-points"][GROUP]
        (package,) = set(points.values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"registers no single package under {GROUP!r}", where=str(pyproject),
                         cure=f'write [project.entry-points."{GROUP}"] and below it: my_package = "my_package"') from error
    return str(package)


# --- writing -----------------------------------------------------------------------------------------------------------------
def _filled(template: str, names: Mapping[str, str]) -> str:
    return Template((TEMPLATES / f"{template}.tmpl").read_text(encoding="utf-8")).substitute(names)


def _appended(registry: Path, entry: str, name: str) -> str:
    """The registry's text with one entry more.  Raises InputError where what is there cannot be added to."""
    if not registry.exists():
        return entry
    text = f"{registry.read_text(encoding='utf-8').rstrip()}\n\n{entry}"
    try:
        sound = name in yaml.safe_load(text)
    except yaml.YAMLError:
        sound = False
    if not sound:
        raise InputError("an entry cannot be appended to it", where=str(registry),
                         cure="write its entries as a block, `name:` at the start of a line")
    return text


def _write(files: Mapping[Path, str], registry: Path, text: str) -> None:
    """All of it or nothing; the registry last, in one step."""
    made: list[Path] = []
    try:
        for file, content in {**files, registry.with_name("registry.yaml.new"): text}.items():
            for folder in reversed([f for f in file.parents if not f.exists()]):
                folder.mkdir()
                made.append(folder)
            with file.open("x", encoding="utf-8") as out:
                made.append(file)
                out.write(content)
        made[-1].replace(registry)
    except BaseException as error:
        for path in reversed(made):
            path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise InputError(f"cannot be written: {error.strerror}", where=str(error.filename), cure="choose another folder") from error
