"""Evidence for synaptic_renormalisation.  The hypothesis has no equation: the checks cover its
statements, de Vivo's numbers on sizes distributed like those of synapses, and closed forms of ours
for gain and headroom.  No reference calls a kernel.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.records import Event, Query
from ...engine.contract.vocabulary import ENCODING_STRENGTH, LOG_STRENGTH, SLEEP_SHARE
from ..checks import adaptation, at_least, between, data, equation, limit, mutant, rival, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, neighbour, numbers_of, plug_in
from ..paper_numbers import paper_number
from .shared.named import SOURCE as NAMED
from .shared.named import named
from .shared.scripts import drafting, giving, refusing

SHY, DE_VIVO = "Tononi & Cirelli 2014", "de Vivo et al. 2017"
MICE = "mice, 6,920 synapses; the number of mice was not read"
NIGHT, SPARED = 0.18, 0.2
ETA, MOST, RAMP = numbers_of("synaptic_renormalisation", "eta", "excess_most", "ramp").values()
NUMBERS = (
    paper_number(
        "downscaling",
        NIGHT,
        "1",
        paper="devivo2017ultrastructural",
        where="abstract: the interface decreases by about 18%",
    ),
    paper_number(
        "spared",
        SPARED,
        "1",
        paper="devivo2017ultrastructural",
        where="abstract: except in the largest fifth",
    ),
)


def sizes(n: int = 5000, spread: float = 0.8) -> NDArray[np.float64]:
    """Log sizes, normally distributed like those of synapses; the mean size is well above 1, as
    after a long day.
    """
    return np.random.default_rng(0).normal(0.5, spread, n)


def slept(
    specimen: Any,
    log_weight: NDArray[np.float64],
    share: float = NIGHT,
    spared: float = SPARED,
    ramp: float = RAMP,
) -> NDArray[np.float64]:
    """Log weights after a sleep that may take off `share`; the log weight is also the log
    strength, which decides the strongest.
    """
    after = log_weight.copy()
    low, high = specimen.quantiles(log_weight, 1.0 - spared - ramp, 1.0 - spared)
    specimen.downscale(share, low, high, log_weight, after)
    return after


def as_shipped(specimen: Any, log_weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log weights after a full night by the numbers that ship."""
    p = plug_in(specimen).params
    return slept(specimen, log_weight, p.downscaling, p.spared, p.ramp)


def awake(specimen: Any, occasions: int, n: int = 200) -> tuple[NDArray[np.float64], float]:
    """Log weights, and log headroom, after occasions of two memories each."""
    log_weight, log_room = np.zeros(n), 0.0
    for k in range(occasions):
        log_room = specimen.potentiate(
            np.array([2 * k % n, (2 * k + 1) % n]), ETA, MOST, log_room, log_weight
        )
    return log_weight, log_room


# --- sleep ----------------------------------------------------------------------------------------
@equation(
    "CM-16.4",
    source=f"{SHY}: in proportion; ratios below the line do not change",
    rtol=1e-12,
    papers=("tononi2014sleep",),
)
def ratios_of_weights_that_are_not_spared_do_not_change(specimen: Any) -> Any:
    before, order = sizes(), np.argsort(sizes())
    after, small = slept(specimen, before), order[: int(0.7 * len(order)) - 1]
    return np.exp(after[small] - after[small[0]]), np.exp(before[small] - before[small[0]])


@equation(
    "CM-16.4b",
    source="without the ramp: the total falls by rho times the share that is not spared, with one rho for all of it",
    rtol=1e-9,
)
def the_total_falls_by_rho_times_the_share_not_spared(specimen: Any) -> Any:
    before = sizes(4001)
    # the line itself included
    after, exposed = slept(specimen, before, ramp=0.0), np.argsort(before)[:3201]
    rho = 1.0 - math.exp((after - before)[exposed[0]])
    w = np.exp(before)
    return [np.exp(after).sum() / w.sum(), rho], [
        1.0 - rho * w[exposed].sum() / w.sum(),
        NIGHT * w.sum() / w[exposed].sum(),
    ]


