"""Curves of the attacks, the law of balanced precision, and membership beside its bound."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import PercentFormatter

from dpassay.attacks.inference.measures import Roc

from ..drawing import legend_below, plain, plt, save
from .attributes import ATTACKS, Attacked
from .members import RATES, Ensembles, FromLabels

COLOURS = ("#3182bd", "#e6550d", "#31a354", "#756bb1")
PUBLISHED = 0.75


def draw(folder: Path, people: list[Attacked], ensembles: list[Ensembles]) -> None:
    plt.rcParams["svg.hashsalt"] = "inference"
    _attributes(folder / "inference-attribute.svg", people)
    if len(people) > 1:
        _balanced(folder / "inference-balanced.svg", people[0])
    _membership(folder / "inference-membership.svg", ensembles[0])


def _attributes(path: Path, people: list[Attacked]) -> None:
    figure, axes = plt.subplots(
        1, len(people), figsize=(4.2 * len(people), 5.0), sharey=True, squeeze=False
    )
    for axis, found in zip(axes[0], people, strict=True):
        _curve(axis, found.by_attack["calibrated"].curve, COLOURS[0], "low consensus")
        _curve(axis, found.by_attack["learned"].curve, COLOURS[1], "learned from the votes")
        _curve(axis, found.alone_curve, COLOURS[2], "true label alone, no votes")
        paper = found.by_attack["below 75 %"]
        point = paper.false_positive_rate.value, paper.recall.value
        axis.plot(*point, "o", color=COLOURS[0], label=ATTACKS["below 75 %"])
        axis.plot([0, 1], [0, 1], color="black", linewidth=0.6, linestyle=":", label="a guess")
        told = found.told
        axis.set_title(f"{told.name}: {told.attribute}", fontsize=10)
        axis.set_xlabel("of the others, share flagged", fontsize=9)
        axis.set_aspect("equal")
    axes[0, 0].set_ylabel("of those with the attribute, share flagged", fontsize=9)
    legend_below(figure, axes[0, 0], 5 if len(people) > 1 else 2, 0.08, 0.98)
    save(figure, path)


def _balanced(path: Path, found: Attacked) -> None:
    law = found.by_attack["below 75 %"].balanced
    figure, axis = plt.subplots(figsize=(6.4, 3.0))
    edges = np.arange(0.5, 0.84, 0.02).tolist()
    axis.hist(law.values, edges, weights=law.probabilities, color="#9ecae1", edgecolor="white")
    axis.axvline(law.mean, color=COLOURS[0], label=f"mean {100 * law.mean:.1f} %")
    axis.axvline(PUBLISHED, color=COLOURS[1], linestyle="--", label="published: 75 %")
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
    axis.set_yticks([0.0, 0.05, 0.1, 0.15, 0.2])
    axis.set_xlabel("precision on a balanced subset", fontsize=9)
    axis.set_ylabel("share of the subsets", fontsize=9)
    axis.legend(fontsize=8, frameon=False, loc="upper left")
    plain(axis)
    figure.tight_layout()
    save(figure, path)


def _membership(path: Path, found: Ensembles) -> None:
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12.6, 4.4))
    _curve(left, found.by_fit["binomial"].curve, COLOURS[0], "all records")
    _curve(left, found.by_fit["count"].curve, COLOURS[3], "all records, one threshold")
    _curve(left, found.hard.curve, COLOURS[1], "hard records")
    left.plot([1e-4, 1], [1e-4, 1], color="black", linewidth=0.6, linestyle=":", label="a guess")
    left.set(xscale="log", yscale="log", xlim=(1e-4, 1), ylim=(1e-4, 1))
    left.set_title("from votes, which no bound protects", fontsize=10)
    left.set_xlabel("false-positive rate", fontsize=9)
    left.set_ylabel("true-positive rate", fontsize=9)
    left.legend(fontsize=8, frameon=False, loc="upper left")
    for place, (axis, rate) in enumerate(zip((middle, right), RATES, strict=True)):
        _against_queries(axis, found.from_labels, place)
        axis.axhline(rate, color="black", linewidth=0.6, linestyle=":", label="a guess")
        axis.set_title(f"from labels, at {100 * rate:g} % false positives", fontsize=10)
        axis.set_xlabel("labels of the record that are seen", fontsize=9)
    middle.legend(fontsize=8, frameon=False, loc="lower right")
    figure.tight_layout()
    save(figure, path)


def _against_queries(axis: Any, found: list[FromLabels], place: int) -> None:
    queries = [each.queries for each in found]
    for seen, colour, label, aside in (
        ([each.seen for each in found], COLOURS[0], "all records", 1.0),
        ([each.hard for each in found], COLOURS[1], "hard records", 1.1),
    ):
        values = [one.at[place] for one in seen]
        middle = np.array([value.value for value in values])
        reach = [
            middle - [value.low for value in values],
            np.array([value.high for value in values]) - middle,
        ]
        axis.errorbar(
            aside * np.array(queries),
            middle,
            reach,
            color=colour,
            marker="o",
            ms=4,
            lw=1,
            label=label,
        )
    claimed = [each.claimed[place] for each in found]
    least = [each.least[place] for each in found]
    axis.plot(queries, claimed, color="black", lw=1.2, label="bound by epsilon at delta 1e-5")
    axis.plot(queries, least, color="black", lw=1.2, ls="--", label="least bound over all delta")
    axis.set(xscale="log", yscale="log", ylim=(1e-4, 1.3))
    axis.set_xticks(queries, [f"{each:,}" for each in queries])
    axis.minorticks_off()
    plain(axis)


def _curve(axis: Any, curve: Roc, colour: str, label: str) -> None:
    """A curve, thinned to what can be seen."""
    false, true = curve.false_positive_rates, curve.true_positive_rates
    grid = np.unique(np.concatenate([np.linspace(0, 1, 400), np.geomspace(1e-5, 1, 400)]))
    kept = np.unique(np.searchsorted(false, grid).clip(0, false.size - 1))
    axis.plot(false[kept], true[kept], color=colour, linewidth=1.4, label=label)
    plain(axis)
