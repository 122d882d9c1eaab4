"""What the noise of a call might depend on: its properties given earlier calls, or their labels."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....findings.note import Fields
from ....text import counted

Holds = NDArray[np.bool_]

Named = Iterator[tuple[str, Fields, Holds]]
"""Properties in words after "labels fit ...", as fields, and for which calls (n,) they hold."""

RATES = (0.1, 0.01, 0.002)
"""Weights of the latest call in exponentially weighted means of the consensus."""

_CONSENSUS = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
_COUNTS = (0.4, 0.5, 0.6, 0.7, 0.8)  # of the teachers
_SHARES = (0.6, 0.7, 0.8, 0.9)  # of the votes
_SHARES_BEFORE = (0.5, 0.9)  # of the votes
_TOTALS = (0.8, 0.9, 1.0)  # of the teachers
_STREAKS = (1, 2, 3, 5)
_ASKED = (1, 2, 3)
_DISTANCES = (1, 2, 4, 8, 30)
_POSITIONS = (32, 128, 512, 1024, 2048)

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
class Feature:
    """A property of calls: its family, words after "labels fit ...", and per call if it holds.

    fields: the property by its parameters.
    """

    family: str
    words: str
    fields: Fields
    holds: Holds


def votes_moved(histograms: NDArray[np.int64], back: int = 1) -> NDArray[np.float64]:
    """Votes (n,) that differ from the histogram `back` calls before; inf for the first calls."""
    apart = np.abs(histograms[back:] - histograms[:-back]).sum(-1) / 2.0
    return np.concatenate([np.full(min(back, len(histograms)), np.inf), apart])


def _counted(which: NDArray[np.intp]) -> NDArray[np.int64]:
    """How many times each value (n,) has occurred up to and including its place."""
    order = np.argsort(which, kind="stable")
    ranked = which[order]
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    sizes = np.diff(np.append(starts, ranked.size))
    place = np.arange(ranked.size) - np.repeat(starts, sizes)
    found = np.empty(which.size, dtype=np.int64)
    found[order] = place + 1
    return found


def _since(holds: Holds) -> NDArray[np.int64]:
    """Length (n,) of the unbroken run of true values that ends at each call."""
    places = np.arange(holds.size)
    last = np.maximum.accumulate(np.where(holds, -1, places))
    return np.asarray(places - last, dtype=np.int64)


def _asked(histograms: NDArray[np.int64], _teachers: int) -> Named:
    _, which = np.unique(histograms, axis=0, return_inverse=True)
    times = _counted(np.asarray(which).ravel())
    for n in _ASKED:
        yield (f"in call {n} of a histogram", {"call": n}, times == n)
        if n > 1:
            yield (f"in call {n} of a histogram and later ones", {"from_call": n}, times >= n)


def _streaks(histograms: NDArray[np.int64], _: int) -> Named:
    leaders = histograms.argmax(-1)
    same = np.concatenate([[False], leaders[1:] == leaders[:-1]])
    before = _since(same)
    yield ("where the call before had another leader", {"same_leader": 0}, before == 0)
    for n in _STREAKS:
        calls = "the call before" if n == 1 else f"the {n} calls before"
        yield (f"where {calls} had the same leader", {"same_leader": n}, before >= n)


def _supports(histograms: NDArray[np.int64], _: int) -> Named:
    support = (histograms > 0).sum(-1)
    for k in np.unique(support):
        have = counted(int(k), "class has", "classes have")
        yield (f"where {have} votes", {"voted_for": int(k)}, support == k)
        most, least = {"voted_for_at_most": int(k)}, {"voted_for_at_least": int(k)}
        yield (f"where {k} classes or fewer have votes", most, support <= k)
        yield (f"where {k} classes or more have votes", least, support >= k)


def _confident(histograms: NDArray[np.int64], teachers: int) -> Named:
    most = histograms.max(-1)
    share = most / histograms.sum(-1)
    sure = {("teachers", least): most > least * teachers for least in _COUNTS}
    sure |= {("votes", least): share > least for least in _SHARES}
    for (whole, least), holds in sure.items():
        in_a_row = _since(holds)
        where = f"where the leader has more than {least:g} of the {whole}"
        before = ("", ", as in the call before", ", as in the two calls before")
        for n, words in enumerate(before, 1):
            fields = {f"leader_of_{whole}": least, "in_a_row": n}
            yield (f"{where}{words}", fields, in_a_row >= n)


def _consensus(histograms: NDArray[np.int64], _: int) -> Named:
    share = histograms.max(-1) / histograms.sum(-1)
    for rate in RATES:
        running = _running(share, rate)
        for least in _CONSENSUS:
            words = f"where the running consensus (weight {rate:g}) is above {least:g}"
            yield (words, {"running_consensus": least, "weight": rate}, running > least)


def _running(values: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """Exponentially weighted mean (n,) of `values`, each new one with weight `rate`."""
    found, mean = np.empty(values.size), values[0]
    for i, value in enumerate(values):
        mean += rate * (value - mean)
        found[i] = mean
    return found


def _distances(histograms: NDArray[np.int64], _: int) -> Named:
    moved = votes_moved(histograms)
    yield ("where the call before asked the same", {"votes_away_at_most": 0}, moved == 0)
    for most in _DISTANCES:
        away = f"1 to {most} votes away" if most > 1 else "one vote away"
        fields = {"votes_away_at_most": most}
        yield (f"where the call before lies {away}", fields, (moved > 0) & (moved <= most))
    far = f"where the call before lies more than {_DISTANCES[-1]} votes away"
    yield (far, {"votes_away_above": _DISTANCES[-1]}, moved > _DISTANCES[-1])
    share = histograms.max(-1) / histograms.sum(-1)
    for least in _SHARES_BEFORE:
        before = np.concatenate([[False], share[:-1] > least])
        words = f"where the leader of the call before has more than {least:g} of the votes"
        yield (words, {"leader_before": least}, before)


def _totals(histograms: NDArray[np.int64], teachers: int) -> Named:
    totals = histograms.sum(-1)
    for share in _TOTALS:
        words = f"where fewer than {share:g} of the teachers vote"
        yield (words, {"votes_below": share}, totals < share * teachers)
    yield ("where more vote than there are teachers", {"votes_above": 1.0}, totals > teachers)


def _positions(histograms: NDArray[np.int64], _: int) -> Named:
    calls = len(histograms)
    for n in _POSITIONS:
        yield (f"from call {n} in turn on", {"from_place": n}, np.arange(calls) >= n)


_BEFORE = "the call before"

_KINDS: dict[str, tuple[float, Callable[[NDArray[np.int64], int], Named]]] = {
    "which call of a histogram it is": (1 / 8, _asked),
    "a streak of one leader": (1 / 8, _streaks),
    "how many classes have votes": (1 / 8, _supports),
    "confident calls": (1 / 8, _confident),
    "a running consensus": (1 / 16, _consensus),
    _BEFORE: (1 / 16, _distances),
    "the total of votes": (1 / 16, _totals),
    "the place in the run": (1 / 16, _positions),
}


def kinds_of_histograms(histograms: NDArray[np.int64], teachers: int) -> Named:
    """Properties of histograms (n, c) alone."""
    yield from _supports(histograms, teachers)
    yield from _totals(histograms, teachers)


FAMILIES = {name: weight for name, (weight, _) in _KINDS.items()}
"""Kinds of features, in words that follow "depends on", with the prior weight of wagers on them."""


def features(
    histograms: NDArray[np.int64], teachers: int, after_batch: Holds | None = None
) -> list[Feature]:
    """Features of calls on histograms (n, c), in the order asked, that hold for some but not all.

    after_batch: whether each call (n,) follows a call for several labels.
    """
    if not len(histograms):
        return []
    found = [
        Feature(family, words, fields, holds)
        for family, (_, named) in _KINDS.items()
        for words, fields, holds in named(histograms, teachers)
    ]
    if after_batch is not None:
        words = "just after a call for several labels"
        found.append(Feature(_BEFORE, words, {"after_batch": True}, after_batch))
    return [one for one in found if one.holds.any() and not one.holds.all()]


# -- earlier calls whose label may be repeated ----------------------------------------------------


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
