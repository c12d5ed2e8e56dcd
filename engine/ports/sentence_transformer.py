"""sentence-transformers from a local folder, on the CPU, offline.

Nothing is downloaded, and torch is loaded only when a text is embedded.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import HebbariumError, InputError
from .embedder import CURE_SPEC, Progress, Spans, Vectors, checked_texts
from .tokens import Tokens, coded, joined
from .word_pieces import WordPieceTokenizer

# a sentence model reads a few hundred word pieces; the rest of a long text need not be tokenised
MODEL_CHARACTERS = 20_000
BATCH_PIECES = 1_024  # word pieces in a batch; more is slower on a CPU
BATCH_TEXTS = 32
SHORT = 32  # word pieces; see SentenceTransformerEmbedder._encode


class SentenceTransformerEmbedder:
    """A sentence-transformers model in a local folder, on the CPU, offline.

    `dimensions` and `revision` come from the folder's files alone; torch is loaded at the first
    `embed`.  The revision is a digest of every file that decides the vectors (weights, tokeniser,
    pooling, settings), so that vectors of the old model are never taken for a changed one.

    The model is given the first 20,000 characters of a text, lone surrogates as `?` and NUL as a
    space.  Token vectors are those of the last layer of the transformer, before pooling.

    progress   called as progress(done, total) after each batch

    Errors: HebbariumError when the folder holds no such model, or its files do not agree with each
    other.
    """

    def __init__(
        self, folder: Path | str, *, name: str = "", progress: Progress | None = None
    ) -> None:
        self.folder = Path(folder).expanduser().resolve()
        self.name = name or self.folder.name
        self.dimensions = _dimensions(self.folder)
        self.progress = progress
        self._revision = ""
        self._model: Any = None

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name != "tokenizer"}
        # other processes load the weights themselves, if they need them
        return {**state, "progress": None, "_model": None}

    @property
    def revision(self) -> str:
        """16 hexadecimal digits; reads the folder once, 0.1 s for 90 MB."""
        if not self._revision:
            self._revision = _folder_digest(self.folder)[:16]
        return self._revision

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, d) unit vectors; MiniLM on two cores: 4 ms for a sentence of 25 word pieces in a
        batch, 40 ms for 256 pieces.

        A batch holds texts of equal length in word pieces: no padding, so no wasted work, and
        (almost always) the same bits for any other texts in the call.  The numerical libraries do
        not guarantee that; CachedEmbedder does.
        """
        checked_texts(texts)
        out = np.empty((len(texts), self.dimensions), np.float32)
        for batch, clean, read in self._in_batches(texts):
            out[batch] = _unit(self._encode(clean, read))
        return out

    def embed_tokens(self, texts: Sequence[str]) -> Tokens:
        """Unit vectors of the word pieces, special tokens left out; the time of `embed`.

        Raises InputError for a model whose tokeniser does not give the places of word pieces.
        """
        checked_texts(texts)
        tokens: list[Tokens] = [joined([], self.dimensions)] * len(texts)
        for batch, clean, read in self._in_batches(texts):
            ids, spans, special = self._placed(clean, read)
            for i, vectors, places, marked in zip(
                batch, self._last_layer(np.array(ids, np.int64)), spans, special, strict=True
            ):
                own = np.array(marked) == 0
                tokens[i] = coded(vectors[own], np.array(places)[own])
        return joined(tokens, self.dimensions)

    @cached_property
    def tokenizer(self) -> WordPieceTokenizer:
        """The model's tokeniser, without torch and weights; 20 ms.  Raises HebbariumError for a
        folder without tokenizer.json.
        """
        return WordPieceTokenizer(self.folder, _module_folders(self.folder)[0])

    @property
    def window(self) -> int | None:
        return self.tokenizer.window

    def pieces(self, text: str) -> Spans:
        return self.tokenizer.pieces(_readable(text))

    def _in_batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], list[str], list[Any]]]:
        """Indices of the texts of a batch, the texts as the model gets them, and what `_read`
        gives for each; reports progress after each batch.
        """
        clean, done = [for_model(text) for text in texts], 0
        read = self._read(clean) if clean else ()
        for batch in _batches([len(encoding) for encoding in read]):
            yield batch, [clean[i] for i in batch], [read[i] for i in batch]
            done += len(batch)
            if self.progress is not None:
                self.progress(done, len(clean))

    def _read(self, texts: list[str]) -> Sequence[Any]:
        """The word pieces of each text as the model reads them; none for a model without such a
        tokeniser (it has no padding either).
        """
        model = self._load()
        if not callable(model.tokenizer):
            return [()] * len(texts)
        pieces: list[list[int]] = model.tokenizer(
            texts, truncation=True, max_length=model.max_seq_length
        )["input_ids"]
        return pieces

    def _placed(self, texts: list[str], read: list[Any]) -> tuple[Any, Any, Any]:
        """(n, pieces) numbers of the word pieces of a batch, their places in the texts, and
        which are special tokens.
        """
        model = self._load()
        if not getattr(model.tokenizer, "is_fast", False):
            raise InputError(
                "the tokeniser of this model does not give the places of word pieces",
                where=self.name,
                cure="choose another model",
            )
        encodings = model.tokenizer(
            texts,
            truncation=True,
            max_length=model.max_seq_length,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
        )
        return encodings["input_ids"], encodings["offset_mapping"], encodings["special_tokens_mask"]

    def _last_layer(self, ids: Any) -> Any:
        """(n, pieces, d) token vectors of any norm; ids (n, pieces) int64."""
        torch = importlib.import_module("torch")
        with torch.inference_mode():
            read = torch.from_numpy(ids)
            return (
                self._load()[0]({"input_ids": read, "attention_mask": torch.ones_like(read)})[
                    "token_embeddings"
                ]
                .float()
                .numpy()
            )

    def _encode(self, texts: list[str], read: list[Any]) -> Vectors:
        """Vectors of texts of equal length in word pieces, of any norm.

        A short text alone is embedded twice at once, because the thin matrices of one text are
        split among threads in another way.
        """
        copies = 2 if len(texts) == 1 and len(read[0]) < SHORT else 1
        vectors = self._load().encode(
            texts * copies, batch_size=2 * BATCH_TEXTS, show_progress_bar=False
        )
        return np.asarray(vectors, np.float32)[: len(texts)]

    def _load(self) -> Any:
        if self._model is None:
            try:
                with without_progress_bars():
                    library = importlib.import_module("sentence_transformers")
                    model = library.SentenceTransformer(
                        str(self.folder), device="cpu", local_files_only=True
                    )
            except Exception as error:  # any error of three libraries
                raise HebbariumError(
                    f"the sentence model cannot be loaded: {error}",
                    where=str(self.folder),
                    cure=CURE_SPEC,
                ) from error
            width = len(model.encode("", show_progress_bar=False))
            if width != self.dimensions:
                raise HebbariumError(
                    f"the model gives vectors of {width} dimensions, its settings say {self.dimensions}",
                    where=str(self.folder),
                    cure="restore the model's own config.json and modules.json",
                )
            self._model = model
        return self._model


