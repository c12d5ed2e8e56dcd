"""Condensing: never above the number of tokens, only words of the text, and the form that fits
for each kind of content.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from hanging import ended_if_it_hangs
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.context.condensers import (
    Form,
    breadcrumb,
    condense,
    condensed_to,
    cut,
    is_code,
    is_triples,
    outline,
    signatures,
)
from hebbarium.engine.context.tokens import LENGTH, TokenCounter, counter
from hebbarium.engine.ports.by_name import embedder

PYTHON = '''import os


@cache
@app.route("/")
def index(a,
          b=2) -> str:
    """Doc."""
    def inner():
        return 1
    return "x"


class Shop(Base):
    size = 1

    async def open(self): return 2

    def close(self) -> None:  # the door
        pass
'''
TALK = (
    "Here is the plan. We deploy on Friday. Can you check the logs? The server runs Flask on port 8080. Flask serves the shop. Bye now.\n"
    f"```python\n{PYTHON}```\nThen we are done. Thanks."
)
WORDS = ("We met.", "Ada sang.", "why?", "```py\ndef f(x):\n    return x\n```", "```\nx\n", "日本語。",
         "مرحبا؟", "\n",
         "x" * 90, "(a, b, c)", "{", "\x00", "\ud800", "7")  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
PIECES = counter(embedder("minilm"))


@pytest.mark.parametrize("by", [LENGTH, PIECES], ids=lambda by: by.name)
@given(text=TEXTS, tokens=st.integers(-2, 80))
def test_a_condensed_text_never_has_more_tokens_and_no_other_words(
    by: TokenCounter, text: str, tokens: int
) -> None:
    found = condensed_to(text, tokens, by)
    assert by.tokens(found.text) <= max(tokens, 0)
    assert (found.form is Form.WHOLE) == (found.text == text and tokens > 0)
    if found.form is not Form.CUT:
        assert set(re.findall(r"\w+", found.text)) <= set(re.findall(r"\w+", text))
    assert condensed_to(text, tokens, by) == found


def test_the_forms_follow_each_other_as_room_shrinks() -> None:
    forms = list(
        dict.fromkeys(
            condensed_to(TALK, tokens).form for tokens in range(LENGTH.tokens(TALK), 0, -1)
        )
    )
    assert forms == [form for form in Form if form in forms] and {
        Form.SIGNATURES,
        Form.SENTENCES,
        Form.OUTLINE,
        Form.CUT,
    } <= set(forms)
    assert (
        condensed_to("One cat. Two cats ran. Three cats sat by the cats. " * 9 + "Why?", 20).form
        is Form.SENTENCES
    )
    long = "A very long first sentence about boats and the river in the north of it. Boats ran. The boats sank. Where?"
    assert {condensed_to(long, tokens).form for tokens in range(6, 20)} & {
        Form.SUMMARY,
        Form.KEYWORDS,
    }


def test_an_outline_is_the_first_sentence_and_the_questions() -> None:
    assert outline('We met. It rained. Where is it? Fine.\nIs it "red?"') == [
        "We met.",
        "Where is it?",
        'Is it "red?"',
    ]
    assert outline("") == []


def test_sentences_about_the_query_come_first() -> None:
    text = "We met on Monday. Ada likes rain. Bo likes rain and Ada. The password is plum. Rain likes Ada and Bo."
    assert "plum" not in condense(text, 20) and "plum" in condense(text, 20, about=("password",))


def test_python_keeps_the_lines_that_the_parser_calls_definitions() -> None:
    found = signatures(PYTHON, "python").split("\n")
    assert found == [
        "@cache",
        '@app.route("/")',
        "def index(a,",
        "          b=2) -> str:",
        "class Shop(Base):",
        "    async def open(self): return 2",
        "    def close(self) -> None:  # the door",
    ]
    source = Path(condense.__code__.co_filename).read_text(encoding="utf-8")
    names = {
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    shown = signatures(source, "py")
    assert all(f"{name}" in shown for name in names) and len(shown) < len(source) / 2


@pytest.mark.parametrize(("language", "code", "kept"), [
    ("js", "const f = async (a) => {\n  g(a)\n}\nlet x = 1\nexport function h(b) {\n  if (b) { return 1 }\n}",
     ["const f = async (a) => {", "export function h(b) {"]),
    ("java", "public class A {\n  private int x;\n  public static void main(String[] args) {\n    while (x) {\n  }\n}",
     ["public class A {", "  public static void main(String[] args) {"]),
    ("rust", "use x;\npub fn f<T>(a: T) -> T {\n    a\n}\nimpl A for B {",
     ["pub fn f<T>(a: T) -> T {", "impl A for B {"]),
    ("sql", "CREATE TABLE t (\n  id int\n);\nSELECT 1;", ["CREATE TABLE t ("]),
    ("c", "int main(void) {\n  printf(\"x\");\n  return 0;\n}", ["int main(void) {"]),
    ("py", "def broken(:\n    pass\nclass Fine:\n    x = (", ["def broken(:", "class Fine:"]),
    ("sh", "echo 1\nls", ["echo 1"]),
])  # fmt: skip
def test_other_code_and_broken_python_keep_their_definitions_by_line_rules(
    language: str, code: str, kept: list[str]
) -> None:
    assert signatures(code, language).split("\n") == kept


def test_code_without_a_fence_is_found() -> None:
    assert is_code("int x = 1;\nfor (;;) {\n}\nreturn x;") and is_code(
        "import os\nfrom a import b\ndef f():\n    x"
    )
    assert not is_code(
        "We met in Oslo.\nIt rained: a lot.\nThe class of 1999 came."
    ) and not is_code("x = 1;")


def test_triples_are_left_out_but_never_altered() -> None:
    lines = ["(Ada, lives in, Oslo)", "Bo --[knows]--> Ada", "Ada | likes | rye bread"]
    assert (
        is_triples("\n".join(lines)) and not is_triples("Ada, Bo and Cleo") and not is_triples("")
    )
    for tokens in range(1, 30):
        assert condense("\n".join(lines), tokens).split("\n") in [lines[:n] for n in (1, 2, 3)] + [
            [""]
        ]


def test_a_cut_ends_at_a_word_and_closes_its_fence() -> None:
    assert (
        cut("one two three four", 2) == "one two"
        and cut("x" * 40, 3) == "x" * 12
        and cut("", 3) == cut("abc", 0) == ""
    )
    assert cut("```\none two three", 4).count("```") == 2
    assert cut("日本語のテキスト", 1, PIECES)


def test_a_breadcrumb_counts_lines() -> None:
    assert [breadcrumb(812, text) for text in ("a\nb\nc", "a", "")] == [
        "[memory 812: 3 lines]",
        "[memory 812: 1 line]",
        "[memory 812: 1 line]",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["x" * 1_000_000, "We met. " * 125_000, "def f(x):\n" * 100_000,
                                  "a|b|c\n" * 160_000, "```\n" * 250_000,
                                  "(" * 1_000_000, "a b(c) {\n" * 110_000, "\n" * 1_000_000])  # fmt: skip
def test_a_megabyte_is_condensed_to_the_budget(text: str) -> None:
    with ended_if_it_hangs():
        assert LENGTH.tokens(condense(text, 100)) <= 100
