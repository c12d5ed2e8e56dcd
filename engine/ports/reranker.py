"""The reranker port: how relevant texts are to a query, judged together by a cross-encoder in a
local folder; and a stand-in without a model.

Nothing is downloaded, and torch is loaded only when a score is missing in the cache.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..base.errors import HebbariumError
from ..base.forks import ForkLock
from ..text.utf8 import encoded
from .cache_file import CacheFile, default_cache
from .embedder import WORD
from .sentence_transformer import for_model, without_progress_bars

Scores = NDArray[np.float64]

FILE = "rerankers.sqlite"
BATCH = 32  # pairs
HEAD = "ForSequenceClassification"
VOCABULARIES = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
)
WORD_OVERLAP = "word_overlap"
STAND_IN = Path(__file__).with_name(WORD_OVERLAP)  # a folder that means the stand-in
CURE_RERANKER = (
    "give the folder of a cross-encoder with one label, as sentence-transformers saves it"
)


class Reranker(Protocol):
    """Judges texts for a query.  Equal (name, revision) must mean equal scores."""

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """(n,) ln odds that each text is relevant."""
        ...


def reranker(folder: Path, revision: str) -> Reranker:
    """The reranker in a folder: a cross-encoder, with its scores cached in the folder of caches, or
    the stand-in, see WordOverlapReranker.

    revision  digest of the folder's content

    A cross-encoder scores one pair at once; its weights are loaded for that unless the cache has
    the score.  Raises HebbariumError for a folder without such a model, for one that cannot be
    loaded, and for a model whose scores are not finite.
    """
    try:
        settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        kind, heads = settings.get("model_type"), settings.get("architectures") or ()
    except (OSError, ValueError, AttributeError) as error:
        raise HebbariumError(
            f"the cross-encoder's settings cannot be read: {error}",
            where=str(folder),
            cure=CURE_RERANKER,
        ) from error
    if kind == WORD_OVERLAP:
        return WordOverlapReranker()
    if not any(isinstance(head, str) and head.endswith(HEAD) for head in heads):
        raise HebbariumError(
            "the model is no cross-encoder: config.json names no architecture for the classification of texts",
            where=str(folder),
            cure=CURE_RERANKER,
        )
    # transformers would make an empty one
    if not any((folder / name).is_file() for name in VOCABULARIES):
        raise HebbariumError(
            "the cross-encoder has no tokeniser", where=str(folder), cure=CURE_RERANKER
        )
    cached = CachedReranker(CrossEncoderReranker(folder, revision), default_cache() / FILE)
    cached.score("", [""])
    return cached


class CrossEncoderReranker:
    """A sentence-transformers CrossEncoder with one label in a local folder, on the CPU, offline;
    ln odds are its output before any activation.

    The model is given the first 20,000 characters of each text, and reads what its window holds.

    Errors: HebbariumError when the folder holds no such model, when weights of its last layer are
    missing, and for scores that are not finite.
    """

    name = "cross-encoder"

    def __init__(self, folder: Path, revision: str) -> None:
        self.folder, self.revision = folder, revision
        self._model: Any = None

    def __getstate__(self) -> dict[str, Any]:
        # other processes load the weights themselves, if they need them
        return {**self.__dict__, "_model": None}

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """(n,) ln odds; one inference for each pair: MiniLM with 6 layers on two cores: 5 ms for
        60 word pieces.
        """
        if not len(texts):
            return np.empty(0)
        model, asked = self._load(), for_model(query)
        torch = importlib.import_module("torch")
        try:
            logits = model.predict(
                [(asked, for_model(text)) for text in texts],
                batch_size=BATCH,
                show_progress_bar=False,
                activation_fn=torch.nn.Identity(),
            )
        except Exception as error:  # any error of three libraries
            raise HebbariumError(
                f"the cross-encoder cannot score: {error}",
                where=str(self.folder),
                cure=CURE_RERANKER,
            ) from error
        scores = np.asarray(logits, np.float64)
        if scores.shape != (len(texts),):
            raise HebbariumError(
                f"the cross-encoder gives {scores[0].size} labels a text instead of one",
                where=str(self.folder),
                cure=CURE_RERANKER,
            )
        if not np.isfinite(scores).all():
            raise HebbariumError(
                "the cross-encoder gave a score that is not finite",
                where=str(self.folder),
                cure="restore the model's weights; this copy may be damaged",
            )
        return scores

    def _load(self) -> Any:
        if self._model is None:
            try:
                with without_progress_bars():
                    library = importlib.import_module("sentence_transformers")
                    model = library.CrossEncoder(
                        str(self.folder), device="cpu", local_files_only=True
                    )
                missing = _missing(self.folder, model.model)
            except Exception as error:  # any error of three libraries
                raise HebbariumError(
                    f"the cross-encoder cannot be loaded: {error}",
                    where=str(self.folder),
                    cure=CURE_RERANKER,
                ) from error
            if missing:
                raise HebbariumError(
                    f"the cross-encoder's weights lack {missing[0]}",
                    where=str(self.folder),
                    cure=CURE_RERANKER,
                )
            self._model = model
        return self._model


class CachedReranker:
    """A reranker whose scores are kept in a SQLite file by (name, revision, SHA-256 of query and
    text); each pair is scored once.

    Every caller gets the score that was stored first, as the last bits of a score may depend on its
    batch.

    Errors: HebbariumError when the file is damaged or cannot be opened, and those of the reranker.
    """

    def __init__(self, reranker: Reranker, path: Path | None) -> None:
        self.reranker, self.path = reranker, path
        self._file, self._lock = (
            CacheFile(reranker, path, "the cache of rerankers"),
            ForkLock("this reranker"),
        )

    def __reduce__(self) -> tuple[object, ...]:
        return CachedReranker, (self.reranker, self.path)

    @property
    def name(self) -> str:
        return self.reranker.name

    @property
    def revision(self) -> str:
        return self.reranker.revision

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """(n,) ln odds.  Cost for 50 texts: 0.5 ms from the file, else the reranker's."""
        asked = encoded(query)
        head = hashlib.sha256(len(asked).to_bytes(8, "little") + asked)
        keys = []
        for text in texts:
            pair = head.copy()
            pair.update(encoded(text))
            keys.append(pair.digest())
        with self._lock.lock:
            known: dict[bytes, float] = dict(self._file.stored("scores", keys))
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            if missing:
                scores = self.reranker.score(query, list(missing.values()))
                scored = dict(zip(missing, scores.tolist(), strict=True))
                stored = self._file.store("scores", scored.items())
                known |= dict(self._file.stored("scores", list(missing))) if stored else scored
        return np.array([known[key] for key in keys], np.float64)


