"""Two inputs in flight together: a release that belongs to another call is found, of every form."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import BALL, HISTOGRAM, WHOLE
from table_zoo.correct import Reference
from table_zoo.shelf import PUBLIC

from dpassay.verifiers.findings.report import CheckResult, Verdict
from dpassay.verifiers.kinds.numbers.checks.fresh_noise import CopyOf, FreshNoise
from dpassay.verifiers.kinds.numbers.evidence.bins import Placing
from dpassay.verifiers.kinds.numbers.planning.asked import Asked, Batch, Draws
from dpassay.verifiers.run.checks import Setting
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

GATE = "\n[gate]\nconcurrency = 4\nsmallest_effect = 0.1\ntolerance = 0.2\nfalse_alarm = 1e-3"


class Served(InProcessTarget):
    """Takes four calls at once, and answers each by what `read` gives of those in flight."""

    at_once = 4

    def __init__(self, claim: Any, read: Callable[[list[Any]], list[Any]], scale: float = 1.0):
        rng, self.read = np.random.default_rng(5), read
        answers: Any = Reference(claim, rng) if claim.mechanism.name == "table" else None
        if answers is None:
            law, noise = claim.mechanism.law, claim.mechanism.added.times(scale)

            def answers(values: Any, size: int) -> Any:
                return noise.sample(law.exact(values), size, rng)

        super().__init__(answers, release=claim.release)

    def ask_each(self, calls: Any) -> list[Any]:
        found = []
        for start in range(0, len(calls), self.at_once):
            part = calls[start : start + self.at_once]
            read = self.read([values for values, _ in part])
            found += [self.ask(values, size) for values, (_, size) in zip(read, part, strict=True)]
        return found


def last(values: list[Any]) -> list[Any]:
    """The request is an attribute that the next one overwrites."""
    return [values[-1]] * len(values)


def reversed_(values: list[Any]) -> list[Any]:
    """Replies go out in another order than requests came in."""
    return values[::-1]


def own(values: list[Any]) -> list[Any]:
    return values


def fresh(text: str, read: Callable[[list[Any]], list[Any]], scale: float = 1.0) -> CheckResult:
    claim = claimed(text, GATE)
    chosen = select(["fresh-noise"], of=claim.kind.checks.ids)
    report = verify(Served(claim, read, scale), claim, seed=0, selection=chosen)
    return next(check for check in report.checks if check.id == "fresh-noise")


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("read", [last, reversed_])
@pytest.mark.parametrize("text", [HISTOGRAM, WHOLE, BALL, PUBLIC])
def test_releases_of_another_call_are_found(
    text: str, read: Callable[[list[Any]], list[Any]]
) -> None:
    """Catches calls in flight that are all of one input, which show nothing of this."""
    found = fresh(text, read)
    assert found.verdict is Verdict.FAIL, found.message
    assert found.code == "release-of-another-call"


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("text", [HISTOGRAM, WHOLE, BALL, PUBLIC])
def test_right_ones_pass_and_the_calls_are_told(text: str) -> None:
    """Null: every call reads its own request; at a false_alarm of 0.001."""
    found = fresh(text, own)
    assert found.verdict is Verdict.PASS, found.message
    assert "calls on two inputs, 4 in flight" in found.message


@pytest.mark.slow("over half a second")
def test_a_wrong_scale_is_not_taken_for_crossed_calls() -> None:
    assert fresh(HISTOGRAM, own, scale=4.0).code != "release-of-another-call"


def test_releases_in_single_floats_are_not_taken_for_crossed() -> None:
    """Honest noise rounded once to 24 digits, where an ulp is ten times the scale.

    Catches a release that is judged as a point, not as all sums that are rounded to it.
    """
    claim = claimed(HISTOGRAM.replace("laplace:2", "gaussian:0.1"), GATE)
    check = FreshNoise.make(Setting(claim, 0, claim.inputs(0)))
    rng, sums = np.random.default_rng(3), (np.full(10, 1e7), np.full(10, 1e7 + 0.3))
    inputs = [Asked(exact, exact, "typical", "") for exact in sums]
    batches = []
    for asked, other in zip(inputs, sums[::-1], strict=True):
        released = asked.exact + rng.normal(0.0, 0.1, (64, 10))
        carried = released.astype(np.float32).astype(np.float64)
        batches.append(Batch(asked, carried, (1,) * 64, abreast=True, beside=other))
    draws = Draws(tuple(batches), Placing(claim.mechanism.added, rng), np.arange(10))
    for batch, other in zip(batches, sums[::-1], strict=True):
        check._take_crossed(batch, other, draws)
    assert check.ways[CopyOf.CROSSED].log_e_value < 1.0
