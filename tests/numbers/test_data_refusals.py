"""Refusals that depend on the data are proven; those of a noisy count, or by chance, are not."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import COUNT, GRADIENT, HISTOGRAM, MEAN, PRIVATE, SUM
from numeric_zoo.keys import KEYS
from runs import result

from dpassay.reference.numbers import sample
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.evidence.refusals import calls_that_prove, log_fits
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.numbers.checks.input_contract import InputContract
from dpassay.verifiers.kinds.numbers.checks.refusals import claimed_fits
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.kinds.numbers.planning.steps import steps_between
from dpassay.verifiers.kinds.numbers.registry import SHARES
from dpassay.verifiers.run.outcome import RunOutcome
from dpassay.verifiers.run.refusals import TRIED, Asking, Steps, neighbours, told_apart
from dpassay.verifiers.run.request import PlanRequest
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.run.state import RunState
from dpassay.verifiers.targets import InProcessTarget, Refused

CODE = "refusal-tells-inputs-apart"
COARSE = "[gate]\nsmallest_effect = 0.2\ntolerance = 0.3\n"
Instead = Callable[[Any, np.random.Generator], Any]
"""What comes in place of releases of these values, or None: it may raise."""


def judged(claim: NumbersClaim, instead: Instead, seed: int = 2, **more: Any) -> Report:
    """A short run on the claimed mechanism, but for what comes instead."""
    rng = np.random.default_rng([seed, 4])

    def aggregate(values: Any, size: int) -> Any:
        found = instead(values, rng)
        return sample(claim.mechanism.aggregation, values, size, rng) if found is None else found

    target = InProcessTarget(aggregate, release=claim.release)
    chosen = select(["location"], of=SHARES)
    return verify(target, claim, seed=seed, selection=chosen, **more)


def few_records(values: Any, _: np.random.Generator) -> None:
    if len(values) < 10:
        raise ValueError("fewer than ten records")


def below_five(values: Any, _: np.random.Generator) -> None:
    if values.sum() < 5:
        raise RuntimeError("the cell is too small")


def a_mistake_on_nothing(values: Any, _: np.random.Generator) -> None:
    np.max(np.asarray(values)[:, 0])  # of no records NumPy raises


def null_for_zero(values: Any, rng: np.random.Generator) -> Any:
    return [[None] for _ in range(1)] if values.sum() == 0 else None


@pytest.mark.parametrize(
    ("text", "instead", "role", "code"),
    [
        (SUM, few_records, "one record", "input-refused"),
        (COUNT, below_five, "empty", "target-failed"),
        (SUM, a_mistake_on_nothing, "no records", "input-refused"),
        (COUNT, null_for_zero, "empty", "reply-malformed"),
    ],
)
def test_who_refuses_by_the_data_fails(text: str, instead: Instead, role: str, code: str) -> None:
    """They were a warning, an error, a warning and an error."""
    report = judged(claimed(text, COARSE), instead)
    found = result(report, "input-contract")
    assert (found.verdict, found.code) == (Verdict.FAIL, CODE)
    assert found.fields["input"] == role
    assert code in {note.code for note in report.notes}
    assert result(report, "location").verdict is Verdict.PASS  # all else is judged


def test_what_is_proven_stays_so_when_the_target_fails_later() -> None:
    """Catches a proof that a later error of the target takes the place of, as it did."""
    calls = itertools.count()

    def few_and_short_lived(values: Any, rng: np.random.Generator) -> None:
        few_records(values, rng)
        if next(calls) > 150:
            raise OSError("disk full")

    report = judged(claimed(SUM, COARSE), few_and_short_lived)
    found = result(report, "input-contract")
    assert (found.verdict, found.code) == (Verdict.FAIL, CODE)
    assert result(report, "location").verdict is Verdict.INCONCLUSIVE


def test_the_neighbours_are_those_at_the_limit() -> None:
    """Nine records and ten: catches a pair that lies farther apart."""
    found = result(judged(claimed(SUM, COARSE), few_records), "input-contract")
    assert "records of shape (9, 3)" in found.message
    assert "records of shape (10, 3)" in found.message
    assert "fewer than ten records" in found.message
    alone = result(judged(claimed(COUNT, COARSE), below_five), "input-contract")
    assert "[4]" in alone.message
    assert "[5]" in alone.message


def test_keys_are_judged_where_epsilon_is_claimed() -> None:
    """Catches keys left out; without [privacy] nothing says what a call may cost."""
    keys = KEYS.replace("cells = 100", "cells = 12") + PRIVATE.format(2.0, 1)
    for text, told in ((keys, True), (keys[: keys.index("[privacy]")], False)):
        claim: Any = claimed(text)

        def released(counts: Any, size: int, claim: Any = claim) -> Any:
            if counts.sum() < 2:
                raise ValueError("one record in all")
            found = claim.mechanism.keys.sample(counts, size)
            return [[{"key": int(key)} for key in row] for row in found]

        target = InProcessTarget(released, release=claim.release)
        standing = RunState(target, claim, RunOutcome(), None)
        contract = InputContract(claim, claim.inputs(1), 1)
        contract.conclude(standing)
        found = contract.by_data.conclude(standing)
        assert contract.queries == standing.queries
        assert (found is not None and found.finding.code == CODE) == told


@pytest.mark.slow("over half a second")
def test_a_pass_without_refusals_asks_nothing_more() -> None:
    claim, counted = claimed(SUM, COARSE), []
    for instead in (lambda *_: None, few_records):
        counted.append(judged(claim, instead).queries)
    planned = claim.kind.planned(claim, PlanRequest(None, 2, (), select(["location"], of=SHARES)))
    assert counted[0] <= planned.queries
    assert result(judged(claim, lambda *_: None), "input-contract").verdict is Verdict.PASS


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.quick_cases(1)
def test_a_refusal_by_a_noisy_count_is_not_accused(seed: int) -> None:
    """Null: a count with noise of the claimed epsilon decides. Rate: below 1e-8 for each seed.

    Catches a proof by a single refusal and a single answer, or by too few of them.
    """

    def noisily(values: Any, rng: np.random.Generator) -> None:
        if values.sum() + rng.geometric(1 - np.exp(-1)) - rng.geometric(1 - np.exp(-1)) < 5:
            raise ValueError("too few")

    report = judged(claimed(COUNT, COARSE), noisily, seed)
    assert result(report, "input-contract").code != CODE


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("kind", ["response", "in turn"])
def test_the_worst_private_refusal_is_proven_no_more_often_than_allowed(kind: str) -> None:
    """Null: randomised response at epsilon, or a refusal of every other call. Rate: 1e-7.

    4,000 pairs, each proven with probability 0.05 at most, so 290 of them with probability 1e-7.
    """
    rng, epsilon, proven = np.random.default_rng(7), 1.0, 0
    calls = calls_that_prove(log_fits(epsilon, 0.0), 0.05)
    assert calls is not None
    for _ in range(4_000):
        turn = 0

        def ask(value: Any) -> None:
            nonlocal turn
            turn += 1
            apart = rng.random() < 1 / (1 + np.exp(epsilon))
            if (turn % 2) if kind == "in turn" else ((value == 0) != apart):
                raise ValueError("by chance")

        asking = Asking(
            InProcessTarget(lambda values, size: 0), lambda value: _refusing(ask, value)
        )
        found = neighbours(asking, Steps(1, lambda step: step))
        told = found and told_apart(asking, found, calls, 10**6, rng)
        proven += told is not None and told.proven
    assert proven <= 290
    assert kind == "in turn" or proven >= 20  # two calls more have to fit before


def _refusing(ask: Callable[[Any], None], value: Any) -> None:
    try:
        ask(value)
    except ValueError as error:
        raise Refused(str(error)) from None


def test_a_call_that_raises_at_times_is_an_error() -> None:
    """As it was. Null: a coin; a failure has probability 1e-8."""

    def at_times(values: Any, rng: np.random.Generator) -> None:
        if values.sum() == 0 and (first or rng.random() < 0.5):
            first.clear()
            raise RuntimeError("lost")

    for seed in range(4):
        first = [True]
        report = judged(claimed(COUNT, COARSE), at_times, seed)
        found = result(report, "input-contract")
        assert (found.verdict, found.code) == (Verdict.ERROR, "target-failed")


def test_a_refusal_that_takes_too_many_calls_is_a_warning_that_names_them() -> None:
    """At epsilon 8 some 57,000 calls prove it: a refusal is warned of, an error stays one."""
    for instead, verdict in ((few_records, Verdict.PASS), (below_five, Verdict.ERROR)):
        text = SUM if instead is few_records else COUNT
        gate = COARSE + "max_queries = 30000\n"
        claim = claimed(text, PRIVATE.format(8.0, 1) + "\n" + gate)
        report = judged(claim, instead)
        assert result(report, "input-contract").verdict is verdict
        noted = [note for note in report.notes if note.code == "refusal-not-judged"]
        calls = calls_that_prove(claimed_fits(claim), claim.gate.false_alarm / 64 / TRIED)
        assert {note.fields["calls"] for note in noted} == {calls}
        assert all(f"{calls:,} calls" in note.message for note in noted)


REPLACED = MEAN + '\nrefuses = "fewer than 10 records"'


@pytest.mark.slow("over half a second")
def test_a_public_rule_of_sizes_is_no_finding() -> None:
    """It warned of each; where it is not claimed it still does, and is no failure either."""
    for text, warned in ((REPLACED, False), (MEAN, True)):
        report = judged(claimed(text, COARSE), few_records)
        assert result(report, "input-contract").verdict is Verdict.PASS
        assert warned == any(note.code == "input-refused" for note in report.notes)


def test_a_refusal_by_values_is_one_whatever_is_claimed_of_sizes() -> None:
    """Neighbours have as many records: catches a rule of sizes that excuses all refusals."""

    def with_an_end(values: Any, _: np.random.Generator) -> None:
        if len(values) < 10 or (values == 1.0).mean() > 0.25:
            raise ValueError("too many at the bound")

    found = result(judged(claimed(REPLACED, COARSE), with_an_end), "input-contract")
    assert (found.code, found.fields["input"]) == (CODE, "at the bounds")


@pytest.mark.parametrize("text", [SUM, COUNT, GRADIENT, HISTOGRAM])
def test_a_rule_of_sizes_is_refused_where_they_are_not_public(text: str) -> None:
    with pytest.raises(ClaimError) as error:
        claimed(text + '\nrefuses = "fewer than 10 records"')
    assert error.value.mistakes
    assert len(str(error.value).splitlines()) == 1
    assert "add-remove" in str(error.value)


def _counts(values: Any) -> Any:
    """An input as counts of records, whose distance is that of the inputs."""
    if isinstance(values, list):
        values = np.concatenate(
            [part.reshape(len(part), int(np.prod(part.shape[1:]))) for part in values], axis=1
        )
    if values.ndim == 1:
        return dict(enumerate(values.tolist()))
    records = [tuple(record) for record in values.tolist()]
    return {record: records.count(record) for record in records}


@pytest.mark.parametrize("text", [SUM, MEAN, GRADIENT, HISTOGRAM, COUNT])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_every_step_is_one_of_neighbours(text: str, adjacency: str) -> None:
    """From every input of a plan: one record more or less, or one in another's place."""
    claim = claimed(text.replace("add-remove", adjacency).replace("replace-one", adjacency))
    typical, *others = claim.inputs(1).inputs
    walked = 0
    for asked in others:
        steps = steps_between(claim.mechanism, asked.values, typical.values)
        if steps is None:
            assert adjacency == "replace-one"
            continue
        assert _counts(steps.at(0)) == _counts(asked.values)
        if adjacency == "add-remove":
            assert _counts(steps.at(steps.length)) == _counts(typical.values)
        for step in {0, min(1, steps.length - 1), steps.length // 2, steps.length - 1}:
            one, other = (_counts(steps.at(place)) for place in (step, step + 1))
            apart = [other.get(key, 0) - one.get(key, 0) for key in {*one, *other}]
            if adjacency == "add-remove":
                assert sum(map(abs, apart)) == 1
            else:
                assert sum(apart) == 0
                assert sum(map(abs, apart)) in (0, 2)
            walked += 1
    assert walked or text == COUNT


def test_what_whole_noise_costs_on_fractions_is_not_said() -> None:
    """No traceback where a mean moves by no whole number: nothing can be proven of it."""
    claim = claimed(
        'name = "noisy-mean"\nnoise = "skellam:1;sum=2"\nlower = 0\nupper = 1\n'
        'divide_by = 3\ndimensions = 1\nadjacency = "replace-one"\n'
    )
    assert claimed_fits(claim) == 0.0
