"""What is said of tables, of made-up releases: each sentence once, with its code."""

import math
import tomllib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from table_zoo.shelf import (
    ALONE,
    GEOMETRIC,
    PUBLIC,
    RELEASED,
    UNUSUAL,
    UNUSUAL_KEYS,
    VECTOR,
    claimed,
)

from dpassay.verifiers.kinds.numbers.evidence.bins import Placing
from dpassay.verifiers.kinds.numbers.planning.asked import Batch, Draws
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.kinds.tables.checks.contribution_bounding import ContributionBounding
from dpassay.verifiers.kinds.tables.checks.empty_partitions import EmptyPartitions
from dpassay.verifiers.kinds.tables.checks.input_contract import NotTaken
from dpassay.verifiers.kinds.tables.checks.joint import TableJoint
from dpassay.verifiers.kinds.tables.checks.of_numbers import TableNoiseScale
from dpassay.verifiers.kinds.tables.checks.partition_release import TablePartitionRelease
from dpassay.verifiers.kinds.tables.checks.privacy_claim import TablePrivacyClaim
from dpassay.verifiers.kinds.tables.planning.asked import TableRole
from dpassay.verifiers.run.checks import Setting


def made(check: type[Any], text: str) -> Any:
    claim = claimed(text)
    return check.make(Setting(claim, 1, claim.inputs(1)))


def shown(check: Any, role: TableRole, releases: Any) -> Any:
    """The check, once it has seen releases (n, aggregates * partitions) of an input."""
    asked = next(asked for asked in check.plan.inputs if asked.role == role)
    placing = Placing(check.claim.mechanism.added, np.random.default_rng(1))
    batch = Batch(asked, np.asarray(releases, dtype=float), (len(releases),))
    check.observe(Draws((batch,), placing, check.plan.coordinates))
    return check


def full(check: Any, number: float, releases: int = 20) -> Any:
    return np.full((releases, check.columns * check.cells), number)


def told(check: Any) -> tuple[Any, ...]:
    found = check.fail_finding()
    return found.code, found.message, found.diagnosis


@pytest.mark.parametrize(
    ("role", "expected", "code", "diagnosis"),
    [
        (
            TableRole.NO_USERS,
            20,
            "userless-rows-counted",
            "rows without a user are counted, and nobody's bounds hold them",
        ),
        (
            TableRole.NO_PARTITIONS,
            200,
            "null-partition-counted",
            "NULL counts as a partition of a user: such rows are dropped too late",
        ),
        (
            TableRole.NO_NUMBERS,
            20,
            "rows-without-number-counted",
            "rows without a number are counted",
        ),
        (TableRole.INFINITE, 40, "infinite-values-not-clipped", "infinite values are not clipped"),
        (
            TableRole.TWO_TYPES,
            200,
            "user-types-split",
            "the user 1 and the user '1' are bounded as two",
        ),
        (
            TableRole.SPELLED,
            240,
            "spellings-mixed",
            "spellings of a partition, as 'a', 'A' and 'a ', are bounded as one and counted as "
            "several, or the other way round",
        ),
        (
            TableRole.LARGE,
            19_025,
            "large-inputs-differ",
            "of large inputs users are bounded, or rows counted, otherwise than of small ones: in "
            "chunks, in 16 bits, or up to a limit",
        ),
        (
            TableRole.ZERO,
            22,
            "user-not-bounded",
            "the user 0, or -1, is taken for nobody: its rows are not bounded",
        ),
        (
            TableRole.WIDE,
            260,
            "users-merged",
            "different users are taken for one, as their numbers are cut to 32 bits or to some "
            "digits",
        ),
        (
            TableRole.FEW_ROWS,
            1,
            "small-inputs-differ",
            "users of tables of few rows are not bounded as those of others",
        ),
        (
            TableRole.FAR_APART,
            6_770,
            "users-forgotten",
            "users are forgotten once thousands of others have come: who comes again is bounded "
            "anew, as where a store of users has room for so many",
        ),
        (TableRole.CLIPPED, 2_000, "totals-unexplained", None),
    ],
)
def test_of_what_adds_up(role, expected, code, diagnosis) -> None:
    claim = UNUSUAL.replace("users_as_text", "largest_input = 20_000\nusers_as_text")
    check = made(ContributionBounding, claim)
    found = shown(check, role, full(check, 500.0)).fail_finding()
    assert (found.code, found.diagnosis) == (code, diagnosis)
    assert found.message == (
        f"of the input {role}, the privacy-id-count adds up to 5,000 over all partitions, in the "
        f"mean of 20 releases, and to {expected:,} under the claim"
    )
    known = {"by": found.fields["by"]} if role == TableRole.WIDE else {}
    assert found.fields == {
        **known,
        "input": role,
        "aggregate": "privacy-id-count",
        "total": pytest.approx(5_000.0),
        "expected": pytest.approx(expected),
        "releases": 20,
    }


