"""Arrays that are read block by block, against the arrays that the blocks were cut from."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hebbarium.engine.state.array_blocks import ArrayBlocks
from hebbarium.engine.state.bulk_marks import block_marks

ROWS = 8  # of a block


def cut(array: NDArray[np.generic], rows: int = ROWS) -> list[bytes]:
    """The blocks of an array; one that holds the same row throughout is that row."""
    found = []
    for first in range(0, len(array), rows):
        block = array[first : first + rows]
        found.append(
            block[:1].tobytes()
            if all(row.tobytes() == block[0].tobytes() for row in block)
            else block.tobytes()
        )
    return found


def sample(kind: str, dtype: str, cell: tuple[int, ...], count: int) -> NDArray[np.generic]:
    """`one`: the same row throughout; `late`: other rows from the third block on; `mixed`: every
    second block has one row; `all`: rows differ.
    """
    values = np.random.default_rng(3).integers(0, 100, (count, *cell)).astype(dtype)
    block = np.arange(count) // ROWS
    same = {"one": block >= 0, "late": block < 2, "mixed": block % 2 == 1, "all": block < 0}[kind]
    values[same] = np.array(7, dtype)
    return values


@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize("count", [0, 1, 5, 8, 40, 45, 49])
@pytest.mark.parametrize("kind", ["one", "late", "mixed", "all"])
@pytest.mark.parametrize(
    ("dtype", "cell"),
    [("<f8", ()), ("|u1", ()), ("|b1", ()), ("<i2", (3,)), ("<f4", (2, 5)), ("<i8", (0,))],
)
def test_an_array_and_the_marks_of_its_blocks(
    dtype: str, cell: tuple[int, ...], kind: str, count: int, placed: bool
) -> None:
    expected, room = sample(kind, dtype, cell, count), np.full((64, *cell), 55).astype(dtype)
    parts, whole = cut(expected), count // ROWS
    for in_tail in (False, True):  # the last rows may stand elsewhere, without a mark
        blocks = ArrayBlocks(
            "x",
            np.dtype(dtype),
            expected.shape,
            ROWS,
            lambda name: room[:count] if placed else None,
        )
        marked = parts[:whole] if in_tail else parts
        for first in range(0, len(marked), 3):
            few = marked[first : first + 3]
            blocks.add(
                range(first, first + len(few)), range(20 + first, 20 + first + len(few)), few
            )
        assert np.array_equal(
            blocks.marks(),
            block_marks(
                ["x"] * len(marked), range(len(marked)), range(20, 20 + len(marked)), marked
            ),
        )
        found = blocks.array(parts[-1] if in_tail and count % ROWS else b"")
        assert np.array_equal(found, expected) and (found.dtype, found.shape) == (
            expected.dtype,
            expected.shape,
        )
        if placed and (expected != expected[:1]).any():
            assert found.base is room
    assert (room[count:] == np.array(55, dtype)).all()


def test_a_place_of_another_form_is_not_used() -> None:
    expected, other = np.arange(16.0), np.zeros(16, np.float32)
    blocks = ArrayBlocks("x", np.dtype("<f8"), (16,), ROWS, {"x": other}.get)
    blocks.add((0, 1), (1, 1), cut(expected))
    assert np.array_equal(blocks.array(b""), expected) and not other.any()


@pytest.mark.parametrize(("numbers", "parts"), [
    ((1, 0), [bytes(64), bytes(64)]), ((0, 2), [bytes(64), bytes(64)]), ((0, 1), [bytes(64),
    bytes(63)]), ((0, 1), [bytes(64), bytes(72)]),
    ((0,), [bytes(64)]), ((0, 1, 2), [bytes(64)] * 3)])  # fmt: skip
def test_blocks_that_are_missing_or_of_another_size_are_refused(
    numbers: tuple[int, ...], parts: list[bytes]
) -> None:
    blocks = ArrayBlocks("x", np.dtype("<f8"), (16,), ROWS, lambda name: None)
    with pytest.raises(ValueError, match="a block is missing"):
        blocks.add(numbers, [1] * len(parts), parts)
        blocks.array(b"")


def test_a_save_that_is_no_whole_number_has_another_mark() -> None:
    parts = cut(np.arange(16.0))
    blocks = ArrayBlocks("x", np.dtype("<f8"), (16,), ROWS, lambda name: None)
    blocks.add((0, 1), (1, 1.5), parts)
    assert not np.array_equal(blocks.marks()[1], block_marks(["x"], [1], [1], parts[1:])[0])
