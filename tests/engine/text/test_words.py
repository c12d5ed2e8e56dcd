"""Words of all scripts: folding and segmentation against SQLite's FTS5, names with symbols, and
no harm from hostile text.
"""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from hanging import ended_if_it_hangs
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.text import words as reading
from hebbarium.engine.text.words import (
    PILED,
    composed,
    fold,
    terms_of,
    terms_of_parts,
    terms_within,
    words_of,
    written,
)

Tokens = Callable[[str], list[str]]
HOSTILE = st.text(st.characters(codec=None), max_size=80) | st.text(
    st.sampled_from(
        "aZcR1 ßıİſéё\u0301\u0327й\u0306"
        "ΆσςガｶﾞﾟЖ٣५०Ａ９＃#@&+.'’-=_;\u200d\u200c\u200b\u00ad\u200f\x00\ud83d\ude00😀👩🇩🇪\ufe0f护照ไทยน้ำ여권हिन्दीمَ"
    ),
    max_size=60,
)


@pytest.fixture(scope="module")
def tokens() -> Iterator[Tokens]:
    """The terms of a text in FTS5, in order."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='unicode61 remove_diacritics 2')")
    base.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")

    def of(text: str) -> list[str]:
        base.execute("DELETE FROM t")
        base.execute("INSERT INTO t VALUES (?)", (text,))
        return [term for (term,) in base.execute("SELECT term FROM v ORDER BY offset")]

    yield of
    base.close()


# ß, and letters of compatibility blocks, which FTS5 keeps.
OTHERWISE = {"ß": "ss", "ẞ": "ss", "Ĳ": "ij", "ĳ": "ij", "Ŀ": "l·", "ŀ": "l·", "ŉ": "ʼn", "ϒ": "υ",
             "ϓ": "ύ", "ϔ": "ϋ", "ϲ": "σ", "Ϲ": "σ", "ẚ": "aʾ"}  # fmt: skip


def test_latin_greek_and_cyrillic_letters_fold_as_in_fts5(tokens: Tokens) -> None:
    blocks = (range(0xC0, 0x180), range(0x386, 0x400), range(0x400, 0x528), range(0x1E00, 0x1EFA))
    judged = [char for block in blocks for char in map(chr, block) if char.isalpha()]
    assert len(judged) == 845
    assert {char: fold(char) for char in judged if tokens(char) != [fold(char)]} == OTHERWISE


@pytest.mark.parametrize(
    "text",
    [
        "Zoë mange à l'hôtel de Málaga, où l'été dure",
        "Łódź, Gdańsk i Kraków; żółw",
        "Nguyễn Văn Đặng ở Huế",
        "Ærø, Malmö, Århus, Þór",
        "Паспорт лежит в ящике, ёжик и мой чай",
        "Їжак і ґанок",
        "Το διαβατήριο είναι στο συρτάρι. ΑΘΗΝΑ, Αθήνα, ΟΔΟΣ οδός",
        "don't snake_case 3.5 x-y (z)",
    ],
)
def test_words_of_texts_are_those_of_fts5(text: str, tokens: Tokens) -> None:
    assert [word for word in written(fold(text)) if word[-1] != "="] == tokens(text)


@pytest.mark.parametrize(("one", "other"), [
    ("Straße", "STRASSE"), ("café", "cafe\u0301"), ("ｶﾞﾗｽ", "ガラス"), ("ﾊﾟ", "パ"),
    ("Ｗｉ－Ｆｉ", "wi-fi"), ("４７１１", "4711"), ("٤٧١١", "4711"), ("४७११", "4711"),
    ("۴۷", "47"), ("مَرْحَبًا", "مرحبا"), ("أحمد", "احمد"), ("کتاب", "كتاب"),
    ("مـــرحبا", "مرحبا"), ("שָׁלוֹם", "שלום"), ("ﬁn", "fin"), ("𝐇𝐞𝐥𝐥𝐨", "hello"),
    ("co\u00adoperate", "cooperate"), ("می\u200cخواهم", "میخواهم"), ("İzmir", "izmir"),
    ("ΟΔΟΣ", "οδος"), ("до\u0301ма", "дома"), ("ＡＴ＆Ｔ", "AT&T"),
])  # fmt: skip
def test_what_is_equal(one: str, other: str) -> None:
    assert terms_of(one, stem=False) == terms_of(other, stem=False) != []


@pytest.mark.parametrize(("one", "other"), [
    ("パパ", "ハハ"), ("ばら", "はら"), ("ﾊﾟﾊﾟ", "ハハ"), ("мой", "мои"), ("ค่า", "คา"),
    ("की", "का"), ("हिन्दी", "हन्दा"), ("ırk", "irk"), ("C", "C++"), ("C++", "C#"),
    (".NET", "net"), ("#42", "42"), ("@ada", "ada"),
])  # fmt: skip
def test_what_is_different(one: str, other: str) -> None:
    assert terms_of(one) != terms_of(other)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("她的护照", ["她的", "的护", "护照"]),
        ("茶", ["茶"]),
        ("C语言", ["c", "c=", "语言"]),
        ("東京タワーへ", ["東京", "京タ", "タワ", "ワー", "ーへ"]),
        ("여권을 집", ["여권을", "여권", "권을", "집"]),
        ("서울", ["서울"]),
        ("น้ำแข็ง", ["น้ำ", "ำแ", "แข็", "ข็ง"]),
        ("हिन्दी में लिखा।", ["हिन्दी", "में", "लिखा"]),
        ("মা বলল", ["মা", "বলল"]),
        ("iPhone15を買った", ["iphone15", "を買", "買っ", "った"]),
        ("🎉👍🏽 👩‍💻 🇩🇪❤️ 1️⃣", ["🎉", "👍", "👩", "💻", "🇩🇪", "❤", "1"]),
        ("မြန်မာ", ["မြန်", "န်မာ"]),
    ],
)
def test_terms_of_scripts(text: str, terms: list[str]) -> None:
    found = terms_of(text, stem=False)
    if text == "မြန်မာ":
        assert len(found) == 2 and found[0].startswith("မြ")
    else:
        assert found == terms


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Jonas writes C++ and C#, not F#.", {"c++", "c#", "f#"}),
        ("C/C++", {"c++"}),
        ("We moved to .NET (and .net)", {".net"}),
        ("See #42, thanks @ada!", {"#42", "@ada"}),
        ("AT&T, R&D and Q&A", {"at&t", "r&d", "q&a"}),
        ("LGBTQ+ group; notepad++", {"lgbtq+", "notepad++"}),
        ("Who writes C? R is fine.", {"c=", "r="}),
        ("I like #护照 and @Zoë", {"#护照", "@zoe"}),
        ("2+2=4, a + b, ada@example.org, foo#bar, 3.5, e.g. U.S. p.m.", set()),
        ("# Title\n## Part", set()),
        ("a&amp;b ?x=1&y=2 ... so cool.What x-ray C-3PO don't", set()),
    ],
)
def test_names_with_symbols_are_kept_beside_the_word(text: str, names: set[str]) -> None:
    words = written(fold(text))
    assert {word for word in words if not word.isalnum()} == names
    if "#护照" not in names:
        assert [word for word in words if word.isalnum()] == "".join(
            c if c.isalnum() else " " for c in fold(text)
        ).split()


@given(HOSTILE)
def test_folding_is_idempotent_and_blind_to_case_and_composition(text: str) -> None:
    folded = fold(text)
    assert (
        fold(folded)
        == folded
        == fold(unicodedata.normalize("NFD", text))
        == fold(unicodedata.normalize("NFC", text))
    )
    if "İ" not in unicodedata.normalize("NFC", text) and "ı" not in text:
        assert fold(text.swapcase().casefold()) == fold(text.casefold())


@given(HOSTILE, st.booleans(), st.booleans())
def test_any_text_has_terms_that_can_be_stored(text: str, stem: bool, stop_words: bool) -> None:
    terms = terms_of(text, stem, stop_words)
    for term in terms:
        assert term and not any(c.isspace() for c in term)
        term.encode("utf-8")
    assert terms == terms_of(unicodedata.normalize("NFD", text), stem, stop_words)
    assert all(word in fold(text) for word in words_of(fold(text)))


@given(
    st.lists(st.sampled_from("護照在東京タワー여권ไทยабвδε"), max_size=12).map("".join),
    st.sampled_from([" ", "\n", "。", "？", "，"]),
)
def test_punctuation_parts_words_of_every_script(text: str, mark: str) -> None:
    assert terms_of(f"{text}{mark}{text}") == terms_of(text) * 2


@pytest.mark.slow
@pytest.mark.parametrize("text", [
    "\u0301" * 300_000, "\u0301\u0316" * 150_000, "क" + "\u093f" * 300_000, "कि" * 150_000,
    "护" * 300_000, "#@&+." * 200_000, "a&" * 150_000, "c+" * 150_000,
    "c " * 150_000, "\ud800" * 150_000, "\u200f\u200d" * 150_000, "\x00" * 300_000, ".a" * 150_000,
    " .a" * 100_000, "👩\u200d" * 100_000, "ﷺ" * 50_000, "น้ำ" * 100_000, "a&b" * 100_000,
], ids=map(str, range(18)))  # fmt: skip
def test_time_is_linear_in_hostile_text(text: str) -> None:
    """A quadratic rule would take minutes."""
    with ended_if_it_hangs():
        terms_of(text)


def test_a_pile_of_marks_is_cut_and_thirty_are_kept() -> None:
    assert composed("e" + "\u0323" * 29) == unicodedata.normalize("NFC", "e" + "\u0323" * 29)
    assert len(composed("x" + "\u0316\u0301" * 5_000)) == 31
    assert composed("——————————————————————————————————————————") == "—" * 42, "only marks are cut"


@pytest.mark.parametrize("marks", [0, 31, 40])
def test_a_long_run_of_symbols_is_read_once_whatever_marks_it_has(marks: int) -> None:
    """Emoji are no marks; of more than thirty marks on one of them thirty are read."""
    run = "🦔" * 40 + "\u0301" * marks + "🎉" * 40
    assert composed(run).count("\u0301") == min(marks, PILED)
    assert terms_of(run) == ["🦔"] * 40 + ["🎉"] * 40


def test_pairs_of_characters_are_those_of_the_runs_whatever_is_stemmed_or_left_out() -> None:
    text = "The running 護照在抽屜 of the cats ปิดน้ำ"
    plain = [("護", "照"), ("照", "在"), ("在", "抽"), ("抽", "屜")]
    pairs = ["".join(pair) for pair in plain]
    thai = terms_of("ปิดน้ำ")
    for stem, stop_words, words in (
        (True, False, (["the", "run"], ["of", "the", "cat"])),
        (False, False, (["the", "running"], ["of", "the", "cats"])),
        (True, True, (["run"], ["cat"])),
    ):
        assert terms_of(text, stem, stop_words) == [*words[0], *pairs, *words[1], *thai]


def letters_of(run: str) -> list[str]:
    """The letters of a run, each with the marks that follow it; marks on none are one."""
    letters: list[str] = []
    for char in run:
        if letters and unicodedata.category(char)[0] == "M":
            letters[-1] += char
        else:
            letters.append(char)
    return letters


RUNS = st.text(st.sampled_from("护照桌ひカー"), min_size=1, max_size=6)
MARKED = st.text(st.sampled_from("กขคิีุ้ကခိ"), min_size=1, max_size=6)
KOREAN = st.text(st.sampled_from("여권을가"), min_size=1, max_size=5)


@given(st.lists(st.tuples(st.sampled_from("rmk"), RUNS, MARKED, KOREAN), max_size=8))
def test_a_run_is_its_pairs_of_letters_and_a_korean_word_itself_too(
    drawn: list[tuple[str, str, str, str]],
) -> None:
    runs, expected = list[str](), list[str]()
    for which, *kinds in drawn:
        run = unicodedata.normalize("NFC", kinds["rmk".index(which)])
        letters = letters_of(run)
        pairs = [a + b for a, b in pairwise(letters)]
        runs.append(run)
        expected += (
            [run]
            if len(letters) < 2 or (which == "k" and len(letters) == 2)
            else [run] * (which == "k") + pairs
        )
    assert terms_of(" ".join(runs)) == expected


@given(st.lists(HOSTILE | RUNS, max_size=6))
def test_terms_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    read = terms_of_parts(tuple(texts))
    terms = [read.words[number] for number in read.numbers.tolist()]
    assert read.words == tuple(dict.fromkeys(terms))
    starts = [0, *read.ends.tolist()]
    assert [terms[a:b] for a, b in pairwise(starts)] == [
        terms_of(text, stop_words=True) for text in texts
    ]


@given(HOSTILE | RUNS | MARKED | KOREAN, st.booleans())
def test_words_of_a_sentence_are_those_of_a_long_text(text: str, contracted: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "SENTENCE", 0)
        long = words_of(fold(text), contracted)
    assert words_of(fold(text), contracted) == long


@pytest.mark.parametrize("shape", [reading._SHAPE, reading._DISTINCT, reading._COMBINING])
def test_characters_of_a_block_are_of_one_kind(shape: reading._Shape) -> None:
    for first, last in reading.ALIKE:
        assert {shape._of(chr(code)) for code in range(first, last + 1)} == {shape(chr(first))}


NAMES = st.sampled_from(
    ("C++", "c.", "#护照", "护照+", "ก้+", "여권+", "at&t+", "“.net", "the", "runs")
)


@given(st.lists(HOSTILE | RUNS | MARKED | KOREAN | NAMES, max_size=9), st.booleans(), st.booleans())
def test_terms_of_a_long_text_are_those_of_a_short_one(
    texts: list[str], stem: bool, stop_words: bool
) -> None:
    text = " ".join(texts) + "茶"
    with pytest.MonkeyPatch.context() as patch:
        short = reading._indexed(fold(text), stem, stop_words)
        patch.setattr(reading, "LONG", 0)
        assert reading._indexed(fold(text), stem, stop_words) == short


@pytest.mark.parametrize(
    "mixed", ["她的护照放在桌上。", "Ада 茶 at AT&T 🎉 runs. ", "여권을 가지고 "]
)
def test_a_long_text_has_the_terms_of_its_sentences(mixed: str) -> None:
    assert len(mixed) * 900 > reading.LONG
    assert terms_of(mixed * 900) == terms_of(mixed) * 900


@given(HOSTILE | RUNS, HOSTILE, st.sampled_from(("", "Bo: ", "王: ", "x²+ ")), st.booleans())
def test_a_text_among_others_has_its_own_terms(
    text: str, after: str, before: str, alone: bool
) -> None:
    behind = "" if alone else f" {after}"
    assert terms_within(before, text, behind) == terms_of(
        f"{before}{text}{behind}", stop_words=True
    )


def test_terms_of_many_texts_do_not_depend_on_a_mark_that_one_of_them_has() -> None:
    texts = ("护照\U0001f8c0放在", "\U0001f8c1她的", "Zoë met 她 and\n\U0001f8c0\n护照")
    read = terms_of_parts(texts)
    starts = [0, *read.ends.tolist()]
    assert [
        [read.words[number] for number in read.numbers[a:b].tolist()] for a, b in pairwise(starts)
    ] == [terms_of(text, stop_words=True) for text in texts]
