"""One long message: CPU seconds of encoding it, of questions and contexts, of opening its file and
asking again, and of encoding it if its vectors are in the cache already.

    python benchmarks/speed/long_texts.py [SETS] [LENGTHS] [KINDS]

Lists with commas; by default the sets default, naive_rag and bm25, lengths of 1,000 to 1,000,000
characters, and eight kinds of text.  Nothing is in the embedding cache; the model is loaded before
the clock starts.
"""

from __future__ import annotations

import base64
import os
import sys
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from time import process_time
from typing import Final, TypeVar

import hebbarium as hb
from hebbarium.engine.text.memo import forget_texts

T = TypeVar("T")
START: Final = datetime(2025, 3, 3, 9)
NOUNS: Final = ("kettle", "garden", "train", "lighthouse", "printer", "cellar", "door", "choir",
                "bicycle", "ceiling", "ferry", "Lisbon", "Ada")  # fmt: skip
VERBS: Final = ("moved", "broke", "sold", "painted", "repaired", "watched", "met", "planted",
                "measured")  # fmt: skip
LETTERS: Final = "她的护照放在书桌左边抽屉里我们明天去北京看朋友吃饭学习工作时间地方"


def _sentence(random: Random) -> str:
    return f"The {random.choice(NOUNS)} {random.choice(VERBS)} a {random.choice(NOUNS)} of {random.randrange(1000)} near the {random.choice(NOUNS)}. "


def _line(random: Random) -> str:
    name = f"{random.choice(VERBS)}_{random.choice(NOUNS).lower()}{random.randrange(99)}"
    return f"def {name}(self, x: int) -> None:\n    self.values[x] = other.{name}(x + {random.randrange(999)})  # see ./src/{name}.py\n"


def _repeated(part: Callable[[Random], str], size: int) -> Callable[[int], str]:
    """A text of parts of at least `size` characters each, cut to a length."""
    return lambda length: "".join(map(part, [Random(length)] * (length // size + 1)))[:length]


def _written_in(*blocks: tuple[int, int], every: int = 0, mark: str = " ") -> Callable[[int], str]:
    """A text of letters drawn from some blocks, seven of ten among forty of them, with a mark
    after every so many, or none.
    """
    letters = [chr(code) for first, last in blocks for code in range(first, last + 1)]

    def text(length: int) -> str:
        random = Random(length)
        often = random.sample(letters, min(40, len(letters)))
        drawn = zip(random.choices(often, k=length), random.choices(letters, k=length), strict=True)
        return "".join(
            [
                mark if every and i % every == every - 1 else pair[random.random() >= 0.7]
                for i, pair in enumerate(drawn)
            ]
        )

    return text


KINDS: Final[dict[str, Callable[[int], str]]] = {
    "prose": _repeated(_sentence, 30),
    "code": _repeated(_line, 80),
    "numbers": _repeated(lambda random: f"{random.randrange(10**5, 10**6)} ", 7),
    "chinese": _repeated(
        lambda random: (
            random.choice(LETTERS)
            if random.random() < 0.7
            else chr(random.randrange(0x4E00, 0x9FA5))
        ),
        1,
    ),
    "word": lambda length: "a" * length,
    "base64": lambda length: base64.b64encode(Random(length).randbytes(length)).decode()[:length],
    "digits": _repeated(lambda random: random.choice("0123456789"), 1),
    "newlines": lambda length: "\n" * length,
    "spaces": lambda length: " " * length,
    "japanese": _written_in(
        (0x3042, 0x3093), (0x30A2, 0x30F3), (0x4E00, 0x5FFF), every=9, mark="。"
    ),
    "thai": _written_in((0xE01, 0xE2E), (0xE30, 0xE3A), (0xE40, 0xE49), every=23),
    "korean": _written_in((0xAC00, 0xD7A3), every=4),
    "arabic": _written_in((0x627, 0x64A), every=6),
    "emoji": _written_in((0x1F600, 0x1F64F), (0x1F300, 0x1F3FA), (0x1F900, 0x1F9FF)),
    "mixed": _repeated(
        lambda random: random.choice(
            (
                _sentence(random),
                "她的护照放在书桌左边抽屉里。",
                "ฉันขายจักรยานสีน้ำเงิน ",
                "昨日は東京で友達に会いました。",
                "어제 서울에서 친구를 만났다. ",
                "قابلت صديقي في القاهرة أمس. ",
                "Я встретил друга в Москве 🎉👩‍👧 ",
                "C++ & C# @ada #42 ",
            )
        ),
        9,
    ),
}


def seconds(call: Callable[[], T]) -> tuple[float, T]:
    """CPU seconds of a call, and what it returns."""
    start = process_time()
    returned = call()
    return process_time() - start, returned


def measured(name: str, kind: str, length: int, folder: Path) -> dict[str, float]:
    """CPU seconds of each step with one long message in a small memory."""
    os.environ["HEBBARIUM_CACHE"], path = str(folder), folder / "memory.db"
    forget_texts()
    memory = _told(name, kind, path)
    event, taken = (
        hb.Event.at(START + timedelta(hours=40), KINDS[kind](length), "Bo"),
        dict[str, float](),
    )
    taken["encode"], _ = seconds(lambda: memory.encode(event))
    taken["question"], _ = seconds(lambda: memory.retrieve("Where is the fence?"))
    taken["second"], _ = seconds(lambda: memory.retrieve("What did we plant?"))
    taken["context"], _ = seconds(lambda: memory.context("Which house was measured?", 200))
    taken["another"], _ = seconds(lambda: memory.context("What broke near the door?", 200))
    taken["close"], _ = seconds(memory.close)
    forget_texts()
    taken["open"], memory = seconds(lambda: hb.memory(name, path=path))
    memory.assembly.embedder.embed([f"load the model {length}"])
    taken["asked again"], _ = seconds(lambda: memory.retrieve("Where was the fence?"))
    memory.close()
    forget_texts()
    with _told(name, kind, None) as memory:
        taken["encode, embedded"], _ = seconds(lambda: memory.encode(event))
    return taken


def _told(name: str, kind: str, path: Path | None) -> hb.Engine:
    """A memory of twelve short messages and a longer one, that was asked once."""
    memory = hb.memory(name, path=path)
    for hour in range(12):
        memory.encode(
            hb.Event.at(
                START + timedelta(hours=hour),
                f"We planted {hour} beans along the fence of house {hour * 7}.",
                "Bo",
            )
        )
    memory.encode(hb.Event.at(START + timedelta(hours=20), KINDS[kind](4000)[::-1], "Bo"))
    memory.retrieve("Who planted beans?")
    memory.context("Who planted beans?", 200)
    return memory


def main(
    sets: str = "default,naive_rag,bm25",
    lengths: str = "1000,10000,100000,200000,1000000",
    kinds: str = ",".join(KINDS),
) -> None:
    """Print a line for each set, kind and length."""
    for name in sets.split(","):
        for kind in kinds.split(","):
            for length in map(int, lengths.split(",")):
                with tempfile.TemporaryDirectory() as folder:
                    taken = measured(name, kind, length, Path(folder))
                print(
                    f"{name:10} {kind:8} {length:9,} "
                    + " ".join(f"{step} {value:.3f}" for step, value in taken.items()),
                    flush=True,
                )


if __name__ == "__main__":
    main(*sys.argv[1:])
