"""Evidence for sleep_replay_printed: the rules of Cortex 4.2.2, and the checks of Mattar & Daw's
model run on them.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import (
    ACTIVATION,
    LOG_STRENGTH,
    PLASTICITY,
    REPLAY_LAG,
    REPLAYED,
    REPLAYS,
    RIPPLES,
    SLEEP_SHARE,
)
from ..checks import adaptation, mutant, signature
from ..memory import encode, memory_of, neighbour
from . import sleep_replay as papers
from .shared.dreams import dreaming
from .shared.once import computed_once
from .shared.scripts import giving
from .shared.tellings import as_happened, tell
from .shared.views import nothing

NONE = np.empty((0, 2), np.int64)  # no relations between entities


def links(entities: list[list[int]]) -> tuple[Any, ...]:
    """start, degree, pool and target of links from memories to entities."""
    degree = np.array([len(e) for e in entities])
    return (
        np.cumsum(degree) - degree,
        degree,
        np.arange(degree.sum()),
        np.array([-1 - e for row in entities for e in row], np.int64),
    )


@computed_once
def as_replay(specimen: Any) -> SimpleNamespace:
    """The printed form under the paper's names: states are memories that share an entity, reward
    is heat; need and values have no effect.
    """

    @cache
    def walk(m: int, start: int, step: int) -> Any:
        """Of m states, which all share an entity, those of a sequence."""
        network = (*links([[0]] * m), 1, NONE, np.ones(m, np.bool_))
        room = np.empty(8, np.int64)
        return room[: specimen.sequence(start, step, *network, room)]

    def replay(steps: int, after: Any, reward: Any, need: Any, q: Any, *rest: Any) -> int:
        states, actions = rest[-3], rest[-2]
        done, heat = 0, 0.5 + 0.5 * np.minimum(reward, 1.0)
        hottest = np.argsort(-heat, kind="stable")[:10].tolist()
        walks = [[walk(len(after), s, step) for s in hottest] for step in (1, -1)]
        chosen = specimen.selected(
            *([specimen.priority(heat[rows], 1.0) for rows in group] for group in walks), 0.3, 5
        )
        for back, i in chosen:
            for first, second in zip(walks[back][i][:-1], walks[back][i][1:], strict=True):
                s, end = (second, first) if back else (first, second)
                if done < steps and end in after[s]:
                    states[done], actions[done] = s, list(after[s]).index(end)
                    done += 1
        return done

    def params(**values: Any) -> Any:
        return specimen.SleepReplayPrintedParams(
            time_scale=1.0,
            sequences=5,
            seeds=10,
            length=8,
            threshold=0.3,
            compression=values["compression"],
            rehearsal=0.0,
            round_robin=False,
        )

    return SimpleNamespace(
        replay=replay, SleepReplayParams=params, SleepReplay=specimen.SleepReplayPrinted
    )


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "RPP-1",
    source="Cortex, public code: 0.4 mean + 0.6 sd, times dopamine, clipped",
    atol=1e-12,
    papers=("cortex2026",),
)
def priority_is_the_weighted_sum(specimen: Any) -> Any:
    h = np.random.default_rng(0).random(6)
    return [specimen.priority(h, da) for da in (0.0, 1.0, 9.0)], [
        0.0,
        0.4 * h.sum() / 6 + 0.6 * np.sqrt(np.mean((h - h.mean()) ** 2)),
        1.0,
    ]


@adaptation(
    "RPP-2",
    source="sets in Python: a memory joins if it shares an entity with the union so far, or has one related to it",
)
def sequences_grow_by_shared_and_related_entities(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(1), [], []
    for number in range(30):
        entities = [
            sorted(rng.choice(9, rng.integers(0, 3), replace=False).tolist()) for _ in range(15)
        ]
        pairs = NONE if number < 15 else rng.integers(0, 9, (3, 2))
        joined = [{int(a), int(b)} for a, b in pairs]
        seed, room = int(rng.integers(15)), np.zeros(5, np.int64)
        for step in (1, -1):
            shown = np.ones(15, np.bool_)
            k = specimen.sequence(seed, step, *links(entities), 9, pairs, shown, room)
            chain, met = [seed], _reach(entities[seed], joined)
            for row in range(seed + step, 15 if step > 0 else -1, step):
                if len(chain) < 5 and met & set(entities[row]):
                    chain.append(row)
                    met |= _reach(entities[row], joined)
            measured.append([*room[:k], *[-1] * (5 - k)])
            expected.append([*chain, *[-1] * (5 - len(chain))])
    return measured, expected


def _reach(entities: list[int], joined: list[set[int]]) -> set[int]:
    """The entities, and those that a pair joins to one of them."""
    return set(entities).union(*(pair for pair in joined if pair & set(entities)))


def replayed_rows(specimen: Any, texts: tuple[str, ...], *others: Any, **values: Any) -> list[int]:
    """Rows that the first night replays, by the number of steps, most first."""
    memory = memory_of(specimen, *others, consolidate_every=24.0, **values)
    encode(memory, *((float(i), text) for i, text in enumerate(texts)))
    memory.advance(30.0)
    times = memory.column("printed_rehearsed")
    return [int(row) for row in np.flatnonzero(times > 0.0)]


@adaptation(
    "RPP-4",
    source="Cortex 4.2.2: high-RPE sequences are preferentially replayed: of two pairs alike in heat, with room for one "
    "sequence, the pair that was stored with more dopamine",
    papers=("cortex2026",),
)
def the_sequence_stored_with_more_dopamine_is_replayed(specimen: Any) -> Any:
    def rewarding(name: str) -> Any:
        def reward(view: Any, incoming: Any) -> None:
            view.plasticity = 2.0 if name in incoming.event.text else 0.5

        return neighbour(Phase.ENCODE, reward, sets=(PLASTICITY,), id="reward")

    texts = ("They say Ada sang.", "They say Ada left.", "They say Bo sang.", "They say Bo left.")
    measured = [
        replayed_rows(specimen, texts, rewarding(name), sequences=1) for name in ("Ada", "Bo")
    ]
    return measured, [[0, 1], [2, 3]]


@adaptation(
    "RPP-5",
    source="Cortex 4.2.2: replay traverses relationships of entities: backwards from Bluepine comes a memory of Ada, who owns it",
    papers=("cortex2026",),
)
def replay_follows_relations(specimen: Any) -> Any:
    texts = ("They say Ada owns Bluepine.", "They say Ada sang.", "They say Bluepine grows.")
    alone = replayed_rows(specimen, texts, seeds=1)
    related = replayed_rows(specimen, texts, "typed_relations", seeds=1)
    return [str(alone), str(related)], ["[0, 2]", "[0, 1, 2]"]


@adaptation(
    "RPP-8",
    source="Cortex 4.2.2 and its public code, by hand: a priority of 0.3 is enough; those below are replayed only where all are",
    papers=("cortex2026",),
)
def a_priority_at_the_threshold_is_enough(specimen: Any) -> Any:
    cases: tuple[tuple[list[float], list[float], int, list[list[int]]], ...] = (
        ([0.3, 0.2], [0.1], 2, [[0, 0]]),
        ([0.2, 0.1], [0.3], 2, [[1, 0]]),
        ([0.2, 0.1], [0.25], 2, [[1, 0], [0, 0]]),
        ([0.0, 0.2], [], 2, [[0, 1]]),
    )
    return [
        str([[int(back), i] for back, i in specimen.selected(forward, reverse, 0.3, most)])
        for forward, reverse, most, _ in cases
    ], [str(rows) for *_, rows in cases]


# attributes of the earlier and of the later memories of a life, and whether these are of two domains
DOMAINS: tuple[tuple[dict[str, str], dict[str, str], bool], ...] = (
    ({"project": "old"}, {"project": "new"}, True),
    ({"domain": "old", "project": "all"}, {"domain": "new", "project": "all"}, True),
    ({"domain": "all", "project": "old"}, {"domain": "all", "project": "new"}, False),
    ({"domain": "old"}, {"colour": "new"}, True),
    ({"colour": "old"}, {"colour": "new"}, False),
)


def replayed_of_each(specimen: Any, turns: bool, *given: dict[str, str]) -> list[bool]:
    """Whether the first night replays any of two earlier memories with the first attributes, and any
    of four later ones with the second.
    """
    memory = memory_of(
        specimen, consolidate_every=24.0, round_robin=turns, seeds=2, sequences=4, threshold=0.0
    )
    told = [(0, "They say Ada sang."), (0, "They say Ada left.")]
    told += [(1, f"They say Bo saw {n}.") for n in ("one", "two", "six", "ten")]
    for hour, (part, text) in enumerate(told):
        attributes = tuple(sorted(given[part].items()))
        memory.encode(Event(float(hour), text, dated=False, attributes=attributes))
    memory.advance(30.0)
    replayed = np.flatnonzero(memory.column(specimen.PRINTED_REHEARSED) > 0.0)
    return [bool((replayed < 2).any()), bool((replayed >= 2).any())]


@adaptation(
    "RPP-6",
    source="Cortex 4.2.3: round robin over domains, by hand: of four later memories of one project and two earlier ones of "
    "another, with two seeds and four sequences, turns replay both projects, the hottest alone one; an event's domain is "
    "told by `domain`, else by `project`, and events with neither are of one domain",
    papers=("cortex2026",),
)
def domains_are_replayed_in_turn(specimen: Any) -> Any:
    measured = [replayed_of_each(specimen, False, *DOMAINS[0][:2])]
    measured += [replayed_of_each(specimen, True, *given) for *given, _ in DOMAINS]
    return measured, [[False, True], *([two, True] for *_, two in DOMAINS)]


# whom each event names, and its activation in logits; the sixth row is made by sleep
TOLD: tuple[tuple[tuple[str, ...], float], ...] = (
    (("Ada", "Bo"), 1.2),
    (("Ada",), 2.5),
    (("Cleo",), -1.0),
    (("Bo", "Cleo"), 1.9),
    (("Dora",), 1.2),
    ((), 3.0),
    (("Ada", "Dora"), -0.5),
    (("Cleo",), 2.0),
    (("Dora", "Bo"), 0.1),
)
# dopamine of each of them, alike or not within the sequences
ALIKE = (1.0, 1.1, 0.6, 1.0, 1.9, 1.0, 1.2, 0.9, 1.4)
UNLIKE = (0.3, 0.8, 2.0, 0.4, 1.9, 1.0, 0.2, 0.5, 1.4)
SLEEPS = ((1.0, 1.0), (1.5, 0.5))  # ripples, and share of the night
DREAMT = 5


def chain(seed: int, step: int, seen: list[bool]) -> list[int]:
    """The rows of a sequence of at most three, by sets of names."""
    rows, names, row = [seed], set(TOLD[seed][0]), seed + step
    while 0 <= row < len(seen) and len(rows) < 3:
        if seen[row] and names & set(TOLD[row][0]):
            rows.append(row)
            names |= set(TOLD[row][0])
        row += step
    return rows


def replayed_by_hand(
    heat: Any, seen: list[bool], most: int, tones: tuple[float, ...]
) -> list[tuple[int, int]]:
    """The steps of a night: of the three hottest events the best sequence of each direction, then
    the best; those below 0.3 only where all are."""
    events = [row for row in range(len(heat)) if row != DREAMT]
    seeds = sorted(events, key=lambda row: (-heat[row] if seen[row] else 1.0, -row))[:3]
    known = []
    for back in (False, True):
        for place, seed in enumerate(seeds):
            rows = chain(seed, -1 if back else 1, seen)
            warm, dopamine = [heat[row] for row in rows], [tones[row] for row in rows]
            value = (0.4 * np.mean(warm) + 0.6 * np.std(warm)) * np.mean(dopamine)
            if len(rows) > 1:
                known.append((-min(1.0, value), place, back, rows))
    known.sort()
    viable = [entry for entry in known if -entry[0] >= 0.3]
    first = [next((e for e in viable if e[2] is back), None) for back in (False, True)]
    best = [e for e in first if e is not None]
    best += [e for e in viable or known if e not in best]
    return [pair for *_, rows in best[:most] for pair in pairwise(rows)]


def nights_of_sequences(specimen: Any, tones: tuple[float, ...]) -> tuple[Any, Any]:
    """Steps, lags, counts and strength of two nights of a memory, by events of this dopamine, and
    by plain lists.
    """
    nights = list[tuple[Any, ...]]()

    def reward(view: Any, incoming: Any) -> None:
        view.plasticity = tones[int(incoming.event.id)]

    def sleep(view: Any, tick: Any) -> None:
        view.ripples, view.sleep_share = SLEEPS[len(nights)]

    def look(view: Any, tick: Any) -> None:
        steps = int((view.replayed[:, 0] >= 0).sum())
        nights.append(
            (
                view.log_strength.copy(),
                view.replayed[:steps].ravel().tolist(),
                view.replay_lag[:steps].tolist(),
                view.replays.tolist(),
            )
        )

    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, reward, sets=(PLASTICITY,), id="reward"),
        giving(Phase.MAINTAIN, ACTIVATION, [heat for _, heat in TOLD]),
        neighbour(Phase.CONSOLIDATE, sleep, sets=(RIPPLES, SLEEP_SHARE), id="sleep"),
        neighbour(
            Phase.CONSOLIDATE,
            look,
            reads=(REPLAYED, REPLAY_LAG, REPLAYS, LOG_STRENGTH),
            id="look",
            order=10_000,
        ),
        dreaming(),
        sequences=3,
        seeds=3,
        length=3,
        threshold=0.3,
        compression=4.0,
        rehearsal=0.3,
    )
    measured, expected = list[Any](), list[Any]()
    times: list[float] = []
    steps_so_far = np.zeros(len(TOLD))
    for night, rows in enumerate((range(DREAMT), range(DREAMT + 1, len(TOLD)))):
        for row in rows:
            times.append(24.0 * night + 3.0 * (row % 6) + 0.1 * row * row)
            text = f"They say {' and '.join(TOLD[row][0])} sang."
            happened = times[-1] - 2.5 * (row in (2, 4))  # told late: replay knows when it was told
            tell(memory, times[-1], Event(happened, text, id=str(row), dated=False))
        seen = [True] * (DREAMT + 1 if night == 0 else len(TOLD))
        if night:
            for row in (1, 3):
                memory.archive(row)
                seen[row] = False
        memory.advance(24.0 * (night + 1))
        if night == 0:
            times.append(24.0)
        strength, replayed, lag, replays = nights[night]
        n = len(strength)
        heat = 1.0 / (1.0 + np.exp(-strength - [heat for _, heat in TOLD[:n]]))
        ripples, share = SLEEPS[night]
        pairs = replayed_by_hand(heat, seen[:n], round(3 * ripples * share), tones)
        counted = np.bincount(np.ravel(pairs).astype(int), minlength=n)
        # strength of this night is that before it
        expected += (0.3 * np.log1p(steps_so_far[:n])).tolist()
        steps_so_far[:n] += counted
        measured += [*strength, *replayed, *lag, *replays]
        lags = [abs(times[a] - times[b]) / 4.0 for a, b in pairs]
        expected += [*np.ravel(pairs), *lags, *counted]
        known = memory.column(specimen.PRINTED_REHEARSED)
        measured += known.tolist()
        expected += np.log1p(steps_so_far[: len(known)]).tolist()
    return measured, expected


@adaptation(
    "RPP-7",
    source="Cortex 4.2.2 and its public code, by plain lists: two nights of a memory with archived events and a unit that sleep made",
    rtol=1e-9,
    atol=1e-9,
    papers=("cortex2026",),
)
def nights_in_a_memory_replay_the_best_sequences(specimen: Any) -> Any:
    return nights_of_sequences(specimen, ALIKE)


@adaptation("RPP-7b", source="as RPP-7 with other dopamine", rtol=1e-9, atol=1e-9)
def dopamine_of_all_memories_of_a_sequence_counts(specimen: Any) -> Any:
    return nights_of_sequences(specimen, UNLIKE)


@signature(
    "RPP-3",
    source="Foster & Wilson 2006; Diba & Buzsaki 2007: sequences in the order of time or against it, Spearman",
    needs="engine",
    papers=("foster2006reverse", "diba2007forward"),
)
def sequences_run_in_the_order_of_time_or_against_it(specimen: Any) -> Any:
    ((rows, _),) = papers.nights(as_replay(specimen), papers.STORY, 1, 7)
    correlations = sorted(
        spearmanr(np.arange(len(run)), papers.TIMES[run])[0]
        for run in papers.chains(rows)
        if len(run) > 2
    )
    return [correlations[0], correlations[-1], *np.abs(correlations)], [
        -1.0,
        1.0,
        *[1.0] * len(correlations),
    ]


# --- the paper's checks ---------------------------------------------------------------------------
gain = papers.the_gain_of_the_first_step_into_a_goal_has_its_closed_form
reverse = papers.a_reward_is_replayed_backwards_to_the_start.of_variety(as_replay)
transitions = papers.transitions_are_learnt_from_one_walk
need = papers.without_need_nothing_is_replayed.of_variety(as_replay)
whole = papers.replay_is_the_algorithm_of_the_paper.of_variety(as_replay)
directions = papers.forward_at_the_start_and_reverse_at_the_goal.of_variety(as_replay)
greater_reward = papers.a_greater_reward_brings_more_reverse_replay.of_variety(as_replay)
forward_alone = papers.a_greater_reward_does_not_change_forward_replay.of_variety(as_replay)
arm = papers.in_sleep_the_rewarded_arm_is_replayed_more.of_variety(as_replay)
compression = papers.replay_is_compressed_in_time.of_variety(as_replay)
nights = papers.the_first_night_is_reverse_and_a_later_one_forward.of_variety(as_replay)


# --- figures --------------------------------------------------------------------------------------
values = papers.values_along_the_line.of_variety(
    "Printed replay backs up no value, so none spread from the reward; the paper's values reach the start after nine steps",
    as_replay,
)
sequences = papers.sequences_at_start_and_goal.of_variety(
    "Printed sequences per lap: both directions at start and goal, at any reward", as_replay
)


@mutant("the mean alone", rejected_by="RPP-1")
def mean_alone(specimen: Any) -> Any:
    return specimen.replacing(
        "priority", lambda heat, dopamine: float(np.clip(heat.mean() * dopamine, 0.0, 1.0))
    )


@mutant("entities of the seed alone", rejected_by="RPP-2")
def seed_alone(specimen: Any) -> Any:
    def sequence(
        seed: int,
        step: int,
        start: Any,
        degree: Any,
        pool: Any,
        target: Any,
        entities: int,
        related: Any,
        visible: Any,
        out: Any,
    ) -> int:
        def named(row: int) -> set[int]:
            return set(target[pool[start[row] : start[row] + degree[row]]].tolist())

        rows = [
            seed,
            *(
                r
                for r in range(seed + step, len(visible) if step > 0 else -1, step)
                if named(r) & named(seed)
            ),
        ][: len(out)]
        out[: len(rows)] = rows
        return len(rows)

    return specimen.replacing("sequence", sequence)


@mutant("every sequence runs forwards", rejected_by="RPP-3")
def forwards(specimen: Any) -> Any:
    return specimen.replacing(
        "selected",
        lambda forward, reverse, threshold, most, domain=(): [
            (False, i) for i in range(min(most, len(forward)))
        ],
    )


@mutant("a priority at the threshold is below it", rejected_by="RPP-8")
def above_threshold(specimen: Any) -> Any:
    original = specimen.selected
    return specimen.replacing(
        "selected",
        lambda forward, reverse, threshold, *rest: original(
            forward, reverse, threshold + 1e-9, *rest
        ),
    )


@mutant("turns are taken by no domain", rejected_by="RPP-6")
def without_turns(specimen: Any) -> Any:
    return specimen.replacing("in_turn", lambda order, domain: list(order))


@mutant("the project goes before the domain", rejected_by="RPP-6")
def project_first(specimen: Any) -> Any:
    def domain(event: Event) -> str:
        given = dict(event.attributes)
        return given.get("project", given.get("domain", ""))

    return specimen.overriding("SleepReplayPrinted", domain=staticmethod(domain))


@mutant("an event without domain and project is of a domain of its own", rejected_by="RPP-6")
def own_domain(specimen: Any) -> Any:
    def domain(event: Event) -> str:
        given = dict(event.attributes)
        return given.get("domain", given.get("project", event.text))

    return specimen.overriding("SleepReplayPrinted", domain=staticmethod(domain))


@mutant("dopamine is the same for all memories", rejected_by="RPP-4")
def one_dopamine(specimen: Any) -> Any:
    return specimen.overriding("SleepReplayPrinted", keep_dopamine=nothing)


@mutant("relations lead nowhere", rejected_by="RPP-5")
def unrelated(specimen: Any) -> Any:
    original = specimen.sequence
    return specimen.replacing("sequence", lambda *given: original(*given[:7], NONE, *given[8:]))


@mutant("of equal heats the oldest first", rejected_by="RPP-7")
def oldest_first(specimen: Any) -> Any:
    class Lexsort:
        """numpy, whose lexsort has the second key turned."""

        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

        @staticmethod
        def lexsort(keys: Any) -> Any:
            return np.lexsort((-keys[0], keys[1]))

    return specimen.replacing("np", Lexsort())


@mutant("steps of the present night alone", rejected_by="RPP-7")
def of_one_night(specimen: Any) -> Any:
    original = specimen.SleepReplayPrinted.dream

    def dream(self: Any, view: Any, tick: Any) -> None:
        view.printed_rehearsed[...] = 0.0
        original(self, view, tick)

    return specimen.overriding("SleepReplayPrinted", dream=dream)


@mutant("archived events join a sequence", rejected_by="RPP-7")
def with_archived(specimen: Any) -> Any:
    original = specimen.sequence
    return specimen.replacing(
        "sequence", lambda *given: original(*given[:-2], np.ones_like(given[-2]), given[-1])
    )


@mutant("a sleep is a whole night, whatever its share", rejected_by="RPP-7")
def whole_nights(specimen: Any) -> Any:
    original = specimen.selected
    return specimen.replacing(
        "selected",
        lambda forward, reverse, threshold, most, domain: original(
            forward, reverse, threshold, most + 2 * (most == 2), domain
        ),
    )


@mutant("lags between when events happened", rejected_by="RPP-7")
def from_the_event(specimen: Any) -> Any:
    return as_happened(specimen, "SleepReplayPrinted", "dream")
