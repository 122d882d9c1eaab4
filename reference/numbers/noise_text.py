"""The text by which claims name noise, `laplace:2;grid=2^-40;min=0`."""

import math
import re

from ..noise_names import noise_meant
from .additive import SCALES, Additive
from .families import family_names, family_of
from .noise import NumberNoise
from .shares import SHARED, Shares

_LEAST_CUT = 1e-3
"""The least scale of noise that is cut: sums are cut where counts lie, and floats lose a little."""


def parse_number_noise(text: str) -> NumberNoise:
    """The noise that `text` such as `laplace:2;round;min=0` names; `str(noise)` prints it back.

    FAMILY:SCALE, then any of `round` (to whole numbers), or `cut` (to whole numbers, towards zero),
    or `grid=G` (a number, or `2^-40`), and of `min=A` and `max=B`, after semicolons. Of whole
    noise, `sum=K` adds K draws; `shares=P/N` is what P parties have added, of whom N make the noise
    together, and `shares=N` what all N have. Raises ValueError naming the part and what is allowed.
    """
    shown = repr(text if len(text) <= 60 else f"{text[:57]}...")
    head, *options = (part.strip() for part in text.split(";"))
    name, separator, scale = head.partition(":")
    try:
        named = family_of(name) if separator else None
    except ValueError as error:
        raise ValueError(f"noise {shown}: {error}") from None
    if named is None:
        known = family_names()
        raise ValueError(
            f"noise {shown}: expected FAMILY:SCALE with FAMILY one of {', '.join(known)}"
            f"{noise_meant(text, known)}"
        )
    size = _number(scale, f"noise {shown}: scale")
    if not SCALES[0] <= size <= SCALES[1]:
        raise ValueError(f"noise {shown}: scale {scale}: expected {SCALES[0]:g} to {SCALES[1]:g}")
    found: dict[str, float] = {}
    family: Additive = named(size)
    for option in options:
        if option.partition("=")[0] in ("sum", "shares"):
            family = _shared(family, option, shown)
            continue
        key, value = _option(option, shown)
        if key in found:
            raise ValueError(f"noise {shown}: {option!r} comes after another {key}: expected one")
        found[key] = value
    cut = "cut" in options
    if cut and size < _LEAST_CUT:
        raise ValueError(f"noise {shown}: scale {scale}: expected {_LEAST_CUT:g} or more with cut")
    try:
        return NumberNoise(family, **found, cut=cut)
    except ValueError as error:
        raise ValueError(f"noise {shown}: {error}") from None


def _shared(family: Additive, option: str, shown: str) -> Shares:
    """The noise of several draws or shares, by an option `sum=2` or `shares=8/10`."""
    if isinstance(family, Shares):
        raise ValueError(f"noise {shown}: {option[:60]!r} comes after {family}: expected one")
    if family.family not in SHARED:
        raise ValueError(
            f"noise {shown}: {option[:60]!r}: expected it after one of {', '.join(SHARED)}"
        )
    key, _, value = option.partition("=")
    found = re.fullmatch(r"([1-9]\d{0,5})(?:/([1-9]\d{0,5}))?", value.strip())
    if found is None or (key == "sum" and found[2]):
        allowed = "sum=K" if key == "sum" else "shares=N or shares=P/N"
        raise ValueError(f"noise {shown}: {option[:60]!r}: expected {allowed}, from 1 to 999999")
    present = int(found[1])
    parties = int(found[2] or (1 if key == "sum" else present))
    of_parties = key == "shares" and parties == 1
    return Shares(family.scale, SHARED[family.family], present, parties, of_parties)


_KEYS = {"grid": "grid", "min": "low", "max": "high"}


def _option(option: str, shown: str) -> tuple[str, float]:
    if option in ("round", "cut"):
        return "grid", 1.0
    key, separator, value = option.partition("=")
    if not separator or key not in _KEYS:
        raise ValueError(
            f"noise {shown}: {option[:60]!r}: expected round, cut, grid=G, min=A or max=B"
        )
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
