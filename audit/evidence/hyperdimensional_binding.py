"""Evidence for hyperdimensional_binding.  References are arithmetic on signs in numpy, closed
forms, scipy integrals and numpy's FFT.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import norm

from ...engine.contract.records import Event
from ..checks import adaptation, at_least, at_most, between, equation, mutant, reference, signature
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of
from .shared.scripts import refusing

Bits = NDArray[np.uint64]
Signs = NDArray[np.int64]
MAP, KANERVA = "Gayler 1998", "Kanerva 2009"
D = 1024


# --- references -----------------------------------------------------------------------------------
def drawn(rng: np.random.Generator, *shape: int, d: int = D) -> Bits:
    """Random vectors, (..., d / 64)."""
    return rng.integers(0, 2**64, (*shape, d // 64), dtype=np.uint64)


def signs(a: Bits) -> Signs:
    """The vector as numbers +1 and -1, (..., D)."""
    return 1 - 2 * np.unpackbits(
        np.ascontiguousarray(a).astype("<u8").view(np.uint8), axis=-1, bitorder="little"
    ).astype(np.int64)


def made(operation: Any, *arguments: Any, like: Bits) -> Bits:
    """What a kernel writes into its last argument."""
    out = np.empty_like(like)
    operation(*arguments, out)
    return out


def added(specimen: Any, members: Bits) -> NDArray[np.int32]:
    minuses = np.zeros(64 * members.shape[1], dtype=np.int32)
    for member in members:
        specimen.tally(member, minuses)
    return minuses


def bundle(specimen: Any, members: Bits, tie: Bits) -> Bits:
    return made(specimen.majority, added(specimen, members), len(members), tie, like=members[0])


def likeness(m: int) -> float:
    """Cosine of a majority of m vectors, m odd, with each of them."""
    return math.comb(m - 1, (m - 1) // 2) / 2.0 ** (m - 1)


def detection(m: int, d: int, others: int, *, summed: bool) -> float:
    """P that a member of a bundle of m is nearer to it than `others` random vectors: int phi(h;
    mu_h, s_h) Phi(h / s_r)^others dh.
    """
    mu = 1.0 if summed else likeness(m)
    s_h, s_r = (
        (math.sqrt((m - 1) / d), math.sqrt(m / d))
        if summed
        else (math.sqrt((1.0 - mu * mu) / d), math.sqrt(1.0 / d))
    )
    return float(
        quad(
            lambda z: norm.pdf(z) * math.exp(others * norm.logcdf((mu + s_h * z) / s_r)),
            -9.0,
            9.0,
            limit=200,
        )[0]
    )


def share_found(specimen: Any, m: int, *, summed: bool, d: int = D, bundles: int = 30) -> float:
    """Share of members that are nearer to their bundle than 999 random vectors."""
    rng, hits = np.random.default_rng(m), 0
    for _ in range(bundles):
        members, others = drawn(rng, m, d=d), drawn(rng, 999, d=d)
        if summed:
            score = partial(specimen.sum_cosine, added(specimen, members), m)
        else:
            score = partial(specimen.cosine, bundle(specimen, members, drawn(rng, d=d)))
        best = max(score(stranger) for stranger in others)
        hits += sum(score(member) > best for member in members)
    return hits / (bundles * m)


# --- the algebra ----------------------------------------------------------------------------------
@equation(
    "HD-1a",
    source=f"{MAP}, multiply: a o (a o b) = b, commutative, associative",
    papers=("gayler1998multiplicative",),
)
def binding_is_its_own_inverse_commutative_and_associative(specimen: Any) -> Any:
    a, b, c = drawn(np.random.default_rng(0), 3)
    bind = partial(made, specimen.bind, like=a)
    return np.concatenate([bind(a, bind(a, b)), bind(a, b), bind(bind(a, b), c)]), np.concatenate(
        [b, bind(b, a), bind(a, bind(b, c))]
    )


@equation(
    "HD-1b",
    source=f"{MAP}: cos(a o c, b o c) = cos(a, b)",
    atol=0.0,
    rtol=0.0,
    papers=("gayler1998multiplicative",),
)
def binding_keeps_all_cosines(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    triples = [drawn(rng, 3) for _ in range(20)]
    bind = partial(made, specimen.bind, like=triples[0][0])
    return [specimen.cosine(bind(a, c), bind(b, c)) for a, b, c in triples], [
        signs(a) @ signs(b) / D for a, b, _ in triples
    ]


@equation(
    "HD-1c",
    source=f"{MAP}, permute: rho^D = 1, rho(a o b) = rho a o rho b, rho(a + b) = rho a + rho b",
    papers=("gayler1998multiplicative",),
)
def permutation_has_period_d_and_distributes(specimen: Any) -> Any:
    a, b = drawn(np.random.default_rng(2), 2, d=192)
    bind, round_trip = partial(made, specimen.bind, like=a), a

    def rho(x: Bits, shift: int = 1) -> Bits:
        return made(specimen.permute, x, shift, like=a)

    for _ in range(192):
        round_trip = rho(round_trip)
    sums = (
        added(specimen, np.array([rho(a, 71), rho(b, 71)])),
        np.roll(added(specimen, np.array([a, b])), 71),
    )
    return [*round_trip, *rho(bind(a, b)), *sums[0]], [*a, *bind(rho(a), rho(b)), *sums[1]]


@equation(
    "HD-1d",
    source="the definitions on signs as numbers: product, cyclic shift, sign of the sum, cosine, nearest",
)
def packed_bits_and_signs_give_the_same_results(specimen: Any) -> Any:
    rng = np.random.default_rng(3)
    x, tie = drawn(rng, 6), drawn(rng)
    s, total = signs(x), signs(x).sum(axis=0)
    minuses = added(specimen, x)
    measured: list[NDArray[Any]] = [
        signs(made(specimen.bind, x[0], x[1], like=tie)),
        *(signs(made(specimen.permute, x[0], by, like=tie)) for by in (0, 1, 63, 64, 65, 700)),
        6 - 2 * minuses,
        signs(made(specimen.majority, minuses, 6, tie, like=tie)),
        np.array([specimen.cosine(x[0], member) * D for member in x]),
        np.array([specimen.sum_cosine(minuses, 6, member) for member in x]),
    ]
    expected: list[NDArray[Any]] = [
        s[0] * s[1],
        *(np.roll(s[0], by) for by in (0, 1, 63, 64, 65, 700)),
        total,
        np.where(total == 0, signs(tie), np.sign(total)),
        s @ s[0],
        s @ total / (np.linalg.norm(total) * math.sqrt(D)),
    ]
    return np.concatenate(measured), np.concatenate(expected)


@equation(
    "HD-2",
    source="E cos = 0, var = 1 / D; 400 vectors of 1024 signs: |mean| < 0.001, sd 1/32 within 3 %, |cos| < 0.16",
)
def names_have_vectors_like_random_ones(specimen: Any) -> Any:
    atoms = np.array([specimen.atom(f"name {i}", D // 64) for i in range(400)])
    cosines = np.array([specimen.cosine(atoms[i], atoms[j]) for i in range(400) for j in range(i)])
    return at_most(
        [
            abs(cosines.mean()) / 0.001,
            abs(cosines.std() * 32.0 - 1.0) / 0.03,
            np.abs(cosines).max() / 0.16,
        ],
        1.0,
    )


@equation(
    "HD-2b",
    source=f"{KANERVA}: 10,000 bits differ in 5,000 +- 50 (here 9,984, whole words)",
    rtol=0.05,
    atol=0.0,
    papers=("kanerva2009hyperdimensional",),
)
def distances_of_ten_thousand_bits_are_binomial(specimen: Any) -> Any:
    x = drawn(np.random.default_rng(4), 300, d=9984)
    distances = np.array([specimen.hamming(x[i], x[j]) for i in range(300) for j in range(i)])
    return [distances.mean(), distances.std()], [4992.0, math.sqrt(9984 / 4)]


@equation("HD-3", source="closed form C(m - 1, (m - 1) / 2) / 2^(m - 1)", atol=0.01)
def a_majority_resembles_each_of_its_members(specimen: Any) -> Any:
    rng, means = np.random.default_rng(5), []
    for m in (3, 5, 7, 9, 21, 51):
        cosines = []
        for _ in range(50):
            members = drawn(rng, m)
            whole = bundle(specimen, members, drawn(rng))
            cosines += [specimen.cosine(member, whole) for member in members]
        means.append(np.mean(cosines))
    return means, [0.5, 0.375, 0.3125, 0.2734375, 0.1761971, 0.1122725]


@reference(
    "HD-4",
    source="Frady, Kleyko & Sommer 2018, detection among 1000; sum 0.9998, 0.881, 0.480; majority 0.988, 0.632, 0.256",
    atol=0.05,
    figure="capacity",
    papers=("frady2018theory",),
)
def members_of_a_bundle_are_found_with_the_predicted_probability(specimen: Any) -> Any:
    for m, by_sum, by_majority in ((21, 0.9998, 0.988), (51, 0.881, 0.632), (101, 0.480, 0.256)):
        yield share_found(specimen, m, summed=True), by_sum
        yield share_found(specimen, m, summed=False), by_majority


@signature(
    "HD-4b",
    source="Frady, Kleyko & Sommer 2018: 10,000 dimensions hold 101 (here 9,984)",
    papers=("frady2018theory",),
)
def ten_thousand_dimensions_hold_a_hundred_members(specimen: Any) -> Any:
    return at_least(
        [share_found(specimen, 101, summed=summed, d=9984, bundles=5) for summed in (True, False)],
        0.995,
    )


# --- records --------------------------------------------------------------------------------------
def unbound(
    specimen: Any, m: int, records: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Cosines of an unbound role with its filler and with the other fillers, and the share of
    fillers that clean-up finds.
    """
    right, wrong, hits = [], [], 0
    words = D // 64
    for k in range(records):
        pairs = [(f"r{k} {j}", f"f{k} {j}") for j in range(m)]
        record = specimen.bundled(pairs, words)
        fillers = np.array([specimen.atom(f"filler {filler}", words) for _, filler in pairs])
        for j, (role, _) in enumerate(pairs):
            answer = made(specimen.bind, record, specimen.atom(f"role {role}", words), like=record)
            cosines = [specimen.cosine(answer, filler) for filler in fillers]
            right.append(cosines.pop(j))
            wrong += cosines
            hits += specimen.cleanup(fillers, answer) == j
    return np.array(right), np.array(wrong), hits / (m * records)


