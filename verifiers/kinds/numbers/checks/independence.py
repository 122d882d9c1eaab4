"""`independence`: the noise of coordinates, releases and calls is independent."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from .....reference.arrays import Matrix, Vector
from ....evidence.mixture import log_mixture_of
from ....findings.excluded import Excluded, would_show
from ....findings.finding import Finding
from ....findings.note import Fields, Note
from ..evidence.carried import Carried
from ..evidence.copula import (
    COMMON_WAGERS,
    CORRELATIONS,
    PAIR_WAGERS,
    WAYS,
    CopulaEvidence,
    LaggedPairs,
    common_gains,
    common_shares,
    folded,
    halves,
    pair_gains,
    scores,
    seen_correlation,
    summed_gains,
)
from ..evidence.faults import of_scale
from ..evidence.learned_sums import LearnedSums, factor_of
from ..evidence.shared_columns import SharedColumns, cells_of
from ..planning.asked import Draws
from .base import NumberCheck

_PAIRED = 10  # coordinates of which every pair is a wager of its own
_WANTED, _FEWEST = 2_000, 200
_BY_NORMAL = (
    "mean and variance of the evidence, taken to be normal, of the normal scores of the noise over "
    "all these inputs together"
)

_STRIDES = (2, 3, 5)  # between coordinates, and half of their number
_LAGS = ("one", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_SHARED = Note(
    "noise-shared-within-release",
    "numbers of a release share noise: one draw, or one key of a generator, serves several",
)
_CANCELS = Note(
    "noise-cancels", "noise is taken from some numbers of a release as it is given to others"
)
_LATER = Note("noise-made-of-earlier", "the noise of a release is made of that of earlier ones")

_OTHERWISE = (
    "by the claimed law the noise looks dependent ({}), as noise of another scale, shape or centre "
    "does"
)

_OF_COLUMNS = 0.25
"""Weight of the wager that two numbers of a release have equal, or opposite, noise."""

_OF_SUMS = 0.1
"""Weight of the wager on a sum of a release's numbers, which earlier releases tell."""

_NAMED = 8  # numbers of a sum


@dataclass(frozen=True)
class _Kind:
    """Draws that are compared with each other, in words.

    later: whether they are of a release and an earlier one; stride: how far the numbers of a
    release lie apart that are compared, 0 for others; together: whether all of them are compared at
    once, and not pairs; sizes: whether by their sizes alone; ways: of pairing them.
    """

    words: str
    later: bool = False
    stride: int = 0
    together: bool = False
    sizes: bool = False
    ways: int = WAYS

    @cached_property
    def evidence(self) -> CopulaEvidence:
        """The evidence that these draws depend on each other."""
        return CopulaEvidence(COMMON_WAGERS if self.together else PAIR_WAGERS, self.ways)

    @property
    def gain(self) -> float:
        """The evidence of the best wager, less what it pays for being one of several."""
        gains = self.evidence.gains
        return float(gains.max()) - math.log(gains.size)


