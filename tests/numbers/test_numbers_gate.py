"""Whole runs on numbers: the zoo, tiny noise, counts of all sizes, and wide releases."""

import contextlib
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo import BROKEN, CORRECT
from numeric_zoo.claims import COUNT, GRADIENT, HISTOGRAM
from zoo_entry import Entry

from dpassay.reference.numbers import sample
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.numbers.planning import plan
from dpassay.verifiers.kinds.numbers.planning.neighbours import neighbours
from dpassay.verifiers.kinds.numbers.registry import SHARES
from dpassay.verifiers.kinds.numbers.simplest import simple_inputs
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget
from dpassay.verifiers.targets.process import ProcessTarget

# -- the gate for numbers on a zoo of aggregators: broken ones fail, correct ones pass


def shelf(entries: list[Entry], quick: int) -> list[Any]:
    """Every entry; so many of each kind, by the check that catches it, are in the quick suite."""
    seen: dict[str, int] = {}
    found = []
    for entry in entries:
        kind = entry.caught[0] if entry.caught else ""
        seen[kind] = seen.get(kind, 0) + 1
        more = seen[kind] > quick
        marks = pytest.mark.slow("more of what others of its kind show") if more else ()
        found.append(pytest.param(entry, id=entry.name, marks=marks))
    return found


def judged(entry: Entry, seed: int) -> Report:
    """A report on an entry, which is made anew."""
    return verify(entry.target(seed, 99), entry.claim, seed=seed)


@pytest.mark.parametrize("entry", shelf(BROKEN, 1))
@pytest.mark.slow("over half a second")
def test_a_broken_one_fails(entry: Entry) -> None:
    report = judged(entry, 1)
    failed = {check.id for check in report.checks if check.verdict is Verdict.FAIL}
    assert failed & set(entry.caught), (report.verdict, failed)


@pytest.mark.parametrize("entry", shelf(CORRECT, 1))
def test_a_correct_one_passes(entry: Entry) -> None:
    """A correct one fails with probability 1e-6 at most."""
    report = judged(entry, 1)
    messages = [(c.id, c.message) for c in report.checks if c.verdict is not Verdict.PASS]
    assert report.verdict is Verdict.PASS, messages


# -- noise that is tiny beside the step it is rounded to: nearly every release is the exact value


TINY_COUNT = """
[mechanism]
name = "noisy-count"
noise = "{}"
adjacency = "add-remove"
[gate]
false_alarm = 1e-6
max_queries = 4000
"""
TINY_SUM = TINY_COUNT.replace(
    '"noisy-count"', '"noisy-sum"\ndimensions = 2\nlower = 0\nupper = 3.5'
)


BOTH = pytest.mark.slow("whole runs; of each noise one aggregate is")
OTHER = pytest.mark.slow("whole runs; smaller and larger scales of this family are")


@pytest.mark.parametrize(
    ("noise", "text"),
    [
        ("laplace:0.1;round", TINY_COUNT),
        ("laplace:0.1;cut", TINY_COUNT),
        ("gaussian:0.3;grid=10", TINY_COUNT),
        ("discrete-gaussian:0.1", TINY_SUM),
        ("discrete-laplace:0.1", TINY_COUNT),
        ("discrete-laplace:1e-9", TINY_SUM),
        pytest.param("laplace:0.1;round", TINY_SUM, marks=BOTH),
        pytest.param("gaussian:0.3;grid=10", TINY_SUM, marks=BOTH),
        pytest.param("discrete-gaussian:0.1", TINY_COUNT, marks=BOTH),
        pytest.param("discrete-laplace:0.1", TINY_SUM, marks=BOTH),
        pytest.param("discrete-laplace:1e-9", TINY_COUNT, marks=BOTH),
        pytest.param("discrete-laplace:5e-4", TINY_COUNT, marks=OTHER),
        pytest.param("discrete-laplace:5e-4", TINY_SUM, marks=OTHER),
    ],
)
@pytest.mark.slow("over half a second")
def test_a_run_comes_to_its_end(text: str, noise: str) -> None:
    """A step that the noise hardly ever takes was a crash before any verdict."""
    claim = parse_claim(tomllib.loads(text.format(noise)))
    rng = np.random.default_rng(3)

    def aggregate(values: Any, size: int) -> Any:
        return sample(claim.mechanism.aggregation, values, size, rng)

    target = InProcessTarget(aggregate, release=claim.release)
    report = verify(target, claim, seed=1)
    verdicts = {check.id: check.verdict for check in report.checks}
    assert verdicts["location"] is Verdict.PASS
    assert not {Verdict.FAIL, Verdict.ERROR} & set(verdicts.values())


