"""The ONNX graph of a BERT in the folder of a sentence model, written from its weights without torch.

The operations and their order are those of torch's own export, so that the vectors have its bits.
"""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Weights = Mapping[str, NDArray[np.float32]]

OPSET: Final = 17
IR_VERSION: Final = 8  # version of the format of the file, as torch writes it
# settings of config.json that the graph supposes
SUPPOSED: Final = {
    "architectures": ["BertModel"],
    "model_type": "bert",
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
}
# parts of modules.json, by the ends of their types
PARTS: Final = (("Transformer", "Pooling"), ("Transformer", "Pooling", "Normalize"))


def written(folder: Path) -> bytes | None:
    """The network from ids (n, pieces) to token vectors (n, pieces, d); None for a folder with
    another network than BERT, with other weights than safetensors of float32, with another pooling
    than the mean, or with a prompt.
    """
    config = _settings(folder / "config.json")
    file = folder / "model.safetensors"
    if not file.is_file() or not _is_supposed(folder, config):
        return None
    weights: Weights = importlib.import_module("safetensors.numpy").load_file(file)
    try:
        return _GraphWriter(config, weights).graph()
    except KeyError:  # weights of other names
        return None


def _settings(file: Path) -> dict[str, Any]:
    settings: Any = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return settings if isinstance(settings, dict) else {}


def _is_supposed(folder: Path, config: Mapping[str, Any]) -> bool:
    file = folder / "modules.json"
    parts = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    kinds = tuple(str(part.get("type", "")).rpartition(".")[2] for part in parts)
    if kinds not in PARTS or parts[0].get("path"):
        return False
    pooling = _settings(folder / str(parts[1].get("path", "")) / "config.json")
    modes = {name for name, on in pooling.items() if name.startswith("pooling_mode") and on}
    prompt = _settings(folder / "config_sentence_transformers.json").get("default_prompt_name")
    return (
        all(config.get(name, value) == value for name, value in SUPPOSED.items())
        and config.get("model_type") == "bert"
        and modes == {"pooling_mode_mean_tokens"}
        and not prompt
    )


class _GraphWriter:
    """Collects nodes and constants of one graph."""

    def __init__(self, config: Mapping[str, Any], weights: Weights) -> None:
        self.onnx = importlib.import_module("onnx")
        self.config, self.weights = config, weights
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def graph(self) -> bytes:
        helper, types = self.onnx.helper, self.onnx.TensorProto
        x = self._embedded()
        for layer in range(int(self.config["num_hidden_layers"])):
            x = self._layer(f"encoder.layer.{layer}", x)
        self._add("Identity", [x], output="layer")
        width = int(self.config["hidden_size"])
        graph = helper.make_graph(
            self.nodes,
            "bert",
            [helper.make_tensor_value_info("ids", types.INT64, ["texts", "pieces"])],
            [helper.make_tensor_value_info("layer", types.FLOAT, ["texts", "pieces", width])],
            list(self.constants.values()),
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
        )
        written: bytes = model.SerializeToString()
        return written

    def _add(self, kind: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        output = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [output], **attributes))
        return output

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        if name not in self.constants:
            self.constants[name] = self.onnx.numpy_helper.from_array(
                np.ascontiguousarray(value), name
            )
        return name

    def _weight(self, name: str) -> str:
        value = self.weights[name]
        if value.dtype != np.float32:
            raise KeyError(name)
        return self._constant(name, value)

    def _number(self, value: float) -> str:
        return self._constant(f"number {value}", np.array(value, np.float32))

    def _embedded(self) -> str:
        """Vectors of words, types and positions, normalised; every piece is of the first type."""
        words = self._add("Gather", [self._weight("embeddings.word_embeddings.weight"), "ids"])
        kinds = self.weights["embeddings.token_type_embeddings.weight"]
        typed = self._add("Add", [words, self._constant("first type", kinds[0])])
        first = self._constant("rows", np.zeros(1, np.int64))
        pieces = self._add("Shape", ["ids"], start=1, end=2)
        positions = self._weight("embeddings.position_embeddings.weight")
        places = self._add("Slice", [positions, first, pieces, first])
        placed = self._add("Add", [typed, places])
        return self._normalised("embeddings.LayerNorm", placed)

    def _layer(self, name: str, x: str) -> str:
        attended = self._linear(
            f"{name}.attention.output.dense", self._attention(f"{name}.attention.self", x)
        )
        x = self._normalised(f"{name}.attention.output.LayerNorm", self._add("Add", [attended, x]))
        inner = self._gelu(self._linear(f"{name}.intermediate.dense", x))
        outer = self._linear(f"{name}.output.dense", inner)
        return self._normalised(f"{name}.output.LayerNorm", self._add("Add", [outer, x]))

    def _attention(self, name: str, x: str) -> str:
        heads, width = int(self.config["num_attention_heads"]), int(self.config["hidden_size"])
        size = width // heads
        # query and key both take the root of the scale 1 / sqrt(size)
        scale = self._number(math.sqrt(1.0 / math.sqrt(size)))
        shape = self._constant("heads", np.array([0, 0, -1, size], np.int64))

        def part(kind: str, order: list[int]) -> str:
            split = self._add("Reshape", [self._linear(f"{name}.{kind}", x), shape])
            return self._add("Transpose", [split], perm=order)

        query = self._add("Mul", [part("query", [0, 2, 1, 3]), scale])
        key = self._add("Mul", [part("key", [0, 2, 3, 1]), scale])
        shares = self._add("Softmax", [self._add("MatMul", [query, key])], axis=-1)
        mixed = self._add("MatMul", [shares, part("value", [0, 2, 1, 3])])
        joined = self._add("Transpose", [mixed], perm=[0, 2, 1, 3])
        whole = self._constant("width", np.array([0, 0, width], np.int64))
        return self._add("Reshape", [joined, whole])

    def _linear(self, name: str, x: str) -> str:
        across = self._constant(f"{name}.weight", self.weights[f"{name}.weight"].T)
        product = self._add("MatMul", [x, across])
        return self._add("Add", [self._weight(f"{name}.bias"), product])

    def _gelu(self, x: str) -> str:
        error = self._add("Erf", [self._add("Div", [x, self._number(math.sqrt(2.0))])])
        twice = self._add("Mul", [x, self._add("Add", [error, self._number(1.0)])])
        return self._add("Mul", [twice, self._number(0.5)])

    def _normalised(self, name: str, x: str) -> str:
        return self._add(
            "LayerNormalization",
            [x, self._weight(f"{name}.weight"), self._weight(f"{name}.bias")],
            axis=-1,
            epsilon=float(self.config["layer_norm_eps"]),
        )
