"""A report of numbers, or of keys, as one page, by the rules of `page`."""

from datetime import datetime

from ..findings.number_figures import RATE_CONFIDENCE, NumberFigures
from ..findings.report import Report
from ..kinds.numbers.claim import NumbersClaim
from .charts import rate_chart
from .numbers_charts import noise_chart, quantile_chart
from .page import rendered


def numbers_page(report: Report, target: str, started: datetime) -> str:
    """The HTML of a report; target: as the user named it; started: in UTC."""
    claim, figures = report.claim, report.figures or NumberFigures()
    assert isinstance(claim, NumbersClaim), "a report of numbers"
    more = {
        "claim": claim,
        "figures": figures,
        "noise_chart": noise_chart,
        "quantile_chart": quantile_chart,
        "rate_chart": rate_chart,
        "rate_confidence": RATE_CONFIDENCE,
    }
    return rendered("numbers.html", report, target, started, more)
