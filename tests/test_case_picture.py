"""The picture of one split, merge and update: what the cases show, and that it is up to date."""

from __future__ import annotations

from typing import Any

import pytest
from scripts import script

draw_case = script("draw_case")


@pytest.fixture(scope="module")
def cases() -> Any:
    return draw_case.cases()


def test_an_edit_brings_what_the_question_asks_for_among_the_first(cases: Any) -> None:
    split, merge, update = cases
    assert [case.operator for case in cases] == ["split", "merge", "update"]
    for case in (split, update):
        assert not any(memory.gold for memory in case.before) and case.after[0].gold
    # the bundle shows all that was told again and again, in one place instead of five
    assert not merge.before[0].gold and merge.after[0].gold
    assert len(merge.archived) == 5 and len(merge.made) == 1
    assert len(split.archived) == 1 and len(split.made) == 2
    assert update.archived[0] not in {memory.text for memory in update.after}


def test_the_picture_is_up_to_date(cases: Any) -> None:
    said = draw_case.TARGET.read_text(encoding="utf-8")
    assert said == draw_case.to_svg(cases), "run python docs/tools/draw_case.py"
