"""The results of a report from the evidence of a log."""

import math
from dataclasses import replace

import numpy as np

from .....reference.arrays import Vector
from ....findings.excluded import Measured
from ....findings.note import Note
from ....findings.report import CheckResult, decimal_log
from ....findings.verdict import Verdict
from ....run.cause import SURE
from ..checks import FreshNoise
from ..checks.noise_scale import NoiseScale, interval_text
from ..planning.faults import short
from ..registry import SHARES
from .costs import Costs
from .judge import COPIED, POINTED, LogEvidence, leaves_out_refusals
from .laws import EXPONENTS

_NO_REFUSALS = Note(
    "refusals-left-out",
    "refusals are left out of this log, so that it cannot show whether the right queries are "
    "refused, nor whether the threshold has noise: log them too, or verify the deployment itself",
)
_MISSED = 0.01  # probability of missing a fault that a log is said to show
_ASKS = Note("nothing-asked", "a log is judged, and nothing is asked")
_TOO_FEW = "too-few-rows"
_BASIC = (0.5, 2.0)  # scales that a pass must be able to show, beside no noise at all
_FEW = 0.01  # share of rows with a repeated histogram, up to which kept answers cannot show


def log_results(
    evidence: LogEvidence, costs: Costs, stopped: Note | None = None
) -> list[CheckResult]:
    """One result for each check id, in the order of the report.

    costs: of the same rows; stopped: why rows are missing, if they are: those read may refute, but
    `input-contract` cannot pass.
    """
    here = (_contract(evidence, stopped), _labels(evidence), _scale(evidence), _fresh(evidence))
    found = {result.id: result for result in (*here, *costs.results(evidence.asked))}
    if leaves_out_refusals(evidence.claim):
        found["abstention"] = CheckResult.of("abstention", Verdict.NOT_APPLICABLE, _NO_REFUSALS)
    absent = (CheckResult.of(name, Verdict.NOT_APPLICABLE, _ASKS) for name in SHARES)
    return [found.get(one.id) or one for one in absent]


def cause_of(evidence: LogEvidence, check: str) -> Note | None:
    """The likeliest cause of a refutation by `check`; None where unknown.

    It names laws, workers and clients, and no votes or labels.
    """
    judges = {"class-probabilities": _labels, NoiseScale.id: _scale, FreshNoise.id: _fresh}
    if check not in judges or not evidence.refuted(check):
        return None
    found = judges[check](evidence)
    if found.diagnosis is None or found.code is None:
        return None
    return Note(found.code, found.diagnosis, found.fields)


def _contract(evidence: LogEvidence, stopped: Note | None) -> CheckResult:
    if stopped is not None:
        return CheckResult.of("input-contract", Verdict.INCONCLUSIVE, stopped, evidence.asked)
    message = f"{evidence.asked:,} rows, each with a label in range, no time before an earlier one"
    return CheckResult(
        id="input-contract", verdict=Verdict.PASS, message=message, queries=evidence.asked
    )


def _labels(evidence: LogEvidence) -> CheckResult:
    name = "class-probabilities"
    if evidence.refuted(name):
        at, row = evidence.best, evidence.found_after[name]
        since = int(evidence.pointed.onsets[at])
        dated = since and not evidence.claim.mechanism.caching  # else not all are drawn
        where = f" from row {since + 1:,} on" if dated else ""
        law = evidence.alternatives.causes[at]
        fields = {**law.fields, "from_row": since + 1} if dated else law.fields
        fits = Note(law.code, f"labels fit {law}{where}", fields)
        sure = evidence.pointed.recent[at] > SURE
        one = _of_one(evidence)
        if one is not None and one[0] > evidence.pointed.recent[at]:
            fits, sure = one[1], one[0] > SURE
        unknown = Note("law-unexplained", "", {"row": row})
        message = f"labels are not draws from the claimed law, by row {row:,}"
        if evidence.claim.mechanism.refuses and not (
            leaves_out_refusals(evidence.claim) or evidence.refused
        ):
            message += '; no row is a refusal: a log without them says [log] refusals = "left-out"'
            fits, unknown = (
                replace(note, fields={**note.fields, "refusals": 0}) for note in (fits, unknown)
            )
        return _judged(evidence, name, Verdict.FAIL, message, fits if sure else unknown)
    unseen = {word: more for word, more in _basic(evidence).items() if more}
    if unseen:
        word, more = max(unseen.items(), key=lambda item: item[1])
        message = f"these rows are too few to see {word}: {_more(more)}"
        return _judged(evidence, name, Verdict.INCONCLUSIVE, message, _lacks(more))
    message = f"no deviation; with probability 0.99 these rows would show {_seen(evidence)}"
    return _judged(evidence, name, Verdict.PASS, message)


