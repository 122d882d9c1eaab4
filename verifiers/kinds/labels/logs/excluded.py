"""What the pass of a log excludes: how much it would have shown, and how many rows it lacks."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .....reference.arrays import Vector
from ....evidence.power import MISSES
from ....findings.excluded import SURE_TO_SEE, Excluded
from ....text import counted
from ..registry import SHARES
from .judge import PARTIES, LogEvidence
from .laws import EXPONENTS
from .reuse import COPIED, KEPT

_LABELS = "class-probabilities"
_NAMED = 24  # most workers, clients or hours that are named
_BY_BOUND = "Chernoff's bound on the evidence of one wager, over the rows that were asked"
_BY_MOMENTS = "mean and variance of the evidence of one wager, taken to be normal"
_LAST = "the last rows"


def exclusions(evidence: LogEvidence) -> tuple[Excluded, ...]:
    """What these rows would have shown, if they pass: missing noise, and other scales.

    It follows from the claim and from the histograms that were asked, and from no label.
    """
    return tuple(
        Excluded(
            code=code,
            size=size,
            where=where,
            queries=evidence.rows,
            probability=SURE_TO_SEE,
            false_alarm=SHARES[_LABELS] * evidence.claim.gate.false_alarm,
            method=method,
        )
        for code, size, where, method in (*_missing(evidence), *_scales(evidence))
    )


_Entry = tuple[str, dict[str, Any], tuple[str, ...], str]
"""Code, size, where and method of an `Excluded`."""


def _missing(evidence: LogEvidence) -> Iterator[_Entry]:
    power = evidence.missing_noise
    if power is None:
        return
    if power.runs.anywhere is not None:
        anywhere, last = {"rows": power.runs.anywhere}, {"rows": power.runs.last}
        yield "noise-missing", anywhere, ("rows in a row",), _BY_BOUND
        yield "noise-missing", last, (_LAST,), _BY_BOUND
    if power.share is not None:
        yield "noise-missing-at-times", {"share": power.share}, ("rows at random",), _BY_MOMENTS
    strata, threshold = evidence.strata, evidence.thresholds[_LABELS]
    groups = {kind: power.of_parties(kind) for kind in PARTIES} | strata.shown(threshold)
    for kind, shown in groups.items():
        size = {
            "of": kind,
            "seen": shown.seen,
            "groups": shown.parties,
            "rows": shown.rows,
        }
        method = f"{_BY_BOUND}, or {_BY_MOMENTS}; of each named, all rows"
        if shown.names:
            yield "noise-missing", size, shown.names[:_NAMED], method
    period = strata.period(threshold)
    if period is not None:
        yield "noise-missing-in-part", {"every": period}, ("rows so far apart",), _BY_BOUND


def _scales(evidence: LogEvidence) -> Iterator[_Entry]:
    """The scales next to the claimed one that all rows together would show."""
    factors = evidence.alternatives.others
    seen = factors[rows_lacking(evidence)[: factors.size] == 0]
    small, large = float(seen[seen < 1.0].max()), float(seen[seen > 1.0].min())
    yield "scale-too-small", {"factor": small}, ("all rows",), _BY_BOUND
    yield "scale-too-large", {"factor": large}, ("all rows",), _BY_BOUND


def exclusions_text(excludes: tuple[Excluded, ...]) -> str:
    """The entries in words, which follow "these rows would show"."""
    missing, scales = [], []
    for one in excludes:
        size = one.size
        if "factor" in size:
            scales.append(f"{size['factor']:.3g}")
        elif "of" in size:
            missing.append(_parties_text(one))
        elif "every" in size:
            missing.append(
                f"in one row of k, always in the same place, for any k up to {size['every']}"
            )
        elif "share" in size:
            missing.append(f"in {100.0 * size['share']:.3g} % of the rows, drawn at random")
        elif one.where == (_LAST,):
            missing.append(f"in the last {size['rows']:,}")
        else:
            missing.append(f"in any {counted(size['rows'], 'row', 'rows')} in a row")
    where = ", ".join(missing) or "in all rows"
    return f"missing noise {where}; and noise of {' or '.join(scales)} times the scale in all rows"


def _parties_text(one: Excluded) -> str:
    """Of which workers, clients or hours missing noise would show."""
    kind, seen, parties = one.size["of"], one.size["seen"], one.size["groups"]
    kinds = {"hour": "hours of the day"}.get(kind, f"{kind}s")
    if kind.startswith("column "):
        kinds = f"values of {kind}"
    if seen == parties:
        return f"in all rows of any one of the {parties:,} {kinds}"
    named = f" ({', '.join(name[:60] for name in one.where)})" if seen == len(one.where) else ""
    many = one.size["rows"]
    least = "" if many is None else f", all with {many:,} rows or more among them"
    return f"in all rows of any one of {seen:,} of the {parties:,} {kinds}{named}{least}"


def basic_lacking(evidence: LogEvidence) -> dict[str, float]:
    """Faults that a pass must be able to show -> rows that are still needed for each."""
    lacking, factors = rows_lacking(evidence), evidence.alternatives.others
    places = {
        "noise of half the scale": int(np.argmin(np.abs(factors - 0.5))),
        "noise of twice the scale": int(np.argmin(np.abs(factors - 2.0))),
        "the plurality without noise": evidence.alternatives.bare,
    }
    return {word: float(lacking[at]) for word, at in places.items()}


def rows_lacking(evidence: LogEvidence) -> Vector:
    """Rows like these that are still needed to see each alternative (a,) with probability 0.99.

    By Chernoff's bound, as `evidence.power.ratios_to_see` has it for labels of one law: if an
    alternative is true from the first row on, its log-ratio r is below t with probability at most
    exp(s t) E[exp(-s r)], for every exponent s. Here t is the value at which the mixture reaches
    the threshold.
    """
    return _lacking(evidence.missed, evidence.wanted, evidence.rows)


def copies_lacking(evidence: LogEvidence) -> float:
    """Rows like these that are still needed to see answers that are kept; infinite if none do."""
    copies = evidence.copies
    weight = np.log(COPIED) + np.log(0.5) + copies.evidence.log_weights[KEPT]
    wanted = np.array(evidence.thresholds["fresh-noise"] - weight)
    return float(_lacking(copies.missed, wanted, evidence.rows))


def _lacking(missed: Vector, wanted: Vector, rows: int) -> Vector:
    exponents = np.array(EXPONENTS).reshape(-1, *([1] * (missed.ndim - 1)))
    per_row = np.maximum(-missed / max(rows, 1), 0.0)
    with np.errstate(divide="ignore"):
        needed = (exponents * wanted - math.log(MISSES)) / per_row
    return np.asarray(np.maximum(np.ceil(needed.min(0)) - rows, 0.0))
