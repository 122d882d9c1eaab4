"""Budgets of deployments that release numbers, and the accounts they are held to."""

import math
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from costed import BALL, GAUSSIAN, REPLACED, concluded
from numeric_zoo.claims import COUNT, PRIVATE, SUM

from dpassay.reference import BudgetExhausted
from dpassay.reference.numbers.families import Gaussian
from dpassay.reference.numbers.moves import move_epsilon
from dpassay.verifiers.claims.open_target import in_process
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.numbers.checks.budget_enforcement import BudgetEnforcement
from dpassay.verifiers.kinds.numbers.checks.histogram_leakage import HistogramLeakage
from dpassay.verifiers.run import budget
from dpassay.verifiers.targets import InProcessTarget


class Budgeted:
    """Stops before `most` is spent by its own account, which says `times` the exact epsilon.

    at: the delta that it takes for the one it is asked for.
    """

    def __init__(
        self,
        most: float = 3.0,
        times: float = 1.0,
        free: str = "",
        at: Callable[[float], float] = float,
        delta: float = 1e-6,
    ) -> None:
        self.most, self.times, self.free, self.at = most, times, free, at
        self.answers, self.delta = 0, delta

    def _epsilon(self, answers: int, delta: float) -> float:
        return move_epsilon(Gaussian(3.0), math.sqrt(answers), delta) if answers else 0.0

    def sample(self, counts: Any, size: int) -> Any:
        answers = self.answers + size
        if self.free == "empty inputs" and not counts.any():
            answers = self.answers
        if self.times * self._epsilon(answers, self.delta) > self.most:
            raise BudgetExhausted
        self.answers = answers
        return np.zeros((size, counts.size))

    def spent(self, delta: float) -> float:
        return self.times * self._epsilon(self.answers, self.at(delta))


class Forgetful(Budgeted):
    """Says what it has spent of the last two answers alone."""

    def spent(self, delta: float) -> float:
        return self._epsilon(self.answers % 2 + self.answers // 3, delta)


class Prepaid(Budgeted):
    """Says from the start that all is spent, and answers a hundred times."""

    def spent(self, delta: float) -> float:
        return 30.0

    def sample(self, counts: Any, size: int) -> Any:
        self.answers += size
        if self.answers > 100:
            raise BudgetExhausted
        return np.zeros((size, counts.size))


class Slow(Budgeted):
    """Takes its time."""

    def sample(self, counts: Any, size: int) -> Any:
        time.sleep(0.05)
        return super().sample(counts, size)


class Unaccounted(Budgeted):
    spent = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("deployment", "verdict", "code", "fields"),
    [
        (Budgeted(), Verdict.PASS, None, {}),
        (Budgeted(times=2.0), Verdict.PASS, None, {}),
        (Budgeted(times=0.5), Verdict.FAIL, "account-too-low", {"spent": 0.723994}),
        (
            Budgeted(most=4.0),
            *(Verdict.FAIL, "budget-not-enforced", {"answers": 4, "spent": 3.09764}),
        ),
        (
            Budgeted(free="empty inputs"),
            *(Verdict.FAIL, "answers-not-charged", {"spent": 0.0, "cost": 1.44799}),
        ),
        (Budgeted(most=0.1), Verdict.INCONCLUSIVE, "budget-exhausted", {"spent": 0.0}),
        (Unaccounted(), Verdict.NOT_APPLICABLE, "not-offered", {}),
        (
            Budgeted(at=lambda _: 1e-6),
            *(Verdict.FAIL, "account-ignores-delta", {"spent": 1.44799, "delta": 1e-12}),
        ),
        (
            Budgeted(at=lambda delta: 1e-12 / delta),
            *(Verdict.FAIL, "account-rises-with-delta", {}),
        ),
        (Forgetful(), Verdict.FAIL, "account-falls", {}),
    ],
    ids=[
        *("exact", "double", "half", "late", "free", "spent", "unaccounted"),
        *("ignores delta", "rises with delta", "forgets"),
    ],
)
def test_budgets(
    deployment: Budgeted, verdict: Verdict, code: str | None, fields: dict[str, float]
) -> None:
    claim = claimed(GAUSSIAN + PRIVATE.format(3.0, 3))
    found = concluded(BudgetEnforcement, claim, in_process(deployment, claim))
    assert (found.verdict, found.finding.code) == (verdict, code), found.finding
    told = {name: found.finding.fields[name] for name in fields}
    assert told == pytest.approx(fields, rel=1e-5)
    if verdict is Verdict.PASS:  # by its own account, of the most that it gives
        answers, spent = (3, "2.641") if deployment.times == 1.0 else (1, "2.896")
        assert re.search(rf"\b{answers} answers?, with epsilon {spent}", found.finding.message)


