"""The language-model port: prompts to JSON that follows a schema.  No mechanism needs a model;
without one every reply has the status `none`.

A reply is data from outside: a hook must check what it says as it checks the text of an event, and
must do without it.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

from ..base.errors import HebbariumError, InputError
from ..base.forks import ForkLock
from .json_schema import checked_schema, fault, parsed

CURE_MODEL = "give openai:<model>, such as openai:gpt-4.1-mini, or an object with name, revision and ask(requests)"
PURPOSE = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Status(StrEnum):
    """What became of a request.

    ok        the reply is JSON that follows the schema
    not_json  the reply is other text, longer than the port reads, or no reply of the interface at
              all
    schema    the reply is JSON that does not follow the schema
    timeout   no whole reply within the time that the port waits
    refused   the model refused, or its provider withheld the reply
    http      the server cannot be reached, or reported an error
    none      there is no model, or a transcript that is replayed has no such request
    """

    OK = "ok"
    NOT_JSON = "not_json"
    SCHEMA = "schema"
    TIMEOUT = "timeout"
    REFUSED = "refused"
    HTTP = "http"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Request:
    """A question to a language model.

    purpose      name of the task and its schema, 1 to 64 of A-Z a-z 0-9 _ -
    system       instructions
    prompt       what they are about
    schema       of the reply, see `engine.ports.json_schema`: an object, all properties required,
                 no others
    most_tokens  of the reply

    Errors: InputError.

    >>> answer = {"type": "object", "properties": {"same": {"type": "boolean"}}, "required": ["same"], "additionalProperties": False}
    >>> Request("restatement", "Do both texts say the same?", "1. I am ill.  2. I feel sick.", answer, 20).digest().hex()[:8]
    '2a356d01'
    """

    purpose: str
    system: str
    prompt: str
    schema: Mapping[str, Any]
    most_tokens: int

    def __post_init__(self) -> None:
        if not all(
            isinstance(text, str) for text in (self.purpose, self.system, self.prompt)
        ) or not PURPOSE.fullmatch(self.purpose):
            raise InputError(
                f"a request has no purpose, system and prompt that are texts: {self.purpose!r}",
                where="language model",
                cure="give a purpose of 1 to 64 letters, digits, _ and -",
            )
        if (
            not isinstance(self.most_tokens, int)
            or isinstance(self.most_tokens, bool)
            or self.most_tokens < 1
        ):
            raise InputError(
                f"most_tokens is {self.most_tokens!r}",
                where=f"language model, {self.purpose}",
                cure="give a whole number from 1",
            )
        checked_schema(self.schema)

    def canonical(self) -> str:
        """JSON of all fields with sorted keys, ASCII."""
        return json.dumps(
            {name: getattr(self, name) for name in self.__dataclass_fields__},
            sort_keys=True,
            separators=(",", ":"),
            default=dict,
        )

    def digest(self) -> bytes:
        """SHA-256 of `canonical`."""
        return hashlib.sha256(self.canonical().encode("ascii")).digest()


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a request.

    data    the JSON object that follows the schema; None unless the status is ok
    text    what the model wrote; for `timeout` and `http` the kind of error, never a message of the
            server
    prompt_tokens, completion_tokens  as the server counts them; 0 if it does not say
    cached  whether no model was asked for it now; replies are equal without it
    """

    status: Status
    data: Any = None
    text: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached: bool = field(default=False, compare=False)

    @classmethod
    def read(
        cls, request: Request, text: str, prompt_tokens: int = 0, completion_tokens: int = 0
    ) -> Reply:
        """The reply in a model's text: ok, not_json or schema."""
        try:
            data = parsed(text)
        except ValueError:
            return cls(Status.NOT_JSON, None, text, prompt_tokens, completion_tokens)
        odd = fault(data, request.schema)
        return cls(
            Status.SCHEMA if odd else Status.OK,
            None if odd else data,
            text,
            prompt_tokens,
            completion_tokens,
        )


