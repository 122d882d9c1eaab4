"""A character model trained here on made-up lines, some of them canaries."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod, sqrt

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from numpy.typing import NDArray

from ...reference.arrays import Vector
from ...reference.parallel.kept import shown
from ...reference.parallel.workers import stream
from .template import Template

Parameters = NDArray[np.float32]
Codes = NDArray[np.float32]
"""Lines as numbers of their characters; of floats, as all records whose gradients are taken."""

ALPHABET = "\n abcdefghijklmnopqrstuvwxyz0123456789:"
"""The characters that the model knows; the first one ends a line, and fills what is behind it."""


class LayeredNetwork(ABC):
    """Layers whose parameters (p,) are one flat vector, of each the weights and then the biases."""

    @property
    @abstractmethod
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of the weights and biases in the order in which they lie in the parameters."""

    def initial(self, seed: int) -> Parameters:
        """Random parameters (p,): uniform within 1/sqrt(fan-in), biases alike."""
        random = np.random.default_rng(seed)
        parts = []
        for weights, biases in zip(self.shapes[::2], self.shapes[1::2], strict=True):
            reach = 1.0 / sqrt(prod(weights[1:]))
            parts += [random.uniform(-reach, reach, prod(one)) for one in (weights, biases)]
        return np.concatenate(parts).astype(np.float32)

    def split(self, parameters: Array) -> list[Array]:
        """The weights and biases in `parameters` (p,), in the shapes of `shapes`."""
        ends = np.cumsum([prod(shape) for shape in self.shapes])
        pieces = jnp.split(parameters, ends[:-1])
        return [piece.reshape(shape) for piece, shape in zip(pieces, self.shapes, strict=True)]


