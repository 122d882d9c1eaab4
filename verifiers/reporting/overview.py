"""The page over the reports of several targets, index.html beside the folders of the reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ..findings.report import Report
from ..findings.verdict import Verdict, worst
from .files import write_whole
from .page import page_environment


@dataclass(frozen=True)
class OverviewRow:
    """A target on the page.

    Attributes:
        folder: of its report, as a link from the page; None where none was written.
        meanings: what the codes say by which it has its verdict.
        causes: the checks by which it has its verdict.
        errors: lines that say why there is no report, or none that could be written.
    """

    name: str
    verdict: Verdict
    report: Report | None
    folder: str | None
    meanings: Sequence[str]
    causes: Sequence[str]
    errors: Sequence[str]


def write_overview(
    folder: Path, rows: Sequence[OverviewRow], configuration: str, started: datetime
) -> str | None:
    """Writes the page into a folder, whole or not at all.

    configuration: the file that names the targets; started: when the first run began, in UTC.
    Returns a line where it could not be written.
    """
    file = folder / "index.html"
    page = page_environment().get_template("overview.html")
    rates: dict[str, list[str]] = {}  # in the order of the rows: most targets share one
    for row in rows:
        if row.report is not None and row.report.error_rate is not None:
            rates.setdefault(row.report.error_rate, []).append(row.name)
    text = page.render(
        rows=rows,
        rates=rates,
        verdict=worst(row.verdict for row in rows),
        passed=sum(row.verdict is Verdict.PASS for row in rows),
        configuration=configuration,
        started=started.strftime("%Y-%m-%d %H:%M"),
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(file, text)
    except OSError as error:
        return f"{file}: cannot be written: {error.strerror}"
    return None