def for_model(text: str) -> str:
    return _readable(text[:MODEL_CHARACTERS])


def _readable(text: str) -> str:
    """The text for a tokeniser, with as many characters: lone surrogates as `?` and NUL as a
    space.
    """
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


def _unit(rows: Vectors) -> Vectors:
    wide = rows.astype(np.float64)
    return np.asarray(wide / np.sqrt(np.sum(wide * wide, axis=1, keepdims=True)), np.float32)


def _batches(pieces: list[int]) -> Iterator[list[int]]:
    """Indices of texts of equal length, shortest first."""
    for length, group in groupby(
        sorted(range(len(pieces)), key=pieces.__getitem__), key=pieces.__getitem__
    ):
        members, size = list(group), max(1, min(BATCH_TEXTS, BATCH_PIECES // max(length, 1)))
        for start in range(0, len(members), size):
            yield members[start : start + size]


@contextmanager
def without_progress_bars() -> Iterator[None]:
    """transformers draws a progress bar on stderr for weights that load in 0.2 s."""
    logging = importlib.import_module("transformers.utils.logging")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _settings(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    except (OSError, ValueError) as error:
        raise HebbariumError(
            f"the model's settings cannot be read: {error}", where=str(file), cure=CURE_SPEC
        ) from error


def _module_folders(folder: Path) -> list[Path]:
    """The model's parts in the order they are applied; the folder itself if it has no
    modules.json.
    """
    parts = _settings(folder / "modules.json") or [{"path": ""}]
    return [folder / str(part.get("path", "")) for part in parts]


def _dimensions(folder: Path) -> int:
    """Width of the last part that states one."""
    width = 0
    for part in _module_folders(folder):
        settings = _settings(part / "config.json")
        stated = (
            settings.get(key)
            for key in (
                "out_features",
                "embedding_dimension",
                "word_embedding_dimension",
                "hidden_size",
            )
        )
        width = next((int(value) for value in stated if isinstance(value, int)), width)
    if width < 1:
        raise HebbariumError(
            "this folder holds no sentence model: no config.json states the vectors' dimensions",
            where=str(folder),
            cure=CURE_SPEC,
        )
    return width


def _folder_digest(folder: Path) -> str:
    """SHA-256 over names and contents of the files that decide the vectors."""
    total = hashlib.sha256(f"1 {MODEL_CHARACTERS}".encode())
    parts = {folder, *_module_folders(folder)}
    files = {
        file
        for part in parts
        if part.is_dir()
        for file in part.iterdir()
        if file.is_file()
        and not file.name.startswith(".")
        and file.suffix not in {".md", ".onnx", ".h5", ".ot", ".msgpack"}
    }
    for file in sorted(files, key=lambda file: file.relative_to(folder).as_posix()):
        with file.open("rb") as stream:
            total.update(
                file.relative_to(folder).as_posix().encode()
                + b"\0"
                + hashlib.file_digest(stream, "sha256").digest()
            )
    return total.hexdigest()
