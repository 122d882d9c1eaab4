"""Users of names that engines take for nobody or for others, and tables of few rows."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
from table_zoo.correct import ANY, FIRST, SmallTablesAreBoundedOtherwise, UsersInDoubles
from table_zoo.engine import Engine, _grouped
from table_zoo.shelf import GEOMETRIC, OF_USER, PUBLIC, claimed
from table_zoo.singled_out import (
    NegativeUsersAreNobody,
    RowsOfSmallTablesAreNotBounded,
    UsersEndAfterTwelveDigits,
)

from dpassay.verifiers.kinds.numbers.evidence.bins import Placing
from dpassay.verifiers.kinds.numbers.planning.asked import Batch, Draws
from dpassay.verifiers.kinds.tables.checks.contribution_bounding import ContributionBounding
from dpassay.verifiers.kinds.tables.planning.asked import TableRole
from dpassay.verifiers.kinds.tables.planning.plan import make_table_plan

ROLES: dict[str, int] = {
    TableRole.ZERO: 4,
    TableRole.WIDE: 4,
    TableRole.FEW_ROWS: 60,
    TableRole.FAR_APART: 4,
}
"""With the releases that a usual pass has of each."""


class UsersIn32Bits(Engine):
    """With a sign, as narrow columns of keys are."""

    def prepared(self, rows: Any) -> Any:
        return [(user % 2**32 - 2**31, p, v) for user, p, v in super().prepared(rows)]


class UsersAreForgotten(Engine):
    """Of users it has room for 5,000, and forgets the one who came least lately."""

    def bounded(self, rows: Any) -> Any:
        users: OrderedDict[int, dict[Any, list[float]]] = OrderedDict()
        kept: list[tuple[int, Any, float]] = []
        for user, partition, value in rows:
            seen = users.setdefault(user, {})
            users.move_to_end(user)
            if len(users) > 5_000:
                users.popitem(last=False)
            if partition not in seen and len(seen) == self.of.max_partitions:
                continue
            own = seen.setdefault(partition, [])
            if len(own) < self.of.max_per_partition:
                own.append(value)
                kept.append((user, partition, value))
        return _grouped(kept)


def judged(text: str, made: Any) -> ContributionBounding:
    """The check, once it has seen the releases of these inputs alone."""
    claim = claimed(text)
    plan = make_table_plan(claim, 1)
    check = ContributionBounding(claim, plan, 1)
    placing = Placing(claim.mechanism.added, np.random.default_rng(1))
    engine = made(claim, np.random.default_rng(5))
    for asked in plan.inputs:
        size = ROLES.get(asked.role, 0)
        if size:
            reply = engine(claim.release.argument(asked.values), size)
            releases = claim.release.shaped(reply, asked.values, size)
            check.observe(Draws((Batch(asked, releases, (size,)),), placing, plan.coordinates))
    return check


@pytest.mark.parametrize(
    ("made", "text", "code"),
    [
        (NegativeUsersAreNobody, PUBLIC, "user-not-bounded"),
        (UsersEndAfterTwelveDigits, GEOMETRIC, "users-merged"),
        (UsersIn32Bits, PUBLIC, "users-merged"),
        (RowsOfSmallTablesAreNotBounded, PUBLIC, "small-inputs-differ"),
        (UsersAreForgotten, FIRST, "users-forgotten"),
    ],
)
def test_an_engine_that_singles_them_out_is_refuted(made: Any, text: str, code: str) -> None:
    """Catches inputs of users from 1 on, of eight digits, and among many rows alone."""
    check = judged(text, made)
    assert check.log_e_value >= check.log_threshold
    assert check.fail_finding().code == code


@pytest.mark.parametrize("made", [Engine, UsersInDoubles, SmallTablesAreBoundedOtherwise])
def test_a_correct_engine_is_not(made: Any) -> None:
    """Catches numbers that doubles merge, and bounds that the claim does not name."""
    assert judged(PUBLIC, made).log_e_value < 3.0


@pytest.mark.parametrize("text", [PUBLIC, GEOMETRIC, FIRST, OF_USER, ANY])
def test_every_user_stays_below_what_json_tells_apart(text: str) -> None:
    """And a table of few rows is asked where it is beyond a bound, of public partitions alone."""
    claim = claimed(text)
    asked = {one.role: one.values for one in make_table_plan(claim, 1).inputs}
    for role in ROLES.keys() & asked.keys():
        assert np.abs(asked[role].users).max() < 2**53
    assert {0, -1} <= {*asked[TableRole.ZERO].users.tolist()}
    wide = np.unique(asked[TableRole.WIDE].users)
    assert np.unique(wide % 2**32).size < wide.size
    assert (TableRole.FEW_ROWS in asked) == (text in (PUBLIC, FIRST, OF_USER, ANY))
    if TableRole.FEW_ROWS in asked:
        assert np.unique(asked[TableRole.FEW_ROWS].users).size == 1
        assert len(asked[TableRole.FEW_ROWS]) < 32


def test_private_partitions_have_long_names_of_one_beginning() -> None:
    """Catches names of three characters, which no column cuts."""
    keys = [str(key) for key in claimed(GEOMETRIC).keys]
    assert len({*keys}) == len(keys)
    assert sum(len(key) >= 40 for key in keys) >= 2
    assert len({key[:40] for key in keys}) < len(keys) - 1
