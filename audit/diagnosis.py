"""Evidence of `mechanisms.shared.topology_diagnosis`: cuts by enumeration, restatements, outdated values, descriptors and plans by hand."""
from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SYLLABLES = ["bak", "dol", "fim", "gup", "hec", "jat", "kol", "mun", "nep", "sor", "tiv", "wex", "zab", "cud", "fep", "gos"]
PENALTY, NEAR, WIDTH, LONE = 0.4, 0.25, 0.045, 0.7      # of a cut; of the confidence of a split; its factor for a segment of one sentence


def unit(*values: float) -> NDArray[np.float32]:
    found = np.array(values, np.float64)
    return np.asarray(found / np.linalg.norm(found), np.float32)


def seen(specimen: Any, number: int, text: str, *, time: float = 0.0, speaker: int = 0, at: Any = (1.0, 0.0), whole: bool = True) -> Any:
    """A unit told by Ada."""
    return specimen.Seen(number, text, time, 0, speaker, "Ada", unit(*at), lambda: specimen.described(f"Ada: {text}", text), whole)


def sigmoid(x: float) -> float:
    return float(1.0 / (1.0 + np.exp(-x)))


# --- nearest rows -------------------------------------------------------------------------------------------------------------
def nearest_rows(specimen: Any) -> tuple[list[str], list[str]]:
    """The nearest allowed rows of each of some rows, by sorting all inner products: of whole numbers, so that ties are exact."""
    rng, found, expected = np.random.default_rng(31), [], []
    for n, k, share in ((1, 2, 1.0), (7, 3, 1.0), (7, 3, 0.5), (150, 10, 0.8), (150, 1, 1.0), (150, 149, 1.0), (20, 4, 0.0)):
        whole, allowed = rng.integers(-3, 4, (n, 4)), rng.random(n) < share
        rows = rng.permutation(n)[:100].tolist()
        found.append(str(specimen.nearest_of_each(whole.astype(np.float32), rows, allowed, k)))
        scores = whole @ whole.T
        expected.append(str([sorted((v for v in np.flatnonzero(allowed).tolist() if v != u), key=lambda v: (-scores[u, v], v))[:k] for u in rows]))
    return found, expected


# --- Split --------------------------------------------------------------------------------------------------------------------
def talk(rng: np.random.Generator, count: int, shared: int) -> list[str]:
    """Sentences of twelve words; neighbours share some of them, others none."""
    words = [f"{a}{b}" for a in SYLLABLES for b in SYLLABLES]
    pool = [str(word) for word in rng.permutation(words)]
    texts, before = list[str](), list[str]()
    for _ in range(count):
        own = [pool.pop() for _ in range(12 - (shared if before else 0))] + before[:shared]
        texts.append(" ".join(own).capitalize() + ".")
        before = own
    return texts


def best_partition(vectors: Floats) -> list[int]:
    """First sentences of the segments with the largest sum of the lengths of their vectors, less a penalty for each cut; of all partitions."""
    def value(cuts: Sequence[int]) -> float:
        return sum(float(np.linalg.norm(part.sum(axis=0))) for part in np.split(vectors, cuts)) - PENALTY * len(cuts)

    inner = range(1, len(vectors))
    return [0, *max((cuts for size in range(len(vectors)) for cuts in combinations(inner, size)), key=value)]


