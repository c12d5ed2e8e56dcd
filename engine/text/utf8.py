"""UTF-8 of any text, lone surrogates included, and 64 bits of it."""

from __future__ import annotations

from hashlib import blake2b
from typing import Literal


def encoded(text: str) -> bytes:
    """The UTF-8 of a text, O(length).

    >>> encoded("\\ud800!")
    b'\\xed\\xa0\\x80!'
    """
    return text.encode("utf-8", "surrogatepass")


def decoded(data: bytes) -> str:
    """The text from which `encoded` makes these bytes.  O(length).  Raises UnicodeDecodeError if
    there is no such text.

    >>> decoded(encoded("caf\\u00e9 \\udcff")) == "caf\\u00e9 \\udcff"
    True
    """
    return data.decode("utf-8", "surrogatepass")


def hashed(text: str, order: Literal["big", "little"] = "big") -> int:
    """64 bits of the BLAKE2b of a text, read in an order of bytes: the same in every process and on
    every machine.  O(length).

    >>> hex(hashed("ada")), hashed("ada", "little").to_bytes(8, "little") == hashed("ada").to_bytes(8, "big")
    ('0x15b0da4321160527', True)
    """
    return int.from_bytes(blake2b(encoded(text), digest_size=8).digest(), order)
