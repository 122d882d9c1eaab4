"""Models trained here with canaries, with and without DP-SGD: exact exposures and extraction."""

from dataclasses import asdict
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import log_softmax

from dpassay.attacks.memorisation import Template, exposures, guesses
from dpassay.attacks.memorisation.trained_lines import (
    LENGTH,
    CanaryLine,
    CharacterNetwork,
    CharacterScorer,
    Model,
    canaries,
    encoded,
    lines,
    with_canaries,
)
from dpassay.reference.arrays import Vector

from .private import PrivateTraining, trained

TIMES = (1, 2, 3, 4, 6, 8, 10)
EACH = 4
"""Canaries of each number of insertions in one model."""

LINES = 4_000
DIGITS = 6
SAMPLE = 2_000
MOST = 10_000
"""Strings drawn for an extrapolation, and beginnings of strings scored by a search."""

SEEDS = (0, 1)
DEFENCES: dict[str, float | None] = {"none": None, "sigma 0.8": 0.8, "sigma 2": 2.0}
DELTA = 1e-5


def training(defence: str, seed: int) -> PrivateTraining:
    """The training under a defence of `DEFENCES`."""
    return PrivateTraining(
        steps=600, share=0.05, multiplier=DEFENCES[defence], clip_norm=0.5, seed=seed
    )


def measured(defence: str, seed: int) -> dict[str, Any]:
    """One model: its loss on lines of its own and on others, and what it says of each canary."""
    planted, model = _trained(defence, seed)
    scorer = CharacterScorer(model)
    rows = []
    for canary in planted:
        exact = _exact(model, canary.template, canary.text)
        found = exposures(scorer, canary.template, [canary.text], SAMPLE, seed)[0]
        guess = guesses(scorer, canary.template, canary.text, MOST)
        told = asdict(found) | {"how": found.how.value}
        rows.append({"times": canary.times, "exact": exact, "guess": guess, **told})
    losses = {
        name: _loss(model, lines(500, other)) for name, other in (("own", seed), ("test", 100))
    }
    return {"defence": defence, "seed": seed, **losses, "canaries": rows}


def exposed(defence: str, seed: int, times: tuple[int, ...]) -> dict[str, Any]:
    """One model: its loss on other lines, and exact exposures of the canaries inserted so often."""
    planted, model = _trained(defence, seed)
    bits = {
        n: [_exact(model, one.template, one.text) for one in planted if one.times == n]
        for n in times
    }
    return {"test": _loss(model, lines(500, 100)), "bits": bits}


def _trained(defence: str, seed: int) -> tuple[list[CanaryLine], Model]:
    planted = canaries(TIMES * EACH, DIGITS, seed)
    return planted, trained(with_canaries(lines(LINES, seed), planted), training(defence, seed))


def _loss(model: Model, text: list[str]) -> float:
    """The mean loss of lines, in bits a character."""
    codes = encoded(text, LENGTH)
    inputs = map(jnp.asarray, (model.parameters, codes))
    return float(model.network.losses(*inputs).mean() / np.log(2.0))


def _exact(model: Model, template: Template, canary: str) -> float:
    """The exposure by the rank among all strings, which are gone through symbol by symbol."""
    everything = _everything(model, template)
    sizes = tuple(map(len, template.alphabets))
    own = everything[np.ravel_multi_index(tuple(template.symbols_of(canary)), sizes)]
    return template.bits - float(np.log2((everything <= own).sum()))


@partial(jax.jit, static_argnums=0)
def _scores(network: CharacterNetwork, parameters: Any, contexts: Any) -> Any:
    return network.logits(parameters, contexts)


def _everything(model: Model, template: Template) -> Vector:
    """Log-perplexities, in nats, of all strings but for what is fixed, in the template's order."""
    assert set(template.pieces[1:]) == {""}
    start = template.pieces[0]
    contexts = np.pad(encoded([start], LENGTH)[:, : len(start)], ((0, 0), (LENGTH, 0)))
    total = np.zeros(1)
    for alphabet in template.alphabets:
        codes = encoded([alphabet], LENGTH)[0, : len(alphabet)]
        logs = log_softmax(np.asarray(_scores(model.network, model.parameters, contexts)), axis=1)
        costs = -logs[:, codes.astype(int)].astype(np.float64)
        total = (total[:, None] + costs).ravel()
        again = np.repeat(contexts[:, 1:], len(codes), 0)
        contexts = np.column_stack([again, np.tile(codes, len(contexts))])
    return total
