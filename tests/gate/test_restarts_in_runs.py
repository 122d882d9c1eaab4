"""Restarts in whole runs: what was asked again, and what was not restarted is said."""

import itertools
import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from claims import SMALL
from runs import claimed, number, result

from dpassay.reference.clock import run_clock
from dpassay.verifiers import assert_conforms
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.embedded import reference_target
from dpassay.verifiers.kinds.labels.gathering import restarting as starts
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget, NotOffered, TargetError

COARSE = {"tolerance": 0.5, "smallest_effect": 0.3, "false_alarm": 1e-3}

ALONE = select(["fresh-noise"], of=SHARES)
"""For runs of which nothing else is looked at."""

claim = partial(claimed, "gaussian:10", classes=4, teachers=40, **COARSE)


def gaussian(seed):
    rng = np.random.default_rng(seed)
    return lambda votes, size: (votes + rng.normal(0, 10, (size, 4))).argmax(1)


def keeping(seed):
    draw, kept = gaussian(seed), {}

    def aggregate(votes, size):
        key = votes.tobytes()
        return [kept.setdefault(key, int(draw(votes, 1)[0]))] * size

    return aggregate


@pytest.mark.slow("whole runs; others are")
def test_a_run_without_a_restart_says_what_it_did_not_see() -> None:
    report = verify(InProcessTarget(gaussian(None)), claim(), seed=0)
    assert report.verdict is Verdict.PASS
    assert report.notes[0].code == "not-restarted"
    assert "--compare" in report.notes[0].message
    assert report.public()["warnings"][0] == report.notes[0].message
    caching = verify(InProcessTarget(keeping(1)), claim(caching=True), seed=0)
    assert caching.notes[0].code == "not-restarted"
    assert "--compare" not in caching.notes[0].message


class Restartable(InProcessTarget):
    """A target that can be restarted, and then draws from a generator of its own choice."""

    no_restart = None

    def restart(self):
        return None

    def restart_contained(self):
        raise NotOffered("not in this test")


class Workers(Restartable):
    """Four workers that answer by turns; each start of the service has seeds of its own.

    alike: all workers of a start have one seed; those that a run meets first are out of step.
    """

    at_once = 4

    def __init__(self, alike):
        self.alike = alike
        self.seeds = np.random.default_rng(11).integers(2**32, size=100).tolist()
        super().__init__(self.labels)
        self.begin(alike=False)

    def begin(self, alike):
        one = self.seeds.pop()
        drawn = [gaussian(one if alike else self.seeds.pop()) for _ in range(self.at_once)]
        self.turns = itertools.cycle(drawn)

    def labels(self, votes, size):
        return next(self.turns)(votes, size)

    def ask_each(self, calls):
        return [self.ask(histogram, size) for histogram, size in calls]

    def restart(self):
        self.begin(self.alike)


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.slow("over half a second")
def test_workers_are_compared_after_a_restart_too(alike) -> None:
    """Catches a comparison with earlier starts alone, which a seed of the start's own never copies.

    Null: a correct deployment, at the claim's false_alarm of 0.001.
    """
    report = verify(Workers(alike), claim(), seed=0, selection=ALONE)
    found = result(report, "fresh-noise")
    assert found.verdict == ("fail" if alike else "pass")
    assert found.code == ("noise-reused" if alike else None)


class InTurn(Restartable):
    """Every start takes the next of so many seeds; before and after it says whether it starts."""

    def __init__(self, seeds, refuses=()):
        self.seeds = itertools.cycle(range(seeds))
        self.refuses, self.tried = refuses, 0
        super().__init__(gaussian(next(self.seeds)))

    def restart(self):
        self.tried += 1
        if self.tried in self.refuses:
            raise TargetError("start request repeated too quickly")
        self._bind(gaussian(next(self.seeds)))


@pytest.mark.parametrize(
    "seeds", [2, pytest.param(8, marks=pytest.mark.slow("between the two others")), 50]
)
@pytest.mark.slow("over half a second")
def test_seeds_that_take_turns_are_found_where_starts_are_quick(seeds) -> None:
    """Catches a comparison with the start before alone, or with the run's own first labels.

    Null: fifty seeds do not come again in a run. At the claim's false_alarm of 0.001.
    """
    target = InTurn(seeds)
    report = verify(target, claim(), seed=0, selection=ALONE)
    found = result(report, "fresh-noise")
    assert found.verdict == ("fail" if seeds < 50 else "pass")
    if seeds < 50:
        assert found.code == "seeds-come-again"
        assert target.tried == seeds  # and no more, once it is found
    else:
        assert "9 starts" in found.message
        assert target.tried == 2 + starts.MORE


