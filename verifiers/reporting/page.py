"""A report as one page: HTML without scripts, fonts or anything else from elsewhere.

Every text is escaped by the template engine, and made printable, whoever wrote it; the page's
content security policy forbids all but its own style sheet.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ...reference import REFUSAL
from ..findings.codes import CodeClass, codes
from ..findings.evidence_text import power_of_ten, told_apart
from ..findings.excluded import by_reason, unseen_line
from ..findings.figures import MOST_LABELS
from ..findings.note import Note
from ..findings.report import Report, Verdict
from ..findings.worse import likely_cause
from ..text import counted, epsilon_text, printable
from .charts import (
    HEIGHT,
    WIDTH,
    evidence_chart,
    label_chart,
    noise_chart,
    quantile_chart,
    rate_chart,
    scale_chart,
)
from .terminal import ledger_lines

_SYMBOLS = {
    Verdict.PASS: "✓",
    Verdict.FAIL: "✗",
    Verdict.ERROR: "⚠",
    Verdict.INCONCLUSIVE: "?",
    Verdict.NOT_APPLICABLE: "\N{EN DASH}",
}

_MEASURES = {
    "query-limit": "Limit of answers to one input",
    "near-duplicates": "Near-duplicates, answered anew",
    "other-noise": "Other noise, same epsilon",
}
"""Kinds of `Mitigation` in words."""

_WARN_OF: dict[CodeClass, str] = {
    "power": "what this run could not see",
    "coverage": "what this run could not see",
    "leakage": "what an attacker reads although the claim holds",
    "input": "what was odd in the input",
}
"""What warnings of a class tell; those of a defect are to be mended."""


def page(report: Report, target: str, started: datetime) -> str:
    """The HTML of a report; target: as the user named it; started: in UTC."""
    checks = sorted(report.whole.checks, key=lambda check: check.gravity)
    absent = [check for check in checks if check.verdict is Verdict.NOT_APPLICABLE]
    cut_short = [
        check for check in checks if check.cut_short and check.verdict is Verdict.INCONCLUSIVE
    ]
    return (
        page_environment()
        .get_template("report.html")
        .render(
            report=report,
            claim=_claim(report),
            target=target,
            started=started.strftime("%Y-%m-%d %H:%M"),
            checks=checks,
            told=[check for check in checks if check not in absent and check not in cut_short],
            cut_short=cut_short,
            absent=absent,
            cause=likely_cause(checks),
            to_do=_to_do(report.notes) if report.verdict is Verdict.PASS else None,
        )
    )


def _to_do(notes: Sequence[Note]) -> str | None:
    """What the warnings of a pass ask for, in a sentence; None where that is not known."""
    told = [codes()[note.code] for note in notes if note.code in codes()]
    mended = dict.fromkeys(code.title for code in told if code.what == "defect")
    if mended:
        return f"To be mended: {'; '.join(mended)}."
    if len(told) < len(notes):
        return None
    tell = " and ".join(dict.fromkeys(_WARN_OF[code.what] for code in told))
    return f"Nothing has to be mended: the warnings tell {tell}."


def _claim(report: Report) -> str:
    """The claim in a line: the mechanism, and the privacy that it is to have."""
    tables: Mapping[str, Any] = report.claim
    kept = ", answers cached" if tables["mechanism"].get("caching") else ""
    privacy = tables.get("privacy", {})
    if not {"epsilon", "delta", "queries"} <= privacy.keys():  # a claim without a law has lines
        return f"{report.claimed}{kept}"
    one, many = ("query", "queries") if report.kind == "labels" else ("release", "releases")
    return (
        f"{report.claimed}{kept}; epsilon {_number(privacy['epsilon'])} at delta "
        f"{_number(privacy['delta'])} for {counted(privacy['queries'], one, many)}"
    )


@cache
def page_environment() -> Environment:
    """Templates of all pages, with the filters that make text of values; text is escaped."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_make_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "by_reason": by_reason,
        "counted": counted,
        "count": lambda value: f"{value:,}",
        "e_value": lambda log10: "\N{EN DASH}" if log10 is None else power_of_ten(log10),
        "ledger_lines": ledger_lines,
        "label": lambda label: "refused" if label == REFUSAL else f"label {label}",
        "epsilon": epsilon_text,
        "number": _number,
        "percent": lambda share: f"{100 * share:.1f} %",
        "power": power_of_ten,
        "told_in_a_line": unseen_line,
        "votes": _votes,
        "scales": _scales,
        "sentence": lambda text: f"{text[:1].upper()}{text[1:].rstrip('.')}.",
    }
    made.globals |= {
        "chart_height": HEIGHT,
        "chart_width": WIDTH,
        "measures": _MEASURES,
        "evidence_chart": evidence_chart,
        "noise_chart": noise_chart,
        "quantile_chart": quantile_chart,
        "rate_chart": rate_chart,
        "label_chart": label_chart,
        "most_labels": MOST_LABELS,
        "refusal": REFUSAL,
        "scale_chart": scale_chart,
        "symbols": _SYMBOLS,
    }
    return made


def _make_printable(value: Any) -> Any:
    """The one way of a value into the page; escaping follows."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return value


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def _scales(point: tuple[int, float, float | None], claimed: float) -> str:
    """The scales of an interval; each end is refuted itself, as is seen where it is the claim."""
    ends = point[1], math.inf if point[2] is None else point[2]
    low, high = (told_apart(end, claimed, 3) for end in ends)
    outside = claimed in ends
    if math.isinf(ends[1]):
        bound = f"scales above {low}" if outside else f"scales of {low} or more"
        return bound if ends[0] > 0 else "any scale"
    return f"scales above {low} and below {high}" if outside else f"scales from {low} to {high}"


def _votes(histogram: tuple[int, ...]) -> str:
    """A histogram in a heading: many classes are cut short."""
    shown = ", ".join(str(votes) for votes in histogram[:MOST_LABELS])
    more = len(histogram) > MOST_LABELS
    return f"{shown}, ... ({len(histogram):,} classes)" if more else shown
