"""A positive control of claims without a law, and restarts: what passes, and what says nothing."""

import math
import random
import tomllib
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from runs import result

from dpassay.attacks.auditing.coin import (
    CoinAudit,
    Guarantee,
    factor_told,
    response_nats,
    response_told,
)
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.lawless.fresh_replies import OPENS_WITH, FreshReplies
from dpassay.verifiers.kinds.lawless.pairs import Pair
from dpassay.verifiers.kinds.lawless.search import far_apart
from dpassay.verifiers.kinds.lawless.session import planned_draws
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget
from dpassay.verifiers.targets.anything import AnyRelease

PAIR = "[[pairs]]\nhere = {rows = [3, 5, 8]}\nthere = {rows = [3, 5, 8, 13]}\n"
BARE = "[[pairs]]\nhere = {n = 0}\nthere = {n = 1}\n"
FAR = "[[control]]\nhere = {n = 0}\nthere = {n = 9}\n"


def claim_of(epsilon: float = 1.0, pairs: str = PAIR, head: str = "") -> Any:
    text = f'[mechanism]\nname = "any"\ncaching = false\n{head}'
    text += f"[privacy]\nepsilon = {epsilon}\ndelta = 0\n{pairs}"
    return parse_claim(tomllib.loads(text))


def judged(one: Any, claim: Any, queries: int = 1_500, **more: Any) -> Any:
    """The report of a deployment of which `one` makes a reply of an input."""
    target = InProcessTarget(
        lambda data, size: [one(data) for _ in range(size)], release=AnyRelease(), **more
    )
    return verify(target, claim, seed=1, queries=queries)


def masked(scale: float) -> Any:
    """A noisy count behind a mask that follows from a seed of 62 bits in the reply."""
    rng, secret = np.random.default_rng(4), random.Random(4)

    def one(data: Any) -> Any:
        seed, count = secret.getrandbits(62), round(len(data["rows"]) + rng.laplace(0.0, scale))
        return {"seed": seed, "sum": (count + random.Random(seed).getrandbits(62)) % (1 << 62)}

    return one


@pytest.mark.slow("over half a second")
def test_replies_of_which_nothing_is_made_are_no_pass() -> None:
    """Catches a pass with nothing learnt, and a message without the parts of a reply."""
    found = result(judged(masked(1.0), claim_of()), "privacy-audit")
    assert (found.verdict, found.code) == (Verdict.INCONCLUSIVE, "nothing-learned")
    assert found.fields["parts"] in (".seed, .sum", ".sum, .seed")
    assert found.fields["far"] is True


PREDICTOR = """
import random

def unmasked(reply, here, there):
    mask = random.Random(reply["seed"]).getrandbits(62)
    count = (reply["sum"] - mask + (1 << 61)) % (1 << 62) - (1 << 61)
    return abs(count - len(here["rows"])) - abs(count - len(there["rows"]))
"""


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(("scale", "verdict"), [(1.0, Verdict.PASS), (0.2, Verdict.FAIL)])
def test_a_predictor_makes_something_of_them(scale, verdict, tmp_path) -> None:
    (tmp_path / "own.py").write_text(PREDICTOR)
    claim = claim_of(head=f'predictor = "{tmp_path}/own.py:unmasked"\n')
    assert result(judged(masked(scale), claim), "privacy-audit").verdict is verdict


def response(epsilon: float, key: str) -> Any:
    rng = np.random.default_rng(5)
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    return lambda data: int((data[key] > 0) == (rng.random() < truth))


@pytest.mark.slow("over half a second")
def test_randomised_response_too_weak_to_be_told_passes_and_says_so() -> None:
    """At .05 and 1,500 calls: .4 nats. Catches a control without an excuse."""
    claim = claim_of(0.05, BARE)
    found = result(judged(response(0.05, "n"), claim), "privacy-audit")
    assert found.verdict is Verdict.PASS
    nats = response_nats(0.05, planned_draws(claim, 1_500).extent)
    assert f"{nats:.2g} nats" in found.message


@pytest.mark.slow("over half a second")
def test_a_control_of_no_known_distance_excuses_nothing() -> None:
    """The same replies: who names a control says that it can be told."""
    found = result(judged(response(0.05, "n"), claim_of(0.05, BARE + FAR)), "privacy-audit")
    assert (found.verdict, found.code) == (Verdict.INCONCLUSIVE, "nothing-learned")


@pytest.mark.slow("over half a second")
def test_a_control_that_is_told_makes_a_pass_of_noise_too_large_for_the_pair() -> None:
    """Laplace noise of scale 20 on a count: the pair shows nothing, n = 0 and 90 do."""
    rng = np.random.default_rng(6)
    far = claim_of(1.0, BARE + FAR.replace("9", "90"))
    found = judged(lambda data: float(data["n"] + rng.laplace(0.0, 20.0)), far)
    assert result(found, "privacy-audit").verdict is Verdict.PASS


