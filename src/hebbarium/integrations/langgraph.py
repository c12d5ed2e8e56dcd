"""A memory as a store of LangGraph and as a retriever of LangChain."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import RLock
from typing import Any, Final

from ..doors.calls import told
from ..engine.base.errors import HebbariumError, InputError
from ..engine.base.times import moment
from ..engine.contract.records import Event, Only, Query
from ..engine.memory.engine import Engine

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
    )
except ImportError as error:
    raise HebbariumError(
        f"a package of LangGraph is missing ({error})",
        where="hebbarium.integrations.langgraph",
        cure="pip install 'hebbarium[langgraph]'",
    ) from error

ITEM: Final = "langgraph item"  # attribute: namespace, key, value and first time of an item
NAME: Final = "langgraph name"  # attribute: namespace and key, which all versions of an item share
UNDER: Final = "langgraph under"  # attribute: each namespace that the item lies under
Namespace = tuple[str, ...]


@dataclass(slots=True)
class _HeldItem:
    """An item, and the row of its present version; -1: a gate of the set refused it."""

    value: dict[str, Any]
    created: datetime
    updated: datetime
    searched: bool
    row: int


class MemoryStore(BaseStore):
    """A store whose items are events of a memory, so that a search is a question to it.

    memory  may also hold events that are no items; they are never found by the store

    A value that is put again is a new event, and the one before is archived: its text stays in the
    history of the memory.  A deleted item is erased, with all its versions.  With `index=False` an
    item is found by its key and by filters alone; lists of fields are taken as all fields.  Items
    have no time to live.  The order of a search is that of the memory's answer, and `score` its
    score: it compares items of one search.
    """

    supports_ttl = False

    def __init__(self, memory: Engine) -> None:
        self.memory = memory
        self._lock = RLock()
        self._items: dict[tuple[Namespace, str], _HeldItem] = {}
        for event, row in told(memory):
            if written := event.get(ITEM):
                self._enter(json.loads(written), event, row)

    def _enter(self, written: Mapping[str, Any], event: Event, row: int) -> None:
        self._items[tuple(written["namespace"]), written["key"]] = _HeldItem(
            written["value"],
            datetime.fromisoformat(written["created"]),
            moment(event.time).astimezone(UTC),
            written["searched"],
            row,
        )

    # --- operations -------------------------------------------------------------------------------
    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The results of some operations; those that put come last, and of two that put one item
        the later one counts, as in LangGraph's own stores.
        """
        with self._lock:
            results: list[Result] = []
            puts: dict[tuple[Namespace, str], PutOp] = {}
            for op in ops:
                if isinstance(op, GetOp):
                    results.append(self._got(op.namespace, op.key))
                elif isinstance(op, SearchOp):
                    results.append(self._found(op))
                elif isinstance(op, ListNamespacesOp):
                    results.append(self._namespaces(op))
                elif isinstance(op, PutOp):
                    puts[op.namespace, op.key] = op
                    results.append(None)
                else:
                    raise InputError(
                        f"{type(op).__name__} is no operation of a store", where="batch",
                        cure="give GetOp, SearchOp, PutOp or ListNamespacesOp",
                    )  # fmt: skip
            for put in puts.values():
                self._put(put)
            return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _got(self, namespace: Namespace, key: str) -> Item | None:
        held = self._items.get((tuple(namespace), key))
        return None if held is None else Item(**_fields(tuple(namespace), key, held))

    def _put(self, op: PutOp) -> None:
        name = tuple(op.namespace), op.key
        held = self._items.get(name)
        shared = NAME, _path((*op.namespace, op.key))
        if op.value is None:
            if held:
                self.memory.erase(Only(attributes=(shared,)), confirm=True)
                del self._items[name]
            return
        now = datetime.now(UTC)
        written = {
            "namespace": list(op.namespace),
            "key": op.key,
            "value": _plain(op.value),
            "created": (held.created if held else now).isoformat(),
            "searched": op.index is not False,
        }
        under = [(UNDER, _path(op.namespace[:n])) for n in range(len(op.namespace) + 1)]
        text = _text(written["value"]) if written["searched"] else ""
        attributes = [(ITEM, json.dumps(written)), shared,
                      *(under if written["searched"] else ())]  # fmt: skip
        event = Event.at(now, text or op.key, session="/".join(op.namespace),
                         attributes=attributes)  # fmt: skip
        stored = self.memory.encode(event, confirm=True)
        if held and held.row >= 0:
            self.memory.archive(held.row)
        self._enter(written, event, int(stored))

    def _found(self, op: SearchOp) -> list[SearchItem]:
        prefix = tuple(op.namespace_prefix)
        chosen = {
            name: held
            for name, held in self._items.items()
            if name[0][: len(prefix)] == prefix and _meets(held.value, op.filter or {})
        }
        scores: dict[tuple[Namespace, str], float | None] = {}
        if op.query:
            by_row = {held.row: name for name, held in chosen.items() if held.searched}
            only = Only(attributes=((UNDER, _path(prefix)),))
            answer = self.memory.retrieve(Query(op.query, only=only), max(1, len(self._items)))
            for row, score in zip(answer.rows.tolist(), answer.scores.tolist(), strict=True):
                if row in by_row:
                    scores[by_row[row]] = float(score)
        scores |= {name: None for name in chosen if name not in scores}
        page = list(scores.items())[op.offset : op.offset + op.limit]
        return [SearchItem(**_fields(*name, chosen[name]), score=score) for name, score in page]

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        listed = {namespace for namespace, _ in self._items}
        for condition in op.match_conditions or ():
            listed = {n for n in listed if _matches(condition.match_type, condition.path, n)}
        if op.max_depth is not None:
            listed = {namespace[: op.max_depth] for namespace in listed}
        return sorted(listed)[op.offset : op.offset + op.limit]


