"""Evidence that acetylcholine and norepinephrine share: the validity of a cue, and events that are as
far from the topic as from the average.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def posterior_means(specimen: Any) -> tuple[list[float], list[float]]:
    """The specimen's `validity`, and the mean of the posterior under a Beta prior, by numerical
    integration.
    """
    g = (np.arange(200_000) + 0.5) / 200_000
    cases = [(3.0, 4.0, 1.0, 1.0), (0.0, 5.0, 9.0, 1.0), (40.0, 50.0, 2.0, 3.0)]
    expected = []
    for valid, trials, a, b in cases:
        weight = g ** (valid + a - 1.0) * (1.0 - g) ** (trials - valid + b - 1.0)
        expected.append(float((g * weight).sum() / weight.sum()))
    return [specimen.validity(*c) for c in cases], expected


def ties(specimen: Any) -> tuple[list[bool], list[bool]]:
    """Whether the specimen's `fits` takes a direction that differs from the topic's by 0, by rounding
    and by more, and one event that is the average; and by hand.
    """
    topic = np.array([[1.0, 0.0], [0.0, 0.0]])
    fields = (topic, topic, topic, np.array([[0.3, 0.4]] * 2))
    vectors = ([0.0, 1.0], [-1e-9, 1.0], [-1.1e-9, 1.0], [-1.0, 0.0])
    measured = [bool(specimen.fits(f, np.array(x))) for f, x in zip(fields, vectors, strict=True)]
    return measured, [True, True, False, True]
