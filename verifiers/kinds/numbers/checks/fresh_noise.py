"""`fresh-noise`: no noise is a copy of earlier noise, or its negative."""

import math
from enum import StrEnum, unique
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from ....evidence.crossed import CrossedReleases
from ....evidence.mixture import log_mixture_of
from ....findings.excluded import Excluded, would_show
from ....findings.finding import Finding
from ....findings.note import Note
from ..evidence.continued import ContinuedNoise, NoiseSteps, RepeatedReleases
from ..evidence.copies import (
    STARTS,
    AbreastCopies,
    CopyEvidence,
    LearnedCopies,
    matches,
    share_seen,
)
from ..evidence.remembered import RememberedNoise
from ..opening import NumbersOpening
from ..planning.asked import Batch, Draws, digits_of
from .base import NumberCheck

_AGAIN = Note(
    "noise-reused",
    "noise comes again: a small pool of seeds, one seed for several workers or inputs, a table",
)
_AT_THE_START = Note(
    "seed-fixed", "a seed fixed at the start of the target: every start repeats the noise"
)
_SIZES_ALONE = Note(
    "noise-shared-within-release",
    "numbers of a release share the size of their noise, and not the sign",
)


@unique
class CopyOf(StrEnum):
    """What noise may be a copy of; the value is how messages call it, with the likely cause."""

    def __new__(cls, message: str, cause: Note) -> Self:
        """A member of a text and a cause."""
        member = str.__new__(cls, message)
        member._value_, member.cause = message, cause
        return member

    cause: Note

    CROSSED = (
        "the other input that was in flight",
        Note(
            "release-of-another-call",
            "a call is given the release of another one: a request is kept where the next one "
            "overwrites it",
        ),
    )
    EARLIER_RUN = "the same calls of an earlier run", _AT_THE_START
    AFTER_RESTART = "the same calls before a restart", _AT_THE_START
    LAST = (
        "the release before",
        Note("noise-shared-across-releases", "noise is drawn once and used for several releases"),
    )
    LAST_CALL = (
        "the first release of the call before",
        Note("seed-set-each-call", "every call begins with the same noise"),
    )
    LAST_NEGATED = (
        "the release before, with the other sign",
        Note("noise-in-opposite-pairs", "releases come in pairs of opposite noise"),
    )
    IN_TURN = (
        "the release before, of an input that differs in one number",
        Note(
            "noise-kept-for-unchanged",
            "noise is drawn anew for numbers that have changed, and kept for the others",
        ),
    )
    BESIDE = (
        "the coordinate before",
        Note("noise-shared-within-release", "one draw serves several numbers of a release"),
    )
    BESIDE_NEGATED = (
        "the coordinate before, with the other sign",
        Note("noise-shared-within-release", "numbers of a release have opposite noise"),
    )
    ANY_CALL = (
        "the first release of some earlier call",
        Note(
            "seeds-come-again",
            "calls take their seed from a small pool, seeds come again, or noise is cut off",
        ),
    )
    LONG_AGO = (
        "some earlier draw, in the first numbers of releases",
        Note(
            "noise-reused",
            "noise comes again: a table, a short period, or noise cut off at its ends",
        ),
    )
    ABREAST = (
        "a call in flight beside it",
        Note(
            "noise-shared-by-workers",
            "calls in flight together get the same noise: workers of one seed, or of the clock's",
        ),
    )
    WHOLE = "some earlier release", _AGAIN
    TURNED = (
        "some earlier release, turned",
        Note("noise-reused", "noise is used again, negated, reversed or rolled"),
    )
    RUN = "a run of noise before", _AGAIN
    NEARBY = (
        "a run of noise in the eight releases before",
        Note(
            "noise-reused", "noise of a release is used again, moved or negated, in one soon after"
        ),
    )


