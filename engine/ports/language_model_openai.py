"""Language models of a server with OpenAI's interface: an extra, `pip install 'hebbarium[llm]'`.

The library reads key and address from the environment, OPENAI_API_KEY and OPENAI_BASE_URL.
Prompts, which quote memories, are sent to the server.
"""

from __future__ import annotations

import importlib.util
import json
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..base.errors import HebbariumError
from .language_model import Reply, Request, Status
from .openai_compatible import CURE_SERVER, server_revision

MOST_BYTES = 1_000_000  # read of a reply
CURE_KEY = f"{CURE_SERVER}; a server of your own that needs no key takes any text as OPENAI_API_KEY"


class OpenAICompatibleModel:
    """A chat model of such a server, asked with a strict JSON schema at temperature 0, each request
    once, without retries.

    at_once  most requests that are under way at the same time
    seconds  the longest wait for a reply, s: for the connection, for each part of the body, and for
             the whole body

    The revision is a digest of the server's address; the server does not state a revision of the
    model.  Redirections are not followed.  At most 10^6 bytes of a reply are read.  Key and address
    are kept in no file, and the key is struck out of replies that quote it.

    Errors: none for a request that fails; `require` raises HebbariumError before the first one.
    """

    def __init__(self, model: str, *, at_once: int = 4, seconds: float = 60.0) -> None:
        self.model, self.name, self.at_once, self.seconds = (
            model,
            f"openai:{model}",
            at_once,
            seconds,
        )
        self._client: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_client": None}

    @property
    def revision(self) -> str:
        """`server-` and 8 hexadecimal digits of the server's address."""
        return server_revision()

    def require(self) -> None:
        """Raises HebbariumError without the extra or without a key; nothing is sent."""
        if not _installed():
            raise HebbariumError(
                "the library openai is not installed",
                where=self.name,
                cure="pip install 'hebbarium[llm]'",
            )
        if not os.environ.get("OPENAI_API_KEY"):
            raise HebbariumError("there is no key for the server", where=self.name, cure=CURE_KEY)

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """A reply to each request, in order; `at_once` of them are under way at the same time."""
        if not requests:
            return []
        try:
            client = self._opened()
        except Exception as error:  # any error of the library
            return [Reply(Status.HTTP, text=type(error).__name__)] * len(requests)
        with ThreadPoolExecutor(min(self.at_once, len(requests))) as pool:
            return list(pool.map(lambda request: self._reply(client, request), requests))

    def _opened(self) -> Any:
        if self._client is None:
            from openai import DefaultHttpxClient, OpenAI

            self._client = OpenAI(
                max_retries=0,
                timeout=self.seconds,
                http_client=DefaultHttpxClient(event_hooks={"response": [_only_success]}),
            )
        return self._client

    def _reply(self, client: Any, request: Request) -> Reply:
        form = {
            "name": request.purpose,
            "schema": json.loads(json.dumps(request.schema, default=dict)),
            "strict": True,
        }
        try:
            with client.chat.completions.with_streaming_response.create(
                model=self.model,
                temperature=0,
                max_tokens=request.most_tokens,
                timeout=self.seconds,
                messages=[
                    {"role": "system", "content": _sendable(request.system)},
                    {"role": "user", "content": _sendable(request.prompt)},
                ],
                response_format={"type": "json_schema", "json_schema": form},
            ) as response:
                body = self._body(response)
        except Exception as error:  # any error of the library, the network or the server
            return _failed(error)
        return _read(request, _without_key(body, str(client.api_key)))

    def _body(self, response: Any) -> bytes:
        """At most MOST_BYTES + 1 of the body.  Raises TimeoutError."""
        deadline = time.monotonic() + self.seconds
        body: bytes = b""
        for part in response.iter_bytes():  # as they come in
            body += part
            if len(body) > MOST_BYTES:
                return body[: MOST_BYTES + 1]
            if time.monotonic() > deadline:
                raise TimeoutError
        return body


class _ServerStatus(Exception):
    """The server answered with another status than success; its body, which could have any size,
    is not read.
    """


def _only_success(response: Any) -> None:
    if not 200 <= response.status_code < 300:
        raise _ServerStatus(str(response.status_code))


def _failed(error: Exception) -> Reply:
    """`timeout` or `http`, with the name of the error, or the number of the server's status."""
    causes: list[BaseException] = [error]
    while (cause := causes[-1].__cause__) is not None:
        causes.append(cause)
    status = next((str(raised) for raised in causes if isinstance(raised, _ServerStatus)), "")
    late = any("Timeout" in kind.__name__ for raised in causes for kind in type(raised).__mro__)
    return Reply(Status.TIMEOUT if late else Status.HTTP, text=status or type(error).__name__)


def _read(request: Request, body: bytes) -> Reply:
    """The reply in a body of the interface."""
    try:
        if len(body) > MOST_BYTES:
            raise ValueError("the body is too long")
        reply = json.loads(body)
        choice, used = reply["choices"][0], reply.get("usage") or {}
        message, spent = (
            choice["message"],
            (_count(used.get("prompt_tokens")), _count(used.get("completion_tokens"))),
        )
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            return Reply(Status.REFUSED, None, str(message.get("refusal") or ""), *spent)
        text = message["content"]
        if not isinstance(text, str):
            raise ValueError("there is no text")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return Reply(Status.NOT_JSON)
    return Reply.read(request, text, *spent)


def _without_key(body: bytes, key: str) -> bytes:
    """The body with *** for the key, if a server quotes it; a text of fewer than 16 characters
    is no key but a word for a server without keys.
    """
    return body.replace(key.encode(), b"***") if len(key) >= 16 else body


def _count(value: Any) -> int:
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
        else 0
    )


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _installed() -> bool:
    try:
        return importlib.util.find_spec("openai") is not None
    except ValueError:  # a module without a specification, such as None
        return False
