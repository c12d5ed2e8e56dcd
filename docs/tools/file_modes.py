"""Writes the table of files and their modes into the guide on trust: a script of commands is run in
an empty folder under the usual umask, and every file and folder that is there at any moment is listed.

    python docs/tools/file_modes.py

A test compares the guide with what the commands write.  Files are looked at whenever Python opens,
makes, renames or removes one, so that drafts and journals are seen.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from hebbarium.cli.app import command_line

GUIDE = Path(__file__).resolve().parents[1] / "guides" / "trust.md"
PLACE = re.compile(r"(?<=<!-- written by docs/tools/file_modes\.py -->\n).*?(?=<!-- end -->)", re.S)
UMASK = 0o022  # under which others may read what is written without care
EVENTS = ("open", "sqlite3.", "os.", "shutil.", "tempfile.")
CHAT = "1/2/24, 9:01 AM - Ada: I painted the window.\n1/2/24, 9:03 AM - Bo: Which colour?\n"
HOOK = json.dumps(
    {"session_id": "s", "cwd": "/", "tool_name": "Edit", "tool_input": {"file_path": "a.py"}}
)
MODEL = "--embedder hashing:16"
# what a person does, and the commands; each begins in an empty folder, which has `chat.txt`
STEPS: Mapping[str, tuple[str, ...]] = {
    "a memory in a file": (
        f"memory life.db new --set hybrid {MODEL}",
        "memory life.db tell 'Ada painted the window.' --id e1",
        "memory life.db ask 'What did Ada paint?'",
        "memory life.db export --to told.jsonl",
        "memory life.db export --to told",
        "memory life.db erase e1 --yes",
        f"memory life.db rebuild --set bm25 {MODEL}",
    ),
    "hooks of an assistant": (
        f"hook edit --path life.db --set hybrid {MODEL}",
        f"hook end --path life.db --set hybrid {MODEL}",
    ),
    "an import": (
        "import chat.txt --to mine",
        f"import chat.txt --to life.db --set hybrid {MODEL}",
    ),
    "a run, and its exports": (
        f"run --set hybrid --dataset demo --limit 1 {MODEL} --out out",
        "export out --csv rows.csv",
        "export out --trec trec",
        "explain out --misses --html explained.html",
    ),
    "an ablation": (
        f"ablate --set naive_rag --dataset demo --limit 2 {MODEL} --design leave-one-out --out out",
    ),
    "the sentence model": (
        "memory life.db new --set naive_rag",
        "memory life.db tell 'Ada painted the window.'",
    ),
}


# what is there for a moment beside a file, and the words for it
BESIDE = re.compile(r"(-journal|-wal|-shm|\.\d+-[0-9a-f]{6,}\.(new|part)|/\.write-test-\w+)")
DRAFTS = "drafts and journals of these"


def plain(name: str) -> str:
    """A name without what differs from run to run.

    >>> plain("life.db.123-9f86d081.new"), plain("cache/models/0123456789abcdef-onnx-1.onnx")
    ('drafts and journals of these', 'cache/models/<hex>-onnx-1.onnx')
    """
    return DRAFTS if BESIDE.search(name) else re.sub(r"[0-9a-f]{16,}", "<hex>", name)


class Watch:
    """Every file and folder that was seen below some folder, with its mode."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.modes: set[tuple[str, str]] = set()
        self._busy = False
        sys.addaudithook(self._heard)

    def _heard(self, event: str, _: Any) -> None:
        if self.folder is None or self._busy or not event.startswith(EVENTS):
            return
        self.look()

    def look(self) -> None:
        """List what is there now."""
        folder, self._busy = self.folder, True
        try:
            for path in folder.rglob("*") if folder else ():
                with contextlib.suppress(OSError):  # it has gone since
                    status = path.stat()
                    name = plain(path.relative_to(folder).as_posix()) + "/" * path.is_dir()
                    self.modes.add((name, f"{status.st_mode & 0o777:04o}"))
        finally:
            self._busy = False


@contextlib.contextmanager
def desk(watch: Watch) -> Iterator[Path]:
    """An empty folder as working folder, under the usual umask, with a cache of its own."""
    here, mask, cache = Path.cwd(), os.umask(UMASK), os.environ.get("HEBBARIUM_CACHE")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "desk"
        folder.mkdir()
        os.environ["HEBBARIUM_CACHE"] = str(folder / "cache")
        os.chdir(folder)
        Path("chat.txt").write_text(CHAT, encoding="utf-8")
        watch.folder, watch.modes = folder, set()
        try:
            yield folder
        finally:
            watch.look()
            watch.folder = None
            os.chdir(here)
            os.umask(mask)
            os.environ.pop("HEBBARIUM_CACHE")
            os.environ.update({} if cache is None else {"HEBBARIUM_CACHE": cache})


def seen() -> dict[str, set[tuple[str, str]]]:
    """What each step writes: pairs of a name, of a folder with a slash at its end, and a mode."""
    watch, steps = Watch(), {}
    for step, lines in STEPS.items():
        with desk(watch):
            for line in lines:
                _call(line)
        steps[step] = {pair for pair in watch.modes if pair[0] != "chat.txt"}
    return steps


def _call(line: str) -> None:
    words = shlex.split(line)
    before, sys.stdin = sys.stdin, io.StringIO(HOOK if words[0] == "hook" else "")
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            command_line()(words, prog_name="hebbarium", standalone_mode=False)
    finally:
        sys.stdin = before


def table(steps: Mapping[str, Collection[tuple[str, str]]]) -> str:
    """One row for each mode of a step."""
    lines = ["| written by | files and folders | mode |", "|---|---|---|"]
    for step, pairs in steps.items():
        for mode in sorted({mode for _, mode in pairs}):
            names = sorted(name for name, its in pairs if its == mode and name != DRAFTS)
            drafts = [DRAFTS] if (DRAFTS, mode) in pairs else []
            listed = ", ".join([*(f"`{name}`" for name in names), *drafts])
            lines.append(f"| {step} | {listed} | {mode} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    made = table(seen())
    if not PLACE.search(text):
        sys.exit(f"the guide has no place for the table\n{made}")
    GUIDE.write_text(PLACE.sub(lambda _: made, text, count=1), encoding="utf-8")


if __name__ == "__main__":
    main()
