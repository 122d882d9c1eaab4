"""A check of labels in a run: it may see labels, may lose a stream, and says what it found."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self, cast

import numpy as np

from .....reference.arrays import Vector
from .....reference.mechanisms import Labels
from ....evidence.parts import Parts
from ....findings.excluded import Excluded
from ....findings.finding import Finding
from ....findings.note import Fields, Note
from ....findings.verdict import Verdict
from ....run.checks import Check, EvidenceCheck, Setting
from ....run.selection import Selection
from ..claim import LabelsClaim
from ..planning.plan import Plan
from ..planning.streams import Stream
from ..registry import CHECKS


@dataclass(frozen=True)
class Circumstances:
    """In which circumstances labels were asked.

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


PLAIN = Circumstances()


TOO_FEW = Note("left-out-for-budget", "left out, as there are few queries")
CACHED = Note("answers-cached", "answers are cached: each label is of another histogram")


@dataclass(frozen=True)
class LabelsSetting(Setting):
    """What a check of labels is made of.

    kept: what a caching deployment has answered, as it grows; before: what it had answered to the
    contract's calls.
    """

    kept: Mapping[tuple[int, ...], int] = field(default_factory=dict)
    before: Mapping[tuple[int, ...], int] = field(default_factory=dict)


class LabelsCheck(Check):
    """A check of labels, which may see labels and lose a stream.

    sees_labels: whether it is made before the first label, and else when its phase comes; named:
    its place among the checks that fail together.
    """

    sees_labels: ClassVar[bool] = False
    named: ClassVar[int] = 0
    plan: Plan

    def __init__(self, plan: Plan) -> None:
        self.claim, self.plan = plan.claim, plan

    @classmethod
    def make(cls, setting: Setting) -> Self:
        return cls(setting.plan)

    @classmethod
    def needs(cls, plan: Plan, at: int, stream: Stream) -> bool:
        """Whether what it finds rests on labels of a stream, a superset."""
        return False

    @classmethod
    def looks_at(cls, plan: Plan) -> int:
        """How many labels of a plan it looks at."""
        streams = enumerate(plan.streams)
        return sum(stream.queries for i, stream in streams if cls.needs(plan, i, stream))

    def observe(self, stream: int, labels: Labels, how: Circumstances = PLAIN) -> None:
        """Takes fresh labels of one stream of the plan."""

    def drop(self, stream: int) -> Note | None:
        """Does without a stream that the target refuses; the reason if the check cannot."""
        return None

    @property
    def foreseen(self) -> tuple[Excluded, ...]:
        """What a pass excludes if the target answers all that is planned."""
        return self.excluded


class LabelsEvidence(LabelsCheck, EvidenceCheck):
    """A check that is judged by its highest evidence, which Ville's inequality bounds.

    current: its evidence now, which runs may add up; answered: labels (streams,) of each stream;
    dropped: streams that the target refuses, without which it goes on; anchors: the streams on
    which a pass rests.
    """

    sees_labels = True
    queries: int = 0
    log_e_value: float = 0.0
    current: float = 0.0

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.answered = np.zeros(len(plan.streams))
        self.dropped: set[int] = set()
        self.anchors = [i for i, stream in enumerate(plan.streams) if stream.is_anchor]

    def observe(self, stream: int, labels: Labels, how: Circumstances = PLAIN) -> None:
        """A check adds what it makes of the labels."""
        self.answered[stream] += labels.size

    def drop(self, stream: int) -> Note | None:
        self.dropped.add(stream)
        return None

    def follow(self, log_e_value: float) -> None:
        """Takes the evidence as it is now, and keeps the highest."""
        self.current = log_e_value
        self.log_e_value = max(self.log_e_value, log_e_value)

    @property
    def parts(self) -> Parts:
        """Of the evidence now: its highest value is no e-value."""
        return Parts.whole(self.current)

    @property
    def planned(self) -> Vector:
        """Labels (streams,) of each stream that are planned, and looked at."""
        return self.plan.queries_of_streams

    def missing(self, streams: Iterable[int]) -> int:
        """Planned labels of streams that are still to come, of those that are answered."""
        left = np.maximum(self.planned - self.answered, 0.0)
        return int(sum(left[i] for i in streams if i not in self.dropped))

    @property
    def foreseen(self) -> tuple[Excluded, ...]:
        return self.excluded_by(self.planned)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """What a pass excludes, of what is planned and was answered."""
        return self.excluded_by(np.minimum(self.answered, self.planned))

    def pass_finding(self) -> Finding:
        excludes = self.excluded
        return Finding(self.pass_text(excludes), excludes=excludes)

    @abstractmethod
    def pass_text(self, excludes: tuple[Excluded, ...]) -> str:
        """The sentence of a pass, by what it excludes."""

    def excluded_by(self, answered: Vector) -> tuple[Excluded, ...]:
        """What a pass excludes with so many labels (streams,) of each stream."""
        return ()

    def entry_on(
        self,
        streams: Sequence[int],
        answered: Vector,
        code: str,
        size: Fields,
        *,
        method: str,
        probability: float | None = None,
    ) -> Excluded:
        """An entry of what a pass excludes on streams."""
        where = dict.fromkeys(self.plan.streams[i].kind for i in streams)
        queries = int(sum(answered[i] for i in streams))
        return self.entry(code, size, where, queries, method=method, probability=probability)


def streams_asked(selection: Selection, plan: Plan, lacking: Collection[str]) -> list[bool]:
    """For each stream of the plan, whether any chosen check needs labels of it.

    lacking: the checks that the run does not have, whatever the reason.
    """
    if not selection.left_out:
        return [True] * len(plan.streams)
    there = labels_checks(plan.claim, plan)
    chosen = [check for check in there if check.id not in lacking]
    streams = enumerate(plan.streams)
    return [any(check.needs(plan, i, stream) for check in chosen) for i, stream in streams]


def all_checks() -> tuple[type[LabelsCheck], ...]:
    """The checks of labels, in the order of a report."""
    return cast(tuple[type[LabelsCheck], ...], CHECKS.classes)


def labels_checks(claim: LabelsClaim, plan: Plan | None = None) -> list[type[LabelsCheck]]:
    """The checks that there is room for, in the order of a report."""
    return cast(list[type[LabelsCheck]], CHECKS.applicable(claim, plan))


def refuting(refuted: bool) -> Verdict:
    """The verdict of a check that either refutes or finds nothing."""
    return Verdict.FAIL if refuted else Verdict.PASS
