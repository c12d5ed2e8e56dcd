"""Sleep pressure: computes when memory sleeps and for how long.

Two processes (Borbely 1982; Daan, Beersma & Borbely 1984).  Process S, the need for sleep, rises
towards 1 while awake and decays towards 0 in sleep, both exponentially, the decay four times as
fast.  Process C, the time of day, moves two thresholds: sleep begins where S reaches the upper one
and ends where it reaches the lower one.  S must cross the whole range between them, so sleep and
waking do not alternate rapidly. Sleep that is missed or interrupted leaves S higher, and the next
sleep is deeper rather than much longer.

S has a closed form between any two events, so only the time of the first crossing of a threshold is
solved numerically, by steps that cannot pass the crossing, to 1e-9 h.

Effects of an event (ours): it ends sleep, which the engine does; if stored, it counts as a little
extra wakefulness; and it keeps memory awake for `vigil`.  Under a stream of events without a pause
S keeps rising, as in a night without sleep; a time `resist` after S met the threshold memory falls
asleep nevertheless, until the next event.

Cost: O(1) per event and per sleep.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope, Upkeep
from ...engine.contract.hooks import Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import NOW, SLEEP_END, SLEEP_ONSET, SLEEP_SHARE, SURPRISE, VETO

CLOSE: Final = 1e-11  # h, a shorter step means convergence
STEPS: Final = 500
ENTRAINING: Final = 100  # sleeps after which a convergent cycle has converged

# --- columns --------------------------------------------------------------------------------------
PROCESS_S = Column(
    "process_s",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "S at its last update, memory being awake",
    low=0,
    high=1,
)
PROCESS_S_SINCE = Column(
    "process_s_since",
    np.float64,
    Scope.GLOBAL,
    "h",
    np.nan,
    "time of the last update of S; NaN: no event yet",
    upkeep=Upkeep(clock=True),
)
DROWSY_FROM = Column(
    "drowsy_from",
    np.float64,
    Scope.GLOBAL,
    "h",
    np.nan,
    "when S first meets the upper threshold after the last sleep",
    upkeep=Upkeep(clock=True),
)


# --- equations: the two processes -----------------------------------------------------------------
@kernel
def awake(s: float, t: float, tau_r: float) -> float:
    """S = 1 - (1 - S0) e^(-t / tau_r): Process S in waking.  Daan, Beersma & Borbely (1984).  Cost:
    O(1).

    s         1  S0
    t, tau_r  h  time awake, time constant of the rise

    >>> round(awake(0.17, 16.786, 18.2), 4)
    0.67
    """
    return 1.0 - (1.0 - s) * math.exp(-t / tau_r)


@kernel
def asleep(s: float, t: float, tau_d: float) -> float:
    """S = S0 e^(-t / tau_d): Process S in sleep.  Daan, Beersma & Borbely (1984).  Cost: O(1).

    >>> round(asleep(0.67, 5.76, 4.2), 4)
    0.17
    """
    return s * math.exp(-t / tau_d)


@kernel
def circadian(t: float, a: float, phi: float, day: float, x: float = 0.0) -> float:
    """C = a sin(2 pi (t + x - phi) / day): Process C, at x after t.  Cost: O(1).

    t    h  simulated time since 1970-01-01 UTC
    a    1  amplitude
    phi  h  time of day at which C rises through 0
    day  h  24
    x    h

    >>> round(circadian(33.0, 0.12, 3.0, 24.0), 4)
    0.12
    """
    omega = 2.0 * math.pi / day
    return a * math.sin(omega * ((t - phi) % day) + omega * x)


@kernel
def first_rise(k: float, b: float, tau: float, c: float, t: float, phi: float, day: float) -> float:
    """The first x >= 0, in h, with f(x) = k - b e^(-x / tau) + C(t + x) >= 0, C of amplitude c.
    Cost: O(1), about ten steps.

    As f'' <= |c| (2 pi / day)^2, the parabola with that second derivative and the present f and f'
    lies above f; a step goes to the zero of the parabola, so it never passes a crossing, and near
    one it converges as Newton's method does.

    >>> round(first_rise(0.33, 0.83, 18.2, 0.0, 0.0, 0.0, 24.0), 3)
    16.786
    """
    omega, x = 2.0 * math.pi / day, 0.0
    bend, angle = abs(c) * omega * omega, omega * ((t - phi) % day)
    for _ in range(STEPS):
        left = b * math.exp(-x / tau)
        f = k - left + circadian(t, c, phi, day, x)
        if f >= 0.0:
            break
        slope = left / tau + c * omega * math.cos(angle + omega * x)
        root = math.sqrt(slope * slope - 2.0 * bend * f)
        step = -2.0 * f / (slope + root) if slope > 0.0 else (root - slope) / bend
        x += step
        if step < CLOSE:
            break
    return x


@kernel
def until_sleep(s: float, t: float, rhythm: tuple[float, ...]) -> float:
    """Time in h from t until S >= H+ + C for the first time while awake.  Daan, Beersma & Borbely
    (1984), upper threshold.  Cost: O(1).

    rhythm  tau_r, tau_d (h), H+, H-, a (1), phi, day (h)
    """
    return first_rise(1.0 - rhythm[2], 1.0 - s, rhythm[0], -rhythm[4], t, rhythm[5], rhythm[6])


@kernel
def until_waking(s: float, t: float, rhythm: tuple[float, ...]) -> float:
    """Time in h from t until S <= H- + C for the first time while asleep.  Daan, Beersma &
    Borbely (1984), lower threshold.  Cost: O(1).
    """
    return first_rise(rhythm[3], s, rhythm[1], rhythm[4], t, rhythm[5], rhythm[6])


@kernel
def cycle(rhythm: tuple[float, ...], sleeps: int) -> tuple[float, float, float, float, float]:
    """The converged undisturbed cycle: time of day of waking (h), S then, h awake, S at onset, h
    asleep.  Cost: O(sleeps).
    """
    t, s, up, top, down = 0.0, rhythm[3], 0.0, 0.0, 0.0
    for _ in range(sleeps):
        up = until_sleep(s, t, rhythm)
        top = awake(s, up, rhythm[0])
        down = until_waking(top, t + up, rhythm)
        s, t = asleep(top, down, rhythm[1]), (t + up + down) % rhythm[6]
    return t, s, up, top, down


# --- S over sleeps and events ---------------------------------------------------------------------
@kernel
def s_now(
    s: float, since: float, onset: float, end: float, now: float, rhythm: tuple[float, ...]
) -> tuple[float, bool]:
    """S now, and whether there was any sleep: awake with S at `since`, asleep from `onset` to
    `end`, and undisturbed cycles after that.

    A sleep in progress ends now.  Cost: O(sleeps since then).
    """
    slept = False
    while end <= now:
        s, since, slept = (
            asleep(awake(s, onset - since, rhythm[0]), end - onset, rhythm[1]),
            end,
            True,
        )
        onset = since + until_sleep(s, since, rhythm)
        end = onset + until_waking(awake(s, onset - since, rhythm[0]), onset, rhythm)
    if now > onset:
        return asleep(awake(s, onset - since, rhythm[0]), now - onset, rhythm[1]), True
    return awake(s, now - since, rhythm[0]), slept


@kernel
def effort(words: float, surprise: float, most: float, half: float) -> float:
    """most n / (n + half) (1 + u / (1 + u)): h of extra wakefulness for storing an event.
    Engineering.  Cost: O(1).

    words, half  1     n, and the n at which half of `most` is reached
    surprise     nats  u
    most         h     for a long text without surprise

    >>> effort(20.0, 1.0, 0.02, 20.0)
    0.015
    """
    return most * words / (words + half) * (1.0 + surprise / (1.0 + surprise))


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SleepPressureParams(Params):
    tau_r: float
    tau_d: float
    upper: float  # H+
    lower: float  # H-
    amplitude: float  # a
    phase: float  # phi
    day: float
    effort: float
    half_length: float
    vigil: float
    resist: float


class SleepPressure(Mechanism[SleepPressureParams]):
    owns = (PROCESS_S, PROCESS_S_SINCE, DROWSY_FROM)

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        p = self.params
        self.rhythm = (self.hours("tau_r"), self.hours("tau_d"), p.upper, p.lower, p.amplitude,
                       self.hours("phase"), self.hours("day"))  # fmt: skip
        self.settled = cycle(self.rhythm, ENTRAINING)

    def entrained(self, now: float) -> float:
        """S at the time of day of `now` in the undisturbed cycle."""
        waking, s, up, top, down = self.settled
        t = (now - waking) % self.rhythm[6]
        return (
            awake(s, t, self.rhythm[0])
            if t <= up
            else asleep(top, min(t - up, down), self.rhythm[1])
        )

    @hook(
        Phase.ENCODE,
        reads=(NOW, SURPRISE, VETO),
        adds=(),
        sets=(PROCESS_S, PROCESS_S_SINCE, DROWSY_FROM, SLEEP_ONSET, SLEEP_END),
    )
    def attend(self, view: Any, incoming: Incoming) -> None:
        """Update S and plan the next sleep; includes sleeps that were not consolidated because
        memory was empty.
        """
        now, vigil, slept = view.now, self.hours("vigil"), True
        if math.isnan(view.process_s_since):
            s = self.entrained(now)
        else:
            s, slept = s_now(
                view.process_s,
                view.process_s_since,
                view.sleep_onset,
                view.sleep_end,
                now,
                self.rhythm,
            )
        if not view.veto:
            s = awake(
                s,
                effort(
                    len(incoming.terms),
                    view.surprise,
                    self.hours("effort"),
                    self.params.half_length,
                ),
                self.rhythm[0],
            )
        if slept or now < view.drowsy_from:
            view.drowsy_from = now + until_sleep(s, now, self.rhythm)
        sleepy = (
            now + vigil + until_sleep(awake(s, vigil, self.rhythm[0]), now + vigil, self.rhythm)
        )
        self._plan(view, s, now, min(sleepy, max(view.drowsy_from + self.hours("resist"), now)))

    @hook(
        Phase.CONSOLIDATE,
        reads=(),
        adds=(),
        sets=(PROCESS_S, PROCESS_S_SINCE, DROWSY_FROM, SLEEP_ONSET, SLEEP_END, SLEEP_SHARE),
    )
    def clear(self, view: Any, tick: Tick) -> None:
        """At the end of a sleep, complete or interrupted: update S, set the sleep's share, plan
        the next sleep.
        """
        onset, now = view.sleep_onset, tick.end
        top = awake(view.process_s, onset - view.process_s_since, self.rhythm[0])
        s, _ = s_now(view.process_s, view.process_s_since, onset, view.sleep_end, now, self.rhythm)
        view.sleep_share = max(top - s, 0.0) / (self.settled[3] - self.settled[1])
        view.drowsy_from = now + until_sleep(s, now, self.rhythm)
        self._plan(view, s, now, view.drowsy_from)

    def _plan(self, view: Any, s: float, now: float, onset: float) -> None:
        """Set S, and onset and end of the next sleep if no event follows."""
        view.process_s, view.process_s_since, view.sleep_onset = s, now, onset
        view.sleep_end = onset + until_waking(
            awake(s, onset - now, self.rhythm[0]), onset, self.rhythm
        )
