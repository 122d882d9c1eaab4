"""`[gate] source`: the Python source of what a server or a program runs, searched on a copy.

Without it a program's fault behind one condition passes, and a source that is not looked for beside
its claim, or taken for a Python target too, would be found here.
"""

import sys
from pathlib import Path
from typing import Any

import pytest

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.claims.open_target import open_claimed
from dpassay.verifiers.findings.report import CheckResult, Report
from dpassay.verifiers.kinds.labels.claim import LabelsClaim
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.steering.candidates import LabelSource
from dpassay.verifiers.kinds.reading import parse_claim, read_claim
from dpassay.verifiers.paths.background import searched_spec
from dpassay.verifiers.paths.left_out import LeftOut
from dpassay.verifiers.paths.search import Search
from dpassay.verifiers.paths.shadow import Shadow
from dpassay.verifiers.run.request import RunRequest
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import Selection
from dpassay.verifiers.targets import InProcessTarget, TargetError
from dpassay.verifiers.targets.labels import LABELS
from dpassay.verifiers.targets.spec import look_up_name

MECHANISM = {"name": "gnmax", "noise": "gaussian:40", "classes": 10, "teachers": 250}

PROGRAM = """
import json
import sys

import numpy as np

rng = np.random.default_rng()


def aggregate(histogram, size):
    h = np.asarray(histogram)
    scale = {scale} if h[3] == 61 else 40.0
    return (h + rng.normal(0, scale, (size, h.size))).argmax(-1)


if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        reply = {{"error": "no such call"}}
        if request["call"] == "aggregate":
            labels = aggregate(request["histogram"], request["size"])
            reply = {{"labels": labels.tolist()}}
        print(json.dumps(reply), flush=True)
"""


def _claim(**gate: Any) -> LabelsClaim:
    claim = parse_claim({"mechanism": MECHANISM, "gate": gate})
    assert isinstance(claim, LabelsClaim)
    return claim


def _of(report: Report) -> CheckResult:
    return next(one for one in report.checks if one.id == "class-probabilities")


def _ran(folder: Path, scale: float, source: str, text: str | None = None) -> Report:
    program = folder / "program.py"
    program.write_text(PROGRAM.format(scale=scale))
    (folder / "other.py").write_text(text or "")
    claim = _claim(source=str(folder / source))
    target = open_claimed(f"exec:{sys.executable} {program}", claim)
    try:
        return verify(target, claim, seed=11)
    finally:
        target.close()


@pytest.mark.slow("a whole run")
def test_a_program_with_half_the_noise_behind_a_condition_fails_at_the_line(tmp_path: Path) -> None:
    report = _ran(tmp_path, 20.0, "program.py:aggregate")
    assert report.verdict == "fail"
    assert "program.py:12 (h[3] == 61: true)" in _of(report).message
    assert report.queries < 20_000


@pytest.mark.slow("a whole run")
def test_a_stale_source_accuses_nobody_and_its_lines_are_asked(tmp_path: Path) -> None:
    """The program has no such condition any more, its named source still has it."""
    stale = PROGRAM.format(scale=20.0)
    report = _ran(tmp_path, 40.0, "other.py:aggregate", stale)
    assert report.verdict == "pass"
    assert "other.py:12 (h[3] == 61: true)" in _of(report).message


@pytest.mark.slow("a whole run")
def test_a_source_that_cannot_be_called_is_said_and_the_run_goes_on(tmp_path: Path) -> None:
    report = _ran(tmp_path, 40.0, "other.py:one", "def one(histogram):\n    return 1\n")
    assert report.verdict == "pass"
    told = [note.message for note in report.notes if note.code == "paths-left-out"]
    assert len(told) == 1
    assert "were not counted: its copy answered no call of the plan" in told[0]
    assert "positional argument" in told[0]


