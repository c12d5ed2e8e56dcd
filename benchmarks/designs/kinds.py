"""Kinds of designs: each makes arms and contrasts from a mechanism set.

Arms that differ in which players are on stand on a lattice: a coalition of players on top of
`base`, or of the set without all players.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...engine.base.errors import InputError, RegistryError, nearest
from .arms import FULL, Arm
from .contrasts import (
    EXACT,
    PAIRED,
    Coalition,
    Contrast,
    coalitions,
    confounded,
    factorial_effects,
    folded,
    interaction,
    shapley,
    shapley_sampled,
)
from .leave_one_out import leave_one_out

if TYPE_CHECKING:
    from ...engine.catalogue.registry import MechanismSet, Registry

BASE = "base"
SHOWN = 3  # players that the id of a coalition names


@dataclass(frozen=True, slots=True)
class Laid:
    """A design laid out over a mechanism set.

    arms        the reference first
    contrasts   what is estimated
    coalitions  arm id -> players that are on; {} for a design without coalitions
    notes       sentences for the report, such as which effects are confounded
    """

    arms: tuple[Arm, ...]
    contrasts: tuple[Contrast, ...]
    coalitions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class DesignKind(Protocol):
    """A design of one kind."""

    def laid(self, chosen: MechanismSet, registry: Registry) -> Laid:
        """The arms and contrasts for a set.  Raises InputError or RegistryError."""
        ...


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """The set without each player, and with each alternate of a player swapped in; full minus arm.

    players    () for all of the set
    baselines  sets that every arm is compared with; `full` is the set
    """

    players: tuple[str, ...] = ()
    baselines: tuple[str, ...] = (FULL,)

    def laid(self, chosen: MechanismSet, registry: Registry) -> Laid:
        _, *arms = leave_one_out(chosen, self.players)
        return _compared(chosen, arms, self.baselines, registry, removes=True)


@dataclass(frozen=True, slots=True)
class AddOneIn:
    """`base` with each player; arm minus base."""

    base: str
    players: tuple[str, ...] = ()
    baselines: tuple[str, ...] = (BASE,)

    def laid(self, chosen: MechanismSet, registry: Registry) -> Laid:
        base = registry.set(self.base)
        on, players = lattice(chosen, self.players, base)
        arms = [Arm(id, on(frozenset([id]))) for id in players]
        return _compared(chosen, arms, self.baselines, registry, base=base)


@dataclass(frozen=True, slots=True)
class Pairs:
    """All two-way interactions Y11 - Y10 - Y01 + Y00 of up to 12 players; the rest of the set,
    or `base`, stays on.
    """

    players: tuple[str, ...] = ()
    base: str = ""

    def laid(self, chosen: MechanismSet, registry: Registry) -> Laid:
        on, players = lattice(chosen, self.players, registry.set(self.base) if self.base else None)
        _require(players, 2, PAIRED, "pairs")
        everyone = frozenset(players)
        if self.base:  # the pair alone on top of the base
            wanted = {
                pair: [frozenset(pair), frozenset(pair[:1]), frozenset(pair[1:]), frozenset[str]()]
                for pair in combinations(players, 2)
            }
        else:
            wanted = {
                (a, b): [everyone, everyone - {b}, everyone - {a}, everyone - {a, b}]
                for a, b in combinations(players, 2)
            }
        arms, name = _arms(
            on,
            dict.fromkeys(
                [
                    everyone if not self.base else frozenset(),
                    *(c for coefficients in wanted.values() for c in coefficients),
                ]
            ),
            players,
            self.base,
        )
        contrasts = [
            Contrast(f"{a} x {b}", "interaction", interaction(*(name[c] for c in four)))
            for (a, b), four in wanted.items()
        ]
        return Laid(arms, tuple(contrasts), {name[c]: _members(c, players) for c in name})


@dataclass(frozen=True, slots=True)
class Factorial:
    """All 2^p coalitions of up to 10 players: main effects and two-way interactions."""

    players: tuple[str, ...] = ()
    base: str = ""

    def laid(self, chosen: MechanismSet, registry: Registry) -> Laid:
        on, players = lattice(chosen, self.players, registry.set(self.base) if self.base else None)
        _require(players, 1, EXACT, "factorial")
        arms, name = _arms(on, coalitions(players)[::-1], players, self.base)
        contrasts = [
            Contrast(
                " x ".join(chosen),
                "main effect" if len(chosen) == 1 else "interaction",
                {name[c]: w for c, w in weights.items()},
            )
            for chosen, weights in factorial_effects(players).items()
        ]
        return Laid(arms, tuple(contrasts), {name[c]: _members(c, players) for c in name})


@dataclass(frozen=True, slots=True)
class Fractional:
    """A fold-over of a Hadamard design: main effects clear of two-way interactions, in 2 n runs
    with n the next multiple of 4 above p.
    """

    players: tuple[str, ...] = ()
    base: str = ""

    def laid(self, chosen: MechanismSet, registry: Registry) -> Laid:
        on, players = lattice(chosen, self.players, registry.set(self.base) if self.base else None)
        _require(players, 1, 87, "fractional")
        signs = folded(len(players))
        runs = [
            frozenset(id for id, sign in zip(players, row, strict=True) if sign > 0)
            for row in signs.tolist()
        ]
        arms, name = _arms(on, dict.fromkeys([frozenset(players), *runs]), players, self.base)
        contrasts = []
        for column, id in enumerate(players):
            weights: dict[str, float] = {}
            for run, sign in zip(runs, signs[:, column].tolist(), strict=True):
                weights[name[run]] = weights.get(name[run], 0.0) + 2.0 * sign / len(runs)
            contrasts.append(Contrast(id, "main effect", weights))
        groups = [
            " = ".join(f"{a} x {b}" for a, b in group) for group in confounded(signs, players)
        ]
        notes = (
            f"{len(runs)} runs; main effects are clear of two-way interactions",
            *(f"confounded: {group}" for group in groups),
        )
        return Laid(arms, tuple(contrasts), {name[c]: _members(c, players) for c in name}, notes)


@dataclass(frozen=True, slots=True)
class Shapley:
    """Shapley values of the players, between `base`, or the set without them, and all of them.

    permutations  beyond 10 players, drawn in pairs of a permutation and its reverse; 0: 64
    seed          of the permutations
    """

    players: tuple[str, ...] = ()
    base: str = ""
    permutations: int = 0
    seed: int = 0

    def laid(self, chosen: MechanismSet, registry: Registry) -> Laid:
        on, players = lattice(chosen, self.players, registry.set(self.base) if self.base else None)
        _require(players, 1, 1000, "shapley")
        exact = len(players) <= EXACT and not self.permutations
        estimates = (
            shapley(players)
            if exact
            else shapley_sampled(players, self.permutations or 64, self.seed)
        )
        runs = dict.fromkeys(
            [frozenset(players), *(c for weights in estimates.values() for c in weights)]
        )
        arms, name = _arms(on, runs, players, self.base)
        contrasts = tuple(
            Contrast(id, "Shapley value", {name[c]: w for c, w in weights.items()})
            for id, weights in estimates.items()
        )
        how = (
            "exact"
            if exact
            else f"estimated from {2 * -(-(self.permutations or 64) // 2)} antithetic permutations"
        )
        return Laid(
            arms,
            contrasts,
            {name[c]: _members(c, players) for c in name},
            (f"Shapley values are {how}, from {len(runs):,} coalitions",),
        )


@dataclass(frozen=True, slots=True)
class Range:
    """An interval of a parameter for draws: on the scale of its logarithm if `log`."""

    low: float
    high: float
    log: bool = False


@dataclass(frozen=True, slots=True)
class ParameterSweep:
    """The set with other values of parameters; arm minus baseline.

    grid    `mechanism.parameter` -> values; all combinations
    ranges  `mechanism.parameter` -> interval, from which `points` scrambled Sobol points are drawn,
            one set of values each
    """

    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    points: int = 0
    baselines: tuple[str, ...] = (FULL,)
    seed: int = 0

    def laid(self, chosen: MechanismSet, registry: Registry) -> Laid:
        arms = []
        for draw in self.draws():
            for values in product(*self.grid.values()):
                given = {**dict(zip(self.grid, values, strict=True)), **draw}
                changes: dict[str, dict[str, Any]] = {}
                for key, value in given.items():
                    id, _, name = key.partition(".")
                    changes.setdefault(id, {})[name] = value
                arms.append(
                    Arm(
                        ", ".join(
                            f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
                            for key, value in given.items()
                        ),
                        chosen.overridden(changes, "sweep"),
                    )
                )
        return _compared(chosen, arms, self.baselines, registry)

    def draws(self) -> list[dict[str, float]]:
        """The drawn values, rounded to six digits; one empty draw without ranges.
        Owen-scrambled Sobol points: doi:10.1145/42288.214372.
        """
        if not self.ranges:
            return [{}]
        from scipy.stats import qmc

        unit = qmc.Sobol(
            len(self.ranges), scramble=True, rng=np.random.default_rng(self.seed)
        ).random_base2(max(self.points - 1, 0).bit_length())
        drawn = []
        for point in unit[: self.points].tolist():
            scaled = {}
            for (key, r), x in zip(self.ranges.items(), point, strict=True):
                value = (
                    np.exp(np.log(r.low) + x * np.log(r.high / r.low))
                    if r.log
                    else r.low + x * (r.high - r.low)
                )
                scaled[key] = float(f"{value:.6g}")
            drawn.append(scaled)
        return drawn


@dataclass(frozen=True, slots=True)
class ArmChange:
    """How an arm of its own differs from the set: mechanisms off, swapped, added, and parameters;
    or another set.

    of  name of the set that is changed; "" for that of the design
    """

    of: str = ""
    without: tuple[str, ...] = ()
    swap: Mapping[str, str] = field(default_factory=dict)
    add: tuple[str, ...] = ()
    param: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def applied(self, chosen: MechanismSet, registry: Registry) -> MechanismSet:
        mechanism_set = registry.set(self.of) if self.of else chosen
        mechanism_set = mechanism_set.without(self.without)
        for old, new in self.swap.items():
            mechanism_set = mechanism_set.swapped(old, new)
        if on := [id for id in self.add if id in mechanism_set.mechanisms]:
            raise RegistryError(
                f"{on[0]!r} is on already",
                where=f"set {mechanism_set.name}",
                cure="leave it out of `add`",
            )
        return replace(
            mechanism_set, mechanisms={**mechanism_set.mechanisms, **{id: {} for id in self.add}}
        ).overridden(self.param)


@dataclass(frozen=True, slots=True)
class NamedArms:
    """Arms of their own names; arm minus baseline."""

    arms: Mapping[str, ArmChange]
    baselines: tuple[str, ...] = (FULL,)

    def laid(self, chosen: MechanismSet, registry: Registry) -> Laid:
        return _compared(
            chosen,
            [Arm(name, change.applied(chosen, registry)) for name, change in self.arms.items()],
            self.baselines,
            registry,
        )


@dataclass(frozen=True, slots=True)
class Varieties:
    """Every mechanism of the set swapped for each of its varieties, and each variety for the
    paper form: full minus arm.
    """

    players: tuple[str, ...] = ()
    baselines: tuple[str, ...] = (FULL,)

    def laid(self, chosen: MechanismSet, registry: Registry) -> Laid:
        of = {entry.id: entry.variety_of for entry in registry.entries.values() if entry.variety_of}
        swaps = [
            (old, new)
            for old in self.players or chosen.mechanisms
            for new in registry.entries
            if new not in chosen.mechanisms
            and (
                of.get(new) == old
                or of.get(old) == new
                or (of.get(old) and of.get(old) == of.get(new))
            )
        ]
        if not swaps:
            raise InputError(
                "no mechanism of the set has a variety",
                where=f"set {chosen.name}",
                cure="take a set such as cortex or everything",
            )
        return _compared(
            chosen,
            [Arm(f"swap {old}->{new}", chosen.swapped(old, new), old) for old, new in swaps],
            self.baselines,
            registry,
            removes=True,
        )


def lattice(
    chosen: MechanismSet, players: Sequence[str], base: MechanismSet | None
) -> tuple[Callable[[Coalition[str]], MechanismSet], tuple[str, ...]]:
    """The set for each coalition of players, and the players: those given, else all of the set,
    without those of the base.  Raises InputError.
    """
    chosen_players = tuple(players) or tuple(
        id for id in chosen.mechanisms if base is None or id not in base.mechanisms
    )
    if odd := [id for id in chosen_players if id not in chosen.mechanisms]:
        raise InputError(
            f"the player {odd[0]!r} is not in the set {chosen.name}",
            where="players",
            cure=nearest(odd[0], chosen.mechanisms),
        )
    if base is not None and (both := [id for id in chosen_players if id in base.mechanisms]):
        raise InputError(
            f"the player {both[0]!r} is in the base {base.name}",
            where="players",
            cure="leave it out of `players`",
        )

    def on(coalition: Coalition[str]) -> MechanismSet:
        if base is None:
            return chosen.without([id for id in chosen_players if id not in coalition])
        mine = {id: values for id, values in chosen.mechanisms.items() if id in coalition}
        return replace(
            base,
            name=chosen.name,
            mechanisms={**base.mechanisms, **mine},
            places={**base.places, **chosen.places},
        )

    return on, chosen_players


def _members(coalition: Coalition[str], players: Sequence[str]) -> tuple[str, ...]:
    return tuple(id for id in players if id in coalition)


def _arms(
    on: Callable[[Coalition[str]], MechanismSet],
    runs: Iterable[Coalition[str]],
    players: Sequence[str],
    base: str,
) -> tuple[tuple[Arm, ...], dict[Coalition[str], str]]:
    """An arm for each coalition, and its id."""
    name: dict[Coalition[str], str] = {}
    for run in runs:
        out = [id for id in players if id not in run]
        if not out and not base:
            name[run] = FULL
        elif not run:
            name[run] = base or "without all players"
        else:
            few, word = (
                (out, "without")
                if len(out) <= len(run) and not base
                else (_members(run, players), f"{base} with" if base else "only")
            )
            rest = f" and {len(few) - SHOWN} more" if len(few) > SHOWN else ""
            name[run] = f"{word} {', '.join(few[:SHOWN])}{rest}"
            if name[run] in list(name.values())[:-1]:
                bits = "".join("1" if id in run else "0" for id in players)
                name[run] = f"coalition {bits}"
    return tuple(Arm(id, on(run)) for run, id in name.items()), name


def _require(players: Sequence[str], least: int, most: int, design: str) -> None:
    if not least <= len(players) <= most:
        raise InputError(
            f"{design} of {len(players)} players",
            where="players",
            cure=f"name {least} to {most} players",
        )


def _compared(
    chosen: MechanismSet,
    arms: Sequence[Arm],
    baselines: Sequence[str],
    registry: Registry,
    *,
    base: MechanismSet | None = None,
    removes: bool = False,
) -> Laid:
    """Every arm against every baseline: arm minus baseline, or for an arm that removes, against
    the full set, full minus arm.
    """
    against = [
        Arm(FULL, chosen)
        if name == FULL
        else Arm(BASE, base)
        if name == BASE and base is not None
        else Arm(name, registry.set(name))
        for name in baselines
    ]
    contrasts = []
    for baseline in against:
        for arm in arms:
            named = arm.name if len(against) == 1 else f"{arm.name} against {baseline.id}"
            turned = removes and baseline.id == FULL
            kind = f"{baseline.id} minus arm" if turned else f"arm minus {baseline.id}"
            contrasts.append(
                Contrast(
                    named,
                    kind,
                    {baseline.id: 1.0, arm.id: -1.0}
                    if turned
                    else {arm.id: 1.0, baseline.id: -1.0},
                )
            )
    return Laid((*against, *arms), tuple(contrasts))
