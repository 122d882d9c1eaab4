"""Calls on two inputs in flight together: a label that belongs to another call is found."""

import numpy as np
import pytest
from runs import claimed, result

from dpassay.verifiers.evidence.crossed import CrossedReleases
from dpassay.verifiers.kinds.labels.gathering.in_flight import MOST_QUERIES
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

ALONE = select(["fresh-noise"], of=SHARES)
COARSE = {"tolerance": 0.5, "smallest_effect": 0.3, "false_alarm": 1e-3}


class Served(InProcessTarget):
    """Takes four calls at once, each of which reads the histogram `read` of those in flight.

    read: gives, of (calls, c) histograms in flight, those that are read; scale: of the noise.
    """

    at_once = 4

    def __init__(self, read, scale=10.0):
        self.rng, self.read, self.scale = np.random.default_rng(5), read, scale
        super().__init__(self.labels)

    def labels(self, votes, size):
        return (votes + self.rng.normal(0, self.scale, (size, 4))).argmax(1)

    def ask_each(self, calls):
        votes = [histogram for histogram, _ in calls]
        read = []
        for start in range(0, len(votes), self.at_once):
            read += self.read(votes[start : start + self.at_once])
        return [self.labels(one, size) for one, (_, size) in zip(read, calls, strict=True)]


def own(votes):
    return votes


def last(votes):
    """The request is an attribute that the next one overwrites."""
    return [votes[-1]] * len(votes)


def rarely(votes, calls=[0]):  # noqa: B006 - counts
    """Two calls of fifty are crossed."""
    calls[0] += len(votes)
    return votes[::-1] if calls[0] % 100 < len(votes) else votes


def rolled(votes):
    """Replies go out in another order than requests came in."""
    return [*votes[1:], votes[0]]


def run(target, **gate):
    claim = claimed("gaussian:10", classes=4, teachers=40, **COARSE | gate)
    return verify(target, claim, seed=0, selection=ALONE, after_failure="stop")


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("read", [last, rarely, rolled])
def test_labels_of_another_call_are_found(read) -> None:
    """Catches calls in flight that are all of one histogram, which show nothing of this."""
    found = result(run(Served(read), concurrency=4), "fresh-noise")
    assert found.verdict == "fail"
    assert found.code == "release-of-another-call"
    assert found.fields["crossed"] >= 4


@pytest.mark.slow("over half a second")
def test_a_right_service_is_told_how_fast_it_was_asked() -> None:
    """Null: every call reads its own request; at the claim's false_alarm of 0.001."""
    found = result(run(Served(own), concurrency=4), "fresh-noise")
    assert found.verdict == "pass", found.message
    assert f"of {MOST_QUERIES} calls on two histograms, 4 in flight and " in found.message


@pytest.mark.slow("over half a second")
def test_a_wrong_scale_is_not_taken_for_crossed_calls() -> None:
    found = result(run(Served(own, scale=40.0), concurrency=4), "fresh-noise")
    assert found.code != "release-of-another-call"


LAWS = np.log([[0.9, 0.08, 0.02], [0.5, 0.3, 0.2]])  # one input, claimed and at a larger scale
OTHER = np.log([0.05, 0.05, 0.9])


def evidence(drawn, rng, labels=30):
    found = CrossedReleases()
    outcomes = rng.choice(3, labels, p=drawn)
    found.observe(LAWS[:, outcomes].T, OTHER[outcomes])
    return found


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("law", [0, 1])
def test_evidence_on_crossed_calls_is_fair_under_each_law_of_the_null(law) -> None:
    """The mean of 4,000 values, each below 1 in expectation: six standard errors of room."""
    rng = np.random.default_rng(1)
    values = np.exp([evidence(np.exp(LAWS[law]), rng).log_e_value for _ in range(4_000)])
    assert values.mean() <= 1.0 + 6.0 * values.std() / np.sqrt(values.size)


def test_evidence_on_crossed_calls_grows_where_three_in_ten_are() -> None:
    """Of 120 labels, past log 20 with probability .9 or more: in 100 runs fewer than 75 by 5e-6.

    Catches wagers that lose what they gain, or a null that has the other input's law.
    """
    rng = np.random.default_rng(2)
    mixed = 0.7 * np.exp(LAWS[0]) + 0.3 * np.exp(OTHER)
    found = [evidence(mixed, rng, 120).log_e_value for _ in range(100)]
    assert sum(value > np.log(20.0) for value in found) >= 75
