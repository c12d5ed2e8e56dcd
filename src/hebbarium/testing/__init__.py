"""For the tests of mechanisms, here and in other packages: the conformance suite, small memories,
fixtures.

    from hebbarium.testing import MechanismTests

    pytest_plugins = ["hebbarium.testing"]                # the fixtures `registry` and `build`

    class TestMyPackage(MechanismTests):                  # every check of the contract, and the
        audit, on each mechanism of a package package = "my_package"

    def test_forgetting(build):
        memory = build("my_mechanism", "dense_similarity")

Needs pytest.  Nothing here is loaded in a test run that does not name this module.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ..audit.collect import audit_registry
from ..engine.catalogue.registry import Registry, Value
from ..engine.contract.hooks import Mechanism
from ..engine.memory.engine import Engine
from ..engine.ports.embedder import HashingEmbedder
from .conformance import CHECKS, START, Bench, ConformanceCheck, talk
from .small import by_number, column, does, mechanism, memory, numbered, score

__all__ = [
    "CHECKS", "START", "Bench", "Build", "ConformanceCheck", "MechanismTests", "build", "by_number",
    "column", "does", "mechanism", "memory",
    "numbered", "registry", "score", "talk",
]  # fmt: skip

Build = Callable[..., Engine]


@pytest.fixture(scope="session")
def registry() -> Registry:
    """The mechanisms of Hebbarium and of every installed package; a conftest.py may define
    another one.
    """
    return Registry.installed()


@pytest.fixture
def build(registry: Registry) -> Build:
    """`build("recency", "dense_similarity", params={"recency": {"weight": 0.2}}, path=..., ...)`:
    an engine of mechanisms by id.

    The embedder is a hashing embedder of 32 dimensions; further options are those of Engine.
    """

    def make(
        *ids: str,
        params: dict[str, dict[str, Value]] | None = None,
        path: Path | None = None,
        **options: Any,
    ) -> Engine:
        chosen: list[Mechanism[Any]] = [
            registry.instance(i, (params or {}).get(i))
            for i in sorted(ids, key=registry.order.__getitem__)
        ]
        return Engine(chosen, HashingEmbedder(32), path=path, **options)

    return make


class MechanismTests:
    """Tests of every mechanism of an installed package; subclass it as `Test...` and name the
    package.

    package  name of the package whose modules hold the mechanisms
    """

    package: ClassVar[str]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "mechanism_id" in metafunc.fixturenames:
            metafunc.parametrize("mechanism_id", self._mechanisms())
        if "conformance_check" in metafunc.fixturenames:
            metafunc.parametrize("conformance_check", CHECKS, ids=lambda check: check.__name__)

    @classmethod
    def _mechanisms(cls) -> tuple[str, ...]:
        return tuple(
            id
            for id, entry in Registry.installed().entries.items()
            if entry.module.startswith(f"{cls.package}.")
        )

    def test_the_package_is_installed_and_registers_mechanisms(self) -> None:
        assert self._mechanisms(), (
            f"no installed package registers mechanisms of {self.package}; install it first: pip install -e ."
        )

    def test_contract(
        self, mechanism_id: str, conformance_check: ConformanceCheck, tmp_path: Path
    ) -> None:
        conformance_check(Bench(Registry.installed(), mechanism_id, tmp_path))

    def test_every_claim_is_earned(self, mechanism_id: str) -> None:
        assert not audit_registry(Registry.installed(), only=[mechanism_id]).strict_failures
