"""Faults that only a recorded log shows, and correct logs that look alike.

`python -m benchmarks.log_zoo [--runs N] [--sound N]`: each fault and each relative N times, over
votes of the embedded ensemble and over votes at random, with the rows after which it is reported;
then N correct logs of all kinds by the whole command, from their files. Stopped, it goes on where
it was.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.verifiers.inputs.release_log import Row
from dpassay.verifiers.kinds.labels.claim import LabelsClaim
from dpassay.verifiers.kinds.labels.logs.judge import LogEvidence, chunks
from dpassay.verifiers.kinds.labels.logs.verify_log import verify_log
from dpassay.verifiers.kinds.reading import parse_claim

from .logs import MECHANISM, VOTES, pool_of
from .long_runs import add_workers, carried_out, workers

SIGMA, CLASSES = 40.0, 10
GNMAX: dict[str, Any] = MECHANISM
CONFIDENT = GNMAX | {"name": "confident-gnmax", "threshold": 150, "threshold_noise": "gaussian:40"}
ROWS = 20_000
Noise = NDArray[np.float64]


class Traffic:
    """Rows that were asked: histograms (n, c), and by whom."""

    def __init__(self, votes: str, rows: int, seed: int) -> None:
        self.rng = np.random.default_rng([3, seed])
        self.inputs = self.rng.integers(0, 300, rows)
        self.votes = pool_of(votes)[self.inputs]
        self.worker, self.client = self.rng.integers(0, 4, rows), self.rng.integers(0, 50, rows)
        self.call = np.arange(rows) // 5

    def fresh(self) -> Noise:
        """New noise for each row."""
        return self.rng.normal(0.0, SIGMA, self.votes.shape)

    def rows(self, noise: Noise, kept: NDArray[np.bool_] | None = None) -> list[Row]:
        """The rows with this noise, those that are kept."""
        labels = (self.votes + noise).argmax(-1)
        found = zip(self.votes, labels, self.worker, self.client, self.call, strict=True)
        every = [
            Row(tuple(v.tolist()), int(y), None, None, str(w), None, f"client {c}", str(k))
            for v, y, w, c, k in found
        ]
        return (
            [r for r, keep in zip(every, kept, strict=True) if keep] if kept is not None else every
        )


def seeded(part: str, only: tuple[int, ...] | None = None) -> Callable[[Traffic], list[Row]]:
    """Each worker, client or call has a generator of one seed; only: these alone."""

    def made(it: Traffic) -> list[Row]:
        noise, shared, seen = it.fresh(), it.fresh(), dict[int, int]()
        for row, who in enumerate(getattr(it, part).tolist()):
            if only is None or who in only:
                noise[row] = shared[seen.get(who, 0)]
                seen[who] = seen.get(who, 0) + 1
        return it.rows(noise)

    return made


def lagging(lag: int, share: float = 1.0) -> Callable[[Traffic], list[Row]]:
    """Every second run of `lag` rows has the noise of the run before, or a share of its rows."""

    def made(it: Traffic) -> list[Row]:
        noise = it.fresh()
        again = (np.arange(len(noise)) // lag % 2 == 1) & (it.rng.random(len(noise)) < share)
        noise[again] = noise[np.flatnonzero(again) - lag]
        return it.rows(noise)

    return made


def scaled(part: str, who: int, factor: float) -> Callable[[Traffic], list[Row]]:
    """One worker, or client, has so many times the noise."""

    def made(it: Traffic) -> list[Row]:
        return it.rows(it.fresh() * np.where(getattr(it, part) == who, factor, 1.0)[:, None])

    return made


def left_out(rate: float, *, minority: bool) -> Callable[[Traffic], list[Row]]:
    """A share of the rows is missing: of labels that are not the plurality's, or of all."""

    def made(it: Traffic) -> list[Row]:
        noise = it.fresh()
        gone = it.rng.random(len(noise)) < rate
        if minority:
            gone &= (it.votes + noise).argmax(-1) != it.votes.argmax(-1)
        return it.rows(noise, ~gone)

    return made


