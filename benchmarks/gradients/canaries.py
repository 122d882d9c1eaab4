"""Canaries of Adult: what a flipped sex costs under DP-SGD, and what counted releases prove of it.

`python -m benchmarks.gradients.canaries [--workers N]` writes docs/results/gradients-canaries.md;
what it needs is what `benchmarks.gradients` needs. Parts are kept.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpassay.attacks.auditing import Counts
from dpassay.attacks.gradients.canaries import (
    Attribute,
    Canary,
    ClippedModel,
    crafted_canary,
)
from dpassay.attacks.gradients.canary_audit import (
    HALFWAY,
    epsilon_of,
    fixed_threshold,
    proved_epsilon,
)
from dpassay.attacks.gradients.defences.dp_sgd import DPSGD

from ..long_runs import DATA, add_workers, carried_out, need_adult, workers
from ..pages import head, write_page
from .adult import adult
from .canary_costs import direction, drawn, exact_costs, found_canary, proved_mu
from .data import Split, split
from .derivatives import per_example
from .games import PRIVATE, PUBLIC
from .learner import Training, trained
from .models import Model, Perceptron
from .over_seeds import reach
from .settings import ENCODINGS, SEEDS

WIDE = "one-hot, scaled, He's weights"
SHOWN_AS = (*ENCODINGS, WIDE)
CLIP, SIGMA, DELTA, ALPHA = 1.0, 1.0, 1e-5, 0.05
ROUNDS, SIZE, BEYOND = 10, 16, 3.0
SHOWN = 2_000  # records from which a canary is chosen
REPETITIONS = 1_000
RELEASES = (1_000, 10_000, 100_000, 1_000_000)
REAL = 10_000  # releases that optax draws
MUS = {"none": 0.0, "crafted": 1.35, "farthest": 2.0}
"""Separations of which bounds are drawn: equal worlds, about a crafted canary, and 2 C."""

METHODS = {
    "any mechanism, Clopper-Pearson": (False, False),
    "any mechanism, anytime": (False, True),
    "Gaussian noise, Clopper-Pearson": (True, False),
    "Gaussian noise, anytime": (True, True),
}


def canaries(encoding: str, seed: int) -> dict[str, Any]:
    """Distances of canaries in one split with one model, before and while it learns."""
    data, model, sex = _wide(seed) if encoding == WIDE else _narrow(encoding, seed)
    records = data.private.features[:SHOWN].astype(np.float64)
    now = _clipped(model)
    crafted = crafted_canary(now, records, sex, 2, seed)
    return {
        "found": found_canary(now, records, sex, 2).distance,
        "crafted": crafted.distance,
        "beyond": crafted_canary(now, records, sex, 2, seed, reach=BEYOND).distance,
        "rounds": _over_rounds(model, data, crafted, sex, seed),
        "released": _released(crafted, seed) if seed == 0 else None,
    }


def _narrow(encoding: str, seed: int) -> tuple[Split, Model, Attribute]:
    """Sex a column of 0 and 1, and weights as the study has them."""
    data = split(adult(DATA, encoding, sex=True), PRIVATE, PUBLIC, seed)
    network = Perceptron(data.private.features.shape[1], 2)
    place = data.private.features.shape[1] - 1
    sex = Attribute(np.array([place]), np.array([[0.0], [1.0]]))
    return data, Model(network, network.initial(seed)), sex


def _wide(seed: int) -> tuple[Split, Model, Attribute]:
    """Columns scaled, sex two of them, and weights twice as large or more (He et al. 2015)."""
    data, _, _ = _narrow("one-hot", seed)
    known = data.public.features
    both = np.column_stack([known, 1.0 - known[:, -1]])
    middle, spread = both.mean(0), np.maximum(both.std(0), 1e-6)
    parts = {}
    for name in ("private", "public", "test"):
        part = getattr(data, name)
        features = np.column_stack([part.features, 1.0 - part.features[:, -1]])
        scaled = ((features - middle) / spread).astype(np.float32)
        parts[name] = replace(part, features=scaled)
    wide, columns = Split(**parts), np.array([both.shape[1] - 2, both.shape[1] - 1])
    worlds = (np.array([[0.0, 1.0], [1.0, 0.0]]) - middle[columns]) / spread[columns]
    network, random = Perceptron(both.shape[1], 2), np.random.default_rng(seed)
    drawn = []
    for weights, biases in zip(network.shapes[::2], network.shapes[1::2], strict=True):
        deviation = np.sqrt(2.0 / weights[1])
        drawn += [deviation * random.standard_normal(np.prod(weights)), np.zeros(biases[0])]
    model = Model(network, np.concatenate(drawn).astype(np.float32))
    return wide, model, Attribute(columns, worlds)


def _clipped(model: Model) -> ClippedModel:
    gradients = partial(_gradients, model)
    return ClippedModel(gradients, CLIP)


def _gradients(model: Model, records: Any, labels: Any) -> Any:
    features = records.astype(np.float32)
    return per_example(model.network, model.parameters, features, labels)


def _over_rounds(
    model: Model, data: Split, canary: Canary, sex: Attribute, seed: int
) -> list[float]:
    """How far the canary's gradients lie apart at the start of each round of DP-SGD."""
    defence, found = DPSGD(multiplier=SIGMA, clip_norm=CLIP, size=SIZE), []
    for number in range(ROUNDS):
        found.append(_clipped(model).canary(canary.here, canary.label, sex).distance)
        model = trained(model, data.private, defence, Training(), (seed, 60, number))
    return found


