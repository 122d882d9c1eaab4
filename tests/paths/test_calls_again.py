"""The calls of a run of keys, outputs, tallies and batches, made again on a copy that is counted.

Nothing is searched there. Catches a run that makes no calls again, one that leaves some inputs or
outcomes out and tells of what was taken, one that weighs rare outcomes as if they were common, and
one that asks the judged target once more.
"""

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dpassay.verifiers.claims.open_target import in_process, open_claimed
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.batches.registry import CHECKS as BATCH_CHECKS
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.paths.calls_again import MOST_CALLS, CallsAgain
from dpassay.verifiers.run.outcome import RunOutcome
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.run.state import RunState
from dpassay.verifiers.targets import InProcessTarget, PacedTarget
from dpassay.verifiers.targets.anything import AnyRelease
from dpassay.verifiers.targets.spec import load

COARSE = "[gate]\ntolerance = 0.4\nsmallest_effect = 0.2\n"
CLAIMS = {
    "keys": '[mechanism]\nname = "thresholded-histogram"\nnoise = "discrete-laplace:1"\n'
    'adjacency = "add-remove"\ncells = 40\nthreshold = 6\n' + COARSE,
    "outputs": '[mechanism]\nname = "any"\ncaching = false\n[privacy]\nepsilon = 1.0\n'
    "delta = 1e-6\n[[pairs]]\nhere = [1]\nthere = [1, 2]\n",
    "tallies": '[mechanism]\nname = "secure-tally"\nnoise = "discrete-laplace:2;sum=1"\n'
    'adjacency = "add-remove"\nparties = 4\nlower = 0\nupper = 5\ndimensions = 20\n'
    "modulus = 4096\n" + COARSE,
    "batches": '[mechanism]\nname = "batches"\nsampling = "poisson:0.1"\nrecords = 200\n',
}
QUERIES = {"keys": None, "outputs": 400, "tallies": None, "batches": 300}

TOP = """
import numpy as np

rng = np.random.default_rng()
step = 0


def noise(scale, shape):
    rate = 1 - np.exp(-1 / scale)
    return rng.geometric(rate, shape) - rng.geometric(rate, shape)


"""
TARGETS = {
    "keys": """def aggregate(counts, size):
    scale = {factor} if {condition} else 1.0
    noisy = counts + noise(scale, (size, counts.size))
    return [[{{"key": int(k)}} for k in np.flatnonzero((row >= 6) * counts)] for row in noisy]
""",
    "outputs": """def aggregate(values, size):
    scale = {factor} if {condition} else 1.0
    return [float(len(values) + rng.laplace(0, scale))]
""",
    "tallies": """def aggregate(values, size):
    held, leaves = values
    scale = 2 * {factor} if {condition} else 2.0
    stays = (leaves == 0) + (leaves == 3)
    if stays.sum() < 3:
        raise ValueError("fewer than the quorum")
    return [(stays @ held + noise(scale, 20)).tolist() for _ in range(size)]
""",
    "batches": """def aggregate():
    global step
    step += 1
    rate = {factor} if {condition} else 0.1
    return np.flatnonzero(rng.random(200) < rate)
""",
}
NEVER = {
    "keys": "counts.sum() == 31_337",
    "outputs": "len(values) == 7",
    "tallies": "held.max() == 31_337",
    "batches": "step == 31_337",
}
"""Of which no call is true."""
OFTEN = {
    "keys": "size > 500",
    "outputs": "len(values) > 1",
    "tallies": "size > 1",
    "batches": "step > 250",
}
"""True and false in enough calls; the step counts the calls before, in one process."""
RIGHT = {"keys": 1.0, "outputs": 1.0, "tallies": 1.0, "batches": 0.1}
LINE = {
    kind: 1 + (TOP + text).split("{condition}")[0].count("\n") for kind, text in TARGETS.items()
}
"""Of the condition."""


