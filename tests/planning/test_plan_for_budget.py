"""Small budgets: the sharpest pass that fits, what it rules out, and what does not fit."""

import json

import numpy as np
import pytest
from claims import gnmax
from click.testing import CliRunner
from small import drawing, small_claim

from dpassay.verifiers.cli import commands
from dpassay.verifiers.commands.planned_run import pace_of, planned_run
from dpassay.verifiers.findings.excluded import Excluded
from dpassay.verifiers.kinds.labels.planned import planned_labels
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.precision import TooFewError
from dpassay.verifiers.run.request import PlanRequest
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

MECHANISM = gnmax()
CLAIM = parse_claim({"mechanism": MECHANISM})
FEW = gnmax(4, 3, 12)
SMALL = parse_claim({"mechanism": FEW})
"""Planned in a fraction of the time."""


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("claim", "queries"),
    [
        (SMALL, 1000),
        *(
            pytest.param(CLAIM, queries, marks=pytest.mark.slow("a larger claim"))
            for queries in (1000, 5000)
        ),
    ],
)
def test_the_plan_fits_and_more_queries_see_more(claim, queries) -> None:
    found = planned_labels(claim, PlanRequest(queries))
    assert found.queries <= queries
    gate = found.claim.gate
    assert gate.max_queries == queries
    assert gate.smallest_effect <= 0.5
    assert gate.tolerance <= 0.5
    more = planned_labels(claim, PlanRequest(4 * queries)).claim.gate
    assert more.smallest_effect < gate.smallest_effect


@pytest.mark.slow("over half a second")
def test_keys_that_the_claim_writes_bind() -> None:
    bound = parse_claim({"mechanism": FEW, "gate": {"tolerance": 0.1}})
    found = planned_labels(bound, PlanRequest(6000))
    assert found.claim.gate.tolerance == 0.1
    assert found.claim.gate.smallest_effect > 0.02
    exacting = parse_claim({"mechanism": FEW, "gate": {"smallest_effect": 0.02}})
    with pytest.raises(TooFewError, match="1,000 queries"):
        planned_labels(exacting, PlanRequest(1000))


@pytest.mark.slow("over half a second")
def test_the_least_number_is_the_same_whatever_was_asked() -> None:
    """It rose with what was asked for, since more was then asked for breadth."""
    told = set()
    for queries in (20, 600):
        with pytest.raises(TooFewError) as refused:
            planned_labels(SMALL, PlanRequest(queries))
        told.add(str(refused.value).split("about ")[1].split(" ")[0])
    (least,) = (int(number.replace(",", "")) for number in told)
    for queries in (least, least + 150):
        assert planned_labels(SMALL, PlanRequest(queries)).queries <= queries


class Slow(InProcessTarget):
    """Takes a time for each call and for each label, on a clock of its own."""

    def __init__(self, clock: list[float], call: float, label: float) -> None:
        super().__init__(lambda votes, size: np.zeros(size, dtype=int))
        self.clock, self.call, self.label = clock, call, label

    def ask(self, histogram, size):
        self.clock[0] += self.call + size * self.label
        return super().ask(histogram, size)


def test_a_pace_tells_what_calls_cost_from_what_labels_cost(monkeypatch) -> None:
    """Catches a rate by calls of one size, which a run's other calls do not have."""
    clock = [0.0]
    monkeypatch.setattr(
        "dpassay.verifiers.commands.planned_run.time.perf_counter", lambda: clock[0]
    )
    found = pace_of(Slow(clock, 0.5, 0.001), np.array([6, 4, 2]), None, 1)
    assert (found.call, found.label) == pytest.approx((0.5, 0.001))
    alone = pace_of(Slow(clock, 0.5, 0.001), np.array([6, 4, 2]), 1, 8)
    assert alone.seconds(80, 80) == pytest.approx(10 * 0.501)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "seconds", [60.0, pytest.param(600.0, marks=pytest.mark.slow("more of them"))]
)
def test_seconds_hold_what_is_planned_for_them(monkeypatch, seconds) -> None:
    """A second each twenty calls: all of them by far, where few labels are in most calls."""
    clock = [0.0]
    monkeypatch.setattr(
        "dpassay.verifiers.commands.planned_run.time.perf_counter", lambda: clock[0]
    )
    found = planned_run(SMALL, None, seconds, Slow(clock, 0.05, 0.0))
    assert found.seconds is not None
    assert 0.5 * min(seconds, 300.0) <= found.seconds <= seconds