@pytest.mark.slow("over half a second")
def test_a_slow_start_is_not_repeated_and_said(monkeypatch) -> None:
    monkeypatch.setattr(starts, "_QUICK", 0.0)
    target = InTurn(8)
    report = verify(target, claim(), seed=0, selection=ALONE)
    assert report.verdict is Verdict.PASS
    assert target.tried == 2
    told = result(report, "fresh-noise").message
    assert "after every start" in told
    assert "start takes" in told


@pytest.mark.slow("a whole run; others of this file are quick")
def test_what_would_not_start_so_often_is_started_once_more_and_left(monkeypatch) -> None:
    """A service's manager may refuse that: no fault of the deployment, which must be up again."""
    monkeypatch.setattr(starts, "_PAUSE", 0.0)
    target = InTurn(8, refuses=(6,))
    report = verify(target, claim(restart="true"), seed=0, selection=ALONE)
    assert report.verdict is Verdict.PASS
    assert target.tried == 7
    told = result(report, "fresh-noise").message
    assert "up to 4 starts" in told
    assert "failed after 3" in told
    alone = verify(InTurn(8, refuses=(6,)), claim(), seed=0, selection=ALONE)
    assert alone.verdict is Verdict.ERROR


@pytest.mark.parametrize(
    ("start", "left", "why"),
    [(0.9, 10_000, "too little time is left"), (0.1, 31, "no queries are left")],
)
def test_more_lives_are_only_begun_where_time_and_queries_last(start, left, why) -> None:
    target, check = InTurn(8), SimpleNamespace(restarts=SimpleNamespace(why_few=None))
    compared = starts.RestartComparison(target, claim(), np.array([20, 10, 6, 4]))
    compared.start = start
    with run_clock(60.0):
        compared.compare_more(check, left, lambda: True)
    assert check.restarts.why_few == why
    assert target.tried == compared.queries == 0


@pytest.fixture(scope="module")
def without():
    """Queries of a pass without a restart, planned for just so many."""
    queries = claim().gate.max_queries
    for _ in range(2):  # a smaller budget makes a smaller plan
        made = claim(max_queries=queries)
        queries = verify(InProcessTarget(gaussian(1)), made, seed=0, selection=ALONE).queries
    return queries


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("more", [0, pytest.param(100, marks=pytest.mark.slow("another budget"))])
def test_no_pass_while_a_restart_is_owed(more, without) -> None:
    """All labels but those of the restart: catches a pass that left the restart out."""
    made = claim(max_queries=without + more)
    cut = verify(Restartable(gaussian(1)), made, seed=0, selection=ALONE)
    found = result(cut, "fresh-noise")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.code == "too-few-queries"
    assert 0 < number(found, "more") <= 2000


@pytest.mark.slow("whole runs; the reference is restarted in another")
def test_with_the_restart_it_is_a_pass() -> None:
    whole = verify(Restartable(gaussian(None)), claim(), seed=0)
    assert whole.verdict is Verdict.PASS


@pytest.mark.slow("over half a second")
def test_the_reference_is_made_anew_without_a_warning() -> None:
    report = verify(
        reference_target(claim()), claim(restart="/nonexistent"), seed=0, selection=ALONE
    )
    assert report.verdict is Verdict.PASS
    assert "not-restarted" not in {note.code for note in report.notes}
    assert "after a restart" in result(report, "fresh-noise").message


@pytest.mark.slow("over half a second")
def test_a_refuted_run_has_nothing_to_add() -> None:
    report = verify(InProcessTarget(lambda votes, size: [0] * size), claim(), seed=0)
    assert report.verdict is Verdict.FAIL
    assert "not-restarted" not in {note.code for note in report.notes}


@pytest.mark.slow("over half a second")
def test_kept_answers_are_asked_again_after_a_restart() -> None:
    """In memory they are drawn anew: the earliest and the latest are asked."""
    made = claim(caching=True)

    class RestartComparison(InProcessTarget):
        no_restart = None

        def __init__(self, forgets):
            self.forgets = forgets
            super().__init__(keeping(1))

        def restart(self):
            if self.forgets:
                self._bind(keeping(2))

    kept, lost = (
        result(verify(RestartComparison(forgets), made, seed=0, selection=ALONE), "fresh-noise")
        for forgets in (False, True)
    )
    assert kept.verdict is Verdict.PASS
    assert kept.code is None
    assert lost.verdict is Verdict.FAIL
    assert lost.code == "kept-answers-lost"
    assert lost.fields["first"] != lost.fields["again"]


@pytest.mark.slow("a whole run; others of this file are quick")
def test_an_object_may_have_its_server_restarted() -> None:
    mechanism = SMALL
    restart = f"{sys.executable} -c 'exit(5)'"
    table = {"mechanism": mechanism, "gate": COARSE | {"restart": restart}}
    with pytest.raises(TargetError, match="ended with status 5"):
        assert_conforms(gaussian(None), table, seed=0)
