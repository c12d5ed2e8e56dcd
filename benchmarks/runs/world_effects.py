"""What worlds say of mechanisms, from the folders of `hebbarium world --on-trial`: hit@k of the set
less that of the set without the mechanism, at the greatest strength, where need has structure.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, variance
from typing import Any, Final

from ...engine.base.errors import DataError

RESULT, ROWS = "world.json", "rows.jsonl"  # files of such a folder
FEWEST: Final = 2  # lives that have a spread


@dataclass(frozen=True, slots=True)
class WorldEffect:
    """One mechanism, left out of a set in the lives of a world.

    world       its name, with its variant
    set         name of the set
    set_digest  of its mechanisms and parameters
    embedder    name
    mean        hit@k of the set less that without the mechanism, over lives paired by seed
    variance    of that mean, lives being the unit
    questions   of all lives
    """

    world: str
    set: str
    set_digest: str
    embedder: str
    mechanism: str
    mean: float
    variance: float
    questions: int


def holds_worlds(folder: Path) -> bool:
    """Whether a folder is one of `hebbarium world`."""
    return (folder / RESULT).is_file()


def world_effects(folder: Path) -> tuple[list[WorldEffect], list[str]]:
    """The effects of a folder, and a sentence for each trial that is left out.  Raises DataError for
    a folder that is damaged, or in which no mechanism is on trial.
    """
    try:
        result = json.loads((folder / RESULT).read_text(encoding="utf-8"))
        lines = (folder / ROWS).read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines if line.strip()]
        said = list(_effects(result, rows))
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise DataError(
            f"there is no sound result of a world ({type(error).__name__}: {error})",
            where=str(folder),
            cure="give the --out folder of `hebbarium world`, or run it again",
        ) from error
    if not said:
        raise DataError(
            "no mechanism is on trial in these worlds",
            where=str(folder),
            cure="run `hebbarium world NAME --on-trial ID,ID`",
        )
    return (
        [effect for effect in said if isinstance(effect, WorldEffect)],
        [note for note in said if isinstance(note, str)],
    )


def _effects(result: Mapping[str, Any], rows: list[dict[str, Any]]) -> Iterator[WorldEffect | str]:
    hits = {(row["world"], row["arm"], row["strength"], row["seed"]): row for row in rows}
    provenance = result["provenance"]
    for world in result["worlds"]:
        name, most = world["name"], max(world["strengths"])
        without = {(arm["set"], arm["removed"]): arm["arm"] for arm in world["arms"]}
        for trial in world["trials"]:
            chosen, mechanism = trial["set"], trial["mechanism"]
            if trial["why"]:
                yield f"{name}, {mechanism}: left out, since a memory failed ({trial['why']})"
                continue
            if most == 0.0:
                yield f"{name}, {mechanism}: left out, since need has no structure at strength 0"
                continue
            pairs = [
                tuple(
                    hits[name, arm, most, seed]
                    for arm in (without[chosen, ""], without[chosen, mechanism])
                )
                for seed in range(world["seeds"])
            ]
            if len(pairs) < FEWEST:
                yield f"{name}, {mechanism}: left out, since one life has no spread between lives"
                continue
            differences = [float(full["hit"]) - float(part["hit"]) for full, part in pairs]
            if not all(map(math.isfinite, differences)):
                raise ValueError(f"a hit of {name} is no number")
            yield WorldEffect(
                name,
                chosen,
                provenance["sets"][without[chosen, ""]],
                provenance["embedder"],
                mechanism,
                fmean(differences),
                variance(differences) / len(differences),
                sum(int(full["questions"]) for full, _ in pairs),
            )
