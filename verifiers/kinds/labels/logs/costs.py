"""Compares the queries of a log, and what it charged for them, with what they cost.

`Costs` does so at the end of a log, `Watch` now and then as it grows, since proofs take seconds.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from .....reference import REFUSAL
from .....reference.arrays import Vector
from ....claims.tables import ANY_QUERIES, PrivacyClaim
from ....findings.figures import CheckFigures, Spending
from ....findings.note import Note
from ....findings.report import CheckResult
from ....findings.verdict import Verdict
from ....inputs.release_log import Row
from ....run.checks import NO_PRIVACY
from ....text import counted, epsilon_text
from ..checks.accountant_soundness import LabelsAccountantSoundness
from ..checks.budget_histograms import costliest
from ..checks.privacy_claim import PrivacyClaimCheck
from ..claim import LabelsClaim
from .certain_total import CertainTotal, Votes, certain_total
from .spending import Times, end_text, spending_of, spending_text

PRIVACY, CHARGES = PrivacyClaimCheck.id, LabelsAccountantSoundness.id

_NO_DELTA = Note(
    "no-privacy-claimed", "the claim has no privacy.delta, which judging charges needs"
)
_NOT_LOGGED = Note(
    "charges-not-logged", "the first row does not say what was charged, where an account must begin"
)
_UNPROVED = "cost-not-proved"

_HISTOGRAMS = 20_000  # most that a watch looks at, the most frequent ones
_GROWN = 1.25  # rows over those at the last look from which costs are computed again
_IDLE = 1.01  # as `_GROWN`, while no rows are waiting

_Answered = Callable[[int], Mapping[Votes, Vector]]
"""From a number to so many of the most frequent histograms, with counts (o,) of outcomes."""


@dataclass
class Asked:
    """How often each histogram (c,) was asked, and how often it was refused."""

    times: Counter[Votes] = field(default_factory=Counter)
    refused: Counter[Votes] = field(default_factory=Counter)

    def add(self, row: Row) -> None:
        """Counts a row."""
        self.times[row.histogram] += 1
        self.refused[row.histogram] += row.label == REFUSAL

    @property
    def drawn(self) -> "Asked":
        """Counts of the rows that were drawn: all rows."""
        return self


class AskedOnce:
    """Counts for a deployment that keeps its answers, by histogram or by input.

    It keeps them by input if two inputs of one histogram have different labels.
    """

    def __init__(self) -> None:
        self._of_histograms, self._of_inputs = Asked(), Asked()
        self._labels: dict[Votes, int] = {}
        self._inputs: set[str] = set()
        self._by_input = False

    def add(self, row: Row) -> None:
        """Counts a row if it is the first of its histogram, or of its input."""
        new = row.histogram not in self._labels
        first = self._labels.setdefault(row.histogram, row.label)
        if new:
            self._of_histograms.add(row)
        if row.key is not None and row.key not in self._inputs:
            self._inputs.add(row.key)
            self._of_inputs.add(row)
            self._by_input |= first != row.label

    @property
    def drawn(self) -> Asked:
        """Counts of the rows that were certainly drawn, not looked up."""
        return self._of_inputs if self._by_input else self._of_histograms


class Costs:
    """Counts the rows of a log as they are read, for results at its end."""

    def __init__(self, claim: LabelsClaim) -> None:
        self.claim = claim
        counts = AskedOnce if claim.mechanism.caching else Asked
        self.asked: Asked | AskedOnce = counts()
        self.charging: Asked | AskedOnce = counts()
        self.charged = 0.0
        self.rows_charged = 0
        self._from_the_first = True  # whether every row so far says what was charged

    def followed(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yields the rows, and counts each."""
        for row in rows:
            self.asked.add(row)
            if row.charged is None:
                # later charges may be small, as epsilon grows ever more slowly
                self._from_the_first = False
            elif self._from_the_first:
                self.charged += row.charged
                self.rows_charged += 1
                self.charging.add(row)
            yield row

    def results(self, rows: int, times: Times = lambda _: None) -> list[CheckResult]:
        """Results on the claimed budget and on the charges; rows: in total; times: of rows."""
        privacy = self.claim.privacy
        if privacy is None:
            return [
                CheckResult.of(PRIVACY, Verdict.NOT_APPLICABLE, NO_PRIVACY),
                CheckResult.of(CHARGES, Verdict.NOT_APPLICABLE, _NO_DELTA),
            ]
        if self.claim.uncounted is not None:
            budget = CheckResult.of(PRIVACY, Verdict.NOT_APPLICABLE, self.claim.uncounted)
        else:
            charged = self.charged if self.rows_charged == rows else None
            budget = _privacy(
                self.claim, privacy, self.asked.drawn.times, rows, charged=charged, times=times
            )
        return [budget, self._charges(privacy)]

    def _charges(self, privacy: PrivacyClaim) -> CheckResult:
        if not self.rows_charged:
            return CheckResult.of(CHARGES, Verdict.NOT_APPLICABLE, _NOT_LOGGED)
        total = _charges_cost(self.claim, privacy, self.charging.drawn, self.charged)
        rows = counted(self.rows_charged, "row", "rows")
        text = f"{rows} charged {epsilon_text(self.charged)} in all"
        if total.proved > self.charged:
            message = f"{text}, less than what they cost at delta = {privacy.delta:g}: "
            message += _proof(total)
            cause = "the accountant charges too little, or not every query"
            fields = {"charge": self.charged, "cost": total.proved, "delta": privacy.delta}
            short = Note("charge-too-low", message, fields)
            failed = CheckResult.of(CHARGES, Verdict.FAIL, short, self.rows_charged)
            return failed.model_copy(update={"diagnosis": cause})
        if total.epsilon > self.charged:
            unproved = Note(_UNPROVED, f"{text}: {_unproved(total)}", {"cost": total.epsilon})
            return CheckResult.of(CHARGES, Verdict.INCONCLUSIVE, unproved, self.rows_charged)
        message = (
            f"{text}, no less than the {epsilon_text(total.epsilon)} that they cost by the best "
            "test found"
        )
        return CheckResult(
            id=CHARGES, verdict=Verdict.PASS, message=message, queries=self.rows_charged
        )


