"""Evidence for schema_formation_printed: the rules of Cortex 4.2.5, and the checks of the
papers' form run on them.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.stats import norm

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import CONGRUENCY, INITIAL_STRENGTH, VETO
from ..checks import adaptation, at_most, equation, limit, mutant
from ..figures import Curve, Picture, figure
from ..memory import memory_of, neighbour, shipping
from . import schema_formation as papers


def as_schemas(specimen: Any) -> SimpleNamespace:
    """The printed form under the papers' names: strength is the acceleration by the match, at
    most 2.5; dependence decays faster by it.  Numbers are those with which the papers' form ships.
    """

    def strength(c: float, a: float, b: float, p: float) -> float:
        return float(specimen.acceleration(c, 2.5))

    def dependence(t: float, c: float, tau: float, kappa: float) -> float:
        return math.exp(-specimen.acceleration(c, 2.5) * t / tau)

    def congruency(x: Any, w: Any, *_: Any) -> float:
        return float(specimen.jaccard(x, w))

    return SimpleNamespace(
        strength=strength,
        dependence=dependence,
        congruency=congruency,
        **shipping("schema_formation"),
    )


# --- as printed -----------------------------------------------------------------------------------
@adaptation("SFP-1", source="intersection and union of sets", atol=1e-12)
def overlap_of_sets_is_jaccard(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(0), [], []
    for _ in range(40):
        a, b = (set(rng.choice(9, rng.integers(0, 7), replace=False).tolist()) for _ in range(2))
        measured.append(
            specimen.jaccard(
                np.array(sorted(a), dtype=np.int64), np.isin(np.arange(9), list(b)).astype(float)
            )
        )
        expected.append(len(a & b) / len(a | b) if a | b else 0.0)
    return measured, expected


@adaptation(
    "SFP-2", source="Cortex 4.2.5: 0.7 entity + 0.3 tag", atol=1e-12, papers=("cortex2026",)
)
def the_match_weighs_entities_and_tags(specimen: Any) -> Any:
    return [specimen.match(e, t, 0.7) for e, t in ((1.0, 0.0), (0.0, 1.0), (0.5, 0.2))], [
        0.7,
        0.3,
        0.41,
    ]


@adaptation(
    "SFP-6",
    source="Cortex 4.2.5, by hand: of two memories with the entity of a schema, the one with its tags matches by 0.7 + 0.3, "
    "the one with others by 0.7; without tags the terms count",
    atol=1e-6,
    papers=("cortex2026",),
)
def tags_of_the_event_are_its_tags(specimen: Any) -> Any:
    def matched(*told: tuple[str, tuple[str, ...]]) -> float:
        memory = memory_of(specimen)
        for hour, (text, tags) in enumerate(told):
            attributes = tuple(("tags", tag) for tag in tags)
            memory.encode(Event(float(hour), text, dated=False, attributes=attributes))
        return float(memory.column("schema_overlap"))

    first = ("They say Ada sang.", ("music", "choir"))
    return [
        matched(first, ("They say Ada left.", ("music", "choir"))),
        matched(first, ("They say Ada sang.", ("travel",))),
        matched(("They say Ada sang.", ()), ("They say Ada sang.", ())),
    ], [1.0, 0.7, 1.0]


@equation(
    "CM-5.4", source="EMA, alpha = 0.1: the old content keeps 0.9^n; 0.098 after 22", atol=1e-9
)
def a_repeated_novelty_replaces_the_schema(specimen: Any) -> Any:
    w, kept = np.array([1.0, 0.0, 1.0]), []
    for _ in range(22):
        specimen.drift(w, np.array([1, 2]), 0.1)
        kept.append(w.copy())
    old = 0.9 ** np.arange(1, 23)
    return np.array(kept), np.column_stack([old, 1.0 - old, np.ones(22)])


@adaptation(
    "SFP-3",
    source="Cortex 4.2.5: sum of squared errors, in numpy",
    atol=1e-12,
    papers=("cortex2026",),
)
def the_quantity_called_free_energy_is_squared_error(specimen: Any) -> Any:
    w = np.random.default_rng(1).random(7)
    return specimen.free_energy(np.array([0, 3]), w), (
        (np.isin(np.arange(7), [0, 3]) - w) ** 2
    ).sum()


@adaptation(
    "SFP-4",
    source="1/2 sum pi e^2 - 1/2 sum ln pi at pi = 1, from scipy's normal density: exactly half of the printed value",
    atol=1e-12,
)
def the_printed_value_is_twice_the_free_energy_at_unit_precision(specimen: Any) -> Any:
    w = np.random.default_rng(2).random(7)
    return specimen.free_energy(np.array([1, 2]), w) / gaussian(
        np.isin(np.arange(7), [1, 2]) - w, np.ones(7)
    ), 2.0


@equation(
    "CM-5.6",
    source="free energy of Gaussian errors, 1/2 sum pi e^2 - 1/2 sum ln pi, from scipy's normal density",
    atol=1e-9,
)
def free_energy_weighs_errors_by_their_precision(specimen: Any) -> Any:
    w, precision = np.random.default_rng(3).random(5), np.array([0.2, 1.0, 4.0, 1.0, 2.0])
    return specimen.free_energy(np.array([0, 4]), w), gaussian(
        np.isin(np.arange(5), [0, 4]) - w, precision
    )


def gaussian(errors: Any, precision: Any) -> float:
    """-ln p without the constant 1/2 ln 2 pi."""
    return float(
        (-norm.logpdf(errors, scale=precision**-0.5) - 0.5 * math.log(2.0 * math.pi)).sum()
    )


@limit(
    "CM-5.5b",
    source="a tag of all memories has lift 1: with or without it, the match is the same",
    atol=1e-12,
)
def a_tag_that_all_share_is_no_evidence(specimen: Any) -> Any:
    x, w = np.array([0, 1]), np.array([1.0, 0.0, 0.4])
    return specimen.jaccard(np.append(x, 3), np.append(w, 1.0)), specimen.jaccard(x, w)


@limit("CM-5.5", source="a schema of one episode is that episode", atol=1e-12)
def a_schema_of_one_episode_is_that_episode(specimen: Any) -> Any:
    w = np.isin(np.arange(6), [1, 4]).astype(float)
    return [specimen.jaccard(np.array([1, 4]), w), specimen.jaccard(np.array([0, 2]), w)], [
        1.0,
        0.0,
    ]


@adaptation(
    "SFP-5",
    source="Tse et al. 2007 needs at least 10 times as fast; printed: 2.5 in 4.2.3, 1.5 in 7.2",
    papers=("cortex2026", "tse2007schemas"),
)
def the_acceleration_is_as_printed(specimen: Any) -> Any:
    return at_most([specimen.acceleration(m, 2.5) for m in (0.0, 0.5, 1.0)], 2.5)


# whom an event names, and its tags; a gate refuses the fourth
STORY: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("Ada",), ("music", "choir")),
    (("Bo",), ("travel",)),
    (("Ada",), ("rain",)),  # a match at the upper threshold
    (("Cleo",), ("refused",)),
    (("Cleo",), ("travel",)),  # a match at the lower threshold
    (("Dora",), ("sea",)),
    (("Eve",), ("sun",)),  # no match, and no room
    (("Ada", "Bo"), ("music",)),
    (("Fay",), ("travel", "sea")),  # two equal matches
    (("Eve", "Fay"), ("sun", "sea")),
    (("Dora", "Bo"), ("sea", "travel")),
)

Signature = dict[str, float]  # of a schema: a weight for each name


def likeness(names: tuple[str, ...], w: Signature) -> float:
    """Sum of the least over sum of the largest of a set and a signature."""
    both = {*names, *w}
    least = sum(min(float(n in names), w.get(n, 0.0)) for n in both)
    return least / sum(max(float(n in names), w.get(n, 0.0)) for n in both)


@adaptation(
    "SFP-7",
    source="Cortex 4.2.5, by plain dictionaries: a memory with room for three schemas, matches at both thresholds, two equal ones, "
    "and a refused event; float32 columns",
    atol=1e-6,
    papers=("cortex2026",),
)
def in_a_memory_events_join_start_or_move_schemas(specimen: Any) -> Any:
    def reject(view: Any, incoming: Any) -> None:
        view.veto = int(("tags", "refused") in incoming.event.attributes)

    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, reject, adds=(VETO,)),
        entity_share=0.75,
        assimilate=0.75,
        accommodate=0.25,
        alpha=0.2,
        most=3.0,
        schemas=3,
        buckets=4096,
        strength_gain=0.4,
    )
    schemas: list[tuple[Signature, Signature]] = []
    measured, expected = list[Any](), list[Any]()
    strength, fit, error = list[float](), list[float](), list[float]()
    for hour, (names, tags) in enumerate(STORY):
        text, attributes = f"They say {' and '.join(names)} sang.", [("tags", tag) for tag in tags]
        memory.encode(Event(float(hour), text, dated=False, attributes=tuple(sorted(attributes))))
        matches = [0.75 * likeness(names, e) + 0.25 * likeness(tags, t) for e, t in schemas]
        match = max(matches, default=0.0)
        best = matches.index(match) if match > 0.0 else -1
        measured += [
            float(memory.column(c)) for c in (specimen.SCHEMA_BEST, specimen.SCHEMA_OVERLAP)
        ]
        expected += [best, match]
        if tags == ("refused",):
            continue
        if best < 0 and len(schemas) < 3:
            best = len(schemas)
            schemas.append((dict.fromkeys(names, 1.0), dict.fromkeys(tags, 1.0)))
        strength.append(0.4 * math.log(1.0 + 2.0 * match) if match >= 0.75 else 0.0)
        fit.append(match)
        error.append(0.0)
        for given, w in zip((names, tags), schemas[max(best, 0)], strict=True):
            error[-1] += sum((float(n in given) - w.get(n, 0.0)) ** 2 for n in {*given, *w})
            for n in {*given, *w} if match < 0.25 else ():
                w[n] = 0.8 * w.get(n, 0.0) + 0.2 * (n in given)
        measured.append(float(memory.column(specimen.SCHEMAS_KNOWN)))
        expected.append(len(schemas))
    for column in (INITIAL_STRENGTH, CONGRUENCY, specimen.SCHEMA_FREE_ENERGY):
        measured += memory.column(column).tolist()
    return measured, [*expected, *strength, *fit, *error]


# --- the papers' checks ---------------------------------------------------------------------------
u_shape = papers.strength_is_u_shaped_in_congruency.of_variety(as_schemas)
lesion = papers.a_lesion_harms_at_three_hours_and_not_at_two_days.of_variety(as_schemas)
no_schema = papers.without_a_schema_memory_depends_on_the_hippocampus_at_two_days.of_variety(
    as_schemas
)
window = papers.with_a_schema_the_time_constant_is_below_a_day.of_variety(as_schemas)
ten_times = papers.a_schema_is_more_than_ten_times_as_fast.of_variety(as_schemas)


# --- figures --------------------------------------------------------------------------------------
@figure(
    "u_shape",
    caption="The printed strength rises with the match throughout; in the paper novel events, too, are remembered well",
    source=f"Cortex 4.2.5, up to 2.5 times; {papers.SLIMM}, M(c) = c^2 + (1 - c)^2",
)
def boost_over_match(specimen: Any) -> Picture:
    return Picture(
        "congruency with the schema",
        "memory strength",
        (
            Curve(
                "printed",
                papers.GRID,
                np.array([specimen.acceleration(c, 2.5) for c in papers.GRID]),
            ),
            Curve(
                "U-shape after the paper", papers.GRID, papers.GRID**2 + (1.0 - papers.GRID) ** 2
            ),
        ),
    )


lesions = papers.recall_without_hippocampus.of_variety(
    "With a factor of 2.5 most of a memory that fits a schema still depends on the hippocampus at 48 h",
    as_schemas,
)


@mutant("overlap over the smaller set", rejected_by="SFP-1")
def smaller_set(specimen: Any) -> Any:
    return specimen.replacing(
        "jaccard", lambda x, w: float(w[x].sum() / max(min(len(x), w.sum()), 1))
    )


@mutant("equal weights of entities and tags", rejected_by="SFP-2")
def alike(specimen: Any) -> Any:
    return specimen.replacing("match", lambda e, t, share: 0.5 * e + 0.5 * t)


@mutant("half the rate", rejected_by="CM-5.4")
def running_mean(specimen: Any) -> Any:
    return specimen.replacing("drift", lambda w, x, alpha: specimen.drift(w, x, 0.5 * alpha))


@mutant("absolute errors", rejected_by="SFP-3")
def absolute(specimen: Any) -> Any:
    return specimen.replacing(
        "free_energy", lambda x, w: float(np.abs(np.isin(np.arange(len(w)), x) - w).sum())
    )


@mutant("half the value, the free energy at unit precision", rejected_by="SFP-4")
def halved(specimen: Any) -> Any:
    return specimen.replacing("free_energy", lambda x, w: 0.5 * specimen.free_energy(x, w))


@mutant("fifteen times as fast", rejected_by="SFP-5")
def fifteen(specimen: Any) -> Any:
    return specimen.replacing("acceleration", lambda m, most: 1.0 + 14.0 * m)


@mutant("of equal matches the last schema", rejected_by="SFP-7")
def last_of_equals(specimen: Any) -> Any:
    original = specimen.match
    calls = [0]

    def match(entities: float, tags: float, share: float) -> float:
        calls[0] += 1
        return float(original(entities, tags, share)) * (1.0 + 1e-9 * calls[0])

    return specimen.replacing("match", match)


@mutant("a schema moves before the errors of its prediction", rejected_by="SFP-7")
def errors_after_drift(specimen: Any) -> Any:
    drift, original = specimen.drift, specimen.free_energy

    def free_energy(x: Any, w: Any) -> float:
        moved = w.copy()
        drift(moved, x, 0.2)
        return float(original(x, moved))

    return specimen.replacing("free_energy", free_energy)


@mutant("a match at the upper threshold does not accelerate", rejected_by="SFP-7")
def above_alone(specimen: Any) -> Any:
    original = specimen.acceleration
    return specimen.replacing(
        "acceleration", lambda matched, most: original(matched, most if matched > 0.75 else 1.0)
    )


@mutant("an event without a match moves no schema", rejected_by="SFP-7")
def without_drift(specimen: Any) -> Any:
    return specimen.replacing("drift", lambda w, x, alpha: None)
