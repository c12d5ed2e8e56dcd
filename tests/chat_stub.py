"""A server of chat completions on this machine, in the form of OpenAI's interface, for tests of
the language-model port.
"""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from typing import Any


class ChatStub(BaseHTTPRequestHandler):
    """POST: notes what was asked, and sends the content and status that `replied` gives."""

    asked: list[dict[str, Any]]

    def replied(self, asked: dict[str, Any]) -> tuple[str, int]:
        """Content of the message, and HTTP status."""
        raise NotImplementedError

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).asked.append(asked)
        content, status = self.replied(asked)
        body = json.dumps({"id": "1", "object": "chat.completion", "created": 0,
                           "model": asked["model"],
                           "usage": {"prompt_tokens": 11, "completion_tokens": 3},
                           "choices": [{"index": 0, "finish_reason": "stop",
                                        "message": {"role": "assistant",
                                        "content": content}}]}).encode()  # fmt: skip
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...
