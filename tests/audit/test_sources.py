"""What the source systems say of themselves: all of it is there, tied to what is run or to a
reason, and well formed.
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from hebbarium.audit.checks import Check, CheckKind, CheckResult, Score, evidence_of
from hebbarium.audit.page import mathml
from hebbarium.audit.rating import Rating, RatingVerdict
from hebbarium.audit.references import References, load
from hebbarium.audit.run import AuditResult, MechanismResult
from hebbarium.audit.sources import Citation, Claim, PrintedCitation, SourceSystem, read
from hebbarium.audit.sources.compared import compared
from hebbarium.engine.base.errors import DataError
from hebbarium.engine.catalogue.registry import ROOT, Registry

# Cortex, section 7.2: the module column of its four tables, row by row.  The headings above them
# say 12, 12, 8 and 1.
ROWS = {
    "FAITHFUL": ("spreading_activation", "titans_memory", "synaptic_plasticity_hebbian",
                 "synaptic_plasticity", "decay_cycle", "emotional_tagging",
                 "dendritic_computation", "homeostatic_plasticity", "separation_core",
                 "two_stage_transfer", "neuromodulation_channels", "engram"),
    "DOCUMENTED": ("synaptic_tagging", "oscillatory_phases", "cascade_stages", "schema_engine",
                   "schema_extraction", "interference",
                   "two_stage_model", "tripartite_synapse", "tripartite_calcium", "engram",
                   "replay", "replay_execution",
                   "synaptic_plasticity_stochastic"),
    "HONEST": ("thermodynamics", "coupled_neuromodulation", "dendritic_clusters",
               "microglial_pruning", "dual_store_cls", "query_decomposition",
               "replay_selection", "neuromodulation_channels"),
    "APPROXIMATION": ("cascade_advancement", "reranker"),
}  # fmt: skip
# Modules that section 4 names and 7.2 does not, with the word that section 4 has for them.
TEXT_ONLY = {"cognitive_map": "DOCUMENTED", "hopfield": "DOCUMENTED", "hdc_encoder": "DOCUMENTED",
             "oscillatory_clock": "DOCUMENTED",
             "interference_detection": "DOCUMENTED", "hierarchical_predictive_coding": "not rated",
             "predictive_coding_gate": "not rated",
             "predictive_coding_signals": "not rated", "compression": "not rated"}  # fmt: skip
# Section 4 and 7.2 give these different words.
AT_ODDS = {
    "cascade_advancement": "4.2.1 has the module as DOCUMENTED",
    "replay_selection": "4.2.2 has the same module as DOCUMENTED",
    "engram": "4.4.9 itself rates the module DOCUMENTED",
}

WRONG, ELSE, ABSENT = Citation.WRONG_DETAIL, Citation.MISATTRIBUTED, Citation.NOT_FOUND
# (system, place, what stands there, how it stands, what should be cited); the text of a module's
# rating or of a citation.
CITATIONS = [
    ("Cortex", "4.1.2", "Wang, S. & Bhatt", ABSENT, "qasim2023neuronal"),
    ("Cortex", "4.4.8", "Poirazi, P., Brannon, T., & Bhatt", WRONG, "poirazi2003pyramidal"),
    ("Cortex", "4.4.8", "Silva, A. J., & Bhatt", WRONG, "kastellakis2015synaptic"),
    ("Cortex", "4.4.9", "Cole, C. J., ... & Bhatt", WRONG, "rashid2016competition"),
    ("Cortex", "4.4.6 and References", "Bhatt, D. K. (2020)", WRONG, "wang2020microglia"),
    ("Cortex", "4.2.3", "C-HORSE: A comprehensive model", ABSENT, "ketz2013theta"),
    ("Cortex", "7.2 FAITHFUL, row 10", "Ketz et al. 2023", ABSENT, "schapiro2017complementary"),
    ("Cortex", "4.4.3", "maintenance of stable neural function", WRONG, "turrigiano2008self"),
    ("Cortex", "4.4.3", "Markelic", ELSE, "tetzlaff2011synaptic"),
    ("Cortex", "7.2 FAITHFUL, row 8", "Tetzlaff et al. 2011", ELSE, "tetzlaff2011synaptic"),
    ("Cortex", "7.2 FAITHFUL, row 3", "BCM 1982", ELSE, "intrator1992objective"),
    ("Cortex", "4.4.5", "Markram et al., 1997", ELSE, "tsodyks1997neural"),
    ("Cortex", "4.4.1", "power-law forgetting curve", ELSE, "wixted1991form"),
    ("Cortex", "7.2 DOCUMENTED, row 1", "Luboeinski 2021", ELSE, "clopath2008tag"),
    ("Cortex", "4.2.4", "bistable tag dynamics", ELSE, "clopath2008tag"),
    ("Cortex", "4.4.7 and References", "De Pitta", WRONG, "depitta2011tale"),
    ("Cortex", "7.2 DOCUMENTED, row 9", "De Pitta et al. 2012", ELSE, "depitta2009glutamate"),
    ("Cortex", "7.2 DOCUMENTED, row 10", "Josselyn & Frankland 2007", WRONG, "josselyn2018memory"),
    ("Cortex", "4.4.9", "Josselyn, S. A. & Frankland", WRONG, "josselyn2018memory"),
    ("Cortex", "7.2 FAITHFUL, row 12", "Rashid et al. 2016", ELSE, "rashid2016competition"),
    ("Cortex", "4.4.10", "leaky competing accumulator", ELSE, "usher2001time"),
    ("Cortex", "7.2 DOCUMENTED, row 6", "Norman 2007", ELSE, "usher2001time"),
    ("Cortex", "4.4.6", "Wang, C.", ELSE, "lehrman2018cd47"),
    ("Cortex", "7.2 FAITHFUL, row 9", "Leutgeb et al. 2007", ELSE, "treves1994computational"),
    ("Cortex", "4.2.3", "rate-distortion framework", ELSE, "sims2016rate"),
    ("Cortex", "7.2 FAITHFUL, row 6", "Yerkes-Dodson 1908", ELSE, "ricker1954stock"),
    ("Cortex", "4.3.2", "Hashemi, M., Srinivasa", WRONG, "behrouz2024titans"),
    ("Cortex", "4.1.3", "Schultz, W. (1997)", WRONG, "schultz1997neural"),
    ("Cortex", "3.3", "Lucchese", ELSE, "bruch2023analysis"),
    ("Cortex", "3.3 stage 3", "Bruch et al., 2023", ELSE, "cormack2009reciprocal"),
    ("Cortex", "3.3", "Coster", WRONG, "joren2025sufficient"),
    ("Cortex", "7.2 APPROXIMATION, row 2", "Joren et al. 2025", ELSE, "joren2025sufficient"),
    ("Cortex", "5.5", "Near-optimal observation selection", WRONG, "krause2008robust"),
    ("Cortex", "5.3.2", "Krause & Guestrin, 2008", ELSE, "nemhauser1978analysis"),
    ("Cortex", "References", "McNeal", WRONG, "jimenez2024hipporag"),
    ("Cortex", "6.3", "Tavakoli, S., Hashemi", WRONG, "tavakoli2026beam"),
    ("Cortex", "2.1", "Chhablani", WRONG, "chhikara2025mem0"),
    ("Cortex", "References", "Xu, Z.", WRONG, "xu2025mem"),
    ("Cortex", "6.1", "Wu, J.", WRONG, "wu2025longmemeval"),
    ("Cortex", "References", "MIRIX: Active retrieval", WRONG, "wang2025mirix"),
    ("Cortex", "4.1.1", "Fink, P.", WRONG, "bastos2012canonical"),
    ("Cortex", "4.1.1, 3.3 and 4.3.3", "not cited", Citation.NONE, "dayan1993improving"),
    (
        "True Memory",
        "4.1 stage 8",
        "Cormack et al. (2009)",
        Citation.SOUND,
        "cormack2009reciprocal",
    ),
    ("All-Mem", "Table 1", "gutiérrez2025rag", WRONG, "jimenez2025from"),
    (
        "Context Assembly Specification",
        "SOTA References",
        "ContextBranch (Dec 2024)",
        WRONG,
        "chickmagalur2025context",
    ),
]
# (system, place, module, words of its finding): errors of equations and of logic, most with a
# number that can be worked out again.
FINDINGS = [
    ("Cortex", "4.3.2", "titans_memory.py", "negated twice; forgetting gate"),
    (
        "Cortex",
        "4.3.1",
        "spreading_activation.py",
        "0.65, 0.2746, 0.0754; no equation; nothing at the permitted depth of 3 reaches the threshold",
    ),
    ("Cortex", "4.1.2", "emotional_tagging.py", "no equation; lower for harder tasks"),
    ("Cortex", "4.1.3", "neuromodulation_channels.py (DA)", "four to six times; no blocking"),
    ("Cortex", "4.1.3", "coupled_neuromodulation.py", "noradrenaline exploration"),
    (
        "Cortex",
        "4.1.1",
        "predictive_coding_gate.py, predictive_coding_signals.py",
        "a duplicate raises two; Neither weights nor the threshold",
    ),
    ("Cortex", "4.3.3", "cognitive_map.py", "symmetric; neither normalised nor discounted"),
    ("Cortex", "4.3.4", "hopfield.py", "0 ≤ E ≤ 2M²; large β"),
    ("Cortex", "3.3 stage 4", "the blend with the cross-encoder", "0.046; 0.021"),
    (
        "Cortex",
        "6.4.4",
        "Platt sigmoid for the gate, rejected",
        "never collected; strictly monotone",
    ),
    ("Cortex", "3.3", "reranker.py", "context as a whole suffices"),
    ("Cortex", "4.4.1", "decay_cycle.py", "0.6931; decays exponentially"),
    ("Cortex", "4.4.5", "synaptic_plasticity.py", "Without recovery; 0.5, 0.375, 0.109, 0.0146"),
    ("Cortex", "4.4.5", "synaptic_plasticity_hebbian.py (STDP)", "+0.24; 48.1 h; 2.85"),
    ("Cortex", "4.4.3", "synaptic_plasticity_hebbian.py (BCM)", "squared mean"),
    (
        "Cortex",
        "4.4.3",
        "homeostatic_plasticity.py (scaling)",
        "the year is 2012; square of the weight",
    ),
    ("Cortex", "4.2.4", "synaptic_tagging.py", "3.08 h; 15.6; nothing is bistable"),
    ("Cortex", "4.4.7", "tripartite_calcium.py", "contradict; cannot oscillate"),
    ("Cortex", "4.4.8", "dendritic_computation.py", "0.30 n + 0.0114 n²; power-law compression"),
    ("Cortex", "4.4.6", "microglial_pruning.py", "CD55; CD47"),
    (
        "Cortex",
        "4.4.9",
        "engram.py (half-life)",
        "No half-life was fitted, as far as is known here",
    ),
    ("Cortex", "4.4.2", "separation_core.py", "0.48"),
    ("Cortex", "4.2.3", "two_stage_transfer.py", "0.954; hippocampal"),
    ("Cortex", "4.2.1", "cascade_stages.py", "175"),
    ("Cortex", "4.2.5", "schema_engine.py", "2.5 times; 50 % against 15 times"),
    ("Cortex", "4.2.1", "cascade_advancement.py", "no factor"),
    ("Cortex", "4.2.3", "compression.py", "Shannon"),
    ("Cortex", "4.3.5", "hdc_encoder.py", "63 %"),
    ("Cortex", "4.2.1", "cascade_stages.py", "is right; not cited"),
    ("Cortex", "4.2.2", "replay.py", "Both directions are right; not cited and does not count"),
    ("Cortex", "4.2.2", "replay_execution.py", "Right: the compression is 15 to 20"),
    ("Cortex", "4.4.7", "tripartite_synapse.py", "is right; in the next row"),
    (
        "Cortex",
        "6.3.2",
        "BEAM-10M, improvement by the assembler",
        "21.5 %; 33.4 % is that of 0.471",
    ),
    ("Cortex", "1.3 against 6.3.2", "BEAM-10M, MRR", "Nothing in it gives 0.471"),
    ("Cortex", "6.3.2", "BEAM-10M, abilities that improve", "Eight of the ten; 4 of 18"),
    (
        "Cortex",
        "5.1 against 6.3.1",
        "BEAM-100K, MRR of the pipeline",
        "Two numbers for the same pipeline",
    ),
    ("Cortex", "6.4.1", "BEAM-100K, production default", "6.4.1 gives 0.591 and 6.4.3 gives 0.569"),
    ("Cortex", "6.1", "LongMemEval", "agree with one another; they are third"),
    ("Cortex", "6.2", "LoCoMo", "under other names; with no other assignment"),
    ("True Memory", "4.1 stage 1", "novelty", "20 bytes; 0.68; 32,768"),
    ("True Memory", "4.1 stage 1", "encoding gate", "reaches 2; salience floor; public code"),
    ("Context Assembly Specification", "Recent Events", "calculateRecencyScore", "16.6 h"),
]


@pytest.fixture(scope="module")
def references() -> References:
    return load()


@pytest.fixture(scope="module")
def systems(registry: Registry, references: References) -> dict[str, SourceSystem]:
    return {s.name: s for s in read(registry, references)}


def test_every_source_system_is_there(systems: dict[str, SourceSystem]) -> None:
    assert set(systems) == {"All-Mem", "Context Assembly Specification", "Cortex", "True Memory"}
    assert all(s.claims and s.citations and len(s.scale) > 80 for s in systems.values())


def test_every_row_of_the_rating_tables_is_there_under_its_own_word(
    systems: dict[str, SourceSystem],
) -> None:
    found: dict[str, dict[int, set[str]]] = {word: {} for word in ROWS}
    for claim in systems["Cortex"].claims:
        if row := re.match(r"7\.2 ([A-Z]+), row (\d+)(;|$)", claim.place):
            assert claim.claimed == row[1], claim.module
            found[row[1]].setdefault(int(row[2]), set()).add(claim.module.partition(".py")[0])
        else:
            assert "no row in 7.2" in claim.place or "no rating" in claim.place, claim.place
    assert found == {
        word: {n: {module} for n, module in enumerate(modules, 1)} for word, modules in ROWS.items()
    }


def test_the_counts_that_the_scale_gives_are_those_of_the_tables(
    systems: dict[str, SourceSystem],
) -> None:
    scale, each = systems["Cortex"].scale, [len(modules) for modules in ROWS.values()]
    assert (
        f"{' + '.join(map(str, each))} = {sum(each)} rows, of {len(set().union(*ROWS.values()))} different modules"
        in scale
    )
    assert "12 + 12 + 8 + 1 = 33" in scale


def test_what_only_the_text_rates_or_names_is_there(systems: dict[str, SourceSystem]) -> None:
    found = {
        name: c.claimed
        for c in systems["Cortex"].claims
        if not c.place.startswith("7.2")
        for name in re.findall(r"(\w+)\.py", c.module)
    }
    assert {name: found[name] for name in TEXT_ONLY} == TEXT_ONLY
    rated = {name for name, word in found.items() if word in Rating.__members__}
    assert rated == {name for name, word in TEXT_ONLY.items() if word in Rating.__members__}


@pytest.mark.parametrize("module", AT_ODDS)
def test_where_text_and_table_differ_the_finding_says_so(
    systems: dict[str, SourceSystem], module: str
) -> None:
    assert any(
        AT_ODDS[module] in c.finding
        for c in systems["Cortex"].claims
        if c.module.startswith(f"{module}.py")
    )


def test_every_rating_in_one_of_our_words_has_a_finding_and_says_what_it_cites(
    systems: dict[str, SourceSystem],
) -> None:
    for system in systems.values():
        for claim in system.claims:
            assert bool(claim.cites) == (claim.citation is not Citation.NONE), claim.module
            assert claim.finding or claim.claimed not in Rating.__members__, claim.module
            assert claim.corrected or claim.citation in (Citation.NONE, Citation.SOUND), (
                claim.module
            )


def test_formulas_of_the_papers_turn_into_mathml_without_leftovers(
    systems: dict[str, SourceSystem],
) -> None:
    formulas = [c.paper for s in systems.values() for c in s.claims if c.paper]
    assert len(formulas) > 20
    for tex in formulas:
        made = str(mathml(tex))
        assert made.startswith("<math") and "\\" not in made and tex.count("{") == tex.count("}"), (
            tex
        )


def test_no_equation_sets_an_assignment_as_two_signs_with_a_gap() -> None:
    """A browser puts space around each operator of MathML, so that += looks like + =."""
    for entry in Registry.read().entries.values():
        for equation in entry.equations:
            assert not re.search(
                r"[+×−]</mo>(</mrow></mo>)?<mo>=</mo>", str(mathml(equation.tex))
            ), f"{entry.id}: {equation.id}"


def test_a_named_function_stands_apart_and_a_script_keeps_its_two_parts() -> None:
    room = '<mspace width="0.17em" />'
    assert f"<mi>d</mi>{room}<mi>ln</mi>{room}<mi>L</mi>" in str(mathml(r"n - d \ln L"))
    assert "<msub><mo>max</mo><mrow><mi>j</mi></mrow></msub>" in str(
        mathml(r"\max_{j} x")
    ) and room not in str(mathml(r"\exp(x)"))
    assert str(mathml(r"\left(a \quad b\right)")).count("<math") == 1, "no break inside brackets"


@pytest.mark.parametrize(
    ("system", "place", "words", "stands", "right"),
    CITATIONS,
    ids=[f"{s} {p} {w}" for s, p, w, *_ in CITATIONS],
)
def test_a_citation_is_judged_and_put_right(
    systems: dict[str, SourceSystem],
    system: str,
    place: str,
    words: str,
    stands: Citation,
    right: str,
) -> None:
    all_of_it: list[Claim | PrintedCitation] = [*systems[system].claims, *systems[system].citations]
    found = [c for c in all_of_it if place in c.place and words in c.cites and right in c.corrected]
    assert found and all(c.citation is stands for c in found)


@pytest.mark.parametrize(
    ("system", "place", "module", "words"), FINDINGS, ids=[f"{s} {m}" for s, _, m, _ in FINDINGS]
)
def test_an_error_of_an_equation_is_reported(
    systems: dict[str, SourceSystem], system: str, place: str, module: str, words: str
) -> None:
    (claim,) = (c for c in systems[system].claims if c.module == module)
    assert place in claim.place and not [w for w in words.split("; ") if w not in claim.finding]


def test_numbers_of_the_findings_follow_from_what_is_printed(
    systems: dict[str, SourceSystem],
) -> None:
    output = {c.module: c.finding for c in systems["Cortex"].claims}
    depth = range(1, 4)
    compounded, per_hop = (
        ", ".join(f"{0.65**n:.4f}".rstrip("0") for n in ns)
        for ns in ([d * (d + 1) // 2 for d in depth], depth)
    )
    assert f"{compounded} along a chain instead of {per_hop}" in output["spreading_activation.py"]
    u, x, released = 0.0, 1.0, []
    # the printed jumps, nothing between them
    for _ in range(4):
        u += 0.5 * (1 - u)
        released.append(u * x)
        x -= u * x
    assert ", ".join(f"{r:.3g}" for r in released) in output["synaptic_plasticity.py"]
    total = 0.0
    reached: list[int] = []
    for n in range(1, 600):  # the sum of 0.02 / sqrt(n)
        total += 0.02 / n**0.5
        if n == 3:
            assert f"still {1 - total:.3f}" in output["two_stage_transfer.py"]
        if len(reached) < 2 and total >= (0.5, 0.9)[len(reached)]:
            reached.append(n)
    assert (
        f"one half is reached at {reached[0]} replays, 0.9 at {reached[1]}"
        in output["two_stage_transfer.py"]
    )
    assert (
        f"+{(0.03 - 0.02) * 24:.2f} weight hours" in output["synaptic_plasticity_hebbian.py (STDP)"]
    )
    assert f"by {2.8 / 61 * 0.45:.3f} at most" in output["the blend with the cross-encoder"]
    assert f"{-math.log(1 - 0.5):.4f} at d = 0.5" in output["decay_cycle.py"]
    recency = systems["Context Assembly Specification"].claims[0].finding
    assert f"{math.exp(-1):.3f}" in recency and f"{24 * math.log(2):.1f} h" in recency


def numbers(text: str) -> list[float]:
    """The decimal numbers of a text in order, without percentages."""
    return [float(x) for x in re.findall(r"[+-]?\d*\.\d+(?![\d%])", text)]


def test_the_arithmetic_of_the_headline_numbers(systems: dict[str, SourceSystem]) -> None:
    printed = {c.module: c.printed for c in systems["Cortex"].claims}
    output = {c.module: c.finding for c in systems["Cortex"].claims}

    name = "BEAM-10M, improvement by the assembler"
    flat, assembled, gain = numbers(printed[name])
    headline, overall, *abilities = numbers(
        printed["BEAM-10M, MRR"].replace("1.3:", "").replace("6.3.2:", "")
    )
    assert (
        assembled == overall and round(assembled - flat, 3) == gain and "(+33.4%)" in printed[name]
    )
    assert f"an improvement of {assembled / flat - 1:.1%}".replace("%", " %") in output[name]
    assert (
        f"{headline / flat - 1:.1%}".replace("%", " %") + f" is that of {headline}" in output[name]
    )
    assert len(abilities) == 10 and round(sum(abilities) / 10, 3) == overall != headline
    assert f"average {overall}" in output["BEAM-10M, MRR"]

    name = "BEAM-10M, abilities that improve"
    gains = numbers(printed[name])
    assert [sum(g > 0 for g in gains), gains.count(0.0), sum(g < 0 for g in gains)] == [
        8,
        1,
        1,
    ] and sorted(gains)[-3:] == [0.097, 0.128, 0.25]
    assert not (0.222 * 20).is_integer() and round(4 / 18, 3) == 0.222
    assert [
        (hit, of) for of in (18, 19, 20) for hit in range(of + 1) if round(hit / of, 3) == 0.222
    ] == [(4, 18)]

    name = "BEAM-100K, MRR of the pipeline"
    at_first, at_last, later, assembled, gain = numbers(
        printed[name].replace("5.1:", "").replace("6.3.1:", "")
    )
    assert (
        f"{1 - at_last / at_first:.1%} with the first and {1 - at_last / later:.1%} with".replace(
            "%", " %"
        )
        in " ".join(output[name].split())
    )
    assert round(assembled - later, 3) == gain and at_last == flat

    name = "BEAM-100K, production default"
    alphas, heats = printed[name].split("6.4.3:")
    assert numbers(alphas)[-4:-2] == [0.55, 0.591] and numbers(heats) == [0.3, 0.569, 0.7, 0.591]


def weighted(counts: tuple[int, ...], rows: list[float], digits: int) -> float:
    return round(sum(n * x for n, x in zip(counts, rows, strict=True)) / sum(counts), digits)


def scores(text: str) -> tuple[float, float, list[float], list[float]]:
    """R@10 and MRR in all, then MRR and R@10 of each category."""
    percents = [float(x) for x in re.findall(r"[\d.]+(?=%)", text)]
    mrr = numbers(text.replace("R@10", ""))
    return percents[0], mrr[0], mrr[1:], percents[1:]


def test_the_categories_of_longmemeval_average_to_its_totals(
    systems: dict[str, SourceSystem],
) -> None:
    (claim,) = (c for c in systems["Cortex"].claims if c.module == "LongMemEval")
    found, mrr, mrrs, recalls = scores(claim.printed)
    counts = (56, 133, 78, 133, 70, 30)
    assert ", ".join(map(str, counts[:-1])) + f" and {counts[-1]} of {sum(counts)}" in " ".join(
        claim.finding.split()
    )
    assert (
        (weighted(counts, mrrs, 3), weighted(counts, recalls, 1)) == (mrr, found) == (0.882, 97.8)
    )
    assert (
        sorted(mrrs, reverse=True).index(mrrs[2]) == 2
        and recalls.count(100.0) == 2
        and "by MRR they are third" in claim.finding
    )
    assert round(found - 78.4, 1) == 19.4 and "(vs. 78.4% best published)" in claim.claimed


def test_only_other_names_of_its_categories_give_the_totals_of_locomo(
    systems: dict[str, SourceSystem],
) -> None:
    (claim,) = (c for c in systems["Cortex"].claims if c.module == "LoCoMo")
    found, mrr, mrrs, recalls = scores(claim.printed.replace("1,986", ""))
    size = {
        "adversarial": 446,
        "open-domain": 96,
        "multi-hop": 282,
        "single-hop": 841,
        "temporal": 321,
    }
    assert (
        list(size) == re.findall(r"[a-z-]+(?= 0\.)", claim.printed) and sum(size.values()) == 1986
    )
    output = " ".join(claim.finding.split())
    assert (
        f"an MRR of {weighted(tuple(size.values()), mrrs, 3)} and {weighted(tuple(size.values()), recalls, 1)} %"
        in output
    )
    fits = [
        names
        for names in itertools.permutations(size)
        if (
            weighted(tuple(size[n] for n in names), mrrs, 3),
            weighted(tuple(size[n] for n in names), recalls, 1),
        )
        == (mrr, found)
    ]
    assert [dict(zip(size, names, strict=True)) for names in fits] == [
        {
            "adversarial": "adversarial",
            "open-domain": "single-hop",
            "multi-hop": "temporal",
            "single-hop": "multi-hop",
            "temporal": "open-domain",
        }
    ]


def test_what_stands_in_for_a_mechanism_exists(systems: dict[str, SourceSystem]) -> None:
    """A row that is not run because the engine does it names the file; files and mechanisms that
    rows name exist.
    """
    registry = Registry.read()
    named = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b(?![./(])")
    of_sources = {Path(c.module).stem for system in systems.values() for c in system.claims}
    for system in systems.values():
        for claim in system.claims:
            files = re.findall(
                r"\b(?:engine|mechanisms)/[\w/]+\.py", f"{claim.why_none} {claim.finding}"
            )
            assert all((ROOT / file).is_file() for file in files), claim
            if "part of the engine" in claim.why_none or "step of the engine" in claim.why_none:
                assert files, f"{claim.module}: say where the engine does it"
            known = registry.entries.keys() | of_sources
            gone = set(named.findall(claim.why_none)) - known
            assert not gone, f"{claim.module}: there is no {gone}"


@pytest.mark.parametrize(
    "name", ["Martin 2017", "Deust 2025", "Kumaran 2016", "Aimone et al. 2014"]
)
def test_what_is_cited_and_not_listed_is_reported(
    systems: dict[str, SourceSystem], name: str
) -> None:
    (cited,) = (
        c for c in systems["Cortex"].citations if "missing from the list of references" in c.finding
    )
    assert name in cited.cites


def test_checks_of_a_row_exist_and_count_for_its_form(
    systems: dict[str, SourceSystem], registry: Registry
) -> None:
    rows = [c for s in systems.values() for c in s.claims if c.checks]
    assert {c.module for c in rows} == {
        "two_stage_transfer.py",
        "engram.py (half-life)",
        "tripartite_synapse.py",
        "replay_execution.py",
        "Platt sigmoid for the gate, rejected",
    }
    for claim in rows:
        evidence, cited = (
            evidence_of(import_module(f"hebbarium.audit.evidence.{claim.variety}")),
            set(registry.entry(claim.variety).papers),
        )
        for check in map(evidence.check, claim.checks):
            assert check.gates and (not check.papers or cited & set(check.papers)), check.id


GOOD = """\
name: Some system
key: cortex2026
scale: Two words.
claims:
  - {module: a.py, place: table, claimed: FAITHFUL, variety: titans_memory_printed}
  - {module: b.py, place: table, claimed: HONEST, why_none: nothing is printed}
