"""Kept answers are drawn anew once their store is emptied, or they are no draws."""

import shlex
import sys
from functools import partial
from hashlib import sha256

import numpy as np
import pytest
from runs import claimed, result

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks.asked_again import ASKED, EmptiedStore
from dpassay.verifiers.kinds.labels.checks.cached_answers import CachedAnswers
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import FreshStateCommand, InProcessTarget, TargetError

NOTHING = shlex.join([sys.executable, "-c", ""])
claim = partial(claimed, caching=True, fresh_state=NOTHING)


def histograms(seed, number, classes=10, teachers=250):
    rng = np.random.default_rng(seed)
    laws = rng.dirichlet([0.5] * classes, number)
    return list(dict.fromkeys(tuple(rng.multinomial(teachers, law).tolist()) for law in laws))


class Keeping(InProcessTarget):
    """Gnmax that keeps its answers over a restart, until the file that stands for them is gone.

    hashed: the share of histograms whose noise is seeded by a hash of the votes; store: that file,
    never there when None.
    """

    no_restart = None

    def __init__(self, seed=0, hashed=0.0, sigma=40.0, store=None):
        super().__init__(self.sample)
        self.rng, self.hashed, self.sigma = np.random.default_rng(seed), hashed, sigma
        self.store, self.kept = store, {}

    def sample(self, votes, size):
        key = votes.tobytes()
        if key not in self.kept:
            digest = sha256(key).digest()
            seeded = digest[0] < 256 * self.hashed
            rng = np.random.default_rng(list(digest)) if seeded else self.rng
            self.kept[key] = int((votes + rng.normal(0, self.sigma, votes.size)).argmax())
        return [self.kept[key]] * size

    def restart(self):
        if self.store is None or not self.store.exists():
            self.kept = {}


def emptied(target, made=None, seed=0, number=300):
    """The check on a deployment's answers to some histograms, drawn anew."""
    made = made or claim()
    c = made.mechanism
    asked = histograms(seed, number, c.classes, c.teachers)
    kept = {votes: int(target.ask(np.array(votes), 1)[0]) for votes in asked}
    check = CachedAnswers(kept, made)
    check.run_emptied(target)
    return check


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.quick_cases(5)
def test_labels_that_are_a_function_of_the_votes_are_found(seed) -> None:
    """Asked again they repeat, and a restart changes nothing: kept answers look the same."""
    check = emptied(Keeping(seed, hashed=1.0), seed=seed)
    found = check.finding()
    assert check.refuted
    assert check.repeated == ASKED
    assert found.code == "labels-follow-votes"
    assert found.fields["same"] == found.fields["asked"] == ASKED
    assert 0.0 < found.fields["expected"] < 0.9 * ASKED


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.quick_cases(5)
def test_fresh_noise_in_an_empty_store_is_not_accused(seed) -> None:
    """Some labels come again by chance."""
    check = emptied(Keeping(seed), seed=seed)
    assert not check.refuted
    assert check.finding().code is None
    assert check.finding().warnings == ()


def test_half_of_the_answers_are_enough() -> None:
    assert emptied(Keeping(1, hashed=0.5)).refuted


def test_answers_that_are_nearly_certain_tell_nothing() -> None:
    """No accusation, whatever comes again, and a warning says that nothing was to be seen."""
    made = claim("gaussian:1", classes=3, teachers=400)
    check = emptied(Keeping(0, hashed=1.0, sigma=1.0), made)
    assert not check.refuted
    (told,) = check.finding().warnings
    assert told.code == "labels-too-predictable"


def test_only_some_are_asked_and_those_that_tell() -> None:
    asked = histograms(0, 3_000)
    store = EmptiedStore(claim(), dict.fromkeys(asked, 0), restarted=True)
    chosen = list(store.histograms)
    places = [asked.index(votes) for votes in chosen]
    assert len(chosen) == ASKED
    assert places == sorted(places)
    assert places[0] < 60
    assert places[-1] > len(asked) - 60


@pytest.mark.parametrize("value", ["", "'", 3])
def test_the_key_takes_a_command(value) -> None:
    with pytest.raises(ClaimError, match="fresh_state"):
        claim(fresh_state=value)


def test_the_key_is_for_claims_that_keep_answers() -> None:
    with pytest.raises(ClaimError, match=r"fresh_state.* caching = true"):
        claim(caching=False)


def test_a_command_that_fails_is_named_by_its_key() -> None:
    fails = shlex.join([sys.executable, "-c", "raise SystemExit('no such table')"])
    with pytest.raises(TargetError, match=r"fresh_state = .*status 1: .*table"):
        emptied(Keeping(), claim(fresh_state=fails), number=3)
    waits = shlex.join([sys.executable, "-c", "import time; time.sleep(60)"])
    with pytest.raises(TargetError, match=r"0\.3 s: .*kept answers"):
        FreshStateCommand(waits, 0.3).run()


COARSE = {"tolerance": 0.5, "smallest_effect": 0.3, "false_alarm": 1e-3}
ALONE = select(["fresh-noise"], of=SHARES)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("hashed", [0.0, 1.0])
def test_a_run_empties_the_store(hashed, tmp_path) -> None:
    store = tmp_path / "answers"
    store.touch()
    empty = shlex.join([sys.executable, "-c", f"import os; os.remove({str(store)!r})"])
    made = claim("gaussian:10", classes=4, teachers=40, fresh_state=empty, **COARSE)
    report = verify(Keeping(0, hashed, 10.0, store), made, seed=0, selection=ALONE)
    found = result(report, "fresh-noise")
    assert found.verdict is (Verdict.FAIL if hashed else Verdict.PASS), found
    assert found.code == ("labels-follow-votes" if hashed else None)
    assert all(warning.code != "store-not-emptied" for warning in report.notes)


def test_a_run_that_cannot_empty_it_says_so_first() -> None:
    made = claimed("gaussian:10", classes=4, teachers=40, caching=True, **COARSE)
    report = verify(InProcessTarget(Keeping(0, 1.0, 10.0).sample), made, seed=0, selection=ALONE)
    assert result(report, "fresh-noise").verdict is Verdict.PASS
    assert report.notes[0].code == "store-not-emptied"


def test_a_budget_without_room_for_it_is_inconclusive() -> None:
    """It is never left out in silence."""
    made = claim("gaussian:10", classes=4, teachers=40, max_queries=700, **COARSE)
    report = verify(Keeping(0, 1.0, 10.0), made, seed=0, selection=ALONE)
    assert result(report, "fresh-noise").verdict is Verdict.INCONCLUSIVE
