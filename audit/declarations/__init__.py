"""What a mechanism declares of its signals, its columns and its rest, against what it does, whether it
leaves archived, made and filtered rows alone, and whether it counts where events are told.

Each function `wrong_...` yields what is not as declared, in words.  The lives are those of `life`.
"""

from .columns import wrong_considered, wrong_upkeep
from .directness import told_apart, wrong_directness
from .elsewhere import wrong_elsewhere
from .filtered import MARK, wrong_contexts, wrong_ranks
from .kinds import KINDS, comparisons_of_kinds
from .lives import PlainLife, read_by
from .rest import wrong_rest
from .rows import (
    WORDS_OF,
    wrong_archived_rows,
    wrong_few_rows,
    wrong_kinds,
    wrong_made_rows,
    wrong_rows,
    wrong_state_of_archived_rows,
)
from .signals import SignalScores, contradictions, signal_scores, unlike_the_varied, wrong_signals
from .unheld import wrong_unheld

__all__ = [
    "KINDS",
    "MARK",
    "WORDS_OF",
    "PlainLife",
    "SignalScores",
    "comparisons_of_kinds",
    "contradictions",
    "read_by",
    "signal_scores",
    "told_apart",
    "unlike_the_varied",
    "wrong_archived_rows",
    "wrong_considered",
    "wrong_contexts",
    "wrong_directness",
    "wrong_elsewhere",
    "wrong_few_rows",
    "wrong_kinds",
    "wrong_made_rows",
    "wrong_ranks",
    "wrong_rest",
    "wrong_rows",
    "wrong_signals",
    "wrong_state_of_archived_rows",
    "wrong_unheld",
    "wrong_upkeep",
]
