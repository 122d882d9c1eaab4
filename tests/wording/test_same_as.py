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


def claim_of(inputs: int) -> Any:
    """A claim with so many inputs."""
    return parse_claim(tomllib.loads(TEXT.replace("[1]", str(list(range(inputs))))))


def seen(ours: Any, theirs: Any, inputs: int = 1) -> Any:
    """A check that has seen pairs of numbers, the target's first, the inputs in turn."""
    check = SameLaw(claim_of(inputs), list(range(inputs)), 40)
    pairs = enumerate(zip(ours.tolist(), theirs.tolist(), strict=True))
    check.observe(
        [[BothReplies(k % inputs, Reply({"x": a}), Reply({"x": b}))] for k, (a, b) in pairs]
    )
    return check


def made() -> Any:
    """A check that has seen 40 pairs of numbers, the target's ten times as large."""
    draws = np.random.default_rng(0).normal(size=(40, 2))
    return seen(10 * draws[:, 0], draws[:, 1])


@pytest.mark.parametrize("swapped", [False, True])
def test_rounded_replies(swapped) -> None:
    """Of either side; catches a cause that names a spread or an equality that comes of it."""
    draws = 10 * np.random.default_rng(0).normal(size=(400, 2))
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


@pytest.mark.parametrize("kept", [[103], [100, 110]])
@pytest.mark.parametrize("swapped", [False, True])
def test_kept_answers_are_no_rounding(kept, swapped) -> None:
    """Whole numbers beside others; catches a step that is read off one value, or off two."""
    drawn = np.random.default_rng(0).integers(60, 141, 400)
    both = [np.resize(kept, 400), drawn]
    ours, theirs = both[:: -1 if swapped else 1]
    found = seen(ours, theirs, len(kept)).fail_finding()
    assert "is rounded" not in found.diagnosis
    assert "the reply is the one before to the same input" in found.diagnosis


def of_cells(ours: Any, theirs: Any, inputs: int = 1) -> Any:
    """What is said of pairs of lists of numbers (n, cells), the inputs in turn."""
    check = SameLaw(claim_of(inputs), list(range(inputs)), 40)
    pairs = enumerate(zip(ours.tolist(), theirs.tolist(), strict=True))
    units = [[BothReplies(k % inputs, Reply(a), Reply(b))] for k, (a, b) in pairs]
    for start in range(0, len(units), 100):  # evidence of an input comes of later ones
        check.observe(units[start : start + 100])
    return check.fail_finding()


def test_five_rounded_numbers() -> None:
    """Of which whole replies never come again; catches a failure that names no difference."""
    draws = 4 * np.random.default_rng(0).laplace(size=(2, 400, 5))
    assert (
        "is rounded to 1, and of the reference not"
        in of_cells(np.rint(draws[0]), draws[1]).diagnosis
    )


def test_bounded_numbers_come_again() -> None:
    """A quarter of them lies at the bound, which is no rounding."""
    draws = np.random.default_rng(0).normal(size=(2, 400, 5))
    draws[0] = np.where(np.abs(draws[0]) < 0.3, 0.0, draws[0])
    told = of_cells(draws[0], draws[1])
    assert "comes again on the same input more often than the reference's" in told.diagnosis
    assert told.fields["again"] == pytest.approx(0.236, abs=0.08)


def test_an_input_that_alone_shows_it_is_named() -> None:
    """A number without noise on the last of three inputs; catches a failure that names none."""
    draws = np.random.default_rng(0).normal(size=(2, 600, 5))
    draws[0, 2::3, 4] = 0.0
    told = of_cells(draws[0], draws[1], inputs=3)
    assert told.diagnosis.endswith(", on 2, which alone of the inputs shows it")
    assert told.fields["input"] == "2"


def test_no_input_is_named_where_all_show_it() -> None:
    draws = np.random.default_rng(0).normal(size=(2, 600, 5))
    assert "input" not in of_cells(draws[0] / 2, draws[1], inputs=3).fields


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
        "reference's own answers, so many would have shown: half the noise (30); and not: noise of "
        ".9; noise that comes again after a start is looked for where lives are named"
    )
