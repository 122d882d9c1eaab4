"""The drawing of docs/results/memorisation.md."""

from typing import Any

import numpy as np

from ..drawing import plain, plt, save
from ..pages import RESULTS
from .models import DEFENCES, DELTA, DIGITS, TIMES
from .page import cost, of_defence

COLOURS = ("#e6550d", "#6baed6", "#08306b")
_BITS = DIGITS * np.log2(10)


def draw(models: list[dict[str, Any]]) -> None:
    """Every canary's exact exposure by its insertions, and the mean under each defence."""
    plt.rcParams["svg.hashsalt"] = "memorisation"
    figure, axis = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    for number, (name, colour) in enumerate(zip(DEFENCES, COLOURS, strict=True)):
        rows = of_defence(models, name)
        shift = 0.16 * (number - 1)
        each = [(row["times"] + shift, row["exact"]) for row in rows]
        axis.plot(*zip(*each, strict=True), "o", ms=3.5, color=colour, alpha=0.45, mew=0)
        means = [np.mean([row["exact"] for row in rows if row["times"] == n]) for n in TIMES]
        label = "without DP-SGD" if name == "none" else f"DP-SGD, epsilon {cost(name):.1f}"
        axis.plot(np.array(TIMES) + shift, means, "-", color=colour, label=label)
    axis.axhline(_BITS, color="black", lw=0.8, ls="--")
    axis.text(0.6, _BITS + 0.25, f"all {_BITS:.1f} bits: guessed first", fontsize=8)
    axis.axhline(1 / np.log(2), color="#888888", lw=0.8, ls=":", label="never seen, on average")
    axis.set(
        xlabel="how often the canary stands in the training data",
        ylabel="exposure, bits",
        ylim=(-0.5, _BITS + 1.6),
        title=f"Epsilon of one line, at delta {DELTA:g}; dots are canaries, lines their means",
    )
    axis.title.set_fontsize(9)
    axis.set_xticks(TIMES)
    axis.legend(fontsize=8, frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    plain(axis)
    save(figure, RESULTS / "memorisation.svg")
