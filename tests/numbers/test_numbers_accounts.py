"""What deployments of numbers say of their costs, over the three transports, and budgets."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from costed import BALL, BOX, GAUSSIAN, LAPLACE, REPLACED, concluded
from http_server import Server
from numeric_zoo.claims import GRADIENT, PRIVATE
from published_costs import renyi_cost

from dpassay.verifiers.claims.open_target import in_process, open_claimed
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.numbers.checks.accountant_soundness import AccountantSoundness
from dpassay.verifiers.kinds.numbers.checks.budget_enforcement import BudgetEnforcement
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.targets import InProcessTarget


class Charging:
    """Charges so many times what the accounting of the claim does."""

    def __init__(self, claim: NumbersClaim, times: float) -> None:
        self.claim, self.times = claim, times

    def sample(self, values: Any, size: int) -> Any:
        return np.zeros((size, self.claim.mechanism.width))

    def rdp(self, values: Any, orders: Any) -> Any:
        return self.times * renyi_cost(self.claim.mechanism.aggregation, orders)


@pytest.mark.parametrize(
    ("text", "least"),
    [(GAUSSIAN, 1.0), (LAPLACE, 1.0), (REPLACED, 1.0), (BALL, 1.0), (GRADIENT, 1.0), (BOX, 0.5)],
)
def test_a_charge_below_the_cost_is_refuted(text: str, least: float) -> None:
    """Published formulas charge more than two numbers that move under Laplace noise cost."""
    claim = claimed(text)
    for times, verdict in ((1.0, Verdict.PASS), (0.98 * least, Verdict.FAIL)):
        found = concluded(
            AccountantSoundness,
            claim,
            InProcessTarget(Charging(claim, times), release=claim.release),
        )
        assert found.verdict is verdict, found.finding.message


def test_the_message_says_of_what_sensitivity_it_is() -> None:
    claim = claimed(BALL)
    found = concluded(
        AccountantSoundness, claim, InProcessTarget(Charging(claim, 0.25), release=claim.release)
    )
    fields = found.finding.fields
    assert found.finding.code == "charge-too-low"
    assert fields["share"] == pytest.approx(0.25, rel=1e-6)
    assert "moved 2 times less" in str(found.finding.diagnosis)
    assert fields["charge"] == pytest.approx(0.25 * float(fields["cost"] or 0.0), rel=1e-6)


class Refusing(Charging):
    """Charges at orders from 4 on alone, or refuses."""

    def rdp(self, values: Any, orders: Any) -> Any:
        if not self.times:
            raise ValueError("no charges today")
        if min(orders) < 4:
            raise ValueError("orders from 4 on")
        return super().rdp(values, orders)


class Unpriced:
    """Without an accountant."""

    def __init__(self, claim: NumbersClaim) -> None:
        self.claim = claim

    def sample(self, values: Any, size: int) -> Any:
        return np.zeros((size, self.claim.mechanism.width))


@pytest.mark.parametrize(
    ("times", "verdict", "code", "noted"),
    [
        (1.0, Verdict.PASS, None, ["orders-not-charged"]),
        (0.5, Verdict.FAIL, "charge-too-low", ["orders-not-charged"]),
        (0.0, Verdict.NOT_APPLICABLE, "input-refused", []),
        (None, Verdict.NOT_APPLICABLE, "not-offered", []),
    ],
)
def test_what_is_not_charged_is_said(
    times: float | None, verdict: Verdict, code: str | None, noted: list[str]
) -> None:
    claim = claimed(GAUSSIAN)
    deployment = Unpriced(claim) if times is None else Refusing(claim, times)
    found = concluded(AccountantSoundness, claim, in_process(deployment, claim))
    assert (found.verdict, found.finding.code) == (verdict, code), found.finding
    assert [note.code for note in found.finding.warnings] == noted
    if noted:
        assert found.finding.warnings[0].fields == {"orders": 3}  # 1.5, 2, 3


SERVED = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["call"] == "rdp":
        reply = {"rdp": [0.2 * order / 18 for order in request["orders"]]}
    elif request["call"] == "spent":
        reply = {"spent": 0.0}
    else:
        reply = {"releases": [request["values"]] * request["size"]}
    print(json.dumps(reply), flush=True)
"""
TARGET = """
class Deployment:
    def sample(self, counts, size):
        return [counts.tolist()] * size
    def rdp(self, counts, orders):
        return [0.2 * order / 18 for order in orders]
    def spent(self, delta):
        return 0.0
target = Deployment()
"""


def answer(handler: Any) -> None:
    if handler.path.startswith("/spent"):
        reply: Any = {"spent": 0.0}
    elif handler.path == "/rdp":
        reply = {"rdp": [0.2 * order / 18 for order in handler.content["orders"]]}
    else:
        reply = {"releases": [handler.content["values"]] * handler.content["size"]}
    sent = json.dumps(reply).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(sent)))
    handler.end_headers()
    handler.wfile.write(sent)


@pytest.fixture(params=["python", "exec", "http"])
def spec(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A deployment that charges a fifth, and says that it has spent nothing."""
    if request.param == "http":
        server = Server(answer)
        yield server.url
        server.close()
        return
    path = tmp_path / "served.py"
    path.write_text(SERVED if request.param == "exec" else TARGET)
    yield f"exec:{sys.executable} {path}" if request.param == "exec" else f"{path}:target"


@pytest.mark.slow("over half a second")
def test_accounts_are_reached_over_every_transport(spec: str) -> None:
    claim = claimed(GAUSSIAN + PRIVATE.format(3.0, 4))
    target = open_claimed(spec, claim)
    try:
        for check in (AccountantSoundness, BudgetEnforcement):
            found = concluded(check, claim, target)
            assert found.verdict is Verdict.FAIL, found.finding.message
    finally:
        target.close()
