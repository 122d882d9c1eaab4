"""Follows a run of tables and makes the figures of its report: evidence over releases."""

from ..numbers.figures import NumberFigures
from ..numbers.planning.asked import Draws
from ..numbers.recorder import Recorder


class TableRecorder(Recorder):
    """Keeps the evidence of each check."""

    def _draw(self, draws: Draws) -> None:
        """See `Recorder._draw`."""

    def figures(self) -> NumberFigures:
        """See `Recorder.figures`."""
        return NumberFigures(self.traces)
