"""What an object of a library says of its mechanism: a draft of its claim, and a target for it."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..draft import Draft, Key


@dataclass(frozen=True)
class Said:
    """What was read of an object.

    Attributes:
        draft: of the claim: what the object says stands there, the rest is left open.
        stub: lines of Python that define `aggregate`, where the object stands as `it`; None where
            the object has nothing that could be asked.
        where: what to name as the target where there is no stub, in words.
    """

    draft: Draft
    stub: Sequence[str] | None = None
    where: str = "the deployment"

    def as_json(self) -> dict[str, Any]:
        """As it travels from the process that looks; `from_json` reads it."""
        return asdict(self)

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> "Said":
        """What `as_json` gave."""
        draft = table["draft"]
        keys = [Key(**key) for key in draft["keys"]]
        return cls(Draft(**{**draft, "keys": keys}), table["stub"], table["where"])


def noise_text(family: str, scale: float, options: str = "") -> str | None:
    """Noise as a claim writes it, with every digit of its scale; None where there is none."""
    if not 0.0 < scale < math.inf:
        return None
    return f"{family}:{int(scale) if scale == int(scale) else scale!r}{options}"


def one_release(epsilon: Any, delta: Any, source: str) -> list[str]:
    """`[privacy]` of one release, with what an object says of epsilon and delta, or questions.

    source: what says it, in words.
    """
    if not all(isinstance(x, int | float) and math.isfinite(x) for x in (epsilon, delta)):
        return [
            "# [privacy]  # of one release",
            '# epsilon = "?"',
            '# delta = "?"',
            "# queries = 1",
        ]
    return [
        f"[privacy]  # read: {source}",
        f"epsilon = {float(epsilon)!r}",
        f"delta = {float(delta)!r}",
        "queries = 1",
    ]


def draft_any(
    what: str, note: str, privacy: Sequence[str], pair: tuple[Any, Any] | None, question: str
) -> Draft:
    """A claim of epsilon alone, for a mechanism whose law no claim can name.

    note: why no law is named; pair: two neighbouring inputs that the object names; question: for
    them where it names none.
    """
    here, there = ("?", "?") if pair is None else pair
    head = f"[[pairs]]  # {'read: ' if pair is not None else ''}{question}"
    sides = [f"{side} = {_toml(value)}" for side, value in (("here", here), ("there", there))]
    return Draft(what, "any", [Key("name", "any", note)], privacy, ["", head, *sides])


def _toml(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
