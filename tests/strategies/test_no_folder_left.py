"""What draws with Hypothesis leaves no folder where a user's shell stands."""

import subprocess
import sys

DRAWS = """
from hypothesis import strategies as st
from dpassay.verifiers.strategies import drawn_votes

assert len(drawn_votes(3, 10, 10, 20, 1)) > 1
"""

OWN = """
from hypothesis import given, settings

# In CI Hypothesis keeps no examples unless it is asked to.
settings.load_profile("default")

@given(st.integers())
@settings(max_examples=5)
def fails(example):
    assert False

try:
    fails()
except AssertionError:
    pass
"""


def left_by(script, folder):
    """Names of what a script of the user, which Hypothesis reads, leaves in the folder."""
    (folder / "script.py").write_text(script)
    subprocess.run([sys.executable, "script.py"], cwd=folder, check=True, timeout=100)
    return sorted(file.name for file in folder.iterdir() if file.name != "script.py")


def test_draws_leave_no_folder(tmp_path) -> None:
    """Every run of labels left `.hypothesis`, with what Hypothesis had read of the script."""
    assert left_by(DRAWS, tmp_path) == []


def test_a_users_own_tests_keep_their_folder(tmp_path) -> None:
    """A folder that stays turned away would lose the examples that failed."""
    assert left_by(DRAWS + OWN, tmp_path) == [".hypothesis"]
