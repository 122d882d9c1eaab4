"""The checks of the accounting: they are decided by proof, not by labels."""

from collections.abc import Iterator

from .checks import AccountantSoundness, Finding, PrivacyClaimCheck
from .plan import Plan
from .report import Verdict
from .targets import Target, TargetError

Outcome = tuple[str, Verdict, Finding]


def accounting(target: Target, plan: Plan) -> Iterator[Outcome]:
    """What the target's accountant and the claim are worth, check by check.

    Raises TargetError for a broken charge, or a scope of the claim that cannot be read.
    """
    yield _soundness(target, plan)
    yield _privacy(plan)


def _soundness(target: Target, plan: Plan) -> Outcome:
    check = AccountantSoundness(plan)
    lacking = check.run(target)
    if lacking is not None:
        return check.id, Verdict.NOT_APPLICABLE, Finding(lacking)
    return check.id, _verdict(check.proved is not None), check.finding()


def _privacy(plan: Plan) -> Outcome:
    if plan.claim.privacy is None:
        reason = Finding("the claim has no [privacy]")
        return PrivacyClaimCheck.id, Verdict.NOT_APPLICABLE, reason
    check = PrivacyClaimCheck(plan.claim)
    try:
        check.run()
    except ValueError as error:
        raise TargetError(f"privacy.scope: {error}") from None
    return check.id, _verdict(check.refuted), check.finding()


def _verdict(refuted: bool) -> Verdict:
    """Of a check that either refutes or finds nothing."""
    return Verdict.FAIL if refuted else Verdict.PASS
