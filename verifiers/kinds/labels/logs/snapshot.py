"""The figures of a monitor: what a screen shows, and what Prometheus may have of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .....attacks import Answers, misplaced, reconstruct
from .....reference import NoisyArgmax
from .....reference.accounting.analyses import Analysis
from ....inputs.release_log import LogError
from ..mechanism import LabelsMechanism
from .alarms import Alarm
from .judge import Window
from .store import AnsweredInput

LEAST = 100
"""Least answers of an input that is looked at (Wang et al. 2022, section 4)."""

MOST = 20
"""Most inputs that are looked at, the most frequent ones."""

_NATS = 2.302585092994046  # in a factor of ten


@dataclass(frozen=True)
class RecoveredVotes:
    """The votes that an attacker recovers from all answers to an input.

    times: answers; misplaced: share of the votes put on wrong classes; estimate: votes (c,).
    """

    name: str
    times: int
    misplaced: float
    estimate: tuple[float, ...]


def recover_votes(
    claim: LabelsMechanism, inputs: Sequence[AnsweredInput], answered: bool
) -> list[RecoveredVotes]:
    """The votes of inputs with the claimed total by maximum likelihood, the most accurate first.

    answered: whether the log leaves out refusals.
    """
    fits = [one for one in inputs if sum(one.votes) == claim.teachers]
    # a kept answer tells nothing when it is given again; no attack reads votes that are drawn
    if not fits or claim.caching or claim.sampled is not None:
        return []
    noise = claim.noise.unrounded  # an attacker's model
    counts, mechanism = np.array([one.counts for one in fits]), claim.mechanism(noise)
    if answered and claim.refuses:  # given an answer, its label has the law of the argmax alone
        counts, mechanism = counts[:, :-1], NoisyArgmax(noise)
    read = reconstruct(Answers(counts, mechanism), claim.teachers).histogram
    found = [
        RecoveredVotes(
            one.name, one.times, float(misplaced(row, one.votes)), tuple(map(float, row))
        )
        for one, row in zip(fits, read, strict=True)
    ]
    return sorted(found, key=lambda votes: votes.misplaced)


@dataclass(frozen=True)
class Snapshot:
    """The current figures of a monitor.

    scale: interval of the noise scale over all rows, as factors of the claimed one; lately: that of
    the last whole window of rows, None before one has ended; spent: epsilon at delta, by analysis;
    protected: whom it is of, against which change; charged: the epsilon that rows charge, and how
    many rows do, None if none does; refined: whether the costs that depend on votes are over all
    orders, not at most so much, at some orders.
    """

    rows: int
    log_e_values: dict[str, float]
    log_thresholds: dict[str, float]
    scale: tuple[float, float] | None
    lately: Window | None
    spent: dict[Analysis, float | None]
    delta: float
    protected: str
    readings: Sequence[RecoveredVotes]
    alarms: Sequence[Alarm] = ()
    charged: tuple[float, int] | None = None
    refined: bool = False


class Metric(NamedTuple):
    """A metric as it is published."""

    name: str
    type: str
    unit: str
    labels: tuple[str, ...]
    help: str


METRICS = (
    Metric("dpassay_rows", "gauge", "rows", (), "Rows judged so far."),
    Metric(
        "dpassay_log10_e_value",
        "gauge",
        "powers of ten",
        ("check",),
        "Evidence against the claim.",
    ),
    Metric(
        "dpassay_threshold_log10", "gauge", "powers of ten", ("check",), "Evidence that refutes."
    ),
    Metric("dpassay_alarm", "gauge", "0 or 1", ("check",), "1 once a check has refuted the claim."),
    Metric(
        "dpassay_epsilon_data_independent", "gauge", "epsilon", (), "Spent, whatever the votes."
    ),
)
"""All that is exported, without votes, labels or costs that depend on votes; published as
`schemas/metrics.json`."""


class Metrics:
    """A server of metrics at `address`. Raises LogError if the port cannot be used."""

    def __init__(self, port: int, address: str) -> None:
        from prometheus_client import CollectorRegistry, Gauge, start_http_server

        registry = CollectorRegistry()
        self._rows, self._evidence, self._threshold, self._alarms, self._epsilon = (
            Gauge(metric.name, metric.help, metric.labels, registry=registry) for metric in METRICS
        )
        try:
            self._server, self._thread = start_http_server(port, address, registry)
        except OSError as error:
            why = error.strerror or error
            raise LogError(f"--metrics-port {port}: {why}", code="value-not-allowed") from None

    def close(self) -> None:
        """Ends the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def show(self, snapshot: Snapshot) -> None:
        """Updates the metrics."""
        self._rows.set(snapshot.rows)
        raised = {alarm.check for alarm in snapshot.alarms}
        for check, value in snapshot.log_e_values.items():
            self._evidence.labels(check).set(value / _NATS)
            self._threshold.labels(check).set(snapshot.log_thresholds[check] / _NATS)
            self._alarms.labels(check).set(check in raised)
        epsilon = snapshot.spent["data-independent"]
        if epsilon is not None:
            self._epsilon.set(epsilon)
