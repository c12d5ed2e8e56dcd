"""Designs as files: one YAML mapping describes an experiment.  Everything is checked before
anything runs, and errors name the line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...engine.base.errors import InputError, RegistryError, nearest
from ...engine.base.yaml_file import YamlFile
from ...engine.context.assembly import FLAT, STRATEGIES
from .arms import FULL
from .contrasts import EXACT, PAIRED
from .kinds import (
    BASE,
    AddOneIn,
    ArmChange,
    DesignKind,
    Factorial,
    Fractional,
    LeaveOneOut,
    NamedArms,
    Pairs,
    ParameterSweep,
    Range,
    Shapley,
    Varieties,
)
from .probe_metric import PREFIX, Measure, ProbeMetric, parsed

if TYPE_CHECKING:
    from ...engine.catalogue.registry import MechanismSet, Registry

FOLDER: Final = Path(__file__).parent
SHARED: Final = ("summary", "set", "design", "data", "seeds", "metric", "strategy", "margin",
                 "correction", "embedders")  # fmt: skip
OWN: Final[Mapping[str, tuple[str, ...]]] = {
    "leave-one-out": ("players", "baselines"),
    "add-one-in": ("players", "base", "baselines"),
    "pairs": ("players", "base"),
    "factorial": ("players", "base"),
    "fractional": ("players", "base"),
    "shapley": ("players", "base", "permutations"),
    "sweep": ("sweep", "baselines"),
    "arms": ("arms", "baselines"),
    "varieties": ("players", "baselines"),
}
KEYS: Final = tuple(dict.fromkeys((*SHARED, *(key for keys in OWN.values() for key in keys))))
METRICS: Final = ("hit@10", "recall@5", "recall@10", "mrr@10", "ndcg@10", "recall@1", "all@10")
CORRECTIONS: Final = ("holm", "benjamini-hochberg")
OF_CONTEXTS: Final = ("evidence", "answer")  # metrics of a context of so many tokens
UNITS: Final = ("turn", "session")
MOST_POINTS: Final = 4096


@dataclass(frozen=True, slots=True)
class DataRef:
    """Which data are measured: name of the loader, path ("" if it needs none), unit, and the first
    so many conversations (None: all).

    A relative path starts at the working folder.
    """

    dataset: str
    path: str = ""
    unit: str = "turn"
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment as a file describes it.

    name        of the file, without its ending
    set         name or file of the mechanism set
    kind        name of the kind of design
    design      the design itself
    data        data sets; each is a family of its own
    embedders   as `--embedder` takes them; () for that of the command
    seeds       a question's value is the mean over seeds
    metric      such as recall@10, evidence@B or answer@B for contexts of B tokens, or that of
                `probe`
    margin      of equivalence, in units of the metric
    correction  holm or benjamini-hochberg
    source      the file, for errors
    probe       the number of a probe by which arms are scored; None for a metric of questions
    strategy    of contexts; "" for that of the command
    """

    name: str
    summary: str
    set: str
    kind: str
    design: DesignKind
    data: tuple[DataRef, ...]
    embedders: tuple[str, ...]
    seeds: tuple[int, ...]
    metric: str
    margin: float
    correction: str
    source: str
    probe: ProbeMetric | None = None
    strategy: str = ""

    @property
    def budget(self) -> int | None:
        """Tokens of the contexts that the metric needs; None for a metric of ranks."""
        name, _, budget = self.metric.partition("@")
        return int(budget) if name in OF_CONTEXTS else None


