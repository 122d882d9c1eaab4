"""Lower bounds from all laws that the labels do not refute: one likelihood region for everything.

A divergence of order a > 1 grows with f(p, q) = sum p^a q^(1 - a), which is convex in both laws
together. Its smallest value over the pairs of laws whose likelihood is not far below the highest
one is a lower bound, for both directions and all orders at once. It is found by the dual problem,
every feasible point of which is a lower bound itself: a search that ends early errs to the safe
side.

For multipliers u, v of the sums and w of the likelihood, n and m the counts of a label and r = p/q,
the Lagrangian falls apart into labels, and at the best q of each into a function of r alone, whose
minimum is the only root above 0 of a convex equation.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtri, gammaln, xlogy

from ...reference.arrays import Integers, Matrix, Vector
from .counts import Counts, checked_error, checked_orders

_ROUNDS, _CLOSE = 200, 1e-13
_INFEASIBLE, _STEEPEST = 1e300, 500.0


def region(counts: Counts, orders: Vector, alpha: float, *, anytime: bool = False) -> Matrix:
    """Lower bounds (2, orders) of D(here || there) and D(there || here), all valid together.

    alpha: probability that the laws lie outside the region. Its size is Wilks's chi-square limit
    with 2 (o - 1) degrees of freedom, for large samples; or, `anytime`, what a Dirichlet mixture
    allows (Ville's inequality), for samples of every size and however often they are looked at.
    """
    orders = checked_orders(orders)
    checked_error(alpha)
    drop = _drop(counts, alpha, anytime)
    if _drop_of_equal_laws(counts) <= drop:
        return np.zeros((2, orders.size))
    rising = np.argsort(orders)
    found = np.empty((2, orders.size))
    for side, worlds in enumerate((counts, counts.swapped)):
        each = [_smallest(worlds, float(a), drop) for a in orders[rising]]
        # no divergence falls with the order: a bound for a lower one holds, should a search fail
        found[side, rising] = np.maximum.accumulate(each)
    return found


def in_region(
    counts: Counts, here: Vector, there: Vector, alpha: float, *, anytime: bool = False
) -> bool:
    """Whether the region has a pair of laws (o,), summing to 1; no bound exceeds theirs if it has.

    alpha, anytime: as of `region`.
    """
    below = _below(counts.here, here) + _below(counts.there, there)
    return below <= _drop(counts, alpha, anytime)


def _drop(counts: Counts, alpha: float, anytime: bool) -> float:
    """Nats by which laws in the region are less likely than the likeliest, at most."""
    return _anytime_drop(counts, alpha) if anytime else _asymptotic_drop(counts, alpha)


def _asymptotic_drop(counts: Counts, alpha: float) -> float:
    return float(chdtri(2 * (counts.here.size - 1), alpha)) / 2.0


def _anytime_drop(counts: Counts, alpha: float) -> float:
    """Nats that the true laws are below the likeliest ones, at most, with probability 1 - alpha.

    The mixture of both worlds' likelihoods over Jeffreys' prior, over the true likelihood, is a
    martingale that starts at 1.
    """
    drop = -float(np.log(alpha))
    for n in (counts.here, counts.there):
        total, half = float(n.sum()), 0.5 * n.size
        mixture = float(gammaln(n + 0.5).sum() - n.size * gammaln(0.5))
        mixture += float(gammaln(half) - gammaln(total + half))
        drop += float(xlogy(n, n / total).sum()) - mixture
    return drop


def _drop_of_equal_laws(counts: Counts) -> float:
    """Nats by which the likeliest pair of equal laws is below the likeliest pair."""
    both = (counts.here + counts.there) / (counts.here.sum() + counts.there.sum())
    found = 0.0
    for n in (counts.here, counts.there):
        found += float((xlogy(n, n / n.sum()) - xlogy(n, both)).sum())
    return found


def _smallest(counts: Counts, order: float, drop: float) -> float:
    """The smallest divergence of an order over the region, from below."""
    from scipy.optimize import minimize

    seen = counts.here + counts.there > 0
    n, m = counts.here[seen].astype(np.float64), counts.there[seen].astype(np.float64)
    log_f, start = _start(n, m, order, drop)
    lagrangian = _Lagrangian(n, m, order, log_f)

    def dual(x: Vector) -> Any:
        """Minus the dual function of f / exp(log_f), and its gradient; x: in units of `start`."""
        w, u, v = start * np.array([np.exp(min(x[0], _STEEPEST)), x[1], x[2]])
        laws = lagrangian.minimum(w, u, v)
        if laws is None:
            return _INFEASIBLE, np.zeros(3)
        beyond = _below(n, laws.here) + _below(m, laws.there) - drop
        slope = start * np.array(
            [np.exp(x[0]) * beyond, laws.here.sum() - 1.0, laws.there.sum() - 1.0]
        )
        return -(laws.value - w * drop - u - v), -slope

    x0 = np.array([0.0, 1.0, 1.0])
    found = minimize(dual, x0, jac=True, method="BFGS", options={"gtol": 1e-12, "maxiter": 500})
    best = -float(found.fun)
    return max(0.0, float((np.log(best) + log_f) / (order - 1.0))) if best > 0.0 else 0.0


def _start(n: Vector, m: Vector, order: float, drop: float) -> tuple[float, Matrix]:
    """Log of f at a pair of laws on the region's edge, and the multipliers (w, u, v) there.

    The pair lies between the likeliest one and the likeliest one of equal laws. w is by how much f
    falls for each nat of likelihood on that way; u and v follow from the first-order conditions,
    summed over labels.
    """
    from scipy.optimize import brentq

    both = (n + m) / (n.sum() + m.sum())

    def laws(t: float) -> tuple[Vector, Vector]:
        return (1.0 - t) * n / n.sum() + t * both, (1.0 - t) * m / m.sum() + t * both

    def below(t: float) -> float:
        return _below(n, laws(t)[0]) + _below(m, laws(t)[1])

    def log_f(t: float) -> float:
        p, q = laws(t)
        seen = p > 0.0
        return float(np.logaddexp.reduce(order * np.log(p[seen]) + (1.0 - order) * np.log(q[seen])))

    if below(1.0) <= drop or below(1e-12) >= drop:  # so near that only rounding tells them apart
        return 0.0, np.array([1.0, 1.0, 1.0])
    t = float(brentq(lambda t: below(t) - drop, 1e-12, 1.0))
    near, step = log_f(t), 1e-4 * t
    fall = (np.exp(log_f(t - step) - near) - 1.0) / (drop - below(t - step))
    w = max(fall, 1e-300)
    return near, np.array([w, w * n.sum() - order, w * m.sum() + order - 1.0])


class _Laws(NamedTuple):
    """The minimum of the Lagrangian: its laws (o,) each, and its value."""

    here: Vector
    there: Vector
    value: float


class _Lagrangian(NamedTuple):
    """The Lagrangian of f / exp(log_f), a quotient near 1 however large f is.

    n, m: counts (o,) of the labels that came.
    """

    n: Vector
    m: Vector
    order: float
    log_f: float

    def minimum(self, w: float, u: float, v: float) -> _Laws | None:
        """Laws that minimise it, label by label; None where it has no lower bound."""
        a, scale = self.order, np.exp(-self.log_f / self.order)  # of r: f / exp(log_f) has r^a
        u /= scale
        lowest = 0.0 if u >= 0.0 else (-u / a) ** (1.0 / (a - 1.0))
        if w <= 0.0 or lowest**a + u * lowest + v <= 0.0:
            return None
        r = self._ratio(u, v)
        if r is None:
            return None
        rises = r**a + u * r + v
        if not (rises > 0.0).all():
            return None
        there = w * (self.n + self.m) / rises
        here = r * there / scale
        below = _below(self.n, here) + _below(self.m, there)
        return _Laws(here, there, float((there * rises).sum()) + w * below)

    def _ratio(self, u: float, v: float) -> Vector | None:
        """The root (o,) above 0 of (a (n + m) - n) r^a + m u r = n v, by Newton from above.

        None where it has not been reached: elsewhere the Lagrangian would not be at its minimum.
        """
        a, n, m = self.order, self.n, self.m
        rate = a * (n + m) - n
        r = np.maximum(
            np.maximum(2.0 * np.abs(m * u) / rate, 1e-300) ** (1.0 / (a - 1.0)),
            (2.0 * np.abs(n * v) / rate) ** (1.0 / a),
        )
        for _ in range(_ROUNDS):
            value = rate * r**a + m * u * r - n * v
            step = value / (a * rate * r ** (a - 1.0) + m * u)
            r = np.maximum(r - step, r * 1e-3)
            if np.all(np.abs(step) <= _CLOSE * r):
                return np.asarray(r)
        return None


def _below(counts: Vector | Integers, law: Vector) -> float:
    """Nats by which a law, whatever its sum, is below the likeliest one."""
    share = counts / counts.sum()
    seen = counts > 0
    with np.errstate(divide="ignore"):  # a law that forbids a label seen is infinitely far below
        return float((counts[seen] * np.log(share[seen] / law[seen])).sum())
