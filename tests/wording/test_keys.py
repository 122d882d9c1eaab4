"""What is said of keys: each template of a sentence once, of evidence that is made up."""

from types import SimpleNamespace
from typing import Any

import checked_alone
import numpy as np
import pytest
from numeric_zoo.keys import ORDERED
from released_keys import claimed

from dpassay.reference.accounting.adjacency import Adjacency
from dpassay.reference.numbers import ThresholdedHistogram, parse_number_noise
from dpassay.verifiers.kinds.keys.checks.keys_together import KeysFreshNoise, KeysIndependence
from dpassay.verifiers.kinds.keys.checks.partition_release import PartitionRelease
from dpassay.verifiers.kinds.keys.checks.privacy_audit import KeysPrivacyAudit
from dpassay.verifiers.kinds.keys.checks.privacy_claim import KeysPrivacyClaim
from dpassay.verifiers.kinds.keys.evidence.key_faults import key_faults
from dpassay.verifiers.kinds.keys.evidence.released import KeyEvidence
from dpassay.verifiers.run.checks import Setting


def made(check: Any, claim: Any = None) -> Any:
    claim = claim or claimed()
    return check.make(Setting(claim, 1, claim.inputs(0)))


@pytest.mark.parametrize(
    ("users", "code", "words"),
    [
        (1, "scale-too-small", "noise of 0.5 times the claimed scale"),
        (1, "scale-too-large", "noise of 2 times the claimed scale"),
        (1, "threshold-too-low", "keys are released from a noisy count of 5"),
        (1, "threshold-too-high", "keys are released from a noisy count of 7"),
        (1, "noise-family-differs", "gaussian:2 noise, of equal scale"),
        (1, "noise-missing", "counts are compared without noise"),
        (
            1,
            "selection-geometric",
            "keys are selected by a truncated geometric law, not by noise at a threshold",
        ),
        (1, "released-too-often", "keys of one record at 2 times the exact rate"),
        (3, "released-too-seldom", "keys of one user at 0.5 times the exact rate"),
        (
            1,
            *(
                "released-too-often",
                "keys are released more often than claimed, at 2 times the odds",
            ),
        ),
        (
            1,
            *(
                "released-too-seldom",
                "keys are released less often than claimed, at 0.5 times the odds",
            ),
        ),
    ],
)
def test_a_known_fault(users: int, code: str, words: str) -> None:
    noise = parse_number_noise("laplace:2")
    claim = ThresholdedHistogram(noise, 9, 6.0, Adjacency.ADD_REMOVE, contributions=users)
    found = [fault.cause.code for fault in key_faults(claim) if fault.cause.message == words]
    assert found == [code]


def test_keys_that_are_left_out() -> None:
    keys = ThresholdedHistogram(parse_number_noise("laplace:2"), 9, 6.0, Adjacency.ADD_REMOVE)
    found = [fault.cause for fault in key_faults(keys) if fault.cause.code == "keys-left-out"]
    assert {cause.message for cause in found} == {
        "keys are left out however large their counts are, as by a limit on their number"
    }
    assert sorted(float(cause.fields["share"] or 0.0) for cause in found) == [0.02, 0.2, 0.7]


@pytest.mark.parametrize(
    ("count", "came", "code", "message"),
    [
        (
            0.0,
            *(1, "empty-partition-released", "which is empty, was released: the claim never gives"),
        ),
        (
            1.0,
            *(1, "release-impossible", "of count 1, was released: the claim never gives it"),
        ),
        (
            99.0,
            *(0, "keys-left-out", "of count 99, was not released: the claim always gives it"),
        ),
    ],
)
def test_what_the_claim_rules_out(count: float, came: int, code: str, message: str) -> None:
    noise = parse_number_noise("laplace:1e-3;round")
    keys = ThresholdedHistogram(noise, 1, 6.0, Adjacency.ADD_REMOVE)
    evidence = KeyEvidence(keys, 1)
    evidence._law = lambda counts: (
        np.where(counts < 6, -np.inf, 0.0),
        np.where(counts < 6, 0.0, -np.inf),
    )
    evidence.observe(np.array([count]), (np.array([float(came)]), np.array([1.0 - came])))
    found = evidence.forbidden
    assert found is not None
    assert found.message.startswith(f"key 0, {message}")
    assert (found.code, found.fields) == (code, {"key": 0, "count": count})