def _of_one(evidence: LogEvidence) -> tuple[float, Note] | None:
    """The worker or client whose labels fit another law best: its log-ratio, and its cause."""
    parties = zip(evidence.parties, _PARTIES, strict=True)
    found = [(*one, kind) for each, kind in parties if (one := each.likeliest) is not None]
    if not found:
        return None
    value, name, law, kind = max(found, key=lambda one: one[:2])
    message = f"labels of {kind} {name[:60]!r} fit {law}"
    return value, replace(law, message=message, fields={**law.fields, kind: name[:60]})


_PARTIES = ("worker", "client")


def _basic(evidence: LogEvidence) -> dict[str, float]:
    """Faults that a pass must be able to show -> rows that are still needed for each."""
    factors = np.delete(evidence.alternatives.factors, evidence.alternatives.claimed)
    lacking = rows_lacking(evidence)
    places = {
        "noise of half the scale": int(np.argmin(np.abs(factors - _BASIC[0]))),
        "noise of twice the scale": int(np.argmin(np.abs(factors - _BASIC[1]))),
        "the plurality without noise": factors.size,  # the first fault after the scales
    }
    return {word: float(lacking[at]) for word, at in places.items()}


def _seen(evidence: LogEvidence) -> str:
    """The faults that these rows could show, in words."""
    factors = np.delete(evidence.alternatives.factors, evidence.alternatives.claimed)
    seen = factors[rows_lacking(evidence)[: factors.size] == 0]
    less, more = seen[seen < 1.0].max(), seen[seen > 1.0].min()
    return f"missing noise, and noise of {less:.3g} or {more:.3g} times the scale"


def rows_lacking(evidence: LogEvidence) -> Vector:
    """Rows like these that are still needed to see each alternative (a,) with probability 0.99.

    By Chernoff's bound: if an alternative is true from the first row on, its log-ratio r is below t
    with probability at most exp(s t) E[exp(-s r)], for every exponent s. Here t is the value at
    which the mixture reaches the threshold.
    """
    weights = np.log(POINTED) + np.log(0.5) + evidence.pointed.log_weights
    wanted = evidence.thresholds["class-probabilities"] - weights
    return _lacking(evidence.missed, wanted, evidence.rows)


def _lacking(missed: Vector, wanted: Vector, rows: int) -> Vector:
    exponents = np.array(EXPONENTS).reshape(-1, *([1] * (missed.ndim - 1)))
    per_row = np.maximum(-missed / max(rows, 1), 0.0)
    with np.errstate(divide="ignore"):
        needed = (exponents * wanted - math.log(_MISSED)) / per_row
    return np.asarray(np.maximum(np.ceil(needed.min(0)) - rows, 0.0))


def _scale(evidence: LogEvidence) -> CheckResult:
    name, noise = NoiseScale.id, evidence.claim.mechanism.noise
    interval = evidence.scale.interval(evidence.thresholds[name])
    text = interval_text(noise, interval, evidence.thresholds[name])
    value = evidence.scale.log_e_value
    if evidence.refuted(name):
        if evidence.highest["class-probabilities"] > value:
            message = f"{text}: the claimed {noise} is refuted (see class-probabilities)"
            return _judged(evidence, name, Verdict.FAIL, message, _elsewhere(evidence), value)
        best = evidence.scale.best
        code = "scale-too-small" if best < 1.0 else "scale-too-large"
        fits = Note(code, f"labels fit {short(noise.times(best))} best", {"factor": best})
        message = f"{text} leaves out the claimed {noise}"
        return _judged(evidence, name, Verdict.FAIL, message, fits, value)
    gate, low, high = evidence.claim.gate, *(interval or (0.0, math.inf))
    if low <= 0.0 or math.isinf(high):
        return _judged(evidence, name, Verdict.INCONCLUSIVE, text, Note(_TOO_FEW, ""), value)
    bound = "tolerance" in gate.model_fields_set  # the default is not required
    if bound and max(1.0 - low, high - 1.0) > gate.tolerance * (1.0 + 1e-9):  # as NoiseScale
        message = f"{text}: wider than tolerance = {gate.tolerance:g}"
        wide = Note(_TOO_FEW, "", {"tolerance": gate.tolerance})
        return _judged(evidence, name, Verdict.INCONCLUSIVE, message, wide, value)
    scale, sure = noise.scale, 1.0 - math.exp(-evidence.thresholds[name])
    left = Measured(what="scale", low=scale * low, high=scale * high, confidence=sure)
    passed = _judged(evidence, name, Verdict.PASS, text, None, value)
    return passed.model_copy(update={"measured": left})


