"""Evidence for stage_detection: turning points by brute force, the boundaries of composed talks,
which are known, and a scripted language model.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import DRAFTS, KIND, STAGE
from ...engine.ports.language_model import Reply, Request, Status
from ..checks import adaptation, at_most, equation, limit, mutant, reference
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, hashing, memory_of, neighbour
from .shared.scripts import drafting, refusing
from .shared.tellings import as_happened, tell

TOPICS = (
    "boat mast sail harbour keel rope anchor tide deck oar",
    "oven bread flour yeast crust butter dough salt rye loaf",
    "train ticket platform station luggage delay seat track border carriage",
    "garden tulip spade soil seed fence hedge compost rake bulb",
    "violin bow string concert tune choir stage score drum note",
    "doctor knee pain plaster clinic nurse pill bandage x-ray crutch",
    "budget rent loan bank tax invoice salary saving bill cheque",
    "kitten vet collar basket fur whisker paw purr litter milk",
)
COMMON = ("today", "really", "think", "maybe", "good", "went", "again", "later", "there", "always")


def composed(
    seed: int, own: int = 3, topics: int = len(TOPICS)
) -> tuple[list[str], NDArray[np.int64]]:
    """A talk of eight topics, or fewer, in random order, and the first event of each: of six words
    of a text `own` are of its topic.
    """
    rng, texts, starts = np.random.default_rng(seed), list[str](), list[int]()
    for topic in rng.permutation(len(TOPICS))[:topics]:
        starts.append(len(texts))
        words = TOPICS[topic].split()
        texts += [
            " ".join(
                [
                    *rng.choice(words, own, replace=False),
                    *rng.choice(COMMON, 6 - own, replace=False),
                ]
            )
            for _ in range(rng.integers(10, 30))
        ]
    return texts, np.array(starts)


def window_diff(truth: NDArray[np.int64], boundaries: NDArray[np.int64], n: int) -> float:
    """WindowDiff (Pevzner & Hearst 2002): share of windows of half the mean stage in which the
    numbers of boundaries differ.
    """
    k = round(n / len(truth) / 2)
    counts = [
        np.array([np.sum((starts > i) & (starts <= i + k)) for i in range(n - k)])
        for starts in (truth, boundaries)
    ]
    return float(np.mean(counts[0] != counts[1]))


def lived(specimen: Any, texts: Sequence[str], **values: Any) -> NDArray[np.int64]:
    memory = memory_of(
        specimen, embedder=hashing(256), consolidate_every=1e6, by="semantic", **values
    )
    for i, text in enumerate(texts):
        memory.encode(Event(0.1 * i, text, dated=False))
    return memory.column(STAGE).copy()


def turns(
    s: Sequence[float],
) -> tuple[list[tuple[float, float, int, float]], tuple[float, float, int, float]]:
    """(peak, lowest, place of the lowest, next peak) of each finished valley, and of the last
    one so far: by walking down and up again.
    """
    valleys, i = list[tuple[float, float, int, float]](), 0
    while True:
        j = i
        while j + 1 < len(s) and s[j + 1] <= s[j]:
            j += 1
        k = j
        while k + 1 < len(s) and s[k + 1] >= s[k]:
            k += 1
        valley = (s[i], s[j], j, s[k])
        if k == len(s) - 1:
            return valleys, valley
        valleys.append(valley)
        i = k


def brute(vectors: NDArray[np.float64], w: int, spread: float) -> list[int]:
    """First events of stages, by the definition, with all gaps computed anew after each event."""
    starts = [0]
    s = [
        float(
            np.dot(a := vectors[g - w : g].sum(0), b := vectors[g : g + w].sum(0))
            / np.linalg.norm(a)
            / np.linalg.norm(b)
        )
        for g in range(w, len(vectors) - w + 1)
    ]
    for known in range(1, len(s) + 1):
        finished, (left, low, place, right) = turns(s[:known])
        depths = [a + b - 2.0 * v for a, v, _, b in finished]
        if (
            depths
            and right > low
            and left + right - 2.0 * low > np.mean(depths) + spread * np.std(depths)
            and place + w not in starts
        ):
            starts.append(place + w)
    return starts


@equation("SD-1", source="definition: cosine of sums, by numpy; 0 where a sum is 0")
def similarity_is_the_cosine_of_two_sums(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    given = [
        length * rng.normal(size=(2 * w, d))
        for w in (1, 2, 5)
        for d in (2, 7)
        for length in (1.0, 0.01)
    ]
    opposed, alike = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 0.0]])
    none = [
        specimen.similarity(np.concatenate(halves))
        for halves in ((opposed, alike), (alike, opposed), (opposed, opposed))
    ]
    expected = [
        v[: len(v) // 2].sum(0)
        @ v[len(v) // 2 :].sum(0)
        / np.linalg.norm(v[: len(v) // 2].sum(0))
        / np.linalg.norm(v[len(v) // 2 :].sum(0))
        for v in given
    ]
    return [*(specimen.similarity(v) for v in given), *none], [*expected, 0.0, 0.0, 0.0]


@equation(
    "SD-2",
    source="brute force: walking down and up from each peak; one in four values repeats the one before",
)
def one_pass_finds_the_depths_of_all_valleys(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(2), [], []
    for _ in range(30):
        s = rng.normal(size=25)
        s[1:] = np.where(rng.random(24) < 0.25, s[:-1], s[1:])
        valley, depths = np.full(3, np.nan), np.zeros(3)
        lowest = [bool(specimen.follow(valley, depths, similarity)) for similarity in s]
        finished, (left, low, _, right) = turns(s.tolist())
        deep = np.array([a + b - 2.0 * v for a, v, _, b in finished])
        measured += [*valley, *depths, *lowest]
        expected += [left, low, right, len(deep), deep.sum(), (deep ** 2).sum(),
                     *(turns(s[:n].tolist())[1][2] == n - 1 for n in range(1, 26))]  # fmt: skip
    return measured, expected


@equation("SD-3", source="definition: mean and standard deviation by numpy")
def a_deep_valley_exceeds_mean_and_half_a_deviation(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(3), [], []
    for n in (0, 1, 2, 5, 9):
        earlier = rng.random(n)
        for depth in np.linspace(0.05, 1.45, 8):
            valley, depths = (
                np.array([0.9 * depth, 0.1, 0.1 * depth + 0.2]),
                np.array([n, earlier.sum(), (earlier**2).sum()]),
            )
            measured.append(bool(specimen.deep(valley, depths, 0.5)))
            expected.append(bool(n and depth > earlier.mean() + 0.5 * earlier.std()))
    return [
        *measured,
        bool(specimen.deep(np.array([0.75, 0.25, 0.75]), np.array([1.0, 1.0, 1.0]), 0.5)),
    ], [*expected, False]


@equation("SD-4", source="brute force: all gaps anew after each event")
def in_a_memory_stages_begin_in_the_deep_valleys(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(4), [], []
    for w, spread in ((5, 0.5), (2, 1.0)):
        topics = rng.normal(size=(9, 24))
        vectors = {f"text {i}": topics[i // 13] + 1.2 * rng.normal(size=24) for i in range(9 * 13)}
        memory = memory_of(
            specimen,
            embedder=Scripted(vectors),
            consolidate_every=1e6,
            by="semantic",
            window=w,
            spread=spread,
        )
        for i, text in enumerate(vectors):
            memory.encode(Event(0.1 * i, text, dated=False))
        unit = np.array([v / np.linalg.norm(v) for v in vectors.values()])
        measured.append(sorted(set(memory.column(STAGE).tolist())))
        expected.append(sorted(brute(unit, w, spread)))
        assert memory.column(STAGE).tolist() == [
            max(s for s in measured[-1] if s <= row) for row in range(len(vectors))
        ]
    return [str(stages) for stages in measured], [str(stages) for stages in expected]


@reference(
    "SD-5",
    source="talks composed of eight topics with known boundaries; WindowDiff of Pevzner & Hearst 2002",
    papers=("pevzner2002critique",),
)
def boundaries_are_nearer_to_the_truth_than_fixed_cuts(specimen: Any) -> Any:
    """Mean over six talks in which half the words are of the topic, and over six in which five
    of six are; fixed cuts have the true mean length.
    """
    for own in (3, 5):
        differences, fixed = [], []
        for seed in range(6):
            texts, truth = composed(seed, own)
            fixed.append(
                window_diff(
                    truth, np.arange(0, len(texts), round(len(texts) / len(truth))), len(texts)
                )
            )
            differences.append(window_diff(truth, np.unique(lived(specimen, texts)), len(texts)))
        yield at_most(np.mean(differences) / np.mean(fixed), 0.75)


@adaptation(
    "SD-6",
    source="definition: plan, else session; a plan or session that returns goes on with its stage; by hand",
)
def labels_are_plans_and_sessions(specimen: Any) -> Any:
    memory = memory_of(specimen, by="labels")
    told = (("", "S1"), ("", "S1"), ("p", "S1"), ("p", "S2"), ("", "S2"), ("", "S1"), ("", ""),
            ("q", ""), ("p", "S3"), ("S1", "S4"))  # fmt: skip
    for i, (plan, session) in enumerate(told):
        memory.encode(
            Event(
                100.0 * i,
                f"text {i}",
                session=session,
                attributes=(("plan", plan),) if plan else (),
                dated=False,
            )
        )
    return memory.column(STAGE), [0, 0, 2, 2, 4, 0, -1, 7, 2, 9]


@adaptation(
    "SD-7",
    source="definition: a gap of 6 h or more, in simulated time, after an event was told, whenever it happened; by hand",
)
def gaps_in_time_end_a_stage(specimen: Any) -> Any:
    measured = []
    for scale in (1.0, 2.0):
        memory = memory_of(specimen, time_scale=scale, by="gap")
        for i, time in enumerate((0.0, 5.9, 11.0, 17.0, 18.0, 23.5, 29.9, 41.9)):
            happened = time - 7.0 * (time == 18.0)
            tell(memory, time, Event(happened, f"text {i}", session=f"S{i}", dated=False))
        measured.append(memory.column(STAGE))
    return np.concatenate(measured), [0, 0, 0, 3, 3, 3, 6, 7, 0, 0, 0, 0, 0, 0, 0, 7]


@limit(
    "SD-7b",
    source="definition: a gap is between events, not from a row that sleep made of an earlier one; by hand",
)
def made_rows_are_no_end_of_a_gap(specimen: Any) -> Any:
    """The third event is 4 h after the second, and 7 h after the first, of which a row was made."""

    memory = memory_of(
        specimen, drafting(Draft("a note", Kind.SUMMARY, (0,))), consolidate_every=3.5, by="gap"
    )
    told = [memory.encode(Event(t, f"text {t}", dated=False)).row for t in (0.0, 3.0, 7.0)]
    return memory.column(STAGE)[np.array(told, np.int64)], [0, 0, 0]


@limit(
    "SD-8",
    source="definition: rows that the memory makes keep the stage they are given and are in no window; vetoed events end none",
)
def made_rows_and_vetoed_events_do_not_count(specimen: Any) -> Any:
    def note(view: Any, tick: Any) -> None:
        marked[len(view.stage)] = int(view.stage[-1])
        view.drafts.add(Draft("a note", Kind.SUMMARY, (0,), stage=int(view.stage[-1])))

    texts, marked = composed(0)[0], dict[int, int]()
    vectors = {text: hashing(64).embed([text])[0] for text in (*texts, "a note", "refused")}
    plain, mixed = (
        memory_of(
            specimen,
            *others,
            embedder=Scripted(vectors),
            consolidate_every=2.5 if others else 1e6,
            by="semantic",
        )
        for others in (
            (),
            (
                neighbour(Phase.CONSOLIDATE, note, reads=(STAGE,), adds=(DRAFTS,), id="note"),
                refusing("refused"),
            ),
        )
    )
    rows = []
    for i, text in enumerate(texts):
        plain.encode(Event(0.1 * i, text, dated=False))
        if i % 7 == 3:
            mixed.encode(Event(0.1 * i, "refused", dated=False))
        row = mixed.encode(Event(0.1 * i, text, dated=False))
        assert row.stored
        rows.append(row)
    stage = mixed.column(STAGE)
    made = np.setdiff1d(np.arange(len(stage)), np.array(rows))
    place = {row: i for i, row in enumerate(rows)}
    assert (
        made.tolist() == list(marked)
        and made.size > 3
        and len(set(plain.column(STAGE).tolist())) > 4
    )
    return [*(place.get(row, -1) for row in stage[rows].tolist()), *stage[made]], [
        *plain.column(STAGE),
        *marked.values(),
    ]


@limit(
    "SD-9",
    source="definition: without an event before it, an event begins a stage; too few events have one stage; labels are told apart",
)
def a_first_event_begins_a_stage(specimen: Any) -> Any:
    measured = [lived(specimen, composed(1)[0][:n]).tolist() for n in (1, 9, 10)]
    numbers = [
        specimen.label(plan, session)
        for plan in ("", "a", "b", "session a", "\ud800")
        for session in ("", "a", "c")
    ]
    last = [
        specimen.last_events(np.array(kind, np.int8), 2).tolist()
        for kind in ([0], [0, 3, 3, 3, 0, 3], [3, 3], [0, 0, 0])
    ]
    bits = [
        int(blake2b(text.encode(), digest_size=8).hexdigest(), 16) // 2
        for text in ("plan a", "session c")
    ]
    return [
        str(measured),
        len(set(numbers)),
        min(numbers),
        specimen.label("a", "c"),
        specimen.label("", "c"),
        str(last),
    ], [str([[0], [0] * 9, [0] * 10]), 7, 0, *bits, "[[0], [0, 4], [], [1, 2]]"]


class StageReader:
    """A language model that knows whether each message begins a stage.  Its replies are bad in turn
    if `bad` holds statuses or texts.

    prompts      of the requests, by batch
    most_tokens  of the replies
    good         messages in the requests with a good reply
    """

    name, revision = "reader", "1"

    def __init__(self, begins: Any, bad: Sequence[str] = ()) -> None:
        self.begins, self.bad, self.number = begins, bad, 0
        self.prompts, self.most_tokens, self.good = list[list[str]](), list[int](), list[str]()

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        self.prompts.append([request.prompt for request in requests])
        self.most_tokens += [request.most_tokens for request in requests]
        return [self._reply(request) for request in requests]

    def _reply(self, request: Request) -> Reply:
        self.number += 1
        if self.bad and self.number % 2 == 0:
            text = self.bad[self.number // 2 % len(self.bad)]
            return (
                Reply(Status(text), {"begins": []})
                if text in list(Status)
                else Reply.read(request, text)
            )
        self.good += block_of(request.prompt)
        return Reply.read(
            request,
            json.dumps(
                {
                    "begins": [
                        n for n, text in enumerate(block_of(request.prompt), 1) if self.begins(text)
                    ]
                }
            ),
        )


def block_of(prompt: str) -> list[str]:
    """The messages that a request numbers, read back from its prompt."""
    return [
        json.loads(line.partition(" ")[2])
        for line in prompt.rpartition("MESSAGES\n")[2].splitlines()
    ]


def by_model(
    specimen: Any, texts: Sequence[str], model: Any, by: str = "model", **values: Any
) -> Any:
    """A memory that sleeps once in 20 or 30 events, after a late boundary of an earlier day was
    found, too.
    """
    memory = memory_of(
        specimen,
        embedder=hashing(256),
        consolidate_every=2.5,
        by=by,
        language_model=model,
        **values,
    )
    for i, text in enumerate(texts):
        memory.encode(Event(0.1 * i, text, dated=False))
    memory.advance(0.1 * len(texts) + 2.5)
    return memory


@adaptation(
    "SD-10",
    source="reference: what the model said of an event it was asked about, else what similarity finds, put together at the end",
)
def a_model_corrects_the_stages_and_bad_replies_leave_them(specimen: Any) -> Any:
    """Every second reply is bad: no JSON, half of it, another schema, numbers outside the block,
    too many, a time-out, a refusal, an error, none.
    """
    bad = ("", '{"begins": [1', '{"begins": 1}', '{"begins": [], "x": 1}', '{"begins": [0]}',
           '{"begins": [99]}', '{"begins": [1, 1, 1, 1, 1, 1]}',
           *(status.value for status in Status if status is not Status.OK))  # fmt: skip
    for seed, block in ((0, 7), (1, 12), (2, 3), (3, 40)):
        measured, expected = list[list[int]](), list[list[int]]()
        # half of the topics, which are more events than the longest block and 26 replies for the
        # shortest: more than there are bad ones
        texts, truth = composed(seed, topics=4)
        texts = [f"{text} {i}" for i, text in enumerate(texts)]
        starts = {texts[row] for row in truth}
        similar = by_model(specimen, texts, None, "semantic").column(STAGE)
        for bad_ones in ((), bad):
            model = StageReader(starts.__contains__, bad_ones)
            measured.append(by_model(specimen, texts, model, block=block).column(STAGE).tolist())
            begins = [
                i
                for i, text in enumerate(texts)
                if (text in starts if text in model.good else similar[i] == i) or i == 0
            ]
            expected.append([max(s for s in begins if s <= i) for i in range(len(texts))])
        yield list(map(str, measured)), list(map(str, expected))
        assert (
            measured[-2]
            == [int(truth[truth <= i][-1]) for i in range(len(texts))]
            != measured[-1]
            != similar.tolist()
        )


@adaptation(
    "SD-10b",
    source="by hand: a stage begins where the model says so, or, of what it was not asked, where similarity found that it begins",
)
def stages_are_corrected_in_order(specimen: Any) -> Any:
    begins, goes_on = specimen.BEGINS, specimen.GOES_ON
    cases = (
        ([5, 6, 7], [4, 4, 7], [0, 0, 0], (0, 0), [4, 4, 7]),
        ([5, 6, 7], [0, 0, 7], [goes_on, begins, goes_on], (0, 0), [0, 6, 6]),
        ([5, 6], [5, 5], [goes_on, 0], (2, 2), [2, 2]),
        ([5, 6], [2, 2], [0, 0], (2, 4), [4, 4]),
        ([0, 1], [0, 0], [goes_on, 0], (-1, -1), [0, 0]),
    )
    return [str(list(specimen.corrected(*given))) for *given, _ in cases], [
        str(by_hand) for *_, by_hand in cases
    ]


@adaptation(
    "SD-10c",
    source="by hand: the text of a request, and the most boundaries that its schema allows: one for three events",
)
def a_request_numbers_the_messages_of_its_block(specimen: Any) -> Any:
    first, later = (
        specimen.division_request([], ["a", "y" * 300, "z" * 301]),
        specimen.division_request(["b"], [f"m{i}" for i in range(10)]),
    )
    most = [
        specimen.division_request([], ["x"] * n).schema["properties"]["begins"]["maxItems"]
        for n in (1, 3, 4, 10)
    ]
    return [first.prompt, *later.prompt.splitlines()[:5], str(most)], [
        "\n".join(["MESSAGES", '1 "a"', f'2 "{"y" * 300}"', f'3 "{"z" * 300}..."']),
        "BEFORE",
        '- "b"',
        "",
        "MESSAGES",
        '1 "m0"',
        "[1, 1, 2, 4]",
    ]


@limit(
    "SD-11",
    source="definition: without a model every cell is as with similarity alone, except how far was asked",
)
def without_a_model_nothing_is_corrected(specimen: Any) -> Any:
    uncorrected, expected = (
        by_model(specimen, composed(4)[0], None, by) for by in ("model", "semantic")
    )
    columns = [column for column in uncorrected.store.columns if column is not specimen.STAGE_ASKED]
    assert len(set(expected.column(STAGE).tolist())) > 4
    return (
        [
            *(uncorrected.column(column).tobytes() for column in columns),
            int(uncorrected.column(specimen.STAGE_ASKED)),
        ],
        [
            *(expected.column(column).tobytes() for column in columns),
            len(uncorrected.column(STAGE)),
        ],
    )


@adaptation(
    "SD-12",
    source="by hand: blocks of equal size in one batch, each event once, up to five events before the block, each as one line",
)
def each_event_is_asked_about_once(specimen: Any) -> Any:
    """Sleeps before the events 26 and 51 and at the end; empty, erased and made rows are not
    shown, and a second sleep asks nothing.
    """

    texts = [f"event {i}" for i in range(60)]
    texts[9], texts[20], texts[21] = " ", 'say "1"\n7 "x"', "x" * 999
    model = StageReader(lambda text: False)
    memory = memory_of(
        specimen,
        drafting(Draft("a note", Kind.SUMMARY, (0,))),
        embedder=hashing(32),
        consolidate_every=2.55,
        by="model",
        language_model=model,
        block=10,
    )
    for i, text in enumerate(texts):
        memory.encode(Event(0.1 * i, text, id=f"e{i}", speaker="Ada", dated=False))
        if i == 24:
            memory.erase("e24", confirm=True)
    memory.advance(8.0)
    memory.passing.consolidate(9.0)
    shown = [
        f"Ada: {'x' * 295 + '...' if i == 21 else text}"
        for i, text in enumerate(texts)
        if i not in (9, 24)
    ]
    sizes = [[len(block_of(prompt)) for prompt in batch] for batch in model.prompts]
    before = [
        [json.loads(line[2:]) for line in prompt.splitlines() if line.startswith("- ")]
        for batch in model.prompts
        for prompt in batch
    ]
    asked = [text for batch in model.prompts for prompt in batch for text in block_of(prompt)]
    place = [asked.index(block_of(prompt)[0]) for batch in model.prompts for prompt in batch]
    rows = np.flatnonzero(memory.column(KIND) == 0)
    turn = memory.column(specimen.STAGE_TURN)
    return [str(asked), str(sizes), str([lines for lines in before if lines]), str(model.most_tokens),
            str(turn[rows].tolist()), int(turn.sum()),
            len(rows)], [
        str(shown), "[[8, 8, 8], [9, 8, 8], [9]]", str([shown[max(0,
        p - (4 if p == 24 else 5)):p] for p in place if p]),
        "[80, 80, 80, 80, 80, 80, 80]", str([0 if i == 24 else 2 for i in range(60)]), 118, 60]  # fmt: skip


@limit(
    "SD-13",
    source="by hand: what a model says goes on follows the last event, not a row that sleep made of an earlier stage",
)
def made_rows_are_not_what_goes_on(specimen: Any) -> Any:
    memory = memory_of(
        specimen,
        drafting(Draft("a note", Kind.SUMMARY, (0,), stage=0), 3),
        by="model",
        language_model=StageReader(lambda text: "begins" in text),
    )
    for day, texts in enumerate((("one", "two", "three begins"), (), ("four", "five"))):
        for i, text in enumerate(texts):
            memory.encode(Event(24.0 * day + i, text, dated=False))
        memory.advance(24.0 * day + 24.0)
    return memory.column(STAGE)[[0, 1, 2, 4, 5]], [0, 0, 2, 2, 2]


@figure(
    "valleys",
    caption="Similarity of the five events before each place and the five from it on; the topic of the talk changes at the dots",
    source="composed talk; TextTiling, Hearst 1997",
)
def similarity_over_a_talk(specimen: Any) -> Picture:
    texts, truth = composed(3)
    vectors = hashing(256).embed(texts).astype(np.float64)
    gaps = np.arange(5, len(texts) - 4)
    s = np.array([specimen.similarity(vectors[g - 5 : g + 5]) for g in gaps])
    inside = truth[(truth >= gaps[0]) & (truth <= gaps[-1])]
    begins = np.setdiff1d(np.unique(lived(specimen, texts)), [0])
    return Picture(
        "event",
        "similarity",
        (
            Curve("similarity", gaps, s),
            dots("topic changes", inside, s[inside - 5]),
            dots("a stage begins", begins, np.zeros(len(begins))),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("what goes on follows the last row, made or not", rejected_by="SD-13")
def after_any_row(specimen: Any) -> Any:
    original = specimen.corrected

    def corrected(rows: Any, stage: Any, turn: Any, last: Any) -> Any:
        return original(rows, stage, turn, (0, 0) if last[0] > 0 else last)

    return specimen.replacing("corrected", corrected)


@mutant("mean of the cosines, not cosine of the sums", rejected_by="SD-1")
def mean_of_cosines(specimen: Any) -> Any:
    def similarity(vectors: Any) -> float:
        v = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return float((v[: len(v) // 2] @ v[len(v) // 2 :].T).mean())

    return specimen.replacing("similarity", similarity)


@mutant("the first peak stays", rejected_by="SD-2")
def first_peak(specimen: Any) -> Any:
    original = specimen.follow

    def follow(valley: Any, depths: Any, s: float) -> bool:
        left = valley[0]
        lowest = original(valley, depths, s)
        if not np.isnan(left):
            valley[0] = left
        return bool(lowest)

    return specimen.replacing("follow", follow)


@mutant("half a deviation below the mean", rejected_by="SD-3")
def below_the_mean(specimen: Any) -> Any:
    original = specimen.deep
    return specimen.replacing(
        "deep", lambda valley, depths, spread: original(valley, depths, -spread)
    )


@mutant("the stage begins where the boundary is found", rejected_by="SD-4")
def late(specimen: Any) -> Any:
    def place(self: Any, view: Any, incoming: Any) -> None:
        earlier = view.stage.copy()
        specimen.StageDetection.place(self, view, incoming)
        if incoming.before >= 0 and view.stage[incoming.before] != earlier[incoming.before]:
            view.stage[...] = earlier
            view.stage[view.row] = view.row

    return specimen.overriding("StageDetection", place=place)


@mutant("every valley is a boundary", rejected_by="SD-5")
def every_valley(specimen: Any) -> Any:
    return specimen.replacing("deep", lambda valley, depths, spread: True)


@mutant("a returning label begins a new stage", rejected_by="SD-6")
def no_return(specimen: Any) -> Any:
    def place(self: Any, view: Any, incoming: Any) -> None:
        specimen.StageDetection.place(self, view, incoming)
        before = incoming.before
        if before >= 0 and view.stage_label[before] != view.stage_label[view.row]:
            view.stage[view.row] = view.row

    return specimen.overriding("StageDetection", place=place)


@mutant("gaps are measured from when an event happened", rejected_by="SD-7")
def from_the_event(specimen: Any) -> Any:
    return as_happened(specimen, "StageDetection", "place")


@mutant("gaps are measured from the start of the stage", rejected_by="SD-7")
def from_the_start(specimen: Any) -> Any:
    def place(self: Any, view: Any, incoming: Any) -> None:
        specimen.StageDetection.place(self, view, incoming)
        stage = view.stage[view.row]
        if self.params.by == "gap" and view.now - view.arrived[stage] >= self.hours("gap"):
            view.stage[view.row] = view.row

    return specimen.overriding("StageDetection", place=place)


@mutant("made rows are in the windows", rejected_by="SD-8")
def all_rows(specimen: Any) -> Any:
    return specimen.replacing(
        "last_events", lambda kind, number: np.arange(max(0, len(kind) - number), len(kind))
    )


@mutant("a reply that is not ok counts as one that lists nothing", rejected_by="SD-10")
def bad_replies_count(specimen: Any) -> Any:
    original = specimen.turns_of
    return specimen.replacing(
        "turns_of", lambda reply, size: original(reply, size) or [specimen.GOES_ON] * size
    )


@mutant("without a model the talk is one stage", rejected_by="SD-11")
def one_stage(specimen: Any) -> Any:
    return specimen.replacing("turns_of", lambda reply, size: [specimen.GOES_ON] * size)


@mutant("a request shows nothing of what came before", rejected_by="SD-12")
def without_before(specimen: Any) -> Any:
    original = specimen.division_request
    return specimen.replacing("division_request", lambda before, block: original([], block))


@mutant("a plan and a session of one name are one label", rejected_by="SD-9")
def one_label(specimen: Any) -> Any:
    original = specimen.label
    return specimen.replacing("label", lambda plan, session: original("", plan or session))


@mutant("a gap is measured from the last row of whatever kind", rejected_by="SD-7b")
def from_any_row(specimen: Any) -> Any:
    def place(self: Any, view: Any, incoming: Any) -> None:
        specimen.StageDetection.place(self, view, incoming)
        row, before = view.row, incoming.before
        if self.params.by == "gap" and before >= 0:
            near = view.now - view.arrived[row - 1] < self.hours("gap")
            view.stage[row] = view.stage[before] if near else row

    return specimen.overriding("StageDetection", place=place)
