"""A memory as a retriever of LlamaIndex, and as a block of its `Memory`."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any, Final

from ..doors import calls
from ..engine.base.errors import HebbariumError
from ..engine.contract.records import Event
from ..engine.memory.engine import Engine

try:
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise HebbariumError(
        f"a package of LlamaIndex is missing ({error})",
        where="hebbarium.integrations.llamaindex",
        cure="pip install 'hebbarium[llamaindex]'",
    ) from error

BLOCK: Final = "long_term_memory"  # name of the block, which becomes a tag in the prompt


class NodeRetriever(BaseRetriever):
    """A retriever whose nodes are the best memories for a question.

    memory   as `hebbarium.memory` makes it
    k        most nodes
    options  of LlamaIndex's own retriever, such as `callback_manager`

    A node has the text as it was told; its metadata are row, id, time, speaker and session.
    """

    def __init__(self, memory: Engine, k: int = 10, **options: Any) -> None:
        super().__init__(**options)
        self.memory = memory
        self.k = k

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(
                node=TextNode(
                    id_=f"memory {hit.row}",
                    text=hit.text,
                    metadata={"row": hit.row, "id": hit.id, "time": hit.local.isoformat(),
                              "speaker": hit.speaker, "session": hit.session},
                ),
                score=hit.score,
            )
            for hit in self.memory.retrieve(query_bundle.query_str, self.k)
        ]  # fmt: skip

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class MemoryBlock(BaseMemoryBlock[str]):
    """A block of LlamaIndex's `Memory`: it is told the messages that leave the short-term memory,
    and gives the context for what the user said last.

    memory  as `hebbarium.memory` makes it
    tokens  most that the context takes, as the memory counts them

    `Memory.from_defaults(memory_blocks=[MemoryBlock(memory=memory)])`.  Messages of all sessions
    are found.  A message without a text is left out.  LlamaIndex drops the block whole if there
    is no room for it and its `priority` is above 0.
    """

    name: str = BLOCK
    memory: Any
    tokens: int = 1_000

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        asked = [message for message in messages or () if message.role == "user"]
        question = (asked[-1].content or "").strip() if asked else ""
        if not question:
            return ""
        made = await asyncio.to_thread(calls.context, self.memory, question, self.tokens)
        return str(made["text"])

    async def _aput(self, messages: list[ChatMessage]) -> None:
        now = datetime.now(UTC)
        events = [
            Event.at(
                now,
                message.content,
                speaker=message.role.value,
                session=str(message.additional_kwargs.get("session_id") or ""),
                attributes={"role": message.role.value},
            )
            for message in messages
            if (message.content or "").strip()
        ]
        await asyncio.to_thread(self.memory.encode_all, events, confirm=True)
