"""Which checks a plan can run on labels, and why not the others."""

from collections.abc import Iterator

from .checks import (
    Abstention,
    BudgetEnforcement,
    Check,
    ClassProbabilities,
    FreshNoise,
    NoiseScale,
    PrivacyAudit,
    Symmetry,
    VoteMonotonicity,
)
from .plan import PAIR, Plan

Lacking = tuple[str, str]


def checks_of(plan: Plan) -> tuple[list[Check], dict[str, str]]:
    """The checks that follow a run's labels, and the reason for each one that cannot."""
    mechanism = plan.claim.mechanism
    checks: list[Check] = [ClassProbabilities(plan), NoiseScale(plan)]
    if mechanism.refuses:
        checks.append(Abstention(plan))
    if not mechanism.caching:
        checks += [
            Symmetry(name, plan)
            for name in ("shift-invariance", "permutation-equivariance")
            if name in plan.twins
        ]
        checks.append(FreshNoise(plan))
    if VoteMonotonicity.id in plan.twins:
        checks.append(VoteMonotonicity(plan))
    return checks, dict(_lacking(plan))


def has_pair(plan: Plan) -> bool:
    """Whether two neighbours are asked so that their labels can be audited."""
    return any(stream.kind == PAIR for stream in plan.streams)


def _lacking(plan: Plan) -> Iterator[Lacking]:
    claim = plan.claim
    if not claim.mechanism.refuses:
        yield Abstention.id, f"{claim.mechanism.name} refuses no query"
    for name in ("shift-invariance", "permutation-equivariance"):
        if claim.mechanism.caching:
            yield name, "answers are cached: each label is of another histogram"
        elif name not in plan.twins:
            yield name, "the target refuses totals other than the claimed teachers"
    if VoteMonotonicity.id not in plan.twins:
        yield VoteMonotonicity.id, "hardly any query is answered"
    if claim.privacy is None:
        yield BudgetEnforcement.id, "the claim has no [privacy]"
    elif claim.mechanism.caching:
        yield BudgetEnforcement.id, "a caching deployment may repeat an answer for ever"
    if not has_pair(plan):
        yield PrivacyAudit.id, _no_pair(plan)


def _no_pair(plan: Plan) -> str:
    if plan.claim.privacy is None:
        return "the claim has no [privacy]"
    if plan.claim.mechanism.caching:
        return "answers are cached: each label is of another histogram"
    return "the claim's scope names its histograms: dpassay audit --pair bounds one"
