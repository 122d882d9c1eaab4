"""Causes of labels: a screening that is tried again, a share of answers, the first of a start."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.verifiers.findings.report import CheckResult, Report, Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget, open_target
from zoo.claims import CONFIDENT, GNMAX, SHARP_THRESHOLD, SIGMA

Draw = Callable[[np.ndarray, int, np.random.Generator], Any]


def judged(claim: Any, draw: Draw, seed: int = 1) -> Report:
    rng = np.random.default_rng(seed)
    parsed = parse_claim(claim)
    target = InProcessTarget(lambda votes, size: draw(votes, size, rng), release=parsed.release)
    return verify(target, parsed, seed=seed)


def failed(report: Report) -> list[CheckResult]:
    return [check for check in report.checks if check.verdict is Verdict.FAIL]


def answers(votes: np.ndarray, size: int, rng: np.random.Generator, scale: float = SIGMA) -> Any:
    return (votes + rng.normal(0, scale, (size, votes.size))).argmax(1)


def screening(claim: Any, *, tries: int = 1, threshold: float | None = None) -> Draw:
    """Each refused query is screened again, so often."""
    table = claim["mechanism"]
    noise, sigma = (float(table[key].split(":")[1]) for key in ("threshold_noise", "noise"))
    limit = table["threshold"] if threshold is None else threshold

    def draw(votes: np.ndarray, size: int, rng: np.random.Generator) -> Any:
        noisy = votes.max() + rng.normal(0, noise, (tries, size))
        return np.where((noisy >= limit).any(0), answers(votes, size, rng, sigma), -1)

    return draw


@pytest.mark.slow("whole runs; others are")
@pytest.mark.parametrize("claim", [CONFIDENT, SHARP_THRESHOLD])
@pytest.mark.parametrize("tries", [2, 3])
def test_a_second_try_is_no_lower_threshold(claim: Any, tries: int) -> None:
    """It was told as a threshold of about 130."""
    for found in failed(judged(claim, screening(claim, tries=tries))):
        assert (found.code, found.fields["tries"]) == ("refusals-tried-again", tries), found


FEW = CONFIDENT["mechanism"] | {
    "threshold": 15.0,
    "threshold_noise": "gaussian:1",
    "noise": "gaussian:2",
    "teachers": 20,
}
MANY = CONFIDENT["mechanism"] | {"threshold": 200.0, "threshold_noise": "gaussian:10"}


@pytest.mark.slow("whole runs; others are")
@pytest.mark.parametrize(
    ("claim", "threshold"),
    [
        (CONFIDENT, 2.0),
        (CONFIDENT, 120.0),
        ({"mechanism": MANY}, 90.0),
        ({"mechanism": FEW}, 2.0),
        (SHARP_THRESHOLD, 80.0),
    ],
)
def test_a_lower_threshold_is_told_however_far(claim: Any, threshold: float) -> None:
    """Catches a search that ends at three scales of the noise below the claimed one."""
    scale = float(claim["mechanism"]["threshold_noise"].split(":")[1])
    for found in failed(judged(claim, screening(claim, threshold=threshold))):
        assert found.code == "threshold-too-low", found
        assert found.fields["threshold"] == pytest.approx(threshold, abs=0.3 * scale)


def bare_at_times(share: float) -> Draw:
    def draw(votes: np.ndarray, size: int, rng: np.random.Generator) -> Any:
        return np.where(rng.random(size) < share, votes.argmax(), answers(votes, size, rng))

    return draw


def uniform_at_times(share: float) -> Draw:
    def draw(votes: np.ndarray, size: int, rng: np.random.Generator) -> Any:
        any_label = rng.integers(0, votes.size, size)
        return np.where(rng.random(size) < share, any_label, answers(votes, size, rng))

    return draw


@pytest.mark.slow("whole runs; others are")
@pytest.mark.parametrize("share", [0.2, 1 / 3, 0.5])
@pytest.mark.parametrize(
    ("draw", "code"),
    [(bare_at_times, "noise-missing-at-times"), (uniform_at_times, "votes-ignored-at-times")],
)
def test_a_share_of_answers_is_told_as_about_that(share: float, draw: Any, code: str) -> None:
    """Nothing fitted, or another scale did.

    To one digit, half a tenth, beside what some hundred labels leave open, as much.
    """
    found = failed(judged(GNMAX, draw(share)))[0]
    assert found.code == code, found
    assert found.fields["share"] == pytest.approx(share, abs=0.1)


@pytest.mark.slow("whole runs; others are")
@pytest.mark.parametrize("distance", [1, 7])
def test_a_third_of_copies_is_no_half(distance: int) -> None:
    """It was told as nearer 50 % than all."""
    past: dict[bytes, list[int]] = {}

    def draw(votes: np.ndarray, size: int, rng: np.random.Generator) -> Any:
        labels, before = answers(votes, size, rng), past.setdefault(votes.tobytes(), [])
        for at in range(size):
            if len(before) >= distance and rng.random() < 1 / 3:
                labels[at] = before[-distance]
            before.append(int(labels[at]))
        return labels

    found = next(one for one in failed(judged(GNMAX, draw)) if one.id == "fresh-noise")
    assert (found.code, found.fields["distance"]) == ("noise-reused", distance)
    assert found.fields["share"] == pytest.approx(1 / 3, abs=0.08)


PROCESS = """
import pathlib

import numpy as np

rng, asked = np.random.default_rng(SEED), 0
mark = pathlib.Path(__file__).with_suffix(".started")
first = ANSWERS if mark.exists() or not LATER else 0
mark.touch()


def sample(votes, size):
    global asked
    votes = np.asarray(votes)
    labels = (votes + rng.normal(0, 40.0, (size, votes.size))).argmax(1)
    labels[: max(0, first - asked)] = votes.argmax()
    asked += size
    return labels
"""


@pytest.mark.slow("whole runs; others are")
@pytest.mark.parametrize("later", [False, True])
def test_bare_answers_after_a_start(later: bool, tmp_path: Path) -> None:
    """It was told as a late onset, "from about query 190,000 on", or no known fault fitted."""
    target = tmp_path / "process.py"
    text = PROCESS.replace("ANSWERS", "200").replace("LATER", str(later)).replace("SEED", "None")
    target.write_text(text)
    opened = open_target(f"{target}:sample", 30.0, None)
    try:
        found = failed(verify(opened, parse_claim(GNMAX), seed=1))
    finally:
        opened.close()
    assert found[0].code == "noise-missing-after-start", found
    assert found[0].fields["first"] is not later
