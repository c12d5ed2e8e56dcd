"""Numbers that no paper prints: each has a witness that changes if it is off by a factor of three, or
is free.
"""

from __future__ import annotations

from typing import Any

import pytest
from tiers import slow_unless

from hebbarium.audit.effects import (
    FACTOR,
    NumberEffect,
    NumberWitness,
    changed,
    differences,
    off,
    own_numbers,
    shipped,
    typed,
    written,
)
from hebbarium.audit.life import Circumstances, lived, observed
from hebbarium.audit.mutation.numbers import changed as with_number
from hebbarium.engine.catalogue.registry import Entry, Registry

REGISTRY = Registry.read()
EVERYDAY = ("recency", "asker_prior", "adjacency_pairs")
NUMBERS = [
    (id, name, witness.to)
    for id, effects in shipped().items()
    for name, effect in effects.items()
    for witness in effect.witnesses
    if not witness.check and not witness.around.of
]


def differences_of(entry: Entry, registry: Registry = REGISTRY, **records: Any) -> list[str]:
    return list(differences(entry, registry, {**shipped()[entry.id], **records}))


def test_every_number_of_ours_is_measured_as_it_ships() -> None:
    """`docs/tools/number_effects.py` measures those that are not."""
    for id, entry in REGISTRY.entries.items():
        numbers = {name: float(p.value) for name, p in own_numbers(entry).items()}
        effects = shipped().get(id, {})
        assert {name: effect.at for name, effect in effects.items()} == numbers, id
        assert {n: e.free for n, e in effects.items()} == {n: entry.params[n].free for n in numbers}


def test_a_number_of_ours_has_a_witness_to_each_side_or_is_free_there() -> None:
    """Except in printed forms, whose numbers are the source's and are compared with what it prints."""
    open_sides = []
    ours = {id: e for id, e in shipped().items() if not REGISTRY.entry(id).variety_of}
    for id, effects in ours.items():
        for name, effect in effects.items():
            shown = {witness.to for witness in effect.witnesses}
            low, high = effect.free or (effect.at, effect.at)
            for side in off(REGISTRY.entry(id), name):
                free = low < effect.at if side < effect.at else high > effect.at
                if side not in shown and not free:
                    open_sides.append(f"{id}.{name} at {side:g}")
    assert open_sides == []


@pytest.mark.parametrize("id", slow_unless(EVERYDAY, dict.fromkeys(id for id, _, _ in NUMBERS)))
def test_a_number_that_is_off_by_three_is_rejected_by_what_it_does(id: str) -> None:
    """Also where the record says that it was measured at the wrong number."""
    for _, name, to in (number for number in NUMBERS if number[0] == id):
        registry = with_number(REGISTRY, id, name, typed(REGISTRY.entry(id), name, to))
        effect = shipped()[id][name]
        side = tuple(w for w in effect.witnesses if w.to == to)
        said = differences_of(
            registry.entry(id), registry, **{name: NumberEffect(to, side, effect.free)}
        )
        assert any(f"{name} acts as if it were off" in sentence for sentence in said), said


@pytest.mark.parametrize("id", slow_unless(EVERYDAY, shipped()))
def test_the_numbers_that_ship_do_what_was_measured(id: str) -> None:
    assert differences_of(REGISTRY.entry(id)) == []


@pytest.mark.slow
@pytest.mark.parametrize("id", [i for i in shipped() if not REGISTRY.entry(i).variety_of])
def test_nothing_changes_where_a_number_is_free(id: str) -> None:
    entry, plain = REGISTRY.entry(id), observed(lived(REGISTRY, id))
    for name, effect in shipped()[id].items():
        for end in set(effect.free or ()) - {effect.at}:
            choice = {name: typed(entry, name, end)}
            other = observed(lived(REGISTRY, id, Circumstances(choices=choice)))
            assert max(changed(plain, other).values(), default=0.0) < 1e-3, (name, end)


# --- what is said -----------------------------------------------------------------------------------
RECENCY = REGISTRY.entry("recency")


def test_what_is_wrong_is_said() -> None:
    at_another = NumberEffect(90.0, shipped()["recency"]["half_life"].witnesses)
    assert differences_of(RECENCY, half_life=at_another) == [
        "half_life is 30, and was measured at 90"
    ]
    free = NumberEffect(30.0, at_another.witnesses, (10.0, 90.0))
    assert differences_of(RECENCY, half_life=free) == [
        "half_life is free in None, measured (10.0, 90.0)"
    ]
    gone = NumberEffect(30.0, (NumberWitness(90.0, name="no such column: sum"),))
    assert differences_of(RECENCY, half_life=gone) == [
        "nothing shows no such column: sum, the witness of half_life"
    ]
    records = {"weight": shipped()["recency"]["weight"]}
    assert list(differences(RECENCY, REGISTRY, records)) == ["what half_life does was not measured"]


def test_a_mechanism_of_which_nothing_was_measured_needs_numbers_that_change_something() -> None:
    assert list(differences(RECENCY, REGISTRY, None)) == []
    pool = REGISTRY.entry("hopfield_completion")
    assert list(differences(pool, REGISTRY, None)) == []
    bare = pool.model_copy(
        update={"params": {n: p.model_copy(update={"free": None}) for n, p in pool.params.items()}}
    )
    freed = RECENCY.params["half_life"].model_copy(update={"free": (29.0, 90.0)})
    loose = RECENCY.model_copy(update={"params": {**RECENCY.params, "half_life": freed}})
    assert list(differences(loose, REGISTRY, None)) == [
        "half_life says that it is free in [29.0, 90.0], and changes a short life there"
    ]
    assert [s.partition(" ")[0] for s in differences(bare, REGISTRY, None)] == [
        "pool",
        "most_updates",
    ]


def test_a_number_is_off_by_a_factor_of_three_within_its_bounds() -> None:
    assert off(RECENCY, "half_life") == [30.0 / FACTOR, 90.0]
    assert off(REGISTRY.entry("entity_boost"), "unrelated") == [-0.15 * FACTOR, -0.15 / FACTOR]
    assert off(REGISTRY.entry("temporal_context"), "own_support") == [1.0 / FACTOR]  # at most 1
    assert off(REGISTRY.entry("feedback_fusion"), "need") == [1.0]  # 0, from 0 to 2
    assert off(REGISTRY.entry("hebbian_association"), "present") == [1, 9]


def test_a_record_is_read_as_it_is_written() -> None:
    for effects in shipped().values():
        for effect in effects.values():
            assert set(written(effect)) <= {"at", "witnesses", "free"}
    witness = written(shipped()["recency"]["half_life"])["witnesses"][0]
    assert set(witness) == {"to", "name", "right", "wrong"}
