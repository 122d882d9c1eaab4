"""Kept connections in whole runs: what lives as long as one is found; what was not seen is said."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from runs import claimed, result

from dpassay.reference import BudgetExhausted
from dpassay.verifiers.claims.open_target import open_claimed
from dpassay.verifiers.kinds.labels.gathering.connections import CALLS
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget, TargetError
from dpassay.verifiers.targets.replies import NoReplyError

SERVICE = Path(__file__).parents[1] / "kept_service.py"
ALONE = select(["fresh-noise"], of=SHARES)
COARSE = {"tolerance": 0.5, "smallest_effect": 0.3, "false_alarm": 1e-3}


class Connection:
    """One over which answers come by a law of its own, `draw(rng)` for noise (4,)."""

    def __init__(self, behind):
        self.behind, self.opened = behind, 0

    def ask(self, histogram, size):
        behind = self.behind
        behind.asked += 1
        if behind.asked in behind.fails:
            raise behind.fails[behind.asked]
        if self.opened == 0 or behind.closes:
            self.opened += 1
            self.kept = behind.rng.normal(0, 10, 4)
        noise = behind.rng.normal(0, 10, 4)
        share = behind.share
        return [int((histogram + np.sqrt(1 - share) * noise + np.sqrt(share) * self.kept).argmax())]

    def close(self):
        self.behind.ended += 1


class Behind(InProcessTarget):
    """A target whose calls over a new connection each are right.

    share: of the variance that a kept connection keeps; closes: whether none is kept; fails: what
    comes in place of an answer, by the place of a call over a kept connection.
    """

    def __init__(self, share=0.0, closes=False, fails=()):
        self.rng, self.asked, self.ended = np.random.default_rng(5), 0, 0
        self.share, self.closes, self.fails = share, closes, dict(fails)
        super().__init__(lambda votes, size: (votes + self.rng.normal(0, 10, (size, 4))).argmax(1))

    def keep_connection(self, seconds=None):
        return Connection(self)


def run(target, **gate):
    claim = claimed("gaussian:10", classes=4, teachers=40, **COARSE | gate)
    return verify(target, claim, seed=0, selection=ALONE, after_failure="stop")


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_noise_that_lives_with_a_connection_is_found(share) -> None:
    """The rest of the noise is drawn anew. Catches a new connection for every call."""
    target = Behind(share)
    report = run(target)
    found = result(report, "fresh-noise")
    assert found.verdict == "fail"
    assert found.code == "noise-shared-by-connection"
    assert target.asked <= 2 * CALLS
    assert target.ended >= 1


NO_REPLY = NoReplyError("failed: Server disconnected")
UNSEEN = "noise kept for a connection would not have shown"


@pytest.mark.parametrize(
    ("behind", "told", "asked"),
    [
        ({}, "over 4 kept connections", 2 * CALLS),
        ({"closes": True, "share": 1.0}, f"{UNSEEN}, as the server closes", 3),
        ({"fails": {8: NO_REPLY}}, f"{UNSEEN} after 8 calls", 8),
        (
            {"fails": {CALLS + 2: TargetError("got HTTP status 503")}},
            f"{UNSEEN} after 2 calls",
            CALLS + 2,
        ),
    ],
)
@pytest.mark.slow("over half a second")
def test_the_message_says_what_was_asked_and_nobody_is_accused(behind, told, asked) -> None:
    """Catches an error for what a correct server may do, and a request that is made again.

    Null: nothing that shows is amiss; at the claim's false_alarm of 0.001.
    """
    target = Behind(**behind)
    found = result(run(target), "fresh-noise")
    assert found.verdict == "pass", found.message
    assert told in found.message
    assert target.asked == asked
    assert found.queries >= asked - 1


@pytest.mark.parametrize(
    ("error", "verdict"),
    [(TargetError("got HTTP status 500"), "error"), (BudgetExhausted("spent"), "inconclusive")],
)
def test_other_errors_end_the_run_as_anywhere_else(error, verdict) -> None:
    target = Behind(fails={30: error})
    report = run(target)
    assert report.verdict == verdict
    assert target.ended == 1  # connections are closed
    assert report.queries >= 46 + 30 - 20  # those asked are counted


@pytest.mark.slow("a whole run; others of this file are quick")
def test_kept_answers_and_a_full_budget_leave_connections_alone() -> None:
    plain = run(InProcessTarget(Behind()._aggregate)).queries
    # a smaller budget makes a smaller plan
    without = run(InProcessTarget(Behind()._aggregate), max_queries=plain).queries
    target = Behind(share=1.0)
    report = run(target, max_queries=without)
    assert target.asked == 0
    assert f"{UNSEEN}, as max_queries" in result(report, "fresh-noise").message
    run(target, caching=True)
    assert target.asked == 0


@pytest.mark.slow("over half a second")
def test_over_http_one_draw_a_connection_is_found() -> None:
    """Within some dozens of calls over one connection, and at 1e-6."""
    words = [sys.executable, str(SERVICE), "noise", "0"]
    claim = claimed(smallest_effect=0.3, tolerance=0.5)
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            target = open_claimed(f"http://127.0.0.1:{int(running.stdout.readline())}", claim)
            report = verify(target, claim, seed=0, selection=ALONE, after_failure="stop")
            target.close()
        finally:
            running.kill()
    assert result(report, "fresh-noise").code == "noise-shared-by-connection"
    assert report.found_after <= 46 + CALLS
