"""Games on others than Adult: users, who are made up here, and images of digits."""

from dataclasses import asdict
from typing import Any

import numpy as np

from dpassay.attacks.gradients.played import judged
from dpassay.attacks.gradients.posteriors import MaxPooled
from dpassay.attacks.inference.measures import advantage

from .adversaries import Forest, GradientAdversary
from .data import Split, split
from .derivatives import scores
from .encoder import Encoder
from .game import Game, play
from .images import by_stroke, digits, mnist
from .inferred import OneOfUsers, split_users
from .information import seen_by
from .learner import Training
from .models import Convolutional, Network, Perceptron
from .over_seeds import values
from .sensitive import SharedValue
from .users import heterogeneous_users, made_up_writers

PEOPLE = ("users", "users alike", "writers", "strokes")
ROUNDS = 5
_USERS = 60


def told_apart(name: str, seed: int) -> dict[str, Any]:
    """Figures of one game with one seed, as `games.measured` has them."""
    data, game, adversary = _game(name, seed)
    found = play(game, data, [adversary], seed)
    single = [judged(found.of_rounds(0, one), found.truth) for one in range(ROUNDS)]
    logs = found.of_rounds(0, slice(None))
    several = judged(logs, found.truth)
    guesses = scores(found.model.network, found.model.parameters, data.test.features).argmax(1)
    always = np.full(len(found.truth), found.prior.argmax())
    reader = {
        "single": [values(one) for one in single],
        "until": [values(several)] * ROUNDS,
        "within": asdict(several),
        "information": asdict(seen_by(logs, found.truth, found.prior)),
    }
    return {
        "readers": {"static max-pooling": reader},
        "prior": found.prior.tolist(),
        "majority": advantage(always, found.truth, base=float(found.prior.max())).value,
        "commonest": float(np.bincount(found.truth).max() / len(found.truth)),
        "utility": float((guesses == data.test.labels).mean()),
    }


def _game(name: str, seed: int) -> tuple[Split, Game, GradientAdversary]:
    if name == "strokes":
        return _strokes(seed)
    inferred = OneOfUsers()
    if name == "writers":
        records = made_up_writers(*mnist(), _USERS, seed=seed)
        network = Perceptron(784, 10, hidden=(32, 32))
        features = MaxPooled(10)
    else:
        spread = 0.0 if name == "users alike" else 1.0
        records = heterogeneous_users(_USERS, 100, spread=spread, seed=seed)
        network = Perceptron(20, 2)
        features = MaxPooled(3)
    data = split_users(records, _USERS // 2, _USERS // 3, seed, 16)
    game = Game(inferred, network, 8, ROUNDS, trials=1_000, training=Training(batch=8))
    return data, game, Encoder(inferred, 8, features=features)


def _strokes(seed: int) -> tuple[Split, Game, GradientAdversary]:
    """Property inference from a small convolutional network."""
    records = by_stroke(*digits())
    data = split(records, 1_000, 400, seed)
    network: Network = Convolutional(64, 10, side=8)
    game = Game(SharedValue(), network, 16, ROUNDS, trials=1_000)
    return data, game, Forest(SharedValue(), 16, features=MaxPooled(10), shadow_batches=600)
