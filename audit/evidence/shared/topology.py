"""References for topologies of memories: a bank of plain sets, rules of links by counting, and
routing, plans and edits as their definitions say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ....engine.state.graph import EdgeType

T, S, V, B = EdgeType.TEMPORAL, EdgeType.SEMANTIC, EdgeType.VERSION, EdgeType.SIBLING
KINDS = (T, S, V, B)
Link = tuple[EdgeType, int, int]


# --- a bank of plain sets -------------------------------------------------------------------------
class Sets:
    """A bank of plain sets: vectors, times, visible units, and links as (kind, source, target)."""

    def __init__(
        self,
        vectors: Any,
        times: Sequence[float],
        visible: Iterable[int],
        links: Iterable[Link] = (),
    ) -> None:
        self.e, self.t, self.shown, self.links = (
            [np.array(v, np.float64) for v in vectors],
            list(times),
            set(visible),
            set(links),
        )

    def exists(self, unit: int) -> bool:
        return 0 <= unit < len(self.e)

    def visible(self, unit: int) -> bool:
        return unit in self.shown

    def time(self, unit: int) -> float:
        return self.t[unit]

    def vector(self, unit: int) -> Any:
        return self.e[unit]

    def targets(self, unit: int, kind: EdgeType) -> list[int]:
        return sorted(v for k, u, v in self.links if k == kind and u == unit)

    def sources(self, unit: int, kind: EdgeType) -> list[int]:
        return sorted(u for k, u, v in self.links if k == kind and v == unit)

    def link(self, source: int, target: int, kind: EdgeType) -> None:
        self.links.add((kind, source, target))

    def unlink(self, source: int, target: int, kind: EdgeType) -> None:
        self.links.discard((kind, source, target))

    def archive(self, unit: int) -> None:
        self.shown.discard(unit)

    def describe(self, unit: int, vector: Any) -> None:
        self.e[unit] = np.array(vector, np.float64)

    def nearest(self, unit: int, k: int) -> list[int]:
        return sorted(self.shown - {unit}, key=lambda v: (-float(self.e[v] @ self.e[unit]), v))[:k]


def key(bank: Sets, u: int, v: int, kind: EdgeType) -> tuple[float, ...]:
    """The keys of B.1 as the issue gives them, to be sorted in descending order."""
    near = float(bank.e[u] @ bank.e[v])
    return {S: (near, bank.t[v], -v), T: (bank.t[v], -v), B: (near, -v), V: (bank.t[v], -v)}[kind]


def trim(bank: Sets, u: int, kind: EdgeType, candidates: Iterable[int], cap: int) -> set[int]:
    """Trim_K by counting: a candidate stays if fewer than K others have a larger key."""
    others = {v for v in candidates if v != u and (kind != T or (bank.t[v], v) < (bank.t[u], u))}
    return {
        v
        for v in others
        if not cap or sum(key(bank, u, w, kind) > key(bank, u, v, kind) for w in others) < cap
    }


def replace(bank: Sets, u: int, kind: EdgeType, targets: set[int]) -> None:
    bank.links = {link for link in bank.links if link[:2] != (kind, u)} | {
        (kind, u, v) for v in targets
    }


def random_bank(rng: Any, n: int) -> Sets:
    """Units on a circle, some in the same place or of the same time, some archived, with random
    links.
    """
    angles, times = rng.integers(0, 40, n) * 0.1, rng.integers(0, 4, n).astype(float)
    links = {
        (KINDS[int(rng.integers(4))], int(a), int(b))
        for a, b in rng.integers(0, n, (3 * n, 2))
        if a != b
    }
    return Sets(
        np.stack([np.cos(angles), np.sin(angles)], axis=1),
        times.tolist(),
        np.flatnonzero(rng.random(n) < 0.7).tolist(),
        links,
    )


def copied(bank: Sets) -> Sets:
    return Sets(bank.e, bank.t, bank.shown, bank.links)


# --- links ----------------------------------------------------------------------------------------
def led_elsewhere(
    bank: Sets, gone: int, stand_ins: Sequence[int], cap: int
) -> list[tuple[int, int, int]]:
    """B.3.2, eq. (20): the links of visible units to an archived one lead to the best stand-in;
    what changed, as (unit, archived, stand-in or -1).
    """
    changed = []
    for u in [u for u in bank.sources(gone, S) if u in bank.shown]:
        targets, best = set(bank.targets(u, S)) - {gone}, -1
        if u not in stand_ins:
            best = max(stand_ins, key=lambda r: (float(bank.e[u] @ bank.e[r]), -r))
            targets = trim(bank, u, S, {*targets, best}, cap)
        replace(bank, u, S, targets)
        changed.append((u, gone, best))
    return changed


def kept_versions(bank: Sets, u: int, cap: int) -> set[int]:
    """B.7: what an archived unit needs to be reached, and then the best of the others, unless
    the former are too many.
    """
    held = set(bank.targets(u, V))
    alone = {
        v
        for v in held
        if v not in bank.shown and not any(w in bank.shown for w in bank.sources(v, V) if w != u)
    }
    if not cap or u not in bank.shown or len(alone) > cap:
        return held
    return {
        v
        for v in held
        if v in alone
        or sum(key(bank, u, w, V) > key(bank, u, v, V) for w in held - alone) < cap - len(alone)
    }


def changes_of_versions(specimen: Any) -> bool:
    """A unit gets version links, and those who shared its children are pruned after it, in
    order; what is left of its new links.
    """
    rng = np.random.default_rng(40)
    for _ in range(200):
        bank, cap, u = random_bank(rng, 7), int(rng.integers(0, 3)), int(rng.integers(7))
        bank.links = {link for link in bank.links if link[0] == V}
        new = [int(v) for v in rng.permutation(7)[:3] if v != u]
        wanted, held = copied(bank), set(bank.targets(u, V))
        wanted.links |= {(V, u, v) for v in new}
        sharing = (
            sorted({w for v in set(new) - held for w in wanted.sources(v, V)} - {u}) if cap else []
        )
        for w in (u, *sharing):
            replace(wanted, w, V, kept_versions(wanted, w, cap))
        added = specimen.add_versions(bank, u, new, cap)
        same = bank.links == wanted.links and added == [
            (u, v) for v in sorted(set(wanted.targets(u, V)) - held)
        ]
        if not same:
            return False
    return True


# --- edits ----------------------------------------------------------------------------------------
def edited(
    bank: Sets,
    operator: str,
    targets: Sequence[int],
    made: Sequence[int],
    new: Any,
    caps: Sequence[int],
    anchors: int,
    archive: bool = True,
) -> dict[str, list[Any]]:
    """B.2 and B.3 over plain sets; what changed, as in a record.

    new   (n, d), e_u after the edit
    caps  of semantic, sibling and version links; what shares a version is not pruned
    """
    old, stand_ins = (targets[1:], targets[:1]) if operator == "UPDATE" else (targets, made)
    gone = [v for v in old if v in bank.shown] if archive else []
    bank.shown -= set(gone)
    added: list[tuple[int, int, int]] = []

    def link(kind: EdgeType, r: int, wanted: Iterable[int]) -> None:
        fresh = {(kind, r, v) for v in wanted} - bank.links
        bank.links |= fresh
        added.extend((r, v, int(kind)) for _, _, v in fresh)

    for r in stand_ins:
        bank.e[r] = np.array(new[r], np.float64)
        bank.shown.add(r)
        link(V, r, trim(bank, r, V, old, caps[2]))
    for r in made if operator == "SPLIT" else ():
        link(B, r, trim(bank, r, B, made, caps[1]))
    for r in made:
        near = set(
            sorted(bank.shown - {r}, key=lambda v: (-float(bank.e[v] @ bank.e[r]), v))[:anchors]
        )
        near |= {w for v in old for w in bank.targets(v, S) if w in bank.shown}
        link(S, r, trim(bank, r, S, near - set(old), caps[0]))
    redirected = [edge for v in gone for edge in led_elsewhere(bank, v, stand_ins, caps[0])]
    return {
        "created": list(made),
        "archived": gone,
        "added": sorted(map(list, added)),
        "redirected": sorted(map(list, redirected)),
    }


def changes_of_edits(specimen: Any) -> bool:
    """Random edits of random banks, with and without archiving."""
    rng = np.random.default_rng(41)
    for number in range(240):
        bank, operator = random_bank(rng, 8), specimen.Operator(number % 3)
        shown = sorted(bank.shown)
        count = min(len(shown), {"SPLIT": 1, "MERGE": 3, "UPDATE": 2}[operator.name])
        targets = tuple(rng.permutation(shown)[:count].tolist())
        if operator.name == "UPDATE" and count and rng.random() < 0.3:
            targets = (targets[0], int(rng.choice([v for v in range(8) if v != targets[0]])))
        if len(targets) < {"SPLIT": 1, "MERGE": 2, "UPDATE": 2}[operator.name]:
            continue
        made = list(range(8, 8 + {"SPLIT": 3, "MERGE": 1, "UPDATE": 0}[operator.name]))
        angles = rng.integers(0, 40, len(made) + 1) * 0.1
        fresh, vector = (
            np.stack([np.cos(angles), np.sin(angles)], axis=1)[:-1],
            np.array([np.cos(angles[-1]), np.sin(angles[-1])]),
        )
        bank.e += [*fresh]
        bank.t += [4.0] * len(made)
        bank.shown |= set(made)
        wanted, new = copied(bank), [e.copy() for e in bank.e]
        if not made:
            new[targets[0]] = vector
        archive, anchors = bool(rng.random() < 0.7), int(rng.integers(1, 5))
        caps = specimen.Caps(1, int(rng.integers(1, 4)), 0, int(rng.integers(1, 3)))
        words = specimen.Descriptor("a", ("b",))
        proposal, splits = specimen.Proposal(operator, targets, 1.0), operator.name == "SPLIT"
        script = specimen.Script(
            proposal, three_segments(specimen, words) if splits else (), None if splits else words
        )
        outcome = specimen.applied(
            script, made, bank, caps, anchors, archive, None if made else vector
        )
        expected = edited(
            wanted,
            operator.name,
            targets,
            made,
            new,
            (caps.semantic, caps.sibling, 0),
            anchors,
            archive,
        )
        edits = outcome.edits
        same = (
            bank.links == wanted.links
            and bank.shown == wanted.shown
            and np.array_equal(bank.e, wanted.e)
            and [list(edits.created), list(edits.archived)]
            == [expected["created"], expected["archived"]]
            and sorted(map(list, edits.added)) == expected["added"]
            and sorted(map(list, edits.redirected)) == expected["redirected"]
            and outcome.reason == "APPLIED"
            and outcome.script is script
        )
        if not same:
            return False
    return True


def three_segments(specimen: Any, words: Any) -> Any:
    """The segments of a planned Split."""
    proposal = specimen.Proposal(specimen.Operator.SPLIT, (0,), 1.0)
    plan = {
        "do_split": True,
        "segments": [
            {
                "segment_text": part,
                "segment_summary": words.summary,
                "segment_keywords": list(words.keywords),
            }
            for part in ("ab", "cd", "ef")
        ],
    }
    scripts, _ = specimen.planned(
        [proposal],
        Sets(np.eye(1), [0.0], {0}),
        specimen.RoutingGate(),
        lambda bank, units: 1.0,
        lambda p: plan,
        lambda v: ("ab cd ef", words),
    )
    return scripts[0].segments


# --- routing --------------------------------------------------------------------------------------
def routed_by_counting(
    given: Sequence[Any], bank: Sets, gate: Any, measure: Any
) -> tuple[list[Any], list[tuple[Any, ...]]]:
    """C.2 from definitions: the queue, and (proposal, reason, detail) of the others.

    Of equal targets the one stays that no other beats; of merges one that shares no unit with a
    better one that stays.
    """
    dropped, kept = [], []
    for p in given:
        ids = list(dict.fromkeys(v for v in p.targets if 0 <= v < len(bank.e)))
        name, shown = p.operator.name, [v in bank.shown for v in ids]
        fits = {
            "SPLIT": len(ids) == 1 and all(shown),
            "MERGE": 2 <= len(ids) <= 5 and all(shown),
            "UPDATE": len(p.targets) == 2 == len(ids) and shown[:1] == [True],
        }[name]
        if p.confidence < gate.confidence:
            dropped.append((p, "LOW_CONF", ""))
        elif p.operator not in gate.operators:
            dropped.append((p, "NORM_FILTER", "operator is off"))
        elif not fits:
            unknown = any(not 0 <= v < len(bank.e) for v in p.targets)
            counts = {
                "SPLIT": len(ids) == 1,
                "MERGE": 2 <= len(ids) <= 5,
                "UPDATE": len(p.targets) == 2 == len(ids),
            }[name]
            detail = "VISIBILITY_FAIL" if counts else "MISSING_ID" if unknown else "ARITY_FAIL"
            dropped.append((p, "NORM_FILTER", detail))
        elif name == "MERGE" and measure(bank, sorted(ids)) < gate.coherence:
            dropped.append((p, "COH_FAIL", ""))
        else:
            kept.append(
                type(p)(
                    p.operator, tuple(ids if name == "UPDATE" else sorted(ids)), p.confidence, p.why
                )
            )
    single, known = [], set()
    for p in sorted(kept, key=lambda p: (-p.confidence, p.why)):
        if (p.operator, p.targets) in known:
            dropped.append((p, "NORM_FILTER", "equal targets"))
        else:
            known.add((p.operator, p.targets))
            single.append(p)
    merges = [p for p in single if p.operator.name == "MERGE"]

    def better(p: Any, q: Any) -> bool:
        return bool(
            (len(p.targets), p.confidence, [-v for v in p.targets])
            > (len(q.targets), q.confidence, [-v for v in q.targets])
        )

    def stays(p: Any) -> bool:
        return not any(
            better(q, p) and set(q.targets) & set(p.targets) and stays(q) for q in merges
        )

    out = [p for p in merges if not stays(p)]
    dropped += [(p, "NORM_FILTER", "overlaps another merge") for p in out]
    queue = [p for p in single if p not in out]
    return sorted(
        queue,
        key=lambda p: (
            ["SPLIT", "MERGE", "UPDATE"].index(p.operator.name),
            -p.confidence,
            p.targets,
        ),
    ), dropped


def some_proposals(specimen: Any, rng: Any, count: int) -> list[Any]:
    """Proposals with ids that may be unknown, repeated or in any order, with the least
    confidence among theirs.
    """
    sizes = {"SPLIT": (1, 1, 1, 2), "MERGE": (1, 2, 2, 3, 5, 6), "UPDATE": (2, 2, 2, 1, 3)}
    proposals = []
    for _ in range(count):
        operator = specimen.Operator(int(rng.integers(3)))
        targets = (
            rng.integers(-1, 9, int(rng.choice(sizes[operator.name])))
            if rng.random() < 0.3
            else rng.permutation(8)[: int(rng.choice(sizes[operator.name]))]
        )
        proposals.append(
            specimen.Proposal(
                operator,
                tuple(targets.tolist()),
                float(rng.choice([0.5, 0.9, 0.95, 1.0])),
                str(rng.choice(["", "a"])),
            )
        )
    return proposals


def gate_of(specimen: Any, rng: Any) -> Any:
    return specimen.RoutingGate(
        0.9, 0.5, frozenset(o for o in specimen.Operator if rng.random() < 0.9)
    )


def closeness(bank: Any, units: Sequence[int]) -> float:
    """A coherence below, at and above the least one."""
    return (0.5, 0.75, 0.25, 0.5)[sum(units) % 4]


def said(dropped: Iterable[tuple[Any, ...]]) -> list[str]:
    return sorted(
        str((p.operator.name, p.targets, p.confidence, p.why, reason, detail))
        for p, reason, detail in dropped
    )


def told(outcomes: Iterable[Any]) -> list[str]:
    return said((o.proposal, o.reason.value, o.detail) for o in outcomes)


def routes_by_counting(specimen: Any) -> bool:
    """Random proposals: the queue in order, and each reason."""
    rng = np.random.default_rng(42)
    for _ in range(300):
        bank, gate = random_bank(rng, 8), gate_of(specimen, rng)
        bank.shown |= set(rng.permutation(8)[:4].tolist())
        given = some_proposals(specimen, rng, 14)
        queue, dropped = routed_by_counting(given, bank, gate, closeness)
        routed = specimen.routed(given, bank, gate, closeness)
        same = routed[0] == queue and told(routed[1]) == said(dropped)
        if not same:
            return False
    return True


def outcomes_by_counting(specimen: Any) -> bool:
    """Random proposals with plans: a unit that an edit touches, or whose link it changes, is
    left alone by all later ones.
    """
    rng = np.random.default_rng(43)
    for _ in range(200):
        bank, gate = random_bank(rng, 8), gate_of(specimen, rng)
        bank.shown |= set(rng.permutation(8)[:4].tolist())
        given, bad = some_proposals(specimen, rng, 14), set(rng.permutation(8)[:3].tolist())

        def plan(p: Any, bad: set[int] = bad) -> Mapping[str, Any]:
            words = {
                "summary": "both",
                "keywords": ["k"],
                "updated_keywords": ["k"],
                "updated_summary": f"unit {p.targets[0]}"
                if p.targets[0] in bad
                else f"unit {p.targets[1 % len(p.targets)]} now",
            }
            parts = [
                {"segment_text": part, "segment_summary": part, "segment_keywords": [part]}
                for part in (f"one{p.targets[0]}", "two")
            ]
            return {**words, "do_split": p.targets[0] not in bad, "segments": parts}

        queue, dropped = routed_by_counting(given, bank, gate, closeness)
        touched, scripts = set[int](), []
        for p in queue:
            name, fails = p.operator.name, p.operator.name != "MERGE" and p.targets[0] in bad
            if touched & set(p.targets):
                dropped.append((p, "APPLICABLE_FAIL", "TOUCHED_CONFLICT"))
            elif fails:
                dropped.append(
                    (
                        p,
                        "PLAN_VALIDATION_FAIL",
                        "the plan does not split" if name == "SPLIT" else "equal descriptor",
                    )
                )
            else:
                scripts.append(p)
                old = p.targets[1:] if name == "UPDATE" else p.targets
                touched |= {
                    *p.targets,
                    *(
                        u
                        for kind, u, v in bank.links
                        if kind in (S, V) and v in old and u in bank.shown
                    ),
                }
        planned = specimen.planned(
            given,
            bank,
            gate,
            closeness,
            plan,
            lambda v: (f"one{v}, two", specimen.Descriptor(f"unit {v}", ("k",))),
        )
        same = [s.proposal for s in planned[0]] == scripts and told(planned[1]) == said(dropped)
        if not same:
            return False
    return True


# --- plans ----------------------------------------------------------------------------------------
def scripts_by_hand(specimen: Any) -> Any:
    """C.3 and C.5: plans of the three edits with the one reason why each fails, or with the
    script and its record.
    """
    text, prior = "Ada sails. Bo bakes.", ("Ada  sails.", ("sea", "Sea"))  # 20 characters

    def part(some: Any, summary: Any = "s", words: Any = ("w",)) -> dict[str, Any]:
        return {"segment_text": some, "segment_summary": summary, "segment_keywords": list(words)}

    def split(*parts: Any, do: Any = True) -> dict[str, Any]:
        return {"do_split": do, "segments": list(parts)}

    def merge(summary: Any, words: Any) -> dict[str, Any]:
        return {"summary": summary, "keywords": words}

    def update(summary: Any, words: Any) -> dict[str, Any]:
        return {"updated_summary": summary, "updated_keywords": words}

    good, shape, invalid, words = (
        (part("Ada sails."), part("Bo bakes.")),
        "SCHEMA_FAIL",
        "PLAN_VALIDATION_FAIL",
        [f"w{i}" for i in range(13)],
    )
    both = [[0, 10, "s", ["w"]], [11, 20, "s", ["w"]]]
    cases: tuple[tuple[str, Any, float, Any], ...] = (
        ("SPLIT", split(*good), 0.0, both), ("SPLIT", json.dumps(split(*good)), 0.0, both),
        ("SPLIT", "{", 0.0, "JSON_PARSE_FAIL"),
        ("SPLIT", "[1]", 0.0, shape), ("SPLIT", [1], 0.0, shape), ("SPLIT", {}, 0.0, shape),
        ("SPLIT", split(*good, do=1), 0.0, shape),
        ("SPLIT", {"do_split": True, "segments": good}, 0.0, shape), ("SPLIT", split(*good, "x"),
        0.0, shape),
        ("SPLIT", split(*good, do=False), 0.0, invalid), ("SPLIT", split(good[0]), 0.0, invalid),
        ("SPLIT", split(good[0], part(7)), 0.0, shape),
        ("SPLIT", split(good[0], part(None)), 0.0, shape), ("SPLIT", split(good[0], part("  ")),
        0.0, invalid),
        ("SPLIT", split(good[0], part("")), 0.0, invalid), ("SPLIT", split(good[0],
        part("bo bakes.")), 0.0, invalid),
        ("SPLIT", split(*reversed(good)), 0.0, invalid), ("SPLIT", split(part("Ada sails. B"),
        good[1]), 0.0, invalid),
        ("SPLIT", split(part("Ada"), part("sails.")), 0.5, invalid), ("SPLIT", split(part("Ada "),
        part("sails.")), 0.5,
                                                                     [[0, 4, "s", ["w"]], [4, 10,
                                                                     "s", ["w"]]]),
        ("SPLIT", split(good[0], part("Bo bakes.", None)), 0.0, shape), ("SPLIT",
        specimen.PlanError(specimen.Reason.LOW_CONF, "x"), 0.0, "LOW_CONF"),
        ("MERGE", merge(" a \n b ", [" k, l ", "K  L", 7, "", " ", "Oslo", "oslo"]), 0.0, ["a b",
        ["k l", "7", "Oslo"]]),
        ("MERGE", merge("a", ("k",)), 0.0, ["a", ["k"]]), ("MERGE", merge("a", "k"), 0.0, shape),
        ("MERGE", merge(7, ["k"]), 0.0, shape),
        ("MERGE", merge("", ["k"]), 0.0, invalid), ("MERGE", merge("a", [""]), 0.0, invalid),
        ("MERGE", merge("a", words[:12]), 0.0, ["a", words[:12]]),
        ("MERGE", merge("a", words), 0.0, invalid), ("MERGE", merge("a" * 600, ["k"]), 0.0,
        ["a" * 600, ["k"]]),
        ("MERGE", merge("a" * 601, ["k"]), 0.0, invalid), ("UPDATE", update("Ada sails.", ["sea"]),
        0.0, invalid),
        ("UPDATE", update("Ada sails.", ["Sea"]), 0.0, ["Ada sails.", ["Sea"]]),
        ("UPDATE", update("Ada sailed.", ["sea"]), 0.0, ["Ada sailed.", ["sea"]]),
        ("UPDATE", merge("a", ["k"]), 0.0, shape))  # fmt: skip
    measured, expected = [], []
    for name, plan, coverage, wanted in cases:
        targets = (2,) if name == "SPLIT" else (2, 3)
        proposal = specimen.Proposal(specimen.Operator[name], targets, 1.0, "y")
        scripts, dropped = specimen.planned(
            [proposal],
            Sets(np.eye(4), [0.0] * 4, {2, 3}),
            specimen.RoutingGate(),
            lambda bank, units: 1.0,
            lambda p, plan=plan: plan,
            lambda v: (text, specimen.Descriptor(*prior)),
            coverage,
        )
        if not scripts:
            measured.append(str([o.reason.value for o in dropped]))
            expected.append(str([wanted]))
            continue
        outcome = specimen.ProposalOutcome(proposal, specimen.Reason.APPLIED, "", scripts[0])
        nothing: dict[str, list[Any]] = {
            "created": [],
            "archived": [],
            "added": [],
            "redirected": [],
        }
        measured.append(str([json.loads(specimen.record(4, 2.5, outcome)), scripts[0].makes]))
        expected.append(str([dict(sorted({
            "run": 4, "time": 2.5, "operator": name, "targets": list(targets), "confidence": 1.0,
            "why": "y", "reason": "APPLIED", "detail": "",
            "plan": {"descriptor": None,
                     "segments": wanted} if name == "SPLIT" else {"descriptor": wanted,
                     "segments": []},
            "edits": dict(sorted(nothing.items()))}.items())), {"SPLIT": 2, "MERGE": 1,
            "UPDATE": 0}[name]]))  # fmt: skip
    return measured, expected
