"""`benchmarks.inference --published`: fewer teachers, and several people of one kind."""

from importlib import import_module

import numpy as np
import pytest

from dpassay.attacks.inference import measures
from dpassay.attacks.inference.attribute import disagreement

published = import_module("benchmarks.inference.published")

RNG = np.random.default_rng(3)
HOLDER = np.arange(400) < 100
FIRST = np.where(HOLDER, RNG.integers(120, 250, 400), RNG.integers(150, 251, 400))
VOTES = np.column_stack([FIRST, 250 - FIRST])
AREA = measures.auc(disagreement(VOTES), HOLDER).value


def test_all_teachers_are_the_votes_themselves_and_few_say_less() -> None:
    """Catches votes that are drawn with replacement: all of them would not be the histogram."""
    everybody = published.of_teachers(VOTES, HOLDER, 250)
    assert everybody["value"] == pytest.approx(AREA, abs=1e-12)
    assert everybody["lost"]["value"] == pytest.approx(0.0, abs=1e-12)
    few = published.of_teachers(VOTES, HOLDER, 3)
    assert few["lost"]["value"] == pytest.approx(AREA - few["value"], abs=1e-12)
    assert few["lost"]["low"] > 0.0


@pytest.mark.slow("over half a second")
def test_one_person_alone_is_the_area_and_several_say_more() -> None:
    """Catches kinds that are mixed within a set, which would tell no more than one person."""
    alone, several = (published.of_several(VOTES, HOLDER, count) for count in (1, 10))
    assert alone["value"] == pytest.approx(AREA, abs=0.005)  # 400,000 pairs: five deviations
    assert alone["low"] < AREA < alone["high"]
    assert several["low"] > alone["value"]


@pytest.mark.slow("over half a second")
def test_people_alike_are_not_told_apart_by_any_number() -> None:
    same = published.of_several(np.full((400, 2), 125), HOLDER, 20)
    assert (same["value"], same["low"], same["high"]) == (0.5, 0.5, 0.5)
