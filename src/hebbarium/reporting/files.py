"""Result files: written whole or not at all, in UTF-8, and for their user alone unless they are to be
shared.
"""

from __future__ import annotations

import errno
import json
import math
import os
from collections.abc import Iterable, Mapping
from io import TextIOWrapper
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from ..engine.base.errors import HebbariumError, InputError
from ..engine.base.private import PRIVATE, SHARED, private_folder, replacing

_FULL = ("the disk is full", "free disk space")
_FORBIDDEN = ("no permission", "make the folder writable or choose another one")
_CAUSES = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.EROFS: _FORBIDDEN,
}


def results_folder(out: Path, *, shared: bool = False) -> Path:
    """The folder for results, made where needed, for its user alone unless it is shared; raises
    InputError where it cannot be written to.
    """
    try:
        _make_folder(out, shared)
        with NamedTemporaryFile(dir=out, prefix=".write-test-"):
            pass
    except (OSError, ValueError) as error:
        what, cure = _unusable(out, error)
        raise InputError(what, where=str(out), cure=cure) from error
    return out


def _make_folder(path: Path, shared: bool) -> None:
    if shared:
        path.mkdir(parents=True, exist_ok=True)
    else:
        private_folder(path)


def _unusable(out: Path, error: OSError | ValueError) -> tuple[str, str]:
    """What is wrong with a folder for results, and the cure."""
    exists, why = (
        os.path.lexists(out) if isinstance(error, OSError) else False,
        getattr(error, "strerror", None) or str(error),
    )
    if exists and not out.is_dir():
        kind = "a file" if out.is_file() else "a broken link" if out.is_symlink() else "a device"
        return f"it is {kind}, not a folder", "give --out another name"
    if isinstance(error, OSError) and error.errno in _CAUSES:
        return f"results cannot be written there ({why})", _CAUSES[error.errno][1]
    if exists:
        return (
            f"results cannot be written there ({why})",
            "give --out a folder in which files can be made",
        )
    return (
        f"the folder cannot be made ({why})",
        "give --out a place where folders can be made, such as out/mine",
    )


def write_whole(path: Path, lines: Iterable[str], *, shared: bool = False) -> None:
    """Write a text file whole or not at all, in UTF-8; half surrogates are written as \\udXXX.  Its
    folder is made if it is absent.

    shared  a report that quotes no memory: others may read it, as the umask lets them.  All else is
            for its user alone (0600, and 0700 a folder)

    On any failure an earlier file stays and no unfinished one is left.  The draft is a new file in
    the same folder; no link is followed.  Raises HebbariumError, which says whether space or
    permission is missing.
    """
    try:
        _make_folder(path.parent, shared)
        with (
            replacing(path, SHARED if shared else PRIVATE) as stream,
            TextIOWrapper(
                stream, encoding="utf-8", errors="backslashreplace", newline="\n"
            ) as file,
        ):
            file.writelines(lines)
    except OSError as error:
        what, cure = _CAUSES.get(
            error.errno or 0, (str(error.strerror or error), "check the path and the disk")
        )
        raise HebbariumError(
            f"it cannot be written ({what})", where=str(path), cure=f"{cure}, then start again"
        ) from error


def finite(value: Any) -> Any:
    """The same value with None in place of NaN and infinities, which JSON does not have; arrays and
    tuples become lists.

    >>> finite({"a": (1.0, float("nan"))})
    {'a': [1.0, None]}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list | tuple) else value


def write_json(path: Path, data: Any, *, shared: bool = False) -> None:
    """Indented JSON, as `write_whole`."""
    text = json.dumps(data, indent=2, ensure_ascii=False, default=str)
    write_whole(path, [text, "\n"], shared=shared)
