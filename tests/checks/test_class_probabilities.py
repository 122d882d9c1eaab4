"""`class-probabilities`: noise that is missing on some classes is diagnosed."""

import numpy as np
import pytest
from runs import claimed, result

from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget


def noiseless_late_classes(histogram, size):
    """Ten classes hard-coded: later ones get no noise (tensorflow/privacy, pate_2017)."""
    rng = noiseless_late_classes.rng  # type: ignore[attr-defined]
    noisy = np.repeat(histogram[None].astype(float), size, 0)
    noisy[:, :10] += rng.normal(0, 40, (size, 10))
    return noisy.argmax(1)


@pytest.mark.slow("over half a second")
def test_noise_missing_on_late_classes_is_diagnosed() -> None:
    noiseless_late_classes.rng = np.random.default_rng(5)  # type: ignore[attr-defined]
    target, alone = InProcessTarget(noiseless_late_classes), ["class-probabilities"]
    chosen = select(alone, of=SHARES)
    report = verify(target, claimed(classes=14), seed=5, selection=chosen)
    found = result(report, "class-probabilities")
    assert (found.code, dict(found.fields)) == ("noise-missing-on-classes", {"from_class": 10})
