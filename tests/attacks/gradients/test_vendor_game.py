"""The game on a callable: what is released, who has which records, and what can be read of it."""

import numpy as np
import pytest

from dpassay.attacks.gradients.defences.defence import Defence
from dpassay.attacks.gradients.defences.dp_sgd import DPSGD
from dpassay.attacks.gradients.defences.named import Perturbation
from dpassay.attacks.gradients.played import Played, together
from dpassay.attacks.gradients.vendor_game import (
    SensitiveBatches,
    VendorRecords,
    coordinates,
    vendor_game,
)

WIDTH = 12


@pytest.fixture(autouse=True)
def few_shadows(monkeypatch):
    """So that forests are grown in no time; what there is to learn here is plain."""
    monkeypatch.setattr("dpassay.attacks.gradients.vendor_game._SHADOW", 200)
    monkeypatch.setattr("dpassay.attacks.gradients.vendor_game._CHOOSING", 100)


def people(number=400, telling=1.0, seed=0):
    """Records of four numbers; the first leans towards the sensitive value, a of 0, 1."""
    rng = np.random.default_rng(seed)
    sensitive = (rng.random(number) < 0.3).astype(np.int64)
    records = rng.normal(size=(number, 4))
    records[:, 0] += telling * (2 * sensitive - 1)
    return VendorRecords(records, rng.integers(0, 2, number), sensitive, ("a", "b"))


def gradients(records, labels):
    """Three copies of the record."""
    return np.tile(records, 3)


def made(table, defence, size=8, releases=1, number=0):
    how = {"size": size, "releases": releases, "seed": 0, "number": number}
    return vendor_game(gradients, table, defence, **how)


def played(game, number=300):
    trials = game.trials(number, 0)
    return game.played(trials, game.simulated(trials))


@pytest.mark.slow("over half a second")
def test_a_release_is_the_defended_sum_of_its_batch() -> None:
    """Clipped record by record, not as a whole; with the attribute's records alone."""
    game = made(people(), DPSGD(multiplier=0.0, clip_norm=1.5, size=8))
    trials = game.trials(5, 0)
    rows = game.private.gradients[trials.rows]
    norms = np.linalg.norm(rows, axis=2, keepdims=True)
    expected = (rows * np.minimum(1.0, 1.5 / norms)).mean(1)
    assert np.allclose(game.simulated(trials), expected, atol=1e-6)
    assert (game.private.table.sensitive[trials.rows] == trials.sensitive[:, None]).all()


def test_the_adversary_learns_from_other_records_than_are_attacked() -> None:
    """Every record is on one side; both sides have either value in the same share."""
    table = people(399)
    game = made(table, Defence())
    sides = [{row.tobytes() for row in side.table.records} for side in (game.private, game.public)]
    assert sides[0].isdisjoint(sides[1])
    assert sum(map(len, sides)) == 399
    shares = [side.table.sensitive.mean() for side in (game.private, game.public)]
    assert shares[0] == pytest.approx(shares[1], abs=0.01)
    assert game.private.table.prior[1] == pytest.approx(table.sensitive.mean(), abs=0.01)


@pytest.mark.slow("over half a second")
def test_what_is_there_is_read() -> None:
    """Without noise most of it: 0.89 or 0.97, as floats choose the features of so few shadows.

    Who guesses the commonest value gains 0, and has 0.6 in 300 trials less than once in a million.
    """
    assert played(made(people(), Defence())).advantage.value > 0.6


@pytest.mark.slow("thousands of trials; `test_game` has nothing to infer in fewer")
def test_what_noise_drowns_is_not_read() -> None:
    """An advantage of 0.2 would be seen once in a million."""
    drowned = played(made(people(), DPSGD(multiplier=1e4, size=8)), 2000)
    assert drowned.advantage.value < 0.2


@pytest.mark.slow("two games; that noise is fresh in each batch is tested of the defence")
def test_several_releases_of_a_batch_say_more() -> None:
    """Their mean has a tenth of the noise; the same noise a hundred times would not."""
    one, many = (
        played(made(people(), DPSGD(multiplier=8.0, size=8), releases=n)).right.mean()
        for n in (1, 100)
    )
    assert many > one + 0.1


@pytest.mark.slow("over half a second")
def test_rounds_show_the_same_batches_with_noise_of_their_own() -> None:
    """The same noise twice would be taken off, and other batches would not be added up."""
    first, second = (made(people(), DPSGD(multiplier=1.0, size=8), number=n) for n in (0, 1))
    trials, again = first.trials(200, 0), second.trials(200, 0)
    assert (trials.rows == again.rows).all()
    exact = made(people(), DPSGD(multiplier=0.0, size=8)).simulated(trials)
    noise, other = (game.simulated(trials) - exact for game in (first, second))
    assert abs(np.corrcoef(noise.ravel(), other.ravel())[0, 1]) < 0.1  # one in a million: of 2,400


