"""Evidence of reused noise: fair under every law, and large for each way of reusing it.

Exact enumeration over all label sequences of small cases checks that no wager has an expectation
above 1; a wager that looks at the label it is made on, or is normalised wrongly, is caught.
"""

import math
from itertools import product

import numpy as np
import pytest
from scipy.special import xlog1py, xlogy
from scipy.stats import binom

from dpassay.reference import Gaussian, NoisyArgmax, log_probabilities
from dpassay.verifiers.checks import FreshNoise, PrivacyAudit, VoteMonotonicity
from dpassay.verifiers.claim import parse_claim
from dpassay.verifiers.evidence import (
    CallCopies,
    Dependence,
    Dispersion,
    Frozen,
    Periodic,
    Places,
    Repetition,
    SharedNoise,
    count_outcomes,
    log_e_value_larger,
    log_supremum_ratio,
)
from dpassay.verifiers.evidence.power import copies_to_see, rises_to_see
from dpassay.verifiers.evidence.repetition import AVOIDED, LONGEST, SHARES, log_lag_weights
from dpassay.verifiers.gate import verify
from dpassay.verifiers.planning.planner import FRESH_CALL, make_plan
from dpassay.verifiers.planning.roles import Role
from dpassay.verifiers.targets import InProcessTarget

NULLS = [(0.5, 0.5), (0.9, 0.1), (0.7, 0.2, 0.1), (0.98, 0.015, 0.005)]
LENGTH = 6


def repetition(labels, log_q):
    evidence = Repetition(log_q)
    evidence.observe(labels[:2])
    evidence.observe(labels[2:])
    return evidence.log_e_value


def dependence(labels, log_q):
    evidence = Dependence(log_q, 0.1)
    evidence.observe(labels[:3])
    evidence.observe(labels[3:])
    return evidence.log_e_value


def periodic(labels, log_q):
    evidence = Periodic()
    evidence.observe(labels[:4], log_q)
    evidence.skip(3)
    evidence.observe(labels[4:], log_q)
    return evidence.log_e_value


def frozen(labels, log_q):
    evidence = Frozen(2)
    evidence.observe(0, labels[:3], log_q)
    evidence.observe(1, labels[3:], log_q)
    return evidence.log_e_value


def calls(labels, log_q):
    evidence = CallCopies(log_q, 2)
    for call in (labels[:1], labels[1:3], labels[3:]):  # the first is too short to be compared
        evidence.observe(call)
    return evidence.log_e_value


WAGERS = [repetition, dependence, periodic, frozen, calls]


def mean(value, q):
    """Expectation over all label sequences of LENGTH under law q."""
    total = 0.0
    for sequence in product(range(len(q)), repeat=LENGTH):
        chance = math.prod(q[label] for label in sequence)
        total += chance * math.exp(value(np.array(sequence)))
    return total


@pytest.mark.parametrize("q", NULLS)
@pytest.mark.parametrize("wager", WAGERS, ids=lambda wager: wager.__name__)
def test_a_wager_is_fair_under_the_claimed_law(wager, q):
    """Each is a mixture of likelihood ratios: its expectation is 1, not merely at most 1."""
    log_q = np.log(np.array(q))
    assert math.isclose(mean(lambda labels: wager(labels, log_q), q), 1.0, rel_tol=1e-9)


@pytest.mark.parametrize("true", NULLS[:3])
@pytest.mark.parametrize(
    "wager", [repetition, dependence, periodic, calls], ids=lambda wager: wager.__name__
)
def test_a_corrected_wager_is_fair_under_any_law(wager, true):
    """Divided by the supremum of the likelihood, it stays below 1 where the claim is wrong too.

    Uncorrected, the same wager exceeds 1 under some other law: that is what the division is for.
    """
    claimed = np.log(np.full(len(true), 1.0 / len(true)))

    def corrected(labels):
        misfit = log_supremum_ratio(count_outcomes(labels, len(true)), claimed)
        return wager(labels, claimed) - misfit

    assert mean(corrected, true) <= 1.0 + 1e-9
    if true != (0.5, 0.5) and wager is not periodic:
        assert mean(lambda labels: wager(labels, claimed), true) > 1.0


