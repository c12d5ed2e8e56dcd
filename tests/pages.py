"""HTML pages as tests read them."""

from __future__ import annotations

from html.parser import HTMLParser


class Seen(HTMLParser):
    """Elements and text of a page; no element may have an event handler."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data
