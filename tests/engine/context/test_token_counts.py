"""Counting tokens: the tokeniser of a folder, a file, or the length; the same number as the
library itself.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from examples import fewer_examples
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from hebbarium.engine.base.errors import HebbariumError, InputError
from hebbarium.engine.context.selection import _all_fit
from hebbarium.engine.context.tokens import LENGTH, counter
from hebbarium.engine.ports.by_name import embedder
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

TEXTS = ("", "Where is the key?", "a\x00b \ud800 c", "مرحبا بالعالم", "日本語のテキスト", "x" * 5_000,
         "one\n\ntwo  three\t", "don't-stop_it()")  # fmt: skip


PIECES = counter(embedder("minilm"))


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokeniser of whole words."""
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    folder = tmp_path_factory.mktemp("words")
    made = Tokenizer(WordLevel({"[UNK]": 0, "the": 1}, "[UNK]"))
    made.pre_tokenizer = Whitespace()
    made.save(str(folder / "tokenizer.json"))
    return folder


def test_without_a_tokeniser_a_token_is_four_characters() -> None:
    for source in (None, HashingEmbedder(8), CachedEmbedder(HashingEmbedder(8), None)):
        assert counter(source) is LENGTH
    assert [LENGTH.tokens("x" * n) for n in (0, 1, 4, 5, 8)] == [0, 1, 1, 2, 2]
    assert LENGTH.name == "length/4" and LENGTH.per_token == 4 and LENGTH.units("abc") == 3


def test_the_embedders_folder_gives_the_embedders_tokeniser() -> None:
    model = embedder("minilm")
    found = counter(model)
    folder = model.embedder.folder  # type: ignore[attr-defined]
    library = Tokenizer.from_file(str(folder / "tokenizer.json"))
    library.no_truncation()
    library.no_padding()
    assert found.name.startswith("all-MiniLM-L6-v2@") and found.per_token == 1
    for text in TEXTS:
        clean = text.encode("utf-8", "replace").decode("utf-8")
        assert (
            found.tokens(text)
            == found.units(text)
            == len(library.encode(clean, add_special_tokens=False).ids)
        )
    assert found.tokens("word " * 2_000) == 2_000  # the model's own limit does not cut


def test_a_path_names_a_file_or_its_folder(words: Path) -> None:
    assert (
        counter(words).tokens("the cat, the dog")
        == counter(str(words / "tokenizer.json")).tokens("the cat, the dog")
        == 5
    )
    assert counter(words).name == counter(words / "tokenizer.json").name and counter(
        words
    ).name.startswith(words.name)


def test_another_tokeniser_has_another_name(words: Path, tmp_path: Path) -> None:
    other = tmp_path / words.name
    shutil.copytree(words, other)
    changed = json.loads((other / "tokenizer.json").read_text(encoding="utf-8"))
    changed["model"]["vocab"]["cat"] = 2
    (other / "tokenizer.json").write_text(json.dumps(changed), encoding="utf-8")
    assert counter(other).name != counter(words).name


def test_a_folder_without_a_tokeniser_and_a_damaged_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the folder has no tokenizer"):
        counter(tmp_path)
    with pytest.raises(InputError, match="no such"):
        counter(tmp_path / "absent")
    (tmp_path / "tokenizer.json").write_text("{", encoding="utf-8")
    with pytest.raises(HebbariumError, match="cannot be loaded"):
        counter(tmp_path)


@given(st.lists(st.text(max_size=40), max_size=12))
@fewer_examples
def test_the_units_of_lines_add_up_to_the_whole_within_two_percent(lines: list[str]) -> None:
    """A context is counted as a whole; the sum over its lines is what selecting relies on."""
    whole = "\n".join(lines)
    assert sum(LENGTH.units(line) + 1 for line in lines) - bool(lines) == LENGTH.units(whole)
    plain = [line.encode("ascii", "ignore").decode().replace("\r", " ") for line in lines]
    assert PIECES.tokens("\n".join(plain)) <= 1.02 * sum(map(PIECES.tokens, plain))


@pytest.mark.parametrize(("room", "fits", "counted"), [(2, False, 3), (3, False, 4), (9, True, 4)])
def test_a_long_text_is_not_counted_where_others_leave_it_no_room(
    room: int, fits: bool, counted: int
) -> None:
    asked = list[str]()

    class Words(type(LENGTH)):  # type: ignore[misc]
        def units(self, text: str) -> int:
            asked.append(text)
            return len(text.split())

    texts = [SimpleNamespace(text=text) for text in ("one " * 5, "a", "b", "c")]
    fitting = _all_fit(texts, room, Words())  # type: ignore[arg-type]
    assert fitting is fits and len(asked) == counted
