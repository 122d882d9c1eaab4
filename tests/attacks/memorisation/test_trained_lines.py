"""The model trained here: its scores by another forward pass, its costs, and what it memorises."""

import math
from importlib import import_module

import numpy as np
import pytest
from scipy.special import log_softmax, ndtr, ndtri

from dpassay.attacks.memorisation import exposures, guesses
from dpassay.attacks.memorisation.trained_lines import (
    ALPHABET,
    CharacterNetwork,
    CharacterScorer,
    Model,
    canaries,
    encoded,
    lines,
    with_canaries,
)
from dpassay.reference.numbers.families import Gaussian
from dpassay.reference.numbers.moves import move_epsilon

costs = import_module("benchmarks.memorisation.costs")
epsilon, highest_exposure = costs.epsilon, costs.highest_exposure
private = import_module("benchmarks.memorisation.private")
Training, trained = private.PrivateTraining, private.trained

DELTA = 1e-5


@pytest.mark.slow("over half a second")
def test_scores_are_those_of_a_forward_pass_by_hand() -> None:
    """Catches a window that sees the character it predicts, and an end that is scored."""
    network = CharacterNetwork(10, len(ALPHABET), window=3, width=2, hidden=4)
    model = Model(network, network.initial(0))
    table, shift, inner, bias, outer, last = map(np.asarray, network.split(model.parameters))
    expected = []
    for text in ("a", "pin 7", "eve: 12 a"):
        before, bits = [0, 0, 0], 0.0
        for character in text:
            code = ALPHABET.index(character)
            seen = np.concatenate([table[:, each] + shift for each in before])
            scores = outer @ np.tanh(inner @ seen + bias) + last
            bits -= log_softmax(scores)[code] / math.log(2)
            before = [*before[1:], code]
        expected.append(bits)
    found = CharacterScorer(model)(["a", "pin 7", "eve: 12 a"])
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("line", ["A", "a\nb", "x" * 12])
def test_lines_that_the_model_cannot_read_are_refused(line) -> None:
    with pytest.raises(ValueError, match=r"fewer than 12 .*' abc"):
        encoded([line], 12)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("times", [1, 3])
def test_all_lines_in_every_batch_cost_what_gaussian_noise_does(times) -> None:
    """By the exact formula of one Gaussian; of three copies three times as far."""
    bracket = epsilon(Training(steps=4, share=1.0, multiplier=4.0), DELTA, times)
    exact = move_epsilon(Gaussian(1.0), times * math.sqrt(4) / 4.0, DELTA)
    assert bracket.low <= exact * 1.000001
    assert exact <= bracket.high * 1.000001
    assert bracket.high - bracket.low < 0.01


@pytest.mark.slow("over half a second")
def test_lines_drawn_one_by_one_cost_less() -> None:
    """The half of them: one step is (log(1 + (e^eps - 1) / 2), delta / 2) of all lines' eps."""
    halved = epsilon(Training(steps=1, share=0.5, multiplier=4.0), DELTA / 2).high
    whole = move_epsilon(Gaussian(1.0), 0.25, DELTA)
    assert halved == pytest.approx(math.log1p(math.expm1(whole) / 2.0), rel=1e-3)


@pytest.mark.slow("over half a second")
def test_no_model_exposes_more_than_the_best_test_of_its_noise() -> None:
    """One step on all lines: ranks of 2^-k have the power Phi(Phi^-1(2^-k) + 1 / sigma)."""
    found = highest_exposure(Training(steps=1, share=1.0, multiplier=2.0))
    exact = -math.log2(ndtr(ndtri(0.05) - 0.5))
    assert found == pytest.approx(exact, abs=0.02)
    assert highest_exposure(Training()) == math.inf == epsilon(Training(), DELTA).low


def test_canaries_stand_among_the_lines_as_often_as_they_should() -> None:
    planted = canaries((1, 3), 4, 0)
    codes = with_canaries(lines(20, 0), planted)
    for canary in planted:
        own = encoded([canary.text], codes.shape[1])
        assert (codes == own).all(1).sum() == canary.times


@pytest.mark.slow("two models are trained, half a minute")
def test_a_repeated_canary_is_extracted_but_under_dp_sgd() -> None:
    """Ten times among 1,000 lines: rank 1 of 10,000; under noise of sigma 2 most are far from it.

    Fixed by the seeds.
    """
    planted = canaries((10, 10, 10), 4, 0)
    codes = with_canaries(lines(1_000, 0), planted)
    for multiplier in (None, 2.0):
        training = Training(steps=400, share=0.05, multiplier=multiplier, clip_norm=0.5)
        scorer = CharacterScorer(trained(codes, training))
        found = [exposures(scorer, one.template, [one.text])[0].value for one in planted]
        first = [guesses(scorer, one.template, one.text, 100) for one in planted]
        if multiplier is None:
            assert min(found) == pytest.approx(math.log2(10_000))
            assert first == [1, 1, 1]
        else:
            assert np.median(found) < 8.0
