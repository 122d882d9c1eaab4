"""Engines that refuse rows by how many users there are, and the steps from rows to others."""

import tomllib
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from runs import result
from table_zoo.correct import Reference
from table_zoo.shelf import GEOMETRIC, PUBLIC

from dpassay.reference.tables import Rows
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.kinds.tables.planning.plan import make_table_plan
from dpassay.verifiers.kinds.tables.planning.steps import steps_between
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget
from dpassay.verifiers.targets.frames import SentRows

CODE = "refusal-tells-inputs-apart"
PRIVACY = "\n[privacy]\nepsilon = 1.0\ndelta = 1e-5\nqueries = 1\n"


def claim_of(text: str) -> Any:
    return parse_claim(tomllib.loads(f"[mechanism]\n{text}"))


def judged(text: str, refuses: Callable[[int], bool]) -> Report:
    """A short run on the reference, which refuses rows by how many users they are of."""
    claim = claim_of(text)
    engine = Reference(claim, np.random.default_rng(4))

    def answered(rows: Any, size: int) -> Any:
        if refuses(len({*rows["user"].tolist()})):
            raise ValueError("too few users")
        return engine(rows, size)

    target = InProcessTarget(answered, release=claim.release)
    chosen = select(["location"], of=claim.kind.checks.shares)
    return verify(target, claim, queries=400, seed=1, selection=chosen)


@pytest.mark.slow("over half a second")
def test_a_table_of_too_few_users_is_not_refused_unseen() -> None:
    """It was a warning. Catches steps of single rows, of which a user of several is none."""
    found = result(judged(PUBLIC + PRIVACY, lambda users: users < 4), "input-contract")
    assert (found.verdict, found.code) == (Verdict.FAIL, CODE)
    assert "of 3 users" in found.message or "3 users" in found.message
    assert "of 4 users" in found.message


@pytest.mark.slow("over half a second")
def test_a_table_without_a_claimed_epsilon_is_not_judged() -> None:
    """Nothing says what a call may cost; the refusal is told as it was."""
    report = judged(PUBLIC, lambda users: users < 4)
    assert result(report, "input-contract").verdict is Verdict.PASS
    assert "input-refused" in {note.code for note in report.notes}


@pytest.mark.slow("over half a second")
def test_a_rule_of_sizes_is_of_replaced_users_alone() -> None:
    with pytest.raises(ClaimError, match="add-remove"):
        claim_of('refuses = "fewer than 4 users"\n' + PUBLIC)
    replaced = 'refuses = "fewer than 4 users"\n' + PUBLIC.replace("add-remove", "replace-one")
    report = judged(replaced + PRIVACY, lambda users: users < 4)
    assert result(report, "input-contract").verdict is Verdict.PASS
    assert "input-refused" not in {note.code for note in report.notes}


def _of_users(rows: Rows) -> Counter[tuple[tuple[int, float], ...]]:
    """How many users have these rows each, whatever their numbers."""
    own: dict[int, list[tuple[int, float]]] = {}
    for user, cell, value in zip(rows.users, rows.cells, rows.values, strict=True):
        own.setdefault(int(user), []).append((int(cell), float(value)))
    return Counter(tuple(sorted(one)) for one in own.values())


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("text", [PUBLIC, GEOMETRIC])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_every_step_is_one_user(text: str, adjacency: str) -> None:
    claim = claim_of(text.replace("add-remove", adjacency))
    typical, *others = make_table_plan(claim, 1).inputs
    for asked in others:
        steps = steps_between(claim, asked.values, typical.values)
        if isinstance(asked.values, SentRows):  # which count for fewer rows than they are
            assert steps is None
            continue
        if steps is None:
            assert adjacency == "replace-one"
            assert not len(asked.values)
            continue
        assert _of_users(steps.at(0)) == _of_users(asked.values)
        if adjacency == "add-remove":
            assert _of_users(steps.at(steps.length)) == _of_users(typical.values)
        for step in {0, steps.length // 2, steps.length - 1}:
            one, other = (_of_users(steps.at(place)) for place in (step, step + 1))
            gone, come = (one - other).total(), (other - one).total()
            assert gone + come == 1 if adjacency == "add-remove" else gone == come <= 1
