"""Of what a run speaks: a deployment, or, where none was asked, the claim or our reference."""

import json
from xml.etree import ElementTree

import pytest
from claims import COARSE, SMALL, in_toml
from typed import typed

from dpassay.verifiers.findings.verdict import Subject, Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.targets import TargetError
from dpassay.verifiers.testing.shared_run import SharedRun

PRIVACY = {"delta": 1e-5, "queries": 100}
TOO_LITTLE = in_toml(mechanism=SMALL, gate=COARSE, privacy={"epsilon": 0.5, **PRIVACY})
ENOUGH = in_toml(mechanism=SMALL, gate=COARSE, privacy={"epsilon": 50.0, **PRIVACY})


@pytest.fixture
def verified(tmp_path, monkeypatch):
    """What `dpassay verify` says under a claim, and the folder of its report."""
    monkeypatch.chdir(tmp_path)

    def run(text, *more):
        (tmp_path / "claim.toml").write_text(text)
        found = typed("verify", *more, "--claim", "claim.toml", "--report", "out")
        return found, json.loads((tmp_path / "out" / "report.json").read_text())

    return run


@pytest.mark.slow("over half a second")
def test_a_refuted_arithmetic_is_of_the_claim_and_a_proof(verified, tmp_path) -> None:
    """Catches a fail of nobody's deployment, and an error rate that a proof does not have."""
    found, report = verified(TOO_LITTLE, "--max-queries", "300")
    assert (found.returncode, report["verdict"], report["subject"]) == (1, "fail", "claim")
    words = Subject.CLAIM.words
    assert words in found.stdout.splitlines()[0]
    assert f"{report['false_alarm']:g}" not in found.stdout.split("\n\n")[0]
    page = (tmp_path / "out" / "index.html").read_text()
    assert f"<title>FAIL: {words}" in page
    suite = ElementTree.parse(tmp_path / "out" / "junit.xml").getroot()[0]
    assert words in suite.get("name", "")


@pytest.mark.slow("over half a second")
def test_without_a_target_the_reference_is_what_is_judged(verified, tmp_path) -> None:
    """Catches a verdict on the labels of a deployment, where there is none."""
    found, report = verified(ENOUGH, "--max-queries", "300")
    assert (found.returncode, report["subject"]) == (3, "reference")
    words = Subject.REFERENCE.words
    assert words in found.stdout.splitlines()[0]
    assert f"<title>INCONCLUSIVE: {words}" in (tmp_path / "out" / "index.html").read_text()


@pytest.mark.slow("over half a second")
def test_a_claim_that_is_judged_alone_is_not_refuted(verified) -> None:
    found, report = verified(ENOUGH, "--check", "privacy-claim")
    assert (found.returncode, report["subject"]) == (0, "claim")


@pytest.mark.slow("over half a second")
def test_a_target_and_a_log_are_of_a_deployment(verified, tmp_path) -> None:
    """Catches a refuted claim of a deployment that is told as nobody's."""
    row = {"histogram": [10, 10, 10, 10], "label": 0, "time": "2026-03-01T12:00:00Z"}
    (tmp_path / "log.jsonl").write_text(f"{json.dumps(row)}\n" * 3)
    log = ("--log", "log.jsonl")
    source = "import numpy as np\n\n\ndef aggregate(histogram, size):\n"
    source += "    return (histogram + np.random.normal(0, 10, (size, 4))).argmax(1)\n"
    (tmp_path / "own.py").write_text(source)
    for asked in (log, ("own.py:aggregate", "--max-queries", "300")):
        found, report = verified(TOO_LITTLE, *asked)
        assert (found.returncode, report["subject"]) == (1, "deployment"), found.stderr
        assert not any(one.words in found.stdout for one in (Subject.CLAIM, Subject.REFERENCE))


@pytest.mark.parametrize("subject", [Subject.REFERENCE, Subject.CLAIM])
@pytest.mark.parametrize("verdict", [one for one in Verdict if one is not Verdict.NOT_APPLICABLE])
def test_no_verdict_speaks_of_a_deployment_where_none_was_asked(subject, verdict) -> None:
    said = subject.meaning(verdict, verdict.meaning)
    assert said.startswith(subject.words)
    assert Verdict.FAIL.meaning not in said
    assert Subject.DEPLOYMENT.meaning(verdict, verdict.meaning) == verdict.meaning


def test_a_claim_without_a_law_needs_a_target_and_says_so_in_a_line(tmp_path, monkeypatch) -> None:
    """Pairs and all, it ended in a traceback."""
    monkeypatch.chdir(tmp_path)
    text = '[mechanism]\nname = "any"\n[privacy]\nepsilon = 1.0\ndelta = 0\n'
    (tmp_path / "any.toml").write_text(text + "[[pairs]]\nhere = {n = 1}\nthere = {n = 2}\n")
    found = typed("verify", "--claim", "any.toml")
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert found.stderr.rstrip().endswith("[options-do-not-fit]")
    assert not found.stdout


def test_a_budget_target_that_is_not_there_is_told_before_anything_is_asked(
    tmp_path, monkeypatch
) -> None:
    """It was an error of the reference, after a whole run."""
    monkeypatch.chdir(tmp_path)
    gate = {**COARSE, "budget_target": "nowhere.py:limited"}
    text = in_toml(mechanism=SMALL, gate=gate, privacy={"epsilon": 50.0, **PRIVACY})
    (tmp_path / "claim.toml").write_text(text)
    found = typed("verify", "--claim", "claim.toml")
    assert (found.returncode, found.stdout) == (2, "")
    for words in ("budget_target", "nowhere.py", "[target-not-found]"):
        assert words in found.stderr


@pytest.mark.slow("over half a second")
def test_no_store_is_emptied_for_the_reference(tmp_path, monkeypatch) -> None:
    """The command is of a deployment that is not asked: catches one that is run all the same."""
    monkeypatch.chdir(tmp_path)
    text = in_toml(
        mechanism={**SMALL, "caching": True}, gate={**COARSE, "fresh_state": "touch emptied"}
    )
    (tmp_path / "claim.toml").write_text(text)
    found = typed("verify", "--claim", "claim.toml", "--check", "fresh-noise", "--seed", "1")
    assert (found.returncode, (tmp_path / "emptied").exists()) == (0, False), found.stdout


def test_a_shared_run_of_the_reference_empties_no_store_either(monkeypatch) -> None:
    """The items of pytest share a run: catches a rule that the command alone keeps."""
    gate = {**COARSE, "fresh_state": "touch emptied"}
    claim = parse_claim({"mechanism": {**SMALL, "caching": True}, "gate": gate})
    asked = []

    def kept(target, claim, **how):
        asked.append(claim.gate.fresh_state)
        raise TargetError("asked enough")

    monkeypatch.setattr("dpassay.verifiers.testing.shared_run.verify", kept)
    with pytest.raises(TargetError, match="asked enough"):
        SharedRun(None, claim, "claim.toml", None, None).report()
    assert asked == [None]
