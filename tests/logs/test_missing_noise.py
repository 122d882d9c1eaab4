"""What a passing log says of missing noise: where it would have shown, and where it would not.

Figures follow from claim and histograms. They are computed anew from the exact probabilities of
each label, and held to logs in which the noise is missing.
"""

import math

import numpy as np
import pytest
from drawn_rows import HISTOGRAMS, drawn
from small import small_claim

from dpassay.reference import log_probabilities
from dpassay.reference.noise import Gaussian
from dpassay.verifiers.kinds.labels.logs import judge
from dpassay.verifiers.kinds.labels.logs.costs import Costs
from dpassay.verifiers.kinds.labels.logs.findings import log_results
from dpassay.verifiers.kinds.labels.logs.judge import LogEvidence, chunks
from dpassay.verifiers.kinds.labels.logs.missing_noise import Runs
from dpassay.verifiers.kinds.labels.logs.strata import WEIGHTS

ROWS = 3000
LEAK = 1e-3  # of the claim in each wager


def judged(rows, claim=None):
    """The result on the labels, and the evidence."""
    claim = claim or small_claim()
    evidence = LogEvidence(claim, 0)
    for chunk in chunks(rows, 700):
        evidence.observe(chunk)
    results = log_results(evidence, Costs(claim))
    return next(r for r in results if r.id == "class-probabilities"), evidence


def excluded(result):
    """Entries on missing noise by where: rows in a row, the last ones, at random, each party."""
    kinds = {"rows in a row": "anywhere", "the last rows": "last", "rows at random": "share"}
    missing = [one for one in result.excludes if "factor" not in one.size]
    return {kinds.get(one.where[0], one.size.get("of")): one for one in missing}


