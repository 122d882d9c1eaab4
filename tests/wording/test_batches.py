"""What is said of a sampler, of made-up batches: each sentence once, with its code."""

import tomllib
from typing import Any

import numpy as np
import pytest

from dpassay.verifiers.findings.verdict import Verdict
from dpassay.verifiers.kinds.batches import subsets
from dpassay.verifiers.kinds.batches.checks import made_checks
from dpassay.verifiers.kinds.batches.price import BatchesPrivacyClaim
from dpassay.verifiers.kinds.batches.registry import CHECKS
from dpassay.verifiers.kinds.batches.sizes import AGAIN, DRIFT, EVEN, MISSING, RATE
from dpassay.verifiers.kinds.batches.wagers import TILTS
from dpassay.verifiers.kinds.batches.watch import Watch
from dpassay.verifiers.kinds.reading import parse_claim

SOME, LIKE = [[0, 1, 2], [3, 4], [0, 1, 2], [5, 6, 7]], [[0, 1, 2], [3, 4, 5], [0, 1, 2]]
SIZES = (
    "of 4 batches they have 2.75 records in the mean, from 2 to 3; the claim says 3, with a "
    "deviation of 1.45"
)
COMES = "in 4 batches of 10 records one comes 1.1 times in the mean, from 0 to 2, and 2 never"
RATES = {"rate": pytest.approx(0.275), "claimed": 0.3}
CAME = {"never": 2, "least": 0, "most": 2}


def claim_of(sampling: str, more: str = "") -> Any:
    text = f'[mechanism]\nname = "batches"\nsampling = "{sampling}"\nrecords = 10\n{more}'
    return parse_claim(tomllib.loads(text))


def watched(sampling: str, batches: list[list[int]]) -> Watch:
    watch = Watch(claim_of(sampling).mechanism.batches)
    for batch in batches:
        watch.observe(np.array(batch, dtype=np.int64))
    return watch


def check_of(sampling: str, check: str, watch: Watch) -> Any:
    found = made_checks(claim_of(sampling), watch, 50)
    return next(one for one in found if one.id == check)


@pytest.mark.parametrize(
    ("sampling", "check", "batches", "code", "fields", "message", "diagnosis"),
    [
        (
            "fixed:3",
            "repeats",
            [[0, 1, 1]],
            "drawn-with-replacement",
            {"batch": 1, "record": 1, "times": 2},
            "batch 1 has record 1 2 times",
            "records of a batch are drawn with replacement",
        ),
        (
            "fixed:3",
            "batch-size",
            [[0, 1]],
            "batch-size-differs",
            {"batch": 1, "size": 2, "expected": 3},
            "batch 1 has 2 records: expected 3",
            "batches have other sizes than the claim says",
        ),
        (
            "shuffle:4",
            "batch-size",
            [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 2, 3]],
            "last-batch-dropped",
            {"batch": 3, "size": 4, "expected": 2, "left": 2},
            "batch 3 has 4 records, and 2 records are left of its epoch: expected 2",
            "the last batch of an epoch is dropped",
        ),
        (
            "shuffle:3",
            "coverage",
            [[0, 1, 2], [2, 3, 4]],
            "record-again-in-epoch",
            {"batch": 2, "record": 2, "left": 7},
            "record 2 of batch 2 was in its epoch already, with 7 left",
            "records are drawn anew for each batch, or an epoch ends before all have come",
        ),
    ],
)
def test_a_proof(sampling, check, batches, code, fields, message, diagnosis) -> None:
    found = check_of(sampling, check, watched(sampling, batches)).fail_finding()
    assert (found.code, dict(found.fields)) == (code, fields)
    assert (found.message, found.diagnosis) == (message, diagnosis)


