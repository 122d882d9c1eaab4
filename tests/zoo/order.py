"""Noise that depends on what was asked before: faults of queries in turn."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .claims import CONFIDENT, GNMAX, SIGMA
from .entry import FRESH, LAW, Shelf

shelf = Shelf("order", ("order",), GNMAX)

TEACHERS = 250


class Remembers:
    """Claimed noise times `factor(histogram)` of a memory that has seen the calls before.

    memory: made anew for each deployment; it looks at every call once, before it is answered.
    """

    def __init__(self, factor: Callable[[np.ndarray], float], seed: int) -> None:
        self.factor, self.rng = factor, np.random.default_rng(seed)

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        scale = SIGMA * self.factor(histogram)
        return (histogram + self.rng.normal(0, scale, (size, histogram.size))).argmax(1)


Memory = Callable[[], Callable[[np.ndarray], float]]


def remembers(name: str, effect: str, **more: Any) -> Callable[[Memory], Memory]:
    """Shelves a deployment whose noise has the factor that the decorated memory says."""

    def add(memory: Memory) -> Memory:
        shelf.makes(name, effect, **more)(lambda seed: Remembers(memory(), seed))
        return memory

    return add


class Consensus:
    """The running share of the leading class, to which each call adds with this weight."""

    def __init__(self, weight: float, least: float, factor: float) -> None:
        self.weight, self.least, self.factor, self.mean = weight, least, factor, 0.0

    def __call__(self, histogram: np.ndarray) -> float:
        share = histogram.max() / max(histogram.sum(), 1)
        self.mean += self.weight * (share - self.mean)
        return self.factor if self.mean > self.least else 1.0


@remembers(
    "half-in-sure-times",
    "Half the noise while a quick running consensus is above 0.8.",
    checks=("order", *LAW, *FRESH),  # batches of one sure histogram raise it, too
)
def half_in_sure_times() -> Consensus:
    return Consensus(0.1, 0.8, 0.5)


@remembers(
    "half-in-long-sure-times", "Half the noise while a slow running consensus is above 0.75."
)
def half_in_long_sure_times() -> Consensus:
    return Consensus(0.002, 0.75, 0.5)


class Streak:
    """A quarter of the noise on the third different query in a row with one leader."""

    def __init__(self) -> None:
        self.leader, self.length, self.last = -1, 0, b""

    def __call__(self, histogram: np.ndarray) -> float:
        leader, asked = int(histogram.argmax()), histogram.tobytes()
        if leader != self.leader:
            self.leader, self.length = leader, 1
        elif asked != self.last:
            self.length += 1
        self.last = asked
        return 0.25 if self.length >= 3 else 1.0


remembers(
    "quarter-on-the-third-with-one-leader",
    "A quarter of the noise on the third different query in a row with one leader.",
    checks=("order", *LAW),
)(Streak)


@shelf.makes(
    "half-on-the-second-confident-call",
    "Half the noise on the second single call in a row whose leader has 0.6 of the teachers.",
)
class SecondConfident:
    def __init__(self, seed: int) -> None:
        self.rng, self.before = np.random.default_rng(seed), False

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        confident = size == 1 and histogram.max() > 0.6 * TEACHERS
        scale = SIGMA / 2 if confident and self.before else SIGMA
        self.before = confident
        return (histogram + self.rng.normal(0, scale, (size, histogram.size))).argmax(1)


@shelf.makes(
    "kept-for-near-queries",
    "The noise of the last query is kept where that lies 2 to 6 votes away.",
)
class KeptForNear:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.last: np.ndarray | None = None
        self.noise = np.zeros(0)

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        noise = self.rng.normal(0, SIGMA, (size, histogram.size))
        if self.last is not None and 2 <= np.abs(histogram - self.last).sum() / 2 <= 6:
            noise[0] = self.noise
        self.last, self.noise = histogram.copy(), noise[-1]
        return (histogram + noise).argmax(1)


@shelf.makes("second-answers-bare", "The second answer to a histogram is its plurality.")
class SecondAnswersBare:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.met: dict[bytes, int] = {}

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        labels = (histogram + self.rng.normal(0, SIGMA, (size, histogram.size))).argmax(1)
        before = self.met.get(histogram.tobytes(), 0)
        self.met[histogram.tobytes()] = before + size
        if before <= 1 < before + size:
            labels[1 - before] = histogram.argmax()
        return labels


@shelf.makes(
    "screened-once-in-a-streak",
    "A query with the leader of the last is not screened again.",
    claim=CONFIDENT,
    checks=("order", "abstention", *LAW, *FRESH),
)
class ScreenedOnce:
    def __init__(self, seed: int) -> None:
        self.rng, self.leader, self.answered = np.random.default_rng(seed), -1, False

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        labels = (histogram + self.rng.normal(0, SIGMA, (size, histogram.size))).argmax(1)
        passed = histogram.max() + self.rng.normal(0, 150, size) >= 200
        leader = int(histogram.argmax())
        if size == 1 and self.answered and leader == self.leader:
            passed[:] = True
        self.leader, self.answered = leader, bool(passed[-1])
        return np.where(passed, labels, -1)