def _come_again(evidence: LogEvidence) -> CheckResult | None:
    """The failure of a log whose labels repeat; None if they do not."""
    name = FreshNoise.id
    if evidence.contradiction is not None:
        found = Note(
            "answers-drawn-anew", evidence.contradiction, {"row": evidence.found_after[name]}
        )
        return CheckResult.of(name, Verdict.FAIL, found, evidence.asked)
    if not evidence.refuted(name):
        return None
    if evidence.highest["class-probabilities"] > evidence.highest[name]:
        message = "labels repeat more often than the claim allows (see class-probabilities)"
        return _judged(evidence, name, Verdict.FAIL, message, _elsewhere(evidence))
    message = f"labels repeat earlier ones, by row {evidence.found_after[name]:,}"
    return _judged(evidence, name, Verdict.FAIL, message, evidence.likeliest_copies)


def _fresh(evidence: LogEvidence) -> CheckResult:
    name, copies = FreshNoise.id, evidence.copies
    failed = _come_again(evidence)
    if failed is not None:
        return failed
    if evidence.claim.mechanism.caching:
        return CheckResult(
            id=name, verdict=Verdict.PASS, message=_kept(evidence), queries=evidence.asked
        )
    if copies.repeated <= _FEW * evidence.rows:
        text = "no" if copies.repeated == 0 else "hardly any"
        message = (
            f"{text} histogram occurs twice in the log, so that kept answers cannot show; no noise "
            "is shared with up to 16 rows before, or with another worker, client or call"
        )
        unseen = Note("no-input-repeated", message, {"rows": copies.repeated})
        return CheckResult.of(name, Verdict.NOT_APPLICABLE, unseen)
    weight = np.log(COPIED) + np.log(0.5) + copies.log_kept_weight
    wanted = np.array(evidence.thresholds[name] - weight)
    lacking = float(_lacking(copies.missed, wanted, evidence.rows))
    if lacking:
        message = f"these rows are too few to see answers that are kept: {_more(lacking)}"
        return _judged(evidence, name, Verdict.INCONCLUSIVE, message, _lacks(lacking))
    message = (
        "no copies of the label before of the same histogram, of the row before or of the same "
        "worker, and no noise of up to 16 rows before or of another worker, client or call; with "
        "probability 0.99 an answer that is the one before of its histogram would show"
    )
    return _judged(evidence, name, Verdict.PASS, message)


def _kept(evidence: LogEvidence) -> str:
    """The finding for a caching deployment none of whose answers changed."""
    given = evidence.asked - evidence.rows
    if evidence.by_input:
        return (
            "answers are kept by id, since two ids of one histogram have different labels; no id "
            f"was answered in two ways, and {evidence.rows:,} rows were judged as draws"
        )
    return f"{given:,} rows repeat an earlier histogram, each with the same label"


def _more(rows: float) -> str:
    """How many more rows like these are needed, in words."""
    return f"about {rows:,.0f} more would do" if math.isfinite(rows) else "they can never show it"


def _lacks(rows: float) -> Note:
    return Note(_TOO_FEW, "", {"more": int(rows) if math.isfinite(rows) else None})


def _elsewhere(evidence: LogEvidence) -> Note:
    """The cause that `class-probabilities` tells, in whose place nothing is told."""
    found = _labels(evidence)
    return Note(found.code or "law-unexplained", "", found.fields)


def _judged(  # noqa: PLR0917 - as CheckResult has them
    evidence: LogEvidence,
    name: str,
    verdict: Verdict,
    message: str,
    cause: Note | None = None,
    log_e_value: float | None = None,
) -> CheckResult:
    """The result of a check with an e-process; cause: with the diagnosis, if there is one."""
    value = evidence.highest[name] if log_e_value is None else log_e_value
    return CheckResult(
        id=name,
        verdict=verdict,
        message=message,
        queries=evidence.rows,
        log10_e_value=decimal_log(value),
        threshold_log10=decimal_log(evidence.thresholds[name]),
        diagnosis=None if cause is None else cause.message or None,
        code=None if cause is None else cause.code,
        fields={} if cause is None else cause.fields,
    )
