"""Wrong deployments of numbers: also of tallies and of an engine's counts, whose noise is alike."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dpassay.verifiers.findings.excluded import Excluded
from dpassay.verifiers.kinds.numbers.checks.support import Support
from dpassay.verifiers.kinds.numbers.planning.pairs import charged_pair

from .laws import Numbers, OtherLaw, Quantiles

Answer = Callable[[Any, int], Any]
Noise = Callable[[Any, tuple[int, int]], Numbers]
"""Draws noise for an input, of a shape."""


@dataclass(frozen=True)
class Releases:
    """What a deployment releases: exact numbers of an input, and the family of their noise."""

    exact: Callable[[Any], Numbers]
    family: Any

    def plus(self, noise: Noise) -> Answer:
        """The exact numbers with noise."""

        def answer(given: Any, size: int) -> Any:
            exact = self.exact(given)
            return exact + noise(given, (size, exact.size))

        return answer

    def fresh(self, rng: np.random.Generator) -> Noise:
        """The claimed noise."""
        quantiles = Quantiles(self.family)
        return lambda _, shape: quantiles(rng.random(shape))


def alike(one: Any, other: Any) -> bool:
    """Whether two inputs are one."""
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    return np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True)


def wrong(planned: Any, check: str, entry: Excluded, times: float, seed: int) -> Any:
    mechanism = planned.claim.mechanism
    releases = Releases(mechanism.aggregation.exact, mechanism.added.family)
    if check in ("clipping", "sensitivity"):
        return _moved(planned, releases, check, entry, times)
    if check == "accountant-soundness":
        return lambda rng: _Undercharging(planned.claim, releases, rng, shortened(entry, times))
    if check == "support":
        return _ranges(planned, releases, entry, times, seed)
    if entry.code in ("noise-depends-on-size", "noise-depends-on-order"):
        other = next(a.values for a in planned.plan.inputs if a.role == entry.where[1])
        return of_one_input(releases, entry, times, other)
    return of_noise(releases, entry, times)


def of_noise(releases: Releases, entry: Excluded, times: float) -> Any:
    """A deployment whose noise is wrong in all inputs alike; None where no fault is known."""
    made = _FAULTS.get(entry.code)
    if made is None:
        return None
    name, fault = made
    size = float(entry.size[name])
    if name == "reach":  # the larger fault reaches less far
        size /= times
    else:
        size = 1.0 + times * (size - 1.0) if name == "factor" else times * size
    if name == "total_variation":
        law = OtherLaw(releases.family, size, int(entry.size["cells"]))
        return lambda rng: releases.plus(lambda _, shape: law.sample(shape, rng))
    return lambda rng: releases.plus(fault(releases, size, rng))


def of_one_input(releases: Releases, entry: Excluded, times: float, other: Any) -> Any:
    """Noise of another law for one input alone."""
    size, cells = entry.size["total_variation"], entry.size["cells"]
    law = OtherLaw(releases.family, times * float(size), int(cells))

    def make(rng: np.random.Generator) -> Answer:
        fresh = releases.fresh(rng)
        return releases.plus(
            lambda given, shape: (
                law.sample(shape, rng) if alike(given, other) else fresh(given, shape)
            )
        )

    return make


def _scaled(releases: Releases, factor: float, rng: np.random.Generator) -> Noise:
    quantiles = Quantiles(releases.family.times(factor))
    return lambda _, shape: quantiles(rng.random(shape))


def _cut(releases: Releases, reach: float, rng: np.random.Generator) -> Noise:
    """The claimed noise where it lies within reach."""
    quantiles = Quantiles(releases.family)
    low, high = np.exp(releases.family.log_cdf(np.array([-reach - quantiles.whole, reach])))
    return lambda _, shape: quantiles(low + (high - low) * rng.random(shape))


def _off(releases: Releases, offset: float, rng: np.random.Generator) -> Noise:
    if releases.family.whole:
        offset = math.copysign(math.ceil(abs(offset)), offset)
    fresh = releases.fresh(rng)
    return lambda given, shape: fresh(given, shape) + offset


def _bare(releases: Releases, share: float, rng: np.random.Generator) -> Noise:
    fresh = releases.fresh(rng)
    return lambda given, shape: np.where(
        rng.random((shape[0], 1)) < share, 0.0, fresh(given, shape)
    )


def _copied(releases: Releases, share: float, rng: np.random.Generator) -> Noise:
    """Each number has the noise of the release before with this probability."""
    fresh, last = releases.fresh(rng), list[Numbers]()

    def noise(given: Any, shape: tuple[int, int]) -> Numbers:
        found, copied = fresh(given, shape), rng.random(shape) < share
        for row, again in zip(found, copied, strict=True):
            if last:
                row[again] = last[0][again]
            last[:] = [row]
        return found

    return noise


def _of_earlier(releases: Releases, correlation: float, rng: np.random.Generator) -> Noise:
    """Normal scores correlate with those of the release before."""
    quantiles, last = Quantiles(releases.family), list[Numbers]()

    def noise(_: Any, shape: tuple[int, int]) -> Numbers:
        scores = rng.standard_normal(shape)
        for row in scores:
            if last:
                row[:] = mixed(last[0], row, correlation)
            last[:] = [row]
        return quantiles(ndtr(scores))

    return noise


def _beside(releases: Releases, correlation: float, rng: np.random.Generator) -> Noise:
    """Normal scores correlate with those of the number beside."""
    quantiles = Quantiles(releases.family)

    def noise(_: Any, shape: tuple[int, int]) -> Numbers:
        scores = rng.standard_normal(shape)
        for place in range(1, shape[1]):
            scores[:, place] = mixed(scores[:, place - 1], scores[:, place], correlation)
        return quantiles(ndtr(scores))

    return noise


def mixed(before: Numbers, fresh: Numbers, correlation: float) -> Numbers:
    """Scores that correlate with those before."""
    return correlation * before + math.sqrt(1.0 - correlation**2) * fresh


def _unused(*_: Any) -> Noise:
    raise AssertionError("a law is made of its own")


_FAULTS: dict[str, tuple[str, Callable[[Releases, float, np.random.Generator], Noise]]] = {
    "law-unexplained": ("total_variation", _unused),
    "noise-after-dropouts-differs": ("total_variation", _unused),
    "scale-too-small": ("factor", _scaled),
    "scale-too-large": ("factor", _scaled),
    "releases-off-centre": ("offset", _off),
    "noise-missing-at-times": ("share", _bare),
    "noise-tails-cut": ("reach", _cut),
    "noise-made-of-earlier": ("correlation", _of_earlier),
    "noise-shared-within-release": ("correlation", _beside),
    "noise-shared-across-releases": ("share", _copied),
}
"""By the code of a fault: the field of its size, and noise that has it."""


def made_check(planned: Any, check: str) -> Any:
    """The check of a plan, from which altered inputs are taken."""
    from dpassay.verifiers.run.checks import Setting

    setting = Setting(planned.claim, planned.seed, planned.plan)
    specs = planned.claim.kind.checks.applicable(planned.claim)
    return next(spec.make(setting) for spec in specs if spec.id == check)


def shortened(entry: Excluded, times: float) -> float:
    """The share of the cost that is charged: a hair below that of the entry, at its size."""
    lacking = 1.0 - float(entry.size["share"])
    return 1.0 - times * lacking - 1e-9


class _Undercharging:
    """The claimed noise, with a charge of a share of what the farthest neighbour costs."""

    def __init__(
        self, claim: Any, releases: Releases, rng: np.random.Generator, share: float
    ) -> None:
        self.sample = releases.plus(releases.fresh(rng))
        self.share, (_, self.pair) = share, charged_pair(claim.mechanism)  # type: ignore[misc]

    def rdp(self, values: Any, orders: Any) -> Any:
        return [self.share * self.pair.renyi_lower(float(order)) for order in orders]


def _moved(planned: Any, releases: Releases, check: str, entry: Excluded, times: float) -> Any:
    """The altered input moves its first number by so much more than is allowed."""
    made = made_check(planned, check)
    altered = [one for one in made.asked if one.name in entry.where]
    beyond = times * float(entry.size["beyond"])

    def make(rng: np.random.Generator) -> Answer:
        fresh = releases.fresh(rng)

        def answer(given: Any, size: int) -> Any:
            exact = releases.exact(given)
            for one in altered:
                if alike(given, one.values):
                    way = np.zeros(exact.size)
                    way[made.axis] = 1.0
                    exact = one.exact + (one.allowed + beyond) * way
            return exact + fresh(given, (size, exact.size))

        return answer

    return make


def _ranges(planned: Any, releases: Releases, entry: Excluded, times: float, seed: int) -> Any:
    """One of two neighbours is released without noise now and then, which the other never is."""
    check: Support = made_check(planned, "support")
    pair = check.pairs[seed % len(check.pairs)]
    other, share = (
        (pair.here, pair.there)[seed // len(check.pairs) % 2],
        times * float(entry.size["share"]),
    )

    def make(rng: np.random.Generator) -> Answer:
        fresh = releases.fresh(rng)

        def noise(given: Any, shape: tuple[int, int]) -> Numbers:
            found = fresh(given, shape)
            bare: NDArray[np.bool_] = rng.random(shape) < share
            return np.where(bare, 0.0, found) if alike(given, other) else found

        return releases.plus(noise)

    return make
