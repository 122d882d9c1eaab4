"""One setting with one seed, played and judged: a part of the study."""

from dataclasses import asdict, replace
from functools import cache
from typing import Any

import numpy as np

from dpassay.attacks.gradients.defences.dp_sgd import DPSGD
from dpassay.attacks.gradients.played import judged
from dpassay.attacks.inference.measures import advantage, auc
from dpassay.reference.parallel.workers import stream

from ..long_runs import DATA
from .adult import adult
from .data import Records, Split, distinct, shared, split
from .derivatives import scores
from .game import Game, Inferences, play
from .information import carried_by, seen_by
from .learner import Training, released
from .models import Model, Perceptron
from .over_seeds import values
from .settings import HEADLINE, Setting, settings

PRIVATE, PUBLIC = 5_000, 1_000
_CARRIED = 1_500  # batches whose covariance bounds what a channel carries


def measured(name: str, seed: int) -> dict[str, Any]:
    """Figures of a setting: of each reader over rounds, and what belongs to the game."""
    setting = settings()[name]
    data = _split(setting.encoding, setting.attack == "aia", setting.without, setting.apart, seed)
    game = _game(setting, data)
    readers = {one.name: one.adversary(setting.inferred, setting.size) for one in setting.readers}
    found = play(game, data, list(readers.values()), seed)
    test = data.test
    odds = scores(found.model.network, found.model.parameters, test.features)
    always = np.full(len(found.truth), found.prior.argmax())
    return {
        "readers": {
            reader: _of_reader(found, place, setting.rounds) for place, reader in enumerate(readers)
        },
        "prior": found.prior.tolist(),
        "majority": advantage(always, found.truth).value,
        "commonest": float(np.bincount(found.truth).max() / len(found.truth)),
        "utility": auc(odds[:, 1] - odds[:, 0], test.labels == 1).value,
        "shared": shared(data),
        "carried": _carried(game, data, found.prior, seed),
    }


def _of_reader(found: Inferences, place: int, rounds: int) -> dict[str, Any]:
    """Measures of single rounds and of the first so many, and the information of all rounds.

    The intervals are those of the first HEADLINE rounds, or of all where there are fewer.
    """
    single = [judged(found.of_rounds(place, one), found.truth) for one in range(rounds)]
    until = [judged(found.of_rounds(place, slice(one + 1)), found.truth) for one in range(rounds)]
    logs = found.of_rounds(place, slice(HEADLINE))
    return {
        "single": [values(one) for one in single],
        "until": [values(one) for one in until],
        "within": asdict(judged(logs, found.truth)),
        "information": asdict(seen_by(logs, found.truth, found.prior)),
    }


def _game(setting: Setting, data: Split) -> Game:
    inputs = data.private.features.shape[1]
    return Game(
        setting.inferred,
        Perceptron(inputs, data.private.classes, hidden=(setting.width, setting.width)),
        size=setting.size,
        rounds=setting.rounds,
        trials=setting.trials,
        training=Training(setting.rate, setting.batch),
        defence=setting.defence,
    )


def _carried(game: Game, data: Split, prior: np.ndarray[Any, Any], seed: int) -> float | None:
    """The most that one defended release can say of a, where noise is added; of round 1."""
    defence = game.defence
    if not isinstance(defence, DPSGD):
        return None
    law = np.asarray(prior)
    batches = game.inferred.draw(data.private, law, _CARRIED, game.size, stream([seed, 50], 0))
    model = Model(game.network, game.network.initial(seed))
    silent = replace(defence, multiplier=0.0)
    sums = released(model, data.private, batches, silent, (seed, 51))
    return carried_by(sums, defence.multiplier * defence.clip_norm / game.size, law)


@cache
def _records(encoding: str, sex: bool, without: tuple[str, ...]) -> Records:
    return adult(DATA, encoding, sex=sex, without=without)


def _split(encoding: str, sex: bool, without: tuple[str, ...], apart: bool, seed: int) -> Split:
    records = _records(encoding, sex, without)
    if apart:
        records = distinct(records, seed)
    return split(records, PRIVATE, PUBLIC, seed)
