"""No correct deployment is accused, whatever it claims: the reference under claims of all kinds.

Claims are drawn first and looked at afterwards, so that no target runs in a Hypothesis test body.
"""

import json
from typing import Any

import pytest
from hypothesis import strategies as st
from replay_zoo.reference import found_of

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.replay.search import ALL_REFUSED
from dpassay.verifiers.strategies import claims, examples

_FEW, _MANY = 12, 200
_SLOW = pytest.mark.slow("further claims of the same strategies")
_CLAIMS = [(_FEW, 8, 1), pytest.param(_MANY, 40, 2, marks=_SLOW)]
"""How many claims, how many pairs of each, and the seed of the claims."""

_GNMAX = {"name": "gnmax", "noise": "gaussian:4"}
_COUNTS = {"name": "noisy-histogram", "adjacency": "add-remove", "cells": 5}


def assert_not_accused(claim: Any, pairs: int, seed: int = 0) -> None:
    found = found_of(claim, pairs, seed)
    assert found.fault is None, (claim.summary, found.fault, found.pair)
    # a threshold that no histogram reaches leaves nothing to compare
    assert found.compared or found.unfrozen is ALL_REFUSED, (claim.summary, found.unfrozen)


@pytest.mark.parametrize(
    ("classes", "teachers"), [(10, 10), (10, 20), (10, 30), (20, 50), (100, 250), (2, 2), (2, 1)]
)
def test_few_votes_for_the_classes(classes, teachers) -> None:
    """Catches a path between histograms of two totals, which ran out of votes: IndexError."""
    claim = parse_claim({"mechanism": _GNMAX | {"classes": classes, "teachers": teachers}})
    for seed in range(3):
        assert_not_accused(claim, 20, seed)


@pytest.mark.parametrize("grid", [2, 4, 5, 0.3, 0.5])
def test_whole_numbers_are_rounded_to_steps_that_do_not_divide_one(grid) -> None:
    """Catches a count that goes to the next step, 4 further, held to the 1 by which it moved."""
    assert_not_accused(
        parse_claim({"mechanism": _COUNTS | {"noise": f"laplace:3;grid={grid}"}}), 40
    )


_WEIGHTS = {"weights": [[2, 1], [7, 3]]}


@pytest.mark.parametrize(
    ("form", "more"),
    [("histogram", {})] + [(f, m) for f in ("query", "votes", "one-hot") for m in ({}, _WEIGHTS)],
)
def test_inputs_are_those_of_the_file(form, more, tmp_path) -> None:
    """Catches histograms that are not in the file, of which no query is known: KeyError."""
    path, votes = tmp_path / "rows.jsonl", [[0] * 5 + [1] * 4, [2] * 6 + [0] * 3, [1] * 9]
    rows = [{"input": {"x": x}, "votes": each} for x, each in enumerate(votes)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    mechanism = _GNMAX | {"classes": 3, "teachers": 9} | more
    claim = parse_claim({"mechanism": mechanism, "inputs": {"form": form, "file": str(path)}})
    assert_not_accused(claim, 10)
    if form in ("votes", "one-hot"):  # of any histogram, or of teachers with weights
        assert_not_accused(parse_claim({"mechanism": mechanism, "inputs": {"form": form}}), 10)


@pytest.mark.parametrize(("many", "pairs", "seed"), _CLAIMS)
def test_no_correct_label_is_accused(many, pairs, seed) -> None:
    for place, claim in enumerate(examples(claims(), many, seed)):
        if claim.mechanism.sampled is None:
            assert_not_accused(claim, pairs, place)


@pytest.mark.parametrize(
    "bounds", [{"clip_norm": 1e290}, {"lower": -1e300, "upper": 1e300}], ids=["norm", "box"]
)
def test_bounds_near_the_largest_float(bounds) -> None:
    """Catches a norm whose squares overflow, and a whole number beyond the floats."""
    mechanism = {"name": "noisy-sum", "noise": "discrete-laplace:1", "adjacency": "add-remove"}
    claim = parse_claim({"mechanism": mechanism | {"dimensions": 1} | bounds})
    assert_not_accused(claim, 60)


@st.composite
def number_claims(draw: st.DrawFn) -> Any:
    """Claims of numbers, odd ones too; None where keys contradict each other."""
    names = ["noisy-histogram", "noisy-count", "noisy-sum", "noisy-mean", "noisy-gradient"]
    name = draw(st.sampled_from(names))
    family = draw(st.sampled_from(["laplace", "gaussian", "discrete-laplace", "discrete-gaussian"]))
    family = draw(st.sampled_from([family, family, "skellam", "binomial"]))
    grids = [";round", ";cut", ";grid=2", ";grid=5", ";grid=0.3", ";grid=2^-40", ";grid=1000"]
    shares = [";sum=2", ";shares=3/4"]
    rounded = grids if family in ("laplace", "gaussian") else shares
    parts = [
        f"{family}:{draw(st.sampled_from([1, 0.5, 3, 50]))}",
        draw(st.sampled_from(["", *rounded])),
        draw(st.sampled_from(["", ";min=0", ";min=-3.5"])),
        draw(st.sampled_from(["", ";max=12.3", ";max=100"])),
    ]
    keys: dict[str, Any] = {"name": name, "noise": "".join(parts)}
    keys["adjacency"] = draw(st.sampled_from(["add-remove", "replace-one"]))
    if draw(st.booleans()):
        keys |= {"unit": "user", "max_contributions": draw(st.sampled_from([1, 2, 10]))}
    if name == "noisy-histogram":
        keys["cells"] = draw(st.sampled_from([1, 2, 3, 20, 300]))
    if name in ("noisy-sum", "noisy-mean"):
        keys["dimensions"] = draw(st.sampled_from([1, 2, 20]))
        boxes = [(0, 1), (5, 6), (-7, -3), (0, 1e-9), (-1e12, 1e12), (-0.3, 2.5), (-1e300, 1e300)]
        lower, upper = map(float, draw(st.sampled_from(boxes)))
        norm = draw(st.sampled_from([1.0, 3.7, 1e-9, 1e9, 1e-300, 1e290]))
        ways = [{"lower": lower, "upper": upper}, {"clip_norm": norm}, {"clip_norm1": norm}]
        keys |= draw(st.sampled_from(ways))
    if name in ("noisy-mean", "noisy-gradient"):
        keys["divide_by"] = draw(st.sampled_from([1.0, 0.3, 100.0]))
    if name == "noisy-gradient":
        keys["shapes"] = draw(st.sampled_from([[[1]], [[2, 2], [2]], [[3], [1, 1, 1]]]))
        keys["clip_norm"] = draw(st.sampled_from([1.0, 0.1, 100.0]))
    try:
        return parse_claim({"mechanism": keys})
    except ClaimError:
        return None


@pytest.mark.parametrize(("many", "pairs", "seed"), _CLAIMS)
def test_no_correct_number_is_accused(many, pairs, seed) -> None:
    for place, claim in enumerate(examples(number_claims(), many, seed)):
        if claim is not None:
            assert_not_accused(claim, pairs, place)
