"""What targets say is shown, and steers nothing."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.verifiers.text import counted, four_digits, printable

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_one_line_of_text_that_can_be_written(text) -> None:
    """Catches lone surrogates, which UTF-8 cannot write, and anything a terminal obeys."""
    shown = printable(text)
    shown.encode()
    assert not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in shown)
    assert len(shown.splitlines()) <= 1
    assert printable(shown) == shown


@pytest.mark.parametrize("text", ["Grüße, 投票", "👩\u200d🔬 <b> ]]> &amp; \\x1b", "a b\u00a0c"])
def test_ordinary_text_stays_as_it_is(text) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("\x9b31m", "\\x9b31m"),  # the one-byte form of the same
        ("a\nPASS", "a\\nPASS"),
        ("\ud800", "\\ud800"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\uffff", "\\uffff"),
    ],
)
def test_what_steers_is_escaped(text, shown) -> None:
    assert printable(text) == shown


def test_numbers_in_words() -> None:
    assert [counted(n, "query", "queries") for n in (0, 1, 2000)] == [
        "0 queries",
        "1 query",
        "2,000 queries",
    ]
    assert [four_digits(v) for v in (0.00123456, 14.627, 2073.4)] == ["0.001235", "14.63", "2,073"]
