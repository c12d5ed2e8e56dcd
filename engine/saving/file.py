"""The SQLite file of a snapshot: opened, locked, checked, written in transactions, and used by
one process alone.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from struct import error as StructError
from struct import pack
from typing import Any, Literal
from urllib.parse import quote
from weakref import finalize

from ..base.errors import ContractError, InputError, SnapshotError
from ..base.forks import SQLITE
from ..base.private import draft_name, opened_new

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows, where no other program can open a locked file
    fcntl = None

# "HebS", SQLite's application id in the header of the file; other programs' databases have another
# one
APPLICATION = 0x48656253
BUSY_SECONDS = 1.0  # wait for a locked file
LEAST = 100  # bytes of the header of a database
# place and value of the ways of writing and reading in the header: with a rollback journal
FORMATS_AT, FORMATS = 18, b"\1\1"
LOCKED_BYTE = 2**62  # far beyond the bytes that SQLite locks
SQLITE_LOCKS = 2**30, 512  # first byte that SQLite locks, and how many
START_ANEW = "restore a copy of it, or start a new memory with another path"
# how much of a transaction is on the disk, and not only with the system, when it has ended
Sync = Literal["OFF", "NORMAL", "FULL"]
CURES = {
    sqlite3.SQLITE_CANTOPEN: "check that its folder exists and can be written to",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable",
    sqlite3.SQLITE_BUSY: "another memory has it open; close that one, or give another path",
    sqlite3.SQLITE_FULL: "free disk space and save again; the file holds what was told until then",
    sqlite3.SQLITE_IOERR: "the disk fails, or the connection to it: check it, then save again or continue with a copy on another disk; "
    "the file holds what was told until then",
}
FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
# bytes; of a new file: pages of the usual 4,096 hold one row each, with a third of their room
# unused
PAGE_SIZE = "PRAGMA page_size = 8192"
# threads beside the one that reads: with one, marks waited for the graph and words, and reading for
# marks
HELPERS = 3
# pages that stay in memory: those of one tick of a large memory, so that none is written before its
# commit
CACHE_KB = 8_000
MOVE_BACK = "if the file was moved, move it back and save again; if it is lost, encode `memory.events` in a new memory with another path"
SETTINGS = (
    "PRAGMA locking_mode = EXCLUSIVE",
    f"PRAGMA cache_size = -{CACHE_KB}",
    "PRAGMA secure_delete = FAST",  # builds differ in what they do by default; an erasure rewrites the file
    "BEGIN EXCLUSIVE",
    "COMMIT",
)


class SnapshotFile:
    """The file, open and locked; it belongs to the process that opened it.

    path      any path, also one named `:memory:` or `file:...`
    is_whole  reads all of the file as it stands, without its journal; whether it holds a whole
              memory

    Raises SnapshotError for a file that is empty, cut off, locked or another program's.
    """

    def __init__(
        self, path: Path, is_whole: Callable[[SnapshotFile], bool] = lambda file: False
    ) -> None:
        self.path, self._process = path, os.getpid()
        self._blob: sqlite3.Blob | None = None  # opened last
        self._unlock: Callable[[], object] = lambda: None
        with ExitStack() as undo, snapshot_errors(path):
            undo.callback(lambda: self._unlock())
            self._place, lock = path.absolute(), None  # the process may change its folder
            if path.is_file():
                if path.stat().st_size < LEAST:
                    raise SnapshotError(
                        f"is damaged: it has {path.stat().st_size} bytes, fewer than any snapshot",
                        where=str(path),
                        cure=f"{START_ANEW}, or delete it if it never held anything",
                    )
                lock = _locked(path)
                if lock is not None:
                    # also if the memory is dropped without being closed
                    self._unlock = finalize(self, _free, lock, self._process)
                    self._drop_needless_journal(lock, is_whole)
            self._connection = connected(path)
            undo.callback(self._connection.close)
            self._opened = self._place.stat()
            for statement in SETTINGS:
                self.execute(statement)
            (application,) = self.execute("PRAGMA application_id").fetchone()
            if application != APPLICATION:
                raise SnapshotError(
                    "is the database of another program, not a snapshot",
                    where=str(path),
                    cure="give another path",
                )
            if self._truncated():
                raise ValueError("it is truncated")
            # SQLite opens a file that names a later way of writing, and then never writes to it.
            if lock is not None and os.pread(lock, 2, FORMATS_AT) != FORMATS:
                raise ValueError("it names another way of writing than snapshots have")
            undo.pop_all()

    def execute(self, statement: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)

    @contextmanager
    def checked(self, schema: frozenset[str]) -> Iterator[ThreadPoolExecutor]:
        """Another thread checks the file meanwhile, and HELPERS further ones work for the block.

        schema  the statements that made the tables

        Raises ValueError for a file whose pages are not those of its tables, each once and in
        order, at the end, whatever else the block raises but a SnapshotError, which ends the check;
        and at once for other tables.  Cost: reads the file once, 0.2 s per 10^9 bytes.
        """
        if {sql for (sql,) in self.execute("SELECT sql FROM sqlite_master")} != schema:
            raise ValueError("its tables are not those of a snapshot")
        with (
            closing(self._unlocked()) as unlocked,
            ThreadPoolExecutor(1) as checking,
            ThreadPoolExecutor(HELPERS) as beside,
        ):
            sound = checking.submit(_require_sound, unlocked)
            try:
                yield beside
            except SnapshotError:
                unlocked.interrupt()
                raise
            except BaseException:
                sound.result()
                raise
            sound.result()

    def _truncated(self) -> bool:
        """SQLite does not notice it if nothing is stored in the last page."""
        (pages,), (size,) = (
            self.execute("PRAGMA page_count").fetchone(),
            self.execute("PRAGMA page_size").fetchone(),
        )
        return bool(self._place.stat().st_size < pages * size)

    def _drop_needless_journal(self, lock: int, is_whole: Callable[[SnapshotFile], bool]) -> None:
        """Remove the journal of a process that was killed, if the file is whole without it.

        SQLite rolls it back into whatever file has the name: a copy that was put there would be
        damaged, or become an earlier memory.  A process that was killed as it saved leaves a file
        that is whole without its journal only if no page or all pages were written.
        """
        journal = Path(f"{os.path.realpath(self._place)}-journal")
        if not journal.is_file():
            return
        with journal.open("rb") as file:
            if file.read(1) in (b"", b"\0"):  # SQLite ignores it
                return
        with (
            closing(self._unlocked()) as self._connection,
            suppress(SnapshotError),
            snapshot_errors(self.path),
        ):
            if is_whole(self) and not self._truncated():
                # if another program has it open, SQLite tells
                with suppress(BlockingIOError, PermissionError), _lock_of_sqlite(lock):
                    journal.unlink()

    def _unlocked(self) -> sqlite3.Connection:
        """A second connection, for reading, which takes no lock and reads no journal: the lock
        of this file keeps others out.
        """
        # bytes, for a name need not be UTF-8
        path = quote(os.fsencode(self._place.as_posix()))
        return sqlite3.connect(
            f"file://{path if path.startswith('/') else f'/{path}'}?immutable=1",
            uri=True,
            check_same_thread=False,
        )

    @contextmanager
    def transaction(self, sync: Sync = "NORMAL") -> Iterator[sqlite3.Connection]:
        """All statements or none, also if the process is killed.

        sync  "NORMAL": after a power cut, too.  "FULL": then it is also sure to be there.  "OFF":
              only for what may be lost or half-written then
        """
        self.require_owner()
        self._require_place()
        self.roll_back()
        # each time, for an interruption can fall between a change and its undoing
        self.execute(f"PRAGMA synchronous = {sync}")
        try:
            self.execute("BEGIN IMMEDIATE")
            yield self._connection
            self.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self.execute("ROLLBACK")
            raise

    def overwrite(self, table: str, column: str, number: int, at: int, data: bytes) -> None:
        """Overwrite bytes of a value, in a transaction: no page is added or moved."""
        self._blob = self._connection.blobopen(table, column, number)
        try:
            self._blob.seek(at)
            self._blob.write(data)
        finally:
            self._blob.close()

    def roll_back(self) -> None:
        """Undo a transaction that an interruption has left open, and close what it has left
        open.
        """
        if self._blob is not None:
            self._blob.close()
        if self._connection.in_transaction:
            self.execute("ROLLBACK")

    @property
    def outdated(self) -> bool:
        """Whether the file may still hold, beside what is saved, what was saved before: until
        `rewrite`, also for later processes.
        """
        return bool(self.execute("PRAGMA user_version").fetchone() != (0,))

    def outdate(self) -> None:
        """Note in the file that it is outdated, in the transaction that makes it so."""
        self.execute("PRAGMA user_version = 1")

    def rewrite(self) -> None:
        """Rewrite the file so that neither it nor its journal holds what it held before."""
        for statement in (
            "PRAGMA synchronous = NORMAL",
            PAGE_SIZE,
            "VACUUM",
            "PRAGMA journal_mode = TRUNCATE",
        ):
            self.execute(statement)
        with self.transaction():
            self.execute("PRAGMA user_version = 0")
        self.execute("PRAGMA journal_mode = DELETE")

    def close(self) -> None:
        """Close the file; in another process than the one that opened it, do nothing."""
        if os.getpid() == self._process:
            with SQLITE:
                self._connection.close()
            self._unlock()

    def require_owner(self) -> None:
        """Raises SnapshotError in another process than the one that opened the file."""
        if os.getpid() != self._process:
            raise SnapshotError(
                f"belongs to the process that opened it, {self._process}; this is process {os.getpid()}, a fork of it",
                where=str(self.path),
                cure="open the file after the fork, in the process that writes it, or a copy of it",
            )

    def _require_place(self) -> None:
        """Raises SnapshotError if the path no longer leads to the file that was opened, for
        nobody would find what is saved there.
        """
        try:
            moved = not os.path.samestat(self._place.stat(), self._opened)
        except (FileNotFoundError, NotADirectoryError):
            raise SnapshotError(
                "was removed while it was open", where=str(self.path), cure=MOVE_BACK
            ) from None
        if moved:
            raise SnapshotError(
                "was replaced by another file while it was open",
                where=str(self.path),
                cure=MOVE_BACK,
            )


def is_there(path: Path) -> bool:
    """Whether the file is there.  Raises SnapshotError for a path that cannot be a file, and
    OSError.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise SnapshotError(
            "cannot be used as a snapshot: it is a link that leads back to itself",
            where=str(path),
            cure="remove the link, or give another path",
        ) from error
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a device, a pipe or a socket"
        raise SnapshotError(
            f"cannot be used as a snapshot: it is {kind}",
            where=str(path),
            cure="give the path of a file, such as one in a folder",
        )
    return True


