"""Changes told in free words: what announces one, and what must agree for two sentences to speak
of the same.
"""

from __future__ import annotations

import pytest

from hebbarium.engine.text.words import terms_of
from hebbarium.mechanisms.shared.fields_of_life import fields_of
from hebbarium.mechanisms.shared.told_changes import covered_by_change, ends_state, subject_of

CHANGES = (
    ("I collect stamps.", "I gave up stamps years ago."),
    ("My bus leaves at 8.", "My bus leaves at 9 these days."),
    ("The theatre is closed for the holidays.", "The theatre has reopened after the holidays."),
    ("The meeting is at 3pm on Monday.", "The meeting was pushed back to 4pm."),
    ("My flight leaves at 9:40.", "They delayed my flight until 11:15."),
    ("The deadline is 10 May.", "The deadline is pushed to the 17th of June."),
    ("I have never ridden a camel.", "In Egypt I rode a camel for the first time."),
    ("Our cat sleeps in the basket.", "Our cat no longer sleeps in the basket."),
    ("The fountain in the park is dry.", "The fountain in the park runs again."),
    ("I'm saving for a canoe.", "I bought the canoe on Sunday."),
    ("My brother sings in a choir.", "My brother has left the choir."),
    ("There is a leak in the cellar.", "The leak in the cellar was fixed."),
    ("Mum's waiting for her visa.", "Mum finally got her visa."),
    ("We haven't chosen a carpet yet.", "We have chosen a carpet."),
    ("Ada never eats figs.", "Ada eats figs."),
    ("I smoke ten cigars a day.", "I quit smoking."),  # whatever it was done to
    ("The boiler code is 12.", "New boiler code: 17."),
    # the result of an earlier change
    ("They moved our talk to Monday.", "Our talk is on Friday now."),
    ("The rent was raised to 900 euros.", "The rent is 880 euros again."),
    # a name that ended, whatever else is said
    ("My dentist is Dr Pell.", "Dr Pell retired, I am with Dr Nair."),
    ("Dr Pell retired, I am with Dr Nair.", "Dr Nair's practice closed down."),
    ("I drive a Skoda.", "Our Skoda was stolen."),
    ("We sold the Skoda and bought a Volvo.", "I swapped the Volvo for a Kia."),
    ("We got rid of Netflix and took Mubi.", "We have cancelled Mubi."),
    ("At work we use Jira.", "We replaced Jira with Linear."),
    ("My account is with Nordbank.", "I closed the account at Nordbank."),
    ("We read the Guardian.", "We changed from the Guardian to the Times."),
    ("Ada is engaged to Tom.", "Ada called off the engagement to Tom."),
    ("My sister is learning Welsh.", "My sister gave up Welsh."),
    ("Lidl closed down, we shop at Aldi.", "We gave up on Aldi."),
    # the same said of another name
    ("We shop at Lidl.", "Lidl is dear, so we shop at Aldi."),
    ("The lead in our play is Hugo.", "Hugo caught mumps, Felix is the lead."),
)
OTHERS = (
    ("I collect stamps.", "My aunt gave up stamps years ago."),  # another person
    ("My bus leaves at 8.", "Her bus leaves at 9 these days."),  # another owner
    ("My bus leaves at 8.", "Ada's bus leaves at 9 these days."),
    ("The pram is blue.", "We pushed the pram to the park."),  # put to no time
    ("The pram is in the hall.", "We pushed the pram to 5 Elm Street."),
    (
        "The theatre is closed for the holidays.",
        "The cinema has reopened after the holidays.",
    ),  # another subject
    ("The fountain in the park is dry.", "The fountain in the square runs again."),  # another place
    ("The oak table is dirty.", "The glass table is clean again."),  # another kind
    (
        "The table is dirty.",
        "The table in the hall is clean again.",
    ),  # one that only the later one narrows
    ("Ada looks after my hens.", "Ada looks after your goats now."),  # another object of a person
    ("I smoke ten cigars a day.", "I quit smoking pipes."),
    ("I smoke ten cigars a day.", "My aunt quit smoking."),
    ("I had a dog.", "My dog no longer barks."),  # the past
    ("I sing in a choir.", "I might leave the choir."),  # no more than possible
    ("I sing in a choir.", "I have started to sing in a choir in Rome, too."),  # one more
    ("I sing in a choir.", "Did I leave the choir?"),  # a question
    ("I sing in a choir.", "As I said, I sing in a choir now."),  # the same again
    (
        "I play darts.",
        "They've moved the quiz because of the darts league.",
    ),  # only the kind of another thing
    (
        "The council meets on Monday.",
        "The council has turned down a plan.",
    ),  # the same subject, another matter
    ("I like the early shift.", "They moved me from the early shift."),  # liking it does not end
    ("It is broken.", "The radio is repaired."),  # a pronoun that nothing explains
    ("A lodger has moved in.", "A lodger has moved out."),  # one of many
    ("The concert is on Monday.", "The concert is sold out again."),  # another day is not named
    ("My flat is in Rome. My rent is 900.", "My flat is no longer in Rome."),  # two sentences
    ("The lake is frozen.", "The lake is lovely."),  # nothing is announced
    ("Ada never says no to figs.", "Ada likes figs a lot."),  # two denials deny nothing
    ("Ada never says no to figs.", "For Ada, nothing beats figs."),
    # a name that somebody else has done with, or has
    ("I am learning Welsh.", "My aunt gave up Welsh."),
    ("Mia is learning Welsh.", "Tom gave up Welsh."),
    ("My sister is learning Welsh.", "I gave up Welsh."),
    ("Lidl closed down, we shop at Aldi.", "My aunt gave up on Aldi."),
    ("I drive a Skoda.", "Tom's Skoda was stolen."),
    ("We shop at Lidl.", "Lidl is dear, so my aunt shops at Aldi."),
    # a name of which something is said that ends nothing
    ("My boss is Tom.", "Tom and I finished the report."),
    ("My boss is Tom.", "Tom left the office at five."),
    ("My boss is Tom.", "Tom broke my pen."),
    ("My boss is Tom.", "We swapped Tom's chair for a stool."),
    ("My boss is Tom.", "If Tom retired, I would apply."),
    ("My neighbour is Jack.", "Jack sold the boat."),
    ("Our drummer is Pete.", "Pete quit smoking."),
    ("My parents live in Selby.", "The train from Selby to York was late."),
    ("My daughter is called Lea.", "I dropped Lea at the pool."),
    ("I met Tom at the fair.", "Tom retired."),
    ("We sold the Skoda and bought a Volvo.", "The Skoda was stolen."),  # it had ended before
    ("We take the cat to Dr Moss.", "Dr Moss is kind, and the cat likes Ada."),
    ("Our cat is Minka.", "Minka has gone to the vet."),
    ("They moved the chairs to the hall.", "The hall is locked again."),
)