def _released(canary: Canary, seed: int) -> dict[str, float]:
    """Releases of either world by optax, along the canary: their means and deviation, in sigma C.

    And the bounds that they prove. The rest of the batch is known: it is left out.
    """
    defence = DPSGD(multiplier=SIGMA, clip_norm=CLIP, size=1)
    along = []
    for world, gradient in enumerate(canary.gradients):
        parts = []
        for start in range(0, REAL, 500):
            sums = np.repeat(gradient[None].astype(np.float32), 500, axis=0)
            key = 10**6 * (seed + 1) + 10**5 * world + start
            parts.append(defence.defended(sums, None, key) @ direction(canary))
        along.append(np.concatenate(parts) / (SIGMA * CLIP))
    middle = 0.5 * canary.gradients.sum(0) @ direction(canary) / (SIGMA * CLIP)
    mu = canary.distance / (SIGMA * CLIP)
    threshold = fixed_threshold(mu, REAL, DELTA, ALPHA)
    return {
        "apart": float(along[0].mean() - along[1].mean()),
        "deviation": float(np.sqrt(0.5 * (along[0].var() + along[1].var()))),
        "any": proved_epsilon(_counts(along, middle + threshold), DELTA, ALPHA),
        "gaussian": epsilon_of(proved_mu(_counts(along, middle), ALPHA), DELTA),
        "exact": epsilon_of(mu, DELTA),
    }


def _counts(along: list[Any], threshold: float) -> Counts:
    above = [int((world > threshold).sum()) for world in along]
    return Counts(*(np.array([count, REAL - count]) for count in above))


def bounds(name: str, releases: int, method: str, times: int) -> list[float]:
    """Bounds of repeated audits, each with releases of its own, by the exact law of the counts."""
    mu, (gaussian, anytime) = MUS[name], METHODS[method]
    rng = np.random.default_rng([releases, times, *map(ord, name + method)])
    if gaussian:
        counted = (drawn(mu, HALFWAY, releases, rng) for _ in range(REPETITIONS))
        apart = [proved_mu(counts, ALPHA, anytime=anytime) for counts in counted]
        return [epsilon_of(one * np.sqrt(times), DELTA) if one else 0.0 for one in apart]
    threshold = fixed_threshold(mu, releases, DELTA, ALPHA, times=times, anytime=anytime)
    counted = (drawn(mu, threshold, releases, rng) for _ in range(REPETITIONS))
    return [proved_epsilon(counts, DELTA, ALPHA, times, anytime=anytime) for counts in counted]


