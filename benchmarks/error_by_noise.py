"""`python -m benchmarks.error_by_noise`: docs/explanation/error-by-noise.svg, how votes are read.

The error of the best estimates of 250 teachers' votes by the scale of the noise, from the Fisher
information of the labels: at a fixed number of answers, and in a fixed budget, where answers grow
as the square of the scale.
"""

import numpy as np

from dpassay.attacks import bound_on_error
from dpassay.reference import Gaussian, NoisyArgmax

from .drawing import plt, save
from .long_runs import ROOT

VOTES = [140, 70, 40]
ANSWERS, AT = 10_000, 40.0
"""Answers at sigma 40, where the two curves meet."""


def curves() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scales, and the share of votes misplaced at a fixed number of answers and a fixed budget."""
    scales = np.geomspace(15.0, 800.0, 200)
    fixed = [bound_on_error(VOTES, NoisyArgmax(Gaussian(s)), ANSWERS) for s in scales]
    return scales, np.array(fixed), np.array(fixed) * AT / scales


def main() -> None:
    scales, fixed, budget = (values.tolist() for values in curves())
    figure, axis = plt.subplots(figsize=(8, 4.5), layout="constrained")
    axis.plot(scales, fixed, color="#d55e00", lw=2)
    axis.plot(scales, budget, color="#0072b2", lw=2)
    least = int(np.argmin(fixed))
    axis.plot(scales[least], fixed[least], "o", color="#d55e00")
    axis.annotate(
        f"read best at sigma {scales[least]:.0f}",
        (scales[least], fixed[least]),
        (scales[least], fixed[least] * 2.2),
        ha="center",
        arrowprops={"arrowstyle": "-", "color": "#888"},
    )
    axis.text(330.0, 0.021, f"{ANSWERS:,} answers\nat every sigma", color="#d55e00", ha="right")
    axis.text(110.0, 0.00135, "a fixed epsilon:\nanswers grow as sigma squared", color="#0072b2")
    axis.text(16.5, 0.0016, "the rare class\nhardly ever wins", color="#666", fontsize=9)
    axis.text(790.0, 0.055, "all classes\ncome alike", color="#666", fontsize=9, ha="right")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_ylim(0.001, 0.1)
    axis.set_xticks([20, 40, 80, 160, 320, 640], ["20", "40", "80", "160", "320", "640"])
    axis.set_yticks([0.001, 0.01, 0.1], ["0.1 %", "1 %", "10 %"])
    axis.minorticks_off()
    axis.set_xlabel("sigma of the noise, in votes")
    axis.set_ylabel("votes that the attacker misplaces")
    axis.set_title(f"Votes {', '.join(map(str, VOTES))}: what an attacker reads", fontsize=11)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(lw=0.3)
    path = ROOT / "docs" / "explanation" / "error-by-noise.svg"
    save(figure, path)
    print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
