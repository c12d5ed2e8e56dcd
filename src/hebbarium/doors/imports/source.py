"""The files of an export: one file, a folder, or a zip archive, which is read as it is.

Nothing is unpacked, no link is followed, and no path that stands inside a file is opened.
"""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final, TextIO

from ...engine.base.errors import DataError

HEAD: Final = 65_536  # bytes by which a file is recognised
FILES: Final = 100_000
Progress = Callable[[int, int], None]


class Export:
    """An export.

    path      of the file, folder or archive
    names     of its files, relative, sorted
    progress  called as progress(bytes read, bytes of the files that are read)

    Raises DataError for a path that is not there, and for a damaged archive.
    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path, self._progress = path, progress or (lambda done, total: None)
        self._archive: zipfile.ZipFile | None = None
        self._read, self.expected = 0, 0
        try:
            self.modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            self.names = self._listed()
        except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
            raise DataError(
                f"it cannot be read ({getattr(error, 'strerror', None) or error})",
                where=str(path),
                cure="give the file, folder or zip archive of an export",
            ) from error

    def _listed(self) -> list[str]:
        if self.path.is_dir():
            names = []
            for folder, _, files in os.walk(self.path, followlinks=False):
                for name in files:
                    file = Path(folder) / name
                    if file.is_file() and not file.is_symlink():
                        names.append(file.relative_to(self.path).as_posix())
                if len(names) > FILES:
                    raise ValueError(f"more than {FILES:,} files")
            return sorted(names)
        if zipfile.is_zipfile(self.path):
            self._archive = zipfile.ZipFile(self.path)
            names = [info.filename for info in self._archive.infolist() if not info.is_dir()]
            if len(names) > FILES:
                raise ValueError(f"more than {FILES:,} files")
            return sorted(name for name in set(names) if not name.startswith("__MACOSX/"))
        if not self.path.is_file():
            raise ValueError("it is no file and no folder")
        return [self.path.name]

    def size(self, name: str) -> int:
        """Bytes of a file."""
        if self._archive:
            return self._archive.getinfo(name).file_size
        return self._file(name).stat().st_size

    def _file(self, name: str) -> Path:
        return self.path / name if self.path.is_dir() else self.path

    def head(self, name: str) -> tuple[bytes, bool]:
        """The first 64 kB of a file, and whether that is all of it."""
        with self._opened(name) as file:
            head = file.read(HEAD)
            return head, not file.read(1)

    @contextmanager
    def binary(self, name: str) -> Iterator[BinaryIO]:
        """A file, opened for reading; what is read counts as progress."""
        with self._opened(name) as file:
            yield io.BufferedReader(_Counted(file, self._count), 1 << 18)

    @contextmanager
    def text(self, name: str) -> Iterator[TextIO]:
        """A file as text: UTF-8, or UTF-16 if its first bytes say so.  Bytes that are not in the
        encoding become U+FFFD.
        """
        head, _ = self.head(name)
        encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        with self.binary(name) as file:
            yield io.TextIOWrapper(file, encoding, errors="replace", newline="")

    @contextmanager
    def _opened(self, name: str) -> Iterator[BinaryIO]:
        try:
            with self._archive.open(name) if self._archive else self._file(name).open("rb") as file:
                yield file  # type: ignore[misc]
        except (OSError, zipfile.BadZipFile, zlib.error, RuntimeError, EOFError) as error:
            raise DataError(
                f"it cannot be read ({getattr(error, 'strerror', None) or error})",
                where=f"{self.path}, {name}",
                cure="export it again; an archive with a password has to be unpacked first",
            ) from error

    def _count(self, read: int) -> None:
        self._read += read
        self._progress(min(self._read, self.expected), self.expected)

    def close(self) -> None:
        if self._archive:
            self._archive.close()


class _Counted(io.RawIOBase):
    """A file whose reads are counted."""

    def __init__(self, file: BinaryIO, count: Callable[[int], None]) -> None:
        self._file, self._count = file, count

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        read = self._file.read(len(buffer))
        buffer[: len(read)] = read
        self._count(len(read))
        return len(read)