def _target(folder: Path, kind: str, condition: str, factor: float, at_call: str = "") -> Path:
    """A file whose `aggregate` has another scale or rate, `factor` times, where a condition holds.

    at_call: a statement at the begin of each call.
    """
    first, *rest = TARGETS[kind].format(condition=condition, factor=factor).split("\n")
    file = folder / "target.py"
    file.write_text(TOP + "\n".join([first, *([f"    {at_call}"] if at_call else []), *rest]))
    return file


def _run(file: Path, kind: str, gate: str = "", **how: Any) -> Report:
    text = CLAIMS[kind] + ("" if "[gate]" in CLAIMS[kind] else "[gate]\n") + gate
    claim = parse_claim(tomllib.loads(text))
    target = open_claimed(f"{file}:aggregate", claim)
    try:
        return verify(target, claim, seed=5, **{"queries": QUERIES[kind], **how})
    finally:
        target.close()


def _of_paths(report: Report) -> list[str]:
    return [note.message for note in report.notes if note.code.startswith("path")]


def _said(report: Report) -> list[str]:
    """What passes say of decisions that were counted."""
    return [one.message for one in report.checks if "counted on a copy" in one.message]


SECONDS = pytest.mark.slow("a whole run of each")
KINDS = [pytest.param(kind, marks=[SECONDS]) for kind in TARGETS]


@pytest.mark.parametrize("kind", KINDS)
def test_a_branch_that_no_call_took_is_told_with_its_line(tmp_path: Path, kind: str) -> None:
    """The fault behind it passes."""
    report = _run(_target(tmp_path, kind, NEVER[kind], 0.01), kind)
    assert report.verdict is Verdict.PASS, report.checks
    (line,) = _of_paths(report)
    assert line.startswith(f"not exercised: target.py:{LINE[kind]} ({NEVER[kind]})")
    (said,) = _said(report)
    assert "counted on a copy (audit hook" in said


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_correct_target_whose_branches_are_all_taken_nothing_is_told(
    tmp_path: Path, kind: str
) -> None:
    """Calls without those before, or few of them, would not reach the branch of the sampler."""
    report = _run(_target(tmp_path, kind, OFTEN[kind], RIGHT[kind]), kind)
    assert report.verdict is Verdict.PASS, report.checks
    assert _of_paths(report) == []
    assert len(_said(report)) == 1


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize(
    ("gate", "told"),
    [
        ("paths = false", ()),
        ("restart = 'true'", ("the claim names restart",)),
        ("restart = 'true'\npaths = true", ("not exercised: target.py:16",)),
        ("fail_on = ['path-never']", ("not exercised: target.py:16",)),
    ],
)
def test_the_claim_says_whether_decisions_are_counted(
    tmp_path: Path, gate: str, told: tuple[str, ...]
) -> None:
    report = _run(_target(tmp_path, "batches", NEVER["batches"], 1.0), "batches", gate)
    lines = _of_paths(report)
    assert len(lines) == len(told)
    assert all(words in line for words, line in zip(told, lines, strict=True))
    assert len(_said(report)) == ("not exercised" in "".join(told))


@pytest.mark.slow("whole runs")
def test_a_run_that_stops_or_is_partial_or_has_an_object_counts_nothing(tmp_path: Path) -> None:
    file = _target(tmp_path, "batches", NEVER["batches"], 1.0)
    some = select(["batch-size"], of=BATCH_CHECKS.ids)
    for how in ({"after_failure": "stop"}, {"of_reference": True}, {"selection": some}):
        report = _run(file, "batches", **how)
        assert _of_paths(report) + _said(report) == [], how
    claim = parse_claim(tomllib.loads(CLAIMS["batches"]))
    handed = in_process(load(f"{file}:aggregate"), claim)
    report = verify(handed, claim, seed=5, queries=QUERIES["batches"])
    assert _of_paths(report) + _said(report) == []


