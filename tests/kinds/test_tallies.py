"""Tallies: their claims, what a round shows, evidence by enumeration, and the zoo."""

import itertools
import math
import tomllib
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cryptography", reason="needs the extra `tally`")

from tally_zoo import BROKEN, CORRECT, ENTRIES
from tally_zoo.shelf import FIVE, GATE, deployed, shares
from zoo_entry import Entry

from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.kinds.tally.checks.masks_over_rounds import of_those_there
from dpassay.verifiers.kinds.tally.checks.privacy_claim import TallyPrivacyClaim
from dpassay.verifiers.kinds.tally.claim import TallyClaim
from dpassay.verifiers.kinds.tally.evidence.again import MaskHistory, MasksAgain
from dpassay.verifiers.kinds.tally.evidence.ciphertexts import Ciphertexts
from dpassay.verifiers.kinds.tally.evidence.masked import BETWEEN, Keys, MaskEvidence
from dpassay.verifiers.kinds.tally.evidence.shifted import ShiftEvidence
from dpassay.verifiers.kinds.tally.registry import CHECKS
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget
from dpassay.verifiers.targets.tally import ShownRound


def claimed(text: str = FIVE, more: str = "") -> TallyClaim:
    found: TallyClaim = parse_claim(tomllib.loads(f"[mechanism]\n{text}{more}"))
    return found


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("modulus = 4096", "modulus = 100", "with noise need"),
        ("5/4", "4/4", "expected shares=5/N"),
        ("discrete-laplace:2;shares=5/4", "gaussian:2", "a tally is whole, expected "),
        ("discrete-laplace:2;shares=5/4", "discrete-laplace:2;min=0", "expected no min and max"),
        ("lower = 0", "lower = 0.5", "expected whole numbers, lower below upper"),
        ("quorum = 4", "quorum = 6", "quorum = 6: expected 1 to 5"),
        ("quorum = 4", "quorum = 4\ncolluders = 4", "expected fewer than the quorum, 4"),
        ("quorum = 4", "threshold = 4", "secure-tally does not take it"),
        ("parties = 5", "", "parties"),
        ("upper = 10", "upper = 36028797018963968", "reach 1.8e+17, expected 2^53 at most"),
    ],
)
def test_a_claim_that_cannot_hold_is_told_in_a_line(old, new, said) -> None:
    with pytest.raises(ClaimError) as error:
        claimed(FIVE.replace(old, new))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_whole_noise_of_each_party_leaves_with_it() -> None:
    """shares=5/1 is five times the noise, of which three parties bring three; sum=5 stays five.

    Catches the two taken for one another, by which parties who each add the whole noise were
    accused once one of them had left.
    """
    mechanism = claimed(FIVE.replace("5/4", "5/1") + "colluders = 3\n").mechanism
    assert str(mechanism.left(3)) == "discrete-laplace:2;shares=3/1"
    assert mechanism.left(3).family.standard_deviation == pytest.approx(
        math.sqrt(3) * parse_number_noise("discrete-laplace:2").family.standard_deviation
    )
    others = claimed(FIVE.replace("shares=5/4", "sum=5")).mechanism
    assert str(others.left(3)) == "discrete-laplace:2;sum=5"
    with pytest.raises(ClaimError, match="noise in shares"):
        claimed(FIVE.replace("shares=5/4", "sum=5") + "colluders = 3\n")


@pytest.mark.slow("whole runs; the law of what is left is tested by itself")
def test_parties_who_add_the_whole_noise_each_pass_after_dropouts() -> None:
    """A correct one fails with probability 1e-6 at most; sum=5 is refuted: three are left."""
    text = FIVE.replace("5/4", "5/1").replace("quorum = 4", "quorum = 3")
    found = []
    for given in (text, text.replace("shares=5/1", "sum=5")):
        claim = claimed(given, GATE)
        rng = np.random.default_rng(5)
        rounds = deployed(claim, rng, noise=shares(claimed(text), rng))
        target = InProcessTarget(rounds, release=claim.release)
        chosen = select(["recovery"], of=CHECKS.ids)
        found.append(verify(target, claim, seed=1, selection=chosen).verdict)
    assert found == [Verdict.PASS, Verdict.FAIL]


