"""What a save has changed in the blocks of a file, in one block of its own: appended, where
rewriting many blocks would wait for the disk.

A block of an array has the contents of the latest save, whether these stand at its place or in a
block RECENT.  After SAVES such blocks they are brought to their places; a closed file has none.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

RECENT: Final = "recent"  # name of the blocks
# most such blocks: a process that was killed leaves them for the next process to read
SAVES: Final = 16
# bytes of each block, about: more bytes are written to their places at once, since they would be
# written twice
ROOM: Final = 1 << 20
Block = tuple[str, int, bytes]  # array, number, contents
# number of a block -> the save that changed it, and its contents
Later = Mapping[int, tuple[int, bytes]]


def gathered(blocks: Sequence[Block]) -> bytes:
    """One block that holds others: bytes of the list, the list as JSON, contents one after the
    other.

    >>> list(scattered(gathered([("column.x", 3, b"ab"), ("packed", 0, b"c")])))
    [('column.x', 3, b'ab'), ('packed', 0, b'c')]
    """
    heads = json.dumps([(name, number, len(part)) for name, number, part in blocks]).encode()
    return b"".join([len(heads).to_bytes(4, "little"), heads, *(part for _, _, part in blocks)])


def scattered(block: bytes) -> Iterator[Block]:
    """The blocks in a block that `gathered` made.  Raises ValueError for another block."""
    start = 4 + int.from_bytes(block[:4], "little")
    names, numbers, lengths = zip(*json.loads(block[4:start]), strict=True)
    ends = list(accumulate(lengths, initial=start))
    if min(lengths) < 0 or ends[-1] != len(block):
        raise ValueError("a block is missing or of another size")
    for name, number, at, end in zip(names, numbers, ends[:-1], ends[1:], strict=True):
        yield name, number, block[at:end]


def latest(
    blocks: Iterable[tuple[int, bytes]], apart: Collection[str]
) -> tuple[dict[str, Later], dict[str, list[tuple[int, bytes]]]]:
    """What the blocks RECENT hold of each array: by the number of a block, its latest contents and
    the save that wrote them.

    blocks  save and contents of each, in order
    apart   names of blocks for which the file has differences: for each all its differences with
            their saves, returned beside the other blocks
    """
    newest, kept = (
        defaultdict[str, dict[int, tuple[int, bytes]]](dict),
        dict[str, list[tuple[int, bytes]]]((name, []) for name in apart),
    )
    for generation, block in blocks:
        for name, number, part in scattered(block):
            if name in kept:
                kept[name].append((generation, part))
            else:
                newest[name][number] = generation, part
    return {**newest}, kept
