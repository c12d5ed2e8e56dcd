"""`hebbarium new`: the module, registry entry and evidence of a small mechanism that works, in a
package of its own or in this repository.

`templates/<home>/` holds one mechanism of each home, with `$id` and other names to be filled in;
`templates/package/` the files of a package. The templates import from `hebbarium.author`; in this
repository they import the modules that define the names.
"""

from __future__ import annotations

import ast
import keyword
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from string import Template

import yaml

from ..engine import contract
from ..engine.base.errors import InputError
from ..engine.base.yaml_file import read_yaml
from ..engine.catalogue.packages import GROUP
from ..engine.catalogue.registry import HOMES, Registry
from ..engine.contract.vocabulary import ENGINE_COLUMNS, ENGINE_STRUCTURES

AUTHOR = Path(__file__).parent.parent / "author.py"
TEMPLATES = Path(__file__).parent / "templates"
NAME = re.compile(r"[a-z][a-z0-9_]*")
COLUMNS = 100  # of a line of this repository
FOLDERS = ("evidence", "sets")  # of a package; a module beside them must have another name


@dataclass(frozen=True)
class WrittenFiles:
    """Files that were written, the registry that has a new entry, and the commands to run next."""

    files: tuple[Path, ...]
    registry: Path
    after: tuple[str, ...]


@dataclass(frozen=True)
class MechanismPlace:
    """Where the parts of a mechanism are written.

    module, evidence, registry  files
    dotted  module of the plug-in, as the registry names it
    root    folder of this repository, whose files import relatively; None in a package
    more    further files, by their text
    after   commands to run next
    """

    module: Path
    evidence: Path
    registry: Path
    dotted: str
    root: Path | None
    more: Mapping[Path, str]
    after: tuple[str, ...]


def new(name: str, into: Path, home: str = "maintenance") -> WrittenFiles:
    """Write a small mechanism that works, for its author to change: module, registry entry,
    evidence.

    name  of the mechanism
    into  a new or empty folder: a package is made there; the folder of a package that registers
          mechanisms, or of this repository: the mechanism is added there
    home  phase of the mechanism, one of HOMES; in this repository, the folder of its module

    Writes all files or none.  Raises InputError for a name, folder or home that cannot be used, and
    if a file cannot be written.
    """
    _require_name(name)
    if home not in HOMES:
        raise InputError(
            f"{home!r} is not a home of mechanisms",
            where="hebbarium new",
            cure=f"choose from {', '.join(HOMES)}",
        )
    place = _place(name, into, home)
    taken = set(Registry.installed().entries) | set(
        read_yaml(place.registry) if place.registry.exists() else ()
    )
    if name in taken:
        raise InputError(
            f"the mechanism {name!r} exists already",
            where="hebbarium new",
            cure="choose another name; `hebbarium list` prints those taken",
        )
    initials = "".join(part[0] for part in name.split("_") if part).upper()
    names = {
        "id": name,
        "ID": name.upper(),
        "Class": _class(name),
        "prefix": initials,
        "module": place.dotted,
    }
    module, evidence = _filled(f"{home}/mechanism.py", names), _filled(f"{home}/evidence.py", names)
    _require_no_clash(name, module)
    if place.root:
        module, evidence = (
            _importing_relatively(text, file.relative_to(place.root))
            for text, file in ((module, place.module), (evidence, place.evidence))
        )
    files = {
        place.module: module,
        place.evidence: evidence,
        **{file: text for file, text in place.more.items() if not file.exists()},
    }
    if there := [file for file in files if file.exists()]:
        raise InputError(
            "is there already", where=str(there[0]), cure="choose another name, or move it away"
        )
    registry = _appended(place.registry, _filled(f"{home}/registry.yaml", names), name)
    _write(files, place.registry, registry)
    return WrittenFiles(tuple(files), place.registry, place.after)


# --- names ----------------------------------------------------------------------------------------
def _require_name(name: str) -> None:
    if (
        not NAME.fullmatch(name)
        or keyword.iskeyword(name)
        or name in FOLDERS
        or yaml.safe_load(name) != name
    ):
        raise InputError(
            f"{name!r} cannot be the name of a mechanism",
            where="hebbarium new",
            cure=f"use lower-case letters, digits and underscores; no keyword of Python or YAML, none of {', '.join(FOLDERS)}",
        )


