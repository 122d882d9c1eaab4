"""How a stream of the plan is asked: fresh labels, checked, each of them evidence."""

from typing import Any

import numpy as np

from .....reference import Histogram
from .....reference.mechanisms import Labels
from ....targets import Target, ask_each, checked_labels
from ....targets.labels import SecondInput
from ..planning.plan import Plan
from ..planning.streams import LabelBatch

_TRIES = 200
_LARGEST_TOTAL = 10_000  # or ten times the teachers, as valid input goes


class UsedUp(Exception):  # noqa: N818 - an answer, not an error
    """No histogram is left whose answer a caching deployment would still have to draw."""


class StreamAsking:
    """Asks a target for labels of a plan's streams.

    A caching deployment draws one label per histogram. It is asked for one label each of many
    histograms with the law of the stream's: renumbered, and with the same votes added to every
    class where the law allows that (Wang et al. 2022, Theorem 2). `kept` holds what it answered.
    Of any other, `calls` holds the calls that no check has seen, with the labels as they came.
    """

    def __init__(self, target: Target, plan: Plan, other_totals: bool, seed: int) -> None:
        self.target, self.plan = target, plan
        self.mechanism, self.release = plan.claim.mechanism, plan.claim.release
        self.shifts = other_totals and not self.mechanism.refuses
        self.rng = np.random.default_rng(seed)
        self.kept: dict[tuple[int, ...], int] = {}
        self.calls: list[tuple[Histogram, Labels]] = []

    def labels(self, batch: LabelBatch) -> tuple[Labels, tuple[int, ...]]:
        """The labels (size,) of a batch, classes numbered back, and the sizes of the calls made.

        Fewer where a caching deployment has no more. Raises as the target does, TargetError for a
        reply that breaks the rules, and UsedUp where there is none at all.
        """
        histogram = self._votes(batch.stream)
        if self.mechanism.caching:
            return self._first_labels(histogram, batch.size), (1,) * batch.size
        votes = np.roll(histogram, batch.rotation) if batch.rotation else histogram
        replies, calls = ask_each(self.target, [(votes, size) for size in batch.calls])
        labels = [self.checked(*each, votes) for each in zip(replies, batch.calls, strict=True)]
        self.calls += [(votes, of_call) for of_call in labels]
        found = np.concatenate(labels)
        back = (found - batch.rotation) % histogram.size
        return np.where(found < 0, found, back), calls

    def in_turn(self, batch: LabelBatch) -> tuple[Labels, Labels]:
        """Labels of a stream and of another, (size,) each, in calls for one label, in turn."""
        assert batch.other is not None
        pair = [self._votes(i) for i in (batch.stream, batch.other)]
        labels = [[self.call(votes, 1) for votes in pair] for _ in range(batch.size)]
        first, other = np.array(labels, dtype=np.int64).reshape(-1, 2).T
        return first, other

    def one(self, histogram: Histogram) -> int | None:
        """The label of a call for one; None where a caching deployment has answered it before.

        Raises as `labels` does.
        """
        key = tuple(histogram.tolist())
        if self.mechanism.caching and key in self.kept:
            return None
        label = int(self.call(histogram, 1)[0])
        if self.mechanism.caching:
            self.kept[key] = label
        return label

    def _votes(self, stream: int) -> Histogram:
        """The histogram of a stream, as what stands for its input."""
        asked = self.plan.streams[stream]
        votes = np.array(asked.histogram, dtype=np.int64)
        return SecondInput.of(votes) if asked.second else votes

    def _first_labels(self, histogram: Histogram, size: int) -> Labels:
        found: list[int] = []
        try:
            while len(found) < size:
                found.append(self._first_label(histogram))
        except UsedUp:
            if not found:
                raise
        return np.array(found, dtype=np.int64)

    def call(self, histogram: Histogram, size: int) -> Labels:
        """The labels (size,) of one call, checked; raises as `labels` does."""
        labels = self.checked(self.target.ask(histogram, size), size, histogram)
        if not self.mechanism.caching:
            self.calls.append((histogram, labels))
        return labels

    def checked(self, reply: Any, size: int, histogram: Histogram) -> Labels:
        """The labels (size,) of a reply. Raises TargetError for one that breaks the rules."""
        return checked_labels(reply, histogram, size, self.mechanism.refuses, self.release)

    def _first_label(self, histogram: Histogram) -> int:
        order, votes = self._unasked(histogram)
        label = int(self.call(votes, 1)[0])
        self.kept[tuple(votes.tolist())] = label
        return label if label < 0 else int(order[label])

    def _unasked(self, histogram: Histogram) -> tuple[Histogram, Histogram]:
        """A histogram not asked before with the same law, and the original class of each class."""
        largest = max(10 * self.mechanism.teachers, _LARGEST_TOTAL)
        most = max(0, (largest - int(histogram.sum())) // histogram.size) if self.shifts else 0
        order = np.arange(histogram.size)
        for attempt in range(_TRIES):
            if attempt:
                order = self.rng.permutation(histogram.size)
            votes = histogram[order] + (int(self.rng.integers(0, most + 1)) if attempt else 0)
            if tuple(votes.tolist()) not in self.kept:
                return order, votes
        raise UsedUp
