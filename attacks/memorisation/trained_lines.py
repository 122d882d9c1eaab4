"""A character model trained here on made-up lines, some of them canaries, also with DP-SGD."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from numpy.typing import NDArray

from ...reference.arrays import Vector
from ...reference.parallel.kept import shown
from ...reference.parallel.workers import stream
from ..gradients.defences.dp_sgd import DPSGD
from ..gradients.derivatives import Floats, batch_gradients, norms
from ..gradients.models import Model, Network
from .template import Template

Codes = NDArray[np.float32]
"""Lines as numbers of their characters; of floats, as all records whose gradients are taken."""

ALPHABET = "\n abcdefghijklmnopqrstuvwxyz0123456789:"
"""The characters that the model knows; the first one ends a line, and fills what is behind it."""


@dataclass(frozen=True)
class CharacterNetwork(Network):
    """Embedded characters of a window, a hidden layer, scores of the next (Bengio et al. 2003).

    A record is a line as codes (inputs,) of its characters, its end and what fills it; its loss is
    the mean cross-entropy of its characters and its end, in nats. It needs no label.
    """

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

    def losses(
        self, parameters: Array, records: Array, labels: Array, noise: Array | None = None
    ) -> Array:
        del labels, noise
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

    def logits(self, parameters: Array, records: Array, noise: Array | None = None) -> Array:
        """Scores (n, classes) of the character that follows n records."""
        del noise
        return self._following(parameters, records[:, -self.window :])

    def _following(self, parameters: Array, windows: Array) -> Array:
        """Scores (..., classes) of the character behind each window (..., window)."""
        table, shift, inner, bias, outer, last = self.split(parameters)
        seen = (table.T + shift)[windows.astype(jnp.int32)].reshape(*windows.shape[:-1], -1)
        return jnp.tanh(seen @ inner.T + bias) @ outer.T + last


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

    share: the probability of each line to be in a batch; multiplier: of the noise of DP-SGD, or
    None for gradients as they are, without clipping.
    """

    steps: int = 1_000
    share: float = 0.03
    rate: float = 0.01
    multiplier: float | None = None
    clip_norm: float = 1.0
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


def trained(codes: Codes, training: Training) -> Model:
    """The model after training on lines (n, length).

    A batch that is larger than a width which one in 10^12 exceeds is cut; DP-SGD divides by it.
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
        step = _gradient(model, codes[rows], here, training, int(random.integers(2**31)))
        change, state = adam.update(step, state)
        model = Model(network, np.asarray(model.parameters + change))
    return model


def _gradient(model: Model, batch: Codes, here: Floats, training: Training, seed: int) -> Floats:
    """The sum (p,) of the gradients of the lines that are `here` (width,), over the width."""
    width = len(batch)
    known, labels = (model.network, model.parameters, batch), np.zeros(width, dtype=np.int64)
    rows = np.arange(width)[None]
    if training.multiplier is None:
        mean = here[None] / np.float32(width)
        return np.asarray(batch_gradients(*known, labels, rows, shares=mean)[0])
    guard = DPSGD(multiplier=training.multiplier, clip_norm=training.clip_norm, size=width)
    shares = here * guard.shares(norms(*known, labels))
    total = batch_gradients(*known, labels, rows, shares=shares[None])
    return np.asarray(guard.defended(total, None, seed)[0])