def test_repetition_counts_what_it_says():
    """Against the plain double loop, in batches and over several segments."""
    rng = np.random.default_rng(0)
    q = np.array([0.6, 0.3, 0.1])
    labels = rng.choice(3, size=60, p=q)
    evidence = Repetition(np.log(q))
    for batch in np.split(labels, [1, 5, 40]):
        evidence.observe(batch)
    for i, share in enumerate(SHARES):
        for distance in (1, 7, 59):
            ratio = sum(
                math.log(1 - share + share * (labels[t] == labels[t - distance]) / q[labels[t]])
                for t in range(distance, 60)
            )
            assert math.isclose(evidence.log_ratios[i, distance - 1], ratio, abs_tol=1e-9)
    assert math.isclose(np.exp(log_lag_weights()).sum(), 1.0)


def test_repetition_wagers_on_labels_that_avoid_each_other():
    """Against the plain double loop: the earlier label's chance times 1 - r, over their sum."""
    q = np.array([0.6, 0.3, 0.1])
    labels = np.random.default_rng(1).choice(3, size=40, p=q)
    evidence = Repetition(np.log(q))
    evidence.observe(labels)
    for i, avoided in enumerate(AVOIDED):
        for distance in (1, 7):
            ratio = 0.0
            for t in range(distance, 40):
                law = q * np.where(np.arange(3) == labels[t - distance], 1 - avoided, 1.0)
                ratio += math.log(law[labels[t]] / law.sum() / q[labels[t]])
            found = evidence.log_ratios[SHARES.size + i, distance - 1]
            assert math.isclose(found, ratio, abs_tol=1e-9)


@pytest.mark.parametrize("claimed", [0.5, 0.9])
@pytest.mark.parametrize("true", [0.02, 0.3, 0.5, 0.77, 0.9, 0.999])
def test_dispersion_is_fair_under_any_probability(claimed, true):
    """Enumerated: all counts of three calls, of independent labels of any one probability.

    Under the claimed one the ratios before the division have expectation 1, so that a law of the
    counts that does not sum to 1 is caught.
    """
    sizes = (9, 8, 12)
    total = plain = 0.0
    for counts in product(*(range(size + 1) for size in sizes)):
        evidence = Dispersion(claimed)
        for count, size in zip(counts, sizes, strict=True):
            evidence.observe(count, size)
        chance = math.prod(binom.pmf(n, size, true) for n, size in zip(counts, sizes, strict=True))
        total += chance * math.exp(evidence.log_e_value)
        inside, labels = sum(counts), sum(sizes)
        misfit = supremum(inside, labels) - likelihood(inside, labels, true)
        plain += chance * math.exp(evidence.log_e_value + misfit)
    assert total <= 1.0 + 1e-9
    assert math.isclose(plain, 1.0, rel_tol=1e-9)


def likelihood(inside, labels, share):
    """Log-likelihood of an order of so many labels inside of a set of this probability."""
    return xlogy(inside, share) + xlog1py(labels - inside, -share)


def supremum(inside, labels):
    return likelihood(inside, labels, inside / labels)


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_dispersion_sees_counts_that_are_too_even_and_passes_the_right_ones(spread):
    """Power: a call of 16 whose count is fixed tells about a nat; below 23 by fair ones, always.

    Null: fair ones reach 23 with probability e^-23 at most.
    """
    evidence, rng = Dispersion(0.5), np.random.default_rng(0)
    for _ in range(64):
        evidence.observe(int(rng.binomial(16, 0.5)) if spread else 8, 16)
    assert (evidence.log_e_value > 23.0) is (spread == 0.0)


LAWS = [(0.5, 0.5), (0.9, 0.1), (0.25, 0.75)]


