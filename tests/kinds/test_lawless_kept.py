"""Deployments without a law that keep something of an input: none is accused of what it keeps."""

import itertools
import math
import tomllib
from functools import partial
from typing import Any

import numpy as np
import pytest
from runs import result

from dpassay.attacks.auditing.coin import CoinAudit, Guarantee
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.lawless.fresh_states import FreshStates
from dpassay.verifiers.kinds.lawless.pair_audit import PairAudit
from dpassay.verifiers.kinds.lawless.pairs import Pair
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget
from dpassay.verifiers.targets.anything import AnyRelease

EPSILON = 1.0
BITS = 8
PERMANENT = 1.0 / (1.0 + math.exp(EPSILON / 2))
"""Probability that a permanent bit is turned: of two bits that differ, epsilon in all."""


class Rappor:
    """A bit of a word for each input is set; all are turned once for each input, and kept.

    Replies are draws from what is kept, with one bit in ten turned anew. rate: of permanent turns.
    """

    def __init__(self, seed: int, rate: float = PERMANENT) -> None:
        self.rng, self.rate = np.random.default_rng(seed), rate
        self.kept: dict[int, Any] = {}

    def sample(self, value: int, size: int) -> Any:
        """Replies of 0 and 1."""
        if value not in self.kept:
            self.kept[value] = (np.arange(BITS) == value) ^ (self.rng.random(BITS) < self.rate)
        turned = self.rng.random((size, BITS)) < 0.1
        return (self.kept[value] ^ turned).astype(int).tolist()


def run(made: Any, seed: int, said: str, epsilon: float, queries: int, *, restarts: bool) -> Report:
    """Of a run on made(seed); said: what the claim says of it in [mechanism]."""
    text = f'[mechanism]\nname = "any"\n{said}\n[privacy]\nepsilon = {epsilon}\ndelta = 0\n'
    claim = parse_claim(tomllib.loads(text + "[[pairs]]\nhere = 0\nthere = 1\n"))
    starts = itertools.count(1_000 * seed)
    again = (lambda: made(next(starts))) if restarts else None
    target = InProcessTarget(made(next(starts)), again=again, release=AnyRelease())
    return verify(target, claim, seed=seed, queries=queries)


def report(seed: int, *, restarts: bool = True, said: str = "", rate: float = PERMANENT) -> Report:
    """Of a run on RAPPOR."""
    made = partial(Rappor, rate=rate)
    return run(made, seed, said, EPSILON, 1_000, restarts=restarts)


def judged(seed: int, **how: Any) -> Any:
    """The check's result, of the same."""
    return result(report(seed, **how), "privacy-audit")


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("restarts", [True, False])
def test_kept_answers_that_are_private_are_not_accused(restarts) -> None:
    """Catches a run that takes replies from one kept answer for fresh draws: it failed."""
    found = judged(1, restarts=restarts)
    assert (found.verdict, found.code) == (Verdict.INCONCLUSIVE, "replies-may-be-kept")
    assert found.fields["states"] == (64 if restarts else 0)


@pytest.mark.slow("over half a second")
def test_a_claim_that_says_what_is_kept_is_judged_in_fresh_states() -> None:
    """The same deployment passes, and one that turns too few permanent bits fails."""
    assert judged(1, said="caching = true").verdict is Verdict.PASS
    found = judged(1, said="caching = true", rate=0.01)
    assert (found.verdict, found.code) == (Verdict.FAIL, "inputs-told-apart")


def test_a_claim_of_kept_answers_needs_fresh_states() -> None:
    """Nothing could be asked: an error of one line, which names what is lacking."""
    found = report(1, said="caching = true", restarts=False)
    assert found.verdict is Verdict.ERROR
    assert result(found, "input-contract").code == "options-do-not-fit"


@pytest.mark.slow("over half a second")
def test_who_claims_fresh_draws_is_held_to_it() -> None:
    """Under caching = false kept answers are no excuse."""
    assert judged(1, said="caching = false", restarts=False).verdict is Verdict.FAIL


@pytest.mark.slow("over half a second")
def test_a_fault_is_accused_in_fresh_states_too() -> None:
    """Permanent bits that are hardly ever turned give the input away in every state.

    Catches an excuse for whatever repeats, and a bound, draws or evidence of one state, which may
    be beyond the truth by any factor.
    """
    found = judged(1, rate=0.01)
    assert (found.verdict, found.code) == (Verdict.FAIL, "inputs-told-apart")
    states = found.fields["draws"]
    assert f"first replies of {states} fresh states" in found.message
    assert states < found.queries  # which are the draws before
    assert 1.0 < found.fields["refuted_epsilon"] < 2.0 * math.log(99.0)


