"""A report as JUnit XML, in the subset that GitLab, Jenkins and pytest share.

There is one suite, with one case per check. GitLab identifies cases by classname and name, so the
deployment is part of the classname. Only the suite has a time, as checks share their labels.
"""

import re
from datetime import datetime
from xml.etree import ElementTree

from ..findings.report import CheckResult, Report, Verdict
from ..text import printable

_OUTCOMES = {
    Verdict.FAIL: "failure",
    Verdict.ERROR: "error",
    Verdict.INCONCLUSIVE: "error",  # too few labels to decide is no pass
    Verdict.NOT_APPLICABLE: "skipped",
}


def junit(report: Report, target: str, claim_file: str | None, started: datetime) -> str:
    """The XML of a run.

    target: in words; claim_file: its path, if there is one; started: in UTC.
    """
    target = report.headline or target
    outcomes = [  # cut short by another's failure, a check is skipped: one fault is one failed case
        "skipped" if check.cut_short else _OUTCOMES.get(check.verdict) for check in report.checks
    ]
    counts = {name: outcomes.count(name) for name in ("failure", "error", "skipped")}
    suite = ElementTree.Element(
        "testsuite",
        name=printable(f"dpassay verify {target}"),
        tests=str(len(report.checks)),
        failures=str(counts["failure"]),
        errors=str(counts["error"]),
        skipped=str(counts["skipped"]),
        time=f"{report.seconds:.3f}",
        timestamp=started.strftime("%Y-%m-%dT%H:%M:%S"),  # Jenkins's schema has no zone
    )
    for check, outcome in zip(report.checks, outcomes, strict=True):
        suite.append(_case(check, outcome, target, claim_file))
    root = ElementTree.Element("testsuites", name="dpassay")
    root.append(suite)
    ElementTree.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ElementTree.tostring(root, 'unicode')}\n"


def _case(
    check: CheckResult, outcome: str | None, target: str, claim_file: str | None
) -> ElementTree.Element:
    classname = "dpassay." + re.sub(r"[^\w-]+", "_", printable(target))
    case = ElementTree.Element("testcase", classname=classname, name=check.id, time="0.000")
    if claim_file is not None:
        case.set("file", printable(claim_file))
    if outcome is not None:
        element = ElementTree.SubElement(case, outcome)
        element.set("message", printable(check.message))
        if outcome != "skipped":
            element.set("type", check.verdict.value)
            element.text = "\n".join(_details(check))
    return case


def _details(check: CheckResult) -> list[str]:
    """Lines of the element; they repeat the message, since GitLab shows only them."""
    details = [check.message]
    if check.histogram is not None:
        details.append(f"histogram: {','.join(str(v) for v in check.histogram)}")
    if check.diagnosis:
        details.append(f"likely cause: {check.diagnosis}")
    if check.reproduce:
        details.append(f"reproduce: {check.reproduce}")
    return [printable(detail) for detail in details]
