"""Every mechanism of the registry has one declared family, and the file names no other."""

from __future__ import annotations

from collections import Counter

from hebbarium.benchmarks.designs.families import FILE, OTHER, declared, families_of, family_of
from hebbarium.engine.base.yaml_file import YamlFile
from hebbarium.engine.catalogue.registry import Registry


def test_every_mechanism_is_in_one_family() -> None:
    registry = Registry.read()
    named = Counter(id for ids in YamlFile(FILE).data.values() for id in ids)
    assert set(named) <= set(registry.entries) and set(named.values()) == {1}
    assert [id for id in registry.entries if family_of(id) == OTHER] == []
    assert set(declared()) == set(named)


def test_a_variety_is_in_the_family_of_its_paper_form() -> None:
    for entry in Registry.read().entries.values():
        if entry.variety_of and entry.id.endswith("_printed"):
            assert family_of(entry.id) == family_of(entry.variety_of)


def test_one_family_alone_is_no_gate() -> None:
    assert families_of(["recency", "temporal_index"]) is None and families_of([]) is None
    assert families_of(["recency", "heat"]) == ("time", "strength")
