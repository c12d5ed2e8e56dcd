"""`hebbarium show --set` refuses a set that cannot be built, with file and line, as `hebbarium
run` does.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hebbarium.cli import main

SETS = {
    "two setters of one column": (
        "summary: x\nmechanisms:\n  - convex_fusion\n  - weighted_rrf\n",
        2,
        "both set fused",
    ),
    "value out of bounds": (
        "mechanisms:\n  dense_similarity:\n    weight: 99\n",
        3,
        "99 is outside [0, 10]",
    ),
    "value of another type": (
        "mechanisms:\n  lexical_bm25:\n    k1: 1.2\n    b: high\n",
        4,
        "'high' is no number",
    ),
    "unknown mechanism": (
        "mechanisms:\n  - heat\n  - recencey\n",
        3,
        "the nearest name is recency",
    ),
    "unknown parameter": (
        "mechanisms:\n  heat:\n    wieght: 1\n",
        3,
        "choose from weight, time_scale",
    ),
}


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize(
    "command",
    [
        ("show",),
        ("show", "--schedule"),
        ("run", "--dataset", "demo", "--embedder", "hashing", "--out", "{tmp}/out"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_set_that_cannot_be_built_is_refused(
    kind: str,
    command: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text, line, words = SETS[kind]
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setattr(
        sys,
        "argv",
        [
            "hebbarium",
            *(word.replace("{tmp}", str(tmp_path)) for word in command),
            "--set",
            str(file),
        ],
    )
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert ended.value.code == 2 and not said.out
    assert f"{file}:{line}" in said.err and words in said.err and "What to do:" in said.err


@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["table", "json"])
def test_a_file_of_a_set_is_shown_as_param_takes_it(
    as_json: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "sets").mkdir()
    (tmp_path / "rules.yaml").write_text("rules: []\n", encoding="utf-8")
    (tmp_path / "sets" / "mine.yaml").write_text(
        "mechanisms:\n  lexical_bm25:\n  rule_filter: {rules: ../rules.yaml}\n", encoding="utf-8"
    )
    for folder, shown in (
        (tmp_path, "rules.yaml"),
        (tmp_path / "sets", str((tmp_path / "rules.yaml").resolve())),
    ):
        monkeypatch.chdir(folder)
        monkeypatch.setattr(
            sys,
            "argv",
            ["hebbarium", "show", "--set", str(tmp_path / "sets" / "mine.yaml"), *as_json],
        )
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr().out
        assert (
            not ended.value.code
            and ".." not in said
            and (f'"rules": "{shown}"' if as_json else f"rules={shown}\n") in said
        )