def named(rows):
    """Rows of 4 workers in turn, three of which are seldom asked, and of hours in turn."""
    return [
        row._replace(
            worker=("a", "b", "c", "d")[0 if at % 100 else at // 100 % 4],
            time=60.0 * at,
            time_text=f"{60 * at}",
        )
        for at, row in enumerate(rows)
    ]


def without_noise(rows, places):
    """The rows, where the plurality is released at some places."""
    found = list(rows)
    for at in places:
        found[at] = found[at]._replace(label=int(np.argmax(found[at].histogram)))
    return found


def test_a_pass_says_in_how_many_rows_missing_noise_would_have_shown():
    """Catches a pass that speaks of noise missing in all rows alone."""
    result, _ = judged(named(drawn(ROWS, 1)))
    assert result.verdict == "pass"
    found = excluded(result)
    assert 10 < found["last"].size["rows"] <= found["anywhere"].size["rows"] < 300
    assert 0.01 < found["share"].size["share"] < 0.4
    assert found["share"].code == "noise-missing-at-times"
    assert found["hour"].size["groups"] == 24
    assert "a" in found["worker"].where
    assert all(one.probability == 0.99 and one.queries == ROWS for one in found.values())


@pytest.mark.slow("over half a second")
def test_what_is_excluded_follows_from_the_histograms_alone():
    """Catches figures that answers move: other labels of the same inputs exclude the same."""
    rows = named(drawn(ROWS, 1))
    noise = np.random.default_rng(8).normal(0.0, 10.0, (ROWS, 4))
    again = [
        row._replace(label=int(np.argmax(np.array(row.histogram) + each)))
        for row, each in zip(rows, noise, strict=True)
    ]
    assert sum(a.label != b.label for a, b in zip(rows, again, strict=True)) > ROWS / 10
    assert judged(rows)[0].excludes == judged(again)[0].excludes


def test_the_last_rows_are_those_that_gain_enough():
    """By the wager that sets in there, written out. Catches a prior or a threshold left out.

    A row without noise of a plurality with probability q gains log((1 - LEAK) m / q + LEAK), where
    m = 1 / 4 for the tie of four. The wager has the weights POINTED, half, that of the fault, and
    the prior of its first row, 1 / log2(n + 1) - 1 / log2(n + 2).
    """
    rows = drawn(ROWS, 1)
    result, evidence = judged(rows)
    told = excluded(result)
    gains: dict[tuple[int, ...], float] = {}
    for votes in HISTOGRAMS:
        q = math.exp(log_probabilities(np.array(votes), Gaussian(10.0)).max())
        m = 1.0 / votes.count(max(votes))
        gains[votes] = math.log((1.0 - LEAK) * m / q + LEAK)
    weight = (
        judge.POINTED * 0.5 * math.exp(evidence.pointed.log_weights[evidence.alternatives.bare])
    )
    threshold = evidence.thresholds["class-probabilities"]
    gain = np.array([gains[row.histogram] for row in rows])

    def shows(start, end):
        prior = 1.0 / math.log2(start + 2) - 1.0 / math.log2(start + 3)
        # a hundredth of log 100 more, as the bound is taken at an exponent of 100
        return gain[start:end].sum() - 0.01 * math.log(100) >= threshold - math.log(weight * prior)

    last = told["last"].size["rows"]
    assert shows(ROWS - last, ROWS)
    assert not shows(ROWS - last + 1, ROWS)
    anywhere = told["anywhere"].size["rows"]
    assert all(shows(start, start + anywhere) for start in range(1, ROWS - anywhere + 1))
    shorter = anywhere - 1
    assert not all(shows(start, start + shorter) for start in range(1, ROWS - shorter + 1))


@pytest.mark.slow("over half a second")
def test_noise_missing_in_so_many_rows_in_a_row_does_show():
    """Each of 9 logs shows: there is no chance in the labels of such rows."""
    for seed in range(3):
        rows = drawn(ROWS, 100 + seed)
        found = excluded(judged(rows)[0])
        last, anywhere = (found[where].size["rows"] for where in ("last", "anywhere"))
        for start, length in ((ROWS - last, last), (ROWS // 3, anywhere), (1, anywhere)):
            _, evidence = judged(without_noise(rows, range(start, start + length)))
            assert evidence.refuted("class-probabilities")


@pytest.mark.parametrize(
    ("logs", "most"), [(12, 5), pytest.param(60, 8, marks=pytest.mark.slow("more logs"))]
)
@pytest.mark.slow("twelve logs; rows in a row and hours are quick")
def test_noise_missing_in_that_share_of_rows_shows(logs, most):
    """At 0.99, five of 12 logs or more are missed with probability 8e-8, eight of 60 1.6e-7."""
    missed = 0
    for seed in range(logs):
        rows = drawn(ROWS, 200 + seed)
        share = excluded(judged(rows)[0])["share"].size["share"]
        bare = np.flatnonzero(np.random.default_rng(seed).random(ROWS) < share)
        missed += not judged(without_noise(rows, bare))[1].refuted("class-probabilities")
    assert missed < most


@pytest.mark.slow("over half a second")
def test_a_share_that_is_not_excluded_may_pass():
    """The figure is of use: a fifth of it is seen in none of five logs. Catches a share of 1."""
    rows = drawn(ROWS, 3)
    share = excluded(judged(rows)[0])["share"].size["share"] / 5.0
    for seed in range(5):
        bare = np.flatnonzero(np.random.default_rng(seed).random(ROWS) < share)
        assert judged(without_noise(rows, bare))[0].verdict == "pass"


@pytest.mark.slow("over half a second")
def test_workers_and_hours_that_are_excluded_show_and_seldom_ones_are_not_named():
    """Three workers of 10 rows, in which no wager can gain enough."""
    rows = named(drawn(ROWS, 4))
    found = excluded(judged(rows)[0])
    assert found["worker"].where == ("a",)
    assert (found["worker"].size["seen"], found["worker"].size["groups"]) == (1, 4)
    for kind in ("worker", "hour"):
        for name in found[kind].where[:5]:
            bare = [
                at
                for at, row in enumerate(rows)
                if name == (row.worker if kind == "worker" else f"{at // 60 % 24:02d}")
            ]
            assert judged(without_noise(rows, bare))[1].refuted("class-probabilities")


@pytest.mark.slow("over half a second")
def test_one_hour_of_each_day_without_noise_is_found_and_named():
    """Catches an hour that is not wagered on: five rows in a row are too few, one in 24 of all too.

    50 days of five rows an hour.
    """
    rows = [
        row._replace(time=720.0 * at, time_text=str(720 * at))
        for at, row in enumerate(drawn(6000, 5))
    ]
    bare = [at for at in range(6000) if at // 5 % 24 == 3]
    result, _ = judged(without_noise(rows, bare))
    assert (result.verdict, result.code, result.fields["hour"]) == ("fail", "noise-missing", "03")
    assert judged(rows)[0].verdict == "pass"


def test_a_stretch_of_inputs_that_tell_nothing_is_not_excluded():
    """800 rows whose plurality is certain: noise missing there alone cannot show.

    Catches an average over all rows, by which 60 in a row would do.
    """
    certain = drawn(800, 6, histograms=[(200, 0, 0, 0)])
    result, _ = judged([*drawn(ROWS, 7), *certain])
    found = excluded(result)
    assert found["last"].size["rows"] > 800
    assert found["anywhere"].size["rows"] > 800


def test_all_wagers_on_labels_together_are_worth_one():
    """Their mean is no martingale otherwise: correct logs would fail more often than is told."""
    weights = (
        *(judge.POINTED, judge.BY_RANK, judge.BY_NUMBER),
        *(*judge.PARTIES.values(), *WEIGHTS.values()),
    )
    assert sum(weights) == pytest.approx(1.0, abs=1e-12)


def test_runs_do_not_depend_on_how_rows_are_added():
    gains = np.random.default_rng(9).random((500, 1)) * np.ones((1, 6))
    found = []
    for size in (1, 13, 500):
        runs = Runs(20.0)
        for start in range(0, 500, size):
            runs.observe(gains[start : start + size])
        found.append((runs.last, runs.anywhere))
    assert len(set(found)) == 1


@pytest.mark.parametrize("few", [30, 200])
def test_rows_that_pass_nothing_exclude_nothing(few):
    """A log that is too short to show noise of twice the scale passes nothing."""
    result, _ = judged(drawn(few, 10))
    assert (result.verdict == "pass") == bool(result.excludes)