def test_the_cost_is_that_of_the_noise_left_against_colluders() -> None:
    """Of five parties four stay and two collude: two shares of the four that make the noise.

    Their epsilon at a delta of 0 is 160 times log P(0) / P(10), by sums of binomial numbers; what
    all shares would cost is 16 * 10 / 2 = 80. Catches a cost of the whole noise.
    """
    claim = claimed(
        FIVE + "colluders = 2\n", "[privacy]\nepsilon = 81.0\ndelta = 0.0\nqueries = 1\n"
    )
    left = claim.against_colluders.mechanism.noise
    assert str(left) == "discrete-laplace:2;shares=2/4"
    check = TallyPrivacyClaim(claim, claim.inputs(0), 0)
    outcome = check.conclude()
    assert outcome.verdict is Verdict.FAIL
    dearer = claimed(
        FIVE + "colluders = 2\n", "[privacy]\nepsilon = 200.0\ndelta = 0.0\nqueries = 1\n"
    )
    assert TallyPrivacyClaim(dearer, dearer.inputs(0), 0).conclude().verdict is Verdict.PASS


def test_a_shift_has_expectation_at_most_1_under_the_claim() -> None:
    """Enumerated over all outcomes of a draw, and of two: of one input, and of two.

    Catches a draw that is counted twice, and a mass that is no probability.
    """
    wide, numbers, mean = parse_number_noise("discrete-laplace:1"), np.arange(-60.0, 61.0), 0.0
    for number in numbers:
        evidence = ShiftEvidence(wide, 1, 20)
        evidence.observe(0, np.array([number]))
        mean += math.exp(float(wide.log_mass(number, 0.0)) + evidence.log_e_value)
    assert 0.99 < mean <= 1.0 + 1e-9
    noise = parse_number_noise("binomial:1.5")
    k = np.arange(-4.0, 5.0)
    p = np.exp(noise.log_mass(k, 0.0))
    for places in ((0, 0), (0, 1)):
        total = 0.0
        for one, other in itertools.product(range(k.size), repeat=2):
            evidence = ShiftEvidence(noise, 2, 40)
            evidence.observe(places[0], k[[one]])
            evidence.observe(places[1], k[[other]])
            total += p[one] * p[other] * math.exp(evidence.log_e_value)
        assert total <= 1.0 + 1e-9


@pytest.mark.slow("over half a second")
def test_masks_have_expectation_at_most_1_under_the_claim() -> None:
    """Null: two of three rows are uniform, the third makes the sum; 400 runs of 6 rounds.

    Their mean e-value lies within 5 deviations of 1 at most, and a tenth reach 10 (Ville). Catches
    differences that are counted twice, and the last row, which follows from the others.
    """
    rng, found = np.random.default_rng(3), []
    for _ in range(400):
        evidence = MaskEvidence(16, 3, rng)
        for _ in range(6):
            values = rng.integers(0, 3, (3, 4))
            masks = rng.integers(0, 16, (3, 4))
            masks[2] = -masks[:2].sum(0) % 16
            evidence.observe((values + masks) % 16, values)
        found.append(math.exp(evidence.log_e_value))
    assert np.mean(found) < 1.0 + 5.0 * np.std(found) / math.sqrt(len(found))
    assert np.mean(np.array(found) >= 10.0) <= 0.1


@pytest.mark.parametrize("sent", [(1, 2, 3), (1, 3), (2,)])
@pytest.mark.parametrize("modulus", [2, 3, 4])
def test_masks_that_come_again_have_expectation_at_most_1_under_the_claim(modulus, sent) -> None:
    """Enumerated over all rows of a round after two others: all but the last row are uniform.

    Catches the last row counted, and a law of the difference that is none on residues.
    """
    noise, rng = parse_number_noise("discrete-laplace:1"), np.random.default_rng(modulus)
    before = [rng.integers(0, modulus, (3, 1)) for _ in range(2)]
    values, found = np.array([[1], [0], [1]]), []
    free = sent[:-1] if len(sent) > 1 else sent
    for rows in itertools.product(range(modulus), repeat=len(free)):
        history = MaskHistory(modulus, 3, noise)
        for one in before:
            history.log_ratio({n: one[n - 1].tolist() for n in (1, 2, 3)}, values)
        round_of = {n: (row,) for n, row in zip(free, rows, strict=True)}
        round_of |= {n: (-sum(rows) % modulus,) for n in sent if n not in free}
        again = MasksAgain(2)
        again.observe(history.log_ratio(round_of, values))
        found.append(math.exp(again.log_e_value))
    assert 0.0 < np.mean(found) <= 1.0 + 1e-9


