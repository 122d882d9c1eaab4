"""A character model trained here on made-up lines, some of them canaries, also with DP-SGD."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import optax

from ...reference.parallel.kept import shown
from ...reference.parallel.workers import stream
from ..gradients.defences.dp_sgd import DPSGD
from ..gradients.derivatives import Floats, batch_gradients, norms
from ..gradients.models import Model
from .character_model import ALPHABET, CharacterNetwork, Codes, encoded
from .template import Template

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
