"""Models whose gradients are shared: perceptrons and a small convolutional network, in JAX.

Parameters are one flat vector (p,) of float32, layer after layer, of each the weights (outputs,
inputs) and then the biases, so that neighbours in it, which the adversary pools, are inputs of one
unit. A record is a vector of features (d,), an image one as well.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from dpassay.attacks.gradients.defences.defence import Defence
from dpassay.attacks.memorisation.trained_lines import LayeredNetwork

Parameters = NDArray[np.float32]


@dataclass(frozen=True)
class Network(LayeredNetwork):
    """A classifier: its size, and the loss of records.

    inputs: features of a record; classes: labels 0 to classes - 1.
    """

    inputs: int
    classes: int

    @property
    def noises(self) -> int:
        """Standard normals that the loss of one record draws; none where the loss is a function."""
        return 0

    @property
    def size(self) -> int:
        """The number of parameters p."""
        return sum(map(prod, self.shapes))

    @abstractmethod
    def losses(
        self, parameters: Array, records: Array, labels: Array, noise: Array | None = None
    ) -> Array:
        """The loss (n,) of each of n records (n, d) with labels (n,), given noise (n, noises)."""

    @abstractmethod
    def logits(self, parameters: Array, records: Array, noise: Array | None = None) -> Array:
        """Scores (n, classes) of records (n, d)."""


@dataclass(frozen=True)
class Model:
    """A network with parameters (p,), as they are in one round."""

    network: Network
    parameters: Parameters


@dataclass(frozen=True)
class Perceptron(Network):
    """Fully connected layers with rectifiers; hidden: their widths.

    bottleneck, beta: the variational information bottleneck of Alemi et al. 2017: after the hidden
    layers a Gaussian code of so many coordinates, whose divergence from the standard normal is
    added to the loss, times beta. 0 is none.
    """

    hidden: tuple[int, ...] = (64, 64)
    bottleneck: int = 0
    beta: float = 0.0

    @property
    def noises(self) -> int:
        """A normal for each coordinate of the code."""
        return self.bottleneck

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of weights and biases: of the layers, the code's means and spreads, the scores."""
        layers = [*pairwise((self.inputs, *self.hidden))]
        last = (self.inputs, *self.hidden)[-1]
        if self.bottleneck:
            layers.append((last, 2 * self.bottleneck))
            last = self.bottleneck
        layers.append((last, self.classes))
        return tuple(shape for before, after in layers for shape in ((after, before), (after,)))

    def losses(
        self, parameters: Array, records: Array, labels: Array, noise: Array | None = None
    ) -> Array:
        """Cross-entropy, and beta times the divergence of the code."""
        scores, divergence, _ = self._forward(parameters, records, noise, None)
        return _cross_entropy(scores, labels) + self.beta * divergence

    def logits(self, parameters: Array, records: Array, noise: Array | None = None) -> Array:
        """Scores (n, classes); of the code's mean where there is no noise."""
        return self._forward(parameters, records, noise, None)[0]

    def losses_seen(
        self,
        parameters: Array,
        records: Array,
        labels: Array,
        noise: Array | None,
        offsets: list[Array],
    ) -> tuple[Array, list[Array]]:
        """The sum of the losses with offsets (n, width) added to each layer, and layers' inputs.

        The derivative by the offsets is that by the outputs of a layer: with its inputs it has the
        gradient of each record as an outer product (Goodfellow 2015, arXiv 1510.01799).
        """
        scores, divergence, seen = self._forward(parameters, records, noise, offsets)
        return (_cross_entropy(scores, labels) + self.beta * divergence).sum(), seen

    def embedded(self, parameters: Array, records: Array) -> Array:
        """What goes into the last layer (n, width)."""
        return self._forward(parameters, records, None, None)[2][-1]

    def _forward(
        self, parameters: Array, records: Array, noise: Array | None, offsets: list[Array] | None
    ) -> tuple[Array, Array, list[Array]]:
        """Scores (n, classes), divergence of the code (n,), and the inputs of each layer."""
        pieces = self.split(parameters)
        values, seen, divergence = records, [], jnp.zeros(len(records), records.dtype)
        for layer, (weights, biases) in enumerate(zip(pieces[::2], pieces[1::2], strict=True)):
            seen.append(values)
            values = values @ weights.T + biases
            if offsets is not None:
                values = values + offsets[layer]
            if layer < len(self.hidden):
                values = jax.nn.relu(values)
            elif layer == len(self.hidden) and self.bottleneck:
                values, divergence = _code(values, noise)
        return values, divergence, seen


