"""Figures 3 to 5 of Chadha et al. 2024 (arXiv 2402.09403) as bars: theory, exact cost, audit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpassay.attacks.auditing import epsilon_if_the_bounds_were_exact
from dpassay.attacks.private_prediction.adversaries import Adversary
from dpassay.attacks.private_prediction.deployments import Mechanism
from dpassay.attacks.private_prediction.neighbours import Source

from . import orderings
from .drawing import plt, save

ORDERS = np.array([1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 20.0, 32.0, 64.0])
DELTA = 1e-6
NOTHING = epsilon_if_the_bounds_were_exact(np.zeros(ORDERS.size), ORDERS, DELTA)
"""What no cost at all converts to: bars of small costs stand on it."""
KINDS = {
    "theory": "published analysis",
    "changed": "exact, if a vote changed for sure",
    "exact": "exact",
    "region": "audit, likelihood region",
    "two_cut": "audit, 2-cut",
}
COLOURS = ("#c7c7c7", "#9ecae1", "#3182bd", "#e6550d", "#fdae6b")
SOURCES: tuple[Source, ...] = ("test", "train", "embedding")
TEACHERS: tuple[Mechanism, ...] = ("pate", "capc", "prompt-pate")
ADVERSARIES = {
    Adversary.NAT_MIAQ: "Nat-MIAQ",
    Adversary.POIS_MIAQ: "Pois-MIAQ",
    Adversary.POIS_MINQ: "Pois-MINQ",
}
NAMES = {"pate": "PATE", "capc": "CaPC", "prompt-pate": "PromptPATE", "private-knn": "Private-kNN"}


class Panel(NamedTuple):
    """What stands side by side: results by name, under a title; data: of which column it is."""

    data: str
    title: str
    bars: list[tuple[str, dict[str, Any]]]


def figures(found: orderings.Found) -> Iterator[tuple[int, list[Panel]]]:
    """The panels of each figure, row by row; a column for each of the data."""
    data = list(dict.fromkeys(key[0] for key in found))
    last = Adversary.POIS_MINQ

    def of_teachers(adversary: Adversary) -> list[Panel]:
        return [
            Panel(
                name,
                ADVERSARIES[adversary],
                [(NAMES[m], found[name, m, adversary.value, "test"]) for m in TEACHERS],
            )
            for name in data
        ]

    yield 3, of_teachers(Adversary.NAT_MIAQ) + of_teachers(Adversary.POIS_MIAQ)
    yield 4, of_teachers(last)
    knn = "private-knn"
    by_adversary = [
        Panel(
            name,
            "Private-kNN",
            [(title, found[name, knn, a.value, "test"]) for a, title in ADVERSARIES.items()],
        )
        for name in data
    ]
    sources = [
        Panel(
            name,
            "Private-kNN, Pois-MINQ, a point from",
            [(source, found[name, knn, last.value, source]) for source in SOURCES],
        )
        for name in data
    ]
    yield 5, by_adversary + sources


def draw(path: Path, panels: list[Panel]) -> None:
    data = list(dict.fromkeys(panel.data for panel in panels))
    rows = len(panels) // len(data)
    figure, axes = plt.subplots(
        rows, len(data), figsize=(1.0 + 4.6 * len(data), 3.4 * rows), squeeze=False
    )
    for axis, panel in zip(axes.ravel(), panels, strict=True):
        _draw(axis, panel)
    for row in axes:
        row[0].set_ylabel(f"converted epsilon at {DELTA:g}", fontsize=8)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, ncol=6, fontsize=8, loc="lower center", frameon=False)
    figure.tight_layout(rect=(0, 0.1 / rows, 1, 1))
    plt.rcParams["svg.hashsalt"] = "private-prediction"
    save(figure, path)


def _draw(axis: Any, panel: Panel) -> None:
    width = 0.16
    for k, (kind, label) in enumerate(KINDS.items()):
        heights = [
            result["epsilon_if_the_bounds_were_exact"][kind] or 0.0 for _, result in panel.bars
        ]
        places = np.arange(len(panel.bars)) + (k - 2) * width
        drawn = axis.bar(places, heights, width, color=COLOURS[k], label=label)
        axis.bar_label(drawn, fmt="%.2g", fontsize=6, padding=1)
    axis.set_xticks(np.arange(len(panel.bars)), [name for name, _ in panel.bars], fontsize=8)
    axis.set_title(f"{panel.data}: {panel.title}", fontsize=10)
    axis.axhline(NOTHING, color="black", linewidth=0.6, linestyle=":", label="of no cost")
    axis.margins(y=0.15)
    axis.spines[["top", "right"]].set_visible(False)
