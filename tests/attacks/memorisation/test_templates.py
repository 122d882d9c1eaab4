"""Templates of canaries: what is read, what is refused, and every string once."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.attacks.memorisation import Template

ALPHABETS = st.lists(st.sampled_from(["01", "abc", "xyzw", "-]"]), min_size=1, max_size=4)
PIECES = st.text("ab01 -", max_size=3)


@st.composite
def templates(draw):
    alphabets = draw(ALPHABETS)
    return Template(tuple(draw(PIECES) for _ in range(len(alphabets) + 1)), tuple(alphabets))


@pytest.mark.parametrize(
    ("text", "pieces", "alphabets"),
    [
        ("pin [0-9]", ("pin ", ""), ("0123456789",)),
        ("[a-c]{2}-[xz]!", ("", "", "-", "!"), ("abc", "abc", "xz")),
        (r"\[[\]\-a]", ("[", ""), ("]-a",)),
        ("[a-][-a]", ("", "", ""), ("a-", "-a")),
        ("{2}[01]", ("{2}", ""), ("01",)),
    ],
)
def test_the_usual_notation_is_read(text, pieces, alphabets) -> None:
    assert Template.parse(text) == Template(pieces, alphabets)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pin", "no free symbol"),
        ("", "no free symbol"),
        ("[0-9", "expected a character"),
        ("[]", "alphabet ''"),
        ("[aba]", "alphabet 'aba': expected characters, each once"),
        ("[9-0]", "character 4: 9-0 is no range"),
        ("[01]{0}", "from 1 to 999"),
        ("[01]{two}", "from 1 to 999"),
        ("[01]{3", "from 1 to 999"),
        ("[01]\\", "expected a character"),
    ],
)
def test_another_notation_is_refused_with_its_place(text, message) -> None:
    with pytest.raises(ValueError, match="template") as raised:
        Template.parse(text)
    assert message in str(raised.value)


@given(templates())
def test_the_space_has_every_string_once_in_order(template) -> None:
    """Catches a radix taken in the wrong order, or the text at the end left out."""
    found = template.strings(template.slice(0, template.size))
    whole = [
        "".join(a + b for a, b in zip(template.pieces, (*symbols, ""), strict=True))
        for symbols in product(*template.alphabets)
    ]
    assert found == whole
    assert template.bits == pytest.approx(math.log2(len(whole)))


@given(templates(), st.data())
def test_a_canary_is_read_back(template, data) -> None:
    number = data.draw(st.integers(0, template.size - 1))
    symbols = template.slice(number, number + 1)
    assert (template.symbols_of(template.strings(symbols)[0]) == symbols[0]).all()


@pytest.mark.parametrize(
    ("canary", "message"),
    [
        ("pin 1", "character 6: expected one of '0123456789'"),
        ("pin x1!", "character 5: expected one of '0123456789'"),
        ("pan 11!", "character 1: expected 'pin '"),
        ("pin 11", "character 7: expected '!'"),
        ("pin 11!!", "character 8: expected the end"),
    ],
)
def test_a_string_of_no_template_is_refused(canary, message) -> None:
    with pytest.raises(ValueError, match="canary") as raised:
        Template.parse("pin [0-9]{2}!").symbols_of(canary)
    assert message in str(raised.value)
