"""`input-contract`: valid input gets as many labels as asked for, all of them in range."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from .....reference import Histogram
from .....reference.mechanisms import Labels
from ....findings.finding import Outcome
from ....findings.note import Note
from ....run.checks import RunContext, Setting
from ....run.phase import Phase
from ....targets import (
    Refused,
    Target,
    TargetError,
    ask_each,
    at_once,
    calls_at_once,
    checked_labels,
)
from ..claim import LabelsClaim
from ..planning.given_inputs import clearest_histogram, opening_histogram
from ..planning.histograms import far_totals, near_totals
from ..planning.streams import FRESH_CALL
from .base import LabelsCheck

_KEPT = 2  # calls of the size of the first, that are left for others
_SIZES = (1, 7)  # of calls on the clearest histogram
_OTHER_TOTALS, _OF_A_TOTAL = 8, 2  # how many, but for a few in a search; labels of each


class CoveredRefusedError(TargetError):
    """An input that the claim covers is refused."""

    code = "claimed-input-refused"


class RefusedLaterError(TargetError):
    """An input is refused that was answered before."""

    code = "refused-later"


class LabelsInputContract(LabelsCheck):
    """Asks a handful of valid histograms before any evidence is gathered.

    Afterwards: `serves_other_totals`, whether totals other than the claimed teachers are served;
    `served_near`, where not, which of `near_totals` are; `calls`, all calls with their labels, in
    the order asked; `opened`, how many of them, the first and those in flight at once, were for the
    histogram `opening`.
    """

    id = "input-contract"
    phase = Phase.OPENING
    queries = 0

    @classmethod
    def make(cls, setting: Setting) -> Self:
        return cls(setting.claim)

    def __init__(self, claim: LabelsClaim, opening: tuple[int, ...] | None = None) -> None:
        self.claim, self.mechanism, self.release = claim, claim.mechanism, claim.release
        self._given, self._budget = bool(claim.given), claim.gate.max_queries
        self._totals = _other_totals(claim)
        self.serves_other_totals = bool(self._totals)
        self.served_near: tuple[int, ...] = ()
        self.refusals: list[Note] = []
        self.opening = np.array(opening) if opening else opening_histogram(claim)
        self.clear = clearest_histogram(claim)
        self.opened = 0
        self.calls: list[tuple[Histogram, Labels]] = []

    def conclude(self, context: RunContext) -> Outcome | None:
        """Later calls are under the contract too, so that the end tells."""
        try:
            self.run(context.target)
        finally:
            context.spend(self.queries)
        return None

    def run(self, target: Target) -> None:
        """Raises TargetError that names the call for the first reply that breaks the rules."""
        with self._covered(self.opening, FRESH_CALL):
            self._ask(target, self.opening, FRESH_CALL)
            self._ask_at_once(target)
            self.opened = len(self.calls)
        for size in _SIZES:
            with self._covered(self.clear, size):
                self._ask(target, self.clear, size)
        refused = self._refused(target, self._totals)
        if refused:
            self.serves_other_totals = False
            near = near_totals(self.mechanism.teachers)
            refused |= self._refused(target, near)
            served = [total for total in near if total not in refused]
            fewest, most = min(served, default=1), max(served, default=1)
            # few votes show best that they are scaled up to the number of teachers
            while fewest - (below := max(r for r in (0, *refused) if r < fewest)) > 1:
                middle = (below + fewest) // 2
                refused |= (found := self._refused(target, (middle,)))
                fewest = fewest if found else middle
                served += [] if found else [middle]
            self.served_near = tuple(dict.fromkeys([fewest, most, *served])) if served else ()
            served += [total for total in self._totals if total not in refused]
            self.refusals.append(_totals_refused(refused, served))

    def _refused(self, target: Target, totals: tuple[int, ...]) -> dict[int, Refused]:
        """The totals of votes that are refused, each with what was said."""
        refused: dict[int, Refused] = {}
        for total in totals:
            try:
                self._ask(target, _even(self.mechanism.classes, total), _OF_A_TOTAL)
            except Refused as refusal:
                refused[total] = refusal
            except TargetError as error:
                raise TargetError(f"{error}; {self._refusal_that_helps}") from None
        return refused

    @property
    def _refusal_that_helps(self) -> str:
        return (
            f"a deployment that serves {self.mechanism.teachers} votes alone should refuse any "
            "other number (ValueError, status 422 or an error): no other is asked then"
        )

    @property
    def first(self) -> Labels:
        """The labels of the first call; none before it was answered."""
        return self.calls[0][1] if self.calls else np.zeros(0, dtype=np.int64)

    @property
    def drawn(self) -> dict[tuple[int, ...], int]:
        """The first label of each histogram."""
        return {tuple(asked.tolist()): int(labels[0]) for asked, labels in reversed(self.calls)}

    def _ask_at_once(self, target: Target) -> None:
        if self.mechanism.caching:
            return  # which draws one label for the histogram, however often it is asked
        fits = self._budget // FRESH_CALL - _KEPT
        sizes = (FRESH_CALL,) * max(0, min(calls_at_once(at_once(target)), fits))
        self.queries += sum(sizes)
        replies, _ = ask_each(target, [(self.opening, size) for size in sizes])
        self.calls += [
            (self.opening, self._checked(reply, self.opening, FRESH_CALL)) for reply in replies
        ]

    @contextmanager
    def _covered(self, histogram: Histogram, size: int) -> Iterator[None]:
        """Calls that the claim covers, which may not be refused."""
        try:
            yield
        except Refused as refusal:
            claim, look = self.mechanism, "it is a row of [inputs], which the target should know"
            if not self._given:
                look = (
                    f"compare teachers = {claim.teachers} and classes = {claim.classes} of the "
                    "claim with what the target counts"
                )
            raise CoveredRefusedError(
                f"{self.release.text(histogram, size)} was refused (ValueError, status 422 or an "
                f"error), although the claim covers it: {refusal}; {look}"
            ) from None

    def _ask(self, target: Target, histogram: Histogram, size: int) -> None:
        self.queries += size
        labels = self._checked(target.ask(histogram, size), histogram, size)
        self.calls.append((histogram, labels))

    def _checked(self, reply: Any, histogram: Histogram, size: int) -> Labels:
        return checked_labels(reply, histogram, size, self.mechanism.refuses, self.release)


def _totals_refused(refused: Mapping[int, Refused], served: Sequence[int]) -> Note:
    """One warning for all totals of votes that were refused, by what was said of the first.

    served: those that were answered; of all others nothing is known.
    """
    first = next(iter(refused))
    what, rest = (", ".join(f"{total:,}" for total in sorted(some)) for some in (refused, served))
    rest = f"{rest} are served, and no other" if served else "no other"
    message = f"totals of {what} votes are refused ({rest} total was tried): {refused[first]}"
    return Note("input-refused", message, {"votes": first, "totals": list(refused)})


def most_queries(claim: LabelsClaim) -> int:
    """Labels that the contract asks for at most, those of calls in flight at once included."""
    singly = FRESH_CALL + sum(_SIZES) + _OTHER_TOTALS * _OF_A_TOTAL
    return singly + FRESH_CALL * calls_at_once(claim.gate.concurrency)


def serves_other_totals(target: Target, claim: LabelsClaim) -> bool:
    """Whether a target answers totals of votes other than the claimed teachers, by asking it.

    One label is asked of each total that the contract asks. Raises as the target does.
    """
    try:
        for total in _other_totals(claim):
            target.ask(_even(claim.mechanism.classes, total), 1)
    except Refused:
        return False
    return True


def _other_totals(claim: LabelsClaim) -> tuple[int, ...]:
    """Totals of votes that are asked beside the claimed teachers; none where one alone is had."""
    return () if claim.one_total else far_totals(claim.mechanism.teachers)


def _even(classes: int, total: int) -> Histogram:
    votes = np.full(classes, total // classes, dtype=np.int64)
    votes[: total % classes] += 1
    return votes
