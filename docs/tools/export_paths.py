"""Writes docs/results/export-paths.md: a new user's way from each of some exports to the first answer,
and to an ablation on questions of their own, with minutes.

    python docs/tools/export_paths.py [--set default] [--embedder minilm] EXPORT...

Each command runs in a process of its own, in an empty folder, as a user types it; questions and
marks are typed into `data ask`.  Of the exports the page tells names and counts alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "results" / "export-paths.md"
QUESTIONS = 10
KEYS_A_MINUTE = 200  # of a person who writes 40 words a minute
PUNCTUATION = ".,:;!?()'\""
STEPS = ("import", "first answer", "own data", "questions", "ablation")


@dataclass(frozen=True, slots=True)
class WayOfExport:
    """What a new user did with an export.

    seconds  s, of the command of each of STEPS
    keys     that were typed, commands included
    arms     of the ablation
    """

    export: str
    form: str
    messages: int
    left_out: int
    seconds: tuple[float, ...]
    keys: int
    questions: int
    arms: int

    @property
    def minutes(self) -> float:
        """Computing, and typing at KEYS_A_MINUTE."""
        return sum(self.seconds) / 60.0 + self.keys / KEYS_A_MINUTE

    @property
    def to_answer(self) -> float:
        """Minutes of computing until the first answer."""
        return sum(self.seconds[:2]) / 60.0


def run(words: Sequence[str], folder: Path, typed: str = "") -> tuple[str, float]:
    """What a command prints, and its seconds; ends the script if it fails."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "hebbarium", *words], cwd=folder, input=typed, capture_output=True,
        text=True, encoding="utf-8", env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"hebbarium {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout, time.perf_counter() - start


def question_of(text: str) -> str:
    """A question that a person may ask of a message: its longest words.

    >>> question_of("The oven door no longer shuts, so I ordered a hinge.")
    'What about ordered, longer, hinge?'
    """
    words = sorted({word.strip(PUNCTUATION) for word in text.split()}, key=lambda w: (-len(w), w))
    return f"What about {', '.join(words[:3])}?"


def travelled(export: Path, set_name: str, embedder: str) -> WayOfExport:
    """The way of one export, in a folder of its own."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        (folder / export.name).symlink_to(export.resolve(), target_is_directory=export.is_dir())
        model = ("--embedder", embedder)
        commands: list[list[str]] = [
            ["import", export.name, "--to", "life.db", "--set", set_name, *model]
        ]
        seconds = [run(commands[0], folder)[1]]
        told, _ = run(["import", export.name, "--to", "told", "--json"], folder)
        report = json.loads(told)
        lines = (folder / "told" / "events.jsonl").read_text(encoding="utf-8").splitlines()
        events = [json.loads(line) for line in lines]
        commands.append(["memory", "life.db", "ask", question_of(events[0]["text"])])
        commands.append(["import", export.name, "--to", "mine"])
        talk = max({e["conversation"] for e in events},
                   key=lambda name: sum(e["conversation"] == name for e in events))  # fmt: skip
        mine = [event for event in events if event["conversation"] == talk][:QUESTIONS]
        typed = "".join(f"{question_of(event['text'])}\n1\n" for event in mine) + "\n"
        commands.append(["data", "ask", "mine", "--conversation", talk, *model])
        commands.append(["ablate", "--set", set_name, "--dataset", "conversations", "--data", "mine",
                         *model, "--out", "out"])  # fmt: skip
        for number, words in enumerate(commands[1:], 1):
            seconds.append(run(words, folder, typed if number == 3 else "")[1])
        asked = (folder / "mine" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        arms = json.loads((folder / "out" / "manifest.json").read_text(encoding="utf-8"))["arms"]
        return WayOfExport(
            export.name,
            report["form"],
            report["messages"],
            sum(part["count"] for part in report["left_out"]),
            tuple(seconds),
            sum(len(" ".join(["hebbarium", *words])) + 1 for words in commands) + len(typed),
            len(asked),
            len(arms),
        )


def row(way: WayOfExport) -> str:
    """
    >>> row(WayOfExport("chat.txt", "whatsapp", 4, 1, (1.0, 1.0, 0.5, 3.0, 12.0), 400, 4, 19))
    '| `chat.txt` | whatsapp | 4 | 1 | 1.0 | 1.0 | 0.5 | 3.0 | 12.0 | 4 | 400 | 0.0 | 2.3 |'
    """
    times = " | ".join(f"{value:.1f}" for value in way.seconds)
    return (
        f"| `{way.export}` | {way.form} | {way.messages} | {way.left_out} | {times} | "
        f"{way.questions} | {way.keys} | {way.to_answer:.1f} | {way.minutes:.1f} |"
    )


def page(ways: Sequence[WayOfExport], set_name: str, embedder: str, commit: str) -> str:
    """The page."""
    rows = "\n".join(map(row, ways))
    heads = " | ".join(f"{step}, s" for step in STEPS)
    made = (
        f"Commit `{commit}`, {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores, a load of {os.getloadavg()[0]:.1f} at the end."
    )
    return f"""# From an export to an ablation

A new user's way with small imitations of exports, as [I have a chat export](../doors/chat-export.md) describes it: five commands, each in a process of its
own, in an empty folder, with `{set_name}` and `{embedder}`. `docs/tools/export_paths.py` writes this page. {made}

| export | form | messages | left out | {heads} | questions written | keys typed | minutes to the answer | minutes in all |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
{rows}

*Minutes in all* are the seconds of the five commands, and typing them with the questions and a key for each mark, at {KEYS_A_MINUTE} keys a minute; *to the
answer* those of the first two commands without typing. The ablation has {ways[0].arms} arms. A real export takes longer by its messages: [1,000 are encoded in
about ten seconds](../doors/export-forms.md). With so few messages the table of the ablation decides nothing, and says so.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the way from exports to ablations.")
    parser.add_argument("exports", nargs="+", type=Path)
    parser.add_argument("--set", default="default")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--page", type=Path, default=PAGE)
    given = parser.parse_args()
    git = ["git", "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    ways = [travelled(export, given.set, given.embedder) for export in given.exports]
    text = page(ways, given.set, given.embedder, commit.strip())
    given.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
