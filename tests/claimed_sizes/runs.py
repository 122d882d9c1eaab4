"""One recorded run: a check alone, by the plan of its whole claim, on a target that is wrong."""

import tomllib
from dataclasses import replace
from functools import cache, partial
from itertools import count
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from every_kind import CLAIMS

from dpassay.verifiers.findings.excluded import Excluded
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.phase import Phase
from dpassay.verifiers.run.precision import TooFewError
from dpassay.verifiers.run.request import AfterFailure, PlanRequest
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

from . import wrong_by
from .replies import REFERENCE

ALL = {
    **CLAIMS,
    "any": '[mechanism]\nname = "any"\ncaching = false\n[privacy]\nepsilon = 1.0\ndelta = 0\n'
    "[[pairs]]\nhere = {n = 1}\nthere = {n = 2}\n",
    "same-as": f'[mechanism]\nname = "same-as"\nreference = "{REFERENCE}"\n'
    "[inputs]\nvalues = [{n = 1}]\n",
    "batches": '[mechanism]\nname = "batches"\nsampling = "poisson:0.1"\nrecords = 100\n',
}
"""The claims that are run, without a gate: at the defaults."""

MOST, LEAST = "default", "least"
"""The budgets: the claim's own, and the smallest of which a pass can be planned."""


_NAMING = {"aggregate", "applied_to", "bound", "empty", "kept", "of", "on", "party", "present"}
"""Fields of a size that name a fault, and are no size."""


class Found(NamedTuple):
    """What a run found: the verdict of the check, its code, and the queries made."""

    verdict: str
    code: str | None
    queries: int


@cache
def claimed(name: str) -> Any:
    """A claim at the defaults."""
    return parse_claim(tomllib.loads(ALL[name]))


@cache
def least_queries(name: str, seed: int) -> int:
    """The fewest queries of which a pass can be planned."""
    claim = claimed(name)
    try:
        claim.kind.planned(claim, PlanRequest(1, seed))
    except TooFewError as error:
        return error.least
    return 1


@cache
def planned(name: str, budget: str, seed: int) -> Any:
    """The plan of all checks of a claim, at the smallest budget or at the default."""
    claim = claimed(name)
    queries = least_queries(name, seed) if budget == LEAST else None
    return claim.kind.planned(claim, PlanRequest(queries, seed))


def entry_at(name: str, budget: str, check: str, place: int, seed: int) -> Excluded | None:
    """What a pass excludes, by its place among the entries of a check in the plan of seed 0.

    None where the plan of this seed has no such entry.
    """
    fault = _fault(planned(name, budget, 0).excluded[check][place])
    alike = [one for one in planned(name, budget, seed).excluded[check] if _fault(one) == fault]
    return alike[0] if alike else None


def _fault(entry: Excluded) -> tuple[Any, ...]:
    """What tells an entry from others of its check, whatever the size."""
    named = tuple((key, one) for key, one in entry.size.items() if key in _NAMING)
    above = float(entry.size.get("factor", 1.0)) > 1.0 or float(entry.size.get("offset", 0.0)) > 0.0
    return entry.code, named, above


def run(
    name: str, budget: str, check: str, place: int, seed: int, times: float = 1.0, drawn: int = 0
) -> Found | None:
    """The check on a target whose fault is `times` as large as the entry says.

    seed: of the run; drawn: which noise the target draws in it. None where the plan of this seed
    has no such entry. Raises ValueError where no such target is known.
    """
    plan = planned(name, budget, seed)
    entry = entry_at(name, budget, check, place, seed)
    if entry is None:
        return None
    make = wrong_by(plan, check, entry, times, seed + drawn)
    if make is None:
        raise ValueError(f"{name}: {check}: no target has {entry.code}")
    return judged(plan, check, make, seed, drawn)


def judged(plan: Any, check: str, make: Any, seed: int, drawn: int = 0) -> Found:
    """A run of one check by this plan; make: a deployment, from a generator of its noise."""
    claim, starts = plan.claim, count()
    with_it = [
        spec.id for spec in claim.kind.checks.applicable(claim) if spec.phase is Phase.SHARED
    ]
    # bare releases are told of as many as all checks together take at least
    chosen = select(with_it if check == "joint" else [check], of=claim.kind.checks.ids)

    def again() -> Any:
        return make(np.random.default_rng([seed, 91, drawn, next(starts)]))

    target = InProcessTarget(again(), again=again, release=claim.release)
    # one check alone would be planned sharper than the whole claim is
    after: AfterFailure = "keep-going" if check == "joint" else "stop"
    with patch.object(claim.kind, "planned", partial(_given, plan)):
        report = verify(target, claim, seed=seed, selection=chosen, after_failure=after)
    found = next(one for one in report.checks if one.id == check)
    return Found(str(found.verdict), found.code, report.queries)


def _given(plan: Any, claim: Any, asked: PlanRequest) -> Any:
    """The plan, of the checks that a run has."""
    if hasattr(plan, "asked") and isinstance(plan.asked, PlanRequest):
        return replace(plan, asked=replace(plan.asked, chosen=asked.chosen))
    return replace(plan, chosen=asked.chosen) if hasattr(plan, "chosen") else plan
