"""`accountant-soundness`: wrong accountants are proved wrong, no others."""

from functools import partial

import numpy as np
import pytest
from claims import gnmax
from runs import claimed, result

from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.reference.accounting.analyses import query_cost
from dpassay.reference.accounting.gnmax import (
    gaussian_data_dependent,
    gnmax_data_dependent,
    log_unlikely,
)
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks.accountant_soundness import LabelsAccountantSoundness
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget, TargetError, checked_charge

SIGMA = 40.0


claim = partial(claimed, classes=5, max_queries=400)


class Deployment:
    """GNMax with an accountant of its own."""

    def __init__(self, charge):
        self.rng = np.random.default_rng(0)
        self.charge = charge

    def sample(self, histogram, size):
        return (histogram + self.rng.normal(0, SIGMA, (size, len(histogram)))).argmax(1)

    def rdp(self, histogram, orders):
        return self.charge(np.asarray(histogram), np.asarray(orders))


def reported(check, charge=None):
    deployment = Deployment(charge)
    target = InProcessTarget(deployment if charge else deployment.sample)
    return verify(target, claim(), seed=0, selection=select([check], of=SHARES))


def judged(check, charge=None):
    return result(reported(check, charge), check)


def worst_pair_charge(histogram, orders):
    return query_cost(histogram, NoisyArgmax(Gaussian(SIGMA)), orders, "worst-pair")


SOUND = {
    "data-independent": lambda h, a: a / SIGMA**2,
    "Theorem 6, union bound": lambda h, a: gnmax_data_dependent(h, SIGMA, a),
    "Theorem 6, exact q": lambda h, a: gaussian_data_dependent(
        log_unlikely(h, Gaussian(SIGMA)), SIGMA, a
    ),
    "worst pair": worst_pair_charge,
}


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.slow("over half a second")
def test_published_accountants_are_not_accused(name) -> None:
    """Although their costs at one side of a pair are below the divergence from the other."""
    found = judged("accountant-soundness", SOUND[name])
    assert found.verdict is Verdict.PASS, found.message
    assert found.code is None


def soundness(mechanism, charge, share=1.0):
    """What the check finds of a claim's table, charged a share of a published analysis."""
    made = parse_claim({"mechanism": mechanism})
    known = made.mechanism.mechanism()

    class Charging:
        def sample(self, histogram, size):
            return known.sample(histogram, size)

        def rdp(self, histogram, orders):
            return share * charge(histogram, known, np.asarray(orders))

    check = LabelsAccountantSoundness(make_plan(made, 0))
    assert check.run(InProcessTarget(Charging())) is None
    return check


def theorem_6(histogram, mechanism, orders):
    return query_cost(histogram, mechanism, orders, "data-dependent", charging="all")


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("teachers", "threshold", "threshold_noise"),
    [
        (150, 150.0, 5.0),
        pytest.param(250, 600.0, 50.0, marks=pytest.mark.slow("another threshold")),
    ],
)
def test_an_accountant_of_rare_answers_is_not_accused(teachers, threshold, threshold_noise) -> None:
    """Answers so rare that their enclosures once held zero: the proof was a nan."""
    mechanism = {"name": "confident-gnmax", "noise": "gaussian:5", "classes": 3}
    mechanism |= {"teachers": teachers, "threshold": threshold}
    mechanism |= {"threshold_noise": f"gaussian:{threshold_noise:g}"}
    assert soundness(mechanism, theorem_6).proved is None


GNMAX_3 = gnmax(3, 4)


@pytest.mark.slow("over half a second")
def test_rounding_does_not_crowd_out_a_shortfall() -> None:
    """A charge of 1e-131 falls short of a divergence of 2e-16, which is rounding, 1e115 times."""
    assert soundness(GNMAX_3, theorem_6).proved is None
    proved = soundness(GNMAX_3, theorem_6, 0.3).proved
    assert proved is not None
    assert proved.divergence > 1e-6


