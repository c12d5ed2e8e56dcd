"""A sentence-transformers model on the CPU by ONNX Runtime in float32: twice the speed of torch, and the default of the installed model."""
from __future__ import annotations

import hashlib
import importlib
import os
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..errors import HebbariumError
from ..sharing import threads
from .cache_file import DamagedCacheWarning
from .converted import ConvertedEmbedder, Ids, Layer, Network, transformer

FORMAT = "1"                # raised when this file changes the vectors
OPSET = 17
MARK_BYTES = 32             # SHA-256 of the graph, at the start of its file


class OnnxEmbedder(ConvertedEmbedder[bytes]):
    """As ConvertedEmbedder, by ONNX Runtime: equal bits for a text in any batch and with any number of threads.

    graphs  folder that keeps the converted network, 90 MB for MiniLM, so that other processes load neither torch nor the model's weights (0.3 s of
            CPU instead of 6 s); None: converted in every process that embeds.  A damaged file is made anew, and DamagedCacheWarning says so

    Vectors of another version of the library differ by rounding alone, so the revision does not name it.
    """

    LIBRARY: ClassVar[str] = "ONNX Runtime"
    BACKEND: ClassVar[str] = "onnx"

    def __init__(self, folder: Path | str, *, name: str = "", graphs: Path | None = None) -> None:
        super().__init__(folder, name=name)
        self.graphs = graphs

    @property
    def revision(self) -> str:
        return f"{super().revision}-{self.BACKEND}-{FORMAT}"

    def _prepared(self) -> Network:
        graph = self._kept()
        if graph is not None:
            with suppress(Exception):   # a graph that this version of the library does not read is made anew
                return self._network_of(graph)
        graph, network = self._checked()
        self._keep(graph)
        return network

    def _converted(self, model: Any) -> bytes:
        _library("onnx")                # torch's own error would not say how to install it
        import torch

        axes = {0: "texts", 1: "pieces"}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "graph.onnx"
            torch.onnx.export(transformer(model), (torch.ones((2, 8), dtype=torch.int64),), file, dynamo=False, opset_version=OPSET,
                              input_names=["ids"], output_names=["layer"], dynamic_axes={"ids": axes, "layer": axes})
            return file.read_bytes()

    def _network_of(self, form: bytes) -> Network:
        library = _library("onnxruntime")
        options = library.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads(), 1, 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")        # waiting threads would spend CPU
        session = library.InferenceSession(form, options, providers=["CPUExecutionProvider"])

        def run(ids: Ids) -> Layer:
            return np.asarray(session.run(None, {"ids": ids})[0], np.float32)

        return run

    def _file(self) -> Path | None:
        return self.graphs / f"{self.revision}.onnx" if self.graphs else None

    def _kept(self) -> bytes | None:
        file = self._file()
        try:
            content = file.read_bytes() if file else b""
        except OSError:
            return None
        mark, graph = content[:MARK_BYTES], content[MARK_BYTES:]
        if not content or hashlib.sha256(graph).digest() == mark:
            return graph or None
        warnings.warn(f"the converted model {file} is damaged and is made anew", DamagedCacheWarning, stacklevel=2)
        return None

    def _keep(self, graph: bytes) -> None:
        """Store the graph; a folder that cannot be written costs the next process the conversion, and nothing else."""
        file = self._file()
        if file is None:
            return
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            temporary = file.with_name(f".{file.name}.{os.getpid()}")
            try:
                temporary.write_bytes(hashlib.sha256(graph).digest() + graph)
                temporary.replace(file)         # at once: another process sees the whole file or none
            finally:
                temporary.unlink(missing_ok=True)


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise HebbariumError(f"{name} is not installed", where="embedder", cure=f"pip install {name}, or use 'minilm+torch'") from error