@pytest.mark.slow("a whole run")
def test_the_judged_target_is_asked_nothing_more(tmp_path: Path) -> None:
    """A file beside the target has a line of each call: the copy writes its own."""
    log = "open(__file__ + '.log', 'a').write('x')"
    file = _target(tmp_path, "outputs", NEVER["outputs"], 0.01, log)
    report = _run(file, "outputs")
    calls = len((tmp_path / "target.py.log").read_text())
    assert f"by the {calls:,} calls of the run" in _said(report)[0]
    assert len(_of_paths(report)) == 1


@pytest.mark.slow("a whole run")
def test_a_target_that_the_copy_may_not_import_is_told_in_one_line(tmp_path: Path) -> None:
    file = _target(tmp_path, "outputs", NEVER["outputs"], 0.01)
    outside = tmp_path.parent / "outside.log"
    file.write_text(f"open({str(outside)!r}, 'a').write('x')\n{file.read_text()}")
    uncounted = _run(file, "outputs", "paths = false")
    written = len(outside.read_text())
    report = _run(file, "outputs")
    assert report.verdict is uncounted.verdict is Verdict.PASS
    (line,) = _of_paths(report)
    assert "the decisions in the target's code were not counted: its copy was ended at open" in line
    assert len(outside.read_text()) == 2 * written


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize(("every", "lines"), [(8, 1), (2, 0)])
def test_an_outcome_of_few_replies_is_told_and_one_of_half_of_them_is_not(
    tmp_path: Path, every: int, lines: int
) -> None:
    """A pass of 1,000 draws is sure of what is in 0.23 of an input's replies, and says so."""
    file = _target(tmp_path, "outputs", f"step % {every} == 1", 1.0, COUNTS)
    report = _run(file, "outputs", queries=1_300)
    assert any("in 0.2" in one for one in _said(report))
    told = _of_paths(report)
    assert len(told) == lines
    for line in told:
        assert line.startswith(f"hardly tested: target.py:{LINE['outputs'] + 1} (step % 8 == 1)")
        assert line.endswith("which would not show a reply that gives its input away")


COUNTS = "global step; step += 1"


def _heard(calls: list[tuple[Any, int]]) -> CallsAgain:
    """What makes these calls again."""

    def answer(values: Any, size: int) -> list[int]:
        return [0] * size

    target = PacedTarget(PacedTarget(InProcessTarget(answer, release=AnyRelease()), 30.0), 30.0)
    state = RunState(target, None, RunOutcome(), None)
    again = CallsAgain(state, "target.py:aggregate", "no-check", together=50)
    for values, size in calls:
        target.ask_whole(values, size)
    return again


def test_of_many_calls_each_input_and_size_is_made_and_all_answers_are_stood_for() -> None:
    """By the first ones alone the rare input, which comes last, would count as never asked."""
    common, other, rare = [1], [2], [3]
    calls = [(common, 1), (other, 1), (common, 300)] * 4_000 + [(rare, 1)] * 3
    again = list(_heard(calls).planned())
    made = [call for part in again for call in part.calls]
    executed = sum(1 + size // 256 for _, size in made)
    assert 0.99 * MOST_CALLS <= executed <= MOST_CALLS
    assert (
        Counter(size for _, size in made if _ is common)[300] == Counter(map(str, made))["([2], 1)"]
    )
    assert sum(values is rare for values, _ in made) == 3
    answers = sum(sum(part.answers) for part in again)
    assert answers == pytest.approx(sum(size for _, size in calls))
    assert len({part.noise for part in again}) == len(again)  # or all draw the same noise
    assert all(len(part.calls) <= 50 for part in again)


def test_each_call_to_the_target_is_heard_once_however_it_is_split() -> None:
    """Paced twice, as of a claim with `largest_call`, a call would be heard twice."""
    heard = list[int]()
    inner = PacedTarget(
        InProcessTarget(lambda values, size: [0] * size, release=AnyRelease()),
        30.0,
        4,
        AnyRelease(),
    )
    target = PacedTarget(inner, 30.0, 10, AnyRelease())
    target.listen(lambda values, size: heard.append(size))
    target.ask([1], 10)
    assert sum(heard) == 10
    assert max(heard) <= 4