@data(
    "CM-16.5",
    source=f"{DE_VIVO}: mean size after sleep 0.82 of that after wake",
    atol=0.02,
    figure="downscaling",
    papers=("devivo2017ultrastructural",),
    subjects=MICE,
)
def a_night_takes_eighteen_percent_off_the_mean_size(specimen: Any) -> Any:
    means = []
    for spread in (0.3, 0.8, 1.0):
        before = sizes(spread=spread)
        means.append(np.exp(as_shipped(specimen, before)).mean() / np.exp(before).mean())
    return means, [0.82, 0.82, 0.82]


@data(
    "CM-16.5b",
    source=f"{DE_VIVO}: the largest fifth did not change",
    atol=0.0,
    figure="downscaling",
    papers=("devivo2017ultrastructural",),
    subjects=MICE,
)
def the_largest_fifth_is_spared(specimen: Any) -> Any:
    before = sizes()
    largest = np.argsort(before)[-1000:]
    return as_shipped(specimen, before)[largest], before[largest]


@signature(
    "CM-16.6",
    source=f"{SHY}: signal over noise does not fall; (mean strong - mean weak) / sd weak",
    papers=("tononi2014sleep",),
)
def sleep_raises_signal_over_noise(specimen: Any) -> Any:
    before = sizes()
    strong = np.argsort(np.argsort(before)) >= 4000

    def ratio(log_w: NDArray[np.float64]) -> float:
        w = np.exp(log_w)
        return float((w[strong].mean() - w[~strong].mean()) / w[~strong].std())

    return at_least(ratio(slept(specimen, before)) / ratio(before), 1.0)


@limit(
    "CM-16.6b",
    source=f"{SHY}: smaller, not gone: no weight loses more than half, and the order stays",
    papers=("tononi2014sleep",),
)
def no_weight_is_extinguished_and_the_order_stays(specimen: Any) -> Any:
    before = np.concatenate([sizes(900, 0.5) - 3.0, sizes(100, 2.0) + 3.0])
    after = slept(specimen, before)
    return bool(
        (before - after).max() <= math.log(2.0) + 1e-12
        and (np.diff(after[np.argsort(before)]) >= -1e-12).all()
    )


# --- wake and sleep -------------------------------------------------------------------------------
@equation(
    "CM-16.7",
    source="closed form: E = E_max (1 - (1 - eta / E_max)^k) after k occasions",
    rtol=1e-10,
)
def waking_gains_add_up_and_saturate(specimen: Any) -> Any:
    measured, expected = [], []
    for k in (1, 20, 100, 2000):
        log_weight, log_room = awake(specimen, k)
        left = (1.0 - ETA / MOST) ** k
        measured += [np.exp(log_weight).sum() - len(log_weight), math.exp(log_room)]
        expected += [MOST * (1.0 - left), left]
    return measured, expected


@signature(
    "CM-16.7b",
    source=f"{SHY}: a day awake lowers the capacity to learn, a night restores it",
    figure="day_and_night",
    papers=("tononi2014sleep",),
)
def learning_saturates_without_sleep_and_is_restored_by_it(specimen: Any) -> Any:
    log_weight, log_room = awake(specimen, 60)
    low, high = specimen.quantiles(log_weight, 0.7, 0.8)
    rested = specimen.headroom(
        specimen.downscale(NIGHT, low, high, log_weight.copy(), log_weight), MOST
    )
    return bool(
        math.exp(log_room) < 0.6 and rested > 0.999 and abs(np.exp(log_weight).mean() - 1.0) < 1e-9
    )


@limit(
    "CM-16.7c",
    source=f"{SHY}: renormalisation to a baseline; nights after idle days change nothing",
    atol=1e-12,
    papers=("tononi2014sleep",),
)
def nights_after_idle_days_change_nothing(specimen: Any) -> Any:
    log_weight, _ = awake(specimen, 60)
    rested = slept(specimen, log_weight)
    later = rested
    for _ in range(365):
        later = slept(specimen, later)
    return later, rested


