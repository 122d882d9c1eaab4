"""The checks of the accounting: they are decided by proof, not by labels."""

from collections.abc import Iterator

from ...reference.clock import OutOfTime, step
from ..checks import AccountantSoundness, BudgetEnforcement, Finding, PrivacyClaimCheck
from ..claim import Claim
from ..findings.report import Verdict
from ..planning.plan import Plan
from ..targets import Refused, Target, open_target
from .selection import Selection

Outcome = tuple[str, Verdict, Finding]


def accounting(target: Target, plan: Plan, selection: Selection) -> Iterator[Outcome]:
    """What the target's accountant and its budget are worth, check by check.

    Raises TargetError for a broken charge.
    """
    if selection.keeps(AccountantSoundness.id):
        yield _soundness(target, plan)
    if not selection.keeps(BudgetEnforcement.id):
        return
    if plan.claim.privacy is not None and not plan.claim.mechanism.caching:
        yield _budget(target, plan)


def _soundness(target: Target, plan: Plan) -> Outcome:
    step(AccountantSoundness.id)
    check = AccountantSoundness(plan)
    lacking = check.run(target)
    if lacking is not None:
        return check.id, Verdict.NOT_APPLICABLE, Finding(lacking)
    return check.id, _verdict(check.proved is not None), check.finding()


def privacy(claim: Claim) -> Outcome:
    """What the claim's (epsilon, delta), which it has, is worth, whatever the target does."""
    check = PrivacyClaimCheck(claim)
    try:
        check.run()
    except ValueError as error:
        return check.id, Verdict.ERROR, Finding(f"privacy.scope: {error}")
    return check.id, _verdict(check.refuted), check.finding()


def _budget(target: Target, plan: Plan) -> Outcome:
    """Last of all: it uses the budget up."""
    name, gate = BudgetEnforcement.id, plan.claim.gate
    spec = gate.budget_target
    step(name)
    if spec is None:
        check, asked = BudgetEnforcement(plan.claim), target
    else:
        check = BudgetEnforcement(plan.claim, lambda: open_target(spec, gate.timeout))
        asked = open_target(spec, gate.timeout)
    try:
        lacking = check.run(asked)
    except Refused as refusal:
        lacking = f"the target refuses the costliest histogram: {refusal}"
    except OutOfTime:
        if check.violation is None:
            raise
        lacking = None  # it was found in time, and what explains it was not
    finally:
        if spec is not None:
            asked.close()
    if lacking is not None:
        return name, Verdict.NOT_APPLICABLE, Finding(lacking)
    return name, check.verdict, check.finding()


def _verdict(refuted: bool) -> Verdict:
    """Of a check that either refutes or finds nothing."""
    return Verdict.FAIL if refuted else Verdict.PASS
