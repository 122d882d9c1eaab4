"""`--redact`: no form of a report shows the text of a line of the target's code.

Catches a form that goes by another way than the terminal's, and a field or a finding that keeps the
text. The marks stand in the source alone: whatever shows the text
of a line shows one.
"""

import json
from pathlib import Path

import pytest
from claims import in_toml
from typed import typed

from dpassay.verifiers.findings.report import Report
from dpassay.verifiers.github import annotations, summary
from dpassay.verifiers.kinds.labels.checks.at_branches import BranchHistogram
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.paths.decision import Decision, decision_words
from dpassay.verifiers.paths.lines import HALF_THE_NOISE, _line

TARGET = """
import numpy as np

rng = np.random.default_rng()


def aggregate(histogram, size):
    h_of_vendor = np.asarray(histogram)
    second_of_vendor = int(np.sort(h_of_vendor)[-2])
    scale_of_vendor = {scale} if second_of_vendor == 47 else 40.0
    if (h_of_vendor.sum() * 7919) % 1_000_003 == 17:
        scale_of_vendor = 80.0
    noise = rng.normal(0, scale_of_vendor, (size, h_of_vendor.size))
    return (h_of_vendor + noise).argmax(-1)
"""
MARK = "_of_vendor"

MECHANISM = {"name": "gnmax", "noise": "gaussian:40", "classes": 10, "teachers": 250}


def _forms(folder: Path, scale: float, *options: str) -> dict[str, str]:
    """What a run writes and prints, by the form, as one that a rule fails or a fault."""
    (folder / "target.py").write_text(TARGET.format(scale=scale))
    claim = in_toml(mechanism=MECHANISM, gate={"fail_on": ["path-never", "path-seldom"]})
    (folder / "claim.toml").write_text(claim)
    done = typed(
        *("verify", "target.py:aggregate", "--claim", "claim.toml", "--seed", "11"),
        *("--report", "made", "--sarif", "made/found.sarif", *options),
    )
    assert done.returncode == 1, done.stdout + done.stderr
    report = Report.read(json.loads((folder / "made" / "report.json").read_text()))
    files = {path.name: path.read_text() for path in (folder / "made").iterdir()}
    assert set(files) == {"report.json", "junit.xml", "index.html", "found.sarif"}
    asked = {"summary": summary(report), "annotations": "\n".join(annotations(report))}
    return {**files, **asked, "stdout": done.stdout, "stderr": done.stderr}


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("scale", [0.001, 40.0])
def test_no_form_of_a_report_shows_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scale: float
) -> None:
    """Of a fault at a line, and of a pass that a rule fails: each form names the line itself."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made").mkdir()
    forms = _forms(tmp_path, scale, "--redact")
    assert not [name for name, text in forms.items() if MARK in text]
    line = "target.py:10" if scale < 40.0 else "target.py:11"
    shown = {name for name, text in forms.items() if line in text or "&#46;py&#58;1" in text}
    assert shown == set(forms) - {"stderr"}


@pytest.mark.slow("a whole run")
def test_without_it_every_form_shows_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the test above holds to is not empty: the forms do show text where they may."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made").mkdir()
    forms = _forms(tmp_path, 0.001)
    shown = {name for name, text in forms.items() if MARK in text or "&#95;of&#95;vendor" in text}
    assert shown == set(forms) - {"stderr"}


def test_inputs_at_a_decision_are_named_by_its_line_and_the_way_alone() -> None:
    assert decision_words("a.py:3", "x > 3", "true") == "a.py:3 (x > 3: true)"
    assert decision_words("a.py:3", "", "true") == "a.py:3 (true)"
    assert BranchHistogram((1, 2), "a.py:3", "", "false", 1).words == "a.py:3 (false)"
    assert decision_words("", "the call before was refused", "") == "the call before was refused"


@pytest.mark.parametrize("text", ["x > 3", ""])
def test_a_line_that_larger_tables_need_is_named_with_its_text_if_any(text: str) -> None:
    decision, needs = Decision("a.py", 3, text, ("true", "false")), "needs about 500 rows"
    never = _line(decision, (0, "true"), 0.0, 200, needs, fault=HALF_THE_NOISE)
    place = f"a.py:3 ({text or 'true'})"
    assert never.message.startswith(f"not reached: {place} needs about 500 rows")
    assert ("text" in never.fields) is bool(text)


def test_it_is_a_key_of_the_claim_and_an_option() -> None:
    claim = parse_claim({"mechanism": MECHANISM})
    assert claim.gate.redact is False
    assert claim.with_limits(None, None, redact=True).gate.redact is True
    kept = parse_claim({"mechanism": MECHANISM, "gate": {"redact": True}})
    assert kept.with_limits(None, None, redact=False).gate.redact is True
