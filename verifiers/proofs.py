"""The checks of the accounting: they are decided by proof, not by labels."""

from collections.abc import Iterator

from .checks import AccountantSoundness, BudgetEnforcement, Finding, PrivacyClaimCheck
from .plan import Plan
from .report import Verdict
from .targets import Refused, Target, TargetError, open_target

Outcome = tuple[str, Verdict, Finding]


def accounting(target: Target, plan: Plan) -> Iterator[Outcome]:
    """What the target's accountant and the claim are worth, check by check.

    Raises TargetError for a broken charge, or a scope of the claim that cannot be read.
    """
    yield _soundness(target, plan)
    yield _privacy(plan)
    yield _budget(target, plan)


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


def _budget(target: Target, plan: Plan) -> Outcome:
    """Last of all: it uses the budget up."""
    name, gate = BudgetEnforcement.id, plan.claim.gate
    if plan.claim.privacy is None:
        return name, Verdict.NOT_APPLICABLE, Finding("the claim has no [privacy]")
    if plan.claim.mechanism.caching:
        reason = Finding("a caching deployment may repeat an answer for ever")
        return name, Verdict.NOT_APPLICABLE, reason
    spec = gate.budget_target
    if spec is None:
        check, asked = BudgetEnforcement(plan.claim), target
    else:
        check = BudgetEnforcement(plan.claim, lambda: open_target(spec, gate.timeout))
        asked = open_target(spec, gate.timeout)
    try:
        lacking = check.run(asked)
    except Refused as refusal:
        lacking = f"the target refuses the costliest histogram: {refusal}"
    finally:
        if spec is not None:
            asked.close()
    if lacking is not None:
        return name, Verdict.NOT_APPLICABLE, Finding(lacking)
    return name, _verdict(check.violation is not None), check.finding()


def _verdict(refuted: bool) -> Verdict:
    """Of a check that either refutes or finds nothing."""
    return Verdict.FAIL if refuted else Verdict.PASS
