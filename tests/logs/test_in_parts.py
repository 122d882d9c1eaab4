"""A log judged over workers: the same evidence, to the last bit, as by one process."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from claims import SMALL_TOML
from small import small_claim
from typed import typed

from dpassay.reference.parallel.executors import Here
from dpassay.verifiers.inputs.release_log import Row
from dpassay.verifiers.kinds.labels.logs import laws, verify_log
from dpassay.verifiers.kinds.labels.logs.costs import Costs
from dpassay.verifiers.kinds.labels.logs.findings import log_results
from dpassay.verifiers.kinds.labels.logs.judge import LogEvidence, chunks
from dpassay.verifiers.kinds.labels.logs.verify_log import observe

SMALL = 64  # rows of a chunk here, and twice the histograms of a part


def drawn(rows: int, kinds: int, seed: int = 1) -> list[Row]:
    """Rows of so many kinds of histograms, each label drawn anew."""
    rng = np.random.default_rng(seed)
    pool = rng.multinomial(40, [0.4, 0.3, 0.2, 0.1], kinds)
    votes = pool[rng.integers(0, kinds, rows)]
    labels = (votes + rng.normal(0.0, 10.0, votes.shape)).argmax(-1).tolist()
    return [Row(tuple(h), y) for h, y in zip(votes.tolist(), labels, strict=True)]


@pytest.fixture
def small_parts(monkeypatch) -> None:
    monkeypatch.setattr(verify_log, "CHUNK", SMALL)
    monkeypatch.setattr(laws, "_TOGETHER", SMALL // 2)


def alone(rows, claim) -> LogEvidence:
    evidence = LogEvidence(claim, 0)
    for chunk in chunks(rows, SMALL):
        evidence.observe(chunk)
    return evidence


def told(evidence: LogEvidence):
    """All that a report says of it, and the evidence to the last bit."""
    results = [
        json.dumps(result.public()) for result in log_results(evidence, Costs(evidence.claim))
    ]
    numbers = [evidence.highest, evidence.found_after, evidence.scale.log_e_value, evidence.asked]
    return results, numbers, evidence.missed.tolist(), evidence.pointed.recent.tolist()


@pytest.mark.parametrize("caching", [False, True])
@pytest.mark.parametrize("kinds", [3, 100_000])
@pytest.mark.quick_cases(1)
def test_workers_make_no_difference(monkeypatch, small_parts, kinds, caching) -> None:
    """Laws are forgotten on the way. Catches rows that overtake others, and laws of others."""
    claim = small_claim()
    if caching:
        mechanism = claim.mechanism.model_copy(update={"caching": True})
        claim = claim.model_copy(update={"mechanism": mechanism})
    monkeypatch.setattr(laws, "_BYTES", 2_000_000)
    rows = drawn(500, kinds)
    expected = told(alone(rows, claim))
    for workers in (1, 3):
        with ThreadPoolExecutor(workers) as executor:
            evidence, read = LogEvidence(claim, 0), []
            observe(evidence, rows, executor, read.append)
        assert told(evidence) == expected
        assert read[-1] == 500
    assert ("fresh-noise" in expected[1][1]) == caching  # the answers changed


def test_rows_are_read_no_further_than_workers_follow(small_parts) -> None:
    """A log that never ends, of histograms that are all known."""
    evidence, seen = LogEvidence(small_claim(), 0), []

    def endless():
        while True:
            yield from drawn(SMALL, 3)

    def enough(rows: int) -> None:
        seen.append(rows)
        if len(seen) == 3:
            raise StopAsyncIteration

    with pytest.raises(StopAsyncIteration):
        observe(evidence, endless(), Here(), enough)
    assert evidence.asked < 10 * SMALL


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("after", [10, 10 * SMALL + 5])
def test_rows_before_an_interrupt_are_looked_at(small_parts, after) -> None:
    rows = drawn(1000, 100_000)

    def interrupted():
        yield from rows[:after]
        raise KeyboardInterrupt

    evidence = LogEvidence(small_claim(), 0)
    with ThreadPoolExecutor(2) as executor, pytest.raises(KeyboardInterrupt):
        observe(evidence, interrupted(), executor, lambda _: None)
    assert told(evidence) == told(alone(rows[:after], small_claim()))


@pytest.mark.slow("starts processes; test_workers does, and threads judge the same rows above")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_report_is_the_same_over_processes(tmp_path, workers) -> None:
    claim, log = tmp_path / "claim.toml", tmp_path / "log.csv"
    claim.write_text(SMALL_TOML)
    rows = drawn(2500, 100_000)
    lines = ["a,b,c,d,label", *(",".join(map(str, (*r.histogram, r.label))) for r in rows)]
    log.write_text("\n".join(lines) + "\n")
    reports = []
    for more in ((), ("--workers", workers)):
        files = ("--log", str(log), "--claim", str(claim))
        done = typed("verify", *files, "--seed", "0", "--json", *more)
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        reports.append(
            {k: v for k, v in report.items() if k not in {"started", "ended", "seconds"}}
        )
    assert reports[0] == reports[1]


def test_a_target_is_asked_by_one_process() -> None:
    done = typed("verify", "--workers", "2")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "--workers" in done.stderr
    assert "--log FILE" in done.stderr
