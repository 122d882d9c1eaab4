"""One pair with its noise frozen, inside a test of one's own: `assert_replays`."""

from pathlib import Path

from ..claims.claim import Claim
from ..findings.verdict import Verdict
from ..replay.replayed import Replayed, replayed
from .conformance import Inconclusive, held_claim, refuse_hypothesis


def assert_replays(
    target: str, claim: Claim | str | Path, *, pairs: int = 100, seed: int = 0
) -> Replayed:
    """Runs `target` on neighbours with the same draws, as `dpassay replay` does; what was found.

    target: a Python spec such as `path/to/file.py:attr`; claim: see `assert_conforms`; pairs: at
    most so many; seed: fixes them. Raises AssertionError that names the pair and the line where one
    shows a fault, Inconclusive where the noise could not be frozen, TargetError, ClaimError and
    ValueError of one line, and RuntimeError within a Hypothesis test body.
    """
    __tracebackhide__ = True
    refuse_hypothesis("assert_replays")
    found = replayed(target, held_claim(claim), seed, pairs)
    if found.verdict is Verdict.FAIL:
        raise AssertionError(found.as_text())
    if found.verdict is Verdict.INCONCLUSIVE:
        raise Inconclusive(found.as_text())
    return found
