"""`verify --compare`: the first labels against those that an earlier report opens with."""

import json
import re

import pytest
from claims import SMALL
from runs import claimed, drawing_with
from typed import assert_misuse, typed

from dpassay.verifiers.run.run import verify

COARSE = {"tolerance": 0.5, "smallest_effect": 0.3, "false_alarm": 1e-3}

TARGETS = """
import numpy as np

def fixed(seed):
    rng = np.random.default_rng(seed)
    return lambda histogram, size: (histogram + rng.normal(0, 10, (size, 4))).argmax(1)

seven, new = fixed(7), fixed(None)
"""


@pytest.fixture
def verified(tmp_path, monkeypatch):
    """Runs `dpassay verify` on one of TARGETS, by its name."""
    module = tmp_path / "lives_of_tests.py"
    module.write_text(TARGETS)
    (tmp_path / "claim.toml").write_text(
        "[mechanism]\n"
        + "".join(f"{key} = {json.dumps(value)}\n" for key, value in SMALL.items())
        + "[gate]\nmax_queries = 100\ntolerance = 0.5\nsmallest_effect = 0.3\n"
    )
    monkeypatch.chdir(tmp_path)
    return lambda name, *more: typed("verify", f"{module}:{name}", "--claim", "claim.toml", *more)


@pytest.mark.slow("over half a second")
def test_a_fixed_seed_shows_against_an_earlier_report(verified) -> None:
    """Within the first calls: no restart is needed, and the report may be named by its folder."""
    alone = ("--check", "fresh-noise")
    for name, status, report in (("seven", 1, "seven"), ("new", 3, "new/report.json")):
        assert verified(name, "--report", name, "--seed", "1", *alone).returncode == 3
        found = verified(name, "--compare", report, "--json", "--seed", "2", *alone)
        assert found.returncode == status, found.stderr
        told = json.loads(found.stdout)
        assert sum(told["opening"]["histogram"]) == 40
        assert len(told["opening"]["labels"]) == 32
        fresh = next(check for check in told["checks"] if check["id"] == "fresh-noise")
        if status == 1:
            assert "earlier report" in fresh["message"]
            assert f"--compare {report}" in fresh["reproduce"]
        assert not any("not restarted" in warning for warning in told["warnings"])
    head = verified("new", "--seed", "2").stdout.partition("\n\n")[0]
    assert re.search(r"warning: .*not restarted", head)  # its budget ends before


@pytest.fixture(scope="module")
def earlier():
    """The report of a run, as its file holds it."""
    made = claimed("gaussian:10", classes=4, teachers=40, **COARSE, max_queries=100)
    return json.dumps(verify(drawing_with("gaussian:10", seed=1), made, seed=0).public())


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r.pop("opening"), "the report has no opening"),
        (lambda r: r.update(opening=None), "the report has no opening"),
        (lambda r: r["claim"]["mechanism"].update(noise="gaussian:9"), "mechanism.noise is gauss"),
        (
            lambda r: r["claim"]["mechanism"].update(threshold=3),
            "mechanism.threshold is 3, here No",
        ),
        (lambda r: r["opening"].update(histogram=[40, 0, 0, 0]), "opens with [40, 0, 0, 0]"),
        (lambda r: r["opening"].update(labels=[0, 4]), "expected labels from 0 to 3"),
        (lambda r: r["opening"].update(labels=[True]), "expected labels from 0 to 3"),
        (lambda r: r["opening"].update(labels=[]), "expected labels from 0 to 3"),
        (lambda r: r.update(opening=[1]), "opens with [1]"),
        (lambda r: r.pop("claim"), "expected the report.json of a dpassay verify"),
    ],
)
def test_what_cannot_be_compared_is_one_line(change, words, verified, tmp_path, earlier) -> None:
    report = json.loads(earlier)
    change(report)
    (tmp_path / "earlier.json").write_text(json.dumps(report))
    assert_misuse(verified("new", "--compare", "earlier.json"), words)
