"""Schema formation as Cortex 4.2.5 prints it: matches memories to schemas by tag overlap, and moves
a schema towards memories that match it badly.

A memory whose match with a schema (0.7 Jaccard of entities + 0.3 Jaccard of tags) is at least 0.7
is assimilated and consolidates up to 2.5 times as fast (4.2.3); one whose match is below 0.3 is
accommodated: the schema moves a tenth of the way towards it, whatever its content.  Tags are the
attributes `tags` of an event; the terms of one without tags stand in their place.  A tag of all
memories counts as much as any other.  The quantity called free energy is the sum of squared errors.

Cost, with K schemas and H buckets: O(K H) per event.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import CONGRUENCY, ENCODING_STRENGTH, ROW
from ...engine.text.utf8 import encoded

# --- columns --------------------------------------------------------------------------------------
SCHEMA_ENTITIES = Column(
    "schema_entities",
    np.float32,
    Scope.GLOBAL,
    "1",
    0.0,
    "entity signature of each schema",
    ("schemas", "buckets"),
    low=0,
    high=1,
)
SCHEMA_TAGS = Column(
    "schema_tags",
    np.float32,
    Scope.GLOBAL,
    "1",
    0.0,
    "tag distribution of each schema",
    ("schemas", "buckets"),
    low=0,
    high=1,
)
SCHEMAS_KNOWN = Column(
    "schemas_known", np.int64, Scope.GLOBAL, "schemas", 0, "schemas so far", low=0
)
SCHEMA_BEST = Column(
    "schema_best",
    np.int64,
    Scope.EVENT,
    "1",
    -1,
    "schema that the event matches best; -1: no overlap with any",
)
SCHEMA_OVERLAP = Column(
    "schema_overlap",
    np.float64,
    Scope.EVENT,
    "1",
    0.0,
    "match of the event with its best schema",
    low=0,
    high=1,
)
SCHEMA_FREE_ENERGY = Column(
    "schema_free_energy",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "sum of squared errors of the schema's prediction",
    low=0,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def jaccard(x: Any, w: Any) -> float:
    """sum min(x, w) / sum max(x, w), for sets their Jaccard index; 0 if both are empty.  Cortex
    4.2.5.  Cost: O(H).

    x  (m,)     features of the memory, each once
    w  (H,)  1  signature of a schema, 0..1

    >>> jaccard(np.array([0, 1]), np.array([1.0, 0.0, 1.0]))
    0.3333333333333333
    """
    common, union = 0.0, float(x.shape[0])
    for f in range(w.shape[0]):
        union += w[f]
    for f in x:
        common += w[f]
        union -= w[f]
    return common / union if union > 0.0 else 0.0


@kernel
def match(entities: float, tags: float, share: float) -> float:
    """0.7 entity + 0.3 tag overlap; `share` is the 0.7.  Cortex 4.2.5.  Cost: O(1).

    >>> match(1.0, 0.5, 0.7)
    0.85
    """
    return share * entities + (1.0 - share) * tags


@kernel
def acceleration(matched: float, most: float) -> float:
    """Factor on transfer, up to 2.5 for a full match.  Cortex 4.2.3; linear in its public code.
    Cost: O(1).

    >>> acceleration(0.0, 2.5), acceleration(1.0, 2.5)
    (1.0, 2.5)
    """
    return 1.0 + (most - 1.0) * matched


@kernel
def drift(w: Any, x: Any, alpha: float) -> None:
    """w <- (1 - alpha) w + alpha x.  Cortex 4.2.5, accommodation.  Cost: O(H).

    w  (H,)  1  changed;  x  (m,)  features that the memory has

    >>> w = np.array([1.0, 0.0]); drift(w, np.array([1]), 0.1); w.round(6).tolist()
    [0.9, 0.1]
    """
    for f in range(w.shape[0]):
        w[f] *= 1.0 - alpha
    for f in x:
        w[f] += alpha


@kernel
def free_energy(x: Any, w: Any) -> float:
    """F = sum_i (x_i - w_i)^2.  Cortex 4.2.5.  Cost: O(H).

    >>> free_energy(np.array([1]), np.array([0.5, 0.0]))
    1.25
    """
    total = 0.0
    for f in range(w.shape[0]):
        total += w[f] * w[f]
    for f in x:
        total += 1.0 - 2.0 * w[f]
    return total


def features_of(names: Sequence[str], buckets: int) -> Any:
    """Hash buckets of some names, each once, ascending."""
    return np.unique([crc32(encoded(name)) % buckets for name in names]).astype(np.int64)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SchemaFormationPrintedParams(Params):
    entity_share: float
    assimilate: float
    accommodate: float
    alpha: float
    most: float
    schemas: int
    buckets: int
    strength_gain: float


class SchemaFormationPrinted(Mechanism[SchemaFormationPrintedParams]):
    owns = (
        SCHEMA_ENTITIES,
        SCHEMA_TAGS,
        SCHEMAS_KNOWN,
        SCHEMA_BEST,
        SCHEMA_OVERLAP,
        SCHEMA_FREE_ENERGY,
    )

    @hook(
        Phase.ENCODE,
        reads=(SCHEMA_ENTITIES.before, SCHEMA_TAGS.before, SCHEMAS_KNOWN.before),
        adds=(ENCODING_STRENGTH,),
        sets=(SCHEMA_BEST, SCHEMA_OVERLAP),
    )
    def classify(self, view: Any, incoming: Incoming) -> None:
        """Find the best matching schema; only an event above the assimilation threshold is
        accelerated.
        """
        p, (entities, tags) = self.params, self._features(incoming)
        for k in range(view.schemas_known):
            matched = match(
                jaccard(entities, view.schema_entities[k]),
                jaccard(tags, view.schema_tags[k]),
                p.entity_share,
            )
            if matched > view.schema_overlap:
                view.schema_best, view.schema_overlap = k, matched
        if view.schema_overlap >= p.assimilate:
            view.encoding_strength = p.strength_gain * math.log(
                acceleration(view.schema_overlap, p.most)
            )

    @hook(
        Phase.ENCODE,
        reads=(ROW, SCHEMA_BEST, SCHEMA_OVERLAP),
        adds=(),
        sets=(SCHEMA_ENTITIES, SCHEMA_TAGS, SCHEMAS_KNOWN, SCHEMA_FREE_ENERGY, CONGRUENCY),
    )
    def revise(self, view: Any, incoming: Incoming) -> None:
        """An event with no overlap starts a schema while there is room; one below the
        accommodation threshold moves its best schema.
        """
        p, k, (entities, tags) = self.params, view.schema_best, self._features(incoming)
        view.congruency[view.row] = min(view.schema_overlap, 1.0)
        if k < 0 and view.schemas_known < p.schemas:
            k = view.schemas_known
            view.schema_entities[k, entities] = view.schema_tags[k, tags] = 1.0
            view.schemas_known += 1
        k = max(k, 0)
        view.schema_free_energy[view.row] = free_energy(
            entities, view.schema_entities[k]
        ) + free_energy(tags, view.schema_tags[k])
        if view.schema_overlap < p.accommodate:
            drift(view.schema_entities[k], entities, p.alpha)
            drift(view.schema_tags[k], tags, p.alpha)

    def _features(self, incoming: Incoming) -> tuple[Any, Any]:
        """Buckets of the entities, and of the tags: the attributes `tags` of the event, or its terms
        if it has none.
        """
        tags = [value for name, value in incoming.event.attributes if name == "tags"]
        return features_of(incoming.features.entities, self.params.buckets), features_of(
            tags or incoming.features.terms, self.params.buckets
        )
