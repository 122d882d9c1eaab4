"""Draws until a false epsilon is refuted without a law; writes docs/results/audits-coins.md.

`python -m benchmarks.coins [--runs N]` from the repository's root: `CoinAudit` on the mechanisms of
benchmarks/peers/mean_mechanisms.py and lawless.py, beside the limit of any test of the same pair.
Stopped, it goes on where it was when it is run again.
"""

import argparse
import math
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpassay.attacks.auditing.coin import CoinAudit, Guarantee, best_rate

from .long_runs import Part, add_workers, carried_out, workers
from .numbers_auditing import PUBLISHED
from .pages import head, write_page
from .peers.lawless import LAWLESS
from .peers.mean_mechanisms import MECHANISMS, PAIR, delta_of

EPSILONS, ERRORS = (0.01, 0.1), (0.05, 1e-6)
MOST, LAWLESS_MOST = 40_000, 8_000
NULL_DRAWS, NULL_RUNS, TOGETHER = 1_000, 500, 25
SHORT_DRAWS, SHORT_RUNS = 300, 2_000
_FIRST, _SHARE = 16, 0.02  # draws before the first look, then as a share of those before
_SIMULATED, _CELLS = 4_000_000, 1_024  # for the limit

Draw = Callable[[int, int, np.random.Generator], Any]
Audited = tuple[Draw, Guarantee, int]


def _mean(name: str, epsilon: float) -> Audited:
    def draw(world: int, size: int, rng: np.random.Generator) -> Any:
        return MECHANISMS[name](PAIR[world], epsilon, size, rng)[:, None]

    return draw, Guarantee(epsilon, delta_of(name)), 1


def _lawless(name: str) -> Audited:
    found = next(one for one in LAWLESS if one.name == name)
    return found.draw, Guarantee(1.0, 1e-6 if name.startswith("keys") else 0.0), found.features


def until(audited: Audited, seed: int, error: float, most: int) -> int | None:
    """Draws until the guarantee is refuted; None where `most` do not."""
    draw, guarantee, features = audited
    rng, audit, size = np.random.default_rng([seed, 3]), CoinAudit(guarantee, features), _FIRST
    while audit.draws < most:
        coins = rng.random(size) < 0.5
        outputs = np.empty((size, features))
        for world in (0, 1):
            some = coins == bool(world)
            outputs[some] = draw(world, int(some.sum()), rng)
        audit.observe(outputs, coins)
        if audit.log_e_value >= -math.log(error):
            return audit.draws
        size = max(4, int(_SHARE * audit.draws))
    return None


def of_mean(seed: int, name: str, epsilon: float, error: float) -> int | None:
    return until(_mean(name, epsilon), seed, error, MOST)


def of_lawless(seed: int, name: str, error: float) -> int | None:
    return until(_lawless(name), seed, error, LAWLESS_MOST)


def rejections(first: int, name: str, epsilon: float) -> int:
    """Of so many runs of a private mean, how many an error of 0.05 rejects."""
    audited = _mean(name, epsilon)
    seeds = range(first, first + TOGETHER)
    return sum(until(audited, seed, 0.05, NULL_DRAWS) is not None for seed in seeds)


def short(first: int) -> int:
    """Of so many short runs of right mechanisms of other kinds, how many 1e-6 rejects."""
    right = [one.name for one in LAWLESS if one.right]
    found = 0
    for seed in range(first, first + TOGETHER):
        found += until(_lawless(right[seed % len(right)]), seed, 1e-6, SHORT_DRAWS) is not None
    return found


