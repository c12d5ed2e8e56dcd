"""Numbers, names and conclusions of a design as text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any, Final

from ...reporting.text import plural, visible
from ..scores.comparison import ALPHA, Correction, Verdict, both_scopes
from ..scores.detectable import WIDEST, Detectable
from ..scores.power import MOST
from ..systems.base import Capability
from .learning_curve import said
from .result import CONVERSATIONS, BlockResult, DesignResult, Estimate
from .stored import few_stored

Fragment = tuple[str, bool]  # a piece of a sentence, and whether it is the name of an arm

NO_OP: Final = "no-op: changed nothing"
STATE_ONLY: Final = Verdict.STATE_ONLY.value
MEANING: Final = {
    Verdict.NO_OP: "the removal changed no rank of any question, and no receipt says that the mechanism wrote a value",
    Verdict.STATE_ONLY: "the removal changed no rank of any question, although by its receipt the mechanism wrote values in the full run",
    Verdict.EQUIVALENT: "the 90% interval lies inside the margin: the effect, if any, is smaller than the margin",
    Verdict.HELPS: "significantly above 0 after correction: the set is better with it",
    Verdict.HURTS: "significantly below 0 after correction: the set is better without it",
    Verdict.UNDECIDED: "none of these: smaller effects than those of the column “decided from” are neither shown nor excluded",
}
# of estimates that are not the full set minus an arm, such as an arm minus the full set
OF_ESTIMATES: Final = {
    **MEANING,
    Verdict.HELPS: "significantly above 0 after correction: the score rises",
    Verdict.HURTS: "significantly below 0 after correction: the score falls",
}
_PHRASES = {
    Verdict.HELPS: ("helps", "help"),
    Verdict.HURTS: ("hurts", "hurt"),
    Verdict.NO_OP: ("changed nothing", "changed nothing"),
    Verdict.STATE_ONLY: ("changed state but no rank", "changed state but no rank"),
    Verdict.UNDECIDED: ("is undecided", "are undecided"),
}
LEARNS: Final = Capability.LEARNS.value
SCOPES: Final = (
    "Here: for these conversations; the question is the unit (flips and resamples inside each conversation, p by "
    "Romano and Wolf's step-down over the family). Quote it for a claim about these data, as papers do. "
    "Beyond: for conversations like these; the conversation is the unit. Quote it for a claim about "
    "conversations that were not measured."
)
_NAMED = 4  # arms that a sentence names at most


# ---- numbers and names


def signed(value: float | None, digits: int = 4) -> str:
    """A difference with its sign (a true minus); zero has none.

    >>> signed(0.01234), signed(-0.00001), signed(None)
    ('+0.0123', '0.0000', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{abs(value):.{digits}f}"
    return text if not float(text) else ("+" if value > 0 else "−") + text


def size(value: float | None, digits: int = 4) -> str:
    """The size of an effect either way; a dash where there is none.

    >>> size(0.01234), size(None)
    ('±0.0123', '–')
    """
    return "–" if value is None else f"±{value:.{digits}f}"


def p_text(p: float | None) -> str:
    """A p-value to three digits.

    >>> p_text(0.001953125), p_text(1.0), p_text(1e-6)
    ('0.00195', '1', '<0.0001')
    """
    return "–" if p is None else "<0.0001" if p < 1e-4 else f"{p:.3g}"


def interval_text(ends: Sequence[float | None] | None, digits: int = 4) -> str:
    """An interval in brackets, or a dash where there is none.

    >>> interval_text((-0.01, 0.02)), interval_text(None)
    ('[−0.0100, +0.0200]', '–')
    """
    return (
        "–"
        if not ends or None in ends
        else f"[{signed(ends[0], digits)}, {signed(ends[1], digits)}]"
    )


def number(value: float | int | None, digits: int = 4) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def label(arm: Estimate) -> str:
    """The arm's id, with a dagger if it removes more than it names."""
    return visible(arm.name) + (" †" if arm.silenced else "")


def still(arm: Estimate) -> str:
    """What an arm that changed no rank did."""
    return STATE_ONLY if arm.verdict is Verdict.STATE_ONLY else NO_OP


def verdict_text(arm: Estimate, result: BlockResult) -> str:
    """The verdicts of both scopes, to quote."""
    return both_scopes(arm.verdict_here, arm.verdict, arm.primary.more, result.clusters)


def more_short(more: int | None) -> str:
    """A number of further conversations in a column.

    >>> more_short(12), more_short(1001), more_short(None)
    ('12', '>1,000', '–')
    """
    return "–" if more is None else f">{MOST:,}" if more > MOST else f"{more:,}"


def percent(level: float) -> str:
    return f"{100 * level:g}%"


# ---- conclusions


def headline(result: BlockResult) -> list[Fragment]:
    """What was found, as a sentence on the verdicts and, for undecided arms, on what the design
    could not show.
    """
    n, order = len(result.estimates), (Verdict.HELPS, Verdict.HURTS, Verdict.EQUIVALENT, Verdict.NO_OP,
                                  Verdict.STATE_ONLY,
                                   Verdict.UNDECIDED)  # fmt: skip
    groups = [(word, arms) for word in order if (arms := result.judged(word))]
    if len(groups) < 2:
        who = {0: "No arm", 1: "The only arm", 2: "Both arms"}.get(n, f"All {n:,} arms")
        what = _phrase(groups[0][0], n, result.margin) if groups else "was run"
        fragments: list[Fragment] = [
            (f"{who} {what}", False),
            *(_in_brackets(result.estimates) if n == 1 else ()),
        ]
    else:
        fragments = [(f"Of {n:,} arms, ", False)]
        for i, (word, arms) in enumerate(groups):
            link = "" if not i else " and " if i == len(groups) - 1 else ", "
            fragments.append(
                (f"{link}{len(arms):,} {_phrase(word, len(arms), result.margin)}", False)
            )
            if word is not Verdict.UNDECIDED or len(arms) <= _NAMED:
                fragments += _in_brackets(arms)
    few = few_stored(
        (arm.receipt.gate.judged, arm.receipt.gate.stored)
        for arm in result.estimates
        if arm.receipt and arm.receipt.gate
    )
    return [
        *fragments,
        (".", False),
        *(
            (f" {sentence}", False)
            for sentence in (*filter(None, [few]), *limits(result), *here_only(result))
        ),
    ]


def with_own_data(result: BlockResult) -> tuple[str, ...]:
    """Commands from an export of one's chats to this ablation of them, if the data were composed
    for the demo; else none.
    """
    if result.dataset != "demo":
        return ()
    return (
        "hebbarium import EXPORT --to mine",
        "hebbarium data ask mine",
        f"hebbarium ablate --set {result.facts.set} --dataset conversations --data mine --out out/mine",
    )


def here_only(result: BlockResult) -> list[str]:
    """One sentence on the verdicts for these conversations; [] if they were not tested."""
    live = [arm for arm in result.ordered() if arm.verdict_here is not None and not arm.no_op]
    if not live:
        return []
    counts = [
        (word, sum(arm.verdict_here is word for arm in live))
        for word in (Verdict.HELPS, Verdict.HURTS, Verdict.EQUIVALENT, Verdict.UNDECIDED)
    ]
    parts = [
        f"{n} {'is' if n == 1 else 'are'} {word.value}"
        if word in (Verdict.EQUIVALENT, Verdict.UNDECIDED)
        else f"{n} {_PHRASES[word][n > 1]}"
        for word, n in counts
        if n
    ]
    return [f"For these {result.clusters} alone: {', '.join(parts)}."]


def _phrase(word: Verdict, n: int, margin: float) -> str:
    if word is Verdict.EQUIVALENT:
        return f"{'is' if n == 1 else 'are'} equivalent to the full set within ±{margin:g}"
    return _PHRASES[word][n > 1]


def limits(result: BlockResult) -> list[str]:
    """What the design could not have shown: one sentence on effects, one on equivalence, each
    only if it bears on an undecided arm.
    """
    undecided = result.judged(Verdict.UNDECIDED)
    if not undecided:
        return []
    if result.n_conversations == 1:
        cluster = result.clusters.removesuffix("s")
        return [
            f"One {cluster} shows no spread between {result.clusters}, so this design decides no arm, whatever it does."
        ]
    sentences = []
    arms = "the undecided arm" if len(undecided) == 1 else "the undecided arms"
    needed = sorted(arm.primary.smallest for arm in undecided if arm.primary.smallest is not None)
    shown = [share for share in needed if share < WIDEST]
    if shown:
        spread = (
            ""
            if len(shown) == 1
            else f" in the median ({size(shown[0])} to {size(shown[-1])}, depending on the arm)"
        )
        of = arms if len(shown) == len(needed) else f"{len(shown)} of {arms}"
        sentences.append(
            f"For {of} this design could have shown effects of {size(median(shown))} or more{spread}; "
            f"smaller ones are neither shown nor excluded."
        )
    if len(shown) < len(needed):
        sentences.append(
            f"For {'the others' if shown else arms} this design could have shown no effect: it would have to be larger than 1, and no "
            "two scores differ by more."
        )
    if result.n_questions < result.enough_questions:
        unit = "question" if result.clusters == CONVERSATIONS else result.clusters[:-1]
        sentences.append(
            f"Equivalence within ±{result.margin:g} cannot be shown with {plural(result.n_questions, unit)}: "
            f"it needs {result.enough_questions:,} or more."
        )
    return sentences


def expected(result: BlockResult) -> list[str]:
    """What the design can detect, as printed before the run; empty for a result without
    provenance.
    """
    expected = result.provenance.get("expected")
    return Detectable(**expected).lines() if expected else []


def notes(arm: Estimate, result: BlockResult) -> list[str]:
    """What a reader of the arm's row must know."""
    sentences, d = [], arm.primary
    if arm.verdict is Verdict.UNDECIDED:
        if result.n_conversations == 1:
            cluster = result.clusters.removesuffix("s")
            sentences.append(f"one {cluster} shows no spread between {result.clusters}")
        elif not d.se and not d.mean:
            sentences.append(f"no {result.metric} changed; too few questions to show equivalence")
        elif not d.se:
            sentences.append(
                "the mean change is the same in every conversation, which leaves no spread to judge by"
            )
    if arm.silenced:
        sentences.append(confounded(arm))
    return sentences


def confounded(arm: Estimate) -> str:
    """Why the arm removes more than it names, and which arm to read instead."""
    n = len(arm.silenced)
    others = (
        f"the signals of {plural(n, 'other mechanism')} ({', '.join(map(visible, arm.silenced))})"
    )
    fair = (
        f"read the fair arm {' or '.join(map(visible, arm.fair))}"
        if arm.fair
        else "the set names no alternate for it, so there is no fair arm"
    )
    return f"† also removes {others}: without {visible(arm.name)} no step reads them, and the ranking falls back to the match; {fair}"


def family(result: BlockResult) -> str:
    """Which arms were corrected together."""
    run, designed = len(result.estimates), result.facts.n_designed
    if run < designed:
        return (
            f"{run} of the {designed} arms of the design were run (--arms), and p-values are corrected over these {run}; "
            f"they must have been chosen before any result was seen"
        )
    return f"all {plural(run, 'arm')} of the table, which are all that the design has"


def beside_note(result: BlockResult) -> str:
    """What the rows of other systems are, and of which a reader should know that rehearsal does
    not change them.
    """
    known = (
        f"{percent(result.facts.level)} interval and p: cluster-robust t-test, each system alone; these rows are no part of the family and decide "
        f"no verdict."
    )
    fixed = (
        [visible(s.id) for s in result.beside if LEARNS not in s.capabilities]
        if result.provenance.get("rehearse") is not None
        else []
    )
    return (
        f"Other systems on the same questions, for comparison. {known} Difference: full set minus the system."
        + (
            f" Rehearsal changes no answer of {' and '.join(fixed)}, which does not learn from recall."
            if fixed
            else ""
        )
    )


def legend(result: BlockResult) -> list[str]:
    """How the table is read, as sentences."""
    p, m, corrected = result.smallest_p, len(result.estimates), _correction(result)
    how = "exact" if result.exact else f"{result.facts.n_flips:,} drawn patterns"
    what = (
        "Differences: full minus arm; positive: the mechanism helps."
        if result.removes
        else "Estimates: weighted sums of the arms' values of one question, averaged over questions."
    )
    return [
        f"{what} Family: {family(result)}.",
        f"Interval ({percent(result.facts.level)}), p and Holm p: cluster-robust t-test over {result.clusters} (CR2, Satterthwaite), the test of record. "
        f"Flip p: sign flip of {result.clusters} ({how}); its smallest p is {p_text(p)}, after correction {p_text(min(1.0, max(m, 1) * p))}.",
        f"Verdict: helps or hurts if {corrected} p <= {ALPHA:g}; equivalent if the {percent(1 - 2 * ALPHA)} interval lies inside ±{result.margin:g}; "
        f"else undecided. Decided from: the smallest effect that would have been significant.",
        f"More: about how many more {result.clusters} like these would show an effect of ±{result.margin:g} with 80% power, before correction. BH p: "
        f"Benjamini and Hochberg.",
        *([SCOPES] if any(arm.here for arm in result.estimates) else []),
        *scale(result),
    ]


def _correction(result: BlockResult) -> str:
    return "BH" if result.facts.correction == Correction.BENJAMINI_HOCHBERG else "Holm"


def scale(result: BlockResult) -> list[str]:
    """Chance level and pool size, a warning where an answer takes its whole pool, and seeds; []
    if they were not computed.
    """
    sentences = []
    if result.pool:
        pool = result.pool
        level = (
            f"; a random ranking has a {result.metric} of {number(result.chance[result.metric])}"
            if result.metric in result.chance
            else ""
        )
        if result.metric in result.oracle:
            level += f", all evidence first {number(result.oracle[result.metric])}, no memory 0"
        sentences.append(
            f"Pool: {pool.smallest:,} to {pool.largest:,} items, median {pool.middle:,g}{level}."
        )
        sentences += [f"Warning: {pool.warning}."] if pool.warning else []
    if result.seeds_sd is not None and result.clusters == CONVERSATIONS:
        sentences.append(
            f"Seeds: {', '.join(map(str, result.facts.seeds))}, averaged within each question; the {result.metric} of the full set has a standard "
            f"deviation of {number(result.seeds_sd)} over them."
        )
    return sentences


def _in_brackets(arms: Sequence[Estimate]) -> Iterable[Fragment]:
    """The names of the first arms, and how many more there are."""
    named, rest = arms[:_NAMED], len(arms) - _NAMED
    yield " (", False
    for i, arm in enumerate(named):
        if i:
            yield (" and " if i == len(named) - 1 and rest <= 0 else ", "), False
        yield label(arm), True
    yield f" and {rest} more)" if rest > 0 else ")", False


# ---- provenance


def provenance(result: BlockResult, made: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Everything that decides the result, and how the report was made, as names and values.

    made  of the design: fields of `provenance.Made`
    """
    manifest: Any = result.provenance
    how = [
        ("Command", made.get("command_line") or "made from Python"),
        ("Date", made.get("date", "–")),
        ("Machine", f"{made.get('platform', '–')}, {plural(made.get('cores', 0), 'core')}"),
        ("Design", f"{result.facts.kind}, {result.facts.source}"),
    ]
    data = f"{result.dataset}, SHA-256 {result.dataset_sha256 or '–'}"
    seeds = ("Seed", ", ".join(map(str, result.facts.seeds)))
    code = ("Code", result.facts.version or "–")
    if not manifest.get("versions"):
        embedder = ("Embedder", result.embedder or "–")
        pairs = [*how, ("Data", data), embedder, seeds, code]
        return [(name, visible(str(value))) for name, value in pairs]
    hours = manifest["rehearse"]
    overrides = [
        f"{id}.{name}={value}"
        for id, values in manifest["param"].items()
        for name, value in values.items()
    ]
    pairs = [
        *how,
        ("Data", data),
        ("Unit", f"one event is a {manifest['unit']}"),
        (
            "Embedder",
            f"{manifest['embedder']}, revision {manifest['embedder_revision']}, {manifest['embedder_dimensions']} dimensions",
        ),
        ("Mechanism set", f"{result.facts.set}, digest {manifest['set_digest']}"),
        (
            "Beside",
            "; ".join(
                f"{s.id}{f', revision {s.revision}' if s.revision else ''} ({', '.join(s.capabilities) or 'no capabilities declared'})"
                for s in result.beside
            )
            or "no other system",
        ),
        ("Left off", ", ".join(manifest["without"]) or "none"),
        ("Overrides", ", ".join(overrides) or "none"),
        (
            "Rehearsal",
            "none: each question is asked once"
            if hours is None
            else f"all questions asked first {hours:g} h before",
        ),
        ("Feedback", said(manifest.get("feedback", "none"))),
        seeds,
        ("Registry", manifest["registry_digest"]),
        code,
        (
            "Versions",
            ", ".join(f"{name} {version}" for name, version in manifest["versions"].items()),
        ),
    ]
    return [(name, visible(str(value))) for name, value in pairs]


def bibtex(result: DesignResult) -> str:
    """Entries of exactly what was used; "" if the report was made without them."""
    return str(result.made.get("bibtex", ""))