def _class(name: str) -> str:
    """
    >>> _class("short_term_depression")
    'ShortTermDepression'
    """
    return "".join(part.capitalize() for part in name.split("_"))


def _require_no_clash(name: str, text: str) -> None:
    """Raises InputError if the mechanism's class would hide an import of its module, or its
    column have the name of a shared one.
    """
    imported = {
        a.asname or a.name
        for n in ast.walk(ast.parse(text))
        if isinstance(n, (ast.Import, ast.ImportFrom))
        for a in n.names
    }
    shared = {c.name for c in ENGINE_COLUMNS} | {s.name for s in ENGINE_STRUCTURES}
    if _class(name) in imported or name in shared:
        raise InputError(
            f"{name!r} is the name of a class or column of the engine",
            where="hebbarium new",
            cure="choose another name",
        )


# --- places ---------------------------------------------------------------------------------------
def _place(name: str, into: Path, home: str) -> MechanismPlace:
    folder = into.expanduser().resolve()
    if (
        (folder / "registry.yaml").is_file()
        and (folder / "mechanisms" / home).is_dir()
        and (folder / "audit" / "evidence").is_dir()
    ):
        return _in_the_repository(name, folder, home)
    if folder.exists() and not folder.is_dir():
        raise InputError(
            "is not a folder",
            where=str(into),
            cure="give a new or empty folder, or the folder of a package",
        )
    if (folder / "pyproject.toml").is_file():
        return _in_a_package(name, folder)
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(
            "is not empty and has no pyproject.toml",
            where=str(into),
            cure=f"give a new or empty folder, or the folder of a package that registers under {GROUP!r}",
        )
    return _a_new_package(name, folder, into)


def _in_the_repository(name: str, folder: Path, home: str) -> MechanismPlace:
    after = (
        f"hebbarium audit {name} --strict",
        f"pytest tests/test_conformance.py -k {name}",
        "make ratings",
    )
    return MechanismPlace(
        folder / "mechanisms" / home / f"{name}.py",
        folder / "audit" / "evidence" / f"{name}.py",
        (folder / "registry.yaml").resolve(),
        f"hebbarium.mechanisms.{home}.{name}",
        folder,
        {},
        after,
    )


def _in_a_package(name: str, folder: Path) -> MechanismPlace:
    package = _registered(folder / "pyproject.toml")
    room = next(
        (
            r
            for r in (folder / "src", folder)
            if (r.joinpath(*package.split(".")) / "registry.yaml").is_file()
        ),
        None,
    )
    if room is None:
        raise InputError(
            f"no registry.yaml in the package {package!r}",
            where=str(folder),
            cure="add one to the package's folder",
        )
    return _of_a_package(
        name, package, room.joinpath(*package.split(".")), {}, (f"hebbarium audit {name} --strict",)
    )


def _a_new_package(name: str, folder: Path, into: Path) -> MechanismPlace:
    package = re.sub(r"[-. ]+", "_", folder.name.lower())
    spec = find_spec(package) if NAME.fullmatch(package) and package not in sys.modules else None
    if (
        not NAME.fullmatch(package)
        or keyword.iskeyword(package)
        or package in sys.modules
        or (spec is not None and spec.origin)
    ):
        raise InputError(
            f"{package!r} cannot be the name of a package",
            where=str(into),
            cure="name the folder in letters, digits and underscores, and not as an installed package is named",
        )
    names = {"package": package, "distribution": package.replace("_", "-")}
    more = {
        folder / "pyproject.toml": _filled("package/pyproject.toml", names),
        folder / "src" / package / "__init__.py": '"""Memory mechanisms for Hebbarium."""\n',
        folder / "tests" / "test_conformance.py": _filled("package/test_conformance.py", names),
    }
    after = (f"pip install -e {into}", f"pytest {into}", f"hebbarium audit {name} --strict")
    return _of_a_package(name, package, folder / "src" / package, more, after)


