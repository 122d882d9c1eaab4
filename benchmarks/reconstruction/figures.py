"""The paper's figures from measured errors, as SVG."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from ..drawing import plt, save
from .ensembles import CANONICAL, EACH, GROUPS, SIGMAS
from .experiments import ALL_ANSWERED, ATTACKS, BUDGET, MANY, VARIANTS, Errors, Setting
from .results import Results
from .summaries import half_widths

COLOURS = {
    "mle": "#0072b2",
    "posterior": "#009e73",
    "gradient-descent": "#e69f00",
    "released-code": "#cc79a7",
}
"""Okabe and Ito's palette, which colour-blind readers tell apart."""

SHADES = ("#08306b", "#2171b5", "#6baed6", "#bdd7e7")
"""Colours of the noise scales, from little noise to much."""


def draw_all(results: Results, folder: Path) -> None:
    """Writes the figures of every data set."""
    for dataset in dict.fromkeys(setting.dataset for setting, _ in results):
        _canonical(dataset, results, folder)
        _by_sigma(dataset, results, folder)


def _canonical(dataset: str, results: Results, folder: Path) -> None:
    """Figure 4: error of each attack on every histogram within the canonical budget."""
    figure, axes = plt.subplots(
        2, 1, figsize=(9, 6), sharex=True, sharey=True, layout="constrained"
    )
    for axis, variant in zip(axes, VARIANTS, strict=True):
        setting = Setting(dataset, BUDGET, variant, CANONICAL)
        _bars(axis, {attack: results[setting, attack] for attack in COLOURS}, COLOURS)
        axis.set_title(f"{dataset}, sigma 40, canonical budget: {variant}", fontsize=10)
        axis.set_ylabel("share of votes misplaced")
    axes[0].set_ylim(0.0)  # for all: they share it
    axes[0].legend(ncols=len(COLOURS), fontsize=8, frameon=False)
    save(figure, folder / f"reconstruction-budget-{dataset}.svg")


def _by_sigma(dataset: str, results: Results, folder: Path) -> None:
    """Figures 6 and 7: error of each attack by noise scale, with 10,000 queries."""
    figure, axes = plt.subplots(
        len(ATTACKS), 1, figsize=(9, 11), sharex=True, sharey=True, layout="constrained"
    )
    shades = {f"sigma {sigma:g}": c for sigma, c in zip(SIGMAS, SHADES, strict=True)}
    settings = [Setting(dataset, MANY, ALL_ANSWERED, sigma) for sigma in SIGMAS]
    for axis, attack in zip(axes, COLOURS, strict=True):
        errors = [results[setting, attack] for setting in settings]
        _bars(axis, dict(zip(shades, errors, strict=True)), shades)
        axis.set_title(f"{dataset}, 10,000 queries: {attack}", fontsize=10)
        axis.set_ylabel("share misplaced")
    axes[0].set_ylim(0.0)  # for all: they share it
    axes[0].legend(ncols=len(SIGMAS), fontsize=8, frameon=False)
    save(figure, folder / f"reconstruction-noise-{dataset}.svg")


def _bars(axis: Axes, errors: Mapping[str, Errors], colours: Mapping[str, str]) -> None:
    """Means over seeds of every histogram, a bar a name; whiskers are their 95 % intervals."""
    width = 0.8 / len(colours)
    many = len(GROUPS) * EACH
    axis.set_axisbelow(True)
    for j, (name, colour) in enumerate(colours.items()):
        means = errors[name].mean(0)
        places = np.arange(many) + (j - (len(colours) - 1) / 2) * width
        axis.bar(places, means, width, color=colour, label=name)
        axis.errorbar(places, means, half_widths(errors[name]), fmt="none", ecolor="#444", lw=0.6)
    labels = [f"{GROUPS[i // EACH][0].upper()}{i % EACH + 1}" for i in range(many)]
    axis.set_xticks(np.arange(many), labels)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", lw=0.3)
