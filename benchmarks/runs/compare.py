"""`hebbarium compare`: two runs on the same data, paired by question.

Differences are the second run minus the first: positive means that the second is better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ...engine.base.errors import HebbariumError, InputError
from ...reporting.files import write_whole
from ...reporting.pages import environment
from ...reporting.text import signed
from ..datasets import Dataset
from ..execution.folder import RunFolder, differences, shown
from ..execution.spec import RunSpec
from ..scores.agreement import LABEL, ChiSquared, McNemar, Proportion, chi_squared, mcnemar, wilson
from ..scores.cluster_robust import ClusterT, cluster_t
from ..scores.levels import Levels, levels, sessions_of
from ..scores.metrics import METRICS, Metrics, depth_summary, forbidden_shares, question_metrics

PRIMARY = "recall@10"  # decides which questions are gained and lost
# other fields tell them, or they must be equal
COVERED = ("dataset", "sha256", "set_digest", "registry_digest", "arm", "conversation")
SHOWN = ("command", *(f.name for f in fields(RunSpec) if f.name not in COVERED))
Key = tuple[str, str]  # conversation and question


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs: its folder, the set or system that it measured, and the arm.

    alone   mechanisms that only this run has
    """

    folder: str
    name: str
    arm: str
    alone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetricPair:
    """Means of one metric over the paired questions, and the cluster-robust test of their
    difference.

    paired  questions on which only the first, and only the second run is better: lost and won by
            the second; with the exact test that treats questions as independent
    """

    metric: str
    first: float
    second: float
    difference: ClusterT
    paired: McNemar


