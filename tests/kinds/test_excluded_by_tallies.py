"""What a pass of a tally excludes: the same record in a plan and in a report."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from runs import number, result
from scipy.stats import binom

pytest.importorskip("cryptography", reason="needs the extra `tally`")

from tally_zoo.shelf import ADDED, FIVE, deployed, entry

from dpassay.verifiers.findings.codes import codes
from dpassay.verifiers.findings.excluded import Excluded
from dpassay.verifiers.findings.note import Note
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.keys.evidence.released import CORRELATIONS, seen_correlation
from dpassay.verifiers.kinds.numbers.planned import planned_numbers
from dpassay.verifiers.kinds.tally.checks.recovery import Recovery
from dpassay.verifiers.kinds.tally.checks.wrap_around import WrapAround
from dpassay.verifiers.kinds.tally.evidence.masked import Keys
from dpassay.verifiers.kinds.tally.registry import CHECKS
from dpassay.verifiers.run.request import PlanRequest
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

OWN = ["mask-uniformity", "wrap-around", "recovery"]
CHOSEN = select(OWN, of=CHECKS.ids)
CLAIM = entry("five", FIVE, deployed).claim
QUERIES = 300  # of which half go to these checks


def foreseen() -> dict[str, tuple[Excluded, ...]]:
    return dict(planned_numbers(CLAIM, PlanRequest(QUERIES, 0, (), CHOSEN)).excluded)


def size(one: Excluded, name: str) -> float:
    return number(Note(one.code, "", one.size), name)


def run(changed: Callable[[Any, Any], Any] = lambda _, found: found) -> Report:
    """A report on a correct deployment, whose rounds are changed: given what was asked."""
    rounds = deployed(CLAIM, np.random.default_rng([1, 77]))

    def answered(values: Any, size: int) -> Any:
        return [changed(values, found) for found in rounds(values, size)]

    return verify(
        InProcessTarget(answered, release=CLAIM.release),
        CLAIM,
        queries=QUERIES,
        seed=0,
        selection=CHOSEN,
    )


@cache
def passed() -> Report:
    return run()


@pytest.mark.slow("over half a second")
def test_a_report_has_what_its_plan_foresaw_to_the_digit() -> None:
    """Catches a record of the rounds that were answered, or of the evidence of their masks."""
    planned = foreseen()
    for check in OWN:
        found = result(passed(), check)
        assert found.verdict is Verdict.PASS, found.message
        assert found.excludes == planned[check] != ()
        for one in found.excludes:
            assert one.code in codes()
            assert 0.99 <= one.probability < 1.0
            assert one.false_alarm == CHECKS.shares[check] * CLAIM.gate.false_alarm
    told = {one.code for one in planned["mask-uniformity"]}
    assert {"mask-missing", "mask-kept-across-rounds", "keys-repeat"} <= told


@pytest.mark.slow("over half a second")
def test_what_is_not_shown_falls_out() -> None:
    """Catches masks that a target never shows, and keys: by what rounds have, not what is in it."""
    whole = foreseen()["mask-uniformity"]
    of_keys, of_masks = (
        result(run(without), "mask-uniformity").excludes
        for without in (lambda _, found: {**found, "sent": [None] * 5}, _without_keys)
    )
    assert {one.code for one in of_keys} == {"keys-repeat"}
    assert of_masks == tuple(one for one in whole if one.code != "keys-repeat")


def _without_keys(_: Any, found: Any) -> Any:
    return {what: of for what, of in found.items() if what != "keys"}


@pytest.mark.slow("over half a second")
def test_rounds_that_are_refused_fall_out() -> None:
    """Catches a record of all rounds with dropouts: who leaves after its values is refused."""

    def strict(values: Any, found: Any) -> Any:
        if 3 in list(values[1]):
            raise ValueError("nobody leaves so late")
        return found

    whole, fewer = foreseen()["recovery"], result(run(strict), "recovery").excludes
    assert [one.size["present"] for one in whole] == [4, 5]
    assert fewer == whole[:1]  # five shares are there only in the rounds that are refused


@pytest.mark.slow("over half a second")
def test_only_a_pass_excludes() -> None:
    def moved(values: Any, found: Any) -> Any:
        return found | {"tally": [n + 40 for n in found["tally"]]}

    report = run(moved)
    assert report.verdict is Verdict.FAIL
    for found in report.checks:
        assert found.verdict is Verdict.PASS or found.excludes == ()


def test_fewer_rounds_exclude_less() -> None:
    """Catches counts that are ignored; the rounds of recovery are those that it asks for."""
    few = replace(CLAIM.inputs(0), share=0.2)
    one, other = (Recovery(CLAIM, plan, 0) for plan in (CLAIM.inputs(0), few))
    for check in (one, other):
        assert sum(found.queries for found in check.excluded) == check.rounds * 16
    for more, less in zip(one.excluded, other.excluded, strict=True):
        ratio = size(less, "total_variation") / size(more, "total_variation")
        assert 2.0 < ratio < 2.4  # the root of a fifth
    wrap = (WrapAround(CLAIM, plan, 0).excluded for plan in (CLAIM.inputs(0), few))
    (shift, *_), (longer, *_) = wrap
    assert shift.queries > longer.queries
    assert size(shift, "shift") < size(longer, "shift")


def test_so_few_keys_repeat_as_often_as_told() -> None:
    """Draws keys of so many states: catches pairs of keys that are counted twice, or once less."""
    (found,) = (one for one in foreseen()["mask-uniformity"] if one.code == "keys-repeat")
    states, rounds = int(size(found, "states")), found.queries // 5
    rng = np.random.default_rng(1)

    def repeats(states: int) -> bool:
        keys = Keys()
        drawn = rng.integers(states, size=(rounds, 5)).astype(str).tolist()
        found = [keys.repeated(dict(enumerate(row))) for row in drawn]
        return any(one is not None for one in found)

    # of 300 runs 297 are expected, with a deviation of 1.7; at four times the states, 205
    assert sum(repeats(states) for _ in range(300)) > 285
    assert sum(repeats(4 * states) for _ in range(300)) < 260


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("text", [FIVE, ADDED])
def test_tallies_off_so_far_are_seen_as_often_as_told(text: str) -> None:
    """Of 60 runs each, in one of the inputs; a seed is fixed, so that it never flakes."""
    claim, rng = entry("", text, deployed).claim, np.random.default_rng(2)
    shift = size(WrapAround(claim, claim.inputs(0), 0).excluded[1], "shift")
    hits = 0
    for _ in range(60):
        check = WrapAround(claim, claim.inputs(0), 0)
        for place in range(len(check.inputs)):
            family = claim.mechanism.added.family
            off = family.sample(rng, (check.turns * 16,)).astype(float)
            check.evidence.observe(place, off + (shift if place == 3 else 0.0))
        hits += check.evidence.log_e_value >= check.log_threshold
    assert hits >= 56


@pytest.mark.parametrize("fours", [120, 3_000])
def test_a_correlation_of_keys_is_seen_as_often_as_told(fours: int) -> None:
    """By the binomial law of pairs that are alike: catches a wager on another correlation."""
    nats, pairs = 18.0, 4 * fours
    seen = seen_correlation(fours, nats)
    assert seen is not None

    def often(true: float) -> float:
        most = 0.0
        for wagered in CORRELATIONS[CORRELATIONS > 0]:
            alike = np.arange(pairs + 1)
            gained = alike * math.log1p(wagered) + (pairs - alike) * math.log1p(-wagered)
            least = int(np.argmax(gained >= nats + math.log(CORRELATIONS.size)))
            most = max(most, float(binom.sf(least - 1, pairs, 0.5 * (1.0 + true))))
        return most

    assert often(seen) > 0.985
    assert often(0.8 * seen) < 0.95