class Watch:
    """Checks the claim once, and the cost of rows once an upper bound of it exceeds the claim.

    looked: rows when costs were last computed.
    """

    def __init__(self, claim: LabelsClaim) -> None:
        self.claim = claim
        self.looked = 0
        self.claim_judged = False

    def look(
        self,
        rows: int,
        charged: float | None,
        most: float | None,
        raised: Set[str],
        answered: _Answered,
        *,
        idle: bool,
    ) -> list[str]:
        """The checks that newly fail.

        rows: so far; charged: epsilon charged by all rows, None if some do not say; most: upper
        bound of their cost; raised: checks that failed before; answered: gives the most frequent
        histograms; idle: whether no rows are waiting.
        """
        privacy, found = self.claim.privacy, []
        if privacy is None or rows == 0:
            return []
        if not self.claim_judged:
            self.claim_judged = True
            check = PrivacyClaimCheck(self.claim)
            check.run()
            found += [PRIVACY] if check.refuted and PRIVACY not in raised else []
        if rows < (_IDLE if idle else _GROWN) * self.looked or most is None:
            return found
        over = PRIVACY not in raised and not found and most > privacy.epsilon
        under = CHARGES not in raised and charged is not None and most > charged
        if not (over or under):
            return found
        self.looked = rows
        asked = self._asked(answered(_HISTOGRAMS))
        if over and _queries_cost(self.claim, privacy, asked.times).proved > privacy.epsilon:
            found.append(PRIVACY)
        if under and charged is not None:
            proved = _charges_cost(self.claim, privacy, asked, charged).proved
            found += [CHARGES] if proved > charged else []
        return found

    def _asked(self, answered: Mapping[Votes, Vector]) -> Asked:
        """How often each histogram was asked and refused; under caching, once at most."""
        mechanism = self.claim.mechanism
        asked = Asked()
        for votes, counts in answered.items():
            asked.times[votes] = 1 if mechanism.caching else int(counts.sum())
            if mechanism.refuses:
                asked.refused[votes] = min(int(counts[-1]), asked.times[votes])
        return asked

    def state(self) -> dict[str, object]:
        """The state as JSON."""
        return {"looked": self.looked, "claim_judged": self.claim_judged}

    def restore(self, kept: Mapping[str, object]) -> None:
        """Restores a saved state."""
        self.looked, self.claim_judged = int(str(kept["looked"])), bool(kept["claim_judged"])


def _queries_cost(
    claim: LabelsClaim, privacy: PrivacyClaim, asked: Mapping[Votes, int]
) -> CertainTotal:
    """The cost of the queries, proved if it exceeds the claim."""
    mechanism = claim.mechanism.mechanism()
    near = claim.mechanism.neighbourhood
    return certain_total(mechanism, asked, privacy.delta, privacy.epsilon, near)


