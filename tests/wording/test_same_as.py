"""What is said of a deployment that claims the law of another, of made-up units."""

import tomllib
from typing import Any

import numpy as np

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


def made() -> Any:
    """A check that has seen 40 pairs of numbers, the target's ten times as large."""
    check = SameLaw(parse_claim(tomllib.loads(TEXT)), [1], 40)
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(40, 2))
    check.observe([[BothReplies(0, Reply({"x": 10 * a}), Reply({"x": b}))] for a, b in draws])
    return check


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
