"""`fresh-noise`: every answer has noise of its own, within a call, across calls and restarts."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import chi2

from ...reference.mechanisms import Labels
from ..evidence import (
    CallCopies,
    Dependence,
    Frozen,
    Periodic,
    Repetition,
    Replay,
    count_outcomes,
    log_ratios_of_copies,
    log_supremum_ratio,
)
from ..evidence.repetition import LONGEST, SEGMENT, log_lag_weights, log_mixture
from ..evidence.repetition import SHARES as COPIED
from ..plan import FRESH, SINGLES, Plan
from ..planner import FRESH_CALL
from ..power import copies_to_see
from ..shares import SHARES, log_threshold
from .base import Finding

_WEIGHTS = {
    "together": 0.25,  # copies at one distance on all anchors alike
    "single": 0.15,  # copies at one distance on one histogram
    "dependent": 0.15,
    "periodic": 0.1,
    "frozen": 0.1,
    "calls": 0.1,  # a call of the fresh stream copies an earlier one
    "twins": 0.05,  # a label copies that of the shifted histogram at the same place
    "restarted": 0.1,
}

_SURE = 7.0  # log-odds from which one of two causes is told alone

_LIVES = ("restarted", "replayed", "begun", "contained", "compared")
"""Ways in which lives of the target may give the same labels, of which the first is told."""

_WORDS = {
    "frozen": (
        "answers to one histogram never change",
        "one draw a histogram is kept (a cache, or a seed made from the input), or there is no "
        "noise at all; if answers are kept by design, claim caching = true",
    ),
    "once a call": (
        "all answers of a call are the same, and calls differ",
        "noise is drawn once a call (or nearly every answer repeats the one before): draw it for "
        "each answer, in the shape (size, classes)",
    ),
    "once": (
        "all answers of a call are the same",
        "noise is drawn once a call and not for each answer, in the shape (size, classes); or one "
        "draw a histogram is kept (a cache, or a seed made from the input; if that is by design, "
        "claim caching = true); or answers repeat the one before; or there is no noise at all",
    ),
    "restarted": (
        "after a restart the target gives the labels of its first start again",
        "a fixed seed, or one made of the process id: seed from the operating system's entropy, or "
        "not at all",
    ),
    "replayed": (
        "after a restart the target gives labels again that it gave before",
        "its state is saved now and then, and taken up again: save it before an answer goes out, "
        "or seed anew at every start from the operating system's entropy",
    ),
    "begun": (
        "after every restart the target gives the same labels",
        "a fixed seed, or one made of the process id (or state that is saved now and then, and "
        "taken up again): seed from the operating system's entropy, or not at all",
    ),
    "contained": (
        "two processes of the same process id give the same labels",
        "a seed made of the process id, which is the same at every start in a container (or state "
        "that is saved now and then, and taken up again): seed from the operating system's entropy",
    ),
    "compared": (
        "the target gives the labels again that an earlier report opens with",
        "a fixed seed, or one made of the process id: seed from the operating system's entropy, or "
        "not at all",
    ),
    "calls": (
        "a call of {size} answers gives the answers of an earlier call again",
        "generators are seeded alike (a clock, a counter, few seeds, a forked worker): create one, "
        "seeded by the operating system",
    ),
    "twins": (
        "two histograms that differ by votes for every class get the same answers in order",
        "the same noise is used for every histogram: draw it anew for each",
    ),
    "periodic": (
        "every {period} answer repeats the one before it",
        "noise is not drawn anew for every answer: look for a counter or a buffer",
    ),
    "dependent": (
        "an answer depends on the one before it",
        "noise is correlated from answer to answer (antithetic, smoothed, or reused in part): draw "
        "it independently",
    ),
}
"""What was seen, and the likeliest cause."""


class FreshNoise:
    """A weighted average of e-processes, each betting on the next label given the past ones.

    Reused noise gives equal labels for equal histograms. Whether a seed is set in each call, noise
    is drawn from a short pool, or answers are frozen, a label then copies one at a fixed distance:
    all distances up to 16,384 are wagered on. The null is wider than the claim: labels of one
    histogram are independent draws of any one law, so that a wrong noise scale is not taken for
    reuse. Each ratio is divided by the likelihood's supremum over such laws (universal inference,
    Wasserman, Ramdas, Balakrishnan 2020, arXiv 1912.11436v4), which costs half a nat per outcome
    where the claim holds. Frozen answers are a law too: they alone are held to the claimed one.
    """

    id = "fresh-noise"

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.queries = 0
        self.log_threshold = log_threshold(SHARES[self.id], plan.claim.gate.false_alarm)
        effect = plan.claim.gate.smallest_effect
        streams, outcomes = plan.log_q.shape
        self._copies = [Repetition(log_q) for log_q in plan.log_q]
        self._dependent = [Dependence(log_q, effect) for log_q in plan.log_q]
        self._periodic = Periodic()
        self._frozen = Frozen(streams)
        self._fresh = plan.first(FRESH)
        self._calls = CallCopies(plan.log_q[self._fresh])
        self._twins = plan.twins.get("shift-invariance", (-1, -1, 0))[:2]
        self._paired = [np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)]
        self._copied_twin = np.zeros(COPIED.size)
        self._restarted = 0.0
        self._lives: dict[str, float] = {}
        self._unseen: str | None = None
        self._together = np.zeros((COPIED.size, LONGEST))
        self._counts = np.zeros((streams, outcomes))
        self._misfit = np.zeros(streams)
        self._logs = np.zeros((2, streams))
        self._anchors = np.array([s.is_anchor or s.kind == FRESH for s in plan.streams])
        self._highest = 0.0
        self.dropped: set[int] = set()

    def observe(self, stream: int, labels: Labels) -> None:
        """See `Check.observe`; a label is compared with those of its histogram alone."""
        log_q = self.plan.log_q[stream]
        outcomes = labels % log_q.size
        self.queries += labels.size
        self._counts[stream] += count_outcomes(labels, log_q.size)
        self._misfit[stream] = log_supremum_ratio(self._counts[stream], log_q)
        copies, dependent = self._copies[stream], self._dependent[stream]
        before = copies.log_ratios
        copies.observe(outcomes)
        dependent.observe(outcomes)
        self._logs[:, stream] = copies.log_e_value, dependent.log_e_value
        self._frozen.observe(stream, outcomes, log_q)
        if stream == self._fresh:
            self._calls.observe(outcomes)
        if stream in self._twins:
            self._pair(self._twins.index(stream), outcomes)
        if self._anchors[stream]:
            self._together[:, : before.shape[1]] -= before
            self._together[:, : copies.log_ratios.shape[1]] += copies.log_ratios
            self._periodic.observe(outcomes, log_q)
        else:
            self._periodic.skip(outcomes.size)
        self._highest = max(self._highest, self._average())

    def _pair(self, side: int, outcomes: NDArray[np.int64]) -> None:
        """Compares labels of the shifted twins place by place, where the same noise would agree."""
        self._paired[side] = np.concatenate([self._paired[side], outcomes])
        ready = min(queue.size for queue in self._paired)
        first, again = (queue[:ready] for queue in self._paired)
        if side == 1:  # a wager on labels of the twin alone: those of the base came before
            log_q = self.plan.log_q[self._twins[1]]
            self._copied_twin += log_ratios_of_copies(first, again, log_q)
        self._paired = [queue[ready:] for queue in self._paired]

    def observe_restart(
        self, earlier: Labels, again: Labels, kind: str = "restarted", unseen: str | None = None
    ) -> None:
        """Takes labels of one histogram, the fresh stream's: of earlier lives, and a new one's.

        kind: how the lives differ, a key of the words above; unseen: what this cannot show.
        """
        log_q = self.plan.log_q[self.plan.first(FRESH)]
        replay = Replay(earlier % log_q.size, again % log_q.size, log_q)
        # fair given all labels before, so that each stakes half of what the last one left
        self._restarted += float(np.logaddexp(0.0, replay.log_e_value) - np.log(2.0))
        if kind == "restarted" and replay.window >= FRESH_CALL:  # not of the call that opened
            kind = "replayed"
        self._lives[kind] = max(replay.log_e_value, self._lives.get(kind, -np.inf))
        self._unseen = unseen
        self.queries += again.size
        self._highest = max(self._highest, self._average())

    def _parts(self) -> dict[str, float]:
        """Log of each e-process, without its weight."""
        logs = self._logs - self._misfit
        single, dependent = logsumexp(logs, b=self.plan.weights, axis=1)
        misfit = float(self._misfit[self._anchors].sum())
        return {
            "together": log_mixture(self._together) - misfit,
            "single": float(single),
            "dependent": float(dependent),
            "periodic": self._periodic.log_e_value - misfit,
            "frozen": self._frozen.log_e_value,
            "calls": self._calls.log_e_value - float(self._misfit[self._fresh]),
            "twins": self._twins_copied(),
            "restarted": self._restarted,
        }

    def _twins_copied(self) -> float:
        if self._twins[1] < 0:
            return 0.0
        copied = float(logsumexp(self._copied_twin, b=1.0 / COPIED.size))
        return copied - float(self._misfit[self._twins[1]])

    def _average(self) -> float:
        return float(logsumexp(list(self._parts().values()), b=list(_WEIGHTS.values())))

    @property
    def log_e_value(self) -> float:
        """See `Check.log_e_value`; the highest so far."""
        return self._highest

    def shortfall(self) -> int:
        """See `Check.shortfall`: anchors, and the calls that are made for this check."""
        wanted = sum(
            max(0, stream.queries - int(self._counts[i].sum()))
            for i, stream in enumerate(self.plan.streams)
            if (stream.is_anchor or stream.kind in (FRESH, SINGLES)) and i not in self.dropped
        )
        return int(wanted)

    def drop(self, stream: int) -> str | None:
        """See `Check.drop`."""
        self.dropped.add(stream)
        return None

    def violation(self) -> Finding:
        """See `Check.violation`."""
        parts = self._parts()
        heaviest = max(parts, key=lambda name: parts[name])
        if self._frozen.constant and heaviest in ("together", "single", "frozen", "dependent"):
            heaviest = self._drawn_once()
        elif heaviest in ("together", "single"):
            return self._copied(heaviest == "together")
        if heaviest == "restarted":
            heaviest = self._again()
        message, diagnosis = _WORDS[heaviest]
        at = self._fresh if heaviest != "twins" else self._twins[1]
        if heaviest == "dependent":
            at = int(np.argmax(self._logs[1] - self._misfit))
        period = self._periodic.heaviest
        message = message.format(size=FRESH_CALL, period=f"{period}{_ordinal(period)}")
        return Finding(message, diagnosis, self.plan.streams[at].histogram)

    def _drawn_once(self) -> str:
        """Which words tell of calls that each gave one label only."""
        if self._frozen.changed:
            return "once a call"
        return "frozen" if self._frozen.kept_log_odds > _SURE else "once"

    def _copied(self, everywhere: bool) -> Finding:
        """What to say of labels that copy earlier ones of their histogram."""
        at = int(np.argmax(self._logs[0] - self._misfit))
        histogram = self.plan.streams[at].histogram
        ratios = self._together if everywhere else self._copies[at].log_ratios
        place, before = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
        share, distance = float(COPIED[place]), int(before) + 1
        whole = share > 0.9
        answers = "answers" if whole else f"some answers (nearer {100 * share:.0f} % than all)"
        place_before = "the one before" if distance == 1 else f"the one {distance:,} before"
        message = f"{answers} repeat {place_before} on the same histogram"
        if distance == FRESH_CALL and whole:
            return Finding(
                f"{message}: calls of {FRESH_CALL} answers give the same answers",
                "the generator is seeded anew in every call: create it once, unseeded",
                histogram,
            )
        return Finding(
            message,
            "noise is reused: look for a pool, a buffer, or a generator that is reset",
            histogram,
        )

    def silence(self) -> Finding:
        """See `Check.silence`."""
        predictable = np.square(np.exp(self.plan.log_q)).sum(-1)
        asked = self._counts.sum(-1)
        best = int(np.argmax(asked * (1.0 - predictable)))
        labels = int(asked[best])
        distance = min(LONGEST, labels // 4)
        # at the largest distance, as many labels of each segment have none before them
        compared = labels - distance * (1 + labels // SEGMENT)
        share = copies_to_see(self.plan.log_q[best], compared, self._wanted(best))
        return Finding(
            f"an answer that repeats an earlier one of its histogram with probability {share:.2g} "
            f"or more, at a distance of up to {distance:,}, would have been caught with "
            f"probability 0.99{self._of_lives()}"
        )

    def _again(self) -> str:
        """Which words tell of lives that gave the same labels.

        State that is taken up again makes contained lives alike too: the narrower cause comes
        last.
        """
        sure = [kind for kind in _LIVES if self._lives.get(kind, 0.0) > _SURE]
        return sure[0] if sure else max(self._lives, key=lambda kind: self._lives[kind])

    def _of_lives(self) -> str:
        """What comparing lives of the target has shown, and what it cannot."""
        told = ""
        if "compared" in self._lives:
            told += "; the labels that the earlier report opens with were others"
        if self._lives.keys() - {"compared"}:
            told += "; after a restart the labels were new"
            return told if self._unseen is None else f"{told} ({self._unseen})"
        return told or "; the target was not restarted, so a fixed seed would not show"

    def _wanted(self, stream: int) -> float:
        """Evidence that copies at one distance on one stream must give."""
        prior = _WEIGHTS["single"] * self.plan.weights[stream] / COPIED.size
        misfit = float(chi2.ppf(0.99, self.plan.log_q.shape[1] - 1)) / 2.0
        return self.log_threshold - float(np.log(prior) + log_lag_weights()[-1]) + misfit


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
