"""A fixed seed behind kept answers shows in what a new start draws first."""

import numpy as np
import pytest
from runs import claimed

from dpassay.verifiers.kinds.labels.checks.asked_again import FIRST, FirstDraws
from dpassay.verifiers.kinds.labels.checks.cached_answers import CachedAnswers
from dpassay.verifiers.targets import InProcessTarget

CLAIM = claimed("gaussian:40", caching=True)


class Kept(InProcessTarget):
    """Gnmax whose answers outlast a restart; seed: what its generator begins with every time."""

    no_restart = None

    def __init__(self, seed):
        super().__init__(self.sample)
        self.seed, self.kept = seed, {}
        self.restart()

    def restart(self):
        self.rng = np.random.default_rng(self.seed)

    def sample(self, votes, size):
        key = votes.tobytes()
        if key not in self.kept:
            self.kept[key] = int((votes + self.rng.normal(0, 40, votes.size)).argmax())
        return [self.kept[key]] * size


def restarted(target, number=150):
    """The check, on a deployment that was asked some histograms and restarted."""
    laws = np.random.default_rng(0).dirichlet([0.5] * 10, number)
    asked = [np.random.default_rng(i).multinomial(250, law) for i, law in enumerate(laws)]
    labels = {tuple(votes.tolist()): int(target.ask(votes, 1)[0]) for votes in asked}
    before = dict(list(labels.items())[:5])
    check = CachedAnswers(dict(list(labels.items())[5:]), CLAIM, before)
    target.restart()
    check.run_after_restart(target)
    return check


def test_a_fixed_seed_is_found_although_every_answer_is_kept() -> None:
    """Whoever asks kept answers alone, or new histograms in another order, sees nothing."""
    check = restarted(Kept(seed=7))
    assert check.changed is None
    assert check.refuted
    assert check.repeated == check.queries_after_restart == FIRST + len(check.ends)
    found = check.finding()
    assert found.code == "seed-fixed"
    assert found.fields["same"] > 2 * found.fields["expected"]
    assert found.fields["asked"] == FIRST


@pytest.mark.parametrize("trial", range(3))
def test_new_draws_are_not_accused(trial) -> None:
    """Null: each is wrong with probability 6e-8, by Ville's inequality."""
    check = restarted(Kept(seed=None))
    assert not check.refuted
    assert check.finding().code is None
    assert check.drawn.asked == 100


def test_each_is_one_vote_from_what_was_asked_and_new() -> None:
    asked = {(200, 50, 0): 0, (199, 51, 0): 0, (1, 0, 0): 2, (0, 1, 0): 1, (0, 0, 1): 0}
    draws = FirstDraws(claimed("gaussian:40", classes=3, caching=True), asked)
    assert len(draws.histograms) == 2  # all that are one vote from (1, 0, 0) were asked
    for (votes, new, _), first in zip(draws.of, asked, strict=False):
        assert votes == first
        assert new not in asked
        assert np.abs(np.subtract(votes, new)).sum() == 2
