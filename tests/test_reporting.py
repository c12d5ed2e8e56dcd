"""What both reports share: one base page, one style sheet, one script, and files written whole
or not at all.
"""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from jinja2 import UndefinedError

import hebbarium
from hebbarium.engine.base import private
from hebbarium.engine.base.errors import HebbariumError
from hebbarium.reporting.files import write_json, write_whole
from hebbarium.reporting.pages import SHARED, environment
from hebbarium.reporting.text import visible

PACKAGE = Path(hebbarium.__file__).parent
TEMPLATES = {
    "audit": PACKAGE / "audit" / "templates",
    "design": PACKAGE / "benchmarks" / "templates",
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
    number: int, what: str, cure: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.jsonl"
    write_whole(path, ["earlier"])

    def failing() -> Iterator[str]:
        yield "half"
        raise OSError(number, os.strerror(number))

    with pytest.raises(HebbariumError, match=what) as caught:
        write_whole(path, failing())
    assert caught.value.where == str(path) and caught.value.cure.startswith(cure)
    assert [file.name for file in tmp_path.iterdir()] == [
        "rows.jsonl"
    ] and path.read_bytes() == b"earlier"


def test_a_planted_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither at the name that drafts had, nor at one that somebody has foreseen."""
    path, victim = tmp_path / "page.html", tmp_path / "victim"
    victim.write_bytes(b"mine")
    path.with_name("page.html.part").symlink_to(victim)
    write_whole(path, ["words"])
    monkeypatch.setattr(private, "token_hex", lambda size: "0" * 2 * size)
    foreseen = path.with_name(f"page.html.{os.getpid()}-00000000.part")
    foreseen.symlink_to(victim)
    with pytest.raises(HebbariumError, match="cannot be written"):
        write_whole(path, ["other words"])
    assert victim.read_bytes() == b"mine" and path.read_bytes() == b"words"
    path.unlink()
    path.symlink_to(victim)
    monkeypatch.undo()
    write_whole(path, ["whole"])  # a link at the name itself is replaced
    assert victim.read_bytes() == b"mine" and not path.is_symlink()


def test_drafts_of_processes_that_have_ended_are_cleared(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    name, mine = f"page.html.{ended.pid}", f"page.html.{os.getpid()}"
    gone = {f"{name}-0a1b2c3d.part", f"{name}.part"}
    stay = {f"{mine}-0a1b2c3d.part", f"{name}.new", f"other.{name}.part", "page.html.part"}
    for file in gone | stay:
        (tmp_path / file).touch()
    write_whole(tmp_path / "page.html", ["words"])
    assert {file.name for file in tmp_path.iterdir()} == stay | {"page.html"}


def test_text_that_tricks_a_reader_is_replaced() -> None:
    assert (
        visible("a\x1b[31m\u202eb\u2028c\ud800") == "a\ufffd[31m\ufffdb\ufffdc\ufffd"
        and visible("Zürich 記憶 🦊") == "Zürich 記憶 🦊"
    )
