"""Parameters that are files: a path with the digest of the content that it had when the
mechanisms were built.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from .errors import RegistryError

UNIT: Final = "path"  # unit of a parameter that is a file or a folder, in registry.yaml


class FilePath(str):
    """The path of a file or folder, or "" for none.

    sha256  of its content, see `content_digest`; "" for none
    """

    sha256: str

    @classmethod
    def checked(cls, value: Any, where: str) -> FilePath:
        """The path with its digest.  Cost: the content is read once.  Raises RegistryError for a
        value that is no readable file or folder.
        """
        cure = 'give the path of a file or folder, or "" for none; a relative path in a set\'s YAML file starts at the folder of that file'
        if not isinstance(value, str):
            raise RegistryError(f"{value!r} is no path", where=where, cure=cure)
        made = cls(value)
        try:
            made.sha256 = content_digest(Path(value)) if value else ""
        except (OSError, ValueError) as error:
            what = (
                "there is no such file or folder"
                if isinstance(error, FileNotFoundError)
                else f"it cannot be read ({error})"
            )
            raise RegistryError(f"{value!r}: {what}", where=where, cure=cure) from error
        return made


def content_digest(path: Path) -> str:
    """SHA-256 of a file's bytes; of a folder, over the relative name and the SHA-256 of every file
    below it, sorted by name.

    Raises OSError, FileNotFoundError for a path that is neither.
    """
    if path.is_file():
        return _of_file(path).hex()
    if not path.is_dir():
        raise FileNotFoundError(str(path))
    total = hashlib.sha256()
    names = {
        file.relative_to(path).as_posix().encode("utf-8", "surrogateescape"): file
        for file in _below(path)
    }
    for name in sorted(names):
        total.update(name + b"\0" + _of_file(names[name]))
    return total.hexdigest()


def _below(folder: Path, above: tuple[Path, ...] = ()) -> Iterator[Path]:
    """The files below a folder, links followed.  Raises OSError for a link to a folder above it."""
    here = folder.resolve()
    if here in above:
        raise OSError(f"{folder} links to a folder above it")
    for path in folder.iterdir():
        if path.is_dir():
            yield from _below(path, (*above, here))
        elif path.is_file():
            yield path


def _of_file(file: Path) -> bytes:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()
