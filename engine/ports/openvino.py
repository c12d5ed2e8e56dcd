"""A sentence-transformers model on the CPU by OpenVINO, in float32 or in 8 bits: an extra, `pip
install 'hebbarium[openvino]'`.

The transformer is converted from the folder's own weights; nothing is downloaded, and OpenVINO's
usage reports are off.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal

import numpy as np

from ..base.errors import HebbariumError
from ..base.sharing import threads
from .converted import ConvertedEmbedder, Ids, Layer, Network, transformer
from .embedder import Vectors

Precision = Literal["float32", "int8"]
GROUP = "128"  # values of an activation that share one scale in 8-bit products
# word pieces; shorter texts are computed in float32 also for int8, as no mean over many pieces
# evens out the rounding
FEW = 8
# raised when this file changes the vectors
FORMATS: Final[Mapping[Precision, str]] = MappingProxyType({"float32": "1", "int8": "2"})
# bytes of the length of a network's structure, which stands before structure and weights
LENGTH = 8
REPORTS = "openvino_telemetry"


class OpenVinoEmbedder(ConvertedEmbedder):
    """As ConvertedEmbedder, by OpenVINO.

    precision  `float32`; `int8`: weights in 8 bits, one scale per output, and activations in 8
               bits, one scale per 128 values, for texts of at least 8 word pieces.  OpenVINO rounds
               activations only on processors with 8-bit products
    """

    LIBRARY: ClassVar[str] = "OpenVINO"
    BACKEND: ClassVar[str] = "openvino"

    def __init__(
        self,
        folder: Path | str,
        *,
        name: str = "",
        graphs: Path | None = None,
        precision: Precision = "float32",
    ) -> None:
        super().__init__(folder, name=name, graphs=graphs)
        self.precision = precision
        self._exact = (
            OpenVinoEmbedder(folder, name=name, graphs=graphs) if precision == "int8" else None
        )

    @property
    def revision(self) -> str:
        """That of the folder, with OpenVINO's version and the precision.  Raises HebbariumError
        without the extra.
        """
        return f"{super().revision}-{self.BACKEND}-{_openvino().__version__.partition('-')[0]}-{self.precision}-{FORMATS[self.precision]}"

    def _encode(self, texts: list[str], read: list[Any]) -> Vectors:
        if self._exact and len(read[0]) < FEW:
            return self._exact._encode(texts, read)
        return super()._encode(texts, read)

    def _last_layer(self, ids: Ids) -> Layer:
        if self._exact and ids.shape[1] < FEW:
            return self._exact._last_layer(ids)
        return super()._last_layer(ids)

    def _converted(self, model: Any) -> bytes:
        """A model of OpenVINO from ids (n, pieces) int64 to token vectors (n, pieces, d): its
        structure, XML, and its weights.
        """
        import torch

        library = _openvino()
        converted = library.convert_model(
            transformer(model), example_input=torch.ones((2, 8), dtype=torch.int64)
        )
        if self.precision == "int8":
            _weights_in_8_bits(library, converted)
        with tempfile.TemporaryDirectory() as folder:
            structure, weights = (Path(folder) / f"graph.{end}" for end in ("xml", "bin"))
            library.save_model(converted, structure, compress_to_fp16=False)
            return (
                structure.stat().st_size.to_bytes(LENGTH, "little")
                + structure.read_bytes()
                + weights.read_bytes()
            )

    def _network_of(self, graph: bytes) -> Network:
        options = {
            "INFERENCE_PRECISION_HINT": "f32",
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": threads(),
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": GROUP if self.precision == "int8" else "0",
        }
        weights, core = LENGTH + int.from_bytes(graph[:LENGTH], "little"), _openvino().Core()
        request = core.compile_model(
            core.read_model(graph[LENGTH:weights], graph[weights:]), "CPU", options
        ).create_infer_request()

        def run(ids: Ids) -> Layer:
            # the request writes its next answer to the same memory
            layer: Layer = request.infer([ids])[0].copy()
            return layer

        return run


def _openvino() -> Any:
    """The library.  Its import sends a usage report unless `openvino_telemetry` is missing, so
    that is hidden from it.
    """
    hidden = REPORTS not in sys.modules
    if hidden:
        sys.modules[REPORTS] = None  # type: ignore[assignment]
    try:
        import openvino
    except ImportError as error:
        raise HebbariumError(
            "OpenVINO is not installed", where="embedder", cure="pip install 'hebbarium[openvino]'"
        ) from error
    finally:
        if hidden:
            del sys.modules[REPORTS]
    return openvino


def _weights_in_8_bits(library: Any, converted: Any) -> None:
    """Replace each constant matrix W (outputs, inputs) of a product by round(W / s) s, s = max
    |W| / 127 of each output.
    """
    ops = library.opset13
    for node in converted.get_ordered_ops():
        if (
            node.get_type_name() == "MatMul"
            and node.input_value(1).get_node().get_type_name() == "Constant"
        ):
            weights = node.input_value(1).get_node().data
            if weights.ndim != 2:
                continue
            scale = np.maximum(np.abs(weights).max(axis=1, keepdims=True), 1e-12) / 127.0
            rounded = ops.convert(ops.constant(np.rint(weights / scale).astype(np.int8)), "f32")
            node.input(1).replace_source_output(
                ops.multiply(rounded, ops.constant(scale.astype(np.float32))).output(0)
            )