def correct(it: Traffic) -> list[Row]:
    """Releases as claimed."""
    return it.rows(it.fresh())


def sure_client(it: Traffic) -> list[Row]:
    """One client asks only what the teachers agree on."""
    clear = it.votes[it.votes.max(-1) >= np.quantile(it.votes.max(-1), 0.9)]
    it.votes[it.client == 17] = clear[it.rng.integers(0, len(clear), (it.client == 17).sum())]
    return it.rows(it.fresh())


def repeated(it: Traffic) -> list[Row]:
    """What was asked seven rows before is asked again, with noise of its own."""
    it.votes[7::2] = it.votes[:-7:2]
    return it.rows(it.fresh())


def busy_worker(it: Traffic) -> list[Row]:
    """One worker of four serves nine in ten."""
    it.worker[it.rng.random(len(it.worker)) < 0.9] = 2
    return it.rows(it.fresh())


FAULTS: dict[str, Callable[[Traffic], list[Row]]] = {
    "one seed for all four workers": seeded("worker"),
    "one seed for two of four workers": seeded("worker", (1, 3)),
    "one seed for every client": seeded("client"),
    "one seed for every call of five": seeded("call"),
    **{f"noise of {lag} rows before, every second run": lagging(lag) for lag in (2, 3, 7, 16)},
    "noise of 5 rows before, every fourth row": lagging(5, 0.5),
    "one client of 50 without noise": scaled("client", 17, 0.0),
    "one client of 50 with half the noise": scaled("client", 17, 0.5),
    "one worker of 4 without noise": scaled("worker", 2, 0.0),
    "10 % of minority labels left out": left_out(0.1, minority=True),
    "30 % of minority labels left out": left_out(0.3, minority=True),
}
RELATIVES: dict[str, Callable[[Traffic], list[Row]]] = {
    "correct": correct,
    "one client asks what is sure": sure_client,
    "histograms of 7 rows before": repeated,
    "one worker serves nine in ten": busy_worker,
    "10 % of all rows left out": left_out(0.1, minority=False),
}
MADE = FAULTS | RELATIVES


def reported(name: str, votes: str, seed: int) -> list[Any]:
    """Rows after which a fault is reported, None where it is not, and by which check."""
    evidence = LogEvidence(parse_claim({"mechanism": GNMAX}), seed)
    for chunk in chunks(MADE[name](Traffic(votes, ROWS, seed)), 512):
        evidence.observe(chunk)
        if evidence.found_after:
            return list(min((row, check) for check, row in evidence.found_after.items()))
    return [None, ""]