@pytest.mark.slow("over half a second")
def test_of_rows_that_lack_something() -> None:
    check = made(ContributionBounding, UNUSUAL.replace('"dropped"', '"refused"'))
    assert told(shown(check, TableRole.NO_USERS, full(check, 1.0))) == (
        "rows-not-refused",
        "rows without a user were answered, and the claim says that they are refused",
        "rows without a user are not refused",
    )
    check = made(ContributionBounding, UNUSUAL_KEYS)
    assert told(shown(check, TableRole.NO_PARTITIONS, full(check, -math.inf))) == (
        "null-partition-released",
        "of the input rows without a partition, the partition NULL was released",
        "NULL is released as a partition",
    )
    check = made(ContributionBounding, UNUSUAL)
    assert told(shown(check, TableRole.NO_NUMBERS, full(check, math.inf))) == (
        "number-not-finite",
        "of the input rows without a number, the count of the partition 'a' is no number",
        "one such row makes the count no number",
    )
    row = NotTaken(TableRole.NO_USERS, (None, "a", 1.0), "no", None)
    check = made(ContributionBounding, UNUSUAL)
    check.not_taken(row)
    assert (row.note.code, row.note.fields) == ("input-refused", {"input": TableRole.NO_USERS})
    message = (
        'a call with the row [null, "a", 1.0] (rows without a user) is refused: no; the same rows '
        "without it are answered"
    )
    assert row.note.message == message
    assert told(check) == (
        "rows-refused",
        f"{message}, and the claim says that such rows are dropped",
        "rows without a user are refused, not dropped",
    )
    failed = NotTaken(
        TableRole.NO_USERS, (None, "a", 1.0), "raised TypeError", "target-failed"
    ).note
    assert failed.code == "target-failed"
    assert "(rows without a user) is not answered: raised TypeError; the same" in failed.message


def test_of_empty_partitions() -> None:
    check = made(EmptyPartitions, PUBLIC)
    releases = full(check, 1.0)
    releases[:, check.table.listed :: check.cells] = np.nan
    releases[3, 0 :: check.cells] = np.nan
    found = shown(check, TableRole.EMPTY, np.where(listed(check), releases, np.nan)).fail_finding()
    assert (found.code, found.fields["empty"]) == ("public-partition-dropped", True)
    assert (found.fields["came"], found.fields["releases"]) == (19, 20)
    assert found.message == (
        "the partition 'a' that has no rows is public, and came in 19 of 20 releases of the input "
        "no records"
    )
    assert found.diagnosis == "public partitions are dropped where they are empty"
    check = made(EmptyPartitions, PUBLIC)
    code, message, diagnosis = told(shown(check, TableRole.NOT_LISTED, full(check, 1.0)))
    assert code == "unlisted-partition-released"
    assert message == f"{check.named(check.table.listed)} is not listed, and was released"
    assert diagnosis == "partitions that are not public are released"
    check = made(EmptyPartitions, GEOMETRIC)
    assert told(shown(check, TableRole.NEAR, full(check, 1.0))) == (
        "empty-partition-released",
        f"{check.named(0)} has no rows, and was released",
        "private partitions that nobody has are released",
    )


def listed(check: Any) -> Any:
    """Which numbers (aggregates * partitions,) are of partitions that the claim lists."""
    return np.tile(np.arange(check.cells) < check.table.listed, check.columns)


@pytest.mark.slow("over half a second")
def test_of_the_selection() -> None:
    check = made(TablePartitionRelease, GEOMETRIC)
    check._rates, check.evidence.gains[:] = {(9.0, 9.0): [36, 60]}, 0.0
    rates = (
        "36 of 60 partitions of 9 users and 9 rows were released, a share of 0.6, and a share of "
        "0.000161 is expected"
    )
    assert told(check) == ("release-rate-unexplained", rates, None)
    fields = check.fail_finding().fields
    assert (fields["users"], fields["rows"]) == (9.0, 9.0)
    assert (fields["came"], fields["partitions"]) == (36, 60)
    assert fields["expected"] == pytest.approx(1.608e-4, rel=1e-3)
    check.evidence.gains[1] = 9.0
    words = "the epsilon of the selection is not divided: max_partitions = 3 is missing"
    assert told(check) == ("selection-budget-undivided", rates, words)
    assert check.fail_finding().fields["undivided"] == "epsilon"
    check._crowd = SimpleNamespace(log_e_value=99.0, came=10.0, releases=20, expected=0.01)
    assert told(check) == (
        "selected-before-bounding",
        "of the input a crowd in every partition, of whom few stay in each, 0.5 of the partitions "
        "were released, in 20 releases, and 0.01 at most under the claim",
        "partitions are selected before users are bounded, who count in all of theirs",
    )
    check.evidence.impossible = 2.0, 3.0, True
    assert told(check) == (
        "release-impossible",
        "a partition of 2 users and 3 rows was released, which the claim never gives",
        None,
    )
    check.evidence.impossible = 2.0, 3.0, False
    message = (
        "a partition of 2 users and 3 rows was not released, although it always is under the claim"
    )
    assert told(check) == ("release-impossible", message, None)
    check = made(TablePartitionRelease, RELEASED)
    check._below = 0, 12.5
    assert told(check) == (
        "count-below-threshold",
        f"{check.named(0)} was released with a count of 12.5, and 41 is the least that is released",
        "what is released is not what the threshold was compared with",
    )
    reason = TablePartitionRelease.not_applicable_to(made(EmptyPartitions, PUBLIC).claim)
    assert reason is not None
    assert (reason.code, reason.message) == ("not-claimed", "partitions are public")


