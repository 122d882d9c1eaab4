"""One run of `budget-enforcement`, as several files ask for it."""

from collections.abc import Callable
from typing import Any

import pytest

from dpassay.verifiers.kinds.labels.checks.budget_enforcement import LabelsBudgetEnforcement
from dpassay.verifiers.kinds.labels.claim import LabelsClaim
from dpassay.verifiers.targets import InProcessTarget, Target


@pytest.fixture
def enforced() -> Callable[..., LabelsBudgetEnforcement]:
    """The check once it has asked a deployment to the end of its budget."""

    def run(
        deployment: Any, made: LabelsClaim, reopen: Callable[[], Target] | None = None
    ) -> LabelsBudgetEnforcement:
        check = LabelsBudgetEnforcement(made, reopen)
        assert check.run(InProcessTarget(deployment)) is None
        return check

    return run
