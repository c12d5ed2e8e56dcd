"""Human data of list experiments: trials as people recalled them, read from a table, and those that
ship with the package.

Delayed free recall is that of Pazdera and Kahana (2023), https://doi.org/10.1037/xlm0001140,
repository jpazdera/PazdKaha22, CC BY 4.0: lists of 12 or 24 words.  Immediate free recall is that of
Murdock (1962), https://doi.org/10.1037/h0045106: lists of 10 to 40 words.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from ...engine.base.errors import DataError

ATTRIBUTION: Final = (
    "Pazdera & Kahana 2023, Modality effects in free recall, JEP:LMC 49(6), 866-888, "
    "https://doi.org/10.1037/xlm0001140; github.com/jpazdera/PazdKaha22, CC BY 4.0"
)
COLUMNS: Final = ("subject", "list", "modality", "length", "rate_ms", "distractor_ms", "words",
                  "recalled_positions", "times_ms")  # fmt: skip
LENGTHS: Final = (12, 24)
HERE: Final = Path(__file__).parent
TRIALS, PEOPLE = HERE / "ltpfr3_trials.tsv", HERE / "ltpfr3_people.json"
MURDOCK_TRIALS, MURDOCK_PEOPLE = HERE / "murdock1962_trials.tsv", HERE / "murdock1962_people.json"
MURDOCK_ATTRIBUTION: Final = (
    "Murdock 1962, The serial position effect of free recall, J Exp Psych 64, 482-488, "
    "https://doi.org/10.1037/h0045106; files of github.com/ContextLab/memory-models-course, MIT"
)
MURDOCK: Final = ((10, 2), (15, 2), (20, 1), (20, 2), (30, 1), (40, 1))  # words, s a word
Half = Literal["fitting", "reporting"]
HALVES: Final[tuple[Half, Half]] = ("fitting", "reporting")


@dataclass(frozen=True, slots=True)
class RecallTrial:
    """One list of one person: what was shown, and what was recalled.

    person      who learnt it, such as MTK0002
    number      of the list among those of the person, from 1
    modality    "v": words were seen; "a": heard
    rate        ms from one word to the next
    distractor  ms of arithmetic between the last word and recall
    words       in order of presentation
    recalls     positions from 1 in order of recall; -n: a word of the n-th list before; -999:
                of no list.  Repetitions are as they were said
    times       ms since recall began, of each recall
    """

    person: str
    number: int
    modality: str
    rate: int
    distractor: int
    words: tuple[str, ...]
    recalls: tuple[int, ...]
    times: tuple[int, ...]

    @property
    def length(self) -> int:
        return len(self.words)


@dataclass(frozen=True, slots=True)
class ListExperiment:
    """An experiment with lists of words and free recall, whose human data ship with the package.

    id           name of the paradigm
    attribution  source and licence
    trials       table of the trials of some people of both halves
    people       curves of all people, by half and condition
    lengths      words of a list in each condition
    by_rate      whether conditions differ in the rate, too
    effects      names of `scores.ORDERS`, or "length", of which its data can tell
    papers       keys of `audit/references.bib`: works whose effects it shows
    matters      mechanisms that should show them
    """

    id: str
    attribution: str
    trials: Path
    people: Path
    lengths: Mapping[str, int]
    by_rate: bool = False
    effects: tuple[str, ...] = ()
    papers: tuple[str, ...] = ()
    matters: tuple[str, ...] = ()

    def condition(self, trial: RecallTrial) -> str:
        """The condition of a list; it is one of `lengths` or a list of no condition."""
        return f"{trial.length}-{trial.rate // 1000}" if self.by_rate else str(trial.length)


OF_WORDS: Final = ("primacy", "recency", "contiguity", "forward", "length")  # without times
DELAYED: Final = ListExperiment(
    "free_recall",
    ATTRIBUTION,
    TRIALS,
    PEOPLE,
    {str(length): length for length in LENGTHS},
    effects=(*OF_WORDS, "intrusions", "pauses"),
    papers=("pazdera2023modality", "kahana1996associative", "howard2002distributed"),
    matters=("temporal_context", "primacy_gradient"),
)
IMMEDIATE: Final = ListExperiment(
    "immediate_free_recall",
    MURDOCK_ATTRIBUTION,
    MURDOCK_TRIALS,
    MURDOCK_PEOPLE,
    {f"{length}-{rate}": length for length, rate in MURDOCK},
    by_rate=True,
    effects=OF_WORDS,
    papers=("howard2002distributed", "polyn2009context", "raaijmakers1981search"),
    matters=("temporal_context", "primacy_gradient", "sampling_recovery"),
)


def half(person: str) -> Half:
    """The half of the people to which a person belongs, by half of the person's number.

    >>> half("MTK0002"), half("MTK0004")
    ('reporting', 'fitting')
    """
    digits = re.search(r"\d+$", person)
    if digits is None:
        raise DataError(
            f"the person {person!r} has no number at the end",
            cure="name people like MTK0002, since the number decides who is fitted",
        )
    return "reporting" if int(digits.group()) // 2 % 2 else "fitting"


def read_trials(path: Path) -> list[RecallTrial]:
    """The trials of a table with the columns COLUMNS, tab-separated, plain or gzipped, in order.

    Raises DataError, which names the line, for other columns, for numbers that are none, for times
    that do not match the recalls, and for a list without words.
    """
    return list(_trials(_text(path), str(path)))


def shipped_trials(experiment: ListExperiment = DELAYED) -> list[RecallTrial]:
    """The trials of some people of both halves that ship with the package."""
    return read_trials(experiment.trials)


def shipped_people(experiment: ListExperiment = DELAYED) -> dict[str, Any]:
    """The curves of all people whose data were used, by half and condition, as
    `docs/tools/people.py` wrote them.
    """
    curves: dict[str, Any] = json.loads(experiment.people.read_text(encoding="utf-8"))
    return curves


def by_person(trials: Iterable[RecallTrial]) -> dict[str, list[RecallTrial]]:
    """The trials of each person, in order of their number."""
    people: dict[str, list[RecallTrial]] = {}
    for trial in trials:
        people.setdefault(trial.person, []).append(trial)
    return {name: sorted(own, key=lambda trial: trial.number) for name, own in people.items()}


def written(trials: Sequence[RecallTrial]) -> str:
    """The table that `read_trials` reads."""
    lines = ["\t".join(COLUMNS)]
    for t in trials:
        words = " ".join(word.replace(" ", "_") for word in t.words)
        numbers = (" ".join(map(str, of)) for of in (t.recalls, t.times))
        cells = (t.person, t.number, t.modality, t.length, t.rate, t.distractor, words, *numbers)
        lines.append("\t".join(map(str, cells)))
    return "\n".join(lines) + "\n"


def _text(path: Path) -> str:
    try:
        raw = Path(path).read_bytes()
        return (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DataError(
            f"it cannot be read ({getattr(error, 'strerror', None) or error})",
            where=str(path),
            cure="give a table of trials in UTF-8, plain or gzipped; "
            "`hebbarium data get ltpfr3` says where the data are",
        ) from error


def _trials(text: str, where: str) -> Iterator[RecallTrial]:
    table = csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    heads = tuple(next(table, ()))
    if missing := [name for name in COLUMNS if name not in heads]:
        raise DataError(
            f"the table has no column {', '.join(missing)}; its columns are {', '.join(heads)[:200]}",
            where=where,
            cure=f"give a table of one trial a line with the columns {', '.join(COLUMNS)}",
        )
    for line, cells in enumerate(table, 2):
        if len(cells) != len(heads):
            raise DataError(
                f"the line has {len(cells)} cells and the table {len(heads)} columns",
                where=f"{where}, line {line}",
                cure="fetch the table again; it may have been cut off",
            )
        yield _trial(dict(zip(heads, cells, strict=True)), f"{where}, line {line}")


def _trial(row: dict[str, str], where: str) -> RecallTrial:
    try:
        number, length, rate, distractor = (
            int(row[name]) for name in ("list", "length", "rate_ms", "distractor_ms")
        )
        recalls = tuple(map(int, row["recalled_positions"].split()))
        times = tuple(map(int, row["times_ms"].split()))
    except ValueError as error:
        raise DataError(
            f"a number is none ({error})", where=where, cure="correct the line"
        ) from error
    words = tuple(word.replace("_", " ") for word in row["words"].split())
    odd = (
        f"it names {len(words)} words and the length {length}"
        if len(words) != length or not words
        else f"it has {len(recalls)} recalls and {len(times)} times"
        if len(recalls) != len(times)
        else f"a recalled position is 0 or above {length}"
        if any(place == 0 or place > length for place in recalls)
        else f"the rate {rate} or the distractor {distractor} is negative"
        if min(rate, distractor) < 0
        else ""
    )
    if odd:
        raise DataError(odd, where=where, cure="correct the line, or fetch the table again")
    return RecallTrial(
        row["subject"], number, row["modality"], rate, distractor, words, recalls, times
    )
