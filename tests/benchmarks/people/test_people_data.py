"""Human data: tables are read as they are or refused with the line; what ships is what it says."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hebbarium.benchmarks.people import free_recall, scores
from hebbarium.benchmarks.people.data import (
    ATTRIBUTION,
    COLUMNS,
    HALVES,
    IMMEDIATE,
    LENGTHS,
    RecallTrial,
    by_person,
    half,
    read_trials,
    shipped_people,
    shipped_trials,
    written,
)
from hebbarium.engine.base.errors import DataError

TRIAL = RecallTrial(
    "MTK0002", 1, "v", 800, 12000, ("ice cream", "swamp", "lava"), (3, -999, 1), (1, 2, 9)
)


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    trials = [TRIAL, replace(TRIAL, number=2, recalls=(), times=())]
    plain, packed = tmp_path / "t.tsv", tmp_path / "t.tsv.gz"
    plain.write_text(written(trials), encoding="utf-8")
    packed.write_bytes(gzip.compress(written(trials).encode()))
    assert read_trials(plain) == read_trials(packed) == trials


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("length", "4", "names 3 words and the length 4"),
        ("length", "three", "a number is none"),
        ("recalled_positions", "1 2", "2 recalls and 3 times"),
        ("recalled_positions", "1 2 4", "0 or above 3"),
        ("rate_ms", "-1", "negative"),
    ],
)
def test_a_line_that_is_none_is_refused_with_its_number(
    tmp_path: Path, column: str, value: str, message: str
) -> None:
    head, line = written([TRIAL]).splitlines()
    cells = line.split("\t")
    cells[COLUMNS.index(column)] = value
    file = tmp_path / "t.tsv"
    file.write_text("\n".join([head, "\t".join(cells)]) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=message) as refused:
        read_trials(file)
    assert "line 2" in refused.value.where


def test_other_files_are_refused_with_a_cure(tmp_path: Path) -> None:
    file = tmp_path / "t.tsv"
    for content, message in (
        (b"a\tb\n1\t2\n", "no column subject"),
        (b"\x1f\x8bnope", "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (("\t".join(COLUMNS) + "\nx\n").encode(), "1 cells"),
    ):
        file.write_bytes(content)
        with pytest.raises(DataError, match=message) as refused:
            read_trials(file)
        assert refused.value.cure
    with pytest.raises(DataError, match="number at the end"):
        half("Ada")


def test_the_people_that_ship_are_of_both_halves_with_all_their_conditions() -> None:
    people = by_person(shipped_trials())
    assert [sum(half(name) == h for name in people) for h in HALVES] == [16, 64]
    assert {len(own) for own in people.values()} == {16}
    assert all(int(name[3:]) % 2 == 0 for name in people)
    for own in people.values():
        assert sorted(t.length for t in own) == [12] * 8 + [24] * 8
        assert [t.number for t in own] == list(range(1, 17))


def test_the_curves_that_ship_are_near_those_of_the_trials_that_ship() -> None:
    """80 of 1,172 people: within five of their standard errors, sqrt(1172 / 80) times as large."""
    shipped, trials = shipped_people(), shipped_trials()
    assert shipped["source"] == ATTRIBUTION
    for length in LENGTHS:
        of_all = shipped["all"][str(length)]
        assert of_all["lists"] == 9376 and of_all["people"] == 1172
        mine = free_recall.curves(free_recall.counts(trials, length))
        for name in scores.CORE:
            curve = of_all["curves"][name]
            errors = np.array(curve["errors"]) * np.sqrt(1172 / 80)
            assert (np.abs(mine[name] - curve["values"]) < 5 * errors).all(), (length, name)


def test_the_halves_together_are_all_and_as_far_apart_as_the_ceiling_says() -> None:
    shipped = shipped_people()
    for length in map(str, LENGTHS):
        lists = [shipped[h][length]["lists"] for h in HALVES]
        recalled = [shipped[h][length]["recalled"] for h in HALVES]
        assert sum(lists) == shipped["all"][length]["lists"]
        assert np.average(recalled, weights=lists) == pytest.approx(
            shipped["all"][length]["recalled"], abs=2e-4
        )
        for name, curve in shipped["all"][length]["curves"].items():
            fitted, reported = (shipped[h][length]["curves"][name]["values"] for h in HALVES)
            assert scores.rmsd(np.array(fitted), np.array(reported)) < 2.5 * curve["ceiling"], name


MURDOCK_MEANS = {"10-2": 6.39, "15-2": 8.25, "20-1": 6.87, "20-2": 8.37, "30-1": 8.54, "40-1": 8.09}


def test_murdock_recalls_are_those_that_are_quoted_and_his_lists_have_all_conditions() -> None:
    """Means as quoted of Murdock (1962), within the error of a rounded figure and of slips."""
    shipped = shipped_people(IMMEDIATE)
    assert {c: of["recalled"] for c, of in shipped["all"].items()} == pytest.approx(
        MURDOCK_MEANS, abs=0.08
    )
    people = by_person(shipped_trials(IMMEDIATE))
    assert [sum(half(name) == h for name in people) for h in HALVES] == [16, 64]
    for own in people.values():
        told = [word for trial in own for word in trial.words]
        assert sorted(map(IMMEDIATE.condition, own)) == sorted([*IMMEDIATE.lengths] * 2)
        assert len(set(told)) == len(told) and {trial.distractor for trial in own} == {0}


def test_murdock_curves_of_the_lists_that_ship_are_near_those_of_all() -> None:
    """160 of 1,200 lists a condition; errors are those of shares of independent lists."""
    shipped, trials = shipped_people(IMMEDIATE), shipped_trials(IMMEDIATE)
    for condition, length in IMMEDIATE.lengths.items():
        own = [trial for trial in trials if IMMEDIATE.condition(trial) == condition]
        mine = free_recall.curves(free_recall.counts(own, length))["position"]
        all_lists = np.array(shipped["all"][condition]["curves"]["position"]["values"])
        assert (np.abs(mine - all_lists) < 5.0 * np.sqrt(0.25 / len(own))).all(), condition
