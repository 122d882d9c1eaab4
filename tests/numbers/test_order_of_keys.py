"""The order of keys in a reply: that of exact counts gives them away, of noisy ones not."""

import tomllib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.findings.report import CheckResult, Verdict
from dpassay.verifiers.kinds.keys.checks.privacy_audit import OrderEvidence
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.kinds.numbers.evidence.two_events import Level
from dpassay.verifiers.kinds.numbers.registry import SHARES
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

SCALE = 2.0


def claimed(adjacency: str = "add-remove", cells: int = 12, epsilon: float = 0.5) -> NumbersClaim:
    """A claim with a threshold of 20; the L1 sensitivity of replaced records is 2."""
    delta = 1e-3
    text = (
        f'[mechanism]\nname = "thresholded-histogram"\nnoise = "laplace:{SCALE:g}"\n'
        f'adjacency = "{adjacency}"\ncells = {cells}\nthreshold = 20\n'
        f"[privacy]\nepsilon = {epsilon}\ndelta = {delta}\nqueries = 1"
    )
    claim: NumbersClaim = parse_claim(tomllib.loads(text))
    return claim


Order = Callable[[Any, Any, Any], Any]
"""Keys that are released, exact and noisy counts in; keys in the order of the reply out."""

ORDERS: dict[str, Order] = {
    "exact counts": lambda keys, exact, noisy: keys[np.argsort(-exact[keys], kind="stable")],
    "exact counts, last first": lambda keys, exact, noisy: keys[np.argsort(exact[keys])][::-1],
    "noisy counts": lambda keys, exact, noisy: keys[np.argsort(-noisy[keys])],
    "keys": lambda keys, exact, noisy: keys,
}


def audited(order: Order, claim: NumbersClaim) -> CheckResult:
    """What `privacy-audit` says of a deployment that is right but for the order of its keys."""
    law, rng = parse_number_noise(f"laplace:{SCALE:g}"), np.random.default_rng(8)

    def aggregate(counts: Any, size: int) -> Any:
        noisy = law.sample(counts, size, rng)
        replies = []
        for row in noisy:
            keys = np.flatnonzero((row >= 20.0) & (counts > 0))
            replies.append([{"key": int(key)} for key in order(keys, counts, row)])
        return replies

    target = InProcessTarget(aggregate, release=claim.release)
    alone = select(["privacy-audit"], of=SHARES)
    report = verify(target, claim, seed=4, selection=alone)
    return next(check for check in report.checks if check.id == "privacy-audit")


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("name", ["exact counts", "exact counts, last first"])
@pytest.mark.quick_cases(3)
def test_an_order_of_exact_counts_fails(name: str, adjacency: str) -> None:
    """Whichever of equal counts comes first, one of the pairs tells, for certain."""
    found = audited(ORDERS[name], claimed(adjacency, epsilon=1.0))
    assert found.verdict is Verdict.FAIL
    assert found.code == "order-tells-counts"
    assert found.fields["often"] == 1.0
    assert found.fields["rarely"] == 0.0
    assert found.queries <= 4_300, "a pair that tells ends within 300"


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("name", ["noisy counts", "keys"])
@pytest.mark.quick_cases(3)
def test_an_order_that_is_private_passes(name: str, adjacency: str) -> None:
    """The order of noisy counts costs no more than they do: 1 / b, or 2 / b of replaced records."""
    epsilon = 0.5 if adjacency == "add-remove" else 1.0
    found = audited(ORDERS[name], claimed(adjacency, epsilon=epsilon))
    assert found.verdict is Verdict.PASS, found.message


def test_the_expectation_is_at_most_one() -> None:
    """At the edge of the claim, by enumeration of four pairs; catches a wager without e^epsilon."""
    level = Level(0.5, 1e-3)
    often = 0.4
    rarely = (often - level.delta) / np.exp(level.epsilon)
    for p, q in ((often, rarely), (rarely, often), (0.0, level.delta), (level.delta, 0.0)):
        expected = 0.0
        for hits in np.ndindex(2, 2, 2, 2):
            evidence = OrderEvidence(level)
            for here, there in (hits[:2], hits[2:]):
                evidence.observe(
                    *(np.array([[1.0, 2.0] if hit else [2.0, 1.0]]) for hit in (here, there))
                )
            chance = np.prod([p if h else 1 - p for h in hits[::2]])
            chance *= np.prod([q if h else 1 - q for h in hits[1::2]])
            expected += chance * np.exp(evidence.log_e_value)
        assert expected <= 1.0 + 1e-12


def test_a_single_key_has_no_order() -> None:
    """A run says so."""
    lacking = claimed(cells=1).kind.checks.lacking(claimed(cells=1))
    alone = ("privacy-audit", "independence")
    assert [lacking[check].code for check in alone] == ["single-value", "single-value"]
