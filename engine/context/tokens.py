"""Counting tokens: by the tokeniser of a model, or by the length of the text.

A budget is a number of tokens of the reader.  Its own tokeniser counts exactly; without it a token
is four characters, which is close for English and too few for most other scripts.  The name of the
counter is part of every context and of every result.
"""

from __future__ import annotations

import hashlib
import importlib
import math
from pathlib import Path
from typing import Any, Final, Protocol

from ..base.errors import HebbariumError, InputError
from ..ports.embedder import Embedder, innermost
from ..ports.word_pieces import TOKENIZER
from ..text.utf8 import encoded

CHARACTERS: Final = 4  # characters of a token, where no tokeniser is known
REMEMBERED: Final = 8_192  # texts whose counts a tokeniser keeps
WHERE: Final = "token budget"
CURE: Final = f"give a {TOKENIZER}, a folder that holds one, or nothing to count {CHARACTERS} characters as a token"


class TokenBudget:
    """A budget of tokens for callers that assemble prompts of their own.  Not shared by threads.

    total  tokens
    used   tokens so far; may exceed the total

    >>> budget = TokenBudget(1000)
    >>> budget.use(budget.allocate(15))
    >>> budget.remaining, budget.exceeded
    (850, False)
    """

    def __init__(self, total: int) -> None:
        """Raises InputError for no whole number from 0."""
        self.total, self.used = _tokens(total), 0

    def allocate(self, percent: float) -> int:
        """Whole tokens of a share of the total; nothing is used by it.  Raises InputError for a
        share outside 0 to 100.
        """
        if (
            isinstance(percent, bool)
            or not isinstance(percent, int | float)
            or not 0 <= percent <= 100
        ):
            raise InputError(
                f"a share of {percent!r} percent", where=WHERE, cure="give a number from 0 to 100"
            )
        return math.floor(self.total * percent / 100)

    def use(self, tokens: int) -> None:
        """Count tokens as used, more than remain, too.  Raises InputError for no whole number
        from 0.
        """
        self.used += _tokens(tokens)

    @property
    def remaining(self) -> int:
        """Tokens that are left; below 0 once the budget is exceeded."""
        return self.total - self.used

    @property
    def exceeded(self) -> bool:
        """Whether more than the total is used."""
        return self.used > self.total


def _tokens(number: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise InputError(
            f"{number!r} tokens", where=WHERE, cure="give a whole number of tokens from 0"
        )
    return number


class TokenCounter(Protocol):
    """Counts the tokens of texts.

    name        part of every context and result
    per_token   units that make a token: 1 for a tokeniser
    """

    @property
    def name(self) -> str: ...
    @property
    def per_token(self) -> int: ...

    def units(self, text: str) -> int:
        """The size of a text in units; the sizes of parts add up to that of the whole, up to
        pieces that a tokeniser forms across their ends.
        """
        ...

    def tokens(self, text: str) -> int:
        """The tokens of a whole text, special tokens left out: units over `per_token`, rounded
        up.
        """
        ...


class LengthCounter:
    """ceil(length / 4).

    >>> LengthCounter().tokens("Where is the key?"), LengthCounter().tokens("")
    (5, 0)
    """

    name = f"length/{CHARACTERS}"
    per_token = CHARACTERS

    def units(self, text: str) -> int:
        return len(text)

    def tokens(self, text: str) -> int:
        return -(-len(text) // CHARACTERS)


class TokenizerCounter:
    """The tokeniser of a file that the library `tokenizers` reads.

    file   tokenizer.json
    label  what it is called; the name also has the first digits of the file's SHA-256

    Cost: O(length); about 1 ms for 1,000 tokens, microseconds for a text counted before, of up to
    8,192.  Raises HebbariumError for a file that cannot be loaded.
    """

    per_token = 1

    def __init__(self, file: Path, label: str) -> None:
        try:
            data = file.read_bytes()
            self._tokenizer: Any = importlib.import_module("tokenizers").Tokenizer.from_file(
                str(file)
            )
        except Exception as error:  # any error of the library
            raise HebbariumError(
                f"the tokeniser cannot be loaded: {error}", where=str(file), cure=CURE
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.name = f"{label}@{hashlib.sha256(data).hexdigest()[:8]}"
        # by digest, so that no text stays here after it was erased elsewhere
        self._counts: dict[bytes, int] = {}

    def units(self, text: str) -> int:
        key = hashlib.blake2b(encoded(text), digest_size=16).digest()
        if (known := self._counts.get(key)) is not None:
            return known
        clean = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
        if len(self._counts) >= REMEMBERED:
            self._counts.clear()
        # of a batch, as the library then keeps no places of tokens: half the time of a long text
        (encoding,) = self._tokenizer.encode_batch_fast([clean], add_special_tokens=False)
        self._counts[key] = count = len(encoding)
        return count

    def tokens(self, text: str) -> int:
        return self.units(text)


LENGTH: Final = LengthCounter()


def counter(source: Embedder | Path | str | None = None) -> TokenCounter:
    """A counter: of the embedder whose folder holds a tokeniser, of a path, or by length.

    source  an embedder; one without a folder or tokeniser, such as the hashing embedder, counts by
            length.  A path of a tokenizer.json or of a folder that holds one.  None: by length

    Raises InputError for a path without a tokeniser, HebbariumError for a file that cannot be
    loaded.

    >>> counter().name
    'length/4'
    """
    if source is None:
        return LENGTH
    if isinstance(source, str | Path):
        place = Path(source).expanduser()
        file = place / TOKENIZER if place.is_dir() else place
        if not file.is_file():
            what = (
                f"the folder has no {TOKENIZER}"
                if place.is_dir()
                else "there is no such file or folder"
            )
            raise InputError(what, where=str(place), cure=CURE)
        return TokenizerCounter(file, file.resolve().parent.name)
    of = innermost(source)
    folder = getattr(of, "folder", None)
    if not isinstance(folder, Path):
        return LENGTH
    tokenizer_file = next(
        (
            file
            for file in (folder / TOKENIZER, *sorted(folder.glob(f"*/{TOKENIZER}")))
            if file.is_file()
        ),
        None,
    )
    return TokenizerCounter(tokenizer_file, str(of.name)) if tokenizer_file else LENGTH