@pytest.mark.parametrize("first", LAWS)
@pytest.mark.parametrize("second", LAWS)
def test_shared_noise_is_fair_under_any_two_laws(first, second):
    """Enumerated: three pairs of independent labels; whichever of two came later is wagered on."""
    claimed = np.log(np.array([(0.6, 0.4), (0.3, 0.7)]))
    counts = np.array([[50.0, 10.0], [1.0, 39.0]])
    total = 0.0
    for labels in product(range(2), repeat=6):
        x, y = np.array(labels[:3]), np.array(labels[3:])
        chance = math.prod(first[a] * second[b] for a, b in zip(x, y, strict=True))
        total += chance * math.exp(shared(claimed, counts, x, y).log_e_value)
    assert total <= 1.0 + 1e-9


def shared(claimed, counts, x, y):
    """The first two pairs wagered on the second label, the last on the first."""
    evidence = SharedNoise(claimed, lambda a, b: counts if (a, b) == (0, 1) else counts.T)
    evidence.observe(0, x[:2], 1, y[:2])
    evidence.observe(1, y[2:], 0, x[2:])
    return evidence


def test_shared_noise_grows_with_labels_that_share_it():
    """Of neighbours: alike but where the vote decides; independent ones of another scale do not."""
    votes = [125, 125, 0, 0], [124, 126, 0, 0]
    claimed = np.stack([log_probabilities(v, Gaussian(40.0)) for v in votes])
    draws = [NoisyArgmax(Gaussian(40.0)).sample(v, 20_000, np.random.default_rng(0)) for v in votes]
    joint = np.bincount(4 * draws[0] + draws[1], minlength=16).reshape(4, 4).astype(float)
    for scale, same in ((40.0, True), (40.0, False), (36.0, False), (80.0, False)):
        mechanism, grown = NoisyArgmax(Gaussian(scale)), []
        for seed in range(20):
            x, y = (
                mechanism.sample(v, 384, np.random.default_rng([seed, 0 if same else side]))
                for side, v in enumerate(votes)
            )
            evidence = SharedNoise(claimed, lambda a, b: joint if (a, b) == (0, 1) else joint.T)
            evidence.observe(0, x, 1, y)
            grown.append(evidence.log_e_value)
        assert (min(grown) > 100.0) if same else (max(grown) < 10.0)


def test_places_are_counted_for_each_key():
    """A key's labels take the next places; there is nothing to compare where none were kept."""
    places = Places(8)
    assert places.add(250, 3, np.array([1, 2])) == slice(0, 2)
    assert places.add(750, 4, np.array([5, 6, 7])) == slice(0, 3)
    assert places.add(250, -1, np.array([0, 0])) == slice(2, 4)
    streams, outcomes = places.at(250, slice(0, 3))
    assert streams.tolist() == [3, 3, -1]
    assert outcomes.tolist()[:2] == [1, 2]
    assert places.at(10, slice(0, 2))[0].tolist() == [-1, -1]
    assert places.add(250, 3, np.arange(9)) == slice(4, 8)  # no room for all of them


@pytest.mark.parametrize("chance", [0.2, 0.9])
def test_the_one_sided_wager_never_gains_under_its_null(chance):
    """Enumerated: pairs of independent trials, the first no likelier than the second."""
    for pairs in (1, 5, 30):
        apart = 2.0 * chance * (1.0 - chance)
        total = 0.0
        for n in range(pairs + 1):
            for first in range(n + 1):
                weight = binom.pmf(n, pairs, apart) * binom.pmf(first, n, 0.5)
                total += weight * math.exp(log_e_value_larger(first, n - first))
        assert total <= 1.0 + 1e-9
        assert total > 0.9


