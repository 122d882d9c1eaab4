"""`same-law`: which of two replies is the target's is predicted from earlier ones."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....reference.arrays import Vector
from ...findings.excluded import Excluded
from ...findings.finding import Finding
from ...findings.note import Fields, Note
from ...run.checks import EvidenceCheck
from .claim import SameAsClaim
from .faults import Shown, shown_faults
from .planned import DIFFERS, excluded_by
from .statistics import Middles, earlier_calls
from .units import BothReplies, Units

_SURE = 5.0  # standard errors from which a difference is named
_LABELS = 20  # kinds of replies at most that are as labels


class SameLaw(EvidenceCheck):
    """Wagers that the target's reply can be told from the reference's.

    settled: whether faults in the reference's own replies were looked for, and any shown; shown:
    these; confirmed: whether the reference, put against itself, does not look as different;
    withheld: the first call that a side has withheld, in words, by the side.
    """

    id, unit = "same-law", "draws"
    adds_up = False  # the reference is put against itself before each failure

    def __init__(self, claim: SameAsClaim, asked: Sequence[Any], wanted: int) -> None:
        self.claim, self.asked, self.wanted = claim, asked, wanted
        self.calls = claim.mechanism.lives or 1
        self.units = Units(len(asked), self.calls)
        self.shown: list[Shown] = []
        self.settled = self.confirmed = False
        self.withheld: Mapping[str, str] = {}

    def observe(self, units: list[list[BothReplies]]) -> None:
        """Adds units."""
        self.units.observe(units)

    @property
    def queries(self) -> int:
        return len(self.units) * self.calls

    @property
    def left(self) -> int:
        """Units that are still to be asked for."""
        return max(0, self.wanted - len(self.units))

    @property
    def log_e_value(self) -> float:
        return self.units.evidence.log_e_value

    @property
    def tells_apart(self) -> bool:
        """Whether the evidence is as high as a failure takes."""
        return self.log_e_value >= self.log_threshold

    @property
    def refuted(self) -> bool:
        """As of any check, but that the reference must not look as different from itself."""
        return self.confirmed and super().refuted

    def samples_needed(self) -> int:
        return max(self.left * self.calls, 0 if self.settled else 1)

    def settle(self, rng: np.random.Generator) -> Note | None:
        """Puts faults into the reference's own replies; why there is no pass if none shows."""
        self.shown = shown_faults(self.units, self.log_threshold, rng)
        self.settled = any(one.units is not None for one in self.shown)
        if self.settled:
            return None
        faults = ", ".join(one.fault for one in self.shown)
        return Note(
            "no-fault-would-show",
            f"{len(self.units):,} {self._word} would not have shown any fault that was put into "
            f"the reference's own replies ({faults}): a pass would mean nothing",
            {"units": len(self.units)},
        )

    @property
    def _word(self) -> str:
        return "pairs of calls" if self.calls == 1 else f"lives of {self.calls} calls"

    def fail_finding(self) -> Finding:
        units, told = len(self.units), told_by(self.units)
        if "withheld" in told.fields:
            told = told._replace(words="; ".join((told.words, *self.withheld.values())))
        return Finding.caused(
            f"replies of the target can be told from the reference's, by {units:,} {self._word}",
            Note(DIFFERS, f"the target follows another law: {told.words}", told.fields),
            self.log_e_value,
            units=units,
        )

    def pass_finding(self) -> Finding:
        seen = [f"{one.fault} ({one.units:,})" for one in self.shown if one.units is not None]
        not_seen = [one.fault for one in self.shown if one.units is None]
        message = (
            f"{len(self.units):,} {self._word} do not tell the target's replies from the "
            f"reference's; put into the reference's own, so many would have shown: "
            f"{', '.join(seen)}"
        )
        message += f"; and not: {', '.join(not_seen)}" if not_seen else ""
        return Finding(message, excludes=self.excluded)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        return excluded_by(self.claim, self.asked, min(self.wanted, len(self.units)))


class ToldDifference(NamedTuple):
    """What differs most."""

    words: str
    fields: Fields


