"""A sample of the chat of ten million tokens: lived and asked with stages, as
benchmarks/speed/long_chat.py does with 31,000 messages.
"""

from __future__ import annotations

import re
from importlib import util
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "speed" / "long_chat.py"
STAGED = """summary: words alone, with stages, their summaries and the sources of contexts
mechanisms: [stage_detection, lexical_bm25, stage_summary, own_stage, adjacent_stages, stage_summaries]
"""


@pytest.fixture
def long_chat(monkeypatch: pytest.MonkeyPatch) -> Any:
    spec = util.spec_from_file_location("long_chat_script", SCRIPT)
    assert spec and spec.loader
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "EVERY", 5)
    return module


@pytest.mark.slow
def test_a_sample_is_read_lived_and_asked_in_bounded_memory(
    long_chat: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "staged.yaml").write_text(STAGED, encoding="utf-8")
    long_chat.lived(str(tmp_path / "staged.yaml"), 3, 40)
    printed = capsys.readouterr().out
    assert (
        "120 events in 3 plans" in printed
        and "asked 40 questions" in printed
        and "with a context" in printed
    )
    assert len(re.findall(r"\d\.\d\d", printed.partition("ms an event:")[2].splitlines()[0])) >= 8
    growth = float(re.findall(r"costs (\d+\.\d+) of one", printed)[0])
    assert growth > 0.0 and re.search(r"at most [\d,]+ MiB of 2,048", printed)
