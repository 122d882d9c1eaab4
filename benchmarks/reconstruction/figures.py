"""The paper's figures from outcomes, as SVG."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..drawing import plt, save
from .ensembles import SIGMAS
from .experiments import ALL_ANSWERED, ATTACKS, VARIANTS, Outcome

COLOURS = {
    "mle": "#0072b2",
    "posterior": "#009e73",
    "gradient-descent": "#e69f00",
    "released-code": "#cc79a7",
}
"""Okabe and Ito's palette, which colour-blind readers tell apart."""

SHADES = ("#08306b", "#2171b5", "#6baed6", "#bdd7e7")
"""Colours of the noise scales, from little noise to much."""


def draw_all(outcomes: Sequence[Outcome], folder: Path) -> list[Path]:
    """Writes the figures of every data set; returns their paths."""
    written = []
    for dataset in dict.fromkeys(o.dataset for o in outcomes):
        of_set = [o for o in outcomes if o.dataset == dataset]
        written.append(_canonical(dataset, of_set, folder))
        written.append(_by_sigma(dataset, of_set, folder))
    return written


def _canonical(dataset: str, outcomes: Sequence[Outcome], folder: Path) -> Path:
    """Figure 4: error of each attack on every histogram within the canonical budget."""
    chosen = [o for o in outcomes if o.experiment == "canonical budget"]
    figure, axes = plt.subplots(
        2, 1, figsize=(9, 6), sharex=True, sharey=True, layout="constrained"
    )
    for axis, variant in zip(axes, VARIANTS, strict=True):
        of_variant = [o for o in chosen if o.variant == variant]
        _bars(axis, of_variant, COLOURS, lambda o: o.attack)
        axis.set_title(f"{dataset}, sigma 40, canonical budget: {variant}", fontsize=10)
        axis.set_ylabel("share of votes misplaced")
    axes[0].legend(ncols=len(ATTACKS), fontsize=8, frameon=False)
    return _save(figure, folder / f"reconstruction-budget-{dataset}.svg")


def _by_sigma(dataset: str, outcomes: Sequence[Outcome], folder: Path) -> Path:
    """Figures 6 and 7: error of each attack by noise scale, with 10,000 queries."""
    chosen = [
        o for o in outcomes if o.experiment != "canonical budget" and o.variant == ALL_ANSWERED
    ]
    figure, axes = plt.subplots(
        len(ATTACKS), 1, figsize=(9, 11), sharex=True, sharey=True, layout="constrained"
    )
    for axis, attack in zip(axes, ATTACKS, strict=True):
        of_attack = [o for o in chosen if o.attack == attack]
        shades = {f"sigma {sigma:g}": c for sigma, c in zip(SIGMAS, SHADES, strict=True)}
        _bars(axis, of_attack, shades, lambda o: f"sigma {o.sigma:g}")
        axis.set_title(f"{dataset}, 10,000 queries: {attack}", fontsize=10)
        axis.set_ylabel("share misplaced")
    axes[0].legend(ncols=len(SIGMAS), fontsize=8, frameon=False)
    return _save(figure, folder / f"reconstruction-noise-{dataset}.svg")


def _bars(
    axis: Axes, outcomes: Sequence[Outcome], colours: dict[str, str], of: Callable[[Outcome], str]
) -> None:
    """Means over seeds of every histogram, a bar a name; whiskers are the least and the most."""
    samples = sorted({o.sample for o in outcomes})
    width = 0.8 / len(colours)
    axis.set_axisbelow(True)
    for j, (name, colour) in enumerate(colours.items()):
        errors = [[o.error for o in outcomes if o.sample == s and of(o) == name] for s in samples]
        means = np.array([np.mean(e) for e in errors])
        ends = np.array([[m - min(e), max(e) - m] for m, e in zip(means, errors, strict=True)]).T
        places = np.arange(len(samples)) + (j - (len(colours) - 1) / 2) * width
        axis.bar(places, means, width, color=colour, label=name)
        axis.errorbar(places, means, np.maximum(ends, 0.0), fmt="none", ecolor="#444", lw=0.6)
    groups = {o.sample: o.group for o in outcomes}
    labels = [f"{groups[s][0].upper()}{(s - 1) % 5 + 1}" for s in samples]
    axis.set_xticks(np.arange(len(samples)), labels)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", lw=0.3)


def _save(figure: Figure, path: Path) -> Path:
    save(figure, path)
    return path