@pytest.mark.parametrize(
    ("sampling", "check", "batches", "shown", "code", "fields", "message", "diagnosis"),
    [
        (
            "poisson:0.3",
            "batch-size",
            SOME,
            (RATE, -1),
            "sampling-rate-differs",
            RATES,
            SIZES,
            "the rate is about 0.275, not 0.3",
        ),
        (
            "poisson:0.3",
            "batch-size",
            SOME,
            (DRIFT, -1),
            "sampling-rate-drifts",
            RATES,
            SIZES,
            "the rate changes, or sizes follow each other",
        ),
        (
            "poisson:0.3",
            "batch-size",
            SOME,
            (EVEN, -1),
            "batch-size-spread-differs",
            RATES,
            SIZES,
            "sizes spread less or more than they should",
        ),
        (
            "poisson:0.3",
            "batch-size",
            SOME,
            (MISSING, 0),
            "batch-sizes-missing",
            {"below": 1, "expected": pytest.approx(4 * 0.7**10)},
            SIZES,
            "no batch has a size below 1, where 0.1 are expected",
        ),
        (
            "poisson:0.3",
            "batch-size",
            SOME,
            (MISSING, 3),
            "batch-sizes-missing",
            {"above": 5, "expected": pytest.approx(4 * 0.04735, rel=1e-3)},
            SIZES,
            "no batch has a size above 5, where 0.2 are expected",
        ),
        (
            "poisson:0.3",
            "batch-size",
            SOME,
            (MISSING, -1),
            "batch-sizes-missing",
            {"multiples_of": 10, "times": 0},
            SIZES,
            "0 of 4 sizes are multiples of 10",
        ),
        (
            "poisson:0.3",
            "batch-size",
            SOME,
            (AGAIN, -1),
            "batch-sizes-repeat",
            {"size": 3, "times": 3, "batches": 4},
            SIZES,
            "3 of 4 batches have 3 records",
        ),
        (
            "poisson:0.3",
            "batch-size",
            [[0, 1, 2]] * 2,
            (AGAIN, -1),
            "batch-size-fixed",
            {"size": 3, "times": 2, "batches": 2},
            "of 2 batches they have 3 records in the mean, from 3 to 3; the claim says 3, with a "
            "deviation of 1.45",
            "batches have a fixed size, 3",
        ),
        (
            "poisson:0.3",
            "inclusion",
            SOME,
            (subsets.NUMBERED, -1),
            "draws-follow-numbers",
            CAME,
            COMES,
            "records of some numbers come more often than others",
        ),
        (
            "poisson:0.3",
            "inclusion",
            SOME,
            (subsets.ENDS, -1),
            "end-record-rate-differs",
            {"record": 9, "times": 0, "expected": pytest.approx(1.1)},
            COMES,
            "record 9 is in 0 of 4 batches",
        ),
        (
            "poisson:0.3",
            "inclusion",
            SOME,
            (subsets.NEVER, -1),
            "records-never-drawn",
            CAME,
            COMES,
            "some records never come",
        ),
        (
            "poisson:0.3",
            "inclusion",
            SOME,
            (subsets.OFTEN, -1),
            "records-drawn-too-often",
            CAME,
            COMES,
            "some records come more often than others",
        ),
        (
            "poisson:0.3",
            "inclusion",
            SOME,
            (subsets.SINGLE, -1),
            "records-drawn-too-often",
            CAME,
            COMES,
            "a single record comes more often than others",
        ),
        (
            "shuffle:3",
            "inclusion",
            [[0, 1, 2]],
            (subsets.EARLIER, -1),
            "epoch-order-kept",
            {"never": 7, "least": 0, "most": 1},
            "in 1 batches of 10 records one comes 0.3 times in the mean, from 0 to 1, and 7 never",
            "the order of an epoch follows that of earlier ones",
        ),
        (
            "fixed:3",
            "independence",
            LIKE,
            (subsets.SINCE, 0),
            "shuffled-not-sampled",
            {},
            "3 batches are not independent: a batch avoids, or repeats, the records of batches "
            "before it",
            "records that have come wait until others have: data are shuffled or taken in turn, "
            "not drawn anew for each batch",
        ),
        (
            "fixed:3",
            "independence",
            LIKE,
            (subsets.SINCE, -1),
            "records-come-again",
            {},
            "3 batches are not independent: a batch avoids, or repeats, the records of batches "
            "before it",
            "batches have records of those before them again",
        ),
        (
            "fixed:3",
            "independence",
            LIKE,
            (subsets.WAITED, -1),
            "waits-cut-short",
            {},
            "3 batches are not independent: records that have waited longest come at another rate",
            "records that have waited longest come at another rate",
        ),
        *(
            (
                "fixed:3",
                "independence",
                LIKE[:2] * 10,
                shown,
                "records-never-drawn",
                {"never": 4, "least": 0, "most": 10},
                f"20 batches are not independent: {shown[0]}",
                "some records never come",
            )
            for shown in ((subsets.WAITED, 0), (subsets.SINCE, -1))
        ),
        (
            "fixed:3",
            "independence",
            LIKE[:2] * 10,
            (subsets.SINCE, -1 - TILTS),
            "records-come-again",
            {},
            "20 batches are not independent: a batch avoids, or repeats, the records of batches "
            "before it",
            "batches have records of those before them again",
        ),
        (
            "fixed:3",
            "independence",
            LIKE,
            (subsets.WAITED, 0),
            "records-come-again",
            {},
            "3 batches are not independent: records that have waited longest come at another rate",
            "records that have waited longest come more seldom than others",
        ),
        (
            "fixed:3",
            "independence",
            LIKE,
            (subsets.LAGGED, -1),
            "batch-follows-earlier",
            {},
            "3 batches are not independent: a batch follows one some steps before it",
            "a batch follows one some steps before it",
        ),
        (
            "fixed:3",
            "independence",
            LIKE,
            (subsets.COPIED, -1),
            "batch-repeated",
            {"batch": 3, "earlier": 1},
            "3 batches are not independent: a batch is one that came before",
            "batch 3 is batch 1 again, as where a generator is set anew",
        ),
        (
            "fixed:3",
            "independence",
            [[0, 1, 2]] * 2,
            (subsets.COPIED, -1),
            "batch-repeated",
            {"batch": 2, "earlier": 1},
            "2 batches are not independent: a batch is one that came before",
            "batch 2 is batch 1 again",
        ),
        (
            "fixed:3",
            "independence",
            LIKE,
            (subsets.PAIRED, -1),
            "records-come-together",
            {"one": 4, "other": 9},
            "3 batches are not independent: two records come together",
            "records 4 and 9 are in the same batches",
        ),
        (
            "fixed:3",
            "independence",
            LIKE,
            (subsets.BLOCKS, 0),
            "neighbours-come-together",
            {},
            "3 batches are not independent: records with numbers beside each other come together",
            "records with numbers beside each other come together",
        ),
        (
            "fixed:3",
            "independence",
            LIKE,
            (subsets.BLOCKS, -1),
            "neighbours-avoid-each-other",
            {},
            "3 batches are not independent: records with numbers beside each other avoid each "
            "other",
            "records with numbers beside each other avoid each other",
        ),
    ],
)
def test_what_wagers_show(
    sampling, check, batches, shown, code, fields, message, diagnosis
) -> None:
    """shown: a group of wagers, and which of them has won."""
    watch = watched(sampling, batches)
    one, (group, place) = check_of(sampling, check, watch), shown
    won = range(one.wagers.logs.size)[one.wagers.places[group]][place]
    one.wagers.logs[won] += 100.0
    pairs = watch.dependence.pairs
    pairs.pairs, pairs._logs = np.array([[4, 9]]), np.zeros(1)
    found = one.fail_finding()
    assert (found.code, dict(found.fields)) == (code, fields)
    assert (found.message, found.diagnosis) == (message, diagnosis)