_TRIED = 256  # copies of noise by which it is told what a copy shows
_BY_NORMAL = (
    "mean and variance of the evidence of draws, taken to be normal, of all these inputs together; "
    "of floats of 24 digits, which show least"
)
_OF_STARTS = {
    CopyOf.EARLIER_RUN: "; the first calls were not seen to repeat the noise of the earlier run, "
    "which shows a fixed seed only if the target was restarted in between",
    CopyOf.AFTER_RESTART: "; noise after a restart was not seen to repeat that before "
    "(a few starts are compared: a seed of few bits, drawn at each of them, would not have shown)",
}
"""What a pass says of starts that were compared."""

_ANYWHERE = (CopyOf.LONG_AGO, CopyOf.WHOLE, CopyOf.TURNED, CopyOf.RUN, CopyOf.NEARBY)
"""What noise is also a copy of that begins anew at a restart."""

_LATE = (CopyOf.LONG_AGO, CopyOf.ANY_CALL)  # of which copies may begin late

_COMPARED = 16  # first numbers of a release that are compared with all that is remembered
_SOON = 8  # releases
_FEWEST_NEARBY = 4  # numbers of a release: of fewer, `independence` sees what comes so soon
_SCALES = (1.0, 0.5, 2.0, 4.0, 10.0)  # factors of the scale that are not taken for crossed calls
_LEAST = -1e9  # in place of a log-chance of none
_AT_A_LOOK = 1 << 16  # releases of a look that are, at most: of 10^7, all would take 4 seconds


