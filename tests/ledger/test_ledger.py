"""One run after the other on a ledger: what is stored, what is judged, and what stands."""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from claims import histogram
from small import small_claim

from dpassay.verifiers.evidence.parts import Parts
from dpassay.verifiers.evidence.scale import ScaleEvidence, scale_factors
from dpassay.verifiers.findings.finding import Finding
from dpassay.verifiers.findings.report import Report
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.ledger.chain import LedgerError, SealedLines
from dpassay.verifiers.ledger.comparison import compared
from dpassay.verifiers.ledger.ledger import CarriedEvidence, EvidenceLedger, open_ledger
from dpassay.verifiers.ledger.standing import KeptLedger
from dpassay.verifiers.ledger.strands import WholeEvidence
from dpassay.verifiers.reporting.terminal import ledger_lines
from dpassay.verifiers.run.precision import TooFewError
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

NEEDED = math.log(1e3)
CLAIM = small_claim()


def never(line: str) -> None:
    raise AssertionError(line)


@contextmanager
def running(
    path: Path, build: str = "a", claim: Any = CLAIM
) -> Iterator[tuple[EvidenceLedger, CarriedEvidence]]:
    """A run of a ledger, with one check of the whole error."""
    with open_ledger(str(path), claim, build, never) as ledger:
        ledger.begin()
        yield ledger, ledger.carried("noise-scale", 1.0, NEEDED)


def looked(carried: CarriedEvidence, log_e_value: float, queries: int = 100) -> bool:
    """Looks at evidence of one part, and says whether it refutes."""
    refuted = carried.look(Parts.whole(log_e_value), queries) >= carried.needed
    if refuted:
        carried.told(lambda: Finding("too narrow", code="scale-too-small"))
    return refuted


def run(path: Path, log_e_value: float, build: str = "a", claim: Any = CLAIM) -> bool:
    with running(path, build, claim) as (ledger, carried):
        refuted = looked(carried, log_e_value)
        ledger.end(100, "fail" if refuted else "pass")
    return refuted


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_evidence_of_runs_refutes_that_no_run_refutes_by_itself(tmp_path: Path) -> None:
    """Three runs of 1 in 55 each: 1 in 1,000 with all that they pay. Catches a forgotten run."""
    path = tmp_path / "l.jsonl"
    assert [run(path, 4.0) for _ in range(3)] == [False, False, True]


def test_what_a_run_needs_alone_is_more_than_without_a_ledger(tmp_path: Path) -> None:
    """Of it 1/2 waits for later wholes, and 3/8 is on this run: half of 1/2 and half of 1/4."""
    least = math.log(1_000 * 16 / 3)
    assert not run(tmp_path / "one.jsonl", least - 0.01)
    assert run(tmp_path / "other.jsonl", least)


def test_a_refuted_claim_stands_for_the_build_that_refuted_it(tmp_path: Path) -> None:
    """Whatever comes later of that build; another one begins anew, for 1/6 of the error."""
    path = tmp_path / "l.jsonl"
    assert run(path, 20.0)
    with running(path) as (ledger, carried):
        assert looked(carried, -5.0)
        told = carried.told(lambda: Finding("never said"))
        assert told.code == "scale-too-small"
        assert "too narrow" in told.message
        ledger.end(100, "fail")
    assert not run(path, -5.0, build="b")
    with running(path, build="b") as (_, carried):
        looked(carried, 0.0)
        assert carried.needed == pytest.approx(NEEDED + math.log(6.0))
    assert run(path, 0.0)


@pytest.mark.parametrize("ends", [True, False])
def test_a_run_counts_as_it_was_last_written(tmp_path: Path, *, ends: bool) -> None:
    """Not with its highest look, and not as if it had not been. Catches maxima."""
    path = tmp_path / "l.jsonl"
    with running(path) as (ledger, carried):
        looked(carried, 5.0, 100)
        ledger.look(100)
        looked(carried, -3.0, 200)
        ledger.look(200)
        if ends:
            looked(carried, -1.0, 210)
            ledger.end(210, "pass")
    with running(path) as (_, carried):
        looked(carried, 0.0)
        assert carried.whole is not None
        assert carried.whole.all_runs.log_sums[0] == pytest.approx(
            (-1.0 if ends else -3.0) - math.log(2)
        )


def test_a_look_is_written_before_it_is_shown_and_seldom(tmp_path: Path) -> None:
    """A failure at once; else a quarter more queries. Catches a line for every reply."""
    path = tmp_path / "l.jsonl"
    with running(path) as (ledger, carried):
        for queries in range(1, 1_001):
            looked(carried, 0.0, queries)
            ledger.look(queries)
        seldom = sum(entry["entry"] == "look" for entry in entries(path))
        assert 10 <= seldom <= 35
        looked(carried, 20.0, 1_001)
        ledger.look(1_001)
        assert entries(path)[-1]["checks"]["noise-scale"]["failed"] == [
            "scale-too-small",
            "too narrow",
        ]