"""


@pytest.mark.parametrize(("old", "new", "words", "cure"), [
    ("titans_memory_printed", "titans_memory_misprinted", "titans_memory_misprinted",
     "titans_memory_printed"),
    ("key: cortex2026", "key: cortex2025", "cortex2025", "cortex2026"),
    ("claimed: HONEST,", "claimed: HONEST, corrected: [kandel1901molecular],",
     "kandel1901molecular", ""),
    (", why_none: nothing is printed", "", "is tied to no mechanism", "variety or why_none"),
    ("variety: titans", "why_none: none, variety: titans",
     "is tied to no mechanism and does not say why, or", "variety or why_none"),
    ("place: table, claimed: HONEST", "claimed: HONEST", "claims.1.place", "for the form"),
    ("claimed: HONEST", "claimed: HONEST, citation: wrong", "claims.1.citation", "for the form"),
    ("scale: Two words.", "scale: Two words.\nverdict: none", "verdict", "for the form"),
    ("why_none: nothing is printed", "why_none: nothing is printed, checks: [X-1]",
     "names checks and no form", "leave out checks"),
])  # fmt: skip
def test_a_file_that_is_not_sound_is_refused(
    registry: Registry,
    references: References,
    tmp_path: Path,
    old: str,
    new: str,
    words: str,
    cure: str,
) -> None:
    file = tmp_path / "some.yaml"
    file.write_text(GOOD, encoding="utf-8")
    assert [s.name for s in read(registry, references, tmp_path)] == ["Some system"]
    assert GOOD.count(old) == 1
    file.write_text(GOOD.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(words)) as caught:
        read(registry, references, tmp_path)
    assert str(file) in caught.value.where and caught.value.cure and cure in caught.value.cure


def judged(id: str, rating: Rating, *reasons: str) -> MechanismResult:
    return MechanismResult(
        id,
        Rating.FAITHFUL,
        RatingVerdict(rating, reasons),
        "titans_memory",
        ("cortex2026",),
        (),
        (),
    )


def test_claims_stand_beside_what_the_audit_derived() -> None:
    claims = tuple(
        Claim(module=m, place="table", claimed=word, variety=v, why_none="" if v else "not printed")
        for m, word, v in (
            ("falls", "FAITHFUL", "one"),
            ("stands", "DOCUMENTED", "two"),
            ("other words", '"inspired by"', "two"),
            ("not run", "HONEST", "absent"),
            ("not tied", "HONEST", ""),
        )
    )
    result = AuditResult(
        (
            judged("one", Rating.APPROXIMATION, "equation X-1 fails"),
            judged("two", Rating.FAITHFUL, "all pass"),
        )
    )
    rows = compared(SourceSystem(name="S", key="cortex2026", scale="", claims=claims), result)
    assert [(r.claim.module, r.derived, r.stands, r.why) for r in rows] == [
        ("falls", Rating.APPROXIMATION, False, ("equation X-1 fails",)),
        ("stands", Rating.FAITHFUL, True, ("all pass",)),
        ("other words", Rating.FAITHFUL, None, ("all pass",)),
        ("not run", None, None, ()),
        ("not tied", None, None, ()),
    ]
    assert not any(r.ours for r in rows)


def of_kind(id: str, kind: CheckKind, score: Score) -> CheckResult:
    return CheckResult(
        Check(id, kind, "by hand", lambda specimen: True),
        score,
        1.0,
        1.0 if score is Score.PASS else 2.0,
    )


@pytest.mark.parametrize(
    ("checks", "derived", "stands"),
    [
        ((), Rating.APPROXIMATION, False),
        (("X-1",), Rating.DOCUMENTED, True),
        (("X-3",), Rating.HONEST, False),
        (("X-2",), Rating.APPROXIMATION, False),
    ],
)
def test_a_row_is_judged_by_the_checks_that_it_names(
    checks: tuple[str, ...], derived: Rating, stands: bool
) -> None:
    results = (
        of_kind("X-1", CheckKind.EQUATION, Score.PASS),
        of_kind("X-2", CheckKind.SIGNATURE, Score.FAIL),
        of_kind("X-3", CheckKind.ADAPTATION, Score.PASS),
    )
    run = replace(judged("one", Rating.APPROXIMATION, "signature X-2 fails"), checks=results)
    claim = Claim(module="m", place="table", claimed="DOCUMENTED", variety="one", checks=checks)
    (row,) = compared(
        SourceSystem(name="S", key="cortex2026", scale="", claims=(claim,)), AuditResult((run,))
    )
    assert (row.derived, row.stands) == (derived, stands) and (
        not checks or f"judged by {checks[0]} alone" in row.why[0]
    )


def test_a_row_that_names_a_check_of_another_form_is_refused() -> None:
    claim = Claim(module="m", place="table", claimed="DOCUMENTED", variety="one", checks=("X-9",))
    with pytest.raises(DataError, match="X-9"):
        compared(
            SourceSystem(name="S", key="cortex2026", scale="", claims=(claim,)),
            AuditResult((judged("one", Rating.FAITHFUL, "all pass"),)),
        )


@pytest.mark.parametrize(
    ("papers", "ours"), [(("cortex2026",), False), (("kanerva2009hyperdimensional",), True)]
)
def test_a_form_of_our_own_is_distinguished_from_a_transcription(
    papers: tuple[str, ...], ours: bool
) -> None:
    run = MechanismResult(
        "one", Rating.FAITHFUL, RatingVerdict(Rating.FAITHFUL, ("all pass",)), None, papers, (), ()
    )
    claim = Claim(module="m", place="table", claimed="DOCUMENTED", variety="one")
    (row,) = compared(
        SourceSystem(name="S", key="cortex2026", scale="", claims=(claim,)), AuditResult((run,))
    )
    assert row.derived is Rating.FAITHFUL and row.ours is ours