class FreshNoise(NumberCheck):
    """Wagers on each way in which noise may be a copy; see `Way`.

    Copies of noise that came long before are looked for in the first numbers of releases.
    """

    id = "fresh-noise"
    wanted_draws = 2_000

    def begin(self) -> None:
        self.ways: dict[CopyOf, Any] = {
            way: CopyEvidence(starts=STARTS if way in _LATE else (0,))
            for way in CopyOf
            if way not in (CopyOf.ABREAST, CopyOf.CROSSED)
        }
        self._abreast, self._crossed = AbreastCopies(self.noise), CrossedReleases()
        if self.gate.concurrency > 1:
            self.ways |= {CopyOf.ABREAST: self._abreast, CopyOf.CROSSED: self._crossed}
        self._last: Matrix | None = None
        self._first: Matrix | None = None
        self._remembered, self._begun = RememberedNoise(self.noise), RememberedNoise(self.noise)
        width = min(self.plan.coordinates.size, _COMPARED)
        runs = ContinuedNoise(self.noise, width), ContinuedNoise(self.noise, width, _SOON)
        self._runs = {CopyOf.RUN: runs[0]}
        if width >= _FEWEST_NEARBY and runs[1].context < runs[0].context:
            self._runs[CopyOf.NEARBY] = runs[1]
        self._learned = {way: LearnedCopies(found.honest) for way, found in self._runs.items()}
        widest = self.plan.coordinates.size
        self._whole = {
            CopyOf.WHOLE: RepeatedReleases(self.noise, widest),
            CopyOf.TURNED: RepeatedReleases(self.noise, widest, forms=True),
            CopyOf.ANY_CALL: RepeatedReleases(self.noise, widest),
        }
        self._whole = {way: found for way, found in self._whole.items() if found.applies}
        self._learned |= {way: LearnedCopies() for way in self._whole}
        self.ways |= self._learned
        weights = np.concatenate([evidence.log_weights for evidence in self.ways.values()])
        self._log_weights = weights - math.log(len(self.ways))
        self._fresh_until_restarts = False
        self._value: float | None = None  # of the evidence as it stands: each look asks thrice

    def observe(self, draws: Draws) -> None:
        self._value = None
        y, x = draws.released, draws.exact
        digits = draws.digits
        noise = y - x
        before = noise[:-1] if self._last is None else np.vstack([self._last, noise[:-1]])
        own = slice(1, None) if self._last is None else slice(0, None)
        self._compare(CopyOf.LAST, y[own], x[own], before, digits)
        self._compare(CopyOf.LAST_NEGATED, y[own], x[own], -before, digits)
        if y.shape[1] > 1:
            self._compare(CopyOf.BESIDE, y[:, 1:], x[:, 1:], noise[:, :-1], digits)
            self._compare(CopyOf.BESIDE_NEGATED, y[:, 1:], x[:, 1:], -noise[:, :-1], digits)
        begins = np.flatnonzero(np.concatenate([_begins(b.calls) for b in draws.batches]))
        firsts = noise[begins] if self._first is None else np.vstack([self._first, noise[begins]])
        later = begins if self._first is not None else begins[1:]
        self._compare(CopyOf.LAST_CALL, y[later], x[later], firsts[:-1], digits)
        if self._remembered.applies:
            some = slice(_AT_A_LOOK), slice(_COMPARED)
            repeats = self._remembered.repeats(y[some], x[some], digits)
            self.ways[CopyOf.LONG_AGO].observe(*repeats)
            started = begins[:_AT_A_LOOK], slice(1)
            self.ways[CopyOf.ANY_CALL].observe(*self._begun.repeats(y[started], x[started], digits))
        self._take_abreast(draws)
        for batch in draws.batches:
            if batch.beside is not None:
                self._take_crossed(batch, batch.beside, draws)
        self._remember(y, x, begins, digits)
        self._last, self._first = noise[-1:], noise[begins[-1:]]
        self.draws += y.size

    def observe_in_turn(self, draws: Draws) -> None:
        """Takes releases of two inputs by turns, each of which is compared with the one before."""
        self._value = None
        y, x = draws.released, draws.exact
        self._compare(CopyOf.IN_TURN, y[1:], x[1:], (y - x)[:-1], draws.digits)

    def _take_abreast(self, draws: Draws) -> None:
        """Compares calls that were in flight together with each other."""
        ends = np.cumsum([len(batch.releases) for batch in draws.batches])
        for batch, end in zip(draws.batches, ends, strict=True):
            if batch.abreast:
                cuts = end - len(batch.releases) + np.cumsum(batch.calls)
                rows = [slice(cut - size, cut) for cut, size in zip(cuts, batch.calls, strict=True)]
                calls = [(draws.released[row].ravel(), draws.exact[row].ravel()) for row in rows]
                self._abreast.take(calls, draws.digits)

    def _take_crossed(self, batch: Batch, beside: Vector, draws: Draws) -> None:
        """Compares releases with the other input that was in flight with theirs."""
        places = draws.coordinates
        exact = batch.asked.exact
        places = places[np.isfinite(exact[places]) & np.isfinite(beside[places])]
        y = batch.releases[:, places]
        half = self.noise.half_width(y, draws.digits)
        own = [
            self.noise.times(factor).log_mass(y, exact[places], half).sum(1) for factor in _SCALES
        ]
        other = self.noise.log_mass(y, beside[places], half).sum(1)
        self._crossed.observe(np.maximum(np.stack(own, 1), _LEAST), np.maximum(other, _LEAST))

    def _remember(self, y: Matrix, x: Matrix, begins: NDArray[np.int64], digits: int) -> None:
        """Compares runs of numbers, and whole releases, with those remembered."""
        y, x = y[:_AT_A_LOOK], x[:_AT_A_LOOK]
        for way, runs in self._runs.items():
            runs.observe(self._learned[way], y[:, :_COMPARED], x[:, :_COMPARED], digits)
        if self._whole:
            begins = begins[begins < _AT_A_LOOK]
            steps = NoiseSteps.of(self.noise, y, x, digits)
            started = NoiseSteps.of(self.noise, y[begins], x[begins], digits)
            for way, whole in self._whole.items():
                whole.observe(self._learned[way], started if way is CopyOf.ANY_CALL else steps)

    def before_restarts(self) -> None:
        """Notes whether noise has come again already, without any restart."""
        known = (self.ways[way].log_e_value for way in _ANYWHERE if way in self.ways)
        self._fresh_until_restarts = max(known) < self.log_threshold

    def compare(self, earlier: NumbersOpening, now: NumbersOpening, way: CopyOf) -> None:
        """Compares the first releases of two starts of the target, to the same calls."""
        self._value = None
        before, after = earlier.as_releases, now.as_releases
        rows = min(len(before), len(after))
        exact = np.broadcast_to(np.array(now.exact), after[:rows].shape)
        digits = digits_of(np.concatenate([before, after]))
        self._compare(way, after[:rows], exact, before[:rows] - exact, digits)

    def _compare(self, way: CopyOf, y: Matrix, x: Matrix, copied: Matrix, digits: int) -> None:
        if y.size:
            found, chance = matches(self.noise, y, x, copied, digits)
            self.ways[way].observe(found, chance)

    @property
    def log_e_value(self) -> float:
        if self._value is None:
            ratios = np.concatenate([evidence.log_ratios for evidence in self.ways.values()])
            self._value = log_mixture_of(ratios, self._log_weights)
        return self._value

    def fail_finding(self) -> Finding:
        """See `NumberCheck.fail_finding`.

        Calls in flight that begin alike are told as that, and so are starts, unless noise came
        again before: runs of noise that come again follow from either.
        """
        way = max(self.ways, key=lambda name: self.ways[name].log_e_value)
        if CopyOf.ABREAST in self.ways and self._abreast.log_e_value >= self.log_threshold:
            way = CopyOf.ABREAST
        begun = max(_OF_STARTS, key=lambda name: self.ways[name].log_e_value)
        if CopyOf.CROSSED in self.ways and self._crossed.log_e_value >= self.log_threshold:
            way = CopyOf.CROSSED
        follows = self._fresh_until_restarts and way in _ANYWHERE
        if follows and self.ways[begun].log_e_value >= self.log_threshold:
            way = begun
        found = self.ways[way]
        does = "releases fit" if way is CopyOf.CROSSED else "draws repeat the noise of"
        message = f"{found.matches:,} of {found.draws:,} {does} {way}"
        odds, cause = float(found.log_ratios.max()), way.cause
        beside = CopyOf.BESIDE, CopyOf.BESIDE_NEGATED
        if all(self.ways[name].log_e_value >= self.log_threshold for name in beside):
            cause = _SIZES_ALONE
        counts = {"matches": found.matches, "draws": found.draws}
        return Finding.caused(message, cause, odds, repeated=str(way), **counts)

    def pass_finding(self) -> Finding:
        starts = "".join(said for way, said in _OF_STARTS.items() if self.ways[way].draws)
        flight = ""
        if self._crossed.draws:
            flight = (
                f"; of {self._crossed.draws:,} calls on two inputs, {self.gate.concurrency} in "
                "flight, no more fit the other input better than the claim gives"
            )
        long_ago = ", nor, in its first numbers, of any draw remembered"
        excludes = self.excluded
        return Finding(
            f"no more of {self.draws:,} draws than the claim gives were seen to repeat the noise "
            "of the release before, of the call before or of the number beside"
            f"{long_ago if self._remembered.applies else ''}{starts}{flight}{would_show(excludes)}",
            excludes=excludes,
        )

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """Noise of the release before, by the draws that a pass needs."""
        places, rng = self.plan.coordinates, np.random.default_rng(0)
        inputs = [asked.exact[places] for asked in self.plan.inputs if asked.role in self.roles]
        draws = self.wanted_draws - places.size
        if not inputs or draws < 1:
            return ()
        exact = rng.choice(np.concatenate(inputs), _TRIED)
        released = self.noise.sample(exact, 1, rng)[0]
        copied = released - exact
        found, chances = matches(self.noise, self.noise.rounded(released), exact, copied, 24)
        known = np.zeros(_TRIED)  # a copy that is told by nothing
        known[found] = chances
        numbers = self.ways[CopyOf.LAST].log_ratios.size
        nats = self.log_threshold + math.log(len(self.ways) * numbers)
        share = share_seen(known, draws, nats)
        if share is None:
            return ()
        code, size = CopyOf.LAST.cause.code, {"share": share}
        return (self.entry(code, size, self.roles, self.wanted_draws, method=_BY_NORMAL),)


def _begins(calls: tuple[int, ...]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which releases of a batch are the first of their call."""
    found = np.zeros(sum(calls), dtype=bool)
    found[np.cumsum([0, *calls[:-1]])] = True
    return found