def page(found: dict[str, list[Any]], audits: dict[tuple[Any, ...], list[float]]) -> Iterator[str]:
    yield "# Canaries: what a flipped attribute costs under DP-SGD\n"
    yield (
        "Generated by `python -m benchmarks.gradients.canaries`; do not edit. Li et al. 2024 "
        "(arXiv 2408.16913, section 7) audit the privacy of one attribute with two records that "
        "differ in it alone and are chosen to drive gradients apart; how they are chosen is not in "
        "the text that was at hand, so that the construction is ours (`attacks/gradients/"
        "canaries.py`). Clip norm 1, noise multiplier 1, delta 1e-5, on Adult, whose sex is "
        f"flipped; a perceptron 64-64 as it is initialised, {SEEDS} seeds; figures with ± "
        "are means and standard deviations of one seed, and Student's interval of 95 % of such a "
        f"mean reaches {reach(SEEDS):.2f} deviations to either side. How far gradients can "
        "be driven apart is a matter of the model: the third encoding has sex as two columns, all "
        "scaled, and weights as He et al. 2015 draw them.\n"
    )
    yield from _costs(found)
    yield from _composed(found)
    yield from _proved(audits)
    yield from _real(found)


def _mean(values: list[float]) -> str:
    return f"{np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}"


def _costs(found: dict[str, list[Any]]) -> Iterator[str]:
    yield "## Exact epsilons of one release\n"
    yield (
        "To flip an attribute is to *substitute* a record, whose clipped gradient moves by up to "
        "2 C; adding or removing one moves it by C. So a canary may cost more than the epsilon of "
        "DP-SGD by add-remove, and no claim of that is refuted by it; never more than that by "
        "substitution. All are exact (Balle and Wang 2018), by the distance of the two gradients.\n"
    )
    added, replaced = (epsilon_of(mu / SIGMA, DELTA) for mu in (1.0, 2.0))
    yield head("canary | encoding | distance / C | epsilon | by add-remove | by substitution")
    names = {
        "found": "a person of the data, the sex flipped",
        "crafted": "crafted, each column within its range",
        "beyond": f"crafted, up to {BEYOND:g} times as far out",
    }
    for key, name in names.items():
        for encoding in SHOWN_AS:
            apart = [one[key] / CLIP for one in found[encoding]]
            costs = [epsilon_of(mu / SIGMA, DELTA) for mu in apart]
            yield (
                f"| {name} | {encoding} | {_mean(apart)} | {_mean(costs)} | {added:.2f} | "
                f"{replaced:.2f} |"
            )
    yield ""


def _composed(found: dict[str, list[Any]]) -> Iterator[str]:
    yield "## Over rounds of training\n"
    yield (
        f"The canary crafted against the first model, shown once in each of {ROUNDS} rounds of an "
        f"epoch of DP-SGD with the same noise (batches of {SIZE}, rate .01). Its gradients move "
        "with the model; steps compose by the squares of their distances. The last column has the "
        "canary as far apart as at first in all rounds.\n"
    )
    yield head(
        "encoding | distance, first round | last round | epsilon of all rounds | by add-remove | "
        "by substitution | if it stayed"
    )
    for encoding in SHOWN_AS:
        apart = np.array([one["rounds"] for one in found[encoding]]) / CLIP
        costs = [epsilon_of(float(np.linalg.norm(row)) / SIGMA, DELTA) for row in apart]
        stayed = [epsilon_of(float(row[0]) * np.sqrt(ROUNDS) / SIGMA, DELTA) for row in apart]
        canary = Canary(np.zeros(1), np.zeros(1), 0, np.array([[1.0], [-1.0]]), CLIP)
        whole = exact_costs(canary, SIGMA, DELTA, ROUNDS)
        yield (
            f"| {encoding} | {_mean(list(apart[:, 0]))} | {_mean(list(apart[:, -1]))} | "
            f"{_mean(costs)} | {whole.add_remove:.1f} | {whole.substitution:.1f} | "
            f"{_mean(stayed)} |"
        )
    yield ""


