"""What both reports share: one base page, one style sheet, one script, and files written whole
or not at all.
"""

from __future__ import annotations

import errno
import os
import re
from base64 import b64decode
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError

import hebbarium
from hebbarium.engine.base.errors import HebbariumError
from hebbarium.reporting.files import write_json, write_whole
from hebbarium.reporting.pages import SHARED, environment
from hebbarium.reporting.text import visible

PACKAGE = Path(hebbarium.__file__).parent
TEMPLATES = {
    "audit": PACKAGE / "audit" / "templates",
    "ablation": PACKAGE / "benchmarks" / "templates",
}


@pytest.fixture
def page(tmp_path: Path) -> str:
    (tmp_path / "own.html.j2").write_text(
        '{% extends "base.html.j2" %}{% block title %}{{ name }}{% endblock %}'
        "{% block body %}<p>{{ name }} {{ name|breakable }}</p>{% endblock %}",
        encoding="utf-8",
    )
    return environment(tmp_path).get_template("own.html.j2").render(name="<b>a_b\u202e")


def test_a_page_is_safe_and_allows_its_own_script_alone(page: str) -> None:
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    policy = re.findall(r"script-src 'sha256-([^']+)'", page)
    assert (
        len(script) == len(policy) == 1
        and b64decode(policy[0]) == sha256(script[0].encode()).digest()
    )
    assert "<b>" not in page and "&lt;b&gt;a_<wbr>b\ufffd" in page and "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page and not re.search(r"url\(|@import|https?:", page)


def test_an_undefined_name_raises(tmp_path: Path) -> None:
    (tmp_path / "own.html.j2").write_text("{{ absent }}", encoding="utf-8")
    with pytest.raises(UndefinedError):
        environment(tmp_path).get_template("own.html.j2").render()


@pytest.mark.parametrize("report", TEMPLATES)
def test_a_report_has_no_page_script_or_palette_of_its_own(report: str) -> None:
    templates = {
        file.name: file.read_text(encoding="utf-8") for file in TEMPLATES[report].iterdir()
    }
    assert templates[f"{report}.html.j2"].startswith('{% extends "base.html.j2" %}')
    for name, text in templates.items():
        assert (
            "<script" not in text and "<!doctype" not in text and "prefers-color-scheme" not in text
        ), name
        assert not re.search(r"#[0-9a-f]{3,8}\b(?=[;, ])", text), f"{name} has a colour of its own"


def test_every_colour_that_a_style_sheet_uses_is_defined() -> None:
    shared = (SHARED / "page.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\n\s*\}", shared, re.DOTALL)[:2]
    defined = set(re.findall(r"(--[a-z0-9-]+):", light))
    colours = {name for name in defined if re.search(rf"{name}: #", light)}
    assert set(re.findall(r"(--[a-z0-9-]+):", dark)) == colours, "every colour has a dark one"
    for file in (
        SHARED / "page.css",
        *(sheet for folder in TEMPLATES.values() for sheet in folder.glob("*.css")),
    ):
        text = file.read_text(encoding="utf-8")
        assert set(re.findall(r"var\((--[a-z0-9-]+)", text)) <= defined | {"--tint", "--v"}, file


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "page.html"
    write_whole(path, ["one ", "caf\u00e9 \ud800"])
    assert path.read_bytes() == "one caf\u00e9 \\ud800".encode()

    def broken():  # type: ignore[no-untyped-def]
        yield "half"
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        write_whole(path, broken())
    assert path.read_bytes().startswith(b"one"), "the earlier file stays"
    assert [file.name for file in path.parent.iterdir()] == ["page.html"]
    with pytest.raises(HebbariumError, match="cannot be written"):
        write_json(path / "below.json", {})


@pytest.mark.parametrize(
    ("number", "what", "cure"),
    [
        (errno.ENOSPC, "the disk is full", "free disk space"),
        (errno.EACCES, "no permission", "make the folder writable"),
        (errno.EIO, "Input/output error", "check the path and the disk"),
    ],
    ids=["full", "forbidden", "other"],
)
def test_a_file_that_cannot_be_written_names_the_cause_and_leaves_nothing_behind(
    number: int, what: str, cure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, opened = tmp_path / "rows.jsonl", Path.open
    write_whole(path, ["earlier"])

    def failing(self: Path, *args: Any, **options: Any) -> Any:
        file = opened(self, *args, **options)

        def writelines(lines: Iterable[str]) -> None:
            file.write("half")
            file.flush()
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(file, "writelines", writelines, raising=False)
        return file

    monkeypatch.setattr(Path, "open", failing)
    with pytest.raises(HebbariumError, match=what) as caught:
        write_whole(path, ["later"])
    assert caught.value.where == str(path) and caught.value.cure.startswith(cure)
    assert [file.name for file in tmp_path.iterdir()] == [
        "rows.jsonl"
    ] and path.read_bytes() == b"earlier"


def test_text_that_tricks_a_reader_is_replaced() -> None:
    assert (
        visible("a\x1b[31m\u202eb\u2028c\ud800") == "a\ufffd[31m\ufffdb\ufffdc\ufffd"
        and visible("Zürich 記憶 🦊") == "Zürich 記憶 🦊"
    )
