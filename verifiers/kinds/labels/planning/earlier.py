"""The earlier calls whose label a call might repeat."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....findings.note import Fields
from .features import votes_moved

_BANDS: tuple[tuple[int, float, str], ...] = (
    (0, 0, "that asked the same"),
    (1, 2, "1 or 2 votes away"),
    (1, 4, "1 to 4 votes away"),
    (1, 8, "1 to 8 votes away"),
    (9, 30, "9 to 30 votes away"),
    (0, np.inf, "whatever it asked"),
)
_BACK = range(2, 17)
_NEAR = 8  # votes


@dataclass(frozen=True)
class Earlier:
    """A rule that names an earlier call: in words, and that call's index per call (n,), or -1.

    fields: how many calls before it was made, and how many votes away it asked.
    """

    words: str
    fields: Fields
    places: NDArray[np.intp]


def earlier_calls(histograms: NDArray[np.int64]) -> list[Earlier]:
    """Every rule that is tried, for calls on histograms (n, c) in the order asked."""
    places = np.arange(len(histograms))
    moved = votes_moved(histograms)
    found = [
        Earlier(
            f"of the call before, {words}",
            _near(1, most),
            _where((moved >= least) & (moved <= most), 1),
        )
        for least, most, words in _BANDS
    ]
    for back in _BACK:
        moved = votes_moved(histograms, back)
        for most, what in ((_NEAR, f"at most {_NEAR} votes away"), (np.inf, "whatever it asked")):
            words = f"of {back} calls before, {what}"
            found.append(Earlier(words, _near(back, most), _where(moved <= most, back)))
    first, last = _same_histogram(histograms)
    of_first = np.where(first < places, first, -1)
    found.append(Earlier("of the first call of its histogram", {"of": "first"}, of_first))
    found.append(Earlier("of the latest call of its histogram", {"of": "latest"}, last))
    return found


def _near(back: int, most: float) -> Fields:
    return {"calls_before": back, "votes_away_at_most": most if np.isfinite(most) else None}


def _where(holds: NDArray[np.bool_], back: int) -> NDArray[np.intp]:
    """The index `back` calls earlier where `holds` (n,) is true and that call exists; else -1."""
    places = np.arange(holds.size) - back
    return np.where(holds & (places >= 0), places, -1)


def _same_histogram(histograms: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Per call, indices of the first call of its histogram and of the latest before it (or -1)."""
    _, first, which = np.unique(histograms, axis=0, return_index=True, return_inverse=True)
    which = np.asarray(which).ravel()
    last = np.full(which.size, -1)
    order = np.argsort(which, kind="stable")
    same = which[order][1:] == which[order][:-1]
    last[order[1:][same]] = order[:-1][same]
    return first[which], last