def target(kind: str, seed: int) -> InProcessTarget:
    """A deployment that is right, or has a fault that every pass rules out."""
    rng, kept = np.random.default_rng(seed), {}
    scale = {"half": 20.0, "double": 80.0, "missing": 0.0}.get(kind, 40.0)

    def aggregate(histogram, size):
        if kind == "kept":
            votes = tuple(histogram)
            kept.setdefault(votes, int((histogram + rng.normal(0, 40, 10)).argmax()))
            return np.full(size, kept[votes])
        return (histogram + rng.normal(0.0, scale, (size, 10))).argmax(1)

    return InProcessTarget(aggregate, again=lambda: aggregate)


@pytest.mark.parametrize(
    "kind",
    [
        "half",
        *(pytest.param(k, marks=pytest.mark.slow("other scales")) for k in ("double", "missing")),
        "kept",
    ],
)
@pytest.mark.slow("over half a second")
def test_what_every_pass_rules_out_is_found_within_a_thousand_queries(kind) -> None:
    """Each with probability 0.99: of three runs, of fixed seeds, two miss with probability 3e-4."""
    found = [verify(target(kind, i), CLAIM, seed=0, queries=1000).verdict for i in range(3)]
    assert found.count("fail") >= 2


@pytest.mark.slow("over half a second")
def test_a_right_one_passes_and_the_report_says_what_was_seen() -> None:
    report = verify(target("right", 9), CLAIM, seed=0, queries=1000)
    assert report.verdict == "pass"
    assert report.queries <= 1000
    (told,) = (warning for warning in report.notes if warning.code == "coarser-than-default")
    for key in ("smallest_effect", "tolerance"):
        assert told.fields[key] == report.claim["gate"][key] > getattr(CLAIM.gate, key)
    left_out = {c.id for c in report.checks if c.code == "left-out-for-budget"}
    compared = {"shift-invariance", "permutation-equivariance", "vote-monotonicity"}
    assert left_out == compared | {"order"}


@pytest.fixture
def claim(tmp_path):
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in FEW.items())
    (tmp_path / "claim.toml").write_text(f"[mechanism]\n{lines}\n")
    return str(tmp_path / "claim.toml")


def run(*words: str):
    return CliRunner().invoke(commands, list(words))


@pytest.mark.slow("over half a second")
def test_a_run_with_too_few_queries_says_which_do() -> None:
    """With as many it passes; the sharpest pass of those there are is the test's below."""
    cut = small_claim(gate={"max_queries": 2000, "tolerance": 0.4, "smallest_effect": 0.3})
    warnings = verify(drawing(cut), cut, seed=0).notes
    (told,) = (warning for warning in warnings if warning.code == "too-few-queries")
    assert "--queries 2000" in told.message
    more = cut.with_limits(told.fields["queries"], None)
    assert verify(drawing(more), more, seed=0).verdict == "pass"


@pytest.mark.slow("a whole run; of another claim a planned one passes")
def test_the_sharpest_pass_of_two_thousand_queries_is_one() -> None:
    open_to_plan = parse_claim({"mechanism": FEW})
    assert verify(drawing(open_to_plan), open_to_plan, seed=0, queries=2000).verdict == "pass"


@pytest.mark.slow("over half a second")
def test_the_plan_says_what_a_run_would_see(claim) -> None:
    found = json.loads(run("plan", "--claim", claim, "--queries", "1000", "--json").output)
    assert found["queries"] <= 1000
    assert (found["seconds"], found["labels_per_second"]) == (None, None)
    labels = {check["id"]: check["labels"] for check in found["checks"]}
    assert 0 < labels["noise-scale"] < labels["class-probabilities"] <= found["queries"]
    text = run("plan", "--claim", claim, "--queries", "1000").output
    assert text.startswith(f"claim: {found['claimed']}\n")
    assert "replace-one" in found["claimed"]
    assert found["claimed"].endswith(" of a teacher")
    for check in found["checks"]:  # the first two entries of the scale are equally sharp
        (line,) = (line for line in text.splitlines() if line.startswith(f"  {check['id']} "))
        entries = [Excluded(**entry) for entry in check["excludes"]]
        assert any(entry.fault in line for entry in entries) == bool(entries)
    assert f"factor {1 - found['tolerance']:.4g}" in text


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plan", "--queries", "20"], "20 queries are too few"),
        (["plan", "--seconds", "20"], "--seconds needs a TARGET"),
        (["verify", "a.py:b", "--queries", "9", "--max-queries", "9"], "give one or the other"),
    ],
)
def test_what_cannot_be_planned_is_one_line(claim, words, said) -> None:
    result = run(*words, "--claim", claim)
    assert (result.exit_code, said in result.output) == (2, True)
    assert len(result.output.strip().splitlines()) == 1
