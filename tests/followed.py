"""Logs of a small claim, and a monitor that reads one to its end."""

import sqlite3
from contextlib import closing
from typing import Any

import numpy as np
from small import small_claim

from dpassay.verifiers.kinds.labels.logs.monitor import Monitor

HISTOGRAMS = np.array([(20, 15, 5, 0), (10, 10, 10, 10), (30, 4, 4, 2), (14, 13, 13, 0)])


def lines(rows: int, seed: int, scale: float = 1.0) -> str:
    """Rows of CSV without a header."""
    rng = np.random.default_rng(seed)
    votes = HISTOGRAMS[rng.integers(0, 4, rows)]
    labels = (votes + rng.normal(0.0, 10.0 * scale, votes.shape)).argmax(-1)
    return "".join(f"{','.join(map(str, h))},{y}\n" for h, y in zip(votes, labels, strict=True))


QUERIES = {"epsilon": 1e4, "delta": 1e-5, "queries": 700, "scope": "any-queries"}
HEAD = "a,b,c,d,label\n"


def run_out(log: Any, folder: Any, claim: Any = None) -> Monitor:
    """A monitor that has read to the end of a log, and has given its state back."""
    monitor = Monitor(str(log), claim or small_claim(), str(folder), once=True)
    try:
        while monitor.step() or not monitor.source.ended:
            pass
    finally:
        monitor.close()
    return monitor


def content(folder: Any) -> list[Any]:
    """Everything that a state holds."""
    with closing(sqlite3.connect(folder / "monitor.sqlite")) as base:
        tables = ("state", "histograms", "inputs")
        return [base.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables]
