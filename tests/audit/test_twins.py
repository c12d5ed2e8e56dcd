"""Parameters of one unit with the same value: a mechanism that takes one for the other is a wrong
version that no test of the shipped numbers can tell, so that some check has unlike ones.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from itertools import combinations

import pytest

from hebbarium.audit.checks import Check, Score, evidence_of, judge
from hebbarium.audit.collect import evidence_module
from hebbarium.audit.memory import swapped
from hebbarium.audit.specimen import Specimen
from hebbarium.engine.catalogue.registry import Registry

REGISTRY = Registry.read()
TWINS = [
    (entry.id, one, other)
    for entry in REGISTRY.entries.values()
    if not entry.variety_of
    for (one, p), (other, q) in combinations(entry.params.items(), 2)
    # the fusion reads `weight`, not the mechanism; words and truth values are choices
    if "weight" not in (one, other)
    and not isinstance(p.value, (bool, str))
    and p.unit == q.unit
    and p.value == q.value
]


def runs_a_memory(check: Check) -> bool:
    """Whether the check's own text names a memory: these are tried first."""
    return any(word in inspect.getsource(inspect.unwrap(check.function)) for word in WORDS)


WORDS = ("memory", "engine", "life", "nights")


@pytest.mark.slow
@pytest.mark.parametrize(("id", "one", "other"), TWINS)
def test_a_parameter_is_not_taken_for_its_twin(id: str, one: str, other: str) -> None:
    entry = REGISTRY.entry(id)
    evidence = evidence_of(import_module(str(evidence_module(entry, REGISTRY))))
    specimen = Specimen(id, import_module(entry.module))
    mutant = swapped(specimen, one, other)
    gating = [check for check in evidence.checks if check.gates]
    for check in sorted(gating, key=runs_a_memory, reverse=True):
        if judge(check, mutant).score is Score.FAIL:
            assert judge(check, specimen).score is Score.PASS
            return
    pytest.fail(f"no check of {id} tells {one} from {other}")
