"""A monitor's metrics for Prometheus, without votes, labels or costs that depend on votes."""

from ....inputs.release_log import LogError
from .monitor import Snapshot


class Metrics:
    """A server of metrics at `address`. Raises LogError if the port cannot be used."""

    def __init__(self, port: int, address: str) -> None:
        from prometheus_client import CollectorRegistry, Gauge, start_http_server

        registry = CollectorRegistry()
        self._rows = Gauge("dpassay_rows", "Rows judged so far.", registry=registry)
        self._evidence = Gauge(
            "dpassay_log10_e_value", "Evidence against the claim.", ["check"], registry=registry
        )
        self._threshold = Gauge(
            "dpassay_threshold_log10", "Evidence that refutes.", ["check"], registry=registry
        )
        self._alarms = Gauge(
            "dpassay_alarm", "1 once a check has refuted the claim.", ["check"], registry=registry
        )
        self._epsilon = Gauge(
            "dpassay_epsilon_data_independent", "Spent, whatever the votes.", registry=registry
        )
        try:
            self._server, self._thread = start_http_server(port, address, registry)
        except OSError as error:
            why = error.strerror or error
            raise LogError(f"--metrics-port {port}: {why}") from None

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
