"""Deployments that release the keys of a thresholded histogram, and the order of these."""

import contextlib
import re
import tomllib
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from released_keys import LAW, NOISES, RNG, Noisy, claimed, correct, failed, judged, scaled

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
from dpassay.verifiers.targets.process import ProcessTarget

# -- deployments that release the keys of a thresholded histogram: the gate, its wagers, its power


@pytest.mark.parametrize(
    "noise",
    [
        pytest.param(
            n, marks=[] if n in (NOISES[0], NOISES[-1]) else pytest.mark.slow("whole runs")
        )
        for n in NOISES
    ],
)
@pytest.mark.slow("over half a second")
def test_a_correct_one_passes(noise: str) -> None:
    """A correct one fails with probability 1e-6 at most."""
    report = judged(correct(noise), claimed(noise))
    assert report.verdict is Verdict.PASS, [(c.id, c.message) for c in report.checks]
    assert {c.id for c in report.checks} > {"partition-release", "noise-law", "privacy-claim"}


@pytest.mark.parametrize("cells", [50, 100_000])
def test_a_call_never_asks_for_more_keys_than_memory_holds(cells: int) -> None:
    """Of 100,000 keys a call asked for as many releases, 10^10 keys at once."""
    plan = claimed(cells=cells).inputs(0)
    sizes = [size for _, size in islice(plan.calls(0), 200)]
    assert min(sizes) >= 1
    assert max(sizes) * cells <= 1 << 21


@pytest.mark.slow("over half a second")
def test_a_correct_one_of_users_passes_in_calls_of_one() -> None:
    """Where a call may ask for one release alone, replies are gathered as they come."""
    more = 'unit = "user"\nmax_contributions = 3\n[gate]\n'
    claim = claimed(
        more=f"{more}largest_call = 1\nmax_queries = 8000\nsmallest_effect = 0.1\ntolerance = 0.2"
    )
    report = judged(correct("discrete-laplace:1"), claim)
    assert report.verdict is Verdict.PASS, [(c.id, c.message) for c in report.checks]


def shared(counts: Any, size: int) -> Any:
    """One draw for all keys."""
    return counts + LAW.sample(np.zeros(1), size, RNG)


def anew(counts: Any, size: int) -> Any:
    """The same noise in every call."""
    return LAW.sample(counts, size, np.random.default_rng(0))


def repeated(counts: Any, size: int) -> Any:
    """Every other release as the one before."""
    return np.repeat(LAW.sample(counts, (size + 1) // 2, RNG), 2, axis=0)[:size]


def once_per_call(counts: Any, size: int) -> Any:
    """One draw of every key's noise for all releases of a call."""
    return np.repeat(LAW.sample(counts, 1, RNG), size, axis=0)


def some_bare(counts: Any, size: int) -> Any:
    """Keys from the fiftieth on without noise."""
    found = LAW.sample(counts, size, RNG)
    found[:, 50:] = counts[50:]
    return found


AGAIN = pytest.mark.slow("other rates by the same check are wrong")


@pytest.mark.parametrize(
    ("noisy", "threshold", "check"),
    [
        pytest.param(scaled(0.5), 6.0, "partition-release", marks=AGAIN),
        (scaled(0.9), 6.0, "partition-release"),
        (scaled(1.1), 6.0, "partition-release"),
        (correct("discrete-laplace:1"), 5.0, "partition-release"),  # opendp #2922: an atom more
        pytest.param(
            correct("discrete-laplace:1"), 7.0, "partition-release", marks=AGAIN
        ),  # strictly above
        (some_bare, 6.0, "partition-release"),
        (shared, 6.0, "independence"),
        (anew, 6.0, "fresh-noise"),
        (repeated, 6.0, "fresh-noise"),
        (once_per_call, 6.0, "partition-release"),
    ],
)
@pytest.mark.slow("over half a second")
def test_a_broken_one_fails(noisy: Noisy, threshold: float, check: str) -> None:
    assert check in failed(judged(noisy, claimed(), threshold))


def test_an_empty_key_is_a_proof() -> None:
    """A single one refutes, whatever the evidence; it is told as such."""
    report = judged(correct("discrete-laplace:3"), claimed("discrete-laplace:3"), empty=True)
    found = next(check for check in report.checks if check.id == "partition-release")
    assert found.verdict is Verdict.FAIL
    assert (found.code, found.fields["count"]) == ("empty-partition-released", 0.0)


@pytest.mark.slow("over half a second")
def test_a_pass_says_which_rate_of_empty_keys_would_have_shown() -> None:
    """A single one refutes, so that a rate r shows in n draws but for (1 - r)^n of runs."""
    report = judged(correct("discrete-laplace:1"), claimed())
    found = next(check for check in report.checks if check.id == "partition-release")
    told = re.search(r"none of ([0-9,]+)[^0-9]+(\S+) ", found.message)
    assert told is not None, found.message
    draws, rate = int(told[1].replace(",", "")), float(told[2])
    assert (1.0 - rate) ** draws == pytest.approx(0.01, rel=0.3)  # of two digits of the rate
    assert draws > 10_000


@pytest.mark.parametrize("reply", [[[{"key": 1}]], [[{"key": 9}]], [{"key": 1}], [[1]], "none"])
def test_a_reply_of_another_form_is_an_error(reply: Any) -> None:
    claim = claimed(cells=5)
    target = InProcessTarget(lambda counts, size: reply, release=claim.release)
    report = verify(target, claim, seed=1)
    assert report.verdict is Verdict.ERROR
    assert '{"key": x}' in report.checks[0].message


@pytest.mark.slow("over half a second")
def test_a_count_beside_a_key_is_an_error(tmp_path: Path) -> None:
    """It may be exact, and was read over in silence; over a process too."""
    reply = [[{"key": 1, "count": 17}]]
    claim = claimed(cells=5)
    (tmp_path / "beside.py").write_text(
        f"def aggregate(counts, size):\n    return {reply} * size\n"
    )
    process = ProcessTarget.python(f"{tmp_path}/beside.py:aggregate", 60.0, release=claim.release)
    held = InProcessTarget(lambda counts, size: reply * size, release=claim.release)
    with contextlib.closing(process):
        for target in (process, held):
            report = verify(target, claim, seed=1)
            assert report.verdict is Verdict.ERROR
            said = report.checks[0].message
            assert "count beside" in said
            assert "place 0" in said


# -- the order of keys in a reply: that of exact counts gives them away, of noisy ones not


SCALE = 2.0


def ordered_claim(
    adjacency: str = "add-remove", cells: int = 12, epsilon: float = 0.5
) -> NumbersClaim:
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
    found = audited(ORDERS[name], ordered_claim(adjacency, epsilon=1.0))
    assert found.verdict is Verdict.FAIL
    assert found.code == "order-tells-counts"
    assert found.fields["often"] == 1.0
    assert found.fields["rarely"] == 0.0
    assert found.queries <= 4_300, "a pair that tells ends within 300"


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("name", ["noisy counts", "keys"])
@pytest.mark.quick_cases(1)
def test_an_order_that_is_private_passes(name: str, adjacency: str) -> None:
    """The order of noisy counts costs no more than they do: 1 / b, or 2 / b of replaced records."""
    epsilon = 0.5 if adjacency == "add-remove" else 1.0
    found = audited(ORDERS[name], ordered_claim(adjacency, epsilon=epsilon))
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
    lacking = ordered_claim(cells=1).kind.checks.lacking(ordered_claim(cells=1))
    alone = ("privacy-audit", "independence")
    assert [lacking[check].code for check in alone] == ["single-value", "single-value"]
