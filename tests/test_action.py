"""The GitHub Action: its inputs are declared, reach the shell as variables, and its step works."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
ACTION = (ROOT / "action.yml").read_text()

CLAIM = """
[mechanism]
name = "gnmax"
noise = "gaussian:40"
classes = 10
teachers = 250
"""


def test_inputs_are_declared_and_never_pasted_into_a_script():
    declared = set(re.findall(r"^  (\w[\w-]*):\n    description", ACTION, re.MULTILINE))
    used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", ACTION))
    assert used <= declared
    assert used == {"target", "claim", "report", "python-version"}
    for script in re.findall(r"^ +run: (.*)$", ACTION, re.MULTILINE):
        assert "${{" not in script


def test_the_step_fails_for_half_the_noise_and_keeps_the_report(tmp_path):
    """A hostile name of the folder stays a name."""
    (tmp_path / "claim.toml").write_text(CLAIM)
    step = next(s for s in re.findall(r"^ +run: (.*)$", ACTION, re.MULTILINE) if "verify" in s)
    folder = "report; touch broken"
    values = {
        "TARGET": f"{ROOT}/tests/targets.py:half_noise",
        "CLAIM": "claim.toml",
        "REPORT": folder,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    found = subprocess.run(
        ["bash", "-e", "-c", step],
        cwd=tmp_path,
        env=os.environ | values,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert found.returncode == 1, found.stderr
    assert {file.name for file in (tmp_path / folder).iterdir()} == {
        "index.html",
        "junit.xml",
        "report.json",
    }
    assert not (tmp_path / "broken").exists()
