"""What a pass of batches, and of a deployment without a law, excludes: in a plan and a report."""

import json
import math
from typing import Any

import numpy as np
import pytest
from runs import result
from scipy.stats import binom

from dpassay.attacks.auditing.coin import CoinAudit, Guarantee, share_told
from dpassay.verifiers.findings.codes import codes
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.batches.session import PlannedBatches
from dpassay.verifiers.kinds.batches.shown import excluded
from dpassay.verifiers.kinds.batches.sizes import RATES, SizeEvidence
from dpassay.verifiers.kinds.lawless.session import PlannedDraws, planned_draws
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget
from dpassay.verifiers.targets.anything import AnyRelease

PAIRS = [{"here": [0.0], "there": [1.0]}, {"here": [2.0], "there": [3.0], "name": "far"}]


def sampler(sampling: str, records: int = 60) -> Any:
    return parse_claim({"mechanism": {"name": "batches", "sampling": sampling, "records": records}})


def without_law(epsilon: float = 0.5) -> Any:
    privacy = {"epsilon": epsilon, "delta": 1e-6}
    return parse_claim({"mechanism": {"name": "any"}, "privacy": privacy, "pairs": PAIRS})


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("sampling", ["poisson:0.2", "fixed:12", "shuffle:12"])
def test_a_report_of_batches_has_what_its_plan_foresaw(sampling: str) -> None:
    """Catches entries made of what was drawn, such as the sizes that came."""
    claim = sampler(sampling)
    planned = PlannedBatches(claim, 150).excluded
    report = verify(claim.kind.reference(claim), claim, seed=0, queries=150)
    for found in report.checks:
        if found.verdict is Verdict.PASS:
            assert found.excludes == planned.get(found.id, ()), found.id
        for one in found.excludes:
            assert one.code in codes()
            assert one.queries == 150
    assert planned["repeats"]
    assert planned["batch-size"]


def test_few_batches_exclude_less() -> None:
    """Catches counts that are ignored; of a single batch nothing is excluded."""
    claim = sampler("fixed:12")
    shares = [excluded(claim, "repeats", n)[0].size["share"] for n in (50, 500)]
    assert shares == pytest.approx([1 - 0.01 ** (1 / 50), 1 - 0.01 ** (1 / 500)])
    assert excluded(claim, "repeats", 1) == ()


def test_another_rate_shows_with_the_probability_that_is_told() -> None:
    """The evidence of all counts, added up by another law's; catches a share that is left out."""
    claim, batches = sampler("poisson:0.2"), 400
    low, high = excluded(claim, "batch-size", batches)
    records = 60 * batches
    wanted = math.log(1 / low.false_alarm)
    seen = {}
    for factor in RATES:
        rate = min(0.2 * float(factor), 1 - 0.5 * 0.8)
        sizes = SizeEvidence(claim.mechanism.batches)
        k = np.arange(records + 1)
        place = int(np.flatnonzero(factor == RATES)[0])
        gained = k * math.log(rate / 0.2) + (records - k) * math.log((1 - rate) / 0.8)
        gained += sizes.wagers.weights[place]
        seen[rate / 0.2] = binom.pmf(k, records, rate)[gained >= wanted].sum()
    assert min(seen[f] for f in seen if f <= low.size["factor"]) >= 0.99
    assert seen[low.size["factor"]] >= 0.99
    between = [seen[f] for f in seen if low.size["factor"] < f < high.size["factor"]]
    assert between
    assert max(between) < 0.99


def test_the_evidence_of_told_draws_is_no_less_than_is_reckoned_with() -> None:
    """Catches a wager whose share, or whose price of delta, is forgotten: by the audit itself."""
    claimed, draws, wanted = Guarantee(1.0, 1e-3), 600, math.log(1e6)
    share = share_told([claimed], draws, wanted, first=64, features=1)
    assert share is not None
    needed = next(k for k in range(1, draws) if binom.sf(k - 1, draws, 0.5 * share) < 0.99) - 1
    coins = np.arange(draws) % 2 == 0
    told = np.zeros(draws)
    told[np.flatnonzero(coins)[: int(needed)]] = 1.0
    rng = np.random.default_rng(0)
    for order in (rng.permutation(draws) for _ in range(5)):
        audit = CoinAudit(claimed)
        audit.observe(told[order], coins[order])
        assert audit.log_e_value >= wanted


def test_what_no_draws_show_is_not_told() -> None:
    assert share_told([Guarantee(8.0)], 4_000, 14.0, first=64, features=24) is None


@pytest.mark.slow("over half a second")
def test_a_report_without_a_law_has_what_its_plan_foresaw() -> None:
    """Catches entries made from replies, and pairs that have no name."""
    claim, rng = without_law(), np.random.default_rng(0)
    target = InProcessTarget(
        lambda values, size: [float(rng.laplace(values[0], 2.0)) for _ in range(size)],
        release=AnyRelease(),
    )
    plan = planned_draws(claim, 2_400)
    planned, draws = plan.excluded["privacy-audit"], plan.extent
    report = verify(target, claim, seed=0, queries=2_400)
    found = result(report, "privacy-audit")
    assert found.verdict is Verdict.PASS
    assert found.excludes == planned
    share, laplace, gaussian = planned
    assert share.where == ("pair 1", "the pair 'far'")
    assert share.queries == 2 * draws
    assert (laplace.size["noise"], gaussian.size["noise"]) == ("laplace", "gaussian")
    assert json.loads(share.model_dump_json())["code"] == "inputs-told-apart"
    entries = PlannedDraws(without_law(8.0), 1_000).excluded["privacy-audit"]
    assert all("share" not in entry.size for entry in entries)
