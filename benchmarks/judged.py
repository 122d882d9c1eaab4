"""One run of the gate on a function in this process, of labels or of numbers as the claim says."""

from collections.abc import Callable
from typing import Any, NamedTuple

from dpassay.verifiers.claims.claim import Claim
from dpassay.verifiers.run.request import AfterFailure
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget


class Judged(NamedTuple):
    """The verdict, the checks that failed, and after how many releases one had, if one did."""

    verdict: str
    failed: list[str]
    found_after: int | None


def judged(
    claim: Claim,
    aggregate: Callable[[Any, int], Any],
    seed: int,
    after_failure: AfterFailure = "diagnose",
) -> Judged:
    """What a run says of a function (input, size) -> releases."""
    target = InProcessTarget(aggregate, release=claim.release)
    report = verify(target, claim, seed=seed, after_failure=after_failure)
    failed = [check.id for check in report.checks if check.verdict.value == "fail"]
    return Judged(report.verdict.value, failed, report.found_after if failed else None)