def splits_of_talks(specimen: Any) -> tuple[list[Any], list[Any]]:
    """Confidence of a split and its segments: all partitions of long sentences; the cosine of neighbouring segments and the words they share."""
    rng, found, expected = np.random.default_rng(32), [], []
    for _ in range(40):
        count, shared = int(rng.integers(2, 7)), int(rng.integers(0, 3))
        texts = talk(rng, count, shared)
        topics = np.array([unit(*v) for v in np.eye(3) + 0.3 * rng.normal(size=(3, 3))])
        vectors = np.array([unit(*(topics[rng.integers(3)] + 0.2 * rng.normal(size=3))) for _ in texts])
        text = " ".join(texts)
        one = seen(specimen, 0, text)
        proposals = specimen.diagnosed([specimen.Context(one, ())], lambda _, v=vectors: v, 0.0)
        starts = best_partition(vectors.astype(np.float64))
        parts = np.split(np.arange(count), starts[1:])
        if len(parts) > 1:
            sums = [vectors[part].astype(np.float64).sum(axis=0) for part in parts]
            near = max(float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) for a, b in pairwise(sums))
            words = [set(" ".join(texts[i] for i in part).lower().replace(".", "").split()) for part in parts]
            most = max(len(a & b) for a, b in pairwise(words))
            sure = sigmoid((NEAR - near) / WIDTH - most) * (LONE if min(map(len, parts)) == 1 else 1.0)
            expected += [round(sure, 9), str([" ".join(texts[i] for i in part) for part in parts])]
            plan = specimen.plan_of(proposals[0], {0: one}, lambda _, v=vectors: v)
            found += [round(proposals[0].confidence, 9), str([each["segment_text"] for each in plan["segments"]])]
        else:
            expected.append(0)
            found.append(len(proposals))
    return found, expected


PUMP = "The old pump in our garden drips again since the frost last winter."
VIOLIN = "My sister plays the violin with the town orchestra every second Sunday."
TEN, NINE = "We play violin near the old harbour at noon tomorrow.", "We play violin near the old harbour at noon."
# Sentences about a pump or a violin, and the segments by hand: short ones and those that refer back are joined to what is before them.
DIVIDED: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    ((PUMP, VIOLIN), (PUMP, VIOLIN)), ((PUMP, TEN), (PUMP, TEN)), ((PUMP, NINE), ()), ((NINE, PUMP), ()), ((TEN, PUMP), (TEN, PUMP)),
    ((PUMP, "It is about the violin, which my sister plays with the town orchestra."), ()),
    ((PUMP, PUMP, VIOLIN, VIOLIN, "The pump is old."), (f"{PUMP} {PUMP}", f"{VIOLIN} {VIOLIN} The pump is old.")),
    ((PUMP, PUMP, VIOLIN, VIOLIN, PUMP, PUMP), (f"{PUMP} {PUMP}", f"{VIOLIN} {VIOLIN}", f"{PUMP} {PUMP}")), ((PUMP,), ()), ((PUMP, PUMP), ()),
    ((PUMP, PUMP, VIOLIN, VIOLIN) * 8, (f"{PUMP} {PUMP}", f"{VIOLIN} {VIOLIN}") * 8), ((PUMP, PUMP, VIOLIN, VIOLIN) * 8 + (PUMP,), ()))


def segments_by_hand(specimen: Any) -> tuple[list[str], list[str]]:
    """Segments of each text of DIVIDED, and those by hand; a part of an event is not divided."""
    found = []
    for sentences, _ in DIVIDED:
        one, part = (seen(specimen, 0, " ".join(sentences), whole=whole) for whole in (True, False))
        vectors = np.array([unit(1.0, 0.05) if "pump" in sentence else unit(0.05, 1.0) for sentence in sentences])
        proposals = specimen.diagnosed([specimen.Context(each, ()) for each in (one, part)], lambda _, v=vectors: v, 0.0)
        plans = [specimen.plan_of(proposal, {0: one}, lambda _, v=vectors: v) for proposal in proposals]
        found.append(str([tuple(each["segment_text"] for each in plan["segments"]) for plan in plans]))
    return found, [str([by_hand] if by_hand else []) for _, by_hand in DIVIDED]


