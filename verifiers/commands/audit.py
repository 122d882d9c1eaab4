"""The command `dpassay audit`: asks a pair, and bounds what its labels give away."""

from collections import Counter

from ...reference import Histogram
from ...reference.accounting.pairs import are_neighbours
from ..checks.pair_bounds import Audit, PairLabels
from ..claim import ANY_QUERIES, Claim, PrivacyClaim
from ..inputs.histogram_file import read_histograms
from ..targets import Target, checked_labels, parts

CONFIDENCE = 0.99
_PILOT = 0.1  # of the queries, from which the cut is chosen
_BATCH = 8192


def audit(
    target: Target, claim: Claim, here: Histogram, there: Histogram, queries: int | None = None
) -> Audit:
    """Asks both histograms of a pair alike and bounds what tells them apart.

    queries: labels in all, the claim's `max_queries` when None. Where the claim's scope is a file,
    only the queries in it can refute the claim. Raises ValueError for histograms that are no
    neighbours or do not fit the claim, a claim without [privacy] or with caching, or a scope that
    cannot be read; TargetError as the target does.
    """
    if claim.privacy is None:
        raise ValueError("the claim has no [privacy]: its delta is needed")
    if claim.mechanism.caching:
        raise ValueError("mechanism.caching = true: a kept label says nothing the second time")
    for votes in (here, there):
        if votes.size != claim.mechanism.classes:
            raise ValueError(f"{votes.tolist()}: the claim has {claim.mechanism.classes} classes")
        if votes.sum() != claim.mechanism.teachers:
            raise ValueError(
                f"{votes.tolist()}: {votes.sum()} votes, but the claim has "
                f"{claim.mechanism.teachers} teachers"
            )
        if claim.given and tuple(votes.tolist()) not in {row.histogram for row in claim.given}:
            raise ValueError(f"{votes.tolist()}: no input of the claim has these votes")
    if not are_neighbours(here, there):
        raise ValueError(
            f"{here.tolist()} and {there.tolist()} are no neighbours: expected one vote moved"
        )
    times = _times(claim.privacy, here, there)
    each = (claim.gate.max_queries if queries is None else queries) // 2
    outcomes = claim.mechanism.classes + claim.mechanism.refuses
    pairs = PairLabels(outcomes, pilot=max(1, int(_PILOT * each)))
    for part in parts(each, _BATCH):
        for side, votes in enumerate((here, there)):
            raw = target.ask(votes, part)
            pairs.observe(side, checked_labels(raw, votes, part, claim.mechanism.refuses))
    return pairs.bounds(claim.privacy, times, 1.0 - CONFIDENCE)


def _times(privacy: PrivacyClaim, here: Histogram, there: Histogram) -> int:
    """How often the claim's scope asks one histogram of a pair; the other is its neighbour's."""
    if privacy.scope == ANY_QUERIES:
        return privacy.queries
    rows = Counter(row.histogram for row in read_histograms(privacy.scope))
    asked = max(rows[tuple(int(v) for v in side)] for side in (here, there))
    return min(asked, privacy.queries)