@pytest.mark.slow("over half a second")
def test_costs_that_show_at_high_orders_alone_are_found() -> None:
    """LNMax of gamma costs 2 gamma at most, and above gamma only beyond order 64."""
    mechanism = {"name": "lnmax", "noise": "laplace:20", "classes": 3, "teachers": 250}
    proved = soundness(mechanism, lambda h, m, a: np.full(len(a), 0.05)).proved
    assert proved is not None
    assert proved.order > 64
    assert soundness(mechanism, lambda h, m, a: np.full(len(a), 0.1)).proved is None


def last_gap_instead_of_all(histogram, orders):
    """q from the last class of a loop, where the sum over all classes is needed."""
    votes = np.sort(histogram)[::-1]
    from scipy.special import log_ndtr

    return gaussian_data_dependent(
        log_ndtr(-(votes[0] - votes[-1]) / (np.sqrt(2) * SIGMA)), SIGMA, orders
    )


def labels_instead_of_votes(histogram, orders):
    """The winner's one-hot row for the votes: every query looks unanimous."""
    unanimous = np.zeros_like(histogram)
    unanimous[histogram.argmax()] = histogram.sum()
    return gnmax_data_dependent(unanimous, SIGMA, orders)


UNSOUND = {
    "half of it": lambda h, a: 0.5 * a / SIGMA**2,
    "sigma for sigma squared in the wrong place": lambda h, a: a / SIGMA**3,
    "the last gap for all gaps": last_gap_instead_of_all,
    "labels for votes": labels_instead_of_votes,
    "nothing": lambda h, a: np.zeros(len(a)),
}


@pytest.mark.slow("proofs in ball arithmetic; others are")
@pytest.mark.parametrize("name", UNSOUND)
def test_accountants_that_charge_too_little_are_proved_wrong(name) -> None:
    """The pair, the order and the digits are shown; one vote apart, and re-checked here."""
    found = judged("accountant-soundness", UNSOUND[name])
    assert found.verdict is Verdict.FAIL
    charged, order = found.fields["charge"], found.fields["order"]
    assert charged < found.fields["cost"]
    assert found.fields["part"] == "query"
    here, there = (
        [int(v) for v in part.split("]")[0].split(",")] for part in found.message.split("[")[1:3]
    )
    assert charged == pytest.approx(
        float(np.asarray(UNSOUND[name](np.array(here), np.array([order])))[0]), rel=1e-6
    )
    assert np.abs(np.array(here) - there).sum() == 2


GNMAX = gnmax(40, 5)
LNMAX = {"name": "lnmax", "noise": "laplace:20", "classes": 4, "teachers": 100}
SCREENED = GNMAX | {"name": "confident-gnmax", "noise": "gaussian:100", "threshold": 150.0}
SCREENED |= {"threshold_noise": "gaussian:20"}

CHARGES = pytest.mark.slow("many charges")


@pytest.mark.parametrize(
    ("mechanism", "charge", "code", "fields"),
    [
        pytest.param(
            *(GNMAX, lambda a: 0.5 * a / SIGMA**2, "fewer-votes-charged", {"counts_moved": 1}),
            marks=CHARGES,
        ),
        (GNMAX, lambda a: 0.2515 * a / SIGMA**2, "charge-too-low", {"fraction": 0.25}),
        pytest.param(
            *(GNMAX, lambda a: a / SIGMA**4, "charge-too-low", {"fraction": SIGMA**-2.0}),
            marks=CHARGES,
        ),
        (GNMAX, lambda a: np.full(a.size, 2 / SIGMA**2), "one-order-charged", {"charged": 2.0}),
        pytest.param(
            *(LNMAX, lambda a: np.minimum(1 / 20, a / 800), "one-count-charged", {}), marks=CHARGES
        ),
        pytest.param(
            *(SCREENED, lambda a: a / 100**2, "screening-not-charged", {}),
            marks=CHARGES,
        ),
    ],
)
@pytest.mark.slow("over half a second")
def test_a_charge_like_a_known_one_is_named(mechanism, charge, code, fields) -> None:
    """Beside the share of the exact cost, which depends on the histogram and the order."""
    found = soundness(mechanism, lambda h, m, a: charge(a)).finding()
    assert found.code == code
    assert 0.0 < found.fields["share"] < 1.0
    assert {name: found.fields[name] for name in fields} == pytest.approx(fields)