def told_by(units: Units) -> ToldDifference:
    """By the means of both sides: of whether there is an answer, of each number, of its spread."""
    assert units.features is not None
    middles = Middles.of(units.numbers, units.inputs, int(units.inputs.max()) + 1)
    apart = middles.apart(units.numbers, units.inputs)
    found: list[tuple[float, str, dict[str, Any]]] = []
    withheld = units.numbers[..., -1].mean((0, 2))
    words = f"it withholds {withheld[0]:.3g} of its answers, and the reference {withheld[1]:.3g}"
    found.append((_score(units.numbers[..., -1]), words, {"withheld": float(withheld[0])}))
    for place, path in enumerate(units.features.paths):
        name, column = _name(path), apart[..., place]
        offset = float(column[:, 0].mean() - column[:, 1].mean())
        said = f"`{name}` lies {offset:+.3g} spreads from the reference's"
        found.append((_score(column), said, {"number": name, "offset": offset}))
        spread = np.abs(column).mean((0, 2))
        factor = float(spread[0] / spread[1]) if spread[1] > 0 else 0.0
        said = f"`{name}` spreads {factor:.3g} times as far as the reference's"
        found.append((_score(np.abs(column)), said, {"number": name, "factor": factor}))
    found.append(_again(units))
    score, words, fields = max(found, key=lambda one: one[0])
    if score < _SURE:
        return ToldDifference(
            "in how often a reply comes, or in how numbers of a reply, or of several, go together",
            {},
        )
    return ToldDifference(words, fields)


def _again(units: Units) -> tuple[float, str, dict[str, Any]]:
    """How surely, and in what words, a reply equals the one before to its input more often.

    Rounded replies do so by themselves.
    """
    assert units.features is not None
    calls, both = units.inputs.shape[1], units.numbers.transpose(1, 0, 2, 3)
    flat, before = both.reshape(2, -1, both.shape[-1]), earlier_calls(units.inputs.ravel())[0]
    equal = (flat == flat[:, before]).all(-1) & (before >= 0) & (flat[..., -1] == 0.0)
    few = (
        max(len(np.unique(side, axis=0)) for side in flat) <= _LABELS
    )  # which come again by chance
    score = 0.0 if few else _score(equal.reshape(2, -1, calls).swapaxes(0, 1).astype(float))
    for place, path in enumerate(units.features.paths):
        ours, theirs = _step(flat[0, :, place]), _step(flat[1, :, place])
        if ours != theirs:
            who, other = ("target", "reference") if ours > theirs else ("reference", "target")
            step, finer = max(ours, theirs), min(ours, theirs)
            rest = f"to {finer:g}" if finer else "not"
            words = f"{_name(path)} of the {who} is rounded to {step:g}, and of the {other} {rest}"
            return score, words, {"number": _name(path), "step": ours, "step_of_reference": theirs}
    shares = equal.mean(-1)
    words = (
        f"in {shares[0]:.3g} of the calls the reply is the one before to the same input, and in "
        f"{shares[1]:.3g} of the reference's"
    )
    return score, words, {"again": float(shares[0])}


def _name(path: str) -> str:
    """A number of a reply as a user finds it there."""
    return path.split(" ", maxsplit=1)[0].lstrip(".") or "the reply"


def _step(values: Vector) -> float:
    """The largest power of ten, to a thousand, of which all are multiples; 0 where none is."""
    scaled = ((10.0**power, values / 10.0**power) for power in range(3, -7, -1))
    whole = (step for step, times in scaled if np.allclose(times, np.rint(times), 0.0, 1e-6))
    return next(whole, 0.0) if np.ptp(values) else 0.0


def _score(values: Any) -> float:
    """Standard errors between the sides' means of units (n, 2, calls)."""
    gaps = values[:, 0].mean(-1) - values[:, 1].mean(-1)
    spread = gaps.std() / max(1.0, len(gaps)) ** 0.5
    return float(abs(gaps.mean()) / spread) if spread > 0 else (np.inf if gaps.any() else 0.0)
