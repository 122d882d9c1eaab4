"""Noise that is kept where a number does not change, asked by neighbouring inputs in turn."""

import tomllib
from typing import Any

import numpy as np
import pytest
from numeric_zoo.claims import BALL, COUNT, GRADIENT, HISTOGRAM, MEAN, SUM, WHOLE
from numeric_zoo.records import FAR, WHOLE_SUM

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.numbers.planning.bounds import Bounds
from dpassay.verifiers.kinds.numbers.planning.plan import TURNS, changed_in_one, turns
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget


def claim_of(text: str) -> Any:
    return parse_claim(tomllib.loads(f"[mechanism]\n{text}"))


class Kept:
    """Exact numbers are kept from call to call; noise too, where `reuses` says so.

    Of a number that is as it was, beside one that is not.
    """

    def __init__(self, of: Any, *, reuses: bool) -> None:
        self.of, self.reuses, self.rng = of, reuses, np.random.default_rng(3)
        self.exact: Any = None
        self.noise: Any = None

    def __call__(self, values: Any, size: int) -> Any:
        exact = np.asarray(self.of.exact(values))
        noise = self.of.noise.sample(np.zeros(exact.size), size, self.rng)
        changed = np.ones(1) if self.exact is None else np.abs(exact - self.exact) > 1e-9
        if self.reuses and changed.size > 1 and changed.sum() == 1:
            noise[0] = np.where(changed, noise[0], self.noise)
        self.exact, self.noise = exact, noise[-1]
        return exact + noise


def judged(text: str, *, reuses: bool) -> Any:
    claim = claim_of(text)
    target = InProcessTarget(Kept(claim.mechanism.law, reuses=reuses), release=claim.release)
    chosen = select(["fresh-noise"], of=claim.kind.checks.ids)
    return verify(target, claim, seed=1, selection=chosen)


@pytest.mark.parametrize("text", [HISTOGRAM, WHOLE, SUM])
def test_noise_of_numbers_that_did_not_change_is_found(text: str) -> None:
    """Catches releases of inputs that differ in all numbers, or in none."""
    found = next(c for c in judged(text, reuses=True).checks if c.id == "fresh-noise")
    assert found.verdict is Verdict.FAIL
    assert found.code == "noise-kept-for-unchanged"


@pytest.mark.parametrize("text", [HISTOGRAM, WHOLE, SUM])
def test_exact_numbers_may_be_kept(text: str) -> None:
    """With fresh noise on each; catches equal whole noise that is taken for kept."""
    found = next(c for c in judged(text, reuses=False).checks if c.id == "fresh-noise")
    assert found.verdict is not Verdict.FAIL


@pytest.mark.parametrize("text", [HISTOGRAM, SUM, WHOLE_SUM, FAR, MEAN, BALL, GRADIENT])
def test_one_number_alone_changes_within_the_bounds(text: str) -> None:
    """Catches a record beyond its bound, and a change of none or of all numbers."""
    claim = claim_of(text)
    plan = claim.inputs(1)
    typical = plan.inputs[0]
    other = changed_in_one(claim, typical)
    moved = np.flatnonzero(np.abs(other.exact - typical.exact) > 1e-9)
    assert moved.tolist() == [0]
    if claim.mechanism.takes == "counts":
        return
    bounds = Bounds.of(claim.mechanism)
    values = other.values if isinstance(other.values, list) else [other.values]
    rows = np.concatenate([np.reshape(each, (len(each), -1)) for each in values], axis=1)
    if bounds.order is None:
        assert (rows >= bounds.lower).all()
        assert (rows <= bounds.upper).all()
    else:
        assert (np.linalg.norm(rows, bounds.order, axis=1) <= bounds.upper).all()


def test_a_count_alone_and_a_run_of_few_are_not_asked_so() -> None:
    claim = claim_of(COUNT)
    assert turns(claim, claim.inputs(1)) == 0
    claim = claim_of(HISTOGRAM)
    assert turns(claim, claim.inputs(1)) == TURNS
    assert turns(claim, claim.inputs(1).in_part(0.5)) == 0
