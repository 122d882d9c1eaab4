"""OpenDP's make_noisy_max (exponential noise) as targets: the claimed scale, and half of it."""

from typing import Any

import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")


def noisy_max(scale: float) -> Any:
    measurement = dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T="f64", nan=False)),
        dp.linf_distance(T="f64"),
        dp.max_divergence(),
        scale=scale,
    )

    def aggregate(histogram: np.ndarray, size: int) -> Any:
        scores = histogram.astype(float).tolist()
        return [measurement(scores) for _ in range(size)]

    return aggregate


SCALE = 4.0

exponential, exponential_half = noisy_max(SCALE), noisy_max(SCALE / 2)
