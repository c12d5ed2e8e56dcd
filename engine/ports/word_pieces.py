"""Word pieces of a text by a model's own tokeniser, and long texts cut at them; neither torch
nor weights are loaded.
"""

from __future__ import annotations

import importlib
import json
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..base.errors import HebbariumError, InputError
from ..base.numerics import read_only
from ..text.memo import remembered
from .embedder import CURE_SPEC, Embedder, Spans, innermost

TOKENIZER = "tokenizer.json"
# characters from which on word pieces are estimated: a tokeniser takes up to 0.3 s for so many
LONG: Final = 100_000
# parts of a longer text whose word pieces are counted, at equal distances
SAMPLED: Final = 16
SAMPLE: Final = 1_000  # characters of such a part
_NONE: Spans = np.empty((0, 2), np.int32)


class WordPieceTokenizer:
    """The tokeniser of a sentence-transformers model.

    window  the most word pieces of a text that the model reads, special tokens left out; None: no
            limit is stated

    Raises HebbariumError for a folder without a readable tokenizer.json.
    """

    def __init__(self, folder: Path, transformer: Path) -> None:
        """transformer: folder of the model's first part."""
        self._file = next(
            (place / TOKENIZER for place in (transformer, folder) if (place / TOKENIZER).is_file()),
            transformer / TOKENIZER,
        )
        self._reader = self._unbounded()
        self._known = remembered(self._pieces)
        most = _stated(transformer / "sentence_bert_config.json", "max_seq_length") or min(
            filter(
                None,
                (
                    _stated(transformer / "tokenizer_config.json", "model_max_length"),
                    _stated(transformer / "config.json", "max_position_embeddings"),
                ),
            ),
            default=None,
        )
        special = self._reader.num_special_tokens_to_add(False)
        self.window = None if most is None else max(most - special, 1)
        if self.window is not None:
            self._reader.enable_truncation(self.window + special)

    def read(self, texts: list[str]) -> list[Any]:
        """The word pieces of each text as the model reads them: cut to its window, special
        tokens included; attributes of `tokenizers.Encoding`.
        """
        encodings: list[Any] = self._reader.encode_batch(texts)
        return encodings

    def pieces(self, text: str) -> Spans:
        """(t, 2) start and end of each word piece of the whole text, in characters; a read-only
        array.
        """
        return self._known(text)

    def _pieces(self, text: str) -> Spans:
        return read_only(
            np.array(self._whole.encode(text, add_special_tokens=False).offsets, np.int32).reshape(
                -1, 2
            )
        )

    @cached_property
    def _whole(self) -> Any:
        """A second tokeniser, for texts that are not cut: truncation is a state of the first."""
        return self._unbounded()

    def _unbounded(self) -> Any:
        """The tokeniser of the file, without padding and truncation; 20 ms."""
        try:
            made = importlib.import_module("tokenizers").Tokenizer.from_file(str(self._file))
        except Exception as error:  # any error of the library
            raise HebbariumError(
                f"the tokeniser cannot be loaded: {error}", where=str(self._file), cure=CURE_SPEC
            ) from error
        made.no_padding()
        made.no_truncation()
        return made


def cuts(embedder: Embedder, text: str, *windows: tuple[int, int]) -> tuple[Spans, ...]:
    """For each (size, overlap), (w, 2) start and end of each window in characters, in order; no
    window if the embedder reads the whole text.

    size     word pieces of a window; at most what the embedder reads
    overlap  of these, shared with the window before

    An embedder whose tokeniser is at hand has `pieces(text)`, (t, 2) start and end of each word
    piece of the whole text without special tokens, and `window`, the most that it reads; None: it
    states no limit.  Then it counts as reading the first size; so does the hashing embedder, whose
    pieces are words.  An embedder without `pieces` gets no window, since nothing is known about
    what it reads.

    The text is divided into word pieces once.  A text of more than LONG characters is not: it is
    divided at characters, as many as hold a window's word pieces on average, which are counted in
    SAMPLED parts of it.

    Cost: O(length) up to LONG, 1 ms for 1000 word pieces; that of the samples, and O(windows), from
    there on.  Raises InputError unless 0 <= overlap < size, HebbariumError if the tokeniser cannot
    be loaded.

    >>> from .embedder import HashingEmbedder
    >>> [spans.tolist() for spans in cuts(HashingEmbedder(8), "one two, three four five", (3, 1), (4, 0))]
    [[[0, 14], [9, 24]], [[0, 19], [20, 24]]]
    """
    for size, overlap in windows:
        if not 0 <= overlap < size:
            raise InputError(
                f"windows of {size} word pieces cannot overlap by {overlap}",
                where="passages",
                cure="choose 0 <= overlap < size",
            )
    window = reads(embedder, windows[0][0])
    # a word piece has at least one character
    if window is None or (len(text) <= window and text.isascii()):
        return (_NONE,) * len(windows)
    of = innermost(embedder)
    if len(text) > LONG:
        density = _density(of, text)
        if density * len(text) <= window:
            return (_NONE,) * len(windows)
        return tuple(
            _even(len(text), min(size, of.window or size) / density, overlap / density)
            for size, overlap in windows
        )
    pieces: Spans = of.pieces(text)
    if len(pieces) <= window:
        return (_NONE,) * len(windows)
    return tuple(
        _windows(pieces, min(size, of.window or size), overlap) for size, overlap in windows
    )


def reads(embedder: Embedder, size: int) -> int | None:
    """Word pieces of a text that the embedder reads, `size` for a model that states no limit; None
    if it has no `pieces`: nothing is known.

    >>> from .embedder import HashingEmbedder
    >>> reads(HashingEmbedder(8), 200)
    200
    """
    of = innermost(embedder)
    return (of.window or size) if hasattr(of, "pieces") else None


def _density(of: Any, text: str) -> float:
    """Word pieces for each character, in SAMPLED parts of SAMPLE characters, the first and the
    last included.
    """
    starts = np.linspace(0, len(text) - SAMPLE, SAMPLED).astype(np.int64).tolist()
    return sum(len(of.pieces(text[start : start + SAMPLE])) for start in starts) / (
        SAMPLED * SAMPLE
    )


def _even(length: int, size: float, overlap: float) -> Spans:
    """(w, 2) start and end of windows of `size` characters that share `overlap` with the one
    before, from the start of a text to its end.
    """
    starts = np.arange(0.0, length - min(overlap, size - 1.0), max(size - overlap, 1.0))
    return np.stack([starts, np.minimum(starts + size, length)], axis=1).astype(np.int32)


def _windows(pieces: Spans, size: int, overlap: int) -> Spans:
    """(w, 2) start and end of windows of `size` pieces that share `overlap` with the one before."""
    starts = np.arange(0, len(pieces) - min(overlap, size - 1), max(size - overlap, 1))
    return np.stack(
        [pieces[starts, 0], pieces[np.minimum(starts + size, len(pieces)) - 1, 1]], axis=1
    )


def _stated(file: Path, key: str) -> int | None:
    """A number of a settings file; None if there is no such number, or if it means no limit."""
    try:
        value = json.loads(file.read_text(encoding="utf-8")).get(key) if file.is_file() else None
    except (OSError, ValueError) as error:
        raise HebbariumError(
            f"the model's settings cannot be read: {error}", where=str(file), cure=CURE_SPEC
        ) from error
    return int(value) if isinstance(value, int | float) and 0 < value < 1e9 else None
