"""A release that is NaN or infinity, once in hundreds, is told as what it is."""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import COUNT, GRADIENT

from dpassay.reference.numbers import sample
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.claims.open_target import open_claimed
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget, TargetError

AFTER = 500


def judged(bad: float) -> Report:
    claim, seen = claimed(COUNT), 0
    rng = np.random.default_rng(0)

    def aggregate(values: Any, size: int) -> Any:
        nonlocal seen
        released = sample(claim.mechanism.aggregation, values, size, rng)
        if seen <= AFTER < seen + size:
            released[-1] = bad
        seen += size
        return released

    target = InProcessTarget(aggregate, release=claim.release)
    return verify(target, claim, seed=1)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_it_breaks_the_contract(bad: float) -> None:
    """It was told as a rounding, beside a passing contract and numpy's warnings."""
    report = judged(bad)
    assert report.verdict is Verdict.ERROR
    contract = next(check for check in report.checks if check.id == "input-contract")
    assert contract.verdict is Verdict.ERROR
    assert f"released {bad} at place " in contract.message
    assert "coordinate 0" in contract.message
    assert contract.message.endswith("finite numbers")
    assert not any("e-value" in check.message for check in report.checks)


@pytest.mark.slow("over half a second")
def test_one_that_stops_answering_is_told_with_its_call() -> None:
    """The whole message was "no more"."""
    claim, left = claimed(COUNT), AFTER
    rng = np.random.default_rng(0)

    def aggregate(values: Any, size: int) -> Any:
        nonlocal left
        left -= size
        if left < 0:
            raise ValueError("no more")
        return sample(claim.mechanism.aggregation, values, size, rng)

    report = verify(InProcessTarget(aggregate, release=claim.release), claim, seed=1)
    contract = next(check for check in report.checks if check.id == "input-contract")
    assert contract.verdict is Verdict.ERROR
    assert re.match(r"aggregate\(\[\d+\], size=\d+\) ", contract.message)
    assert "answered before" in contract.message
    assert contract.message.endswith(": no more")


GRADIENT_SHAPES = GRADIENT.replace("shapes = [[4, 3], [3]]", "shapes = {}")
BOTH = 'name = "noisy-sum"\nnoise = "laplace:2"\nadjacency = "add-remove"\ndimensions = 3\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            BOTH + "lower = 0.0\nupper = 1.0\nclip_norm = 2.0",
            "lower = 0, upper = 1, clip_norm = 2: expected lower and upper, or a norm, not both",
        ),
        (
            GRADIENT_SHAPES.format("[4, 3]"),
            "mechanism.shapes = [4, 3]: expected a list of lists of whole numbers",
        ),
        (GRADIENT_SHAPES.format('"4x3"'), "mechanism.shapes: '4x3': expected a list of lists"),
        (GRADIENT_SHAPES.format("[[4.0]]"), "mechanism.shapes = [[4.0]]: expected a list of lists"),
    ],
)
def test_claims_that_contradict_themselves_are_told_in_a_line(text: str, told: str) -> None:
    with pytest.raises(ClaimError, match=re.escape(told)):
        claimed(text)


BESIDE = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    reply = {"releases": [request["values"]] * request["size"], "error": "half of it"}
    print(json.dumps(reply), flush=True)
"""


def test_releases_beside_an_error_are_refused(tmp_path: Path) -> None:
    """The error was passed over. One that is null says that there is none."""
    path = tmp_path / "both.py"
    for text, told in ((BESIDE, True), (BESIDE.replace('"half of it"', "None"), False)):
        path.write_text(text)
        claim = claimed(COUNT)
        target = open_claimed(f"exec:{sys.executable} {path}", claim)
        try:
            if not told:
                assert target.ask(np.array([1]), 2).shape == (2, 1)
                continue
            with pytest.raises(TargetError, match=r"'releases'.*half of it"):
                target.ask(np.array([1]), 2)
        finally:
            target.close()
