"""SARIF as code scanning reads it: what stands where, under which rule, at which level."""

import json

import pytest

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.reporting.files import ReportFileError, SarifFile
from dpassay.verifiers.reporting.sarif import sarif

LEVEL = {Verdict.FAIL: "error", Verdict.ERROR: "error", Verdict.INCONCLUSIVE: "warning"}


def run_of(report, target=None, claim_file="claims/votes.toml"):
    found = json.loads(sarif(report, target, claim_file))
    assert found["version"] == "2.1.0"
    (run,) = found["runs"]
    return run


@pytest.mark.parametrize("kind", ["pass", "fail", "error", "inconclusive"])
def test_results_are_the_checks_that_found_something(reports, kind):
    """Catches a pass that is shown, and what only another's failure has cut short."""
    report = reports[kind]
    run = run_of(report)
    told = [check for check in report.checks if check.verdict in LEVEL and not check.cut_short]
    assert [result["level"] for result in run["results"][: len(told)]] == [
        LEVEL[check.verdict] for check in told
    ]
    assert len(run["results"]) == len(told) + len(report.notes)
    assert run["invocations"][0]["executionSuccessful"] is (report.verdict is not Verdict.ERROR)
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_a_python_target_is_where_it_is_mended(reports, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my votes.py").write_text(
        "import os\n\n\ndef aggregate():\n    pass\n\n\nsecond = 1\n"
    )

    def place(target, claim_file="claims/votes.toml"):
        (where,) = run_of(reports["fail"], target, claim_file)["results"][0]["locations"]
        found = where["physicalLocation"]
        return found["artifactLocation"]["uri"], found["region"]["startLine"]

    assert place("my votes.py:aggregate") == ("my%20votes.py", 4)
    assert place("my votes.py:second") == ("my%20votes.py", 8)
    assert place("my votes.py:elsewhere") == ("my%20votes.py", 1)
    assert place("http://127.0.0.1:1") == ("claims/votes.toml", 1)
    assert run_of(reports["fail"], None, None)["results"][0]["locations"] == []


def test_a_file_is_whole_or_not_there(reports, tmp_path):
    file = SarifFile(str(tmp_path / "found.sarif"), None, None)
    assert file.write(reports["fail"]) is None
    assert json.loads(file.path.read_text())["version"] == "2.1.0"
    assert [path.name for path in tmp_path.iterdir()] == ["found.sarif"]
    for wrong in ("", str(tmp_path), str(tmp_path / "none" / "found.sarif")):
        with pytest.raises(ReportFileError, match="expected a file in a folder that is there"):
            SarifFile(wrong, None, None)
