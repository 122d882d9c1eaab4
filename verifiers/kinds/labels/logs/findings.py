"""The results of a report from the evidence of a log."""

import math
from dataclasses import replace
from typing import Any

from ....findings.evidence_text import NEAREST
from ....findings.figures import finite
from ....findings.note import Note
from ....findings.report import CheckResult, decimal_log
from ....findings.verdict import Verdict
from ....run.cause import SURE
from ..checks import LabelsFreshNoise
from ..checks.noise_scale import (
    LabelsNoiseScale,
    fitting_best,
    interval_text,
    is_within,
    measured,
)
from ..registry import SHARES
from .costs import Costs
from .excluded import basic_lacking, copies_lacking, exclusions, exclusions_text
from .judge import PARTIES, LogEvidence

_NO_REFUSALS = Note(
    "refusals-left-out",
    "refusals are left out of this log, so that it cannot show whether the right queries are "
    "refused, nor whether the threshold has noise: log them too, or verify the deployment itself",
)
_ASKS = Note("nothing-asked", "a log is judged, and nothing is asked")
_TOO_FEW = "too-few-rows"
_OF_SCALE = ("scale-too-small", "scale-too-large", "noise-missing")
_FEW = 0.01  # share of rows with a repeated histogram, up to which kept answers cannot show


def log_results(
    evidence: LogEvidence, costs: Costs, stopped: Note | None = None
) -> list[CheckResult]:
    """One result for each check id, in the order of the report.

    costs: of the same rows; stopped: why rows are missing, if they are: those read may refute, but
    `input-contract` cannot pass.
    """
    found = {name: CheckResult.of(name, Verdict.NOT_APPLICABLE, _ASKS) for name in SHARES}
    if evidence.claim.leaves_out_refusals:
        found["abstention"] = CheckResult.of("abstention", Verdict.NOT_APPLICABLE, _NO_REFUSALS)
    here = (_contract(evidence, stopped), *(judge(evidence) for judge in _JUDGES.values()))
    for result in (*here, *costs.results(evidence.asked, evidence.time_of)):
        found[result.id] = result
    return list(found.values())


def cause_of(evidence: LogEvidence, check: str) -> Note | None:
    """The likeliest cause of a refutation by `check`; None where unknown.

    It names laws, workers, clients and classes, and no votes or labels of rows.
    """
    if check not in _JUDGES or not evidence.refuted(check):
        return None
    found = _JUDGES[check](evidence)
    if found.diagnosis is None or found.code is None:
        return None
    return Note(found.code, found.diagnosis, found.fields)


def _contract(evidence: LogEvidence, stopped: Note | None) -> CheckResult:
    if stopped is not None:
        return CheckResult.of("input-contract", Verdict.INCONCLUSIVE, stopped, evidence.asked)
    message = (
        f"{evidence.asked:,} rows, each with a label in range, and no time, where rows have one, "
        "before an earlier one"
    )
    return CheckResult(
        id="input-contract", verdict=Verdict.PASS, message=message, queries=evidence.asked
    )


def _labels(evidence: LogEvidence) -> CheckResult:
    name = "class-probabilities"
    if evidence.refuted(name):
        where, found = _found_at(evidence, name)
        message = f"labels are not draws from the claimed law, by {where}"
        if evidence.claim.mechanism.refuses and not (
            evidence.claim.leaves_out_refusals or evidence.refused
        ):
            message += '; no row is a refusal: a log without them says [log] refusals = "left-out"'
            found["refusals"] = 0
        fits, log_ratio = _since(evidence)
        one = _of_one(evidence)
        if one is not None and one[0] > log_ratio:
            log_ratio, fits = one
        other = evidence.other_order
        if other is not None and other[0] > log_ratio + SURE:
            log_ratio, fits = other
        elif other is not None and other[0] > log_ratio - SURE:  # of two classes argmin is both
            fits = replace(fits, message=f"{fits.message}; or {other[1].message}")
        cause = Note("law-unexplained", "", found)
        if log_ratio > SURE:
            cause = replace(fits, fields={**fits.fields, **found})
        return _result(evidence, name, Verdict.FAIL, message, cause)
    unseen = {word: more for word, more in basic_lacking(evidence).items() if more}
    if unseen:
        word, more = max(unseen.items(), key=lambda item: item[1])
        return _too_few(evidence, name, word, more)
    excludes = exclusions(evidence)
    shown = exclusions_text(excludes)
    message = f"no deviation was seen; with probability 0.99 these rows would show {shown}"
    passed = _result(evidence, name, Verdict.PASS, message)
    return passed.model_copy(update={"excludes": excludes})


