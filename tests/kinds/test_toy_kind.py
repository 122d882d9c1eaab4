"""A kind that nothing knows goes through every command: what is of all kinds asks the claim.

Catches anything outside `kinds/` that takes labels and numbers for all that there is.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from http_server import Server
from kinds import toy_kind

from dpassay.verifiers import kinds
from dpassay.verifiers.cli import commands
from dpassay.verifiers.kinds import reading

CLAIM = '[mechanism]\nname = "coin"\nbias = 0.5\n'
CONFTEST = """
import sys
sys.path[:0] = {paths!r}
from dpassay.verifiers import kinds
import toy_kind
kinds.kinds = lambda: (toy_kind.KIND,)
"""


@pytest.fixture(autouse=True)
def _coins(monkeypatch):
    for module in (kinds, reading):
        monkeypatch.setattr(module, "kinds", lambda: (toy_kind.KIND,))


@pytest.fixture
def claim_file(tmp_path):
    path = tmp_path / "claim.toml"
    path.write_text(CLAIM)
    return str(path)


def coin(bias):
    """An HTTP target: so many heads of all flips."""
    rng = np.random.default_rng(5)

    def handle(handler):
        flips = (rng.random(handler.content["size"]) < bias).astype(int).tolist()
        body = json.dumps({"labels": flips}).encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return Server(handle)


def run(*words):
    return CliRunner().invoke(commands, list(words))


@pytest.mark.parametrize(("bias", "status", "verdict"), [(0.5, 0, "pass"), (0.8, 1, "fail")])
def test_verify_over_http(claim_file, tmp_path, bias, status, verdict) -> None:
    folder = tmp_path / "report"
    target = coin(bias)
    found = run("verify", target.url, "--claim", claim_file, "--report", str(folder))
    target.close()
    assert found.exit_code == status, found.output
    report = json.loads((folder / "report.json").read_text())
    assert report["verdict"] == verdict
    assert [check["id"] for check in report["checks"]] == ["input-contract", "bias"]
    assert report["claimed"] == "coin of bias 0.5"
    assert 'name="bias"' in (folder / "junit.xml").read_text()
    assert "coin of bias 0.5" in (folder / "index.html").read_text()
    diagnosed = {check["diagnosis"] for check in report["checks"]}
    assert diagnosed == ({None} if verdict == "pass" else {None, "another bias"})


def test_plan_reference_and_refusals(claim_file) -> None:
    assert "2,010 queries" in run("plan", "--claim", claim_file).output
    assert run("verify", "--claim", claim_file).exit_code == 0  # its reference
    refused = run("verify", "--claim", claim_file, "--histogram", "1,2")
    assert "no inputs" in refused.output
    assert refused.exit_code == 2


@pytest.mark.slow("over half a second")
def test_the_pytest_plugin_has_an_item_for_each_check(claim_file, tmp_path) -> None:
    here = Path(__file__).parent
    paths = [str(here), str(here.parent)]
    (tmp_path / "conftest.py").write_text(CONFTEST.format(paths=paths))
    words = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"]
    words += ["--dpassay-claim", claim_file, str(tmp_path)]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "dpassay::bias PASSED" in ran.stdout, ran.stdout + ran.stderr
    assert ran.returncode == 0