def _fields(namespace: Namespace, key: str, held: _HeldItem) -> dict[str, Any]:
    return {"value": dict(held.value), "key": key, "namespace": namespace,
            "created_at": held.created, "updated_at": held.updated}  # fmt: skip


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """The value as JSON has it.  Raises InputError for what JSON cannot hold."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(value), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the value cannot be kept: {error}", where="put",
            cure="give an object of texts, numbers, lists and objects"
        ) from error  # fmt: skip
    return plain


def _path(namespace: Iterable[str]) -> str:
    return json.dumps(list(namespace), ensure_ascii=False)


def _text(value: Any) -> str:
    """The texts and numbers of a value, a line each, with the names of their fields."""
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {_text(part)}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return value if isinstance(value, str) else json.dumps(value)


def _matches(kind: str, path: Iterable[str], namespace: Namespace) -> bool:
    wanted = tuple(path)
    if len(namespace) < len(wanted):
        return False
    part = namespace[: len(wanted)] if kind == "prefix" else namespace[-len(wanted) :]
    return not wanted or all(w in ("*", n) for w, n in zip(wanted, part, strict=True))


COMPARED: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$eq": lambda value, other: value == other,
    "$ne": lambda value, other: value != other,
    "$gt": lambda value, other: float(value) > float(other),
    "$gte": lambda value, other: float(value) >= float(other),
    "$lt": lambda value, other: float(value) < float(other),
    "$lte": lambda value, other: float(value) <= float(other),
}


def _meets(value: Mapping[str, Any], conditions: Mapping[str, Any]) -> bool:
    """Whether the fields of a value meet all conditions.  Raises InputError for an operator that
    LangGraph does not have.
    """
    return all(_equals(value.get(name), wanted) for name, wanted in conditions.items())


def _equals(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping) and any(key.startswith("$") for key in wanted):
        if unknown := set(wanted) - set(COMPARED):
            raise InputError(f"there is no operator {sorted(unknown)[0]!r}", where="filter",
                             cure=f"use one of {', '.join(COMPARED)}")  # fmt: skip
        try:
            return all(COMPARED[name](value, other) for name, other in wanted.items())
        except (TypeError, ValueError):  # no number
            return False
    if isinstance(wanted, Mapping):
        return isinstance(value, Mapping) and _meets(value, wanted)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(wanted)
            and all(map(_equals, value, wanted))
        )
    return bool(value == wanted)


class MemoryRetriever(BaseRetriever):
    """A retriever of LangChain whose documents are the best memories for a question.

    memory  as `hebbarium.memory` makes it
    k       most documents

    The metadata of a document are row, id, time, speaker, session and score.  A call may ask for
    another number of documents: `retriever.invoke(question, k=3)`.
    """

    memory: Any
    k: int = 10

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return [
            Document(
                page_content=hit.text,
                metadata={"row": hit.row, "id": hit.id, "time": hit.local.isoformat(),
                          "speaker": hit.speaker, "session": hit.session, "score": hit.score},
            )
            for hit in self.memory.retrieve(query, self.k if k is None else k)
        ]  # fmt: skip
