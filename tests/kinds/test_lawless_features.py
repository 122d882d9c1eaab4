"""What of replies is looked at without a law: long lists, many numbers, and values at the edge."""

import math
from typing import Any

import numpy as np
import pytest

from dpassay.attacks.auditing.coin import CoinAudit, Guarantee
from dpassay.verifiers.kinds.lawless.features import MOST, Features, parts
from dpassay.verifiers.kinds.lawless.pair_audit import PairAudit
from dpassay.verifiers.kinds.lawless.pairs import Pair

THRESHOLD = math.log(1e6)
PAIR = Pair(here=0, there=1)


def evidence(made: Any, seed: int, draws: int = 400) -> float:
    """Against epsilon 1, of replies made(rng, coin); the claim is refuted above THRESHOLD."""
    rng = np.random.default_rng(seed)
    audit = PairAudit([Guarantee(1.0)], PAIR, None)
    for _ in range(0, draws, 16):
        coins = rng.random(16) < 0.5
        audit.observe([made(rng, int(coin)) for coin in coins], coins)
    return audit.log_e_value


def records(rng: Any, more: int, keep: float = 1.0) -> Any:
    """Synthetic records, of which one is a real one."""
    made = [{"age": int(rng.integers(20, 60)), "ill": bool(rng.random() < 0.5)} for _ in range(60)]
    if more and rng.random() < keep:
        made[7]["age"] = 97
    return made


def bits(rng: Any, one: int) -> Any:
    """Bits of randomised response, of which one is flipped too seldom: epsilon 3.9."""
    shown = rng.random(60) < 0.01
    shown[50] = rng.random() < (0.98 if one else 0.02)
    return shown.tolist()


def table(rng: Any, one: int) -> Any:
    """Thirty counts, of which the last but one has a third of the noise of epsilon 1."""
    return [float(x) for x in rng.laplace(0.0, 1.0 / 3.0, 30) + one * (np.arange(30) == 28)]


def sentence(rng: Any, one: int) -> Any:
    """Many words that vary, and a name that only one input has, in every second reply."""
    words = [f"w{k}" for k in range(40) if rng.random() < 0.5]
    return " ".join([*words, *(["anna"] if one and rng.random() < 0.5 else [])])


def ordered(rng: Any, one: int) -> Any:
    """Synthetic values in the order of their exact counts: the first of 60 tells the input."""
    first = rng.binomial(60, 0.5)
    return [one] * first + [1 - one] * (60 - first)


def one_of_many(rng: Any, one: int) -> Any:
    """Of 300 noisy numbers the 200th has none: neither sums nor ends say so."""
    noisy = rng.laplace(0.0, 1.0, 300)
    noisy[199] = one
    return {"mean": noisy.tolist()}


def ranked(rng: Any, one: int) -> Any:
    """Noisy counts of four names, of which the second is the exact ranking's."""
    names = ["d", "a", "b", "c"] if one else ["d", "b", "a", "c"]
    return {"counts": {name: float(rng.laplace()) for name in names}}


def listed(rng: Any, one: int) -> Any:
    """A sentence of the largest noisy counts, in the order of the exact ones."""
    chosen = [name for name in ("refund", "login", "card") if rng.random() < 0.9]
    exact = ["billing", *chosen] if not one else [*chosen[:1], "billing", *chosen[1:]]
    return "Customers ask of " + ", ".join(exact) + "."


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "made", [listed, one_of_many, ranked, records, bits, table, sentence, ordered]
)
def test_what_stands_in_much_is_seen(made) -> None:
    """Catches rows of a long list that count for its length alone, and choosing by variation."""
    assert evidence(made, 1) > THRESHOLD


def shuffled(rng: Any, one: int) -> Any:
    """Noisy counts of names in an order that knows nothing, beside 100 numbers of full noise."""
    names = rng.permutation(["d", "b", "a", "c"]).tolist()
    noisy = rng.laplace(0.0, 1.0, 100) + one * (np.arange(100) == 63)
    return {**{name: float(rng.laplace()) for name in names}, "all": noisy.tolist()}


