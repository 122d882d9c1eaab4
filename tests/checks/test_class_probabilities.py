"""`class-probabilities`: noise that is missing on some classes is diagnosed."""

import numpy as np
from runs import claimed, result

from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget


def noiseless_late_classes(histogram, size):
    """Ten classes hard-coded: later ones get no noise (tensorflow/privacy, pate_2017)."""
    rng = noiseless_late_classes.rng  # type: ignore[attr-defined]
    noisy = np.repeat(histogram[None].astype(float), size, 0)
    noisy[:, :10] += rng.normal(0, 40, (size, 10))
    return noisy.argmax(1)


def test_noise_missing_on_late_classes_is_diagnosed() -> None:
    noiseless_late_classes.rng = np.random.default_rng(5)  # type: ignore[attr-defined]
    report = verify(InProcessTarget(noiseless_late_classes), claimed(classes=14), seed=5)
    found = result(report, "class-probabilities")
    assert (found.code, dict(found.fields)) == ("noise-missing-on-classes", {"from_class": 10})
