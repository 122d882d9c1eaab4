"""Names that noise has elsewhere, and texts that nearly name it: what was probably meant."""

import re
from collections.abc import Iterable

ELSEWHERE = {
    "normal": "gaussian",
    "gauss": "gaussian",
    "laplacian": "laplace",
    "double-exponential": "laplace",
    "geometric": "discrete-laplace",
    "two-sided-geometric": "discrete-laplace",
    "discrete-normal": "discrete-gaussian",
}
"""Families of noise by names that papers and libraries give them."""

_SCALED = re.compile(
    r"\s*([a-z][a-z _-]*?)\s*[:(=,\s]\s*(?:(?:sigma|std|scale|s|b)\s*=\s*)?"
    r"([0-9][0-9.e+-]*)\s*\)?\s*(;.*)?",
    re.IGNORECASE,
)


def family_meant(name: str, families: Iterable[str]) -> str | None:
    """The one of `families` that a name stands for, whatever its case; None where none does."""
    plain = "-".join(re.split(r"[\s_-]+", name.strip().lower()))
    found = ELSEWHERE.get(plain, plain)
    return found if found in families else None


def noise_meant(text: str, families: Iterable[str]) -> str:
    """` (did you mean gaussian:40?)` for a text that nearly names noise; empty for any other."""
    parts = _SCALED.fullmatch(text)
    family = None if parts is None else family_meant(parts[1], families)
    if parts is None or family is None:
        return ""
    meant = f"{family}:{parts[2]}{parts[3] or ''}"
    return "" if meant == text.strip() else f" (did you mean {meant}?)"