@signature(
    "CM-16.7d",
    source=f"{SHY}: the total stays; ours: a gain of 1 in 300 for 200 nights, lost by all or by half of the total",
    papers=("tononi2014sleep",),
)
def an_old_memory_loses_only_as_much_as_others_gain(specimen: Any) -> Any:
    log_weight = np.zeros(300)
    for night in range(200):
        # the last twenty are never active again
        active = (20 * night + np.arange(20)) % 280
        specimen.potentiate(active, 1.0, MOST, 0.0, log_weight)
        log_weight = slept(specimen, log_weight)
    level = np.exp(log_weight).mean()
    return between(log_weight[280:] / level, -200.0 / 150.0, -200.0 * math.log(301.0 / 300.0))


# --- the adaptation -------------------------------------------------------------------------------
@adaptation("SHY-1", source="eta 0.2, E_max 20: 0.99^20", atol=0.005)
def twenty_messages_leave_a_headroom_of_eighty_two_percent(specimen: Any) -> Any:
    return math.exp(awake(specimen, 20)[1]), 0.82


@adaptation(
    "SHY-2", source="a smooth step in log strength: 1, 1/2, 0, flat at both ends", atol=1e-5
)
def the_loss_falls_smoothly_to_zero(specimen: Any) -> Any:
    at = [specimen.loss(x, -1.0, 1.0) for x in (-5.0, -1.0, 0.0, 1.0, 5.0)]
    ends = [
        (specimen.loss(x + 1e-6, -1.0, 1.0) - specimen.loss(x, -1.0, 1.0)) / 1e-6
        for x in (-1.0, 1.0 - 1e-6)
    ]
    return [*at, *ends], [1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0]


@adaptation("SHY-3", source="if all weights are equal, none is among the strongest", atol=1e-12)
def equal_weights_lose_equal_shares(specimen: Any) -> Any:
    return slept(specimen, np.full(50, math.log(2.0))), np.full(50, math.log(2.0 * 0.82))


@adaptation("SHY-4", source="numpy.sort")
def quantiles_are_values_of_the_sorted_array(specimen: Any) -> Any:
    values = np.random.default_rng(1).normal(size=101)
    return specimen.quantiles(values, 0.7, 0.8), np.sort(values)[[70, 80]]


@adaptation("SHY-5", source="ours: headroom stays in (0, 1] at any excess")
def headroom_stays_in_bounds(specimen: Any) -> Any:
    return between([specimen.headroom(e, MOST) for e in (-3.0, 0.0, 10.0, 20.0, 1e9)], 1e-12, 1.0)


@limit(
    "SHY-8",
    source="by hand: below the baseline nothing is lost; all spared: nothing; e + 1 in full; half of the only exposed weight",
    atol=1e-12,
)
def downscaling_at_its_limits(specimen: Any) -> Any:
    cases = (
        ((-0.1, 0.0), (0.0, 0.0), 0.5, (0.0, -0.1, 0.0)),
        ((math.log(3.0), 0.0), (2.0, 2.0), 0.5, (2.0, math.log(3.0), 0.0)),
        (
            (1.0, 0.0),
            (0.0, 0.0),
            0.1,
            (0.9 * (math.e + 1.0) - 2.0, 1.0 + math.log(0.9), math.log(0.9)),
        ),
        ((0.0, math.log(3.0)), (0.0, 2.0), 0.18, (1.5, math.log(0.5), math.log(3.0))),
    )
    measured: list[float] = []
    expected: list[float] = []
    for log_weight, log_strength, share, after in cases:
        w = np.array(log_weight)
        measured += [specimen.downscale(share, 0.5, 1.0, np.array(log_strength), w), *w]
        expected += after
    return measured, expected


