"""The result card of a run: card.json, one page of facts for a table of results, with a JSON
Schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ...engine.base.errors import DataError
from ...reporting.files import write_json
from ..execution.folder import AGAIN, MANIFEST, RunFolder

FORMAT: Final = 1
SCHEMA: Final = Path(__file__).parent.parent / "templates" / "card.schema.json"
METRICS_FILE: Final = "metrics.json"


def card(manifest: Mapping[str, Any], metrics: Mapping[str, Any]) -> dict[str, Any]:
    """The card of a run, from its manifest and metrics.json; it holds nothing that these do not.
    Raises DataError.

    A number that the run did not measure is null.
    """
    try:
        overall = metrics["overall"]
        made = manifest.get("made") or {}
        language_model = str(manifest.get("language_model") or "")
        return {
            "format": FORMAT,
            "data": {
                "name": manifest["dataset"],
                "sha256": manifest["sha256"],
                "unit": manifest.get("unit", "turn"),
                "match": manifest.get("match", "unit"),
                "conversations": len(manifest["conversations"]),
                "questions_with_gold": overall["n"],
            },
            "memory": {
                "system": manifest.get("system", ""),
                "set": manifest.get("set", ""),
                "set_digest": manifest.get("set_digest", ""),
                "registry_digest": manifest.get("registry_digest", ""),
                "mechanisms": list(manifest.get("mechanisms", {})),
            },
            "embedder": {
                "name": manifest["embedder"],
                "revision": manifest["embedder_revision"],
                "dimensions": manifest["embedder_dimensions"],
            },
            "language_model": {
                "name": language_model,
                "revision": str(manifest.get("language_model_revision") or ""),
                "tokens": _tokens(metrics) if language_model else 0,
            },
            "seed": manifest["seed"],
            "k": manifest.get("k", 10),
            "metrics": {name: value for name, value in overall.items() if name != "n"},
            "depths": dict(metrics.get("depths", {})),
            "chance": dict(metrics.get("chance", {})),
            "oracle": dict(metrics.get("oracle", {})),
            **({"forbidden": metrics["forbidden"]} if "forbidden" in metrics else {}),
            "pool": metrics.get("pool"),
            "abstention": dict(metrics.get("abstention", {})),
            "times_ms": {phase: dict(times) for phase, times in metrics["timing_ms"].items()},
            "embedding": dict(metrics.get("embedding", {})),
            "code": manifest["code"],
            "versions": dict(manifest["versions"]),
            "made": {
                name: made.get(name) for name in ("date", "platform", "cores", "command_line")
            },
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"the run does not have what a card needs ({error})", where=MANIFEST, cure=AGAIN
        ) from error


def _tokens(metrics: Mapping[str, Any]) -> int:
    """Tokens that a language model read and wrote, over all phases and mechanisms."""
    used = metrics.get("language_model", {})
    return sum(
        int(count)
        for phase in used.values()
        for counts in phase.values()
        for name, count in counts.items()
        if "tokens" in name
    )


def write_card(folder: RunFolder, out: Path | None = None) -> Path:
    """Write the card of a finished run beside it, or to `out`.  Raises DataError for a run
    without metrics.json, or with a damaged one.
    """
    file = folder.path / METRICS_FILE
    try:
        metrics = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(
            f"there is no {METRICS_FILE}",
            where=str(folder.path),
            cure="give the folder of a finished `hebbarium run`",
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"it is damaged ({error})", where=str(file), cure=AGAIN) from error
    path = out or folder.path / "card.json"
    write_json(path, card(folder.manifest, metrics), shared=True)
    return path


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a card."""
    form: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return form
