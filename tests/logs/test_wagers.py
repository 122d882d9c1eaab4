"""What a log's wagers are worth under the claim: their expectation, enumerated."""

import itertools

import numpy as np
import pytest
from small import small_claim

from dpassay.verifiers.kinds.labels.logs.changes import Parties
from dpassay.verifiers.kinds.labels.logs.laws import Alternatives
from dpassay.verifiers.kinds.labels.logs.reuse import LaggedNoise, NoiseOfParties, NoiseTable

CLAIM = small_claim().mechanism
TABLE = NoiseTable(CLAIM)
VOTES = [(20, 15, 5, 0), (10, 10, 10, 10), (14, 13, 13, 0), (20, 15, 5, 0)]
NAMES = ["a", "b", "a", "c"]


def laws(votes=VOTES):
    """Log-laws (n, o) of the rows."""
    return np.asarray(CLAIM.mechanism().log_probabilities(np.array(votes, dtype=np.float64)))


def expected(value, stopping=None):
    """The expectation of exp(value(labels)) over all labels of the rows, at a stopping time.

    value: labels -> log-e-values after each row; stopping: (log-e-values) -> a row, or the last.
    """
    log_law, total = laws(), 0.0
    for labels in itertools.product(range(4), repeat=len(VOTES)):
        chance = np.exp(sum(log_law[row, y] for row, y in enumerate(labels)))
        values = value(np.array(labels))
        total += chance * np.exp(values[stopping(values) if stopping else -1])
    return total


def early(values):
    """Stops at the first gain of a tenth: catches a wager that is placed after its label."""
    gained = np.flatnonzero(np.asarray(values) > 0.1)
    return int(gained[0]) if gained.size else -1


def drawn(labels):
    """Bits and claimed log-probabilities of labels (n,)."""
    bits = np.array([TABLE.bits(v, int(y)) for v, y in zip(VOTES, labels, strict=True)])
    return bits, laws()[np.arange(len(labels)), labels]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("stopping", [None, early])
@pytest.mark.parametrize(
    "wager",
    [
        lambda: LaggedNoise().observe,
        lambda: lambda bits, q: NoiseOfParties("worker").observe(NAMES, bits, q),
        lambda: lambda bits, q: NoiseOfParties("call", paired=False).observe(NAMES, bits, q),
    ],
)
def test_wagers_on_the_same_noise_are_fair(wager, stopping) -> None:
    """Catches a law given the earlier label that does not sum to 1, and weights above 1."""
    value = expected(lambda labels: wager()(*drawn(labels)), stopping)
    assert value == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("stopping", [None, early])
def test_wagers_on_one_party_are_fair(stopping) -> None:
    """Catches shares of parties that sum to more than 1, and a party counted twice."""
    alternatives = Alternatives(CLAIM, 0.05, answered=False)
    ratios = alternatives.laws(np.array(VOTES, dtype=np.float64))[2]

    def value(labels):
        rows = ratios[np.arange(len(labels)), :, labels]
        return Parties(alternatives).observe(NAMES, rows)

    assert expected(value, stopping) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("kind", ["gnmax", "confident-gnmax"])
def test_rows_that_were_selected_are_laws(kind) -> None:
    """Every alternative sums to 1, those of selected rows among them."""
    claim = small_claim(kind).mechanism
    log_q, _, ratios = Alternatives(claim, 0.05, answered=False).laws(
        np.array(VOTES, dtype=np.float64)
    )
    assert np.exp(log_q[:, None] + ratios).sum(-1) == pytest.approx(1.0, abs=1e-6)


def lagged(it):
    """As the others are called, with names."""
    return lambda _, bits, log_q: it.observe(bits, log_q)


@pytest.mark.parametrize(
    "observing",
    [
        lambda: lagged(LaggedNoise()),
        lambda: NoiseOfParties("worker").observe,
    ],
)
def test_chunks_change_nothing_to_wagers(observing) -> None:
    """A log that is followed row by row gives what the same log gives at once."""
    bits, log_q = drawn(np.array([0, 1, 2, 1]))
    at_once, parts = observing()(NAMES, bits, log_q), observing()
    one_by_one = [
        float(parts(NAMES[i : i + 1], bits[i : i + 1], log_q[i : i + 1])[0])
        for i in range(len(log_q))
    ]
    assert one_by_one == pytest.approx(at_once.tolist(), abs=1e-9)