def _since(evidence: LogEvidence) -> tuple[Note, float]:
    """The law that labels fit best, with the rows from which they may do so, and its log-ratio."""
    likeliest, at = evidence.likeliest, evidence.best
    since, law = int(likeliest.onsets[at]), evidence.alternatives.causes[at]
    log_ratio, text = float(likeliest.recent[at]), f"labels fit {law}"
    if since == 0 or evidence.claim.mechanism.caching:  # of kept answers not all are drawn
        return replace(law, message=f"{text} ({NEAREST})"), log_ratio
    fields: dict[str, Any] = {**law.fields, "from_row": since + 1}
    text += f", from row {since + 1:,} on ({NEAREST})"
    onset = None if evidence.changes is None else evidence.changes.interval(likeliest)
    if onset is not None:
        scaled = law.code in _OF_SCALE
        fields |= onset.fields(scaled=scaled)
        text += f"; {onset.text(evidence.claim.mechanism.noise, scaled=scaled)}"
    return replace(law, message=text, fields=fields), log_ratio


def _found_at(evidence: LogEvidence, check: str) -> tuple[str, dict[str, Any]]:
    """The row at which a check was refuted, and its time, in words and as fields."""
    row, time = evidence.found_after[check], evidence.time_found.get(check)
    if time is None:
        return f"row {row:,}", {"row": row}
    return f"row {row:,} ({time})", {"row": row, "time": time}


def _of_one(evidence: LogEvidence) -> tuple[float, Note] | None:
    """Whose labels alone fit another law best, with its log-ratio, and the cause."""
    parties = zip(evidence.parties, PARTIES, strict=True)
    found = [(*one, kind) for each, kind in parties if (one := each.likeliest) is not None]
    part = evidence.in_strata
    value, name, law, kind = max(found, key=lambda one: one[:2], default=(0.0, "", None, ""))
    if part is not None and part[0] > value:
        return part
    if law is None:
        return None
    of = f"the hour from {name}:00 on" if kind == "hour" else f"{kind} {name[:60]!r}"
    message = f"labels of {of} fit {law} ({NEAREST})"
    return value, replace(law, message=message, fields={**law.fields, kind: name[:60]})


def _scale(evidence: LogEvidence) -> CheckResult:
    name, noise = LabelsNoiseScale.id, evidence.claim.mechanism.noise
    interval = evidence.scale.interval(evidence.thresholds[name])
    text = interval_text(noise, interval, evidence.thresholds[name])
    value = evidence.scale.log_e_value
    if evidence.refuted(name):
        elsewhere = _elsewhere(evidence)
        higher = evidence.highest["class-probabilities"] > value
        if higher or elsewhere.code == "columns-permuted":  # then no scale fits
            message = f"{text}: the claimed {noise} is refuted (see class-probabilities)"
            return _result(evidence, name, Verdict.FAIL, message, elsewhere, value)
        where, fields = _found_at(evidence, name)
        if interval is not None:
            fields |= {"factor_low": interval[0], "factor_high": finite(interval[1])}
        fits = fitting_best(noise, evidence.scale.best)
        fits = replace(fits, fields={**fits.fields, **fields})
        message = f"{text} leaves out the claimed {noise}, by {where}"
        return _result(evidence, name, Verdict.FAIL, message, fits, value)
    gate, low, high = evidence.claim.gate, *(interval or (0.0, math.inf))
    if low <= 0.0 or math.isinf(high):
        return _result(evidence, name, Verdict.INCONCLUSIVE, text, Note(_TOO_FEW, ""), value)
    bound = "tolerance" in gate.model_fields_set  # the default is not required
    if bound and not is_within((low, high), gate.tolerance):
        message = f"{text}: wider than tolerance = {gate.tolerance:g}"
        wide = Note(_TOO_FEW, "", {"tolerance": gate.tolerance})
        return _result(evidence, name, Verdict.INCONCLUSIVE, message, wide, value)
    told = f"{text}, if the noise is {noise.unrounded.family} and alike in all rows"
    passed = _result(evidence, name, Verdict.PASS, told, None, value)
    found = measured(noise, (low, high), evidence.thresholds[name])
    return passed.model_copy(update={"measured": found})


