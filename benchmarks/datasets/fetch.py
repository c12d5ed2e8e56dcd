"""Sources of the official data sets, their download and their check.  Only this module and the
embedders `hub:` and `openai:` use the network.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from ...engine.base.errors import DataError
from ...reporting.files import write_whole
from ...reporting.output import put
from .base import Dataset, unreadable
from .beam import load_beam
from .locomo_corrected import load_locomo_corrected
from .madial import DIALOGUES, MEMORIES, load_madial
from .precisionmembench import BELIEFS, CASES, SESSIONS, load_precisionmembench
from .recognise import recognise


@dataclass(frozen=True, slots=True)
class OfficialSource:
    """An official source.

    file      name of the file; '' if the data set is a folder that must be fetched by hand
    beside    names of further files of the data set, at the same place as the first one
    sha256    the digest under which the official hub stores the file, and which several independent
              users of it have published, so a changed download is detected; None if unknown
    size      bytes; None if unknown
    paper     its key in references.bib
    by_hand   how to fetch it, if its files cannot be downloaded one by one
    """

    name: str
    url: str
    file: str
    sha256: str | None
    size: int | None
    licence: str
    citation: str
    paper: str
    by_hand: str = ""
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """The digest of a file or folder, and what it was compared with.

    basis   'published': the digest in our table; 'first use': the one beside the file, recorded
            when it was first fetched, if that was asked for; 'none': no digest is known
    """

    path: Path
    sha256: str
    basis: Literal["published", "first use", "none"]


_LOCOMO = "Maharana et al. 2024, Evaluating Very Long-Term Conversational Memory of LLM Agents, ACL, arXiv:2402.17753"
_LONGMEMEVAL = "Wu et al. 2025, LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory, ICLR, arXiv:2410.10813"
_BEAM = "Tavakoli et al. 2026, Beyond a Million Tokens: Benchmarking and Enhancing Long-Term Memory in LLMs, ICLR, arXiv:2510.27246"
_MADIAL = "He et al. 2025, MADial-Bench: Towards Real-world Evaluation of Memory-Augmented Dialogue Generation, NAACL, arXiv:2409.15240"
_MEMDAILY = "Zhang et al. 2024, MemSim: A Bayesian Simulator for Evaluating Memory of LLM-based Personal Assistants, arXiv:2409.20163"
_PRECISION = "Flynt 2026, Structured Belief State and the First Precision-Aware Benchmark for LLM Memory Retrieval, arXiv:2605.11325"
# Nobody publishes digests of these files: the address names a commit, which fixes their content.
_MADIAL_FILES = (
    "https://raw.githubusercontent.com/hejunqing/MADial-Bench/"
    "7a73a3e38c06ef0735116ff84ce951c8751a8cfc/data/en/"
)
_AUDIT = "dial481 2026, LoCoMo Benchmark Audit, github.com/dial481/locomo-audit"
_AUDIT_FILES = (
    "https://raw.githubusercontent.com/dial481/locomo-audit/"
    "ded8d0f08903d72b5a5eeda4fee5ced76126e7bc/audit/"
)
_PRECISION_FILES = (
    "https://raw.githubusercontent.com/tenurehq/precisionMemBench/"
    "08456070ba8e96b09d960b07eef2ada473d937ce/fixtures/"
)
# Digests and sizes of LongMemEval are of this revision.  Many projects publish them: deer-flow names
# revision and digest of the oracle (its pull request 4810), others all three files with sizes.
_REVISION = "98d7416c24c778c2fee6e6f3006e7a073259d48f"
_HUB = f"https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned/resolve/{_REVISION}/"

SOURCES = (
    OfficialSource(
        "locomo",
        "https://raw.githubusercontent.com/snap-research/locomo/main/data/locomo10.json",
        "locomo10.json",
        "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
        2_805_274,
        "CC BY-NC 4.0",
        _LOCOMO,
        "maharana2024locomo",
    ),
    OfficialSource(
        "longmemeval",
        _HUB + "longmemeval_s_cleaned.json",
        "longmemeval_s_cleaned.json",
        "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442",
        277_383_467,
        "MIT",
        _LONGMEMEVAL,
        "wu2025longmemeval",
    ),
    OfficialSource(
        "longmemeval-oracle",
        _HUB + "longmemeval_oracle.json",
        "longmemeval_oracle.json",
        "821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c",
        15_388_478,
        "MIT",
        _LONGMEMEVAL,
        "wu2025longmemeval",
    ),
    OfficialSource(
        "longmemeval-m",
        _HUB + "longmemeval_m_cleaned.json",
        "longmemeval_m_cleaned.json",
        "9d79e5524794a2e6900a3aa9cb7d9152c5a3e8319c9a87c25494ba1eacee495f",
        2_737_100_077,
        "MIT",
        _LONGMEMEVAL,
        "wu2025longmemeval",
    ),
    OfficialSource(
        "beam",
        "https://huggingface.co/datasets/Mohammadta/BEAM",
        "",
        None,
        None,
        "CC BY-SA 4.0",
        _BEAM,
        "tavakoli2026beam",
        by_hand="clone https://github.com/mohammadtavakoli78/BEAM: its folder chats/ has the layout <scale>/<n>/chat.json; or run its "
        "download_dataset.py, which writes the hub's data in that layout to test_chats/; then use --data PATH of that folder",
    ),
    OfficialSource(
        "locomo-audit",
        _AUDIT_FILES + "errors_conv_0.json",
        "errors_conv_0.json",
        None,
        None,
        "CC BY-NC 4.0",
        _AUDIT,
        "dial2026locomoaudit",
        beside=tuple(f"errors_conv_{n}.json" for n in range(1, 10)),
    ),
    OfficialSource(
        "madial",
        _MADIAL_FILES + DIALOGUES,
        DIALOGUES,
        None,
        None,
        "MIT",
        _MADIAL,
        "he2025madial",
        beside=(MEMORIES,),
    ),
    OfficialSource(
        "precisionmembench",
        _PRECISION_FILES + BELIEFS,
        BELIEFS,
        None,
        None,
        "MIT",
        _PRECISION,
        "flynt2026precisionmembench",
        beside=(CASES, SESSIONS),
    ),
    OfficialSource(
        "memdaily",
        "https://github.com/nuster1128/MemSim",
        "",
        None,
        None,
        "none stated",
        _MEMDAILY,
        "zhang2024memsim",
        by_hand="clone the repository: data_generation/final_dataset/ holds memdaily.json, or the parts of which its post_process.py makes that "
        "file; its README links the files of the benchmark with unrelated messages. Then use --data PATH of one file; ask the authors before you "
        "hand the data on, since the repository states no licence",
    ),
    OfficialSource(
        "ltpfr3",
        "https://github.com/jpazdera/PazdKaha22",
        "",
        None,
        None,
        "CC BY 4.0",
        "Pazdera & Kahana 2023, Modality Effects in Free Recall: A Retrieved-Context Account, JEP:LMC 49(6), 866-888, doi:10.1037/xlm0001140",
        "pazdera2023modality",
        by_hand="clone the repository: its folder Data/data/ has a file for each person; `hebbarium human` needs no download, since the curves of "
        "1,172 people and the lists of 80 of them ship with it",
    ),
)


FOLDERS: Final[Mapping[str, Callable[[Path | None, int | None], Dataset]]] = MappingProxyType(
    {
        "beam": load_beam,
        "locomo-corrected": load_locomo_corrected,
        "madial": load_madial,
        "precisionmembench": load_precisionmembench,
    }
)  # data sets of several files


def list_sources() -> tuple[OfficialSource, ...]:
    """Every official source, with licence, citation, size and digest as far as they are known."""
    return SOURCES


def get(name: str, folder: Path, progress: bool = True) -> Path:
    """Download a data set into a folder (created if missing) and return its path, that of the
    folder for several files; an existing file is checked, not fetched again.

    If no digest is published, the first download is trusted: its digest is printed and written to
    `<file>.sha256`, and a later call compares with it.  Errors: DataError for an unknown name, no
    network, a digest that differs (no file remains), or a data set to be fetched by hand;
    HebbariumError if the digest cannot be written.
    """
    source = next((s for s in SOURCES if s.name == name), None)
    if source is None:
        names = ", ".join(s.name for s in SOURCES)
        raise DataError(
            f"there is no source {name!r}",
            cure=f"choose one of {names}; the data set demo needs no download",
        )
    if not source.file:
        raise DataError(
            "it is not one file that could be downloaded", where=source.url, cure=source.by_hand
        )
    for file in (source.file, *source.beside):
        target = Path(folder) / file
        if not target.exists():
            _download(source, target, progress)
        checked = record(target)
        if progress:
            put(
                f"{target}\n  SHA-256 {checked.sha256} ({'trusted on first use and recorded' if checked.basis == 'none' else checked.basis})"
            )
    return Path(folder) if source.beside else target


def _download(source: OfficialSource, target: Path, progress: bool) -> None:
    """Download the file of the source that is named like the target."""
    import pooch  # lazily: only here is a network library needed

    first = target.name == source.file
    known = f"sha256:{source.sha256}" if source.sha256 and first else None
    url = source.url if first else f"{source.url.rpartition('/')[0]}/{target.name}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"the folder cannot be created ({error.strerror})",
            where=str(target.parent),
            cure="choose a writable folder",
        ) from error
    pooch.get_logger().setLevel("ERROR")  # it would advise the user to edit code
    try:
        pooch.retrieve(
            url, known_hash=known, fname=target.name, path=target.parent, progressbar=progress
        )
    except OSError as error:  # requests' errors are OSErrors
        raise DataError(
            f"it cannot be downloaded ({type(error).__name__})",
            where=url,
            cure=f"download it on a machine that has a network, and use --data PATH of the file ({target.name})",
        ) from error
    except ValueError as error:  # pooch compares before it moves the file into place
        raise DataError(
            "the download is not the published file (its SHA-256 differs)",
            where=url,
            cure="try again; if that fails, the official file has changed: fetch it by hand, check it, and use --data PATH",
        ) from error


def check(path: Path, *, recorded: bool = False) -> Checked:
    """Compare a file, or a folder that is a data set, with its published digest.  O(bytes).

    recorded  compare a file without a published digest with `<file>.sha256` beside it; a user who
              can change the file can change that digest, too

    Errors: DataError if the path does not exist, the digest differs, or there is none beside it.
    """
    path = Path(path)
    if not path.exists():
        raise DataError(
            "there is no such file or folder",
            where=str(path),
            cure="check the path, or fetch the data with `hebbarium data get`",
        )
    if path.is_dir():
        seems = recognise(path)
        digest = FOLDERS.get(seems.dataset if seems else "", load_beam)(path, None).sha256
    else:
        try:
            with path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise unreadable(path, error, "check its permissions") from error
    published = published_digest(path)
    beside = _recorded(path) if recorded and published is None else None
    expected = published or beside
    if expected is not None and expected != digest:
        origin, also = (
            (
                "recorded on first use",
                f"; if the change is wanted, delete {_sidecar(path).name} too",
            )
            if beside
            else ("published", "")
        )
        cure = f"delete the file and download it again{also}"
        raise DataError(
            f"its SHA-256 is {digest}, and {expected} was {origin}", where=str(path), cure=cure
        )
    return Checked(path, digest, "first use" if beside else "published" if published else "none")


def published_digest(path: Path) -> str | None:
    """The published SHA-256 of the official file of this name; None: it has none, or there is no
    such file.
    """
    return next((s.sha256 for s in SOURCES if s.file == path.name and s.sha256), None)


def basis(path: str, sha256: str) -> str:
    """How a digest of data stands to what is published, for the manifest of a run: "published",
    "another than the published one", or "none published".

    path  of the file or folder; "" for data of the package

    >>> basis("data/locomo10.json", "0" * 64), basis("mine.json", "0" * 64)
    ('another than the published one', 'none published')
    """
    published = published_digest(Path(path))
    if published is None:
        return "none published"
    return "published" if published == sha256 else "another than the published one"


def record(path: Path) -> Checked:
    """Check a file or folder fetched by hand and, if no digest is known, record its digest
    beside it (trust on first use).
    """
    checked = check(path, recorded=_sidecar(path).exists())
    if checked.basis == "none":
        _record(checked)
    return checked


def _sidecar(path: Path) -> Path:
    path = path.resolve()
    return path.with_name(path.name + ".sha256")


def _record(checked: Checked) -> None:
    # the form that sha256sum -c reads
    write_whole(
        _sidecar(checked.path), [f"{checked.sha256}  {checked.path.resolve().name}\n"], shared=True
    )


def _recorded(path: Path) -> str:
    sidecar = _sidecar(path)
    if not sidecar.exists():
        raise DataError(
            "no digest is recorded beside the file",
            where=str(sidecar),
            cure="leave the option out, or write the digest there: sha256sum FILE > FILE.sha256",
        )
    try:
        words = sidecar.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError):
        words = []
    if not words or len(words[0]) != 64:
        raise DataError(
            "it does not hold a SHA-256",
            where=str(sidecar),
            cure="delete it; the next `hebbarium data get` records it again",
        )
    return words[0].lower()
