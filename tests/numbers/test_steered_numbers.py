"""Numbers are asked where a target's code decides what the plan hardly reaches."""

import math
import tomllib
from pathlib import Path

import numpy as np
import pytest
from steered_sums import BEGIN, FAR, RIGHT, SUM, WRONG

from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.numbers.checks.at_branches import (
    BRANCHES,
    BranchInput,
    NumbersAtBranches,
)
from dpassay.verifiers.kinds.numbers.checks.noise_law import NoiseLaw
from dpassay.verifiers.kinds.numbers.evidence.bins import Placing
from dpassay.verifiers.kinds.numbers.planned import PlannedNumbers
from dpassay.verifiers.kinds.numbers.planning.asked import Asked, Batch, Draws
from dpassay.verifiers.kinds.numbers.steering.asking import most_steered
from dpassay.verifiers.kinds.numbers.steering.candidates import NumberSource
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.paths.decision import Decision
from dpassay.verifiers.paths.search import Candidate, Reached, Search
from dpassay.verifiers.paths.shadow import Shadow
from dpassay.verifiers.paths.steering import choose
from dpassay.verifiers.run.checks import Setting
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets.spec import open_target

CLAIM = parse_claim(tomllib.loads(SUM))
TOLD = {
    "few refused": ("input-contract", "refusal-tells-inputs-apart"),
    "many refused": ("input-contract", "refusal-tells-inputs-apart"),
    "sampled": ("noise-law", None),
    "pool": ("fresh-noise", None),
    "left over": ("clipping", "state-of-refused-call"),
    "remainder": ("noise-law", "scale-too-small"),
    "beyond": ("noise-law", "scale-too-small"),
    "squared": ("noise-law", "scale-too-small"),
}
"""The check that fails, and the cause that it tells, where one fits alone."""


GRADIENT = """
[mechanism]
name = "noisy-gradient"
noise = "gaussian:1"
adjacency = "add-remove"
shapes = [[4, 3], [3]]
clip_norm = 1.0
divide_by = 4
"""


def test_gradients_of_several_shapes_are_steered_too() -> None:
    """A claim with a list has no hash: a cache by the claim ended every run of gradients."""
    assert 0 < most_steered(parse_claim(tomllib.loads(GRADIENT))) <= 8_000


def written(folder: Path, source: str) -> str:
    (folder / "summing.py").write_text(BEGIN + source)
    return f"{folder / 'summing.py'}:aggregate"


def searched(folder: Path, source: str) -> tuple[Search, list[Reached]]:
    planned = PlannedNumbers(CLAIM, 1)
    with Shadow(written(folder, source), CLAIM.release) as shadow:
        search = Search(shadow, NumberSource(CLAIM, planned.plan, 1, 29.0, planned.queries))
        return search, search.run()


def run(folder: Path, source: str, *checks: str, seed: int = 1) -> Report:
    target = open_target(written(folder, source), 30.0, release=CLAIM.release)
    try:
        chosen = select(checks, of=CLAIM.kind.checks.ids)
        return verify(target, CLAIM, seed=seed, selection=chosen)
    finally:
        target.close()


@pytest.mark.slow("a run with a search of the code")
@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_behind_a_decision_fails(name: str, tmp_path: Path) -> None:
    check, code = TOLD[name]
    report = run(tmp_path, WRONG[name], "noise-law", "fresh-noise", "clipping")
    found = next(one for one in report.checks if one.id == check)
    assert found.verdict is Verdict.FAIL
    assert code in (None, found.code)
    assert "steered" not in found.message


@pytest.mark.slow("a run with a search of the code")
@pytest.mark.parametrize("name", RIGHT)
def test_the_same_decisions_without_a_mistake_pass(name: str, tmp_path: Path) -> None:
    report = run(tmp_path, RIGHT[name], "noise-law", "fresh-noise", "clipping")
    assert report.verdict is Verdict.PASS


def outcomes(found: list[Reached], text: str) -> set[str]:
    return {one.outcome[1] for one in found if text in one.decision.text}


