"""What a composition is asked for: by a YAML file, or by the options of the command."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...engine.base.errors import InputError, nearest
from ...engine.base.yaml_file import YamlFile
from ..designs.file import UNITS, DataRef
from .scores import METRICS

KEYS: Final = ("summary", "set", "metrics", "margin", "cost", "folds", "keep", "start", "data")
OF_DATA: Final = ("dataset", "data", "unit", "limit", "metrics", "margin", "category")
OF_WORLD: Final = ("world", "strengths", "seeds", "margin")
STRENGTHS: Final = (0.0, 0.5, 1.0)
SEEDS: Final = 10
MOST_FOLDS: Final = 100


@dataclass(frozen=True, slots=True)
class DataNeed:
    """Data, and what must not be lost on them.

    metrics   of questions
    margin    that may be lost of each
    category  of the questions that count; "" for all
    """

    ref: DataRef
    metrics: tuple[str, ...]
    margin: float
    category: str = ""


@dataclass(frozen=True, slots=True)
class WorldNeed:
    """A world, and what must not be lost of its hit@k.

    strengths, seeds  of its lives
    margin            that may be lost; None: that of the world itself
    """

    world: str
    strengths: tuple[float, ...] = STRENGTHS
    seeds: int = SEEDS
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class CompositionRequest:
    """What a composition is asked for.

    set    name or file of the whole set
    needs  data with their metrics
    cost   that is made small, a key of `result.COSTS`
    folds  of the cross-validation; 0: none
    keep   mechanisms that are not removed
    start  name or file of a set to begin with, whose mechanisms are all of the whole set; "" for
           the whole set
    worlds  whose hit@k must not be lost, beside the data
    """

    set: str
    needs: tuple[DataNeed, ...]
    cost: str
    folds: int
    keep: tuple[str, ...]
    start: str = ""
    worlds: tuple[WorldNeed, ...] = ()


def plain(
    set_name: str,
    refs: Sequence[DataRef],
    metrics: Sequence[str],
    margin: float,
    cost: str,
    folds: int,
    keep: Sequence[str],
    start: str = "",
) -> CompositionRequest:
    """From options: the same metrics and margin on all data.  Raises InputError."""
    for metric in metrics:
        if metric not in METRICS:
            raise InputError(
                f"no metric {metric!r}", where="--metric", cure=nearest(metric, METRICS)
            )
    if not 0.0 <= margin <= 1.0:
        raise InputError(
            f"the margin is {margin:g}", where="--margin", cure="give a number from 0 to 1"
        )
    needs = tuple(DataNeed(ref, tuple(dict.fromkeys(metrics)), margin) for ref in refs)
    return CompositionRequest(set_name, needs, cost, folds, tuple(keep), start)


def read(path: Path, datasets: Collection[str], costs: Collection[str]) -> CompositionRequest:
    """From a file.  Raises InputError or RegistryError with file, line and cure."""
    return _RequestReader(YamlFile(path), datasets, costs).request()


@dataclass
class _RequestReader:
    file: YamlFile
    datasets: Collection[str]
    costs: Collection[str]

    def request(self) -> CompositionRequest:
        raw = self.file.data
        self._keys(raw, KEYS)
        given = raw.get("data")
        if not given or not isinstance(given, list):
            raise self._odd("it names no data", "write `data: [{dataset: demo}]`", "data")
        metrics = self._metrics(raw.get("metrics", ["recall@10"]), "metrics")
        margin = self._number(raw.get("margin", 0.005), "margin")
        folds, cost = raw.get("folds", 5), raw.get("cost", "mechanisms")
        if isinstance(folds, bool) or not isinstance(folds, int) or not 0 <= folds <= MOST_FOLDS:
            raise self._odd(
                f"{folds!r} folds", f"give a whole number from 0 to {MOST_FOLDS}", "folds"
            )
        if cost not in self.costs:
            raise self._odd(f"no cost {cost!r}", f"choose from {', '.join(self.costs)}", "cost")
        name, start = raw.get("set", "default"), raw.get("start", "")
        for key, given_name in (("set", name), ("start", start)):
            if not isinstance(given_name, str):
                raise self._odd(f"{given_name!r} is no name of a set", "write one name", key)
        worlds = [isinstance(item, dict) and "world" in item for item in given]
        if all(worlds):
            raise self._odd(
                "it names worlds alone, and no data",
                "add data, such as `{dataset: demo}`: the first conversation is where costs are timed",
                "data",
            )
        needs = [
            self._need(item, place, metrics, margin)
            for place, item in enumerate(given)
            if not worlds[place]
        ]
        return CompositionRequest(
            name,
            tuple(needs),
            str(cost),
            folds,
            self._texts(raw.get("keep", []), "keep"),
            start,
            tuple(self._world(item, place) for place, item in enumerate(given) if worlds[place]),
        )

    def _need(self, item: Any, place: int, metrics: tuple[str, ...], margin: float) -> DataNeed:
        at = ("data", place)
        if not isinstance(item, dict) or "dataset" not in item:
            raise self._odd(
                f"{item!r} describes no data", "write `{dataset: locomo, data: PATH}`", *at
            )
        self._keys(item, OF_DATA, *at)
        if item["dataset"] not in self.datasets:
            cure = nearest(str(item["dataset"]), self.datasets)
            raise self._odd(f"no data set {item['dataset']!r}", cure, *at, "dataset")
        unit, limit, category = (
            item.get("unit", "turn"),
            item.get("limit"),
            item.get("category", ""),
        )
        if unit not in UNITS:
            raise self._odd(f"unit {unit!r}", f"it is {' or '.join(UNITS)}", *at, "unit")
        if limit is not None and (
            isinstance(limit, bool) or not isinstance(limit, int) or limit < 1
        ):
            raise self._odd(f"limit {limit!r}", "give a whole number from 1", *at, "limit")
        return DataNeed(
            DataRef(item["dataset"], str(item.get("data") or ""), unit, limit),
            self._metrics(item["metrics"], *at, "metrics") if "metrics" in item else metrics,
            self._number(item["margin"], *at, "margin") if "margin" in item else margin,
            str(category),
        )

    def _world(self, item: dict[str, Any], place: int) -> WorldNeed:
        at = ("data", place)
        self._keys(item, OF_WORLD, *at)
        seeds, strengths = item.get("seeds", SEEDS), item.get("strengths", list(STRENGTHS))
        if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
            raise self._odd(f"{seeds!r} seeds", "give a whole number from 1", *at, "seeds")
        if not isinstance(strengths, list) or not strengths:
            raise self._odd(
                f"{strengths!r} is no list of strengths", "write [0, 1]", *at, "strengths"
            )
        return WorldNeed(
            str(item["world"]),
            tuple(self._number(strength, *at, "strengths") for strength in strengths),
            seeds,
            self._number(item["margin"], *at, "margin") if "margin" in item else None,
        )

    def _keys(self, raw: dict[str, Any], known: Sequence[str], *at: object) -> None:
        if unknown := [key for key in raw if key not in known]:
            cure = nearest(str(unknown[0]), known)
            raise self._odd(f"unknown key {unknown[0]!r}", cure, *at, unknown[0])

    def _metrics(self, given: Any, *at: object) -> tuple[str, ...]:
        metrics = self._texts([given] if isinstance(given, str) else given, *at)
        for metric in metrics:
            if metric not in METRICS:
                raise self._odd(f"no metric {metric!r}", nearest(metric, METRICS), *at)
        if not metrics:
            raise self._odd("it names no metric", "write `metrics: [recall@10]`", *at)
        return metrics

    def _texts(self, given: Any, *at: object) -> tuple[str, ...]:
        if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
            raise self._odd(f"{given!r} is no list of names", "write [name, ...]", *at)
        return tuple(dict.fromkeys(given))

    def _number(self, given: Any, *at: object) -> float:
        if (
            isinstance(given, bool)
            or not isinstance(given, (int, float))
            or not math.isfinite(given)
            or not 0.0 <= given <= 1.0
        ):
            raise self._odd(f"{at[-1]}: {given!r} is no share", "give a number from 0 to 1", *at)
        return float(given)

    def _odd(self, what: str, cure: str, *at: object) -> InputError:
        return InputError(what, where=self.file.place(*at), cure=cure)
