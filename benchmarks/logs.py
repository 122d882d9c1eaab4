"""Recorded logs: how often sound ones fail, and how soon a fault that sets in is reported.

`python -m benchmarks.logs [--sound N] [--broken N]`: N sound logs of 100,000 rows, over votes of
the embedded ensemble and over votes at random; N logs whose noise halves after 50,000 rows. Both
error rates, 1e-6 and 0.05, are read from one run of the evidence. Stopped, it goes on where it was
when it is run again.
"""

import argparse
import statistics

import numpy as np
from scipy.stats import beta

from dpassay.reference import digit_histograms
from dpassay.verifiers.inputs.release_log import Row
from dpassay.verifiers.kinds.labels.claim import LabelsClaim
from dpassay.verifiers.kinds.labels.logs.judge import LogEvidence, chunks
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.error_budget import log_threshold

from .long_runs import add_workers, carried_out, workers

MECHANISM = {"name": "gnmax", "noise": "gaussian:40", "classes": 10, "teachers": 250}
ROWS, ONSET = 100_000, 50_000
VOTES = ("the embedded ensemble", "at random")
RATES = (1e-6, 0.05)
_WIDE = 0.3  # concentration of the votes at random: some clear, some near-ties


def claimed() -> LabelsClaim:
    claim: LabelsClaim = parse_claim({"mechanism": MECHANISM})
    return claim


def pool_of(votes: str) -> np.ndarray:
    """The 300 histograms (300, 10) from which rows are drawn, by one of `VOTES`."""
    if votes == VOTES[0]:
        return np.asarray(digit_histograms())
    fixed = np.random.default_rng(0)
    spread = fixed.dirichlet(np.full(10, _WIDE), 300)
    return np.array([fixed.multinomial(250, p) for p in spread])


def drawn(votes: str, rows: int, scale: float, rng: np.random.Generator) -> list[Row]:
    """Rows of noisy argmax with so many times the claimed noise."""
    pool = pool_of(votes)
    chosen = pool[rng.integers(0, len(pool), rows)]
    labels = (chosen + rng.normal(0.0, 40.0 * scale, chosen.shape)).argmax(-1).tolist()
    return [Row(tuple(h), y) for h, y in zip(chosen.tolist(), labels, strict=True)]


def highest(votes: str, seed: int) -> dict[str, float]:
    """The highest log-e-value of each check over a sound log."""
    evidence = LogEvidence(claimed(), seed)
    for chunk in chunks(drawn(votes, ROWS, 1.0, np.random.default_rng([1, seed]))):
        evidence.observe(chunk)
    return {**evidence.highest, "noise-scale": evidence.scale.log_e_value}


def delay(votes: str, seed: int) -> list[float]:
    """Rows from the onset of halved noise to its report, and nats a row that it gains."""
    rng = np.random.default_rng([2, seed])
    evidence = LogEvidence(claimed(), seed)
    for scale, rows in ((1.0, ONSET), (0.5, ROWS - ONSET)):
        for chunk in chunks(drawn(votes, rows, scale, rng)):
            evidence.observe(chunk)
            if "class-probabilities" in evidence.found_after:
                found = evidence.found_after["class-probabilities"]
                at = evidence.best
                after = max(evidence.asked - int(evidence.pointed.onsets[at]), 1)
                return [found - ONSET, float(evidence.pointed.recent[at]) / after]
    return [float("inf"), 0.0]


def main() -> None:
    parser = argparse.ArgumentParser(description="Recorded logs, sound and broken.")
    parser.add_argument("--sound", type=int, default=1000, help="sound logs")
    parser.add_argument("--broken", type=int, default=40, help="logs whose noise halves")
    add_workers(parser)
    asked = parser.parse_args()
    parts = [(votes, i) for votes in VOTES for i in range(asked.broken // 2)]
    with workers(asked) as executor:
        results = carried_out(delay, parts, "log_delays", executor)
    for votes in VOTES:
        found = [d for (of, _), d in zip(parts, results, strict=True) if of == votes]
        rows = sorted(d[0] for d in found)
        limit = 3 * 33 / statistics.median(d[1] for d in found)
        print(
            f"noise halved, votes of {votes}: reported after {statistics.median(rows):,.0f} rows "
            f"in the median of {len(rows)}, {rows[-1]:,.0f} at most; "
            f"3 x 33 nats / KL: {limit:,.0f}",
            flush=True,
        )
    parts = [(votes, i) for i in range(asked.sound // 2) for votes in VOTES]
    with workers(asked) as executor:
        values = carried_out(highest, parts, "log_error_rate", executor)
    for rate in RATES:
        limits = {name: log_threshold(SHARES[name], rate) for name in values[0]}
        failed = sum(any(v[name] >= limits[name] for name in limits) for v in values)
        upper = beta.ppf(0.99, failed + 1, len(values) - failed)
        print(
            f"false_alarm {rate:g}: {failed} of {len(values)} sound logs of {ROWS:,} rows failed, "
            f"at most {upper:.4f} (99 %)",
            flush=True,
        )


if __name__ == "__main__":
    main()
