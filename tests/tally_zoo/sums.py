"""Sums and their noise: values cut, a modulus too small, shares left out, repeated or too few."""

from typing import Any

import numpy as np

from dpassay.reference.secure_aggregation import Party

from .shelf import ADDED, FIVE, Make, deployed, entry, shares

LAW = ("noise-law", "noise-scale")


def with_noise(make: Any) -> Make:
    """The deployment whose parties draw their shares so."""
    return lambda claim, rng: deployed(claim, rng, noise=make(claim, rng))


class OneCuts(Party):
    """The third party cuts its values at half of the bound."""

    def counted(self, values: Any) -> Any:
        return super().counted(np.minimum(values, 5) if self.number == 3 else values)


class OneScales(Party):
    """The third party counts in steps of two."""

    def counted(self, values: Any) -> Any:
        return super().counted(values // 2 if self.number == 3 else values)


class Bounds(Party):
    """Every party cuts its values at the bounds of the claim, as it should."""

    def counted(self, values: Any) -> Any:
        return super().counted(np.clip(values, 0, 10))


class OneForgets(Party):
    """The second party adds no noise."""

    def counted(self, values: Any) -> Any:
        return values if self.number == 2 else super().counted(values)


class OneSeeded(Party):
    """The first party's generator starts anew in each round."""

    def counted(self, values: Any) -> Any:
        if self.number != 1:
            return super().counted(values)
        again, rate = np.random.default_rng(7), -np.expm1(-0.5)
        up, down = (again.negative_binomial(0.25, rate, values.size) for _ in range(2))
        return values + up - down


def one_draw_for_all(claim: Any, rng: Any) -> Any:
    draw = shares(claim, rng)
    return lambda size: np.repeat(draw(1), size)


def one_by_one(claim: Any, rng: Any) -> Any:
    draw = shares(claim, rng)
    return lambda size: np.concatenate([draw(1) for _ in range(size)])


def two_aggregators(rng: Any, size: int) -> Any:
    """Noise of two aggregators, discrete Laplace of scale 2 each."""
    rate = -np.expm1(-0.5)
    up, down = (rng.geometric(rate, (2, size)) for _ in range(2))
    return (up - down).sum(0)


def before_the_modulus(claim: Any, rng: Any) -> Any:
    return deployed(claim, rng, lambda tally: tally + two_aggregators(rng, tally.size))


def after_the_modulus(claim: Any, rng: Any) -> Any:
    rounds = deployed(claim, rng)

    def late(values: Any, size: int) -> Any:
        found = rounds(values, size)
        for one in found:
            one["tally"] = (np.array(one["tally"]) + two_aggregators(rng, 16)).tolist()
        return found

    return late


def byte_sums(claim: Any, rng: Any) -> Any:
    """Sums that a signed number of few bits holds, up to 31."""
    return deployed(claim, rng, lambda tally: (tally + 32) % 64 - 32)


def half_the_noise(claim: Any, rng: Any) -> Any:
    def one(tally: Any) -> Any:
        rate = -np.expm1(-0.5)
        return tally + rng.geometric(rate, tally.size) - rng.geometric(rate, tally.size)

    return deployed(claim, rng, one)


def wide(claim: Any, rng: Any) -> Any:
    return deployed(claim, rng, lambda tally: (tally + 1024) % 2048 - 1024)


SHELF = [
    entry(
        "modulus-too-small",
        FIVE,
        byte_sums,
        ("wrap-around",),
        "modulus-large-enough",
        "modulus-too-small",
    ),
    entry("modulus-large-enough", FIVE, wide),
    entry(
        "a-party-cuts-its-values",
        FIVE,
        lambda claim, rng: deployed(claim, rng, party=OneCuts),
        ("wrap-around",),
        "all-cut-at-the-bounds",
        "modulus-too-small",
    ),
    entry(
        "a-party-scales-its-values",
        FIVE,
        lambda claim, rng: deployed(claim, rng, party=OneScales),
        ("wrap-around",),
        "all-cut-at-the-bounds",
        "modulus-too-small",
    ),
    entry("all-cut-at-the-bounds", FIVE, lambda claim, rng: deployed(claim, rng, party=Bounds)),
    entry(
        "noise-for-all-though-one-may-leave",
        FIVE,
        with_noise(lambda claim, rng: shares(claim, rng, 5)),
        (*LAW, "recovery"),
        "shares-drawn-one-by-one",
        "noise-after-dropouts-differs",
    ),
    entry(
        "a-share-forgotten",
        FIVE,
        lambda claim, rng: deployed(claim, rng, party=OneForgets),
        (*LAW, "recovery"),
        "shares-drawn-one-by-one",
        "noise-after-dropouts-differs",
    ),
    entry(
        "one-draw-for-all-numbers",
        FIVE,
        with_noise(one_draw_for_all),
        ("independence", "joint"),
        "shares-drawn-one-by-one",
        "noise-shared-within-release",
    ),
    entry("shares-drawn-one-by-one", FIVE, with_noise(one_by_one)),
    entry(
        "a-seeded-party",
        FIVE,
        lambda claim, rng: deployed(claim, rng, party=OneSeeded),
        (*LAW, "location", "fresh-noise", "independence", "recovery"),
        "shares-drawn-one-by-one",
    ),
    entry(
        "noise-after-the-modulus",
        ADDED,
        after_the_modulus,
        ("input-contract",),
        "noise-before-the-modulus",
        "reply-malformed",
    ),
    entry("noise-before-the-modulus", ADDED, before_the_modulus),
    entry(
        "one-aggregator-of-two",
        ADDED,
        half_the_noise,
        LAW,
        "noise-before-the-modulus",
        "noise-shares-differ",
    ),
]