@limit("SHY-9", source="a gain beyond E_max leaves the least headroom, ln 1e-9")
def a_gain_beyond_the_capacity_leaves_the_least_headroom(specimen: Any) -> Any:
    return specimen.potentiate(np.array([0]), 2.0, 1.0, 0.0, np.zeros(1)), math.log(1e-9)


# --- in a memory ----------------------------------------------------------------------------------
def days_in_memory(specimen: Any, eta: float, most: float, messages: int) -> tuple[Any, Any]:
    """Messages of three sessions, some refused, with answers that teach one asker, each together with
    the one before, and nights of different length, the last after an idle day.

    Both give ln w, ln of the headroom and ln of the strength of each memory before and after each
    night, and the encoding strength of each event.
    """
    rng, shares = np.random.default_rng(3), {24.0: 1.0, 48.0: 0.4, 72.0: 1.5, 96.0: 1.0}
    given = rng.normal(0.0, 0.7, messages)

    def share(view: Any, tick: Any) -> None:
        view.sleep_share = shares[tick.end]

    memory = memory_of(
        specimen,
        "dense_similarity",
        giving(Phase.MAINTAIN, LOG_STRENGTH, given, adds=True),
        refusing("refused"),
        neighbour(Phase.CONSOLIDATE, share, sets=(SLEEP_SHARE,), id="night"),
        eta=eta,
        excess_most=most,
    )
    w: list[float] = []
    # ln of the strength at encoding, and what the neighbour adds
    first: list[float] = []
    sessions: list[str] = []
    used: list[int] = []  # rows of the last answer that taught, in the asker's session
    room = 1.0
    measured: list[float] = []
    expected: list[float] = []

    def active(rows: list[int]) -> None:
        nonlocal room
        for row in rows:
            w[row] += eta * room / len(rows)
        room = max(room * max(1.0 - eta / most, 0.0), 1e-9)

    def look() -> None:
        memory.advance(memory.now)
        measured.extend(
            [
                *memory.column(specimen.RENORMALISED_WEIGHT),
                float(memory.column(specimen.RENORMALISED_ROOM)),
            ]
        )
        measured.extend(memory.column(LOG_STRENGTH))
        expected.extend([*np.log(w), math.log(room), *(np.log(w) + first)])

    def sleep(time: float) -> None:
        nonlocal room
        memory.advance(time)
        total, order = sum(w), np.argsort(np.log(w) + first)
        x = (np.log(w) + first)[order]
        low, high = (x[int(q * (len(w) - 1))] for q in (1.0 - SPARED - RAMP, 1.0 - SPARED))
        s = np.clip((x - low) / (high - low), 0.0, 1.0)
        loss, sizes = (1.0 + 2.0 * s) * (1.0 - s) ** 2, np.array(w)[order]
        rho = min(
            min(total - len(w), (1.0 - (1.0 - NIGHT) ** shares[time]) * total)
            / float(loss @ sizes),
            0.5,
        )
        for row, part in zip(order, loss, strict=True):
            w[row] *= 1.0 - rho * part
        room = min(1.0 - (sum(w) - len(w)) / most, 1.0)

    for i in range(messages):
        text = f"message {i} {'refused' if i % 7 == 3 else 'kept'}"
        encode(
            memory,
            Event(
                0.5 * i + 24.0 * (i > messages // 2),
                text,
                session=f"session {i % 11 // 4}",
                dated=False,
            ),
        )
        measured.append(float(memory.column(ENCODING_STRENGTH)))
        expected.append(math.log(room))
        if "kept" in text:
            w.append(1.0)
            first.append(math.log(room) + given[len(first)])
            sessions.append(f"session {i % 11 // 4}")
            row = len(w) - 1
            active([row - 1, row] if row and sessions[row - 1] == sessions[row] else [row])
        if i % 5 == 4:
            asked = Query("message", session="asker")
            answer = memory.retrieve(asked, k=1 + i % 4, learn=i % 10 == 4).rows.tolist()[:3]
            if i % 10 == 4:
                together = [*answer, *(row for row in used if row not in answer)]
                if len(together) > 1:
                    active(together)
                used = answer
        if i == messages // 2:
            look()
            memory.archive(2)
            sleep(24.0)
            look()
    for time in (48.0, 72.0, 96.0):
        look()
        sleep(time)
    look()
    return measured, expected


@adaptation(
    "SHY-6",
    source=f"ours, after {SHY}: w and headroom themselves, sorted strengths, night by night in numpy",
    atol=1e-9,
    papers=("tononi2014sleep",),
)
def a_memory_gains_while_awake_and_loses_in_sleep(specimen: Any) -> Any:
    return days_in_memory(specimen, 0.3, 30.0, 38)


@limit("SHY-7", source="E = E_max after one event: the least headroom, 1e-9", atol=1e-9)
def a_memory_without_headroom_hardly_learns(specimen: Any) -> Any:
    memory = memory_of(specimen, eta=1.0, excess_most=1.0)
    encode(memory, (0.0, "one"), (1.0, "two"))
    return [
        *memory.column(specimen.RENORMALISED_WEIGHT),
        float(memory.column(specimen.RENORMALISED_ROOM)),
    ], [math.log(2.0), 0.0, math.log(1e-9)]


@adaptation(
    "SHY-10",
    source="definition: a row that sleep made loses in sleep once it has been active, and is left alone before",
)
def made_rows_take_part_once_they_were_active(specimen: Any) -> Any:
    def weak(view: Any, _: Any) -> None:
        view.log_strength[...] = -np.arange(len(view.log_strength))

    weights = []
    for learn in (False, True):
        memory = memory_of(
            specimen,
            "lexical_bm25",
            drafting(Draft("rain boat", Kind.SUMMARY, (0, 1)), 4),
            neighbour(Phase.MAINTAIN, weak, adds=(LOG_STRENGTH,), id="weak"),
        )
        encode(
            memory, *((float(i), text) for i, text in enumerate(("rain", "boat", "mill", "tea")))
        )
        memory.advance(24.0)
        memory.retrieve("rain boat", k=3, learn=learn)
        before = memory.column(specimen.RENORMALISED_WEIGHT)[4]
        memory.advance(48.0)
        after = memory.column(specimen.RENORMALISED_WEIGHT)[4]
        weights.append([float(np.sign(before)), float(np.sign(before - after))])
    return weights, [[0.0, 0.0], [1.0, 1.0]]


@adaptation("SHY-11", source=NAMED)
def what_an_event_changes_of_earlier_rows_is_named(specimen: Any) -> Any:
    memory = memory_of(specimen)
    encode(memory, (0.0, "one"), (1.0, "two"))
    return named(memory, (specimen.RENORMALISED_WEIGHT,), Event(2.0, "three", dated=False)), [
        (1, 0)
    ]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "downscaling",
    caption="A night takes the same share off all but the strongest: the largest fifth is spared, the others lose 18 per cent of "
    "the total",
    source=f"{DE_VIVO}: mean 0.82, largest fifth unchanged",
)
def left_over_size(specimen: Any) -> Picture:
    before = np.sort(sizes(2000))
    left, rank = np.exp(slept(specimen, before) - before), np.exp(before)
    whole = float(np.exp(before + np.log(left)).sum() / rank.sum())
    return Picture(
        "size of the synapse before sleep",
        "share left after sleep",
        (
            Curve("mechanism", rank, left),
            Curve(f"of the total, {whole:.2f}", rank[[0, -1]], np.full(2, whole)),
            dots("de Vivo et al.: the largest fifth", rank[[1600, 1999]], np.ones(2)),
        ),
        log="x",
    )


