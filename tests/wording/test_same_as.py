"""What is said of a deployment that claims the law of another, of made-up units."""

import tomllib
from typing import Any

import numpy as np
import pytest

from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.kinds.same_as.faults import Shown
from dpassay.verifiers.kinds.same_as.same_law import SameLaw
from dpassay.verifiers.kinds.same_as.units import BothReplies, Reply

TEXT = """
[mechanism]
name = "same-as"
reference = "old.py:aggregate"
[inputs]
values = [1]
"""


def seen(ours: Any, theirs: Any) -> Any:
    """A check that has seen pairs of numbers, the target's first."""
    check = SameLaw(parse_claim(tomllib.loads(TEXT)), [1], 40)
    pairs = zip(ours.tolist(), theirs.tolist(), strict=True)
    check.observe([[BothReplies(0, Reply({"x": a}), Reply({"x": b}))] for a, b in pairs])
    return check


def made() -> Any:
    """A check that has seen 40 pairs of numbers, the target's ten times as large."""
    draws = np.random.default_rng(0).normal(size=(40, 2))
    return seen(10 * draws[:, 0], draws[:, 1])


@pytest.mark.parametrize("swapped", [False, True])
def test_rounded_replies(swapped) -> None:
    """Of either side; catches a cause that names a spread or an equality that comes of it."""
    draws = np.random.default_rng(0).normal(size=(400, 2))
    both = [np.rint(draws[:, 0]), draws[:, 1].round(2)]
    found = seen(*both[:: -1 if swapped else 1]).fail_finding()
    sides = ("reference", "target") if swapped else ("target", "reference")
    assert found.diagnosis == (
        "the target follows another law: x of the {} is rounded to 1, and of the {} to 0.01".format(
            *sides
        )
    )
    assert (found.fields["step"], found.fields["step_of_reference"]) == (
        (0.01, 1.0) if swapped else (1.0, 0.01)
    )


def test_replies_that_come_again() -> None:
    """Every second one; catches a cause that names the parts that differ by chance."""
    draws = np.random.default_rng(0).normal(size=(400, 2))
    found = seen(np.repeat(draws[:200, 0], 2), draws[:, 1]).fail_finding()
    assert found.diagnosis == (
        "the target follows another law: in 0.5 of the calls the reply is the one before to the "
        "same input, and in 0 of the reference's"
    )
    assert found.fields["again"] == 0.5


def test_a_failure() -> None:
    found = made().fail_finding()
    assert found.message == (
        "replies of the target can be told from the reference's, by 40 pairs of calls"
    )
    factor = found.fields["factor"]
    assert found.diagnosis == (
        f"the target follows another law: `x` spreads {factor:.3g} times as far as the reference's"
    )


def test_a_pass() -> None:
    check = made()
    check.shown = [Shown("half the noise", 30), Shown("noise of .9", None)]
    assert check.pass_finding().message == (
        "40 pairs of calls do not tell the target's replies from the reference's; put into the "
        "reference's own, so many would have shown: half the noise (30); and not: noise of .9"
    )
