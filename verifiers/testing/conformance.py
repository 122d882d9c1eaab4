"""The gate inside a test of one's own: `assert_conforms`, and `assert_replays`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..claims.claim import Claim, ClaimError
from ..claims.open_target import in_process, open_claimed
from ..cli.options import verify_line
from ..findings.report import Report
from ..findings.verdict import Verdict
from ..kinds.reading import parse_claim, read_claim
from ..run.request import AfterFailure, checked_choice
from ..run.run import verify
from ..targets import Target, TargetError, shown_spec
from .shared_run import check_one_of, explain, judge_log, limit_claim

if TYPE_CHECKING:  # it takes a while to load
    from ..replay.replayed import Replayed


class Inconclusive(Exception):  # noqa: N818 - a verdict's name
    """The run saw too little to say.

    No AssertionError: a test that expects one of a broken target must not take it for a violation.
    """


def assert_conforms(
    target: Any,
    claim: Claim | dict[str, Any] | str | Path,
    *,
    log: str | Path | None = None,
    seed: int | None = None,
    queries: int | None = None,
    max_queries: int | None = None,
    max_seconds: float | None = None,
    after_failure: AfterFailure = "diagnose",
) -> Report:
    """Runs the gate on `target` and returns its report, where the verdict is a pass.

    Raises AssertionError for a violation, TargetError for a target that cannot be judged,
    Inconclusive for a budget too small to say, ClaimError for a bad claim, LogError for a bad log,
    ValueError for a target that is none, or for queries that no pass fits, and RuntimeError within
    a Hypothesis test body.

    Args:
        target: a callable (histogram, size) -> labels, or (values, size) -> releases where the
            claim is of numbers, an object with such a method `sample`, or a spec such as
            `path/to/file.py:attr`.
        claim: a Claim, or a NumbersClaim, a table as parsed from TOML, or the path of a TOML file.
        log: a recorded log, which is judged in place of a target, None then, with no option but
            seed.
        seed: fixes the histograms or values asked.
        queries: plans for the sharpest pass that so many allow.
        max_queries: budget, in place of the claim's.
        max_seconds: for the run, in place of run_timeout.
        after_failure: "diagnose" asks some thousand labels more to tell the cause, "keep-going"
            finishes all checks as well, "stop" asks nothing more.
    """
    __tracebackhide__ = True
    refuse_hypothesis("assert_conforms")
    held, then = claim_of(claim), checked_choice(after_failure)
    check_one_of(target, log)
    if log is not None:
        if (queries, max_queries, max_seconds, then) != (None, None, None, "diagnose"):
            raise ValueError(f"log = {log}: only claim and seed go with it: nothing is asked")
        report = judge_log(log, held, seed)
        _judge(report)
        return report
    held = limit_claim(held, queries, max_queries, max_seconds)
    opened = open_claimed if isinstance(target, str) else in_process
    try:
        deployment: Target = opened(target, held)
    except (TargetError, ValueError) as error:
        raise error.with_traceback(
            None
        ) from None  # here, so that pytest shows the test's line alone
    try:
        report = verify(
            deployment,
            held,
            seed=seed,
            reproduce=_reproduce(target, claim, queries, max_queries, then),
            name=shown_spec(target) if isinstance(target, str) else None,
            after_failure=then,
            queries=queries,
        )
    finally:
        deployment.close()
    _judge(report)
    return report


def _judge(report: Report) -> None:
    """Raises what a verdict means in a test; nothing for a pass."""
    __tracebackhide__ = True
    if report.interrupted:
        raise KeyboardInterrupt
    if report.verdict is Verdict.PASS:
        return
    worst = [check for check in report.checks if check.verdict is report.verdict]
    told = "\n\n".join(explain(check, report) for check in worst)
    if report.verdict is Verdict.ERROR:
        raise TargetError(told, code=worst[0].code)
    raise (AssertionError if report.verdict is Verdict.FAIL else Inconclusive)(told)


def claim_of(claim: Claim | dict[str, Any] | str | Path) -> Claim:
    """The claim itself, or that of a table or a file. Raises ClaimError."""
    __tracebackhide__ = True
    if isinstance(claim, Claim):
        return claim
    try:
        held: Claim = parse_claim(claim) if isinstance(claim, dict) else read_claim(claim)
    except ClaimError as error:
        raise error.with_traceback(None) from None
    return held


def _reproduce(
    target: Any,
    claim: Any,
    queries: int | None,
    max_queries: int | None,
    after_failure: AfterFailure,
) -> str | None:
    """The command that repeats the run, where both were named and not handed over."""
    if not isinstance(target, str) or not isinstance(claim, str | Path):
        return None
    return verify_line(
        shown_spec(target),
        claim_file=claim,
        queries=queries,
        max_queries=max_queries,
        keep_going=after_failure == "keep-going",
        stop_at_once=after_failure == "stop",
    )


def refuse_hypothesis(name: str) -> None:
    """Within a Hypothesis test no target can be judged. Raises RuntimeError that says why."""
    hypothesis = sys.modules.get("hypothesis")
    if hypothesis is not None and hypothesis.currently_in_test_context():
        raise RuntimeError(
            f"{name} was called in a Hypothesis test body: Hypothesis resets random and "
            "numpy.random before every example, so a correct target that uses them would seem to "
            "repeat its noise; call it in a plain test"
        )


def assert_replays(
    target: str, claim: Claim | str | Path, *, pairs: int = 100, seed: int = 0
) -> "Replayed":
    """Runs `target` on neighbours with the same draws, as `dpassay replay` does; what was found.

    Raises AssertionError that names the pair and the line where one shows a fault, Inconclusive
    where the noise could not be frozen, TargetError, ClaimError and ValueError of one line, and
    RuntimeError within a Hypothesis test body.

    Args:
        target: a Python spec such as `path/to/file.py:attr`.
        claim: see `assert_conforms`.
        pairs: at most so many.
        seed: fixes them.
    """
    from ..replay.replayed import replay_pairs

    __tracebackhide__ = True
    refuse_hypothesis("assert_replays")
    found = replay_pairs(target, claim_of(claim), seed, pairs)
    if found.verdict is Verdict.FAIL:
        raise AssertionError(found.as_text())
    if found.verdict is Verdict.INCONCLUSIVE:
        raise Inconclusive(found.as_text())
    return found
