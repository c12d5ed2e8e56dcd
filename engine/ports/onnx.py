"""A sentence-transformers model on the CPU by ONNX Runtime in float32: twice the speed of torch,
and the default of the installed model.
"""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..base.errors import HebbariumError
from ..base.sharing import threads
from .bert_graph import written
from .converted import ConvertedEmbedder, Ids, Layer, Network, transformer

FORMAT = "1"  # raised when this file changes the vectors
OPSET = 17


class OnnxEmbedder(ConvertedEmbedder):
    """As ConvertedEmbedder, by ONNX Runtime: equal bits for a text in any batch and with any number
    of threads.

    The graph of a BERT is written from its weights in 0.7 s, with the bits of torch's export, which
    takes 16 s and converts other networks.  Vectors of another version of the library differ by rounding alone, so the revision does not
    name it.
    """

    LIBRARY: ClassVar[str] = "ONNX Runtime"
    BACKEND: ClassVar[str] = "onnx"

    @property
    def revision(self) -> str:
        return f"{super().revision}-{self.BACKEND}-{FORMAT}"

    def _converted(self, model: Any) -> bytes:
        _library("onnx")  # torch's own error would not say how to install it
        import torch

        axes = {0: "texts", 1: "pieces"}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "graph.onnx"
            torch.onnx.export(
                transformer(model),
                (torch.ones((2, 8), dtype=torch.int64),),
                file,
                dynamo=False,
                opset_version=OPSET,
                input_names=["ids"],
                output_names=["layer"],
                dynamic_axes={"ids": axes, "layer": axes},
            )
            return file.read_bytes()

    def _written(self) -> bytes | None:
        _library("onnx")
        return written(self.folder)

    def _network_of(self, graph: bytes) -> Network:
        library = _library("onnxruntime")
        options = library.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = (
            threads(),
            1,
            3,
        )
        # waiting threads would spend CPU
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = library.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

        def run(ids: Ids) -> Layer:
            return np.asarray(session.run(None, {"ids": ids})[0], np.float32)

        return run


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise HebbariumError(
            f"{name} is not installed",
            where="embedder",
            cure=f"pip install {name}, or use 'minilm+torch'",
        ) from error
