"""The script that travels from exports to ablations, and its page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from scripts import script

PATHS = script("export_paths")


def test_the_page_has_each_form_with_its_minutes() -> None:
    """If not, run `python docs/tools/export_paths.py` with exports."""
    text = PATHS.PAGE.read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    assert {row[1] for row in rows} >= {"chatgpt", "claude", "slack", "whatsapp", "mail"}
    for row in rows:
        seconds, keys, minutes = [float(cell) for cell in row[4:9]], float(row[10]), float(row[12])
        assert minutes == pytest.approx(sum(seconds) / 60 + keys / PATHS.KEYS_A_MINUTE, abs=0.06)
        assert minutes < 10.0, "a new user has more patience than that for nothing"
    assert re.search(r"Commit `[0-9a-f]{8}`", text) and "/tmp" not in text


@pytest.mark.slow
def test_an_export_is_travelled_to_its_ablation(tmp_path: Path) -> None:
    messages = [{"role": ("user", "assistant")[n % 2], "content": f"In bay {n} Ada counted {n + 1000} boats."}
                for n in range(4)]  # fmt: skip
    export = tmp_path / "chat.json"
    export.write_text(json.dumps(messages), encoding="utf-8")
    way = PATHS.travelled(export, "bm25", "hashing:64")
    assert (way.form, way.messages, way.left_out, way.questions) == ("messages", 4, 0, 4)
    assert len(way.seconds) == len(PATHS.STEPS) and way.arms == 2 and way.keys > 200
    assert PATHS.row(way).count("|") == 14
