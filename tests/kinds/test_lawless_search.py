"""Drawn pairs of a claim without a law: what they are, who gets draws, and what a run finds."""

import json
import tomllib
from typing import Any

import numpy as np
import pytest

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.lawless.halving import FIRST, all_draws, rounds
from dpassay.verifiers.kinds.lawless.pairs import Pair
from dpassay.verifiers.kinds.lawless.search import MOST, drawn_pairs
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

ROWS = "here = {rows = [3, 5, 8], unit = 'm'}\nthere = {rows = [3, 5, 8, 13], unit = 'm'}\n"


def claim_of(search: str, pair: str = ROWS) -> Any:
    text = f'search = "{search}"\n[mechanism]\nname = "any"\ncaching = false\n'
    text += f"[privacy]\nepsilon = 1.0\ndelta = 0\n[[pairs]]\n{pair}"
    return parse_claim(tomllib.loads(text))


def test_drawn_rows_differ_by_a_record_of_the_claim() -> None:
    """Catches a record that no pair has, a pair that is no neighbour, and one that is known."""
    claim = claim_of("rows")
    assert 5 <= len(claim.drawn) <= MOST
    seen = {json.dumps(sorted([[3, 5, 8], [3, 5, 8, 13]]))}
    for pair in claim.drawn:
        assert pair.here["unit"] == pair.there["unit"] == "m"
        here, there = pair.here["rows"], pair.there["rows"]
        assert len(there) == len(here) + 1
        left = list(there)
        for record in here:
            left.remove(record)
        assert len(left) == 1
        assert set(there) <= {3, 5, 8, 13}
        assert json.dumps(sorted([here, there])) not in seen
        seen.add(json.dumps(sorted([here, there])))
    assert any(pair.here["rows"] == [] for pair in claim.drawn)
    assert any(pair.there["rows"] == [3, 5, 8, 3] for pair in claim.drawn)


@pytest.mark.parametrize(
    ("form", "here", "there", "apart"),
    [
        ("rows", [1, 9, 4], [1, 9, 2], 1),
        ("histogram", [3, 0, 7], [3, 1, 7], 1),
        ("histogram", [3, 1, 7], [3, 2, 6], 2),
        ("vector", [0.0, 0.5, 1.0], [0.0, 1.0, 1.0], 0.5),
    ],
)
def test_drawn_neighbours_differ_as_those_of_the_claim(form, here, there, apart) -> None:
    drawn = drawn_pairs([Pair(here=here, there=there)], form)
    assert drawn
    for pair in drawn:
        assert len(pair.here) == len(pair.there) == 3
        if form == "rows":
            assert sum(a != b for a, b in zip(pair.here, pair.there, strict=True)) == 1
        else:
            moved = [abs(a - b) for a, b in zip(pair.here, pair.there, strict=True)]
            assert sum(moved) == pytest.approx(apart)
        if form == "histogram":
            assert min(pair.here + pair.there) >= 0


@pytest.mark.parametrize(
    ("search", "pair", "said"),
    [
        ("rows", "here = [1]\nthere = [1, 2, 3]\n", "a row more, or another in one place"),
        ("histogram", "here = [1, 2]\nthere = [1, 4]\n", "one more, or one that moved"),
        ("vector", "here = 'a'\nthere = 'b'\n", "two lists of as many numbers"),
        ("columns", ROWS, "search"),
    ],
)
def test_a_form_that_pairs_do_not_have_is_told(search, pair, said) -> None:
    with pytest.raises(ClaimError) as error:
        claim_of(search, pair)
    assert said in str(error.value)


@pytest.mark.parametrize("count", [1, 2, 7, 12])
@pytest.mark.parametrize("extent", [FIRST, 500, 4000])
def test_rounds_end_with_one_pair_or_with_enough_draws(count, extent) -> None:
    found = rounds(count, extent)
    assert found[0][0] == count
    assert found[-1][1] == extent
    assert all(draws >= FIRST for _, draws in found)
    assert all_draws(count, extent) <= extent * (2 + np.log2(count) / 2) + count * FIRST


def empty_is_bare(data: Any, size: int) -> list[float]:
    """A count whose noise is forgotten where there is one record at most."""
    rows = data["rows"]
    scale = 1.0 if len(rows) > 1 else 0.2
    return [float(len(rows) + rng.laplace(0.0, scale)) for _ in range(size)]


rng = np.random.default_rng(11)


def test_a_fault_of_other_inputs_is_found_by_a_drawn_pair() -> None:
    claim = claim_of("rows")
    report = verify(InProcessTarget(empty_is_bare, release=claim.release), claim, seed=2)
    assert report.verdict is Verdict.FAIL
    failed = next(check for check in report.checks if check.verdict is Verdict.FAIL)
    assert failed.code == "inputs-told-apart"
    assert str(failed.fields["name"]).startswith("drawn: none")
    assert float(str(failed.fields["refuted_epsilon"])) > 1.0


@pytest.mark.slow("over half a second")
def test_a_right_one_passes_with_drawn_pairs_and_what_is_refused_is_left_out() -> None:
    def right(data: Any, size: int) -> list[float]:
        if not data["rows"]:
            raise ValueError("no rows")
        return [float(len(data["rows"]) + rng.laplace()) for _ in range(size)]

    claim = claim_of("rows")
    target = InProcessTarget(right, release=claim.release)
    report = verify(target, claim, seed=2, queries=3_000)
    assert report.verdict is Verdict.PASS
    assert report.queries <= 3_000
    refused = [w for w in report.notes if w.code == "input-refused"]
    places = [place for place, pair in enumerate(claim.drawn, 2) if not pair.here["rows"]]
    assert [w.fields["pair"] for w in refused] == places
