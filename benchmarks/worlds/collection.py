"""All worlds by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...engine.base.errors import InputError, nearest
from . import flood, journeys, needs
from .base import World

WORLDS: Final[Mapping[str, World]] = {
    world.name: world for module in (needs, journeys, flood) for world in module.WORLDS
}


def named(name: str) -> list[World]:
    """The world of a name; a name without its variant is all its variants.  Raises InputError.

    >>> [world.name for world in named("journeys")]
    ['journeys/told', 'journeys/used']
    """
    if worlds := [
        world for world in WORLDS.values() if name in (world.name, world.name.partition("/")[0])
    ]:
        return worlds
    raise InputError(
        f"there is no world {name!r}",
        where="NAME",
        cure=nearest(
            name,
            [
                *WORLDS,
                *(n for n in dict.fromkeys(w.partition("/")[0] for w in WORLDS) if n not in WORLDS),
            ],
        ),
    )
