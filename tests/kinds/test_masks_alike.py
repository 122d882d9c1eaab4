"""Tallies: masks that are there before in their round or run, and noise of dropouts that is."""

import itertools
import math
import tomllib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from runs import result
from scipy.stats import nbinom

pytest.importorskip("cryptography", reason="needs the extra `tally`")

from tally_zoo.shelf import FIVE, GATE

from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.kinds.tally.evidence.alike import (
    AlikeResidues,
    MasksOfRun,
    NoiseAgain,
    SeenBefore,
    cells_of,
    counts_before,
)
from dpassay.verifiers.kinds.tally.evidence.masked import MaskEvidence
from dpassay.verifiers.kinds.tally.registry import CHECKS
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget


def test_counts_before_are_those_of_a_loop() -> None:
    keys = np.random.default_rng(1).integers(0, 5, 40)
    listed = keys.tolist()
    assert counts_before(keys).tolist() == [listed[:k].count(listed[k]) for k in range(40)]


@pytest.mark.parametrize(("modulus", "width"), [(3, 1), (5, 2), (4, 3)])
def test_residues_alike_have_expectation_1_under_the_claim(modulus: int, width: int) -> None:
    """Enumerated over four uniform residues. Catches a last cell that is taken for a whole one."""
    found = []
    for row in itertools.product(range(modulus), repeat=4):
        evidence = AlikeResidues(modulus, width)
        evidence.observe(np.array(row))
        found.append(np.exp(evidence.parts))
    assert np.mean(found, axis=0) == pytest.approx(np.ones(3), abs=1e-12)


@pytest.mark.parametrize("share", [None, 0.1])
def test_things_seen_before_have_expectation_1_under_the_claim(share: float | None) -> None:
    """Enumerated over four draws of a law of three things, which are not as likely as each other.

    Catches a thing counted among those before itself.
    """
    law = (0.5, 0.3, 0.2)
    mean = 0.0
    for drawn in itertools.product(range(3), repeat=4):
        evidence = SeenBefore()
        evidence.add(0)
        for thing in drawn:
            evidence.observe(thing, math.log(law[thing]), share)
        mean += math.prod(law[thing] for thing in drawn) * math.exp(evidence.log_e_value)
    assert mean == pytest.approx(1.0, abs=1e-12)


def test_masks_that_repeat_far_off_in_their_round_are_found() -> None:
    """Of 300 numbers the last 44 have the masks of the first: 256 apart, which no neighbours show.

    New masks reach e^14 by chance once in a million times. Catches numbers compared with next ones.
    """
    for again in (True, False):
        rng = np.random.default_rng(2)
        evidence = MaskEvidence(65_536, 3, rng)
        for _ in range(5):
            masks = rng.integers(0, 65_536, (3, 300))
            if again:
                masks[:, 256:] = masks[:, :44]
            evidence.observe(masks, np.zeros((3, 300), dtype=np.int64))
        assert (evidence.log_e_value > 14.0) == again
        if again:
            assert evidence.likeliest == "any coordinates"


