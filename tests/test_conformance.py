"""The contract, checked on every registered mechanism alone and inside the `minimal` set."""

from __future__ import annotations

from pathlib import Path

import pytest

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.testing.conformance import CHECKS, Bench, ConformanceCheck

REGISTRY = Registry.read()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("id", tuple(REGISTRY.entries))
def test_conformance(id: str, check: ConformanceCheck, tmp_path: Path) -> None:
    check(Bench(REGISTRY, id, tmp_path))