@pytest.mark.parametrize(
    ("group", "nats", "where", "cause"),
    [
        (None, 90.0, "", "keys of one record at 2 times the exact rate"),
        (
            "key 7",
            *(90.0, ", most of all for key 7", "keys of one record at 2 times the exact rate"),
        ),
        (None, 1.0, "", None),
    ],
)
def test_keys_at_another_rate(
    group: str | None, nats: float, where: str, cause: str | None
) -> None:
    check = made(PartitionRelease)
    fault = next(
        f for f in check.evidence.faults if f.cause.message.endswith("at 2 times the exact rate")
    )
    check.evidence = SimpleNamespace(
        forbidden=None,
        worst=lambda: (group, fault, nats),
        oddest=lambda _: (1.0, 30, 1_200, 15.0),
    )
    found = check.fail_finding()
    assert found.message == (
        f"keys are not released as discrete-laplace:1 at a threshold of 6 gives{where}: of 1,200 "
        "keys of count 1 there, 30 were released (0.025), and 15 expected (0.0125)"
    )
    assert found.cause == cause
    likely = cause and f"{cause} for {group}" if group else cause
    assert found.diagnosis == (likely and f"{likely} (the nearest of the laws compared)")
    assert found.code == ("released-too-often" if cause else "law-unexplained")
    told = {"count": 1.0, "released": 30, "seen": 1_200, "expected": 15.0}
    assert told.items() <= found.fields.items()
    assert found.fields.get("where") == group


@pytest.mark.parametrize(
    ("check", "kind", "code", "pairs", "cause"),
    [
        (
            KeysIndependence,
            0,
            "noise-shared-within-release",
            "neighbouring keys",
            "one draw of noise serves several keys",
        ),
        (
            KeysFreshNoise,
            0,
            "noise-reused",
            "a key's releases, one after the other,",
            "noise is drawn once for several releases, or every call, or start, begins alike",
        ),
        (
            KeysFreshNoise,
            3,
            "noise-shared-across-inputs",
            "a key in a call and in the one before, of another input,",
            "noise is drawn once for several inputs, or they have one seed",
        ),
        (
            KeysFreshNoise,
            4,
            "noise-shared-across-inputs",
            "a key in as many releases of two inputs",
            "noise is drawn once for several inputs, or they have one seed",
        ),
    ],
)
def test_keys_that_tell_of_each_other(
    check: Any, kind: int, code: str, pairs: str, cause: str
) -> None:
    standing = made(check)
    standing.evidence[kind].gains[-1] = 90.0
    found = standing.fail_finding()
    assert (found.message, found.diagnosis) == (
        f"{pairs} tell of each other: a correlation of about 0.95 where both are released half of "
        "the time",
        cause,
    )
    assert (found.code, found.fields) == (code, {"correlation": 0.95})


def test_an_order_that_tells() -> None:
    check = made(KeysPrivacyAudit, checked_alone.claimed(ORDERED))
    pair = check.pairs[0]
    evidence = check.evidence(pair)
    one, other = np.tile([1.0, 2.0, 3.0], (50, 1)), np.tile([2.0, 1.0, 3.0], (50, 1))
    evidence.observe(one, other)
    found = check.fail_finding(pair, evidence).finding
    first, second = pair.coordinates[:2]
    assert (found.message, found.diagnosis) == (
        f"key {first} stands before key {second} in 100.00% of the releases of {pair.words[0]} and "
        f"in 0.00% of those of its neighbour, {pair.words[1]}: the claimed epsilon 1 at delta "
        "1e-06 does not allow that of one release (50 pairs)",
        "keys are released in an order that their exact counts decide",
    )


COSTS = (
    "a record costs at least epsilon 0.993137 at delta 0.005 over one release (counts 6 and 5, no "
    "other counts cost more), and epsilon = {} is claimed"
)
ALONE = (
    "keys that one record alone makes are released with probability 0.004926 in one release, and "
    "delta = {} is claimed"
)


@pytest.mark.parametrize(
    ("epsilon", "delta", "message", "diagnosis"),
    [
        (
            0.01,
            0.005,
            f"{COSTS.format(0.01)} (certified in ball arithmetic)",
            "the accountant charges too little, or the claim allows too many queries",
        ),
        (1.0, 0.005, f"{COSTS.format(1)}: not refuted; {ALONE.format(0.005)}", None),
        (1.0, 0.004, ALONE.format(0.004), "delta leaves out that such keys are released"),
    ],
)
def test_a_claim_of_privacy(
    epsilon: float, delta: float, message: str, diagnosis: str | None
) -> None:
    more = f"[privacy]\nepsilon = {epsilon}\ndelta = {delta}\nqueries = 1"
    found = made(KeysPrivacyClaim, claimed(more=more, cells=40)).conclude().finding
    assert (found.message, found.diagnosis) == (message, diagnosis)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("privacy-audit", "a single key has no order"),
        ("independence", "the deployment has a single key"),
        ("noise-law", "the deployment releases keys, no numbers"),
        ("privacy-claim", "the claim has no [privacy]"),
    ],
)
def test_what_is_not_looked_at(check: str, message: str) -> None:
    claim = claimed(cells=1)
    assert claim.kind.checks.lacking(claim)[check].message == message
