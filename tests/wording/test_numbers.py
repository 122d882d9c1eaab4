"""What is said of numbers: each template of a sentence once, of evidence that is made up."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import BALL, COUNT, GAUSSIAN, GRADIENT, HISTOGRAM, PRIVATE, SUM

from dpassay.reference.arrays import Matrix
from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.findings.finding import Finding
from dpassay.verifiers.findings.note import Note
from dpassay.verifiers.kinds.numbers.checks.accountant_soundness import (
    AccountantSoundness,
    _Shortfall,
)
from dpassay.verifiers.kinds.numbers.checks.budget_enforcement import (
    AskedInput,
    NumbersBudgetAsking,
)
from dpassay.verifiers.kinds.numbers.checks.clipping import ClippingCheck
from dpassay.verifiers.kinds.numbers.checks.floating_point import FloatingPoint
from dpassay.verifiers.kinds.numbers.checks.fresh_noise import CopyOf, FreshNoise
from dpassay.verifiers.kinds.numbers.checks.gradient_leakage import GradientLeakage
from dpassay.verifiers.kinds.numbers.checks.histogram_leakage import HistogramLeakage
from dpassay.verifiers.kinds.numbers.checks.independence import Independence
from dpassay.verifiers.kinds.numbers.checks.invariance import (
    PermutationEquivariance,
    ShiftInvariance,
)
from dpassay.verifiers.kinds.numbers.checks.joint import Joint
from dpassay.verifiers.kinds.numbers.checks.location import Location
from dpassay.verifiers.kinds.numbers.checks.noise_law import NoiseLaw
from dpassay.verifiers.kinds.numbers.checks.noise_scale import NoiseScale
from dpassay.verifiers.kinds.numbers.checks.privacy_audit import PrivacyAudit
from dpassay.verifiers.kinds.numbers.checks.privacy_claim import NumbersPrivacyClaim
from dpassay.verifiers.kinds.numbers.checks.refusals import said_of
from dpassay.verifiers.kinds.numbers.checks.support import Support
from dpassay.verifiers.kinds.numbers.evidence.copula import common_shares
from dpassay.verifiers.kinds.numbers.evidence.described import NOT_DESCRIBED
from dpassay.verifiers.kinds.numbers.evidence.faults import known_faults
from dpassay.verifiers.kinds.numbers.evidence.moved import Seen
from dpassay.verifiers.kinds.numbers.evidence.noise_law import TrueDivisor
from dpassay.verifiers.kinds.numbers.planning.neighbours import HeldTo, Neighbour
from dpassay.verifiers.kinds.numbers.planning.other_sums import other_sums
from dpassay.verifiers.kinds.numbers.planning.pairs import (
    certified_pair,
    edge_pairs,
    farthest_pair,
    low_pairs,
)
from dpassay.verifiers.run.checks import Setting
from dpassay.verifiers.run.refusals import Told

ZEROS = np.zeros((50, 1))


def made(check: Any, text: str = HISTOGRAM) -> Any:
    claim = claimed(text)
    return check.make(Setting(claim, 1, claim.inputs(1)))


def said(found: Finding) -> tuple[str, str | None]:
    return found.message, found.diagnosis


@pytest.mark.parametrize(
    ("noise", "code", "words"),
    [
        ("laplace:2", "scale-too-small", "noise of half the claimed scale"),
        ("laplace:2", "scale-too-large", "noise of 1.5 times the claimed scale"),
        ("laplace:2", "releases-off-centre", "releases lie 0.2 below the exact value"),
        ("laplace:2", "noise-family-differs", "gaussian:2.82843 noise, of equal variance"),
        ("laplace:2", "noise-family-differs", "gaussian:2 noise, of equal scale"),
        ("laplace:2", "noise-missing", "no noise at all"),
        ("laplace:2", "noise-missing-at-times", "no noise in 5% of the numbers"),
        ("laplace:2", "rounding-differs", "sums are cut to whole numbers, towards zero"),
        ("laplace:2", "rounding-differs", "rounded to multiples of 0.5"),
        (
            "laplace:2",
            "noise-tails-cut",
            "no noise beyond 16 from the exact value, where the claim has 0.00034 of the draws",
        ),
        ("laplace:2", "noise-one-sided", "noise is only ever added"),
        ("laplace:2", "noise-one-sided", "noise is only ever taken away"),
        (
            "laplace:2",
            *("noise-one-sided", "releases are never below the exact value, but at it"),
        ),
        ("laplace:2", "clamped-unclaimed", "clamped at 0 without being claimed"),
        ("laplace:2;min=0", "not-clamped", "not clamped as claimed"),
        ("discrete-laplace:2", "noise-cut", "noise is cut to whole numbers, towards zero"),
        ("laplace:2;grid=0.5", "rounding-differs", "sums are cut down to multiples of 0.5"),
        (
            "laplace:2;cut",
            *("rounding-differs", "sums are rounded to the nearest whole number, not cut"),
        ),
        (
            "discrete-laplace:2",
            "noise-not-discrete",
            "continuous noise, rounded to whole numbers, in place of discrete noise",
        ),
        (
            "discrete-laplace:2;sum=2",
            "noise-shares-differ",
            "discrete-laplace:2;sum=1 in place of discrete-laplace:2;sum=2: the noise of one is "
            "missing",
        ),
        (
            "laplace:2",
            *("divisor-differs", "all is twice as large as claimed, divided by half the number"),
        ),
        (
            "laplace:2",
            *("divisor-differs", "all is half as large as claimed, divided by twice the number"),
        ),
        ("laplace:2", "divisor-differs", "sum and noise are not divided by 24"),
        ("laplace:2", "divisor-differs", "sum and noise are divided by 24 twice"),
    ],
)
def test_a_known_fault(noise: str, code: str, words: str) -> None:
    faults = known_faults(parse_number_noise(noise), divisor=24.0)
    assert [fault.cause.code for fault in faults if fault.name == words] == [code]


def test_a_divisor_that_is_private() -> None:
    noise = parse_number_noise("laplace:2")
    found = [TrueDivisor(noise, 24.0, noise_too=too).cause for too in (True, False)]
    assert {cause.code for cause in found} == {"divisor-private"}
    words = "divided by the number of records that came, not by 24"
    assert [cause.message for cause in found] == [
        f"sum and noise are {words}",
        f"the sum is {words}",
    ]


def test_other_sums() -> None:
    """Of records and of norms."""
    found = []
    for text in (SUM.replace("lower = -1.0", "lower = 0.0"), BALL):
        claim = claimed(text)
        found += [
            cause
            for cause, _ in other_sums(claim.mechanism.law, np.zeros((3, claim.mechanism.width)))
        ]
    assert {cause.message: cause.code for cause in found} == {
        "records are clipped by the larger bound, to both signs, not as claimed": CLIPPED,
        "records are clipped by the L1 norm, not as claimed": CLIPPED,
        "records are clipped by the L2 norm, not as claimed": CLIPPED,
        "records are clipped by each number for itself, not as claimed": CLIPPED,
        "the first record is left out": "record-left-out",
        "the last record is left out": "record-left-out",
        "the sum is clipped, not each record": CLIPPED,
        "exact numbers are rounded down to whole ones before noise is added": "rounding-differs",
        "exact numbers are rounded to the nearest whole ones before noise is added": (
            "rounding-differs"
        ),
    }


CLIPPED = "clipped-otherwise"
AGAIN = "noise comes again: a small pool of seeds, one seed for several workers or inputs, a table"


@pytest.mark.parametrize(
    ("way", "where", "cause"),
    [
        (
            CopyOf.AFTER_RESTART,
            "the same calls before a restart",
            "a seed fixed at the start of the target: every start repeats the noise",
        ),
        (
            CopyOf.EARLIER_RUN,
            "the same calls of an earlier run",
            "a seed fixed at the start of the target: every start repeats the noise",
        ),
        (
            CopyOf.LAST,
            "the release before",
            "noise is drawn once and used for several releases",
        ),
        (
            CopyOf.LAST_CALL,
            *("the first release of the call before", "every call begins with the same noise"),
        ),
        (
            CopyOf.LAST_NEGATED,
            "the release before, with the other sign",
            "releases come in pairs of opposite noise",
        ),
        (
            CopyOf.IN_TURN,
            "the release before, of an input that differs in one number",
            "noise is drawn anew for numbers that have changed, and kept for the others",
        ),
        (
            CopyOf.BESIDE,
            "the coordinate before",
            "one draw serves several numbers of a release",
        ),
        (
            CopyOf.BESIDE_NEGATED,
            "the coordinate before, with the other sign",
            "numbers of a release have opposite noise",
        ),
        (
            CopyOf.ANY_CALL,
            "the first release of some earlier call",
            "calls take their seed from a small pool, seeds come again, or noise is cut off",
        ),
        (
            CopyOf.LONG_AGO,
            "some earlier draw, in the first numbers of releases",
            "noise comes again: a table, a short period, or noise cut off at its ends",
        ),
        (CopyOf.WHOLE, "some earlier release", AGAIN),
        (
            CopyOf.TURNED,
            *("some earlier release, turned", "noise is used again, negated, reversed or rolled"),
        ),
        (CopyOf.RUN, "a run of noise before", AGAIN),
        (
            CopyOf.NEARBY,
            "a run of noise in the eight releases before",
            "noise of a release is used again, moved or negated, in one soon after",
        ),
        (
            CopyOf.ABREAST,
            "a call in flight beside it",
            "calls in flight together get the same noise: workers of one seed, or of the clock's",
        ),
    ],
)
def test_noise_that_comes_again(way: CopyOf, where: str, cause: str) -> None:
    check = made(FreshNoise)
    evidence = SimpleNamespace(
        matches=30, draws=1_200, log_ratios=np.full(1, 90.0), log_e_value=90.0
    )
    check.ways = {way: evidence}
    if way is CopyOf.ABREAST:
        check._abreast = evidence
    beside = (CopyOf.BESIDE, CopyOf.BESIDE_NEGATED, CopyOf.EARLIER_RUN, CopyOf.AFTER_RESTART)
    check.ways |= {each: QUIET for each in beside if each is not way}
    found = check.fail_finding()
    assert said(found) == (f"30 of 1,200 draws repeat the noise of {where}", cause)
    assert (found.code, found.fields["repeated"]) == (way.cause.code, where)


QUIET = SimpleNamespace(matches=0, draws=9, log_ratios=np.zeros(1), log_e_value=0.0)


def test_sizes_that_numbers_share() -> None:
    check = made(FreshNoise)
    for way in (CopyOf.BESIDE, CopyOf.BESIDE_NEGATED):
        check.ways[way]._ratios += 90.0
    found = check.fail_finding()
    assert found.code == "noise-shared-within-release"
    assert found.diagnosis == "numbers of a release share the size of their noise, and not the sign"


@pytest.mark.parametrize(
    ("kind", "words", "cause"),
    [
        (
            "a release and the second before",
            "a release and the second before, a correlation of about",
            "the noise of a release is made of that of earlier ones",
        ),
        (
            "neighbouring coordinates",
            "neighbouring coordinates, a correlation of about",
            "numbers of a release share noise: one draw, or one key of a generator, serves several",
        ),
        (
            "a part that all numbers of a release share",
            "a part that all numbers of a release share, with opposite signs: they cancel in their "
            "sum",
            "noise is taken from some numbers of a release as it is given to others",
        ),
    ],
)
def test_noise_that_is_not_independent(kind: str, words: str, cause: str) -> None:
    check = made(Independence)
    (chosen,) = (each for each in check.kinds if each.words == kind)
    opposite = int(np.argmin(common_shares(10))) if chosen.together else 0
    chosen.evidence.gains[..., opposite] = 500.0
    message, diagnosis = said(check.fail_finding())
    assert message.startswith(f"noise is not independent: {words}")
    assert diagnosis == cause


def seen_sums(change: Callable[[Matrix], None]) -> Finding:
    """What is said of 4,000 releases of independent scores that are then changed."""
    check = made(Independence, HISTOGRAM.replace("laplace:2", "gaussian:3"))
    found = np.random.default_rng(6).standard_normal((4_000, 10))
    change(found)
    for part in np.array_split(found, 10):
        check._sums.observe(part)
    told: Finding = check.fail_finding()
    return told


@pytest.mark.parametrize(
    ("times", "moved", "code", "field", "message", "cause"),
    [
        (
            2.0,
            0.0,
            "scale-too-large",
            {"factor": pytest.approx(2.0, abs=0.11)},
            "coordinate 3 lies farther from the exact value than the claim says",
            "noise of about {factor:g} times the claimed scale for coordinate 3",
        ),
        (
            0.5,
            0.0,
            "scale-too-small",
            {"factor": pytest.approx(0.5, abs=0.03)},
            "coordinate 3 lies less far from the exact value than the claim says",
            "noise of about {factor:g} times the claimed scale for coordinate 3",
        ),
        (
            1.0,
            2.0,
            "releases-off-centre",
            {"offset": 6.0},
            "coordinate 3 lies farther from the exact value than the claim says",
            "releases lie about 6 above the exact value for coordinate 3",
        ),
    ],
)
def test_one_number_of_another_law_is_no_dependence(
    times: float, moved: float, code: str, field: dict[str, Any], message: str, cause: str
) -> None:
    """Of `gaussian:3` noise. Catches a number that is told as a sum of itself."""

    def change(scores: Matrix) -> None:
        scores[:, 3] = times * scores[:, 3] + moved

    found = seen_sums(change)
    assert (found.code, found.fields) == (code, {**field, "where": "coordinate 3"})
    assert said(found) == (message, cause.format(**found.fields))


def test_a_sum_that_varies_little() -> None:
    def change(scores: Matrix) -> None:
        scores[:, 2:7] -= scores[:, 2:7].mean(1, keepdims=True)

    found = seen_sums(change)
    where = "a sum, or difference, of coordinates 2, 3, 4, 5, 6 varies less than theirs would"
    assert (found.code, found.message) == ("noise-cancels", f"noise is not independent: {where}")
    assert found.otherwise == (
        f"by the claimed law the noise looks dependent ({where}), as noise of another scale, shape "
        "or centre does"
    )


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([500], "was not looked at, as releases are too few"),
        (
            [64, 100, 36],
            "was looked at in 136 releases, of what those before them suggest, in the first 10 "
            "numbers, for no stated size",
        ),
    ],
)
def test_releases_in_which_sums_were_looked_at(parts: list[int], words: str) -> None:
    """Those from which something was learned, and no later one was asked, are none."""
    check = made(Independence)
    for part in parts:
        check._sums.observe(np.random.default_rng(part).standard_normal((part, 10)))
    ends = f"; the spread of single numbers, and of sums of several, {words}"
    assert check.pass_finding().message.endswith(ends)


@pytest.mark.parametrize(
    ("check", "message", "cause"),
    [
        (
            ShiftInvariance,
            "the noise depends on how large the values are: of the inputs typical and moved by 17, "
            "1,200 pairs of draws have two laws",
            "noise is made for the size of the input: its total, its largest value, its records",
        ),
        (
            PermutationEquivariance,
            "the noise depends on the order: of the inputs typical and reversed, 1,200 pairs of "
            "draws have two laws",
            "some cells, or the first records, are treated otherwise than the rest",
        ),
    ],
)
def test_noise_of_two_laws(check: Any, message: str, cause: str) -> None:
    standing = made(check)
    standing.comparisons[0].evidence = SimpleNamespace(pairs=1_200, log_e_value=90.0)
    assert said(standing.fail_finding()) == (message, cause)


def law_of(
    forbidden: Any, group: str | None = None, nats: float = 90.0, described: bool = True
) -> Finding:
    check = made(NoiseLaw)
    fault = next(f for f in check.evidence.faults if f.name == "noise of half the claimed scale")
    worst = (group, fault, nats)
    check.evidence = SimpleNamespace(
        forbidden=forbidden,
        worst=lambda: worst,
        describes=lambda *_: described,
        cause=lambda _group, fault: fault.cause,
        near=lambda *_: None,
    )
    found: Finding = check.fail_finding()
    return found


@pytest.mark.parametrize(
    ("found", "message", "cause"),
    [
        (
            law_of((0.5, 3.0)),
            "0.5 was released where the exact value is 3: laplace:2 never gives it",
            "the release is rounded or bounded otherwise than claimed",
        ),
        (
            law_of(None),
            "releases do not follow laplace:2",
            "noise of half the claimed scale (the nearest of the laws compared)",
        ),
        (
            law_of(None, "coordinate 7"),
            "releases do not follow laplace:2, most of all for coordinate 7",
            "noise of half the claimed scale for coordinate 7 (the nearest of the laws compared)",
        ),
        (law_of(None, None, 1.0), "releases do not follow laplace:2", None),
        (
            law_of(None, described=False),
            "releases do not follow laplace:2",
            NOT_DESCRIBED.message,
        ),
    ],
)
def test_another_law(found: Finding, message: str, cause: str | None) -> None:
    assert said(found) == (message, cause)


@pytest.mark.parametrize(
    ("factor", "contributions", "cause"),
    [
        (0.5, "", "noise of half the claimed scale"),
        (2.0, "", "noise of twice the claimed scale"),
        (0.8, "", "noise of 0.8 times the claimed scale"),
        (
            1 / 3,
            '\nunit = "user"\nmax_contributions = 3',
            "noise of 1/3 of the claimed scale: max_contributions = 3 is missing",
        ),
    ],
)
def test_another_scale(factor: float, contributions: str, cause: str) -> None:
    check = made(NoiseScale, HISTOGRAM + contributions)
    logs = -1e4 * np.log(check.evidence.factors / factor) ** 2
    check.evidence.add(logs)
    low, high = check.interval
    message = f"the scale lies from {low:.4g} to {high:.4g}, and 2 is claimed"
    told = f"{cause} (the nearest of the laws compared)"
    assert said(check.fail_finding()) == (message, told)
    assert check.pass_finding().message == (
        f"the scale lies from {low:.4g} to {high:.4g}, if the noise is of the claimed family "
        "(confidence 1 - 1.3e-07); 2 is claimed"
    )


def test_a_scale_that_does_not_describe_the_releases() -> None:
    """Draws in the middle and in the tails alone, of which twice the scale is the likeliest."""
    check = made(NoiseScale)
    check.evidence.add(-1e4 * np.log(check.evidence.factors / 2.0) ** 2)
    check._counts = np.zeros(check._table.shape[1])
    check._counts[500] = check._counts[-1] = 1_000.0
    found = check.fail_finding()
    message = "no scale of laplace noise describes the releases"
    assert said(found) == (message, NOT_DESCRIBED.message)
    assert found.code == "claim-may-not-describe"


def test_no_scale_at_all() -> None:
    check = made(NoiseScale)
    check.evidence.highest[:] = np.inf
    message = "no scale of laplace noise explains the releases"
    assert said(check.fail_finding()) == (message, None)


@pytest.mark.parametrize(("role", "where"), [("", ""), ("empty", " for the input empty")])
def test_another_centre(role: str, where: str) -> None:
    check = made(Location)
    logs = check.inputs[role] if role else check.all
    logs[:] = -100.0
    logs[-1] = 0.0
    message = f"releases lie about 8 above the exact value{where}"
    assert said(check.fail_finding()) == (message, message)


def test_what_comes_bare() -> None:
    check = made(Joint)
    whole = SimpleNamespace(matches=3, draws=1_200, log_ratios=np.full(1, 90.0), log_e_value=90.0)
    bare = {"releases": whole, "barest": (7, 80.0), "hits": np.full(10, 400)}
    bare["always"] = np.array([7]), 70.0
    check.evidence = SimpleNamespace(of_numbers=0.0, **bare)
    assert said(check.fail_finding()) == (
        "3 of 1,200 releases came wholly without noise",
        "some releases have no noise in any of their numbers",
    )
    check.evidence = SimpleNamespace(of_numbers=99.0, **bare)
    assert said(check.fail_finding()) == (
        "number 7 of a release is exact in 400 of 1,200 releases",
        "number 7 of a release has no noise, always or now and then",
    )
    bare["always"] = np.arange(6), 480.0
    check.evidence = SimpleNamespace(of_numbers=99.0, **bare)
    _, diagnosis = said(check.fail_finding())
    assert diagnosis == "6 numbers of a release have no noise: 0, 1, 2, 3, 4, ..."


UNCLIPPED = "records are not clipped as claimed before they are summed"


@pytest.mark.parametrize(
    ("held_to", "message", "cause"),
    [
        (
            HeldTo.MOVE,
            "a record moves coordinate 1 by about 100, and the claim allows 1",
            UNCLIPPED,
        ),
        (
            HeldTo.RANGE,
            "a record: coordinate 1 lies about 100 off the middle of what they may be taken for, "
            "and the claim allows 1",
            UNCLIPPED,
        ),
        (
            HeldTo.SUM,
            "a record: coordinate 1 lies about 100 off their exact sum",
            "records within the bounds are left out, changed, or summed with a loss",
        ),
    ],
)
def test_records_that_move_too_far(held_to: HeldTo, message: str, cause: str) -> None:
    check = made(ClippingCheck, SUM)
    neighbour = Neighbour("a record", np.zeros((3, 3)), np.zeros(3), 1.0, held_to=held_to)
    released = np.tile([0.0, 100.0, 0.0], (50, 1))
    seen = Seen(np.arange(3), released, np.zeros(3), np.zeros(3), np.full((50, 3), 1e-9))
    found = check._moved(neighbour, seen)
    assert found is not None
    assert said(found) == (message, cause)


def test_records_along_which_a_release_moves() -> None:
    check = made(ClippingCheck, BALL)
    neighbour = Neighbour("a record", np.zeros((3, 4)), np.zeros(4), 1.0)
    along = np.tile([100.0, 100.0], (50, 1))
    found = check._moved_along(neighbour, np.eye(4)[0], along, 53)
    assert said(found) == (
        "a record moves the release along itself by about 100, and the claim allows 2",
        UNCLIPPED,
    )
    answered = SimpleNamespace(numbers=np.full((50, 4), np.nan), along=None)
    assert said(check._judged(neighbour, answered)) == (
        "a record: the release is nan, which no noise hides",
        UNCLIPPED,
    )


def test_altered_records_that_are_refused() -> None:
    told = [("a record of 1,000", "too large"), ("one of -1,000", "too large"), ("NaN", "no NaN")]
    found = said_of([(name, Note("input-refused", why)) for name, why in told])
    assert [note.message for note in found] == [
        "a record of 1,000 and 1 other input like it are refused: too large",
        "NaN is refused: no NaN",
    ]
    assert [note.fields for note in found] == [{"inputs": 2}, {"inputs": 1}]


def test_a_refusal_that_depends_on_the_data() -> None:
    told = Told([4], [5], 45, True, "too few")
    found = told.finding(str, "empty")
    assert found.code == "refusal-tells-inputs-apart"
    assert found.fields == {"input": "empty", "calls": 45}
    assert found.message == (
        "of two neighbours one is never answered, [4], and the other always, [5]: in 45 calls, "
        "each of the one that a coin chose (empty): too few"
    )
    assert found.diagnosis == "whether there is an answer depends on the data"
    note = told.undecided(str, "empty", 40)
    assert note.fields == {"input": "empty", "calls": 45, "left": 40}
    assert note.message == (
        "[4] was refused, and its neighbour [5] answered (empty): too few; whether that is chance "
        "takes 45 calls to tell, and max_queries leaves 40"
    )


def test_pairs_that_are_told_apart() -> None:
    check = made(Support, COUNT)
    pair = edge_pairs(check.claim.mechanism, check.plan.coordinates)[0]
    evidence = check.evidence(pair)
    evidence.observe(ZEROS + 5.0, ZEROS)
    assert said(check.fail_finding(pair, evidence).finding) == (
        "a released number is above 0 in 100.00% of the releases of a count of 0 and in 0.00% of "
        "those of its neighbour, a count of 1: the claimed noise gives a number that moves as "
        "theirs does epsilon 1, which does not allow that (50 pairs)",
        "the range of releases depends on the data",
    )


def test_low_bits_that_tell() -> None:
    for exact, start in (
        ("", 'allowed, since the claim has floating_point = "ideal": '),
        (
            '\nfloating_point = "exact"',
            "",
        ),
    ):
        check = made(FloatingPoint, GAUSSIAN + exact)
        pair = low_pairs(check.claim.mechanism, check.plan.coordinates)[0]
        evidence = check.evidence(pair)
        evidence.observe(ZEROS + 2.0**-60, ZEROS + 1.0)
        found = check.fail_finding(pair, evidence).finding
        message = (
            "low bits tell 0 from 1: a bit at or below 2^-53 is set in 100.00% of the releases of "
            "0 and 0.00% of those of 1: the claimed noise gives a number that moves as theirs does "
            "epsilon 0.4215 at delta 0.02, which does not allow that (50 pairs)"
        )
        assert said(found) == (start + message, "noise is drawn and added in floating point")
        warning = f'floating-point: {message}; floating_point = "exact" would make this a failure'
        assert [note.message for note in found.warnings] == ([] if exact else [warning])


def test_neighbours_that_differ_too_much() -> None:
    check = made(PrivacyAudit, COUNT + PRIVATE.format(1.0, 1))
    pair = farthest_pair(check.claim.mechanism, check.plan.coordinates)
    evidence = check.evidence(pair)
    for _ in range(2):
        evidence.observe(ZEROS, ZEROS + 1.0)
    message, cause = said(check.fail_finding(pair, evidence).finding)
    assert message == (
        f"an event learned from earlier releases came in 100.00% of the releases of {pair.words[0]}"
        f" and in 0.00% of those of its neighbour, {pair.words[1]}: the claimed epsilon 1 at delta "
        "1e-06 does not allow that of one release (100 pairs)"
    )
    assert cause == "the releases of neighbours differ more than the claim allows: too little noise"


@pytest.mark.parametrize(
    ("epsilon", "queries", "message"),
    [
        (
            3.0,
            8,
            "epsilon 3 at delta 1e-06 over 8 releases is claimed, and the cost of 8 releases is at "
            "least 4.57038 (certified in ball arithmetic; 4.57038 in floating point)",
        ),
        (
            5.0,
            8,
            "epsilon 5 at delta 1e-06 over 8 releases is not refuted: the cost of 8 releases is "
            "4.57038; an epsilon below 4.57038 would have been refuted",
        ),
        (
            3.0,
            1,
            "epsilon 3 at delta 1e-06 over one release is not refuted: the cost of one release is "
            "1.44799; an epsilon below 1.44799 would have been refuted",
        ),
    ],
)
def test_a_claim_of_privacy(epsilon: float, queries: int, message: str) -> None:
    found = (
        made(NumbersPrivacyClaim, GAUSSIAN + PRIVATE.format(epsilon, queries)).conclude().finding
    )
    cause = "the accountant charges too little, or the claim allows too many queries"
    assert said(found) == (message, cause if "at least" in message else None)


@pytest.mark.parametrize(
    ("charge", "cause"),
    [
        (0.25, "the accountant charges 0.25 of the exact cost, as if a record moved 2 times less"),
        (0.0, "the accountant charges nothing"),
    ],
)
def test_a_charge_that_is_too_low(charge: float, cause: str) -> None:
    short = _Shortfall("[0, 0]", 2.0, charge, 1.0)
    assert said(made(AccountantSoundness, GAUSSIAN)._violation(short)) == (
        f"charged {charge:g} at order 2 for [0, 0], but against its farthest neighbour it costs at "
        "least 1 (certified in ball arithmetic)",
        cause,
    )


def asking() -> NumbersBudgetAsking:
    claim = claimed(GAUSSIAN + PRIVATE.format(3.0, 3))
    found = NumbersBudgetAsking(claim, certified_pair(claim.mechanism))
    found.target, found.limit = SILENT, 4
    return found


SILENT: Any = SimpleNamespace(spent=lambda delta: 0.0)


@pytest.mark.parametrize(
    ("answered", "beside", "violation", "diagnosis"),
    [
        (
            4,
            0,
            "4 answers to [0, 0] cost more than (3, 1e-06), namely epsilon 3.098 or more "
            "(certified in ball arithmetic)",
            "the budget is not enforced",
        ),
        (
            1,
            3,
            "1 answer to [0, 0] and 3 to inputs like it cost more than (3, 1e-06), namely epsilon "
            "3.098 or more (certified in ball arithmetic)",
            "a budget is kept for each input, and what they cost adds up",
        ),
    ],
)
def test_a_budget_that_is_exceeded(
    answered: int, beside: int, violation: str, diagnosis: str
) -> None:
    found, asked = asking(), AskedInput("[0, 0]", None, answered, beside=beside)
    found.judge(asked)
    assert found.violation is not None
    assert (found.violation.message, found.violation.diagnosis) == (violation, diagnosis)


@pytest.mark.parametrize(
    ("start", "violation", "diagnosis"),
    [
        (
            0.0,
            "spent said epsilon 0 after 1 answer to [0, 0], but that cost at least 1.44799 at "
            "delta 1e-06 (certified in ball arithmetic)",
            "answers to [0, 0] are not charged",
        ),
        (
            -1.0,
            "spent said epsilon 0 after 1 answer to [0, 0], but that cost at least 1.44799 at "
            "delta 1e-06 (certified in ball arithmetic)",
            "the account charges less than the answers certainly cost",
        ),
    ],
)
def test_an_account_that_says_too_little(start: float, violation: str, diagnosis: str) -> None:
    found, asked = asking(), AskedInput("[0, 0]", None, 1)
    found.answered, found.account.start, found.account.now = 1, start, 0.0
    found.judge(asked)
    assert found.violation is not None
    assert (found.violation.message, found.violation.diagnosis) == (violation, diagnosis)


def test_what_averages_read() -> None:
    """400 releases of scale 3 are 0.15 off."""
    claim = HISTOGRAM.replace("laplace:2", "gaussian:3") + PRIVATE.format(50.0, 400)
    message = (
        "by the claim, the average of 400 releases of one input lies 0.15 off (standard "
        "deviation), and reads 99.9% of the numbers to within 0.5, half of what one record moves "
        "them"
    )
    found = made(HistogramLeakage, claim).conclude().finding
    assert said(found) == (message, None)
    assert [note.message for note in found.warnings] == [
        "the claim lets an attacker who averages its releases read 99.9% of the numbers to within "
        "half of what one record moves them (see histogram-leakage); max_recoverable in [gate] "
        "sets a limit"
    ]
    found = made(HistogramLeakage, f"{claim}\n[gate]\nmax_recoverable = 0.9").conclude().finding
    assert said(found) == (
        f"{message}: more than max_recoverable = 0.9 allows",
        "releases of one input average out: lower the claim's queries, or add more noise",
    )


@pytest.mark.parametrize(
    ("limit", "releases", "end"),
    [
        (0.0, 1, ""),
        (0.9, 1, ": within max_advantage = 0.9"),
        (
            0.5,
            *(3, ": more than max_advantage = 0.5 allows, though not surely so at this "),
        ),
    ],
)
def test_what_gradients_tell(limit: float, releases: int, end: str) -> None:
    leakage: Any = SimpleNamespace(named="sex", batch=8, releases=releases, max_advantage=limit)
    gained = SimpleNamespace(value=0.6, low=0.5, high=0.7)
    right = np.array([True, True, True, False])
    played: Any = SimpleNamespace(advantage=gained, right=right, guessing=0.55, base=0.55)
    found = made(GradientLeakage, GRADIENT)._judged(leakage, played, played).finding
    each = "one release" if releases == 1 else "3 releases"
    message = (
        f"from {each} of a batch of 8 records, an attacker infers sex in 75.0% of 4 simulated "
        "trials, where 55.0% are right by always saying the commonest value: 60.0% of what there "
        "is to gain (50.0% to 70.0% with confidence 0.95; 75.0% right in 4 trials on what the "
        "target released)"
    )
    assert found.message == message + end + ("false_alarm" if limit == 0.5 else "")
    assert [note.message for note in found.warnings] == (
        []
        if limit
        else [
            "the claim lets an attacker gain 60.0% of what there is to infer of sex (see "
            "gradient-leakage); max_advantage in [leakage] sets a limit"
        ]
    )


@pytest.mark.parametrize(
    ("check", "text", "message"),
    [
        ("noise-law", HISTOGRAM, None),
        ("partition-release", HISTOGRAM, "the deployment releases numbers, no keys"),
        ("privacy-claim", HISTOGRAM, "the claim has no [privacy]"),
        ("gradient-leakage", HISTOGRAM, "the claim has no [leakage]: no model and data to attack"),
        (
            "histogram-leakage",
            GRADIENT + PRIVATE.format(3.0, 4),
            "every release is of another batch: there is nothing to average",
        ),
        ("permutation-equivariance", COUNT, "the deployment releases a single number"),
        (
            "floating-point",
            COUNT,
            "discrete-laplace:1 is whole: its releases have no low bits",
        ),
        (
            "floating-point",
            HISTOGRAM.replace("laplace:2", "laplace:2;round"),
            "laplace:2;round is claimed to be rounded: noise-law holds releases to that grid",
        ),
        (
            "support",
            BALL.replace("gaussian", "discrete-gaussian"),
            "discrete-gaussian:2 is added to sums of any numbers: it hides whole ones alone, of "
            "records between whole lower and upper",
        ),
        (
            "privacy-claim",
            HISTOGRAM.replace("cells = 10", "cells = 2000").replace("add-remove", "replace-one")
            + PRIVATE.format(1.0, 1),
            None,
        ),
    ],
)
def test_what_is_not_looked_at(check: str, text: str, message: str | None) -> None:
    claim = claimed(text)
    found = claim.kind.checks.lacking(claim).get(check)
    assert (found and found.message) == message