def _of_a_package(
    name: str, package: str, folder: Path, more: Mapping[Path, str], after: tuple[str, ...]
) -> MechanismPlace:
    evidence = folder / "evidence"
    inits = {
        evidence
        / "__init__.py": '"""Evidence for the mechanisms of this package: one module per mechanism, named by its id."""\n'
    }
    return MechanismPlace(
        folder / f"{name}.py",
        evidence / f"{name}.py",
        folder / "registry.yaml",
        f"{package}.{name}",
        None,
        {**more, **inits},
        after,
    )


def _registered(pyproject: Path) -> str:
    """The package that a pyproject.toml registers.  Raises InputError unless it registers
    exactly one.
    """
    try:
        points = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["entry-points"][
            GROUP
        ]
        (package,) = set(points.values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"registers no single package under {GROUP!r}",
            where=str(pyproject),
            cure=f'write [project.entry-points."{GROUP}"] and below it: my_package = "my_package"',
        ) from error
    return str(package)


# --- writing --------------------------------------------------------------------------------------
def _filled(template: str, names: Mapping[str, str]) -> str:
    return Template((TEMPLATES / f"{template}.tmpl").read_text(encoding="utf-8")).substitute(names)


def _importing_relatively(text: str, file: Path) -> str:
    """The text of a file of this repository with relative imports instead of `from hebbarium.author
    import ...`.

    file  path from the root of the repository

    >>> print(_importing_relatively("import numpy as np\\nfrom hebbarium.author import equation, hook\\n\\nx = 1\\n", Path("audit/evidence/a.py")))
    import numpy as np
    <BLANKLINE>
    from ...engine.contract import hook
    from ..checks import equation
    <BLANKLINE>
    x = 1
    <BLANKLINE>
    """
    defined = dict.fromkeys(contract.__all__, "engine.contract") | {
        a.name: n.module or ""
        for n in ast.parse(AUTHOR.read_text(encoding="utf-8")).body
        if isinstance(n, ast.ImportFrom)
        for a in n.names
    }
    start = "from hebbarium.author import "
    lines, imports = text.splitlines(), dict[str, list[str]]()
    at = next(i for i, line in enumerate(lines) if line.startswith(start))
    for name in lines[at].removeprefix(start).split(", "):
        imports.setdefault(_relative(defined[name], file.parts[:-1]), []).append(name)
    # most dots first
    ordered = sorted(imports, key=lambda module: (len(module.lstrip(".")) - len(module), module))
    end = lines.index("", at)  # of the block of imports
    before = [*lines[:at], *lines[at + 1 : end]]
    new = [_import_of(module, imports[module]) for module in ordered]
    return "\n".join([*before, *([""] if before[-1] else []), *new, *lines[end:]]) + "\n"


def _import_of(module: str, names: Sequence[str]) -> str:
    """An import in one line, or with one name a line where that is wider than ours are.

    >>> print(_import_of("..checks", ["data", "limit"]))
    from ..checks import data, limit
    """
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= COLUMNS:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in names), ")"])


def _relative(module: str, here: tuple[str, ...]) -> str:
    """
    >>> _relative("audit.checks", ("audit", "evidence")), _relative("engine.contract.hooks", ("mechanisms", "encoding"))
    ('..checks', '...engine.contract.hooks')
    """
    parts, common = module.split("."), 0
    while common < len(here) and parts[common] == here[common]:
        common += 1
    return "." * (len(here) - common + 1) + ".".join(parts[common:])


def _appended(registry: Path, entry: str, name: str) -> str:
    """The registry's text with one more entry.  Raises InputError if no entry can be appended to
    the text.
    """
    if not registry.exists():
        return entry
    text = f"{registry.read_text(encoding='utf-8').rstrip()}\n\n{entry}"
    try:
        sound = name in yaml.safe_load(text)
    except yaml.YAMLError:
        sound = False
    if not sound:
        raise InputError(
            "no entry can be appended to it",
            where=str(registry),
            cure="write its entries as a block, `name:` at the start of a line",
        )
    return text


def _write(files: Mapping[Path, str], registry: Path, text: str) -> None:
    """Write all files or none; the registry is replaced last, in one step.  Raises InputError."""
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
        raise InputError(
            f"cannot be written: {error.strerror}",
            where=str(error.filename),
            cure="choose another folder",
        ) from error