@pytest.mark.parametrize(
    ("sampling", "check", "said"),
    [
        (
            "fixed:3",
            "repeats",
            "none has a record twice; a record twice in 0.78 of the batches would have been seen, "
            "with probability 0.99 each",
        ),
        (
            "shuffle:3",
            "coverage",
            "each epoch has had each record once; records again in 0.9 of the batches would have "
            "been seen, with probability 0.99 each",
        ),
        (
            "fixed:3",
            "batch-size",
            "each has as many records as the claim says; another size of 0.78 of the batches would "
            "have been seen, with probability 0.99 each",
        ),
        (
            "poisson:0.3",
            "batch-size",
            "they have 3 records in the mean, from 3 to 3, and the claim leads to 3, with a "
            "deviation of 1.45",
        ),
        (
            "fixed:3",
            "inclusion",
            "no records were seen to come more often, or earlier, than others: by their numbers, "
            "of those that had come most, and each by itself",
        ),
        (
            "fixed:3",
            "independence",
            "no batch was seen to depend on those before it, by when records came last, by those "
            "that had waited longest, and by batches that come again; and no records on others, as "
            "far as two, or those side by side, show it",
        ),
    ],
)
def test_a_pass(sampling, check, said) -> None:
    found = check_of(sampling, check, watched(sampling, LIKE)).pass_finding()
    assert (found.message, found.code) == (f"3 batches: {said}", None)


def test_what_is_not_looked_at() -> None:
    assert {
        name: (note.code, note.message)
        for name, note in CHECKS.lacking(claim_of("fixed:3")).items()
    } == {
        "coverage": ("not-claimed", "records need not come once an epoch by the claim"),
        "privacy-claim": ("no-privacy-claimed", "the claim has no [privacy]"),
    }


@pytest.mark.parametrize(
    ("sampling", "epsilon", "verdict", "code", "said"),
    [
        (
            "poisson:0.3",
            0.5,
            Verdict.FAIL,
            "cost-above-claim",
            "3 steps poisson:0.3 cost epsilon 4.278; without amplification, once in an epoch, "
            "4.377; the claim says 0.5 at 1e-05",
        ),
        (
            "poisson:0.3",
            90.0,
            Verdict.PASS,
            None,
            "3 steps poisson:0.3 cost epsilon 4.278; without amplification, once in an epoch, "
            "4.377; the claim says 90 at 1e-05",
        ),
        (
            "shuffle:3",
            1.0,
            Verdict.INCONCLUSIVE,
            "cost-not-bounded",
            "3 steps shuffle:3 cost epsilon up to 4.377; the claim says 1 at 1e-05; no bound that "
            "is known here shows that it is enough",
        ),
    ],
)
@pytest.mark.slow("over half a second")
def test_what_a_training_costs(sampling, epsilon, verdict, code, said) -> None:
    claim = claim_of(
        sampling,
        f"noise_multiplier = 1.0\n[privacy]\nepsilon = {epsilon}\ndelta = 1e-5\nqueries = 3\n",
    )
    outcome = BatchesPrivacyClaim(claim, watched(sampling, []), []).conclude(None)
    assert outcome is not None
    assert outcome.verdict is verdict
    assert (outcome.finding.code, outcome.finding.message) == (code, said)
    if code is not None:
        assert outcome.finding.fields["epsilon"] == epsilon
        assert outcome.finding.fields["delta"] == 1e-5