@pytest.mark.slow("a run with a search of the code")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sampled", "len(records) > 2_000"),
        ("pool", "len(values) != 1_000"),
        ("remainder", "% 512 == 3"),
        ("beyond", "(records != values).any()"),
        ("squared", "** 2 >"),
    ],
)
def test_the_search_reaches_what_the_plan_does_not(name: str, text: str, tmp_path: Path) -> None:
    """Catches sizes that are not made of constants, remainders, and lines that are not followed."""
    _, found = searched(tmp_path, RIGHT[name])
    wanted = {"false"} if name == "pool" else {"true"}
    assert wanted <= outcomes(found, text)
    asked = {id(one.candidate) for one in choose(found, id, most_steered(CLAIM)).values()}
    reached = {one.outcome for one in found if id(one.candidate) in asked}
    assert {one.outcome for one in found if text in one.decision.text} <= reached


@pytest.mark.slow("over half a second")
def test_candidates_come_cheapest_first_and_end() -> None:
    planned = PlannedNumbers(CLAIM, 1)
    asker = NumberSource(CLAIM, planned.plan, 1, 29.0, planned.queries)
    rows = [one.rows for one in asker.candidates((10, 2_000, 50_000, 300_000, 1_000_000))]
    assert rows == sorted(rows)
    assert sum(rows) <= 1_000_000
    assert max(rows) <= 200_000
    assert max(rows) > 50_000


@pytest.mark.slow("a search of seconds")
def test_a_size_beyond_all_inputs_is_named(tmp_path: Path) -> None:
    search, found = searched(tmp_path, FAR.format(scale=2.0))
    assert not outcomes(found, "1_000_000")
    assert set(search.source.out_of_reach(search).values()) == {"needs 1,000,000 records"}


def branch(records: int) -> BranchInput:
    law = CLAIM.mechanism.aggregation
    values = np.full((records, 1), 0.5)
    asked = Asked.of(CLAIM.release, values, law.exact(values), "steered")
    decision = Decision("summing.py", 3, "len(values) > 2_000", ("true", "false"))
    candidate = Candidate(((values, 1),), 1.0, "records", records)
    return BranchInput(asked, Reached((0, "true"), decision, candidate))


def observed(
    scale: float, rng: np.random.Generator, *, inputs: int = 3, draws: int = 60
) -> NumbersAtBranches:
    """Evidence of so many draws of each of some inputs, of Laplace noise of this scale."""
    noise = CLAIM.mechanism.added
    given = [branch(100 * (k + 1)) for k in range(inputs)]
    evidence = NumbersAtBranches(noise, given, None)
    placing = Placing(noise, rng)
    for place, one in enumerate(given):
        released = one.asked.exact + rng.laplace(0.0, scale, (draws, 1))
        batch = Batch(one.asked, released, (1,) * draws)
        evidence.observe(place, Draws((batch,), placing, np.zeros(1, dtype=np.int64)))
    return evidence


@pytest.mark.slow("300 simulated runs")
def test_the_mean_over_inputs_expects_at_most_one() -> None:
    """By Hoeffding's inequality on e-values cut at 3; a sum in place of the mean has 2 and more."""
    rng, runs = np.random.default_rng(7), 300
    found = [min(3.0, math.exp(observed(2.0, rng, draws=20).log_e_value)) for _ in range(runs)]
    assert np.mean(found) <= 1.0 + 3.0 * math.sqrt(math.log(1e6) / (2 * runs))


def test_half_the_noise_shows_on_an_input_by_itself() -> None:
    evidence = observed(1.0, np.random.default_rng(3), draws=150)
    assert evidence.log_e_value > math.log(1e6)
    found = evidence.finding()
    assert found.code == "scale-too-small"
    assert "summing.py:3" in found.message


def test_inputs_have_their_weight_whether_or_not_there_are_any() -> None:
    """Catches a weight that is given to the plan's inputs once nothing was found."""
    plan = CLAIM.inputs(1)
    law = NoiseLaw.make(Setting(CLAIM, 1, plan))
    law.evidence.all.ratios += 50.0
    law.evidence.all.changed()
    alone = law.log_e_value
    assert alone == pytest.approx(math.log1p(-BRANCHES) + law.evidence.log_e_value)
    law.begin_branches([branch(5)])
    assert law.log_e_value == pytest.approx(alone)