def _locked(path: Path) -> int | None:
    """A descriptor of the file that holds a lock of its own, which only closing it ends; None where
    the system has none.  Raises SnapshotError.

    SQLite's lock is that of a process: closing any other descriptor of the file in the process ends
    it, so that reading or copying the file would.
    """
    if not hasattr(fcntl, "F_OFD_SETLK"):
        return None
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:  # SQLite tells why
        return None
    until = time.monotonic() + BUSY_SECONDS
    try:
        while True:
            try:
                _set_lock(descriptor, fcntl.F_WRLCK)
                return descriptor
            except OSError as error:
                # a file system without such locks
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    os.close(descriptor)
                    return None
                if time.monotonic() > until:
                    raise SnapshotError(
                        "cannot be used as a snapshot: it is locked",
                        where=str(path),
                        cure=CURES[sqlite3.SQLITE_BUSY],
                    ) from None
            time.sleep(BUSY_SECONDS / 20)
    except BaseException:
        os.close(descriptor)
        raise


def _free(descriptor: int, process: int) -> None:
    """Give up the lock of a process, also for a fork that has inherited the descriptor, and
    close this.
    """
    if os.getpid() == process:
        with suppress(OSError):
            _set_lock(descriptor, fcntl.F_UNLCK)
    os.close(descriptor)


