"""A small language model of characters, in JAX: the next one from those in a window before it."""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from ...reference.arrays import Vector
from ..gradients.models import Model, Network

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
