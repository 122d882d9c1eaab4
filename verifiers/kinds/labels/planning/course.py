"""How far the labels of one stream have been asked."""

from collections.abc import Iterator
from dataclasses import dataclass

from .plan import Batch

LARGEST_BATCH = 8192
"""Labels of a batch at most, but for the one large call."""

_TURNED_BATCH = 256  # labels under one numbering, about


@dataclass
class Course:
    """How far a stream has been asked, straight or turned, of the labels it is planned for."""

    stream: int
    planned: int
    classes: int = 0
    asked: int = 0
    turn: int = 0

    @property
    def left(self) -> int:
        """Labels still to be asked."""
        return self.planned - self.asked

    def up_to(self, goal: int) -> Iterator[Batch]:
        """Batches until so many labels have been asked, or all; turned where it has classes."""
        left = min(goal, self.planned) - self.asked
        self.asked += max(left, 0)
        while left > 0:
            size = min(left, LARGEST_BATCH)
            if self.classes:
                self.turn = self.turn % (self.classes - 1) + 1
                size = max(min(size, _TURNED_BATCH), -(-size // (self.classes - 1)))
            yield Batch(self.stream, size, self.turn)
            left -= size