# --- Merge --------------------------------------------------------------------------------------------------------------------
KETTLE = "Our red kettle holds green pebbles and yellow straw."
# Another text, what differs besides (speaker, cosine, time), and by hand the shared and all content words of the two, None: no restatement.
RESTATED: tuple[tuple[str, int, float, float, tuple[int, int] | None], ...] = (
    (KETTLE, 0, 1.0, 0.0, (7, 7)), (KETTLE, 0, 0.9, 0.0, (7, 7)), (KETTLE, 0, 0.76, 0.0, (7, 7)), (KETTLE, 0, 0.74, 0.0, None),
    (KETTLE, 1, 1.0, 0.0, None), ("Our red kettle holds green pebbles, yellow straw and chalk.", 0, 0.95, 0.0, (7, 8)),
    ("Our red kettle holds green pebbles, yellow straw, chalk and sand.", 0, 0.95, 0.0, (7, 9)),
    ("Our red kettle holds green pebbles, yellow straw, chalk, sand and wool.", 0, 0.95, 0.0, None),
    ("Our red kettle holds green pebbles and brown wool.", 0, 0.95, 0.0, (5, 9)), ("Our red kettle holds.", 0, 1.0, 0.0, None),
    ("Does our red kettle hold green pebbles and yellow straw?", 0, 1.0, 0.0, None),
    ("Our red kettle never holds green pebbles, yellow straw.", 0, 1.0, 0.0, None),
    ("Our 2 red kettles hold green pebbles and yellow straw.", 0, 1.0, 0.0, None),
    ("They say our red kettle holds green pebbles, yellow straw and Tom.", 0, 1.0, 0.0, None))
SMALL = "Red kettles hold pebbles."


def restatements_by_hand(specimen: Any) -> tuple[list[float], list[float]]:
    """Confidence of the merge of two texts, whichever is told first; 0 where none is proposed."""
    found, expected = [], []
    for text, speaker, near, time, words in RESTATED:
        one = seen(specimen, 0, KETTLE)
        other = seen(specimen, 1, text, speaker=speaker, at=(near, math.sqrt(1.0 - near * near)), time=time)
        for a, b in ((one, other), (other, one)):
            merges = [p for p in specimen.diagnosed([specimen.Context(a, (b,))], lambda _: np.eye(1), 1e-9) if len(p.targets) == 2]
            found.append(merges[0].confidence if merges else 0.0)
            expected.append(sigmoid(20.0 * (near - 0.85) + 4.0 * (words[0] / words[1] - 0.5)) if words else 0.0)
    for text, sure in ((SMALL, sigmoid(5.0)), ("Red kettles hold.", 0.0)):
        merges = specimen.diagnosed([specimen.Context(seen(specimen, 0, text), (seen(specimen, 1, text),))], lambda _: np.eye(1), 0.0001)
        found.append(merges[0].confidence if merges else 0.0)
        expected.append(sure)
    return found, expected


def groups_by_hand(specimen: Any) -> tuple[list[str], list[str]]:
    """A merge takes the nearest units of which all pairs restate each other, five at most; its confidence is that of the worst pair."""
    def proposed(anchors: Sequence[Any], least: float) -> str:
        context = specimen.Context(seen(specimen, 9, KETTLE), tuple(anchors))
        return str([(p.targets, round(p.confidence, 6)) for p in specimen.diagnosed([context], lambda _: np.eye(1), least)])

    alike = [seen(specimen, i, KETTLE) for i in range(6)]
    apart = [seen(specimen, 1, KETTLE, at=(0.9, math.sqrt(0.19))), seen(specimen, 2, KETTLE, at=(0.9, -math.sqrt(0.19)))]
    pair = sigmoid(20.0 * 0.05 + 2.0)
    return [proposed(alike, 0.9), proposed(apart, 0.9), proposed(apart, 0.99), proposed((), 0.0)], [
        str([((0, 1, 2, 3, 9), round(sigmoid(5.0), 6))]), str([((1, 9), round(pair, 6))]), "[]", "[]"]