@pytest.mark.parametrize("modulus", [4096, 2**64, 2**64 - 59])
def test_a_mask_that_was_there_is_found_by_one_round(modulus) -> None:
    """Of one party, under noise that wraps around 0; and not where its masks are new.

    Catches differences of more than 62 bits, and parties that are told by their place in a round.
    """
    rng, noise = np.random.default_rng(5), parse_number_noise("discrete-laplace:2")

    def masks() -> list[list[int]]:
        return [[int(rng.integers(2**62)) * 5 % modulus for _ in range(16)] for _ in range(5)]

    for kept in (True, False):
        history, again, first = MaskHistory(modulus, 5, noise), MasksAgain(7), masks()
        for turn in range(8):
            mask, values = masks(), rng.integers(0, 11, (5, 16))
            if turn == 0 or (turn == 6 and kept):
                mask[3] = first[3]
            steps = (rng.integers(-2, 3, (5, 16)) + values).tolist()
            sent = {
                n + 1: tuple((one + k) % modulus for one, k in zip(mask[n], steps[n], strict=True))
                for n in ((0, 3, 4) if turn == 6 else range(5))
            }
            ratio = history.log_ratio(sent, values)
            if turn:
                again.observe(ratio)
        assert (again.log_e_value > 50.0) is kept


@pytest.mark.parametrize("shared", ["some parties", "some coordinates"])
def test_masks_shared_by_others_than_neighbours_are_found(shared) -> None:
    """Parties 1 and 3 of 5, or numbers that lie 8 apart of 16, have one mask in each round.

    Catches differences of next ones alone. Power 1: of 40 rounds two in five compare the two.
    """
    rng = np.random.default_rng(4)
    evidence = MaskEvidence(4096, 5, rng)
    for _ in range(40):
        values, masks = rng.integers(0, 10, (5, 16)), rng.integers(0, 4096, (5, 16))
        if shared == "some parties":
            masks[2] = masks[0]
        else:
            masks[:, 8:] = masks[:, :8]
        evidence.observe((values + rng.integers(-2, 3, (5, 16)) + masks) % 4096, values)
    assert evidence.log_e_value > math.log(1e8)
    assert evidence.likeliest == shared
    assert BETWEEN[shared].fields == {"all": False}


def test_a_key_is_repeated_where_it_changes_to_one_that_was() -> None:
    """A party may keep its key from round to round; another's key, or an old one, is a proof."""
    keys = Keys()
    assert keys.repeated({1: "a", 2: "b"}) is None
    assert keys.repeated({1: "a", 2: "c"}) is None
    assert keys.repeated({1: "d", 2: "c"}) is None
    assert keys.repeated({1: "b"}) == ("b", (2, 1), (1, 4))
    assert Keys().repeated({1: "a", 2: "a"}) == ("a", (1, 1), (2, 1))


def test_a_new_start_may_take_up_a_key_of_its_own() -> None:
    """One that is kept on disk; another party's is a proof, and so are two that come again.

    Catches a key that is accused for being kept, and a seeded generator that is let go.
    """
    keys = Keys()
    for held in ("a", "c", "e"):
        assert keys.repeated({1: held, 2: f"{held}2"}) is None
    keys.start_anew()
    assert keys.repeated({1: "a", 2: "a2"}) is None
    assert keys.repeated({1: "c", 2: "n"}) == ("c", (1, 2), (1, 5))
    keys.start_anew()
    assert keys.repeated({1: "a2"}) == ("a2", (2, 1), (1, 6))


def test_a_party_alone_in_a_round_has_no_mask() -> None:
    """What it sends is its value with noise: catches that taken for a mask that comes again."""
    rng, noise = np.random.default_rng(3), parse_number_noise("discrete-laplace:2")
    history, values = MaskHistory(4096, 2, noise), np.full((2, 8), 3)
    ratios = [
        history.log_ratio({1: tuple((3 + rng.integers(-2, 3, 8)).tolist())}, values)
        for _ in range(20)
    ]
    assert ratios == [0.0] * 20


