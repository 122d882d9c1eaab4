"""What is named where keys are selected by another law: a threshold, truncated geometric, or none.

Rates are exact: 10^5 keys of every count, released as often as the law says. Catches the nearest
threshold of a list named for a law that no threshold has.
"""

import math

import numpy as np
import pytest

from dpassay.reference.accounting.adjacency import Adjacency
from dpassay.reference.arrays import Matrix
from dpassay.reference.numbers import ThresholdedHistogram, parse_number_noise
from dpassay.verifiers.findings.note import Note
from dpassay.verifiers.kinds.keys.evidence.key_faults import (
    UNFITTING,
    geometric_law,
    named_selection,
)

COUNTS = np.arange(0.0, 60.0)
KEYS = 100_000


def claimed(noise: str = "laplace:2", threshold: float = 20.0) -> ThresholdedHistogram:
    law = parse_number_noise(noise)
    return ThresholdedHistogram(law, COUNTS.size, threshold, Adjacency.ADD_REMOVE)


ANOTHER = Note("threshold-too-low", "another", {"threshold": 19.0})


def named(law: ThresholdedHistogram, released: Matrix, keys: int = KEYS) -> Note:
    came = np.rint(keys * np.where(COUNTS > 0, released, 0.0))
    return named_selection(law, ANOTHER, COUNTS, np.stack([came, keys - came], axis=1))


@pytest.mark.parametrize(
    ("noise", "threshold"), [("laplace:3.3", 17.4), ("gaussian:1.7", 22.0), ("laplace:2", 23.1)]
)
def test_noise_at_any_threshold_keeps_the_name_of_the_list(noise: str, threshold: float) -> None:
    true = claimed(noise, threshold)
    assert _is_another(named(claimed(), np.exp(true.log_released(COUNTS))))


def test_whole_noise_at_another_threshold_too() -> None:
    true = claimed("discrete-laplace:1.4", 23.0)
    found = named(claimed("discrete-laplace:2"), np.exp(true.log_released(COUNTS)))
    assert _is_another(found)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-5), (0.3, 1e-4), (1.1, 1e-9)])
def test_a_truncated_geometric_law_is_told_with_its_epsilon(epsilon: float, delta: float) -> None:
    """Its recursion written out here: the smallest n of rate 1 and the rates before."""
    rates = [0.0]
    while len(rates) < COUNTS.size:
        q = rates[-1]
        rates.append(
            min(math.exp(epsilon) * q + delta, 1 - math.exp(-epsilon) * (1 - q - delta), 1)
        )
    found = named(claimed(), np.array(rates))
    assert found.code == "selection-geometric"
    assert found.fields["epsilon"] == pytest.approx(epsilon, rel=0.01)
    assert 0.0 < float(found.fields["delta"] or 0.0) < 1.0
    assert np.exp(geometric_law(epsilon, delta)(COUNTS)[0]) == pytest.approx(rates, abs=1e-12)


def test_what_no_law_of_selection_has_is_said_to_have_none() -> None:
    rates = np.where(COUNTS < 15, 0.0, np.where(COUNTS < 30, 0.4, 1.0))
    assert named(claimed(), rates) == UNFITTING
    assert UNFITTING.code == "law-unexplained"


def test_where_keys_are_too_few_to_tell_both_are_named() -> None:
    rates = np.exp(geometric_law(0.5, 1e-5)(COUNTS)[0])
    found = named(claimed(), rates, 200)
    assert _is_another(found)
    assert "(a truncated geometric" in found.message


def _is_another(found: Note) -> bool:
    return (found.code, found.fields) == (ANOTHER.code, ANOTHER.fields)