@pytest.mark.parametrize("noise", ["laplace:0.1;round", "discrete-laplace:1e-3"])
@pytest.mark.slow("over half a second")
def test_a_step_aside_is_seen(noise: str) -> None:
    claim = parse_claim(tomllib.loads(TINY_COUNT.format(noise)))
    rng = np.random.default_rng(4)

    def aside(values: Any, size: int) -> Any:
        return sample(claim.mechanism.aggregation, values, size, rng) + 1.0

    report = verify(InProcessTarget(aside, release=claim.release), claim, seed=1)
    found = {check.id: check for check in report.checks}["location"]
    assert found.verdict is Verdict.FAIL
    assert "about 1 above" in found.message
    assert found.code in ("releases-off-centre", "sums-multiplied")
    assert found.fields["offset"] == pytest.approx(1.0)


# -- counts of every size are asked, and one call for more than 1,000 releases


GATE = "[gate]\nsmallest_effect = 0.3\ntolerance = 0.3\n"


@pytest.mark.parametrize("text", [COUNT, HISTOGRAM, HISTOGRAM.replace("10", "3")])
def test_counts_of_all_sizes_are_asked(text: str) -> None:
    """Faults at five digits, where all counts are large, or from ten million on, passed."""
    plan = claimed(text).inputs(1)
    counts = [asked.values for asked in plan.inputs]
    every = np.concatenate(counts)
    for digits in (2, 3, 4, 5, 7):
        found = every[(every >= 10 ** (digits - 1)) & (every < 10**digits)]
        assert (found % 10).any(), digits  # what is rounded to fewer digits moves
    assert max(c.sum() for c in counts) >= 10**7
    assert max(c.min() for c in counts) >= 10**6
    assert every.max() < 2**24
    assert len(plan.inputs) == 9


def test_simple_inputs_are_as_large() -> None:
    """Else a fault of large counts has no simplest input, though every one of 12,345 shows it."""
    for text in (COUNT, HISTOGRAM):
        found = [values.tolist() for values in simple_inputs(claimed(text))]
        assert found == sorted(found, key=lambda counts: (max(counts), sum(counts)))
        assert found[-1][0] > 10**7


def run(text: str, most: int | None = None, gate: str = "") -> tuple[Report, list[int]]:
    """A run of one check, and the sizes of its calls; above `most` a call is refused."""
    claim, sizes, rng = claimed(text, GATE + gate), [], np.random.default_rng(4)

    def aggregate(values: Any, size: int) -> Any:
        if most is not None and size > most:
            raise ValueError("at most 1,000")
        sizes.append(size)
        return sample(claim.mechanism.aggregation, values, size, rng)

    target = InProcessTarget(aggregate, release=claim.release)
    chosen = select(["joint"], of=SHARES)
    return verify(target, claim, seed=1, selection=chosen), sizes


def test_one_call_asks_for_more_than_a_thousand() -> None:
    report, sizes = run(HISTOGRAM)
    assert report.verdict is Verdict.PASS
    assert [size for size in sizes if size > 1_000] == [1_100]


def test_a_service_may_refuse_so_long_a_call() -> None:
    """It is a limit of the service, not a fault: the run says so and goes on."""
    report, sizes = run(HISTOGRAM, most=1_000)
    assert report.verdict is Verdict.PASS
    assert max(sizes) <= 1_000
    (noted,) = (warning for warning in report.notes if warning.code == "long-call-refused")
    assert noted.fields == {"releases": 1_100}