@signature(
    "HD-5a",
    source="unbinding keeps cosines: those of a majority, C(m - 1, (m - 1) / 2) / 2^(m - 1)",
    atol=0.01,
    figure="role_filler",
)
def unbinding_a_role_gives_its_filler_with_the_predicted_cosine(specimen: Any) -> Any:
    return [unbound(specimen, m, 40)[0].mean() for m in (3, 5, 9)], [likeness(m) for m in (3, 5, 9)]


@signature(
    "HD-5b",
    source="other fillers: mean 0, sd 1 / sqrt(D)",
    rtol=0.1,
    atol=0.003,
    figure="role_filler",
)
def other_fillers_are_noise(specimen: Any) -> Any:
    wrong = unbound(specimen, 5, 60)[1]
    return [wrong.mean(), wrong.std()], [0.0, 1.0 / math.sqrt(D)]


@signature("HD-5c", source=f"{KANERVA}, clean-up memory", papers=("kanerva2009hyperdimensional",))
def clean_up_finds_the_filler(specimen: Any) -> Any:
    return at_least([unbound(specimen, m, 10)[2] for m in (3, 9, 15)], 0.999)


@signature(
    "HD-5d",
    source=f"{MAP}: a product resembles neither factor, |cos| < 5 / sqrt(D)",
    papers=("gayler1998multiplicative",),
)
def a_pair_resembles_neither_role_nor_filler(specimen: Any) -> Any:
    rng, cosines = np.random.default_rng(7), []
    for _ in range(50):
        a, b = drawn(rng, 2)
        pair = made(specimen.bind, a, b, like=a)
        cosines += [abs(specimen.cosine(pair, a)), abs(specimen.cosine(pair, b))]
    return at_most(cosines, 5.0 / math.sqrt(D))