class WordOverlapReranker:
    """The stand-in for tests: ln odds ln((m + 1/2) / (q - m + 1/2)) for m of the query's q distinct
    words in the text.

    A folder means it if its config.json has "model_type": "word_overlap", such as STAND_IN.

    >>> WordOverlapReranker().score("a red house", ["The house is red.", "no"]).round(4).tolist()
    [0.5108, -1.9459]
    """

    name, revision = WORD_OVERLAP, "1"

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        asked = set(WORD.findall(query.casefold()))
        shared = [len(asked & set(WORD.findall(text.casefold()))) for text in texts]
        return np.array([math.log((m + 0.5) / (len(asked) - m + 0.5)) for m in shared])


def _missing(folder: Path, model: Any) -> list[str]:
    """Weights of the layers after the transformer that no .safetensors file has; transformers
    fills these with random numbers.
    """
    files = sorted(folder.glob("*.safetensors"))
    open_file = importlib.import_module("safetensors").safe_open
    stored: set[str] = set()
    for file in files:
        with open_file(str(file), "numpy") as tensors:
            stored |= set(tensors.keys())
    inner = f"{model.base_model_prefix}."
    return (
        sorted(
            name
            for name, _ in model.named_parameters()
            if not name.startswith(inner) and name not in stored
        )
        if files
        else []
    )
