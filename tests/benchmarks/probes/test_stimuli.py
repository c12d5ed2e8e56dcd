"""Word pools and draws."""

from __future__ import annotations

from hebbarium.benchmarks.probes.stimuli import (
    CHATTER,
    DIGEST,
    FOODS,
    JOBS,
    NAMES,
    OBJECTS,
    PLACES,
    SYLLABLES,
    WORDS,
    Stimuli,
)


def test_no_pool_has_a_word_twice_and_there_are_600_syllables() -> None:
    for pool in (NAMES, OBJECTS, PLACES, JOBS, FOODS, WORDS, SYLLABLES, CHATTER):
        assert len(set(pool)) == len(pool)
    assert len(SYLLABLES) == 600 and all(len(s) == 3 for s in SYLLABLES)


def test_the_pools_are_frozen() -> None:
    """A changed pool changes the stimuli of every probe: then change this digest, too, and run
    the probes again.
    """
    assert DIGEST == "b353b00443bfbad3"


def test_draws_depend_on_probe_and_seed_alone() -> None:
    assert Stimuli("a", 1).facts(10) == Stimuli("a", 1).facts(10) != Stimuli("a", 2).facts(10)
    assert Stimuli("a", 1).facts(10) != Stimuli("b", 1).facts(10)
    facts = Stimuli("a", 1).facts(60)
    assert len({thing for _, thing, _ in facts}) == 60


def test_words_are_left_out_in_order() -> None:
    text = "one two three four five six seven eight nine ten."
    for share, left in ((0.0, 10), (0.2, 8), (0.5, 5), (0.8, 2), (1.0, 1)):
        words = Stimuli("a", 1).dropped(text, share).split()
        assert len(words) == left and words == sorted(words, key=text.split(".")[0].split().index)
