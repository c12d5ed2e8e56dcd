"""Files and folders that hold words of a memory: only their user reads them, and a new one is never
somebody else's file or link.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, Final

PRIVATE: Final = 0o600  # mode of a private file; a stricter umask takes more
SHARED: Final = 0o666  # mode of a file that others may read, as the umask lets them
FOLDER: Final = 0o700
NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
BINARY: Final = getattr(os, "O_BINARY", 0)


def private_folder(path: Path) -> Path:
    """Make a folder, and those above it, where they are absent: for its user alone (0700, less
    under a stricter umask).  A folder that is there keeps its mode.  Raises OSError.
    """
    if not path.is_dir():
        if not path.parent.exists():
            private_folder(path.parent)
        try:
            path.mkdir(FOLDER)
        except FileExistsError:  # or another process was faster
            if not path.is_dir():
                raise
    return path


def private_file(path: Path) -> Path:
    """Make an empty file, for its user alone, where there is none, so that SQLite, which gives its
    journals the mode of the file, opens a file that nobody else reads.  A file that is there keeps
    its mode.  Where no file can be made, SQLite tells why.
    """
    with suppress(OSError):  # at the end of a link, if the path is one
        opened_new(Path(os.path.realpath(path))).close()
    return path


def opened_new(path: Path, mode: int = PRIVATE) -> BinaryIO:
    """A new file, open for writing.  Raises FileExistsError if anything has the name, also a
    link, and OSError.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK | BINARY
    return os.fdopen(os.open(path, flags, mode), "wb")


@contextmanager
def replacing(path: Path, mode: int = PRIVATE) -> Iterator[BinaryIO]:
    """A draft, open for writing, that takes the place of a file when the block ends without an
    error, so that another process sees the whole file or the earlier one.  Raises OSError; then no
    draft is left.
    """
    draft = draft_name(path, "part")
    try:
        with opened_new(draft, mode) as stream:
            yield stream
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def draft_name(path: Path, end: str) -> Path:
    """An unused name in the folder of a file, for its next content: `<name>.<process>-<hex>.<end>`,
    which nobody can foresee.  Drafts of processes of this machine that have ended are removed.
    Cost: O(files in the folder).
    """
    draft = re.compile(
        rf"{re.escape(path.name)}(?:\.(\d+)(?:-[0-9a-f]+)?\.{end})+(?:-journal|-wal|-shm)?"
    )
    with suppress(OSError):
        for beside in path.parent.iterdir():
            if (match := draft.fullmatch(beside.name)) and _has_ended(int(match[1])):
                with suppress(OSError):
                    beside.unlink()
    return path.with_name(f"{path.name}.{os.getpid()}-{token_hex(4)}.{end}")


def _has_ended(process: int) -> bool:
    """Whether no process of this machine has the number; False where the system does not tell."""
    if os.name == "nt":  # there, the signal 0 is one
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False