@pytest.mark.parametrize(("earlier", "later"), CHANGES)
def test_an_announced_change_of_the_same_thing_is_seen(earlier: str, later: str) -> None:
    assert 0.0 < covered_by_change(later, earlier) <= 1.0
    assert covered_by_change(earlier, earlier) == 0.0


@pytest.mark.parametrize(("earlier", "later"), OTHERS)
def test_what_only_looks_like_a_change_is_none(earlier: str, later: str) -> None:
    assert covered_by_change(later, earlier) == 0.0


def test_the_share_counts_the_themes_that_the_later_text_names() -> None:
    assert covered_by_change(
        "The fountain in the park runs again.", "The fountain in the park is dry."
    ) == pytest.approx(2 / 3)
    assert covered_by_change(
        "The fountain runs again.", "The fountain in the park is dry."
    ) == pytest.approx(1 / 3)


def test_a_change_may_stand_among_other_sentences_and_two_may_tell_it() -> None:
    assert (
        covered_by_change(
            "It rained. Our cat no longer sleeps in the basket. We had soup.",
            "Our cat sleeps in the basket.",
        )
        == 1.0
    )
    assert covered_by_change("I sold the canoe. It was too long.", "I own a red canoe.") > 0.0


def test_words_that_announced_the_earlier_text_announce_no_other() -> None:
    assert (
        covered_by_change("Our cat sleeps on the piano now.", "Our cat sleeps in the basket now.")
        == 0.0
    )


