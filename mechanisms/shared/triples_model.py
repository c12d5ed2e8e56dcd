"""Triples of a text by a language model, and which of them a question is about: prompts of ours,
described from HippoRAG (open information extraction, and the filter that its second paper calls
recognition memory).

A reply is data from outside: names that are no words, long ones and triples of one name are left
out, and triples that were not offered cannot be kept.  Texts stand in a prompt as data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from ...engine.ports.language_model import Reply, Request, Status
from ...engine.text.features import fold, terms_of
from .prompts import DATA, TEXT, WHOLE, list_of, message, numbered, object_of, quoted

MOST_TRIPLES: Final = 16  # of one text
LONGEST_NAME: Final = 80  # characters of a name or of a relation
SHOWN: Final = 4000  # characters of a text in a prompt
TRIPLES_TOKENS: Final = 800
KEPT_TOKENS: Final = 60
OFFERED: Final = 5  # triples among which the filter chooses
BETWEEN: Final = " · "

_TRIPLE: Final = object_of(subject=TEXT, relation=TEXT, object=TEXT)
TRIPLES: Final = object_of(triples=list_of(_TRIPLE, maxItems=MOST_TRIPLES))
KEPT: Final = object_of(numbers=list_of(WHOLE, maxItems=OFFERED))
EXTRACT: Final = f"""You see one message of a conversation and who said it.  List the facts that it states as triples of subject, relation and
object.  Subject and object are short names of people, places, things or dates; put the speaker's name for "I" and names for pronouns
where the message tells them.  Leave out questions, wishes and greetings.
{DATA}"""
FILTER: Final = f"""You see a question and numbered facts.  Give the numbers of the facts that help to answer it, the most helpful first;
none if no fact helps.
{DATA}"""

Triple = tuple[str, str, str]


def triples_request(speaker: str, text: str) -> Request:
    """The request for the triples of a message.

    >>> print(triples_request("Ada", "I live in Oslo.").prompt)
    SAID BY "Ada"
    MESSAGE "I live in Oslo."
    """
    return Request("triples", EXTRACT, message(speaker, text, SHOWN), TRIPLES, TRIPLES_TOKENS)


def triples_of(reply: Reply) -> list[Triple]:
    """The sound triples of a reply in normal form, each once; none unless the reply is ok.

    >>> told = [{"subject": "Ada", "relation": "Lives in", "object": "Oslo"}, {"subject": "?", "relation": "is", "object": "Oslo"}]
    >>> triples_of(Reply(Status.OK, {"triples": told})), triples_of(Reply(Status.NONE))
    ([('ada', 'lives in', 'oslo')], [])
    """
    if reply.status is not Status.OK:
        return []
    given = (
        (_name(t["subject"]), _name(t["relation"]), _name(t["object"]))
        for t in reply.data["triples"][:MOST_TRIPLES]
    )
    return [t for t in dict.fromkeys(given) if all(t) and t[0] != t[2]]


def _name(raw: Any) -> str:
    """A name in normal form; "" for what is none."""
    name = " ".join(fold(raw).split()) if len(raw) <= LONGEST_NAME else ""
    return name if BETWEEN.strip() not in name and terms_of(name, stem=False) else ""


def written_triple(triple: Triple) -> str:
    """A triple as a text.

    >>> written_triple(("ada", "lives in", "oslo"))
    'ada · lives in · oslo'
    """
    return BETWEEN.join(triple)


def read_triple(text: str) -> Triple | None:
    """The triple of a text that `written_triple` gave; None for another text, such as one that was
    erased.

    >>> read_triple("ada · lives in · oslo"), read_triple("")
    (('ada', 'lives in', 'oslo'), None)
    """
    parts = text.split(BETWEEN)
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None


def filter_request(question: str, triples: Sequence[Triple]) -> Request:
    """The request for the triples that help to answer a question.

    >>> print(filter_request("Where is Ada?", [("ada", "lives in", "oslo")]).prompt)
    QUESTION "Where is Ada?"
    1 "ada lives in oslo"
    """
    offered = numbered(map(" ".join, triples), SHOWN)
    prompt = "\n".join((f"QUESTION {quoted(question, SHOWN)}", *offered))
    return Request("triple_filter", FILTER, prompt, KEPT, KEPT_TOKENS)


def kept_of(reply: Reply, triples: Sequence[Triple]) -> list[Triple] | None:
    """The triples that a reply keeps, in its order, each once; None unless the reply is ok.

    >>> kept_of(Reply(Status.OK, {"numbers": [2, 9, 2]}), [("a", "b", "c"), ("d", "e", "f")])
    [('d', 'e', 'f')]
    """
    if reply.status is not Status.OK:
        return None
    numbers: Iterable[int] = dict.fromkeys(reply.data["numbers"])
    return [triples[number - 1] for number in numbers if 1 <= number <= len(triples)]
