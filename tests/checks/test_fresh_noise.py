"""`fresh-noise`: what silence states, and reused noise told by its likeliest cause."""

import numpy as np
import pytest
from runs import claimed, result

from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.verifiers.evidence.repetition import LONGEST
from dpassay.verifiers.kinds.labels.checks import LabelsFreshNoise
from dpassay.verifiers.kinds.labels.checks.reuse import WORDS
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.planning.streams import FRESH_CALL, Role
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget


@pytest.mark.slow("over half a second")
def test_silence_states_a_probability_of_copies_that_is_seen() -> None:
    check = LabelsFreshNoise(make_plan(claimed(), 0))
    rng = np.random.default_rng(0)
    mechanism = NoisyArgmax(Gaussian(40.0))
    for i, stream in enumerate(check.plan.streams):
        if stream.queries:
            straight = stream.queries - stream.rotated
            check.observe(i, mechanism.sample(stream.histogram, straight, rng))
    assert check.samples_needed() == 0
    assert check.log_e_value < check.log_threshold
    found = check.pass_finding()
    (one,) = found.excludes
    assert one.size["share"] <= 0.05
    # a quarter of the near-tie's labels under one numbering: the others are another histogram's
    longest = max(s.queries - s.rotated for s in check.plan.streams) // 4
    assert one.size["distance"] == min(longest, LONGEST)
    assert f"up to {one.size['distance']:,}" in found.message


class OncePerCall:
    """Draws noise once a call, for all of its answers."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __call__(self, histogram, size):
        return np.repeat((histogram + self.rng.normal(0, 40, histogram.size)).argmax(), size)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(s, marks=pytest.mark.slow("other seeds")) for s in range(1, 6))]
)
def test_noise_drawn_once_a_call_is_not_taken_for_kept_answers(seed) -> None:
    """A vendor told to claim caching for this would hide the fault."""
    report = verify(InProcessTarget(OncePerCall(seed)), claimed(), seed=seed)
    found = result(report, "fresh-noise")
    assert found.verdict == "fail"
    assert found.code in ("noise-once-per-call", "answers-equal-in-call")


@pytest.mark.slow("over half a second")
def test_two_restarts_that_repeat_the_first_call_are_told() -> None:
    check = LabelsFreshNoise(make_plan(claimed(), 0))
    mechanism = NoisyArgmax(Gaussian(40.0))
    votes = check.plan.streams[check.plan.first(Role.FRESH)].histogram
    first, other = (
        mechanism.sample(votes, FRESH_CALL, np.random.default_rng(seed)) for seed in (1, 2)
    )
    check.observe_restart(first, other)
    assert check.log_e_value < 3
    for _ in range(2):
        check.observe_restart(first, first)
    assert check.log_e_value > check.log_threshold
    assert check.fail_finding().code == "seed-fixed"


CODES = {"replayed": "state-replayed", "contained": "seed-of-process-id"}


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("alike", "likeliest"),
    [
        (("contained", "restarted"), "restarted"),
        (("late", "begun"), "restarted"),
        (("contained", "replayed"), "replayed"),
        (("replayed", "begun"), "replayed"),
        (("begun",), "begun"),
        (("contained",), "contained"),
        (("compared",), "compared"),
    ],
)
def test_lives_that_are_alike_are_told_by_their_likeliest_cause(alike, likeliest) -> None:
    """A fixed seed, and saved state, make starts of one process id alike too."""
    check = LabelsFreshNoise(make_plan(claimed(), 0))
    rng = np.random.default_rng(0)
    earlier = rng.integers(10, size=2000)
    calls = {
        "compared": (earlier[:32], earlier[:32]),
        "contained": (earlier[64:96], earlier[64:96]),
        "restarted": (earlier, earlier[:32]),
        "late": (earlier, earlier[8:40]),  # of a server in use when the run began
        "replayed": (earlier, earlier[1800:1832]),
        "begun": (earlier[64:128], earlier[64:96]),
    }
    check.observe_restart(earlier, rng.integers(10, size=32))
    for kind in alike:
        named = kind in ("compared", "contained", "begun")
        check.observe_restart(*calls[kind], kind=kind if named else "restarted")
    if "compared" in alike:  # the only one whose labels are of this start, and seen by all
        check.observe(check.plan.first(Role.FRESH), earlier[:32])
    assert check.log_e_value > check.log_threshold
    found = check.fail_finding()
    assert (found.code, found.message) == WORDS[likeliest][:2]
    assert found.code == CODES.get(likeliest, "seed-fixed")


class Restarts(InProcessTarget):
    """Its generator begins anew with every start; `used`: labels drawn before the run."""

    def __init__(self, seed, used=0):
        self.seed = seed
        self.restart()
        self.mechanism.sample([150, 100], used, self.rng)
        super().__init__(lambda votes, size: self.mechanism.sample(votes, size, self.rng))

    mechanism = NoisyArgmax(Gaussian(40.0))
    no_restart = None

    def restart(self):
        self.rng = np.random.default_rng(self.seed)


@pytest.mark.slow("whole runs with restarts; others are")
@pytest.mark.parametrize(
    ("seed", "used", "verdict"), [(7, 0, "fail"), (7, 100, "fail"), (None, 0, "pass")]
)
def test_the_gate_restarts_what_can_be_restarted(seed, used, verdict) -> None:
    """A server in use has given its first labels to others: two later starts are compared."""
    report = verify(Restarts(seed, used), claimed(), seed=1)
    assert report.verdict.value == verdict
    found = result(report, "fresh-noise")
    assert found.code == ("seed-fixed" if verdict == "fail" else None)
