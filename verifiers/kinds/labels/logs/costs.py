"""Compares the queries of a recorded log, and what it charged for them, with what they cost."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from .....reference import REFUSAL
from .....reference.accounting.analyses import CountedCost
from .....reference.mechanisms import UnknownMechanismError
from .....reference.searches import last_from_zero
from ....claims.tables import ANY_QUERIES, PrivacyClaim
from ....findings.figures import BudgetEnd, CheckFigures, LogCost, Spending
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
from ..mechanism import LabelsMechanism
from .certain_total import CertainTotal, certain_total
from .laws import Histogram

PRIVACY, CHARGES = PrivacyClaimCheck.id, LabelsAccountantSoundness.id

_NO_DELTA = Note(
    "no-privacy-claimed", "the claim has no privacy.delta, which judging charges needs"
)
_NOT_LOGGED = Note(
    "charges-not-logged", "the first row does not say what was charged, where an account must begin"
)
_UNPROVED = "cost-not-proved"

_MEANING = {
    "data-independent": "a guarantee, whatever the votes, which may be published",
    "certain": "of the best test found: from below, at these votes alone, itself not private",
    "charged": "what the rows say that they charged",
}

Times = Callable[[int], str | None]
"""The time of a row, from 1; None where the log has none."""


class AskedTimes(NamedTuple):
    """How often each histogram (c,) was asked, and how often it was refused."""

    times: Counter[Histogram]
    refused: Counter[Histogram]


class CountedRows:
    """Counts the rows of a log; caching: whether the deployment keeps its answers."""

    def __init__(self, *, caching: bool) -> None:
        self._caching = caching
        self._times: Counter[tuple[Histogram, str | None, int]] = Counter()

    def add(self, row: Row) -> None:
        """Counts a row."""
        self._times[row.histogram, row.key if self._caching else None, row.label] += 1

    @property
    def draws(self) -> AskedTimes:
        """Counts of the rows that were certainly drawn, not looked up.

        Answers are kept by histogram, or by input if two of one histogram have different labels.
        """
        found = [(votes, label, number) for (votes, _, label), number in self._times.items()]
        if self._caching:
            of_histograms: dict[Histogram, int] = {}
            of_inputs: dict[str, tuple[Histogram, int]] = {}
            for votes, key, label in self._times:  # in the order in which they first came
                of_histograms.setdefault(votes, label)
                if key is not None:
                    of_inputs.setdefault(key, (votes, label))
            by_input = any(of_histograms[votes] != label for votes, label in of_inputs.values())
            kept = of_inputs.values() if by_input else of_histograms.items()
            found = [(votes, label, 1) for votes, label in kept]
        asked = AskedTimes(Counter(), Counter())
        for votes, label, number in found:
            asked.times[votes] += number
            asked.refused[votes] += number if label == REFUSAL else 0
        return asked


class Costs:
    """Counts the rows of a log as they are read, for results at its end."""

    def __init__(self, claim: LabelsClaim) -> None:
        self.claim = claim
        self.asked = CountedRows(caching=claim.mechanism.caching)
        self.charging = CountedRows(caching=claim.mechanism.caching)
        self.charged = 0.0
        self.rows_charged = 0
        self._from_the_first = True  # whether every row so far says what was charged

    def count(self, rows: Iterable[Row]) -> Iterator[Row]:
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
            asked = self.asked.draws.times
            queries, total = asked.total(), queries_cost(self.claim, privacy, asked)
            charged = self.charged if self.rows_charged == rows else None
            spent = _spending(self.claim.mechanism, privacy, queries, total.epsilon, charged, times)
            budget = _budget(self.claim, privacy, total, rows, spent, queries)
            budget = budget.model_copy(update={"figures": CheckFigures(spending=spent)})
        return [budget, self._charges(privacy)]

    def _charges(self, privacy: PrivacyClaim) -> CheckResult:
        if not self.rows_charged:
            return CheckResult.of(CHARGES, Verdict.NOT_APPLICABLE, _NOT_LOGGED)
        total = charges_cost(self.claim, privacy, self.charging.draws, self.charged)
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


def queries_cost(
    claim: LabelsClaim, privacy: PrivacyClaim, asked: Counter[Histogram]
) -> CertainTotal:
    """The cost of the queries, proved if it exceeds the claim."""
    own = claim.mechanism
    return certain_total(own.mechanism(), asked, privacy.delta, privacy.epsilon, own.neighbourhood)


def charges_cost(
    claim: LabelsClaim, privacy: PrivacyClaim, asked: AskedTimes, charged: float
) -> CertainTotal:
    """The cost of the queries that were charged, proved if it exceeds `charged`.

    Only the direction from the votes asked counts, and of a refused query only the screen, unless
    the claim says that all are charged: correct accounts may charge no more. Charges that it says
    are data-independent are those of the costliest histogram known.
    """
    times, refused = asked
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


def guarantee(claim: LabelsMechanism, delta: float) -> Callable[[int], float] | None:
    """The data-independent epsilon of so many queries, all charged as answered; None if unknown."""
    try:
        cost = CountedCost(claim.mechanism(), claim.neighbourhood, teachers=claim.teachers)
    except (UnknownMechanismError, ValueError):
        return None
    return partial(cost.least_epsilon, refused=0, delta=delta)


def _spending(  # noqa: PLR0917 - all that a log says of it
    claim: LabelsMechanism,
    privacy: PrivacyClaim,
    queries: int,
    certain: float,
    charged: float | None,
    times: Times,
) -> Spending:
    """What a log cost that drew `queries` answers, and by what its budget ended, with which row.

    certain: a lower bound of the cost at these votes; charged: what all rows say, None if some do
    not.
    """
    epsilon_of = guarantee(claim, privacy.delta)
    most = None if epsilon_of is None else epsilon_of(queries)
    bounds: list[tuple[Any, float | None, Any, bool]] = [
        ("data-independent", most, "above", False),
        ("certain", certain, "below", True),
        ("charged", charged, None, False),
    ]
    costs = tuple(
        LogCost(
            analysis=analysis,
            charging=None if bound is None else "all",
            epsilon=epsilon,
            bound=bound,
            depends_on_votes=on_votes,
        )
        for analysis, epsilon, bound, on_votes in bounds
        if epsilon is not None
    )
    lasts: dict[Any, int] = {} if claim.caching else {"queries": privacy.queries}
    if epsilon_of is not None and not claim.caching:
        within = last_from_zero(lambda asked: epsilon_of(asked) <= privacy.epsilon, queries)
        lasts["data-independent"] = within
    return Spending(
        epsilon=privacy.epsilon,
        delta=privacy.delta,
        costs=costs,
        ends=tuple(
            BudgetEnd(by=by, last_row=row, last_time=times(row) if row else None)
            for by, row in lasts.items()
            if row < queries
        ),
    )


def _budget(  # noqa: PLR0917 - all that the claim is held to
    claim: LabelsClaim,
    privacy: PrivacyClaim,
    total: CertainTotal,
    rows: int,
    spent: Spending,
    queries: int,
) -> CheckResult:
    """The result for the claim by itself, and for the queries of the log, with what they cost."""
    check = PrivacyClaimCheck(claim)
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
                message += f", which ended with {_end_text(end)}"
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
    message = f"{finding.message}; {_spending_text(spent)}"
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


def _end_text(end: BudgetEnd) -> str:
    """The last row within the budget, in words."""
    return f"row {end.last_row:,}" + ("" if end.last_time is None else f" ({end.last_time})")


def _spending_text(found: Spending) -> str:
    """The costs in words, each with its analysis, its charging and what it bounds."""
    parts = [
        f"epsilon {epsilon_text(one.epsilon)} "
        f"({one.analysis}{'' if one.charging is None else f', charging {one.charging}'}: "
        f"{_MEANING[one.analysis]})"
        for one in found.costs
    ]
    text = f"the queries of this log cost {', '.join(parts)}"
    for end in found.ends:
        if end.by == "data-independent":
            text += (
                f"; by the data-independent analysis the claimed epsilon lasts to {_end_text(end)}"
            )
    return text