class ForEachInput(Budgeted):
    """A budget of its own for inputs that have some part in common; `spent` says the largest.

    apart: of neighbours, in thirds of the scale of Gaussian noise.
    """

    def __init__(self, of: str, most: float, apart: float, width: int) -> None:
        super().__init__(most)
        self.of, self.apart, self.width = of, apart, width
        self.charged = dict[Any, int]()

    def sample(self, values: Any, size: int) -> Any:
        parts = {"contents": values.tobytes(), "records": len(values), "total": values.sum()}
        parts |= {"largest": int(values.argmax())}
        kept = parts.get(self.of)
        answers = self.charged.get(kept, 0) + size
        if move_epsilon(Gaussian(3.0), self.apart * math.sqrt(answers), 1e-6) > self.most:
            raise BudgetExhausted
        self.charged[kept] = answers
        self.answers = max(self.charged.values())
        return np.zeros((size, self.width))

    def spent(self, delta: float) -> float:
        if not self.answers:
            return 0.0
        return move_epsilon(Gaussian(3.0), self.apart * math.sqrt(self.answers), delta)


@pytest.mark.parametrize(
    ("text", "of", "verdict"),
    [
        (GAUSSIAN, "contents", Verdict.FAIL),
        (GAUSSIAN, "total", Verdict.FAIL),
        (GAUSSIAN, "largest", Verdict.FAIL),
        (GAUSSIAN, "all", Verdict.PASS),
        (REPLACED, "contents", Verdict.FAIL),
        (REPLACED, "all", Verdict.PASS),
        (BALL, "records", Verdict.FAIL),
        (BALL, "all", Verdict.PASS),
    ],
)
def test_budgets_of_several_inputs_add_up(text: str, of: str, verdict: Verdict) -> None:
    """A person may be in all inputs; catches answers that are counted for each input alone.

    Neighbours are 1, sqrt(2) and 1.5 thirds of the scale apart, each a claim of some answers.
    """
    apart, epsilon = {GAUSSIAN: (1.0, 3.0), REPLACED: (2.0**0.5, 4.3), BALL: (1.5, 5.0)}[text]
    claim = claimed(text + PRIVATE.format(epsilon, 3))
    deployment = ForEachInput(of, epsilon, apart, claim.mechanism.width)
    found = concluded(BudgetEnforcement, claim, in_process(deployment, claim))
    assert found.verdict is verdict, found.finding
    if verdict is Verdict.FAIL:
        assert "inputs like it" in found.finding.message
        assert found.finding.code == "budget-per-input"


@pytest.mark.parametrize("delta", [1e-16, 1e-20])
def test_an_account_of_a_tiny_delta_does_not_rise(delta: float) -> None:
    """Below 1e-14 a floor above the claimed delta would make every correct account rise."""
    claim = claimed(GAUSSIAN + PRIVATE.format(6.0, 3).replace("1e-6", f"{delta:g}"))
    assert claim.privacy is not None
    deployment = Budgeted(most=6.0, delta=delta)
    found = concluded(BudgetEnforcement, claim, in_process(deployment, claim))
    assert found.verdict is Verdict.PASS, found.finding
    assert deployment.answers > 0


class OfDivergences(Budgeted):
    """An account without an epsilon at delta 0, which it notices from so many answers on."""

    def __init__(self, says: float | None, since: int) -> None:
        super().__init__(most=math.inf)
        self.says, self.since = says, since

    def _epsilon(self, answers: int, delta: float) -> float:
        return 0.0

    def spent(self, delta: float) -> float:
        if delta == 0 and self.answers >= self.since:
            if self.says is None:
                raise ValueError("delta must be positive")
            return self.says
        return float(self.answers)


