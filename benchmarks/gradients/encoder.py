"""User inference by an encoder of gradients: Li et al. 2024, section 4.1.

A network learns to tell the public users from their gradients; its classifier is dropped, and
candidates are compared with the release where its last hidden layer puts them.
"""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from dpassay.attacks.gradients.defences.defence import Defence
from dpassay.attacks.gradients.posteriors import GradientFeatures, Logs, MaxPooled
from dpassay.attacks.gradients.vendor_game import SensitiveBatches
from dpassay.reference.parallel.workers import stream

from .adversaries import Observation
from .data import Floats, Records, Whole
from .inferred import OneOfUsers
from .learner import released
from .models import Parameters, Perceptron


@dataclass(frozen=True)
class Encoder:
    """An adversary who learns to tell users apart, fresh in each round.

    inferred: among how many candidates; size: records a batch; width, embedding: of the two layers;
    batches_each: of a public user, drawn anew; steps, rate: of Adam over all of them at once.
    """

    inferred: OneOfUsers
    size: int
    adaptive: bool = False
    features: GradientFeatures = field(default_factory=lambda: MaxPooled(10))
    batches_each: int = 20
    width: int = 100
    embedding: int = 50
    steps: int = 150
    rate: float = 1e-3

    @property
    def name(self) -> str:
        """Static or adaptive."""
        return "adaptive" if self.adaptive else "static"

    def log_posteriors(self, seen: Observation, public: Records, seed: int) -> Logs:
        """Log-posteriors (t, m) of the candidates, by the softmax of negative distances."""
        if seen.candidates is None or public.users is None:
            raise ValueError("no candidates or users: expected a game of user inference")
        defence = seen.defence if self.adaptive else Defence()
        users = len(np.unique(public.users))
        named = np.repeat(np.arange(users), self.batches_each)
        rows = self.inferred.batch_of(public, named, self.size, stream([seed, 12], seen.number))
        known, candidates = seen.candidates
        t, m, k = candidates.shape
        of_candidates = SensitiveBatches(candidates.reshape(t * m, k), np.tile(np.arange(m), t))
        keys = (seed, 13, seen.number), (seed, 14, seen.number)
        shadow = released(seen.model, public, SensitiveBatches(rows, named), defence, keys[0])
        theirs = released(seen.model, known, of_candidates, defence, keys[1])
        ours, rest = self.features.of(shadow, np.vstack([theirs, seen.released]), seed)
        middle, spread = ours.mean(0), ours.std(0)
        spread[spread == 0.0] = 1.0
        fit = self._fitted((ours - middle) / spread, named, users, seed)
        places = fit((rest - middle) / spread)
        distances = np.linalg.norm(
            places[: t * m].reshape(t, m, -1) - places[t * m :, None], axis=2
        )
        return np.asarray(jax.nn.log_softmax(-distances, axis=1), dtype=np.float64)

    def _fitted(self, inputs: Floats, users: Whole, count: int, seed: int) -> "_Places":
        network = Perceptron(inputs.shape[1], count, hidden=(self.width, self.embedding))
        optimiser = optax.adam(self.rate)
        given, named = jnp.asarray(inputs), jnp.asarray(users)

        @jax.jit
        def step(
            at: Array, state: optax.OptState, given: Array, named: Array
        ) -> tuple[Array, optax.OptState]:
            gradient = jax.grad(lambda p: network.losses(p, given, named).mean())(at)
            updates, state = optimiser.update(gradient, state)
            return jnp.asarray(optax.apply_updates(at, updates)), state

        at = jnp.asarray(network.initial(seed))
        state = optimiser.init(at)
        for _ in range(self.steps):
            at, state = step(at, state, given, named)
        return _Places(network, np.asarray(at))


@dataclass(frozen=True)
class _Places:
    """Where an encoder puts features: a network without its last layer."""

    network: Perceptron
    parameters: Parameters

    def __call__(self, features: Floats) -> Floats:
        return np.asarray(
            self.network.embedded(jnp.asarray(self.parameters), jnp.asarray(features))
        )
