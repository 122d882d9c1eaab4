"""`dpassay replay`: one pair of neighbours with the noise of a Python target frozen."""

import time
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ...reference.parallel.progress import shown
from ..claims.claim import Claim
from ..findings.verdict import Verdict
from ..replay.frozen import FrozenTarget
from ..replay.pairs import made_pairs
from ..replay.search import Found, search
from ..replay.sources import SEED
from ..targets.spec import split_spec

_SHOWN = 400  # characters of an input


@dataclass(frozen=True)
class Replayed:
    """What was found of a target; claim: in words; runs, seconds: of all."""

    found: Found
    claim: Claim
    runs: int
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """Fail where a pair shows a fault, inconclusive where no noise could be frozen."""
        if self.found.fault is not None:
            return Verdict.FAIL
        return Verdict.PASS if self.found.compared else Verdict.INCONCLUSIVE

    @property
    def _drawn(self) -> list[dict[str, Any]]:
        """Where one run draws, what, and how many times."""
        draws = Counter(
            (draw.line, draw.function, draw.shape, _scale(draw.given.scale))
            for draw in self.found.draws
            if draw.function != SEED
        )
        return [
            {"line": line, "function": function, "shape": list(shape), "scale": scale, "times": n}
            for (line, function, shape, scale), n in draws.items()
        ]

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        fault, pair = self.found.fault, self.found.pair
        return {
            "verdict": self.verdict.value,
            "fault": None if fault is None else fault.what,
            "message": self._message,
            "lines": [] if fault is None else list(fault.lines),
            "moves": None if fault is None else fault.moves,
            "allowed": None if fault is None else fault.allowed,
            "pair": None if pair is None else [self._plain(pair.one), self._plain(pair.other)],
            "compared": self.found.compared,
            "skipped": self.found.skipped,
            "draws": self._drawn,
            "runs": self.runs,
            "seconds": round(self.seconds, 3),
        }

    def _plain(self, values: Any) -> Any:
        """An input in its JSON form."""
        content = self.claim.release.content(values)
        return content.get("values", content.get("rows", content.get("histogram")))

    def _short(self, values: Any) -> str:
        text = str(self._plain(values))
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... (--json prints all of it)"

    @property
    def _message(self) -> str:
        found, what = self.found, "label" if self.claim.kind.name == "labels" else "release"
        if found.fault is not None and found.pair is not None:
            if found.fault.what == "noise":
                return f"the noise depends on the data: {found.fault.message}"
            return f"with {found.pair.words} the {what} {found.fault.message}"
        if self.verdict is Verdict.INCONCLUSIVE:
            return str(found.unfrozen or "no pair could be compared")
        why = "" if found.unfrozen is None else f" ({found.unfrozen})"
        skipped = f", {found.skipped} could not be compared{why}" if found.skipped else ""
        return f"no fault in {found.compared} pairs of inputs with the same draws{skipped}"

    def as_text(self) -> str:
        """What was found, as text for the terminal."""
        lines = [f"{self.verdict.value.upper()}: {self._message}"]
        if self.found.fault is not None and self.found.pair is not None:
            lines += [f"  {line}" for line in self.found.fault.lines]
            lines += [f"  first input:  {self._short(self.found.pair.one)}"]
            lines += [f"  second input: {self._short(self.found.pair.other)}"]
        if self.verdict is not Verdict.INCONCLUSIVE:
            lines += [_frozen(draw) for draw in self._drawn]
        lines.append(f"{self.runs} runs, {self.seconds:.1f} s")
        return "\n".join(lines)


def replay(spec: str, claim: Claim, seed: int, pairs: int) -> Replayed:
    """Looks at so many pairs of a Python target with the same draws.

    Raises ValueError and TargetError of one line.
    """
    if spec.startswith(("exec:", "http:", "https:")):
        raise ValueError(f"{spec}: noise is frozen in Python targets alone, file.py:attr")
    split_spec(spec)
    made, began = made_pairs(claim, seed), time.monotonic()
    with FrozenTarget(spec, claim.release, claim.gate.timeout) as target:
        found = search(target, shown(islice(made, pairs), pairs, "pairs"))
    return Replayed(found, claim, target.runs, time.monotonic() - began)


def _scale(scale: Any) -> float | str | None:
    if scale is None:
        return None
    return float(scale) if np.ndim(scale) == 0 else f"an array of shape {np.shape(scale)}"


def _frozen(draw: dict[str, Any]) -> str:
    scale = "" if draw["scale"] is None else f", scale {draw['scale']}"
    shape = f", shape {tuple(draw['shape'])}" if draw["shape"] else ""
    times = f", {draw['times']} times" if draw["times"] > 1 else ""
    return f"frozen: {draw['line']}: {draw['function']}{scale}{shape}{times}"