# --- Update -------------------------------------------------------------------------------------------------------------------
# Two texts, the earlier first, and by hand the confidence that the later makes the earlier outdated, 0: no update.
OUTDATED: tuple[tuple[str, str, float], ...] = (
    ("I live in Rome.", "I moved to Oslo.", 0.97), ("I live in Rome.", "I live in Oslo.", 0.93),
    ("The rent is 900 euros.", "The rent is 950 euros.", 0.8), ("The rent is 900 euros.", "The rent rose to 950 euros.", 0.93),
    ("I live in Rome.", "I live in Rome.", 0.0), ("I live in Rome.", "It rains.", 0.0),
    ("It rains.", "I live in Rome.", 0.0), ("I live in Rome. I love tea.", "I moved to Oslo.", 0.0),
    ("I live in Rome. I love tea.", "I moved to Oslo. I love tea.", 0.97), ("I live in Rome. I loved tea.", "I moved to Oslo.", 0.97),
    ("I live in Rome.", "I moved to Oslo. The rent is 900 euros.", 0.97), ("I love tea.", "I live in Rome.", 0.0),
    ("I live in Rome. The rent is 900 euros.", "I live in Oslo. The rent is 950 euros.", 0.8))


def updates_by_hand(specimen: Any) -> tuple[list[str], list[str]]:
    """Targets (current, superseded) and confidence, whichever of the two the context is about; of equal times the later unit is current."""
    found, expected = [], []
    for earlier, later, sure in OUTDATED:
        for times in ((1.0, 2.0), (1.0, 1.0)):
            old, new = seen(specimen, 3, earlier, time=times[0], at=(1.0, 0.0)), seen(specimen, 7, later, time=times[1], at=(0.0, 1.0))
            for a, b in ((old, new), (new, old)):
                proposals = specimen.diagnosed([specimen.Context(a, (b,))], lambda text: np.eye(text.count(".")), 0.5)
                found.append(str([(p.targets, p.confidence) for p in proposals if len(p.targets) == 2]))
                expected.append(str([((7, 3), sure)] if sure else []))
    return found, expected


# --- descriptors and plans ----------------------------------------------------------------------------------------------------
def descriptors_and_plans_by_hand(specimen: Any) -> tuple[list[str], list[str]]:
    """Names, summaries and keywords of texts as they are embedded, and the plans of a merge and of an update."""
    named = [specimen.name_in(*given) for given in (
        ("[noon] Ada: We moved.", "We moved."), ("Ada  Lee: x", "x"), ("x", "x"), ("Ada: y", "x"), ("", ""), ("[1] Ada: it: x", "it: x"),
        ("note [1] x", "x"))]
    moved = "We moved to Oslo. So tired."
    short = [specimen.described(*given).summary for given in (
        (f"[6:00 am] Ada: {moved} [a red house]", moved), ("We moved.", "We moved."), ("Ada: y", "We moved."))]
    old = seen(specimen, 0, "I live in Rome near the harbour.", time=1.0)
    new = seen(specimen, 1, "I moved to Oslo with my violin.", time=2.0)
    update, = specimen.diagnosed([specimen.Context(old, (new,))], lambda _: np.eye(1))
    plan = specimen.plan_of(update, {0: old, 1: new}, lambda _: np.eye(1))
    words = plan["updated_keywords"]
    first, last = seen(specimen, 0, KETTLE, time=5.0), seen(specimen, 1, "Red kettles hold yellow straw and green pebbles.", time=3.0, at=(1.0, 0.0))
    merge, = specimen.diagnosed([specimen.Context(first, (last,))], lambda _: np.eye(1), 0.1)
    merged = specimen.plan_of(merge, {0: first, 1: last}, lambda _: np.eye(1))
    return [*named, *short, plan["updated_summary"], str(words[:len(new.descriptor.keywords)] == list(new.descriptor.keywords)),
            str(words.count("current")), str("Rome" in " ".join(words)), merged["summary"],
            str(merged["keywords"][:len(first.descriptor.keywords)] == list(first.descriptor.keywords))], [
        "Ada", "Ada Lee", "", "", "", "Ada", "", "Ada: We moved to Oslo.", "We moved.", "We moved.",
        "Ada: I moved to Oslo with my violin.", "True", "1", "False", f"Ada: {KETTLE}", "True"]
