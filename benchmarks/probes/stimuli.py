"""Stimuli: word pools and sentence templates of our own, drawn by seed.

A pool never changes: a new word makes other stimuli of every seed.  `DIGEST` is printed with every
result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import product
from typing import Final, TypeVar

import numpy as np

T = TypeVar("T")


def _pool(words: str) -> tuple[str, ...]:
    return tuple(words.split())


NAMES: Final = _pool(
    "Ada Boris Clara Dinesh Elena Farid Greta Hiro Ines Jonas Keiko Lars Marta Nils Olga Pavel Quentin Rosa Stefan Tilda Umar Vera Willem Xenia "
    "Yusuf Zora Anton Bianca Cyril Doreen Emil Flora Gustav Helga Igor Judith Konrad Linnea Milan Nadia Oskar Petra Rashid Sonja Theo Ulla Viktor "
    "Wanda"
)
OBJECTS: Final = _pool(
    "kettle ladder violin lantern suitcase blanket umbrella hammer telescope mirror basket bicycle candle camera carpet clock compass drum fan globe "
    "guitar helmet iron jug kite lamp map necklace oven piano pillow printer quilt radio rope saddle scarf scissors shovel sofa stool tent towel "
    "trumpet typewriter vase wagon wallet whistle wrench anchor balloon bucket chessboard flute hourglass sledge thermos toolbox wheelbarrow"
)
PLACES: Final = _pool(
    "attic bakery balcony barn basement boathouse canteen cellar chapel church classroom corridor courtyard dockyard factory garage garden gallery "
    "greenhouse hallway harbour hospital kitchen laundry library lighthouse museum office orchard park pharmacy port school stable station studio "
    "theatre tower warehouse workshop"
)
JOBS: Final = _pool(
    "baker barber butcher carpenter cook dentist doctor farmer fireman gardener guard judge lawyer mason nurse painter pilot plumber sailor singer "
    "soldier tailor teacher waiter writer"
)
FOODS: Final = _pool(
    "pancakes dumplings lentils noodles oysters porridge pretzels pumpkin radishes raspberries salmon spinach strudel walnuts waffles "
    "yoghurt apricots "
    "asparagus beetroot cabbage cheese cherries cucumbers figs goulash honey leeks mushrooms olives peaches"
)
WORDS: Final = _pool(  # unrelated concrete nouns for lists
    "acorn badge beetle bridge button cactus canoe castle chimney cloud comet coral crown daisy diamond dragon eagle feather fence ferry flag fossil "
    "fountain glacier glove goose hammock hedge hinge island jungle kidney ladle lava lemon lizard magnet marble meadow mitten mosquito needle "
    "oyster parrot pebble pepper pigeon planet pocket prism puddle puppet quarry rabbit raft ribbon river saddle sandal satchel shadow skull sponge "
    "squirrel statue straw tablet tadpole thimble thistle thunder ticket tiger tulip tunnel turnip velvet violet volcano wasp whale willow zipper"
)
# codas and onsets differ, so that no syllable reads the same backwards
_ONSETS, _VOWELS, _CODAS = "bdfgklmnprstvz", "aeiou", "bdfgklmnprstvxz"
_REAL: Final = frozenset(
    _pool(  # words and names among the syllables
        "bad bag ban bar bat bed beg bet bib bid big bin bit bob bog bud bug bum bun bus but dab dad dam den did dig dim din dip dog dot dub dud dug dun "
        "fab fad fan far fat fed fig fin fit fix fog fox fun fur gag gap gas gel gem get gig god got gum gun gut kid kin kit lab lad lag lap led leg let "
        "lid lip lit log lot lug mad man map mat max men met mid mix mob mom mop mud mug mum nab nag nap net nil nip nod nor not nun nut pad pal pan pat "
        "peg pen pep per pet pig pin pit pod pop pot pub pug pun pup put rag ram ran rap rat red rib rid rig rim rip rob rod rot rub rug rum run rut sad "
        "sag sap sat set sex sin sip sir sit six sob sod son sum sun sup tab tag tan tap tar tax ten tin tip tit tom ton top tub tug van vat vet zap zip "
        "zen zag zig nan pap pin tam ken kim sam ron ted tim tod viv liz meg max rex roz dan deb don gus"
    )
)
SYLLABLES: Final = tuple(
    s for s in map("".join, product(_ONSETS, _VOWELS, _CODAS)) if s not in _REAL and s[0] != s[2]
)[:600]
CHATTER: Final = tuple(
    f"{start} {end}" for start, end in product(
        ("The bus was late again and", "It rained for most of the morning so",
         "The neighbours were quite loud, but",
         "Lunch took longer than planned and",
         "My phone battery is nearly empty, so", "The meeting was moved to the afternoon and",
         "Traffic was slow near the roundabout, so",
         "The printer queue was full, and", "There was a small power cut, but",
         "A colleague dropped by for a chat and"),
        ("nothing much came of it.", "the rest went as usual.",
         "everybody took it with good humour.", "we laughed about that for a while.",
         "the afternoon felt rather short.", "nobody minded in the end.")))  # fmt: skip
DIGEST: Final = sha256(
    "\n".join((*NAMES, *OBJECTS, *PLACES, *JOBS, *FOODS, *WORDS, *SYLLABLES, *CHATTER)).encode()
).hexdigest()[:16]


class Stimuli:
    """Draws of one seed; the same seed and probe give the same stimuli."""

    def __init__(self, probe: str, seed: int) -> None:
        self.rng = np.random.default_rng(
            [int.from_bytes(sha256(probe.encode()).digest()[:4], "big"), seed]
        )

    def draw(self, pool: Sequence[str], n: int) -> list[str]:
        """n different words of a pool, in random order."""
        return [pool[i] for i in self.rng.choice(len(pool), n, replace=False)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        return [items[i] for i in self.rng.permutation(len(items))]

    def facts(self, n: int) -> list[tuple[str, str, str]]:
        """n facts (name, object, place): no object twice, names and places may repeat.  At most
        60.
        """
        names, places = (
            self.rng.integers(len(NAMES), size=n),
            self.rng.integers(len(PLACES), size=n),
        )
        return [
            (NAMES[a], thing, PLACES[p])
            for a, thing, p in zip(names, self.draw(OBJECTS, n), places, strict=True)
        ]

    def chatter(self, n: int) -> list[str]:
        """n different sentences about nothing in particular, at most 60."""
        return self.draw(CHATTER, n)

    def talk(self) -> Iterator[str]:
        """120 different sentences of other talk: first those about nothing in particular, shuffled."""
        notes = [f"Note {i} of the day says little." for i in range(60)]
        return iter(self.shuffled(CHATTER) + notes)  # drawn now, not at the first sentence

    def dropped(self, text: str, share: float) -> str:
        """The text without a share of its words, at least one word left, in order."""
        words = text.rstrip(".").split()
        kept = sorted(
            self.rng.choice(
                len(words), max(1, round(len(words) * (1.0 - share))), replace=False
            ).tolist()
        )
        return " ".join(words[i] for i in kept)


def sentence(fact: tuple[str, str, str]) -> str:
    """
    >>> sentence(("Ada", "kettle", "attic"))
    'Ada keeps the kettle in the attic.'
    """
    name, thing, place = fact
    return f"{name} keeps the {thing} in the {place}."
