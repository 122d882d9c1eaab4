"""The drawings of docs/results/mitigations.md."""

import numpy as np
from matplotlib.figure import Figure

from dpassay.attacks.inference.through_answers import EndToEnd

from ..drawing import plt, save
from ..pages import RESULTS
from .grid import ATTACKED, NOISES, QUERIES, by_cell
from .inverted import expected_misplacement
from .people import USUAL, Data

CONSENSUS = (0.55, 0.75, 0.9, 0.98)
COLOURS = ("#08306b", "#2171b5", "#6baed6", "#e6550d")


def draw_inference(ends: list[tuple[Data, list[EndToEnd]]]) -> None:
    figure, axes = plt.subplots(
        1, len(ends), figsize=(5.2 * len(ends), 4.2), squeeze=False, layout="constrained"
    )
    for axis, (data, found) in zip(axes[0], ends, strict=True):
        at = by_cell(found)
        for x, colour in zip(NOISES, COLOURS, strict=True):
            sigma = x * data.sigma
            each = [at[sigma, n, "together"].through.auc.value for n in QUERIES]
            axis.plot(QUERIES, each, "o-", color=colour, ms=4, label=f"sigma {sigma:g}")
        direct = found[0].direct.auc
        axis.axhline(direct.value, color="black", lw=0.9, ls="--", label="from the votes")
        axis.axhspan(direct.low, direct.high, color="black", alpha=0.06, lw=0)
        axis.axhline(0.5, color="#888888", lw=0.9, ls=":", label="chance")
        axis.set(
            xscale="log",
            xlabel="answers about each person",
            ylabel="AUC of the attribute",
            title=data.name,
            ylim=(0.47, None),
        )
        axis.set_xticks(QUERIES, [f"{n:,}" for n in QUERIES])
        axis.legend(
            fontsize=8, frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.16)
        )
        axis.spines[["top", "right"]].set_visible(False)
    _save(figure, "mitigations-inference.svg")


def draw_noise() -> None:
    teachers = 250
    usual = USUAL * teachers
    sigmas = np.geomspace(5.0, 400.0, 40)
    figure, axes = plt.subplots(1, 2, figsize=(10.4, 4.2), sharey=True, layout="constrained")
    for share, colour in zip(CONSENSUS, COLOURS, strict=True):
        votes = round(share * teachers)
        budgets = (
            [ATTACKED for _ in sigmas],
            [max(1, round(ATTACKED * (sigma / usual) ** 2)) for sigma in sigmas],
        )
        for axis, queries in zip(axes, budgets, strict=True):
            errors = [
                100 * expected_misplacement(votes, teachers, float(sigma), n)
                for sigma, n in zip(sigmas, queries, strict=True)
            ]
            axis.plot(sigmas, errors, color=colour, label=f"{100 * votes / teachers:.0f} % agree")
    titles = (
        f"{ATTACKED:,} answers, whatever the noise",
        f"the same epsilon: {ATTACKED:,} answers at sigma {usual:g}",
    )
    for axis, title in zip(axes, titles, strict=True):
        axis.axvline(usual, color="#888888", lw=0.8, ls=":")
        axis.set(xscale="log", yscale="log", xlabel="sigma, in votes of 250", title=title)
        axis.set_xticks((5, 10, 20, 40, 100, 200, 400), (5, 10, 20, 40, 100, 200, 400))
        axis.set_yticks((0.2, 0.5, 1, 2, 5, 10, 20, 50), (0.2, 0.5, 1, 2, 5, 10, 20, 50))
        axis.minorticks_off()
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("votes misplaced, %")
    axes[0].legend(fontsize=8, frameon=False)
    _save(figure, "mitigations-noise.svg")


def _save(figure: Figure, name: str) -> None:
    plt.rcParams["svg.hashsalt"] = name
    save(figure, RESULTS / name)
