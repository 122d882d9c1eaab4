"""Whether an account of spending depends on the votes, by how much single answers moved it."""

from ....findings.note import Note

_MORE = 1.05  # over an earlier rise: more than accounts of discretised losses are off by


class Rises:
    """By how much each of several single answers moved an account.

    One that counts queries rises by less and less: epsilon is the least of lines in their number,
    one for each order, which is concave.
    """

    def __init__(self) -> None:
        self._rises: list[float] = []

    def note(self, before: float | None, after: float | None) -> None:
        """Takes an answer; the first, from nothing spent, is not compared with others."""
        if before and after is not None:
            self._rises.append(after - before)

    @property
    def warning(self) -> Note | None:
        """Where a later answer moved it more; None where it stood still, as a block may be paid."""
        if min(self._rises, default=0.0) <= 0.0:
            return None
        for place, rise in enumerate(self._rises):
            least = min(self._rises[: place + 1])
            if rise > _MORE * least:
                return Note(
                    "budget-depends-on-votes",
                    f"spent rose by {least:.3g} for one answer and later by {rise:.3g}, so that it "
                    "depends on the votes: when the budget ends then tells of them",
                    {"rise": least, "later_rise": rise},
                )
        return None
