"""The game where its outcome is known: nothing to learn, everything, and who may see what."""

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from dpassay.attacks.gradients.defences.defence import Defence
from dpassay.attacks.gradients.played import judged
from dpassay.attacks.gradients.posteriors import GradientFeatures
from dpassay.attacks.gradients.vendor_game import SensitiveBatches

Records = import_module("benchmarks.gradients.data").Records
split = import_module("benchmarks.gradients.data").split
batch_gradients = import_module("benchmarks.gradients.derivatives").batch_gradients
learner_scores = import_module("benchmarks.gradients.derivatives").scores
Model = import_module("benchmarks.gradients.models").Model
Perceptron = import_module("benchmarks.gradients.models").Perceptron
SharedValue = import_module("benchmarks.gradients.sensitive").SharedValue

inferred = import_module("benchmarks.gradients.inferred")
OneOfUsers, RatioBin, split_users = (
    inferred.OneOfUsers,
    inferred.RatioBin,
    inferred.split_users,
)
Forest = import_module("benchmarks.gradients.adversaries").Forest
Encoder = import_module("benchmarks.gradients.encoder").Encoder
game = import_module("benchmarks.gradients.game")
Game, play = game.Game, game.play
learner = import_module("benchmarks.gradients.learner")
Training, released, trained = learner.Training, learner.released, learner.trained
heterogeneous_users = import_module("benchmarks.gradients.users").heterogeneous_users

NETWORK = Perceptron(4, 2, hidden=(8,))


def people(n: int = 600, tell: float = 0.0, seed: int = 0) -> Any:
    """Records whose features are moved by `tell` where the sensitive class is 1, one in three."""
    rng = np.random.default_rng(seed)
    sensitive = (rng.random(n) < 1 / 3).astype(np.int64)
    features = rng.normal(size=(n, 4)) + tell * sensitive[:, None]
    return Records(
        features.astype(np.float32), (features[:, 0] > 0).astype(np.int64), sensitive, ("no", "yes")
    )


class Majority:
    """Says the commonest value whatever it sees."""

    name = "majority"

    def log_posteriors(self, seen: Any, public: Any, seed: int) -> np.ndarray:
        return np.zeros((len(seen.released), 2))


def test_the_share_of_right_guesses_has_its_interval_at_95_percent() -> None:
    """Of 20 right of 20: Clopper and Pearson at 0.025."""
    truth = np.arange(20) % 2
    found = judged(np.where(np.arange(2) == truth[:, None], 0.0, -9.0), truth)
    assert found.success.low == pytest.approx(0.025 ** (1 / 20))


@pytest.mark.slow("over half a second")
def test_who_knows_the_prior_alone_has_no_advantage():
    # the prior breaks the tie for the majority: catches a base of one half, and a prior left out
    data = split(people(), 200, 100, seed=1)
    game = Game(SharedValue(), NETWORK, size=4, rounds=2, trials=60)
    found = play(game, data, [Majority()], seed=1)
    logs = found.of_rounds(0, slice(None))
    result = judged(logs, found.truth)
    assert result.advantage.value == 0.0
    assert result.success.value == (found.truth == 0).mean() > 0.5
    assert result.auroc.value == 0.5


@pytest.mark.slow("over half a second")
def test_nothing_is_inferred_where_there_is_nothing_and_all_where_there_is():
    game = Game(SharedValue(), NETWORK, size=8, rounds=2, trials=200)
    areas = {}
    for tell in (0.0, 3.0):
        data = split(people(2_000, tell), 500, 200, seed=2)
        found = play(game, data, [Forest(SharedValue(), 8, shadow_batches=100)], seed=2)
        areas[tell] = judged(found.of_rounds(0, slice(None)), found.truth).auroc
    assert areas[0.0].low < 0.5 < areas[0.0].value + 0.15  # 0.04 is a deviation
    assert areas[3.0].value > 0.99


@pytest.mark.slow("over half a second")
def test_released_is_what_a_defence_makes_of_records_gradients():
    # the fast way, by norms and weighted sums, and by the records' own gradients
    data, rows = people(50), np.arange(12).reshape(3, 4)
    model = Model(NETWORK, NETWORK.initial(0))
    batches = SensitiveBatches(rows, np.array([0, 1, 0]))
    found = released(model, data, batches, Clipped(), (0,))
    each = batch_gradients(
        NETWORK, model.parameters, data.features, data.labels, np.arange(50)[:, None]
    )
    lengths = np.linalg.norm(each[rows], axis=2)[..., None]
    clipped = (each[rows] * np.minimum(1.0, 0.1 / lengths)).mean(1)
    np.testing.assert_allclose(found, clipped + np.array([[0], [1], [0]]), atol=1e-6)


class Clipped(Defence):
    """Clips to 0.1, and adds what it was told to hide."""

    def shares(self, norms: np.ndarray) -> np.ndarray:
        found: np.ndarray = (np.minimum(1.0, 0.1 / norms) / norms.shape[1]).astype(np.float32)
        return found

    def defended(self, gradients: np.ndarray, sensitive: np.ndarray, seed: int) -> np.ndarray:
        return gradients if sensitive is None else gradients + sensitive[:, None]