def sound(seed: int) -> list[str]:
    """The checks that accuse a correct log of a kind that depends on the seed."""
    kind = SOUND[seed % len(SOUND)]
    votes = VOTES[seed // len(SOUND) % 2]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        claim = kind(Traffic(votes, 3000, seed), path)
        report = verify_log(str(path), claim, seed, lambda _: None)
    return [check.id for check in report.checks if check.verdict.value in ("fail", "error")]


def claimed(mechanism: dict[str, Any], **tables: Any) -> LabelsClaim:
    claim: LabelsClaim = parse_claim({"mechanism": mechanism, **tables})
    return claim


def _objects(it: Traffic, labels: NDArray[np.int64], path: Path, **columns: Any) -> None:
    rows = [
        {"histogram": v, "label": y, **{name: column[i] for name, column in columns.items()}}
        for i, (v, y) in enumerate(zip(it.votes.tolist(), labels.tolist(), strict=True))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _labels(it: Traffic, mechanism: dict[str, Any]) -> NDArray[np.int64]:
    law = parse_claim({"mechanism": mechanism}).mechanism.mechanism()
    return np.array([int(law.sample(votes, 1, it.rng)[0]) for votes in it.votes])


def _whole(it: Traffic, path: Path) -> LabelsClaim:
    """A log with all columns, and a sound budget charged in equal parts."""
    parties = {"worker": it.worker.tolist(), "client": it.client.tolist(), "call": it.call.tolist()}
    times = np.sort(it.rng.uniform(0.0, 1e4, len(it.votes))).round(1).tolist()
    _objects(it, _labels(it, GNMAX), path, time=times, charged=[5e-3] * len(times), **parties)
    privacy = {"epsilon": 15.0, "delta": 1e-5, "queries": len(times)}
    return claimed(GNMAX, privacy=privacy)


def _columns(it: Traffic, path: Path) -> LabelsClaim:
    """CSV whose classes stand in another order."""
    order = it.rng.permutation(CLASSES)
    lines = [",".join(["label", *(f"class_{k}" for k in order)])]
    labels = _labels(it, GNMAX)
    lines += [f"{y},{','.join(map(str, v[order]))}" for v, y in zip(it.votes, labels, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return claimed(GNMAX)


def _kept(it: Traffic, path: Path, *, by_input: bool) -> LabelsClaim:
    """Answers kept by histogram, or by input where two inputs may have equal votes."""
    keys = it.inputs.tolist() if by_input else list(map(str, it.votes.tolist()))
    if by_input:  # many inputs of one histogram
        it.votes = np.where(it.votes == it.votes.max(-1, keepdims=True), 90, 25)
    first: dict[Any, int] = {}
    labels = np.array(
        [first.setdefault(k, y) for k, y in zip(keys, _labels(it, GNMAX), strict=True)]
    )
    _objects(it, labels, path, id=it.inputs.tolist())
    privacy = {"epsilon": 15.0, "delta": 1e-5, "queries": 500}
    return claimed(GNMAX | {"caching": True}, privacy=privacy)


def _refusing(it: Traffic, path: Path, *, logged: bool) -> LabelsClaim:
    """Refusals that are logged, or left out as the claim says."""
    labels = _labels(it, CONFIDENT)
    if not logged:
        it.votes, labels = it.votes[labels >= 0], labels[labels >= 0]
    _objects(it, labels, path)
    log = {} if logged else {"log": {"refusals": "left-out"}}
    return claimed(CONFIDENT, **log)


def _laplace(it: Traffic, path: Path) -> LabelsClaim:
    """Fewer teachers on some rows."""
    it.votes = np.maximum(it.votes - (it.rng.random(it.votes.shape) < 0.02), 0)
    mechanism = GNMAX | {"name": "lnmax", "noise": "laplace:20"}
    _objects(it, _labels(it, mechanism), path)
    return claimed(mechanism)


SOUND: list[Callable[[Traffic, Path], LabelsClaim]] = [
    _whole,
    _columns,
    lambda it, path: _kept(it, path, by_input=False),
    lambda it, path: _kept(it, path, by_input=True),
    lambda it, path: _refusing(it, path, logged=True),
    lambda it, path: _refusing(it, path, logged=False),
    _laplace,
]


def main() -> None:
    parser = argparse.ArgumentParser(description="Faults that only a log shows.")
    parser.add_argument("--runs", type=int, default=20, help="logs of each fault and relative")
    parser.add_argument("--sound", type=int, default=1000, help="correct logs of all kinds")
    add_workers(parser)
    asked = parser.parse_args()
    parts = [(name, votes, i) for name in MADE for votes in VOTES for i in range(asked.runs)]
    with workers(asked) as executor:
        results = carried_out(reported, parts, "log_zoo", executor)
        accused = carried_out(sound, [(i,) for i in range(asked.sound)], "log_sound", executor)
    for name in MADE:
        for votes in VOTES:
            found = [t for part, t in zip(parts, results, strict=True) if part[:2] == (name, votes)]
            rows = [row for row, _ in found if row is not None]
            checks = sorted({check for row, check in found if row is not None})
            median = f", after {statistics.median(rows):,.0f} rows in the median" if rows else ""
            print(
                f"{name}, votes of {votes}: reported in {len(rows)} of {len(found)}{median} "
                f"{', '.join(checks)}"
            )
    wrong = [i for i, checks in enumerate(accused) if checks]
    print(f"{len(wrong)} of {len(accused)} correct logs accused: {wrong[:20]}")


if __name__ == "__main__":
    main()