def test_what_stands_for_parties_that_left_is_not_looked_at() -> None:
    """Zeros in place of null: catches two rounds whose zeros less the values are alike."""
    shown = ShownRound((0,), {1: (5,), 2: (0,), 3: (0,)}, {1: "a", 2: "0", 3: "c"}, {}, {2: ("",)})
    left = of_those_there(shown, np.array([0, 1, 2]))
    assert (left.sent, left.keys, left.ciphertexts) == ({1: (5,)}, {1: "a", 3: "c"}, {})
    after = of_those_there(shown, np.array([0, 3, 3]))
    assert after == shown


def test_a_ciphertext_is_repeated_whoever_sends_it() -> None:
    """Two new ones are never alike, of one party or of two; the first repeat is told.

    Catches one that is looked for among those of its party or of its round alone.
    """
    seen = Ciphertexts()
    assert seen.repeated({1: ("a", "b"), 2: ("c",)}) is None
    assert seen.repeated({}) is None
    assert seen.repeated({1: ("d",), 2: ("b", "a")}) == ("b", (1, 1), (2, 2))
    assert (seen.number, seen.rounds) == (4, 2)
    assert Ciphertexts().repeated({3: ("a", "a")}) == ("a", (3, 1), (3, 1))


def judged(entry: Entry, seed: int) -> Report:
    chosen = select(entry.caught, of=CHECKS.ids) if entry.name in QUICK else None
    return verify(entry.target(seed, 77), entry.claim, seed=seed, selection=chosen)


QUICK = ("signs-do-not-cancel",)
"""What the quick suite runs, with its checks alone."""


def shelf(entries: list[Entry]) -> list[Any]:
    slow = pytest.mark.slow("seconds each; others show the same")
    marked = ((entry, () if entry.name in QUICK else slow) for entry in entries)
    return [pytest.param(entry, id=entry.name, marks=mark) for entry, mark in marked]


@pytest.mark.parametrize("entry", shelf(BROKEN))
def test_a_broken_one_is_found_by_a_check_named_for_it(entry: Entry) -> None:
    report = judged(entry, 2)
    wrong = [c for c in report.checks if c.verdict in (Verdict.FAIL, Verdict.ERROR)]
    failed = {c.id: c.code for c in wrong}
    assert failed.keys() & set(entry.caught), (report.verdict, failed)
    assert not entry.code or entry.code in failed.values(), failed
    assert entry.like in {correct.name for correct in CORRECT}


@pytest.mark.parametrize("entry", shelf(CORRECT))
def test_a_correct_one_passes(entry: Entry) -> None:
    """A correct one fails with probability 1e-6 at most."""
    report = judged(entry, 2)
    messages = [(c.id, c.message) for c in report.checks if c.verdict is not Verdict.PASS]
    assert report.verdict is Verdict.PASS, messages


@pytest.mark.slow("whole runs; refused rounds fall out in test_excluded_by_tallies")
def test_rounds_with_dropouts_that_are_refused_are_told() -> None:
    """One that ends no round whose party leaves before keys: the others are judged, and it is said.

    Catches a run that ends at the first refusal, and one that says nothing of it.
    """
    entry = next(entry for entry in CORRECT if entry.name == "noise-before-the-modulus")
    rounds, claim = entry.made(np.random.default_rng([1, 77])), entry.claim

    def halts(values, size):
        if 1 in values[1]:
            raise ValueError("the workflow halted")
        return rounds(values, size)

    target = InProcessTarget(halts, release=claim.release)
    chosen = select(["recovery"], of=CHECKS.ids)
    report = verify(target, claim, seed=1, selection=chosen)
    assert report.verdict is Verdict.PASS
    (warning,) = [w for w in report.notes if w.code == "input-refused"]
    assert warning.fields == {"fewest": 4, "parties": 5}
    assert warning.message.endswith(": the workflow halted")


def test_each_check_catches_some_and_names_are_ids() -> None:
    caught = {check for entry in ENTRIES for check in entry.caught}
    assert caught <= set(CHECKS.ids)
    assert {"mask-uniformity", "wrap-around", "recovery"} <= caught
