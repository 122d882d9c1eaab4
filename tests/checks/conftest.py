"""One run of `budget-enforcement`, as several files ask for it."""

import pytest

from dpassay.verifiers.checks import BudgetEnforcement
from dpassay.verifiers.targets import InProcessTarget


@pytest.fixture
def enforced():
    """The check once it has asked a deployment to the end of its budget."""

    def run(deployment, made, reopen=None):
        check = BudgetEnforcement(made, reopen)
        assert check.run(InProcessTarget(deployment)) is None
        return check

    return run