def test_rounds_are_added_up_by_equation_5() -> None:
    """Against Bayes by hand: independent rounds of likelihoods 3:1 and 1:2, prior 0.8 and 0.2."""
    prior, seen = np.array([0.8, 0.2]), np.array([[3.0, 1.0], [1.0, 2.0]])
    each = [Played(np.array([0]), prior, np.log([x * prior / (x @ prior)]), "f") for x in seen]
    expected = prior * seen.prod(0) / (prior * seen.prod(0)).sum()
    assert np.allclose(np.exp(together(each).logs), [expected])
    assert np.allclose(together(each[:1]).logs, each[0].logs)


@pytest.mark.slow("over half a second")
def test_of_few_coordinates_each_is_looked_at() -> None:
    """A small one that is 0 for one value tells all, and is lost in the others' pool and sum."""

    def telling(records, labels):
        shown = np.where(records[:, 0] > 0.0, 0.01, 0.0)
        return np.column_stack([shown, 50.0 * records[:, 1:3]])

    table = people(telling=100.0)
    game = vendor_game(telling, table, Defence(), size=8, releases=1, seed=0)
    assert played(game).right.all()


def test_the_commonest_guess_gains_nothing() -> None:
    """Though by luck it came more often than its prior, whose advantage would be a third."""
    truth = np.array([0] * 8 + [1] * 2)
    logs = np.log(np.tile([0.9, 0.1], (10, 1)))
    always = Played(truth, np.array([0.7, 0.3]), logs, "none")
    assert (always.base, always.right.mean()) == (0.7, 0.8)
    assert always.advantage.value == 0.0
    assert always.part(slice(8, None)).right.tolist() == [False] * 2


@pytest.mark.slow("over half a second")
def test_the_interval_of_an_advantage_holds_as_often_as_it_says() -> None:
    """Right for sure of the rare value, in 0.7 of the others: of 600 games 0.95 or more hold it.

    At a rate of 0.95, fewer than 541 do so once in a million times. With the trials' own share
    taken as known, 0.84 held it.
    """
    rng, prior, trials = np.random.default_rng(4), np.array([0.68, 0.32]), 1_000
    true = (0.68 * 0.7 + 0.32 - 0.68) / 0.32
    held = 0
    for _ in range(600):
        truth = (rng.random(trials) < prior[1]).astype(np.int64)
        guess = np.where((truth == 0) & (rng.random(trials) < 0.3), 1, truth)
        found = Played(truth, prior, np.log(np.eye(2)[guess] + 1e-9), "none").advantage
        held += found.low <= true <= found.high
        assert found.low <= found.value <= found.high
    assert held >= 541


@pytest.mark.slow("fits a surrogate; test_defences does")
def test_a_defence_that_learns_is_fitted_to_public_batches() -> None:
    game = made(people(), Perturbation(step=0.2, bound=0.5))
    trials = game.trials(50, 0)
    moved = game.simulated(trials) - game.private.gradients[trials.rows].mean(1)
    assert 0.4 < np.abs(moved).max() <= 0.5 + 1e-6


def test_wide_gradients_are_looked_at_in_part(monkeypatch) -> None:
    """Evenly, so that every layer is seen; and of fewer records, as memory has an end."""
    monkeypatch.setattr("dpassay.attacks.gradients.vendor_game._STORED", 10_000_000)
    assert coordinates(9_999).size == 9_999
    assert coordinates(10**6).size == 10_000
    assert (np.diff(coordinates(10**6)) > 90).all()

    def wide(records, labels):
        return np.tile(records, (1, 25_000))

    game = vendor_game(wide, people(), Defence(), size=4, releases=1, seed=0)
    assert len(game.private.gradients) + len(game.public.gradients) == 100
    assert game.simulated(game.trials(3, 0)).shape == (3, 10_000)


def test_too_few_records_of_a_value_are_named() -> None:
    table = people(40)
    rare = VendorRecords(
        table.records, table.labels, (np.arange(40) == 0).astype(np.int64), ("a", "b")
    )
    with pytest.raises(ValueError, match=r"1 records .*b: .*8 or"):
        made(rare, Defence())
    with pytest.raises(ValueError, match=r"shape \(1,\) for 1 records"):
        vendor_game(lambda x, y: x[:, 0], table, Defence(), size=4, releases=1, seed=0)


def test_sums_do_not_depend_on_how_batches_are_parted(monkeypatch) -> None:
    game = made(people(), Defence())
    trials = game.trials(10, 0)
    whole = game.simulated(trials)
    monkeypatch.setattr("dpassay.attacks.gradients.vendor_game._CHUNK", 3 * WIDTH)
    assert np.allclose(game.simulated(trials), whole)
    first = game.simulated(SensitiveBatches(trials.rows[:1], trials.sensitive[:1]))
    assert np.allclose(first, whole[:1])
