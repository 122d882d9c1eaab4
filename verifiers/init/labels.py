"""Labels: how many classes and votes a target takes, its noise, and what it refuses."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr

from ...reference import REFUSAL, log_probabilities
from ...reference.arrays import Matrix, Vector
from ...reference.mechanisms import Labels
from ...reference.noise import FAMILIES
from ..targets.replies import shown
from .asking import Asker, StoppedError
from .fits import DROP, NOT_SUCH, FittedValue, deviates, fit_scale, fit_threshold

_MOST_LEAD = 1_000_000
FEW, _ROUNDS = 8, 4
_AROUND, _NEARER = (1.3, 0.5, 1.3, 0.5, 1.3, 0.5), 0.15  # where, in scales, and at least
_FAR = 4.0  # scales of its noise beyond a threshold where all is answered
_LEADS = (1.4, 4.1)  # in scales of Gumbel noise: the second wins a fifth of the labels, or few
_NARROW, WIDE = 50.0, 30.0  # scales of the noise within the leads that were asked


@dataclass
class LabelAnswers:
    """What a target answered: labels by histogram.

    Attributes:
        form: how the histogram travels.
        classes: of the histograms that are asked.
        odd: a reply that was no label of these; () where there was none.
        total: of votes, where the target takes no larger one.
    """

    asker: Asker
    form: str
    classes: int
    total: int | None = None
    counts: dict[tuple[int, ...], Matrix] = field(default_factory=dict)
    turn: int = 0
    odd: Any = ()

    def ask(self, votes: Sequence[int], draws: int) -> Labels:
        """Labels (n,) of a histogram, given from its largest count down; each time another leads.

        Labels are those of the histogram as it was given: 0 is its first class.
        """
        self.turn += 1
        moved = self.turn % self.classes
        asked = np.roll(np.array(votes, dtype=np.int64), moved)
        replies = self.asker.ask(self.form, asked, draws)
        if not are_labels(replies, self.classes):
            self.odd = next(one for one in replies if not are_labels([one], self.classes))
            raise StoppedError(self.out_of_range)
        labels = np.array(replies, dtype=np.int64)
        labels = np.where(labels == REFUSAL, REFUSAL, (labels - moved) % self.classes)
        key = tuple(votes)
        at = self.counts.setdefault(key, np.zeros(self.classes + 1))
        at += np.bincount(np.where(labels < 0, self.classes, labels), minlength=self.classes + 1)
        return labels

    @property
    def out_of_range(self) -> str:
        """What is said of the reply that was no label."""
        counted = "; are classes counted from 1?" if self.odd == self.classes else ""
        return f"a label was {shown(self.odd)}, of classes 0 to {self.classes - 1}{counted}"

    def votes(self, lead: int, least: int = 0) -> list[int]:
        """A histogram whose first class leads by so many votes, and has so many at least."""
        second = max(4 * lead, least - lead)
        if self.total is not None:
            lead = min(lead, self.total)
            second = (self.total - lead) // 2
        rest = 0 if self.total is None else self.total - 2 * second - lead
        return [second + lead + rest, second, *[0] * (self.classes - 2)]

    def peaked(self, most: int) -> list[int]:
        """A histogram whose first class has so many votes, and the others as few as may be."""
        if self.total is None:
            return [most, *[0] * (self.classes - 1)]
        others = self.total - most
        even, over = divmod(others, self.classes - 1)
        return [most, *(even + (place < over) for place in range(self.classes - 1))]

    @property
    def refused(self) -> bool:
        """Whether any query got the label -1."""
        return any(counts[-1] > 0 for counts in self.counts.values())

    @property
    def answered(self) -> int:
        """How many labels there are, without refusals."""
        return int(sum(counts[:-1].sum() for counts in self.counts.values()))

    @property
    def leads(self) -> tuple[int, int]:
        """The least and the largest lead of a class in histograms that were answered."""
        answered = [sorted(votes) for votes, counts in self.counts.items() if counts[:-1].any()]
        found = [votes[-1] - votes[-2] for votes in answered if votes[-1] > votes[-2]]
        return min(found, default=0), max(found, default=0)

    @property
    def labels(self) -> int:
        """How many labels there are, refusals among them."""
        return int(sum(counts.sum() for counts in self.counts.values()))

    # -- what is asked ---------------------------------------------------------------------------

    def look_for_refusals(self) -> None:
        """Asks histograms without consensus, which a threshold refuses."""
        self.ask(self.peaked(1 if self.total is None else -(-self.total // self.classes)), 2 * FEW)

    def gather_refusals(self, draws: int) -> None:
        """Asks around the threshold: from few votes of the leader to so many that all pass."""
        least = 1 if self.total is None else -(-self.total // self.classes)
        most = least
        while most < (self.total or _MOST_LEAD):
            most = min(4 * most, self.total or _MOST_LEAD)
            if (self.ask(self.peaked(most), FEW) >= 0).all():
                break
        for off in _AROUND:
            threshold, scale = self.fit_refusals()
            low, high = self._turn
            if np.isfinite(scale.low):
                spread = scale.best
            else:  # the questions lie too far apart to tell
                spread = max(min(scale.best, high - low), _NEARER * (high - low))
            for count in (threshold.best - off * spread, threshold.best + off * spread):
                asked = self.peaked(int(np.clip(round(count), least, most)))
                self.ask(asked, max(draws // (2 * len(_AROUND)), 1))

    def gather(self, draws: int, least: int) -> None:
        """Asks two leading classes at several leads; least: votes that the first one needs."""
        lead = 10
        most = self.total or _MOST_LEAD
        while (self.ask(self.votes(lead, least), FEW) > 0).any() and lead < most:
            lead *= 10
        if lead == 10:
            self.ask(self.votes(1, least), FEW)
        for step in range(_ROUNDS):
            scale = self.fit_noise("gumbel").best  # whose law is a softmax: quick
            lead = int(np.clip(round(_LEADS[step % 2] * scale), 1, _MOST_LEAD))
            self.ask(self.votes(lead, least), max(draws // _ROUNDS, 1))

    # -- what fits -------------------------------------------------------------------------------

    def _tables(self) -> list[tuple[Matrix, Matrix, Matrix]]:
        """Of each histogram its distinct counts, how many classes have them, and their labels."""
        found = []
        for votes, counts in self.counts.items():
            distinct, place, many = np.unique(votes, return_inverse=True, return_counts=True)
            labels = np.bincount(place, counts[:-1], distinct.size).astype(float)
            if labels.sum():
                found.append((distinct.astype(float), many.astype(float), labels))
        return found

    def fit_noise(self, family: str) -> FittedValue:
        """The scale of a family, by the labels that were answered."""
        tables, law = self._tables(), FAMILIES[family](1.0)
        leads = {votes[-1] - votes[-2]: labels for votes, _, labels in tables if votes.size > 1}

        def log_likelihood(scales: Matrix) -> Matrix:
            found = np.zeros(scales.size)
            for votes, many, labels in tables:
                if votes.size > 1:
                    logs = log_probabilities(votes / scales[:, None], law, many)
                    found += np.maximum(logs, -1e6) @ labels
            return found

        lost = [lead for lead, labels in leads.items() if labels[:-1].any()]  # by the leader
        low = max(lost, default=min(leads, default=1.0)) / _NARROW
        return fit_scale(log_likelihood, low, WIDE * max(leads, default=1.0))

    def misfit(self, family: str, scale: float) -> float:
        """How likely labels are that differ from a law as much as these, of any histogram."""
        law, least = FAMILIES[family](1.0), 1.0
        for votes, counts in self.counts.items():
            logs = log_probabilities(np.array(votes) / scale, law)
            least = min(least, deviates(counts[:-1], counts[:-1].sum() * np.exp(logs)))
        return min(least * len(self.counts), 1.0)

    def refuses_by_votes(self) -> bool:
        """Whether fewer are refused as the top count rises, as a threshold with noise does."""
        tops, both = self._tops
        threshold, scale = self.fit_refusals()
        released = ndtr((tops - threshold.best) / scale.best)
        expected = both.sum(1) * np.stack([released, 1.0 - released])
        alike = both.sum(0) @ np.log(np.maximum(both.mean(0) / both.sum(1).mean(), 1e-300))
        fits = deviates(both.T.reshape(-1), expected.reshape(-1)) >= NOT_SUCH
        return bool(fits and threshold.log_likelihood > alike + DROP)

    @property
    def _tops(self) -> tuple[Vector, Matrix]:
        """The top counts (n,) that were asked, and how often each was answered, and refused."""
        tops = np.array([max(votes) for votes in self.counts], dtype=float)
        both = np.array([[counts[:-1].sum(), counts[-1]] for counts in self.counts.values()])
        distinct, place = np.unique(tops, return_inverse=True)
        return distinct, np.stack([np.bincount(place, one) for one in both.T], 1)

    def fit_refusals(self) -> tuple[FittedValue, FittedValue]:
        """The threshold, and the scale of its Gaussian noise, by what was refused."""
        tops, both = self._tops

        def log_likelihood(thresholds: Matrix, scales: Matrix) -> Matrix:
            beyond = (tops - thresholds[..., None]) / scales[..., None]
            return np.asarray(log_ndtr(beyond) @ both[:, 0] + log_ndtr(-beyond) @ both[:, 1])

        return fit_threshold(log_likelihood, self._turn)

    @property
    def _turn(self) -> tuple[float, float]:
        """The top counts between which refusals turn into answers."""
        tops, both = self._tops
        low = tops[both[:, 0] > 0].min(initial=tops.max())
        high = tops[both[:, 1] > 0].max(initial=tops.min())
        return min(low, high), max(low, high) + 1.0


def gather_labels(answers: LabelAnswers) -> None:
    """Asks for what is left of the announced answers; raises as `Asker.ask`."""
    answers.look_for_refusals()
    least = 0
    if answers.refused:
        answers.gather_refusals(answers.asker.left // 2)
        threshold, scale = answers.fit_refusals()
        passes = threshold.best + _FAR * scale.high
        least = int(np.clip(passes, 0, max(max(votes) for votes in answers.counts)))
    answers.gather(answers.asker.left - 4 * FEW, least)


def are_labels(replies: Sequence[Any], classes: int) -> bool:
    """Whether replies may be labels: whole numbers, each a class or a refusal."""
    return all(
        isinstance(one, int | float)
        and not isinstance(one, bool)
        and one in range(REFUSAL, classes)
        for one in replies
    )
