"""How far the labels of one stream have been asked."""

from collections.abc import Iterator
from dataclasses import dataclass

from .plan import Batch

LARGEST_BATCH = 8192
"""Most labels of a batch, except for the one large call."""

_ROTATED_BATCH = 256  # labels under one numbering, about


@dataclass
class StreamProgress:
    """Progress of a stream: `asked` of its `planned` labels.

    classes: 0 where the histogram is asked as it stands, else the number of classes, whose
    numbering is rotated from batch to batch; rotation: the latest rotation, in places.
    """

    stream: int
    planned: int
    classes: int = 0
    asked: int = 0
    rotation: int = 0

    @property
    def left(self) -> int:
        """Labels still to be asked."""
        return self.planned - self.asked

    def up_to(self, goal: int) -> Iterator[Batch]:
        """Batches until `goal` labels, or all planned ones, have been asked."""
        left = min(goal, self.planned) - self.asked
        self.asked += max(left, 0)
        while left > 0:
            size = min(left, LARGEST_BATCH)
            if self.classes:
                self.rotation = self.rotation % (self.classes - 1) + 1
                size = max(min(size, _ROTATED_BATCH), -(-size // (self.classes - 1)))
            yield Batch(self.stream, size, self.rotation)
            left -= size
