"""Draws until a wrong noise is found, beside the limit of a tester who knows the fault.

Nobody whose tests accuse a correct deployment with probability at most alpha can find a fault whose
law differs from the claimed one by KL nats a draw after fewer than about ln(1 / alpha) / KL draws,
even who knows the fault (Wald 1945). The gate does not know it, and tests much else at once.
"""

import math
import statistics
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from dpassay.reference.numbers import Aggregation, NumberNoise, parse_number_noise
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.kinds.reading import parse_claim

from ..judged import judged
from ..pages import head

CELLS = 10
NOISES = ("laplace:2", "gaussian:3", "discrete-laplace:2", "discrete-gaussian:3")
ALPHA = 1e-6
GOAL, FEW = 2.0, 20
"""Most draws over the limit; and most releases, for a fault that a single draw proves."""

Sampler = Callable[[Aggregation, np.random.Generator, Any, int], np.ndarray]


@dataclass(frozen=True)
class Fault:
    """A wrong deployment of a claimed noise.

    law: of a draw, and how much too high, None where a release proves the fault, or nearly so;
    nats: of a release that is told by its cells together; whole: whether it is a fault of whole
    noise too; cells: of a release.
    """

    name: str
    sampler: Callable[[NumberNoise], Sampler]
    law: Callable[[NumberNoise], tuple[NumberNoise, float]] | None = None
    whole: bool = True
    cells: tuple[int, ...] = (1, CELLS)
    nats: Callable[[NumberNoise], float] | None = None


def factor(times: float) -> Fault:
    """Noise of another scale."""
    name = {0.5: "half the scale", 2.0: "twice the scale"}.get(times, f"{times:g} of the scale")
    return Fault(name, lambda noise: drawn(noise.times(times)), lambda n: (n.times(times), 0.0))


def offset(scales: float) -> Fault:
    """Releases that are too high."""
    return Fault(
        f"{scales:g} of the scale too high",
        lambda noise: drawn(noise, scales * noise.family.scale),
        lambda noise: (noise, scales * noise.family.scale),
        whole=False,
    )


OTHERS = {
    "laplace": lambda scale: f"gaussian:{math.sqrt(2.0) * scale!r}",
    "gaussian": lambda scale: f"laplace:{scale / math.sqrt(2.0)!r}",
    "discrete-laplace": lambda scale: f"discrete-gaussian:{math.sqrt(2.0) * scale!r}",
    "discrete-gaussian": lambda scale: f"discrete-laplace:{scale / math.sqrt(2.0)!r}",
}


def other_family() -> Fault:
    """The other family: Gaussian for Laplace, Laplace for Gaussian."""

    def other(noise: NumberNoise) -> NumberNoise:
        return parse_number_noise(OTHERS[noise.family.family](noise.family.scale))

    return Fault(
        "the other family, of equal variance (whole noise: nearly)",
        lambda noise: drawn(other(noise)),
        lambda noise: (other(noise), 0.0),
    )


def drawn(noise: NumberNoise, up: float = 0.0) -> Sampler:
    """Releases with this noise, a bit too high."""

    def sampler(of: Aggregation, rng: np.random.Generator, values: Any, size: int) -> np.ndarray:
        return noise.sample(of.exact(values) + up, size, rng)

    return sampler