def limit(name: str, epsilon: float) -> float:
    """Nats a draw, at most, by simulated laws over cells of equal probability."""
    rng = np.random.default_rng(0)
    outputs = [MECHANISMS[name](records, epsilon, _SIMULATED, rng) for records in PAIR]
    places = np.linspace(0.0, 1.0, _CELLS + 1)[1:-1]
    edges = np.unique(np.quantile(np.concatenate(outputs)[::7], places))
    here, there = (
        np.bincount(np.searchsorted(edges, some, side="right"), minlength=edges.size + 1)
        / _SIMULATED
        for some in outputs
    )
    return best_rate(here, there, Guarantee(epsilon, delta_of(name)))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coins", description=__doc__)
    parser.add_argument("--runs", type=int, default=8)
    add_workers(parser)
    asked = parser.parse_args()
    seeds = range(asked.runs)
    wrong = [name for name in MECHANISMS if name.startswith("Non")]
    private = [name for name in MECHANISMS if not name.startswith("Non")]
    cases = [(n, e) for n in wrong for e in EPSILONS]
    means: list[Part] = [(s, n, e, error) for n, e in cases for error in ERRORS for s in seeds]
    others: list[Part] = [
        (s, one.name, error) for one in LAWLESS if not one.right for error in ERRORS for s in seeds
    ]
    nulls: list[Part] = [
        (first, n, e) for n in private for e in EPSILONS for first in range(0, NULL_RUNS, TOGETHER)
    ]
    shorts: list[Part] = [(first,) for first in range(0, SHORT_RUNS, TOGETHER)]
    with workers(asked) as executor:
        rates = carried_out(limit, list(cases), "coins-limit", executor)
        found_means = carried_out(of_mean, means, "coins-means", executor)
        found_others = carried_out(of_lawless, others, "coins-others", executor)
        rejected = carried_out(rejections, nulls, "coins-null", executor)
        accused = sum(carried_out(short, shorts, "coins-short", executor))
    by_case: dict[Any, list[Any]] = {}
    for part, draws in zip([*means, *others], [*found_means, *found_others], strict=True):
        by_case.setdefault(part[1:], []).append(draws)
    null: dict[Any, int] = {}
    for part, count in zip(nulls, rejected, strict=True):
        null[part[1:]] = null.get(part[1:], 0) + count
    limits = dict(zip(cases, rates, strict=True))
    write_page("audits-coins.md", _page(by_case, limits, null, accused, asked.runs))


def _cell(draws: list[int | None], rate: float | None = None, error: float = 0.05) -> str:
    """Median, share found where it is not all, and the ratio to the limit."""
    some = [each for each in draws if each is not None]
    if 2 * len(some) <= len(draws):
        return f"{len(some)} of {len(draws)}"
    middle = statistics.median(each if each is not None else math.inf for each in draws)
    part = "" if len(some) == len(draws) else f" ({len(some)} of {len(draws)})"
    times = "" if rate is None else f", {middle * rate / -math.log(error):.1f} x"
    return f"{middle:,.0f}{part}{times}"


def _page(
    found: dict[Any, list[Any]],
    limits: dict[Any, float],
    null: dict[Any, int],
    accused: int,
    runs: int,
) -> Iterator[str]:
    yield "# Audits without a law"
    yield ""
    yield (
        "Generated by `python -m benchmarks.coins`; do not edit. A fair coin chooses one of two "
        "neighbouring inputs for each draw, and the coin is predicted from the output, better "
        "than the claimed epsilon and delta allow ([how](../audits/coins.md)). Draws until the "
        f"claim is refuted, in the median of {runs} runs; a draw is one output of one of the "
        "inputs. *Limit*: no test of the pair needs fewer on average, ln(1/error) over the rate of "
        "the reverse information projection; laws for it are simulated by "
        f"{_SIMULATED:,} outputs of each input."
    )
    yield ""
    yield "## Six means"
    yield ""
    yield (
        "As in [releases until a false epsilon is refuted](numbers-auditing.md), where the wagers "
        "of earlier versions and other libraries stand; at most "
        f"{MOST:,} draws. On the right what González et al. 2025 (arXiv 2509.07055) print at 0.05, "
        "read second-hand."
    )
    yield ""
    yield head(
        "mechanism | epsilon | limit, 0.05 | error 0.05, over the limit | limit, 10^-6 "
        "| error 10^-6, over the limit | González et al."
    )
    for (name, epsilon), rate in limits.items():
        cells = []
        for error in ERRORS:
            cells += [
                f"{-math.log(error) / rate:,.0f}",
                _cell(found[name, epsilon, error], rate, error),
            ]
        yield f"| {name} | {epsilon:g} | {' | '.join(cells)} | {PUBLISHED[name, epsilon]} |"
    yield ""
    told = ", ".join(f"{name} at {epsilon:g} {count}" for (name, epsilon), count in null.items())
    yield (
        f"Private means, {NULL_RUNS} runs of {NULL_DRAWS:,} draws each at an error of 0.05: "
        f"rejected are {told}; {round(0.05 * NULL_RUNS)} of each may be."
    )
    yield ""
    yield "## Other kinds of outputs"
    yield ""
    yield (
        "Epsilon 1 is claimed (delta 10^-6 of keys); at most "
        f"{LAWLESS_MOST:,} draws (`benchmarks/peers/lawless.py`). Of the right ones, "
        f"**{accused} of {SHORT_RUNS:,}** runs of {SHORT_DRAWS} draws were accused at 10^-6."
    )
    yield ""
    yield head("mechanism | error 0.05 | error 10^-6")
    for one in LAWLESS:
        if not one.right:
            cells = [_cell(found[one.name, error]) for error in ERRORS]
            yield f"| {one.name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