@dataclass(frozen=True, slots=True)
class GoldPair:
    """A gold event: its text as it is indexed, None if the data are not at hand, and its rank in
    each run, 0 for a miss.
    """

    id: str
    text: str | None
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Changed:
    """A question whose recall@10 differs.

    text, answer   "" for a run of a release that did not write them
    first, second  recall@10
    instead        id and text of the events in the answer of the worse run that are neither gold
                   nor in the answer of the better one
    """

    conversation: str
    question: str
    category: str
    text: str
    answer: str
    first: float
    second: float
    gold: tuple[GoldPair, ...]
    instead: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class Independent:
    """The same runs as many papers compare them: shares of questions with gold among the first ten
    (hit@10).  Treats questions as independent.

    first, second  Wilson intervals
    """

    label: str
    first: Proportion
    second: Proportion
    mcnemar: McNemar
    chi_squared: ChiSquared


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs, paired by question.

    differing      fields of the two manifests that differ, apart from `Side.alone`: name and both
                   values, None where absent
    n_questions, n_conversations   paired questions with gold, and their conversations
    unpaired       questions with gold that only the first, and only the second run asked
    n_changed      paired questions with another rank of gold, or another answer
    metrics        by metric; p-values are not corrected for their number
    depths         metric at a depth, such as "hit@1" -> means of the first and of the second run
    independent    the comparison that treats questions as independent
    levels         where the difference of recall@10 varies; None without the data
    categories     category -> paired questions, recall@10 of the first and of the second run
    forbidden      shares of the first places that hold what must not come back, over the questions of
                   both runs that say it; lower is better, so the second run wins where its share is
                   lower.  () for data that say nothing of the kind
    gained, lost   questions with a higher and with a lower recall@10 in the second run, in the
                   order of the file
    notes          what a reader should know
    """

    dataset: str
    sha256: str
    sides: tuple[Side, Side]
    differing: tuple[tuple[str, Any, Any], ...]
    n_questions: int
    n_conversations: int
    unpaired: tuple[int, int]
    n_changed: int
    metrics: tuple[MetricPair, ...]
    depths: Mapping[str, tuple[float, float]]
    independent: Independent
    levels: Levels | None
    categories: Mapping[str, tuple[int, float, float]]
    gained: tuple[Changed, ...]
    lost: tuple[Changed, ...]
    notes: tuple[str, ...]
    forbidden: tuple[MetricPair, ...] = ()


def compare(
    first: RunFolder,
    second: RunFolder,
    *,
    arms: tuple[str | None, str | None] = (None, None),
    data: Path | None = None,
) -> Comparison:
    """Compare one arm of each run.  Cost: O(rows), and the data are read once.

    arms   of an ablation; None: the full set
    data   where the data are now, for the texts of events; None: where they were.  Without them the
           comparison has ids only, and a note

    Raises InputError for runs on other data and for runs that share no question with gold,
    DataError for a run that is not finished or damaged.
    """
    require_same_data(first, second)
    names = first.arm(arms[0]), second.arm(arms[1])
    differing, alone = _differing(first, second, names)
    sides = (
        Side(str(first.path), first.measured, names[0], alone[0]),
        Side(str(second.path), second.measured, names[1], alone[1]),
    )
    everything = [
        {(row["conversation"], row["question"]): row for row in run.rows(arm)}
        for run, arm in zip((first, second), names, strict=True)
    ]
    asked = tuple({key: row for key, row in rows.items() if row["gold"]} for rows in everything)
    pairs = {key: (row, asked[1][key]) for key, row in asked[0].items() if key in asked[1]}
    if not pairs:
        raise InputError(
            "the two runs share no question that has gold",
            where=f"{first.path} and {second.path}",
            cure="compare runs on the same conversations",
        )
    require_same_gold(first, second, pairs)
    texts, home, notes = _texts(first, second, data)
    scores = {
        key: (question_metrics(a["ranks"]), question_metrics(b["ranks"]))
        for key, (a, b) in pairs.items()
    }
    changed = {
        key: _changed(*pairs[key], *scores[key], texts.get(key[0], {}))
        for key in pairs
        if _recall(scores[key][0]) != _recall(scores[key][1])
    }
    return Comparison(
        dataset=first.manifest["dataset"],
        sha256=first.manifest["sha256"],
        sides=sides,
        differing=differing,
        n_questions=len(pairs),
        n_conversations=len({conversation for conversation, _ in pairs}),
        unpaired=(len(asked[0]) - len(pairs), len(asked[1]) - len(pairs)),
        n_changed=sum(_other(a, b) for a, b in pairs.values()),
        metrics=tuple(
            _metric(name, list(scores.values()), [key[0] for key in pairs]) for name in METRICS
        ),
        depths=_depths(pairs),
        independent=_independent(list(scores.values())),
        levels=_levels(pairs, scores, home),
        categories=_categories(pairs, scores),
        gained=tuple(c for c in changed.values() if c.second > c.first),
        lost=tuple(c for c in changed.values() if c.second < c.first),
        notes=tuple(notes),
        forbidden=_forbidden(*everything),
    )


def require_same_data(first: RunFolder, second: RunFolder) -> None:
    """Raises InputError for two runs that measured other data."""
    ours, theirs = ((run.manifest["dataset"], run.manifest["sha256"]) for run in (first, second))
    if ours != theirs:
        raise InputError(
            f"the two runs measured other data: {first.path} {ours[0]}, SHA-256 {ours[1]}; {second.path} {theirs[0]}, SHA-256 {theirs[1]}",
            where="compare",
            cure="compare runs on the same data; numbers of different data have no pairs",
        )


def require_same_gold(
    first: RunFolder,
    second: RunFolder,
    pairs: Mapping[tuple[str, str], tuple[Mapping[str, Any], Mapping[str, Any]]],
) -> None:
    """Raises InputError for two runs of which one measured turns and the other one sessions.

    pairs  (conversation, question) -> its rows in the two runs
    """
    for (conversation, question), (row, other) in pairs.items():
        if sorted(row["gold"]) != sorted(other["gold"]):
            raise InputError(
                f"question {question!r} of {conversation!r} has other gold in each run: the runs measured other events",
                where=f"{first.path} and {second.path}",
                cure="compare runs with the same --unit and --match",
            )


def _differing(
    first: RunFolder, second: RunFolder, arms: tuple[str, str]
) -> tuple[tuple[tuple[str, Any, Any], ...], tuple[tuple[str, ...], ...]]:
    """Fields of the records that differ, and the mechanisms that only one of them has.  Digests
    of what is compared itself are left out.
    """
    a, b = (
        {name: value for name, value in run.deciding(arm).items() if name in SHOWN}
        for run, arm in zip((first, second), arms, strict=True)
    )
    mine, theirs = (deciding.get("mechanisms", {}) for deciding in (a, b))
    alone = (
        tuple(id for id in mine if id not in theirs),
        tuple(id for id in theirs if id not in mine),
    )
    named = {f"mechanisms.{id}" for ids in alone for id in ids}
    return tuple(
        difference
        for difference in differences(a, b)
        if difference[0] not in named and difference[0] != "versions.hebbarium"
    ), alone


Texts = dict[str, dict[str, str]]


def _texts(
    first: RunFolder, second: RunFolder, path: Path | None
) -> tuple[Texts, Texts, list[str]]:
    """Conversation -> event -> text, and session, read from the data of the first run that can
    be read; {} and a note without them.
    """
    if path is not None:
        return *_text_of(first.data(path)), []
    failures = []
    for run in (first, second):
        try:
            return *_text_of(run.data()), []
        except HebbariumError as error:
            failures.append(error.what)
    return {}, {}, [f"events are shown without their texts ({failures[0]}); --data PATH reads them"]


def _text_of(data: Dataset) -> tuple[Texts, Texts]:
    texts, home = Texts(), Texts()
    for conversation in data.conversations:
        text, session = texts.setdefault(conversation.id, {}), home.setdefault(conversation.id, {})
        for event in conversation.events:
            text[event.id], session[event.id] = event.rendered(), event.session
    return texts, home


def _metric(
    name: str, scores: Sequence[tuple[Metrics, Metrics]], clusters: Sequence[str]
) -> MetricPair:
    return _pair(name, [(a.named()[name], b.named()[name]) for a, b in scores], clusters)


def _pair(
    name: str, pairs: Sequence[tuple[float, float]], clusters: Sequence[str], *, lower: bool = False
) -> MetricPair:
    """lower: whether lower values are better."""
    first, second = (sum(pair[side] for pair in pairs) / len(pairs) for side in (0, 1))
    above = sum(a > b for a, b in pairs), sum(b > a for a, b in pairs)
    return MetricPair(
        name,
        first,
        second,
        cluster_t([b - a for a, b in pairs], clusters),
        mcnemar(*(above[::-1] if lower else above)),
    )


def _forbidden(
    first: Mapping[Key, Mapping[str, Any]], second: Mapping[Key, Mapping[str, Any]]
) -> tuple[MetricPair, ...]:
    """The shares of both runs by depth; their difference is negative where the second is better."""
    keys = [key for key, row in first.items() if row.get("forbidden") and key in second]
    shares = [
        tuple(
            forbidden_shares(rows[key]["retrieved"], first[key]["forbidden"])
            for rows in (first, second)
        )
        for key in keys
    ]
    clusters = [conversation for conversation, _ in keys]
    return tuple(
        _pair(name, [(a[name], b[name]) for a, b in shares], clusters, lower=True)
        for name in (shares[0][0] if shares else ())
    )


def _depths(
    pairs: Mapping[Key, tuple[dict[str, Any], dict[str, Any]]],
) -> dict[str, tuple[float, float]]:
    first, second = (
        depth_summary([pair[side]["ranks"] for pair in pairs.values()]) for side in (0, 1)
    )
    return {name: (first[name], second[name]) for name in first}


def _independent(scores: Sequence[tuple[Metrics, Metrics]]) -> Independent:
    hits = [(a.hit_10 > 0.0, b.hit_10 > 0.0) for a, b in scores]
    first, second, n = sum(a for a, _ in hits), sum(b for _, b in hits), len(hits)
    return Independent(
        LABEL,
        wilson(first, n),
        wilson(second, n),
        mcnemar(sum(a and not b for a, b in hits), sum(b and not a for a, b in hits)),
        chi_squared(first, second, n),
    )


def _levels(
    pairs: Mapping[Key, tuple[dict[str, Any], dict[str, Any]]],
    scores: Mapping[Key, tuple[Metrics, Metrics]],
    home: Mapping[str, Mapping[str, str]],
) -> Levels | None:
    if not home:
        return None
    gains = [_recall(scores[key][1]) - _recall(scores[key][0]) for key in pairs]
    return levels(
        gains,
        [conversation for conversation, _ in pairs],
        sessions_of([row for row, _ in pairs.values()], home),
    )


def _recall(metrics: Metrics) -> float:
    return metrics.named()[PRIMARY]


def _other(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    return (
        dict(zip(a["gold"], a["ranks"], strict=True))
        != dict(zip(b["gold"], b["ranks"], strict=True))
        or a["retrieved"] != b["retrieved"]
    )


def _categories(
    pairs: Mapping[Key, tuple[dict[str, Any], dict[str, Any]]],
    scores: Mapping[Key, tuple[Metrics, Metrics]],
) -> dict[str, tuple[int, float, float]]:
    grouped: dict[str, list[tuple[float, float]]] = {}
    for key, (row, _) in pairs.items():
        grouped.setdefault(row["category"], []).append(
            (_recall(scores[key][0]), _recall(scores[key][1]))
        )
    return {
        name: (len(both), sum(a for a, _ in both) / len(both), sum(b for _, b in both) / len(both))
        for name, both in sorted(grouped.items())
    }


def _changed(
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    of_a: Metrics,
    of_b: Metrics,
    texts: Mapping[str, str],
) -> Changed:
    first, second = _recall(of_a), _recall(of_b)
    worse, better = (a, b) if second > first else (b, a)
    seconds = dict(zip(b["gold"], b["ranks"], strict=True))
    gold = tuple(
        GoldPair(id, texts.get(id), place, seconds[id])
        for id, place in zip(a["gold"], a["ranks"], strict=True)
    )
    instead = tuple(
        (id, texts.get(id))
        for id in worse["retrieved"]
        if id not in better["retrieved"] and id not in a["gold"]
    )
    return Changed(
        a["conversation"],
        a["question"],
        a["category"],
        a.get("question_text") or b.get("question_text", ""),
        a.get("answer") or b.get("answer", ""),
        first,
        second,
        gold,
        instead,
    )


def to_json(result: Comparison) -> dict[str, Any]:
    """Plain data for `json.dumps`."""
    return {
        **asdict(result),
        "differing": [{"field": name, "first": a, "second": b} for name, a, b in result.differing],
    }


def lines(result: Comparison) -> list[str]:
    """The comparison that treats questions as independent, and the levels, as sentences."""
    comparison = result.independent
    shares = " -> ".join(
        f"{share.share:.4f} [{share.low:.4f}, {share.high:.4f}]"
        for share in (comparison.first, comparison.second)
    )
    pearson = (
        ""
        if comparison.chi_squared.p is None
        else f"; chi-squared {comparison.chi_squared.statistic:.2f}, p {comparison.chi_squared.p:.3g}"
    )
    lines = [
        f"hit@10 {shares} (Wilson); McNemar {comparison.mcnemar.first_only} against "
        f"{comparison.mcnemar.second_only}, exact, p {comparison.mcnemar.p:.3g}{pearson}; {comparison.label}"
    ]
    if result.levels:
        known = result.levels
        sds = (
            ("conversations", known.conversations),
            ("sessions of a conversation", known.sessions),
            ("questions of a session", known.questions),
        )
        lines.append(
            "standard deviation of the difference: "
            + ", ".join(f"{value:.3f} between {name}" for name, value in sds if value is not None)
            + f" ({known.n_questions} questions with gold of one session)"
        )
        if known.alone and known.alone.p is not None:
            lines.append(
                f"over the {known.n_sessions} sessions of this conversation p is {known.alone.p:.3g}; this speaks for no other conversation"
            )
    return lines


def to_html(result: Comparison, path: Path) -> Path:
    """Write the page, whole or not at all.  Raises HebbariumError."""
    made = environment(Path(__file__).parent.parent / "templates")
    made.filters.update(shown=shown, signed=signed)
    write_whole(
        path,
        [
            made.get_template("compare.html.j2").render(
                result=result, primary=PRIMARY, lines=lines(result)
            )
        ],
    )
    return path