def _charges_cost(
    claim: LabelsClaim, privacy: PrivacyClaim, asked: Asked, charged: float
) -> CertainTotal:
    """The cost of the queries that were charged, proved if it exceeds `charged`.

    Only the direction from the votes asked counts, and of a refused query only the screen, unless
    the claim says that all are charged: correct accounts may charge no more. Charges that it says
    are data-independent are those of the costliest histogram known.
    """
    times, refused = asked.times, asked.refused
    alike = claim.charges == "data-independent" and privacy.scope == ANY_QUERIES
    if alike and (found := costliest(claim)) is not None:
        votes = tuple(found[0].here.tolist())
        times, refused = (Counter({votes: count.total()}) for count in (times, refused))
    return certain_total(
        claim.mechanism.mechanism(),
        times,
        privacy.delta,
        charged,
        claim.mechanism.neighbourhood,
        refused=None if claim.charges == "all" else refused,
        both_ways=False,
        apart=claim.charges == "realised",
    )


def _privacy(
    claim: LabelsClaim,
    privacy: PrivacyClaim,
    asked: Mapping[Votes, int],
    rows: int,
    *,
    charged: float | None,
    times: Times,
) -> CheckResult:
    """The result for the claim by itself, and for the queries of the log, with what they cost."""
    total = _queries_cost(claim, privacy, asked)
    queries = sum(asked.values())
    spent = spending_of(
        claim.mechanism, privacy, queries, certain=total.epsilon, charged=charged, times=times
    )
    found = _judged(claim, privacy, total, queries, rows, spent)
    return found.model_copy(update={"figures": CheckFigures(spending=spent)})


def _judged(  # noqa: PLR0917 - all that the claim is held to
    claim: LabelsClaim,
    privacy: PrivacyClaim,
    total: CertainTotal,
    queries: int,
    rows: int,
    spent: Spending,
) -> CheckResult:
    check = PrivacyClaimCheck(claim)
    check.run()
    finding = check.finding()
    wrong = []
    if check.refuted:
        wrong.append(Note("cost-above-claim", finding.message, finding.fields))
    cause = "the accountant charges too little, or the claim allows too many queries"
    if queries > privacy.queries:
        message = (
            f"{counted(queries, 'query', 'queries')} of this log were answered or refused, and the "
            f"claim is for {privacy.queries:,}"
        )
        many: dict[str, Any] = {"queries": queries, "claimed": privacy.queries}
        for end in spent.ends:
            if end.by == "queries":
                message += f", which ended with {end_text(end)}"
                many |= {"last_row": end.last_row, "last_time": end.last_time}
        wrong.append(Note("queries-above-claim", message, many))
    if total.proved > privacy.epsilon:
        message = f"the queries of this log cost more than is claimed: {_proof(total)}"
        fields = {"cost": total.proved, "epsilon": privacy.epsilon, "queries": total.queries}
        wrong.append(Note("log-above-claim", message, fields))
    if wrong:
        if len(wrong) == 1 and queries > privacy.queries:
            cause = "the budget was not enforced, or the log spans more than one budget"
        # many queries are the cause only where nothing costs more than is claimed
        told = next((note for note in wrong if note.code != "queries-above-claim"), wrong[0])
        both = replace(told, message="; ".join(note.message for note in wrong))
        failed = CheckResult.of(PRIVACY, Verdict.FAIL, both, rows)
        return failed.model_copy(update={"diagnosis": cause})
    if total.epsilon > privacy.epsilon:
        message = f"{finding.message}; of the queries of this log: {_unproved(total)}"
        unproved = Note(_UNPROVED, message, {"cost": total.epsilon})
        return CheckResult.of(PRIVACY, Verdict.INCONCLUSIVE, unproved, rows)
    message = f"{finding.message}; {spending_text(spent)}"
    return CheckResult(id=PRIVACY, verdict=Verdict.PASS, message=message, queries=rows)


def _proof(total: CertainTotal) -> str:
    asked = counted(total.queries, "query", "queries")
    here = counted(total.histograms, "histogram", "histograms")
    return (
        f"{asked} of {here} alone certainly cost epsilon {epsilon_text(total.proved)} or more "
        f"(certified in ball arithmetic), all of them about {epsilon_text(total.epsilon)}"
    )


def _unproved(total: CertainTotal) -> str:
    return f"they cost about {epsilon_text(total.epsilon)} in floating point, which is not proved"
