"""A static sentence model in a local folder: the mean of one vector per word piece, in the
format of model2vec.  No torch, no network.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import HebbariumError
from .embedder import CURE_SPEC, Spans, Vectors, checked_texts
from .tokens import MOST_PIECES, Tokens, coded, joined
from .word_pieces import WordPieceTokenizer

CONFIG, TENSORS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
MAX_PIECES = 512  # read of a text if config.json states no `max_length`


class StaticEmbedder:
    """The normalised mean of the vectors of a text's word pieces, as model2vec 0.10 computes it.

    Tensors   `embeddings` (rows, d); `weights` (pieces,), factors, and `mapping` (pieces,), the row
              of each piece, if the file has them
    Cut       a text is read up to `max_length` pieces, and up to that number times the median
              length of the vocabulary's pieces in characters
    Unknown   pieces without a vector of their own are left out

    A text without a known piece, or whose vectors cancel, gets the first unit vector (1, 0, ...,
    0).  Each vector depends on its text alone.

    Cost: O(d) per word piece.  Errors: HebbariumError for a folder without such a model, or whose
    tensors do not fit its vocabulary.
    """

    def __init__(self, folder: Path | str, *, name: str = "") -> None:
        self.folder = Path(folder).expanduser().resolve()
        self.name = name or self.folder.name
        try:
            tensors = importlib.import_module("safetensors.numpy").load_file(self.folder / TENSORS)
            self._tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(
                str(self.folder / TOKENIZER)
            )
            self._vectors, self._factors = tensors["embeddings"], tensors.get("weights")
            vocabulary = self._tokenizer.get_vocab()
            self._rows = tensors.get("mapping", np.arange(len(vocabulary)))
            pieces = 1 + max(vocabulary.values())
            if (
                len(self._rows) < pieces
                or self._rows.max() >= len(self._vectors)
                or (self._factors is not None and len(self._factors) < pieces)
            ):
                raise ValueError(f"its tensors do not fit a vocabulary of {pieces} pieces")
            self.dimensions = int(self._vectors.shape[1])
            self._unknown = _unknown(
                json.loads((self.folder / TOKENIZER).read_text(encoding="utf-8"))["model"],
                vocabulary,
            )
            self._most = _max_pieces(self.folder / CONFIG)
        except Exception as error:  # any error of two libraries
            raise HebbariumError(
                f"the static model cannot be loaded: {error}",
                where=str(self.folder),
                cure=CURE_SPEC,
            ) from error
        self._characters = (
            None
            if self._most is None
            else self._most * int(np.median([len(piece) for piece in vocabulary]))
        )
        self._tokenizer.no_padding()
        if self._most is None:
            self._tokenizer.no_truncation()
        else:
            self._tokenizer.enable_truncation(self._most)

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.folder, self.name)

    @property
    def revision(self) -> str:
        """`static-` and 16 hexadecimal digits of the folder's files."""
        total = hashlib.sha256()
        for file in (CONFIG, TENSORS, TOKENIZER):
            total.update(
                hashlib.sha256(
                    (self.folder / file).read_bytes() if (self.folder / file).is_file() else b""
                ).digest()
            )
        return f"static-{total.hexdigest()[:16]}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, d) unit vectors."""
        checked_texts(texts)
        out = np.zeros((len(texts), self.dimensions), np.float32)
        for row, (vectors, _) in zip(out, self._read(texts), strict=True):
            if len(vectors):
                mean = vectors.mean(axis=0)
                length = float(np.sqrt(mean @ mean))
                row[:] = mean / length if length > 0.0 else 0.0
            if not row.any():
                row[0] = 1.0
        return out

    def embed_tokens(self, texts: Sequence[str]) -> Tokens:
        """The unit vector of each known word piece, of the first 512 that `embed` reads."""
        checked_texts(texts)
        return joined(
            [
                coded(vectors[:MOST_PIECES], spans[:MOST_PIECES])
                for vectors, spans in self._read(texts)
            ],
            self.dimensions,
        )

    @property
    def window(self) -> int | None:
        return self._most

    def pieces(self, text: str) -> Spans:
        return self._whole.pieces(text.encode("utf-8", "replace").decode("utf-8"))

    @cached_property
    def _whole(self) -> WordPieceTokenizer:
        """The tokeniser without a cut."""
        return WordPieceTokenizer(self.folder, self.folder)

    def _read(self, texts: Sequence[str]) -> Iterator[tuple[NDArray[np.float64], Spans]]:
        """For each text the vectors (t, d) of its known word pieces times their factors, and the
        places (t, 2) of these pieces.
        """
        clean = [
            text[: self._characters].encode("utf-8", "replace").decode("utf-8") for text in texts
        ]
        for encoding in self._tokenizer.encode_batch(clean, add_special_tokens=False):
            known = np.array([piece != self._unknown for piece in encoding.ids], np.bool_)
            ids, spans = (
                np.array(encoding.ids, np.int64)[known],
                np.array(encoding.offsets, np.int32).reshape(-1, 2)[known],
            )
            vectors = self._vectors[self._rows[ids]].astype(np.float64)
            yield vectors if self._factors is None else vectors * self._factors[ids, None], spans


def is_static(folder: Path) -> bool:
    """Whether the folder holds a static model: a tokeniser, and a tensor `embeddings` in the
    header of its weights, which are not read.
    """
    if not (folder / TENSORS).is_file() or not (folder / TOKENIZER).is_file():
        return False
    with (folder / TENSORS).open("rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        return b'"embeddings"' in stream.read(min(size, 10_000_000))


def _unknown(model: dict[str, Any], vocabulary: dict[str, int]) -> int | None:
    """The id of the piece that stands for unknown ones: by `unk_token`, in a unigram model by
    `unk_id`.
    """
    piece = model.get("unk_token")
    return vocabulary.get(piece) if piece is not None else model.get("unk_id")


def _max_pieces(file: Path) -> int | None:
    """`max_length` of config.json; null is no limit."""
    stated = (
        json.loads(file.read_text(encoding="utf-8")).get("max_length", MAX_PIECES)
        if file.is_file()
        else MAX_PIECES
    )
    return None if stated is None else int(stated)


def _again(folder: Path, name: str) -> StaticEmbedder:
    return StaticEmbedder(folder, name=name)
