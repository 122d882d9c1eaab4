"""Real libraries through the gate for numbers, as they are installed beside the tests.

`python -m benchmarks.field` judges more of them, each in an environment of its own.
"""

from collections.abc import Callable
from typing import Any

import diffprivlib_targets  # noqa: F401 - which lets diffprivlib's mechanisms be imported
import numpy as np
import opendp.prelude as dp
import pytest
from checked_alone import claimed

from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

Aggregate = Callable[[Any, int], Any]

dp.enable_features("contrib")


def judged(aggregate: Aggregate, noise: str, name: str = "noisy-histogram") -> Report:
    """A report under a claim of four cells, or of one number."""
    cells = "cells = 4" if name == "noisy-histogram" else ""
    claim = claimed(f'name = "{name}"\nnoise = "{noise}"\nadjacency = "add-remove"\n{cells}')
    return verify(InProcessTarget(aggregate, release=claim.release), claim, seed=1)


def opendp(kind: str, scale: float) -> Aggregate:
    """opendp's noise of a kind on whole counts."""
    make = {"laplace": dp.m.make_laplace, "gaussian": dp.m.make_gaussian}[kind]
    metric = dp.l1_distance(T=int) if kind == "laplace" else dp.l2_distance(T=float)
    one = make(dp.vector_domain(dp.atom_domain(T=int)), metric, scale=scale)

    def aggregate(counts: Any, size: int) -> Any:
        # of one vector, in which the counts come again and again: each number has its own noise
        return np.reshape(one(np.tile(counts, size).tolist()), (size, len(counts)))

    return aggregate


def diffprivlib_laplace(epsilon: float) -> Aggregate:
    from diffprivlib.mechanisms import Laplace

    mechanism = Laplace(epsilon=epsilon, sensitivity=1)

    def aggregate(counts: Any, size: int) -> Any:
        return [[mechanism.randomise(float(n)) for n in counts] for _ in range(size)]

    return aggregate


def diffprivlib_count(length: int | None) -> Aggregate:
    """What `tools.count_nonzero` does: geometric noise, truncated at the array's length.

    length: of the array, or as many as are counted. The tools themselves need the library's
    models, which need another scikit-learn than ours.
    """
    from diffprivlib.mechanisms import GeometricTruncated

    def aggregate(counts: Any, size: int) -> Any:
        (count,) = (int(n) for n in counts)
        top = count if length is None else length
        mechanism = GeometricTruncated(epsilon=1.0, sensitivity=1, lower=0, upper=top)
        return [[mechanism.randomise(count)] for _ in range(size)]

    return aggregate


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("aggregate", "noise"),
    [
        (opendp("laplace", 1.0), "discrete-laplace:1"),
        pytest.param(
            *(opendp("gaussian", 2.0), "discrete-gaussian:2"),
            marks=pytest.mark.slow("another family of the same library"),
        ),
        pytest.param(
            *(diffprivlib_laplace(0.5), "laplace:2"),
            marks=pytest.mark.slow("another library; other claims of its noise fail below"),
        ),
    ],
    ids=["opendp-laplace", "opendp-gaussian", "diffprivlib-laplace"],
)
def test_a_library_does_what_it_documents(aggregate: Aggregate, noise: str) -> None:
    """They fail with probability 1e-6 at most."""
    report = judged(aggregate, noise)
    messages = [(c.id, c.message) for c in report.checks if c.verdict is not Verdict.PASS]
    assert report.verdict is Verdict.PASS, messages


@pytest.mark.parametrize(
    ("aggregate", "noise"),
    [
        (opendp("laplace", 0.9), "discrete-laplace:1"),
        (opendp("laplace", 1.0), "laplace:1;round"),
        (opendp("gaussian", 2.0), "discrete-laplace:1.45"),
        (diffprivlib_laplace(1.0), "laplace:2"),
        (diffprivlib_laplace(0.5), "gaussian:2.83"),
    ],
    ids=["scale", "rounded", "family", "half", "gaussian"],
)
@pytest.mark.slow("over half a second")
def test_another_claim_of_the_same_call_fails(aggregate: Aggregate, noise: str) -> None:
    """Noise of another law has another joint law too, which rarely shows first."""
    failed = {c.id for c in judged(aggregate, noise).checks if c.verdict is Verdict.FAIL}
    assert failed & {"noise-law", "noise-scale", "joint"}


@pytest.mark.slow("over half a second")
def test_a_count_truncated_at_the_arrays_length_is_not_geometric() -> None:
    """The array is as long as the count, as the documentation counts elements."""
    whole = judged(diffprivlib_count(None), "discrete-laplace:1;min=0", "noisy-count")
    assert {c.id for c in whole.checks if c.verdict is Verdict.FAIL} & {"noise-law", "noise-scale"}


@pytest.mark.slow("a whole pass of the library's geometric noise; of another it has one")
def test_a_count_truncated_at_a_public_length_that_none_comes_near_is_geometric() -> None:
    public = judged(diffprivlib_count(10**12), "discrete-laplace:1;min=0", "noisy-count")
    messages = [(c.id, c.message) for c in public.checks if c.verdict is not Verdict.PASS]
    assert public.verdict is Verdict.PASS, messages
