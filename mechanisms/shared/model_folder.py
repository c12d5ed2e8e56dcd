"""Models that a mechanism loads from the folder that its parameter `model` names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ...engine.base.errors import HebbariumError, RegistryError
from ...engine.base.files import content_digest

Model = TypeVar("Model")


def from_folder(
    id: str, folder: str, load: Callable[[Path, str], Model], noun: str, cure: Callable[[str], str]
) -> Model:
    """The model that `load` gives for a folder and the digest of its content.

    id    of the mechanism, named in errors
    noun  what the folder holds
    cure  of a set that names no folder, by the id

    Raises RegistryError for no folder, and for one whose model cannot be loaded.
    """
    where = f"mechanism {id}, model"
    if not folder:
        raise RegistryError(f"no {noun} is named", where=where, cure=cure(id))
    try:
        return load(Path(folder), content_digest(Path(folder)))
    except HebbariumError as error:
        raise RegistryError(error.what, where=f"{where}, {error.where}", cure=error.cure) from error