def shipped() -> tuple[str, ...]:
    """Names of the designs that come with the package."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.yaml")))


def file_of(name: str) -> Path:
    """The file of a design: a shipped one by name, or a path.  Raises InputError."""
    if name.endswith((".yaml", ".yml")):
        return Path(name)
    if (file := FOLDER / f"{name}.yaml").is_file():
        return file
    raise InputError(
        f"there is no design {name!r}",
        where="--design",
        cure=f"{nearest(name, (*OWN, *shipped()))}; or give a YAML file, see docs/guides/designs.md",
    )


def read(
    path: Path,
    registry: Registry,
    datasets: Collection[str],
    set_name: str | None = None,
    probes: Callable[[], Mapping[str, Measure]] = dict,
) -> Experiment:
    """The experiment in a file.  Raises InputError or RegistryError with file, line and cure.

    datasets  names of the data sets that can be loaded
    set_name  the mechanism set instead of that of the file
    probes    called for the probes by id if the metric is one
    """
    return _DesignReader(path, registry, datasets, probes).experiment(set_name)


def plain(
    kind: str, registry: Registry, set_name: str, players: Sequence[str] = (), margin: float = 0.005
) -> Experiment:
    """The experiment of a kind that needs no more than a set, such as `varieties`.  Raises
    InputError.
    """
    if kind in ("sweep", "arms", "add-one-in"):
        raise InputError(
            f"the design {kind} needs a file that says which",
            where="--design",
            cure="give --design FILE.yaml: docs/guides/designs.md",
        )
    made: Mapping[str, DesignKind] = {
        "leave-one-out": LeaveOneOut(tuple(players)),
        "pairs": Pairs(tuple(players)),
        "factorial": Factorial(tuple(players)),
        "fractional": Fractional(tuple(players)),
        "shapley": Shapley(tuple(players)),
        "varieties": Varieties(tuple(players)),
    }
    return Experiment(
        kind, "", set_name, kind, made[kind], (), (), (), "recall@10", margin, "holm", "--design"
    )


class _DesignReader:
    """Reads one file."""

    def __init__(
        self,
        path: Path,
        registry: Registry,
        datasets: Collection[str],
        probes: Callable[[], Mapping[str, Measure]],
    ) -> None:
        self.file, self.registry, self.path, self.datasets, self.probes = (
            YamlFile(path),
            registry,
            path,
            datasets,
            probes,
        )

    def experiment(self, set_name: str | None) -> Experiment:
        raw = self.file.data
        if unknown := [key for key in raw if key not in KEYS]:
            raise self._odd(
                f"unknown key {unknown[0]!r}", nearest(str(unknown[0]), KEYS), unknown[0]
            )
        kind = self._one_of("design", tuple(OWN), None)
        if foreign := [key for key in raw if key not in (*SHARED, *OWN[kind])]:
            raise self._odd(
                f"{foreign[0]!r} is no key of the design {kind}",
                f"it has {', '.join(OWN[kind]) or 'no keys of its own'}",
                foreign[0],
            )
        name = set_name or self._text("set", "default")
        chosen, probe = self._set(name, "set"), self._probe()
        metric = probe.text if probe else self._metric()
        return Experiment(
            self.path.stem,
            self._text("summary", ""),
            name,
            kind,
            self._design(kind, chosen),
            self._data(),
            self._embedders(),
            self._seeds(probe),
            metric,
            self._number("margin", 0.005, 0.0, 1.0, above=True),
            self._one_of("correction", CORRECTIONS, "holm"),
            str(self.path),
            probe,
            self._strategy(metric),
        )

    # --- designs ----------------------------------------------------------------------------------
    def _design(self, kind: str, chosen: MechanismSet) -> DesignKind:
        players, base = self._players(kind, chosen), self._base(kind)
        if kind in ("add-one-in",) and not base:
            raise self._odd(
                "add-one-in needs a base",
                "write `base: hybrid`, the set to which each player is added",
                "design",
            )
        mine: Mapping[str, Callable[[], DesignKind]] = {
            "leave-one-out": lambda: LeaveOneOut(players, self._baselines(FULL)),
            "add-one-in": lambda: AddOneIn(base, players, self._baselines(BASE)),
            "pairs": lambda: Pairs(players, base),
            "factorial": lambda: Factorial(players, base),
            "fractional": lambda: Fractional(players, base),
            "shapley": lambda: Shapley(
                players, base, int(self._number("permutations", 0, 2, 100_000, whole=True))
            ),
            "sweep": lambda: self._sweep(chosen),
            "arms": lambda: NamedArms(self._arms(chosen), self._baselines(FULL)),
            "varieties": lambda: Varieties(players, self._baselines(FULL)),
        }
        return mine[kind]()

    def _players(self, kind: str, chosen: MechanismSet) -> tuple[str, ...]:
        players = self._names("players")
        if odd := [id for id in players if id not in chosen.mechanisms]:
            raise self._odd(
                f"the player {odd[0]!r} is not in the set {chosen.name}",
                nearest(odd[0], chosen.mechanisms),
                "players",
                players.index(odd[0]),
            )
        most = {"pairs": PAIRED, "factorial": EXACT}.get(kind)
        n = len(players) or len(chosen.mechanisms)
        if most and n > most and not (not players and "base" in self.file.data):
            raise self._odd(
                f"{kind} of {n} players",
                f"name at most {most} players",
                "players" if players else "design",
            )
        return players

    def _base(self, kind: str) -> str:
        if "base" not in self.file.data:
            return ""
        name = self._text("base", "")
        self._set(name, "base")
        return name

    def _baselines(self, default: str) -> tuple[str, ...]:
        names = self._names("baselines") or (default,)
        for place, name in enumerate(names):
            if name not in (FULL, default):
                self._set(name, "baselines", place)
        return names

    def _members(self, key: str, lacking: str, cure: str) -> dict[Any, Any]:
        """What the file lists under a key; an error where it lists nothing."""
        given = self.file.data.get(key)
        if isinstance(given, dict) and given:
            return given
        raise self._odd(lacking, cure, key if key in self.file.data else "design")

    def _sweep(self, chosen: MechanismSet) -> ParameterSweep:
        cure = "write `sweep: {lexical_bm25.weight: [0, .5, 1]}`"
        given = self._members("sweep", "a sweep names no parameters", cure)
        grid: dict[str, tuple[Any, ...]] = {}
        ranges: dict[str, Range] = {}
        points = set[int]()
        for key, values in given.items():
            id, dot, name = str(key).partition(".")
            if not dot or id not in chosen.mechanisms:
                raise self._odd(
                    f"{key!r} is no parameter of a mechanism of the set {chosen.name}",
                    f"write mechanism.parameter; {nearest(id, chosen.mechanisms)}",
                    "sweep",
                    key,
                )
            if isinstance(values, dict):
                if set(values) - {"low", "high", "log", "points"} or not {
                    "low",
                    "high",
                    "points",
                } <= set(values):
                    raise self._odd(
                        f"the range of {key} has {', '.join(map(str, values))}",
                        "write {low:, high:, points: 64} and, if wanted, log: true",
                        "sweep",
                        key,
                    )
                low, high = (
                    self._checked_number(values[end], ("sweep", key, end))
                    for end in ("low", "high")
                )
                log, n = values.get("log", False), values["points"]
                if not low < high or (log and low <= 0) or not isinstance(log, bool):
                    raise self._odd(
                        f"the range of {key} is {low:g} to {high:g}{', on a log scale' if log else ''}",
                        "give low < high, and low > 0 on a log scale",
                        "sweep",
                        key,
                        "low",
                    )
                if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= MOST_POINTS:
                    raise self._odd(
                        f"{n!r} points", f"give 1 to {MOST_POINTS:,} points", "sweep", key, "points"
                    )
                ranges[key] = Range(low, high, log)
                points.add(n)
                tried: Sequence[Any] = (low, high)
            else:
                tried = values if isinstance(values, list) else [values]
                if not tried or len({repr(value) for value in tried}) < len(tried):
                    raise self._odd(
                        f"the values of {key} are empty, or one is given twice",
                        "give every value once",
                        "sweep",
                        key,
                    )
                grid[key] = tuple(tried)
            for place, value in enumerate(tried):
                at = (
                    self.file.place("sweep", key, place)
                    if isinstance(values, list)
                    else self.file.place("sweep", key)
                )
                self.registry.instance(
                    id,
                    {**chosen.mechanisms[id], name: value},
                    chosen.overridden({id: {name: value}}, at),
                )
        if len(points) > 1:
            raise self._odd(
                "ranges have different numbers of points",
                "give all ranges the same number",
                "sweep",
            )
        return ParameterSweep(grid, ranges, points.pop() if points else 0, self._baselines(FULL))

    def _arms(self, chosen: MechanismSet) -> dict[str, ArmChange]:
        cure = "write `arms: {name: {without: [...]}}`"
        given = self._members("arms", "the design has no arms", cure)
        made = {}
        for name, change in given.items():
            keys = ("set", "without", "swap", "add", "param")
            if name in (FULL, BASE) or not isinstance(change, dict) or not change:
                raise self._odd(
                    f"{name!r} is no arm",
                    "name each arm, not `full`, and give it set, without, swap, add or param",
                    "arms",
                    name,
                )
            if odd := [key for key in change if key not in keys]:
                raise self._odd(
                    f"unknown key {odd[0]!r}", nearest(str(odd[0]), keys), "arms", name, odd[0]
                )
            swap, param = change.get("swap") or {}, change.get("param") or {}
            if (
                not isinstance(swap, dict)
                or not isinstance(param, dict)
                or not all(isinstance(values, dict) for values in param.values())
            ):
                raise self._odd(
                    f"the arm {name!r} is malformed",
                    "write swap: {old: new} and param: {mechanism: {parameter: value}}",
                    "arms",
                    name,
                )
            made[str(name)] = ArmChange(
                str(change.get("set") or ""),
                self._list(change.get("without"), "arms", name, "without"),
                swap,
                self._list(change.get("add"), "arms", name, "add"),
                param,
            )
            try:
                self.registry.build(made[str(name)].applied(chosen, self.registry))
            except RegistryError as error:
                raise RegistryError(
                    error.what,
                    where=f"{self.file.place('arms', name)}, {error.where}",
                    cure=error.cure,
                ) from error
        return made

    # --- what all designs have --------------------------------------------------------------------
    def _data(self) -> tuple[DataRef, ...]:
        given = self.file.data.get("data", [])
        sources = []
        for place, source in enumerate(given if isinstance(given, list) else [given]):
            if (
                not isinstance(source, dict)
                or "dataset" not in source
                or set(source) - {"dataset", "data", "unit", "limit"}
            ):
                raise self._odd(
                    f"{source!r} describes no data",
                    "write `{dataset: locomo, data: PATH}`, with unit and limit if wanted",
                    "data",
                    place,
                )
            if source["dataset"] not in self.datasets:
                raise self._odd(
                    f"no data set {source['dataset']!r}",
                    nearest(str(source["dataset"]), self.datasets),
                    "data",
                    place,
                    "dataset",
                )
            unit, limit = source.get("unit", "turn"), source.get("limit")
            if unit not in UNITS or not (
                limit is None
                or (isinstance(limit, int) and not isinstance(limit, bool) and limit > 0)
            ):
                raise self._odd(
                    f"unit {unit!r} and limit {limit!r}",
                    f"unit is {' or '.join(UNITS)}, limit a whole number from 1",
                    "data",
                    place,
                )
            sources.append(DataRef(source["dataset"], str(source.get("data") or ""), unit, limit))
            if sources[-1] in sources[:-1]:
                raise self._odd("the same data are given twice", "name them once", "data", place)
        return tuple(sources)

    def _probe(self) -> ProbeMetric | None:
        metric = self._text("metric", "recall@10")
        if not metric.startswith(PREFIX):
            return None
        if "data" in self.file.data:
            raise self._odd(
                f"the metric {metric!r} needs no data",
                "leave `data:` out; the probe tells and asks its own events",
                "data",
            )
        return parsed(metric, self.probes(), self.file.place("metric"))

    def _seeds(self, probe: ProbeMetric | None) -> tuple[int, ...]:
        given = self.file.data.get("seeds", list(range(probe.seeds)) if probe else [0])
        seeds = given if isinstance(given, list) else [given]
        for place, seed in enumerate(seeds):
            if (
                not isinstance(seed, int)
                or isinstance(seed, bool)
                or seed < 0
                or seed in seeds[:place]
            ):
                again = "is given twice" if seed in seeds[:place] else "is no whole number from 0"
                raise self._odd(
                    f"the seed {seed!r} {again}", "give different whole numbers", "seeds", place
                )
        if not seeds:
            raise self._odd(
                "there are no seeds", "give `seeds: [0]`, or leave the line out", "seeds"
            )
        return tuple(seeds)

    def _metric(self) -> str:
        metric = self._text("metric", "recall@10")
        name, at, budget = metric.partition("@")
        if metric not in METRICS and not (
            name in OF_CONTEXTS and at and budget.isdecimal() and int(budget) > 0
        ):
            raise self._odd(
                f"no metric {metric!r}",
                f"{nearest(metric, METRICS)}; or evidence@B or answer@B, B in tokens; or probe:NAME",
                "metric",
            )
        return metric

    def _strategy(self, metric: str) -> str:
        if "strategy" not in self.file.data:
            return ""
        if metric.partition("@")[0] not in OF_CONTEXTS:
            raise self._odd(
                f"no context is assembled for the metric {metric}",
                "take the metric evidence@B or answer@B, B in tokens",
                "strategy",
            )
        return self._one_of("strategy", tuple(STRATEGIES), FLAT)

    def _embedders(self) -> tuple[str, ...]:
        return self._names("embedders")

    def _set(self, name: str, *keys: object) -> MechanismSet:
        try:
            return self.registry.set(name)
        except RegistryError as error:
            raise RegistryError(
                error.what, where=f"{self.file.place(*keys)}, {error.where}", cure=error.cure
            ) from error

    def _names(self, key: str) -> tuple[str, ...]:
        return self._list(self.file.data.get(key), key)

    def _list(self, given: Any, *keys: object) -> tuple[str, ...]:
        if given is None:
            return ()
        if (
            not isinstance(given, list)
            or not all(isinstance(item, str) for item in given)
            or not given
        ):
            raise self._odd(f"{given!r} is no list of names", "write [name, ...]", *keys)
        if twice := [place for place, item in enumerate(given) if item in given[:place]]:
            raise self._odd(f"{given[twice[0]]!r} is given twice", "name it once", *keys, twice[0])
        return tuple(given)

    def _text(self, key: str, default: str) -> str:
        value = self.file.data.get(key, default)
        if not isinstance(value, str):
            raise self._odd(f"{value!r} is no text", "write one word, or a text in quotes", key)
        return value

    def _one_of(self, key: str, choices: Sequence[str], default: str | None) -> str:
        value = self.file.data.get(key, default)
        if value not in choices:
            what = f"there is no {key}" if value is None else f"no {key} {value!r}"
            raise self._odd(
                what, f"choose from {', '.join(choices)}", *([key] if key in self.file.data else [])
            )
        return str(value)

    def _number(
        self,
        key: str,
        default: float,
        low: float,
        high: float,
        *,
        whole: bool = False,
        above: bool = False,
    ) -> float:
        if key not in self.file.data:
            return default
        value = self._checked_number(self.file.data[key], (key,))
        if not low <= value <= high or (above and value == low) or (whole and value != int(value)):
            bounds = f"{'above' if above else 'from'} {low:g} and up to {high:g}"
            raise self._odd(
                f"{key} is {value:g}", f"give a {'whole ' if whole else ''}number {bounds}", key
            )
        return value

    def _checked_number(self, value: Any, keys: Sequence[object]) -> float:
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not math.isfinite(value)
        ):
            raise self._odd(f"{value!r} is no number", "give a number", *keys)
        return value

    def _odd(self, what: str, cure: str, *keys: object) -> InputError:
        return InputError(what, where=self.file.place(*keys), cure=cure)
