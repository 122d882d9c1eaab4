"""How near audits of labels come to the exact divergence, and how often they exceed it.

`python -m benchmarks.audits [--repetitions N]` from the repository's root, in a clone with the
extras `bench` and `audit`, writes docs/results/audits-measured.md and docs/results/audits.svg. With
`--json` it prints the figures instead: with 25 repetitions, some two minutes. Stopped, it goes on
where it was when it is run again.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay.attacks.auditing import (
    Counts,
    bootstrap_k_cut,
    bootstrap_two_cut,
    clopper_pearson,
    in_region,
    k_cut,
    printed_two_cut,
    region,
    two_cut,
    variational,
)
from dpassay.reference import NoisyArgmax, parse_noise
from dpassay.reference.accounting.divergences import renyi_divergence

from .drawing import plt, save
from .long_runs import Part, add_workers, carried_out, workers
from .pages import RESULTS, head, write_page

Matrix = NDArray[np.float64]
Bound = Callable[[Counts, Counts, np.random.Generator], Matrix]

ORDERS = np.array([2.0, 4.0, 8.0, 16.0, 20.0])
ALPHA = 0.05
PILOT = 0.1  # of the labels
LABELS, REPETITIONS, TOGETHER = 1_000_000, 1000, 25
SIZES = (10**4, 10**5, 10**6, 10**7, 10**8)


class Pair(NamedTuple):
    """Neighbouring histograms and the noise."""

    here: tuple[int, ...]
    there: tuple[int, ...]
    noise: str

    @property
    def laws(self) -> tuple[Matrix, Matrix]:
        """Exact laws (o,) of the label in either world."""
        mechanism = NoisyArgmax(parse_noise(self.noise))
        laws = [np.exp(mechanism.log_probabilities(np.array(h, float))) for h in self[:2]]
        return laws[0] / laws[0].sum(), laws[1] / laws[1].sum()

    @property
    def exact(self) -> Matrix:
        """Divergences (2, orders), here || there and there || here."""
        here, there = (np.log(law) for law in self.laws)
        both = ((here, there), (there, here))
        return np.stack([renyi_divergence(p, q, ORDERS) for p, q in both])


def moved(here: tuple[int, ...], noise: str, giver: int = 0, taker: int = 1) -> Pair:
    """A pair that differs in one vote."""
    there = list(here)
    there[giver] -= 1
    there[taker] += 1
    return Pair(here, tuple(there), noise)


PUBLISHED = moved((14, 12, 10, 8, 6), "gaussian:2")  # Chadha et al. 2024, Figures 2 and 6
EVEN = moved((25,) * 10, "gaussian:40", 0, 9)
PAIRS = (
    PUBLISHED,
    EVEN,
    moved((14, 12, 10, 8, 6), "gaussian:1"),
    moved((14, 12, 10, 8, 6), "gaussian:8"),
    moved((14, 12, 10, 8, 6), "laplace:2"),
    moved((125, 125), "gaussian:40"),
    moved((125, 125, 0, 0, 0), "gaussian:10"),
    moved((25, 25), "gaussian:4"),
    moved((30, 20), "gaussian:4"),
    moved((45, 5), "gaussian:4"),
    moved((50, 0), "gaussian:8"),
    moved((10, 10, 10), "laplace:4"),
    moved((10, 10, 10), "gumbel:3"),
    moved((20, 8, 2), "exponential:3"),
    moved((85, 85, *[10] * 8), "gaussian:40"),
    moved((130, *[15] * 8, 0), "gaussian:40", 9 - 1, 9),
    moved((250, *[0] * 9), "gaussian:40"),
    moved((9, 7, 5, 3, 1), "gaussian:1.5", 4, 0),
    moved((60, 50, 40, 30, 20), "gaussian:12"),
    moved((3, 3, 3, 1), "gaussian:1", 3, 0),
)

VALID: dict[str, Bound] = {
    "2-cut, Clopper-Pearson": lambda pilot, rest, _: two_cut(pilot, rest, ORDERS, ALPHA),
    "2-cut, anytime": lambda pilot, rest, _: two_cut(pilot, rest, ORDERS, ALPHA, anytime=True),
    "2-cut as printed": lambda pilot, rest, _: printed_two_cut(pilot, rest, ORDERS, ALPHA),
    "variational": lambda pilot, rest, _: variational(pilot, rest, ORDERS, ALPHA),
}
LARGE: dict[str, Bound] = {
    "k-cut, Goodman": lambda pilot, rest, _: k_cut(whole(pilot, rest), ORDERS, ALPHA, "goodman"),
    "region": lambda pilot, rest, _: region(whole(pilot, rest), ORDERS, ALPHA),
}
ANYTIME: dict[str, Bound] = {
    "region, anytime": lambda p, rest, _: region(whole(p, rest), ORDERS, ALPHA, anytime=True)
}
RESAMPLED: dict[str, Bound] = {
    "2-cut, bootstrap": lambda pilot, rest, rng: bootstrap_two_cut(
        pilot, rest, ORDERS, ALPHA, rng=rng, ends="percentile"
    ),
    "k-cut, bootstrap": lambda pilot, rest, rng: bootstrap_k_cut(
        whole(pilot, rest), ORDERS, ALPHA, rng=rng, ends="percentile"
    ),
}
REGIONS = {"region": False, "region, anytime": True}
"""By method, whether it is the anytime one."""
BOUNDS = {**VALID, **LARGE, **ANYTIME, **RESAMPLED}


def whole(pilot: Counts, rest: Counts) -> Counts:
    """The two parts together, for bounds that need no pilot."""
    return Counts(pilot.here + rest.here, pilot.there + rest.there)


def drawn(pair: Pair, labels: int, rng: np.random.Generator) -> tuple[Counts, Counts]:
    """A pilot and the rest of so many labels of either world."""
    return Counts(*(rng.multinomial(labels, law) for law in pair.laws)).split(PILOT, rng)


def shares(place: int, labels: int) -> dict[str, list[list[float]]]:
    """Bounds (2, orders) of one sample as shares of the exact divergence, by method."""
    pair, rng = PAIRS[place], np.random.default_rng([place, labels])
    pilot, rest = drawn(pair, labels, rng)
    return {name: (bound(pilot, rest, rng) / pair.exact).tolist() for name, bound in BOUNDS.items()}


def exceedances(place: int, block: int) -> dict[str, int]:
    """In how many of a block of repetitions any bound exceeds the exact divergence, by method."""
    pair, rng = PAIRS[place], np.random.default_rng([place, block, 1])
    found = dict.fromkeys(BOUNDS, 0)
    for _ in range(TOGETHER):
        pilot, rest = drawn(pair, LABELS, rng)
        for name, bound in BOUNDS.items():
            if not (name in REGIONS and has_the_truth(name, pilot, rest, pair)):
                found[name] += bool((bound(pilot, rest, rng) > pair.exact).any())
    return found


def has_the_truth(name: str, pilot: Counts, rest: Counts, pair: Pair) -> bool:
    """Whether a region has the true laws, so that no bound of it can exceed theirs."""
    return in_region(whole(pilot, rest), *pair.laws, ALPHA, anytime=REGIONS[name])


def part(kind: str, *numbers: int) -> dict[str, Any]:
    """One part of the measurement."""
    return shares(*numbers) if kind == "shares" else exceedances(*numbers)


def main() -> None:
    parser = argparse.ArgumentParser(description="Audits beside exact divergences.")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="of each pair")
    parser.add_argument("--json", action="store_true", help="print an object, write no page")
    add_workers(parser)
    asked = parser.parse_args()
    sizes: list[Part] = [("shares", i, n) for i in (0, 1) for n in SIZES]
    blocks: list[Part] = [
        ("exceedances", i, block)
        for block in range(asked.repetitions // TOGETHER)
        for i in range(len(PAIRS))
    ]
    with workers(asked) as executor:
        found = carried_out(part, sizes + blocks, "audits", executor)
    near, beyond = found[: len(sizes)], found[len(sizes) :]
    if asked.json:
        print(json.dumps(listed(near, beyond, asked.repetitions), indent=1))
        return
    lines = [*page_of_shares(near), *page_of_exceedances(beyond, len(blocks) // len(PAIRS))]
    write_page("audits-measured.md", lines)
    draw(near[SIZES.index(LABELS)])


def listed(
    near: list[dict[str, Any]], beyond: list[dict[str, int]], repetitions: int
) -> dict[str, Any]:
    """The published pair by numbers of labels, and how many repetitions exceed the truth."""
    return {
        "orders": ORDERS.tolist(),
        "exact": PUBLISHED.exact.tolist(),
        "share_of_exact": [
            {"labels": labels, "bounds": found}
            for labels, found in zip(SIZES, near[: len(SIZES)], strict=True)
        ],
        "pairs": len(PAIRS),
        "repetitions": repetitions // TOGETHER * TOGETHER,
        "exceeding": {
            method: {"worst_pair": max(each), "all_pairs": sum(each)}
            for method, each in _by_pair(beyond).items()
        },
    }


def _by_pair(found: list[dict[str, int]]) -> dict[str, list[int]]:
    """By method, in how many repetitions of each pair a bound is above the truth."""
    places = range(len(PAIRS))
    return {
        method: [sum(block[method] for block in found[i :: len(PAIRS)]) for i in places]
        for method in BOUNDS
    }


def page_of_shares(found: list[dict[str, Any]]) -> Iterator[str]:
    yield "# Audits, measured\n"
    yield (
        "Generated by `python -m benchmarks.audits`; do not edit. What the methods are and when "
        "they hold is in [the pages on audits](../audits/index.md). All at "
        f"{100 * (1 - ALPHA):g} %, a tenth of the labels for the pilot where there is one.\n"
    )
    yield (
        "![Bounds of the published pair over the exact divergence, by Rényi order: all near 1, at "
        "order 2 the region nearest of those that hold](audits.svg)\n"
    )
    for place, name in ((0, "The published pair"), (1, "Even votes of ten classes")):
        pair = PAIRS[place]
        yield f"## {name}\n"
        yield (
            f"{list(pair.here)} against {list(pair.there)}, {pair.noise}: bound over the exact "
            f"divergence, {pair.exact[0][0]:.4g} nats at order 2, of one sample of so many labels "
            "of each world.\n"
        )
        yield head("method | " + " | ".join(f"10^{len(str(n)) - 1}" for n in SIZES))
        here = found[place * len(SIZES) : (place + 1) * len(SIZES)]
        for method in BOUNDS:
            yield f"| {method} | " + " | ".join(f"{s[method][0][0]:.3f}" for s in here) + " |"
        yield ""


def page_of_exceedances(found: list[dict[str, int]], blocks: int) -> Iterator[str]:
    repetitions = blocks * TOGETHER
    yield "## How often a bound exceeds the truth\n"
    if not repetitions:
        return
    yield (
        f"{len(PAIRS)} pairs of known divergence, {LABELS:,} labels of each world, {repetitions:,} "
        f"repetitions: in how many any bound, of orders {', '.join(f'{a:g}' for a in ORDERS)} and "
        f"both directions, is above the exact divergence. {ALPHA * repetitions:.0f} would be at "
        f"the level; above {binom.isf(1e-6, repetitions, ALPHA):.0f} the level is refuted at one "
        "in a million.\n"
    )
    yield head("method | worst pair | all pairs | share of the worst, 99 % interval")
    for method, each in _by_pair(found).items():
        low, high = clopper_pearson(max(each), repetitions, 0.005)
        yield f"| {method} | {max(each)} | {sum(each)} | {low:.3f} to {high:.3f} |"


def draw(near: dict[str, Any]) -> None:
    """The methods of Chadha et al. 2024, Figures 2 and 6, and ours: shares of the exact figure."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
    shades = plt.get_cmap("tab10")(np.arange(len(BOUNDS)))
    for side, (axis, title) in enumerate(zip(axes, ("D(P || Q)", "D(Q || P)"), strict=True)):
        axis.axhline(1.0, color="black", lw=2, label="exact")
        for place, ((method, both), shade) in enumerate(zip(near.items(), shades, strict=True)):
            style = ":" if method in RESAMPLED else "-"
            marker = "os^vDPX*<"[place]
            axis.plot(ORDERS, both[side], style, color=shade, marker=marker, ms=4, label=method)
        axis.set(xscale="log", xlabel="Rényi order", title=title, xticks=ORDERS)
        axis.set_xticklabels([f"{a:g}" for a in ORDERS])
        axis.minorticks_off()
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("bound over the exact divergence")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right center", fontsize=8)
    here, there = list(PUBLISHED.here), list(PUBLISHED.there)
    figure.suptitle(f"{here} (P) against {there} (Q), sigma 2, {LABELS:,} labels each", fontsize=10)
    save(figure, RESULTS / "audits.svg")


if __name__ == "__main__":
    main()
