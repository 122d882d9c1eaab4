"""How sure a report is of a cause, in words."""

import math

import pytest

from dpassay.verifiers.findings.evidence_text import times_likelier


@pytest.mark.parametrize(
    ("log10", "words"),
    [
        (7.24, "10^7.2 times likelier"),
        (30.0, "10^30.0 times likelier"),
        (30.1, "more than 10^30 times likelier"),
        (math.inf, "more than 10^30 times likelier"),
    ],
)
def test_a_ratio_of_likelihoods_has_no_digits_beyond_10_to_the_30(log10: float, words: str) -> None:
    """Catches a limit that is taken the other way round, or that leaves its own end out."""
    assert times_likelier(log10) == words