@pytest.mark.parametrize(
    ("says", "words"), [(None, "raised ValueError: delta"), (math.inf, "is infinite")]
)
@pytest.mark.parametrize("since", [0, 1])
def test_an_account_without_epsilon_at_delta_0_is_none(
    says: float | None, words: str, since: int
) -> None:
    """It ended the run as an error of the target's, or failed a claim of pure privacy."""
    claim = claimed(COUNT + PRIVATE.format(3.0, 3).replace("1e-6", "0"))
    assert claim.privacy is not None
    assert claim.privacy.delta == 0.0
    deployment = OfDivergences(says, since)
    found = concluded(BudgetEnforcement, claim, in_process(deployment, claim))
    assert (found.verdict, found.finding.code) == (Verdict.NOT_APPLICABLE, "not-offered")
    assert words in found.finding.message
    with_delta = claimed(COUNT + PRIVATE.format(3.0, 3))
    judged = concluded(
        BudgetEnforcement, with_delta, in_process(OfDivergences(says, 0), with_delta)
    )
    assert judged.verdict is Verdict.FAIL  # it has no end, and says so where delta is above 0


PLAIN = """
from dpassay.reference import BudgetExhausted
class Deployment:
    n = 0
    def sample(self, counts, size):
        if self.n + size > {most}:
            raise BudgetExhausted
        self.n += size
        return [counts] * size
{more}
target = Deployment()
"""
SAID = """
    def spent(self, delta):
        return [0, 1.449, 2.0885, 2.6412][self.n] if delta >= 1e-6 else float("inf")
"""


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("most", "more", "code", "fields"),
    [
        (9, "", "budget-not-enforced", {"answers": 4, "cost": 3.09764, "epsilon": 3.0}),
        (3, SAID, "account-lost-on-restart", {"before": 2.6412, "after": 0.0}),
    ],
)
def test_another_instance_may_have_the_budget(
    tmp_path: Path, most: int, more: str, code: str, fields: dict[str, float]
) -> None:
    """By a proof, without an account: 4 answers cost 3.098. And a new start must forget nothing."""
    path = tmp_path / "budgeted.py"
    path.write_text(PLAIN.format(most=most, more=more))
    gate = f'[gate]\nbudget_target = "{path}:target"'
    claim = claimed(GAUSSIAN + PRIVATE.format(3.0, 3), gate)
    other = InProcessTarget(lambda counts, size: [counts] * size, release=claim.release)
    found = concluded(BudgetEnforcement, claim, other)
    assert (found.verdict, found.finding.code) == (Verdict.FAIL, code)
    assert found.finding.fields == pytest.approx(fields, rel=1e-5)


IN_TURN = """
from dpassay.reference import BudgetExhausted
class Deployment:
    calls, left = 0, [{each}] * {workers}
    def sample(self, counts, size):
        self.calls += 1
        if self.left[self.calls % {workers}] < size:
            raise BudgetExhausted
        self.left[self.calls % {workers}] -= size
        return [counts] * size
target = Deployment()
"""


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_an_account_for_each_worker_is_the_cause(tmp_path: Path, workers: int) -> None:
    """94 answers cost 20. Catches a count that ends at the violation, at 95 answers or few more."""
    path = tmp_path / "workers.py"
    path.write_text(IN_TURN.format(each=94, workers=workers))
    gate = f'[gate]\nbudget_target = "{path}:target"\nlifetime = "run"'
    claim = claimed(GAUSSIAN + PRIVATE.format(20.0, 94), gate)
    other = InProcessTarget(lambda counts, size: [counts] * size, release=claim.release)
    found = concluded(BudgetEnforcement, claim, other)
    if workers == 1:
        assert (found.verdict, found.finding.warnings) == (Verdict.PASS, ())
        return
    assert (found.verdict, found.finding.code) == (Verdict.FAIL, "account-for-each-worker")
    told = found.finding.fields
    assert (told["accounts"], told["given"]) == (workers, 94 * workers)
    assert told["answers"] <= 97
    assert told["cost"] > told["epsilon"]


