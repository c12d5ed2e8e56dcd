"""Memory topology: rules of links, routing, plans and edits, by hypothesis and by 5,000 random
sequences of edits over a plain bank.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.state.graph import EdgeType
from hebbarium.mechanisms.consolidation.topology_consolidation import applied
from hebbarium.mechanisms.shared.topology_edits import (
    Descriptor,
    Operator,
    PlanError,
    Proposal,
    ProposalOutcome,
    Reason,
    RoutingGate,
    Script,
    coherence,
    descriptor_of,
    in_record_order,
    keywords_of,
    merge_script,
    normalised,
    obstacle,
    parsed,
    planned,
    record,
    routed,
    script_of,
    scripted,
    split_script,
    update_script,
)
from hebbarium.mechanisms.shared.topology_links import (
    KINDS,
    Caps,
    Vector,
    add_links,
    add_versions,
    cosine,
    hops,
    pruned_versions,
    ranked,
    recovery,
    redirect,
    trimmed,
)


class PlainBank:
    """A bank of plain lists and sets."""

    def __init__(self) -> None:
        self.vectors: list[Vector] = []
        self.times: list[float] = []
        self.shown: list[bool] = []
        self.texts: list[str] = []
        self.links: dict[EdgeType, set[tuple[int, int]]] = {kind: set() for kind in KINDS}

    def add(self, vector: Vector, time: float, text: str = "") -> int:
        """A new visible unit; its number."""
        self.vectors.append(np.asarray(vector, np.float32))
        self.times.append(time)
        self.shown.append(True)
        self.texts.append(text)
        return len(self.times) - 1

    def exists(self, unit: int) -> bool:
        return 0 <= unit < len(self.times)

    def visible(self, unit: int) -> bool:
        return self.shown[unit]

    def time(self, unit: int) -> float:
        return self.times[unit]

    def vector(self, unit: int) -> Vector:
        return self.vectors[unit]

    def targets(self, unit: int, kind: EdgeType) -> list[int]:
        return sorted(v for u, v in self.links[kind] if u == unit)

    def sources(self, unit: int, kind: EdgeType) -> list[int]:
        return sorted(u for u, v in self.links[kind] if v == unit)

    def link(self, source: int, target: int, kind: EdgeType) -> None:
        self.links[kind].add((source, target))

    def unlink(self, source: int, target: int, kind: EdgeType) -> None:
        self.links[kind].discard((source, target))

    def archive(self, unit: int) -> None:
        self.shown[unit] = False

    def describe(self, unit: int, vector: Vector) -> None:
        self.vectors[unit] = np.asarray(vector, np.float32)

    def nearest(self, unit: int, k: int) -> list[int]:
        others = [v for v in range(len(self.times)) if self.shown[v] and v != unit]
        near = dict(
            zip(others, [cosine(self.vectors[unit], self.vectors[v]) for v in others], strict=True)
        )
        return sorted(others, key=lambda v: (-near[v], v))[:k]


# --- random runs ----------------------------------------------------------------------------------
GATE = RoutingGate(confidence=0.5, coherence=0.2)


def unit_vector(rng: random.Random) -> Vector:
    v = np.array([rng.gauss(0.0, 1.0) + 0.8 for _ in range(3)])
    return np.asarray(v / np.linalg.norm(v), np.float32)


def started(rng: random.Random, caps: Caps, units: int = 6) -> PlainBank:
    """A bank of some events, linked as at encoding; several events may share one time."""
    bank, time = PlainBank(), 0.0
    for i in range(units):
        time += rng.choice((0.0, 1.0))
        unit = bank.add(
            unit_vector(rng), time, f"part one of {i}. part two of {i}. part three of {i}."
        )
        if unit:
            add_links(bank, unit, EdgeType.TEMPORAL, [unit - 1], caps.temporal)
        add_links(
            bank,
            unit,
            EdgeType.SEMANTIC,
            [
                v
                for v in bank.nearest(unit, 10)
                if cosine(bank.vector(unit), bank.vector(v)) >= 0.65
            ][:3],
            caps.semantic,
        )
    return bank


def guesses(rng: random.Random, bank: PlainBank, count: int) -> list[Proposal]:
    """Proposals with good and bad ids, arity and confidence."""
    shown = [v for v in range(len(bank.times)) if bank.shown[v]]
    ids, found = [*range(-1, len(bank.times) + 1), *(3 * shown)], []
    for _ in range(count):
        operator = rng.choice(list(Operator))
        number = {Operator.SPLIT: 1, Operator.MERGE: rng.randint(1, 6), Operator.UPDATE: 2}[
            operator
        ] + rng.choice((0, 0, 0, 0, 1))
        found.append(
            Proposal(
                operator,
                tuple(rng.choice(ids) for _ in range(number)),
                rng.choice((0.4, 0.5, 0.9, 0.95)),
            )
        )
    return found


def plan_of(bank: PlainBank) -> Callable[[Proposal], Any]:
    """Plans that are a function of the proposal and the bank; some are invalid."""

    def plan(proposal: Proposal) -> Any:
        dice = random.Random(repr((proposal.operator, proposal.targets)))
        if dice.random() < 0.1:
            return dice.choice(
                (
                    "{",
                    "[]",
                    {"do_split": 3},
                    {"summary": "", "keywords": [], "updated_summary": " ", "updated_keywords": []},
                )
            )
        if proposal.operator is Operator.SPLIT:
            text = bank.texts[proposal.targets[0]]
            cuts = sorted(dice.sample(range(len(text) + 1), min(4, len(text) + 1)))
            parts = [text[a:b] for a, b in pairwise(cuts)]
            return {
                "do_split": True,
                "segments": [
                    {"segment_text": p, "segment_summary": "s", "segment_keywords": ["k"]}
                    for p in parts
                ],
            }
        return {
            "summary": "same",
            "keywords": ["a"],
            "updated_summary": "now",
            "updated_keywords": ["a"],
        }

    return plan


def one_run(
    bank: PlainBank, proposals: Sequence[Proposal], caps: Caps, archive: bool = True
) -> list[ProposalOutcome]:
    """One consolidation; vectors of new descriptors are a function of the proposal."""
    scripts, outcomes = planned(
        proposals,
        bank,
        GATE,
        coherence,
        plan_of(bank),
        lambda unit: (bank.texts[unit], Descriptor("as it was", ("b",))),
    )
    return [*outcomes, *execute(bank, scripts, caps, archive)]


def execute(
    bank: PlainBank, scripts: Iterable[Script], caps: Caps, archive: bool = True
) -> list[ProposalOutcome]:
    made = []
    for script in scripts:
        rng, targets = random.Random(repr(script.proposal.targets)), script.proposal.targets
        texts = [bank.texts[targets[0]][s.start : s.end] for s in script.segments] or [
            "\n".join(bank.texts[v] for v in targets)
        ]
        made.append(
            [
                bank.add(unit_vector(rng), max(bank.times[v] for v in targets), texts[i])
                for i in range(script.makes)
            ]
        )
    return [
        applied(
            script,
            made[i],
            bank,
            caps,
            10,
            archive,
            unit_vector(random.Random(repr(script.proposal.targets)))
            if script.proposal.operator is Operator.UPDATE
            else None,
        )
        for i, script in enumerate(scripts)
    ]


def state(bank: PlainBank) -> Any:
    return (
        [v.tobytes() for v in bank.vectors],
        bank.times,
        bank.shown,
        bank.texts,
        {kind: sorted(links) for kind, links in bank.links.items()},
    )


def check_reachable(bank: PlainBank, superseded: dict[int, int]) -> None:
    """Each archived unit is found from a visible one over version links, in at most as many
    steps as it was superseded: matrices of paths.
    """
    n = len(bank.times)
    step = np.zeros((n, n), bool)
    for u, v in bank.links[EdgeType.VERSION]:
        step[u, v] = True
    reached, distance = np.array(bank.shown), np.where(bank.shown, 0, n + 1)
    for h in range(1, n + 1):
        reached = reached | (reached @ step)
        distance = np.where(reached & (distance > n), h, distance)
    for v in range(n):
        if not bank.shown[v]:
            assert distance[v] <= superseded[v], (v, distance[v], superseded[v])
    found = hops(
        (v for v in range(n) if bank.shown[v]),
        (v for v in range(n) if not bank.shown[v]),
        lambda u: bank.targets(u, EdgeType.VERSION),
    )
    assert found == {v: distance[v] for v in range(n) if not bank.shown[v]}


def check_caps(bank: PlainBank, caps: Caps) -> None:
    for kind in KINDS:
        for u in range(len(bank.times)):
            targets = bank.targets(u, kind)
            assert u not in targets
            if kind is EdgeType.TEMPORAL:
                assert all((bank.times[v], v) < (bank.times[u], u) for v in targets)
            if kind is EdgeType.SEMANTIC and bank.shown[u]:
                assert all(bank.shown[v] for v in targets), (
                    "a visible unit points to an archived one"
                )
            if kind is not EdgeType.VERSION:
                assert len(targets) <= caps.of(kind)
            elif caps.version and bank.shown[u] and len(targets) > caps.version:
                alone = [
                    v
                    for v in targets
                    if not any(bank.shown[w] for w in bank.sources(v, kind) if w != u)
                ]
                assert len(alone) > caps.version or all(
                    bank.shown[v] for v in targets if v not in alone
                )


def count_superseded(
    bank: PlainBank,
    outcomes: Iterable[ProposalOutcome],
    stand_ins: dict[int, set[int]],
    superseded: dict[int, int],
) -> None:
    """How often each unit, or a unit that stands for it, was archived."""
    for outcome in outcomes:
        if outcome.reason is not Reason.APPLIED:
            continue
        archived, created = (
            outcome.edits.archived,
            outcome.edits.created or outcome.proposal.targets[:1],
        )
        for v in range(len(bank.times)):
            held = stand_ins.setdefault(v, {v})
            superseded.setdefault(v, 0)
            if held & set(archived):
                superseded[v] += 1
                stand_ins[v] = (held - set(archived)) | set(created)
        # one more stands for it and what it replaced
        if outcome.proposal.operator is Operator.UPDATE and not archived:
            below = [outcome.proposal.targets[1]]
            for v in below:
                stand_ins[v].add(created[0])
                below += [w for w in bank.targets(v, EdgeType.VERSION) if w not in below]


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_random_sequences_of_edits(block: int) -> None:
    for seed in range(500 * block, 500 * (block + 1)):
        rng = random.Random(seed)
        caps = Caps(1, rng.choice((1, 3, 8)), rng.choice((0, 0, 1, 2)), rng.choice((1, 4)))
        bank = started(rng, caps, rng.randint(1, 6))
        stand_ins: dict[int, set[int]] = {}
        superseded: dict[int, int] = {}
        for _ in range(rng.randint(1, 6)):
            before = list(bank.texts)
            outcomes = one_run(bank, guesses(rng, bank, rng.randint(1, 6)), caps)
            count_superseded(bank, outcomes, stand_ins, superseded)
            assert bank.texts[: len(before)] == before
            check_caps(bank, caps)
        check_reachable(bank, superseded)


@given(st.integers(0, 10**9), st.randoms(use_true_random=False), st.sampled_from((0, 1, 2)))
def test_the_order_of_proposals_has_no_effect(
    seed: int, shuffle: random.Random, version_cap: int
) -> None:
    rng, caps, banks = random.Random(seed), Caps(1, 3, version_cap, 2), []
    proposals = guesses(rng, started(random.Random(seed), caps), 8)
    proposals += [
        Proposal(p.operator, tuple(reversed(p.targets)), 0.93, "again")
        for p in proposals
        if p.operator is Operator.MERGE
    ]
    for k in range(2):
        bank = started(random.Random(seed), caps)
        if k:
            shuffle.shuffle(proposals)
        outcomes = one_run(bank, proposals, caps)
        assert len(outcomes) == len(proposals)
        banks.append((state(bank), [record(1, 2.0, o) for o in in_record_order(outcomes)]))
    assert banks[0] == banks[1]


@given(st.integers(0, 10**9))
def test_records_replay_to_the_same_bank(seed: int) -> None:
    caps = Caps(1, 3, 2, 2)
    bank, again = started(random.Random(seed), caps), started(random.Random(seed), caps)
    outcomes = one_run(bank, guesses(random.Random(seed), bank, 8), caps)
    records = [json.loads(record(1, 0.0, o)) for o in outcomes]
    execute(again, [script for each in records if (script := script_of(each))], caps)
    assert state(again) == state(bank)


def test_without_archiving_everything_stays_visible() -> None:
    for seed in range(50):
        caps = Caps()
        bank = started(random.Random(seed), caps)
        one_run(bank, guesses(random.Random(seed), bank, 8), caps, archive=False)
        assert all(bank.shown)


# --- keys, Trim and redirection, by hand ----------------------------------------------------------
def on_circle(*degrees: float, times: Sequence[float] | None = None) -> PlainBank:
    bank = PlainBank()
    for i, d in enumerate(degrees):
        bank.add(
            np.array([np.cos(np.radians(d)), np.sin(np.radians(d))], np.float32),
            times[i] if times else float(i),
        )
    return bank


def test_keys_by_hand() -> None:
    bank = on_circle(0, 10, -10, 10, 50, times=(9.0, 1.0, 2.0, 1.0, 5.0))
    # units 1, 2 and 3 are equally near
    bank.vectors[2] = bank.vectors[1]
    assert ranked(bank, 0, EdgeType.SEMANTIC, [1, 2, 3, 4, 4, 0]) == [2, 1, 3, 4]
    assert ranked(bank, 0, EdgeType.SIBLING, [3, 2, 1, 4]) == [1, 2, 3, 4]
    assert ranked(bank, 0, EdgeType.VERSION, [1, 2, 3, 4]) == [4, 2, 1, 3]
    assert ranked(bank, 4, EdgeType.TEMPORAL, [0, 1, 2, 3]) == [2, 1, 3]  # 0 is later
    # of the same time, but before
    assert ranked(bank, 3, EdgeType.TEMPORAL, [0, 1, 2, 4]) == [1]
    assert trimmed(bank, 0, EdgeType.VERSION, [1, 2, 3, 4], 2) == [4, 2] and trimmed(
        bank, 0, EdgeType.VERSION, [1, 2], 0
    ) == [2, 1]


def test_redirection_by_hand() -> None:
    bank = on_circle(0, 20, 40, 5, 35)  # 3 and 4 stand for 1
    for u in (0, 2, 3):
        bank.link(u, 1, EdgeType.SEMANTIC)
    bank.link(0, 2, EdgeType.SEMANTIC)
    bank.archive(1)
    assert redirect(bank, 1, (3, 4), 1) == [(0, 1, 3), (2, 1, 4), (3, 1, -1)]
    # 0 may have one link, and 3 is nearer than 2
    assert bank.links[EdgeType.SEMANTIC] == {(0, 3), (2, 4)}
    bank.archive(0)
    assert redirect(bank, 3, (4,), 1) == [] and (0, 3) in bank.links[EdgeType.SEMANTIC]


def test_version_links_are_pruned_without_an_orphan() -> None:
    # 0 and 1 are visible, 2, 3 and 4 archived
    bank = on_circle(0, 10, 20, 30, 40)
    for v in (2, 3, 4):
        bank.archive(v)
        bank.link(0, v, EdgeType.VERSION)
    bank.link(1, 4, EdgeType.VERSION)
    bank.link(1, 3, EdgeType.VERSION)
    # 2 has no other parent, 4 is the latest of the others
    assert pruned_versions(bank, 0, 2) == [2, 4]
    assert pruned_versions(bank, 0, 1) == [2] and pruned_versions(bank, 0, 0) == [2, 3, 4]
    bank.archive(1)
    assert pruned_versions(bank, 0, 2) == [2, 3, 4]  # all three are mandatory now
    assert add_versions(bank, 0, [2], 2) == []


# --- routing --------------------------------------------------------------------------------------
def reasons(
    proposals: Sequence[Proposal], bank: PlainBank, gate: RoutingGate
) -> list[tuple[Reason, str]]:
    queue, dropped = routed(proposals, bank, gate, coherence)
    found = {id(d.proposal): (d.reason, d.detail) for d in dropped}
    assert len(queue) + len(dropped) == len(proposals)
    return [found.get(id(p), (Reason.APPLIED, "")) for p in proposals]


def test_reason_codes_of_routing() -> None:
    bank, gate = on_circle(0, 1, 2, 3, 90, 4), RoutingGate()
    bank.archive(5)
    split, merge, update = Operator.SPLIT, Operator.MERGE, Operator.UPDATE
    cases = [
        (Proposal(split, (0,), 0.95), Reason.APPLIED),
        (Proposal(split, (0, 1), 0.95), Reason.NORM_FILTER),
        (Proposal(split, (5,), 0.95), Reason.NORM_FILTER),
        (Proposal(split, (9,), 0.95), Reason.NORM_FILTER),
        (Proposal(split, (1,), 0.8999), Reason.LOW_CONF),
        (Proposal(split, (1,), 0.9), Reason.APPLIED),
        (Proposal(merge, (0, 4), 0.95), Reason.COH_FAIL),
        (Proposal(merge, (1, 0), 0.95), Reason.NORM_FILTER),
        (Proposal(merge, (1, 2, 3), 0.9), Reason.APPLIED),
        (Proposal(merge, (2,), 0.95), Reason.NORM_FILTER),
        (Proposal(merge, (2, 5), 0.95), Reason.NORM_FILTER),
        (Proposal(update, (1, 5), 0.95), Reason.APPLIED),
        (Proposal(update, (5, 1), 0.95), Reason.NORM_FILTER),
        (Proposal(update, (1, 1), 0.95), Reason.NORM_FILTER),
        (Proposal(update, (1,), 0.95), Reason.NORM_FILTER),
        (Proposal(merge, (0, 9, 1, 2, 3, 4, 5), 0.95), Reason.NORM_FILTER),
    ]
    queue, dropped = routed([p for p, _ in cases], bank, gate, coherence)
    assert [p.targets for p in queue] == [(0,), (1,), (1, 2, 3), (1, 5)]
    assert sorted(d.reason for d in dropped) == sorted(
        r for _, r in cases if r is not Reason.APPLIED
    )
    assert (
        next(
            d.detail
            for d in dropped
            if d.proposal.targets == (0, 1) and d.proposal.operator is merge
        )
        == "overlaps another merge"
    )
    off = routed(
        [Proposal(split, (0,), 1.0)], bank, RoutingGate(operators=frozenset({merge})), coherence
    )
    assert not off[0] and off[1][0].reason is Reason.NORM_FILTER


def test_equal_targets_keep_the_higher_confidence() -> None:
    bank = on_circle(0, 1, 2)
    queue, dropped = routed(
        [Proposal(Operator.MERGE, (0, 1), 0.91), Proposal(Operator.MERGE, (1, 0, 0), 0.97)],
        bank,
        RoutingGate(),
        coherence,
    )
    assert [(p.targets, p.confidence) for p in queue] == [((0, 1), 0.97)] and dropped[
        0
    ].detail == "equal targets"


def test_coherence_is_the_mean_over_pairs_and_not_to_the_centroid() -> None:
    bank = on_circle(0, 60, 90)
    assert coherence(bank, (0, 1, 2)) == pytest.approx(
        (0.5 + 0.0 + np.cos(np.pi / 6)) / 3, abs=1e-6
    )
    assert coherence(bank, (0,)) == 1.0


def test_a_touched_unit_is_left_alone() -> None:
    bank = on_circle(0, 1, 2, 3, 4)
    bank.link(4, 0, EdgeType.SEMANTIC)  # the merge redirects a link of 4
    proposals = [
        Proposal(Operator.MERGE, (0, 1), 0.99),
        Proposal(Operator.UPDATE, (2, 1), 0.99),
        Proposal(Operator.UPDATE, (4, 3), 0.99),
        Proposal(Operator.UPDATE, (3, 2), 0.99),
    ]
    scripts, dropped = planned(
        proposals,
        bank,
        RoutingGate(),
        coherence,
        plan_of(bank),
        lambda unit: (bank.texts[unit], Descriptor("x", ())),
    )
    assert [s.proposal.targets for s in scripts] == [(0, 1), (3, 2)]
    assert {d.reason for d in dropped} == {Reason.APPLICABLE_FAIL}
    assert {d.detail for d in dropped} == {"TOUCHED_CONFLICT"}


def test_plans_are_asked_for_applicable_targets_alone() -> None:
    """As if each was asked alone when its turn has come: asking in batches changes no edit, and what
    an edit before may touch waits for the next batch.
    """
    proposals = [
        Proposal(Operator.SPLIT, (5,), 0.99),
        Proposal(Operator.MERGE, (0, 1), 0.99),
        Proposal(Operator.UPDATE, (2, 1), 0.98),
        Proposal(Operator.UPDATE, (4, 3), 0.97),
        Proposal(Operator.UPDATE, (3, 2), 0.96),
    ]
    failing: list[list[tuple[int, ...]]] = [[], [(0, 1)], [(0, 1), (2, 1)]]
    for fails in failing:
        outcomes = []
        for batched in (True, False):
            bank, batches = on_circle(0, 1, 2, 3, 4, 90), list[list[tuple[int, ...]]]()
            bank.link(4, 0, EdgeType.SEMANTIC)

            def plan(proposal: Proposal, bank: Any = bank, fails: Any = fails) -> Any:
                bad = PlanError(Reason.SCHEMA_FAIL, "")
                return bad if proposal.targets in fails else plan_of(bank)(proposal)

            def unit(row: int, bank: Any = bank) -> tuple[str, Descriptor]:
                return bank.texts[row], Descriptor("x", ())

            def ask(batch: list[Proposal], to: Any = batches) -> None:
                to.append([p.targets for p in batch])

            scripts, dropped = planned(
                proposals, bank, RoutingGate(), coherence, plan, unit, 0.0, ask if batched else None
            )
            outcomes.append(([s.proposal.targets for s in scripts], sorted(map(repr, dropped))))
            asked = [targets for batch in batches for targets in batch]
            if batched:
                assert len(asked) == len(set(asked))
                assert set(asked) == {s.proposal.targets for s in scripts} | {
                    d.proposal.targets for d in dropped if d.reason is not Reason.APPLICABLE_FAIL
                }
        assert outcomes[0] == outcomes[1]


def test_each_operator_may_have_a_threshold_of_its_own() -> None:
    bank = on_circle(0, 1, 90)
    given = [Proposal(Operator.SPLIT, (2,), 0.8), Proposal(Operator.MERGE, (0, 1), 0.8)]
    for stricter, kept in (
        ((), [Operator.SPLIT, Operator.MERGE]),
        (((Operator.SPLIT, 0.9),), [Operator.MERGE]),
        (((Operator.SPLIT, 0.8), (Operator.MERGE, 0.81)), [Operator.SPLIT]),
    ):
        queue, dropped = routed(given, bank, RoutingGate(0.5, 0.0, stricter=stricter), coherence)
        assert [p.operator for p in queue] == kept
        assert all(d.reason is Reason.LOW_CONF for d in dropped)


@pytest.mark.parametrize(
    ("operator", "targets", "detail"),
    [
        (Operator.SPLIT, (7,), "MISSING_ID"),
        (Operator.MERGE, (0, 7), "MISSING_ID"),
        (Operator.MERGE, (0, 0), "ARITY_FAIL"),
        (Operator.MERGE, (0, 1, 2, 3, 4, 5), "ARITY_FAIL"),
        (Operator.UPDATE, (0,), "ARITY_FAIL"),
        (Operator.SPLIT, (5,), "VISIBILITY_FAIL"),
        (Operator.MERGE, (0, 5), "VISIBILITY_FAIL"),
        (Operator.UPDATE, (5, 0), "VISIBILITY_FAIL"),
    ],
)
def test_what_does_not_fit_has_its_own_code(
    operator: Operator, targets: tuple[int, ...], detail: str
) -> None:
    bank = on_circle(0, 1, 2, 3, 4, 5)
    bank.archive(5)
    assert normalised(Proposal(operator, targets, 1.0), bank) == detail
    # the superseded unit of an Update may be archived already
    assert isinstance(normalised(Proposal(Operator.UPDATE, (0, 5), 1.0), bank), Proposal)


def test_what_stands_in_the_way_of_an_edit_has_its_own_code() -> None:
    bank, gate = on_circle(0, 30, 60), RoutingGate(coherence=0.8)
    bank.archive(2)

    def code(targets: tuple[int, ...], *touched: int) -> str:
        return obstacle(Proposal(Operator.MERGE, targets, 1.0), bank, {*touched}, gate, coherence)

    assert code((0, 1)) == ""
    assert code((0, 1), 1) == "TOUCHED_CONFLICT"
    assert code((0, 9), 0) == "MISSING_ID"
    assert code((0, 2)) == "VISIBILITY_FAIL"
    narrow = RoutingGate(coherence=0.9)
    merge = Proposal(Operator.MERGE, (0, 1), 1.0)
    assert obstacle(merge, bank, set(), narrow, coherence) == "COH_FAIL"


def test_a_run_updates_a_chain_of_three_versions_once() -> None:
    """By C.2.1: the unit that an Update makes current is touched, too, and so is what it
    archives.
    """
    bank = on_circle(0, 1, 2)
    for later, earlier in ((1, 0), (2, 1), (2, 0)):
        proposals = [
            Proposal(Operator.UPDATE, pair, 0.93 + 0.01 * (pair == (later, earlier)))
            for pair in ((1, 0), (2, 1), (2, 0))
        ]
        scripts, dropped = planned(
            proposals,
            bank,
            RoutingGate(),
            coherence,
            plan_of(bank),
            lambda unit: (bank.texts[unit], Descriptor("x", ())),
        )
        assert [s.proposal.targets for s in scripts] == [(later, earlier)]
        assert [d.reason for d in dropped] == [Reason.APPLICABLE_FAIL] * 2


# --- plans ----------------------------------------------------------------------------------------
SPLIT = Proposal(Operator.SPLIT, (0,), 1.0)


def split_plan(
    *parts: Any, do_split: Any = True, summary: Any = "s", words: Any = ("k",)
) -> dict[str, Any]:
    return {
        "do_split": do_split,
        "segments": [
            {"segment_text": p, "segment_summary": summary, "segment_keywords": list(words)}
            for p in parts
        ],
    }


@pytest.mark.parametrize(("plan", "reason"), [
    ("{", Reason.JSON_PARSE_FAIL), ("[" * 100_000, Reason.JSON_PARSE_FAIL), ("3",
    Reason.SCHEMA_FAIL), ({}, Reason.SCHEMA_FAIL),
    (split_plan("a b", "c d", do_split="yes"), Reason.SCHEMA_FAIL), (split_plan("a b c d",
    do_split=False), Reason.PLAN_VALIDATION_FAIL),
    (split_plan("a b"), Reason.PLAN_VALIDATION_FAIL), (split_plan("a b", "c  d"),
    Reason.PLAN_VALIDATION_FAIL),
    (split_plan("a b", "b c"), Reason.PLAN_VALIDATION_FAIL), (split_plan("c d", "a b"),
    Reason.PLAN_VALIDATION_FAIL),
    (split_plan("a b", ""), Reason.PLAN_VALIDATION_FAIL), (split_plan("a b", " "),
    Reason.PLAN_VALIDATION_FAIL),
    (split_plan("a b", 7), Reason.SCHEMA_FAIL),
    (split_plan("a b", "c d", summary=" "), Reason.PLAN_VALIDATION_FAIL), (split_plan("a b", "c d",
    words=()), Reason.PLAN_VALIDATION_FAIL),
    (split_plan("a b", "c d", words=("", " ")), Reason.PLAN_VALIDATION_FAIL),
    (split_plan("a b", "c d", words=tuple("abcdefghijklm")), Reason.PLAN_VALIDATION_FAIL),
    (split_plan("a b", "c d", summary=None), Reason.SCHEMA_FAIL), (split_plan("a", "d"),
    Reason.PLAN_VALIDATION_FAIL)])  # fmt: skip
def test_bad_plans_of_a_split(plan: Any, reason: Reason) -> None:
    with pytest.raises(PlanError) as failure:
        scripted(SPLIT, plan, "a b c d", Descriptor("", ()), 0.5)
    assert failure.value.reason is reason


def test_a_split_finds_its_parts_in_order() -> None:
    script = split_script(SPLIT, split_plan("la la", "la", "end"), "la la la end", 0.0)
    assert (
        [(s.start, s.end) for s in script.segments] == [(0, 5), (6, 8), (9, 12)]
        and script.makes == 3
        and script.archives == (0,)
    )


def test_descriptors() -> None:
    assert keywords_of([" Oslo", "oslo ", "", "the  sea", "a,b"]) == ("Oslo", "the sea", "a b")
    assert descriptor_of(" Ada\nmoved. ", ["Ada", "ada"]) == Descriptor("Ada moved.", ("Ada",))
    found = Descriptor("Ada moved.", ("Ada", "Oslo fjord"))
    assert Descriptor.read(found.written()) == found and found.text == "Ada moved. Ada Oslo fjord"
    update = Proposal(Operator.UPDATE, (3, 2), 1.0)
    with pytest.raises(PlanError, match="equal descriptor"):
        update_script(
            update,
            {"updated_summary": "Ada  moved.", "updated_keywords": ["Ada", "Oslo fjord"]},
            found,
        )
    assert update_script(
        update, {"updated_summary": "Ada moved.", "updated_keywords": ["Ada"]}, found
    ).archives == (2,)
    assert merge_script(
        Proposal(Operator.MERGE, (2, 3), 1.0), {"summary": "s", "keywords": ["k"]}
    ).archives == (2, 3)
    assert parsed('{"a": 1}') == {"a": 1}


# --- recovery -------------------------------------------------------------------------------------
def test_coverage_by_hops_by_hand() -> None:
    assert recovery({}).h95 == 0
    found = recovery({**dict.fromkeys(range(18), 1), 18: 3, 19: 3})
    assert found.coverage == (0.9, 0.9, 1.0) and found.h95 == 3 and found.unreachable == 0.0
    assert (
        recovery({1: 1, 2: -1}) == recovery({2: -1, 5: 1})
        and recovery({1: 1, 2: -1}).h95 == -1
        and recovery({1: 1, 2: -1}).unreachable == 0.5
    )