@pytest.mark.parametrize("votes", [[130] + [15] * 8 + [0], [125, 125]])
def test_copies_to_see(votes):
    """Null: detection rate >= 0.99 at the stated probability of a copy; at half of it, rarely."""
    log_q = np.asarray(log_probabilities(votes, Gaussian(40.0)))
    q, labels, wanted = np.exp(log_q), 8000, 40.0
    share = copies_to_see(log_q, labels, wanted)
    assert 0.01 < share < 0.5
    rng = np.random.default_rng(3)
    runs, distance = 100, 20
    found = {1.0: 0, 0.4: 0}
    for factor in found:
        for _ in range(runs):
            drawn = rng.choice(q.size, labels + distance, p=q / q.sum())
            copied = np.flatnonzero(rng.random(drawn.size) < factor * share)
            for t in copied[copied >= distance]:
                drawn[t] = drawn[t - distance]
            evidence = Repetition(log_q)
            evidence.observe(drawn)
            found[factor] += evidence.log_ratios[:, distance - 1].max() >= wanted
    assert found[1.0] >= binom.ppf(1e-9, runs, 0.99)
    assert found[0.4] < runs / 2


def test_rises_to_see():
    """Null: a fall of 0.02 shows with probability 0.99."""
    chance, effect, wanted = 0.98, 0.02, 19.0
    pairs = rises_to_see(chance, effect, wanted)
    rng = np.random.default_rng(4)
    runs, shown = 2000, 0
    for _ in range(runs):
        first = rng.binomial(pairs, chance * (1 - chance + effect))
        second = rng.binomial(pairs, (chance - effect) * (1 - chance))
        shown += log_e_value_larger(first, second) >= wanted
    assert shown >= binom.ppf(1e-9, runs, 0.99)


def claim(**privacy):
    mechanism = {"name": "gnmax", "noise": "gaussian:40", "classes": 10, "teachers": 250}
    return parse_claim({"mechanism": mechanism} | ({"privacy": privacy} if privacy else {}))


def test_silence_states_a_probability_of_copies_that_is_seen():
    check = FreshNoise(make_plan(claim(), 0))
    rng = np.random.default_rng(0)
    mechanism = NoisyArgmax(Gaussian(40.0))
    for i, stream in enumerate(check.plan.streams):
        if stream.queries:
            straight = stream.queries - stream.turned
            check.observe(i, mechanism.sample(stream.histogram, straight, rng))
    assert check.shortfall() == 0
    assert check.log_e_value < check.log_threshold
    stated = float(check.silence().message.split("probability ")[1].split(" ")[0])
    assert stated <= 0.05
    # a quarter of the near-tie's labels under one numbering: the others are another histogram's
    longest = max(s.queries - s.turned for s in check.plan.streams) // 4
    assert f"up to {min(longest, LONGEST):,}" in check.silence().message


