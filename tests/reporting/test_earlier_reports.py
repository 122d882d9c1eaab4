"""Reports of earlier versions are read: each was made by running an earlier commit, its name."""

import json
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest
from pydantic import ValidationError

from dpassay.verifiers.findings.report import Report
from dpassay.verifiers.github import annotations, summary
from dpassay.verifiers.reporting.files import junit
from dpassay.verifiers.reporting.page import page
from dpassay.verifiers.schemas import schema

FILES = sorted((Path(__file__).parent / "earlier_reports").glob("*.json"))


def kept(before, now):
    """Whether all that was said is said; keys may have come in."""
    if isinstance(before, dict):
        return all(kept(value, now[key]) for key, value in before.items())
    return before == now


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_earlier_report_is_read_and_shown(file) -> None:
    """What it says stays; what it lacked is null; it is then a report of the schema of today."""
    public = json.loads(file.read_text())
    report = Report.read(public)
    assert report.schema_version == 1
    assert report.kind == file.stem.split("_")[0]
    assert [check.message for check in report.checks] == [c["message"] for c in public["checks"]]
    assert list(report.warnings) == public["warnings"]
    again = report.public()
    for key in ("verdict", "queries", "seed", "claim", "versions"):
        assert again[key] == public[key]
    for before, now in zip(public["checks"], again["checks"], strict=True):
        assert kept(before, now)
    jsonschema.Draft202012Validator(schema("report")).validate(again)
    when = datetime(2026, 1, 1, tzinfo=UTC)
    for text in (page(report, "a.py:b", when), junit(report, "a.py:b", None, when)):
        assert report.checks[0].id in text
    assert len(annotations(report)) >= 1
    assert summary(report).startswith(f"### dpassay: {public['verdict']}")


def test_there_are_some_of_each_age() -> None:
    assert len(FILES) >= 6


@pytest.mark.parametrize(
    "public", [None, [], {}, {"claim": 1}, {"verdict": "fine", "claim": {"mechanism": {}}}]
)
def test_what_is_no_report_is_refused(public) -> None:
    with pytest.raises(ValidationError):
        Report.read(public)
