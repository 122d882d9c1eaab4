"""One check of a report in words, for failures of tests."""

from typing import Any, cast

from ..text import counted
from .evidence_text import power_of_ten
from .report import CheckResult, Report
from .verdict import Verdict

_INCONCLUSIVE = "too little was seen to say; this is neither a pass nor a violation"


def explained(check: CheckResult, report: Report) -> str:
    """Lines that say what was observed and allowed, the likely cause, and how to reproduce it.

    check: one of `report`, with any verdict but pass and not-applicable.
    """
    verdict = check.verdict
    meaning = report.subject.meaning(verdict, verdict.meaning)
    if verdict is Verdict.INCONCLUSIVE:
        meaning = _INCONCLUSIVE
    lines = [f"{check.id}: {meaning}", f"observed: {check.message}"]
    if verdict is Verdict.FAIL:
        lines.append(f"allowed: {_allowed(check, report)}")
        lines.append(f"likely cause: {check.diagnosis or 'none is known for what was observed'}")
    judged = "target, claim" if report.asked else f"None, claim, log={report.target!r}"
    in_python = f"assert_conforms({judged}, seed={report.seed})"  # without a spec
    lines.append(f"reproduce: {check.reproduce or in_python}")
    return "\n".join(lines)


def _allowed(check: CheckResult, report: Report) -> str:
    """What the claim allows, with the e-value against it if the check has one."""
    mechanism = report.claim["mechanism"]
    privacy = cast(dict[str, Any] | None, report.claim.get("privacy"))
    words = [mechanism["name"]]
    if "noise" in mechanism:
        words[0] += f" with {mechanism['noise']}"
    if "classes" in mechanism:
        words.append(f"{mechanism['classes']} classes, {mechanism['teachers']} teachers")
    if "adjacency" in mechanism:
        words.append(f"{mechanism['adjacency']} of a {mechanism['unit']}")
    text = ", ".join(words)
    if privacy is not None:
        text += (
            f", epsilon {privacy['epsilon']:g} at delta {privacy['delta']:g} over "
            f"{counted(privacy['queries'], 'query', 'queries')}"
        )
    if check.log10_e_value is None or check.threshold_log10 is None:
        return text
    seen = "queries" if "classes" in mechanism else "draws"
    return (
        f"{text}; an e-value below {power_of_ten(check.threshold_log10)}, but it is "
        f"{power_of_ten(check.log10_e_value)} from {check.queries:,} {seen}"
    )
