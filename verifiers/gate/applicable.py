"""Which checks a plan can run on labels, and why not the others."""

from collections.abc import Callable, Iterator
from functools import partial

from ..checks import (
    Abstention,
    BudgetEnforcement,
    Check,
    ClassProbabilities,
    FreshNoise,
    NoiseScale,
    PrivacyAudit,
    PrivacyClaimCheck,
    Symmetry,
    VoteMonotonicity,
)
from ..claim import ANY_QUERIES, Claim
from ..planning.plan import Plan
from ..planning.roles import Role
from .selection import Selection

Lacking = tuple[str, str]

_SYMMETRIES = ("shift-invariance", "permutation-equivariance")


def checks_of(plan: Plan, selection: Selection) -> tuple[list[Check], dict[str, str]]:
    """The checks that follow a run's labels, and the reason for each one that does not."""
    mechanism = plan.claim.mechanism
    made: dict[str, Callable[[Plan], Check]] = {
        ClassProbabilities.id: ClassProbabilities,
        NoiseScale.id: NoiseScale,
    }
    if mechanism.refuses:
        made[Abstention.id] = Abstention
    if not mechanism.caching:
        made |= {name: partial(Symmetry, name) for name in _SYMMETRIES if name in plan.twins}
        made[FreshNoise.id] = FreshNoise
    if VoteMonotonicity.id in plan.twins:
        made[VoteMonotonicity.id] = VoteMonotonicity
    checks = [make(plan) for name, make in made.items() if selection.keeps(name)]
    return checks, {**dict(_lacking(plan)), **selection.left_out}


def has_pair(plan: Plan) -> bool:
    """Whether two neighbours are asked so that their labels can be audited."""
    privacy = plan.claim.privacy
    claimed = privacy is not None and privacy.scope == ANY_QUERIES
    return claimed and plan.pair(Role.PAIR) is not None


def lacking_by_claim(claim: Claim) -> Iterator[Lacking]:
    """The checks that a claim leaves no room for, whatever the target serves."""
    if not claim.mechanism.refuses:
        yield Abstention.id, f"{claim.mechanism.name} refuses no query"
    if claim.mechanism.caching:
        for name in _SYMMETRIES:
            yield name, "answers are cached: each label is of another histogram"
    if claim.privacy is None:
        for name in (PrivacyAudit.id, PrivacyClaimCheck.id, BudgetEnforcement.id):
            yield name, "the claim has no [privacy]"
    elif claim.mechanism.caching:
        yield PrivacyAudit.id, "answers are cached: each label is of another histogram"
        yield BudgetEnforcement.id, "a caching deployment may repeat an answer for ever"
    elif claim.privacy.scope != ANY_QUERIES:
        yield PrivacyAudit.id, "the claim's scope names its histograms: dpassay audit bounds a pair"


def _lacking(plan: Plan) -> Iterator[Lacking]:
    yield from lacking_by_claim(plan.claim)
    for name in _SYMMETRIES:
        if name not in plan.twins and not plan.claim.mechanism.caching:
            yield name, "the target refuses totals other than the claimed teachers"
    if VoteMonotonicity.id not in plan.twins:
        yield VoteMonotonicity.id, "hardly any query is answered"
