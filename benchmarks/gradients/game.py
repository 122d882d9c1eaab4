"""The unified inference game: Definition 3.1 of Li et al. 2024, in its order."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.gradients.defences.defence import Defence
from dpassay.attacks.gradients.posteriors import Logs, combined
from dpassay.attacks.gradients.vendor_game import SensitiveBatches
from dpassay.reference.parallel.workers import stream

from .adversaries import GradientAdversary, Observation
from .data import Records, Split, Whole
from .learner import Training, released, trained
from .models import Bottleneck, Model, Network
from .sensitive import CandidateBatches, Sensitive, balanced


@dataclass(frozen=True)
class Game:
    """The rules that the challenger sets.

    inferred: the sensitive variable; network: the model; size: records a batch; rounds: r, an
    epoch each; observed: which of them the adversary sees, from 0, by default all; trials: batches
    drawn from the private records, each played for itself with the same course of training.
    """

    inferred: Sensitive
    network: Network
    size: int = 16
    rounds: int = 5
    observed: tuple[int, ...] | None = None
    trials: int = 5_000
    training: Training = field(default_factory=Training)
    defence: Defence = field(default_factory=Defence)

    def __post_init__(self) -> None:
        for name in ("size", "rounds", "trials"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} {getattr(self, name)}: expected 1 or more")
        for number in self.observed or ():
            if not 0 <= number < self.rounds:
                raise ValueError(f"observed round {number}: expected 0 to {self.rounds - 1}")


@dataclass(frozen=True)
class Inferences:
    """What adversaries made of the releases.

    truth (t,): a in each trial; prior (m,): its law, which adversaries know; by_round: of each
    adversary, log posteriors (r, t, m) of the rounds seen, under a uniform prior; model: at the
    end.
    """

    truth: Whole
    prior: NDArray[np.float64]
    by_round: tuple[Logs, ...]
    model: Model

    def of_rounds(self, adversary: int, rounds: slice | int) -> Logs:
        """Log posteriors (t, m) of an adversary by its place, from one round or some."""
        logs = self.by_round[adversary]
        return combined(logs[rounds] if isinstance(rounds, slice) else logs[[rounds]], self.prior)


def play(
    game: Game, data: Split, adversaries: Sequence[GradientAdversary], seed: int
) -> Inferences:
    """Plays all trials of a game against each adversary; numbers are those of the definition.

    Steps (1) and (2) are one for all trials, as in the paper: what differs between them is a and
    its batch. Batches are fixed over rounds.
    """
    network = game.network
    if isinstance(game.defence, Bottleneck):
        network = game.defence.network(network)
    model = Model(network, network.initial(seed))  # (1)
    private = data.private  # (2)
    prior = game.inferred.prior(private)
    batches = game.inferred.draw(  # (3), (4)
        private, prior, game.trials, game.size, stream([seed, 20], 0)
    )
    known = _known(private, batches)
    seen: list[list[Logs]] = [[] for _ in adversaries]
    for number in range(game.rounds):  # (8)
        keys = (seed, 21, number)
        defence = _fitted(game, model, data, (seed, 22, number))
        if game.observed is None or number in game.observed:
            sent = released(model, private, batches, defence, keys)  # (5), (6)
            shown = Observation(number, model, sent, defence, known)
            for logs, adversary in zip(seen, adversaries, strict=True):  # (9), (10)
                logs.append(adversary.log_posteriors(shown, data.public, seed))
        model = trained(model, private, defence, game.training, keys)  # (7)
    by_round = tuple(np.array(logs) for logs in seen)
    return Inferences(batches.sensitive, prior, by_round, model)


def _known(private: Records, batches: SensitiveBatches) -> tuple[Records, Whole] | None:
    """The records of the candidates, and which of them (t, m, k) are whose; None without any."""
    if not isinstance(batches, CandidateBatches):
        return None
    rows = batches.candidates
    return private.take(rows.reshape(-1)), np.arange(rows.size).reshape(rows.shape)


def _fitted(game: Game, model: Model, data: Split, seed: tuple[int, ...]) -> Defence:
    """The defence of one round, which may learn from batches of public records."""
    if type(game.defence).fitted is Defence.fitted:
        return game.defence
    batches = balanced(game.inferred, data.public, 1_000, game.size, stream(list(seed), 0))
    shadow = released(model, data.public, batches, Defence(), seed)
    return game.defence.fitted(
        shadow, batches.sensitive, int(stream(list(seed), 1).integers(2**31))
    )