@pytest.mark.slow("over half a second")
def test_an_epoch_is_gradient_descent_over_every_record():
    # at once: one step by the mean. In batches: the loss falls further in an epoch
    data = people(48, tell=1.0)
    model = Model(NETWORK, NETWORK.initial(0))
    whole = trained(model, data, Defence(), Training(0.1, None), (0,))
    mean = batch_gradients(
        NETWORK, model.parameters, data.features, data.labels, np.arange(48)[None]
    )[0]
    np.testing.assert_allclose(whole.parameters, model.parameters - 0.1 * mean, atol=1e-6)
    small = trained(model, data, Defence(), Training(0.1, 4), (0,))
    losses = []
    for at in (model, whole, small):
        scores = learner_scores(NETWORK, at.parameters, data.features)
        losses.append((logsumexp(scores, 1) - scores[np.arange(48), data.labels]).mean())
    assert losses[0] > losses[1] > losses[2]


@pytest.mark.slow("over half a second")
def test_static_adversaries_know_no_defence_and_adaptive_ones_do():
    # both see negated releases; the adaptive one's shadow gradients are negated as well
    data = split(people(), 200, 100, seed=3)
    game = Game(SharedValue(), NETWORK, size=4, rounds=1, trials=30, defence=Negated())
    seen = [Kept(), Kept()]
    both = [
        Forest(SharedValue(), 4, adaptive, features=kept, shadow_batches=20)
        for adaptive, kept in zip((False, True), seen, strict=True)
    ]
    play(game, data, both, seed=3)
    (shadow, released_one), (defended, released_two) = (kept.seen for kept in seen)
    np.testing.assert_array_equal(released_one, released_two)
    np.testing.assert_array_equal(shadow, -defended)
    plain = Kept()
    play(
        replace(game, defence=Defence()),
        data,
        [Forest(SharedValue(), 4, features=plain, shadow_batches=20)],
        seed=3,
    )
    np.testing.assert_array_equal(plain.seen[1], -released_one)


class Kept(GradientFeatures):
    """All numbers of the gradients, kept for the test."""

    def of(
        self, shadow: np.ndarray, observed: np.ndarray, seed: int
    ) -> tuple[np.ndarray, np.ndarray]:
        self.seen = shadow, observed
        return shadow, observed


class Negated(Defence):
    def defended(self, gradients: np.ndarray, sensitive: np.ndarray, seed: int) -> np.ndarray:
        return -gradients


@pytest.mark.slow("over half a second")
def test_rounds_that_are_not_observed_are_not_seen():
    data = split(people(), 200, 100, seed=1)
    game = Game(SharedValue(), NETWORK, size=4, rounds=3, observed=(0, 2), trials=20)
    some = play(game, data, [Forest(SharedValue(), 4, shadow_batches=20)], seed=1)
    every = play(
        replace(game, observed=None), data, [Forest(SharedValue(), 4, shadow_batches=20)], seed=1
    )
    np.testing.assert_array_equal(some.by_round[0], every.by_round[0][[0, 2]])
    with pytest.raises(ValueError, match=r"observed round 3: .*0 to 2"):
        replace(game, observed=(3,))


def test_bins_of_a_ratio_hold_what_they_say():
    data = people()
    rng = np.random.default_rng(0)
    values = np.repeat(np.arange(6), 300)
    rows = RatioBin().batch_of(data, values, 128, rng)
    shares = data.sensitive[rows].mean(1)
    assert (shares[values == 0] == 0.0).all()
    for a in range(1, 6):
        inside = shares[values == a]
        assert (inside <= a / 5).all()
        assert (inside > (a - 1) / 5 - 1 / 128).all()  # rounded down to whole records
        assert inside.min() < (a - 1) / 5 + 0.02 < a / 5 - 0.02 < inside.max()


@pytest.fixture(scope="module")
def users():
    records = heterogeneous_users(24, 40, features=10, spread=2.0)
    return split_users(records, 10, 12, seed=0, fewest=16)


def test_users_are_known_by_other_records_of_theirs(users):
    # catches candidates that are known by the very records of the release, and a's of others
    inferred, data = OneOfUsers(4), users
    assert not set(data.private.users) & set(data.public.users)
    drawn = inferred.draw(data.private, np.full(4, 0.25), 30, 8, np.random.default_rng(1))
    for rows, known, a in zip(drawn.rows, drawn.candidates, drawn.sensitive, strict=True):
        assert not set(rows) & set(known.reshape(-1))
        assert len(set(data.private.users[known].reshape(-1))) == 4
        assert set(data.private.users[rows]) == set(data.private.users[known[a]])


@pytest.mark.slow("an encoder is trained; forests tell values apart above")
def test_users_are_told_apart(users):
    inferred = OneOfUsers(4)
    game = Game(inferred, Perceptron(10, 2, hidden=(16,)), size=8, rounds=1, trials=80)
    encoder = Encoder(inferred, 8, batches_each=10, width=20, steps=40)
    found = play(game, users, [encoder], seed=0)
    assert judged(found.of_rounds(0, 0), found.truth).auroc.low > 0.6
