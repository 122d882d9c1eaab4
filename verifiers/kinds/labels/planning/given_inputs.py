"""The inputs that a claim lists: which are most informative, and which form related pairs.

Such a deployment is asked nothing else. A role that no input fits goes to the nearest one, or is
left out.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from .....reference import Histogram
from ....findings.note import Note
from ..claim import LabelsClaim
from .histograms import CHANCES, INSTEAD, Rung, unanimous
from .inputs import CLEAR, Pool, entropies, leads, least_predictable, nearest_to_clear, nearly_tied
from .laws import LabelFault, divergences, log_laws
from .plan import Plan
from .runs import one_leader
from .streams import Role

_WEIGHED, _LEAST_WEIGHED = 40_000, 200  # histograms times classes whose laws are computed
_PAIRED = 2_000_000  # histograms times classes that are searched for neighbours
_TRIED = 200  # related pairs whose laws are computed
_OPENING = 1.0  # nats a label
_SCALES = (0.5, 2.0)  # factors of the claimed noise scale that the first call should show
_SIMPLE, _TYPICAL, _EXPLORED = 6, 2, 60  # inputs in these roles


class GivenInputs:
    """The distinct histograms (n, c) of a claim's inputs."""

    def __init__(self, claim: LabelsClaim) -> None:
        self.claim = claim.mechanism
        self._second = {} if claim.inputs is None else claim.inputs.second
        different = dict.fromkeys(row.histogram for row in claim.given)
        self.histograms: NDArray[np.int64] = np.array(list(different), dtype=np.int64)

    @cached_property
    def pool(self) -> Pool:
        """The histograms whose laws are computed: all, or some spread evenly over leads."""
        by_lead = np.argsort(leads(self.histograms), kind="stable")
        weighed = max(_LEAST_WEIGHED, _WEIGHED // self.claim.classes)
        kept = np.unique(np.linspace(0, by_lead.size - 1, weighed).astype(np.int64))
        return Pool.of(self.claim, self.histograms[by_lead[kept]])

    def some(self, count: int, rng: np.random.Generator) -> list[Histogram]:
        """`count` histograms at random, or all where there are fewer."""
        return list(self.histograms[rng.permutation(len(self.histograms))[:count]])

    def asked(
        self, faults: Sequence[LabelFault], effect: float, rng: np.random.Generator
    ) -> dict[Role, Sequence[Histogram]]:
        """What a plan asks by roles, where one or several inputs fit; effect: to be seen."""
        pool = self.pool
        asked: dict[Role, Sequence[Histogram]] = {
            Role.PROBE: pool.probes(faults),
            Role.TYPICAL: self.some(_TYPICAL, rng),
            Role.INFORMATIVE: [pool.most_informative(effect)],
            Role.NEAR_TIE: [pool.near_tie(effect)],
            Role.HIGH_CONSENSUS: [self.clearest()],
            # an outcome nearest to probability 0.99, where small changes show
            Role.LATE: [pool.histograms[nearest_to_clear(pool.log_q)[0]]],
            Role.SIMPLE: self.simple(),
            Role.EXPLORER: self.some(_EXPLORED, rng),
        }
        neighbours, same_votes = self.neighbours(), self.same_votes()
        if neighbours is not None:
            asked[Role.PAIR] = neighbours
        if same_votes is not None:  # no claim of inputs is of kept answers
            asked[Role.SAME_VOTES] = [same_votes, same_votes]
        return asked

    def clearest(self) -> Histogram:
        """The histogram whose label is easiest to predict."""
        best: Histogram = self.pool.histograms[int(np.argmax(self.pool.log_q.max(-1)))]
        return best

    def rungs(self) -> list[Rung]:
        """Clear winners, for each chance in `CHANCES` the least clear one that reaches it."""
        chance = np.exp(self.pool.log_q[:, : self.claim.classes])
        chance = chance.max(-1) / np.maximum(chance.sum(-1), 1e-300)
        found: dict[tuple[int, ...], Rung] = {}
        for wanted in CHANCES:
            fits = (chance >= wanted) & (1.0 - chance >= 0.5 * (1.0 - wanted))
            if fits.any():
                at = int(np.argmin(np.where(fits, chance, np.inf)))
                votes = self.pool.histograms[at]
                key, lead = tuple(votes.tolist()), int(leads(votes[None])[0])
                found.setdefault(key, Rung(key, lead, float(chance[at]), wanted == INSTEAD))
        return list(found.values())

    def simple(self) -> list[Histogram]:
        """A few histograms with votes on the fewest classes, the simplest first."""
        used = (self.histograms > 0).sum(-1)
        order = np.lexsort((-self.histograms.max(-1), used))
        distinct = {tuple(sorted(self.histograms[i])): self.histograms[i] for i in order[::-1]}
        return list(distinct.values())[::-1][:_SIMPLE]

    # -- inputs that are related -----------------------------------------------------------------

    def permuted(self) -> tuple[Histogram, NDArray[np.intp]] | None:
        """An input, and the order (c,) of its classes that gives another; of several such pairs.

        The winner's chance is nearest to 0.99.
        """
        groups: dict[bytes, list[int]] = defaultdict(list)
        for at, row in enumerate(np.sort(self.histograms, -1)):
            groups[row.tobytes()].append(at)
        pairs = []
        for group in groups.values():
            leaders = self.histograms[group].argmax(-1)
            other = np.flatnonzero(leaders != leaders[0])
            if other.size:
                pairs.append((group[0], group[int(other[0])]))
        if not pairs:
            return None
        pairs = pairs[:: max(1, len(pairs) // _TRIED)]
        log_q = log_laws(self.claim, self.histograms[[first for first, _ in pairs]])
        one, other_one = (self.histograms[i] for i in pairs[nearest_to_clear(log_q)[0]])
        order = np.empty(one.size, dtype=np.intp)
        order[np.argsort(other_one, kind="stable")] = np.argsort(one, kind="stable")
        return one, order

    def neighbours(self) -> tuple[Histogram, Histogram] | None:
        """Two neighbouring inputs; of several pairs the one with the least predictable labels.

        None under add-remove, as all inputs have the votes of all teachers, and where teachers have
        weights: a vote may be moved by many of them.
        """
        if self.claim.adjacency == "add-remove" or self.claim.weights is not None:
            return None
        weights = np.random.default_rng(0).integers(1, 2**62, self.claim.classes)
        tried = self.histograms[: _PAIRED // self.claim.classes]
        hashes = tried @ weights  # wraps round: equal where one vote less is equal
        lesser: dict[int, list[int]] = defaultdict(list)
        found: set[tuple[int, int]] = set()
        for at, (row, full) in enumerate(zip(tried, hashes, strict=True)):
            for without in (full - weights[row > 0]).tolist():
                found.update((other, at) for other in lesser[without][:1])
                lesser[without].append(at)
        votes = self.histograms
        pairs = [(a, b) for a, b in sorted(found) if np.abs(votes[a] - votes[b]).sum() == 2]
        if not pairs:
            return None
        pairs = pairs[:: max(1, len(pairs) // _TRIED)]
        first, second = pairs[least_predictable(self.claim, votes[[first for first, _ in pairs]])]
        return votes[first], votes[second]

    def same_votes(self) -> Histogram | None:
        """A histogram that two inputs share; of several the one with least predictable labels."""
        found = list(self._second)[: _WEIGHED // self.claim.classes]
        if not found:
            return None
        votes = np.array(found, dtype=np.int64)
        best: Histogram = votes[least_predictable(self.claim, votes)]
        return best

    def raised(self, bases: Sequence[tuple[int, ...]]) -> tuple[int, int, Histogram] | None:
        """The nearest input in which only the leader of a base has gained votes.

        bases: histograms; of the first that has such an input, its place and its leader come first.
        None where none has.
        """
        for place, base in enumerate(bases):
            votes = np.array(base, dtype=np.int64)
            leader = int(votes.argmax())
            change = self.histograms - votes
            gained = change[:, leader] > 0
            change[:, leader] = 0
            found = np.flatnonzero(gained & (change <= 0).all(-1))
            if found.size:
                nearest = found[int(np.argmin(-change[found].sum(-1)))]
                return place, leader, self.histograms[nearest]
        return None


@lru_cache(maxsize=8)
def given_inputs(claim: LabelsClaim) -> GivenInputs:
    """The inputs of a claim; kept, so that their laws are computed once."""
    return GivenInputs(claim)


@lru_cache(maxsize=32)
def opening_histogram(claim: LabelsClaim) -> Histogram:
    """The histogram of the first call: that on which noise of another scale shows soonest.

    Among the claim's inputs, or else among those with one leader and even votes below it. Labels of
    one call are compared with those of another too, so that each has a nat of entropy; where no
    histogram has, it is the one with the least predictable labels.
    """
    given = claim.given
    found = given_inputs(claim).pool.histograms if given else one_leader(claim.mechanism)
    log_q = log_laws(claim.mechanism, found)
    score = unpredictable = entropies(log_q)
    if unpredictable.max() >= _OPENING:
        others = [log_laws(claim.mechanism, found, factor) for factor in _SCALES]
        shown = np.min([divergences(law, log_q) for law in others], axis=0)
        score = np.where(unpredictable >= _OPENING, shown, -np.inf)
    best: Histogram = found[int(np.argmax(score))]
    return best


def may_open(claim: LabelsClaim, votes: Sequence[int]) -> bool:
    """Whether a run may open with these votes (c,), as that of an earlier report did.

    They are those of a claimed input, or of all teachers, and half as hard to predict as those of
    `opening_histogram`, or of half a nat of entropy.
    """
    if claim.given:
        fits = any(row.histogram == tuple(votes) for row in claim.given)
    else:
        fits = len(votes) == claim.mechanism.classes and sum(votes) == claim.mechanism.teachers
    if not fits:
        return False
    both = np.array([votes, opening_histogram(claim)])
    earlier, ours = entropies(log_laws(claim.mechanism, both))
    return bool(earlier >= 0.5 * min(_OPENING, ours))


def clearest_histogram(claim: LabelsClaim) -> Histogram:
    """The claim's input with the most predictable label; without inputs, all votes on one class."""
    if claim.given:
        return given_inputs(claim).clearest()
    return unanimous(claim.mechanism.classes, claim.mechanism.teachers)[::-1].copy()


def coverage(plan: Plan, answered: NDArray[np.bool_]) -> Iterator[Note]:
    """Notes on how many inputs were asked and which kinds were missing; none without `[inputs]`.

    answered: whether each stream (streams,) has been answered.
    """
    rows, inputs = plan.claim.given, plan.claim.inputs
    if not rows or inputs is None or not answered.any():
        return
    asked = np.unique(plan.histograms[answered].astype(np.int64), axis=0)
    different = len({row.histogram for row in rows})
    if inputs.file is not None:
        yield Note(
            "only-given-inputs",
            f"only inputs of {inputs.file} were asked: {len(asked):,} of its {different:,} "
            f"different histograms ({len(rows):,} rows); what is answered to others was not seen",
            {"asked": len(asked), "histograms": different, "rows": len(rows)},
        )
    if not nearly_tied(plan.claim.mechanism, asked).any():
        lead = int(leads(asked).min())
        message = "no input is a near tie, where most faults show: the smallest lead asked was "
        yield Note("no-near-tie", f"{message}{lead:,}", {"lead": lead})
    surest = float(np.exp(plan.log_q[answered].max()))
    if surest < CLEAR:
        message = f"no input has a clear winner: the surest outcome has probability {surest:.2f}"
        yield Note("no-clear-winner", message, {"probability": surest})
