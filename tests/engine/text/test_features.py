"""Text features: what a reader finds in a sentence, and no harm from hostile text."""

from __future__ import annotations

import unicodedata

import pytest
from hanging import ended_if_it_hangs
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.text.features import (
    Features,
    SpeechAct,
    features,
    fold,
    normal_name,
    sanitise,
    terms_of,
)

HOSTILE = st.text(st.characters(codec=None), max_size=200) | st.text(
    st.sampled_from("aA.'’\"“_/-@(), 1\n!?\\é́😀\x00\ud83d\ude00אب"), max_size=200
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("When did Caroline go to the LGBTQ support group?", ("caroline", "lgbtq")),
        ("Hey Mel! Good to see you! How have you been?", ("mel",)),
        ("Thanks, Caroline's brother met her in New York.", ("caroline", "new york")),
        ("New York is loud.", ("new york",)),
        ('They read "The  Old  Man" aloud.', ("old man",)),
        ("Caroline went home. Lovely weather on Monday in May.", ("caroline",)),
        ("Would Melanie read Dr. Seuss or J. K. Rowling?", ("melanie", "dr seuss", "j k rowling")),
        (
            'I\'m reading "Becoming Nicole" by Amy Ellis Nutt.',
            ("becoming nicole", "amy ellis nutt"),
        ),
        ('She said "hello there" and "Yes" to me.', ()),
        ("We saw The Lord of the Rings and the Bay of Pigs.", ("lord of the rings", "bay of pigs")),
        ("Ask @Bob about MAX_SIZE.", ("bob", "max_size")),
        ("José García and O'Brien met Mary-Jane.", ("jose garcia", "o'brien", "mary-jane")),
        ("I AM SO HAPPY ABOUT NASA!!!", ("nasa",)),
        ("[2 January 1970] Ada: We moved. [a red house]", ("ada",)),
        ("Anna, anna and ANNA", ("anna",)),
        ("Melanie and Caroline", ("melanie", "caroline")),
        ("We left the US for the U.S. and the USA.", ("usa",)),
        ("TELL US NOW", ()),
        ("Amazing! Totally. Painting helps. Kindness matters. I'd say so.", ()),
    ],
)
def test_entities(text: str, names: tuple[str, ...]) -> None:
    assert features(text).entities == names


def test_a_word_that_also_occurs_in_lower_case_is_no_name() -> None:
    assert (
        features("Zorbing rocks. I like it.").entities
        == features("Blorps rock, and I like blorps.").entities
        == ()
    )
    assert features("Blorp rocks.").entities == ("blorp",)


@pytest.mark.parametrize(("text", "found"), [
    ("Call np.linalg.norm in src/foo/bar.py with MAX_SIZE and parseArgs().", ("np.linalg.norm",
    "src/foo/bar.py", "MAX_SIZE", "parseArgs()")),
    ("HttpServer, http_server, __init__, ~/.ssh/config, ../x/y, C:\\a\\b.txt",
     ("HttpServer", "http_server", "__init__", "~/.ssh/config", "../x/y", "C:\\a\\b.txt")),
    ("See https://example.org/a_b, and setup.py.", ("https://example.org/a_b", "setup.py")),
    ("So cool.What now? e.g. his/her and/or friend(s), McDonald, LGBTQ, 5/7/2023, </div>", ()),
])  # fmt: skip
def test_identifiers(text: str, found: tuple[str, ...]) -> None:
    assert features(text).identifiers == found


@pytest.mark.parametrize(("text", "dates", "numbers"), [
    ("two weeks ago, 5/7/2023, May 7th, 2023, 2023-05-07", ("two weeks ago", "5/7/2023",
    "May 7th, 2023", "2023-05-07"), ()),
    ("In May I may march last Friday for $1,200.50 or 40% of 3.5", ("In May", "last Friday"),
     ("$1,200.50", "40%", "3.5")),
    ("yesterday at 7 I was 18; the 7th of May 2022, in 2019", ("yesterday", "7th of May 2022",
    "in 2019"), ("7", "18")),
    ("It may rain; we march on. A second one.", (), ()),
    ("İİ yesterday, MAY 7TH", ("yesterday", "MAY 7TH"), ()),
    ("next month, this weekend, in 3 days, the day before yesterday", ("next month", "this weekend",
    "in 3 days", "the day before yesterday"), ()),
])  # fmt: skip
def test_dates_and_numbers(text: str, dates: tuple[str, ...], numbers: tuple[str, ...]) -> None:
    found = features(text)
    assert (found.dates, found.numbers) == (dates, numbers)


