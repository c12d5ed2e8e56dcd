"""Hebbarium's contract and audit on the mechanisms of this package; install it first: `pip install -e .`."""
from __future__ import annotations

from pathlib import Path

import pytest

from hebbarium.audit.collect import audit_registry
from hebbarium.audit.conformance import CHECKS, Bench, Check
from hebbarium.engine.registry import Registry

REGISTRY = Registry.installed()
MINE = tuple(id for id, entry in REGISTRY.entries.items() if entry.module.startswith("hebbarium_simple."))


def test_the_package_is_installed() -> None:
    assert MINE


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("id", MINE)
def test_conformance(id: str, check: Check, tmp_path: Path) -> None:
    check(Bench(REGISTRY, id, tmp_path))


@pytest.mark.parametrize("id", MINE)
def test_every_claim_is_earned(id: str) -> None:
    assert not audit_registry(REGISTRY, only=[id]).strict_failures
