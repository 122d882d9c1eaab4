"""The gate on the zoo: every broken aggregator is reported, every correct one passes.

One run each; the quick suite has those of QUICK, the whole suite all of them. The seed of the noise
is the place in the zoo; that of the histograms is one for all, since runs of one claim and seed
share their plan, the costly part.
`python -m benchmarks.zoo labels` repeats the runs over many seeds.
"""

import numpy as np
import pytest
from scipy.stats import norm

from dpassay.reference import Gaussian, probabilities
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget
from zoo import BROKEN, CORRECT, opened
from zoo import restarts as of_restarts
from zoo.claims import SIGMA

ZOO = BROKEN + CORRECT


QUICK = {
    "scale": "root-scale",
    "families": "laplace-equal-variance",
    "classes": "last-class-forgotten",
    "inputs": "noise-grows-with-consensus",
    "kinds": "scaled-from-200-votes",
    "weights": "weights-left-out",
    "reuse": "frozen-per-histogram",
    "seeds": "seed-from-milliseconds",
    "balance": "part-of-the-noise-once-a-call",
    "order": "second-answers-bare",
    "output": "noisy-maximum-itself",
    "screening": "one-screening-a-call",
    "accounting": "gamma-for-two-gamma never-stops",
    "neighbours": "textbook-of-moved-votes",
    "none": "textbook-noisy-max",
}
"""By class of fault, what every push runs: each check and mechanism once, and a correct one (none).

A new entry is left to `make test-all` unless it is named here. Of shortcuts, of inputs and of
sampled teachers test_diagnosis.py, test_inputs.py and test_sampled_teachers.py run faults. Broken
ones are run with their checks alone here; the whole suite has whole runs of the others, and
`python -m benchmarks.zoo labels` of all.
"""

NOW = {name for names in QUICK.values() for name in names.split()}
LATER = pytest.mark.slow("whole runs; others of its class are")


def runs(entries):
    """Each entry with the seed of its noise."""
    return [
        pytest.param(
            entry,
            place,
            id=entry.id,
            marks=[] if entry.id in NOW else [LATER],
        )
        for place, entry in enumerate(ZOO)
        if entry in entries
    ]


COARSE = {"smallest_effect": 0.1, "tolerance": 0.2}
"""For runs that go to their end: a fifteenth of the queries; the benchmark has the default gate."""


def run(entry, seed):
    to_the_end = entry in CORRECT or entry.fault in ("accounting", "neighbours", "restarts")
    gate = entry.claim.get("gate", {}) | (COARSE if to_the_end else {})
    made = parse_claim(entry.claim | {"gate": gate})
    chosen = select(entry.checks if entry.id in NOW else (), of=SHARES)
    with opened(entry, seed) as target:
        return verify(target, made, seed=0, selection=chosen)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("entry", "seed"), runs(BROKEN))
def test_a_broken_aggregator_is_reported(entry, seed) -> None:
    """By a check that its fault concerns: an accusation for another reason is no detection."""
    report = run(entry, seed)
    reported = {found.id for found in report.checks if found.verdict.value == entry.verdict}
    assert report.verdict.value == entry.verdict
    assert reported & set(entry.checks)


@pytest.mark.parametrize(("entry", "seed"), runs(CORRECT))
@pytest.mark.slow("over half a second")
def test_a_correct_aggregator_is_not_accused(entry, seed) -> None:
    """However it draws: a check that takes its way of drawing for a fault shows here."""
    report = run(entry, seed)
    assert report.verdict.value == entry.verdict, [found.message for found in report.checks]


def test_every_entry_is_told_apart_and_expects_a_known_check() -> None:
    assert len({entry.id for entry in ZOO}) == len(ZOO)
    assert len(BROKEN) >= 45
    assert len(CORRECT) >= 14
    for entry in ZOO:
        assert set(entry.checks) <= set(SHARES), entry.id
        assert entry.effect.endswith("."), entry.id
        assert bool(entry.checks) is (entry in BROKEN), entry.id


def test_what_is_not_left_for_later_has_every_check_and_mechanism() -> None:
    now = [entry for entry in ZOO if entry.id in NOW]
    assert {entry.id for entry in now} == NOW
    assert all(entry.id in QUICK[entry.fault].split() for entry in now)
    assert {entry.fault for entry in now} == set(QUICK) <= {entry.fault for entry in ZOO}
    names, every = ({e.claim["mechanism"]["name"] for e in some} for some in (now, ZOO))
    assert names == every
    assert {check for entry in now for check in entry.checks} == {
        check for entry in ZOO for check in entry.checks
    }


@pytest.mark.slow("over half a second")
def test_every_make_begins_afresh() -> None:
    """Nothing is left over from a run before: catches state kept in a module or a class.

    Processes of their own keep neither, and most are seeded by the system.
    """
    deployed = (*of_restarts.shelf.entries, *of_restarts.correct.entries)
    for entry in (entry for entry in ZOO if entry not in deployed):
        first, second = (calls(entry.make(5), entry.claim) for _ in range(2))
        assert np.array_equal(first, second), entry.id


def calls(target, tables):
    """Labels of a few calls, one after the other."""
    claim = parse_claim(tables)
    teachers = claim.mechanism.teachers
    votes = np.zeros(claim.mechanism.classes, dtype=np.int64)
    votes[:2] = teachers // 2, teachers - teachers // 2
    if claim.given:
        votes = np.array(claim.given[0].histogram)
    ask = InProcessTarget(target, release=claim.release).ask
    return [label for size in (1, 20, 7) for label in np.asarray(ask(votes, size))]


DISCRETE = {
    "rounded-ties-at-random": lambda x: np.diff(norm.cdf(np.append(x - 0.5, x[-1] + 0.5) / SIGMA)),
    "discrete-gaussian": lambda x: np.exp(-0.5 * (x / SIGMA) ** 2),
}


@pytest.mark.parametrize("name", DISCRETE)
@pytest.mark.parametrize("votes", [(125, 124, 1), (150, 100, 0), (84, 83, 83), (220, 20, 10)])
def test_integer_noise_with_random_ties_has_nearly_the_claimed_law(name, votes) -> None:
    """Why it may stand among the correct ones: a thousandth of what a pass rules out.

    Ties settled by uniform priorities are exact: given that of the winner, t, another class stays
    below with its chance of a smaller count plus t times that of an equal one.
    """
    assert name in {entry.id for entry in CORRECT}
    support = np.arange(-400, 401)
    mass = DISCRETE[name](support.astype(float))
    mass /= mass.sum()
    grid = np.arange(-400, 801)
    counts = np.stack([np.interp(grid - v, support, mass, left=0, right=0) for v in votes])
    below = counts.cumsum(1) - counts
    nodes, weights = np.polynomial.legendre.leggauss(3)  # exact: a polynomial of degree 2 in t
    law = np.zeros(len(votes))
    for t, weight in zip(0.5 * (nodes + 1), 0.5 * weights, strict=True):
        stays = below + t * counts
        for k in range(len(votes)):
            others = np.delete(stays, k, 0).prod(0)
            law[k] += weight * (counts[k] * others).sum()
    assert law.sum() == pytest.approx(1.0, abs=1e-9)
    distance = 0.5 * np.abs(law - probabilities(np.array(votes, float), Gaussian(SIGMA))).sum()
    assert distance < 2e-5
