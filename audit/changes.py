"""Changes between two audits, from their JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..engine.base.errors import DataError
from .rating import Rating


@dataclass(frozen=True)
class RatingChanges:
    """Mechanisms whose derived rating rose or fell, new and removed ones, and checks that passed
    before or pass now only.

    rose, fell          (mechanism, rating before, rating now)
    came, went          mechanisms of the new audit only, of the old audit only
    broken, mended      (mechanism, check) that passed before only, that passes now only
    """

    rose: tuple[tuple[str, str, str], ...]
    fell: tuple[tuple[str, str, str], ...]
    came: tuple[str, ...]
    went: tuple[str, ...]
    broken: tuple[tuple[str, str], ...]
    mended: tuple[tuple[str, str], ...]

    def lines(self) -> list[str]:
        """One sentence each; none if nothing changed."""
        return [
            *(f"{id} fell from {old} to {new}" for id, old, new in self.fell),
            *(f"{id} rose from {old} to {new}" for id, old, new in self.rose),
            *(f"{id}: {check} no longer passes" for id, check in self.broken),
            *(f"{id}: {check} passes now" for id, check in self.mended),
            *(f"{id} is new" for id in self.came),
            *(f"{id} is gone" for id in self.went),
        ]


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> RatingChanges:
    """From one audit.json to another, by mechanism and check id.  Mechanisms that the new one
    leaves out count as gone.  O(checks).
    """
    before, now = ({m["id"]: m for m in audit["mechanisms"]} for audit in (old, new))
    both = [id for id in now if id in before]
    moved = [
        (id, before[id]["derived"], now[id]["derived"])
        for id in both
        if before[id]["derived"] != now[id]["derived"]
    ]
    rose = [change for change in moved if Rating(change[2]) > Rating(change[1])]
    passed = {
        id: tuple(
            {c["id"]: c["score"] == "PASS" for c in (*m["checks"], *m.get("static", ()))}
            for m in (before[id], now[id])
        )
        for id in both
    }
    changed = [
        (id, check, mine[check])
        for id, (was, mine) in passed.items()
        for check in mine
        if check in was and was[check] != mine[check]
    ]
    return RatingChanges(
        tuple(rose),
        tuple(change for change in moved if change not in rose),
        tuple(id for id in now if id not in before),
        tuple(id for id in before if id not in now),
        tuple((id, check) for id, check, passes in changed if not passes),
        tuple((id, check) for id, check, passes in changed if passes),
    )


def read(path: Path) -> dict[str, Any]:
    """Read an audit.json.  Raises DataError for a file that cannot be read or is not one."""
    try:
        audit = json.loads(path.read_text(encoding="utf-8"))
        for m in audit["mechanisms"]:
            Rating(m["derived"]), m["id"], [(c["id"], c["score"]) for c in m["checks"]]
    except OSError as error:
        raise DataError(
            f"cannot be read: {error.strerror}", where=str(path), cure="check the path"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            "is no audit.json",
            where=str(path),
            cure="give a file that `hebbarium audit --out DIR` wrote",
        ) from error
    return dict(audit)