def _reuse(evidence: LogEvidence) -> CheckResult | None:
    """The failure of a log whose labels repeat; None if they do not."""
    name = LabelsFreshNoise.id
    if not evidence.refuted(name):
        return None
    where, fields = _found_at(evidence, name)
    if evidence.contradiction is not None:
        found = Note("answers-drawn-anew", evidence.contradiction, fields)
        return CheckResult.of(name, Verdict.FAIL, found, evidence.asked)
    if evidence.highest["class-probabilities"] > evidence.highest[name]:
        message = "labels repeat more often than the claim allows (see class-probabilities)"
        return _result(evidence, name, Verdict.FAIL, message, _elsewhere(evidence))
    reuse = evidence.likeliest_reuse
    reuse = replace(reuse, fields={**reuse.fields, **fields})
    message = f"labels repeat earlier ones, by {where}"
    return _result(evidence, name, Verdict.FAIL, message, reuse)


def _fresh(evidence: LogEvidence) -> CheckResult:
    name, repeated = LabelsFreshNoise.id, evidence.copies.repeated
    failed = _reuse(evidence)
    if failed is not None:
        return failed
    if evidence.claim.mechanism.caching:
        message = (
            f"{evidence.asked - evidence.rows:,} rows repeat an earlier histogram, each with the "
            "same label"
        )
        if evidence.by_input:
            message = (
                "answers are kept by id, since two ids of one histogram have different labels; no "
                f"id was answered in two ways, and {evidence.rows:,} rows were judged as draws"
            )
        return CheckResult(id=name, verdict=Verdict.PASS, message=message, queries=evidence.asked)
    if repeated <= _FEW * evidence.rows:
        text = "no" if repeated == 0 else "hardly any"
        message = (
            f"{text} histogram occurs twice in the log, so that kept answers cannot show; no noise "
            "was seen to be shared with up to 16 rows before, nor, as far as rows name them, with "
            "another worker, client or call"
        )
        unseen = Note("no-input-repeated", message, {"rows": repeated})
        return CheckResult.of(name, Verdict.NOT_APPLICABLE, unseen)
    lacking = copies_lacking(evidence)
    if lacking:
        return _too_few(evidence, name, "answers that are kept", lacking)
    message = (
        "no copies were seen of the label before of the same histogram or of the row before, and "
        "no noise of up to 16 rows before, nor, as far as rows name them, of the same or another "
        "worker, client or call; with probability 0.99 an answer that is the one before of its "
        "histogram would show"
    )
    return _result(evidence, name, Verdict.PASS, message)


_JUDGES = {"class-probabilities": _labels, "noise-scale": _scale, "fresh-noise": _fresh}


def _too_few(evidence: LogEvidence, name: str, what: str, rows: float) -> CheckResult:
    """The result where some more rows like these are needed to see something."""
    can = math.isfinite(rows)
    more = f"about {rows:,.0f} more would do" if can else "they can never show it"
    message = f"these rows are too few to see {what}: {more}"
    lacking = Note(_TOO_FEW, "", {"more": int(rows) if can else None})
    return _result(evidence, name, Verdict.INCONCLUSIVE, message, lacking)


def _elsewhere(evidence: LogEvidence) -> Note:
    """The cause that `class-probabilities` tells, in whose place nothing is told."""
    found = _labels(evidence)
    return Note(found.code or "law-unexplained", "", found.fields)


def _result(  # noqa: PLR0917 - as CheckResult has them
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
