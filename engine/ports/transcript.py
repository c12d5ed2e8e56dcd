"""Transcripts: what a language model was asked and replied, in one SQLite file, so that each
request is asked once and runs repeat offline.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from ..base.errors import DataError, HebbariumError, InputError
from ..base.forks import SQLITE
from ..base.private import private_file
from ..text.utf8 import decoded, encoded
from .json_schema import parsed
from .language_model import LanguageModel, NoModel, Reply, Request, Status, metered

Mode = Literal["record", "replay"]

# "HebT", in the header of the file: distinguishes a transcript from other SQLite files
APPLICATION = 0x48656254
FORMAT = 1
# requests asked and stored in one transaction; an interrupted run loses at most one chunk
CHUNK = 32
SQL_KEYS = 500  # keys in one SELECT
BUSY_SECONDS = 60.0
FAILURES = (Status.TIMEOUT, Status.HTTP)
TABLES = (
    "CREATE TABLE meta (id TEXT NOT NULL)",
    "CREATE TABLE replies (model TEXT NOT NULL, revision TEXT NOT NULL, request BLOB NOT NULL, asked TEXT NOT NULL, status TEXT NOT NULL, "
    "text BLOB NOT NULL, prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, PRIMARY KEY (model, revision, request)) WITHOUT ROWID",
)
SELECT = "SELECT request, status, text, prompt_tokens, completion_tokens FROM replies WHERE model = ? AND revision = ?"
CURE_FILE = "check that the folder exists and that the file can be read and written; a damaged transcript cannot be repaired, so restore a copy"


class Transcript:
    """A language model whose replies are kept in a file by (name, revision, SHA-256 of the
    request): each request is asked once, ever.

    model  asked for what the file lacks; in a replay only its name and revision count
    path   the SQLite file; made if it is not there and the mode is `record`
    mode   `record` asks the model for what the file lacks and stores every reply, also one that
           failed; `replay` answers it with the status `none`, asks no model and writes nothing, so
           that what follows depends on the requests and the file alone
    id     16 hexadecimal digits, drawn when the file is made
    identity  for keys of results: in a replay the digest when it was opened, else `recording:` and
              the id, as the file grows

    Many processes may record into one file; every caller gets the reply that was stored first.  A
    file may hold several models.  The file holds the requests, and so the memories that they quote,
    as they are; it holds neither key nor address of a server.

    Errors: DataError for a damaged file, or another program's, and for a replay without a file;
    HebbariumError for a file that cannot be written.
    """

    def __init__(self, model: LanguageModel, path: Path, mode: Mode) -> None:
        self.model, self.path, self.mode = model, Path(path), mode
        self.id = self._make() if mode == "record" else _id(self.path)
        self.identity = self.digest() if mode == "replay" else f"recording:{self.id}"

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def revision(self) -> str:
        return self.model.revision

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """A reply to each request, in order; equal requests are asked once.

        Cost from the file: 0.6 ms a call and 0.04 ms a request; storing takes 0.2 ms a reply.
        Raises HebbariumError.
        """
        keys = [request.digest() for request in requests]
        known_replies = self._stored(keys)
        known = set(known_replies)
        if self.mode == "record":
            missing = list(
                {
                    key: request
                    for key, request in zip(keys, requests, strict=True)
                    if key not in known
                }.items()
            )
            for start in range(0, len(missing), CHUNK):
                some = dict(missing[start : start + CHUNK])
                replies = dict(zip(some, metered(self.model).ask(list(some.values())), strict=True))
                self._store(
                    some,
                    {
                        key: reply
                        for key, reply in replies.items()
                        if reply.status is not Status.NONE
                    },
                )
                known_replies |= replies | self._stored(list(some))
        return [
            replace(known_replies[key], cached=key in known)
            if key in known_replies
            else Reply(Status.NONE)
            for key in keys
        ]

    def digest(self) -> str:
        """SHA-256 over the requests and replies of this model, in order of the requests'
        digests.  O(file).
        """
        total = hashlib.sha256()
        with _opened(self.path) as connection:
            for row in connection.execute(f"{SELECT} ORDER BY request", (self.name, self.revision)):
                for part in row:
                    data = part if isinstance(part, bytes) else str(part).encode()
                    total.update(len(data).to_bytes(8, "little") + data)
        return total.hexdigest()

    def forget_failures(self) -> int:
        """Remove replies with the status timeout or http, so that they are asked again; returns
        their number.  Raises InputError in a replay.
        """
        if self.mode == "replay":
            raise InputError(
                "a replay changes nothing",
                where=str(self.path),
                cure="open the transcript to record",
            )
        with _opened(self.path) as connection, connection:
            return connection.execute(
                "DELETE FROM replies WHERE model = ? AND revision = ? AND status IN (?, ?)",
                (self.name, self.revision, *FAILURES),
            ).rowcount

    def _stored(self, keys: Sequence[bytes]) -> dict[bytes, Reply]:
        """The replies that the file holds.  The data of an ok reply are read from its text
        again.
        """
        rows: list[tuple[Any, ...]] = []
        wanted = list(dict.fromkeys(keys))
        for start in range(0, len(wanted), SQL_KEYS):
            some = wanted[start : start + SQL_KEYS]
            with _opened(self.path) as connection:
                rows += connection.execute(
                    f"{SELECT} AND request IN ({','.join('?' * len(some))})",
                    (self.name, self.revision, *some),
                ).fetchall()
        try:
            return {
                key: _reply(Status(status), text, prompt, completion)
                for key, status, text, prompt, completion in rows
            }
        except ValueError as error:
            raise DataError(
                f"the transcript is damaged ({error})", where=str(self.path), cure=CURE_FILE
            ) from error

    def _store(self, requests: Mapping[bytes, Request], replies: Mapping[bytes, Reply]) -> None:
        """One transaction; a request that another process has stored keeps its reply."""
        rows = [(self.name, self.revision, key, requests[key].canonical(), reply.status.value,
                 encoded(reply.text),
                 reply.prompt_tokens, reply.completion_tokens) for key, reply in replies.items()]  # fmt: skip
        with _opened(self.path) as connection, connection:
            connection.executemany(
                "INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows
            )

    def _make(self) -> str:
        """Make the tables unless the file has them; returns its id."""
        with _opened(self.path, new=True) as connection:
            connection.isolation_level = None
            # one process creates the tables; others wait here
            connection.execute("BEGIN IMMEDIATE")
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in (
                    *TABLES,
                    f"PRAGMA application_id = {APPLICATION}",
                    f"PRAGMA user_version = {FORMAT}",
                ):
                    connection.execute(statement)
                connection.execute("INSERT INTO meta VALUES (?)", (secrets.token_hex(8),))
            connection.execute("COMMIT")
        return _id(self.path)


def recorded_models(path: Path) -> list[tuple[str, str]]:
    """(name, revision) of each model whose replies a transcript holds, sorted.  Raises
    DataError.
    """
    with _opened(path) as connection:
        return [
            (str(name), str(revision))
            for name, revision in connection.execute(
                "SELECT DISTINCT model, revision FROM replies ORDER BY 1, 2"
            )
        ]


def replayed(path: Path, name: str | None = None) -> Transcript:
    """The replay of the one model in a transcript.

    name  of the model, if the file holds several

    No library, key or address is needed.  Raises DataError for a file that cannot be read,
    InputError unless exactly one model is found.
    """
    held = recorded_models(path)
    matching = [model for model in held if name in (None, model[0])]
    if len(matching) != 1:
        there = ", ".join(f"{name} ({revision})" for name, revision in held) or "no model"
        raise InputError(
            f"the transcript does not name the model to replay: it holds {there}",
            where=str(path),
            cure="record each model and server into a transcript of its own"
            if held
            else "record with --llm MODEL first",
        )
    return Transcript(NoModel(*matching[0]), path, "replay")


def _reply(status: Status, text: bytes, prompt_tokens: int, completion_tokens: int) -> Reply:
    written = decoded(text)
    return Reply(
        status,
        parsed(written) if status is Status.OK else None,
        written,
        prompt_tokens,
        completion_tokens,
    )


def _id(path: Path) -> str:
    with _opened(path) as connection:
        return str(connection.execute("SELECT id FROM meta").fetchone()[0])


@contextmanager
def _opened(path: Path, *, new: bool = False) -> Iterator[sqlite3.Connection]:
    """The open file, for one transaction, so that processes, threads and forks can share a
    transcript; SQLite only reads a write-protected file.

    new  whether the file may be empty or absent

    Raises errors of SQLite as HebbariumError with a cure.
    """
    if not new and not path.is_file():
        raise DataError(
            "there is no such transcript",
            where=str(path),
            cure="give the file that a run with --llm MODEL --transcript FILE has made",
        )
    try:
        if new:
            private_file(path)
        with (
            SQLITE,
            closing(
                sqlite3.connect(
                    f"{path.absolute().as_uri()}?mode={'rwc' if new else 'rw'}",
                    uri=True,
                    timeout=BUSY_SECONDS,
                )
            ) as connection,
        ):
            # one state of the file, though another process may be making its tables
            connection.execute("BEGIN")
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            connection.rollback()
            if application != APPLICATION and (application or tables or not new):
                raise DataError("this is no transcript", where=str(path), cure="give another file")
            if version > FORMAT:
                raise DataError(
                    f"the transcript has format {version}; this release reads up to {FORMAT}",
                    where=str(path),
                    cure="update hebbarium",
                )
            yield connection
    except sqlite3.DatabaseError as error:
        damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in (
            sqlite3.SQLITE_CORRUPT,
            sqlite3.SQLITE_NOTADB,
        )
        raise (DataError if damaged else HebbariumError)(
            f"the transcript cannot be used ({error})", where=str(path), cure=CURE_FILE
        ) from error
