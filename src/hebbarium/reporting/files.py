"""Result files: written whole or not at all, in UTF-8."""
from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from ..engine.errors import HebbariumError, InputError


def results_folder(out: Path) -> Path:
    """The folder for results, made where needed; raises InputError where it cannot be written to."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=out, prefix=".write-test-"):
            pass
    except (OSError, ValueError) as error:
        what = "it is a file, not a folder" if out.is_file() else f"results cannot be written there ({getattr(error, 'strerror', None) or error})"
        raise InputError(what, where=str(out), cure="give --out a folder that you can write to") from error
    return out


def write_whole(path: Path, lines: Iterable[str]) -> None:
    """Write a text file whole or not at all, in UTF-8; half surrogates are written as \\udXXX.  Its folder is made if it is absent.

    Raises HebbariumError.
    """
    draft = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.writelines(lines)
        draft.replace(path)
    except OSError as error:
        raise HebbariumError(f"it cannot be written ({error.strerror})", where=str(path),
                             cure="free disk space or make the folder writable, then start again") from error


def write_json(path: Path, data: Any) -> None:
    """Indented JSON."""
    write_whole(path, [json.dumps(data, indent=2, ensure_ascii=False, default=str), "\n"])
