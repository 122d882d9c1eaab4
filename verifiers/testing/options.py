"""What a test may say of a run beside its claim: limits, and a log in place of a target."""

from pathlib import Path
from typing import Any

from ..claims.claim import Claim
from ..claims.tables import MOST_RUN_SECONDS
from ..findings.report import Report
from ..inputs.log_file import shown_path
from ..kinds.labels.logs.verify_log import verify_log
from ..kinds.labels.reading import with_plain_votes


def check_one_of(target: Any, log: Any) -> None:
    """Raises ValueError unless exactly one of both is given."""
    if (target is None) == (log is None):
        both = "neither was given" if target is None else "both were given"
        raise ValueError(f"target or log: expected exactly one of both, and {both}")


def limited(
    claim: Claim, queries: int | None, max_queries: int | None, max_seconds: float | None
) -> Claim:
    """The claim under these limits. Raises ValueError with the one that cannot be."""
    for name, given in (("queries", queries), ("max_queries", max_queries)):
        if given is not None and given < 1:
            raise ValueError(f"{name} = {given}: expected a whole number from 1")
    if queries is not None and max_queries is not None:
        raise ValueError("queries and max_queries: give one or the other")
    if max_seconds is not None and not 0 < max_seconds <= MOST_RUN_SECONDS:
        allowed = f"expected seconds above 0, up to {MOST_RUN_SECONDS:.0f} (a week)"
        raise ValueError(f"max_seconds = {max_seconds}: {allowed}")
    return claim.with_limits(max_queries, max_seconds)


def judged_log(log: str | Path, claim: Claim, seed: int | None) -> Report:
    """The report on a recorded log. Raises LogError, and ClaimError for a claim without votes."""
    path = str(log)
    return verify_log(path, with_plain_votes(claim, shown_path(path)), seed, lambda _: None)
