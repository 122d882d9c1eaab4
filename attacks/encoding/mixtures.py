"""What an attacker sees of encodings: absolute values of mixtures, with weights and classes."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from .instahide import Encodings, Images, Whole

_LEAST = 0.02  # added to the square of the public weight: that of rounding and wrong pairs


@dataclass(frozen=True)
class Mixtures:
    """Absolute values (n, d) of mixtures, and what the labels say of them.

    weights, classes: (n, 2) of the private images; public: (d,) the mean square of what public
    images add at each pixel, over the square of their weight.
    """

    absolute: Images
    weights: Images
    classes: Whole
    public: Images

    @classmethod
    def of(cls, encodings: Encodings) -> Self:
        """The mixtures behind some encodings; public images are taken for of variance 1/2."""
        absolute = np.abs(encodings.images)
        public = np.full(absolute.shape[1], 0.5, dtype=np.float32)
        return cls(absolute, encodings.weights, encodings.classes, public)

    @property
    def public_weight(self) -> Images:
        """The square of the weight (n,) of all public images together."""
        return np.asarray((1.0 - self.weights.sum(1)) ** 2)

    def clearest(self, share: float) -> NDArray[np.intp]:
        """The rows of that share of mixtures in which least is public; all, where nothing is."""
        return np.flatnonzero(self.public_weight <= np.quantile(self.public_weight, share) + 1e-6)

    @property
    def trust(self) -> Images:
        """How much each mixture counts (n,): the less, the more is public in it."""
        found = 1.0 / (_LEAST + self.public_weight)
        return np.asarray(found / found.mean(), dtype=np.float32)

    @property
    def squares(self) -> Images:
        """Squares (n, d) of the private part, but for a cross term that is 0 on average."""
        return np.asarray(self.absolute**2 - self.public_weight[:, None] * self.public)

    def some(self, rows: NDArray[np.intp]) -> Self:
        """The mixtures of some rows."""
        return replace(
            self,
            absolute=self.absolute[rows],
            weights=self.weights[rows],
            classes=self.classes[rows],
        )
