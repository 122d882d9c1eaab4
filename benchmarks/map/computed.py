"""Figures of the map that take no benchmark: the library computes them exactly, at once."""

import math
from collections.abc import Callable

import numpy as np

from dpassay.reference import Gaussian, Laplace, NoisyArgmax
from dpassay.reference.accounting.analyses import Analysis, query_cost
from dpassay.reference.accounting.gnmax import log_q_exact, log_q_union
from dpassay.reference.accounting.lnmax import log_q_lemma_4
from dpassay.reference.oracle import exact_probabilities
from dpassay.verifiers.commands.account import account
from dpassay.verifiers.inputs.asked_file import AskedRows

_PAPERS = ([14, 12, 10, 8, 6], 2.0)
"""The histogram and the noise of Figure 6 of Chadha et al. 2024."""


_SURE = ([200, 40, 10], 40.0)
"""Votes of which one class is nearly sure to be released, and the usual noise."""


def _agreement() -> str:
    """A bound, the same on every machine, of how far float64 and mpmath lie apart, relatively."""
    votes, sigma = _PAPERS
    exact = [float(p) for p in exact_probabilities(votes, Gaussian(sigma))]
    quick = np.exp(NoisyArgmax(Gaussian(sigma)).log_probabilities(votes))
    apart = float(np.abs(quick / exact - 1.0).max())
    return next(f"{bound:.0e}" for bound in (1e-14, 1e-12, 1e-9, math.inf) if apart < bound)


def _moved() -> str:
    """How far Q(H) moves, at most, as seven votes are added to each class."""
    votes, sigma = np.array(_PAPERS[0]), _PAPERS[1]
    mechanism = NoisyArgmax(Gaussian(sigma))
    here, there = (np.exp(mechanism.log_probabilities(v)) for v in (votes, votes + 7))
    return f"{np.abs(here - there).max():.0e}".replace("0e+00", "0")


def _lnmax(queries: int, delta: float) -> str:
    """Epsilon of queries of LNMax with laplace:20, whatever the votes."""
    rows = AskedRows(np.array([[125, 125]]), None)
    mechanism = NoisyArgmax(Laplace(20.0))
    found = account(rows, mechanism, delta, repeat=queries, analysis="data-independent")
    return f"{found.epsilon.epsilon:.2f}"


def _strongly_composed(queries: int, delta: float) -> str:
    """The same by strong composition, as the paper has it."""
    gamma = 0.05
    found = 4 * queries * gamma**2 + 2 * gamma * math.sqrt(2 * queries * math.log(1 / delta))
    return f"{found:.2f}"


def _cost(analysis: Analysis, votes: list[int], sigma: float) -> str:
    """The Renyi cost of order 2 of one query of a histogram, in nats."""
    cost = query_cost(votes, NoisyArgmax(Gaussian(sigma)), [2.0], analysis)
    return f"{float(cost[0]):.3g}"


def _q(of: str) -> str:
    """Probability that another than the first of 200, 40 and 10 votes is released."""
    votes = [_SURE[0]]
    if of == "Lemma 4":
        return f"{math.exp(float(log_q_lemma_4(votes, 0.05)[0])):.2e}"
    if of == "laplace":
        exact = exact_probabilities(votes[0], Laplace(20.0))
        return f"{float(1 - exact[0]):.2e}"
    bound = log_q_union if of == "Proposition 7" else log_q_exact
    return f"{math.exp(float(bound(votes, 40.0)[0])):.2e}"


COMPUTED: dict[str, Callable[[], str]] = {
    "agreement": _agreement,
    "moved": _moved,
    "lnmax SVHN": lambda: _lnmax(1_000, 1e-6),
    "lnmax MNIST": lambda: _lnmax(100, 1e-5),
    "strong SVHN": lambda: _strongly_composed(1_000, 1e-6),
    "strong MNIST": lambda: _strongly_composed(100, 1e-5),
    "q Lemma 4": lambda: _q("Lemma 4"),
    "q laplace": lambda: _q("laplace"),
    "q Proposition 7": lambda: _q("Proposition 7"),
    "q gaussian": lambda: _q("gaussian"),
    "cost independent": lambda: _cost("data-independent", *_PAPERS),
    "cost exact": lambda: _cost("exact", *_PAPERS),
    "sure independent": lambda: _cost("data-independent", *_SURE),
    "sure dependent": lambda: _cost("data-dependent", *_SURE),
    "sure exact": lambda: _cost("exact", *_SURE),
}
