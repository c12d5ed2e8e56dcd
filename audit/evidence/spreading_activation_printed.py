"""Evidence for spreading_activation_printed: what Cortex 4.3.1 says it does, and the checks of the papers' form on the printed one."""
from __future__ import annotations

import functools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..checks import Check, adaptation, mutant
from . import spreading_activation as papers

THRESHOLD, MOST_NODES = 0.1, 50


def printed(specimen: Any, seeds: Any, *network: Any, gamma: float, depth: int, threshold: float, out: Any) -> int:
    return int(specimen.spread(np.asarray(seeds), *network, gamma, depth, threshold, MOST_NODES, out))


def as_network(specimen: Any) -> SimpleNamespace:
    """The printed form without its threshold in the place of the linear network; it knows seeds of 1 and no limited release."""
    def spread(seeds: Any, attention: Any, *rest: Any) -> int:
        *network, gamma, hops, _limited, _least_share, out = rest
        return printed(specimen, seeds, *network, gamma=gamma, depth=hops, threshold=0.0, out=out)

    return SimpleNamespace(spread=spread)


def on_printed(check: Check) -> Check:
    """A check of the linear network, asked of the printed form."""

    @functools.wraps(check.function)
    def function(specimen: Any) -> Any:
        return check.function(as_network(specimen))

    return replace(check, function=function)


# --- as printed --------------------------------------------------------------------------------------------------------------
@adaptation("SAP-1", source="Cortex 4.3.1: gamma^(d(d+1)/2) on a chain of links of strength 1")
def the_printed_sum_compounds_its_decay(specimen: Any) -> Any:
    out = np.zeros(4)
    printed(specimen, [0], *papers.packed(4, papers.CHAIN), gamma=0.65, depth=3, threshold=0.0, out=out)
    return out[1:], [0.65 ** (d * (d + 1) / 2) for d in (1, 2, 3)]


@adaptation("SAP-2", source="Cortex 4.3.1: depth 3, threshold 0.1; 0.65^6 = 0.0754")
def nothing_three_hops_away_reaches_the_threshold(specimen: Any) -> Any:
    out = np.zeros(4)
    printed(specimen, [0], *papers.packed(4, papers.CHAIN), gamma=0.65, depth=3, threshold=THRESHOLD, out=out)
    return bool(out[2] > 0.0 and out[3] == 0.0)


@adaptation("SAP-3", source="Cortex 4.3.1: at most 50 nodes")
def a_hub_activates_fifty_nodes_and_no_more(specimen: Any) -> Any:
    out = np.zeros(101)
    return printed(specimen, [0], *papers.packed(101, papers.star(100)), gamma=0.65, depth=3, threshold=THRESHOLD, out=out), MOST_NODES


# --- the papers' checks ------------------------------------------------------------------------------------------------------
fan_equation = papers.strength_falls_with_the_log_of_the_fan
fan_effect = replace(papers.latency_correlates_with_the_measured_fan_effect, figure=None)    # has no fan to be drawn
per_hop = on_printed(papers.each_hop_decays_once)
convergence = on_printed(papers.converging_paths_are_summed)
walks = on_printed(papers.activation_is_the_sum_over_all_walks)
cycle = on_printed(papers.the_cut_sum_tends_to_the_fixed_point_of_a_cycle)
complete_graph = on_printed(papers.limited_release_converges_on_a_complete_graph)
superposition = on_printed(papers.activations_of_two_seeds_superpose)
hub_dilution = on_printed(papers.a_hub_tells_less_about_each_of_its_neighbours)


# --- to be seen --------------------------------------------------------------------------------------------------------------
hops_picture = papers.activation_over_hops.of_variety(
    "Activation along a chain in the printed form: its decay compounds, so that it falls ever faster below gamma^d; links are not shared out",
    as_network)


@mutant("decay once a hop, which is not what is printed", rejected_by="SAP-1")
def per_hop_decay(specimen: Any) -> Any:
    return specimen.replacing("spread", lambda seeds, st, de, po, ta, w, gamma, depth, threshold, most, out: papers.breadth_first(
        seeds, np.ones(len(seeds)), st, de, po, ta, w, gamma, depth, out, lambda d: gamma, False))
