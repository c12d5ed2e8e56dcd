"""Event segmentation: divides a session into episodes where an event is surprising; an answer brings
back whole episodes, and the episodes next to them.

People predict what comes next from a model of what is happening now.  Where the error of the
prediction rises, they perceive that one event has ended and another begins, and build a new model
(Zacks, Speer, Swallow, Braver & Reynolds 2007).  EM-LLM (Fountas et al. 2025) does this to the text
that a language model reads: an episode begins at a token whose surprise exceeds the mean of the last
tau surprises by gamma standard deviations.

    S_t = -ln P(x_t | x_1, ..., x_{t-1})        T_t = mu + gamma sigma over the last tau surprises

It recalls whole episodes, k in all: the k_s whose best parts resemble the question most, and a buffer
of k_c episodes for what was near in time: from the most similar episode on, the one after it and the
one before it.

Here x_t is an event, and the model of the present episode is the direction of the sum of its
vectors.  Under a von Mises-Fisher density around this direction, S_t is a - kappa cos(x_t, model).
Neither a nor kappa > 0 changes where S_t > T_t, so 1 - cos is kept and no number is needed.

A session is a boundary, too: its first event is predicted by nothing, and episodes of other sessions
are not near in time.  Time itself makes no boundary: none of the papers has a rule for pauses.

Cost: O(n + tau d) per event; O(k n) per query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import formula
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import EMBEDDING, MATCH, ROW, SESSION, VISIBLE

# decimals of a surprise: what lies beyond them is the rounding of sums, which must not tell events
# apart that say the same
DECIMALS: Final = 12

# --- columns --------------------------------------------------------------------------------------
EPISODE = Column(
    "episode",
    np.int64,
    Scope.MEMORY,
    "1",
    -1,
    "number of the event's episode in its session, from 0; -1: in none",
    low=-1,
)
EPISODE_SURPRISE = Column(
    "episode_surprise",
    np.float32,
    Scope.MEMORY,
    "1",
    np.nan,
    "S, surprise of the event under the episode before it, from 0 to 2; NaN: not predicted",
    low=0,
    high=2,
)
EPISODE_RECALL = signal(
    "episode_recall",
    Facet.CONTEXT,
    "1 for memories of the episodes that the best matches bring back, and of those next to them",
    direct=False,
    scale=Scale.SIMILARITY,
)


# --- equations ------------------------------------------------------------------------------------
@formula
def surprise(episode: Any, vector: Any) -> float:
    """S_t = 1 - cos(x_t, sum of the episode's vectors): -ln of a von Mises-Fisher density around the
    direction of the episode, but for scale and constant.  Stands for -ln P(x_t | x_1, ...,
    x_{t-1}) of Fountas et al. (2025).  Cost: O(m d).

    episode  (m, d)  1  vectors of the events of the episode so far
    vector   (d,)    1  x_t
    returns          1  from 0 to 2; NaN: nothing is predicted, or the event is without content

    >>> surprise(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.0, 2.0])), surprise(np.eye(2), np.zeros(2))
    (0.292893218813, nan)
    """
    model, x = episode.sum(axis=0, dtype=np.float64), vector.astype(np.float64)
    with np.errstate(invalid="ignore"):
        cosine = (model @ x) / np.sqrt((model @ model) * (x @ x))
    return round(1.0 - float(cosine), DECIMALS)


@formula
def threshold(surprises: Any, gamma: float) -> float:
    """T = mu + gamma sigma, of the surprises before an event.  Fountas et al. (2025), eq. (1).
    Cost: O(tau).

    surprises  (t,)  1  at most the last tau
    gamma      ()    1  standard deviations
    returns          1  infinite for fewer than two surprises, whose deviation is not known

    >>> threshold(np.array([1.0, 3.0]), 1.0) == 2.0 + 2.0**0.5, threshold(np.ones(1), 1.0)
    (True, inf)
    """
    if len(surprises) < 2:
        return float("inf")
    last = np.asarray(surprises, np.float64)
    return float(last.mean() + gamma * last.std(ddof=1))


def brought_back(
    match: Any, visible: Any, session: Any, episode: Any, similar: int, contiguous: int
) -> NDArray[np.bool_]:
    """(n,) whether each memory is of an episode in the similarity buffer or in the contiguity buffer.
    Fountas et al. (2025), memory retrieval.  Cost: O(n (similar + contiguous)).

    match       (n,)  sd  match with the question; an episode is as similar as its best memory
    visible     (n,)      memories that may be answered: others neither recall an episode nor make one
                          that is next take a place
    session, episode  (n,)  1  EPISODE numbers within the session; -1: in no episode
    similar     ()        k_s, episodes; only those better than the mean of the memories, match 0
    contiguous  ()        k_c, episodes: from the most similar one on, the one after, the one before

    >>> match, seen = np.array([0.0, 3.0, 0.0, 0.0, 2.0]), np.ones(5, dtype=bool)
    >>> brought_back(match, seen, np.zeros(5), np.array([0, 1, 1, 2, 3]), 1, 1).tolist()
    [False, True, True, True, False]
    """
    recalled = np.zeros(len(match), dtype=np.bool_)
    scores = np.where(visible & (episode >= 0), match, 0.0)
    centres = list[tuple[int, int]]()
    for _ in range(similar):
        better = np.flatnonzero(scores > 0.0)
        if not better.size:
            break
        best = better[scores[better].argmax()]
        centres.append((session[best], episode[best]))
        mine = (session == session[best]) & (episode == episode[best])
        recalled |= mine
        scores[mine] = 0.0
    near = ((of, number + step) for of, number in centres for step in (1, -1))
    for of, number in near:
        if contiguous <= 0:
            break
        mine = (session == of) & (episode == number) & (number >= 0)
        if (mine & visible).any() and not (mine & recalled).any():
            recalled |= mine
            contiguous -= 1
    return recalled


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class EventSegmentationParams(Params):
    spread: float  # gamma
    window: int  # tau; also the most events of an episode that predict the next one
    recalled: int  # k = k_s + k_c
    contiguous_share: float  # k_c / k
    weight: float


class EventSegmentation(Mechanism[EventSegmentationParams]):
    """Numbers the episodes of each session; supports the memories of the episodes that the best
    matches bring back.
    """

    owns = (EPISODE, EPISODE_SURPRISE, EPISODE_RECALL)

    @hook(Phase.ENCODE, reads=(ROW, SESSION, EMBEDDING), adds=(), sets=(EPISODE, EPISODE_SURPRISE))
    def divide(self, view: Any, incoming: Incoming) -> None:
        p, row, episode = self.params, view.row, view.episode
        # rows that sleep made, and events from before this mechanism, are in no episode
        earlier = np.flatnonzero((view.session == incoming.session) & (episode >= 0))[-p.window :]
        if not earlier.size:
            episode[row] = 0
            return
        present = episode[earlier[-1]]
        members = earlier[episode[earlier] == present]
        error = surprise(view.embedding[members], view.embedding[row])
        past = view.episode_surprise
        bound = threshold(past[past == past][-p.window :], p.spread)
        view.episode_surprise[row] = error
        episode[row] = present + bool(np.float32(error) > bound)

    @hook(Phase.RETRIEVE, reads=(MATCH, VISIBLE, SESSION, EPISODE), adds=(), sets=(EPISODE_RECALL,))
    def recall(self, view: Any, cue: Cue) -> None:
        """No score if no memory matches better than the mean."""
        p = self.params
        contiguous = round(p.contiguous_share * p.recalled)
        recalled = brought_back(
            view.match,
            view.visible,
            view.session,
            view.episode,
            p.recalled - contiguous,
            contiguous,
        )
        if recalled.any():
            view.episode_recall[...] = recalled
