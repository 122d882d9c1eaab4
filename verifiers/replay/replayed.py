"""Pairs of neighbours with the noise of a Python target frozen: what was found of them."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from pydantic import Field

from ...reference.parallel.kept import shown
from ..claims.claim import Claim
from ..findings.document import Document
from ..findings.note import Fields, Note
from ..findings.verdict import Verdict
from ..kinds.labels.claim import LabelsClaim
from ..targets.spec import is_python, split_spec
from .frozen import FrozenTarget
from .labels import pairs as label_pairs
from .number_pairs import pairs as number_pairs
from .pairs import PairFault, ReplayPair
from .refusals import judge_of
from .search import Found, search
from .sources import SEED

_SHOWN = 400  # characters of an input


class FrozenDraw(Document):
    """Where one run draws, and what."""

    line: str = Field(description="The file and the line.")
    function: str
    shape: tuple[int, ...]
    scale: float | str | None = Field(
        description="The scale of the noise; in words where there are several, null without one."
    )
    times: int = Field(ge=1, description="How often it is drawn in one run.")

    def as_text(self) -> str:
        """A line for the terminal."""
        scale = "" if self.scale is None else f", scale {self.scale}"
        shape = f", shape {self.shape}" if self.shape else ""
        times = f", {self.times} times" if self.times > 1 else ""
        return f"frozen: {self.line}: {self.function}{scale}{shape}{times}"


class Replayed(Document):
    """What was found of a target on pairs of neighbours with the same draws."""

    verdict: Verdict = Field(
        description="Fail where a pair shows a fault, inconclusive where no noise could be frozen."
    )
    fault: str | None = Field(description="What is wrong, in a word.")
    code: str | None = Field(description="Of the fault, or of the reason why none could be seen.")
    fields: Fields = Field(description="The parameters of the code.")
    message: str
    lines: tuple[str, ...] = Field(description="Where the fault arises.")
    moves: float | None = Field(description="How far the release moves between the inputs.")
    allowed: float | None = Field(description="How far the claim allows it to move.")
    pair: tuple[Any, Any] | None = Field(
        description="The two inputs that show the fault, as the target is given them."
    )
    compared: int = Field(ge=0, description="Pairs whose runs had the same draws.")
    skipped: int = Field(ge=0, description="Pairs that could not be compared.")
    draws: tuple[FrozenDraw, ...]
    runs: int = Field(ge=0)
    seconds: float = Field(ge=0, description="Of all runs, rounded to thousandths.")

    def as_text(self) -> str:
        """What was found, as text for the terminal."""
        lines = [f"{self.verdict.value.upper()}: {self.message}"]
        if self.pair is not None:
            lines += [f"  {line}" for line in self.lines]
            lines += [f"  first input:  {_shorten(self.pair[0])}"]
            lines += [f"  second input: {_shorten(self.pair[1])}"]
        if self.verdict is not Verdict.INCONCLUSIVE:
            lines += [draw.as_text() for draw in self.draws]
        lines.append(f"{self.runs} runs, {self.seconds:.1f} s")
        return "\n".join(lines)


_PAIRS: dict[str, Callable[[Any, int], Iterator[ReplayPair]]] = {
    "labels": label_pairs,
    "numbers": number_pairs,
}
"""Kinds whose neighbours are made here."""


def pairs_of(claim: Claim, seed: int) -> Iterator[ReplayPair]:
    """Neighbours under a claim, without end. Raises ValueError of one line for other kinds."""
    name = claim.kind.name
    if name not in _PAIRS:
        raise ValueError(f"noise is frozen for claims of {', '.join(_PAIRS)}, not of {name}")
    return _PAIRS[name](claim, seed)


def replay_pairs(spec: str, claim: Claim, seed: int, pairs: int) -> Replayed:
    """Looks at so many pairs of a Python target with the same draws.

    Raises ValueError and TargetError of one line.
    """
    if not is_python(spec):
        raise ValueError(f"{spec}: noise is frozen in Python targets alone, file.py:attr")
    split_spec(spec)
    made, began = pairs_of(claim, seed), time.monotonic()
    refuses = claim.mechanism.refuses if isinstance(claim, LabelsClaim) else None
    with FrozenTarget(spec, claim.release, claim.gate.timeout, refuses=refuses) as target:
        judge = judge_of(target, claim, seed)
        found = search(target, shown(islice(made, pairs), pairs, "pairs"), judge)
    verdict, fault, pair = _verdict(found), found.fault, found.pair
    why = _why(found, verdict)
    return Replayed(
        verdict=verdict,
        fault=None if fault is None else fault.what,
        code=None if why is None else why.code,
        fields={} if why is None else why.fields,
        message=_message(found, verdict, "label" if claim.kind.name == "labels" else "release"),
        lines=() if fault is None else tuple(fault.lines),
        moves=None if fault is None else fault.moves,
        allowed=None if fault is None else fault.allowed,
        pair=None if pair is None else (_plain(claim, pair.one), _plain(claim, pair.other)),
        compared=found.compared,
        skipped=found.skipped,
        draws=_frozen_draws(found),
        runs=target.runs,
        seconds=round(time.monotonic() - began, 3),
    )


def _verdict(found: Found) -> Verdict:
    if found.fault is not None:
        return Verdict.FAIL
    return Verdict.PASS if found.compared else Verdict.INCONCLUSIVE


_NOT_COMPARED = Note("no-pair-compared", "no pair could be compared")


def _why(found: Found, verdict: Verdict) -> Note | PairFault | None:
    """What has the code of the verdict; None of a pass."""
    if verdict is Verdict.PASS:
        return None
    return found.fault or found.unfrozen or _NOT_COMPARED


def _message(found: Found, verdict: Verdict, what: str) -> str:
    """The finding in a line; what: a label or a release."""
    if found.fault is not None and found.pair is not None:
        if found.fault.what == "noise":
            return f"the noise depends on the data: {found.fault.message}"
        if found.fault.what == "refusal":
            return found.fault.message
        return f"with {found.pair.words} the {what} {found.fault.message}"
    if verdict is Verdict.INCONCLUSIVE:
        return str(found.unfrozen or _NOT_COMPARED)
    why = "" if found.unfrozen is None else f" ({found.unfrozen})"
    skipped = f", {found.skipped} could not be compared{why}" if found.skipped else ""
    return f"no fault was seen in {found.compared} pairs of inputs with the same draws{skipped}"


def _frozen_draws(found: Found) -> tuple[FrozenDraw, ...]:
    """Where one run draws, what, and how many times."""
    draws = Counter(
        (draw.line, draw.function, draw.shape, _scale(draw.given.scale))
        for draw in found.draws
        if draw.function != SEED
    )
    return tuple(
        FrozenDraw(line=line, function=function, shape=shape, scale=scale, times=times)
        for (line, function, shape, scale), times in draws.items()
    )


def _plain(claim: Claim, values: Any) -> Any:
    """An input in its JSON form."""
    return claim.release.content(values)[claim.release.key]


def _shorten(plain: Any) -> str:
    text = str(plain)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... (--json prints all of it)"


def _scale(scale: Any) -> float | str | None:
    if scale is None:
        return None
    return float(scale) if np.ndim(scale) == 0 else f"an array of shape {np.shape(scale)}"
