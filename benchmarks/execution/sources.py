"""Where a worker finds the conversation of its cells: a reference to the data, or the
conversation itself where nothing can be referred to.
"""

from __future__ import annotations

import hashlib
import pickle
import socket
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import cast

from ...engine.base.errors import DataError
from ..datasets import Conversation, Dataset, Unit, load
from .missing import pack


@dataclass(frozen=True)
class Held:
    """A conversation of this process."""

    conversation: Conversation

    def loaded(self) -> Conversation:
        return self.conversation


@dataclass(frozen=True, slots=True)
class Sent:
    """A pickled conversation; one of a file holds no events, but their place in the file and a
    digest of them.
    """

    packed: bytes

    @classmethod
    def of(cls, conversation: Conversation) -> Sent:
        return cls(pack(conversation))

    def loaded(self) -> Conversation:
        """The conversation with its events; a worker keeps the last one."""
        return _unpacked(self.packed)


@dataclass(frozen=True, slots=True)
class ConversationReference:
    """A conversation of a data set that every worker can load.

    form, path, unit, limit, allow_missing_gold  as `datasets.load` takes them
    sha256        of the data
    conversation  its id
    mark          of its questions and the number of its events
    """

    form: str
    path: str
    sha256: str
    unit: Unit
    limit: int | None
    allow_missing_gold: bool
    conversation: str
    mark: str

    @classmethod
    def of(
        cls, conversation: Conversation, data: Dataset, unit: Unit, allow_missing_gold: bool
    ) -> ConversationReference:
        return cls(
            data.form,
            data.path,
            data.sha256,
            unit,
            data.limit,
            allow_missing_gold,
            conversation.id,
            _mark(conversation),
        )

    def loaded(self) -> Conversation:
        """The conversation with its events; a worker keeps the last one.  Raises DataError if
        the data are not here, or are others.
        """
        return _loaded(self)

    def checked(self) -> Conversation:
        """The conversation, whose events are read when they are iterated.  Raises DataError as
        `loaded`, which names this machine.
        """
        where = f"{self.path or self.form} on {socket.gethostname()}"
        try:
            data = _data(self.form, self.path, self.unit, self.limit, self.allow_missing_gold)
        except DataError as error:
            raise DataError(
                f"a worker cannot read the data: {error.what}", where=where, cure=CURE
            ) from error
        known = next(
            (
                conversation
                for conversation in data.conversations
                if conversation.id == self.conversation
            ),
            None,
        )
        if data.sha256 != self.sha256:
            _data.cache_clear()
            raise DataError(
                f"the data of a worker are others: their SHA-256 is {data.sha256}, expected is {self.sha256}",
                where=where,
                cure=CURE,
            )
        if known is None or _mark(known) != self.mark:
            raise DataError(
                f"the data of a worker hold another conversation {self.conversation!r}",
                where=where,
                cure=CURE,
            )
        return known


Source = Held | Sent | ConversationReference
CURE = (
    "make the same file readable under the same path on every worker, for instance on a shared disk"
)


def _mark(conversation: Conversation) -> str:
    return hashlib.blake2b(
        repr((conversation.id, len(conversation.events), conversation.questions)).encode(
            "utf-8", "backslashreplace"
        ),
        digest_size=16,
    ).hexdigest()


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> Conversation:
    return cast(Conversation, pickle.loads(packed)).held()


@lru_cache(maxsize=1)
def _loaded(reference: ConversationReference) -> Conversation:
    return reference.checked().held()


@lru_cache(maxsize=1)
def _data(form: str, path: str, unit: Unit, limit: int | None, allow_missing_gold: bool) -> Dataset:
    """The data set without events, which a worker keeps; a file that has changed since is
    noticed when events are read.
    """
    return load(
        form,
        Path(path) if path else None,
        unit=unit,
        limit=limit,
        allow_missing_gold=allow_missing_gold,
    )