class Independence(NumberCheck):
    """Gaussian copulas of neighbours, of single pairs and of all numbers of a release.

    Each is asked of the noise with its sign, and of its size alone. A number, and a sum of some,
    are learned from releases, and asked of later ones.
    """

    id = "independence"

    def begin(self) -> None:
        self._wanted = max(_FEWEST, math.ceil(self.plan.share * _WANTED))
        width = self.plan.coordinates.size
        self._places = np.unique(np.linspace(0, width - 1, min(width, _PAIRED)).astype(int))
        self._pairs = list(combinations(self._places.tolist(), 2))
        strides = sorted({*_STRIDES, width // 2} if width > _PAIRED else ())
        self._before = [_Kind(f"a release and the {lag} before", later=True) for lag in _LAGS]
        self._halves = _Kind("a release and the one half its call before", later=True, ways=1)
        within = [_Kind(f"coordinates {n} apart", stride=n) for n in strides]
        if width > 1:
            within += [
                _Kind("neighbouring coordinates", stride=1),
                _Kind("the sizes of neighbouring coordinates", stride=1, sizes=True),
                _Kind("a part that all numbers of a release share", together=True, ways=1),
                _Kind("sizes that they share", together=True, sizes=True, ways=1),
            ]
        self._within = within
        self.kinds = [*self._before, self._halves, *within]
        self.pairs = CopulaEvidence(PAIR_WAGERS, len(self._pairs))
        self._lagged = LaggedPairs(len(_LAGS))
        self._carried = Carried(self.noise, self.plan.coordinates)
        evidence = [kind.evidence for kind in self.kinds]
        shares = [np.full(e.gains.size, 1.0 / (len(evidence) * e.gains.size)) for e in evidence]
        if self._pairs:
            shares.append(np.full(self.pairs.gains.size, 1.0 / self.pairs.gains.size))
            shares = [0.5 * share for share in (np.concatenate(shares[:-1]), shares[-1])]
        self._value: float | None = None  # of the evidence as it stands: each look asks thrice
        self._log_shares = np.log(np.concatenate(shares))
        wide = self.law.dimensions
        self._columns = [
            SharedColumns(self.noise, wide, folded=folded) for folded in (False, True) if wide > 1
        ]
        self._sums = LearnedSums(width) if width > 1 else None
        self._log_rest = math.log1p(
            -(_OF_COLUMNS if self._columns else 0.0) - (_OF_SUMS if self._sums else 0.0)
        )

    def observe(self, draws: Draws) -> None:
        self._value = None
        u = draws.placed.uniform
        z = scores(u)
        for kind, gains in zip(self._before, summed_gains(*self._lagged.of(z)), strict=True):
            kind.evidence.gains += gains
        sizes = np.concatenate([batch.calls for batch in draws.batches])
        self._halves.evidence.observe(summed_gains(*halves(z, sizes)))
        if u.shape[1] > 1:
            self._look_beside(z, folded(u))
        if self._sums is not None:
            self._sums.observe(z)
        if self._columns:
            cells = cells_of(self.noise, *draws.whole, draws.digits)
            for columns in self._columns:
                columns.observe(*cells)
        for batch in draws.batches:
            self._carried.observe(batch, draws.digits)
        self.draws += u.size

    def _look_beside(self, z: Matrix, size: Matrix) -> None:
        """Compares coordinates by scores (n, k), and by the scores (n, k) of sizes alone."""
        for kind in self._within:
            found = size if kind.sizes else z
            if kind.together:
                kind.evidence.observe(common_gains(found))
                continue
            for way in range(WAYS):
                kind.evidence.observe(_beside(found, kind.stride, way), way)
        some = z[:, self._places]
        # in one thread: those of a matrix product wait for each other longer than this takes
        products = np.einsum("ij,ik->jk", some, some)
        one, other = np.triu_indices(len(self._places), 1)
        squares = np.diag(products)
        gains = summed_gains(squares[one] + squares[other], products[one, other], len(z))
        self.pairs.gains += gains

    @property
    def _evidence(self) -> list[CopulaEvidence]:
        return [*(kind.evidence for kind in self.kinds), self.pairs]

    @property
    def log_e_value(self) -> float:
        """A quarter on columns, a tenth on sums, half of the rest on single pairs."""
        if self._value is None:
            gains = [evidence.gains.ravel() for evidence in self._evidence]
            logs = [log_mixture_of(np.concatenate(gains), self._log_shares) + self._log_rest]
            each = math.log(_OF_COLUMNS / max(1, len(self._columns)))
            logs += [each + columns.log_e_value for columns in self._columns]
            if self._sums is not None:
                logs.append(math.log(_OF_SUMS) + self._sums.log_e_value)
            self._value = float(np.logaddexp.reduce(logs))
        return self._value

    def samples_needed(self) -> int:
        return max(0, self._wanted * min(self.plan.coordinates.size, _PAIRED) - self.draws)

    def fail_finding(self) -> Finding:
        alike = max(self._columns, key=lambda columns: columns.log_e_value, default=None)
        others = [found.gains.max() for found in self._evidence if found.gains.size]
        of_sums = -math.inf if self._sums is None else float(self._sums.gains.max())
        if alike is not None and alike.log_e_value >= max(*others, of_sums):
            return _of_two(alike)
        if self._sums is not None and of_sums > max(others):
            return self._of_sum(self._sums)
        kind = max(self.kinds, key=lambda kind: kind.gain)
        found, where, later, together = kind.evidence, kind.words, kind.later, kind.together
        if self._pairs and self.pairs.gains.max() > found.gains.max():
            found, later, together = self.pairs, False, False
            one, other = self._pairs[int(np.argmax(found.gains.max(1)))]
            where = f"coordinates {self.plan.coordinates[one]} and {self.plan.coordinates[other]}"
        correlation: float | None = float(CORRELATIONS[found.best])
        text, cause = f", a correlation of about {correlation:g}", _SHARED
        if later:
            cause = _LATER
        elif together:
            text, correlation = "", None
            if common_shares(self.plan.coordinates.size)[found.best] < 0:
                text, cause = ", with opposite signs: they cancel in their sum", _CANCELS
        odds = float(found.gains.max())
        carried = self._carried.found
        if carried is not None and carried[1] > odds:
            cause, odds = carried
        message = f"noise is not independent: {where}{text}"
        told = Finding.caused(message, cause, odds, compared=where, correlation=correlation)
        # scores are of the claimed law: of another one they lean alike
        return replace(told, otherwise=_OTHERWISE.format(f"{where}{text}"))

    def _of_sum(self, sums: LearnedSums) -> Finding:
        """The finding that a number, or a sum of some, of a release varies too little or much."""
        numbers = self.plan.coordinates[sums.of].tolist()
        how, cause = ("less", _CANCELS) if sums.cancels else ("more", _SHARED)
        odds = float(sums.gains.max()) - sums.handicap
        if sums.single:
            where = f"coordinate {numbers[0]}"
            far = "less far" if sums.cancels else "farther"
            message = f"{where} lies {far} from the exact value than the claim says"
            return Finding.caused(message, self._of_number(sums, where), odds)
        named = ", ".join(str(number) for number in numbers[:_NAMED])
        more = f" and {len(numbers) - _NAMED:,} more" if len(numbers) > _NAMED else ""
        where = f"a sum, or difference, of coordinates {named}{more}"
        text = f"{where} varies {how} than theirs would"
        message = f"noise is not independent: {text}"
        told = Finding.caused(message, cause, odds, compared=where, correlation=None)
        return replace(told, otherwise=_OTHERWISE.format(text))

    def _of_number(self, sums: LearnedSums, where: str) -> Note:
        """Why one number of a release varies too little or much: its centre, or its scale."""
        mean, square = sums.moments(int(sums.of[0]))
        if mean * mean > 0.5 * (square - 1.0) > 0.0:  # the centre does more than the scale
            by = float(f"{mean * self.noise.family.standard_deviation:.1g}")
            way = "above" if by > 0 else "below"
            words = f"releases lie about {abs(by):g} {way} the exact value for {where}"
            return Note("releases-off-centre", words, {"offset": by, "where": where})
        factor = float(f"{factor_of(self.noise, square):.2g}")
        cause = of_scale(factor, f"about {factor:g} times")
        return replace(
            cause, message=f"{cause} for {where}", fields={**cause.fields, "where": where}
        )

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """A correlation with the release before, and of neighbours.

        Over as many releases as a pass needs, in one way of pairing them.
        """
        width = self.plan.coordinates.size
        releases = math.ceil(self._wanted * min(width, _PAIRED) / width)
        nats = self.log_threshold - float(self._log_shares[0])  # all kinds of pairs pay the same
        nats -= self._log_rest
        found = []
        for code, pairs in (
            (_LATER.code, (releases - 1) // 2 * width),
            (_SHARED.code, releases * (width // 2)),
        ):
            seen = seen_correlation(pairs, nats) if pairs else None
            if seen is not None:
                size: Fields = {"correlation": seen}
                draws = releases * width
                found.append(self.entry(code, size, self.roles, draws, method=_BY_NORMAL))
        return tuple(found)

    @property
    def _of_sums(self) -> str:
        """What a pass says of single numbers and sums of several."""
        if self._sums is None:
            return ""
        if not self._sums.asked:
            return (
                "; the spread of single numbers, and of sums of several, was not looked at, as "
                "releases are too few"
            )
        return (
            "; the spread of single numbers, and of sums of several, was looked at in "
            f"{self._sums.asked:,} releases, of what those before them suggest, in the first "
            f"{self._sums.numbers:,} numbers, for no stated size"
        )

    def pass_finding(self) -> Finding:
        excludes = self.excluded
        return Finding(
            f"no dependence of {self.draws:,} draws on their neighbours, or on releases before, "
            f"was seen{would_show(excludes)}{self._of_sums}",
            excludes=excludes,
        )


def _of_two(columns: SharedColumns) -> Finding:
    """The finding that two numbers of a release have the same noise."""
    (one, other), times = columns.found.most_common(1)[0]
    message = (
        f"noise is not independent: numbers {one} and {other} of a release share it in {times:,} "
        f"of {columns.blocks:,} blocks of {columns.block} releases"
    )
    seen = {"number": one, "other": other, "times": times, "blocks": columns.blocks}
    return Finding.caused(message, _SHARED, float(columns.gains.max()), **seen)


def _beside(found: Matrix, stride: int, way: int) -> Vector:
    """Log-ratios of columns (n, k) that lie `stride` apart, in one way of pairing them."""
    first = np.arange(found.shape[1] - stride)
    first = first[(first // stride) % WAYS == way]
    if stride == 1:
        even = 2 * first.size
        found = found[:, way : way + even]
        return pair_gains(found[:, ::2].ravel(), found[:, 1::2].ravel())
    return pair_gains(found[:, first].ravel(), found[:, first + stride].ravel())
