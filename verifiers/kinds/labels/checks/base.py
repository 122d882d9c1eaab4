"""A check of labels in a run: it may see labels, may lose a stream, and says what it found."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeGuard

import numpy as np

from .....reference.arrays import Vector
from .....reference.mechanisms import Labels
from ....findings.excluded import PROVED, SURE_TO_SEE, Excluded
from ....findings.note import Fields, Note
from ....findings.verdict import Verdict
from ....run.checks import Check, Judged, Running
from ....run.error_budget import log_threshold
from ..planning.plan import Plan
from ..registry import SHARES


@dataclass(frozen=True)
class How:
    """How labels were asked.

    rotation: by how many places the classes were numbered on; calls: sizes of the calls that gave
    them, none where nothing is known of them; goes_on: labels of another stream were drawn between
    these and are still to come; connections: over which each call came, where they were kept.
    """

    rotation: int = 0
    calls: tuple[int, ...] = ()
    goes_on: bool = False
    connections: tuple[tuple[int, ...], ...] = ()

    @property
    def single(self) -> bool:
        """Whether each label was asked for in a call of its own."""
        return bool(self.calls) and max(self.calls) == 1


PLAINLY = How()


class LabelsRunning(Running, Protocol):
    """A check of labels in one run. Its spec says whether it sees labels, and when it concludes."""

    def observe(self, stream: int, labels: Labels, how: How = PLAINLY) -> None:
        """Takes fresh labels of one stream of the plan."""

    def drop(self, stream: int) -> Note | None:
        """Does without a stream that the target refuses; the reason if the check cannot."""


class LabelsCheck(LabelsRunning, Check, Protocol):
    """A check that gathers evidence from labels against its null, under the claim."""


class JudgedLabels(Judged):
    """For a check that is judged by its highest evidence, which Ville's inequality bounds.

    queries: labels seen; answered: labels (streams,) of each stream; dropped: streams that the
    target refuses, without which it goes on.
    """

    id: str

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.queries = 0
        self.answered = np.zeros(len(plan.streams))
        self.log_e_value = 0.0
        self.log_threshold = log_threshold(SHARES[self.id], plan.claim.gate.false_alarm)
        self.dropped: set[int] = set()

    def observe(self, stream: int, labels: Labels, how: How = PLAINLY) -> None:
        """A check adds what it makes of the labels."""
        self.answered[stream] += labels.size

    def drop(self, stream: int) -> Note | None:
        self.dropped.add(stream)
        return None

    @property
    def foreseen(self) -> tuple[Excluded, ...]:
        """What a pass excludes if the target answers all that is planned."""
        return self.excluded_by(self.plan.queries_of_streams)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """What a pass excludes, of what is planned and was answered."""
        return self.excluded_by(np.minimum(self.answered, self.plan.queries_of_streams))

    def excluded_by(self, answered: Vector) -> tuple[Excluded, ...]:
        """What a pass excludes with so many labels (streams,) of each stream."""
        raise NotImplementedError

    def entry(
        self,
        code: str,
        size: Fields,
        streams: Sequence[int],
        answered: Vector,
        *,
        method: str,
        probability: float = SURE_TO_SEE,
    ) -> Excluded:
        """An entry of what a pass excludes on streams."""
        return Excluded(
            code=code,
            size=size,
            where=tuple(dict.fromkeys(self.plan.streams[i].kind for i in streams)),
            queries=int(sum(answered[i] for i in streams)),
            probability=probability,
            false_alarm=SHARES[self.id] * self.plan.claim.gate.false_alarm,
            method=method,
        )


class Unseeing:
    """For a check that looks at no labels of the plan."""

    def observe(self, stream: int, labels: Labels, how: How = PLAINLY) -> None:
        pass

    def drop(self, stream: int) -> Note | None:
        return None


class Proving(Unseeing):
    """For a check that proves what it finds, of which it can be told beforehand what that is."""

    id: str

    @property
    def foreseen(self) -> tuple[Excluded, ...]:
        """What a pass excludes if the target answers all that is planned."""
        raise NotImplementedError

    def proof(
        self, code: str, size: Fields, where: Sequence[str], queries: int, method: str
    ) -> Excluded:
        """An entry of what a pass excludes, by a proof: no correct deployment fails it."""
        assert SHARES[self.id] == 0.0, "proofs take nothing of false_alarm"
        return Excluded(
            code=code,
            size=size,
            where=tuple(dict.fromkeys(where)),
            queries=queries,
            probability=PROVED,
            false_alarm=0.0,
            method=method,
        )


def is_judged(check: LabelsRunning) -> TypeGuard[LabelsCheck]:
    """Whether a check is judged by its evidence."""
    return isinstance(check, Judged)


def refuting(refuted: bool) -> Verdict:
    """The verdict of a check that either refutes or finds nothing."""
    return Verdict.FAIL if refuted else Verdict.PASS
