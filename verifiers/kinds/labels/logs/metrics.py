"""A monitor's metrics for Prometheus, without votes, labels or costs that depend on votes."""

from typing import NamedTuple

from ....inputs.release_log import LogError
from .monitor import Snapshot


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
        *("dpassay_log10_e_value", "gauge", "powers of ten", ("check",)),
        "Evidence against the claim.",
    ),
    Metric(
        *("dpassay_threshold_log10", "gauge", "powers of ten", ("check",)),
        "Evidence that refutes.",
    ),
    Metric(
        *("dpassay_alarm", "gauge", "0 or 1", ("check",)), "1 once a check has refuted the claim."
    ),
    Metric(
        *("dpassay_epsilon_data_independent", "gauge", "epsilon", ()), "Spent, whatever the votes."
    ),
)
"""All that is exported; published as `schemas/metrics.json`."""


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


_NATS = 2.302585092994046  # in a factor of ten