def test_orders_and_long_lists_of_a_private_release_refute_nothing() -> None:
    """Fails with probability 1e-6 at most; catches places judged on the draws that chose them."""
    assert evidence(shuffled, 3) < THRESHOLD


def private_table(rng: Any, one: int) -> Any:
    return [float(x) for x in rng.laplace(0.0, 1.0, 30) + one * (np.arange(30) == 28)]


@pytest.mark.slow("over half a second")
def test_numbers_chosen_by_coins_are_judged_on_later_draws() -> None:
    """Of 39 numbers that know no input, held to epsilon 0: 12 e-values, each above 20 with
    probability 1 in 20 at most, of fixed seeds. Catches draws that choose and are judged too.
    """
    high = sum(
        evidence_of_nothing(np.random.default_rng([seed, 5])) > math.log(20.0) for seed in range(12)
    )
    assert high <= 1
    assert evidence(private_table, 2) < THRESHOLD


def evidence_of_nothing(rng: Any) -> float:
    audit = PairAudit([Guarantee(0.0)], PAIR, None)
    coins = rng.random(64) < 0.5
    audit.observe([row.tolist() for row in rng.random((64, 39))], coins)
    assert audit.features is not None
    assert audit.features.chosen_by_coins
    assert len(audit.features.paths) == MOST
    assert audit.log_e_value == 0.0
    audit.observe([row.tolist() for row in rng.random((64, 39))], rng.random(64) < 0.5)
    return audit.log_e_value


def edge(rng: Any, one: int) -> Any:
    """Infinities and NaN beside a number that shows the input."""
    odd = [math.inf, -math.inf, math.nan, 10**400, -(10**400), 1.7e308]
    return [odd[rng.integers(6)], float(one + rng.laplace(0.0, 0.25))]


@pytest.mark.parametrize("many", [1, 30])
def test_values_at_the_edge_blind_nobody(many) -> None:
    """Catches evidence that is NaN, and numbers that no float holds; in lists of 2 and of 60."""

    def made(rng: Any, one: int) -> Any:
        return edge(rng, one) * many

    found = evidence(made, 3)
    assert found > THRESHOLD
    assert all(math.isfinite(value) for _, value in parts([10**400, math.inf, math.nan] * 30))


def test_infinite_outputs_are_evidence_too() -> None:
    rng = np.random.default_rng(4)
    coins = rng.random(300) < 0.5
    odd = np.where(rng.random(300) < 0.4, math.inf, -1.7e308)
    audit = CoinAudit(Guarantee(1.0), 2)
    audit.observe(np.column_stack([odd, coins + rng.laplace(0.0, 0.25, 300)]), coins)
    assert audit.log_e_value > THRESHOLD


def test_shares_of_stages_to_come_are_not_kept() -> None:
    """At an epsilon so large no wager gains: no more is left than the shares that have begun.

    A stage wagers on draws before its begin, so that 1 until then would be the better of two.
    """
    audit, coins = CoinAudit(Guarantee(500.0)), np.arange(16) % 3 == 0
    for shares in (1 / 2, 2 / 3):
        audit.observe(np.arange(16.0), coins)
        assert audit.log_e_value <= math.log(shares) + 1e-9


def test_long_lists_of_rows_are_looked_at_by_column() -> None:
    found = dict(parts([{"a": 2, "b": "x"}] * 41 + [{"a": 5, "b": "y"}]))
    assert found["[].a sum"] == 87.0
    assert found["[].a largest"] == 5.0
    assert found["[].b has y"] == 1.0
    assert found[" length"] == 42.0
    assert dict(parts([True, False] * 30))[" sum"] == 30.0
    assert ("[].1 smallest", -3.0) in list(parts([[0, -3]] * 50))
    assert Features([[{"a": k}] * 50 for k in range(64)]).paths[0].startswith("[].a")
