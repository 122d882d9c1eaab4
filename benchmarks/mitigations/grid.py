"""What is compared: noise, queries and ways of reading answers, and what a deployment can do."""

from dpassay.attacks.inference.mitigations import MitigatedDeployment
from dpassay.attacks.inference.through_answers import Cell, EndToEnd, Reading
from dpassay.reference import ConfidentGNMax, Gaussian, NoisyArgmax

from .deployments import Cache, Keeping, Rounding
from .people import DUPLICATES, Data

DELTA = 1e-5
QUERIES = (1, 10, 100, 1000, 10_000)
NOISES = (0.5, 1.0, 2.0, 4.0)  # times the usual noise
ATTACKED = 1000  # answers about each person, where nothing is done
SEEDS = range(20)

READINGS: tuple[Reading, ...] = ("mle", "alone", "together")

FEW = ((0.25, 10), (0.25, 1000), (1.0, 10), (1.0, 1000), (4.0, 10), (4.0, 1000))
"""Noise and queries at which ways of reading are compared."""


def gnmax(sigma: float) -> NoisyArgmax:
    return NoisyArgmax(Gaussian(sigma))


def cells(data: Data) -> list[Cell]:
    grid = [Cell(gnmax(x * data.sigma), n) for x in NOISES for n in QUERIES]
    more = [Cell(gnmax(x * data.sigma), n, reading) for x, n in FEW for reading in READINGS]
    return list(dict.fromkeys(grid + more))


def by_cell(found: list[EndToEnd]) -> dict[tuple[float, int, str], EndToEnd]:
    """By noise, queries and reading."""
    cells = {one.cell: one for one in found}
    return {(c.mechanism.noise.scale, c.queries, c.reading): one for c, one in cells.items()}


def settings(data: Data) -> list[MitigatedDeployment]:
    n, sigma, many = data.teachers, data.sigma, ATTACKED
    plain, step = gnmax(sigma), n // 10

    def confident(times: float) -> ConfidentGNMax:
        return ConfidentGNMax(Gaussian(sigma), 0.8 * n, Gaussian(times * sigma))

    listed: list[MitigatedDeployment] = [
        MitigatedDeployment("nothing", plain, many),
        MitigatedDeployment("kept answers, the same input", plain, 1),
        MitigatedDeployment("at most 10 queries per input", plain, 10),
        MitigatedDeployment("at most 100 queries per input", plain, 100),
        MitigatedDeployment(
            "low consensus refused, threshold noise 3.75 sigma", confident(3.75), many
        ),
        MitigatedDeployment("low consensus refused, threshold noise sigma", confident(1.0), many),
        Rounding(f"rounded to {step}s, same noise", plain, many, step),
        Rounding(
            f"rounded to {step}s, noise for the same epsilon", gnmax(step * sigma), many, step
        ),
        MitigatedDeployment("half the noise, as many queries", gnmax(sigma / 2), many),
        MitigatedDeployment("twice the noise, as many queries", gnmax(2 * sigma), many),
        MitigatedDeployment("half the noise, same epsilon: a quarter", gnmax(sigma / 2), many // 4),
        MitigatedDeployment(
            "twice the noise, same epsilon: four times", gnmax(2 * sigma), 4 * many
        ),
    ]
    if data.near is not None:
        caches: tuple[Cache, ...] = ("input", "histogram")
        listed[2:2] = [
            Keeping(
                f"kept answers by {cache}, {DUPLICATES} near-duplicates",
                plain,
                DUPLICATES,
                cache,
                data.near[..., 0],
            )
            for cache in caches
        ]
    return listed
