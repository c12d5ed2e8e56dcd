"""A sentence-transformers model on the CPU by OpenVINO, in float32 or in 8 bits: an extra, `pip install 'hebbarium[openvino]'`.

The transformer is converted from the folder's own weights in memory; nothing is downloaded or written, and OpenVINO's usage reports are off.
"""
from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..errors import HebbariumError
from .embedder import Vectors
from .sentence_transformer import SentenceTransformerEmbedder

Precision = Literal["float32", "int8"]
GROUP = "128"               # values of an activation that share one scale in 8-bit products
FEW = 8                     # word pieces; shorter texts are computed in float32 also for int8, as no mean over many pieces evens out the rounding
LEAST_COSINE = 0.995        # to the vectors of torch in float32
FORMAT = "1"                # raised when this file changes the vectors
REPORTS = "openvino_telemetry"
SAMPLE = (" Ada moved to a RED house in May. ", "The old bicycle was stolen in March, so Ben bought a green one; he paid 240 euros for it. " * 3)


class OpenVinoEmbedder(SentenceTransformerEmbedder):
    """As SentenceTransformerEmbedder, with other arithmetic; the revision names it, so that caches are kept apart.

    precision  `float32`; `int8`: weights in 8 bits, one scale per output, and activations in 8 bits, one scale per 128 values, for texts of at
               least 8 word pieces.  OpenVINO rounds activations only on processors with 8-bit products

    Token vectors are averaged here.  At the first `embed` two texts are compared with the vectors of torch, so a model with other pooling, or with a
    prompt, is refused.

    Errors: HebbariumError without the extra, and for a model that OpenVINO cannot convert or whose vectors differ (cosine below 0.995).
    """

    def __init__(self, folder: Path | str, *, name: str = "", precision: Precision = "float32") -> None:
        super().__init__(folder, name=name)
        self.precision = precision
        self._request: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_request": None}

    @property
    def revision(self) -> str:
        """That of the folder, with OpenVINO's version and the precision.  Raises HebbariumError without the extra."""
        return f"{super().revision}-openvino-{_openvino().__version__.partition('-')[0]}-{self.precision}-{FORMAT}"

    def _encode(self, model: Any, texts: list[str]) -> Vectors:
        if self._request is None:
            self._request = self._checked(model)
        ids = _ids(model, texts)
        return super()._encode(model, texts) if self.precision == "int8" and ids.shape[1] < FEW else _averaged(self._request, ids)

    def _last_layer(self, model: Any, ids: Any) -> Any:
        if self._request is None:
            self._request = self._checked(model)
        return super()._last_layer(model, ids) if self.precision == "int8" and ids.shape[1] < FEW else self._request.infer([ids])[0].copy()

    def _checked(self, model: Any) -> Any:
        """An inference request whose vectors of a few texts are those of torch.  Raises HebbariumError."""
        library = _openvino()
        try:
            request = _compiled(library, model, self.precision)
            near = [_cosine(_averaged(request, _ids(model, [text]))[0], super(OpenVinoEmbedder, self)._encode(model, [text])[0]) for text in SAMPLE]
        except Exception as error:      # any error of four libraries
            raise HebbariumError(f"OpenVINO cannot run this model: {str(error).partition(chr(10))[0]}", where=str(self.folder),
                                 cure="leave out +openvino") from error
        if not min(near) >= LEAST_COSINE:
            raise HebbariumError(f"OpenVINO gives other vectors for this model (cosine {min(near):.3f})", where=str(self.folder),
                                 cure="leave out +openvino; only models with mean pooling and without a prompt are supported")
        return request


def _ids(model: Any, texts: list[str]) -> Any:
    """(n, pieces) int64; the texts have equal length in word pieces."""
    return np.array(model.tokenizer(texts, truncation=True, max_length=model.max_seq_length)["input_ids"], np.int64)


def _averaged(request: Any, ids: Any) -> Vectors:
    """(n, d) means of token vectors."""
    return np.asarray(request.infer([ids])[0].mean(axis=1), np.float32)


def _cosine(one: Vectors, other: Vectors) -> float:
    return float(one @ other / np.sqrt((one @ one) * (other @ other)))


def _openvino() -> Any:
    """The library.  Its import sends a usage report unless `openvino_telemetry` is missing, so that is hidden from it."""
    hidden = REPORTS not in sys.modules
    if hidden:
        sys.modules[REPORTS] = None     # type: ignore[assignment]
    try:
        import openvino
    except ImportError as error:
        raise HebbariumError("OpenVINO is not installed", where="embedder", cure="pip install 'hebbarium[openvino]'") from error
    finally:
        if hidden:
            del sys.modules[REPORTS]
    return openvino


def _compiled(library: Any, model: Any, precision: Precision) -> Any:
    """An inference request from ids (n, pieces) int64 to token vectors (n, pieces, d)."""
    import torch

    network = model[0].auto_model

    class Tokens(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, ids: Any) -> Any:
            return self.network(input_ids=ids).last_hidden_state

    with _silent():
        converted = library.convert_model(Tokens().eval(), example_input=torch.ones((2, 8), dtype=torch.int64))
    if precision == "int8":
        _weights_in_8_bits(library, converted)
    options = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": torch.get_num_threads(),
               "DYNAMIC_QUANTIZATION_GROUP_SIZE": GROUP if precision == "int8" else "0"}
    return library.Core().compile_model(converted, "CPU", options).create_infer_request()


def _weights_in_8_bits(library: Any, converted: Any) -> None:
    """Replace each constant matrix W (outputs, inputs) of a product by round(W / s) s, s = max |W| / 127 of each output."""
    ops = library.opset13
    for node in converted.get_ordered_ops():
        if node.get_type_name() == "MatMul" and node.input_value(1).get_node().get_type_name() == "Constant":
            weights = node.input_value(1).get_node().data
            if weights.ndim != 2:
                continue
            scale = np.maximum(np.abs(weights).max(axis=1, keepdims=True), 1e-12) / 127.0
            rounded = ops.convert(ops.constant(np.rint(weights / scale).astype(np.int8)), "f32")
            node.input(1).replace_source_output(ops.multiply(rounded, ops.constant(scale.astype(np.float32))).output(0))


@contextmanager
def _silent() -> Iterator[None]:
    """No warnings of the conversion, which reads deprecated attributes and traces branches that depend on the shape alone."""
    logging = importlib.import_module("transformers.utils.logging")
    level = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
