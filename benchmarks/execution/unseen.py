"""No report on conversations from which parameters were calibrated: the measured answers would
look better than those to other conversations.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ...engine.base.errors import DataError, InputError
from ...reporting.text import plural

if TYPE_CHECKING:
    from ..datasets import Dataset
    from .plan import RunPlan

# of a mechanism: the file with the data set and the conversations that its other parameters were
# fitted to
PARAMETER = "calibration"
NAMED = 5  # conversations in a message


def require_unseen(plan: RunPlan, data: Dataset) -> None:
    """Raises InputError if a mechanism of the plan was calibrated on conversations of the data,
    DataError for a calibration that cannot be read.
    """
    for id, path in dict.fromkeys(_calibrations(plan)):
        used = _conversations(Path(path), data)
        if seen := [c.id for c in data.conversations if c.id in used]:
            more = f" and {len(seen) - NAMED} more" if len(seen) > NAMED else ""
            raise InputError(
                f"{id} was calibrated on {len(seen)} of these {plural(len(data.conversations), 'conversation')}: {', '.join(seen[:NAMED])}{more}",
                where=path,
                cure=f"measure others, for instance with --skip, or leave the mechanism off with --without {id}",
            )


def _calibrations(plan: RunPlan) -> Iterator[tuple[str, str]]:
    """Each mechanism with the file of its calibration."""
    for arm in plan.arms:
        for id, values in arm.mechanisms.items():
            if f"{id}.{PARAMETER}" in arm.files:
                yield id, str(values[PARAMETER])


def _conversations(path: Path, data: Dataset) -> set[str]:
    """Ids of the conversations of the same data set, or of the same file under another name,
    that the calibration used.
    """
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        same = manifest["dataset"] == data.name or manifest["sha256"] == data.sha256
        return set(manifest["conversations"]) if same else set()
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"it is damaged, or no calibration ({error})",
            where=str(path),
            cure="give the file that `hebbarium calibrate` wrote",
        ) from error
