"""Embeddings of a server with OpenAI's interface: an extra, `pip install 'hebbarium[openai]'`.

The library reads key and address from the environment, OPENAI_API_KEY and OPENAI_BASE_URL.  Texts
are sent to the server.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.errors import HebbariumError
from .embedder import Vectors, checked_texts

BATCH = 128  # texts in a request
CHARACTERS = 20_000  # sent of each text
CURE_SERVER = (
    "check OPENAI_API_KEY, the model's name, and OPENAI_BASE_URL for a server other than OpenAI's"
)


class OpenAICompatibleEmbedder:
    """A model of such a server, such as `text-embedding-3-small`.

    `dimensions` is asked of the server once, with a short text.  The revision is a digest of the
    server's address; the server does not state a revision of the model, so delete the cache if it
    changes.  An empty text is sent as a space.

    Errors: HebbariumError without the extra, and for every failed request; its text shows neither
    key nor address.
    """

    def __init__(self, model: str) -> None:
        self.model, self.name = model, f"openai:{model}"
        self._client: Any = None
        self._dimensions = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_client": None}

    @property
    def revision(self) -> str:
        """`server-` and 8 hexadecimal digits of the server's address."""
        return server_revision()

    @property
    def dimensions(self) -> int:
        if not self._dimensions:
            self._dimensions = self._request(["dimensions"]).shape[1]
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, d) unit vectors; one request for 128 texts.  Raises HebbariumError."""
        checked_texts(texts)
        clean = [
            text[:CHARACTERS].encode("utf-8", "replace").decode("utf-8") or " " for text in texts
        ]
        parts = [
            self._request(clean[start : start + BATCH]) for start in range(0, len(clean), BATCH)
        ]
        return np.concatenate([np.empty((0, self.dimensions), np.float32), *parts])

    def _request(self, texts: list[str]) -> Vectors:
        try:
            if self._client is None:
                from openai import OpenAI

                self._client = OpenAI()
            items = sorted(
                self._client.embeddings.create(
                    model=self.model, input=texts, encoding_format="float"
                ).data,
                key=lambda item: item.index,
            )
            rows = np.array([item.embedding for item in items], np.float64)
            if (
                rows.ndim != 2
                or len(rows) != len(texts)
                or (self._dimensions and rows.shape[1] != self._dimensions)
            ):
                raise ValueError("other vectors than asked for")
            return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)
        except ImportError as error:
            raise HebbariumError(
                "the library openai is not installed",
                where=self.name,
                cure="pip install 'hebbarium[openai]'",
            ) from error
        except Exception as error:  # any error of the library, the network or the server
            raise HebbariumError(
                f"the server gave no embeddings ({type(error).__name__})",
                where=self.name,
                cure=CURE_SERVER,
            ) from error


def server_revision() -> str:
    """`server-` and 8 hexadecimal digits of SHA-256 of OPENAI_BASE_URL."""
    return (
        f"server-{hashlib.sha256(os.environ.get('OPENAI_BASE_URL', '').encode()).hexdigest()[:8]}"
    )
