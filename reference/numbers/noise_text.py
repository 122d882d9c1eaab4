"""The text by which claims name noise, `laplace:2;grid=2^-40;min=0`."""

import math
import re

from .families import FAMILIES
from .noise import NumberNoise

SCALES = (1e-9, 1e12)
"""The least and largest scale in a text: beyond, squares and reciprocals leave the floats."""


def parse_number_noise(text: str) -> NumberNoise:
    """The noise that `text` such as `laplace:2;round;min=0` names; `str(noise)` prints it back.

    FAMILY:SCALE, then any of `round` (to whole numbers), `grid=G` (a number, or `2^-40`), `min=A`
    and `max=B`, after semicolons. Raises ValueError naming the part and what is allowed.
    """
    shown = repr(text if len(text) <= 60 else f"{text[:57]}...")
    head, *options = (part.strip() for part in text.split(";"))
    name, separator, scale = head.partition(":")
    if not separator or name not in FAMILIES:
        raise ValueError(
            f"noise {shown}: expected FAMILY:SCALE with FAMILY one of {', '.join(FAMILIES)}"
        )
    size = _number(scale, f"noise {shown}: scale")
    if not SCALES[0] <= size <= SCALES[1]:
        raise ValueError(f"noise {shown}: scale {scale}: expected {SCALES[0]:g} to {SCALES[1]:g}")
    found: dict[str, float] = {}
    for option in options:
        key, value = _option(option, shown)
        if key in found:
            raise ValueError(f"noise {shown}: {option!r} comes after another {key}: expected one")
        found[key] = value
    try:
        return NumberNoise(FAMILIES[name](size), **found)
    except ValueError as error:
        raise ValueError(f"noise {shown}: {error}") from None


_KEYS = {"grid": "grid", "min": "low", "max": "high"}


def _option(option: str, shown: str) -> tuple[str, float]:
    if option == "round":
        return "grid", 1.0
    key, separator, value = option.partition("=")
    if not separator or key not in _KEYS:
        raise ValueError(f"noise {shown}: {option[:60]!r}: expected round, grid=G, min=A or max=B")
    number = _number(value, f"noise {shown}: {key}")
    if key == "grid" and not number > 0:
        raise ValueError(f"noise {shown}: grid {value}: expected a positive number")
    return _KEYS[key], number


def _number(text: str, what: str) -> float:
    power = re.fullmatch(r"2\^(-?\d{1,4})", text.strip())
    try:
        number = math.ldexp(1.0, int(power[1])) if power else float(text)
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{what} {text.strip()[:60]!r}: expected a number")
    return number
