"""An aggregator in sh and awk passes, and fails at half its noise."""

import json
import subprocess
import sys
import tomllib

import pytest
from runs import names_scale

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify

CLAIM = """
[mechanism]
name = "report-noisy-max"
noise = "exponential:10"
classes = 3
teachers = 50
[gate]
tolerance = 0.2
smallest_effect = 0.1
"""


# exponential noise in sh and awk: a seed of its own for every call, as awk's is the clock
SHELL = r"""
while IFS= read -r line; do
    case $line in
    *'"call": "aggregate"'*)
        printf '%s\n' "$line" | awk -v seed="$(od -An -N3 -tu4 /dev/urandom)" '
            BEGIN { srand(seed) }
            {
                split($0, part, /[][]/); classes = split(part[2], votes, ",")
                sub(/.*"size": /, ""); size = $0 + 0
                printf "{\"labels\": ["
                for (i = 0; i < size; i++) {
                    best = -1
                    for (j = 1; j <= classes; j++) {
                        noisy = votes[j] - SCALE * log(1 - rand())
                        if (best < 0 || noisy > highest) { best = j - 1; highest = noisy }
                    }
                    printf "%s%d", (i ? ", " : ""), best
                }
                print "]}"
            }' ;;
    *) echo '{"error": "unknown call"}' ;;
    esac
done
"""


@pytest.fixture
def shell_target(tmp_path):
    def write(scale):
        path = tmp_path / f"aggregate-{scale}.sh"
        path.write_text(SHELL.replace("SCALE", str(scale)))
        return f"exec:sh {path}"

    return write


@pytest.mark.slow("a pass of an aggregator that starts awk for every call")
def test_an_aggregator_in_shell_and_awk_exits_0(shell_target, tmp_path) -> None:
    """The protocol is of no language: no Python runs in this deployment."""
    (tmp_path / "claim.toml").write_text(CLAIM)
    command = [sys.executable, "-m", "dpassay.verifiers.cli", "verify", shell_target(10)]
    found = subprocess.run(
        [*command, "--claim", str(tmp_path / "claim.toml"), "--json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    report = json.loads(found.stdout)
    assert (found.returncode, report["verdict"]) == (0, "pass"), report["checks"]
    verdicts = {check["id"]: check["verdict"] for check in report["checks"]}
    assert verdicts["accountant-soundness"] == "not-applicable"


@pytest.mark.slow("over half a second")
def test_its_half_noise_fails(shell_target, opened) -> None:
    report = verify(opened(shell_target(5)), parse_claim(tomllib.loads(CLAIM)), seed=0)
    assert report.verdict is Verdict.FAIL
    failed = [check for check in report.checks if check.verdict is Verdict.FAIL]
    assert names_scale(failed[0].diagnosis, 0.5)
