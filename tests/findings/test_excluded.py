"""An entry of what a pass excludes in words: its fault, its size, and how surely it is seen."""

import pytest

from dpassay.verifiers.findings.codes import codes
from dpassay.verifiers.findings.excluded import Excluded, sharpest
from dpassay.verifiers.findings.note import Fields


def entry(code: str, size: Fields, probability: float = 0.99, inputs: int = 4) -> Excluded:
    return Excluded(
        code=code,
        size=size,
        where=tuple(str(i) for i in range(inputs)),
        queries=100,
        probability=probability,
        false_alarm=1e-7,
        method="by hand",
    )


def test_a_phrase_has_the_fault_and_every_field_of_its_size() -> None:
    """Whatever the code; a probability is told where it is less than what is taken for sure."""
    size = {"total_variation": 0.02, "cells": 8, "on": "the call before", "whole": True}
    for code in codes():
        phrase = entry(code, size).as_text()
        assert phrase.startswith(f"{codes()[code].title}: ")
        for words in ("total variation 0.02", "cells 8", "on the call before", "whole True"):
            assert words in phrase
        assert "4 inputs" in phrase
        assert "0.99" not in phrase
    assert "0.9" in entry("scale-too-small", {}, probability=0.9).as_text()
    assert "input" not in entry("scale-too-small", {"factor": 0.9}, inputs=1).as_text()
    assert entry("scale-too-small", {}, inputs=0).as_text() == codes()["scale-too-small"].title


@pytest.mark.parametrize(
    ("probability", "words"), [(0.99, "0.99"), (1.0 - 2e-7, "1 - 2e-07"), (1.0, "1")]
)
def test_a_probability_near_one_is_told_by_what_it_lacks(probability: float, words: str) -> None:
    """Catches a probability that is rounded up to certainty."""
    assert entry("scale-too-small", {}, probability).sureness == words


def test_the_sharpest_entry_is_the_smallest_fault_of_the_first_ones_code() -> None:
    """Catches the smallest factor, which is the largest fault, and sizes of other faults."""
    low, near = (entry("scale-too-small", {"factor": factor}) for factor in (0.5, 0.95))
    assert sharpest([low, near]) == near
    high, closer = (entry("scale-too-large", {"factor": factor}) for factor in (1.2, 1.01))
    assert sharpest([high, near, closer]) == closer
    below, above = (entry("releases-off-centre", {"offset": offset}) for offset in (-0.3, 0.2))
    assert sharpest([below, above]) == above
    assert sharpest([below, closer]) == below
    assert sharpest([]) is None
