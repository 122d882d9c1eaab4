"""What the pass of a log excludes: how much it would have shown, and how many rows it lacks."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .....reference.arrays import Vector
from ....evidence.power import MISSES
from ....findings.excluded import SURE_TO_SEE, Excluded
from ....text import counted
from ..registry import SHARES
from .judge import COPIED, PARTIES, POINTED, LogEvidence
from .laws import EXPONENTS

_LABELS, _COPIES = "class-probabilities", "fresh-noise"
_BASIC = (0.5, 2.0)  # scales that a pass must be able to show, beside no noise at all
_NAMED = 24  # most workers, clients or hours that are named
_BY_BOUND = "Chernoff's bound on the evidence of one wager, over the rows that were asked"
_BY_MOMENTS = "mean and variance of the evidence of one wager, taken to be normal"
_ANYWHERE, _LAST, _AT_RANDOM = "rows in a row", "the last rows", "rows at random"


def excluded_by(evidence: LogEvidence) -> tuple[Excluded, ...]:
    """What these rows would have shown, if they pass: missing noise, and other scales.

    It follows from the claim and from the histograms that were asked, and from no label.
    """
    return tuple(_missing(evidence)) + tuple(_scales(evidence))


def _missing(evidence: LogEvidence) -> Iterator[Excluded]:
    power = evidence.missing_noise
    if power is None:
        return
    if power.runs.anywhere is not None:
        yield _entry(evidence, "noise-missing", {"rows": power.runs.anywhere}, _ANYWHERE)
        yield _entry(evidence, "noise-missing", {"rows": power.runs.last}, _LAST)
    if power.share is not None:
        share = {"share": power.share}
        yield _entry(evidence, "noise-missing-at-times", share, _AT_RANDOM, method=_BY_MOMENTS)
    for kind in PARTIES:
        seen = power.seen(kind)
        if seen.names:
            size: dict[str, Any] = {
                "of": kind,
                "seen": len(seen.names),
                "groups": seen.groups,
                "rows": seen.rows,
            }
            yield _entry(
                evidence,
                "noise-missing",
                size,
                *seen.names[:_NAMED],
                method=f"{_BY_BOUND}, or {_BY_MOMENTS}; of each named, all rows",
            )


def _scales(evidence: LogEvidence) -> Iterator[Excluded]:
    """The scales next to the claimed one that all rows together would show."""
    factors = np.delete(evidence.alternatives.factors, evidence.alternatives.claimed)
    seen = factors[rows_lacking(evidence)[: factors.size] == 0]
    for code, factor in (
        ("scale-too-small", seen[seen < 1.0].max()),
        ("scale-too-large", seen[seen > 1.0].min()),
    ):
        yield _entry(evidence, code, {"factor": float(factor)}, "all rows")


def _entry(
    evidence: LogEvidence,
    code: str,
    size: Mapping[str, Any],
    *where: str,
    method: str = _BY_BOUND,
) -> Excluded:
    return Excluded(
        code=code,
        size=dict(size),
        where=where,
        queries=evidence.rows,
        probability=SURE_TO_SEE,
        false_alarm=SHARES[_LABELS] * evidence.claim.gate.false_alarm,
        method=method,
    )


def shown_text(excludes: tuple[Excluded, ...]) -> str:
    """The entries in words, which follow "these rows would show"."""
    missing, scales = [], []
    for one in excludes:
        size = one.size
        if "factor" in size:
            scales.append(f"{size['factor']:.3g}")
        elif "of" in size:
            missing.append(_groups_text(one))
        elif "share" in size:
            missing.append(f"in {100.0 * size['share']:.3g} % of the rows, drawn at random")
        elif one.where == (_LAST,):
            missing.append(f"in the last {size['rows']:,}")
        else:
            missing.append(f"in any {counted(size['rows'], 'row', 'rows')} in a row")
    noise = f"noise of {' or '.join(scales)} times the scale in all rows"
    where = f" {', '.join(missing)}" if missing else " in all rows"
    return f"missing noise{where}; and {noise}"


def _groups_text(one: Excluded) -> str:
    """Of which workers, clients or hours missing noise would show."""
    kind, seen, groups = one.size["of"], one.size["seen"], one.size["groups"]
    kinds = f"{kind}s" if kind != "hour" else "hours of the day"
    if seen == groups:
        return f"in all rows of any one of the {groups:,} {kinds}"
    named = f" ({', '.join(name[:60] for name in one.where)})" if seen == len(one.where) else ""
    many = one.size["rows"]
    least = "" if many is None else f", all with {many:,} rows or more among them"
    return f"in all rows of any one of {seen:,} of the {groups:,} {kinds}{named}{least}"


def basic_lacking(evidence: LogEvidence) -> dict[str, float]:
    """Faults that a pass must be able to show -> rows that are still needed for each."""
    factors = np.delete(evidence.alternatives.factors, evidence.alternatives.claimed)
    lacking = rows_lacking(evidence)
    places = {
        "noise of half the scale": int(np.argmin(np.abs(factors - _BASIC[0]))),
        "noise of twice the scale": int(np.argmin(np.abs(factors - _BASIC[1]))),
        "the plurality without noise": factors.size,  # the first fault after the scales
    }
    return {word: float(lacking[at]) for word, at in places.items()}


def rows_lacking(evidence: LogEvidence) -> Vector:
    """Rows like these that are still needed to see each alternative (a,) with probability 0.99.

    By Chernoff's bound: if an alternative is true from the first row on, its log-ratio r is below t
    with probability at most exp(s t) E[exp(-s r)], for every exponent s. Here t is the value at
    which the mixture reaches the threshold.
    """
    weights = np.log(POINTED) + np.log(0.5) + evidence.pointed.log_weights
    wanted = evidence.thresholds[_LABELS] - weights
    return _lacking(evidence.missed, wanted, evidence.rows)


def copies_lacking(evidence: LogEvidence) -> float:
    """Rows like these that are still needed to see answers that are kept; infinite if none do."""
    copies = evidence.copies
    weight = np.log(COPIED) + np.log(0.5) + copies.log_kept_weight
    wanted = np.array(evidence.thresholds[_COPIES] - weight)
    return float(_lacking(copies.missed, wanted, evidence.rows))


def _lacking(missed: Vector, wanted: Vector, rows: int) -> Vector:
    exponents = np.array(EXPONENTS).reshape(-1, *([1] * (missed.ndim - 1)))
    per_row = np.maximum(-missed / max(rows, 1), 0.0)
    with np.errstate(divide="ignore"):
        needed = (exponents * wanted - math.log(MISSES)) / per_row
    return np.asarray(np.maximum(np.ceil(needed.min(0)) - rows, 0.0))
