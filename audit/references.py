"""The papers: a small reader for references.bib, and exact BibTeX for what is cited."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ..engine.base.errors import DataError, RegistryError
from ..engine.catalogue.packages import Missing, Package
from ..engine.catalogue.registry import Registry

HERE = Path(__file__).parent / "references.bib"
DOI = re.compile(r"^10\.\d{4,9}/\S+$")
KEY = re.compile(r"[a-z][a-z0-9]*\Z")
_ENTRY = re.compile(r"@\s*(\w+)\s*\{\s*")
_NAME = re.compile(r"\s*([A-Za-z][\w-]*)\s*=\s*")
_CURE = "write `@kind{key, field = {value}, ...}` with balanced braces"


@dataclass(frozen=True, slots=True)
class Reference:
    """One entry: key, kind (`article`, ...), fields by lower-case name, its exact text and the
    line it starts on.
    """

    key: str
    kind: str
    fields: Mapping[str, str]
    text: str
    line: int

    @property
    def doi(self) -> str | None:
        return self.fields.get("doi")

    @property
    def short(self) -> str:
        """The citation as in running text.

        >>> load().get("pavlik2005practice").short
        'Pavlik and Anderson (2005)'
        """
        people = re.split(r"\s+and\s+", self.fields["author"])
        names = [p.partition(",")[0].strip(" {}") for p in people]
        if len(names) > 2 or names[-1] == "others":
            names = [f"{names[0]} et al."]
        return f"{' and '.join(names)} ({self.fields['year']})"


class References:
    """Entries by key, in file order.

    missing  references of packages that cannot be read, and are left out
    """

    def __init__(
        self,
        entries: Iterable[Reference],
        where: str = "references.bib",
        missing: tuple[Missing, ...] = (),
    ) -> None:
        self._entries, self._where, self.missing = {e.key: e for e in entries}, where, missing

    def __iter__(self) -> Iterator[Reference]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def get(self, key: str) -> Reference:
        """Raises RegistryError, with near matches, for an unknown key."""
        try:
            return self._entries[key]
        except KeyError:
            near = difflib.get_close_matches(key, self._entries, n=3)
            cure = f"did you mean {' or '.join(near)}?" if near else "add the entry"
            left_out = (
                f"; the references of {', '.join(m.distribution for m in self.missing)} cannot be read"
                if self.missing
                else ""
            )
            raise RegistryError(
                f"no reference {key!r}", where=self._where, cure=f"{cure}{left_out}"
            ) from None

    def bibtex(self, keys: Iterable[str]) -> str:
        """The exact text of some entries, each once, in the order of the keys.  Raises
        RegistryError as `get`.
        """
        return "".join(f"{self.get(k).text}\n\n" for k in dict.fromkeys(keys)).rstrip("\n") + "\n"


def load(path: Path = HERE) -> References:
    """Read a BibTeX file.  Raises DataError naming the line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"cannot be read: {error}", where=str(path), cure="give a BibTeX file in UTF-8"
        ) from error
    return read(text, str(path))


def of_registry(registry: Registry) -> References:
    """Our references, then those of the packages whose mechanisms the registry holds; of entries
    with the same key the first counts.

    `missing` names those that cannot be read.
    """
    theirs, missing = _of_packages(registry)
    entries: dict[str, Reference] = {}
    for entry in (*load(), *theirs):
        entries.setdefault(entry.key, entry)
    return References(entries.values(), str(HERE), missing)


def unreadable(registry: Registry) -> tuple[Missing, ...]:
    """The references of packages that cannot be read, and why."""
    return _of_packages(registry)[1]


def _of_packages(registry: Registry) -> tuple[list[Reference], tuple[Missing, ...]]:
    references, missing = list[Reference](), list[Missing]()
    for package in registry.packages:
        try:
            references += those_of(package)
        except DataError as error:
            missing.append(Missing(package.distribution, "references", str(package.failed(error))))
    return references, tuple(missing)


def those_of(package: Package) -> Iterable[Reference]:
    """The references of a package; none if it has no file.  Raises DataError if they cannot be
    read.
    """
    return load(package.references) if package.references else ()


def unknown(registry: Registry, references: References, ids: Iterable[str]) -> dict[str, str]:
    """Papers of mechanisms of packages that the references lack: the key, and whose it is."""
    entries = map(registry.entry, ids)
    return {
        key: f"{entry.id} of {package.distribution}"
        for entry in entries
        if (package := registry.package_of(entry))
        for key in entry.papers
        if key not in references
    }


