"""Evidence for sleep_orthogonalisation.  References: the oscillation integrated step by step,
scipy's minimum of the convex function that the rule descends, and cosines in numpy; none calls a
kernel it judges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar

from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.vocabulary import SLEEP_SHARE
from ..checks import adaptation, at_least, at_most, equation, limit, mutant, signature
from ..figures import Curve, Picture, figure
from ..memory import Scripted, encode, memory_of, neighbour, numbers_of
from .shared.scripts import drafting, refusing
from .shared.views import Instead

Array = NDArray[np.float64]
NORMAN = "Norman, Newman & Detre 2007"
PEROTTE = "Norman, Newman & Perotte 2005"
EPS, INHIBITION, AMPLITUDE, GAIN, LEAST = numbers_of(
    "sleep_orthogonalisation", "eps", "inhibition", "amplitude", "gain", "least"
).values()


def unit_rows(x: Array) -> Array:
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def clusters(
    rng: np.random.Generator, groups: int = 12, size: int = 4, p: int = 64, spread: float = 0.6
) -> tuple[Array, NDArray[np.int64]]:
    """Codes that are similar within groups, and the rivals of each."""
    centres = unit_rows(rng.standard_normal((groups, 1, p)))
    x = unit_rows(centres + spread * rng.standard_normal((groups, size, p)) / np.sqrt(p)).reshape(
        -1, p
    )
    group = np.arange(len(x)) // size
    rivals = np.array(
        [[j for j in range(len(x)) if group[j] == group[i] and j != i] for i in range(len(x))]
    )
    return x, rivals


def slept(
    specimen: Any,
    x: Array,
    rivals: NDArray[np.int64],
    cycles: int,
    w: Array | None = None,
    least: float = LEAST,
    eps: float = EPS,
) -> Array:
    """Weights after a sleep."""
    w = x.copy() if w is None else w.copy()
    specimen.separate(
        np.arange(len(x)), x, rivals, cycles, eps, INHIBITION, AMPLITUDE, GAIN, least, w
    )
    return w


def of_pairs(w: Array, rivals: NDArray[np.int64]) -> float:
    """Mean cosine of rivals."""
    cosines = unit_rows(w) @ unit_rows(w).T
    return float(np.mean([cosines[i, j] for i in range(len(w)) for j in rivals[i]]))


# --- the rule -------------------------------------------------------------------------------------
@equation(
    "SO-1",
    source=f"{NORMAN}; inhibition as a sine; changes of XY count + while it returns to its normal level, - while it leaves it",
    atol=1e-12,
    papers=("norman2007neural",),
)
def an_oscillation_learns_twice_the_contrast(specimen: Any) -> Any:
    measured, expected = [], []
    for drive in np.linspace(0.4, 1.2, 33):
        for target in (True, False):
            swing = np.sin(np.linspace(0.0, 2.0 * np.pi, 4001))
            swing[[0, 2000, 4000]] = 0.0
            y = np.clip(GAIN * (drive - INHIBITION + AMPLITUDE * swing), 0.0, 1.0)
            normal = float(target)
            y = np.where(
                swing > 0.0,
                np.maximum(normal, y),
                np.where(swing < 0.0, np.minimum(normal, y), normal),
            )
            measured.append(2.0 * specimen.contrast(drive, target, INHIBITION, AMPLITUDE, GAIN))
            expected.append(float(np.sum(np.sign(np.diff(-np.abs(swing))) * np.diff(y))))
    return measured, expected


def energy(w: Array, own: Array, others: Array) -> float:
    """The function whose gradient is the rule: areas under threshold-linear units that become
    active as competitors or drop out as targets.
    """
    out = (INHIBITION + AMPLITUDE + 1.0 / GAIN) - own @ w
    up = others @ w - (INHIBITION - AMPLITUDE)

    def area(d: Any) -> Any:
        return np.where(d < 0.0, 0.0, np.where(d < 1.0 / GAIN, 0.5 * GAIN * d * d, d - 0.5 / GAIN))

    return float(area(out) + area(up).sum())


@equation(
    "SO-2",
    source=f"after {PEROTTE}; scipy's minimum of the convex function within the cone",
    atol=2e-6,
    rtol=1e-5,
    papers=("norman2005methods",),
)
def sleep_converges_to_the_minimum_of_interference(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(0), [], []
    for trial in range(6):
        own = unit_rows(rng.standard_normal(6))
        others = unit_rows(
            own + (0.25 + 0.1 * trial) * rng.standard_normal((3, 6)) / np.sqrt(6.0) * 2.0
        )
        w = slept(
            specimen, np.vstack([own, others]), np.array([[1, 2, 3], *[[-1] * 3] * 3]), 30_000
        )[0]
        inside: Any = {
            "type": "ineq",
            "fun": lambda v, own=own: own @ v - LEAST * np.linalg.norm(v),
        }
        best = minimize(
            energy,
            own,
            args=(own, others),
            constraints=inside,
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 1000},
        )
        measured.append(energy(w, own, others))
        expected.append(best.fun)
    return measured, expected


@equation(
    "SO-3",
    source="distance to the cone, minimised over the angle by scipy in the plane of the two",
    atol=1e-6,
)
def the_bound_is_the_nearest_point_of_the_cone(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(1), [], []
    for _ in range(20):
        own, w = unit_rows(rng.standard_normal(5)), rng.standard_normal(5)
        w += 1.2 * own * abs(own @ w)
        across = unit_rows(w - (own @ w) * own)

        def nearest(angle: float, own: Array = own, across: Array = across, w: Array = w) -> Array:
            along = np.cos(angle) * own + np.sin(angle) * across
            return np.asarray(max(0.0, along @ w) * along)

        optimum = minimize_scalar(
            lambda a, w=w, to=nearest: np.linalg.norm(to(a) - w),
            bounds=(0.0, np.arccos(0.9)),
            method="bounded",
            options={"xatol": 1e-12},
        )
        expected.append(nearest(optimum.x))
        specimen.bounded(own, 0.9, w)
        measured.append(w)
    return measured, expected


@limit(
    "SO-4a",
    source=f"{NORMAN}: a unit that neither becomes active nor drops out learns nothing",
    papers=("norman2007neural",),
)
def without_interference_nothing_is_learnt(specimen: Any) -> Any:
    x = np.eye(5)
    # cosine 0.48, too low to become active
    x[1] = unit_rows(np.array([0.55, 1.0, 0.0, 0.0, 0.0]))
    return slept(specimen, x, np.array([[j for j in range(5) if j != i] for i in range(5)]), 50), x


@limit(
    "SO-4b", source="the cone of cosine 1 is the code itself: directions do not change", atol=1e-9
)
def with_a_bound_of_cosine_one_no_direction_changes(specimen: Any) -> Any:
    x, rivals = clusters(np.random.default_rng(2), groups=3)
    return unit_rows(slept(specimen, x, rivals, 50, least=1.0)), x


# --- signatures -----------------------------------------------------------------------------------
@signature(
    "SO-15.5",
    source=f"{NORMAN}: one cycle; response to the target's code",
    figure="contrast",
    papers=("norman2007neural",),
)
def the_competitor_falls_the_target_rises_and_others_do_not_change(specimen: Any) -> Any:
    x = unit_rows(np.array([[1.0, 0.0, 0.0], [0.8, 0.6, 0.0], [0.3, 0.0, 1.0]]))
    # the target is weak
    w = np.array([[0.95, 1.0, 1.0]]).T * x
    after = slept(specimen, x, np.array([[-1, -1], [0, -1], [0, -1]]), 1, w, eps=0.01)
    target, competitor, unrelated = (after - w) @ x[0]
    return (
        at_most([competitor / target, abs(unrelated) / min(target, -competitor), -target], 0.1)
        if competitor < 0.0
        else False
    )


@signature(
    "SO-15.7a",
    source=f"after {PEROTTE}: mean cosine of interfering pairs after one sleep of 50 cycles, over that before",
    figure="sleep_separates",
    papers=("norman2005methods",),
)
def interfering_memories_become_less_similar(specimen: Any) -> Any:
    x, rivals = clusters(np.random.default_rng(3))
    return at_most(of_pairs(slept(specimen, x, rivals, 50), rivals) / of_pairs(x, rivals), 0.8)


@signature(
    "SO-15.7b",
    source="the bound: cosine with the own code after each of five sleeps, at three spreads",
    figure="sleep_separates",
)
def every_unit_stays_within_the_bound_around_its_code(specimen: Any) -> Any:
    for seed, spread in ((5, 0.6), (4, 0.2), (6, 1.0)):
        x, rivals = clusters(np.random.default_rng(seed), groups=4, spread=spread)
        w = x
        for _ in range(5):
            w = slept(specimen, x, rivals, 100, w)
            yield at_least(float((unit_rows(w) * x).sum(axis=1).min()), LEAST - 1e-9)


def recalled(specimen: Any, of_cue: float, of_match: float) -> list[float]:
    """Recall@1 and @4, after sleep less before; 20 cues per memory, noise of the cue and of the
    match.
    """
    rng, change = np.random.default_rng(7), []
    x, rivals = clusters(rng)
    w, answer = slept(specimen, x, rivals, 150), np.repeat(np.arange(len(x)), 20)
    cues = unit_rows(
        np.repeat(x, 20, axis=0) + of_cue * rng.standard_normal((len(answer), 64)) / 8.0
    )
    noise = of_match * rng.standard_normal((len(answer), len(x)))
    for k in (1, 4):
        hits = [
            (np.argsort(-(cues @ unit_rows(v).T + noise), axis=1)[:, :k] == answer[:, None])
            .any(axis=1)
            .mean()
            for v in (w, x)
        ]
        change.append(float(hits[0] - hits[1]))
    return change


@signature(
    "SO-15.7c",
    source="Recall@1 and @4 of 960 noisy cues, matched with noise of sd 0.05, 0.1 and 0.15: after sleep less before; +- 0.005",
)
def recall_does_not_fall(specimen: Any) -> Any:
    return at_least([recalled(specimen, 0.4, sd) for sd in (0.05, 0.1, 0.15)], -0.005)


@signature(
    "SO-15.7e",
    source="the same for Recall@1 alone, with noise of 0.1: interfering memories are distinguished better",
)
def sleep_helps_against_interference(specimen: Any) -> Any:
    return at_least(recalled(specimen, 0.4, 0.1)[0], 0.05)


@adaptation(
    "SO-8",
    source="where only the cue is noisy the codes are the best weights; the loss by sleep there",
)
def where_matching_is_exact_sleep_costs_little(specimen: Any) -> Any:
    return at_least([recalled(specimen, sd, 0.0) for sd in (0.4, 0.8, 1.5)], -0.02)


@signature(
    "SO-15.7d",
    source="repeated sleep: change of the last of 200 nights of 100 cycles, over that of the first",
    figure="sleep_separates",
)
def repeated_sleep_converges(specimen: Any) -> Any:
    x, rivals = clusters(np.random.default_rng(8), groups=4)
    w, moved = x, []
    for _ in range(200):
        after = slept(specimen, x, rivals, 100, w)
        moved.append(float(np.abs(after - w).max()))
        w = after
    return at_most(moved[-1] / max(moved[0], 1e-300), 1e-6) if moved[0] > 0.01 else False


# --- the adaptation -------------------------------------------------------------------------------
@adaptation("SO-6", source="cosines of 400 pairs in 384 and in 64 dimensions; 1 / sqrt(64)")
def a_small_code_keeps_cosines(specimen: Any) -> Any:
    rng = np.random.default_rng(9)
    v = unit_rows(
        rng.standard_normal((400, 384)) + 0.06 * np.arange(400)[:, None] / 10.0 * np.ones(384)
    ).astype(np.float32)
    x = specimen.codes(v, 0, 64)
    error = (v[:-1] * v[1:]).sum(axis=1) - (x[:-1] * x[1:]).sum(axis=1)
    return at_most(
        [float(np.sqrt(np.mean(error**2))), float(np.abs(np.linalg.norm(x, axis=1) - 1.0).max())],
        0.125,
    )


@adaptation(
    "SO-7",
    source="ours, by hand: in both directions, from the least cosine on and below that of identical ones, none twice, no more "
    "than the column holds",
)
def rivals_are_similar_but_not_identical(specimen: Any) -> Any:
    rivals = np.full((5, 2), -1)
    for _ in range(2):
        specimen.oppose(
            4, np.array([4, 0, 1, 2, 3]), np.array([1.0, 0.95, 0.9, 0.6, 0.5]), 0.6, 0.95, rivals
        )
    return rivals, [[-1, -1], [4, -1], [4, -1], [-1, -1], [1, 2]]


# --- in a memory ----------------------------------------------------------------------------------
TUNED: dict[str, Any] = {"code": 7, "projection_seed": 3, "interferes": 0.5, "same": 0.96,
                         "rivals": 3, "newest": 4, "cycles": 42, "eps": 0.04,
                         "inhibition": 0.66, "amplitude": 0.09, "gain": 3.5, "least": 0.93}  # fmt: skip


def dreamt(x: Array, rivals: list[Array], w: Array, cycles: int) -> tuple[Array, bool]:
    """Weights of one unit after some cycles, and whether the first one changed it."""
    p = TUNED
    low, high, edge = (
        p["inhibition"] - p["amplitude"],
        p["inhibition"] + p["amplitude"],
        np.arccos(p["least"]),
    )
    for cycle in range(cycles):
        change = (1.0 - np.clip(p["gain"] * (x @ w - high), 0.0, 1.0)) * x
        for rival in rivals:
            change = change - np.clip(p["gain"] * (rival @ w - low), 0.0, 1.0) * rival
        after = w + p["eps"] * change
        if np.arccos(np.clip(x @ after / np.linalg.norm(after), -1.0, 1.0)) > edge:
            ray = np.cos(edge) * x + np.sin(edge) * unit_rows(after - (x @ after) * x)
            after = (ray @ after) * ray
        if np.abs(after - w).max() < 1e-5:
            return w, cycle > 0
        w = after
    return w, cycles > 0


def nights_in_memory(specimen: Any, nights: int) -> tuple[Any, Any]:
    """Twelve events, one of them refused, one near-identical to another, with one archived and a
    sleep each night; both give codes, sizes, rivals, how many units were changed, and the signal of
    a cue, before and after each night."""
    rng, shares = np.random.default_rng(5), (1.0, 1.0, 0.0, 0.5, 0.75)
    groups = unit_rows(rng.standard_normal((3, 8)))
    told = [
        (
            2.0 * i + 20.0 * (i > 5) + 20.0 * (i > 8),
            f"message {i}",
            groups[(0, 0, 1, 0, 1, 0, 0, 1, 0, 2, 1, 0)[i]],
        )
        for i in range(12)
    ]
    vectors = {text: unit_rows(g + 0.22 * rng.standard_normal(8)) for _, text, g in told}
    vectors["message 4"] = unit_rows(vectors["message 2"] + 0.05 * rng.standard_normal(8))
    vectors["cue"] = unit_rows(groups[0] + 0.3 * groups[1])
    small = {
        text: unit_rows(
            v
            @ np.random.default_rng(TUNED["projection_seed"]).standard_normal(
                (8, TUNED["code"]), dtype=np.float32
            )
        )
        for text, v in vectors.items()
    }

    def share(view: Any, tick: Any) -> None:
        view.sleep_share = shares[round(tick.end / 24.0) - 1]

    memory = memory_of(
        specimen,
        refusing("message 3"),
        neighbour(Phase.CONSOLIDATE, share, sets=(SLEEP_SHARE,), id="sleep"),
        embedder=Scripted(vectors),
        **TUNED,
    )
    texts: list[str] = []
    w: list[Array] = []
    rivals: list[list[int]] = []
    hidden, searched, turned = set[int](), 0, 0
    measured: list[float] = []
    expected: list[float] = []

    def look() -> None:
        memory.retrieve("cue", k=3)
        measured.extend(np.nan_to_num(memory.column(specimen.DISTINCT), nan=-9.0))
        expected.extend(float(unit_rows(v) @ small["cue"]) if turned else -9.0 for v in w)

    for night in range(1, nights + 1):
        while told and told[0][0] <= 24.0 * night:
            time, text, _ = told.pop(0)
            encode(memory, (time, text))
            if text != "message 3":
                texts.append(text)
                w.append(small[text])
                rivals.append([])
        if night == 4:
            memory.archive(1)
            hidden.add(1)
        look()
        memory.advance(24.0 * night)
        new, cycles = (
            range(max(searched, len(w) - TUNED["newest"]), len(w)),
            round(TUNED["cycles"] * shares[night - 1]),
        )
        if cycles and len(new):
            searched, touched = len(w), set(new)
            for row in new:
                cosine = {
                    i: float(vectors[texts[row]] @ vectors[texts[i]])
                    for i in range(len(w))
                    if i not in hidden
                }
                for _, other in sorted((-c, i) for i, c in cosine.items())[
                    : 2 * TUNED["rivals"] + 1
                ]:
                    if other != row and TUNED["interferes"] <= cosine[other] < TUNED["same"]:
                        for memory_row, rival in ((row, other), (other, row)):
                            if (
                                rival not in rivals[memory_row]
                                and len(rivals[memory_row]) < TUNED["rivals"]
                            ):
                                rivals[memory_row].append(rival)
            touched.update(*(rivals[row] for row in new))
            for row in touched:
                if rivals[row]:
                    w[row], moved = dreamt(
                        small[texts[row]], [small[texts[i]] for i in rivals[row]], w[row], cycles
                    )
                    turned += moved
        look()
        sizes = memory.column(specimen.DISTINCT_SIZE)
        measured += [
            int(memory.column(specimen.DISTINCT_TURNED)),
            int(memory.column(specimen.DISTINCT_SEARCHED)),
            *memory.column(specimen.DISTINCT_RIVALS).ravel(),
            *(sizes[:, None] * memory.column(specimen.DISTINCT_CODE)).ravel(),
            *sizes,
        ]
        expected += [
            turned,
            searched,
            *(x for r in rivals for x in (*r, *[-1] * (TUNED["rivals"] - len(r)))),
            *np.ravel(w),
            *np.linalg.norm(w, axis=1),
        ]
    return measured, expected


@equation(
    "SO-9",
    source=f"{NORMAN}: the contrast of inhibition, in numpy, cycle by cycle; float32 columns",
    atol=2e-6,
    papers=("norman2007neural",),
)
def a_memory_separates_its_rivals_night_by_night(specimen: Any) -> Any:
    return nights_in_memory(specimen, 5)


@limit(
    "SO-10",
    source="as SO-9 for two memories, each the other's only rival, with room for one",
    atol=2e-6,
    papers=("norman2007neural",),
)
def two_memories_without_room_for_more_rivals_are_separated(specimen: Any) -> Any:
    x = unit_rows(np.array([[1.0, 0.2, 0.0], [0.8, 0.0, 0.7]]))
    memory = memory_of(
        specimen,
        embedder=Scripted({"one": x[0], "other": x[1]}),
        **{**TUNED, "rivals": 1, "newest": 2},
    )
    encode(memory, (0.0, "one"), (1.0, "other"))
    memory.advance(24.0)
    small = unit_rows(
        x
        @ np.random.default_rng(TUNED["projection_seed"]).standard_normal(
            (3, TUNED["code"]), dtype=np.float32
        )
    )
    w = memory.column(specimen.DISTINCT_CODE) * memory.column(specimen.DISTINCT_SIZE)[:, None]
    return w, [dreamt(small[i], [small[1 - i]], small[i], int(TUNED["cycles"]))[0] for i in (0, 1)]


@limit(
    "SO-11",
    source="as SO-10 beside a row that the memory made, which is nearer to both than they are to each other",
    atol=2e-6,
)
def a_made_row_is_no_rival(specimen: Any) -> Any:
    x = unit_rows(np.array([[1.0, 0.2, 0.0], [0.8, 0.0, 0.7], [0.0, 1.0, -1.0], [0.9, 0.1, 0.35]]))

    memory = memory_of(
        specimen,
        drafting(Draft("made", Kind.SUMMARY, (0,)), 1),
        embedder=Scripted(dict(zip(("one", "other", "far", "made"), x, strict=True))),
        **{**TUNED, "rivals": 1, "newest": 2},
    )
    encode(memory, (0.0, "far"))
    memory.advance(24.0)
    encode(memory, (25.0, "one"), (26.0, "other"))
    memory.advance(48.0)
    small = unit_rows(
        x[:2]
        @ np.random.default_rng(TUNED["projection_seed"]).standard_normal(
            (3, TUNED["code"]), dtype=np.float32
        )
    )
    w = memory.column(specimen.DISTINCT_CODE) * memory.column(specimen.DISTINCT_SIZE)[:, None]
    return [*w[2:].ravel(), *memory.column(specimen.DISTINCT_RIVALS)[:, 0]], [
        *np.ravel(
            [dreamt(small[i], [small[1 - i]], small[i], int(TUNED["cycles"]))[0] for i in (0, 1)]
        ),
        *(-1, -1, 3, 2),
    ]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "sleep_separates",
    caption="Interfering memories become less similar with the cycles of sleep, and none leaves the cone around its own code",
    source=f"after {PEROTTE}; twelve groups of four codes",
)
def cosines_over_sleep(specimen: Any) -> Picture:
    x, rivals = clusters(np.random.default_rng(3))
    cycles, w, pairs, own = np.arange(0, 201, 10), x, [], []
    for _ in cycles:
        pairs.append(of_pairs(w, rivals))
        own.append(float((unit_rows(w) * x).sum(axis=1).min()))
        w = slept(specimen, x, rivals, 10, w)
    return Picture(
        "cycles of sleep",
        "cosine",
        (
            Curve("interfering pairs, mean", cycles, np.array(pairs)),
            Curve("with the own code, least", cycles, np.array(own)),
            Curve("bound", cycles, np.full(len(cycles), LEAST)),
        ),
    )


@figure(
    "contrast",
    caption="A unit that becomes active under low inhibition is weakened, one that drops out under high inhibition is "
    "strengthened; others learn nothing",
    source=f"{NORMAN}, one oscillation",
)
def learning_over_drive(specimen: Any) -> Picture:
    drive = np.linspace(0.3, 1.4, 221)
    return Picture(
        "drive of a unit",
        "change of weights / learning rate",
        tuple(
            Curve(
                label,
                drive,
                np.array(
                    [2.0 * specimen.contrast(d, target, INHIBITION, AMPLITUDE, GAIN) for d in drive]
                ),
            )
            for label, target in (("competitor", False), ("target", True))
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("the least cosine is left out, and that of identical ones is taken", rejected_by="SO-7")
def other_bounds(specimen: Any) -> Any:
    original = specimen.oppose
    return specimen.replacing(
        "oppose",
        lambda row, near, likeness, low, same, rivals: original(
            row, near, likeness, np.nextafter(low, 2.0), np.nextafter(same, 2.0), rivals
        ),
    )


@mutant("rivals pushed apart by 0.15 per step, with no fixed point", rejected_by="SO-15.7b")
def pushed(specimen: Any) -> Any:
    def separate(own: Any, x: Any, rivals: Any, cycles: int, *rest: Any) -> int:
        w = rest[-1]
        for _ in range(cycles // 5):
            for i in range(len(own)):
                for j in rivals[i]:
                    if j >= 0:
                        w[i] -= 0.15 * (w[i] @ w[j]) * w[j]
                        w[i] /= np.linalg.norm(w[i])
        return len(own)

    return specimen.replacing("separate", separate)


def of_all_rows(specimen: Any, name: str, hook: str) -> Any:
    """The specimen, whose plug-in of this name takes each row for an event in one hook."""

    original = getattr(getattr(specimen, name), hook)

    def of_events(self: Any, view: Any, what: Any) -> None:
        original(self, Instead(view, kind=np.zeros_like(view.kind)), what)

    return specimen.overriding(name, **{hook: of_events})


@mutant("made rows are rivals, too", rejected_by="SO-11")
def made_rivals(specimen: Any) -> Any:
    return of_all_rows(specimen, "SleepOrthogonalisation", "dream")


@mutant("no bound", rejected_by="SO-15.7b")
def unbounded(specimen: Any) -> Any:
    return specimen.replacing("bounded", lambda own, least, w: None)


@mutant("suppression of all neighbours in proportion to drive", rejected_by="SO-4a")
def linear(specimen: Any) -> Any:
    return specimen.replacing(
        "contrast", lambda drive, target, *rest: 0.0 if target else -0.3 * drive
    )


@mutant("constant inhibition", rejected_by="SO-15.5")
def still(specimen: Any) -> Any:
    def contrast(
        drive: float, target: bool, inhibition: float, amplitude: float, gain: float
    ) -> float:
        return float(specimen.contrast(drive, target, inhibition, 0.0, gain))

    return specimen.replacing("contrast", contrast)


@mutant("contrast without its sign", rejected_by="SO-15.7a")
def hebbian(specimen: Any) -> Any:
    return specimen.replacing(
        "contrast", lambda drive, target, *rest: abs(specimen.contrast(drive, target, *rest))
    )


@mutant("only the half with low inhibition", rejected_by="SO-1")
def low_half(specimen: Any) -> Any:
    return specimen.replacing(
        "contrast",
        lambda drive, target, *rest: 0.0 if target else specimen.contrast(drive, target, *rest),
    )


@mutant("a bound that shortens the perpendicular part, not the nearest point", rejected_by="SO-3")
def cut(specimen: Any) -> Any:
    def bounded(own: Any, least: float, w: Any) -> None:
        along, across = own @ w, w - (own @ w) * own
        most = abs(along) * np.sqrt(1.0 - least**2) / least
        if np.linalg.norm(across) > most:
            w[:] = along * own + across * most / np.linalg.norm(across)

    return specimen.replacing("bounded", bounded)


@mutant("weights that sleep changes without their length", rejected_by="SO-9")
def of_length_one(specimen: Any) -> Any:
    original = specimen.separate

    def separate(own: Any, x: Any, rivals: Any, cycles: int, *rest: Any) -> int:
        rest[-1][:] = unit_rows(rest[-1])
        return int(original(own, x, rivals, cycles, *rest))

    return specimen.replacing("separate", separate)
