"""`dpassay audit` of a target: asks a pair of neighbours, and bounds epsilon by what it gives.

Of labels, for two histograms, and of noisy gradients, for two batches.
"""

from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import NoReturn

from ...reference import Histogram, parse_histogram
from ..claims.open_target import open_claimed
from ..claims.tables import ANY_QUERIES, PrivacyClaim
from ..cli.exit_statuses import asking, fail, print_and_exit
from ..findings.pair_bounds import Audit, PairLabels
from ..gradients.audit import audit_gradient as run
from ..gradients.canary_pair import CanaryPair, gradient_of, pair_of_files, pair_of_model
from ..inputs.histogram_file import read_histograms
from ..inputs.input_error import UnclaimedError
from ..inputs.people_file import read_people
from ..kinds.labels.claim import LabelsClaim
from ..kinds.labels.reading import read_labels_claim
from ..kinds.numbers.claim import NumbersClaim
from ..kinds.numbers.vendor_model import load_model
from ..targets import PacedTarget, Target, checked_labels, parts

CONFIDENCE = 0.99
_PILOT = 0.1  # of the queries, from which the cut is chosen
_BATCH = 8192


def audit_claimed_pair(
    targets: list[str], claim_file: str, pair: tuple[str, str], *, as_json: bool
) -> NoReturn:
    """Audits the targets, prints what was found, and exits."""
    with asking("a histogram of the pair"), ExitStack() as deployments:
        claim = read_labels_claim(claim_file)
        here, there = (parse_histogram(text) for text in pair)
        asked = [
            deployments.enter_context(closing(open_claimed(spec, claim, plainly=True)))
            for spec in targets
        ]
        found = audit_pair(asked[0], claim, here, there, other=asked[1] if asked[1:] else None)
    print_and_exit(found, as_json)


def audit_pair(
    target: Target,
    claim: LabelsClaim,
    here: Histogram,
    there: Histogram,
    queries: int | None = None,
    *,
    other: Target | None = None,
) -> Audit:
    """Asks both histograms of a pair equally often, and bounds the privacy loss between them.

    queries: total labels, the claim's `max_queries` when None; other: a deployment whose data
    differ from the target's in one record, which is asked the second histogram instead. Where
    inputs are queries, it is asked the first one's query, since its own teachers give the second
    histogram. Where the claim's scope is a file, only queries in it can refute the claim. Raises
    ValueError for histograms that are no neighbours or do not fit the claim, a claim without
    [privacy] or with caching, or a scope that cannot be read; TargetError as the target does.
    """
    if claim.privacy is None:
        raise ValueError("the claim has no [privacy]: its delta is needed")
    if claim.mechanism.caching:
        raise ValueError("mechanism.caching = true: a kept label adds nothing when asked again")
    one_query = other is not None and claim.inputs is not None and claim.inputs.form == "query"
    for votes in (here, there):
        _check_fits(votes, claim, is_given=not (one_query and votes is there))
    if not claim.mechanism.neighbourhood.holds(here, there):
        raise ValueError(
            f"{here.tolist()} and {there.tolist()} are no neighbours: expected {_change(claim)}"
        )
    sides = (target, here), (other or target, here if one_query else there)
    times = _times(claim.privacy, here, there)
    each = (claim.gate.max_queries if queries is None else queries) // 2
    outcomes = claim.mechanism.classes + claim.mechanism.refuses
    pairs = PairLabels(outcomes, pilot=max(1, int(_PILOT * each)))
    for part in parts(each, _BATCH):
        for side, (asked, votes) in enumerate(sides):
            raw = asked.ask(votes, part)
            pairs.observe(side, checked_labels(raw, votes, part, claim.mechanism.refuses))
    return pairs.bounds(claim.privacy, times, 1.0 - CONFIDENCE)


def _change(claim: LabelsClaim) -> str:
    """What tells neighbours apart, in words."""
    if claim.mechanism.adjacency == "add-remove":
        return f"one vote more or less than teachers = {claim.mechanism.teachers} in one of them"
    most = claim.mechanism.neighbourhood.votes
    return "one vote moved" if most == 1 else f"1 to {most} votes moved"


def _check_fits(votes: Histogram, claim: LabelsClaim, *, is_given: bool) -> None:
    """Raises ValueError for votes (c,) that do not fit the claim, or that no input has."""
    if votes.size != claim.mechanism.classes:
        raise UnclaimedError(f"{votes.tolist()}: the claim has {claim.mechanism.classes} classes")
    teachers = claim.mechanism.teachers
    if votes.sum() not in (teachers, *claim.mechanism.neighbourhood.totals(teachers)):
        raise UnclaimedError(
            f"{votes.tolist()}: {votes.sum()} votes, but the claim has {teachers} teachers"
        )
    if is_given and claim.given and tuple(votes.tolist()) not in {r.histogram for r in claim.given}:
        raise UnclaimedError(f"{votes.tolist()}: no input of the claim has these votes")


def _times(privacy: PrivacyClaim, here: Histogram, there: Histogram) -> int:
    """How many queries of the claim's scope are on the pair: on the one that is asked more."""
    if privacy.scope == ANY_QUERIES:
        return privacy.queries
    rows = Counter(row.histogram for row in read_histograms(privacy.scope))
    asked = max(rows[tuple(int(v) for v in side)] for side in (here, there))
    return min(asked, privacy.queries)


@dataclass(frozen=True)
class GradientOptions:
    """Where the pair of batches comes from: files, or a model and the data of its canary."""

    pair: tuple[str, str] | None
    model: str | None
    data: str
    label: str | None
    attributes: tuple[str, ...]

    def pair_under(self, claim: NumbersClaim, seed: int) -> CanaryPair:
        """The pair. Raises ValueError where files or model do not do; ends for misuse."""
        gradient_of(claim)
        if self.pair is not None:
            if self.model is not None or self.attributes or self.label is not None:
                fail("--pair stands for --model, --data, --label and --attribute: give either")
            return pair_of_files(claim, *self.pair)
        if self.model is None or self.label is None or not self.attributes:
            fail(
                "give --pair FILE FILE, or --model SPEC, --data FILE, --label COLUMN and "
                "--attribute COLUMN"
            )
        people = read_people(self.data, self.label, self.attributes)
        return pair_of_model(claim, load_model(self.model), people, seed)


def audit_gradient(
    target: str | None,
    other: str | None,
    claim: NumbersClaim,
    options: GradientOptions,
    *,
    seed: int,
    as_json: bool,
) -> NoReturn:
    """Audits the target, prints what was found, and exits."""
    if target is None or other is not None:
        fail("give one TARGET: the batches of a pair are asked of the same deployment")
    gate = claim.gate
    with asking("a batch of the pair"):
        pair = options.pair_under(claim, seed)
        with closing(open_claimed(target, claim, plainly=True)) as deployment:
            asked: Target = deployment
            if gate.largest_call is not None:
                asked = PacedTarget(asked, gate.timeout, gate.largest_call, claim.release)
            found = run(asked, claim, pair)
    print_and_exit(found, as_json)