class LanguageModel(Protocol):
    """Answers requests.  Equal (name, revision) should mean equal replies; only a transcript
    makes sure of it.
    """

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...

    def ask(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """A reply to each request, in the order of the requests.  Raises nothing because of a
        model, a server or a reply.
        """
        ...


@dataclass(frozen=True, slots=True)
class NoModel:
    """No model: every reply has the status `none`.

    >>> NoModel().name
    'none'
    """

    name: str = "none"
    revision: str = ""

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        return [Reply(Status.NONE)] * len(requests)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a language model was asked; the tokens of a cached reply are those of the request that
    the model answered.

    >>> Usage(3, 1, 0, 90, 20) - Usage(1, 1, 0, 30, 5)
    Usage(requests=2, cached=0, failed=0, prompt_tokens=60, completion_tokens=15)
    """

    requests: int = 0
    cached: int = 0
    failed: int = 0  # status neither ok nor none
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Usage) -> Usage:
        return Usage(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def named(self) -> dict[str, int]:
        return asdict(self)


class MeteredLanguageModel:
    """A language model as hooks see it: requests and time are counted, and every reply is what a
    reply must be.

    If a model raises, or does not return one reply for each request, every reply has the status
    `http`; the text of a reply that claims to be ok is read and checked again.  HebbariumError is
    raised on: it is an error of a file that the user named.  Calls of several threads run one at a
    time.

    usage    since the memory was made
    seconds  s, wall time in `ask`
    """

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.usage, self.seconds = Usage(), 0.0
        self._turn = ForkLock("this language model")

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def revision(self) -> str:
        return self.model.revision

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """A reply to each request, in order; [] for none.  Raises HebbariumError for a
        transcript that cannot be read or written.
        """
        if not requests:
            return []
        with self._turn.lock:
            start = time.perf_counter()
            try:
                replies = self._asked(list(requests))
            finally:
                self.seconds += time.perf_counter() - start
            failed = sum(reply.status not in (Status.OK, Status.NONE) for reply in replies)
            self.usage += Usage(
                len(replies),
                sum(reply.cached for reply in replies),
                failed,
                sum(reply.prompt_tokens for reply in replies),
                sum(reply.completion_tokens for reply in replies),
            )
        return replies

    @contextmanager
    def silent(self) -> Iterator[None]:
        """No model is asked meanwhile, and nothing is counted."""
        model, usage = self.model, self.usage
        self.model = NoModel()
        try:
            yield
        finally:
            self.model, self.usage = model, usage

    def _asked(self, requests: list[Request]) -> list[Reply]:
        try:
            replies = list(self.model.ask(requests))
            return [
                _checked(request, reply) for request, reply in zip(requests, replies, strict=True)
            ]
        except HebbariumError:
            raise
        except Exception as error:  # a user's own model can raise and return anything
            return [Reply(Status.HTTP, text=type(error).__name__)] * len(requests)


def metered(model: LanguageModel | None) -> MeteredLanguageModel:
    """The model, counted and timed; None is NoModel, and a metered model is returned as it
    is.  Raises InputError for an object that is no model.
    """
    return (
        model
        if isinstance(model, MeteredLanguageModel)
        else MeteredLanguageModel(NoModel() if model is None else checked_language_model(model))
    )


def checked_language_model(model: LanguageModel) -> LanguageModel:
    """The model.  Raises InputError unless it has a name and a revision that are texts, and a
    method `ask`.
    """
    if not all(
        isinstance(getattr(model, name, None), str) for name in ("name", "revision")
    ) or not callable(getattr(model, "ask", None)):
        raise InputError(
            f"{type(model).__name__} is no language model", where="language model", cure=CURE_MODEL
        )
    return model


def described(model: LanguageModel | None) -> dict[str, str]:
    """What identifies a model in manifests, ledgers and snapshots: `language_model`,
    `language_model_revision` and `transcript`; "" without one.

    >>> described(None)
    {'language_model': '', 'language_model_revision': '', 'transcript': ''}
    """
    inner = model.model if isinstance(model, MeteredLanguageModel) else model
    if inner is None or inner == NoModel():
        return {"language_model": "", "language_model_revision": "", "transcript": ""}
    return {
        "language_model": inner.name,
        "language_model_revision": inner.revision,
        "transcript": str(getattr(inner, "identity", "")),
    }


def _checked(request: Request, reply: Reply) -> Reply:
    """The reply, with data if it is ok and its text follows the schema, else without; an ok
    reply without a text has that of its data.
    """
    if reply.status is not Status.OK:
        return reply if reply.data is None else replace(reply, data=None)
    read = Reply.read(
        request, reply.text or json.dumps(reply.data), reply.prompt_tokens, reply.completion_tokens
    )
    return replace(read, cached=reply.cached)