@signature("HD-6", source="ties broken at random: |mean sign| of a bundle of two < 4 / sqrt(D)")
def even_bundles_have_no_bias(specimen: Any) -> Any:
    rng = np.random.default_rng(8)
    means = [abs(signs(bundle(specimen, drawn(rng, 2), drawn(rng))).mean()) for _ in range(20)]
    records = [
        abs(signs(specimen.bundled([("a", str(k)), ("b", str(k))], D // 64)).mean())
        for k in range(20)
    ]
    return at_most([*means, *records], 4.0 / math.sqrt(D))


@signature(
    "HD-8a",
    source="closed form: the shared middle item, 1/3 of the sums, 1/4 of the majorities",
    atol=0.02,
)
def a_sequence_and_its_reverse_share_the_middle_item_only(specimen: Any) -> Any:
    rng, sums, majorities = np.random.default_rng(9), [], []
    for _ in range(50):
        items, tie = drawn(rng, 3), drawn(rng)
        both = [
            np.array([made(specimen.permute, x, i, like=tie) for i, x in enumerate(order)])
            for order in (items, items[::-1])
        ]
        a, b = (3.0 - 2.0 * added(specimen, order) for order in both)
        sums.append(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
        majorities.append(specimen.cosine(*(bundle(specimen, order, tie) for order in both)))
    return [np.mean(sums), np.mean(majorities)], [1 / 3, 1 / 4]


@signature("HD-8b", source="addition commutes: without permutation order is lost")
def without_permutation_order_is_lost(specimen: Any) -> Any:
    items, tie = drawn(np.random.default_rng(10), 3), drawn(np.random.default_rng(11))
    return bundle(specimen, items, tie), bundle(specimen, items[::-1], tie)


# --- holographic reduced representations ----------------------------------------------------------
@equation("HD-7a", source="Plate 1995: 1 / sqrt(2)", atol=0.03, papers=("plate1995holographic",))
def holographic_unbinding_recovers_the_filler_with_noise(specimen: Any) -> Any:
    rng, cosines = np.random.default_rng(12), []
    for _ in range(40):
        a, b = rng.standard_normal((2, D)) / math.sqrt(D)
        bound, inverse, back = np.empty((3, D))
        specimen.convolve(a, b, bound)
        specimen.involution(a, inverse)
        specimen.convolve(inverse, bound, back)
        cosines.append(back @ b / np.linalg.norm(back) / np.linalg.norm(b))
    return np.mean(cosines), 1 / math.sqrt(2)


@equation("HD-7b", source="convolution theorem, numpy.fft", atol=1e-12)
def convolution_is_a_product_of_spectra(specimen: Any) -> Any:
    a, b = np.random.default_rng(13).standard_normal((2, 60))
    out, inverse = np.empty((2, 60))
    specimen.convolve(a, b, out)
    specimen.involution(a, inverse)
    spectra = np.fft.rfft(a), np.fft.rfft(b)
    return np.concatenate([out, inverse]), np.concatenate(
        [np.fft.irfft(spectra[0] * spectra[1], 60), np.fft.irfft(spectra[0].conj(), 60)]
    )


@signature(
    "HD-7c",
    source="Plate 1995: convolution, unlike the product of signs, is not its own inverse",
    papers=("plate1995holographic",),
)
def convolving_twice_does_not_recover_the_filler(specimen: Any) -> Any:
    a, b = np.random.default_rng(14).standard_normal((2, D)) / math.sqrt(D)
    bound, again = np.empty((2, D))
    specimen.convolve(a, b, bound)
    specimen.convolve(a, bound, again)
    return at_most(abs(again @ b / np.linalg.norm(again) / np.linalg.norm(b)), 5.0 / math.sqrt(D))


# --- in a memory ----------------------------------------------------------------------------------
Pairs = Sequence[tuple[str, str]]
# time in h, speaker, text, and its pairs by hand
TOLD: tuple[tuple[float, str, str, Pairs], ...] = (
    (30.0, "Cleo", "So Ada saw the red boat.", (("who", "cleo"), ("year", "1970"), ("month", "1"),
                                                ("day", "2"), ("about", "ada"),
                                               ("what", "saw"), ("what", "red"), ("what", "boat"))),
    (30.0, "", "On 2 January 1970 Ada wept.", (("year", "1970"), ("month", "1"), ("day", "2"),
                                               ("about", "ada"), ("what", "2"), ("what", "januari"),
                                               ("what", "1970"), ("what", "wept"))),
    (800.0, "Ada", "Then Bo Miller swam on 7 May 2023.", (("who", "ada"), ("year", "1970"),
    ("month", "2"), ("day", "3"), ("about", "bo miller"),
                                                          ("day", "7"), ("month", "5"), ("year",
                                                          "2023"), ("what", "swam"), ("what", "7"),
                                                          ("what", "mai"), ("what", "2023"))),
    (900.0, "Ada", "red red boat", (("who", "ada"), ("year", "1970"), ("month", "2"), ("day", "7"),
                                    ("what", "red"), ("what", "boat"))),
    (900.0, "Zo\u00eb", "It was in 2023-05-07.", (("who", "zoe"), ("year", "1970"), ("month", "2"),
                                                  ("day", "7"), ("year", "2023"), ("month", "5"),
                                                  ("what", "2023"), ("what", "05"), ("what",
                                                  "07"))),
)  # fmt: skip
ASKED: tuple[tuple[str, Pairs], ...] = (
    ("Did Ada see a red boat?", (("who", "ada"), ("about", "ada"), ("what", "see"), ("what", "red"),
                                 ("what", "boat"))),
    ("Who swam on 7 May 2023?", (("day", "7"), ("month", "5"), ("year", "2023"), ("what", "swam"),
                                 ("what", "7"), ("what", "mai"), ("what", "2023"))),
    ("Was it in March, or is Zo\u00eb wrong?", (("who", "zoe"), ("about", "zoe"), ("month", "3"),
                                                ("what", "march"), ("what", "wrong"))),
    ("Is it?", ()),
)  # fmt: skip


def by_signs(pairs: Pairs, words: int) -> Signs:
    """The record of distinct pairs, by arithmetic on signs of SHAKE-256; the record's own random
    vector where the sum is 0.
    """

    def named(name: str) -> Signs:
        return signs(np.frombuffer(hashlib.shake_256(name.encode()).digest(8 * words), dtype="<u8"))

    total = np.sum(
        [named(f"role {role}") * named(f"filler {filler}") for role, filler in pairs], axis=0
    )
    return np.asarray(np.where(total == 0, named(f"tie {sorted(pairs)}"), np.sign(total)))


@equation(
    "HD-14",
    source=f"{KANERVA}, {MAP}: records of pairs named by hand, products and sums of signs in numpy, and their cosines",
    atol=1e-6,
    papers=("kanerva2009hyperdimensional", "gayler1998multiplicative"),
)
def a_memory_compares_the_records_of_query_and_events(specimen: Any) -> Any:
    measured, expected = [], []
    for words, most, least in ((4, 31, 1.5), (16, 6, 0.5), (3, 8, 0.0)):
        memory = memory_of(
            specimen, refusing("vetoed"), words=words, most_pairs=most, least_sd=least
        )
        told = [(time, text, speaker) for time, speaker, text, _ in TOLD]
        encode(memory, *told[:2], (30.0, "So Ada was vetoed.", "Bo"), *told[2:])
        memory.archive(1)
        records = np.array([by_signs(pairs[:most], words) for *_, pairs in TOLD])
        for text, pairs in ASKED:
            memory.retrieve(text)
            cosines = (
                records @ by_signs(pairs[:most], words) / (64.0 * words)
                if pairs
                else np.full(len(TOLD), -1.0)
            )
            measured += [*np.nan_to_num(memory.column(specimen.BINDING), nan=-9.0)]
            expected += [*np.where(cosines >= least / math.sqrt(64.0 * words), cosines, -9.0)]
        measured += [*signs(memory.column(specimen.ROLE_FILLER_RECORD)).ravel()]
        expected += [*records.ravel()]
    return measured, expected


@adaptation(
    "HD-14b", source="ours: the day of a record is that by the clock of the one who tells, by hand"
)
def a_day_is_that_of_the_one_who_tells(specimen: Any) -> Any:
    """An hour before midnight UTC, which is the next day in Tokyo, and the day before in Hawaii an
    hour after it.  The last is told a day late.
    """
    words, most = 4, 9
    memory = memory_of(specimen, words=words, most_pairs=most)
    memory.passing.late_hours = 24.0
    told = (
        (23.0, 9.0, "2"),
        (23.0, None, "1"),
        (49.0, -10.0, "2"),
        (49.0, 0.0, "3"),
        (30.0, None, "2"),
    )
    for time, offset, _ in told:
        memory.encode(Event(time, "tulips", dated=False, offset=offset))
    return signs(memory.column(specimen.ROLE_FILLER_RECORD)), [
        by_signs([("year", "1970"), ("month", "1"), ("day", day), ("what", "tulip")], words)
        for *_, day in told
    ]


# --- the adaptation -------------------------------------------------------------------------------
@adaptation(
    "HD-9",
    source="integral of Frady, Kleyko & Sommer 2018 at the default size: 31 pairs, 2048 dimensions, 1000 vectors",
    atol=0.01,
    papers=("frady2018theory",),
)
def pairs_of_a_default_record_are_found_with_the_predicted_probability(specimen: Any) -> Any:
    return share_found(specimen, 31, summed=False, d=2048, bundles=20), detection(
        31, 2048, 999, summed=False
    )


@adaptation("HD-10", source="NIST, SHAKE-256 of nothing: 46b9dd2b0ba88d13 233b3feb743eeb24 ...")
def vectors_of_names_are_the_same_on_every_machine(specimen: Any) -> Any:
    return [int(w) for w in specimen.atom("", 2)], [
        int.from_bytes(bytes.fromhex(h), "little") for h in ("46b9dd2b0ba88d13", "233b3feb743eeb24")
    ]


@adaptation("HD-11", source="binding: one name in two roles gives two unrelated pairs")
def speaker_and_mentioned_entity_are_distinguished(specimen: Any) -> Any:
    said, spoken_of = (
        specimen.bundled([(role, "ada"), ("what", "garden"), ("what", "rose")], D // 64)
        for role in ("who", "about")
    )
    asked = specimen.bundled([("who", "ada")], D // 64)
    return bool(
        specimen.cosine(asked, said) > 0.4
        and abs(specimen.cosine(asked, spoken_of)) < 5.0 / math.sqrt(D)
    )


@adaptation("HD-12", source="brute force on signs as numbers")
def records_within_the_noise_get_no_score(specimen: Any) -> Any:
    rng = np.random.default_rng(15)
    records, out = drawn(rng, 500), np.full(500, np.nan)
    query = bundle(specimen, records[:5], drawn(rng))
    expected = signs(records) @ signs(query) / D
    specimen.compare(records, query, 3.0 / 32.0, out)
    return np.nan_to_num(out, nan=-9.0), np.where(expected >= 3.0 / 32.0, expected, -9.0)


@adaptation("HD-13", source="binomial tail: unrelated records at three standard deviations")
def few_unrelated_records_get_a_score(specimen: Any) -> Any:
    rng = np.random.default_rng(16)
    out = np.full(40_000, np.nan)
    specimen.compare(drawn(rng, 40_000), drawn(rng), 3.0 / 32.0, out)
    return between(np.count_nonzero(~np.isnan(out)) / 40_000 / norm.sf(3.0), 0.5, 1.6)


@equation(
    "HD-15",
    source=f"{KANERVA}, {MAP}: the definitions at their limits, by hand: opposite vectors, ties, a cosine at the least",
    papers=("kanerva2009hyperdimensional", "gayler1998multiplicative"),
)
def the_algebra_holds_at_its_limits(specimen: Any) -> Any:
    zero, full, some = (
        np.zeros(3, np.uint64),
        np.full(3, 2**64 - 1, np.uint64),
        np.array([1, 2**63, 255], np.uint64),
    )
    distances = [
        specimen.hamming(a, b) for a, b in ((zero, zero), (zero, full), (zero, some), (full, some))
    ]
    items = np.array([full, some, some, zero])
    nearest = [
        specimen.cleanup(items[:k], noisy)
        for k, noisy in ((4, zero), (4, some), (3, zero), (1, zero), (0, zero))
    ]
    records, out = (
        np.array([[2**16 - 1], [2**17 - 1], [2**15 - 1], [0]], np.uint64),
        np.full(4, 9.0),
    )
    specimen.compare(records, np.zeros(1, np.uint64), 0.5, out)
    return [*distances, *nearest, *out], [0, 192, 10, 182, 3, 1, 1, 0, -1, 0.5, 9.0,
                                          1.0 - 30.0 / 64.0, 1.0]  # fmt: skip


@adaptation("HD-16", source="ours: year, month and day of a date as written, by hand")
def a_date_gives_the_parts_that_it_names(specimen: Any) -> Any:
    months = ("January", "feb", "March", "Apr", "May", "June", "jul", "August", "Sept", "oct",
              "November", "Dec")  # fmt: skip
    dates = ("3rd of September 2019", "21 dec", "the 1st", "in 1987", "5/7/23", "2023-1-02",
             "late 2150", "yesterday", "May 2020", "12 in 2001")  # fmt: skip
    parts = [("3", "9", "2019"), ("21", "12", ""), ("", "", ""), ("", "", "1987"), ("", "", ""),
             ("2", "1", "2023"), ("", "", ""), ("", "", ""),
             ("", "5", "2020"), ("", "", "2001")]  # fmt: skip
    dates_read = [
        dict(specimen.dated(date)) for date in (*(f"4 {month}" for month in months), *dates)
    ]
    return [
        [date_parts.get(part, "") for part in ("day", "month", "year")] for date_parts in dates_read
    ], [*(["4", str(i + 1), ""] for i in range(12)), *map(list, parts)]


# --- figures --------------------------------------------------------------------------------------
@figure(
    "capacity",
    caption="Share of members of a bundle that are nearer to it than 999 random vectors: near 1 for few members, lower for more; "
    "the sum holds more members than the majority",
    source="Frady, Kleyko & Sommer 2018, their integral at 1024 dimensions",
)
def members_found_over_the_size_of_a_bundle(specimen: Any) -> Picture:
    sizes = np.array([11, 21, 36, 51, 75, 101])
    return Picture(
        "members of the bundle",
        "share of members found",
        (
            *(
                Curve(
                    label,
                    sizes,
                    [share_found(specimen, int(m), summed=summed, bundles=15) for m in sizes],
                )
                for label, summed in (("mechanism, sum", True), ("mechanism, majority", False))
            ),
            dots("theory, sum", [21, 51, 101], [0.9998, 0.881, 0.480]),
            dots("theory, majority", [21, 51, 101], [0.988, 0.632, 0.256]),
        ),
    )


@figure(
    "role_filler",
    caption="Cosine of an unbound role with its filler: it falls with the number of pairs as predicted, and is far above that "
    "with the other fillers",
    source="closed form C(m - 1, (m - 1) / 2) / 2^(m - 1)",
)
def cosine_of_the_recovered_filler(specimen: Any) -> Picture:
    pairs = np.arange(3, 32, 4)
    answers = [unbound(specimen, int(m), 3) for m in pairs]
    return Picture(
        "pairs in the record",
        "cosine with the unbound role",
        (
            Curve("the filler, mean", pairs, [right.mean() for right, _, _ in answers]),
            Curve("other fillers, largest", pairs, [wrong.max() for _, wrong, _ in answers]),
            dots("theory", pairs, [likeness(int(m)) for m in pairs]),
        ),
    )


# --- mutants --------------------------------------------------------------------------------------
@mutant("binding with OR", rejected_by="HD-1a")
def added_pairs(specimen: Any) -> Any:
    return specimen.replacing("bind", lambda a, b, out: np.copyto(out, a | b))


@mutant("the filler without its role", rejected_by="HD-11")
def no_role(specimen: Any) -> Any:
    return specimen.replacing("bind", lambda a, b, out: np.copyto(out, b))


@mutant("sign(0) = +1", rejected_by="HD-6")
def biased_ties(specimen: Any) -> Any:
    return specimen.replacing(
        "majority",
        lambda minuses, m, tie, out: specimen.majority(minuses, m, np.zeros_like(tie), out),
    )


@mutant("words rotate, bits do not", rejected_by="HD-1d")
def coarse_shift(specimen: Any) -> Any:
    return specimen.replacing("permute", lambda a, shift, out: np.copyto(out, np.roll(a, shift)))


@mutant("permutation without a shift", rejected_by="HD-8a")
def no_shift(specimen: Any) -> Any:
    return specimen.replacing("permute", lambda a, shift, out: np.copyto(out, a))


@mutant("a cosine of h / D bits, without the factor 2", rejected_by="HD-1b")
def half_cosine(specimen: Any) -> Any:
    return specimen.replacing("cosine", lambda a, b: 1.0 - specimen.hamming(a, b) / (64.0 * len(a)))


@mutant("vectors of names from a salted hash", rejected_by="HD-10")
def salted(specimen: Any) -> Any:
    return specimen.replacing(
        "atom", lambda name, words: drawn(np.random.default_rng(abs(hash(name))), d=64 * words)
    )


@mutant("no clean-up: the first filler is taken", rejected_by="HD-5c")
def first_item(specimen: Any) -> Any:
    return specimen.replacing("cleanup", lambda items, noisy: 0)


@mutant("every record gets a score", rejected_by="HD-12")
def never_silent(specimen: Any) -> Any:
    return specimen.replacing(
        "compare", lambda records, query, least, out: specimen.compare(records, query, -1.0, out)
    )


@mutant("linear convolution", rejected_by="HD-7b")
def linear_convolution(specimen: Any) -> Any:
    return specimen.replacing(
        "convolve", lambda a, b, out: np.copyto(out, np.convolve(a, b)[: len(a)])
    )


@mutant("unbinding without the involution", rejected_by="HD-7a")
def self_inverse(specimen: Any) -> Any:
    return specimen.replacing("involution", lambda a, out: np.copyto(out, a))


@mutant("a majority of the first twenty only", rejected_by="HD-4")
def short_sum(specimen: Any) -> Any:
    def tally(a: Any, minuses: Any) -> None:
        if minuses.max() < 20:
            specimen.tally(a, minuses)

    return specimen.replacing("tally", tally)


@mutant("the query's names are only talked about", rejected_by="HD-14")
def never_speaking(specimen: Any) -> Any:
    def match(self: Any, view: Any, cue: Any) -> None:
        if asked := list(specimen.contents(cue.features)):
            noise = self.params.least_sd / math.sqrt(64.0 * self.params.words)
            specimen.compare(
                view.role_filler_record, self._record(iter(asked)), noise, view.binding
            )

    return specimen.overriding("HyperdimensionalBinding", match=match)


@mutant("days are those of UTC", rejected_by="HD-14b")
def days_of_utc(specimen: Any) -> Any:
    original = specimen.happened
    return specimen.replacing("happened", lambda time, offset=None: original(time))


@mutant("the speaker is left out of the record", rejected_by="HD-14")
def anonymous(specimen: Any) -> Any:
    return specimen.replacing("fold", lambda text: "")