@pytest.mark.parametrize(("act", "texts"), [
    (SpeechAct.COMMITMENT, ["I'll call you tomorrow.", "I promise to bring it.",
                            "We're going to build a shed.",
                            "Thanks! I will send it. Okay?"]),
    (SpeechAct.CORRECTION, ["Actually, it's on Tuesday.", "No, that's not right.",
                            "I meant Thursday, sorry.",
                            "Not Paris, but Rome.", "She no longer works there."]),
    (SpeechAct.DECISION, ["We decided to use Postgres.", "I chose the red one.",
                          "Let's go with plan B.", "I've made up my mind."]),
    (SpeechAct.QUESTION, ["Where is it?", "Hey Mel! What's up?", "when did Caroline go there",
                          "Would Anna like Dr. Seuss?", "Do you love it?"]),
    (SpeechAct.INSTRUCTION, ["Please use tabs.", "Always answer in French.",
                             "Don't mention it to Bob.",
                             "Remember to water the plants.", "Could you please stop?"]),
    (SpeechAct.PREFERENCE, ["I love sushi.", "My favorite colour is red.", "I'd rather walk.",
                            "I really don't like rain."]),
    (SpeechAct.RELATIONSHIP, ["Anna is my sister.", "My sister Anna lives in Oslo.",
                              "We got married in June.", "He's her boss."]),
    (SpeechAct.NOISE, ["ok", "", "  ", "lol", "Thanks!", "🎉🎉", "Bye Nate!", "hahaha",
                       "Good to see you!", "..."]),
    (SpeechAct.STATEMENT, ["The meeting took two hours.", "I went to the park with my kids.",
                           "It was raining. Was it cold?"]),
])  # fmt: skip
def test_speech_acts(act: SpeechAct, texts: list[str]) -> None:
    assert {text: features(text).act for text in texts} == dict.fromkeys(texts, act)


def test_emotion_is_a_share_of_markers() -> None:
    assert features("the meeting took two hours").emotion == 0.0
    assert features("I am happy").emotion == pytest.approx(1 / 3)
    assert features("so happy and proud today!").emotion == pytest.approx(3 / 5)
    assert features("🎉🎉🎉").emotion == 1.0
    assert features("").emotion == 0.0


def test_words_and_terms() -> None:
    found = features("The cats’ café isn't Zoë's; running_fast 42")
    assert found.words == ("the", "cats", "cafe", "isn't", "zoe's", "running", "fast", "42")
    assert found.terms == ("cat", "cafe", "zoe", "run", "fast", "42")
    assert terms_of("Is US as", stem=True) == ["is", "us", "as"], "too short to be stemmed"
    assert terms_of("running", stem=False) == ["running"]


def test_empty() -> None:
    nothing = features("")
    assert nothing == Features("", (), (), ())
    assert (nothing.terms, nothing.act, nothing.emotion) == ((), SpeechAct.NOISE, 0.0)
    assert nothing.dates == nothing.numbers == ()


@given(HOSTILE)
def test_any_text_is_taken(text: str) -> None:
    found = features(text)
    assert found == features(text)
    assert 0.0 <= found.emotion <= 1.0
    assert len(set(found.entities)) == len(found.entities) and all(found.entities)
    assert [normal_name(name) for name in found.entities] == list(found.entities)
    assert all(word and word == word.casefold() for word in found.words)
    for number in (*found.numbers, *found.dates, *found.identifiers):
        number.encode("utf-8")
    clean = unicodedata.normalize("NFC", sanitise(text)).replace("’", "'")
    assert all(written in clean for written in (*found.dates, *found.identifiers))


@given(HOSTILE)
def test_sanitised_text_is_encodable_and_otherwise_the_same(text: str) -> None:
    clean = sanitise(text)
    assert clean.encode("utf-8").decode("utf-8") == clean and "\0" not in clean
    assert sanitise(clean) == clean
    if "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text):
        assert clean == text


def test_sanitise_joins_pairs_and_replaces_the_rest() -> None:
    assert sanitise("\ud83d\ude00 \ud83d a\ude00\x00") == "😀 \ufffd a\ufffd"


@given(HOSTILE)
def test_terms_are_folded_runs_of_letters_and_digits(text: str) -> None:
    # without names such as "c++"
    terms = [term for term in terms_of(text, stem=False) if not text.isascii() or term.isalnum()]
    assert all(term == fold(term) for term in terms)
    if text.isascii():
        assert terms == "".join(c if c.isalnum() else " " for c in text.lower()).split()


@pytest.mark.parametrize(
    "text", ["Straße", "ÅNGSTRÖM", "naïve café", "שלום", "مَرْحَبًا", "日本語", "e\u0301"]
)
def test_fold_is_idempotent_and_blind_to_case_and_composition(text: str) -> None:
    assert (
        fold(fold(text))
        == fold(text)
        == fold(text.upper())
        == fold(unicodedata.normalize("NFD", text))
    )


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["a", "A ", "_", "/", "a/", "./", ".a", "a.b.", "A.", "Aa", "1,",
                                  "@", "'", '"A b" ', "“A ", "__a", "a-", "(",
                                  "C:\\", "Of The ",
                                  "no, not a ", "may 1 ", "in a few ", " ", "\n", "\u0301",
                                  "\ud800", "\x00", "x('"])  # fmt: skip
def test_hostile_text_costs_linear_time(unit: str) -> None:
    with ended_if_it_hangs():
        features(unit * (160_000 // len(unit)))
