"""A monitor's metrics for Prometheus, without votes, labels or costs that depend on votes."""

from functools import partial

from ....inputs.release_log import LogError
from .monitor import Snapshot


class Metrics:
    """A server of metrics at `address`. Raises LogError if the port cannot be used."""

    def __init__(self, port: int, address: str) -> None:
        from prometheus_client import CollectorRegistry, Gauge, start_http_server

        registry = CollectorRegistry()
        gauge, by_check = partial(Gauge, registry=registry), ["check"]
        self._rows = gauge("dpassay_rows", "Rows judged so far.")
        self._evidence = gauge("dpassay_log10_e_value", "Evidence against the claim.", by_check)
        self._threshold = gauge("dpassay_threshold_log10", "Evidence that refutes.", by_check)
        self._alarms = gauge("dpassay_alarm", "1 once a check has refuted the claim.", by_check)
        self._epsilon = gauge("dpassay_epsilon_data_independent", "Spent, whatever the votes.")
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