def test_of_a_scale_that_something_was_left_out_of() -> None:
    notes = [note for _, note in made(TableNoiseScale, PUBLIC)._forgotten(2)]
    notes += [note for _, note in made(TableNoiseScale, VECTOR)._forgotten(0)]
    told = {note.message.partition("scale: ")[2]: (note.code, note.fields) for note in notes}
    small = "sensitivity-too-small"
    assert told == {
        words: (code, {"factor": pytest.approx(factor), "missing": missing})
        for words, code, factor, missing in (
            ("max_partitions = 3 is missing", small, 1 / 3, "max_partitions"),
            ("max_per_partition = 2 is missing", small, 1 / 2, "max_per_partition"),
            (
                "max_partitions and max_per_partition = 2 are missing",
                small,
                1 / 6,
                "max_partitions and max_per_partition",
            ),
            (
                "the budget is not divided among 3 aggregates",
                "budget-not-divided",
                1 / 3,
                "budget",
            ),
            ("made for values up to 1, not up to 10", small, 1 / 10, "values"),
            ("max_norm = 6 is missing", small, 1 / 6, "max_norm"),
            ("size = 3 is missing", small, 1 / 3, "size"),
        )
    }
    assert "noise of 1/10 of the claimed scale: made for values up to 1, not up to 10" in {
        note.message for note in notes
    }


def test_of_noise_that_aggregates_share() -> None:
    check = made(TableJoint, PUBLIC)
    check.pairs[0].gains[0, -1] = 99.0
    code, message, diagnosis = told(check)
    correlation = check.fail_finding().fields["correlation"]
    assert code == "noise-shared-by-aggregates"
    assert message == (
        "the noise of count and privacy-id-count of one partition depends: a correlation of about "
        f"{correlation:g}, of the noise or of its size"
    )
    assert diagnosis == (
        "count and privacy-id-count of a partition share noise: one draw serves both"
    )


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("text", "epsilon", "queries", "code", "message", "diagnosis"),
    [
        (
            PUBLIC,
            0.5,
            1,
            "cost-above-claim",
            "a user of 2 rows in each of 3 partitions costs at least epsilon 0.999488 at delta "
            "1e-06 over one release, and epsilon = 0.5 is claimed (certified in ball arithmetic)",
            "the accountant charges too little, or the claim allows too many queries",
        ),
        (
            GEOMETRIC,
            9.0,
            1,
            "delta-too-small",
            "partitions that one user alone is in are released with probability 1e-05 in one "
            "release, and delta = 1e-06 is claimed",
            "delta leaves out the private partitions",
        ),
    ],
)
def test_of_costs(text, epsilon, queries, code, message, diagnosis) -> None:
    privacy = f"\n[privacy]\nepsilon = {epsilon}\ndelta = 1e-6\nqueries = {queries}\n"
    claim: Any = parse_claim(tomllib.loads(f"[mechanism]\n{text}{privacy}"))
    found = TablePrivacyClaim(claim, None, 0).conclude().finding
    assert (found.code, found.message, found.diagnosis) == (code, message, diagnosis)


def test_of_a_cost_that_is_not_computed() -> None:
    privacy = "\n[privacy]\nepsilon = 1.0\ndelta = 1e-6\nqueries = 1\n"
    claim: Any = parse_claim(tomllib.loads(f"[mechanism]\n{ALONE}{privacy}"))
    reason = TablePrivacyClaim.not_applicable_to(claim)
    assert reason is not None
    assert reason.code == "cost-not-computed"
    assert reason.message == "what a mean costs whose count is not released is not computed"