@pytest.mark.parametrize("text", ["", "?", "No.", "now " * 5000, "I " * 50, "the " * 39 + "end.",
                                  "'s " * 30, "x" * 100_000, "I no longer. " * 2000])  # fmt: skip
def test_any_text_is_read(text: str) -> None:
    for other in ("I collect stamps.", text):
        assert (
            0.0 <= covered_by_change(text, other) <= 1.0
            and 0.0 <= covered_by_change(other, text) <= 1.0
        )


def test_subjects() -> None:
    found = subject_of(["the", "old", "lamp", "in", "my", "room", "flickers"])
    assert (found.stems, found.who, found.verb) == (("old", "lamp"), "", 6)
    assert [
        subject_of(words.split()).who
        for words in ("we sing", "she sings", "nobody sings", "hens sing", "sang", "")
    ] == ["self", "third", "anyone", "", "anyone", "anyone"]


@pytest.mark.parametrize(
    ("earlier", "later", "asked", "ends"),
    [
        ("Eve smokes a pack a day.", "Eve gave up cigarettes.", "Does Eve still smoke?", True),
        ("Eve smokes a pack a day.", "Eve has quit.", "Is Eve still at the bakery?", False),
        ("Eve smokes a pack a day.", "Ida gave up cigarettes.", "Does Eve still smoke?", False),
        ("Eve smokes.", "Eve might give up cigarettes.", "Does Eve still smoke?", False),
        ("Eve smokes.", "Eve also gave up meat.", "Does Eve still smoke?", False),
        ("Eve smokes.", "Eve's brother quit.", "Does Eve still smoke?", False),
        ("Eve smokes.", "Eve bought a hat today.", "Does Eve still smoke?", False),
        ("Eve smoked.", "Eve gave up cigarettes.", "Does Eve still smoke?", False),
        ("She smokes.", "She gave up cigarettes.", "Does Eve still smoke?", False),
        ("The cat is missing.", "We found the cat in the shed.", "Is the cat missing?", True),
        ("The office is open.", "Pia quit at the post office.", "Is the office open?", False),
    ],
)
def test_what_announces_a_change_of_the_subject_ends_its_state(
    earlier: str, later: str, asked: str, ends: bool
) -> None:
    assert ends_state(later, earlier, frozenset(terms_of(asked, stop_words=True))) is ends


@pytest.mark.parametrize(
    ("earlier", "later", "asked", "ends"),
    [
        ("I smoke.", "I gave up cigarettes.", "Does Ada still smoke?", True),
        ("I smoke.", "I gave up my seat.", "Does Ada still smoke?", False),
        ("I smoke.", "My aunt gave up cigarettes.", "Does Ada still smoke?", False),
        ("I smoke.", "I might give up cigarettes.", "Does Ada still smoke?", False),
        ("I smoked.", "I gave up cigarettes.", "Does Ada still smoke?", False),
        ("I smoke.", "I gave up cigarettes.", "Is Ada still in Oslo?", False),
        ("I'm allergic to cats.", "The doctor says my allergy has gone.", "Is Ada allergic?", True),
        ("I rent a garage.", "I gave the key of the garage back.", "Is the garage rented?", True),
        ("I rent a garage.", "I gave the drill back.", "Does Ada still rent a garage?", False),
        ("I'm at the gym a lot.", "We went back to work.", "Is Ada still at the gym?", False),
    ],
)
def test_what_a_speaker_says_ends_the_states_of_the_speaker(
    earlier: str, later: str, asked: str, ends: bool
) -> None:
    stems = frozenset(terms_of(asked, stop_words=True))
    assert ends_state(later, earlier, stems, frozenset(("ada",))) is ends
    assert not ends_state(later, earlier, stems), "nobody says who the speaker is"


def test_fields_of_life_are_those_of_their_words() -> None:
    assert fields_of(terms_of("The orchestra rehearses on Monday")) == {"music"}
    assert fields_of(terms_of("It rained on Monday")) == frozenset() == fields_of(())
    assert fields_of(("hospit", "choir")) == {"health", "music"}