def _proved(audits: dict[tuple[Any, ...], list[float]]) -> Iterator[str]:
    yield "## What counted releases prove\n"
    yield (
        f"{REPETITIONS:,} audits each, by the exact law of the counts, at a separation of "
        f"{MUS['crafted']:g} sigma: about a crafted canary. Where releases are counted is fixed "
        "beforehand, by the claim and the number of releases. *Any mechanism* needs nothing but "
        "the counts; *Gaussian noise* turns them into a separation, which is a bound of epsilon "
        "where the noise is Gaussian. The nominal error is 5 %: 50 audits above the exact epsilon "
        "would be as stated, more than 85 refute it at one in a million.\n"
    )
    yield head(
        "bound | releases of each world | steps | exact | mean bound | share of the exact | "
        "above it | above substitution"
    )
    for (name, releases, method, times), values in audits.items():
        if name == "crafted":
            exact = epsilon_of(MUS[name] * np.sqrt(times), DELTA)
            worst = epsilon_of(2.0 * np.sqrt(times), DELTA)
            found = np.array(values)
            yield (
                f"| {method} | {releases:,} | {times} | {exact:.2f} | {found.mean():.2f} | "
                f"{found.mean() / exact:.2f} | {(found > exact).sum()} | {(found > worst).sum()} |"
            )
    yield ""
    yield "At the ends: equal worlds, of exact epsilon 0, and worlds 2 C apart.\n"
    yield head("bound | releases of each world | above 0, equal worlds | above exact, 2 C apart")
    for (name, releases, method, times), values in audits.items():
        if name == "none":
            far = np.array(audits["farthest", releases, method, times])
            above = (far > epsilon_of(MUS["farthest"], DELTA)).sum()
            yield f"| {method} | {releases:,} | {(np.array(values) > 0).sum()} | {above} |"
    yield ""


def _real(found: dict[str, list[Any]]) -> Iterator[str]:
    yield "## Releases that optax draws\n"
    yield (
        f"{REAL:,} releases of each world by optax's DP-SGD, of the first seed's crafted canary, "
        "looked at along its direction: what the exact law above stands for.\n"
    )
    yield head(
        "encoding | means apart, in sigma C | distance / (sigma C) | deviation | "
        "any mechanism | Gaussian noise | exact"
    )
    for encoding in SHOWN_AS:
        first = found[encoding][0]
        released = first["released"]
        yield (
            f"| {encoding} | {released['apart']:.3f} | {first['crafted'] / (SIGMA * CLIP):.3f} | "
            f"{released['deviation']:.3f} | {released['any']:.2f} | {released['gaussian']:.2f} | "
            f"{released['exact']:.2f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Canaries of Adult under DP-SGD.")
    add_workers(parser)
    asked = parser.parse_args()
    need_adult()
    splits = [(encoding, seed) for encoding in SHOWN_AS for seed in range(SEEDS)]
    audits = [
        (name, releases, method, times)
        for method in METHODS
        for releases in RELEASES
        for name in MUS
        for times in ((1, ROUNDS) if name == "crafted" and releases == RELEASES[2] else (1,))
    ]
    with workers(asked) as executor:
        results = carried_out(canaries, splits, "gradients-canaries", executor)
        proved = carried_out(bounds, audits, "gradients-canary-bounds", executor)
    found = {
        encoding: [one for (of, _), one in zip(splits, results, strict=True) if of == encoding]
        for encoding in SHOWN_AS
    }
    write_page("gradients-canaries.md", page(found, dict(zip(audits, proved, strict=True))))


if __name__ == "__main__":
    started = time.perf_counter()
    main()
    print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)
