"""The gate on a deployment of either kind, of labels or of numbers, as its claim says."""

from .claims import AnyClaim
from .findings.report import Report
from .gate.diagnosis import AfterFailure
from .numbers.claim import NumbersClaim
from .targets import InProcessTarget, Target


def verify_any(
    target: Target,
    claim: AnyClaim,
    *,
    seed: int | None = None,
    reproduce: str | None = None,
    name: str | None = None,
    after_failure: AfterFailure = "diagnose",
) -> Report:
    """Runs the checks of a claim on its target; the arguments are those of `gate.verify`."""
    if isinstance(claim, NumbersClaim):
        from .numbers.run import verify_numbers

        return verify_numbers(
            target,
            claim,
            seed=seed,
            reproduce=reproduce,
            name=name,
            after_failure=after_failure,
        )
    from .gate import verify

    return verify(
        target, claim, seed=seed, reproduce=reproduce, name=name, after_failure=after_failure
    )


def reference_of(claim: AnyClaim) -> InProcessTarget:
    """The reference implementation of the claimed mechanism."""
    if isinstance(claim, NumbersClaim):
        from .numbers.embedded import reference_target as of_numbers

        return of_numbers(claim)
    from .embedded import reference_target

    return reference_target(claim)
