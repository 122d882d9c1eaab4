"""What a pass excludes after so many batches: of each check, by the claimed law alone."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom

from ....reference.arrays import Vector
from ....reference.batches import BatchDraws, Batches, hypergeometric, log_choose
from ...findings.excluded import SURE_TO_SEE, Excluded
from ...findings.note import Fields
from ...run.error_budget import log_threshold
from .claim import BatchesClaim
from .registry import CHECKS
from .sizes import SHARE_RATE, other_rates, rate_gains
from .subsets import (
    ODDS,
    POWER,
    SHARE_COPIED,
    SHARE_ENDS,
    SHARE_NUMBERED,
    SHARE_SINCE,
    SHARE_SINGLE,
    ends,
    single_expected,
    windows,
)
from .wagers import TILTS, tilts

_MISSES = 1.0 - SURE_TO_SEE
_QUANTILE = float(ndtri(SURE_TO_SEE))
_SIZES = 33  # of batches, as likely as each other, that stand for all
_SETS = 4  # of records by their numbers, that are wagered on
_RATES = np.linspace(0.0, 1.0, 101)[1:]  # of the way from the claimed one to 1
_ODDS = np.geomspace(1.02, 50.0, 80)
_FEWEST = 0.05  # share of batches that may be too small to tell a copy
_EACH = "each such batch proves it; they are taken to come independently"
_BY_BINOMIAL = "the binomial law of the records of all batches together"
_BY_NORMAL = "mean and variance of the evidence of batches, taken to be normal"
_BY_COPY = "a single copy is enough, at any distance; they are taken to come independently"


def excluded(claim: BatchesClaim, check: str, batches: int) -> tuple[Excluded, ...]:
    """What a pass of a check excludes by the first `batches` batches."""
    law, wanted = claim.mechanism.batches, 0.0
    share = CHECKS.shares[check]
    if share:
        wanted = log_threshold(share, claim.gate.false_alarm)
    found = _FOUND[check](law, batches, wanted) if batches > 1 else ()
    return tuple(
        Excluded(
            code=code,
            size=size,
            where=(f"batches {law}",),
            queries=batches,
            probability=SURE_TO_SEE,
            false_alarm=share * claim.gate.false_alarm,
            method=method,
        )
        for code, size, method in found
    )


WORDS = {
    "drawn-with-replacement": "a record twice in {share:.2g} of the batches would have been seen",
    "record-again-in-epoch": "records again in {share:.2g} of the batches would have been seen",
    "batch-size-differs": "another size of {share:.2g} of the batches would have been seen",
    "sampling-rate-differs": "{factor:g} times the claimed rate would have been seen",
    "draws-follow-numbers": "odds of {odds:.3g} of the first half of records would have been seen",
    "end-record-rate-differs": "a first or last record in {rate:.3g} of them would have been seen",
    "records-drawn-too-often": "any single record in {rate:.3g} of them would have been seen",
    "shuffled-not-sampled": "batches without records of the one before would have been seen",
    "batch-repeated": "copies of earlier batches in {share:.2g} of them would have been seen",
}
"""What the sentence of a pass says of a fault, by its code."""

_Told = Sequence[tuple[str, Fields, str]]
"""Of faults: the code, the size, and how the probability is known."""


def _share(batches: float) -> float:
    """How often what proves a fault must come, to come at least once in so many batches."""
    return -math.expm1(math.log(_MISSES) / batches)


def _repeats(law: Batches, batches: int, _: float) -> _Told:
    return [("drawn-with-replacement", {"share": _share(batches)}, _EACH)]


def _coverage(law: Batches, batches: int, _: float) -> _Told:
    later = batches - math.ceil(batches / law.epoch)  # the first of an epoch has new records alone
    return [("record-again-in-epoch", {"share": _share(later)}, _EACH)] if later else []


def _sizes(law: Batches, batches: int, wanted: float) -> _Told:
    """Of Poisson sampling the rate that is another, by the wagers on these rates."""
    if law.how is not BatchDraws.POISSON:
        return [("batch-size-differs", {"share": _share(batches)}, _EACH)]
    rates, records = other_rates(law.rate), float(law.records) * batches
    come, missed = rate_gains(law.rate, rates)
    wanted += math.log(rates.size / SHARE_RATE)
    # evidence come * k + missed * (records - k), which grows with k where the rate is larger
    end = (wanted - missed * records) / (come - missed)
    above = binom.sf(np.ceil(end) - 1.0, records, rates)
    often = np.where(rates > law.rate, above, binom.cdf(np.floor(end), records, rates))
    seen = rates[often >= SURE_TO_SEE]
    nearest = [side.max() for side in (seen[seen < law.rate],) if side.size]
    nearest += [side.min() for side in (seen[seen > law.rate],) if side.size]
    return [
        ("sampling-rate-differs", {"factor": float(rate / law.rate)}, _BY_BINOMIAL)
        for rate in nearest
    ]


def _inclusion(law: Batches, batches: int, wanted: float) -> _Told:
    """Records of some numbers that come oftener than others, where all may come."""
    if law.how is BatchDraws.SHUFFLE:
        return []
    found = (_of_halves, _of_ends, _of_single_records)
    return [one for of in found for one in of(law, batches, wanted)]


def _of_ends(law: Batches, batches: int, wanted: float) -> _Told:
    """A record at an end that comes at a larger rate, whatever the sizes of batches."""
    wanted += math.log(ends(law.records).size * TILTS / SHARE_ENDS)
    of_sizes = [tilts(*hypergeometric(law.records, 1, size)) for size in _likely_sizes(law)]
    for rate in law.rate + (1.0 - law.rate) * _RATES:
        moments = [
            (slopes * rate - totals, slopes**2 * rate * (1.0 - rate)) for slopes, totals in of_sizes
        ]
        if _shown(moments, batches, wanted):
            return [("end-record-rate-differs", {"rate": float(rate)}, _BY_NORMAL)]
    return []


def _of_single_records(law: Batches, batches: int, wanted: float) -> _Told:
    """Any one record that comes at a larger rate."""
    wanted += math.log(law.records * ODDS.size / SHARE_SINGLE)
    expected = [single_expected(size / law.records) for size in _likely_sizes(law)]
    logs = np.log(ODDS)
    for rate in law.rate + (1.0 - law.rate) * _RATES:
        moments = [(logs * rate - each, logs**2 * rate * (1.0 - rate)) for each in expected]
        if _shown(moments, batches, wanted):
            return [("records-drawn-too-often", {"rate": float(rate)}, _BY_NORMAL)]
    return []


def _of_halves(law: Batches, batches: int, wanted: float) -> _Told:
    """Records of the first half that come with other odds than the rest."""
    half = (law.records + 1) // 2
    wanted += math.log(_SETS * (TILTS + POWER.size) / SHARE_NUMBERED)
    laws = [hypergeometric(law.records, half, size) for size in _likely_sizes(law)]
    tilted = [tilts(*each) for each in laws]
    for odds in _ODDS:
        moments = []
        for (k, log_law), (slopes, totals) in zip(laws, tilted, strict=True):
            fault = log_law + math.log(odds) * k
            fault = np.exp(fault - np.logaddexp.reduce(fault))
            mean = float(fault @ k)
            variance = slopes**2 * float(fault @ np.square(k - mean))
            moments.append((slopes * mean - totals, variance))
        if _shown(moments, batches, wanted):
            return [("draws-follow-numbers", {"odds": float(odds)}, _BY_NORMAL)]
    return []


def _independence(law: Batches, batches: int, wanted: float) -> _Told:
    """Batches that have no record of the one before, and batches that come again."""
    if law.how is BatchDraws.SHUFFLE:
        return []
    found, records = list[tuple[str, Fields, str]](), law.records
    sizes = _likely_sizes(law)
    since = wanted + math.log((len(windows(law.epoch)) + 1) * TILTS / SHARE_SINCE)
    if 2 * max(sizes) <= records:
        pairs = [(one, other) for one in sizes for other in sizes]
        gained = [-tilts(*hypergeometric(records, *pair))[1] for pair in pairs]
        moments = [(mean, np.zeros(TILTS)) for mean in gained]
    # a batch is in two pairs
    if 2 * max(sizes) <= records and _shown(moments, batches - 1, since, doubled=True):
        found.append(("shuffled-not-sampled", {"batches": 1}, _BY_NORMAL))
    low = min(sizes) if law.how is BatchDraws.FIXED else _low_size(law)
    copied = wanted - math.log(SHARE_COPIED) + 2 * math.log(batches + 1.0)
    copied += math.log(batches * (batches + 1.0))
    if low > 0 and float(log_choose(records, low)) >= copied:
        often = _share(batches - 1) / (1.0 - _FEWEST * (law.how is BatchDraws.POISSON))
        found.append(("batch-repeated", {"share": often, "distance": batches - 1}, _BY_COPY))
    return found


def _shown(
    moments: Sequence[tuple[Vector, Vector]], batches: int, wanted: float, *, doubled: bool = False
) -> bool:
    """Whether so many batches reach the evidence, by the mean and variance (wagers,) of each size.

    doubled: whether batches share sizes in pairs, which doubles what sizes add to the variance.
    """
    means, within = (np.array(each) for each in zip(*moments, strict=True))
    mean, variance = means.mean(0), within.mean(0) + (1 + doubled) * means.var(0)
    return bool((batches * mean - _QUANTILE * np.sqrt(batches * variance) >= wanted).any())


def _likely_sizes(law: Batches) -> list[int]:
    """Sizes of batches, each as likely as any other."""
    if law.how is not BatchDraws.POISSON:
        return [int(law.amount)]
    return [int(k) for k in binom.ppf((np.arange(_SIZES) + 0.5) / _SIZES, law.records, law.rate)]


def _low_size(law: Batches) -> int:
    """A size that few batches fall short of."""
    return int(binom.ppf(_FEWEST, law.records, law.rate))


_FOUND = {
    "repeats": _repeats,
    "coverage": _coverage,
    "batch-size": _sizes,
    "inclusion": _inclusion,
    "independence": _independence,
}
