"""Evidence for spreading_activation_printed: the equation of Cortex 4.3.1, and the checks of the
papers' form applied to it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ..checks import adaptation, mutant
from ..memory import encode, memory_of
from . import spreading_activation as papers

THRESHOLD, MOST_NODES = 0.1, 50


def printed(
    specimen: Any, seeds: Any, *network: Any, gamma: float, depth: int, threshold: float, out: Any
) -> int:
    return int(
        specimen.spread(np.asarray(seeds), *network, gamma, depth, threshold, MOST_NODES, out)
    )


def as_network(specimen: Any) -> SimpleNamespace:
    """The printed form without its threshold under the names of the linear network; seeds have
    activation 1, release is not limited.
    """

    def spread(seeds: Any, attention: Any, *rest: Any) -> int:
        *network, gamma, hops, _limited, _least_share, out = rest
        return printed(specimen, seeds, *network, gamma=gamma, depth=hops, threshold=0.0, out=out)

    return SimpleNamespace(spread=spread)


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "SAP-1",
    source="Cortex 4.3.1: gamma^(d(d+1)/2) on a chain of links of strength 1",
    papers=("cortex2026",),
)
def the_printed_sum_compounds_its_decay(specimen: Any) -> Any:
    out = np.zeros(4)
    printed(
        specimen, [0], *papers.packed(4, papers.CHAIN), gamma=0.65, depth=3, threshold=0.0, out=out
    )
    return out[1:], [0.65 ** (d * (d + 1) / 2) for d in (1, 2, 3)]


@adaptation(
    "SAP-2", source="Cortex 4.3.1: depth 3, threshold 0.1; 0.65^6 = 0.0754", papers=("cortex2026",)
)
def no_node_three_hops_away_reaches_the_threshold(specimen: Any) -> Any:
    out = np.zeros(4)
    printed(
        specimen,
        [0],
        *papers.packed(4, papers.CHAIN),
        gamma=0.65,
        depth=3,
        threshold=THRESHOLD,
        out=out,
    )
    return bool(out[2] > 0.0 and out[3] == 0.0)


@adaptation("SAP-3", source="Cortex 4.3.1: at most 50 nodes", papers=("cortex2026",))
def a_hub_activates_at_most_fifty_nodes(specimen: Any) -> Any:
    out = np.zeros(101)
    return printed(
        specimen,
        [0],
        *papers.packed(101, papers.star(100)),
        gamma=0.65,
        depth=3,
        threshold=THRESHOLD,
        out=out,
    ), MOST_NODES


@adaptation(
    "SAP-4",
    source="Cortex 4.3.1 by hand: from all entities of the query that are known, 0.65 a hop to the power of its number; less than the threshold is none",
    atol=1e-7,
    papers=("cortex2026",),
)
def a_memory_spreads_from_the_entities_of_a_query(specimen: Any) -> Any:
    g = 0.65
    # three hops from Ada to "Bo met Cleo"; two ways from Ada and Cleo to Bo
    asked = (
        ("Ada", 0.05, (g, g**6, 0.0)),
        ("Ada", 0.1, (g, 0.0, 0.0)),
        ("Ada", g, (g, 0.0, 0.0)),
        ("Ada and Cleo", 0.05, (g, g, g)),
        ("Bo and Zed", 0.05, (g, g, g**6)),
        ("Zed", 0.05, (0.0, 0.0, 0.0)),
    )
    for query, threshold, expected in asked:
        memory = memory_of(specimen, threshold=threshold)
        encode(memory, (0.0, "Ada met Bo."), (1.0, "Bo met Cleo."), (2.0, "Cleo met Dan."))
        memory.retrieve(query)
        scores = memory.column(specimen.SPREAD_PRINTED)
        yield [*np.nan_to_num(scores), *np.isnan(scores)], [*expected, *(x == 0 for x in expected)]


# --- the papers' checks ---------------------------------------------------------------------------
fan_equation = papers.strength_falls_with_the_log_of_the_fan
# no fan in the printed form
fan_effect = papers.latencies_have_the_size_of_the_measured_fan_effect.of_variety(drawn=False)
per_hop = papers.each_hop_decays_once.of_variety(as_network)
convergence = papers.converging_paths_are_summed.of_variety(as_network)
walks = papers.activation_is_the_sum_over_all_walks.of_variety(as_network)
cycle = papers.the_truncated_sum_converges_to_the_fixed_point_of_a_cycle.of_variety(as_network)
complete_graph = papers.limited_release_converges_on_a_complete_graph.of_variety(as_network)
superposition = papers.activations_of_two_seeds_superpose.of_variety(as_network)
hub_dilution = papers.a_hub_gives_less_to_each_of_its_neighbours.of_variety(as_network)


# --- figures --------------------------------------------------------------------------------------
hops_picture = papers.activation_over_hops.of_variety(
    "Activation along a chain in the printed form: its decay compounds, so it falls faster than gamma^d; nodes do not divide it among their links",
    as_network,
)


@mutant("decay once per hop in place of the printed decay", rejected_by="SAP-1")
def per_hop_decay(specimen: Any) -> Any:
    return specimen.replacing(
        "spread",
        lambda seeds, st, de, po, ta, w, gamma, depth, threshold, most, out: papers.breadth_first(
            seeds, np.ones(len(seeds)), st, de, po, ta, w, gamma, depth, out, lambda d: gamma, False
        ),
    )


@mutant("the last entity of the query alone is a source", rejected_by="SAP-4")
def last_alone(specimen: Any) -> Any:
    return specimen.replacing("spread", lambda seeds, *rest: specimen.spread(seeds[-1:], *rest))


@mutant("a node at the threshold is below it", rejected_by="SAP-4")
def above_threshold(specimen: Any) -> Any:
    def spread(seeds: Any, *rest: Any) -> int:
        *network, gamma, depth, threshold, most, out = rest
        return int(specimen.spread(seeds, *network, gamma, depth, threshold + 1e-9, most, out))

    return specimen.replacing("spread", spread)


@mutant("one link less than the depth", rejected_by="SAP-4")
def less_deep(specimen: Any) -> Any:
    def spread(seeds: Any, *rest: Any) -> int:
        *network, gamma, depth, threshold, most, out = rest
        return int(specimen.spread(seeds, *network, gamma, depth - 1, threshold, most, out))

    return specimen.replacing("spread", spread)