def test_a_run_that_failed_and_was_killed_has_failed(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    with running(path) as (ledger, carried):
        looked(carried, 20.0)
        ledger.look(100)
    assert run(path, -9.0)


def test_begin_is_written_before_anything_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    with running(path):
        assert [entry["entry"] for entry in entries(path)] == ["ledger", "begin"]


def test_a_command_that_is_refused_before_it_asks_is_no_run(tmp_path: Path) -> None:
    """A budget that no pass fits, say: it would count as a run, and hide that the file is new."""
    path = tmp_path / "l.jsonl"
    with open_ledger(str(path), CLAIM, "a", never) as ledger, pytest.raises(TooFewError):
        verify(CLAIM.kind.reference(CLAIM), CLAIM, seed=1, queries=3, ledger=ledger)
    assert path.read_text() == ""
    with running(path) as (ledger, _):
        assert ledger.run == 1
        assert "begun with this run" in ledger.chain.told[0]


def test_infinite_evidence_is_stored(tmp_path: Path) -> None:
    """JSON has no infinity: an e-value of 0, and one beyond all bounds."""
    path = tmp_path / "l.jsonl"
    with running(path) as (ledger, carried):
        parts = Parts(("one", "other"), np.log([0.5, 0.5]), np.array([-np.inf, 2.0]))
        carried.look(parts, 10)
        ledger.end(10, "pass")
    with running(path) as (ledger, carried):
        value = carried.look(Parts(parts.names, parts.log_weights, np.zeros(2)), 10)
        assert math.isfinite(value)
    assert run(tmp_path / "other.jsonl", math.inf)
    assert entries(tmp_path / "other.jsonl")[-1]["checks"]["noise-scale"]["logs"] == ["inf"]


def test_other_parts_and_other_claims_begin_anew(tmp_path: Path) -> None:
    """Evidence against one null is none against another; who comes back goes on."""
    path, other = tmp_path / "l.jsonl", small_claim("confident-gnmax")
    for _ in range(2):
        run(path, 4.0)
    assert not run(path, 4.0, claim=other)
    with running(path) as (_, carried):
        carried.look(Parts(("one", "other"), np.log([0.5, 0.5]), np.zeros(2)), 10)
        assert carried.whole is not None
        assert carried.whole.rank == 3
    assert run(path, 4.0)


def test_limits_of_a_run_are_no_other_claim(tmp_path: Path) -> None:
    """How a target is asked says nothing of what is claimed."""
    path = tmp_path / "l.jsonl"
    for _ in range(2):
        run(path, 4.0)
    assert run(path, 4.0, claim=CLAIM.with_limits(500, 60.0))


def test_what_is_no_ledger_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    chain = SealedLines(path, never)
    chain.append({"entry": "something"})
    chain.close()
    with pytest.raises(LedgerError, match="no ledger"), running(path):
        pass


def test_a_ledger_takes_claims_of_one_kind(tmp_path: Path) -> None:
    """Those of another have checks of their own, whose shares come to 1 once more."""
    path = tmp_path / "l.jsonl"
    run(path, 1.0)
    other = parse_claim(
        {
            "mechanism": {
                "name": "noisy-histogram",
                "noise": "laplace:2",
                "adjacency": "add-remove",
                "cells": 3,
            }
        }
    )
    before = path.read_text()
    with pytest.raises(LedgerError, match="of labels, and this one is of numbers"):
        run(path, 1.0, claim=other)
    assert path.read_text() == before


def test_the_interval_is_of_all_runs_and_no_intersection(tmp_path: Path) -> None:
    """It equals the interval of one run with all labels, looked at as often."""
    path, rng = tmp_path / "l.jsonl", np.random.default_rng(5)
    factors, whole = scale_factors(0.1), ScaleEvidence(scale_factors(0.1))
    for _ in range(5):
        one, draws = ScaleEvidence(factors), rng.normal(size=400)
        logs = -400 * np.log(factors) - 0.5 * (draws**2).sum() / factors**2
        one.add(logs)
        whole.add(logs)
        with running(path) as (ledger, carried):
            carried.look(one.parts, 400)
            found = ledger.end(400, "pass").scale
    assert found is not None
    assert (found.low, found.high) == pytest.approx(whole.interval(NEEDED))
    assert found.runs == 5


def test_the_interval_is_of_the_runs_of_one_build(tmp_path: Path) -> None:
    """Catches that of all builds, in which three sound runs hide that the noise is half of it."""
    path, factors = tmp_path / "l.jsonl", scale_factors(0.1)
    for build, scale in (("a", 1.0), ("a", 1.0), ("a", 1.0), ("b", 0.5)):
        one = ScaleEvidence(factors)
        one.add(-400 * (np.log(factors) + 0.5 * (scale / factors) ** 2))
        with running(path, build) as (ledger, carried):
            carried.look(one.parts, 400)
            found = ledger.end(400, "pass").scale
    assert found is not None
    assert found.runs == 1
    assert found.high is not None
    assert found.high < 0.7


NUMBERS = parse_claim(
    {
        "mechanism": histogram("laplace:2", 4),
        "gate": {"tolerance": 0.2, "smallest_effect": 0.2, "false_alarm": 1e-3},
    }
)


def verified(path: Path, seed: int, scale: float, build: str = "a", **how: Any) -> Report:
    """A run on a noisy histogram whose noise has `scale` times the claimed scale."""
    rng = np.random.default_rng(seed)

    def release(values: np.ndarray, size: int) -> np.ndarray:
        return np.asarray(values + rng.laplace(0.0, 2.0 * scale, (size, len(values))))

    chosen = select(["noise-scale"], of=NUMBERS.kind.checks.ids)
    with open_ledger(str(path), NUMBERS, build, never) as ledger:
        target = InProcessTarget(release, release=NUMBERS.release)
        return verify(target, NUMBERS, seed=seed, selection=chosen, ledger=ledger, **how)


def test_a_run_of_a_refuted_build_asks_no_more_than_the_contract(tmp_path: Path) -> None:
    """However sound it is by now. Catches a run that asks all, and evidence without a number.

    Another build begins anew, and so is asked; so is this one where the user wants it to go on.
    """
    path = tmp_path / "l.jsonl"
    assert verified(path, 1, 0.25).verdict == "fail"
    again, on = verified(path, 2, 1.0), verified(path, 3, 1.0, after_failure="keep-going")
    other = verified(path, 4, 1.0, build="b")
    assert [report.verdict for report in (again, on, other)] == ["fail", "fail", "pass"]
    contract, result = again.checks[0], next(one for one in again.checks if one.verdict == "fail")
    assert again.queries == contract.queries < min(on.queries, other.queries)
    assert (result.code, result.log10_e_value, result.queries) == ("scale-too-small", None, 0)
    assert "since run 1 of the ledger" in result.message
    assert again.ledger is not None
    assert [one.since for one in again.ledger.checks] == [1]
    assert ledger_lines(again.ledger)[1] == "noise-scale: this build stands refuted since run 1"
    kept = KeptLedger.read(path)
    assert [one.since for run in kept.runs for one in run.checks] == [None, 1, 1, None]
    assert kept.runs[1].refuted == {"noise-scale": "scale-too-small"}
    text = compared(path, None).as_text()
    assert text.count("stands") == 2
    assert "inf" not in text


@pytest.mark.parametrize("claim", [NUMBERS, CLAIM], ids=["numbers", "labels"])
def test_any_check_can_be_refuted_by_the_runs_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, claim: Any
) -> None:
    """With hardly any evidence of its own run. Catches a finding that cannot be worded then."""
    monkeypatch.setattr(WholeEvidence, "log_value_with", lambda *_: math.inf)
    with open_ledger(str(tmp_path / "l.jsonl"), claim, "a", never) as ledger:
        report = verify(
            claim.kind.reference(claim), claim, seed=1, ledger=ledger, after_failure="stop"
        )
    assert report.ledger is not None
    judged = {one.id for one in report.ledger.checks}
    assert judged <= {one.id for one in report.checks if one.verdict == "fail"}
    assert len(judged) >= 3


def test_runs_of_numbers_are_judged_together(tmp_path: Path) -> None:
    """A scale of .95 passes within a tolerance of .2, but not for ever."""
    path, found = tmp_path / "l.jsonl", list[Report]()
    for seed in range(40):
        found.append(verified(path, seed, 0.95))
        if found[-1].verdict == "fail":
            break
    last = found[-1]
    assert last.verdict == "fail"
    assert len(found) > 1
    assert {report.verdict for report in found[:-1]} == {"pass"}
    result = next(one for one in last.checks if one.verdict == "fail")
    assert result.id == "noise-scale"
    assert result.log10_e_value is not None
    assert result.threshold_log10 is not None
    assert result.log10_e_value >= result.threshold_log10
    assert last.ledger is not None
    assert last.ledger.run == len(found)
    assert last.ledger.scale is not None
    assert last.ledger.scale.high is None or last.ledger.scale.high <= 1.0
    assert [report.ledger.run for report in found if report.ledger] == [*range(1, len(found) + 1)]
