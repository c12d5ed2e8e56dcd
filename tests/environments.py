"""Copies of this checkout and fresh environments that see the packages of this one, for tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent


def checkout(folder: Path) -> Path:
    """A copy of all files that git tracks here, with symbolic links."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def environment(folder: Path) -> Path:
    """A fresh environment that sees the packages of this one behind its own.  Its Python."""
    venv.EnvBuilder(with_pip=True, symlinks=True).create(folder)
    python = folder / "bin" / "python"
    told = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True, check=True, text=True,
    )  # fmt: skip
    # a path alone: files *.pth of the other folder, such as that of this checkout, are not read
    # the setuptools that Python brings is too old to build this project
    subprocess.run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "setuptools"], check=True)
    own = Path(told.stdout.strip())
    (own / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python


def variables(folder: Path) -> dict[str, str]:
    """Environment variables without those that would lead to this checkout, or to the `make` that
    runs the tests; caches in a folder."""
    left = {"PYTHONPATH", "MAKEFLAGS", "MFLAGS", "MAKELEVEL"}
    kept = {name: value for name, value in os.environ.items() if name not in left}
    return {
        **kept,
        "HEBBARIUM_CACHE": str(folder / "cache"),
        "NUMBA_CACHE_DIR": str(folder / "kernels"),
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads 0 as: without isolation
        "VIRTUAL_ENV": "",
    }


def run(python: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A module or command of a fresh environment, in a folder."""
    return subprocess.run(
        [str(python), *words], cwd=folder, env=variables(folder), capture_output=True, text=True
    )