def test_nats_of_randomised_response_are_those_of_its_law() -> None:
    """By the divergence to the middle of the two laws; catches an entropy in bits."""
    assert response_nats(0.05, 4_000) == pytest.approx(1.25, abs=0.01)
    p = 1.0 / (1.0 + math.exp(-1.0))
    apart = p * math.log(2 * p) + (1 - p) * math.log(2 * (1 - p))
    assert response_nats(1.0, 10) == pytest.approx(10 * apart)
    assert not response_told(0.05, 4_000, 3.0)
    assert response_told(0.3, 4_000, 3.0)


@pytest.mark.slow("over half a second")
def test_noise_of_the_factor_is_refuted() -> None:
    """20 audits, each refuted with probability .99 at least; catches a factor of the square."""
    wanted, claimed = math.log(1e6), Guarantee(1.0, 1e-6)
    factor = factor_told([claimed], 2_000, wanted, "laplace", features=1)
    assert factor is not None
    assert 1.2 < factor < 3.0
    told = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        coins, audit = rng.random(2_000) < 0.5, CoinAudit(claimed)
        audit.observe(factor * coins + rng.laplace(size=2_000), coins)
        told += audit.log_e_value >= wanted
    assert told >= 17


@pytest.mark.parametrize(
    ("here", "there", "distance"),
    [
        ([3, 5], [3, 5, 9], 3),
        ([3, 5], [3, 9], 2),
        ([2, 1], [2, 2], 4),
        ([2.0, 1.0], [1.0, 2.0], 2 * math.sqrt(5 / 2)),
    ],
)
def test_inputs_far_apart_are_made_of_those_of_the_pair(here, there, distance) -> None:
    found = far_apart([Pair(here=here, there=there)], None)
    assert max(c.distance or 0.0 for c in found) >= distance - 1e-9
    assert any(c.distance == pytest.approx(distance) for c in found)


@pytest.mark.parametrize(
    ("control", "said"),
    [
        (FAR.replace("9", "0"), "control: here and there are the same input"),
        (FAR.replace("9", "2024-01-01"), "control: there is no JSON"),
        (FAR + FAR, "control"),
        (FAR + "distance = 0.5\n", "distance"),
        (FAR + "far = 3\n", "far"),
    ],
)
def test_a_control_that_is_none_is_told(control, said) -> None:
    with pytest.raises(ClaimError) as error:
        claim_of(1.0, BARE + control)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_plan_counts_the_draws_of_a_control() -> None:
    plan = planned_draws(claim_of(1.0, BARE + FAR), None)
    assert plan.looked_at["privacy-audit"] == 8_000
    assert planned_draws(claim_of(1.0, BARE), None).looked_at["privacy-audit"] == 4_000


class Seeded:
    """A generator of rows that is seeded where it is made, unless `seed` is None."""

    def __init__(self, seed: int | None) -> None:
        self.rng, self.calls = np.random.default_rng(seed), 0

    def sample(self, data: Any, size: int) -> Any:
        found = []
        for _ in range(size):
            self.calls += 1
            count = round(len(data["rows"]) + self.rng.laplace())
            found.append({"call": self.calls, "ages": self.rng.integers(0, 90, max(0, count))})
        return found


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(("seed", "verdict"), [(3, Verdict.FAIL), (None, Verdict.PASS)])
def test_a_generator_seeded_at_start_is_found(seed, verdict) -> None:
    """Its calls are counted from the start too, which is no noise: without a seed it passes."""
    target = InProcessTarget(Seeded(seed), release=AnyRelease(), again=lambda: Seeded(seed))
    found = result(verify(target, claim_of(), seed=2, queries=1_000), "fresh-noise")
    assert found.verdict is verdict
    assert found.code == ("seed-fixed" if seed else None)


def test_evidence_of_a_restart_is_1_on_average() -> None:
    """Over all orders of three replies in three starts; catches the most in place of the mean."""
    total = []
    for orders in product(permutations("aab"), repeat=3):
        check = FreshReplies(claim_of())
        for order in orders:
            check.compare(["a", "b", "a"], order)
        total.append(math.exp(check.log_e_value))
    assert np.mean(total) == pytest.approx(1.0)


def test_replies_that_hardly_differ_are_not_told_to_be_fresh() -> None:
    check = FreshReplies(claim_of())
    check.compare([1] * OPENS_WITH, [1] * OPENS_WITH)
    check.judge_power()
    assert check.not_applicable is not None
    assert check.not_applicable.code == "cannot-be-seen-here"