def read(text: str, where: str = "references.bib") -> References:
    """Parse BibTeX: entries with balanced braces or quotes, no macros, no LaTeX.  O(length).

    Every entry needs author, title and year; a `doi` is the bare DOI.  Text between entries is
    comment, as in BibTeX.

    >>> read("@book{a1998x, author={A, B}, title={The {ACT-R} book}, year=1998}").get("a1998x").fields["title"]
    'The {ACT-R} book'
    """
    entries: dict[str, Reference] = {}
    at = 0
    while (at := text.find("@", at)) >= 0:
        entry, at = _entry(text, at, where)
        if entry is None:
            continue
        if entry.key in entries:
            raise _error(
                text,
                where,
                f"key {entry.key!r} is given twice, first on line {entries[entry.key].line}",
                line=entry.line,
            )
        entries[entry.key] = entry
    return References(entries.values(), where)


def _entry(text: str, start: int, where: str) -> tuple[Reference | None, int]:
    """The entry at `start` (None for @comment) and where it ends."""
    head = _ENTRY.match(text, start)
    if not head:
        raise _error(text, where, "'@' that starts no entry", start)
    kind, opened = head.group(1).lower(), text.index("{", start)
    end = _closing(text, opened, where)
    if kind == "comment":
        return None, end
    if kind in ("string", "preamble"):
        raise _error(text, where, f"@{kind} is not supported", start, "write the value out")
    comma = text.find(",", opened, end)
    key = text[opened + 1 : comma if comma >= 0 else end - 1].strip()
    if not KEY.match(key):
        raise _error(
            text,
            where,
            f"key {key!r} is no plain lower-case word",
            opened,
            "name it like anderson1991reflections",
        )
    fields: dict[str, str] = {}
    at = comma + 1 if comma >= 0 else end - 1
    while text[at : end - 1].strip():
        name, value, following = _field(text, at, end - 1, where)
        if name in fields:
            raise _error(text, where, f"{key} gives {name!r} twice", at + 1)
        fields[name] = value
        at = following
    if missing := [n for n in ("author", "title", "year") if not fields.get(n)]:
        raise _error(text, where, f"{key} has no {', '.join(missing)}", start, "add it")
    if "doi" in fields and not DOI.match(fields["doi"]):
        raise _error(
            text,
            where,
            f"{key} has doi {fields['doi']!r}",
            start,
            "give the bare DOI, as in 10.1037/a0014420",
        )
    return Reference(
        key, kind, MappingProxyType(fields), text[start:end], text.count("\n", 0, start) + 1
    ), end


def _field(text: str, at: int, end: int, where: str) -> tuple[str, str, int]:
    """Name and value of the field at `at`, and where the next begins; `end` is the entry's
    closing brace.
    """
    head = _NAME.match(text, at, end)
    if not head or head.end() >= end:
        start = at + len(text[at:end]) - len(text[at:end].lstrip())
        raise _error(
            text,
            where,
            f"expected `field = {{value}}`, found {text[start : start + 20].splitlines()[0]!r}",
            start,
        )
    start = head.end()
    if text[start] == "{":
        stop = _closing(text, start, where)
        value = text[start + 1 : stop - 1]
    elif text[start] == '"':
        stop = text.find('"', start + 1, end) + 1
        if not stop:
            raise _error(text, where, "a quote is not closed", start)
        value = text[start + 1 : stop - 1]
    else:
        number = re.compile(r"\d+").match(text, start, end)
        if not number:
            raise _error(text, where, f"{head.group(1)} has a value without braces", start)
        stop, value = number.end(), number.group()
    rest = re.compile(r"\s*(,|\Z)").match(text, stop, end)
    if not rest:
        raise _error(text, where, f"no comma after {head.group(1)}", stop)
    return head.group(1).lower(), " ".join(value.split()), rest.end()


def _closing(text: str, opened: int, where: str) -> int:
    """Just past the brace that closes the one at `opened`."""
    depth = 0
    for brace in re.compile(r"[{}]").finditer(text, opened):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return brace.end()
    raise _error(text, where, "a brace is not closed", opened)


def _error(
    text: str, where: str, what: str, at: int = 0, cure: str = _CURE, *, line: int = 0
) -> DataError:
    return DataError(what, where=f"{where}:{line or text.count(chr(10), 0, at) + 1}", cure=cure)
