"""Rule filter: bits survive a snapshot, other rules cannot continue it, and errors come before
anything is stored.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hebbarium.engine.base.errors import RegistryError, SnapshotError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.contract.vocabulary import BAN, LOG_PRIOR
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.mechanisms.retrieval.rule_filter import (
    RULES_MATCHED,
    add_log_factors,
    add_votes,
    read_rules,
)

REGISTRY = Registry.read()
RULES = """rules:
  - name: only Ada in spring
    then: only
    when: {words: [spring, garden]}
    where: {speaker: Ada}
  - name: notes count less
    then: {factor: 0.25}
    where: {attribute: {kind: note}}
"""
LOG = (
    Event(0.0, "We dug the garden", "Ada", attributes=(("kind", "note"),)),
    Event(1.0, "The garden is dry", "Bo"),
    Event(2.0, "Rain in spring", "Ada"),
)


def engine(rules: Path | str, path: Path | None = None) -> Engine:
    return Engine(
        [
            REGISTRY.instance("rule_filter", {"rules": str(rules)}),
            REGISTRY.instance("lexical_bm25"),
        ],
        HashingEmbedder(16),
        path=path,
    )


def file_of(folder: Path, text: str = RULES) -> Path:
    file = folder / "rules.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.slow
def test_kernels_compiled_equal_plain() -> None:
    rng = np.random.default_rng(0)
    matched, bits, logs = rng.integers(0, 2**62, 50), np.array([0, 3, 61]), rng.normal(0.0, 1.0, 3)
    votes, plain_votes, priors, plain_priors = (
        np.zeros(50, np.int16),
        np.zeros(50, np.int16),
        np.zeros(50),
        np.zeros(50),
    )
    add_votes(matched, 2**61 + 5, 2**40 + 8, votes)
    add_votes.py_func(matched, 2**61 + 5, 2**40 + 8, plain_votes)  # type: ignore[attr-defined]
    add_log_factors(matched, bits, logs, priors)
    add_log_factors.py_func(matched, bits, logs, plain_priors)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(votes, plain_votes)
    np.testing.assert_allclose(priors, plain_priors)


def test_rules_hold_after_a_snapshot(tmp_path: Path) -> None:
    rules, file = file_of(tmp_path), tmp_path / "memory.db"
    first = engine(rules, file)
    first.encode_all(LOG[:2])
    first.close()
    again = engine(rules, file)
    again.encode(LOG[2])
    assert again.store.array(RULES_MATCHED).tolist() == [3, 0, 1]
    assert again.retrieve("the garden in spring").rows.tolist() in ([2, 0], [0, 2])
    assert again.store.array(BAN).tolist() == [0, 1, 0]
    assert np.exp(again.store.array(LOG_PRIOR)).tolist() == [0.25, 1.0, 1.0]
    assert sorted(again.retrieve("rain").rows.tolist()) == [0, 1, 2]
    again.close()


def test_a_memory_cannot_continue_with_other_rules(tmp_path: Path) -> None:
    rules, file = file_of(tmp_path), tmp_path / "memory.db"
    first = engine(rules, file)
    first.encode_all(LOG)
    first.close()
    with pytest.raises(SnapshotError, match="rule"):
        engine(file_of(tmp_path, RULES.replace("0.25", "0.5")), file)
    moved = tmp_path / "moved.yaml"
    moved.write_text(RULES, encoding="utf-8")
    engine(moved, file).close()


@pytest.mark.parametrize("text", ["", "rules:\n", "rules: [[[[]]]]\n", "- name: a\n", "\x00",
                                  "rules: [{name: a, then: exclude, where: {session: [a, [b]]}}]\n",
                                  "rules: [{name: a, then: only, where: {since: 0001-01-01, until: 0000-01-01}}]\n"])  # fmt: skip
def test_a_file_that_states_no_rule_is_refused_when_the_set_is_built(
    tmp_path: Path, text: str
) -> None:
    file = file_of(tmp_path, text)
    with pytest.raises(RegistryError) as error:
        engine(file)
    assert "rules.yaml" in error.value.where and error.value.cure


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RegistryError):
        engine(tmp_path / "none.yaml")
    with pytest.raises(RegistryError):
        read_rules(tmp_path)


def test_queries_of_any_kind_leave_the_memory_as_it_is(tmp_path: Path) -> None:
    made = engine(file_of(tmp_path, RULES.replace("speaker: Ada", "speaker: Dan")))
    assert made.retrieve("garden").rows.size == 0
    made.encode_all(LOG)
    before = made.digest()
    for text in ("", "garden " * 100_000, "\ud800", "(a+)+$", "spring"):
        answer = made.retrieve(Query(text))
        assert (answer.rows.size == 0) == ("garden" in text or text == "spring")
    assert made.digest() == before
