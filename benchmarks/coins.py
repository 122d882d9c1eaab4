"""Draws until a false epsilon is refuted without a law; writes docs/results/audits-coins.md.

`python -m benchmarks.coins` from the repository's root: `CoinAudit` on the mechanisms of
benchmarks/peers/mean_mechanisms.py, curves.py and lawless.py, beside the limit of any test of the
same pair. Stopped, it goes on where it was when it is run again.
"""

import argparse
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpassay.attacks.auditing.coin import CoinAudit, Guarantee, best_rate

from .coins_page import Found, coins_page
from .coins_sizes import (
    CURVE_MOST,
    CURVE_RUNS,
    EPSILONS,
    ERRORS,
    LAWLESS_MOST,
    LAWLESS_RUNS,
    MOST,
    NULL_DRAWS,
    NULL_RUNS,
    RUNS,
    SHORT_DRAWS,
    SHORT_RUNS,
    SIMULATED,
)
from .long_runs import Part, add_workers, carried_out, workers
from .pages import write_page
from .peers.curves import CURVED
from .peers.lawless import LAWLESS, STATISTICS
from .peers.mean_mechanisms import MECHANISMS, PAIR, delta_of

TOGETHER = 25
_FIRST, _SHARE = 16, 0.02  # draws before the first look, then as a share of those before
_FEWER_LOOKS = 0.1  # the share of all but the means that are not private
_FEWEST_LOOKS = 0.2  # of the private means
_CELLS = 1_024  # for the limit

Draw = Callable[[int, int, np.random.Generator], Any]
Audited = tuple[Draw, list[Guarantee], int]


def _mean(name: str, epsilon: float) -> Audited:
    def draw(world: int, size: int, rng: np.random.Generator) -> Any:
        return MECHANISMS[name](PAIR[world], epsilon, size, rng)[:, None]

    return draw, [Guarantee(epsilon, delta_of(name))], 1


def _lawless(name: str) -> Audited:
    found = next(one for one in LAWLESS if one.name == name)
    return found.draw, [_claimed(name)], found.features


def _claimed(name: str) -> Guarantee:
    return Guarantee(1.0, 1e-6 if name.startswith("keys") else 0.0)


def until(
    audited: Audited, seed: int, error: float, most: int, share: float = _SHARE
) -> int | None:
    """Draws until the guarantees are refuted together; None where `most` do not."""
    return all_until(audited, seed, (error,), most, share)[0]


def all_until(
    audited: Audited, seed: int, errors: tuple[float, ...], most: int, share: float
) -> list[int | None]:
    """The same for each of several errors, which fall, in one run."""
    found: list[int | None] = []
    draw, guarantees, features = audited
    rng, size = np.random.default_rng([seed, 3]), _FIRST
    audit = CoinAudit(guarantees, features)
    while audit.draws < most:
        coins = rng.random(size) < 0.5
        outputs = np.empty((size, features))
        for world in (0, 1):
            some = coins == bool(world)
            outputs[some] = draw(world, int(some.sum()), rng)
        audit.observe(outputs, coins)
        value = audit.log_e_value
        while len(found) < len(errors) and value >= -math.log(errors[len(found)]):
            found.append(audit.draws)
        if len(found) == len(errors):
            return found
        size = max(4 if share < _FEWER_LOOKS else _FIRST, int(share * audit.draws))
    return found + [None] * (len(errors) - len(found))


def of_mean(seed: int, name: str, epsilon: float, error: float) -> int | None:
    return until(_mean(name, epsilon), seed, error, MOST)


def of_lawless(seed: int, name: str) -> list[int | None]:
    return all_until(_lawless(name), seed, ERRORS, LAWLESS_MOST, _FEWER_LOOKS)


def of_curve(seed: int, place: int) -> int | None:
    curved = CURVED[place]
    return until((curved.draw, curved.lines(), 1), seed, 0.05, CURVE_MOST, _FEWER_LOOKS)


def rejections(first: int, name: str, epsilon: float) -> int:
    """Of so many runs of a private mean, how many an error of 0.05 rejects."""
    audited = _mean(name, epsilon)
    seeds = range(first, first + TOGETHER)
    found = [until(audited, seed, 0.05, NULL_DRAWS, _FEWEST_LOOKS) for seed in seeds]
    return sum(draws is not None for draws in found)


