"""Errors that name what happened, where, and the cure."""
from __future__ import annotations

from collections.abc import Iterable


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
    """For the cure of an error about an unknown name: the known names most similar to it, best first; all if there are at most `most`.

    >>> nearest("recencey", ["heat", "recency", "dense_similarity", "trigram_match"])
    'the nearest names are recency, dense_similarity, trigram_match'
    >>> nearest("recencey", ["heat", "recency"])
    'choose from heat, recency'
    """
    from difflib import get_close_matches  # only errors need it

    names = list(known)
    if len(names) <= most:
        return f"choose from {', '.join(names)}" if names else "there are none"
    return f"the nearest names are {', '.join(get_close_matches(str(name), names, most, cutoff=0.0))}"
