"""Figures of the map that take no benchmark: the library computes them exactly, at once."""

import math
from collections.abc import Callable

import numpy as np

from dpassay.reference import Gaussian, Laplace, NoisyArgmax
from dpassay.reference.accounting.analyses import query_cost
from dpassay.reference.accounting.conversions import ORDERS
from dpassay.reference.accounting.gnmax import log_q_union
from dpassay.reference.accounting.pure import log_q_lemma_4
from dpassay.reference.oracle import exact_probabilities

_PAPERS = ([14, 12, 10, 8, 6], 2.0)
"""The histogram and the noise of Figure 6 of Chadha et al. 2024."""


def _agreement() -> str:
    """A bound, the same on every machine, of how far float64 and mpmath lie apart, relatively."""
    votes, sigma = _PAPERS
    exact = [float(p) for p in exact_probabilities(votes, Gaussian(sigma))]
    quick = np.exp(NoisyArgmax(Gaussian(sigma)).log_probabilities(votes))
    apart = float(np.abs(quick / exact - 1.0).max())
    return next(f"{bound:.0e}" for bound in (1e-14, 1e-12, 1e-9, math.inf) if apart < bound)


def _tail_bound(queries: int, delta: float) -> str:
    """Epsilon of LNMax with laplace:20, whatever the votes, by Theorem 1.2 of the paper."""
    mechanism = NoisyArgmax(Laplace(20.0))
    costs = queries * query_cost([125, 125], mechanism, ORDERS, "data-independent")
    return f"{float((costs + math.log(1.0 / delta) / (ORDERS - 1.0)).min()):.2f}"


def _strongly_composed(queries: int, delta: float) -> str:
    """The same by strong composition, as the paper has it."""
    gamma = 0.05
    found = 4 * queries * gamma**2 + 2 * gamma * math.sqrt(2 * queries * math.log(1 / delta))
    return f"{found:.2f}"


def _q(of: str) -> str:
    """Probability that another than the first of 200, 40 and 10 votes is released, at most."""
    votes = [[200, 40, 10]]
    log_q = log_q_lemma_4(votes, 0.05) if of == "Lemma 4" else log_q_union(votes, 40.0)
    return f"{math.exp(float(log_q[0])):.2e}"


COMPUTED: dict[str, Callable[[], str]] = {
    "agreement": _agreement,
    "tail bound": lambda: _tail_bound(100, 1e-5),
    "strong SVHN": lambda: _strongly_composed(1_000, 1e-6),
    "strong MNIST": lambda: _strongly_composed(100, 1e-5),
    "q Lemma 4": lambda: _q("Lemma 4"),
    "q Proposition 7": lambda: _q("Proposition 7"),
}
