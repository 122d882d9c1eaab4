"""What figures of several pages share: bare axes, a legend below, a file that says no date."""

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")  # no window is opened

import matplotlib.pyplot as plt

__all__ = ["legend_below", "plain", "plt", "save"]


def plain(axis: Any) -> None:
    """Without a frame above and at the right."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8)


def legend_below(figure: Any, axis: Any, columns: int, bottom: float, top: float) -> None:
    """One legend for all axes, of what stands on one; they lie between shares of the height."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, ncol=columns, fontsize=8, loc="lower center", frameon=False)
    figure.tight_layout(rect=(0, bottom, 1, top))


def save(figure: Any, path: Path) -> None:
    """Saves a figure as reproducible bytes, without a date."""
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
