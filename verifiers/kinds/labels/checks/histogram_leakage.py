"""`histogram-leakage`: how many votes an attacker recovers from the claimed queries."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .....attacks import Answers, misplaced, reconstruct
from .....reference.arrays import Matrix
from .....reference.clock import step
from .....reference.mechanisms import Labels
from ....evidence.outcomes import count_outcomes
from ....evidence.same_law import log_e_value_above
from ....findings.figures import Leakage
from ....findings.finding import Finding, Outcome
from ....findings.note import Note
from ....findings.report import Verdict
from ....run.checks import Reason, RunContext, Setting
from ....run.phase import Phase
from ....text import counted
from ..claim import LabelsClaim
from ..planning.plan import Plan
from ..planning.streams import Role, Stream
from .base import PLAIN, Circumstances, LabelsCheck
from .leakage_advice import advice, mitigations

QUERIES = 10_000
"""Queries of an attacker where the claim has no [privacy] (Wang et al. 2022, section 4.1)."""

_ABOVE = "recoverable-above-limit"
_ATTACKS, _MOST_ATTACKS = 100, 12_800  # simulated on the histogram that leaks most
_SCOUTS = 6  # simulated on each histogram, to find it
_HISTOGRAMS = 4
_GUESSED = 0.9  # share of the leader beyond which one label lets an attacker guess the rest
_WORK = 2e7  # most attacks times the cube of the classes
_SCALES, _FEWEST = 100.0, 10  # votes per noise scale from which fits take long; attacks then


@dataclass(frozen=True)
class _Attacked:
    """Attacks on one stream: shares misplaced by simulated ones (n,), and by one on real labels.

    reading: the votes (c,) that the attack on real labels recovers.
    """

    stream: int
    misplaced: Matrix
    from_target: float | None
    reading: tuple[float, ...] | None


class LabelsHistogramLeakage(LabelsCheck):
    """Simulates attacks under the claimed law, with as many answers as the claim allows.

    Leakage follows from the claim alone; that labels follow the claimed law is for other checks.
    Labels of the target are attacked once, for comparison. With `max_recoverable`, the null is that
    the mean share of votes recovered is at most that, on every histogram.
    """

    id = "histogram-leakage"
    phase = Phase.ATTACK
    sees_labels = True
    worst: _Attacked  # on the histogram that leaks most, after `run`

    @classmethod
    def make(cls, setting: Setting) -> Self:
        return cls(setting.plan, setting.seed)

    @classmethod
    def not_applicable_to(cls, claim: LabelsClaim) -> Reason:
        if claim.mechanism.weights is not None:
            return _WEIGHED
        return _SAMPLED if claim.mechanism.sampled is not None else None

    @classmethod
    def needs(cls, plan: Plan, at: int, stream: Stream) -> bool:
        """Their labels are attacked; the verdict rests on simulations."""
        return stream.role in (Role.OWN, Role.INFORMATIVE)

    def __init__(self, plan: Plan, seed: int) -> None:
        super().__init__(plan)
        self.rng = np.random.default_rng(seed)
        self.asked = attacker_queries(plan.claim)
        self.limit = plan.claim.gate.max_recoverable
        self.log_e_value = 0.0
        self.seen: Matrix = np.zeros(plan.log_q.shape)
        self.dropped: set[int] = set()
        self.advised = np.random.default_rng([seed, 1])

    @property
    def queries(self) -> int:
        """Labels of the target that were used in an attack, after `run`."""
        return int(self.seen[self.worst.stream].sum())

    def observe(self, stream: int, labels: Labels, how: Circumstances = PLAIN) -> None:
        """Keeps as many labels of each histogram as an attacker gets."""
        room = self.asked - int(self.seen[stream].sum())
        self.seen[stream] += count_outcomes(labels[: max(room, 0)], self.seen.shape[1])

    def drop(self, stream: int) -> Note | None:
        self.dropped.add(stream)
        return None

    def conclude(self, context: RunContext) -> Outcome:
        self.run()
        found = replace(self.finding(), warnings=tuple(filter(None, [self.warning])))
        return Outcome(self.verdict, self._with_advice(found), self.queries)

    def run(self) -> None:
        """Runs the attacks, after labels were gathered; with a limit, until it is decided."""
        scouts = [self._attack(stream, _SCOUTS) for stream in self._streams()]
        best_read = min(scouts, key=lambda scout: float(scout.misplaced.mean()))
        # new attacks, so that the choice of the histogram does not bias them
        self.worst = self._attack(best_read.stream, _ATTACKS)
        while self.limit > 0:
            shares = self.worst.misplaced
            self.log_e_value = log_e_value_above(1.0 - shares, self.limit)
            enough = shares.size >= _MOST_ATTACKS or self._rows(_ATTACKS) < _ATTACKS
            if self.log_e_value >= self.log_threshold or not self._above or enough:
                return
            more = self._attack(best_read.stream, shares.size)
            misplaced_so_far = np.concatenate([shares, more.misplaced])
            self.worst = replace(self.worst, misplaced=misplaced_so_far)

    @property
    def _above(self) -> bool:
        return bool(1.0 - self.worst.misplaced.mean() > self.limit)

    @property
    def verdict(self) -> Verdict:
        """The verdict, after `run`; inconclusive if above the limit without enough evidence."""
        if self.limit <= 0 or not self._above:
            return Verdict.PASS
        return Verdict.FAIL if self.log_e_value >= self.log_threshold else Verdict.INCONCLUSIVE

    def _streams(self) -> list[int]:
        """The streams to attack: the deployment's own, and anchors, of the claimed total."""
        teachers = self.plan.claim.mechanism.teachers
        streams = [
            i
            for i, s in enumerate(self.plan.streams)
            if sum(s.histogram) == teachers and i not in self.dropped and s.relabel is None
        ]
        own = [i for i in streams if self.plan.streams[i].role is Role.OWN]
        anchors = [
            i
            for i in streams
            if self.plan.streams[i].is_anchor
            and max(self.plan.streams[i].histogram) <= _GUESSED * teachers
        ]
        return (own + anchors or streams)[:_HISTOGRAMS]

    def _attack(self, stream: int, attacks: int) -> _Attacked:
        histogram = self.plan.streams[stream].histogram
        claimed = self.plan.claim.mechanism
        mechanism = claimed.mechanism(claimed.noise.unrounded)  # an attacker's model
        step(f"{attacks} simulated attacks")
        attacks = self._rows(attacks)
        law = np.exp(self.plan.log_q[stream])
        drawn = self.rng.multinomial(self.asked, law / law.sum(), size=attacks)
        real = self.seen[stream]
        answers = Answers(np.concatenate([drawn, real[None]]), mechanism)
        read = reconstruct(answers, sum(histogram)).histogram
        shares = misplaced(read, histogram)
        if not real.any():
            return _Attacked(stream, shares[:-1], None, None)
        reading = tuple(float(votes) for votes in read[-1])
        return _Attacked(stream, shares[:-1], float(shares[-1]), reading)

    def _rows(self, attacks: int) -> int:
        """`attacks`, or fewer where classes are many or fits slow."""
        claim = self.plan.claim.mechanism
        if self.limit <= 0:
            share = min(1.0, np.sqrt(_SCALES * claim.noise.scale / claim.teachers))
            attacks = min(attacks, max(_FEWEST, int(share * attacks)))
        return int(np.clip(_WORK / claim.classes**3, 2, attacks))

    def finding(self) -> Finding:
        """The finding, after `run`."""
        figure = self._figure()
        text = self._text(figure)
        if self.verdict is Verdict.PASS:
            within = f": within max_recoverable = {self.limit:g}" if self.limit > 0 else ""
            return Finding(text + within, histogram=figure.histogram, figure=figure)
        sure = "" if self.verdict is Verdict.FAIL else ", though not surely so at this false_alarm"
        return Finding(
            f"{text}: more than max_recoverable = {self.limit:g} allows{sure}",
            "answers to one query add up: lower the claim's queries, or cache answers and claim "
            "caching = true",
            figure.histogram,
            figure,
            code=_ABOVE if self.verdict is Verdict.FAIL else "recovery-undecided",
            fields={**self._read, "limit": self.limit},
        )

    @property
    def _read(self) -> dict[str, float]:
        """What an attacker reads, as fields of a finding."""
        return {"recovered": float(1.0 - self.worst.misplaced.mean()), "queries": self.asked}

    @property
    def warning(self) -> Note | None:
        """A warning of leakage where the claim sets no limit."""
        if self.limit > 0:
            return None
        share = 100.0 * (1.0 - self.worst.misplaced.mean())
        return Note(
            "votes-recoverable",
            "the claim lets an attacker who asks one question "
            f"{counted(self.asked, 'time', 'times')} read {share:.1f} % of its votes, where "
            f"guessing reads {100.0 * self._figure().guessed:.1f} % (see histogram-leakage); "
            "max_recoverable in [gate] sets a limit",
            self._read,
        )

    def _with_advice(self, found: Finding) -> Finding:
        """Adds mitigations to a finding with too much leakage or a warning."""
        within = self.verdict is Verdict.PASS and not found.warnings
        if within or not isinstance(found.figure, Leakage):
            return found
        claim, figure = self.plan.claim, found.figure
        step("simulated mitigations")
        done = mitigations(claim, figure.histogram, self.asked, self.advised)
        advised = advice(claim, done, figure.guessed)
        shown = figure.model_copy(update={"mitigations": done})
        return replace(found, figure=shown, advice=advised)

    def _figure(self) -> Leakage:
        shares = self.worst.misplaced
        low, high = (float(end) for end in np.quantile(shares, [0.025, 0.975]))
        return Leakage(
            histogram=self.plan.streams[self.worst.stream].histogram,
            queries=self.asked,
            attacks=shares.size,
            misplaced=float(shares.mean()),
            low=low,
            high=high,
            labels=self.queries,
            reading=self.worst.reading,
            limit=self.limit,
        )

    def _text(self, figure: Leakage) -> str:
        claim, lost = self.plan.claim, 100 * figure.misplaced
        often = "once, as answers are cached"
        if not claim.mechanism.caching:
            often = counted(self.asked, "time", "times")
        text = (
            f"an attacker who asks one question {often}, with votes "
            f"{claim.named(figure.histogram)}, recovers {100 - lost:.1f} % of the votes, where "
            f"guessing even votes does {100 * figure.guessed:.1f} %, and misplaces {lost:.1f} % "
            f"({100 * figure.low:.1f} to {100 * figure.high:.1f} % in 95 % of "
            f"{figure.attacks:,} simulated attacks"
        )
        if self.worst.from_target is not None:
            labels = counted(self.queries, "label", "labels")
            text += f"; {100 * self.worst.from_target:.1f} % from the {labels} that the target gave"
        return text + ")"


def attacker_queries(claim: LabelsClaim) -> int:
    """How many answers an attacker gets to one query under the claim."""
    if claim.mechanism.caching:
        return 1
    return QUERIES if claim.privacy is None else claim.privacy.queries


_SAMPLED = Note(
    "no-attack-known",
    "teachers are drawn: no attack is known that reads votes from what is drawn of them",
)
_WEIGHED = Note("no-attack-known", "teachers have weights: the attacks read votes that count alike")