@dataclass(frozen=True)
class Bottleneck(Defence):
    """After the hidden layers a Gaussian code, whose divergence from the standard normal is a loss.

    width: coordinates of the code; beta: of the divergence (0.01 in Li et al. 2024, who do not
    state the width). Raises ValueError for either out of range.
    """

    name: str = "vib"
    width: int = 32
    beta: float = 0.01

    def __post_init__(self) -> None:
        if self.width < 1 or self.beta < 0.0:
            raise ValueError(
                f"code of width {self.width}, beta {self.beta:g}: expected 1 or more, 0 or more"
            )

    def network(self, network: Network) -> Network:
        """The model that is trained in its place. ValueError where that has no hidden layers."""
        if not isinstance(network, Perceptron):
            raise ValueError(f"{type(network).__name__}: expected a perceptron, for a bottleneck")
        return replace(network, bottleneck=self.width, beta=self.beta)


@dataclass(frozen=True)
class Convolutional(Network):
    """Two convolutions of 3 by 3, each with a rectifier and a pooling by 2, then one layer.

    side, depth: an image is side by side pixels of `depth` colours, and a record (side, side,
    depth) laid out as a vector, so that inputs = side * side * depth. channels: of either.
    """

    side: int = 0
    depth: int = 1
    channels: tuple[int, int] = (8, 16)

    def __post_init__(self) -> None:
        if self.inputs != self.side**2 * self.depth or self.side < 4:
            raise ValueError(
                f"{self.inputs} inputs: expected {self.side}² x {self.depth}, of side 4 or more"
            )

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Kernels are (outputs, height, width, inputs)."""
        first, second = self.channels
        flat = (self.side // 4) ** 2 * second
        return (
            (first, 3, 3, self.depth),
            (first,),
            (second, 3, 3, first),
            (second,),
            (self.classes, flat),
            (self.classes,),
        )

    def losses(
        self, parameters: Array, records: Array, labels: Array, noise: Array | None = None
    ) -> Array:
        """Cross-entropy."""
        return _cross_entropy(self.logits(parameters, records, noise), labels)

    def logits(self, parameters: Array, records: Array, noise: Array | None = None) -> Array:
        """Scores (n, classes)."""
        first, shift, second, also, last, biases = self.split(parameters)
        images = records.reshape(-1, self.side, self.side, self.depth)
        for kernel, bias in ((first, shift), (second, also)):
            images = jax.lax.conv_general_dilated(
                images, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "OHWI", "NHWC")
            )
            images = _halved(jax.nn.relu(images + bias))
        return images.reshape(len(records), -1) @ last.T + biases


def _cross_entropy(scores: Array, labels: Array) -> Array:
    logs = jax.nn.log_softmax(scores)
    return -jnp.take_along_axis(logs, labels[:, None], 1)[:, 0]


def _code(values: Array, noise: Array | None) -> tuple[Array, Array]:
    """The code (n, w) of means and spreads (n, 2 w), and its divergence (n,) from the normal."""
    means, raw = jnp.split(values, 2, axis=1)
    spreads = jax.nn.softplus(raw - 5.0)  # narrow at the start, as Alemi et al. have it
    divergence = 0.5 * (means**2 + spreads**2 - 2.0 * jnp.log(spreads) - 1.0).sum(1)
    return means if noise is None else means + spreads * noise, divergence


def _halved(images: Array) -> Array:
    """The largest of each two by two pixels; an odd last row or column is left out."""
    window = (1, 2, 2, 1)
    found: Array = jax.lax.reduce_window(images, -jnp.inf, jax.lax.max, window, window, "VALID")
    return found
