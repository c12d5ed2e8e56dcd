"""Words of several paradigms: members of categories, and lists of associates of a word that is not
told.
"""

from __future__ import annotations

from typing import Final

CATEGORIES: Final = {
    name: tuple(words.split())
    for name, words in {
        "fruit": "orange banana lemon cherry mango papaya apricot grape plum pear peach fig",
        "tool": "hammer saw drill pliers chisel wrench axe file spade rake pickaxe screwdriver",
        "bird": "robin sparrow eagle heron finch magpie owl crow wren stork gull pigeon",
        "metal": "iron copper silver nickel chrome tin zinc lead gold steel brass bronze",
        "drink": "whisky brandy cider lemonade vermouth rum gin tea milk beer cocoa sherry",
        "tree": "birch maple willow cedar poplar ash oak elm larch beech pine fir",
        "fish": "trout salmon herring mackerel perch eel cod pike bream carp tuna sardine",
        "cloth": "cotton linen velvet denim satin wool silk lace felt canvas tweed nylon",
        "profession": "teacher lawyer dentist farmer painter nurse baker judge pilot tailor plumber waiter",
        "flower": "rose tulip daisy violet lily orchid poppy iris dahlia peony crocus lilac",
    }.items()
}

# associates in order of strength, as is usual in this paradigm, after the word that is not told
ASSOCIATES: Final = {
    lure: tuple(words.split())
    for lure, words in {
        "sleep": "bed rest awake tired dream wake snooze blanket doze slumber snore nap peace yawn drowsy",
        "needle": "thread pin eye sewing sharp point prick thimble haystack thorn hurt injection syringe cloth knitting",
        "chair": "table sit legs seat couch desk recliner sofa wood cushion swivel stool sitting rocking bench",
        "mountain": "hill valley climb summit top molehill peak plain glacier goat bike climber range steep ski",
        "sweet": "sour candy sugar bitter good taste tooth nice honey soda chocolate heart cake tart pie",
        "rough": "smooth bumpy road tough sandpaper jagged ready coarse uneven riders rugged sand boards ground gravel",
    }.items()
}
