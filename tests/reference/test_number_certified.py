"""Lower bounds in ball arithmetic on what releases of numbers cost: below the truth, and near."""

import math

import numpy as np
import pytest
from flint import arb
from published_costs import renyi_cost
from scipy.optimize import brentq

from dpassay.reference.accounting.adjacency import Adjacency
from dpassay.reference.numbers import Move, NoisyHistogram, parse_number_noise
from dpassay.reference.numbers.certified import CertifiedPair
from dpassay.reference.numbers.costs import epsilon_bracket
from dpassay.reference.numbers.enclosed import theta

pytestmark = pytest.mark.usefixtures("logistic")

DELTA = 1e-6
FAMILIES = ("laplace:2", "gaussian:3", "discrete-laplace:2", "discrete-gaussian:3")


@pytest.mark.parametrize("text", [*FAMILIES, "discrete-gaussian:70", "logistic:2"])
@pytest.mark.parametrize("value", [-7, 0, 1, 4, 60])
def test_tails_are_enclosed(text: str, value: int) -> None:
    """Beside the tails in floating point, which are confirmed elsewhere."""
    family = parse_number_noise(text).family
    above = float(value) - 0.5 if family.whole else float(value)
    found = family.enclosed_survival(arb(value), value)
    wanted = math.exp(float(family.log_survival(np.array(above))))
    assert float(found.mid()) == pytest.approx(wanted, rel=1e-9)
    assert float(found.rad()) < 1e-8 * wanted


@pytest.mark.parametrize("scale", [0.3, 3.0, 60.0])
def test_sums_about_another_centre_are_enclosed(scale: float) -> None:
    k = np.arange(-3_000.0, 3_001.0)
    for offset in (0.0, 0.25, 0.5):
        wanted = math.fsum(np.exp(-0.5 * ((k - offset) / scale) ** 2))
        assert float(theta(scale, arb(offset)).mid()) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("text", FAMILIES)
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("releases", [1, 60])
@pytest.mark.quick_cases(2)
def test_epsilon_lies_below_the_bracket_and_near_it(text: str, times: int, releases: int) -> None:
    """Beside privacy loss distributions: catches tails that are too large, and coarse scores."""
    adjacency = Adjacency.ADD_REMOVE if times == 1 else Adjacency.REPLACE_ONE
    aggregation = NoisyHistogram(parse_number_noise(text), 10, adjacency)
    bracket = epsilon_bracket(aggregation, DELTA, releases)
    euclidean = "gaussian" in text
    pair = CertifiedPair(aggregation.noise, aggregation.farthest(2 if euclidean else 1))
    found = pair.epsilon_lower(releases, DELTA)
    assert 0.985 * bracket.low <= found <= bracket.high * (1.0 + 1e-9)


@pytest.mark.parametrize("text", ["laplace:2", "gaussian:3"])
def test_many_releases_are_counted(text: str) -> None:
    """Of rounded noise, which no formula composes: below what unrounded noise costs."""
    plain = NoisyHistogram(parse_number_noise(text), 1, Adjacency.ADD_REMOVE)
    pair = CertifiedPair(parse_number_noise(f"{text};round"), Move(1.0))
    found = pair.epsilon_lower(5_000, DELTA)
    most = 5_000 * float(renyi_cost(plain, [1.5])[0])
    assert 0.4 * most < found
    assert found < 5_000 * 0.5


def hockey_stick(text: str, here: float, by: float, epsilon: float) -> float:
    """Delta of one number by summation over all that is released."""
    noise = parse_number_noise(text)
    y = np.arange(-80.0, 181.0)
    y = np.clip(y, noise.low, noise.high)
    laws = [np.exp(noise.log_mass(np.unique(y), x)) for x in (here, here + by)]
    ways = [np.maximum(p - math.exp(epsilon) * q, 0.0).sum() for p, q in (laws, laws[::-1])]
    return float(max(ways))


@pytest.mark.parametrize(
    ("text", "start", "sharp"),
    [
        ("laplace:2;round", 0.0, 0.99),
        ("gaussian:3;round", 0.0, 0.99),
        ("logistic:2;round", 0.0, 0.99),
        ("gaussian:3;round", 0.3, 0.95),
        ("laplace:2;round;min=0", 1.0, 0.9),
        ("laplace:2;cut", 90.0, 0.99),
        ("laplace:2;cut", -0.7, 0.9),
        ("gaussian:3;cut", 0.0, 0.9),
        ("laplace:2;cut;min=0", 1.0, 0.9),
        ("discrete-gaussian:3;min=-2;max=3", 0.0, 0.9),
        ("discrete-laplace:2;max=0", 0.0, 0.9),
    ],
)
def test_rounded_and_clamped_releases_cost_no_more_than_they_do(
    text: str, start: float, sharp: float
) -> None:
    """Catches events that rounding or a clamp has hidden, edges half a grid off."""
    delta = 1e-3
    found = CertifiedPair(parse_number_noise(text), Move(1.0), start).epsilon_lower(1, delta)
    true = brentq(lambda e: hockey_stick(text, start, 1.0, e) - delta, 0.0, 3.0)
    assert sharp * true <= found <= true * (1.0 + 1e-9)


@pytest.mark.parametrize("text", FAMILIES)
@pytest.mark.parametrize("order", [1.5, 4.0, 64.0])
def test_renyi_costs_are_those_of_the_laws(text: str, order: float) -> None:
    """Beside sums over the law itself, for a move by 3."""
    noise = parse_number_noise(text)
    step = 1.0 if noise.family.whole else 1e-3
    reach = 400.0 if noise.family.whole else 300.0
    y = np.arange(-reach, reach, step)
    here, there = (noise.family.log_mass(y - x, 0.5 * step) for x in (0.0, 3.0))
    wanted = np.logaddexp.reduce(order * here + (1.0 - order) * there) / (order - 1.0)
    found = CertifiedPair(noise, Move(3.0)).renyi_lower(order)
    assert found == pytest.approx(float(wanted), rel=1e-5)
    rounded = parse_number_noise(text if noise.family.whole else f"{text};round")
    assert CertifiedPair(rounded, Move(3.0)).renyi_lower(order) <= found * (1.0 + 1e-12)


def test_whole_noise_hides_whole_numbers_alone() -> None:
    with pytest.raises(ValueError, match=r"^discrete-laplace:2 .*not whole"):
        CertifiedPair(parse_number_noise("discrete-laplace:2"), Move(0.5))
