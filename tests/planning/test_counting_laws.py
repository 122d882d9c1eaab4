"""Laws of classes counted by another number, against plain enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from dpassay.reference import log_probabilities
from dpassay.verifiers.kinds.labels.planning.counting_faults import counting_law
from dpassay.verifiers.kinds.labels.planning.faults import known_faults
from dpassay.verifiers.kinds.reading import parse_claim


def mechanism(noise="gaussian:1.5", classes=3, teachers=9):
    name = "lnmax" if noise.startswith("laplace") else "gnmax"
    tables = {"name": name, "noise": noise, "classes": classes, "teachers": teachers}
    return parse_claim({"mechanism": tables}).mechanism


def whole(votes, law):
    """Probabilities of the values that a count of so many votes has once it is cut: value -> p."""
    least, found = -30, {}
    for m in range(least, 31):
        low, high = (m, m + 1) if m > 0 else (m - 1, m) if m < 0 else (-1, 1)
        found[m] = law.cdf(high - votes) - law.cdf(low - votes)
    return found


def test_classes_beyond_the_claimed_come_back_modulo() -> None:
    """Eleven votes, three classes: eight more with noise alone, of residues 0, 1, 2, 0, ..."""
    claim = mechanism("laplace:2", 3, 11)
    votes = np.array([[5.0, 4.0, 2.0]])
    wins = np.exp(log_probabilities(np.append(votes, np.zeros(8)), claim.noise))
    expected = np.bincount(np.arange(11) % 3, weights=wins)
    found = counting_law(claim, cut=False)(votes)[0]
    assert found == pytest.approx(expected, rel=1e-9)
    few = counting_law(claim, cut=False)(np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]))
    assert few.tolist() == [[1.0, 0.0, 0.0], pytest.approx([0.5, 0.5, 0.0])]


@pytest.mark.slow("over half a second")
def test_both_at_once() -> None:
    """Four votes, two classes: counts of four classes, cut, and of equal ones the first wins."""
    claim, law = mechanism("gaussian:1.5", 2, 4), norm(0, 1.5)
    expected = np.zeros(2)
    values = [whole(n, law) for n in (3, 1, 0, 0)]
    near = [{m: p for m, p in v.items() if p > 1e-9} for v in values]
    for each in product(*(v.items() for v in near)):
        counts, chances = zip(*each, strict=True)
        expected[int(np.argmax(counts)) % 2] += np.prod(chances)
    found = counting_law(claim, cut=True)(np.array([[3.0, 1.0]]))
    assert found[0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("claim", "by_votes", "on_one"),
    [
        (mechanism(), True, False),
        (mechanism(teachers=3), False, False),
        (mechanism("laplace:2", 2), None, True),
    ],
)
def test_what_is_looked_for(claim, by_votes, on_one) -> None:
    """With few teachers no class is counted beyond; of two classes one may lack its noise."""
    notes = [fault.note for fault in known_faults(claim)]
    if by_votes is not None:
        assert any(note.code == "classes-counted-by-votes" for note in notes) is by_votes
    other = {"family": "exponential", "scale": 4.0, "noisy_counts": 1}
    assert any(note.fields == other for note in notes) is on_one