def test_more_answers_than_claimed_are_a_warning_where_they_cost_no_more() -> None:
    """94 answers cost 19.99 of 20: no fault of an exact account, and more than the claim names.

    Some of them are to other inputs, whose cost is not added: catches a figure of all 94.
    """
    claim = claimed(GAUSSIAN + PRIVATE.format(20.0, 50))
    found = concluded(BudgetEnforcement, claim, in_process(Budgeted(20.0), claim))
    assert found.verdict is Verdict.PASS
    (noted,) = found.finding.warnings
    assert (noted.code, noted.fields["answers"], noted.fields["allowed"]) == (
        "many-answers",
        94,
        50,
    )
    few, all_of_them = (move_epsilon(Gaussian(3.0), math.sqrt(k), 1e-6) for k in (85, 94))
    assert few < noted.fields["cost"] < all_of_them < 20.0


def test_an_account_that_stands_still_is_a_warning() -> None:
    claim = claimed(GAUSSIAN + PRIVATE.format(30.0, 100))
    found = concluded(BudgetEnforcement, claim, in_process(Prepaid(), claim))
    (noted,) = found.finding.warnings
    assert (noted.code, noted.fields["spent"]) == ("account-stands-still", 30.0)
    assert noted.fields["still"] == noted.fields["answers"] == found.queries


def test_a_budget_that_no_answers_exceed_is_not_looked_at() -> None:
    claim = claimed(COUNT.replace("discrete-laplace:1", "gaussian:1e9") + PRIVATE.format(3.0, 3))
    found = concluded(BudgetEnforcement, claim, in_process(Budgeted(), claim))
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert found.finding.code == "cannot-be-seen-here"


def test_a_budget_whose_costliest_neighbour_is_clamped_is_not_looked_at() -> None:
    text = SUM.replace("-1.0", "-2.0").replace("laplace:2", "laplace:2;min=-9")
    reason = BudgetEnforcement.not_applicable_to(claimed(text + PRIVATE.format(3.0, 3)))
    assert reason is not None
    assert reason.code == "farthest-neighbour-clamped"


def test_a_refusal_of_the_costliest_input_is_no_verdict() -> None:
    def refuses(counts: Any, size: int) -> Any:
        raise ValueError("counts from 10 on")

    deployment = Budgeted()
    deployment.sample = refuses  # type: ignore[method-assign]
    claim = claimed(GAUSSIAN + PRIVATE.format(3.0, 3))
    found = concluded(BudgetEnforcement, claim, in_process(deployment, claim))
    assert (found.verdict, found.finding.code) == (Verdict.NOT_APPLICABLE, "input-refused")


def test_one_that_does_not_stop_in_time_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "SECONDS", 0.02)
    claim = claimed(GAUSSIAN + PRIVATE.format(3.0, 3))
    found = concluded(BudgetEnforcement, claim, in_process(Slow(), claim))
    assert (found.verdict, found.finding.code) == (Verdict.INCONCLUSIVE, "out-of-time")


@pytest.mark.parametrize(
    ("limit", "queries", "verdict"),
    [(0.0, 400, Verdict.PASS), (0.9, 400, Verdict.FAIL), (0.9, 20, Verdict.PASS)],
)
def test_averages_that_read_too_much_fail_where_a_limit_is_set(
    limit: float, queries: int, verdict: Verdict
) -> None:
    """400 releases are 0.15 off, which reads 99.9 % of the counts; 20 are 0.67 off."""
    claim = claimed(GAUSSIAN + PRIVATE.format(50.0, queries), f"[gate]\nmax_recoverable = {limit}")
    found = HistogramLeakage(claim, claim.inputs(0), 0).conclude()
    assert found.verdict is verdict
    noted = [note.code for note in found.finding.warnings]
    assert noted == (["average-reads-numbers"] if limit == 0.0 else [])
    code = "recoverable-above-limit" if verdict is Verdict.FAIL else None
    assert found.finding.code == code
    told = found.finding.warnings[0] if noted else found.finding
    if queries == 400:
        assert told.fields["error"] == pytest.approx(0.15, rel=1e-4)
        assert told.fields["share"] == pytest.approx(0.999, abs=2e-4)