@CHARGES
@pytest.mark.parametrize("share", [0.45, 0.51])
def test_a_charge_like_no_known_one_is_not_named(share) -> None:
    """Two per cent from a half is no half, nor is what is half of it at one order alone."""
    check = soundness(GNMAX, lambda h, m, a: share * a / SIGMA**2)
    assert_unknown(check.finding())
    bent = soundness(GNMAX, lambda h, m, a: 0.5 * a**0.99 / SIGMA**2)
    assert_unknown(bent.finding())


def assert_unknown(found):
    """A charge that is too low, by the share of the exact cost alone."""
    assert found.code == "charge-too-low"
    assert "fraction" not in found.fields
    assert found.fields["share"] == pytest.approx(found.fields["charge"] / found.fields["cost"])


def overflowing(charge, beyond):
    """An accountant that raises where an order is above `beyond`."""

    def charged(histogram, orders):
        if max(orders) > beyond:
            raise OverflowError("math range error")
        return charge(histogram, orders)

    return charged


@pytest.mark.slow("over half a second")
def test_orders_that_an_accountant_does_not_serve_are_a_warning() -> None:
    """It is held to those that it serves; without any, it is an error."""
    report = reported("accountant-soundness", overflowing(SOUND["data-independent"], 512))
    found = result(report, "accountant-soundness")
    (told,) = (warning for warning in report.notes if warning.code == "orders-not-charged")
    assert told.fields["orders"] == 1
    assert found.verdict is Verdict.PASS
    found = judged("accountant-soundness", overflowing(lambda h, a: 0.4 * a / SIGMA**2, 512))
    assert found.verdict is Verdict.FAIL
    report = reported("accountant-soundness", overflowing(SOUND["data-independent"], 1))
    assert report.verdict is Verdict.ERROR
    assert report.checks[0].code == "target-failed"
    assert "math range error" in report.checks[0].message


@pytest.mark.slow("over half a second")
def test_an_accountant_is_held_to_the_orders_that_it_names() -> None:
    """One that is right at every order but 40, which only its reply names."""
    mechanism, at = {"name": "gnmax", "noise": "gaussian:40", "classes": 3}, [2.0, 40.0, 64.0]
    made = parse_claim({"mechanism": mechanism | {"teachers": 250}})

    class Named(Deployment):
        def rdp(self, histogram, orders):
            return {"orders": at, "rdp": [a / SIGMA**2 / (4 if a == 40 else 1) for a in at]}

    check = LabelsAccountantSoundness(make_plan(made, 0))
    assert check.run(InProcessTarget(Named(None))) is None
    assert check.proved is not None
    assert check.proved.order == 40.0


@pytest.mark.slow("over half a second")
def test_a_target_without_an_accountant_is_not_judged() -> None:
    found = judged("accountant-soundness")
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert found.code == "not-offered"


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ([1.0], "shape .1,.: expected 2 costs"),
        ("costly", "returned costly: expected 2 costs"),
        ([1.0, -2.0], "returned -2.0 at order 4: expected a cost from 0"),
        ([-1.0, 2.0], "returned -1.0 at order 2"),
    ],
)
def test_a_broken_charge_is_an_error(reply, message) -> None:
    with pytest.raises(TargetError, match=message):
        checked_charge(reply, np.array([3, 2]), (2.0, 4.0))


class RightAtPowersOfTwo:
    """Charges a quarter of the cost at the orders between powers of two."""

    def sample(self, histogram, size):
        return np.zeros(size, dtype=np.int64)

    def rdp(self, histogram, orders):
        powers = np.isclose(np.log2(orders) % 1.0, 0.0) | (orders == 1.5)
        return np.where(powers, 1.0, 0.25) * orders / 100


@pytest.mark.slow("over half a second")
def test_orders_between_powers_of_two_are_charged() -> None:
    """Orders 1.5 and powers of two alone pass an accountant that is right at these alone."""
    made = claimed("gaussian:10", classes=3, teachers=50)
    check = LabelsAccountantSoundness(make_plan(made, 0))
    assert check.run(InProcessTarget(RightAtPowersOfTwo())) is None
    assert check.proved is not None
    assert check.proved.order in (3.0, 6.0, 10.0, 20.0, 48.0, 100.0)
