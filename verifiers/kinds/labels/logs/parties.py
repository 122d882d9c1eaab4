"""Wagers on faults that only one worker, one client, or one hour of the day has."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from ....evidence.onset import OnsetEvidence
from ....findings.note import Note
from .alternatives import Alternatives

MOST = 1_000
"""Most workers, clients or hours that are looked at: the first to occur."""

_FACTORS = (0.25, 0.5, 1 / 1.5, 1.5, 2.0)  # the nearest alternatives to these scales are used


class Parties:
    """Wagers that the labels of one worker, client or hour follow another law from some label on.

    The k-th party has weight 1 / (k (k + 1)); the weight of parties still to come is kept as it is.
    So this is an average of martingales, if each row's party is fixed before its noise is drawn.
    """

    SAVED = ("labels", "log_ratios", "log_begun", "recent", "onsets")
    """Attributes of each party's evidence that a saved state holds."""

    def __init__(self, alternatives: Alternatives) -> None:
        others = np.delete(alternatives.factors, alternatives.claimed)
        scales = [int(np.argmin(np.abs(np.log(others / factor)))) for factor in _FACTORS]
        faults = range(others.size, others.size + len(alternatives.faults))
        self.columns = np.array([*scales, *list(faults)[:_FAULTS]])
        causes = alternatives.causes
        self.causes = [causes[i] for i in self.columns]
        self.evidence: dict[str, OnsetEvidence] = {}
        self._log_values: list[float] = []

    def observe(self, names: Sequence[str | None], ratios: Matrix) -> Vector:
        """Adds labels with log-ratios (n, all alternatives); the log-e-value (n,) after each.

        names: of the parties (n,), None where a row has none.
        """
        places: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            if name is not None and (name in self.evidence or len(self.evidence) < MOST):
                self._follow(name)
                places.setdefault(name, []).append(place)
        if not self.evidence:
            return np.zeros(len(names))
        number = np.arange(1.0, len(self.evidence) + 1.0)
        shares = 1.0 / (number * (number + 1.0))
        numbers = {name: k for k, name in enumerate(self.evidence)}
        begun = float((shares * np.exp(np.minimum(self._log_values, _MOST_LOG))).sum())
        grown = np.zeros(len(names))
        for name, rows in places.items():
            k = numbers[name]
            after = self.evidence[name].observe(ratios[rows][:, self.columns])
            values = np.exp(np.minimum([self._log_values[k], *after], _MOST_LOG))
            grown[rows] = shares[k] * np.diff(values)
            self._log_values[k] = float(after[-1])
        kept = 1.0 / (len(self.evidence) + 1.0)
        return np.asarray(np.log(np.maximum(kept + begun + np.cumsum(grown), kept)))

    @property
    def log_weights(self) -> Vector:
        """Log-weight (k,) of the wager on each law from the first label on, by party's number."""
        number = np.arange(1.0, MOST + 1.0)
        return np.asarray(np.log(0.5 / self.columns.size / (number * (number + 1.0))))

    def _follow(self, name: str) -> None:
        if name not in self.evidence:
            even = np.full(self.columns.size, 1.0 / self.columns.size)
            self.evidence[name] = OnsetEvidence(even)
            self._log_values.append(0.0)

    @property
    def likeliest(self) -> tuple[float, str, Note] | None:
        """The wager with most evidence: its log-ratio since its onset, the party, and the law."""
        best = [
            (float(evidence.recent.max()), name, self.causes[int(np.argmax(evidence.recent))])
            for name, evidence in self.evidence.items()
        ]
        found = max(best, key=lambda one: one[:2], default=None)
        return None if found is None or found[0] <= 0.0 else found

    def as_arrays(self) -> dict[str, NDArray[Any]]:
        """The state as arrays; the names, keys of `evidence`, are saved apart."""
        kept = [[getattr(e, field) for e in self.evidence.values()] for field in self.SAVED]
        found = {field: np.array(rows) for field, rows in zip(self.SAVED, kept, strict=True)}
        return found | {"log_values": np.array(self._log_values)}

    def restore(self, names: Sequence[str], kept: dict[str, NDArray[Any]]) -> None:
        """Restores a saved state."""
        for k, name in enumerate(names):
            self._follow(name)
            evidence = self.evidence[name]
            for field in self.SAVED:
                here = getattr(evidence, field)
                value = kept[field][k]
                setattr(
                    evidence, field, value.copy() if isinstance(here, np.ndarray) else int(value)
                )
        self._log_values = kept["log_values"].tolist()


_FAULTS = 5  # plainest known faults: no noise, uniform, argmin, and the first two now and then
_MOST_LOG = 600.0
