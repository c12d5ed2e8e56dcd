"""Families of mechanisms, which are declared before any result is seen and tested as wholes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from ...engine.base.yaml_file import YamlFile

FILE: Final = Path(__file__).parents[2] / "mechanisms" / "families.yaml"
OTHER: Final = "other"
_FORM: Final = "_printed"  # ending of the id of a form that a source system prints


@cache
def declared() -> Mapping[str, str]:
    """Mechanism -> its family.  Raises InputError for a damaged file."""
    return {id: family for family, ids in YamlFile(FILE).data.items() for id in ids}


def family_of(estimate: str) -> str:
    """The family of an estimate by its name: a mechanism, a swap, or a value of a parameter.

    >>> [family_of(name) for name in ("recency", "swap heat->recency", "heat.weight=0.3", "theirs")]
    ['time', 'strength', 'strength', 'other']
    """
    name = re.split(r"->|\.|=| ", estimate.removeprefix("swap "))[0]
    return declared().get(name.removesuffix(_FORM), OTHER)


def families_of(estimates: Iterable[str]) -> tuple[str, ...] | None:
    """The family of each estimate; None if they are all of one, so that there is nothing to test
    first.
    """
    families = tuple(map(family_of, estimates))
    return families if len(set(families)) > 1 else None