@pytest.mark.slow("over half a second")
def test_the_bound_is_of_fresh_states_alone() -> None:
    """Draws of one state tell the input for certain, those of fresh states nothing: it is 0.

    Catches a bound of all draws, which is 1.3 or more.
    """
    states, rng = taught(3), np.random.default_rng(4)
    for coin in rng.random(100) < 0.5:
        states.observe([int(rng.random() < 0.5), 0.0], bool(coin))
    assert states.least_epsilon(0.05) == 0.0
    assert states.pair.least_epsilon(0.0, 0.05) > 1.3


class KeptRefusal:
    """Refuses an input for ever, or never, as a randomised response of it has decided once."""

    def __init__(self, seed: int, rate: float) -> None:
        self.rng, self.rate = np.random.default_rng(seed), rate
        self.kept: dict[int, bool] = {}

    def sample(self, value: int, size: int) -> Any:
        """Zeros, or an error."""
        if value not in self.kept:
            self.kept[value] = (value == 1) ^ bool(self.rng.random() < self.rate)
        if self.kept[value]:
            raise ValueError("withheld")
        return [0] * size


def refused(seed: int, rate: float, said: str = "", *, restarts: bool = True) -> Report:
    """Of a run on it, at epsilon 1."""
    return run(partial(KeptRefusal, rate=rate), seed, said, 1.0, 100, restarts=restarts)


@pytest.mark.parametrize(("said", "restarts"), [("", True), ("", False), ("caching = true", True)])
def test_kept_refusals_that_are_private_are_not_accused(said: str, restarts: bool) -> None:
    """Null: randomised response at epsilon 1, kept. Rate: 1e-6 / 64 for each seed.

    Catches calls that prove a refusal in one state: one half of these runs failed.
    """
    private, noted = 1.0 / (1.0 + math.e), 0
    for seed in range(8):
        report = refused(seed, private, said, restarts=restarts)
        assert report.verdict is not Verdict.FAIL
        notes = [note for note in report.notes if note.code == "refusal-not-judged"]
        assert all("none can be had" in note.message for note in notes)
        noted += len(notes)
    assert (noted > 0) != restarts


@pytest.mark.parametrize("said", ["", "caching = true", "caching = false"])
def test_a_refusal_by_the_input_is_accused_whatever_is_kept(said: str) -> None:
    """In 58 calls, as of fresh draws."""
    found = result(refused(1, 0.0, said), "input-contract")
    assert (found.verdict, found.code) == (Verdict.FAIL, "refusal-tells-inputs-apart")
    assert found.fields["calls"] == 58


def taught(seed: int) -> FreshStates:
    """After 200 draws that give their input away, as kept answers do."""
    rng = np.random.default_rng(seed)
    pair = PairAudit([Guarantee(EPSILON)], Pair(here=0, there=1), None)
    coins = rng.random(200) < 0.5
    pair.observe([[int(coin), float(rng.normal())] for coin in coins], coins)
    return FreshStates([pair], math.log(20.0))


@pytest.mark.slow("over half a second")
def test_evidence_of_fresh_states_has_expectation_1_at_most() -> None:
    """Enumerated over five coins, of replies that tell the input as well as epsilon allows.

    Catches evidence of the draws before, and a stage that begins with it: both are beyond 1 by far.
    """
    truth = 1.0 / (1.0 + math.exp(-EPSILON))
    total = 0.0
    for shown in itertools.product((False, True), repeat=5):
        states = taught(3)
        assert states.log_e_value == 0.0
        for place, coin in enumerate(shown):
            states.observe([1, 0.1 * place], coin)
        chance = math.prod(truth if coin else 1.0 - truth for coin in shown)
        total += chance * math.exp(states.log_e_value)
    assert 0.5 < total <= 1.0 + 1e-9


def test_no_stage_begins_in_fresh_states() -> None:
    """After 256 draws a stage would begin, and wager on all of them."""
    audit, coins = CoinAudit(Guarantee(0.0)), np.arange(250) % 2 == 0
    audit.observe(coins.astype(float), coins)
    follows = audit.of_what_follows()
    follows.observe(np.full(10, 0.5), np.arange(10) % 2 == 0)
    assert follows.log_e_value < 10 * math.log(2.0)