def short(first: int) -> int:
    """Of so many short runs of right mechanisms of other kinds, how many 1e-6 rejects."""
    right = [one.name for one in LAWLESS if one.right]
    found = 0
    for seed in range(first, first + TOGETHER):
        found += (
            until(_lawless(right[seed % len(right)]), seed, 1e-6, SHORT_DRAWS, _FEWER_LOOKS)
            is not None
        )
    return found


def limit(name: str, epsilon: float) -> float:
    """Nats a draw, at most, of a mean."""
    rng = np.random.default_rng(0)
    outputs = [MECHANISMS[name](records, epsilon, SIMULATED, rng) for records in PAIR]
    return _rate(outputs, Guarantee(epsilon, delta_of(name)), _CELLS)


def limit_of_other(name: str) -> float:
    """Nats a draw, at most, of a mechanism of another kind, by a sufficient number."""
    rng, found = np.random.default_rng(0), next(one for one in LAWLESS if one.name == name)
    of = STATISTICS.get(found.draw.func, lambda z: z[:, 0])  # type: ignore[attr-defined]
    outputs = [
        np.concatenate([of(found.draw(world, SIMULATED // 40, rng)) for _ in range(10)])
        for world in (0, 1)
    ]
    return _rate(outputs, _claimed(name), _CELLS)


def _rate(outputs: list[Any], guarantee: Guarantee, cells: int) -> float:
    """By simulated laws over cells of equal probability."""
    pooled = np.concatenate(outputs)
    values = np.unique(pooled[:: max(1, pooled.size // 50_000)])
    edges = np.unique(np.quantile(pooled[::7], np.linspace(0.0, 1.0, cells + 1)[1:-1]))
    edges = values if values.size < cells else edges
    here, there = (
        np.bincount(np.searchsorted(edges, some, side="right"), minlength=edges.size + 1)
        / some.size
        for some in outputs
    )
    return best_rate(here, there, guarantee)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coins", description=__doc__)
    add_workers(parser)
    asked = parser.parse_args()
    wrong = [name for name in MECHANISMS if name.startswith("Non")]
    private = [name for name in MECHANISMS if not name.startswith("Non")]
    cases = [(n, e) for n in wrong for e in EPSILONS]
    named = [(one.name,) for one in LAWLESS if not one.right]
    means: list[Part] = [
        (s, *case, error) for case in cases for error in ERRORS for s in range(RUNS)
    ]
    others: list[Part] = [(s, *name) for name in named for s in range(LAWLESS_RUNS)]
    nulls: list[Part] = [
        (first, n, e) for n in private for e in EPSILONS for first in range(0, NULL_RUNS, TOGETHER)
    ]
    shorts: list[Part] = [(first,) for first in range(0, SHORT_RUNS, TOGETHER)]
    curves: list[Part] = [(s, place) for place in range(len(CURVED)) for s in range(CURVE_RUNS)]
    with workers(asked) as executor:
        rates = carried_out(limit, list(cases), "coins-limit", executor)
        other_rates = carried_out(limit_of_other, list(named), "coins-limit-other", executor)
        found_means = carried_out(of_mean, means, "coins-means", executor)
        accused = sum(carried_out(short, shorts, "coins-short", executor))
        found_curves = carried_out(of_curve, curves, "coins-curves", executor)
        rejected = carried_out(rejections, nulls, "coins-null", executor)
        found_others = carried_out(of_lawless, others, "coins-others", executor)
    found = Found(dict(zip([*cases, *named], [*rates, *other_rates], strict=True)), accused)
    for part, both in zip(others, found_others, strict=True):
        for error, each in zip(ERRORS, both, strict=True):
            found.draws.setdefault((*part[1:], error), []).append(each)
    parts, draws = [*means, *curves], [*found_means, *found_curves]
    for part, each in zip(parts, draws, strict=True):
        found.draws.setdefault(tuple(part[1:]), []).append(each)
    for part, count in zip(nulls, rejected, strict=True):
        case = tuple(part[1:])
        found.rejected[case] = found.rejected.get(case, 0) + count
    write_page("audits-coins.md", coins_page(found))


if __name__ == "__main__":
    main()
