"""Numbers in words, and text from targets and claims, made safe to show."""

import difflib
import unicodedata
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal

_FEWEST_DIGITS = 2  # of an epsilon that is taken for a rounded cost

# Cc: control characters, escape sequences among them; Cs: halves of surrogate pairs, which UTF-8
# cannot write; Cn: non-characters, which XML forbids; Zl, Zp: line breaks that are not \n
_UNSAFE = ("Cc", "Cs", "Cn", "Zl", "Zp")
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def nearest(given: str, known: Iterable[str]) -> str | None:
    """The known name that a wrong one resembles, without regard to case; None where none does."""
    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(given.lower(), names, 1)
    return names[near[0]] if near else None


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """` (did you mean seed?)` for a name that resembles a known one; empty for any other."""
    near = nearest(given, known)
    return f" (did you mean {near}?)" if near else ""


def counted(number: int, one: str, several: str) -> str:
    """A number of things: `1 query`, `2,000 queries`."""
    return f"{number:,} {one if number == 1 else several}"


def epsilon_text(epsilon: float) -> str:
    """A privacy cost as every command prints it: to four decimals. Documents have all digits."""
    return f"{epsilon:,.4f}"


def rounded_down(claimed: float, cost: float) -> str:
    """A hint where a claimed epsilon is a larger cost in fewer digits; empty for any other."""
    exact, digits = (
        Decimal(repr(float(cost))),
        len(Decimal(repr(claimed)).normalize().as_tuple().digits),
    )
    near = {
        float(Context(digits, how).create_decimal(exact)) for how in (ROUND_FLOOR, ROUND_HALF_UP)
    }
    if digits < _FEWEST_DIGITS or not claimed < cost or claimed not in near:
        return ""
    up = float(Context(digits, ROUND_CEILING).create_decimal(exact))
    return f"; {claimed!r} is that cost rounded down: round an epsilon up, to {up!r} or more"


def four_digits(value: float) -> str:
    """A number as counts beside it are written, with a comma between thousands."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def printable(text: str) -> str:
    r"""One line of `text`: what would steer a terminal, break XML or turn reading order is escaped.

    Such characters are written as Python writes them (`\x1b`, `\n`, `\u202e`); all others stay.
    """
    return "".join(
        char.encode("unicode_escape").decode()
        if char in _BIDI or unicodedata.category(char) in _UNSAFE
        else char
        for char in text
    )
