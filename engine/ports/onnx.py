"""A sentence-transformers model on the CPU by ONNX Runtime in float32: twice the speed of torch,
and the default of the installed model.
"""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np

from ..base.errors import HebbariumError
from ..base.sharing import threads
from .bert_graph import written
from .converted import MARK_BYTES, ConvertedEmbedder, Ids, Layer, Network, transformer

FORMAT = "1"  # raised when this file changes the vectors
OPSET = 17
# bytes of a number at the start of a kept network: where its structure begins, behind the weights
PLACE: Final = 8
PAGE: Final = 4_096  # weights begin at multiples of it, so that the system can map them
LEAST: Final = 1_024  # bytes of a tensor that stands among the weights, not in the structure


class OnnxEmbedder(ConvertedEmbedder):
    """As ConvertedEmbedder, by ONNX Runtime: equal bits for a text in any batch and with any number
    of threads.

    The graph of a BERT is written from its weights in 0.7 s, with the bits of torch's export, which
    takes 16 s and converts other networks.  Vectors of another version of the library differ by rounding alone, so the revision does not
    name it.  A process maps the weights of a kept network into its memory instead of reading them,
    so that only those that its texts need are loaded.
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

    def _content(self, graph: bytes, name: str) -> bytes:
        """The weights, each at a multiple of PAGE in the file, and behind them the structure, which
        names the places.
        """
        onnx = _library("onnx")
        model = onnx.load_model_from_string(graph)
        content = bytearray(PLACE)
        for tensor in model.graph.initializer:
            if len(tensor.raw_data) < LEAST:
                continue
            content += bytes(-(MARK_BYTES + len(content)) % PAGE)
            onnx.external_data_helper.set_external_data(
                tensor, name, offset=MARK_BYTES + len(content), length=len(tensor.raw_data)
            )
            content += tensor.raw_data
            tensor.ClearField("raw_data")
        content[:PLACE] = (MARK_BYTES + len(content)).to_bytes(PLACE, "little")
        return bytes(content + model.SerializeToString())

    def _network_in(self, file: Path) -> Network:
        with file.open("rb") as stream:
            stream.seek(MARK_BYTES)
            stream.seek(int.from_bytes(stream.read(PLACE), "little"))
            return self._network_of(stream.read(), file.parent)

    def _network_of(self, graph: bytes, weights: Path | None = None) -> Network:
        """A network in the library's format, ready to run.

        weights  folder of the file that holds the weights; None: the graph holds them
        """
        library = _library("onnxruntime")
        options = library.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = (
            threads(),
            1,
            3,
        )
        # waiting threads would spend CPU
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        if weights is not None:
            options.add_session_config_entry(
                "session.model_external_initializers_file_folder_path", str(weights)
            )
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