def _set_lock(descriptor: int, kind: int, first: int = LOCKED_BYTE, count: int = 1) -> None:
    """Set or give up the lock of so many bytes of an open file.  Raises OSError."""
    fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, pack("hhqqi4x", kind, os.SEEK_SET, first, count, 0))


@contextmanager
def _lock_of_sqlite(descriptor: int) -> Iterator[None]:
    """Keep programs that use the file through SQLite alone out.  Raises BlockingIOError or
    PermissionError if one has it in use.
    """
    _set_lock(descriptor, fcntl.F_WRLCK, *SQLITE_LOCKS)
    try:
        yield
    finally:
        _set_lock(descriptor, fcntl.F_UNLCK, *SQLITE_LOCKS)


def _require_sound(connection: sqlite3.Connection) -> None:
    """Checks all pages.  Raises ValueError."""
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise ValueError(" ".join(str(verdict).replace("*** in database main ***", "").split()))


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Raise the errors of SQLite and of the file system as SnapshotError with a cure.  Within it no
    other thread forks the process.
    """
    try:
        with SQLITE:
            yield
    except sqlite3.Error as error:
        cure = CURES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, START_ANEW)
        raise SnapshotError(
            f"cannot be used as a snapshot: {error}", where=str(path), cure=cure
        ) from error
    except OSError as error:
        code = (
            sqlite3.SQLITE_FULL
            if error.errno in FULL
            else sqlite3.SQLITE_IOERR
            if error.errno == errno.EIO
            else sqlite3.SQLITE_CANTOPEN
        )
        raise SnapshotError(
            f"cannot be used as a snapshot: {error.strerror}", where=str(path), cure=CURES[code]
        ) from error


@contextmanager
def snapshot_errors(path: Path) -> Iterator[None]:
    """Raise the errors of `disk_errors`, and those of invalid contents, as SnapshotError with a
    cure.
    """
    try:
        with disk_errors(path):
            yield
    except (
        KeyError,
        ValueError,
        TypeError,
        IndexError,
        OverflowError,
        AttributeError,
        StructError,
        InputError,
        ContractError,
    ) as error:
        raise SnapshotError(f"is damaged: {error}", where=str(path), cure=START_ANEW) from error


def connected(path: Path) -> sqlite3.Connection:
    """An SQLite connection to a file.  An absolute path is never read as a URI or as the name of
    a database in memory.
    """
    return sqlite3.connect(
        Path.cwd() / path, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False
    )


def place_new(path: Path, fill: Callable[[sqlite3.Connection], object]) -> None:
    """Make the file with its first content, whole or not at all, for its user alone; a file that
    is there already stays.  Raises OSError and errors of SQLite.
    """
    path = path.resolve()
    new = draft_name(path, "new")
    try:
        opened_new(new).close()
        connection = connected(new)
        try:
            connection.execute(PAGE_SIZE)
            connection.execute("BEGIN EXCLUSIVE")
            fill(connection)
            connection.execute("COMMIT")
        finally:
            connection.close()
        with suppress(FileExistsError):  # another process was faster
            _link(new, path)
    finally:
        new.unlink(missing_ok=True)


def _link(new: Path, path: Path) -> None:
    """Give the file its name.  Raises FileExistsError if the name is taken."""
    try:
        os.link(new, path)
    except (OSError, NotImplementedError):  # a file system without links
        if path.exists():
            raise FileExistsError(str(path)) from None
        new.rename(path)
