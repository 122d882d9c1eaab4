"""Deployments that release the keys of a thresholded histogram: the gate, its wagers, its power."""

import contextlib
import re
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from released_keys import LAW, NOISES, RNG, Noisy, claimed, correct, failed, judged, scaled

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget
from dpassay.verifiers.targets.process import ProcessTarget


@pytest.mark.parametrize(
    "noise",
    [
        pytest.param(
            n, marks=[] if n in (NOISES[0], NOISES[-1]) else pytest.mark.slow("whole runs")
        )
        for n in NOISES
    ],
)
@pytest.mark.quick_cases(1)
def test_a_correct_one_passes(noise: str) -> None:
    """A correct one fails with probability 1e-6 at most."""
    report = judged(correct(noise), claimed(noise))
    assert report.verdict is Verdict.PASS, [(c.id, c.message) for c in report.checks]
    assert {c.id for c in report.checks} > {"partition-release", "noise-law", "privacy-claim"}


@pytest.mark.parametrize("cells", [50, 100_000])
def test_a_call_never_asks_for_more_keys_than_memory_holds(cells: int) -> None:
    """Of 100,000 keys a call asked for as many releases, 10^10 keys at once."""
    plan = claimed(cells=cells).inputs(0)
    sizes = [size for _, size in islice(plan.calls(0), 200)]
    assert min(sizes) >= 1
    assert max(sizes) * cells <= 1 << 21


def test_a_correct_one_of_users_passes_in_calls_of_one() -> None:
    """Where a call may ask for one release alone, replies are gathered as they come."""
    more = 'unit = "user"\nmax_contributions = 3\n[gate]\n'
    claim = claimed(
        more=f"{more}largest_call = 1\nmax_queries = 8000\nsmallest_effect = 0.1\ntolerance = 0.2"
    )
    report = judged(correct("discrete-laplace:1"), claim)
    assert report.verdict is Verdict.PASS, [(c.id, c.message) for c in report.checks]


def shared(counts: Any, size: int) -> Any:
    """One draw for all keys."""
    return counts + LAW.sample(np.zeros(1), size, RNG)


def anew(counts: Any, size: int) -> Any:
    """The same noise in every call."""
    return LAW.sample(counts, size, np.random.default_rng(0))


def repeated(counts: Any, size: int) -> Any:
    """Every other release as the one before."""
    return np.repeat(LAW.sample(counts, (size + 1) // 2, RNG), 2, axis=0)[:size]


def once_per_call(counts: Any, size: int) -> Any:
    """One draw of every key's noise for all releases of a call."""
    return np.repeat(LAW.sample(counts, 1, RNG), size, axis=0)


def some_bare(counts: Any, size: int) -> Any:
    """Keys from the fiftieth on without noise."""
    found = LAW.sample(counts, size, RNG)
    found[:, 50:] = counts[50:]
    return found


AGAIN = pytest.mark.slow("other rates by the same check are wrong")


@pytest.mark.parametrize(
    ("noisy", "threshold", "check"),
    [
        pytest.param(scaled(0.5), 6.0, "partition-release", marks=AGAIN),
        (scaled(0.9), 6.0, "partition-release"),
        (scaled(1.1), 6.0, "partition-release"),
        (correct("discrete-laplace:1"), 5.0, "partition-release"),  # opendp #2922: an atom more
        pytest.param(
            correct("discrete-laplace:1"), 7.0, "partition-release", marks=AGAIN
        ),  # strictly above
        (some_bare, 6.0, "partition-release"),
        (shared, 6.0, "independence"),
        (anew, 6.0, "fresh-noise"),
        (repeated, 6.0, "fresh-noise"),
        (once_per_call, 6.0, "partition-release"),
    ],
)
@pytest.mark.quick_cases(2)
def test_a_broken_one_fails(noisy: Noisy, threshold: float, check: str) -> None:
    assert check in failed(judged(noisy, claimed(), threshold))


def test_an_empty_key_is_a_proof() -> None:
    """A single one refutes, whatever the evidence; it is told as such."""
    report = judged(correct("discrete-laplace:3"), claimed("discrete-laplace:3"), empty=True)
    found = next(check for check in report.checks if check.id == "partition-release")
    assert found.verdict is Verdict.FAIL
    assert (found.code, found.fields["count"]) == ("empty-partition-released", 0.0)


def test_a_pass_says_which_rate_of_empty_keys_would_have_shown() -> None:
    """A single one refutes, so that a rate r shows in n draws but for (1 - r)^n of runs."""
    report = judged(correct("discrete-laplace:1"), claimed())
    found = next(check for check in report.checks if check.id == "partition-release")
    told = re.search(r"none of ([0-9,]+)[^0-9]+(\S+) ", found.message)
    assert told is not None, found.message
    draws, rate = int(told[1].replace(",", "")), float(told[2])
    assert (1.0 - rate) ** draws == pytest.approx(0.01, rel=0.3)  # of two digits of the rate
    assert draws > 10_000


@pytest.mark.parametrize("reply", [[[{"key": 1}]], [[{"key": 9}]], [{"key": 1}], [[1]], "none"])
def test_a_reply_of_another_form_is_an_error(reply: Any) -> None:
    claim = claimed(cells=5)
    target = InProcessTarget(lambda counts, size: reply, release=claim.release)
    report = verify(target, claim, seed=1)
    assert report.verdict is Verdict.ERROR
    assert '{"key": x}' in report.checks[0].message


def test_a_count_beside_a_key_is_an_error(tmp_path: Path) -> None:
    """It may be exact, and was read over in silence; over a process too."""
    reply = [[{"key": 1, "count": 17}]]
    claim = claimed(cells=5)
    (tmp_path / "beside.py").write_text(
        f"def aggregate(counts, size):\n    return {reply} * size\n"
    )
    process = ProcessTarget.python(f"{tmp_path}/beside.py:aggregate", 60.0, release=claim.release)
    held = InProcessTarget(lambda counts, size: reply * size, release=claim.release)
    with contextlib.closing(process):
        for target in (process, held):
            report = verify(target, claim, seed=1)
            assert report.verdict is Verdict.ERROR
            said = report.checks[0].message
            assert "count beside" in said
            assert "place 0" in said