@figure(
    "day_and_night",
    caption="While awake the mean weight rises and the headroom for learning falls; each night restores both",
    source=f"{SHY}; 60 occasions a day",
)
def days_and_nights(specimen: Any) -> Picture:
    log_weight, room, seen = np.zeros(200), 0.0, []
    for k in range(181):
        seen.append((float(np.exp(log_weight).mean()), math.exp(room)))
        if k in (60, 120):
            low, high = specimen.quantiles(log_weight, 0.7, 0.8)
            room = math.log(
                specimen.headroom(
                    specimen.downscale(NIGHT, low, high, log_weight.copy(), log_weight), MOST
                )
            )
            seen[-1] = (math.nan, math.nan)
        room = specimen.potentiate(
            np.array([2 * k % 200, (2 * k + 1) % 200]), ETA, MOST, room, log_weight
        )
    return Picture(
        "occasions, sleep after 60 and 120",
        "share of the value in the first morning",
        tuple(
            Curve(label, np.arange(181), np.array(seen)[:, i])
            for i, label in enumerate(("mean weight", "headroom"))
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("a constant taken off each weight, with a floor", rejected_by="CM-16.4")
def subtractive(specimen: Any) -> Any:
    def downscale(
        share: float, low: float, high: float, log_strength: Any, log_weight: Any
    ) -> float:
        w = np.exp(log_weight)
        log_weight[:] = np.log(np.maximum(w - share * w.mean(), 1e-9))
        return 0.0

    return specimen.replacing("downscale", downscale)


@rival("a constant: sleep changes nothing", rejected_by="CM-16.5")
def unchanged(specimen: Any) -> Any:
    return specimen.replacing("downscale", lambda share, low, high, log_strength, log_weight: 0.0)


@mutant("all halved every night", rejected_by="CM-16.5")
def halved(specimen: Any) -> Any:
    def downscale(
        share: float, low: float, high: float, log_strength: Any, log_weight: Any
    ) -> float:
        log_weight -= math.log(2.0)
        return 0.0

    return specimen.replacing("downscale", downscale)


@rival("in proportion for all: no weight spared", rejected_by="CM-16.5b")
def nobody_spared(specimen: Any) -> Any:
    return specimen.replacing("loss", lambda x, low, high: 1.0)


@mutant("the weakest spared in place of the strongest", rejected_by="CM-16.6")
def weak_spared(specimen: Any) -> Any:
    return specimen.replacing("loss", lambda x, low, high: 0.0 if x < low else 1.0)


@mutant("rho 0.18 although only a part is exposed", rejected_by="CM-16.4b")
def too_little(specimen: Any) -> Any:
    def downscale(
        share: float, low: float, high: float, log_strength: Any, log_weight: Any
    ) -> float:
        log_weight += np.log1p(-share * (log_strength <= low))
        return 0.0

    return specimen.replacing("downscale", downscale)


@mutant("a share every night, without a baseline", rejected_by="CM-16.7c")
def no_baseline(specimen: Any) -> Any:
    def downscale(
        share: float, low: float, high: float, log_strength: Any, log_weight: Any
    ) -> float:
        log_weight += np.log1p(-share * (log_strength <= low))
        return 0.0

    return specimen.replacing("downscale", downscale)


@mutant("potentiation that never saturates", rejected_by="CM-16.7")
def unsaturated(specimen: Any) -> Any:
    def potentiate(active: Any, eta: float, most: float, log_room: float, log_weight: Any) -> float:
        log_weight[active] = np.log(np.exp(log_weight[active]) + eta / len(active))
        return log_room

    return specimen.replacing("potentiate", potentiate)


@mutant("a night of any length takes off as much as a full one", rejected_by="SHY-6")
def full_nights(specimen: Any) -> Any:
    original = specimen.downscale
    return specimen.replacing("downscale", lambda share, *rest: original(NIGHT, *rest))


@mutant("a memory of several pairs takes several shares", rejected_by="SHY-6")
def a_share_for_each_pair(specimen: Any) -> Any:
    def on_recall(self: Any, view: Any, cue: Any) -> None:
        if len(view.coactivation.target):
            self.potentiate(view, view.coactivation.target)

    return specimen.overriding("SynapticRenormalisation", on_recall=on_recall)
