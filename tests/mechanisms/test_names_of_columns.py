"""One name per column and structure: the constant is the attribute of the view in capitals,
wherever code names it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import pytest

from hebbarium import audit, benchmarks, engine, mechanisms
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract import vocabulary
from hebbarium.engine.contract.columns import Column, Structure
from hebbarium.engine.contract.vocabulary import ENGINE_COLUMNS, ENGINE_STRUCTURES
from hebbarium.testing import small

REGISTRY = Registry.installed()


def modules() -> Iterator[ModuleType]:
    """Every module that may declare or import columns, and those of installed packages."""
    yield small
    for package in (engine, mechanisms, audit, benchmarks):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".speed." not in found.name:  # benchmarks that need a plug-in of pytest
                yield importlib.import_module(found.name)
    yield from (importlib.import_module(entry.module) for entry in REGISTRY.entries.values())


def constants(module: ModuleType) -> dict[str, Column | Structure]:
    return {
        name: value for name, value in vars(module).items() if isinstance(value, Column | Structure)
    }


def test_every_constant_is_its_attribute_in_capitals() -> None:
    found = {
        (module.__name__, name): value.name
        for module in modules()
        for name, value in constants(module).items()
    }
    assert len(found) > 700
    assert {key: name for key, name in found.items() if key[1] != name.upper()} == {}


@pytest.mark.parametrize("id", REGISTRY.entries)
def test_every_column_and_structure_that_a_mechanism_owns_or_declares_is_a_constant_of_its_module(
    id: str,
) -> None:
    cls, declared = (
        REGISTRY.entries[id].load(),
        constants(importlib.import_module(REGISTRY.entries[id].module)),
    )
    owned = {item.name.upper(): item for item in cls.owns}
    assert owned.items() <= declared.items()


def test_the_shared_vocabulary_is_all_constants() -> None:
    declared = set(constants(vocabulary).values())
    assert declared == {*ENGINE_COLUMNS, *ENGINE_STRUCTURES}
