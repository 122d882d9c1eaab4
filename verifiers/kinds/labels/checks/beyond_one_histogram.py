"""Evidence of `fresh-noise` beyond the labels of one histogram: restarts, places, kept teachers."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from .....reference import NoisyArgmax, SampledArgmax
from .....reference.arrays import Matrix, Vector
from .....reference.mechanisms import Labels
from ....evidence.kept_noise import Places, SharedNoise
from ....evidence.outcomes import Outcomes, as_outcomes
from ....evidence.power import longest_round, seeds_drawn
from ....evidence.repetition import Recurrence, Replay
from ..planning.plan import Plan, common_noise
from ..planning.streams import FRESH_CALL, Role

_KINDS = ("restarted", "replayed", "begun", "contained", "compared", "recurring")
"""Ways in which starts may give the same labels, keys of `reuse.WORDS`, in order of preference.

Narrower causes come later: state that is restored makes contained starts alike too.
"""

_PLACES = 1 << 15  # labels of a histogram, or of a total, that are compared
_DRAWN = 256  # parts of the teachers that are tried for each histogram
_MOST = 50.0  # nats that a label may count against them

HistogramAsked = tuple[tuple[int, ...], int]
"""A histogram, and the places by which its classes were numbered on."""


class ComparedRestarts:
    """An e-process over comparisons of starts, by labels of one histogram.

    log_q: its claimed log-probabilities (o,); recurring: another e-process, on the first labels of
    each start against those of all earlier starts; owed: labels that comparing starts still needs
    for a verdict; why_few: why no more starts were compared.
    """

    def __init__(self, log_q: Vector) -> None:
        self.log_q = log_q
        self.log_e_value = 0.0
        self.recurring = Recurrence(log_q)
        self.owed = 0
        self.why_few: str | None = None
        self._begun = 0
        self._found: dict[str, float] = {}
        self._unseen: str | None = None

    def begin(self, first: Labels, *, new: bool) -> None:
        """Adds the first labels of a start; new: whether the run started it."""
        self.recurring.observe(as_outcomes(first, self.log_q.size))
        self._found["recurring"] = self.recurring.log_e_value
        self._begun += new

    def observe(self, earlier: Labels, again: Labels, kind: str, unseen: str | None) -> None:
        """Adds labels `again` of a new start, to compare with those of earlier starts.

        kind: how the starts differ, a key of `reuse.WORDS`; unseen: what this cannot show.
        """
        outcomes = self.log_q.size
        replay = Replay(as_outcomes(earlier, outcomes), as_outcomes(again, outcomes), self.log_q)
        # each is an e-value given all labels before, and stakes half of the wealth so far
        self.log_e_value += float(np.logaddexp(0.0, replay.log_e_value) - np.log(2.0))
        if kind == "restarted" and replay.window >= FRESH_CALL:  # beyond the opening call
            kind = "replayed"
        self._found[kind] = max(replay.log_e_value, self._found.get(kind, -np.inf))
        self._unseen = unseen
        if kind != "compared":
            self.owed = 0

    def likeliest(self, sure: float) -> str:
        """The kind of the most likely repetition; sure: log-odds from which the order decides."""
        enough = [kind for kind in _KINDS if self._found.get(kind, 0.0) > sure]
        return enough[0] if enough else max(self._found, key=lambda kind: self._found[kind])

    def shown(self, log_wanted: float) -> str:
        """What comparing starts has and has not shown, as the end of a sentence.

        log_wanted: evidence that `recurring` must give.
        """
        message = ""
        if "compared" in self._found:
            message += (
                "; the first labels did not repeat those that the earlier report opens with, which "
                "shows a fixed seed only if the target was restarted in between"
            )
        if self._found.keys() - {"compared", "recurring"}:
            message += "; the first labels after a restart did not repeat earlier ones"
            message += "" if self._unseen is None else f" ({self._unseen})"
            return message + self._excluded(log_wanted)
        return message or "; the target was not restarted, so a fixed seed would not show"

    def _excluded(self, log_wanted: float) -> str:
        """How many seeds in rotation would have shown, in words."""
        most = longest_round(self.log_q, self._begun, FRESH_CALL, log_wanted)
        message, starts = "; seeds in rotation would not have shown", self._begun + 1
        if most > 0:
            again = "every start" if most == 1 else f"up to {most} starts"
            message = f"; a seed that is used again after {again} would have shown"
        if self.why_few is not None:
            message = f"{message}, and no other, as {self.why_few}"
        values = seeds_drawn(starts, most)
        few = f"; {starts} starts were compared: a seed drawn at each of them from "
        if values < 2:
            return f"{message}{few}few values, as one of 16 bits, would not have shown"
        return f"{message}{few}{values} values would have shown, from many more it would not"


class SamePlaces:
    """Three e-processes: on pairs of histograms, on totals, and on inputs with one histogram.

    same: for each stream of the plan, the first stream of its input. The n-th label of an input is
    compared with the n-th of its partner, and that of another total with the n-th of the claimed
    total. parts: the e-processes by their names in `LabelsFreshNoise`.
    """

    def __init__(self, plan: Plan, same: list[int]) -> None:
        self.plan, self._same = plan, same
        joint = common_noise(plan)
        names = ("neighbours", "totals", "same votes")
        self.parts = {name: SharedNoise(plan.log_q, joint) for name in names}
        self._partners = _partners(plan, same)
        self._by_histogram, self._by_total = Places(_PLACES), Places(_PLACES)

    def observe(self, stream: int, outcomes: Outcomes, rotation: int) -> None:
        """Adds outcomes (n,) of a stream, asked under class numbers rotated by `rotation`."""
        total = sum(self.plan.streams[stream].histogram)
        claimed = self.plan.claim.mechanism.total
        followed = not rotation and stream < self.plan.deep
        places = self._by_total.add(total, stream if followed else -1, outcomes)
        if total != claimed and followed:
            known = self._by_total.at(claimed, places)
            self._wager("totals", stream, outcomes, known)
        same = self._same[stream]
        if not rotation and same in self._partners:
            places = self._by_histogram.add(same, same, outcomes)
            partner = self._partners[same]
            known = self._by_histogram.at(partner, places)
            second = self.plan.streams[same].second or self.plan.streams[partner].second
            self._wager("same votes" if second else "neighbours", same, outcomes, known)

    def pass_over(self, total: int, labels: int) -> None:
        """Counts labels of a total that were asked outside the plan, without a wager on them."""
        self._by_total.add(total, -1, np.zeros(labels, dtype=np.int64))

    def _wager(
        self, part: str, stream: int, outcomes: Outcomes, known: tuple[Outcomes, Outcomes]
    ) -> None:
        earlier, theirs = known
        ours = outcomes[: earlier.size]
        for other in np.unique(earlier[earlier >= 0]):
            at = earlier == other
            self.parts[part].observe(int(other), theirs[at], stream, ours[at])


def _partners(plan: Plan, same: list[int]) -> dict[int, int]:
    """The partner of each stream that is compared: neighbours, shifted twins, two anchors.

    Inputs with the same votes come first. same: for each stream, the first stream of its input.
    Each has one partner, since a label can be wagered on once.
    """
    pairs = [pair.streams for pair in plan.pairs]
    pairs.sort(key=lambda pair: not plan.streams[pair[1]].second)
    pairs.append((plan.first(Role.INFORMATIVE), plan.first(Role.NEAR_TIE)))
    if (shifted := plan.compared_streams.get("shift-invariance")) is not None:
        pairs.append((shifted.base, shifted.other))
    found: dict[int, int] = {}
    for pair in pairs:
        both = {same[i] for i in pair}
        if len(both) == 2 and not both & found.keys():
            one, other = both
            found |= {one: other, other: one}
    return found


class KeptTeachers:
    """An e-process on kept teachers: labels of each histogram have the law of one sample of it.

    The likelihoods of samples drawn beforehand are averaged for each histogram, and multiplied over
    histograms, whose teachers may differ. The null is the claimed law.
    """

    def __init__(self, plan: Plan) -> None:
        mechanism = plan.claim.mechanism.mechanism()
        self.drawn = mechanism if isinstance(mechanism, SampledArgmax) else None
        self._plan = plan
        self._ratios_of = cache(self._ratios)
        self._counts: dict[HistogramAsked, NDArray[np.int64]] = {}
        self._logs: dict[HistogramAsked, float] = {}

    def observe(self, stream: int, outcomes: NDArray[np.int64], rotation: int) -> None:
        """Adds labels (n,) of a stream, asked under class numbers rotated by `rotation`.

        A rotated histogram is another one, with other teachers kept; its labels are rotated back.
        """
        if self.drawn is None:
            return
        histogram = self._plan.streams[stream].histogram
        counts = np.bincount(outcomes, minlength=len(histogram))
        asked = histogram, rotation
        self._counts[asked] = self._counts.get(asked, 0) + counts
        each = self._ratios_of(stream, self.drawn) @ self._counts[asked]
        self._logs[asked] = float(np.logaddexp.reduce(each) - np.log(_DRAWN))

    @property
    def log_e_value(self) -> float:
        """Log of the e-process."""
        return sum(self._logs.values())

    @property
    def heaviest(self) -> int:
        """The first stream of the histogram with most evidence."""
        most, _ = max(self._logs, key=lambda asked: self._logs[asked])
        return next(i for i, s in enumerate(self._plan.streams) if s.histogram == most)

    def _ratios(self, stream: int, drawn: SampledArgmax) -> Matrix:
        """Log-ratios (samples, c) of sampled histograms against the claim."""
        votes = np.array(self._plan.streams[stream].histogram, dtype=np.int64)
        kept = drawn.sampling.sample(votes, _DRAWN, np.random.default_rng(votes))
        law = np.asarray(NoisyArgmax(drawn.noise).log_probabilities(kept.astype(np.float64)))
        return np.asarray(np.maximum(law - self._plan.log_q[stream], -_MOST))
