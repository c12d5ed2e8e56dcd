"""Errors that name what happened, where, and the cure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

NEAR: Final = 2 / 3  # likeness from which a name is suggested: one letter in three may be wrong
FEW: Final = 12  # names that an error lists if no name is near


class HebbariumError(Exception):
    """Base of all errors that a user can cause or cure.

    what   what happened, one sentence
    where  file, mechanism, column or event it happened in
    cure   what the user can do about it

    exit_code  of a command that ends with it
    """

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", cure: str = "") -> None:
        self.what, self.where, self.cure = what, where, cure
        super().__init__(what, where, cure)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        cure = f"\n  What to do: {self.cure}" if self.cure else ""
        return f"{place}{self.what}{cure}"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.what, self.where, self.cure)


def _rebuild(kind: type[HebbariumError], what: str, where: str, cure: str) -> HebbariumError:
    return kind(what, where=where, cure=cure)


class ContractError(HebbariumError):
    """A mechanism breaks the contract: undeclared access, conflicting setters, a cycle."""


class RegistryError(HebbariumError):
    """registry.yaml, a mechanism set or a parameter is invalid."""


class InputError(HebbariumError):
    """An event, a query or another argument is invalid."""


class DataError(HebbariumError):
    """A data file is missing, malformed or not the file that it claims to be."""


class SnapshotError(HebbariumError):
    """A snapshot cannot be written, read or continued from."""


def nearest(name: object, known: Iterable[str], most: int = 3) -> str:
    """For the cure of an error about an unknown name: the known names near it, best first; all if
    they are few.

    A name is near that has most letters in the same order, or that contains the unknown one; upper
    and lower case are one.

    >>> nearest("recencey", ["heat", "recency", "dense_similarity", "trigram_match"])
    'the nearest name is recency'
    >>> nearest("recencey", ["heat", "recency"]), nearest("zzz", ["heat", "recency", "a_mem", "stages"])
    ('choose from heat, recency', 'choose from heat, recency, a_mem, stages')
    >>> nearest("zzz", [f"name{n}" for n in range(100)])
    'none of the 100 names is near it; the first are name0, name1, name2'
    """
    names = list(known)
    if not names:
        return "there are none"
    likeness = {
        candidate: _likeness(str(name).casefold(), candidate.casefold()) for candidate in names
    }
    near = sorted(
        (candidate for candidate in likeness if likeness[candidate] >= NEAR),
        key=lambda candidate: -likeness[candidate],
    )[:most]
    if len(names) <= most or (not near and len(names) <= FEW):
        return f"choose from {', '.join(names)}"
    if not near:
        return f"none of the {len(names)} names is near it; the first are {', '.join(names[:most])}"
    return f"the nearest {'name is' if len(near) == 1 else 'names are'} {', '.join(near)}"


def _likeness(wanted: str, name: str) -> float:
    """From 0 to 1; a name that contains a wanted one of three letters or more is near."""
    from difflib import SequenceMatcher  # only errors need it

    ratio = SequenceMatcher(None, name, wanted).ratio()
    return max(ratio, NEAR) if len(wanted) >= 3 and wanted in name else ratio