def changed(change: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[..., Sampler]:
    """Correct releases (n, d), changed beside the exact value (d,)."""

    def of_noise(noise: NumberNoise) -> Sampler:
        def sampler(
            of: Aggregation, rng: np.random.Generator, values: Any, size: int
        ) -> np.ndarray:
            exact = of.exact(values)
            return change(noise.sample(exact, size, rng), exact)

        return sampler

    return of_noise


def bare_cell(released: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """One cell as it is."""
    released[:, 7] = exact[7]
    return released


def broadcast(released: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """The noise of the first cell in all cells."""
    return np.asarray(exact + (released[:, :1] - exact[:1]))


def bare_nats(noise: NumberNoise) -> float:
    """Nats that the exact value counts, by its probability; infinite for continuous noise."""
    if not noise.family.whole:
        return math.inf
    return -float(noise.log_mass(np.zeros(1), 0.0)[0])


FAULTS = (
    factor(0.5),
    factor(2.0),
    factor(0.9),
    offset(0.1),
    other_family(),
    Fault("rounded to whole numbers", changed(lambda y, x: np.rint(y)), whole=False),
    Fault("cast to integers", changed(lambda y, x: y.astype(np.int64)), whole=False),
    Fault("one cell without noise", changed(bare_cell), cells=(CELLS,), nats=bare_nats),
    Fault("one draw for all cells", changed(broadcast), cells=(CELLS,)),
)


def cases() -> Iterator[tuple[int, str, int]]:
    """Fault by place, claimed noise, and cells."""
    for place, fault in enumerate(FAULTS):
        for text in NOISES:
            if fault.whole or not parse_number_noise(text).family.whole:
                yield from ((place, text, cells) for cells in fault.cells)


def divergence(law: NumberNoise, up: float, claimed: NumberNoise) -> float:
    """Kullback-Leibler divergence, in nats, of one draw of the law to one of the claimed noise.

    By summation over cells of a hundred-thousandth of the scale, or over whole numbers.
    """
    scale = max(law.family.scale, claimed.family.scale)
    step = 1.0 if claimed.family.whole else 2e-4 * scale
    centres = np.arange(-round(60 * scale / step), round(60 * scale / step) + 1) * step
    ours = law.log_mass(centres, up, 0.5 * step)
    theirs = claimed.log_mass(centres, 0.0, 0.5 * step)
    some = ours > -np.inf
    return math.fsum(np.exp(ours[some]) * (ours[some] - theirs[some]))


def claim_of(text: str, cells: int) -> NumbersClaim:
    """A histogram, or a count."""
    name = f'"noisy-histogram"\ncells = {cells}' if cells > 1 else '"noisy-count"'
    table = f'[mechanism]\nname = {name}\nnoise = "{text}"\nadjacency = "add-remove"\n'
    claim: NumbersClaim = parse_claim(tomllib.loads(f"{table}[gate]\nfalse_alarm = {ALPHA}"))
    return claim


def found_after(seed: int, place: int, text: str, cells: int) -> tuple[int | None, list[str]]:
    """Releases until the fault was found, and the checks that found it."""
    claim, rng = claim_of(text, cells), np.random.default_rng([seed, place, cells])
    of, sampler = claim.mechanism.aggregation, FAULTS[place].sampler(claim.mechanism.noise)
    outcome = judged(claim, lambda values, size: sampler(of, rng, values, size), seed)
    return outcome.found_after, outcome.failed


def limit(place: int, text: str) -> float:
    """Draws that nobody can do without, in the mean; of a fault told by releases, releases."""
    fault, noise = FAULTS[place], parse_number_noise(text)
    if fault.law is not None:
        return -math.log(ALPHA) / divergence(*fault.law(noise), noise)
    return -math.log(ALPHA) / fault.nats(noise) if fault.nats is not None else 0.0


def page(found: dict[tuple[int, str, int], list[Any]], runs: int) -> Iterator[str]:
    yield "# Draws until a wrong noise is found\n"
    yield (
        f"Generated by `python -m benchmarks.detection numbers --runs {runs}`; do not edit. "
        f"dpassay {version('dpassay')}, numpy {np.__version__}. What numbers, noise and a release "
        "are stands in [the guide to numbers](../how-to/numbers.md).\n"
    )
    yield (
        f"A deployment releases a noisy count, or a histogram of {CELLS} cells, with a noise that "
        "is not the claimed one. Every number of a release is a draw of the noise. Nobody who "
        "accuses a correct deployment with probability 10^-6 at most can tell the noise from the "
        "claimed one after fewer than about ln(10^6) / KL draws, even who knows which fault it is, "
        "where KL is how many nats (units of natural log) a draw tells in the mean: the "
        "Kullback-Leibler divergence, here summed numerically. That is the limit. `dpassay verify` "
        "does not know the fault, tests for all others at once, and keeps 10^-6 over all its "
        f"checks together. The goal was {GOAL:g} times the limit.\n"
    )
    yield (
        f"Median of {runs} runs, and the most of any. The evidence of a count is looked at after "
        "each release at first, that of a histogram too, so that its draws come ten at a time.\n"
    )
    yield head("fault | claimed noise | numbers | draws (most) | limit | ratio | found by")
    ratios = []
    for (place, text, cells), told in found.items():
        if FAULTS[place].law is not None:
            least = limit(place, text)
            median = cells * statistics.median(n or math.inf for n, _ in told)
            ratios.append(median / least)
            most = cells * max(n or math.inf for n, _ in told)
            yield (
                f"| {FAULTS[place].name} | {text} | {cells} | {median:,.0f} ({most:,.0f}) | "
                f"{least:,.0f} | {ratios[-1]:.2f} | {by(told)} |"
            )
    yield from summary(ratios, found)
    yield from releases(found)


def summary(ratios: list[float], found: dict[tuple[int, str, int], list[Any]]) -> Iterator[str]:
    missed = sum(n is None for runs in found.values() for n, _ in runs)
    beyond = sum(ratio > GOAL for ratio in ratios)
    yield (
        f"\nRatios go from {min(ratios):.2f} to {max(ratios):.2f}, {statistics.median(ratios):.2f} "
        f"in the median; {beyond} of {len(ratios)} are beyond {GOAL:g}. Of all runs of this page "
        f"{missed} have missed their fault. A ratio below 1 is chance: the limit is of the mean.\n"
    )


def releases(found: dict[tuple[int, str, int], list[Any]]) -> Iterator[str]:
    """The section on faults that one or two releases prove."""
    yield "## What a release or two prove\n"
    yield (
        "A number of a continuous law is whole with probability 0, equal to the exact one with "
        "probability 0, and equal to its neighbour's with probability 0: one release proves it. "
        "Whole noise gives the exact number now and then, so that a cell without noise takes some "
        f"releases even to who knows the fault. The goal was {FEW} releases.\n"
    )
    yield head("fault | claimed noise | numbers | releases until found (most) | limit | found by")
    for (place, text, cells), runs in found.items():
        if FAULTS[place].law is None:
            median = statistics.median(n or math.inf for n, _ in runs)
            most = max(n or math.inf for n, _ in runs)
            yield (
                f"| {FAULTS[place].name} | {text} | {cells} | {median:,.0f} ({most:,.0f}) | "
                f"{max(1.0, limit(place, text)):.0f} | {by(runs)} |"
            )


def by(runs: list[Any]) -> str:
    """The checks that had failed when a run ended, and in how many runs."""
    counted = Counter(check for _, failed in runs for check in failed)
    return ", ".join(f"{check} {times}" for check, times in counted.most_common(3))
