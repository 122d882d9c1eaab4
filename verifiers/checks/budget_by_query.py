"""How many queries of one histogram a budget may answer: as claimed, or as analyses allow."""

from functools import cached_property

from ...reference.accounting.analyses import query_cost
from ...reference.accounting.conversions import ORDERS, most_repeats
from ...reference.accounting.release_costs import release_costs
from ..claim import Claim
from .budget_account import AskedHistogram

_COUNTED = 10**12


class BudgetByQuery:
    """Holds the number of answers to the claim's queries, and to what its epsilon allows."""

    def __init__(self, claim: Claim) -> None:
        assert claim.privacy is not None
        self.claim, self.privacy = claim, claim.privacy

    @cached_property
    def sound(self) -> int:
        """Answers that the data-independent analysis allows, whatever the votes."""
        test, answer = release_costs(self.claim.mechanism.mechanism(), ORDERS)
        return most_repeats(test + answer, self.privacy.delta, self.privacy.epsilon, _COUNTED)

    def violation(self, kind: AskedHistogram) -> str | None:
        """What is wrong with the answers to one histogram, by their number alone.

        More than are claimed, and more than the data-dependent analysis of these votes allows: an
        account that goes by the votes answers more queries of those that cost less. Nothing is said
        where some are refused, as refusals are queries too, and cost less.
        """
        if self.claim.mechanism.refuses or kind.answered <= self.privacy.queries:
            return None
        allowed = self._allowed(kind)
        if kind.answered <= allowed:
            return None
        return (
            f"it answered {self._answers(kind)}, more than the claim's queries = "
            f"{self.privacy.queries:,}, and more than the {allowed:,} whose cost published "
            f"analyses put within epsilon {self.privacy.epsilon:g}"
        )

    def warning(self, kind: AskedHistogram) -> str | None:
        """What is remarkable about the number of answers to one histogram, where it is no fault."""
        if kind.answered > self.privacy.queries:
            than = f"the claim's queries = {self.privacy.queries:,}"
        elif kind.answered > self.sound:
            than = f"the {self.sound:,} that the data-independent analysis allows"
        else:
            return None
        return f"it answered {self._answers(kind)}, more than {than}"

    def factor(self, answered: int) -> str:
        """How far so many answers, to whatever, go beyond what is sound whatever the votes."""
        if not self.sound:
            return "the data-independent analysis allows none"
        if answered == self.sound:
            return "the data-independent analysis allows as many"
        times = f"{answered / self.sound:.2f} times as many"
        return f"the data-independent analysis allows {self.sound:,}, so that it gave {times}"

    def _allowed(self, kind: AskedHistogram) -> int:
        """Answers to a histogram that the smaller of the published bounds allows."""
        cost = query_cost(kind.votes, self.claim.mechanism.mechanism(), ORDERS, "data-dependent")
        return most_repeats(cost, self.privacy.delta, self.privacy.epsilon, _COUNTED)

    def _answers(self, kind: AskedHistogram) -> str:
        return f"{kind.answered:,} queries of {self.claim.named(kind.votes)} alone"
