"""Which stream is asked next, by the evidence so far: sequential design of experiments."""

from collections.abc import Callable, Iterator

import numpy as np

from .....reference.arrays import Vector
from .schedule import LARGEST_BATCH, LabelBatch, Schedule

_HEAD_START = 128  # labels before the first sweep
_SHARE, _SHARE_OF_A_LEADER = 1 / 2, 3 / 4  # labels asked ahead; more once a fault leads
_LEADS = 3.0  # nats of evidence from which a fault leads
_GROWTH = 8  # a batch is an eighth of the labels asked so far


class AdaptiveSampling:
    """Asks ahead of the sweeps where the known faults would show soonest, by the evidence so far.

    The stream asked next has the largest divergence from the claim, averaged over the faults with
    the capital of each wager as weight (Chernoff 1959; Naghshvar and Javidi 2013): a fault that
    fits the labels is followed to where it shows most. The choice depends on earlier labels alone,
    so every e-process remains valid. The labels of the whole run stay as planned, so that a pass
    means the same. Sweeps go on in between, for faults that are not known.

    schedule: the plan's labels; capital: gives the log-wealth (faults,) of the wager on each fault,
    prior weights included; usable: whether a stream can be asked.
    """

    def __init__(
        self,
        schedule: Schedule,
        capital: Callable[[], Vector],
        usable: Callable[[int], bool],
    ) -> None:
        self._schedule, self._capital, self._usable = schedule, capital, usable
        self._before = capital()
        self._ahead = self._swept = 0

    def batches(self) -> Iterator[LabelBatch]:
        """Every batch of the plan, those asked ahead between those of the sweeps."""
        for swept in self._schedule.sweeps():
            while self._ahead < _HEAD_START + self._of_each_swept * self._swept:
                stream = self._best()
                if stream is None:
                    break
                size = min(LARGEST_BATCH, max(1, (self._ahead + self._swept) // _GROWTH))
                for batch in self._schedule.ahead(stream, size):
                    self._ahead += batch.labels
                    yield batch
            self._swept += swept.labels
            yield swept

    @property
    def _of_each_swept(self) -> float:
        """Labels asked ahead for each label of the sweeps."""
        leads = float(np.max(self._capital() - self._before)) >= _LEADS
        share = _SHARE_OF_A_LEADER if leads else _SHARE
        return share / (1.0 - share)

    def _best(self) -> int | None:
        """The stream to ask next; None where no label that is left distinguishes a fault."""
        capital = self._capital()
        tells = self._schedule.plan.fault_divergences @ np.exp(capital - capital.max())
        left = self._schedule.left
        usable = [left[i] > 0 and self._usable(i) for i in range(left.size)]
        best = int(np.argmax(np.where(usable, tells, -1.0)))
        return best if usable[best] and tells[best] > 0.0 else None
