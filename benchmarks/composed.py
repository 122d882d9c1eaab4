"""Bounds of many queries added up: how often the sum exceeds the exact divergence of them all.

`python -m benchmarks.composed` from the repository's root, in a clone with the extras `bench` and
`audit`, writes docs/results/audits-composed.md; some 5 CPU minutes. With `--json` it prints how
often sums of 2-cuts exceed the truth where nothing is there, and writes no page. Stopped, it goes
on where it was when it is run again.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

from dpassay.attacks.auditing import (
    Counts,
    bootstrap_k_cut,
    bootstrap_two_cut,
    composed,
    region,
    share_of,
    two_cut,
    variational,
)
from dpassay.reference.accounting.divergences import renyi_divergence

from .audits import EVEN, PUBLISHED, Matrix, Pair, drawn, moved, whole
from .long_runs import Part, add_workers, carried_out, workers
from .pages import head, write_page

ORDER = np.array([2.0])
ALPHA, QUERIES, LABELS = 0.05, 100, 1_000_000
TOGETHER = 2  # repetitions in a part
PAIRS = {
    "zero": Pair((25,) * 10, (25,) * 10, "gaussian:40"),
    "tiny": moved((250, *[0] * 9), "gaussian:100"),
    "small": EVEN,
    "large": PUBLISHED,
}


class Method(NamedTuple):
    """A bound, in how many repetitions it is measured, and what the paper's Table 2 says of it.

    Most where nothing is there, where sums go wrong.
    """

    name: str
    at_zero: int
    elsewhere: int
    of_each: bool
    """Whether it is also measured with its share of the error for each query."""
    paper: str


METHODS = (
    Method("2-cut, Clopper-Pearson", 200, 20, True, "always valid, also at 0"),
    Method("variational", 200, 20, True, "not in it"),
    Method("region", 10, 2, True, "not in it"),
    Method("2-cut, bootstrap", 10, 10, False, "not valid at 0"),
    Method("k-cut, bootstrap", 10, 10, False, "not valid at 0"),
)


def bound(
    method: str, pilot: Counts, rest: Counts, alpha: float, rng: np.random.Generator
) -> Matrix:
    """Bound for one query, in both directions (2, 1)."""
    if method == "region":
        return region(whole(pilot, rest), ORDER, alpha)
    if method == "k-cut, bootstrap":
        return bootstrap_k_cut(whole(pilot, rest), ORDER, alpha, rng=rng, ends="percentile")
    if method == "2-cut, bootstrap":
        return bootstrap_two_cut(pilot, rest, ORDER, alpha, rng=rng, ends="percentile")
    return (variational if method == "variational" else two_cut)(pilot, rest, ORDER, alpha)


def sums(level: str, method: int, block: int) -> dict[str, list[list[float]]]:
    """Sums (repetitions, 2) over all queries, with 5 % and with 5 %/n for each of them."""
    name, of_each = METHODS[method].name, METHODS[method].of_each
    errors = {"5 %": ALPHA} | ({"5 %/n": share_of(ALPHA, QUERIES)} if of_each else {})
    place = list(PAIRS).index(level)
    found: dict[str, list[list[float]]] = {error: [] for error in errors}
    for repetition in range(block * TOGETHER, (block + 1) * TOGETHER):
        rng = np.random.default_rng([place, repetition, 2])  # the same labels for every method
        samples = [drawn(PAIRS[level], LABELS, rng) for _ in range(QUERIES)]
        for error, alpha in errors.items():
            each = [bound(name, pilot, rest, alpha, rng) for pilot, rest in samples]
            found[error].append(composed(np.array(each))[:, 0].tolist())
    return found


def exact(level: str) -> Matrix:
    """Exact cost of all queries together, in both directions (2,)."""
    here, there = (np.log(law) for law in PAIRS[level].laws)
    both = [renyi_divergence(p, q, ORDER)[0] for p, q in ((here, there), (there, here))]
    return np.asarray(QUERIES * np.maximum(both, 0.0))


def main() -> None:
    parser = argparse.ArgumentParser(description="Sums of bounds over queries.")
    parser.add_argument("--json", action="store_true", help="2-cuts where nothing is there, alone")
    add_workers(parser)
    asked = parser.parse_args()
    parts: list[Part] = [
        (level, place, block)
        for place, method in enumerate(METHODS[:1] if asked.json else METHODS)
        for level in (["zero"] if asked.json else PAIRS)
        for block in range((method.at_zero if level == "zero" else method.elsewhere) // TOGETHER)
    ]
    with workers(asked) as executor:
        found = carried_out(sums, parts, "composed", executor)
    of_case: dict[tuple[str, int], dict[str, list[list[float]]]] = {}
    for (level, place, _), result in zip(parts, found, strict=True):
        case = of_case.setdefault((str(level), int(place)), {})
        for error, rows in result.items():
            case.setdefault(error, []).extend(rows)
    if asked.json:
        print(json.dumps(listed(of_case["zero", 0]), indent=1))
        return
    lines = page({key: {e: np.array(r) for e, r in case.items()} for key, case in of_case.items()})
    write_page("audits-composed.md", lines)


def listed(sums_by_error: dict[str, list[list[float]]]) -> dict[str, Any]:
    """In how many repetitions the sum of 2-cuts of queries without divergence is above zero."""
    return {
        "method": METHODS[0].name,
        "queries": QUERIES,
        "labels": LABELS,
        "exceeding": [
            {
                "error": error,
                "repetitions": len(found),
                "exceeding": exceeding("zero", np.array(found)),
            }
            for error, found in sums_by_error.items()
        ],
    }


Found = dict[tuple[str, int], dict[str, Matrix]]


def page(found: Found) -> Iterator[str]:
    yield "# Audits: bounds of many queries, added up\n"
    yield (
        "Generated by `python -m benchmarks.composed`; do not edit. dpassay "
        f"{version('dpassay')}, numpy {np.__version__}. Divergences of independent answers add up, "
        "and Chadha et al. 2024 (arXiv 2402.09403) add up lower bounds of each query likewise; "
        "their Table 2 says which bound is valid for one query, and nothing of sums. Here "
        f"{QUERIES} queries have {LABELS:,} labels of each world each, all of one pair. A "
        "repetition counts where the sum of the bounds, D(P || Q) or D(Q || P) at order 2, is "
        "above the exact divergence of all queries.\n"
    )
    yield head("divergence | of one query, order 2 | votes P | votes Q | noise")
    for level, pair in PAIRS.items():
        one = exact(level)[0] / QUERIES
        yield f"| {level} | {one:.3g} | {list(pair.here)} | {list(pair.there)} | {pair.noise} |"
    yield "\n## How often the sum exceeds the truth\n"
    most = max(method.at_zero for method in METHODS)
    yield (
        f"The nominal level is 5 %: {ALPHA * most:.0f} of {most} repetitions; above "
        f"{binom.isf(1e-6, most, ALPHA):.0f} of {most} it is refuted at one in a million.\n"
    )
    yield from table(found, lambda level, sums: f"{exceeding(level, sums)} of {len(sums)}")
    yield ""
    yield from prose(found)
    yield "\n## What share of the exact divergence the sum reaches\n"
    yield "The median over the repetitions, D(P || Q).\n"
    yield from table(
        found,
        lambda level, sums: (
            f"{np.median(sums[:, 0]):.1e} nats"
            if level == "zero"
            else f"{np.median(sums[:, 0]) / exact(level)[0]:.3f}"
        ),
    )


def prose(found: Found) -> Iterator[str]:
    """What the counts say; the bounds of 5 % each are the same whatever the number of queries."""
    null = found["zero", 0]
    ten = (null["5 %"] > 0.0).any(-1).reshape(-1, 10).any(-1)
    valid = [
        exceeding(level, found[level, place]["5 %/n"])
        for place, method in enumerate(METHODS)
        if method.of_each
        for level in PAIRS
    ]
    yield (
        f"With 5 %/n each ({ALPHA / QUERIES:g}) the bounds hold together by the union bound, and "
        "so does their sum, wherever each of them does: at every divergence, for any n. It was "
        f"above the truth in {sum(valid)} repetitions in all.\n"
    )
    yield (
        "With 5 % each the sum has no level. A bound is never below zero, so that of queries that "
        "give nothing away one bound that is high by chance makes the sum wrong, and the more "
        f"queries, the surer: of {10 * QUERIES:,} queries, which are ten of these repetitions "
        f"together, {ten.sum()} of {ten.size} sums of 2-cuts certify what is not there. Where "
        "every query gives away more than its labels can miss, what each bound loses adds up too, "
        "and the sum stays below the truth by many times its spread. That follows from how much "
        "each bound loses, and cannot be known beforehand. The variational bound loses so much at "
        "zero that no sum of it was too high here, which proves no level either. Bootstrap bounds "
        "are never at zero, and where nothing is there their excess adds up in every repetition. "
        "Ten repetitions or two, as of the region, refute gross errors alone."
    )


def exceeding(level: str, sums: Matrix) -> int:
    """In how many repetitions a sum is above the truth."""
    return int((sums > exact(level)).any(-1).sum())


def table(found: Found, cell: Callable[[str, Matrix], str]) -> Iterator[str]:
    yield head("method | error of each query | " + " | ".join(PAIRS) + " | Table 2, of one query")
    for place, method in enumerate(METHODS):
        for error in found["zero", place]:
            cells = [cell(level, found[level, place][error]) for level in PAIRS]
            yield f"| {method.name} | {error} | " + " | ".join(cells) + f" | {method.paper} |"


if __name__ == "__main__":
    main()
