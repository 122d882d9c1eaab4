"""Budgets in whole runs of the gate: restarts, refusals, and what is asked without an account."""

import textwrap

import numpy as np
import pytest
from runs import drawing_with, few_answers, result

from dpassay.reference import BudgetExhausted
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks.budget_enforcement import LabelsBudgetEnforcement
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.run.budget_check import NOT_RESTARTED
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget, TargetError


@pytest.fixture
def module(tmp_path):
    """A budgeted target in a file of its own, and one whose ledger is in memory."""
    source = """
        import numpy as np
        from dpassay.reference import BudgetExhausted, Gaussian, NoisyArgmax
        from dpassay.reference.accounting.ledger import Ledger

        gnmax = NoisyArgmax(Gaussian(10.0))
        ledger = Ledger({path!r}, gnmax, delta=1e-5, budget=1.0)

        class Kept:
            def sample(self, histogram, size):
                ledger.charge(size)
                return gnmax.sample(histogram, size)

            def spent(self, delta):
                return ledger.spent_at(delta)

        class InMemory:
            asked = 0

            def sample(self, histogram, size):
                if self.asked + size > 4:
                    raise BudgetExhausted("spent")
                self.asked += size
                return gnmax.sample(histogram, size)

            def spent(self, delta):
                return 0.5 + 0.1 * self.asked

        class Closed(InMemory):
            def sample(self, histogram, size):
                raise ValueError("closed on Saturdays")

        kept, in_memory, closed = Kept(), InMemory(), Closed()
    """
    path = tmp_path / "budgeted.py"
    path.write_text(textwrap.dedent(source).format(path=str(tmp_path / "ledger")))
    return path


def run(spec, **gate):
    target = drawing_with("gaussian:10")
    alone = select(["budget-enforcement"], of=SHARES)
    report = verify(target, few_answers(budget_target=spec, **gate), seed=0, selection=alone)
    return result(report, "budget-enforcement")


@pytest.mark.slow("asks budgets to their end; others are")
def test_a_restart_must_forget_nothing(module) -> None:
    """On a target of its own, by spec: a file remembers, memory does not."""
    assert run(f"{module}:kept").verdict is Verdict.PASS
    found = run(f"{module}:in_memory")
    assert found.verdict is Verdict.FAIL
    assert found.code == "account-lost-on-restart"


@pytest.mark.slow("over half a second")
def test_no_restart_is_held_against_a_budget_of_one_run(module) -> None:
    found = run(f"{module}:in_memory", lifetime="run")
    assert found.verdict is Verdict.PASS
    assert NOT_RESTARTED in found.message


@pytest.mark.slow("over half a second")
def test_a_refusal_is_neither_a_stop_nor_a_traceback(module) -> None:
    found = run(f"{module}:closed")
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert found.code == "input-refused"
    assert found.message.endswith("closed on Saturdays")


def test_without_an_account_there_is_no_budget_to_look_at() -> None:
    target = drawing_with("gaussian:10")
    lacking = LabelsBudgetEnforcement(few_answers()).run(target)
    assert lacking is not None
    assert lacking.code == "not-offered"


def test_exhaustion_in_the_statistical_checks_is_no_failure() -> None:
    def spent_at_once(histogram, size):
        raise BudgetExhausted("spent")

    report = verify(InProcessTarget(spent_at_once), few_answers(), seed=0)
    assert report.verdict is Verdict.INCONCLUSIVE


def test_an_error_that_speaks_of_a_budget_names_the_exception() -> None:
    """Whoever raises another exception is told which one ends a budget."""

    def ends(histogram, size):
        raise RuntimeError("budget exhausted")

    with pytest.raises(TargetError, match=r"raise dpassay\.reference\.BudgetExhausted"):
        InProcessTarget(ends).ask(np.array([1, 2, 3]), 1)