@pytest.mark.parametrize(("modulus", "width"), [(4096, 1), (2**64, 1), (4096, 8)])
def test_a_mask_of_a_pool_is_found_whenever_it_comes_again(modulus: int, width: int) -> None:
    """A party's mask is that of another party, 600 rounds before; all others are new.

    Catches masks that are compared with those of the same party, or of few rounds, alone. With
    noise two may fall into next cells: the middle of a cell does not.
    """
    for again in (True, False):
        rng = np.random.default_rng(3)
        pool = MasksOfRun(modulus, width, 40, range(1, 5))
        assert pool.applies
        values = rng.integers(0, 5, (5, 40))
        cells = rng.integers(0, modulus // width - 1, 40, dtype=np.uint64, endpoint=True).tolist()
        kept = [cell * width + width // 2 for cell in cells]
        for turn in range(700):
            masks = rng.integers(0, modulus - 1, (5, 40), dtype=np.uint64, endpoint=True)
            masks = masks.astype(object)
            if turn == 20:
                masks[1] = kept
            if turn == 620 and again:
                masks[0] = kept
            sent = (masks + values) % modulus
            pool.observe({k + 1: tuple(map(int, row)) for k, row in enumerate(sent)}, values)
        assert (pool.log_e_value > 16.0) == again


def test_a_mask_with_new_noise_is_seen_as_often_as_is_said() -> None:
    """Each party adds a quarter of discrete-laplace:2, a difference of two negative binomials.

    How often two such numbers share a cell is summed over that law; runs of three rounds then show
    how often a mask is seen again. Catches cells of a few deviations of the noise, in all 11 of
    which such a mask falls again once in six times.
    """
    claim = parse_claim(tomllib.loads(f"[mechanism]\n{FIVE}"))
    noise = claim.mechanism.left(2)
    width, chance = cells_of(noise, 4096, 16)
    steps = np.arange(400)
    half = nbinom.pmf(steps, 0.5, -math.expm1(-0.5))
    law = np.convolve(half, half[::-1])
    shared = np.maximum(0.0, 1.0 - np.abs(np.arange(-399, 400)) / width)
    rng, values, found = np.random.default_rng(8), np.zeros((5, 16), dtype=np.int64), 0
    for _ in range(150):
        pool = MasksOfRun(4096, width, 16, range(1, 6))
        kept = rng.integers(0, 4096, 16)
        for turn in range(3):
            masks = rng.integers(0, 4096, (5, 16))
            if turn != 1:
                parts = rng.negative_binomial(0.25, -math.expm1(-0.5), (2, 16))
                masks[1] = (kept + parts[0] - parts[1]) % 4096
            pool.observe({k + 1: tuple(row) for k, row in enumerate(masks.tolist())}, values)
        found += pool.log_e_value > 22.0
    assert chance == pytest.approx(float((law * shared).sum()) ** pool.compared, abs=0.02)
    assert found / 150 == pytest.approx(chance, abs=0.18)  # five deviations
    assert chance > 0.7


def test_short_masks_are_not_compared_over_a_run() -> None:
    """Masks of 8 numbers modulo 16 come again by chance: nothing may be said of them."""
    assert not MasksOfRun(16, 1, 8, (1, 2)).applies


def test_noise_of_a_round_before_is_found_where_parties_left() -> None:
    """Of rounds with dropouts, whose noise is that of the full round before them."""
    noise = parse_number_noise("discrete-laplace:2;sum=2")
    for again in (True, False):
        rng = np.random.default_rng(4)
        evidence, zeros = NoiseAgain(), np.zeros(8)
        for _ in range(20):
            full = noise.sample(zeros, 1, rng)[0]
            evidence.add(full)
            evidence.observe(full if again else noise.sample(zeros, 1, rng)[0], noise)
        assert (evidence.log_e_value > 16.0) == again


def test_noise_seen_again_has_expectation_1_at_most_under_the_claim() -> None:
    """Enumerated over four rounds of two numbers, each 1 or 2; the last three are wagered on.

    Catches a number that is taken for less likely than the claim says.
    """
    law = {1.0: 0.8, 2.0: 0.2}
    noise: Any = SimpleNamespace(log_mass=lambda off, _exact: np.log([law[one] for one in off]))
    mean = 0.0
    for drawn in itertools.product(itertools.product(law, repeat=2), repeat=4):
        evidence = NoiseAgain()
        evidence.add(np.array(drawn[0]))
        for off in drawn[1:]:
            evidence.observe(np.array(off), noise)
        chance = math.prod(law[one] for off in drawn for one in off)
        mean += chance * math.exp(evidence.log_e_value)
    assert 0.5 < mean <= 1.0


@pytest.mark.parametrize(
    ("factors", "numbers", "bare"),
    [((0.0, 0.0), 16, 0.0), ((0.15, 0.15), 4, 0.0), ((1.0, 0.05), 16, 0.0), ((1.0, 1.0), 16, 0.3)],
)
def test_noise_of_another_law_is_no_noise_of_a_round_before(
    factors: tuple[float, float], numbers: int, bare: float
) -> None:
    """Noise that is missing, too small, or missing in some rounds, is no seed set anew.

    factors: of the scale, with all parties there and once some have left; bare: the share of these
    rounds that have none. Catches a copy that is judged by the law of the claim alone: rounds
    without noise are all alike.
    """
    noise, zeros = parse_number_noise("discrete-laplace:2;sum=5"), np.zeros(numbers)
    rng, evidence = np.random.default_rng(7), NoiseAgain()
    for turn in range(140):
        left = turn >= 60 and turn % 2 == 1
        factor = factors[left] * (not left or rng.random() >= bare)
        off = np.rint(noise.sample(zeros, 1, rng)[0] * factor) + 0.0
        if left:
            evidence.observe(off, noise)
        else:
            evidence.add(off)
        assert evidence.log_e_value < 5.0


@pytest.mark.slow("two whole runs; the evidence is tested by itself")
def test_a_run_finds_noise_that_is_kept_for_rounds_with_dropouts() -> None:
    """Catches rounds of `recovery` that are judged by the law of each number alone."""
    text = FIVE.replace("5/4", "5/1").replace("shares=5/1", "sum=5").replace("quorum = 4", "")
    claim = parse_claim(tomllib.loads(f"[mechanism]\n{text}{GATE}"))
    chosen = select(["recovery"], of=CHECKS.ids)
    found = []
    for kept in (True, False):
        rng, last = np.random.default_rng(6), {}

        def rounds(given, size, kept=kept, rng=rng, last=last):
            told = []
            for _ in range(size):
                held, leaves = (np.asarray(part) for part in given)
                sends = np.isin(leaves, (0, 3))
                if sends.sum() <= len(sends) // 2:
                    raise ValueError("too few")
                exact = held[sends].sum(0)
                noise = claim.mechanism.noise.sample(np.zeros(exact.size), 1, rng)[0]
                if sends.all() or "noise" not in last or not kept:
                    last["noise"] = noise
                told.append((exact + last["noise"]).astype(int).tolist())
            return told

        target = InProcessTarget(rounds, release=claim.release)
        report = verify(target, claim, seed=1, selection=chosen)
        found.append((report.verdict, result(report, "recovery").code))
    assert found[0] == (Verdict.FAIL, "noise-reused")
    assert found[1][0] is Verdict.PASS