class OncePerCall:
    """Draws noise once a call, for all of its answers."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __call__(self, histogram, size):
        return np.repeat((histogram + self.rng.normal(0, 40, histogram.size)).argmax(), size)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(s, marks=pytest.mark.slow("other seeds")) for s in range(1, 6))]
)
def test_noise_drawn_once_a_call_is_not_taken_for_kept_answers(seed):
    """A vendor told to claim caching for this would hide the fault."""
    report = verify(InProcessTarget(OncePerCall(seed)), claim(), seed=seed)
    found = next(check for check in report.checks if check.id == "fresh-noise")
    assert found.verdict == "fail"
    assert found.message.startswith("all answers of a call are the same")
    assert found.diagnosis.startswith("noise is drawn once per call")


def test_a_restart_that_repeats_the_first_call_is_told():
    check = FreshNoise(make_plan(claim(), 0))
    mechanism = NoisyArgmax(Gaussian(40.0))
    votes = check.plan.streams[check.plan.first(Role.FRESH)].histogram
    first, other = (
        mechanism.sample(votes, FRESH_CALL, np.random.default_rng(seed)) for seed in (1, 2)
    )
    check.observe_restart(first, other)
    assert check.log_e_value < 3
    check.observe_restart(first, first)
    assert check.log_e_value > check.log_threshold
    assert "a fixed seed" in check.violation().diagnosis


@pytest.mark.parametrize(
    ("alike", "words"),
    [
        (("contained", "restarted"), "the labels of its first start again"),
        (("late", "begun"), "the labels of its first start again"),
        (("contained", "replayed"), "labels again that it gave before"),
        (("replayed", "begun"), "labels again that it gave before"),
        (("begun",), "after every restart the target gives the same labels"),
        (("contained",), "two processes of the same process id"),
        (("compared",), "that an earlier report opens with"),
    ],
)
def test_lives_that_are_alike_are_told_by_their_likeliest_cause(alike, words):
    """A fixed seed, and saved state, make lives of one process id alike too."""
    check = FreshNoise(make_plan(claim(), 0))
    rng = np.random.default_rng(0)
    earlier = rng.integers(10, size=2000)
    calls = {
        "compared": (earlier[:32], earlier[:32]),
        "contained": (earlier[64:96], earlier[64:96]),
        "restarted": (earlier, earlier[:32]),
        "late": (earlier, earlier[8:40]),  # of a server in use when the run began
        "replayed": (earlier, earlier[1800:1832]),
        "begun": (earlier[64:128], earlier[64:96]),
    }
    check.observe_restart(earlier, rng.integers(10, size=32))
    for kind in alike:
        named = kind in ("compared", "contained", "begun")
        check.observe_restart(*calls[kind], kind=kind if named else "restarted")
    if "compared" in alike:  # the only one whose labels are of this life, and seen by all
        check.observe(check.plan.first(Role.FRESH), earlier[:32])
    assert check.log_e_value > check.log_threshold
    assert words in check.violation().message


class Restarts(InProcessTarget):
    """A target whose generator begins anew with every life; `used`: labels drawn before the run."""

    def __init__(self, seed, used=0):
        self.seed = seed
        self.restart()
        self.mechanism.sample([150, 100], used, self.rng)
        super().__init__(lambda votes, size: self.mechanism.sample(votes, size, self.rng))

    mechanism = NoisyArgmax(Gaussian(40.0))
    no_restart = None

    def restart(self):
        self.rng = np.random.default_rng(self.seed)


@pytest.mark.slow("whole runs with restarts; others are")
@pytest.mark.parametrize(
    ("seed", "used", "verdict"), [(7, 0, "fail"), (7, 100, "fail"), (None, 0, "pass")]
)
def test_the_gate_restarts_what_can_be_restarted(seed, used, verdict):
    """A server in use has given its first labels to others: two later lives are compared."""
    report = verify(Restarts(seed, used), claim(), seed=1)
    assert report.verdict.value == verdict
    found = next(check for check in report.checks if check.id == "fresh-noise")
    assert "restart" in found.message


@pytest.mark.parametrize(("noise", "verdict"), [(0.1, "fail"), (40.0, "pass")])
def test_the_audit_of_the_gate_needs_no_formula(noise, verdict):
    """Labels of two neighbours that give themselves away; the claim's epsilon is 0.5 a query."""
    check = PrivacyAudit(make_plan(claim(epsilon=0.5, delta=1e-5, queries=1), 0))
    rng, mechanism = np.random.default_rng(6), NoisyArgmax(Gaussian(noise))
    for i in check.streams:
        check.run()
        assert check.verdict.value == "inconclusive"
        stream = check.plan.streams[i]
        check.observe(i, mechanism.sample(stream.histogram, stream.queries, rng))
    check.run()
    assert check.verdict.value == verdict
    assert ("labels of neighbours differ" in str(check.finding().diagnosis)) is (verdict == "fail")


def test_votes_that_lower_their_class_are_told():
    """Noise that grows with consensus: the leader is rarer once it has gained votes."""
    for growing, refuted in ((True, True), (False, False)):
        check = VoteMonotonicity(make_plan(claim(), 0))
        rng = np.random.default_rng(8)
        for i in (check.base, check.raised):
            stream = check.plan.streams[i]
            scale = 200.0 if growing and i == check.raised else 40.0
            labels = NoisyArgmax(Gaussian(scale)).sample(stream.histogram, stream.queries, rng)
            check.observe(i, labels)
        assert check.shortfall() == 0
        assert (check.log_e_value >= check.log_threshold) is refuted