@dataclass(frozen=True)
class CharacterNetwork(LayeredNetwork):
    """Embedded characters of a window, a hidden layer, scores of the next (Bengio et al. 2003).

    A record is a line as codes (inputs,) of its characters, its end and what fills it; its loss is
    the mean cross-entropy of its characters and its end, in nats.
    """

    inputs: int
    classes: int
    window: int = 12
    width: int = 8
    hidden: int = 64

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of the embedding, the hidden layer and the scores, weights and biases of each."""
        layers = (
            (self.width, self.classes),
            (self.hidden, self.window * self.width),
            (self.classes, self.hidden),
        )
        return tuple(shape for layer in layers for shape in (layer, layer[:1]))

    def losses(self, parameters: Array, records: Array) -> Array:
        """The loss (n,) of each record (n, inputs)."""
        each = self.surprises(parameters, records)
        counted = jnp.pad(records[:, :-1] > 0, ((0, 0), (1, 0)), constant_values=True)
        found: Array = (each * counted).sum(1) / counted.sum(1)
        return found

    def surprises(self, parameters: Array, records: Array) -> Array:
        """Minus the log-probability of each character (n, inputs) given those before it, nats."""
        codes = records.astype(jnp.int32)
        padded = jnp.pad(codes, ((0, 0), (self.window, 0)))
        places = np.arange(records.shape[1])[:, None] + np.arange(self.window)
        logs = jax.nn.log_softmax(self._following(parameters, padded[:, places]))
        found: Array = -jnp.take_along_axis(logs, codes[..., None], -1)[..., 0]
        return found

    def logits(self, parameters: Array, records: Array) -> Array:
        """Scores (n, classes) of the character that follows n records."""
        return self._following(parameters, records[:, -self.window :])

    def _following(self, parameters: Array, windows: Array) -> Array:
        """Scores (..., classes) of the character behind each window (..., window)."""
        table, shift, inner, bias, outer, last = self.split(parameters)
        seen = (table.T + shift)[windows.astype(jnp.int32)].reshape(*windows.shape[:-1], -1)
        return jnp.tanh(seen @ inner.T + bias) @ outer.T + last


@dataclass(frozen=True)
class Model:
    """A network with parameters (p,)."""

    network: CharacterNetwork
    parameters: Parameters


@dataclass(frozen=True)
class CharacterScorer:
    """Log-perplexities, in bits, of strings as beginnings of a line, by a trained model."""

    model: Model

    def __call__(self, strings: list[str]) -> Vector:
        """(n,). Raises ValueError for what the model cannot read."""
        codes = encoded(strings, self.model.network.inputs)
        lengths = np.array([len(string) for string in strings])
        each = np.asarray(_surprises(self.model.network, self.model.parameters, codes))
        counted = np.arange(codes.shape[1]) < lengths[:, None]
        found: Vector = np.where(counted, each, 0.0).sum(1, dtype=np.float64) / np.log(2.0)
        return found


def encoded(lines: list[str], length: int) -> Codes:
    """Codes (n, length) of lines, each with its end and what fills it.

    Raises ValueError for lines that are too long, and for other characters.
    """
    found = np.zeros((len(lines), length), dtype=np.float32)
    for row, line in zip(found, lines, strict=True):
        if len(line) >= length or "\n" in line or set(line) - set(ALPHABET):
            known = ALPHABET[1:]
            raise ValueError(f"line {line[:60]!r}: expected fewer than {length} of {known!r}")
        row[: len(line)] = [ALPHABET.index(character) for character in line]
    return found


@partial(jax.jit, static_argnums=0)
def _surprises(network: CharacterNetwork, parameters: Array, codes: Array) -> Array:
    return network.surprises(parameters, codes)


LENGTH = 32
"""Of a line, with its end."""

_SYLLABLES = tuple("bdklmnrstv"), tuple("aeiou"), tuple("lnrstx")
NAMES = tuple(map("".join, product(*_SYLLABLES)))
"""Of people, 300 made-up ones of three letters."""

_GOODS = ("lamps", "boxes", "chairs", "books", "shirts", "clocks")
_TOWNS = ("rome", "oslo", "lima", "cairo", "paris", "quito")


@dataclass(frozen=True)
class CanaryLine:
    """A string of its template, and how often it stands among the lines."""

    template: Template
    text: str
    times: int


@dataclass(frozen=True)
class Training:
    """How the model is trained: steps of Adam on batches that are drawn line by line (Poisson).

    share: the probability of each line to be in a batch.
    """

    steps: int = 1_000
    share: float = 0.03
    rate: float = 0.01
    seed: int = 0


def canaries(times: Sequence[int], digits: int, seed: int) -> list[CanaryLine]:
    """A canary for each of these numbers of insertions, each of another person, 300 at most."""
    random = stream(seed, 0)
    found = []
    for name, often in zip(random.permutation(NAMES), times, strict=False):
        template = Template.parse(f"pin of {name}: [0-9]{{{digits}}}")
        found.append(CanaryLine(template, template.strings(template.drawn(1, random))[0], often))
    return found


def lines(count: int, seed: int) -> list[str]:
    """Made-up lines of messages, in which digits are random, and nobody has a pin."""
    random = stream(seed, 1)

    def one() -> str:
        who, whom = random.choice(NAMES, 2)
        number = "".join(map(str, random.integers(10, size=6)))
        forms = (
            f"{who} sent {number[:2]} {random.choice(_GOODS)} to {whom}",
            f"order {number} of {who} is paid",
            f"{who} met {whom} in {random.choice(_TOWNS)}",
            f"call {who} at {number}",
        )
        return forms[random.integers(len(forms))]

    return [one() for _ in range(count)]


def with_canaries(ordinary: list[str], planted: Sequence[CanaryLine]) -> Codes:
    """All lines as codes, each canary as often as it is planted."""
    extra = [canary.text for canary in planted for _ in range(canary.times)]
    return encoded([*ordinary, *extra], LENGTH)


Gradient = Callable[[Model, Codes, Codes, int], Codes]
"""From lines of a batch (width, length), and which of them are here (width,), 0 or 1, to a step's
gradient (p,); the last is a seed."""


def mean_gradient(model: Model, batch: Codes, here: Codes, seed: int) -> Codes:
    """The sum (p,) of the gradients of the lines that are `here`, over the width."""
    del seed
    return np.asarray(_sum(model.network, model.parameters, batch, here / np.float32(len(batch))))


@partial(jax.jit, static_argnums=0)
def _sum(network: CharacterNetwork, parameters: Array, batch: Array, weights: Array) -> Array:
    found: Array = jax.grad(lambda at: weights @ network.losses(at, batch))(parameters)
    return found


def trained(codes: Codes, training: Training, gradient: Gradient = mean_gradient) -> Model:
    """The model after training on lines (n, length).

    A batch that is larger than a width which one in 10^12 exceeds is cut.
    """
    network = CharacterNetwork(LENGTH, len(ALPHABET))
    model = Model(network, network.initial(training.seed))
    random = stream(training.seed, 2)
    mean = training.share * len(codes)
    width = int(mean + 7.5 * np.sqrt(mean) + 10)
    adam = optax.adam(training.rate)
    state = adam.init(model.parameters)
    for _ in shown(range(training.steps), training.steps, "steps of training"):
        drawn = np.flatnonzero(random.random(len(codes)) < training.share)[:width]
        rows = np.pad(drawn, (0, width - len(drawn)))
        here = (np.arange(width) < len(drawn)).astype(np.float32)
        step = gradient(model, codes[rows], here, int(random.integers(2**31)))
        change, state = adam.update(step, state)
        model = Model(network, np.asarray(model.parameters + change))
    return model