@pytest.mark.parametrize("limit", ["largest_call = 500", "max_queries = 1100", "timeout = 1e-6"])
def test_it_is_left_out_where_a_claim_leaves_no_room(limit: str) -> None:
    _, sizes = run(HISTOGRAM, gate=limit)
    assert max(sizes) <= 500


def test_of_wide_releases_it_would_cost_too_much() -> None:
    """A pass of 21 cells takes few releases: 1,100 more would be a price that the pages name."""
    _, sizes = run(HISTOGRAM.replace("10", "21"))
    assert max(sizes) <= 300


# -- wide releases are asked for in calls that a reply can hold; users are replaced as a whole


REPLACED = """
name = "noisy-sum"
noise = "laplace:40"
adjacency = "replace-one"
unit = "user"
max_contributions = 20
dimensions = 2
lower = 10.0
upper = 11.0
"""


@pytest.mark.slow("over half a second")
def test_no_records_have_their_width_in_a_process_too(tmp_path: Path) -> None:
    """As JSON they are [], which a target in Python got as an array of shape (0,)."""
    claim = claimed(REPLACED)
    (tmp_path / "wide.py").write_text(
        "def aggregate(records, size):\n    return [list(records.shape)] * size\n"
    )
    target = ProcessTarget.python(f"{tmp_path}/wide.py:aggregate", 60.0, release=claim.release)
    with contextlib.closing(target):
        for records in (0, 1, 3):
            reply = target.ask(np.zeros((records, 2), dtype=np.int64), 1)
            assert np.asarray(reply).tolist() == [[records, 2]]


@pytest.mark.slow("over half a second")
def test_no_call_asks_for_more_numbers_than_a_reply_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call of 300 releases of 10^6 numbers would be 6 GB of JSON, and was asked for."""
    monkeypatch.setattr(plan, "_NUMBERS", 60)
    claim = claimed(GRADIENT, "[gate]\nmax_queries = 600")
    rng, sizes, records = np.random.default_rng(0), [], []

    def aggregate(values: Any, size: int) -> Any:
        sizes.append(size)
        records.append(len(values[0]))
        return sample(claim.mechanism.aggregation, list(values), size, rng)

    verify(InProcessTarget(aggregate, release=claim.release), claim, seed=1)
    assert max(sizes) * 15 <= 60
    assert max(records) <= 5  # 4, and the one that is added
    assert sum(sizes) > 500


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_neighbours_of_users_lie_within_what_the_claim_allows(adjacency: str) -> None:
    """Users of 20 records replaced 9 records by 20, so that a correct sum was accused."""
    claim = claimed(REPLACED.replace("replace-one", adjacency))
    for neighbour in neighbours(claim.mechanism, 1):
        if np.isfinite(neighbour.values).all():
            moved = claim.mechanism.aggregation.exact(neighbour.values) - neighbour.exact
            assert np.abs(moved).max() <= neighbour.allowed * (1 + 1e-12), neighbour.name


def test_where_every_altered_record_is_refused_nothing_is_said_of_clipping() -> None:
    """It was a pass, by 0 releases of 0 records."""
    replaced = GRADIENT.replace("add-remove", "replace-one") + '\nrefuses = "any but 24 records"'
    claim = claimed(replaced, "[gate]\nsmallest_effect = 0.3\ntolerance = 0.3")
    rng = np.random.default_rng(0)

    def aggregate(values: Any, size: int) -> Any:
        if len(values[0]) != 24:
            raise ValueError("24 records are public")
        return sample(claim.mechanism.aggregation, list(values), size, rng)

    target = InProcessTarget(aggregate, release=claim.release)
    chosen = select(["noise-law", "clipping", "sensitivity"], of=SHARES)
    report = verify(target, claim, seed=1, selection=chosen)
    found = {check.id: (check.verdict, check.code) for check in report.checks}
    refused = (Verdict.NOT_APPLICABLE, "input-refused")
    assert found["clipping"] == found["sensitivity"] == refused
    assert report.verdict is Verdict.PASS
