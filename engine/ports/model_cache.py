"""Models in the cache folder of Hugging Face, where sentence-transformers puts what it has
downloaded: found by name, offline.

A model is the folder `models--<owner>--<name>` with `snapshots/<revision>/` and, for each branch,
the revision in `refs/<branch>`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..base.errors import InputError

PREFIX = "models--"
OWNER = "sentence-transformers"  # owner of a name without one, as in sentence-transformers itself


def cache_folders() -> tuple[Path, ...]:
    """Where models may be: $SENTENCE_TRANSFORMERS_HOME, then $HF_HUB_CACHE, or `hub` in
    $HF_HOME, by default ~/.cache/huggingface.
    """
    home = (
        os.environ.get("HF_HOME")
        or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    )
    hub = (
        os.environ.get("HF_HUB_CACHE")
        or os.environ.get("HUGGINGFACE_HUB_CACHE")
        or Path(home) / "hub"
    )
    return tuple(
        Path(folder).expanduser()
        for folder in (os.environ.get("SENTENCE_TRANSFORMERS_HOME"), hub)
        if folder
    )


def cached_models() -> tuple[str, ...]:
    """Names `owner/name` of the sentence-transformers models on this disk, sorted.  O(models)."""
    return tuple(
        sorted({name for name, folder in _models() if any(folder.glob("snapshots/*/modules.json"))})
    )


def cached_model(name: str) -> tuple[str, Path] | None:
    """Name `owner/name` and snapshot folder of a model, given as `owner/name` or `name`; None if it
    is not on this disk.  O(models).

    The snapshot is that of the branch `main`, or the only one.  Raises InputError if that, or the
    owner, is not unique.
    """
    folders: dict[str, Path] = {}
    for known, folder in _models():
        if name in (known, known.rpartition("/")[2]):
            folders.setdefault(known, folder)
    chosen = next((known for known in (name, f"{OWNER}/{name}") if known in folders), None) or (
        next(iter(folders)) if len(folders) == 1 else None
    )
    if folders and chosen is None:
        raise InputError(
            f"several models are called {name!r}",
            where="embedder",
            cure=f"choose from {', '.join(sorted(folders))}",
        )
    snapshot = _snapshot(folders[chosen], chosen) if chosen else None
    return (chosen, snapshot) if chosen and snapshot else None


def _models() -> Iterator[tuple[str, Path]]:
    for cache in cache_folders():
        for folder in sorted(cache.glob(f"{PREFIX}*")):
            yield folder.name.removeprefix(PREFIX).replace("--", "/", 1), folder


def _snapshot(folder: Path, name: str) -> Path | None:
    main = folder / "refs" / "main"
    if (
        main.is_file()
        and (current := folder / "snapshots" / main.read_text(encoding="utf-8").strip()).is_dir()
    ):
        return current
    snapshots = sorted(path for path in folder.glob("snapshots/*") if path.is_dir())
    if len(snapshots) > 1:
        raise InputError(
            f"{name} has {len(snapshots)} revisions on this disk, and none is that of `main`",
            where="embedder",
            cure=f"give the folder of one of them, such as {snapshots[0]}",
        )
    return snapshots[0] if snapshots else None
