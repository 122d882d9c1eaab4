"""`python -m benchmarks.worst_pair [FOLDER]`: the costliest pairs, as a table and a figure."""

import sys
from pathlib import Path

import numpy as np

from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.reference.accounting.certified import enclosed_law, renyi_lower
from dpassay.reference.accounting.worst_pair import worst_pair

from .drawing import plt, save
from .pages import head

SIGMAS = (1.0, 2.0, 5.0, 20.0, 40.0, 100.0)
TABLE_ORDERS = (2.0, 8.0, 20.0, 50.0, 100.0, 200.0)
CLASSES, TEACHERS = 10, 250


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/results")
    folder.mkdir(parents=True, exist_ok=True)
    print(head("sigma | " + " | ".join(f"order {a:g}" for a in TABLE_ORDERS)))
    for sigma in SIGMAS:
        shares = [f"{certified_share(sigma, order):.4f}" for order in TABLE_ORDERS]
        print(f"| {sigma:g} | " + " | ".join(shares) + " |")
    draw(folder / "worst-pair.svg")


def certified_share(sigma: float, order: float) -> float:
    """The certified divergence of the pair found, as a share of order / sigma^2."""
    mechanism = NoisyArgmax(Gaussian(sigma))
    found = worst_pair(mechanism, CLASSES, TEACHERS, order)
    laws = [enclosed_law(h[0].tolist(), mechanism) for h in (found.here, found.there)]
    return renyi_lower(laws[0], laws[1], order) * sigma**2 / order


def draw(path: Path) -> None:
    orders = np.geomspace(1.1, 200.0, 60)
    figure, axis = plt.subplots(figsize=(7, 4.5), layout="constrained")
    shades = plt.get_cmap("viridis")(np.linspace(0.0, 0.9, len(SIGMAS)))
    for sigma, shade in zip(SIGMAS, shades, strict=True):
        found = worst_pair(NoisyArgmax(Gaussian(sigma)), CLASSES, TEACHERS, orders)
        share = found.divergence * sigma**2 / orders
        axis.plot(orders, share, color=shade, label=f"sigma {sigma:g}")
    axis.axhline(2 / np.pi, color="#888", lw=0.8, ls="--")
    axis.annotate("2/pi", (1.1, 2 / np.pi), (1.1, 2 / np.pi + 0.01), fontsize=8, color="#555")
    axis.set(
        xscale="log",
        xlabel="Rényi order",
        ylabel="share of order / sigma^2",
        title="The costliest pair found, 250 teachers, 10 classes",
        ylim=(0.5, 1.02),
    )
    axis.legend(fontsize=8, frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
    save(figure, path)


if __name__ == "__main__":
    main()