def test_a_copy_that_answers_nothing_is_left_out_with_its_error(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def one(histogram):\n    return 1\n")
    claim = _claim()
    asker = LabelSource(make_plan(claim, 3, True, ()), 3, 27.0, other_totals=True)
    with (
        Shadow(f"{tmp_path / 'one.py'}:one", LABELS) as shadow,
        pytest.raises(LeftOut, match=r"answered no call of the plan.*positional argument"),
    ):
        Search(shadow, asker).run()


def test_it_is_found_beside_its_claim(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("")
    text = "".join(f"{key} = {value!r}\n" for key, value in MECHANISM.items())
    file = tmp_path / "claim.toml"
    file.write_text(f'[mechanism]\n{text}[gate]\nsource = "model.py:label"\n')
    claim = read_claim(file)
    assert claim.gate.source_spec == f"{tmp_path / 'model.py'}:label"
    assert claim.with_limits(1_000, None).gate.source_spec == claim.gate.source_spec
    assert claim.gate.model_dump()["source"] == "model.py:label"


@pytest.mark.parametrize(
    "source", ["http://localhost:80", "exec:python child.py:label", "model.py", "model.py:a b", ""]
)
def test_what_is_no_python_spec_is_refused_in_one_line(source: str) -> None:
    with pytest.raises(ClaimError, match=r"gate\.source: .*expected path/to/file\.py:attr") as told:
        _claim(source=source)
    assert len(told.value.mistakes) == 1


def test_a_python_target_has_its_own_source(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def aggregate(h, size):\n    return [0] * size\n")
    spec = f"{tmp_path / 'a.py'}:aggregate"
    with pytest.raises(TargetError, match="whose own source is looked at") as told:
        open_claimed(spec, _claim(source=spec))
    assert told.value.code == "target-option-wrong"
    assert "\n" not in str(told.value)


def test_a_source_that_is_not_there_ends_before_anything_is_started(tmp_path: Path) -> None:
    made = tmp_path / "made"
    claim = _claim(source=str(tmp_path / "lost.py:label"))
    with pytest.raises(TargetError, match=r"source in \[gate\]: .*no file .*lost\.py") as told:
        open_claimed(f"exec:touch {made}", claim)
    assert told.value.code == "target-not-found"
    assert not made.exists()


NAMES = """
from json import dumps as written
import os.path
if True:
    def answer(histogram, size): pass
try:
    first, (second, *rest) = 1, (2, 3)
except ValueError as wrong:
    raise
class Model:
    def inner(self): pass
def start():
    global later
    later = hidden = 1
match first:
    case [one, *others]: pass
"""


@pytest.mark.parametrize(
    "name",
    ["written", "os", "answer", "first", "rest", "Model", "Model.any", "later", "one", "others"],
)
def test_a_name_that_a_file_binds_in_any_way_is_not_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.py").write_text(NAMES)
    look_up_name(f"{tmp_path / 'a.py'}:{name}")


@pytest.mark.parametrize("name", ["inner", "hidden", "dumps", "anser"])
def test_a_name_that_is_not_there_ends_before_anything_is_started(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "a.py").write_text(NAMES)
    made = tmp_path / "made"
    claim = _claim(source=f"{tmp_path / 'a.py'}:{name}")
    with pytest.raises(TargetError, match=rf"source in \[gate\]: .*no attribute '{name}'") as told:
        open_claimed(f"exec:touch {made}", claim)
    assert ("(did you mean answer?)" in str(told.value)) is (name == "anser")
    assert told.value.code == "target-not-found"
    assert "\n" not in str(told.value)
    assert not made.exists()


@pytest.mark.parametrize(
    "text", ["from os import *", "globals()['x'] = 1", "def __getattr__(name): pass", "def f(:"]
)
def test_a_file_whose_names_only_running_it_tells_is_left_to_the_copy(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "a.py").write_text(text)
    look_up_name(f"{tmp_path / 'a.py'}:label")


@pytest.mark.parametrize(
    ("gate", "expected"),
    [
        ({"source": "model.py:label"}, "model.py:label"),
        ({"source": "model.py:label", "restart": "true"}, "model.py:label"),
        ({"source": "model.py:label", "paths": False}, None),
        ({}, None),
    ],
)
def test_it_is_what_is_searched(gate: dict[str, Any], expected: str | None) -> None:
    target = InProcessTarget(lambda _histogram, size: [0] * size)
    claim = _claim(**gate)
    request = RunRequest(claim, 1, (), None, Selection(), "diagnose", None, planned=False)
    assert searched_spec(target, claim, request) == expected
    stopping = RunRequest(claim, 1, (), None, Selection(), "stop", None, planned=False)
    assert searched_spec(target, claim, stopping) is None
