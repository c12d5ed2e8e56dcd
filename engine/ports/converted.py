"""A sentence-transformers model whose transformer is converted and computed by another library
than torch.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..base.errors import HebbariumError
from ..base.private import private_folder, replacing
from .cache_file import DamagedCacheWarning
from .embedder import Vectors
from .sentence_transformer import SentenceTransformerEmbedder

Ids = NDArray[np.int64]
Layer = NDArray[np.float32]
# ids (n, pieces) to token vectors (n, pieces, d) of the last layer
Network = Callable[[Ids], Layer]

LEAST_COSINE = 0.995  # to the vectors of torch in float32
MARK_BYTES = 32  # SHA-256 of a kept network, at the start of its file
# averages kept from texts whose token vectors were asked for: as many as an experiment embeds at
# once
MEANS = 4_096
SAMPLE = (
    " Ada moved to a RED house in May. ",
    "The old bicycle was stolen in March, so Ben bought a green one; he paid 240 euros for it. "
    * 3,
)


class ConvertedEmbedder(SentenceTransformerEmbedder):
    """As SentenceTransformerEmbedder, with the arithmetic of another library; the revision names
    it, so that caches are kept apart.

    LIBRARY, BACKEND    the library in messages, and what stands after `+` in the name of an
                        embedder
    graphs              folder that keeps the converted network, up to 90 MB for MiniLM, so that
                        other processes load neither torch nor the model's weights; None: converted
                        in every process that embeds.  A damaged file is made anew, and
                        DamagedCacheWarning says so

    Texts are read by the model's own tokeniser without torch, and token vectors are averaged here.
    When torch's network is converted, two texts are compared with the vectors of torch, so a model
    with other pooling, or with a prompt, is refused; a network that is written from the weights needs
    neither torch nor the comparison.  A process that was forked converts or loads the
    network again, since threads of a library do not live on in it.  The vector of a text whose
    token vectors were asked for just before costs nothing more.

    Errors: HebbariumError without the library, and for a model that it cannot convert or whose
    vectors differ (cosine below 0.995).
    """

    LIBRARY: ClassVar[str]
    BACKEND: ClassVar[str]

    def __init__(self, folder: Path | str, *, name: str = "", graphs: Path | None = None) -> None:
        super().__init__(folder, name=name)
        self.graphs = graphs
        self._network: Network | None = None
        self._process = 0
        # networks of the parent: freeing one in a forked process could wait for its threads
        self._inherited: list[Network] = []
        # word pieces of a text -> average of their vectors, dropped when it is used
        self._means: dict[bytes, Vectors] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_network": None, "_inherited": [], "_means": {}}

    @abstractmethod
    def _converted(self, model: Any) -> bytes:
        """The network of a model that torch has loaded, in the library's format."""

    def _written(self) -> bytes | None:
        """The network in the library's format from the files of the folder alone, without torch;
        None if the library or the model has no such way.
        """
        return None

    @abstractmethod
    def _network_of(self, graph: bytes) -> Network:
        """A network in the library's format, ready to run."""

    def _content(self, graph: bytes, name: str) -> bytes:
        """What the file of that name keeps of a network, behind its mark."""
        return graph

    def _network_in(self, file: Path) -> Network:
        """The network that a sound file keeps, ready to run."""
        return self._network_of(file.read_bytes()[MARK_BYTES:])

    def _prepared(self) -> Network:
        """The network ready to run: the kept one, else converted and kept.  Raises
        HebbariumError.
        """
        file = self._file()
        if file is not None and self._is_sound(file):
            # a network that this version of the library does not read is made anew
            with suppress(Exception):
                return self._network_in(file)
        written = self._written()
        graph, network = (
            self._checked() if written is None else (written, self._network_of(written))
        )
        self._keep(graph)
        return network

    def _read(self, texts: list[str]) -> Sequence[Any]:
        return self.tokenizer.read(texts)

    def _placed(self, texts: list[str], read: list[Any]) -> tuple[Any, Any, Any]:
        return (
            [encoding.ids for encoding in read],
            [encoding.offsets for encoding in read],
            [encoding.special_tokens_mask for encoding in read],
        )

    def _encode(self, texts: list[str], read: list[Any]) -> Vectors:
        ids = _ids(read)
        means = [self._means.pop(row.tobytes(), None) for row in ids]
        if missing := [i for i, mean in enumerate(means) if mean is None]:
            for i, mean in zip(missing, _means(self._run()(ids[missing])), strict=True):
                means[i] = mean
        return np.array(means, np.float32)

    def _last_layer(self, ids: Ids) -> Layer:
        layer = self._run()(ids)
        if len(self._means) > MEANS:
            self._means.clear()
        self._means |= zip((row.tobytes() for row in ids), _means(layer), strict=True)
        return layer

    def _run(self) -> Network:
        if self._network is None or self._process != os.getpid():
            if self._network is not None:
                self._inherited.append(self._network)
            self._network, self._process = self._prepared(), os.getpid()
        return self._network

    def _checked(self) -> tuple[bytes, Network]:
        """The folder's model in the library's format, and ready to run; vectors of a few texts
        are those of torch.  Raises HebbariumError.
        """
        model = self._load()
        try:
            with _silent():
                graph = self._converted(model)
            network = self._network_of(graph)
            near = [
                _cosine(
                    _means(network(_ids(self.tokenizer.read([text]))))[0],
                    np.asarray(model.encode(text, show_progress_bar=False), np.float32),
                )
                for text in SAMPLE
            ]
        except HebbariumError:
            raise
        except Exception as error:  # any error of four libraries
            raise HebbariumError(
                f"{self.LIBRARY} cannot run this model: {str(error).partition(chr(10))[0]}",
                where=str(self.folder),
                cure=f"leave out +{self.BACKEND}",
            ) from error
        if not min(near) >= LEAST_COSINE:
            raise HebbariumError(
                f"{self.LIBRARY} gives other vectors for this model (cosine {min(near):.3f})",
                where=str(self.folder),
                cure=f"leave out +{self.BACKEND}; only models with mean pooling and without a prompt are supported",
            )
        return graph, network

    def _file(self) -> Path | None:
        return self.graphs / f"{self.revision}.{self.BACKEND}" if self.graphs else None

    def _is_sound(self, file: Path) -> bool:
        """Whether a file is there and holds what was written.  Reads it once, 70 ms for 90 MB."""
        try:
            with file.open("rb") as stream:
                mark = stream.read(MARK_BYTES)
                digest = hashlib.file_digest(stream, "sha256").digest()
        except OSError:
            return False
        if mark and digest != mark:
            warnings.warn(
                f"the converted model {file} is damaged and is made anew",
                DamagedCacheWarning,
                stacklevel=2,
            )
        return digest == mark

    def _keep(self, graph: bytes) -> None:
        """Store the graph; a folder that cannot be written costs the next process the
        conversion, and nothing else.
        """
        file = self._file()
        if file is None:
            return
        with suppress(OSError):
            private_folder(file.parent)
            content = self._content(graph, file.name)
            with replacing(file) as stream:
                stream.write(hashlib.sha256(content).digest() + content)


def _ids(read: Sequence[Any]) -> Ids:
    """(n, pieces) numbers of the word pieces of texts of equal length in word pieces."""
    return np.array([encoding.ids for encoding in read], np.int64)


def _means(layer: Layer) -> Vectors:
    return np.asarray(layer.mean(axis=1), np.float32)


def transformer(model: Any) -> Any:
    """The transformer of a sentence-transformers model as a torch module from ids (n, pieces) to
    token vectors (n, pieces, d).
    """
    import torch

    network = model[0].auto_model

    class TokenVectors(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, ids: Any) -> Any:
            return self.network(input_ids=ids).last_hidden_state

    return TokenVectors().eval()


def _cosine(one: Vectors, other: Vectors) -> float:
    return float(one @ other / np.sqrt((one @ one) * (other @ other)))


@contextmanager
def _silent() -> Iterator[None]:
    """No warnings of a conversion, which reads deprecated attributes and traces branches that
    depend on the shape alone.
    """
    logging = importlib.import_module("transformers.utils.logging")
    level = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
